/* The inverse of fields.c for the types that our dtypes are written as. */
#include "io/ipc/schema_write.h"

#include "columnar/arrow_category.h"

/* Numbers of the union Type. */
enum {
	T_NULL = 1,
	T_INT = 2,
	T_FLOAT = 3,
	T_BOOL = 6,
	T_DECIMAL = 7,
	T_DATE = 8,
	T_TIME = 9,
	T_TIMESTAMP = 10,
	T_STRUCT = 13,
	T_FIXED_LIST = 16,
	T_DURATION = 18,
	T_LARGE_BINARY = 19,
	T_LARGE_UTF8 = 20,
	T_LARGE_LIST = 21,
	T_BINARY_VIEW = 23,
	T_UTF8_VIEW = 24,
};

/* What a type's table holds: up to two numbers. */
typedef struct shape {
	int type, n_fields;
	nk_fb_field fields[2];
} shape;

static shape integer(int n_bits, bool is_signed)
{
	return (shape){T_INT, 2, {{0, 4, n_bits}, {1, 1, is_signed}}};
}

typedef struct schema_writer {
	nk_text *out;
	bool uses_views;
	int64_t n_dictionaries; /* met so far: a dictionary's id is its place among all */
} schema_writer;

static shape shape_of(const nk_dtype *dtype, bool uses_views)
{
	enum { SINGLE = 1, DOUBLE = 2, DAY = 0, NANOSECOND = 3 };
	static const int units[] = {[NK_UNIT_MS] = 1, [NK_UNIT_US] = 2, [NK_UNIT_NS] = 3};
	switch (dtype->id) {
	case NK_TYPE_BOOLEAN: return (shape){T_BOOL};
	case NK_TYPE_INT8:
	case NK_TYPE_INT16:
	case NK_TYPE_INT32:
	case NK_TYPE_INT64:
	case NK_TYPE_INT128: return integer(8 * nk_physical_size(dtype->physical), true);
	case NK_TYPE_UINT8:
	case NK_TYPE_UINT16:
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64: return integer(8 * nk_physical_size(dtype->physical), false);
	case NK_TYPE_FLOAT32: return (shape){T_FLOAT, 1, {{0, 2, SINGLE}}};
	case NK_TYPE_FLOAT64: return (shape){T_FLOAT, 1, {{0, 2, DOUBLE}}};
	case NK_TYPE_DECIMAL: return (shape){T_DECIMAL, 2, {{0, 4, dtype->precision}, {1, 4, dtype->scale}}};
	case NK_TYPE_CATEGORICAL:
	case NK_TYPE_ENUM:
	case NK_TYPE_STRING: return (shape){uses_views ? T_UTF8_VIEW : T_LARGE_UTF8};
	case NK_TYPE_BINARY: return (shape){uses_views ? T_BINARY_VIEW : T_LARGE_BINARY};
	case NK_TYPE_DATE: return (shape){T_DATE, 1, {{0, 2, DAY}}};
	case NK_TYPE_TIME: return (shape){T_TIME, 2, {{1, 4, 64}, {0, 2, NANOSECOND}}};
	case NK_TYPE_DATETIME: return (shape){T_TIMESTAMP, 1, {{0, 2, units[dtype->unit]}}};
	case NK_TYPE_DURATION: return (shape){T_DURATION, 1, {{0, 2, units[dtype->unit]}}};
	case NK_TYPE_LIST: return (shape){T_LARGE_LIST};
	case NK_TYPE_ARRAY: return (shape){T_FIXED_LIST, 1, {{0, 4, dtype->width}}};
	case NK_TYPE_STRUCT: return (shape){T_STRUCT};
	default: return (shape){T_NULL};
	}
}

static int64_t put_type(nk_text *out, const nk_dtype *dtype, shape about)
{
	if (!dtype->time_zone)
		return nk__fb_put_table(out, about.fields, about.n_fields);
	nk_fb_field fields[] = {NK_FB_REFERENCE(1), about.fields[0]};
	int64_t type = nk__fb_put_table(out, fields, 2);
	nk__fb_link(out, type, 1, nk__fb_put_string(out, dtype->time_zone));
	return type;
}

/* The codes of a dictionary, and in `about` which categories they stand for. */
static void put_encoding(schema_writer *w, int64_t table, const nk_dtype *dtype)
{
	nk_fb_field fields[] = {
		{0, 8, w->n_dictionaries++}, NK_FB_REFERENCE(1), {2, 1, dtype->id == NK_TYPE_ENUM}};
	shape codes = integer(8 * nk_physical_size(dtype->physical), false);
	int64_t encoding = nk__fb_put_table(w->out, fields, NK_COUNT(fields));
	nk__fb_link(w->out, table, 4, encoding);
	nk__fb_link(w->out, encoding, 1, nk__fb_put_table(w->out, codes.fields, codes.n_fields));
	NK_TEXT(value);
	const char *key;
	if (nk__arrow_category_note(dtype, &key, &value, NULL) != NK_OK)
		return; /* without the note it is the global Categorical */
	nk_fb_field pair[] = {NK_FB_REFERENCE(0), NK_FB_REFERENCE(1)};
	int64_t pairs = nk__fb_put_vector(w->out, 1, 4, 4);
	nk__fb_link(w->out, table, 6, pairs);
	int64_t note = nk__fb_put_table(w->out, pair, NK_COUNT(pair));
	nk__fb_link_item(w->out, pairs, 0, note);
	nk__fb_link(w->out, note, 0, nk__fb_put_string(w->out, key));
	nk__fb_link(w->out, note, 1, nk__fb_put_string(w->out, value.bytes));
}

static int64_t put_field(schema_writer *w, const char *name, const nk_dtype *dtype)
{
	shape about = shape_of(dtype, w->uses_views);
	bool is_encoded = nk_type_is_category(dtype->id);
	nk_fb_field fields[7] = {NK_FB_REFERENCE(0), NK_FB_REFERENCE(3), NK_FB_REFERENCE(5)};
	int n_fields = 3;
	if (is_encoded) {
		fields[n_fields++] = NK_FB_REFERENCE(4);
		fields[n_fields++] = NK_FB_REFERENCE(6);
	}
	fields[n_fields++] = (nk_fb_field){1, 1, true};
	fields[n_fields++] = (nk_fb_field){2, 1, about.type};
	int64_t table = nk__fb_put_table(w->out, fields, n_fields);
	nk__fb_link(w->out, table, 0, nk__fb_put_string(w->out, name));
	nk__fb_link(w->out, table, 3, put_type(w->out, dtype, about));
	if (is_encoded)
		put_encoding(w, table, dtype);
	int64_t children = nk__fb_put_vector(w->out, dtype->n_fields, 4, 4);
	nk__fb_link(w->out, table, 5, children);
	for (int i = 0; i < dtype->n_fields; i++)
		nk__fb_link_item(
			w->out, children, i,
			put_field(w, dtype->fields[i].name ? dtype->fields[i].name : "item", dtype->fields[i].dtype));
	return table;
}

int64_t nk__ipc_put_schema(nk_text *out, const nk_schema *schema, bool uses_views)
{
	nk_fb_field fields[] = {NK_FB_REFERENCE(1), {0, 2, 0}};
	int64_t table = nk__fb_put_table(out, fields, NK_COUNT(fields));
	int64_t all = nk__fb_put_vector(out, schema->n_fields, 4, 4);
	schema_writer w = {.out = out, .uses_views = uses_views};
	nk__fb_link(out, table, 1, all);
	for (int i = 0; i < schema->n_fields; i++)
		nk__fb_link_item(out, all, i, put_field(&w, schema->fields[i].name, schema->fields[i].dtype));
	return table;
}

void nk__ipc_put_schema_message(nk_text *out, const nk_schema *schema, bool uses_views)
{
	nk_fb_field fields[] = {
		{3, 8, 0}, NK_FB_REFERENCE(2), {0, 2, NK_IPC_VERSION}, {1, 1, NK_IPC_HEADER_SCHEMA}};
	nk__fb_begin(out);
	int64_t message = nk__fb_put_table(out, fields, NK_COUNT(fields));
	nk__fb_link(out, message, 2, nk__ipc_put_schema(out, schema, uses_views));
}

static int64_t count_dictionaries(const nk_dtype *dtype, const nk_dtype **out, int64_t n)
{
	if (nk_type_is_category(dtype->id)) {
		if (out)
			out[n] = dtype;
		return n + 1;
	}
	for (int i = 0; i < dtype->n_fields; i++)
		n = count_dictionaries(dtype->fields[i].dtype, out, n);
	return n;
}

int64_t nk__ipc_dictionaries(const nk_schema *schema, const nk_dtype **out)
{
	int64_t n = 0;
	for (int i = 0; i < schema->n_fields; i++)
		n = count_dictionaries(schema->fields[i].dtype, out, n);
	return n;
}
