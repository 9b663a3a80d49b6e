/* A column as a list of Python values, read from the Arrow arrays that the library exports: flat values in 64-bit
 * list offsets, string views, 128-bit Decimals. Numbers and text have loops of their own; the rest goes value by
 * value. Columns of integers that repeat profit from Python's own cache of small ones. */
#include "binding.h"

#include <errno.h>

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
	const uint8_t *validity = array->n_buffers > 0 ? array->buffers[0] : NULL;
	return !validity || array->null_count == 0 || validity[row >> 3] >> (row & 7) & 1;
}

static PyObject *view_text(const struct ArrowArray *array, int64_t row, bool is_text)
{
	const struct {
		int32_t n_bytes;
		char prefix[4];
		int32_t buffer, offset;
	} *view = (const void *)((const char *)array->buffers[1] + row * 16);
	const char *bytes =
		view->n_bytes <= 12 ? view->prefix : (const char *)array->buffers[2 + view->buffer] + view->offset;
	return is_text ? PyUnicode_DecodeUTF8(bytes, view->n_bytes, NULL)
	               : PyBytes_FromStringAndSize(bytes, view->n_bytes);
}

static PyObject *extract_rows(const py_type *type, const struct ArrowArray *array, int64_t from, int64_t to);

static PyObject *extract_integer(const py_type *type, const void *values, int64_t row)
{
	switch (type->n_bits * 2 + type->is_unsigned) {
	case 16: return PyLong_FromLong(((const int8_t *)values)[row]);
	case 17: return PyLong_FromLong(((const uint8_t *)values)[row]);
	case 32: return PyLong_FromLong(((const int16_t *)values)[row]);
	case 33: return PyLong_FromLong(((const uint16_t *)values)[row]);
	case 64: return PyLong_FromLong(((const int32_t *)values)[row]);
	case 65: return PyLong_FromUnsignedLong(((const uint32_t *)values)[row]);
	case 128: return PyLong_FromLongLong(((const int64_t *)values)[row]);
	case 129: return PyLong_FromUnsignedLongLong(((const uint64_t *)values)[row]);
	default: {
		const uint64_t *pair = (const uint64_t *)values + row * 2;
		return py_integer(pair[0], (int64_t)pair[1]);
	}
	}
}

/* Row `row` counts from the buffers' start: the array's offset is in it. */
static PyObject *extract_value(const py_type *type, const struct ArrowArray *array, int64_t row)
{
	if (type->kind == PY_KIND_NULL || !is_valid(array, row))
		Py_RETURN_NONE;
	switch (type->kind) {
	case PY_KIND_BOOLEAN:
		return PyBool_FromLong(((const uint8_t *)array->buffers[1])[row >> 3] >> (row & 7) & 1);
	case PY_KIND_INTEGER: return extract_integer(type, array->buffers[1], row);
	case PY_KIND_FLOAT:
		return PyFloat_FromDouble(type->n_bits == 32 ? (double)((const float *)array->buffers[1])[row]
		                                             : ((const double *)array->buffers[1])[row]);
	case PY_KIND_DECIMAL: {
		const uint64_t *pair = (const uint64_t *)array->buffers[1] + row * 2;
		return py_decimal(pair[0], (int64_t)pair[1], type->scale);
	}
	case PY_KIND_STRING: return view_text(array, row, true);
	case PY_KIND_BINARY: return view_text(array, row, false);
	case PY_KIND_CATEGORY: {
		int64_t code = type->n_bits == 8    ? ((const uint8_t *)array->buffers[1])[row]
		               : type->n_bits == 16 ? ((const uint16_t *)array->buffers[1])[row]
		                                    : ((const uint32_t *)array->buffers[1])[row];
		return view_text(array->dictionary, code, true);
	}
	case PY_KIND_DATE: return py_temporal(type, ((const int32_t *)array->buffers[1])[row]);
	case PY_KIND_LIST: {
		if (type->width >= 0)
			return extract_rows(type->children[0], array->children[0], row * type->width,
			                    (row + 1) * type->width);
		const int64_t *offsets = array->buffers[1];
		return extract_rows(type->children[0], array->children[0], offsets[row], offsets[row + 1]);
	}
	case PY_KIND_STRUCT: {
		PyObject *fields = PyDict_New();
		for (int i = 0; fields && i < type->n_children; i++) {
			const struct ArrowArray *child = array->children[i];
			PyObject *value = extract_value(type->children[i], child, child->offset + row);
			if (!value || PyDict_SetItem(fields, type->names[i], value) < 0)
				Py_CLEAR(fields);
			Py_XDECREF(value);
		}
		return fields;
	}
	default: return py_temporal(type, ((const int64_t *)array->buffers[1])[row]);
	}
}

/* Rows [from, to) of the array, without its offset, into items from position `at`. */
static bool extract_into(const py_type *type, const struct ArrowArray *array, int64_t from, int64_t to,
                         PyObject *items, Py_ssize_t at)
{
	int64_t first = array->offset + from, end = array->offset + to;
	bool is_dense = array->null_count == 0 || array->n_buffers == 0 || !array->buffers[0];
	if (is_dense && type->kind == PY_KIND_INTEGER && type->n_bits == 64 && !type->is_unsigned) {
		const int64_t *values = array->buffers[1];
		for (int64_t row = first; row < end; row++) {
			PyObject *value = PyLong_FromLongLong(values[row]);
			if (!value || PyList_SetItem(items, at++, value) < 0)
				return false;
		}
		return true;
	}
	for (int64_t row = first; row < end; row++) {
		PyObject *value = extract_value(type, array, row);
		if (!value || PyList_SetItem(items, at++, value) < 0)
			return false;
	}
	return true;
}

static PyObject *extract_rows(const py_type *type, const struct ArrowArray *array, int64_t from, int64_t to)
{
	PyObject *items = PyList_New((Py_ssize_t)(to - from));
	if (items && !extract_into(type, array, from, to, items, 0))
		Py_CLEAR(items);
	return items;
}

PyObject *py_series_to_list(nk_series *series)
{
	nk_error err;
	struct ArrowArrayStream stream;
	const py_type *type = py_type_get(nk_series_dtype(series));
	if (!type)
		return NULL;
	if (nk_series_export(series, &stream, &err) != NK_OK)
		return py_raise(&err);
	PyObject *items = PyList_New((Py_ssize_t)nk_series_length(series));
	Py_ssize_t at = 0;
	while (items) {
		struct ArrowArray array = {0};
		int code = stream.get_next(&stream, &array);
		if (code != 0) {
			PyErr_SetString(code == ENOMEM ? PyExc_MemoryError : PyExc_RuntimeError,
			                stream.get_last_error(&stream));
			Py_CLEAR(items);
			break;
		}
		if (!array.release)
			break;
		if (!extract_into(type, &array, 0, array.length, items, at))
			Py_CLEAR(items);
		at += (Py_ssize_t)array.length;
		array.release(&array);
	}
	stream.release(&stream);
	return items;
}
