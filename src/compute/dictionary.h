/* Dictionaries brought together. */
#ifndef NK_COMPUTE_DICTIONARY_H
#define NK_COMPUTE_DICTIONARY_H

#include "columnar/array.h"

/* All arrays one after another (n >= 1; same dtype), as nk_array_concat does, except that texts which come as codes into
 * dictionaries of few entries stay codes, into one dictionary without duplicates. Never constant. */
NK_MUST_CHECK nk_status nk_concat_coded(nk_memory *memory, nk_array *const *arrays, int n_arrays,
                                        nk_array **out, nk_error *err);

#endif
