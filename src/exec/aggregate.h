/* Hash aggregation: rows in, one row per distinct key out. Decomposable aggregates only (nk_bound calls whose
 * func row gave an nk_aggregate); everything else goes through exec/grouped.h.
 *
 * A sink and the stream of its result, which may be read by any number of workers once the sink has finished.
 * Without keys there is one group, always (one row out, also of no input). Null is a key like any other. */
#ifndef NK_EXEC_AGGREGATE_H
#define NK_EXEC_AGGREGATE_H

#include "eval/program.h"
#include "exec/operator.h"

typedef struct nk_aggregate_config {
	/* Computes keys and arguments from a batch's columns (input i of the program is column i of the batch):
	 * outputs [0, n_keys) are the keys, further ones arguments. NULL: the batch's columns are these themselves. */
	const nk_program *program;
	int n_outputs; /* of the program, or columns of the batch */
	int n_keys;
	const nk_dtype *const *key_dtypes;
	int n_calls;
	nk_bound *const *calls; /* calls[i]->aggregate is set */
	const int *const
		*arguments;      /* arguments[i][j]: which output is argument j of call i; calls[i]->n_args of them */
	bool maintain_order; /* groups come out in order of first appearance */
	bool order_sensitive; /* some call looks at order (first, last): kept exact */
} nk_aggregate_config;

typedef struct nk_aggregation nk_aggregation;

/* The config's arrays and what they point to outlive the aggregation; the struct itself is copied. The sink and
 * the stream are parts of the aggregation, borrowed until it is freed: their own free functions do nothing but
 * allow a pipeline to call them. Output: keys, then results of the calls in order, flat. */
NK_MUST_CHECK nk_status nk_aggregation_new(const nk_exec *exec, const nk_aggregate_config *config,
                                           nk_counters *counters, nk_aggregation **out, nk_error *err);
void nk_aggregation_free(nk_aggregation *aggregation);
nk_receiver *nk_aggregation_sink(nk_aggregation *aggregation);
nk_stream *nk_aggregation_stream(nk_aggregation *aggregation);

#endif
