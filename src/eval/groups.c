/* The grouped evaluator: every expression inside group_by().agg(). An intermediate is in one of four states:
 *
 *   literal    one value for all groups
 *   groups     one value a group
 *   rows       values in group layout, as many in each group as the input has
 *   pieces     values in group layout with group lengths of their own (head, filter, unique, ...)
 *
 * Rows and pieces come out as a List per group. Arrays and offsets are immutable and shared. */
#include <stdlib.h>
#include <string.h>

#include "compute/select.h"
#include "eval/program_internal.h"

typedef struct groups {
	nk_memory *memory;
	int64_t n_groups;
	nk_group_offsets *input;
	uint32_t *row_groups; /* group of each input row, made when first needed */
	int64_t n_rows;
} groups;

static nk_group_offsets *offsets_new(int64_t n_groups)
{
	nk_group_offsets *list = malloc(sizeof *list + (size_t)(n_groups + 1) * sizeof list->at[0]);
	if (list) {
		list->n_references = 1;
		list->n_groups = n_groups;
		list->at[0] = 0;
	}
	return list;
}

static void offsets_unref(nk_group_offsets *list)
{
	if (list && --list->n_references == 0)
		free(list);
}

void nk__group_value_release(nk_group_value *v)
{
	nk_array_unref(v->array);
	offsets_unref(v->offsets);
	*v = (nk_group_value){0};
}

static nk_status no_memory(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for groups"); }

static bool offsets_equal(const nk_group_offsets *a, const nk_group_offsets *b)
{
	return a == b || memcmp(a->at, b->at, (size_t)(a->n_groups + 1) * sizeof a->at[0]) == 0;
}

static bool all_groups_one(const nk_group_offsets *list)
{
	for (int64_t g = 0; g <= list->n_groups; g++)
		if (list->at[g] != g)
			return false;
	return true;
}

/* One value a group, repeated to the layout. */
static nk_status spread(groups *g, nk_array *array, const nk_group_offsets *layout, nk_array **out,
                        nk_error *err)
{
	int64_t n = layout->at[layout->n_groups];
	uint32_t *rows;
	NK_TRY(nk_alloc(g->memory, n * 4, (void **)&rows, err));
	for (int64_t group = 0; group < layout->n_groups; group++)
		for (int64_t row = layout->at[group]; row < layout->at[group + 1]; row++)
			rows[row] = (uint32_t)group;
	nk_status status = nk_array_take(g->memory, array, rows, n, out, err);
	nk_free(g->memory, rows, n * 4);
	return status;
}

static nk_status run_elementwise(groups *g, const nk_bound *call, const nk_group_value *args,
                                 nk_group_value *out, nk_error *err)
{
	nk_group_offsets *layout = NULL;
	bool any_groups = false;
	for (int i = 0; i < call->n_args; i++) {
		any_groups |= args[i].state == NK_STATE_GROUPS;
		if (args[i].state != NK_STATE_ROWS)
			continue;
		/* pieces of length one in every group broadcast to longer ones */
		if (!layout || (all_groups_one(layout) && !all_groups_one(args[i].offsets)))
			layout = args[i].offsets;
	}
	int64_t n = layout ? layout->at[layout->n_groups] : any_groups ? g->n_groups : 1;
	nk_array **arrays = calloc((size_t)call->n_args + 1, sizeof *arrays);
	if (!arrays)
		return no_memory(err);
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < call->n_args; i++) {
		const nk_group_value *arg = &args[i];
		if (arg->state == NK_STATE_LITERAL)
			status = nk_array_new_constant(g->memory, arg->array, n, &arrays[i], err);
		else if (layout && (arg->state == NK_STATE_GROUPS ||
		                    (!offsets_equal(arg->offsets, layout) && all_groups_one(arg->offsets))))
			status = spread(g, arg->array, layout, &arrays[i], err);
		else if (layout && !offsets_equal(arg->offsets, layout))
			status = nk_fail(err, NK_SHAPE, "arguments of `%s` have different lengths within a group",
			                 call->func->name);
		else
			arrays[i] = nk_array_ref(arg->array);
	}
	if (status == NK_OK)
		status = nk_eval_call(call, g->memory, arrays, n, &out->array, err);
	for (int i = 0; i < call->n_args; i++)
		nk_array_unref(arrays[i]);
	free(arrays);
	NK_TRY(status);
	out->state = layout ? NK_STATE_ROWS : any_groups ? NK_STATE_GROUPS : NK_STATE_LITERAL;
	if (layout) {
		out->offsets = layout;
		layout->n_references++;
	}
	return NK_OK;
}

/* All arguments in one layout of rows, flat. */
static nk_status lay_out(groups *g, const nk_bound *call, const nk_group_value *args, nk_array **arrays,
                         nk_group_offsets **layout_out, nk_error *err)
{
	nk_group_offsets *layout = NULL;
	for (int i = 0; i < call->n_args; i++)
		if (args[i].state == NK_STATE_ROWS && !layout)
			layout = args[i].offsets;
	if (layout) {
		layout->n_references++;
	} else if (call->n_args == 0) {
		layout = g->input;
		layout->n_references++;
	} else { /* values per group: groups of one row */
		layout = offsets_new(g->n_groups);
		if (!layout)
			return no_memory(err);
		for (int64_t i = 0; i <= g->n_groups; i++)
			layout->at[i] = i;
	}
	*layout_out = layout;
	int64_t n = layout->at[layout->n_groups];
	for (int i = 0; i < call->n_args; i++) {
		NK_AUTO(nk_array) laid = NULL;
		if (args[i].state == NK_STATE_LITERAL)
			NK_TRY(nk_array_new_constant(g->memory, args[i].array, n, &laid, err));
		else if (args[i].state == NK_STATE_GROUPS && call->n_args > 0 &&
		         layout->at[g->n_groups] != g->n_groups)
			NK_TRY(spread(g, args[i].array, layout, &laid, err));
		else if (args[i].state == NK_STATE_ROWS && !offsets_equal(args[i].offsets, layout))
			return nk_fail(err, NK_SHAPE, "arguments of `%s` have different lengths within a group",
			               call->func->name);
		else
			laid = nk_array_ref(args[i].array);
		if (laid->encoding == NK_DICTIONARY)
			NK_TRY(nk_array_flatten(g->memory, laid, &arrays[i], err));
		else
			arrays[i] = NK_STEAL(laid);
	}
	return NK_OK;
}

static nk_status group_of_rows(groups *g, const nk_group_offsets *layout, uint32_t **out, bool *owned,
                               nk_error *err)
{
	bool is_input = layout == g->input;
	if (is_input && g->row_groups) {
		*out = g->row_groups;
		*owned = false;
		return NK_OK;
	}
	int64_t n = layout->at[layout->n_groups];
	uint32_t *made = malloc((size_t)n * 4 + 4);
	if (!made)
		return no_memory(err);
	for (int64_t group = 0; group < layout->n_groups; group++)
		for (int64_t row = layout->at[group]; row < layout->at[group + 1]; row++)
			made[row] = (uint32_t)group;
	if (is_input)
		g->row_groups = made;
	*out = made;
	*owned = !is_input;
	return NK_OK;
}

static nk_status aggregate_groups(groups *g, const nk_bound *call, nk_array *const *arrays,
                                  const nk_group_offsets *layout, nk_array **out, nk_error *err)
{
	const nk_aggregate *aggregate = call->aggregate;
	nk_call context = {.func = call->func,
	                   .dtype = call->dtype,
	                   .options = call->options,
	                   .data = call->data,
	                   .memory = g->memory};
	NK_AUTO(nk_arena) arena = nk_arena_new(g->memory);
	if (!arena)
		return no_memory(err);
	int64_t n_bytes = aggregate->state_size * g->n_groups, n_rows = layout->at[layout->n_groups];
	void *states;
	NK_TRY(nk_alloc(g->memory, n_bytes, &states, err));
	memset(states, 0, (size_t)n_bytes);
	uint32_t *row_groups = NULL;
	bool owned = false;
	nk_status status = group_of_rows(g, layout, &row_groups, &owned, err);
	if (status == NK_OK && n_rows > 0)
		status = aggregate->update(&context, states, row_groups, arrays, n_rows, 0, arena, err);
	if (status == NK_OK)
		status = aggregate->finish(&context, states, g->n_groups, out, err);
	if (owned)
		free(row_groups);
	nk_free(g->memory, states, n_bytes);
	return status;
}

/* Whether a call gives one value a group: an aggregate, or what keeps the length of one value. */
static bool gives_value(const nk_bound *call, const nk_group_value *args)
{
	bool any_rows = call->n_args == 0;
	for (int i = 0; i < call->n_args; i++)
		any_rows |= args[i].state == NK_STATE_ROWS;
	return call->func->height == NK_AGGREGATING || (call->func->height == NK_LENGTH_PRESERVING && !any_rows);
}

/* Results of all groups one after another, with their lengths (both taken over). */
static nk_status join_pieces(groups *g, const nk_bound *call, nk_array **results, nk_group_offsets *lengths,
                             bool is_value, nk_group_value *out, nk_error *err)
{
	nk_status status;
	if (g->n_groups)
		status = nk_array_concat(g->memory, results, (int)g->n_groups, &out->array, err);
	else
		status = nk_array_new_null(g->memory, call->dtype, 0, &out->array, err);
	for (int64_t group = 0; group < g->n_groups; group++)
		nk_array_unref(results[group]);
	free(results);
	out->state = is_value ? NK_STATE_GROUPS : NK_STATE_ROWS;
	if (status != NK_OK || out->state == NK_STATE_GROUPS)
		offsets_unref(lengths);
	else
		out->offsets = lengths;
	return status;
}

/* The column kernel once per group. */
static nk_status each_group(groups *g, const nk_bound *call, nk_array *const *arrays,
                            const nk_group_offsets *layout, bool is_value, nk_group_value *out, nk_error *err)
{
	nk_group_offsets *lengths = offsets_new(g->n_groups);
	nk_array **results = calloc((size_t)g->n_groups + 1, sizeof *results),
			 **args = calloc((size_t)call->n_args + 1, sizeof *args);
	nk_status status = lengths && results && args ? NK_OK : no_memory(err);
	for (int64_t group = 0; status == NK_OK && group < g->n_groups; group++) {
		int64_t from = layout->at[group], n = layout->at[group + 1] - from;
		for (int i = 0; status == NK_OK && i < call->n_args; i++)
			status = nk_array_slice(g->memory, arrays[i], from, n, &args[i], err);
		if (status == NK_OK)
			status = nk_eval_column_call(call, g->memory, NULL, args, n, &results[group], err);
		for (int i = 0; i < call->n_args; i++) {
			nk_array_unref(args[i]);
			args[i] = NULL;
		}
		if (status == NK_OK)
			lengths->at[group + 1] = lengths->at[group] + results[group]->n_rows;
	}
	free(args);
	if (status != NK_OK) {
		for (int64_t group = 0; results && group < g->n_groups; group++)
			nk_array_unref(results[group]);
		free(results);
		offsets_unref(lengths);
		return status;
	}
	return join_pieces(g, call, results, lengths, is_value, out, err);
}

/* Where group g of an argument that keeps its own length lies. */
static nk_status own_piece(groups *g, const nk_group_value *arg, int64_t group, nk_array **out, nk_error *err)
{
	if (arg->state == NK_STATE_LITERAL) {
		*out = nk_array_ref(arg->array);
		return NK_OK;
	}
	int64_t from = arg->state == NK_STATE_GROUPS ? group : arg->offsets->at[group];
	int64_t to = arg->state == NK_STATE_GROUPS ? group + 1 : arg->offsets->at[group + 1];
	return nk_array_slice(g->memory, arg->array, from, to - from, out, err);
}

/* The same for arguments with lengths of their own. */
static nk_status each_group_unaligned(groups *g, const nk_bound *call, const nk_group_value *values,
                                      nk_group_value *out, nk_error *err)
{
	nk_group_offsets *lengths = offsets_new(g->n_groups);
	nk_array **results = calloc((size_t)g->n_groups + 1, sizeof *results),
			 **args = calloc((size_t)call->n_args + 1, sizeof *args);
	nk_status status = lengths && results && args ? NK_OK : no_memory(err);
	for (int64_t group = 0; status == NK_OK && group < g->n_groups; group++) {
		for (int i = 0; status == NK_OK && i < call->n_args; i++)
			status = own_piece(g, &values[i], group, &args[i], err);
		if (status == NK_OK)
			status = nk_eval_column_call(call, g->memory, NULL, args, args[0]->n_rows, &results[group], err);
		for (int i = 0; i < call->n_args; i++) {
			nk_array_unref(args[i]);
			args[i] = NULL;
		}
		if (status == NK_OK)
			lengths->at[group + 1] = lengths->at[group] + results[group]->n_rows;
	}
	free(args);
	if (status != NK_OK) {
		for (int64_t group = 0; results && group < g->n_groups; group++)
			nk_array_unref(results[group]);
		free(results);
		offsets_unref(lengths);
		return status;
	}
	return join_pieces(g, call, results, lengths, gives_value(call, values), out, err);
}

static nk_status run_call(groups *g, const nk_bound *call, const nk_group_value *args, nk_group_value *out,
                          nk_error *err)
{
	if (call->func->height == NK_ELEMENTWISE)
		return run_elementwise(g, call, args, out, err);
	if (call->func->unaligned)
		return each_group_unaligned(g, call, args, out, err);
	nk_array **arrays = calloc((size_t)call->n_args + 1, sizeof *arrays);
	if (!arrays)
		return no_memory(err);
	nk_group_offsets *layout = NULL;
	nk_status status = lay_out(g, call, args, arrays, &layout, err);
	if (status == NK_OK && call->aggregate) {
		out->state = NK_STATE_GROUPS;
		status = aggregate_groups(g, call, arrays, layout, &out->array, err);
	} else if (status == NK_OK && call->segmented) {
		nk_call context = {.func = call->func,
		                   .dtype = call->dtype,
		                   .options = call->options,
		                   .data = call->data,
		                   .memory = g->memory};
		for (int i = 0; status == NK_OK && i < call->n_args; i++)
			if (arrays[i]->encoding == NK_CONSTANT && call->args[i]->shape != NK_SHAPE_SCALAR) {
				nk_array *flat;
				status = nk_array_flatten(g->memory, arrays[i], &flat, err);
				if (status != NK_OK)
					break;
				nk_array_unref(arrays[i]);
				arrays[i] = flat;
			}
		if (status == NK_OK)
			status = call->segmented(&context, arrays, g->n_groups, layout->at, &out->array, err);
		out->state = NK_STATE_GROUPS;
		if (status == NK_OK && !gives_value(call, args)) {
			out->state = NK_STATE_ROWS;
			out->offsets = layout;
			layout->n_references++;
		}
	} else if (status == NK_OK) {
		status = each_group(g, call, arrays, layout, gives_value(call, args), out, err);
	}
	for (int i = 0; i < call->n_args; i++)
		nk_array_unref(arrays[i]);
	free(arrays);
	offsets_unref(layout);
	return status;
}

/* A window inside groups: the group is one more key. */
static nk_status run_over(groups *g, const nk_step *step, const nk_group_value *args, nk_group_value *out,
                          nk_error *err)
{
	nk_array **arrays = calloc((size_t)step->n_args + 1, sizeof *arrays);
	bool explodes = step->node->over.mapping == NK_MAP_EXPLODE;
	nk_group_offsets *lengths = explodes ? offsets_new(g->n_groups) : NULL;
	nk_status status = arrays && (lengths || !explodes) ? NK_OK : no_memory(err);
	int64_t n = g->input->at[g->n_groups];
	for (int i = 0; status == NK_OK && i < step->n_args; i++) {
		if (args[i].state == NK_STATE_LITERAL)
			status = nk_array_new_constant(g->memory, args[i].array, n, &arrays[i], err);
		else if (args[i].state == NK_STATE_GROUPS)
			status = spread(g, args[i].array, g->input, &arrays[i], err);
		else if (!offsets_equal(args[i].offsets, g->input))
			status = nk_fail(err, NK_SHAPE, "the parts of a window have different lengths within a group");
		else
			arrays[i] = nk_array_ref(args[i].array);
	}
	NK_AUTO(nk_array) outer = NULL;
	uint32_t *row_groups;
	bool owned;
	nk_partition *partition = NULL;
	if (status == NK_OK)
		status = group_of_rows(g, g->input, &row_groups, &owned, err);
	if (status == NK_OK)
		status =
			nk_array_alloc(g->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n, false, &outer, err);
	if (status == NK_OK) {
		memcpy(nk_array_values(outer), row_groups, (size_t)n * 4);
		if (explodes)
			memset(lengths->at, 0, (size_t)(g->n_groups + 1) * sizeof lengths->at[0]);
		status = nk__over_run(step, g->memory, arrays, n, outer, explodes ? lengths->at + 1 : NULL,
		                      &partition, &out->array, err);
	}
	nk__partition_free(partition);
	for (int i = 0; arrays && i < step->n_args; i++)
		nk_array_unref(arrays[i]);
	free(arrays);
	if (status != NK_OK) {
		offsets_unref(lengths);
		return status;
	}
	for (int64_t i = 0; explodes && i < g->n_groups; i++)
		lengths->at[i + 1] += lengths->at[i];
	out->state = NK_STATE_ROWS;
	out->offsets = explodes ? lengths : g->input;
	if (!explodes)
		g->input->n_references++;
	return NK_OK;
}

nk_status nk__group_value_deliver(nk_memory *memory, const nk_group_value *v, int64_t n_groups,
                                  nk_array **out, nk_error *err)
{
	if (v->state == NK_STATE_LITERAL)
		return nk_array_new_constant(memory, v->array, n_groups, out, err);
	if (v->state == NK_STATE_GROUPS) {
		*out = nk_array_ref(v->array);
		return NK_OK;
	}
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(nk_array_flatten(memory, v->array, &items, err));
	nk_buffer *offsets;
	NK_TRY(nk_buffer_new(memory, (n_groups + 1) * 8, &offsets, err));
	memcpy(offsets->bytes, v->offsets->at, (size_t)(n_groups + 1) * 8);
	const nk_dtype *dtype = nk_dtype_list(items->dtype);
	return nk_array_new_list(dtype, n_groups, offsets, NK_STEAL(items), NULL, 0, out, err);
}

/* A column that came with the query: every group has all of its rows. */
static nk_status repeat_series(groups *g, nk_array *array, nk_group_value *out, nk_error *err)
{
	int64_t n = array->n_rows, n_all;
	if (__builtin_mul_overflow(n, g->n_groups, &n_all) || n_all > INT64_MAX / 16)
		return nk_fail(err, NK_COMPUTE, "a Series of %lld rows for %lld groups", (long long)n,
		               (long long)g->n_groups);
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_buffer_new(g->memory, n_all * (int64_t)sizeof(int64_t) + 8, &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	for (int64_t i = 0; i < n_all; i++)
		to[i] = i % n;
	NK_TRY(nk_array_take_wide(g->memory, array, to, n_all, &out->array, err));
	out->offsets = offsets_new(g->n_groups);
	if (!out->offsets) {
		nk_array_unref(out->array);
		out->array = NULL;
		return no_memory(err);
	}
	for (int64_t group = 0; group <= g->n_groups; group++)
		out->offsets->at[group] = group * n;
	out->state = NK_STATE_ROWS;
	return NK_OK;
}

/* Every step; results are the program's outputs as they are, each to be released. */
static nk_status run(const nk_program *program, nk_memory *memory, nk_array *const *inputs, int64_t n_rows,
                     const int64_t *offsets, int64_t n_groups, nk_group_value *results, nk_error *err)
{
	groups g = {.memory = memory, .n_groups = n_groups, .n_rows = n_rows, .input = offsets_new(n_groups)};
	nk_group_value *values = calloc((size_t)program->n_steps + 1, sizeof *values);
	nk_status status = values && g.input ? NK_OK : no_memory(err);
	if (status == NK_OK)
		memcpy(g.input->at, offsets, (size_t)(n_groups + 1) * sizeof *offsets);
	for (int i = 0; status == NK_OK && i < program->n_steps; i++) {
		const nk_step *step = &program->steps[i];
		const nk_bound *node = step->node;
		if (step->slot >= 0) {
			values[i] = (nk_group_value){
				.state = NK_STATE_ROWS, .array = nk_array_ref(inputs[step->slot]), .offsets = g.input};
			g.input->n_references++;
		} else if (node->kind == NK_BOUND_LITERAL) {
			values[i] = (nk_group_value){.state = NK_STATE_LITERAL, .array = nk_array_ref(node->array)};
		} else if (node->kind == NK_BOUND_SERIES) {
			status = repeat_series(&g, node->array, &values[i], err);
		} else {
			nk_group_value *args = calloc((size_t)step->n_args + 1, sizeof *args);
			if (!args) {
				status = no_memory(err);
				break;
			}
			for (int a = 0; a < step->n_args; a++)
				args[a] = values[step->args[a]];
			if (step->over)
				status = run_over(&g, step, args, &values[i], err);
			else
				status = run_call(&g, node, args, &values[i], err);
			free(args);
			for (int a = 0; a < step->n_args; a++)
				if (program->steps[step->args[a]].last_use == i)
					nk__group_value_release(&values[step->args[a]]);
		}
	}
	for (int o = 0; status == NK_OK && o < program->n_outputs; o++) {
		results[o] = values[program->outputs[o]];
		nk_array_ref(results[o].array);
		if (results[o].offsets)
			results[o].offsets->n_references++;
	}
	for (int i = 0; values && i < program->n_steps; i++)
		nk__group_value_release(&values[i]);
	free(values);
	offsets_unref(g.input);
	free(g.row_groups);
	return status;
}

nk_status nk__groups_run(const nk_program *program, nk_memory *memory, nk_array *const *inputs,
                         int64_t n_rows, const int64_t *offsets, int64_t n_groups, nk_group_value *out,
                         nk_error *err)
{
	return run(program, memory, inputs, n_rows, offsets, n_groups, out, err);
}

nk_status nk_program_run_groups(const nk_program *program, nk_memory *memory, nk_array *const *inputs,
                                int64_t n_rows, const int64_t *offsets, int64_t n_groups, nk_array **outputs,
                                nk_error *err)
{
	nk_group_value *results = calloc((size_t)program->n_outputs + 1, sizeof *results);
	nk_status status =
		results ? run(program, memory, inputs, n_rows, offsets, n_groups, results, err) : no_memory(err);
	int n_delivered = 0;
	for (; status == NK_OK && n_delivered < program->n_outputs; n_delivered++)
		status = nk__group_value_deliver(memory, &results[n_delivered], n_groups, &outputs[n_delivered], err);
	for (int o = 0; status != NK_OK && o + 1 < n_delivered; o++) {
		nk_array_unref(outputs[o]);
		outputs[o] = NULL;
	}
	for (int o = 0; results && o < program->n_outputs; o++)
		nk__group_value_release(&results[o]);
	free(results);
	return status;
}
