/* Raffaello Giulietti, "The Schubfach way to render doubles" (2020): of the multiples of the two powers of ten that
 * fit into the rounding interval take the coarser when one lies inside, else the nearer of the finer. Products with
 * the 128-bit power are rounded to odd, which keeps every comparison exact. */
#include "columnar/float_text.h"

#include <stdbool.h>
#include <string.h>

#include "columnar/powers_of_ten.h"

/* floor(log10(2^e)) and floor(log10(3/4 * 2^e)) */
static int log10_of_power_of_two(int e) { return (e * 1262611) >> 22; }
static int log10_of_three_quarters(int e) { return (e * 1262611 - 524031) >> 22; }

static uint64_t round_to_odd(const nk_power *power, uint64_t factor)
{
	unsigned __int128 low = (unsigned __int128)power->low * factor,
					  high = (unsigned __int128)power->high * factor;
	high += (uint64_t)(low >> 64);
	return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* significand * 2^exponent; irregular when the lower neighbour is nearer than the upper. */
static nk_decimal_float shortest(uint64_t significand, int exponent, bool irregular, bool ties_up)
{
	bool even = (significand & 1) == 0;
	int k = irregular ? log10_of_three_quarters(exponent) : log10_of_power_of_two(exponent);
	int shift = exponent + nk_log2_of_power(-k) + 1;
	const nk_power *power = &nk__powers_of_ten[-k - NK_POWER_MIN];
	uint64_t below = round_to_odd(power, (4 * significand - 2 + irregular) << shift);
	uint64_t here = round_to_odd(power, (4 * significand) << shift);
	uint64_t above = round_to_odd(power, (4 * significand + 2) << shift);
	uint64_t lower = below + !even, upper = above - !even;

	uint64_t s = here / 4;
	if (s >= 10) {
		uint64_t coarse = s / 10;
		bool down = lower <= 40 * coarse, up = 40 * coarse + 40 <= upper;
		if (down != up)
			return (nk_decimal_float){coarse + up, k + 1};
	}
	bool down = lower <= 4 * s, up = 4 * s + 4 <= upper;
	if (down != up)
		return (nk_decimal_float){s + up, k};
	uint64_t middle = 4 * s + 2;
	return (nk_decimal_float){s + (here > middle || (here == middle && (ties_up || (s & 1)))), k};
}

static nk_decimal_float without_zeros(nk_decimal_float value)
{
	if (value.digits == 0)
		return (nk_decimal_float){0, 0};
	while (value.digits % 10 == 0) {
		value.digits /= 10;
		value.exponent++;
	}
	return value;
}

static nk_decimal_float shortest_f64(double value, bool ties_up)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	uint64_t fraction = bits & 0xfffffffffffff;
	int biased = (int)(bits >> 52 & 0x7ff);
	if (biased == 0 && fraction == 0)
		return (nk_decimal_float){0, 0};
	uint64_t significand = biased ? fraction | (uint64_t)1 << 52 : fraction;
	int exponent = (biased ? biased : 1) - 1075;
	if (exponent <= 0 && exponent > -53 && (significand & (((uint64_t)1 << -exponent) - 1)) == 0)
		return without_zeros((nk_decimal_float){significand >> -exponent, 0}); /* a small integer */
	return without_zeros(shortest(significand, exponent, fraction == 0 && biased > 1, ties_up));
}

nk_decimal_float nk_shortest_f64(double value) { return shortest_f64(value, false); }
nk_decimal_float nk_shortest_f64_ties_up(double value) { return shortest_f64(value, true); }

nk_decimal_float nk_shortest_f32(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	uint32_t fraction = bits & 0x7fffff;
	int biased = (int)(bits >> 23 & 0xff);
	if (biased == 0 && fraction == 0)
		return (nk_decimal_float){0, 0};
	uint32_t significand = biased ? fraction | (uint32_t)1 << 23 : fraction;
	int exponent = (biased ? biased : 1) - 150;
	return without_zeros(shortest(significand, exponent, fraction == 0 && biased > 1, false));
}
