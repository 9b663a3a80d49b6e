/* Writing: from arrays to pages. The writer's half of values.h and thrift.h. */
#ifndef NK_IO_PARQUET_ENCODE_H
#define NK_IO_PARQUET_ENCODE_H

#include "base/text.h"
#include "columnar/scalar.h"
#include "io/parquet/metadata.h"

/* Compact protocol. Fields are written in ascending order of id, starting with `last` 0 in every struct. Failure to
 * grow is remembered by the text. */
void nk__thrift_put_integer(nk_text *out, int *last, int id, nk_thrift_type type, int64_t value);
void nk__thrift_put_boolean(nk_text *out, int *last, int id, bool value);
void nk__thrift_put_bytes(nk_text *out, int *last, int id, const void *bytes, int64_t n_bytes);
/* The struct's fields follow; end it with nk__thrift_put_stop. */
void nk__thrift_put_struct(nk_text *out, int *last, int id);
/* n elements follow, without headers of their own. */
void nk__thrift_put_list(nk_text *out, int *last, int id, nk_thrift_type type, int64_t n);
void nk__thrift_put_stop(nk_text *out);
/* Elements of lists. */
void nk__thrift_put_zigzag(nk_text *out, int64_t value);
void nk__thrift_put_string(nk_text *out, const void *bytes, int64_t n_bytes);

/* How a column of a dtype is stored. */
typedef struct nk_stored {
	nk_parquet_type type;
	int n_bytes; /* of a plain value; 0 for bits and byte arrays */
	int logical; /* nk_parquet_logical, 0 for none */
} nk_stored;
NK_MUST_CHECK nk_status nk__parquet_stored(const nk_dtype *dtype, nk_stored *out, nk_error *err);

/* Append the plain values of the valid rows of a flat array. */
void nk__plain_encode(nk_text *out, const nk_stored *stored, const nk_array *array, int64_t first, int64_t n);
/* Append n values of `width` bits as repeated and packed runs. */
void nk__rle_encode(nk_text *out, const uint32_t *values, int64_t n, int width);
/* Append one value as statistics have it: plain, without a length. */
void nk__bound_encode(nk_text *out, const nk_stored *stored, const nk_scalar *value);

/* Distinct values of a flat array in order of appearance: codes for all rows (0 under null), and a plain page of
 * them. *n_distinct is -1 when there are more than is worth it. codes has room for all rows. */
NK_MUST_CHECK nk_status nk__dictionary_encode(const nk_stored *stored, const nk_array *array, uint32_t *codes,
                                              nk_text *plain, int64_t *n_distinct, nk_error *err);

#endif
