/* Compiled once per instruction level. Dividing a product by a power of ten: below 2^51 the quotient is estimated
 * in doubles, where the estimate is off by less than 0.7, and the exact remainder corrects it; this vectorises.
 * Larger products use a multiply-high by the reciprocal (Granlund and Montgomery, 1994). */
#include "compute/decimal.h"

static uint64_t bits(const int64_t *values, int64_t n)
{
	uint64_t all = 0;
	for (int64_t i = 0; i < n; i++)
		all |= (uint64_t)(values[i] ^ (values[i] >> 63));
	return all;
}

/* 1.5 * 2^52: adding it leaves a small number's nearest integer in the low bits. */
static const double MAGIC = 6755399441055744.0;
static const int64_t MAGIC_BITS = 0x4338000000000000;

static inline int64_t bits_of(double value)
{
	int64_t word;
	__builtin_memcpy(&word, &value, sizeof word);
	return word;
}

static inline double double_of(int64_t value)
{
	double number;
	value += MAGIC_BITS;
	__builtin_memcpy(&number, &value, sizeof number);
	return number - MAGIC;
}

static inline __attribute__((always_inline)) void mul_small_body(int64_t *out, const int64_t *left,
                                                                 const int64_t *right, int64_t n,
                                                                 nk_shape shape, int64_t divisor)
{
	double inverse = 1.0 / (double)divisor;
	for (int64_t i = 0; i < n; i++) {
		int64_t product = left[shape == NK_SCALAR_VECTOR ? 0 : i] * right[shape == NK_VECTOR_SCALAR ? 0 : i];
		int64_t quotient = bits_of(double_of(product) * inverse + MAGIC) - MAGIC_BITS;
		int64_t twice = 2 * (product - quotient * divisor);
		/* Half away from the even quotient: ties move an odd one only. */
		int64_t odd = quotient & 1;
		quotient += (twice + odd > divisor) ? 1 : 0;
		quotient -= (twice - odd < -divisor) ? 1 : 0;
		out[i] = quotient;
	}
}

static void mul_small(int64_t *out, const int64_t *left, const int64_t *right, int64_t n, nk_shape shape,
                      int64_t divisor)
{
	if (shape == NK_VECTOR_VECTOR)
		mul_small_body(out, left, right, n, NK_VECTOR_VECTOR, divisor);
	else if (shape == NK_VECTOR_SCALAR)
		mul_small_body(out, left, right, n, NK_VECTOR_SCALAR, divisor);
	else
		mul_small_body(out, left, right, n, NK_SCALAR_VECTOR, divisor);
}

static void mul(int64_t *out, const int64_t *left, const int64_t *right, int64_t n, nk_shape shape,
                int64_t divisor)
{
	int log = 64 - __builtin_clzll((uint64_t)divisor - 1); /* divisor >= 10 */
	uint64_t reciprocal = (uint64_t)(((unsigned __int128)1 << (63 + log)) / (uint64_t)divisor) + 1;
	for (int64_t i = 0; i < n; i++) {
		int64_t product = left[shape == NK_SCALAR_VECTOR ? 0 : i] * right[shape == NK_VECTOR_SCALAR ? 0 : i];
		int64_t sign = product >> 63;
		uint64_t magnitude = (uint64_t)((product ^ sign) - sign);
		uint64_t quotient = (uint64_t)(((unsigned __int128)magnitude * reciprocal) >> 64) >> (log - 1);
		uint64_t rest = magnitude - quotient * (uint64_t)divisor;
		quotient += 2 * rest + (quotient & 1) > (uint64_t)divisor;
		out[i] = ((int64_t)quotient ^ sign) - sign;
	}
}

static void add(int64_t *out, const int64_t *left, const int64_t *right, int64_t n, nk_shape shape,
                int64_t factor_left, int64_t factor_right)
{
	if (shape == NK_VECTOR_VECTOR) {
		for (int64_t i = 0; i < n; i++)
			out[i] = left[i] * factor_left + right[i] * factor_right;
	} else if (shape == NK_VECTOR_SCALAR) {
		int64_t addend = right[0] * factor_right;
		for (int64_t i = 0; i < n; i++)
			out[i] = left[i] * factor_left + addend;
	} else {
		int64_t addend = left[0] * factor_left;
		for (int64_t i = 0; i < n; i++)
			out[i] = addend + right[i] * factor_right;
	}
}

const nk_decimal_table NK_ISA_NAME(nk__decimal) = {
	.bits = bits, .mul_small = mul_small, .mul = mul, .add = add};
