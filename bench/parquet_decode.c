/* Decode chosen columns of a Parquet file on one thread and nothing else: the floor under every query on it.
 *
 *     parquet_decode FILE COLUMN...     (all columns when none is named)
 *
 * Prints, per column, the best of several runs: rows per second, decompressed bytes per second, and how the time
 * divides. A warm file is the point: read it once before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/parquet/parquet.h"

enum { N_RUNS = 5, BATCH_ROWS = 8192 };

static int fail(const nk_error *err)
{
	fprintf(stderr, "%s\n", err->message);
	return 1;
}

static nk_status read_column(nk_source *source, nk_memory *memory, int column, nk_scan_counters *counters,
                             int64_t *n_ns, nk_error *err)
{
	nk_scan_request request = {
		.n_columns = 1,
		.columns = &column,
		.limit = -1,
		.batch_rows = BATCH_ROWS,
		.n_workers = 1,
		.memory = memory,
		.counters = counters,
	};
	int64_t ns_start = nk_now_ns();
	NK_AUTO(nk_scan) scan = NULL;
	NK_TRY(source->ops->open(source, &request, &scan, err));
	for (;;) {
		NK_AUTO(nk_batch) batch = NULL;
		NK_TRY(scan->ops->next(scan, 0, &batch, err));
		if (!batch)
			break;
	}
	*n_ns = nk_now_ns() - ns_start;
	return NK_OK;
}

static nk_status bench(nk_source *source, nk_memory *memory, int n_names, char **names, nk_error *err)
{
	const nk_schema *schema;
	NK_TRY(source->ops->schema(source, &schema, err));
	double ms_total = 0;
	printf("%-20s %9s %9s %9s %9s %9s\n", "column", "ms", "Mrow/s", "GB/s", "unpack ms", "decode ms");
	for (int i = 0; i < (n_names > 0 ? n_names : schema->n_fields); i++) {
		int column = i;
		if (n_names > 0)
			NK_TRY(nk_schema_resolve(schema, names[i], &column, err));
		int64_t ns_best = INT64_MAX;
		nk_scan_counters best = {0};
		for (int run = 0; run < N_RUNS; run++) {
			int64_t n_ns;
			nk_scan_counters counters = {0};
			NK_TRY(read_column(source, memory, column, &counters, &n_ns, err));
			if (n_ns < ns_best) {
				ns_best = n_ns;
				best = counters;
			}
		}
		double seconds = (double)ns_best * 1e-9;
		printf("%-20s %9.2f %9.1f %9.2f %9.2f %9.2f\n", schema->fields[column].name, seconds * 1e3,
		       (double)best.n_rows_out / seconds * 1e-6, (double)best.n_bytes_decompressed / seconds * 1e-9,
		       (double)best.ns_decompress * 1e-6, (double)best.ns_decode * 1e-6);
		ms_total += seconds * 1e3;
	}
	printf("%-20s %9.2f\n", "total", ms_total);
	return NK_OK;
}

int main(int n_arguments, char **arguments)
{
	if (n_arguments < 2) {
		fprintf(stderr, "usage: %s FILE [COLUMN...]\n", arguments[0]);
		return 2;
	}
	nk_error err = {0};
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, INT64_MAX);
	const char *path = arguments[1];
	NK_AUTO(nk_source) source = NULL;
	if (!memory || nk_parquet_source_new(memory, &path, 1, NULL, &source, &err) != NK_OK)
		return fail(&err);
	return bench(source, memory, n_arguments - 2, arguments + 2, &err) == NK_OK ? 0 : fail(&err);
}
