/* Public values, options and dtypes to internal ones and back. */
#include <stdlib.h>
#include <string.h>

#include "api/series.h"
#include "func/supertype.h"

nk_status nk__scalar_from_value(const nk_value *value, nk_scalar *out, bool *is_untyped, nk_error *err)
{
	const nk_dtype *dtype = NULL;
	if (value->dtype)
		NK_TRY(nk_dtype_parse(value->dtype, &dtype, err));
	*is_untyped = false;
	*out = (nk_scalar){.dtype = dtype};
	switch (value->kind) {
	case NK_VALUE_NULL:
		out->is_null = true;
		*is_untyped = !dtype;
		out->dtype = dtype ? dtype : nk_dtype_of(NK_TYPE_NULL);
		return NK_OK;
	case NK_VALUE_BOOLEAN:
		out->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
		out->boolean = value->boolean;
		return NK_OK;
	case NK_VALUE_INTEGER:
		out->integer = (__int128)(((unsigned __int128)(uint64_t)value->high << 64) | value->low);
		*is_untyped = !dtype;
		if (!dtype) {
			out->dtype = nk_dtype_of_integer(out->integer);
		} else if (nk_type_is_float(dtype->id)) {
			out->floating = (double)out->integer;
		} else if (nk_type_is_integer(dtype->id) && !nk_dtype_holds_integer(dtype, out->integer)) {
			return nk_fail(err, NK_OVERFLOW, "an integer does not fit into %s", dtype->text);
		} else if (!nk_type_is_integer(dtype->id) && !nk_type_is_temporal(dtype->id) &&
		           dtype->id != NK_TYPE_DECIMAL) {
			return nk_fail(err, NK_TYPE, "an integer is no value of %s", dtype->text);
		}
		return NK_OK;
	case NK_VALUE_FLOAT:
		if (dtype && !nk_type_is_float(dtype->id))
			return nk_fail(err, NK_TYPE, "a float is no value of %s", dtype->text);
		*is_untyped = !dtype;
		out->dtype = dtype ? dtype : nk_dtype_of(NK_TYPE_FLOAT64);
		out->floating = value->floating;
		return NK_OK;
	case NK_VALUE_STRING:
	case NK_VALUE_BINARY:
		out->dtype = nk_dtype_of(value->kind == NK_VALUE_STRING ? NK_TYPE_STRING : NK_TYPE_BINARY);
		out->bytes = value->bytes;
		out->n_bytes = value->n_bytes;
		return NK_OK;
	case NK_VALUE_SERIES: break;
	}
	return nk_fail(err, NK_TYPE, "a nested value cannot be used here");
}

nk_status nk__options_from_public(const nk_named_option *options, int n, const char **names,
                                  nk_option *values, nk_error *err)
{
	for (int i = 0; i < n; i++) {
		names[i] = options[i].name;
		switch (options[i].type) {
		case NK_ARG_BOOL:
			values[i] = (nk_option){.kind = NK_OPTION_BOOL, .boolean = options[i].boolean};
			break;
		case NK_ARG_INT: values[i] = (nk_option){.kind = NK_OPTION_INT, .integer = options[i].integer}; break;
		case NK_ARG_FLOAT:
			values[i] = (nk_option){.kind = NK_OPTION_FLOAT, .floating = options[i].floating};
			break;
		case NK_ARG_STRING:
			values[i] = (nk_option){.kind = NK_OPTION_STRING, .string = options[i].string};
			break;
		case NK_ARG_DTYPE:
			values[i] = (nk_option){.kind = NK_OPTION_DTYPE};
			if (options[i].string)
				NK_TRY(nk_dtype_parse(options[i].string, &values[i].dtype, err));
			break;
		default: return nk_fail(err, NK_TYPE, "option `%s` has no valid type", options[i].name);
		}
	}
	return NK_OK;
}

static int plus_one(int value) { return value > 0 ? value + 1 : value; }

static nk_table_align alignment(const char *name)
{
	if (!name)
		return NK_ALIGN_DEFAULT;
	return strcmp(name, "CENTER") == 0  ? NK_ALIGN_CENTER
	       : strcmp(name, "RIGHT") == 0 ? NK_ALIGN_RIGHT
	                                    : NK_ALIGN_LEFT;
}

void nk__table_options(const nk_format_options *options, nk_table_options *out)
{
	*out = (nk_table_options){0};
	if (!options)
		return;
	out->n_rows = plus_one(options->max_rows);
	out->n_columns = plus_one(options->max_columns);
	out->width = plus_one(options->width);
	out->format = options->style;
	out->hide_names = options->hide_names;
	out->hide_dtypes = options->hide_dtypes;
	out->hide_separator = options->hide_separator;
	out->hide_shape = options->hide_shape;
	out->dtypes_inline = options->dtype_inline;
	out->shape_below = options->shape_below;
	out->align = alignment(options->alignment);
	out->align_numbers = alignment(options->numeric_alignment);
	out->values = (nk_print_options){
		.full_floats = options->float_full,
		.float_precision = options->float_precision,
		.string_length = plus_one(options->max_string),
		.list_items = plus_one(options->max_list),
		.thousands_separator = options->thousands_separator ? options->thousands_separator[0] : 0,
		.decimal_separator = options->decimal_separator ? options->decimal_separator[0] : 0};
}

nk_status nk_dtype_check(const char *text, const char **canonical, nk_error *err)
{
	const nk_dtype *dtype;
	NK_TRY(nk_dtype_parse(text, &dtype, err));
	if (canonical)
		*canonical = dtype->text;
	return NK_OK;
}

nk_status nk_dtype_short(const char *text, const char **out, nk_error *err)
{
	const nk_dtype *dtype;
	NK_TRY(nk_dtype_parse(text, &dtype, err));
	*out = nk_dtype_short_name(dtype);
	return NK_OK;
}

nk_status nk_dtype_supertype(const char *left, const char *right, const char **out, nk_error *err)
{
	const nk_dtype *a, *b;
	NK_TRY(nk_dtype_parse(left, &a, err));
	NK_TRY(nk_dtype_parse(right, &b, err));
	const nk_dtype *both = nk_supertype(a, b);
	if (!both)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "failed to determine supertype of %s and %s",
		               nk_dtype_short_name(a), nk_dtype_short_name(b));
	*out = both->text;
	return NK_OK;
}
