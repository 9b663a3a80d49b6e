/* Bringing rows together, splitting them and restoring their order is keyed_rows.c; here a part's rows go through the
 * program. */
#include "exec/keyed_map.h"

#include "exec/each.h"
#include "exec/keyed_rows.h"

struct nk_keyed_map {
	nk__keyed_rows keyed; /* first: the sink is its sink */
	nk_keyed_map_config config;
};

static nk_status push(nk_receiver *sink, int number, nk_batch *batch, nk_error *err)
{
	return nk__keyed_rows_add(&((nk_keyed_map *)sink)->keyed, number, batch, err);
}

static nk_status make(const nk__keyed_rows *keyed, const nk_batch *rows, bool with_order, nk_batch **out,
                      nk_error *err)
{
	const nk_keyed_map *map = keyed->owner;
	const nk_keyed_map_config *config = &map->config;
	nk_memory *memory = keyed->exec->memory;
	/* Parts are made by several workers already; what is one part has all of them. */
	nk_parallel parallel = nk_exec_parallel(keyed->exec);
	NK_AUTO(nk_batch) made = NULL;
	NK_TRY(nk_batch_new(config->n_outputs + with_order, rows->n_rows, &made, err));
	NK_TRY(nk_program_run_columns(config->program, memory, with_order ? NULL : &parallel, rows->columns,
	                              rows->n_rows, made->columns, err));
	for (int i = 0; i < config->n_outputs; i++) {
		nk_array *column = made->columns[i];
		if (column->n_rows == rows->n_rows)
			continue;
		nk_array *constant;
		NK_TRY(nk_array_new_constant(memory, column, rows->n_rows, &constant, err));
		nk_array_unref(column);
		made->columns[i] = constant;
	}
	if (with_order)
		made->columns[config->n_outputs] = nk_array_ref(rows->columns[config->n_columns]);
	*out = NK_STEAL(made);
	return NK_OK;
}

static const nk_receiver_ops sink_ops = {.push = push,
                                         .flush = nk__keyed_rows_flush,
                                         .finish = nk__keyed_rows_finish,
                                         .free = nk__keyed_rows_sink_free};

nk_status nk_keyed_map_new(const nk_exec *exec, const nk_keyed_map_config *config, nk_counters *counters,
                           nk_keyed_map **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, sizeof(nk_keyed_map), &block, err));
	nk_keyed_map *map = block;
	*map = (nk_keyed_map){.config = *config};
	nk_status status = nk__keyed_rows_init(&map->keyed, exec, counters, config->dtypes, config->n_columns,
	                                       config->keys, config->n_keys, true, make, map, err);
	if (status != NK_OK) {
		map->keyed.exec = exec;
		nk_keyed_map_free(map);
		return status;
	}
	map->keyed.n_results = config->n_outputs;
	map->keyed.keeps_rows = true;
	map->keyed.sink = (nk_receiver){.ops = &sink_ops, .counters = counters};
	*out = map;
	return NK_OK;
}

void nk_keyed_map_free(nk_keyed_map *map)
{
	if (!map)
		return;
	nk_memory *memory = map->keyed.exec->memory;
	nk__keyed_rows_release(&map->keyed);
	nk_free(memory, map, sizeof *map);
}

nk_receiver *nk_keyed_map_sink(nk_keyed_map *map) { return &map->keyed.sink; }
nk_stream *nk_keyed_map_stream(nk_keyed_map *map) { return &map->keyed.stream; }
