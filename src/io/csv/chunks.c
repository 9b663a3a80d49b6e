/* With comments, quotes count or not depending on the line that they are in: then rows are walked one by one under the
 * lock, and only converting them is parallel. */
#include "io/csv/chunks.h"

#include <stdlib.h>

struct nk_csv_open_file {
	int64_t n_references; /* atomic */
	nk_csv_file file;
	/* under the lock of the chunks */
	int64_t n_ranges, n_claimed, n_taken;
	int64_t row_begin;         /* of what is handed out next */
	int64_t n_marks;           /* at most, from there to the end of the ranges taken */
	bool is_quoted;            /* where the next range begins */
	nk_csv_summary *summaries; /* one per range; n_marks -1 until it is counted */
};

struct nk_csv_chunks {
	nk_csv_source *source;
	nk_memory *memory;
	nk_scan_counters *counters;
	int64_t chunk_bytes, row_start, row_end;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t next_file, row, n_morsels;
	nk_csv_open_file *current; /* NULL: the next file is to be opened */
};

static void unref_file(nk_csv_open_file *open)
{
	if (!open || __atomic_fetch_sub(&open->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	nk__csv_file_close(&open->file);
	free(open->summaries);
	free(open);
}

void nk__csv_chunk_release(nk_csv_chunk *chunk)
{
	unref_file(chunk->owner);
	chunk->owner = NULL;
}

static nk_status open_file(nk_csv_chunks *chunks, nk_error *err)
{
	nk_csv_open_file *open = calloc(1, sizeof *open);
	if (!open)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	open->n_references = 1;
	nk_status status = nk__csv_file_open(chunks->source, chunks->next_file, chunks->memory, &open->file, err);
	if (status != NK_OK) {
		free(open);
		return status;
	}
	int64_t n_bytes = open->file.n_bytes - open->file.head.rows_begin;
	open->row_begin = open->file.head.rows_begin;
	open->n_ranges = open->file.head.is_empty ? 0 : (n_bytes + chunks->chunk_bytes - 1) / chunks->chunk_bytes;
	open->summaries = malloc((size_t)(open->n_ranges + 1) * sizeof *open->summaries);
	if (!open->summaries) {
		unref_file(open);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld chunks", (long long)open->n_ranges);
	}
	for (int64_t i = 0; i < open->n_ranges; i++)
		open->summaries[i].n_marks = -1;
	nk_count(&chunks->counters->n_bytes_file, open->file.n_bytes_file);
	if (open->file.n_bytes != open->file.n_bytes_file)
		nk_count(&chunks->counters->n_bytes_decompressed, open->file.n_bytes);
	chunks->next_file++;
	chunks->current = open;
	return NK_OK;
}

static int64_t range_begin(const nk_csv_chunks *chunks, const nk_csv_open_file *open, int64_t range)
{
	int64_t begin = open->file.head.rows_begin + range * chunks->chunk_bytes;
	return NK_MIN(begin, open->file.n_bytes);
}

/* Count the next range that nobody has; the lock is let go meanwhile. */
static void count_range(nk_csv_chunks *chunks, nk_csv_open_file *open)
{
	int64_t range = open->n_claimed++, begin = range_begin(chunks, open, range),
			end = range_begin(chunks, open, range + 1);
	nk_csv_summary sum;
	__atomic_fetch_add(&open->n_references, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&chunks->lock);
	NK_ISA_TABLE(nk__csv_loops)
		->summarise(open->file.text + begin, end - begin, &chunks->source->options.dialect.marks, &sum);
	nk_count(&chunks->counters->n_bytes_read, end - begin);
	pthread_mutex_lock(&chunks->lock);
	open->summaries[range] = sum;
	pthread_cond_broadcast(&chunks->changed);
	unref_file(open);
}

/* The rows that the range under way completes; n_rows 0: none. */
static void take_range(nk_csv_chunks *chunks, nk_csv_open_file *open, nk_csv_chunk *out)
{
	int64_t range = open->n_taken++;
	const nk_csv_summary *sum = &open->summaries[range];
	int64_t last_eol = sum->last_eol[open->is_quoted], end = range_begin(chunks, open, range) + last_eol + 1;
	out->n_rows = sum->n_eols[open->is_quoted];
	open->is_quoted ^= sum->is_odd;
	open->n_marks += sum->n_marks;
	if (out->n_rows == 0)
		end = open->row_begin;
	if (open->n_taken == open->n_ranges) {
		out->n_rows += end < open->file.n_bytes;
		end = open->file.n_bytes;
	}
	out->begin = open->row_begin;
	out->end = end;
	out->n_marks = open->n_marks + 1;
	if (out->n_rows > 0)
		open->n_marks = sum->n_marks;
	open->row_begin = end;
}

/* The same by walking rows. */
static void walk_rows(nk_csv_chunks *chunks, nk_csv_open_file *open, nk_csv_chunk *out)
{
	const nk_csv_dialect *dialect = &chunks->source->options.dialect;
	const uint8_t *text = open->file.text;
	int64_t at = open->row_begin, stop = NK_MIN(at + chunks->chunk_bytes, open->file.n_bytes);
	out->begin = at;
	out->n_rows = 0;
	while (at < stop) {
		bool is_comment = nk__csv_is_comment(dialect, text + at, open->file.n_bytes - at);
		out->n_rows += !is_comment;
		out->has_comments |= is_comment;
		at += nk__csv_row_length(dialect, text + at, open->file.n_bytes - at) + 1;
	}
	out->end = open->row_begin = NK_MIN(at, open->file.n_bytes);
	out->n_marks = out->end - out->begin + 1;
	nk_count(&chunks->counters->n_bytes_read, out->end - out->begin);
	if (open->row_begin == open->file.n_bytes)
		open->n_taken = open->n_claimed = open->n_ranges;
}

static nk_status take(nk_csv_chunks *chunks, nk_csv_chunk *out, nk_error *err)
{
	while (chunks->row < chunks->row_end) {
		nk_csv_open_file *open = chunks->current;
		if (!open) {
			if (chunks->next_file == chunks->source->n_files)
				return NK_OK;
			NK_TRY(open_file(chunks, err));
			continue;
		}
		if (open->n_taken == open->n_ranges) {
			unref_file(open);
			chunks->current = NULL;
			continue;
		}
		if (chunks->source->options.dialect.comment) {
			walk_rows(chunks, open, out);
		} else if (open->summaries[open->n_taken].n_marks >= 0) {
			take_range(chunks, open, out);
		} else if (open->n_claimed < open->n_ranges) {
			count_range(chunks, open);
			continue;
		} else {
			pthread_cond_wait(&chunks->changed, &chunks->lock);
			continue;
		}
		int64_t first_row = chunks->row;
		chunks->row += out->n_rows;
		if (out->n_rows == 0 || chunks->row <= chunks->row_start)
			continue;
		if (out->end - out->begin > UINT32_MAX - 2 * NK_CSV_BACK)
			return nk_fail(err, NK_COMPUTE, "row %lld of %s is longer than 4 GiB", (long long)first_row,
			               open->file.path);
		__atomic_fetch_add(&open->n_references, 1, __ATOMIC_RELAXED);
		out->owner = open;
		out->file = &open->file;
		out->first_row = first_row;
		out->morsel = chunks->n_morsels++;
		nk_count(&chunks->counters->n_groups, 1);
		return NK_OK;
	}
	return NK_OK;
}

nk_status nk__csv_chunks_take(nk_csv_chunks *chunks, nk_csv_chunk *out, nk_error *err)
{
	*out = (nk_csv_chunk){0};
	pthread_mutex_lock(&chunks->lock);
	nk_status status = take(chunks, out, err);
	pthread_mutex_unlock(&chunks->lock);
	return status;
}

nk_status nk__csv_chunks_new(nk_csv_source *source, nk_memory *memory, nk_scan_counters *counters,
                             int64_t chunk_bytes, nk_csv_chunks **out, nk_error *err)
{
	nk_csv_chunks *chunks = calloc(1, sizeof *chunks);
	if (!chunks)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	*chunks = (nk_csv_chunks){.source = source,
	                          .memory = memory,
	                          .counters = counters,
	                          .chunk_bytes = chunk_bytes,
	                          .row_end = INT64_MAX};
	pthread_mutex_init(&chunks->lock, NULL);
	pthread_cond_init(&chunks->changed, NULL);
	*out = chunks;
	return NK_OK;
}

void nk__csv_chunks_limit(nk_csv_chunks *chunks, int64_t row_start, int64_t row_end)
{
	chunks->row_start = row_start;
	chunks->row_end = row_end;
}

void nk__csv_chunks_free(nk_csv_chunks *chunks)
{
	if (!chunks)
		return;
	unref_file(chunks->current);
	pthread_cond_destroy(&chunks->changed);
	pthread_mutex_destroy(&chunks->lock);
	free(chunks);
}

nk_status nk__csv_chunks_count_rows(nk_csv_source *source, nk_memory *memory, int64_t *out, nk_error *err)
{
	enum { CHUNK_BYTES = 1 << 20 };
	nk_scan_counters unused = {0};
	nk_csv_chunks *chunks;
	nk_csv_chunk chunk;
	NK_TRY(nk__csv_chunks_new(source, memory, &unused, CHUNK_BYTES, &chunks, err));
	nk_status status;
	*out = 0;
	while ((status = nk__csv_chunks_take(chunks, &chunk, err)) == NK_OK && chunk.owner) {
		*out += chunk.n_rows;
		nk__csv_chunk_release(&chunk);
	}
	nk__csv_chunks_free(chunks);
	return status;
}
