/* Bytes: bin.size, bin.contains, bin.starts_with, bin.ends_with, bin.slice, bin.head, bin.tail, bin.get; bytes as text
 * and back, in hexadecimal and base64, for Binary and String alike; and whole numbers out of text in any base. */
#include <string.h>

#include "compute/text_writer.h"
#include "func/string.h"
#include "func/words.h"

static nk_status need_binary(const nk_bind *bind, nk_error *err)
{
	nk_type_id id = bind->args[0].dtype->id;
	if (id == NK_TYPE_BINARY || id == NK_TYPE_NULL)
		return NK_OK;
	return nk_fail(err, NK_SCHEMA_MISMATCH, "invalid series dtype: expected `Binary`, got `%s`",
	               nk_dtype_short_name(bind->args[0].dtype));
}

static bool is_row_valid(const nk_call *call, int64_t i)
{
	return !call->validity || nk_bitmap_get(call->validity, i);
}

/* ---- Tests ---- */

typedef enum bytes_test { CONTAINS, STARTS, ENDS } bytes_test;
static const bytes_test tests[] = {CONTAINS, STARTS, ENDS};

static nk_status test_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	bytes_test test = *(const bytes_test *)call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *hay = nk__view_at(args[0], i), *needle = nk__view_at(args[1], i);
		const char *a = nk_view_bytes(hay, args[0]->heap), *b = nk_view_bytes(needle, args[1]->heap);
		size_t n = hay->n_bytes, m = needle->n_bytes;
		bool found = m == 0 || (m <= n && (test == STARTS ? memcmp(a, b, m) == 0
		                                   : test == ENDS ? memcmp(a + n - m, b, m) == 0
		                                                  : memmem(a, n, b, m) != NULL));
		if (found)
			nk_bitmap_set(nk_array_values(result), i);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_test(nk_bind *bind, bytes_test test, nk_error *err)
{
	NK_TRY(need_binary(bind, err));
	bind->casts[0] = bind->casts[1] = nk_dtype_of(NK_TYPE_BINARY);
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = &tests[test];
	bind->kernel = test_kernel;
	return NK_OK;
}

static nk_status bind_contains(nk_bind *bind, nk_error *err) { return bind_test(bind, CONTAINS, err); }
static nk_status bind_starts(nk_bind *bind, nk_error *err) { return bind_test(bind, STARTS, err); }
static nk_status bind_ends(nk_bind *bind, nk_error *err) { return bind_test(bind, ENDS, err); }

static nk_status size_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U32, n_rows, false, out, err));
	for (int64_t i = 0; i < n_rows; i++)
		((uint32_t *)nk_array_values(*out))[i] = nk__view_at(args[0], i)->n_bytes;
	return NK_OK;
}

static nk_status bind_size(nk_bind *bind, nk_error *err)
{
	NK_TRY(need_binary(bind, err));
	bind->casts[0] = nk_dtype_of(NK_TYPE_BINARY);
	bind->dtype = nk_dtype_of(NK_TYPE_UINT32);
	bind->kernel = size_kernel;
	return NK_OK;
}

/* ---- Parts ---- */

typedef enum part { SLICE, HEAD, TAIL } part;
static const part parts[] = {SLICE, HEAD, TAIL};

static nk_status part_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	part which = *(const part *)call->data;
	int64_t first = call->options[0].integer, length = which == SLICE ? call->options[1].integer : 0;
	nk_buffer *views;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(nk_view) + 16, &views, err));
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i);
		int64_t n = view->n_bytes, from = 0, to = n;
		if (which == SLICE) {
			from = first < 0 ? n + first : first;
			to = length > n ? NK_MAX(from, n) : from + length;
			if (length > n && from < 0)
				to = n;
		} else if (which == HEAD) {
			to = first < 0 ? n + first : first;
		} else {
			from = first < 0 ? -first : n - first;
		}
		from = NK_MIN(NK_MAX(from, (int64_t)0), n);
		to = NK_MIN(NK_MAX(to, from), n);
		((nk_view *)(void *)views->bytes)[i] = nk__view_slice(view, args[0]->heap, from, to);
	}
	return nk__views_into(call, args[0], views, NULL, n_rows, out, err);
}

static nk_status bind_part(nk_bind *bind, part which, nk_error *err)
{
	NK_TRY(need_binary(bind, err));
	bind->casts[0] = bind->dtype = nk_dtype_of(NK_TYPE_BINARY);
	bind->data = &parts[which];
	bind->kernel = part_kernel;
	return NK_OK;
}

static nk_status bind_slice(nk_bind *bind, nk_error *err) { return bind_part(bind, SLICE, err); }
static nk_status bind_head(nk_bind *bind, nk_error *err) { return bind_part(bind, HEAD, err); }
static nk_status bind_tail(nk_bind *bind, nk_error *err) { return bind_part(bind, TAIL, err); }

static nk_status get_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_U8, n_rows, true, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!is_row_valid(call, i))
			continue;
		const nk_view *view = nk__view_at(args[0], i);
		int64_t at = ((const int64_t *)args[1]->values)[nk_array_index(args[1], i)];
		at += at < 0 ? (int64_t)view->n_bytes : 0;
		if (at >= 0 && at < view->n_bytes)
			((uint8_t *)nk_array_values(result))[i] = (uint8_t)nk_view_bytes(view, args[0]->heap)[at];
		else if (call->options[0].boolean)
			nk_bitmap_clear(nk_array_validity(result), i);
		else
			return nk_fail(err, NK_COMPUTE, "get index is out of bounds");
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_get(nk_bind *bind, nk_error *err)
{
	NK_TRY(need_binary(bind, err));
	bind->casts[0] = nk_dtype_of(NK_TYPE_BINARY);
	bind->casts[1] = nk_dtype_of(NK_TYPE_INT64);
	bind->dtype = nk_dtype_of(NK_TYPE_UINT8);
	bind->kernel = get_kernel;
	return NK_OK;
}

/* ---- Encodings ---- */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int64_t encode_hex(const uint8_t *from, int64_t n, char *to)
{
	for (int64_t i = 0; i < n; i++) {
		to[2 * i] = "0123456789abcdef"[from[i] >> 4];
		to[2 * i + 1] = "0123456789abcdef"[from[i] & 15];
	}
	return 2 * n;
}

static int64_t encode_base64(const uint8_t *from, int64_t n, char *to)
{
	char *start = to;
	for (int64_t i = 0; i < n; i += 3) {
		int64_t k = NK_MIN(n - i, (int64_t)3);
		uint32_t word =
			(uint32_t)from[i] << 16 | (k > 1 ? (uint32_t)from[i + 1] << 8 : 0) | (k > 2 ? from[i + 2] : 0);
		for (int64_t d = 0; d < 4; d++)
			*to++ = d <= k ? base64_digits[word >> (18 - 6 * d) & 63] : '=';
	}
	return to - start;
}

static int hex_digit(uint8_t c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* Bytes written; -1 when the text is none of the encoding. */
static int64_t decode_hex(const uint8_t *from, int64_t n, char *to)
{
	if (n % 2)
		return -1;
	for (int64_t i = 0; i < n; i += 2) {
		int high = hex_digit(from[i]), low = hex_digit(from[i + 1]);
		if (high < 0 || low < 0)
			return -1;
		to[i / 2] = (char)(high << 4 | low);
	}
	return n / 2;
}

static int64_t decode_base64(const uint8_t *from, int64_t n, char *to)
{
	if (n % 4)
		return -1;
	char *start = to;
	for (int64_t i = 0; i < n; i += 4) {
		uint32_t word = 0;
		int n_digits = 4;
		for (int d = 0; d < 4; d++) {
			const char *at = from[i + d] ? strchr(base64_digits, from[i + d]) : NULL;
			bool pads = from[i + d] == '=' && i + 4 == n && d >= 2;
			if ((!at && !pads) || (at && n_digits < 4))
				return -1;
			n_digits -= pads;
			word = word << 6 | (uint32_t)(at ? at - base64_digits : 0);
		}
		for (int b = 0; b < n_digits - 1; b++)
			*to++ = (char)(word >> (16 - 8 * b));
	}
	return to - start;
}

typedef struct encoding_plan {
	bool is_base64, decodes, is_strict;
} encoding_plan;

static nk_status encoding_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                 nk_error *err)
{
	const encoding_plan *plan = call->data;
	NK_TEXT_WRITER(writer);
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	NK_TRY(nk_buffer_new_zeroed(call->memory, nk_bitmap_bytes(n_rows) + 8, &validity, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!is_row_valid(call, i)) {
			nk_text_writer_skip(&writer);
			continue;
		}
		const nk_view *view = nk__view_at(args[0], i);
		const uint8_t *bytes = (const uint8_t *)nk_view_bytes(view, args[0]->heap);
		int64_t n = view->n_bytes;
		char *room;
		NK_TRY(nk_text_writer_room(&writer, plan->decodes ? n : 2 * n + 4, &room, err));
		int64_t done = plan->decodes
		                   ? (plan->is_base64 ? decode_base64(bytes, n, room) : decode_hex(bytes, n, room))
		                   : (plan->is_base64 ? encode_base64(bytes, n, room) : encode_hex(bytes, n, room));
		if (done < 0) {
			if (plan->is_strict)
				return nk_fail(err, NK_COMPUTE,
				               "invalid `%s` encoding found; try setting `strict=False` to ignore",
				               plan->is_base64 ? "base64" : "hex");
			nk_text_writer_skip(&writer);
			continue;
		}
		nk_bitmap_set(validity->bytes, i);
		nk_text_writer_commit(&writer, done);
	}
	return nk_text_writer_finish(&writer, NK_STEAL(validity), out, err);
}

static nk_status bind_encoding(nk_bind *bind, nk_type_id from, bool decodes, nk_error *err)
{
	const char *name = bind->options[0].string;
	if (strcmp(name, "hex") != 0 && strcmp(name, "base64") != 0)
		return nk_fail(err, NK_VALUE, "`encoding` must be one of {'hex', 'base64'}, got '%s'", name);
	if (from == NK_TYPE_BINARY)
		NK_TRY(need_binary(bind, err));
	else
		NK_TRY(nk__need_string(bind, NK_SCHEMA_MISMATCH, err));
	encoding_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (encoding_plan){strcmp(name, "base64") == 0, decodes, decodes && bind->options[1].boolean};
	bind->fallible = plan->is_strict;
	bind->casts[0] = nk_dtype_of(from);
	bind->dtype = nk_dtype_of(decodes ? NK_TYPE_BINARY : NK_TYPE_STRING);
	bind->data = plan;
	bind->kernel = encoding_kernel;
	return NK_OK;
}

static nk_status bind_bin_encode(nk_bind *bind, nk_error *err)
{
	return bind_encoding(bind, NK_TYPE_BINARY, false, err);
}
static nk_status bind_bin_decode(nk_bind *bind, nk_error *err)
{
	return bind_encoding(bind, NK_TYPE_BINARY, true, err);
}
static nk_status bind_str_encode(nk_bind *bind, nk_error *err)
{
	return bind_encoding(bind, NK_TYPE_STRING, false, err);
}
static nk_status bind_str_decode(nk_bind *bind, nk_error *err)
{
	return bind_encoding(bind, NK_TYPE_STRING, true, err);
}

/* ---- str.to_integer ---- */

/* A sign, then digits of a base of up to 36; false when there is anything else, or it does not fit 127 bits. */
static bool read_whole(const char *bytes, int64_t n, int64_t base, __int128 *out)
{
	bool negative = n > 0 && bytes[0] == '-';
	int64_t i = n > 0 && (bytes[0] == '-' || bytes[0] == '+');
	__int128 value = 0;
	if (i == n)
		return false;
	for (; i < n; i++) {
		int c = bytes[i], digit = c >= '0' && c <= '9'   ? c - '0'
		                          : c >= 'a' && c <= 'z' ? c - 'a' + 10
		                          : c >= 'A' && c <= 'Z' ? c - 'A' + 10
		                                                 : 99;
		if (digit >= base || __builtin_mul_overflow(value, (__int128)base, &value) ||
		    __builtin_add_overflow(value, (__int128)digit, &value))
			return false;
	}
	*out = negative ? -value : value;
	return true;
}

/* Writes a whole number of a physical type; false when it does not fit. */
static bool put_whole(void *values, nk_physical physical, int64_t i, __int128 value)
{
	int n_bits = 8 * nk_physical_size(physical);
	bool is_signed = physical == NK_PHYSICAL_I8 || physical == NK_PHYSICAL_I16 ||
	                 physical == NK_PHYSICAL_I32 || physical == NK_PHYSICAL_I64 ||
	                 physical == NK_PHYSICAL_I128;
	if (n_bits < 128) {
		__int128 limit = (__int128)1 << (n_bits - is_signed);
		if (value >= limit || value < (is_signed ? -limit : 0))
			return false;
	}
	memcpy((char *)values + i * (n_bits / 8), &value, (size_t)n_bits / 8);
	return true;
}

static nk_status to_integer_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	int64_t base = call->options[0].integer, n_failed = 0, first = -1;
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, true, &result, err));
	memset(nk_array_values(result), 0, (size_t)(n_rows * nk_physical_size(call->dtype->physical)));
	for (int64_t i = 0; i < n_rows; i++) {
		if (!is_row_valid(call, i))
			continue;
		const nk_view *view = nk__view_at(args[0], i);
		__int128 value;
		if (read_whole(nk_view_bytes(view, args[0]->heap), view->n_bytes, base, &value) &&
		    put_whole(nk_array_values(result), call->dtype->physical, i, value))
			continue;
		nk_bitmap_clear(nk_array_validity(result), i);
		first = n_failed++ ? first : i;
	}
	if (n_failed && call->options[2].boolean) {
		const nk_view *view = nk__view_at(args[0], first);
		return nk_fail(err, NK_COMPUTE,
		               "strict integer parsing failed for %lld value(s): \"%.*s\" is no number in base %lld",
		               (long long)n_failed, (int)NK_MIN(view->n_bytes, 100u),
		               nk_view_bytes(view, args[0]->heap), (long long)base);
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_to_integer(nk_bind *bind, nk_error *err)
{
	NK_TRY(nk__need_string(bind, NK_INVALID_OPERATION, err));
	const nk_dtype *dtype = bind->options[1].dtype ? bind->options[1].dtype : nk_dtype_of(NK_TYPE_INT64);
	if (!nk_type_is_integer(dtype->id))
		return nk_fail(err, NK_INVALID_OPERATION, "invalid `dtype` for `to_integer`: %s",
		               nk_dtype_short_name(dtype));
	if (bind->options[0].integer < 2 || bind->options[0].integer > 36)
		return nk_fail(err, NK_COMPUTE, "`to_integer` called with invalid base %lld: it must be from 2 to 36",
		               (long long)bind->options[0].integer);
	bind->fallible = bind->options[2].boolean;
	bind->casts[0] = nk_dtype_of(NK_TYPE_STRING);
	bind->dtype = dtype;
	bind->kernel = to_integer_kernel;
	return NK_OK;
}

static const nk_option_spec slice_options[] = {
	{"offset", {.kind = NK_OPTION_INT}},
	{"length", {.kind = NK_OPTION_INT, .integer = INT64_MAX}},
	{0},
};

static const nk_option_spec count_options[] = {
	{"n", {.kind = NK_OPTION_INT, .integer = 5}},
	{0},
};

static const nk_option_spec get_options[] = {
	{"null_on_oob", {.kind = NK_OPTION_BOOL}},
	{0},
};

static const nk_option_spec encode_options[] = {
	{"encoding", {.kind = NK_OPTION_STRING, .string = "hex"}},
	{0},
};

static const nk_option_spec decode_options[] = {
	{"encoding", {.kind = NK_OPTION_STRING, .string = "hex"}},
	{"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec integer_options[] = {
	{"base", {.kind = NK_OPTION_INT, .integer = 10}},
	{"dtype", {.kind = NK_OPTION_DTYPE}},
	{"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

const nk_func nk__funcs_binary[] = {
	{
		.name = "bin.contains",
		.args = "x, literal",
		.doc = "Whether bytes contain others.",
		.example = "bin.contains(Binary[\"ab\", null], Binary[\"b\", \"b\"]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_contains,
	},
	{
		.name = "bin.starts_with",
		.args = "x, prefix",
		.doc = "Whether bytes start with others.",
		.example = "bin.starts_with(Binary[\"ab\"], Binary[\"b\"]) == [false]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_starts,
	},
	{
		.name = "bin.ends_with",
		.args = "x, suffix",
		.doc = "Whether bytes end with others.",
		.example = "bin.ends_with(Binary[\"ab\"], Binary[\"b\"]) == [true]",
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_ends,
	},
	{
		.name = "bin.size",
		.args = "x",
		.doc = "How many bytes there are, UInt32.",
		.example = "bin.size(Binary[\"ab\"]) == [2]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_size,
	},
	{
		.name = "bin.slice",
		.args = "x",
		.doc = "length bytes from an offset, which counts from the end when negative.",
		.example = "bin.slice(Binary[\"abc\"], offset=1, length=1) == [\"b\"]",
		.options = slice_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_slice,
	},
	{
		.name = "bin.head",
		.args = "x",
		.doc = "The first n bytes; all but the last -n when negative.",
		.example = "bin.head(Binary[\"abc\"], n=2) == [\"ab\"]",
		.options = count_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_head,
	},
	{
		.name = "bin.tail",
		.args = "x",
		.doc = "The last n bytes; all but the first -n when negative.",
		.example = "bin.tail(Binary[\"abc\"], n=2) == [\"bc\"]",
		.options = count_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_tail,
	},
	{
		.name = "bin.get",
		.args = "x, index",
		.doc = "One byte, UInt8, by position, which counts from the end when negative. Fails with "
			   "ComputeError beyond the end, or with null_on_oob gives null.",
		.example = "bin.get(Binary[\"ab\"], [1]) == [98]",
		.options = get_options,
		.min_args = 2,
		.max_args = 2,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.fallible = true,
		.bind = bind_get,
	},
	{
		.name = "bin.encode",
		.args = "x",
		.doc = "Bytes as text: \"hex\" or \"base64\".",
		.example = "bin.encode(Binary[\"ab\"], encoding=\"hex\") == [\"6162\"]",
		.options = encode_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_bin_encode,
	},
	{
		.name = "bin.decode",
		.args = "x",
		.doc = "The bytes that text in bytes stands for: \"hex\" or \"base64\". What is none fails with "
			   "ComputeError, or is null unless strict.",
		.example = "bin.decode(Binary[\"6162\"], encoding=\"hex\") == [\"ab\"]",
		.options = decode_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.fallible = true,
		.bind = bind_bin_decode,
	},
	{
		.name = "str.encode",
		.args = "x",
		.doc = "The bytes of text as text: \"hex\" or \"base64\".",
		.example = "str.encode([\"ab\"], encoding=\"base64\") == [\"YWI=\"]",
		.options = encode_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.bind = bind_str_encode,
	},
	{
		.name = "str.decode",
		.args = "x",
		.doc = "The bytes that text stands for: \"hex\" or \"base64\". What is none fails with ComputeError, "
			   "or is null unless strict.",
		.example = "str.decode([\"YWI=\"], encoding=\"base64\") == [\"ab\"]",
		.options = decode_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.fallible = true,
		.bind = bind_str_decode,
	},
	{
		.name = "str.to_integer",
		.args = "x",
		.doc = "Whole numbers of a dtype out of text in a base from 2 to 36. What is none fails with "
			   "ComputeError, or is null unless strict.",
		.example = "str.to_integer([\"ff\", \"x\"], base=16, strict=false) == [255, null]",
		.options = integer_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_ELEMENTWISE,
		.nulls = NK_NULLS_PROPAGATE,
		.fallible = true,
		.bind = bind_to_integer,
	},
	{0},
};
