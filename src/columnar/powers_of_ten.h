/* Powers of ten as 128-bit mantissas, for exact conversion between floats and text: entry e - NK_POWER_MIN is
 * 10^e divided by the power of two that brings it into [2^127, 2^128), rounded up; exact for 0 <= e <= 55. */
#ifndef NK_COLUMNAR_POWERS_OF_TEN_H
#define NK_COLUMNAR_POWERS_OF_TEN_H

#include <stdint.h>

enum { NK_POWER_MIN = -348, NK_POWER_MAX = 347 };

typedef struct nk_power {
	uint64_t high, low;
} nk_power;

extern const nk_power nk__powers_of_ten[NK_POWER_MAX - NK_POWER_MIN + 1];

/* floor(log2(10^e)). */
static inline int nk_log2_of_power(int e) { return (e * 1741647) >> 19; }

#endif
