/* Parquet files: options arrive as a dict whose keys are the fields of the library's structs. */
#include "binding.h"

#include <stddef.h>

#define READ(kind, field)                                              \
	{                                                                  \
#field, PY_##kind, offsetof(nk_scan_parquet_options, field), 0 \
	}
#define READ_TEXTS(field, count)                                                                             \
	{                                                                                                        \
#field, PY_TEXTS, offsetof(nk_scan_parquet_options, field), offsetof(nk_scan_parquet_options, count) \
	}
#define WRITE(kind, field)                                             \
	{                                                                  \
#field, PY_##kind, offsetof(nk_sink_parquet_options, field), 0 \
	}

static const py_option scan_options[] = {
	READ(FLAG, no_glob),
	READ_TEXTS(schema_names, n_schema),
	READ_TEXTS(schema_dtypes, n_schema),
	READ(FLAG, insert_missing_columns),
	READ(FLAG, ignore_extra_columns),
	READ(SMALL, hive_partitioning),
	READ_TEXTS(hive_names, n_hive_schema),
	READ_TEXTS(hive_dtypes, n_hive_schema),
	READ(FLAG, no_hive_dates),
	READ(TEXT, include_file_paths),
	READ(TEXT, row_index_name),
	READ(NUMBER, row_index_offset),
	READ(NUMBER, n_rows),
};
static const py_option sink_options[] = {
	WRITE(TEXT, compression),   WRITE(FLAG, has_level),        WRITE(SMALL, compression_level),
	WRITE(FLAG, no_statistics), WRITE(NUMBER, row_group_rows),
};

static PyObject *module_scan_parquet(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *list, *dict;
	const char **paths;
	int n_paths;
	nk_plan *plan = NULL;
	nk_scan_parquet_options options = NK_OPTIONS(nk_scan_parquet_options);
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &list, &PyDict_Type, &dict))
		return NULL;
	bool good =
		py_texts_of(list, &own, &paths, &n_paths) &&
		py_set_options(dict, scan_options, sizeof scan_options / sizeof *scan_options, &options, &own);
	nk_status status = good ? nk_plan_scan_parquet(paths, n_paths, &options, &plan, &err) : NK_OK;
	py_texts_release(&own);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

static PyObject *module_sink_parquet(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *object, *dict;
	const char *path;
	nk_sink_parquet_options options = NK_OPTIONS(nk_sink_parquet_options);
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "O!sO!", py_plan_type, &object, &path, &PyDict_Type, &dict))
		return NULL;
	nk_plan *plan = ((py_plan *)object)->handle;
	if (!plan)
		return PyErr_Format(PyExc_ValueError, "the LazyFrame is not initialised");
	if (!py_set_options(dict, sink_options, sizeof sink_options / sizeof *sink_options, &options, &own))
		return NULL;
	PyThreadState *thread = PyEval_SaveThread();
	nk_status status = nk_plan_sink_parquet(plan, path, &options, &err);
	PyEval_RestoreThread(thread);
	if (status != NK_OK)
		return py_raise(&err);
	Py_RETURN_NONE;
}

PyMethodDef py_parquet_functions[] = {
	{"scan_parquet", module_scan_parquet, METH_VARARGS, "paths, options by name"},
	{"sink_parquet", module_sink_parquet, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
