/* Lists whose items are chosen, ordered or moved: slice, reverse, sort, unique, shift, gather, gather_every, drop_nulls.
 * Each of them is the offsets of the results and, for every item of theirs, where it comes from: one gather follows.
 * Sorting goes over the items of all lists at once; handing the items out to their lists again, in that order, sorts
 * each list. */
#include "compute/group_table.h"
#include "compute/nested.h"
#include "compute/nested_keys.h"
#include "compute/select.h"
#include "compute/sort.h"
#include "func/each.h"
#include "func/func.h"

/* ---- Results ---- */

/* The offsets of results and the items' positions, negative for null. */
typedef struct chosen {
	nk_buffer *offsets, *items; /* owned */
	int64_t *to;                /* offsets */
	int64_t *from;              /* positions */
} chosen;

static void chosen__auto(chosen *c)
{
	nk_buffer_unref(c->offsets);
	nk_buffer_unref(c->items);
}
#define CHOSEN(name) __attribute__((cleanup(chosen__auto))) chosen name = {0}

static nk_status chosen_offsets(nk_memory *memory, int64_t n_rows, chosen *c, nk_error *err)
{
	NK_TRY(nk_buffer_new(memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &c->offsets, err));
	c->to = (int64_t *)(void *)c->offsets->bytes;
	c->to[0] = 0;
	return NK_OK;
}

static nk_status chosen_items(nk_memory *memory, int64_t n_items, chosen *c, nk_error *err)
{
	NK_TRY(nk_buffer_new(memory, n_items * (int64_t)sizeof(int64_t), &c->items, err));
	c->from = (int64_t *)(void *)c->items->bytes;
	return NK_OK;
}

/* The lists of chosen items; null also where an argument of one value a row is. */
static nk_status finish(const nk_call *call, const nk_lists *lists, chosen *c, nk_array *const *also,
                        int n_also, nk_array **out, nk_error *err)
{
	nk_array *items = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_take_optional(call->memory, lists->items, c->from, c->to[lists->n_rows], &items, err));
	NK_TRY(nk_lists_wrap(call->memory, call->dtype, lists, NK_STEAL(c->offsets), items, &result, err));
	bool more_nulls = false;
	for (int i = 0; i < n_also; i++)
		more_nulls |= also[i]->physical == NK_PHYSICAL_NONE || also[i]->validity;
	if (!more_nulls) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(lists->n_rows), &validity, err));
	for (int64_t i = 0; i < lists->n_rows; i++) {
		bool valid = nk_array_is_valid(result, i);
		for (int k = 0; k < n_also && valid; k++)
			valid = nk_array_is_valid(also[k], i);
		validity->bytes[i >> 3] |= (uint8_t)(valid << (i & 7));
	}
	return nk_array_with_validity(result, NK_STEAL(validity), -1, out, err);
}

/* Of an Int64 argument, flat or constant. */
static int64_t integer_at(const nk_array *array, int64_t row)
{
	return ((const int64_t *)array->values)[nk_array_index(array, row)];
}

static nk_status bind_same(nk_bind *bind, nk_kernel *kernel, nk_error *err)
{
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	bind->dtype = nk_dtype_list(bind->args[0].dtype->fields[0].dtype);
	if (!bind->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->casts[0] = bind->dtype;
	for (int i = 1; i < bind->n_args; i++) {
		nk_type_id id = bind->args[i].dtype->id;
		if (!nk_type_is_integer(id) && id != NK_TYPE_NULL)
			return nk_fail(err, NK_INVALID_OPERATION, "`%s` takes integers, got `%s`", bind->func->name,
			               nk_dtype_short_name(bind->args[i].dtype));
		bind->casts[i] = nk_dtype_of(NK_TYPE_INT64);
	}
	bind->kernel = kernel;
	return NK_OK;
}

/* ---- slice ---- */

static nk_status slice_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const int *n_args = call->data;
	NK_LISTS(lists);
	CHOSEN(c);
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(chosen_offsets(call->memory, n_rows, &c, err));
	NK_TRY(chosen_items(call->memory, lists.offsets[n_rows], &c, err));
	int64_t n_items = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t first = lists.offsets[i], n = lists.offsets[i + 1] - first;
		int64_t offset = nk_array_is_valid(args[1], i) ? integer_at(args[1], i) : n, length = n;
		if (*n_args > 2)
			length = nk_array_is_valid(args[2], i) ? integer_at(args[2], i) : n;
		length = length < 0 ? INT64_MAX : length; /* as if unsigned */
		/* What lies before the list is cut off the length. */
		int64_t from = offset < 0 ? NK_MAX(offset, INT64_MIN / 2) + n : offset;
		int64_t to = length > INT64_MAX / 4 ? n : from > n ? n : from + length;
		from = from < 0 ? 0 : NK_MIN(from, n);
		to = NK_MIN(to, n);
		for (int64_t j = from; j < to; j++)
			c.from[n_items++] = first + j;
		c.to[i + 1] = n_items;
	}
	return finish(call, &lists, &c, args + 1, 1, out, err);
}

static nk_status bind_slice(nk_bind *bind, nk_error *err)
{
	int *n_args;
	NK_TRY(NK_ARENA_NEW(bind->arena, &n_args, 1, err));
	*n_args = bind->n_args;
	bind->data = n_args;
	return bind_same(bind, slice_kernel, err);
}

/* ---- reverse, shift ---- */

/* Results as long as the lists. */
static nk_status same_lengths(const nk_call *call, const nk_lists *lists, chosen *c, nk_error *err)
{
	NK_TRY(chosen_offsets(call->memory, lists->n_rows, c, err));
	memcpy(c->to, lists->offsets, (size_t)(lists->n_rows + 1) * sizeof *c->to);
	return chosen_items(call->memory, lists->offsets[lists->n_rows], c, err);
}

static nk_status reverse_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_LISTS(lists);
	CHOSEN(c);
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(same_lengths(call, &lists, &c, err));
	for (int64_t i = 0; i < n_rows; i++)
		for (int64_t j = c.to[i]; j < c.to[i + 1]; j++)
			c.from[j] = c.to[i] + c.to[i + 1] - 1 - j;
	return finish(call, &lists, &c, NULL, 0, out, err);
}

static nk_status bind_reverse(nk_bind *bind, nk_error *err) { return bind_same(bind, reverse_kernel, err); }

static nk_status shift_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	NK_LISTS(lists);
	CHOSEN(c);
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(same_lengths(call, &lists, &c, err));
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t by = nk_array_is_valid(args[1], i) ? integer_at(args[1], i) : 0;
		for (int64_t j = c.to[i]; j < c.to[i + 1]; j++) {
			int64_t from;
			bool outside = __builtin_sub_overflow(j, by, &from) || from < c.to[i] || from >= c.to[i + 1];
			c.from[j] = outside ? -1 : from;
		}
	}
	return finish(call, &lists, &c, args + 1, 1, out, err);
}

static nk_status bind_shift(nk_bind *bind, nk_error *err) { return bind_same(bind, shift_kernel, err); }

/* ---- sort ---- */

static nk_status sort_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_LISTS(lists);
	CHOSEN(c);
	NK_AUTO(nk_buffer) order = NULL, *rows = NULL, *next = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	int64_t n_items = lists.offsets[n_rows];
	if (n_items >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "`%s` takes at most 4294967294 items", call->func->name);
	NK_TRY(same_lengths(call, &lists, &c, err));
	NK_TRY(nk_buffer_new(call->memory, n_items * (int64_t)sizeof(uint32_t), &order, err));
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &next, err));
	NK_TRY(nk_lists_rows(call->memory, lists.offsets, n_rows, &rows, err));
	uint32_t *sorted = (uint32_t *)(void *)order->bytes;
	const uint32_t *row_of = (const uint32_t *)(void *)rows->bytes;
	int64_t *place = (int64_t *)(void *)next->bytes;
	nk_sort_key key = {call->options[0].boolean, call->options[1].boolean};
	NK_TRY(nk_sort_rows(call->memory, NULL, &lists.items, &key, 1, n_items, sorted, err));
	memcpy(place, c.to, (size_t)n_rows * sizeof *place);
	for (int64_t k = 0; k < n_items; k++)
		c.from[place[row_of[sorted[k]]]++] = sorted[k];
	return finish(call, &lists, &c, NULL, 0, out, err);
}

static nk_status bind_sort(nk_bind *bind, nk_error *err) { return bind_same(bind, sort_kernel, err); }

/* ---- unique, drop_nulls ---- */

/* keep[j]: whether item j stays. */
static nk_status keep_items(const nk_call *call, const nk_lists *lists, const uint8_t *keep, nk_array **out,
                            nk_error *err)
{
	CHOSEN(c);
	NK_TRY(chosen_offsets(call->memory, lists->n_rows, &c, err));
	NK_TRY(chosen_items(call->memory, lists->offsets[lists->n_rows], &c, err));
	int64_t n_items = 0;
	for (int64_t i = 0; i < lists->n_rows; i++) {
		for (int64_t j = lists->offsets[i]; j < lists->offsets[i + 1]; j++) {
			c.from[n_items] = j;
			n_items += keep[j];
		}
		c.to[i + 1] = n_items;
	}
	return finish(call, lists, &c, NULL, 0, out, err);
}

static nk_status unique_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	NK_LISTS(lists);
	NK_AUTO(nk_buffer) keep = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_buffer_new(call->memory, lists.offsets[n_rows], &keep, err));
	NK_TRY(nk_items_first(call->memory, &lists, keep->bytes, err));
	return keep_items(call, &lists, keep->bytes, out, err);
}

static nk_status bind_unique(nk_bind *bind, nk_error *err) { return bind_same(bind, unique_kernel, err); }

static nk_status drop_nulls_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	NK_LISTS(lists);
	NK_AUTO(nk_buffer) keep = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	int64_t n_items = lists.offsets[n_rows];
	NK_TRY(nk_buffer_new(call->memory, n_items, &keep, err));
	for (int64_t j = 0; j < n_items; j++)
		keep->bytes[j] = nk_array_is_valid(lists.items, j);
	return keep_items(call, &lists, keep->bytes, out, err);
}

static nk_status bind_drop_nulls(nk_bind *bind, nk_error *err)
{
	return bind_same(bind, drop_nulls_kernel, err);
}

/* ---- filter ---- */

static nk_status filter_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	NK_LISTS(lists);
	NK_LISTS(masks);
	NK_AUTO(nk_buffer) keep = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_lists_of(call->memory, args[1], &masks, err));
	if (memcmp(lists.offsets, masks.offsets, (size_t)(n_rows + 1) * sizeof(int64_t)) != 0)
		return nk_fail(err, NK_SHAPE, "the predicate of `list.filter` has other lengths than the lists");
	int64_t n_items = lists.offsets[n_rows];
	NK_TRY(nk_buffer_new(call->memory, n_items, &keep, err));
	for (int64_t j = 0; j < n_items; j++)
		keep->bytes[j] = nk_array_is_valid(masks.items, j) && nk_bitmap_get(masks.items->values, j);
	return keep_items(call, &lists, keep->bytes, out, err);
}

static nk_status bind_filter(nk_bind *bind, nk_error *err)
{
	for (int i = 0; i < 2; i++)
		if (bind->args[i].dtype->physical != NK_PHYSICAL_LIST)
			return nk__refuse_list(bind, i, err);
	const nk_dtype *mask = bind->args[1].dtype->fields[0].dtype;
	if (mask->id != NK_TYPE_BOOLEAN && mask->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "filter predicate must be of type `Boolean`, got `%s`",
		               nk_dtype_short_name(mask));
	bind->dtype = bind->casts[0] = nk_dtype_list(bind->args[0].dtype->fields[0].dtype);
	bind->casts[1] = nk_dtype_list(nk_dtype_of(NK_TYPE_BOOLEAN));
	if (!bind->dtype || !bind->casts[1])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->kernel = filter_kernel;
	return NK_OK;
}

/* ---- gather ---- */

static nk_status gather_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	bool null_on_oob = call->options[0].boolean;
	NK_LISTS(lists);
	NK_LISTS(wanted);
	CHOSEN(c);
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_lists_of(call->memory, args[1], &wanted, err));
	NK_TRY(chosen_offsets(call->memory, n_rows, &c, err));
	NK_TRY(chosen_items(call->memory, wanted.offsets[n_rows], &c, err));
	const int64_t *index = wanted.items->values;
	int64_t n_items = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t first = lists.offsets[i], n = lists.offsets[i + 1] - first;
		bool valid = nk_lists_valid(&lists, i);
		for (int64_t j = wanted.offsets[i]; valid && j < wanted.offsets[i + 1]; j++) {
			int64_t at = -1;
			if (nk_array_is_valid(wanted.items, j)) {
				at = index[j] < 0 ? index[j] + n : index[j];
				if (at < 0 || at >= n) {
					if (!null_on_oob)
						return nk_fail(err, NK_OUT_OF_BOUNDS,
						               "gather indices are out of bounds: %lld in a list of %lld items",
						               (long long)index[j], (long long)n);
					at = -1;
				}
			}
			c.from[n_items++] = at < 0 ? -1 : first + at;
		}
		c.to[i + 1] = n_items;
	}
	return finish(call, &lists, &c, args + 1, 1, out, err);
}

static nk_status bind_gather(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	const nk_dtype *indices = bind->args[1].dtype;
	bool is_list = indices->physical == NK_PHYSICAL_LIST;
	nk_type_id id = is_list ? indices->fields[0].dtype->id : indices->id;
	if (!is_list || (!nk_type_is_integer(id) && id != NK_TYPE_NULL))
		return nk_fail(err, NK_INVALID_OPERATION,
		               "indices of `list.gather` must be lists of integers, got `%s`",
		               nk_dtype_short_name(indices));
	bind->dtype = bind->casts[0] = nk_dtype_list(bind->args[0].dtype->fields[0].dtype);
	bind->casts[1] = nk_dtype_list(nk_dtype_of(NK_TYPE_INT64));
	if (!bind->dtype || !bind->casts[1])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->kernel = gather_kernel;
	bind->fallible = !bind->options[0].boolean;
	return NK_OK;
}

static nk_status gather_every_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                     nk_array **out, nk_error *err)
{
	NK_LISTS(lists);
	CHOSEN(c);
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(chosen_offsets(call->memory, n_rows, &c, err));
	NK_TRY(chosen_items(call->memory, lists.offsets[n_rows], &c, err));
	int64_t n_items = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		bool valid =
			nk_lists_valid(&lists, i) && nk_array_is_valid(args[1], i) && nk_array_is_valid(args[2], i);
		int64_t step = valid ? integer_at(args[1], i) : 1, offset = valid ? integer_at(args[2], i) : 0;
		if (step <= 0 || offset < 0)
			return nk_fail(
				err, NK_COMPUTE,
				"`list.gather_every` takes every n-th item from an offset, n at least 1; got n=%lld, "
				"offset=%lld",
				(long long)step, (long long)offset);
		int64_t n = lists.offsets[i + 1] - lists.offsets[i];
		for (int64_t j = offset; valid && j < n; j += step) {
			c.from[n_items++] = lists.offsets[i] + j;
			if (step > n - j)
				break;
		}
		c.to[i + 1] = n_items;
	}
	return finish(call, &lists, &c, args + 1, 2, out, err);
}

static nk_status bind_gather_every(nk_bind *bind, nk_error *err)
{
	return bind_same(bind, gather_every_kernel, err);
}

static const nk_option_spec sort_options[] = {
	{"descending", {.kind = NK_OPTION_BOOL}},
	{"nulls_last", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec unique_options[] = {
	{"maintain_order", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec gather_options[] = {
	{"null_on_oob", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_list_rows[] = {
	{
		.name = "list.slice",
		.args = "x, offset, length",
		.doc = "A part of each list: an offset, from the end when negative, and a length, to the end by "
			   "default.",
		.example = "list.slice([[1, 2, 3], null], 1) == [[2, 3], null]",
		.min_args = 2,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_slice,
	},
	{
		.name = "list.reverse",
		.args = "x",
		.doc = "The items of each list in reverse order.",
		.example = "list.reverse([[1, 2], null]) == [[2, 1], null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_reverse,
	},
	{
		.name = "list.shift",
		.args = "x, n",
		.doc = "The items of each list moved by n places; null comes in.",
		.example = "list.shift([[1, 2], null], 1) == [[null, 1], null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_shift,
	},
	{
		.name = "list.sort",
		.args = "x",
		.doc = "The items of each list in order, nulls first unless nulls_last.",
		.example = "list.sort([[2, null, 1], []]) == [[null, 1, 2], []]",
		.options = sort_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_sort,
	},
	{
		.name = "list.unique",
		.args = "x",
		.doc = "Each item of each list once, in the order of first appearance.",
		.example = "list.unique([[2, null, 2], []]) == [[2, null], []]",
		.options = unique_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_unique,
	},
	{
		.name = "list.drop_nulls",
		.args = "x",
		.doc = "The items of each list that are not null.",
		.example = "list.drop_nulls([[2, null], [null]]) == [[2], []]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_drop_nulls,
	},
	{
		.name = "list.filter",
		.args = "x, predicate",
		.doc = "The items of each list where a list of Booleans of the same length is true.",
		.example = "list.filter([[1, 2], []], [[true, null], []]) == [[1], []]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_filter,
	},
	{
		.name = "list.gather",
		.args = "x, indices",
		.doc = "The items of each list at given positions, a list for each; negative ones count from the "
			   "end, null gives null. "
			   "Out of bounds fails with OutOfBoundsError, or gives null with null_on_oob.",
		.example = "list.gather([[5, 6], null], [[-1, 0], [0]]) == [[6, 5], null]",
		.options = gather_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_gather,
	},
	{
		.name = "list.gather_every",
		.args = "x, n, offset",
		.doc = "Every n-th item of each list from an offset. Fails with ComputeError when n is not positive.",
		.example = "list.gather_every([[1, 2, 3], null], 2, 0) == [[1, 3], null]",
		.min_args = 3,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_gather_every,
	},
	{0},
};
