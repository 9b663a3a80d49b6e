/* Rows set aside by breakers: in memory while the tracker grants it, in an unlinked temporary file when it does
 * not. A spill file holds batches flat and without pointers, so that they come back as they went. A partition
 * store splits rows by the top bits of their hash, so that work on one key stays within one partition, and
 * partitions can be worked on one after another, or by several workers.
 *
 * Threads: appends and splits of different workers may run at the same time; reading starts after all of them,
 * and different partitions may be read at the same time. */
#ifndef NK_EXEC_SPILL_H
#define NK_EXEC_SPILL_H

#include "base/parallel.h"
#include "exec/operator.h"

/* ---- Files of batches ---- */

typedef struct nk_spill_file nk_spill_file;

typedef struct nk_spill_place {
	int64_t offset, n_bytes, n_rows;
} nk_spill_place;

/* The file is made by the first write, in exec->spill_folder (NULL: the system's temporary folder). All batches
 * of a file have the same dtypes. counters may be NULL. */
NK_MUST_CHECK nk_status nk_spill_file_new(const nk_exec *exec, nk_counters *counters, nk_spill_file **out,
                                          nk_error *err);
void nk_spill_file_free(nk_spill_file *file);
static inline void nk_spill_file__auto(nk_spill_file **file) { nk_spill_file_free(*file); }
/* Write n batches one after another as one region. Any thread. Fails with NK_IO, naming the folder. */
NK_MUST_CHECK nk_status nk_spill_file_write(nk_spill_file *file, nk_batch *const *batches, int64_t n_batches,
                                            nk_spill_place *place, nk_error *err);
/* Read a region: its batches are handed to `each` in order, which takes them over. Any thread. */
NK_MUST_CHECK nk_status nk_spill_file_read(nk_spill_file *file, const nk_spill_place *place,
                                           nk_status (*each)(void *data, nk_batch *batch, nk_error *err),
                                           void *data, nk_error *err);

/* ---- Rows by partition ---- */

typedef struct nk_partitions nk_partitions;

/* 2^n_bits partitions (0..10). */
NK_MUST_CHECK nk_status nk_partitions_new(const nk_exec *exec, int n_bits, nk_counters *counters,
                                          nk_partitions **out, nk_error *err);
void nk_partitions_free(nk_partitions *partitions);
static inline void nk_partitions__auto(nk_partitions **partitions) { nk_partitions_free(*partitions); }
int nk_partitions_count(const nk_partitions *partitions);
/* Split a batch (taken over, also on failure) by the top bits of its rows' hashes. Rows of a batch keep their
 * order within each partition, and the pieces keep the batch's sequence. With one partition hashes may be NULL. */
NK_MUST_CHECK nk_status nk_partitions_split(nk_partitions *partitions, int worker, nk_batch *batch,
                                            const uint64_t *hashes, nk_error *err);
/* Rows in all, and in one partition. */
int64_t nk_partitions_n_rows(const nk_partitions *partitions);
int64_t nk_partitions_n_rows_of(const nk_partitions *partitions, int partition);
bool nk_partitions_have_spilled(const nk_partitions *partitions);
/* Write everything to the file now and from now on (a join whose other side did so). */
NK_MUST_CHECK nk_status nk_partitions_spill(nk_partitions *partitions, nk_error *err);

/* The pieces of one partition in the order of their sequences. Owned by the caller: release with
 * nk_pieces_release. May be read once. */
typedef struct nk_pieces {
	nk_memory *memory; /* borrowed */
	nk_batch **batches;
	int64_t n_batches, capacity;
	int64_t n_rows;
} nk_pieces;
NK_MUST_CHECK nk_status nk_partitions_read(nk_partitions *partitions, int partition, nk_pieces *out,
                                           nk_error *err);
/* Add a batch (taken over, also on failure). */
NK_MUST_CHECK nk_status nk_pieces_add(nk_pieces *pieces, nk_batch *batch, nk_error *err);
/* By (morsel, number); pieces of one sequence keep their order. */
NK_MUST_CHECK nk_status nk_pieces_sort(nk_pieces *pieces, nk_error *err);
/* All pieces as one batch, flat or, where nk_concat_coded finds it worth it, codes; n_columns and dtypes say its shape when there are none. The pieces are left
 * empty, so that memory is given back as columns are joined. */
NK_MUST_CHECK nk_status nk_pieces_concat(nk_pieces *pieces, nk_memory *memory, const nk_parallel *parallel,
                                         const nk_dtype *const *dtypes, int n_columns, nk_batch **out,
                                         nk_error *err);
void nk_pieces_release(nk_pieces *pieces);

/* Position of a batch's first row in the query's row order; later rows follow on. */
static inline int64_t nk_batch_order(const nk_batch *batch)
{
	return batch->morsel << 40 | batch->number << 20;
}
/* Whether an operator that is about to set n_bytes more aside should write to disk instead. */
bool nk_exec_should_spill(const nk_exec *exec, int64_t n_bytes);

#endif
