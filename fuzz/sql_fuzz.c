/* SQL text over two small tables: lexer, parser, planner and the binding of what they make. Anything may be refused;
 * nothing may crash, hang or leak. Files are never opened. */
#include <stdlib.h>
#include <strings.h>

#include "columnar/builder.h"
#include "plan/rel.h"
#include "sql/sql.h"

#include "replay.h"

static nk_plan *tables[2];

static nk_plan *table_of(nk_memory *memory, const char *const *names, const nk_type_id *types, int n)
{
	nk_field fields[4];
	nk_column *columns[4];
	for (int i = 0; i < n; i++) {
		nk_array *array;
		fields[i] = (nk_field){names[i], nk_dtype_of(types[i])};
		if (nk_array_new_null(memory, fields[i].dtype, 3, &array, NULL) != NK_OK ||
		    nk_column_from_array(memory, array, &columns[i], NULL) != NK_OK)
			abort();
		nk_array_unref(array);
	}
	nk_schema *schema;
	nk_frame *frame;
	nk_source *source;
	nk_plan *plan;
	if (nk_schema_new(fields, n, &schema, NULL) != NK_OK ||
	    nk_frame_new(schema, columns, 3, &frame, NULL) != NK_OK ||
	    nk_frame_source_new(frame, &source, NULL) != NK_OK || nk_plan_scan(source, &plan, NULL) != NK_OK)
		abort();
	for (int i = 0; i < n; i++)
		nk_column_unref(columns[i]);
	nk_schema_unref(schema);
	nk_frame_unref(frame);
	nk_source_unref(source);
	return plan;
}

static nk_status table(void *data, const char *name, nk_plan **out, nk_error *err)
{
	(void)data, (void)err;
	if (strcasecmp(name, "t") == 0 || strcasecmp(name, "u") == 0)
		*out = nk_plan_ref(tables[(name[0] | 32) == 'u']);
	return NK_OK;
}

static nk_status file(void *data, const char *path, nk_plan **out, nk_error *err)
{
	(void)path;
	return table(data, "t", out, err);
}

static nk_status function(void *data, const char *name, const char *const *args, int n_args, nk_plan **out,
                          nk_error *err)
{
	(void)name, (void)args, (void)n_args;
	return table(data, "u", out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static nk_memory *memory;
	if (!memory) {
		static const char *const t[] = {"a", "b", "g", "d"}, *const u[] = {"a", "c", "g"};
		static const nk_type_id t_types[] = {NK_TYPE_INT64, NK_TYPE_FLOAT64, NK_TYPE_STRING, NK_TYPE_DATE};
		static const nk_type_id u_types[] = {NK_TYPE_INT32, NK_TYPE_BOOLEAN, NK_TYPE_STRING};
		memory = nk_memory_new(NULL, INT64_MAX);
		tables[0] = table_of(memory, t, t_types, 4);
		tables[1] = table_of(memory, u, u_types, 3);
	}
	if (n_bytes > 4096)
		return 0;
	char *text = malloc(n_bytes + 1); /* of exactly the size, so that reading on is seen */
	for (size_t i = 0; i < n_bytes; i++)
		text[i] = (char)bytes[i];
	nk_error err;
	nk_sql_resolver resolver = {.table = table, .file = file, .function = function};
	nk_sql_outcome outcome = {0};
	nk_arena *arena = nk_arena_new(memory);
	if (nk_sql_plan(arena, text, (int64_t)n_bytes, &resolver, &outcome, &err) == NK_OK && outcome.plan) {
		nk_query *query;
		if (nk_query_bind(outcome.plan, memory, &query, &err) == NK_OK)
			nk_query_free(query);
	}
	nk_plan_unref(outcome.plan);
	nk_expr *expr = NULL;
	if (nk_sql_expression(arena, text, (int64_t)n_bytes, &expr, &err) == NK_OK)
		nk__expr_unref(expr);
	nk_arena_free(arena);
	free(text);
	return 0;
}
