/* SQL: text in, plans out. Nothing here reads data or runs a query; schemas of tables are asked for, because names
 * are resolved while planning. Where tables come from is the caller's business. */
#ifndef NK_SQL_SQL_H
#define NK_SQL_SQL_H

#include "plan/plan.h"

/* How names in FROM become plans. Each gives the caller a reference; *out stays NULL when there is no such thing. */
typedef struct nk_sql_resolver {
	void *data;
	nk_status (*table)(void *data, const char *name, nk_plan **out, nk_error *err);
	/* A file in quotes: from 'x.parquet'. */
	nk_status (*file)(void *data, const char *path, nk_plan **out, nk_error *err);
	/* read_parquet('x', ...): constant texts. */
	nk_status (*function)(void *data, const char *name, const char *const *args, int n_args, nk_plan **out,
	                      nk_error *err);
} nk_sql_resolver;

typedef enum nk_sql_action {
	NK_SQL_DO_QUERY,   /* plan */
	NK_SQL_DO_EXPLAIN, /* plan; analyze */
	NK_SQL_DO_SHOW_TABLES,
	NK_SQL_DO_DESCRIBE,     /* plan: of what is described */
	NK_SQL_DO_CREATE_TABLE, /* names[0], plan; if_not_exists, or_replace */
	NK_SQL_DO_DROP_TABLE,   /* names; if_exists */
	NK_SQL_DO_TRUNCATE,     /* names */
} nk_sql_action;

typedef struct nk_sql_outcome {
	nk_sql_action action;
	nk_plan *plan; /* owned by the caller; NULL where the action has none */
	int n_names;
	const char **names; /* in the arena */
	bool if_exists, if_not_exists, or_replace, analyze;
} nk_sql_outcome;

/* Reads one statement. Fails with NK_SQL_INTERFACE or NK_SQL_SYNTAX for the text, with what planning raises for the
 * rest; messages point into the text. */
NK_MUST_CHECK nk_status nk_sql_plan(nk_arena *arena, const char *text, int64_t n_bytes,
                                    const nk_sql_resolver *resolver, nk_sql_outcome *out, nk_error *err);
/* One expression over columns whose schema is not known yet; *out is the caller's. */
NK_MUST_CHECK nk_status nk_sql_expression(nk_arena *arena, const char *text, int64_t n_bytes, nk_expr **out,
                                          nk_error *err);

#endif
