/* Proves of JSON's loops at every instruction level: marks and line counts are those of a reader that goes byte by byte,
 * for text made of what matters most, at every length and with escapes and blank lines across the edges of blocks. */
#include "compute/json.h"
#include "levels.h"

enum { N_MAX = 300 };

static int64_t mark_slowly(const uint8_t *text, int n, bool is_lines, uint32_t *out, nk_json_found *found)
{
	int64_t n_marks = 0;
	bool inside = false, escaped = false, in_value = false;
	*found = (nk_json_found){0};
	for (int i = 0; i < n; i++) {
		uint8_t c = text[i];
		bool is_escaped = escaped, starts = false;
		escaped = c == '\\' && !is_escaped;
		found->has_escapes |= c == '\\';
		found->has_high |= c >= 0x80;
		if (c == '"' && !is_escaped) {
			out[n_marks++] = (uint32_t)i;
			inside = !inside;
			in_value = false;
			continue;
		}
		if (inside) {
			found->has_control |= c < 0x20;
			in_value = false;
			continue;
		}
		bool is_mark = c && strchr("{}[],:", c), is_blank = c && strchr(" \t\r\n", c);
		starts = !is_mark && !is_blank && !in_value;
		in_value = !is_mark && !is_blank;
		if (is_mark || starts || (c == '\n' && is_lines))
			out[n_marks++] = (uint32_t)i;
	}
	found->is_open = inside;
	found->n_marks = n_marks;
	return n_marks;
}

static void lines_slowly(const uint8_t *text, int n, nk_json_lines *out)
{
	for (int k = 0; k < 2; k++) {
		bool begun = k;
		out->n_lines[k] = 0;
		out->last_eol[k] = -1;
		for (int i = 0; i < n; i++) {
			if (text[i] != '\n') {
				begun |= text[i] != ' ' && text[i] != '\t' && text[i] != '\r';
				continue;
			}
			if (begun)
				out->last_eol[k] = i;
			out->n_lines[k] += begun;
			begun = false;
		}
		out->is_begun[k] = begun;
	}
}

static void check_text(const nk_json_loops *level, const uint8_t *bytes, int n)
{
	uint32_t wanted[N_MAX], marks[N_MAX + 16];
	nk_json_found right, found;
	nk_json_lines right_lines, lines;
	uint8_t *text =
		malloc((size_t)n + !n); /* exactly as long as it is, so that the sanitizer sees a read beyond */
	memcpy(text, bytes, (size_t)n);
	for (int is_lines = 0; is_lines < 2; is_lines++) {
		int64_t n_marks = mark_slowly(text, n, is_lines, wanted, &right);
		level->index(text, n, is_lines, marks, &found);
		EXPECT(found.n_marks == n_marks && memcmp(marks, wanted, (size_t)n_marks * 4) == 0);
		EXPECT(found.is_open == right.is_open && found.has_control == right.has_control);
		EXPECT(found.has_escapes == right.has_escapes && found.has_high == right.has_high);
	}
	lines_slowly(text, n, &right_lines);
	level->lines(text, n, &lines);
	for (int k = 0; k < 2; k++)
		EXPECT(lines.n_lines[k] == right_lines.n_lines[k] && lines.last_eol[k] == right_lines.last_eol[k] &&
		       lines.is_begun[k] == right_lines.is_begun[k]);
	free(text);
}

static void check(const nk_json_loops *base, const nk_json_loops *level)
{
	static const char *const alphabets[] = {"\"\\", "{}[],: \n\"1a", "\n \t\r1", "\\\\\\\\\\\"x",
	                                        "a\"\x80\x01 \n,"};
	(void)base;
	uint64_t state = 7;
	for (size_t a = 0; a < sizeof alphabets / sizeof *alphabets; a++)
		for (int n = 0; n < N_MAX; n++) {
			uint8_t text[N_MAX];
			size_t n_letters = strlen(alphabets[a]);
			for (int i = 0; i < n; i++)
				text[i] = (uint8_t)alphabets[a][levels_random(&state) % n_letters];
			check_text(level, text, n);
		}
}

int main(void)
{
	LEVELS_CHECK(check, nk__json_loops);
	return expect_report();
}
