/* Proves of base/text, base/status and base/hash: texts grow, messages are cut and never overrun, hashes depend on
 * every byte and on nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "expect.h"

static void texts_grow(void)
{
	NK_TEXT(text);
	EXPECT(nk_text_finish(&text, NULL) == NK_OK && strcmp(text.bytes, "") == 0);
	for (int i = 0; i < 1000; i++) {
		nk_text_format(&text, "%d", i % 10);
		nk_text_append_char(&text, ',');
		nk_text_append_string(&text, "ab");
		nk_text_append(&text, "", 0);
	}
	EXPECT(nk_text_finish(&text, NULL) == NK_OK && text.n_bytes == 4000 && strlen(text.bytes) == 4000);
	EXPECT(strncmp(text.bytes + 3996, "9,ab", 5) == 0);
}

static void messages_are_cut(void)
{
	nk_error err = {0};
	char *longer = malloc(5000);
	memset(longer, 'x', 4999);
	longer[4999] = 0;
	EXPECT(nk_fail(&err, NK_COMPUTE, "%s", longer) == NK_COMPUTE && err.code == NK_COMPUTE);
	EXPECT(strlen(err.message) < sizeof err.message);
	EXPECT(nk_error_context(&err, NK_COMPUTE, "column %s", longer) == NK_COMPUTE);
	EXPECT(strlen(err.message) < sizeof err.message);
	EXPECT(nk_fail(&err, NK_IO, "%s", "cannot read") == NK_IO);
	EXPECT(nk_error_context(&err, NK_IO, "column %d", 3) == NK_IO);
	EXPECT(nk_error_context(&err, NK_IO, "file %s", "a") == NK_IO);
	EXPECT(strstr(err.message, "cannot read") && strstr(err.message, "column 3") &&
	       strstr(err.message, "file a"));
	EXPECT(nk_fail(NULL, NK_IO, "nobody listens") == NK_IO && nk_error_context(NULL, NK_IO, "here") == NK_IO);
	free(longer);
}

static void hashes_see_every_byte(void)
{
	for (int64_t n = 0; n <= 70; n++) {
		/* Exactly n bytes, so that the sanitizer sees a read beyond. */
		uint8_t *bytes = malloc((size_t)n + !n);
		for (int64_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)(i * 37);
		uint64_t hash = nk_hash_bytes(bytes, n);
		EXPECT(hash == nk_hash_bytes(bytes, n));
		for (int64_t i = 0; i < n; i++) {
			bytes[i] ^= 4;
			EXPECT(nk_hash_bytes(bytes, n) != hash);
			bytes[i] ^= 4;
		}
		if (n > 0)
			EXPECT(nk_hash_bytes(bytes, n - 1) != hash);
		free(bytes);
	}
	EXPECT(nk_hash_combine(1, 2) != nk_hash_combine(2, 1));
	EXPECT(nk_hash_u64(1) != nk_hash_u64(2) && nk_hash_u64(1) != nk_hash_u64(1ull << 32));
}

int main(void)
{
	texts_grow();
	messages_are_cut();
	hashes_see_every_byte();
	return expect_report();
}
