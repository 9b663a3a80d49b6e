/* Rows of CSV files in batches: a morsel is a chunk of whole rows, a worker takes one after another.
 *
 * Once a chunk's fields are found, columns are converted batch by batch, the columns of the first conjunct first, then those
 * of the next for the rows that are left, then runtime filters, and at last the remaining columns for the rows that passed
 * everything. A column that nothing asks for is never looked at. */
#include <string.h>

#include "compute/select.h"
#include "io/csv/convert.h"
#include "io/csv/rows.h"

enum { CHUNK_MIN = 64, CHUNK_MAX = 8 << 20, ROW_BYTES_GUESS = 100 };

/* A column that the request needs, for whatever reason. */
typedef struct wanted {
	int column;    /* of the source */
	int last_test; /* number of the last conjunct or filter that uses it; -1: none */
	bool is_output;
	nk_csv_conversion conversion;
} wanted;

typedef struct worker {
	nk_chunk chunk; /* owner NULL: none */
	nk_csv_rows rows;
	nk_csv_scratch *scratch;
	int64_t row, batch_rows, number; /* of the chunk */
	nk_array **arrays; /* one per wanted column; of the batch under way, aligned with the selected rows */
	nk_array **inputs;
	uint32_t *selected, *chosen; /* rows of the batch; positions among those that the last test kept */
	bool is_dense;               /* all rows of the batch are selected */
} worker;

typedef struct csv_scan {
	nk_scan base;
	nk_csv_source *source; /* owned reference */
	nk_scan_request request;
	nk_arena *arena;
	nk_chunks *chunks;
	int64_t row_start, row_end;
	bool has_text; /* the source has a String column, so all of its text must be UTF-8 */
	int n_wanted;
	wanted *wanted;
	int *places;  /* inputs of all conjuncts, one after another, as positions in wanted */
	int *outputs; /* of request->columns */
	int *filters;
	worker *workers;
} csv_scan;

/* ---- Faults ---- */

static nk_status add_place(const worker *w, nk_status status, int64_t position, nk_error *err)
{
	return nk__text_file_context(w->chunk.file, position, status, err);
}

static const nk_csv_file *file_of(const worker *w) { return (const nk_csv_file *)w->chunk.file; }

static nk_status unreadable(const csv_scan *scan, const worker *w, int i, const nk_csv_fault *fault,
                            nk_error *err)
{
	const wanted *column = &scan->wanted[i];
	int n = (int)NK_MIN(fault->n_bytes, 100u);
	const char *text = (const char *)w->rows.text + fault->begin;
	const char *name = scan->source->schema->fields[column->column].name;
	nk_fail(err, NK_COMPUTE,
	        "could not parse `%.*s` as dtype `%s` at column '%s' (column number %d)\n\nYou might want to "
	        "try:\n- increasing "
	        "`infer_schema_length` (e.g. `infer_schema_length=10000`),\n- specifying correct dtype with the "
	        "`schema_overrides` argument\n- setting `ignore_errors` to `True`,\n- adding `%.*s` to the "
	        "`null_values` list.%s%s",
	        n, text, nk_dtype_short_name(column->conversion.dtype), name,
	        file_of(w)->places[column->column] + 1, n, text, fault->what ? "\n\nReason: " : "",
	        fault->what ? fault->what : "");
	return add_place(w, NK_COMPUTE, w->chunk.begin + fault->begin, err);
}

/* Position of a row of the chunk, by walking. */
static int64_t position_of_row(const csv_scan *scan, const worker *w, int64_t row)
{
	const nk_csv_dialect *dialect = &scan->source->options.dialect;
	const uint8_t *text = w->chunk.file->text;
	int64_t at = w->chunk.begin;
	while (at < w->chunk.end) {
		if (!nk__csv_is_comment(dialect, text + at, w->chunk.end - at) && row-- == 0)
			break;
		at += nk__csv_row_length(dialect, text + at, w->chunk.end - at) + 1;
	}
	return NK_MIN(at, w->chunk.end);
}

/* ---- Chunks ---- */

static int n_file_columns(const csv_scan *scan, const nk_csv_file *file)
{
	int n = 0;
	for (int i = 0; i < scan->n_wanted; i++)
		n += scan->wanted[i].column != file->file_paths_column && file->places[scan->wanted[i].column] >= 0;
	return n;
}

static nk_status find_rows(csv_scan *scan, worker *w, nk_error *err)
{
	const nk_csv_options *options = &scan->source->options;
	int n_columns = n_file_columns(scan, file_of(w));
	int64_t fault;
	w->row = w->number = 0;
	w->rows.n_rows = w->chunk.n_rows;
	if (n_columns > 0) {
		bool is_truncated = options->truncate_ragged_lines || n_columns < file_of(w)->head.n_columns;
		nk_status status = nk__csv_rows_find(&w->rows, options, &w->chunk, is_truncated, &fault, err);
		if (status != NK_OK)
			return fault < 0 ? status : add_place(w, status, position_of_row(scan, w, fault), err);
		if (w->rows.has_high && scan->has_text && !options->is_lossy &&
		    !NK_ISA_TABLE(nk__csv_loops)->is_utf8(w->rows.text, w->chunk.end - w->chunk.begin))
			return add_place(w, nk_fail(err, NK_COMPUTE, "invalid utf-8 sequence"), w->chunk.begin, err);
	}
	int64_t n_batches =
		NK_MAX((w->rows.n_rows + scan->request.batch_rows - 1) / scan->request.batch_rows, (int64_t)1);
	w->batch_rows = (w->rows.n_rows + n_batches - 1) / n_batches;
	int64_t skip = scan->row_start - w->chunk.first_row, left = scan->row_end - w->chunk.first_row;
	w->row = NK_MAX(skip, (int64_t)0);
	w->rows.n_rows = NK_MIN(w->rows.n_rows, left);
	return NK_OK;
}

static nk_status next_chunk(csv_scan *scan, worker *w, nk_error *err)
{
	nk__chunk_release(&w->chunk);
	int64_t ns_start = nk_now_ns();
	NK_TRY(nk__chunks_take(scan->chunks, &w->chunk, err));
	nk_count(&scan->request.counters->ns_wait, nk_now_ns() - ns_start);
	if (!w->chunk.owner)
		return NK_OK;
	nk_count(&scan->request.counters->n_bytes_wanted, w->chunk.end - w->chunk.begin);
	ns_start = nk_now_ns();
	NK_TRY(find_rows(scan, w, err));
	nk_count(&scan->request.counters->ns_decode, nk_now_ns() - ns_start);
	return NK_OK;
}

/* ---- Columns ---- */

static nk_status path_column(csv_scan *scan, const worker *w, int64_t n_rows, nk_array **out, nk_error *err)
{
	nk_scalar path = {.dtype = nk_dtype_of(NK_TYPE_STRING),
	                  .bytes = w->chunk.file->path,
	                  .n_bytes = (int64_t)strlen(w->chunk.file->path)};
	return nk_array_from_scalar(scan->request.memory, &path, n_rows, out, err);
}

/* Convert wanted column i for the selected rows of the batch, unless it is there. */
static nk_status decode(csv_scan *scan, worker *w, int i, int64_t n_selected, nk_error *err)
{
	if (w->arrays[i])
		return NK_OK;
	const wanted *column = &scan->wanted[i];
	const nk_csv_file *file = file_of(w);
	if (column->column == file->file_paths_column)
		return path_column(scan, w, n_selected, &w->arrays[i], err);
	int place = file->places[column->column];
	if (place < 0)
		return nk_array_new_null(scan->request.memory, column->conversion.dtype, n_selected, &w->arrays[i],
		                         err);
	int64_t ns_start = nk_now_ns(), first = w->row * w->rows.n_columns + place;
	nk_csv_fields fields = {.text = w->rows.text,
	                        .starts = w->rows.starts + first,
	                        .ends = w->rows.ends + first,
	                        .stride = w->rows.n_columns,
	                        .rows = w->is_dense ? NULL : w->selected};
	nk_csv_fault fault;
	bool is_unchecked = w->rows.has_high && scan->source->options.is_lossy;
	nk_status status = nk__csv_convert(&column->conversion, scan->request.memory, &fields, n_selected,
	                                   is_unchecked, w->scratch, &w->arrays[i], &fault, err);
	nk_count(&scan->request.counters->ns_decode, nk_now_ns() - ns_start);
	return status != NK_OK && fault.row >= 0 ? unreadable(scan, w, i, &fault, err) : status;
}

static void drop_arrays(csv_scan *scan, worker *w)
{
	for (int i = 0; i < scan->n_wanted; i++) {
		nk_array_unref(w->arrays[i]);
		w->arrays[i] = NULL;
	}
}

/* ---- Tests ---- */

/* Keep only w->chosen of the selected rows. Arrays that nothing after `test` needs are dropped. */
static nk_status narrow(csv_scan *scan, worker *w, int test, int64_t *n_selected, int64_t n_chosen,
                        nk_error *err)
{
	bool is_same = n_chosen == *n_selected;
	for (int i = 0; i < scan->n_wanted; i++) {
		nk_array *array = w->arrays[i];
		if (!array)
			continue;
		bool is_done = n_chosen == 0 || (!scan->wanted[i].is_output && scan->wanted[i].last_test <= test);
		w->arrays[i] = is_done ? NULL : array;
		if (!is_done && is_same)
			continue;
		if (!is_done) {
			w->arrays[i] = NULL;
			nk_status status =
				nk_array_take(scan->request.memory, array, w->chosen, n_chosen, &w->arrays[i], err);
			if (status != NK_OK) {
				nk_array_unref(array);
				return status;
			}
		}
		nk_array_unref(array);
	}
	if (is_same)
		return NK_OK;
	for (int64_t i = 0; i < n_chosen; i++)
		w->selected[i] = w->is_dense ? w->chosen[i] : w->selected[w->chosen[i]];
	w->is_dense = false;
	*n_selected = n_chosen;
	return NK_OK;
}

static nk_status test_conjunct(csv_scan *scan, worker *w, int number, const int *places, int64_t *n_selected,
                               nk_error *err)
{
	const nk_scan_conjunct *conjunct = &scan->request.conjuncts[number];
	nk_memory *memory = scan->request.memory;
	for (int k = 0; k < conjunct->n_columns; k++) {
		NK_TRY(decode(scan, w, places[k], *n_selected, err));
		w->inputs[k] = w->arrays[places[k]];
	}
	int64_t ns_start = nk_now_ns(), n_chosen;
	NK_AUTO(nk_array) mask = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_program_run(conjunct->program, memory, w->inputs, *n_selected, &mask, err));
	if (mask->encoding == NK_DICTIONARY)
		NK_TRY(nk_array_flatten(memory, mask, &flat, err));
	nk_select_rows(flat ? flat : mask, *n_selected, w->chosen, &n_chosen);
	NK_TRY(narrow(scan, w, number, n_selected, n_chosen, err));
	nk_count(&scan->request.counters->ns_filter, nk_now_ns() - ns_start);
	return NK_OK;
}

static nk_status test_filter(csv_scan *scan, worker *w, int number, int64_t *n_selected, nk_error *err)
{
	nk_runtime_filter *filter = scan->request.filters[number].filter;
	if (!nk_runtime_filter_is_ready(filter))
		return NK_OK;
	int place = scan->filters[number];
	NK_TRY(decode(scan, w, place, *n_selected, err));
	int64_t ns_start = nk_now_ns(), n_chosen;
	NK_TRY(nk_runtime_filter_test(filter, scan->request.memory, w->arrays[place], *n_selected, w->chosen,
	                              &n_chosen, err));
	NK_TRY(narrow(scan, w, scan->request.n_conjuncts + number, n_selected, n_chosen, err));
	nk_count(&scan->request.counters->ns_filter, nk_now_ns() - ns_start);
	return NK_OK;
}

static nk_status test_rows(csv_scan *scan, worker *w, int64_t *n_selected, nk_error *err)
{
	const int *places = scan->places;
	for (int i = 0; i<scan->request.n_conjuncts && * n_selected> 0; i++) {
		NK_TRY(test_conjunct(scan, w, i, places, n_selected, err));
		places += scan->request.conjuncts[i].n_columns;
	}
	for (int i = 0; i<scan->request.n_filters && * n_selected> 0; i++)
		NK_TRY(test_filter(scan, w, i, n_selected, err));
	return NK_OK;
}

/* ---- Batches ---- */

static nk_status row_index(csv_scan *scan, worker *w, int64_t n_rows, int64_t n_selected, nk_array **out,
                           nk_error *err)
{
	int64_t first = scan->request.row_index_offset + w->chunk.first_row + w->row;
	NK_TRY(nk_array_alloc(scan->request.memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_selected,
	                      false, out, err));
	if (first + n_rows - 1 > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "row index %lld does not fit UInt32",
		               (long long)(first + n_rows - 1));
	uint32_t *values = nk_array_values(*out);
	for (int64_t i = 0; i < n_selected; i++)
		values[i] = (uint32_t)(first + (w->is_dense ? i : w->selected[i]));
	return NK_OK;
}

static nk_status make_batch(csv_scan *scan, worker *w, int64_t n_rows, int64_t n_selected, nk_batch **out,
                            nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(request->n_columns + request->row_index, n_selected, &batch, err));
	for (int i = 0; i < request->n_columns; i++) {
		NK_TRY(decode(scan, w, scan->outputs[i], n_selected, err));
		batch->columns[i] = nk_array_ref(w->arrays[scan->outputs[i]]);
	}
	if (request->row_index)
		NK_TRY(row_index(scan, w, n_rows, n_selected, &batch->columns[request->n_columns], err));
	batch->morsel = w->chunk.morsel;
	batch->number = w->number++;
	nk_count(&request->counters->n_rows_out, n_selected);
	*out = NK_STEAL(batch);
	return NK_OK;
}

static nk_status next_batch(csv_scan *scan, worker *w, nk_batch **out, nk_error *err)
{
	for (*out = NULL; !*out;) {
		while (!w->chunk.owner || w->row >= w->rows.n_rows) {
			NK_TRY(next_chunk(scan, w, err));
			if (!w->chunk.owner)
				return NK_OK;
		}
		int64_t n_rows = NK_MIN(w->rows.n_rows - w->row, w->batch_rows), n_selected = n_rows;
		w->is_dense = true;
		nk_count(&scan->request.counters->n_rows_scanned, n_rows);
		NK_TRY(test_rows(scan, w, &n_selected, err));
		int64_t ns_start = nk_now_ns();
		if (n_selected > 0)
			NK_TRY(make_batch(scan, w, n_rows, n_selected, out, err));
		nk_count(&scan->request.counters->ns_decode, nk_now_ns() - ns_start);
		drop_arrays(scan, w);
		w->row += n_rows;
	}
	return NK_OK;
}

static nk_status scan_next(nk_scan *base, int number, nk_batch **out, nk_error *err)
{
	csv_scan *scan = (csv_scan *)base;
	worker *w = &scan->workers[number];
	nk_status status = next_batch(scan, w, out, err);
	if (status != NK_OK) {
		drop_arrays(scan, w);
		nk__chunk_release(&w->chunk);
	}
	return status;
}

static void scan_free(nk_scan *base)
{
	csv_scan *scan = (csv_scan *)base;
	for (int i = 0; scan->workers && i < scan->request.n_workers; i++) {
		worker *w = &scan->workers[i];
		if (w->arrays)
			drop_arrays(scan, w);
		nk__csv_rows_release(&w->rows);
		nk__chunk_release(&w->chunk);
		if (w->scratch)
			nk_text_release(&w->scratch->text);
	}
	nk__chunks_free(scan->chunks);
	nk_source_unref(&scan->source->base);
	nk_arena_free(scan->arena); /* which holds the scan itself */
}

/* ---- Opening ---- */

static nk_status find_conversion(csv_scan *scan, int column, nk_csv_conversion *out, nk_error *err)
{
	const nk_csv_options *options = &scan->source->options;
	const nk_field *field = &scan->source->schema->fields[column];
	nk_csv_null *nulls;
	*out = (nk_csv_conversion){.dtype = field->dtype, .options = options};
	NK_TRY(NK_ARENA_NEW(scan->arena, &nulls, NK_MAX(options->n_nulls, 1), err));
	for (int i = 0; i < options->n_nulls; i++)
		if (!options->nulls[i].column || strcmp(options->nulls[i].column, field->name) == 0)
			nulls[out->n_nulls++] = options->nulls[i];
	out->nulls = nulls;
	return NK_ARENA_NEW(scan->arena, &out->date_order, 1, err);
}

/* The place of a column among the wanted ones, added if it is new. */
static nk_status want(csv_scan *scan, int column, int test, int *out, nk_error *err)
{
	int place = 0;
	while (place < scan->n_wanted && scan->wanted[place].column != column)
		place++;
	if (place == scan->n_wanted) {
		scan->wanted[place] = (wanted){.column = column, .last_test = -1};
		NK_TRY(find_conversion(scan, column, &scan->wanted[place].conversion, err));
		scan->n_wanted++;
	}
	if (test < 0)
		scan->wanted[place].is_output = true;
	else
		scan->wanted[place].last_test = test;
	*out = place;
	return NK_OK;
}

static nk_status check_null_columns(const csv_scan *scan, nk_error *err)
{
	int column;
	for (int i = 0; i < scan->source->options.n_nulls; i++)
		if (scan->source->options.nulls[i].column)
			NK_TRY(
				nk_schema_resolve(scan->source->schema, scan->source->options.nulls[i].column, &column, err));
	return NK_OK;
}

static nk_status plan_columns(csv_scan *scan, int *n_inputs_max, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	int64_t n_inputs = 0;
	*n_inputs_max = 1;
	for (int i = 0; i < request->n_conjuncts; i++) {
		n_inputs += request->conjuncts[i].n_columns;
		*n_inputs_max = NK_MAX(*n_inputs_max, request->conjuncts[i].n_columns);
	}
	int64_t n_most = n_inputs + request->n_columns + request->n_filters;
	NK_TRY(check_null_columns(scan, err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->wanted, NK_MAX(n_most, 1), err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->places, NK_MAX(n_inputs, 1), err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->outputs, NK_MAX(request->n_columns, 1), err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->filters, NK_MAX(request->n_filters, 1), err));
	int *place = scan->places;
	for (int i = 0; i < request->n_conjuncts; i++)
		for (int k = 0; k < request->conjuncts[i].n_columns; k++)
			NK_TRY(want(scan, request->conjuncts[i].columns[k], i, place++, err));
	for (int i = 0; i < request->n_filters; i++)
		NK_TRY(want(scan, request->filters[i].column, request->n_conjuncts + i, &scan->filters[i], err));
	for (int i = 0; i < request->n_columns; i++)
		NK_TRY(want(scan, request->columns[i], -1, &scan->outputs[i], err));
	for (int i = 0; i < scan->source->schema->n_fields - (scan->source->options.file_paths_name != NULL); i++)
		scan->has_text |= scan->source->schema->fields[i].dtype->id == NK_TYPE_STRING ||
		                  nk_type_is_category(scan->source->schema->fields[i].dtype->id);
	return NK_OK;
}

static nk_status make_workers(csv_scan *scan, int n_inputs_max, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->workers, request->n_workers, err));
	for (int i = 0; i < request->n_workers; i++) {
		worker *w = &scan->workers[i];
		w->rows.memory = request->memory;
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->arrays, NK_MAX(scan->n_wanted, 1), err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->inputs, n_inputs_max, err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->selected, request->batch_rows + 16, err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->chosen, request->batch_rows + 16, err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->scratch, 1, err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->scratch->longs, request->batch_rows + 16, err));
	}
	return NK_OK;
}

static nk_status make_chunks(csv_scan *scan, nk_error *err)
{
	const nk_chunk_ops *ops = nk__csv_chunk_ops(scan->source);
	const nk_scan_request *request = &scan->request;
	double row_bytes = scan->source->row_bytes > 0 ? scan->source->row_bytes : ROW_BYTES_GUESS;
	/* About half of a batch's rows, so that text, index and columns stay in L2 and a chunk is seldom more than a batch. */
	double chunk_bytes = row_bytes * (double)request->batch_rows / 2;
	int64_t n = chunk_bytes > CHUNK_MAX ? CHUNK_MAX : NK_MAX((int64_t)chunk_bytes, (int64_t)CHUNK_MIN);
	NK_TRY(nk__chunks_new(ops, scan->source, scan->source->n_files, request->memory, request->counters, n,
	                      &scan->chunks, err));
	scan->row_start = request->offset;
	scan->row_end = INT64_MAX;
	if (request->offset < 0) {
		int64_t n_rows;
		NK_TRY(
			nk__chunks_count_rows(ops, scan->source, scan->source->n_files, request->memory, &n_rows, err));
		scan->row_start += n_rows;
	}
	if (request->limit >= 0 && request->limit < INT64_MAX - NK_MAX(scan->row_start, 0))
		scan->row_end = scan->row_start + request->limit;
	nk__chunks_limit(scan->chunks, scan->row_start, scan->row_end);
	return NK_OK;
}

static const nk_scan_ops scan_ops = {.next = scan_next, .free = scan_free};

nk_status nk__csv_open(nk_source *base, const nk_scan_request *request, nk_scan **out, nk_error *err)
{
	nk_csv_source *source = (nk_csv_source *)base;
	NK_TRY(nk__csv_prepare(source, err));
	nk_arena *arena = nk_arena_new(request->memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	csv_scan *scan;
	nk_status status = NK_ARENA_NEW(arena, &scan, 1, err);
	if (status != NK_OK) {
		nk_arena_free(arena);
		return status;
	}
	nk_source_ref(base);
	*scan = (csv_scan){.base = {&scan_ops}, .source = source, .request = *request, .arena = arena};
	NK_AUTO(nk_scan) made = &scan->base;
	int n_inputs_max;
	NK_TRY(plan_columns(scan, &n_inputs_max, err));
	NK_TRY(make_workers(scan, n_inputs_max, err));
	NK_TRY(make_chunks(scan, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
