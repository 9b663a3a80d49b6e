/* Binding of plans, shared by the files bind*.c of this folder. */
#ifndef NK_PLAN_BIND_INTERNAL_H
#define NK_PLAN_BIND_INTERNAL_H

#include "plan/rel.h"

/* A bound plan node: its relation, and which of its columns users see under which names. */
typedef struct nk_bound_plan {
	nk_rel *rel;
	int n;
	const char **names;
	int *ids;
} nk_bound_plan;

/* Room for n names and ids (rel is left alone). */
NK_MUST_CHECK nk_status nk__scope_new(nk_query *query, int n, nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__check_duplicates(const char *const *names, int n, nk_error *err);
NK_MUST_CHECK nk_status nk__bind_in(nk_query *query, const nk_bound_plan *in, nk_expr *const *exprs, int n,
                                    nk_named **out, int *n_out, nk_error *err);
/* A PROJECT of elementwise expressions, a MAP of any. */
NK_MUST_CHECK nk_status nk__project(nk_query *query, nk_rel *input, const nk_named *exprs, int n,
                                    nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__map(nk_query *query, nk_rel *input, const nk_named *exprs, int n,
                                bool is_with_columns, bool strict, nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__make_elementwise(nk_query *query, const nk_bound_plan *in, nk_named *exprs, int n,
                                             nk_rel **rel, nk_error *err);

NK_MUST_CHECK nk_status nk__bind_join(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs,
                                      nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__bind_explode(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                                         nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__bind_concat(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs,
                                        nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__bind_asof(nk_query *query, const nk_plan *plan, const nk_bound_plan *inputs,
                                      nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__bind_windows(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                                         nk_bound_plan *out, nk_error *err);
NK_MUST_CHECK nk_status nk__bind_foreign(nk_query *query, const nk_plan *plan, const nk_bound_plan *in,
                                         nk_bound_plan *out, nk_error *err);

/* ---- bind_join.c ---- */

NK_MUST_CHECK nk_status nk__unify_keys(nk_query *query, nk_named *left, nk_named *right, nk_error *err);
NK_MUST_CHECK nk_status nk__fresh_ids(nk_query *query, const nk_bound_plan *left, nk_bound_plan *right,
                                      nk_error *err);
NK_MUST_CHECK nk_status nk__suffixed(nk_query *query, const char *const *taken, int n_taken, const char *name,
                                     const char *suffix, const char **out, nk_error *err);

#endif
