/* What tests of the public API share: expressions, frames and plans in few words, all of them released at once by
 * drop_all(), and tables as lines of text.
 *
 * A table is written row by row, the head first: "a:Int64 s:String | 1 x | null y". Temporal values and Decimals
 * are unscaled integers, lists [1,2], structs {1,x}. EXPECT_TABLE runs a plan in every way it can be run: as it is,
 * without optimisations, and after a round trip through its serialised form; the schema must be known before. */
#ifndef NK_TESTS_API_SUPPORT_H
#define NK_TESTS_API_SUPPORT_H

#include <nanuk.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

/* ---- what a test made ---- */

typedef struct kept_object {
	void *object;
	char kind;
} kept_object;
static kept_object *kept;
static int n_kept, kept_capacity;

static void *keep(void *object, char kind)
{
	if (!object)
		return NULL;
	if (n_kept == kept_capacity) {
		kept_capacity = kept_capacity * 2 + 64;
		kept = realloc(kept, (size_t)kept_capacity * sizeof *kept);
		if (!kept)
			abort();
	}
	kept[n_kept++] = (kept_object){object, kind};
	return object;
}

static inline void drop_all(void)
{
	while (n_kept) {
		void *object = kept[--n_kept].object;
		switch (kept[n_kept].kind) {
		case 'e': nk_expr_unref(object); break;
		case 'p': nk_plan_unref(object); break;
		case 'f': nk_frame_unref(object); break;
		case 's': nk_series_unref(object); break;
		default: nk_text_free(object); break;
		}
	}
}

/* The last failure: makers return NULL after one, and pass a NULL argument on, so that a test checks once. */
static nk_error last_error;
static nk_status last_status;

static inline bool went_well(nk_status status)
{
	last_status = status;
	return status == NK_OK;
}

/* ---- expressions ---- */

static inline nk_expr *col(const char *name)
{
	nk_expr *out = NULL;
	return went_well(nk_expr_column(name, &out, &last_error)) ? keep(out, 'e') : NULL;
}

static inline nk_expr *value_of(nk_value value)
{
	nk_expr *out = NULL;
	return went_well(nk_expr_literal(&value, &out, &last_error)) ? keep(out, 'e') : NULL;
}

static inline nk_expr *num_as(int64_t number, const char *dtype)
{
	return value_of((nk_value){
		.kind = NK_VALUE_INTEGER, .low = (uint64_t)number, .high = number < 0 ? -1 : 0, .dtype = dtype});
}

static inline nk_expr *num(int64_t number) { return num_as(number, NULL); }
static inline nk_expr *real(double number)
{
	return value_of((nk_value){.kind = NK_VALUE_FLOAT, .floating = number});
}
static inline nk_expr *yes(bool boolean)
{
	return value_of((nk_value){.kind = NK_VALUE_BOOLEAN, .boolean = boolean});
}
static inline nk_expr *null(const char *dtype)
{
	return value_of((nk_value){.kind = NK_VALUE_NULL, .dtype = dtype});
}

static inline nk_expr *str(const char *text)
{
	return value_of((nk_value){.kind = NK_VALUE_STRING, .bytes = text, .n_bytes = (int64_t)strlen(text)});
}

static inline nk_expr *call_with(const char *name, nk_expr *const *args, int n_args,
                                 const nk_named_option *options, int n_options)
{
	nk_expr *out = NULL;
	for (int i = 0; i < n_args; i++)
		if (!args[i])
			return NULL;
	return went_well(nk_expr_call(name, args, n_args, options, n_options, &out, &last_error)) ? keep(out, 'e')
	                                                                                          : NULL;
}
#define EXPRS(...) \
	(nk_expr *const[]){__VA_ARGS__}, (int)(sizeof((nk_expr *[]){__VA_ARGS__}) / sizeof(nk_expr *))
#define call(name, ...) call_with(name, EXPRS(__VA_ARGS__), NULL, 0)
#define call0(name) call_with(name, NULL, 0, NULL, 0)

static inline nk_expr *cast_to(nk_expr *expr, const char *dtype)
{
	nk_named_option option = {.name = "dtype", .type = NK_ARG_DTYPE, .string = dtype};
	return call_with("cast", &expr, 1, &option, 1);
}

static inline nk_expr *as(nk_expr *expr, const char *name)
{
	nk_expr *out = NULL;
	return expr && went_well(nk_expr_alias(expr, name, &out, &last_error)) ? keep(out, 'e') : NULL;
}

static inline nk_expr *renamed(nk_expr *expr, const char *how, const char *affix)
{
	nk_expr *out = NULL;
	return expr && went_well(nk_expr_rename(expr, how, affix, &out, &last_error)) ? keep(out, 'e') : NULL;
}

static inline nk_expr *selector_of(const char *kind, const char *const *names, int n, bool strict)
{
	nk_expr *out = NULL;
	return went_well(nk_expr_selector(kind, names, n, strict, &out, &last_error)) ? keep(out, 'e') : NULL;
}
#define NAMES(...) \
	(const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))
#define choose(kind, ...) selector_of(kind, NAMES(__VA_ARGS__), true)
#define everything() selector_of("all", NULL, 0, true)

static inline nk_expr *both(const char *how, nk_expr *left, nk_expr *right)
{
	nk_expr *out = NULL;
	bool ok = left && right && went_well(nk_expr_selector_combine(how, left, right, &out, &last_error));
	return ok ? keep(out, 'e') : NULL;
}

/* ---- tables as text ---- */

/* Where the word that begins at `at` ends: blanks and bars inside brackets belong to it. */
static inline const char *word_end(const char *at, char stop)
{
	for (int depth = 0; *at && (depth || (*at != ' ' && *at != stop)); at++)
		depth += *at == '[' || *at == '{' || *at == '(' ? 1 : *at == ']' || *at == '}' || *at == ')' ? -1 : 0;
	return at;
}

static inline const char *dtype_end(const char *at)
{
	for (int depth = 0; *at && (depth || (*at != ',' && *at != ')' && *at != '}' && *at != ' ')); at++)
		depth += *at == '(' || *at == '{' ? 1 : *at == ')' || *at == '}' ? -1 : 0;
	return at;
}

static inline bool append_word(nk_series_builder *builder, const char *dtype, const char *at, const char *end)
{
	char word[256];
	snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
	if (strcmp(word, "null") == 0)
		return nk_series_builder_null(builder, &last_error) == NK_OK;
	if (strncmp(dtype, "List(", 5) == 0 || strncmp(dtype, "Struct{", 7) == 0) {
		bool is_list = *dtype == 'L', ok = true;
		const char *inner = dtype + (is_list ? 5 : 7);
		int i = 0;
		for (const char *item = at + 1; ok && item < end - 1; item += *item == ',', i++) {
			if (!is_list)
				inner = strchr(inner, ':') + 1;
			char item_dtype[128];
			snprintf(item_dtype, sizeof item_dtype, "%.*s", (int)(dtype_end(inner) - inner), inner);
			const char *stop = word_end(item, ',');
			stop = stop < end - 1 ? stop : end - 1;
			ok = append_word(nk_series_builder_child(builder, is_list ? 0 : i), item_dtype, item, stop);
			item = stop;
		}
		return ok && nk_series_builder_nested(builder, &last_error) == NK_OK;
	}
	if (strcmp(dtype, "Boolean") == 0)
		return nk_series_builder_boolean(builder, *word == 't', &last_error) == NK_OK;
	if (strcmp(dtype, "String") == 0 || strcmp(dtype, "Binary") == 0) {
		const char *bytes = strcmp(word, "\"\"") == 0 ? "" : word;
		return nk_series_builder_bytes(builder, bytes, (int64_t)strlen(bytes), &last_error) == NK_OK;
	}
	if (strncmp(dtype, "Float", 5) == 0)
		return nk_series_builder_float(builder, strtod(word, NULL), &last_error) == NK_OK;
	long long number = strtoll(word, NULL, 10);
	return nk_series_builder_integer(builder, (uint64_t)number, number < 0 ? -1 : 0, &last_error) == NK_OK;
}

static inline nk_frame *frame(const char *table)
{
	char names[16][32], dtypes[16][96];
	nk_series_builder *builders[16] = {0};
	nk_series *series[16] = {0};
	nk_frame *out = NULL;
	int n = 0;
	bool ok = true;
	const char *at = table;
	while (*at && *at != '|' && n < 16) {
		const char *colon = strchr(at, ':'), *end = word_end(at, '|');
		snprintf(names[n], sizeof names[n], "%.*s", (int)(colon - at), at);
		snprintf(dtypes[n], sizeof dtypes[n], "%.*s", (int)(end - colon - 1), colon + 1);
		ok = ok && nk_series_builder_new(dtypes[n], &builders[n], &last_error) == NK_OK;
		n += ok;
		for (at = end; *at == ' ';)
			at++;
	}
	while (ok && *at == '|') {
		at++;
		for (int c = 0; ok && c < n; c++) {
			while (*at == ' ')
				at++;
			const char *end = word_end(at, '|');
			ok = append_word(builders[c], dtypes[c], at, end);
			at = end;
		}
		while (*at == ' ')
			at++;
	}
	for (int c = 0; c < n; c++) {
		ok = ok && nk_series_builder_finish(builders[c], names[c], &series[c], &last_error) == NK_OK;
		nk_series_builder_free(builders[c]);
	}
	ok = ok && nk_frame_from_series(series, n, 0, &out, &last_error) == NK_OK;
	for (int c = 0; c < n; c++)
		nk_series_unref(series[c]);
	if (!ok)
		fprintf(stderr, "cannot read the table %s: %s\n", table, last_error.message);
	return keep(out, 'f');
}

static inline nk_plan *table(const char *text)
{
	nk_plan *out = NULL;
	nk_frame *rows = frame(text);
	return rows && went_well(nk_plan_from_frame(rows, &out, &last_error)) ? keep(out, 'p') : NULL;
}

typedef struct words {
	char *text;
	size_t n, capacity;
} words;

static inline void words_add(words *to, const char *text, int64_t n_bytes)
{
	size_t n = n_bytes < 0 ? strlen(text) : (size_t)n_bytes;
	if (to->n + n + 1 > to->capacity) {
		to->capacity = (to->capacity + n) * 2 + 64;
		to->text = realloc(to->text, to->capacity);
	}
	memcpy(to->text + to->n, text, n);
	to->n += n;
	to->text[to->n] = 0;
}

static inline void words_add_dtype(words *to, const char *dtype)
{
	for (; *dtype; dtype++)
		if (*dtype != ' ')
			words_add(to, dtype, 1);
}

static inline void words_add_value(words *to, nk_series *series, int64_t row)
{
	nk_value value;
	char word[64] = "null";
	if (nk_series_get(series, row, &value, &last_error) != NK_OK) {
		words_add(to, "?", 1);
		return;
	}
	switch (value.kind) {
	case NK_VALUE_NULL: break;
	case NK_VALUE_BOOLEAN: strcpy(word, value.boolean ? "true" : "false"); break;
	case NK_VALUE_FLOAT: snprintf(word, sizeof word, "%.12g", value.floating); break;
	case NK_VALUE_INTEGER:
		if (value.high == 0)
			snprintf(word, sizeof word, "%llu", (unsigned long long)value.low);
		else
			snprintf(word, sizeof word, "%lld", (long long)value.low);
		break;
	case NK_VALUE_STRING:
	case NK_VALUE_BINARY:
		words_add(to, value.n_bytes ? value.bytes : "\"\"", value.n_bytes ? value.n_bytes : 2);
		return;
	case NK_VALUE_SERIES: {
		/* a List's items, or one row of a Struct, whose fields `struct.field` would give: count them only */
		bool is_list = strncmp(nk_series_dtype(series), "List", 4) == 0;
		words_add(to, is_list ? "[" : "{", 1);
		for (int64_t i = 0; is_list && i < nk_series_length(value.series); i++) {
			words_add(to, ",", i > 0);
			words_add_value(to, value.series, i);
		}
		words_add(to, is_list ? "]" : "}", 1);
		nk_series_unref(value.series);
		return;
	}
	}
	words_add(to, word, -1);
}

static inline int by_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The frame as a table; `sorted`: rows in the order of their text. To be freed. */
static inline char *show(nk_frame *rows, bool sorted)
{
	words out = {0};
	int width = nk_frame_width(rows);
	int64_t height = nk_frame_height(rows);
	nk_series **columns = calloc((size_t)width + 1, sizeof *columns);
	char **lines = calloc((size_t)height + 1, sizeof *lines);
	words_add(&out, "", 0);
	for (int c = 0; c < width; c++) {
		words_add(&out, c ? " " : "", -1);
		words_add(&out, nk_frame_name(rows, c), -1);
		words_add(&out, ":", 1);
		words_add_dtype(&out, nk_frame_dtype(rows, c));
		EXPECT(nk_frame_column(rows, c, &columns[c], &last_error) == NK_OK);
	}
	for (int64_t r = 0; r < height; r++) {
		words line = {0};
		words_add(&line, " |", 2);
		for (int c = 0; c < width; c++) {
			words_add(&line, " ", 1);
			words_add_value(&line, columns[c], r);
		}
		lines[r] = line.text;
	}
	if (sorted)
		qsort(lines, (size_t)height, sizeof *lines, by_words);
	for (int64_t r = 0; r < height; r++) {
		words_add(&out, lines[r], -1);
		free(lines[r]);
	}
	for (int c = 0; c < width; c++)
		nk_series_unref(columns[c]);
	free(columns);
	free(lines);
	return out.text;
}

/* ---- plans ---- */

#define PLAN(made) (went_well(made) ? keep(out_plan, 'p') : NULL)
static inline bool all_there(nk_expr *const *exprs, int n)
{
	for (int i = 0; i < n; i++)
		if (!exprs[i])
			return false;
	return true;
}

static inline nk_plan *filter_(nk_plan *plan, nk_expr *const *exprs, int n)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(exprs, n) ? PLAN(nk_plan_filter(plan, exprs, n, &out_plan, &last_error)) : NULL;
}
#define filter(plan, ...) filter_(plan, EXPRS(__VA_ARGS__))

static inline nk_plan *select_(nk_plan *plan, nk_expr *const *exprs, int n, bool eager)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(exprs, n) ? PLAN(nk_plan_select(plan, exprs, n, eager, &out_plan, &last_error))
	                                   : NULL;
}
#define pick(plan, ...) select_(plan, EXPRS(__VA_ARGS__), false)
#define pick_eagerly(plan, ...) select_(plan, EXPRS(__VA_ARGS__), true)

static inline nk_plan *with_(nk_plan *plan, nk_expr *const *exprs, int n, bool eager)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(exprs, n)
	           ? PLAN(nk_plan_with_columns(plan, exprs, n, eager, &out_plan, &last_error))
	           : NULL;
}
#define with(plan, ...) with_(plan, EXPRS(__VA_ARGS__), false)
#define with_eagerly(plan, ...) with_(plan, EXPRS(__VA_ARGS__), true)

static inline nk_plan *group_(nk_plan *plan, nk_expr *const *keys, int n_keys, nk_expr *const *exprs, int n,
                              bool ordered)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(keys, n_keys) && all_there(exprs, n)
	           ? PLAN(nk_plan_group_by(plan, keys, n_keys, exprs, n, ordered, &out_plan, &last_error))
	           : NULL;
}
#define group(plan, key, ...) group_(plan, (nk_expr *const[]){key}, 1, EXPRS(__VA_ARGS__), true)
#define group_unordered(plan, key, ...) group_(plan, (nk_expr *const[]){key}, 1, EXPRS(__VA_ARGS__), false)

static inline nk_plan *join_(nk_plan *left, nk_plan *right, nk_expr *const *left_on, nk_expr *const *right_on,
                             int n, const nk_join_options *options)
{
	nk_plan *out_plan = NULL;
	return left && right && all_there(left_on, n) && all_there(right_on, n)
	           ? PLAN(nk_plan_join(left, right, left_on, right_on, n, options, &out_plan, &last_error))
	           : NULL;
}
/* join(left, right, "key", .how = "left", .coalesce = 1) */
#define join(left, right, key, ...)                                                   \
	join_(left, right, (nk_expr *const[]){col(key)}, (nk_expr *const[]){col(key)}, 1, \
	      &(nk_join_options){.size = sizeof(nk_join_options), __VA_ARGS__})

static inline nk_plan *sort_(nk_plan *plan, nk_expr *const *by, int n, const bool *descending,
                             const bool *nulls_last, bool maintain_order)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(by, n) ? PLAN(nk_plan_sort(plan, by, n, descending, nulls_last, maintain_order,
	                                                    &out_plan, &last_error))
	                                : NULL;
}
#define sorted_by(plan, ...) sort_(plan, EXPRS(__VA_ARGS__), NULL, NULL, true)

static inline nk_plan *slice(nk_plan *plan, int64_t offset, int64_t length)
{
	nk_plan *out_plan = NULL;
	return plan ? PLAN(nk_plan_slice(plan, offset, length, &out_plan, &last_error)) : NULL;
}

static inline nk_plan *unique_(nk_plan *plan, nk_expr *const *subset, int n, const char *kept_rows,
                               bool ordered)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(subset, n)
	           ? PLAN(nk_plan_unique(plan, subset, n, kept_rows, ordered, &out_plan, &last_error))
	           : NULL;
}

static inline nk_plan *concat_(const char *how, nk_plan *const *plans, int n)
{
	nk_plan *out_plan = NULL;
	for (int i = 0; i < n; i++)
		if (!plans[i])
			return NULL;
	return PLAN(nk_plan_concat(plans, n, how, &out_plan, &last_error));
}
#define concat(how, ...)                          \
	concat_(how, (nk_plan *const[]){__VA_ARGS__}, \
	        (int)(sizeof((nk_plan *[]){__VA_ARGS__}) / sizeof(nk_plan *)))

static inline nk_plan *row_index(nk_plan *plan, const char *name, int64_t offset)
{
	nk_plan *out_plan = NULL;
	return plan ? PLAN(nk_plan_row_index(plan, name, offset, &out_plan, &last_error)) : NULL;
}

static inline nk_plan *rename_(nk_plan *plan, const char *const *from, const char *const *to, int n,
                               bool strict)
{
	nk_plan *out_plan = NULL;
	return plan ? PLAN(nk_plan_rename(plan, from, to, n, strict, &out_plan, &last_error)) : NULL;
}

static inline nk_plan *drop_(nk_plan *plan, nk_expr *const *exprs, int n, bool strict)
{
	nk_plan *out_plan = NULL;
	return plan && all_there(exprs, n) ? PLAN(nk_plan_drop(plan, exprs, n, strict, &out_plan, &last_error))
	                                   : NULL;
}

/* ---- expectations ---- */

static inline void expect_text(const char *file, int line, const char *what, const char *got,
                               const char *wanted)
{
	if (got && strcmp(got, wanted) == 0)
		return;
	fprintf(stderr, "%s:%d: %s\n     got %s\n  wanted %s\n", file, line, what, got ? got : "nothing", wanted);
	expect_n_failed++;
}

static inline nk_frame *collected(const char *file, int line, const char *what, nk_plan *plan,
                                  uint32_t skipped)
{
	nk_frame *out = NULL;
	nk_query_options options = NK_OPTIONS(nk_query_options);
	options.skip_optimizations = skipped;
	nk_error err = {0};
	if (plan && nk_plan_collect(plan, &options, &out, &err) == NK_OK)
		return out;
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, plan ? err.message : last_error.message);
	expect_n_failed++;
	return NULL;
}

static inline void expect_rows(const char *file, int line, const char *what, nk_plan *plan,
                               const char *wanted, bool sorted, uint32_t skipped)
{
	nk_frame *rows = collected(file, line, what, plan, skipped);
	char *got = rows ? show(rows, sorted) : NULL;
	if (rows)
		expect_text(file, line, what, got, wanted);
	free(got);
	nk_frame_unref(rows);
}

static inline void expect_table(const char *file, int line, nk_plan *plan, const char *wanted, bool sorted)
{
	expect_rows(file, line, "the result", plan, wanted, sorted, 0);
	if (!plan)
		return;
	expect_rows(file, line, "the result without optimisations", plan, wanted, sorted, ~0u);
	nk_frame *schema = NULL;
	nk_error err = {0};
	if (nk_plan_collect_schema(plan, &schema, &err) == NK_OK) {
		char *got = show(schema, false), *head = strdup(wanted);
		char *bar = strstr(head, " |");
		if (bar)
			*bar = 0;
		expect_text(file, line, "the schema", got, head);
		free(got);
		free(head);
		nk_frame_unref(schema);
	} else {
		expect_text(file, line, "the schema", err.message, "none");
	}
	char *bytes, *text;
	int64_t n_bytes;
	nk_plan *again;
	if (nk_plan_serialise(plan, &bytes, &n_bytes, &err) == NK_OK) {
		if (nk_plan_deserialise(bytes, n_bytes, &again, &err) == NK_OK) {
			expect_rows(file, line, "the result after serialisation", again, wanted, sorted, 0);
			nk_plan_unref(again);
		} else {
			expect_text(file, line, "deserialisation", err.message, "no error");
		}
		nk_text_free(bytes);
	} else {
		expect_text(file, line, "serialisation", err.message, "no error");
	}
	for (int way = 0; way < 8; way++)
		if (nk_plan_explain(plan, way & 1 ? "dot" : "text", way & 2, way & 4, NULL, &text, &err) == NK_OK) {
			if (!*text)
				expect_text(file, line, "explain", text, "some text");
			nk_text_free(text);
		} else {
			expect_text(file, line, "explain", err.message, "no error");
		}
}
#define EXPECT_TABLE(plan, wanted) expect_table(__FILE__, __LINE__, plan, wanted, false)
#define EXPECT_SET(plan, wanted) expect_table(__FILE__, __LINE__, plan, wanted, true)

/* Fails when built or when run, with this code and this part in its message. */
static inline void expect_failure(const char *file, int line, nk_plan *plan, nk_status code, const char *part)
{
	nk_error err = last_error;
	nk_status status = last_status;
	nk_frame *rows = (nk_frame *)&err;
	if (plan)
		status = nk_plan_collect(plan, NULL, &rows, &err);
	if (status == NK_OK) {
		char *got = show(rows, false);
		expect_text(file, line, "a failure", got, "an error");
		free(got);
		nk_frame_unref(rows);
		return;
	}
	if (status != code || !strstr(err.message, part)) {
		fprintf(stderr, "%s:%d: status %d, wanted %d with \"%s\": %s\n", file, line, (int)status, (int)code,
		        part, err.message);
		expect_n_failed++;
	}
	if (plan && (rows != (nk_frame *)&err || err.code != status)) {
		fprintf(stderr, "%s:%d: the output was touched, or the error has another code\n", file, line);
		expect_n_failed++;
	}
}
#define EXPECT_FAILURE(plan, code, part) expect_failure(__FILE__, __LINE__, plan, code, part)

/* Run `tests` here and in a child for each of the settings that must not matter. Call before anything else. */
static inline int run_with_settings(void (*tests)(void))
{
	static const char *const settings[][6] = {
		{"NANUK_BATCH_ROWS", "1", "NANUK_MAX_THREADS", "1"},
		{"NANUK_BATCH_ROWS", "3", "NANUK_MAX_THREADS", "4"},
		{"NANUK_FORCE_SPILL", "1", "NANUK_MAX_THREADS", "2", "NANUK_BATCH_ROWS", "3"},
	};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		pid_t child = fork();
		if (child == 0) {
			for (int s = 0; s < 6 && settings[i][s]; s += 2)
				setenv(settings[i][s], settings[i][s + 1], 1);
			tests();
			drop_all();
			fflush(NULL);
			exit(expect_n_failed != 0);
		}
		int how = 1;
		EXPECT(child > 0 && waitpid(child, &how, 0) == child);
		if (how != 0) {
			fprintf(stderr, "failed with");
			for (int s = 0; s < 6 && settings[i][s]; s += 2)
				fprintf(stderr, " %s=%s", settings[i][s], settings[i][s + 1]);
			fprintf(stderr, "\n");
			expect_n_failed++;
		}
	}
	tests();
	drop_all();
	return expect_report();
}

#endif
