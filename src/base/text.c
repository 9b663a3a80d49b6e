/* Plain doubling; texts are small and short-lived, so they are not accounted to a query. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nk_text_release(nk_text *text)
{
	if (!text->has_room)
		free(text->bytes);
	*text = (nk_text){0};
}

static bool text_reserve(nk_text *text, int64_t n_more)
{
	if (text->failed)
		return false;
	int64_t wanted = text->n_bytes + n_more + 1;
	if (wanted <= text->capacity)
		return true;
	int64_t capacity = NK_MAX(wanted, text->capacity * 2 + 64);
	char *bytes = realloc(text->has_room ? NULL : text->bytes, (size_t)capacity);
	if (!bytes) {
		text->failed = true;
		return false;
	}
	if (text->has_room)
		memcpy(bytes, text->bytes, (size_t)text->n_bytes + (text->n_bytes > 0));
	text->has_room = false;
	text->bytes = bytes;
	text->capacity = capacity;
	return true;
}

char *nk_text_room(nk_text *text, int64_t n_bytes)
{
	return text_reserve(text, n_bytes) ? text->bytes + text->n_bytes : NULL;
}

void nk_text_append(nk_text *text, const char *bytes, int64_t n_bytes)
{
	if (!text_reserve(text, n_bytes))
		return;
	if (n_bytes)
		memcpy(text->bytes + text->n_bytes, bytes, (size_t)n_bytes);
	text->n_bytes += n_bytes;
	text->bytes[text->n_bytes] = 0;
}

void nk_text_append_string(nk_text *text, const char *string)
{
	nk_text_append(text, string, (int64_t)strlen(string));
}

void nk_text_append_char(nk_text *text, char c) { nk_text_append(text, &c, 1); }

void nk_text_format(nk_text *text, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	int n = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (n >= 0 && text_reserve(text, n)) {
		vsnprintf(text->bytes + text->n_bytes, (size_t)n + 1, format, again);
		text->n_bytes += n;
	}
	va_end(again);
}

nk_status nk_text_finish(nk_text *text, nk_error *err)
{
	nk_text_append(text, "", 0);
	if (text->failed)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a text of %lld bytes", (long long)text->n_bytes);
	return NK_OK;
}

bool nk_is_utf8(const char *bytes, int64_t n_bytes)
{
	const uint8_t *at = (const uint8_t *)bytes, *end = at + n_bytes;
	while (at < end) {
		int n = *at < 0x80                  ? 1
		        : *at >= 0xc2 && *at < 0xe0 ? 2
		        : (*at & 0xf0) == 0xe0      ? 3
		        : *at >= 0xf0 && *at < 0xf5 ? 4
		                                    : 0;
		bool ok = n > 0 && end - at >= n;
		for (int k = 1; k < n && ok; k++)
			ok = (at[k] & 0xc0) == 0x80;
		ok = ok && !(n == 3 && at[0] == 0xe0 && at[1] < 0xa0) &&
		     !(n == 3 && at[0] == 0xed && at[1] >= 0xa0) && !(n == 4 && at[0] == 0xf0 && at[1] < 0x90) &&
		     !(n == 4 && at[0] == 0xf4 && at[1] >= 0x90);
		if (!ok)
			return false;
		at += n;
	}
	return true;
}

void nk_text_append_json(nk_text *out, const char *text)
{
	nk_text_append_char(out, '"');
	for (const char *at = text ? text : ""; *at; at++)
		if (*at == '"' || *at == '\\')
			nk_text_format(out, "\\%c", *at);
		else if ((unsigned char)*at < 0x20)
			nk_text_format(out, "\\u%04x", *at);
		else
			nk_text_append_char(out, *at);
	nk_text_append_char(out, '"');
}
