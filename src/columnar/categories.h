/* The texts behind the codes of a Categorical or an Enum. A dtype holds one of these for ever, so that arrays are
 * plain unsigned integers, equal codes of one dtype mean equal texts, and kernels need not know of it.
 *
 * An Enum's are fixed when the dtype is made; a Categorical's only grow. Codes count from 0 in the order in which
 * texts first came. A text never moves, so readers of codes that they were given take no lock. Thread-safe. */
#ifndef NK_COLUMNAR_CATEGORIES_H
#define NK_COLUMNAR_CATEGORIES_H

#include "columnar/array.h"

/* Codes that mark what is no category. */
enum { NK_CATEGORY_NONE = UINT32_MAX };

/* For dtype.c: made of n texts (Enum; unique) or empty and growing. NULL: out of memory. */
nk_categories *nk_categories_new(nk_physical physical, const char *const *texts, int64_t n);
void nk_categories_free(nk_categories *categories);

int64_t nk_categories_count(const nk_categories *categories);
/* The text of a code below the count; borrowed for ever. "" for any other code. */
const char *nk_categories_text(const nk_categories *categories, uint64_t code, int64_t *n_bytes);
/* The order of the texts of two codes. */
int nk_categories_compare(const nk_categories *categories, uint64_t a, uint64_t b);
/* The code of a text; NK_CATEGORY_NONE when it is no category. */
uint32_t nk_categories_find(nk_categories *categories, const char *bytes, int64_t n_bytes);
/* The same; a growing set adds the text, an Enum answers NK_CATEGORY_NONE. */
NK_MUST_CHECK nk_status nk_categories_add(nk_categories *categories, const char *bytes, int64_t n_bytes,
                                          uint32_t *code, nk_error *err);
/* The codes of n texts (views into heap); those under null are 0. Texts that a growing set lacks are added; an Enum answers
 * NK_CATEGORY_NONE for them. */
NK_MUST_CHECK nk_status nk_categories_encode(nk_categories *categories, const nk_view *views,
                                             const nk_heap *heap, const uint8_t *validity, int64_t n,
                                             uint32_t *codes, nk_error *err);
/* All texts as a flat array of String, by code. Owned by the caller. */
NK_MUST_CHECK nk_status nk_categories_texts(nk_categories *categories, nk_array **out, nk_error *err);

/* Rows of a Categorical or Enum from codes into other entries (flat String): entry by entry, then row by row. Takes over
 * validity (NULL: all valid). Fails with NK_COMPUTE for a text that an Enum lacks. */
NK_MUST_CHECK nk_status nk_categories_recode(nk_memory *memory, const nk_dtype *dtype,
                                             const nk_array *entries, const uint32_t *codes, int64_t n_rows,
                                             nk_buffer *validity, nk_array **out, nk_error *err);

static inline uint64_t nk_category_code(const nk_array *array, int64_t i)
{
	switch (array->physical) {
	case NK_PHYSICAL_U8: return ((const uint8_t *)array->values)[i];
	case NK_PHYSICAL_U16: return ((const uint16_t *)array->values)[i];
	default: return ((const uint32_t *)array->values)[i];
	}
}

#endif
