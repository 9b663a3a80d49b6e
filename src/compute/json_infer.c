/* Dtypes of JSON: Null, Boolean, Int64, Int128, Float64, String, List, Struct. Two rules say what two of them can both be:
 * items of one list coerce, whatever they are; lines unite, and a list or struct refuses what is neither like it nor text. */
#include <string.h>

#include "compute/json.h"

static nk_status no_memory(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype"); }

typedef nk_status (*meet)(nk_arena *arena, const nk_dtype *a, const nk_dtype *b, const nk_dtype **out,
                          nk_error *err);

static nk_status meet_structs(nk_arena *arena, const nk_dtype *a, const nk_dtype *b, meet rule,
                              const nk_dtype **out, nk_error *err)
{
	nk_field *fields;
	int n = a->n_fields;
	NK_TRY(NK_ARENA_NEW(arena, &fields, n + b->n_fields + 1, err));
	for (int i = 0; i < n; i++)
		fields[i] = a->fields[i];
	for (int i = 0; i < b->n_fields; i++) {
		int at = i < a->n_fields && strcmp(fields[i].name, b->fields[i].name) == 0 ? i : 0;
		while (at < n && strcmp(fields[at].name, b->fields[i].name) != 0)
			at++;
		if (at == n)
			fields[n++] = b->fields[i];
		else
			NK_TRY(rule(arena, fields[at].dtype, b->fields[i].dtype, &fields[at].dtype, err));
	}
	*out = nk_dtype_struct(fields, n);
	return *out ? NK_OK : no_memory(err);
}

static nk_status meet_lists(nk_arena *arena, const nk_dtype *a, const nk_dtype *b, meet rule,
                            const nk_dtype **out, nk_error *err)
{
	const nk_dtype *item;
	NK_TRY(rule(arena, a, b, &item, err));
	*out = nk_dtype_list(item);
	return *out ? NK_OK : no_memory(err);
}

nk_status nk_json_coerce(nk_arena *arena, const nk_dtype *a, const nk_dtype *b, const nk_dtype **out,
                         nk_error *err)
{
	bool is_list = a->id == NK_TYPE_LIST || b->id == NK_TYPE_LIST;
	if (a == b || b->id == NK_TYPE_NULL)
		*out = a;
	else if (a->id == NK_TYPE_NULL)
		*out = b;
	else if (a->id == NK_TYPE_STRUCT && b->id == NK_TYPE_STRUCT)
		return meet_structs(arena, a, b, nk_json_coerce, out, err);
	else if (is_list)
		return meet_lists(arena, a->id == NK_TYPE_LIST ? a->fields[0].dtype : a,
		                  b->id == NK_TYPE_LIST ? b->fields[0].dtype : b, nk_json_coerce, out, err);
	else if ((a->id == NK_TYPE_FLOAT64 && b->id == NK_TYPE_INT64) ||
	         (b->id == NK_TYPE_FLOAT64 && a->id == NK_TYPE_INT64))
		*out = nk_dtype_of(NK_TYPE_FLOAT64);
	else if ((a->id == NK_TYPE_BOOLEAN && b->id == NK_TYPE_INT64) ||
	         (b->id == NK_TYPE_BOOLEAN && a->id == NK_TYPE_INT64))
		*out = nk_dtype_of(NK_TYPE_INT64);
	else
		*out = nk_dtype_of(NK_TYPE_STRING);
	return NK_OK;
}

/* A number or truth value is taken for a struct's first field. */
static nk_status meet_first(nk_arena *arena, const nk_dtype *fields, const nk_dtype *scalar,
                            const nk_dtype **out, nk_error *err)
{
	nk_field first = fields->fields[0];
	NK_TRY(nk_json_unite(arena, first.dtype, scalar, &first.dtype, err));
	const nk_dtype *with = nk_dtype_struct(&first, 1);
	return with ? meet_structs(arena, fields, with, nk_json_unite, out, err) : no_memory(err);
}

nk_status nk_json_unite(nk_arena *arena, const nk_dtype *a, const nk_dtype *b, const nk_dtype **out,
                        nk_error *err)
{
	if (a == b || b->id == NK_TYPE_NULL) {
		*out = a;
	} else if (a->id == NK_TYPE_NULL) {
		*out = b;
	} else if (a->id == NK_TYPE_STRUCT && b->id == NK_TYPE_STRUCT) {
		return meet_structs(arena, a, b, nk_json_unite, out, err);
	} else if (a->id == NK_TYPE_LIST && b->id == NK_TYPE_LIST) {
		return meet_lists(arena, a->fields[0].dtype, b->fields[0].dtype, nk_json_unite, out, err);
	} else if (a->id == NK_TYPE_STRING || b->id == NK_TYPE_STRING) {
		*out = nk_dtype_of(NK_TYPE_STRING);
	} else if (a->id == NK_TYPE_STRUCT && a->n_fields > 0 && b->id != NK_TYPE_LIST) {
		return meet_first(arena, a, b, out, err);
	} else if (b->id == NK_TYPE_STRUCT && b->n_fields > 0 && a->id != NK_TYPE_LIST) {
		return meet_first(arena, b, a, out, err);
	} else if (nk_type_is_nested(a->id) || nk_type_is_nested(b->id)) {
		return nk_fail(err, NK_SCHEMA_MISMATCH, "failed to determine supertype of %s and %s",
		               nk_dtype_short_name(a), nk_dtype_short_name(b));
	} else {
		bool has_float = a->id == NK_TYPE_FLOAT64 || b->id == NK_TYPE_FLOAT64;
		bool has_wide = a->id == NK_TYPE_INT128 || b->id == NK_TYPE_INT128;
		*out = nk_dtype_of(has_float ? NK_TYPE_FLOAT64 : has_wide ? NK_TYPE_INT128 : NK_TYPE_INT64);
	}
	return NK_OK;
}

static nk_status infer(nk_arena *arena, nk_json_cursor *cursor, int depth, const nk_dtype **out,
                       nk_error *err);

/* Distinct dtypes are met from left to right: all structs at once, so that their fields do not depend on others. */
static nk_status infer_list(nk_arena *arena, nk_json_cursor *cursor, int depth, const nk_dtype **out,
                            nk_error *err)
{
	const nk_dtype *item = NULL;
	bool more, first = true;
	for (;; first = false) {
		const nk_dtype *dtype;
		NK_TRY(nk_json_next(cursor, ']', first, &more, err));
		if (!more)
			break;
		NK_TRY(infer(arena, cursor, depth + 1, &dtype, err));
		if (!item)
			item = dtype;
		else
			NK_TRY(nk_json_coerce(arena, item, dtype, &item, err));
	}
	*out = nk_dtype_list(item ? item : nk_dtype_of(NK_TYPE_NULL));
	return *out ? NK_OK : no_memory(err);
}

static nk_status infer_struct(nk_arena *arena, nk_json_cursor *cursor, int depth, const nk_dtype **out,
                              nk_error *err)
{
	nk_field *fields = NULL;
	int n = 0, capacity = 0;
	bool more, first = true;
	for (;; first = false) {
		const char *key;
		int64_t n_key;
		NK_TRY(nk_json_next(cursor, '}', first, &more, err));
		if (!more)
			break;
		NK_TRY(nk_json_key(cursor, &key, &n_key, err));
		if (n == capacity) {
			nk_field *larger;
			capacity = 2 * capacity + 8;
			NK_TRY(NK_ARENA_NEW(arena, &larger, capacity, err));
			if (n > 0)
				memcpy(larger, fields, (size_t)n * sizeof *fields);
			fields = larger;
		}
		NK_TRY(nk_arena_string(arena, key, n_key, &fields[n].name, err));
		if (memchr(key, 0, (size_t)n_key))
			return nk_fail(err, NK_COMPUTE, "a key with a NUL byte cannot name a column");
		int at = 0;
		while (strcmp(fields[at].name, fields[n].name) != 0)
			at++;
		NK_TRY(infer(arena, cursor, depth + 1, &fields[at].dtype, err));
		n += at == n;
	}
	*out = nk_dtype_struct(fields, n);
	return *out ? NK_OK : no_memory(err);
}

static nk_status infer(nk_arena *arena, nk_json_cursor *cursor, int depth, const nk_dtype **out,
                       nk_error *err)
{
	nk_json_value value;
	NK_TRY(nk_json_read(cursor, &value, err));
	if (value.kind >= NK_JSON_ARRAY && depth >= NK_DTYPE_MAX_DEPTH)
		return nk_fail(err, NK_COMPUTE, "JSON that nests more than %d deep cannot become columns",
		               NK_DTYPE_MAX_DEPTH);
	switch (value.kind) {
	case NK_JSON_NULL: *out = nk_dtype_of(NK_TYPE_NULL); break;
	case NK_JSON_FALSE:
	case NK_JSON_TRUE: *out = nk_dtype_of(NK_TYPE_BOOLEAN); break;
	case NK_JSON_INTEGER: *out = nk_dtype_of(NK_TYPE_INT64); break;
	case NK_JSON_WIDE: *out = nk_dtype_of(NK_TYPE_INT128); break;
	case NK_JSON_FLOAT: *out = nk_dtype_of(NK_TYPE_FLOAT64); break;
	case NK_JSON_STRING: *out = nk_dtype_of(NK_TYPE_STRING); break;
	case NK_JSON_ARRAY: return infer_list(arena, cursor, depth, out, err);
	default: return infer_struct(arena, cursor, depth, out, err);
	}
	return NK_OK;
}

nk_status nk_json_infer(nk_arena *arena, nk_json_cursor *cursor, const nk_dtype **out, nk_error *err)
{
	return infer(arena, cursor, 1, out, err);
}
