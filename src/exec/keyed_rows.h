/* Rows brought together by key, and something made of all rows of a set of keys at once: the common part of the
 * grouped context and of distinct rows. A sink, and a stream of what `make` returns part by part. */
#ifndef NK_EXEC_KEYED_ROWS_H
#define NK_EXEC_KEYED_ROWS_H

#include <pthread.h>

#include "compute/group_table.h"
#include "exec/sort.h"
#include "exec/spill.h"

typedef struct nk__keyed_rows nk__keyed_rows;

/* rows: the columns with the order of each row behind them, in row order; every key's rows are all in here.
 * *out: the result, with the order of each of its rows as a last column when with_order. */
typedef nk_status nk__make_part(const nk__keyed_rows *keyed, const nk_batch *rows, bool with_order,
                                nk_batch **out, nk_error *err);

typedef struct nk__keyed_worker {
	nk_pieces held; /* not split yet */
	int64_t n_held_bytes;
	nk_group_table *hasher;
	uint64_t *hashes;
	int64_t hashes_capacity;
	nk_batch *part; /* being handed out */
	int64_t partition, n_emitted;
	char padding[64];
} nk__keyed_worker;

struct nk__keyed_rows {
	nk_receiver
		sink; /* the owner sets ops->push, which calls nk__keyed_rows_add; flush and finish are given */
	nk_stream stream;
	const nk_exec *exec;
	nk_counters *counters;
	nk__make_part *make;
	void *owner;
	int n_columns, n_keys;
	const nk_dtype *const *dtypes;
	const int *keys;
	bool maintain_order;
	int n_results; /* columns that make returns, but for the order. Set by the owner */
	bool
		keeps_rows; /* make returns its rows one by one: they stay together until memory is refused. Set by the owner */
	pthread_mutex_t *lock;
	nk_partitions *store; /* NULL: everything is one part */
	nk_pieces single;
	nk_batch *ordered;
	int *positions; /* of results and the order in a sort: 0, 1, ... */
	nk_sort *sort;  /* maintain_order: what is made of partitions goes back into order, maybe over disk */
	int64_t next;   /* atomic: the next partition or row */
	nk__keyed_worker *workers;
};

/* keys and dtypes are borrowed. */
NK_MUST_CHECK nk_status nk__keyed_rows_init(nk__keyed_rows *keyed, const nk_exec *exec, nk_counters *counters,
                                            const nk_dtype *const *dtypes, int n_columns, const int *keys,
                                            int n_keys, bool maintain_order, nk__make_part *make, void *owner,
                                            nk_error *err);
void nk__keyed_rows_release(nk__keyed_rows *keyed);
/* A batch (taken over) of the columns. */
NK_MUST_CHECK nk_status nk__keyed_rows_add(nk__keyed_rows *keyed, int worker, nk_batch *batch, nk_error *err);
/* The operations that receivers share. */
nk_status nk__keyed_rows_flush(nk_receiver *sink, int worker, nk_error *err);
nk_status nk__keyed_rows_finish(nk_receiver *sink, nk_error *err);
void nk__keyed_rows_sink_free(nk_receiver *sink);
/* A group table over the key columns, with the groups of rows' rows. groups has room for them. */
NK_MUST_CHECK nk_status nk__keyed_rows_group(const nk__keyed_rows *keyed, const nk_batch *rows,
                                             nk_group_table **table, uint32_t *groups, nk_error *err);

#endif
