/* Proves of exec/aggregate: sums, counts and firsts by key agree with a naive reference for one and several workers,
 * tiny and large batches, few and many groups, with and without spilling; groups keep their order when asked;
 * no input gives one row without keys and none with. */
#include <search.h>

#include "exec/aggregate.h"
#include "exec_rows.h"

static nk_memory *memory;
static nk_pool *pool;

/* ---- Aggregates of the test's own ---- */

typedef struct sum_state {
	int64_t sum, n;
} sum_state;

static int64_t value_at(const nk_array *array, int64_t i)
{
	return ((const int64_t *)array->values)[nk_array_index(array, i)];
}

static nk_status sum_update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                            int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	(void)call, (void)order, (void)arena, (void)err;
	sum_state *state = states;
	for (int64_t i = 0; i < n_rows; i++)
		if (nk_array_is_valid(args[0], i)) {
			state[groups ? groups[i] : 0].sum += value_at(args[0], i);
			state[groups ? groups[i] : 0].n++;
		}
	return NK_OK;
}

static nk_status sum_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                           int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	sum_state *state = states;
	const sum_state *other = others;
	for (int64_t i = 0; i < n; i++) {
		state[groups ? groups[i] : 0].sum += other[i].sum;
		state[groups ? groups[i] : 0].n += other[i].n;
	}
	return NK_OK;
}

static nk_status sum_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                            nk_error *err)
{
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_groups, false, out, err));
	for (int64_t g = 0; g < n_groups; g++)
		((int64_t *)nk_array_values(*out))[g] =
			((const sum_state *)states)[g].sum * 1000 + ((const sum_state *)states)[g].n;
	return NK_OK;
}

typedef struct first_state {
	int64_t order; /* + 1; 0: none yet */
	int64_t value;
} first_state;

static void first_fold(first_state *state, int64_t order, int64_t value)
{
	if (order && (!state->order || order < state->order))
		*state = (first_state){order, value};
}

static nk_status first_update(const nk_call *call, void *states, const uint32_t *groups,
                              nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                              nk_error *err)
{
	(void)call, (void)arena, (void)err;
	for (int64_t i = 0; i < n_rows; i++)
		first_fold((first_state *)states + (groups ? groups[i] : 0), order + i + 1,
		           nk_array_is_valid(args[0], i) ? value_at(args[0], i) : -1);
	return NK_OK;
}

static nk_status first_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                             int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	for (int64_t i = 0; i < n; i++)
		first_fold((first_state *)states + (groups ? groups[i] : 0), ((const first_state *)others)[i].order,
		           ((const first_state *)others)[i].value);
	return NK_OK;
}

static nk_status first_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                              nk_error *err)
{
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I64, n_groups, false, out, err));
	for (int64_t g = 0; g < n_groups; g++)
		((int64_t *)nk_array_values(*out))[g] = ((const first_state *)states)[g].value;
	return NK_OK;
}

static const nk_aggregate sum_aggregate = {sizeof(sum_state), sum_update, sum_merge, sum_finish};
static const nk_aggregate first_aggregate = {sizeof(first_state), first_update, first_merge, first_finish};

/* ---- The reference ---- */

typedef struct known {
	char key[400];
	int64_t sum, n, first;
} known;

static int by_key(const void *a, const void *b)
{
	return strcmp(((const known *)a)->key, ((const known *)b)->key);
}

static void reference(const input *from, int n_keys, lines *to)
{
	void *tree = NULL;
	static known *all[200000];
	int64_t n_known = 0;
	for (int b = 0; b < from->n; b++) {
		const nk_batch *batch = from->batches[b];
		for (int64_t i = 0; i < batch->n_rows; i++) {
			nk_scalar value = nk_scalar_read(batch->columns[n_keys], i);
			known *candidate = calloc(1, sizeof *candidate);
			rows_text(candidate->key, batch->columns, n_keys, i, false);
			known *met = *(known **)tsearch(candidate, &tree, by_key);
			if (met == candidate) {
				met->first = value.is_null ? -1 : (int64_t)value.integer;
				all[n_known++] = met;
			} else {
				free(candidate);
			}
			met->sum += value.is_null ? 0 : (int64_t)value.integer;
			met->n += !value.is_null;
		}
	}
	for (int64_t g = 0; g < n_known; g++) {
		char text[500];
		snprintf(text, sizeof text, "%s%ld|%ld|", all[g]->key, (long)(all[g]->sum * 1000 + all[g]->n),
		         (long)all[g]->first);
		lines_add(to, text);
		tdelete(all[g], &tree, by_key);
		free(all[g]);
	}
}

static void compare(int n_workers, int64_t batch_rows, bool force_spill, bool maintain_order, int n_keys,
                    int64_t domain, int64_t n_rows)
{
	const nk_dtype *dtypes[4] = {nk_dtype_of(NK_TYPE_INT64), nk_dtype_of(NK_TYPE_STRING),
	                             nk_dtype_of(NK_TYPE_FLOAT64)};
	dtypes[n_keys] = nk_dtype_of(NK_TYPE_INT64);
	int64_t domains[4] = {domain, domain, 3, 1000};
	domains[n_keys] = 1000;
	input from;
	input_make(&from, memory, dtypes, domains, n_keys + 1, n_rows, batch_rows, 5, random_below(2));
	nk_exec exec = exec_make(memory, pool, n_workers, batch_rows, force_spill);
	nk_func func = {.name = "test"};
	nk_bound sum = {.dtype = dtypes[n_keys], .func = &func, .aggregate = &sum_aggregate, .n_args = 1};
	nk_bound first = {.dtype = dtypes[n_keys], .func = &func, .aggregate = &first_aggregate, .n_args = 1};
	nk_bound *calls[] = {&sum, &first};
	const int argument[] = {n_keys}, *arguments[] = {argument, argument};
	nk_aggregate_config config = {.n_outputs = n_keys + 1,
	                              .n_keys = n_keys,
	                              .key_dtypes = dtypes,
	                              .n_calls = 2,
	                              .calls = calls,
	                              .arguments = arguments,
	                              .maintain_order = maintain_order,
	                              .order_sensitive = true};
	nk_counters counters = {0};
	nk_aggregation *aggregation;
	lines result = {0}, expected = {0};
	must(nk_aggregation_new(&exec, &config, &counters, &aggregation, NULL));
	must(exec_feed(&exec, &from, nk_aggregation_sink(aggregation), NULL));
	must(exec_read(&exec, nk_aggregation_stream(aggregation), &result, NULL));
	reference(&from, n_keys, &expected);
	EXPECT(lines_equal(&result, &expected, maintain_order));
	if (force_spill && n_keys && n_rows)
		EXPECT(counters.n_bytes_spilled > 0);
	lines_free(&result), lines_free(&expected);
	nk_aggregation_free(aggregation);
	input_free(&from);
	nk_task_group_free(exec.tasks);
}

static void nothing_comes(void)
{
	nk_exec exec = exec_make(memory, pool, 2, 100, false);
	const nk_dtype *dtype = nk_dtype_of(NK_TYPE_INT64);
	nk_func func = {.name = "test"};
	nk_bound sum = {.dtype = dtype, .func = &func, .aggregate = &sum_aggregate, .n_args = 1},
			 *calls[] = {&sum};
	for (int n_keys = 0; n_keys < 2; n_keys++) {
		const int argument[] = {n_keys}, *arguments[] = {argument};
		nk_aggregate_config config = {.n_outputs = n_keys + 1,
		                              .n_keys = n_keys,
		                              .key_dtypes = &dtype,
		                              .n_calls = 1,
		                              .calls = calls,
		                              .arguments = arguments};
		nk_aggregation *aggregation;
		lines result = {0};
		input none = {.n = 0};
		must(nk_aggregation_new(&exec, &config, NULL, &aggregation, NULL));
		must(exec_feed(&exec, &none, nk_aggregation_sink(aggregation), NULL));
		must(exec_read(&exec, nk_aggregation_stream(aggregation), &result, NULL));
		EXPECT(result.n == 1 - n_keys);
		lines_free(&result);
		nk_aggregation_free(aggregation);
	}
	nk_task_group_free(exec.tasks);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	pool = nk_pool_new(3);
	for (int spill = 0; spill < 2; spill++)
		for (int order = 0; order < 2; order++)
			for (int workers = 1; workers <= 3; workers += 2)
				for (int n_keys = 0; n_keys <= 3; n_keys++) {
					compare(workers, 1, spill, order, n_keys, 20, 300);
					compare(workers, 3, spill, order, n_keys, 5, 1000);
					compare(workers, 1000, spill, order, n_keys, 700, 30000);
				}
	/* Local tables overflow: rows are passed on, groups flushed and merged. */
	for (int order = 0; order < 2; order++)
		for (int workers = 1; workers <= 3; workers += 2)
			compare(workers, 8000, false, order, 3, 300000, 180000);
	nothing_comes();
	nk_pool_free(pool);
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
