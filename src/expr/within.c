/* Expressions over the items of lists and the fields of Structs become expressions over columns when they are built:
 * `element` becomes the list column itself and every function of it the function's twin within lists (func/each.h);
 * `field` becomes a field of the Struct. So binding, rules and evaluators know of columns only.
 *
 * Within lists an intermediate is items (as many a row as the list has, or other numbers), one value a row, or a literal;
 * which one follows from the functions alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pointers.h"
#include "expr/expr.h"

typedef enum within_state { STATE_LITERAL, STATE_VALUES, STATE_ITEMS } within_state;

typedef struct made {
	nk_expr *expr; /* owned */
	within_state state;
} made;

static int args_of(const void *node, const void *const **below)
{
	const nk_expr *expr = node;
	*below = (const void *const *)expr->args;
	return expr->n_args;
}

static bool is_call(const nk_expr *expr, const char *name)
{
	return expr->kind == NK_EXPR_CALL && strcmp(expr->func->name, name) == 0;
}

static nk_status call(const char *name, nk_expr *const *args, int n_args, nk_expr **out, nk_error *err)
{
	return nk__expr_call(nk_func_find(name), args, n_args, NULL, NULL, 0, out, err);
}

/* The names of a Struct's fields, which binding would take from the arguments; items have none. */
static nk_status name_fields(const nk_expr *node, nk_option *options, nk_error *err)
{
	int at = nk_func_option(node->func, "fields");
	if (options[at].dtype)
		return NK_OK;
	nk_field *fields = calloc((size_t)node->n_args + 1, sizeof *fields);
	if (!fields)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a Struct");
	for (int i = 0; i < node->n_args; i++) {
		const char *name = nk__expr_output_name(node->args[i]);
		fields[i] = (nk_field){!name || strcmp(name, "element") == 0 ? "" : name, nk_dtype_of(NK_TYPE_NULL)};
	}
	options[at].dtype = nk_dtype_struct(fields, node->n_args);
	free(fields);
	return options[at].dtype ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

/* A call of a function with the options of a node, and for a twin which arguments are items. */
static nk_status call_like(const nk_expr *node, const nk_func *func, nk_expr *const *args, int n_args,
                           int64_t rows, nk_expr **out, nk_error *err)
{
	int n = nk_func_n_options(node->func),
		n_options = nk_func_n_options(func); /* a twin's last one is "rows" */
	const char **names = malloc(((size_t)n_options + 1) * sizeof *names);
	nk_option *options = malloc(((size_t)n_options + 1) * sizeof *options);
	nk_status status =
		names && options ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	for (int i = 0; status == NK_OK && i < n_options; i++) {
		names[i] = func->options[i].name;
		options[i] = i < n ? node->options[i] : (nk_option){.kind = NK_OPTION_INT, .integer = rows};
	}
	/* Of fields of a Struct, binding knows the names. */
	if (status == NK_OK && func != node->func && node->func->names_fields &&
	    strcmp(node->func->name, "as_struct") == 0)
		status = name_fields(node, options, err);
	if (status == NK_OK)
		status = nk__expr_call(func, args, n_args, names, options, n_options, out, err);
	free(names);
	free(options);
	return status;
}

/* Functions whose twin would run list by list, and that have a kernel over all lists, with the same options. */
static const nk_func *over_all_lists(const nk_func *func, int64_t rows, int n_args)
{
	static const char *const names[] = {"filter", "sort", "reverse", "unique", "drop_nulls", "gather"};
	if (rows != ((int64_t)1 << n_args) - 1)
		return NULL;
	for (int i = 0; i < NK_COUNT(names); i++) {
		char name[64];
		if (strcmp(func->name, names[i]) != 0)
			continue;
		snprintf(name, sizeof name, "list.%s", names[i]);
		return nk_func_find(name);
	}
	return NULL;
}

/* int_range of values a row: a list for each. */
static nk_status ranges_of_values(const nk_expr *node, nk_expr *const *bounds, nk_expr **out, nk_error *err)
{
	nk_scalar value = {.dtype = nk_dtype_of(NK_TYPE_INT64),
	                   .integer = node->options[nk_func_option(node->func, "step")].integer};
	NK_AUTO(nk_expr) step = NULL;
	NK_TRY(nk__expr_literal(&value, false, &step, err));
	return call("int_ranges", (nk_expr *[]){bounds[0], bounds[1], step}, 3, out, err);
}

static nk_status lift_call(const nk_expr *node, nk_expr *outer, const made *args, made *out, nk_error *err)
{
	const nk_func *func = node->func;
	int n_args = node->n_args;
	nk_expr **exprs = malloc(((size_t)n_args + 1) * sizeof *exprs);
	if (!exprs)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	int64_t rows = 0;
	within_state widest = STATE_LITERAL;
	for (int i = 0; i < n_args; i++) {
		exprs[i] = args[i].expr;
		rows |= args[i].state == STATE_ITEMS ? (int64_t)1 << NK_MIN(i, 62) : 0;
		widest = NK_MAX(widest, args[i].state);
	}
	if (n_args == 0) { /* len: of the list */
		exprs[n_args++] = outer;
		rows = 1;
	}
	NK_AUTO(nk_expr) imploded = NULL;
	nk_status status = NK_OK;
	/* A column of values beside items whose number does not matter (positions to gather) is a list for every row. */
	for (int i = 0; status == NK_OK && i < n_args && func->unaligned && !imploded; i++)
		if (exprs[i]->kind == NK_EXPR_SERIES) {
			status = call("implode", &exprs[i], 1, &imploded, err);
			exprs[i] = imploded;
			rows |= (int64_t)1 << i;
		}
	if (status != NK_OK) {
		free(exprs);
		return status;
	}
	if (strcmp(func->name, "int_range") == 0 && widest == STATE_VALUES) { /* bounds of each list: items */
		status = ranges_of_values(node, exprs, &out->expr, err);
		out->state = STATE_ITEMS;
	} else if ((func->height == NK_ELEMENTWISE && !rows) || (widest == STATE_LITERAL && node->n_args > 0)) {
		out->state = widest;
		status = call_like(node, func, exprs, node->n_args, 0, &out->expr, err);
	} else {
		char name[256];
		snprintf(name, sizeof name, "each.%s", func->name);
		const nk_func *twin = over_all_lists(func, rows, n_args);
		twin = twin ? twin : nk_func_find(name);
		out->state = rows && func->height != NK_AGGREGATING ? STATE_ITEMS : STATE_VALUES;
		status = twin ? call_like(node, twin, exprs, n_args, rows, &out->expr, err)
		              : nk_fail(err, NK_NOT_IMPLEMENTED, "`%s` is not implemented within lists so deep",
		                        func->name);
	}
	free(exprs);
	return status;
}

static nk_status lift(const nk_expr *node, nk_expr *outer, const nk_pointers *nodes, const made *all,
                      made *out, nk_error *err)
{
	made *args;
	nk_status status;
	switch (node->kind) {
	case NK_EXPR_LITERAL:
	case NK_EXPR_SERIES: *out = (made){nk__expr_ref((nk_expr *)node), STATE_LITERAL}; return NK_OK;
	case NK_EXPR_ALIAS:
	case NK_EXPR_RENAME:
		*out = all[nk_pointers_find(nodes, node->args[0])];
		nk__expr_ref(out->expr);
		return NK_OK;
	case NK_EXPR_CALL:
		if (is_call(node, "element")) {
			*out = (made){nk__expr_ref(outer), STATE_ITEMS};
			return NK_OK;
		}
		args = malloc(((size_t)node->n_args + 1) * sizeof *args);
		if (!args)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
		for (int i = 0; i < node->n_args; i++)
			args[i] = all[nk_pointers_find(nodes, node->args[i])];
		status = lift_call(node, outer, args, out, err);
		free(args);
		return status;
	case NK_EXPR_COLUMN:
	case NK_EXPR_SELECTOR:
		return nk_fail(err, NK_COMPUTE,
		               "named columns are not allowed in `eval` functions; consider using `element`");
	case NK_EXPR_OVER: break;
	}
	return nk_fail(err, NK_NOT_IMPLEMENTED, "windows within lists are not implemented yet");
}

/* ---- Structs ---- */

static nk_status with_field(const nk_expr *node, nk_expr *outer, const nk_pointers *nodes, const made *all,
                            made *out, nk_error *err)
{
	out->state = STATE_VALUES;
	int n_args = node->n_args;
	bool is_field = is_call(node, "field"), changed = is_field;
	nk_expr **args = malloc(((size_t)n_args + 2) * sizeof *args);
	if (!args)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	for (int i = 0; i < n_args; i++) {
		args[i + is_field] = all[nk_pointers_find(nodes, node->args[i])].expr;
		changed |= args[i + is_field] != node->args[i];
	}
	nk_status status = NK_OK;
	if (is_field)
		args[0] = outer;
	if (!changed)
		out->expr = nk__expr_ref((nk_expr *)node);
	else if (is_field)
		status = call("struct.field", args, n_args + 1, &out->expr, err);
	else if (node->kind == NK_EXPR_CALL)
		status = call_like(node, node->func, args, n_args, 0, &out->expr, err);
	else if (node->kind == NK_EXPR_ALIAS)
		status = nk__expr_alias(args[0], node->name, &out->expr, err);
	else if (node->kind == NK_EXPR_RENAME)
		status = nk__expr_rename(args[0], node->rename, node->name, &out->expr, err);
	else if (node->kind == NK_EXPR_OVER)
		status = nk__expr_over(args, &node->over, &out->expr, err);
	else
		status = nk_fail(err, NK_INVALID_OPERATION, "`field` stands inside of a selector");
	free(args);
	return status;
}

/* ---- Results ---- */

/* A literal for every item. */
static nk_status spread_literal(nk_expr *outer, nk_expr *literal, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) test = NULL;
	nk_option rows = {.kind = NK_OPTION_INT, .integer = 1};
	const char *name = "rows";
	NK_TRY(nk__expr_call(nk_func_find("each.is_null"), &outer, 1, &name, &rows, 1, &test, err));
	return nk__expr_call(nk_func_find("each.when"), (nk_expr *[]){test, literal, literal}, 3, &name, &rows, 1,
	                     out, err);
}

static nk_status finish(nk_within how, nk_expr *outer, const made *result, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) spread = NULL;
	nk_expr *pair[] = {outer, result->expr};
	switch (how) {
	case NK_WITHIN_FIELDS: *out = nk__expr_ref(result->expr); return NK_OK;
	case NK_WITHIN_FILTER: return call("list.filter", pair, 2, out, err);
	case NK_WITHIN_EVAL:
		if (result->state == STATE_VALUES)
			return call("list.of_one", pair, 2, out, err);
		if (result->state == STATE_LITERAL) {
			NK_TRY(spread_literal(outer, result->expr, &spread, err));
			pair[1] = spread;
		}
		break;
	case NK_WITHIN_AGG: break;
	}
	return call("list.result", pair, 2, out, err);
}

nk_status nk__expr_within(nk_within how, nk_expr *outer, nk_expr *inner, nk_expr **out, nk_error *err)
{
	NK_POINTERS(nodes);
	NK_TRY(nk_pointers_walk(&nodes, inner, args_of, err));
	made *all = calloc((size_t)nodes.n, sizeof *all);
	nk_status status = all ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	for (int64_t i = 0; status == NK_OK && i < nodes.n; i++)
		status = how == NK_WITHIN_FIELDS ? with_field(nodes.items[i], outer, &nodes, all, &all[i], err)
		                                 : lift(nodes.items[i], outer, &nodes, all, &all[i], err);
	if (status == NK_OK)
		status = finish(how, outer, &all[nodes.n - 1], out, err);
	for (int64_t i = 0; all && i < nodes.n; i++)
		if (all[i].expr)
			nk__expr_unref(all[i].expr);
	free(all);
	return status;
}
