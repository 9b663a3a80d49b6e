/* Proves of the search loops: every level finds what a plain byte-by-byte search finds, for texts and needles of
 * all lengths around the vectors' widths, at the very end of readable memory, and through views. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "compute/text.h"
#include "expect.h"

static uint64_t state = 88172645463325252ull;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static const char *find_plainly(const char *bytes, int64_t n, const char *needle, int64_t n_needle)
{
	for (int64_t i = 0; i + n_needle <= n; i++)
		if (memcmp(bytes + i, needle, (size_t)n_needle) == 0)
			return bytes + i;
	return NULL;
}

/* Leftmost places piece by piece, tried from every start. */
static bool match_plainly(const char *bytes, int64_t n, const nk_text_pieces *pieces, int i, int64_t from,
                          bool fixed)
{
	if (i == pieces->n_pieces)
		return !pieces->at_end || from == n;
	const nk_text_piece *piece = &pieces->pieces[i];
	for (int64_t at = from; at + piece->n_bytes <= n; at++) {
		if (memcmp(bytes + at, piece->bytes, (size_t)piece->n_bytes) == 0 &&
		    match_plainly(bytes, n, pieces, i + 1, at + piece->n_bytes, false))
			return true;
		if (fixed || (i > 0 && at < n && bytes[at] == '\n' && !pieces->gaps_cross_lines))
			return false;
	}
	return false;
}

/* `page` ends where memory may not be read any more. */
static void test_find(const nk_text_loops *loops, char *page, int64_t n_page)
{
	for (int64_t n = 0; n < 200; n++)
		for (int64_t n_needle = 0; n_needle < 20; n_needle++) {
			char *bytes = page + n_page - n, needle[20];
			for (int64_t i = 0; i < n; i++)
				bytes[i] = (char)('a' + next_random() % 2);
			for (int64_t i = 0; i < n_needle; i++)
				needle[i] = (char)('a' + next_random() % 2);
			if (n >= n_needle && next_random() % 2)
				memcpy(needle, bytes + n - n_needle, (size_t)n_needle);
			EXPECT(loops->find(bytes, n, needle, n_needle) == find_plainly(bytes, n, needle, n_needle));
		}
}

static void test_match(const nk_text_loops *loops)
{
	enum { N_ROWS = 133, N_TEXT = 40 };
	static char heap_bytes[N_ROWS * N_TEXT];
	nk_buffer buffer = {.bytes = (uint8_t *)heap_bytes, .n_bytes = sizeof heap_bytes, .n_references = 1};
	nk_heap *heap = malloc(sizeof *heap + sizeof(nk_buffer *));
	heap->n_buffers = 1;
	heap->buffers[0] = &buffer;
	for (int round = 0; round < 3000; round++) {
		nk_view views[N_ROWS];
		for (int i = 0; i < N_ROWS; i++) {
			uint32_t n = (uint32_t)(next_random() % N_TEXT), offset = (uint32_t)(i * N_TEXT);
			for (uint32_t k = 0; k < n; k++)
				heap_bytes[offset + k] = "ab\n"[next_random() % (next_random() % 2 ? 3 : 2)];
			views[i] = nk_view_make(heap_bytes + offset, n, 0, offset);
		}
		nk_text_piece list[3];
		char texts[3][12];
		nk_text_pieces pieces = {.pieces = list};
		pieces.n_pieces = 1 + (int)(next_random() % 3);
		pieces.at_start = next_random() % 2;
		pieces.at_end = next_random() % 2;
		pieces.gaps_cross_lines = next_random() % 2;
		for (int p = 0; p < pieces.n_pieces; p++) {
			list[p] = (nk_text_piece){texts[p], (int64_t)(next_random() % (round % 2 ? 4 : 11))};
			for (int64_t k = 0; k < list[p].n_bytes; k++)
				texts[p][k] = "ab"[next_random() % 2];
			if (list[p].n_bytes > 0 && pieces.n_pieces == 1 && round % 3 == 0) {
				const nk_view *view = &views[next_random() % N_ROWS];
				list[p].n_bytes = NK_MIN(list[p].n_bytes, (int64_t)view->n_bytes);
				memcpy(texts[p], nk_view_bytes(view, heap), (size_t)list[p].n_bytes);
			}
		}
		uint8_t bits[(N_ROWS + 7) / 8];
		loops->match(views, heap, N_ROWS, &pieces, bits);
		int n_wrong = 0;
		for (int i = 0; i < N_ROWS; i++)
			n_wrong +=
				nk_bitmap_get(bits, i) != match_plainly(nk_view_bytes(&views[i], heap), views[i].n_bytes,
			                                            &pieces, 0, 0, pieces.at_start);
		EXPECT(n_wrong == 0);
	}
	free(heap);
}

static void test_case_and_counts(const nk_text_loops *loops)
{
	char text[100], upper[100];
	for (int64_t n = 0; n < 100; n++) {
		for (int64_t i = 0; i < n; i++)
			text[i] = (char)(next_random() % 127 + 1);
		EXPECT(loops->change_case(upper, text, n, true));
		EXPECT(loops->count_chars(text, n) == n);
		for (int64_t i = 0; i < n; i++)
			EXPECT(upper[i] == (text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i]));
		if (n >= 2) {
			memcpy(text + n - 2, "\xc3\xa9", 2);
			EXPECT(!loops->change_case(upper, text, n, true));
			EXPECT(loops->count_chars(text, n) == n - 1);
		}
	}
}

int main(void)
{
	const nk_text_loops *levels[] = {
		&nk__text_loops_baseline,
#ifdef __x86_64__
		nk_cpu_isa() >= NK_ISA_V3 ? &nk__text_loops_v3 : NULL,
		nk_cpu_isa() >= NK_ISA_V4 ? &nk__text_loops_v4 : NULL,
#endif
	};
	int64_t n_page = 1 << 16;
	char *page = mmap(NULL, 2 * (size_t)n_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(page != MAP_FAILED && mprotect(page + n_page, (size_t)n_page, PROT_NONE) == 0);
	for (int i = 0; i < NK_COUNT(levels); i++)
		if (levels[i]) {
			test_find(levels[i], page, n_page);
			test_match(levels[i]);
			test_case_and_counts(levels[i]);
		}
	munmap(page, 2 * (size_t)n_page);
	return expect_report();
}
