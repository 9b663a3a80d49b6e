/* Elementwise arithmetic on same-type values. Integers wrap; floats follow IEEE 754, // and % floor.
 *
 * Loops see pointers and a count: no nulls (validity is combined beside them), no allocation, no errors. An
 * integer divided by zero gives 0; the caller makes it null. out may not overlap an input unless it is one. */
#ifndef NK_COMPUTE_ARITH_H
#define NK_COMPUTE_ARITH_H

#include "base/cpu.h"
#include "columnar/dtype.h"

typedef enum nk_arith_op {
	NK_ADD,
	NK_SUB,
	NK_MUL,
	NK_DIV, /* floats only */
	NK_FLOORDIV,
	NK_MOD,
	NK_TRUNCDIV,
	NK_POW, /* integers: the right side is taken as non-negative */
	NK_ARITH_N
} nk_arith_op;

typedef enum nk_unary_op { NK_NEG, NK_ABS, NK_SIGN, NK_UNARY_N } nk_unary_op;

/* Which sides are one value for all rows. */
typedef enum nk_shape { NK_VECTOR_VECTOR, NK_VECTOR_SCALAR, NK_SCALAR_VECTOR } nk_shape;

typedef void nk_arith_loop(void *out, const void *left, const void *right, int64_t n, nk_shape shape);
typedef void nk_unary_loop(void *out, const void *values, int64_t n);

typedef struct nk_arith_table {
	nk_arith_loop *binary[NK_PHYSICAL_N][NK_ARITH_N]; /* integers and floats; NULL elsewhere */
	nk_unary_loop *unary[NK_PHYSICAL_N][NK_UNARY_N];
} nk_arith_table;

NK_ISA_DECLARE(nk_arith_table, nk__arith);

#endif
