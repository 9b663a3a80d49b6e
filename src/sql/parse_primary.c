/* Operands: literals, names, calls, CASE, CAST, subqueries; and the names of types. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sql/parse_internal.h"

nk_status nk__sql_parse_primary(nk_sql_parser *p, nk_sql_expr **out);

/* ---- Types ---- */

/* (n[, m]): how many numbers, at most two. */
static nk_status parse_sizes(nk_sql_parser *p, int sizes[2], int *n)
{
	*n = 0;
	if (!nk__sql_accept(p, "("))
		return NK_OK;
	do {
		const nk_sql_token *token = nk__sql_token(p);
		if (token->kind != NK_SQL_TOKEN_NUMBER || *n == 2 || token->n_bytes > 8)
			return nk__sql_expected(p, "a size");
		sizes[(*n)++] = atoi(p->text + token->at);
		p->at++;
	} while (nk__sql_accept(p, ","));
	return nk__sql_expect(p, ")");
}

static nk_status parse_unit(nk_sql_parser *p, int64_t at, int n_sizes, int digits, nk_time_unit *out)
{
	if (n_sizes && (digits < 1 || digits > 9))
		return nk__sql_parse_fail(p, at, "a precision of 1 to 9 digits is expected");
	*out = n_sizes && digits <= 3 ? NK_UNIT_MS : n_sizes && digits > 6 ? NK_UNIT_NS : NK_UNIT_US;
	return NK_OK;
}

static const struct {
	const char *name;
	nk_type_id id;
} type_names[] = {
	{"tinyint", NK_TYPE_INT8},       {"int1", NK_TYPE_INT8},         {"smallint", NK_TYPE_INT16},
	{"int2", NK_TYPE_INT16},         {"int16", NK_TYPE_INT16},       {"int", NK_TYPE_INT32},
	{"integer", NK_TYPE_INT32},      {"int4", NK_TYPE_INT32},        {"int32", NK_TYPE_INT32},
	{"mediumint", NK_TYPE_INT32},    {"bigint", NK_TYPE_INT64},      {"int8", NK_TYPE_INT64},
	{"int64", NK_TYPE_INT64},        {"hugeint", NK_TYPE_INT128},    {"int128", NK_TYPE_INT128},
	{"utinyint", NK_TYPE_UINT8},     {"uint1", NK_TYPE_UINT8},       {"usmallint", NK_TYPE_UINT16},
	{"uint2", NK_TYPE_UINT16},       {"uint16", NK_TYPE_UINT16},     {"uint4", NK_TYPE_UINT32},
	{"uint32", NK_TYPE_UINT32},      {"uint", NK_TYPE_UINT32},       {"uinteger", NK_TYPE_UINT32},
	{"ubigint", NK_TYPE_UINT64},     {"uint8", NK_TYPE_UINT64},      {"uint64", NK_TYPE_UINT64},
	{"real", NK_TYPE_FLOAT32},       {"float4", NK_TYPE_FLOAT32},    {"float", NK_TYPE_FLOAT64},
	{"float8", NK_TYPE_FLOAT64},     {"double", NK_TYPE_FLOAT64},    {"bool", NK_TYPE_BOOLEAN},
	{"boolean", NK_TYPE_BOOLEAN},    {"varchar", NK_TYPE_STRING},    {"text", NK_TYPE_STRING},
	{"string", NK_TYPE_STRING},      {"char", NK_TYPE_STRING},       {"character", NK_TYPE_STRING},
	{"clob", NK_TYPE_STRING},        {"uuid", NK_TYPE_STRING},       {"blob", NK_TYPE_BINARY},
	{"bytea", NK_TYPE_BINARY},       {"bytes", NK_TYPE_BINARY},      {"binary", NK_TYPE_BINARY},
	{"varbinary", NK_TYPE_BINARY},   {"date", NK_TYPE_DATE},         {"time", NK_TYPE_TIME},
	{"timestamp", NK_TYPE_DATETIME}, {"datetime", NK_TYPE_DATETIME}, {"interval", NK_TYPE_DURATION},
	{"decimal", NK_TYPE_DECIMAL},    {"numeric", NK_TYPE_DECIMAL},   {"dec", NK_TYPE_DECIMAL},
	{"bigdecimal", NK_TYPE_DECIMAL},
};

static nk_type_id unsigned_of(nk_type_id id)
{
	return id >= NK_TYPE_INT8 && id <= NK_TYPE_INT64 ? (nk_type_id)(NK_TYPE_UINT8 + (id - NK_TYPE_INT8)) : id;
}

static nk_status parse_plain_type(nk_sql_parser *p, const nk_dtype **out)
{
	int64_t at = nk__sql_token(p)->at;
	int found = -1;
	for (int i = 0; i < NK_COUNT(type_names) && found < 0; i++)
		if (nk__sql_is(p, type_names[i].name))
			found = i;
	if (found < 0)
		return nk__sql_expected(p, "a data type");
	p->at++;
	nk_type_id id = type_names[found].id;
	int sizes[2] = {0}, n_sizes;
	if (strcmp(type_names[found].name, "double") == 0)
		nk__sql_accept(p, "precision");
	if (id == NK_TYPE_STRING)
		nk__sql_accept(p, "varying");
	NK_TRY(parse_sizes(p, sizes, &n_sizes));
	nk_time_unit unit;
	switch (id) {
	case NK_TYPE_DECIMAL:
		if (n_sizes && (sizes[0] < 1 || sizes[0] > 38 || sizes[1] > sizes[0]))
			return nk__sql_parse_fail(
				p, at, "a decimal has a precision of 1 to 38 and a scale of at most the precision");
		*out = n_sizes ? nk_dtype_decimal(sizes[0], n_sizes > 1 ? sizes[1] : 0) : nk_dtype_decimal(38, 9);
		break;
	case NK_TYPE_FLOAT64:
		if (n_sizes > 1 || (n_sizes && (sizes[0] < 1 || sizes[0] > 53)))
			return nk__sql_parse_fail(p, at, "a float has a size of 1 to 53 bits");
		*out = nk_dtype_of(n_sizes && sizes[0] <= 24 ? NK_TYPE_FLOAT32 : NK_TYPE_FLOAT64);
		break;
	case NK_TYPE_DATETIME:
	case NK_TYPE_DURATION:
		NK_TRY(parse_unit(p, at, n_sizes, sizes[0], &unit));
		if (nk__sql_is(p, "with") && nk__sql_token_is(p, nk__sql_next(p), "time"))
			return nk__sql_parse_fail(p, at, "timestamps with a time zone are not supported");
		if (nk__sql_is(p, "without") && nk__sql_token_is(p, nk__sql_next(p), "time")) {
			p->at += 2;
			NK_TRY(nk__sql_expect(p, "zone"));
		}
		*out = id == NK_TYPE_DATETIME ? nk_dtype_datetime(unit, NULL) : nk_dtype_duration(unit);
		break;
	default:
		if (nk_type_is_signed(id) && nk__sql_accept(p, "unsigned"))
			id = unsigned_of(id);
		*out = nk_dtype_of(id);
	}
	return *out ? NK_OK : nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

nk_status nk__sql_parse_type(nk_sql_parser *p, const nk_dtype **out)
{
	NK_TRY(parse_plain_type(p, out));
	while (nk__sql_is_two(p, "[", "]")) {
		if (nk_dtype_depth(*out) >= NK_DTYPE_MAX_DEPTH)
			return nk__sql_parse_fail(p, nk__sql_token(p)->at, "nested too deeply");
		p->at += 2;
		if (!(*out = nk_dtype_list(*out)))
			return nk_fail(p->err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	}
	return NK_OK;
}

/* ---- Calls ---- */

static nk_status string_node(nk_sql_parser *p, int64_t at, const char *text, nk_sql_expr **out)
{
	NK_TRY(nk__sql_node(p, NK_SQL_STRING, at, 0, out));
	(*out)->n_bytes = (int64_t)strlen(text);
	return nk_arena_string(p->arena, text, (*out)->n_bytes, &(*out)->text, p->err);
}

static nk_status call_node(nk_sql_parser *p, int64_t at, const char *name, const nk_sql_list *args,
                           nk_sql_expr **out)
{
	NK_TRY(nk__sql_node(p, NK_SQL_CALL, at, 0, out));
	(*out)->text = name;
	(*out)->args = (nk_sql_expr **)args->items;
	(*out)->n_args = args->n;
	return nk__sql_close(p, *out);
}

static nk_status push_expr(nk_sql_parser *p, nk_sql_list *args)
{
	nk_sql_expr *arg;
	NK_TRY(nk__sql_parse_expr(p, &arg));
	return nk__sql_push(p, args, arg);
}

/* EXTRACT(part FROM x) is date_part('part', x). */
static nk_status parse_extract(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	nk_sql_list args = {0};
	const char *part;
	int64_t part_at = nk__sql_token(p)->at;
	nk_sql_expr *node;
	NK_TRY(nk__sql_label(p, "a part of dates, such as YEAR", &part));
	NK_TRY(string_node(p, part_at, part, &node));
	NK_TRY(nk__sql_push(p, &args, node));
	NK_TRY(nk__sql_expect(p, "from"));
	NK_TRY(push_expr(p, &args));
	NK_TRY(nk__sql_expect(p, ")"));
	return call_node(p, at, "date_part", &args, out);
}

/* SUBSTRING(x FROM a FOR b) is substr(x, a, b). */
static nk_status parse_substring(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	nk_sql_list args = {0};
	NK_TRY(push_expr(p, &args));
	static const char *const words[] = {"from", "for"};
	for (int i = 0; i < 2; i++)
		if (nk__sql_accept(p, ",") || nk__sql_accept(p, words[i]))
			NK_TRY(push_expr(p, &args));
	NK_TRY(nk__sql_expect(p, ")"));
	return call_node(p, at, "substr", &args, out);
}

/* POSITION(a IN b) is strpos(b, a). The part before IN binds more tightly than IN. */
static nk_status parse_position(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	nk_sql_list args = {0}, swapped = {0};
	nk_sql_expr *part;
	NK_TRY(nk__sql_parse_primary(p, &part));
	NK_TRY(nk__sql_expect(p, "in"));
	NK_TRY(push_expr(p, &args));
	NK_TRY(nk__sql_expect(p, ")"));
	NK_TRY(nk__sql_push(p, &swapped, args.items[0]));
	NK_TRY(nk__sql_push(p, &swapped, part));
	return call_node(p, at, "strpos", &swapped, out);
}

/* TRIM([LEADING | TRAILING | BOTH] [characters] FROM x). */
static nk_status parse_trim(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	const char *name = "trim";
	if (nk__sql_accept(p, "leading"))
		name = "ltrim";
	else if (nk__sql_accept(p, "trailing"))
		name = "rtrim";
	else
		nk__sql_accept(p, "both");
	nk_sql_list args = {0};
	if (nk__sql_accept(p, "from")) {
		NK_TRY(push_expr(p, &args));
	} else {
		NK_TRY(push_expr(p, &args));
		if (nk__sql_accept(p, "from")) {
			NK_TRY(push_expr(p, &args));
			void *first = args.items[0];
			args.items[0] = args.items[1];
			args.items[1] = first;
		} else if (nk__sql_accept(p, ",")) {
			NK_TRY(push_expr(p, &args));
		}
	}
	NK_TRY(nk__sql_expect(p, ")"));
	return call_node(p, at, name, &args, out);
}

static nk_status parse_cast(nk_sql_parser *p, int64_t at, bool is_try, nk_sql_expr **out)
{
	NK_TRY(nk__sql_node(p, NK_SQL_CAST, at, 1, out));
	(*out)->is_try = is_try;
	NK_TRY(nk__sql_parse_expr(p, &(*out)->args[0]));
	NK_TRY(nk__sql_expect(p, "as"));
	NK_TRY(nk__sql_parse_type(p, &(*out)->dtype));
	NK_TRY(nk__sql_expect(p, ")"));
	return nk__sql_close(p, *out);
}

/* What may follow the arguments: FILTER, WITHIN GROUP, OVER. */
static nk_status parse_call_clauses(nk_sql_parser *p, nk_sql_expr *call)
{
	if (nk__sql_is_two(p, "within", "group")) {
		p->at += 2;
		NK_TRY(nk__sql_expect(p, "("));
		NK_TRY(nk__sql_expect(p, "order"));
		NK_TRY(nk__sql_expect(p, "by"));
		NK_TRY(nk__sql_parse_orders(p, &call->orders, &call->n_orders));
		NK_TRY(nk__sql_expect(p, ")"));
	}
	if (nk__sql_is_two(p, "filter", "(")) {
		p->at += 2;
		NK_TRY(nk__sql_expect(p, "where"));
		NK_TRY(nk__sql_parse_expr(p, &call->filter));
		NK_TRY(nk__sql_expect(p, ")"));
	}
	if (nk__sql_is_two(p, "ignore", "nulls") || nk__sql_is_two(p, "respect", "nulls")) {
		call->ignore_nulls = nk__sql_is(p, "ignore");
		p->at += 2;
	}
	if (nk__sql_accept(p, "over"))
		NK_TRY(nk__sql_parse_window(p, &call->over));
	return nk__sql_close(p, call);
}

static nk_status parse_args(nk_sql_parser *p, nk_sql_expr *call)
{
	nk_sql_list args = {0}, names = {0};
	bool named = false;
	call->distinct = nk__sql_accept(p, "distinct");
	if (!call->distinct)
		nk__sql_accept(p, "all");
	if (nk__sql_is(p, "*") && nk__sql_token_is(p, nk__sql_next(p), ")")) {
		call->star = true;
		p->at++;
	}
	while (!nk__sql_is(p, ")") && !call->star) {
		const char *name = NULL;
		nk_sql_expr *arg;
		if (nk__sql_token(p)->kind == NK_SQL_TOKEN_WORD &&
		    (nk__sql_token_is(p, nk__sql_next(p), "=>") || nk__sql_token_is(p, nk__sql_next(p), ":="))) {
			NK_TRY(nk__sql_label(p, "an option", &name));
			p->at++;
			named = true;
		}
		if (nk__sql_at_query(p)) {
			NK_TRY(nk__sql_node(p, NK_SQL_SUBQUERY, nk__sql_token(p)->at, 0, &arg));
			NK_TRY(nk__sql_parse_query(p, &arg->query));
		} else {
			NK_TRY(nk__sql_parse_expr(p, &arg));
		}
		NK_TRY(nk__sql_push(p, &args, arg));
		NK_TRY(nk__sql_push(p, &names, name));
		if (!nk__sql_accept(p, ","))
			break;
	}
	call->args = (nk_sql_expr **)args.items;
	call->n_args = args.n;
	call->arg_names = named ? (const char **)names.items : NULL;
	if (nk__sql_accept(p, "order")) {
		NK_TRY(nk__sql_expect(p, "by"));
		NK_TRY(nk__sql_parse_orders(p, &call->orders, &call->n_orders));
	}
	if (nk__sql_accept(p, "limit"))
		NK_TRY(nk__sql_parse_expr(p, &call->limit));
	return nk__sql_expect(p, ")");
}

/* `parts` is the name as written; the opening parenthesis is behind us. */
static nk_status parse_call(nk_sql_parser *p, int64_t at, const nk_sql_list *parts, nk_sql_expr **out)
{
	NK_TEXT(lower);
	for (int i = 0; i < parts->n; i++)
		nk_text_format(&lower, "%s%s", i ? "." : "", (const char *)parts->items[i]);
	NK_TRY(nk_text_finish(&lower, p->err));
	for (char *c = lower.bytes; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 32;
	const char *name;
	NK_TRY(nk_arena_string(p->arena, lower.bytes, lower.n_bytes, &name, p->err));
	if (strcmp(name, "extract") == 0)
		return parse_extract(p, at, out);
	if (strcmp(name, "substring") == 0)
		return parse_substring(p, at, out);
	if (strcmp(name, "position") == 0)
		return parse_position(p, at, out);
	if (strcmp(name, "trim") == 0)
		return parse_trim(p, at, out);
	if (strcmp(name, "cast") == 0 || strcmp(name, "try_cast") == 0)
		return parse_cast(p, at, name[0] == 't', out);
	NK_TRY(nk__sql_node(p, NK_SQL_CALL, at, 0, out));
	(*out)->text = name;
	NK_TRY(parse_args(p, *out));
	return parse_call_clauses(p, *out);
}

/* ---- Other operands ---- */

static nk_status parse_case(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	nk_sql_list args = {0};
	nk_sql_expr *node;
	NK_TRY(nk__sql_node(p, NK_SQL_CASE, at, 0, &node));
	if (!nk__sql_is(p, "when")) {
		node->has_operand = true;
		NK_TRY(push_expr(p, &args));
	}
	if (!nk__sql_is(p, "when"))
		return nk__sql_expected(p, "WHEN");
	while (nk__sql_accept(p, "when")) {
		NK_TRY(push_expr(p, &args));
		NK_TRY(nk__sql_expect(p, "then"));
		NK_TRY(push_expr(p, &args));
	}
	if (nk__sql_accept(p, "else")) {
		node->has_else = true;
		NK_TRY(push_expr(p, &args));
	}
	NK_TRY(nk__sql_expect(p, "end"));
	node->args = (nk_sql_expr **)args.items;
	node->n_args = args.n;
	*out = node;
	return nk__sql_close(p, node);
}

/* INTERVAL '1 day', INTERVAL '90' DAY, INTERVAL 90 DAY: the text says all. */
static nk_status parse_interval(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	const nk_sql_token *token = nk__sql_token(p);
	const char *amount;
	if (token->kind == NK_SQL_TOKEN_TEXT)
		NK_TRY(nk__sql_unquote(p, token, &amount, NULL));
	else if (token->kind == NK_SQL_TOKEN_NUMBER)
		NK_TRY(nk_arena_string(p->arena, p->text + token->at, token->n_bytes, &amount, p->err));
	else
		return nk__sql_expected(p, "an interval, such as '1 day'");
	p->at++;
	static const char *const units[] = {
		"year",        "years",        "quarter",    "quarters",   "month",       "months",
		"week",        "weeks",        "day",        "days",       "hour",        "hours",
		"minute",      "minutes",      "second",     "seconds",    "millisecond", "milliseconds",
		"microsecond", "microseconds", "nanosecond", "nanoseconds"};
	NK_TRY(nk__sql_node(p, NK_SQL_INTERVAL, at, 0, out));
	for (int i = 0; i < NK_COUNT(units); i++)
		if (nk__sql_accept(p, units[i])) {
			NK_TEXT(joined);
			nk_text_format(&joined, "%s %s", amount, units[i]);
			NK_TRY(nk_text_finish(&joined, p->err));
			NK_TRY(nk_arena_string(p->arena, joined.bytes, joined.n_bytes, &amount, p->err));
			break;
		}
	(*out)->text = amount;
	return NK_OK;
}

static nk_status parse_parenthesis(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	if (nk__sql_at_query(p)) {
		NK_TRY(nk__sql_node(p, NK_SQL_SUBQUERY, at, 0, out));
		NK_TRY(nk__sql_parse_query(p, &(*out)->query));
		return nk__sql_expect(p, ")");
	}
	nk_sql_list args = {0};
	do
		NK_TRY(push_expr(p, &args));
	while (nk__sql_accept(p, ","));
	NK_TRY(nk__sql_expect(p, ")"));
	if (args.n == 1) {
		*out = args.items[0];
		return NK_OK;
	}
	NK_TRY(nk__sql_node(p, NK_SQL_TUPLE, at, 0, out));
	(*out)->args = (nk_sql_expr **)args.items;
	(*out)->n_args = args.n;
	return nk__sql_close(p, *out);
}

static nk_status parse_array(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	nk_sql_list args = {0};
	while (!nk__sql_is(p, "]")) {
		NK_TRY(push_expr(p, &args));
		if (!nk__sql_accept(p, ","))
			break;
	}
	NK_TRY(nk__sql_expect(p, "]"));
	NK_TRY(nk__sql_node(p, NK_SQL_ARRAY, at, 0, out));
	(*out)->args = (nk_sql_expr **)args.items;
	(*out)->n_args = args.n;
	return nk__sql_close(p, *out);
}

static nk_status parse_literal(nk_sql_parser *p, const nk_sql_token *token, nk_sql_expr **out)
{
	p->at++;
	if (token->kind == NK_SQL_TOKEN_NUMBER) {
		const char *from = p->text + token->at;
		nk_sql_kind kind = NK_SQL_INTEGER;
		char *digits;
		NK_TRY(nk_arena_alloc(p->arena, token->n_bytes + 1, (void **)&digits, p->err));
		int64_t n = 0;
		for (int64_t i = 0; i < token->n_bytes; i++) {
			if (from[i] == '_')
				continue;
			if (from[i] == 'e' || from[i] == 'E')
				kind = NK_SQL_FLOAT;
			else if (from[i] == '.' && kind == NK_SQL_INTEGER)
				kind = NK_SQL_DECIMAL;
			digits[n++] = from[i];
		}
		NK_TRY(nk__sql_node(p, kind, token->at, 0, out));
		(*out)->text = digits;
		(*out)->n_bytes = n;
		return NK_OK;
	}
	if (token->kind == NK_SQL_TOKEN_HEX) {
		const char *from = p->text + token->at;
		int64_t n = token->n_bytes - 2 - (from[1] == '\''), n_out = 0;
		char *bytes;
		NK_TRY(nk_arena_alloc(p->arena, n + 2, (void **)&bytes, p->err));
		int high = -1;
		if (n % 2)
			high = 0;
		for (int64_t i = 2; i < n + 2; i++) {
			char c = from[i];
			bool good = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
			if (!good)
				return nk__sql_parse_fail(p, token->at + i, "expected a hexadecimal digit");
			int digit = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
			if (high < 0) {
				high = digit;
			} else {
				bytes[n_out++] = (char)(high << 4 | digit);
				high = -1;
			}
		}
		NK_TRY(nk__sql_node(p, NK_SQL_BLOB, token->at, 0, out));
		(*out)->text = bytes;
		(*out)->n_bytes = n_out;
		return NK_OK;
	}
	NK_TRY(nk__sql_node(p, NK_SQL_STRING, token->at, 0, out));
	return nk__sql_unquote(p, token, &(*out)->text, &(*out)->n_bytes);
}

/* DATE '2024-01-01', TIMESTAMP '...', TIME '...'. */
static nk_status parse_typed(nk_sql_parser *p, int64_t at, const nk_dtype *dtype, nk_sql_expr **out)
{
	const nk_sql_token *token = nk__sql_token(p);
	p->at++;
	NK_TRY(nk__sql_node(p, NK_SQL_TYPED, at, 0, out));
	(*out)->dtype = dtype;
	return nk__sql_unquote(p, token, &(*out)->text, &(*out)->n_bytes);
}

static nk_status parse_name(nk_sql_parser *p, int64_t at, nk_sql_expr **out)
{
	nk_sql_list parts = {0};
	bool is_star = false;
	for (;;) {
		const char *part;
		NK_TRY(nk__sql_label(p, "a name", &part));
		NK_TRY(nk__sql_push(p, &parts, part));
		if (!nk__sql_accept(p, "."))
			break;
		if ((is_star = nk__sql_accept(p, "*")))
			break;
	}
	if (!is_star && nk__sql_accept(p, "("))
		return parse_call(p, at, &parts, out);
	NK_TRY(nk__sql_node(p, is_star ? NK_SQL_STAR : NK_SQL_NAME, at, 0, out));
	(*out)->names = (const char **)parts.items;
	(*out)->n_names = parts.n;
	return is_star ? nk__sql_parse_modifiers(p, *out) : NK_OK;
}

nk_status nk__sql_parse_primary(nk_sql_parser *p, nk_sql_expr **out)
{
	const nk_sql_token *token = nk__sql_token(p), *next = nk__sql_next(p);
	int64_t at = token->at;
	switch (token->kind) {
	case NK_SQL_TOKEN_NUMBER:
	case NK_SQL_TOKEN_TEXT:
	case NK_SQL_TOKEN_ESCAPED:
	case NK_SQL_TOKEN_HEX: return parse_literal(p, token, out);
	case NK_SQL_TOKEN_QUOTED: return parse_name(p, at, out);
	case NK_SQL_TOKEN_SIGN:
		if (nk__sql_accept(p, "("))
			return parse_parenthesis(p, at, out);
		if (nk__sql_accept(p, "["))
			return parse_array(p, at, out);
		if (nk__sql_accept(p, "*")) {
			NK_TRY(nk__sql_node(p, NK_SQL_STAR, at, 0, out));
			return nk__sql_parse_modifiers(p, *out);
		}
		return nk__sql_expected(p, "an expression");
	case NK_SQL_TOKEN_END: return nk__sql_expected(p, "an expression");
	case NK_SQL_TOKEN_WORD: break;
	}
	if (nk__sql_accept(p, "null"))
		return nk__sql_node(p, NK_SQL_NULL, at, 0, out);
	if (nk__sql_is(p, "true") || nk__sql_is(p, "false")) {
		NK_TRY(nk__sql_node(p, NK_SQL_BOOLEAN, at, 0, out));
		(*out)->negated = nk__sql_is(p, "false");
		p->at++;
		return NK_OK;
	}
	if (nk__sql_accept(p, "case"))
		return parse_case(p, at, out);
	if (nk__sql_is(p, "exists") && nk__sql_token_is(p, next, "(")) {
		p->at += 2;
		NK_TRY(nk__sql_node(p, NK_SQL_EXISTS, at, 0, out));
		if (!nk__sql_at_query(p))
			return nk__sql_expected(p, "a subquery");
		NK_TRY(nk__sql_parse_query(p, &(*out)->query));
		return nk__sql_expect(p, ")");
	}
	if (nk__sql_is(p, "interval") && (next->kind == NK_SQL_TOKEN_TEXT || next->kind == NK_SQL_TOKEN_NUMBER)) {
		p->at++;
		return parse_interval(p, at, out);
	}
	if (nk__sql_is_two(p, "array", "[")) {
		p->at += 2;
		return parse_array(p, at, out);
	}
	if (next->kind == NK_SQL_TOKEN_TEXT) {
		const nk_dtype *dtype = nk__sql_is(p, "date")   ? nk_dtype_of(NK_TYPE_DATE)
		                        : nk__sql_is(p, "time") ? nk_dtype_of(NK_TYPE_TIME)
		                        : nk__sql_is(p, "timestamp") || nk__sql_is(p, "datetime")
		                            ? nk_dtype_datetime(NK_UNIT_US, NULL)
		                            : NULL;
		if (dtype) {
			p->at++;
			return parse_typed(p, at, dtype, out);
		}
	}
	bool is_function = (nk__sql_token_is(p, next, "(") || nk__sql_token_is(p, next, ".")) &&
	                   (nk__sql_is(p, "left") || nk__sql_is(p, "right"));
	if (!nk__sql_at_name(p) && !is_function)
		return nk__sql_expected(p, "an expression");
	return parse_name(p, at, out);
}
