/* Expressions in binary form: a list of distinct nodes, arguments before users, functions by name. The same bytes
 * serve pickling and plans sent to other processes. */
#ifndef NK_EXPR_SERIALISE_H
#define NK_EXPR_SERIALISE_H

#include "base/wire.h"
#include "expr/expr.h"

NK_MUST_CHECK nk_status nk__expr_to_wire(nk_memory *memory, const nk_expr *expr, nk_text *out, nk_error *err);
/* Fails with NK_COMPUTE on damage and on functions or dtypes that this version does not know. */
NK_MUST_CHECK nk_status nk__expr_from_wire(nk_memory *memory, nk_wire *in, nk_expr **out, nk_error *err);

#endif
