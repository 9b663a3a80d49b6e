/* Random columns for the tests of breakers, and rows as text, so that a naive reference can compare them: equal
 * text means equal keys (one zero, one NaN, null is a value). */
#ifndef NK_TESTS_RANDOM_ROWS_H
#define NK_TESTS_RANDOM_ROWS_H

#include <stdlib.h>

#include "columnar/batch.h"
#include "columnar/builder.h"
#include "expect.h"

static uint64_t random_state = 88172645463325252ull;

static inline uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

static inline int64_t random_below(int64_t n) { return (int64_t)(random_u64() >> 1) % n; }

static inline void must(nk_status status)
{
	if (status != NK_OK) {
		fprintf(stderr, "unexpected status %d\n", status);
		abort();
	}
}

/* One of `domain` values of the dtype. */
static inline void append_random(nk_builder *builder, const nk_dtype *dtype, int64_t domain)
{
	int64_t v = random_below(domain);
	char text[64];
	switch (dtype->physical) {
	case NK_PHYSICAL_BOOL: must(nk_builder_append_boolean(builder, v & 1, NULL)); break;
	case NK_PHYSICAL_F32:
	case NK_PHYSICAL_F64:
		must(nk_builder_append_float(builder,
		                             v == 0   ? -0.0
		                             : v == 1 ? 0.0
		                             : v == 2 ? __builtin_nan("")
		                                      : (double)(v - domain / 2) / 4,
		                             NULL));
		break;
	case NK_PHYSICAL_VIEW:
		/* Short and long ones, with common prefixes. */
		must(nk_builder_append_bytes(
			builder, text, snprintf(text, sizeof text, v % 3 ? "k%ld" : "a common prefix, %ld", (long)v),
			NULL));
		break;
	case NK_PHYSICAL_I8:
	case NK_PHYSICAL_U8: must(nk_builder_append_integer(builder, v % 100, NULL)); break;
	case NK_PHYSICAL_I16: must(nk_builder_append_integer(builder, v % 30000 - 15000, NULL)); break;
	case NK_PHYSICAL_I128:
		must(nk_builder_append_integer(builder, (__int128)(v - domain / 2) * 1000003, NULL));
		break;
	default: must(nk_builder_append_integer(builder, v, NULL));
	}
}

static inline nk_array *random_array(nk_memory *memory, const nk_dtype *dtype, int64_t n_rows, int64_t domain,
                                     int percent_null, nk_encoding encoding)
{
	nk_builder *builder;
	nk_array *values, *out;
	must(nk_builder_new(memory, dtype, &builder, NULL));
	int64_t n = encoding == NK_FLAT ? n_rows : encoding == NK_CONSTANT ? 1 : NK_MIN(domain, (int64_t)100);
	for (int64_t i = 0; i < n; i++) {
		if (encoding != NK_DICTIONARY && random_below(100) < percent_null)
			must(nk_builder_append_null(builder, NULL));
		else
			append_random(builder, dtype, domain);
	}
	must(nk_builder_finish(builder, &values, NULL));
	nk_builder_free(builder);
	if (encoding == NK_FLAT)
		return values;
	if (encoding == NK_CONSTANT) {
		must(nk_array_new_constant(memory, values, n_rows, &out, NULL));
		nk_array_unref(values);
		return out;
	}
	nk_buffer *codes, *validity = NULL;
	must(nk_buffer_new(memory, n_rows * 4, &codes, NULL));
	for (int64_t i = 0; i < n_rows; i++)
		((uint32_t *)codes->bytes)[i] = (uint32_t)random_below(n);
	if (percent_null) {
		must(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(n_rows), &validity, NULL));
		for (int64_t i = 0; i < n_rows; i++)
			if (random_below(100) >= percent_null)
				nk_bitmap_set(validity->bytes, i);
	}
	must(nk_array_new_dictionary(values, n_rows, codes, validity, -1, &out, NULL));
	return out;
}

/* The row's value as text; with signs of zeros when asked. */
static inline char *row_text(char *at, const nk_array *array, int64_t row, bool show_zeros)
{
	nk_scalar scalar = nk_scalar_read(array, row);
	if (scalar.is_null)
		return at + sprintf(at, "null|");
	switch (array->dtype->physical) {
	case NK_PHYSICAL_BOOL: return at + sprintf(at, "%d|", scalar.boolean);
	case NK_PHYSICAL_F32:
	case NK_PHYSICAL_F64:
		return at + sprintf(at, "%.17g|",
		                    scalar.floating != scalar.floating    ? __builtin_nan("")
		                    : scalar.floating == 0 && !show_zeros ? 0
		                                                          : scalar.floating);
	case NK_PHYSICAL_VIEW: return at + sprintf(at, "%.*s|", (int)scalar.n_bytes, scalar.bytes);
	default: return at + sprintf(at, "%lld|", (long long)scalar.integer);
	}
}

static inline void rows_text(char *at, nk_array *const *arrays, int n_arrays, int64_t row, bool show_zeros)
{
	for (int k = 0; k < n_arrays; k++)
		at = row_text(at, arrays[k], row, show_zeros);
}

#endif
