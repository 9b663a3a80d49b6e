/* The optimiser: plan to plan, one rule a file, run in the order of the table in optimize.c. The result computes
 * the same rows (in an order that the semantics leave free) from fewer bytes. */
#ifndef NK_OPT_OPTIMIZE_H
#define NK_OPT_OPTIMIZE_H

#include "plan/rel.h"

typedef enum nk_opt_flag {
	NK_OPT_PREDICATE_PUSHDOWN = 1 << 0,
	NK_OPT_PROJECTION_PUSHDOWN = 1 << 1,
	NK_OPT_SLICE_PUSHDOWN = 1 << 2,
	NK_OPT_SIMPLIFY = 1 << 3,
	NK_OPT_COMMON_SUBPLANS = 1 << 4,
	NK_OPT_JOIN_ORDER = 1 << 5,
	NK_OPT_RUNTIME_FILTERS = 1 << 6,
	NK_OPT_ALL = (1 << 7) - 1,
} nk_opt_flag;

/* Replaces query->root. */
NK_MUST_CHECK nk_status nk_optimize(nk_query *query, uint32_t flags, nk_error *err);

#endif
