/* One value of one dtype: literals, statistics bounds, results of item(). A scalar owns nothing but what its
 * owner says: bytes of text point into memory that outlives it (an arena, the array it was read from). */
#ifndef NK_COLUMNAR_SCALAR_H
#define NK_COLUMNAR_SCALAR_H

#include "columnar/array.h"

typedef struct nk_scalar {
	const nk_dtype *dtype;
	bool is_null;
	union {
		bool boolean;
		__int128 integer; /* all integers, Decimal (unscaled), temporal types */
		double floating;  /* Float32, Float64 */
		struct {
			const char *bytes; /* String, Binary */
			int64_t n_bytes;
		};
		nk_array *nested; /* List, Struct: borrowed array of one row */
	};
} nk_scalar;

/* Row `row` of an array in any encoding. Bytes point into the array. `nested` is the array itself when it is
 * constant, else NULL: take the row with nk_array_slice. */
nk_scalar nk_scalar_read(const nk_array *array, int64_t row);
/* A constant array of n_rows. Not for nested dtypes (fails with NK_INVALID_OPERATION). */
NK_MUST_CHECK nk_status nk_array_from_scalar(nk_memory *memory, const nk_scalar *scalar, int64_t n_rows,
                                             nk_array **out, nk_error *err);
/* Polars' total order: nulls are not accepted, NaN is largest and equal to itself, -0.0 equals 0.0.
 * Both scalars have the same dtype (Decimals: same scale). */
int nk_scalar_compare(const nk_scalar *a, const nk_scalar *b);

#endif
