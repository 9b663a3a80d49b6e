/* SQL text to tokens. All of a text is split at once, so that the parser can look ahead. Tokens point into the
 * text; nothing is copied. Works on any bytes: what is no token is an error with its place. */
#ifndef NK_SQL_LEXER_H
#define NK_SQL_LEXER_H

#include "base/memory.h"

typedef enum nk_sql_token_kind {
	NK_SQL_TOKEN_END,
	NK_SQL_TOKEN_WORD,   /* an identifier or keyword */
	NK_SQL_TOKEN_QUOTED, /* "an identifier" or `one`; the quotes are part of the token */
	NK_SQL_TOKEN_NUMBER,
	NK_SQL_TOKEN_TEXT,    /* 'text', with its quotes */
	NK_SQL_TOKEN_ESCAPED, /* E'text' */
	NK_SQL_TOKEN_HEX,     /* X'00ff' or 0x00ff */
	NK_SQL_TOKEN_SIGN,    /* an operator or punctuation of one to three bytes */
} nk_sql_token_kind;

typedef struct nk_sql_token {
	nk_sql_token_kind kind;
	int64_t at, n_bytes;
} nk_sql_token;

typedef struct nk_sql_tokens {
	nk_memory *memory;   /* borrowed */
	nk_sql_token *items; /* n of them; the last is the end */
	int64_t n, capacity;
} nk_sql_tokens;

/* Release with nk_sql_tokens_release, also after a failure. */
NK_MUST_CHECK nk_status nk_sql_tokenize(nk_memory *memory, const char *text, int64_t n_bytes,
                                        nk_sql_tokens *out, nk_error *err);
void nk_sql_tokens_release(nk_sql_tokens *tokens);

/* NK_SQL_INTERFACE (or another status) with a message that ends with the line of `at` and a caret below it. */
nk_status nk__sql_fail(nk_error *err, nk_status status, const char *text, int64_t n_bytes, int64_t at,
                       const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
