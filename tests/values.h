/* A small language for tests of functions: the one of the registry's examples.
 *
 *     add([1, null], Int32[2, 3]) == Int64[3, null]          values and, where written, the dtype
 *     quantile([1, 2], quantile=0.5, interpolation="lower") == [1.0]
 *     cast(["x"], dtype=Int64) ! InvalidOperation            a class of error
 *
 * Lists are columns: integers are Int64, numbers with a point Float64, quoted text String. A bare value is an untyped
 * literal. A dtype in front takes the list as it stands (temporal values and Decimals as unscaled integers when they
 * have no point); a Struct's value is {its fields}, after such a dtype. Calls are bound as the planner does it, arguments are cast, and elementwise ones run whole and row
 * by row; aggregates run over the column, as one segment, and as states of groups merged from two halves. */
#ifndef NK_TESTS_VALUES_H
#define NK_TESTS_VALUES_H

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/builder.h"
#include "columnar/parse.h"
#include "compute/compare.h"
#include "expect.h"
#include "func/cast.h"
#include "func/func.h"

enum { VALUES_MAX = 8 };

typedef struct values_text {
	const char *at;
	nk_memory *memory;
	nk_arena *arena;
	nk_error err;
} values_text;

typedef struct values_arg {
	nk_array *array; /* owned */
	bool is_bare, has_dtype;
} values_arg;

static inline void values_skip(values_text *text)
{
	while (*text->at == ' ')
		text->at++;
}

static inline bool values_take(values_text *text, const char *word)
{
	values_skip(text);
	size_t n = strlen(word);
	if (strncmp(text->at, word, n) != 0)
		return false;
	text->at += n;
	return true;
}

/* Where the value that begins at `at` ends. */
static inline const char *values_end(const char *at)
{
	int depth = 0;
	char quoted = 0;
	for (; *at; at++) {
		if (quoted ? *at == quoted : *at == '"' || *at == '\'')
			quoted = quoted ? 0 : *at;
		else if (!quoted && (*at == '[' || *at == '(' || *at == '{'))
			depth++;
		else if (!quoted && depth > 0 && (*at == ']' || *at == ')' || *at == '}'))
			depth--;
		else if (!quoted && depth == 0 && strchr(",])} ", *at))
			break;
	}
	return at;
}

/* What a list's or a bare value's text says about its dtype. */
static inline const nk_dtype *values_guess(const char *at, const char *end)
{
	const nk_dtype *best = NULL;
	while (at < end) {
		while (at < end && (*at == ' ' || *at == ','))
			at++;
		if (at >= end)
			break;
		const char *stop = values_end(at);
		const nk_dtype *one = NULL;
		if (*at == '[') {
			const nk_dtype *item = values_guess(at + 1, stop - 1);
			one = nk_dtype_list(item ? item : nk_dtype_of(NK_TYPE_NULL));
		} else if (*at == '"' || *at == '\'') {
			one = nk_dtype_of(NK_TYPE_STRING);
		} else if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0) {
			one = nk_dtype_of(NK_TYPE_BOOLEAN);
		} else if (strncmp(at, "null", 4) != 0) {
			bool is_float = false;
			for (const char *c = at; c < stop; c++)
				is_float |= *c == '.' || *c == 'n' || *c == 'f' || *c == 'e';
			one = nk_dtype_of(is_float ? NK_TYPE_FLOAT64 : NK_TYPE_INT64);
		}
		bool says_nothing = one && one->id == NK_TYPE_LIST && one->fields[0].dtype->id == NK_TYPE_NULL;
		if (one && (!best || best->id == NK_TYPE_INT64 || (one->id == NK_TYPE_LIST && !says_nothing)))
			best = one;
		at = stop;
	}
	return best;
}

static inline nk_status values_append(nk_builder *builder, const nk_dtype *dtype, const char *at,
                                      const char *end, nk_error *err)
{
	char word[256];
	size_t n = (size_t)(end - at) < sizeof word - 1 ? (size_t)(end - at) : sizeof word - 1;
	memcpy(word, at, n);
	word[n] = 0;
	if (strcmp(word, "null") == 0)
		return nk_builder_append_null(builder, err);
	if (nk_type_is_nested(dtype->id)) {
		const char *item = at + 1;
		for (int i = 0; item < end - 1; i++) {
			while (*item == ' ' || *item == ',')
				item++;
			if (item >= end - 1)
				break;
			const char *stop = values_end(item);
			int child = dtype->id == NK_TYPE_STRUCT ? i : 0;
			NK_TRY(
				values_append(nk_builder_child(builder, child), dtype->fields[child].dtype, item, stop, err));
			item = stop;
		}
		return nk_builder_append_nested(builder, err);
	}
	if (dtype->id == NK_TYPE_BOOLEAN)
		return nk_builder_append_boolean(builder, word[0] == 't', err);
	if (nk_type_is_textual(dtype->id) || nk_type_is_category(dtype->id))
		return nk_builder_append_bytes(builder, at + 1, end - at - 2, err);
	if (nk_type_is_float(dtype->id))
		return nk_builder_append_float(builder, strtod(word, NULL), err);
	__int128 value = 0;
	int scale = dtype->id == NK_TYPE_DECIMAL && strchr(word, '.') ? dtype->scale : 0;
	if (!nk_parse_decimal(word, (int64_t)n, 38, scale, &value))
		return nk_fail(err, NK_VALUE, "the test cannot read %s", word);
	return nk_builder_append_integer(builder, value, err);
}

/* [dtype] list or bare value. */
static inline nk_status values_read(values_text *text, const nk_dtype *expected, values_arg *out)
{
	values_skip(text);
	const char *start = text->at, *open = start;
	const nk_dtype *dtype = NULL;
	*out = (values_arg){0};
	if (isupper((unsigned char)*start)) {
		int depth = 0;
		if (strncmp(start, "Enum[", 5) == 0) /* its own brackets come first */
			open = strchr(start, ']') + 1;
		for (; *open && (*open != '[' || depth > 0); open++)
			depth += *open == '(' ? 1 : *open == ')' ? -1 : 0;
		char name[128];
		snprintf(name, sizeof name, "%.*s", (int)(open - start), start);
		NK_TRY(nk_dtype_parse(name, &dtype, &text->err));
		out->has_dtype = true;
	}
	const char *end = values_end(open);
	out->is_bare = *open != '[';
	const char *first = out->is_bare ? open : open + 1, *last = out->is_bare ? end : end - 1;
	if (!dtype)
		dtype = expected;
	if (!dtype)
		dtype = values_guess(first, last);
	if (!dtype)
		dtype = nk_dtype_of(out->is_bare ? NK_TYPE_NULL : NK_TYPE_FLOAT64);
	if (out->is_bare && dtype->id == NK_TYPE_INT64)
		dtype = nk_dtype_of(NK_TYPE_INT32);
	if (out->is_bare && dtype->id == NK_TYPE_INT32 &&
	    strtoll(first, NULL, 10) != (int32_t)strtoll(first, NULL, 10))
		dtype = nk_dtype_of(NK_TYPE_INT64);
	NK_AUTO(nk_builder) builder = NULL;
	NK_TRY(nk_builder_new(text->memory, dtype, &builder, &text->err));
	const char *at = first;
	while (at < last) {
		while (*at == ' ' || *at == ',')
			at++;
		if (at >= last)
			break;
		const char *stop = values_end(at);
		NK_TRY(values_append(builder, dtype, at, stop, &text->err));
		at = stop;
	}
	text->at = end;
	return nk_builder_finish(builder, &out->array, &text->err);
}

static inline nk_status values_option(values_text *text, const nk_func *func, const char *name,
                                      nk_option *options)
{
	int i = nk_func_option(func, name);
	if (i < 0)
		return nk_fail(&text->err, NK_VALUE, "no option %s", name);
	const char *end = values_end(text->at);
	char word[128];
	snprintf(word, sizeof word, "%.*s", (int)(end - text->at), text->at);
	text->at = end;
	switch (options[i].kind) {
	case NK_OPTION_BOOL: options[i].boolean = tolower((unsigned char)word[0]) == 't'; return NK_OK;
	case NK_OPTION_INT: options[i].integer = strtoll(word, NULL, 10); return NK_OK;
	case NK_OPTION_FLOAT: options[i].floating = strtod(word, NULL); return NK_OK;
	case NK_OPTION_STRING:
		return nk_arena_string(text->arena, word + 1, (int64_t)strlen(word) - 2, &options[i].string,
		                       &text->err);
	case NK_OPTION_DTYPE: return nk_dtype_parse(word, &options[i].dtype, &text->err);
	case NK_OPTION_FOREIGN: break;
	}
	return NK_OK;
}

static inline nk_status values_validity(nk_memory *memory, nk_array *const *args, int n_args, int64_t n_rows,
                                        nk_buffer **out, nk_error *err)
{
	NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(n_rows), out, err));
	for (int64_t i = 0; i < n_rows; i++) {
		bool valid = true;
		for (int a = 0; a < n_args; a++)
			valid &= nk_array_is_valid(args[a], i);
		nk_bitmap_put((*out)->bytes, i, valid);
	}
	return NK_OK;
}

/* An elementwise kernel and what the evaluator does around it. */
static inline nk_status values_elementwise(const nk_call *model, nk_kernel *kernel, nk_array *const *args,
                                           int n_args, int64_t n_rows, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_array) flat = NULL;
	nk_call call = *model;
	bool propagates = call.func->nulls == NK_NULLS_PROPAGATE;
	NK_TRY(values_validity(call.memory, args, n_args, n_rows, &validity, err));
	call.validity = propagates ? validity->bytes : NULL;
	NK_TRY(kernel(&call, args, n_rows, &result, err));
	NK_TRY(nk_array_validate(result, err));
	if (result->n_rows != n_rows)
		return nk_fail(err, NK_SHAPE, "%lld rows instead of %lld", (long long)result->n_rows,
		               (long long)n_rows);
	if (!propagates) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	NK_TRY(nk_array_flatten(call.memory, result, &flat, err));
	for (int64_t i = 0; i < n_rows; i++)
		if (!nk_array_is_valid(flat, i))
			nk_bitmap_clear(validity->bytes, i);
	if (flat->physical == NK_PHYSICAL_NONE) {
		*out = NK_STEAL(flat);
		return NK_OK;
	}
	return nk_array_with_validity(flat, NK_STEAL(validity), -1, out, err);
}

static inline bool values_equal(const nk_array *want, int64_t i, const nk_array *got, int64_t j)
{
	bool valid = nk_array_is_valid(want, i) && nk_array_is_valid(got, j);
	if (!valid)
		return nk_array_is_valid(want, i) == nk_array_is_valid(got, j);
	if (nk_type_is_float(want->dtype->id)) {
		double a = nk_scalar_read(want, i).floating, b = nk_scalar_read(got, j).floating;
		double near = want->dtype->id == NK_TYPE_FLOAT32 ? 1e-6 : 1e-13;
		return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)) ||
		       (a != b && fabs(a - b) <= near * fabs(a));
	}
	return nk_rows_equal(want, i, got, j);
}

static inline bool values_match(const nk_array *want, const nk_array *got)
{
	if (want->n_rows != got->n_rows || want->dtype != got->dtype)
		return false;
	for (int64_t i = 0; i < want->n_rows; i++)
		if (!values_equal(want, i, got, i))
			return false;
	return true;
}

/* Two halves into the states of one group each, merged; and all rows into a third group. */
static inline nk_status values_states(const nk_call *call, const nk_aggregate *aggregate,
                                      nk_array *const *args, int n_args, int64_t n_rows, nk_array **out,
                                      nk_error *err)
{
	NK_AUTO(nk_arena) arena = nk_arena_new(call->memory);
	NK_AUTO(nk_buffer) states = NULL;
	int64_t size = aggregate->state_size, half = n_rows / 2;
	NK_TRY(nk_buffer_new_zeroed(call->memory, 3 * size, &states, err));
	for (int part = 0; part < 3; part++) {
		nk_array *slices[VALUES_MAX] = {0};
		int64_t from = part == 1 ? half : 0, n = part == 0 ? half : part == 1 ? n_rows - half : n_rows;
		NK_AUTO(nk_buffer) groups = NULL;
		NK_TRY(nk_buffer_new(call->memory, (n + 1) * (int64_t)sizeof(uint32_t), &groups, err));
		for (int64_t i = 0; i < n; i++)
			((uint32_t *)groups->bytes)[i] = (uint32_t)part;
		for (int a = 0; a < n_args; a++)
			NK_TRY(nk_array_slice(call->memory, args[a], from, n, &slices[a], err));
		NK_TRY(
			aggregate->update(call, states->bytes, (uint32_t *)groups->bytes, slices, n, from, arena, err));
		for (int a = 0; a < n_args; a++)
			nk_array_unref(slices[a]);
	}
	/* The later half first: order must not matter. */
	NK_TRY(aggregate->merge(call, states->bytes + size, (uint32_t[]){0}, states->bytes, 1, arena, err));
	return aggregate->finish(call, states->bytes + size, 2, out, err);
}

static inline nk_status values_run(values_text *text, nk_bind *bind, const nk_option *options,
                                   nk_array **args, int n_args, int64_t n_rows, nk_array **out)
{
	nk_call call = {.func = bind->func,
	                .dtype = bind->dtype,
	                .options = options,
	                .data = bind->data,
	                .memory = text->memory};
	nk_error *err = &text->err;
	if (bind->func->height == NK_ELEMENTWISE) {
		NK_TRY(values_elementwise(&call, bind->kernel, args, n_args, n_rows, out, err));
		for (int64_t i = 0; i < n_rows; i++) {
			nk_array *row[VALUES_MAX] = {0};
			NK_AUTO(nk_array) one = NULL;
			nk_status status = NK_OK;
			bool has_flat = n_args == 0;
			for (int a = 0; a < n_args && status == NK_OK; a++) {
				status = nk_array_slice(text->memory, args[a], i, 1, &row[a], err);
				has_flat |= status == NK_OK && row[a]->encoding == NK_FLAT;
			}
			if (status == NK_OK && !has_flat) {
				nk_array *constant = row[0];
				row[0] = NULL;
				status = nk_array_flatten(text->memory, constant, &row[0], err);
				nk_array_unref(constant);
			}
			if (status == NK_OK)
				status = values_elementwise(&call, bind->kernel, row, n_args, 1, &one, err);
			for (int a = 0; a < n_args; a++)
				nk_array_unref(row[a]);
			NK_TRY(status);
			EXPECT(values_equal(*out, i, one, 0));
		}
		return NK_OK;
	}
	if (bind->kernel)
		NK_TRY(bind->kernel(&call, args, n_rows, out, err));
	else
		NK_TRY(bind->segmented(&call, args, 1, (int64_t[]){0, n_rows}, out, err));
	NK_TRY(nk_array_validate(*out, err));
	if (bind->func->height == NK_LENGTH_PRESERVING && bind->segmented) {
		NK_AUTO(nk_array) segments = NULL;
		NK_TRY(bind->segmented(&call, args, 3, (int64_t[]){0, 0, n_rows, n_rows}, &segments, err));
		EXPECT(segments->n_rows == n_rows);
		for (int64_t i = 0; i < n_rows; i++)
			EXPECT(values_equal(*out, i, segments, i));
	}
	if (bind->func->height != NK_AGGREGATING)
		return NK_OK;
	EXPECT((*out)->n_rows == 1);
	if (bind->segmented) {
		NK_AUTO(nk_array) segments = NULL;
		NK_TRY(bind->segmented(&call, args, 3, (int64_t[]){0, 0, n_rows, n_rows}, &segments, err));
		EXPECT(segments->n_rows == 3 && values_equal(*out, 0, segments, 1));
	}
	if (bind->aggregate) {
		NK_AUTO(nk_array) states = NULL;
		NK_TRY(values_states(&call, bind->aggregate, args, n_args, n_rows, &states, err));
		EXPECT(states->n_rows == 2 && values_equal(*out, 0, states, 0) && values_equal(*out, 0, states, 1));
	}
	return NK_OK;
}

/* Bind, cast, run. Arguments are consumed. */
static inline nk_status values_call(values_text *text, const nk_func *func, values_arg *args, int n_args,
                                    const nk_option *options, nk_array **out)
{
	nk_argument arguments[VALUES_MAX];
	nk_scalar literals[VALUES_MAX];
	int64_t n_rows = n_args ? 1 : 2;
	for (int i = 0; i < n_args; i++) {
		literals[i] = args[i].is_bare ? nk_scalar_read(args[i].array, 0) : (nk_scalar){0};
		arguments[i] = (nk_argument){args[i].array->dtype, args[i].is_bare ? &literals[i] : NULL,
		                             args[i].is_bare && !args[i].has_dtype &&
		                                 args[i].array->dtype->id != NK_TYPE_STRING};
		if (arguments[i].is_untyped && nk_type_is_integer(arguments[i].dtype->id) && !literals[i].is_null)
			arguments[i].low = arguments[i].high = literals[i].integer;
		if (!args[i].is_bare && !(func->name[0] == 'i' && strcmp(func->name, "is_in") == 0 && i == 1))
			n_rows = args[i].array->n_rows;
	}
	nk_bind bind = {.func = func,
	                .args = arguments,
	                .n_args = n_args,
	                .options = options,
	                .arena = text->arena,
	                .fallible = func->fallible};
	NK_TRY(func->bind(&bind, &text->err));
	int last = -1;
	nk_array *arrays[VALUES_MAX];
	for (int i = 0; i < NK_MAX_CASTS; i++)
		last = bind.casts[i] ? i : last;
	for (int i = 0; i < n_args; i++) {
		const nk_dtype *to = bind.casts[i]                                 ? bind.casts[i]
		                     : func->max_args < 0 && last >= 0 && i > last ? bind.casts[last]
		                                                                   : NULL;
		if (to) {
			nk_array *cast = NULL;
			NK_TRY(nk_cast(text->memory, args[i].array, to, (nk_cast_mode){.strict = !bind.cast_is_lossy},
			               &cast, &text->err));
			nk_array_unref(args[i].array);
			args[i].array = cast;
		}
		bool one_list = i == 1 && strcmp(func->name, "is_in") == 0 && args[i].array->n_rows == 1;
		if (args[i].is_bare || one_list) {
			nk_array *constant = NULL;
			NK_TRY(nk_array_new_constant(text->memory, args[i].array, n_rows, &constant, &text->err));
			nk_array_unref(args[i].array);
			args[i].array = constant;
		}
		arrays[i] = args[i].array;
	}
	return values_run(text, &bind, options, arrays, n_args, n_rows, out);
}

static inline const char *values_class(nk_status status)
{
	static const char *const names[NK_STATUS_N] = {
		[NK_OK] = "Ok",           [NK_INVALID_OPERATION] = "InvalidOperation",
		[NK_COMPUTE] = "Compute", [NK_SCHEMA_MISMATCH] = "Schema",
		[NK_VALUE] = "Value",     [NK_OVERFLOW] = "Overflow",
		[NK_SHAPE] = "Shape",     [NK_OUT_OF_BOUNDS] = "OutOfBounds",
	};
	return names[status] ? names[status] : "?";
}

static inline void values_complain(const char *line, const values_text *text, const nk_array *got)
{
	fprintf(stderr, "%s\n", line);
	if (text->err.code)
		fprintf(stderr, "    fails: %s: %s\n", values_class(text->err.code), text->err.message);
	for (int64_t i = 0; got && i < got->n_rows; i++) {
		nk_scalar value = nk_scalar_read(got, i);
		if (value.is_null)
			fprintf(stderr, "    %s null\n", got->dtype->text);
		else if (nk_type_is_float(got->dtype->id))
			fprintf(stderr, "    %s %.17g\n", got->dtype->text, value.floating);
		else if (nk_type_is_textual(got->dtype->id))
			fprintf(stderr, "    %s \"%.*s\"\n", got->dtype->text, (int)value.n_bytes, value.bytes);
		else if (!nk_type_is_nested(got->dtype->id))
			fprintf(stderr, "    %s %lld\n", got->dtype->text,
			        (long long)(got->dtype->id == NK_TYPE_BOOLEAN ? (__int128)value.boolean : value.integer));
		else
			fprintf(stderr, "    %s\n", got->dtype->text);
	}
	expect_n_failed++;
}

/* What the call at the start of a line gives; text->at is left behind it. Arguments are released with the arena. */
static inline nk_status values_evaluate(values_text *out_text, const char *line, values_arg *args,
                                        int *out_n_args, nk_array **out_got)
{
	values_text text = *out_text;
	nk_option options[VALUES_MAX];
	nk_array *got = NULL;
	char name[64];
	int n_args = 0;
	const char *open = strchr(line, '(');
	snprintf(name, sizeof name, "%.*s", (int)(open ? open - line : 0), line);
	const nk_func *func = nk_func_find(name);
	nk_status status = func ? NK_OK : nk_fail(&text.err, NK_VALUE, "no function %s", name);
	for (int i = 0; func && i < nk_func_n_options(func); i++)
		options[i] = func->options[i].fallback;
	text.at = open + 1;
	while (status == NK_OK && !values_take(&text, ")")) {
		values_take(&text, ",");
		values_skip(&text);
		const char *equals = text.at;
		while (isalnum((unsigned char)*equals) || *equals == '_')
			equals++;
		if (*equals == '=' && equals > text.at) {
			snprintf(name, sizeof name, "%.*s", (int)(equals - text.at), text.at);
			text.at = equals + 1;
			status = values_option(&text, func, name, options);
		} else {
			status = values_read(&text, NULL, &args[n_args++]);
		}
	}
	if (status == NK_OK)
		status = values_call(&text, func, args, n_args, options, &got);
	*out_text = text;
	*out_n_args = n_args;
	*out_got = got;
	return status;
}

/* Runs a line's call with the allocation after n refused. Returns whether it succeeded. */
static inline bool values_survives(const char *line, int64_t n)
{
	nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
	nk_memory_refuse_after(memory, n);
	values_text text = {.at = line, .memory = memory, .arena = nk_arena_new(memory)};
	values_arg args[VALUES_MAX] = {0};
	nk_array *got = NULL;
	int n_args = 0;
	nk_status status = text.arena ? values_evaluate(&text, line, args, &n_args, &got) : NK_OUT_OF_MEMORY;
	for (int i = 0; i < n_args; i++)
		nk_array_unref(args[i].array);
	nk_array_unref(got);
	nk_arena_free(text.arena);
	if (nk_memory_used(memory) != 0 || (status != NK_OK && status != NK_OUT_OF_MEMORY)) {
		fprintf(stderr, "%s\n    refused allocation %lld: status %d (%s), leaks %lld bytes\n", line,
		        (long long)n, (int)status, text.err.message, (long long)nk_memory_used(memory));
		expect_n_failed++;
		status = NK_OK;
	}
	nk_memory_unref(memory);
	return status == NK_OK;
}

/* One line of the language. */
static inline void values_check(const char *line)
{
	nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
	values_text text = {.at = line, .memory = memory, .arena = nk_arena_new(memory)};
	values_arg args[VALUES_MAX] = {0}, want = {0};
	nk_array *got = NULL;
	int n_args = 0;
	nk_status status = values_evaluate(&text, line, args, &n_args, &got);
	if (values_take(&text, "!")) {
		values_skip(&text);
		if (strcmp(text.at, values_class(status)) != 0)
			values_complain(line, &text, got);
	} else if (status != NK_OK || !values_take(&text, "==") ||
	           values_read(&text, got->dtype, &want) != NK_OK || !values_match(want.array, got)) {
		values_complain(line, &text, got);
	}
	for (int i = 0; i < n_args; i++)
		nk_array_unref(args[i].array);
	nk_array_unref(want.array);
	nk_array_unref(got);
	nk_arena_free(text.arena);
	if (nk_memory_used(memory) != 0) {
		fprintf(stderr, "%s\n    leaks %lld bytes\n", line, (long long)nk_memory_used(memory));
		expect_n_failed++;
	}
	nk_memory_unref(memory);
}

#endif
