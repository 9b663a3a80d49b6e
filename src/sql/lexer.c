/* One pass over the bytes, no table: SQL has few kinds of tokens. Bytes above 0x7f count as letters, so that any
 * UTF-8 identifier is one word. */
#include "sql/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

nk_status nk__sql_fail(nk_error *err, nk_status status, const char *text, int64_t n_bytes, int64_t at,
                       const char *format, ...)
{
	char message[480];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);

	int64_t line = 1, start = 0, end = at;
	for (int64_t i = 0; i < at; i++)
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		}
	int64_t column = 1;
	for (int64_t i = start; i < at; i++)
		column += ((unsigned char)text[i] & 0xc0) != 0x80;
	while (end < n_bytes && text[end] != '\n')
		end++;
	/* Of a long line only what is around the place, cut between characters. */
	int64_t from = NK_MAX(start, at - 60), to = NK_MIN(end, at + 40);
	while (from > start && ((unsigned char)text[from] & 0xc0) == 0x80)
		from--;
	while (to < end && ((unsigned char)text[to] & 0xc0) == 0x80)
		to++;
	char shown[160], caret[160];
	int n = 0, n_caret = 0;
	for (int64_t i = from; i < to && n < (int)sizeof shown - 1; i++)
		shown[n++] = (unsigned char)text[i] < 0x20 ? ' ' : text[i];
	shown[n] = 0;
	for (int64_t i = from; i < at && n_caret < (int)sizeof caret - 2; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			caret[n_caret++] = ' ';
	caret[n_caret++] = '^';
	caret[n_caret] = 0;
	return nk_fail(err, status, "%s (line %lld, column %lld)\n  %s\n  %s", message, (long long)line,
	               (long long)column, shown, caret);
}

void nk_sql_tokens_release(nk_sql_tokens *tokens)
{
	nk_free(tokens->memory, tokens->items, tokens->capacity * (int64_t)sizeof *tokens->items);
	tokens->items = NULL;
	tokens->n = tokens->capacity = 0;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

typedef struct lexer {
	const char *text;
	int64_t n, at;
	nk_error *err;
} lexer;

static char peek(const lexer *l, int64_t ahead) { return l->at + ahead < l->n ? l->text[l->at + ahead] : 0; }

static nk_status skip_blanks(lexer *l)
{
	for (;;) {
		if (l->at < l->n && is_blank(l->text[l->at])) {
			l->at++;
		} else if (peek(l, 0) == '-' && peek(l, 1) == '-') {
			while (l->at < l->n && l->text[l->at] != '\n')
				l->at++;
		} else if (peek(l, 0) == '/' && peek(l, 1) == '*') {
			int64_t start = l->at, depth = 0;
			do {
				if (l->at >= l->n)
					return nk__sql_fail(l->err, NK_SQL_INTERFACE, l->text, l->n, start,
					                    "a comment without its end");
				bool opens = peek(l, 0) == '/' && peek(l, 1) == '*',
					 closes = peek(l, 0) == '*' && peek(l, 1) == '/';
				depth += opens - closes;
				l->at += opens || closes ? 2 : 1;
			} while (depth > 0);
		} else {
			return NK_OK;
		}
	}
}

/* From an opening quote to behind the closing one; a doubled quote stands for one. */
static nk_status skip_quoted(lexer *l, char quote, bool backslashes, const char *what)
{
	int64_t start = l->at++;
	for (; l->at < l->n; l->at++) {
		char c = l->text[l->at];
		if (backslashes && c == '\\' && l->at + 1 < l->n) {
			l->at++;
		} else if (c == quote) {
			if (peek(l, 1) != quote) {
				l->at++;
				return NK_OK;
			}
			l->at++;
		}
	}
	return nk__sql_fail(l->err, NK_SQL_INTERFACE, l->text, l->n, start, "unterminated %s", what);
}

static void skip_number(lexer *l)
{
	while (is_digit(peek(l, 0)) || (peek(l, 0) == '_' && is_digit(peek(l, 1))))
		l->at++;
	if (peek(l, 0) == '.') {
		l->at++;
		while (is_digit(peek(l, 0)))
			l->at++;
	}
	char sign = peek(l, 1);
	if ((peek(l, 0) == 'e' || peek(l, 0) == 'E') &&
	    (is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(peek(l, 2))))) {
		l->at += 2;
		while (is_digit(peek(l, 0)))
			l->at++;
	}
}

static const char *const signs[] = {"<=>", "!~~*", "!~*", "!~~", "~~*", "->>", "<<", ">>", "<=", ">=",
                                    "<>",  "!=",   "==",  "||",  "::",  "//",  "^@", "!~", "~*", "~~",
                                    "=>",  ":=",   "->",  "+",   "-",   "*",   "/",  "%",  "<",  ">",
                                    "=",   "(",    ")",   ",",   ".",   ";",   "[",  "]",  "{",  "}",
                                    ":",   "~",    "&",   "|",   "^",   "#",   "!",  "?",  "@"};

static nk_status skip_token(lexer *l, nk_sql_token_kind *kind)
{
	char c = peek(l, 0);
	if (c == '\'') {
		*kind = NK_SQL_TOKEN_TEXT;
		return skip_quoted(l, c, false, "string literal");
	}
	if (c == '"' || c == '`') {
		*kind = NK_SQL_TOKEN_QUOTED;
		return skip_quoted(l, c, false, "quoted identifier");
	}
	if ((c == 'e' || c == 'E') && peek(l, 1) == '\'') {
		l->at++;
		*kind = NK_SQL_TOKEN_ESCAPED;
		return skip_quoted(l, '\'', true, "string literal");
	}
	if ((c == 'x' || c == 'X') && peek(l, 1) == '\'') {
		l->at++;
		*kind = NK_SQL_TOKEN_HEX;
		return skip_quoted(l, '\'', false, "binary literal");
	}
	if (c == '0' && (peek(l, 1) == 'x' || peek(l, 1) == 'X') && is_hex(peek(l, 2))) {
		*kind = NK_SQL_TOKEN_HEX;
		for (l->at += 2; is_hex(peek(l, 0));)
			l->at++;
		return NK_OK;
	}
	if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
		*kind = NK_SQL_TOKEN_NUMBER;
		skip_number(l);
		return NK_OK;
	}
	if (is_letter(c)) {
		*kind = NK_SQL_TOKEN_WORD;
		while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)) || peek(l, 0) == '$')
			l->at++;
		return NK_OK;
	}
	*kind = NK_SQL_TOKEN_SIGN;
	for (int i = 0; i < NK_COUNT(signs); i++) {
		int64_t n = (int64_t)strlen(signs[i]);
		if (n <= l->n - l->at && memcmp(l->text + l->at, signs[i], (size_t)n) == 0) {
			l->at += n;
			return NK_OK;
		}
	}
	if ((unsigned char)c < 0x20 || c == 0x7f)
		return nk__sql_fail(l->err, NK_SQL_INTERFACE, l->text, l->n, l->at,
		                    "a byte that belongs to no token: 0x%02x", (unsigned char)c);
	return nk__sql_fail(l->err, NK_SQL_INTERFACE, l->text, l->n, l->at,
	                    "a character that belongs to no token: %c", c);
}

nk_status nk_sql_tokenize(nk_memory *memory, const char *text, int64_t n_bytes, nk_sql_tokens *out,
                          nk_error *err)
{
	*out = (nk_sql_tokens){.memory = memory};
	lexer l = {.text = text, .n = n_bytes, .err = err};
	for (;;) {
		NK_TRY(skip_blanks(&l));
		NK_TRY(NK_GROW(memory, &out->items, &out->capacity, out->n + 1, err));
		nk_sql_token *token = &out->items[out->n++];
		*token = (nk_sql_token){.kind = NK_SQL_TOKEN_END, .at = l.at};
		if (l.at >= n_bytes)
			return NK_OK;
		NK_TRY(skip_token(&l, &token->kind));
		token->n_bytes = l.at - token->at;
	}
}
