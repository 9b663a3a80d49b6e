/* CSV: options arrive as a dict whose keys are the fields of the library's structs. */
#include "binding.h"

#include <stddef.h>

#define READ(kind, field)                                          \
	{                                                              \
#field, PY_##kind, offsetof(nk_scan_csv_options, field), 0 \
	}
#define READ_TEXTS(field, count)                                                                     \
	{                                                                                                \
#field, PY_TEXTS, offsetof(nk_scan_csv_options, field), offsetof(nk_scan_csv_options, count) \
	}
#define WRITE(kind, field)                                         \
	{                                                              \
#field, PY_##kind, offsetof(nk_sink_csv_options, field), 0 \
	}

static const py_option scan_options[] = {
	READ(FLAG, no_header),
	READ(TEXT, separator),
	READ(TEXT, quote_char),
	READ(TEXT, eol_char),
	READ(TEXT, comment_prefix),
	READ(NUMBER, skip_rows),
	READ(NUMBER, skip_lines),
	READ(NUMBER, skip_rows_after_header),
	READ_TEXTS(schema_names, n_schema),
	READ_TEXTS(schema_dtypes, n_schema),
	READ_TEXTS(override_names, n_overrides),
	READ_TEXTS(override_dtypes, n_overrides),
	READ_TEXTS(new_names, n_new_names),
	READ_TEXTS(null_values, n_null_values),
	READ_TEXTS(null_columns, n_null_values),
	READ(NUMBER, infer_rows),
	READ(NUMBER, infer_files),
	READ(FLAG, keep_empty_strings),
	READ(FLAG, ignore_errors),
	READ(FLAG, lossy),
	READ(FLAG, try_parse_dates),
	READ(FLAG, truncate_ragged_lines),
	READ(FLAG, decimal_comma),
	READ(FLAG, allow_empty),
	READ(FLAG, no_glob),
	READ(FLAG, ignore_extra_columns),
	READ(FLAG, insert_missing_columns),
	READ(TEXT, include_file_paths),
	READ(TEXT, row_index_name),
	READ(NUMBER, row_index_offset),
	READ(NUMBER, n_rows),
};

static const py_option sink_options[] = {
	WRITE(FLAG, include_bom),      WRITE(FLAG, no_header),       WRITE(FLAG, decimal_comma),
	WRITE(TEXT, separator),        WRITE(TEXT, quote_char),      WRITE(TEXT, line_terminator),
	WRITE(TEXT, null_value),       WRITE(TEXT, quote_style),     WRITE(TEXT, date_format),
	WRITE(TEXT, time_format),      WRITE(TEXT, datetime_format), WRITE(SMALL, float_scientific),
	WRITE(SMALL, float_precision), WRITE(TEXT, compression),     WRITE(SMALL, compression_level),
};

static nk_status scan(const char *const *paths, int n_paths, const void *options, nk_plan **out,
                      nk_error *err)
{
	return nk_plan_scan_csv(paths, n_paths, options, out, err);
}

static PyObject *module_scan_csv(PyObject *module, PyObject *args)
{
	(void)module;
	nk_scan_csv_options options = NK_OPTIONS(nk_scan_csv_options);
	return py_scan(args, scan_options, sizeof scan_options / sizeof *scan_options, &options, scan);
}

static nk_status sink(nk_plan *plan, const char *path, const void *options, const nk_query_options *query,
                      nk_error *err)
{
	return nk_plan_sink_csv(plan, path, options, query, err);
}

static PyObject *module_sink_csv(PyObject *module, PyObject *args)
{
	(void)module;
	nk_sink_csv_options options = NK_OPTIONS(nk_sink_csv_options);
	return py_sink(args, sink_options, sizeof sink_options / sizeof *sink_options, &options, sink);
}

PyMethodDef py_csv_functions[] = {
	{"scan_csv", module_scan_csv, METH_VARARGS, "paths, options by name"},
	{"sink_csv", module_sink_csv, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
