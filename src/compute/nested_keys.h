/* Lists and structs as keys: each value becomes bytes that are equal exactly when the values are, so that tables of
 * keys need to know text only. Inside of a value null equals null; a null value stays null. Decoding gives the value
 * back, with one zero and one NaN. */
#ifndef NK_COMPUTE_NESTED_KEYS_H
#define NK_COMPUTE_NESTED_KEYS_H

#include "compute/nested.h"

/* A nested array (any encoding) as Binary, flat. Fails with NK_COMPUTE for a value of more than 2 GiB. */
NK_MUST_CHECK nk_status nk_nested_encode(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err);
/* The inverse: flat Binary to values of a nested dtype. */
NK_MUST_CHECK nk_status nk_nested_decode(nk_memory *memory, const nk_array *bytes, const nk_dtype *dtype,
                                         nk_array **out, nk_error *err);

/* Key columns without nested ones: `arrays` are those given, or with nested ones encoded. */
typedef struct nk_plain_keys {
	nk_array *const *arrays;
	nk_array **owned; /* NULL: nothing was encoded */
	int n;
} nk_plain_keys;

NK_MUST_CHECK nk_status nk_plain_keys_of(nk_memory *memory, nk_array *const *keys, int n_keys,
                                         nk_plain_keys *out, nk_error *err);
void nk_plain_keys_release(nk_plain_keys *keys);
#define NK_PLAIN_KEYS(name) __attribute__((cleanup(nk_plain_keys_release))) nk_plain_keys name = {0}
/* The dtype that a key column of a dtype has then. */
static inline const nk_dtype *nk_plain_key_dtype(const nk_dtype *dtype)
{
	return nk_type_is_nested(dtype->id) ? nk_dtype_of(NK_TYPE_BINARY) : dtype;
}

/* first[j]: whether no earlier item of the same list equals item j. */
NK_MUST_CHECK nk_status nk_items_first(nk_memory *memory, const nk_lists *lists, uint8_t *first,
                                       nk_error *err);

#endif
