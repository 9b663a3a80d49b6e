/* Streaming steps: filter and project. Neither keeps anything between batches. */
#ifndef NK_EXEC_STEPS_H
#define NK_EXEC_STEPS_H

#include "eval/program.h"
#include "exec/operator.h"

/* Rows where the program's one output is true; yields the columns at `positions` of the incoming batch. The program
 * is taken over, positions are borrowed. */
NK_MUST_CHECK nk_status nk_filter_step_new(const nk_exec *exec, nk_program *program, const int *positions,
                                           int n_positions, nk_counters *counters, nk_receiver **out,
                                           nk_error *err);
/* The program's outputs as the columns of a new batch. The program is taken over. */
NK_MUST_CHECK nk_status nk_project_step_new(const nk_exec *exec, nk_program *program, int n_outputs,
                                            nk_counters *counters, nk_receiver **out, nk_error *err);

#endif
