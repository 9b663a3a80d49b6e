/* JSON: lines and documents. */
#include "binding.h"

#include <stddef.h>

#define READ(kind, field)                                           \
	{                                                               \
#field, PY_##kind, offsetof(nk_scan_json_options, field), 0 \
	}
#define READ_TEXTS(field, count)                                                                       \
	{                                                                                                  \
#field, PY_TEXTS, offsetof(nk_scan_json_options, field), offsetof(nk_scan_json_options, count) \
	}
#define WRITE(kind, field)                                          \
	{                                                               \
#field, PY_##kind, offsetof(nk_sink_json_options, field), 0 \
	}

static const py_option scan_options[] = {
	READ_TEXTS(schema_names, n_schema),
	READ_TEXTS(schema_dtypes, n_schema),
	READ_TEXTS(override_names, n_overrides),
	READ_TEXTS(override_dtypes, n_overrides),
	READ(NUMBER, infer_rows),
	READ(FLAG, ignore_errors),
	READ(FLAG, no_glob),
	READ(TEXT, include_file_paths),
	READ(TEXT, row_index_name),
	READ(NUMBER, row_index_offset),
	READ(NUMBER, n_rows),
};
static const py_option sink_options[] = {
	WRITE(FLAG, is_document),
	WRITE(TEXT, compression),
	WRITE(SMALL, compression_level),
};

static nk_status scan(const char *const *paths, int n_paths, const void *options, nk_plan **out,
                      nk_error *err)
{
	return nk_plan_scan_ndjson(paths, n_paths, options, out, err);
}

static PyObject *module_scan_ndjson(PyObject *module, PyObject *args)
{
	(void)module;
	nk_scan_json_options options = NK_OPTIONS(nk_scan_json_options);
	return py_scan(args, scan_options, sizeof scan_options / sizeof *scan_options, &options, scan);
}

static PyObject *module_read_json(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *dict;
	const char *path;
	nk_frame *frame = NULL;
	nk_scan_json_options options = NK_OPTIONS(nk_scan_json_options);
	py_texts own = {0};
	if (!PyArg_ParseTuple(args, "sO!", &path, &PyDict_Type, &dict))
		return NULL;
	bool good =
		py_set_options(dict, scan_options, sizeof scan_options / sizeof *scan_options, &options, &own);
	nk_status status = NK_OK;
	if (good) {
		py_run run;
		do {
			py_run_begin(&run);
			status = nk_frame_read_json(path, &options, &frame, &err);
		} while (py_run_end(&run, status));
	}
	py_texts_release(&own);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_frame(frame) : py_raise(&err);
}

static nk_status sink(nk_plan *plan, const char *path, const void *options, const nk_query_options *query,
                      nk_error *err)
{
	return nk_plan_sink_json(plan, path, options, query, err);
}

static PyObject *module_sink_json(PyObject *module, PyObject *args)
{
	(void)module;
	nk_sink_json_options options = NK_OPTIONS(nk_sink_json_options);
	return py_sink(args, sink_options, sizeof sink_options / sizeof *sink_options, &options, sink);
}

PyMethodDef py_json_functions[] = {
	{"scan_ndjson", module_scan_ndjson, METH_VARARGS, "paths, options by name"},
	{"read_json", module_read_json, METH_VARARGS, "path, options by name"},
	{"sink_json", module_sink_json, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
