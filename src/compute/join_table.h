/* The build side of a hash join: from keys to the positions of build rows that have them.
 *
 * Built once from whole key columns, by several tasks if wanted, then read by any number of threads. One integer
 * key of a small or dense range is addressed directly; anything else is hashed, with the distinct keys in
 * open-addressing slots (salt and first row) and duplicates in chains that ascend by row. */
#ifndef NK_COMPUTE_JOIN_TABLE_H
#define NK_COMPUTE_JOIN_TABLE_H

#include "compute/key_rows.h"

typedef struct nk_join_table nk_join_table;

enum { NK_JOIN_NO_ROW = 0 }; /* positions are counted from 1 in heads and chains */

/* keys: the build side's key columns (flat; referenced), n_rows < 2^32 - 1 rows. probe_dtypes: of the other side's.
 * Rows with a null key are left out unless nulls_equal. */
NK_MUST_CHECK nk_status nk_join_table_new(nk_memory *memory, nk_array *const *keys,
                                          const nk_dtype *const *probe_dtypes, int n_keys, int64_t n_rows,
                                          bool nulls_equal, nk_join_table **out, nk_error *err);
void nk_join_table_free(nk_join_table *table);
static inline void nk_join_table__auto(nk_join_table **table) { nk_join_table_free(*table); }
/* Building: n_steps tasks in two rounds; all tasks of round 0 end before round 1 begins. With n_steps 1 call
 * (0, 0) and (1, 0). Tasks of one round may run at the same time. */
int nk_join_table_n_steps(const nk_join_table *table);
NK_MUST_CHECK nk_status nk_join_table_build(nk_join_table *table, int round, int step, nk_error *err);

/* No two build rows have equal keys. */
bool nk_join_table_is_unique(const nk_join_table *table);
int64_t nk_join_table_n_bytes(const nk_join_table *table);

/* heads[i]: 1 + the first build row whose key equals probe row first + i, or NK_JOIN_NO_ROW. Keys are in any
 * encoding. Returns in *n_found how many are not NK_JOIN_NO_ROW. */
NK_MUST_CHECK nk_status nk_join_table_probe(const nk_join_table *table, nk_memory *memory,
                                            nk_array *const *keys, int64_t n_rows, uint32_t *heads,
                                            int64_t *n_found, nk_error *err);
/* chain[row]: 1 + the next build row (counted from 1 as well: index by the head itself) with the same key, or
 * NK_JOIN_NO_ROW. NULL when all keys are unique. */
const uint32_t *nk_join_table_chain(const nk_join_table *table);

#endif
