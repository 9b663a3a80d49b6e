/* Rolling sums, means and extremes, and windows with weights. A row costs constant time whatever the window,
 * but with weights. */
#include <math.h>

#include "func/rolling.h"
#include "func/words.h"

#define T int8_t
#define U uint8_t
#define SUFFIX i8
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T int16_t
#define U uint16_t
#define SUFFIX i16
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T int32_t
#define U uint32_t
#define SUFFIX i32
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T int64_t
#define U uint64_t
#define SUFFIX i64
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T __int128
#define U unsigned __int128
#define SUFFIX i128
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T uint8_t
#define U uint8_t
#define SUFFIX u8
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T uint16_t
#define U uint16_t
#define SUFFIX u16
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T uint32_t
#define U uint32_t
#define SUFFIX u32
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T uint64_t
#define U uint64_t
#define SUFFIX u64
#define IS_FLOAT 0
#include "func/rolling_tmpl.h"
#define T float
#define U float
#define ACC double
#define SUFFIX f32
#define IS_FLOAT 1
#include "func/rolling_tmpl.h"
#define T double
#define U double
#define ACC double
#define SUFFIX f64
#define IS_FLOAT 1
#include "func/rolling_tmpl.h"

typedef void roll_loop(const nk_rolling *r, const void *values, const uint8_t *validity, int64_t n_groups,
                       const int64_t *offsets, void *suffixes, int64_t mask, void *out, uint8_t *known);

static roll_loop *const loops[NK_PHYSICAL_N] = {
	[NK_PHYSICAL_I8] = roll_i8,   [NK_PHYSICAL_I16] = roll_i16,   [NK_PHYSICAL_I32] = roll_i32,
	[NK_PHYSICAL_I64] = roll_i64, [NK_PHYSICAL_I128] = roll_i128, [NK_PHYSICAL_U8] = roll_u8,
	[NK_PHYSICAL_U16] = roll_u16, [NK_PHYSICAL_U32] = roll_u32,   [NK_PHYSICAL_U64] = roll_u64,
	[NK_PHYSICAL_F32] = roll_f32, [NK_PHYSICAL_F64] = roll_f64,
};

static const uint8_t *nulls_of(const nk_array *array)
{
	return nk__may_have_nulls(array) ? array->validity : NULL;
}

nk_status nk__rolling_fold(const nk_rolling *r, nk_memory *memory, const nk_array *array, int64_t n_groups,
                           const int64_t *offsets, nk_array *result, nk_error *err)
{
	NK_AUTO(nk_buffer) suffixes = NULL, *bytes = NULL;
	int64_t room = nk__rolling_room(r, offsets, n_groups);
	NK_TRY(nk_buffer_new(memory, room * 16, &suffixes, err));
	if (array->physical != NK_PHYSICAL_BOOL) {
		loops[array->physical](r, array->values, nulls_of(array), n_groups, offsets, suffixes->bytes,
		                       room - 1, nk_array_values(result), nk_array_validity(result));
		return NK_OK;
	}
	NK_TRY(nk_buffer_new(memory, array->n_rows * 2, &bytes, err));
	uint8_t *from = bytes->bytes, *to = from + array->n_rows, *bits = nk_array_values(result);
	for (int64_t i = 0; i < array->n_rows; i++)
		from[i] = nk_bitmap_get(array->values, i);
	roll_u8(r, from, nulls_of(array), n_groups, offsets, suffixes->bytes, room - 1, to,
	        nk_array_validity(result));
	for (int64_t i = 0; i < array->n_rows; i++)
		nk_bitmap_put(bits, i, to[i]);
	return NK_OK;
}

/* Products with weights, window by window: the weights move along with the rows. */
static double weighted(const nk_rolling *r, const double *x, const double *w, int64_t n)
{
	double sum = 0, squares = 0, total = 0, best = 0;
	for (int64_t k = 0; k < n; k++) {
		double product = x[k] * w[k];
		sum += product;
		squares += x[k] * product;
		total += w[k];
		if (r->kind == NK_ROLLING_MIN)
			best = k == 0 || product < best ? product : best;
		else
			best = k == 0 || product > best ? product : best;
	}
	switch (r->kind) {
	case NK_ROLLING_SUM: return sum;
	case NK_ROLLING_MEAN: return total == 0 ? 0 : sum / total;
	case NK_ROLLING_MIN:
	case NK_ROLLING_MAX: return best;
	default: break;
	}
	double mean = total == 0 ? 0 : sum / total, variance = total == 0 ? 0 : squares / total - mean * mean;
	return r->kind == NK_ROLLING_STD ? sqrt(variance) : variance;
}

nk_status nk__rolling_weighted(const nk_rolling *r, nk_memory *memory, const nk_array *array,
                               int64_t n_groups, const int64_t *offsets, nk_array *result, nk_error *err)
{
	(void)memory;
	if (nulls_of(array))
		return nk_fail(err, NK_COMPUTE, "weights not yet supported on array with null values");
	const double *values = array->values;
	double *out = nk_array_values(result);
	for (int64_t g = 0; g < n_groups; g++)
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
			int64_t start, end, after = r->center ? r->window_size - r->window_size / 2 : 1;
			nk__rolling_window(r, i, offsets[g], offsets[g + 1], &start, &end);
			/* The first weight belongs to the row where a whole window would begin. */
			int64_t skipped = start - (i + after - r->window_size);
			if (end - start >= r->min_samples && end > start) {
				out[i] = weighted(r, values + start, r->weights + skipped, end - start);
			} else {
				out[i] = 0;
				nk_bitmap_clear(nk_array_validity(result), i);
			}
		}
	return NK_OK;
}
