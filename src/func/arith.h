/* What the files of arithmetic share; internal to src/func. */
#ifndef NK_FUNC_ARITH_H
#define NK_FUNC_ARITH_H

#include "compute/arith.h"
#include "func/func.h"

/* Left in nk_bind.data: which operation, and for temporal results how units relate. */
typedef struct nk_arith_plan {
	nk_arith_op op;
	int64_t units_per_day; /* Date with Duration */
} nk_arith_plan;

/* Binds when either side is temporal. */
NK_MUST_CHECK nk_status nk__bind_temporal_arith(nk_bind *bind, nk_arith_op op, nk_error *err);
NK_MUST_CHECK nk_status nk__arith_plan(nk_bind *bind, nk_arith_op op, nk_arith_plan **out, nk_error *err);
/* Same-type numbers; integer division by zero gives null. */
nk_kernel nk__arith_kernel;

const char *nk__arith_symbol(nk_arith_op op);

static inline nk_shape nk__shape(const nk_array *left, const nk_array *right)
{
	return left->encoding == NK_CONSTANT    ? NK_SCALAR_VECTOR
	       : right->encoding == NK_CONSTANT ? NK_VECTOR_SCALAR
	                                        : NK_VECTOR_VECTOR;
}

#endif
