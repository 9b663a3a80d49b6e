/* Serialised arrays that lie: deeper than their dtype, longer than their bytes, text that is none. Each is refused,
 * without more memory than the bytes are worth. */
#include "columnar/array_wire.h"
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static nk_memory *memory;

static nk_status read(const nk_text *text, nk_array **out)
{
	nk_wire in = {(const uint8_t *)text->bytes, (const uint8_t *)text->bytes + text->n_bytes};
	return nk_array_from_wire(memory, &in, out, NULL);
}

static void begin(nk_text *text, const char *dtype, nk_physical physical, int n_rows)
{
	nk_wire_put_string(text, dtype);
	nk_wire_put_number(text, physical);
	nk_wire_put_number(text, (uint64_t)n_rows);
	nk_wire_put_bytes(text, "", 0);
}

/* A list in a list in a list, each of which says that its items are integers. */
static void test_depth(void)
{
	NK_TEXT(text);
	for (int i = 0; i < 300000; i++) {
		begin(&text, "List(Int64)", NK_PHYSICAL_LIST, 1);
		nk_wire_put_number(&text, 1);
	}
	nk_array *array;
	EXPECT(read(&text, &array) == NK_COMPUTE);
}

static void test_widths(void)
{
	for (int width = 1; width <= 3; width++) {
		NK_TEXT(text);
		begin(&text, "Array(Int8, 2)", NK_PHYSICAL_LIST, 1);
		nk_wire_put_number(&text, (uint64_t)width);
		begin(&text, "Int8", NK_PHYSICAL_I8, width);
		nk_wire_put_bytes(&text, "abc", width);
		nk_array *array = NULL;
		EXPECT(read(&text, &array) == (width == 2 ? NK_OK : NK_COMPUTE));
		nk_array_unref(array);
	}
}

static void test_text(void)
{
	static const struct {
		const char *dtype, *bytes;
		nk_status status;
	} cases[] = {
		{"String", "a text of more than twelve bytes \xc3\xa9", NK_OK},
		{"String", "\xc3", NK_COMPUTE},
		{"String", "more than twelve bytes, then a stray \x80", NK_COMPUTE},
		{"String", "\xed\xa0\x80", NK_COMPUTE},
		{"Binary", "\xc3\x28", NK_OK},
	};
	for (int i = 0; i < NK_COUNT(cases); i++) {
		NK_TEXT(text);
		begin(&text, cases[i].dtype, NK_PHYSICAL_VIEW, 1);
		nk_wire_put_bytes(&text, cases[i].bytes, (int64_t)strlen(cases[i].bytes));
		nk_array *array = NULL;
		EXPECT(read(&text, &array) == cases[i].status);
		if (array)
			EXPECT(nk_array_validate(array, NULL) == NK_OK);
		nk_array_unref(array);
	}
}

/* Counts that the bytes cannot hold, and many columns of text before a long rest. */
static void test_counts(void)
{
	NK_TEXT(longer);
	begin(&longer, "Int8", NK_PHYSICAL_I8, INT32_MAX);
	nk_array *array;
	EXPECT(read(&longer, &array) == NK_COMPUTE);

	enum { N_COLUMNS = 200, N_REST = 1 << 20 };
	NK_AUTO(nk_memory) limited = nk_memory_new(memory, 8 << 20);
	NK_TEXT(text);
	nk_wire_put_number(&text, 1);
	nk_wire_put_number(&text, N_COLUMNS);
	for (int c = 0; c < N_COLUMNS; c++) {
		char name[16];
		snprintf(name, sizeof name, "c%d", c);
		nk_wire_put_string(&text, name);
		nk_wire_put_number(&text, 0);
		begin(&text, "String", NK_PHYSICAL_VIEW, 1);
		nk_wire_put_bytes(&text, "a text of its own heap", 22);
	}
	char *rest = calloc(1, N_REST);
	nk_text_append(&text, rest, N_REST);
	free(rest);
	nk_wire in = {(const uint8_t *)text.bytes, (const uint8_t *)text.bytes + text.n_bytes};
	nk_frame *frame = NULL;
	EXPECT(nk_frame_from_wire(limited, &in, &frame, NULL) == NK_OK);
	nk_frame_unref(frame);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	test_depth();
	test_widths();
	test_text();
	test_counts();
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
