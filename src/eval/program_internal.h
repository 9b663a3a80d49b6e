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

#endif
