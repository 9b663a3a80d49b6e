/* A filter evaluates its mask on all columns of a batch and gathers only those that go on. */
#include "exec/steps.h"

#include <stdlib.h>

#include "compute/select.h"

typedef struct step {
	nk_receiver receiver;
	const nk_exec *exec;
	nk_program *program;
	const int *positions;
	int n_outputs;
} step;

static void step_free(nk_receiver *receiver)
{
	step *self = (step *)receiver;
	nk_program_free(self->program);
	free(self);
}

static nk_status filter_push(nk_receiver *receiver, int worker, nk_batch *incoming, nk_error *err)
{
	step *self = (step *)receiver;
	NK_AUTO(nk_batch) batch = incoming;
	NK_AUTO(nk_array) mask = NULL;
	NK_TRY(nk_program_run(self->program, self->exec->memory, batch->columns, batch->n_rows, &mask, err));
	NK_AUTO(nk_batch) chosen = NULL;
	nk_batch *kept;
	NK_TRY(nk_batch_new(self->n_outputs, batch->n_rows, &chosen, err));
	chosen->morsel = batch->morsel;
	chosen->number = batch->number;
	for (int i = 0; i < self->n_outputs; i++)
		chosen->columns[i] = nk_array_ref(batch->columns[self->positions[i]]);
	if (mask->encoding == NK_DICTIONARY) {
		nk_array *flat;
		NK_TRY(nk_array_flatten(self->exec->memory, mask, &flat, err));
		nk_array_unref(mask);
		mask = flat;
	}
	NK_TRY(nk_batch_filter(self->exec->memory, chosen, mask, &kept, err));
	if (kept->n_rows == 0) {
		nk_batch_free(kept);
		return NK_OK;
	}
	return nk_push(receiver->next, worker, kept, err);
}

static nk_status project_push(nk_receiver *receiver, int worker, nk_batch *incoming, nk_error *err)
{
	step *self = (step *)receiver;
	NK_AUTO(nk_batch) batch = incoming;
	NK_AUTO(nk_batch) result = NULL;
	NK_TRY(nk_batch_new(self->n_outputs, batch->n_rows, &result, err));
	result->morsel = batch->morsel;
	result->number = batch->number;
	NK_TRY(nk_program_run(self->program, self->exec->memory, batch->columns, batch->n_rows, result->columns,
	                      err));
	return nk_push(receiver->next, worker, NK_STEAL(result), err);
}

static const nk_receiver_ops filter_ops = {.push = filter_push, .free = step_free};
static const nk_receiver_ops project_ops = {.push = project_push, .free = step_free};

static nk_status step_new(const nk_receiver_ops *ops, const nk_exec *exec, nk_program *program,
                          const int *positions, int n_outputs, nk_counters *counters, nk_receiver **out,
                          nk_error *err)
{
	step *self = calloc(1, sizeof *self);
	if (!self) {
		nk_program_free(program);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a pipeline step");
	}
	*self = (step){.receiver = {.ops = ops, .counters = counters},
	               .exec = exec,
	               .program = program,
	               .positions = positions,
	               .n_outputs = n_outputs};
	*out = &self->receiver;
	return NK_OK;
}

nk_status nk_filter_step_new(const nk_exec *exec, nk_program *program, const int *positions, int n_positions,
                             nk_counters *counters, nk_receiver **out, nk_error *err)
{
	return step_new(&filter_ops, exec, program, positions, n_positions, counters, out, err);
}

nk_status nk_project_step_new(const nk_exec *exec, nk_program *program, int n_outputs, nk_counters *counters,
                              nk_receiver **out, nk_error *err)
{
	return step_new(&project_ops, exec, program, NULL, n_outputs, counters, out, err);
}
