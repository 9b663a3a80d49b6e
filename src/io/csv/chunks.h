/* Files cut into runs of whole rows, which workers take one after another.
 *
 * Whether a byte is quoted depends on all quotes before it. Workers therefore count quotes and line ends of fixed byte
 * ranges in parallel, for both assumptions about a range's start; as soon as the ranges before are known, the next one in
 * order is handed out: its rows run from the line end before it to its own last one, and their number in the source is
 * known too. Nothing waits but for a range that another worker is counting. Synchronised. */
#ifndef NK_IO_CSV_CHUNKS_H
#define NK_IO_CSV_CHUNKS_H

#include "io/csv/source_internal.h"

typedef struct nk_csv_open_file nk_csv_open_file;
typedef struct nk_csv_chunks nk_csv_chunks;

typedef struct nk_csv_chunk {
	nk_csv_open_file *owner; /* a reference; NULL: there is no chunk */
	const nk_csv_file *file;
	int64_t begin, end; /* of the file's text; rows without a line end at the end of the file have none */
	int64_t first_row;  /* in the source */
	int64_t n_rows, n_marks; /* n_marks at most */
	int64_t morsel;
	bool has_comments;
} nk_csv_chunk;

/* row_end: rows of the source from there on are not wanted, and row_start: none before. A chunk has about chunk_bytes. */
NK_MUST_CHECK nk_status nk__csv_chunks_new(nk_csv_source *source, nk_memory *memory,
                                           nk_scan_counters *counters, int64_t chunk_bytes,
                                           nk_csv_chunks **out, nk_error *err);
void nk__csv_chunks_free(nk_csv_chunks *chunks);
/* Before the first chunk is taken. */
void nk__csv_chunks_limit(nk_csv_chunks *chunks, int64_t row_start, int64_t row_end);
/* The next chunk; chunk->owner NULL when there is none. */
NK_MUST_CHECK nk_status nk__csv_chunks_take(nk_csv_chunks *chunks, nk_csv_chunk *out, nk_error *err);
void nk__csv_chunk_release(nk_csv_chunk *chunk);
/* Rows of all files: reads everything. */
NK_MUST_CHECK nk_status nk__csv_chunks_count_rows(nk_csv_source *source, nk_memory *memory, int64_t *out,
                                                  nk_error *err);

#endif
