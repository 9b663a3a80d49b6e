/* Functions of columns applied within lists: each list is a column of its own. For every row of the registry there is
 * a twin named "each.<name>" that does to the items of lists what the row does to values; list.eval and its like are
 * built of twins, and most functions of the namespace `list` are twins under names of their own. Internal to src/func.
 *
 * Which arguments are lists of values, and which are one value a row, does not follow from dtypes (values may be lists
 * themselves): the option "rows" of a twin is a mask of the former. A twin gives lists, or one value a row when the
 * function aggregates or none of its arguments is a list of values. */
#ifndef NK_FUNC_EACH_H
#define NK_FUNC_EACH_H

#include "func/func.h"

/* Binds bind->func's call as the function `base` within lists; options are base's. rows: the mask. Fails with
 * NK_INVALID_OPERATION when an argument in the mask is no List. */
NK_MUST_CHECK nk_status nk__bind_each(nk_bind *bind, const nk_func *base, uint64_t rows, nk_error *err);
/* The binder of functions named "list.<name of a function of columns>" with one list of values, the first argument. */
nk_bind_function nk__bind_list;
/* The binder of twins. */
nk_bind_function nk__bind_twin;

/* "expected List data type for list operation, got: i64" */
nk_status nk__refuse_list(const nk_bind *bind, int argument, nk_error *err);

#endif
