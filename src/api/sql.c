/* SQL contexts: tables by name, files by path, and statements that change which tables there are. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/context.h"
#include "base/text.h"
#include "columnar/builder.h"
#include "sql/sql.h"

typedef struct table {
	char *name;
	nk_plan *plan;
} table;

struct nk_sql_context {
	pthread_mutex_t lock; /* guards the tables */
	int n_tables, capacity;
	table *tables; /* by name */
};

static nk_status no_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a SQL context");
}

nk_status nk_sql_context_new(nk_sql_context **out, nk_error *err)
{
	nk_sql_context *made = calloc(1, sizeof *made);
	if (!made)
		return no_memory(err);
	pthread_mutex_init(&made->lock, NULL);
	*out = made;
	return NK_OK;
}

void nk_sql_context_free(nk_sql_context *context)
{
	if (!context)
		return;
	for (int i = 0; i < context->n_tables; i++) {
		free(context->tables[i].name);
		nk_plan_unref(context->tables[i].plan);
	}
	free(context->tables);
	pthread_mutex_destroy(&context->lock);
	free(context);
}

/* Position of a name: as written, else in any case; -1 when unknown. Under the lock. */
static int find(const nk_sql_context *context, const char *name)
{
	int found = -1;
	for (int i = 0; i < context->n_tables; i++) {
		if (strcmp(context->tables[i].name, name) == 0)
			return i;
		if (found < 0 && strcasecmp(context->tables[i].name, name) == 0)
			found = i;
	}
	return found;
}

static nk_status put(nk_sql_context *context, const char *name, nk_plan *plan, nk_error *err)
{
	int at = 0;
	while (at < context->n_tables && strcmp(context->tables[at].name, name) < 0)
		at++;
	if (at < context->n_tables && strcmp(context->tables[at].name, name) == 0) {
		nk_plan_unref(context->tables[at].plan);
		context->tables[at].plan = nk_plan_ref(plan);
		return NK_OK;
	}
	if (context->n_tables == context->capacity) {
		int larger = context->capacity * 2 + 8;
		table *grown = realloc(context->tables, (size_t)larger * sizeof *grown);
		if (!grown)
			return no_memory(err);
		context->tables = grown;
		context->capacity = larger;
	}
	char *copy = strdup(name);
	if (!copy)
		return no_memory(err);
	memmove(context->tables + at + 1, context->tables + at,
	        (size_t)(context->n_tables - at) * sizeof *context->tables);
	context->tables[at] = (table){copy, nk_plan_ref(plan)};
	context->n_tables++;
	return NK_OK;
}

nk_status nk_sql_context_register(nk_sql_context *context, const char *name, nk_plan *plan, nk_error *err)
{
	pthread_mutex_lock(&context->lock);
	nk_status status = put(context, name, plan, err);
	pthread_mutex_unlock(&context->lock);
	return status;
}

bool nk_sql_context_unregister(nk_sql_context *context, const char *name)
{
	pthread_mutex_lock(&context->lock);
	int at = find(context, name);
	table dropped = {0};
	if (at >= 0) {
		dropped = context->tables[at];
		context->n_tables--;
		memmove(context->tables + at, context->tables + at + 1,
		        (size_t)(context->n_tables - at) * sizeof *context->tables);
	}
	pthread_mutex_unlock(&context->lock);
	free(dropped.name);
	nk_plan_unref(dropped.plan);
	return at >= 0;
}

nk_status nk_sql_context_tables(nk_sql_context *context, char **out, nk_error *err)
{
	NK_TEXT(names);
	pthread_mutex_lock(&context->lock);
	for (int i = 0; i < context->n_tables; i++)
		nk_text_append(&names, context->tables[i].name, (int64_t)strlen(context->tables[i].name) + 1);
	pthread_mutex_unlock(&context->lock);
	nk_text_append(&names, "\0", 1);
	NK_TRY(nk_text_finish(&names, err));
	*out = NK_STEAL(names.bytes);
	return NK_OK;
}

/* ---- Where tables come from ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);
	return n >= n_end && strcasecmp(text + n - n_end, end) == 0;
}

static bool is_csv(const char *path)
{
	static const char *const ends[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst"};
	for (int i = 0; i < NK_COUNT(ends); i++)
		if (ends_with(path, ends[i]))
			return true;
	return false;
}

static nk_status scan_csv(const char *path, nk_plan **out, nk_error *err)
{
	nk_scan_csv_options options = NK_OPTIONS(nk_scan_csv_options);
	if (ends_with(path, ".tsv") || ends_with(path, ".tsv.gz") || ends_with(path, ".tsv.zst"))
		options.separator = "\t";
	return nk_plan_scan_csv(&path, 1, &options, out, err);
}

/* By the name's end; what has another is taken for Parquet, folders too. */
static nk_status resolve_file(void *data, const char *path, nk_plan **out, nk_error *err)
{
	(void)data;
	return is_csv(path) ? scan_csv(path, out, err) : nk_plan_scan_parquet(&path, 1, NULL, out, err);
}

static nk_status resolve_table(void *data, const char *name, nk_plan **out, nk_error *err)
{
	nk_sql_context *context = data;
	if (context) {
		pthread_mutex_lock(&context->lock);
		int at = find(context, name);
		if (at >= 0)
			*out = nk_plan_ref(context->tables[at].plan);
		pthread_mutex_unlock(&context->lock);
		if (at >= 0)
			return NK_OK;
	}
	/* A quoted name that is a path: "x.parquet". */
	bool is_path = strchr(name, '/') || is_csv(name) || ends_with(name, ".parquet");
	return is_path ? resolve_file(data, name, out, err) : NK_OK;
}

static nk_status resolve_function(void *data, const char *name, const char *const *args, int n_args,
                                  nk_plan **out, nk_error *err)
{
	(void)data;
	bool parquet = strcasecmp(name, "read_parquet") == 0 || strcasecmp(name, "scan_parquet") == 0;
	bool csv = strcasecmp(name, "read_csv") == 0 || strcasecmp(name, "scan_csv") == 0;
	if (!parquet && !csv)
		return NK_OK;
	if (n_args < 1)
		return nk_fail(err, NK_SQL_SYNTAX, "%s takes the paths of files", name);
	if (parquet)
		return nk_plan_scan_parquet(args, n_args, NULL, out, err);
	return n_args == 1 ? scan_csv(args[0], out, err) : nk_plan_scan_csv(args, n_args, NULL, out, err);
}

/* ---- Answers ---- */

/* A frame of text columns: n_rows texts for each, column by column. */
static nk_status text_plan(const char *const *names, int n_columns, const char *const *texts, int n_rows,
                           nk_plan **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	nk_field fields[2];
	nk_column *columns[2] = {0};
	nk_status status = NK_OK;
	for (int c = 0; c < n_columns && status == NK_OK; c++) {
		NK_AUTO(nk_builder) builder = NULL;
		NK_AUTO(nk_array) array = NULL;
		fields[c] = (nk_field){names[c], nk_dtype_of(NK_TYPE_STRING)};
		status = nk_builder_new(context->memory, fields[c].dtype, &builder, err);
		for (int r = 0; r < n_rows && status == NK_OK; r++)
			status = nk_builder_append_bytes(builder, texts[c * n_rows + r],
			                                 (int64_t)strlen(texts[c * n_rows + r]), err);
		if (status == NK_OK)
			status = nk_builder_finish(builder, &array, err);
		if (status == NK_OK)
			status = nk_column_from_array(context->memory, array, &columns[c], err);
	}
	NK_AUTO(nk_schema) schema = NULL;
	NK_AUTO(nk_frame) frame = NULL;
	if (status == NK_OK)
		status = nk_schema_new(fields, n_columns, &schema, err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, n_columns ? -1 : 0, &frame, err);
	for (int c = 0; c < n_columns; c++)
		nk_column_unref(columns[c]);
	return status == NK_OK ? nk_plan_from_frame(frame, out, err) : status;
}

static nk_status show_tables(nk_sql_context *context, nk_plan **out, nk_error *err)
{
	static const char *const column[] = {"name"};
	pthread_mutex_lock(&context->lock);
	const char **names = malloc(((size_t)context->n_tables + 1) * sizeof *names);
	nk_status status = names ? NK_OK : no_memory(err);
	for (int i = 0; names && i < context->n_tables; i++)
		names[i] = context->tables[i].name;
	if (status == NK_OK)
		status = text_plan(column, 1, names, context->n_tables, out, err);
	pthread_mutex_unlock(&context->lock);
	free(names);
	return status;
}

static nk_status describe(nk_plan *plan, nk_plan **out, nk_error *err)
{
	static const char *const columns[] = {"column", "dtype"};
	const nk_context *context;
	const nk_schema *schema;
	NK_TRY(nk__context_get(&context, err));
	NK_TRY(nk_plan_schema(plan, context->memory, &schema, err));
	int n = schema->n_fields;
	const char **texts = malloc(((size_t)n * 2 + 1) * sizeof *texts);
	if (!texts)
		return no_memory(err);
	for (int i = 0; i < n; i++) {
		texts[i] = schema->fields[i].name;
		texts[n + i] = schema->fields[i].dtype->text;
	}
	nk_status status = text_plan(columns, 2, texts, n, out, err);
	free(texts);
	return status;
}

static nk_status explain(nk_plan *plan, bool analyze, nk_plan **out, nk_error *err)
{
	const char *column = analyze ? "Analyzed Plan" : "Logical Plan";
	char *text;
	NK_TRY(nk_plan_explain(plan, NULL, true, analyze, NULL, &text, err));
	int n = 0;
	for (const char *c = text; *c; c++)
		n += *c == '\n';
	const char **lines = malloc(((size_t)n + 2) * sizeof *lines);
	nk_status status = lines ? NK_OK : no_memory(err);
	n = 0;
	char *rest = text;
	for (char *line; status == NK_OK && (line = strsep(&rest, "\n"));)
		if (*line || rest)
			lines[n++] = line;
	if (status == NK_OK)
		status = text_plan(&column, 1, lines, n, out, err);
	free(lines);
	nk_text_free(text);
	return status;
}

static nk_status create(nk_sql_context *context, const nk_sql_outcome *outcome, nk_plan **out, nk_error *err)
{
	static const char *const column[] = {"Response"};
	const char *name = outcome->names[0];
	pthread_mutex_lock(&context->lock);
	bool exists = find(context, name) >= 0;
	nk_status status = NK_OK;
	if (exists && !outcome->if_not_exists && !outcome->or_replace)
		status = nk_fail(err, NK_SQL_INTERFACE, "relation '%s' already exists", name);
	else if (!exists || outcome->or_replace)
		status = put(context, name, outcome->plan, err);
	pthread_mutex_unlock(&context->lock);
	NK_TRY(status);
	NK_TEXT(response);
	nk_text_format(&response, "CREATE TABLE %s", name);
	NK_TRY(nk_text_finish(&response, err));
	return text_plan(column, 1, (const char *const *)&response.bytes, 1, out, err);
}

static nk_status drop(nk_sql_context *context, const nk_sql_outcome *outcome, nk_plan **out, nk_error *err)
{
	for (int i = 0; i < outcome->n_names; i++)
		if (!nk_sql_context_unregister(context, outcome->names[i]) && !outcome->if_exists)
			return nk_fail(err, NK_SQL_INTERFACE, "relation '%s' does not exist", outcome->names[i]);
	return text_plan(NULL, 0, NULL, 0, out, err);
}

static nk_status truncate_tables(nk_sql_context *context, const nk_sql_outcome *outcome, nk_plan **out,
                                 nk_error *err)
{
	nk_status status = NK_OK;
	NK_AUTO(nk_plan) last = NULL;
	pthread_mutex_lock(&context->lock);
	for (int i = 0; i < outcome->n_names && status == NK_OK; i++) {
		int at = find(context, outcome->names[i]);
		nk_plan *none = NULL;
		if (at < 0) {
			status = nk_fail(err, NK_SQL_INTERFACE, "relation '%s' does not exist", outcome->names[i]);
			break;
		}
		status = nk_plan_slice(context->tables[at].plan, 0, 0, &none, err);
		if (status != NK_OK)
			break;
		nk_plan_unref(context->tables[at].plan);
		context->tables[at].plan = none;
		nk_plan_unref(last);
		last = nk_plan_ref(none);
	}
	pthread_mutex_unlock(&context->lock);
	NK_TRY(status);
	*out = NK_STEAL(last);
	return NK_OK;
}

static nk_status act(nk_sql_context *context, const nk_sql_outcome *outcome, nk_plan **out, nk_error *err)
{
	switch (outcome->action) {
	case NK_SQL_DO_QUERY: *out = nk_plan_ref(outcome->plan); return NK_OK;
	case NK_SQL_DO_EXPLAIN: return explain(outcome->plan, outcome->analyze, out, err);
	case NK_SQL_DO_SHOW_TABLES: return show_tables(context, out, err);
	case NK_SQL_DO_DESCRIBE: return describe(outcome->plan, out, err);
	case NK_SQL_DO_CREATE_TABLE: return create(context, outcome, out, err);
	case NK_SQL_DO_DROP_TABLE: return drop(context, outcome, out, err);
	case NK_SQL_DO_TRUNCATE: return truncate_tables(context, outcome, out, err);
	}
	return nk_fail(err, NK_SQL_INTERFACE, "an unknown statement");
}

nk_status nk_sql_context_execute(nk_sql_context *context, const char *query, nk_plan **out, nk_error *err)
{
	const nk_context *process;
	NK_TRY(nk__context_get(&process, err));
	nk_sql_context empty = {.lock = PTHREAD_MUTEX_INITIALIZER};
	NK_AUTO(nk_arena) arena = nk_arena_new(process->memory);
	if (!arena)
		return no_memory(err);
	nk_sql_resolver resolver = {.data = context ? context : &empty,
	                            .table = resolve_table,
	                            .file = resolve_file,
	                            .function = resolve_function};
	nk_sql_outcome outcome = {0};
	NK_TRY(nk_sql_plan(arena, query, (int64_t)strlen(query), &resolver, &outcome, err));
	NK_AUTO(nk_plan) plan = outcome.plan;
	nk_plan *answer = NULL;
	if (!context && outcome.action >= NK_SQL_DO_CREATE_TABLE)
		return nk_fail(err, NK_SQL_INTERFACE, "statements that change tables need a SQL context");
	NK_TRY(act(context ? context : &empty, &outcome, &answer, err));
	*out = answer;
	return NK_OK;
}

nk_status nk_expr_sql(const char *text, nk_expr **out, nk_error *err)
{
	const nk_context *process;
	NK_TRY(nk__context_get(&process, err));
	NK_AUTO(nk_arena) arena = nk_arena_new(process->memory);
	if (!arena)
		return no_memory(err);
	nk_expr *made;
	NK_TRY(nk_sql_expression(arena, text, (int64_t)strlen(text), &made, err));
	*out = made;
	return NK_OK;
}
