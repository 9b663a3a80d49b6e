/* Sorting rows within segments: groups that lie one after another. Many short segments are the rule. */
#ifndef NK_COMPUTE_SORT_SEGMENTS_H
#define NK_COMPUTE_SORT_SEGMENTS_H

#include "compute/sort.h"

/* Fill rows[offsets[s] .. offsets[s + 1]) with the row numbers of segment s in sorted order, for every
 * segment. Ties keep their order. Keys are flat or constant, of offsets[n_segments] rows each, fewer than
 * 2^32. */
NK_MUST_CHECK nk_status nk_sort_segments(nk_memory *memory, nk_array *const *keys, const nk_sort_key *specs,
                                         int n_keys, int64_t n_segments, const int64_t *offsets,
                                         uint32_t *rows, nk_error *err);

/* Numbers of up to 64 bits, flat: they have keys. */
bool nk_sort_has_key(const nk_array *array);
/* A number that orders like the value of a row that is not null; equal where values are. */
uint64_t nk_sort_key_at(const nk_array *array, int64_t row);

#endif
