/* Casts between codes and texts. Codes become texts by gathering views from the shared array of categories, so no text
 * is copied; texts are looked up one by one; from one set of categories to another each category is looked up once. */
#include "columnar/categories.h"
#include "func/cast_internal.h"

static void store_code(void *out, nk_physical physical, int64_t row, uint32_t code)
{
	switch (physical) {
	case NK_PHYSICAL_U8: ((uint8_t *)out)[row] = (uint8_t)code; break;
	case NK_PHYSICAL_U16: ((uint16_t *)out)[row] = (uint16_t)code; break;
	default: ((uint32_t *)out)[row] = code; break;
	}
}

static nk_status to_texts(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	NK_AUTO(nk_array) texts = NULL;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_categories_texts(array->dtype->categories, &texts, err));
	NK_TRY(nk_buffer_new(casting->memory, array->n_rows * (int64_t)sizeof(nk_view), &values, err));
	nk_view *to = (nk_view *)(void *)values->bytes;
	const nk_view *from = texts->values;
	for (int64_t i = 0; i < array->n_rows; i++) {
		uint64_t code = nk_category_code(array, i);
		to[i] = (int64_t)code < texts->n_rows ? from[code] : (nk_view){0};
	}
	return nk__casting_finish(casting, NK_PHYSICAL_VIEW, NK_STEAL(values), nk_heap_ref(texts->heap), out,
	                          err);
}

/* Codes (by row, or through `map` by category) to the result's physical type; those that are none have failed. */
static nk_status finish(nk_casting *casting, const uint32_t *codes, bool by_category, nk_array **out,
                        nk_error *err)
{
	const nk_array *array = casting->array;
	nk_physical physical = casting->dtype->physical;
	int64_t n_map = by_category ? nk_categories_count(array->dtype->categories) : 0;
	NK_AUTO(nk_buffer) values = NULL;
	NK_TRY(nk_buffer_new_zeroed(casting->memory, array->n_rows * nk_physical_size(physical), &values, err));
	for (int64_t i = 0; i < array->n_rows; i++) {
		if (!nk__casting_valid(casting, i))
			continue;
		uint64_t at = by_category ? nk_category_code(array, i) : (uint64_t)i;
		uint32_t code = by_category && (int64_t)at >= n_map ? NK_CATEGORY_NONE : codes[at];
		if (code == NK_CATEGORY_NONE)
			NK_TRY(nk__casting_fail(casting, i, err));
		else
			store_code(values->bytes, physical, i, code);
	}
	return nk__casting_finish(casting, physical, NK_STEAL(values), NULL, out, err);
}

nk_status nk__cast_category(nk_casting *casting, nk_array **out, nk_error *err)
{
	const nk_array *array = casting->array;
	nk_categories *to = casting->dtype->categories;
	NK_AUTO(nk_buffer) codes = NULL;
	if (casting->dtype->id == NK_TYPE_STRING)
		return to_texts(casting, out, err);
	if (array->dtype->id == NK_TYPE_STRING) {
		NK_TRY(nk_buffer_new(casting->memory, array->n_rows * (int64_t)sizeof(uint32_t), &codes, err));
		NK_TRY(nk_categories_encode(to, array->values, array->heap, array->validity, array->n_rows,
		                            (uint32_t *)(void *)codes->bytes, err));
		return finish(casting, (const uint32_t *)(const void *)codes->bytes, false, out, err);
	}
	/* A map from category to category; those that no row has must not be added. */
	int64_t n_categories = nk_categories_count(array->dtype->categories);
	NK_TRY(nk_buffer_new(casting->memory, n_categories * (int64_t)sizeof(uint32_t), &codes, err));
	memset(codes->bytes, 0xff, (size_t)n_categories * sizeof(uint32_t));
	uint32_t *map = (uint32_t *)(void *)codes->bytes;
	for (int64_t i = 0; i < array->n_rows; i++) {
		uint64_t code = nk_category_code(array, i);
		if (!nk__casting_valid(casting, i) || (int64_t)code >= n_categories || map[code] != NK_CATEGORY_NONE)
			continue;
		int64_t n_bytes;
		const char *bytes = nk_categories_text(array->dtype->categories, code, &n_bytes);
		NK_TRY(nk_categories_add(to, bytes, n_bytes, &map[code], err));
	}
	return finish(casting, map, true, out, err);
}
