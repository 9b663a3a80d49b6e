/* Hashes of key columns, for grouping, joins and sets.
 *
 * Equal values hash alike whatever the encoding, chunk or physical width: integers, temporal types and
 * Decimals hash their 64-bit value (wider ones fold both halves), floats as doubles with one zero and one NaN,
 * text its bytes, nulls NK_HASH_NULL. Booleans hash as 0 and 1. */
#ifndef NK_COMPUTE_HASH_H
#define NK_COMPUTE_HASH_H

#include "columnar/array.h"

/* Write the hash of each row, or with `combine` fold it into what earlier key columns left (nk_hash_combine).
 * Any encoding; nested dtypes too. Fails only for lack of memory (hashes of a dictionary or of list items). */
NK_MUST_CHECK nk_status nk_hash_array(nk_memory *memory, const nk_array *array, int64_t n_rows,
                                      uint64_t *hashes, bool combine, nk_error *err);

#endif
