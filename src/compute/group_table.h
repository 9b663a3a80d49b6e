/* From keys to dense group ids, in order of first appearance: the heart of aggregation, distinct and grouping.
 *
 * Keys are any number of columns of any dtypes, in any encoding. Null is a key; -0.0 equals 0.0 and NaN equals
 * NaN; the value met first is the one shown. Single-owner.
 *
 * Ways to a group, cheapest first: a window of small integers indexed directly, a table per dictionary (or per
 * combination of dictionaries) from codes to groups, and open addressing with salted 8-byte slots over rows of
 * words. Batches of any size; work is done in blocks that stay in L1, with prefetches once the table is large. */
#ifndef NK_COMPUTE_GROUP_TABLE_H
#define NK_COMPUTE_GROUP_TABLE_H

#include "columnar/array.h"

typedef struct nk_group_table nk_group_table;

NK_MUST_CHECK nk_status nk_group_table_new(nk_memory *memory, const nk_dtype *const *dtypes, int n_keys,
                                           int64_t n_groups_hint, nk_group_table **out, nk_error *err);
void nk_group_table_free(nk_group_table *table);
static inline void nk_group_table__auto(nk_group_table **table) { nk_group_table_free(*table); }
/* Forget all groups, keep the room. */
void nk_group_table_clear(nk_group_table *table);
int64_t nk_group_table_n_groups(const nk_group_table *table);
/* Bytes a group takes, slots and text aside: for sizing. */
int64_t nk_group_table_bytes_per_group(const nk_group_table *table);
int64_t nk_group_table_n_bytes(const nk_group_table *table);

/* groups[i]: the group of row i, made when new. After NK_OUT_OF_MEMORY the table is whole; it may have more groups
 * than before. Fails with NK_COMPUTE beyond 2^32 - 2 groups. */
NK_MUST_CHECK nk_status nk_group_table_insert(nk_group_table *table, nk_array *const *keys, int64_t n_rows,
                                              uint32_t *groups, nk_error *err);
/* Room for n_rows more groups, so that the next insert of as many rows fails at most for text. */
NK_MUST_CHECK nk_status nk_group_table_reserve(nk_group_table *table, int64_t n_rows, nk_error *err);
/* groups[i]: the group of row i, or UINT32_MAX when there is none. */
NK_MUST_CHECK nk_status nk_group_table_find(nk_group_table *table, nk_array *const *keys, int64_t n_rows,
                                            uint32_t *groups, nk_error *err);
/* Hashes of key rows, and of the groups [first, first + n): the same for equal keys, in every table of these
 * dtypes. Top bits are good for partitioning. */
NK_MUST_CHECK nk_status nk_group_table_hash(nk_group_table *table, nk_array *const *keys, int64_t n_rows,
                                            uint64_t *hashes, nk_error *err);
void nk_group_table_group_hashes(const nk_group_table *table, int64_t first, int64_t n, uint64_t *hashes);
/* Keys of groups [first, first + n) as flat arrays, one per key column; owned by the caller. */
NK_MUST_CHECK nk_status nk_group_table_keys(nk_group_table *table, int64_t first, int64_t n, nk_array **out,
                                            nk_error *err);

#endif
