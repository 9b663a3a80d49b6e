/* The shortest decimal digits that read back as the same float. */
#ifndef NK_COLUMNAR_FLOAT_TEXT_H
#define NK_COLUMNAR_FLOAT_TEXT_H

#include <stdint.h>

/* digits * 10^exponent; digits has no trailing zeros unless it is 0. */
typedef struct nk_decimal_float {
	uint64_t digits;
	int exponent;
} nk_decimal_float;

/* Of a finite value's magnitude. Of two equally near candidates the even one, or the larger when ties go up. */
nk_decimal_float nk_shortest_f64(double value);
nk_decimal_float nk_shortest_f64_ties_up(double value);
nk_decimal_float nk_shortest_f32(float value);

#endif
