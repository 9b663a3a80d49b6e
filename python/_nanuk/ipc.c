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

static nk_status scan(const char *const *paths, int n_paths, const void *options, nk_plan **out,
                      nk_error *err)
{
	return nk_plan_scan_ipc(paths, n_paths, options, out, err);
}

static PyObject *module_scan_ipc(PyObject *module, PyObject *args)
{
	(void)module;
	nk_scan_ipc_options options = NK_OPTIONS(nk_scan_ipc_options);
	return py_scan(args, scan_options, sizeof scan_options / sizeof *scan_options, &options, scan);
}

static nk_status sink(nk_plan *plan, const char *path, const void *options, const nk_query_options *query,
                      nk_error *err)
{
	return nk_plan_sink_ipc(plan, path, options, query, err);
}

static PyObject *module_sink_ipc(PyObject *module, PyObject *args)
{
	(void)module;
	nk_sink_ipc_options options = NK_OPTIONS(nk_sink_ipc_options);
	return py_sink(args, sink_options, sizeof sink_options / sizeof *sink_options, &options, sink);
}

PyMethodDef py_ipc_functions[] = {
	{"scan_ipc", module_scan_ipc, METH_VARARGS, "paths, options by name"},
	{"sink_ipc", module_sink_ipc, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
