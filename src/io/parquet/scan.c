/* Rows of Parquet files in batches: a morsel is a row group, a worker takes one after another.
 *
 * Per batch, the columns of the first conjunct are decoded and tested, then those of the next for the rows that are
 * left, then runtime filters, and at last the remaining columns for the rows that passed everything. A column is
 * opened in a row group only when a row of it is wanted, so that a group in which nothing passes costs the predicate's
 * columns alone. Decoded arrays always stand for exactly the rows that are still selected.
 *
 * Where few rows pass, more rows are tested at a time, so that batches stay worth the cost that each of them has in every
 * operator. What passes beyond the size of a batch waits for the next calls. */
#include <string.h>

#include "compute/select.h"
#include "func/cast.h"
#include "io/parquet/column.h"
#include "io/parquet/source_internal.h"

enum {
	FORGOTTEN_BYTES = 100,
	WINDOW_BATCHES = 4, /* so many batches' rows are tested at a time at most */
};

/* A column that the request needs, for whatever reason. */
typedef struct wanted {
	int column;    /* of the source */
	int last_test; /* number of the last conjunct or filter that uses it; -1: none */
	bool is_output;
} wanted;

typedef struct open_column {
	nk_column_reader reader;
	bool is_started;          /* in the current group */
	int64_t row;              /* of the group, that the reader stands at */
	nk_nested_reader *nested; /* of nested columns; owned */
	nk_array *group;          /* of nested columns: the whole row group; owned */
	nk_array *array;          /* of the batch under way, aligned with the selected rows; owned */
} open_column;

typedef struct worker {
	open_column *columns; /* one per wanted column */
	nk_array **inputs;
	nk_column_reader **started; /* room for all columns */
	uint32_t *rows, *chosen;    /* selected rows of the window; rows of those that the last test kept */
	int64_t window;             /* rows to test at a time */
	nk_batch *passed;           /* what passed and is more than a batch; owned */
	int64_t n_handed;           /* rows of it that are handed out */
	/* the current row group */
	nk_parquet_file *file; /* NULL: none */
	int group;
	int64_t first_row; /* of the group, in the source */
	int64_t morsel, number;
	nk_arena *ranges_arena;
	nk_row_range *ranges;
	int n_ranges, range;
	int64_t row;
} worker;

typedef struct parquet_scan {
	nk_scan base;
	nk_parquet_source *source; /* owned reference */
	nk_scan_request request;
	nk_arena *arena;
	int n_wanted;
	wanted *wanted;
	int *places;  /* inputs of all conjuncts, one after another, as positions in wanted */
	int *outputs; /* of request->columns */
	int *filters;
	nk_array **constant_inputs; /* under the lock */
	worker *workers;
	/* what is left to hand out */
	pthread_mutex_t lock;
	int64_t n_files, file, group, row, n_morsels;
	int64_t row_start, row_end;
	bool has_counted_file, file_is_pruned;
} parquet_scan;

static void close_group(parquet_scan *scan, worker *w)
{
	for (int i = 0; i < scan->n_wanted; i++) {
		w->columns[i].is_started = false;
		nk_array_unref(w->columns[i].group);
		w->columns[i].group = NULL;
	}
	nk_arena_free(w->ranges_arena);
	w->ranges_arena = NULL;
	w->file = NULL;
}

static const nk_nested_node *nested_node(const nk_parquet_file *file, int column)
{
	return file->columns.nested[file->places[column]];
}

static int64_t chunks_bytes(const nk_parquet_file *file, int group, int column)
{
	if (file->places[column] < 0)
		return 0;
	const nk_nested_node *node = nested_node(file, column);
	int first = node ? node->first_leaf : nk__parquet_plan(file, column)->leaf,
		n_leaves = node ? node->n_leaves : 1;
	int64_t n = 0;
	for (int i = 0; i < n_leaves; i++)
		n += file->metadata->groups[group].chunks[first + i].n_bytes;
	return n;
}

/* Bytes of the chunks that the request needs of a group. */
static int64_t wanted_bytes(const parquet_scan *scan, const nk_parquet_file *file, int group)
{
	int64_t n = 0;
	for (int i = 0; i < scan->n_wanted; i++)
		n += chunks_bytes(file, group, scan->wanted[i].column);
	return n;
}

static nk_status check_readable(const parquet_scan *scan, const nk_parquet_file *file, nk_error *err)
{
	for (int i = 0; i < scan->n_wanted; i++) {
		int place = file->places[scan->wanted[i].column];
		const char *refusal = place < 0 ? NULL : file->columns.refusals[place];
		if (refusal) {
			nk_fail(err, NK_INVALID_OPERATION, "%s", refusal);
			return nk_error_context(err, NK_INVALID_OPERATION, "column '%s', %s",
			                        scan->source->schema->fields[scan->wanted[i].column].name, file->path);
		}
	}
	return NK_OK;
}

static nk_status constant_column(const parquet_scan *scan, const nk_scalar *value, int64_t n_rows,
                                 nk_array **out, nk_error *err)
{
	if (value->is_null)
		return nk_array_new_null(scan->request.memory, value->dtype, n_rows, out, err);
	return nk_array_from_scalar(scan->request.memory, value, n_rows, out, err);
}

static int64_t file_rows(const nk_parquet_file *file)
{
	int64_t n = 0;
	for (int g = 0; g < file->metadata->n_groups; g++)
		n += file->metadata->groups[g].n_rows;
	return n;
}

/* Whether a conjunct over the file's constants alone shows that no row of it passes. */
static nk_status test_constants(const parquet_scan *scan, const nk_parquet_file *file, bool *is_pruned,
                                nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	*is_pruned = false;
	for (int i = 0; i < request->n_conjuncts && !*is_pruned; i++) {
		const nk_scan_conjunct *conjunct = &request->conjuncts[i];
		nk_array **inputs = scan->constant_inputs;
		NK_AUTO(nk_array) mask = NULL;
		int n = 0;
		nk_status status = NK_OK;
		for (; n < conjunct->n_columns && file->constants[conjunct->columns[n]]; n++)
			if ((status = constant_column(scan, file->constants[conjunct->columns[n]], 1, &inputs[n], err)) !=
			    NK_OK)
				break;
		bool is_constant = status == NK_OK && n == conjunct->n_columns && n > 0;
		if (is_constant)
			status = nk_program_run(conjunct->program, request->memory, inputs, 1, &mask, err);
		while (n > 0)
			nk_array_unref(inputs[--n]);
		NK_TRY(status);
		if (!is_constant)
			continue;
		NK_AUTO(nk_array) flat = NULL;
		NK_TRY(nk_array_flatten(request->memory, mask, &flat, err));
		*is_pruned = nk_select_count(flat, 1) == 0;
	}
	return NK_OK;
}

/* The next row group that may have rows; w->file stays NULL when there is none. The lock is held. */
static nk_status hand_out(parquet_scan *scan, worker *w, nk_error *err)
{
	nk_scan_counters *counters = scan->request.counters;
	while (scan->file < scan->n_files && scan->row < scan->row_end) {
		nk_parquet_file *file;
		NK_TRY(nk__parquet_file(scan->source, scan->file, &file, err));
		if (!scan->has_counted_file) {
			scan->has_counted_file = true;
			nk_count(&counters->n_bytes_file, nk__file_size(file->file));
			NK_TRY(check_readable(scan, file, err));
			NK_TRY(test_constants(scan, file, &scan->file_is_pruned, err));
		}
		if (scan->group == file->metadata->n_groups) {
			scan->file++;
			scan->group = 0;
			scan->has_counted_file = false;
			continue;
		}
		if (scan->file_is_pruned) {
			scan->row += file_rows(file);
			nk_count(&counters->n_groups, file->metadata->n_groups);
			nk_count(&counters->n_groups_pruned, file->metadata->n_groups);
			nk_count(&counters->n_rows_pruned, file_rows(file));
			scan->group = file->metadata->n_groups;
			continue;
		}
		int group = (int)scan->group++;
		int64_t first_row = scan->row, n_rows = file->metadata->groups[group].n_rows;
		scan->row += n_rows;
		nk_row_range range = {NK_MAX(scan->row_start - first_row, 0),
		                      NK_MIN(scan->row_end - first_row, n_rows)};
		if (range.start >= range.end)
			continue;
		nk_count(&counters->n_groups, 1);
		if (!nk__group_may_pass(file, group, &scan->request)) {
			nk_count(&counters->n_groups_pruned, 1);
			nk_count(&counters->n_rows_pruned, range.end - range.start);
			continue;
		}
		nk_count(&counters->n_bytes_wanted, wanted_bytes(scan, file, group));
		w->ranges_arena = nk_arena_new(scan->request.memory);
		if (!w->ranges_arena)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a row group");
		NK_TRY(NK_ARENA_NEW(w->ranges_arena, &w->ranges, 1, err));
		w->ranges[0] = range;
		w->n_ranges = 1;
		w->file = file;
		w->group = group;
		w->first_row = first_row;
		w->morsel = scan->n_morsels++;
		w->number = 0;
		return NK_OK;
	}
	return NK_OK;
}

static nk_status next_group(parquet_scan *scan, worker *w, nk_error *err)
{
	pthread_mutex_lock(&scan->lock);
	nk_status status = hand_out(scan, w, err);
	pthread_mutex_unlock(&scan->lock);
	NK_TRY(status);
	if (!w->file)
		return NK_OK;
	NK_TRY(nk__pages_may_pass(w->ranges_arena, w->file, w->group, &scan->request, &w->ranges, &w->n_ranges,
	                          err));
	w->range = 0;
	w->row = w->n_ranges > 0 ? w->ranges[0].start : 0;
	return NK_OK;
}

static nk_status read_chunk(parquet_scan *scan, worker *w, const nk_column_chunk *chunk, nk_buffer **out,
                            nk_error *err)
{
	if (chunk->is_encrypted || chunk->is_elsewhere)
		return nk_fail(err, NK_COMPUTE,
		               chunk->is_encrypted ? "the column is encrypted"
		                                   : "the column lies in another file, which is not supported");
	/* older writers forgot the dictionary page's header in the chunk's size */
	int64_t n_more =
		NK_MIN((int64_t)FORGOTTEN_BYTES, nk__file_size(w->file->file) - chunk->offset - chunk->n_bytes);
	int64_t ns_start = nk_now_ns();
	NK_TRY(nk__file_read(w->file->file, chunk->offset, chunk->n_bytes + n_more, out, err));
	nk_count(&scan->request.counters->ns_wait, nk_now_ns() - ns_start);
	nk_count(&scan->request.counters->n_bytes_read, chunk->n_bytes);
	return NK_OK;
}

/* All leaves of a nested column of the current group, put together. */
static nk_status read_nested(parquet_scan *scan, worker *w, int i, nk_error *err)
{
	open_column *column = &w->columns[i];
	const nk_nested_node *node = nested_node(w->file, scan->wanted[i].column);
	const nk_row_group *group = &w->file->metadata->groups[w->group];
	nk__nested_reader_free(column->nested); /* files may differ in their leaves */
	column->nested = NULL;
	NK_TRY(nk__nested_reader_new(node, scan->request.memory, scan->request.counters, &column->nested, err));
	for (int leaf = 0; leaf < node->n_leaves; leaf++) {
		const nk_column_chunk *chunk = &group->chunks[node->first_leaf + leaf];
		NK_AUTO(nk_buffer) bytes = NULL;
		NK_TRY(read_chunk(scan, w, chunk, &bytes, err));
		NK_TRY(nk__nested_read_leaf(column->nested, leaf, chunk, bytes, err));
	}
	NK_TRY(nk__nested_assemble(column->nested, group->n_rows, &column->group, err));
	column->is_started = true;
	return NK_OK;
}

/* Rows of a nested column for the batch. */
static nk_status take_nested(parquet_scan *scan, worker *w, open_column *column, int64_t n_rows,
                             int64_t n_selected, nk_error *err)
{
	NK_AUTO(nk_array) rows = NULL;
	NK_TRY(nk_array_slice(scan->request.memory, column->group, w->row, n_rows, &rows, err));
	if (n_selected < n_rows)
		return nk_array_take(scan->request.memory, rows, w->rows, n_selected, &column->array, err);
	column->array = NK_STEAL(rows);
	return NK_OK;
}

static nk_status start_column(parquet_scan *scan, worker *w, int i, nk_error *err)
{
	if (nested_node(w->file, scan->wanted[i].column))
		return read_nested(scan, w, i, err);
	const nk_leaf_plan *plan = nk__parquet_plan(w->file, scan->wanted[i].column);
	const nk_row_group *group = &w->file->metadata->groups[w->group];
	const nk_column_chunk *chunk = &group->chunks[plan->leaf];
	if (chunk->n_values != group->n_rows && plan->conversion != NK_CONVERT_NULL)
		return nk_fail(err, NK_COMPUTE, "corrupt chunk: %lld values in a row group of %lld rows",
		               (long long)chunk->n_values, (long long)group->n_rows);
	NK_AUTO(nk_buffer) bytes = NULL;
	NK_TRY(read_chunk(scan, w, chunk, &bytes, err));
	open_column *column = &w->columns[i];
	column->reader.plan = plan;
	NK_TRY(nk__column_start(&column->reader, chunk, bytes, group->n_rows, err));
	column->is_started = true;
	column->row = 0;
	return NK_OK;
}

static nk_status add_place(parquet_scan *scan, worker *w, int i, nk_status status, nk_error *err)
{
	return nk_error_context(err, status, "column '%s', row group %d, %s",
	                        scan->source->schema->fields[scan->wanted[i].column].name, w->group,
	                        w->file->path);
}

/* Start the output columns that no test has started, all at once. */
static nk_status start_outputs(parquet_scan *scan, worker *w, nk_error *err)
{
	int n_started = 0;
	for (int i = 0; i < scan->n_wanted; i++) {
		if (w->columns[i].is_started || !scan->wanted[i].is_output ||
		    w->file->places[scan->wanted[i].column] < 0)
			continue;
		nk_status status = start_column(scan, w, i, err);
		if (status != NK_OK)
			return add_place(scan, w, i, status, err);
		if (!w->columns[i].group)
			w->started[n_started++] = &w->columns[i].reader;
	}
	if (n_started < 2)
		return NK_OK;
	int64_t ns_start = nk_now_ns();
	NK_TRY(nk__dictionaries_unpack(w->started, n_started, err));
	nk_count(&scan->request.counters->ns_decompress, nk_now_ns() - ns_start);
	return NK_OK;
}

/* Texts that users see as Categoricals or Enums, at any depth. */
static nk_status as_categories(parquet_scan *scan, int i, open_column *column, nk_error *err)
{
	const nk_dtype *dtype = scan->source->schema->fields[scan->wanted[i].column].dtype;
	if (column->array->dtype == dtype)
		return NK_OK;
	nk_array *texts = column->array;
	column->array = NULL;
	nk_status status =
		nk_cast(scan->request.memory, texts, dtype, (nk_cast_mode){.strict = true}, &column->array, err);
	nk_array_unref(texts);
	return status;
}

/* Decode wanted column i for the selected rows of [w->row, w->row + n_rows), unless it is there. */
static nk_status decode(parquet_scan *scan, worker *w, int i, int64_t n_rows, int64_t n_selected,
                        nk_error *err)
{
	open_column *column = &w->columns[i];
	if (column->array)
		return NK_OK;
	const nk_scalar *constant = w->file->constants[scan->wanted[i].column];
	if (constant)
		return constant_column(scan, constant, n_selected, &column->array, err);
	int64_t ns_start = nk_now_ns(), ns_decompress = column->reader.ns_decompress;
	nk_status status = column->is_started ? NK_OK : start_column(scan, w, i, err);
	bool is_nested = column->group;
	if (status == NK_OK && is_nested)
		status = take_nested(scan, w, column, n_rows, n_selected, err);
	if (status == NK_OK && !is_nested && column->row < w->row)
		status = nk__column_skip(&column->reader, w->row - column->row, err);
	if (status == NK_OK && !is_nested)
		status = nk__column_read(&column->reader, n_rows, n_selected < n_rows ? w->rows : NULL, n_selected,
		                         &column->array, err);
	if (status == NK_OK)
		status = as_categories(scan, i, column, err);
	if (status != NK_OK)
		return add_place(scan, w, i, status, err);
	column->row = w->row + n_rows;
	ns_decompress = column->reader.ns_decompress - ns_decompress;
	nk_count(&scan->request.counters->ns_decompress, ns_decompress);
	nk_count(&scan->request.counters->ns_decode, nk_now_ns() - ns_start - ns_decompress);
	return NK_OK;
}

static void drop_array(open_column *column)
{
	nk_array_unref(column->array);
	column->array = NULL;
}

/* Keep only w->chosen of the selected rows. Arrays that nothing after `test` needs are dropped. */
static nk_status narrow(parquet_scan *scan, worker *w, int test, int64_t *n_selected, int64_t n_rows,
                        int64_t n_chosen, nk_error *err)
{
	bool was_dense = *n_selected == n_rows, is_same = n_chosen == *n_selected;
	for (int i = 0; i < scan->n_wanted; i++) {
		open_column *column = &w->columns[i];
		if (!column->array)
			continue;
		if (n_chosen == 0 || (!scan->wanted[i].is_output && scan->wanted[i].last_test <= test)) {
			drop_array(column);
		} else if (!is_same) {
			nk_array *kept;
			NK_TRY(nk_array_take(scan->request.memory, column->array, w->chosen, n_chosen, &kept, err));
			drop_array(column);
			column->array = kept;
		}
	}
	if (is_same)
		return NK_OK;
	if (was_dense)
		memcpy(w->rows, w->chosen, (size_t)n_chosen * sizeof *w->rows);
	else
		for (int64_t i = 0; i < n_chosen; i++)
			w->rows[i] = w->rows[w->chosen[i]];
	*n_selected = n_chosen;
	return NK_OK;
}

/* Rows among the selected ones that a mask keeps, to w->chosen. */
static nk_status choose(parquet_scan *scan, worker *w, nk_array *mask, int64_t n_selected, int64_t *n_chosen,
                        nk_error *err)
{
	NK_AUTO(nk_array) flat = NULL;
	if (mask->encoding == NK_DICTIONARY) {
		NK_TRY(nk_array_flatten(scan->request.memory, mask, &flat, err));
		mask = flat;
	}
	nk_select_rows(mask, n_selected, w->chosen, n_chosen);
	return NK_OK;
}

/* Run conjuncts, then runtime filters, over the batch's n_rows rows. */
static nk_status test_rows(parquet_scan *scan, worker *w, int64_t n_rows, int64_t *n_selected, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	const int *places = scan->places;
	for (int i = 0; i<request->n_conjuncts && * n_selected> 0; i++) {
		const nk_scan_conjunct *conjunct = &request->conjuncts[i];
		for (int k = 0; k < conjunct->n_columns; k++) {
			NK_TRY(decode(scan, w, places[k], n_rows, *n_selected, err));
			w->inputs[k] = w->columns[places[k]].array;
		}
		places += conjunct->n_columns;
		int64_t ns_start = nk_now_ns(), n_chosen;
		NK_AUTO(nk_array) mask = NULL;
		NK_TRY(nk_program_run(conjunct->program, request->memory, w->inputs, *n_selected, &mask, err));
		NK_TRY(choose(scan, w, mask, *n_selected, &n_chosen, err));
		NK_TRY(narrow(scan, w, i, n_selected, n_rows, n_chosen, err));
		nk_count(&request->counters->ns_filter, nk_now_ns() - ns_start);
	}
	for (int i = 0; i<request->n_filters && * n_selected> 0; i++) {
		nk_runtime_filter *filter = request->filters[i].filter;
		if (!nk_runtime_filter_is_ready(filter))
			continue;
		int place = scan->filters[i];
		NK_TRY(decode(scan, w, place, n_rows, *n_selected, err));
		int64_t ns_start = nk_now_ns(), n_chosen;
		NK_TRY(nk_runtime_filter_test(filter, request->memory, w->columns[place].array, *n_selected,
		                              w->chosen, &n_chosen, err));
		NK_TRY(narrow(scan, w, request->n_conjuncts + i, n_selected, n_rows, n_chosen, err));
		nk_count(&request->counters->ns_filter, nk_now_ns() - ns_start);
	}
	return NK_OK;
}

static nk_status row_index(parquet_scan *scan, worker *w, int64_t n_rows, int64_t n_selected, nk_array **out,
                           nk_error *err)
{
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_alloc(scan->request.memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_selected,
	                      false, &array, err));
	int64_t first = scan->request.row_index_offset + w->first_row + w->row;
	if (first + n_rows - 1 > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "row index %lld does not fit UInt32",
		               (long long)(first + n_rows - 1));
	uint32_t *values = nk_array_values(array);
	for (int64_t i = 0; i < n_selected; i++)
		values[i] = (uint32_t)(first + (n_selected < n_rows ? w->rows[i] : i));
	*out = NK_STEAL(array);
	return NK_OK;
}

static nk_status make_batch(parquet_scan *scan, worker *w, int64_t n_rows, int64_t n_selected, nk_batch **out,
                            nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(request->n_columns + request->row_index, n_selected, &batch, err));
	NK_TRY(start_outputs(scan, w, err));
	for (int i = 0; i < request->n_columns; i++) {
		int place = scan->outputs[i];
		NK_TRY(decode(scan, w, place, n_rows, n_selected, err));
		batch->columns[i] = nk_array_ref(w->columns[place].array);
	}
	if (request->row_index)
		NK_TRY(row_index(scan, w, n_rows, n_selected, &batch->columns[request->n_columns], err));
	batch->morsel = w->morsel;
	nk_count(&request->counters->n_rows_out, n_selected);
	*out = NK_STEAL(batch);
	return NK_OK;
}

/* The next part of what passed, numbered. */
static nk_status hand_passed(parquet_scan *scan, worker *w, nk_batch **out, nk_error *err)
{
	int64_t batch_rows = scan->request.batch_rows, n = NK_MIN(w->passed->n_rows - w->n_handed, batch_rows);
	if (n == w->passed->n_rows)
		*out = NK_STEAL(w->passed);
	else
		NK_TRY(nk_batch_slice(scan->request.memory, w->passed, w->n_handed, n, out, err));
	(*out)->number = w->number++;
	w->n_handed += n;
	if (w->passed && w->n_handed == w->passed->n_rows)
		nk_batch_free(NK_STEAL(w->passed));
	return NK_OK;
}

static void adapt_window(const parquet_scan *scan, worker *w, int64_t n_rows, int64_t n_selected)
{
	int64_t batch_rows = scan->request.batch_rows;
	if (n_selected > batch_rows && w->window > batch_rows)
		w->window /= 2;
	else if (n_rows == w->window && n_selected < batch_rows / 8 && w->window < WINDOW_BATCHES * batch_rows)
		w->window *= 2;
}

static nk_status next_batch(parquet_scan *scan, worker *w, nk_batch **out, nk_error *err)
{
	*out = NULL;
	if (w->passed)
		return hand_passed(scan, w, out, err);
	for (;;) {
		if (!w->file) {
			NK_TRY(next_group(scan, w, err));
			if (!w->file)
				return NK_OK;
		}
		if (w->range == w->n_ranges) {
			close_group(scan, w);
			continue;
		}
		int64_t end = w->ranges[w->range].end;
		int64_t n_rows = NK_MIN(end - w->row, w->window), n_selected = n_rows;
		nk_count(&scan->request.counters->n_rows_scanned, n_rows);
		NK_TRY(test_rows(scan, w, n_rows, &n_selected, err));
		w->n_handed = 0;
		if (n_selected > 0)
			NK_TRY(make_batch(scan, w, n_rows, n_selected, &w->passed, err));
		adapt_window(scan, w, n_rows, n_selected);
		for (int i = 0; i < scan->n_wanted; i++)
			drop_array(&w->columns[i]);
		w->row += n_rows;
		if (w->row == end && ++w->range < w->n_ranges)
			w->row = w->ranges[w->range].start;
		if (w->passed)
			return hand_passed(scan, w, out, err);
	}
	return NK_OK;
}

static nk_status scan_next(nk_scan *base, int number, nk_batch **out, nk_error *err)
{
	parquet_scan *scan = (parquet_scan *)base;
	worker *w = &scan->workers[number];
	nk_status status = next_batch(scan, w, out, err);
	if (status != NK_OK) {
		for (int i = 0; i < scan->n_wanted; i++)
			drop_array(&w->columns[i]);
		close_group(scan, w);
	}
	return status;
}

static void scan_free(nk_scan *base)
{
	parquet_scan *scan = (parquet_scan *)base;
	for (int i = 0; scan->workers && i < scan->request.n_workers; i++) {
		worker *w = &scan->workers[i];
		for (int k = 0; w->columns && k < scan->n_wanted; k++) {
			drop_array(&w->columns[k]);
			nk__column_release(&w->columns[k].reader);
			nk__nested_reader_free(w->columns[k].nested);
			nk_array_unref(w->columns[k].group);
		}
		nk_batch_free(w->passed);
		nk_arena_free(w->ranges_arena);
	}
	pthread_mutex_destroy(&scan->lock);
	nk_source_unref(&scan->source->base);
	nk_arena_free(scan->arena); /* which holds the scan itself */
}

/* The place of a column among the wanted ones, added if it is new. */
static int want(parquet_scan *scan, int column, int test)
{
	int place = 0;
	while (place < scan->n_wanted && scan->wanted[place].column != column)
		place++;
	if (place == scan->n_wanted)
		scan->wanted[scan->n_wanted++] = (wanted){.column = column, .last_test = -1};
	if (test < 0)
		scan->wanted[place].is_output = true;
	else
		scan->wanted[place].last_test = test;
	return place;
}

static nk_status plan_columns(parquet_scan *scan, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	int64_t n_inputs = 0, n_inputs_max = 1;
	for (int i = 0; i < request->n_conjuncts; i++) {
		n_inputs += request->conjuncts[i].n_columns;
		n_inputs_max = NK_MAX(n_inputs_max, request->conjuncts[i].n_columns);
	}
	int64_t n_most = n_inputs + request->n_columns + request->n_filters;
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->wanted, NK_MAX(n_most, 1), err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->places, NK_MAX(n_inputs, 1), err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->outputs, NK_MAX(request->n_columns, 1), err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->filters, NK_MAX(request->n_filters, 1), err));
	int *place = scan->places;
	for (int i = 0; i < request->n_conjuncts; i++)
		for (int k = 0; k < request->conjuncts[i].n_columns; k++)
			*place++ = want(scan, request->conjuncts[i].columns[k], i);
	for (int i = 0; i < request->n_filters; i++)
		scan->filters[i] = want(scan, request->filters[i].column, request->n_conjuncts + i);
	for (int i = 0; i < request->n_columns; i++)
		scan->outputs[i] = want(scan, request->columns[i], -1);
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->constant_inputs, n_inputs_max, err));
	NK_TRY(NK_ARENA_NEW(scan->arena, &scan->workers, request->n_workers, err));
	for (int i = 0; i < request->n_workers; i++) {
		worker *w = &scan->workers[i];
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->columns, NK_MAX(scan->n_wanted, 1), err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->inputs, n_inputs_max, err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->started, NK_MAX(scan->n_wanted, 1), err));
		w->window = request->batch_rows;
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->rows, WINDOW_BATCHES * request->batch_rows + 16, err));
		NK_TRY(NK_ARENA_NEW(scan->arena, &w->chosen, WINDOW_BATCHES * request->batch_rows + 16, err));
		for (int k = 0; k < scan->n_wanted; k++)
			nk__column_init(&w->columns[k].reader, NULL, request->memory, request->counters);
	}
	return NK_OK;
}

/* Offset and limit as rows of the source; an offset from the end needs all row counts. */
static nk_status plan_slice(parquet_scan *scan, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	scan->row_start = request->offset;
	scan->row_end = INT64_MAX;
	if (request->offset < 0) {
		int64_t n_rows = 0;
		for (int64_t i = 0; i < scan->n_files; i++) {
			nk_parquet_file *file;
			NK_TRY(nk__parquet_file(scan->source, i, &file, err));
			n_rows += file_rows(file);
		}
		scan->row_start = n_rows + request->offset;
	}
	if (request->limit >= 0 && request->limit < INT64_MAX - NK_MAX(scan->row_start, 0))
		scan->row_end = scan->row_start + request->limit;
	return NK_OK;
}

static const nk_scan_ops scan_ops = {.next = scan_next, .free = scan_free};

nk_status nk__parquet_open(nk_source *base, const nk_scan_request *request, nk_scan **out, nk_error *err)
{
	nk_parquet_source *source = (nk_parquet_source *)base;
	nk_parquet_file *first;
	NK_TRY(nk__parquet_file(source, 0, &first, err));
	nk_arena *arena = nk_arena_new(request->memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	parquet_scan *scan;
	nk_status status = NK_ARENA_NEW(arena, &scan, 1, err);
	if (status != NK_OK) {
		nk_arena_free(arena);
		return status;
	}
	nk_source_ref(base);
	*scan = (parquet_scan){.base = {&scan_ops}, .source = source, .request = *request, .arena = arena};
	pthread_mutex_init(&scan->lock, NULL);
	NK_AUTO(nk_scan) made = &scan->base;
	NK_TRY(nk__parquet_n_files(source, &scan->n_files, err));
	NK_TRY(plan_columns(scan, err));
	NK_TRY(plan_slice(scan, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
