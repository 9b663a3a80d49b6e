/* The Frame type: a table's columns, its size, its rows as Python values, and its plan. */
#include "binding.h"

#include <stdlib.h>

PyTypeObject *py_frame_type, *py_frame_class;

PyObject *py_wrap_frame(nk_frame *handle)
{
	py_frame *self = (py_frame *)PyType_GenericAlloc(py_frame_class, 0);
	if (!self) {
		nk_frame_unref(handle);
		return NULL;
	}
	self->handle = handle;
	return (PyObject *)self;
}

static nk_frame *handle_of(PyObject *self) { return ((py_frame *)self)->handle; }

/* ---- Size and schema ---- */

static PyObject *get_height(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(nk_frame_height(handle_of(self)));
}

static PyObject *get_width(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromLong(nk_frame_width(handle_of(self)));
}

static PyObject *get_shape(PyObject *self, void *unused)
{
	(void)unused;
	return Py_BuildValue("(Li)", (long long)nk_frame_height(handle_of(self)),
	                     nk_frame_width(handle_of(self)));
}

static PyObject *each_column(PyObject *self, PyObject *(*make)(const char *),
                             const char *(*get)(const nk_frame *, int))
{
	int n = nk_frame_width(handle_of(self));
	PyObject *list = PyList_New(n);
	for (int i = 0; list && i < n; i++) {
		PyObject *item = make(get(handle_of(self), i));
		if (!item || PyList_SetItem(list, i, item) < 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *get_columns(PyObject *self, void *unused)
{
	(void)unused;
	return each_column(self, PyUnicode_FromString, nk_frame_name);
}

static PyObject *get_dtypes(PyObject *self, void *unused)
{
	(void)unused;
	return each_column(self, py_dtype_object, nk_frame_dtype);
}

static Py_ssize_t frame_length(PyObject *self) { return (Py_ssize_t)nk_frame_height(handle_of(self)); }

/* ---- Columns ---- */

static PyObject *column_at(PyObject *self, int64_t column)
{
	nk_error err;
	nk_series *series;
	if (nk_frame_column(handle_of(self), (int)column, &series, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_series(series);
}

static PyObject *frame_column(PyObject *self, PyObject *index)
{
	int64_t n = nk_frame_width(handle_of(self)), column = PyLong_AsLongLong(index);
	if (column == -1 && PyErr_Occurred())
		return NULL;
	if (column < 0)
		column += n;
	if (column < 0 || column >= n)
		return PyErr_Format(PyExc_IndexError, "column index %R is out of range of %lld columns", index,
		                    (long long)n);
	return column_at(self, column);
}

/* The position of a column, -1 when there is none. */
static PyObject *frame_find(PyObject *self, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	return text ? PyLong_FromLong(nk_frame_find(handle_of(self), text)) : NULL;
}

static PyObject *frame_columns(PyObject *self, PyObject *unused)
{
	(void)unused;
	int n = nk_frame_width(handle_of(self));
	PyObject *list = PyList_New(n);
	for (int i = 0; list && i < n; i++) {
		PyObject *series = column_at(self, i);
		if (!series || PyList_SetItem(list, i, series) < 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *frame_subscript(PyObject *self, PyObject *key)
{
	if (PyUnicode_Check(key)) {
		const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
		int column = name ? nk_frame_find(handle_of(self), name) : -1;
		if (column >= 0)
			return column_at(self, column);
	}
	return PyObject_CallMethod(self, "_subscript", "(O)", key);
}

/* ---- Rows ---- */

static PyObject *column_list(PyObject *self, int column)
{
	PyObject *series = column_at(self, column);
	PyObject *values = series ? py_series_to_list(((py_series *)series)->handle) : NULL;
	Py_XDECREF(series);
	return values;
}

/* A list of tuples, or of dicts by column name. */
static PyObject *frame_rows(PyObject *self, PyObject *named)
{
	int n = nk_frame_width(handle_of(self));
	Py_ssize_t n_rows = frame_length(self);
	bool as_dicts = PyObject_IsTrue(named) == 1;
	PyObject *names = as_dicts ? get_columns(self, NULL) : NULL;
	PyObject *rows = as_dicts && !names ? NULL : PyList_New(n_rows);
	for (Py_ssize_t row = 0; rows && row < n_rows; row++) {
		PyObject *empty = as_dicts ? PyDict_New() : PyTuple_New(n);
		if (!empty || PyList_SetItem(rows, row, empty) < 0)
			Py_CLEAR(rows);
	}
	for (int column = 0; rows && column < n; column++) {
		PyObject *values = column_list(self, column), *name = as_dicts ? PyList_GetItem(names, column) : NULL;
		if (!values)
			Py_CLEAR(rows);
		for (Py_ssize_t row = 0; rows && row < n_rows; row++) {
			PyObject *target = PyList_GetItem(rows, row), *value = PyList_GetItem(values, row);
			int failed = as_dicts ? PyDict_SetItem(target, name, value)
			                      : PyTuple_SetItem(target, column, Py_NewRef(value));
			if (failed < 0)
				Py_CLEAR(rows);
		}
		Py_XDECREF(values);
	}
	Py_XDECREF(names);
	return rows;
}

static PyObject *frame_row(PyObject *self, PyObject *index)
{
	int n = nk_frame_width(handle_of(self));
	int64_t row = PyLong_AsLongLong(index);
	PyObject *values = row == -1 && PyErr_Occurred() ? NULL : PyTuple_New(n);
	for (int column = 0; values && column < n; column++) {
		nk_error err;
		nk_series *series;
		nk_value value = {0};
		PyObject *object = NULL;
		nk_status status = nk_frame_column(handle_of(self), column, &series, &err);
		if (status == NK_OK) {
			status = nk_series_get(series, row, &value, &err);
			object = status == NK_OK ? py_from_value(&value, nk_series_dtype(series)) : NULL;
			nk_series_unref(series);
		}
		if (status != NK_OK)
			py_raise(&err);
		if (!object || PyTuple_SetItem(values, column, object) < 0)
			Py_CLEAR(values);
	}
	return values;
}

/* ---- The rest ---- */

static PyObject *frame_plan(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	nk_plan *plan;
	if (nk_plan_from_frame(handle_of(self), &plan, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_plan(plan);
}

static PyObject *frame_to_text(PyObject *self, PyObject *options)
{
	nk_error err;
	nk_format_options format;
	char *text;
	if (!py_format_options(options, &format))
		return NULL;
	if (nk_frame_to_text(handle_of(self), &format, &text, &err) != NK_OK)
		return py_raise(&err);
	return py_text(text);
}

static PyObject *frame_capsule(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	(void)args, (void)n_args, (void)names; /* a wanted schema is a wish that need not be met */
	nk_error err;
	struct ArrowArrayStream stream;
	if (nk_frame_export(handle_of(self), &stream, &err) != NK_OK)
		return py_raise(&err);
	return py_stream_capsule(&stream);
}

static bool frame_from_series(PyObject *list, int64_t height, nk_frame **out)
{
	nk_error err;
	PyObject *items = PySequence_Fast(list, "expected a list of Series");
	Py_ssize_t n = items ? PySequence_Size(items) : 0;
	nk_series **series = items ? calloc((size_t)n + 1, sizeof *series) : NULL;
	bool good = series != NULL;
	if (items && !series)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; good && i < n; i++) {
		PyObject *item = PyList_Check(items) ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
		good = item && py_is_series(item);
		if (good)
			series[i] = ((py_series *)item)->handle;
		else
			PyErr_SetString(PyExc_TypeError, "expected Series");
	}
	if (good && nk_frame_from_series(series, (int)n, height, out, &err) != NK_OK) {
		py_raise(&err);
		good = false;
	}
	free(series);
	Py_XDECREF(items);
	return good;
}

/* _set(frame) or _set(list of Series, height): other contents for the same object. */
static PyObject *frame_set(PyObject *self, PyObject *args)
{
	PyObject *contents;
	long long height = 0;
	nk_frame *frame = NULL;
	if (!PyArg_ParseTuple(args, "O|L", &contents, &height))
		return NULL;
	if (PyObject_TypeCheck(contents, py_frame_type))
		frame = nk_frame_ref(handle_of(contents));
	else if (!frame_from_series(contents, height, &frame))
		return NULL;
	py_frame *target = (py_frame *)self;
	nk_frame *before = target->handle;
	target->handle = frame;
	if (before)
		nk_frame_unref(before);
	Py_RETURN_NONE;
}

static PyObject *frame_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
	(void)args, (void)names;
	nk_error err;
	PyObject *self = PyType_GenericAlloc(type, 0);
	if (self && nk_frame_from_series(NULL, 0, 0, &((py_frame *)self)->handle, &err) != NK_OK) {
		Py_DECREF(self);
		return py_raise(&err);
	}
	return self;
}

static void frame_dealloc(PyObject *self)
{
	if (handle_of(self))
		nk_frame_unref(handle_of(self));
	py_free_object(self);
}

static PyGetSetDef frame_properties[] = {
	{"height", get_height, NULL, "Number of rows.", NULL},
	{"width", get_width, NULL, "Number of columns.", NULL},
	{"shape", get_shape, NULL, "Height and width.", NULL},
	{"_names", get_columns, NULL, NULL, NULL},
	{"dtypes", get_dtypes, NULL, "Data types of the columns, in order.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef frame_methods[] = {
	{"_column", frame_column, METH_O, "The Series at a position; negative ones count from the end."},
	{"_find", frame_find, METH_O, "The position of a name, or -1."},
	{"get_columns", frame_columns, METH_NOARGS, "get_columns($self)\n--\n\nThe columns as a list of Series."},
	{"_rows", frame_rows, METH_O, "All rows as tuples, or as dicts."},
	{"_row", frame_row, METH_O, "One row as a tuple."},
	{"_plan", frame_plan, METH_NOARGS, "A query that yields this frame."},
	{"_set", frame_set, METH_VARARGS, NULL},
	{"_to_text", frame_to_text, METH_O, NULL},
	{"__arrow_c_stream__", FUNCTION(frame_capsule), METH_FASTCALL | METH_KEYWORDS,
     "Export through the Arrow PyCapsule interface."},
	{NULL, NULL, 0, NULL},
};

bool py_frame_type_init(PyObject *module)
{
	static PyType_Slot slots[] = {
		{Py_tp_dealloc, frame_dealloc},
		{Py_tp_new, frame_new},
		{Py_tp_methods, frame_methods},
		{Py_tp_getset, frame_properties},
		{Py_mp_length, frame_length},
		{Py_mp_subscript, frame_subscript},
		{0, NULL},
	};
	static PyType_Spec spec = {"nanuk._nanuk.Frame", sizeof(py_frame), 0,
	                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
	py_frame_type = py_frame_class = (PyTypeObject *)PyType_FromSpec(&spec);
	return py_frame_type && PyModule_AddObjectRef(module, "Frame", (PyObject *)py_frame_type) == 0;
}
