/* Proves of base/bitmap: every operation agrees with bit by bit, at every offset and length, and touches nothing
 * beside what it says. */
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "expect.h"

enum { N_BITS = 200, N_BYTES = N_BITS / 8 };

static void noise(uint8_t *bits, unsigned seed)
{
	for (int i = 0; i < N_BYTES; i++) {
		seed = seed * 1103515245 + 12345;
		bits[i] = (uint8_t)(seed >> 16);
	}
}

static void words_and_counts(void)
{
	/* Exactly as large as it must be: the sanitizer sees a read beyond. */
	uint8_t *bits = malloc(N_BYTES);
	noise(bits, 1);
	for (int64_t n = 0; n <= N_BITS; n++)
		for (int64_t i = 0; i <= n; i++) {
			uint64_t want = 0;
			int64_t count = 0;
			for (int64_t k = i; k < n; k++) {
				count += nk_bitmap_get(bits, k);
				if (k - i < 64)
					want |= (uint64_t)nk_bitmap_get(bits, k) << (k - i);
			}
			EXPECT(nk_bitmap_word(bits, i, n) == want);
			EXPECT(nk_bitmap_count(bits, i, n - i) == count);
		}
	free(bits);
}

static void copy_paste_fill(void)
{
	uint8_t source[N_BYTES], target[N_BYTES], before[N_BYTES], copied[N_BYTES + 8];
	noise(source, 2);
	for (int64_t at = 0; at < 70; at += 3)
		for (int64_t n = 0; n <= 120; n++) {
			memset(copied, 0xee, sizeof copied);
			nk_bitmap_copy(copied, source, at, n);
			for (int64_t i = 0; i < nk_bitmap_bytes(n) * 8; i++)
				EXPECT(nk_bitmap_get(copied, i) == (i < n && nk_bitmap_get(source, at + i)));
			EXPECT(copied[nk_bitmap_bytes(n)] == 0xee);

			noise(target, 3);
			memcpy(before, target, sizeof before);
			nk_bitmap_paste(target, at, source, n);
			for (int64_t i = 0; i < N_BITS; i++)
				EXPECT(nk_bitmap_get(target, i) ==
				       (i >= at && i < at + n ? nk_bitmap_get(source, i - at) : nk_bitmap_get(before, i)));

			for (int value = 0; value < 2; value++) {
				memcpy(target, before, sizeof before);
				nk_bitmap_fill(target, at, n, value);
				for (int64_t i = 0; i < N_BITS; i++)
					EXPECT(nk_bitmap_get(target, i) ==
					       (i >= at && i < at + n ? value : nk_bitmap_get(before, i)));
			}
		}
}

int main(void)
{
	words_and_counts();
	copy_paste_fill();
	return expect_report();
}
