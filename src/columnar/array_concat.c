/* Flattening, concatenation, widening and repacking: everything that copies values. One routine writes the rows
 * of an array in any encoding at a place in flat storage; flatten is it on one array, concat on several, so a
 * dictionary-encoded chunk is decoded straight into the result. Views move as 16 bytes; those of later heaps get
 * their buffer number raised, without a branch. */
#include <stdlib.h>

#include "base/watch.h"
#include "columnar/array.h"

/* ---- Writing rows at a place ---- */

typedef struct wide {
	uint64_t low, high;
} wide;

#define GATHER(T)                            \
	do {                                     \
		const T *from = values;              \
		T *to = out;                         \
		for (int64_t i = 0; i < n_rows; i++) \
			to[i] = from[codes[i]];          \
	} while (0)

static void gather(void *restrict out, const void *restrict values, const uint32_t *restrict codes,
                   int64_t n_rows, int n_bytes_each)
{
	switch (n_bytes_each) {
	case 1: GATHER(uint8_t); break;
	case 2: GATHER(uint16_t); break;
	case 4: GATHER(uint32_t); break;
	case 8: GATHER(uint64_t); break;
	default: GATHER(wide); break;
	}
}

#define REPEAT(T)                            \
	do {                                     \
		T *to = out, one;                    \
		memcpy(&one, value, sizeof one);     \
		for (int64_t i = 0; i < n_rows; i++) \
			to[i] = one;                     \
	} while (0)

static void repeat(void *restrict out, const void *restrict value, int64_t n_rows, int n_bytes_each)
{
	switch (n_bytes_each) {
	case 1: REPEAT(uint8_t); break;
	case 2: REPEAT(uint16_t); break;
	case 4: REPEAT(uint32_t); break;
	case 8: REPEAT(uint64_t); break;
	default: REPEAT(wide); break;
	}
}

/* Fixed-width values of `array` to `out`. An empty dictionary has only null rows: they become zeros. */
static void put_fixed(void *out, const nk_array *array)
{
	int n_bytes_each = nk_physical_size(array->physical);
	if (array->encoding == NK_CONSTANT)
		repeat(out, array->values, array->n_rows, n_bytes_each);
	else if (array->encoding == NK_FLAT)
		memcpy(out, array->values, (size_t)(array->n_rows * n_bytes_each));
	else if (array->dictionary->n_rows == 0)
		memset(out, 0, (size_t)(array->n_rows * n_bytes_each));
	else
		gather(out, array->dictionary->values, array->values, array->n_rows, n_bytes_each);
}

static void put_wide(__int128 *out, const nk_array *array)
{
	if (array->physical == NK_PHYSICAL_I128) {
		put_fixed(out, array);
		return;
	}
	const int64_t *values = array->values;
	const uint32_t *codes = array->values;
	if (array->encoding == NK_CONSTANT) {
		__int128 value = values[0];
		repeat(out, &value, array->n_rows, sizeof value);
	} else if (array->encoding == NK_FLAT) {
		for (int64_t i = 0; i < array->n_rows; i++)
			out[i] = values[i];
	} else if (array->dictionary->n_rows == 0) {
		memset(out, 0, (size_t)array->n_rows * sizeof *out);
	} else {
		values = array->dictionary->values;
		for (int64_t i = 0; i < array->n_rows; i++)
			out[i] = values[codes[i]];
	}
}

static void put_bits(uint8_t *out, int64_t at, const nk_array *array)
{
	const uint8_t *bits = array->values;
	const uint32_t *codes = array->values;
	if (array->encoding == NK_CONSTANT) {
		nk_bitmap_fill(out, at, array->n_rows, bits[0] & 1);
	} else if (array->encoding == NK_FLAT) {
		nk_bitmap_paste(out, at, bits, array->n_rows);
	} else {
		const uint8_t *from = array->dictionary->values;
		bool any = array->dictionary->n_rows > 0;
		for (int64_t i = 0; i < array->n_rows; i++)
			nk_bitmap_put(out, at + i, any && nk_bitmap_get(from, codes[i]));
	}
}

static void put_views(nk_view *out, const nk_array *array, uint32_t buffer_base)
{
	put_fixed(out, array);
	for (int64_t i = 0; buffer_base && i < array->n_rows; i++)
		out[i].buffer += out[i].n_bytes > NK_VIEW_INLINE ? buffer_base : 0;
}

static void put_validity(uint8_t *out, int64_t at, const nk_array *array)
{
	if (array->physical == NK_PHYSICAL_NONE)
		nk_bitmap_fill(out, at, array->n_rows, false);
	else if (!array->validity)
		nk_bitmap_fill(out, at, array->n_rows, true);
	else if (array->encoding == NK_CONSTANT)
		nk_bitmap_fill(out, at, array->n_rows, array->validity[0] & 1);
	else
		nk_bitmap_paste(out, at, array->validity, array->n_rows);
}

static nk_heap *heap_of(const nk_array *array)
{
	return array->encoding == NK_DICTIONARY ? array->dictionary->heap : array->heap;
}

/* ---- Concatenation ---- */

/* How many of the last buffers of `merged` are the first of `heap`: pages of a file run on from batch to batch. */
static int n_shared_buffers(const nk_heap *merged, const nk_heap *heap)
{
	for (int n = NK_MIN(merged->n_buffers, heap->n_buffers); n > 0; n--)
		if (memcmp(merged->buffers + merged->n_buffers - n, heap->buffers, (size_t)n * sizeof(nk_buffer *)) ==
		    0)
			return n;
	return 0;
}

/* An array before `i` with the same heap, -1 if none is found: chunks of one heap mostly come in a row, or repeat what
 * came first. */
static int find_same_heap(nk_array *const *arrays, int i, int first)
{
	const nk_heap *heap = heap_of(arrays[i]);
	if (i > first && heap_of(arrays[first]) == heap)
		return first;
	for (int same = i - 1; same > first && i - same < 16; same--)
		if (heap_of(arrays[same]) == heap)
			return same;
	return -1;
}

/* The heaps of all arrays as one; bases[i] is what array i's buffer numbers rise by. */
static nk_status merge_heaps(nk_array *const *arrays, int n_arrays, uint32_t *bases, nk_heap **out,
                             nk_error *err)
{
	int first = -1, n_buffers = 0;
	bool several = false;
	for (int i = 0; i < n_arrays; i++) {
		nk_heap *heap = heap_of(arrays[i]);
		bases[i] = 0;
		if (!heap)
			continue;
		first = first < 0 ? i : first;
		several |= heap != heap_of(arrays[first]);
		n_buffers += heap->n_buffers;
	}
	if (!several) {
		*out = first < 0 ? NULL : nk_heap_ref(heap_of(arrays[first]));
		return NK_OK;
	}
	nk_heap *merged = malloc(sizeof *merged + (size_t)n_buffers * sizeof(nk_buffer *));
	if (!merged)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a heap of %d buffers", n_buffers);
	merged->n_references = 1;
	merged->n_buffers = 0;
	for (int i = first; i < n_arrays; i++) {
		nk_heap *heap = heap_of(arrays[i]);
		if (!heap)
			continue;
		int same = find_same_heap(arrays, i, first);
		if (same >= 0) {
			bases[i] = bases[same];
			continue;
		}
		int n_shared = n_shared_buffers(merged, heap);
		bases[i] = (uint32_t)(merged->n_buffers - n_shared);
		for (int b = n_shared; b < heap->n_buffers; b++)
			merged->buffers[merged->n_buffers++] = nk_buffer_ref(heap->buffers[b]);
	}
	*out = merged;
	return NK_OK;
}

typedef struct sizes {
	int64_t n_rows, n_nulls;
	nk_physical physical;
} sizes;

static sizes measure(nk_array *const *arrays, int n_arrays)
{
	sizes total = {.physical = arrays[0]->physical};
	for (int i = 0; i < n_arrays; i++) {
		NK_ASSERT(arrays[i]->dtype == arrays[0]->dtype);
		total.n_rows += arrays[i]->n_rows;
		total.n_nulls += nk_array_count_nulls(arrays[i]);
		if (arrays[i]->physical == NK_PHYSICAL_I128)
			total.physical = NK_PHYSICAL_I128;
	}
	return total;
}

static nk_status concat_validity(nk_memory *memory, nk_array *const *arrays, int n_arrays, const sizes *total,
                                 nk_buffer **out, nk_error *err)
{
	*out = NULL;
	if (total->n_nulls == 0)
		return NK_OK;
	NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(total->n_rows), out, err));
	int64_t at = 0;
	for (int i = 0; i < n_arrays; at += arrays[i++]->n_rows)
		put_validity((*out)->bytes, at, arrays[i]);
	return NK_OK;
}

static nk_status concat_plain(nk_memory *memory, nk_array *const *arrays, int n_arrays, const sizes *total,
                              nk_buffer **validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_heap) heap = NULL;
	NK_AUTO(nk_buffer) values = NULL;
	nk_physical physical = total->physical;
	uint32_t few[64], *bases = few;
	if (physical == NK_PHYSICAL_VIEW) {
		if (n_arrays > NK_COUNT(few) && !(bases = malloc((size_t)n_arrays * sizeof *bases)))
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to concatenate %d arrays", n_arrays);
		nk_status status = merge_heaps(arrays, n_arrays, bases, &heap, err);
		if (status == NK_OK)
			status = nk_buffer_new(memory, total->n_rows * (int64_t)sizeof(nk_view), &values, err);
		int64_t at = 0;
		for (int i = 0; status == NK_OK && i < n_arrays; at += arrays[i++]->n_rows) {
			put_views((nk_view *)values->bytes + at, arrays[i], bases[i]);
			status = nk_watch_check(err);
		}
		if (bases != few)
			free(bases);
		NK_TRY(status);
	} else if (physical == NK_PHYSICAL_BOOL) {
		NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(total->n_rows), &values, err));
		int64_t at = 0;
		for (int i = 0; i < n_arrays; at += arrays[i++]->n_rows)
			put_bits(values->bytes, at, arrays[i]);
	} else if (physical != NK_PHYSICAL_NONE) {
		int n_bytes_each = nk_physical_size(physical);
		NK_TRY(nk_buffer_new(memory, total->n_rows * n_bytes_each, &values, err));
		uint8_t *at = values->bytes;
		for (int i = 0; i < n_arrays; at += arrays[i++]->n_rows * n_bytes_each) {
			if (physical == NK_PHYSICAL_I128)
				put_wide((__int128 *)(void *)at, arrays[i]);
			else
				put_fixed(at, arrays[i]);
			NK_TRY(nk_watch_check(err));
		}
	}
	return nk_array_new_flat(arrays[0]->dtype, physical, total->n_rows, NK_STEAL(values), NK_STEAL(*validity),
	                         total->n_nulls, NK_STEAL(heap), out, err);
}

/* `array` n times over, by doubling: constants of lists and structs. */
static nk_status replicate(nk_memory *memory, nk_array *array, int64_t n, nk_array **out, nk_error *err)
{
	if (n == 0 || array->n_rows == 0)
		return nk_array_slice(memory, array, 0, 0, out, err);
	NK_AUTO(nk_array) copies = nk_array_ref(array);
	int64_t n_wanted = n * array->n_rows;
	while (copies->n_rows < n_wanted) {
		NK_AUTO(nk_array) part = NULL;
		NK_TRY(
			nk_array_slice(memory, copies, 0, NK_MIN(copies->n_rows, n_wanted - copies->n_rows), &part, err));
		nk_array *two[] = {copies, part}, *joined;
		NK_TRY(nk_array_concat(memory, two, 2, &joined, err));
		nk_array_unref(copies);
		copies = joined;
	}
	*out = NK_STEAL(copies);
	return NK_OK;
}

/* The items of a list array's rows, in row order: rows of a constant repeat them. */
static nk_status list_items(nk_memory *memory, const nk_array *array, nk_array **out, nk_error *err)
{
	const int64_t *offsets = array->values;
	bool constant = array->encoding == NK_CONSTANT;
	int64_t n_distinct = constant ? 1 : array->n_rows;
	NK_AUTO(nk_array) part = NULL;
	NK_TRY(
		nk_array_slice(memory, array->children[0], offsets[0], offsets[n_distinct] - offsets[0], &part, err));
	if (constant)
		return replicate(memory, part, array->n_rows, out, err);
	*out = NK_STEAL(part);
	return NK_OK;
}

typedef struct array_list {
	nk_array **arrays;
	int n_arrays;
} array_list;

static void array_list_release(array_list *list)
{
	for (int i = 0; i < list->n_arrays; i++)
		nk_array_unref(list->arrays[i]);
	free(list->arrays);
}

static nk_status array_list_init(array_list *list, int n_arrays, nk_error *err)
{
	list->arrays = calloc((size_t)n_arrays, sizeof *list->arrays);
	if (!list->arrays)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to concatenate %d arrays", n_arrays);
	list->n_arrays = n_arrays;
	return NK_OK;
}

#define ARRAY_LIST(name) __attribute__((cleanup(array_list_release))) array_list name = {0}

static nk_status concat_lists(nk_memory *memory, nk_array *const *arrays, int n_arrays, const sizes *total,
                              nk_buffer **validity, nk_array **out, nk_error *err)
{
	ARRAY_LIST(items);
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_array) joined = NULL;
	NK_TRY(array_list_init(&items, n_arrays, err));
	NK_TRY(nk_buffer_new(memory, (total->n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	int64_t *to = (int64_t *)offsets->bytes, at = 0;
	for (int i = 0; i < n_arrays; i++) {
		NK_TRY(list_items(memory, arrays[i], &items.arrays[i], err));
		const int64_t *from = arrays[i]->values;
		int64_t n_each = arrays[i]->encoding == NK_CONSTANT ? from[1] - from[0] : 0;
		for (int64_t row = 0; row < arrays[i]->n_rows; row++)
			*to++ = arrays[i]->encoding == NK_CONSTANT ? at + row * n_each : at + from[row] - from[0];
		at += items.arrays[i]->n_rows;
	}
	*to = at;
	NK_TRY(nk_array_concat(memory, items.arrays, n_arrays, &joined, err));
	return nk_array_new_list(arrays[0]->dtype, total->n_rows, NK_STEAL(offsets), NK_STEAL(joined),
	                         NK_STEAL(*validity), total->n_nulls, out, err);
}

static nk_status concat_structs(nk_memory *memory, nk_array *const *arrays, int n_arrays, const sizes *total,
                                nk_buffer **validity, nk_array **out, nk_error *err)
{
	ARRAY_LIST(fields);
	int n_fields = arrays[0]->n_children;
	NK_TRY(array_list_init(&fields, NK_MAX(n_fields, 1), err));
	for (int f = 0; f < n_fields; f++) {
		ARRAY_LIST(parts);
		NK_TRY(array_list_init(&parts, n_arrays, err));
		for (int i = 0; i < n_arrays; i++)
			if (arrays[i]->encoding == NK_CONSTANT)
				NK_TRY(replicate(memory, arrays[i]->children[f], arrays[i]->n_rows, &parts.arrays[i], err));
			else
				parts.arrays[i] = nk_array_ref(arrays[i]->children[f]);
		NK_TRY(nk_array_concat(memory, parts.arrays, n_arrays, &fields.arrays[f], err));
	}
	nk_status status = nk_array_new_struct(arrays[0]->dtype, total->n_rows, fields.arrays,
	                                       NK_STEAL(*validity), total->n_nulls, out, err);
	fields.n_arrays = 0; /* taken over */
	return status;
}

/* Slices of one array, one after another: their values are in one piece already. */
static bool are_adjacent(nk_array *const *arrays, int n_arrays)
{
	const nk_array *first = arrays[0];
	if (n_arrays < 2 || first->physical == NK_PHYSICAL_BOOL || first->physical == NK_PHYSICAL_LIST ||
	    first->physical == NK_PHYSICAL_STRUCT || first->physical == NK_PHYSICAL_NONE)
		return false;
	const char *end = first->values;
	int width = nk_physical_size(first->physical);
	for (int i = 0; i < n_arrays; i++) {
		const nk_array *array = arrays[i];
		if (array->encoding != NK_FLAT || array->physical != first->physical || array->heap != first->heap ||
		    array->values_buffer != first->values_buffer || array->values != end)
			return false;
		end += array->n_rows * width;
	}
	return true;
}

static nk_status concat(nk_memory *memory, nk_array *const *arrays, int n_arrays, nk_array **out,
                        nk_error *err)
{
	sizes total = measure(arrays, n_arrays);
	NK_AUTO(nk_buffer) validity = NULL;
	if (total.physical != NK_PHYSICAL_NONE)
		NK_TRY(concat_validity(memory, arrays, n_arrays, &total, &validity, err));
	if (are_adjacent(arrays, n_arrays)) {
		NK_TRY(nk_array_with_validity(arrays[0], NK_STEAL(validity), total.n_nulls, out, err));
		(*out)->n_rows = total.n_rows;
		return NK_OK;
	}
	if (total.physical == NK_PHYSICAL_LIST)
		return concat_lists(memory, arrays, n_arrays, &total, &validity, out, err);
	if (total.physical == NK_PHYSICAL_STRUCT)
		return concat_structs(memory, arrays, n_arrays, &total, &validity, out, err);
	return concat_plain(memory, arrays, n_arrays, &total, &validity, out, err);
}

nk_status nk_array_concat(nk_memory *memory, nk_array *const *arrays, int n_arrays, nk_array **out,
                          nk_error *err)
{
	if (n_arrays == 1)
		return nk_array_flatten(memory, arrays[0], out, err);
	return concat(memory, arrays, n_arrays, out, err);
}

nk_status nk_array_flatten(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err)
{
	if (array->encoding == NK_FLAT) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	if (array->encoding == NK_DICTIONARY && array->validity) {
		/* The bitmap can be shared: only values are decoded. */
		NK_AUTO(nk_array) plain = NULL;
		nk_array unmasked = *array;
		unmasked.validity = NULL;
		unmasked.n_nulls = 0;
		nk_array *one = &unmasked;
		NK_TRY(concat(memory, &one, 1, &plain, err));
		plain->validity = array->validity;
		plain->validity_buffer = nk_buffer_ref(array->validity_buffer);
		plain->n_nulls = array->n_nulls;
		*out = NK_STEAL(plain);
		return NK_OK;
	}
	return concat(memory, &array, 1, out, err);
}

/* ---- Widening and repacking ---- */

nk_status nk_array_widen_decimal(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err)
{
	NK_ASSERT(array->dtype->id == NK_TYPE_DECIMAL);
	if (array->physical == NK_PHYSICAL_I128) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	NK_AUTO(nk_array) wide_array = NULL;
	if (array->encoding == NK_DICTIONARY) {
		NK_AUTO(nk_array) dictionary = NULL;
		NK_TRY(nk_array_widen_decimal(memory, array->dictionary, &dictionary, err));
		NK_TRY(nk_array_retype(array, array->dtype, &wide_array, err));
		nk_array_unref(wide_array->dictionary);
		wide_array->dictionary = NK_STEAL(dictionary);
		wide_array->physical = NK_PHYSICAL_I128;
		*out = NK_STEAL(wide_array);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) values = NULL;
	bool constant = array->encoding == NK_CONSTANT;
	NK_TRY(nk_buffer_new(memory, (constant ? 1 : array->n_rows) * (int64_t)sizeof(__int128), &values, err));
	nk_array one_row = *array;
	one_row.n_rows = constant ? 1 : array->n_rows;
	put_wide((__int128 *)(void *)values->bytes, &one_row);
	NK_TRY(nk_array_retype(array, array->dtype, &wide_array, err));
	nk_buffer_unref(wide_array->values_buffer);
	wide_array->values = values->bytes;
	wide_array->values_buffer = NK_STEAL(values);
	wide_array->physical = NK_PHYSICAL_I128;
	*out = NK_STEAL(wide_array);
	return NK_OK;
}

/* A view's offset is a signed 32-bit number in Arrow. */
static const int64_t heap_buffer_limit = INT32_MAX;

nk_status nk_array_repack(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err)
{
	NK_ASSERT(array->encoding == NK_FLAT && array->physical == NK_PHYSICAL_VIEW);
	const nk_view *from = array->values;
	NK_AUTO(nk_array) packed = NULL;
	NK_TRY(nk_array_alloc(memory, array->dtype, NK_PHYSICAL_VIEW, array->n_rows, false, &packed, err));
	nk_view *to = nk_array_values(packed);
	packed->validity = array->validity;
	packed->validity_buffer = nk_buffer_ref(array->validity_buffer);
	packed->n_nulls = array->n_nulls;
	for (int64_t row = 0; row < array->n_rows;) {
		int64_t n_bytes = 0, end = row;
		for (; end < array->n_rows; end++) {
			bool is_long = from[end].n_bytes > NK_VIEW_INLINE && nk_array_is_valid(array, end);
			if (is_long && n_bytes + from[end].n_bytes > heap_buffer_limit)
				break;
			n_bytes += is_long ? from[end].n_bytes : 0;
		}
		int number = packed->heap ? packed->heap->n_buffers : 0;
		uint8_t *bytes = NULL;
		if (n_bytes) {
			nk_heap *larger =
				realloc(packed->heap, sizeof *larger + (size_t)(number + 1) * sizeof(nk_buffer *));
			if (!larger)
				return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a heap of %d buffers", number + 1);
			larger->n_references = 1;
			larger->n_buffers = number;
			packed->heap = larger;
			NK_TRY(nk_buffer_new(memory, n_bytes, &larger->buffers[number], err));
			larger->n_buffers++;
			bytes = larger->buffers[number]->bytes;
		}
		uint32_t offset = 0;
		for (; row < end; row++) {
			if (from[row].n_bytes <= NK_VIEW_INLINE) {
				to[row] = from[row];
			} else if (!nk_array_is_valid(array, row)) {
				to[row] = (nk_view){0};
			} else {
				memcpy(bytes + offset, nk_view_bytes(&from[row], array->heap), from[row].n_bytes);
				to[row] =
					nk_view_make((const char *)bytes + offset, from[row].n_bytes, (uint32_t)number, offset);
				offset += from[row].n_bytes;
			}
		}
	}
	*out = NK_STEAL(packed);
	return NK_OK;
}

void nk_array_compact(nk_memory *memory, nk_array **array)
{
	const nk_array *old = *array;
	if (old->physical != NK_PHYSICAL_VIEW || old->encoding != NK_FLAT || !old->heap)
		return;
	/* Repacking pays when what it frees is as much as what it keeps and, all in all, copies. */
	int64_t n_heap = 0, n_used = 0, n_views = old->n_rows * (int64_t)sizeof(nk_view);
	for (int b = 0; b < old->heap->n_buffers; b++)
		n_heap += old->heap->buffers[b]->n_bytes;
	const nk_view *views = old->values;
	for (int64_t i = 0; i < old->n_rows && 2 * n_used + n_views < n_heap; i++)
		n_used += views[i].n_bytes > NK_VIEW_INLINE ? views[i].n_bytes : 0;
	nk_array *packed;
	nk_error unused;
	if (2 * n_used + n_views >= n_heap || nk_array_repack(memory, *array, &packed, &unused) != NK_OK)
		return;
	nk_array_unref(*array);
	*array = packed;
}
