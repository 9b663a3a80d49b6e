/* Whole arrays to one number, and values scattered into the states of groups: the loops of aggregation.
 *
 * Reductions to one number are vectorised and associate floats in a fixed way (lanes, then a tree), the same at
 * every instruction level. Scattering loops are scalar: one load, one add, one store a row. validity may be NULL. */
#ifndef NK_COMPUTE_REDUCE_H
#define NK_COMPUTE_REDUCE_H

#include "base/cpu.h"
#include "columnar/array.h"

typedef struct nk_reduce_table {
	/* Sum of the valid values: an int64 (wrapping) for integers, a double for floats. */
	void (*sum[NK_PHYSICAL_N])(const void *values, const uint8_t *validity, int64_t n, void *out);
	/* Least [0] or greatest [1] valid value that is not NaN into *out (of the values' type); false: there is none. */
	bool (*extreme[NK_PHYSICAL_N][2])(const void *values, const uint8_t *validity, int64_t n, void *out);
	/* Sum of (value - center)^2 over valid doubles. */
	double (*squares)(const double *values, const uint8_t *validity, int64_t n, double center);
} nk_reduce_table;

NK_ISA_DECLARE(nk_reduce_table, nk__reduce);

/* States that scattering loops know. */
typedef struct nk_mean_state {
	double sum;
	int64_t count;
} nk_mean_state;

typedef struct nk_wide_mean_state {
	__int128 sum;
	int64_t count, unused;
} nk_wide_mean_state;

/* int64 (integers, wrapping) or double (floats) sums: states[groups[i]] += values[i]. */
typedef void nk_scatter_sum(void *states, const uint32_t *groups, const void *values, const uint8_t *validity,
                            int64_t n);

typedef struct nk_scatter_table {
	nk_scatter_sum *sum[NK_PHYSICAL_N];
	nk_scatter_sum *mean[NK_PHYSICAL_N]; /* nk_mean_state */
} nk_scatter_table;

extern const nk_scatter_table nk__scatter;
/* int64 values into int128 states, and into nk_wide_mean_state. */
nk_scatter_sum nk_scatter_sum_wide, nk_scatter_mean_wide;

#endif
