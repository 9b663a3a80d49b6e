/* Arrow's type tables become the format strings of the C data interface, which columnar/arrow.h turns into dtypes; only
 * what record batches need beside them is decided here. */
#include "io/ipc/fields.h"

#include "columnar/arrow_category.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the union Type. */
enum {
	T_NULL = 1,
	T_INT,
	T_FLOAT,
	T_BINARY,
	T_UTF8,
	T_BOOL,
	T_DECIMAL,
	T_DATE,
	T_TIME,
	T_TIMESTAMP,
	T_INTERVAL,
	T_LIST,
	T_STRUCT,
	T_UNION,
	T_FIXED_BINARY,
	T_FIXED_LIST,
	T_MAP,
	T_DURATION,
	T_LARGE_BINARY,
	T_LARGE_UTF8,
	T_LARGE_LIST,
	T_RUN_END,
	T_BINARY_VIEW,
	T_UTF8_VIEW,
	T_LIST_VIEW,
	T_LARGE_LIST_VIEW,
	T_N
};

static const char *const type_names[T_N] = {
	"none",
	"null",
	"integer",
	"float",
	"binary",
	"utf8",
	"bool",
	"decimal",
	"date",
	"time",
	"timestamp",
	"interval",
	"list",
	"struct",
	"union",
	"binary of fixed size",
	"list of fixed size",
	"map",
	"duration",
	"large binary",
	"large utf8",
	"large list",
	"run-end encoded",
	"binary view",
	"utf8 view",
	"list view",
	"large list view",
};

enum { FORMAT_BYTES = 64 }; /* of the longest format but those with a time zone */

typedef struct parser {
	nk_arena *arena;
	nk_ipc_fields *out;
	int64_t
		n_fields_left; /* a schema of n bytes has no more fields than that, however they refer to each other */
} parser;

static nk_status damaged(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "damaged Arrow metadata: the schema");
}

static nk_status unsupported(int type, const char *what, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "the Arrow type %s%s is not supported",
	               type >= 0 && type < T_N ? type_names[type] : "of an unknown kind", what);
}

/* ---- Types ---- */

static void set_layout(nk_ipc_field *field, nk_ipc_layout layout, int n_bytes_each, int n_bytes_swapped)
{
	field->layout = layout;
	field->n_bytes_each = n_bytes_each;
	field->n_bytes_swapped = n_bytes_swapped;
}

static nk_status read_integer(nk_fb_table type, nk_ipc_field *field, char format[FORMAT_BYTES], nk_error *err)
{
	static const char letters[4][2] = {"Cc", "Ss", "Ii", "Ll"};
	int64_t n_bits = nk__fb_int32(type, 0, 0);
	bool is_signed = nk__fb_int8(type, 1, 0);
	if (n_bits == 128 && is_signed) {
		snprintf(format, FORMAT_BYTES, "_pli128");
	} else if (n_bits == 8 || n_bits == 16 || n_bits == 32 || n_bits == 64) {
		format[0] = letters[__builtin_ctz((unsigned)n_bits) - 3][is_signed];
		format[1] = 0;
	} else {
		return nk_fail(err, NK_INVALID_OPERATION, "%s integers of %lld bits are not supported",
		               is_signed ? "signed" : "unsigned", (long long)n_bits);
	}
	set_layout(field, NK_IPC_FIXED, (int)n_bits / 8, (int)n_bits / 8);
	return NK_OK;
}

static nk_status read_decimal(nk_fb_table type, nk_ipc_field *field, char format[FORMAT_BYTES], nk_error *err)
{
	enum { DIGITS_MAX = 38 };
	int64_t precision = nk__fb_int32(type, 0, 0), scale = nk__fb_int32(type, 1, 0),
			n_bits = nk__fb_int32(type, 2, 128);
	if (precision > DIGITS_MAX)
		return nk_fail(err, NK_INVALID_OPERATION, "decimals of %lld digits are not supported, only up to %d",
		               (long long)precision, DIGITS_MAX);
	if (precision < 1 || scale < 0 || (n_bits != 32 && n_bits != 64 && n_bits != 128 && n_bits != 256))
		return unsupported(T_DECIMAL, " of this precision, scale or width", err);
	snprintf(format, FORMAT_BYTES, "d:%lld,%lld,%lld", (long long)precision, (long long)scale,
	         (long long)n_bits);
	set_layout(field, NK_IPC_FIXED, (int)n_bits / 8, (int)n_bits / 8);
	return NK_OK;
}

/* Letters of the units second, milli-, micro- and nanosecond. */
static bool unit_letter(int64_t unit, char *out)
{
	*out = unit >= 0 && unit <= 3 ? "smun"[unit] : 0;
	return *out;
}

static nk_status read_moment(parser *p, int number, nk_fb_table type, nk_ipc_field *field,
                             char format[FORMAT_BYTES], nk_error *err)
{
	enum { MILLISECOND = 1 };
	char unit;
	int n_bytes = 8;
	if (!unit_letter(nk__fb_int16(type, 0, number == T_TIMESTAMP ? 0 : MILLISECOND), &unit))
		return damaged(err);
	switch (number) {
	case T_DATE: /* days (0) or milliseconds (1) */
		if (unit != 's' && unit != 'm')
			return damaged(err);
		snprintf(format, FORMAT_BYTES, "td%c", unit == 's' ? 'D' : 'm');
		n_bytes = unit == 's' ? 4 : 8;
		break;
	case T_TIME:
		n_bytes = unit == 's' || unit == 'm' ? 4 : 8;
		if (nk__fb_int32(type, 1, 32) != 8 * n_bytes)
			return damaged(err);
		snprintf(format, FORMAT_BYTES, "tt%c", unit);
		break;
	case T_DURATION: snprintf(format, FORMAT_BYTES, "tD%c", unit); break;
	default: {
		const char *zone = nk__fb_string(type, 1);
		char *text;
		int64_t n = (int64_t)(zone ? strlen(zone) : 0) + 5;
		NK_TRY(NK_ARENA_NEW(p->arena, &text, n, err));
		snprintf(text, (size_t)n, "ts%c:%s", unit, zone ? zone : "");
		field->arrow.format = text;
	}
	}
	set_layout(field, NK_IPC_FIXED, n_bytes, n_bytes);
	return NK_OK;
}

/* Type and layout from the union; children are not looked at. */
static nk_status read_type(parser *p, int number, nk_fb_table type, nk_ipc_field *field, nk_error *err)
{
	static const char *const plain[T_N] = {
		[T_NULL] = "n",         [T_BINARY] = "z",
		[T_UTF8] = "u",         [T_BOOL] = "b",
		[T_LIST] = "+l",        [T_STRUCT] = "+s",
		[T_MAP] = "+m",         [T_LARGE_BINARY] = "Z",
		[T_LARGE_UTF8] = "U",   [T_LARGE_LIST] = "+L",
		[T_BINARY_VIEW] = "vz", [T_UTF8_VIEW] = "vu",
		[T_LIST_VIEW] = "+vl",  [T_LARGE_LIST_VIEW] = "+vL",
		[T_RUN_END] = "+r",
	};
	enum { HALF, SINGLE, DOUBLE };
	char format[FORMAT_BYTES] = "";
	int64_t width;
	switch (number) {
	case T_NULL: set_layout(field, NK_IPC_NULL, 0, 0); break;
	case T_INT: NK_TRY(read_integer(type, field, format, err)); break;
	case T_FLOAT: {
		int64_t precision = nk__fb_int16(type, 0, HALF);
		if (precision != SINGLE && precision != DOUBLE)
			return unsupported(T_FLOAT, " of 16 bits", err);
		format[0] = precision == SINGLE ? 'f' : 'g';
		set_layout(field, NK_IPC_FIXED, precision == SINGLE ? 4 : 8, precision == SINGLE ? 4 : 8);
		break;
	}
	case T_BINARY:
	case T_UTF8: set_layout(field, NK_IPC_TEXT, 4, 0); break;
	case T_LARGE_BINARY:
	case T_LARGE_UTF8: set_layout(field, NK_IPC_TEXT, 8, 0); break;
	case T_BINARY_VIEW:
	case T_UTF8_VIEW: set_layout(field, NK_IPC_VIEWS, 16, 0); break;
	case T_BOOL: set_layout(field, NK_IPC_BITS, 0, 0); break;
	case T_DECIMAL: NK_TRY(read_decimal(type, field, format, err)); break;
	case T_DATE:
	case T_TIME:
	case T_TIMESTAMP:
	case T_DURATION: NK_TRY(read_moment(p, number, type, field, format, err)); break;
	case T_LIST:
	case T_MAP: set_layout(field, NK_IPC_OFFSETS, 4, 0); break;
	case T_LARGE_LIST: set_layout(field, NK_IPC_OFFSETS, 8, 0); break;
	case T_LIST_VIEW: set_layout(field, NK_IPC_SPANS, 4, 0); break;
	case T_LARGE_LIST_VIEW: set_layout(field, NK_IPC_SPANS, 8, 0); break;
	case T_STRUCT: set_layout(field, NK_IPC_STRUCT, 0, 0); break;
	case T_RUN_END: set_layout(field, NK_IPC_RUNS, 0, 0); break;
	case T_FIXED_BINARY:
	case T_FIXED_LIST:
		width = nk__fb_int32(type, 0, 0);
		if (width < 0)
			return damaged(err);
		snprintf(format, sizeof format, number == T_FIXED_LIST ? "+w:%lld" : "w:%lld", (long long)width);
		set_layout(field, number == T_FIXED_LIST ? NK_IPC_STRUCT : NK_IPC_FIXED, (int)width, 0);
		break;
	default: return unsupported(number, "", err);
	}
	if (number > 0 && number < T_N && plain[number])
		field->arrow.format = plain[number];
	else if (!field->arrow.format)
		return nk_arena_string(p->arena, format, (int64_t)strlen(format), &field->arrow.format, err);
	return NK_OK;
}

static int n_own_buffers(nk_ipc_layout layout)
{
	switch (layout) {
	case NK_IPC_NULL:
	case NK_IPC_RUNS: return 0;
	case NK_IPC_STRUCT: return 1;
	case NK_IPC_TEXT:
	case NK_IPC_SPANS: return 3;
	default: return 2;
	}
}

static int n_wanted_children(const nk_ipc_field *field)
{
	if (field->layout == NK_IPC_STRUCT)
		return field->arrow.format[1] == 'w' ? 1 : -1;
	return field->layout == NK_IPC_OFFSETS || field->layout == NK_IPC_SPANS ? 1
	       : field->layout == NK_IPC_RUNS                                   ? 2
	                                                                        : 0;
}

/* ---- Fields ---- */

static nk_status read_field(parser *p, nk_fb_table table, int depth, nk_ipc_field *out, nk_error *err);

static nk_status read_children(parser *p, nk_fb_table table, int depth, nk_ipc_field *field, nk_error *err)
{
	nk_fb_vector children = nk__fb_vector(table, 5, 4);
	int n_wanted = n_wanted_children(field);
	if (n_wanted >= 0 && children.n < n_wanted)
		return damaged(err);
	int64_t n = n_wanted >= 0 ? n_wanted : children.n;
	if (n > p->n_fields_left)
		return damaged(err);
	NK_TRY(NK_ARENA_NEW(p->arena, &field->children, NK_MAX(n, 1), err));
	NK_TRY(NK_ARENA_NEW(p->arena, &field->arrow.children, NK_MAX(n, 1), err));
	field->n_children = (int)n;
	field->arrow.n_children = n;
	for (int64_t i = 0; i < n; i++) {
		field->arrow.children[i] = &field->children[i].arrow;
		NK_TRY(read_field(p, nk__fb_table_at(children, i), depth + 1, &field->children[i], err));
	}
	return NK_OK;
}

static void release_schema(void *schema) { ((struct ArrowSchema *)schema)->release(schema); }

/* Which categories a dictionary of text is: told by the field's metadata, which conversions get as well. */
static nk_status read_category(parser *p, nk_fb_table table, nk_ipc_field *out, nk_error *err)
{
	nk_fb_vector pairs = nk__fb_vector(table, 6, 4);
	const nk_dtype *found = NULL;
	for (int64_t i = 0; i < pairs.n && !found; i++) {
		nk_fb_table pair = nk__fb_table_at(pairs, i);
		const char *key = nk__fb_string(pair, 0), *value = nk__fb_string(pair, 1);
		if (key && value)
			found = nk__arrow_category(key, (int64_t)strlen(key), value, (int64_t)strlen(value));
	}
	out->dtype = found ? found : nk_dtype_categorical("", "", NK_PHYSICAL_U32);
	if (!out->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	NK_TEXT(metadata);
	NK_TRY(nk__arrow_category_metadata(out->dtype, &metadata, err));
	return nk_arena_string(p->arena, metadata.bytes, metadata.n_bytes, &out->arrow.metadata, err);
}

/* A dictionary-encoded field: `out` has the type of the values, which moves out of the way of the codes. */
static nk_status make_codes(parser *p, nk_fb_table encoding, nk_ipc_field *out, nk_error *err)
{
	nk_ipc_field *values;
	char format[64] = "i";
	nk_fb_table index = nk__fb_table(encoding, 1);
	NK_TRY(NK_ARENA_NEW(p->arena, &values, 1, err));
	*values = *out;
	*out =
		(nk_ipc_field){.dtype = values->dtype, .values = values, .dictionary = nk__fb_int64(encoding, 0, 0)};
	out->arrow.name = values->arrow.name;
	out->arrow.flags = values->arrow.flags;
	if (index.in)
		NK_TRY(read_integer(index, out, format, err));
	else
		set_layout(out, NK_IPC_FIXED, 4, 4);
	if (out->n_bytes_each > 8)
		return unsupported(T_INT, " as a code of a dictionary", err);
	NK_TRY(nk_arena_string(p->arena, format, (int64_t)strlen(format), &out->arrow.format, err));
	/* entries are handed to conversions as we export them */
	NK_TRY(NK_ARENA_NEW(p->arena, &out->arrow.dictionary, 1, err));
	NK_TRY(nk_dtype_to_arrow(values->dtype, "", out->arrow.dictionary, err));
	p->out->has_dictionaries = true;
	return nk_arena_defer(p->arena, release_schema, out->arrow.dictionary, err);
}

static void count_parts(nk_ipc_field *field)
{
	field->n_nodes = 1;
	field->n_buffers = n_own_buffers(field->layout);
	field->n_variadic = field->layout == NK_IPC_VIEWS;
	for (int i = 0; i < field->n_children; i++) {
		field->n_nodes += field->children[i].n_nodes;
		field->n_buffers += field->children[i].n_buffers;
		field->n_variadic += field->children[i].n_variadic;
	}
}

static nk_status read_field(parser *p, nk_fb_table table, int depth, nk_ipc_field *out, nk_error *err)
{
	if (!table.in || p->n_fields_left-- <= 0)
		return damaged(err);
	if (depth > NK_DTYPE_MAX_DEPTH)
		return nk_fail(err, NK_INVALID_OPERATION, "an Arrow type nested more than %d deep",
		               NK_DTYPE_MAX_DEPTH);
	const char *name = nk__fb_string(table, 0);
	*out = (nk_ipc_field){.arrow.name = "", .arrow.flags = ARROW_FLAG_NULLABLE};
	if (name)
		NK_TRY(nk_arena_string(p->arena, name, (int64_t)strlen(name), &out->arrow.name, err));
	NK_TRY(read_type(p, (int)nk__fb_int8(table, 2, 0), nk__fb_table(table, 3), out, err));
	NK_TRY(read_children(p, table, depth, out, err));
	NK_TRY(nk_dtype_from_arrow(&out->arrow, &out->dtype, err));
	count_parts(out);
	nk_fb_table encoding = nk__fb_table(table, 4);
	if (encoding.in) {
		NK_TRY(make_codes(p, encoding, out, err));
		if (out->dtype->id == NK_TYPE_STRING)
			NK_TRY(read_category(p, table, out, err));
		count_parts(out);
	}
	return table.in->is_bad ? damaged(err) : NK_OK;
}

nk_status nk__ipc_fields_parse(nk_arena *arena, nk_fb_table schema, nk_ipc_fields *out, nk_error *err)
{
	enum { FIELD_BYTES = 8 };
	nk_fb_vector fields = nk__fb_vector(schema, 1, 4);
	if (!schema.in || schema.in->is_bad)
		return damaged(err);
	parser p = {.arena = arena, .out = out, .n_fields_left = schema.in->n_bytes / FIELD_BYTES};
	*out = (nk_ipc_fields){.n_fields = (int)fields.n};
	int64_t order = nk__fb_int16(schema, 0, 0);
	if (fields.n > p.n_fields_left || order < 0 || order > 1)
		return damaged(err);
	out->is_swapped = order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	NK_TRY(NK_ARENA_NEW(arena, &out->fields, NK_MAX(fields.n, 1), err));
	for (int i = 0; i < out->n_fields; i++) {
		nk_status status = read_field(&p, nk__fb_table_at(fields, i), 0, &out->fields[i], err);
		if (status != NK_OK)
			return nk_error_context(err, status, "column '%s'",
			                        out->fields[i].arrow.name ? out->fields[i].arrow.name : "");
	}
	return schema.in->is_bad ? damaged(err) : NK_OK;
}

nk_status nk__ipc_fields_schema(const nk_ipc_fields *fields, nk_schema **out, nk_error *err)
{
	nk_field *all = malloc(((size_t)fields->n_fields + 1) * sizeof *all);
	if (!all)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a schema of %d fields", fields->n_fields);
	for (int i = 0; i < fields->n_fields; i++)
		all[i] = (nk_field){fields->fields[i].arrow.name, fields->fields[i].dtype};
	nk_status status = nk_schema_new(all, fields->n_fields, out, err);
	free(all);
	return status;
}

static const nk_ipc_field *find_dictionary(const nk_ipc_field *field, int64_t id)
{
	if (field->values)
		return field->dictionary == id ? field->values : find_dictionary(field->values, id);
	for (int i = 0; i < field->n_children; i++) {
		const nk_ipc_field *found = find_dictionary(&field->children[i], id);
		if (found)
			return found;
	}
	return NULL;
}

const nk_ipc_field *nk__ipc_fields_dictionary(const nk_ipc_fields *fields, int64_t id)
{
	for (int i = 0; i < fields->n_fields; i++) {
		const nk_ipc_field *found = find_dictionary(&fields->fields[i], id);
		if (found)
			return found;
	}
	return NULL;
}
