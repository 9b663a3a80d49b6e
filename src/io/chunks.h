/* Text files cut into runs of whole rows, which workers take one after another.
 *
 * Whether a line end ends a row depends on what stands before it: quotes in CSV, anything but blanks in NDJSON. That is one
 * bit of state. Workers therefore summarise fixed byte ranges in parallel, for both states at a range's start; as soon as
 * the ranges before are known, the next one in order is handed out: its rows run from the line end before it to its own
 * last one, and their number in the source is known too. Nothing waits but for a range that another worker is
 * summarising. Synchronised. */
#ifndef NK_IO_CHUNKS_H
#define NK_IO_CHUNKS_H

#include "columnar/buffer.h"
#include "plan/counters.h"

/* Bytes that may be read before and behind the text of rows. */
enum { NK_TEXT_FRONT = 16, NK_TEXT_BACK = 64 };

/* The text of a file for one scan. Formats add what they know of it. Single-owner. */
typedef struct nk_text_file {
	const char *path;
	nk_buffer *buffer; /* mapped, read or decompressed */
	const uint8_t *text;
	int64_t n_bytes, n_bytes_file;
	bool is_padded;     /* FRONT and BACK bytes around the text may be read */
	int64_t rows_begin; /* n_bytes: no rows */
} nk_text_file;

/* What lies in a run of text, for both states at its start. A file begins in state 0. */
typedef struct nk_text_range {
	int64_t n_rows[2];   /* that end in it */
	int64_t last_eol[2]; /* position of the last row's end; -1: none */
	bool state[2];       /* at its end */
	int64_t n_marks;     /* whatever the format counts */
} nk_text_range;

typedef struct nk_chunk nk_chunk;

typedef struct nk_chunk_ops {
	nk_status (*open)(void *source, int64_t file, nk_memory *memory, nk_text_file **out, nk_error *err);
	void (*close)(nk_text_file *file);
	void (*summarise)(const void *source, const uint8_t *text, int64_t n, nk_text_range *out);
	/* Where one bit is not enough: walk whole rows from chunk->begin until `stop` is passed; sets end, n_rows and
	 * n_marks. Then only converting rows is parallel. NULL: summaries do. */
	void (*walk)(const void *source, const nk_text_file *file, int64_t stop, nk_chunk *chunk);
	bool blank_rests; /* bytes behind the last line end are a row only in state 1 */
} nk_chunk_ops;

typedef struct nk_open_file nk_open_file;
typedef struct nk_chunks nk_chunks;

struct nk_chunk {
	nk_open_file *owner; /* a reference; NULL: there is no chunk */
	const nk_text_file *file;
	int64_t begin, end; /* of the file's text; rows without a line end at the end of the file have none */
	int64_t first_row;  /* in the source */
	int64_t n_rows, n_marks; /* n_marks at most */
	int64_t morsel;
	bool has_comments; /* the walk's to set */
};

/* source is the ops' and borrowed. A chunk has about chunk_bytes. */
NK_MUST_CHECK nk_status nk__chunks_new(const nk_chunk_ops *ops, void *source, int64_t n_files,
                                       nk_memory *memory, nk_scan_counters *counters, int64_t chunk_bytes,
                                       nk_chunks **out, nk_error *err);
void nk__chunks_free(nk_chunks *chunks);
/* Before the first chunk is taken. row_end: rows of the source from there on are not wanted, and row_start: none before. */
void nk__chunks_limit(nk_chunks *chunks, int64_t row_start, int64_t row_end);
/* The next chunk; chunk->owner NULL when there is none. */
NK_MUST_CHECK nk_status nk__chunks_take(nk_chunks *chunks, nk_chunk *out, nk_error *err);
void nk__chunk_release(nk_chunk *chunk);
/* Rows of all files: reads everything. */
NK_MUST_CHECK nk_status nk__chunks_count_rows(const nk_chunk_ops *ops, void *source, int64_t n_files,
                                              nk_memory *memory, int64_t *out, nk_error *err);

/* A chunk's text with FRONT and BACK bytes around it: where it lies, or copied to *copy, which grows. */
NK_MUST_CHECK nk_status nk__chunk_text(const nk_chunk *chunk, nk_memory *memory, uint8_t **copy,
                                       int64_t *capacity, const uint8_t **out, nk_error *err);
/* "line 3 of x.csv" to a message, from a position in the file's text. */
nk_status nk__text_file_context(const nk_text_file *file, int64_t position, nk_status status, nk_error *err);

#endif
