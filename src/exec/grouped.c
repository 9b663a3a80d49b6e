/* Group layout by counting sort: groups are numbered by first appearance, rows are placed group after group in one
 * stable pass, the columns are gathered once, and the program sees plain arrays with offsets. */
#include "exec/grouped.h"

#include "compute/select.h"
#include "exec/keyed_rows.h"

struct nk_grouped {
	nk__keyed_rows keyed; /* first: the sink is its sink */
	nk_grouped_config config;
	int *keys; /* 0, 1, ... */
};

static nk_status push(nk_receiver *sink, int number, nk_batch *given, nk_error *err)
{
	nk_grouped *grouped = (nk_grouped *)sink;
	const nk_grouped_config *config = &grouped->config;
	NK_AUTO(nk_batch) batch = given;
	if (!config->program || batch->n_rows == 0)
		return nk__keyed_rows_add(&grouped->keyed, number, NK_STEAL(batch), err);
	NK_AUTO(nk_batch) computed = NULL;
	NK_TRY(nk_batch_new(config->n_outputs, batch->n_rows, &computed, err));
	computed->morsel = batch->morsel;
	computed->number = batch->number;
	NK_TRY(nk_program_run(config->program, grouped->keyed.exec->memory, batch->columns, batch->n_rows,
	                      computed->columns, err));
	return nk__keyed_rows_add(&grouped->keyed, number, NK_STEAL(computed), err);
}

/* offsets: n_groups + 1; layout: the rows of group 0, of group 1, ... */
static void lay_out(const uint32_t *groups, int64_t n_rows, int64_t n_groups, int64_t *offsets,
                    uint32_t *layout)
{
	memset(offsets, 0, (size_t)(n_groups + 1) * 8);
	for (int64_t i = 0; i < n_rows; i++)
		offsets[groups[i] + 1]++;
	for (int64_t g = 0; g < n_groups; g++)
		offsets[g + 1] += offsets[g];
	for (int64_t i = 0; i < n_rows; i++)
		layout[offsets[groups[i]]++] = (uint32_t)i;
	for (int64_t g = n_groups; g > 0; g--)
		offsets[g] = offsets[g - 1];
	offsets[0] = 0;
}

static nk_status first_orders(nk_memory *memory, const nk_array *orders, const uint32_t *layout,
                              const int64_t *offsets, int64_t n_groups, nk_array **out, nk_error *err)
{
	NK_TRY(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, n_groups, false, out, err));
	int64_t *first = nk_array_values(*out);
	for (int64_t g = 0; g < n_groups; g++)
		first[g] = ((const int64_t *)orders->values)[layout[offsets[g]]];
	return NK_OK;
}

static nk_status make(const nk__keyed_rows *keyed, const nk_batch *rows, bool with_order, nk_batch **out,
                      nk_error *err)
{
	const nk_grouped *grouped = keyed->owner;
	const nk_grouped_config *config = &grouped->config;
	nk_memory *memory = keyed->exec->memory;
	int64_t n_rows = rows->n_rows;
	int n_inputs = config->n_outputs - config->n_keys;
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) groups = NULL, *layout = NULL, *offsets = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows * 4, &groups, err));
	NK_TRY(nk_buffer_new(memory, n_rows * 4, &layout, err));
	NK_TRY(nk__keyed_rows_group(keyed, rows, &table, (uint32_t *)groups->bytes, err));
	int64_t n_groups = nk_group_table_n_groups(table);
	NK_TRY(nk_buffer_new(memory, (n_groups + 1) * 8, &offsets, err));
	lay_out((const uint32_t *)groups->bytes, n_rows, n_groups, (int64_t *)offsets->bytes,
	        (uint32_t *)layout->bytes);

	NK_AUTO(nk_batch) result = NULL, *inputs = NULL;
	NK_TRY(nk_batch_new(config->n_keys + config->n_results + with_order, n_groups, &result, err));
	NK_TRY(nk_group_table_keys(table, 0, n_groups, result->columns, err));
	if (config->groups) {
		NK_TRY(nk_batch_new(n_inputs, n_rows, &inputs, err));
		for (int i = 0; i < n_inputs; i++)
			NK_TRY(nk_array_take(memory, rows->columns[config->n_keys + i], (const uint32_t *)layout->bytes,
			                     n_rows, &inputs->columns[i], err));
		NK_TRY(nk_program_run_groups(config->groups, memory, inputs->columns, n_rows,
		                             (const int64_t *)offsets->bytes, n_groups,
		                             result->columns + config->n_keys, err));
	}
	if (with_order)
		NK_TRY(first_orders(memory, rows->columns[keyed->n_columns], (const uint32_t *)layout->bytes,
		                    (const int64_t *)offsets->bytes, n_groups,
		                    &result->columns[config->n_keys + config->n_results], err));
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_receiver_ops sink_ops = {.push = push,
                                         .flush = nk__keyed_rows_flush,
                                         .finish = nk__keyed_rows_finish,
                                         .free = nk__keyed_rows_sink_free};

nk_status nk_grouped_new(const nk_exec *exec, const nk_grouped_config *config, nk_counters *counters,
                         nk_grouped **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, sizeof(nk_grouped), &block, err));
	nk_grouped *grouped = block;
	*grouped = (nk_grouped){.config = *config};
	grouped->keyed.exec = exec;
	nk_status status =
		nk_alloc(exec->memory, config->n_keys * (int64_t)sizeof(int), (void **)&grouped->keys, err);
	for (int k = 0; k < config->n_keys && status == NK_OK; k++)
		grouped->keys[k] = k;
	if (status == NK_OK)
		status =
			nk__keyed_rows_init(&grouped->keyed, exec, counters, config->dtypes, config->n_outputs,
		                        grouped->keys, config->n_keys, config->maintain_order, make, grouped, err);
	if (status != NK_OK) {
		nk_free(exec->memory, grouped->keys, config->n_keys * (int64_t)sizeof(int));
		nk__keyed_rows_release(&grouped->keyed);
		nk_free(exec->memory, grouped, sizeof *grouped);
		return status;
	}
	grouped->keyed.n_results = config->n_keys + config->n_results;
	grouped->keyed.sink = (nk_receiver){.ops = &sink_ops, .counters = counters};
	*out = grouped;
	return NK_OK;
}

void nk_grouped_free(nk_grouped *grouped)
{
	if (!grouped)
		return;
	nk_memory *memory = grouped->keyed.exec->memory;
	nk__keyed_rows_release(&grouped->keyed);
	nk_free(memory, grouped->keys, grouped->config.n_keys * (int64_t)sizeof(int));
	nk_free(memory, grouped, sizeof *grouped);
}

nk_receiver *nk_grouped_sink(nk_grouped *grouped) { return &grouped->keyed.sink; }
nk_stream *nk_grouped_stream(nk_grouped *grouped) { return &grouped->keyed.stream; }
