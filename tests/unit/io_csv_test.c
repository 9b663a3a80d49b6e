/* CSV below queries: numbers against the C library at every length, text at every place of a chunk, truncated files,
 * refused allocations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "io/csv/csv.h"
#include "io/csv/kernels.h"

static char path[] = "/tmp/io_csv_test_XXXXXX";

static void write_file(const char *text, size_t n)
{
	FILE *file = fopen(path, "wb");
	EXPECT(file && fwrite(text, 1, n, file) == n && fclose(file) == 0);
}

/* All rows of the first column; NULL when refused. */
static nk_array *read_first(nk_memory *memory, const nk_scan_csv_options *options, int64_t batch_rows,
                            nk_status *status)
{
	const char *one = path;
	const nk_schema *schema;
	nk_array *parts[4096], *all = NULL;
	int n_parts = 0, column = 0;
	NK_AUTO(nk_source) source = NULL;
	*status = nk_csv_source_new(memory, &one, 1, options, &source, NULL);
	if (*status == NK_OK)
		*status = source->ops->schema(source, &schema, NULL);
	if (*status != NK_OK)
		return NULL;
	nk_scan_counters counters = {0};
	nk_scan_request request = {.n_columns = 1,
	                           .columns = &column,
	                           .limit = -1,
	                           .batch_rows = batch_rows,
	                           .n_workers = 1,
	                           .memory = memory,
	                           .counters = &counters};
	NK_AUTO(nk_scan) scan = NULL;
	*status = source->ops->open(source, &request, &scan, NULL);
	nk_batch *batch = NULL;
	while (*status == NK_OK && (*status = scan->ops->next(scan, 0, &batch, NULL)) == NK_OK && batch &&
	       n_parts < 4096) {
		parts[n_parts++] = nk_array_ref(batch->columns[0]);
		nk_batch_free(batch);
	}
	if (*status == NK_OK && n_parts > 0)
		*status = nk_array_concat(memory, parts, n_parts, &all, NULL);
	for (int i = 0; i < n_parts; i++)
		nk_array_unref(parts[i]);
	return all;
}

static uint64_t state = 88172645463325252u;
static uint64_t random_word(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Floats of all shapes read as the C library reads them. */
static void test_floats(nk_memory *memory)
{
	enum { N = 4000 };
	char *text = malloc(N * 64), *at = text + sprintf(text, "x\n");
	double *want = malloc(N * sizeof *want);
	for (int i = 0; i < N; i++) {
		char field[64];
		uint64_t bits = random_word();
		double value;
		memcpy(&value, &bits, 8);
		if (i % 2 == 0 || !__builtin_isfinite(value))
			value = (double)(int64_t)(random_word() % 2000000000) / 1000.0 - 1000000;
		switch (i % 4) {
		case 0: sprintf(field, "%.*f", (int)(random_word() % 12), value); break;
		case 1: sprintf(field, "%.17g", value); break;
		case 2: sprintf(field, "%.*f", (int)(random_word() % 4), value / 1000); break;
		default: sprintf(field, "%.*e", (int)(random_word() % 20), value); break;
		}
		want[i] = strtod(field, NULL);
		at += sprintf(at, "%s\n", field);
	}
	write_file(text, (size_t)(at - text));
	nk_scan_csv_options options = NK_OPTIONS(nk_scan_csv_options);
	const char *name = "x", *dtype = "Float64";
	options.schema_names = &name;
	options.schema_dtypes = &dtype;
	options.n_schema = 1;
	nk_status status;
	nk_array *got = read_first(memory, &options, 8192, &status);
	EXPECT(got && got->n_rows == N);
	EXPECT(got && memcmp(got->values, want, N * sizeof *want) == 0);
	nk_array_unref(got);
	free(text);
	free(want);
}

/* A quoted field with a line end in it, moved byte by byte over the borders of blocks and chunks. */
static void test_borders(nk_memory *memory)
{
	char text[1024];
	for (int n_before = 0; n_before < 200; n_before++) {
		int n = sprintf(text, "a,b\n");
		memset(text + n, 'x', (size_t)n_before);
		n += n_before;
		n += sprintf(text + n, ",1\n\"q\n,\"\"y\",2\nlast one of all,3");
		write_file(text, (size_t)n);
		for (int64_t batch_rows = 1; batch_rows <= 3; batch_rows++) {
			nk_status status;
			nk_array *got = read_first(memory, NULL, batch_rows, &status);
			EXPECT(got && got->n_rows == 3);
			if (!got)
				continue;
			nk_scalar first = nk_scalar_read(got, 0), second = nk_scalar_read(got, 1),
					  third = nk_scalar_read(got, 2);
			EXPECT(n_before == 0 ? first.is_null : first.n_bytes == n_before);
			EXPECT(second.n_bytes == 5 && memcmp(second.bytes, "q\n,\"y", 5) == 0);
			EXPECT(third.n_bytes == 15);
			nk_array_unref(got);
		}
	}
}

static void test_utf8(void)
{
	static const char *const good[] = {
		"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80",
	                                  "\xc3",
	                                  "\xc0\x80",
	                                  "\xe2\x82",
	                                  "\xed\xa0\x80",
	                                  "\xf4\x90\x80\x80",
	                                  "\xf0\x8f\xbf\xbf",
	                                  "\xff",
	                                  "\xe0\x9f\xbf",
	                                  "\xf8\x88\x80\x80\x80",
	                                  "\xc3\xa9\xa9"};
	const nk_csv_loops *loops = NK_ISA_TABLE(nk__csv_loops);
	uint8_t text[160];
	for (int at = 0; at < 100; at++) {
		for (size_t i = 0; i < sizeof good / sizeof *good; i++)
			for (int behind = 0; behind < 40; behind += 13) {
				memset(text, 'a', sizeof text);
				memcpy(text + at, good[i], strlen(good[i]));
				EXPECT(loops->is_utf8(text, at + (int64_t)strlen(good[i]) + behind));
			}
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
			for (int behind = 0; behind < 40; behind += 13) {
				memset(text, 'a', sizeof text);
				memcpy(text + at, bad[i], strlen(bad[i]));
				EXPECT(!loops->is_utf8(text, at + (int64_t)strlen(bad[i]) + behind));
			}
	}
}

/* Whatever allocation is refused, it is an error and nothing is lost. */
static void test_refusals(void)
{
	static const char text[] = "a,b\n\"longer than \"\"twelve\"\"\",1\n,2\nshort,x\n\"y\nz\",4\n";
	write_file(text, sizeof text - 1);
	for (int64_t n = 0; n < 1000; n++) {
		nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
		nk_memory_refuse_after(memory, n);
		nk_status status;
		nk_array *got = read_first(memory, NULL, 2, &status);
		EXPECT(status == NK_OK || status == NK_OUT_OF_MEMORY);
		nk_array_unref(got);
		EXPECT(nk_memory_used(memory) == 0);
		nk_memory_unref(memory);
		if (status == NK_OK)
			return;
	}
	EXPECT(!"ends");
}

/* A compressed file cut anywhere is an error; a plain one is read or refused. */
static void test_truncation(nk_memory *memory)
{
	static const char text[] = "a,b\n\"q\"\"\nq\",1\nx,\"2\"\n";
	for (size_t n = 0; n < sizeof text; n++) {
		write_file(text, n);
		nk_status status;
		nk_array_unref(read_first(memory, NULL, 8192, &status));
		EXPECT(status == NK_OK || status == NK_COMPUTE || status == NK_NO_DATA);
	}
}

int main(void)
{
	int file = mkstemp(path);
	EXPECT(file >= 0);
	close(file);
	nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
	test_floats(memory);
	test_borders(memory);
	test_utf8();
	test_refusals();
	test_truncation(memory);
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	unlink(path);
	return expect_report();
}
