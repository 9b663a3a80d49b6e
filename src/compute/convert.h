/* Numbers of one physical type to another, through blocks of a common wide type: each type has a loop that loads
 * and a loop that stores, instead of one loop per pair. Values that do not fit are counted and marked. */
#ifndef NK_COMPUTE_CONVERT_H
#define NK_COMPUTE_CONVERT_H

#include "base/cpu.h"
#include "columnar/dtype.h"

enum { NK_CONVERT_BLOCK = 1024 };

typedef struct nk_convert_table {
	/* n <= NK_CONVERT_BLOCK values to int64 (8 to 32-bit integers, Int64), int128 (any integer), double (any number). */
	void (*load_int[NK_PHYSICAL_N])(int64_t *out, const void *values, int64_t n);
	void (*load_wide[NK_PHYSICAL_N])(__int128 *out, const void *values, int64_t n);
	void (*load_float[NK_PHYSICAL_N])(double *out, const void *values, int64_t n);
	/* And back. bad[i] is set to 1 where the value does not fit, else to 0; returns whether any is. Floats become
	 * integers by truncation, NaN does not fit; what is stored under a bad one wraps (floats: saturates). */
	bool (*store_int[NK_PHYSICAL_N])(void *out, const int64_t *values, int64_t n, uint8_t *bad);
	bool (*store_wide[NK_PHYSICAL_N])(void *out, const __int128 *values, int64_t n, uint8_t *bad);
	bool (*store_float[NK_PHYSICAL_N])(void *out, const double *values, int64_t n, uint8_t *bad);
} nk_convert_table;

NK_ISA_DECLARE(nk_convert_table, nk__convert);

#endif
