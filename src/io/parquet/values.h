/* From Parquet's physical values to ours: what conversion a column needs, and the loops that do it. */
#ifndef NK_IO_PARQUET_VALUES_H
#define NK_IO_PARQUET_VALUES_H

#include "columnar/array.h"
#include "io/parquet/kernels.h"
#include "io/parquet/metadata.h"

typedef enum nk_conversion {
	NK_CONVERT_COPY,     /* the same bytes */
	NK_CONVERT_I32_TO_8, /* narrower integers are stored as int32 */
	NK_CONVERT_I32_TO_16,
	NK_CONVERT_I32_TO_I64,
	NK_CONVERT_MS_TO_NS, /* int32 to int64 */
	NK_CONVERT_US_TO_NS,
	NK_CONVERT_INT96_TO_NS,
	NK_CONVERT_FIXED_TO_I64, /* big-endian Decimals */
	NK_CONVERT_FIXED_TO_I128,
	NK_CONVERT_FLOAT16,
	NK_CONVERT_BOOLEAN,     /* bits to bytes; packed again in the array */
	NK_CONVERT_TEXT,        /* byte arrays to views */
	NK_CONVERT_FIXED_TEXT,  /* fixed-length byte arrays to views */
	NK_CONVERT_TEXT_TO_I64, /* big-endian Decimals of varying length */
	NK_CONVERT_TEXT_TO_I128,
	NK_CONVERT_NULL, /* no values are ever read */
} nk_conversion;

/* How one leaf column is read. */
typedef struct nk_leaf_plan {
	int leaf;
	const nk_schema_element *element;
	const nk_dtype *dtype;
	nk_physical physical;
	nk_conversion conversion;
	int n_bytes_in; /* of a plain value; 0 for bits and byte arrays */
	int size_log2;  /* of a decoded value */
	bool is_utf8;
	bool is_nested;      /* below lists and structs: pages have levels to keep (nested.h) */
	int slot_definition; /* nested: an entry of at least this level has a place for a value */
	bool
		is_category; /* texts that are a Categorical or Enum to users: bounds of texts say nothing of codes */
} nk_leaf_plan;

static inline bool nk__leaf_is_text(const nk_leaf_plan *plan)
{
	return plan->conversion == NK_CONVERT_TEXT || plan->conversion == NK_CONVERT_FIXED_TEXT;
}

/* Convert n plain values of a fixed size. Not for booleans and texts. */
void nk__parquet_convert(const nk_leaf_plan *plan, void *out, const uint8_t *in, int64_t n);
/* n bits from position `at` to bytes of 0 and 1. */
void nk__bits_to_bytes(uint8_t *out, const uint8_t *bits, int64_t at, int64_t n);
/* n bytes of 0 and 1 to bits from position `at`, whose bits were zero. */
void nk__bytes_to_bits(uint8_t *out, int64_t at, const uint8_t *bytes, int64_t n);

/* Views of n length-prefixed byte arrays that lie in bytes, which begin at buffer_offset in heap buffer `buffer`.
 * Fails when they do not fit. *n_used is set to the bytes taken. */
NK_MUST_CHECK nk_status nk__parquet_views(nk_view *out, int64_t n, const uint8_t *bytes, int64_t n_bytes,
                                          uint32_t buffer, uint32_t buffer_offset, int64_t *n_used,
                                          nk_error *err);
/* The same for values of n_each bytes without prefixes; bytes hold them all. */
void nk__parquet_fixed_views(nk_view *out, int64_t n, const uint8_t *bytes, int64_t n_each, uint32_t buffer,
                             uint32_t buffer_offset);
/* Big-endian two's complement to int64 or int128, whichever `physical` says. Fails on values that do not fit. */
NK_MUST_CHECK nk_status nk__parquet_decimal(void *out, nk_physical physical, const uint8_t *bytes,
                                            int64_t n_bytes, nk_error *err);
/* Whether every one of n views is valid UTF-8; base is where buffer_offset 0 lies. */
bool nk__views_are_utf8(const nk_view *views, int64_t n, const uint8_t *base);

/* Encodings that are decoded a page at a time into plain layout. The number of values that a delta stream holds
 * comes first: make room for it. */
NK_MUST_CHECK nk_status nk__delta_count(const uint8_t *bytes, int64_t n_bytes, int64_t n_max, int64_t *n,
                                        nk_error *err);
/* Into int32 or int64 (n_each 4 or 8). *n_used is set to the bytes taken. */
NK_MUST_CHECK nk_status nk__delta_integers(const uint8_t *bytes, int64_t n_bytes, void *out, int n_each,
                                           int64_t n, int64_t *n_used, nk_error *err);
/* n_bytes / n_each values. */
void nk__byte_stream_split(const uint8_t *bytes, int64_t n_bytes, uint8_t *out, int n_each);
/* Byte arrays in either delta encoding, one after another in a new buffer without prefixes; lengths has room for n. */
NK_MUST_CHECK nk_status nk__delta_texts(nk_memory *memory, nk_parquet_encoding encoding, const uint8_t *bytes,
                                        int64_t n_bytes, int64_t n, int32_t *lengths, nk_buffer **out,
                                        nk_error *err);

#endif
