/* Proves of compute/select, compute/blend and compute/hash: gathers and filters give the rows asked for in every
 * encoding and dtype, outer gathers give nulls, blends keep long text of both sides, and equal values hash alike
 * across widths and encodings. Every allocation may fail. */
#include <stdlib.h>
#include <string.h>

#include "columnar/builder.h"
#include "compute/blend.h"
#include "compute/compare.h"
#include "compute/hash.h"
#include "compute/select.h"
#include "expect.h"

enum { N = 200 };

static nk_memory *memory;

static nk_status fill(nk_builder *builder, const nk_dtype *dtype, int64_t i, nk_error *err)
{
	char text[64];
	if (i % 7 == 3)
		return nk_builder_append_null(builder, err);
	switch (dtype->id) {
	case NK_TYPE_BOOLEAN: return nk_builder_append_boolean(builder, i % 3 == 0, err);
	case NK_TYPE_FLOAT64: return nk_builder_append_float(builder, (double)i / 4, err);
	case NK_TYPE_STRING:
		snprintf(text, sizeof text, i % 2 ? "%lld" : "a text too long to lie inline, %lld", (long long)i);
		return nk_builder_append_bytes(builder, text, (int64_t)strlen(text), err);
	case NK_TYPE_LIST:
		for (int64_t j = 0; j < i % 4; j++)
			NK_TRY(fill(nk_builder_child(builder, 0), dtype->fields[0].dtype, i + j, err));
		return nk_builder_append_nested(builder, err);
	case NK_TYPE_STRUCT:
		for (int j = 0; j < dtype->n_fields; j++)
			NK_TRY(fill(nk_builder_child(builder, j), dtype->fields[j].dtype, i + j, err));
		return nk_builder_append_nested(builder, err);
	default: return nk_builder_append_integer(builder, i % 100, err);
	}
}

static nk_status make(const nk_dtype *dtype, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_builder) builder = NULL;
	NK_TRY(nk_builder_new(memory, dtype, &builder, err));
	for (int64_t i = 0; i < N; i++)
		NK_TRY(fill(builder, dtype, i, err));
	return nk_builder_finish(builder, out, err);
}

static nk_status takes(nk_array *array, nk_error *err)
{
	uint32_t narrow[N];
	int64_t optional[N];
	for (int i = 0; i < N; i++) {
		narrow[i] = (uint32_t)((i * 37) % N);
		optional[i] = i % 5 == 2 ? -1 : (int64_t)narrow[i];
	}
	NK_AUTO(nk_array) some = NULL;
	NK_AUTO(nk_array) outer = NULL;
	NK_TRY(nk_array_take(memory, array, narrow, N - 3, &some, err));
	NK_TRY(nk_array_take_optional(memory, array, optional, N, &outer, err));
	NK_TRY(nk_array_validate(some, err));
	NK_TRY(nk_array_validate(outer, err));
	EXPECT(some->n_rows == N - 3 && outer->n_rows == N);
	EXPECT(some->encoding == array->encoding);
	for (int i = 0; i < N; i++) {
		EXPECT(i >= N - 3 || nk_rows_equal(some, i, array, narrow[i]));
		EXPECT(optional[i] < 0 ? !nk_array_is_valid(outer, i) : nk_rows_equal(outer, i, array, narrow[i]));
	}
	return NK_OK;
}

static nk_status filters(nk_array *array, nk_array *mask, nk_error *err)
{
	NK_AUTO(nk_array) kept = NULL;
	NK_TRY(nk_array_filter(memory, array, mask, &kept, err));
	NK_TRY(nk_array_validate(kept, err));
	int64_t n = 0;
	for (int64_t i = 0; i < N; i++)
		if (nk_array_is_valid(mask, i) && nk_bitmap_get(mask->values, i))
			EXPECT(nk_rows_equal(kept, n++, array, i));
	EXPECT(n == kept->n_rows && n == nk_select_count(mask, N));
	return NK_OK;
}

static nk_status blends(nk_array *array, nk_array *mask, nk_error *err)
{
	NK_AUTO(nk_array) other = NULL;
	NK_AUTO(nk_array) mixed = NULL;
	uint32_t rows[N];
	for (int i = 0; i < N; i++)
		rows[i] = (uint32_t)(N - 1 - i);
	NK_TRY(nk_array_take(memory, array, rows, N, &other, err));
	NK_TRY(nk_blend(memory, array->dtype, mask->values, array, other, N, &mixed, err));
	NK_TRY(nk_array_validate(mixed, err));
	for (int64_t i = 0; i < N; i++)
		EXPECT(nk_rows_equal(mixed, i, nk_bitmap_get(mask->values, i) ? array : other, i));
	return NK_OK;
}

/* The same rows as a constant or as a dictionary. */
static nk_status encodings(nk_array *array, nk_array *mask, nk_error *err)
{
	NK_AUTO(nk_array) constant = NULL;
	NK_AUTO(nk_array) dictionary = NULL;
	NK_AUTO(nk_array) one = NULL;
	NK_AUTO(nk_buffer) codes = NULL;
	NK_TRY(nk_array_slice(memory, array, 4, 1, &one, err));
	NK_TRY(nk_array_new_constant(memory, one, N, &constant, err));
	NK_TRY(takes(constant, err));
	NK_TRY(filters(constant, mask, err));
	if (nk_type_is_nested(array->dtype->id))
		return NK_OK;
	NK_TRY(nk_buffer_new(memory, N * 4, &codes, err));
	for (int i = 0; i < N; i++)
		((uint32_t *)codes->bytes)[i] = i % 2 ? 4 : 5;
	NK_AUTO(nk_array) entries = NULL;
	NK_AUTO(nk_array) valid = NULL;
	NK_TRY(nk_array_take(memory, array, (uint32_t[]){0, 1, 2, 4, 5, 6}, 6, &entries, err));
	NK_TRY(nk_array_with_validity(entries, NULL, 0, &valid, err));
	NK_TRY(nk_array_new_dictionary(NK_STEAL(valid), N, NK_STEAL(codes), NULL, 0, &dictionary, err));
	NK_TRY(takes(dictionary, err));
	NK_TRY(filters(dictionary, mask, err));
	NK_AUTO(nk_array) flat = NULL;
	uint64_t hashes[N], again[N];
	NK_TRY(nk_array_flatten(memory, dictionary, &flat, err));
	NK_TRY(nk_hash_array(memory, dictionary, N, hashes, false, err));
	NK_TRY(nk_hash_array(memory, flat, N, again, false, err));
	EXPECT(memcmp(hashes, again, sizeof hashes) == 0);
	return NK_OK;
}

static nk_status hashes_agree(nk_error *err)
{
	static const nk_type_id ids[] = {NK_TYPE_INT8,   NK_TYPE_INT16,  NK_TYPE_INT32,
	                                 NK_TYPE_INT64,  NK_TYPE_INT128, NK_TYPE_UINT8,
	                                 NK_TYPE_UINT16, NK_TYPE_UINT32, NK_TYPE_UINT64};
	uint64_t want[N], got[N];
	for (int k = 0; k < NK_COUNT(ids); k++) {
		NK_AUTO(nk_array) array = NULL;
		NK_TRY(make(nk_dtype_of(ids[k]), &array, err));
		NK_TRY(nk_hash_array(memory, array, N, k ? got : want, false, err));
		EXPECT(k == 0 || memcmp(want, got, sizeof want) == 0);
	}
	NK_AUTO(nk_builder) builder = NULL;
	NK_AUTO(nk_array) floats = NULL;
	NK_TRY(nk_builder_new(memory, nk_dtype_of(NK_TYPE_FLOAT64), &builder, err));
	NK_TRY(nk_builder_append_float(builder, 0.0, err));
	NK_TRY(nk_builder_append_float(builder, -0.0, err));
	NK_TRY(nk_builder_append_float(builder, __builtin_nan(""), err));
	NK_TRY(nk_builder_append_float(builder, -__builtin_nan("1"), err));
	NK_TRY(nk_builder_finish(builder, &floats, err));
	NK_TRY(nk_hash_array(memory, floats, 4, got, false, err));
	EXPECT(got[0] == got[1] && got[2] == got[3] && got[0] != got[2]);
	return NK_OK;
}

static nk_status everything(nk_error *err)
{
	const nk_dtype *list = nk_dtype_list(nk_dtype_of(NK_TYPE_STRING));
	nk_field fields[] = {{"a", nk_dtype_of(NK_TYPE_INT32)}, {"b", list}};
	const nk_dtype *dtypes[] = {
		nk_dtype_of(NK_TYPE_BOOLEAN), nk_dtype_of(NK_TYPE_INT8),
		nk_dtype_of(NK_TYPE_INT16),   nk_dtype_of(NK_TYPE_INT32),
		nk_dtype_of(NK_TYPE_INT64),   nk_dtype_of(NK_TYPE_INT128),
		nk_dtype_of(NK_TYPE_FLOAT64), nk_dtype_of(NK_TYPE_STRING),
		nk_dtype_decimal(10, 2),      list,
		nk_dtype_struct(fields, 2),
	};
	NK_AUTO(nk_array) mask = NULL;
	NK_TRY(make(nk_dtype_of(NK_TYPE_BOOLEAN), &mask, err));
	for (int k = 0; k < NK_COUNT(dtypes); k++) {
		NK_AUTO(nk_array) array = NULL;
		NK_TRY(make(dtypes[k], &array, err));
		NK_TRY(takes(array, err));
		NK_TRY(filters(array, mask, err));
		NK_TRY(blends(array, mask, err));
		NK_TRY(encodings(array, mask, err));
	}
	return hashes_agree(err);
}

int main(void)
{
	nk_status status = NK_OUT_OF_MEMORY;
	for (int64_t n = 0; n < 100000 && status == NK_OUT_OF_MEMORY; n += 1 + n / 64) {
		nk_error err = {0};
		memory = nk_memory_new(NULL, INT64_MAX);
		nk_memory_refuse_after(memory, n);
		status = everything(&err);
		EXPECT(nk_memory_used(memory) == 0);
		EXPECT(status == NK_OK || status == NK_OUT_OF_MEMORY);
		if (status != NK_OK && status != NK_OUT_OF_MEMORY)
			fprintf(stderr, "%s\n", err.message);
		nk_memory_unref(memory);
	}
	EXPECT(status == NK_OK);
	return expect_report();
}
