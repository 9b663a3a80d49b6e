/* The parser's ground: tokens, names, lists, errors. */
#include <string.h>
#include <strings.h>

#include "sql/parse_internal.h"

nk_status nk__sql_push(nk_sql_parser *p, nk_sql_list *list, const void *item)
{
	if (list->n == list->capacity) {
		int larger = list->capacity * 2 + 4;
		void **grown;
		NK_TRY(NK_ARENA_NEW(p->arena, &grown, larger, p->err));
		if (list->n)
			memcpy(grown, list->items, (size_t)list->n * sizeof *grown);
		list->items = grown;
		list->capacity = larger;
	}
	list->items[list->n++] = (void *)item;
	return NK_OK;
}

bool nk__sql_token_is(const nk_sql_parser *p, const nk_sql_token *token, const char *word)
{
	if (token->kind != NK_SQL_TOKEN_WORD && token->kind != NK_SQL_TOKEN_SIGN)
		return false;
	return token->n_bytes == (int64_t)strlen(word) &&
	       strncasecmp(p->text + token->at, word, (size_t)token->n_bytes) == 0;
}

bool nk__sql_is(const nk_sql_parser *p, const char *word)
{
	return nk__sql_token_is(p, nk__sql_token(p), word);
}

bool nk__sql_is_two(const nk_sql_parser *p, const char *word, const char *next)
{
	return nk__sql_is(p, word) && nk__sql_token_is(p, nk__sql_next(p), next);
}

bool nk__sql_accept(nk_sql_parser *p, const char *word)
{
	if (!nk__sql_is(p, word))
		return false;
	p->at++;
	return true;
}

nk_status nk__sql_parse_fail(nk_sql_parser *p, int64_t at, const char *message)
{
	return nk__sql_fail(p->err, NK_SQL_INTERFACE, p->text, p->n_bytes, at, "%s", message);
}

nk_status nk__sql_expected(nk_sql_parser *p, const char *what)
{
	const nk_sql_token *token = nk__sql_token(p);
	if (token->kind == NK_SQL_TOKEN_END)
		return nk__sql_fail(p->err, NK_SQL_INTERFACE, p->text, p->n_bytes, token->at,
		                    "expected %s, found the end of the text", what);
	return nk__sql_fail(p->err, NK_SQL_INTERFACE, p->text, p->n_bytes, token->at, "expected %s, found %.*s",
	                    what, (int)NK_MIN(token->n_bytes, (int64_t)60), p->text + token->at);
}

nk_status nk__sql_expect(nk_sql_parser *p, const char *word)
{
	if (nk__sql_accept(p, word))
		return NK_OK;
	char upper[32];
	size_t n = NK_MIN(strlen(word), sizeof upper - 1);
	for (size_t i = 0; i < n; i++)
		upper[i] = (char)(word[i] >= 'a' && word[i] <= 'z' ? word[i] - 32 : word[i]);
	upper[n] = 0;
	return nk__sql_expected(p, upper);
}

nk_status nk__sql_enter(nk_sql_parser *p)
{
	if (++p->depth > NK_SQL_MAX_DEPTH / 4)
		return nk__sql_parse_fail(p, nk__sql_token(p)->at, "nested too deeply");
	return NK_OK;
}

/* Words that end an expression or begin a clause: no name unless quoted. */
static const char *const reserved[] = {
	"all",   "and",    "anti",   "as",        "asc",   "between", "case",   "cross",  "desc",    "distinct",
	"else",  "end",    "except", "exists",    "false", "fetch",   "from",   "full",   "group",   "having",
	"ilike", "in",     "inner",  "intersect", "into",  "is",      "join",   "limit",  "natural", "not",
	"null",  "offset", "on",     "or",        "order", "qualify", "rlike",  "select", "semi",    "then",
	"true",  "union",  "using",  "values",    "when",  "where",   "window", "with",   "like",    "regexp"};

static bool is_reserved(const nk_sql_parser *p, const nk_sql_token *token)
{
	if (nk__sql_token_is(p, token, "values")) /* a keyword before rows only */
		return nk__sql_token_is(p, token + 1, "(");
	for (int i = 0; i < NK_COUNT(reserved); i++)
		if (nk__sql_token_is(p, token, reserved[i]))
			return true;
	/* LEFT and RIGHT are functions too. */
	return nk__sql_token_is(p, token, "left") || nk__sql_token_is(p, token, "right");
}

bool nk__sql_at_name(const nk_sql_parser *p)
{
	const nk_sql_token *token = nk__sql_token(p);
	return token->kind == NK_SQL_TOKEN_QUOTED || (token->kind == NK_SQL_TOKEN_WORD && !is_reserved(p, token));
}

nk_status nk__sql_unquote(nk_sql_parser *p, const nk_sql_token *token, const char **out, int64_t *n_bytes)
{
	const char *from = p->text + token->at;
	int64_t n = token->n_bytes, n_out = 0;
	bool escapes = token->kind == NK_SQL_TOKEN_ESCAPED;
	if (escapes)
		from++, n--;
	char quote = from[0], *to;
	NK_TRY(nk_arena_alloc(p->arena, n + 1, (void **)&to, p->err));
	for (int64_t i = 1; i < n - 1; i++) {
		char c = from[i];
		if (c == quote) {
			i++;
		} else if (escapes && c == '\\' && i + 1 < n - 1) {
			static const char codes[] = "n\nt\tr\rb\bf\f0\0";
			c = from[++i];
			for (int k = 0; k + 1 < (int)sizeof codes - 1; k += 2)
				if (codes[k] == c) {
					c = codes[k + 1];
					break;
				}
		}
		to[n_out++] = c;
	}
	to[n_out] = 0;
	if (token->kind == NK_SQL_TOKEN_QUOTED && memchr(to, 0, (size_t)n_out))
		return nk__sql_parse_fail(p, token->at, "a name with a zero byte");
	*out = to;
	if (n_bytes)
		*n_bytes = n_out;
	return NK_OK;
}

nk_status nk__sql_label(nk_sql_parser *p, const char *what, const char **out)
{
	const nk_sql_token *token = nk__sql_token(p);
	if (token->kind == NK_SQL_TOKEN_QUOTED || token->kind == NK_SQL_TOKEN_TEXT) {
		p->at++;
		return nk__sql_unquote(p, token, out, NULL);
	}
	if (token->kind != NK_SQL_TOKEN_WORD)
		return nk__sql_expected(p, what);
	p->at++;
	return nk_arena_string(p->arena, p->text + token->at, token->n_bytes, out, p->err);
}

nk_status nk__sql_name(nk_sql_parser *p, const char *what, const char **out)
{
	return nk__sql_at_name(p) ? nk__sql_label(p, what, out) : nk__sql_expected(p, what);
}

nk_status nk__sql_name_list(nk_sql_parser *p, const char ***out, int *n)
{
	nk_sql_list list = {0};
	NK_TRY(nk__sql_expect(p, "("));
	do {
		const char *name;
		NK_TRY(nk__sql_label(p, "a column name", &name));
		NK_TRY(nk__sql_push(p, &list, name));
	} while (nk__sql_accept(p, ","));
	NK_TRY(nk__sql_expect(p, ")"));
	*out = (const char **)list.items;
	*n = list.n;
	return NK_OK;
}

nk_status nk__sql_node(nk_sql_parser *p, nk_sql_kind kind, int64_t at, int n_args, nk_sql_expr **out)
{
	nk_sql_expr *node;
	NK_TRY(NK_ARENA_NEW(p->arena, &node, 1, p->err));
	node->kind = kind;
	node->at = at;
	node->depth = 1;
	node->n_args = n_args;
	if (n_args)
		NK_TRY(NK_ARENA_NEW(p->arena, &node->args, n_args, p->err));
	*out = node;
	return NK_OK;
}

nk_status nk__sql_close(nk_sql_parser *p, nk_sql_expr *node)
{
	int depth = node->filter ? node->filter->depth : 0;
	for (int i = 0; i < node->n_args; i++)
		depth = NK_MAX(depth, node->args[i]->depth);
	for (int i = 0; i < node->n_orders; i++)
		depth = NK_MAX(depth, node->orders[i].expr->depth);
	node->depth = depth + 1;
	return node->depth > NK_SQL_MAX_DEPTH
	           ? nk__sql_parse_fail(p, node->at, "an expression that is nested too deeply")
	           : NK_OK;
}

static nk_status begin(nk_sql_parser *p, nk_sql_tokens *tokens, nk_arena *arena, const char *text,
                       int64_t n_bytes, nk_error *err)
{
	*p = (nk_sql_parser){.arena = arena, .text = text, .n_bytes = n_bytes, .err = err};
	nk_status status = nk_sql_tokenize(nk_arena_memory(arena), text, n_bytes, tokens, err);
	p->tokens = tokens->items;
	return status;
}

/* A clause of a query where an expression should be. */
static nk_status refuse_clause(nk_sql_parser *p)
{
	static const char *const clauses[] = {"select",    "with",  "from",   "where", "group",
	                                      "having",    "order", "limit",  "union", "except",
	                                      "intersect", "into",  "explain"};
	const nk_sql_token *token = nk__sql_token(p);
	for (int i = 0; i < NK_COUNT(clauses); i++)
		if (nk__sql_is(p, clauses[i]))
			return nk__sql_fail(p->err, NK_SQL_INTERFACE, p->text, p->n_bytes, token->at,
			                    "expected an expression (found '%.*s' clause)", (int)token->n_bytes,
			                    p->text + token->at);
	return NK_OK;
}

static nk_status parse_item(nk_sql_parser *p, nk_sql_item *out)
{
	NK_TRY(refuse_clause(p));
	nk_error inner;
	nk_error *err = p->err;
	p->err = &inner;
	nk_status status = nk__sql_parse_expr(p, &out->expr);
	p->err = err;
	if (status != NK_OK)
		return nk_fail(err, status, "unable to parse '%.*s' as Expr: %s",
		               (int)NK_MIN(p->n_bytes, (int64_t)200), p->text, inner.message);
	NK_TRY(refuse_clause(p));
	out->alias = NULL;
	if (nk__sql_accept(p, "as") || nk__sql_at_name(p))
		NK_TRY(nk__sql_label(p, "an alias", &out->alias));
	const nk_sql_token *token = nk__sql_token(p);
	if (token->kind == NK_SQL_TOKEN_END)
		return NK_OK;
	return nk__sql_fail(p->err, NK_SQL_INTERFACE, p->text, p->n_bytes, token->at,
	                    "invalid expression (found unexpected token '%.*s')",
	                    (int)NK_MIN(token->n_bytes, (int64_t)60), p->text + token->at);
}

nk_status nk_sql_parse_item(nk_arena *arena, const char *text, int64_t n_bytes, nk_sql_item *out,
                            nk_error *err)
{
	nk_sql_parser p;
	nk_sql_tokens tokens;
	nk_error inner;
	nk_status status = begin(&p, &tokens, arena, text, n_bytes, &inner);
	p.err = err;
	if (status == NK_OK)
		status = parse_item(&p, out);
	else
		status = nk_fail(err, status, "unable to parse '%.*s' as Expr: %s",
		                 (int)NK_MIN(n_bytes, (int64_t)200), text, inner.message);
	nk_sql_tokens_release(&tokens);
	return status;
}

/* ---- Statements ---- */

static nk_status parse_table_name(nk_sql_parser *p, const char **out)
{
	NK_TRY(nk__sql_name(p, "a table name", out));
	return nk__sql_is(p, ".") ? nk__sql_parse_fail(p, nk__sql_token(p)->at, "table names have one part")
	                          : NK_OK;
}

static nk_status parse_table_names(nk_sql_parser *p, nk_sql_statement *statement)
{
	nk_sql_list names = {0};
	do {
		const char *name;
		NK_TRY(parse_table_name(p, &name));
		NK_TRY(nk__sql_push(p, &names, name));
	} while (nk__sql_accept(p, ","));
	statement->names = (const char **)names.items;
	statement->n_names = names.n;
	return NK_OK;
}

/* SELECT * FROM name, for statements that name a table where a query could stand. */
static nk_status query_of_table(nk_sql_parser *p, int64_t at, const char *name, nk_sql_expr *where,
                                nk_sql_query **out)
{
	nk_sql_query *query;
	nk_sql_from *from;
	NK_TRY(NK_ARENA_NEW(p->arena, &query, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &query->body, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &query->body->select, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &query->body->select->items, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &from, 1, p->err));
	nk_sql_select *select = query->body->select;
	NK_TRY(nk__sql_node(p, NK_SQL_STAR, at, 0, &select->items[0].expr));
	select->n_items = 1;
	select->from = from;
	select->where = where;
	select->at = query->at = query->body->at = from->at = at;
	from->kind = NK_SQL_FROM_TABLE;
	from->name = name;
	*out = query;
	return NK_OK;
}

static nk_status parse_statement(nk_sql_parser *p, nk_sql_statement *s)
{
	s->at = nk__sql_token(p)->at;
	if (nk__sql_accept(p, "explain")) {
		s->kind = NK_SQL_EXPLAIN;
		s->analyze = nk__sql_accept(p, "analyze");
		return nk__sql_parse_query(p, &s->query);
	}
	if (nk__sql_accept(p, "show")) {
		s->kind = NK_SQL_SHOW_TABLES;
		return nk__sql_expect(p, "tables");
	}
	if (nk__sql_accept(p, "describe") || nk__sql_accept(p, "desc")) {
		s->kind = NK_SQL_DESCRIBE;
		if (nk__sql_at_query(p))
			return nk__sql_parse_query(p, &s->query);
		const char *name;
		if (nk__sql_token(p)->kind == NK_SQL_TOKEN_TEXT)
			NK_TRY(nk__sql_label(p, "a table", &name));
		else
			NK_TRY(parse_table_name(p, &name));
		return query_of_table(p, s->at, name, NULL, &s->query);
	}
	if (nk__sql_accept(p, "create")) {
		s->kind = NK_SQL_CREATE_TABLE;
		if (nk__sql_accept(p, "or")) {
			NK_TRY(nk__sql_expect(p, "replace"));
			s->or_replace = true;
		}
		NK_TRY(nk__sql_expect(p, "table"));
		if (nk__sql_accept(p, "if")) {
			NK_TRY(nk__sql_expect(p, "not"));
			NK_TRY(nk__sql_expect(p, "exists"));
			s->if_not_exists = true;
		}
		NK_TRY(NK_ARENA_NEW(p->arena, &s->names, 1, p->err));
		s->n_names = 1;
		NK_TRY(parse_table_name(p, &s->names[0]));
		NK_TRY(nk__sql_expect(p, "as"));
		return nk__sql_parse_query(p, &s->query);
	}
	if (nk__sql_accept(p, "drop")) {
		s->kind = NK_SQL_DROP_TABLE;
		NK_TRY(nk__sql_expect(p, "table"));
		if (nk__sql_accept(p, "if")) {
			NK_TRY(nk__sql_expect(p, "exists"));
			s->if_exists = true;
		}
		return parse_table_names(p, s);
	}
	if (nk__sql_accept(p, "truncate")) {
		s->kind = NK_SQL_TRUNCATE;
		nk__sql_accept(p, "table");
		return parse_table_names(p, s);
	}
	if (nk__sql_accept(p, "delete")) {
		s->kind = NK_SQL_DELETE;
		NK_TRY(nk__sql_expect(p, "from"));
		NK_TRY(NK_ARENA_NEW(p->arena, &s->names, 1, p->err));
		s->n_names = 1;
		NK_TRY(parse_table_name(p, &s->names[0]));
		if (nk__sql_accept(p, "where"))
			NK_TRY(nk__sql_parse_expr(p, &s->where));
		/* The rows that stay are those for which the condition is not true. */
		nk_sql_expr *stays = s->where, *is, *no;
		if (stays) {
			NK_TRY(nk__sql_node(p, NK_SQL_IS, stays->at, 1, &is));
			is->args[0] = stays;
			is->text = "true";
			is->negated = is->is_all = true;
			NK_TRY(nk__sql_close(p, is));
			stays = is;
		} else {
			NK_TRY(nk__sql_node(p, NK_SQL_BOOLEAN, s->at, 0, &no));
			no->negated = true;
			stays = no;
		}
		return query_of_table(p, s->at, s->names[0], stays, &s->query);
	}
	if (!nk__sql_at_query(p))
		return nk__sql_expected(
			p, "a statement (SELECT, WITH, VALUES, FROM, EXPLAIN, SHOW, DESCRIBE, CREATE TABLE, DROP TABLE)");
	s->kind = NK_SQL_QUERY;
	return nk__sql_parse_query(p, &s->query);
}

nk_status nk_sql_parse(nk_arena *arena, const char *text, int64_t n_bytes, nk_sql_statement **out,
                       nk_error *err)
{
	nk_sql_parser p;
	nk_sql_tokens tokens;
	nk_sql_statement *statement = NULL;
	nk_status status = begin(&p, &tokens, arena, text, n_bytes, err);
	if (status == NK_OK)
		status = NK_ARENA_NEW(arena, &statement, 1, err);
	if (status == NK_OK)
		status = parse_statement(&p, statement);
	if (status == NK_OK) {
		nk__sql_accept(&p, ";");
		if (nk__sql_token(&p)->kind != NK_SQL_TOKEN_END)
			status = nk__sql_expected(&p, "the end of the statement");
	}
	nk_sql_tokens_release(&tokens);
	if (status == NK_OK)
		*out = statement;
	return status;
}
