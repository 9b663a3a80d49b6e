/* Status codes as exceptions. The package registers its own classes once; the built-in ones are known here. */
#include "binding.h"

static PyObject *classes[NK_STATUS_N];

static const struct {
	const char *name;
	nk_status status;
} names[] = {
	{"INVALID_OPERATION", NK_INVALID_OPERATION},
	{"SCHEMA_MISMATCH", NK_SCHEMA_MISMATCH},
	{"COLUMN_NOT_FOUND", NK_COLUMN_NOT_FOUND},
	{"STRUCT_FIELD_NOT_FOUND", NK_STRUCT_FIELD_NOT_FOUND},
	{"DUPLICATE", NK_DUPLICATE},
	{"SHAPE", NK_SHAPE},
	{"COMPUTE", NK_COMPUTE},
	{"NO_DATA", NK_NO_DATA},
	{"OUT_OF_BOUNDS", NK_OUT_OF_BOUNDS},
	{"SQL_INTERFACE", NK_SQL_INTERFACE},
	{"SQL_SYNTAX", NK_SQL_SYNTAX},
};

static PyObject *class_of(nk_status status)
{
	switch (status) {
	case NK_OUT_OF_MEMORY: return PyExc_MemoryError;
	case NK_IO: return PyExc_OSError;
	case NK_FILE_NOT_FOUND: return PyExc_FileNotFoundError;
	case NK_VALUE: return PyExc_ValueError;
	case NK_TYPE: return PyExc_TypeError;
	case NK_OVERFLOW: return PyExc_OverflowError;
	case NK_TIMEOUT: return PyExc_TimeoutError;
	case NK_CANCELLED: return PyExc_KeyboardInterrupt;
	case NK_NOT_IMPLEMENTED: return PyExc_NotImplementedError;
	default: return status < NK_STATUS_N && classes[status] ? classes[status] : PyExc_RuntimeError;
	}
}

PyObject *py_raise(const nk_error *err)
{
	if (PyErr_Occurred())
		return NULL;
	if (err->code == NK_FOREIGN && err->payload && py_raise_kept(err->payload))
		return NULL;
	PyErr_SetString(class_of(err->code), err->message);
	return NULL;
}

PyObject *py_set_exceptions(PyObject *module, PyObject *by_name)
{
	(void)module;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		PyObject *class = PyDict_GetItemString(by_name, names[i].name);
		if (!class)
			return PyErr_Format(PyExc_KeyError, "no exception for %s", names[i].name);
		Py_INCREF(class);
		py_replace(&classes[names[i].status], class);
	}
	Py_RETURN_NONE;
}
