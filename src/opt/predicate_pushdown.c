/* Each filter is taken apart into conjuncts, and every conjunct sinks as far as it may: from readers to inputs, each
 * node keeps a list of what its (only) reader wants filtered, passes on what commutes with it, and puts the rest
 * into a filter above itself.
 *
 * What never moves: predicates that may fail (they would meet rows that something else removes), and impure ones.
 * Nothing enters a node with several readers: a filter is put on the edge instead.
 *
 * Joins are where the rules are: the kind says which sides may be filtered before; a predicate that no row filled
 * with nulls can pass turns an outer join into a stricter kind; equalities across an inner or cross join become keys; a
 * predicate on key columns holds on both sides of an equality; and a disjunction that spans both sides implies a
 * weaker one for each. */
#include "opt/rule_internal.h"

typedef struct pushdown {
	nk_opt *opt;
	nk_bounds *pending; /* by node number: conjuncts on the node's result */
	bool *vanishes;     /* filters that keep nothing */
} pushdown;

/* Filter input `which` of rel by these. */
static nk_status send(pushdown *self, nk_rel *rel, int which, const nk_bounds *conjuncts, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_rel *input = rel->inputs[which];
	if (!conjuncts->n)
		return NK_OK;
	if (opt->n_readers[input->number] > 1)
		return nk__opt_filter(opt, input, conjuncts->items, conjuncts->n, &rel->inputs[which], err);
	for (int i = 0; i < conjuncts->n; i++)
		NK_TRY(nk__bounds_add_once(opt, &self->pending[input->number], conjuncts->items[i], err));
	return NK_OK;
}

static nk_status push_filter(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_bounds own = {0}, stay = {0}, sink = {0};
	NK_TRY(nk__split_predicate(opt, rel->filter.predicate, &own, err));
	bool is_shared = opt->n_readers[rel->inputs[0]->number] > 1;
	for (int i = 0; i < own.n; i++) {
		bool moves = !own.items[i]->fallible && !own.items[i]->impure && !is_shared;
		NK_TRY(nk__bounds_add_once(opt, moves ? &sink : &stay, own.items[i], err));
	}
	for (int i = 0; i < above->n; i++)
		NK_TRY(nk__bounds_add_once(opt, is_shared ? &stay : &sink, above->items[i], err));
	above->n = 0;
	NK_TRY(send(self, rel, 0, &sink, err));
	if (stay.n)
		return nk_bound_conjoin(opt->binder, stay.items, stay.n, &rel->filter.predicate, err);
	self->vanishes[rel->number] = true;
	return NK_OK;
}

/* Conjuncts that use only some columns of the node go to its input with these columns replaced. */
static nk_status push_replaced(pushdown *self, nk_rel *rel, const int *columns, nk_bound *const *exprs, int n,
                               nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_ids through;
	nk_bounds sink = {0}, rest = {0};
	NK_TRY(nk__ids_of(opt, columns, n, &through, err));
	for (int i = 0; i < above->n; i++) {
		nk_bound *below = NULL;
		nk_column_use use = nk__column_use(above->items[i], &through, NULL);
		if (use.n && use.in_first)
			NK_TRY(nk__replace_columns(opt, above->items[i], columns, exprs, n, &below, err));
		if (below && !below->fallible && !below->impure && below->elementwise)
			NK_TRY(nk__bounds_add_once(opt, &sink, below, err));
		else
			NK_TRY(nk__bounds_add(opt, &rest, above->items[i], err));
	}
	*above = rest;
	return send(self, rel, 0, &sink, err);
}

/* Conjuncts that use only these columns go to the input as they are. */
static nk_status push_through(pushdown *self, nk_rel *rel, const int *columns, int n, nk_bounds *above,
                              nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_ids through;
	nk_bounds sink = {0}, rest = {0};
	NK_TRY(nk__ids_of(opt, columns, n, &through, err));
	for (int i = 0; i < above->n; i++) {
		nk_column_use use = nk__column_use(above->items[i], &through, NULL);
		NK_TRY(nk__bounds_add_once(opt, use.n && use.in_first ? &sink : &rest, above->items[i], err));
	}
	*above = rest;
	return send(self, rel, 0, &sink, err);
}

static nk_status push_union(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_bounds rest = {0}, sink = {0};
	for (int i = 0; i < above->n; i++)
		NK_TRY(nk__bounds_add(opt, nk__column_use(above->items[i], NULL, NULL).n ? &sink : &rest,
		                      above->items[i], err));
	*above = rest;
	nk_bound **exprs;
	NK_TRY(NK_ARENA_NEW(opt->arena, &exprs, rel->n_columns, err));
	for (int input = 0; sink.n && input < rel->n_inputs; input++) {
		nk_bounds below = {0};
		for (int i = 0; i < rel->n_columns; i++)
			NK_TRY(nk_bound_column(opt->binder, rel->inputs[input]->columns[i], &exprs[i], err));
		for (int i = 0; i < sink.n; i++) {
			nk_bound *replaced;
			NK_TRY(
				nk__replace_columns(opt, sink.items[i], rel->columns, exprs, rel->n_columns, &replaced, err));
			NK_TRY(nk__bounds_add_once(opt, &below, replaced, err));
		}
		NK_TRY(send(self, rel, input, &below, err));
	}
	return NK_OK;
}

static nk_status push_scan(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	if (rel->scan.offset || rel->scan.limit >= 0)
		return NK_OK;
	nk_ids known;
	nk_bounds taken = {rel->scan.conjuncts, rel->scan.n_conjuncts, rel->scan.n_conjuncts}, rest = {0};
	NK_TRY(nk__ids_of(opt, rel->scan.filter_ids, rel->scan.n_filter_columns, &known, err));
	for (int i = 0; i < above->n; i++) {
		nk_column_use use = nk__column_use(above->items[i], &known, NULL);
		NK_TRY(nk__bounds_add_once(opt, use.n && use.in_first ? &taken : &rest, above->items[i], err));
	}
	rel->scan.conjuncts = taken.items;
	rel->scan.n_conjuncts = taken.n;
	*above = rest;
	return NK_OK;
}

/* ---- Joins ---- */

/* A row that an outer join filled with nulls cannot pass `conjunct`: the kind becomes stricter. */
static void tighten_kind(nk_rel *rel, const nk_bound *conjunct, const nk_ids *left, const nk_ids *right)
{
	nk_join_kind how = rel->join.how;
	bool fills_left = how == NK_JOIN_RIGHT || how == NK_JOIN_FULL,
		 fills_right = how == NK_JOIN_LEFT || how == NK_JOIN_FULL;
	if (fills_left && nk__rejects_nulls(conjunct, left))
		fills_left = false;
	if (fills_right && nk__rejects_nulls(conjunct, right))
		fills_right = false;
	if (how == NK_JOIN_LEFT || how == NK_JOIN_RIGHT || how == NK_JOIN_FULL)
		rel->join.how = fills_left && fills_right ? NK_JOIN_FULL
		                : fills_left              ? NK_JOIN_RIGHT
		                : fills_right             ? NK_JOIN_LEFT
		                                          : NK_JOIN_INNER;
}

/* An equality of one side with the other that can be a key. */
static bool is_key(const nk_rel *rel, const nk_bound *conjunct, const nk_ids *left, const nk_ids *right,
                   nk_bound **left_key, nk_bound **right_key)
{
	if (nk__op_of(conjunct) != NK_OP_EQ || conjunct->n_args != 2 || rel->join.nulls_equal)
		return false;
	nk_column_use a = nk__column_use(conjunct->args[0], left, right),
				  b = nk__column_use(conjunct->args[1], left, right);
	if (!a.n || !b.n || conjunct->args[0]->dtype != conjunct->args[1]->dtype)
		return false;
	/* Beside other keys a Decimal is better compared than hashed. */
	const nk_dtype *dtype = conjunct->args[0]->dtype;
	if (!nk__dtype_is_exact(dtype) || (dtype->id == NK_TYPE_DECIMAL && rel->join.n_keys))
		return false;
	if (a.in_first && b.in_second)
		*left_key = conjunct->args[0], *right_key = conjunct->args[1];
	else if (a.in_second && b.in_first)
		*left_key = conjunct->args[1], *right_key = conjunct->args[0];
	else
		return false;
	return true;
}

static nk_status add_key(nk_opt *opt, nk_rel *rel, nk_bound *left_key, nk_bound *right_key, nk_error *err)
{
	for (int i = 0; i < rel->join.n_keys; i++)
		if (rel->join.left_keys[i] == left_key && rel->join.right_keys[i] == right_key)
			return NK_OK;
	nk_bounds lefts = {rel->join.left_keys, rel->join.n_keys, rel->join.n_keys};
	nk_bounds rights = {rel->join.right_keys, rel->join.n_keys, rel->join.n_keys};
	NK_TRY(nk__bounds_add(opt, &lefts, left_key, err));
	NK_TRY(nk__bounds_add(opt, &rights, right_key, err));
	rel->join.left_keys = lefts.items;
	rel->join.right_keys = rights.items;
	rel->join.n_keys = lefts.n;
	return NK_OK;
}

/* A predicate on key columns of one side holds for the matching columns of the other. */
static nk_status derive(nk_opt *opt, const nk_rel *rel, bool from_left, const nk_bounds *conjuncts,
                        nk_bounds *other, nk_error *err)
{
	nk_bound **from = from_left ? rel->join.left_keys : rel->join.right_keys;
	nk_bound **to = from_left ? rel->join.right_keys : rel->join.left_keys;
	int *ids, n = 0;
	nk_bound **replacements;
	NK_TRY(NK_ARENA_NEW(opt->arena, &ids, rel->join.n_keys, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &replacements, rel->join.n_keys, err));
	nk_ids keys;
	NK_TRY(nk__ids_new(opt, &keys, err));
	for (int i = 0; i < rel->join.n_keys; i++) {
		if (from[i]->kind != NK_BOUND_COLUMN || from[i]->dtype != to[i]->dtype ||
		    !nk__dtype_is_exact(from[i]->dtype) || to[i]->fallible || to[i]->impure ||
		    nk__ids_has(&keys, from[i]->column))
			continue;
		nk__ids_add(&keys, from[i]->column);
		ids[n] = from[i]->column;
		replacements[n++] = to[i];
	}
	int n_given = conjuncts->n; /* `other` may be fed from here and to here in turn */
	for (int i = 0; n && i < n_given; i++) {
		nk_column_use use = nk__column_use(conjuncts->items[i], &keys, NULL);
		if (!use.n || !use.in_first)
			continue;
		nk_bound *derived;
		NK_TRY(nk__replace_columns(opt, conjuncts->items[i], ids, replacements, n, &derived, err));
		if (!derived->fallible)
			NK_TRY(nk__bounds_add_once(opt, other, derived, err));
	}
	return NK_OK;
}

static nk_status conjoin_residual(nk_opt *opt, nk_rel *rel, const nk_bounds *conjuncts, nk_error *err)
{
	rel->join.residual = NULL;
	return conjuncts->n
	           ? nk_bound_conjoin(opt->binder, conjuncts->items, conjuncts->n, &rel->join.residual, err)
	           : NK_OK;
}

static nk_status push_inner(pushdown *self, nk_rel *rel, const nk_ids *left, const nk_ids *right,
                            nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_bounds all = {0}, lefts = {0}, rights = {0}, both = {0}, rest = {0}, residual = {0};
	for (int i = 0; i < above->n; i++)
		NK_TRY(nk__bounds_add_once(opt, &all, above->items[i], err));
	if (rel->join.residual) {
		nk_bounds own = {0};
		NK_TRY(nk__split_predicate(opt, rel->join.residual, &own, err));
		for (int i = 0; i < own.n; i++)
			NK_TRY(nk__bounds_add_once(opt, own.items[i]->fallible || own.items[i]->impure ? &residual : &all,
			                           own.items[i], err));
	}
	for (int i = 0; i < all.n; i++) {
		nk_bound *conjunct = all.items[i], *left_key, *right_key;
		nk_column_use use = nk__column_use(conjunct, left, right);
		if (!use.n)
			NK_TRY(nk__bounds_add(opt, &rest, conjunct, err));
		else if (use.in_first)
			NK_TRY(nk__bounds_add_once(opt, &lefts, conjunct, err));
		else if (use.in_second)
			NK_TRY(nk__bounds_add_once(opt, &rights, conjunct, err));
		else if (is_key(rel, conjunct, left, right, &left_key, &right_key))
			NK_TRY(add_key(opt, rel, left_key, right_key, err));
		else
			NK_TRY(nk__bounds_add_once(opt, &both, conjunct, err));
	}
	if (rel->join.n_keys)
		rel->join.how = NK_JOIN_INNER;
	for (int i = 0; i < both.n; i++) {
		nk_bound *implied;
		NK_TRY(nk__implied_by(opt, both.items[i], left, &implied, err));
		if (implied)
			NK_TRY(nk__bounds_add_once(opt, &lefts, implied, err));
		NK_TRY(nk__implied_by(opt, both.items[i], right, &implied, err));
		if (implied)
			NK_TRY(nk__bounds_add_once(opt, &rights, implied, err));
		NK_TRY(nk__bounds_add_once(opt, rel->join.n_keys ? &residual : &rest, both.items[i], err));
	}
	NK_TRY(derive(opt, rel, true, &lefts, &rights, err));
	NK_TRY(derive(opt, rel, false, &rights, &lefts, err));
	NK_TRY(conjoin_residual(opt, rel, &residual, err));
	*above = rest;
	NK_TRY(send(self, rel, 0, &lefts, err));
	return send(self, rel, 1, &rights, err);
}

/* Kinds that keep the rows of input `kept`, and filter or extend them by the other. */
static nk_status push_one_sided(pushdown *self, nk_rel *rel, int kept, const nk_ids *left,
                                const nk_ids *right, nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	const nk_ids *kept_ids = kept ? right : left, *other_ids = kept ? left : right;
	nk_bounds kept_side = {0}, other_side = {0}, rest = {0}, residual = {0};
	for (int i = 0; i < above->n; i++) {
		nk_column_use use = nk__column_use(above->items[i], kept_ids, NULL);
		NK_TRY(nk__bounds_add_once(opt, use.n && use.in_first ? &kept_side : &rest, above->items[i], err));
	}
	/* A match condition on the other side alone decides which of its rows take part at all. */
	if (rel->join.residual) {
		nk_bounds own = {0};
		NK_TRY(nk__split_predicate(opt, rel->join.residual, &own, err));
		for (int i = 0; i < own.n; i++) {
			nk_column_use use = nk__column_use(own.items[i], other_ids, NULL);
			bool sinks = use.n && use.in_first && !own.items[i]->fallible && !own.items[i]->impure;
			NK_TRY(nk__bounds_add_once(opt, sinks ? &other_side : &residual, own.items[i], err));
		}
		NK_TRY(conjoin_residual(opt, rel, &residual, err));
	}
	NK_TRY(derive(opt, rel, kept == 0, &kept_side, &other_side, err));
	*above = rest;
	NK_TRY(send(self, rel, kept, &kept_side, err));
	return send(self, rel, 1 - kept, &other_side, err);
}

static nk_status push_join(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	/* Filtering before validating would hide what the user asked to be told. */
	if (rel->join.validate != NK_VALIDATE_MANY_TO_MANY)
		return NK_OK;
	nk_ids left, right;
	NK_TRY(nk__ids_of(opt, rel->inputs[0]->columns, rel->inputs[0]->n_columns, &left, err));
	NK_TRY(nk__ids_of(opt, rel->inputs[1]->columns, rel->inputs[1]->n_columns, &right, err));
	for (int i = 0; i < above->n; i++)
		tighten_kind(rel, above->items[i], &left, &right);
	switch (rel->join.how) {
	case NK_JOIN_INNER:
	case NK_JOIN_CROSS: return push_inner(self, rel, &left, &right, above, err);
	case NK_JOIN_LEFT:
	case NK_JOIN_SEMI:
	case NK_JOIN_ANTI: return push_one_sided(self, rel, 0, &left, &right, above, err);
	case NK_JOIN_RIGHT: return push_one_sided(self, rel, 1, &left, &right, above, err);
	case NK_JOIN_FULL: return NK_OK;
	}
	return NK_OK;
}

/* Whether the window's partitions are told apart by this column: then whole partitions pass or fail a predicate on it. */
static bool partitions_by(const nk_bound *over, int column)
{
	for (int k = 0; k < over->over.n_keys; k++)
		if (over->args[1 + k]->kind == NK_BOUND_COLUMN && over->args[1 + k]->column == column)
			return over->over.mapping != NK_MAP_EXPLODE;
	return false;
}

/* Where every expression is row by row or a window, predicates on keys of all windows go below. */
static nk_status push_windows(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_bounds stack = {0}, windows = {0};
	nk_bound **exprs = rel->map.exprs;
	for (int i = 0; i < rel->n_columns; i++)
		if (!exprs[i]->elementwise)
			NK_TRY(nk__bounds_add_once(opt, &stack, exprs[i], err));
	for (int i = 0; i < stack.n; i++) {
		nk_bound *node = stack.items[i];
		if (node->impure || (node->kind == NK_BOUND_CALL && node->func->height != NK_ELEMENTWISE) ||
		    node->kind == NK_BOUND_SERIES)
			return NK_OK;
		if (node->kind == NK_BOUND_OVER)
			NK_TRY(nk__bounds_add(opt, &windows, node, err));
		for (int a = 0; node->kind == NK_BOUND_CALL && a < node->n_args; a++)
			if (!node->args[a]->elementwise)
				NK_TRY(nk__bounds_add_once(opt, &stack, node->args[a], err));
	}
	if (!windows.n)
		return NK_OK;
	int *keys, n = 0;
	NK_TRY(NK_ARENA_NEW(opt->arena, &keys, windows.items[0]->over.n_keys + 1, err));
	for (int k = 0; k < windows.items[0]->over.n_keys; k++) {
		const nk_bound *key = windows.items[0]->args[1 + k];
		bool is_key = key->kind == NK_BOUND_COLUMN;
		for (int w = 0; w < windows.n && is_key; w++)
			is_key = partitions_by(windows.items[w], key->column);
		if (is_key)
			keys[n++] = key->column;
	}
	return n ? push_through(self, rel, keys, n, above, err) : NK_OK;
}

/* All rows of a list are alike in the other columns. */
static nk_status push_explode(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	int *passed, n = 0;
	NK_TRY(NK_ARENA_NEW(self->opt->arena, &passed, rel->n_columns + 1, err));
	for (int i = 0; i < rel->n_columns; i++) {
		bool is_made = false;
		for (int j = 0; j < rel->explode.n_lists; j++)
			is_made |= rel->explode.made[j] == rel->columns[i];
		if (!is_made)
			passed[n++] = rel->columns[i];
	}
	return n ? push_through(self, rel, passed, n, above, err) : NK_OK;
}

static nk_status push(pushdown *self, nk_rel *rel, nk_bounds *above, nk_error *err)
{
	switch (rel->kind) {
	case NK_REL_SCAN: return push_scan(self, rel, above, err);
	case NK_REL_FILTER: return push_filter(self, rel, above, err);
	case NK_REL_PROJECT:
		return push_replaced(self, rel, rel->columns, rel->project.exprs, rel->n_columns, above, err);
	case NK_REL_AGGREGATE:
		return push_replaced(self, rel, rel->columns, rel->aggregate.keys, rel->aggregate.n_keys, above, err);
	case NK_REL_JOIN: return push_join(self, rel, above, err);
	case NK_REL_SORT:
		return rel->sort.limit < 0 ? push_through(self, rel, rel->columns, rel->n_columns, above, err)
		                           : NK_OK;
	case NK_REL_UNIQUE: return push_through(self, rel, rel->unique.keys, rel->unique.n_keys, above, err);
	case NK_REL_UNION: return push_union(self, rel, above, err);
	case NK_REL_MAP: return push_windows(self, rel, above, err);
	case NK_REL_EXPLODE: return push_explode(self, rel, above, err);
	case NK_REL_SLICE:     /* counts rows */
	case NK_REL_ZIP:       /* and here the other input's rows would no longer lie beside them */
	case NK_REL_ROW_INDEX: /* numbers rows */
	case NK_REL_JOIN_ASOF:
	case NK_REL_WINDOWS:
	case NK_REL_FOREIGN:
	case NK_REL_N: return NK_OK;
	}
	return NK_OK;
}

nk_status nk__opt_predicate_pushdown(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	pushdown self = {.opt = opt};
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.pending, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.vanishes, opt->n_nodes, err));
	for (int i = opt->n_nodes - 1; i >= 0; i--) {
		nk_rel *rel = opt->nodes[i];
		nk_bounds above = self.pending[i];
		if (rel->kind != NK_REL_FILTER && rel->kind != NK_REL_JOIN && !above.n)
			continue;
		NK_TRY(push(&self, rel, &above, err));
		if (above.n)
			NK_TRY(nk__opt_become_filter(opt, rel, above.items, above.n, err));
	}
	/* Inputs first, so that what takes a filter's place is final. Its input had no other reader. */
	for (int i = 0; i < opt->n_nodes; i++)
		if (self.vanishes[i]) {
			*opt->nodes[i] = *opt->nodes[i]->inputs[0];
			opt->nodes[i]->number = i;
		}
	return NK_OK;
}
