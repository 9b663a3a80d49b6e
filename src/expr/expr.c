/* Nodes are one allocation each, header and argument pointers; text is copied. Release walks an explicit stack
 * threaded through the dying nodes themselves, so that a chain of a million operations needs no memory to die. */
#include "expr/expr.h"

#include <stdlib.h>
#include <string.h>

static nk_status expr_new(nk_expr_kind kind, nk_expr *const *args, int n_args, nk_expr **out, nk_error *err)
{
	nk_expr *expr = calloc(1, sizeof *expr + (size_t)n_args * sizeof expr->args[0]);
	if (!expr)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	expr->n_references = 1;
	expr->kind = kind;
	expr->n_args = n_args;
	for (int i = 0; i < n_args; i++)
		expr->args[i] = nk__expr_ref(args[i]);
	*out = expr;
	return NK_OK;
}

static nk_status copy_text(const char *text, int64_t n_bytes, char **out, nk_error *err)
{
	char *copy = malloc((size_t)n_bytes + 1);
	if (!copy)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	memcpy(copy, text, (size_t)n_bytes);
	copy[n_bytes] = 0;
	*out = copy;
	return NK_OK;
}

/* Drop what the node itself owns; arguments are the caller's business. */
static void expr_clear(nk_expr *expr)
{
	free(expr->name);
	if (expr->kind == NK_EXPR_LITERAL && expr->literal.dtype && !expr->literal.is_null &&
	    nk_type_is_textual(expr->literal.dtype->id))
		free((char *)expr->literal.bytes);
	nk_column_unref(expr->series);
	if (expr->options) {
		for (int i = 0; i < nk_func_n_options(expr->func); i++)
			if (expr->options[i].kind == NK_OPTION_STRING)
				free((char *)expr->options[i].string);
			else if (expr->options[i].kind == NK_OPTION_FOREIGN)
				nk_foreign_unref(expr->options[i].foreign);
		free(expr->options);
	}
	for (int i = 0; expr->names && i < expr->n_items; i++)
		free(expr->names[i]);
	free(expr->names);
	free(expr->positions);
	free(expr->dtypes);
}

void nk__expr_unref(nk_expr *expr)
{
	if (!expr || __atomic_fetch_sub(&expr->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	/* A dead node's count is free to hold the link of the list of nodes still to be torn down. */
	nk_expr *dying = expr;
	dying->n_references = 0;
	while (dying) {
		nk_expr *rest = (nk_expr *)(intptr_t)dying->n_references;
		for (int i = 0; i < dying->n_args; i++) {
			nk_expr *arg = dying->args[i];
			if (arg && __atomic_fetch_sub(&arg->n_references, 1, __ATOMIC_ACQ_REL) == 1) {
				arg->n_references = (int64_t)(intptr_t)rest;
				rest = arg;
			}
		}
		expr_clear(dying);
		free(dying);
		dying = rest;
	}
}

nk_status nk__expr_column(const char *name, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(expr_new(NK_EXPR_COLUMN, NULL, 0, &expr, err));
	NK_TRY(copy_text(name, (int64_t)strlen(name), &expr->name, err));
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__expr_literal(const nk_scalar *value, bool is_untyped, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(expr_new(NK_EXPR_LITERAL, NULL, 0, &expr, err));
	expr->is_untyped = is_untyped;
	if (!value->is_null && nk_type_is_textual(value->dtype->id)) {
		char *copy;
		NK_TRY(copy_text(value->bytes, value->n_bytes, &copy, err));
		expr->literal = *value;
		expr->literal.bytes = copy;
	} else {
		expr->literal = *value;
	}
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__expr_series(const char *name, nk_column *column, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(expr_new(NK_EXPR_SERIES, NULL, 0, &expr, err));
	NK_TRY(copy_text(name, (int64_t)strlen(name), &expr->name, err));
	expr->series = nk_column_ref(column);
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__expr_call(const nk_func *func, nk_expr *const *args, int n_args,
                        const char *const *option_names, const nk_option *options, int n_options,
                        nk_expr **out, nk_error *err)
{
	if (n_args < func->min_args || (func->max_args >= 0 && n_args > func->max_args))
		return nk_fail(err, NK_TYPE, "`%s` takes %d%s arguments (%s), %d given", func->name, func->min_args,
		               func->max_args < 0 ? " or more" : "", func->args, n_args);
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(expr_new(NK_EXPR_CALL, args, n_args, &expr, err));
	expr->func = func;
	int n = nk_func_n_options(func);
	if (n) {
		expr->options = calloc((size_t)n, sizeof *expr->options);
		if (!expr->options)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	}
	for (int i = 0; i < n; i++)
		expr->options[i] = (nk_option){.kind = func->options[i].fallback.kind};
	for (int i = 0; i < n; i++) {
		nk_option value = func->options[i].fallback;
		for (int j = 0; j < n_options; j++)
			if (strcmp(option_names[j], func->options[i].name) == 0) {
				value = options[j];
				if (value.kind == NK_OPTION_INT && func->options[i].fallback.kind == NK_OPTION_FLOAT)
					value = (nk_option){.kind = NK_OPTION_FLOAT, .floating = (double)value.integer};
				if (value.kind != func->options[i].fallback.kind)
					return nk_fail(err, NK_TYPE, "option `%s` of `%s` has the wrong type", option_names[j],
					               func->name);
			}
		if (value.kind == NK_OPTION_STRING && value.string) {
			char *copy;
			NK_TRY(copy_text(value.string, (int64_t)strlen(value.string), &copy, err));
			value.string = copy;
		} else if (value.kind == NK_OPTION_FOREIGN) {
			nk_foreign_ref(value.foreign);
		}
		expr->options[i] = value;
	}
	for (int j = 0; j < n_options; j++)
		if (nk_func_option(func, option_names[j]) < 0)
			return nk_fail(err, NK_TYPE, "`%s` has no option `%s`", func->name, option_names[j]);
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__expr_alias(nk_expr *inner, const char *name, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(expr_new(NK_EXPR_ALIAS, &inner, 1, &expr, err));
	NK_TRY(copy_text(name, (int64_t)strlen(name), &expr->name, err));
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__expr_rename(nk_expr *inner, nk_rename how, const char *affix, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(expr_new(NK_EXPR_RENAME, &inner, 1, &expr, err));
	expr->rename = how;
	if (affix)
		NK_TRY(copy_text(affix, (int64_t)strlen(affix), &expr->name, err));
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__expr_over(nk_expr *const *args, const nk_over *over, nk_expr **out, nk_error *err)
{
	NK_TRY(expr_new(NK_EXPR_OVER, args, 1 + over->n_keys + over->n_order, out, err));
	(*out)->over = *over;
	return NK_OK;
}

const char *nk__expr_field_name(const nk_expr *expr)
{
	const nk_expr *name = expr->args[1];
	bool is_text =
		name->kind == NK_EXPR_LITERAL && name->literal.dtype->id == NK_TYPE_STRING && !name->literal.is_null;
	if (!is_text || name->literal.bytes[0] == '^' || strcmp(name->literal.bytes, "*") == 0)
		return NULL;
	return name->literal.bytes;
}

const char *nk__expr_output_name(const nk_expr *expr)
{
	for (;;)
		switch (expr->kind) {
		case NK_EXPR_COLUMN:
		case NK_EXPR_SERIES:
		case NK_EXPR_ALIAS: return expr->name;
		case NK_EXPR_LITERAL: return "literal";
		case NK_EXPR_CALL:
			if (expr->func->fixed_name &&
			    (expr->n_args == 0 || strcmp(expr->func->fixed_name, expr->func->name) != 0))
				return expr->func->fixed_name;
			if (expr->n_args == 0)
				return expr->func->name;
			if (expr->func->picks_field)
				return expr->n_args == 2 ? nk__expr_field_name(expr) : NULL;
			/* when(predicate, then, otherwise) is named after `then` */
			expr = expr->args[strcmp(expr->func->name, "when") == 0 ? 1 : 0];
			break;
		case NK_EXPR_OVER: expr = expr->args[0]; break;
		case NK_EXPR_RENAME:
			if (expr->rename != NK_RENAME_KEEP)
				return NULL;
			expr = expr->args[0];
			while (expr->kind == NK_EXPR_ALIAS)
				expr = expr->args[0];
			break;
		case NK_EXPR_SELECTOR: return NULL;
		}
}
