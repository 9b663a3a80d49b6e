/* Categoricals and Enums in Arrow schemas: dictionaries of text, whose metadata tells which categories they are, in the
 * form that Polars writes and reads. The metadata is pairs of counted strings; its texts are counted in turn: "1;a2;bc"
 * are the categories of an Enum, "2;nm0;u8;" is a Categorical's name, namespace and codes. Any other dictionary of text is
 * the global Categorical. */
#include "columnar/arrow_category.h"

#include <stdlib.h>
#include <string.h>

static const char enum_key[] = "_PL_ENUM_VALUES2", categorical_key[] = "_PL_CATEGORICAL2";

/* ---- Counted texts ---- */

typedef struct span {
	const char *at, *end;
} span;

/* The next counted text, owned; NULL when there is none or no memory. */
static char *next_text(span *from)
{
	uint64_t n = 0;
	const char *at = from->at;
	while (at < from->end && *at >= '0' && *at <= '9' && n < INT32_MAX)
		n = n * 10 + (uint64_t)(*at++ - '0');
	if (at == from->at || at == from->end || *at != ';' || (uint64_t)(from->end - at - 1) < n)
		return NULL;
	char *text = malloc(n + 1);
	if (!text)
		return NULL;
	memcpy(text, at + 1, n);
	text[n] = 0;
	from->at = at + 1 + n;
	return text;
}

static const nk_dtype *read_enum(span from)
{
	char **texts = NULL;
	int64_t n = 0, capacity = 0;
	const nk_dtype *dtype = NULL;
	while (from.at < from.end) {
		if (n == capacity) {
			capacity = capacity * 2 + 8;
			char **larger = realloc(texts, (size_t)capacity * sizeof *larger);
			if (!larger)
				break;
			texts = larger;
		}
		char *text = next_text(&from);
		if (!text)
			break;
		texts[n++] = text;
	}
	if (from.at == from.end)
		dtype = nk_dtype_enum((const char *const *)texts, n);
	for (int64_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
	return dtype;
}

static const nk_dtype *read_categorical(span from)
{
	char *name = next_text(&from), *space = name ? next_text(&from) : NULL;
	size_t n = (size_t)(from.end - from.at);
	nk_physical physical = n >= 2 && memcmp(from.at, "u8", 2) == 0    ? NK_PHYSICAL_U8
	                       : n >= 3 && memcmp(from.at, "u16", 3) == 0 ? NK_PHYSICAL_U16
	                                                                  : NK_PHYSICAL_U32;
	const nk_dtype *dtype = space ? nk_dtype_categorical(name, space, physical) : NULL;
	free(name);
	free(space);
	return dtype;
}

const nk_dtype *nk__arrow_category(const char *key, int64_t n_key, const char *value, int64_t n_value)
{
	span text = {value, value + n_value};
	if (n_key == sizeof enum_key - 1 && memcmp(key, enum_key, (size_t)n_key) == 0)
		return read_enum(text);
	if (n_key == sizeof categorical_key - 1 && memcmp(key, categorical_key, (size_t)n_key) == 0)
		return read_categorical(text);
	return NULL;
}

const nk_dtype *nk__arrow_category_of(const struct ArrowSchema *schema)
{
	const char *at = schema->metadata;
	const nk_dtype *found = NULL;
	int32_t n_pairs = 0;
	if (at) {
		memcpy(&n_pairs, at, sizeof n_pairs);
		at += sizeof n_pairs;
	}
	for (int32_t i = 0; i < n_pairs && !found; i++) {
		int32_t n_key, n_value;
		memcpy(&n_key, at, sizeof n_key);
		const char *key = at + sizeof n_key;
		if (n_key < 0)
			break;
		memcpy(&n_value, key + n_key, sizeof n_value);
		const char *value = key + n_key + sizeof n_value;
		if (n_value < 0)
			break;
		found = nk__arrow_category(key, n_key, value, n_value);
		at = value + n_value;
	}
	return found ? found : nk_dtype_categorical("", "", NK_PHYSICAL_U32);
}

/* ---- Out ---- */

nk_status nk__arrow_category_note(const nk_dtype *dtype, const char **key, nk_text *value, nk_error *err)
{
	if (dtype->id == NK_TYPE_CATEGORICAL) {
		*key = categorical_key;
		nk_text_format(value, "%zu;%s%zu;%s%s;", strlen(dtype->name), dtype->name, strlen(dtype->space),
		               dtype->space,
		               dtype->physical == NK_PHYSICAL_U8    ? "u8"
		               : dtype->physical == NK_PHYSICAL_U16 ? "u16"
		                                                    : "u32");
		return nk_text_finish(value, err);
	}
	*key = enum_key;
	int64_t n = nk_categories_count(dtype->categories);
	for (int64_t i = 0; i < n; i++) {
		int64_t n_bytes;
		const char *bytes = nk_categories_text(dtype->categories, (uint64_t)i, &n_bytes);
		nk_text_format(value, "%lld;", (long long)n_bytes);
		nk_text_append(value, bytes, n_bytes);
	}
	return nk_text_finish(value, err);
}

nk_status nk__arrow_category_metadata(const nk_dtype *dtype, nk_text *out, nk_error *err)
{
	NK_TEXT(value);
	const char *key;
	NK_TRY(nk__arrow_category_note(dtype, &key, &value, err));
	int32_t numbers[] = {1, (int32_t)strlen(key), (int32_t)value.n_bytes};
	nk_text_append(out, (const char *)&numbers[0], sizeof numbers[0]);
	nk_text_append(out, (const char *)&numbers[1], sizeof numbers[1]);
	nk_text_append_string(out, key);
	nk_text_append(out, (const char *)&numbers[2], sizeof numbers[2]);
	nk_text_append(out, value.bytes, value.n_bytes);
	return nk_text_finish(out, err);
}
