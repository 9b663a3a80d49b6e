/* Sort: a sink that collects rows and a stream of them in order. Always stable with regard to the sequences of
 * the input. Sorted runs go to disk when memory is refused and are merged while reading. Same conventions as
 * nk_aggregation; output: the batch's columns, or those chosen. The stream is ordered. */
#ifndef NK_EXEC_SORT_H
#define NK_EXEC_SORT_H

#include "compute/sort.h"
#include "exec/operator.h"

typedef struct nk_sort_config {
	int n_columns; /* of the incoming batches */
	const nk_dtype *const *dtypes;
	int n_keys;
	const int *keys; /* positions among the columns */
	const nk_sort_key *specs;
	int n_outputs;      /* -1: all columns */
	const int *outputs; /* positions, in the order wanted: keys computed for sorting alone are left out */
} nk_sort_config;

typedef struct nk_sort nk_sort;

NK_MUST_CHECK nk_status nk_sort_new(const nk_exec *exec, const nk_sort_config *config, nk_counters *counters,
                                    nk_sort **out, nk_error *err);
void nk_sort_free(nk_sort *sort);
nk_receiver *nk_sort_sink(nk_sort *sort);
nk_stream *nk_sort_stream(nk_sort *sort);

#endif
