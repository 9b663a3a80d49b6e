/* Operators over whole tables: their inputs are collected, and one call makes all columns of the result. A stream
 * that computes when it is started. What makes the columns: joins by nearness, windows over an index, functions of
 * the host. */
#ifndef NK_EXEC_WHOLE_H
#define NK_EXEC_WHOLE_H

#include "eval/program.h"
#include "exec/collect.h"
#include "plan/rel.h"

/* Fills columns (owned by the caller from then on, also on failure) and says how many rows they have. */
typedef nk_status nk_whole_function(const nk_exec *exec, const void *config, nk_array **columns,
                                    int64_t *n_rows, nk_error *err);

/* config is borrowed until the stream is freed. */
NK_MUST_CHECK nk_status nk_whole_stream_new(const nk_exec *exec, nk_whole_function *make, const void *config,
                                            int n_columns, nk_counters *counters, nk_stream **out,
                                            nk_error *err);

typedef struct nk_asof_config {
	nk_collection *left, *right;
	int on_left, on_right; /* positions of columns of one dtype */
	int n_by;
	const int *by_left, *by_right;
	const nk_dtype *const *by_dtypes;
	nk_asof_strategy strategy;
	bool exact_matches, check_sorted, has_tolerance;
	int64_t tolerance;
	double tolerance_float;
	int n_outputs;
	const int *outputs; /* positions on the left, or -1 - position on the right */
} nk_asof_config;
nk_whole_function nk__asof_make;

typedef struct nk_windows_config {
	nk_collection *input;
	nk_windows how;
	int index, n_keys;
	const int *keys;
	const nk_dtype *const *key_dtypes;
	const nk_dtype *index_dtype;
	nk_step every, period, offset;
	int64_t per_second;
	const nk_program *groups; /* over the inputs at positions[] */
	int n_inputs;
	const int *positions;
	int n_results;
	const nk_dtype *const *result_dtypes;
} nk_windows_config;
/* Keys, the two bounds if wanted, the label, results. */
nk_whole_function nk__windows_make;

typedef struct nk_foreign_config {
	nk_collection *input;
	nk_schema *input_schema;
	const int *positions; /* of its fields in the input */
	nk_foreign *function;
} nk_foreign_config;
nk_whole_function nk__foreign_make;

#endif
