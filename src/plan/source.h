/* Where rows come from: files, frames, streams of others. A source is immutable and reference-counted; plans
 * hold it. At planning it answers schema and statistics from footers and heads only; opened with a request it
 * becomes a scan, read by several workers at once.
 *
 * A scan applies all conjuncts of the request exactly (no filter stands above it), and runtime filters as far
 * as it likes. Rows come out in batches of at most request->batch_rows rows with (morsel, number) sequences that
 * ascend in the source's row order; a worker reads whole morsels. */
#ifndef NK_PLAN_SOURCE_H
#define NK_PLAN_SOURCE_H

#include "columnar/batch.h"
#include "columnar/frame.h"
#include "eval/program.h"
#include "plan/counters.h"
#include "plan/runtime_filter.h"

typedef struct nk_source nk_source;
typedef struct nk_scan nk_scan;

/* What is known of a column before reading it, for estimates. NaN is not in the bounds; a few values may lie beyond. */
typedef struct nk_column_statistics {
	bool has_bounds;
	nk_scalar min, max; /* text bytes live as long as the source; may be cut (min lower, max higher) */
	int64_t n_nulls;    /* -1: unknown */
	int64_t n_distinct; /* estimate; -1: unknown */
} nk_column_statistics;

typedef struct nk_column_layout {
	int64_t n_groups;
	int64_t n_bare;        /* without bounds */
	int64_t n_overlapping; /* whose bounds overlap those of a group before it */
	bool has_page_index;
} nk_column_layout;

typedef enum nk_test_op {
	NK_TEST_NONE,
	NK_TEST_EQ,
	NK_TEST_LT,
	NK_TEST_LE,
	NK_TEST_GT,
	NK_TEST_GE,
	NK_TEST_IN,
	NK_TEST_IS_NULL,
	NK_TEST_IS_NOT_NULL,
	NK_TEST_STARTS
} nk_test_op;

/* One part of the predicate. program computes a Boolean from the columns listed (its inputs in this order);
 * when the part compares one column with constants, `op` and `values` say so for pruning by statistics. */
typedef struct nk_scan_conjunct {
	const nk_program *program; /* one output */
	int n_columns;
	const int *columns; /* positions in the source's schema */
	nk_test_op op;      /* NK_TEST_NONE: not of that form. Then columns[0] is the column */
	int n_values;
	const nk_scalar *values; /* of the column's dtype */
} nk_scan_conjunct;

typedef struct nk_scan_filter {
	nk_runtime_filter *filter; /* borrowed; may become ready while the scan runs */
	int column;                /* position in the source's schema */
} nk_scan_filter;

typedef struct nk_scan_request {
	int n_columns;
	const int *columns; /* positions in the schema, in the order wanted; may be empty (only counts) */
	bool row_index;     /* one more column after them: UInt32 row number in the source */
	int64_t row_index_offset;
	int n_conjuncts;
	const nk_scan_conjunct *conjuncts;
	int n_filters;
	const nk_scan_filter *filters;
	int64_t offset, limit; /* rows of the source before any conjunct; limit -1: all. Both 0, -1 by default */
	int64_t batch_rows;
	int n_workers;
	nk_memory *memory;
	nk_scan_counters *counters; /* never NULL */
} nk_scan_request;

typedef struct nk_source_ops {
	const char *kind; /* "parquet", "frame" */
	void (*free)(nk_source *source);
	/* Borrowed until the source is freed; computed once. */
	nk_status (*schema)(nk_source *source, const nk_schema **out, nk_error *err);
	/* Rows in all; -1 when not known without reading. */
	nk_status (*n_rows)(nk_source *source, int64_t *out, nk_error *err);
	nk_status (*statistics)(nk_source *source, int column, nk_column_statistics *out, nk_error *err);
	/* The request's arrays live until the scan is freed. */
	nk_status (*open)(nk_source *source, const nk_scan_request *request, nk_scan **out, nk_error *err);
	/* How well statistics of a column tell its parts (row groups) apart. May be NULL. */
	nk_status (*layout)(nk_source *source, int column, nk_column_layout *out, nk_error *err);
	/* For explain: "Parquet a.parquet (+3 files)". */
	void (*describe)(nk_source *source, nk_text *out);
	/* What is needed to make it again elsewhere: paths and options as text; NULL: cannot leave the process. */
	nk_status (*serialise)(nk_source *source, nk_text *out, nk_error *err);
} nk_source_ops;

struct nk_source {
	const nk_source_ops *ops;
	int64_t n_references;
};

typedef struct nk_scan_ops {
	/* The next batch for this worker, owned by the caller; *out NULL: nothing is left. No two threads use the
	 * same worker number at a time. */
	nk_status (*next)(nk_scan *scan, int worker, nk_batch **out, nk_error *err);
	void (*free)(nk_scan *scan);
} nk_scan_ops;

struct nk_scan {
	const nk_scan_ops *ops;
};

static inline nk_source *nk_source_ref(nk_source *source)
{
	__atomic_fetch_add(&source->n_references, 1, __ATOMIC_RELAXED);
	return source;
}
static inline void nk_source_unref(nk_source *source)
{
	if (source && __atomic_fetch_sub(&source->n_references, 1, __ATOMIC_ACQ_REL) == 1)
		source->ops->free(source);
}
static inline void nk_source__auto(nk_source **source) { nk_source_unref(*source); }
static inline void nk_scan__auto(nk_scan **scan)
{
	if (*scan)
		(*scan)->ops->free(*scan);
}

/* A source over a frame in memory; borrows (references) the frame. */
NK_MUST_CHECK nk_status nk_frame_source_new(nk_frame *frame, nk_source **out, nk_error *err);
/* The frame behind a frame source; NULL for any other. */
nk_frame *nk_frame_source_frame(const nk_source *source);

#endif
