/* A group table with one row of states per group: what a worker, and later a partition, aggregates into. */
#ifndef NK_EXEC_AGGREGATE_INTERNAL_H
#define NK_EXEC_AGGREGATE_INTERNAL_H

#include "compute/group_table.h"
#include "exec/aggregate.h"

typedef struct nk__states {
	const nk_exec *exec;
	const nk_aggregate_config *config;
	const nk_call *calls;
	nk_group_table *table; /* NULL without keys: one group, always there */
	nk_arena *arena;
	void **states;    /* one array a call */
	int64_t n_used;   /* groups whose states may differ from zero */
	int64_t capacity; /* groups that have room */
	int64_t *orders;  /* of first rows; maintain_order only */
	uint32_t *groups; /* of the rows of a batch */
	int64_t groups_capacity;
	void *others; /* states read back */
	int64_t others_capacity;
} nk__states;

NK_MUST_CHECK nk_status nk__states_init(nk__states *states, const nk_exec *exec,
                                        const nk_aggregate_config *config, const nk_call *calls,
                                        int64_t n_groups_hint, nk_error *err);
void nk__states_release(nk__states *states);
int64_t nk__states_n_groups(const nk__states *states);
int64_t nk__states_bytes_per_group(const nk__states *states);
/* Forget all groups; states' text stays in the arena. */
void nk__states_clear(nk__states *states);
/* Room for n more groups: after this, an update of as many rows fails at most for text. */
NK_MUST_CHECK nk_status nk__states_reserve(nk__states *states, int64_t n, nk_error *err);

/* Fold rows in: outputs as the config says (any encoding). orders: of each row, or NULL when they are
 * order, order + 1, ... */
NK_MUST_CHECK nk_status nk__states_update(nk__states *states, nk_array *const *outputs, int64_t n_rows,
                                          int64_t order, const int64_t *orders, nk_error *err);
/* Groups [first, first + n) as a batch that can be spilled: keys, the words of each state as Int64 columns, and the
 * order when kept. Text in states stays in the arena, which must outlive the batch. */
NK_MUST_CHECK nk_status nk__states_to_batch(nk__states *states, int64_t first, int64_t n, nk_batch **out,
                                            nk_error *err);
/* The reverse: fold such a batch in. */
NK_MUST_CHECK nk_status nk__states_merge(nk__states *states, const nk_batch *batch, nk_error *err);
/* Groups [first, first + n): keys and results; with maintain_order a last Int64 column says the order. */
NK_MUST_CHECK nk_status nk__states_finish(nk__states *states, int64_t first, int64_t n, nk_batch **out,
                                          nk_error *err);

#endif
