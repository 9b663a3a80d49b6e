/* Call one function of the registry as the evaluator would, and compare what it gives with text:
 *
 *     EXPECT_CALL("[true, false]", nk__funcs_string, "str.contains", (texts("ab", "b"), one_text("^a")));
 *
 * Arguments come already in the dtypes that the binder casts to. Options are set by option_*() before the call
 * and forgotten after it. A failed call reads "!" and the status's number. All arrays live until calls_done(). */
#ifndef NK_TESTS_CALL_H
#define NK_TESTS_CALL_H

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "columnar/builder.h"
#include "expect.h"
#include "func/func.h"

enum { CALL_MAX = 8, CALL_POOL = 4096 };

static nk_memory *call_memory;
static nk_array *call_pool[CALL_POOL];
static int call_n_pool;
static nk_option call_options[CALL_MAX];
static const char *call_option_names[CALL_MAX];
static int call_n_options;

typedef struct call_arg {
	nk_array *array;
	bool is_literal;
} call_arg;

static inline nk_memory *call_context(void)
{
	if (!call_memory)
		call_memory = nk_memory_new(NULL, INT64_MAX);
	return call_memory;
}

static inline void calls_done(void)
{
	for (int i = 0; i < call_n_pool; i++)
		nk_array_unref(call_pool[i]);
	call_n_pool = 0;
	nk_memory_unref(call_memory);
	call_memory = NULL;
}

static inline call_arg call_keep(nk_array *array, bool is_literal)
{
	EXPECT(array && call_n_pool < CALL_POOL);
	call_pool[call_n_pool++] = array;
	return (call_arg){array, is_literal};
}

static inline call_arg call_texts(const char *const *texts, int n)
{
	NK_AUTO(nk_builder) builder = NULL;
	nk_array *array = NULL;
	bool ok = nk_builder_new(call_context(), nk_dtype_of(NK_TYPE_STRING), &builder, NULL) == NK_OK;
	for (int i = 0; ok && i < n; i++)
		ok = texts[i] ? nk_builder_append_bytes(builder, texts[i], (int64_t)strlen(texts[i]), NULL) == NK_OK
		              : nk_builder_append_null(builder, NULL) == NK_OK;
	EXPECT(ok && nk_builder_finish(builder, &array, NULL) == NK_OK);
	return call_keep(array, false);
}
#define texts(...)                                 \
	call_texts((const char *const[]){__VA_ARGS__}, \
	           (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* INT64_MIN stands for null. */
static inline call_arg call_integers(const nk_dtype *dtype, const int64_t *values, int n)
{
	NK_AUTO(nk_builder) builder = NULL;
	nk_array *array = NULL;
	bool ok = nk_builder_new(call_context(), dtype, &builder, NULL) == NK_OK;
	for (int i = 0; ok && i < n; i++)
		ok = values[i] == INT64_MIN ? nk_builder_append_null(builder, NULL) == NK_OK
		                            : nk_builder_append_integer(builder, values[i], NULL) == NK_OK;
	EXPECT(ok && nk_builder_finish(builder, &array, NULL) == NK_OK);
	return call_keep(array, false);
}
#define integers(dtype, ...)                             \
	call_integers(dtype, (const int64_t[]){__VA_ARGS__}, \
	              (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static inline call_arg call_constant(const call_arg one, bool is_literal)
{
	nk_array *array = NULL;
	EXPECT(nk_array_new_constant(call_context(), one.array, 1, &array, NULL) == NK_OK);
	return call_keep(array, is_literal);
}
#define one_text(text) call_constant(texts(text), true)
#define one_integer(dtype, value) call_constant(integers(dtype, value), true)

static inline void option_boolean(const char *name, bool value)
{
	call_option_names[call_n_options] = name;
	call_options[call_n_options++] = (nk_option){.kind = NK_OPTION_BOOL, .boolean = value};
}

static inline void option_integer(const char *name, int64_t value)
{
	call_option_names[call_n_options] = name;
	call_options[call_n_options++] = (nk_option){.kind = NK_OPTION_INT, .integer = value};
}

static inline void option_string(const char *name, const char *value)
{
	call_option_names[call_n_options] = name;
	call_options[call_n_options++] = (nk_option){.kind = NK_OPTION_STRING, .string = value};
}

static inline void option_dtype(const char *name, const nk_dtype *value)
{
	call_option_names[call_n_options] = name;
	call_options[call_n_options++] = (nk_option){.kind = NK_OPTION_DTYPE, .dtype = value};
}

static inline nk_status call_validity(nk_array *const *args, int n_args, int64_t n_rows, nk_buffer **out,
                                      nk_error *err)
{
	NK_TRY(nk_buffer_new_zeroed(call_context(), nk_bitmap_bytes(n_rows) + 8, out, err));
	for (int64_t i = 0; i < n_rows; i++) {
		bool valid = true;
		for (int a = 0; a < n_args; a++)
			valid &= nk_array_is_valid(args[a], i);
		nk_bitmap_put((*out)->bytes, i, valid);
	}
	return NK_OK;
}

/* What the evaluator does around a batch kernel. */
static inline nk_status call_run(const nk_func *func, const call_arg *args, int n_args, nk_array **out,
                                 nk_error *err)
{
	NK_AUTO(nk_arena) arena = nk_arena_new(call_context());
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	nk_option options[CALL_MAX];
	nk_argument arguments[CALL_MAX];
	nk_scalar literals[CALL_MAX];
	nk_array *arrays[CALL_MAX];
	for (int i = 0; func->options && func->options[i].name; i++) {
		options[i] = func->options[i].fallback;
		for (int k = 0; k < call_n_options; k++)
			if (strcmp(func->options[i].name, call_option_names[k]) == 0)
				options[i] = call_options[k];
	}
	int64_t n_rows = -1;
	for (int i = 0; i < n_args; i++) {
		arrays[i] = args[i].array;
		literals[i] = nk_scalar_read(arrays[i], 0);
		arguments[i] = (nk_argument){arrays[i]->dtype, args[i].is_literal ? &literals[i] : NULL, false};
		if (arrays[i]->encoding == NK_FLAT)
			n_rows = arrays[i]->n_rows;
	}
	if (n_rows < 0)
		return nk_fail(err, NK_VALUE, "one argument has to be flat");
	nk_bind bind = {.func = func,
	                .args = arguments,
	                .n_args = n_args,
	                .options = options,
	                .arena = arena,
	                .fallible = func->fallible};
	NK_TRY(func->bind(&bind, err));
	for (int i = 0; i < n_args; i++)
		if (bind.casts[NK_MIN(i, NK_MAX_CASTS - 1)] && bind.casts[i] != arrays[i]->dtype)
			return nk_fail(err, NK_TYPE, "the test has to cast argument %d to %s", i, bind.casts[i]->text);
	NK_TRY(call_validity(arrays, n_args, n_rows, &validity, err));
	nk_call call = {
		.func = func, .dtype = bind.dtype, .options = options, .data = bind.data, .memory = call_context()};
	bool propagates = func->nulls == NK_NULLS_PROPAGATE;
	call.validity = propagates ? validity->bytes : NULL;
	NK_TRY(bind.kernel(&call, arrays, n_rows, &result, err));
	if (result->n_rows != n_rows || result->dtype != bind.dtype)
		return nk_fail(err, NK_VALUE, "the result has other rows or another dtype than announced");
	NK_TRY(nk_array_validate(result, err));
	if (!propagates || result->encoding != NK_FLAT) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i++)
		if (!nk_array_is_valid(result, i))
			nk_bitmap_clear(validity->bytes, i);
	return nk_array_with_validity(result, NK_STEAL(validity), -1, out, err);
}

static inline void call_format(nk_text *text, const nk_array *array)
{
	nk_text_append_char(text, '[');
	for (int64_t i = 0; i < array->n_rows; i++) {
		nk_scalar scalar = nk_scalar_read(array, i);
		nk_text_append_string(text, i ? ", " : "");
		if (scalar.is_null)
			nk_text_append_string(text, "null");
		else if (scalar.dtype->id == NK_TYPE_BOOLEAN)
			nk_text_append_string(text, scalar.boolean ? "true" : "false");
		else if (nk_type_is_textual(scalar.dtype->id))
			nk_text_append(text, scalar.bytes, scalar.n_bytes);
		else if (nk_type_is_float(scalar.dtype->id))
			nk_text_format(text, "%g", scalar.floating);
		else
			nk_text_format(text, "%lld", (long long)scalar.integer);
	}
	nk_text_format(text, "] %s", array->dtype->text);
}

static inline void expect_call(const char *file, int line, const char *expected, const nk_func *list,
                               const char *name, const call_arg *args, int n_args)
{
	NK_TEXT(text);
	NK_AUTO(nk_array) result = NULL;
	nk_error err = {0};
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	nk_status status = list->name ? call_run(list, args, n_args, &result, &err) : NK_COLUMN_NOT_FOUND;
	call_n_options = 0;
	if (status == NK_OK)
		call_format(&text, result);
	else
		nk_text_format(&text, "!%d", (int)status);
	if (nk_text_finish(&text, NULL) != NK_OK || strcmp(text.bytes, expected) != 0) {
		fprintf(stderr, "%s:%d: %s: got %s, expected %s%s%s\n", file, line, name, text.bytes, expected,
		        status == NK_OK ? "" : ": ", status == NK_OK ? "" : err.message);
		expect_n_failed++;
	}
}
#define CALL_STRIP(...) __VA_ARGS__
#define EXPECT_CALL(expected, list, name, args)                                                \
	expect_call(__FILE__, __LINE__, expected, list, name, (const call_arg[]){CALL_STRIP args}, \
	            (int)(sizeof((const call_arg[]){CALL_STRIP args}) / sizeof(call_arg)))

#endif
