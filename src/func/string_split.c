/* Text in several pieces and back: str.split, str.extract_all, str.join; and str.to_titlecase. Pieces are views into
 * the bytes of the text they come from, so that splitting copies nothing. */
#include <string.h>

#include "compute/text_case.h"
#include "compute/text_pattern.h"
#include "compute/text_writer.h"
#include "func/string.h"
#include "func/words.h"

/* ---- Pieces ---- */

/* Views that grow, of one array's heap. */
typedef struct pieces {
	nk_memory *memory;
	const nk_heap *heap;
	nk_buffer *views;
	int64_t n;
} pieces;

static void pieces_release(pieces *list) { nk_buffer_unref(list->views); }

static nk_status add_piece(pieces *list, const nk_view *view, int64_t begin, int64_t end, nk_error *err)
{
	int64_t room = list->views ? list->views->n_bytes / (int64_t)sizeof(nk_view) : 0;
	if (list->n == room) {
		nk_buffer *larger;
		NK_TRY(nk_buffer_new(list->memory, (room ? 2 * room : 256) * (int64_t)sizeof(nk_view), &larger, err));
		if (list->n)
			memcpy(larger->bytes, list->views->bytes, (size_t)list->n * sizeof(nk_view));
		nk_buffer_unref(list->views);
		list->views = larger;
	}
	((nk_view *)(void *)list->views->bytes)[list->n++] = nk__view_slice(view, list->heap, begin, end);
	return NK_OK;
}

/* ---- The pattern of a row: one for all rows, or the last row's kept ---- */

typedef struct split_plan {
	bool is_literal, inclusive, is_strict, extracts;
} split_plan;

typedef struct row_pattern {
	nk_pattern *pattern; /* NULL: none, or a bad one */
	nk_matcher matcher;
	const nk_view *view;
} row_pattern;

static void row_pattern_release(row_pattern *row)
{
	nk_matcher_release(&row->matcher);
	nk_pattern_free(row->pattern);
}

static nk_status row_pattern_at(const nk_call *call, row_pattern *row, const nk_array *patterns, int64_t i,
                                nk_error *err)
{
	const split_plan *plan = call->data;
	const nk_view *view = nk__view_at(patterns, i);
	if (row->view && nk_view_equal(view, patterns->heap, row->view, patterns->heap))
		return NK_OK;
	nk_matcher_release(&row->matcher);
	nk_pattern_free(NK_STEAL(row->pattern));
	row->matcher = (nk_matcher){0};
	row->view = view;
	nk_error ignored;
	nk_status status =
		nk_pattern_new(call->memory, nk_view_bytes(view, patterns->heap), view->n_bytes, plan->is_literal,
	                   false, &row->pattern, plan->is_strict ? err : &ignored);
	if (status == NK_COMPUTE && !plan->is_strict)
		return NK_OK;
	NK_TRY(status);
	return nk_matcher_init(&row->matcher, row->pattern, err);
}

/* ---- split, extract_all ---- */

static nk_status split_chars(pieces *list, const nk_view *view, const char *bytes, nk_error *err)
{
	for (int64_t at = 0, n = view->n_bytes; at < n;) {
		int64_t end = at + nk_text_seek_char(bytes + at, n - at, 1);
		NK_TRY(add_piece(list, view, at, end, err));
		at = end;
	}
	return NK_OK;
}

static nk_status split_text(const split_plan *plan, pieces *list, nk_matcher *matcher, const nk_view *view,
                            const char *bytes, nk_error *err)
{
	int64_t n = view->n_bytes, begin = 0;
	bool found;
	nk_matcher_start(matcher);
	for (;;) {
		NK_TRY(nk_matcher_step(matcher, bytes, n, &found, err));
		if (!found)
			break;
		NK_TRY(add_piece(list, view, begin, plan->inclusive ? matcher->end : matcher->begin, err));
		begin = matcher->end;
	}
	return begin < n || !plan->inclusive ? add_piece(list, view, begin, n, err) : NK_OK;
}

static nk_status extract_all(pieces *list, nk_matcher *matcher, const nk_view *view, const char *bytes,
                             nk_error *err)
{
	bool found;
	nk_matcher_start(matcher);
	for (;;) {
		NK_TRY(nk_matcher_step(matcher, bytes, view->n_bytes, &found, err));
		if (!found)
			return NK_OK;
		NK_TRY(add_piece(list, view, matcher->begin, matcher->end, err));
	}
}

static nk_status split_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const split_plan *plan = call->data;
	__attribute__((cleanup(pieces_release))) pieces list = {.memory = call->memory, .heap = args[0]->heap};
	__attribute__((cleanup(row_pattern_release))) row_pattern row = {0};
	NK_AUTO(nk_buffer) room = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &room, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows) + 8, &validity, err));
	int64_t *offsets = (int64_t *)(void *)room->bytes;
	offsets[0] = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		offsets[i + 1] = list.n;
		if (!nk_array_is_valid(args[0], i) || !nk_array_is_valid(args[1], i))
			continue;
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		if (plan->is_literal && nk__view_at(args[1], i)->n_bytes == 0) {
			NK_TRY(split_chars(&list, view, bytes, err));
		} else {
			NK_TRY(row_pattern_at(call, &row, args[1], i, err));
			if (!row.pattern)
				continue;
			if (plan->extracts)
				NK_TRY(extract_all(&list, &row.matcher, view, bytes, err));
			else
				NK_TRY(split_text(plan, &list, &row.matcher, view, bytes, err));
		}
		nk_bitmap_set(validity->bytes, i);
		offsets[i + 1] = list.n;
	}
	if (!list.views)
		NK_TRY(nk_buffer_new(call->memory, (int64_t)sizeof(nk_view), &list.views, err));
	NK_TRY(nk_array_new_flat(nk_dtype_of(NK_TYPE_STRING), NK_PHYSICAL_VIEW, list.n, NK_STEAL(list.views),
	                         NULL, 0, nk_heap_ref(args[0]->heap), &items, err));
	return nk_array_new_list(call->dtype, n_rows, NK_STEAL(room), NK_STEAL(items), NK_STEAL(validity), -1,
	                         out, err);
}

/* A bad pattern that is known now is refused now. */
static nk_status bind_pieces(nk_bind *bind, split_plan plan, nk_error *err)
{
	NK_TRY(nk__need_string(bind, NK_SCHEMA_MISMATCH, err));
	const nk_scalar *literal = bind->args[1].literal;
	if (bind->args[1].dtype->id != NK_TYPE_STRING &&
	    !(bind->args[1].dtype->id == NK_TYPE_NULL && plan.extracts))
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `String`, got `%s`",
		               nk_dtype_short_name(bind->args[1].dtype));
	if (literal && !literal->is_null && !plan.is_literal && plan.is_strict &&
	    literal->dtype->id == NK_TYPE_STRING) {
		NK_AUTO(nk_pattern) pattern = NULL;
		NK_TRY(nk_pattern_new(nk_arena_memory(bind->arena), literal->bytes, literal->n_bytes, false, false,
		                      &pattern, err));
	}
	split_plan *kept;
	NK_TRY(NK_ARENA_NEW(bind->arena, &kept, 1, err));
	*kept = plan;
	bind->fallible = !plan.is_literal;
	bind->data = kept;
	bind->casts[0] = bind->casts[1] = nk_dtype_of(NK_TYPE_STRING);
	bind->dtype = nk_dtype_list(nk_dtype_of(NK_TYPE_STRING));
	bind->kernel = split_kernel;
	return NK_OK;
}

static nk_status bind_split(nk_bind *bind, nk_error *err)
{
	const nk_option *options = bind->options;
	return bind_pieces(bind, (split_plan){options[1].boolean, options[0].boolean, options[2].boolean, false},
	                   err);
}

static nk_status bind_extract_all(nk_bind *bind, nk_error *err)
{
	return bind_pieces(bind, (split_plan){.is_strict = true, .extracts = true}, err);
}

/* ---- join ---- */

static nk_status join_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	const char *between = call->options[0].string;
	int64_t n_between = (int64_t)strlen(between), n_bytes = 0, n_values = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		if (nk_array_is_valid(args[0], i)) {
			n_bytes += nk__view_at(args[0], i)->n_bytes + n_between;
			n_values++;
		} else if (!call->options[1].boolean) {
			return nk_array_new_null(call->memory, call->dtype, 1, out, err);
		}
	}
	NK_TEXT_WRITER(writer);
	char *room;
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, 1, err));
	NK_TRY(nk_text_writer_room(&writer, n_bytes + 1, &room, err));
	char *to = room;
	for (int64_t i = 0; i < n_rows; i++) {
		if (!nk_array_is_valid(args[0], i))
			continue;
		const nk_view *view = nk__view_at(args[0], i);
		memcpy(to, nk_view_bytes(view, args[0]->heap), view->n_bytes);
		to += view->n_bytes;
		if (--n_values > 0) {
			memcpy(to, between, (size_t)n_between);
			to += n_between;
		}
	}
	nk_text_writer_commit(&writer, to - room);
	return nk_text_writer_finish(&writer, NULL, out, err);
}

static nk_status bind_join(nk_bind *bind, nk_error *err)
{
	(void)err;
	bind->casts[0] = bind->dtype = nk_dtype_of(NK_TYPE_STRING);
	bind->kernel = join_kernel;
	return NK_OK;
}

/* ---- to_titlecase ---- */

static bool is_letter(const char *bytes, int64_t n)
{
	return n > 1 || ((bytes[0] | 32) >= 'a' && (bytes[0] | 32) <= 'z');
}

/* A letter after anything but a letter becomes a capital, others small. */
static nk_status titlecase_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		int64_t n = view->n_bytes, n_done = 0;
		bool starts = true;
		char *room;
		NK_TRY(nk_text_writer_room(&writer, n * NK_CASE_GROWTH + 1, &room, err));
		for (int64_t at = 0; at < n;) {
			int64_t n_char = nk_text_seek_char(bytes + at, n - at, 1);
			n_done += nk_text_change_case(room + n_done, bytes + at, n_char, starts);
			starts = !is_letter(bytes + at, n_char);
			at += n_char;
		}
		nk_text_writer_commit(&writer, n_done);
	}
	return nk_text_writer_finish(&writer, NULL, out, err);
}

static nk_status bind_titlecase(nk_bind *bind, nk_error *err)
{
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, titlecase_kernel, err);
}

static const nk_option_spec split_options[] = {
	{"inclusive", {.kind = NK_OPTION_BOOL}},
	{"literal", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec join_options[] = {
	{"delimiter", {.kind = NK_OPTION_STRING, .string = ""}},
	{"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_string_split[] = {
	{
		.name = "str.split",
		.args = "x, by",
		.doc = "The pieces of text between occurrences of another, as List(String); of characters when that "
			   "is empty. inclusive "
			   "leaves the separator at the end of its piece. Without literal a regular expression "
			   "separates: a bad one fails with "
			   "ComputeError, or gives null unless strict.",
		.example = "str.split([\"a,b\", null], \",\") == [[\"a\", \"b\"], null]",
		.options = split_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_split,
	},
	{
		.name = "str.extract_all",
		.args = "x, pattern",
		.doc = "All that matches a regular expression, as List(String). A bad one fails with ComputeError.",
		.example = "str.extract_all([\"a1b22\", \"x\"], \"\\d+\") == [[\"1\", \"22\"], []]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = bind_extract_all,
	},
	{
		.name = "str.join",
		.args = "x",
		.doc = "All values as one text with a delimiter between them. Nulls are left out, or without "
			   "ignore_nulls make it null.",
		.example = "str.join([\"a\", null, \"b\"], delimiter=\"-\") == [\"a-b\"]",
		.options = join_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.order_sensitive = true,
		.bind = bind_join,
	},
	{
		.name = "str.to_titlecase",
		.args = "x",
		.doc = "The first letter of each word as a capital, the others small.",
		.example = "str.to_titlecase([\"hello WORLD\"]) == [\"Hello World\"]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_titlecase,
	},
	{0},
};
