/* Whole Parquet files: schema, statistics and all rows of all columns. */
#include <stdio.h>
#include <unistd.h>

#include "io/parquet/parquet.h"
#include "replay.h"

static nk_status read_all(nk_memory *memory, const char *path, nk_error *err)
{
	enum { COLUMNS_MAX = 64 };
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_parquet_source_new(memory, &path, 1, NULL, &source, err));
	const nk_schema *schema;
	NK_TRY(source->ops->schema(source, &schema, err));
	for (int column = 0; column < schema->n_fields && column < COLUMNS_MAX; column++) {
		nk_column_statistics statistics;
		NK_TRY(source->ops->statistics(source, column, &statistics, err));
		nk_scan_counters counters = {0};
		nk_scan_request request = {.n_columns = 1,
		                           .columns = &column,
		                           .limit = 100000,
		                           .batch_rows = 1000,
		                           .n_workers = 1,
		                           .memory = memory,
		                           .counters = &counters};
		NK_AUTO(nk_scan) scan = NULL;
		NK_TRY(source->ops->open(source, &request, &scan, err));
		for (bool is_more = true; is_more;) {
			NK_AUTO(nk_batch) batch = NULL;
			if (scan->ops->next(scan, 0, &batch, err) != NK_OK)
				break; /* the other columns may still be read */
			is_more = batch;
			if (batch)
				NK_TRY(nk_batch_validate(batch, err));
		}
	}
	return NK_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/nanuk_fuzz_%d.parquet", (int)getpid());
	FILE *file = fopen(path, "wb");
	if (!file)
		return 0;
	bool is_written = fwrite(bytes, 1, n_bytes, file) == n_bytes;
	fclose(file);
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, 1 << 28);
	nk_error err = {0};
	if (is_written)
		(void)!read_all(memory, path, &err);
	unlink(path);
	return 0;
}
