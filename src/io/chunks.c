/* Ranges are claimed and handed out under one lock, which is let go while a range is summarised. */
#include "io/chunks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct nk_open_file {
	int64_t n_references; /* atomic */
	const nk_chunk_ops *ops;
	nk_text_file *file;
	/* under the lock of the chunks */
	int64_t n_ranges, n_claimed, n_taken;
	int64_t row_begin;     /* of what is handed out next */
	int64_t n_marks;       /* at most, from there to the end of the ranges taken */
	bool state;            /* where the next range begins */
	nk_text_range *ranges; /* n_marks -1 until it is summarised */
};

struct nk_chunks {
	const nk_chunk_ops *ops;
	void *source;
	int64_t n_files;
	nk_memory *memory;
	nk_scan_counters *counters;
	int64_t chunk_bytes, row_start, row_end;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t next_file, row, n_morsels;
	nk_open_file *current; /* NULL: the next file is to be opened */
};

static void unref_file(nk_open_file *open)
{
	if (!open || __atomic_fetch_sub(&open->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	if (open->file)
		open->ops->close(open->file);
	free(open->ranges);
	free(open);
}

void nk__chunk_release(nk_chunk *chunk)
{
	unref_file(chunk->owner);
	chunk->owner = NULL;
}

static nk_status open_file(nk_chunks *chunks, nk_error *err)
{
	nk_open_file *open = calloc(1, sizeof *open);
	if (!open)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	open->n_references = 1;
	open->ops = chunks->ops;
	nk_status status = chunks->ops->open(chunks->source, chunks->next_file, chunks->memory, &open->file, err);
	if (status != NK_OK) {
		unref_file(open);
		return status;
	}
	const nk_text_file *file = open->file;
	open->row_begin = file->rows_begin;
	open->n_ranges = (file->n_bytes - file->rows_begin + chunks->chunk_bytes - 1) / chunks->chunk_bytes;
	open->ranges = malloc((size_t)(open->n_ranges + 1) * sizeof *open->ranges);
	if (!open->ranges) {
		status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld chunks", (long long)open->n_ranges);
		unref_file(open);
		return status;
	}
	for (int64_t i = 0; i < open->n_ranges; i++)
		open->ranges[i].n_marks = -1;
	nk_count(&chunks->counters->n_bytes_file, file->n_bytes_file);
	if (file->n_bytes != file->n_bytes_file)
		nk_count(&chunks->counters->n_bytes_decompressed, file->n_bytes);
	chunks->next_file++;
	chunks->current = open;
	return NK_OK;
}

static int64_t range_begin(const nk_chunks *chunks, const nk_open_file *open, int64_t range)
{
	int64_t begin = open->file->rows_begin + range * chunks->chunk_bytes;
	return NK_MIN(begin, open->file->n_bytes);
}

/* Summarise the next range that nobody has; the lock is let go meanwhile. */
static void summarise_range(nk_chunks *chunks, nk_open_file *open)
{
	int64_t range = open->n_claimed++, begin = range_begin(chunks, open, range),
			end = range_begin(chunks, open, range + 1);
	nk_text_range sum;
	__atomic_fetch_add(&open->n_references, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&chunks->lock);
	chunks->ops->summarise(chunks->source, open->file->text + begin, end - begin, &sum);
	nk_count(&chunks->counters->n_bytes_read, end - begin);
	pthread_mutex_lock(&chunks->lock);
	open->ranges[range] = sum;
	pthread_cond_broadcast(&chunks->changed);
	unref_file(open);
}

/* The rows that the range under way completes; n_rows 0: none. */
static void take_range(nk_chunks *chunks, nk_open_file *open, nk_chunk *out)
{
	int64_t range = open->n_taken++;
	const nk_text_range *sum = &open->ranges[range];
	bool state = open->state;
	int64_t end = range_begin(chunks, open, range) + sum->last_eol[state] + 1;
	out->n_rows = sum->n_rows[state];
	open->state = sum->state[state];
	open->n_marks += sum->n_marks;
	if (out->n_rows == 0)
		end = open->row_begin;
	if (open->n_taken == open->n_ranges) {
		out->n_rows += end < open->file->n_bytes && (open->state || !chunks->ops->blank_rests);
		end = open->file->n_bytes;
	}
	out->begin = open->row_begin;
	out->end = end;
	out->n_marks = open->n_marks + 1;
	if (out->n_rows > 0)
		open->n_marks = sum->n_marks;
	open->row_begin = end;
}

static void walk_rows(nk_chunks *chunks, nk_open_file *open, nk_chunk *out)
{
	out->begin = open->row_begin;
	chunks->ops->walk(chunks->source, open->file,
	                  NK_MIN(out->begin + chunks->chunk_bytes, open->file->n_bytes), out);
	open->row_begin = out->end;
	nk_count(&chunks->counters->n_bytes_read, out->end - out->begin);
	if (open->row_begin == open->file->n_bytes)
		open->n_taken = open->n_claimed = open->n_ranges;
}

static nk_status take(nk_chunks *chunks, nk_chunk *out, nk_error *err)
{
	while (chunks->row < chunks->row_end) {
		nk_open_file *open = chunks->current;
		if (!open) {
			if (chunks->next_file == chunks->n_files)
				return NK_OK;
			NK_TRY(open_file(chunks, err));
			continue;
		}
		if (open->n_taken == open->n_ranges) {
			unref_file(open);
			chunks->current = NULL;
			continue;
		}
		if (chunks->ops->walk) {
			walk_rows(chunks, open, out);
		} else if (open->ranges[open->n_taken].n_marks >= 0) {
			take_range(chunks, open, out);
		} else if (open->n_claimed < open->n_ranges) {
			summarise_range(chunks, open);
			continue;
		} else {
			pthread_cond_wait(&chunks->changed, &chunks->lock);
			continue;
		}
		int64_t first_row = chunks->row;
		chunks->row += out->n_rows;
		if (out->n_rows == 0 || chunks->row <= chunks->row_start)
			continue;
		if (out->end - out->begin > UINT32_MAX - 2 * NK_TEXT_BACK)
			return nk_fail(err, NK_COMPUTE, "row %lld of %s is longer than 4 GiB", (long long)first_row,
			               open->file->path);
		__atomic_fetch_add(&open->n_references, 1, __ATOMIC_RELAXED);
		out->owner = open;
		out->file = open->file;
		out->first_row = first_row;
		out->morsel = chunks->n_morsels++;
		nk_count(&chunks->counters->n_groups, 1);
		return NK_OK;
	}
	return NK_OK;
}

nk_status nk__chunks_take(nk_chunks *chunks, nk_chunk *out, nk_error *err)
{
	*out = (nk_chunk){0};
	pthread_mutex_lock(&chunks->lock);
	nk_status status = take(chunks, out, err);
	pthread_mutex_unlock(&chunks->lock);
	return status;
}

nk_status nk__chunks_new(const nk_chunk_ops *ops, void *source, int64_t n_files, nk_memory *memory,
                         nk_scan_counters *counters, int64_t chunk_bytes, nk_chunks **out, nk_error *err)
{
	nk_chunks *chunks = calloc(1, sizeof *chunks);
	if (!chunks)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a scan");
	*chunks = (nk_chunks){.ops = ops,
	                      .source = source,
	                      .n_files = n_files,
	                      .memory = memory,
	                      .counters = counters,
	                      .chunk_bytes = chunk_bytes,
	                      .row_end = INT64_MAX};
	pthread_mutex_init(&chunks->lock, NULL);
	pthread_cond_init(&chunks->changed, NULL);
	*out = chunks;
	return NK_OK;
}

void nk__chunks_limit(nk_chunks *chunks, int64_t row_start, int64_t row_end)
{
	chunks->row_start = row_start;
	chunks->row_end = row_end;
}

void nk__chunks_free(nk_chunks *chunks)
{
	if (!chunks)
		return;
	unref_file(chunks->current);
	pthread_cond_destroy(&chunks->changed);
	pthread_mutex_destroy(&chunks->lock);
	free(chunks);
}

nk_status nk__chunks_count_rows(const nk_chunk_ops *ops, void *source, int64_t n_files, nk_memory *memory,
                                int64_t *out, nk_error *err)
{
	enum { CHUNK_BYTES = 1 << 20 };
	nk_scan_counters unused = {0};
	nk_chunks *chunks;
	nk_chunk chunk;
	NK_TRY(nk__chunks_new(ops, source, n_files, memory, &unused, CHUNK_BYTES, &chunks, err));
	nk_status status;
	*out = 0;
	while ((status = nk__chunks_take(chunks, &chunk, err)) == NK_OK && chunk.owner) {
		*out += chunk.n_rows;
		nk__chunk_release(&chunk);
	}
	nk__chunks_free(chunks);
	return status;
}

nk_status nk__chunk_text(const nk_chunk *chunk, nk_memory *memory, uint8_t **copy, int64_t *capacity,
                         const uint8_t **out, nk_error *err)
{
	const nk_text_file *file = chunk->file;
	if (file->is_padded || (chunk->begin >= NK_TEXT_FRONT && file->n_bytes - chunk->end >= NK_TEXT_BACK)) {
		*out = file->text + chunk->begin;
		return NK_OK;
	}
	int64_t n = chunk->end - chunk->begin;
	NK_TRY(NK_GROW(memory, copy, capacity, n + NK_TEXT_FRONT + NK_TEXT_BACK, err));
	memset(*copy, 0, NK_TEXT_FRONT);
	memcpy(*copy + NK_TEXT_FRONT, file->text + chunk->begin, (size_t)n);
	memset(*copy + NK_TEXT_FRONT + n, 0, NK_TEXT_BACK);
	*out = *copy + NK_TEXT_FRONT;
	return NK_OK;
}

nk_status nk__text_file_context(const nk_text_file *file, int64_t position, nk_status status, nk_error *err)
{
	int64_t line = 1;
	for (const uint8_t *at = file->text, *end = at + position; (at = memchr(at, '\n', (size_t)(end - at)));
	     at++)
		line++;
	if (strncmp(file->path, "/proc/", 6) == 0)
		return nk_error_context(err, status, "line %lld", (long long)line);
	return nk_error_context(err, status, "line %lld of %s", (long long)line, file->path);
}
