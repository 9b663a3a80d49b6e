/* A Parquet file's metadata as plain structs: schema, row groups, column chunks, page headers, page indexes.
 *
 * A parsed footer lives in one arena with the bytes it was read from; it is immutable afterwards and may be
 * read by any thread. What a newer writer adds and we do not know is skipped. Sizes and offsets are checked
 * against the file before anybody allocates or reads by them. */
#ifndef NK_IO_PARQUET_METADATA_H
#define NK_IO_PARQUET_METADATA_H

#include "base/arena.h"
#include "io/codec/codec.h"
#include "io/parquet/thrift.h"

typedef enum nk_parquet_type {
	NK_PARQUET_BOOLEAN,
	NK_PARQUET_INT32,
	NK_PARQUET_INT64,
	NK_PARQUET_INT96,
	NK_PARQUET_FLOAT,
	NK_PARQUET_DOUBLE,
	NK_PARQUET_BYTE_ARRAY,
	NK_PARQUET_FIXED,
	NK_PARQUET_TYPE_N,
} nk_parquet_type;

/* Numbered as in the format's logical type union; older converted types are mapped to these. */
typedef enum nk_parquet_logical {
	NK_PARQUET_NO_LOGICAL = 0,
	NK_PARQUET_STRING = 1,
	NK_PARQUET_MAP = 2,
	NK_PARQUET_LIST = 3,
	NK_PARQUET_ENUM = 4,
	NK_PARQUET_DECIMAL = 5,
	NK_PARQUET_DATE = 6,
	NK_PARQUET_TIME = 7,
	NK_PARQUET_TIMESTAMP = 8,
	NK_PARQUET_INTEGER = 10,
	NK_PARQUET_UNKNOWN = 11, /* always null */
	NK_PARQUET_JSON = 12,
	NK_PARQUET_BSON = 13,
	NK_PARQUET_UUID = 14,
	NK_PARQUET_FLOAT16 = 15,
	NK_PARQUET_INTERVAL = 64, /* converted type only */
} nk_parquet_logical;

typedef enum nk_parquet_encoding {
	NK_ENCODING_PLAIN = 0,
	NK_ENCODING_PLAIN_DICTIONARY = 2,
	NK_ENCODING_RLE = 3,
	NK_ENCODING_BIT_PACKED = 4,
	NK_ENCODING_DELTA_BINARY_PACKED = 5,
	NK_ENCODING_DELTA_LENGTH_BYTE_ARRAY = 6,
	NK_ENCODING_DELTA_BYTE_ARRAY = 7,
	NK_ENCODING_RLE_DICTIONARY = 8,
	NK_ENCODING_BYTE_STREAM_SPLIT = 9,
} nk_parquet_encoding;

typedef enum nk_repetition { NK_REQUIRED, NK_OPTIONAL, NK_REPEATED } nk_repetition;

typedef struct nk_schema_element {
	const char *name;
	int type; /* nk_parquet_type; -1 for groups */
	int type_length;
	nk_repetition repetition;
	int n_children;
	int logical; /* nk_parquet_logical, or a number we do not know, which is to be ignored */
	int precision, scale;
	int bit_width;  /* INTEGER */
	bool is_signed; /* INTEGER */
	bool is_utc;    /* TIME, TIMESTAMP */
	int unit;       /* TIME, TIMESTAMP: 1 ms, 2 us, 3 ns */
	int first_leaf; /* the leaf columns below (or at) this element */
	int n_leaves;
	int n_elements;     /* of the subtree, itself included */
	int definition_max; /* levels at this element */
	int repetition_max;
} nk_schema_element;

typedef struct nk_parquet_statistics {
	nk_bytes min, max;  /* NULL bytes when absent */
	bool is_deprecated; /* from the old fields, whose order is only right for signed numbers */
	int64_t n_nulls;    /* -1 when unknown */
	int64_t n_distinct; /* -1 when unknown */
} nk_parquet_statistics;

typedef struct nk_column_chunk {
	int64_t n_values;
	int64_t offset;  /* of the first page, dictionary or data */
	int64_t n_bytes; /* compressed, with page headers */
	int64_t n_bytes_uncompressed;
	int64_t data_page_offset;
	int64_t offset_index_offset, column_index_offset; /* 0: none */
	int32_t n_offset_index_bytes, n_column_index_bytes;
	int codec; /* the format's number; see nk__parquet_codec */
	int type;
	bool has_dictionary_page;
	bool is_encrypted, is_elsewhere; /* a chunk in another file */
	nk_parquet_statistics statistics;
} nk_column_chunk;

typedef struct nk_row_group {
	int64_t n_rows;
	int64_t n_bytes;         /* uncompressed, as announced */
	nk_column_chunk *chunks; /* one per leaf */
} nk_row_group;

typedef struct nk_parquet_metadata {
	nk_arena *arena; /* owns everything below */
	int64_t n_rows;
	int n_elements;
	nk_schema_element *elements; /* depth first; element 0 is the root */
	int n_leaves;
	int *leaves; /* leaf number to element */
	int n_groups;
	nk_row_group *groups;
	nk_bytes created_by;
	nk_bytes arrow_schema; /* base64 of an IPC message, when an Arrow writer left one */
	bool has_column_orders;
} nk_parquet_metadata;

/* Parse a footer (without length and magic), of a file of n_file_bytes. The bytes are copied. */
NK_MUST_CHECK nk_status nk__parquet_metadata_parse(nk_memory *memory, const uint8_t *bytes, int64_t n_bytes,
                                                   int64_t n_file_bytes, nk_parquet_metadata **out,
                                                   nk_error *err);
void nk__parquet_metadata_free(nk_parquet_metadata *metadata);
static inline void nk_parquet_metadata__auto(nk_parquet_metadata **metadata)
{
	nk__parquet_metadata_free(*metadata);
}

/* The codec of a chunk. Fails, naming it, when we cannot decode it. */
NK_MUST_CHECK nk_status nk__parquet_codec(int number, nk_codec *out, nk_error *err);

typedef enum nk_page_type { NK_PAGE_DATA, NK_PAGE_INDEX, NK_PAGE_DICTIONARY, NK_PAGE_DATA_V2 } nk_page_type;

typedef struct nk_page_header {
	int type;
	int n_header_bytes;
	int32_t n_bytes, n_bytes_uncompressed; /* of the body; never negative */
	int32_t n_values;
	int encoding, definition_encoding, repetition_encoding;
	/* NK_PAGE_DATA_V2 */
	int32_t n_nulls, n_rows, n_definition_bytes, n_repetition_bytes;
	bool is_compressed;
} nk_page_header;

/* The header at the start of `bytes`. Body sizes are not yet checked against what follows. */
NK_MUST_CHECK nk_status nk__page_header_parse(const uint8_t *bytes, int64_t n_bytes, nk_page_header *out,
                                              nk_error *err);

typedef struct nk_page_location {
	int64_t offset;
	int64_t first_row;
	int32_t n_bytes; /* header and body */
} nk_page_location;

/* Where the data pages of a chunk lie and which rows they hold; ascending, first_row of the first is 0. */
typedef struct nk_offset_index {
	int n_pages;
	nk_page_location *pages; /* in the caller's arena */
} nk_offset_index;
NK_MUST_CHECK nk_status nk__offset_index_parse(nk_arena *arena, const uint8_t *bytes, int64_t n_bytes,
                                               int64_t n_rows, nk_offset_index *out, nk_error *err);

/* Bounds of each data page; bytes point into the input. */
typedef struct nk_column_index {
	int n_pages;
	bool *is_null_page;
	nk_bytes *min, *max;
	int64_t *n_nulls; /* NULL when absent */
} nk_column_index;
NK_MUST_CHECK nk_status nk__column_index_parse(nk_arena *arena, const uint8_t *bytes, int64_t n_bytes,
                                               nk_column_index *out, nk_error *err);

#endif
