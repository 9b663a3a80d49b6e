/* Compilation, and the batch evaluator. Bound nodes are numbered arguments first, so sorting the reachable ones by
 * number is an evaluation order; equal sub-trees are one node already. Intermediate arrays are released after
 * their last use, so that a batch's live data stays small. */
#include "eval/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/watch.h"
#include "compute/select.h"
#include "eval/program_internal.h"
#include "func/apply.h"

static int by_number(const void *a, const void *b)
{
	uint32_t left = ((const nk_step *)a)->node->number, right = ((const nk_step *)b)->node->number;
	return (left > right) - (left < right);
}

static int step_of(const nk_program *program, const nk_bound *node)
{
	int low = 0, high = program->n_steps - 1;
	while (low < high) {
		int middle = (low + high) / 2;
		if (program->steps[middle].node->number < node->number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Steps found so far; each node once. */
typedef struct finding {
	nk_program *program;
	nk_step *found;
	int64_t capacity;
	int n;
	uint8_t *seen;  /* by number */
	uint8_t *input; /* by number: the node is given, not computed */
} finding;

static nk_status find_step(finding *f, nk_bound *node, nk_error *err)
{
	if (nk_bitmap_get(f->seen, node->number))
		return NK_OK;
	nk_bitmap_set(f->seen, node->number);
	NK_TRY(NK_GROW(f->program->memory, &f->found, &f->capacity, f->n + 1, err));
	nk_step *step = &f->found[f->n++];
	*step = (nk_step){.node = node, .slot = -1};
	if (nk_bitmap_get(f->input, node->number))
		return NK_OK;
	if (node->kind == NK_BOUND_OVER) {
		NK_TRY(NK_ARENA_NEW(f->program->arena, &step->over, 1, err));
		return nk__over_deps(f->program->arena, node, &step->deps, &step->n_args, &step->over->n_inputs, err);
	}
	step->deps = node->args;
	step->n_args = node->n_args;
	return NK_OK;
}

static nk_status collect_steps(nk_program *program, nk_bound *const *exprs, int n_exprs,
                               nk_bound *const *inputs, int n_inputs, nk_error *err)
{
	uint32_t n_numbers = 0;
	for (int i = 0; i < n_exprs; i++)
		n_numbers = NK_MAX(n_numbers, exprs[i]->number + 1);
	for (int i = 0; i < n_inputs; i++)
		n_numbers = NK_MAX(n_numbers, inputs[i]->number + 1);
	int64_t n_bytes = n_numbers / 8 + 1;
	finding f = {.program = program, .seen = calloc((size_t)n_bytes * 2, 1)};
	if (!f.seen)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a program");
	f.input = f.seen + n_bytes;
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < n_inputs; i++)
		nk_bitmap_set(f.input, inputs[i]->number);
	int at = 0;
	for (int root = 0; status == NK_OK && root < n_exprs; root++) {
		status = find_step(&f, exprs[root], err);
		for (; status == NK_OK && at < f.n; at++)
			for (int i = 0; status == NK_OK && i < f.found[at].n_args; i++)
				status = find_step(&f, f.found[at].deps[i], err);
	}
	if (status == NK_OK)
		status = NK_ARENA_NEW(program->arena, &program->steps, f.n + 1, err);
	if (status == NK_OK) {
		if (f.n)
			memcpy(program->steps, f.found, (size_t)f.n * sizeof *f.found);
		program->n_steps = f.n;
		qsort(program->steps, (size_t)f.n, sizeof *f.found, by_number);
	}
	nk_free(program->memory, f.found, f.capacity * (int64_t)sizeof *f.found);
	free(f.seen);
	return status;
}

/* Inputs are columns (slots: their ids) or sub-trees (inputs); n_slots of either. */
static nk_status program_new(nk_memory *memory, nk_bound *const *exprs, int n_exprs, const int *slots,
                             nk_bound *const *inputs, int n_slots, nk_program **out, nk_error *err)
{
	NK_AUTO(nk_program) program = calloc(1, sizeof *program);
	if (!program)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a program");
	program->memory = nk_memory_ref(memory);
	program->arena = nk_arena_new(memory);
	if (!program->arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a program");
	NK_TRY(collect_steps(program, exprs, n_exprs, inputs, inputs ? n_slots : 0, err));
	for (int i = 0; inputs && i < n_slots; i++) {
		nk_step *step = program->n_steps ? &program->steps[step_of(program, inputs[i])] : NULL;
		if (step && step->node == inputs[i])
			step->slot = i;
	}
	for (int i = 0; i < program->n_steps; i++) {
		nk_step *step = &program->steps[i];
		step->last_use = i;
		if (step->slot < 0 && step->node->kind == NK_BOUND_COLUMN) {
			for (int s = 0; slots && s < n_slots && step->slot < 0; s++)
				if (slots[s] == step->node->column)
					step->slot = s;
			if (step->slot < 0)
				return nk_fail(err, NK_COLUMN_NOT_FOUND, "column id %d is not among a program's inputs",
				               step->node->column);
		}
		int *args;
		NK_TRY(NK_ARENA_NEW(program->arena, &args, step->n_args + 1, err));
		for (int a = 0; a < step->n_args; a++) {
			args[a] = step_of(program, step->deps[a]);
			program->steps[args[a]].last_use = i;
		}
		step->args = args;
		if (step->over)
			NK_TRY(nk__over_compile(program, step, step->over->n_inputs, err));
	}
	if (program->n_partitions) {
		NK_TRY(NK_ARENA_NEW(program->arena, &program->partition_last_use, program->n_partitions, err));
		for (int i = 0; i < program->n_steps; i++)
			if (program->steps[i].over)
				program->partition_last_use[program->steps[i].over->partition] = i;
	}
	NK_TRY(NK_ARENA_NEW(program->arena, &program->outputs, n_exprs + 1, err));
	program->n_outputs = n_exprs;
	for (int i = 0; i < n_exprs; i++) {
		program->outputs[i] = step_of(program, exprs[i]);
		program->steps[program->outputs[i]].last_use = program->n_steps;
	}
	*out = NK_STEAL(program);
	return NK_OK;
}

nk_status nk_program_new(nk_memory *memory, nk_bound *const *exprs, int n_exprs, const int *slots,
                         int n_slots, nk_program **out, nk_error *err)
{
	return program_new(memory, exprs, n_exprs, slots, NULL, n_slots, out, err);
}

nk_status nk__program_over_nodes(nk_memory *memory, nk_bound *const *exprs, int n_exprs,
                                 nk_bound *const *inputs, int n_inputs, nk_program **out, nk_error *err)
{
	return program_new(memory, exprs, n_exprs, NULL, inputs, n_inputs, out, err);
}

void nk_program_free(nk_program *program)
{
	if (!program)
		return;
	for (int i = 0; i < program->n_steps; i++)
		if (program->steps[i].over)
			nk_program_free(program->steps[i].over->inner);
	nk_arena_free(program->arena);
	nk_memory_unref(program->memory);
	free(program);
}

/* Flat or constant arguments, at least one flat (or none at all). */
static nk_status run_kernel(const nk_bound *call, nk_memory *memory, nk_array *const *args, int64_t n_rows,
                            nk_array **out, nk_error *err)
{
	nk_call context = {.func = call->func,
	                   .dtype = call->dtype,
	                   .options = call->options,
	                   .data = call->data,
	                   .memory = memory};
	return nk_func_apply(&context, call->kernel, args, call->n_args, n_rows, out, err);
}

/* One dictionary argument and constants: compute once per entry. */
static nk_status run_on_dictionary(const nk_bound *call, nk_memory *memory, nk_array **args, int which,
                                   int64_t n_rows, nk_array **out, nk_error *err)
{
	nk_array *coded = args[which];
	args[which] = coded->dictionary;
	NK_AUTO(nk_array) entries = NULL;
	nk_status status = nk_eval_call(call, memory, args, coded->dictionary->n_rows, &entries, err);
	args[which] = coded;
	NK_TRY(status);
	if (entries->encoding == NK_CONSTANT && nk_array_is_valid(entries, 0) && !coded->validity)
		return nk_array_new_constant(memory, entries, n_rows, out, err);
	if (entries->encoding != NK_FLAT) {
		nk_array *flat;
		NK_TRY(nk_array_flatten(memory, entries, &flat, err));
		nk_array_unref(entries);
		entries = flat;
	}
	NK_AUTO(nk_buffer) codes = nk_buffer_ref(coded->values_buffer);
	if (coded->values != codes->bytes) { /* a slice: codes that start inside the buffer */
		nk_buffer *copy;
		NK_TRY(nk_buffer_new(memory, n_rows * 4, &copy, err));
		memcpy(copy->bytes, coded->values, (size_t)n_rows * 4);
		nk_buffer_unref(codes);
		codes = copy;
	}
	NK_AUTO(nk_buffer) validity = NULL;
	if (coded->validity) {
		NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &validity, err));
		memcpy(validity->bytes, coded->validity, (size_t)nk_bitmap_bytes(n_rows));
	}
	if (!entries->validity && entries->physical == NK_PHYSICAL_VIEW)
		return nk_array_new_dictionary(NK_STEAL(entries), n_rows, NK_STEAL(codes), NK_STEAL(validity),
		                               coded->n_nulls, out, err);

	/* Anything but text is as cheap to gather now; entries that are null cannot stay in a dictionary. */
	NK_AUTO(nk_array) gathered = NULL;
	NK_TRY(
		nk_array_take(memory, entries, (const uint32_t *)(const void *)codes->bytes, n_rows, &gathered, err));
	if (!validity) {
		*out = NK_STEAL(gathered);
		return NK_OK;
	}
	if (gathered->validity)
		for (int64_t b = 0; b < nk_bitmap_bytes(n_rows); b++)
			validity->bytes[b] &= gathered->validity[b];
	return nk_array_with_validity(gathered, NK_STEAL(validity), -1, out, err);
}

enum { ARGS_ON_STACK = 8, PIECE_ROWS = 1 << 18, N_PIECES = 64 };

/* Whole columns of text are done in pieces, since a kernel over all of them could not be ended. */
static bool is_long(const nk_bound *call, nk_array *const *args, int64_t n_rows)
{
	bool has_text = call->dtype->physical == NK_PHYSICAL_VIEW;
	for (int i = 0; i < call->n_args; i++)
		has_text |= args[i]->physical == NK_PHYSICAL_VIEW && args[i]->encoding != NK_CONSTANT;
	return n_rows > PIECE_ROWS && has_text && !call->func->impure && call->n_args <= ARGS_ON_STACK;
}

static nk_status run_piece(const nk_bound *call, nk_memory *memory, nk_array *const *args, int64_t first,
                           int64_t n_rows, nk_array **out, nk_error *err)
{
	nk_array *parts[ARGS_ON_STACK] = {0};
	nk_status status = nk_watch_check(err);
	for (int i = 0; status == NK_OK && i < call->n_args; i++)
		status = nk_array_slice(memory, args[i], first, n_rows, &parts[i], err);
	if (status == NK_OK)
		status = run_kernel(call, memory, parts, n_rows, out, err);
	for (int i = 0; i < call->n_args; i++)
		nk_array_unref(parts[i]);
	return status;
}

static nk_status run_pieces(const nk_bound *call, nk_memory *memory, nk_array *const *args, int64_t n_rows,
                            nk_array **out, nk_error *err)
{
	nk_array *pieces[N_PIECES] = {0};
	int64_t each = NK_MAX((int64_t)PIECE_ROWS, (n_rows + N_PIECES - 1) / N_PIECES);
	int n = 0;
	nk_status status = NK_OK;
	for (int64_t first = 0; status == NK_OK && first < n_rows; first += each)
		status = run_piece(call, memory, args, first, NK_MIN(each, n_rows - first), &pieces[n++], err);
	if (status == NK_OK)
		status = nk_array_concat(memory, pieces, n, out, err);
	for (int i = 0; i < n; i++)
		nk_array_unref(pieces[i]);
	return status;
}

nk_status nk_eval_call(const nk_bound *call, nk_memory *memory, nk_array *const *args, int64_t n_rows,
                       nk_array **out, nk_error *err)
{
	int n_constant = 0, n_dictionary = 0, dictionary = -1;
	for (int i = 0; i < call->n_args; i++) {
		n_constant += args[i]->encoding == NK_CONSTANT;
		if (args[i]->encoding == NK_DICTIONARY) {
			n_dictionary++;
			dictionary = i;
		}
	}
	if (n_dictionary == 0 && (n_constant < call->n_args || call->n_args == 0))
		return is_long(call, args, n_rows) ? run_pieces(call, memory, args, n_rows, out, err)
		                                   : run_kernel(call, memory, args, n_rows, out, err);

	nk_array *few[ARGS_ON_STACK] = {0}, **own = few;
	if (call->n_args > ARGS_ON_STACK && !(own = calloc((size_t)call->n_args, sizeof *own)))
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d arguments", call->n_args);
	nk_status status = NK_OK;
	int n_made = 0;
	if (n_rows == 0 && n_constant == call->n_args && call->n_args > 0) {
		if (own != few)
			free(own);
		return nk_array_new_null(memory, call->dtype, 0, out, err);
	}
	if (n_constant == call->n_args && !call->func->impure) {
		nk_array *one = NULL;
		for (; status == NK_OK && n_made < call->n_args; n_made++) {
			nk_array *single = NULL;
			status = nk_array_new_constant(memory, args[n_made], 1, &single, err);
			if (status == NK_OK)
				status = nk_array_flatten(memory, single, &own[n_made], err);
			nk_array_unref(single);
			if (status != NK_OK)
				break;
		}
		if (status == NK_OK)
			status = n_rows == 0 ? nk_array_new_null(memory, call->dtype, 1, &one, err)
			                     : run_kernel(call, memory, own, 1, &one, err);
		if (status == NK_OK)
			status = nk_array_new_constant(memory, one, n_rows, out, err);
		nk_array_unref(one);
	} else if (n_dictionary == 1 && n_constant == call->n_args - 1 && !call->func->fallible &&
	           !call->func->impure && args[dictionary]->dictionary->n_rows <= n_rows &&
	           (call->func->nulls == NK_NULLS_PROPAGATE || !args[dictionary]->validity)) {
		memcpy(own, args, (size_t)call->n_args * sizeof *own);
		status = run_on_dictionary(call, memory, own, dictionary, n_rows, out, err);
	} else {
		for (; status == NK_OK && n_made < call->n_args; n_made++) {
			if (args[n_made]->encoding == NK_DICTIONARY)
				status = nk_array_flatten(memory, args[n_made], &own[n_made], err);
			else
				own[n_made] = nk_array_ref(args[n_made]);
			if (status != NK_OK)
				break;
		}
		if (status == NK_OK)
			status = run_kernel(call, memory, own, n_rows, out, err);
	}
	for (int i = 0; i < n_made; i++)
		nk_array_unref(own[i]);
	if (own != few)
		free(own);
	return status;
}

nk_status nk_program_run(const nk_program *program, nk_memory *memory, nk_array *const *inputs,
                         int64_t n_rows, nk_array **outputs, nk_error *err)
{
	nk_array *few[64], **values = few;
	if (program->n_steps > NK_COUNT(few) && !(values = malloc((size_t)program->n_steps * sizeof *values)))
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d steps", program->n_steps);
	memset(values, 0, (size_t)program->n_steps * sizeof *values);
	nk_array *few_args[ARGS_ON_STACK], **args = few_args;
	int args_room = ARGS_ON_STACK;
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < program->n_steps; i++) {
		const nk_step *step = &program->steps[i];
		const nk_bound *node = step->node;
		switch (node->kind) {
		case NK_BOUND_COLUMN: values[i] = nk_array_ref(inputs[step->slot]); break;
		case NK_BOUND_LITERAL:
			status = nk_array_new_constant(memory, node->array, n_rows, &values[i], err);
			break;
		case NK_BOUND_SERIES:
		case NK_BOUND_OVER:
			status =
				nk_fail(err, NK_INVALID_OPERATION, "a Series or a window cannot be evaluated batch by batch");
			break;
		case NK_BOUND_CALL:
			if (node->n_args > args_room) {
				nk_array **grown = malloc((size_t)node->n_args * sizeof *grown);
				if (!grown) {
					status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d arguments", node->n_args);
					break;
				}
				if (args != few_args)
					free(args);
				args = grown;
				args_room = node->n_args;
			}
			for (int a = 0; a < node->n_args; a++)
				args[a] = values[step->args[a]];
			status = nk_eval_call(node, memory, args, n_rows, &values[i], err);
			for (int a = 0; a < node->n_args; a++)
				if (program->steps[step->args[a]].last_use == i) {
					nk_array_unref(values[step->args[a]]);
					values[step->args[a]] = NULL;
				}
			break;
		}
	}
	for (int o = 0; status == NK_OK && o < program->n_outputs; o++)
		outputs[o] = nk_array_ref(values[program->outputs[o]]);
	for (int i = 0; i < program->n_steps; i++)
		nk_array_unref(values[i]);
	if (values != few)
		free(values);
	if (args != few_args)
		free(args);
	return status;
}
