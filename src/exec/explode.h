/* A step that makes a row of each item of lists. */
#ifndef NK_EXEC_EXPLODE_H
#define NK_EXEC_EXPLODE_H

#include "compute/explode.h"
#include "exec/operator.h"

/* Column i of the result is column positions[i] of the incoming batch: its items where is_list[i], else its values
 * repeated. All lists of a row have equally many items, else it fails with NK_SHAPE. lists: positions of the lists, which
 * need not be among the results. Everything is borrowed. */
typedef struct nk_explode_config {
	int n_outputs;
	const int *positions;
	const bool *is_list;
	int n_lists;
	const int *lists;
	nk_explode_mode mode;
} nk_explode_config;

NK_MUST_CHECK nk_status nk_explode_step_new(const nk_exec *exec, const nk_explode_config *config,
                                            nk_counters *counters, nk_receiver **out, nk_error *err);

#endif
