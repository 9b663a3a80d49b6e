/* Expressions by precedence climbing: operands, then operators as long as they bind more tightly than what stands
 * to the left. Chains of AND and OR become one node each, so that generated filters stay shallow. */
#include <stdlib.h>
#include <string.h>

#include "sql/parse_internal.h"

enum {
	BIND_OR = 5,
	BIND_AND = 10,
	BIND_NOT = 15,
	BIND_IS = 17,
	BIND_LIKE = 19,
	BIND_COMPARE = 20,
	BIND_BIT_OR = 21,
	BIND_BIT_XOR = 22,
	BIND_BIT_AND = 23,
	BIND_CONCAT = 25,
	BIND_ADD = 30,
	BIND_MULTIPLY = 40,
	BIND_SIGN = 45,
	BIND_CAST = 50,
};

typedef struct operator
{
	const char *sign, *function;
	int binding;
	bool negated;
}
operator;

static const operator operators[] = {
	{"or", "or", BIND_OR, false},
	{"and", "and", BIND_AND, false},
	{"=", "eq", BIND_COMPARE, false},
	{"==", "eq", BIND_COMPARE, false},
	{"<>", "ne", BIND_COMPARE, false},
	{"!=", "ne", BIND_COMPARE, false},
	{"<", "lt", BIND_COMPARE, false},
	{"<=", "le", BIND_COMPARE, false},
	{">", "gt", BIND_COMPARE, false},
	{">=", "ge", BIND_COMPARE, false},
	{"<=>", "eq_missing", BIND_COMPARE, false},
	{"^@", "str.starts_with", BIND_COMPARE, false},
	{"~", "~", BIND_LIKE, false},
	{"!~", "~", BIND_LIKE, true},
	{"~*", "~*", BIND_LIKE, false},
	{"!~*", "~*", BIND_LIKE, true},
	{"rlike", "~", BIND_LIKE, false},
	{"regexp", "~", BIND_LIKE, false},
	{"~~", "like", BIND_LIKE, false},
	{"~~*", "ilike", BIND_LIKE, false},
	{"!~~", "like", BIND_LIKE, true},
	{"!~~*", "ilike", BIND_LIKE, true},
	{"like", "like", BIND_LIKE, false},
	{"ilike", "ilike", BIND_LIKE, false},
	{"|", "or", BIND_BIT_OR, false},
	{"#", "xor", BIND_BIT_XOR, false},
	{"xor", "xor", BIND_BIT_XOR, false},
	{"&", "and", BIND_BIT_AND, false},
	{"||", "||", BIND_CONCAT, false},
	{"+", "add", BIND_ADD, false},
	{"-", "sub", BIND_ADD, false},
	{"*", "mul", BIND_MULTIPLY, false},
	{"/", "/", BIND_MULTIPLY, false},
	{"//", "//", BIND_MULTIPLY, false},
	{"%", "%", BIND_MULTIPLY, false},
};

static nk_status parse_bound(nk_sql_parser *p, int binding, nk_sql_expr **out);

static nk_status binary(nk_sql_parser *p, const operator* op, nk_sql_expr *left, nk_sql_expr *right,
                        nk_sql_expr **out)
{
	nk_sql_kind kind = op->binding == BIND_LIKE && op->function[0] != '~' ? NK_SQL_LIKE : NK_SQL_BINARY;
	nk_sql_expr *node;
	NK_TRY(nk__sql_node(p, kind, left->at, 2, &node));
	node->text = op->function;
	node->negated = op->negated;
	node->args[0] = left;
	node->args[1] = right;
	*out = node;
	return nk__sql_close(p, node);
}

/* left AND ... AND ...: one node. */
static nk_status chain(nk_sql_parser *p, const operator* op, nk_sql_expr *left, nk_sql_expr **out)
{
	nk_sql_list parts = {0};
	NK_TRY(nk__sql_push(p, &parts, left));
	do {
		nk_sql_expr *right;
		NK_TRY(parse_bound(p, op->binding + 1, &right));
		NK_TRY(nk__sql_push(p, &parts, right));
	} while (nk__sql_accept(p, op->sign));
	nk_sql_expr *node;
	NK_TRY(nk__sql_node(p, op->binding == BIND_AND ? NK_SQL_AND : NK_SQL_OR, left->at, 0, &node));
	node->args = (nk_sql_expr **)parts.items;
	node->n_args = parts.n;
	*out = node;
	return nk__sql_close(p, node);
}

static nk_status quantified(nk_sql_parser *p, const operator* op, bool is_all, nk_sql_expr *left,
                            nk_sql_expr **out)
{
	nk_sql_expr *node;
	NK_TRY(nk__sql_node(p, NK_SQL_QUANTIFIED, left->at, 1, &node));
	NK_TRY(nk__sql_expect(p, "("));
	if (!nk__sql_at_query(p))
		return nk__sql_expected(p, "a subquery");
	node->text = op->function;
	node->is_all = is_all;
	node->args[0] = left;
	NK_TRY(nk__sql_parse_query(p, &node->query));
	NK_TRY(nk__sql_expect(p, ")"));
	*out = node;
	return nk__sql_close(p, node);
}

static nk_status parse_in(nk_sql_parser *p, nk_sql_expr *left, bool negated, nk_sql_expr **out)
{
	NK_TRY(nk__sql_expect(p, "("));
	nk_sql_expr *node;
	if (nk__sql_at_query(p)) {
		NK_TRY(nk__sql_node(p, NK_SQL_IN_QUERY, left->at, 1, &node));
		node->args[0] = left;
		NK_TRY(nk__sql_parse_query(p, &node->query));
	} else {
		nk_sql_list list = {0};
		NK_TRY(nk__sql_push(p, &list, left));
		while (!nk__sql_is(p, ")")) {
			nk_sql_expr *value;
			NK_TRY(nk__sql_parse_expr(p, &value));
			NK_TRY(nk__sql_push(p, &list, value));
			if (!nk__sql_accept(p, ","))
				break;
		}
		NK_TRY(nk__sql_node(p, NK_SQL_IN, left->at, 0, &node));
		node->args = (nk_sql_expr **)list.items;
		node->n_args = list.n;
	}
	node->negated = negated;
	NK_TRY(nk__sql_expect(p, ")"));
	*out = node;
	return nk__sql_close(p, node);
}

static nk_status parse_is(nk_sql_parser *p, nk_sql_expr *left, nk_sql_expr **out)
{
	bool negated = nk__sql_accept(p, "not");
	nk_sql_expr *node;
	if (nk__sql_accept(p, "distinct")) {
		NK_TRY(nk__sql_expect(p, "from"));
		operator distinct = {"", negated ? "eq_missing" : "ne_missing", BIND_IS, false};
		nk_sql_expr *right;
		NK_TRY(parse_bound(p, BIND_IS + 1, &right));
		return binary(p, &distinct, left, right, out);
	}
	static const char *const whats[] = {"null", "true", "false", "unknown"};
	for (int i = 0; i < NK_COUNT(whats); i++)
		if (nk__sql_accept(p, whats[i])) {
			NK_TRY(nk__sql_node(p, NK_SQL_IS, left->at, 1, &node));
			node->text = i == 3 ? whats[0] : whats[i];
			node->negated = negated;
			node->args[0] = left;
			*out = node;
			return nk__sql_close(p, node);
		}
	return nk__sql_expected(p, negated ? "NULL, TRUE, FALSE or DISTINCT FROM"
	                                   : "NULL, NOT NULL, TRUE, FALSE or DISTINCT FROM");
}

/* [NOT] BETWEEN, IN, LIKE: *done when one of them stood there. */
static nk_status parse_predicate(nk_sql_parser *p, nk_sql_expr *left, int binding, nk_sql_expr **out,
                                 bool *done)
{
	int64_t start = p->at;
	bool negated = nk__sql_accept(p, "not");
	nk_sql_expr *node;
	*done = true;
	if (binding <= BIND_COMPARE && nk__sql_accept(p, "between")) {
		NK_TRY(nk__sql_node(p, NK_SQL_BETWEEN, left->at, 3, &node));
		node->negated = negated;
		node->args[0] = left;
		NK_TRY(parse_bound(p, BIND_COMPARE + 1, &node->args[1]));
		NK_TRY(nk__sql_expect(p, "and"));
		NK_TRY(parse_bound(p, BIND_COMPARE + 1, &node->args[2]));
		*out = node;
		return nk__sql_close(p, node);
	}
	if (binding <= BIND_COMPARE && nk__sql_accept(p, "in"))
		return parse_in(p, left, negated, out);
	static const operator likes[] = {{"like", "like", BIND_LIKE, false},
	                                 {"ilike", "ilike", BIND_LIKE, false},
	                                 {"rlike", "~", BIND_LIKE, false},
	                                 {"regexp", "~", BIND_LIKE, false}};
	for (int i = 0; i < NK_COUNT(likes) && binding <= BIND_LIKE; i++)
		if (nk__sql_accept(p, likes[i].sign)) {
			operator op = likes[i];
			op.negated = negated;
			nk_sql_expr *right;
			NK_TRY(parse_bound(p, BIND_LIKE + 1, &right));
			NK_TRY(binary(p, &op, left, right, out));
			if ((*out)->kind == NK_SQL_LIKE && nk__sql_accept(p, "escape")) {
				NK_TRY(nk__sql_node(p, NK_SQL_LIKE, left->at, 3, &node));
				node->text = op.function;
				node->negated = negated;
				node->args[0] = left;
				node->args[1] = right;
				NK_TRY(parse_bound(p, BIND_LIKE + 1, &node->args[2]));
				*out = node;
				return nk__sql_close(p, node);
			}
			return NK_OK;
		}
	p->at = start;
	*done = false;
	return NK_OK;
}

static nk_status parse_postfix(nk_sql_parser *p, nk_sql_expr **operand)
{
	for (;;) {
		nk_sql_expr *node;
		int64_t at = (*operand)->at;
		if (nk__sql_accept(p, "::")) {
			NK_TRY(nk__sql_node(p, NK_SQL_CAST, at, 1, &node));
			node->args[0] = *operand;
			NK_TRY(nk__sql_parse_type(p, &node->dtype));
		} else if (nk__sql_accept(p, "[")) {
			NK_TRY(nk__sql_node(p, NK_SQL_SUBSCRIPT, at, 2, &node));
			node->args[0] = *operand;
			NK_TRY(nk__sql_parse_expr(p, &node->args[1]));
			NK_TRY(nk__sql_expect(p, "]"));
		} else {
			return NK_OK;
		}
		NK_TRY(nk__sql_close(p, node));
		*operand = node;
	}
}

nk_status nk__sql_parse_primary(nk_sql_parser *p, nk_sql_expr **out);

static nk_status parse_operand(nk_sql_parser *p, nk_sql_expr **out)
{
	int64_t at = nk__sql_token(p)->at;
	static const struct {
		const char *sign, *text;
		int binding;
	} prefixes[] = {{"not", "not", BIND_NOT},
	                {"-", "neg", BIND_SIGN},
	                {"+", "pos", BIND_SIGN},
	                {"~", "bit_not", BIND_SIGN}};
	for (int i = 0; i < NK_COUNT(prefixes); i++)
		if (nk__sql_accept(p, prefixes[i].sign)) {
			nk_sql_expr *node;
			NK_TRY(nk__sql_node(p, NK_SQL_UNARY, at, 1, &node));
			node->text = prefixes[i].text;
			NK_TRY(parse_bound(p, prefixes[i].binding, &node->args[0]));
			*out = node;
			return nk__sql_close(p, node);
		}
	NK_TRY(nk__sql_parse_primary(p, out));
	return parse_postfix(p, out);
}

static nk_status parse_operators(nk_sql_parser *p, int binding, nk_sql_expr **out)
{
	nk_sql_expr *left;
	NK_TRY(parse_operand(p, &left));
	for (;;) {
		bool done = false;
		if (binding <= BIND_COMPARE)
			NK_TRY(parse_predicate(p, left, binding, &left, &done));
		if (done)
			continue;
		if (binding <= BIND_IS && nk__sql_accept(p, "is")) {
			NK_TRY(parse_is(p, left, &left));
			continue;
		}
		if (binding <= BIND_IS && (nk__sql_is(p, "isnull") || nk__sql_is(p, "notnull"))) {
			nk_sql_expr *node;
			NK_TRY(nk__sql_node(p, NK_SQL_IS, left->at, 1, &node));
			node->negated = nk__sql_is(p, "notnull");
			node->text = "null";
			node->args[0] = left;
			NK_TRY(nk__sql_close(p, node));
			left = node;
			p->at++;
			continue;
		}
		const operator* op = NULL;
		for (int i = 0; i < NK_COUNT(operators) && !op; i++)
			if (operators[i].binding >= binding && nk__sql_is(p, operators[i].sign))
				op = &operators[i];
		if (!op) {
			*out = left;
			return NK_OK;
		}
		p->at++;
		if (op->binding <= BIND_AND) {
			NK_TRY(chain(p, op, left, &left));
			continue;
		}
		if (op->binding == BIND_COMPARE && (nk__sql_is_two(p, "any", "(") || nk__sql_is_two(p, "some", "(") ||
		                                    nk__sql_is_two(p, "all", "("))) {
			bool is_all = nk__sql_is(p, "all");
			p->at++;
			NK_TRY(quantified(p, op, is_all, left, &left));
			continue;
		}
		nk_sql_expr *right;
		NK_TRY(parse_bound(p, op->binding + 1, &right));
		NK_TRY(binary(p, op, left, right, &left));
	}
}

static nk_status parse_bound(nk_sql_parser *p, int binding, nk_sql_expr **out)
{
	NK_TRY(nk__sql_enter(p));
	nk_status status = parse_operators(p, binding, out);
	nk__sql_leave(p);
	return status;
}

nk_status nk__sql_parse_expr(nk_sql_parser *p, nk_sql_expr **out) { return parse_bound(p, BIND_OR, out); }

nk_status nk__sql_parse_exprs(nk_sql_parser *p, nk_sql_expr ***out, int *n)
{
	nk_sql_list list = {0};
	do {
		nk_sql_expr *expr;
		NK_TRY(nk__sql_parse_expr(p, &expr));
		NK_TRY(nk__sql_push(p, &list, expr));
	} while (nk__sql_accept(p, ","));
	*out = (nk_sql_expr **)list.items;
	*n = list.n;
	return NK_OK;
}

nk_status nk__sql_parse_direction(nk_sql_parser *p, nk_sql_order *out)
{
	out->descending = nk__sql_accept(p, "desc");
	if (!out->descending)
		nk__sql_accept(p, "asc");
	out->nulls = 0;
	if (!nk__sql_accept(p, "nulls"))
		return NK_OK;
	out->nulls = nk__sql_is(p, "first") ? 1 : -1;
	return nk__sql_accept(p, "first") ? NK_OK : nk__sql_expect(p, "last");
}

nk_status nk__sql_parse_orders(nk_sql_parser *p, nk_sql_order **out, int *n)
{
	nk_sql_list list = {0};
	do {
		nk_sql_order *order;
		NK_TRY(NK_ARENA_NEW(p->arena, &order, 1, p->err));
		NK_TRY(nk__sql_parse_expr(p, &order->expr));
		NK_TRY(nk__sql_parse_direction(p, order));
		NK_TRY(nk__sql_push(p, &list, order));
	} while (nk__sql_accept(p, ","));
	NK_TRY(NK_ARENA_NEW(p->arena, out, list.n, p->err));
	for (int i = 0; i < list.n; i++)
		(*out)[i] = *(nk_sql_order *)list.items[i];
	*n = list.n;
	return NK_OK;
}

/* UNBOUNDED PRECEDING, n FOLLOWING, CURRENT ROW. */
static nk_status parse_frame_bound(nk_sql_parser *p, bool *unbounded, int64_t *offset)
{
	*unbounded = nk__sql_accept(p, "unbounded");
	*offset = 0;
	if (!*unbounded && nk__sql_accept(p, "current"))
		return nk__sql_expect(p, "row");
	if (!*unbounded) {
		const nk_sql_token *token = nk__sql_token(p);
		if (token->kind != NK_SQL_TOKEN_NUMBER)
			return nk__sql_expected(p, "UNBOUNDED, CURRENT ROW or a number of rows");
		for (int64_t i = 0; i < token->n_bytes; i++) {
			char c = p->text[token->at + i];
			if (c < '0' || c > '9' || *offset > INT32_MAX)
				return nk__sql_expected(p, "a whole number of rows");
			*offset = *offset * 10 + (c - '0');
		}
		p->at++;
	}
	if (nk__sql_accept(p, "preceding")) {
		*offset = -*offset;
		return NK_OK;
	}
	return nk__sql_expect(p, "following");
}

/* (PARTITION BY ... ORDER BY ... frame), or the name of a window. */
nk_status nk__sql_parse_window(nk_sql_parser *p, nk_sql_window **out)
{
	nk_sql_window *window;
	NK_TRY(NK_ARENA_NEW(p->arena, &window, 1, p->err));
	window->at = nk__sql_token(p)->at;
	*out = window;
	if (!nk__sql_is(p, "("))
		return nk__sql_name(p, "a window's name or (", &window->name);
	p->at++;
	if (nk__sql_at_name(p) && !nk__sql_is(p, "partition") && !nk__sql_is(p, "rows") &&
	    !nk__sql_is(p, "range") && !nk__sql_is(p, "groups"))
		NK_TRY(nk__sql_name(p, "a window's name", &window->name));
	if (nk__sql_accept(p, "partition")) {
		NK_TRY(nk__sql_expect(p, "by"));
		NK_TRY(nk__sql_parse_exprs(p, &window->partitions, &window->n_partitions));
	}
	if (nk__sql_accept(p, "order")) {
		NK_TRY(nk__sql_expect(p, "by"));
		NK_TRY(nk__sql_parse_orders(p, &window->orders, &window->n_orders));
	}
	if (nk__sql_is(p, "rows") || nk__sql_is(p, "range")) {
		window->has_frame = true;
		window->is_rows = nk__sql_is(p, "rows");
		p->at++;
		bool between = nk__sql_accept(p, "between");
		NK_TRY(parse_frame_bound(p, &window->from_unbounded, &window->from));
		if (between) {
			NK_TRY(nk__sql_expect(p, "and"));
			NK_TRY(parse_frame_bound(p, &window->to_unbounded, &window->to));
		}
	}
	return nk__sql_expect(p, ")");
}
