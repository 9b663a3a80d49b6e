/* Proves of Parquet files: what the sink writes the source reads, for every dtype, codec, page and batch size, sliced
 * and with a row index; every allocation may fail; damaged files give errors or rows, never a crash. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columnar/builder.h"
#include "expect.h"
#include "io/parquet/parquet.h"

enum { N_ROWS = 1000, N_COLUMNS = 18 };

static char path[64];

static const char *const words[] = {"", "short", "exactly12byt", "thirteen byte",
                                    "a rather longer string of bytes"};

static const nk_dtype *dtype_of_column(int column)
{
	static const nk_type_id ids[] = {
		NK_TYPE_BOOLEAN, NK_TYPE_INT8,   NK_TYPE_INT16,  NK_TYPE_INT32,   NK_TYPE_INT64,   NK_TYPE_UINT8,
		NK_TYPE_UINT16,  NK_TYPE_UINT32, NK_TYPE_UINT64, NK_TYPE_FLOAT32, NK_TYPE_FLOAT64, NK_TYPE_STRING,
		NK_TYPE_BINARY,  NK_TYPE_DATE,   NK_TYPE_TIME,   NK_TYPE_DECIMAL, NK_TYPE_DECIMAL, NK_TYPE_DATETIME};
	if (ids[column] == NK_TYPE_DECIMAL)
		return nk_dtype_decimal(column == 15 ? 12 : 30, 2);
	if (ids[column] == NK_TYPE_DATETIME)
		return nk_dtype_datetime(NK_UNIT_US, "UTC");
	return nk_dtype_of(ids[column]);
}

static bool is_null(int column, int64_t i) { return column % 3 != 0 && (i * 7 + column) % 5 == 0; }

static nk_status append_row(nk_builder *builder, int column, int64_t i, nk_error *err)
{
	const nk_dtype *dtype = dtype_of_column(column);
	if (is_null(column, i))
		return nk_builder_append_null(builder, err);
	switch (dtype->id) {
	case NK_TYPE_BOOLEAN: return nk_builder_append_boolean(builder, i % 3 == 0, err);
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: return nk_builder_append_float(builder, (double)i / 4, err);
	case NK_TYPE_STRING:
	case NK_TYPE_BINARY:
		return nk_builder_append_bytes(builder, words[i % 5], (int64_t)strlen(words[i % 5]), err);
	default: return nk_builder_append_integer(builder, i % 100, err);
	}
}

static nk_status make_rows(nk_memory *memory, nk_batch **out, nk_schema **schema, nk_error *err)
{
	char names[N_COLUMNS][16];
	nk_field fields[N_COLUMNS];
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(N_COLUMNS, N_ROWS, &batch, err));
	for (int c = 0; c < N_COLUMNS; c++) {
		snprintf(names[c], sizeof names[c], "c%d", c);
		fields[c] = (nk_field){names[c], dtype_of_column(c)};
		NK_AUTO(nk_builder) builder = NULL;
		NK_TRY(nk_builder_new(memory, fields[c].dtype, &builder, err));
		for (int64_t i = 0; i < N_ROWS; i++)
			NK_TRY(append_row(builder, c, i, err));
		NK_TRY(nk_builder_finish(builder, &batch->columns[c], err));
	}
	NK_TRY(nk_schema_new(fields, N_COLUMNS, schema, err));
	*out = NK_STEAL(batch);
	return NK_OK;
}

static nk_status write_rows(nk_memory *memory, const nk_batch *batch, const nk_schema *schema,
                            const nk_parquet_sink_options *options, nk_error *err)
{
	NK_AUTO(nk_sink) sink = NULL;
	NK_TRY(nk_parquet_sink_new(path, options, &sink, err));
	NK_TRY(sink->ops->open(sink, schema, memory, err));
	NK_TRY(sink->ops->write(sink, batch, err));
	return sink->ops->finish(sink, err);
}

static bool is_row(const nk_array *array, int64_t k, int column, int64_t i)
{
	nk_scalar value = nk_scalar_read(array, k);
	if (value.is_null || is_null(column, i))
		return value.is_null && is_null(column, i);
	switch (array->dtype->id) {
	case NK_TYPE_BOOLEAN: return value.boolean == (i % 3 == 0);
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: return value.floating == (double)i / 4;
	case NK_TYPE_STRING:
	case NK_TYPE_BINARY:
		return value.n_bytes == (int64_t)strlen(words[i % 5]) &&
		       memcmp(value.bytes, words[i % 5], (size_t)value.n_bytes) == 0;
	default: return value.integer == i % 100;
	}
}

/* Read the file; with `checked`, rows from `offset` on must be the ones written. Returns the rows in *n_rows. */
static nk_status read_rows(nk_memory *memory, int64_t batch_rows, int64_t offset, int64_t limit, bool checked,
                           int64_t *n_rows, nk_error *err)
{
	const char *paths[] = {path};
	NK_AUTO(nk_source) source = NULL;
	NK_TRY(nk_parquet_source_new(memory, paths, 1, NULL, &source, err));
	const nk_schema *schema;
	NK_TRY(source->ops->schema(source, &schema, err));
	int columns[64], n_columns = schema->n_fields < 64 ? schema->n_fields : 64;
	for (int c = 0; c < n_columns; c++) {
		columns[c] = c;
		nk_column_statistics statistics;
		NK_TRY(source->ops->statistics(source, c, &statistics, err));
	}
	nk_scan_counters counters = {0};
	nk_scan_request request = {.n_columns = n_columns,
	                           .columns = columns,
	                           .row_index = true,
	                           .row_index_offset = 5,
	                           .offset = offset,
	                           .limit = limit,
	                           .batch_rows = batch_rows,
	                           .n_workers = 1,
	                           .memory = memory,
	                           .counters = &counters};
	NK_AUTO(nk_scan) scan = NULL;
	NK_TRY(source->ops->open(source, &request, &scan, err));
	*n_rows = 0;
	for (;;) {
		NK_AUTO(nk_batch) batch = NULL;
		NK_TRY(scan->ops->next(scan, 0, &batch, err));
		if (!batch)
			return NK_OK;
		NK_TRY(nk_batch_validate(batch, err));
		for (int64_t k = 0; checked && k < batch->n_rows; k++) {
			int64_t i = offset + *n_rows + k;
			EXPECT(((const uint32_t *)batch->columns[n_columns]->values)[k] == i + 5);
			for (int c = 0; c < n_columns; c++)
				EXPECT(batch->columns[c]->dtype == dtype_of_column(c) && is_row(batch->columns[c], k, c, i));
		}
		*n_rows += batch->n_rows;
	}
}

static void what_is_written_is_read(nk_memory *memory, const nk_batch *batch, const nk_schema *schema)
{
	static const int64_t batch_rows[] = {1, 3, 64, 100, 2048};
	for (int codec = 0; codec <= NK_CODEC_LZ4_RAW; codec++)
		for (int plain = 0; plain < 2; plain++)
			for (int64_t page_rows = 7; page_rows < 2000; page_rows = page_rows * 4 + 1) {
				nk_parquet_sink_options options = {codec, 300, page_rows, plain};
				nk_error err = {0};
				EXPECT(write_rows(memory, batch, schema, &options, &err) == NK_OK);
				for (size_t k = 0; k < sizeof batch_rows / sizeof *batch_rows; k++) {
					int64_t n_rows = 0;
					EXPECT(read_rows(memory, batch_rows[k], 0, -1, true, &n_rows, &err) == NK_OK &&
					       n_rows == N_ROWS);
				}
				int64_t n_rows = 0;
				EXPECT(read_rows(memory, 50, 290, 350, true, &n_rows, &err) == NK_OK && n_rows == 350);
				EXPECT(read_rows(memory, 50, 990, 350, true, &n_rows, &err) == NK_OK && n_rows == 10);
				if (err.message[0])
					fprintf(stderr, "%s\n", err.message);
			}
}

static void every_allocation_may_fail(nk_memory *memory)
{
	int64_t n_used = nk_memory_used(memory);
	for (int64_t n = 0; n < 5000; n++) {
		nk_error err = {0};
		int64_t n_rows;
		nk_memory_refuse_after(memory, n);
		nk_status status = read_rows(memory, 200, 0, -1, true, &n_rows, &err);
		nk_memory_refuse_after(memory, -1);
		EXPECT(nk_memory_used(memory) == n_used);
		if (status == NK_OK)
			break;
		EXPECT(status == NK_OUT_OF_MEMORY && err.message[0]);
	}
}

static void put_file(const uint8_t *bytes, int64_t n)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, (size_t)n, file) != (size_t)n)
		EXPECT(false);
	if (file)
		fclose(file);
}

/* Each byte of the footer and each fifth of the rest changed, and every thirteenth cut. */
static void damage_is_survived(nk_memory *memory)
{
	FILE *file = fopen(path, "rb");
	static uint8_t bytes[1 << 20];
	int64_t n = file ? (int64_t)fread(bytes, 1, sizeof bytes, file) : 0, n_rows;
	if (file)
		fclose(file);
	EXPECT(n > 12);
	uint32_t n_footer;
	memcpy(&n_footer, bytes + n - 8, 4);
	for (int64_t i = 0; i<n; i += i> n - n_footer - 8 ? 3 : 11) {
		uint8_t kept = bytes[i];
		bytes[i] ^= (uint8_t)(1 + i % 255);
		put_file(bytes, n);
		nk_error err = {0};
		nk_status status = read_rows(memory, 128, 0, -1, false, &n_rows, &err);
		EXPECT(status == NK_OK || err.message[0]);
		bytes[i] = kept;
	}
	for (int64_t cut = 0; cut < n; cut += 53) {
		put_file(bytes, cut);
		nk_error err = {0};
		EXPECT(read_rows(memory, 128, 0, -1, false, &n_rows, &err) != NK_OK && err.message[0]);
	}
	nk_error err = {0};
	unlink(path);
	EXPECT(read_rows(memory, 128, 0, -1, false, &n_rows, &err) == NK_FILE_NOT_FOUND);
}

int main(void)
{
	snprintf(path, sizeof path, "/tmp/nanuk_io_parquet_test_%d.parquet", (int)getpid());
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, 1 << 30);
	nk_error err = {0};
	{
		NK_AUTO(nk_batch) batch = NULL;
		NK_AUTO(nk_schema) schema = NULL;
		if (make_rows(memory, &batch, &schema, &err) != NK_OK) {
			fprintf(stderr, "%s\n", err.message);
			return 1;
		}
		what_is_written_is_read(memory, batch, schema);
		nk_parquet_sink_options options = {NK_CODEC_SNAPPY, 300, 100, false};
		EXPECT(write_rows(memory, batch, schema, &options, &err) == NK_OK);
		every_allocation_may_fail(memory);
		damage_is_survived(memory);
	}
	EXPECT(nk_memory_used(memory) == 0);
	return expect_report();
}
