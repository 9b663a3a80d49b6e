/* Reads one column of one row group after another, in row order, in pieces: each piece becomes an array of the rows
 * asked for, the others are passed over. Pages of which no row is asked for are never decompressed.
 *
 * Single-owner (a worker's). Decompression and decoding buffers are kept from page to page and group to group.
 * Failures leave the reader fit for nk__column_start only; the caller adds column, group and file to messages. */
#ifndef NK_IO_PARQUET_COLUMN_H
#define NK_IO_PARQUET_COLUMN_H

#include "io/parquet/values.h"
#include "plan/counters.h"

/* Memory that is kept and grows. */
typedef struct nk_block {
	uint8_t *bytes;
	int64_t n_bytes;
} nk_block;

typedef enum nk_page_kind {
	NK_PAGE_UNREAD, /* not decompressed yet */
	NK_PAGE_PLAIN,  /* values, to be converted unless is_converted */
	NK_PAGE_CODES,
	NK_PAGE_BITS, /* booleans */
	NK_PAGE_RLE_BOOLEANS,
	NK_PAGE_VIEWS,
} nk_page_kind;

typedef struct nk_page {
	nk_page_header header;
	const uint8_t *body; /* compressed */
	int64_t n_rows;      /* that count: no more than the row group has left */
	int64_t n_rows_left; /* not yet taken or passed over */
	nk_page_kind kind;
	nk_rle levels; /* of optional columns */
	nk_rle codes;
	const uint8_t *values; /* plain values and views: the next; bits: the first byte */
	int64_t n_values_left; /* non-null values; of bits, of which next_bit is the first */
	int64_t next_bit;
	bool is_converted;
	uint32_t slot;          /* that the views name as their heap buffer */
	nk_buffer *body_buffer; /* what body and levels lie in, if that is no block; owned */
	nk_buffer *buffer;      /* what views point into; owned */
} nk_page;

typedef struct nk_column_reader {
	const nk_leaf_plan *plan; /* borrowed */
	nk_memory *memory;        /* borrowed */
	nk_scan_counters *counters;
	const nk_parquet_table *kernels;

	int64_t ns_decompress; /* in all, for the caller to count */

	nk_buffer *chunk; /* owned; the pages of the current chunk */
	nk_codec codec;
	const uint8_t *at, *end;
	int64_t n_rows_of_group;
	int64_t n_rows_in_pages; /* of those, not yet seen in page headers */

	bool has_dictionary;
	bool is_unpacked; /* its page lies decompressed in dictionary_raw, but is not read yet */
	int64_t n_dictionary;
	const uint8_t *dictionary;    /* decoded values, or views */
	nk_buffer *dictionary_buffer; /* what its views point into; owned */
	nk_array *dictionary_array;   /* owned; made when arrays keep codes */

	/* of nested leaves: levels of all entries of the chunk's pages that were loaded */
	uint8_t *definitions, *repetitions;
	int64_t n_levels, definitions_capacity, repetitions_capacity;

	nk_page page;
	nk_buffer **heap; /* buffers of the views being read; owned references */
	int64_t n_heap;
	int64_t heap_capacity;
	nk_block dictionary_raw, dictionary_values;         /* of the chunk */
	nk_block raw, plain, views, bits;                   /* of the page */
	nk_block codes, values, valid, positions, booleans; /* of one call */
} nk_column_reader;

/* plan, memory and counters outlive the reader. */
void nk__column_init(nk_column_reader *reader, const nk_leaf_plan *plan, nk_memory *memory,
                     nk_scan_counters *counters);
void nk__column_release(nk_column_reader *reader);

/* Go to the start of a chunk of n_rows rows whose bytes are given (borrowed: the reader takes a reference). */
NK_MUST_CHECK nk_status nk__column_start(nk_column_reader *reader, const nk_column_chunk *chunk,
                                         nk_buffer *bytes, int64_t n_rows, nk_error *err);
/* The next n_rows rows as an array; with positions (ascending, below n_rows) only the n_selected rows there. */
NK_MUST_CHECK nk_status nk__column_read(nk_column_reader *reader, int64_t n_rows, const uint32_t *positions,
                                        int64_t n_selected, nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk__column_skip(nk_column_reader *reader, int64_t n_rows, nk_error *err);

/* page.c: the next data page's header becomes reader->page, its body stays compressed. */
NK_MUST_CHECK nk_status nk__page_next(nk_column_reader *reader, nk_error *err);
/* page.c: decompress the dictionary pages of readers that have just been started, two at a time, which takes less
 * time than one after another. What cannot be done so is left to the first read. */
NK_MUST_CHECK nk_status nk__dictionaries_unpack(nk_column_reader *const *readers, int n, nk_error *err);
/* page.c: decompress the current page and make its values ready. */
NK_MUST_CHECK nk_status nk__page_load(nk_column_reader *reader, nk_error *err);
void nk__page_clear(nk_page *page);
/* page.c: room for n_bytes in a block, whose contents may be lost. */
NK_MUST_CHECK nk_status nk__block_reserve(nk_memory *memory, nk_block *block, int64_t n_bytes, nk_error *err);

#endif
