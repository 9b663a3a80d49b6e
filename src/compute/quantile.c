/* Quickselect on 64-bit keys (Hoare, 1961) with pseudo-random pivots from a fixed seed: linear on average, whatever
 * the order of the values. Doubles are selected by keys that order like them. */
#include "compute/quantile.h"

#include <math.h>
#include <string.h>

bool nk_interpolation_parse(const char *name, nk_interpolation *out)
{
	static const char *const names[] = {"nearest", "lower", "higher", "midpoint", "linear", "equiprobable"};
	for (int i = 0; i < NK_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (nk_interpolation)i;
			return true;
		}
	return false;
}

int64_t nk_key_of_double(double value)
{
	int64_t bits;
	value = value != value ? __builtin_nan("") : value;
	memcpy(&bits, &value, sizeof bits);
	return bits ^ ((bits >> 63) & INT64_MAX);
}

double nk_double_of_key(int64_t key)
{
	double value;
	key ^= (key >> 63) & INT64_MAX;
	memcpy(&value, &key, sizeof value);
	return value;
}

int64_t nk_select_key(int64_t *keys, int64_t n, int64_t k)
{
	uint64_t random = 0x9e3779b97f4a7c15u;
	int64_t low = 0, high = n - 1;
	while (low < high) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		int64_t pivot = keys[low + (int64_t)(random % (uint64_t)(high - low + 1))];
		int64_t i = low, j = high;
		while (i <= j) {
			while (keys[i] < pivot)
				i++;
			while (keys[j] > pivot)
				j--;
			if (i <= j) {
				int64_t swapped = keys[i];
				keys[i++] = keys[j];
				keys[j--] = swapped;
			}
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return keys[k];
}

/* The positions a quantile lies between, and how far from the lower one. */
static int64_t positions(int64_t n, double quantile, nk_interpolation interpolation, bool *between,
                         double *fraction)
{
	double at = quantile * (double)(n - 1);
	*between = false;
	*fraction = 0;
	switch (interpolation) {
	case NK_NEAREST: return (int64_t)round(at);
	case NK_LOWER: return (int64_t)floor(at);
	case NK_HIGHER: return (int64_t)ceil(at);
	case NK_EQUIPROBABLE: {
		int64_t k = (int64_t)ceil(quantile * (double)n) - 1;
		return k < 0 ? 0 : k;
	}
	default: {
		int64_t low = (int64_t)floor(at);
		*between = ceil(at) > floor(at);
		*fraction = interpolation == NK_MIDPOINT ? 0.5 : at - (double)low;
		return low;
	}
	}
}

static int64_t least(const int64_t *keys, int64_t n)
{
	int64_t best = keys[0];
	for (int64_t i = 1; i < n; i++)
		best = keys[i] < best ? keys[i] : best;
	return best;
}

double nk_quantile_of_doubles(int64_t *keys, int64_t n, double quantile, nk_interpolation interpolation)
{
	bool between;
	double fraction;
	int64_t k = positions(n, quantile, interpolation, &between, &fraction);
	double low = nk_double_of_key(nk_select_key(keys, n, k));
	if (!between)
		return low;
	double high = nk_double_of_key(least(keys + k + 1, n - k - 1));
	if (low == high)
		return low;
	return fraction == 0.5 ? (low + high) / 2 : low + (high - low) * fraction;
}

int64_t nk_quantile_of_integers(int64_t *keys, int64_t n, double quantile, nk_interpolation interpolation)
{
	bool between;
	double fraction;
	int64_t k = positions(n, quantile, interpolation, &between, &fraction);
	int64_t low = nk_select_key(keys, n, k);
	if (!between)
		return low;
	int64_t high = least(keys + k + 1, n - k - 1);
	return low + (int64_t)((double)((uint64_t)high - (uint64_t)low) * fraction);
}
