/* The columns of the first conjunct are decoded and tested, then those of the next for the rows that are left, then runtime
 * filters, and at last the remaining columns for the rows that passed everything. */
#include "io/sieve.h"

#include "compute/select.h"

/* ---- What is needed ---- */

/* The place of a column among those needed, added if it is new. */
static int want(nk_sieve *sieve, int column, int test)
{
	int place = 0;
	while (place < sieve->n_columns && sieve->columns[place].column != column)
		place++;
	if (place == sieve->n_columns)
		sieve->columns[sieve->n_columns++] = (nk_sieve_column){.column = column, .last_test = -1};
	if (test < 0)
		sieve->columns[place].is_output = true;
	else
		sieve->columns[place].last_test = test;
	return place;
}

nk_status nk__sieve_init(nk_sieve *sieve, nk_arena *arena, const nk_scan_request *request, nk_error *err)
{
	int64_t n_inputs = 0;
	*sieve = (nk_sieve){.request = request, .n_inputs_max = 1};
	for (int i = 0; i < request->n_conjuncts; i++) {
		n_inputs += request->conjuncts[i].n_columns;
		sieve->n_inputs_max = NK_MAX(sieve->n_inputs_max, request->conjuncts[i].n_columns);
	}
	int64_t n_most = n_inputs + request->n_columns + request->n_filters;
	NK_TRY(NK_ARENA_NEW(arena, &sieve->columns, NK_MAX(n_most, 1), err));
	NK_TRY(NK_ARENA_NEW(arena, &sieve->inputs, NK_MAX(n_inputs, 1), err));
	NK_TRY(NK_ARENA_NEW(arena, &sieve->outputs, NK_MAX(request->n_columns, 1), err));
	NK_TRY(NK_ARENA_NEW(arena, &sieve->filters, NK_MAX(request->n_filters, 1), err));
	int *input = sieve->inputs;
	for (int i = 0; i < request->n_conjuncts; i++)
		for (int k = 0; k < request->conjuncts[i].n_columns; k++)
			*input++ = want(sieve, request->conjuncts[i].columns[k], i);
	for (int i = 0; i < request->n_filters; i++)
		sieve->filters[i] = want(sieve, request->filters[i].column, request->n_conjuncts + i);
	for (int i = 0; i < request->n_columns; i++)
		sieve->outputs[i] = want(sieve, request->columns[i], -1);
	return NK_OK;
}

nk_status nk__sieve_state_init(nk_sieve_state *state, const nk_sieve *sieve, nk_arena *arena, nk_error *err)
{
	enum { SLOP = 16 }; /* which choosing rows may write behind the last */
	int64_t n_rows = sieve->request->batch_rows + SLOP;
	*state = (nk_sieve_state){0};
	NK_TRY(NK_ARENA_NEW(arena, &state->arrays, NK_MAX(sieve->n_columns, 1), err));
	NK_TRY(NK_ARENA_NEW(arena, &state->inputs, sieve->n_inputs_max, err));
	NK_TRY(NK_ARENA_NEW(arena, &state->selected, n_rows, err));
	return NK_ARENA_NEW(arena, &state->chosen, n_rows, err);
}

void nk__sieve_state_release(nk_sieve_state *state, const nk_sieve *sieve)
{
	for (int i = 0; state->arrays && i < sieve->n_columns; i++) {
		nk_array_unref(state->arrays[i]);
		state->arrays[i] = NULL;
	}
}

/* ---- Rows ---- */

typedef struct job {
	const nk_sieve *sieve;
	nk_sieve_state *state;
	nk_sieve_decode decode;
	void *scan, *worker;
} job;

static nk_status need(const job *j, int place, nk_array **out, nk_error *err)
{
	nk_array **array = &j->state->arrays[place];
	if (!*array)
		NK_TRY(j->decode(j->scan, j->worker, j->state, place, array, err));
	*out = *array;
	return NK_OK;
}

/* Keep only the chosen ones of the selected rows. Arrays that nothing after `test` needs are dropped. */
static nk_status narrow(const job *j, int test, int64_t n_chosen, nk_error *err)
{
	nk_sieve_state *state = j->state;
	bool is_same = n_chosen == state->n_selected;
	for (int i = 0; i < j->sieve->n_columns; i++) {
		NK_AUTO(nk_array) array = state->arrays[i];
		const nk_sieve_column *about = &j->sieve->columns[i];
		state->arrays[i] = NULL;
		if (!array || n_chosen == 0 || (!about->is_output && about->last_test <= test))
			continue;
		if (is_same)
			state->arrays[i] = NK_STEAL(array);
		else
			NK_TRY(nk_array_take(j->sieve->request->memory, array, state->chosen, n_chosen, &state->arrays[i],
			                     err));
	}
	if (is_same)
		return NK_OK;
	for (int64_t i = 0; i < n_chosen; i++)
		state->selected[i] = state->is_dense ? state->chosen[i] : state->selected[state->chosen[i]];
	state->is_dense = false;
	state->n_selected = n_chosen;
	return NK_OK;
}

static nk_status test_conjunct(const job *j, int number, const int *inputs, nk_error *err)
{
	const nk_scan_request *request = j->sieve->request;
	const nk_scan_conjunct *conjunct = &request->conjuncts[number];
	nk_sieve_state *state = j->state;
	for (int k = 0; k < conjunct->n_columns; k++)
		NK_TRY(need(j, inputs[k], &state->inputs[k], err));
	int64_t ns_start = nk_now_ns(), n_chosen;
	NK_AUTO(nk_array) mask = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_program_run(conjunct->program, request->memory, state->inputs, state->n_selected, &mask, err));
	if (mask->encoding == NK_DICTIONARY)
		NK_TRY(nk_array_flatten(request->memory, mask, &flat, err));
	nk_select_rows(flat ? flat : mask, state->n_selected, state->chosen, &n_chosen);
	NK_TRY(narrow(j, number, n_chosen, err));
	nk_count(&request->counters->ns_filter, nk_now_ns() - ns_start);
	return NK_OK;
}

static nk_status test_filter(const job *j, int number, nk_error *err)
{
	const nk_scan_request *request = j->sieve->request;
	nk_runtime_filter *filter = request->filters[number].filter;
	nk_array *array;
	if (!nk_runtime_filter_is_ready(filter))
		return NK_OK;
	NK_TRY(need(j, j->sieve->filters[number], &array, err));
	int64_t ns_start = nk_now_ns(), n_chosen;
	NK_TRY(nk_runtime_filter_test(filter, request->memory, array, j->state->n_selected, j->state->chosen,
	                              &n_chosen, err));
	NK_TRY(narrow(j, request->n_conjuncts + number, n_chosen, err));
	nk_count(&request->counters->ns_filter, nk_now_ns() - ns_start);
	return NK_OK;
}

static nk_status test_rows(const job *j, nk_error *err)
{
	const nk_scan_request *request = j->sieve->request;
	const int *inputs = j->sieve->inputs;
	for (int i = 0; i < request->n_conjuncts && j->state->n_selected > 0; i++) {
		NK_TRY(test_conjunct(j, i, inputs, err));
		inputs += request->conjuncts[i].n_columns;
	}
	for (int i = 0; i < request->n_filters && j->state->n_selected > 0; i++)
		NK_TRY(test_filter(j, i, err));
	return NK_OK;
}

static nk_status row_index(const job *j, int64_t first_row, nk_array **out, nk_error *err)
{
	const nk_scan_request *request = j->sieve->request;
	const nk_sieve_state *state = j->state;
	int64_t first = request->row_index_offset + first_row, last = first + state->n_rows - 1;
	if (last > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "row index %lld does not fit UInt32", (long long)last);
	NK_TRY(nk_array_alloc(request->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, state->n_selected,
	                      false, out, err));
	uint32_t *values = nk_array_values(*out);
	for (int64_t i = 0; i < state->n_selected; i++)
		values[i] = (uint32_t)(first + (state->is_dense ? i : state->selected[i]));
	return NK_OK;
}

static nk_status make_batch(const job *j, int64_t first_row, nk_batch **out, nk_error *err)
{
	const nk_scan_request *request = j->sieve->request;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(request->n_columns + request->row_index, j->state->n_selected, &batch, err));
	for (int i = 0; i < request->n_columns; i++) {
		nk_array *array;
		NK_TRY(need(j, j->sieve->outputs[i], &array, err));
		batch->columns[i] = nk_array_ref(array);
	}
	if (request->row_index)
		NK_TRY(row_index(j, first_row, &batch->columns[request->n_columns], err));
	nk_count(&request->counters->n_rows_out, batch->n_rows);
	*out = NK_STEAL(batch);
	return NK_OK;
}

nk_status nk__sieve_batch(const nk_sieve *sieve, nk_sieve_state *state, int64_t n_rows, int64_t first_row,
                          nk_sieve_decode decode, void *scan, void *worker, nk_batch **out, nk_error *err)
{
	job j = {.sieve = sieve, .state = state, .decode = decode, .scan = scan, .worker = worker};
	state->n_rows = state->n_selected = n_rows;
	state->is_dense = true;
	*out = NULL;
	nk_count(&sieve->request->counters->n_rows_scanned, n_rows);
	nk_status status = test_rows(&j, err);
	if (status == NK_OK && state->n_selected > 0)
		status = make_batch(&j, first_row, out, err);
	nk__sieve_state_release(state, sieve);
	return status;
}
