/* Proves of Arrow exchange: whatever goes out as a stream comes back equal, foreign layouts (32-bit offsets,
 * dictionaries, offsets into parents, narrow and wide decimals, seconds) arrive as the same values, broken input is
 * an error, and every allocation may fail without a leak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/arrow.h"
#include "columnar/builder.h"
#include "columnar/categories.h"
#include "expect.h"

/* ---- Foreign arrays that live on the stack; n_released counts their release calls ---- */

static int n_released;

static void release_array(struct ArrowArray *array)
{
	n_released++;
	array->release = NULL;
}

static struct ArrowSchema schema_of(const char *format)
{
	return (struct ArrowSchema){.format = format, .name = "x", .flags = ARROW_FLAG_NULLABLE};
}

static nk_status import(nk_memory *memory, const char *format, int64_t length, int64_t offset,
                        int64_t n_nulls, const void **buffers, int64_t n_buffers, nk_array **out,
                        nk_error *err)
{
	struct ArrowSchema schema = schema_of(format);
	struct ArrowArray array = {.length = length,
	                           .null_count = n_nulls,
	                           .offset = offset,
	                           .n_buffers = n_buffers,
	                           .buffers = buffers,
	                           .release = release_array};
	nk_status status = nk_array_from_arrow(memory, &array, &schema, out, err);
	EXPECT(array.release == NULL);
	if (status == NK_OK)
		status = nk_array_validate(*out, err);
	return status;
}

static bool is_text(const nk_array *array, int64_t row, const char *text)
{
	nk_scalar scalar = nk_scalar_read(array, row);
	if (!scalar.is_null && nk_type_is_category(array->dtype->id))
		scalar.bytes =
			nk_categories_text(array->dtype->categories, (uint64_t)scalar.integer, &scalar.n_bytes);
	return !scalar.is_null && scalar.n_bytes == (int64_t)strlen(text) &&
	       memcmp(scalar.bytes, text, (size_t)scalar.n_bytes) == 0;
}

static bool is_integer(const nk_array *array, int64_t row, int64_t value)
{
	nk_scalar scalar = nk_scalar_read(array, row);
	return !scalar.is_null && scalar.integer == value;
}

static nk_status foreign_strings(nk_memory *memory, nk_error *err)
{
	static const uint8_t validity[] = {0x1b}; /* 1 1 0 1 1 */
	static const char bytes[] = "shorta string of some lengthzzz";
	static const int32_t narrow[] = {0, 5, 28, 28, 28, 31};
	static const int64_t wide[] = {0, 5, 28, 28, 28, 31};
	NK_AUTO(nk_array) a = NULL;
	NK_AUTO(nk_array) b = NULL;
	NK_AUTO(nk_array) c = NULL;
	NK_TRY(import(memory, "u", 5, 0, 1, (const void *[]){validity, narrow, bytes}, 3, &a, err));
	NK_TRY(import(memory, "Z", 4, 1, -1, (const void *[]){validity, wide, bytes}, 3, &b, err));
	NK_TRY(import(memory, "u", 0, 0, 0, (const void *[]){NULL, NULL, NULL}, 3, &c, err));
	EXPECT(is_text(a, 0, "short") && is_text(a, 1, "a string of some length") && is_text(a, 4, "zzz"));
	EXPECT(!nk_array_is_valid(a, 2) && a->n_nulls == 1 && is_text(a, 3, ""));
	EXPECT(is_text(b, 0, "a string of some length") && !nk_array_is_valid(b, 1) && is_text(b, 3, "zzz"));
	EXPECT(c->n_rows == 0);
	static const int32_t backwards[] = {0, 5, 3, 28, 28, 31};
	NK_AUTO(nk_array) wrong = NULL;
	nk_status status =
		import(memory, "u", 5, 0, 1, (const void *[]){validity, backwards, bytes}, 3, &wrong, err);
	return status == NK_COMPUTE ? NK_OK : status == NK_OK ? NK_VALUE : status;
}

static nk_status foreign_views(nk_memory *memory, nk_error *err)
{
	static const char bytes[] = "a string of some length";
	static const int64_t n_bytes[] = {23};
	static const uint8_t validity[] = {5};
	nk_view views[3];
	memset(views, 0xee, sizeof views); /* junk under null and behind short strings */
	views[0] = nk_view_make(bytes, 23, 0, 0);
	views[2].n_bytes = 2;
	memcpy(views[2].inlined, "hi", 2);
	NK_AUTO(nk_array) a = NULL;
	NK_AUTO(nk_array) wrong = NULL;
	NK_TRY(import(memory, "vu", 3, 0, 1, (const void *[]){validity, views, bytes, n_bytes}, 4, &a, err));
	EXPECT(is_text(a, 0, bytes) && !nk_array_is_valid(a, 1) && is_text(a, 2, "hi"));
	views[0].offset = 1;
	nk_status status =
		import(memory, "vu", 3, 0, 1, (const void *[]){validity, views, bytes, n_bytes}, 4, &wrong, err);
	return status == NK_COMPUTE ? NK_OK : status == NK_OK ? NK_VALUE : status;
}

static nk_status foreign_numbers(nk_memory *memory, nk_error *err)
{
	static const uint8_t validity[] = {0xfd};
	static const int32_t small[] = {-3, 77, 12};
	static const int64_t seconds[] = {1, INT64_MAX, -2};
	static const __int128 wide[] = {5, 6, -((__int128)1 << 100)};
	static const int64_t widest[] = {-1, -1, -1, -1, 0, 0, 0, 1, 9, 0, 0, 0};
	NK_AUTO(nk_array) a = NULL;
	NK_AUTO(nk_array) b = NULL;
	NK_AUTO(nk_array) c = NULL;
	NK_AUTO(nk_array) d = NULL;
	NK_AUTO(nk_array) e = NULL;
	NK_AUTO(nk_array) f = NULL;
	NK_TRY(import(memory, "d:9,2,32", 3, 0, 1, (const void *[]){validity, small}, 2, &a, err));
	EXPECT(is_integer(a, 0, -3) && is_integer(a, 2, 12) && a->dtype == nk_dtype_decimal(9, 2));
	NK_TRY(import(memory, "tss:UTC", 3, 0, 1, (const void *[]){validity, seconds}, 2, &b, err));
	EXPECT(is_integer(b, 0, 1000) && is_integer(b, 2, -2000) &&
	       b->dtype == nk_dtype_datetime(NK_UNIT_MS, "UTC"));
	NK_TRY(import(memory, "d:38,2", 2, 0, 0, (const void *[]){NULL, wide}, 2, &c, err));
	EXPECT(c->physical == NK_PHYSICAL_I64 && is_integer(c, 1, 6));
	NK_TRY(import(memory, "d:38,2", 2, 1, 0, (const void *[]){NULL, wide}, 2, &d, err));
	EXPECT(d->physical == NK_PHYSICAL_I128 && nk_scalar_read(d, 1).integer == wide[2]);
	NK_TRY(import(memory, "d:50,0,256", 3, 0, 1, (const void *[]){validity, widest}, 2, &e, err));
	EXPECT(is_integer(e, 0, -1) && !nk_array_is_valid(e, 1) && is_integer(e, 2, 9));
	NK_TRY(import(memory, "b", 3, 3, 0, (const void *[]){NULL, (const uint8_t[]){0x28}}, 2, &f, err));
	EXPECT(nk_scalar_read(f, 0).boolean && !nk_scalar_read(f, 1).boolean && nk_scalar_read(f, 2).boolean);
	NK_AUTO(nk_array) wrong = NULL;
	nk_status status = import(memory, "tss:", 3, 0, 0, (const void *[]){NULL, seconds}, 2, &wrong, err);
	return status == NK_OVERFLOW ? NK_OK : status == NK_OK ? NK_VALUE : status;
}

static nk_status foreign_nested(nk_memory *memory, nk_error *err)
{
	/* A struct at offset 1 of a dictionary of strings and a list. */
	static const int32_t text_offsets[] = {0, 3, 6}, list_offsets[] = {0, 2, 2, 3, 4};
	static const int8_t codes[] = {0, 1, 9, 0};
	static const uint8_t validity[] = {0x0b};
	static const int16_t items[] = {1, 2, 3, 4};
	struct ArrowArray entries = {
		.length = 2, .n_buffers = 3, .buffers = (const void *[]){NULL, text_offsets, "onetwo"}};
	struct ArrowArray item = {.length = 4, .n_buffers = 2, .buffers = (const void *[]){NULL, items}};
	struct ArrowArray fields[] = {{.length = 4,
	                               .null_count = 1,
	                               .n_buffers = 2,
	                               .buffers = (const void *[]){validity, codes},
	                               .dictionary = &entries},
	                              {.length = 4,
	                               .n_buffers = 2,
	                               .buffers = (const void *[]){NULL, list_offsets},
	                               .n_children = 1,
	                               .children = (struct ArrowArray *[]){&item}}};
	struct ArrowArray array = {.length = 3,
	                           .offset = 1,
	                           .n_buffers = 1,
	                           .buffers = (const void *[]){NULL},
	                           .n_children = 2,
	                           .children = (struct ArrowArray *[]){&fields[0], &fields[1]},
	                           .release = release_array};
	struct ArrowSchema text = schema_of("u"), item_schema = schema_of("s"), dictionary = schema_of("c"),
					   list = schema_of("+l"), schema = schema_of("+s");
	dictionary.dictionary = &text;
	list.n_children = 1;
	list.children = (struct ArrowSchema *[]){&item_schema};
	schema.n_children = 2;
	schema.children = (struct ArrowSchema *[]){&dictionary, &list};
	NK_AUTO(nk_array) a = NULL;
	NK_TRY(nk_array_from_arrow(memory, &array, &schema, &a, err));
	NK_TRY(nk_array_validate(a, err));
	EXPECT(a->n_rows == 3 && is_text(a->children[0], 0, "two") && !nk_array_is_valid(a->children[0], 1));
	EXPECT(is_text(a->children[0], 2, "one"));
	const int64_t *offsets = a->children[1]->values;
	EXPECT(offsets[0] == 2 && offsets[1] == 2 && offsets[3] == 4 &&
	       is_integer(a->children[1]->children[0], 3, 4));
	return NK_OK;
}

/* ---- There and back ---- */

static nk_status append_row(nk_builder *builder, const nk_dtype *dtype, int64_t i, nk_error *err)
{
	char text[40];
	if (i % 5 == 2 || dtype->id == NK_TYPE_NULL)
		return nk_builder_append_null(builder, err);
	switch (dtype->physical) {
	case NK_PHYSICAL_BOOL: return nk_builder_append_boolean(builder, i & 1, err);
	case NK_PHYSICAL_F64: return nk_builder_append_float(builder, (double)i / 8, err);
	case NK_PHYSICAL_VIEW:
		return nk_builder_append_bytes(
			builder, text,
			snprintf(text, sizeof text, "%lld%s", (long long)i, i & 1 ? " and so on and on" : ""), err);
	case NK_PHYSICAL_LIST:
	case NK_PHYSICAL_STRUCT:
		for (int64_t k = 0; k < (dtype->physical == NK_PHYSICAL_LIST ? i % 3 : dtype->n_fields); k++) {
			int f = dtype->physical == NK_PHYSICAL_LIST ? 0 : (int)k;
			NK_TRY(append_row(nk_builder_child(builder, f), dtype->fields[f].dtype, i + k, err));
		}
		return nk_builder_append_nested(builder, err);
	default: return nk_builder_append_integer(builder, i, err);
	}
}

static nk_status column(nk_memory *memory, const nk_dtype *dtype, int64_t cut, nk_column **out, nk_error *err)
{
	nk_array *chunks[2] = {0};
	nk_status status = NK_OK;
	for (int c = 0; c < 2 && status == NK_OK; c++) {
		NK_AUTO(nk_builder) builder = NULL;
		status = nk_builder_new(memory, dtype, &builder, err);
		for (int64_t i = c ? cut : 0; status == NK_OK && i < (c ? 60 : cut); i++)
			status = append_row(builder, dtype, i, err);
		if (status == NK_OK)
			status = nk_builder_finish(builder, &chunks[c], err);
	}
	if (status == NK_OK)
		status = nk_column_new(memory, chunks, 2, out, err);
	nk_array_unref(chunks[0]);
	nk_array_unref(chunks[1]);
	return status;
}

static bool row_equal(const nk_array *a, int64_t i, const nk_array *b, int64_t k)
{
	bool valid = nk_array_is_valid(a, i), same = valid == nk_array_is_valid(b, k);
	if (!same || !valid)
		return same;
	if (!nk_type_is_nested(a->dtype->id)) {
		nk_scalar left = nk_scalar_read(a, i), right = nk_scalar_read(b, k);
		return nk_scalar_compare(&left, &right) == 0;
	}
	if (a->physical == NK_PHYSICAL_STRUCT) {
		for (int f = 0; f < a->n_children; f++)
			same &= row_equal(a->children[f], i, b->children[f], k);
		return same;
	}
	const int64_t *from_a = (const int64_t *)a->values + i, *from_b = (const int64_t *)b->values + k;
	same = from_a[1] - from_a[0] == from_b[1] - from_b[0];
	for (int64_t j = 0; same && j < from_a[1] - from_a[0]; j++)
		same = row_equal(a->children[0], from_a[0] + j, b->children[0], from_b[0] + j);
	return same;
}

static nk_status there_and_back(nk_memory *memory, nk_error *err)
{
	enum { N = 13 };
	nk_field inner[] = {{"p", nk_dtype_of(NK_TYPE_BOOLEAN)},
	                    {"q", nk_dtype_list(nk_dtype_of(NK_TYPE_STRING))}};
	const nk_dtype *dtypes[N] = {nk_dtype_of(NK_TYPE_NULL),
	                             nk_dtype_of(NK_TYPE_BOOLEAN),
	                             nk_dtype_of(NK_TYPE_INT8),
	                             nk_dtype_of(NK_TYPE_UINT64),
	                             nk_dtype_of(NK_TYPE_INT128),
	                             nk_dtype_of(NK_TYPE_FLOAT64),
	                             nk_dtype_of(NK_TYPE_BINARY),
	                             nk_dtype_of(NK_TYPE_STRING),
	                             nk_dtype_decimal(20, 4),
	                             nk_dtype_datetime(NK_UNIT_NS, "Asia/Tokyo"),
	                             nk_dtype_duration(NK_UNIT_US),
	                             nk_dtype_struct(inner, 2),
	                             nk_dtype_list(nk_dtype_struct(inner, 2))};
	nk_field fields[N];
	char names[N][16];
	nk_column *columns[N] = {0};
	NK_AUTO(nk_schema) schema = NULL;
	NK_AUTO(nk_frame) frame = NULL;
	NK_AUTO(nk_frame) back = NULL;
	nk_status status = NK_OK;
	for (int i = 0; i < N && status == NK_OK; i++) {
		snprintf(names[i], sizeof names[i], "c%d", i % 100);
		fields[i] = (nk_field){names[i], dtypes[i]};
		status = column(memory, dtypes[i], i % 2 ? 20 : 33, &columns[i], err);
	}
	if (status == NK_OK)
		status = nk_schema_new(fields, N, &schema, err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, -1, &frame, err);
	for (int i = 0; i < N; i++)
		nk_column_unref(columns[i]);
	NK_TRY(status);

	struct ArrowArrayStream stream;
	NK_TRY(nk_frame_to_arrow(memory, frame, &stream, err));
	NK_TRY(nk_frame_from_arrow(memory, &stream, &back, err));
	EXPECT(stream.release == NULL && back->height == 60 && back->schema->n_fields == N);
	EXPECT(back->columns[1]->n_chunks == 3);
	for (int c = 0; c < N; c++) {
		EXPECT(back->schema->fields[c].dtype == dtypes[c] &&
		       strcmp(back->schema->fields[c].name, names[c]) == 0);
		for (int64_t i = 0; i < 60; i++) {
			int64_t row_a, row_b;
			const nk_array *a = nk_column_locate(frame->columns[c], i, &row_a);
			const nk_array *b = nk_column_locate(back->columns[c], i, &row_b);
			EXPECT(row_equal(a, row_a, b, row_b));
		}
	}
	NK_AUTO(nk_column) one = NULL;
	const char *name = NULL;
	NK_TRY(nk_column_to_arrow(memory, frame->columns[11], "s", &stream, err));
	NK_TRY(nk_column_from_arrow(memory, &stream, &name, &one, err));
	EXPECT(strcmp(name, "s") == 0 && one->n_rows == 60 && one->dtype == dtypes[11]);
	free((char *)name);
	return NK_OK;
}

static nk_status height_without_columns(nk_memory *memory, nk_error *err)
{
	NK_AUTO(nk_schema) schema = NULL;
	NK_AUTO(nk_frame) frame = NULL;
	NK_AUTO(nk_frame) back = NULL;
	struct ArrowArrayStream stream;
	NK_TRY(nk_schema_new(NULL, 0, &schema, err));
	NK_TRY(nk_frame_new(schema, NULL, 7, &frame, err));
	NK_TRY(nk_frame_to_arrow(memory, frame, &stream, err));
	NK_TRY(nk_frame_from_arrow(memory, &stream, &back, err));
	EXPECT(back->height == 7);
	return NK_OK;
}

int main(void)
{
	nk_status (*const tests[])(nk_memory *, nk_error *) = {foreign_strings, foreign_views,
	                                                       foreign_numbers, foreign_nested,
	                                                       there_and_back,  height_without_columns};
	for (int t = 0; t < NK_COUNT(tests); t++)
		for (int64_t n = 0;; n++) {
			nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
			nk_memory_refuse_after(memory, n);
			nk_error err = {0};
			nk_status status = tests[t](memory, &err);
			EXPECT(nk_memory_used(memory) == 0);
			nk_memory_unref(memory);
			if (status == NK_OK)
				break;
			EXPECT(status == NK_OUT_OF_MEMORY);
			if (status != NK_OUT_OF_MEMORY) {
				fprintf(stderr, "test %d: %s\n", t, err.message);
				break;
			}
		}
	EXPECT(n_released > 0);
	return expect_report();
}
