/* Rows are brought together by key and one of each group is kept. Where the first will do, each worker drops rows
 * whose key it has seen before they are set aside, for as long as that drops enough to pay. */
#include "exec/unique.h"

#include "compute/select.h"
#include "exec/keyed_rows.h"

enum {
	SEEN_GROUPS_MAX = 1 << 17, /* of a worker's table of keys already met */
};

typedef struct seen {
	nk_group_table *table;
	bool is_over; /* does not pay, or full */
	int64_t last_order, n_rows;
	uint32_t *groups;
	int64_t groups_capacity;
} seen;

struct nk_unique {
	nk__keyed_rows keyed; /* first: the sink is its sink */
	nk_unique_config config;
	seen *seen; /* by worker */
};

/* Keep the rows whose key this worker meets for the first time. Rows before those it has seen are all kept, so
 * that the first of all is among what is set aside. */
static nk_status drop_seen(nk_unique *unique, seen *mine, nk_batch **batch, nk_error *err)
{
	const nk_unique_config *config = &unique->config;
	const nk__keyed_rows *keyed = &unique->keyed;
	nk_memory *memory = keyed->exec->memory;
	int64_t n_rows = (*batch)->n_rows, order = nk_batch_order(*batch);
	if (mine->is_over || order < mine->last_order)
		return NK_OK;
	mine->last_order = order;
	NK_AUTO(nk_buffer) lists = NULL;
	NK_TRY(nk_buffer_new(memory, config->n_keys * 2 * (int64_t)sizeof(void *), &lists, err));
	const nk_dtype **dtypes = (const nk_dtype **)lists->bytes;
	nk_array **keys = (nk_array **)lists->bytes + config->n_keys;
	for (int k = 0; k < config->n_keys; k++) {
		dtypes[k] = config->dtypes[config->keys[k]];
		keys[k] = (*batch)->columns[config->keys[k]];
	}
	if (!mine->table)
		NK_TRY(nk_group_table_new(memory, dtypes, config->n_keys, 0, &mine->table, err));
	NK_TRY(NK_GROW(memory, &mine->groups, &mine->groups_capacity, n_rows, err));
	int64_t n_before = nk_group_table_n_groups(mine->table), n = 0;
	NK_TRY(nk_group_table_insert(mine->table, keys, n_rows, mine->groups, err));
	uint32_t *rows = mine->groups;
	for (int64_t i = 0; i < n_rows; i++) {
		bool is_new = rows[i] == n_before + n; /* new groups are numbered as they come */
		rows[n] = (uint32_t)i;
		n += is_new;
	}
	mine->n_rows += n_rows;
	int64_t n_groups = nk_group_table_n_groups(mine->table);
	mine->is_over = n_groups > SEEN_GROUPS_MAX || (mine->n_rows > 1 << 15 && n_groups > mine->n_rows / 2);
	if (n == n_rows)
		return NK_OK;
	nk_batch *fewer;
	NK_TRY(nk_batch_take(memory, *batch, rows, n, &fewer, err));
	nk_batch_free(*batch);
	*batch = fewer;
	return NK_OK;
}

static nk_status push(nk_receiver *sink, int number, nk_batch *given, nk_error *err)
{
	nk_unique *unique = (nk_unique *)sink;
	NK_AUTO(nk_batch) batch = given;
	/* The rows left keep their order among each other and within the batch's range. */
	bool may_drop = unique->config.keep == NK_KEEP_ANY || unique->config.keep == NK_KEEP_FIRST;
	if (may_drop && batch->n_rows > 0)
		NK_TRY(drop_seen(unique, &unique->seen[number], &batch, err));
	return nk__keyed_rows_add(&unique->keyed, number, NK_STEAL(batch), err);
}

/* The row kept of each group: groups in order of first appearance. */
static int64_t choose_rows(const uint32_t *groups, int64_t n_rows, int64_t n_groups, nk_keep keep,
                           uint32_t *rows)
{
	memset(rows, 0xff, (size_t)n_groups * 4);
	uint32_t none = UINT32_MAX, dropped = UINT32_MAX - 1;
	for (int64_t i = 0; i < n_rows; i++) {
		uint32_t *row = &rows[groups[i]];
		if (*row == none || keep == NK_KEEP_LAST)
			*row = (uint32_t)i;
		else if (keep == NK_KEEP_NONE)
			*row = dropped;
	}
	if (keep != NK_KEEP_NONE)
		return n_groups;
	int64_t n = 0;
	for (int64_t g = 0; g < n_groups; g++) {
		rows[n] = rows[g];
		n += rows[g] != dropped;
	}
	return n;
}

static nk_status make(const nk__keyed_rows *keyed, const nk_batch *rows, bool with_order, nk_batch **out,
                      nk_error *err)
{
	const nk_unique *unique = keyed->owner;
	nk_memory *memory = keyed->exec->memory;
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) groups = NULL, *kept = NULL;
	NK_TRY(nk_buffer_new(memory, rows->n_rows * 4, &groups, err));
	NK_TRY(nk__keyed_rows_group(keyed, rows, &table, (uint32_t *)groups->bytes, err));
	int64_t n_groups = nk_group_table_n_groups(table);
	NK_TRY(nk_buffer_new(memory, n_groups * 4, &kept, err));
	int64_t n = choose_rows((const uint32_t *)groups->bytes, rows->n_rows, n_groups, unique->config.keep,
	                        (uint32_t *)kept->bytes);
	NK_AUTO(nk_batch) result = NULL;
	NK_TRY(nk_batch_take(memory, rows, (const uint32_t *)kept->bytes, n, &result, err));
	if (!with_order) {
		result->n_columns--;
		nk_array_unref(NK_STEAL(result->columns[result->n_columns]));
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_receiver_ops sink_ops = {.push = push,
                                         .flush = nk__keyed_rows_flush,
                                         .finish = nk__keyed_rows_finish,
                                         .free = nk__keyed_rows_sink_free};

static int64_t seen_bytes(const nk_exec *exec) { return exec->n_workers * (int64_t)sizeof(seen); }

static void release(nk_unique *unique, const nk_exec *exec)
{
	for (int w = 0; w < exec->n_workers && unique->seen; w++) {
		nk_group_table_free(unique->seen[w].table);
		nk_free(exec->memory, unique->seen[w].groups, unique->seen[w].groups_capacity * 4);
	}
	nk_free(exec->memory, unique->seen, seen_bytes(exec));
	nk__keyed_rows_release(&unique->keyed);
	nk_free(exec->memory, unique, sizeof *unique);
}

nk_status nk_unique_new(const nk_exec *exec, const nk_unique_config *config, nk_counters *counters,
                        nk_unique **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, sizeof(nk_unique), &block, err));
	nk_unique *unique = block;
	*unique = (nk_unique){.config = *config};
	unique->keyed.exec = exec;
	nk_status status = nk_alloc(exec->memory, seen_bytes(exec), (void **)&unique->seen, err);
	if (status == NK_OK)
		memset(unique->seen, 0, (size_t)seen_bytes(exec));
	if (status == NK_OK)
		status = nk__keyed_rows_init(&unique->keyed, exec, counters, config->dtypes, config->n_columns,
		                             config->keys, config->n_keys, config->maintain_order, make, unique, err);
	if (status != NK_OK) {
		release(unique, exec);
		return status;
	}
	unique->keyed.n_results = config->n_columns;
	unique->keyed.sink = (nk_receiver){.ops = &sink_ops, .counters = counters};
	*out = unique;
	return NK_OK;
}

void nk_unique_free(nk_unique *unique)
{
	if (unique)
		release(unique, unique->keyed.exec);
}

nk_receiver *nk_unique_sink(nk_unique *unique) { return &unique->keyed.sink; }
nk_stream *nk_unique_stream(nk_unique *unique) { return &unique->keyed.stream; }
