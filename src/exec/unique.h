/* Distinct rows by a subset of columns. Same conventions as nk_aggregation; output: the batch's columns. */
#ifndef NK_EXEC_UNIQUE_H
#define NK_EXEC_UNIQUE_H

#include "exec/operator.h"
#include "plan/plan.h" /* nk_keep */

typedef struct nk_unique_config {
	int n_columns;
	const nk_dtype *const *dtypes;
	int n_keys;      /* at least 1 */
	const int *keys; /* positions among the columns */
	nk_keep keep;
	bool maintain_order; /* rows come out in input order */
} nk_unique_config;

typedef struct nk_unique nk_unique;

NK_MUST_CHECK nk_status nk_unique_new(const nk_exec *exec, const nk_unique_config *config,
                                      nk_counters *counters, nk_unique **out, nk_error *err);
void nk_unique_free(nk_unique *unique);
nk_receiver *nk_unique_sink(nk_unique *unique);
nk_stream *nk_unique_stream(nk_unique *unique);

#endif
