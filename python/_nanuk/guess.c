/* The dtype of a list of Python values. Strict: the first value that is not null decides, at every level of
 * nesting, and the builder refuses what does not fit. Otherwise the widest of all. Integers are looked at all the
 * same, since their size decides between Int64, UInt64 and Int128, and Decimals, for the scale. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum integer_size { FITS_INT64, FITS_UINT64, FITS_INT128 } integer_size;

typedef struct guessed guessed;
struct guessed {
	py_kind kind;  /* PY_KIND_NULL: nothing seen */
	bool is_fixed; /* text is the answer */
	bool is_negative;
	integer_size size;
	int scale;
	char text[96]; /* of a zone, or of a fixed dtype */
	int n_children;
	guessed **children; /* the item of a List, the fields of a Struct */
	PyObject **names;
};

static void release(guessed *seen)
{
	for (int i = 0; i < seen->n_children; i++) {
		release(seen->children[i]);
		free(seen->children[i]);
		if (seen->names)
			Py_DECREF(seen->names[i]);
	}
	free(seen->children);
	free(seen->names);
}

static guessed *add_child(guessed *parent, PyObject *name)
{
	size_t n = (size_t)parent->n_children + 1;
	guessed *child = calloc(1, sizeof *child), **children = realloc(parent->children, n * sizeof(guessed *));
	if (children)
		parent->children = children;
	if (name) {
		PyObject **names = realloc(parent->names, n * sizeof *names);
		if (names)
			parent->names = names;
		else
			children = NULL;
	}
	if (!child || !children) {
		free(child);
		PyErr_NoMemory();
		return NULL;
	}
	children[n - 1] = child;
	if (name)
		parent->names[n - 1] = Py_NewRef(name);
	parent->n_children = (int)n;
	return child;
}

/* The kind of a value; -1 with an exception when there is no dtype for it. */
static int kind_of(PyObject *value)
{
	static const struct {
		py_class class;
		py_kind kind;
	} standard[] = {{PY_DATETIME, PY_KIND_DATETIME},
	                {PY_DATE, PY_KIND_DATE},
	                {PY_TIME, PY_KIND_TIME},
	                {PY_TIMEDELTA, PY_KIND_DURATION},
	                {PY_DECIMAL, PY_KIND_DECIMAL}};
	if (value == Py_None)
		return PY_KIND_NULL;
	if (PyBool_Check(value))
		return PY_KIND_BOOLEAN;
	if (PyLong_Check(value))
		return PY_KIND_INTEGER;
	if (PyFloat_Check(value))
		return PY_KIND_FLOAT;
	if (PyUnicode_Check(value))
		return PY_KIND_STRING;
	if (PyBytes_Check(value) || PyByteArray_Check(value) || PyMemoryView_Check(value))
		return PY_KIND_BINARY;
	if (PyList_Check(value) || PyTuple_Check(value) || py_is_series(value) || PyRange_Check(value))
		return PY_KIND_LIST;
	if (PyDict_Check(value))
		return PY_KIND_STRUCT;
	for (size_t i = 0; i < sizeof standard / sizeof *standard; i++) {
		int is = py_is_instance(value, standard[i].class);
		if (is != 0)
			return is < 0 ? -1 : (int)standard[i].kind;
	}
	/* NumPy's scalars and arrays, without NumPy. */
	if (PyObject_HasAttrString(value, "__array_interface__")) {
		PyObject *shape = PyObject_GetAttrString(value, "shape");
		Py_ssize_t n_dimensions = shape ? PyObject_Length(shape) : -1;
		Py_XDECREF(shape);
		if (n_dimensions > 0)
			return PY_KIND_LIST;
		PyObject *item = n_dimensions == 0 ? PyObject_CallMethod(value, "item", NULL) : NULL;
		int kind = item && Py_TYPE(item) != Py_TYPE(value) ? kind_of(item) : -1;
		Py_XDECREF(item);
		if (kind >= 0)
			return kind;
	}
	if (PyIndex_Check(value))
		return PY_KIND_INTEGER;
	if (!PyErr_Occurred())
		PyErr_Format(PyExc_TypeError, "values of type %R have no dtype (Object columns are not supported)",
		             (PyObject *)Py_TYPE(value));
	return -1;
}

/* The kind that holds both, when values are mixed freely; text last. */
static py_kind widest(py_kind left, py_kind right)
{
	py_kind low = left < right ? left : right, high = left < right ? right : left;
	if (low == PY_KIND_NULL || low == high)
		return high;
	if (high <= PY_KIND_FLOAT)
		return high;
	if (high == PY_KIND_DECIMAL)
		return low == PY_KIND_INTEGER ? PY_KIND_DECIMAL
		       : low == PY_KIND_FLOAT ? PY_KIND_FLOAT
		                              : PY_KIND_STRING;
	if (low == PY_KIND_DATE && high == PY_KIND_DATETIME)
		return PY_KIND_DATETIME;
	if (low <= PY_KIND_FLOAT && high >= PY_KIND_DATE && high <= PY_KIND_TIME)
		return low == PY_KIND_FLOAT ? PY_KIND_FLOAT : PY_KIND_INTEGER;
	return PY_KIND_STRING;
}

static bool see_all(guessed *seen, PyObject *items, Py_ssize_t n_items, bool strict);

/* A List's items, or NULL with an exception; a new reference to a list or tuple. */
static PyObject *items_of(PyObject *value)
{
	return PySequence_Fast(value, "a List's value must be a sequence");
}

static bool see_nested(guessed *seen, PyObject *value, bool strict)
{
	bool good = Py_EnterRecursiveCall(" while looking at nested values") == 0;
	if (!good)
		return false;
	if (seen->kind == PY_KIND_LIST) {
		guessed *item = seen->n_children ? seen->children[0] : add_child(seen, NULL);
		good = item != NULL;
		if (good && py_is_series(value)) {
			const char *text = nk_series_dtype(((py_series *)value)->handle);
			if (!item->is_fixed && strlen(text) < sizeof item->text && strcmp(text, "Null") != 0) {
				strcpy(item->text, text);
				item->is_fixed = true;
			}
		} else if (good) {
			PyObject *items = items_of(value);
			good = items && see_all(item, items, PySequence_Size(items), strict);
			Py_XDECREF(items);
		}
	} else {
		Py_ssize_t at = 0;
		PyObject *name, *field;
		bool is_first = seen->names == NULL && seen->n_children == 0;
		while (good && PyDict_Next(value, &at, &name, &field)) {
			guessed *child = NULL;
			for (int i = 0; i < seen->n_children && !child; i++)
				if (PyUnicode_Compare(seen->names[i], name) == 0)
					child = seen->children[i];
			if (!PyUnicode_Check(name)) {
				PyErr_SetString(PyExc_TypeError, "the names of Struct fields must be strings");
				good = false;
			} else if (!child && (is_first || !strict)) {
				child = add_child(seen, name);
				good = child != NULL;
			}
			if (good && child) {
				PyObject *one = PyTuple_Pack(1, field);
				good = one && see_all(child, one, 1, strict);
				Py_XDECREF(one);
			}
		}
	}
	Py_LeaveRecursiveCall();
	return good;
}

static bool see(guessed *seen, PyObject *value, bool strict)
{
	int found = kind_of(value);
	if (found < 0)
		return false;
	py_kind kind = (py_kind)found;
	if (kind == PY_KIND_NULL || seen->is_fixed)
		return true;
	if (seen->kind == PY_KIND_NULL)
		seen->kind = kind;
	else if (seen->kind != kind) {
		if (strict)
			return true;
		seen->kind = widest(seen->kind, kind);
	}
	if (kind == PY_KIND_INTEGER && (seen->kind == PY_KIND_INTEGER)) {
		uint64_t low = 0;
		int64_t high = 0;
		PyObject *number = PyNumber_Index(value);
		bool good = number && py_to_integer(number, &low, &high);
		Py_XDECREF(number);
		if (!good)
			return false;
		integer_size size = high == (int64_t)low >> 63 ? FITS_INT64 : high == 0 ? FITS_UINT64 : FITS_INT128;
		seen->is_negative |= high < 0;
		if (size > seen->size)
			seen->size = size;
	} else if (kind == PY_KIND_DECIMAL && seen->kind == PY_KIND_DECIMAL) {
		uint64_t low;
		int64_t high;
		int scale = -1;
		if (py_to_decimal(value, &scale, &low, &high) && scale > seen->scale)
			seen->scale = scale;
		return !PyErr_Occurred();
	} else if (kind == PY_KIND_DATETIME && seen->kind == PY_KIND_DATETIME && !seen->text[0]) {
		PyObject *zone;
		if (!py_zone_name(value, &zone))
			return false;
		/* "-" marks that the first one was naive, so that a later zone changes nothing. */
		snprintf(seen->text, sizeof seen->text, "%s", zone ? PyUnicode_AsUTF8AndSize(zone, NULL) : "-");
		Py_XDECREF(zone);
	} else if ((kind == PY_KIND_LIST || kind == PY_KIND_STRUCT) && seen->kind == kind) {
		return see_nested(seen, value, strict);
	}
	return true;
}

static bool see_all(guessed *seen, PyObject *items, Py_ssize_t n_items, bool strict)
{
	bool is_list = PyList_Check(items);
	for (Py_ssize_t i = 0; i < n_items; i++) {
		PyObject *value = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
		if (!value || !see(seen, value, strict))
			return false;
		/* Nothing that follows can change these. */
		if (strict &&
		    (seen->kind == PY_KIND_FLOAT || seen->kind == PY_KIND_STRING || seen->kind == PY_KIND_BOOLEAN))
			break;
	}
	return true;
}

static PyObject *text_of(const guessed *seen)
{
	static const char *const names[] = {
		[PY_KIND_NULL] = "Null",     [PY_KIND_BOOLEAN] = "Boolean",       [PY_KIND_FLOAT] = "Float64",
		[PY_KIND_STRING] = "String", [PY_KIND_BINARY] = "Binary",         [PY_KIND_DATE] = "Date",
		[PY_KIND_TIME] = "Time",     [PY_KIND_DURATION] = "Duration(us)",
	};
	if (seen->is_fixed)
		return PyUnicode_FromString(seen->text);
	switch (seen->kind) {
	case PY_KIND_INTEGER:
		return PyUnicode_FromString(seen->size == FITS_INT64                          ? "Int64"
		                            : seen->size == FITS_UINT64 && !seen->is_negative ? "UInt64"
		                                                                              : "Int128");
	case PY_KIND_DECIMAL: return PyUnicode_FromFormat("Decimal(38, %d)", seen->scale);
	case PY_KIND_DATETIME:
		return seen->text[0] && strcmp(seen->text, "-") != 0
		           ? PyUnicode_FromFormat("Datetime(us, %s)", seen->text)
		           : PyUnicode_FromString("Datetime(us)");
	case PY_KIND_LIST: {
		PyObject *item = seen->n_children ? text_of(seen->children[0]) : PyUnicode_FromString("Null");
		PyObject *text = item ? PyUnicode_FromFormat("List(%U)", item) : NULL;
		Py_XDECREF(item);
		return text;
	}
	case PY_KIND_STRUCT: {
		PyObject *text = PyUnicode_FromString("Struct{");
		for (int i = 0; text && i < seen->n_children; i++) {
			PyObject *escaped = PyObject_CallMethod(seen->names[i], "replace", "ss", "\\", "\\\\");
			PyObject *name = escaped ? PyObject_CallMethod(escaped, "replace", "ss", "\"", "\\\"") : NULL;
			PyObject *field = text_of(seen->children[i]);
			PyObject *part = name && field
			                     ? PyUnicode_FromFormat("%U%s\"%U\": %U", text, i ? ", " : "", name, field)
			                     : NULL;
			Py_XDECREF(escaped);
			Py_XDECREF(name);
			Py_XDECREF(field);
			py_replace(&text, part);
		}
		PyObject *whole = text ? PyUnicode_FromFormat("%U}", text) : NULL;
		Py_XDECREF(text);
		return whole;
	}
	default: return PyUnicode_FromString(names[seen->kind]);
	}
}

PyObject *py_guess_dtype(PyObject *items, bool strict, Py_ssize_t n_items)
{
	guessed seen = {0};
	PyObject *text = see_all(&seen, items, n_items, strict) ? text_of(&seen) : NULL;
	release(&seen);
	return text;
}
