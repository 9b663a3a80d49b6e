/* The Expr type: operators and calls by name. Whatever stands beside an expression becomes one: values are
 * literals, text a column or a literal as the caller says, lists a literal list. */
#include "binding.h"

#include <stdlib.h>

PyTypeObject *py_expr_type, *py_expr_class;

PyObject *py_wrap_expr(nk_expr *handle)
{
	py_expr *self = (py_expr *)PyType_GenericAlloc(py_expr_class, 0);
	if (!self) {
		nk_expr_unref(handle);
		return NULL;
	}
	self->handle = handle;
	return (PyObject *)self;
}

static nk_expr *raise(const nk_error *err)
{
	py_raise(err);
	return NULL;
}

nk_expr *py_expr_of_name(const char *name)
{
	nk_error err;
	nk_expr *expr;
	size_t n = strlen(name);
	nk_status status;
	if (strcmp(name, "*") == 0)
		status = nk_expr_selector("all", NULL, 0, false, &expr, &err);
	else if (n > 1 && name[0] == '^' && name[n - 1] == '$')
		status = nk_expr_selector("matches", &name, 1, false, &expr, &err);
	else
		status = nk_expr_column(name, &expr, &err);
	return status == NK_OK ? expr : raise(&err);
}

/* A list of values: one row that holds them all. */
static nk_expr *list_literal(PyObject *items)
{
	nk_error err;
	nk_expr *column = NULL, *expr = NULL;
	nk_series *series = py_build_series("literal", items, NULL, true);
	if (!series)
		return NULL;
	nk_status status = nk_expr_series(series, &column, &err);
	if (status == NK_OK)
		status = nk_expr_call("implode", &column, 1, NULL, 0, &expr, &err);
	nk_series_unref(series);
	if (column)
		nk_expr_unref(column);
	return status == NK_OK ? expr : raise(&err);
}

nk_expr *py_to_expr(PyObject *object, bool text_is_literal)
{
	nk_error err;
	nk_expr *expr;
	if (py_is_expr(object)) {
		nk_expr *handle = ((py_expr *)object)->handle;
		if (!handle)
			PyErr_SetString(PyExc_TypeError, "an expression that was never made");
		return handle ? nk_expr_ref(handle) : NULL;
	}
	if (!text_is_literal && PyUnicode_Check(object)) {
		const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
		return name ? py_expr_of_name(name) : NULL;
	}
	if (py_is_series(object))
		return nk_expr_series(((py_series *)object)->handle, &expr, &err) == NK_OK ? expr : raise(&err);
	if (PyList_Check(object) || PyTuple_Check(object))
		return list_literal(object);
	char dtype[128];
	PyObject *keep;
	nk_value value;
	bool good = py_to_value(object, &value, dtype, sizeof dtype, &keep);
	nk_status status = good ? nk_expr_literal(&value, &expr, &err) : NK_TYPE;
	Py_XDECREF(keep);
	if (!good)
		return NULL;
	return status == NK_OK ? expr : raise(&err);
}

bool py_exprs_init(py_exprs *exprs, PyObject *sequence)
{
	*exprs = (py_exprs){0};
	PyObject *items = PySequence_Fast(sequence, "expected a list of expressions");
	if (!items)
		return false;
	Py_ssize_t n = PySequence_Size(items);
	bool is_list = PyList_Check(items), good = true;
	exprs->items = calloc((size_t)n + 1, sizeof *exprs->items);
	if (!exprs->items) {
		PyErr_NoMemory();
		good = false;
	}
	for (Py_ssize_t i = 0; good && i < n; i++) {
		PyObject *item = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
		nk_expr *expr = item ? py_to_expr(item, false) : NULL;
		good = expr != NULL;
		if (good)
			exprs->items[exprs->n++] = expr;
	}
	Py_DECREF(items);
	if (!good)
		py_exprs_release(exprs);
	return good;
}

void py_exprs_release(py_exprs *exprs)
{
	for (int i = 0; i < exprs->n; i++)
		nk_expr_unref(exprs->items[i]);
	free(exprs->items);
	*exprs = (py_exprs){0};
}

/* ---- Options ---- */

static bool add_option(py_options *options, const char *name, PyObject *value)
{
	nk_named_option *option = &options->items[options->n];
	*option = (nk_named_option){.name = name};
	if (value == Py_None)
		return true;
	if (options->n == PY_MAX_OPTIONS) {
		PyErr_SetString(PyExc_TypeError, "too many options");
		return false;
	}
	if (PyBool_Check(value)) {
		option->type = NK_ARG_BOOL;
		option->boolean = value == Py_True;
	} else if (PyFloat_Check(value)) {
		option->type = NK_ARG_FLOAT;
		option->floating = PyFloat_AsDouble(value);
	} else if (PyUnicode_Check(value)) {
		option->type = NK_ARG_STRING;
		option->string = PyUnicode_AsUTF8AndSize(value, NULL);
		if (!option->string)
			return false;
	} else if (PyIndex_Check(value)) {
		PyObject *number = PyNumber_Index(value);
		option->type = NK_ARG_INT;
		option->integer = number ? PyLong_AsLongLong(number) : -1;
		Py_XDECREF(number);
		if (PyErr_Occurred())
			return false;
	} else {
		/* A dtype: its text. */
		PyObject *text = PyObject_GetAttrString(value, "_text");
		if (!text || !PyUnicode_Check(text)) {
			Py_XDECREF(text);
			PyErr_Format(PyExc_TypeError, "%R is no value for the option \"%s\"", value, name);
			return false;
		}
		options->keep[options->n_keep++] = text;
		option->type = NK_ARG_DTYPE;
		option->string = PyUnicode_AsUTF8AndSize(text, NULL);
	}
	options->n++;
	return true;
}

bool py_options_init(py_options *options, PyObject *const *values, PyObject *names)
{
	options->n = options->n_keep = 0;
	Py_ssize_t n = names ? PyTuple_Size(names) : 0;
	for (Py_ssize_t i = 0; i < n; i++) {
		const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
		if (!name || !add_option(options, name, values[i])) {
			py_options_release(options);
			return false;
		}
	}
	return true;
}

void py_options_release(py_options *options)
{
	for (int i = 0; i < options->n_keep; i++)
		Py_DECREF(options->keep[i]);
	options->n_keep = 0;
}

/* ---- Calls ---- */

enum { N_QUICK = 8 };

/* Arguments from objects: text is a column or a literal as said. */
static nk_expr *call(const char *function, nk_expr *first, PyObject *const *objects, Py_ssize_t n,
                     bool text_is_literal, const py_options *options)
{
	nk_error err;
	nk_expr *quick[N_QUICK], **args = quick, *result = NULL;
	int n_args = 0;
	if (n + 1 > N_QUICK && !(args = calloc((size_t)n + 1, sizeof *args))) {
		PyErr_NoMemory();
		return NULL;
	}
	if (first)
		args[n_args++] = nk_expr_ref(first);
	bool good = true;
	for (Py_ssize_t i = 0; good && i < n; i++) {
		nk_expr *arg = py_to_expr(objects[i], text_is_literal);
		good = arg != NULL;
		if (good)
			args[n_args++] = arg;
	}
	if (good && nk_expr_call(function, args, n_args, options ? options->items : NULL,
	                         options ? options->n : 0, &result, &err) != NK_OK)
		result = raise(&err);
	for (int i = 0; i < n_args; i++)
		nk_expr_unref(args[i]);
	if (args != quick)
		free(args);
	return result;
}

static PyObject *call_objects(nk_expr *first, PyObject *const *args, Py_ssize_t n_args, PyObject *names,
                              bool text_is_literal)
{
	py_options options;
	const char *function =
		n_args > 0 && PyUnicode_Check(args[0]) ? PyUnicode_AsUTF8AndSize(args[0], NULL) : NULL;
	if (!function)
		return PyErr_Format(PyExc_TypeError, "expected the name of a function");
	if (!py_options_init(&options, args + n_args, names))
		return NULL;
	nk_expr *result = call(function, first, args + 1, n_args - 1, text_is_literal, &options);
	py_options_release(&options);
	return result ? py_wrap_expr(result) : NULL;
}

static PyObject *expr_call(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	return call_objects(((py_expr *)self)->handle, args, n_args, names, true);
}

static PyObject *expr_call_columns(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	return call_objects(((py_expr *)self)->handle, args, n_args, names, false);
}

static PyObject *module_call(PyObject *module, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
	(void)module;
	return call_objects(NULL, args, n_args, names, false);
}

/* ---- Operators ---- */

static PyObject *binary(const char *function, PyObject *left, PyObject *right)
{
	/* Series and frames decide themselves what they do beside an expression; so do foreign types. */
	PyObject *objects[] = {left, right};
	nk_expr *result = call(function, NULL, objects, 2, true, NULL);
	return result ? py_wrap_expr(result) : NULL;
}

static PyObject *op_add(PyObject *l, PyObject *r) { return binary("add", l, r); }
static PyObject *op_subtract(PyObject *l, PyObject *r) { return binary("sub", l, r); }
static PyObject *op_multiply(PyObject *l, PyObject *r) { return binary("mul", l, r); }
static PyObject *op_true_divide(PyObject *l, PyObject *r) { return binary("truediv", l, r); }
static PyObject *op_floor_divide(PyObject *l, PyObject *r) { return binary("floordiv", l, r); }
static PyObject *op_remainder(PyObject *l, PyObject *r) { return binary("mod", l, r); }
static PyObject *op_and(PyObject *l, PyObject *r) { return binary("and", l, r); }
static PyObject *op_or(PyObject *l, PyObject *r) { return binary("or", l, r); }
static PyObject *op_xor(PyObject *l, PyObject *r) { return binary("xor", l, r); }

static PyObject *op_power(PyObject *l, PyObject *r, PyObject *modulo)
{
	if (modulo != Py_None)
		Py_RETURN_NOTIMPLEMENTED;
	return binary("pow", l, r);
}

static PyObject *unary(const char *function, PyObject *self)
{
	nk_expr *result = call(function, NULL, &self, 1, true, NULL);
	return result ? py_wrap_expr(result) : NULL;
}

static PyObject *op_negative(PyObject *self) { return unary("neg", self); }
static PyObject *op_absolute(PyObject *self) { return unary("abs", self); }
static PyObject *op_invert(PyObject *self) { return unary("not", self); }
static PyObject *op_positive(PyObject *self) { return Py_NewRef(self); }

static PyObject *op_compare(PyObject *left, PyObject *right, int operation)
{
	static const char *const functions[] = {
		[Py_LT] = "lt", [Py_LE] = "le", [Py_EQ] = "eq", [Py_NE] = "ne", [Py_GT] = "gt", [Py_GE] = "ge"};
	return binary(functions[operation], left, right);
}

static int op_bool(PyObject *self)
{
	(void)self;
	PyErr_SetString(
		PyExc_TypeError,
		"the truth value of an Expr is ambiguous\n\nYou probably got here by using a Python standard library "
		"function instead of the native expressions API.\nInstead of `and`, `or` and `not` use `&`, `|` and "
		"`~`.");
	return -1;
}

/* ---- Methods ---- */

static PyObject *expr_alias(PyObject *self, PyObject *name)
{
	nk_error err;
	nk_expr *result;
	const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
	if (!text)
		return PyErr_Occurred() ? NULL
		                        : PyErr_Format(PyExc_TypeError,
		                                       "argument 'name': %R object cannot be converted to 'PyString'",
		                                       (PyObject *)Py_TYPE(name));
	if (nk_expr_alias(((py_expr *)self)->handle, text, &result, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_expr(result);
}

static PyObject *expr_rename(PyObject *self, PyObject *args)
{
	nk_error err;
	nk_expr *result;
	const char *how, *affix = NULL;
	if (!PyArg_ParseTuple(args, "s|s", &how, &affix))
		return NULL;
	if (nk_expr_rename(((py_expr *)self)->handle, how, affix, &result, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_expr(result);
}

static PyObject *expr_within(PyObject *self, PyObject *args)
{
	nk_error err;
	nk_expr *result;
	const char *how;
	PyObject *inner;
	if (!PyArg_ParseTuple(args, "sO!", &how, py_expr_type, &inner))
		return NULL;
	if (nk_expr_within(how, ((py_expr *)self)->handle, ((py_expr *)inner)->handle, &result, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_expr(result);
}

static PyObject *expr_output_name(PyObject *self, PyObject *unused)
{
	(void)unused;
	const char *name = nk_expr_output_name(((py_expr *)self)->handle);
	if (!name)
		Py_RETURN_NONE;
	return PyUnicode_FromString(name);
}

static PyObject *expr_root_names(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	char *text;
	if (nk_expr_root_names(((py_expr *)self)->handle, &text, &err) != NK_OK)
		return py_raise(&err);
	PyObject *names = PyList_New(0);
	for (const char *at = text; names && *at; at += strlen(at) + 1) {
		PyObject *name = PyUnicode_FromString(at);
		if (!name || PyList_Append(names, name) < 0)
			Py_CLEAR(names);
		Py_XDECREF(name);
	}
	nk_text_free(text);
	return names;
}

static PyObject *expr_form(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyUnicode_FromString(nk_expr_form(((py_expr *)self)->handle));
}

static PyObject *expr_inputs(PyObject *self, PyObject *unused)
{
	(void)unused;
	const nk_expr *expr = ((py_expr *)self)->handle;
	PyObject *list = PyList_New(0);
	for (int i = 0; list && i < nk_expr_n_inputs(expr); i++) {
		PyObject *input = py_wrap_expr(nk_expr_ref(nk_expr_input(expr, i)));
		if (!input || PyList_Append(list, input) != 0)
			Py_CLEAR(list);
		Py_XDECREF(input);
	}
	return list;
}

static PyObject *expr_is_selector(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyBool_FromLong(nk_expr_is_selector(((py_expr *)self)->handle));
}

static PyObject *expr_format(PyObject *self)
{
	nk_error err;
	char *text;
	if (!((py_expr *)self)->handle)
		return PyUnicode_FromString("<empty expression>");
	if (nk_expr_format(((py_expr *)self)->handle, &text, &err) != NK_OK)
		return py_raise(&err);
	return py_text(text);
}

static PyObject *expr_serialise(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	char *bytes;
	int64_t n_bytes;
	if (nk_expr_serialise(((py_expr *)self)->handle, &bytes, &n_bytes, &err) != NK_OK)
		return py_raise(&err);
	PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n_bytes);
	nk_text_free(bytes);
	return result;
}

static PyObject *module_expr_deserialise(PyObject *module, PyObject *bytes)
{
	(void)module;
	nk_error err;
	nk_expr *result;
	char *data;
	Py_ssize_t n_data;
	if (PyBytes_AsStringAndSize(bytes, &data, &n_data) < 0)
		return NULL;
	if (nk_expr_deserialise(data, n_data, &result, &err) != NK_OK)
		return py_raise(&err);
	return py_wrap_expr(result);
}

/* Another handle for the same object: unpickling, and results under another class. */
static PyObject *expr_set(PyObject *self, PyObject *other)
{
	if (!py_is_expr(other))
		return PyErr_Format(PyExc_TypeError, "expected an Expr");
	py_expr *target = (py_expr *)self;
	nk_expr *before = target->handle;
	target->handle = nk_expr_ref(((py_expr *)other)->handle);
	if (before)
		nk_expr_unref(before);
	Py_RETURN_NONE;
}

static void expr_dealloc(PyObject *self)
{
	if (((py_expr *)self)->handle)
		nk_expr_unref(((py_expr *)self)->handle);
	py_free_object(self);
}

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef expr_methods[] = {
	{"_call", FUNCTION(expr_call), METH_FASTCALL | METH_KEYWORDS,
     "A function of the registry by name; other arguments are literals, keywords its options."},
	{"_call_columns", FUNCTION(expr_call_columns), METH_FASTCALL | METH_KEYWORDS,
     "As _call; text means columns."},
	{"alias", expr_alias, METH_O, "alias($self, name, /)\n--\n\nThe expression under another name."},
	{"_rename", expr_rename, METH_VARARGS, "Change the output name: how, affix."},
	{"_within", expr_within, METH_VARARGS, "An expression over items or fields of this one: how, inner."},
	{"_output_name", expr_output_name, METH_NOARGS, "The result's name, None where a selector decides."},
	{"_root_names", expr_root_names, METH_NOARGS, "Names of the columns that occur."},
	{"_form", expr_form, METH_NOARGS, NULL},
	{"_inputs", expr_inputs, METH_NOARGS, NULL},
	{"_is_selector", expr_is_selector, METH_NOARGS, NULL},
	{"_serialise", expr_serialise, METH_NOARGS, NULL},
	{"_set", expr_set, METH_O, NULL},
	{NULL, NULL, 0, NULL},
};

bool py_expr_type_init(PyObject *module)
{
	static PyType_Slot slots[] = {
		{Py_tp_dealloc, expr_dealloc},
		{Py_tp_new, PyType_GenericNew},
		{Py_tp_methods, expr_methods},
		{Py_tp_repr, expr_format},
		{Py_tp_str, expr_format},
		{Py_tp_richcompare, op_compare},
		{Py_tp_hash, PyObject_HashNotImplemented},
		{Py_nb_add, op_add},
		{Py_nb_subtract, op_subtract},
		{Py_nb_multiply, op_multiply},
		{Py_nb_true_divide, op_true_divide},
		{Py_nb_floor_divide, op_floor_divide},
		{Py_nb_remainder, op_remainder},
		{Py_nb_power, op_power},
		{Py_nb_and, op_and},
		{Py_nb_or, op_or},
		{Py_nb_xor, op_xor},
		{Py_nb_negative, op_negative},
		{Py_nb_positive, op_positive},
		{Py_nb_absolute, op_absolute},
		{Py_nb_invert, op_invert},
		{Py_nb_bool, op_bool},
		{0, NULL},
	};
	static PyType_Spec spec = {"nanuk._nanuk.Expr", sizeof(py_expr), 0,
	                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
	py_expr_type = py_expr_class = (PyTypeObject *)PyType_FromSpec(&spec);
	return py_expr_type && PyModule_AddObjectRef(module, "Expr", (PyObject *)py_expr_type) == 0;
}

/* ---- Module functions ---- */

static PyObject *module_col(PyObject *module, PyObject *name)
{
	(void)module;
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	nk_expr *expr = text ? py_expr_of_name(text) : NULL;
	return expr ? py_wrap_expr(expr) : NULL;
}

static PyObject *module_lit(PyObject *module, PyObject *value)
{
	(void)module;
	nk_expr *expr = py_to_expr(value, true);
	return expr ? py_wrap_expr(expr) : NULL;
}

static PyObject *module_parse(PyObject *module, PyObject *value)
{
	(void)module;
	if (py_is_expr(value))
		return Py_NewRef(value);
	nk_expr *expr = py_to_expr(value, false);
	return expr ? py_wrap_expr(expr) : NULL;
}

static PyObject *module_selector(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	const char *kind;
	PyObject *list;
	int strict = 0;
	if (!PyArg_ParseTuple(args, "sO!|p", &kind, &PyTuple_Type, &list, &strict))
		return NULL;
	Py_ssize_t n = PyTuple_Size(list);
	const char **names = calloc((size_t)n + 1, sizeof *names);
	if (!names)
		return PyErr_NoMemory();
	bool good = true;
	for (Py_ssize_t i = 0; good && i < n; i++) {
		names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, i), NULL);
		good = names[i] != NULL;
	}
	nk_expr *result = NULL;
	if (good && nk_expr_selector(kind, names, (int)n, strict, &result, &err) != NK_OK)
		result = raise(&err);
	free(names);
	return result ? py_wrap_expr(result) : NULL;
}

static PyObject *module_positions(PyObject *module, PyObject *list)
{
	(void)module;
	nk_error err;
	Py_ssize_t n = PyTuple_Size(list);
	int64_t *positions = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *positions);
	if (!positions)
		return n < 0 ? NULL : PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++)
		positions[i] = PyLong_AsLongLong(PyTuple_GetItem(list, i));
	nk_expr *result = NULL;
	if (!PyErr_Occurred() && nk_expr_selector_positions(positions, (int)n, &result, &err) != NK_OK)
		result = raise(&err);
	free(positions);
	return result ? py_wrap_expr(result) : NULL;
}

static PyObject *module_combine(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	const char *how;
	PyObject *left, *right;
	nk_expr *result;
	if (!PyArg_ParseTuple(args, "sO!O!", &how, py_expr_type, &left, py_expr_type, &right))
		return NULL;
	if (nk_expr_selector_combine(how, ((py_expr *)left)->handle, ((py_expr *)right)->handle, &result, &err) !=
	    NK_OK)
		return py_raise(&err);
	return py_wrap_expr(result);
}

static PyObject *module_over(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *inner, *partition_by, *order_by;
	int descending, nulls_last;
	const char *mapping;
	if (!PyArg_ParseTuple(args, "O!OOpps", py_expr_type, &inner, &partition_by, &order_by, &descending,
	                      &nulls_last, &mapping))
		return NULL;
	py_exprs keys, order;
	if (!py_exprs_init(&keys, partition_by))
		return NULL;
	if (!py_exprs_init(&order, order_by)) {
		py_exprs_release(&keys);
		return NULL;
	}
	nk_expr *result;
	nk_status status = nk_expr_over(((py_expr *)inner)->handle, keys.items, keys.n, order.items, order.n,
	                                descending, nulls_last, mapping, &result, &err);
	py_exprs_release(&keys);
	py_exprs_release(&order);
	return status == NK_OK ? py_wrap_expr(result) : py_raise(&err);
}

PyMethodDef py_expr_functions[] = {
	{"col", module_col, METH_O, "A column by name; \"*\" and ^patterns$ choose several."},
	{"lit", module_lit, METH_O, "A value, list or Series as an expression."},
	{"parse", module_parse, METH_O, "What an argument stands for; text means a column."},
	{"call", FUNCTION(module_call), METH_FASTCALL | METH_KEYWORDS, "A function by name; text means columns."},
	{"selector", module_selector, METH_VARARGS, "kind, names, strict"},
	{"positions", module_positions, METH_O, "Columns by position."},
	{"over", module_over, METH_VARARGS,
     "expr, partition_by, order_by, descending, nulls_last, mapping_strategy"},
	{"combine", module_combine, METH_VARARGS, "how, left, right: selectors as sets"},
	{"expr_deserialise", module_expr_deserialise, METH_O, NULL},
	{NULL, NULL, 0, NULL},
};
