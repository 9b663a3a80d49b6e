/* Proves of printed frames and columns: what Polars prints of the same values, byte for byte, under default options
 * and others, and that no allocation of their making leaks. */
#include <string.h>

#include "columnar/builder.h"
#include "columnar/table.h"
#include "expect.h"

/* ---- Frames ---- */

static nk_status text(nk_builder *builder, const char *value, nk_error *err)
{
	return value ? nk_builder_append_bytes(builder, value, (int64_t)strlen(value), err)
	             : nk_builder_append_null(builder, err);
}

static nk_status strings(nk_builder *builder, nk_error *err)
{
	NK_TRY(text(builder, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", err));
	NK_TRY(text(builder, "日本", err));
	NK_TRY(text(builder, NULL, err));
	return text(builder, "e\xcc\x81 👍🏽", err);
}

static nk_status lists(nk_builder *builder, nk_error *err)
{
	static const int lengths[] = {3, 4, -1, 0};
	for (int row = 0; row < NK_COUNT(lengths); row++) {
		for (int i = 1; i <= lengths[row]; i++)
			NK_TRY(nk_builder_append_integer(nk_builder_child(builder, 0), i, err));
		NK_TRY(lengths[row] < 0 ? nk_builder_append_null(builder, err)
		                        : nk_builder_append_nested(builder, err));
	}
	return NK_OK;
}

static nk_status structs(nk_builder *builder, nk_error *err)
{
	nk_builder *a = nk_builder_child(builder, 0), *b = nk_builder_child(builder, 1);
	NK_TRY(nk_builder_append_integer(a, 1, err));
	NK_TRY(text(b, "z", err));
	NK_TRY(nk_builder_append_nested(builder, err));
	NK_TRY(nk_builder_append_null(builder, err));
	NK_TRY(nk_builder_append_null(a, err));
	NK_TRY(nk_builder_append_null(b, err));
	NK_TRY(nk_builder_append_nested(builder, err));
	NK_TRY(nk_builder_append_integer(a, -5, err));
	NK_TRY(text(b, "q", err));
	return nk_builder_append_nested(builder, err);
}

static nk_status floats(nk_builder *builder, nk_error *err)
{
	static const double values[] = {1, 1 / 3.0, 1e9, __builtin_nan("")};
	for (int i = 0; i < NK_COUNT(values); i++)
		NK_TRY(nk_builder_append_float(builder, values[i], err));
	return NK_OK;
}

static nk_status twelve(nk_builder *builder, nk_error *err)
{
	for (int i = 0; i < 12; i++)
		NK_TRY(nk_builder_append_integer(builder, i, err));
	return NK_OK;
}

static nk_status long_text(nk_builder *builder, nk_error *err)
{
	return text(builder, "word and averyveryverylongword", err);
}

typedef nk_status fill(nk_builder *builder, nk_error *err);

static nk_status column(nk_memory *memory, const nk_dtype *dtype, fill *values, nk_column **out,
                        nk_error *err)
{
	NK_AUTO(nk_builder) builder = NULL;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_builder_new(memory, dtype, &builder, err));
	NK_TRY(values(builder, err));
	NK_TRY(nk_builder_finish(builder, &array, err));
	return nk_column_from_array(memory, array, out, err);
}

static nk_status frame(nk_memory *memory, const nk_field *fields, fill *const *values, int n_fields,
                       nk_frame **out, nk_error *err)
{
	enum { MOST = 9 };
	NK_AUTO(nk_schema) schema = NULL;
	nk_column *columns[MOST] = {0};
	nk_status status = nk_schema_new(fields, n_fields, &schema, err);
	for (int i = 0; i < n_fields && status == NK_OK; i++)
		status = column(memory, fields[i].dtype, values[i], &columns[i], err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, -1, out, err);
	for (int i = 0; i < MOST; i++)
		nk_column_unref(columns[i]);
	return status;
}

static nk_status mixed(nk_memory *memory, nk_frame **out, nk_error *err)
{
	const nk_dtype *integer = nk_dtype_of(NK_TYPE_INT64), *string = nk_dtype_of(NK_TYPE_STRING);
	nk_field parts[] = {{"a", integer}, {"b", string}};
	nk_field fields[] = {{"s", string},
	                     {"l", nk_dtype_list(integer)},
	                     {"t", nk_dtype_struct(parts, 2)},
	                     {"f", nk_dtype_of(NK_TYPE_FLOAT64)}};
	return frame(memory, fields, (fill *const[]){strings, lists, structs, floats}, 4, out, err);
}

/* Fields of one dtype and with the same values, named `prefix` and a digit. */
static nk_status alike(nk_memory *memory, const char *prefix, nk_type_id id, fill *values, int n_fields,
                       nk_frame **out, nk_error *err)
{
	char names[9][8];
	nk_field fields[9];
	fill *all[9];
	for (int i = 0; i < n_fields; i++) {
		snprintf(names[i], sizeof names[i], "%.5s%c", prefix, '0' + i);
		fields[i] = (nk_field){names[i], nk_dtype_of(id)};
		all[i] = values;
	}
	return frame(memory, fields, all, n_fields, out, err);
}

static void expect_text(const nk_text *got, const char *wanted)
{
	EXPECT(strcmp(got->bytes, wanted) == 0);
	if (strcmp(got->bytes, wanted) != 0)
		fprintf(stderr, "%s\ninstead of\n%s\n", got->bytes, wanted);
}

static nk_status expect_frame(const nk_frame *shown, const nk_table_options *options, const char *wanted,
                              nk_error *err)
{
	NK_TEXT(got);
	NK_TRY(nk_frame_format(shown, options, &got, err));
	expect_text(&got, wanted);
	return NK_OK;
}

static nk_status run(nk_memory *memory, nk_error *err)
{
	NK_AUTO(nk_frame) many = NULL;
	NK_AUTO(nk_frame) some = NULL;
	NK_AUTO(nk_frame) wide = NULL;
	NK_AUTO(nk_frame) none = NULL;
	NK_TRY(alike(memory, "c", NK_TYPE_INT64, twelve, 9, &many, err));
	NK_TRY(mixed(memory, &some, err));
	NK_TRY(alike(memory, "col", NK_TYPE_STRING, long_text, 7, &wide, err));
	NK_TRY(frame(memory, NULL, NULL, 0, &none, err));
	NK_TRY(expect_frame(none, NULL, "shape: (0, 0)\n┌┐\n╞╡\n└┘", err));
	/* clang-format off */
	NK_TRY(expect_frame(many, NULL,
		"shape: (12, 9)\n"
		"┌─────┬─────┬─────┬─────┬───┬─────┬─────┬─────┬─────┐\n"
		"│ c0  ┆ c1  ┆ c2  ┆ c3  ┆ … ┆ c5  ┆ c6  ┆ c7  ┆ c8  │\n"
		"│ --- ┆ --- ┆ --- ┆ --- ┆   ┆ --- ┆ --- ┆ --- ┆ --- │\n"
		"│ i64 ┆ i64 ┆ i64 ┆ i64 ┆   ┆ i64 ┆ i64 ┆ i64 ┆ i64 │\n"
		"╞═════╪═════╪═════╪═════╪═══╪═════╪═════╪═════╪═════╡\n"
		"│ 0   ┆ 0   ┆ 0   ┆ 0   ┆ … ┆ 0   ┆ 0   ┆ 0   ┆ 0   │\n"
		"│ 1   ┆ 1   ┆ 1   ┆ 1   ┆ … ┆ 1   ┆ 1   ┆ 1   ┆ 1   │\n"
		"│ 2   ┆ 2   ┆ 2   ┆ 2   ┆ … ┆ 2   ┆ 2   ┆ 2   ┆ 2   │\n"
		"│ 3   ┆ 3   ┆ 3   ┆ 3   ┆ … ┆ 3   ┆ 3   ┆ 3   ┆ 3   │\n"
		"│ 4   ┆ 4   ┆ 4   ┆ 4   ┆ … ┆ 4   ┆ 4   ┆ 4   ┆ 4   │\n"
		"│ …   ┆ …   ┆ …   ┆ …   ┆ … ┆ …   ┆ …   ┆ …   ┆ …   │\n"
		"│ 7   ┆ 7   ┆ 7   ┆ 7   ┆ … ┆ 7   ┆ 7   ┆ 7   ┆ 7   │\n"
		"│ 8   ┆ 8   ┆ 8   ┆ 8   ┆ … ┆ 8   ┆ 8   ┆ 8   ┆ 8   │\n"
		"│ 9   ┆ 9   ┆ 9   ┆ 9   ┆ … ┆ 9   ┆ 9   ┆ 9   ┆ 9   │\n"
		"│ 10  ┆ 10  ┆ 10  ┆ 10  ┆ … ┆ 10  ┆ 10  ┆ 10  ┆ 10  │\n"
		"│ 11  ┆ 11  ┆ 11  ┆ 11  ┆ … ┆ 11  ┆ 11  ┆ 11  ┆ 11  │\n"
		"└─────┴─────┴─────┴─────┴───┴─────┴─────┴─────┴─────┘", err));
	NK_TRY(expect_frame(some, NULL,
		"shape: (4, 4)\n"
		"┌─────────────────────────────────┬─────────────┬─────────────┬──────────┐\n"
		"│ s                               ┆ l           ┆ t           ┆ f        │\n"
		"│ ---                             ┆ ---         ┆ ---         ┆ ---      │\n"
		"│ str                             ┆ list[i64]   ┆ struct[2]   ┆ f64      │\n"
		"╞═════════════════════════════════╪═════════════╪═════════════╪══════════╡\n"
		"│ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… ┆ [1, 2, 3]   ┆ {1,\"z\"}     ┆ 1.0      │\n"
		"│ 日本                            ┆ [1, 2, … 4] ┆ null        ┆ 0.333333 │\n"
		"│ null                            ┆ null        ┆ {null,null} ┆ 1.0000e9 │\n"
		"│ é 👍🏽                            ┆ []          ┆ {-5,\"q\"}    ┆ NaN      │\n"
		"└─────────────────────────────────┴─────────────┴─────────────┴──────────┘", err));
	NK_TRY(expect_frame(wide, NULL,
		"shape: (1, 7)\n"
		"┌──────────────┬─────────────┬─────────────┬─────────────┬─────────────┬─────────────┬─────────────┐\n"
		"│ col0         ┆ col1        ┆ col2        ┆ col3        ┆ col4        ┆ col5        ┆ col6        │\n"
		"│ ---          ┆ ---         ┆ ---         ┆ ---         ┆ ---         ┆ ---         ┆ ---         │\n"
		"│ str          ┆ str         ┆ str         ┆ str         ┆ str         ┆ str         ┆ str         │\n"
		"╞══════════════╪═════════════╪═════════════╪═════════════╪═════════════╪═════════════╪═════════════╡\n"
		"│ word and ave ┆ word and    ┆ word and    ┆ word and    ┆ word and    ┆ word and    ┆ word and    │\n"
		"│ ryveryverylo ┆ averyveryve ┆ averyveryve ┆ averyveryve ┆ averyveryve ┆ averyveryve ┆ averyveryve │\n"
		"│ ngword       ┆ rylongword  ┆ rylongword  ┆ rylongword  ┆ rylongword  ┆ rylongword  ┆ rylongword  │\n"
		"└──────────────┴─────────────┴─────────────┴─────────────┴─────────────┴─────────────┴─────────────┘", err));
	nk_table_options markdown = {.format = "ASCII_MARKDOWN", .hide_shape = true, .n_rows = 3, .width = 41,
	                             .align_numbers = NK_ALIGN_RIGHT};
	NK_TRY(expect_frame(some, &markdown,
		"| s        | l        | t        |   f |\n"
		"| ---      | ---      | ---      | --- |\n"
		"| str      | list[i64 | struct[2 | f64 |\n"
		"|          | ]        | ]        |     |\n"
		"|----------|----------|----------|-----|\n"
		"| xxxxxxxx | [1, 2,   | {1,\"z\"}  | 1.0 |\n"
		"| xxxxxxxx | 3]       |          |     |\n"
		"| xxxxxxxx |          |          |     |\n"
		"| xxxxxx.. |          |          |     |\n"
		"| .        |          |          |     |\n"
		"| ...      | ...      | ...      | ... |\n"
		"| é 👍🏽     | []       | {-5,\"q\"} | NaN |", err));
	NK_TEXT(first);
	NK_TEXT(second);
	nk_table_options three_rows = {.n_rows = 4};
	NK_TRY(nk_column_format(some->columns[0], "s", &three_rows, &first, err));
	expect_text(&first,
		"shape: (4,)\n"
		"Series: 's' [str]\n"
		"[\n"
		"\t\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\n"
		"\t\"日本\"\n"
		"\t…\n"
		"\t\"é 👍🏽\"\n"
		"]");
	NK_TRY(nk_column_format(some->columns[1], "l", &three_rows, &second, err));
	expect_text(&second,
		"shape: (4,)\n"
		"Series: 'l' [list[i64]]\n"
		"[\n"
		"\t[1, 2, 3]\n"
		"\t[1, 2, … 4]\n"
		"\t…\n"
		"\t[]\n"
		"]");
	/* clang-format on */
	return NK_OK;
}

int main(void)
{
	nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
	nk_error err = {0};
	EXPECT(run(memory, &err) == NK_OK);
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
