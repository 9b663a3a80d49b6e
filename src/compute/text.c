/* Search in text: picks this machine's loops, and what is too rare to vectorise. */
#include "compute/text.h"

const char *nk_text_find(const char *bytes, int64_t n, const char *needle, int64_t n_needle)
{
	return NK_ISA_TABLE(nk__text_loops)->find(bytes, n, needle, n_needle);
}

void nk_text_match(const nk_array *array, int64_t n_rows, const nk_text_pieces *pieces, uint8_t *bits)
{
	const nk_text_loops *loops = NK_ISA_TABLE(nk__text_loops);
	if (array->encoding != NK_CONSTANT) {
		loops->match(array->values, array->heap, n_rows, pieces, bits);
		return;
	}
	uint8_t bit;
	loops->match(array->values, array->heap, 1, pieces, &bit);
	memset(bits, 0, (size_t)nk_bitmap_bytes(n_rows));
	nk_bitmap_fill(bits, 0, n_rows, bit & 1);
}

int64_t nk_text_count_chars(const char *bytes, int64_t n)
{
	return NK_ISA_TABLE(nk__text_loops)->count_chars(bytes, n);
}

void nk_text_count_chars_of_views(const nk_array *array, int64_t n_rows, uint32_t *out)
{
	int64_t n = array->encoding == NK_CONSTANT && n_rows > 0 ? 1 : n_rows;
	NK_ISA_TABLE(nk__text_loops)->count_chars_of_views(array->values, array->heap, n, out);
	for (int64_t i = n; i < n_rows; i++)
		out[i] = out[0];
}

bool nk_text_change_ascii_case(char *to, const char *bytes, int64_t n, bool upper)
{
	return NK_ISA_TABLE(nk__text_loops)->change_case(to, bytes, n, upper);
}

static bool continues(char byte) { return (signed char)byte < -64; }

int64_t nk_text_seek_char(const char *bytes, int64_t n, int64_t index)
{
	int64_t at = 0;
	/* While eight bytes in a row are ASCII, characters are bytes. */
	while (index >= 8 && n - at >= 8) {
		uint64_t word;
		memcpy(&word, bytes + at, 8);
		if (word & 0x8080808080808080ull)
			break;
		at += 8;
		index -= 8;
	}
	for (; index > 0 && at < n; index--) {
		at++;
		while (at < n && continues(bytes[at]))
			at++;
	}
	return at;
}

int64_t nk_text_seek_char_back(const char *bytes, int64_t n, int64_t count)
{
	int64_t at = n;
	for (; count > 0 && at > 0; count--) {
		at--;
		while (at > 0 && continues(bytes[at]))
			at--;
	}
	return at;
}
