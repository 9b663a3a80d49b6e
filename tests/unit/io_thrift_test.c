/* Proves of the compact protocol: what is written is read; unknown fields of every type are skipped; every cut and
 * hostile nesting ends in failure without a read beyond the input. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "io/parquet/encode.h"
#include "io/parquet/thrift.h"

static void write_example(nk_text *out)
{
	int last = 0, inner = 0;
	nk__thrift_put_integer(out, &last, 1, NK_THRIFT_I32, -77);
	nk__thrift_put_boolean(out, &last, 2, true);
	nk__thrift_put_bytes(out, &last, 3, "hello", 5);
	nk__thrift_put_struct(out, &last, 40);
	nk__thrift_put_integer(out, &inner, 9, NK_THRIFT_I64, INT64_MIN);
	nk__thrift_put_integer(out, &inner, 10, NK_THRIFT_I8, -3);
	nk__thrift_put_stop(out);
	nk__thrift_put_list(out, &last, 41, NK_THRIFT_BINARY, 20);
	for (int i = 0; i < 20; i++)
		nk__thrift_put_string(out, "abc", i % 4);
	nk__thrift_put_list(out, &last, 42, NK_THRIFT_TRUE, 3);
	nk_text_append(out, "\1\2\1", 3);
	nk__thrift_put_integer(out, &last, 43, NK_THRIFT_I64, 1);
	nk__thrift_put_stop(out);
}

static void what_is_written_is_read(const nk_text *text)
{
	nk_thrift thrift = {(const uint8_t *)text->bytes, (const uint8_t *)text->bytes + text->n_bytes, false};
	int n_fields = 0;
	for (nk_thrift_field field = {0}; nk__thrift_next(&thrift, &field); n_fields++) {
		switch (field.id) {
		case 1: EXPECT(nk__thrift_integer(&thrift, field) == -77); break;
		case 2: EXPECT(nk__thrift_boolean(&thrift, field)); break;
		case 3: {
			nk_bytes bytes = nk__thrift_bytes(&thrift, field);
			EXPECT(bytes.n_bytes == 5 && memcmp(bytes.bytes, "hello", 5) == 0);
			break;
		}
		case 41: {
			uint8_t element;
			int64_t n = nk__thrift_list(&thrift, field, &element);
			EXPECT(n == 20 && element == NK_THRIFT_BINARY);
			for (int64_t i = 0; i < n; i++)
				EXPECT(nk__thrift_bytes(&thrift, (nk_thrift_field){0, element}).n_bytes == i % 4);
			break;
		}
		default: nk__thrift_skip(&thrift, field.type);
		}
	}
	EXPECT(!thrift.failed && n_fields == 7 && thrift.at == thrift.end);
}

static bool skip_all(const uint8_t *bytes, int64_t n)
{
	uint8_t *exact = malloc((size_t)n + !n);
	memcpy(exact, bytes, (size_t)n);
	nk_thrift thrift = {exact, exact + n, false};
	for (nk_thrift_field field = {0}; nk__thrift_next(&thrift, &field);)
		nk__thrift_skip(&thrift, field.type);
	free(exact);
	return !thrift.failed;
}

int main(void)
{
	NK_TEXT(text);
	write_example(&text);
	EXPECT(nk_text_finish(&text, NULL) == NK_OK);
	what_is_written_is_read(&text);
	const uint8_t *bytes = (const uint8_t *)text.bytes;
	EXPECT(skip_all(bytes, text.n_bytes));
	for (int64_t cut = 0; cut < text.n_bytes; cut++)
		EXPECT(!skip_all(bytes, cut));
	/* lists of lists of lists..., structs in structs..., and a count beyond the input */
	uint8_t deep[4000];
	memset(deep, 0x19, sizeof deep);
	EXPECT(!skip_all(deep, sizeof deep));
	memset(deep, 0x1c, sizeof deep);
	EXPECT(!skip_all(deep, sizeof deep));
	EXPECT(!skip_all((const uint8_t *)"\x19\xf8\xff\xff\xff\xff\x07", 7));
	return expect_report();
}
