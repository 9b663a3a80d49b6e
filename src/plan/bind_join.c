/* Joins: which keys may meet, which columns come out, and under which names. */
#include <string.h>

#include "func/supertype.h"
#include "plan/bind_internal.h"

/* Integers meet integers and floats floats, whatever their width; anything else must be of one dtype. */
nk_status nk__unify_keys(nk_query *query, nk_named *left, nk_named *right, nk_error *err)
{
	const nk_dtype *a = left->expr->dtype, *b = right->expr->dtype;
	if (a == b)
		return NK_OK;
	bool meet = (nk_type_is_integer(a->id) && nk_type_is_integer(b->id)) ||
	            (nk_type_is_float(a->id) && nk_type_is_float(b->id)) ||
	            (a->id == NK_TYPE_DECIMAL && b->id == NK_TYPE_DECIMAL && a->scale == b->scale);
	if (!meet)
		return nk_fail(
			err, NK_SCHEMA_MISMATCH,
			"datatypes of join keys don't match - `%s`: %s on left does not match `%s`: %s on right",
			left->name, nk_dtype_short_name(a), right->name, nk_dtype_short_name(b));
	const nk_dtype *both = nk_supertype(a, b);
	if (!both)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "join keys of %s and %s have no common dtype", a->text,
		               b->text);
	NK_TRY(nk_bound_cast(query->binder, left->expr, both, true, &left->expr, err));
	return nk_bound_cast(query->binder, right->expr, both, true, &right->expr, err);
}

static bool is_key(const int *ids, int n, int id)
{
	for (int i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Both sides of a self-join come from one bound node: give the right side ids of its own. */
nk_status nk__fresh_ids(nk_query *query, const nk_bound_plan *left, nk_bound_plan *right, nk_error *err)
{
	bool overlap = false;
	for (int i = 0; i < right->rel->n_columns && !overlap; i++)
		overlap = is_key(left->rel->columns, left->rel->n_columns, right->rel->columns[i]);
	if (!overlap)
		return NK_OK;
	nk_bound_plan copy;
	NK_TRY(nk__scope_new(query, right->n, &copy, err));
	nk_bound **bound;
	NK_TRY(NK_ARENA_NEW(query->arena, &bound, right->n + 1, err));
	for (int i = 0; i < right->n; i++) {
		copy.names[i] = right->names[i];
		NK_TRY(nk_bound_column(query->binder, right->ids[i], &bound[i], err));
		NK_TRY(nk_binder_add_column(query->binder, right->names[i], bound[i]->dtype, &copy.ids[i], err));
	}
	NK_TRY(nk_rel_new(query, NK_REL_PROJECT, &right->rel, 1, copy.ids, copy.n, &copy.rel, err));
	copy.rel->project.exprs = bound;
	*right = copy;
	return NK_OK;
}

/* A condition over columns of both sides, whose names differ. */
static nk_status bind_residual(nk_query *query, const nk_plan *plan, const nk_bound_plan *left,
                               const nk_bound_plan *right, nk_bound **out, nk_error *err)
{
	nk_bound_plan both;
	nk_named *named;
	int n;
	NK_TRY(nk__scope_new(query, left->n + right->n, &both, err));
	for (int i = 0; i < both.n; i++) {
		const nk_bound_plan *side = i < left->n ? left : right;
		int at = i < left->n ? i : i - left->n;
		both.names[i] = side->names[at];
		both.ids[i] = side->ids[at];
	}
	NK_TRY(
		nk__bind_in(query, &both, plan->exprs + plan->n_keys, plan->n_exprs - plan->n_keys, &named, &n, err));
	nk_bound **parts;
	NK_TRY(NK_ARENA_NEW(query->arena, &parts, n + 1, err));
	for (int i = 0; i < n; i++) {
		if (!named[i].expr->elementwise)
			return nk_fail(err, NK_INVALID_OPERATION,
			               "conditions of a join are computed row by row: \"%s\" is not", named[i].name);
		if (named[i].expr->dtype->id != NK_TYPE_BOOLEAN && named[i].expr->dtype->id != NK_TYPE_NULL)
			return nk_fail(err, NK_INVALID_OPERATION, "a condition of a join must be Boolean, got `%s`",
			               nk_dtype_short_name(named[i].expr->dtype));
		NK_TRY(
			nk_bound_cast(query->binder, named[i].expr, nk_dtype_of(NK_TYPE_BOOLEAN), true, &parts[i], err));
	}
	return nk_bound_conjoin(query->binder, parts, n, out, err);
}

/* The name, with a suffix where one of `taken` is the same. */
nk_status nk__suffixed(nk_query *query, const char *const *taken, int n_taken, const char *name,
                       const char *suffix, const char **out, nk_error *err)
{
	bool clash = false;
	for (int j = 0; j < n_taken && !clash; j++)
		clash = strcmp(taken[j], name) == 0;
	*out = name;
	if (!clash)
		return NK_OK;
	suffix = suffix ? suffix : "_right";
	size_t n_name = strlen(name), n_suffix = strlen(suffix);
	char *made;
	NK_TRY(nk_arena_alloc(query->arena, (int64_t)(n_name + n_suffix) + 1, (void **)&made, err));
	memcpy(made, name, n_name);
	memcpy(made + n_name, suffix, n_suffix);
	*out = made;
	return NK_OK;
}

nk_status nk__bind_join(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs, nk_bound_plan *out,
                        nk_error *err)
{
	nk_bound_plan left = inputs[0], right = inputs[1];
	nk_join_kind how = plan->join;
	NK_TRY(nk__fresh_ids(query, &left, &right, err));
	nk_named *left_keys = NULL, *right_keys = NULL;
	int n_left = 0, n_right = 0;
	NK_TRY(nk__bind_in(query, &left, plan->keys, plan->n_keys, &left_keys, &n_left, err));
	/* Right keys may be followed by the residual. */
	int n_given = plan->n_exprs > plan->n_keys ? plan->n_keys : plan->n_exprs;
	NK_TRY(nk__bind_in(query, &right, plan->exprs, n_given, &right_keys, &n_right, err));
	if (n_left != n_right)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "left_on and right_on must have the same number of columns (%d and %d)", n_left,
		               n_right);

	/* A plain column on both sides coalesces; expressions are never shown. Asked before casts hide the columns. */
	int n_keys = n_left;
	int *left_ids, *right_ids;
	NK_TRY(NK_ARENA_NEW(query->arena, &left_ids, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &right_ids, n_keys + 1, err));
	for (int i = 0; i < n_keys; i++) {
		bool plain =
			left_keys[i].expr->kind == NK_BOUND_COLUMN && right_keys[i].expr->kind == NK_BOUND_COLUMN;
		left_ids[i] = plain ? left_keys[i].expr->column : -1;
		right_ids[i] = plain ? right_keys[i].expr->column : -1;
		NK_TRY(nk__unify_keys(query, &left_keys[i], &right_keys[i], err));
	}
	nk_rel *sides[2];
	NK_TRY(nk__make_elementwise(query, &left, left_keys, n_keys, &sides[0], err));
	NK_TRY(nk__make_elementwise(query, &right, right_keys, n_keys, &sides[1], err));

	bool coalesce = how == NK_JOIN_FULL ? plan->coalesce == NK_COALESCE_YES
	                                    : plan->coalesce != NK_COALESCE_NO && how != NK_JOIN_CROSS;
	bool only_left = how == NK_JOIN_SEMI || how == NK_JOIN_ANTI;

	/* What comes out: ids, and names with the suffix where they clash. */
	int room = left.n + right.n;
	NK_TRY(nk__scope_new(query, room, out, err));
	int n = 0;
	for (int i = 0; i < left.n; i++) {
		if (how == NK_JOIN_RIGHT && coalesce && is_key(left_ids, n_keys, left.ids[i]))
			continue;
		out->names[n] = left.names[i];
		out->ids[n++] = left.ids[i];
	}
	int n_from_left = n;
	for (int i = 0; i < right.n && !only_left; i++) {
		if (how != NK_JOIN_RIGHT && coalesce && is_key(right_ids, n_keys, right.ids[i]))
			continue;
		NK_TRY(
			nk__suffixed(query, out->names, n_from_left, right.names[i], plan->suffix, &out->names[n], err));
		out->ids[n++] = right.ids[i];
	}
	out->n = n;
	NK_TRY(nk__check_duplicates(out->names, n, err));

	/* The join itself also yields the right keys that a coalesced full join reads. */
	int n_yielded = n, *yielded;
	NK_TRY(NK_ARENA_NEW(query->arena, &yielded, n + n_keys + 1, err));
	memcpy(yielded, out->ids, (size_t)n * sizeof *yielded);
	for (int k = 0; k < n_keys && how == NK_JOIN_FULL && coalesce; k++)
		if (right_ids[k] >= 0 && !is_key(yielded, n_yielded, right_ids[k]))
			yielded[n_yielded++] = right_ids[k];
	NK_TRY(nk_rel_new(query, NK_REL_JOIN, sides, 2, yielded, n_yielded, &out->rel, err));
	nk_rel *rel = out->rel;
	rel->join.how = how;
	rel->join.n_keys = n_keys;
	NK_TRY(NK_ARENA_NEW(query->arena, &rel->join.left_keys, n_keys + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &rel->join.right_keys, n_keys + 1, err));
	for (int i = 0; i < n_keys; i++) {
		rel->join.left_keys[i] = left_keys[i].expr;
		rel->join.right_keys[i] = right_keys[i].expr;
	}
	if (n_given < plan->n_exprs)
		NK_TRY(bind_residual(query, plan, &left, &right, &rel->join.residual, err));
	rel->join.nulls_equal = plan->nulls_equal;
	rel->join.order_kept = plan->order_kept;
	rel->join.validate = plan->validate;
	if (how != NK_JOIN_FULL || !coalesce)
		return NK_OK;

	nk_named *exprs;
	NK_TRY(NK_ARENA_NEW(query->arena, &exprs, n + 1, err));
	for (int i = 0; i < n; i++) {
		exprs[i].name = out->names[i];
		NK_TRY(nk_bound_column(query->binder, out->ids[i], &exprs[i].expr, err));
		for (int k = 0; k < n_keys; k++)
			if (left_ids[k] == out->ids[i]) {
				nk_bound *both[2] = {exprs[i].expr};
				NK_TRY(nk_bound_column(query->binder, right_ids[k], &both[1], err));
				NK_TRY(nk_bound_call_named(query->binder, "coalesce", both, 2, &exprs[i].expr, err));
			}
	}
	return nk__project(query, rel, exprs, n, out, err);
}
