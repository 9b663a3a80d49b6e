/* Rows of NDJSON in batches: a morsel is a chunk of whole lines. All wanted columns of a chunk are read in one pass over its
 * text, since a value is found by reading what stands before it; batches are slices of them. */
#include <string.h>

#include "compute/select.h"
#include "io/csv/kernels.h"
#include "io/json/source_internal.h"
#include "io/sieve.h"

enum { CHUNK_MIN = 64, CHUNK_MAX = 8 << 20, ROW_BYTES_GUESS = 200 };

typedef struct worker {
	nk_chunk chunk; /* owner NULL: none */
	nk_json_index index;
	uint8_t *copy; /* of text without room around it */
	int64_t copy_capacity;
	nk_json_column *rows; /* of a Struct of the wanted columns */
	nk_array *read;       /* the chunk's */
	nk_sieve_state state;
	int64_t row, n_rows, number; /* of the chunk */
} worker;

typedef struct json_scan {
	nk_scan base;
	nk_json_source *source; /* owned reference */
	nk_scan_request request;
	nk_arena *arena;
	nk_chunks *chunks;
	int64_t row_start, row_end;
	nk_sieve sieve;
	const nk_dtype *dtype; /* of the columns that are read */
	int *places;           /* column of the sieve to field of dtype; -1: the path */
	nk_json_rules rules;
	worker *workers;
} json_scan;

/* ---- Lines ---- */

static nk_status read_line(const json_scan *scan, worker *w, nk_json_cursor *cursor, nk_error *err)
{
	bool is_object = nk_json_peek(cursor) == '{';
	if (is_object) {
		NK_TRY(nk_json_column_add(w->rows, cursor, err));
	} else {
		nk_json_cursor again = *cursor;
		NK_TRY(nk_json_skip(&again, err));
		if (!scan->rules.ignores_errors) {
			NK_TEXT(text);
			NK_TRY(nk_json_display(cursor, &text, err));
			return nk_fail(err, NK_COMPUTE, "NDJSON line expected to contain JSON object: %.*s",
			               (int)NK_MIN(text.n_bytes, (int64_t)100), text.bytes);
		}
		*cursor = again;
		NK_TRY(nk_json_column_add_null(w->rows, err));
	}
	uint8_t behind = nk_json_peek(cursor);
	return behind == '\n' || cursor->at == cursor->end ? NK_OK : nk_json_fail(cursor, err);
}

static nk_status read_chunk(json_scan *scan, worker *w, nk_error *err)
{
	const nk_chunk *chunk = &w->chunk;
	int64_t n = chunk->end - chunk->begin;
	const uint8_t *text;
	nk_json_cursor cursor;
	NK_TRY(nk__chunk_text(chunk, scan->request.memory, &w->copy, &w->copy_capacity, &text, err));
	nk_status status = NK_OK;
	if (!NK_ISA_TABLE(nk__csv_loops)->is_utf8(text, n)) {
		status = nk_fail(err, NK_COMPUTE, "invalid utf-8 sequence");
		return nk__text_file_context(chunk->file, chunk->begin, status, err);
	}
	status = nk_json_open(&w->index, text, n, true, &cursor, err);
	if (status != NK_OK)
		return nk__text_file_context(chunk->file, chunk->begin, status, err);
	int64_t n_rows = 0;
	for (;;) {
		while (nk_json_peek(&cursor) == '\n')
			cursor.at++;
		if (cursor.at == cursor.end)
			break;
		status = read_line(scan, w, &cursor, err);
		if (status != NK_OK)
			return nk__text_file_context(chunk->file, chunk->begin + nk_json_position(&cursor), status, err);
		n_rows++;
	}
	NK_TRY(nk_json_column_finish(w->rows, &w->read, err));
	if (n_rows != chunk->n_rows) /* lines are told apart by one rule: a line end never stands in a value */
		return nk_fail(err, NK_COMPUTE, "%lld rows where %lld lines were found", (long long)n_rows,
		               (long long)chunk->n_rows);
	return NK_OK;
}

static nk_status next_chunk(json_scan *scan, worker *w, nk_error *err)
{
	nk_scan_counters *counters = scan->request.counters;
	nk_array_unref(w->read);
	w->read = NULL;
	nk__chunk_release(&w->chunk);
	int64_t ns_start = nk_now_ns();
	NK_TRY(nk__chunks_take(scan->chunks, &w->chunk, err));
	nk_count(&counters->ns_wait, nk_now_ns() - ns_start);
	if (!w->chunk.owner)
		return NK_OK;
	nk_count(&counters->n_bytes_wanted, w->chunk.end - w->chunk.begin);
	ns_start = nk_now_ns();
	if (scan->dtype->n_fields > 0)
		NK_TRY(read_chunk(scan, w, err));
	nk_count(&counters->ns_decode, nk_now_ns() - ns_start);
	w->number = 0;
	w->row = NK_MAX(scan->row_start - w->chunk.first_row, (int64_t)0);
	w->n_rows = NK_MIN(w->chunk.n_rows, scan->row_end - w->chunk.first_row);
	return NK_OK;
}

/* ---- Batches ---- */

static nk_status path_column(const json_scan *scan, const worker *w, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	nk_scalar path = {.dtype = nk_dtype_of(NK_TYPE_STRING),
	                  .bytes = w->chunk.file->path,
	                  .n_bytes = (int64_t)strlen(w->chunk.file->path)};
	return nk_array_from_scalar(scan->request.memory, &path, n_rows, out, err);
}

static nk_status decode(void *base, void *base_worker, const nk_sieve_state *state, int place, nk_array **out,
                        nk_error *err)
{
	json_scan *scan = base;
	worker *w = base_worker;
	nk_memory *memory = scan->request.memory;
	if (scan->places[place] < 0)
		return path_column(scan, w, state->n_selected, out, err);
	nk_array *all = w->read->children[scan->places[place]];
	NK_AUTO(nk_array) rows = NULL;
	NK_TRY(nk_array_slice(memory, all, w->row, state->n_rows, &rows, err));
	if (state->is_dense) {
		*out = NK_STEAL(rows);
		return NK_OK;
	}
	return nk_array_take(memory, rows, state->selected, state->n_selected, out, err);
}

static nk_status next_batch(json_scan *scan, worker *w, nk_batch **out, nk_error *err)
{
	for (*out = NULL; !*out;) {
		while (!w->chunk.owner || w->row >= w->n_rows) {
			NK_TRY(next_chunk(scan, w, err));
			if (!w->chunk.owner)
				return NK_OK;
		}
		int64_t n_rows = NK_MIN(w->n_rows - w->row, scan->request.batch_rows);
		nk_count(&scan->request.counters->n_rows_scanned, n_rows);
		NK_TRY(nk__sieve_batch(&scan->sieve, &w->state, n_rows, w->chunk.first_row + w->row, decode, scan, w,
		                       out, err));
		if (*out) {
			(*out)->morsel = w->chunk.morsel;
			(*out)->number = w->number++;
		}
		w->row += n_rows;
	}
	return NK_OK;
}

static nk_status scan_next(nk_scan *base, int number, nk_batch **out, nk_error *err)
{
	json_scan *scan = (json_scan *)base;
	worker *w = &scan->workers[number];
	nk_status status = next_batch(scan, w, out, err);
	if (status != NK_OK)
		nk__chunk_release(&w->chunk);
	return status;
}

static void scan_free(nk_scan *base)
{
	json_scan *scan = (json_scan *)base;
	for (int i = 0; scan->workers && i < scan->request.n_workers; i++) {
		worker *w = &scan->workers[i];
		if (w->state.arrays)
			nk__sieve_state_release(&w->state, &scan->sieve);
		nk_array_unref(w->read);
		nk_json_column_free(w->rows);
		nk_json_index_release(&w->index);
		nk_free(scan->request.memory, w->copy, w->copy_capacity);
		nk__chunk_release(&w->chunk);
	}
	nk__chunks_free(scan->chunks);
	nk_source_unref(&scan->source->base);
	nk_arena_free(scan->arena); /* which holds the scan itself */
}

/* ---- Opening ---- */

static nk_status plan_columns(json_scan *scan, nk_error *err)
{
	const nk_schema *schema = scan->source->schema;
	int paths_column = scan->source->options.file_paths_name ? schema->n_fields - 1 : -1, n = 0;
	nk_field *fields;
	NK_TRY(nk__sieve_init(&scan->sieve, scan->arena, &scan->request, err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &fields, scan->sieve.n_columns + 1, err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->places, scan->sieve.n_columns + 1, err));
	for (int i = 0; i < scan->sieve.n_columns; i++) {
		int column = scan->sieve.columns[i].column;
		scan->places[i] = column == paths_column ? -1 : n;
		if (column != paths_column)
			fields[n++] = schema->fields[column];
	}
	scan->dtype = nk_dtype_struct(fields, n);
	return scan->dtype ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

static nk_status make_workers(json_scan *scan, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->workers, request->n_workers, err));
	for (int i = 0; i < request->n_workers; i++) {
		worker *w = &scan->workers[i];
		w->index.memory = request->memory;
		NK_TRY(nk_json_column_new(request->memory, scan->dtype, &scan->rules, &w->rows, err));
		NK_TRY(nk__sieve_state_init(&w->state, &scan->sieve, scan->arena, err));
	}
	return NK_OK;
}

static nk_status make_chunks(json_scan *scan, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	nk_json_source *source = scan->source;
	double row_bytes = source->row_bytes > 0 ? source->row_bytes : ROW_BYTES_GUESS;
	double chunk_bytes = row_bytes * (double)request->batch_rows / 2;
	int64_t n = chunk_bytes > CHUNK_MAX ? CHUNK_MAX : NK_MAX((int64_t)chunk_bytes, (int64_t)CHUNK_MIN);
	NK_TRY(nk__chunks_new(&nk__json_chunk_ops, source, source->n_files, request->memory, request->counters, n,
	                      &scan->chunks, err));
	scan->row_start = request->offset;
	scan->row_end = INT64_MAX;
	if (request->offset < 0) {
		int64_t n_rows;
		NK_TRY(nk__chunks_count_rows(&nk__json_chunk_ops, source, source->n_files, request->memory, &n_rows,
		                             err));
		scan->row_start += n_rows;
	}
	if (request->limit >= 0 && request->limit < INT64_MAX - NK_MAX(scan->row_start, 0))
		scan->row_end = scan->row_start + request->limit;
	nk__chunks_limit(scan->chunks, scan->row_start, scan->row_end);
	return NK_OK;
}

static const nk_scan_ops scan_ops = {.next = scan_next, .free = scan_free};

nk_status nk__json_open(nk_source *base, const nk_scan_request *request, nk_scan **out, nk_error *err)
{
	nk_json_source *source = (nk_json_source *)base;
	NK_TRY(nk__json_prepare(source, err));
	nk_arena *arena = nk_arena_new(request->memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	json_scan *scan;
	nk_status status = NK_ARENA_NEW(arena, &scan, 1, err);
	if (status != NK_OK) {
		nk_arena_free(arena);
		return status;
	}
	nk_source_ref(base);
	*scan = (json_scan){.base = {&scan_ops},
	                    .source = source,
	                    .request = *request,
	                    .arena = arena,
	                    .rules = {.ignores_errors = source->options.ignore_errors}};
	NK_AUTO(nk_scan) made = &scan->base;
	NK_TRY(plan_columns(scan, err));
	NK_TRY(make_workers(scan, err));
	NK_TRY(make_chunks(scan, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
