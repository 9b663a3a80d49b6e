/* SQL contexts as capsules; the package's SQLContext holds one. */
#include "binding.h"

static const char capsule_name[] = "nanuk.sql_context";

static void context_free(PyObject *capsule)
{
	nk_sql_context_free(PyCapsule_GetPointer(capsule, capsule_name));
}

static nk_sql_context *context_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, capsule_name); }

static PyObject *sql_context(PyObject *module, PyObject *unused)
{
	(void)module, (void)unused;
	nk_error err;
	nk_sql_context *context;
	if (nk_sql_context_new(&context, &err) != NK_OK)
		return py_raise(&err);
	PyObject *capsule = PyCapsule_New(context, capsule_name, context_free);
	if (!capsule)
		nk_sql_context_free(context);
	return capsule;
}

/* sql_register(context, name, plan) */
static PyObject *sql_register(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *capsule, *plan;
	const char *name;
	if (!PyArg_ParseTuple(args, "OsO!", &capsule, &name, py_plan_type, &plan))
		return NULL;
	nk_sql_context *context = context_of(capsule);
	if (!context)
		return NULL;
	if (nk_sql_context_register(context, name, ((py_plan *)plan)->handle, &err) != NK_OK)
		return py_raise(&err);
	Py_RETURN_NONE;
}

/* sql_unregister(context, name): whether there was one. */
static PyObject *sql_unregister(PyObject *module, PyObject *args)
{
	(void)module;
	PyObject *capsule;
	const char *name;
	if (!PyArg_ParseTuple(args, "Os", &capsule, &name))
		return NULL;
	nk_sql_context *context = context_of(capsule);
	return context ? PyBool_FromLong(nk_sql_context_unregister(context, name)) : NULL;
}

static PyObject *sql_tables(PyObject *module, PyObject *capsule)
{
	(void)module;
	nk_error err;
	char *names;
	nk_sql_context *context = context_of(capsule);
	if (!context)
		return NULL;
	if (nk_sql_context_tables(context, &names, &err) != NK_OK)
		return py_raise(&err);
	PyObject *list = PyList_New(0);
	for (const char *at = names; list && *at; at += strlen(at) + 1) {
		PyObject *name = PyUnicode_FromString(at);
		if (!name || PyList_Append(list, name) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	nk_text_free(names);
	return list;
}

/* sql_execute(context, query) */
static PyObject *sql_execute(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *capsule;
	const char *query;
	nk_plan *plan = NULL;
	if (!PyArg_ParseTuple(args, "Os", &capsule, &query))
		return NULL;
	nk_sql_context *context = context_of(capsule);
	if (!context)
		return NULL;
	nk_status status;
	py_run run;
	do {
		py_run_begin(&run);
		status = nk_sql_context_execute(context, query, &plan, &err);
	} while (py_run_end(&run, status));
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

static PyObject *sql_expr(PyObject *module, PyObject *text)
{
	(void)module;
	nk_error err;
	nk_expr *expr;
	const char *given = PyUnicode_AsUTF8AndSize(text, NULL);
	if (!given)
		return NULL;
	return nk_expr_sql(given, &expr, &err) == NK_OK ? py_wrap_expr(expr) : py_raise(&err);
}

PyMethodDef py_sql_functions[] = {
	{"sql_context", sql_context, METH_NOARGS, "A context without tables."},
	{"sql_register", sql_register, METH_VARARGS, "context, name, plan"},
	{"sql_unregister", sql_unregister, METH_VARARGS, "context, name"},
	{"sql_tables", sql_tables, METH_O, "Names of the tables of a context."},
	{"sql_execute", sql_execute, METH_VARARGS, "context, query"},
	{"sql_expr", sql_expr, METH_O, "An expression from SQL."},
	{NULL, NULL, 0, NULL},
};
