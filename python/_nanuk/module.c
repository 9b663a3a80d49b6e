/* The module: types, functions, and the registration of the package's classes. */
#include "binding.h"

PyObject *py_text(char *text)
{
	PyObject *result = PyUnicode_FromString(text);
	nk_text_free(text);
	return result;
}

/* ---- Printing ---- */

typedef struct format_field {
	const char *name;
	enum { FORMAT_INT, FORMAT_BOOL, FORMAT_TEXT } type;
	size_t offset;
} format_field;

#define FIELD(name, type)                              \
	{                                                  \
#name, type, offsetof(nk_format_options, name) \
	}

bool py_format_options(PyObject *dict, nk_format_options *out)
{
	static const format_field fields[] = {
		FIELD(max_rows, FORMAT_INT),
		FIELD(max_columns, FORMAT_INT),
		FIELD(max_string, FORMAT_INT),
		FIELD(max_list, FORMAT_INT),
		FIELD(width, FORMAT_INT),
		FIELD(float_precision, FORMAT_INT),
		FIELD(float_full, FORMAT_BOOL),
		FIELD(hide_shape, FORMAT_BOOL),
		FIELD(hide_names, FORMAT_BOOL),
		FIELD(hide_dtypes, FORMAT_BOOL),
		FIELD(hide_separator, FORMAT_BOOL),
		FIELD(dtype_inline, FORMAT_BOOL),
		FIELD(shape_below, FORMAT_BOOL),
		FIELD(style, FORMAT_TEXT),
		FIELD(alignment, FORMAT_TEXT),
		FIELD(numeric_alignment, FORMAT_TEXT),
		FIELD(thousands_separator, FORMAT_TEXT),
		FIELD(decimal_separator, FORMAT_TEXT),
	};
	*out = (nk_format_options){.size = sizeof *out};
	if (!PyDict_Check(dict)) {
		PyErr_SetString(PyExc_TypeError, "expected a dict of format options");
		return false;
	}
	for (size_t i = 0; PyDict_Size(dict) > 0 && i < sizeof fields / sizeof *fields; i++) {
		PyObject *value = PyDict_GetItemString(dict, fields[i].name);
		char *target = (char *)out + fields[i].offset;
		if (!value || value == Py_None)
			continue;
		if (fields[i].type == FORMAT_INT)
			*(int *)(void *)target = (int)PyLong_AsLong(value);
		else if (fields[i].type == FORMAT_BOOL)
			*(bool *)(void *)target = PyObject_IsTrue(value) == 1;
		else
			*(const char **)(void *)target = PyUnicode_AsUTF8AndSize(value, NULL);
		if (PyErr_Occurred())
			return false;
	}
	return true;
}

/* ---- Series from Python values ---- */

/* series_from_list(name, list, dtype text or None, strict) */
static PyObject *series_from_list(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
	(void)module;
	if (n_args != 4 || !(PyList_Check(args[1]) || PyTuple_Check(args[1])))
		return PyErr_Format(PyExc_TypeError, "expected a name, a list, a dtype and strict");
	const char *name = PyUnicode_AsUTF8AndSize(args[0], NULL);
	const char *dtype = args[2] == Py_None ? NULL : PyUnicode_AsUTF8AndSize(args[2], NULL);
	if (!name || PyErr_Occurred())
		return NULL;
	nk_series *series = py_build_series(name, args[1], dtype, PyObject_IsTrue(args[3]) == 1);
	return series ? py_wrap_series(series) : NULL;
}

/* guess_dtype(list, strict, n_items or -1) */
static PyObject *guess_dtype(PyObject *module, PyObject *args)
{
	(void)module;
	PyObject *items;
	int strict;
	Py_ssize_t n;
	if (!PyArg_ParseTuple(args, "Opn", &items, &strict, &n))
		return NULL;
	if (!PyList_Check(items) && !PyTuple_Check(items))
		return PyErr_Format(PyExc_TypeError, "expected a list");
	Py_ssize_t n_items = PySequence_Size(items);
	return py_guess_dtype(items, strict, n < 0 || n > n_items ? n_items : n);
}

/* series_constant(name, value, n): typed as a literal is. */
static PyObject *series_constant(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	nk_value value;
	nk_series *series = NULL;
	PyObject *name, *object, *keep;
	long long n;
	char dtype[128];
	if (!PyArg_ParseTuple(args, "UOL", &name, &object, &n))
		return NULL;
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	bool good = text && py_to_value(object, &value, dtype, sizeof dtype, &keep);
	nk_status status = good ? nk_series_constant(text, &value, n, &series, &err) : NK_TYPE;
	if (good)
		Py_XDECREF(keep);
	return status == NK_OK ? py_wrap_series(series) : good ? py_raise(&err) : NULL;
}

/* ---- Dtypes ---- */

static PyObject *dtype_check(PyObject *module, PyObject *text)
{
	(void)module;
	nk_error err;
	const char *canonical, *given = PyUnicode_AsUTF8AndSize(text, NULL);
	if (!given)
		return NULL;
	if (nk_dtype_check(given, &canonical, &err) != NK_OK)
		return py_raise(&err);
	return PyUnicode_FromString(canonical);
}

static PyObject *dtype_short(PyObject *module, PyObject *text)
{
	(void)module;
	nk_error err;
	const char *result, *given = PyUnicode_AsUTF8AndSize(text, NULL);
	if (!given)
		return NULL;
	if (nk_dtype_short(given, &result, &err) != NK_OK)
		return py_raise(&err);
	return PyUnicode_FromString(result);
}

static PyObject *categories(PyObject *module, PyObject *text)
{
	(void)module;
	nk_error err;
	nk_series *series;
	const char *given = PyUnicode_AsUTF8AndSize(text, NULL);
	if (!given)
		return NULL;
	if (nk_dtype_categories(given, &series, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_series(series);
}

static PyObject *dtype_supertype(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	const char *left, *right, *result;
	if (!PyArg_ParseTuple(args, "ss", &left, &right))
		return NULL;
	if (nk_dtype_supertype(left, right, &result, &err) != NK_OK)
		return py_raise(&err);
	return PyUnicode_FromString(result);
}

/* ---- The library ---- */

static PyObject *thread_count(PyObject *module, PyObject *unused)
{
	(void)module, (void)unused;
	return PyLong_FromLong(nk_thread_count());
}

static PyObject *memory_in_use(PyObject *module, PyObject *unused)
{
	(void)module, (void)unused;
	return Py_BuildValue("(LL)", (long long)nk_memory_in_use(), (long long)nk_memory_in_use_peak());
}

static PyObject *functions(PyObject *module, PyObject *unused)
{
	(void)module, (void)unused;
	nk_error err;
	char *text;
	if (nk_functions(&text, &err) != NK_OK)
		return py_raise(&err);
	return py_text(text);
}

static PyObject *set_classes(PyObject *module, PyObject *classes)
{
	(void)module;
	struct {
		const char *name;
		PyTypeObject *base, **class;
	} wanted[] = {
		{"Expr", py_expr_type, &py_expr_class},
		{"Series", py_series_type, &py_series_class},
		{"DataFrame", py_frame_type, &py_frame_class},
		{"LazyFrame", py_plan_type, &py_plan_class},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		PyObject *class = PyDict_GetItemString(classes, wanted[i].name);
		if (!class || !PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, wanted[i].base))
			return PyErr_Format(PyExc_TypeError, "no class for %s", wanted[i].name);
		Py_INCREF(class);
		*wanted[i].class = (PyTypeObject *)class;
	}
	Py_RETURN_NONE;
}

static PyMethodDef module_functions[] = {
	{"set_exceptions", py_set_exceptions, METH_O, "Exception classes by the name of their status."},
	{"set_classes", set_classes, METH_O, "The classes that results are given."},
	{"set_dtype_factory", py_set_dtype_factory, METH_O, "What makes a DataType from its text."},
	{"series_from_list", (PyCFunction)(void (*)(void))series_from_list, METH_FASTCALL,
     "name, list, dtype, strict"},
	{"guess_dtype", guess_dtype, METH_VARARGS, "list, strict, how many items to look at or -1"},
	{"series_constant", series_constant, METH_VARARGS, "name, value, n"},
	{"series_from_buffer", py_series_from_buffer, METH_VARARGS, "name, object with a buffer of numbers"},
	{"import_frame", py_import_frame, METH_O, "A frame from an object with Arrow capsules."},
	{"import_series", py_import_series, METH_O, "A series from an object with Arrow capsules."},
	{"is_frame_stream", py_is_frame_stream, METH_O, "Whether Arrow capsules hold a table."},
	{"dtype_check", dtype_check, METH_O, "The canonical text of a dtype."},
	{"dtype_short", dtype_short, METH_O, "A dtype as tables show it."},
	{"categories", categories, METH_O, "The texts of a Categorical or Enum as a Series."},
	{"dtype_supertype", dtype_supertype, METH_VARARGS, "The dtype that holds both."},
	{"thread_count", thread_count, METH_NOARGS, "Threads that queries use."},
	{"set_progress", py_set_progress, METH_O,
     "What gets a line of text and the fraction done while queries run long, at last (None, 1.0); None: "
     "nothing."},
	{"set_context", py_set_context, METH_VARARGS,
     "Limits of memory, of memory in all and of time, and the spill folder; None each for the "
     "environment's."},
	{"memory_in_use", memory_in_use, METH_NOARGS, "Bytes held now, and at most so far."},
	{"functions", functions, METH_NOARGS, "The function registry as JSON."},
	{NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit__nanuk(void);

PyMODINIT_FUNC PyInit__nanuk(void)
{
	static struct PyModuleDef definition = {
		PyModuleDef_HEAD_INIT, .m_name = "nanuk._nanuk",      .m_doc = "Handles of libnanuk.",
		.m_size = -1,          .m_methods = module_functions,
	};
	PyObject *module = PyModule_Create(&definition);
	bool good = module && py_buffer_type_init() && py_expr_type_init(module) && py_series_type_init(module) &&
	            py_frame_type_init(module) && py_plan_type_init(module) &&
	            PyModule_AddFunctions(module, py_expr_functions) == 0 &&
	            PyModule_AddFunctions(module, py_plan_functions) == 0 &&
	            PyModule_AddFunctions(module, py_csv_functions) == 0 &&
	            PyModule_AddFunctions(module, py_foreign_functions) == 0 &&
	            PyModule_AddFunctions(module, py_windows_functions) == 0 &&
	            PyModule_AddFunctions(module, py_ipc_functions) == 0 &&
	            PyModule_AddFunctions(module, py_json_functions) == 0 &&
	            PyModule_AddFunctions(module, py_parquet_functions) == 0 &&
	            PyModule_AddFunctions(module, py_sql_functions) == 0 &&
	            PyModule_AddStringConstant(module, "version", nk_version()) == 0;
	if (!good)
		Py_CLEAR(module);
	return module;
}
