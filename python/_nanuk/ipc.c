/* Arrow IPC files and streams. */
#include "binding.h"

#include <stddef.h>

#define READ(kind, field)                                          \
	{                                                              \
#field, PY_##kind, offsetof(nk_scan_ipc_options, field), 0 \
	}
#define WRITE(kind, field)                                         \
	{                                                              \
#field, PY_##kind, offsetof(nk_sink_ipc_options, field), 0 \
	}

static const py_option scan_options[] = {
	READ(FLAG, is_stream),          READ(FLAG, no_glob),
	READ(TEXT, include_file_paths), READ(TEXT, row_index_name),
	READ(NUMBER, row_index_offset), READ(NUMBER, n_rows),
};
static const py_option sink_options[] = {
	WRITE(FLAG, is_stream),
	WRITE(TEXT, compression),
	WRITE(FLAG, no_views),
	WRITE(NUMBER, record_batch_rows),
};

static PyObject *module_scan_ipc(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *list, *dict;
	const char **paths;
	int n_paths;
	nk_plan *plan = NULL;
	nk_scan_ipc_options options = NK_OPTIONS(nk_scan_ipc_options);
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &list, &PyDict_Type, &dict))
		return NULL;
	bool good =
		py_texts_of(list, &own, &paths, &n_paths) &&
		py_set_options(dict, scan_options, sizeof scan_options / sizeof *scan_options, &options, &own);
	nk_status status = good ? nk_plan_scan_ipc(paths, n_paths, &options, &plan, &err) : NK_OK;
	py_texts_release(&own);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

static PyObject *module_sink_ipc(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *object, *dict;
	const char *path;
	nk_sink_ipc_options options = NK_OPTIONS(nk_sink_ipc_options);
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "O!sO!", py_plan_type, &object, &path, &PyDict_Type, &dict))
		return NULL;
	nk_plan *plan = ((py_plan *)object)->handle;
	if (!plan)
		return PyErr_Format(PyExc_ValueError, "the LazyFrame is not initialised");
	if (!py_set_options(dict, sink_options, sizeof sink_options / sizeof *sink_options, &options, &own))
		return NULL;
	PyThreadState *thread = PyEval_SaveThread();
	nk_status status = nk_plan_sink_ipc(plan, path, &options, &err);
	PyEval_RestoreThread(thread);
	if (status != NK_OK)
		return py_raise(&err);
	Py_RETURN_NONE;
}

PyMethodDef py_ipc_functions[] = {
	{"scan_ipc", module_scan_ipc, METH_VARARGS, "paths, options by name"},
	{"sink_ipc", module_sink_ipc, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
