/* A bound query: relational nodes in the query's arena over integer column ids. Binding makes them from a plan;
 * optimiser rules turn nodes into new nodes (never changing one that they did not make); lowering turns them
 * into pipelines.
 *
 * `columns` are the ids a node yields, in order; ids are unique to the node that makes them, so a predicate can
 * be moved below any node that merely passes its columns on. Below the null-supplying side of an outer join an
 * id stands for the values before nulls are supplied: rules check the kind of join.
 *
 * A node that is the input of several nodes is computed once (its result is shared). */
#ifndef NK_PLAN_REL_H
#define NK_PLAN_REL_H

#include "compute/calendar_step.h"
#include "expr/bound.h"
#include "plan/plan.h"
#include "plan/source.h"

typedef enum nk_rel_kind {
	NK_REL_SCAN,    /* reads a source; conjuncts apply exactly, then offset/limit only when there are none */
	NK_REL_FILTER,  /* rows where `predicate` (elementwise) is true */
	NK_REL_PROJECT, /* exprs: elementwise; one per column. A passed-on column is its own NK_BOUND_COLUMN */
	NK_REL_MAP,     /* exprs: any, over whole columns; scalars broadcast. See `map` */
	NK_REL_AGGREGATE, /* group by keys; columns: the keys' ids, then the aggregates' */
	NK_REL_JOIN,      /* columns: some of left's and right's */
	NK_REL_SORT,
	NK_REL_SLICE,
	NK_REL_UNIQUE,
	NK_REL_UNION,     /* inputs one after another; column i is column i of each input */
	NK_REL_ZIP,       /* inputs side by side, equal heights */
	NK_REL_ROW_INDEX, /* columns: the index, then the input's */
	NK_REL_EXPLODE,   /* columns: the input's, with a column of items in place of each list */
	NK_REL_JOIN_ASOF, /* columns: some of left's and right's; rows are the left's */
	NK_REL_WINDOWS,   /* columns: keys, bounds if wanted, the label, aggregates; all made here */
	NK_REL_FOREIGN,   /* columns: what the function makes */
	NK_REL_N,
} nk_rel_kind;

typedef struct nk_rel nk_rel;
struct nk_rel {
	nk_rel_kind kind;
	int number; /* of the node, for explain and counters */
	int n_inputs;
	nk_rel **inputs;
	int n_columns;
	const int *columns;
	double n_rows;         /* estimate; negative: not estimated */
	nk_counters *counters; /* filled while running; in the arena */
	union {
		struct {
			nk_source *source;         /* borrowed from the plan */
			const int *source_columns; /* schema position of columns[i]; -1: the row index */
			int n_conjuncts;
			nk_bound **conjuncts;  /* over the ids in filter_ids */
			int n_filter_columns;  /* columns that only conjuncts need are here too */
			const int *filter_ids; /* ids that conjuncts may use: all columns known of the source */
			const int *filter_source_columns;
			int64_t offset, limit; /* limit -1: all */
			int64_t row_index_offset;
			nk_scan_counters *scan_counters;
			int n_runtime_filters; /* set by lowering */
			nk_scan_filter *runtime_filters;
		} scan;
		struct {
			nk_bound *predicate;
		} filter;
		struct {
			nk_bound **exprs; /* n_columns */
		} project;
		struct {
			nk_bound **exprs;     /* n_columns */
			bool is_with_columns; /* the height is the input's; otherwise that of the results */
			bool strict;          /* columns of length one that are no scalars do not broadcast (eager) */
		} map;
		struct {
			int n_keys;
			nk_bound **keys; /* elementwise */
			int n_aggregates;
			nk_bound **aggregates; /* a call with func->height aggregating, `aggregate` set and elementwise
			                          arguments; or (is_grouped) any expression, for the grouped context */
			bool is_grouped;       /* some aggregate needs the grouped context */
			bool maintain_order;
		} aggregate;
		struct {
			nk_join_kind how;
			int n_keys;
			nk_bound **left_keys, **right_keys; /* elementwise, over the left's and the right's columns */
			nk_bound *residual; /* over both sides' columns, or NULL: part of the match condition */
			bool nulls_equal;
			nk_order_kept order_kept;
			nk_validate validate;
			bool build_left; /* chosen by the optimiser: the hash table holds the left input */
		} join;
		struct {
			int n_keys;
			nk_bound **keys; /* elementwise */
			bool *descending, *nulls_last;
			bool maintain_order;
			int64_t limit; /* only the first so many rows are wanted; -1: all */
		} sort;
		struct {
			int64_t offset, limit; /* offset negative: from the end; limit -1: all */
		} slice;
		struct {
			int n_keys;
			const int *keys; /* ids */
			nk_keep keep;
			bool maintain_order;
		} unique;
		struct {
			int64_t offset;
		} row_index;
		struct {
			int n_lists;
			const int *lists, *made; /* ids of the input's lists and of their items */
			bool empty_as_null, keep_nulls;
		} explode;
		struct {
			int n_by;
			const int *left, *right; /* ids: `on`, of one dtype, then the n_by keys */
			nk_asof_strategy strategy;
			bool exact_matches, check_sorted;
			bool has_tolerance;
			int64_t tolerance; /* in units of `on` */
			double tolerance_float;
		} asof;
		struct {
			nk_windows how;
			int n_keys;
			const int *keys; /* ids */
			int index;       /* id of the index; its dtype is Int64 or temporal */
			nk_step every, period, offset;
			int64_t per_second; /* of the index; of integers a step of one is a nanosecond */
			int n_aggregates;
			nk_bound **aggregates; /* for the grouped context */
		} windows;
		struct {
			nk_foreign *function; /* borrowed from the plan */
			int n_inputs;
			const int *inputs; /* ids that it sees, and their names */
			const char *const *names;
		} foreign;
	};
};

typedef struct nk_query {
	nk_arena *arena;
	nk_binder *binder;
	nk_rel *root;
	int n_columns;            /* of the result */
	const char *const *names; /* the result's column i is id root->columns[i] */
	int n_nodes;
	nk_pipeline_counters *pipelines; /* of the last run, in the order of running */
} nk_query;

/* Binds a plan; *out owns an arena and keeps a reference to the plan. Fails with what binding raises. */
NK_MUST_CHECK nk_status nk_query_bind(nk_plan *plan, nk_memory *memory, nk_query **out, nk_error *err);
void nk_query_free(nk_query *query);
static inline void nk_query__auto(nk_query **query) { nk_query_free(*query); }

/* A zeroed node with room for n_inputs and n_columns (columns to be filled through the returned pointer). */
NK_MUST_CHECK nk_status nk_rel_new(nk_query *query, nk_rel_kind kind, nk_rel *const *inputs, int n_inputs,
                                   const int *columns, int n_columns, nk_rel **out, nk_error *err);
/* A copy of a node to be changed, with its own input list. */
NK_MUST_CHECK nk_status nk_rel_copy(nk_query *query, const nk_rel *rel, nk_rel **out, nk_error *err);

/* Text tree of the bound (optimised) query; with counters when analysed. Ends with a line feed. */
void nk_query_explain(const nk_query *query, bool analyzed, nk_text *out);
/* What a run was bound by and what would make it faster, as JSON and as text (either may be NULL). */
typedef struct nk_run_facts {
	double seconds, cpu_seconds; /* cpu: of the process meanwhile */
	int n_threads;
	int64_t n_bytes_storage;             /* read from storage, not from memory where files are kept */
	int64_t n_bytes_peak, n_bytes_limit; /* of memory; INT64_MAX: no limit */
} nk_run_facts;
void nk_query_analyze(const nk_query *query, const nk_run_facts *facts, nk_text *json, nk_text *text);
/* The same as a graph for dot. */
void nk_query_explain_dot(const nk_query *query, nk_text *out);

#endif
