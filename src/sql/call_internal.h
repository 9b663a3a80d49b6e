/* What the files of calls share: scalar functions, aggregates, windows. */
#ifndef NK_SQL_CALL_INTERNAL_H
#define NK_SQL_CALL_INTERNAL_H

#include "base/text.h"
#include "sql/plan_internal.h"

typedef struct nk_sql_call {
	nk_sql_planner *p;
	nk_sql_scope *scope;
	const nk_sql_expr *node;
	nk_expr **args; /* n of them */
	int n;
} nk_sql_call;

NK_MUST_CHECK nk_status nk__sql_constant_text(nk_sql_call *c, int arg, const char **out);
NK_MUST_CHECK nk_status nk__sql_constant_number(nk_sql_call *c, int arg, double *out);
/* A row of the registry by its name, where an underscore may stand for the first dot. */
const nk_func *nk__sql_registry_function(const char *name);
/* The call by the registry's own rules: arguments, then options by name. */
NK_MUST_CHECK nk_status nk__sql_registry_call(nk_sql_call *c, const nk_func *func, nk_expr **out);
NK_MUST_CHECK nk_status nk__sql_aggregate_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                             nk_expr **out);
/* An aggregate over rows that the caller has converted. */
NK_MUST_CHECK nk_status nk__sql_aggregate(nk_sql_call *c, nk_expr **out);

#endif
