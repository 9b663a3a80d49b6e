/* Bound expressions compiled for evaluation over batches: a list of kernel calls in dependency order, common
 * parts once. A program is immutable and shared by all workers; running one needs no lock.
 *
 * Dictionary-encoded inputs: a pure, infallible call of one dictionary column (and constants) runs on the
 * dictionary and keeps its codes; everything else gets flat arrays. */
#ifndef NK_EVAL_PROGRAM_H
#define NK_EVAL_PROGRAM_H

#include "columnar/batch.h"
#include "expr/bound.h"

typedef struct nk_program nk_program;

/* slots: the columns of the batches to come, by id; input i of run is column slots[i]. Every column an
 * expression uses must be among them. Expressions must be elementwise for nk_program_run. The expressions'
 * arena outlives the program. */
NK_MUST_CHECK nk_status nk_program_new(nk_memory *memory, nk_bound *const *exprs, int n_exprs,
                                       const int *slots, int n_slots, nk_program **out, nk_error *err);
void nk_program_free(nk_program *program);
static inline void nk_program__auto(nk_program **program) { nk_program_free(*program); }

/* The keys of the program's windows, when all have the same ones and everything around them is row by row: then rows may
 * be computed apart from rows with other keys. *n_keys 0: not so. Borrowed from the expressions. */
nk_bound *const *nk_program_keys(const nk_program *program, int *n_keys);

/* Evaluate over n_rows aligned rows. outputs[i] (owned by the caller) is expression i: n_rows rows in any
 * encoding. inputs[i] may be NULL when no expression uses it. */
NK_MUST_CHECK nk_status nk_program_run(const nk_program *program, nk_memory *memory, nk_array *const *inputs,
                                       int64_t n_rows, nk_array **outputs, nk_error *err);

/* Evaluate over whole columns: any expression. inputs are whole columns of n_rows rows. Outputs have whatever
 * length their shape says: 1 for scalars (flat, one row), n_rows for rows. parallel: for kernels; may be NULL. */
NK_MUST_CHECK nk_status nk_program_run_columns(const nk_program *program, nk_memory *memory,
                                               const nk_parallel *parallel, nk_array *const *inputs,
                                               int64_t n_rows, nk_array **outputs, nk_error *err);

/* Evaluate in the grouped context: rows of group g are [offsets[g], offsets[g+1]) of the inputs, which are in
 * group layout. Outputs have n_groups rows: one value a group, or a List where an expression has rows. */
NK_MUST_CHECK nk_status nk_program_run_groups(const nk_program *program, nk_memory *memory,
                                              nk_array *const *inputs, int64_t n_rows, const int64_t *offsets,
                                              int64_t n_groups, nk_array **outputs, nk_error *err);

/* Evaluate one call on given arrays, the way programs do it (validity, constants, dictionaries). */
NK_MUST_CHECK nk_status nk_eval_call(const nk_bound *call, nk_memory *memory, nk_array *const *args,
                                     int64_t n_rows, nk_array **out, nk_error *err);
/* The same for a call that is not elementwise: args are whole columns, flat or constant. */
NK_MUST_CHECK nk_status nk_eval_column_call(const nk_bound *call, nk_memory *memory,
                                            const nk_parallel *parallel, nk_array *const *args,
                                            int64_t n_rows, nk_array **out, nk_error *err);

#endif
