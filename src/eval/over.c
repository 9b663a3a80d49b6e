/* Windows: an expression within groups of rows with equal keys, its results brought back to the rows. What
 * is row by row inside it is computed on all rows beforehand, by the program around it. Of the rest there
 * are two ways:
 *
 *   streaming   aggregates that update states by group number, and what is row by row around them: rows
 *               stay where they are, one value a group is gathered by group number.
 *   gathered    anything else: rows are brought together by a counting sort, sorted within their group when
 *               the window has an order, the grouped evaluator runs on them, and results go back by each
 *               row's place.
 *
 * Group numbers and places are made once for all windows of a program with the same keys and order. */
#include <stdlib.h>
#include <string.h>

#include "compute/group_table.h"
#include "compute/select.h"
#include "compute/sort_segments.h"
#include "eval/program_internal.h"

static nk_status no_memory(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a window"); }

/* ---- Compilation ---- */

typedef struct node_list {
	nk_bound **items;
	int n, capacity;
} node_list;

static nk_status list_add(nk_arena *arena, node_list *list, nk_bound *node, nk_error *err)
{
	if (list->n == list->capacity) {
		int capacity = list->capacity * 2 + 8;
		nk_bound **grown;
		NK_TRY(NK_ARENA_NEW(arena, &grown, capacity, err));
		if (list->n)
			memcpy(grown, list->items, (size_t)list->n * sizeof *grown);
		list->items = grown;
		list->capacity = capacity;
	}
	list->items[list->n++] = node;
	return NK_OK;
}

nk_status nk__over_deps(nk_arena *arena, const nk_bound *over, nk_bound *const **deps, int *n_deps,
                        int *n_inputs, nk_error *err)
{
	node_list stack = {0}, found = {0};
	uint8_t *seen = calloc((size_t)over->number / 8 + 1, 1);
	if (!seen)
		return no_memory(err);
	nk_status status = list_add(arena, &stack, over->args[0], err);
	while (status == NK_OK && stack.n) {
		nk_bound *node = stack.items[--stack.n];
		if (nk_bitmap_get(seen, node->number))
			continue;
		nk_bitmap_set(seen, node->number);
		if (node->elementwise && node->shape == NK_SHAPE_ROWS)
			status = list_add(arena, &found, node, err);
		else
			for (int i = 0; status == NK_OK && i < node->n_args; i++)
				status = list_add(arena, &stack, node->args[i], err);
	}
	free(seen);
	*n_inputs = found.n;
	for (int i = 1; status == NK_OK && i < over->n_args; i++)
		status = list_add(arena, &found, over->args[i], err);
	*deps = found.items;
	*n_deps = found.n;
	return status;
}

/* Whether rows can stay where they are, and what each step of the inner program then is. */
static nk_status find_states(const nk_program *program, nk_step *step, nk_error *err)
{
	nk_over_step *over = step->over;
	const nk_program *inner = over->inner;
	NK_TRY(NK_ARENA_NEW(program->arena, &over->states, inner->n_steps + 1, err));
	for (int i = 0; i < inner->n_steps; i++) {
		const nk_step *at = &inner->steps[i];
		const nk_bound *node = at->node;
		over->states[i] = at->slot >= 0 ? NK_STATE_ROWS : NK_STATE_LITERAL;
		if (at->slot >= 0 || node->kind == NK_BOUND_LITERAL)
			continue;
		if (node->kind != NK_BOUND_CALL)
			return NK_OK;
		bool any_rows = node->n_args == 0, any_groups = false;
		for (int a = 0; a < at->n_args; a++) {
			any_rows |= over->states[at->args[a]] == NK_STATE_ROWS;
			any_groups |= over->states[at->args[a]] == NK_STATE_GROUPS;
		}
		if (node->func->height == NK_ELEMENTWISE) {
			over->states[i] = any_rows ? NK_STATE_ROWS : any_groups ? NK_STATE_GROUPS : NK_STATE_LITERAL;
			continue;
		}
		if (node->func->height != NK_AGGREGATING || !node->aggregate || !any_rows || any_groups ||
		    (node->func->order_sensitive && step->node->over.n_order))
			return NK_OK;
		over->states[i] = NK_STATE_GROUPS;
	}
	over->streams =
		over->states[inner->outputs[0]] != NK_STATE_ROWS || step->node->over.mapping == NK_MAP_ROWS;
	return NK_OK;
}

static bool same_partition(const nk_step *a, const nk_step *b)
{
	const nk_over *left = &a->node->over, *right = &b->node->over;
	if (left->n_keys != right->n_keys || left->n_order != right->n_order ||
	    left->descending != right->descending || left->nulls_last != right->nulls_last)
		return false;
	for (int i = 1; i < a->node->n_args; i++)
		if (a->node->args[i] != b->node->args[i])
			return false;
	return true;
}

nk_status nk__over_compile(nk_program *program, nk_step *step, int n_inputs, nk_error *err)
{
	nk_over_step *over = step->over;
	NK_TRY(nk__program_over_nodes(program->memory, step->node->args, 1, step->deps, n_inputs, &over->inner,
	                              err));
	over->partition = -1;
	for (const nk_step *other = program->steps; other < step && over->partition < 0; other++)
		if (other->over && same_partition(step, other))
			over->partition = other->over->partition;
	if (over->partition < 0)
		over->partition = program->n_partitions++;
	return find_states(program, step, err);
}

/* ---- Partitions ---- */

struct nk_partition {
	nk_memory *memory;
	int64_t n_rows, n_groups;
	nk_array *groups; /* group of each row, in order of first appearance; constant when there is one group */
	nk_array *layout; /* rows, group after group; NULL: not made yet */
	nk_array *places; /* where in the layout each row is */
	nk_buffer *offsets; /* n_groups + 1 */
};

void nk__partition_free(nk_partition *partition)
{
	if (!partition)
		return;
	nk_array_unref(partition->groups);
	nk_array_unref(partition->layout);
	nk_array_unref(partition->places);
	nk_buffer_unref(partition->offsets);
	nk_memory_unref(partition->memory);
	free(partition);
}

static nk_status new_rows(nk_memory *memory, int64_t n_rows, nk_array **out, nk_error *err)
{
	return nk_array_alloc(memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n_rows, false, out, err);
}

enum { N_QUICK = 16 };

static nk_status number_groups(nk_partition *p, nk_array *const *keys, int n_keys, nk_array *outer,
                               nk_error *err)
{
	bool is_one_group = !outer;
	for (int i = 0; i < n_keys; i++)
		is_one_group &= keys[i]->encoding == NK_CONSTANT;
	NK_TRY(new_rows(p->memory, p->n_rows, &p->groups, err));
	if (is_one_group) {
		memset(nk_array_values(p->groups), 0, (size_t)p->n_rows * 4);
		p->n_groups = p->n_rows > 0;
		return NK_OK;
	}
	nk_array *quick[N_QUICK + 1], **all = quick;
	const nk_dtype *quick_dtypes[N_QUICK + 1], **dtypes = quick_dtypes;
	if (n_keys > N_QUICK) {
		all = malloc((size_t)(n_keys + 1) * sizeof *all);
		dtypes = malloc((size_t)(n_keys + 1) * sizeof *dtypes);
	}
	NK_AUTO(nk_group_table) table = NULL;
	nk_status status = all && dtypes ? NK_OK : no_memory(err);
	if (status == NK_OK) {
		int n = 0;
		if (outer)
			all[n++] = outer;
		for (int i = 0; i < n_keys; i++)
			all[n++] = keys[i];
		for (int i = 0; i < n; i++)
			dtypes[i] = all[i]->dtype;
		status = nk_group_table_new(p->memory, dtypes, n, 0, &table, err);
		if (status == NK_OK)
			status = nk_group_table_insert(table, all, p->n_rows, nk_array_values(p->groups), err);
	}
	if (status == NK_OK)
		p->n_groups = nk_group_table_n_groups(table);
	if (all != quick)
		free(all);
	if (dtypes != quick_dtypes)
		free(dtypes);
	return status;
}

static nk_status partition_new(nk_memory *memory, nk_array *const *keys, int n_keys, nk_array *outer,
                               int64_t n_rows, nk_partition **out, nk_error *err)
{
	if (n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "a window takes at most 4294967294 rows");
	nk_partition *p = calloc(1, sizeof *p);
	if (!p)
		return no_memory(err);
	p->memory = nk_memory_ref(memory);
	p->n_rows = n_rows;
	nk_status status = number_groups(p, keys, n_keys, outer, err);
	if (status == NK_OK)
		*out = p;
	else
		nk__partition_free(p);
	return status;
}

/* Rows one group after the other: a stable counting sort by group. */
static nk_status lay_out(nk_partition *p, nk_error *err)
{
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_TRY(new_rows(p->memory, p->n_rows, &p->places, err));
	NK_TRY(nk_buffer_new_zeroed(p->memory, (p->n_groups + 2) * 8, &offsets, err));
	const uint32_t *groups = p->groups->values;
	uint32_t *places = nk_array_values(p->places);
	/* Counts go two places up: once summed, start[g + 1] is where group g begins, and when all are placed,
	 * where it ends. */
	int64_t *start = (int64_t *)(void *)offsets->bytes;
	for (int64_t i = 0; i < p->n_rows; i++)
		start[groups[i] + 2ull]++;
	for (int64_t g = 1; g < p->n_groups; g++)
		start[g + 1] += start[g];
	for (int64_t i = 0; i < p->n_rows; i++)
		places[i] = (uint32_t)start[groups[i] + 1ull]++;
	p->offsets = NK_STEAL(offsets);
	return NK_OK;
}

#define T uint8_t
#define SUFFIX 1
#include "eval/scatter_tmpl.h"
#define T uint16_t
#define SUFFIX 2
#include "eval/scatter_tmpl.h"
#define T uint32_t
#define SUFFIX 4
#include "eval/scatter_tmpl.h"
#define T uint64_t
#define SUFFIX 8
#include "eval/scatter_tmpl.h"
#define T unsigned __int128
#define SUFFIX 16
#include "eval/scatter_tmpl.h"

static nk_status scatter(const nk_partition *p, const nk_array *array, int width, nk_array **out,
                         nk_error *err)
{
	NK_AUTO(nk_buffer) values = NULL, *validity = NULL;
	const uint32_t *places = p->places->values;
	NK_TRY(nk_buffer_new(p->memory, p->n_rows * width, &values, err));
	switch (width) {
	case 1: scatter_1(values->bytes, array->values, places, p->n_rows); break;
	case 2: scatter_2(values->bytes, array->values, places, p->n_rows); break;
	case 4: scatter_4(values->bytes, array->values, places, p->n_rows); break;
	case 8: scatter_8(values->bytes, array->values, places, p->n_rows); break;
	default: scatter_16(values->bytes, array->values, places, p->n_rows); break;
	}
	if (array->validity) {
		NK_TRY(nk_buffer_new_zeroed(p->memory, nk_bitmap_bytes(p->n_rows), &validity, err));
		for (int64_t i = 0; i < p->n_rows; i++)
			if (nk_bitmap_get(array->validity, i))
				nk_bitmap_set(validity->bytes, places[i]);
	}
	return nk_array_new_flat(array->dtype, array->physical, p->n_rows, NK_STEAL(values), NK_STEAL(validity),
	                         array->n_nulls, nk_heap_ref(array->heap), out, err);
}

/* An array's rows group after group. */
static nk_status bring_together(nk_partition *p, nk_array *array, nk_array **out, nk_error *err)
{
	if (array->encoding == NK_CONSTANT) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	bool is_plain = array->encoding == NK_FLAT && array->physical != NK_PHYSICAL_NONE &&
	                array->physical != NK_PHYSICAL_BOOL && array->physical != NK_PHYSICAL_LIST &&
	                array->physical != NK_PHYSICAL_STRUCT;
	if (is_plain)
		return scatter(p, array, nk_physical_size(array->physical), out, err);
	if (!p->layout) {
		NK_TRY(new_rows(p->memory, p->n_rows, &p->layout, err));
		uint32_t *rows = nk_array_values(p->layout);
		const uint32_t *places = p->places->values;
		for (int64_t i = 0; i < p->n_rows; i++)
			rows[places[i]] = (uint32_t)i;
	}
	return nk_array_take(p->memory, array, p->layout->values, p->n_rows, out, err);
}

/* The rows of each group in the window's order. */
static nk_status order_rows(nk_partition *p, nk_array *const *order, const nk_over *over, nk_error *err)
{
	NK_AUTO(nk_buffer) specs = NULL, *together = NULL, *sorted = NULL, *moved = NULL;
	NK_TRY(nk_buffer_new(p->memory, over->n_order * (int64_t)sizeof(nk_sort_key), &specs, err));
	NK_TRY(nk_buffer_new_zeroed(p->memory, over->n_order * (int64_t)sizeof(nk_array *), &together, err));
	NK_TRY(nk_buffer_new(p->memory, p->n_rows * 4, &sorted, err));
	NK_TRY(nk_buffer_new(p->memory, p->n_rows * 4, &moved, err));
	nk_sort_key *keys = (nk_sort_key *)(void *)specs->bytes;
	nk_array **arrays = (nk_array **)(void *)together->bytes;
	uint32_t *rows = (uint32_t *)(void *)sorted->bytes, *to = (uint32_t *)(void *)moved->bytes;
	nk_status status = NK_OK;
	for (int i = 0; status == NK_OK && i < over->n_order; i++) {
		keys[i] = (nk_sort_key){over->descending, over->nulls_last};
		status = bring_together(p, order[i], &arrays[i], err);
	}
	if (status == NK_OK)
		status = nk_sort_segments(p->memory, arrays, keys, over->n_order, p->n_groups,
		                          (const int64_t *)(void *)p->offsets->bytes, rows, err);
	for (int i = 0; i < over->n_order; i++)
		nk_array_unref(arrays[i]);
	NK_TRY(status);
	uint32_t *places = nk_array_values(p->places);
	for (int64_t i = 0; i < p->n_rows; i++)
		to[rows[i]] = (uint32_t)i;
	for (int64_t i = 0; i < p->n_rows; i++)
		places[i] = to[places[i]];
	nk_array_unref(p->layout); /* made for the order before */
	p->layout = NULL;
	return NK_OK;
}

/* ---- Streaming ---- */

static nk_status aggregate(const nk_bound *call, nk_memory *memory, const nk_partition *p,
                           nk_array *const *args, nk_array **out, nk_error *err)
{
	nk_call context = {.func = call->func,
	                   .dtype = call->dtype,
	                   .options = call->options,
	                   .data = call->data,
	                   .memory = memory};
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	if (!arena)
		return no_memory(err);
	int64_t n_bytes = call->aggregate->state_size * p->n_groups;
	void *states;
	NK_TRY(nk_alloc(memory, n_bytes, &states, err));
	memset(states, 0, (size_t)n_bytes);
	nk_status status = NK_OK;
	if (p->n_rows > 0)
		status = call->aggregate->update(&context, states, p->n_groups == 1 ? NULL : p->groups->values, args,
		                                 p->n_rows, 0, arena, err);
	if (status == NK_OK)
		status = call->aggregate->finish(&context, states, p->n_groups, out, err);
	nk_free(memory, states, n_bytes);
	return status;
}

static nk_status flatten_dictionary(nk_memory *memory, nk_array **array, nk_error *err)
{
	if ((*array)->encoding != NK_DICTIONARY)
		return NK_OK;
	nk_array *flat;
	NK_TRY(nk_array_flatten(memory, *array, &flat, err));
	nk_array_unref(*array);
	*array = flat;
	return NK_OK;
}

/* A value of one state in another, larger one. */
static nk_status widen(nk_memory *memory, const nk_partition *p, nk_array *array, nk_group_state from,
                       nk_group_state to, nk_array **out, nk_error *err)
{
	if (from == to) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	if (from == NK_STATE_LITERAL)
		return nk_array_new_constant(memory, array, to == NK_STATE_ROWS ? p->n_rows : p->n_groups, out, err);
	return nk_array_take(memory, array, p->groups->values, p->n_rows, out, err);
}

static nk_status stream_call(const nk_over_step *over, int at, nk_memory *memory, const nk_partition *p,
                             nk_array *const *values, nk_array **out, nk_error *err)
{
	const nk_step *step = &over->inner->steps[at];
	bool is_aggregate = step->node->func->height == NK_AGGREGATING;
	nk_group_state state = is_aggregate ? NK_STATE_ROWS : over->states[at];
	nk_array **args = calloc((size_t)step->n_args + 1, sizeof *args);
	nk_status status = args ? NK_OK : no_memory(err);
	for (int a = 0; status == NK_OK && a < step->n_args; a++) {
		status = widen(memory, p, values[step->args[a]], over->states[step->args[a]], state, &args[a], err);
		if (status == NK_OK && is_aggregate)
			status = flatten_dictionary(memory, &args[a], err);
	}
	if (status == NK_OK && is_aggregate)
		status = aggregate(step->node, memory, p, args, out, err);
	else if (status == NK_OK)
		status = nk_eval_call(step->node, memory, args,
		                      state == NK_STATE_ROWS     ? p->n_rows
		                      : state == NK_STATE_GROUPS ? p->n_groups
		                                                 : 1,
		                      out, err);
	for (int a = 0; args && a < step->n_args; a++)
		nk_array_unref(args[a]);
	free(args);
	return status;
}

static nk_status run_streaming(const nk_over_step *over, nk_memory *memory, const nk_partition *p,
                               nk_array *const *inputs, nk_group_value *out, nk_error *err)
{
	const nk_program *inner = over->inner;
	nk_array **values = calloc((size_t)inner->n_steps + 1, sizeof *values);
	nk_status status = values ? NK_OK : no_memory(err);
	for (int i = 0; status == NK_OK && i < inner->n_steps; i++) {
		const nk_step *step = &inner->steps[i];
		if (step->slot >= 0)
			values[i] = nk_array_ref(inputs[step->slot]);
		else if (step->node->kind == NK_BOUND_LITERAL)
			values[i] = nk_array_ref(step->node->array);
		else
			status = stream_call(over, i, memory, p, values, &values[i], err);
		for (int a = 0; status == NK_OK && a < step->n_args; a++)
			if (inner->steps[step->args[a]].last_use == i) {
				nk_array_unref(values[step->args[a]]);
				values[step->args[a]] = NULL;
			}
	}
	if (status == NK_OK)
		*out = (nk_group_value){.state = over->states[inner->outputs[0]],
		                        .array = nk_array_ref(values[inner->outputs[0]])};
	for (int i = 0; values && i < inner->n_steps; i++)
		nk_array_unref(values[i]);
	free(values);
	return status;
}

/* ---- Gathered ---- */

static nk_status run_gathered(const nk_step *step, nk_memory *memory, nk_partition *p, nk_array *const *args,
                              nk_group_value *out, nk_error *err)
{
	const nk_over_step *over = step->over;
	if (!p->places) {
		NK_TRY(lay_out(p, err));
		if (step->node->over.n_order && p->n_rows > 0)
			NK_TRY(order_rows(p, args + over->n_inputs + step->node->over.n_keys, &step->node->over, err));
	}
	nk_array **inputs = calloc((size_t)over->n_inputs + 1, sizeof *inputs);
	nk_status status = inputs ? NK_OK : no_memory(err);
	for (int i = 0; status == NK_OK && i < over->n_inputs; i++)
		status = bring_together(p, args[i], &inputs[i], err);
	if (status == NK_OK)
		status = nk__groups_run(over->inner, memory, inputs, p->n_rows,
		                        (const int64_t *)(void *)p->offsets->bytes, p->n_groups, out, err);
	for (int i = 0; inputs && i < over->n_inputs; i++)
		nk_array_unref(inputs[i]);
	free(inputs);
	return status;
}

/* Results in the layout to their rows. */
static nk_status place_rows(const nk_partition *p, nk_memory *memory, const nk_group_value *value,
                            nk_array **out, nk_error *err)
{
	if (!value->offsets) { /* streamed: they never left */
		*out = nk_array_ref(value->array);
		return NK_OK;
	}
	if (memcmp(value->offsets->at, p->offsets->bytes, (size_t)(p->n_groups + 1) * 8) != 0)
		return nk_fail(err, NK_SHAPE, "the length of the window expression did not match that of the group");
	return nk_array_take(memory, value->array, p->places->values, p->n_rows, out, err);
}

/* How many results each group of the context around the window gets. */
static void count_lengths(const nk_partition *p, const nk_array *outer, const nk_group_value *value,
                          int64_t *lengths)
{
	const uint32_t *groups = p->groups->values, *outers = outer->values;
	int64_t n_known = 0;
	for (int64_t i = 0; i < p->n_rows && n_known < p->n_groups; i++)
		if (groups[i] == n_known) {
			int64_t g = n_known++;
			lengths[outers[i]] +=
				value->state == NK_STATE_ROWS ? value->offsets->at[g + 1] - value->offsets->at[g] : 1;
		}
}

static nk_status bring_back(const nk_step *step, const nk_partition *p, nk_memory *memory,
                            const nk_group_value *value, const nk_array *outer, int64_t *lengths,
                            nk_array **out, nk_error *err)
{
	const uint32_t *groups = p->groups->values;
	switch (step->node->over.mapping) {
	case NK_MAP_EXPLODE:
		if (outer && value->state != NK_STATE_LITERAL)
			count_lengths(p, outer, value, lengths);
		else if (outer && p->n_rows > 0)
			for (int64_t i = 0; i <= ((const uint32_t *)outer->values)[p->n_rows - 1]; i++)
				lengths[i] = 1;
		if (outer && value->state == NK_STATE_LITERAL)
			return nk_array_new_constant(memory, value->array,
			                             p->n_rows ? ((const uint32_t *)outer->values)[p->n_rows - 1] + 1 : 0,
			                             out, err);
		*out = nk_array_ref(value->array);
		return NK_OK;
	case NK_MAP_JOIN:
		if (value->state == NK_STATE_ROWS) {
			NK_AUTO(nk_array) lists = NULL;
			NK_TRY(nk__group_value_deliver(memory, value, p->n_groups, &lists, err));
			return nk_array_take(memory, lists, groups, p->n_rows, out, err);
		}
		break;
	case NK_MAP_ROWS:
		if (value->state == NK_STATE_ROWS)
			return place_rows(p, memory, value, out, err);
		break;
	}
	if (value->state == NK_STATE_LITERAL || (p->n_groups == 1 && p->n_rows > 0))
		return nk_array_new_constant(memory, value->array, p->n_rows, out, err);
	return nk_array_take(memory, value->array, groups, p->n_rows, out, err);
}

nk_status nk__over_run(const nk_step *step, nk_memory *memory, nk_array *const *args, int64_t n_rows,
                       nk_array *outer, int64_t *lengths, nk_partition **partition, nk_array **out,
                       nk_error *err)
{
	const nk_over_step *over = step->over;
	if (!*partition)
		NK_TRY(partition_new(memory, args + over->n_inputs, step->node->over.n_keys, outer, n_rows, partition,
		                     err));
	nk_group_value value = {0};
	if (over->streams)
		NK_TRY(run_streaming(over, memory, *partition, args, &value, err));
	else
		NK_TRY(run_gathered(step, memory, *partition, args, &value, err));
	nk_status status = bring_back(step, *partition, memory, &value, outer, lengths, out, err);
	nk__group_value_release(&value);
	return status;
}
