/* Joins by nearness and windows over an index. */
#include "binding.h"

static PyObject *join_asof(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *left, *right, *on, *left_by_list, *right_by_list;
	int keep, no_exact, unchecked;
	py_exprs ons = {0}, left_by = {0}, right_by = {0};
	nk_plan *plan = NULL;
	nk_asof_options options = NK_OPTIONS(nk_asof_options);
	if (!PyArg_ParseTuple(args, "O!O!OOOszsppp", py_plan_type, &left, py_plan_type, &right, &on,
	                      &left_by_list, &right_by_list, &options.strategy, &options.tolerance,
	                      &options.suffix, &keep, &no_exact, &unchecked))
		return NULL;
	options.keep_right_on = keep;
	options.no_exact_matches = no_exact;
	options.unchecked = unchecked;
	bool good = py_exprs_init(&ons, on) && py_exprs_init(&left_by, left_by_list) &&
	            py_exprs_init(&right_by, right_by_list);
	if (good && (ons.n != 2 || left_by.n != right_by.n)) {
		PyErr_SetString(PyExc_ValueError, "`by_left` and `by_right` must have the same number of keys");
		good = false;
	}
	nk_status status = good ? nk_plan_join_asof(((py_plan *)left)->handle, ((py_plan *)right)->handle,
	                                            ons.items[0], ons.items[1], left_by.items, right_by.items,
	                                            left_by.n, &options, &plan, &err)
	                        : NK_VALUE;
	py_exprs_release(&ons);
	py_exprs_release(&left_by);
	py_exprs_release(&right_by);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

static PyObject *windows(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *input, *index_list, *key_list, *aggregate_list;
	int with_bounds;
	py_exprs index = {0}, keys = {0}, aggregates = {0};
	nk_plan *plan = NULL;
	nk_window_options options = NK_OPTIONS(nk_window_options);
	if (!PyArg_ParseTuple(args, "O!OOOzzzzzzp", py_plan_type, &input, &index_list, &key_list, &aggregate_list,
	                      &options.every, &options.period, &options.offset, &options.closed, &options.label,
	                      &options.start_by, &with_bounds))
		return NULL;
	options.include_boundaries = with_bounds;
	bool good = py_exprs_init(&index, index_list) && py_exprs_init(&keys, key_list) &&
	            py_exprs_init(&aggregates, aggregate_list);
	nk_status status = good ? nk_plan_windows(((py_plan *)input)->handle, index.items[0], keys.items, keys.n,
	                                          aggregates.items, aggregates.n, &options, &plan, &err)
	                        : NK_VALUE;
	py_exprs_release(&index);
	py_exprs_release(&keys);
	py_exprs_release(&aggregates);
	if (!good)
		return NULL;
	return status == NK_OK ? py_wrap_plan(plan) : py_raise(&err);
}

PyMethodDef py_windows_functions[] = {
	{"join_asof", join_asof, METH_VARARGS, "plans, on, by of both, strategy, tolerance, suffix, flags"},
	{"windows", windows, METH_VARARGS,
     "plan, [index], keys, aggregates, steps, closed, label, start_by, bounds"},
	{NULL, NULL, 0, NULL},
};
