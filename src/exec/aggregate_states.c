/* States lie in one array per aggregate, so that an update touches one cache line per group and call, and a table
 * bounded to the L2 keeps them there. For setting aside they are cut into 64-bit columns: a batch like any other,
 * which partitions, spills and comes back without anything knowing what the words mean. */
#include "exec/aggregate_internal.h"

static int64_t state_size(const nk__states *states, int call)
{
	return states->config->calls[call]->aggregate->state_size;
}

nk_status nk__states_init(nk__states *states, const nk_exec *exec, const nk_aggregate_config *config,
                          const nk_call *calls, int64_t n_groups_hint, nk_error *err)
{
	*states = (nk__states){.exec = exec, .config = config, .calls = calls};
	nk_memory *memory = exec->memory;
	states->arena = nk_arena_new(memory);
	if (!states->arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for the states of an aggregation");
	NK_TRY(
		nk_alloc(memory, config->n_calls * (int64_t)sizeof *states->states, (void **)&states->states, err));
	memset(states->states, 0, sizeof *states->states * (size_t)config->n_calls);
	if (config->n_keys == 0)
		return nk__states_reserve(states, 1, err);
	return nk_group_table_new(memory, config->key_dtypes, config->n_keys, n_groups_hint, &states->table, err);
}

void nk__states_release(nk__states *states)
{
	if (!states->exec)
		return;
	nk_memory *memory = states->exec->memory;
	int n_calls = states->config->n_calls;
	for (int c = 0; c < n_calls && states->states; c++)
		nk_free(memory, states->states[c], states->capacity * state_size(states, c));
	nk_free(memory, states->states, n_calls * (int64_t)sizeof *states->states);
	nk_free(memory, states->orders, states->capacity * 8);
	nk_free(memory, states->groups, states->groups_capacity * 4);
	nk_free(memory, states->others, states->others_capacity);
	nk_group_table_free(states->table);
	nk_arena_free(states->arena);
	*states = (nk__states){0};
}

int64_t nk__states_n_groups(const nk__states *states)
{
	return states->table ? nk_group_table_n_groups(states->table) : 1;
}

int64_t nk__states_bytes_per_group(const nk__states *states)
{
	int64_t n_bytes = states->table ? nk_group_table_bytes_per_group(states->table) : 0;
	for (int c = 0; c < states->config->n_calls; c++)
		n_bytes += state_size(states, c);
	return n_bytes + (states->config->maintain_order ? 8 : 0);
}

void nk__states_clear(nk__states *states)
{
	for (int c = 0; c < states->config->n_calls; c++)
		memset(states->states[c], 0, (size_t)(states->n_used * state_size(states, c)));
	if (states->orders)
		memset(states->orders, 0x7f, (size_t)states->n_used * 8);
	states->n_used = 0;
	if (states->table)
		nk_group_table_clear(states->table);
}

/* All arrays grow together: the ones that grew before a refusal shrink back, so that one capacity describes all. */
static nk_status grow(nk__states *states, int64_t capacity, nk_error *err)
{
	nk_memory *memory = states->exec->memory;
	int64_t old = states->capacity;
	nk_status status = NK_OK;
	int c = 0;
	for (; c < states->config->n_calls; c++) {
		int64_t size = state_size(states, c);
		status = nk_realloc(memory, &states->states[c], old * size, capacity * size, err);
		if (status != NK_OK)
			break;
		memset((char *)states->states[c] + old * size, 0, (size_t)((capacity - old) * size));
	}
	if (status == NK_OK && states->config->maintain_order) {
		status = nk_realloc(memory, (void **)&states->orders, old * 8, capacity * 8, err);
		if (status == NK_OK)
			memset(states->orders + old, 0x7f, (size_t)(capacity - old) * 8);
	}
	if (status == NK_OK) {
		states->capacity = capacity;
		return NK_OK;
	}
	while (c-- > 0) {
		int64_t size = state_size(states, c);
		if (nk_realloc(memory, &states->states[c], capacity * size, old * size, NULL) != NK_OK) {
			/* Not even a smaller block: account for it as the smaller one, which is freed as such. */
			nk_memory_release(memory, (capacity - old) * size);
		}
	}
	return status;
}

nk_status nk__states_reserve(nk__states *states, int64_t n, nk_error *err)
{
	int64_t n_wanted = states->table ? nk_group_table_n_groups(states->table) + n : 1;
	if (n_wanted > states->capacity)
		NK_TRY(grow(states, NK_MAX(n_wanted, states->table ? states->capacity * 2 : 1), err));
	return states->table ? nk_group_table_reserve(states->table, n, err) : NK_OK;
}

/* Orders of first rows, for groups that rows of this batch belong to. */
static void note_orders(nk__states *states, const uint32_t *groups, int64_t n_rows, int64_t order,
                        const int64_t *orders)
{
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t *first = &states->orders[groups[i]], mine = orders ? orders[i] : order + i;
		*first = mine < *first ? mine : *first;
	}
}

static nk_status find_groups(nk__states *states, nk_array *const *keys, int64_t n_rows,
                             const uint32_t **groups, nk_error *err)
{
	*groups = NULL;
	if (!states->table)
		return NK_OK;
	NK_TRY(NK_GROW(states->exec->memory, &states->groups, &states->groups_capacity, n_rows, err));
	NK_TRY(nk__states_reserve(states, n_rows, err));
	nk_status status = nk_group_table_insert(states->table, keys, n_rows, states->groups, err);
	states->n_used = nk_group_table_n_groups(states->table);
	*groups = states->groups;
	return status;
}

nk_status nk__states_update(nk__states *states, nk_array *const *outputs, int64_t n_rows, int64_t order,
                            const int64_t *orders, nk_error *err)
{
	const nk_aggregate_config *config = states->config;
	const uint32_t *groups;
	if (n_rows == 0)
		return NK_OK;
	NK_TRY(find_groups(states, outputs, n_rows, &groups, err));
	if (!states->table)
		states->n_used = 1;
	if (config->maintain_order && groups)
		note_orders(states, groups, n_rows, order, orders);
	for (int c = 0; c < config->n_calls; c++) {
		const nk_bound *bound = config->calls[c];
		nk_array *args[16], *flat[16];
		int n_args = bound->n_args, n_flat = 0;
		if (n_args > NK_COUNT(args))
			return nk_fail(err, NK_INVALID_OPERATION, "%s has more than %d arguments", bound->func->name,
			               NK_COUNT(args));
		nk_status status = NK_OK;
		for (int a = 0; a < n_args && status == NK_OK; a++) {
			args[a] = outputs[config->arguments[c][a]];
			if (args[a]->encoding == NK_DICTIONARY) {
				status = nk_array_flatten(states->exec->memory, args[a], &flat[n_flat], err);
				if (status == NK_OK)
					args[a] = flat[n_flat++];
			}
		}
		if (status == NK_OK)
			status = bound->aggregate->update(&states->calls[c], states->states[c], groups, args, n_rows,
			                                  order, states->arena, err);
		while (n_flat > 0)
			nk_array_unref(flat[--n_flat]);
		NK_TRY(status);
	}
	return NK_OK;
}

/* ---- As batches ---- */

static int n_state_columns(const nk__states *states)
{
	int n = 0;
	for (int c = 0; c < states->config->n_calls; c++)
		n += (int)(state_size(states, c) / 8);
	return n;
}

static nk_status order_column(const nk__states *states, int64_t first, int64_t n, nk_array **out,
                              nk_error *err)
{
	NK_TRY(nk_array_alloc(states->exec->memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, n, false, out,
	                      err));
	if (n > 0)
		memcpy(nk_array_values(*out), states->orders + first, (size_t)n * 8);
	return NK_OK;
}

nk_status nk__states_to_batch(nk__states *states, int64_t first, int64_t n, nk_batch **out, nk_error *err)
{
	const nk_aggregate_config *config = states->config;
	NK_AUTO(nk_batch) batch = NULL;
	int n_columns = config->n_keys + n_state_columns(states) + config->maintain_order, at = config->n_keys;
	NK_TRY(nk_batch_new(n_columns, n, &batch, err));
	if (states->table)
		NK_TRY(nk_group_table_keys(states->table, first, n, batch->columns, err));
	for (int c = 0; c < config->n_calls; c++) {
		int64_t n_words = state_size(states, c) / 8;
		const uint64_t *words = (const uint64_t *)states->states[c] + first * n_words;
		for (int64_t w = 0; w < n_words; w++, at++) {
			NK_TRY(nk_array_alloc(states->exec->memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, n, false,
			                      &batch->columns[at], err));
			uint64_t *values = nk_array_values(batch->columns[at]);
			for (int64_t i = 0; i < n; i++)
				values[i] = words[i * n_words + w];
		}
	}
	if (config->maintain_order)
		NK_TRY(order_column(states, first, n, &batch->columns[at], err));
	*out = NK_STEAL(batch);
	return NK_OK;
}

nk_status nk__states_merge(nk__states *states, const nk_batch *batch, nk_error *err)
{
	const nk_aggregate_config *config = states->config;
	int64_t n = batch->n_rows;
	const uint32_t *groups;
	if (n == 0)
		return NK_OK;
	NK_TRY(find_groups(states, batch->columns, n, &groups, err));
	if (!states->table)
		states->n_used = 1;
	int at = config->n_keys;
	for (int c = 0; c < config->n_calls; c++) {
		int64_t n_words = state_size(states, c) / 8, n_bytes = n * n_words * 8;
		if (n_bytes > states->others_capacity) {
			nk_free(states->exec->memory, states->others, states->others_capacity);
			states->others = NULL;
			states->others_capacity = 0;
			NK_TRY(nk_alloc(states->exec->memory, n_bytes, &states->others, err));
			states->others_capacity = n_bytes;
		}
		uint64_t *words = states->others;
		for (int64_t w = 0; w < n_words; w++, at++) {
			const uint64_t *values = batch->columns[at]->values;
			for (int64_t i = 0; i < n; i++)
				words[i * n_words + w] = values[i];
		}
		NK_TRY(config->calls[c]->aggregate->merge(&states->calls[c], states->states[c], groups, words, n,
		                                          states->arena, err));
	}
	if (config->maintain_order && groups)
		note_orders(states, groups, n, 0, batch->columns[at]->values);
	return NK_OK;
}

nk_status nk__states_finish(nk__states *states, int64_t first, int64_t n, nk_batch **out, nk_error *err)
{
	const nk_aggregate_config *config = states->config;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(config->n_keys + config->n_calls + config->maintain_order, n, &batch, err));
	if (states->table)
		NK_TRY(nk_group_table_keys(states->table, first, n, batch->columns, err));
	for (int c = 0; c < config->n_calls; c++)
		NK_TRY(config->calls[c]->aggregate->finish(&states->calls[c],
		                                           (char *)states->states[c] + first * state_size(states, c),
		                                           n, &batch->columns[config->n_keys + c], err));
	if (config->maintain_order)
		NK_TRY(order_column(states, first, n, &batch->columns[config->n_keys + config->n_calls], err));
	*out = NK_STEAL(batch);
	return NK_OK;
}
