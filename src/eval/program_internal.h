/* A compiled program, as the evaluators of this folder see it. */
#ifndef NK_EVAL_PROGRAM_INTERNAL_H
#define NK_EVAL_PROGRAM_INTERNAL_H

#include "eval/program.h"

typedef struct nk_step {
	const nk_bound *node;
	int slot;            /* of a column: which input */
	const int *args;     /* of a call: which steps */
	int last_use;        /* the last step that reads this one; n_steps when it is an output */
} nk_step;

struct nk_program {
	nk_memory *memory;
	nk_arena *arena;
	nk_step *steps; /* arguments before users */
	int n_steps;
	int *outputs; /* steps */
	int n_outputs;
};

/* The aggregate of one call over all rows: init, update, finish. args as the aggregate wants them. */
NK_MUST_CHECK nk_status nk__aggregate_rows(const nk_bound *call, nk_memory *memory, nk_array *const *args, int64_t n_rows,
                                           nk_array **out, nk_error *err);
/* A call that is not elementwise, over whole columns (flat or constant args of n_rows rows). */
NK_MUST_CHECK nk_status nk__call_column(const nk_bound *call, nk_memory *memory, nk_array *const *args, int64_t n_rows,
                                        nk_array **out, nk_error *err);

#endif
