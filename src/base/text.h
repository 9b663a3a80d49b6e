/* A growing byte string: messages, printed tables, plan dumps. Single-owner; failure to grow is remembered
 * and reported once by nk_text_finish, so that writers need not check every append. */
#ifndef NK_BASE_TEXT_H
#define NK_BASE_TEXT_H

#include <stdarg.h>

#include "base/status.h"

typedef struct nk_text {
	char *bytes; /* NUL-terminated once anything was appended; from malloc, or the room it began with */
	int64_t n_bytes, capacity;
	bool failed, has_room;
} nk_text;

void nk_text_release(nk_text *text);
void nk_text_append(nk_text *text, const char *bytes, int64_t n_bytes);
/* Where to write n_bytes at the end, which count once n_bytes was raised; NULL when there is no memory for them. */
char *nk_text_room(nk_text *text, int64_t n_bytes);
void nk_text_append_string(nk_text *text, const char *string);
void nk_text_append_char(nk_text *text, char c);
/* As a JSON string, in quotes. */
void nk_text_append_json(nk_text *text, const char *string);
void nk_text_format(nk_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* NK_OK, or NK_OUT_OF_MEMORY if any append failed. An empty text has bytes "" afterwards. */
NK_MUST_CHECK nk_status nk_text_finish(nk_text *text, nk_error *err);

/* Whether all of it is UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
bool nk_is_utf8(const char *bytes, int64_t n_bytes);

static inline void nk_text__auto(nk_text *text) { nk_text_release(text); }
/* `NK_TEXT(t);` declares an empty text released at the end of the scope. */
#define NK_TEXT(name) __attribute__((cleanup(nk_text__auto))) nk_text name = {0}

/* The same, but its first `size` bytes take no memory. What it holds is not to be handed out. */
#define NK_TEXT_IN(name, size)              \
	char name##_room[size];                 \
	__attribute__((cleanup(nk_text__auto))) \
	nk_text name = {.bytes = name##_room, .capacity = (size), .has_room = true}

#endif
