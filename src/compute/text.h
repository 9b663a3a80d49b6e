/* Search in text: one needle, or pieces in order with anything between them ("special.*requests", "^a.*b$").
 *
 * Bytes in, positions or bits out; nothing here knows code points, which UTF-8 makes unnecessary: a valid needle
 * can only be found at a character's start. All functions are pure; any thread. */
#ifndef NK_COMPUTE_TEXT_H
#define NK_COMPUTE_TEXT_H

#include "base/cpu.h"
#include "columnar/array.h"

typedef struct nk_text_piece {
	const char *bytes;
	int64_t n_bytes;
} nk_text_piece;

/* The pieces must follow one another without overlap. What lies between two of them has no line feed unless
 * gaps_cross_lines; pieces themselves have none unless there is one piece only. */
typedef struct nk_text_pieces {
	bool at_start, at_end; /* the first piece begins the text, the last one ends it */
	bool gaps_cross_lines;
	int n_pieces; /* at least 1; a piece may be empty */
	const nk_text_piece *pieces;
} nk_text_pieces;

/* Where needle first occurs, or NULL. An empty needle occurs at the start. Reads only the n bytes given. */
const char *nk_text_find(const char *bytes, int64_t n, const char *needle, int64_t n_needle);

/* Bit i tells whether row i of a flat or constant array of views matches; bits has nk_bitmap_bytes(n_rows) bytes
 * and is written whole. Nulls are searched like any row. */
void nk_text_match(const nk_array *array, int64_t n_rows, const nk_text_pieces *pieces, uint8_t *bits);

/* Code points of valid UTF-8. */
int64_t nk_text_count_chars(const char *bytes, int64_t n);
/* The byte position of code point number `index` (>= 0), at most n. */
int64_t nk_text_seek_char(const char *bytes, int64_t n, int64_t index);
/* The same counted from the end: where the last `count` code points begin, at least 0. */
int64_t nk_text_seek_char_back(const char *bytes, int64_t n, int64_t count);

/* Code points of each view. */
void nk_text_count_chars_of_views(const nk_array *array, int64_t n_rows, uint32_t *out);

/* Lower or upper case of n bytes when all are ASCII; false (and rubbish in `to`) when they are not. */
bool nk_text_change_ascii_case(char *to, const char *bytes, int64_t n, bool upper);

/* One level's loops. */
typedef struct nk_text_loops {
	const char *(*find)(const char *bytes, int64_t n, const char *needle, int64_t n_needle);
	void (*match)(const nk_view *views, const nk_heap *heap, int64_t n_rows, const nk_text_pieces *pieces,
	              uint8_t *bits);
	int64_t (*count_chars)(const char *bytes, int64_t n);
	bool (*change_case)(char *to, const char *bytes, int64_t n, bool upper);
	void (*count_chars_of_views)(const nk_view *views, const nk_heap *heap, int64_t n_rows, uint32_t *out);
} nk_text_loops;
NK_ISA_DECLARE(nk_text_loops, nk__text_loops);

#endif
