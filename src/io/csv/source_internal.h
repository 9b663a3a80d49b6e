/* What source.c and scan.c share. */
#ifndef NK_IO_CSV_SOURCE_INTERNAL_H
#define NK_IO_CSV_SOURCE_INTERNAL_H

#include <pthread.h>

#include "io/chunks.h"
#include "io/csv/csv.h"
#include "io/csv/infer.h"
#include "io/file.h"
#include "io/glob.h"

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

/* A file for one scan, and what its head says. Single-owner. */
typedef struct nk_csv_file {
	nk_text_file base;
	nk_arena *arena;
	nk_csv_head head;
	int *places;           /* column of the source to column of the file; -1: null */
	int file_paths_column; /* of the source; -1: none */
} nk_csv_file;

/* Expand patterns and infer the schema, once; takes the lock. */
NK_MUST_CHECK nk_status nk__csv_prepare(nk_csv_source *source, nk_error *err);
/* Files opened one after another, in which the source's columns are found; they are nk_csv_files. */
const nk_chunk_ops *nk__csv_chunk_ops(const nk_csv_source *source);

/* scan.c */
nk_status nk__csv_open(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err);

#endif
