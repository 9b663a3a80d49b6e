/* Strings go by length and fields as name and text of the dtype, so that what is read back is checked as what users
 * give. Counts are bounded by the bytes that are left. */
#include "io/option_fields.h"

#include <string.h>

nk_status nk__option_text(nk_arena *arena, const char *text, const char **out, nk_error *err)
{
	*out = NULL;
	return text ? nk_arena_string(arena, text, (int64_t)strlen(text), out, err) : NK_OK;
}

nk_status nk__option_fields(nk_arena *arena, const char *const *names, const char *const *dtypes, int n,
                            const nk_field **out, nk_error *err)
{
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(arena, &fields, NK_MAX(n, 1), err));
	for (int i = 0; i < n; i++) {
		NK_TRY(nk__option_text(arena, names ? names[i] : NULL, &fields[i].name, err));
		NK_TRY(nk_dtype_parse(dtypes[i], &fields[i].dtype, err));
	}
	*out = fields;
	return NK_OK;
}

void nk__option_fields_put(nk_text *out, const nk_field *fields, int n)
{
	nk_wire_put_number(out, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		nk_wire_put_string(out, fields[i].name);
		nk_wire_put_string(out, fields[i].dtype->text);
	}
}

nk_status nk__option_text_take(nk_arena *arena, nk_wire *in, const char *format, bool may_be_null,
                               const char **out, nk_error *err)
{
	const char *text;
	NK_TRY(nk_wire_string(in, &text, err));
	if (!text && !may_be_null)
		return nk_fail(err, NK_COMPUTE, "a serialised %s source is damaged", format);
	return nk__option_text(arena, text, out, err);
}

nk_status nk__option_fields_take(nk_arena *arena, nk_wire *in, const char *format, bool are_named, int *n,
                                 const nk_field **out, nk_error *err)
{
	int64_t count;
	nk_field *fields;
	NK_TRY(nk_wire_items(in, &count, err));
	NK_TRY(NK_ARENA_NEW(arena, &fields, NK_MAX(count, (int64_t)1), err));
	for (int64_t i = 0; i < count; i++) {
		const char *dtype;
		NK_TRY(nk__option_text_take(arena, in, format, !are_named, &fields[i].name, err));
		NK_TRY(nk__option_text_take(arena, in, format, false, &dtype, err));
		NK_TRY(nk_dtype_parse(dtype, &fields[i].dtype, err));
	}
	*n = (int)count;
	*out = fields;
	return NK_OK;
}
