/* Drives breakers the way pipelines do: several workers push the batches of an input, in order per worker, then
 * several workers read the result. Rows are compared as lines of text. */
#ifndef NK_TESTS_EXEC_ROWS_H
#define NK_TESTS_EXEC_ROWS_H

#include <string.h>

#include "exec/each.h"
#include "exec/spill.h"
#include "random_rows.h"

typedef struct lines {
	char **text;
	int64_t n, capacity;
} lines;

static inline void lines_add(lines *to, const char *text)
{
	if (to->n == to->capacity) {
		to->capacity = to->capacity * 2 + 16;
		to->text = realloc(to->text, (size_t)to->capacity * sizeof *to->text);
	}
	to->text[to->n++] = strdup(text);
}

static inline void lines_free(lines *from)
{
	for (int64_t i = 0; i < from->n; i++)
		free(from->text[i]);
	free(from->text);
	*from = (lines){0};
}

static inline int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline bool lines_equal(lines *a, lines *b, bool ordered)
{
	if (!ordered && a->n && b->n) {
		qsort(a->text, (size_t)a->n, sizeof *a->text, by_text);
		qsort(b->text, (size_t)b->n, sizeof *b->text, by_text);
	}
	for (int64_t i = 0; i < a->n && i < b->n; i++)
		if (strcmp(a->text[i], b->text[i]) != 0) {
			fprintf(stderr, "line %ld: %s, not %s\n", (long)i, a->text[i], b->text[i]);
			return false;
		}
	if (a->n != b->n)
		fprintf(stderr, "%ld lines, not %ld\n", (long)a->n, (long)b->n);
	return a->n == b->n;
}

static inline void lines_of_batch(lines *to, const nk_batch *batch)
{
	char text[1000];
	for (int64_t i = 0; i < batch->n_rows; i++) {
		text[0] = 0;
		rows_text(text, batch->columns, batch->n_columns, i, false);
		lines_add(to, text);
	}
}

static inline nk_exec exec_make(nk_memory *memory, nk_pool *pool, int n_workers, int64_t batch_rows,
                                bool force_spill)
{
	return (nk_exec){.memory = memory,
	                 .tasks = nk_task_group_new(pool),
	                 .pool = pool,
	                 .n_workers = n_workers,
	                 .batch_rows = batch_rows,
	                 .morsel_rows = batch_rows * 4,
	                 .force_spill = force_spill};
}

/* An input: batches in order, with sequences; four to a morsel. */
typedef struct input {
	nk_batch *batches[4000];
	int n;
} input;

static inline void input_make(input *to, nk_memory *memory, const nk_dtype *const *dtypes,
                              const int64_t *domains, int n_columns, int64_t n_rows, int64_t batch_rows,
                              int percent_null, bool encoded)
{
	to->n = 0;
	for (int64_t first = 0; first < n_rows; first += batch_rows) {
		nk_batch *batch;
		int64_t n = NK_MIN(batch_rows, n_rows - first);
		must(nk_batch_new(n_columns, n, &batch, NULL));
		for (int c = 0; c < n_columns; c++)
			batch->columns[c] = random_array(memory, dtypes[c], n, domains[c], percent_null,
			                                 encoded ? (nk_encoding)random_below(3) : NK_FLAT);
		batch->morsel = to->n / 4;
		batch->number = to->n % 4;
		to->batches[to->n++] = batch;
	}
}

static inline void input_free(input *from)
{
	for (int i = 0; i < from->n; i++)
		nk_batch_free(from->batches[i]);
	from->n = 0;
}

typedef struct drive {
	const nk_exec *exec;
	const input *from;
	nk_receiver *sink;
	nk_stream *stream;
	int64_t next;
	nk_pieces out[64];
} drive;

/* Takes whole morsels. */
static inline nk_status drive_push(void *data, int64_t item, int worker, nk_error *err)
{
	drive *work = data;
	(void)worker;
	int64_t n_morsels = (work->from->n + 3) / 4, morsel;
	while ((morsel = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < n_morsels)
		for (int64_t i = morsel * 4; i < work->from->n && i < morsel * 4 + 4; i++) {
			nk_batch *copy;
			NK_TRY(nk_batch_slice(work->exec->memory, work->from->batches[i], 0,
			                      work->from->batches[i]->n_rows, &copy, err));
			NK_TRY(nk_push(work->sink, (int)item, copy, err));
		}
	return NK_OK;
}

static inline nk_status drive_read(void *data, int64_t item, int worker, nk_error *err)
{
	drive *work = data;
	(void)worker;
	for (;;) {
		nk_batch *batch;
		NK_TRY(work->stream->ops->next(work->stream, (int)item, &batch, err));
		if (!batch)
			return NK_OK;
		EXPECT(batch->n_rows <= work->exec->batch_rows && batch->n_rows > 0);
		NK_TRY(nk_pieces_add(&work->out[item], batch, err));
	}
}

static inline nk_status exec_feed(const nk_exec *exec, const input *from, nk_receiver *sink, nk_error *err)
{
	drive work = {.exec = exec, .from = from, .sink = sink};
	NK_TRY(nk_exec_each(exec, exec->n_workers, drive_push, &work, err));
	for (int w = 0; w < exec->n_workers; w++)
		NK_TRY(sink->ops->flush(sink, w, err));
	return sink->ops->finish ? sink->ops->finish(sink, err) : NK_OK;
}

/* Lines of the result, in the order of sequences. */
static inline nk_status exec_read(const nk_exec *exec, nk_stream *stream, lines *to, nk_error *err)
{
	drive work = {.exec = exec, .stream = stream};
	nk_pieces all = {.memory = exec->memory};
	for (int w = 0; w < exec->n_workers; w++)
		work.out[w].memory = exec->memory;
	nk_status status = nk_exec_each(exec, exec->n_workers, drive_read, &work, err);
	for (int w = 0; w < exec->n_workers; w++) {
		for (int64_t i = 0; i < work.out[w].n_batches; i++)
			must(nk_pieces_add(&all, NK_STEAL(work.out[w].batches[i]), err));
		nk_pieces_release(&work.out[w]);
	}
	must(nk_pieces_sort(&all, err));
	for (int64_t i = 0; i < all.n_batches; i++) {
		EXPECT(nk_batch_validate(all.batches[i], NULL) == NK_OK);
		lines_of_batch(to, all.batches[i]);
	}
	nk_pieces_release(&all);
	return status;
}

#endif
