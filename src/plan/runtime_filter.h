/* What a join's build side tells the probe side's scan: bounds and a Bloom filter of its keys. Made empty with
 * the plan, published once when the build is complete, then read by any number of workers without a lock. Until
 * then, and whenever it has turned out useless, it passes everything. It is inexact: it may pass rows that do
 * not match, never the other way. Null keys do not pass. */
#ifndef NK_PLAN_RUNTIME_FILTER_H
#define NK_PLAN_RUNTIME_FILTER_H

#include "columnar/array.h"
#include "columnar/scalar.h"

typedef struct nk_runtime_filter nk_runtime_filter;

NK_MUST_CHECK nk_status nk_runtime_filter_new(nk_memory *memory, nk_runtime_filter **out, nk_error *err);
nk_runtime_filter *nk_runtime_filter_ref(nk_runtime_filter *filter);
void nk_runtime_filter_unref(nk_runtime_filter *filter);
static inline void nk_runtime_filter__auto(nk_runtime_filter **filter) { nk_runtime_filter_unref(*filter); }

/* Publish from all key values of the build side (any number of arrays of one dtype). Integers and temporal types
 * get bounds, every hashable type a Bloom filter (left out above a size where it would not fit the cache). */
NK_MUST_CHECK nk_status nk_runtime_filter_publish(nk_runtime_filter *filter, nk_array *const *keys,
                                                  int n_arrays, nk_error *err);
bool nk_runtime_filter_is_ready(const nk_runtime_filter *filter);
/* Bounds as integers (days, units, unscaled), when ready and there are any: for pruning by statistics. An empty
 * build side has min > max. */
bool nk_runtime_filter_bounds(const nk_runtime_filter *filter, int64_t *min, int64_t *max);
/* Positions among `n_rows` rows that may match; returns how many. rows has room for n_rows + 16. Also watches how much
 * it removes, and stops testing when that is next to nothing. */
NK_MUST_CHECK nk_status nk_runtime_filter_test(nk_runtime_filter *filter, nk_memory *memory, nk_array *values,
                                               int64_t n_rows, uint32_t *rows, int64_t *n_selected,
                                               nk_error *err);

#endif
