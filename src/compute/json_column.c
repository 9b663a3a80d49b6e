/* Values grow in arrays of the tracker's and are copied once into buffers of their size: rows are read in runs that stay in
 * the cache, and nested columns do not know their length before. */
#include "compute/json_column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/hash.h"
#include "columnar/format.h"
#include "columnar/parse.h"
#include "compute/calendar_text.h"

enum { FIELDS_SEARCHED = 8 /* more fields than these are found by hash */ };

typedef struct field_key {
	const char *name;
	int64_t n_bytes;
} field_key;

struct nk_json_column {
	nk_memory *memory;
	const nk_dtype *dtype;
	const nk_json_rules *rules;
	nk_physical physical;
	int64_t n_rows, n_nulls;
	uint8_t *values; /* of a List: where rows end; of a Boolean: bits */
	int64_t values_capacity;
	uint8_t *validity; /* from the first null on */
	int64_t validity_capacity;
	uint8_t *heap; /* long text */
	int64_t n_heap, heap_capacity;
	nk_text text; /* of what is written as text */
	int n_children;
	nk_json_column **children;
	field_key *keys;
	uint32_t *table; /* numbers of fields plus one, by hash; NULL: few fields */
	uint32_t table_mask;
	int64_t *rows_seen; /* of field i: rows of this column that have had it */
};

/* ---- Making ---- */

void nk_json_column_free(nk_json_column *column)
{
	if (!column)
		return;
	for (int i = 0; i < column->n_children; i++)
		nk_json_column_free(column->children[i]);
	nk_free(column->memory, column->values, column->values_capacity);
	nk_free(column->memory, column->validity, column->validity_capacity);
	nk_free(column->memory, column->heap, column->heap_capacity);
	nk_text_release(&column->text);
	free(column->children);
	free(column->keys);
	free(column->table);
	free(column->rows_seen);
	free(column);
}

static nk_status make_table(nk_json_column *column, nk_error *err)
{
	uint32_t size = 16;
	while (size < 2 * (uint32_t)column->n_children)
		size *= 2;
	column->table = calloc(size, sizeof *column->table);
	if (!column->table)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for fields");
	column->table_mask = size - 1;
	for (int i = 0; i < column->n_children; i++) {
		uint32_t at = (uint32_t)nk_hash_bytes(column->keys[i].name, column->keys[i].n_bytes);
		while (column->table[at & column->table_mask])
			at++;
		column->table[at & column->table_mask] = (uint32_t)i + 1;
	}
	return NK_OK;
}

static nk_status make_children(nk_json_column *column, nk_error *err)
{
	const nk_dtype *dtype = column->dtype;
	size_t n = (size_t)dtype->n_fields + 1;
	column->children = calloc(n, sizeof(nk_json_column *));
	column->keys = calloc(n, sizeof *column->keys);
	column->rows_seen = calloc(n, sizeof *column->rows_seen);
	if (!column->children || !column->keys || !column->rows_seen)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for fields");
	for (int i = 0; i < dtype->n_fields; i++) {
		NK_TRY(nk_json_column_new(column->memory, dtype->fields[i].dtype, column->rules, &column->children[i],
		                          err));
		column->n_children++;
		const char *name = dtype->fields[i].name ? dtype->fields[i].name : "";
		column->keys[i] = (field_key){name, (int64_t)strlen(name)};
	}
	return dtype->id == NK_TYPE_STRUCT && dtype->n_fields > FIELDS_SEARCHED ? make_table(column, err) : NK_OK;
}

nk_status nk_json_column_new(nk_memory *memory, const nk_dtype *dtype, const nk_json_rules *rules,
                             nk_json_column **out, nk_error *err)
{
	if (dtype->id == NK_TYPE_CATEGORICAL || dtype->id == NK_TYPE_ENUM)
		return nk_fail(err, NK_COMPUTE, "JSON cannot be read as %s: read String and cast", dtype->text);
	nk_json_column *column = calloc(1, sizeof *column);
	if (!column)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column");
	*column = (nk_json_column){.memory = memory, .dtype = dtype, .rules = rules, .physical = dtype->physical};
	nk_status status = make_children(column, err);
	if (status != NK_OK) {
		nk_json_column_free(column);
		return status;
	}
	*out = column;
	return NK_OK;
}

/* ---- Rows ---- */

static inline nk_status reserve(nk_json_column *column, int64_t n_bytes, nk_error *err)
{
	return NK_GROW(column->memory, &column->values, &column->values_capacity, n_bytes, err);
}

static nk_status first_null(nk_json_column *column, nk_error *err)
{
	NK_TRY(NK_GROW(column->memory, &column->validity, &column->validity_capacity,
	               nk_bitmap_bytes(column->n_rows + 1), err));
	memset(column->validity, 0xff, (size_t)nk_bitmap_bytes(column->n_rows + 1));
	return NK_OK;
}

static nk_status put_validity_slowly(nk_json_column *column, bool is_valid, nk_error *err)
{
	int64_t row = column->n_rows;
	if (column->n_nulls == 0)
		NK_TRY(first_null(column, err));
	NK_TRY(NK_GROW(column->memory, &column->validity, &column->validity_capacity, nk_bitmap_bytes(row + 1),
	               err));
	if ((row & 7) == 0)
		column->validity[row >> 3] = 0;
	nk_bitmap_put(column->validity, row, is_valid);
	column->n_nulls += !is_valid;
	return NK_OK;
}

/* The row is complete. */
static inline nk_status end_row(nk_json_column *column, bool is_valid, nk_error *err)
{
	if (NK_UNLIKELY(!is_valid || column->n_nulls > 0))
		NK_TRY(put_validity_slowly(column, is_valid, err));
	column->n_rows++;
	return NK_OK;
}

static nk_status end_struct(nk_json_column *column, bool is_valid, nk_error *err)
{
	for (int i = 0; i < column->n_children; i++)
		if (column->rows_seen[i] <= column->n_rows) {
			NK_TRY(nk_json_column_add_null(column->children[i], err));
			column->rows_seen[i] = column->n_rows + 1;
		}
	return end_row(column, is_valid, err);
}

static nk_status end_list(nk_json_column *column, bool is_valid, nk_error *err)
{
	NK_TRY(reserve(column, (column->n_rows + 1) * (int64_t)sizeof(int64_t), err));
	((int64_t *)column->values)[column->n_rows] = column->children[0]->n_rows;
	return end_row(column, is_valid, err);
}

static nk_status put_bit(nk_json_column *column, bool value, bool is_valid, nk_error *err)
{
	int64_t row = column->n_rows;
	NK_TRY(reserve(column, nk_bitmap_bytes(row + 1), err));
	if ((row & 7) == 0)
		column->values[row >> 3] = 0;
	nk_bitmap_put(column->values, row, value);
	return end_row(column, is_valid, err);
}

nk_status nk_json_column_add_null(nk_json_column *column, nk_error *err)
{
	if (column->physical == NK_PHYSICAL_STRUCT)
		return end_struct(column, false, err);
	if (column->physical == NK_PHYSICAL_LIST)
		return end_list(column, false, err);
	if (column->physical == NK_PHYSICAL_BOOL)
		return put_bit(column, false, false, err);
	int n_bytes = nk_physical_size(column->physical);
	NK_TRY(reserve(column, (column->n_rows + 1) * n_bytes, err));
	if (n_bytes) /* of a dtype that has values at all */
		memset(column->values + column->n_rows * n_bytes, 0, (size_t)n_bytes);
	return end_row(column, false, err);
}

/* ---- Values that do not fit ---- */

static const char *kind_name(nk_json_kind kind)
{
	static const char *const names[] = {"null", "bool",   "bool",  "i64",   "i128",
	                                    "f64",  "string", "array", "object"};
	return names[kind];
}

/* The value at `from`, behind which the cursor already is or, of an array or object, in which it stands. */
static nk_status misfit(nk_json_column *column, nk_json_cursor *cursor, const uint32_t *from,
                        nk_json_kind kind, nk_error *err)
{
	enum { SHOWN = 100 };
	cursor->at = from;
	if (column->rules->ignores_errors) {
		NK_TRY(nk_json_skip(cursor, err));
		return nk_json_column_add_null(column, err);
	}
	nk_json_cursor again = *cursor;
	nk_text text = {0};
	nk_json_value value;
	nk_status status = NK_OK;
	if (kind != NK_JSON_STRING) {
		status = nk_json_display(&again, &text, err);
	} else if ((status = nk_json_read(&again, &value, err)) == NK_OK) {
		nk_text_append(&text, value.text, value.n_bytes);
		status = nk_text_finish(&text, err);
	}
	if (status == NK_OK)
		status = nk_fail(
			err, NK_COMPUTE, "cannot parse '%.*s' (%s) as %s%s", (int)NK_MIN(text.n_bytes, (int64_t)SHOWN),
			text.bytes, kind_name(kind), column->dtype->text,
			column->rules->is_document ? "\n\nTry increasing `infer_schema_length` or specifying a schema."
									   : "");
	nk_text_release(&text);
	return status;
}

/* ---- Plain values ---- */

static bool integer_of(const nk_json_column *column, const nk_json_value *value, bool *is_null, __int128 *out)
{
	bool bends = column->rules->is_document;
	switch (value->kind) {
	case NK_JSON_INTEGER: *out = value->integer; return true;
	case NK_JSON_WIDE:
		*out = value->wide;
		*is_null = value->is_unsigned && bends;
		return !value->is_unsigned || bends;
	case NK_JSON_TRUE:
	case NK_JSON_FALSE: *out = value->kind == NK_JSON_TRUE; return bends;
	case NK_JSON_FLOAT:
		*is_null = !(fabs(value->number) < 0x1p126);
		*out = *is_null ? 0 : (__int128)value->number;
		return bends;
	default: return false;
	}
}

static bool fits(nk_physical physical, __int128 value)
{
	switch (physical) {
	case NK_PHYSICAL_I8: return value == (int8_t)value;
	case NK_PHYSICAL_I16: return value == (int16_t)value;
	case NK_PHYSICAL_I32: return value == (int32_t)value;
	case NK_PHYSICAL_I64: return value == (int64_t)value;
	case NK_PHYSICAL_U8: return value == (uint8_t)value;
	case NK_PHYSICAL_U16: return value == (uint16_t)value;
	case NK_PHYSICAL_U32: return value == (uint32_t)value;
	case NK_PHYSICAL_U64: return value == (uint64_t)value;
	default: return true;
	}
}

/* The low bytes of an integer that fits. */
static nk_status put_integer(nk_json_column *column, __int128 value, nk_error *err)
{
	int n_bytes = nk_physical_size(column->physical);
	NK_TRY(reserve(column, (column->n_rows + 1) * n_bytes, err));
	memcpy(column->values + column->n_rows * n_bytes, &value, (size_t)n_bytes);
	return end_row(column, true, err);
}

static double float_of(const nk_json_value *value)
{
	return value->kind == NK_JSON_FLOAT     ? value->number
	       : value->kind == NK_JSON_INTEGER ? (double)value->integer
	       : value->kind == NK_JSON_WIDE
	           ? (value->is_unsigned ? (double)(unsigned __int128)value->wide : (double)value->wide)
	           : (double)(value->kind == NK_JSON_TRUE);
}

static nk_status put_float(nk_json_column *column, double value, nk_error *err)
{
	if (column->physical == NK_PHYSICAL_F64) {
		NK_TRY(reserve(column, (column->n_rows + 1) * (int64_t)sizeof(double), err));
		((double *)column->values)[column->n_rows] = value;
	} else {
		NK_TRY(reserve(column, (column->n_rows + 1) * (int64_t)sizeof(float), err));
		((float *)column->values)[column->n_rows] = (float)value;
	}
	return end_row(column, true, err);
}

static nk_status put_text(nk_json_column *column, const char *text, int64_t n, nk_error *err)
{
	NK_TRY(reserve(column, (column->n_rows + 1) * (int64_t)sizeof(nk_view), err));
	nk_view *view = (nk_view *)column->values + column->n_rows;
	if (n <= NK_VIEW_INLINE) {
		*view = nk_view_make(text, (uint32_t)n, 0, 0);
	} else {
		if (column->n_heap + n > UINT32_MAX)
			return nk_fail(err, NK_COMPUTE, "more than 4 GiB of text in a run of lines");
		NK_TRY(NK_GROW(column->memory, &column->heap, &column->heap_capacity, column->n_heap + n, err));
		memcpy(column->heap + column->n_heap, text, (size_t)n);
		*view = nk_view_make(text, (uint32_t)n, 0, (uint32_t)column->n_heap);
		column->n_heap += n;
	}
	return end_row(column, true, err);
}

/* Whatever it is, as text. */
static nk_status put_display(nk_json_column *column, nk_json_cursor *cursor, const uint32_t *from,
                             nk_error *err)
{
	cursor->at = from;
	column->text.n_bytes = 0;
	NK_TRY(nk_json_display(cursor, &column->text, err));
	return put_text(column, column->text.bytes, column->text.n_bytes, err);
}

/* ---- Dates and times ---- */

static int64_t units_of(int64_t days, int64_t nanoseconds, int64_t per_second, bool *fits_out)
{
	enum { SECONDS_PER_DAY = 86400 };
	int64_t per_unit = NK_NANOSECONDS_PER_SECOND / per_second;
	__int128 units = (__int128)days * SECONDS_PER_DAY * per_second + nanoseconds / per_unit;
	*fits_out = units == (int64_t)units;
	return (int64_t)units;
}

static bool parse_moment(const nk_json_column *column, const nk_json_value *value, __int128 *out)
{
	nk_type_id id = column->dtype->id;
	nk_parsed parsed = {0};
	if (id == NK_TYPE_TIME) {
		if (!nk_time_infer(value->text, value->n_bytes, &parsed))
			return false;
		*out = parsed.nanoseconds;
		return true;
	}
	if (!nk_moment_infer(value->text, value->n_bytes, &parsed) || !parsed.has_date)
		return false;
	*out = parsed.days;
	if (id == NK_TYPE_DATE)
		return !parsed.has_time;
	if (column->rules->is_document && !parsed.has_time)
		return false;
	int64_t offset = parsed.has_offset ? (int64_t)parsed.offset * NK_NANOSECONDS_PER_SECOND : 0;
	bool is_good;
	*out =
		units_of(parsed.days, parsed.nanoseconds - offset, nk_unit_per_second(column->dtype->unit), &is_good);
	return is_good;
}

/* ISO 8601 with hyphens is all that documents have; what is not like it is null there. */
static bool is_iso(const nk_json_value *value) { return value->n_bytes >= 10 && value->text[4] == '-'; }

static nk_status add_moment(nk_json_column *column, nk_json_cursor *cursor, const uint32_t *from,
                            const nk_json_value *value, nk_error *err)
{
	bool is_document = column->rules->is_document;
	nk_type_id id = column->dtype->id;
	__int128 number = 0;
	bool is_null = false;
	if (value->kind == NK_JSON_STRING && id != NK_TYPE_DURATION) {
		bool is_good =
			(!is_document || id == NK_TYPE_TIME || is_iso(value)) && parse_moment(column, value, &number);
		if (is_good && fits(column->physical, number))
			return put_integer(column, number, err);
		return is_document ? nk_json_column_add_null(column, err)
		                   : misfit(column, cursor, from, value->kind, err);
	}
	bool takes_numbers = id == NK_TYPE_DURATION || (is_document && id != NK_TYPE_DATETIME);
	if (takes_numbers && value->kind != NK_JSON_TRUE && value->kind != NK_JSON_FALSE &&
	    integer_of(column, value, &is_null, &number))
		return is_null || !fits(column->physical, number) ? nk_json_column_add_null(column, err)
		                                                  : put_integer(column, number, err);
	return misfit(column, cursor, from, value->kind, err);
}

static nk_status add_decimal(nk_json_column *column, nk_json_cursor *cursor, const uint32_t *from,
                             const nk_json_value *value, nk_error *err)
{
	char room[NK_FORMAT_POSITIONAL_BYTES];
	const char *text = room;
	int64_t n = 0;
	__int128 number;
	if (value->kind == NK_JSON_STRING)
		text = value->text, n = value->n_bytes;
	else if (value->kind == NK_JSON_INTEGER)
		n = nk_format_i64(value->integer, room);
	else if (value->kind == NK_JSON_WIDE && !value->is_unsigned)
		n = nk_format_i128(value->wide, room);
	if (value->kind == NK_JSON_FLOAT) {
		double scaled = nearbyint(value->number * (double)nk_power_of_ten(column->dtype->scale));
		if (fabs(scaled) < (double)nk_power_of_ten(column->dtype->precision))
			return put_integer(column, (__int128)scaled, err);
	}
	if (n > 0 && nk_parse_decimal(text, n, column->dtype->precision, column->dtype->scale, &number))
		return put_integer(column, number, err);
	return misfit(column, cursor, from, value->kind, err);
}

/* ---- Nested values ---- */

static int find_field(const nk_json_column *column, const char *name, int64_t n, int guess)
{
	const field_key *keys = column->keys;
	if (guess < column->n_children && keys[guess].n_bytes == n &&
	    memcmp(keys[guess].name, name, (size_t)n) == 0)
		return guess;
	if (column->table) {
		uint32_t at = (uint32_t)nk_hash_bytes(name, n), found;
		for (; (found = column->table[at & column->table_mask]); at++)
			if (keys[found - 1].n_bytes == n && memcmp(keys[found - 1].name, name, (size_t)n) == 0)
				return (int)found - 1;
		return -1;
	}
	for (int i = 0; i < column->n_children; i++)
		if (keys[i].n_bytes == n && memcmp(keys[i].name, name, (size_t)n) == 0)
			return i;
	return -1;
}

static nk_status add_object(nk_json_column *column, nk_json_cursor *cursor, nk_error *err)
{
	int guess = 0;
	bool more;
	for (bool first = true;; first = false) {
		const char *key;
		int64_t n_key;
		NK_TRY(nk_json_next(cursor, '}', first, &more, err));
		if (!more)
			break;
		NK_TRY(nk_json_key(cursor, &key, &n_key, err));
		int i = find_field(column, key, n_key, guess);
		if (i < 0 && column->rules->refuses_unknown)
			return nk_fail(err, NK_COMPUTE,
			               "extra field in struct data: %.*s, consider increasing infer_schema_length, or "
			               "manually specifying the full schema to ignore extra fields",
			               (int)NK_MIN(n_key, (int64_t)100), key);
		if (i < 0 || column->rows_seen[i] > column->n_rows) {
			NK_TRY(nk_json_skip(cursor, err));
			continue;
		}
		nk_status status = nk_json_column_add(column->children[i], cursor, err);
		if (status != NK_OK)
			return status;
		column->rows_seen[i] = column->n_rows + 1;
		guess = i + 1;
	}
	return end_struct(column, true, err);
}

static nk_status add_array(nk_json_column *column, nk_json_cursor *cursor, nk_error *err)
{
	nk_json_column *items = column->children[0];
	int64_t n_before = items->n_rows;
	bool more;
	for (bool first = true;; first = false) {
		NK_TRY(nk_json_next(cursor, ']', first, &more, err));
		if (!more)
			break;
		NK_TRY(nk_json_column_add(items, cursor, err));
	}
	if (column->dtype->id == NK_TYPE_ARRAY && items->n_rows - n_before != column->dtype->width)
		return nk_fail(err, NK_COMPUTE, "%lld items for an Array of width %lld",
		               (long long)(items->n_rows - n_before), (long long)column->dtype->width);
	return end_list(column, true, err);
}

static nk_status add_nested(nk_json_column *column, nk_json_cursor *cursor, const uint32_t *from,
                            const nk_json_value *value, nk_error *err)
{
	if (column->dtype->id == NK_TYPE_STRUCT)
		return value->kind == NK_JSON_OBJECT ? add_object(column, cursor, err)
		                                     : misfit(column, cursor, from, value->kind, err);
	if (value->kind == NK_JSON_ARRAY)
		return add_array(column, cursor, err);
	if (!column->rules->is_document || value->kind == NK_JSON_OBJECT || column->dtype->id == NK_TYPE_ARRAY)
		return misfit(column, cursor, from, value->kind, err);
	cursor->at = from; /* one value is a list of one */
	NK_TRY(nk_json_column_add(column->children[0], cursor, err));
	return end_list(column, true, err);
}

nk_status nk_json_column_add(nk_json_column *column, nk_json_cursor *cursor, nk_error *err)
{
	const uint32_t *from = cursor->at;
	nk_json_value value;
	NK_TRY(nk_json_read(cursor, &value, err));
	if (value.kind == NK_JSON_NULL)
		return nk_json_column_add_null(column, err);
	nk_type_id id = column->dtype->id;
	bool is_number = value.kind >= NK_JSON_INTEGER && value.kind <= NK_JSON_FLOAT;
	switch (id) {
	case NK_TYPE_NULL: return misfit(column, cursor, from, value.kind, err);
	case NK_TYPE_BOOLEAN:
		if (value.kind != NK_JSON_TRUE && value.kind != NK_JSON_FALSE)
			return misfit(column, cursor, from, value.kind, err);
		return put_bit(column, value.kind == NK_JSON_TRUE, true, err);
	case NK_TYPE_INT64:
		if (value.kind == NK_JSON_INTEGER) {
			NK_TRY(reserve(column, (column->n_rows + 1) * (int64_t)sizeof(int64_t), err));
			((int64_t *)column->values)[column->n_rows] = value.integer;
			return end_row(column, true, err);
		}
		break;
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64:
		if (is_number || (column->rules->is_document && value.kind < NK_JSON_INTEGER))
			return put_float(column, float_of(&value), err);
		return misfit(column, cursor, from, value.kind, err);
	case NK_TYPE_STRING:
		if (value.kind == NK_JSON_STRING)
			return put_text(column, value.text, value.n_bytes, err);
		if (column->rules->is_document && value.kind >= NK_JSON_ARRAY)
			return misfit(column, cursor, from, value.kind, err);
		return put_display(column, cursor, from, err);
	case NK_TYPE_BINARY:
		return value.kind == NK_JSON_STRING ? put_text(column, value.text, value.n_bytes, err)
		                                    : misfit(column, cursor, from, value.kind, err);
	case NK_TYPE_DATE:
	case NK_TYPE_DATETIME:
	case NK_TYPE_DURATION:
	case NK_TYPE_TIME: return add_moment(column, cursor, from, &value, err);
	case NK_TYPE_DECIMAL: return add_decimal(column, cursor, from, &value, err);
	case NK_TYPE_LIST:
	case NK_TYPE_ARRAY:
	case NK_TYPE_STRUCT: return add_nested(column, cursor, from, &value, err);
	default: break;
	}
	__int128 number = 0;
	bool is_null = false;
	if (!integer_of(column, &value, &is_null, &number))
		return misfit(column, cursor, from, value.kind, err);
	if (!is_null && fits(column->physical, number))
		return put_integer(column, number, err);
	return column->rules->is_document ? nk_json_column_add_null(column, err)
	                                  : misfit(column, cursor, from, value.kind, err);
}

/* ---- Arrays ---- */

static nk_status copy_out(nk_memory *memory, const void *bytes, int64_t n_bytes, nk_buffer **out,
                          nk_error *err)
{
	NK_TRY(nk_buffer_new(memory, n_bytes, out, err));
	if (n_bytes > 0)
		memcpy((*out)->bytes, bytes, (size_t)n_bytes);
	return NK_OK;
}

/* Children are flat, those of Null too. */
static nk_status finish_child(nk_json_column *column, int i, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_json_column_finish(column->children[i], &array, err));
	return nk_array_flatten(column->memory, array, out, err);
}

static nk_status finish_struct(nk_json_column *column, nk_buffer *validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) bits = validity;
	nk_array **fields = calloc((size_t)column->n_children + 1, sizeof(nk_array *));
	if (!fields)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for fields");
	nk_status status = NK_OK;
	int n = 0;
	while (status == NK_OK && n < column->n_children) {
		column->rows_seen[n] = 0;
		status = finish_child(column, n, &fields[n], err);
		n += status == NK_OK;
	}
	if (status == NK_OK)
		status = nk_array_new_struct(column->dtype, column->n_rows, fields, NK_STEAL(bits), column->n_nulls,
		                             out, err);
	else
		while (n > 0)
			nk_array_unref(fields[--n]);
	free(fields);
	return status;
}

static nk_status finish_list(nk_json_column *column, nk_buffer *validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) bits = validity;
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(nk_buffer_new(column->memory, (column->n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	((int64_t *)offsets->bytes)[0] = 0;
	if (column->n_rows > 0)
		memcpy(offsets->bytes + sizeof(int64_t), column->values, (size_t)column->n_rows * sizeof(int64_t));
	NK_TRY(finish_child(column, 0, &items, err));
	return nk_array_new_list(column->dtype, column->n_rows, NK_STEAL(offsets), NK_STEAL(items),
	                         NK_STEAL(bits), column->n_nulls, out, err);
}

static nk_status finish_flat(nk_json_column *column, nk_buffer *validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) bits = validity;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	int64_t n_bytes = column->physical == NK_PHYSICAL_BOOL
	                      ? nk_bitmap_bytes(column->n_rows)
	                      : column->n_rows * nk_physical_size(column->physical);
	NK_TRY(copy_out(column->memory, column->values, n_bytes, &values, err));
	if (column->n_heap > 0) {
		nk_buffer *text;
		NK_TRY(copy_out(column->memory, column->heap, column->n_heap, &text, err));
		NK_TRY(nk_heap_new(&text, 1, &heap, err));
	}
	return nk_array_new_flat(column->dtype, column->physical, column->n_rows, NK_STEAL(values),
	                         NK_STEAL(bits), column->n_nulls, NK_STEAL(heap), out, err);
}

nk_status nk_json_column_finish(nk_json_column *column, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) validity = NULL;
	nk_status status;
	if (column->physical == NK_PHYSICAL_NONE) {
		status = nk_array_new_null(column->memory, column->dtype, column->n_rows, out, err);
	} else {
		if (column->n_nulls > 0)
			NK_TRY(
				copy_out(column->memory, column->validity, nk_bitmap_bytes(column->n_rows), &validity, err));
		status = column->physical == NK_PHYSICAL_STRUCT ? finish_struct(column, NK_STEAL(validity), out, err)
		         : column->physical == NK_PHYSICAL_LIST ? finish_list(column, NK_STEAL(validity), out, err)
		                                                : finish_flat(column, NK_STEAL(validity), out, err);
	}
	column->n_rows = column->n_nulls = column->n_heap = 0;
	return status;
}
