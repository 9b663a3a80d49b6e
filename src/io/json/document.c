/* A document is parsed by one thread: where its rows begin is not known before it has been read. */
#include <stdlib.h>
#include <string.h>

#include "columnar/frame.h"
#include "io/csv/kernels.h"
#include "io/json/source_internal.h"

/* Behind a mark of byte order, which has no meaning in UTF-8. */
static void skip_mark(nk_text_file *file)
{
	if (file->n_bytes >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0) {
		file->text += 3;
		file->n_bytes -= 3;
	}
}

static nk_status infer(nk_arena *arena, const nk_json_options *options, nk_json_cursor cursor,
                       const nk_dtype **out, nk_error *err)
{
	bool is_array = nk_json_peek(&cursor) == '[', more = true;
	const nk_dtype *all = NULL, *dtype;
	if (!is_array)
		NK_TRY(nk_json_infer(arena, &cursor, &all, err));
	else
		cursor.at++;
	for (int64_t n = 0; is_array && n != options->infer_rows; n++) {
		NK_TRY(nk_json_next(&cursor, ']', n == 0, &more, err));
		if (!more)
			break;
		NK_TRY(nk_json_infer(arena, &cursor, &dtype, err));
		if (all)
			NK_TRY(nk_json_unite(arena, all, dtype, &all, err));
		else
			all = dtype;
	}
	if (all && all->id != NK_TYPE_STRUCT)
		return nk_fail(err, NK_COMPUTE, "can only deserialize json objects");
	*out = all ? all : nk_dtype_struct(NULL, 0);
	return *out ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

/* Rows, which must not be null themselves. */
static nk_status read_rows(nk_json_column *rows, nk_json_cursor *cursor, int64_t *n_rows, nk_error *err)
{
	bool is_array = nk_json_peek(cursor) == '[', more = true;
	cursor->at += is_array;
	for (*n_rows = 0;; (*n_rows)++) {
		if (is_array)
			NK_TRY(nk_json_next(cursor, ']', *n_rows == 0, &more, err));
		if (!more)
			break;
		if (nk_json_peek(cursor) == 'n')
			return nk_fail(err, NK_COMPUTE, "cannot deserialize struct with nulls into a DataFrame");
		NK_TRY(nk_json_column_add(rows, cursor, err));
		more = is_array;
	}
	return cursor->at < cursor->end ? nk_json_fail(cursor, err) : NK_OK;
}

static nk_status make_frame(nk_schema *schema, const nk_array *rows, nk_memory *memory, nk_frame **out,
                            nk_error *err)
{
	nk_column **columns = calloc((size_t)schema->n_fields + 1, sizeof(nk_column *));
	if (!columns)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for columns");
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < schema->n_fields; i++)
		status = nk_column_from_array(memory, rows->children[i], &columns[i], err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, schema->n_fields > 0 || rows->n_rows > 1 ? rows->n_rows : 0,
		                      out, err); /* "{}" has nothing */
	for (int i = 0; i < schema->n_fields; i++)
		nk_column_unref(columns[i]);
	free(columns);
	return status;
}

static nk_status read_text(nk_memory *memory, nk_arena *arena, const nk_json_options *options,
                           nk_text_file *file, nk_json_index *index, nk_frame **out, nk_error *err)
{
	nk_json_cursor cursor;
	const nk_dtype *dtype = NULL;
	NK_AUTO(nk_schema) schema = NULL;
	NK_AUTO(nk_json_column) rows = NULL;
	NK_AUTO(nk_array) read = NULL;
	skip_mark(file);
	if (!NK_ISA_TABLE(nk__csv_loops)->is_utf8(file->text, file->n_bytes))
		return nk_fail(err, NK_COMPUTE, "invalid utf-8 sequence");
	NK_TRY(nk_json_open(index, file->text, file->n_bytes, false, &cursor, err));
	if (!options->has_schema)
		NK_TRY(infer(arena, options, cursor, &dtype, err));
	NK_TRY(nk__json_schema(arena, options, dtype, &schema, err));
	dtype = nk_dtype_struct(schema->fields, schema->n_fields);
	if (!dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	nk_json_rules rules = {.is_document = true, .refuses_unknown = !options->has_schema};
	NK_TRY(nk_json_column_new(memory, dtype, &rules, &rows, err));
	int64_t n_rows;
	NK_TRY(read_rows(rows, &cursor, &n_rows, err));
	NK_TRY(nk_json_column_finish(rows, &read, err));
	return make_frame(schema, read, memory, out, err);
}

nk_status nk_json_read_document(nk_memory *memory, const char *path, const nk_scan_json_options *given,
                                nk_frame **out, nk_error *err)
{
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	nk_json_options options;
	nk_text_file file;
	NK_TRY(nk__json_options_copy(arena, given, &options, err));
	nk_status status = nk__json_load(memory, path, true, &file, err);
	nk_json_index index = {.memory = memory};
	if (status == NK_OK) {
		status = read_text(memory, arena, &options, &file, &index, out, err);
		if (status != NK_OK && strncmp(path, "/proc/", 6) != 0)
			nk_error_context(err, status, "%s", path);
	}
	nk_json_index_release(&index);
	nk_buffer_unref(file.buffer);
	return status;
}
