/* The dtype that two dtypes meet in: concat, when/then, coalesce, fill_null, and what arithmetic and comparison
 * cast their sides to. Untyped literals (bare Python numbers) bend to the other side. */
#ifndef NK_FUNC_SUPERTYPE_H
#define NK_FUNC_SUPERTYPE_H

#include "func/func.h"

/* NULL when there is none. Text wins over numbers; integers with Float32 widen as Polars does. */
const nk_dtype *nk_supertype(const nk_dtype *a, const nk_dtype *b);

/* The same for arguments: an untyped literal takes the other side's dtype where its value fits, else the smallest
 * that holds it. *lossy is set (never cleared) when a cast to the result may lose values that must become null.
 * NULL when there is none. */
const nk_dtype *nk_supertype_of_arguments(const nk_argument *a, const nk_argument *b, bool *lossy);

/* Two arguments that met in a dtype, as one: what a third one meets. */
nk_argument nk_argument_meet(const nk_argument *a, const nk_argument *b, const nk_dtype *dtype);

/* The failure to be reported when there is none. */
nk_status nk_supertype_fail(const nk_dtype *a, const nk_dtype *b, nk_error *err);

/* Dtype that an integer literal takes on its own: Int32, Int64, UInt64, Int128. */
const nk_dtype *nk_dtype_of_integer(__int128 value);
/* Whether an integer lies in the range of an integer dtype. */
bool nk_dtype_holds_integer(const nk_dtype *dtype, __int128 value);

#endif
