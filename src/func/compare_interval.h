/* Decimals against float literals without casting the column: internal to src/func. */
#ifndef NK_FUNC_COMPARE_INTERVAL_H
#define NK_FUNC_COMPARE_INTERVAL_H

#include "compute/compare.h"
#include "func/func.h"

/* Bind `column op literal` when the column is a Decimal and the literal a float: true when it was. */
bool nk__bind_interval(nk_bind *bind, nk_compare_op op, nk_status *status, nk_error *err);
/* The same for x op_low low and x op_high high at once. */
bool nk__bind_interval_between(nk_bind *bind, nk_compare_op op_low, nk_compare_op op_high, nk_status *status,
                               nk_error *err);

#endif
