/* cast: numbers through blocks of wide values, Decimals by powers of ten, temporal types by their units, nested types
 * by their parts, text by parsing and formatting. Casts that only rename the dtype share the values. */
#include "func/cast.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "columnar/categories.h"
#include "columnar/format.h"
#include "compute/convert.h"
#include "compute/decimal.h"
#include "func/cast_internal.h"
#include "func/func.h"

enum { SECONDS_PER_DAY = 86400 };

/* ---- Failures ---- */

nk_status nk__casting_fail(nk_casting *casting, int64_t row, nk_error *err)
{
	if (!nk__casting_valid(casting, row))
		return NK_OK;
	int64_t n_rows = casting->array->n_rows;
	if (!casting->validity) {
		NK_TRY(nk_buffer_new(casting->memory, nk_bitmap_bytes(n_rows), &casting->validity, err));
		if (casting->array->validity)
			memcpy(casting->validity->bytes, casting->array->validity, (size_t)nk_bitmap_bytes(n_rows));
		else
			nk_bitmap_fill(casting->validity->bytes, 0, n_rows, true);
	}
	nk_bitmap_clear(casting->validity->bytes, row);
	casting->n_failed++;
	return NK_OK;
}

nk_status nk__casting_error(const nk_casting *casting, nk_error *err)
{
	enum { N_SHOWN = 10 };
	const nk_array *array = casting->array;
	NK_TEXT(values);
	int n_shown = 0;
	for (int64_t i = 0; i < array->n_rows && n_shown < N_SHOWN; i++) {
		if (!nk__casting_valid(casting, i) || nk_bitmap_get(casting->validity->bytes, i))
			continue;
		nk_text_append_string(&values, n_shown++ ? ", " : "");
		nk_print_value(&values, array, i, true, &(nk_print_options){0});
	}
	if (casting->n_failed > N_SHOWN)
		nk_text_append_string(&values, ", ...");
	NK_TRY(nk_text_finish(&values, err));
	return nk_fail(err, NK_INVALID_OPERATION,
	               "conversion from `%s` to `%s` failed for %lld out of %lld values: [%s]",
	               nk_dtype_short_name(array->dtype), nk_dtype_short_name(casting->dtype),
	               (long long)casting->n_failed, (long long)array->n_rows, values.bytes);
}

nk_status nk__validity_buffer(nk_memory *memory, const nk_array *array, nk_buffer **out, nk_error *err)
{
	*out = NULL;
	if (!array->validity)
		return NK_OK;
	if (array->validity_buffer && array->validity == array->validity_buffer->bytes) {
		*out = nk_buffer_ref(array->validity_buffer);
		return NK_OK;
	}
	/* The bits start inside of the buffer. */
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(array->n_rows), out, err));
	memcpy((*out)->bytes, array->validity, (size_t)nk_bitmap_bytes(array->n_rows));
	return NK_OK;
}

nk_status nk__casting_finish(nk_casting *casting, nk_physical physical, nk_buffer *values, nk_heap *heap,
                             nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) owned_values = values;
	NK_AUTO(nk_heap) owned_heap = heap;
	NK_AUTO(nk_array) result = NULL;
	if (casting->n_failed > 0 && casting->mode.strict)
		return nk__casting_error(casting, err);
	nk_buffer *validity = NULL;
	int64_t n_nulls = casting->validity ? -1 : casting->array->n_nulls, n_rows = casting->array->n_rows;
	if (casting->validity)
		validity = nk_buffer_ref(casting->validity);
	else
		NK_TRY(nk__validity_buffer(casting->memory, casting->array, &validity, err));
	NK_TRY(nk_array_new_flat(casting->dtype, physical, n_rows, NK_STEAL(owned_values), validity, n_nulls,
	                         NK_STEAL(owned_heap), &result, err));
	if (casting->dtype->id == NK_TYPE_DECIMAL && physical == NK_PHYSICAL_I128)
		return nk_decimal_narrow(casting->memory, casting->dtype, NK_STEAL(result), out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

/* ---- Numbers ---- */

static bool is_bad_overlooked(const nk_casting *casting) { return casting->mode.wraps; }

static nk_status mark(nk_casting *casting, const uint8_t *bad, int64_t first, int64_t n, nk_error *err)
{
	if (is_bad_overlooked(casting))
		return NK_OK;
	for (int64_t i = 0; i < n; i++)
		if (bad[i])
			NK_TRY(nk__casting_fail(casting, first + i, err));
	return NK_OK;
}

/* Between integers and floats by physical type, whatever the dtypes. */
static nk_status cast_numbers(nk_casting *casting, nk_physical from, nk_physical to, nk_array **out,
                              nk_error *err)
{
	const nk_convert_table *table = NK_ISA_TABLE(nk__convert);
	int64_t n_rows = casting->array->n_rows;
	int width_from = nk_physical_size(from), width_to = nk_physical_size(to);
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new(casting->memory, n_rows * width_to, &values, err));
	bool from_float = from == NK_PHYSICAL_F32 || from == NK_PHYSICAL_F64;
	bool from_wide = from == NK_PHYSICAL_U64 || from == NK_PHYSICAL_I128;
	for (int64_t i = 0; i < n_rows; i += NK_CONVERT_BLOCK) {
		union {
			int64_t integers[NK_CONVERT_BLOCK];
			__int128 wide[NK_CONVERT_BLOCK];
			double floats[NK_CONVERT_BLOCK];
		} block;
		uint8_t bad[NK_CONVERT_BLOCK];
		int64_t n = n_rows - i < NK_CONVERT_BLOCK ? n_rows - i : NK_CONVERT_BLOCK;
		const char *at = (const char *)casting->array->values + i * width_from;
		char *into = (char *)values->bytes + i * width_to;
		bool any;
		if (from_float) {
			table->load_float[from](block.floats, at, n);
			any = table->store_float[to](into, block.floats, n, bad);
		} else if (from_wide) {
			table->load_wide[from](block.wide, at, n);
			any = table->store_wide[to](into, block.wide, n, bad);
		} else {
			table->load_int[from](block.integers, at, n);
			any = table->store_int[to](into, block.integers, n, bad);
		}
		if (any)
			NK_TRY(mark(casting, bad, i, n, err));
	}
	return nk__casting_finish(casting, to, NK_STEAL(values), NULL, out, err);
}

/* Booleans as bytes, so that they load like numbers. */
static nk_status bytes_of_bits(nk_memory *memory, const nk_array *array, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new(memory, array->n_rows, &values, err));
	for (int64_t i = 0; i < array->n_rows; i++)
		values->bytes[i] = nk_bitmap_get(array->values, i);
	nk_buffer *validity;
	NK_TRY(nk__validity_buffer(memory, array, &validity, err));
	return nk_array_new_flat(nk_dtype_of(NK_TYPE_UINT8), NK_PHYSICAL_U8, array->n_rows, NK_STEAL(values),
	                         validity, array->n_nulls, NULL, out, err);
}

/* What is not zero, NaN included, is true. */
static nk_status cast_to_boolean(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	int width = nk_physical_size(array->physical);
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new_zeroed(casting->memory, nk_bitmap_bytes(array->n_rows), &values, err));
	for (int64_t i = 0; i < array->n_rows; i++) {
		bool is_true;
		if (array->physical == NK_PHYSICAL_F32)
			is_true = ((const float *)array->values)[i] != 0;
		else if (array->physical == NK_PHYSICAL_F64)
			is_true = ((const double *)array->values)[i] != 0;
		else {
			static const __int128 zero = 0;
			is_true = memcmp((const char *)array->values + i * width, &zero, (size_t)width) != 0;
		}
		values->bytes[i >> 3] |= (uint8_t)(is_true << (i & 7));
	}
	return nk__casting_finish(casting, NK_PHYSICAL_BOOL, NK_STEAL(values), NULL, out, err);
}

/* ---- Decimals ---- */

static __int128 integer_at(const nk_array *array, int64_t i)
{
	__int128 value;
	NK_ISA_TABLE(nk__convert)
		->load_wide[array->physical](&value,
	                                 (const char *)array->values + i * nk_physical_size(array->physical), 1);
	return value;
}

static bool has_digits(__int128 value, int precision)
{
	__int128 limit = nk_power_of_ten(precision);
	return value < limit && value > -limit;
}

/* Integers at scale 0 and full precision are Decimals as they are, in 64 bits when they are no wider. */
static nk_status integers_as_decimals(nk_casting *casting, nk_array **out, nk_error *err)
{
	nk_physical to =
		casting->array->physical == NK_PHYSICAL_U64 || casting->array->physical == NK_PHYSICAL_I128
			? NK_PHYSICAL_I128
			: NK_PHYSICAL_I64;
	return cast_numbers(casting, casting->array->physical, to, out, err);
}

static nk_status cast_to_decimal(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	const nk_dtype *to = casting->dtype, *from = array->dtype;
	bool from_decimal = from->id == NK_TYPE_DECIMAL, from_float = nk_type_is_float(from->id);
	if (!from_decimal && !from_float && to->scale == 0 && to->precision >= 38 &&
	    array->physical != NK_PHYSICAL_I128)
		return integers_as_decimals(casting, out, err);
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new_zeroed(casting->memory, array->n_rows * (int64_t)sizeof(__int128), &values, err));
	__int128 *into = (__int128 *)values->bytes;
	int scale_from = from_decimal ? from->scale : 0;
	double unit = pow(10, to->scale), limit = pow(10, to->precision);
	for (int64_t i = 0; i < array->n_rows; i++) {
		if (!nk__casting_valid(casting, i))
			continue;
		bool ok;
		if (from_float) {
			double value = array->physical == NK_PHYSICAL_F32 ? (double)((const float *)array->values)[i]
			                                                  : ((const double *)array->values)[i];
			value = nearbyint(value * unit);
			ok = value < limit && value > -limit;
			into[i] = ok ? (__int128)value : 0;
		} else {
			ok = nk_decimal_rescale(integer_at(array, i), scale_from, to->scale, NK_ROUND_HALF_EVEN,
			                        &into[i]) &&
			     has_digits(into[i], to->precision);
			into[i] = ok ? into[i] : 0;
		}
		if (!ok)
			NK_TRY(nk__casting_fail(casting, i, err));
	}
	return nk__casting_finish(casting, NK_PHYSICAL_I128, NK_STEAL(values), NULL, out, err);
}

static nk_status cast_from_decimal(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	nk_physical to = casting->dtype->physical;
	bool to_float = nk_type_is_float(casting->dtype->id);
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new(casting->memory, array->n_rows * nk_physical_size(to), &values, err));
	double unit = pow(10, array->dtype->scale);
	if (to == NK_PHYSICAL_F64 && array->physical == NK_PHYSICAL_I64) {
		const int64_t *from = array->values;
		double *floats = (double *)values->bytes;
		for (int64_t i = 0; i < array->n_rows; i++)
			floats[i] = (double)from[i] / unit;
		return nk__casting_finish(casting, to, NK_STEAL(values), NULL, out, err);
	}
	const nk_convert_table *table = NK_ISA_TABLE(nk__convert);
	__int128 divisor = nk_power_of_ten(array->dtype->scale);
	for (int64_t i = 0; i < array->n_rows; i++) {
		__int128 value = integer_at(array, i), whole = value / divisor;
		char *into = (char *)values->bytes + i * nk_physical_size(to);
		uint8_t bad = 0;
		if (to_float)
			table->store_float[to](into, &(double){(double)value / unit}, 1, &bad);
		else
			table->store_wide[to](into, &whole, 1, &bad);
		if (bad && !to_float)
			NK_TRY(mark(casting, &bad, i, 1, err));
	}
	return nk__casting_finish(casting, to, NK_STEAL(values), NULL, out, err);
}

/* ---- Dates and times ---- */

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* How a temporal value becomes another: multiplied, or divided (rounding down or towards zero). */
typedef struct unit_step {
	int64_t factor, divisor;
	bool floors;
	int64_t modulus; /* 0: none; else what is left of it, before the factor */
} unit_step;

static bool step_between(const nk_dtype *from, const nk_dtype *to, unit_step *step)
{
	int64_t per_from = from->id == NK_TYPE_TIME ? 1000000000 : nk_unit_per_second(from->unit);
	int64_t per_to = to->id == NK_TYPE_TIME ? 1000000000 : nk_unit_per_second(to->unit);
	*step = (unit_step){.factor = 1, .divisor = 1, .floors = from->id != NK_TYPE_DURATION};
	if (from->id == NK_TYPE_DATE) {
		step->factor = SECONDS_PER_DAY * per_to;
		return to->id == NK_TYPE_DATETIME;
	}
	if (to->id == NK_TYPE_DATE) {
		step->divisor = SECONDS_PER_DAY * per_from;
		return from->id == NK_TYPE_DATETIME;
	}
	if (to->id == NK_TYPE_TIME && from->id == NK_TYPE_DATETIME)
		step->modulus = SECONDS_PER_DAY * per_from;
	else if (from->id != to->id && !(from->id == NK_TYPE_TIME && to->id == NK_TYPE_DURATION))
		return false;
	if (per_to >= per_from)
		step->factor = per_to / per_from;
	else
		step->divisor = per_from / per_to;
	return true;
}

static nk_status cast_temporal(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	unit_step step;
	step_between(array->dtype, casting->dtype, &step);
	int64_t n_rows = array->n_rows;
	nk_physical to = casting->dtype->physical;
	bool from_days = array->physical == NK_PHYSICAL_I32, to_days = to == NK_PHYSICAL_I32;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new(casting->memory, n_rows * nk_physical_size(to), &values, err));
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t value = from_days ? ((const int32_t *)array->values)[i] : ((const int64_t *)array->values)[i];
		if (step.modulus)
			value -= floor_divide(value, step.modulus) * step.modulus;
		bool overflow = __builtin_mul_overflow(value, step.factor, &value);
		if (step.divisor > 1)
			value = step.floors ? floor_divide(value, step.divisor) : value / step.divisor;
		overflow |= to_days && value != (int32_t)value;
		if (to_days)
			((int32_t *)values->bytes)[i] = (int32_t)value;
		else
			((int64_t *)values->bytes)[i] = value;
		if (NK_UNLIKELY(overflow))
			NK_TRY(nk__casting_fail(casting, i, err));
	}
	return nk__casting_finish(casting, to, NK_STEAL(values), NULL, out, err);
}

/* A number as a Time must lie within a day. */
static nk_status check_times(nk_casting *casting, nk_array *times, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) owned = times;
	const int64_t *values = times->values;
	nk_casting checking = {casting->memory, times, casting->dtype, casting->mode, NULL, 0};
	nk_status status = NK_OK;
	for (int64_t i = 0; i < times->n_rows && status == NK_OK; i++)
		if (values[i] < 0 || values[i] >= SECONDS_PER_DAY * (int64_t)1000000000)
			status = nk__casting_fail(&checking, i, err);
	if (status == NK_OK && checking.n_failed == 0) {
		*out = NK_STEAL(owned);
		return NK_OK;
	}
	if (status == NK_OK)
		status = nk__casting_finish(&checking, NK_PHYSICAL_I64, nk_buffer_ref(times->values_buffer), NULL,
		                            out, err);
	nk_buffer_unref(checking.validity);
	return status;
}

/* ---- Nested ---- */

static nk_status cast_list(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	const int64_t *from = array->values;
	nk_array *items = NULL;
	int64_t width = casting->dtype->width;
	for (int64_t i = 0; casting->dtype->id == NK_TYPE_ARRAY && i < array->n_rows; i++)
		if (from[i + 1] - from[i] != width && nk__casting_valid(casting, i))
			return nk_fail(err, NK_COMPUTE, "not all elements have the specified width %lld",
			               (long long)width);
	NK_TRY(nk_cast(casting->memory, array->children[0], casting->dtype->fields[0].dtype, casting->mode,
	               &items, err));
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	int64_t n_bytes = (array->n_rows + 1) * (int64_t)sizeof(int64_t);
	nk_status status = nk_buffer_new(casting->memory, n_bytes, &offsets, err);
	if (status == NK_OK)
		status = nk__validity_buffer(casting->memory, array, &validity, err);
	if (status != NK_OK) {
		nk_array_unref(items);
		return status;
	}
	memcpy(offsets->bytes, array->values, (size_t)n_bytes);
	return nk_array_new_list(casting->dtype, array->n_rows, NK_STEAL(offsets), items, NK_STEAL(validity),
	                         array->n_nulls, out, err);
}

/* The field of a Struct of a name; -1: there is none. */
static int field_of(const nk_dtype *dtype, const char *name)
{
	for (int i = 0; i < dtype->n_fields; i++)
		if (strcmp(dtype->fields[i].name, name) == 0)
			return i;
	return -1;
}

static nk_status null_field(nk_memory *memory, const nk_dtype *dtype, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) nulls = NULL;
	NK_TRY(nk_array_new_null(memory, dtype, n_rows, &nulls, err));
	return nk_array_flatten(memory, nulls, out, err);
}

/* Fields go by name; those that the Struct lacks are null, if the cast is not strict. */
static nk_status cast_struct(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	const nk_dtype *from = array->dtype, *to = casting->dtype;
	int n_fields = to->n_fields, n_done = 0;
	if (casting->mode.strict && from->n_fields != to->n_fields)
		return nk_fail(err, NK_INVALID_OPERATION, "structs do not have the same number of fields: %d vs %d",
		               from->n_fields, to->n_fields);
	void *block = NULL;
	NK_TRY(nk_alloc(casting->memory, n_fields * (int64_t)sizeof(nk_array *), &block, err));
	nk_array **fields = block;
	nk_buffer *validity = NULL;
	nk_status status = NK_OK;
	while (n_done < n_fields && status == NK_OK) {
		int source = field_of(from, to->fields[n_done].name);
		const nk_dtype *dtype = to->fields[n_done].dtype;
		if (source >= 0)
			status =
				nk_cast(casting->memory, array->children[source], dtype, casting->mode, &fields[n_done], err);
		else if (casting->mode.strict)
			status = nk_fail(err, NK_INVALID_OPERATION, "the Struct has no field \"%s\" to cast",
			                 to->fields[n_done].name);
		else
			status = null_field(casting->memory, dtype, array->n_rows, &fields[n_done], err);
		n_done += status == NK_OK;
	}
	if (status == NK_OK)
		status = nk__validity_buffer(casting->memory, array, &validity, err);
	if (status == NK_OK) {
		status =
			nk_array_new_struct(casting->dtype, array->n_rows, fields, validity, array->n_nulls, out, err);
	} else {
		for (int i = 0; i < n_done; i++)
			nk_array_unref(fields[i]);
	}
	nk_free(casting->memory, block, n_fields * (int64_t)sizeof(nk_array *));
	return status;
}

/* ---- Which casts there are ---- */

static bool is_plain(const nk_dtype *dtype)
{
	return nk_type_is_integer(dtype->id) || nk_type_is_float(dtype->id);
}

bool nk_cast_exists(const nk_dtype *from, const nk_dtype *to)
{
	if (from == to || from->id == NK_TYPE_NULL)
		return true;
	if (to->id == NK_TYPE_NULL)
		return false;
	if (from->id == NK_TYPE_ARRAY && to->id == NK_TYPE_ARRAY && from->width != to->width)
		return false;
	if (from->physical == NK_PHYSICAL_LIST && to->physical == NK_PHYSICAL_LIST)
		return nk_cast_exists(from->fields[0].dtype, to->fields[0].dtype);
	if (from->id == NK_TYPE_STRUCT && to->id == NK_TYPE_STRUCT) {
		bool all = true;
		for (int i = 0; i < to->n_fields && all; i++) {
			int source = field_of(from, to->fields[i].name);
			all = source < 0 || nk_cast_exists(from->fields[source].dtype, to->fields[i].dtype);
		}
		return all;
	}
	if (nk_type_is_nested(from->id) || nk_type_is_nested(to->id))
		return false;
	if (nk_type_is_category(from->id) || nk_type_is_category(to->id))
		return (nk_type_is_category(from->id) || from->id == NK_TYPE_STRING) &&
		       (nk_type_is_category(to->id) || to->id == NK_TYPE_STRING);
	if (is_plain(from) || from->id == NK_TYPE_BOOLEAN)
		return !(from->id == NK_TYPE_BOOLEAN && to->id == NK_TYPE_DECIMAL);
	if (from->id == NK_TYPE_DECIMAL)
		return nk_type_is_numeric(to->id) || to->id == NK_TYPE_BOOLEAN || to->id == NK_TYPE_STRING;
	if (from->id == NK_TYPE_STRING)
		return nk_type_is_numeric(to->id) || nk_type_is_textual(to->id) || to->id == NK_TYPE_DURATION;
	if (from->id == NK_TYPE_BINARY)
		return nk_type_is_textual(to->id);
	if (is_plain(to))
		return true;
	if (to->id == NK_TYPE_STRING)
		return from->id != NK_TYPE_DURATION;
	unit_step step;
	return nk_type_is_temporal(to->id) && step_between(from, to, &step);
}

static int bits_of(nk_type_id id) { return 8 * nk_physical_size(nk_dtype_of(id)->physical); }

bool nk_cast_is_total(const nk_dtype *from, const nk_dtype *to)
{
	if (from == to || from->id == NK_TYPE_NULL)
		return true;
	if (to->id == NK_TYPE_ENUM || to->id == NK_TYPE_CATEGORICAL)
		return to->id == NK_TYPE_CATEGORICAL && to->physical == NK_PHYSICAL_U32;
	if (nk_type_is_textual(to->id))
		return from->id != NK_TYPE_BINARY && from->id != NK_TYPE_DATETIME;
	if (to->id == NK_TYPE_BOOLEAN)
		return true;
	if (from->id == NK_TYPE_BOOLEAN)
		return true;
	if (nk_type_is_float(to->id))
		return from->id != NK_TYPE_STRING;
	if (nk_type_is_integer(from->id) && nk_type_is_integer(to->id)) {
		bool unsigned_from = nk_type_is_unsigned(from->id), unsigned_to = nk_type_is_unsigned(to->id);
		if (unsigned_from == unsigned_to)
			return bits_of(to->id) >= bits_of(from->id);
		return unsigned_from && bits_of(to->id) > bits_of(from->id);
	}
	if (to->id == NK_TYPE_DECIMAL && nk_type_is_integer(from->id))
		return from->id != NK_TYPE_INT128 && to->precision - to->scale >= 20;
	if (to->id == NK_TYPE_DECIMAL && from->id == NK_TYPE_DECIMAL)
		return to->scale >= from->scale && to->precision - to->scale >= from->precision - from->scale;
	if (nk_type_is_temporal(from->id) && nk_type_is_temporal(to->id))
		return from->id == NK_TYPE_DATE || (to->id != NK_TYPE_DATE && from->unit >= to->unit);
	return false;
}

/* ---- Dispatch ---- */

/* Casts that change the name of the dtype only. */
static bool is_renaming(const nk_array *array, const nk_dtype *to)
{
	const nk_dtype *from = array->dtype;
	if (from->id == NK_TYPE_DECIMAL && to->id == NK_TYPE_DECIMAL)
		return from->scale == to->scale && from->precision <= to->precision;
	if (from->id == NK_TYPE_DECIMAL || to->id == NK_TYPE_DECIMAL)
		return from->id == NK_TYPE_INT64 && to->scale == 0 && to->precision == 38;
	if (nk_type_is_category(from->id) || nk_type_is_category(to->id))
		return false;
	if (from->id == NK_TYPE_STRING)
		return to->id == NK_TYPE_BINARY;
	if (array->physical != to->physical || to->id == NK_TYPE_TIME)
		return false;
	if (nk_type_is_temporal(from->id) && nk_type_is_temporal(to->id))
		return from->id == to->id && from->unit == to->unit;
	return nk_type_is_integer(from->id) || (nk_type_is_temporal(from->id) && nk_type_is_integer(to->id));
}

static nk_status check_utf8(const nk_array *array, nk_error *err)
{
	const nk_view *views = array->values;
	for (int64_t i = 0; i < array->n_rows; i++) {
		if (!nk_array_is_valid(array, i))
			continue;
		if (!nk_is_utf8(nk_view_bytes(&views[i], array->heap), views[i].n_bytes))
			return nk_fail(err, NK_COMPUTE, "invalid utf8");
	}
	return NK_OK;
}

static nk_status cast_flat(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	const nk_dtype *from = array->dtype, *to = casting->dtype;
	if (is_renaming(array, to))
		return nk_array_retype(array, to, out, err);
	if (from->physical == NK_PHYSICAL_LIST)
		return cast_list(casting, out, err);
	if (from->id == NK_TYPE_STRUCT)
		return cast_struct(casting, out, err);
	if (from->id == NK_TYPE_BINARY) {
		NK_TRY(check_utf8(array, err));
		return nk_array_retype(array, to, out, err);
	}
	if (nk_type_is_category(from->id) || nk_type_is_category(to->id))
		return nk__cast_category(casting, out, err);
	if (nk_type_is_textual(to->id))
		return nk__cast_to_text(casting, out, err);
	if (from->id == NK_TYPE_STRING)
		return nk__cast_from_text(casting, out, err);
	if (to->id == NK_TYPE_BOOLEAN)
		return cast_to_boolean(casting, out, err);
	if (from->id == NK_TYPE_BOOLEAN) {
		NK_AUTO(nk_array) bytes = NULL;
		NK_TRY(bytes_of_bits(casting->memory, array, &bytes, err));
		return nk_cast(casting->memory, bytes, to, casting->mode, out, err);
	}
	if (to->id == NK_TYPE_DECIMAL)
		return cast_to_decimal(casting, out, err);
	if (from->id == NK_TYPE_DECIMAL)
		return cast_from_decimal(casting, out, err);
	if (nk_type_is_temporal(from->id) && nk_type_is_temporal(to->id))
		return cast_temporal(casting, out, err);
	if (to->id == NK_TYPE_TIME) {
		nk_array *times = NULL;
		NK_TRY(cast_numbers(casting, array->physical, to->physical, &times, err));
		return check_times(casting, times, out, err);
	}
	return cast_numbers(casting, array->physical, to->physical, out, err);
}

static nk_status refuse(const nk_dtype *from, const nk_dtype *to, nk_error *err)
{
	if (nk_type_is_category(from->id))
		return nk_fail(err, NK_COMPUTE, "cannot cast categorical types to %s", to->text);
	if (nk_type_is_category(to->id) && nk_type_is_numeric(from->id))
		return nk_fail(err, NK_COMPUTE, "casting from %s to %s is not supported; use `.cat.to`",
		               nk_dtype_short_name(from), nk_dtype_short_name(to));
	return nk_fail(err, NK_INVALID_OPERATION, "casting from %s to %s not supported", from->text, to->text);
}

nk_status nk_cast(nk_memory *memory, nk_array *array, const nk_dtype *dtype, nk_cast_mode mode,
                  nk_array **out, nk_error *err)
{
	if (array->dtype == dtype) {
		*out = nk_array_ref(array);
		return NK_OK;
	}
	if (!nk_cast_exists(array->dtype, dtype))
		return refuse(array->dtype, dtype, err);
	if (array->dtype->id == NK_TYPE_NULL)
		return nk_array_new_null(memory, dtype, array->n_rows, out, err);
	if (array->encoding == NK_DICTIONARY && dtype->id == NK_TYPE_CATEGORICAL &&
	    array->dtype->id == NK_TYPE_STRING && array->dictionary->n_rows <= array->n_rows) {
		nk_buffer *validity = NULL;
		NK_TRY(nk__validity_buffer(memory, array, &validity, err));
		return nk_categories_recode(memory, dtype, array->dictionary, array->values, array->n_rows, validity,
		                            out, err);
	}
	NK_AUTO(nk_array) flat = NULL;
	bool is_constant = array->encoding == NK_CONSTANT;
	if (is_constant) {
		if (!nk_array_is_valid(array, 0) || array->n_rows == 0)
			return nk_array_new_null(memory, dtype, array->n_rows, out, err);
		NK_AUTO(nk_array) one = NULL;
		NK_TRY(nk_array_slice(memory, array, 0, 1, &one, err));
		NK_TRY(nk_array_flatten(memory, one, &flat, err));
	} else {
		NK_TRY(nk_array_flatten(memory, array, &flat, err));
	}
	NK_AUTO(nk_array) result = NULL;
	nk_casting casting = {.memory = memory, .array = flat, .dtype = dtype, .mode = mode};
	nk_status status = cast_flat(&casting, &result, err);
	nk_buffer_unref(casting.validity);
	NK_TRY(status);
	if (is_constant && array->n_rows != 1)
		return nk_array_new_constant(memory, result, array->n_rows, out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

/* ---- The function ---- */

enum { DTYPE, STRICT, WRAP };

static nk_status cast_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)n_rows;
	nk_cast_mode mode = {call->options[STRICT].boolean, call->options[WRAP].boolean};
	return nk_cast(call->memory, args[0], call->dtype, mode, out, err);
}

static nk_status bind_cast(nk_bind *bind, nk_error *err)
{
	const nk_dtype *from = bind->args[0].dtype, *to = bind->options[DTYPE].dtype;
	if (!to)
		return nk_fail(err, NK_VALUE, "`cast` needs a dtype");
	if (!nk_cast_exists(from, to))
		return refuse(from, to, err);
	bind->dtype = to;
	bind->kernel = cast_kernel;
	bind->fallible = bind->options[STRICT].boolean && !nk_cast_is_total(from, to);
	return NK_OK;
}

static const nk_option_spec cast_options[] = {
	[DTYPE] = {"dtype", {.kind = NK_OPTION_DTYPE}},
	[STRICT] = {"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	[WRAP] = {"wrap_numerical", {.kind = NK_OPTION_BOOL}},
	{0},
};

const nk_func nk__funcs_cast[] = {
	{
		.name = "cast",
		.args = "x",
		.doc = "The values in another dtype. A strict cast fails when a value does not fit, another one "
			   "makes it null; with "
			   "wrap_numerical integers wrap. Floats and Decimals are truncated to integers.",
		.example = "cast([1, null], dtype=Float64) == [1.0, null]",
		.options = cast_options,
		.min_args = 1,
		.max_args = 1,
		.fallible = true,
		.bind = bind_cast,
	},
	{0},
};
