/* JSON: the first byte chooses options, the rest is the file, read as lines and as a document. Ways of cutting lines into
 * batches give the same answer, or the same refusal. What was read is written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute/json_write.h"
#include "io/json/json.h"
#include "replay.h"

/* Rows and a sum over their text as JSON; -1 rows: refused. */
typedef struct answer {
	int64_t n_rows;
	uint64_t sum;
} answer;

static void add_rows(answer *to, nk_json_text **how, const nk_batch *batch)
{
	for (int64_t row = 0; row < batch->n_rows; row++)
		for (int i = 0; i < batch->n_columns; i++) {
			NK_TEXT(text);
			nk_json_put(how[i], batch->columns[i], row, &text);
			for (int64_t k = 0; k < text.n_bytes; k++)
				to->sum = (to->sum ^ (uint8_t)text.bytes[k]) * 0x9e3779b97f4a7c15 + 1;
		}
	to->n_rows += batch->n_rows;
}

static answer read_lines(nk_memory *memory, const char *path, const nk_scan_json_options *options,
                         int64_t batch_rows)
{
	answer refused = {-1, 0}, result = {0};
	NK_AUTO(nk_source) source = NULL;
	const nk_schema *schema;
	if (nk_json_source_new(memory, &path, 1, options, &source, NULL) != NK_OK ||
	    source->ops->schema(source, &schema, NULL) != NK_OK)
		return refused;
	int *columns = calloc((size_t)schema->n_fields + 1, sizeof *columns);
	nk_json_text **how = calloc((size_t)schema->n_fields + 1, sizeof *how);
	for (int i = 0; i < schema->n_fields; i++) {
		columns[i] = i;
		if (nk_json_text_new(schema->fields[i].dtype, &how[i], NULL) != NK_OK)
			abort();
	}
	nk_scan_counters counters = {0};
	nk_scan_request request = {.n_columns = schema->n_fields,
	                           .columns = columns,
	                           .limit = -1,
	                           .batch_rows = batch_rows,
	                           .n_workers = 1,
	                           .memory = memory,
	                           .counters = &counters};
	nk_scan *scan = NULL;
	nk_status status = source->ops->open(source, &request, &scan, NULL);
	nk_batch *batch = NULL;
	while (status == NK_OK && (status = scan->ops->next(scan, 0, &batch, NULL)) == NK_OK && batch) {
		if (nk_batch_validate(batch, NULL) != NK_OK)
			abort();
		add_rows(&result, how, batch);
		nk_batch_free(batch);
	}
	if (scan)
		scan->ops->free(scan);
	for (int i = 0; i < schema->n_fields; i++)
		nk_json_text_free(how[i]);
	free(how);
	free(columns);
	return status == NK_OK ? result : refused;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	if (n_bytes < 1)
		return 0;
	char path[] = "/tmp/json_fuzz_XXXXXX";
	int file = mkstemp(path);
	if (file < 0 || write(file, bytes + 1, n_bytes - 1) != (ssize_t)n_bytes - 1)
		abort();
	close(file);
	nk_memory *memory = nk_memory_new(NULL, (int64_t)1 << 30);
	static const char *const names[] = {"a", "b"}, *const dtypes[] = {"Int8", "List(Struct{\"x\": String})"};
	nk_scan_json_options options = NK_OPTIONS(nk_scan_json_options);
	options.ignore_errors = bytes[0] & 1;
	options.infer_rows = bytes[0] & 2 ? -1 : 1;
	if (bytes[0] & 4) {
		options.schema_names = names;
		options.schema_dtypes = dtypes;
		options.n_schema = 2;
	}
	answer want = read_lines(memory, path, &options, 8192), got = read_lines(memory, path, &options, 2);
	if (want.n_rows != got.n_rows || (want.n_rows >= 0 && want.sum != got.sum))
		abort();
	nk_frame *frame = NULL;
	if (nk_json_read_document(memory, path, &options, &frame, NULL) == NK_OK)
		nk_frame_unref(frame);
	unlink(path);
	nk_memory_unref(memory);
	return 0;
}
