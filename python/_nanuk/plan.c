/* The Plan type: each method adds a node; nothing runs before _collect. Arguments that stand for expressions are
 * parsed here, text as columns. */
#include "binding.h"

#include <stdlib.h>

PyTypeObject *py_plan_type, *py_plan_class;

PyObject *py_wrap_plan(nk_plan *handle)
{
	py_plan *self = (py_plan *)PyType_GenericAlloc(py_plan_class, 0);
	if (!self) {
		nk_plan_unref(handle);
		return NULL;
	}
	self->handle = handle;
	return (PyObject *)self;
}

static nk_plan *handle_of(PyObject *self)
{
	nk_plan *handle = ((py_plan *)self)->handle;
	if (!handle)
		PyErr_SetString(PyExc_TypeError, "a LazyFrame that was never made");
	return handle;
}

static PyObject *wrap(nk_status status, nk_plan *plan, const nk_error *err)
{
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(err);
}

/* ---- Nodes ---- */

static PyObject *plan_filter(PyObject *self, PyObject *predicates)
{
	nk_error err;
	py_exprs exprs;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !py_exprs_init(&exprs, predicates))
		return NULL;
	nk_status status = nk_plan_filter(plan, exprs.items, exprs.n, &result, &err);
	py_exprs_release(&exprs);
	return wrap(status, result, &err);
}

typedef nk_status project(nk_plan *, nk_expr *const *, int, bool, nk_plan **, nk_error *);

static PyObject *add_projection(PyObject *self, PyObject *args, project *make)
{
	nk_error err;
	py_exprs exprs;
	PyObject *list;
	int eager = 0;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "O|p", &list, &eager) || !py_exprs_init(&exprs, list))
		return NULL;
	nk_status status = make(plan, exprs.items, exprs.n, eager, &result, &err);
	py_exprs_release(&exprs);
	return wrap(status, result, &err);
}

static PyObject *plan_select(PyObject *self, PyObject *args)
{
	return add_projection(self, args, nk_plan_select);
}

static PyObject *plan_with_columns(PyObject *self, PyObject *args)
{
	return add_projection(self, args, nk_plan_with_columns);
}

static PyObject *plan_group_by(PyObject *self, PyObject *args)
{
	nk_error err;
	py_exprs keys = {0}, aggregates = {0};
	PyObject *key_list, *aggregate_list;
	int maintain_order;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "OOp", &key_list, &aggregate_list, &maintain_order) ||
	    !py_exprs_init(&keys, key_list))
		return NULL;
	bool good = py_exprs_init(&aggregates, aggregate_list);
	nk_status status = good ? nk_plan_group_by(plan, keys.items, keys.n, aggregates.items, aggregates.n,
	                                           maintain_order, &result, &err)
	                        : NK_TYPE;
	py_exprs_release(&keys);
	py_exprs_release(&aggregates);
	return good ? wrap(status, result, &err) : NULL;
}

static PyObject *plan_join(PyObject *self, PyObject *args)
{
	nk_error err;
	py_exprs left_on = {0}, right_on = {0};
	PyObject *other, *left_list, *right_list;
	int coalesce, nulls_equal;
	nk_join_options options = NK_OPTIONS(nk_join_options);
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "O!OOssszip", py_plan_type, &other, &left_list, &right_list,
	                               &options.how, &options.suffix, &options.validate, &options.maintain_order,
	                               &coalesce, &nulls_equal))
		return NULL;
	options.coalesce = coalesce;
	options.nulls_equal = nulls_equal;
	if (!handle_of(other) || !py_exprs_init(&left_on, left_list))
		return NULL;
	bool good = py_exprs_init(&right_on, right_list);
	if (good && left_on.n != right_on.n) {
		PyErr_Format(PyExc_ValueError, "the number of keys differs: %d on the left, %d on the right",
		             left_on.n, right_on.n);
		good = false;
	}
	nk_status status = good ? nk_plan_join(plan, handle_of(other), left_on.items, right_on.items, left_on.n,
	                                       &options, &result, &err)
	                        : NK_VALUE;
	py_exprs_release(&left_on);
	py_exprs_release(&right_on);
	return good ? wrap(status, result, &err) : NULL;
}

/* One flag for all keys, or a list of as many as there are keys. */
static bool flags_of(PyObject *object, int n, const char *name, bool *out)
{
	if (!PyList_Check(object) && !PyTuple_Check(object)) {
		int value = PyObject_IsTrue(object);
		for (int i = 0; i < n; i++)
			out[i] = value == 1;
		return value >= 0;
	}
	Py_ssize_t n_given = PySequence_Size(object);
	if (n_given != n) {
		PyErr_Format(PyExc_ValueError, "the length of `%s` (%zd) does not match the length of `by` (%d)",
		             name, n_given, n);
		return false;
	}
	for (int i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(object, i);
		out[i] = item && PyObject_IsTrue(item) == 1;
		Py_XDECREF(item);
	}
	return !PyErr_Occurred();
}

static PyObject *plan_sort(PyObject *self, PyObject *args)
{
	nk_error err;
	py_exprs by;
	PyObject *list, *descending, *nulls_last;
	int maintain_order;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "OOOp", &list, &descending, &nulls_last, &maintain_order) ||
	    !py_exprs_init(&by, list))
		return NULL;
	bool *flags = calloc((size_t)by.n * 2 + 1, sizeof *flags);
	if (!flags)
		PyErr_NoMemory();
	bool good = flags && flags_of(descending, by.n, "descending", flags) &&
	            flags_of(nulls_last, by.n, "nulls_last", flags + by.n);
	nk_status status =
		good ? nk_plan_sort(plan, by.items, by.n, flags, flags + by.n, maintain_order, &result, &err)
			 : NK_VALUE;
	free(flags);
	py_exprs_release(&by);
	return good ? wrap(status, result, &err) : NULL;
}

static PyObject *plan_slice(PyObject *self, PyObject *args)
{
	nk_error err;
	long long offset, length;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "LL", &offset, &length))
		return NULL;
	nk_status status = nk_plan_slice(plan, offset, length, &result, &err);
	return wrap(status, result, &err);
}

static PyObject *plan_unique(PyObject *self, PyObject *args)
{
	nk_error err;
	py_exprs subset;
	PyObject *list;
	const char *keep;
	int maintain_order;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "Osp", &list, &keep, &maintain_order) ||
	    !py_exprs_init(&subset, list))
		return NULL;
	nk_status status = nk_plan_unique(plan, subset.items, subset.n, keep, maintain_order, &result, &err);
	py_exprs_release(&subset);
	return wrap(status, result, &err);
}

static PyObject *plan_drop(PyObject *self, PyObject *args)
{
	nk_error err;
	py_exprs columns;
	PyObject *list;
	int strict;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "Op", &list, &strict) || !py_exprs_init(&columns, list))
		return NULL;
	nk_status status = nk_plan_drop(plan, columns.items, columns.n, strict, &result, &err);
	py_exprs_release(&columns);
	return wrap(status, result, &err);
}

static PyObject *plan_explode(PyObject *self, PyObject *args)
{
	nk_error err;
	py_exprs columns;
	PyObject *list;
	int empty_as_null, keep_nulls;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "Opp", &list, &empty_as_null, &keep_nulls) ||
	    !py_exprs_init(&columns, list))
		return NULL;
	nk_status status =
		nk_plan_explode(plan, columns.items, columns.n, empty_as_null, keep_nulls, &result, &err);
	py_exprs_release(&columns);
	return wrap(status, result, &err);
}

/* UTF-8 texts of a tuple or list; free() the array, the texts are borrowed. */
static const char **texts_of(PyObject *list, Py_ssize_t *n)
{
	*n = PySequence_Size(list);
	const char **texts = *n < 0 ? NULL : calloc((size_t)*n + 1, sizeof *texts);
	if (!texts)
		return *n < 0 ? NULL : (const char **)(void *)PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < *n; i++) {
		PyObject *item = PyList_Check(list) ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i);
		texts[i] = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
		if (!texts[i]) {
			free(texts);
			return NULL;
		}
	}
	return texts;
}

static PyObject *plan_rename(PyObject *self, PyObject *args)
{
	nk_error err;
	PyObject *from_list, *to_list;
	int strict;
	Py_ssize_t n, n_to;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "OOp", &from_list, &to_list, &strict))
		return NULL;
	const char **from = texts_of(from_list, &n), **to = from ? texts_of(to_list, &n_to) : NULL;
	bool good = to && n == n_to;
	nk_status status = good ? nk_plan_rename(plan, from, to, (int)n, strict, &result, &err) : NK_VALUE;
	free(from);
	free(to);
	return good ? wrap(status, result, &err) : NULL;
}

static PyObject *plan_row_index(PyObject *self, PyObject *args)
{
	nk_error err;
	const char *name;
	long long offset;
	nk_plan *plan = handle_of(self), *result = NULL;
	if (!plan || !PyArg_ParseTuple(args, "sL", &name, &offset))
		return NULL;
	nk_status status = nk_plan_row_index(plan, name, offset, &result, &err);
	return wrap(status, result, &err);
}

/* ---- Running ---- */

static PyObject *plan_collect(PyObject *self, PyObject *args)
{
	unsigned skip = 0;
	PyObject *memory_limit = Py_None, *time_limit = Py_None;
	nk_plan *plan = handle_of(self);
	if (!plan || !PyArg_ParseTuple(args, "|IOO", &skip, &memory_limit, &time_limit))
		return NULL;
	nk_query_options options = NK_OPTIONS(nk_query_options);
	options.skip_optimizations = skip;
	nk_frame *frame = py_limits(&options, memory_limit, time_limit) ? py_collect(plan, &options) : NULL;
	return frame ? py_wrap_frame(frame) : NULL;
}

static PyObject *plan_empty(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	nk_frame *frame = NULL;
	nk_plan *plan = handle_of(self);
	if (!plan)
		return NULL;
	nk_status status;
	py_run run;
	do {
		py_run_begin(&run);
		status = nk_plan_collect_schema(plan, &frame, &err);
	} while (py_run_end(&run, status));
	return status == NK_OK ? py_wrap_frame(frame) : py_raise(&err);
}

static PyObject *plan_explain(PyObject *self, PyObject *args)
{
	const char *format;
	int optimized, analyze;
	unsigned skip = 0;
	nk_plan *plan = handle_of(self);
	if (!plan || !PyArg_ParseTuple(args, "spp|I", &format, &optimized, &analyze, &skip))
		return NULL;
	char *text = py_explain(plan, format, optimized, analyze, skip);
	return text ? py_text(text) : NULL;
}

static PyObject *plan_analyze(PyObject *self, PyObject *args)
{
	unsigned skip = 0;
	PyObject *memory_limit, *time_limit;
	nk_plan *plan = handle_of(self);
	if (!plan || !PyArg_ParseTuple(args, "IOO", &skip, &memory_limit, &time_limit))
		return NULL;
	nk_query_options options = NK_OPTIONS(nk_query_options);
	options.skip_optimizations = skip;
	return py_limits(&options, memory_limit, time_limit) ? py_analyze(plan, &options) : NULL;
}

static PyObject *plan_serialise(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	char *bytes;
	int64_t n_bytes;
	nk_plan *plan = handle_of(self);
	if (!plan)
		return NULL;
	if (nk_plan_serialise(plan, &bytes, &n_bytes, &err) != NK_OK)
		return py_raise(&err);
	PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n_bytes);
	nk_text_free(bytes);
	return result;
}

static PyObject *plan_set(PyObject *self, PyObject *other)
{
	if (!PyObject_TypeCheck(other, py_plan_type) || !handle_of(other))
		return PyErr_Format(PyExc_TypeError, "expected a LazyFrame");
	py_plan *target = (py_plan *)self;
	nk_plan *before = target->handle;
	target->handle = nk_plan_ref(((py_plan *)other)->handle);
	if (before)
		nk_plan_unref(before);
	Py_RETURN_NONE;
}

static void plan_dealloc(PyObject *self)
{
	if (((py_plan *)self)->handle)
		nk_plan_unref(((py_plan *)self)->handle);
	py_free_object(self);
}

static PyMethodDef plan_methods[] = {
	{"_filter", plan_filter, METH_O, NULL},
	{"_select", plan_select, METH_VARARGS, "expressions, eager"},
	{"_with_columns", plan_with_columns, METH_VARARGS, "expressions, eager"},
	{"_group_by", plan_group_by, METH_VARARGS, "keys, aggregates, maintain_order"},
	{"_join", plan_join, METH_VARARGS,
     "other, left_on, right_on, how, suffix, validate, maintain_order, coalesce, nulls_equal"},
	{"_sort", plan_sort, METH_VARARGS, "by, descending, nulls_last, maintain_order"},
	{"_slice", plan_slice, METH_VARARGS, "offset, length; a negative length goes to the end"},
	{"_unique", plan_unique, METH_VARARGS, "subset, keep, maintain_order"},
	{"_drop", plan_drop, METH_VARARGS, "columns, strict"},
	{"_explode", plan_explode, METH_VARARGS, "columns, empty_as_null, keep_nulls"},
	{"_rename", plan_rename, METH_VARARGS, "from, to, strict"},
	{"_row_index", plan_row_index, METH_VARARGS, "name, offset"},
	{"_collect", plan_collect, METH_VARARGS, "skipped optimisations, limits of memory and time"},
	{"_empty", plan_empty, METH_NOARGS, "A frame without rows, of the result's schema."},
	{"_explain", plan_explain, METH_VARARGS, "format, optimized, analyze, skipped optimisations"},
	{"_analyze", plan_analyze, METH_VARARGS, "skipped optimisations, limits of memory and time"},
	{"_serialise", plan_serialise, METH_NOARGS, NULL},
	{"_set", plan_set, METH_O, NULL},
	{NULL, NULL, 0, NULL},
};

bool py_plan_type_init(PyObject *module)
{
	static PyType_Slot slots[] = {
		{Py_tp_dealloc, plan_dealloc},
		{Py_tp_new, PyType_GenericNew},
		{Py_tp_methods, plan_methods},
		{0, NULL},
	};
	static PyType_Spec spec = {"nanuk._nanuk.Plan", sizeof(py_plan), 0,
	                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
	py_plan_type = py_plan_class = (PyTypeObject *)PyType_FromSpec(&spec);
	return py_plan_type && PyModule_AddObjectRef(module, "Plan", (PyObject *)py_plan_type) == 0;
}

/* ---- Module functions ---- */

static PyObject *module_concat(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *list;
	const char *how;
	nk_plan *plan = NULL;
	if (!PyArg_ParseTuple(args, "O!s", &PyList_Type, &list, &how))
		return NULL;
	Py_ssize_t n = PyList_Size(list);
	nk_plan **plans = calloc((size_t)n + 1, sizeof *plans);
	bool good = plans != NULL;
	if (!plans)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; good && i < n; i++) {
		PyObject *item = PyList_GetItem(list, i);
		good = PyObject_TypeCheck(item, py_plan_type);
		if (good)
			plans[i] = ((py_plan *)item)->handle;
		else
			PyErr_SetString(PyExc_TypeError, "expected LazyFrames");
	}
	nk_status status = good ? nk_plan_concat(plans, (int)n, how, &plan, &err) : NK_TYPE;
	free(plans);
	return good ? wrap(status, plan, &err) : NULL;
}

static PyObject *module_plan_deserialise(PyObject *module, PyObject *bytes)
{
	(void)module;
	nk_error err;
	nk_plan *result = NULL;
	char *data;
	Py_ssize_t n_data;
	if (PyBytes_AsStringAndSize(bytes, &data, &n_data) < 0)
		return NULL;
	nk_status status = nk_plan_deserialise(data, n_data, &result, &err);
	return wrap(status, result, &err);
}

PyMethodDef py_plan_functions[] = {
	{"concat", module_concat, METH_VARARGS, "plans, how"},
	{"plan_deserialise", module_plan_deserialise, METH_O, NULL},
	{NULL, NULL, 0, NULL},
};
