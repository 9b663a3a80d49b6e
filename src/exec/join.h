/* Hash join of two inputs: the build side is collected into a table, the probe side streams past it. Without
 * keys it is a cross join, or with a residual a nested-loop join.
 *
 * Three parts: a sink for the build side; a step for the probe side; and the rest, a stream of what can only be
 * told when all probe rows have passed: build rows (un)matched, or everything when the join went to disk.
 *
 * Order of work:
 *   1. run the build side's pipeline into nk_join_build(), finish included;
 *   2. run the probe side's pipeline through nk_join_probe();
 *   3. when nk_join_has_rest(): after every probe worker has ended its stream, and before anything behind the
 *      probe step is flushed, run nk_join_rest() as a stream into probe->next. Columns are the same. */
#ifndef NK_EXEC_JOIN_H
#define NK_EXEC_JOIN_H

#include "eval/program.h"
#include "exec/operator.h"
#include "plan/runtime_filter.h"

typedef enum nk_join_output {
	NK_JOIN_OUTPUT_PAIRS,      /* a row per match; see keep_probe, keep_build */
	NK_JOIN_OUTPUT_SEMI,       /* probe rows with a match, each once */
	NK_JOIN_OUTPUT_ANTI,       /* probe rows without */
	NK_JOIN_OUTPUT_BUILD_SEMI, /* build rows with a match, each once: all come from the rest */
	NK_JOIN_OUTPUT_BUILD_ANTI,
} nk_join_output;

typedef struct nk_join_column {
	bool from_build; /* else from the probe side */
	int column;      /* position in that side's batches */
} nk_join_column;

typedef struct nk_join_config {
	nk_join_output output;
	bool keep_probe; /* PAIRS: probe rows without a match come out with nulls for build columns (left join) */
	bool
		keep_build; /* PAIRS: build rows without a match come out, from the rest, with nulls for probe columns */
	bool nulls_equal;
	bool
		maintain_order; /* the order of the output matters: rows in probe order, matches in build order; never spills */
	bool build_must_be_unique, probe_must_be_unique; /* validate= */
	const char *validation;                          /* its text for the message, "1:1", "1:m", "m:1" */
	int n_build_columns, n_probe_columns;
	const nk_dtype *const *build_dtypes, *const *probe_dtypes;
	/* Key i of both sides: positions. Both have one dtype, or are integers of any width and the same
	 * signedness below 64 bits (UInt64 matches only UInt64), or Decimals of one scale. */
	int n_keys;
	const int *build_keys, *probe_keys;
	/* A Boolean that pairs must pass to be matches; input i is residual_inputs[i] of the pair. NULL: none. */
	const nk_program *residual;
	int n_residual_inputs;
	const nk_join_column *residual_inputs;
	/* SEMI and ANTI take probe columns only, BUILD_* build columns only. */
	int n_outputs;
	const nk_join_column *outputs;
	/* Published with build key i when the build is complete; NULL entries or a NULL array: none. Borrowed. */
	nk_runtime_filter *const *filters;
} nk_join_config;

typedef struct nk_join nk_join;

/* The config's arrays and what they point to outlive the join; the struct itself is copied. Sink, step and rest
 * are parts of the join, borrowed until it is freed. */
NK_MUST_CHECK nk_status nk_join_new(const nk_exec *exec, const nk_join_config *config, nk_counters *counters,
                                    nk_join **out, nk_error *err);
void nk_join_free(nk_join *join);
nk_receiver *nk_join_build(nk_join *join);
nk_receiver *nk_join_probe(nk_join *join);  /* set ->next before use */
bool nk_join_has_rest(const nk_join *join); /* valid once the build has finished */
nk_stream *nk_join_rest(nk_join *join);
/* Rows of the build side, once it has finished. */
int64_t nk_join_n_build_rows(const nk_join *join);

#endif
