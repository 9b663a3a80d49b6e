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

static nk_status scan(const char *const *paths, int n_paths, const void *options, nk_plan **out,
                      nk_error *err)
{
	return nk_plan_scan_parquet(paths, n_paths, options, out, err);
}

static PyObject *module_scan_parquet(PyObject *module, PyObject *args)
{
	(void)module;
	nk_scan_parquet_options options = NK_OPTIONS(nk_scan_parquet_options);
	return py_scan(args, scan_options, sizeof scan_options / sizeof *scan_options, &options, scan);
}

static nk_status sink(nk_plan *plan, const char *path, const void *options, const nk_query_options *query,
                      nk_error *err)
{
	return nk_plan_sink_parquet(plan, path, options, query, err);
}

static PyObject *module_sink_parquet(PyObject *module, PyObject *args)
{
	(void)module;
	nk_sink_parquet_options options = NK_OPTIONS(nk_sink_parquet_options);
	return py_sink(args, sink_options, sizeof sink_options / sizeof *sink_options, &options, sink);
}

PyMethodDef py_parquet_functions[] = {
	{"scan_parquet", module_scan_parquet, METH_VARARGS, "paths, options by name"},
	{"sink_parquet", module_sink_parquet, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
