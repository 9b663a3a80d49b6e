/* A join's parts, shared by its build, probe and rest. */
#ifndef NK_EXEC_JOIN_INTERNAL_H
#define NK_EXEC_JOIN_INTERNAL_H

#include <pthread.h>

#include "compute/group_table.h"
#include "compute/join_table.h"
#include "exec/join.h"
#include "exec/spill.h"

/* The rows to be matched against: the whole build side, or one partition of it. */
typedef struct nk__build_side {
	nk_batch *rows;
	nk_join_table *table; /* NULL without keys */
	uint8_t *marks;       /* a byte a row: has matched (atomic stores); NULL when nobody asks */
	int64_t n_marks;
} nk__build_side;

/* One worker's scratch for probing. */
typedef struct nk__prober {
	uint32_t *heads;
	int64_t heads_capacity;
	uint8_t *matched;
	int64_t matched_capacity;
	uint32_t *probe_rows, *build_rows; /* pairs; build rows count from 1, 0 is none */
	int64_t probe_capacity, build_capacity;
	int64_t morsel, next_number; /* of what comes out */
} nk__prober;

typedef struct nk__join_worker {
	nk_pieces built;
	int64_t n_built_bytes;
	nk__prober prober;
	/* the rest */
	nk__build_side side;
	nk_pieces pieces;
	int64_t next_piece, next_row;
	int64_t partition; /* being worked on; -1: none */
	nk_pieces ready;   /* results waiting to be handed out */
	int64_t next_ready;
	char padding[64];
} nk__join_worker;

struct nk_join {
	nk_receiver build, probe;
	nk_stream rest;
	const nk_exec *exec;
	nk_join_config config;
	nk_counters *counters;
	pthread_mutex_t lock;
	bool has_spilled; /* atomic until the build has finished */
	bool is_built, marks_are_complete;
	nk_partitions *build_store, *probe_store;
	nk__build_side side;
	int64_t n_build_rows;
	nk_group_table *probe_seen; /* probe_must_be_unique */
	int64_t next;               /* atomic: rest: the next row or partition */
	nk__join_worker workers[];
};

enum { NK__JOIN_PARTITION_BITS = 6 };

typedef nk_status nk__emit(void *data, nk_batch *batch, nk_error *err);

NK_MUST_CHECK nk_status nk__build_side_init(const nk_join *join, nk_batch *rows, nk__build_side *side,
                                            bool in_parallel, nk_error *err); /* takes rows over */
void nk__build_side_release(const nk_join *join, nk__build_side *side);
/* Hash key columns alike on both sides. */
NK_MUST_CHECK nk_status nk__join_hash(const nk_join *join, const nk_batch *batch, const int *keys,
                                      uint64_t *hashes, nk_error *err);
NK_MUST_CHECK nk_status nk__join_store_open(nk_join *join, nk_partitions **store, nk_error *err);

/* Match a batch (borrowed) and hand what comes of it to emit. */
NK_MUST_CHECK nk_status nk__join_match(nk_join *join, nk__build_side *side, nk__prober *prober,
                                       const nk_batch *batch, nk__emit *emit, void *data, nk_error *err);
void nk__prober_release(nk_memory *memory, nk__prober *prober);
/* Build rows [first, first + n) that did not (or for BUILD_SEMI did) match; *out NULL when there are none. Marks must
 * be complete. */
NK_MUST_CHECK nk_status nk__join_unmatched(const nk_join *join, const nk__build_side *side, int64_t first,
                                           int64_t n, nk_batch **out, nk_error *err);
/* Spread marks from first rows to all rows of their chain. */
void nk__join_complete_marks(const nk_join *join, nk__build_side *side);
bool nk__join_wants_marks(const nk_join_config *config);

/* The rest stream's operations. */
extern const nk_stream_ops nk__join_rest_ops;

#endif
