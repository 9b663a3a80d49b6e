/* A mask becomes positions once, and every column of the batch is gathered by them: one pass over the mask
 * however many columns there are, and gathers of what survived only. */
#include "compute/select.h"

#include "base/watch.h"

#include "compute/select_table.h"

static const nk_select_table *table(void) { return NK_ISA_TABLE(nk__select); }

/* Positions in either width, and which of them count (NULL: all): the others become null. */
typedef struct positions {
	const uint32_t *narrow;
	const int64_t *wide;
	const uint8_t *present;
	int64_t n;
} positions;

static nk_status take(nk_memory *memory, const nk_array *array, const positions *rows, nk_array **out,
                      nk_error *err);

void nk_select_bits(const uint8_t *bits, const uint8_t *validity, int64_t n_rows, uint32_t *rows,
                    int64_t *n_selected)
{
	*n_selected = table()->rows(bits, validity, n_rows, rows);
}

static bool constant_is_true(const nk_array *mask)
{
	return nk_array_is_valid(mask, 0) && nk_bitmap_get(mask->values, 0);
}

void nk_select_rows(const nk_array *mask, int64_t n_rows, uint32_t *rows, int64_t *n_selected)
{
	if (mask->physical == NK_PHYSICAL_NONE) {
		*n_selected = 0;
	} else if (mask->encoding == NK_CONSTANT) {
		*n_selected = n_rows > 0 && constant_is_true(mask) ? n_rows : 0;
		for (int64_t i = 0; i < *n_selected; i++)
			rows[i] = (uint32_t)i;
	} else {
		nk_select_bits(mask->values, mask->validity, n_rows, rows, n_selected);
	}
}

int64_t nk_select_count(const nk_array *mask, int64_t n_rows)
{
	if (mask->physical == NK_PHYSICAL_NONE || n_rows == 0)
		return 0;
	if (mask->encoding == NK_CONSTANT)
		return constant_is_true(mask) ? n_rows : 0;
	if (!mask->validity)
		return nk_bitmap_count(mask->values, 0, n_rows);
	int64_t count = 0;
	for (int64_t i = 0; i < n_rows; i += 64)
		count += __builtin_popcountll(nk_bitmap_word(mask->values, i, n_rows) &
		                              nk_bitmap_word(mask->validity, i, n_rows));
	return count;
}

static int64_t position(const positions *rows, int64_t i)
{
	return rows->narrow ? (int64_t)rows->narrow[i] : rows->wide[i];
}

static void take_bits(uint8_t *out, const uint8_t *bits, const positions *rows)
{
	if (rows->narrow)
		table()->take_bits(out, bits, rows->narrow, rows->n);
	else
		table()->take_bits_wide(out, bits, rows->wide, rows->n);
}

/* The gathered validity, NULL when nothing can be null. */
static nk_status take_validity(nk_memory *memory, const nk_array *array, const positions *rows,
                               nk_buffer **out, nk_error *err)
{
	*out = NULL;
	bool has_nulls = array->validity && array->n_nulls != 0;
	if (!has_nulls && !rows->present)
		return NK_OK;
	int64_t n_bytes = nk_bitmap_bytes(rows->n);
	NK_TRY(nk_buffer_new(memory, n_bytes, out, err));
	uint8_t *bits = (*out)->bytes;
	if (!has_nulls) {
		memcpy(bits, rows->present, (size_t)n_bytes);
		return NK_OK;
	}
	take_bits(bits, array->validity, rows);
	if (rows->present)
		for (int64_t i = 0; i < n_bytes; i++)
			bits[i] &= rows->present[i];
	return NK_OK;
}

enum { WATCHED = 1 << 20 }; /* rows between looks at the watch */

static nk_status take_values(nk_memory *memory, const void *values, int n_bytes_each, const positions *rows,
                             nk_buffer **out, nk_error *err)
{
	NK_TRY(nk_buffer_new(memory, rows->n * n_bytes_each, out, err));
	int width = __builtin_ctz((unsigned)n_bytes_each);
	for (int64_t first = 0; first < rows->n; first += WATCHED) {
		int64_t n = NK_MIN((int64_t)WATCHED, rows->n - first);
		uint8_t *to = (*out)->bytes + first * n_bytes_each;
		if (rows->narrow)
			table()->take[width](to, values, rows->narrow + first, n);
		else
			table()->take_wide[width](to, values, rows->wide + first, n);
		if (nk_watch_stopped()) {
			nk_buffer_unref(NK_STEAL(*out));
			return nk_watch_check(err);
		}
	}
	return NK_OK;
}

/* Items without nulls are copied list by list; others are gathered by position. */
static nk_status take_list(nk_memory *memory, const nk_array *array, const positions *rows,
                           nk_buffer *validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) owned_validity = validity;
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_buffer) items = NULL;
	const int64_t *from = array->values;
	NK_TRY(nk_buffer_new(memory, (rows->n + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	int64_t *to = (int64_t *)offsets->bytes;
	to[0] = 0;
	for (int64_t i = 0; i < rows->n; i++) {
		int64_t row = position(rows, i);
		bool valid = !validity || nk_bitmap_get(validity->bytes, i);
		to[i + 1] = to[i] + (valid ? from[row + 1] - from[row] : 0);
	}
	nk_array *taken = NULL;
	const nk_array *child = array->children[0];
	int width = nk_physical_size(child->physical);
	if (width > 0 && child->encoding == NK_FLAT && !child->validity) {
		NK_TRY(nk_buffer_new(memory, to[rows->n] * width, &items, err));
		for (int64_t i = 0; i < rows->n; i++)
			memcpy(items->bytes + to[i] * width,
			       (const char *)child->values + from[position(rows, i)] * width,
			       (size_t)((to[i + 1] - to[i]) * width));
		NK_TRY(nk_array_new_flat(child->dtype, child->physical, to[rows->n], NK_STEAL(items), NULL, 0,
		                         nk_heap_ref(child->heap), &taken, err));
		return nk_array_new_list(array->dtype, rows->n, NK_STEAL(offsets), taken, NK_STEAL(owned_validity),
		                         -1, out, err);
	}
	NK_TRY(nk_buffer_new(memory, to[rows->n] * (int64_t)sizeof(int64_t), &items, err));
	int64_t *item_rows = (int64_t *)items->bytes;
	for (int64_t i = 0; i < rows->n; i++) {
		int64_t first = from[position(rows, i)];
		for (int64_t j = to[i]; j < to[i + 1]; j++)
			item_rows[j] = first + (j - to[i]);
	}
	positions item_positions = {.wide = item_rows, .n = to[rows->n]};
	NK_TRY(take(memory, child, &item_positions, &taken, err));
	return nk_array_new_list(array->dtype, rows->n, NK_STEAL(offsets), taken, NK_STEAL(owned_validity), -1,
	                         out, err);
}

static nk_status take_struct(nk_memory *memory, const nk_array *array, const positions *rows,
                             nk_buffer *validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) owned_validity = validity;
	nk_array *small[16];
	nk_array **fields = small;
	int n_fields = array->n_children;
	if (n_fields > NK_COUNT(small))
		NK_TRY(nk_alloc(memory, n_fields * (int64_t)sizeof *fields, (void **)&fields, err));
	nk_status status = NK_OK;
	int n_done = 0;
	while (n_done < n_fields && status == NK_OK) {
		status = take(memory, array->children[n_done], rows, &fields[n_done], err);
		n_done += status == NK_OK;
	}
	if (status == NK_OK)
		status = nk_array_new_struct(array->dtype, rows->n, fields, NK_STEAL(owned_validity), -1, out, err);
	else
		for (int i = 0; i < n_done; i++)
			nk_array_unref(fields[i]);
	if (fields != small)
		nk_free(memory, fields, n_fields * (int64_t)sizeof *fields);
	return status;
}

/* n rows of a constant, or of the constant and nulls where a position is absent. */
static nk_status take_constant(nk_memory *memory, const nk_array *array, const positions *rows,
                               nk_array **out, nk_error *err)
{
	nk_array *same = (nk_array *)array; /* a reference is a change no reader sees */
	if (!rows->present || !nk_array_is_valid(array, 0)) {
		if (rows->n <= array->n_rows)
			return nk_array_slice(memory, same, 0, rows->n, out, err);
		return nk_array_new_constant(memory, array, rows->n, out, err);
	}
	NK_AUTO(nk_array) longer = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_array_new_constant(memory, array, rows->n, &longer, err));
	NK_TRY(nk_array_flatten(memory, longer, &flat, err));
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(rows->n), &validity, err));
	memcpy(validity->bytes, rows->present, (size_t)nk_bitmap_bytes(rows->n));
	return nk_array_with_validity(flat, NK_STEAL(validity), -1, out, err);
}

static nk_status take(nk_memory *memory, const nk_array *array, const positions *rows, nk_array **out,
                      nk_error *err)
{
	if (array->physical == NK_PHYSICAL_NONE || array->n_rows == 0)
		return nk_array_new_null(memory, array->dtype, rows->n, out, err);
	if (array->encoding == NK_CONSTANT)
		return take_constant(memory, array, rows, out, err);
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(take_validity(memory, array, rows, &validity, err));
	int64_t n_nulls = validity ? -1 : 0;
	if (array->encoding == NK_DICTIONARY) {
		NK_TRY(take_values(memory, array->values, sizeof(uint32_t), rows, &values, err));
		return nk_array_new_dictionary(nk_array_ref(array->dictionary), rows->n, NK_STEAL(values),
		                               NK_STEAL(validity), n_nulls, out, err);
	}
	switch (array->physical) {
	case NK_PHYSICAL_LIST: return take_list(memory, array, rows, NK_STEAL(validity), out, err);
	case NK_PHYSICAL_STRUCT: return take_struct(memory, array, rows, NK_STEAL(validity), out, err);
	case NK_PHYSICAL_BOOL:
		NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(rows->n), &values, err));
		take_bits(values->bytes, array->values, rows);
		break;
	default:
		NK_TRY(take_values(memory, array->values, nk_physical_size(array->physical), rows, &values, err));
	}
	return nk_array_new_flat(array->dtype, array->physical, rows->n, NK_STEAL(values), NK_STEAL(validity),
	                         n_nulls, nk_heap_ref(array->heap), out, err);
}

nk_status nk_array_take(nk_memory *memory, const nk_array *array, const uint32_t *rows, int64_t n_rows,
                        nk_array **out, nk_error *err)
{
	positions all = {.narrow = rows, .n = n_rows};
	return take(memory, array, &all, out, err);
}

nk_status nk_array_take_wide(nk_memory *memory, const nk_array *array, const int64_t *rows, int64_t n_rows,
                             nk_array **out, nk_error *err)
{
	positions all = {.wide = rows, .n = n_rows};
	return take(memory, array, &all, out, err);
}

nk_status nk_array_take_optional(nk_memory *memory, const nk_array *array, const int64_t *rows,
                                 int64_t n_rows, nk_array **out, nk_error *err)
{
	int64_t sign = 0;
	for (int64_t i = 0; i < n_rows; i++)
		sign |= rows[i];
	if (sign >= 0)
		return nk_array_take_wide(memory, array, rows, n_rows, out, err);
	NK_AUTO(nk_buffer) clamped = NULL;
	NK_AUTO(nk_buffer) present = NULL;
	NK_TRY(nk_buffer_new(memory, n_rows * (int64_t)sizeof(int64_t), &clamped, err));
	NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(n_rows), &present, err));
	int64_t *to = (int64_t *)clamped->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		to[i] = rows[i] < 0 ? 0 : rows[i];
		present->bytes[i >> 3] |= (uint8_t)((rows[i] >= 0) << (i & 7));
	}
	positions some = {.wide = to, .present = present->bytes, .n = n_rows};
	return take(memory, array, &some, out, err);
}

nk_status nk_array_filter(nk_memory *memory, nk_array *array, const nk_array *mask, nk_array **out,
                          nk_error *err)
{
	int64_t n_rows = array->n_rows, n_selected = 0;
	if (mask->encoding == NK_CONSTANT || mask->physical == NK_PHYSICAL_NONE)
		return nk_array_slice(memory, array, 0, nk_select_count(mask, n_rows), out, err);
	NK_AUTO(nk_buffer) rows = NULL;
	if (n_rows >= UINT32_MAX) {
		NK_TRY(nk_buffer_new(memory, nk_select_count(mask, n_rows) * (int64_t)sizeof(int64_t), &rows, err));
		int64_t *to = (int64_t *)rows->bytes;
		for (int64_t i = 0; i < n_rows; i++)
			if (nk_bitmap_get(mask->values, i) && nk_array_is_valid(mask, i))
				to[n_selected++] = i;
		return nk_array_take_wide(memory, array, to, n_selected, out, err);
	}
	NK_TRY(nk_buffer_new(memory, (n_rows + 16) * (int64_t)sizeof(uint32_t), &rows, err));
	nk_select_rows(mask, n_rows, (uint32_t *)rows->bytes, &n_selected);
	if (n_selected == n_rows) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	return nk_array_take(memory, array, (const uint32_t *)rows->bytes, n_selected, out, err);
}

nk_status nk_batch_take(nk_memory *memory, const nk_batch *batch, const uint32_t *rows, int64_t n_rows,
                        nk_batch **out, nk_error *err)
{
	NK_AUTO(nk_batch) taken = NULL;
	NK_TRY(nk_batch_new(batch->n_columns, n_rows, &taken, err));
	taken->morsel = batch->morsel;
	taken->number = batch->number;
	int coded = -1; /* the last column of codes: one gather serves all that share them */
	for (int i = 0; i < batch->n_columns; i++) {
		const nk_array *array = batch->columns[i];
		if (coded >= 0 && nk_array_same_codes(array, batch->columns[coded])) {
			NK_TRY(nk_array_recode(taken->columns[coded], array->dictionary, &taken->columns[i], err));
			continue;
		}
		NK_TRY(nk_array_take(memory, array, rows, n_rows, &taken->columns[i], err));
		if (array->encoding == NK_DICTIONARY)
			coded = i;
	}
	*out = NK_STEAL(taken);
	return NK_OK;
}

nk_status nk_batch_filter(nk_memory *memory, const nk_batch *batch, const nk_array *mask, nk_batch **out,
                          nk_error *err)
{
	if (mask->encoding == NK_CONSTANT || mask->physical == NK_PHYSICAL_NONE)
		return nk_batch_slice(memory, batch, 0, nk_select_count(mask, batch->n_rows), out, err);
	NK_AUTO(nk_buffer) rows = NULL;
	int64_t n_selected = 0;
	NK_TRY(nk_buffer_new(memory, (batch->n_rows + 16) * (int64_t)sizeof(uint32_t), &rows, err));
	nk_select_rows(mask, batch->n_rows, (uint32_t *)rows->bytes, &n_selected);
	if (n_selected == batch->n_rows)
		return nk_batch_slice(memory, batch, 0, batch->n_rows, out, err);
	return nk_batch_take(memory, batch, (const uint32_t *)rows->bytes, n_selected, out, err);
}
