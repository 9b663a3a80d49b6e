/* Decimal arithmetic. Values are integers in units of 10^-scale, in int64 or int128 arrays; results are exact or
 * rounded half to even, and must fit 38 digits.
 *
 * Both widths are one type to users, so kernels choose: while bounds of the values promise that 64 bits suffice
 * everything stays in 64-bit vectors; else rows are computed in 128 bits (256 for a product or a scaled
 * dividend) and stored narrow again where they fit. */
#ifndef NK_COMPUTE_DECIMAL_H
#define NK_COMPUTE_DECIMAL_H

#include "columnar/array.h"
#include "compute/arith.h"

/* left op right; either may be constant (not both). The operands' scales are those of their dtypes, the result's
 * that of `dtype`: the larger one. validity: rows that count (NULL: all); the others never fail, and the caller
 * makes them null. Fails with NK_COMPUTE on overflow and on division by zero. */
NK_MUST_CHECK nk_status nk_decimal_arith(nk_memory *memory, nk_arith_op op, const nk_array *left,
                                         const nk_array *right, const uint8_t *validity, int64_t n_rows,
                                         const nk_dtype *dtype, nk_array **out, nk_error *err);

typedef enum nk_rounding {
	NK_ROUND_HALF_EVEN,
	NK_ROUND_HALF_AWAY,
	NK_ROUND_TO_ZERO,
	NK_ROUND_FLOOR,
	NK_ROUND_CEIL
} nk_rounding;

/* value / divisor (positive), rounded. */
__int128 nk_decimal_divide(__int128 value, __int128 divisor, nk_rounding rounding);
/* value from one scale to another; false when it leaves 38 digits. */
bool nk_decimal_rescale(__int128 value, int scale_from, int scale_to, nk_rounding rounding, __int128 *out);
/* Bits that the magnitudes of n int64 values need, at most (0..63). */
int nk_decimal_bits(const int64_t *values, int64_t n);
/* Whether all of n int128 values fit int64. */
bool nk_decimal_fits(const __int128 *values, int64_t n);
/* A flat array of int128 results as an array of `dtype`, narrowed where all values fit. Takes over `wide`. */
NK_MUST_CHECK nk_status nk_decimal_narrow(nk_memory *memory, const nk_dtype *dtype, nk_array *wide,
                                          nk_array **out, nk_error *err);

/* The loops, one table per instruction level. */
typedef struct nk_decimal_table {
	uint64_t (*bits)(const int64_t *values, int64_t n); /* OR of the magnitudes (ones' complement) */
	/* left * right / divisor, half to even; |products| < 2^51. */
	void (*mul_small)(int64_t *out, const int64_t *left, const int64_t *right, int64_t n, nk_shape shape,
	                  int64_t divisor);
	/* The same for |products| < 2^62. */
	void (*mul)(int64_t *out, const int64_t *left, const int64_t *right, int64_t n, nk_shape shape,
	            int64_t divisor);
	/* left * factor_left + right * factor_right. */
	void (*add)(int64_t *out, const int64_t *left, const int64_t *right, int64_t n, nk_shape shape,
	            int64_t factor_left, int64_t factor_right);
} nk_decimal_table;

NK_ISA_DECLARE(nk_decimal_table, nk__decimal);

#endif
