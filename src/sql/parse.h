/* SQL text to a syntax tree. */
#ifndef NK_SQL_PARSE_H
#define NK_SQL_PARSE_H

#include "sql/ast.h"

/* One statement (a closing semicolon may follow). The tree lives in the arena; places in it are bytes of `text`.
 * Fails with NK_SQL_INTERFACE, saying where and what was expected. */
NK_MUST_CHECK nk_status nk_sql_parse(nk_arena *arena, const char *text, int64_t n_bytes,
                                     nk_sql_statement **out, nk_error *err);
/* One expression, maybe with an alias. */
NK_MUST_CHECK nk_status nk_sql_parse_item(nk_arena *arena, const char *text, int64_t n_bytes,
                                          nk_sql_item *out, nk_error *err);

#endif
