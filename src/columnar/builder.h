/* Build an array value by value: for literals, Python lists and tests. Kernels use nk_array_alloc instead.
 * Single-owner. */
#ifndef NK_COLUMNAR_BUILDER_H
#define NK_COLUMNAR_BUILDER_H

#include "columnar/scalar.h"

typedef struct nk_builder nk_builder;

NK_MUST_CHECK nk_status nk_builder_new(nk_memory *memory, const nk_dtype *dtype, nk_builder **out,
                                       nk_error *err);
void nk_builder_free(nk_builder *builder);
int64_t nk_builder_n_rows(const nk_builder *builder);
NK_MUST_CHECK nk_status nk_builder_append_null(nk_builder *builder, nk_error *err);
/* Integers of every width, temporal types and unscaled Decimals. The value must fit the dtype. */
NK_MUST_CHECK nk_status nk_builder_append_integer(nk_builder *builder, __int128 value, nk_error *err);
NK_MUST_CHECK nk_status nk_builder_append_float(nk_builder *builder, double value, nk_error *err);
NK_MUST_CHECK nk_status nk_builder_append_boolean(nk_builder *builder, bool value, nk_error *err);
NK_MUST_CHECK nk_status nk_builder_append_bytes(nk_builder *builder, const char *bytes, int64_t n_bytes,
                                                nk_error *err);
NK_MUST_CHECK nk_status nk_builder_append_scalar(nk_builder *builder, const nk_scalar *scalar, nk_error *err);
/* List: close the current row after its items were appended to nk_builder_child(builder, 0).
 * Struct: close the row after one value was appended to each child. */
NK_MUST_CHECK nk_status nk_builder_append_nested(nk_builder *builder, nk_error *err);
nk_builder *nk_builder_child(nk_builder *builder, int i); /* borrowed */
/* The array so far (flat); the builder is empty afterwards and may be reused. */
NK_MUST_CHECK nk_status nk_builder_finish(nk_builder *builder, nk_array **out, nk_error *err);
static inline void nk_builder__auto(nk_builder **builder) { nk_builder_free(*builder); }

#endif
