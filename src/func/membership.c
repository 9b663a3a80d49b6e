/* is_in. A list known when binding becomes a set once, shared by all threads: a few values are compared with whole
 * batches, more of them are hashed. Items are brought to the needle's dtype, and those that do not survive the way
 * there and back cannot be equal to any value and drop out. List columns are searched row by row. */
#include "base/hash.h"
#include "compute/compare.h"
#include "compute/hash.h"
#include "compute/select.h"
#include "func/cast.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

enum { MAX_COMPARED = 8 };

typedef struct value_set {
	nk_array *items; /* owned: valid, of the needle's dtype, flat */
	bool has_null;
	int64_t n_slots;  /* a power of two; 0: compare with each item */
	nk_buffer *slots; /* owned: item number plus one */
} value_set;

typedef struct membership_plan {
	bool nulls_equal;
	value_set *set; /* NULL: built per call, or row by row */
} membership_plan;

static void set_release(void *object)
{
	value_set *set = object;
	nk_array_unref(set->items);
	nk_buffer_unref(set->slots);
	*set = (value_set){0};
}

static void value_set__auto(value_set **set)
{
	if (*set)
		set_release(*set);
}

/* The items' rows that hold a value which some needle could equal. */
static nk_status bring(nk_memory *memory, nk_array *items, const nk_dtype *dtype, nk_array **out,
                       nk_error *err)
{
	nk_cast_mode lenient = {0};
	NK_AUTO(nk_array) there = NULL;
	NK_AUTO(nk_array) back = NULL;
	NK_AUTO(nk_array) keep = NULL;
	NK_TRY(nk_cast(memory, items, dtype, lenient, &there, err));
	NK_TRY(nk_cast(memory, there, items->dtype, lenient, &back, err));
	NK_TRY(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_BOOLEAN), NK_PHYSICAL_BOOL, items->n_rows, false, &keep,
	                      err));
	for (int64_t i = 0; i < items->n_rows; i++)
		if (nk_array_is_valid(items, i) && nk_array_is_valid(there, i) && nk_rows_equal(items, i, back, i))
			nk_bitmap_set(nk_array_values(keep), i);
	NK_AUTO(nk_array) kept = NULL;
	NK_TRY(nk_array_filter(memory, there, keep, &kept, err));
	return nk_array_flatten(memory, kept, out, err);
}

static nk_status set_hash(nk_memory *memory, value_set *set, nk_error *err)
{
	int64_t n = set->items->n_rows;
	set->n_slots = 16;
	while (set->n_slots < 2 * n)
		set->n_slots *= 2;
	NK_AUTO(nk_buffer) hashes = NULL;
	NK_TRY(nk_buffer_new(memory, n * (int64_t)sizeof(uint64_t), &hashes, err));
	NK_TRY(nk_buffer_new_zeroed(memory, set->n_slots * (int64_t)sizeof(uint32_t), &set->slots, err));
	NK_TRY(nk_hash_array(memory, set->items, n, (uint64_t *)hashes->bytes, false, err));
	uint32_t *slots = (uint32_t *)set->slots->bytes;
	for (int64_t i = 0; i < n; i++) {
		uint64_t slot = ((uint64_t *)hashes->bytes)[i] & (uint64_t)(set->n_slots - 1);
		while (slots[slot] && !nk_rows_equal(set->items, i, set->items, slots[slot] - 1))
			slot = (slot + 1) & (uint64_t)(set->n_slots - 1);
		slots[slot] = slots[slot] ? slots[slot] : (uint32_t)i + 1;
	}
	return NK_OK;
}

static nk_status set_build(nk_memory *memory, nk_array *items, const nk_dtype *dtype, value_set *set,
                           nk_error *err)
{
	if (items->n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "`is_in` takes at most 4294967294 values");
	set->has_null = nk_array_count_nulls(items) > 0;
	if (items->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(memory, dtype, 0, &set->items, err);
	NK_TRY(bring(memory, items, dtype, &set->items, err));
	return set->items->n_rows > MAX_COMPARED ? set_hash(memory, set, err) : NK_OK;
}

static nk_status find_compared(nk_memory *memory, const value_set *set, const nk_array *needles,
                               int64_t n_rows, uint8_t *bits, nk_error *err)
{
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &room, err));
	for (int64_t k = 0; k < set->items->n_rows; k++) {
		NK_AUTO(nk_array) item = NULL;
		NK_AUTO(nk_array) one = NULL;
		NK_AUTO(nk_array) needle = NULL;
		NK_AUTO(nk_array) other = NULL;
		NK_TRY(nk_array_slice(memory, set->items, k, 1, &item, err));
		NK_TRY(nk_array_new_constant(memory, item, n_rows, &one, err));
		if (needles->dtype->id == NK_TYPE_DECIMAL)
			NK_TRY(nk_decimal_align(memory, (nk_array *)needles, one, &needle, &other, err));
		nk_compare(NK_EQ, needle ? needle : needles, other ? other : one, n_rows, room->bytes);
		for (int64_t i = 0; i < nk_bitmap_bytes(n_rows); i++)
			bits[i] |= room->bytes[i];
	}
	return NK_OK;
}

static nk_status find_hashed(nk_memory *memory, const value_set *set, const nk_array *needles, int64_t n_rows,
                             uint8_t *bits, nk_error *err)
{
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows * (int64_t)sizeof(uint64_t), &room, err));
	const uint64_t *hashes = (const uint64_t *)room->bytes;
	NK_TRY(nk_hash_array(memory, needles, n_rows, (uint64_t *)room->bytes, false, err));
	const uint32_t *slots = (const uint32_t *)set->slots->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		uint64_t slot = hashes[i] & (uint64_t)(set->n_slots - 1);
		while (slots[slot] && !nk_rows_equal(needles, i, set->items, slots[slot] - 1))
			slot = (slot + 1) & (uint64_t)(set->n_slots - 1);
		bits[i >> 3] |= (uint8_t)((slots[slot] != 0) << (i & 7));
	}
	return NK_OK;
}

/* Row by row in lists of the needle's dtype. */
static void find_in_lists(const nk_array *needles, const nk_array *lists, int64_t n_rows, bool nulls_equal,
                          uint8_t *bits)
{
	const int64_t *offsets = lists->values;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t row = nk_array_index(lists, i);
		if (!nk_array_is_valid(lists, i) || (!nulls_equal && !nk_array_is_valid(needles, i)))
			continue;
		for (int64_t j = offsets[row]; j < offsets[row + 1]; j++)
			if (nk_rows_equal(needles, i, lists->children[0], j)) {
				nk_bitmap_set(bits, i);
				break;
			}
	}
}

static nk_status items_of(nk_memory *memory, const nk_array *list, nk_array **out, nk_error *err)
{
	const int64_t *offsets = list->values;
	return nk_array_slice(memory, list->children[0], offsets[0], offsets[1] - offsets[0], out, err);
}

static nk_status is_in_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const membership_plan *plan = call->data;
	nk_memory *memory = call->memory;
	nk_array *needles = args[0], *haystack = args[1];
	value_set local = {0};
	NK_AUTO(value_set) guard = &local;
	const value_set *set = plan->set;
	bool is_list = haystack->dtype->physical == NK_PHYSICAL_LIST;
	if (!set && is_list && haystack->encoding == NK_CONSTANT && nk_array_is_valid(haystack, 0)) {
		NK_AUTO(nk_array) items = NULL;
		NK_TRY(items_of(memory, haystack, &items, err));
		NK_TRY(set_build(memory, items, needles->dtype, guard, err));
		set = guard;
	}
	NK_AUTO(nk_array) result = NULL;
	bool sees_nulls = nk__may_have_nulls(needles) || (!set && nk__may_have_nulls(haystack));
	NK_TRY(nk_array_alloc(memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, sees_nulls, &result, err));
	uint8_t *bits = nk_array_values(result);
	if (set && needles->physical != NK_PHYSICAL_NONE && set->items->n_rows > 0) {
		if (set->n_slots)
			NK_TRY(find_hashed(memory, set, needles, n_rows, bits, err));
		else
			NK_TRY(find_compared(memory, set, needles, n_rows, bits, err));
	} else if (!set && is_list) {
		find_in_lists(needles, haystack, n_rows, plan->nulls_equal, bits);
	}
	for (int64_t i = 0; sees_nulls && i < n_rows; i += 64) {
		uint64_t rows = n_rows - i < 64 ? ((uint64_t)1 << (n_rows - i)) - 1 : UINT64_MAX;
		uint64_t valid = nk__valid_word(needles, i, n_rows), found = nk_bitmap_word(bits, i, n_rows);
		if (set) {
			found = (found & valid) | (plan->nulls_equal && set->has_null ? rows & ~valid : 0);
			nk__put_word(bits, i, n_rows, found);
		}
		uint64_t known = plan->nulls_equal ? rows : valid;
		nk__put_word(nk_array_validity(result), i, n_rows,
		             set ? known : known & nk__valid_word(haystack, i, n_rows));
	}
	result->n_nulls = sees_nulls ? -1 : 0;
	*out = NK_STEAL(result);
	return NK_OK;
}

/* ---- Binding ---- */

static bool is_searchable(const nk_dtype *needle, const nk_dtype *item)
{
	if (needle->id == NK_TYPE_NULL || item->id == NK_TYPE_NULL || needle == item)
		return true;
	bool needle_exact = nk_type_is_integer(needle->id) || needle->id == NK_TYPE_DECIMAL;
	bool item_exact = nk_type_is_integer(item->id) || item->id == NK_TYPE_DECIMAL;
	if (needle_exact && item_exact)
		return true;
	if (nk_type_is_float(needle->id) && nk_type_is_float(item->id))
		return true;
	if (nk_type_is_category(needle->id) || nk_type_is_category(item->id))
		return needle->id == NK_TYPE_STRING || item->id == NK_TYPE_STRING;
	bool units = (needle->id == NK_TYPE_DATETIME || needle->id == NK_TYPE_DURATION) && needle->id == item->id;
	return units && nk_supertype(needle, item);
}

static nk_status bind_is_in(nk_bind *bind, nk_error *err)
{
	const nk_dtype *needle = bind->args[0].dtype, *haystack = bind->args[1].dtype;
	const nk_scalar *literal = bind->args[1].literal;
	bool is_list = haystack->physical == NK_PHYSICAL_LIST && haystack != needle;
	const nk_dtype *item = is_list ? haystack->fields[0].dtype : haystack;
	if (!is_list && haystack->id != NK_TYPE_NULL)
		return nk_fail(err, NK_INVALID_OPERATION, "`is_in` needs a list to search in, got %s",
		               haystack->text);
	if (!is_searchable(needle, item))
		return nk_fail(err, NK_INVALID_OPERATION, "'is_in' cannot check for %s values in %s data",
		               needle->text, haystack->text);
	membership_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	plan->nulls_equal = bind->options[0].boolean;
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = plan;
	bind->kernel = is_in_kernel;
	if (literal && !literal->is_null && is_list && literal->nested) {
		NK_AUTO(nk_array) items = NULL;
		value_set *set;
		NK_TRY(items_of(nk_arena_memory(bind->arena), literal->nested, &items, err));
		NK_TRY(NK_ARENA_NEW(bind->arena, &set, 1, err));
		NK_TRY(nk_arena_defer(bind->arena, set_release, set, err));
		NK_TRY(set_build(nk_arena_memory(bind->arena), items, needle, set, err));
		plan->set = set;
		return NK_OK;
	}
	if (is_list && needle != item) {
		const nk_dtype *meet = nk_supertype(needle, item);
		bind->casts[0] = meet;
		bind->casts[1] = nk_dtype_list(meet);
	}
	return NK_OK;
}

static const nk_option_spec is_in_options[] = {
	{"nulls_equal", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_membership[] = {
	{
		.name = "is_in",
		.args = "x, values",
		.doc = "Whether x is among values: one list for all rows, or a list per row. A null x stays null "
			   "unless nulls_equal, "
			   "when it equals a null among the values. Integers never equal floats: that fails.",
		.example = "is_in([1, null, 3], [[1, 2]]) == [true, null, false]",
		.options = is_in_options,
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_is_in,
	},
	{0},
};
