/* What the files of this folder share: an open file, and the source that holds them. */
#ifndef NK_IO_IPC_SOURCE_INTERNAL_H
#define NK_IO_IPC_SOURCE_INTERNAL_H

#include <pthread.h>

#include "io/file.h"
#include "io/ipc/column.h"
#include "io/ipc/ipc.h"

/* A dictionary batch. In a stream, later ones of the same id replace or extend it for the record batches behind them. */
typedef struct nk_ipc_dictionary {
	int64_t id;
	bool is_delta;
	int64_t first_batch; /* record batches before it do not see it */
	nk_ipc_batch batch;
	nk_ipc_entries entries; /* owned; NULL until asked for */
} nk_ipc_dictionary;

typedef struct nk_ipc_file {
	const char *path;
	nk_file *file; /* NULL: not open */
	nk_arena *arena;
	nk_buffer *whole;
	nk_ipc_fields fields;
	nk_schema *schema;
	int64_t n_rows, n_batches, batches_capacity;
	nk_ipc_batch *batches;
	int64_t n_dictionaries, dictionaries_capacity;
	nk_ipc_dictionary *dictionaries;
	int *places;          /* column of the source to column of the file */
	pthread_mutex_t lock; /* over entries of dictionaries */
} nk_ipc_file;

typedef struct nk_ipc_source {
	nk_source base;
	nk_memory *memory;
	nk_arena *arena;
	bool is_stream, expand_globs;
	const char *file_paths_name; /* NULL: no such column */
	int n_patterns;
	const char **patterns;
	pthread_mutex_t lock; /* over everything below */
	bool is_expanded;
	int64_t n_files;
	nk_ipc_file *files;
	nk_schema *schema;
} nk_ipc_source;

/* open.c: footer or messages, but no column. The messages of errors do not name the path. */
NK_MUST_CHECK nk_status nk__ipc_file_open(nk_memory *memory, nk_ipc_file *file, bool is_stream,
                                          nk_error *err);
void nk__ipc_file_close(nk_ipc_file *file);

/* dictionaries.c: entries of a dictionary as record batch number `batch` sees them; borrowed from the file. */
NK_MUST_CHECK nk_status nk__ipc_entries(nk_ipc_file *file, int64_t id, int64_t batch,
                                        nk_scan_counters *counters, const nk_ipc_entries **out,
                                        nk_error *err);

/* source.c: file i, opened and matched with the source's columns; borrowed. Takes the lock. */
NK_MUST_CHECK nk_status nk__ipc_file(nk_ipc_source *source, int64_t i, nk_ipc_file **out, nk_error *err);
NK_MUST_CHECK nk_status nk__ipc_n_files(nk_ipc_source *source, int64_t *out, nk_error *err);

/* scan.c */
nk_status nk__ipc_open(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err);

#endif
