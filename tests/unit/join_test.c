/* Proves of exec/join and compute/join_table: every kind of join agrees with a nested loop, for one and several
 * workers, tiny and large batches, keys of several dtypes and encodings, nulls equal or not, unique and repeated
 * keys, with and without spilling; probe order is kept when asked; validation fails for repeated keys; runtime
 * filters pass every key that matches. */
#include "compute/hash.h"
#include "compute/join_table.h"
#include "exec/join.h"
#include "exec_rows.h"

static nk_memory *memory;
static nk_pool *pool;

enum { N_COLUMNS = 4 }; /* a value, then up to three keys */

typedef struct kind {
	nk_join_output output;
	bool keep_probe, keep_build;
} kind;

static const kind kinds[] = {
	{NK_JOIN_OUTPUT_PAIRS, false, false},      {NK_JOIN_OUTPUT_PAIRS, true, false},
	{NK_JOIN_OUTPUT_PAIRS, false, true},       {NK_JOIN_OUTPUT_PAIRS, true, true},
	{NK_JOIN_OUTPUT_SEMI, false, false},       {NK_JOIN_OUTPUT_ANTI, false, false},
	{NK_JOIN_OUTPUT_BUILD_SEMI, false, false}, {NK_JOIN_OUTPUT_BUILD_ANTI, false, false},
};

typedef struct side_row {
	char key[300], value[40];
	bool has_null;
} side_row;

static side_row *rows_of(const input *from, int n_keys, int64_t *n)
{
	int64_t n_rows = 0;
	for (int b = 0; b < from->n; b++)
		n_rows += from->batches[b]->n_rows;
	side_row *rows = calloc((size_t)n_rows + 1, sizeof *rows);
	*n = 0;
	for (int b = 0; b < from->n; b++)
		for (int64_t i = 0; i < from->batches[b]->n_rows; i++) {
			side_row *row = &rows[(*n)++];
			rows_text(row->value, from->batches[b]->columns, 1, i, false);
			rows_text(row->key, from->batches[b]->columns + 1, n_keys, i, false);
			for (int k = 0; k < n_keys; k++)
				row->has_null |= !nk_array_is_valid(from->batches[b]->columns[1 + k], i);
		}
	return rows;
}

static void pair(lines *to, const kind *how, const side_row *probe, const side_row *build)
{
	char text[100];
	bool probe_only = how->output == NK_JOIN_OUTPUT_SEMI || how->output == NK_JOIN_OUTPUT_ANTI;
	bool build_only = how->output == NK_JOIN_OUTPUT_BUILD_SEMI || how->output == NK_JOIN_OUTPUT_BUILD_ANTI;
	snprintf(text, sizeof text, "%s%s",
	         build_only ? ""
	         : probe    ? probe->value
	                    : "null|",
	         probe_only ? ""
	         : build    ? build->value
	                    : "null|");
	lines_add(to, text);
}

static void nested_loop(const input *probe_from, const input *build_from, int n_keys, bool nulls_equal,
                        const kind *how, lines *to)
{
	int64_t n_probe, n_build;
	side_row *probe = rows_of(probe_from, n_keys, &n_probe), *build = rows_of(build_from, n_keys, &n_build);
	bool *matched = calloc((size_t)n_build + 1, sizeof *matched);
	for (int64_t i = 0; i < n_probe; i++) {
		bool any = false;
		for (int64_t j = 0; j < n_build; j++) {
			if (n_keys && (strcmp(probe[i].key, build[j].key) != 0 || (!nulls_equal && probe[i].has_null)))
				continue;
			any = matched[j] = true;
			if (how->output == NK_JOIN_OUTPUT_PAIRS)
				pair(to, how, &probe[i], &build[j]);
		}
		if ((how->output == NK_JOIN_OUTPUT_PAIRS && how->keep_probe && !any) ||
		    (how->output == NK_JOIN_OUTPUT_SEMI && any) || (how->output == NK_JOIN_OUTPUT_ANTI && !any))
			pair(to, how, &probe[i], NULL);
	}
	for (int64_t j = 0; j < n_build; j++)
		if ((how->output == NK_JOIN_OUTPUT_PAIRS && how->keep_build && !matched[j]) ||
		    (how->output == NK_JOIN_OUTPUT_BUILD_SEMI && matched[j]) ||
		    (how->output == NK_JOIN_OUTPUT_BUILD_ANTI && !matched[j]))
			pair(to, how, NULL, &build[j]);
	free(probe), free(build), free(matched);
}

/* Collects what the probe step emits. */
typedef struct collector {
	nk_receiver receiver;
	nk_pieces by_worker[8];
} collector;

static nk_status collect(nk_receiver *receiver, int worker, nk_batch *batch, nk_error *err)
{
	collector *to = (collector *)receiver;
	to->by_worker[worker].memory = memory;
	return nk_pieces_add(&to->by_worker[worker], batch, err);
}

static nk_status collect_flush(nk_receiver *receiver, int worker, nk_error *err)
{
	(void)receiver, (void)worker, (void)err;
	return NK_OK;
}

static const nk_receiver_ops collect_ops = {.push = collect, .flush = collect_flush};

static void compare(int n_workers, int64_t batch_rows, bool force_spill, const nk_type_id *types, int n_keys,
                    int64_t domain, int64_t n_probe, int64_t n_build, bool wider, bool nulls_equal,
                    const kind *how)
{
	const nk_dtype *build_dtypes[N_COLUMNS] = {nk_dtype_of(NK_TYPE_INT64)},
				   *probe_dtypes[N_COLUMNS] = {build_dtypes[0]};
	int64_t domains[N_COLUMNS] = {1 << 30};
	int keys[] = {1, 2, 3};
	for (int k = 0; k < n_keys; k++) {
		build_dtypes[1 + k] = nk_dtype_of(types[k]);
		probe_dtypes[1 + k] = nk_dtype_of(wider && types[k] == NK_TYPE_INT32 ? NK_TYPE_INT64 : types[k]);
		domains[1 + k] = domain;
	}
	static input probe_from, build_from;
	bool encoded = random_below(2);
	input_make(&build_from, memory, build_dtypes, domains, 1 + n_keys, n_build, batch_rows, 10, encoded);
	input_make(&probe_from, memory, probe_dtypes, domains, 1 + n_keys, n_probe, batch_rows, 10, encoded);
	nk_exec exec = exec_make(memory, pool, n_workers, batch_rows, force_spill);
	nk_join_column outputs[2] = {{false, 0}, {true, 0}};
	bool probe_only = how->output == NK_JOIN_OUTPUT_SEMI || how->output == NK_JOIN_OUTPUT_ANTI;
	bool build_only = how->output == NK_JOIN_OUTPUT_BUILD_SEMI || how->output == NK_JOIN_OUTPUT_BUILD_ANTI;
	nk_join_config config = {.output = how->output,
	                         .keep_probe = how->keep_probe,
	                         .keep_build = how->keep_build,
	                         .nulls_equal = nulls_equal,
	                         .maintain_order = !force_spill && random_below(2),
	                         .n_build_columns = 1 + n_keys,
	                         .n_probe_columns = 1 + n_keys,
	                         .build_dtypes = build_dtypes,
	                         .probe_dtypes = probe_dtypes,
	                         .n_keys = n_keys,
	                         .build_keys = keys,
	                         .probe_keys = keys,
	                         .n_outputs = probe_only || build_only ? 1 : 2,
	                         .outputs = outputs + build_only};
	nk_runtime_filter *filter, *filters[3] = {0};
	must(nk_runtime_filter_new(memory, &filter, NULL));
	filters[0] = filter;
	config.filters = filters;
	nk_join *join;
	collector to = {.receiver = {.ops = &collect_ops}};
	lines result = {0}, expected = {0};
	must(nk_join_new(&exec, &config, NULL, &join, NULL));
	must(exec_feed(&exec, &build_from, nk_join_build(join), NULL));
	nk_join_probe(join)->next = &to.receiver;
	must(exec_feed(&exec, &probe_from, nk_join_probe(join), NULL));
	nk_pieces all = {.memory = memory};
	for (int w = 0; w < 8; w++) {
		for (int64_t i = 0; i < to.by_worker[w].n_batches; i++)
			must(nk_pieces_add(&all, NK_STEAL(to.by_worker[w].batches[i]), NULL));
		if (to.by_worker[w].memory)
			nk_pieces_release(&to.by_worker[w]);
	}
	must(nk_pieces_sort(&all, NULL));
	for (int64_t i = 0; i < all.n_batches; i++) {
		EXPECT(nk_batch_validate(all.batches[i], NULL) == NK_OK);
		lines_of_batch(&result, all.batches[i]);
	}
	nk_pieces_release(&all);
	if (nk_join_has_rest(join))
		must(exec_read(&exec, nk_join_rest(join), &result, NULL));
	nested_loop(&probe_from, &build_from, n_keys, nulls_equal, how, &expected);
	EXPECT(lines_equal(&result, &expected, config.maintain_order));
	/* Every probe row with a match passes the filter. */
	for (int b = 0; b < probe_from.n && n_keys && nk_runtime_filter_is_ready(filter); b++) {
		nk_array *values = probe_from.batches[b]->columns[1];
		uint32_t *rows = malloc((size_t)values->n_rows * 4 + 64);
		int64_t n;
		must(nk_runtime_filter_test(filter, memory, values, values->n_rows, rows, &n, NULL));
		for (int64_t i = 0, at = 0; i < values->n_rows; i++) {
			bool passes = at < n && rows[at] == i;
			at += passes;
			for (int bb = 0; bb < build_from.n && !passes && nk_array_is_valid(values, i); bb++)
				for (int64_t j = 0; j < build_from.batches[bb]->n_rows; j += 7) {
					char x[100] = "", y[100] = "";
					row_text(x, values, i, false);
					row_text(y, build_from.batches[bb]->columns[1], j, false);
					if (strcmp(x, y) == 0)
						EXPECT(passes);
				}
		}
		free(rows);
	}
	lines_free(&result), lines_free(&expected);
	nk_join_free(join);
	nk_runtime_filter_unref(filter);
	input_free(&probe_from), input_free(&build_from);
	nk_task_group_free(exec.tasks);
}

static void validation(void)
{
	const nk_dtype *dtypes[] = {nk_dtype_of(NK_TYPE_INT64), nk_dtype_of(NK_TYPE_INT64)};
	int64_t domains[] = {100, 1 << 30};
	int key = 1;
	static input unique_rows, repeated;
	input_make(&unique_rows, memory, dtypes, domains, 2, 50, 10, 0, false);
	domains[1] = 10;
	input_make(&repeated, memory, dtypes, domains, 2, 50, 10, 0, false);
	nk_exec exec = exec_make(memory, pool, 2, 10, false);
	nk_join_column output = {false, 0};
	for (int which = 0; which < 4; which++) {
		nk_join_config config = {.output = NK_JOIN_OUTPUT_PAIRS,
		                         .build_must_be_unique = which & 1,
		                         .probe_must_be_unique = which & 2,
		                         .validation = "1:1",
		                         .n_build_columns = 2,
		                         .n_probe_columns = 2,
		                         .build_dtypes = dtypes,
		                         .probe_dtypes = dtypes,
		                         .n_keys = 1,
		                         .build_keys = &key,
		                         .probe_keys = &key,
		                         .n_outputs = 1,
		                         .outputs = &output};
		nk_join *join;
		collector to = {.receiver = {.ops = &collect_ops}};
		nk_error error = {0};
		must(nk_join_new(&exec, &config, NULL, &join, NULL));
		nk_status built = exec_feed(&exec, &repeated, nk_join_build(join), &error);
		EXPECT(built == (which & 1 ? NK_COMPUTE : NK_OK));
		nk_join_probe(join)->next = &to.receiver;
		if (built == NK_OK)
			EXPECT(exec_feed(&exec, which == 2 ? &repeated : &unique_rows, nk_join_probe(join), &error) ==
			       (which == 2 ? NK_COMPUTE : NK_OK));
		if (which)
			EXPECT(strstr(error.message, "1:1") != NULL);
		for (int w = 0; w < 8; w++)
			if (to.by_worker[w].memory)
				nk_pieces_release(&to.by_worker[w]);
		nk_join_free(join);
	}
	input_free(&unique_rows), input_free(&repeated);
	nk_task_group_free(exec.tasks);
}

/* A partition of a side that went to disk: many keys whose hashes begin alike. */
static void one_partition(void)
{
	enum { N = 80000, BLOCK = 1024, ALIKE = 6 };
	nk_array *chosen, *drawn;
	uint64_t hashes[BLOCK];
	EXPECT(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, N, false, &chosen, NULL) == 0);
	EXPECT(nk_array_alloc(memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, BLOCK, false, &drawn, NULL) ==
	       0);
	int64_t *keys = nk_array_values(chosen), *draw = nk_array_values(drawn), n = 0;
	for (int64_t base = 0; n < N; base += BLOCK) {
		for (int64_t i = 0; i < BLOCK; i++)
			draw[i] = (base + i) * 1000003;
		EXPECT(nk_hash_array(memory, drawn, BLOCK, hashes, false, NULL) == NK_OK);
		for (int64_t i = 0; i < BLOCK && n < N; i++)
			if (hashes[i] >> (64 - ALIKE) == 5)
				keys[n++] = draw[i];
	}
	nk_join_table *table;
	const nk_dtype *dtype = chosen->dtype;
	EXPECT(nk_join_table_new(memory, &chosen, &dtype, 1, N, false, &table, NULL) == NK_OK);
	for (int round = 0; round < 2; round++)
		for (int step = 0; step < nk_join_table_n_steps(table); step++)
			EXPECT(nk_join_table_build(table, round, step, NULL) == NK_OK);
	EXPECT(nk_join_table_is_unique(table));
	nk_join_table_free(table);
	nk_array_unref(chosen);
	nk_array_unref(drawn);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	pool = nk_pool_new(3);
	static const nk_type_id lone[] = {NK_TYPE_INT32,  NK_TYPE_INT64,   NK_TYPE_UINT32,
	                                  NK_TYPE_STRING, NK_TYPE_FLOAT64, NK_TYPE_BOOLEAN};
	static const nk_type_id several[][3] = {{NK_TYPE_INT64, NK_TYPE_INT64, NK_TYPE_INT32},
	                                        {NK_TYPE_STRING, NK_TYPE_INT32, NK_TYPE_DATE},
	                                        {NK_TYPE_STRING, NK_TYPE_STRING, NK_TYPE_FLOAT64}};
	for (int h = 0; h < NK_COUNT(kinds); h++)
		for (int spill = 0; spill < 2; spill++) {
			for (int t = 0; t < NK_COUNT(lone); t++) {
				int64_t domain = t == 5 ? 2 : 300;
				compare(1, 3, spill, &lone[t], 1, domain, 60, 40, t & 1, spill, &kinds[h]);
				compare(3, 64, spill, &lone[t], 1, domain * 10, 700, 500, true, t & 1, &kinds[h]);
				compare(2, 500, spill, &lone[t], 1, 1 << 30, 600, 900, true, t & 1, &kinds[h]);
			}
			for (int s = 0; s < NK_COUNT(several); s++)
				for (int n_keys = 2; n_keys <= 3; n_keys++) {
					compare(1, 1, spill, several[s], n_keys, 4, 50, 50, false, false, &kinds[h]);
					compare(3, 100, spill, several[s], n_keys, 6, 600, 400, true, s & 1, &kinds[h]);
				}
			compare(2, 20, spill, lone, 0, 1, 50, 30, false, false, &kinds[h]); /* no keys: cross */
			compare(2, 20, spill, lone, 1, 10, 50, 0, false, false, &kinds[h]);
			compare(2, 20, spill, lone, 1, 10, 0, 50, false, false, &kinds[h]);
		}
	validation();
	one_partition();
	nk_pool_free(pool);
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
