/* Proves of exec/sort, exec/top_k and exec/unique: rows come out in the order of a stable reference sort, whole or as
 * a window of it; distinct rows are those a naive pass keeps; for one and several workers, tiny and large batches,
 * with and without runs and partitions on disk. */
#include "exec/sort.h"
#include "exec/top_k.h"
#include "exec/unique.h"
#include "exec_rows.h"

static nk_memory *memory;
static nk_pool *pool;

enum { N_COLUMNS = 4 };

/* All rows of an input as lines, and its columns joined. */
static nk_batch *join_input(const nk_exec *exec, const input *from, const nk_dtype *const *dtypes)
{
	nk_pieces all = {.memory = exec->memory};
	for (int b = 0; b < from->n; b++) {
		nk_batch *copy;
		must(nk_batch_slice(exec->memory, from->batches[b], 0, from->batches[b]->n_rows, &copy, NULL));
		must(nk_pieces_add(&all, copy, NULL));
	}
	nk_batch *joined;
	must(nk_pieces_concat(&all, exec->memory, NULL, dtypes, N_COLUMNS, &joined, NULL));
	return joined;
}

static nk_array *sorted_keys[2];
static const nk_sort_key *sorted_specs;

static int reference_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	int order = nk_sort_compare(sorted_keys, x, sorted_keys, y, sorted_specs, 2);
	return order ? order : (x > y) - (x < y);
}

static void compare_sort(int n_workers, int64_t batch_rows, bool force_spill, int64_t n_rows, int64_t domain,
                         int64_t offset, int64_t limit)
{
	const nk_dtype *dtypes[N_COLUMNS] = {nk_dtype_of(NK_TYPE_INT64), nk_dtype_of(NK_TYPE_STRING),
	                                     nk_dtype_of(NK_TYPE_INT32), nk_dtype_of(NK_TYPE_FLOAT64)};
	int64_t domains[N_COLUMNS] = {1 << 30, domain, domain, domain};
	static input from;
	input_make(&from, memory, dtypes, domains, N_COLUMNS, n_rows, batch_rows, 5, random_below(2));
	nk_exec exec = exec_make(memory, pool, n_workers, batch_rows, force_spill);
	int keys[2] = {1 + (int)random_below(3), 1 + (int)random_below(3)}, outputs[] = {0, 2, 1};
	nk_sort_key specs[2] = {{random_below(2), random_below(2)}, {random_below(2), random_below(2)}};
	nk_sort_config config = {.n_columns = N_COLUMNS,
	                         .dtypes = dtypes,
	                         .n_keys = 2,
	                         .keys = keys,
	                         .specs = specs,
	                         .n_outputs = 3,
	                         .outputs = outputs};
	lines result = {0}, expected = {0};
	nk_sort *sort = NULL;
	nk_top_k *top = NULL;
	if (limit < 0) {
		must(nk_sort_new(&exec, &config, NULL, &sort, NULL));
		must(exec_feed(&exec, &from, nk_sort_sink(sort), NULL));
		must(exec_read(&exec, nk_sort_stream(sort), &result, NULL));
	} else {
		must(nk_top_k_new(&exec, &config, offset, limit, NULL, &top, NULL));
		must(exec_feed(&exec, &from, nk_top_k_sink(top), NULL));
		must(exec_read(&exec, nk_top_k_stream(top), &result, NULL));
	}
	nk_batch *joined = join_input(&exec, &from, dtypes);
	int64_t *rows = malloc((size_t)n_rows * 8 + 8);
	for (int64_t i = 0; i < n_rows; i++)
		rows[i] = i;
	sorted_keys[0] = joined->columns[keys[0]];
	sorted_keys[1] = joined->columns[keys[1]];
	sorted_specs = specs;
	qsort(rows, (size_t)n_rows, 8, reference_order);
	int64_t end = limit < 0 ? n_rows : NK_MIN(n_rows, offset + limit);
	for (int64_t i = offset; i < end; i++) {
		char text[300];
		nk_array *shown[] = {joined->columns[0], joined->columns[2], joined->columns[1]};
		rows_text(text, shown, 3, rows[i], false);
		lines_add(&expected, text);
	}
	EXPECT(lines_equal(&result, &expected, true));
	free(rows);
	lines_free(&result), lines_free(&expected);
	nk_batch_free(joined);
	nk_sort_free(sort);
	nk_top_k_free(top);
	input_free(&from);
	nk_task_group_free(exec.tasks);
}

static void compare_unique(int n_workers, int64_t batch_rows, bool force_spill, int64_t n_rows,
                           int64_t domain, nk_keep keep, bool maintain_order)
{
	const nk_dtype *dtypes[N_COLUMNS] = {nk_dtype_of(NK_TYPE_INT64), nk_dtype_of(NK_TYPE_STRING),
	                                     nk_dtype_of(NK_TYPE_INT32), nk_dtype_of(NK_TYPE_FLOAT64)};
	int64_t domains[N_COLUMNS] = {1 << 30, domain, domain, domain};
	static input from;
	input_make(&from, memory, dtypes, domains, N_COLUMNS, n_rows, batch_rows, 5, random_below(2));
	nk_exec exec = exec_make(memory, pool, n_workers, batch_rows, force_spill);
	int keys[2] = {2, 1}, n_keys = 1 + (int)random_below(2);
	nk_unique_config config = {.n_columns = N_COLUMNS,
	                           .dtypes = dtypes,
	                           .n_keys = n_keys,
	                           .keys = keys,
	                           .keep = keep,
	                           .maintain_order = maintain_order};
	nk_unique *unique;
	lines result = {0}, expected = {0};
	must(nk_unique_new(&exec, &config, NULL, &unique, NULL));
	must(exec_feed(&exec, &from, nk_unique_sink(unique), NULL));
	must(exec_read(&exec, nk_unique_stream(unique), &result, NULL));
	nk_batch *joined = join_input(&exec, &from, dtypes);
	nk_array *shown[] = {joined->columns[2], joined->columns[1]};
	char(*texts)[200] = calloc((size_t)n_rows + 1, sizeof *texts);
	for (int64_t i = 0; i < n_rows; i++)
		rows_text(texts[i], shown, n_keys, i, false);
	for (int64_t i = 0; i < n_rows; i++) {
		bool earlier = false, later = false;
		for (int64_t j = 0; j < n_rows; j++)
			if (strcmp(texts[i], texts[j]) == 0) {
				earlier |= j < i;
				later |= j > i;
			}
		bool kept = keep == NK_KEEP_NONE ? !earlier && !later : keep == NK_KEEP_LAST ? !later : !earlier;
		char text[400];
		rows_text(text, joined->columns, N_COLUMNS, i, false);
		if (kept)
			lines_add(&expected, text);
	}
	if (keep == NK_KEEP_ANY) { /* which row is free */
		EXPECT(result.n == expected.n);
	} else {
		EXPECT(lines_equal(&result, &expected, maintain_order));
	}
	free(texts);
	lines_free(&result), lines_free(&expected);
	nk_batch_free(joined);
	nk_unique_free(unique);
	input_free(&from);
	nk_task_group_free(exec.tasks);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	pool = nk_pool_new(3);
	for (int spill = 0; spill < 2; spill++)
		for (int workers = 1; workers <= 3; workers += 2) {
			static const int64_t sizes[][2] = {{0, 1},   {1, 1},      {200, 1},
			                                   {500, 3}, {3000, 100}, {40000, 2048}};
			for (int s = 0; s < NK_COUNT(sizes); s++)
				for (int64_t domain = 3; domain < 1 << 20; domain *= 100) {
					compare_sort(workers, sizes[s][1], spill, sizes[s][0], domain, 0, -1);
					compare_sort(workers, sizes[s][1], spill, sizes[s][0], domain, 0, 10);
					compare_sort(workers, sizes[s][1], spill, sizes[s][0], domain, 7, 1500);
				}
			compare_sort(workers, 10, spill, 500, 3, 0, 0);
			for (int keep = NK_KEEP_ANY; keep <= NK_KEEP_NONE; keep++)
				for (int order = 0; order < 2; order++) {
					compare_unique(workers, 1, spill, 100, 5, (nk_keep)keep, order);
					compare_unique(workers, 64, spill, 2000, 300, (nk_keep)keep, order);
				}
		}
	nk_pool_free(pool);
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
