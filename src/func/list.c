/* The namespace `list`: what aggregates a list, which the functions of columns do (func/each.h), and what looks into
 * one: len, get, contains, count_matches, join, item. */
#include "compute/compare.h"
#include "compute/nested.h"
#include "compute/nested_keys.h"
#include "compute/select.h"
#include "compute/text_writer.h"
#include "func/each.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

static nk_status check_list(const nk_bind *bind, nk_error *err)
{
	return bind->args[0].dtype->physical == NK_PHYSICAL_LIST ? NK_OK : nk__refuse_list(bind, 0, err);
}

/* ---- len ---- */

static nk_status len_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) lists = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &lists, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	const int64_t *offsets = lists->values;
	uint32_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = (uint32_t)(offsets[i + 1] - offsets[i]);
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_len(nk_bind *bind, nk_error *err)
{
	NK_TRY(check_list(bind, err));
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = len_kernel;
	return NK_OK;
}

/* ---- get, item ---- */

static nk_status get_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	bool null_on_oob = call->options[0].boolean;
	NK_AUTO(nk_array) lists = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &lists, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	const int64_t *offsets = lists->values, *index = args[1]->values;
	for (int64_t i = 0; i < n_rows; i++) {
		to[i] = -1;
		if (!nk_array_is_valid(lists, i) || !nk_array_is_valid(args[1], i))
			continue;
		int64_t n = offsets[i + 1] - offsets[i], at = index[nk_array_index(args[1], i)];
		at = at < 0 ? at + n : at;
		if (at >= 0 && at < n)
			to[i] = offsets[i] + at;
		else if (!null_on_oob)
			return nk_fail(err, NK_COMPUTE, "get index is out of bounds");
	}
	return nk_array_take_optional(call->memory, lists->children[0], to, n_rows, out, err);
}

static nk_status bind_get(nk_bind *bind, nk_error *err)
{
	NK_TRY(check_list(bind, err));
	nk_type_id id = bind->args[1].dtype->id;
	if (!nk_type_is_integer(id) && id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "index of `%s` must be an integer, got `%s`",
		               bind->func->name, nk_dtype_short_name(bind->args[1].dtype));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	bind->dtype = bind->args[0].dtype->fields[0].dtype;
	bind->kernel = get_kernel;
	bind->fallible = !bind->options[0].boolean;
	return NK_OK;
}

static nk_status item_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	bool allow_empty = call->options[0].boolean;
	NK_AUTO(nk_array) lists = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &lists, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)(void *)rows->bytes;
	const int64_t *offsets = lists->values;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t n = offsets[i + 1] - offsets[i];
		bool valid = nk_array_is_valid(lists, i);
		to[i] = valid && n ? offsets[i] : -1;
		if (!valid || n == 1 || (n == 0 && allow_empty))
			continue;
		if (n == 0)
			return nk_fail(err, NK_COMPUTE, "aggregation 'item' expected a single value, got none");
		return nk_fail(err, NK_COMPUTE, "aggregation 'item' expected a single value, got %lld values",
		               (long long)n);
	}
	return nk_array_take_optional(call->memory, lists->children[0], to, n_rows, out, err);
}

static nk_status bind_item(nk_bind *bind, nk_error *err)
{
	NK_TRY(check_list(bind, err));
	bind->dtype = bind->args[0].dtype->fields[0].dtype;
	bind->kernel = item_kernel;
	return NK_OK;
}

/* ---- n_unique ---- */

static nk_status n_unique_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	NK_LISTS(lists);
	NK_AUTO(nk_buffer) first = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_buffer_new(call->memory, lists.offsets[n_rows], &first, err));
	NK_TRY(nk_items_first(call->memory, &lists, first->bytes, err));
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	uint32_t *counts = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		counts[i] = 0;
		for (int64_t j = lists.offsets[i]; j < lists.offsets[i + 1]; j++)
			counts[i] += first->bytes[j];
	}
	return nk_lists_null_where(call->memory, &lists, NK_STEAL(result), out, err);
}

static nk_status bind_n_unique(nk_bind *bind, nk_error *err)
{
	NK_TRY(check_list(bind, err));
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = n_unique_kernel;
	return NK_OK;
}

/* ---- contains, count_matches ---- */

enum { COUNTS = 1 };

/* For each list, how many items equal the row's value: null equals null. The value is spread over the items and the two
 * are compared at once. */
static nk_status count_equal(const nk_call *call, const nk_lists *lists, nk_array *value, uint32_t *counts,
                             nk_error *err)
{
	nk_memory *memory = call->memory;
	int64_t n_rows = lists->n_rows, n_items = lists->offsets[n_rows];
	NK_AUTO(nk_array) spread = NULL;
	NK_AUTO(nk_buffer) rows = NULL, *bits = NULL;
	NK_AUTO(nk_array) left = NULL;
	NK_AUTO(nk_array) right = NULL;
	if (value->encoding == NK_CONSTANT || value->physical == NK_PHYSICAL_NONE) {
		NK_TRY(nk_array_new_constant(memory, value, n_items, &spread, err));
	} else {
		NK_TRY(nk_lists_rows(memory, lists->offsets, n_rows, &rows, err));
		NK_TRY(nk_array_take(memory, value, (const uint32_t *)(void *)rows->bytes, n_items, &spread, err));
	}
	if (lists->items->dtype->id == NK_TYPE_DECIMAL) {
		NK_TRY(nk_decimal_align(memory, lists->items, spread, &left, &right, err));
	} else {
		left = nk_array_ref(lists->items);
		right = nk_array_ref(spread);
	}
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_items), &bits, err));
	if (left->physical == NK_PHYSICAL_NONE)
		memset(bits->bytes, 0, (size_t)nk_bitmap_bytes(n_items));
	else
		nk_compare(NK_EQ, left, right, n_items, bits->bytes);
	for (int64_t i = 0; i < n_items; i += 64) {
		uint64_t valid_left = nk__valid_word(left, i, n_items),
				 valid_right = nk__valid_word(right, i, n_items);
		uint64_t both = nk_bitmap_word(bits->bytes, i, n_items) & valid_left & valid_right;
		uint64_t in = n_items - i < 64 ? ((uint64_t)1 << (n_items - i)) - 1 : UINT64_MAX;
		nk__put_word(bits->bytes, i, n_items, both | (in & ~valid_left & ~valid_right));
	}
	for (int64_t i = 0; i < n_rows; i++)
		counts[i] = (uint32_t)nk_bitmap_count(bits->bytes, lists->offsets[i],
		                                      lists->offsets[i + 1] - lists->offsets[i]);
	return NK_OK;
}

static nk_status contains_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	bool counts_them = *(const int *)call->data == COUNTS,
		 nulls_equal = counts_them || call->options[0].boolean;
	NK_LISTS(lists);
	NK_AUTO(nk_buffer) counts = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(uint32_t), &counts, err));
	uint32_t *count = (uint32_t *)(void *)counts->bytes;
	NK_TRY(count_equal(call, &lists, args[1], count, err));
	if (counts_them) {
		NK_TRY(nk_array_new_flat(call->dtype, NK_PHYSICAL_U32, n_rows, NK_STEAL(counts), NULL, 0, NULL,
		                         &result, err));
		return nk_lists_null_where(call->memory, &lists, NK_STEAL(result), out, err);
	}
	bool may_null = !nulls_equal && nk__may_have_nulls(args[1]);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, may_null, &result, err));
	uint8_t *bits = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++) {
		bits[i >> 3] |= (uint8_t)((count[i] != 0) << (i & 7));
		if (may_null && !nk_array_is_valid(args[1], i))
			nk_bitmap_clear(nk_array_validity(result), i);
	}
	result->n_nulls = may_null ? -1 : 0;
	return nk_lists_null_where(call->memory, &lists, NK_STEAL(result), out, err);
}

static nk_status bind_search(nk_bind *bind, int kind, nk_error *err)
{
	static const int kinds[] = {0, COUNTS};
	NK_TRY(check_list(bind, err));
	const nk_dtype *item = bind->args[0].dtype->fields[0].dtype, *value = bind->args[1].dtype;
	nk_argument items = {.dtype = item};
	bool lossy = false;
	const nk_dtype *both = nk_supertype_of_arguments(&items, &bind->args[1], &lossy);
	bool by_text = nk_type_is_category(item->id) && value->id == NK_TYPE_STRING;
	both = by_text ? value : both;
	bool fits = by_text || value->id == NK_TYPE_NULL || item->id == NK_TYPE_NULL || value == item ||
	            (nk_type_is_numeric(value->id) && nk_type_is_numeric(item->id) &&
	             (nk_type_is_float(item->id) || !nk_type_is_float(value->id))) ||
	            (item->id == value->id && both);
	if (!fits || !both)
		return nk_fail(err, NK_INVALID_OPERATION, "'%s' cannot check for %s values in %s data",
		               bind->func->name, value->text, bind->args[0].dtype->text);
	bind->casts[0] = nk_dtype_list(both);
	bind->casts[1] = both;
	if (!bind->casts[0])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->data = &kinds[kind];
	bind->dtype = nk_dtype_of(kind == COUNTS ? NK_TYPE_UINT32 : NK_TYPE_BOOLEAN);
	bind->kernel = contains_kernel;
	return NK_OK;
}

static nk_status bind_contains(nk_bind *bind, nk_error *err) { return bind_search(bind, 0, err); }
static nk_status bind_count_matches(nk_bind *bind, nk_error *err) { return bind_search(bind, COUNTS, err); }

/* ---- join ---- */

/* Bytes of the items from..to with separators between them; -1 when a null makes the result null. */
static int64_t joined_size(const nk_array *items, int64_t from, int64_t to, int64_t n_separator,
                           bool ignores_nulls)
{
	const nk_view *texts = items->values;
	int64_t n_bytes = 0, n_texts = 0;
	for (int64_t j = from; j < to; j++) {
		if (nk_array_is_valid(items, j)) {
			n_bytes += texts[j].n_bytes;
			n_texts++;
		} else if (!ignores_nulls) {
			return -1;
		}
	}
	return n_bytes + (n_texts > 1 ? (n_texts - 1) * n_separator : 0);
}

static nk_status join_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	bool ignores_nulls = call->options[0].boolean;
	NK_LISTS(lists);
	NK_TEXT_WRITER(writer);
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
	const nk_array *items = lists.items, *separators = args[1];
	const nk_view *texts = items->values;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t from = lists.offsets[i], to = lists.offsets[i + 1], size = -1;
		const nk_view *separator = (const nk_view *)separators->values + nk_array_index(separators, i);
		if (nk_lists_valid(&lists, i) && nk_array_is_valid(separators, i))
			size = joined_size(items, from, to, separator->n_bytes, ignores_nulls);
		if (size < 0) {
			nk_text_writer_skip(&writer);
			continue;
		}
		char *room, *at;
		NK_TRY(nk_text_writer_room(&writer, size, &room, err));
		at = room;
		for (int64_t j = from; j < to; j++) {
			if (!nk_array_is_valid(items, j))
				continue;
			memcpy(at, nk_view_bytes(&texts[j], items->heap), texts[j].n_bytes);
			at += texts[j].n_bytes;
			if (at < room + size) {
				memcpy(at, nk_view_bytes(separator, separators->heap), separator->n_bytes);
				at += separator->n_bytes;
			}
		}
		nk_text_writer_commit(&writer, size);
		nk_bitmap_set(validity->bytes, i);
	}
	return nk_text_writer_finish(&writer, NK_STEAL(validity), out, err);
}

static nk_status bind_join(nk_bind *bind, nk_error *err)
{
	NK_TRY(check_list(bind, err));
	const nk_dtype *string = nk_dtype_of(NK_TYPE_STRING);
	nk_type_id id = bind->args[0].dtype->fields[0].dtype->id;
	if (id != NK_TYPE_STRING && id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "attempted list join with non-string dtype: %s",
		               nk_dtype_short_name(bind->args[0].dtype));
	if (bind->args[1].dtype != string && bind->args[1].dtype->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "separator of `list.join` must be text, got `%s`",
		               nk_dtype_short_name(bind->args[1].dtype));
	bind->casts[0] = nk_dtype_list(string);
	if (!bind->casts[0])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->casts[1] = string;
	bind->dtype = string;
	bind->kernel = join_kernel;
	return NK_OK;
}

static const nk_option_spec ddof_options[] = {
	{"ddof", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

static const nk_option_spec ignore_nulls_options[] = {
	{"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec get_options[] = {
	{"null_on_oob", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec item_options[] = {
	{"allow_empty", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec contains_options[] = {
	{"nulls_equal", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_list[] = {
	{
		.name = "list.sum",
		.args = "x",
		.doc = "The sum of each list; 0 of an empty one.",
		.example = "list.sum([[1, 2], [], null]) == [3, 0, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.mean",
		.args = "x",
		.doc = "The mean of each list.",
		.example = "list.mean([[1, 2], []]) == [1.5, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.min",
		.args = "x",
		.doc = "The least item of each list.",
		.example = "list.min([[1, 2], []]) == [1, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.max",
		.args = "x",
		.doc = "The greatest item of each list.",
		.example = "list.max([[1, 2], []]) == [2, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.median",
		.args = "x",
		.doc = "The median of each list.",
		.example = "list.median([[1, 2], []]) == [1.5, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.std",
		.args = "x",
		.doc = "The standard deviation of each list with divisor n - ddof.",
		.example = "list.std([[1, 3], []]) == [1.4142135623730951, null]",
		.options = ddof_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.var",
		.args = "x",
		.doc = "The variance of each list with divisor n - ddof.",
		.example = "list.var([[1, 3], []]) == [2.0, null]",
		.options = ddof_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.n_unique",
		.args = "x",
		.doc = "How many different items each list has; null counts as one.",
		.example = "list.n_unique([[1, 1], []]) == [1, 0]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_n_unique,
	},
	{
		.name = "list.arg_min",
		.args = "x",
		.doc = "The position of the least item of each list.",
		.example = "list.arg_min([[2, 1], []]) == [1, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.arg_max",
		.args = "x",
		.doc = "The position of the greatest item of each list.",
		.example = "list.arg_max([[2, 1], []]) == [0, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.any",
		.args = "x",
		.doc = "Whether any item of each list is true.",
		.example = "list.any([[true, false], []]) == [true, false]",
		.options = ignore_nulls_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.all",
		.args = "x",
		.doc = "Whether all items of each list are true.",
		.example = "list.all([[true, false], []]) == [false, true]",
		.options = ignore_nulls_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = nk__bind_list,
	},
	{
		.name = "list.len",
		.args = "x",
		.doc = "How many items each list has, UInt32.",
		.example = "list.len([[1, null], [], null]) == [2, 0, null]",
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_len,
	},
	{
		.name = "list.get",
		.args = "x, index",
		.doc = "The item of each list at a position, from the end when negative. Out of bounds fails with "
			   "ComputeError, or gives null with null_on_oob.",
		.example = "list.get([[1, 2], null], -1) == [2, null]",
		.options = get_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_get,
	},
	{
		.name = "list.item",
		.args = "x",
		.doc = "The only item of each list. Fails with ComputeError when a list has another number of items; "
			   "an empty one gives null with allow_empty.",
		.example = "list.item([[1], null]) == [1, null]",
		.options = item_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_item,
	},
	{
		.name = "list.contains",
		.args = "x, item",
		.doc = "Whether each list has an item equal to a value. Null equals null unless nulls_equal is "
			   "false: then null gives null.",
		.example = "list.contains([[1, 2], [], null], 2) == [true, false, null]",
		.options = contains_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_contains,
	},
	{
		.name = "list.count_matches",
		.args = "x, element",
		.doc = "How many items of each list equal a value; null equals null.",
		.example = "list.count_matches([[2, 2], []], 2) == [2, 0]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_count_matches,
	},
	{
		.name = "list.join",
		.args = "x, separator",
		.doc = "The texts of each list as one. A null item is left out, or with ignore_nulls=False makes the "
			   "result null.",
		.example = "list.join([[\"a\", null, \"b\"], []], \"-\") == [\"a-b\", \"\"]",
		.options = ignore_nulls_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_join,
	},
	{0},
};
