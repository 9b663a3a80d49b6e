/* A column from a list of Python values. The type of the column decides how each value is read: strictly, or, when
 * values are mixed freely, by the nearest reading that exists, null where there is none. */
#include "binding.h"

#include <math.h>
#include <stdlib.h>

typedef struct build_mode {
	bool strict;
	const py_type *whole; /* of the column, for messages */
} build_mode;

static bool append(const build_mode *build, nk_series_builder *builder, const py_type *type, PyObject *value);

static bool checked(nk_status status, const nk_error *err)
{
	if (status != NK_OK)
		py_raise(err);
	return status == NK_OK;
}

static bool append_null(nk_series_builder *builder)
{
	nk_error err;
	return checked(nk_series_builder_null(builder, &err), &err);
}

static bool append_integer(nk_series_builder *builder, uint64_t low, int64_t high)
{
	nk_error err;
	return checked(nk_series_builder_integer(builder, low, high, &err), &err);
}

static bool append_float(nk_series_builder *builder, double value)
{
	nk_error err;
	return checked(nk_series_builder_float(builder, value, &err), &err);
}

static bool append_bytes(nk_series_builder *builder, const char *bytes, Py_ssize_t n_bytes)
{
	nk_error err;
	return checked(nk_series_builder_bytes(builder, bytes, n_bytes, &err), &err);
}

/* A text that an Enum lacks is null when values are mixed freely. */
static bool append_text(const build_mode *build, nk_series_builder *builder, const py_type *type,
                        const char *bytes, Py_ssize_t n_bytes)
{
	nk_error err;
	nk_status status = nk_series_builder_bytes(builder, bytes, n_bytes, &err);
	if (status == NK_INVALID_OPERATION && type->kind == PY_KIND_CATEGORY && !build->strict)
		return append_null(builder);
	return checked(status, &err);
}

/* The value does not fit: an error, or null. */
static bool unfit(const build_mode *build, nk_series_builder *builder, const py_type *type, PyObject *value)
{
	if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError) &&
	    !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError))
		return false;
	PyErr_Clear();
	if (!build->strict)
		return append_null(builder);
	PyObject *one = PyTuple_Pack(1, value), *found = one ? py_guess_dtype(one, true, 1) : NULL;
	if (!found)
		PyErr_Clear();
	const char *text = type->kind == PY_KIND_CATEGORY ? "String" : type->text;
	if (type->kind == PY_KIND_LIST)
		PyErr_Format(
			PyExc_TypeError,
			"unexpected value while building Series of type %s\n\nHint: Try setting `strict=False` to allow "
			"passing data with mixed types.",
			type->text);
	else if (found)
		PyErr_Format(
			PyExc_TypeError,
			"unexpected value while building Series of type %s; found value of type %U: %R\n\nHint: Try "
			"setting `strict=False` to allow passing data with mixed types.",
			text, found, value);
	else
		PyErr_Format(PyExc_TypeError,
		             "unexpected value while building Series of type %s; found value of type Object: %R",
		             text, value);
	Py_XDECREF(one);
	Py_XDECREF(found);
	return false;
}

/* The integer under a date, time or duration; 1: *out is set, 0: none, -1: an exception. */
static int physical(PyObject *value, int64_t *out)
{
	int is = py_is_instance(value, PY_DATETIME);
	if (is != 0)
		return is > 0 && py_to_instant(value, out) ? 1 : -1;
	if ((is = py_is_instance(value, PY_DATE)) != 0)
		return is > 0 && py_to_days(value, out) ? 1 : -1;
	if ((is = py_is_instance(value, PY_TIMEDELTA)) != 0)
		return is > 0 && py_to_duration(value, out) ? 1 : -1;
	if ((is = py_is_instance(value, PY_TIME)) != 0)
		return is > 0 && py_to_time(value, out) ? 1 : -1;
	return 0;
}

static bool append_as_integer(const build_mode *build, nk_series_builder *builder, const py_type *type,
                              PyObject *value)
{
	uint64_t low;
	int64_t high, number;
	if (PyBool_Check(value))
		return append_integer(builder, value == Py_True, 0);
	PyObject *index = NULL;
	bool lenient = !build->strict || build->whole != type;
	if (PyLong_Check(value))
		index = Py_NewRef(value);
	else if (PyIndex_Check(value))
		index = PyNumber_Index(value);
	else if (lenient && PyFloat_Check(value) && isfinite(PyFloat_AsDouble(value)))
		index = PyNumber_Long(value);
	else if (!build->strict && (PyUnicode_Check(value) || py_is_instance(value, PY_DECIMAL) > 0))
		index = PyNumber_Long(value);
	else if (!build->strict && physical(value, &number) > 0)
		index = PyLong_FromLongLong(number);
	bool good = index && py_to_integer(index, &low, &high) && py_type_holds(type, low, high);
	Py_XDECREF(index);
	return good ? append_integer(builder, low, high) : unfit(build, builder, type, value);
}

static bool append_as_float(const build_mode *build, nk_series_builder *builder, const py_type *type,
                            PyObject *value)
{
	if (PyFloat_Check(value))
		return append_float(builder, PyFloat_AsDouble(value));
	PyObject *number = NULL;
	if (PyLong_Check(value) || (PyNumber_Check(value) && !PyUnicode_Check(value)) ||
	    (!build->strict && PyUnicode_Check(value)))
		number = PyNumber_Float(value);
	if (!number)
		return unfit(build, builder, type, value);
	double floating = PyFloat_AsDouble(number);
	Py_DECREF(number);
	return append_float(builder, floating);
}

static bool append_as_text(const build_mode *build, nk_series_builder *builder, const py_type *type,
                           PyObject *value)
{
	Py_ssize_t n_bytes;
	PyObject *text = NULL;
	if (PyUnicode_Check(value))
		text = Py_NewRef(value);
	else if (build->strict)
		return unfit(build, builder, type, value);
	else if (PyBool_Check(value))
		text = PyUnicode_FromString(value == Py_True ? "true" : "false");
	else if (PyBytes_Check(value))
		text = PyUnicode_FromEncodedObject(value, "utf-8", "strict");
	else
		text = PyObject_Str(value);
	const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, &n_bytes) : NULL;
	bool good =
		bytes ? append_text(build, builder, type, bytes, n_bytes) : unfit(build, builder, type, value);
	Py_XDECREF(text);
	return good;
}

static bool append_as_binary(const build_mode *build, nk_series_builder *builder, const py_type *type,
                             PyObject *value)
{
	Py_buffer view;
	Py_ssize_t n_bytes;
	if (PyUnicode_Check(value)) {
		const char *bytes = build->strict ? NULL : PyUnicode_AsUTF8AndSize(value, &n_bytes);
		return bytes ? append_bytes(builder, bytes, n_bytes) : unfit(build, builder, type, value);
	}
	if (!PyObject_CheckBuffer(value) || PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0)
		return unfit(build, builder, type, value);
	bool good = append_bytes(builder, view.buf, view.len);
	PyBuffer_Release(&view);
	return good;
}

static bool append_as_temporal(const build_mode *build, nk_series_builder *builder, const py_type *type,
                               PyObject *value)
{
	int64_t number = 0;
	int is = 0;
	if (PyLong_Check(value) && !PyBool_Check(value)) {
		int overflow;
		number = PyLong_AsLongLongAndOverflow(value, &overflow);
		is = overflow ? 0 : 1;
	} else {
		bool is_datetime = py_is_instance(value, PY_DATETIME) > 0,
			 is_date = py_is_instance(value, PY_DATE) > 0;
		switch (type->kind) {
		case PY_KIND_DATE: is = is_date ? (py_to_days(value, &number) ? 1 : -1) : 0; break;
		case PY_KIND_TIME:
			is = py_is_instance(value, PY_TIME) > 0 ? (py_to_time(value, &number) ? 1 : -1) : 0;
			break;
		case PY_KIND_DURATION:
			is = py_is_instance(value, PY_TIMEDELTA) > 0 ? (py_to_duration(value, &number) ? 1 : -1) : 0;
			break;
		default:
			if (is_datetime)
				is = py_to_instant(value, &number) ? 1 : -1;
			else if (is_date) {
				is = py_to_days(value, &number) ? 1 : -1;
				number *= INT64_C(86400000000);
			}
		}
		/* Python counts microseconds. */
		if (is > 0 && (type->kind == PY_KIND_DURATION || type->kind == PY_KIND_DATETIME)) {
			if (type->per_second == 1000)
				number = number / 1000 - (number % 1000 < 0);
			else if (type->per_second == 1000000000 && __builtin_mul_overflow(number, 1000, &number))
				is = 0;
		}
	}
	if (is < 0)
		return false;
	if (is == 0 || (type->kind == PY_KIND_DATE && (number > INT32_MAX || number < INT32_MIN)))
		return unfit(build, builder, type, value);
	return append_integer(builder, (uint64_t)number, number >> 63);
}

static bool append_as_decimal(const build_mode *build, nk_series_builder *builder, const py_type *type,
                              PyObject *value)
{
	PyObject *decimal = NULL;
	int scale = type->scale;
	uint64_t low;
	int64_t high;
	if (py_is_instance(value, PY_DECIMAL) > 0)
		decimal = Py_NewRef(value);
	else if (!build->strict || build->whole->kind != PY_KIND_DECIMAL || build->whole->precision < 38) {
		/* A declared Decimal takes numbers and text; a guessed one is as strict as the rest. */
		PyObject *class = py_standard_class(PY_DECIMAL), *text = NULL;
		if (class && (PyFloat_Check(value) || PyLong_Check(value) || PyUnicode_Check(value)))
			text = PyObject_Str(value);
		decimal = text ? PyObject_CallFunctionObjArgs(class, text, NULL) : NULL;
		Py_XDECREF(text);
		if (!decimal && PyErr_Occurred())
			PyErr_Clear();
	}
	bool good = decimal && py_to_decimal(decimal, &scale, &low, &high);
	Py_XDECREF(decimal);
	return good ? append_integer(builder, low, high) : unfit(build, builder, type, value);
}

static bool append_list(const build_mode *build, nk_series_builder *builder, const py_type *type,
                        PyObject *value)
{
	nk_error err;
	PyObject *items = NULL;
	if (PyList_Check(value) || PyTuple_Check(value))
		items = Py_NewRef(value);
	else if (py_is_series(value))
		items = py_series_to_list(((py_series *)value)->handle);
	else if (!PyUnicode_Check(value) && !PyBytes_Check(value) && !PyDict_Check(value) &&
	         PySequence_Check(value))
		items = PySequence_List(value);
	else
		return unfit(build, builder, type, value);
	bool good = items && Py_EnterRecursiveCall(" while building nested values") == 0;
	if (good) {
		nk_series_builder *child = nk_series_builder_child(builder, 0);
		Py_ssize_t n_items = PySequence_Size(items);
		bool is_list = PyList_Check(items);
		for (Py_ssize_t i = 0; good && i < n_items; i++) {
			PyObject *item = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
			good = item && append(build, child, type->children[0], item);
		}
		Py_LeaveRecursiveCall();
	}
	Py_XDECREF(items);
	return good && checked(nk_series_builder_nested(builder, &err), &err);
}

static bool append_struct(const build_mode *build, nk_series_builder *builder, const py_type *type,
                          PyObject *value)
{
	nk_error err;
	bool is_dict = PyDict_Check(value), is_tuple = PyTuple_Check(value) || PyList_Check(value);
	if ((!is_dict && !is_tuple) || (is_tuple && PySequence_Size(value) != type->n_children))
		return unfit(build, builder, type, value);
	bool good = Py_EnterRecursiveCall(" while building nested values") == 0;
	if (!good)
		return false;
	for (int i = 0; good && i < type->n_children; i++) {
		PyObject *field =
			is_dict ? PyDict_GetItemWithError(value, type->names[i]) : PySequence_GetItem(value, i);
		if (is_tuple)
			Py_XDECREF(field); /* the sequence holds it */
		good = !PyErr_Occurred() &&
		       append(build, nk_series_builder_child(builder, i), type->children[i], field ? field : Py_None);
	}
	Py_LeaveRecursiveCall();
	return good && checked(nk_series_builder_nested(builder, &err), &err);
}

static bool append(const build_mode *build, nk_series_builder *builder, const py_type *type, PyObject *value)
{
	nk_error err;
	if (value == Py_None)
		return append_null(builder);
	switch (type->kind) {
	case PY_KIND_NULL: return append_null(builder);
	case PY_KIND_BOOLEAN:
		if (!PyBool_Check(value) &&
		    (build->strict ? !PyObject_HasAttrString(value, "dtype") : !PyNumber_Check(value)))
			return unfit(build, builder, type, value);
		return checked(nk_series_builder_boolean(builder, PyObject_IsTrue(value) == 1, &err), &err);
	case PY_KIND_INTEGER: return append_as_integer(build, builder, type, value);
	case PY_KIND_FLOAT: return append_as_float(build, builder, type, value);
	case PY_KIND_DECIMAL: return append_as_decimal(build, builder, type, value);
	case PY_KIND_CATEGORY:
	case PY_KIND_STRING: return append_as_text(build, builder, type, value);
	case PY_KIND_BINARY: return append_as_binary(build, builder, type, value);
	case PY_KIND_LIST: return append_list(build, builder, type, value);
	case PY_KIND_STRUCT: return append_struct(build, builder, type, value);
	default: return append_as_temporal(build, builder, type, value);
	}
}

nk_series *py_build_series(const char *name, PyObject *items, const char *dtype, bool strict)
{
	nk_error err;
	nk_series *series = NULL;
	nk_series_builder *builder = NULL;
	Py_ssize_t n_items = PySequence_Size(items);
	PyObject *guessed = dtype || n_items < 0 ? NULL : py_guess_dtype(items, strict, n_items);
	if (!dtype && !guessed)
		return NULL;
	if (!dtype)
		dtype = PyUnicode_AsUTF8AndSize(guessed, NULL);
	const py_type *type = dtype ? py_type_get(dtype) : NULL;
	bool good = type && checked(nk_series_builder_new(dtype, &builder, &err), &err);
	bool is_list = PyList_Check(items);
	build_mode build = {strict, type};
	/* The size is read anew: code that conversion calls may change the list. */
	for (Py_ssize_t i = 0; good && i < PySequence_Size(items); i++) {
		PyObject *value = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
		good = value != NULL;
		if (good) {
			Py_INCREF(value);
			good = append(&build, builder, type, value);
			Py_DECREF(value);
		}
	}
	if (good)
		checked(nk_series_builder_finish(builder, name, &series, &err), &err);
	if (builder)
		nk_series_builder_free(builder);
	Py_XDECREF(guessed);
	return series;
}
