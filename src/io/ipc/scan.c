/* Rows of IPC files in batches. A morsel is a run of rows of a record batch, since writers may put a whole table into one.
 *
 * The columns of a record batch are loaded when a row of it first needs them, once for all workers: then a buffer that lies
 * uncompressed in the mapped file costs nothing, and others are decompressed by whichever worker comes first. Rows are
 * converted batch by batch from what was loaded, but nested columns all at once. */
#include <stdlib.h>
#include <string.h>

#include "columnar/scalar.h"
#include "compute/select.h"
#include "io/ipc/source_internal.h"
#include "io/sieve.h"

enum {
	MORSEL_BATCHES = 16,
	ENTRIES_MAX = 16384,    /* codes of larger dictionaries are not kept, */
	ROWS_PER_ENTRY_MIN = 8, /* nor those of dictionaries with fewer rows per entry */
};

/* Loaded buffers, which arrays may outlive their record batch with. */
typedef struct column_data {
	int64_t n_references; /* atomic */
	struct ArrowArray arrow;
	const nk_ipc_entries *entries; /* of codes; borrowed from the file */
	nk_array *all;                 /* nested columns: all rows of the record batch */
} column_data;

typedef enum column_state { NOT_LOADED, LOADING, LOADED } column_state;

/* A record batch that workers read. */
typedef struct block {
	int64_t n_references; /* atomic */
	nk_ipc_file *file;
	int64_t number; /* in the file */
	int64_t first_row;
	nk_ipc_cursor *cursors; /* one per column of the sieve */
	column_data **columns;
	column_state *states; /* under the scan's lock */
} block;

typedef struct worker {
	nk_sieve_state state;
	block *block;     /* NULL: none; a reference */
	int64_t row, end; /* of the block */
	int64_t morsel, number;
} worker;

typedef struct ipc_scan {
	nk_scan base;
	nk_ipc_source *source; /* owned reference */
	nk_scan_request request;
	nk_arena *arena;
	nk_sieve sieve;
	worker *workers;
	int paths_column; /* of the source; -1: none */
	/* what is left to hand out */
	pthread_mutex_t lock;
	pthread_cond_t loaded;
	int64_t n_files, file, n_batches_done; /* of the file */
	bool is_counted;                       /* the file */
	int64_t row;                           /* of the source, where the next record batch begins */
	int64_t row_start, row_end, n_morsels;
	block *current; /* partly handed out; a reference */
	int64_t current_row;
} ipc_scan;

/* ---- Record batches ---- */

static void unref_data(column_data *data)
{
	if (!data || __atomic_fetch_sub(&data->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	if (data->arrow.release)
		data->arrow.release(&data->arrow);
	nk_array_unref(data->all);
	free(data);
}

static void unref_block(const ipc_scan *scan, block *b)
{
	if (!b || __atomic_fetch_sub(&b->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	for (int i = 0; i < scan->sieve.n_columns; i++)
		unref_data(b->columns[i]);
	free(b->cursors);
	free(b->columns);
	free(b->states);
	free(b);
}

/* Find where the wanted columns lie, and count their bytes. */
static nk_status find_columns(const ipc_scan *scan, block *b, nk_error *err)
{
	const nk_ipc_batch *batch = &b->file->batches[b->number];
	const nk_ipc_fields *fields = &b->file->fields;
	nk_ipc_cursor at = {0};
	for (int f = 0; f < fields->n_fields; f++) {
		nk_ipc_cursor begin = at;
		NK_TRY(nk__ipc_cursor_skip(batch, &fields->fields[f], &at, err));
		for (int i = 0; i < scan->sieve.n_columns; i++) {
			if (b->file->places[scan->sieve.columns[i].column] != f)
				continue;
			b->cursors[i] = begin;
			uint64_t n_bytes = 0; /* as announced, which is checked when they are read */
			for (int64_t k = begin.buffer; k < NK_MIN(at.buffer, batch->n_buffers); k++)
				n_bytes += (uint64_t)nk_fb_load64(batch->buffers + 16 * k + 8);
			nk_count(&scan->request.counters->n_bytes_wanted, (int64_t)n_bytes);
		}
	}
	return NK_OK;
}

static nk_status open_block(ipc_scan *scan, nk_ipc_file *file, int64_t number, block **out, nk_error *err)
{
	size_t n = (size_t)scan->sieve.n_columns + 1;
	block *b = calloc(1, sizeof *b);
	if (b) {
		*b = (block){.n_references = 1,
		             .file = file,
		             .number = number,
		             .first_row = scan->row,
		             .cursors = calloc(n, sizeof *b->cursors),
		             .columns = calloc(n, sizeof(column_data *)),
		             .states = calloc(n, sizeof *b->states)};
	}
	if (!b || !b->cursors || !b->columns || !b->states) {
		if (b)
			free(b->cursors), free(b->columns), free(b->states);
		free(b);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a record batch");
	}
	nk_status status = find_columns(scan, b, err);
	if (status != NK_OK) {
		unref_block(scan, b);
		return status;
	}
	*out = b;
	return NK_OK;
}

/* The next record batch with wanted rows to scan->current, which stays NULL when there is none. The lock is held. */
static nk_status next_block(ipc_scan *scan, nk_error *err)
{
	nk_scan_counters *counters = scan->request.counters;
	while (scan->file < scan->n_files && scan->row < scan->row_end) {
		nk_ipc_file *file;
		NK_TRY(nk__ipc_file(scan->source, scan->file, &file, err));
		if (!scan->is_counted) {
			scan->is_counted = true;
			nk_count(&counters->n_bytes_file, nk__file_size(file->file));
		}
		if (scan->n_batches_done == file->n_batches) {
			scan->file++;
			scan->n_batches_done = 0;
			scan->is_counted = false;
			continue;
		}
		int64_t number = scan->n_batches_done++, n_rows = file->batches[number].n_rows;
		int64_t begin = NK_MAX(scan->row_start - scan->row, 0),
				end = NK_MIN(scan->row_end - scan->row, n_rows);
		if (begin < end) {
			NK_TRY(open_block(scan, file, number, &scan->current, err));
			nk_count(&counters->n_groups, 1);
			scan->current_row = begin;
		}
		scan->row += n_rows;
		if (begin < end)
			return NK_OK;
	}
	return NK_OK;
}

static nk_status hand_out(ipc_scan *scan, worker *w, nk_error *err)
{
	if (!scan->current)
		NK_TRY(next_block(scan, err));
	block *b = scan->current;
	if (!b)
		return NK_OK;
	int64_t n_rows = NK_MIN(b->file->batches[b->number].n_rows, scan->row_end - b->first_row);
	__atomic_fetch_add(&b->n_references, 1, __ATOMIC_RELAXED);
	w->block = b;
	w->row = scan->current_row;
	w->end = NK_MIN(w->row + MORSEL_BATCHES * scan->request.batch_rows, n_rows);
	w->morsel = scan->n_morsels++;
	w->number = 0;
	scan->current_row = w->end;
	if (w->end == n_rows) {
		unref_block(scan, b);
		scan->current = NULL;
	}
	return NK_OK;
}

/* ---- Columns ---- */

static nk_status add_place(const ipc_scan *scan, const block *b, int i, nk_status status, nk_error *err)
{
	const char *name = scan->source->schema->fields[scan->sieve.columns[i].column].name;
	if (strncmp(b->file->path, "/proc/", 6) == 0)
		return nk_error_context(err, status, "column '%s', record batch %lld", name, (long long)b->number);
	return nk_error_context(err, status, "column '%s', record batch %lld, %s", name, (long long)b->number,
	                        b->file->path);
}

static const nk_ipc_field *field_of(const ipc_scan *scan, const block *b, int i)
{
	return &b->file->fields.fields[b->file->places[scan->sieve.columns[i].column]];
}

typedef struct within {
	block *b;
	nk_scan_counters *counters;
} within;

static nk_status find_entries(void *data, int64_t id, const nk_ipc_entries **out, nk_error *err)
{
	within *w = data;
	return nk__ipc_entries(w->b->file, id, w->b->number, w->counters, out, err);
}

static void let_go(struct ArrowArray *array)
{
	unref_data(array->private_data);
	array->release = NULL;
}

/* Rows of loaded data; the result may outlive everything here. */
static nk_status convert(const ipc_scan *scan, const nk_ipc_field *field, column_data *data, int64_t offset,
                         int64_t n_rows, nk_array **out, nk_error *err)
{
	nk_memory *memory = scan->request.memory;
	__atomic_fetch_add(&data->n_references, 1, __ATOMIC_RELAXED);
	if (!field->values)
		return nk__ipc_convert(memory, field, &data->arrow, offset, n_rows, let_go, data, out, err);
	int64_t n_entries = data->entries->all->n_rows;
	bool keeps_codes = n_entries <= ENTRIES_MAX && n_entries <= data->arrow.length / ROWS_PER_ENTRY_MIN &&
	                   nk_type_is_textual(field->dtype->id);
	return nk__ipc_convert_codes(memory, field, &data->arrow, offset, n_rows, data->entries, keeps_codes,
	                             let_go, data, out, err);
}

static nk_status load(ipc_scan *scan, block *b, int i, column_data **out, nk_error *err)
{
	const nk_ipc_field *field = field_of(scan, b, i);
	nk_ipc_bytes from = {.memory = scan->request.memory,
	                     .whole = b->file->whole,
	                     .is_swapped = b->file->fields.is_swapped,
	                     .counters = scan->request.counters};
	within in = {b, scan->request.counters};
	column_data *data = calloc(1, sizeof *data);
	if (!data)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column");
	data->n_references = 1;
	nk_status status = nk__ipc_load(&from, &b->file->batches[b->number], field, b->cursors[i], find_entries,
	                                &in, &data->arrow, err);
	if (status == NK_OK && field->values)
		status = find_entries(&in, field->dictionary, &data->entries, err);
	if (status == NK_OK && field->n_children > 0) {
		nk_array *all = NULL;
		status = convert(scan, field, data, 0, data->arrow.length, &all, err);
		/* the rows hold the data: what they hold must not hold them */
		column_data *rows = status == NK_OK ? calloc(1, sizeof *rows) : NULL;
		if (status == NK_OK && !rows)
			status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column");
		if (rows)
			*rows = (column_data){.n_references = 1, .all = all};
		else
			nk_array_unref(all);
		unref_data(data);
		data = rows;
	}
	if (status != NK_OK) {
		unref_data(data);
		return add_place(scan, b, i, status, err);
	}
	*out = data;
	return NK_OK;
}

/* Column i of the block, loaded by this worker or by another. */
static nk_status need_loaded(ipc_scan *scan, block *b, int i, column_data **out, nk_error *err)
{
	nk_status status = NK_OK;
	pthread_mutex_lock(&scan->lock);
	while (status == NK_OK && b->states[i] != LOADED) {
		if (b->states[i] == LOADING) {
			int64_t ns_start = nk_now_ns();
			pthread_cond_wait(&scan->loaded, &scan->lock);
			nk_count(&scan->request.counters->ns_wait, nk_now_ns() - ns_start);
			continue;
		}
		b->states[i] = LOADING;
		pthread_mutex_unlock(&scan->lock);
		column_data *data = NULL;
		status = load(scan, b, i, &data, err);
		pthread_mutex_lock(&scan->lock);
		b->columns[i] = data;
		b->states[i] = status == NK_OK ? LOADED : NOT_LOADED;
		pthread_cond_broadcast(&scan->loaded);
	}
	pthread_mutex_unlock(&scan->lock);
	*out = b->columns[i];
	return status;
}

static bool is_untouched(ipc_scan *scan, block *b, int i)
{
	pthread_mutex_lock(&scan->lock);
	bool is_free = b->states[i] == NOT_LOADED;
	pthread_mutex_unlock(&scan->lock);
	return is_free;
}

/* Without tests all columns will be needed: workers that share a record batch begin with those that nobody loads. */
static nk_status load_outputs(ipc_scan *scan, block *b, nk_error *err)
{
	column_data *data;
	if (scan->request.n_conjuncts + scan->request.n_filters > 0)
		return NK_OK;
	for (int i = 0; i < scan->sieve.n_columns; i++)
		if (scan->sieve.columns[i].column != scan->paths_column && is_untouched(scan, b, i))
			NK_TRY(need_loaded(scan, b, i, &data, err));
	return NK_OK;
}

static nk_status path_column(const ipc_scan *scan, const block *b, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	nk_scalar path = {.dtype = nk_dtype_of(NK_TYPE_STRING),
	                  .bytes = b->file->path,
	                  .n_bytes = (int64_t)strlen(b->file->path)};
	return nk_array_from_scalar(scan->request.memory, &path, n_rows, out, err);
}

static nk_status decode(void *scan_data, void *worker_data, const nk_sieve_state *state, int i,
                        nk_array **out, nk_error *err)
{
	ipc_scan *scan = scan_data;
	worker *w = worker_data;
	block *b = w->block;
	nk_memory *memory = scan->request.memory;
	if (scan->sieve.columns[i].column == scan->paths_column)
		return path_column(scan, b, state->n_selected, out, err);
	column_data *data;
	NK_TRY(need_loaded(scan, b, i, &data, err));
	int64_t ns_start = nk_now_ns();
	NK_AUTO(nk_array) rows = NULL;
	nk_status status = data->all
	                       ? nk_array_slice(memory, data->all, w->row, state->n_rows, &rows, err)
	                       : convert(scan, field_of(scan, b, i), data, w->row, state->n_rows, &rows, err);
	if (status != NK_OK)
		return add_place(scan, b, i, status, err);
	if (state->is_dense)
		*out = NK_STEAL(rows);
	else
		NK_TRY(nk_array_take(memory, rows, state->selected, state->n_selected, out, err));
	nk_count(&scan->request.counters->ns_decode, nk_now_ns() - ns_start);
	return NK_OK;
}

/* ---- The scan's functions ---- */

static nk_status next_morsel(ipc_scan *scan, worker *w, nk_error *err)
{
	unref_block(scan, w->block);
	w->block = NULL;
	pthread_mutex_lock(&scan->lock);
	nk_status status = hand_out(scan, w, err);
	pthread_mutex_unlock(&scan->lock);
	if (status == NK_OK && w->block)
		status = load_outputs(scan, w->block, err);
	return status;
}

static nk_status next_batch(ipc_scan *scan, worker *w, nk_batch **out, nk_error *err)
{
	for (*out = NULL; !*out;) {
		if (!w->block || w->row == w->end) {
			NK_TRY(next_morsel(scan, w, err));
			if (!w->block)
				return NK_OK;
		}
		int64_t n_rows = NK_MIN(w->end - w->row, scan->request.batch_rows);
		NK_TRY(nk__sieve_batch(&scan->sieve, &w->state, n_rows, w->block->first_row + w->row, decode, scan, w,
		                       out, err));
		w->row += n_rows;
	}
	(*out)->morsel = w->morsel;
	(*out)->number = w->number++;
	return NK_OK;
}

static nk_status scan_next(nk_scan *base, int number, nk_batch **out, nk_error *err)
{
	ipc_scan *scan = (ipc_scan *)base;
	worker *w = &scan->workers[number];
	nk_status status = next_batch(scan, w, out, err);
	if (status != NK_OK) {
		unref_block(scan, w->block);
		w->block = NULL;
	}
	return status;
}

static void scan_free(nk_scan *base)
{
	ipc_scan *scan = (ipc_scan *)base;
	for (int i = 0; scan->workers && i < scan->request.n_workers; i++) {
		nk__sieve_state_release(&scan->workers[i].state, &scan->sieve);
		unref_block(scan, scan->workers[i].block);
	}
	unref_block(scan, scan->current);
	pthread_cond_destroy(&scan->loaded);
	pthread_mutex_destroy(&scan->lock);
	nk_source_unref(&scan->source->base);
	nk_arena_free(scan->arena); /* which holds the scan itself */
}

static nk_status plan_slice(ipc_scan *scan, nk_error *err)
{
	const nk_scan_request *request = &scan->request;
	scan->row_start = request->offset;
	scan->row_end = INT64_MAX;
	for (int64_t i = 0; request->offset < 0 && i < scan->n_files; i++) {
		nk_ipc_file *file;
		NK_TRY(nk__ipc_file(scan->source, i, &file, err));
		scan->row_start += file->n_rows;
	}
	if (request->limit >= 0 && request->limit < INT64_MAX - NK_MAX(scan->row_start, 0))
		scan->row_end = scan->row_start + request->limit;
	return NK_OK;
}

static const nk_scan_ops scan_ops = {.next = scan_next, .free = scan_free};

nk_status nk__ipc_open(nk_source *base, const nk_scan_request *request, nk_scan **out, nk_error *err)
{
	nk_ipc_source *source = (nk_ipc_source *)base;
	nk_ipc_file *first;
	NK_TRY(nk__ipc_file(source, 0, &first, err));
	nk_arena *arena = nk_arena_new(request->memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	ipc_scan *scan;
	nk_status status = NK_ARENA_NEW(arena, &scan, 1, err);
	if (status != NK_OK) {
		nk_arena_free(arena);
		return status;
	}
	nk_source_ref(base);
	*scan = (ipc_scan){.base = {&scan_ops}, .source = source, .request = *request, .arena = arena};
	scan->paths_column = source->file_paths_name ? source->schema->n_fields - 1 : -1;
	pthread_mutex_init(&scan->lock, NULL);
	pthread_cond_init(&scan->loaded, NULL);
	NK_AUTO(nk_scan) made = &scan->base;
	NK_TRY(nk__ipc_n_files(source, &scan->n_files, err));
	NK_TRY(nk__sieve_init(&scan->sieve, arena, &scan->request, err));
	NK_TRY(NK_ARENA_NEW(arena, &scan->workers, request->n_workers, err));
	for (int i = 0; i < request->n_workers; i++)
		NK_TRY(nk__sieve_state_init(&scan->workers[i].state, &scan->sieve, arena, err));
	NK_TRY(plan_slice(scan, err));
	*out = NK_STEAL(made);
	return NK_OK;
}
