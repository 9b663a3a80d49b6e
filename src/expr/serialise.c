/* Nodes refer to earlier nodes by position, so shared parts are written once and nothing recurses. */
#include "expr/serialise.h"

#include <stdlib.h>
#include <string.h>

#include "base/pointers.h"
#include "columnar/array_wire.h"

static int args_of(const void *node, const void *const **below)
{
	const nk_expr *expr = node;
	*below = (const void *const *)expr->args;
	return expr->n_args;
}

static void put_scalar(nk_text *out, const nk_scalar *value)
{
	nk_wire_put_string(out, value->dtype->text);
	nk_wire_put_number(out, value->is_null);
	if (value->is_null)
		return;
	if (nk_type_is_textual(value->dtype->id))
		nk_wire_put_bytes(out, value->bytes, value->n_bytes);
	else if (value->dtype->id == NK_TYPE_BOOLEAN)
		nk_wire_put_number(out, value->boolean);
	else if (nk_type_is_float(value->dtype->id))
		nk_wire_put_bytes(out, &value->floating, sizeof value->floating);
	else
		nk_wire_put_bytes(out, &value->integer, sizeof value->integer);
}

static nk_status put_option(nk_text *out, const char *name, const nk_option *option, nk_error *err)
{
	nk_wire_put_string(out, name);
	nk_wire_put_number(out, option->kind);
	switch (option->kind) {
	case NK_OPTION_BOOL: nk_wire_put_number(out, option->boolean); break;
	case NK_OPTION_INT: nk_wire_put_signed(out, option->integer); break;
	case NK_OPTION_FLOAT: nk_wire_put_bytes(out, &option->floating, sizeof option->floating); break;
	case NK_OPTION_STRING: nk_wire_put_string(out, option->string); break;
	case NK_OPTION_DTYPE: nk_wire_put_string(out, option->dtype ? option->dtype->text : NULL); break;
	case NK_OPTION_FOREIGN:
		return nk_fail(err, NK_COMPUTE,
		               "an expression that calls a function of the host cannot leave the process");
	}
	return NK_OK;
}

static nk_status put_node(nk_memory *memory, const nk_pointers *nodes, const nk_expr *node, nk_text *out,
                          nk_error *err)
{
	nk_wire_put_number(out, node->kind);
	nk_wire_put_string(out, node->name);
	nk_wire_put_number(out, (uint64_t)node->n_args);
	for (int i = 0; i < node->n_args; i++)
		nk_wire_put_number(out, (uint64_t)nk_pointers_find(nodes, node->args[i]));
	switch (node->kind) {
	case NK_EXPR_LITERAL:
		nk_wire_put_number(out, node->is_untyped);
		put_scalar(out, &node->literal);
		break;
	case NK_EXPR_SERIES: {
		NK_AUTO(nk_array) array = NULL;
		NK_TRY(nk_column_array(memory, node->series, &array, err));
		NK_TRY(nk_array_to_wire(memory, array, out, err));
		break;
	}
	case NK_EXPR_CALL: {
		int n = nk_func_n_options(node->func);
		nk_wire_put_string(out, node->func->name);
		nk_wire_put_number(out, (uint64_t)n);
		for (int i = 0; i < n; i++)
			NK_TRY(put_option(out, node->func->options[i].name, &node->options[i], err));
		break;
	}
	case NK_EXPR_RENAME: nk_wire_put_number(out, node->rename); break;
	case NK_EXPR_OVER:
		nk_wire_put_number(out, (uint64_t)node->over.n_keys);
		nk_wire_put_number(out, node->over.descending);
		nk_wire_put_number(out, node->over.nulls_last);
		nk_wire_put_number(out, node->over.mapping);
		break;
	case NK_EXPR_SELECTOR:
		nk_wire_put_number(out, node->selector);
		nk_wire_put_number(out, node->strict);
		nk_wire_put_number(out, node->classes);
		nk_wire_put_number(out, (uint64_t)node->n_items);
		for (int i = 0; i < node->n_items; i++)
			if (node->names)
				nk_wire_put_string(out, node->names[i]);
			else if (node->dtypes)
				nk_wire_put_string(out, node->dtypes[i]->text);
			else
				nk_wire_put_signed(out, node->positions[i]);
		break;
	case NK_EXPR_COLUMN:
	case NK_EXPR_ALIAS: break;
	}
	return NK_OK;
}

nk_status nk__expr_to_wire(nk_memory *memory, const nk_expr *expr, nk_text *out, nk_error *err)
{
	NK_POINTERS(nodes);
	NK_TRY(nk_pointers_walk(&nodes, expr, args_of, err));
	nk_wire_put_number(out, (uint64_t)nodes.n);
	for (int64_t i = 0; i < nodes.n; i++)
		NK_TRY(put_node(memory, &nodes, nodes.items[i], out, err));
	return NK_OK;
}

static nk_status damaged(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "a serialised expression is damaged");
}

static nk_status read_dtype(nk_wire *in, bool may_lack, const nk_dtype **out, nk_error *err)
{
	const char *text;
	NK_TRY(nk_wire_string(in, &text, err));
	*out = NULL;
	if (!text)
		return may_lack ? NK_OK : damaged(err);
	return nk_dtype_parse(text, out, err);
}

static nk_status read_exactly(nk_wire *in, void *out, int64_t n, nk_error *err)
{
	const uint8_t *bytes;
	int64_t n_bytes;
	NK_TRY(nk_wire_bytes(in, &bytes, &n_bytes, err));
	if (n_bytes != n)
		return damaged(err);
	memcpy(out, bytes, (size_t)n);
	return NK_OK;
}

static nk_status read_literal(nk_wire *in, nk_expr **out, nk_error *err)
{
	int64_t is_untyped, is_null, flag;
	nk_scalar value = {0};
	NK_TRY(nk_wire_count(in, 1, &is_untyped, err));
	NK_TRY(read_dtype(in, false, &value.dtype, err));
	NK_TRY(nk_wire_count(in, 1, &is_null, err));
	value.is_null = is_null;
	if (nk_type_is_nested(value.dtype->id) && !is_null)
		return damaged(err);
	if (is_null) {
	} else if (nk_type_is_textual(value.dtype->id)) {
		const uint8_t *bytes;
		NK_TRY(nk_wire_bytes(in, &bytes, &value.n_bytes, err));
		value.bytes = (const char *)bytes;
	} else if (value.dtype->id == NK_TYPE_BOOLEAN) {
		NK_TRY(nk_wire_count(in, 1, &flag, err));
		value.boolean = flag;
	} else if (nk_type_is_float(value.dtype->id)) {
		NK_TRY(read_exactly(in, &value.floating, sizeof value.floating, err));
	} else {
		NK_TRY(read_exactly(in, &value.integer, sizeof value.integer, err));
	}
	return nk__expr_literal(&value, is_untyped, out, err);
}

static nk_status read_option(nk_wire *in, const char **name, nk_option *out, nk_error *err)
{
	int64_t kind, flag;
	NK_TRY(nk_wire_string(in, name, err));
	NK_TRY(nk_wire_count(in, NK_OPTION_DTYPE, &kind, err));
	if (!*name)
		return damaged(err);
	*out = (nk_option){.kind = (nk_option_kind)kind};
	switch (out->kind) {
	case NK_OPTION_BOOL:
		NK_TRY(nk_wire_count(in, 1, &flag, err));
		out->boolean = flag;
		return NK_OK;
	case NK_OPTION_INT: return nk_wire_signed(in, &out->integer, err);
	case NK_OPTION_FLOAT: return read_exactly(in, &out->floating, sizeof out->floating, err);
	case NK_OPTION_STRING: return nk_wire_string(in, &out->string, err);
	case NK_OPTION_DTYPE: return read_dtype(in, true, &out->dtype, err);
	case NK_OPTION_FOREIGN: break;
	}
	return damaged(err);
}

enum { MOST_OPTIONS = 64 };

static nk_status read_call(nk_wire *in, nk_expr **args, int n_args, nk_expr **out, nk_error *err)
{
	const char *name;
	int64_t n;
	NK_TRY(nk_wire_string(in, &name, err));
	NK_TRY(nk_wire_count(in, MOST_OPTIONS, &n, err));
	const nk_func *func = name ? nk_func_find(name) : NULL;
	if (!func)
		return nk_fail(err, NK_COMPUTE,
		               "a serialised expression calls `%s`, which this version does not have",
		               name ? name : "");
	const char *names[MOST_OPTIONS];
	nk_option options[MOST_OPTIONS];
	for (int64_t i = 0; i < n; i++)
		NK_TRY(read_option(in, &names[i], &options[i], err));
	return nk__expr_call(func, args, n_args, names, options, (int)n, out, err);
}

static nk_status read_selector(nk_wire *in, nk_expr **args, int n_args, nk_expr **out, nk_error *err)
{
	int64_t kind, strict, classes, n;
	NK_TRY(nk_wire_count(in, NK_SELECT_XOR, &kind, err));
	NK_TRY(nk_wire_count(in, 1, &strict, err));
	NK_TRY(nk_wire_count(in, UINT32_MAX, &classes, err));
	NK_TRY(nk_wire_items(in, &n, err));
	if (kind >= NK_SELECT_UNION)
		return n_args == 2 && n == 0
		           ? nk__selector_combine((nk_selector_kind)kind, args[0], args[1], out, err)
		           : damaged(err);
	if (n_args || (n && (kind == NK_SELECT_ALL || kind == NK_SELECT_CLASS)))
		return damaged(err);
	const char **names = calloc((size_t)n + 1, sizeof *names);
	const nk_dtype **dtypes = calloc((size_t)n + 1, sizeof *dtypes);
	int64_t *positions = calloc((size_t)n + 1, sizeof *positions);
	nk_status status =
		names && dtypes && positions ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	for (int64_t i = 0; status == NK_OK && i < n; i++) {
		if (kind == NK_SELECT_DTYPES)
			status = read_dtype(in, false, &dtypes[i], err);
		else if (kind == NK_SELECT_POSITIONS)
			status = nk_wire_signed(in, &positions[i], err);
		else if ((status = nk_wire_string(in, &names[i], err)) == NK_OK && !names[i])
			status = damaged(err);
	}
	if (status == NK_OK && (kind == NK_SELECT_ALL || kind == NK_SELECT_CLASS))
		status = nk__selector_classes(kind == NK_SELECT_ALL ? ~0u : (uint32_t)classes, out, err);
	else if (status == NK_OK && kind == NK_SELECT_DTYPES)
		status = nk__selector_dtypes(dtypes, (int)n, out, err);
	else if (status == NK_OK && kind == NK_SELECT_POSITIONS)
		status = nk__selector_positions(positions, (int)n, out, err);
	else if (status == NK_OK)
		status = nk__selector_names(names, (int)n, strict, (nk_selector_kind)kind, out, err);
	free(names);
	free(dtypes);
	free(positions);
	return status;
}

static nk_status read_over(nk_wire *in, nk_expr **args, int n_args, nk_expr **out, nk_error *err)
{
	int64_t n_keys, descending, nulls_last, mapping;
	if (n_args < 1)
		return damaged(err);
	NK_TRY(nk_wire_count(in, n_args - 1, &n_keys, err));
	NK_TRY(nk_wire_count(in, 1, &descending, err));
	NK_TRY(nk_wire_count(in, 1, &nulls_last, err));
	NK_TRY(nk_wire_count(in, NK_MAP_EXPLODE, &mapping, err));
	nk_over over = {.n_keys = (int)n_keys,
	                .n_order = n_args - 1 - (int)n_keys,
	                .descending = descending,
	                .nulls_last = nulls_last,
	                .mapping = (nk_mapping)mapping};
	return nk__expr_over(args, &over, out, err);
}

static nk_status read_node(nk_memory *memory, nk_wire *in, nk_expr *const *earlier, int64_t n_earlier,
                           nk_expr **out, nk_error *err)
{
	int64_t kind, n_args, how;
	const char *name;
	NK_TRY(nk_wire_count(in, NK_EXPR_OVER, &kind, err));
	NK_TRY(nk_wire_string(in, &name, err));
	NK_TRY(nk_wire_items(in, &n_args, err));
	nk_expr **args = calloc((size_t)n_args + 1, sizeof *args);
	nk_status status = args ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	for (int64_t i = 0; status == NK_OK && i < n_args; i++) {
		int64_t at;
		status = nk_wire_count(in, n_earlier - 1, &at, err);
		if (status == NK_OK)
			args[i] = earlier[at];
	}
	if (status != NK_OK) {
		free(args);
		return status;
	}
	switch ((nk_expr_kind)kind) {
	case NK_EXPR_COLUMN: status = name ? nk__expr_column(name, out, err) : damaged(err); break;
	case NK_EXPR_LITERAL: status = read_literal(in, out, err); break;
	case NK_EXPR_SERIES: {
		NK_AUTO(nk_array) array = NULL;
		NK_AUTO(nk_column) column = NULL;
		status = name ? nk_array_from_wire(memory, in, &array, err) : damaged(err);
		if (status == NK_OK)
			status = nk_column_from_array(memory, array, &column, err);
		if (status == NK_OK)
			status = nk__expr_series(name, column, out, err);
		break;
	}
	case NK_EXPR_CALL: status = read_call(in, args, (int)n_args, out, err); break;
	case NK_EXPR_ALIAS:
		status = name && n_args == 1 ? nk__expr_alias(args[0], name, out, err) : damaged(err);
		break;
	case NK_EXPR_RENAME:
		status = nk_wire_count(in, NK_RENAME_LOWER, &how, err);
		if (status == NK_OK &&
		    (n_args != 1 || ((how == NK_RENAME_PREFIX || how == NK_RENAME_SUFFIX) && !name)))
			status = damaged(err);
		if (status == NK_OK)
			status = nk__expr_rename(args[0], (nk_rename)how, name, out, err);
		break;
	case NK_EXPR_OVER: status = read_over(in, args, (int)n_args, out, err); break;
	case NK_EXPR_SELECTOR: status = read_selector(in, args, (int)n_args, out, err); break;
	}
	free(args);
	return status;
}

nk_status nk__expr_from_wire(nk_memory *memory, nk_wire *in, nk_expr **out, nk_error *err)
{
	int64_t n;
	NK_TRY(nk_wire_items(in, &n, err));
	if (n < 1)
		return damaged(err);
	nk_expr **made = calloc((size_t)n, sizeof *made);
	nk_status status = made ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	for (int64_t i = 0; status == NK_OK && i < n; i++)
		status = read_node(memory, in, made, i, &made[i], err);
	if (status == NK_OK)
		*out = nk__expr_ref(made[n - 1]);
	for (int64_t i = 0; made && i < n; i++)
		nk__expr_unref(made[i]);
	free(made);
	return status;
}
