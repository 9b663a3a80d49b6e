/* Casts to and from text. */
#include "columnar/format.h"
#include "columnar/parse.h"
#include "compute/text_writer.h"
#include "func/cast_internal.h"

/* ---- To text ---- */

static nk_status format_value(const nk_array *array, int64_t i, char *out, int *n, nk_error *err)
{
	const void *values = array->values;
	const nk_dtype *dtype = array->dtype;
	switch (dtype->id) {
	case NK_TYPE_BOOLEAN:
		*n = nk_bitmap_get(values, i) ? 4 : 5;
		memcpy(out, *n == 4 ? "true" : "false", (size_t)*n);
		return NK_OK;
	case NK_TYPE_DECIMAL:
		*n = nk_format_decimal(array->physical == NK_PHYSICAL_I64 ? ((const int64_t *)values)[i]
		                                                          : ((const __int128 *)values)[i],
		                       dtype->scale, out);
		return NK_OK;
	case NK_TYPE_DATE: *n = nk_format_date(((const int32_t *)values)[i], out); return NK_OK;
	case NK_TYPE_TIME: *n = nk_format_time(((const int64_t *)values)[i], 0, out); return NK_OK;
	case NK_TYPE_DATETIME:
		return nk_format_datetime(((const int64_t *)values)[i], dtype->unit, dtype->time_zone, out, n, err);
	default: break;
	}
	switch (array->physical) {
	case NK_PHYSICAL_I8: *n = nk_format_i64(((const int8_t *)values)[i], out); break;
	case NK_PHYSICAL_I16: *n = nk_format_i64(((const int16_t *)values)[i], out); break;
	case NK_PHYSICAL_I32: *n = nk_format_i64(((const int32_t *)values)[i], out); break;
	case NK_PHYSICAL_I64: *n = nk_format_i64(((const int64_t *)values)[i], out); break;
	case NK_PHYSICAL_I128: *n = nk_format_i128(((const __int128 *)values)[i], out); break;
	case NK_PHYSICAL_U8: *n = nk_format_u64(((const uint8_t *)values)[i], out); break;
	case NK_PHYSICAL_U16: *n = nk_format_u64(((const uint16_t *)values)[i], out); break;
	case NK_PHYSICAL_U32: *n = nk_format_u64(((const uint32_t *)values)[i], out); break;
	case NK_PHYSICAL_U64: *n = nk_format_u64(((const uint64_t *)values)[i], out); break;
	case NK_PHYSICAL_F32: *n = nk_format_f32(((const float *)values)[i], out); break;
	default: *n = nk_format_f64(((const double *)values)[i], out); break;
	}
	return NK_OK;
}

nk_status nk__cast_to_text(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_text_writer_init(&writer, casting->memory, casting->dtype, array->n_rows, err));
	for (int64_t i = 0; i < array->n_rows; i++) {
		if (!nk__casting_valid(casting, i)) {
			nk_text_writer_skip(&writer);
			continue;
		}
		char *room;
		int n = 0;
		NK_TRY(nk_text_writer_room(&writer, NK_FORMAT_BYTES, &room, err));
		NK_TRY(format_value(array, i, room, &n, err));
		nk_text_writer_commit(&writer, n);
	}
	nk_buffer *validity;
	NK_TRY(nk__validity_buffer(casting->memory, array, &validity, err));
	return nk_text_writer_finish(&writer, validity, out, err);
}

/* ---- From text ---- */

static bool parse_integer(const char *text, int64_t n, nk_physical physical, void *out, int64_t i)
{
	int64_t value = 0;
	uint64_t natural = 0;
	bool ok;
	switch (physical) {
	case NK_PHYSICAL_I8:
		ok = nk_parse_i64(text, n, &value) && value == (int8_t)value;
		((int8_t *)out)[i] = (int8_t)value;
		return ok;
	case NK_PHYSICAL_I16:
		ok = nk_parse_i64(text, n, &value) && value == (int16_t)value;
		((int16_t *)out)[i] = (int16_t)value;
		return ok;
	case NK_PHYSICAL_I32:
		ok = nk_parse_i64(text, n, &value) && value == (int32_t)value;
		((int32_t *)out)[i] = (int32_t)value;
		return ok;
	case NK_PHYSICAL_I64:
		ok = nk_parse_i64(text, n, &value);
		((int64_t *)out)[i] = value;
		return ok;
	case NK_PHYSICAL_U8:
		ok = nk_parse_u64(text, n, &natural) && natural == (uint8_t)natural;
		((uint8_t *)out)[i] = (uint8_t)natural;
		return ok;
	case NK_PHYSICAL_U16:
		ok = nk_parse_u64(text, n, &natural) && natural == (uint16_t)natural;
		((uint16_t *)out)[i] = (uint16_t)natural;
		return ok;
	case NK_PHYSICAL_U32:
		ok = nk_parse_u64(text, n, &natural) && natural == (uint32_t)natural;
		((uint32_t *)out)[i] = (uint32_t)natural;
		return ok;
	case NK_PHYSICAL_U64:
		ok = nk_parse_u64(text, n, &natural);
		((uint64_t *)out)[i] = natural;
		return ok;
	default: {
		__int128 wide = 0;
		ok = nk_parse_i128(text, n, &wide);
		((__int128 *)out)[i] = wide;
		return ok;
	}
	}
}

static bool parse_value(const nk_dtype *dtype, const char *text, int64_t n, void *out, int64_t i)
{
	if (dtype->id == NK_TYPE_DECIMAL) {
		__int128 value = 0;
		bool ok = nk_parse_decimal(text, n, dtype->precision, dtype->scale, &value);
		((__int128 *)out)[i] = ok ? value : 0;
		return ok;
	}
	if (dtype->id == NK_TYPE_FLOAT32) {
		float value = 0;
		bool ok = nk_parse_f32(text, n, &value);
		((float *)out)[i] = value;
		return ok;
	}
	if (dtype->id == NK_TYPE_FLOAT64) {
		double value = 0;
		bool ok = nk_parse_f64(text, n, &value);
		((double *)out)[i] = value;
		return ok;
	}
	return parse_integer(text, n, dtype->physical, out, i);
}

nk_status nk__cast_from_text(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	const nk_view *views = array->values;
	nk_physical physical = casting->dtype->physical;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new_zeroed(casting->memory, array->n_rows * nk_physical_size(physical), &values, err));
	for (int64_t i = 0; i < array->n_rows; i++) {
		if (!nk__casting_valid(casting, i))
			continue;
		if (!parse_value(casting->dtype, nk_view_bytes(&views[i], array->heap), views[i].n_bytes,
		                 values->bytes, i))
			NK_TRY(nk__casting_fail(casting, i, err));
	}
	return nk__casting_finish(casting, physical, NK_STEAL(values), NULL, out, err);
}
