/* Whole-column operators over collected inputs: expressions of any kind, and frames side by side. Each is a stream
 * that computes when it is started. */
#ifndef NK_EXEC_MAP_H
#define NK_EXEC_MAP_H

#include "eval/program.h"
#include "exec/collect.h"

typedef struct nk_map_config {
	const nk_program *program; /* inputs: the collection's columns in order */
	nk_bound *const *exprs;    /* n_outputs of them: shapes decide what broadcasts */
	const char *const *names;  /* for messages */
	int n_outputs;
	bool is_with_columns; /* the height is the input's */
	bool strict;          /* columns of length one that are no scalars do not broadcast */
} nk_map_config;

/* The config's arrays are borrowed until the stream is freed. */
NK_MUST_CHECK nk_status nk_map_stream_new(const nk_exec *exec, nk_collection *input, int n_input_columns,
                                          const nk_map_config *config, nk_counters *counters, nk_stream **out,
                                          nk_error *err);

/* Columns of several collections of equal height (NK_SHAPE otherwise) side by side. */
NK_MUST_CHECK nk_status nk_zip_stream_new(const nk_exec *exec, nk_collection *const *inputs,
                                          const int *n_columns, int n_inputs, nk_stream **out, nk_error *err);

#endif
