/* Columns of JSON text: values out of it, and Structs into it. Text of a column is one run of lines to the reader. */
#include <string.h>

#include "compute/json_column.h"
#include "compute/json_write.h"
#include "compute/text_writer.h"
#include "func/func.h"

enum { DTYPE };

/* ---- str.json_decode ---- */

static nk_status read_rows(nk_json_column *column, nk_json_index *index, nk_text *padded,
                           const nk_array *text, nk_error *err)
{
	static const char padding[NK_JSON_PADDING];
	const nk_view *views = text->values;
	for (int64_t row = 0; row < text->n_rows; row++) {
		if (!nk_array_is_valid(text, row)) {
			NK_TRY(nk_json_column_add_null(column, err));
			continue;
		}
		nk_json_cursor cursor;
		padded->n_bytes = 0;
		nk_text_append(padded, nk_view_bytes(&views[row], text->heap), views[row].n_bytes);
		nk_text_append(padded, padding, NK_JSON_PADDING);
		NK_TRY(nk_text_finish(padded, err));
		NK_TRY(nk_json_open(index, (const uint8_t *)padded->bytes, views[row].n_bytes, false, &cursor, err));
		NK_TRY(nk_json_column_add(column, &cursor, err));
		if (cursor.at < cursor.end)
			return nk_json_fail(&cursor, err);
	}
	return NK_OK;
}

static nk_status decode_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	static const nk_json_rules rules = {.is_document = true};
	NK_AUTO(nk_json_column) column = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_TEXT(padded);
	nk_json_index index = {.memory = call->memory};
	NK_TRY(nk_array_flatten(call->memory, args[0], &flat, err));
	NK_TRY(nk_json_column_new(call->memory, call->dtype, &rules, &column, err));
	nk_status status = read_rows(column, &index, &padded, flat, err);
	if (status != NK_OK)
		nk_error_context(err, status, "error deserializing JSON");
	nk_json_index_release(&index);
	NK_TRY(status);
	return nk_json_column_finish(column, out, err);
}

static nk_status refuse(const nk_bind *bind, nk_status status, const char *expected, nk_error *err)
{
	return nk_fail(err, status, "`%s` expects %s, got `%s`", bind->func->name, expected,
	               nk_dtype_short_name(bind->args[0].dtype));
}

static nk_status bind_decode(nk_bind *bind, nk_error *err)
{
	bind->dtype = bind->options[DTYPE].dtype;
	if (!bind->dtype)
		return nk_fail(err, NK_VALUE, "`%s` needs the dtype of its result", bind->func->name);
	if (bind->args[0].dtype->id == NK_TYPE_NULL)
		bind->casts[0] = nk_dtype_of(NK_TYPE_STRING);
	else if (bind->args[0].dtype->id != NK_TYPE_STRING)
		return refuse(bind, NK_SCHEMA_MISMATCH, "a String", err);
	bind->kernel = decode_kernel;
	return NK_OK;
}

/* ---- struct.json_encode ---- */

static nk_status encode_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	NK_AUTO(nk_json_text) how = NULL;
	NK_TEXT_WRITER(writer);
	NK_TEXT(text);
	NK_TRY(nk_json_text_new(args[0]->dtype, &how, err));
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	for (int64_t row = 0; row < n_rows; row++) {
		text.n_bytes = 0;
		nk_json_put(how, args[0], row, &text);
		NK_TRY(nk_text_finish(&text, err));
		NK_TRY(nk_text_writer_append(&writer, text.bytes, text.n_bytes, err));
	}
	return nk_text_writer_finish(&writer, NULL, out, err);
}

static nk_status bind_encode(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->id != NK_TYPE_STRUCT)
		return refuse(bind, NK_INVALID_OPERATION, "a Struct", err);
	bind->dtype = nk_dtype_of(NK_TYPE_STRING);
	bind->kernel = encode_kernel;
	return NK_OK;
}

static const nk_option_spec decode_options[] = {[DTYPE] = {"dtype", {.kind = NK_OPTION_DTYPE}}, {0}};

const nk_func nk__funcs_json[] = {
	{
		.name = "str.json_decode",
		.args = "x",
		.doc = "JSON text as values of a dtype. Numbers that do not fit are null, keys that are no field are "
			   "left "
			   "out. Fails with ComputeError for text that is no JSON and for values that the dtype cannot "
			   "hold.",
		.example = "str.json_decode([\"5\", null], dtype=Int8) == Int8[5, null]",
		.options = decode_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_decode,
	},
	{
		.name = "struct.json_encode",
		.args = "x",
		.doc = "Each Struct as JSON text; a null one is \"null\". Fails with ComputeError for Binary fields.",
		.example = "struct.json_encode(Struct{\"a\": Int64}[null]) == [\"null\"]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_encode,
	},
	{0},
};
