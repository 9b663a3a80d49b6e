/* Order statistics of one run of values. */
#ifndef NK_COMPUTE_QUANTILE_H
#define NK_COMPUTE_QUANTILE_H

#include "base/status.h"

typedef enum nk_interpolation {
	NK_NEAREST,
	NK_LOWER,
	NK_HIGHER,
	NK_MIDPOINT,
	NK_LINEAR,
	NK_EQUIPROBABLE,
} nk_interpolation;

/* Names as Polars spells them; false when unknown. */
bool nk_interpolation_parse(const char *name, nk_interpolation *out);

/* The k-th smallest (0-based) of n keys, which are moved about: afterwards none before k is larger and none after
 * it smaller. */
int64_t nk_select_key(int64_t *keys, int64_t n, int64_t k);

/* Keys that order like doubles, NaN last, and back. */
int64_t nk_key_of_double(double value);
double nk_double_of_key(int64_t key);

/* The quantile (0 to 1) of n >= 1 keys of doubles, or of plain int64 values (truncated when it lies between two). */
double nk_quantile_of_doubles(int64_t *keys, int64_t n, double quantile, nk_interpolation interpolation);
int64_t nk_quantile_of_integers(int64_t *keys, int64_t n, double quantile, nk_interpolation interpolation);

#endif
