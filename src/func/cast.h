/* Conversion of arrays between dtypes: the kernel behind "cast", for everything that must unify dtypes. */
#ifndef NK_FUNC_CAST_H
#define NK_FUNC_CAST_H

#include "columnar/array.h"

typedef struct nk_cast_mode {
	bool strict; /* a value that does not fit fails with NK_INVALID_OPERATION; else it becomes null */
	bool wraps;  /* integers that do not fit wrap instead, floats saturate */
} nk_cast_mode;

/* Whether values of one dtype can be cast to another at all, and whether no value can fail. */
bool nk_cast_exists(const nk_dtype *from, const nk_dtype *to);
bool nk_cast_is_total(const nk_dtype *from, const nk_dtype *to);

/* All rows in another dtype; nulls stay null. Any encoding; a constant stays one. Fails with NK_INVALID_OPERATION
 * when there is no such cast. */
NK_MUST_CHECK nk_status nk_cast(nk_memory *memory, nk_array *array, const nk_dtype *dtype, nk_cast_mode mode,
                                nk_array **out, nk_error *err);

#endif
