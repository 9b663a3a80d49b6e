/* Dtypes as the conversions need them: a tree read from the text that nanuk.h uses. Each is read once and kept, as
 * the library keeps its dtypes; a lookup moves the entry to the front, so that a loop over columns finds it at once. */
#include "binding.h"

#include <stdlib.h>

typedef struct entry {
	struct entry *next;
	py_type *type;
} entry;

static entry *entries;
static PyObject *dtype_factory;

static const struct {
	const char *name;
	py_kind kind;
	int n_bits;
	bool is_unsigned;
} plain[] = {
	{"Null", PY_KIND_NULL, 0, false},        {"Boolean", PY_KIND_BOOLEAN, 1, false},
	{"Int8", PY_KIND_INTEGER, 8, false},     {"Int16", PY_KIND_INTEGER, 16, false},
	{"Int32", PY_KIND_INTEGER, 32, false},   {"Int64", PY_KIND_INTEGER, 64, false},
	{"Int128", PY_KIND_INTEGER, 128, false}, {"UInt8", PY_KIND_INTEGER, 8, true},
	{"UInt16", PY_KIND_INTEGER, 16, true},   {"UInt32", PY_KIND_INTEGER, 32, true},
	{"UInt64", PY_KIND_INTEGER, 64, true},   {"Float32", PY_KIND_FLOAT, 32, false},
	{"Float64", PY_KIND_FLOAT, 64, false},   {"String", PY_KIND_STRING, 0, false},
	{"Binary", PY_KIND_BINARY, 0, false},    {"Date", PY_KIND_DATE, 32, false},
	{"Time", PY_KIND_TIME, 64, false},
};

static py_type *new_type(py_kind kind)
{
	py_type *type = calloc(1, sizeof *type);
	if (type)
		type->kind = kind;
	else
		PyErr_NoMemory();
	return type;
}

static py_type *fail(const char *text)
{
	return (py_type *)(void *)PyErr_Format(PyExc_TypeError, "%s is no dtype", text);
}

static bool add_child(py_type *type, const py_type *child, PyObject *name)
{
	size_t n = (size_t)type->n_children + 1;
	const py_type **children = realloc(type->children, n * sizeof *children);
	if (children)
		type->children = children;
	PyObject **names = realloc(type->names, n * sizeof(PyObject *));
	if (names)
		type->names = names;
	if (!children || !names) {
		PyErr_NoMemory();
		return false;
	}
	children[n - 1] = child;
	names[n - 1] = name;
	type->n_children = (int)n;
	return true;
}

static bool read_unit(const char **text, py_type *type)
{
	char letter = **text;
	type->per_second = letter == 'm' ? 1000 : letter == 'u' ? 1000000 : 1000000000;
	*text += 2;
	return (letter == 'm' || letter == 'u' || letter == 'n') && (*text)[-1] == 's';
}

/* Where the text that opens with a quote ends, escapes undone into *out. */
static const char *read_quoted(const char *text, PyObject **out)
{
	size_t n = 0;
	char *name = malloc(strlen(text) + 1);
	if (!name) {
		PyErr_NoMemory();
		return NULL;
	}
	const char *at = text + 1;
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1])
			at++;
		name[n++] = *at;
	}
	*out = PyUnicode_FromStringAndSize(name, (Py_ssize_t)n);
	free(name);
	return *at == '"' && *out ? at + 1 : NULL;
}

/* Behind the parameters of a Categorical or an Enum, which tell how wide codes are. */
static const char *skip_categories(const char *text, py_type *type)
{
	bool is_enum = text[0] == 'E', is_quoted = false;
	const char *at = text + (is_enum ? 5 : 11);
	char close = is_enum ? ']' : ')';
	long n_texts = 0;
	type->n_bits = 32;
	if (!is_enum && *at++ != '(')
		return at - 1;
	for (; *at && (is_quoted || *at != close); at++) {
		if (is_quoted && *at == '\\' && at[1]) {
			at++;
		} else if (*at == '"') {
			is_quoted = !is_quoted;
			n_texts += is_quoted;
		}
	}
	if (is_enum)
		type->n_bits = n_texts < UINT8_MAX ? 8 : n_texts < UINT16_MAX ? 16 : 32;
	else if (at[-1] == '8' || at[-1] == '6')
		type->n_bits = at[-1] == '8' ? 8 : 16;
	return *at ? at + 1 : NULL;
}

static const char *parse(const char *text, py_type **out);

static const char *parse_kind(const char *text, py_type **out)
{
	const char *at = text;
	while (*at && *at != '(' && *at != ')' && *at != ',' && *at != '{' && *at != '}')
		at++;
	size_t n_name = (size_t)(at - text);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strlen(plain[i].name) == n_name && memcmp(plain[i].name, text, n_name) == 0) {
			py_type *type = *out = new_type(plain[i].kind);
			if (!type)
				return NULL;
			type->n_bits = plain[i].n_bits;
			type->is_unsigned = plain[i].is_unsigned;
			type->per_second = type->kind == PY_KIND_TIME ? 1000000000 : 0;
			return at;
		}
	if (strncmp(text, "Datetime(", 9) == 0) {
		py_type *type = *out = new_type(PY_KIND_DATETIME);
		at = text + 9;
		if (!type || !read_unit(&at, type))
			return NULL;
		if (strncmp(at, ", ", 2) == 0) {
			const char *end = strchr(at, ')');
			PyObject *class = py_standard_class(PY_ZONE_INFO);
			PyObject *name = end ? PyUnicode_FromStringAndSize(at + 2, end - at - 2) : NULL;
			type->zone = class && name ? PyObject_CallFunctionObjArgs(class, name, NULL) : NULL;
			Py_XDECREF(name);
			if (!type->zone)
				return NULL;
			at = end;
		}
		return *at == ')' ? at + 1 : NULL;
	}
	if (strncmp(text, "Duration(", 9) == 0) {
		py_type *type = *out = new_type(PY_KIND_DURATION);
		at = text + 9;
		return type && read_unit(&at, type) && *at == ')' ? at + 1 : NULL;
	}
	if (strncmp(text, "Decimal(", 8) == 0) {
		py_type *type = *out = new_type(PY_KIND_DECIMAL);
		char *end;
		if (!type)
			return NULL;
		type->precision = (int)strtol(text + 8, &end, 10);
		type->scale = *end == ',' ? (int)strtol(end + 1, &end, 10) : 0;
		return *end == ')' ? end + 1 : NULL;
	}
	if (strncmp(text, "Categorical", 11) == 0 || strncmp(text, "Enum[", 5) == 0) {
		py_type *type = *out = new_type(PY_KIND_CATEGORY);
		return type ? skip_categories(text, type) : NULL;
	}
	if (strncmp(text, "Array(", 6) == 0) {
		py_type *type = *out = new_type(PY_KIND_LIST), *item = NULL;
		at = type ? parse(text + 6, &item) : NULL;
		if (!at || strncmp(at, ", ", 2) != 0 || !add_child(type, item, NULL))
			return NULL;
		char *end;
		type->width = strtoll(at + 2, &end, 10);
		return *end == ')' ? end + 1 : NULL;
	}
	if (strncmp(text, "List(", 5) == 0) {
		py_type *type = *out = new_type(PY_KIND_LIST), *item = NULL;
		at = type ? parse(text + 5, &item) : NULL;
		if (type)
			type->width = -1;
		return at && *at == ')' && add_child(type, item, NULL) ? at + 1 : NULL;
	}
	if (strncmp(text, "Struct{", 7) == 0) {
		py_type *type = *out = new_type(PY_KIND_STRUCT);
		at = type ? text + 7 : NULL;
		while (at && *at == '"') {
			py_type *field = NULL;
			PyObject *name = NULL;
			at = read_quoted(at, &name);
			at = at && at[0] == ':' && at[1] == ' ' ? parse(at + 2, &field) : NULL;
			if (!at || !add_child(type, field, name))
				return NULL;
			at += *at == ',' ? 2 : 0;
		}
		return at && *at == '}' ? at + 1 : NULL;
	}
	return NULL;
}

/* What follows the dtype that text opens with; *out gets the dtype. NULL with or without an exception. */
static const char *parse(const char *text, py_type **out)
{
	const char *end = parse_kind(text, out);
	char *copy = end ? malloc((size_t)(end - text) + 1) : NULL;
	if (end && !copy)
		PyErr_NoMemory();
	if (!copy)
		return NULL;
	memcpy(copy, text, (size_t)(end - text));
	copy[end - text] = 0;
	(*out)->text = copy;
	return end;
}

const py_type *py_type_get(const char *text)
{
	for (entry **link = &entries; *link; link = &(*link)->next)
		if (strcmp((*link)->type->text, text) == 0) {
			entry *found = *link;
			*link = found->next;
			found->next = entries;
			entries = found;
			return found->type;
		}
	py_type *type = NULL;
	const char *end = parse(text, &type);
	if (!end || *end)
		return PyErr_Occurred() ? NULL : fail(text);
	entry *added = malloc(sizeof *added);
	if (!added)
		return (py_type *)(void *)PyErr_NoMemory();
	*added = (entry){entries, type};
	entries = added;
	return type;
}

bool py_type_holds(const py_type *type, uint64_t low, int64_t high)
{
	if (type->n_bits == 128)
		return true;
	if (type->is_unsigned)
		return high == 0 && (type->n_bits == 64 || low >> type->n_bits == 0);
	int64_t value = (int64_t)low, limit = type->n_bits == 64 ? 0 : INT64_C(1) << (type->n_bits - 1);
	return high == value >> 63 && (type->n_bits == 64 || (value >= -limit && value < limit));
}

PyObject *py_set_dtype_factory(PyObject *module, PyObject *factory)
{
	(void)module;
	Py_INCREF(factory);
	py_replace(&dtype_factory, factory);
	Py_RETURN_NONE;
}

PyObject *py_dtype_object(const char *text)
{
	py_type *type = (py_type *)(uintptr_t)py_type_get(text);
	if (!type)
		return NULL;
	if (!type->dtype && dtype_factory)
		type->dtype = PyObject_CallFunction(dtype_factory, "s", text);
	return type->dtype ? Py_NewRef(type->dtype) : NULL;
}
