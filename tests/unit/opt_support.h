/* Plans over tables that exist only as statistics, for tests of the optimiser: what is compared is the text of the
 * optimised plan, without estimates. Everything made is kept in one list and released at the end. */
#ifndef NK_TESTS_OPT_SUPPORT_H
#define NK_TESTS_OPT_SUPPORT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/optimize.h"

static int n_failed;

#define EXPECT(condition)                                                   \
	do {                                                                    \
		if (!(condition)) {                                                 \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			n_failed++;                                                     \
		}                                                                   \
	} while (0)

static inline void must(nk_status status, const nk_error *err)
{
	if (status == NK_OK)
		return;
	fprintf(stderr, "status %d: %s\n", status, err->message);
	exit(1);
}

/* ---- A table ---- */

typedef struct fake_column {
	const char *name;
	nk_type_id type;
	int64_t min, max; /* integers and dates; min > max: unknown */
	int64_t n_distinct;
} fake_column;

typedef struct fake_source {
	nk_source source;
	const char *name;
	int64_t n_rows;
	int n_columns;
	nk_schema *schema;
	fake_column columns[];
} fake_source;

static void fake_free(nk_source *source)
{
	nk_schema_unref(((fake_source *)source)->schema);
	free(source);
}

static nk_status fake_schema(nk_source *source, const nk_schema **out, nk_error *err)
{
	(void)err;
	*out = ((fake_source *)source)->schema;
	return NK_OK;
}

static nk_status fake_n_rows(nk_source *source, int64_t *out, nk_error *err)
{
	(void)err;
	*out = ((fake_source *)source)->n_rows;
	return NK_OK;
}

static nk_status fake_statistics(nk_source *source, int column, nk_column_statistics *out, nk_error *err)
{
	(void)err;
	const fake_column *from = &((fake_source *)source)->columns[column];
	*out = (nk_column_statistics){.n_nulls = 0, .n_distinct = from->n_distinct ? from->n_distinct : -1};
	if (from->min <= from->max && from->type != NK_TYPE_STRING) {
		out->has_bounds = true;
		out->min = (nk_scalar){.dtype = nk_dtype_of(from->type), .integer = from->min};
		out->max = (nk_scalar){.dtype = nk_dtype_of(from->type), .integer = from->max};
	}
	return NK_OK;
}

static void fake_describe(nk_source *source, nk_text *out)
{
	nk_text_append_string(out, ((fake_source *)source)->name);
}

static const nk_source_ops FAKE_OPS = {.kind = "fake",
                                       .free = fake_free,
                                       .schema = fake_schema,
                                       .n_rows = fake_n_rows,
                                       .statistics = fake_statistics,
                                       .describe = fake_describe};

/* ---- What was made ---- */

enum { MAX_MADE = 100000 };
static nk_plan *made_plans[MAX_MADE];
static nk_expr *made_exprs[MAX_MADE];
static int n_made_plans, n_made_exprs;

static inline nk_plan *keep_plan(nk_plan *plan) { return made_plans[n_made_plans++] = plan; }
static inline nk_expr *keep_expr(nk_expr *expr) { return made_exprs[n_made_exprs++] = expr; }

static inline void release_made(void)
{
	while (n_made_plans)
		nk_plan_unref(made_plans[--n_made_plans]);
	while (n_made_exprs)
		nk__expr_unref(made_exprs[--n_made_exprs]);
}

static inline nk_plan *table_of(const char *name, int64_t n_rows, const fake_column *columns, int n_columns)
{
	nk_error err = {0};
	fake_source *source = calloc(1, sizeof *source + (size_t)n_columns * sizeof *columns);
	nk_field *fields = calloc((size_t)n_columns, sizeof *fields);
	for (int i = 0; i < n_columns; i++)
		fields[i] = (nk_field){columns[i].name, nk_dtype_of(columns[i].type)};
	source->source = (nk_source){&FAKE_OPS, 1};
	source->name = name;
	source->n_rows = n_rows;
	source->n_columns = n_columns;
	memcpy(source->columns, columns, (size_t)n_columns * sizeof *columns);
	must(nk_schema_new(fields, n_columns, &source->schema, &err), &err);
	free(fields);
	nk_plan *plan;
	must(nk_plan_scan(&source->source, &plan, &err), &err);
	nk_source_unref(&source->source);
	return keep_plan(plan);
}
#define TABLE(name, n_rows, ...)                               \
	table_of(name, n_rows, (const fake_column[]){__VA_ARGS__}, \
	         (int)(sizeof((const fake_column[]){__VA_ARGS__}) / sizeof(fake_column)))

/* ---- Expressions ---- */

static inline nk_expr *col(const char *name)
{
	nk_error err = {0};
	nk_expr *out;
	must(nk__expr_column(name, &out, &err), &err);
	return keep_expr(out);
}

static inline nk_expr *literal(nk_scalar value)
{
	nk_error err = {0};
	nk_expr *out;
	must(nk__expr_literal(&value, false, &out, &err), &err);
	return keep_expr(out);
}

static inline nk_expr *number(int64_t value)
{
	return literal((nk_scalar){.dtype = nk_dtype_of(NK_TYPE_INT64), .integer = value});
}

static inline nk_expr *string(const char *value)
{
	return literal(
		(nk_scalar){.dtype = nk_dtype_of(NK_TYPE_STRING), .bytes = value, .n_bytes = (int64_t)strlen(value)});
}

static inline nk_expr *boolean(bool value)
{
	return literal((nk_scalar){.dtype = nk_dtype_of(NK_TYPE_BOOLEAN), .boolean = value});
}

static inline nk_expr *call_of(const char *name, nk_expr *const *args, int n)
{
	nk_error err = {0};
	nk_expr *out;
	const nk_func *func = nk_func_find(name);
	if (!func) {
		fprintf(stderr, "no function %s\n", name);
		exit(1);
	}
	must(nk__expr_call(func, args, n, NULL, NULL, 0, &out, &err), &err);
	return keep_expr(out);
}
#define CALL(name, ...)                            \
	call_of(name, (nk_expr *const[]){__VA_ARGS__}, \
	        (int)(sizeof((nk_expr *const[]){__VA_ARGS__}) / sizeof(nk_expr *)))

static inline nk_expr *as(nk_expr *expr, const char *name)
{
	nk_error err = {0};
	nk_expr *out;
	must(nk__expr_alias(expr, name, &out, &err), &err);
	return keep_expr(out);
}

/* ---- Plans ---- */

#define EXPRS(...) \
	(nk_expr *const[]){__VA_ARGS__}, (int)(sizeof((nk_expr *const[]){__VA_ARGS__}) / sizeof(nk_expr *))

static inline nk_plan *plan_of(nk_plan_kind kind, nk_plan *const *inputs, int n_inputs, nk_expr *const *exprs,
                               int n_exprs, nk_expr *const *keys, int n_keys)
{
	nk_error err = {0};
	nk_plan *out;
	must(nk_plan_new(kind, inputs, n_inputs, exprs, n_exprs, keys, n_keys, &out, &err), &err);
	return keep_plan(out);
}

static inline nk_plan *filter_by(nk_plan *input, nk_expr *predicate)
{
	return plan_of(NK_PLAN_FILTER, &input, 1, &predicate, 1, NULL, 0);
}

static inline nk_plan *select_of(nk_plan *input, nk_expr *const *exprs, int n)
{
	return plan_of(NK_PLAN_SELECT, &input, 1, exprs, n, NULL, 0);
}

static inline nk_plan *with_columns(nk_plan *input, nk_expr *const *exprs, int n)
{
	return plan_of(NK_PLAN_WITH_COLUMNS, &input, 1, exprs, n, NULL, 0);
}

static inline nk_plan *group_by(nk_plan *input, nk_expr *key, nk_expr *aggregate)
{
	return plan_of(NK_PLAN_GROUP_BY, &input, 1, &aggregate, 1, &key, 1);
}

static inline nk_plan *join_on(nk_plan *left, nk_plan *right, nk_join_kind how, nk_expr *left_on,
                               nk_expr *right_on)
{
	nk_plan *inputs[2] = {left, right};
	nk_plan *out = plan_of(NK_PLAN_JOIN, inputs, 2, &right_on, left_on ? 1 : 0, &left_on, left_on ? 1 : 0);
	out->join = how;
	return out;
}

static inline nk_plan *slice_of(nk_plan *input, int64_t offset, int64_t limit)
{
	nk_plan *out = plan_of(NK_PLAN_SLICE, &input, 1, NULL, 0, NULL, 0);
	out->offset = offset;
	out->limit = limit;
	return out;
}

static inline nk_plan *sort_by(nk_plan *input, nk_expr *key)
{
	nk_plan *out = plan_of(NK_PLAN_SORT, &input, 1, NULL, 0, &key, 1);
	if (!out->descending)
		out->descending = calloc(1, sizeof(bool));
	if (!out->nulls_last)
		out->nulls_last = calloc(1, sizeof(bool));
	return out;
}

/* The optimised plan as text, without estimates; owned by the caller. */
static inline char *optimized_text(nk_plan *plan, uint32_t flags, bool with_estimates)
{
	nk_error err = {0};
	nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
	nk_query *query;
	must(nk_query_bind(plan, memory, &query, &err), &err);
	must(nk_optimize(query, flags, &err), &err);
	NK_TEXT(text);
	nk_query_explain(query, false, &text);
	must(nk_text_finish(&text, &err), &err);
	char *out = strdup(text.bytes);
	nk_query_free(query);
	nk_memory_unref(memory);
	for (char *at = out; !with_estimates && (at = strstr(at, "  ~"));) {
		char *end = strchr(at, '\n');
		memmove(at, end, strlen(end) + 1);
	}
	return out;
}

static inline void expect_plan(const char *file, int line, nk_plan *plan, uint32_t flags, const char *want)
{
	char *got = optimized_text(plan, flags, false);
	if (strcmp(got, want) != 0) {
		fprintf(stderr, "%s:%d: the plan is\n%swanted\n%s", file, line, got, want);
		n_failed++;
	}
	free(got);
}
#define EXPECT_PLAN(plan, want) expect_plan(__FILE__, __LINE__, plan, NK_OPT_ALL, want)
#define EXPECT_PLAN_WITH(flags, plan, want) expect_plan(__FILE__, __LINE__, plan, flags, want)

#endif
