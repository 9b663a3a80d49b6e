/* Questions about predicates, answered from the few operations that rules understand (a table of names, looked at
 * nowhere else) and from the properties of all other functions. Recursion is bounded: what lies deeper than
 * MAX_DEPTH is treated as unknown, which is always allowed. */
#include "opt/rule_internal.h"

enum { MAX_DEPTH = 100 };

static const struct {
	const char *name;
	nk_op op;
} OPS[] = {
	{"and", NK_OP_AND},
	{"or", NK_OP_OR},
	{"not", NK_OP_NOT},
	{"eq", NK_OP_EQ},
	{"ne", NK_OP_NE},
	{"lt", NK_OP_LT},
	{"le", NK_OP_LE},
	{"gt", NK_OP_GT},
	{"ge", NK_OP_GE},
	{"is_in", NK_OP_IS_IN},
	{"is_between", NK_OP_IS_BETWEEN},
	{"is_null", NK_OP_IS_NULL},
	{"is_not_null", NK_OP_IS_NOT_NULL},
	{"str.starts_with", NK_OP_STARTS_WITH},
	{"str.ends_with", NK_OP_ENDS_WITH},
	{"str.contains", NK_OP_CONTAINS},
	{"cast", NK_OP_CAST},
};

nk_op nk__op_of(const nk_bound *expr)
{
	if (expr->kind != NK_BOUND_CALL)
		return NK_OP_OTHER;
	for (int i = 0; i < NK_COUNT(OPS); i++)
		if (strcmp(expr->func->name, OPS[i].name) == 0) {
			bool is_logic = OPS[i].op == NK_OP_AND || OPS[i].op == NK_OP_OR || OPS[i].op == NK_OP_NOT;
			/* On integers the same names are bitwise. */
			if (is_logic && expr->dtype->id != NK_TYPE_BOOLEAN)
				return NK_OP_OTHER;
			return OPS[i].op;
		}
	return NK_OP_OTHER;
}

nk_op nk__op_mirrored(nk_op op)
{
	switch (op) {
	case NK_OP_LT: return NK_OP_GT;
	case NK_OP_LE: return NK_OP_GE;
	case NK_OP_GT: return NK_OP_LT;
	case NK_OP_GE: return NK_OP_LE;
	default: return op;
	}
}

typedef struct use_visit {
	const nk_ids *first, *second;
	nk_column_use use;
} use_visit;

static void visit_use(int id, void *data)
{
	use_visit *visit = data;
	visit->use.n++;
	if (visit->first && !nk__ids_has(visit->first, id))
		visit->use.in_first = false;
	if (visit->second && !nk__ids_has(visit->second, id))
		visit->use.in_second = false;
}

nk_column_use nk__column_use(const nk_bound *expr, const nk_ids *first, const nk_ids *second)
{
	use_visit visit = {first, second, {0, true, true}};
	nk_bound_visit_columns(expr, visit_use, &visit);
	return visit.use;
}

bool nk__bound_is_true(const nk_bound *expr)
{
	return expr->kind == NK_BOUND_LITERAL && expr->dtype->id == NK_TYPE_BOOLEAN && !expr->value.is_null &&
	       expr->value.boolean;
}

bool nk__bound_is_never(const nk_bound *expr)
{
	return expr->kind == NK_BOUND_LITERAL &&
	       (expr->value.is_null || (expr->dtype->id == NK_TYPE_BOOLEAN && !expr->value.boolean));
}

nk_status nk__bounds_add(nk_opt *opt, nk_bounds *list, nk_bound *expr, nk_error *err)
{
	if (list->n == list->capacity) {
		nk_bound **larger;
		int capacity = list->capacity ? list->capacity * 2 : 4;
		NK_TRY(NK_ARENA_NEW(opt->arena, &larger, capacity, err));
		if (list->n)
			memcpy(larger, list->items, (size_t)list->n * sizeof *larger);
		list->items = larger;
		list->capacity = capacity;
	}
	list->items[list->n++] = expr;
	return NK_OK;
}

static bool list_has(const nk_bounds *list, const nk_bound *expr)
{
	for (int i = 0; i < list->n; i++)
		if (list->items[i] == expr)
			return true;
	return false;
}

nk_status nk__bounds_add_once(nk_opt *opt, nk_bounds *list, nk_bound *expr, nk_error *err)
{
	return list_has(list, expr) ? NK_OK : nk__bounds_add(opt, list, expr, err);
}

/* The sides of nested disjunctions, left to right. */
static nk_status disjuncts(nk_opt *opt, nk_bound *expr, nk_bounds *out, nk_error *err)
{
	nk_bounds stack = {0};
	NK_TRY(nk__bounds_add(opt, &stack, expr, err));
	while (stack.n) {
		nk_bound *top = stack.items[--stack.n];
		if (nk__op_of(top) != NK_OP_OR) {
			NK_TRY(nk__bounds_add_once(opt, out, top, err));
			continue;
		}
		for (int i = top->n_args - 1; i >= 0; i--)
			NK_TRY(nk__bounds_add(opt, &stack, top->args[i], err));
	}
	return NK_OK;
}

/* `or` is the function of some disjunction. */
static nk_status disjoin(nk_opt *opt, const nk_func * or, const nk_bounds *list, nk_bound **out,
                         nk_error *err)
{
	*out = list->items[0];
	for (int i = 1; i < list->n; i++) {
		nk_bound *args[2] = {*out, list->items[i]};
		NK_TRY(nk_bound_call(opt->binder, or, args, 2, NULL, false, out, err));
	}
	return NK_OK;
}

/* (a & b) | (a & c) is a & (b | c), also in three-valued logic. */
static nk_status split_disjunction(nk_opt *opt, nk_bound *disjunction, nk_bounds *out, nk_error *err)
{
	nk_bounds sides = {0}, common = {0}, rests = {0};
	NK_TRY(disjuncts(opt, disjunction, &sides, err));
	nk_bounds *parts;
	NK_TRY(NK_ARENA_NEW(opt->arena, &parts, sides.n, err));
	for (int i = 0; i < sides.n; i++)
		NK_TRY(nk_bound_conjuncts(opt->binder, sides.items[i], &parts[i].items, &parts[i].n, err));
	for (int i = 0; i < parts[0].n; i++) {
		bool in_all = true;
		for (int side = 1; side < sides.n && in_all; side++)
			in_all = list_has(&parts[side], parts[0].items[i]);
		if (in_all)
			NK_TRY(nk__bounds_add_once(opt, &common, parts[0].items[i], err));
	}
	if (!common.n)
		return nk__bounds_add_once(opt, out, disjunction, err);
	for (int i = 0; i < common.n; i++)
		NK_TRY(nk__bounds_add_once(opt, out, common.items[i], err));
	for (int side = 0; side < sides.n; side++) {
		nk_bounds rest = {0};
		for (int i = 0; i < parts[side].n; i++)
			if (!list_has(&common, parts[side].items[i]))
				NK_TRY(nk__bounds_add(opt, &rest, parts[side].items[i], err));
		if (!rest.n)
			return NK_OK; /* this side is the common part alone, so the whole is */
		nk_bound *joined;
		NK_TRY(nk_bound_conjoin(opt->binder, rest.items, rest.n, &joined, err));
		NK_TRY(nk__bounds_add_once(opt, &rests, joined, err));
	}
	nk_bound *remaining;
	NK_TRY(disjoin(opt, disjunction->func, &rests, &remaining, err));
	return nk__bounds_add_once(opt, out, remaining, err);
}

nk_status nk__split_predicate(nk_opt *opt, nk_bound *predicate, nk_bounds *out, nk_error *err)
{
	nk_bound **parts;
	int n;
	NK_TRY(nk_bound_conjuncts(opt->binder, predicate, &parts, &n, err));
	for (int i = 0; i < n; i++) {
		if (nk__op_of(parts[i]) == NK_OP_OR && !parts[i]->fallible && !parts[i]->impure)
			NK_TRY(split_disjunction(opt, parts[i], out, err));
		else
			NK_TRY(nk__bounds_add_once(opt, out, parts[i], err));
	}
	return NK_OK;
}

nk_status nk__implied_by(nk_opt *opt, nk_bound *disjunction, const nk_ids *set, nk_bound **out, nk_error *err)
{
	*out = NULL;
	if (nk__op_of(disjunction) != NK_OP_OR || disjunction->fallible || disjunction->impure)
		return NK_OK;
	nk_bounds sides = {0}, implied = {0};
	NK_TRY(disjuncts(opt, disjunction, &sides, err));
	for (int side = 0; side < sides.n; side++) {
		nk_bounds inside = {0};
		nk_bound **parts;
		int n;
		NK_TRY(nk_bound_conjuncts(opt->binder, sides.items[side], &parts, &n, err));
		for (int i = 0; i < n; i++) {
			nk_column_use use = nk__column_use(parts[i], set, NULL);
			if (use.n && use.in_first)
				NK_TRY(nk__bounds_add(opt, &inside, parts[i], err));
		}
		if (!inside.n)
			return NK_OK;
		nk_bound *joined;
		NK_TRY(nk_bound_conjoin(opt->binder, inside.items, inside.n, &joined, err));
		NK_TRY(nk__bounds_add_once(opt, &implied, joined, err));
	}
	return disjoin(opt, disjunction->func, &implied, out, err);
}

/* Whether the value is null wherever all columns of the set are. */
static bool is_null_with(const nk_bound *expr, const nk_ids *set, int depth)
{
	if (expr->kind == NK_BOUND_COLUMN)
		return nk__ids_has(set, expr->column);
	if (expr->kind != NK_BOUND_CALL || !expr->elementwise || expr->func->nulls != NK_NULLS_PROPAGATE ||
	    depth > MAX_DEPTH)
		return false;
	for (int i = 0; i < expr->n_args; i++)
		if (is_null_with(expr->args[i], set, depth + 1))
			return true;
	return false;
}

static bool rejects(const nk_bound *expr, const nk_ids *set, int depth)
{
	if (depth > MAX_DEPTH)
		return false;
	switch (nk__op_of(expr)) {
	case NK_OP_AND:
		for (int i = 0; i < expr->n_args; i++)
			if (rejects(expr->args[i], set, depth + 1))
				return true;
		return false;
	case NK_OP_OR:
		for (int i = 0; i < expr->n_args; i++)
			if (!rejects(expr->args[i], set, depth + 1))
				return false;
		return true;
	case NK_OP_IS_NOT_NULL: return is_null_with(expr->args[0], set, depth + 1);
	case NK_OP_NOT:
		if (nk__op_of(expr->args[0]) == NK_OP_IS_NULL)
			return is_null_with(expr->args[0]->args[0], set, depth + 2);
		return is_null_with(expr, set, depth);
	default: return is_null_with(expr, set, depth);
	}
}

bool nk__rejects_nulls(const nk_bound *predicate, const nk_ids *set) { return rejects(predicate, set, 0); }

static bool is_replaced(const nk_ids *used, int column, const nk_bound *expr)
{
	return nk__ids_has(used, column) && !(expr->kind == NK_BOUND_COLUMN && expr->column == column);
}

nk_status nk__replace_columns(nk_opt *opt, nk_bound *expr, const int *columns, nk_bound *const *exprs, int n,
                              nk_bound **out, nk_error *err)
{
	nk_ids used;
	NK_TRY(nk__ids_new(opt, &used, err));
	nk__ids_add_expr(&used, expr);
	*out = expr;
	int *ids, n_used = 0;
	nk_bound **replacements;
	for (int i = 0; i < n; i++)
		n_used += is_replaced(&used, columns[i], exprs[i]);
	NK_TRY(NK_ARENA_NEW(opt->arena, &ids, n_used, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &replacements, n_used, err));
	n_used = 0;
	for (int i = 0; i < n; i++)
		if (is_replaced(&used, columns[i], exprs[i])) {
			ids[n_used] = columns[i];
			replacements[n_used++] = exprs[i];
		}
	return n_used ? nk_bound_substitute(opt->binder, expr, ids, replacements, n_used, out, err) : NK_OK;
}
