/* Counters that are always on: what each operator and scan did. Added to with relaxed atomics, once per batch or
 * page; read by explain(analyze), progress and the advisor. Times are nanoseconds summed over workers. */
#ifndef NK_PLAN_COUNTERS_H
#define NK_PLAN_COUNTERS_H

#include "base/clock.h"

typedef struct nk_counters {
	int64_t n_rows_in, n_rows_out, n_batches, ns_busy, n_bytes_peak, n_bytes_spilled;
} nk_counters;

typedef struct nk_scan_counters {
	int64_t n_bytes_file;   /* of all files */
	int64_t n_bytes_wanted; /* of the columns and groups asked for */
	int64_t n_bytes_read;
	int64_t n_bytes_decompressed; /* after decompression */
	int64_t n_groups, n_groups_pruned;
	int64_t n_pages, n_pages_pruned;
	int64_t n_rows_scanned, n_rows_pruned, n_rows_out; /* pruned: of groups alone */
	int64_t ns_wait, ns_decompress, ns_decode, ns_filter;
} nk_scan_counters;

/* What the workers of a pipeline did: the time from its first stream to its last sink, that of the end alone, when one
 * thread merges and finishes, and what workers were busy in between. */
typedef struct nk_pipeline_counters {
	struct nk_pipeline_counters *next;
	int64_t ns_wall, ns_end, ns_busy, ns_busiest;
	int n_workers; /* that took part */
} nk_pipeline_counters;

static inline void nk_count(int64_t *counter, int64_t n) { __atomic_fetch_add(counter, n, __ATOMIC_RELAXED); }

#endif
