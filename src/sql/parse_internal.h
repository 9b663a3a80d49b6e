/* What the files of the parser share. Functions that end a production leave the parser behind its last token. */
#ifndef NK_SQL_PARSE_INTERNAL_H
#define NK_SQL_PARSE_INTERNAL_H

#include "sql/lexer.h"
#include "sql/parse.h"

typedef struct nk_sql_parser {
	nk_arena *arena;
	const char *text;
	int64_t n_bytes;
	nk_sql_token *tokens;
	int64_t at;
	int depth; /* of productions within productions */
	nk_error *err;
} nk_sql_parser;

/* A list that grows in the arena. */
typedef struct nk_sql_list {
	void **items;
	int n, capacity;
} nk_sql_list;
NK_MUST_CHECK nk_status nk__sql_push(nk_sql_parser *p, nk_sql_list *list, const void *item);

static inline const nk_sql_token *nk__sql_token(const nk_sql_parser *p) { return &p->tokens[p->at]; }
/* The token after the current one (the end stays the end). */
static inline const nk_sql_token *nk__sql_next(const nk_sql_parser *p)
{
	return &p->tokens[p->tokens[p->at].kind == NK_SQL_TOKEN_END ? p->at : p->at + 1];
}
bool nk__sql_token_is(const nk_sql_parser *p, const nk_sql_token *token, const char *word);
/* Keywords in lower case, or signs. */
bool nk__sql_is(const nk_sql_parser *p, const char *word);
bool nk__sql_is_two(const nk_sql_parser *p, const char *word, const char *next);
bool nk__sql_accept(nk_sql_parser *p, const char *word);
NK_MUST_CHECK nk_status nk__sql_expect(nk_sql_parser *p, const char *word);
/* "expected <what>, found <the token>". */
nk_status nk__sql_expected(nk_sql_parser *p, const char *what);
nk_status nk__sql_parse_fail(nk_sql_parser *p, int64_t at, const char *message);

/* A name: a word that is no reserved keyword, or a quoted one. */
bool nk__sql_at_name(const nk_sql_parser *p);
NK_MUST_CHECK nk_status nk__sql_name(nk_sql_parser *p, const char *what, const char **out);
/* The same, but any keyword will do (after AS or a dot). */
NK_MUST_CHECK nk_status nk__sql_label(nk_sql_parser *p, const char *what, const char **out);
/* A quoted token without its quotes and escapes. */
NK_MUST_CHECK nk_status nk__sql_unquote(nk_sql_parser *p, const nk_sql_token *token, const char **out,
                                        int64_t *n_bytes);
/* (a, b, ...) */
NK_MUST_CHECK nk_status nk__sql_name_list(nk_sql_parser *p, const char ***out, int *n);

/* Enter and leave a production that may contain itself. */
NK_MUST_CHECK nk_status nk__sql_enter(nk_sql_parser *p);
static inline void nk__sql_leave(nk_sql_parser *p) { p->depth--; }

NK_MUST_CHECK nk_status nk__sql_parse_expr(nk_sql_parser *p, nk_sql_expr **out);
NK_MUST_CHECK nk_status nk__sql_parse_exprs(nk_sql_parser *p, nk_sql_expr ***out, int *n);
NK_MUST_CHECK nk_status nk__sql_parse_orders(nk_sql_parser *p, nk_sql_order **out, int *n);
NK_MUST_CHECK nk_status nk__sql_parse_direction(nk_sql_parser *p, nk_sql_order *out);
NK_MUST_CHECK nk_status nk__sql_parse_window(nk_sql_parser *p, nk_sql_window **out);
NK_MUST_CHECK nk_status nk__sql_parse_type(nk_sql_parser *p, const nk_dtype **out);
NK_MUST_CHECK nk_status nk__sql_parse_query(nk_sql_parser *p, nk_sql_query **out);
bool nk__sql_at_query(const nk_sql_parser *p);
/* A star behind its qualifier, with EXCLUDE and the like. */
NK_MUST_CHECK nk_status nk__sql_parse_modifiers(nk_sql_parser *p, nk_sql_expr *star);
NK_MUST_CHECK nk_status nk__sql_parse_from(nk_sql_parser *p, nk_sql_from **out);
NK_MUST_CHECK nk_status nk__sql_node(nk_sql_parser *p, nk_sql_kind kind, int64_t at, int n_args,
                                     nk_sql_expr **out);
/* Sets the depth from the arguments and refuses trees that are too deep. */
NK_MUST_CHECK nk_status nk__sql_close(nk_sql_parser *p, nk_sql_expr *node);

#endif
