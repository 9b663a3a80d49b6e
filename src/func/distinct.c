/* Values that occur more than once: is_unique, is_duplicated, is_first_distinct, is_last_distinct, arg_unique,
 * unique_counts, mode and runs of equal values. Each numbers the rows by their value with a group table, in order of
 * appearance, and answers from the numbers; null is a value. */
#include "compute/group_table.h"
#include "compute/select.h"
#include "func/func.h"

enum { BLOCK = 4096 };

/* The group of every row, and how many there are. *out is owned. */
static nk_status number_rows(const nk_call *call, nk_array *array, int64_t n_rows, nk_buffer **out,
                             int64_t *n_groups, nk_error *err)
{
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) groups = NULL;
	NK_TRY(nk_buffer_new_zeroed(call->memory, n_rows * (int64_t)sizeof(uint32_t) + 64, &groups, err));
	uint32_t *to = (uint32_t *)(void *)groups->bytes;
	*n_groups = n_rows > 0;
	if (array->physical != NK_PHYSICAL_NONE && array->encoding != NK_CONSTANT) {
		NK_TRY(nk_group_table_new(call->memory, &array->dtype, 1, 0, &table, err));
		for (int64_t i = 0; i < n_rows; i += BLOCK) {
			int64_t n = NK_MIN(n_rows - i, (int64_t)BLOCK);
			NK_AUTO(nk_array) block = NULL;
			NK_TRY(nk_array_slice(call->memory, array, i, n, &block, err));
			NK_TRY(nk_group_table_insert(table, &block, n, to + i, err));
		}
		*n_groups = nk_group_table_n_groups(table);
	}
	*out = NK_STEAL(groups);
	return NK_OK;
}

/* How many rows each group has. *out is owned. */
static nk_status count_rows(const nk_call *call, const uint32_t *groups, int64_t n_rows, int64_t n_groups,
                            nk_buffer **out, nk_error *err)
{
	NK_TRY(nk_buffer_new_zeroed(call->memory, n_groups * (int64_t)sizeof(uint32_t) + 8, out, err));
	uint32_t *counts = (uint32_t *)(void *)(*out)->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		counts[groups[i]]++;
	return NK_OK;
}

static nk_status new_u32(const nk_call *call, int64_t n, nk_array **out, nk_error *err)
{
	return nk_array_alloc(call->memory, nk_dtype_of(NK_TYPE_UINT32), NK_PHYSICAL_U32, n, false, out, err);
}

/* ---- Once or more ---- */

typedef enum occurrence { ONCE, REPEATED, FIRST, LAST } occurrence;
static const occurrence occurrences[] = {ONCE, REPEATED, FIRST, LAST};

static nk_status occurrence_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	occurrence which = *(const occurrence *)call->data;
	NK_AUTO(nk_buffer) numbers = NULL;
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_array) result = NULL;
	int64_t n_groups;
	NK_TRY(number_rows(call, args[0], n_rows, &numbers, &n_groups, err));
	const uint32_t *groups = (const uint32_t *)(const void *)numbers->bytes;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	uint8_t *bits = nk_array_values(result);
	if (which == FIRST) {
		uint32_t n_known = 0;
		for (int64_t i = 0; i < n_rows; i++)
			if (groups[i] == n_known) {
				nk_bitmap_set(bits, i);
				n_known++;
			}
		*out = NK_STEAL(result);
		return NK_OK;
	}
	NK_TRY(count_rows(call, groups, n_rows, n_groups, &room, err));
	uint32_t *counts = (uint32_t *)(void *)room->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		if (which == LAST ? --counts[groups[i]] == 0 : (counts[groups[i]] == 1) == (which == ONCE))
			nk_bitmap_set(bits, i);
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_occurrence(nk_bind *bind, occurrence which, nk_error *err)
{
	(void)err;
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = &occurrences[which];
	bind->kernel = occurrence_kernel;
	return NK_OK;
}

static nk_status bind_is_unique(nk_bind *bind, nk_error *err) { return bind_occurrence(bind, ONCE, err); }
static nk_status bind_is_duplicated(nk_bind *bind, nk_error *err)
{
	return bind_occurrence(bind, REPEATED, err);
}
static nk_status bind_is_first(nk_bind *bind, nk_error *err) { return bind_occurrence(bind, FIRST, err); }
static nk_status bind_is_last(nk_bind *bind, nk_error *err) { return bind_occurrence(bind, LAST, err); }

/* ---- One row per value ---- */

static nk_status arg_unique_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	NK_AUTO(nk_buffer) numbers = NULL;
	NK_AUTO(nk_array) result = NULL;
	int64_t n_groups, n_known = 0;
	if (n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "`arg_unique` takes at most 4294967294 rows");
	NK_TRY(number_rows(call, args[0], n_rows, &numbers, &n_groups, err));
	const uint32_t *groups = (const uint32_t *)(const void *)numbers->bytes;
	NK_TRY(new_u32(call, n_groups, &result, err));
	for (int64_t i = 0; i < n_rows && n_known < n_groups; i++)
		if (groups[i] == n_known)
			((uint32_t *)nk_array_values(result))[n_known++] = (uint32_t)i;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status unique_counts_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                      nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) numbers = NULL;
	NK_AUTO(nk_buffer) counts = NULL;
	NK_AUTO(nk_array) result = NULL;
	int64_t n_groups;
	NK_TRY(number_rows(call, args[0], n_rows, &numbers, &n_groups, err));
	NK_TRY(count_rows(call, (const uint32_t *)(const void *)numbers->bytes, n_rows, n_groups, &counts, err));
	NK_TRY(new_u32(call, n_groups, &result, err));
	if (n_groups)
		memcpy(nk_array_values(result), counts->bytes, (size_t)n_groups * sizeof(uint32_t));
	*out = NK_STEAL(result);
	return NK_OK;
}

/* The values whose count is the largest, in order of appearance. */
static nk_status mode_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_buffer) numbers = NULL;
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_buffer) chosen = NULL;
	int64_t n_groups, n_known = 0, n_chosen = 0;
	NK_TRY(number_rows(call, args[0], n_rows, &numbers, &n_groups, err));
	const uint32_t *groups = (const uint32_t *)(const void *)numbers->bytes;
	NK_TRY(count_rows(call, groups, n_rows, n_groups, &room, err));
	NK_TRY(nk_buffer_new(call->memory, n_groups * (int64_t)sizeof(int64_t) + 8, &chosen, err));
	const uint32_t *counts = (const uint32_t *)(const void *)room->bytes;
	int64_t *rows = (int64_t *)(void *)chosen->bytes;
	uint32_t most = 0;
	for (int64_t g = 0; g < n_groups; g++)
		most = NK_MAX(most, counts[g]);
	for (int64_t i = 0; i < n_rows && n_known < n_groups; i++)
		if (groups[i] == n_known && counts[n_known++] == most)
			rows[n_chosen++] = i;
	return nk_array_take_wide(call->memory, args[0], rows, n_chosen, out, err);
}

static nk_status bind_counts(nk_bind *bind, nk_kernel *kernel, nk_error *err)
{
	(void)err;
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = kernel;
	return NK_OK;
}

static nk_status bind_arg_unique(nk_bind *bind, nk_error *err)
{
	return bind_counts(bind, arg_unique_kernel, err);
}
static nk_status bind_unique_counts(nk_bind *bind, nk_error *err)
{
	return bind_counts(bind, unique_counts_kernel, err);
}

static nk_status bind_mode(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->dtype = bind->args[0].dtype;
	bind->kernel = mode_kernel;
	return NK_OK;
}

static const nk_option_spec mode_options[] = {
	{"maintain_order", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_distinct[] = {
	{
		.name = "is_unique",
		.args = "x",
		.doc = "Whether a value occurs once. Null is a value.",
		.example = "is_unique([1, null, 1]) == [false, true, false]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_is_unique,
	},
	{
		.name = "is_duplicated",
		.args = "x",
		.doc = "Whether a value occurs more than once. Null is a value.",
		.example = "is_duplicated([1, null, 1]) == [true, false, true]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_is_duplicated,
	},
	{
		.name = "is_first_distinct",
		.args = "x",
		.doc = "Whether a value occurs for the first time. Null is a value.",
		.example = "is_first_distinct([1, null, 1]) == [true, true, false]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_is_first,
	},
	{
		.name = "is_last_distinct",
		.args = "x",
		.doc = "Whether a value occurs for the last time. Null is a value.",
		.example = "is_last_distinct([1, null, 1]) == [false, true, true]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_is_last,
	},
	{
		.name = "arg_unique",
		.args = "x",
		.doc = "Positions of the first of each different value, UInt32.",
		.example = "arg_unique([3, 1, 3]) == [0, 1]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_arg_unique,
	},
	{
		.name = "unique_counts",
		.args = "x",
		.doc = "How often each different value occurs, in order of appearance, UInt32.",
		.example = "unique_counts([3, 1, 3]) == [2, 1]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_unique_counts,
	},
	{
		.name = "mode",
		.args = "x",
		.doc = "The most frequent values, in order of appearance; null is a value.",
		.example = "mode([3, 1, 3]) == [3]",
		.options = mode_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_CHANGING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_mode,
	},
	{0},
};
