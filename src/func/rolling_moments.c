/* Rolling variance, skewness and kurtosis without subtraction, which would lose digits. A window is two runs
 * that are joined: of rows before a mark, aggregates of all suffixes were made when the mark was set; rows
 * after it are added one by one. When the first run is used up the mark moves to the end. Every row is added
 * twice in all. */
#include <math.h>

#include "func/rolling.h"
#include "func/words.h"

typedef struct moments {
	double n, mean, m2, m3, m4; /* sums of powers of what values differ from the mean by */
} moments;

/* inverse[n] is 1 / n: a division a row would be most of the time. */
static inline __attribute__((always_inline)) moments add(moments a, double x, const double *inverse,
                                                         bool higher)
{
	double n = a.n + 1, delta = x - a.mean, part = delta * inverse[(int64_t)n], term = delta * part * a.n;
	moments r = {.n = n, .mean = a.mean + part};
	if (higher) {
		double square = part * part;
		r.m4 = a.m4 + term * square * (n * n - 3 * n + 3) + 6 * square * a.m2 - 4 * part * a.m3;
		r.m3 = a.m3 + term * part * (n - 2) - 3 * part * a.m2;
	}
	r.m2 = a.m2 + term;
	return r;
}

static inline __attribute__((always_inline)) moments join(moments a, moments b, const double *inverse,
                                                          bool higher)
{
	if (a.n == 0)
		return b;
	if (b.n == 0)
		return a;
	double n = a.n + b.n, delta = b.mean - a.mean, part = delta * inverse[(int64_t)n], product = a.n * b.n;
	moments r = {.n = n, .mean = a.mean + part * b.n};
	r.m2 = a.m2 + b.m2 + delta * part * product;
	if (higher) {
		r.m3 =
			a.m3 + b.m3 + delta * part * part * product * (a.n - b.n) + 3 * part * (a.n * b.m2 - b.n * a.m2);
		r.m4 = a.m4 + b.m4 + delta * part * part * part * product * (a.n * a.n - product + b.n * b.n) +
		       6 * part * part * (a.n * a.n * b.m2 + b.n * b.n * a.m2) + 4 * part * (a.n * b.m3 - b.n * a.m3);
	}
	return r;
}

/* False: null. */
static inline bool result_of(const nk_rolling *r, moments m, double *out)
{
	double n = m.n, variance = m.m2 / n;
	if (n == 0)
		return false;
	switch (r->kind) {
	case NK_ROLLING_VAR:
	case NK_ROLLING_STD:
		if (n <= (double)r->ddof)
			return false;
		variance = m.m2 / (n - (double)r->ddof);
		*out = r->kind == NK_ROLLING_STD ? sqrt(variance) : variance;
		return true;
	case NK_ROLLING_SKEW: {
		/* values that differ by no more than rounding have no shape */
		double shape = variance <= m.mean * m.mean * 4.930380657631324e-32
		                   ? NAN
		                   : m.m3 / n / (variance * sqrt(variance));
		if (!r->bias && n <= 2)
			return false;
		*out = r->bias ? shape : sqrt(n * (n - 1)) / (n - 2) * shape;
		return true;
	}
	default: {
		double shape =
			variance <= m.mean * m.mean * 4.930380657631324e-32 ? NAN : m.m4 / n / (variance * variance);
		if (!r->bias && n <= 3)
			return false;
		if (!r->bias)
			shape = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * shape - 3 * (n - 1)) + 3;
		*out = r->fisher ? shape - 3 : shape;
		return true;
	}
	}
}

typedef struct source {
	const void *values;
	bool is_float32;
	const uint8_t *validity;
} source;

static inline __attribute__((always_inline)) bool value_at(const source *rows, int64_t i, bool plain,
                                                           double *out)
{
	if (plain) {
		*out = ((const double *)rows->values)[i];
		return true;
	}
	if (rows->validity && !nk_bitmap_get(rows->validity, i))
		return false;
	*out = rows->is_float32 ? (double)((const float *)rows->values)[i] : ((const double *)rows->values)[i];
	return true;
}

/* plain: doubles without nulls. */
static inline __attribute__((always_inline)) void group(const nk_rolling *r, const source *rows, int64_t from,
                                                        int64_t to, moments *suffixes, int64_t mask,
                                                        const double *inverse, nk_array *result, bool plain,
                                                        bool higher)
{
	moments back = {0};
	int64_t start = from, end = from, mark = from, n_not_finite = 0;
	for (int64_t i = from; i < to; i++) {
		int64_t next_start, next_end;
		double x;
		nk__rolling_window(r, i, from, to, &next_start, &next_end);
		if (next_start >= end) {
			start = end = mark = next_start;
			back = (moments){0};
			n_not_finite = 0;
		}
		for (; end < next_end; end++)
			if (value_at(rows, end, plain, &x)) {
				n_not_finite += x - x != 0;
				back = add(back, x - x != 0 ? 0 : x, inverse, higher);
			}
		for (; start < next_start; start++)
			if (value_at(rows, start, plain, &x))
				n_not_finite -= x - x != 0;
		if (start > mark) { /* the first run is used up, and more */
			moments suffix = {0};
			for (int64_t k = end; k-- > start;) {
				if (value_at(rows, k, plain, &x))
					suffix = add(suffix, x - x != 0 ? 0 : x, inverse, higher);
				suffixes[k & mask] = suffix;
			}
			mark = end;
			back = (moments){0};
		}
		moments all = start < mark ? join(suffixes[start & mask], back, inverse, higher) : back;
		double value = 0;
		bool known = (int64_t)all.n >= r->min_samples && result_of(r, all, &value);
		if (known && n_not_finite)
			value = NAN;
		if (!known)
			nk_bitmap_clear(nk_array_validity(result), i);
		if (!plain && rows->is_float32)
			((float *)nk_array_values(result))[i] = (float)value;
		else
			((double *)nk_array_values(result))[i] = value;
	}
}

nk_status nk__rolling_moments(const nk_rolling *r, nk_memory *memory, const nk_array *array, int64_t n_groups,
                              const int64_t *offsets, nk_array *result, nk_error *err)
{
	int64_t room = nk__rolling_room(r, offsets, n_groups);
	NK_AUTO(nk_buffer) suffixes = NULL, *inverses = NULL;
	NK_TRY(nk_buffer_new(memory, room * (int64_t)sizeof(moments), &suffixes, err));
	NK_TRY(nk_buffer_new(memory, (room + 1) * (int64_t)sizeof(double), &inverses, err));
	double *inverse = (double *)(void *)inverses->bytes;
	for (int64_t n = 0; n <= room; n++)
		inverse[n] = n ? 1 / (double)n : 0;
	source rows = {.values = array->values,
	               .is_float32 = array->physical == NK_PHYSICAL_F32,
	               .validity = nk__may_have_nulls(array) ? array->validity : NULL};
	bool higher = r->kind == NK_ROLLING_SKEW || r->kind == NK_ROLLING_KURTOSIS;
	bool plain = !rows.is_float32 && !rows.validity;
	moments *ends = (moments *)(void *)suffixes->bytes;
	for (int64_t g = 0; g < n_groups; g++)
		if (higher)
			group(r, &rows, offsets[g], offsets[g + 1], ends, room - 1, inverse, result, false, true);
		else if (plain)
			group(r, &rows, offsets[g], offsets[g + 1], ends, room - 1, inverse, result, true, false);
		else
			group(r, &rows, offsets[g], offsets[g + 1], ends, room - 1, inverse, result, false, false);
	return NK_OK;
}
