/* The rows behind the results are found once a batch, and every other column is gathered by them. */
#include "exec/explode.h"

#include <stdlib.h>

#include "compute/select.h"

typedef struct explode_step {
	nk_receiver receiver;
	const nk_exec *exec;
	nk_explode_config config;
} explode_step;

static void explode_free(nk_receiver *receiver) { free(receiver); }

/* How many rows each row becomes: the same for all lists. */
static nk_status counts_of(nk_memory *memory, const nk_explode_config *config, const nk_batch *batch,
                           nk_buffer **out, nk_error *err)
{
	NK_AUTO(nk_buffer) counts = NULL;
	NK_TRY(nk_explode_counts(memory, batch->columns[config->lists[0]], config->mode, &counts, err));
	for (int i = 1; i < config->n_lists; i++) {
		NK_AUTO(nk_buffer) others = NULL;
		NK_TRY(nk_explode_counts(memory, batch->columns[config->lists[i]], config->mode, &others, err));
		if (memcmp(counts->bytes, others->bytes, (size_t)batch->n_rows * sizeof(int64_t)) != 0)
			return nk_fail(err, NK_SHAPE, "exploded columns must have matching element counts");
	}
	*out = NK_STEAL(counts);
	return NK_OK;
}

static nk_status explode_push(nk_receiver *receiver, int worker, nk_batch *incoming, nk_error *err)
{
	explode_step *self = (explode_step *)receiver;
	const nk_explode_config *config = &self->config;
	nk_memory *memory = self->exec->memory;
	NK_AUTO(nk_batch) batch = incoming;
	NK_AUTO(nk_batch) result = NULL;
	NK_AUTO(nk_buffer) counts = NULL, *rows = NULL;
	int64_t n_rows;
	NK_TRY(counts_of(memory, config, batch, &counts, err));
	NK_TRY(
		nk_explode_rows(memory, (const int64_t *)(void *)counts->bytes, batch->n_rows, &rows, &n_rows, err));
	if (n_rows == 0)
		return NK_OK;
	NK_TRY(nk_batch_new(config->n_outputs, n_rows, &result, err));
	result->morsel = batch->morsel;
	result->number = batch->number;
	for (int i = 0; i < config->n_outputs; i++) {
		nk_array *column = batch->columns[config->positions[i]];
		if (config->is_list[i])
			NK_TRY(nk_explode_array(memory, column, config->mode, &result->columns[i], err));
		else
			NK_TRY(nk_array_take(memory, column, (const uint32_t *)(void *)rows->bytes, n_rows,
			                     &result->columns[i], err));
	}
	return nk_push(receiver->next, worker, NK_STEAL(result), err);
}

static const nk_receiver_ops explode_ops = {.push = explode_push, .free = explode_free};

nk_status nk_explode_step_new(const nk_exec *exec, const nk_explode_config *config, nk_counters *counters,
                              nk_receiver **out, nk_error *err)
{
	explode_step *self = calloc(1, sizeof *self);
	if (!self)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a pipeline step");
	*self = (explode_step){
		.receiver = {.ops = &explode_ops, .counters = counters}, .exec = exec, .config = *config};
	*out = &self->receiver;
	return NK_OK;
}
