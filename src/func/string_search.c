/* Searching and replacing. A literal pattern is prepared once when the call is bound; patterns that come as a column
 * are prepared row by row, the last one kept. Tests that need no position run as vector search over whole views. */
#include "func/string.h"

#include "base/text.h"
#include "compute/text_pattern.h"
#include "compute/text_writer.h"
#include "func/words.h"

typedef struct search_plan {
	bool is_literal; /* the pattern is plain text */
	bool strict;     /* a bad pattern is an error */
	bool only_test;
	nk_pattern *pattern; /* NULL: look at argument 1 */
	int64_t group;       /* extract */
	int64_t n;           /* replace: how many; -1 all */
} search_plan;

static void free_pattern(void *pattern) { nk_pattern_free(pattern); }

/* Argument 1 becomes a String; when it is a literal, it is prepared, and a bad one refused now. */
static nk_status bind_search(nk_bind *bind, bool is_literal, bool strict, bool only_test, search_plan **out,
                             nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(bind->arena, out, 1, err));
	search_plan *plan = *out;
	*plan = (search_plan){.is_literal = is_literal, .strict = strict, .only_test = only_test, .n = -1};
	bind->data = plan;
	bind->casts[1] = nk_dtype_of(NK_TYPE_STRING);
	const nk_scalar *literal = bind->args[1].literal;
	if (!literal || literal->is_null || literal->dtype->id != NK_TYPE_STRING)
		return NK_OK;
	NK_AUTO(nk_pattern) pattern = NULL;
	nk_error ignored;
	nk_status status = nk_pattern_new(nk_arena_memory(bind->arena), literal->bytes, literal->n_bytes,
	                                  is_literal, only_test, &pattern, strict ? err : &ignored);
	if (status == NK_COMPUTE && !strict)
		return NK_OK;
	NK_TRY(status);
	plan->pattern = NK_STEAL(pattern);
	NK_TRY(nk_arena_defer(bind->arena, free_pattern, plan->pattern, err));
	bind->fallible = plan->pattern->code != NULL;
	return NK_OK;
}

/* ---- The pattern of a row ---- */

typedef struct row_pattern {
	const search_plan *plan;
	nk_memory *memory;
	const nk_array *patterns;
	const nk_pattern *pattern; /* of the last row; NULL: not valid */
	nk_pattern *owned;
	nk_matcher matcher;
	const nk_view *view; /* where the last pattern came from */
} row_pattern;

static void row_pattern_release(row_pattern *row)
{
	nk_matcher_release(&row->matcher);
	nk_pattern_free(row->owned);
}
#define ROW_PATTERN(name, call, args)             \
	__attribute__((cleanup(row_pattern_release))) \
	row_pattern name = {.plan = (call)->data, .memory = (call)->memory, .patterns = (args)[1]}

/* Afterwards row->pattern is the pattern of row i, with a matcher, or NULL when it is null or bad and not strict. */
static nk_status row_pattern_at(row_pattern *row, int64_t i, nk_error *err)
{
	const search_plan *plan = row->plan;
	if (plan->pattern) {
		if (row->pattern)
			return NK_OK;
		row->pattern = plan->pattern;
		return nk_matcher_init(&row->matcher, row->pattern, err);
	}
	if (!nk_array_is_valid(row->patterns, i)) {
		row->pattern = NULL;
		row->view = NULL;
		return NK_OK;
	}
	const nk_view *view = nk__view_at(row->patterns, i);
	const nk_heap *heap = row->patterns->heap;
	if (row->view && nk_view_equal(view, heap, row->view, heap))
		return NK_OK;
	nk_matcher_release(&row->matcher);
	nk_pattern_free(NK_STEAL(row->owned));
	row->pattern = NULL;
	row->view = view;
	nk_error ignored;
	nk_status status = nk_pattern_new(row->memory, nk_view_bytes(view, heap), view->n_bytes, plan->is_literal,
	                                  plan->only_test, &row->owned, plan->strict ? err : &ignored);
	if (status == NK_COMPUTE && !plan->strict)
		return NK_OK;
	NK_TRY(status);
	row->pattern = row->owned;
	return nk_matcher_init(&row->matcher, row->pattern, err);
}

static bool row_is_live(const nk_call *call, int64_t i)
{
	return !call->validity || nk_bitmap_get(call->validity, i);
}

/* ---- contains ---- */

static nk_status contains_rows(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array *result,
                               nk_error *err)
{
	uint8_t *bits = nk_array_values(result), *valid = nk_array_validity(result);
	ROW_PATTERN(row, call, args);
	for (int64_t i = 0; i < n_rows; i++) {
		if (!row_is_live(call, i))
			continue;
		NK_TRY(row_pattern_at(&row, i, err));
		if (!row.pattern) {
			nk_bitmap_clear(valid, i);
			continue;
		}
		bool found;
		const nk_view *view = nk__view_at(args[0], i);
		if (row.pattern->pieces.n_pieces > 0) {
			const nk_array one = {.encoding = NK_FLAT, .values = view, .heap = args[0]->heap};
			uint8_t bit;
			nk_text_match(&one, 1, &row.pattern->pieces, &bit);
			found = bit & 1;
		} else {
			NK_TRY(nk_matcher_find(&row.matcher, nk_view_bytes(view, args[0]->heap), view->n_bytes, 0, &found,
			                       err));
		}
		if (found)
			nk_bitmap_set(bits, i);
	}
	return NK_OK;
}

static nk_status contains_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	const search_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	bool is_plain = plan->pattern && plan->pattern->pieces.n_pieces > 0;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, !is_plain, &result, err));
	if (is_plain)
		nk_text_match(args[0], n_rows, &plan->pattern->pieces, nk_array_values(result));
	else
		NK_TRY(contains_rows(call, args, n_rows, result, err));
	result->n_nulls = is_plain ? 0 : -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

nk_status nk__bind_contains(nk_bind *bind, nk_error *err)
{
	search_plan *plan;
	NK_TRY(nk__need_string(bind, NK_INVALID_OPERATION, err));
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->kernel = contains_kernel;
	return bind_search(bind, bind->options[0].boolean, bind->options[1].boolean, true, &plan, err);
}

/* ---- starts_with, ends_with ---- */

/* bind->data: the pieces when the affix is a literal. */
static nk_status affix_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, bool at_end,
                              nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	uint8_t *bits = nk_array_values(result);
	if (call->data) {
		nk_text_match(args[0], n_rows, call->data, bits);
		*out = NK_STEAL(result);
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i), *affix = nk__view_at(args[1], i);
		uint32_t n = view->n_bytes, n_affix = affix->n_bytes;
		const char *bytes = nk_view_bytes(view, args[0]->heap), *wanted = nk_view_bytes(affix, args[1]->heap);
		if (n_affix <= n && memcmp(bytes + (at_end ? n - n_affix : 0), wanted, n_affix) == 0)
			nk_bitmap_set(bits, i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status starts_with_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                    nk_array **out, nk_error *err)
{
	return affix_kernel(call, args, n_rows, false, out, err);
}

static nk_status ends_with_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	return affix_kernel(call, args, n_rows, true, out, err);
}

static nk_status bind_affix(nk_bind *bind, bool at_end, nk_error *err)
{
	NK_TRY(nk__need_string(bind, NK_INVALID_OPERATION, err));
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->kernel = at_end ? ends_with_kernel : starts_with_kernel;
	bind->casts[1] = nk_dtype_of(NK_TYPE_STRING);
	const nk_scalar *literal = bind->args[1].literal;
	if (!literal || literal->is_null || literal->dtype->id != NK_TYPE_STRING)
		return NK_OK;
	nk_text_pieces *pieces;
	nk_text_piece *piece;
	NK_TRY(NK_ARENA_NEW(bind->arena, &pieces, 1, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &piece, 1, err));
	NK_TRY(nk_arena_string(bind->arena, literal->bytes, literal->n_bytes, &piece->bytes, err));
	piece->n_bytes = literal->n_bytes;
	*pieces = (nk_text_pieces){.at_start = !at_end, .at_end = at_end, .n_pieces = 1, .pieces = piece};
	bind->data = pieces;
	return NK_OK;
}

nk_status nk__bind_starts_with(nk_bind *bind, nk_error *err) { return bind_affix(bind, false, err); }
nk_status nk__bind_ends_with(nk_bind *bind, nk_error *err) { return bind_affix(bind, true, err); }

/* ---- find, count_matches ---- */

static nk_status find_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, true, &result, err));
	uint32_t *to = nk_array_values(result);
	uint8_t *valid = nk_array_validity(result);
	ROW_PATTERN(row, call, args);
	for (int64_t i = 0; i < n_rows; i++) {
		bool found = false;
		to[i] = 0;
		if (row_is_live(call, i)) {
			const nk_view *view = nk__view_at(args[0], i);
			NK_TRY(row_pattern_at(&row, i, err));
			if (row.pattern)
				NK_TRY(nk_matcher_find(&row.matcher, nk_view_bytes(view, args[0]->heap), view->n_bytes, 0,
				                       &found, err));
			if (found)
				to[i] = (uint32_t)row.matcher.begin;
		}
		if (!found)
			nk_bitmap_clear(valid, i);
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

nk_status nk__bind_find(nk_bind *bind, nk_error *err)
{
	search_plan *plan;
	NK_TRY(nk__need_string(bind, NK_INVALID_OPERATION, err));
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = find_kernel;
	return bind_search(bind, bind->options[0].boolean, bind->options[1].boolean, false, &plan, err);
}

static nk_status count_matches_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                      nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	uint32_t *to = nk_array_values(result);
	ROW_PATTERN(row, call, args);
	for (int64_t i = 0; i < n_rows; i++) {
		to[i] = 0;
		if (!row_is_live(call, i))
			continue;
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		NK_TRY(row_pattern_at(&row, i, err));
		if (!row.pattern)
			continue;
		nk_matcher_start(&row.matcher);
		for (;;) {
			bool found;
			NK_TRY(nk_matcher_step(&row.matcher, bytes, view->n_bytes, &found, err));
			if (!found)
				break;
			to[i]++;
		}
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

nk_status nk__bind_count_matches(nk_bind *bind, nk_error *err)
{
	search_plan *plan;
	NK_TRY(nk__bind_string_kernel(bind, NK_TYPE_UINT32, count_matches_kernel, err));
	return bind_search(bind, bind->options[0].boolean, true, false, &plan, err);
}

/* ---- extract ---- */

static nk_status extract_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const search_plan *plan = call->data;
	NK_AUTO(nk_buffer) views = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_buffer_new_zeroed(call->memory, n_rows * (int64_t)sizeof(nk_view), &views, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows), &validity, err));
	nk_view *to = (nk_view *)views->bytes;
	ROW_PATTERN(row, call, args);
	for (int64_t i = 0; i < n_rows; i++) {
		if (!row_is_live(call, i))
			continue;
		const nk_view *view = nk__view_at(args[0], i);
		NK_TRY(row_pattern_at(&row, i, err));
		if (!row.pattern || plan->group > row.pattern->n_groups)
			continue;
		bool found;
		int64_t begin, end;
		NK_TRY(
			nk_matcher_find(&row.matcher, nk_view_bytes(view, args[0]->heap), view->n_bytes, 0, &found, err));
		if (found && nk_matcher_group(&row.matcher, (int)plan->group, &begin, &end)) {
			to[i] = nk__view_slice(view, args[0]->heap, begin, end);
			nk_bitmap_set(validity->bytes, i);
		}
	}
	return nk__views_into(call, args[0], NK_STEAL(views), NK_STEAL(validity), n_rows, out, err);
}

nk_status nk__bind_extract(nk_bind *bind, nk_error *err)
{
	search_plan *plan;
	NK_TRY(nk__need_string(bind, NK_INVALID_OPERATION, err));
	bind->dtype = nk_dtype_of(NK_TYPE_STRING);
	bind->kernel = extract_kernel;
	NK_TRY(bind_search(bind, false, true, false, &plan, err));
	plan->group = bind->options[0].integer;
	if (plan->group < 0)
		return nk_fail(err, NK_OVERFLOW, "group_index must not be negative, but is %lld",
		               (long long)plan->group);
	return NK_OK;
}

/* ---- replace ---- */

static bool is_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* The group that a name in a replacement stands for; -1: none. */
static int group_of_name(const nk_pattern *pattern, const char *name, int64_t n)
{
	int64_t number = 0;
	for (int64_t i = 0; i < n; i++) {
		if (name[i] < '0' || name[i] > '9')
			return nk_pattern_group_named(pattern, name, n);
		number = NK_MIN(number * 10 + (name[i] - '0'), (int64_t)1 << 30);
	}
	return (int)number;
}

/* Appends a replacement with $1, $name, ${name} and $$ resolved by the last match; a group that is not there is empty. */
static void append_expanded(nk_text *to, const nk_matcher *matcher, const char *bytes, const char *value,
                            int64_t n)
{
	for (int64_t i = 0; i < n;) {
		const char *dollar = memchr(value + i, '$', (size_t)(n - i));
		int64_t at = dollar ? dollar - value : n;
		nk_text_append(to, value + i, at - i);
		if (!dollar)
			return;
		i = at + 1;
		if (i < n && value[i] == '$') {
			nk_text_append_char(to, '$');
			i++;
			continue;
		}
		bool braced = i < n && value[i] == '{';
		int64_t from = i + braced, end = from;
		if (braced) {
			const char *close = memchr(value + from, '}', (size_t)(n - from));
			end = close ? close - value : from;
		} else {
			while (end < n && is_name_char(value[end]))
				end++;
		}
		if (end == from) {
			nk_text_append_char(to, '$');
			continue;
		}
		int64_t begin_group, end_group;
		int group = group_of_name(matcher->pattern, value + from, end - from);
		if (group >= 0 && nk_matcher_group(matcher, group, &begin_group, &end_group))
			nk_text_append(to, bytes + begin_group, end_group - begin_group);
		i = end + braced;
	}
}

static nk_status replace_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const search_plan *plan = call->data;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TEXT(text);
	NK_TEXT_WRITER(writer);
	NK_TRY(nk__validity_of_first(call, args, 1, n_rows, &validity, err));
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	ROW_PATTERN(row, call, args);
	for (int64_t i = 0; i < n_rows; i++) {
		if (!nk_array_is_valid(args[0], i)) {
			nk_text_writer_skip(&writer);
			continue;
		}
		NK_TRY(row_pattern_at(&row, i, err));
		if (!row.pattern)
			return nk_fail(err, NK_COMPUTE, "pattern cannot be 'null' in 'replace' expression");
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		bool has_value = nk_array_is_valid(args[2], i);
		const nk_view *value = has_value ? nk__view_at(args[2], i) : NULL;
		int64_t done = 0;
		text.n_bytes = 0;
		nk_matcher_start(&row.matcher);
		for (int64_t k = 0; has_value && k != plan->n; k++) {
			bool found;
			NK_TRY(nk_matcher_step(&row.matcher, bytes, view->n_bytes, &found, err));
			if (!found)
				break;
			nk_text_append(&text, bytes + done, row.matcher.begin - done);
			if (plan->is_literal)
				nk_text_append(&text, nk_view_bytes(value, args[2]->heap), value->n_bytes);
			else
				append_expanded(&text, &row.matcher, bytes, nk_view_bytes(value, args[2]->heap),
				                value->n_bytes);
			done = row.matcher.end;
		}
		if (done == 0 && text.n_bytes == 0 && !text.failed && (!has_value || view->n_bytes > 0)) {
			NK_TRY(nk_text_writer_append(&writer, bytes, view->n_bytes, err));
			continue;
		}
		nk_text_append(&text, bytes + done, view->n_bytes - done);
		NK_TRY(nk_text_finish(&text, err));
		NK_TRY(nk_text_writer_append(&writer, text.bytes, text.n_bytes, err));
	}
	return nk_text_writer_finish(&writer, NK_STEAL(validity), out, err);
}

static nk_status bind_replace(nk_bind *bind, bool is_literal, int64_t n, nk_error *err)
{
	search_plan *plan;
	NK_TRY(nk__need_string(bind, NK_INVALID_OPERATION, err));
	bind->dtype = nk_dtype_of(NK_TYPE_STRING);
	bind->kernel = replace_kernel;
	bind->casts[2] = bind->dtype;
	NK_TRY(bind_search(bind, is_literal, true, false, &plan, err));
	plan->n = n < 0 ? -1 : n;
	if (n > 1 && plan->pattern && !plan->pattern->is_literal)
		return nk_fail(err, NK_COMPUTE, "regex replacement with 'n > 1' not yet supported");
	return NK_OK;
}

nk_status nk__bind_replace(nk_bind *bind, nk_error *err)
{
	return bind_replace(bind, bind->options[0].boolean, bind->options[1].integer, err);
}

nk_status nk__bind_replace_all(nk_bind *bind, nk_error *err)
{
	const nk_argument *value = &bind->args[2];
	if (value->literal && value->literal->is_null)
		return nk_fail(err, NK_COMPUTE, "value cannot be 'null' in 'replace' expression");
	return bind_replace(bind, bind->options[0].boolean, -1, err);
}
