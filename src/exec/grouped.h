/* The grouped context over any expression: rows are brought together by key, laid out group after group in row
 * order, and a program runs over the groups. For aggregates that do not decompose (median, n_unique, ...),
 * whole lists, and expressions over groups of any kind. Rows within a group keep the query's row order. */
#ifndef NK_EXEC_GROUPED_H
#define NK_EXEC_GROUPED_H

#include "eval/program.h"
#include "exec/operator.h"

typedef struct nk_grouped_config {
	/* Computes keys and the columns that `groups` uses from a batch's columns; NULL: the batch is these itself. */
	const nk_program *program;
	int n_outputs;                 /* keys first, then the inputs of `groups` */
	int n_keys;                    /* at least 1 */
	const nk_dtype *const *dtypes; /* of all outputs */
	/* Run by nk_program_run_groups: its input i is output n_keys + i. NULL: no further columns. */
	const nk_program *groups;
	int n_results;
	const nk_dtype *const *result_dtypes;
	bool maintain_order; /* groups in order of first appearance */
} nk_grouped_config;

typedef struct nk_grouped nk_grouped;

/* Same conventions as nk_aggregation. Output: keys, then the results of `groups`. */
NK_MUST_CHECK nk_status nk_grouped_new(const nk_exec *exec, const nk_grouped_config *config,
                                       nk_counters *counters, nk_grouped **out, nk_error *err);
void nk_grouped_free(nk_grouped *grouped);
nk_receiver *nk_grouped_sink(nk_grouped *grouped);
nk_stream *nk_grouped_stream(nk_grouped *grouped);

#endif
