/* One kernel of an elementwise function on one batch of rows: where validity is combined, for whoever evaluates
 * calls (programs, functions within lists). */
#ifndef NK_FUNC_APPLY_H
#define NK_FUNC_APPLY_H

#include "func/func.h"

/* args: n_args arrays of n_rows rows, flat or constant, at least one flat (or none at all). call->validity is set
 * here. *out has n_rows rows. */
NK_MUST_CHECK nk_status nk_func_apply(nk_call *call, nk_kernel *kernel, nk_array *const *args, int n_args,
                                      int64_t n_rows, nk_array **out, nk_error *err);

#endif
