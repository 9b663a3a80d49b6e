/* Expressions at the public boundary, and the registry as JSON. */
#include "expr/expr.h"

#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "api/series.h"
#include "base/text.h"

nk_status nk_expr_column(const char *name, nk_expr **out, nk_error *err)
{
	return nk__expr_column(name, out, err);
}

/* The items of a list value as one row of a List. */
static nk_status list_literal(const nk_value *value, nk_expr **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(nk_column_array(context->memory, value->series->column, &items, err));
	nk_buffer *offsets;
	NK_TRY(nk_buffer_new(context->memory, 16, &offsets, err));
	((int64_t *)(void *)offsets->bytes)[0] = 0;
	((int64_t *)(void *)offsets->bytes)[1] = items->n_rows;
	const nk_dtype *dtype = nk_dtype_list(items->dtype);
	NK_AUTO(nk_array) list = NULL;
	NK_TRY(nk_array_new_list(dtype, 1, offsets, NK_STEAL(items), NULL, 0, &list, err));
	NK_AUTO(nk_column) column = NULL;
	NK_TRY(nk_column_from_array(context->memory, list, &column, err));
	return nk__expr_series("literal", column, out, err);
}

nk_status nk_expr_literal(const nk_value *value, nk_expr **out, nk_error *err)
{
	if (value->kind == NK_VALUE_SERIES)
		return list_literal(value, out, err);
	nk_scalar scalar;
	bool is_untyped;
	NK_TRY(nk__scalar_from_value(value, &scalar, &is_untyped, err));
	return nk__expr_literal(&scalar, is_untyped, out, err);
}

nk_status nk_expr_series(nk_series *series, nk_expr **out, nk_error *err)
{
	return nk__expr_series(series->name, series->column, out, err);
}

nk_status nk_expr_call(const char *function, nk_expr *const *args, int n_args, const nk_named_option *options,
                       int n_options, nk_expr **out, nk_error *err)
{
	const nk_func *func = nk_func_find(function);
	if (!func)
		return nk_fail(err, NK_NOT_IMPLEMENTED, "the function `%s` is not implemented yet", function);
	const char **names = malloc(((size_t)n_options + 1) * sizeof *names);
	nk_option *values = malloc(((size_t)n_options + 1) * sizeof *values);
	nk_status status =
		names && values ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	if (status == NK_OK)
		status = nk__options_from_public(options, n_options, names, values, err);
	if (status == NK_OK)
		status = nk__expr_call(func, args, n_args, names, values, n_options, out, err);
	free(names);
	free(values);
	return status;
}

nk_status nk_expr_alias(nk_expr *expr, const char *name, nk_expr **out, nk_error *err)
{
	return nk__expr_alias(expr, name, out, err);
}

static int choose(const char *text, const char *const *names, int n)
{
	for (int i = 0; text && i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return -1;
}

nk_status nk_expr_rename(nk_expr *expr, const char *how, const char *affix, nk_expr **out, nk_error *err)
{
	static const char *const names[] = {"keep", "prefix", "suffix", "to_uppercase", "to_lowercase"};
	int at = choose(how, names, NK_COUNT(names));
	if (at < 0 || ((at == NK_RENAME_PREFIX || at == NK_RENAME_SUFFIX) && !affix))
		return nk_fail(err, NK_VALUE, "\"%s\" is no way to rename", how);
	return nk__expr_rename(expr, (nk_rename)at, affix, out, err);
}

nk_status nk_expr_within(const char *how, nk_expr *outer, nk_expr *inner, nk_expr **out, nk_error *err)
{
	static const char *const names[] = {"eval", "agg", "filter", "fields"};
	int at = choose(how, names, NK_COUNT(names));
	if (at < 0)
		return nk_fail(err, NK_VALUE, "\"%s\" is no way to evaluate an expression within another", how);
	return nk__expr_within((nk_within)at, outer, inner, out, err);
}

nk_status nk_expr_over(nk_expr *expr, nk_expr *const *partition_by, int n_partition_by,
                       nk_expr *const *order_by, int n_order_by, bool descending, bool nulls_last,
                       const char *mapping_strategy, nk_expr **out, nk_error *err)
{
	static const char *const names[] = {"group_to_rows", "join", "explode"};
	int mapping = choose(mapping_strategy, names, NK_COUNT(names));
	if (mapping < 0)
		return nk_fail(err, NK_VALUE,
		               "`mapping_strategy` must be one of {'group_to_rows', 'join', 'explode'}, got %s",
		               mapping_strategy);
	nk_over over = {.n_keys = n_partition_by,
	                .n_order = n_order_by,
	                .descending = descending,
	                .nulls_last = nulls_last,
	                .mapping = (nk_mapping)mapping};
	nk_expr **args = malloc((size_t)(n_partition_by + n_order_by + 1) * sizeof *args);
	if (!args)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	args[0] = expr;
	for (int i = 0; i < n_partition_by; i++)
		args[1 + i] = partition_by[i];
	for (int i = 0; i < n_order_by; i++)
		args[1 + n_partition_by + i] = order_by[i];
	nk_status status = nk__expr_over(args, &over, out, err);
	free(args);
	return status;
}

nk_expr *nk_expr_ref(nk_expr *expr) { return nk__expr_ref(expr); }
void nk_expr_unref(nk_expr *expr) { nk__expr_unref(expr); }
const char *nk_expr_output_name(const nk_expr *expr) { return nk__expr_output_name(expr); }

nk_status nk_expr_format(const nk_expr *expr, char **out, nk_error *err)
{
	NK_TEXT(text);
	nk__expr_format(expr, &text);
	NK_TRY(nk_text_finish(&text, err));
	*out = NK_STEAL(text.bytes);
	return NK_OK;
}

nk_status nk_expr_root_names(const nk_expr *expr, char **out, nk_error *err)
{
	NK_TEXT(text);
	int n = 0, capacity = 32;
	const nk_expr **stack = malloc((size_t)capacity * sizeof *stack);
	bool ok = stack != NULL;
	if (ok)
		stack[n++] = expr;
	while (ok && n) {
		const nk_expr *node = stack[--n];
		const char *const *names = NULL;
		int n_names = 0;
		if (node->kind == NK_EXPR_COLUMN) {
			names = (const char *const *)&node->name;
			n_names = 1;
		} else if (node->kind == NK_EXPR_SELECTOR && node->selector == NK_SELECT_NAMES) {
			names = (const char *const *)node->names;
			n_names = node->n_items;
		}
		for (int i = 0; i < n_names; i++) {
			bool seen = false;
			for (int64_t at = 0; at < text.n_bytes && !seen; at += (int64_t)strlen(text.bytes + at) + 1)
				seen = strcmp(text.bytes + at, names[i]) == 0;
			if (!seen)
				nk_text_append(&text, names[i], (int64_t)strlen(names[i]) + 1);
		}
		if (n + node->n_args > capacity) {
			capacity = capacity * 2 + node->n_args;
			const nk_expr **grown = realloc(stack, (size_t)capacity * sizeof *grown);
			if (!(ok = grown != NULL))
				break;
			stack = grown;
		}
		for (int i = node->n_args; i-- > 0;)
			stack[n++] = node->args[i];
	}
	free(stack);
	if (!ok)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for names");
	nk_text_append(&text, "\0", 1);
	NK_TRY(nk_text_finish(&text, err));
	*out = NK_STEAL(text.bytes);
	return NK_OK;
}

static const struct {
	const char *name;
	uint32_t classes;
} class_names[] = {
	{"integer", NK_CLASS_SIGNED | NK_CLASS_UNSIGNED},
	{"signed_integer", NK_CLASS_SIGNED},
	{"unsigned_integer", NK_CLASS_UNSIGNED},
	{"float", NK_CLASS_FLOAT},
	{"numeric", NK_CLASS_SIGNED | NK_CLASS_UNSIGNED | NK_CLASS_FLOAT | NK_CLASS_DECIMAL},
	{"decimal", NK_CLASS_DECIMAL},
	{"boolean", NK_CLASS_BOOLEAN},
	{"string", NK_CLASS_STRING},
	{"binary", NK_CLASS_BINARY},
	{"temporal", NK_CLASS_DATE | NK_CLASS_DATETIME | NK_CLASS_DURATION | NK_CLASS_TIME},
	{"date", NK_CLASS_DATE},
	{"datetime", NK_CLASS_DATETIME},
	{"duration", NK_CLASS_DURATION},
	{"time", NK_CLASS_TIME},
	{"nested", NK_CLASS_NESTED},
	{"list", NK_CLASS_LIST},
	{"array", NK_CLASS_ARRAY},
	{"categorical", NK_CLASS_CATEGORICAL},
	{"enum", NK_CLASS_ENUM},
	{"struct", NK_CLASS_STRUCT},
	{"null", NK_CLASS_NULL},
};

static nk_status class_selector(const char *const *names, int n, nk_expr **out, nk_error *err)
{
	uint32_t classes = 0;
	for (int i = 0; i < n; i++) {
		uint32_t one = 0;
		for (int c = 0; c < NK_COUNT(class_names); c++)
			if (strcmp(names[i], class_names[c].name) == 0)
				one = class_names[c].classes;
		if (!one)
			return nk_fail(err, NK_VALUE, "\"%s\" is no class of dtypes", names[i]);
		classes |= one;
	}
	return nk__selector_classes(classes, out, err);
}

static nk_status dtype_selector(const char *const *names, int n, nk_expr **out, nk_error *err)
{
	const nk_dtype **dtypes = malloc(((size_t)n + 1) * sizeof *dtypes);
	nk_status status = dtypes ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	for (int i = 0; status == NK_OK && i < n; i++)
		status = nk_dtype_parse(names[i], &dtypes[i], err);
	if (status == NK_OK)
		status = nk__selector_dtypes(dtypes, n, out, err);
	free(dtypes);
	return status;
}

nk_status nk_expr_selector(const char *kind, const char *const *names, int n_names, bool strict,
                           nk_expr **out, nk_error *err)
{
	static const char *const kinds[] = {"all",         "names",     "dtypes",   "classes",
	                                    "starts_with", "ends_with", "contains", "matches"};
	switch (choose(kind, kinds, NK_COUNT(kinds))) {
	case 0: return nk__selector_classes(~0u, out, err);
	case 1: return nk__selector_names(names, n_names, strict, NK_SELECT_NAMES, out, err);
	case 2: return dtype_selector(names, n_names, out, err);
	case 3: return class_selector(names, n_names, out, err);
	case 4: return nk__selector_names(names, n_names, strict, NK_SELECT_STARTS, out, err);
	case 5: return nk__selector_names(names, n_names, strict, NK_SELECT_ENDS, out, err);
	case 6: return nk__selector_names(names, n_names, strict, NK_SELECT_CONTAINS, out, err);
	case 7: return nk__selector_names(names, n_names, strict, NK_SELECT_MATCHES, out, err);
	default: return nk_fail(err, NK_VALUE, "\"%s\" is no kind of selector", kind);
	}
}

nk_status nk_expr_selector_positions(const int64_t *positions, int n, nk_expr **out, nk_error *err)
{
	return nk__selector_positions(positions, n, out, err);
}

nk_status nk_expr_selector_combine(const char *how, nk_expr *left, nk_expr *right, nk_expr **out,
                                   nk_error *err)
{
	static const char *const names[] = {"union", "intersect", "except", "xor"};
	int at = choose(how, names, NK_COUNT(names));
	if (at < 0)
		return nk_fail(err, NK_VALUE, "\"%s\" is no way to combine selectors", how);
	return nk__selector_combine((nk_selector_kind)(NK_SELECT_UNION + at), left, right, out, err);
}

bool nk_expr_is_selector(const nk_expr *expr) { return expr->kind == NK_EXPR_SELECTOR; }

const char *nk_expr_form(const nk_expr *expr)
{
	static const char *const forms[] = {
		[NK_EXPR_COLUMN] = "column", [NK_EXPR_LITERAL] = "literal",  [NK_EXPR_SERIES] = "series",
		[NK_EXPR_CALL] = "call",     [NK_EXPR_ALIAS] = "alias",      [NK_EXPR_RENAME] = "rename",
		[NK_EXPR_OVER] = "over",     [NK_EXPR_SELECTOR] = "selector"};
	return forms[expr->kind];
}

int nk_expr_n_inputs(const nk_expr *expr) { return expr->n_args; }
nk_expr *nk_expr_input(const nk_expr *expr, int i) { return expr->args[i]; }

/* ---- the registry ---- */

static void json_option(nk_text *out, const nk_option_spec *spec)
{
	static const char *const kinds[] = {"bool", "int", "float", "string", "dtype", "function"};
	const nk_option *fallback = &spec->fallback;
	nk_text_append_string(out, "{\"name\": ");
	nk_text_append_json(out, spec->name);
	nk_text_format(out, ", \"kind\": \"%s\", \"default\": ", kinds[fallback->kind]);
	switch (fallback->kind) {
	case NK_OPTION_BOOL: nk_text_append_string(out, fallback->boolean ? "true" : "false"); break;
	case NK_OPTION_INT: nk_text_format(out, "%lld", (long long)fallback->integer); break;
	case NK_OPTION_FLOAT: nk_text_format(out, "%.17g", fallback->floating); break;
	case NK_OPTION_STRING:
		if (fallback->string)
			nk_text_append_json(out, fallback->string);
		else
			nk_text_append_string(out, "null");
		break;
	case NK_OPTION_DTYPE:
	case NK_OPTION_FOREIGN: nk_text_append_string(out, "null"); break;
	}
	nk_text_append_char(out, '}');
}

nk_status nk_functions(char **out, nk_error *err)
{
	static const char *const heights[] = {"elementwise", "length_preserving", "aggregating",
	                                      "length_changing"};
	NK_TEXT(text);
	nk_text_append_string(&text, "[");
	for (int i = 0; i < nk_func_count(); i++) {
		const nk_func *func = nk_func_at(i);
		nk_text_append_string(&text, i ? ",\n {\"name\": " : "\n {\"name\": ");
		nk_text_append_json(&text, func->name);
		nk_text_append_string(&text, ", \"args\": ");
		nk_text_append_json(&text, func->args);
		nk_text_format(
			&text,
			", \"min_args\": %d, \"max_args\": %d, \"height\": \"%s\", \"fallible\": %s, \"options\": [",
			func->min_args, func->max_args, heights[func->height], func->fallible ? "true" : "false");
		for (int o = 0; o < nk_func_n_options(func); o++) {
			nk_text_append_string(&text, o ? ", " : "");
			json_option(&text, &func->options[o]);
		}
		nk_text_append_string(&text, "], \"doc\": ");
		nk_text_append_json(&text, func->doc);
		nk_text_append_string(&text, ", \"example\": ");
		nk_text_append_json(&text, func->example);
		nk_text_append_char(&text, '}');
	}
	nk_text_append_string(&text, "\n]\n");
	NK_TRY(nk_text_finish(&text, err));
	*out = NK_STEAL(text.bytes);
	return NK_OK;
}
