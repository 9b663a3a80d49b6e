/* Options that arrive as a dict whose keys are the fields of one of the library's structs. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

void py_texts_release(py_texts *own)
{
	for (int i = 0; i < own->n; i++)
		free(own->lists[i]);
	own->n = 0;
}

bool py_texts_of(PyObject *list, py_texts *own, const char ***out, int *n_out)
{
	Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
	const char **texts = n < 0 || own->n == PY_TEXTS_MAX ? NULL : calloc((size_t)n + 1, sizeof *texts);
	if (!texts) {
		PyErr_SetString(n < 0 ? PyExc_TypeError : PyExc_MemoryError, "expected a list of texts");
		return false;
	}
	own->lists[own->n++] = texts;
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PyList_GetItem(list, i);
		if (item != Py_None && !(texts[i] = PyUnicode_AsUTF8AndSize(item, NULL)))
			return false;
	}
	*out = texts;
	*n_out = (int)n;
	return true;
}

static bool set_option(const py_option *about, char *options, PyObject *value, py_texts *own)
{
	char *field = options + about->offset;
	long long number;
	const char **texts;
	switch (about->kind) {
	case PY_FLAG: *(bool *)field = PyObject_IsTrue(value) == 1; break;
	case PY_NUMBER:
	case PY_SMALL:
		number = PyLong_AsLongLong(value);
		if (about->kind == PY_NUMBER)
			*(int64_t *)field = number;
		else
			*(int *)field = (int)number;
		break;
	case PY_TEXT: *(const char **)field = PyUnicode_AsUTF8AndSize(value, NULL); break;
	case PY_TEXTS:
		if (py_texts_of(value, own, &texts, (int *)(options + about->count_offset)))
			*(const char *const **)field = texts;
		break;
	}
	return !PyErr_Occurred();
}

bool py_set_options(PyObject *dict, const py_option *known, size_t n_known, void *options, py_texts *own)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;
	while (PyDict_Next(dict, &at, &key, &value)) {
		const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
		size_t i = 0;
		while (name && i < n_known && strcmp(known[i].name, name) != 0)
			i++;
		if (!name || i == n_known) {
			PyErr_Format(PyExc_TypeError, "no option %R", key);
			return false;
		}
		if (value != Py_None && !set_option(&known[i], options, value, own))
			return false;
	}
	return true;
}

PyObject *py_scan(PyObject *args, const py_option *known, size_t n_known, void *options, py_scan_call *scan)
{
	nk_error err;
	PyObject *list, *dict;
	const char **paths;
	int n_paths;
	nk_plan *plan = NULL;
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &list, &PyDict_Type, &dict))
		return NULL;
	bool good =
		py_texts_of(list, &own, &paths, &n_paths) && py_set_options(dict, known, n_known, options, &own);
	nk_status status = good ? scan(paths, n_paths, options, &plan, &err) : NK_OK;
	py_texts_release(&own);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

PyObject *py_sink(PyObject *args, const py_option *known, size_t n_known, void *options, py_sink_call *sink)
{
	nk_error err;
	PyObject *object, *dict;
	const char *path;
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "O!sO!", py_plan_type, &object, &path, &PyDict_Type, &dict))
		return NULL;
	nk_plan *plan = ((py_plan *)object)->handle;
	if (!plan)
		return PyErr_Format(PyExc_ValueError, "the LazyFrame is not initialised");
	bool good = py_set_options(dict, known, n_known, options, &own);
	nk_status status = NK_OK;
	if (good) {
		py_run run;
		nk_query_options query = NK_OPTIONS(nk_query_options);
		py_run_query(&run, &query);
		do {
			py_run_begin(&run);
			status = sink(plan, path, options, &query, &err);
		} while (py_run_end(&run, status));
		py_run_ended(&run);
	}
	py_texts_release(&own);
	if (!good)
		return NULL;
	if (status != NK_OK)
		return py_raise(&err);
	Py_RETURN_NONE;
}
