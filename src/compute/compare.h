/* Comparison of same-type values into bits, in Polars' order: NaN equals NaN and is larger than all else, the two
 * zeros are one, text compares by bytes. Nulls are not looked at: validity is combined beside. */
#ifndef NK_COMPUTE_COMPARE_H
#define NK_COMPUTE_COMPARE_H

#include "columnar/array.h"
#include "compute/arith.h"

typedef enum nk_compare_op { NK_EQ, NK_NE, NK_LT, NK_LE, NK_GT, NK_GE, NK_COMPARE_N } nk_compare_op;

/* bits[i] = left[i] op right[i] for n_rows rows; bits past n_rows in the last byte are zero. Both arrays are flat or
 * constant, of one dtype and one physical type (Decimals: of one scale; use nk_decimal_align). Lists and structs
 * know == and != only. */
void nk_compare(nk_compare_op op, const nk_array *left, const nk_array *right, int64_t n_rows, uint8_t *bits);

/* Whether two rows hold equal values; nulls equal nulls. Arrays of one dtype, any encoding; Decimals of any width. */
bool nk_rows_equal(const nk_array *left, int64_t row_left, const nk_array *right, int64_t row_right);
/* Order of two valid rows: negative, zero, positive. Not for lists and structs. */
int nk_rows_compare(const nk_array *left, int64_t row_left, const nk_array *right, int64_t row_right);

/* Two Decimal arrays with one scale and one physical type. The outputs are owned. */
NK_MUST_CHECK nk_status nk_decimal_align(nk_memory *memory, nk_array *left, nk_array *right,
                                         nk_array **out_left, nk_array **out_right, nk_error *err);

typedef void nk_compare_loop(uint8_t *bits, const void *left, const void *right, int64_t n, nk_compare_op op,
                             nk_shape shape);

typedef struct nk_compare_table {
	nk_compare_loop *fixed[NK_PHYSICAL_N]; /* integers and floats */
	/* Views against one of at most 12 bytes: == and != only. */
	void (*short_views)(uint8_t *bits, const void *views, const void *one, int64_t n, bool equal);
} nk_compare_table;

NK_ISA_DECLARE(nk_compare_table, nk__compare);

#endif
