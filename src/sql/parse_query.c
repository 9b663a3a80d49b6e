/* Queries: WITH, SELECT in both orders, VALUES, set operations, FROM with joins. */
#include <stdlib.h>
#include <string.h>

#include "sql/parse_internal.h"

/* Whether what follows a parenthesis says that a query was in it, and not a part of an expression or of joins. */
static bool continues_query(const nk_sql_parser *p, const nk_sql_token *token)
{
	static const char *const words[] = {"union",  "except", "intersect", "order", "limit",
	                                    "offset", "fetch",  ")",         ";"};
	for (int i = 0; i < NK_COUNT(words); i++)
		if (nk__sql_token_is(p, token, words[i]))
			return true;
	return token->kind == NK_SQL_TOKEN_END;
}

bool nk__sql_at_query(const nk_sql_parser *p)
{
	int64_t at = p->at;
	while (nk__sql_token_is(p, &p->tokens[at], "("))
		at++;
	static const char *const words[] = {"select", "with", "values", "from"};
	bool found = false;
	for (int i = 0; i < NK_COUNT(words); i++)
		found |= nk__sql_token_is(p, &p->tokens[at], words[i]) &&
		         (i != 2 || nk__sql_token_is(p, &p->tokens[at + 1], "("));
	if (!found || at == p->at)
		return found;
	int64_t open = 1;
	for (at = p->at + 1; open > 0 && p->tokens[at].kind != NK_SQL_TOKEN_END; at++)
		open += nk__sql_token_is(p, &p->tokens[at], "(") - nk__sql_token_is(p, &p->tokens[at], ")");
	return continues_query(p, &p->tokens[at]);
}

/* ---- Stars ---- */

/* x, or (x, y). */
static nk_status parse_excluded(nk_sql_parser *p, nk_sql_modifiers *m)
{
	if (nk__sql_is(p, "("))
		return nk__sql_name_list(p, &m->excluded, &m->n_excluded);
	NK_TRY(NK_ARENA_NEW(p->arena, &m->excluded, 1, p->err));
	m->n_excluded = 1;
	return nk__sql_label(p, "a column name", &m->excluded[0]);
}

static nk_status parse_replaced(nk_sql_parser *p, nk_sql_modifiers *m)
{
	nk_sql_list exprs = {0}, names = {0};
	bool many = nk__sql_accept(p, "(");
	do {
		nk_sql_expr *expr;
		const char *name;
		NK_TRY(nk__sql_parse_expr(p, &expr));
		NK_TRY(nk__sql_expect(p, "as"));
		NK_TRY(nk__sql_label(p, "a column name", &name));
		NK_TRY(nk__sql_push(p, &exprs, expr));
		NK_TRY(nk__sql_push(p, &names, name));
	} while (many && nk__sql_accept(p, ","));
	m->replaced = (nk_sql_expr **)exprs.items;
	m->replaced_names = (const char **)names.items;
	m->n_replaced = exprs.n;
	return many ? nk__sql_expect(p, ")") : NK_OK;
}

static nk_status parse_renamed(nk_sql_parser *p, nk_sql_modifiers *m)
{
	nk_sql_list from = {0}, to = {0};
	bool many = nk__sql_accept(p, "(");
	do {
		const char *name;
		NK_TRY(nk__sql_label(p, "a column name", &name));
		NK_TRY(nk__sql_push(p, &from, name));
		NK_TRY(nk__sql_expect(p, "as"));
		NK_TRY(nk__sql_label(p, "a column name", &name));
		NK_TRY(nk__sql_push(p, &to, name));
	} while (many && nk__sql_accept(p, ","));
	m->renamed = (const char **)from.items;
	m->renamed_to = (const char **)to.items;
	m->n_renamed = from.n;
	return many ? nk__sql_expect(p, ")") : NK_OK;
}

nk_status nk__sql_parse_modifiers(nk_sql_parser *p, nk_sql_expr *star)
{
	nk_sql_modifiers *m;
	NK_TRY(NK_ARENA_NEW(p->arena, &m, 1, p->err));
	star->modifiers = m;
	for (;;) {
		/* EXCEPT is also a set operation: only names may follow here. */
		bool except = nk__sql_is(p, "except") && !nk__sql_token_is(p, nk__sql_next(p), "select") &&
		              !nk__sql_token_is(p, nk__sql_next(p), "all") &&
		              !nk__sql_token_is(p, nk__sql_next(p), "from") &&
		              !nk__sql_token_is(p, nk__sql_next(p), "distinct") &&
		              !nk__sql_token_is(p, nk__sql_next(p), "values");
		if (except && nk__sql_token_is(p, nk__sql_next(p), "(")) {
			p->at++;
			except = !nk__sql_at_query(p);
			p->at--;
		}
		if (nk__sql_accept(p, "exclude") || (except && nk__sql_accept(p, "except"))) {
			NK_TRY(parse_excluded(p, m));
		} else if (nk__sql_is_two(p, "replace", "(") && nk__sql_accept(p, "replace")) {
			NK_TRY(parse_replaced(p, m));
		} else if (nk__sql_accept(p, "rename")) {
			NK_TRY(parse_renamed(p, m));
		} else if (nk__sql_accept(p, "ilike")) {
			const nk_sql_token *token = nk__sql_token(p);
			if (token->kind != NK_SQL_TOKEN_TEXT)
				return nk__sql_expected(p, "a pattern");
			p->at++;
			NK_TRY(nk__sql_unquote(p, token, &m->ilike, NULL));
		} else {
			return NK_OK;
		}
	}
}

/* ---- FROM ---- */

static nk_status parse_alias(nk_sql_parser *p, nk_sql_from *from)
{
	if (nk__sql_accept(p, "as"))
		NK_TRY(nk__sql_label(p, "an alias", &from->alias));
	else if (nk__sql_at_name(p))
		NK_TRY(nk__sql_label(p, "an alias", &from->alias));
	if (from->alias && nk__sql_is(p, "("))
		NK_TRY(nk__sql_name_list(p, &from->columns, &from->n_columns));
	return NK_OK;
}

static nk_status parse_joins(nk_sql_parser *p, nk_sql_from **out);

/* (a JOIN b ...) AS c: as a subquery of all of it. The AS is behind us. */
static nk_status parse_joins_alias(nk_sql_parser *p, nk_sql_from **out)
{
	nk_sql_from *from;
	nk_sql_query *query;
	NK_TRY(NK_ARENA_NEW(p->arena, &from, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &query, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &query->body, 1, p->err));
	NK_TRY(NK_ARENA_NEW(p->arena, &query->body->select, 1, p->err));
	nk_sql_select *select = query->body->select;
	NK_TRY(NK_ARENA_NEW(p->arena, &select->items, 1, p->err));
	NK_TRY(nk__sql_node(p, NK_SQL_STAR, (*out)->at, 0, &select->items[0].expr));
	select->n_items = 1;
	select->from = *out;
	select->at = query->at = query->body->at = from->at = (*out)->at;
	from->depth = (*out)->depth + 1;
	from->kind = NK_SQL_FROM_QUERY;
	from->query = query;
	*out = from;
	NK_TRY(nk__sql_label(p, "an alias", &from->alias));
	return nk__sql_is(p, "(") ? nk__sql_name_list(p, &from->columns, &from->n_columns) : NK_OK;
}

static nk_status parse_from_item(nk_sql_parser *p, nk_sql_from **out)
{
	const nk_sql_token *token = nk__sql_token(p);
	nk_sql_from *from;
	NK_TRY(NK_ARENA_NEW(p->arena, &from, 1, p->err));
	from->at = token->at;
	from->depth = 1;
	*out = from;
	if (nk__sql_is(p, "lateral"))
		return nk__sql_parse_fail(p, token->at, "LATERAL is not supported");
	if (nk__sql_accept(p, "(")) {
		if (!nk__sql_at_query(p)) {
			NK_TRY(parse_joins(p, out));
			NK_TRY(nk__sql_expect(p, ")"));
			return nk__sql_accept(p, "as") || nk__sql_at_name(p) ? parse_joins_alias(p, out) : NK_OK;
		}
		from->kind = NK_SQL_FROM_QUERY;
		NK_TRY(nk__sql_parse_query(p, &from->query));
		NK_TRY(nk__sql_expect(p, ")"));
		return parse_alias(p, from);
	}
	if (token->kind == NK_SQL_TOKEN_TEXT) {
		p->at++;
		from->kind = NK_SQL_FROM_FILE;
		NK_TRY(nk__sql_unquote(p, token, &from->name, NULL));
		return parse_alias(p, from);
	}
	/* LEFT and RIGHT name tables where no join can begin. */
	bool is_side = nk__sql_is(p, "left") || nk__sql_is(p, "right");
	if (is_side)
		NK_TRY(nk__sql_label(p, "a table", &from->name));
	else
		NK_TRY(nk__sql_name(p, "a table, a file's path in quotes, or a subquery", &from->name));
	if (nk__sql_accept(p, "(")) {
		from->kind = NK_SQL_FROM_FUNCTION;
		if (!nk__sql_is(p, ")"))
			NK_TRY(nk__sql_parse_exprs(p, &from->args, &from->n_args));
		NK_TRY(nk__sql_expect(p, ")"));
		return parse_alias(p, from);
	}
	from->kind = NK_SQL_FROM_TABLE;
	if (nk__sql_is(p, "."))
		return nk__sql_parse_fail(p, nk__sql_token(p)->at, "table names have one part");
	NK_TRY(parse_alias(p, from));
	return nk__sql_is(p, "tablesample")
	           ? nk__sql_parse_fail(p, nk__sql_token(p)->at, "TABLESAMPLE is not supported")
	           : NK_OK;
}

/* [NATURAL] kind JOIN; *found false when there is none. */
static nk_status parse_join_kind(nk_sql_parser *p, nk_sql_from *join, bool *found)
{
	int64_t start = p->at;
	join->natural = nk__sql_accept(p, "natural");
	*found = true;
	if (nk__sql_accept(p, "cross")) {
		join->join = NK_SQL_CROSS;
	} else if (nk__sql_accept(p, "inner")) {
		join->join = NK_SQL_INNER;
	} else if (nk__sql_accept(p, "full")) {
		nk__sql_accept(p, "outer");
		join->join = NK_SQL_FULL;
	} else if (nk__sql_is(p, "left") || nk__sql_is(p, "right")) {
		bool right = nk__sql_is(p, "right");
		p->at++;
		join->flipped = right;
		if (nk__sql_accept(p, "semi")) {
			join->join = NK_SQL_SEMI;
		} else if (nk__sql_accept(p, "anti")) {
			join->join = NK_SQL_ANTI;
		} else {
			nk__sql_accept(p, "outer");
			join->join = right ? NK_SQL_RIGHT : NK_SQL_LEFT;
			join->flipped = false;
		}
	} else if (nk__sql_accept(p, "semi")) {
		join->join = NK_SQL_SEMI;
	} else if (nk__sql_accept(p, "anti")) {
		join->join = NK_SQL_ANTI;
	} else if (!nk__sql_is(p, "join")) {
		if (join->natural)
			return nk__sql_expected(p, "JOIN");
		p->at = start;
		*found = false;
		return NK_OK;
	}
	return nk__sql_expect(p, "join");
}

static nk_status set_from_depth(nk_sql_parser *p, nk_sql_from *join)
{
	join->depth = NK_MAX(join->left->depth, join->right->depth) + 1;
	return join->depth > NK_SQL_MAX_DEPTH ? nk__sql_parse_fail(p, join->at, "too many joins") : NK_OK;
}

static nk_status parse_join_list(nk_sql_parser *p, nk_sql_from **out)
{
	NK_TRY(parse_from_item(p, out));
	for (;;) {
		nk_sql_from *join;
		bool found;
		NK_TRY(NK_ARENA_NEW(p->arena, &join, 1, p->err));
		join->kind = NK_SQL_FROM_JOIN;
		join->at = nk__sql_token(p)->at;
		NK_TRY(parse_join_kind(p, join, &found));
		if (!found)
			return NK_OK;
		join->left = *out;
		NK_TRY(parse_from_item(p, &join->right));
		if (join->join != NK_SQL_CROSS && !join->natural) {
			if (nk__sql_accept(p, "using"))
				NK_TRY(nk__sql_name_list(p, &join->using, &join->n_using));
			else if (nk__sql_accept(p, "on"))
				NK_TRY(nk__sql_parse_expr(p, &join->on));
			else
				return nk__sql_expected(p, "ON or USING");
		}
		NK_TRY(set_from_depth(p, join));
		*out = join;
	}
}

static nk_status parse_joins(nk_sql_parser *p, nk_sql_from **out)
{
	NK_TRY(nk__sql_enter(p));
	nk_status status = parse_join_list(p, out);
	nk__sql_leave(p);
	return status;
}

nk_status nk__sql_parse_from(nk_sql_parser *p, nk_sql_from **out)
{
	NK_TRY(parse_joins(p, out));
	while (nk__sql_is(p, ",")) {
		nk_sql_from *join;
		NK_TRY(NK_ARENA_NEW(p->arena, &join, 1, p->err));
		join->kind = NK_SQL_FROM_JOIN;
		join->join = NK_SQL_CROSS;
		join->at = nk__sql_token(p)->at;
		p->at++;
		join->left = *out;
		NK_TRY(parse_joins(p, &join->right));
		NK_TRY(set_from_depth(p, join));
		*out = join;
	}
	return NK_OK;
}

/* ---- SELECT ---- */

static nk_status parse_items(nk_sql_parser *p, nk_sql_select *select)
{
	nk_sql_list list = {0};
	do {
		if (list.n && (nk__sql_is(p, "from") || nk__sql_token(p)->kind == NK_SQL_TOKEN_END))
			break; /* a comma too many before FROM */
		nk_sql_item *item;
		NK_TRY(NK_ARENA_NEW(p->arena, &item, 1, p->err));
		NK_TRY(nk__sql_parse_expr(p, &item->expr));
		if (nk__sql_accept(p, "as") || nk__sql_at_name(p))
			NK_TRY(nk__sql_label(p, "an alias", &item->alias));
		NK_TRY(nk__sql_push(p, &list, item));
	} while (nk__sql_accept(p, ","));
	NK_TRY(NK_ARENA_NEW(p->arena, &select->items, list.n, p->err));
	for (int i = 0; i < list.n; i++)
		select->items[i] = *(nk_sql_item *)list.items[i];
	select->n_items = list.n;
	return NK_OK;
}

static nk_status parse_select_list(nk_sql_parser *p, nk_sql_select *select)
{
	NK_TRY(nk__sql_expect(p, "select"));
	if (nk__sql_accept(p, "distinct")) {
		select->distinct = true;
		if (nk__sql_accept(p, "on")) {
			NK_TRY(nk__sql_expect(p, "("));
			NK_TRY(nk__sql_parse_exprs(p, &select->distinct_on, &select->n_distinct_on));
			NK_TRY(nk__sql_expect(p, ")"));
		}
	} else {
		nk__sql_accept(p, "all");
	}
	return parse_items(p, select);
}

/* A position in the list of grouping expressions; equal names of columns are one. */
static nk_status group_of(nk_sql_parser *p, nk_sql_list *groups, nk_sql_expr *expr, int *out)
{
	for (int i = 0; i < groups->n && expr->kind == NK_SQL_NAME && expr->n_names == 1; i++) {
		nk_sql_expr *known = groups->items[i];
		if (known->kind == NK_SQL_NAME && known->n_names == 1 &&
		    strcmp(known->names[0], expr->names[0]) == 0) {
			*out = i;
			return NK_OK;
		}
	}
	*out = groups->n;
	return groups->n < 64 ? nk__sql_push(p, groups, expr)
	                      : nk__sql_parse_fail(p, expr->at, "too many grouping expressions");
}

static nk_status push_set(nk_sql_parser *p, nk_sql_list *sets, uint64_t set)
{
	uint64_t *kept;
	if (sets->n >= 4096)
		return nk__sql_parse_fail(p, nk__sql_token(p)->at, "too many grouping sets");
	NK_TRY(NK_ARENA_NEW(p->arena, &kept, 1, p->err));
	*kept = set;
	return nk__sql_push(p, sets, kept);
}

/* (a, b), a, or (): the set of them. */
static nk_status parse_set(nk_sql_parser *p, nk_sql_list *groups, uint64_t *out)
{
	bool many = nk__sql_accept(p, "(");
	*out = 0;
	if (many && nk__sql_accept(p, ")"))
		return NK_OK;
	do {
		nk_sql_expr *expr;
		int at;
		NK_TRY(nk__sql_parse_expr(p, &expr));
		NK_TRY(group_of(p, groups, expr, &at));
		*out |= (uint64_t)1 << at;
	} while (many && nk__sql_accept(p, ","));
	return many ? nk__sql_expect(p, ")") : NK_OK;
}

/* GROUP BY: plain expressions, ROLLUP, CUBE, GROUPING SETS; several of them multiply. */
static nk_status parse_groups(nk_sql_parser *p, nk_sql_select *select)
{
	select->has_group = true;
	if (nk__sql_accept(p, "all")) {
		select->group_all = true;
		return NK_OK;
	}
	nk_sql_list groups = {0}, sets = {0};
	bool has_sets = false;
	NK_TRY(push_set(p, &sets, 0));
	do {
		nk_sql_list some = {0};
		bool rollup = nk__sql_is_two(p, "rollup", "("), cube = nk__sql_is_two(p, "cube", "(");
		if (rollup || cube) {
			p->at += 2;
			uint64_t parts[12];
			int n = 0;
			do {
				if (n == NK_COUNT(parts))
					return nk__sql_expected(p, "at most 12 parts");
				NK_TRY(parse_set(p, &groups, &parts[n++]));
			} while (nk__sql_accept(p, ","));
			NK_TRY(nk__sql_expect(p, ")"));
			for (int i = 0; i < (rollup ? n + 1 : 1 << n); i++) {
				uint64_t set = 0;
				for (int k = 0; k < n; k++)
					if (rollup ? k < n - i : !(i >> k & 1))
						set |= parts[k];
				NK_TRY(push_set(p, &some, set));
			}
			has_sets = true;
		} else if (nk__sql_is_two(p, "grouping", "sets")) {
			p->at += 2;
			NK_TRY(nk__sql_expect(p, "("));
			do {
				uint64_t set;
				NK_TRY(parse_set(p, &groups, &set));
				NK_TRY(push_set(p, &some, set));
			} while (nk__sql_accept(p, ","));
			NK_TRY(nk__sql_expect(p, ")"));
			has_sets = true;
		} else {
			nk_sql_expr *expr;
			int at;
			NK_TRY(nk__sql_parse_expr(p, &expr));
			int n_parts = expr->kind == NK_SQL_TUPLE ? expr->n_args : 1;
			uint64_t set = 0;
			for (int i = 0; i < n_parts; i++) {
				NK_TRY(group_of(p, &groups, expr->kind == NK_SQL_TUPLE ? expr->args[i] : expr, &at));
				set |= (uint64_t)1 << at;
			}
			NK_TRY(push_set(p, &some, set));
		}
		nk_sql_list product = {0};
		for (int i = 0; i < sets.n; i++)
			for (int k = 0; k < some.n; k++)
				NK_TRY(push_set(p, &product, *(uint64_t *)sets.items[i] | *(uint64_t *)some.items[k]));
		sets = product;
	} while (nk__sql_accept(p, ","));
	select->groups = (nk_sql_expr **)groups.items;
	select->n_groups = groups.n;
	if (!has_sets)
		return NK_OK;
	NK_TRY(NK_ARENA_NEW(p->arena, &select->sets, sets.n, p->err));
	for (int i = 0; i < sets.n; i++)
		select->sets[i] = *(uint64_t *)sets.items[i];
	select->n_sets = sets.n;
	return NK_OK;
}

static nk_status parse_windows(nk_sql_parser *p, nk_sql_select *select)
{
	nk_sql_list names = {0}, windows = {0};
	do {
		const char *name;
		nk_sql_window *window;
		NK_TRY(nk__sql_name(p, "a window's name", &name));
		NK_TRY(nk__sql_expect(p, "as"));
		NK_TRY(nk__sql_parse_window(p, &window));
		NK_TRY(nk__sql_push(p, &names, name));
		NK_TRY(nk__sql_push(p, &windows, window));
	} while (nk__sql_accept(p, ","));
	select->windows = (nk_sql_window **)windows.items;
	select->window_names = (const char **)names.items;
	select->n_windows = windows.n;
	return NK_OK;
}

static nk_status parse_select(nk_sql_parser *p, nk_sql_select *select)
{
	select->at = nk__sql_token(p)->at;
	bool from_first = nk__sql_accept(p, "from");
	if (from_first) {
		NK_TRY(nk__sql_parse_from(p, &select->from));
		if (nk__sql_is(p, "select")) {
			NK_TRY(parse_select_list(p, select));
		} else { /* FROM t alone: all of it */
			NK_TRY(NK_ARENA_NEW(p->arena, &select->items, 1, p->err));
			NK_TRY(nk__sql_node(p, NK_SQL_STAR, select->at, 0, &select->items[0].expr));
			select->n_items = 1;
		}
	} else {
		NK_TRY(parse_select_list(p, select));
		if (nk__sql_accept(p, "from"))
			NK_TRY(nk__sql_parse_from(p, &select->from));
	}
	if (nk__sql_accept(p, "where"))
		NK_TRY(nk__sql_parse_expr(p, &select->where));
	if (nk__sql_is_two(p, "group", "by")) {
		p->at += 2;
		NK_TRY(parse_groups(p, select));
	}
	if (nk__sql_accept(p, "having"))
		NK_TRY(nk__sql_parse_expr(p, &select->having));
	if (nk__sql_accept(p, "window"))
		NK_TRY(parse_windows(p, select));
	if (nk__sql_accept(p, "qualify"))
		NK_TRY(nk__sql_parse_expr(p, &select->qualify));
	return NK_OK;
}

/* ---- Bodies and queries ---- */

static nk_status parse_values(nk_sql_parser *p, nk_sql_body *body)
{
	nk_sql_list values = {0};
	do {
		int n = 0;
		int64_t at = nk__sql_token(p)->at;
		NK_TRY(nk__sql_expect(p, "("));
		do {
			nk_sql_expr *value;
			NK_TRY(nk__sql_parse_expr(p, &value));
			NK_TRY(nk__sql_push(p, &values, value));
			n++;
		} while (nk__sql_accept(p, ","));
		NK_TRY(nk__sql_expect(p, ")"));
		if (body->n_rows && n != body->n_columns)
			return nk__sql_parse_fail(p, at, "rows of VALUES differ in length");
		body->n_columns = n;
		body->n_rows++;
	} while (nk__sql_accept(p, ","));
	body->values = (nk_sql_expr **)values.items;
	return NK_OK;
}

static nk_status parse_term(nk_sql_parser *p, nk_sql_body **out)
{
	nk_sql_body *body;
	NK_TRY(NK_ARENA_NEW(p->arena, &body, 1, p->err));
	body->at = nk__sql_token(p)->at;
	body->depth = 1;
	*out = body;
	if (nk__sql_accept(p, "(")) {
		body->kind = NK_SQL_BODY_QUERY;
		NK_TRY(nk__sql_parse_query(p, &body->query));
		return nk__sql_expect(p, ")");
	}
	if (nk__sql_accept(p, "values")) {
		body->kind = NK_SQL_BODY_VALUES;
		return parse_values(p, body);
	}
	bool is_table = nk__sql_is(p, "table") && (nk__sql_next(p)->kind == NK_SQL_TOKEN_WORD ||
	                                           nk__sql_next(p)->kind == NK_SQL_TOKEN_QUOTED);
	if (is_table) { /* TABLE t: all of it */
		p->at++;
		body->kind = NK_SQL_BODY_SELECT;
		NK_TRY(NK_ARENA_NEW(p->arena, &body->select, 1, p->err));
		body->select->at = body->at;
		NK_TRY(NK_ARENA_NEW(p->arena, &body->select->items, 1, p->err));
		NK_TRY(nk__sql_node(p, NK_SQL_STAR, body->at, 0, &body->select->items[0].expr));
		body->select->n_items = 1;
		return parse_from_item(p, &body->select->from);
	}
	if (!nk__sql_is(p, "select") && !nk__sql_is(p, "from"))
		return nk__sql_expected(p, "SELECT");
	body->kind = NK_SQL_BODY_SELECT;
	NK_TRY(NK_ARENA_NEW(p->arena, &body->select, 1, p->err));
	return parse_select(p, body->select);
}

/* INTERSECT binds more tightly than UNION and EXCEPT. */
static nk_status parse_body(nk_sql_parser *p, bool intersections, nk_sql_body **out)
{
	NK_TRY(intersections ? parse_term(p, out) : parse_body(p, true, out));
	for (;;) {
		nk_sql_set set = nk__sql_is(p, "union")    ? NK_SQL_UNION
		                 : nk__sql_is(p, "except") ? NK_SQL_EXCEPT
		                                           : NK_SQL_INTERSECT;
		if (set == NK_SQL_INTERSECT ? !intersections || !nk__sql_is(p, "intersect") : intersections)
			return NK_OK;
		nk_sql_body *body;
		NK_TRY(NK_ARENA_NEW(p->arena, &body, 1, p->err));
		body->kind = NK_SQL_BODY_SET;
		body->at = nk__sql_token(p)->at;
		body->set = set;
		body->left = *out;
		p->at++;
		body->all = nk__sql_accept(p, "all");
		if (!body->all)
			nk__sql_accept(p, "distinct");
		if (nk__sql_is_two(p, "by", "name")) {
			p->at += 2;
			body->by_name = true;
		}
		NK_TRY(intersections ? parse_term(p, &body->right) : parse_body(p, true, &body->right));
		body->depth = NK_MAX(body->left->depth, body->right->depth) + 1;
		if (body->depth > NK_SQL_MAX_DEPTH)
			return nk__sql_parse_fail(p, body->at, "too many set operations");
		*out = body;
	}
}

static nk_status parse_ctes(nk_sql_parser *p, nk_sql_query *query)
{
	if (nk__sql_is(p, "recursive"))
		return nk__sql_parse_fail(p, nk__sql_token(p)->at, "recursive CTEs are not supported");
	nk_sql_list list = {0};
	do {
		nk_sql_cte *cte;
		NK_TRY(NK_ARENA_NEW(p->arena, &cte, 1, p->err));
		cte->at = nk__sql_token(p)->at;
		NK_TRY(nk__sql_name(p, "a name for the common table expression", &cte->name));
		if (nk__sql_is(p, "("))
			NK_TRY(nk__sql_name_list(p, &cte->columns, &cte->n_columns));
		NK_TRY(nk__sql_expect(p, "as"));
		NK_TRY(nk__sql_expect(p, "("));
		NK_TRY(nk__sql_parse_query(p, &cte->query));
		NK_TRY(nk__sql_expect(p, ")"));
		NK_TRY(nk__sql_push(p, &list, cte));
	} while (nk__sql_accept(p, ","));
	NK_TRY(NK_ARENA_NEW(p->arena, &query->ctes, list.n, p->err));
	for (int i = 0; i < list.n; i++)
		query->ctes[i] = *(nk_sql_cte *)list.items[i];
	query->n_ctes = list.n;
	return NK_OK;
}

static nk_status parse_limits(nk_sql_parser *p, nk_sql_query *query)
{
	for (;;) {
		if (nk__sql_accept(p, "limit")) {
			if (nk__sql_accept(p, "all") || nk__sql_accept(p, "null"))
				continue;
			NK_TRY(nk__sql_parse_expr(p, &query->limit));
			if (nk__sql_accept(p, ",")) { /* LIMIT offset, count */
				query->offset = query->limit;
				NK_TRY(nk__sql_parse_expr(p, &query->limit));
			}
		} else if (nk__sql_accept(p, "offset")) {
			NK_TRY(nk__sql_parse_expr(p, &query->offset));
			if (!nk__sql_accept(p, "rows"))
				nk__sql_accept(p, "row");
		} else if (nk__sql_is_two(p, "fetch", "first") || nk__sql_is_two(p, "fetch", "next")) {
			if (query->limit)
				return nk__sql_fail(p->err, NK_SQL_SYNTAX, p->text, p->n_bytes, nk__sql_token(p)->at,
				                    "cannot use both `LIMIT` and `FETCH`");
			p->at += 2;
			if (nk__sql_is(p, "row") || nk__sql_is(p, "rows")) {
				NK_TRY(nk__sql_node(p, NK_SQL_INTEGER, nk__sql_token(p)->at, 0, &query->limit));
				query->limit->text = "1";
				query->limit->n_bytes = 1;
			} else {
				NK_TRY(nk__sql_parse_expr(p, &query->limit));
			}
			if (nk__sql_is(p, "percent"))
				return nk__sql_parse_fail(p, nk__sql_token(p)->at, "`FETCH` with `PERCENT` is not supported");
			if (!nk__sql_accept(p, "rows"))
				NK_TRY(nk__sql_expect(p, "row"));
			if (nk__sql_is_two(p, "with", "ties"))
				return nk__sql_parse_fail(p, nk__sql_token(p)->at,
				                          "`FETCH` with `WITH TIES` is not supported");
			NK_TRY(nk__sql_expect(p, "only"));
		} else {
			return NK_OK;
		}
	}
}

static nk_status parse_query(nk_sql_parser *p, nk_sql_query **out)
{
	nk_sql_query *query;
	NK_TRY(NK_ARENA_NEW(p->arena, &query, 1, p->err));
	query->at = nk__sql_token(p)->at;
	if (nk__sql_accept(p, "with"))
		NK_TRY(parse_ctes(p, query));
	NK_TRY(parse_body(p, false, &query->body));
	if (nk__sql_is_two(p, "order", "by")) {
		p->at += 2;
		if (nk__sql_accept(p, "all")) {
			query->order_all = true;
			NK_TRY(nk__sql_parse_direction(p, &query->all));
		} else {
			NK_TRY(nk__sql_parse_orders(p, &query->orders, &query->n_orders));
		}
	}
	NK_TRY(parse_limits(p, query));
	*out = query;
	return NK_OK;
}

nk_status nk__sql_parse_query(nk_sql_parser *p, nk_sql_query **out)
{
	NK_TRY(nk__sql_enter(p));
	nk_status status = parse_query(p, out);
	nk__sql_leave(p);
	return status;
}
