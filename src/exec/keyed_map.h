/* Windows over keys that they share: as many rows out as in, in the same order. Rows stay together while there is
 * memory; when it is refused they are split by key and go to disk, and so do the results on their way back into
 * order. */
#ifndef NK_EXEC_KEYED_MAP_H
#define NK_EXEC_KEYED_MAP_H

#include "eval/program.h"
#include "exec/operator.h"

typedef struct nk_keyed_map_config {
	const nk_program *program; /* run by nk_program_run_columns on all rows of some keys at a time */
	int n_outputs;
	int n_columns; /* of incoming batches; program reads the first of them */
	const nk_dtype *const *dtypes;
	const int *keys; /* positions among the columns */
	int n_keys;
} nk_keyed_map_config;

typedef struct nk_keyed_map nk_keyed_map;

/* Same conventions as nk_aggregation. */
NK_MUST_CHECK nk_status nk_keyed_map_new(const nk_exec *exec, const nk_keyed_map_config *config,
                                         nk_counters *counters, nk_keyed_map **out, nk_error *err);
void nk_keyed_map_free(nk_keyed_map *map);
nk_receiver *nk_keyed_map_sink(nk_keyed_map *map);
nk_stream *nk_keyed_map_stream(nk_keyed_map *map);

#endif
