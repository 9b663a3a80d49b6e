/* CSV: options arrive as a dict whose keys are the fields of the library's structs. */
#include "binding.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { FLAG, NUMBER, SMALL, TEXT, TEXTS } kind;

/* A field of an option struct; texts have their count in another. */
typedef struct option {
	const char *name;
	kind kind;
	size_t offset, count_offset;
} option;

#define READ(kind, field)                                     \
	{                                                         \
#field, kind, offsetof(nk_scan_csv_options, field), 0 \
	}
#define READ_TEXTS(field, count)                                                                  \
	{                                                                                             \
#field, TEXTS, offsetof(nk_scan_csv_options, field), offsetof(nk_scan_csv_options, count) \
	}
#define WRITE(kind, field)                                    \
	{                                                         \
#field, kind, offsetof(nk_sink_csv_options, field), 0 \
	}

static const option scan_options[] = {
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

static const option sink_options[] = {
	WRITE(FLAG, include_bom),      WRITE(FLAG, no_header),       WRITE(FLAG, decimal_comma),
	WRITE(TEXT, separator),        WRITE(TEXT, quote_char),      WRITE(TEXT, line_terminator),
	WRITE(TEXT, null_value),       WRITE(TEXT, quote_style),     WRITE(TEXT, date_format),
	WRITE(TEXT, time_format),      WRITE(TEXT, datetime_format), WRITE(SMALL, float_scientific),
	WRITE(SMALL, float_precision), WRITE(TEXT, compression),     WRITE(SMALL, compression_level),
};

enum { TEXTS_MAX = 8 };

/* Lists of texts that options point into. */
typedef struct owned {
	const char **lists[TEXTS_MAX];
	int n;
} owned;

static void release(owned *own)
{
	for (int i = 0; i < own->n; i++)
		free(own->lists[i]);
}

/* A list of str or None; the text belongs to its items. */
static bool texts_of(PyObject *list, const char ***out, int *n_out)
{
	Py_ssize_t n = PyList_Check(list) ? PyList_Size(list) : -1;
	const char **texts = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *texts);
	if (!texts) {
		PyErr_SetString(n < 0 ? PyExc_TypeError : PyExc_MemoryError, "expected a list of texts");
		return false;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PyList_GetItem(list, i);
		if (item == Py_None)
			continue;
		texts[i] = PyUnicode_AsUTF8AndSize(item, NULL);
		if (!texts[i]) {
			free(texts);
			return false;
		}
	}
	*out = texts;
	*n_out = (int)n;
	return true;
}

static bool set_option(const option *about, char *options, PyObject *value, owned *own)
{
	char *field = options + about->offset;
	long long number;
	const char **texts;
	switch (about->kind) {
	case FLAG: *(bool *)field = PyObject_IsTrue(value) == 1; break;
	case NUMBER:
	case SMALL:
		number = PyLong_AsLongLong(value);
		if (about->kind == NUMBER)
			*(int64_t *)field = number;
		else
			*(int *)field = (int)number;
		break;
	case TEXT: *(const char **)field = PyUnicode_AsUTF8AndSize(value, NULL); break;
	case TEXTS:
		if (texts_of(value, &texts, (int *)(options + about->count_offset))) {
			own->lists[own->n++] = texts;
			*(const char *const **)field = texts;
		}
		break;
	}
	return !PyErr_Occurred();
}

static bool set_options(PyObject *dict, const option *known, size_t n_known, char *options, owned *own)
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

static PyObject *module_scan_csv(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *list, *dict;
	const char **paths;
	int n_paths;
	nk_plan *plan = NULL;
	nk_scan_csv_options options = NK_OPTIONS(nk_scan_csv_options);
	owned own = {0};
	if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &list, &PyDict_Type, &dict))
		return NULL;
	if (!texts_of(list, &paths, &n_paths))
		return NULL;
	own.lists[own.n++] = paths;
	bool good =
		set_options(dict, scan_options, sizeof scan_options / sizeof *scan_options, (char *)&options, &own);
	nk_status status = good ? nk_plan_scan_csv(paths, n_paths, &options, &plan, &err) : NK_OK;
	release(&own);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

static PyObject *module_sink_csv(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *object, *dict;
	const char *path;
	nk_sink_csv_options options = NK_OPTIONS(nk_sink_csv_options);
	owned own = {0};
	if (!PyArg_ParseTuple(args, "O!sO!", py_plan_type, &object, &path, &PyDict_Type, &dict))
		return NULL;
	nk_plan *plan = ((py_plan *)object)->handle;
	if (!plan)
		return PyErr_Format(PyExc_ValueError, "the LazyFrame is not initialised");
	if (!set_options(dict, sink_options, sizeof sink_options / sizeof *sink_options, (char *)&options, &own))
		return NULL;
	PyThreadState *thread = PyEval_SaveThread();
	nk_status status = nk_plan_sink_csv(plan, path, &options, &err);
	PyEval_RestoreThread(thread);
	if (status != NK_OK)
		return py_raise(&err);
	Py_RETURN_NONE;
}

PyMethodDef py_csv_functions[] = {
	{"scan_csv", module_scan_csv, METH_VARARGS, "paths, options by name"},
	{"sink_csv", module_sink_csv, METH_VARARGS, "plan, path, options by name"},
	{NULL, NULL, 0, NULL},
};
