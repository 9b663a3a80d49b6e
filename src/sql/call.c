/* Calls. Functions whose meaning in SQL differs from the registry's row of that name, or that have another name there,
 * are in the table below; every other function of the registry is callable by its own name, with options as
 * f(x, option => value). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/call_internal.h"

static nk_status wrong_arguments(nk_sql_call *c)
{
	return nk__sql_error(c->p, NK_SQL_INTERFACE, c->node->at,
	                     "no function matches the given name and arguments: `%.60s` with %d of them",
	                     c->node->text, c->n);
}

nk_status nk__sql_constant_text(nk_sql_call *c, int arg, const char **out)
{
	if (c->node->args[arg]->kind != NK_SQL_STRING)
		return nk__sql_error(c->p, NK_SQL_SYNTAX, c->node->args[arg]->at, "a constant text is expected here");
	*out = c->node->args[arg]->text;
	return NK_OK;
}

nk_status nk__sql_constant_number(nk_sql_call *c, int arg, double *out)
{
	const nk_sql_expr *node = c->node->args[arg];
	bool negative = node->kind == NK_SQL_UNARY && strcmp(node->text, "neg") == 0;
	if (negative)
		node = node->args[0];
	if (node->kind != NK_SQL_INTEGER && node->kind != NK_SQL_DECIMAL && node->kind != NK_SQL_FLOAT)
		return nk__sql_error(c->p, NK_SQL_SYNTAX, node->at, "a constant number is expected here");
	*out = strtod(node->text, NULL) * (negative ? -1 : 1);
	return NK_OK;
}

/* ---- Text ---- */

static nk_status text_option(nk_sql_call *c, const char *function, nk_expr **args, int n, const char *name,
                             nk_option value, nk_expr **out)
{
	nk_sql_option option = {name, value};
	return nk__sql_call(c->p, function, args, n, &option, 1, out);
}

static nk_status plan_concat(nk_sql_call *c, nk_expr **out)
{
	return text_option(c, "concat_str", c->args, c->n, "ignore_nulls",
	                   (nk_option){.kind = NK_OPTION_BOOL, .boolean = true}, out);
}

static nk_status plan_concat_ws(nk_sql_call *c, nk_expr **out)
{
	nk_sql_option options[] = {{"separator", {.kind = NK_OPTION_STRING}},
	                           {"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}}};
	NK_TRY(nk__sql_constant_text(c, 0, &options[0].value.string));
	return nk__sql_call(c->p, "concat_str", c->args + 1, c->n - 1, options, 2, out);
}

static nk_status plan_strpos(nk_sql_call *c, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	nk_expr *at, *one, *zero, *null;
	NK_TRY(nk__sql_integer(p, 1, &one));
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(text_option(c, "str.find", c->args, 2, "literal",
	                   (nk_option){.kind = NK_OPTION_BOOL, .boolean = true}, &at));
	NK_TRY(nk__sql_call2(p, "add", at, one, &at));
	NK_TRY(nk__sql_call2(p, "coalesce", at, zero, &at));
	NK_TRY(nk__sql_call1(p, "is_null", c->args[0], &null));
	nk_expr *nothing;
	NK_TRY(nk__sql_null(p, &nothing));
	return nk__sql_when(p, null, nothing, at, out);
}

/* Positions count from 1; those before it shorten the length. */
static nk_status plan_substr(nk_sql_call *c, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	int64_t start, length;
	nk_expr *args[3] = {c->args[0]};
	bool constant = nk__sql_constant_integer(c->node->args[1], &start) && llabs(start) < INT32_MAX;
	if (constant && c->n == 2) {
		NK_TRY(nk__sql_integer(p, NK_MAX(start - 1, (int64_t)0), &args[1]));
		return nk__sql_call(p, "str.slice", args, 2, NULL, 0, out);
	}
	if (constant && nk__sql_constant_integer(c->node->args[2], &length) && llabs(length) < INT32_MAX) {
		if (length < 0)
			return nk__sql_error(p, NK_SQL_SYNTAX, c->node->args[2]->at,
			                     "SUBSTR does not support negative length (found %lld)", (long long)length);
		NK_TRY(nk__sql_integer(p, NK_MAX(start - 1, (int64_t)0), &args[1]));
		NK_TRY(nk__sql_integer(p, NK_MAX(length + NK_MIN(start - 1, (int64_t)0), (int64_t)0), &args[2]));
		return nk__sql_call(p, "str.slice", args, 3, NULL, 0, out);
	}
	nk_expr *zero, *one, *offset, *before;
	NK_TRY(nk__sql_integer(p, 0, &zero));
	NK_TRY(nk__sql_integer(p, 1, &one));
	NK_TRY(nk__sql_cast(p, c->args[1], nk_dtype_of(NK_TYPE_INT64), true, &offset));
	NK_TRY(nk__sql_call2(p, "sub", offset, one, &offset));
	NK_TRY(nk__sql_call2(p, "lt", offset, zero, &before));
	NK_TRY(nk__sql_when(p, before, zero, offset, &args[1]));
	if (c->n > 2) {
		nk_expr *n, *shortened, *negative;
		NK_TRY(nk__sql_cast(p, c->args[2], nk_dtype_of(NK_TYPE_INT64), true, &n));
		NK_TRY(nk__sql_call2(p, "add", n, offset, &shortened));
		NK_TRY(nk__sql_when(p, before, shortened, n, &n));
		NK_TRY(nk__sql_call2(p, "lt", n, zero, &negative));
		NK_TRY(nk__sql_when(p, negative, zero, n, &args[2]));
	}
	return nk__sql_call(p, "str.slice", args, c->n, NULL, 0, out);
}

/* lpad and rpad also cut. */
static nk_status plan_pad(nk_sql_call *c, nk_expr **out)
{
	const char *fill = " ";
	if (c->n > 2)
		NK_TRY(nk__sql_constant_text(c, 2, &fill));
	nk_expr *args[] = {NULL, c->args[1]};
	NK_TRY(nk__sql_call2(c->p, "str.head", c->args[0], c->args[1], &args[0]));
	return text_option(c, c->node->text[0] == 'l' ? "str.pad_start" : "str.pad_end", args, 2, "fill_char",
	                   (nk_option){.kind = NK_OPTION_STRING, .string = fill}, out);
}

static nk_status plan_trim(nk_sql_call *c, nk_expr **out)
{
	nk_expr *args[2] = {c->args[0]};
	if (c->n > 1)
		args[1] = c->args[1];
	else
		NK_TRY(nk__sql_null(c->p, &args[1]));
	const char *name = c->node->text;
	return nk__sql_call(c->p,
	                    name[0] == 'l'   ? "str.strip_chars_start"
	                    : name[0] == 'r' ? "str.strip_chars_end"
	                                     : "str.strip_chars",
	                    args, 2, NULL, 0, out);
}

static nk_status plan_replace(nk_sql_call *c, nk_expr **out)
{
	return text_option(c, "str.replace_all", c->args, 3, "literal",
	                   (nk_option){.kind = NK_OPTION_BOOL, .boolean = true}, out);
}

static nk_status plan_regexp_like(nk_sql_call *c, nk_expr **out)
{
	nk_expr *args[] = {c->args[0], c->args[1]};
	if (c->n > 2) {
		const char *flags;
		NK_TRY(nk__sql_constant_text(c, 2, &flags));
		if (!*flags || strspn(flags, "imsxU") != strlen(flags))
			return nk__sql_error(c->p, NK_SQL_SYNTAX, c->node->args[2]->at,
			                     "invalid/empty 'flags' for REGEXP_LIKE");
		NK_TEXT(prefix);
		nk_text_format(&prefix, "(?%s)", flags);
		NK_TRY(nk_text_finish(&prefix, c->p->err));
		nk_expr *flag;
		NK_TRY(nk__sql_string(c->p, prefix.bytes, prefix.n_bytes, &flag));
		NK_TRY(nk__sql_call2(c->p, "concat_str", flag, args[1], &args[1]));
	}
	return nk__sql_call(c->p, "str.contains", args, 2, NULL, 0, out);
}

static nk_status plan_bit_length(nk_sql_call *c, nk_expr **out)
{
	nk_expr *eight;
	NK_TRY(nk__sql_integer(c->p, 8, &eight));
	NK_TRY(nk__sql_call1(c->p, "str.len_bytes", c->args[0], out));
	return nk__sql_call2(c->p, "mul", *out, eight, out);
}

/* ---- Conditions ---- */

static nk_status plan_nullif(nk_sql_call *c, nk_expr **out)
{
	nk_expr *null, *equal;
	NK_TRY(nk__sql_null(c->p, &null));
	NK_TRY(nk__sql_call2(c->p, "eq", c->args[0], c->args[1], &equal));
	return nk__sql_when(c->p, equal, null, c->args[0], out);
}

static nk_status plan_if(nk_sql_call *c, nk_expr **out)
{
	return nk__sql_when(c->p, c->args[0], c->args[1], c->args[2], out);
}

/* ---- Numbers ---- */

static nk_status plan_round(nk_sql_call *c, nk_expr **out)
{
	nk_sql_option options[] = {{"decimals", {.kind = NK_OPTION_INT}}, {"mode", {.kind = NK_OPTION_STRING}}};
	if (c->n > 1) {
		if (!nk__sql_constant_integer(c->node->args[1], &options[0].value.integer))
			return nk__sql_error(c->p, NK_SQL_SYNTAX, c->node->args[1]->at,
			                     "invalid value for ROUND decimals: a whole number is expected");
		if (options[0].value.integer < 0)
			return nk__sql_error(c->p, NK_SQL_INTERFACE, c->node->args[1]->at,
			                     "ROUND does not support negative decimals value");
	}
	options[1].value.string =
		c->node->args[0]->kind == NK_SQL_DECIMAL ? "half_away_from_zero" : "half_to_even";
	return nk__sql_call(c->p, "round", c->args, 1, options, 2, out);
}

static nk_status plan_trunc(nk_sql_call *c, nk_expr **out)
{
	nk_expr *zero, *negative, *up, *down;
	NK_TRY(nk__sql_integer(c->p, 0, &zero));
	NK_TRY(nk__sql_call2(c->p, "lt", c->args[0], zero, &negative));
	NK_TRY(nk__sql_call1(c->p, "ceil", c->args[0], &up));
	NK_TRY(nk__sql_call1(c->p, "floor", c->args[0], &down));
	return nk__sql_when(c->p, negative, up, down, out);
}

static nk_status plan_log(nk_sql_call *c, nk_expr **out)
{
	nk_sql_option base = {"base", {.kind = NK_OPTION_FLOAT, .floating = 2}};
	if (c->n > 1)
		NK_TRY(nk__sql_constant_number(c, 1, &base.value.floating));
	else if (strcmp(c->node->text, "log") == 0)
		return wrong_arguments(c);
	return nk__sql_call(c->p, "log", c->args, 1, &base, 1, out);
}

static nk_status plan_mod(nk_sql_call *c, nk_expr **out)
{
	nk_expr *quotient, *back;
	NK_TRY(nk__sql_call2(c->p, "truncdiv", c->args[0], c->args[1], &quotient));
	NK_TRY(nk__sql_call2(c->p, "mul", quotient, c->args[1], &back));
	return nk__sql_call2(c->p, "sub", c->args[0], back, out);
}

static nk_status plan_div(nk_sql_call *c, nk_expr **out)
{
	NK_TRY(nk__sql_call2(c->p, "truncdiv", c->args[0], c->args[1], out));
	return nk__sql_cast(c->p, *out, nk_dtype_of(NK_TYPE_INT64), true, out);
}

static nk_status plan_pi(nk_sql_call *c, nk_expr **out)
{
	nk_scalar pi = {.dtype = nk_dtype_of(NK_TYPE_FLOAT64), .floating = 3.14159265358979323846};
	return nk__sql_scalar(c->p, &pi, false, out);
}

/* sind, acosd and the like: of and in degrees. */
static nk_status plan_degrees(nk_sql_call *c, nk_expr **out)
{
	const char *name = c->node->text;
	bool inverse = name[0] == 'a';
	nk_expr *x = c->args[0];
	char base[8];
	if (!inverse)
		NK_TRY(nk__sql_call1(c->p, "radians", x, &x));
	snprintf(base, sizeof base, "%s%.3s", inverse ? "arc" : "", name + inverse);
	NK_TRY(nk__sql_call1(c->p, base, x, out));
	return inverse ? nk__sql_call1(c->p, "degrees", *out, out) : NK_OK;
}

/* ---- Dates ---- */

static const struct {
	const char *part, *function;
} date_parts[] = {
	{"year", "dt.year"},
	{"years", "dt.year"},
	{"y", "dt.year"},
	{"month", "dt.month"},
	{"months", "dt.month"},
	{"mon", "dt.month"},
	{"mons", "dt.month"},
	{"day", "dt.day"},
	{"days", "dt.day"},
	{"dayofmonth", "dt.day"},
	{"d", "dt.day"},
	{"hour", "dt.hour"},
	{"hours", "dt.hour"},
	{"h", "dt.hour"},
	{"minute", "dt.minute"},
	{"minutes", "dt.minute"},
	{"mins", "dt.minute"},
	{"min", "dt.minute"},
	{"m", "dt.minute"},
	{"second", "dt.second"},
	{"seconds", "dt.second"},
	{"sec", "dt.second"},
	{"secs", "dt.second"},
	{"s", "dt.second"},
	{"quarter", "dt.quarter"},
	{"quarters", "dt.quarter"},
	{"week", "dt.week"},
	{"weeks", "dt.week"},
	{"isoweek", "dt.week"},
	{"isodow", "dt.weekday"},
	{"doy", "dt.ordinal_day"},
	{"dayofyear", "dt.ordinal_day"},
	{"isoyear", "dt.iso_year"},
	{"time", "dt.time"},
};

static nk_status plan_date_part(nk_sql_call *c, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	const char *part;
	NK_TRY(nk__sql_constant_text(c, 0, &part));
	char name[24] = "";
	for (int i = 0; part[i] && i < (int)sizeof name - 1; i++) {
		name[i] = (char)(part[i] >= 'A' && part[i] <= 'Z' ? part[i] + 32 : part[i]);
		name[i + 1] = 0;
	}
	for (int i = 0; i < NK_COUNT(date_parts); i++)
		if (strcmp(date_parts[i].part, name) == 0)
			return nk__sql_call1(p, date_parts[i].function, c->args[1], out);
	nk_expr *number;
	if (strcmp(name, "dow") == 0 || strcmp(name, "dayofweek") == 0) {
		nk_expr *seven;
		NK_TRY(nk__sql_integer(p, 7, &seven));
		NK_TRY(nk__sql_call1(p, "dt.weekday", c->args[1], out));
		return nk__sql_call2(p, "mod", *out, seven, out);
	}
	static const struct {
		const char *name;
		int years;
	} spans[] = {{"decade", 10}, {"decades", 10},      {"century", 100},   {"centuries", 100},
	             {"c", 100},     {"millennium", 1000}, {"millennia", 1000}};
	for (int i = 0; i < NK_COUNT(spans); i++)
		if (strcmp(spans[i].name, name) == 0) {
			NK_TRY(nk__sql_call1(p, "dt.year", c->args[1], out));
			if (spans[i].years > 10) {
				NK_TRY(nk__sql_integer(p, spans[i].years - 1, &number));
				NK_TRY(nk__sql_call2(p, "add", *out, number, out));
			}
			NK_TRY(nk__sql_integer(p, spans[i].years, &number));
			return nk__sql_call2(p, "floordiv", *out, number, out);
		}
	/* Seconds with their fraction, in smaller units; since 1970. */
	static const struct {
		const char *name;
		double times;
	} fractions[] = {{"millisecond", 1e3}, {"milliseconds", 1e3}, {"ms", 1e3},
	                 {"microsecond", 1e6}, {"microseconds", 1e6}, {"us", 1e6},
	                 {"nanosecond", 1e9},  {"nanoseconds", 1e9},  {"ns", 1e9}};
	for (int i = 0; i < NK_COUNT(fractions); i++)
		if (strcmp(fractions[i].name, name) == 0) {
			nk_scalar scale = {.dtype = nk_dtype_of(NK_TYPE_FLOAT64), .floating = fractions[i].times};
			nk_scalar below = {.dtype = scale.dtype, .floating = fractions[i].times / 1e9};
			nk_expr *times, *share, *rest;
			NK_TRY(nk__sql_scalar(p, &scale, false, &times));
			NK_TRY(nk__sql_scalar(p, &below, false, &share));
			NK_TRY(nk__sql_call1(p, "dt.second", c->args[1], out));
			NK_TRY(nk__sql_call1(p, "dt.nanosecond", c->args[1], &rest));
			NK_TRY(nk__sql_call2(p, "mul", *out, times, out));
			NK_TRY(nk__sql_call2(p, "mul", rest, share, &rest));
			return nk__sql_call2(p, "add", *out, rest, out);
		}
	if (strcmp(name, "epoch") == 0) {
		nk_scalar million = {.dtype = nk_dtype_of(NK_TYPE_FLOAT64), .floating = 1e6};
		NK_TRY(nk__sql_scalar(p, &million, false, &number));
		NK_TRY(nk__sql_cast(p, c->args[1], nk_dtype_datetime(NK_UNIT_US, NULL), true, out));
		NK_TRY(nk__sql_cast(p, *out, nk_dtype_of(NK_TYPE_INT64), true, out));
		return nk__sql_call2(p, "truediv", *out, number, out);
	}
	return nk__sql_error(p, NK_SQL_SYNTAX, c->node->args[0]->at, "'%.40s' is no part of a date or time",
	                     part);
}

/* date('...'), timestamp('...'), time('...'): constants are read here, columns are cast. */
static nk_status plan_temporal(nk_sql_call *c, nk_expr **out)
{
	const char *name = c->node->text;
	const nk_dtype *dtype = strcmp(name, "date") == 0   ? nk_dtype_of(NK_TYPE_DATE)
	                        : strcmp(name, "time") == 0 ? nk_dtype_of(NK_TYPE_TIME)
	                                                    : nk_dtype_datetime(NK_UNIT_US, NULL);
	if (c->n > 1) {
		const char *format;
		NK_TRY(nk__sql_constant_text(c, 1, &format));
		nk_sql_option options[] = {{"dtype", {.kind = NK_OPTION_DTYPE, .dtype = dtype}},
		                           {"format", {.kind = NK_OPTION_STRING, .string = format}}};
		return nk__sql_call(c->p, "str.strptime", c->args, 1, options, 2, out);
	}
	if (c->node->args[0]->kind == NK_SQL_STRING)
		return nk__sql_typed(c->p, c->node->args[0], dtype, out);
	return nk__sql_cast(c->p, c->args[0], dtype, true, out);
}

static nk_status plan_strftime(nk_sql_call *c, nk_expr **out)
{
	nk_sql_option option = {"format", {.kind = NK_OPTION_STRING}};
	NK_TRY(nk__sql_constant_text(c, 1, &option.value.string));
	return nk__sql_call(c->p, "dt.strftime", c->args, 1, &option, 1, out);
}

static nk_status plan_strptime(nk_sql_call *c, nk_expr **out)
{
	nk_sql_option options[] = {
		{"dtype", {.kind = NK_OPTION_DTYPE, .dtype = nk_dtype_datetime(NK_UNIT_US, NULL)}},
		{"format", {.kind = NK_OPTION_STRING}}};
	NK_TRY(nk__sql_constant_text(c, 1, &options[1].value.string));
	return nk__sql_call(c->p, "str.strptime", c->args, 1, options, 2, out);
}

static nk_status plan_split_part(nk_sql_call *c, nk_expr **out)
{
	int64_t part;
	nk_expr *index, *empty;
	if (!nk__sql_constant_integer(c->node->args[2], &part) || part == 0)
		return nk__sql_error(c->p, NK_SQL_SYNTAX, c->node->args[2]->at,
		                     "a constant part, counted from 1, is expected here");
	nk_sql_option option = {"null_on_oob", {.kind = NK_OPTION_BOOL, .boolean = true}};
	NK_TRY(nk__sql_integer(c->p, part > 0 ? part - 1 : part, &index));
	NK_TRY(nk__sql_string(c->p, "", 0, &empty));
	NK_TRY(nk__sql_call2(c->p, "str.split", c->args[0], c->args[1], out));
	nk_expr *args[] = {*out, index};
	NK_TRY(nk__sql_call(c->p, "list.get", args, 2, &option, 1, out));
	return nk__sql_call2(c->p, "coalesce", *out, empty, out);
}

static nk_status plan_array_get(nk_sql_call *c, nk_expr **out)
{
	return nk__sql_subscript(c->p, c->scope, c->node, out);
}

static nk_status plan_atan2d(nk_sql_call *c, nk_expr **out)
{
	NK_TRY(nk__sql_call2(c->p, "arctan2", c->args[0], c->args[1], out));
	return nk__sql_call1(c->p, "degrees", *out, out);
}

/* ---- The table ---- */

static const struct {
	const char *name;
	int min, max;
	const char *function; /* of the registry, with the same arguments; or: */
	nk_status (*plan)(nk_sql_call *, nk_expr **);
} functions[] = {
	{"acos", 1, 1, "arccos", NULL},
	{"acosd", 1, 1, NULL, plan_degrees},
	{"array_contains", 2, 2, "list.contains", NULL},
	{"array_get", 2, 2, NULL, plan_array_get},
	{"array_length", 1, 1, "list.len", NULL},
	{"array_lower", 1, 1, "list.min", NULL},
	{"array_mean", 1, 1, "list.mean", NULL},
	{"array_reverse", 1, 1, "list.reverse", NULL},
	{"array_sum", 1, 1, "list.sum", NULL},
	{"array_to_string", 2, 2, "list.join", NULL},
	{"array_unique", 1, 1, "list.unique", NULL},
	{"array_upper", 1, 1, "list.max", NULL},
	{"asin", 1, 1, "arcsin", NULL},
	{"asind", 1, 1, NULL, plan_degrees},
	{"atan", 1, 1, "arctan", NULL},
	{"atan2", 2, 2, "arctan2", NULL},
	{"atan2d", 2, 2, NULL, plan_atan2d},
	{"atand", 1, 1, NULL, plan_degrees},
	{"bit_and", 2, 2, "and", NULL},
	{"bit_count", 1, 1, "bitwise_count_ones", NULL},
	{"bit_length", 1, 1, NULL, plan_bit_length},
	{"bit_not", 1, 1, "not", NULL},
	{"bit_or", 2, 2, "or", NULL},
	{"bit_xor", 2, 2, "xor", NULL},
	{"bitand", 2, 2, "and", NULL},
	{"bitcount", 1, 1, "bitwise_count_ones", NULL},
	{"bitnot", 1, 1, "not", NULL},
	{"bitor", 2, 2, "or", NULL},
	{"bitxor", 2, 2, "xor", NULL},
	{"ceiling", 1, 1, "ceil", NULL},
	{"char_length", 1, 1, "str.len_chars", NULL},
	{"character_length", 1, 1, "str.len_chars", NULL},
	{"concat", 1, -1, NULL, plan_concat},
	{"concat_ws", 2, -1, NULL, plan_concat_ws},
	{"cosd", 1, 1, NULL, plan_degrees},
	{"cotd", 1, 1, NULL, plan_degrees},
	{"date", 1, 2, NULL, plan_temporal},
	{"date_part", 2, 2, NULL, plan_date_part},
	{"datetime", 1, 2, NULL, plan_temporal},
	{"div", 2, 2, NULL, plan_div},
	{"ends_with", 2, 2, "str.ends_with", NULL},
	{"greatest", 1, -1, "max_horizontal", NULL},
	{"if", 3, 3, NULL, plan_if},
	{"iif", 3, 3, NULL, plan_if},
	{"ifnull", 2, 2, "coalesce", NULL},
	{"initcap", 1, 1, "str.to_titlecase", NULL},
	{"least", 1, -1, "min_horizontal", NULL},
	{"left", 2, 2, "str.head", NULL},
	{"length", 1, 1, "str.len_chars", NULL},
	{"ln", 1, 1, "log", NULL},
	{"log", 1, 2, NULL, plan_log},
	{"log2", 1, 1, NULL, plan_log},
	{"lower", 1, 1, "str.to_lowercase", NULL},
	{"lpad", 2, 3, NULL, plan_pad},
	{"ltrim", 1, 2, NULL, plan_trim},
	{"mod", 2, 2, NULL, plan_mod},
	{"nullif", 2, 2, NULL, plan_nullif},
	{"nvl", 2, 2, "coalesce", NULL},
	{"octet_length", 1, 1, "str.len_bytes", NULL},
	{"pi", 0, 0, NULL, plan_pi},
	{"power", 2, 2, "pow", NULL},
	{"regexp_like", 2, 3, NULL, plan_regexp_like},
	{"replace", 3, 3, NULL, plan_replace},
	{"reverse", 1, 1, "str.reverse", NULL},
	{"right", 2, 2, "str.tail", NULL},
	{"round", 1, 2, NULL, plan_round},
	{"rpad", 2, 3, NULL, plan_pad},
	{"rtrim", 1, 2, NULL, plan_trim},
	{"sind", 1, 1, NULL, plan_degrees},
	{"split_part", 3, 3, NULL, plan_split_part},
	{"starts_with", 2, 2, "str.starts_with", NULL},
	{"strftime", 2, 2, NULL, plan_strftime},
	{"string_to_array", 2, 2, "str.split", NULL},
	{"strpos", 2, 2, NULL, plan_strpos},
	{"strptime", 2, 2, NULL, plan_strptime},
	{"substr", 2, 3, NULL, plan_substr},
	{"tand", 1, 1, NULL, plan_degrees},
	{"time", 1, 2, NULL, plan_temporal},
	{"timestamp", 1, 2, NULL, plan_temporal},
	{"trim", 1, 2, NULL, plan_trim},
	{"trunc", 1, 1, NULL, plan_trunc},
	{"truncate", 1, 1, NULL, plan_trunc},
	{"unnest", 1, 1, "explode", NULL},
	{"upper", 1, 1, "str.to_uppercase", NULL},
};

const nk_func *nk__sql_registry_function(const char *name)
{
	const nk_func *func = nk_func_find(name);
	const char *first = strchr(name, '_');
	if (func || !first || first == name || strlen(name) > 60)
		return func;
	char dotted[64]; /* str_len_chars, dt_year */
	memcpy(dotted, name, strlen(name) + 1);
	dotted[first - name] = '.';
	return nk_func_find(dotted);
}

/* Any function of the registry. */
nk_status nk__sql_registry_call(nk_sql_call *c, const nk_func *func, nk_expr **out)
{
	nk_sql_planner *p = c->p;
	const nk_sql_expr *node = c->node;
	nk_sql_option options[8];
	nk_expr **args;
	int n_options = 0, n = 0;
	NK_TRY(NK_ARENA_NEW(p->arena, &args, c->n + 1, p->err));
	for (int i = 0; i < c->n; i++) {
		const char *name = node->arg_names ? node->arg_names[i] : NULL;
		const nk_sql_expr *value = node->args[i];
		if (!name) {
			args[n++] = c->args[i];
			continue;
		}
		int at = nk_func_option(func, name);
		if (at < 0 || n_options == NK_COUNT(options))
			return nk__sql_error(p, NK_SQL_INTERFACE, value->at, "`%.60s` has no option `%.60s`", func->name,
			                     name);
		nk_option *to = &options[n_options].value;
		options[n_options++].name = func->options[at].name;
		*to = func->options[at].fallback;
		double number;
		switch (to->kind) {
		case NK_OPTION_BOOL:
			if (value->kind != NK_SQL_BOOLEAN)
				return nk__sql_error(p, NK_SQL_INTERFACE, value->at, "the option `%.60s` is TRUE or FALSE",
				                     name);
			to->boolean = !value->negated;
			break;
		case NK_OPTION_INT:
			if (!nk__sql_constant_integer(value, &to->integer))
				return nk__sql_error(p, NK_SQL_INTERFACE, value->at, "the option `%.60s` is a whole number",
				                     name);
			break;
		case NK_OPTION_FLOAT:
			NK_TRY(nk__sql_constant_number(c, i, &number));
			to->floating = number;
			break;
		case NK_OPTION_STRING: NK_TRY(nk__sql_constant_text(c, i, &to->string)); break;
		case NK_OPTION_FOREIGN:
			return nk__sql_error(p, NK_SQL_INTERFACE, value->at, "the option `%.60s` is not for SQL", name);
		case NK_OPTION_DTYPE: {
			const char *text;
			NK_TRY(nk__sql_constant_text(c, i, &text));
			NK_TRY(nk_dtype_parse(text, &to->dtype, p->err));
			break;
		}
		}
	}
	if (n < func->min_args || (func->max_args >= 0 && n > func->max_args))
		return wrong_arguments(c);
	return nk__sql_call(p, func->name, args, n, options, n_options, out);
}

/* The functions of angles know no Decimals. */
static nk_status decimals_as_floats(nk_sql_call *c, const char *function)
{
	static const char *const angles[] = {"arccos", "arcsin",  "arctan",  "arctan2", "cos",  "cosh",
	                                     "cot",    "degrees", "radians", "sin",     "sinh", "tan",
	                                     "tanh",   "arccosh", "arcsinh", "arctanh"};
	bool wanted = !function; /* sind and its like */
	for (int i = 0; i < NK_COUNT(angles) && !wanted; i++)
		wanted = strcmp(angles[i], function) == 0;
	for (int i = 0; i < c->n && wanted; i++) {
		const nk_dtype *dtype;
		NK_TRY(nk__sql_bound_dtype(c->p, c->scope, c->args[i], &dtype));
		if (dtype && dtype->id == NK_TYPE_DECIMAL)
			NK_TRY(nk__sql_cast(c->p, c->args[i], nk_dtype_of(NK_TYPE_FLOAT64), true, &c->args[i]));
	}
	return NK_OK;
}

nk_status nk__sql_call_of(nk_sql_planner *p, nk_sql_scope *scope, const nk_sql_expr *node, nk_expr **out)
{
	if (nk__sql_is_aggregate(node))
		return nk__sql_aggregate_of(p, scope, node, out);
	nk_sql_call c = {.p = p, .scope = scope, .node = node, .n = node->n_args};
	if (node->distinct || node->star || node->filter || node->n_orders || node->limit)
		return nk__sql_error(p, NK_SQL_INTERFACE, node->at,
		                     "DISTINCT, FILTER, ORDER BY and LIMIT belong to aggregates, and `%.60s` is none",
		                     node->text);
	int found = -1;
	for (int i = 0; i < NK_COUNT(functions) && found < 0; i++)
		if (strcmp(functions[i].name, node->text) == 0)
			found = i;
	const nk_func *func = found < 0 ? nk__sql_registry_function(node->text) : NULL;
	if (found < 0 && !func)
		return nk__sql_error(p, NK_SQL_INTERFACE, node->at, "unsupported function '%.60s'", node->text);
	if (found >= 0 &&
	    (c.n < functions[found].min || (functions[found].max >= 0 && c.n > functions[found].max)))
		return wrong_arguments(&c);
	NK_TRY(NK_ARENA_NEW(p->arena, &c.args, c.n + 1, p->err));
	for (int i = 0; i < c.n; i++)
		NK_TRY(nk__sql_expr_of(p, scope, node->args[i], &c.args[i]));
	bool degrees = found >= 0 && functions[found].plan == plan_degrees;
	if (func || degrees || functions[found].function)
		NK_TRY(decimals_as_floats(&c, func ? func->name : functions[found].function));
	if (func)
		return nk__sql_registry_call(&c, func, out);
	if (functions[found].plan)
		return functions[found].plan(&c, out);
	return nk__sql_call(p, functions[found].function, c.args, c.n, NULL, 0, out);
}
