/* A compiled program, as the evaluators of this folder see it. */
#ifndef NK_EVAL_PROGRAM_INTERNAL_H
#define NK_EVAL_PROGRAM_INTERNAL_H

#include "eval/program.h"

/* What an intermediate is inside groups. */
typedef enum nk_group_state {
	NK_STATE_LITERAL, /* one value for all groups */
	NK_STATE_GROUPS,  /* one value a group */
	NK_STATE_ROWS,    /* values group after group */
} nk_group_state;

typedef struct nk_group_offsets {
	int64_t n_references;
	int64_t n_groups;
	int64_t at[];
} nk_group_offsets;

typedef struct nk_group_value {
	nk_group_state state;
	nk_array *array;
	nk_group_offsets
		*offsets; /* NK_STATE_ROWS: of this value's groups, which may have lengths of their own */
} nk_group_value;

/* A window, compiled: what is row by row is computed by the program around it, on all rows, and is input
 * here. */
typedef struct nk_over_step {
	nk_program
		*inner; /* one output; its inputs are the step's first n_inputs arguments, then come keys and order */
	int n_inputs;
	int partition; /* which of the program's partitions */
	bool streams;  /* aggregates by group number and what is row by row: rows need not be brought together */
	nk_group_state *states; /* streams: of each step of inner */
} nk_over_step;

typedef struct nk_step {
	const nk_bound *node;
	int slot;              /* of an input, which; else -1 */
	nk_bound *const *deps; /* what it needs, n_args of them */
	const int *args;       /* which steps these are */
	int n_args;
	int last_use; /* the last step that reads this one; n_steps when it is an output */
	nk_over_step *over;
} nk_step;

struct nk_program {
	nk_memory *memory;
	nk_arena *arena;
	nk_step *steps; /* arguments before users */
	int n_steps;
	int *outputs; /* steps */
	int n_outputs;
	int n_partitions;        /* different lists of keys and order among the windows */
	int *partition_last_use; /* by partition: the last step that needs it */
};

/* A program whose inputs are sub-trees instead of columns. */
NK_MUST_CHECK nk_status nk__program_over_nodes(nk_memory *memory, nk_bound *const *exprs, int n_exprs,
                                               nk_bound *const *inputs, int n_inputs, nk_program **out,
                                               nk_error *err);

/* ---- over.c ---- */

/* The sub-trees that a window's expression needs row by row (its largest elementwise parts), then its keys
 * and order. */
NK_MUST_CHECK nk_status nk__over_deps(nk_arena *arena, const nk_bound *over, nk_bound *const **deps,
                                      int *n_deps, int *n_inputs, nk_error *err);
NK_MUST_CHECK nk_status nk__over_compile(nk_program *program, nk_step *step, int n_inputs, nk_error *err);

/* Rows by group, made once for all windows with the same keys and order. */
typedef struct nk_partition nk_partition;
void nk__partition_free(nk_partition *partition);

/* Evaluate a window over n_rows rows. args: the step's arguments, each of n_rows rows in any encoding.
 * outer: which of the groups around the window each row is in, ascending; NULL: none. lengths (with outer,
 * n_outer of them, zero before): results per outer group where the mapping explodes. */
NK_MUST_CHECK nk_status nk__over_run(const nk_step *step, nk_memory *memory, nk_array *const *args,
                                     int64_t n_rows, nk_array *outer, int64_t *lengths,
                                     nk_partition **partition, nk_array **out, nk_error *err);

/* ---- groups.c ---- */

/* The grouped evaluator for one output, which stays as it is; release it. */
NK_MUST_CHECK nk_status nk__groups_run(const nk_program *program, nk_memory *memory, nk_array *const *inputs,
                                       int64_t n_rows, const int64_t *offsets, int64_t n_groups,
                                       nk_group_value *out, nk_error *err);
void nk__group_value_release(nk_group_value *value);
/* One row a group: rows become lists. */
NK_MUST_CHECK nk_status nk__group_value_deliver(nk_memory *memory, const nk_group_value *value,
                                                int64_t n_groups, nk_array **out, nk_error *err);

#endif
