/* Plain values, dictionaries, runs. Written to be right for every dtype and quick enough for results and tests; one
 * value at a time, except where the memory layout is already the file's. */
#include "io/parquet/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { DICTIONARY_BYTES_MAX = 1 << 20, FIXED_DECIMAL_BYTES = 16, DIGITS_OF_I64 = 18 };

static void put_varint(nk_text *out, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		nk_text_append_char(out, (char)(value | 128));
	nk_text_append_char(out, (char)value);
}

void nk__thrift_put_zigzag(nk_text *out, int64_t value)
{
	put_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void nk__thrift_put_string(nk_text *out, const void *bytes, int64_t n_bytes)
{
	put_varint(out, (uint64_t)n_bytes);
	nk_text_append(out, bytes, n_bytes);
}

static void put_head(nk_text *out, int *last, int id, nk_thrift_type type)
{
	if (id - *last <= 15) {
		nk_text_append_char(out, (char)((id - *last) << 4 | (int)type));
	} else {
		nk_text_append_char(out, (char)type);
		nk__thrift_put_zigzag(out, id);
	}
	*last = id;
}

void nk__thrift_put_integer(nk_text *out, int *last, int id, nk_thrift_type type, int64_t value)
{
	put_head(out, last, id, type);
	if (type == NK_THRIFT_I8)
		nk_text_append_char(out, (char)value);
	else
		nk__thrift_put_zigzag(out, value);
}

void nk__thrift_put_boolean(nk_text *out, int *last, int id, bool value)
{
	put_head(out, last, id, value ? NK_THRIFT_TRUE : NK_THRIFT_FALSE);
}

void nk__thrift_put_bytes(nk_text *out, int *last, int id, const void *bytes, int64_t n_bytes)
{
	put_head(out, last, id, NK_THRIFT_BINARY);
	nk__thrift_put_string(out, bytes, n_bytes);
}

void nk__thrift_put_struct(nk_text *out, int *last, int id) { put_head(out, last, id, NK_THRIFT_STRUCT); }

void nk__thrift_put_list(nk_text *out, int *last, int id, nk_thrift_type type, int64_t n)
{
	put_head(out, last, id, NK_THRIFT_LIST);
	if (n < 15) {
		nk_text_append_char(out, (char)(n << 4 | (int)type));
	} else {
		nk_text_append_char(out, (char)(0xf0 | (int)type));
		put_varint(out, (uint64_t)n);
	}
}

void nk__thrift_put_stop(nk_text *out) { nk_text_append_char(out, 0); }

nk_status nk__parquet_stored(const nk_dtype *dtype, nk_stored *out, nk_error *err)
{
	switch (dtype->id) {
	case NK_TYPE_NULL: *out = (nk_stored){NK_PARQUET_INT32, 4, NK_PARQUET_UNKNOWN}; return NK_OK;
	case NK_TYPE_BOOLEAN: *out = (nk_stored){NK_PARQUET_BOOLEAN, 0, 0}; return NK_OK;
	case NK_TYPE_INT8:
	case NK_TYPE_INT16:
	case NK_TYPE_UINT8:
	case NK_TYPE_UINT16:
	case NK_TYPE_UINT32: *out = (nk_stored){NK_PARQUET_INT32, 4, NK_PARQUET_INTEGER}; return NK_OK;
	case NK_TYPE_INT32: *out = (nk_stored){NK_PARQUET_INT32, 4, 0}; return NK_OK;
	case NK_TYPE_INT64: *out = (nk_stored){NK_PARQUET_INT64, 8, 0}; return NK_OK;
	case NK_TYPE_UINT64: *out = (nk_stored){NK_PARQUET_INT64, 8, NK_PARQUET_INTEGER}; return NK_OK;
	case NK_TYPE_FLOAT32: *out = (nk_stored){NK_PARQUET_FLOAT, 4, 0}; return NK_OK;
	case NK_TYPE_FLOAT64: *out = (nk_stored){NK_PARQUET_DOUBLE, 8, 0}; return NK_OK;
	case NK_TYPE_DECIMAL:
		*out = dtype->precision <= DIGITS_OF_I64
		           ? (nk_stored){NK_PARQUET_INT64, 8, NK_PARQUET_DECIMAL}
		           : (nk_stored){NK_PARQUET_FIXED, FIXED_DECIMAL_BYTES, NK_PARQUET_DECIMAL};
		return NK_OK;
	case NK_TYPE_CATEGORICAL:
	case NK_TYPE_ENUM:
	case NK_TYPE_STRING: *out = (nk_stored){NK_PARQUET_BYTE_ARRAY, 0, NK_PARQUET_STRING}; return NK_OK;
	case NK_TYPE_BINARY: *out = (nk_stored){NK_PARQUET_BYTE_ARRAY, 0, 0}; return NK_OK;
	case NK_TYPE_DATE: *out = (nk_stored){NK_PARQUET_INT32, 4, NK_PARQUET_DATE}; return NK_OK;
	case NK_TYPE_TIME: *out = (nk_stored){NK_PARQUET_INT64, 8, NK_PARQUET_TIME}; return NK_OK;
	case NK_TYPE_DATETIME: *out = (nk_stored){NK_PARQUET_INT64, 8, NK_PARQUET_TIMESTAMP}; return NK_OK;
	case NK_TYPE_DURATION: *out = (nk_stored){NK_PARQUET_INT64, 8, 0}; return NK_OK;
	default: break;
	}
	return nk_fail(err, NK_INVALID_OPERATION, "%s cannot be written to Parquet yet", dtype->text);
}

static void put_big_endian(nk_text *out, __int128 value)
{
	uint8_t bytes[FIXED_DECIMAL_BYTES];
	for (int i = FIXED_DECIMAL_BYTES - 1; i >= 0; i--, value >>= 8)
		bytes[i] = (uint8_t)value;
	nk_text_append(out, (const char *)bytes, sizeof bytes);
}

void nk__bound_encode(nk_text *out, const nk_stored *stored, const nk_scalar *value)
{
	switch (stored->type) {
	case NK_PARQUET_BOOLEAN: nk_text_append_char(out, (char)value->boolean); break;
	case NK_PARQUET_FLOAT: {
		float narrow = (float)value->floating;
		nk_text_append(out, (const char *)&narrow, 4);
		break;
	}
	case NK_PARQUET_DOUBLE: nk_text_append(out, (const char *)&value->floating, 8); break;
	case NK_PARQUET_BYTE_ARRAY: nk_text_append(out, value->bytes, value->n_bytes); break;
	case NK_PARQUET_FIXED: put_big_endian(out, value->integer); break;
	default: {
		int64_t integer = (int64_t)value->integer; /* little-endian: an int32 is its first half */
		nk_text_append(out, (const char *)&integer, stored->n_bytes);
	}
	}
}

static void put_booleans(nk_text *out, const nk_array *array, int64_t first, int64_t n)
{
	int n_bits = 0;
	uint8_t byte = 0;
	for (int64_t i = first; i < first + n; i++) {
		if (!nk_array_is_valid(array, i))
			continue;
		byte |= (uint8_t)(nk_bitmap_get(array->values, i) << n_bits);
		if (++n_bits == 8) {
			nk_text_append_char(out, (char)byte);
			n_bits = byte = 0;
		}
	}
	if (n_bits > 0)
		nk_text_append_char(out, (char)byte);
}

/* One valid row as a plain value. */
static void put_plain(nk_text *out, const nk_stored *stored, const nk_array *array, int64_t row)
{
	nk_scalar value = nk_scalar_read(array, row);
	if (stored->type == NK_PARQUET_BYTE_ARRAY) {
		uint32_t n = (uint32_t)value.n_bytes;
		nk_text_append(out, (const char *)&n, 4);
	}
	nk__bound_encode(out, stored, &value);
}

void nk__plain_encode(nk_text *out, const nk_stored *stored, const nk_array *array, int64_t first, int64_t n)
{
	if (stored->type == NK_PARQUET_BOOLEAN) {
		put_booleans(out, array, first, n);
		return;
	}
	int size = nk_physical_size(array->physical);
	if (!array->validity && size == stored->n_bytes && stored->type != NK_PARQUET_FIXED) {
		nk_text_append(out, (const char *)array->values + first * size, n * size);
		return;
	}
	for (int64_t i = first; i < first + n; i++)
		if (nk_array_is_valid(array, i))
			put_plain(out, stored, array, i);
}

static void put_packed(nk_text *out, const uint32_t *values, int64_t n, int width)
{
	int64_t n_groups = (n + 7) / 8;
	put_varint(out, (uint64_t)n_groups << 1 | 1);
	uint64_t word = 0;
	int n_bits = 0;
	for (int64_t i = 0; i < n_groups * 8; i++) {
		word |= (uint64_t)(i < n ? values[i] : 0) << n_bits;
		for (n_bits += width; n_bits >= 8; n_bits -= 8, word >>= 8)
			nk_text_append_char(out, (char)word);
	}
}

void nk__rle_encode(nk_text *out, const uint32_t *values, int64_t n, int width)
{
	int64_t n_open = 0, i = 0; /* values before i that wait to be packed */
	while (i < n) {
		int64_t n_same = 1;
		while (i + n_same < n && values[i + n_same] == values[i])
			n_same++;
		/* only whole groups may stand before a repeated run: the packed ones take what they lack */
		int64_t n_lacking = (8 - n_open % 8) % 8;
		if (n_same - n_lacking < 8) {
			n_open += n_same;
			i += n_same;
			continue;
		}
		n_open += n_lacking;
		i += n_lacking;
		if (n_open > 0)
			put_packed(out, values + i - n_open, n_open, width);
		n_open = 0;
		n_same -= n_lacking;
		put_varint(out, (uint64_t)n_same << 1);
		nk_text_append(out, (const char *)&values[i], (width + 7) / 8);
		i += n_same;
	}
	if (n_open > 0)
		put_packed(out, values + n - n_open, n_open, width);
}

typedef struct entry {
	int64_t start, n_bytes; /* in the plain page */
} entry;

nk_status nk__dictionary_encode(const nk_stored *stored, const nk_array *array, uint32_t *codes,
                                nk_text *plain, int64_t *n_distinct, nk_error *err)
{
	int64_t n_slots = 64, n_entries = 0, capacity = 64;
	nk_status status = NK_OK;
	while (n_slots < 2 * array->n_rows)
		n_slots *= 2;
	uint32_t *slots = calloc((size_t)n_slots, sizeof *slots); /* entry number plus one */
	entry *entries = malloc((size_t)capacity * sizeof *entries);
	if (!slots || !entries)
		status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dictionary");
	for (int64_t i = 0; status == NK_OK && i < array->n_rows; i++) {
		codes[i] = 0;
		if (!nk_array_is_valid(array, i))
			continue;
		int64_t start = plain->n_bytes;
		put_plain(plain, stored, array, i);
		int64_t n_bytes = plain->n_bytes - start;
		if (plain->failed || plain->n_bytes > DICTIONARY_BYTES_MAX) {
			n_entries = -1;
			break;
		}
		uint64_t slot = nk_hash_bytes(plain->bytes + start, n_bytes) & (uint64_t)(n_slots - 1);
		while (slots[slot]) {
			const entry *e = &entries[slots[slot] - 1];
			if (e->n_bytes == n_bytes &&
			    memcmp(plain->bytes + e->start, plain->bytes + start, (size_t)n_bytes) == 0)
				break;
			slot = (slot + 1) & (uint64_t)(n_slots - 1);
		}
		if (slots[slot]) {
			plain->n_bytes = start;
		} else {
			if (n_entries == capacity) {
				capacity *= 2;
				entry *grown = realloc(entries, (size_t)capacity * sizeof *entries);
				if (!grown) {
					status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dictionary");
					break;
				}
				entries = grown;
			}
			entries[n_entries++] = (entry){start, n_bytes};
			slots[slot] = (uint32_t)n_entries;
		}
		codes[i] = slots[slot] - 1;
	}
	free(slots);
	free(entries);
	*n_distinct = n_entries;
	return status;
}
