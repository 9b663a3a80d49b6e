/* One loop per width. Text shares both heaps: buffers of the second are numbered after those of the first. Lists and
 * structs go through concatenation and a gather. */
#include "compute/blend.h"

#include "compute/select.h"

typedef struct wide_value {
	uint64_t low, high;
} wide_value;

#define T uint8_t
#define SUFFIX 1
#include "compute/blend_tmpl.h"
#define T uint16_t
#define SUFFIX 2
#include "compute/blend_tmpl.h"
#define T uint32_t
#define SUFFIX 4
#include "compute/blend_tmpl.h"
#define T uint64_t
#define SUFFIX 8
#include "compute/blend_tmpl.h"
#define T wide_value
#define SUFFIX 16
#include "compute/blend_tmpl.h"

static uint64_t word_of(const uint8_t *bits, bool is_constant, int64_t i, int64_t n)
{
	if (!bits)
		return UINT64_MAX;
	if (is_constant)
		return nk_bitmap_get(bits, 0) ? UINT64_MAX : 0;
	return nk_bitmap_word(bits, i, n);
}

/* Bits of either side by a third; NULL sides are all ones. */
static void blend_bits(uint8_t *out, const uint8_t *bits, const uint8_t *yes, bool yes_is_constant,
                       const uint8_t *no, bool no_is_constant, int64_t n_rows)
{
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t which = nk_bitmap_word(bits, i, n_rows);
		uint64_t word = (which & word_of(yes, yes_is_constant, i, n_rows)) |
		                (~which & word_of(no, no_is_constant, i, n_rows));
		int64_t left = n_rows - i;
		if (left < 64)
			word &= ((uint64_t)1 << left) - 1;
		memcpy(out + (i >> 3), &word, (size_t)nk_bitmap_bytes(left < 64 ? left : 64));
	}
}

/* A heap of both arrays' buffers; *shift is added to buffer numbers of the second. */
static nk_status join_heaps(nk_memory *memory, const nk_array *first, const nk_array *second, nk_heap **out,
                            uint32_t *shift, nk_error *err)
{
	nk_heap *a = first->heap, *b = second->heap;
	*shift = 0;
	if (!a || !b || a == b) {
		*out = nk_heap_ref(a ? a : b);
		return NK_OK;
	}
	int n = a->n_buffers + b->n_buffers;
	void *block = NULL;
	NK_TRY(nk_alloc(memory, n * (int64_t)sizeof(nk_buffer *), &block, err));
	nk_buffer **buffers = block;
	for (int i = 0; i < n; i++)
		buffers[i] = nk_buffer_ref(i < a->n_buffers ? a->buffers[i] : b->buffers[i - a->n_buffers]);
	*shift = (uint32_t)a->n_buffers;
	nk_status status = nk_heap_new(buffers, n, out, err);
	nk_free(memory, block, n * (int64_t)sizeof(nk_buffer *));
	return status;
}

static nk_status blend_nested(nk_memory *memory, const uint8_t *bits, nk_array *yes, nk_array *no,
                              int64_t n_rows, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) both = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_array_concat(memory, (nk_array *[]){yes, no}, 2, &both, err));
	NK_TRY(nk_buffer_new(memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *to = (int64_t *)rows->bytes;
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = nk_bitmap_get(bits, i) ? i : n_rows + i;
	return nk_array_take_wide(memory, both, to, n_rows, out, err);
}

nk_status nk_blend(nk_memory *memory, const nk_dtype *dtype, const uint8_t *bits, nk_array *yes, nk_array *no,
                   int64_t n_rows, nk_array **out, nk_error *err)
{
	if (dtype->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(memory, dtype, n_rows, out, err);
	if (nk_type_is_nested(dtype->id))
		return blend_nested(memory, bits, yes, no, n_rows, out, err);
	NK_AUTO(nk_array) wide_yes = NULL;
	NK_AUTO(nk_array) wide_no = NULL;
	if (yes->physical != no->physical) {
		NK_TRY(nk_array_widen_decimal(memory, yes, &wide_yes, err));
		NK_TRY(nk_array_widen_decimal(memory, no, &wide_no, err));
		yes = wide_yes;
		no = wide_no;
	}
	nk_physical physical = yes->physical;
	bool yes_is_constant = yes->encoding == NK_CONSTANT, no_is_constant = no->encoding == NK_CONSTANT;
	int64_t step_yes = !yes_is_constant, step_no = !no_is_constant;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	int width = nk_physical_size(physical);
	NK_TRY(nk_buffer_new(memory, physical == NK_PHYSICAL_BOOL ? nk_bitmap_bytes(n_rows) : n_rows * width,
	                     &values, err));
	if (yes->validity || no->validity) {
		NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(n_rows), &validity, err));
		blend_bits(validity->bytes, bits, yes->validity, yes_is_constant, no->validity, no_is_constant,
		           n_rows);
	}
	if (physical == NK_PHYSICAL_BOOL)
		blend_bits(values->bytes, bits, yes->values, yes_is_constant, no->values, no_is_constant, n_rows);
	else if (width == 1)
		blend_1(values->bytes, bits, yes->values, step_yes, no->values, step_no, n_rows);
	else if (width == 2)
		blend_2(values->bytes, bits, yes->values, step_yes, no->values, step_no, n_rows);
	else if (width == 4)
		blend_4(values->bytes, bits, yes->values, step_yes, no->values, step_no, n_rows);
	else if (width == 8)
		blend_8(values->bytes, bits, yes->values, step_yes, no->values, step_no, n_rows);
	else
		blend_16(values->bytes, bits, yes->values, step_yes, no->values, step_no, n_rows);
	if (physical == NK_PHYSICAL_VIEW) {
		uint32_t shift;
		NK_TRY(join_heaps(memory, yes, no, &heap, &shift, err));
		nk_view *views = (nk_view *)values->bytes;
		for (int64_t i = 0; shift && i < n_rows; i++)
			if (!nk_bitmap_get(bits, i) && views[i].n_bytes > NK_VIEW_INLINE)
				views[i].buffer += shift;
	}
	int64_t n_nulls = validity ? -1 : 0;
	return nk_array_new_flat(dtype, physical, n_rows, NK_STEAL(values), NK_STEAL(validity), n_nulls,
	                         NK_STEAL(heap), out, err);
}
