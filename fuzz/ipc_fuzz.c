/* Arrow IPC: the first byte says whether the rest is a file or a stream. All rows of all columns. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/ipc/ipc.h"
#include "replay.h"

static nk_status read_all(nk_memory *memory, const char *path, bool is_stream, nk_error *err)
{
	enum { COLUMNS_MAX = 64 };
	nk_scan_ipc_options options = NK_OPTIONS(nk_scan_ipc_options);
	options.is_stream = is_stream;
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_ipc_source_new(memory, &path, 1, &options, &source, err));
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
			if (batch && nk_batch_validate(batch, err) != NK_OK)
				abort();
		}
	}
	return NK_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	if (n_bytes < 1)
		return 0;
	char path[] = "/tmp/ipc_fuzz_XXXXXX";
	int file = mkstemp(path);
	if (file < 0 || write(file, bytes + 1, n_bytes - 1) != (ssize_t)n_bytes - 1)
		abort();
	close(file);
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, 1 << 28);
	nk_error err = {0};
	(void)!read_all(memory, path, bytes[0] & 1, &err);
	unlink(path);
	return 0;
}
