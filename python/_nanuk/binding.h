/* The Python binding: what its files share.
 *
 * Four Python types hold one handle of libnanuk each: Expr, Series, Frame and Plan. The package `nanuk` derives its
 * classes from them and registers these with set_classes(), so that whatever C returns is an instance of the public
 * class. Everything here runs with the GIL held, except where a function says that it lets it go.
 *
 * Only the stable ABI (3.11) and nanuk.h are used: one binary serves every later Python. */
#ifndef NANUK_PYTHON_BINDING_H
#define NANUK_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <nanuk.h>
#include <stddef.h>
#include <string.h>

typedef struct py_expr {
	PyObject_HEAD nk_expr *handle;
} py_expr;

typedef struct py_series {
	PyObject_HEAD nk_series *handle;
} py_series;

typedef struct py_frame {
	PyObject_HEAD nk_frame *handle;
} py_frame;

typedef struct py_plan {
	PyObject_HEAD nk_plan *handle;
} py_plan;

/* The types made here, and the classes that results are given: the public ones once these are registered. */
extern PyTypeObject *py_expr_type, *py_series_type, *py_frame_type, *py_plan_type;
extern PyTypeObject *py_expr_class, *py_series_class, *py_frame_class, *py_plan_class;

/* The inline functions compare types first: nearly every object is of the public class. */
static inline bool py_is_expr(PyObject *object)
{
	return Py_TYPE(object) == py_expr_class || PyObject_TypeCheck(object, py_expr_type);
}

static inline bool py_is_series(PyObject *object)
{
	return Py_TYPE(object) == py_series_class || PyObject_TypeCheck(object, py_series_type);
}

/* error.c: exceptions. Both return NULL with the exception set. */
PyObject *py_raise(const nk_error *err);
/* foreign.c: raises an exception that a function left, if it is still known. */
bool py_raise_kept(const void *exception);
PyObject *py_set_exceptions(PyObject *module, PyObject *classes);

/* Each takes over the reference to the handle, also on failure. */
PyObject *py_wrap_expr(nk_expr *handle);
PyObject *py_wrap_series(nk_series *handle);
PyObject *py_wrap_frame(nk_frame *handle);
PyObject *py_wrap_plan(nk_plan *handle);

/* ---- type.c: dtypes as the conversions need them ---- */

typedef enum py_kind {
	PY_KIND_NULL,
	PY_KIND_BOOLEAN,
	PY_KIND_INTEGER,
	PY_KIND_FLOAT,
	PY_KIND_DECIMAL,
	PY_KIND_STRING,
	PY_KIND_BINARY,
	PY_KIND_DATE,
	PY_KIND_DATETIME,
	PY_KIND_DURATION,
	PY_KIND_TIME,
	PY_KIND_LIST,
	PY_KIND_STRUCT,
	PY_KIND_CATEGORY, /* codes of a dictionary of text */
} py_kind;

typedef struct py_type py_type;
struct py_type {
	py_kind kind;
	int n_bits; /* integers and floats */
	bool is_unsigned;
	int64_t per_second; /* temporal: 1000, 1000000 or 1000000000 */
	int precision, scale;
	int64_t width;  /* of Arrays, which are lists here; -1: of Lists */
	PyObject *zone; /* a ZoneInfo, or NULL */
	int n_children;
	const py_type **children;
	PyObject **names; /* of Struct fields */
	const char *text;
	PyObject *dtype; /* the instance of nanuk's DataType; NULL until asked for */
};

/* The description of a dtype given as text; lives for ever. NULL with an exception when text is none. */
const py_type *py_type_get(const char *text);
/* The public DataType of a text; a new reference. The package registers what makes one from text. */
PyObject *py_dtype_object(const char *text);
PyObject *py_set_dtype_factory(PyObject *module, PyObject *factory);
/* 2**(n_bits of the type) holds the value: high:low is two's complement. */
bool py_type_holds(const py_type *type, uint64_t low, int64_t high);

/* ---- value.c: single values ---- */

/* A class of the standard library, imported at first use; borrowed. NULL with an exception. */
typedef enum py_class {
	PY_DATE,
	PY_DATETIME,
	PY_TIME,
	PY_TIMEDELTA,
	PY_DECIMAL,
	PY_ZONE_INFO,
	PY_CLASS_N
} py_class;
PyObject *py_standard_class(py_class which);
/* 1 when object is an instance, 0 when not, -1 with an exception. */
int py_is_instance(PyObject *object, py_class which);

PyObject *py_integer(uint64_t low, int64_t high);
/* From days, units of time or an unscaled number, as the type says. */
PyObject *py_temporal(const py_type *type, int64_t value);
PyObject *py_decimal(uint64_t low, int64_t high, int scale);
/* What nk_series_get left in value; releases value->series. */
PyObject *py_from_value(nk_value *value, const char *dtype);

/* All return false with an exception. */
bool py_to_integer(PyObject *object, uint64_t *low, int64_t *high);
bool py_to_days(PyObject *date, int64_t *out);
bool py_to_time(PyObject *time, int64_t *out);          /* nanoseconds since midnight */
bool py_to_duration(PyObject *timedelta, int64_t *out); /* microseconds */
/* Microseconds since 1970 in UTC; naive ones count as UTC. */
bool py_to_instant(PyObject *datetime, int64_t *out);
/* *scale in: wanted, or negative for the number's own. False without an exception when it is NaN or too large. */
bool py_to_decimal(PyObject *decimal, int *scale, uint64_t *low, int64_t *high);
/* The name of a datetime's zone as nanuk spells it ("UTC" for fixed offsets); *out NULL when naive; new reference. */
bool py_zone_name(PyObject *datetime, PyObject **out);

/* A literal's value. It borrows from object; *keep receives what else must live as long. */
bool py_to_value(PyObject *object, nk_value *out, char *dtype, size_t n_dtype, PyObject **keep);

/* ---- build.c, guess.c, extract.c: columns from and to Python ---- */

/* dtype NULL: guessed. items is a list or tuple. */
nk_series *py_build_series(const char *name, PyObject *items, const char *dtype, bool strict);
/* The dtype of the items as text in a new str; strict: that of the first, else the widest. */
PyObject *py_guess_dtype(PyObject *items, bool strict, Py_ssize_t n_items);
PyObject *py_series_to_list(nk_series *series);

/* ---- expr.c ---- */

/* The expression that an argument stands for; a new reference to the handle. Text is a column, or a literal. */
nk_expr *py_to_expr(PyObject *object, bool text_is_literal);
nk_expr *py_expr_of_name(const char *name);

/* Handles of a sequence of arguments; free with py_exprs_free. */
typedef struct py_exprs {
	nk_expr **items;
	int n;
} py_exprs;
bool py_exprs_init(py_exprs *exprs, PyObject *sequence);
void py_exprs_release(py_exprs *exprs);

/* Keyword arguments as options: None is left out. */
enum { PY_MAX_OPTIONS = 16 };
typedef struct py_options {
	nk_named_option items[PY_MAX_OPTIONS];
	int n;
	PyObject *keep[PY_MAX_OPTIONS];
	int n_keep;
} py_options;
bool py_options_init(py_options *options, PyObject *const *values, PyObject *names);
void py_options_release(py_options *options);

/* ---- exchange.c: Arrow capsules and buffers ---- */

PyObject *py_stream_capsule(struct ArrowArrayStream *stream); /* moves the stream */
/* Moves the stream out of an object with __arrow_c_stream__ or __arrow_c_array__. */
bool py_stream_from(PyObject *object, struct ArrowArrayStream *out);
PyObject *py_import_frame(PyObject *module, PyObject *object);
PyObject *py_import_series(PyObject *module, PyObject *object);
PyObject *py_is_frame_stream(PyObject *module, PyObject *object);
PyObject *py_series_from_buffer(PyObject *module, PyObject *args);
PyObject *py_series_buffers(PyObject *self, PyObject *unused);
bool py_buffer_type_init(void);

/* ---- query.c: running plans ---- */

/* Around a call of the library that may take long: `do { py_run_begin(&run); status = ...; } while (py_run_end(&run,
 * status));`. The GIL is let go in between, and Ctrl-C ends the call. */
typedef struct py_run {
	nk_cancellation *flag;
	PyThreadState *thread;
	bool has_shown; /* progress */
} py_run;
void py_run_begin(py_run *run);
bool py_run_end(py_run *run, nk_status status);
/* Before and after the loop, for queries that show their progress. */
void py_run_query(py_run *run, nk_query_options *options);
void py_run_ended(py_run *run);
PyObject *py_set_progress(PyObject *module, PyObject *function);

/* NULL with an exception. */
nk_frame *py_collect(nk_plan *plan, nk_query_options *options);
char *py_explain(nk_plan *plan, const char *format, bool optimized, bool analyze, uint32_t skip);
PyObject *py_analyze(nk_plan *plan, nk_query_options *options); /* JSON and text */
/* Bytes and seconds, or None. False with an exception. */
bool py_limits(nk_query_options *options, PyObject *memory_limit, PyObject *time_limit);
PyObject *py_set_context(PyObject *module, PyObject *args);

/* ---- options.c: options by name ---- */

typedef enum py_option_kind { PY_FLAG, PY_NUMBER, PY_SMALL, PY_TEXT, PY_TEXTS } py_option_kind;

/* A field of an option struct: bool, int64_t, int, text, or a list of texts, which have their count in another. */
typedef struct py_option {
	const char *name;
	py_option_kind kind;
	size_t offset, count_offset;
} py_option;

enum { PY_TEXTS_MAX = 8 };

/* Lists of texts that options point into; the text belongs to the objects that it came from. */
typedef struct py_texts {
	const char **lists[PY_TEXTS_MAX];
	int n;
} py_texts;

void py_texts_release(py_texts *own);
/* A list of str or None. False with an exception. */
bool py_texts_of(PyObject *list, py_texts *own, const char ***out, int *n_out);
/* The items of a dict, except those that are None. False with an exception. */
bool py_set_options(PyObject *dict, const py_option *known, size_t n_known, void *options, py_texts *own);

/* What every format has of its own; options is its struct. */
typedef nk_status py_scan_call(const char *const *paths, int n_paths, const void *options, nk_plan **out,
                               nk_error *err);
typedef nk_status py_sink_call(nk_plan *plan, const char *path, const void *options,
                               const nk_query_options *query, nk_error *err);
/* args: paths and options by name; options: a struct of defaults. The plan, or NULL with an exception. */
PyObject *py_scan(PyObject *args, const py_option *known, size_t n_known, void *options, py_scan_call *scan);
/* args: a plan, a path and options by name. Lets the GIL go. None, or NULL with an exception. */
PyObject *py_sink(PyObject *args, const py_option *known, size_t n_known, void *options, py_sink_call *sink);

/* ---- Types and functions for the module ---- */

bool py_expr_type_init(PyObject *module);
bool py_series_type_init(PyObject *module);
bool py_frame_type_init(PyObject *module);
bool py_plan_type_init(PyObject *module);

extern PyMethodDef py_plan_functions[]; /* scan_parquet, concat */
extern PyMethodDef py_csv_functions[];
extern PyMethodDef py_foreign_functions[];
extern PyMethodDef py_windows_functions[];
extern PyMethodDef py_ipc_functions[];
extern PyMethodDef py_json_functions[];
extern PyMethodDef py_parquet_functions[];
extern PyMethodDef py_sql_functions[];
extern PyMethodDef py_expr_functions[]; /* col, lit, call, ... */

/* Format options from the dict that Config keeps; borrowed from it. */
bool py_format_options(PyObject *dict, nk_format_options *out);
PyObject *py_text(char *text); /* takes over text of the library */

/* Py_XSETREF is not part of the stable ABI. The old object goes last: its end may run code. */
static inline void py_replace(PyObject **place, PyObject *object)
{
	PyObject *before = *place;
	*place = object;
	Py_XDECREF(before);
}

/* Helpers for type definitions. */
static inline void py_free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

#endif
