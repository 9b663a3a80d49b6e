/* Proves of columnar arrays, columns and frames: every encoding slices, flattens and concatenates to the values
 * one expects, invariants hold throughout, and every allocation may fail without a leak. */
#include <stdio.h>
#include <string.h>

#include "columnar/batch.h"
#include "columnar/builder.h"
#include "columnar/frame.h"
#include "expect.h"

static const char *const words[] = {"", "short", "exactly12byt", "thirteen byte",
                                    "a rather longer string of bytes"};

/* Row i of a test column: null every seventh row, else a value that depends on i. */
static nk_status append_row(nk_builder *builder, const nk_dtype *dtype, int64_t i, nk_error *err)
{
	if (i % 7 == 3)
		return nk_builder_append_null(builder, err);
	switch (dtype->id) {
	case NK_TYPE_NULL: return nk_builder_append_null(builder, err);
	case NK_TYPE_BOOLEAN: return nk_builder_append_boolean(builder, i % 3 == 0, err);
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: return nk_builder_append_float(builder, (double)i / 4, err);
	case NK_TYPE_STRING:
	case NK_TYPE_BINARY:
		return nk_builder_append_bytes(builder, words[i % 5], (int64_t)strlen(words[i % 5]), err);
	case NK_TYPE_LIST:
		for (int64_t k = 0; k < i % 4; k++)
			NK_TRY(append_row(nk_builder_child(builder, 0), dtype->fields[0].dtype, i + k, err));
		return nk_builder_append_nested(builder, err);
	case NK_TYPE_STRUCT:
		for (int f = 0; f < dtype->n_fields; f++)
			NK_TRY(append_row(nk_builder_child(builder, f), dtype->fields[f].dtype, i + f, err));
		return nk_builder_append_nested(builder, err);
	default: return nk_builder_append_integer(builder, i, err);
	}
}

static nk_status make(nk_memory *memory, const nk_dtype *dtype, int64_t from, int64_t to, nk_array **out,
                      nk_error *err)
{
	NK_AUTO(nk_builder) builder = NULL;
	NK_TRY(nk_builder_new(memory, dtype, &builder, err));
	for (int64_t i = from; i < to; i++)
		NK_TRY(append_row(builder, dtype, i, err));
	return nk_builder_finish(builder, out, err);
}

/* Rows of both arrays are equal, nested values included. */
static bool row_equal(const nk_array *a, int64_t i, const nk_array *b, int64_t k)
{
	bool valid = nk_array_is_valid(a, i);
	if (valid != nk_array_is_valid(b, k))
		return false;
	if (!valid)
		return true;
	i = nk_array_index(a, i);
	k = nk_array_index(b, k);
	if (a->physical == NK_PHYSICAL_LIST) {
		const int64_t *from_a = (const int64_t *)a->values + i, *from_b = (const int64_t *)b->values + k;
		if (from_a[1] - from_a[0] != from_b[1] - from_b[0])
			return false;
		for (int64_t j = 0; j < from_a[1] - from_a[0]; j++)
			if (!row_equal(a->children[0], from_a[0] + j, b->children[0], from_b[0] + j))
				return false;
		return true;
	}
	if (a->physical == NK_PHYSICAL_STRUCT) {
		for (int f = 0; f < a->n_children; f++)
			if (!row_equal(a->children[f], i, b->children[f], k))
				return false;
		return true;
	}
	nk_scalar left = nk_scalar_read(a, i), right = nk_scalar_read(b, k);
	return nk_scalar_compare(&left, &right) == 0;
}

static bool equal(const nk_array *a, int64_t offset, const nk_array *b)
{
	for (int64_t i = 0; i < b->n_rows; i++)
		if (!row_equal(a, offset + i, b, i))
			return false;
	return true;
}

static const nk_dtype *dtypes[32];
static int n_dtypes;

static void collect_dtypes(void)
{
	static const nk_type_id plain[] = {
		NK_TYPE_NULL,    NK_TYPE_BOOLEAN, NK_TYPE_INT8,   NK_TYPE_INT16,  NK_TYPE_INT32,  NK_TYPE_INT64,
		NK_TYPE_INT128,  NK_TYPE_UINT8,   NK_TYPE_UINT16, NK_TYPE_UINT32, NK_TYPE_UINT64, NK_TYPE_FLOAT32,
		NK_TYPE_FLOAT64, NK_TYPE_STRING,  NK_TYPE_BINARY, NK_TYPE_DATE,   NK_TYPE_TIME};
	for (int i = 0; i < NK_COUNT(plain); i++)
		dtypes[n_dtypes++] = nk_dtype_of(plain[i]);
	dtypes[n_dtypes++] = nk_dtype_decimal(15, 2);
	dtypes[n_dtypes++] = nk_dtype_datetime(NK_UNIT_US, "Europe/Paris");
	dtypes[n_dtypes++] = nk_dtype_duration(NK_UNIT_MS);
	dtypes[n_dtypes++] = nk_dtype_list(nk_dtype_of(NK_TYPE_STRING));
	nk_field fields[] = {{"a", nk_dtype_of(NK_TYPE_BOOLEAN)}, {"b \"x\\", dtypes[n_dtypes - 1]}};
	dtypes[n_dtypes++] = nk_dtype_struct(fields, 2);
	dtypes[n_dtypes] = nk_dtype_list(dtypes[n_dtypes - 1]);
	n_dtypes++;
}

static void dtypes_are_interned_and_parse(void)
{
	for (int i = 0; i < n_dtypes; i++) {
		const nk_dtype *parsed = NULL;
		EXPECT(nk_dtype_parse(dtypes[i]->text, &parsed, NULL) == NK_OK);
		EXPECT(parsed == dtypes[i]);
	}
	static const char *const wrong[] = {"",           "Int6",           "Int64 x",     "List(",
	                                    "List(Int64", "Decimal(39, 2)", "Datetime(s)", "Struct{\"a\" Int8}",
	                                    "Struct{\"a", "int64"};
	for (int i = 0; i < NK_COUNT(wrong); i++) {
		const nk_dtype *parsed = NULL;
		nk_error err = {0};
		EXPECT(nk_dtype_parse(wrong[i], &parsed, &err) == NK_INVALID_OPERATION && err.message[0]);
	}
	EXPECT(strcmp(nk_dtype_short_name(dtypes[n_dtypes - 1]), "list[struct[2]]") == 0);
	EXPECT(strcmp(nk_dtype_short_name(nk_dtype_datetime(NK_UNIT_US, "UTC")), "datetime[\xce\xbcs, UTC]") ==
	       0);
	EXPECT(strcmp(nk_dtype_short_name(nk_dtype_decimal(15, 2)), "decimal[15,2]") == 0);
	EXPECT(nk_power_of_ten(38) / nk_power_of_ten(20) == nk_power_of_ten(18));
}

static nk_status slices_and_concats(nk_memory *memory, const nk_dtype *dtype, nk_error *err)
{
	NK_AUTO(nk_array) whole = NULL;
	NK_TRY(make(memory, dtype, 0, 100, &whole, err));
	NK_TRY(nk_array_validate(whole, err));
	nk_array *parts[3] = {0};
	static const int64_t cuts[] = {0, 13, 40, 100};
	nk_status status = NK_OK;
	for (int i = 0; i < 3 && status == NK_OK; i++) {
		status = nk_array_slice(memory, whole, cuts[i], cuts[i + 1] - cuts[i], &parts[i], err);
		if (status == NK_OK)
			status = nk_array_validate(parts[i], err);
		if (status == NK_OK)
			EXPECT(equal(whole, cuts[i], parts[i]));
	}
	NK_AUTO(nk_array) joined = NULL;
	NK_AUTO(nk_array) other = NULL;
	NK_AUTO(nk_array) both = NULL;
	if (status == NK_OK)
		status = nk_array_concat(memory, parts, 3, &joined, err);
	for (int i = 0; i < 3; i++)
		nk_array_unref(parts[i]);
	NK_TRY(status);
	NK_TRY(nk_array_validate(joined, err));
	EXPECT(joined->n_rows == 100 && equal(whole, 0, joined));

	/* Arrays with heaps of their own. */
	NK_TRY(make(memory, dtype, 100, 140, &other, err));
	nk_array *three[] = {whole, other, whole};
	NK_TRY(nk_array_concat(memory, three, 3, &both, err));
	NK_TRY(nk_array_validate(both, err));
	for (int64_t i = 0; i < 240; i++)
		EXPECT(i >= 100 && i < 140 ? row_equal(both, i, other, i - 100)
		                           : row_equal(both, i, whole, i < 100 ? i : i - 140));
	return NK_OK;
}

static nk_status constants_flatten(nk_memory *memory, const nk_dtype *dtype, nk_error *err)
{
	NK_AUTO(nk_array) five = NULL;
	NK_TRY(make(memory, dtype, 4, 6, &five, err));
	for (int n = 0; n < 40; n += 13) {
		NK_AUTO(nk_array) constant = NULL;
		NK_AUTO(nk_array) flat = NULL;
		NK_AUTO(nk_array) nulls = NULL;
		NK_AUTO(nk_array) flat_nulls = NULL;
		NK_AUTO(nk_array) slice = NULL;
		NK_TRY(nk_array_new_constant(memory, five, n, &constant, err));
		NK_TRY(nk_array_validate(constant, err));
		NK_TRY(nk_array_flatten(memory, constant, &flat, err));
		NK_TRY(nk_array_validate(flat, err));
		NK_TRY(nk_array_new_null(memory, dtype, n, &nulls, err));
		NK_TRY(nk_array_validate(nulls, err));
		NK_TRY(nk_array_flatten(memory, nulls, &flat_nulls, err));
		NK_TRY(nk_array_validate(flat_nulls, err));
		EXPECT(flat->encoding == NK_FLAT && flat->n_rows == n && flat_nulls->n_rows == n);
		EXPECT(nk_array_count_nulls(flat_nulls) == n && nk_array_count_nulls(nulls) == n);
		for (int64_t i = 0; i < n; i++)
			EXPECT(row_equal(flat, i, five, 0) && !nk_array_is_valid(flat_nulls, i));
		NK_TRY(nk_array_slice(memory, constant, n / 2, n - n / 2, &slice, err));
		NK_TRY(nk_array_validate(slice, err));
		EXPECT(equal(flat, n / 2, slice));
		if (n > 0 && !nk_type_is_nested(dtype->id)) {
			NK_AUTO(nk_array) literal = NULL;
			nk_scalar scalar = nk_scalar_read(five, 1);
			if (!scalar.is_null) {
				NK_TRY(nk_array_from_scalar(memory, &scalar, n, &literal, err));
				NK_TRY(nk_array_validate(literal, err));
				EXPECT(row_equal(literal, n - 1, five, 1));
			}
		}
	}
	return NK_OK;
}

static nk_status dictionaries_flatten(nk_memory *memory, const nk_dtype *dtype, nk_error *err)
{
	enum { N = 77 };
	NK_AUTO(nk_array) entries = NULL;
	NK_AUTO(nk_array) encoded = NULL;
	NK_AUTO(nk_array) flat = NULL;
	NK_AUTO(nk_array) slice = NULL;
	NK_AUTO(nk_array) joined = NULL;
	NK_AUTO(nk_buffer) codes = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(make(memory, dtype, 4, 9, &entries, err));
	NK_TRY(nk_buffer_new(memory, N * 4, &codes, err));
	NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(N), &validity, err));
	for (int i = 0; i < N; i++) {
		((uint32_t *)(void *)codes->bytes)[i] = (uint32_t)(i * i % 5);
		nk_bitmap_put(validity->bytes, i, i % 4 != 1);
	}
	NK_TRY(nk_array_new_dictionary(nk_array_ref(entries), N, NK_STEAL(codes), NK_STEAL(validity), -1,
	                               &encoded, err));
	NK_TRY(nk_array_validate(encoded, err));
	NK_TRY(nk_array_flatten(memory, encoded, &flat, err));
	NK_TRY(nk_array_validate(flat, err));
	for (int i = 0; i < N; i++)
		EXPECT(i % 4 == 1 ? !nk_array_is_valid(flat, i) : row_equal(flat, i, entries, i * i % 5));
	NK_TRY(nk_array_slice(memory, encoded, 5, 50, &slice, err));
	NK_TRY(nk_array_validate(slice, err));
	EXPECT(equal(flat, 5, slice));
	nk_array *two[] = {entries, slice};
	NK_TRY(nk_array_concat(memory, two, 2, &joined, err));
	NK_TRY(nk_array_validate(joined, err));
	for (int i = 0; i < 50; i++)
		EXPECT(row_equal(joined, 5 + i, flat, 5 + i));
	if (dtype->id == NK_TYPE_DECIMAL) {
		NK_AUTO(nk_array) widened = NULL;
		NK_TRY(nk_array_widen_decimal(memory, encoded, &widened, err));
		NK_TRY(nk_array_validate(widened, err));
		EXPECT(widened->physical == NK_PHYSICAL_I128 && equal(widened, 0, flat));
		nk_array *mixed[] = {encoded, widened};
		nk_array_unref(NK_STEAL(joined));
		NK_TRY(nk_array_concat(memory, mixed, 2, &joined, err));
		EXPECT(joined->physical == NK_PHYSICAL_I128 && equal(joined, N, flat) && equal(joined, 0, flat));
	}
	if (dtype->physical == NK_PHYSICAL_VIEW) {
		NK_AUTO(nk_array) packed = NULL;
		NK_TRY(nk_array_repack(memory, flat, &packed, err));
		NK_TRY(nk_array_validate(packed, err));
		EXPECT(equal(flat, 0, packed));
	}
	return NK_OK;
}

static nk_status frames_slice(nk_memory *memory, nk_error *err)
{
	NK_AUTO(nk_schema) schema = NULL;
	NK_AUTO(nk_frame) frame = NULL;
	NK_AUTO(nk_frame) slice = NULL;
	NK_AUTO(nk_column) column = NULL;
	NK_AUTO(nk_column) twice = NULL;
	NK_AUTO(nk_array) part = NULL;
	NK_AUTO(nk_array) empty = NULL;
	NK_AUTO(nk_array) joined = NULL;
	const nk_dtype *dtype = nk_dtype_of(NK_TYPE_STRING);
	NK_TRY(make(memory, dtype, 0, 30, &part, err));
	NK_TRY(make(memory, dtype, 0, 0, &empty, err));
	nk_array *chunks[] = {empty, part, empty, part, empty};
	NK_TRY(nk_column_new(memory, chunks, 5, &column, err));
	EXPECT(column->n_chunks == 2 && column->n_rows == 60 && nk_column_count_nulls(column) == 8);
	nk_column *two[] = {column, column};
	NK_TRY(nk_column_append(memory, two, 2, &twice, err));
	EXPECT(twice->n_rows == 120);
	int64_t row;
	EXPECT(nk_column_locate(twice, 95, &row) == twice->chunks[3] && row == 5);
	NK_TRY(nk_column_array(memory, twice, &joined, err));
	EXPECT(row_equal(joined, 95, part, 5));
	nk_field fields[] = {{"a", dtype}, {"b", dtype}};
	NK_TRY(nk_schema_new(fields, 2, &schema, err));
	NK_TRY(nk_frame_new(schema, two, -1, &frame, err));
	NK_TRY(nk_frame_slice(memory, frame, 20, 20, &slice, err));
	EXPECT(slice->height == 20 && slice->columns[1]->n_chunks == 2);
	EXPECT(row_equal(slice->columns[1]->chunks[1], 9, part, 9));
	nk_error wanted = {0};
	nk_frame *none = NULL;
	EXPECT(nk_frame_new(schema, two, 7, &none, &wanted) == NK_SHAPE && wanted.message[0]);
	EXPECT(nk_schema_resolve(schema, "zz", &(int){0}, &wanted) == NK_COLUMN_NOT_FOUND);
	EXPECT(strcmp(wanted.message, "unable to find column \"zz\"; valid columns: [\"a\", \"b\"]") == 0);
	return NK_OK;
}

static void wide_schemas_find_names(void)
{
	enum { N = 500 };
	static nk_field fields[N];
	static char names[N][32];
	for (int i = 0; i < N; i++) {
		snprintf(names[i], sizeof names[i], "column%d", i);
		fields[i] = (nk_field){names[i], nk_dtype_of(NK_TYPE_INT8)};
	}
	NK_AUTO(nk_schema) schema = NULL;
	nk_schema *twice = NULL;
	nk_error err = {0};
	EXPECT(nk_schema_new(fields, N, &schema, &err) == NK_OK);
	for (int i = 0; i < N; i++)
		EXPECT(nk_schema_find(schema, names[i]) == i);
	EXPECT(nk_schema_find(schema, "column") == -1);
	EXPECT(nk_schema_resolve(schema, "colum77", &(int){0}, &err) == NK_COLUMN_NOT_FOUND);
	EXPECT(strstr(err.message, "nearest columns: [") && strstr(err.message, "\"column77\""));
	fields[499].name = "column3";
	EXPECT(nk_schema_new(fields, N, &twice, &err) == NK_DUPLICATE);
}

static nk_status run(nk_memory *memory, int which, nk_error *err)
{
	if (which == 3 * n_dtypes)
		return frames_slice(memory, err);
	const nk_dtype *dtype = dtypes[which / 3];
	switch (which % 3) {
	case 0: return slices_and_concats(memory, dtype, err);
	case 1: return constants_flatten(memory, dtype, err);
	default:
		return nk_type_is_nested(dtype->id) || dtype->id == NK_TYPE_NULL
		           ? NK_OK
		           : dictionaries_flatten(memory, dtype, err);
	}
}

static void every_allocation_may_fail(void)
{
	for (int which = 0; which <= 3 * n_dtypes; which++)
		for (int64_t n = 0;; n++) {
			nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
			nk_memory_refuse_after(memory, n);
			nk_error err = {0};
			nk_status status = run(memory, which, &err);
			EXPECT(nk_memory_used(memory) == 0);
			nk_memory_unref(memory);
			if (status == NK_OK)
				break;
			EXPECT(status == NK_OUT_OF_MEMORY);
			if (status != NK_OUT_OF_MEMORY) {
				fprintf(stderr, "%d: %s\n", which, err.message);
				break;
			}
		}
}

int main(void)
{
	collect_dtypes();
	dtypes_are_interned_and_parse();
	wide_schemas_find_names();
	every_allocation_may_fail();
	return expect_report();
}
