/* Expressions of the text to expressions of the engine. A tree's depth is bounded by the parser, so this recurses.
 *
 * After grouping, what was computed there (keys and aggregates) is found by comparing trees and stands for its
 * column; a column that is left over is an error of the text. */
#include <string.h>

#include "sql/plan_internal.h"

/* ---- Names ---- */

static void meet(nk_sql_scope *scope, int at)
{
	scope->first_met = NK_MIN(scope->first_met, at);
	scope->last_met = NK_MAX(scope->last_met, at);
}

static const nk_sql_item *alias_of(const nk_sql_scope *scope, const nk_sql_expr *node)
{
	if (!scope->aliases || !scope->select || node->n_names != 1)
		return NULL;
	for (int i = 0; i < scope->select->n_items; i++) {
		const nk_sql_item *item = &scope->select->items[i];
		/* An alias in its own expression means a column. */
		if (item->alias && strcmp(item->alias, node->names[0]) == 0 && item->expr != node)
			return item;
	}
	return NULL;
}

static nk_status fields_of(nk_sql_planner *p, const nk_sql_expr *node, int n_used, nk_expr **out)
{
	for (int i = n_used; i < node->n_names; i++) {
		if (!nk_func_find("struct.field"))
			return nk__sql_error(p, NK_SQL_INTERFACE, node->at, "no table named '%s' found", node->names[0]);
		nk_expr *field;
		NK_TRY(nk__sql_string(p, node->names[i], (int64_t)strlen(node->names[i]), &field));
		NK_TRY(nk__sql_call2(p, "struct.field", *out, field, out));
	}
	return NK_OK;
}

static nk_status ungrouped(nk_sql_planner *p, const nk_sql_expr *node)
{
	return nk__sql_error(p, NK_SQL_SYNTAX, node->at,
	                     "'%s' should participate in the GROUP BY clause or an aggregate function",
	                     node->names[node->n_names - 1]);
}

static nk_status name_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	if (p->schemaless) {
		NK_TRY(nk__sql_column_expr(p, node->names[0], out));
		return fields_of(p, node, 1, out);
	}
	int at, n_used;
	NK_TRY(nk__sql_scope_find(p, scope, node, &at, &n_used));
	if (at >= 0 && !(scope->is_grouped && !scope->in_aggregate)) {
		meet(scope, at);
		NK_TRY(nk__sql_column_expr(p, scope->columns[at].id, out));
		return fields_of(p, node, n_used, out);
	}
	const nk_sql_item *item = alias_of(scope, node);
	if (item) {
		scope->aliases = false; /* aliases do not refer to aliases */
		nk_status status = nk__sql_expr_of(p, scope, item->expr, out);
		scope->aliases = true;
		return status;
	}
	if (at >= 0)
		return ungrouped(p, node);
	if (scope->outer) {
		int outer_at, outer_used;
		NK_TRY(nk__sql_scope_find(p, scope->outer, node, &outer_at, &outer_used));
		if (outer_at >= 0) {
			if (scope->outer_forbidden)
				return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
				                     "a column of the outer query is not supported here");
			scope->met_outer = true;
			return nk__sql_expr_of(p, scope->outer, node, out);
		}
		if (scope->outer->outer)
			return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
			                     "no column '%s' here or in the query around (columns of queries further out "
			                     "are not supported)",
			                     node->names[node->n_names - 1]);
	}
	if (scope->is_grouped && !scope->in_aggregate && node->n_names == 1)
		return ungrouped(p, node);
	return nk__sql_scope_missing(p, scope, node);
}

/* ---- Operators ---- */

nk_status nk__sql_bound_dtype(nk_sql_planner *p, const nk_sql_scope *scope, nk_expr *expr,
                              const nk_dtype **out)
{
	*out = NULL;
	if (p->schemaless || !scope->plan)
		return NK_OK;
	nk_plan *plan = scope->plan;
	const nk_schema *schema;
	NK_TRY(nk__sql_select(p, &plan, &expr, 1));
	NK_TRY(nk_plan_schema(plan, nk_arena_memory(p->arena), &schema, p->err));
	*out = schema->n_fields == 1 ? schema->fields[0].dtype : NULL;
	return NK_OK;
}

/* Whether a Decimal can be about: only then dtypes have to be asked for. */
static bool may_be_decimal(const nk_sql_scope *scope, const nk_sql_expr *node)
{
	for (int i = 0; i < scope->n_columns; i++)
		if (scope->columns[i].dtype->id == NK_TYPE_DECIMAL)
			return true;
	if (node->kind == NK_SQL_DECIMAL || (node->dtype && node->dtype->id == NK_TYPE_DECIMAL) || node->query)
		return true;
	const nk_sql_expr *child;
	for (int i = 0; (child = nk__sql_child(node, i)); i++)
		if (may_be_decimal(scope, child))
			return true;
	return false;
}

static nk_status with_scale(nk_sql_planner *p, const char *function, nk_expr *x, nk_expr *y, int scale,
                            nk_expr **out)
{
	nk_expr *args[] = {x, y};
	nk_sql_option option = {"decimal_scale", {.kind = NK_OPTION_INT, .integer = NK_MIN(scale, 38)}};
	return nk__sql_call(p, function, args, 2, &option, 1, out);
}

/* x / y never truncates: quotients of Decimals have six digits more than x. */
static nk_status quotient_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr *x,
                             nk_expr *y, nk_expr **out)
{
	NK_TRY(nk__sql_call2(p, "truediv", x, y, out));
	if (!may_be_decimal(scope, node))
		return NK_OK;
	const nk_dtype *dtype, *left;
	NK_TRY(nk__sql_bound_dtype(p, scope, *out, &dtype));
	if (!dtype || dtype->id != NK_TYPE_DECIMAL)
		return NK_OK;
	NK_TRY(nk__sql_bound_dtype(p, scope, x, &left));
	int scale = (left && left->id == NK_TYPE_DECIMAL ? left->scale : 0) + 6;
	return with_scale(p, "truediv", x, y, scale, out);
}

/* Products of Decimals are exact: they have the digits of both behind the point. */
static nk_status product_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr *x,
                            nk_expr *y, nk_expr **out)
{
	NK_TRY(nk__sql_call2(p, "mul", x, y, out));
	if (!may_be_decimal(scope, node))
		return NK_OK;
	const nk_dtype *dtype, *left, *right;
	NK_TRY(nk__sql_bound_dtype(p, scope, *out, &dtype));
	if (!dtype || dtype->id != NK_TYPE_DECIMAL)
		return NK_OK;
	NK_TRY(nk__sql_bound_dtype(p, scope, x, &left));
	NK_TRY(nk__sql_bound_dtype(p, scope, y, &right));
	if (!left || !right || left->id != NK_TYPE_DECIMAL || right->id != NK_TYPE_DECIMAL || left->scale == 0 ||
	    right->scale == 0)
		return NK_OK;
	return with_scale(p, "mul", x, y, left->scale + right->scale, out);
}

/* x // y truncates; whole numbers and floats give Int64. */
static nk_status whole_quotient_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                                   nk_expr *x, nk_expr *y, nk_expr **out)
{
	const nk_dtype *dtype = NULL;
	NK_TRY(nk__sql_call2(p, "truncdiv", x, y, out));
	if (may_be_decimal(scope, node))
		NK_TRY(nk__sql_bound_dtype(p, scope, *out, &dtype));
	if (dtype && dtype->id == NK_TYPE_DECIMAL)
		return nk__sql_cast(p, *out, nk_dtype_decimal(38, 0), true, out);
	return nk__sql_cast(p, *out, nk_dtype_of(NK_TYPE_INT64), true, out);
}

/* A whole number beside a date is a number of days. */
static nk_status days_of(nk_sql_planner *p, int64_t n, nk_expr **out)
{
	nk_scalar days = {.dtype = nk_dtype_duration(NK_UNIT_US)};
	int64_t value;
	if (__builtin_mul_overflow(n, (int64_t)86400000000, &value))
		return nk_fail(p->err, NK_SQL_SYNTAX, "too many days");
	days.integer = value;
	return nk__sql_scalar(p, &days, false, out);
}

static bool is_text_constant(const nk_sql_expr *node) { return node->kind == NK_SQL_STRING; }

static bool is_number(const nk_sql_expr *node)
{
	return node->kind == NK_SQL_INTEGER || node->kind == NK_SQL_DECIMAL || node->kind == NK_SQL_FLOAT;
}

const nk_dtype *nk__sql_dtype_of(nk_sql_planner *p, const nk_sql_scope *scope, const nk_sql_expr *node)
{
	int at, n_used;
	switch (node->kind) {
	case NK_SQL_CAST:
	case NK_SQL_TYPED: return node->dtype;
	case NK_SQL_STRING: return nk_dtype_of(NK_TYPE_STRING);
	case NK_SQL_INTERVAL: return nk_dtype_duration(NK_UNIT_NS);
	case NK_SQL_NAME: {
		nk_error *err = p->err;
		if (p->schemaless)
			return NULL;
		p->err = NULL;
		bool found = nk__sql_scope_find(p, scope, node, &at, &n_used) == NK_OK;
		if (found && at < 0 && scope->outer) {
			scope = scope->outer;
			found = nk__sql_scope_find(p, scope, node, &at, &n_used) == NK_OK;
		}
		p->err = err;
		return found && at >= 0 && n_used == node->n_names ? scope->columns[at].dtype : NULL;
	}
	case NK_SQL_CALL:
		return node->n_args == 1 && (strcmp(node->text, "min") == 0 || strcmp(node->text, "max") == 0)
		           ? nk__sql_dtype_of(p, scope, node->args[0])
		           : NULL;
	default: return NULL;
	}
}

/* An operand that meets `other`: text is read as a date or time when that is what it meets. */
static nk_status operand(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node,
                         const nk_sql_expr *other, nk_expr **out)
{
	if (is_text_constant(node)) {
		const nk_dtype *dtype = nk__sql_dtype_of(p, scope, other);
		if (dtype && nk_type_is_temporal(dtype->id) && dtype->id != NK_TYPE_DURATION && !dtype->time_zone)
			return nk__sql_typed_as(p, node, dtype, NK_INVALID_OPERATION,
			                        "conversion of the text failed: ", out);
	}
	return nk__sql_expr_of(p, scope, node, out);
}

/* x ± INTERVAL: months have no fixed length, so they are steps in the calendar. */
static nk_status add_interval(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const nk_sql_expr *interval = node->args[1], *other = node->args[0];
	bool subtract = strcmp(node->text, "sub") == 0;
	if (interval->kind != NK_SQL_INTERVAL) {
		interval = node->args[0];
		other = node->args[1];
	}
	nk_expr *x, *by;
	bool months;
	NK_TRY(nk__sql_expr_of(p, scope, other, &x));
	NK_TRY(nk__sql_interval(p, interval, &by, &months));
	if (!months)
		return other == node->args[0] ? nk__sql_call2(p, node->text, x, by, out)
		                              : nk__sql_call2(p, node->text, by, x, out);
	if (subtract) {
		/* The other sign in front of every number. */
		const nk_scalar *text = &by->literal;
		NK_TEXT(negated);
		for (int64_t i = 0; i < text->n_bytes; i++) {
			bool starts = (i == 0 || (text->bytes[i - 1] | 32) >= 'a') && text->bytes[i] != '-' &&
			              (text->bytes[i] | 32) < 'a';
			if (text->bytes[i] == '-')
				continue;
			if (starts && (i == 0 || text->bytes[i - 1] != '-'))
				nk_text_append_char(&negated, '-');
			nk_text_append_char(&negated, text->bytes[i]);
		}
		NK_TRY(nk_text_finish(&negated, p->err));
		NK_TRY(nk__sql_string(p, negated.bytes, negated.n_bytes, &by));
	}
	return nk__sql_call2(p, "dt.offset_by", x, by, out);
}

/* The remainder has the sign of the dividend, where the registry's mod has the divisor's. */
static nk_status remainder_of(nk_sql_planner *p, nk_expr *x, nk_expr *y, nk_expr **out)
{
	nk_expr *quotient, *back;
	NK_TRY(nk__sql_call2(p, "truncdiv", x, y, &quotient));
	NK_TRY(nk__sql_call2(p, "mul", quotient, y, &back));
	return nk__sql_call2(p, "sub", x, back, out);
}

static nk_status matches(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const nk_sql_expr *pattern = node->args[1];
	nk_expr *args[2];
	NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &args[0]));
	if (pattern->kind == NK_SQL_STRING && node->text[1] == '*') {
		NK_TEXT(regex);
		nk_text_append_string(&regex, "(?i)");
		nk_text_append(&regex, pattern->text, pattern->n_bytes);
		NK_TRY(nk_text_finish(&regex, p->err));
		NK_TRY(nk__sql_string(p, regex.bytes, regex.n_bytes, &args[1]));
	} else {
		NK_TRY(nk__sql_expr_of(p, scope, pattern, &args[1]));
		if (node->text[1] == '*') {
			nk_expr *flag;
			NK_TRY(nk__sql_string(p, "(?i)", 4, &flag));
			NK_TRY(nk__sql_call2(p, "concat_str", flag, args[1], &args[1]));
		}
	}
	NK_TRY(nk__sql_call(p, "str.contains", args, 2, NULL, 0, out));
	return node->negated ? nk__sql_call1(p, "not", *out, out) : NK_OK;
}

nk_status nk__sql_like(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	bool any_case = node->text[0] == 'i';
	const nk_sql_expr *pattern = node->args[1], *escape_node = node->n_args > 2 ? node->args[2] : NULL;
	nk_expr *x, *to;
	NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &x));
	if (pattern->kind != NK_SQL_STRING)
		return nk__sql_error(p, NK_SQL_INTERFACE, pattern->at, "the pattern of LIKE must be a constant text");
	if (escape_node && (escape_node->kind != NK_SQL_STRING || escape_node->n_bytes > 1))
		return nk__sql_error(p, NK_SQL_INTERFACE, escape_node->at,
		                     "the escape of LIKE must be one character");
	char escape = escape_node && escape_node->n_bytes ? escape_node->text[0] : 0;
	/* text, text%, %text, %text%: no regular expression is needed. */
	const char *from = pattern->text;
	int64_t n = pattern->n_bytes, inner = 0, first = 0;
	bool leading = n > 0 && from[0] == '%', trailing = n > leading && from[n - 1] == '%';
	first = leading;
	inner = n - leading - trailing;
	bool plain = !any_case && !escape;
	for (int64_t i = first; i < first + inner; i++)
		plain &= from[i] != '%' && from[i] != '_';
	if (plain) {
		NK_TRY(nk__sql_string(p, from + first, inner, &to));
		nk_expr *args[] = {x, to};
		nk_sql_option literal = {"literal", {.kind = NK_OPTION_BOOL, .boolean = true}};
		if (leading && trailing)
			NK_TRY(nk__sql_call(p, "str.contains", args, 2, &literal, 1, out));
		else
			NK_TRY(nk__sql_call2(p,
			                     leading    ? "str.ends_with"
			                     : trailing ? "str.starts_with"
			                                : "eq",
			                     x, to, out));
	} else {
		const char *regex;
		NK_TRY(nk__sql_like_regex(p, from, n, escape, any_case, &regex));
		NK_TRY(nk__sql_string(p, regex, (int64_t)strlen(regex), &to));
		NK_TRY(nk__sql_call2(p, "str.contains", x, to, out));
	}
	return node->negated ? nk__sql_call1(p, "not", *out, out) : NK_OK;
}

static nk_status compare_rows(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const nk_sql_expr *a = node->args[0], *b = node->args[1];
	bool equal = strcmp(node->text, "eq") == 0;
	if (a->kind != b->kind || a->n_args != b->n_args || (!equal && strcmp(node->text, "ne") != 0))
		return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
		                     "rows can be compared by = and <> with rows of as many values");
	for (int i = 0; i < a->n_args; i++) {
		nk_expr *x, *y, *same;
		NK_TRY(operand(p, scope, a->args[i], b->args[i], &x));
		NK_TRY(operand(p, scope, b->args[i], a->args[i], &y));
		NK_TRY(nk__sql_call2(p, node->text, x, y, &same));
		if (i)
			NK_TRY(nk__sql_call2(p, equal ? "and" : "or", *out, same, out));
		else
			*out = same;
	}
	return NK_OK;
}

static nk_status binary_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const char *op = node->text;
	if (op[0] == '~')
		return matches(p, scope, node, out);
	if (node->args[0]->kind == NK_SQL_TUPLE)
		return compare_rows(p, scope, node, out);
	bool adds = strcmp(op, "add") == 0 || strcmp(op, "sub") == 0;
	if (adds && (node->args[0]->kind == NK_SQL_INTERVAL || node->args[1]->kind == NK_SQL_INTERVAL))
		return add_interval(p, scope, node, out);
	nk_expr *x, *y;
	NK_TRY(operand(p, scope, node->args[0], node->args[1], &x));
	NK_TRY(operand(p, scope, node->args[1], node->args[0], &y));
	if (strcmp(op, "||") == 0) {
		/* Null with anything is null; numbers are shown as text. */
		nk_expr *args[] = {x, y};
		return nk__sql_call(p, "concat_str", args, 2, NULL, 0, out);
	}
	if (strcmp(op, "mul") == 0)
		return product_of(p, scope, node, x, y, out);
	if (strcmp(op, "/") == 0)
		return quotient_of(p, scope, node, x, y, out);
	if (strcmp(op, "//") == 0)
		return whole_quotient_of(p, scope, node, x, y, out);
	int64_t n;
	for (int i = 0; i < 2 && adds; i++) {
		const nk_dtype *dtype = nk__sql_dtype_of(p, scope, node->args[i]);
		if (dtype && dtype->id == NK_TYPE_DATE && nk__sql_constant_integer(node->args[1 - i], &n))
			NK_TRY(days_of(p, n, i ? &x : &y));
	}
	if (strcmp(op, "%") == 0)
		return remainder_of(p, x, y, out);
	return nk__sql_call2(p, op, x, y, out);
}

static nk_status chain_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	/* A balanced tree: binders and printers see it as deep as it is. */
	const char *function = node->kind == NK_SQL_AND ? "and" : "or";
	nk_expr **parts;
	int n = node->n_args;
	NK_TRY(NK_ARENA_NEW(p->arena, &parts, n, p->err));
	for (int i = 0; i < n; i++)
		NK_TRY(nk__sql_expr_of(p, scope, node->args[i], &parts[i]));
	if (n <= 8) {
		*out = parts[0];
		for (int i = 1; i < n; i++)
			NK_TRY(nk__sql_call2(p, function, *out, parts[i], out));
		return NK_OK;
	}
	for (; n > 1; n = (n + 1) / 2)
		for (int i = 0; i < n; i += 2) {
			if (i + 1 < n)
				NK_TRY(nk__sql_call2(p, function, parts[i], parts[i + 1], &parts[i / 2]));
			else
				parts[i / 2] = parts[i];
		}
	*out = parts[0];
	return NK_OK;
}

static nk_status between_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	nk_expr *args[3];
	NK_TRY(operand(p, scope, node->args[0], node->args[1], &args[0]));
	NK_TRY(operand(p, scope, node->args[1], node->args[0], &args[1]));
	NK_TRY(operand(p, scope, node->args[2], node->args[0], &args[2]));
	NK_TRY(nk__sql_call(p, "is_between", args, 3, NULL, 0, out));
	return node->negated ? nk__sql_call1(p, "not", *out, out) : NK_OK;
}

/* x IN (a, b, NULL): true when one is equal, else null when a null is among them. */
static nk_status in_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const nk_sql_expr *x = node->args[0];
	nk_sql_expr **values;
	int n = 0;
	NK_TRY(NK_ARENA_NEW(p->arena, &values, node->n_args, p->err));
	for (int i = 1; i < node->n_args; i++)
		if (node->args[i]->kind != NK_SQL_NULL)
			values[n++] = node->args[i];
	bool has_null = n < node->n_args - 1, done = false;
	const nk_dtype *like = nk__sql_dtype_of(p, scope, x);
	bool exact = !like || like->id == NK_TYPE_STRING || nk_type_is_integer(like->id);
	nk_expr *needle, *list;
	if (x->kind != NK_SQL_TUPLE && n > 1 && exact) {
		bool knows = like || (values[0]->kind == NK_SQL_STRING);
		if (knows)
			NK_TRY(nk__sql_list(p, scope, values, n, like, &list, &done));
	}
	if (done) {
		NK_TRY(nk__sql_expr_of(p, scope, x, &needle));
		NK_TRY(nk__sql_call2(p, "is_in", needle, list, out));
	} else if (n == 0) {
		NK_TRY(nk__sql_boolean(p, false, out));
	} else {
		nk_sql_expr *equal = NULL, *any;
		nk_sql_expr **parts;
		NK_TRY(NK_ARENA_NEW(p->arena, &parts, n, p->err));
		for (int i = 0; i < n; i++) {
			NK_TRY(NK_ARENA_NEW(p->arena, &equal, 1, p->err));
			NK_TRY(NK_ARENA_NEW(p->arena, &equal->args, 2, p->err));
			equal->kind = NK_SQL_BINARY;
			equal->at = values[i]->at;
			equal->text = "eq";
			equal->n_args = 2;
			equal->args[0] = node->args[0];
			equal->args[1] = values[i];
			parts[i] = equal;
		}
		NK_TRY(NK_ARENA_NEW(p->arena, &any, 1, p->err));
		*any = (nk_sql_expr){.kind = NK_SQL_OR, .at = node->at, .n_args = n, .args = parts};
		NK_TRY(n == 1 ? nk__sql_expr_of(p, scope, equal, out) : chain_of(p, scope, any, out));
	}
	if (has_null) {
		nk_expr *null;
		NK_TRY(nk__sql_null(p, &null));
		NK_TRY(nk__sql_cast(p, null, nk_dtype_of(NK_TYPE_BOOLEAN), true, &null));
		NK_TRY(nk__sql_call2(p, "or", *out, null, out));
	}
	return node->negated ? nk__sql_call1(p, "not", *out, out) : NK_OK;
}

static nk_status is_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	nk_expr *x, *value;
	NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &x));
	if (node->text[0] == 'n')
		return nk__sql_call1(p, node->negated ? "is_not_null" : "is_null", x, out);
	NK_TRY(nk__sql_boolean(p, node->text[0] == 't', &value));
	const char *function = node->is_all    ? (node->negated ? "ne_missing" : "eq_missing")
	                       : node->negated ? "ne"
	                                       : "eq";
	return nk__sql_call2(p, function, x, value, out);
}

static nk_status case_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	int first = node->has_operand, last = node->n_args - node->has_else;
	nk_expr *result;
	if (node->has_else)
		NK_TRY(nk__sql_expr_of(p, scope, node->args[last], &result));
	else
		NK_TRY(nk__sql_null(p, &result));
	for (int i = last - 2; i >= first; i -= 2) {
		nk_expr *condition, *then, *operand_expr;
		NK_TRY(nk__sql_expr_of(p, scope, node->args[i], &condition));
		if (node->has_operand) {
			NK_TRY(operand(p, scope, node->args[i], node->args[0], &condition));
			NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &operand_expr));
			NK_TRY(nk__sql_call2(p, "eq", operand_expr, condition, &condition));
		}
		NK_TRY(nk__sql_expr_of(p, scope, node->args[i + 1], &then));
		NK_TRY(nk__sql_when(p, condition, then, result, &result));
	}
	*out = result;
	return NK_OK;
}

static nk_status cast_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	nk_expr *x;
	if (node->args[0]->kind == NK_SQL_STRING && nk_type_is_temporal(node->dtype->id) &&
	    node->dtype->id != NK_TYPE_DURATION) {
		nk_error *err = p->err;
		p->err = node->is_try ? NULL : err;
		nk_status status = nk__sql_typed(p, node->args[0], node->dtype, out);
		p->err = err;
		if (status == NK_OK || !node->is_try)
			return status == NK_SQL_SYNTAX
			           ? nk__sql_error(p, NK_INVALID_OPERATION, node->args[0]->at, "'%.60s' is no %s",
			                           node->args[0]->text, node->dtype->text)
			           : status;
		NK_TRY(nk__sql_null(p, &x));
		return nk__sql_cast(p, x, node->dtype, false, out);
	}
	NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &x));
	return nk__sql_cast(p, x, node->dtype, !node->is_try, out);
}

static nk_status unary_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const nk_sql_expr *arg = node->args[0];
	if (node->text[0] == 'n' && node->text[1] == 'e' && is_number(arg))
		return nk__sql_literal(p, arg, true, out);
	if (strcmp(node->text, "bit_not") == 0)
		return nk__sql_error(p, NK_SQL_INTERFACE, node->at, "the operator ~ is not supported");
	NK_TRY(nk__sql_expr_of(p, scope, arg, out));
	return strcmp(node->text, "pos") == 0 ? NK_OK : nk__sql_call1(p, node->text, *out, out);
}

static nk_status array_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	bool done;
	NK_TRY(nk__sql_list(p, scope, node->args, node->n_args, NULL, out, &done));
	if (done)
		return NK_OK;
	nk_expr **items;
	NK_TRY(NK_ARENA_NEW(p->arena, &items, node->n_args + 1, p->err));
	for (int i = 0; i < node->n_args; i++)
		NK_TRY(nk__sql_expr_of(p, scope, node->args[i], &items[i]));
	return nk__sql_call(p, "concat_list", items, node->n_args, NULL, 0, out);
}

/* Lists count from 1; negative positions from the end. */
nk_status nk__sql_subscript(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	nk_expr *list, *index;
	int64_t constant;
	NK_TRY(nk__sql_expr_of(p, scope, node->args[0], &list));
	if (nk__sql_constant_integer(node->args[1], &constant)) {
		/* There is no element 0. */
		NK_TRY(nk__sql_integer(p,
		                       constant > 0    ? constant - 1
		                       : constant == 0 ? INT32_MAX
		                                       : constant,
		                       &index));
	} else {
		nk_expr *one, *zero, *positive;
		NK_TRY(nk__sql_expr_of(p, scope, node->args[1], &index));
		NK_TRY(nk__sql_integer(p, 1, &one));
		NK_TRY(nk__sql_integer(p, 0, &zero));
		NK_TRY(nk__sql_call2(p, "sub", index, one, &one));
		NK_TRY(nk__sql_call2(p, "gt", index, zero, &positive));
		NK_TRY(nk__sql_when(p, positive, one, index, &index));
	}
	nk_sql_option option = {"null_on_oob", {.kind = NK_OPTION_BOOL, .boolean = true}};
	nk_expr *args[] = {list, index};
	return nk__sql_call(p, "list.get", args, 2, &option, 1, out);
}

/* ---- All ---- */

static const nk_sql_computed *computed_of(nk_sql_planner *p, const nk_sql_scope *scope,
                                          const nk_sql_expr *node)
{
	for (int i = 0; i < scope->n_computed; i++)
		if (scope->computed[i].expr && nk__sql_same(p, scope, scope->computed[i].expr, node))
			return &scope->computed[i];
	return NULL;
}

nk_status nk__sql_expr_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	const nk_sql_computed *computed = scope->in_aggregate ? NULL : computed_of(p, scope, node);
	if (computed) {
		NK_TRY(nk__sql_column_expr(p, computed->id, out));
		if (!computed->is_count || !scope->coalesce_counts)
			return NK_OK;
		nk_expr *zero;
		NK_TRY(nk__sql_integer(p, 0, &zero));
		return nk__sql_call2(p, "coalesce", *out, zero, out);
	}
	switch (node->kind) {
	case NK_SQL_NAME: return name_of(p, scope, node, out);
	case NK_SQL_STAR:
		return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
		                     "* is no value: it stands in a select list or in count(*)");
	case NK_SQL_INTEGER:
	case NK_SQL_DECIMAL:
	case NK_SQL_FLOAT:
	case NK_SQL_STRING:
	case NK_SQL_BLOB:
	case NK_SQL_BOOLEAN:
	case NK_SQL_NULL: return nk__sql_literal(p, node, false, out);
	case NK_SQL_TYPED: return nk__sql_typed(p, node, node->dtype, out);
	case NK_SQL_INTERVAL: {
		bool months;
		NK_TRY(nk__sql_interval(p, node, out, &months));
		return months
		           ? nk__sql_error(
						 p, NK_SQL_SYNTAX, node->at,
						 "an interval of months or years has no fixed length: it can only be added to dates")
		           : NK_OK;
	}
	case NK_SQL_UNARY: return unary_of(p, scope, node, out);
	case NK_SQL_BINARY: return binary_of(p, scope, node, out);
	case NK_SQL_AND:
	case NK_SQL_OR: return chain_of(p, scope, node, out);
	case NK_SQL_BETWEEN: return between_of(p, scope, node, out);
	case NK_SQL_IN: return in_of(p, scope, node, out);
	case NK_SQL_LIKE: return nk__sql_like(p, scope, node, out);
	case NK_SQL_IS: return is_of(p, scope, node, out);
	case NK_SQL_CASE: return case_of(p, scope, node, out);
	case NK_SQL_CAST: return cast_of(p, scope, node, out);
	case NK_SQL_CALL:
		return node->over ? nk__sql_window_of(p, scope, node, out) : nk__sql_call_of(p, scope, node, out);
	case NK_SQL_ARRAY: return array_of(p, scope, node, out);
	case NK_SQL_SUBSCRIPT: return nk__sql_subscript(p, scope, node, out);
	case NK_SQL_EXISTS:
	case NK_SQL_SUBQUERY:
	case NK_SQL_IN_QUERY:
	case NK_SQL_QUANTIFIED: return nk__sql_subquery(p, scope, node, out);
	case NK_SQL_TUPLE: break;
	}
	return nk__sql_error(p, NK_SQL_INTERFACE, node->at, "a row of several values cannot stand here");
}
