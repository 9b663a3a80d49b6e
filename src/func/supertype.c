/* Written as rules over classes of dtypes rather than as a table: unit by unit the rules are short, and
 * parameters (units, zones, scales) fall out of them. */
#include "func/supertype.h"

#include <string.h>

static int bits_of_integer(nk_type_id id)
{
	switch (id) {
	case NK_TYPE_INT8:
	case NK_TYPE_UINT8: return 8;
	case NK_TYPE_INT16:
	case NK_TYPE_UINT16: return 16;
	case NK_TYPE_INT32:
	case NK_TYPE_UINT32: return 32;
	case NK_TYPE_INT64:
	case NK_TYPE_UINT64: return 64;
	default: return 128;
	}
}

static const nk_dtype *signed_of_bits(int bits)
{
	return nk_dtype_of(bits <= 8    ? NK_TYPE_INT8
	                   : bits <= 16 ? NK_TYPE_INT16
	                   : bits <= 32 ? NK_TYPE_INT32
	                   : bits <= 64 ? NK_TYPE_INT64
	                                : NK_TYPE_INT128);
}

static const nk_dtype *of_integers(const nk_dtype *a, const nk_dtype *b)
{
	int bits_a = bits_of_integer(a->id), bits_b = bits_of_integer(b->id);
	if (nk_type_is_signed(a->id) == nk_type_is_signed(b->id))
		return bits_a >= bits_b ? a : b;
	int bits_signed = nk_type_is_signed(a->id) ? bits_a : bits_b;
	int bits_unsigned = nk_type_is_signed(a->id) ? bits_b : bits_a;
	return signed_of_bits(bits_signed > bits_unsigned ? bits_signed : 2 * bits_unsigned);
}

/* A number with Float32: 8 and 16-bit integers stay, wider ones need doubles. */
static const nk_dtype *of_float32(const nk_dtype *other)
{
	if (other->id == NK_TYPE_FLOAT32 || (nk_type_is_integer(other->id) && bits_of_integer(other->id) <= 16))
		return nk_dtype_of(NK_TYPE_FLOAT32);
	return nk_dtype_of(NK_TYPE_FLOAT64);
}

static int digits_of_integer(nk_type_id id)
{
	int bits = bits_of_integer(id);
	return bits == 8 ? 3 : bits == 16 ? 5 : bits == 32 ? 10 : 20;
}

static const nk_dtype *of_decimals(const nk_dtype *a, const nk_dtype *b)
{
	if (b->id == NK_TYPE_DECIMAL) {
		int scale = a->scale > b->scale ? a->scale : b->scale;
		int whole = NK_MAX(a->precision - a->scale, b->precision - b->scale);
		return nk_dtype_decimal(whole + scale > 38 ? 38 : whole + scale, scale);
	}
	if (digits_of_integer(b->id) <= a->precision - a->scale)
		return a;
	return nk_dtype_decimal(38, a->scale);
}

static const nk_dtype *of_numbers(const nk_dtype *a, const nk_dtype *b)
{
	if (a->id == NK_TYPE_FLOAT64 || b->id == NK_TYPE_FLOAT64)
		return nk_dtype_of(NK_TYPE_FLOAT64);
	if (a->id == NK_TYPE_FLOAT32)
		return of_float32(b);
	if (b->id == NK_TYPE_FLOAT32)
		return of_float32(a);
	if (a->id == NK_TYPE_DECIMAL)
		return of_decimals(a, b);
	if (b->id == NK_TYPE_DECIMAL)
		return of_decimals(b, a);
	return of_integers(a, b);
}

static bool same_zone(const nk_dtype *a, const nk_dtype *b)
{
	if (!a->time_zone || !b->time_zone)
		return a->time_zone == b->time_zone;
	return strcmp(a->time_zone, b->time_zone) == 0;
}

static nk_time_unit coarser(const nk_dtype *a, const nk_dtype *b)
{
	return a->unit < b->unit ? a->unit : b->unit;
}

static const nk_dtype *of_temporal(const nk_dtype *a, const nk_dtype *b)
{
	if (a->id == NK_TYPE_DATE)
		return b->id == NK_TYPE_DATETIME ? b : b->id == NK_TYPE_DURATION ? a : NULL;
	if (a->id == NK_TYPE_DATETIME && b->id == NK_TYPE_DATE)
		return a;
	if (a->id == NK_TYPE_DATETIME && b->id == NK_TYPE_DATETIME)
		return same_zone(a, b) ? nk_dtype_datetime(coarser(a, b), a->time_zone) : NULL;
	if (a->id == NK_TYPE_DATETIME && b->id == NK_TYPE_DURATION)
		return nk_dtype_datetime(coarser(a, b), a->time_zone);
	if (a->id == NK_TYPE_DURATION && b->id == NK_TYPE_DURATION)
		return nk_dtype_duration(coarser(a, b));
	return NULL;
}

static const nk_dtype *of_temporal_and_number(const nk_dtype *temporal, const nk_dtype *number)
{
	bool is_date = temporal->id == NK_TYPE_DATE, is_time = temporal->id == NK_TYPE_TIME;
	switch (number->id) {
	case NK_TYPE_INT32: return nk_dtype_of(is_date ? NK_TYPE_INT32 : NK_TYPE_INT64);
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64: return is_time ? NULL : nk_dtype_of(NK_TYPE_INT64);
	case NK_TYPE_INT64: return number;
	case NK_TYPE_FLOAT32: return nk_dtype_of(is_date ? NK_TYPE_FLOAT32 : NK_TYPE_FLOAT64);
	case NK_TYPE_FLOAT64: return number;
	default: return NULL;
	}
}

static const nk_dtype *of_structs(const nk_dtype *a, const nk_dtype *b)
{
	enum { MAX_FIELDS = 256 };
	nk_field fields[MAX_FIELDS];
	if (a->n_fields != b->n_fields || a->n_fields > MAX_FIELDS)
		return NULL;
	for (int i = 0; i < a->n_fields; i++) {
		if (strcmp(a->fields[i].name, b->fields[i].name) != 0)
			return NULL;
		fields[i] = (nk_field){a->fields[i].name, nk_supertype(a->fields[i].dtype, b->fields[i].dtype)};
		if (!fields[i].dtype)
			return NULL;
	}
	return nk_dtype_struct(fields, a->n_fields);
}

const nk_dtype *nk_supertype(const nk_dtype *a, const nk_dtype *b)
{
	if (a == b)
		return a;
	if (a->id == NK_TYPE_NULL)
		return b;
	if (b->id == NK_TYPE_NULL)
		return a;
	if (nk_type_is_numeric(a->id) && nk_type_is_numeric(b->id))
		return of_numbers(a, b);
	if (nk_type_is_nested(a->id) || nk_type_is_nested(b->id)) {
		if (a->physical == NK_PHYSICAL_LIST && b->physical == NK_PHYSICAL_LIST) {
			const nk_dtype *item = nk_supertype(a->fields[0].dtype, b->fields[0].dtype);
			bool is_array = a->id == NK_TYPE_ARRAY && b->id == NK_TYPE_ARRAY;
			if (!item || (is_array && a->width != b->width))
				return NULL;
			return is_array ? nk_dtype_array(item, a->width) : nk_dtype_list(item);
		}
		return a->id == NK_TYPE_STRUCT && b->id == NK_TYPE_STRUCT ? of_structs(a, b) : NULL;
	}
	if (a->id == NK_TYPE_BINARY || b->id == NK_TYPE_BINARY)
		return nk_type_is_textual(a->id) && nk_type_is_textual(b->id) ? nk_dtype_of(NK_TYPE_BINARY) : NULL;
	if (a->id == NK_TYPE_STRING || b->id == NK_TYPE_STRING) {
		bool is_duration = a->id == NK_TYPE_DURATION || b->id == NK_TYPE_DURATION;
		return is_duration ? NULL : nk_dtype_of(NK_TYPE_STRING);
	}
	if (a->id == NK_TYPE_BOOLEAN || b->id == NK_TYPE_BOOLEAN) {
		const nk_dtype *other = a->id == NK_TYPE_BOOLEAN ? b : a;
		return nk_type_is_numeric(other->id) && other->id != NK_TYPE_DECIMAL ? other : NULL;
	}
	if (nk_type_is_category(a->id) || nk_type_is_category(b->id))
		return NULL;
	if (nk_type_is_temporal(a->id) && nk_type_is_temporal(b->id)) {
		const nk_dtype *meet = of_temporal(a, b);
		return meet || a->id == NK_TYPE_DURATION ? meet : of_temporal(b, a);
	}
	if (nk_type_is_temporal(a->id))
		return of_temporal_and_number(a, b);
	if (nk_type_is_temporal(b->id))
		return of_temporal_and_number(b, a);
	return NULL;
}

nk_status nk_supertype_fail(const nk_dtype *a, const nk_dtype *b, nk_error *err)
{
	const nk_dtype *duration = a->id == NK_TYPE_DURATION ? b : b->id == NK_TYPE_DURATION ? a : NULL;
	bool is_invalid = duration && (duration->id == NK_TYPE_STRING || duration->id == NK_TYPE_DATE ||
	                               duration->id == NK_TYPE_DATETIME);
	is_invalid |= (a->id == NK_TYPE_STRING && b->id == NK_TYPE_LIST) ||
	              (a->id == NK_TYPE_LIST && b->id == NK_TYPE_STRING);
	return nk_fail(err, is_invalid ? NK_INVALID_OPERATION : NK_SCHEMA_MISMATCH,
	               "failed to determine supertype of %s and %s", nk_dtype_short_name(a),
	               nk_dtype_short_name(b));
}

bool nk_dtype_holds_integer(const nk_dtype *dtype, __int128 value)
{
	int bits = bits_of_integer(dtype->id);
	if (bits == 128)
		return true;
	if (nk_type_is_unsigned(dtype->id))
		return value >= 0 && value < (__int128)1 << bits;
	return value >= -((__int128)1 << (bits - 1)) && value < (__int128)1 << (bits - 1);
}

const nk_dtype *nk_dtype_of_integer(__int128 value)
{
	static const nk_type_id ids[] = {NK_TYPE_INT32, NK_TYPE_INT64, NK_TYPE_UINT64};
	for (int i = 0; i < NK_COUNT(ids); i++)
		if (nk_dtype_holds_integer(nk_dtype_of(ids[i]), value))
			return nk_dtype_of(ids[i]);
	return nk_dtype_of(NK_TYPE_INT128);
}

/* The smallest dtype of the column's kind, at least as wide as the column, that holds the literal. */
static const nk_dtype *integer_beside(const nk_dtype *column, __int128 value, bool *lossy)
{
	static const nk_type_id signed_ids[] = {NK_TYPE_INT8, NK_TYPE_INT16, NK_TYPE_INT32, NK_TYPE_INT64,
	                                        NK_TYPE_INT128};
	static const nk_type_id unsigned_ids[] = {NK_TYPE_UINT8, NK_TYPE_UINT16, NK_TYPE_UINT32, NK_TYPE_UINT64};
	if (nk_dtype_holds_integer(column, value))
		return column;
	if (column->id == NK_TYPE_UINT64 && value < 0) {
		*lossy = true;
		return nk_dtype_of(NK_TYPE_INT64);
	}
	bool is_unsigned = nk_type_is_unsigned(column->id) && value >= 0;
	const nk_type_id *ids = is_unsigned ? unsigned_ids : signed_ids;
	int n_ids = is_unsigned ? NK_COUNT(unsigned_ids) : NK_COUNT(signed_ids);
	for (int i = 0; i < n_ids; i++)
		if (nk_dtype_holds_integer(nk_dtype_of(ids[i]), value))
			return of_integers(column, nk_dtype_of(ids[i]));
	return nk_dtype_of(NK_TYPE_INT128);
}

static const nk_dtype *of_literal(const nk_dtype *column, const nk_argument *literal, bool *lossy)
{
	const nk_dtype *own = literal->dtype;
	bool is_integer = nk_type_is_integer(own->id), is_float = nk_type_is_float(own->id);
	if (nk_type_is_integer(column->id) && is_integer) {
		bool is_known = literal->literal && !literal->literal->is_null;
		__int128 low = is_known ? literal->literal->integer : literal->low,
				 high = is_known ? low : literal->high;
		const nk_dtype *both = integer_beside(column, low, lossy);
		if (high != low)
			both = integer_beside(both, high, lossy);
		*lossy |=
			!literal->literal && nk_supertype(both, own) != both; /* results may lie outside the bounds */
		return both;
	}
	if (nk_type_is_integer(column->id) && is_float)
		return nk_dtype_of(NK_TYPE_FLOAT64);
	if (column->id == NK_TYPE_DECIMAL && is_integer)
		return nk_dtype_decimal(38, column->scale);
	if ((nk_type_is_float(column->id) || nk_type_is_temporal(column->id)) && (is_integer || is_float))
		return column;
	return nk_supertype(column, own);
}

nk_argument nk_argument_meet(const nk_argument *a, const nk_argument *b, const nk_dtype *dtype)
{
	nk_argument both = {.dtype = dtype, .is_untyped = a->is_untyped && b->is_untyped};
	bool has_a = nk_type_is_integer(a->dtype->id), has_b = nk_type_is_integer(b->dtype->id);
	if (both.is_untyped && (has_a || has_b)) {
		both.low = !has_b || (has_a && a->low < b->low) ? a->low : b->low;
		both.high = !has_b || (has_a && a->high > b->high) ? a->high : b->high;
	}
	return both;
}

const nk_dtype *nk_supertype_of_arguments(const nk_argument *a, const nk_argument *b, bool *lossy)
{
	if (a->literal && a->dtype->id == NK_TYPE_STRING && nk_type_is_category(b->dtype->id))
		return b->dtype;
	if (b->literal && b->dtype->id == NK_TYPE_STRING && nk_type_is_category(a->dtype->id))
		return a->dtype;
	if (a->is_untyped == b->is_untyped)
		return nk_supertype(a->dtype, b->dtype);
	return a->is_untyped ? of_literal(b->dtype, a, lossy) : of_literal(a->dtype, b, lossy);
}
