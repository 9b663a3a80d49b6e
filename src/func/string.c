/* The rows of the str namespace, and those that need no new bytes: lengths, slices and stripping make views into
 * the heap of their argument. Positions and lengths count code points except where a name says bytes. */
#include "func/string.h"

#include "func/words.h"

nk_status nk__need_string(const nk_bind *bind, nk_status code, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id == NK_TYPE_STRING)
		return NK_OK;
	if (code == NK_INVALID_OPERATION)
		return nk_fail(err, code, "expected String type, got: %s (in %s)", nk_dtype_short_name(dtype),
		               bind->func->name);
	return nk_fail(err, code, "invalid series dtype: expected `String`, got `%s` (in %s)",
	               nk_dtype_short_name(dtype), bind->func->name);
}

nk_status nk__bind_string_kernel(nk_bind *bind, nk_type_id result, nk_kernel *kernel, nk_error *err)
{
	NK_TRY(nk__need_string(bind, NK_SCHEMA_MISMATCH, err));
	bind->dtype = nk_dtype_of(result);
	bind->kernel = kernel;
	return NK_OK;
}

nk_status nk__validity_of_first(const nk_call *call, nk_array *const *args, int n_arrays, int64_t n_rows,
                                nk_buffer **out, nk_error *err)
{
	bool has_nulls = false;
	for (int a = 0; a < n_arrays; a++)
		has_nulls |= nk__may_have_nulls(args[a]);
	*out = NULL;
	if (!has_nulls)
		return NK_OK;
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), out, err));
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = UINT64_MAX;
		for (int a = 0; a < n_arrays; a++)
			word &= nk__valid_word(args[a], i, n_rows);
		nk__put_word((*out)->bytes, i, n_rows, word);
	}
	return NK_OK;
}

/* ---- Lengths ---- */

static nk_status len_bytes_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	uint32_t *to = nk_array_values(result);
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = nk__view_at(args[0], i)->n_bytes;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status len_chars_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, &result, err));
	nk_text_count_chars_of_views(args[0], n_rows, nk_array_values(result));
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_len_bytes(nk_bind *bind, nk_error *err)
{
	return nk__bind_string_kernel(bind, NK_TYPE_UINT32, len_bytes_kernel, err);
}

static nk_status bind_len_chars(nk_bind *bind, nk_error *err)
{
	return nk__bind_string_kernel(bind, NK_TYPE_UINT32, len_chars_kernel, err);
}

/* ---- Slices ---- */

/* Code points [offset, offset + length) with a negative offset counted from the end. What a negative offset leaves
 * before the start shortens the slice. */
static nk_view slice_view(const nk_view *view, const nk_heap *heap, int64_t offset, uint64_t length)
{
	const char *bytes = nk_view_bytes(view, heap);
	int64_t n = view->n_bytes, begin, end = n;
	if (offset >= 0) {
		begin = nk_text_seek_char(bytes, n, offset);
	} else {
		/* A text has at most n code points, so offsets beyond that need no exact count. */
		int64_t from_end = offset < -n ? n : -offset;
		begin = nk_text_seek_char_back(bytes, n, from_end);
		if (begin == 0 && length < (uint64_t)INT64_MAX) {
			uint64_t n_missing = 0 - (uint64_t)offset - (uint64_t)nk_text_count_chars(bytes, n);
			length = length > n_missing ? length - n_missing : 0;
		}
	}
	if (length < (uint64_t)(n - begin))
		end = begin + nk_text_seek_char(bytes + begin, n - begin, (int64_t)length);
	return nk__view_slice(view, heap, begin, end);
}

/* One of these runs over every row; the bounds are those of Python's text[offset:offset + length] (slice),
 * text[:n] (head), text[-n:] (tail, where a negative n drops from the start). */
typedef enum slice_kind { SLICE, HEAD, TAIL } slice_kind;

static nk_view cut(slice_kind kind, const nk_view *view, const nk_heap *heap, int64_t n)
{
	const char *bytes = nk_view_bytes(view, heap);
	if (kind == HEAD) {
		int64_t end = n >= 0 ? nk_text_seek_char(bytes, view->n_bytes, n)
		                     : nk_text_seek_char_back(bytes, view->n_bytes, n == INT64_MIN ? INT64_MAX : -n);
		return nk__view_slice(view, heap, 0, end);
	}
	int64_t begin = n >= 0 ? nk_text_seek_char_back(bytes, view->n_bytes, n)
	                       : nk_text_seek_char(bytes, view->n_bytes, n == INT64_MIN ? INT64_MAX : -n);
	return nk__view_slice(view, heap, begin, view->n_bytes);
}

static nk_status cut_kernel(const nk_call *call, slice_kind kind, nk_array *const *args, int64_t n_rows,
                            nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) views = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(nk_view), &views, err));
	nk_view *to = (nk_view *)views->bytes;
	const int64_t *counts = args[1]->values;
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = cut(kind, nk__view_at(args[0], i), args[0]->heap, counts[nk_array_index(args[1], i)]);
	return nk__views_into(call, args[0], NK_STEAL(views), NULL, n_rows, out, err);
}

static nk_status head_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	return cut_kernel(call, HEAD, args, n_rows, out, err);
}

static nk_status tail_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	return cut_kernel(call, TAIL, args, n_rows, out, err);
}

/* bind->data is NULL when there is no length argument. A null length reaches to the end. */
static nk_status slice_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	NK_AUTO(nk_buffer) views = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk__validity_of_first(call, args, 2, n_rows, &validity, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(nk_view), &views, err));
	nk_view *to = (nk_view *)views->bytes;
	const nk_array *lengths = call->data ? args[2] : NULL;
	const int64_t *offset = args[1]->values;
	const nk_heap *heap = args[0]->heap;
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i);
		uint64_t length = UINT64_MAX;
		if (lengths && nk_array_is_valid(lengths, i))
			length = ((const uint64_t *)lengths->values)[nk_array_index(lengths, i)];
		to[i] = slice_view(view, heap, offset[nk_array_index(args[1], i)], length);
	}
	return nk__views_into(call, args[0], NK_STEAL(views), NK_STEAL(validity), n_rows, out, err);
}

static nk_status bind_slice(nk_bind *bind, nk_error *err)
{
	static const bool has_length = true;
	NK_TRY(nk__bind_string_kernel(bind, NK_TYPE_STRING, slice_kernel, err));
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	if (bind->n_args > 2) {
		bind->casts[2] = nk_dtype_of(NK_TYPE_UINT64);
		bind->data = &has_length;
	}
	return NK_OK;
}

static nk_status bind_head(nk_bind *bind, nk_error *err)
{
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, head_kernel, err);
}

static nk_status bind_tail(nk_bind *bind, nk_error *err)
{
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, tail_kernel, err);
}

/* ---- Stripping ---- */

typedef enum strip_side { STRIP_START = 1, STRIP_END = 2, STRIP_BOTH = 3 } strip_side;

typedef struct strip_plan {
	strip_side side;
	bool has_characters; /* an argument with the set; else whitespace */
} strip_plan;

static bool is_whitespace(const char *at, int64_t n)
{
	const unsigned char *c = (const unsigned char *)at;
	if (n == 1)
		return c[0] == ' ' || (c[0] >= 9 && c[0] <= 13);
	if (n == 2)
		return c[0] == 0xc2 && (c[1] == 0x85 || c[1] == 0xa0);
	if (n != 3)
		return false;
	uint32_t point = ((c[0] & 15u) << 12) | ((c[1] & 63u) << 6) | (c[2] & 63u);
	return point == 0x1680 || (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
	       point == 0x202f || point == 0x205f || point == 0x3000;
}

/* set NULL: whitespace. */
static bool is_stripped(const char *at, int64_t n, const char *set, int64_t n_set)
{
	if (!set)
		return is_whitespace(at, n);
	return n == 1 ? memchr(set, at[0], (size_t)n_set) != NULL : nk_text_find(set, n_set, at, n) != NULL;
}

static nk_status strip_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	const strip_plan *plan = call->data;
	NK_AUTO(nk_buffer) views = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk__validity_of_first(call, args, 1, n_rows, &validity, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(nk_view), &views, err));
	nk_view *to = (nk_view *)views->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap), *set = NULL;
		int64_t begin = 0, end = view->n_bytes, n_set = 0;
		if (plan->has_characters && nk_array_is_valid(args[1], i)) {
			set = nk_view_bytes(nk__view_at(args[1], i), args[1]->heap);
			n_set = nk__view_at(args[1], i)->n_bytes;
		}
		while ((plan->side & STRIP_START) && begin < end) {
			int64_t n = nk_text_seek_char(bytes + begin, end - begin, 1);
			if (!is_stripped(bytes + begin, n, set, n_set))
				break;
			begin += n;
		}
		while ((plan->side & STRIP_END) && begin < end) {
			int64_t at = begin + nk_text_seek_char_back(bytes + begin, end - begin, 1);
			if (!is_stripped(bytes + at, end - at, set, n_set))
				break;
			end = at;
		}
		to[i] = nk__view_slice(view, args[0]->heap, begin, end);
	}
	return nk__views_into(call, args[0], NK_STEAL(views), NK_STEAL(validity), n_rows, out, err);
}

static nk_status bind_strip(nk_bind *bind, strip_side side, nk_error *err)
{
	strip_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (strip_plan){side, bind->n_args > 1};
	bind->data = plan;
	if (bind->n_args > 1)
		bind->casts[1] = nk_dtype_of(NK_TYPE_STRING);
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, strip_kernel, err);
}

static nk_status bind_strip_chars(nk_bind *bind, nk_error *err) { return bind_strip(bind, STRIP_BOTH, err); }
static nk_status bind_strip_chars_start(nk_bind *bind, nk_error *err)
{
	return bind_strip(bind, STRIP_START, err);
}
static nk_status bind_strip_chars_end(nk_bind *bind, nk_error *err)
{
	return bind_strip(bind, STRIP_END, err);
}

static nk_status strip_affix(const nk_call *call, nk_array *const *args, int64_t n_rows, bool at_end,
                             nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) views = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(nk_view), &views, err));
	nk_view *to = (nk_view *)views->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i), *affix = nk__view_at(args[1], i);
		int64_t n = view->n_bytes, n_affix = affix->n_bytes;
		const char *bytes = nk_view_bytes(view, args[0]->heap), *wanted = nk_view_bytes(affix, args[1]->heap);
		bool found =
			n_affix <= n && memcmp(at_end ? bytes + n - n_affix : bytes, wanted, (size_t)n_affix) == 0;
		int64_t begin = found && !at_end ? n_affix : 0, end = found && at_end ? n - n_affix : n;
		to[i] = nk__view_slice(view, args[0]->heap, begin, end);
	}
	return nk__views_into(call, args[0], NK_STEAL(views), NULL, n_rows, out, err);
}

static nk_status strip_prefix_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                     nk_array **out, nk_error *err)
{
	return strip_affix(call, args, n_rows, false, out, err);
}

static nk_status strip_suffix_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows,
                                     nk_array **out, nk_error *err)
{
	return strip_affix(call, args, n_rows, true, out, err);
}

static nk_status bind_strip_affix(nk_bind *bind, nk_kernel *kernel, nk_error *err)
{
	NK_TRY(nk__bind_string_kernel(bind, NK_TYPE_STRING, kernel, err));
	if (bind->args[1].dtype->id != NK_TYPE_STRING)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `String`, got `%s` (in %s)",
		               nk_dtype_short_name(bind->args[1].dtype), bind->func->name);
	return NK_OK;
}

static nk_status bind_strip_prefix(nk_bind *bind, nk_error *err)
{
	return bind_strip_affix(bind, strip_prefix_kernel, err);
}

static nk_status bind_strip_suffix(nk_bind *bind, nk_error *err)
{
	return bind_strip_affix(bind, strip_suffix_kernel, err);
}

/* ---- Rows ---- */

static const nk_option_spec contains_options[] = {
	{"literal", {.kind = NK_OPTION_BOOL, .boolean = false}},
	{"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec literal_options[] = {
	{"literal", {.kind = NK_OPTION_BOOL, .boolean = false}},
	{0},
};

static const nk_option_spec extract_options[] = {
	{"group_index", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

static const nk_option_spec replace_options[] = {
	{"literal", {.kind = NK_OPTION_BOOL, .boolean = false}},
	{"n", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

static const nk_option_spec pad_options[] = {
	{"fill_char", {.kind = NK_OPTION_STRING, .string = " "}},
	{0},
};

static const nk_option_spec concat_options[] = {
	{"separator", {.kind = NK_OPTION_STRING, .string = ""}},
	{"ignore_nulls", {.kind = NK_OPTION_BOOL, .boolean = false}},
	{0},
};

const nk_func nk__funcs_string[] = {
	{
		.name = "concat_str",
		.args = "*exprs",
		.doc = "The arguments, cast to String, joined with separator. Null where any is null; with "
			   "ignore_nulls, "
			   "nulls are left out.",
		.example = "concat_str(['a', 'b'], ['x', null]) == ['ax', null]",
		.options = concat_options,
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.bind = nk__bind_concat_str,
	},
	{
		.name = "str.contains",
		.args = "x, pattern",
		.doc = "Whether the pattern occurs: a regular expression without look-around and back-references, or "
			   "plain "
			   "text when literal. A bad pattern is an error, or null when not strict.",
		.example = "str.contains(['ab', 'b', null], '^a') == [true, false, null]",
		.options = contains_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_contains,
	},
	{
		.name = "str.count_matches",
		.args = "x, pattern",
		.doc = "How often the pattern occurs without overlap.",
		.example = "str.count_matches(['a1b22'], '[0-9]') == [3]",
		.options = literal_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_count_matches,
	},
	{
		.name = "str.ends_with",
		.args = "x, suffix",
		.doc = "Whether the text ends with suffix.",
		.example = "str.ends_with(['ab', 'a'], 'b') == [true, false]",
		.min_args = 2,
		.max_args = 2,
		.bind = nk__bind_ends_with,
	},
	{
		.name = "str.extract",
		.args = "x, pattern",
		.doc = "The capture group group_index (0: all) of the pattern's first match; null without one.",
		.example = "str.extract(['a12', 'b'], '([0-9]+)') == ['12', null]",
		.options = extract_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_extract,
	},
	{
		.name = "str.find",
		.args = "x, pattern",
		.doc = "The byte at which the pattern first occurs; null when it does not.",
		.example = "str.find(['ab', 'a'], 'b') == [1, null]",
		.options = contains_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_find,
	},
	{
		.name = "str.head",
		.args = "x, n",
		.doc = "The first n characters; with a negative n all but the last -n.",
		.example = "str.head(['abc'], 2) == ['ab']",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_head,
	},
	{
		.name = "str.len_bytes",
		.args = "x",
		.doc = "Length in bytes of UTF-8.",
		.example = "str.len_bytes(['h\xc3\xa9']) == [3]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_len_bytes,
	},
	{
		.name = "str.len_chars",
		.args = "x",
		.doc = "Length in code points.",
		.example = "str.len_chars(['h\xc3\xa9']) == [2]",
		.min_args = 1,
		.max_args = 1,
		.bind = bind_len_chars,
	},
	{
		.name = "str.pad_end",
		.args = "x, length",
		.doc = "The text with fill_char appended until it has length characters.",
		.example = "str.pad_end(['a'], 3) == ['a  ']",
		.options = pad_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_pad_end,
	},
	{
		.name = "str.pad_start",
		.args = "x, length",
		.doc = "The text with fill_char put in front until it has length characters.",
		.example = "str.pad_start(['a'], 3) == ['  a']",
		.options = pad_options,
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_pad_start,
	},
	{
		.name = "str.replace",
		.args = "x, pattern, value",
		.doc = "The first n matches of the pattern replaced by value, in which $1 and ${name} stand for "
			   "groups unless "
			   "literal. A negative n replaces all; a null value replaces nothing.",
		.example = "str.replace(['aa'], 'a', 'b') == ['ba']",
		.options = replace_options,
		.min_args = 3,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = nk__bind_replace,
	},
	{
		.name = "str.replace_all",
		.args = "x, pattern, value",
		.doc = "Every match of the pattern replaced by value, in which $1 and ${name} stand for groups "
			   "unless literal.",
		.example = "str.replace_all(['aa'], 'a', 'b') == ['bb']",
		.options = literal_options,
		.min_args = 3,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.fallible = true,
		.bind = nk__bind_replace_all,
	},
	{
		.name = "str.reverse",
		.args = "x",
		.doc = "The code points in reverse order.",
		.example = "str.reverse(['abc']) == ['cba']",
		.min_args = 1,
		.max_args = 1,
		.bind = nk__bind_reverse_text,
	},
	{
		.name = "str.slice",
		.args = "x, offset, length",
		.doc = "length characters from offset on (negative: from the end); to the end without a length.",
		.example = "str.slice(['abcd'], 1, 2) == ['bc']",
		.min_args = 2,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_slice,
	},
	{
		.name = "str.starts_with",
		.args = "x, prefix",
		.doc = "Whether the text starts with prefix.",
		.example = "str.starts_with(['ab', 'b'], 'a') == [true, false]",
		.min_args = 2,
		.max_args = 2,
		.bind = nk__bind_starts_with,
	},
	{
		.name = "str.strip_chars",
		.args = "x, characters",
		.doc = "Without the characters of a set (whitespace when null or absent) at both ends.",
		.example = "str.strip_chars(['xxaxy'], 'xy') == ['a']",
		.min_args = 1,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_strip_chars,
	},
	{
		.name = "str.strip_chars_end",
		.args = "x, characters",
		.doc = "Without the characters of a set (whitespace when null or absent) at the end.",
		.example = "str.strip_chars_end(['xax'], 'x') == ['xa']",
		.min_args = 1,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_strip_chars_end,
	},
	{
		.name = "str.strip_chars_start",
		.args = "x, characters",
		.doc = "Without the characters of a set (whitespace when null or absent) at the start.",
		.example = "str.strip_chars_start(['xax'], 'x') == ['ax']",
		.min_args = 1,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_strip_chars_start,
	},
	{
		.name = "str.strip_prefix",
		.args = "x, prefix",
		.doc = "Without one occurrence of prefix at the start.",
		.example = "str.strip_prefix(['foofoo'], 'foo') == ['foo']",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_strip_prefix,
	},
	{
		.name = "str.strip_suffix",
		.args = "x, suffix",
		.doc = "Without one occurrence of suffix at the end.",
		.example = "str.strip_suffix(['foobar'], 'bar') == ['foo']",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_strip_suffix,
	},
	{
		.name = "str.tail",
		.args = "x, n",
		.doc = "The last n characters; with a negative n all but the first -n.",
		.example = "str.tail(['abc'], 2) == ['bc']",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_tail,
	},
	{
		.name = "str.to_lowercase",
		.args = "x",
		.doc = "Lower case by Unicode's full mappings.",
		.example = "str.to_lowercase(['AB']) == ['ab']",
		.min_args = 1,
		.max_args = 1,
		.bind = nk__bind_to_lowercase,
	},
	{
		.name = "str.to_uppercase",
		.args = "x",
		.doc = "Upper case by Unicode's full mappings.",
		.example = "str.to_uppercase(['stra\xc3\x9f"
				   "e']) == ['STRASSE']",
		.min_args = 1,
		.max_args = 1,
		.bind = nk__bind_to_uppercase,
	},
	{
		.name = "str.zfill",
		.args = "x, length",
		.doc = "Zeros put in front, behind a sign, until the text has length characters.",
		.example = "str.zfill(['-1'], 4) == ['-001']",
		.min_args = 2,
		.max_args = 2,
		.fallible = true,
		.bind = nk__bind_zfill,
	},
	{0},
};
