/* Two steps: recognise what plain search can do, translate the rest into PCRE2's dialect. The translation walks
 * the pattern once: it refuses what Rust's regex refuses, spells differently what both have, and copies the rest.
 * Matching is bounded by PCRE2's match limit, so a pattern that backtracks without end is an error. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "compute/text_pattern.h"

#include <pcre2.h>

#include "base/text.h"

/* ---- Patterns that plain search can do ---- */

static bool is_meta(char c) { return c && strchr("\\.+*?()|[]{}^$", c); }

/* Whether backslash and c are the character c: all of ASCII that is no letter, digit or word boundary. */
static bool is_escaped_literal(char c)
{
	bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
	return (unsigned char)c < 128 && !is_word && c != '<' && c != '>';
}

/* Fills pieces when the pattern is [^] literal (.* literal)* [$]; leaves n_pieces 0 when it is more. */
static void find_pieces(nk_pattern *pattern, const char *text, int64_t n)
{
	nk_text_pieces pieces = {.pieces = pattern->piece_list};
	const char *at = text, *end = text + n;
	char *to = pattern->text;
	bool has_feed = false, has_gap = false, gap_at_end = false;
	if (end - at >= 4 && memcmp(at, "(?s)", 4) == 0) {
		pieces.gaps_cross_lines = true;
		at += 4;
	}
	if (at < end && *at == '^') {
		pieces.at_start = true;
		at++;
	}
	nk_text_piece *piece = pattern->piece_list;
	*piece = (nk_text_piece){.bytes = to};
	while (at < end) {
		char c = *at++;
		gap_at_end = false;
		if (c == '$' && at == end) {
			pieces.at_end = true;
			break;
		}
		if (c == '.' && at < end && *at == '*' && !(at + 1 < end && strchr("?+*{", at[1]))) {
			at++;
			gap_at_end = has_gap = true;
			if (piece->n_bytes == 0 && (piece > pattern->piece_list || !pieces.at_start))
				continue; /* nothing has to come before it */
			if (piece - pattern->piece_list + 2 > pattern->n_pieces_max)
				return;
			*++piece = (nk_text_piece){.bytes = to};
			continue;
		}
		if (c == '\\') {
			if (at == end || !is_escaped_literal(*at))
				return;
			c = *at++;
		} else if (is_meta(c)) {
			return;
		}
		if (at < end && (*at == '*' || *at == '+' || *at == '?' || *at == '{'))
			return;
		has_feed |= c == '\n';
		*to++ = c;
		piece->n_bytes++;
	}
	pieces.n_pieces = (int)(piece - pattern->piece_list) + 1;
	/* ".*" before the end asks for nothing, unless the end is anchored. */
	if (gap_at_end && !pieces.at_end && piece->n_bytes == 0 && pieces.n_pieces > 1)
		pieces.n_pieces--;
	if (has_feed && pieces.n_pieces > 1)
		return;
	pattern->pieces = pieces;
	pattern->is_literal = !has_gap && !pieces.at_start && !pieces.at_end;
}

/* ---- Translation ---- */

typedef struct translation {
	const char *at, *end;
	nk_text *out;
	bool verbose;
} translation;

static nk_status refuse(const translation *t, nk_error *err, const char *what)
{
	(void)t;
	return nk_fail(err, NK_COMPUTE, "regex parse error: %s", what);
}

static bool starts(const translation *t, const char *prefix)
{
	size_t n = strlen(prefix);
	return (size_t)(t->end - t->at) >= n && memcmp(t->at, prefix, n) == 0;
}

/* Hexadecimal digits, exactly n or, with n 0, up to a closing brace. */
static nk_status translate_hex(translation *t, int n, nk_error *err)
{
	uint32_t value = 0;
	int n_read = 0;
	bool braced = t->at < t->end && *t->at == '{';
	t->at += braced;
	while (t->at < t->end && (braced ? *t->at != '}' : n_read < n)) {
		char c = *t->at++;
		int digit = c >= '0' && c <= '9'                 ? c - '0'
		            : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
		                                                 : -1;
		if (digit < 0 || n_read++ == 8)
			return refuse(t, err, "invalid hexadecimal digit");
		value = value << 4 | (uint32_t)digit;
	}
	if (braced ? t->at == t->end || n_read == 0 : n_read < n)
		return refuse(t, err, "incomplete hexadecimal escape");
	t->at += braced;
	if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return refuse(t, err, "hexadecimal literal is not a Unicode scalar value");
	nk_text_format(t->out, "\\x{%x}", value);
	return NK_OK;
}

/* After a backslash. */
static nk_status translate_escape(translation *t, bool in_class, nk_error *err)
{
	if (t->at == t->end)
		return refuse(t, err, "incomplete escape sequence, reached end of pattern prematurely");
	char c = *t->at++;
	switch (c) {
	case 'd':
	case 'D':
	case 's':
	case 'S':
	case 'w':
	case 'W':
	case 'n':
	case 't':
	case 'r':
	case 'f':
	case 'a':
		nk_text_append_char(t->out, '\\');
		nk_text_append_char(t->out, c);
		return NK_OK;
	case 'v': nk_text_append_string(t->out, "\\x0b"); return NK_OK;
	case 'x': return translate_hex(t, 2, err);
	case 'u': return translate_hex(t, 4, err);
	case 'U': return translate_hex(t, 8, err);
	case 'p':
	case 'P': {
		const char *from = t->at;
		if (t->at < t->end && *t->at == '{')
			while (t->at < t->end && *t->at != '}')
				t->at++;
		if (t->at++ >= t->end)
			return refuse(t, err, "incomplete Unicode class");
		nk_text_append_char(t->out, '\\');
		nk_text_append_char(t->out, c);
		nk_text_append(t->out, from, t->at - from);
		return NK_OK;
	}
	default: break;
	}
	if (!in_class) {
		if (c == 'b' && starts(t, "{start}")) {
			t->at += 7;
			c = '<';
		} else if (c == 'b' && starts(t, "{end}")) {
			t->at += 5;
			c = '>';
		}
		switch (c) {
		case 'b':
		case 'B':
		case 'A':
		case 'z':
			nk_text_append_char(t->out, '\\');
			nk_text_append_char(t->out, c);
			return NK_OK;
		case '<': nk_text_append_string(t->out, "\\b(?=\\w)"); return NK_OK;
		case '>': nk_text_append_string(t->out, "\\b(?<=\\w)"); return NK_OK;
		default: break;
		}
	}
	if (c >= '1' && c <= '9')
		return refuse(t, err, "backreferences are not supported");
	if (!is_escaped_literal(c))
		return refuse(t, err, "unrecognized escape sequence");
	nk_text_append_char(t->out, '\\');
	nk_text_append_char(t->out, c);
	return NK_OK;
}

/* After "[:" in a class. POSIX classes are ASCII in this dialect. */
static nk_status translate_posix(translation *t, nk_error *err)
{
	static const char *const classes[][2] = {
		{"alnum", "0-9A-Za-z"},
		{"alpha", "A-Za-z"},
		{"ascii", "\\x00-\\x7f"},
		{"blank", "\\t "},
		{"cntrl", "\\x00-\\x1f\\x7f"},
		{"digit", "0-9"},
		{"graph", "!-~"},
		{"lower", "a-z"},
		{"print", " -~"},
		{"punct", "!-\\/:-@\\[-`{-~"},
		{"space", "\\t\\n\\x0b\\f\\r "},
		{"upper", "A-Z"},
		{"word", "0-9A-Za-z_"},
		{"xdigit", "0-9A-Fa-f"},
	};
	for (int i = 0; i < NK_COUNT(classes); i++) {
		size_t n = strlen(classes[i][0]);
		if (starts(t, classes[i][0]) && (size_t)(t->end - t->at) >= n + 2 && t->at[n] == ':' &&
		    t->at[n + 1] == ']') {
			t->at += n + 2;
			nk_text_append_string(t->out, classes[i][1]);
			return NK_OK;
		}
	}
	return refuse(t, err, "unrecognized POSIX class");
}

/* After "[". */
static nk_status translate_class(translation *t, nk_error *err)
{
	nk_text_append_char(t->out, '[');
	if (t->at < t->end && *t->at == '^')
		nk_text_append_char(t->out, *t->at++);
	bool first = true;
	for (; t->at < t->end; first = false) {
		char c = *t->at++;
		if (c == ']' && !first) {
			nk_text_append_char(t->out, ']');
			return NK_OK;
		}
		if (c == '[' && t->at < t->end && *t->at == ':') {
			t->at++;
			NK_TRY(translate_posix(t, err));
			continue;
		}
		if (c == '[')
			return refuse(t, err, "classes inside classes are not supported; join them with |");
		if ((c == '&' || c == '-' || c == '~') && t->at < t->end && *t->at == c && !first)
			return refuse(t, err, "set operations in classes are not supported");
		if (c == '\\') {
			NK_TRY(translate_escape(t, true, err));
			continue;
		}
		if (t->verbose && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))
			continue;
		if (c == ']')
			nk_text_append_char(t->out, '\\');
		nk_text_append_char(t->out, c);
	}
	return refuse(t, err, "unclosed character class");
}

/* After "(". */
static nk_status translate_group(translation *t, nk_error *err)
{
	nk_text_append_char(t->out, '(');
	if (t->at < t->end && *t->at == '*')
		return refuse(t, err, "repetition operator missing expression");
	if (t->at == t->end || *t->at != '?')
		return NK_OK;
	if (starts(t, "?=") || starts(t, "?!") || starts(t, "?<=") || starts(t, "?<!"))
		return refuse(t, err, "look-around, including look-ahead and look-behind, is not supported");
	if (starts(t, "?P<") || starts(t, "?<")) {
		const char *from = t->at;
		while (t->at < t->end && *t->at != '>')
			t->at++;
		if (t->at == t->end)
			return refuse(t, err, "unclosed capture group name");
		t->at++;
		nk_text_append(t->out, from, t->at - from);
		return NK_OK;
	}
	nk_text_append_char(t->out, *t->at++);
	bool on = true;
	for (; t->at < t->end; t->at++) {
		char c = *t->at;
		if (c == ':' || c == ')') {
			nk_text_append_char(t->out, c);
			t->at++;
			return NK_OK;
		}
		if (c == '-')
			on = false;
		else if (c == 'u') {
			if (!on)
				return refuse(t, err, "matching bytes that are not UTF-8 is not supported");
			continue;
		} else if (c == 'x')
			t->verbose = on;
		else if (c != 'i' && c != 'm' && c != 's' && c != 'U')
			return refuse(t, err, "unrecognized flag");
		nk_text_append_char(t->out, c);
	}
	return refuse(t, err, "unclosed group");
}

/* After "{": {n}, {n,}, {n,m} and nothing else. */
static nk_status translate_repetition(translation *t, nk_error *err)
{
	const char *from = t->at;
	int n_digits = 0, n_commas = 0;
	for (; t->at < t->end && *t->at != '}'; t->at++) {
		if (*t->at >= '0' && *t->at <= '9')
			n_digits++;
		else if (*t->at == ',' && n_digits > 0 && n_commas == 0)
			n_commas++;
		else
			return refuse(t, err, "repetition quantifier expects a valid decimal");
	}
	if (t->at == t->end || n_digits == 0)
		return refuse(t, err, "unclosed counted repetition");
	t->at++;
	nk_text_append_char(t->out, '{');
	nk_text_append(t->out, from, t->at - from);
	return NK_OK;
}

static nk_status translate(translation *t, nk_error *err)
{
	while (t->at < t->end) {
		char c = *t->at++;
		switch (c) {
		case '\\': NK_TRY(translate_escape(t, false, err)); continue;
		case '[': NK_TRY(translate_class(t, err)); continue;
		case '(': NK_TRY(translate_group(t, err)); continue;
		case '{': NK_TRY(translate_repetition(t, err)); break;
		case '*':
		case '+':
		case '?': nk_text_append_char(t->out, c); break;
		case ']':
		case '}':
			nk_text_append_char(t->out, '\\');
			nk_text_append_char(t->out, c);
			continue;
		default: nk_text_append_char(t->out, c); continue;
		}
		/* A quantifier: one ? makes it lazy; what follows it otherwise would be possessive here. */
		if (t->at < t->end && *t->at == '?')
			nk_text_append_char(t->out, *t->at++);
		if (t->at < t->end && (*t->at == '+' || *t->at == '*'))
			return refuse(t, err, "repeating a repetition is not supported; put the inner one in (?:...)");
	}
	return NK_OK;
}

/* ---- Engine ---- */

/* PCRE2 frees without saying how much: the size lies in front, in a block of the alignment of nk_alloc. */
enum { HEADER = 64 };

static void *allocate(size_t n_bytes, void *memory)
{
	void *block;
	if (n_bytes > INT64_MAX - HEADER || nk_alloc(memory, (int64_t)n_bytes + HEADER, &block, NULL) != NK_OK)
		return NULL;
	*(int64_t *)block = (int64_t)n_bytes + HEADER;
	return (char *)block + HEADER;
}

static void release(void *block, void *memory)
{
	if (block) {
		block = (char *)block - HEADER;
		nk_free(memory, block, *(int64_t *)block);
	}
}

static nk_status compile(nk_pattern *pattern, const char *text, int64_t n, nk_error *err)
{
	NK_TEXT(translated);
	translation t = {.at = text, .end = text + n, .out = &translated};
	NK_TRY(translate(&t, err));
	NK_TRY(nk_text_finish(&translated, err));
	pattern->allocator = pcre2_general_context_create(allocate, release, pattern->memory);
	pcre2_compile_context *context =
		pattern->allocator ? pcre2_compile_context_create(pattern->allocator) : NULL;
	if (!context)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a regular expression");
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	int code;
	PCRE2_SIZE at;
	uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
	pattern->code = pcre2_compile((PCRE2_SPTR)translated.bytes, (PCRE2_SIZE)translated.n_bytes, options,
	                              &code, &at, context);
	pcre2_compile_context_free(context);
	if (!pattern->code && code == PCRE2_ERROR_HEAP_FAILED)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a regular expression");
	if (!pattern->code) {
		char message[200];
		pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof message);
		return nk_fail(err, NK_COMPUTE, "regex parse error: %s", message);
	}
	/* Without a JIT on this machine the interpreter matches. */
	pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
	uint32_t n_groups = 0;
	pcre2_pattern_info(pattern->code, PCRE2_INFO_CAPTURECOUNT, &n_groups);
	pattern->n_groups = (int)n_groups;
	return NK_OK;
}

nk_status nk_pattern_new(nk_memory *memory, const char *text, int64_t n_bytes, bool is_literal,
                         bool only_test, nk_pattern **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(memory, sizeof(nk_pattern), &block, err));
	NK_AUTO(nk_pattern) pattern = block;
	*pattern = (nk_pattern){.memory = nk_memory_ref(memory)};
	int n_pieces_max = (int)NK_MIN(n_bytes / 2 + 2, 64);
	NK_TRY(nk_alloc(memory, n_pieces_max * (int64_t)sizeof *pattern->piece_list,
	                (void **)&pattern->piece_list, err));
	pattern->n_pieces_max = n_pieces_max;
	NK_TRY(nk_alloc(memory, n_bytes, (void **)&pattern->text, err));
	pattern->n_bytes_text = n_bytes;
	if (is_literal) {
		memcpy(pattern->text, text, (size_t)n_bytes);
		pattern->piece_list[0] = (nk_text_piece){pattern->text, n_bytes};
		pattern->pieces = (nk_text_pieces){.n_pieces = 1, .pieces = pattern->piece_list};
		pattern->is_literal = true;
	} else {
		find_pieces(pattern, text, n_bytes);
	}
	if (!pattern->is_literal && (pattern->pieces.n_pieces == 0 || !only_test))
		NK_TRY(compile(pattern, text, n_bytes, err));
	*out = NK_STEAL(pattern);
	return NK_OK;
}

void nk_pattern_free(nk_pattern *pattern)
{
	if (!pattern)
		return;
	if (pattern->code)
		pcre2_code_free(pattern->code);
	if (pattern->allocator)
		pcre2_general_context_free(pattern->allocator);
	if (pattern->text)
		nk_free(pattern->memory, pattern->text, pattern->n_bytes_text);
	if (pattern->piece_list)
		nk_free(pattern->memory, pattern->piece_list,
		        pattern->n_pieces_max * (int64_t)sizeof *pattern->piece_list);
	nk_memory *memory = pattern->memory;
	nk_free(memory, pattern, sizeof *pattern);
	nk_memory_unref(memory);
}

int nk_pattern_group_named(const nk_pattern *pattern, const char *name, int64_t n_bytes)
{
	char text[64];
	if (!pattern->code || n_bytes >= (int64_t)sizeof text)
		return -1;
	memcpy(text, name, (size_t)n_bytes);
	text[n_bytes] = 0;
	int number = pcre2_substring_number_from_name(pattern->code, (PCRE2_SPTR)text);
	return number > 0 ? number : -1;
}

enum { MATCH_LIMIT = 10000000, STACK_FIRST = 32 << 10, STACK_LARGEST = 4 << 20 };

nk_status nk_matcher_init(nk_matcher *matcher, const nk_pattern *pattern, nk_error *err)
{
	*matcher = (nk_matcher){.pattern = pattern};
	if (!pattern->code)
		return NK_OK;
	matcher->match = pcre2_match_data_create_from_pattern(pattern->code, pattern->allocator);
	matcher->context = pcre2_match_context_create(pattern->allocator);
	if (!matcher->match || !matcher->context)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for matching a regular expression");
	pcre2_set_match_limit(matcher->context, MATCH_LIMIT);
	return NK_OK;
}

void nk_matcher_release(nk_matcher *matcher)
{
	if (matcher->match)
		pcre2_match_data_free(matcher->match);
	if (matcher->context)
		pcre2_match_context_free(matcher->context);
	if (matcher->stack)
		pcre2_jit_stack_free(matcher->stack);
	*matcher = (nk_matcher){0};
}

nk_status nk_matcher_find(nk_matcher *matcher, const char *bytes, int64_t n, int64_t from, bool *found,
                          nk_error *err)
{
	const nk_pattern *pattern = matcher->pattern;
	if (from > n) {
		*found = false;
		return NK_OK;
	}
	if (pattern->is_literal) {
		const nk_text_piece *piece = &pattern->pieces.pieces[0];
		const char *at = nk_text_find(bytes + from, n - from, piece->bytes, piece->n_bytes);
		*found = at;
		if (at) {
			matcher->begin = at - bytes;
			matcher->end = matcher->begin + piece->n_bytes;
		}
		return NK_OK;
	}
	int code;
	for (;;) {
		code = pcre2_match(pattern->code, (PCRE2_SPTR)bytes, (PCRE2_SIZE)n, (PCRE2_SIZE)from,
		                   PCRE2_NO_UTF_CHECK, matcher->match, matcher->context);
		/* The JIT runs on the thread's stack until that is too small. */
		if (code != PCRE2_ERROR_JIT_STACKLIMIT || matcher->stack)
			break;
		matcher->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_LARGEST, pattern->allocator);
		if (!matcher->stack)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for matching a regular expression");
		pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
	}
	*found = code > 0;
	if (code > 0) {
		const PCRE2_SIZE *places = pcre2_get_ovector_pointer(matcher->match);
		matcher->begin = (int64_t)places[0];
		matcher->end = (int64_t)places[1];
	}
	if (code > 0 || code == PCRE2_ERROR_NOMATCH)
		return NK_OK;
	if (code == PCRE2_ERROR_NOMEMORY)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for matching a regular expression");
	char message[200];
	pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof message);
	return nk_fail(err, NK_COMPUTE, "matching a regular expression took too long: %s", message);
}

bool nk_matcher_group(const nk_matcher *matcher, int group, int64_t *begin, int64_t *end)
{
	if (group == 0) {
		*begin = matcher->begin;
		*end = matcher->end;
		return true;
	}
	if (!matcher->match || group < 0 || group > matcher->pattern->n_groups)
		return false;
	const PCRE2_SIZE *places = pcre2_get_ovector_pointer(matcher->match);
	if (places[2 * group] == PCRE2_UNSET)
		return false;
	*begin = (int64_t)places[2 * group];
	*end = (int64_t)places[2 * group + 1];
	return true;
}

void nk_matcher_start(nk_matcher *matcher)
{
	matcher->from = 0;
	matcher->end_before = -1;
}

nk_status nk_matcher_step(nk_matcher *matcher, const char *bytes, int64_t n, bool *found, nk_error *err)
{
	for (;;) {
		NK_TRY(nk_matcher_find(matcher, bytes, n, matcher->from, found, err));
		if (!*found)
			return NK_OK;
		int64_t end = matcher->end;
		bool is_empty = end == matcher->begin, touches = matcher->begin == matcher->end_before;
		matcher->from = !is_empty ? end : end < n ? end + nk_text_seek_char(bytes + end, n - end, 1) : n + 1;
		if (is_empty && touches)
			continue;
		matcher->end_before = end;
		return NK_OK;
	}
}
