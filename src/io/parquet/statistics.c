/* Statistics are claims of the writer, some of them known to be wrong: the old min and max fields were compared as
 * signed numbers whatever the type, so they count for signed numbers only; a bound that is NaN says nothing; INT96
 * has no order. Bounds of floats leave NaN out, which is the largest value in our order: only tests from above can
 * be refuted for them. */
#include "io/parquet/statistics.h"

#include <math.h>
#include <string.h>

/* One bound as a value of the column; false when it cannot be trusted. */
static bool read_bound(const nk_leaf_plan *plan, nk_bytes bytes, bool is_deprecated, nk_scalar *out)
{
	int type = plan->element->type;
	*out = (nk_scalar){.dtype = plan->dtype};
	switch (plan->conversion) {
	case NK_CONVERT_INT96_TO_NS:
	case NK_CONVERT_FLOAT16:
	case NK_CONVERT_NULL:
	case NK_CONVERT_FIXED_TEXT: return false;
	case NK_CONVERT_BOOLEAN: out->boolean = bytes.n_bytes == 1 && bytes.bytes[0]; return bytes.n_bytes == 1;
	case NK_CONVERT_TEXT:
		out->bytes = (const char *)bytes.bytes;
		out->n_bytes = bytes.n_bytes;
		return !is_deprecated;
	case NK_CONVERT_FIXED_TO_I64:
	case NK_CONVERT_FIXED_TO_I128:
	case NK_CONVERT_TEXT_TO_I64:
	case NK_CONVERT_TEXT_TO_I128: {
		__int128 value;
		if (is_deprecated || bytes.n_bytes < 1 ||
		    nk__parquet_decimal(&value, NK_PHYSICAL_I128, bytes.bytes, bytes.n_bytes, NULL) != NK_OK)
			return false;
		out->integer = value;
		return true;
	}
	default: break;
	}
	if (bytes.n_bytes != plan->n_bytes_in)
		return false;
	if (type == NK_PARQUET_FLOAT) {
		float value;
		memcpy(&value, bytes.bytes, 4);
		out->floating = value;
		return !isnan(value);
	}
	if (type == NK_PARQUET_DOUBLE) {
		memcpy(&out->floating, bytes.bytes, 8);
		return !isnan(out->floating);
	}
	bool is_unsigned = nk_type_is_unsigned(plan->dtype->id);
	if (is_deprecated && is_unsigned)
		return false;
	uint64_t bits = 0;
	memcpy(&bits, bytes.bytes, (size_t)bytes.n_bytes);
	int64_t value = bytes.n_bytes == 4 ? (int32_t)bits : (int64_t)bits;
	out->integer = is_unsigned ? (__int128)bits : (__int128)value;
	if (plan->conversion == NK_CONVERT_MS_TO_NS)
		out->integer *= 1000000;
	else if (plan->conversion == NK_CONVERT_US_TO_NS)
		out->integer *= 1000;
	return true;
}

nk_parquet_bounds nk__parquet_bounds(const nk_leaf_plan *plan, nk_bytes min, nk_bytes max, bool is_deprecated,
                                     int64_t n_rows, int64_t n_nulls)
{
	/* a count of nulls above the number of rows exists in the wild */
	nk_parquet_bounds bounds = {.n_rows = n_rows, .n_nulls = n_nulls <= n_rows ? n_nulls : -1};
	bounds.has_bounds =
		!plan->is_category && min.bytes && max.bytes && read_bound(plan, min, is_deprecated, &bounds.min) &&
		read_bound(plan, max, is_deprecated, &bounds.max) && nk_scalar_compare(&bounds.min, &bounds.max) <= 0;
	return bounds;
}

static bool may_equal(const nk_parquet_bounds *bounds, const nk_scalar *value)
{
	if (value->is_null)
		return false;
	if (nk_type_is_float(value->dtype->id) && isnan(value->floating))
		return true;
	return nk_scalar_compare(value, &bounds->min) >= 0 && nk_scalar_compare(value, &bounds->max) <= 0;
}

/* Whether a string between the bounds may start with the prefix. */
static bool may_start(const nk_parquet_bounds *bounds, const nk_scalar *prefix)
{
	int64_t n_min = NK_MIN(bounds->min.n_bytes, prefix->n_bytes),
			n_max = NK_MIN(bounds->max.n_bytes, prefix->n_bytes);
	return memcmp(bounds->min.bytes, prefix->bytes, (size_t)n_min) <= 0 &&
	       memcmp(bounds->max.bytes, prefix->bytes, (size_t)n_max) >= 0;
}

bool nk__bounds_may_match(const nk_parquet_bounds *bounds, const nk_scan_conjunct *conjunct)
{
	const nk_scalar *values = conjunct->values;
	nk_test_op op = conjunct->op;
	if (op == NK_TEST_NONE)
		return true;
	if (op == NK_TEST_IS_NULL)
		return bounds->n_nulls != 0;
	if (bounds->n_nulls == bounds->n_rows)
		return false; /* every other test is false or null on null */
	if (op == NK_TEST_IS_NOT_NULL || !bounds->has_bounds)
		return true;
	if (op == NK_TEST_IN) {
		for (int i = 0; i < conjunct->n_values; i++)
			if (may_equal(bounds, &values[i]))
				return true;
		return false;
	}
	if (conjunct->n_values < 1 || values[0].dtype->id != bounds->min.dtype->id)
		return true;
	if (values[0].is_null)
		return false;
	bool is_float = nk_type_is_float(values[0].dtype->id);
	switch (op) {
	case NK_TEST_EQ: return may_equal(bounds, &values[0]);
	case NK_TEST_LT: return nk_scalar_compare(&bounds->min, &values[0]) < 0;
	case NK_TEST_LE: /* x <= NaN holds for NaN too, which the bounds leave out */
		return nk_scalar_compare(&bounds->min, &values[0]) <= 0;
	case NK_TEST_GT: return is_float || nk_scalar_compare(&bounds->max, &values[0]) > 0;
	case NK_TEST_GE: return is_float || nk_scalar_compare(&bounds->max, &values[0]) >= 0;
	case NK_TEST_STARTS: return may_start(bounds, &values[0]);
	default: return true;
	}
}

bool nk__bounds_may_meet(const nk_parquet_bounds *bounds, int64_t min, int64_t max)
{
	if (min > max || bounds->n_nulls == bounds->n_rows)
		return false; /* nothing was built, or null keys only: neither passes */
	if (!bounds->has_bounds || nk_type_is_float(bounds->min.dtype->id) ||
	    nk_type_is_textual(bounds->min.dtype->id) || bounds->min.dtype->id == NK_TYPE_BOOLEAN)
		return true;
	return bounds->max.integer >= min && bounds->min.integer <= max;
}
