/* Python functions inside queries. The engine calls them from any of its threads: the GIL is taken for as long as one
 * runs. What a function raises is kept here until the query's error asks for it; several workers may fail at once, and
 * what nobody asks for makes room for later exceptions. */
#include "binding.h"

#include <stdlib.h>

enum { KEPT_EXCEPTIONS = 64 };
static PyObject *raised; /* a list of exceptions */

static nk_status keep_exception(nk_error *err)
{
	PyObject *type, *value, *trace;
	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (value && trace)
		PyException_SetTraceback(value, trace);
	/* Memory that is lacking is a state of the engine, which knows what to do about it. */
	bool is_memory = value && PyErr_GivenExceptionMatches(value, PyExc_MemoryError), kept = false;
	nk_status status = is_memory ? NK_OUT_OF_MEMORY : NK_FOREIGN;
	if (!is_memory) {
		if (!raised)
			raised = PyList_New(0);
		if (raised && PyList_Size(raised) >= KEPT_EXCEPTIONS)
			PyList_SetSlice(raised, 0, 1, NULL);
		kept = raised && value && PyList_Append(raised, value) == 0;
	}
	if (err) {
		*err = (nk_error){.code = status, .payload = kept ? value : NULL};
		PyObject *text = value ? PyObject_Str(value) : NULL;
		const char *bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
		PyOS_snprintf(err->message, sizeof err->message, "%s", bytes ? bytes : "a Python function failed");
		Py_XDECREF(text);
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	PyErr_Clear();
	return status;
}

bool py_raise_kept(const void *exception)
{
	for (Py_ssize_t i = 0; raised && i < PyList_Size(raised); i++) {
		PyObject *kept = PyList_GetItem(raised, i);
		if (kept != exception)
			continue;
		PyErr_SetObject((PyObject *)Py_TYPE(kept), kept);
		PyList_SetSlice(raised, i, i + 1, NULL);
		return true;
	}
	return false;
}

static nk_status call_columns(void *data, nk_series *const *args, int n_args, nk_series **out, nk_error *err)
{
	PyGILState_STATE gil = PyGILState_Ensure();
	nk_status status = NK_OK;
	PyObject *list = PyList_New(n_args), *result = NULL;
	for (int i = 0; list && i < n_args; i++) {
		PyObject *series = py_wrap_series(nk_series_ref(args[i]));
		if (!series || PyList_SetItem(list, i, series) < 0)
			py_replace(&list, NULL);
	}
	if (list)
		result = PyObject_CallFunctionObjArgs(data, list, NULL);
	if (result && py_is_series(result))
		*out = nk_series_ref(((py_series *)result)->handle);
	else if (result)
		PyErr_Format(PyExc_TypeError, "expected a Series, got %R", Py_TYPE(result));
	if (PyErr_Occurred())
		status = keep_exception(err);
	Py_XDECREF(result);
	Py_XDECREF(list);
	PyGILState_Release(gil);
	return status;
}

static nk_status call_table(void *data, nk_frame *input, nk_frame **out, nk_error *err)
{
	PyGILState_STATE gil = PyGILState_Ensure();
	nk_status status = NK_OK;
	PyObject *frame = py_wrap_frame(nk_frame_ref(input)), *result = NULL;
	if (frame)
		result = PyObject_CallFunctionObjArgs(data, frame, NULL);
	if (result && PyObject_TypeCheck(result, py_frame_type))
		*out = nk_frame_ref(((py_frame *)result)->handle);
	else if (result)
		PyErr_Format(PyExc_TypeError, "expected a DataFrame, got %R", Py_TYPE(result));
	if (PyErr_Occurred())
		status = keep_exception(err);
	Py_XDECREF(result);
	Py_XDECREF(frame);
	PyGILState_Release(gil);
	return status;
}

static void function_free(void *data)
{
	if (!Py_IsInitialized())
		return;
	PyGILState_STATE gil = PyGILState_Ensure();
	Py_DECREF((PyObject *)data);
	PyGILState_Release(gil);
}

static PyObject *map_columns(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *function, *list;
	int is_elementwise, returns_scalar, takes_all;
	py_exprs exprs;
	nk_expr *expr = NULL;
	nk_column_function made = NK_OPTIONS(nk_column_function);
	if (!PyArg_ParseTuple(args, "OOzppp", &function, &list, &made.dtype, &is_elementwise, &returns_scalar,
	                      &takes_all) ||
	    !py_exprs_init(&exprs, list))
		return NULL;
	Py_INCREF(function);
	made.data = function;
	made.call = call_columns;
	made.free = function_free;
	made.is_elementwise = is_elementwise;
	made.returns_scalar = returns_scalar;
	made.takes_all = takes_all;
	nk_status status = nk_expr_map(&made, exprs.items, exprs.n, &expr, &err);
	py_exprs_release(&exprs);
	return status == NK_OK ? py_wrap_expr(expr) : py_raise(&err);
}

static PyObject *map_table(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *plan, *function, *schema;
	nk_plan *out = NULL;
	nk_table_function made = NK_OPTIONS(nk_table_function);
	if (!PyArg_ParseTuple(args, "O!OO", py_plan_type, &plan, &function, &schema))
		return NULL;
	if (schema != Py_None && !PyObject_TypeCheck(schema, py_frame_type))
		return PyErr_Format(PyExc_TypeError, "expected a DataFrame for the schema");
	Py_INCREF(function);
	made.data = function;
	made.call = call_table;
	made.free = function_free;
	made.schema = schema == Py_None ? NULL : ((py_frame *)schema)->handle;
	nk_status status = nk_plan_map(((py_plan *)plan)->handle, &made, &out, &err);
	return status == NK_OK ? py_wrap_plan(out) : py_raise(&err);
}

PyMethodDef py_foreign_functions[] = {
	{"map_columns", map_columns, METH_VARARGS,
     "function, expressions, dtype or None, is_elementwise, returns_scalar, takes_all"},
	{"map_table", map_table, METH_VARARGS, "plan, function, a frame of the result's schema or None"},
	{NULL, NULL, 0, NULL},
};
