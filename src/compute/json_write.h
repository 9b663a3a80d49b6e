/* Values as JSON: numbers, true, false, null, strings (temporal values and Decimals too), arrays, objects. Floats that are no
 * numbers are null. Single-owner. */
#ifndef NK_COMPUTE_JSON_WRITE_H
#define NK_COMPUTE_JSON_WRITE_H

#include "base/text.h"
#include "columnar/array.h"

typedef struct nk_json_text nk_json_text;

/* How values of a dtype are written. Fails with NK_COMPUTE for Binary, within others too. */
NK_MUST_CHECK nk_status nk_json_text_new(const nk_dtype *dtype, nk_json_text **out, nk_error *err);
void nk_json_text_free(nk_json_text *how); /* NULL is allowed */
static inline void nk_json_text__auto(nk_json_text **how) { nk_json_text_free(*how); }

/* A row of a flat or constant array. */
void nk_json_put(nk_json_text *how, const nk_array *array, int64_t row, nk_text *out);
/* In quotes, with escapes. */
void nk_json_put_string(nk_text *out, const char *text, int64_t n_bytes);

#endif
