/* The Series type: operators and aggregations call the library at once, without plans, since single operations on
 * short columns must take a microsecond. A Python number beside a Series becomes one of the Series' own dtype. */
#include "binding.h"

#include <stdio.h>

PyTypeObject *py_series_type, *py_series_class;

/* Below this many rows letting the GIL go costs more than it gives. */
enum { N_ROWS_QUICK = 16384 };

PyObject *py_wrap_series(nk_series *handle)
{
	py_series *self = (py_series *)PyType_GenericAlloc(py_series_class, 0);
	if (!self) {
		nk_series_unref(handle);
		return NULL;
	}
	self->handle = handle;
	return (PyObject *)self;
}

static nk_series *handle_of(PyObject *self) { return ((py_series *)self)->handle; }

/* value: NULL, or gets the result's one value; *result then may stay NULL. False: an exception is set. */
static bool call(const char *function, nk_series *const *args, int n_args, const py_options *options,
                 nk_series **result, nk_value *value)
{
	nk_error err;
	const nk_named_option *items = options ? options->items : NULL;
	int n_options = options ? options->n : 0;
	bool quick =
		nk_series_length(args[0]) < N_ROWS_QUICK && (n_args < 2 || nk_series_length(args[1]) < N_ROWS_QUICK);
	nk_status status;
	py_run run;
	do {
		if (!quick)
			py_run_begin(&run);
		status = value ? nk_series_value(function, args, n_args, items, n_options, value, result, &err)
		               : nk_series_call(function, args, n_args, items, n_options, result, &err);
	} while (!quick && py_run_end(&run, status));
	if (status != NK_OK)
		py_raise(&err);
	return status == NK_OK;
}

static nk_series *call_series(const char *function, nk_series *const *args, int n_args,
                              const py_options *options)
{
	nk_series *result = NULL;
	return call(function, args, n_args, options, &result, NULL) ? result : NULL;
}

static PyObject *call_value(const char *function, nk_series *const *args, int n_args,
                            const py_options *options)
{
	nk_series *owner = NULL;
	nk_value value = {0};
	if (!call(function, args, n_args, options, &owner, &value))
		return NULL;
	PyObject *made = py_from_value(&value, value.dtype);
	if (owner)
		nk_series_unref(owner);
	return made;
}

/* ---- Operators ---- */

typedef enum operator_kind { ARITHMETIC, COMPARISON, LOGIC } operator_kind;

/* A number beside a Series: 1: *value says how it enters, 0: not a number for this Series, -1: an exception. */
static int fit_number(PyObject *number, const char *dtype, operator_kind kind, nk_value *value)
{
	bool is_integer = dtype[0] == 'I' || dtype[0] == 'U', is_float = dtype[0] == 'F';
	if (PyBool_Check(number)) {
		if (is_integer || is_float) {
			*value = (nk_value){.kind = is_float ? NK_VALUE_FLOAT : NK_VALUE_INTEGER, .dtype = dtype};
			value->low = number == Py_True;
			value->floating = (double)value->low;
			return 1;
		}
		*value = (nk_value){.kind = NK_VALUE_BOOLEAN, .boolean = number == Py_True, .dtype = "Boolean"};
		return dtype[0] == 'B' && dtype[1] == 'o';
	}
	if (PyFloat_Check(number)) {
		*value = (nk_value){.kind = NK_VALUE_FLOAT,
		                    .floating = PyFloat_AsDouble(number),
		                    .dtype = is_float ? dtype : "Float64"};
		return is_integer || is_float;
	}
	if (!PyLong_Check(number) || !(is_integer || is_float))
		return 0;
	if (is_float) {
		*value = (nk_value){.kind = NK_VALUE_FLOAT, .floating = PyLong_AsDouble(number), .dtype = dtype};
		return PyErr_Occurred() ? -1 : 1;
	}
	*value = (nk_value){.kind = NK_VALUE_INTEGER, .dtype = dtype};
	if (!py_to_integer(number, &value->low, &value->high))
		return -1;
	const py_type *type = py_type_get(dtype);
	if (!type)
		return -1;
	if (!py_type_holds(type, value->low, value->high)) {
		if (kind == ARITHMETIC) {
			PyErr_Format(PyExc_OverflowError, "%R does not fit a Series of type %s", number, dtype);
			return -1;
		}
		value->dtype = value->high == (int64_t)value->low >> 63 ? "Int64"
		               : value->high == 0                       ? "UInt64"
		                                                        : "Int128";
	}
	return 1;
}

static PyObject *binary(const char *function, PyObject *left, PyObject *right, operator_kind kind)
{
	bool has_left = py_is_series(left), has_right = py_is_series(right);
	nk_series *result;
	if (has_left && has_right) {
		result = call_series(function, (nk_series *[]){handle_of(left), handle_of(right)}, 2, NULL);
		return result ? py_wrap_series(result) : NULL;
	}
	PyObject *self = has_left ? left : right, *other = has_left ? right : left;
	if (py_is_expr(other) || PyObject_TypeCheck(other, py_frame_type))
		Py_RETURN_NOTIMPLEMENTED;
	nk_value value;
	nk_error err;
	nk_series *constant = NULL;
	int fits = fit_number(other, nk_series_dtype(handle_of(self)), kind, &value);
	if (fits < 0)
		return NULL;
	if (fits > 0) {
		if (nk_series_constant(nk_series_name(handle_of(self)), &value, 1, &constant, &err) != NK_OK)
			return py_raise(&err);
	} else {
		/* The package knows what to do with dates, text, lists and the rest. */
		PyObject *series = PyObject_CallMethod(self, "_beside", "Os", other, function);
		if (!series || !py_is_series(series))
			return series;
		constant = nk_series_ref(handle_of(series));
		Py_DECREF(series);
	}
	nk_series *args[2] = {handle_of(self), constant};
	if (!has_left) {
		args[0] = constant;
		args[1] = handle_of(self);
	}
	result = call_series(function, args, 2, NULL);
	nk_series_unref(constant);
	return result ? py_wrap_series(result) : NULL;
}

static PyObject *op_add(PyObject *l, PyObject *r) { return binary("add", l, r, ARITHMETIC); }
static PyObject *op_subtract(PyObject *l, PyObject *r) { return binary("sub", l, r, ARITHMETIC); }
static PyObject *op_multiply(PyObject *l, PyObject *r) { return binary("mul", l, r, ARITHMETIC); }
static PyObject *op_true_divide(PyObject *l, PyObject *r) { return binary("truediv", l, r, ARITHMETIC); }
static PyObject *op_floor_divide(PyObject *l, PyObject *r) { return binary("floordiv", l, r, ARITHMETIC); }
static PyObject *op_remainder(PyObject *l, PyObject *r) { return binary("mod", l, r, ARITHMETIC); }
static PyObject *op_and(PyObject *l, PyObject *r) { return binary("and", l, r, LOGIC); }
static PyObject *op_or(PyObject *l, PyObject *r) { return binary("or", l, r, LOGIC); }
static PyObject *op_xor(PyObject *l, PyObject *r) { return binary("xor", l, r, LOGIC); }

static PyObject *op_power(PyObject *l, PyObject *r, PyObject *modulo)
{
	if (modulo != Py_None)
		Py_RETURN_NOTIMPLEMENTED;
	return binary("pow", l, r, ARITHMETIC);
}

static PyObject *op_compare(PyObject *left, PyObject *right, int operation)
{
	static const char *const functions[] = {
		[Py_LT] = "lt", [Py_LE] = "le", [Py_EQ] = "eq", [Py_NE] = "ne", [Py_GT] = "gt", [Py_GE] = "ge"};
	return binary(functions[operation], left, right, COMPARISON);
}

static PyObject *unary(const char *function, PyObject *self)
{
	nk_series *result = call_series(function, (nk_series *[]){handle_of(self)}, 1, NULL);
	return result ? py_wrap_series(result) : NULL;
}

static PyObject *op_negative(PyObject *self) { return unary("neg", self); }
static PyObject *op_absolute(PyObject *self) { return unary("abs", self); }
static PyObject *op_invert(PyObject *self) { return unary("not", self); }
static PyObject *op_positive(PyObject *self) { return Py_NewRef(self); }

static int op_bool(PyObject *self)
{
	(void)self;
	PyErr_SetString(PyExc_TypeError,
	                "the truth value of a Series is ambiguous\n\nHere are some things you might want to do:\n"
	                "- instead of `if s`, use `if not s.is_empty()`\n"
	                "- instead of `s1 and s2`, use `s1 & s2`\n- instead of `s1 or s2`, use `s1 | s2`\n"
	                "- instead of `s in [y, z]`, use `s.is_in([y, z])`");
	return -1;
}

/* ---- Calls and values ---- */

static PyObject *value_at(nk_series *series, int64_t row)
{
	nk_error err;
	nk_value value = {0};
	if (nk_series_get(series, row, &value, &err) != NK_OK)
		return py_raise(&err);
	return py_from_value(&value, nk_series_dtype(series));
}

enum { N_QUICK = 8 };

/* _call(function, *series, **options) */
static PyObject *call_objects(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names,
                              bool as_value)
{
	nk_series *series[N_QUICK] = {handle_of(self)};
	py_options options;
	const char *function =
		n_args > 0 && PyUnicode_Check(args[0]) ? PyUnicode_AsUTF8AndSize(args[0], NULL) : NULL;
	if (!function || n_args > N_QUICK) {
		PyErr_SetString(PyExc_TypeError, "expected the name of a function and a few Series");
		return NULL;
	}
	for (Py_ssize_t i = 1; i < n_args; i++) {
		if (!py_is_series(args[i])) {
			PyErr_Format(PyExc_TypeError, "expected a Series, got %R", (PyObject *)Py_TYPE(args[i]));
			return NULL;
		}
		series[i] = handle_of(args[i]);
	}
	if (!py_options_init(&options, args + n_args, names))
		return NULL;
	PyObject *made = NULL;
	if (as_value) {
		made = call_value(function, series, (int)n_args, &options);
	} else {
		nk_series *result = call_series(function, series, (int)n_args, &options);
		made = result ? py_wrap_series(result) : NULL;
	}
	py_options_release(&options);
	return made;
}

static PyObject *series_call(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	return call_objects(self, args, n_args, names, false);
}

/* The same, for a result of one row: its value. */
static PyObject *series_value(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	return call_objects(self, args, n_args, names, true);
}

static PyObject *aggregate(const char *function, PyObject *self)
{
	return call_value(function, (nk_series *[]){handle_of(self)}, 1, NULL);
}

#define AGGREGATION(name)                                            \
	static PyObject *series_##name(PyObject *self, PyObject *unused) \
	{                                                                \
		return (void)unused, aggregate(#name, self);                 \
	}
AGGREGATION(sum)
AGGREGATION(min)
AGGREGATION(max)
AGGREGATION(mean)
AGGREGATION(median)
AGGREGATION(product)
AGGREGATION(n_unique)
AGGREGATION(arg_min)
AGGREGATION(arg_max)

static bool row_of(nk_series *series, int64_t index, int64_t *row)
{
	int64_t n_rows = nk_series_length(series);
	*row = index < 0 ? index + n_rows : index;
	if (*row >= 0 && *row < n_rows)
		return true;
	PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for sequence of length %lld",
	             (long long)index, (long long)n_rows);
	return false;
}

/* One value; a list among the values is a Series of its own. */
static PyObject *element_at(PyObject *self, int64_t row)
{
	PyObject *value = value_at(handle_of(self), row);
	if (!value || !PyList_CheckExact(value))
		return value;
	Py_DECREF(value);
	return PyObject_CallMethod(self, "_list_at", "L", (long long)row);
}

static PyObject *series_item(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	nk_series *series = handle_of(self);
	PyObject *index = n_args + (names ? PyTuple_Size(names) : 0) > 0 ? args[0] : Py_None;
	int64_t row;
	if (index == Py_None) {
		if (nk_series_length(series) == 1)
			return element_at(self, 0);
		return PyErr_Format(
			PyExc_ValueError,
			"can only call '.item()' if the Series is of length 1, or an explicit index is provided "
			"(Series is of length %lld)",
			(long long)nk_series_length(series));
	}
	int64_t number = PyLong_AsLongLong(index);
	if ((number == -1 && PyErr_Occurred()) || !row_of(series, number, &row))
		return NULL;
	return element_at(self, row);
}

static PyObject *series_subscript(PyObject *self, PyObject *key)
{
	int64_t row;
	if (!PyLong_Check(key) || PyBool_Check(key))
		return PyObject_CallMethod(self, "_subscript", "(O)", key);
	int64_t number = PyLong_AsLongLong(key);
	if ((number == -1 && PyErr_Occurred()) || !row_of(handle_of(self), number, &row))
		return NULL;
	return element_at(self, row);
}

static Py_ssize_t series_length(PyObject *self) { return (Py_ssize_t)nk_series_length(handle_of(self)); }

static PyObject *series_len(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromLongLong(nk_series_length(handle_of(self)));
}

static PyObject *series_null_count(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromLongLong(nk_series_null_count(handle_of(self)));
}

static PyObject *series_count(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromLongLong(nk_series_length(handle_of(self)) - nk_series_null_count(handle_of(self)));
}

static PyObject *series_n_chunks(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromLong(nk_series_n_chunks(handle_of(self)));
}

static PyObject *series_to_list(PyObject *self, PyObject *unused)
{
	(void)unused;
	return py_series_to_list(handle_of(self));
}

static PyObject *series_sorted(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromLong(nk_series_sorted(handle_of(self)));
}

static PyObject *wrap(nk_status status, nk_series *result, const nk_error *err)
{
	return status == NK_OK ? py_wrap_series(result) : py_raise(err);
}

static PyObject *series_set_sorted(PyObject *self, PyObject *direction)
{
	nk_error err;
	nk_series *result = NULL;
	long sorted = PyLong_AsLong(direction);
	if (sorted == -1 && PyErr_Occurred())
		return NULL;
	nk_status status = nk_series_set_sorted(handle_of(self), (int)sorted, &result, &err);
	return wrap(status, result, &err);
}

static PyObject *series_rename(PyObject *self, PyObject *name)
{
	nk_error err;
	nk_series *result = NULL;
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	if (!text)
		return NULL;
	nk_status status = nk_series_rename(handle_of(self), text, &result, &err);
	return wrap(status, result, &err);
}

static PyObject *series_slice(PyObject *self, PyObject *args)
{
	nk_error err;
	nk_series *result = NULL;
	long long offset, length;
	if (!PyArg_ParseTuple(args, "LL", &offset, &length))
		return NULL;
	nk_status status = nk_series_slice(handle_of(self), offset, length, &result, &err);
	return wrap(status, result, &err);
}

static PyObject *series_rechunk(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	nk_series *result = NULL;
	nk_status status = nk_series_rechunk(handle_of(self), &result, &err);
	return wrap(status, result, &err);
}

static PyObject *series_append(PyObject *self, PyObject *other)
{
	nk_error err;
	nk_series *result = NULL;
	if (!py_is_series(other))
		return PyErr_Format(PyExc_TypeError, "expected a Series, got %R", (PyObject *)Py_TYPE(other));
	nk_status status = nk_series_append((nk_series *[]){handle_of(self), handle_of(other)}, 2, &result, &err);
	return wrap(status, result, &err);
}

/* Another handle for the same object: what changes a Series in place. */
static PyObject *series_set(PyObject *self, PyObject *other)
{
	if (!py_is_series(other) || !handle_of(other))
		return PyErr_Format(PyExc_TypeError, "expected a Series");
	py_series *target = (py_series *)self;
	nk_series *before = target->handle;
	target->handle = nk_series_ref(handle_of(other));
	if (before)
		nk_series_unref(before);
	Py_RETURN_NONE;
}

static PyObject *series_to_text(PyObject *self, PyObject *options)
{
	nk_error err;
	nk_format_options format;
	char *text;
	if (!py_format_options(options, &format))
		return NULL;
	if (nk_series_to_text(handle_of(self), &format, &text, &err) != NK_OK)
		return py_raise(&err);
	return py_text(text);
}

static PyObject *series_capsule(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	(void)args, (void)n_args, (void)names; /* a wanted schema is a wish that need not be met */
	nk_error err;
	struct ArrowArrayStream stream;
	if (nk_series_export(handle_of(self), &stream, &err) != NK_OK)
		return py_raise(&err);
	return py_stream_capsule(&stream);
}

/* A new empty object would hold no column, and every method relies on one. */
static PyObject *series_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
	(void)args, (void)names;
	nk_error err;
	PyObject *self = PyType_GenericAlloc(type, 0);
	if (self && nk_series_constant("", &(nk_value){0}, 0, &((py_series *)self)->handle, &err) != NK_OK) {
		Py_DECREF(self);
		return py_raise(&err);
	}
	return self;
}

static void series_dealloc(PyObject *self)
{
	if (handle_of(self))
		nk_series_unref(handle_of(self));
	py_free_object(self);
}

static PyObject *get_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(nk_series_name(handle_of(self)));
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
	(void)unused;
	return py_dtype_object(nk_series_dtype(handle_of(self)));
}

static PyObject *get_dtype_text(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(nk_series_dtype(handle_of(self)));
}

static PyObject *get_shape(PyObject *self, void *unused)
{
	(void)unused;
	return Py_BuildValue("(L)", (long long)nk_series_length(handle_of(self)));
}

static PyGetSetDef series_properties[] = {
	{"name", get_name, NULL, "Name of this Series.", NULL},
	{"dtype", get_dtype, NULL, "Data type of this Series.", NULL},
	{"_dtype_text", get_dtype_text, NULL, NULL, NULL},
	{"shape", get_shape, NULL, "Shape of this Series: a tuple of its length.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef series_methods[] = {
	{"_call", FUNCTION(series_call), METH_FASTCALL | METH_KEYWORDS,
     "A function by name, with Series and options."},
	{"_value", FUNCTION(series_value), METH_FASTCALL | METH_KEYWORDS,
     "As _call: the value in the result's one row."},
	{"sum", series_sum, METH_NOARGS,
     "sum($self)\n--\n\nSum of the values; 0 when there are none. 8 and 16-bit integers sum as Int64."},
	{"min", series_min, METH_NOARGS,
     "min($self)\n--\n\nSmallest value, None when there is none; NaN only when all are NaN."},
	{"max", series_max, METH_NOARGS,
     "max($self)\n--\n\nLargest value, None when there is none; NaN only when all are NaN."},
	{"mean", series_mean, METH_NOARGS, "mean($self)\n--\n\nMean of the values, None when there are none."},
	{"median", series_median, METH_NOARGS,
     "median($self)\n--\n\nMedian of the values, None when there are none."},
	{"product", series_product, METH_NOARGS,
     "product($self)\n--\n\nProduct of the values; 1 when there are none."},
	{"n_unique", series_n_unique, METH_NOARGS,
     "n_unique($self)\n--\n\nHow many different values there are; null counts as one."},
	{"arg_min", series_arg_min, METH_NOARGS,
     "arg_min($self)\n--\n\nIndex of the smallest value, None when there is none."},
	{"arg_max", series_arg_max, METH_NOARGS,
     "arg_max($self)\n--\n\nIndex of the largest value, None when there is none."},
	{"count", series_count, METH_NOARGS, "count($self)\n--\n\nHow many values are not null."},
	{"len", series_len, METH_NOARGS, "len($self)\n--\n\nHow many values there are, nulls included."},
	{"null_count", series_null_count, METH_NOARGS, "null_count($self)\n--\n\nHow many values are null."},
	{"n_chunks", series_n_chunks, METH_NOARGS, "n_chunks($self)\n--\n\nHow many chunks hold the values."},
	{"item", FUNCTION(series_item), METH_FASTCALL | METH_KEYWORDS,
     "item($self, index=None)\n--\n\nThe value at an index, or the only one.\n\nRaises IndexError beyond the "
     "end, ValueError when "
     "no index is given and the length is not 1."},
	{"to_list", series_to_list, METH_NOARGS,
     "to_list($self)\n--\n\nThe values as a Python list; nested ones as lists and dicts."},
	{"_sorted", series_sorted, METH_NOARGS, "1 ascending, -1 descending, 0 not known."},
	{"_set_sorted", series_set_sorted, METH_O, NULL},
	{"_rename", series_rename, METH_O, NULL},
	{"_slice", series_slice, METH_VARARGS, NULL},
	{"_rechunk", series_rechunk, METH_NOARGS, NULL},
	{"_append", series_append, METH_O, NULL},
	{"_set", series_set, METH_O, NULL},
	{"_to_text", series_to_text, METH_O, NULL},
	{"_buffers", py_series_buffers, METH_NOARGS, "Chunks as (values, validity or None, offset, length)."},
	{"__arrow_c_stream__", FUNCTION(series_capsule), METH_FASTCALL | METH_KEYWORDS,
     "Export through the Arrow PyCapsule interface."},
	{NULL, NULL, 0, NULL},
};

bool py_series_type_init(PyObject *module)
{
	static PyType_Slot slots[] = {
		{Py_tp_dealloc, series_dealloc},
		{Py_tp_new, series_new},
		{Py_tp_methods, series_methods},
		{Py_tp_getset, series_properties},
		{Py_tp_richcompare, op_compare},
		{Py_tp_hash, PyObject_HashNotImplemented},
		{Py_nb_add, op_add},
		{Py_nb_subtract, op_subtract},
		{Py_nb_multiply, op_multiply},
		{Py_nb_true_divide, op_true_divide},
		{Py_nb_floor_divide, op_floor_divide},
		{Py_nb_remainder, op_remainder},
		{Py_nb_power, op_power},
		{Py_nb_and, op_and},
		{Py_nb_or, op_or},
		{Py_nb_xor, op_xor},
		{Py_nb_negative, op_negative},
		{Py_nb_positive, op_positive},
		{Py_nb_absolute, op_absolute},
		{Py_nb_invert, op_invert},
		{Py_nb_bool, op_bool},
		{Py_mp_length, series_length},
		{Py_mp_subscript, series_subscript},
		{0, NULL},
	};
	static PyType_Spec spec = {"nanuk._nanuk.Series", sizeof(py_series), 0,
	                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
	py_series_type = py_series_class = (PyTypeObject *)PyType_FromSpec(&spec);
	return py_series_type && PyModule_AddObjectRef(module, "Series", (PyObject *)py_series_type) == 0;
}
