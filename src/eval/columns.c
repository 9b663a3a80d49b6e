/* The column evaluator: every expression over whole columns, for contexts that are not row by row. Results of
 * length one meet longer ones by broadcasting, as everywhere inside one expression. */
#include <stdlib.h>
#include <string.h>

#include "eval/program_internal.h"

static nk_status aggregate_rows(const nk_bound *call, nk_memory *memory, nk_array *const *args,
                                int64_t n_rows, nk_array **out, nk_error *err)
{
	const nk_aggregate *aggregate = call->aggregate;
	nk_call context = {.func = call->func,
	                   .dtype = call->dtype,
	                   .options = call->options,
	                   .data = call->data,
	                   .memory = memory};
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an aggregate");
	void *state;
	NK_TRY(nk_arena_alloc(arena, aggregate->state_size, &state, err));
	if (n_rows > 0)
		NK_TRY(aggregate->update(&context, state, NULL, args, n_rows, 0, arena, err));
	return aggregate->finish(&context, state, 1, out, err);
}

nk_status nk_eval_column_call(const nk_bound *call, nk_memory *memory, const nk_parallel *parallel,
                              nk_array *const *args, int64_t n_rows, nk_array **out, nk_error *err)
{
	nk_call context = {.func = call->func,
	                   .dtype = call->dtype,
	                   .options = call->options,
	                   .data = call->data,
	                   .memory = memory,
	                   .parallel = parallel};
	if (call->kernel)
		return call->kernel(&context, args, n_rows, out, err);
	if (call->aggregate)
		return aggregate_rows(call, memory, args, n_rows, out, err);
	int64_t offsets[2] = {0, n_rows};
	return call->segmented(&context, args, 1, offsets, out, err);
}

/* Arguments brought to one length: constants for those of length one. */
static nk_status align(const nk_bound *call, nk_memory *memory, nk_array **args, int64_t n_frame,
                       int64_t *n_rows, nk_error *err)
{
	int64_t n = -1;
	for (int i = 0; i < call->n_args; i++)
		if (call->args[i]->shape != NK_SHAPE_SCALAR &&
		    !(args[i]->n_rows == 1 && call->args[i]->shape == NK_SHAPE_ANY))
			n = n < 0 ? args[i]->n_rows : n;
	if (n < 0)
		n = call->n_args ? 1 : n_frame;
	for (int i = 0; i < call->n_args; i++) {
		if (args[i]->n_rows == n)
			continue;
		if (args[i]->n_rows != 1)
			return nk_fail(
				err, NK_SHAPE,
				"arguments of `%s` have lengths %lld and %lld; they must be equal, or one of them 1",
				call->func->name, (long long)n, (long long)args[i]->n_rows);
		nk_array *constant;
		NK_TRY(nk_array_new_constant(memory, args[i], n, &constant, err));
		nk_array_unref(args[i]);
		args[i] = constant;
	}
	*n_rows = n;
	return NK_OK;
}

static nk_status run_call(const nk_bound *call, nk_memory *memory, const nk_parallel *parallel,
                          nk_array **args, int64_t n_frame, nk_array **out, nk_error *err)
{
	int64_t n_rows = call->n_args ? args[0]->n_rows : n_frame;
	if (!call->func->unaligned)
		NK_TRY(align(call, memory, args, n_frame, &n_rows, err));
	if (call->func->height == NK_ELEMENTWISE)
		return nk_eval_call(call, memory, args, n_rows, out, err);
	for (int i = 0; i < call->n_args; i++)
		if (args[i]->encoding == NK_DICTIONARY) {
			nk_array *flat;
			NK_TRY(nk_array_flatten(memory, args[i], &flat, err));
			nk_array_unref(args[i]);
			args[i] = flat;
		}
	return nk_eval_column_call(call, memory, parallel, args, n_rows, out, err);
}

/* An argument of a window: n_rows rows. */
static nk_status row_aligned(nk_memory *memory, nk_array **array, const nk_bound *node, int64_t n_rows,
                             nk_error *err)
{
	if ((*array)->n_rows == n_rows && node->shape == NK_SHAPE_ROWS)
		return NK_OK;
	if ((*array)->n_rows != 1 && (*array)->n_rows != n_rows)
		return nk_fail(err, NK_SHAPE, "the keys or the order of a window have length %lld, its rows %lld",
		               (long long)(*array)->n_rows, (long long)n_rows);
	if ((*array)->n_rows == n_rows && node->shape != NK_SHAPE_SCALAR)
		return NK_OK;
	nk_array *constant;
	NK_TRY(nk_array_new_constant(memory, *array, n_rows, &constant, err));
	nk_array_unref(*array);
	*array = constant;
	return NK_OK;
}

static nk_status run_over(const nk_step *step, nk_memory *memory, nk_array **args, int64_t n_rows,
                          nk_partition **partition, nk_array **out, nk_error *err)
{
	for (int i = 0; i < step->n_args; i++)
		NK_TRY(row_aligned(memory, &args[i], step->deps[i], n_rows, err));
	return nk__over_run(step, memory, args, n_rows, NULL, NULL, partition, out, err);
}

nk_status nk_program_run_columns(const nk_program *program, nk_memory *memory, const nk_parallel *parallel,
                                 nk_array *const *inputs, int64_t n_rows, nk_array **outputs, nk_error *err)
{
	nk_array **values = calloc((size_t)program->n_steps + 1, sizeof *values);
	nk_partition **partitions = calloc((size_t)program->n_partitions + 1, sizeof *partitions);
	nk_status status = values && partitions
	                       ? NK_OK
	                       : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d steps", program->n_steps);
	for (int i = 0; status == NK_OK && i < program->n_steps; i++) {
		const nk_step *step = &program->steps[i];
		const nk_bound *node = step->node;
		if (step->slot >= 0) {
			values[i] = nk_array_ref(inputs[step->slot]);
		} else if (node->kind != NK_BOUND_CALL && node->kind != NK_BOUND_OVER) {
			values[i] = nk_array_ref(node->array);
		} else {
			nk_array **args = calloc((size_t)step->n_args + 1, sizeof *args);
			if (!args) {
				status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d arguments", step->n_args);
				break;
			}
			for (int a = 0; a < step->n_args; a++)
				args[a] = nk_array_ref(values[step->args[a]]);
			if (step->over) {
				nk_partition **partition = &partitions[step->over->partition];
				status = run_over(step, memory, args, n_rows, partition, &values[i], err);
				if (program->partition_last_use[step->over->partition] == i) {
					nk__partition_free(*partition);
					*partition = NULL;
				}
			} else {
				status = run_call(node, memory, parallel, args, n_rows, &values[i], err);
			}
			for (int a = 0; a < step->n_args; a++) {
				nk_array_unref(args[a]);
				if (program->steps[step->args[a]].last_use == i) {
					nk_array_unref(values[step->args[a]]);
					values[step->args[a]] = NULL;
				}
			}
			free(args);
		}
	}
	for (int o = 0; status == NK_OK && o < program->n_outputs; o++)
		outputs[o] = nk_array_ref(values[program->outputs[o]]);
	for (int i = 0; values && i < program->n_steps; i++)
		nk_array_unref(values[i]);
	for (int i = 0; partitions && i < program->n_partitions; i++)
		nk__partition_free(partitions[i]);
	free(partitions);
	free(values);
	return status;
}

nk_bound *const *nk_program_keys(const nk_program *program, int *n_keys)
{
	const nk_bound *first = NULL;
	*n_keys = 0;
	for (int i = 0; i < program->n_steps; i++) {
		const nk_bound *node = program->steps[i].node;
		if (program->steps[i].slot >= 0 || (node->kind == NK_BOUND_LITERAL))
			continue;
		if (node->kind == NK_BOUND_CALL && node->func->height == NK_ELEMENTWISE)
			continue;
		if (node->kind != NK_BOUND_OVER || node->over.mapping == NK_MAP_EXPLODE || node->over.n_keys == 0)
			return NULL;
		if (!first)
			first = node;
		if (node->over.n_keys != first->over.n_keys)
			return NULL;
		for (int k = 1; k <= node->over.n_keys; k++)
			if (node->args[k] != first->args[k])
				return NULL;
	}
	if (!first)
		return NULL;
	*n_keys = first->over.n_keys;
	return first->args + 1;
}
