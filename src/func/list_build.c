/* Lists made of columns: concat_list, which takes lists apart, and list, for which they are values; list.concat and the
 * set operations, which differ in the items of the joined lists that stay. */
#include <stdlib.h>

#include "compute/group_table.h"
#include "compute/list_concat.h"
#include "compute/nested_keys.h"
#include "compute/select.h"
#include "func/each.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

typedef struct build_plan {
	int n_args;
	bool values; /* lists are values too */
} build_plan;

/* ---- concat_list, list ---- */

static void parts_free(nk_lists **parts) { free(*parts); }

static nk_status concat_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	const build_plan *plan = call->data;
	__attribute__((cleanup(parts_free))) nk_lists *parts = calloc((size_t)plan->n_args, sizeof *parts);
	NK_AUTO(nk_buffer) offsets = NULL, *validity = NULL;
	nk_array *items = NULL;
	if (!parts)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for lists");
	nk_status status = NK_OK;
	bool may_null = false;
	int n_parts = 0;
	for (; status == NK_OK && n_parts < plan->n_args; n_parts++) {
		nk_array *arg = args[n_parts];
		bool is_list = arg->dtype == call->dtype && !plan->values;
		may_null |= is_list && nk__may_have_nulls(arg);
		status = is_list ? nk_lists_of(call->memory, arg, &parts[n_parts], err)
		                 : nk_lists_of_values(call->memory, arg, &parts[n_parts], err);
		if (status != NK_OK)
			break;
	}
	if (status == NK_OK)
		status = nk_lists_concat(call->memory, parts, plan->n_args, &offsets, &items, err);
	if (status == NK_OK && may_null)
		status = nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &validity, err);
	if (status == NK_OK && may_null) {
		nk_bitmap_fill(validity->bytes, 0, n_rows, true);
		for (int p = 0; p < plan->n_args; p++)
			for (int64_t i = 0; parts[p].flat && i < n_rows; i++)
				if (!nk_array_is_valid(parts[p].flat, i))
					nk_bitmap_clear(validity->bytes, i);
	}
	for (int p = 0; p < n_parts; p++)
		nk_lists_release(&parts[p]);
	if (status != NK_OK) {
		nk_array_unref(items);
		return status;
	}
	return nk_array_new_list(call->dtype, n_rows, NK_STEAL(offsets), items, NK_STEAL(validity),
	                         may_null ? -1 : 0, out, err);
}

static nk_status bind_build(nk_bind *bind, bool values, nk_error *err)
{
	const nk_dtype *item = NULL;
	bool lossy = false;
	nk_argument so_far = {0};
	for (int i = 0; i < bind->n_args; i++) {
		nk_argument arg = bind->args[i];
		if (!values && arg.dtype->physical == NK_PHYSICAL_LIST)
			arg = (nk_argument){.dtype = arg.dtype->fields[0].dtype};
		if (i == 0) {
			so_far = arg;
			continue;
		}
		item = nk_supertype_of_arguments(&so_far, &arg, &lossy);
		if (!item)
			return nk_supertype_fail(so_far.dtype, arg.dtype, err);
		so_far = nk_argument_meet(&so_far, &arg, item);
	}
	item = so_far.dtype;
	build_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (build_plan){.n_args = bind->n_args, .values = values};
	bind->dtype = nk_dtype_list(item);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	for (int i = 0; i < bind->n_args; i++) {
		bool is_list = !values && bind->args[i].dtype->physical == NK_PHYSICAL_LIST;
		const nk_dtype *to = is_list ? bind->dtype : item;
		if (i < NK_MAX_CASTS)
			bind->casts[i] = to;
		else if (bind->args[i].dtype != to && bind->casts[NK_MAX_CASTS - 1] != to)
			return nk_fail(
				err, NK_INVALID_OPERATION,
				"`%s` of more than %d columns needs those after them to be of the same dtype, got %s",
				bind->func->name, NK_MAX_CASTS, nk_dtype_short_name(bind->args[i].dtype));
	}
	bind->data = plan;
	bind->kernel = concat_kernel;
	return NK_OK;
}

static nk_status bind_concat_list(nk_bind *bind, nk_error *err) { return bind_build(bind, false, err); }
static nk_status bind_values(nk_bind *bind, nk_error *err) { return bind_build(bind, true, err); }

static nk_status bind_concat(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	return bind_build(bind, false, err);
}

/* ---- Set operations ---- */

typedef enum set_op { UNION, INTERSECTION, DIFFERENCE, SYMMETRIC_DIFFERENCE } set_op;
static const set_op set_ops[] = {UNION, INTERSECTION, DIFFERENCE, SYMMETRIC_DIFFERENCE};

enum { IN_LEFT = 1, IN_RIGHT = 2 };

static bool stays(set_op op, uint8_t sides)
{
	switch (op) {
	case UNION: return true;
	case INTERSECTION: return sides == (IN_LEFT | IN_RIGHT);
	case DIFFERENCE: return sides == IN_LEFT;
	default: return sides != (IN_LEFT | IN_RIGHT);
	}
}

/* groups[j]: the number of item j's value within its list; *n_groups: how many numbers there are. */
static nk_status number_items(nk_memory *memory, const int64_t *offsets, int64_t n_rows, nk_array *items,
                              uint32_t *groups, int64_t *n_groups, nk_error *err)
{
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_AUTO(nk_array) row_keys = NULL;
	const nk_dtype *dtypes[] = {nk_dtype_of(NK_TYPE_UINT32), items->dtype};
	NK_TRY(nk_lists_rows(memory, offsets, n_rows, &rows, err));
	NK_TRY(nk_array_new_flat(dtypes[0], NK_PHYSICAL_U32, items->n_rows, NK_STEAL(rows), NULL, 0, NULL,
	                         &row_keys, err));
	NK_TRY(nk_group_table_new(memory, dtypes, 2, 0, &table, err));
	NK_TRY(nk_group_table_insert(table, (nk_array *[]){row_keys, items}, items->n_rows, groups, err));
	*n_groups = nk_group_table_n_groups(table);
	return NK_OK;
}

static nk_status set_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	set_op op = *(const set_op *)call->data;
	NK_LISTS(left);
	NK_LISTS(right);
	NK_AUTO(nk_buffer) offsets = NULL, *ends = NULL, *groups = NULL, *sides = NULL, *rows = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &left, err));
	NK_TRY(nk_lists_of(call->memory, args[1], &right, err));
	nk_lists both[] = {left, right}; /* borrowed */
	NK_TRY(nk_lists_concat(call->memory, both, 2, &offsets, &items, err));
	int64_t n_items = items->n_rows, n_groups = 0, n = 0;
	const int64_t *from = (const int64_t *)(void *)offsets->bytes;
	NK_TRY(nk_buffer_new(call->memory, n_items * (int64_t)sizeof(uint32_t), &groups, err));
	uint32_t *group = (uint32_t *)(void *)groups->bytes;
	NK_TRY(number_items(call->memory, from, n_rows, items, group, &n_groups, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, n_groups, &sides, err));
	NK_TRY(nk_buffer_new(call->memory, n_groups * (int64_t)sizeof(int64_t), &rows, err));
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &ends, err));
	uint8_t *side = sides->bytes;
	int64_t *kept = (int64_t *)(void *)rows->bytes, *to = (int64_t *)(void *)ends->bytes, n_seen = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t border = from[i] + left.offsets[i + 1] - left.offsets[i];
		for (int64_t j = from[i]; j < from[i + 1]; j++)
			side[group[j]] |= j < border ? IN_LEFT : IN_RIGHT;
	}
	to[0] = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		bool valid = nk_lists_valid(&left, i) && nk_lists_valid(&right, i);
		for (int64_t j = from[i]; j < from[i + 1]; j++) {
			bool is_first = group[j] == n_seen; /* numbers ascend by first appearance */
			n_seen += is_first;
			if (is_first && valid && stays(op, side[group[j]]))
				kept[n++] = j;
		}
		to[i + 1] = n;
	}
	NK_AUTO(nk_array) result = NULL;
	nk_array *taken = NULL;
	NK_TRY(nk_array_take_wide(call->memory, items, kept, n, &taken, err));
	NK_TRY(nk_lists_wrap(call->memory, call->dtype, &left, NK_STEAL(ends), taken, &result, err));
	return nk_lists_null_where(call->memory, &right, NK_STEAL(result), out, err);
}

static nk_status bind_set(nk_bind *bind, set_op op, nk_error *err)
{
	for (int i = 0; i < 2; i++)
		if (bind->args[i].dtype->physical != NK_PHYSICAL_LIST)
			return nk__refuse_list(bind, i, err);
	bind->dtype = bind->casts[0] = bind->casts[1] = nk_dtype_list(bind->args[0].dtype->fields[0].dtype);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->cast_is_lossy = true;
	bind->data = &set_ops[op];
	bind->kernel = set_kernel;
	return NK_OK;
}

static nk_status bind_union(nk_bind *bind, nk_error *err) { return bind_set(bind, UNION, err); }
static nk_status bind_intersection(nk_bind *bind, nk_error *err) { return bind_set(bind, INTERSECTION, err); }
static nk_status bind_difference(nk_bind *bind, nk_error *err) { return bind_set(bind, DIFFERENCE, err); }
static nk_status bind_symmetric(nk_bind *bind, nk_error *err)
{
	return bind_set(bind, SYMMETRIC_DIFFERENCE, err);
}

const nk_func nk__funcs_list_build[] = {
	{
		.name = "concat_list",
		.args = "x, *more",
		.doc = "The values of several columns as one list a row; those that are lists give their items. A "
			   "null list makes the "
			   "result null, a null value is an item.",
		.example = "concat_list([[1, 2], null], [3, 4]) == [[1, 2, 3], null]",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = bind_concat_list,
	},
	{
		.name = "list",
		.args = "x, *more",
		.doc = "The values of several columns as one list a row; lists are values like others.",
		.example = "list([1, null], [3, 4]) == [[1, 3], [null, 4]]",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = bind_values,
	},
	{
		.name = "list.concat",
		.args = "x, *more",
		.doc = "The lists of several columns one after another; what is no list is an item. Null where a "
			   "list is null.",
		.example = "list.concat([[1, 2], null], [[3], []]) == [[1, 2, 3], null]",
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_concat,
	},
	{
		.name = "list.set_union",
		.args = "x, other",
		.doc = "The different items of both lists, in the order of first appearance. The other list is cast "
			   "to the dtype of the "
			   "first; what does not fit becomes null.",
		.example = "list.set_union([[1, 2], null], [[2, 3], [1]]) == [[1, 2, 3], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_union,
	},
	{
		.name = "list.set_intersection",
		.args = "x, other",
		.doc = "The different items that both lists have.",
		.example = "list.set_intersection([[1, 2], null], [[2, 3], [1]]) == [[2], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_intersection,
	},
	{
		.name = "list.set_difference",
		.args = "x, other",
		.doc = "The different items of a list that the other has not.",
		.example = "list.set_difference([[1, 2], null], [[2, 3], [1]]) == [[1], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_difference,
	},
	{
		.name = "list.set_symmetric_difference",
		.args = "x, other",
		.doc = "The different items that one list has and the other has not.",
		.example = "list.set_symmetric_difference([[1, 2], null], [[2, 3], [1]]) == [[1, 3], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_symmetric,
	},
	{0},
};
