/* What statistics of chunks and pages say about rows before they are read. */
#ifndef NK_IO_PARQUET_STATISTICS_H
#define NK_IO_PARQUET_STATISTICS_H

#include "io/parquet/values.h"
#include "plan/source.h"

/* Bounds of some rows of one column: they hold for all values but nulls and NaN. */
typedef struct nk_parquet_bounds {
	bool has_bounds;
	nk_scalar min, max; /* bytes point to where the statistics were read from */
	int64_t n_rows;
	int64_t n_nulls; /* -1: unknown */
} nk_parquet_bounds;

/* Bounds from their stored form; has_bounds stays false when they are absent, of an order that cannot be trusted,
 * or contradict themselves. */
nk_parquet_bounds nk__parquet_bounds(const nk_leaf_plan *plan, nk_bytes min, nk_bytes max, bool is_deprecated,
                                     int64_t n_rows, int64_t n_nulls);
/* False when no row within the bounds satisfies the conjunct. */
bool nk__bounds_may_match(const nk_parquet_bounds *bounds, const nk_scan_conjunct *conjunct);
/* False when no value within the bounds can lie in [min, max], as a runtime filter has them. */
bool nk__bounds_may_meet(const nk_parquet_bounds *bounds, int64_t min, int64_t max);

#endif
