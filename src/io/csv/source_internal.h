/* What source.c and scan.c share. */
#ifndef NK_IO_CSV_SOURCE_INTERNAL_H
#define NK_IO_CSV_SOURCE_INTERNAL_H

#include <pthread.h>

#include "io/csv/csv.h"
#include "io/csv/infer.h"
#include "io/file.h"
#include "io/glob.h"

/* Bytes that may be read before and behind the text of rows. */
enum { NK_CSV_FRONT = 16, NK_CSV_BACK = 64 };

typedef struct nk_csv_source {
	nk_source base;
	nk_memory *memory;
	nk_arena *arena;
	nk_csv_options options;
	int n_patterns;
	const char **patterns;
	pthread_mutex_t lock; /* over everything below */
	bool is_expanded;
	int64_t n_files;
	const char **files;
	nk_schema *schema;
	double row_bytes; /* of the first rows, on average */
} nk_csv_source;

/* The text of a file for one scan, and what its head says. Single-owner. */
typedef struct nk_csv_file {
	const char *path;
	nk_arena *arena;
	nk_buffer *buffer; /* mapped, read or decompressed */
	const uint8_t *text;
	int64_t n_bytes, n_bytes_file;
	bool is_padded; /* FRONT and BACK bytes around the text may be read */
	nk_csv_head head;
	int *places;           /* column of the source to column of the file; -1: null */
	int file_paths_column; /* of the source; -1: none */
} nk_csv_file;

/* Expand patterns and infer the schema, once; takes the lock. */
NK_MUST_CHECK nk_status nk__csv_prepare(nk_csv_source *source, nk_error *err);
/* Open file i and find the source's columns in it. */
NK_MUST_CHECK nk_status nk__csv_file_open(nk_csv_source *source, int64_t i, nk_memory *memory,
                                          nk_csv_file *out, nk_error *err);
void nk__csv_file_close(nk_csv_file *file);

/* scan.c */
nk_status nk__csv_open(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err);

#endif
