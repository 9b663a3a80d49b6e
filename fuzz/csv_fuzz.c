/* CSV: the first bytes choose options, the rest is the file. Every instruction level and every way of cutting it into batches
 * gives the same answer, or the same refusal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/csv/csv.h"
#include "io/csv/kernels.h"
#include "replay.h"

/* Rows and a sum over all that was read; -1 rows: refused. */
typedef struct answer {
	int64_t n_rows;
	uint64_t sum;
} answer;

static uint64_t mix(uint64_t sum, uint64_t value) { return (sum ^ value) * 0x9e3779b97f4a7c15 + 1; }

static uint64_t sum_row(uint64_t sum, const nk_array *array, int64_t row)
{
	nk_scalar value = nk_scalar_read(array, row);
	if (value.is_null)
		return mix(sum, 1);
	if (value.dtype->id == NK_TYPE_STRING) {
		for (int64_t i = 0; i < value.n_bytes; i++)
			sum = mix(sum, (uint8_t)value.bytes[i]);
		return mix(sum, (uint64_t)value.n_bytes);
	}
	uint64_t bits = 0;
	if (value.dtype->id == NK_TYPE_BOOLEAN)
		bits = value.boolean;
	else if (nk_type_is_float(value.dtype->id))
		memcpy(&bits, &value.floating, 8);
	else
		bits = (uint64_t)value.integer;
	return mix(sum, bits);
}

static answer read_all(nk_memory *memory, const char *path, const nk_scan_csv_options *options,
                       int64_t batch_rows)
{
	answer refused = {-1, 0}, result = {0};
	NK_AUTO(nk_source) source = NULL;
	const nk_schema *schema;
	if (nk_csv_source_new(memory, &path, 1, options, &source, NULL) != NK_OK ||
	    source->ops->schema(source, &schema, NULL) != NK_OK)
		return refused;
	int *columns = malloc(((size_t)schema->n_fields + 1) * sizeof *columns);
	for (int i = 0; i < schema->n_fields; i++)
		columns[i] = i;
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
		for (int64_t row = 0; row < batch->n_rows; row++)
			for (int i = 0; i < schema->n_fields; i++)
				result.sum = sum_row(result.sum, batch->columns[i], row);
		result.n_rows += batch->n_rows;
		nk_batch_free(batch);
	}
	if (scan)
		scan->ops->free(scan);
	free(columns);
	return status == NK_OK ? result : refused;
}

/* What every level finds in the text alike. */
static void compare_levels(const uint8_t *text, int64_t n)
{
#if defined(__x86_64__)
	enum { FRONT = 16, BACK = 64 };
	const nk_csv_loops *levels[] = {&nk__csv_loops_baseline,
	                                nk_cpu_isa() >= NK_ISA_V3 ? &nk__csv_loops_v3 : &nk__csv_loops_baseline,
	                                nk_cpu_isa() >= NK_ISA_V4 ? &nk__csv_loops_v4 : &nk__csv_loops_baseline};
	nk_csv_marks marks = {',', '\n', '"', true};
	uint8_t *padded = calloc(1, (size_t)n + FRONT + BACK);
	memcpy(padded + FRONT, text, (size_t)n);
	uint32_t *ends[3];
	nk_csv_index found[3] = {{0}};
	nk_csv_summary sums[3];
	for (int i = 0; i < 3; i++) {
		ends[i] = calloc((size_t)n + 32, sizeof **ends);
		levels[i]->index(padded + FRONT, n, &marks, ends[i], &found[i]);
		levels[i]->summarise(text, n, &marks, &sums[i]);
		if (found[i].n_marks != found[0].n_marks || found[i].n_eols != found[0].n_eols ||
		    found[i].is_irregular != found[0].is_irregular || found[i].is_open != found[0].is_open ||
		    found[i].has_high != found[0].has_high ||
		    memcmp(ends[i], ends[0], (size_t)found[0].n_marks * sizeof **ends) != 0 ||
		    sums[i].n_eols[0] != sums[0].n_eols[0] || sums[i].n_eols[1] != sums[0].n_eols[1] ||
		    sums[i].last_eol[0] != sums[0].last_eol[0] || sums[i].last_eol[1] != sums[0].last_eol[1] ||
		    sums[i].n_eols[0] != found[i].n_eols ||
		    levels[i]->is_utf8(text, n) != levels[0]->is_utf8(text, n))
			abort();
	}
	for (int i = 0; i < 3; i++)
		free(ends[i]);
	free(padded);
#else
	(void)text;
	(void)n;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	if (n_bytes < 2)
		return 0;
	compare_levels(bytes + 2, (int64_t)n_bytes - 2);
	char path[] = "/tmp/csv_fuzz_XXXXXX";
	int file = mkstemp(path);
	if (file < 0 || write(file, bytes + 2, n_bytes - 2) != (ssize_t)n_bytes - 2)
		abort();
	close(file);
	nk_memory *memory = nk_memory_new(NULL, (int64_t)1 << 30);
	nk_scan_csv_options options = NK_OPTIONS(nk_scan_csv_options);
	uint8_t flags = bytes[0], more = bytes[1];
	const char *null_value = "1";
	options.no_header = flags & 1;
	options.separator = flags & 2 ? ";" : NULL;
	options.quote_char = flags & 4 ? "" : NULL;
	options.comment_prefix = flags & 8 ? "#" : NULL;
	options.try_parse_dates = flags & 16;
	options.ignore_errors = flags & 32;
	options.lossy = flags & 64;
	options.truncate_ragged_lines = flags & 128;
	options.decimal_comma = more & 1;
	options.keep_empty_strings = more & 2;
	options.allow_empty = more & 4;
	options.skip_rows = more >> 3 & 1;
	options.skip_rows_after_header = more >> 4 & 1;
	options.infer_rows = more & 32 ? -1 : more & 64 ? 1 : 0;
	options.null_values = &null_value;
	options.n_null_values = more >> 7;
	answer want = read_all(memory, path, &options, 8192), got = read_all(memory, path, &options, 2);
	/* which of several faults is met first, and whether dates of two orders are, may depend on batches; answers may not */
	if (!options.ignore_errors && (want.n_rows != got.n_rows || want.sum != got.sum))
		abort();
	unlink(path);
	nk_memory_unref(memory);
	return 0;
}
