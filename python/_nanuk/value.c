/* Single values between Python and the library. The stable ABI has no datetime interface, so dates and times are
 * made by calling their classes and read by attribute, with names interned once. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Classes and attribute names ---- */

static PyObject *standard_classes[PY_CLASS_N];

static const char *const class_paths[PY_CLASS_N][2] = {
	[PY_DATE] = {"datetime", "date"},      [PY_DATETIME] = {"datetime", "datetime"},
	[PY_TIME] = {"datetime", "time"},      [PY_TIMEDELTA] = {"datetime", "timedelta"},
	[PY_DECIMAL] = {"decimal", "Decimal"}, [PY_ZONE_INFO] = {"zoneinfo", "ZoneInfo"},
};

PyObject *py_standard_class(py_class which)
{
	if (!standard_classes[which]) {
		PyObject *module = PyImport_ImportModule(class_paths[which][0]);
		if (!module)
			return NULL;
		standard_classes[which] = PyObject_GetAttrString(module, class_paths[which][1]);
		Py_DECREF(module);
	}
	return standard_classes[which];
}

int py_is_instance(PyObject *object, py_class which)
{
	PyObject *class = py_standard_class(which);
	if (!class)
		return -1;
	return (PyObject *)Py_TYPE(object) == class || PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)class);
}

/* An int attribute; -1 with an exception when it is lacking. */
static int64_t attribute(PyObject *object, const char *name)
{
	PyObject *value = PyObject_GetAttrString(object, name);
	if (!value)
		return -1;
	int64_t number = PyLong_AsLongLong(value);
	Py_DECREF(value);
	return number;
}

/* ---- Integers and Decimals out ---- */

PyObject *py_integer(uint64_t low, int64_t high)
{
	if (high == (int64_t)low >> 63)
		return PyLong_FromLongLong((int64_t)low);
	if (high == 0)
		return PyLong_FromUnsignedLongLong(low);
	PyObject *result = NULL, *upper = PyLong_FromLongLong(high), *lower = PyLong_FromUnsignedLongLong(low);
	PyObject *shift = PyLong_FromLong(64), *shifted = upper && shift ? PyNumber_Lshift(upper, shift) : NULL;
	if (shifted && lower)
		result = PyNumber_Or(shifted, lower);
	Py_XDECREF(upper);
	Py_XDECREF(lower);
	Py_XDECREF(shift);
	Py_XDECREF(shifted);
	return result;
}

PyObject *py_decimal(uint64_t low, int64_t high, int scale)
{
	char digits[64];
	__extension__ unsigned __int128 value = (__extension__(unsigned __int128)(uint64_t) high << 64) | low;
	bool is_negative = high < 0;
	if (is_negative)
		value = -value;
	char *at = digits + sizeof digits;
	*--at = 0;
	for (int i = 0; value > 0 || i <= scale; i++) {
		if (i == scale && scale > 0)
			*--at = '.';
		*--at = (char)('0' + (int)(value % 10));
		value /= 10;
	}
	if (is_negative)
		*--at = '-';
	PyObject *class = py_standard_class(PY_DECIMAL);
	return class ? PyObject_CallFunction(class, "s", at) : NULL;
}

/* ---- Dates and times out ---- */

/* Hinnant's algorithm: the calendar in eras of 400 years that begin on 1 March. */
static void civil(int64_t days, int *year, int *month, int *day)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t of_era = days - era * 146097;
	int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
	int64_t shifted = (5 * of_year + 2) / 153;
	*day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
	*month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
	int64_t wide = years + era * 400 + (*month <= 2);
	*year = wide > 100000 ? 100000 : wide < -100000 ? -100000 : (int)wide;
}

static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t of_era = year - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t floor_divide(int64_t value, int64_t by, int64_t *rest)
{
	int64_t quotient = value / by, remainder = value % by;
	if (remainder < 0) {
		remainder += by;
		quotient--;
	}
	*rest = remainder;
	return quotient;
}

static PyObject *make_datetime(const py_type *type, int64_t value)
{
	int64_t of_second, of_day, micros;
	int year, month, day;
	int64_t seconds = floor_divide(value, type->per_second, &of_second);
	int64_t days = floor_divide(seconds, 86400, &of_day);
	micros = type->per_second == 1000 ? of_second * 1000 : of_second / (type->per_second / 1000000);
	civil(days, &year, &month, &day);
	PyObject *class = py_standard_class(PY_DATETIME);
	if (!class)
		return NULL;
	int hour = (int)(of_day / 3600), minute = (int)(of_day / 60 % 60), second = (int)(of_day % 60);
	if (!type->zone)
		return PyObject_CallFunction(class, "iiiiiii", year, month, day, hour, minute, second, (int)micros);
	PyObject *utc = PyObject_CallFunction(class, "iiiiiiiO", year, month, day, hour, minute, second,
	                                      (int)micros, type->zone);
	PyObject *local = utc ? PyObject_CallMethod(type->zone, "fromutc", "O", utc) : NULL;
	Py_XDECREF(utc);
	return local;
}

PyObject *py_temporal(const py_type *type, int64_t value)
{
	int year, month, day;
	int64_t of_second, of_day;
	switch (type->kind) {
	case PY_KIND_DATE: {
		PyObject *class = py_standard_class(PY_DATE);
		civil(value, &year, &month, &day);
		return class ? PyObject_CallFunction(class, "iii", year, month, day) : NULL;
	}
	case PY_KIND_TIME: {
		PyObject *class = py_standard_class(PY_TIME);
		int64_t micros = value / 1000, seconds = micros / 1000000;
		return class ? PyObject_CallFunction(class, "iiii", (int)(seconds / 3600), (int)(seconds / 60 % 60),
		                                     (int)(seconds % 60), (int)(micros % 1000000))
		             : NULL;
	}
	case PY_KIND_DURATION: {
		PyObject *class = py_standard_class(PY_TIMEDELTA);
		int64_t seconds = floor_divide(value, type->per_second, &of_second);
		int64_t days = floor_divide(seconds, 86400, &of_day);
		int64_t micros =
			type->per_second == 1000 ? of_second * 1000 : of_second / (type->per_second / 1000000);
		return class ? PyObject_CallFunction(class, "Lii", (long long)days, (int)of_day, (int)micros) : NULL;
	}
	default: return make_datetime(type, value);
	}
}

/* A nested value: its series becomes a list, or a dict when the row is a Struct's. */
static PyObject *from_series(nk_series *series, const py_type *type)
{
	if (type->kind != PY_KIND_STRUCT)
		return py_series_to_list(series);
	PyObject *rows = py_series_to_list(series);
	PyObject *row = rows ? PyList_GetItem(rows, 0) : NULL;
	Py_XINCREF(row);
	Py_XDECREF(rows);
	return row;
}

PyObject *py_from_value(nk_value *value, const char *dtype)
{
	switch (value->kind) {
	case NK_VALUE_NULL: Py_RETURN_NONE;
	case NK_VALUE_BOOLEAN: return PyBool_FromLong(value->boolean);
	case NK_VALUE_FLOAT: return PyFloat_FromDouble(value->floating);
	case NK_VALUE_STRING: return PyUnicode_DecodeUTF8(value->bytes, (Py_ssize_t)value->n_bytes, "strict");
	case NK_VALUE_BINARY: return PyBytes_FromStringAndSize(value->bytes, (Py_ssize_t)value->n_bytes);
	case NK_VALUE_INTEGER:
		if (dtype[0] == 'I' || dtype[0] == 'U')
			return py_integer(value->low, value->high);
		break;
	case NK_VALUE_SERIES: break;
	}
	const py_type *type = py_type_get(dtype);
	PyObject *result = NULL;
	if (value->kind == NK_VALUE_SERIES) {
		result = type ? from_series(value->series, type) : NULL;
		nk_series_unref(value->series);
	} else if (type) {
		result = type->kind == PY_KIND_DECIMAL ? py_decimal(value->low, value->high, type->scale)
		                                       : py_temporal(type, (int64_t)value->low);
	}
	return result;
}

/* ---- In ---- */

bool py_to_integer(PyObject *object, uint64_t *low, int64_t *high)
{
	int overflow;
	int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
	if (value == -1 && !overflow && PyErr_Occurred())
		return false;
	if (!overflow) {
		*low = (uint64_t)value;
		*high = value >> 63;
		return true;
	}
	*low = PyLong_AsUnsignedLongLongMask(object);
	PyObject *shift = PyLong_FromLong(64), *upper = shift ? PyNumber_Rshift(object, shift) : NULL;
	Py_XDECREF(shift);
	if (!upper)
		return false;
	*high = PyLong_AsLongLongAndOverflow(upper, &overflow);
	Py_DECREF(upper);
	if (overflow)
		PyErr_Format(PyExc_OverflowError, "int value too large for Polars integer types: %R", object);
	return !overflow;
}

bool py_to_days(PyObject *date, int64_t *out)
{
	int64_t year = attribute(date, "year"), month = attribute(date, "month"), day = attribute(date, "day");
	*out = days_of(year, month, day);
	return !PyErr_Occurred();
}

static int64_t micros_of_day(PyObject *object)
{
	return ((attribute(object, "hour") * 60 + attribute(object, "minute")) * 60 +
	        attribute(object, "second")) *
	           1000000 +
	       attribute(object, "microsecond");
}

bool py_to_time(PyObject *time, int64_t *out)
{
	*out = micros_of_day(time) * 1000;
	return !PyErr_Occurred();
}

bool py_to_duration(PyObject *timedelta, int64_t *out)
{
	*out = (attribute(timedelta, "days") * 86400 + attribute(timedelta, "seconds")) * 1000000 +
	       attribute(timedelta, "microseconds");
	return !PyErr_Occurred();
}

bool py_to_instant(PyObject *datetime, int64_t *out)
{
	int64_t days, offset = 0;
	if (!py_to_days(datetime, &days))
		return false;
	int64_t micros = days * INT64_C(86400000000) + micros_of_day(datetime);
	PyObject *zone = PyObject_GetAttrString(datetime, "tzinfo");
	if (zone && zone != Py_None) {
		PyObject *delta = PyObject_CallMethod(datetime, "utcoffset", NULL);
		if (delta && delta != Py_None)
			py_to_duration(delta, &offset);
		Py_XDECREF(delta);
	}
	Py_XDECREF(zone);
	*out = micros - offset;
	return !PyErr_Occurred();
}

bool py_zone_name(PyObject *datetime, PyObject **out)
{
	*out = NULL;
	PyObject *zone = PyObject_GetAttrString(datetime, "tzinfo");
	if (!zone)
		return false;
	if (zone != Py_None) {
		*out = PyObject_GetAttrString(zone, "key");
		if (!*out) {
			PyErr_Clear();
			*out = PyUnicode_FromString("UTC");
		}
	}
	Py_DECREF(zone);
	return !PyErr_Occurred();
}

/* Digits and exponent of a Decimal, brought to the scale; what lies below rounds half to even as Decimal does. */
bool py_to_decimal(PyObject *decimal, int *scale, uint64_t *low, int64_t *high)
{
	__extension__ typedef unsigned __int128 wide;
	const wide limit =
		(__extension__(wide) UINT64_C(0x4b3b4ca85a86c47a) << 64) | UINT64_C(0x098a224000000000);
	PyObject *parts = PyObject_CallMethod(decimal, "as_tuple", NULL);
	PyObject *digits = parts ? PyTuple_GetItem(parts, 1) : NULL,
			 *exponent = parts ? PyTuple_GetItem(parts, 2) : NULL;
	bool is_negative = parts && PyObject_IsTrue(PyTuple_GetItem(parts, 0)) == 1;
	bool fits = exponent && PyLong_Check(exponent);
	if (fits) {
		int64_t power = PyLong_AsLongLong(exponent);
		int wanted = *scale >= 0 ? *scale : power < 0 ? (int)-power : 0;
		int64_t n_digits = PyTuple_Size(digits), n_kept = n_digits + power + wanted;
		wide value = 0;
		fits = wanted <= 38 && n_kept <= 60;
		for (int64_t i = 0; fits && i < n_kept; i++) {
			wide digit = i < n_digits ? (wide)PyLong_AsLong(PyTuple_GetItem(digits, i)) : 0;
			value = value * 10 + digit;
			fits = value < limit;
		}
		if (fits && n_kept >= 0 && n_kept < n_digits) {
			long next = PyLong_AsLong(PyTuple_GetItem(digits, n_kept));
			bool more = false;
			for (int64_t i = n_kept + 1; i < n_digits; i++)
				more |= PyLong_AsLong(PyTuple_GetItem(digits, i)) != 0;
			value += next > 5 || (next == 5 && (more || value % 2 == 1));
		}
		if (is_negative)
			value = -value;
		*scale = wanted;
		*low = (uint64_t)value;
		*high = (int64_t)(uint64_t)(value >> 64);
	}
	Py_XDECREF(parts);
	return fits && !PyErr_Occurred();
}

/* Dates, times and Decimals: an integer under a dtype. 1: done, 0: none of them, -1: an exception. */
static int temporal_to_value(PyObject *object, nk_value *out, char *dtype, size_t n_dtype)
{
	int64_t number = 0;
	int is = py_is_instance(object, PY_DATETIME);
	if (is > 0) {
		PyObject *zone = NULL;
		if (!py_to_instant(object, &number) || !py_zone_name(object, &zone))
			return -1;
		const char *name = zone ? PyUnicode_AsUTF8AndSize(zone, NULL) : NULL;
		snprintf(dtype, n_dtype, name ? "Datetime(us, %s)" : "Datetime(us)", name);
		Py_XDECREF(zone);
	} else if (is == 0 && (is = py_is_instance(object, PY_DATE)) > 0) {
		snprintf(dtype, n_dtype, "Date");
		is = py_to_days(object, &number) ? 1 : -1;
	} else if (is == 0 && (is = py_is_instance(object, PY_TIME)) > 0) {
		snprintf(dtype, n_dtype, "Time");
		is = py_to_time(object, &number) ? 1 : -1;
	} else if (is == 0 && (is = py_is_instance(object, PY_TIMEDELTA)) > 0) {
		snprintf(dtype, n_dtype, "Duration(us)");
		is = py_to_duration(object, &number) ? 1 : -1;
	} else if (is == 0 && (is = py_is_instance(object, PY_DECIMAL)) > 0) {
		int scale = -1;
		out->kind = NK_VALUE_INTEGER;
		if (!py_to_decimal(object, &scale, &out->low, &out->high)) {
			if (!PyErr_Occurred())
				PyErr_Format(PyExc_ValueError, "%R does not fit a Decimal of 38 digits", object);
			return -1;
		}
		snprintf(dtype, n_dtype, "Decimal(38, %d)", scale);
		out->dtype = dtype;
		return 1;
	}
	if (is <= 0)
		return is;
	*out =
		(nk_value){.kind = NK_VALUE_INTEGER, .low = (uint64_t)number, .high = number >> 63, .dtype = dtype};
	return 1;
}

bool py_to_value(PyObject *object, nk_value *out, char *dtype, size_t n_dtype, PyObject **keep)
{
	*out = (nk_value){0};
	*keep = NULL;
	if (object == Py_None)
		return true;
	if (PyBool_Check(object)) {
		*out = (nk_value){.kind = NK_VALUE_BOOLEAN, .boolean = object == Py_True, .dtype = "Boolean"};
		return true;
	}
	if (PyLong_Check(object)) {
		out->kind = NK_VALUE_INTEGER;
		return py_to_integer(object, &out->low, &out->high);
	}
	if (PyFloat_Check(object)) {
		*out = (nk_value){.kind = NK_VALUE_FLOAT, .floating = PyFloat_AsDouble(object)};
		return true;
	}
	if (PyUnicode_Check(object)) {
		Py_ssize_t n_bytes;
		*out = (nk_value){.kind = NK_VALUE_STRING, .dtype = "String"};
		out->bytes = PyUnicode_AsUTF8AndSize(object, &n_bytes);
		out->n_bytes = n_bytes;
		return out->bytes != NULL;
	}
	if (PyBytes_Check(object)) {
		char *bytes;
		Py_ssize_t n_bytes;
		if (PyBytes_AsStringAndSize(object, &bytes, &n_bytes) < 0)
			return false;
		*out = (nk_value){.kind = NK_VALUE_BINARY, .dtype = "Binary", .bytes = bytes, .n_bytes = n_bytes};
		return true;
	}
	int done = temporal_to_value(object, out, dtype, n_dtype);
	if (done != 0)
		return done > 0;
	/* NumPy scalars and their like: what they give as Python's own. */
	if (PyObject_HasAttrString(object, "dtype") && PyObject_HasAttrString(object, "item")) {
		*keep = PyObject_CallMethod(object, "item", NULL);
		PyObject *unused = NULL;
		if (!*keep || Py_TYPE(*keep) == Py_TYPE(object))
			return PyErr_Occurred() ? false : (PyErr_SetString(PyExc_TypeError, "not a value"), false);
		return py_to_value(*keep, out, dtype, n_dtype, &unused);
	}
	PyErr_Format(PyExc_TypeError, "cannot create expression literal for value of type %U",
	             PyType_GetName(Py_TYPE(object)));
	return false;
}
