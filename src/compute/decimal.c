/* The choice between 64-bit vectors and 128-bit rows. Bounds come from one cheap pass per operand (the OR of the
 * magnitudes), done per batch while its values are in L1; nothing is computed twice. */
#include "compute/decimal.h"

typedef unsigned __int128 u128;

static const nk_decimal_table *table(void) { return NK_ISA_TABLE(nk__decimal); }

int nk_decimal_bits(const int64_t *values, int64_t n)
{
	uint64_t all = table()->bits(values, n);
	return all ? 64 - __builtin_clzll(all) : 0;
}

bool nk_decimal_fits(const __int128 *values, int64_t n)
{
	u128 spill = 0;
	for (int64_t i = 0; i < n; i++)
		spill |= (u128)(values[i] - (int64_t)values[i]);
	return spill == 0;
}

nk_status nk_decimal_narrow(nk_memory *memory, const nk_dtype *dtype, nk_array *wide, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) owned = wide;
	const __int128 *from = wide->values;
	if (!nk_decimal_fits(from, wide->n_rows)) {
		*out = NK_STEAL(owned);
		return NK_OK;
	}
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new(memory, wide->n_rows * (int64_t)sizeof(int64_t), &values, err));
	int64_t *to = (int64_t *)values->bytes;
	for (int64_t i = 0; i < wide->n_rows; i++)
		to[i] = (int64_t)from[i];
	return nk_array_new_flat(dtype, NK_PHYSICAL_I64, wide->n_rows, NK_STEAL(values),
	                         nk_buffer_ref(wide->validity_buffer), wide->n_nulls, NULL, out, err);
}

static u128 magnitude_of(__int128 value) { return value < 0 ? 0 - (u128)value : (u128)value; }

/* Quotient and remainder rounded by the rule; `negative` is the sign of the exact result. */
static u128 round_quotient(u128 quotient, u128 rest, u128 divisor, bool negative, nk_rounding rounding)
{
	if (rest == 0)
		return quotient;
	u128 other = divisor - rest;
	switch (rounding) {
	case NK_ROUND_HALF_EVEN: return quotient + (rest > other || (rest == other && (quotient & 1)));
	case NK_ROUND_HALF_AWAY: return quotient + (rest >= other);
	case NK_ROUND_FLOOR: return quotient + negative;
	case NK_ROUND_CEIL: return quotient + !negative;
	case NK_ROUND_TO_ZERO: break;
	}
	return quotient;
}

__int128 nk_decimal_divide(__int128 value, __int128 divisor, nk_rounding rounding)
{
	u128 magnitude = magnitude_of(value), by = (u128)divisor;
	u128 quotient = round_quotient(magnitude / by, magnitude % by, by, value < 0, rounding);
	return value < 0 ? -(__int128)quotient : (__int128)quotient;
}

static bool fits_38_digits(__int128 value)
{
	__int128 limit = nk_power_of_ten(38);
	return value < limit && value > -limit;
}

bool nk_decimal_rescale(__int128 value, int scale_from, int scale_to, nk_rounding rounding, __int128 *out)
{
	if (scale_to < scale_from) {
		*out = nk_decimal_divide(value, nk_power_of_ten(scale_from - scale_to), rounding);
		return true;
	}
	return !__builtin_mul_overflow(value, nk_power_of_ten(scale_to - scale_from), out) &&
	       fits_38_digits(*out);
}

/* 256-bit product of two magnitudes. */
static void multiply_magnitudes(u128 a, u128 b, u128 *high, u128 *low)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
	u128 p00 = (u128)a0 * b0, p01 = (u128)a0 * b1, p10 = (u128)a1 * b0, p11 = (u128)a1 * b1;
	u128 middle = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;
	*low = (middle << 64) | (uint64_t)p00;
	*high = p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64);
}

/* high:low / divisor, bit by bit: only for products beyond 128 bits, which are rare. */
static bool divide_wide(u128 high, u128 low, u128 divisor, u128 *quotient, u128 *rest)
{
	if (high == 0) {
		*quotient = low / divisor;
		*rest = low % divisor;
		return true;
	}
	if (high >= divisor)
		return false;
	u128 left = high, result = 0;
	for (int i = 127; i >= 0; i--) {
		bool carry = left >> 127;
		left = (left << 1) | ((low >> i) & 1);
		result <<= 1;
		if (carry || left >= divisor) {
			left -= divisor;
			result |= 1;
		}
	}
	*quotient = result;
	*rest = left;
	return true;
}

typedef enum outcome { FINE, OVERFLOWED, BY_ZERO } outcome;

/* a * b / divisor rounded half to even. */
static outcome multiply_divide(__int128 a, __int128 b, __int128 divisor, __int128 *out)
{
	bool negative = (a < 0) != (b < 0) && a != 0 && b != 0;
	negative = divisor < 0 ? !negative : negative;
	u128 high, low, quotient, rest, by = magnitude_of(divisor);
	multiply_magnitudes(magnitude_of(a), magnitude_of(b), &high, &low);
	if (!divide_wide(high, low, by, &quotient, &rest))
		return OVERFLOWED;
	quotient = round_quotient(quotient, rest, by, negative, NK_ROUND_HALF_EVEN);
	if (quotient >= (u128)nk_power_of_ten(38))
		return OVERFLOWED;
	*out = negative ? -(__int128)quotient : (__int128)quotient;
	return FINE;
}

static outcome floor_divide(nk_arith_op op, __int128 a, __int128 b, int scale, __int128 *out)
{
	__int128 quotient = a / b, rest = a % b;
	if (op != NK_TRUNCDIV && rest != 0 && (rest < 0) != (b < 0)) {
		quotient--;
		rest += b;
	}
	if (op == NK_MOD) {
		*out = rest;
		return FINE;
	}
	return nk_decimal_rescale(quotient, 0, scale, NK_ROUND_HALF_EVEN, out) ? FINE : OVERFLOWED;
}

static outcome compute(nk_arith_op op, __int128 a, int scale_a, __int128 b, int scale_b, int scale,
                       __int128 *out)
{
	if (op == NK_MUL)
		return multiply_divide(a, b, nk_power_of_ten(scale_a + scale_b - scale), out);
	if (op >= NK_DIV && b == 0)
		return BY_ZERO;
	if (op == NK_DIV) {
		int exponent = scale - scale_a + scale_b;
		if (exponent > 38)
			return a == 0 ? (*out = 0, FINE) : OVERFLOWED;
		return multiply_divide(a, nk_power_of_ten(exponent), b, out);
	}
	__int128 left, right;
	if (!nk_decimal_rescale(a, scale_a, scale, NK_ROUND_HALF_EVEN, &left) ||
	    !nk_decimal_rescale(b, scale_b, scale, NK_ROUND_HALF_EVEN, &right))
		return OVERFLOWED;
	if (op == NK_ADD || op == NK_SUB) {
		*out = op == NK_ADD ? left + right : left - right; /* 38 digits leave room for one bit */
		return fits_38_digits(*out) ? FINE : OVERFLOWED;
	}
	return floor_divide(op, left, right, scale, out);
}

static __int128 value_at(const nk_array *array, int64_t row)
{
	int64_t i = nk_array_index(array, row);
	return array->physical == NK_PHYSICAL_I64 ? ((const int64_t *)array->values)[i]
	                                          : ((const __int128 *)array->values)[i];
}

static nk_status fail(nk_error *err, nk_arith_op op, outcome result, const nk_dtype *dtype)
{
	static const char *const names[] = {
		[NK_ADD] = "addition",      [NK_SUB] = "subtraction",         [NK_MUL] = "multiplication",
		[NK_DIV] = "division",      [NK_FLOORDIV] = "floor division", [NK_MOD] = "remainder",
		[NK_TRUNCDIV] = "division",
	};
	if (result == BY_ZERO)
		return nk_fail(err, NK_COMPUTE, "division by zero Decimal");
	return nk_fail(err, NK_COMPUTE, "overflow in decimal %s: result doesn't fit Decimal(%d, %d)", names[op],
	               dtype->precision, dtype->scale);
}

static nk_status arith_wide(nk_memory *memory, nk_arith_op op, const nk_array *left, const nk_array *right,
                            const uint8_t *validity, int64_t n_rows, const nk_dtype *dtype, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) wide = NULL;
	NK_TRY(nk_array_alloc(memory, dtype, NK_PHYSICAL_I128, n_rows, false, &wide, err));
	__int128 *to = nk_array_values(wide);
	int scale_left = left->dtype->scale, scale_right = right->dtype->scale;
	for (int64_t i = 0; i < n_rows; i++) {
		to[i] = 0;
		if (validity && !nk_bitmap_get(validity, i))
			continue;
		outcome result =
			compute(op, value_at(left, i), scale_left, value_at(right, i), scale_right, dtype->scale, &to[i]);
		if (NK_UNLIKELY(result != FINE))
			return fail(err, op, result, dtype);
	}
	return nk_decimal_narrow(memory, dtype, NK_STEAL(wide), out, err);
}

static int bits_of_power(int exponent)
{
	return exponent > 18 ? 64 : 64 - __builtin_clzll((uint64_t)nk_power_of_ten(exponent));
}

static int bits_of(const nk_array *array, int64_t n_rows)
{
	return nk_decimal_bits(array->values, array->encoding == NK_CONSTANT ? 1 : n_rows);
}

nk_status nk_decimal_arith(nk_memory *memory, nk_arith_op op, const nk_array *left, const nk_array *right,
                           const uint8_t *validity, int64_t n_rows, const nk_dtype *dtype, nk_array **out,
                           nk_error *err)
{
	int scale_left = left->dtype->scale, scale_right = right->dtype->scale, scale = dtype->scale;
	if (op > NK_MUL || left->physical != NK_PHYSICAL_I64 || right->physical != NK_PHYSICAL_I64)
		return arith_wide(memory, op, left, right, validity, n_rows, dtype, out, err);
	int bits_left = bits_of(left, n_rows), bits_right = bits_of(right, n_rows);
	nk_shape shape = left->encoding == NK_CONSTANT    ? NK_SCALAR_VECTOR
	                 : right->encoding == NK_CONSTANT ? NK_VECTOR_SCALAR
	                                                  : NK_VECTOR_VECTOR;
	bool fits;
	if (op == NK_MUL) {
		fits = bits_left + bits_right <= 62 && scale_left + scale_right - scale <= 18;
	} else {
		int scaled_left = bits_left + (scale_left < scale ? bits_of_power(scale - scale_left) : 0);
		int scaled_right = bits_right + (scale_right < scale ? bits_of_power(scale - scale_right) : 0);
		fits = scaled_left <= 62 && scaled_right <= 62;
	}
	if (!fits)
		return arith_wide(memory, op, left, right, validity, n_rows, dtype, out, err);
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(memory, dtype, NK_PHYSICAL_I64, n_rows, false, &result, err));
	int64_t *to = nk_array_values(result);
	const nk_arith_table *plain = NK_ISA_TABLE(nk__arith);
	if (op == NK_MUL) {
		int64_t divisor = (int64_t)nk_power_of_ten(scale_left + scale_right - scale);
		if (divisor == 1)
			plain->binary[NK_PHYSICAL_I64][NK_MUL](to, left->values, right->values, n_rows, shape);
		else if (bits_left + bits_right <= 51)
			table()->mul_small(to, left->values, right->values, n_rows, shape, divisor);
		else
			table()->mul(to, left->values, right->values, n_rows, shape, divisor);
	} else if (scale_left == scale_right) {
		plain->binary[NK_PHYSICAL_I64][op](to, left->values, right->values, n_rows, shape);
	} else {
		int64_t factor_left = (int64_t)nk_power_of_ten(scale - scale_left);
		int64_t factor_right = (int64_t)nk_power_of_ten(scale - scale_right);
		table()->add(to, left->values, right->values, n_rows, shape, factor_left,
		             op == NK_SUB ? -factor_right : factor_right);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}
