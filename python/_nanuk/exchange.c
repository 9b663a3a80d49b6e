/* Columns and frames to and from other libraries: Arrow PyCapsules move C streams; objects with the buffer protocol
 * (NumPy arrays of plain numbers) are copied in, since their owner may change them; buffers go out shared, through
 * an object that keeps the exported array alive. No other library is imported here. */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>

/* ---- Capsules ---- */

static const char stream_name[] = "arrow_array_stream", schema_name[] = "arrow_schema",
				  array_name[] = "arrow_array";

static void free_stream_capsule(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}

PyObject *py_stream_capsule(struct ArrowArrayStream *stream)
{
	struct ArrowArrayStream *moved = malloc(sizeof *moved);
	PyObject *capsule = moved ? PyCapsule_New(moved, stream_name, free_stream_capsule) : PyErr_NoMemory();
	if (!capsule) {
		stream->release(stream);
		free(moved);
		return NULL;
	}
	*moved = *stream;
	return capsule;
}

/* A stream of one array. */
typedef struct one_array {
	struct ArrowSchema schema;
	struct ArrowArray array;
} one_array;

static int single_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	one_array *single = stream->private_data;
	if (!single->schema.release)
		return EINVAL;
	*out = single->schema;
	single->schema.release = NULL;
	return 0;
}

static int single_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	one_array *single = stream->private_data;
	*out = single->array;
	single->array.release = NULL;
	return 0;
}

static const char *single_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return "the schema was taken before";
}

static void single_release(struct ArrowArrayStream *stream)
{
	one_array *single = stream->private_data;
	if (single->schema.release)
		single->schema.release(&single->schema);
	if (single->array.release)
		single->array.release(&single->array);
	free(single);
	stream->release = NULL;
}

static bool single_stream(struct ArrowSchema *schema, struct ArrowArray *array, struct ArrowArrayStream *out)
{
	one_array *moved = malloc(sizeof *moved);
	if (!moved) {
		PyErr_NoMemory();
		return false;
	}
	moved->schema = *schema;
	moved->array = *array;
	schema->release = NULL;
	array->release = NULL;
	*out = (struct ArrowArrayStream){single_schema, single_next, single_error, single_release, moved};
	return true;
}

bool py_stream_from(PyObject *object, struct ArrowArrayStream *out)
{
	if (PyObject_HasAttrString(object, "__arrow_c_stream__")) {
		PyObject *capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
		struct ArrowArrayStream *stream = capsule ? PyCapsule_GetPointer(capsule, stream_name) : NULL;
		bool good = stream && stream->release;
		if (good) {
			*out = *stream;
			stream->release = NULL;
		} else if (!PyErr_Occurred()) {
			PyErr_SetString(PyExc_ValueError, "the Arrow stream was taken before");
		}
		Py_XDECREF(capsule);
		return good;
	}
	PyObject *pair = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
	if (!pair)
		return false;
	PyObject *first = PyTuple_GetItem(pair, 0), *second = first ? PyTuple_GetItem(pair, 1) : NULL;
	struct ArrowSchema *schema = second ? PyCapsule_GetPointer(first, schema_name) : NULL;
	struct ArrowArray *array = schema ? PyCapsule_GetPointer(second, array_name) : NULL;
	bool good = array && single_stream(schema, array, out);
	Py_DECREF(pair);
	return good;
}

PyObject *py_import_frame(PyObject *module, PyObject *object)
{
	(void)module;
	nk_error err;
	nk_frame *frame = NULL;
	struct ArrowArrayStream stream;
	if (!py_stream_from(object, &stream))
		return NULL;
	/* A stream may be Python code of its own. */
	PyThreadState *thread = PyEval_SaveThread();
	nk_status status = nk_frame_import(&stream, &frame, &err);
	PyEval_RestoreThread(thread);
	return status == NK_OK ? py_wrap_frame(frame) : py_raise(&err);
}

PyObject *py_import_series(PyObject *module, PyObject *object)
{
	(void)module;
	nk_error err;
	nk_series *series = NULL;
	struct ArrowArrayStream stream;
	if (!py_stream_from(object, &stream))
		return NULL;
	PyThreadState *thread = PyEval_SaveThread();
	nk_status status = nk_series_import(&stream, &series, &err);
	PyEval_RestoreThread(thread);
	return status == NK_OK ? py_wrap_series(series) : py_raise(&err);
}

/* Whether an exporter of schemas has columns, rather than being one. */
PyObject *py_is_frame_stream(PyObject *module, PyObject *object)
{
	(void)module;
	PyObject *capsule = PyObject_HasAttrString(object, "__arrow_c_schema__")
	                        ? PyObject_CallMethod(object, "__arrow_c_schema__", NULL)
	                        : NULL;
	struct ArrowSchema *schema = capsule ? PyCapsule_GetPointer(capsule, schema_name) : NULL;
	bool is_frame = !schema || !schema->format || strcmp(schema->format, "+s") == 0;
	Py_XDECREF(capsule);
	PyErr_Clear();
	return PyBool_FromLong(is_frame);
}

/* ---- Buffers in ---- */

typedef struct copy {
	const void *buffers[2];
	void *values;
} copy;

static void release_copied_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_copied_array(struct ArrowArray *array)
{
	copy *copied = array->private_data;
	free(copied->values);
	free(copied);
	array->release = NULL;
}

/* The Arrow format of a buffer's items; NULL when they are no plain native numbers. */
static const char *arrow_format(const Py_buffer *view)
{
	const char *format = view->format ? view->format : "B";
	if (*format == '@' || *format == '=' || *format == '<')
		format++;
	if (format[0] && format[1])
		return NULL;
	switch (format[0]) {
	case '?': return "b";
	case 'f': return "f";
	case 'd': return "g";
	case 'b':
	case 'h':
	case 'i':
	case 'l':
	case 'q': return view->itemsize == 1 ? "c" : view->itemsize == 2 ? "s" : view->itemsize == 4 ? "i" : "l";
	case 'B':
	case 'H':
	case 'I':
	case 'L':
	case 'Q': return view->itemsize == 1 ? "C" : view->itemsize == 2 ? "S" : view->itemsize == 4 ? "I" : "L";
	default: return NULL;
	}
}

static void *copy_values(const Py_buffer *view, bool to_bits)
{
	int64_t n = view->shape ? view->shape[0] : view->len / view->itemsize;
	Py_ssize_t stride = view->strides ? view->strides[0] : view->itemsize;
	size_t n_bytes = to_bits ? ((size_t)n + 7) / 8 : (size_t)n * (size_t)view->itemsize;
	char *values = calloc(1, n_bytes + 64);
	const char *from = view->buf;
	if (!values)
		return NULL;
	if (to_bits)
		for (int64_t i = 0; i < n; i++)
			values[i >> 3] = (char)(values[i >> 3] | (from[i * stride] != 0) << (i & 7));
	else if (stride == view->itemsize)
		memcpy(values, from, n_bytes);
	else
		for (int64_t i = 0; i < n; i++)
			memcpy(values + i * view->itemsize, from + i * stride, (size_t)view->itemsize);
	return values;
}

/* series_from_buffer(name, object): None when the object's items are no plain numbers in one dimension. */
PyObject *py_series_from_buffer(PyObject *module, PyObject *args)
{
	(void)module;
	PyObject *name_object, *object;
	Py_buffer view;
	if (!PyArg_ParseTuple(args, "UO", &name_object, &object))
		return NULL;
	const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
	if (!name)
		return NULL;
	if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
		PyErr_Clear();
		Py_RETURN_NONE;
	}
	const char *format = view.ndim == 1 ? arrow_format(&view) : NULL;
	if (!format) {
		PyBuffer_Release(&view);
		Py_RETURN_NONE;
	}
	copy *buffers = calloc(1, sizeof *buffers);
	if (buffers)
		buffers->values = copy_values(&view, *format == 'b');
	int64_t n = view.shape ? view.shape[0] : view.len / view.itemsize;
	PyBuffer_Release(&view);
	if (!buffers || !buffers->values) {
		free(buffers);
		return PyErr_NoMemory();
	}
	buffers->buffers[1] = buffers->values;
	struct ArrowSchema schema = {.format = format, .name = "", .release = release_copied_schema};
	struct ArrowArray array = {.length = n,
	                           .n_buffers = 2,
	                           .buffers = buffers->buffers,
	                           .release = release_copied_array,
	                           .private_data = buffers};
	struct ArrowArrayStream stream;
	nk_error err;
	nk_series *series = NULL, *named = NULL;
	if (!single_stream(&schema, &array, &stream)) {
		array.release(&array);
		return NULL;
	}
	if (nk_series_import(&stream, &series, &err) != NK_OK)
		return py_raise(&err);
	nk_status status = nk_series_rename(series, name, &named, &err);
	nk_series_unref(series);
	return status == NK_OK ? py_wrap_series(named) : py_raise(&err);
}

/* ---- Buffers out ---- */

/* An exported array, and a view of one of its buffers. */
typedef struct py_buffer {
	PyObject_HEAD PyObject *owner; /* the buffer object that holds the array, or NULL for that one itself */
	struct ArrowArray array;
	const void *start;
	Py_ssize_t n_bytes;
} py_buffer;

static PyTypeObject *buffer_type;

static int buffer_get(PyObject *self, Py_buffer *view, int flags)
{
	py_buffer *buffer = (py_buffer *)self;
	return PyBuffer_FillInfo(view, self, (void *)(uintptr_t)buffer->start, buffer->n_bytes, 1, flags);
}

static void buffer_dealloc(PyObject *self)
{
	py_buffer *buffer = (py_buffer *)self;
	if (buffer->array.release)
		buffer->array.release(&buffer->array);
	Py_XDECREF(buffer->owner);
	py_free_object(self);
}

bool py_buffer_type_init(void)
{
	static PyType_Slot slots[] = {
		{Py_tp_dealloc, buffer_dealloc},
		{Py_bf_getbuffer, buffer_get},
		{0, NULL},
	};
	static PyType_Spec spec = {"nanuk._nanuk.Buffer", sizeof(py_buffer), 0,
	                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
	buffer_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return buffer_type != NULL;
}

static PyObject *view_of(PyObject *owner, const void *start, int64_t n_bytes)
{
	py_buffer *view = (py_buffer *)PyType_GenericAlloc(buffer_type, 0);
	if (!view)
		return NULL;
	static const char nothing;
	view->owner = Py_NewRef(owner);
	view->start = start ? start : &nothing;
	view->n_bytes = start ? (Py_ssize_t)n_bytes : 0;
	return (PyObject *)view;
}

/* (values, validity or None, offset, length) of one array; takes it over. */
static PyObject *describe(struct ArrowArray *array, int n_bits)
{
	py_buffer *owner = (py_buffer *)PyType_GenericAlloc(buffer_type, 0);
	if (!owner) {
		array->release(array);
		return NULL;
	}
	owner->array = *array;
	int64_t n = array->offset + array->length;
	const void *validity = array->null_count != 0 && array->n_buffers > 0 ? array->buffers[0] : NULL;
	PyObject *values =
		view_of((PyObject *)owner, array->n_buffers > 1 ? array->buffers[1] : NULL, (n * n_bits + 7) / 8);
	PyObject *valid = validity ? view_of((PyObject *)owner, validity, (n + 7) / 8) : Py_NewRef(Py_None);
	PyObject *result = values && valid
	                       ? Py_BuildValue("(OOLL)", values, valid, (long long)owner->array.offset,
	                                       (long long)owner->array.length)
	                       : NULL;
	Py_XDECREF(values);
	Py_XDECREF(valid);
	Py_DECREF(owner);
	return result;
}

PyObject *py_series_buffers(PyObject *self, PyObject *unused)
{
	(void)unused;
	nk_error err;
	nk_series *series = ((py_series *)self)->handle;
	struct ArrowArrayStream stream;
	const py_type *type = py_type_get(nk_series_dtype(series));
	if (!type)
		return NULL;
	if (type->n_bits == 0 && type->kind != PY_KIND_DATETIME && type->kind != PY_KIND_DURATION)
		return PyErr_Format(PyExc_TypeError, "the values of a %s column are not one buffer", type->text);
	if (nk_series_export(series, &stream, &err) != NK_OK)
		return py_raise(&err);
	PyObject *chunks = PyList_New(0);
	while (chunks) {
		struct ArrowArray array = {0};
		int code = stream.get_next(&stream, &array);
		if (code != 0) {
			PyErr_SetString(code == ENOMEM ? PyExc_MemoryError : PyExc_RuntimeError,
			                stream.get_last_error(&stream));
			Py_CLEAR(chunks);
		} else if (!array.release) {
			break;
		} else {
			PyObject *chunk = describe(&array, type->n_bits ? type->n_bits : 64);
			if (!chunk || PyList_Append(chunks, chunk) < 0)
				Py_CLEAR(chunks);
			Py_XDECREF(chunk);
		}
	}
	stream.release(&stream);
	return chunks;
}
