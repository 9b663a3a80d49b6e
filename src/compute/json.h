/* JSON text: its structure, found many bytes at a time, and a cursor that walks it.
 *
 * The index lists the positions of braces, brackets, commas, colons, both quotes of every string, the first byte of every
 * other value, and between lines of NDJSON the line ends. A cursor is a place in that list. Every byte of a value is checked
 * when it is read or skipped, so text that is no JSON never passes for it, whether its columns are wanted or not.
 *
 * Text may be read up to 64 bytes behind its end and must be shorter than 4 GiB. Single-owner. */
#ifndef NK_COMPUTE_JSON_H
#define NK_COMPUTE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cpu.h"
#include "base/text.h"
#include "columnar/dtype.h"

enum {
	NK_JSON_PADDING = 64,
	NK_JSON_DEPTH_MAX = 1024, /* of text; values that become columns nest less deep: NK_DTYPE_MAX_DEPTH */
};

typedef struct nk_json_found {
	int64_t n_marks;
	bool is_open;     /* the text ends inside of a string */
	bool has_control; /* a byte below 32 stands in a string */
	bool has_escapes; /* some string has a backslash */
	bool has_high;    /* some byte is no ASCII */
} nk_json_found;

/* Lines that are not blank, for both assumptions about the text's start: [0] in a line that is blank so far, [1] in one
 * that is not. */
typedef struct nk_json_lines {
	int64_t n_lines[2];  /* that end in the text */
	int64_t last_eol[2]; /* of these; -1: none */
	bool is_begun[2];    /* the line that the text ends in has something */
} nk_json_lines;

typedef struct nk_json_loops {
	/* marks has room for n + 16. With is_lines line ends outside of strings are listed. */
	void (*index)(const uint8_t *text, int64_t n, bool is_lines, uint32_t *marks, nk_json_found *found);
	void (*lines)(const uint8_t *text, int64_t n, nk_json_lines *out);
} nk_json_loops;
NK_ISA_DECLARE(nk_json_loops, nk__json_loops);

typedef struct nk_json_cursor {
	const uint8_t *text;
	const uint32_t *at, *end; /* of the marks */
	uint32_t n_bytes;
	bool has_escapes;
	nk_text *scratch; /* of strings with escapes */
} nk_json_cursor;

typedef struct nk_json_index {
	nk_memory *memory;
	uint32_t *marks;
	int64_t capacity;
	nk_text scratch;
} nk_json_index;

/* Find the structure of text and set the cursor to its start. Fails with NK_COMPUTE for what the index alone shows. */
NK_MUST_CHECK nk_status nk_json_open(nk_json_index *index, const uint8_t *text, int64_t n, bool is_lines,
                                     nk_json_cursor *out, nk_error *err);
void nk_json_index_release(nk_json_index *index);

/* The byte at the cursor; 0 at the end. */
static inline uint8_t nk_json_peek(const nk_json_cursor *cursor)
{
	return cursor->at < cursor->end ? cursor->text[*cursor->at] : 0;
}

/* Where in the text the cursor is. */
static inline int64_t nk_json_position(const nk_json_cursor *cursor)
{
	return cursor->at < cursor->end ? *cursor->at : cursor->n_bytes;
}

typedef enum nk_json_kind {
	NK_JSON_NULL,
	NK_JSON_FALSE,
	NK_JSON_TRUE,
	NK_JSON_INTEGER, /* fits int64 */
	NK_JSON_WIDE,    /* an integer that fits 128 bits */
	NK_JSON_FLOAT,
	NK_JSON_STRING,
	NK_JSON_ARRAY,
	NK_JSON_OBJECT,
} nk_json_kind;

typedef struct nk_json_value {
	nk_json_kind kind;
	bool is_unsigned; /* WIDE: a number above INT128_MAX, as its bits */
	int64_t integer;
	__int128 wide;
	double number;
	const char *text; /* of a STRING, without escapes; until the next string is read */
	int64_t n_bytes;
} nk_json_value;

/* The value at the cursor; moves behind it, but for arrays and objects only behind their first bracket. */
NK_MUST_CHECK nk_status nk_json_read(nk_json_cursor *cursor, nk_json_value *out, nk_error *err);
/* Step over the value at the cursor. */
NK_MUST_CHECK nk_status nk_json_skip(nk_json_cursor *cursor, nk_error *err);
/* In an array or object: whether another member follows; `first` right behind the bracket. Moves to it, or behind `close`
 * when there is none. */
NK_MUST_CHECK nk_status nk_json_next(nk_json_cursor *cursor, uint8_t close, bool first, bool *more,
                                     nk_error *err);
/* The key at the cursor and its colon; the text as that of a value. */
NK_MUST_CHECK nk_status nk_json_key(nk_json_cursor *cursor, const char **text, int64_t *n_bytes,
                                    nk_error *err);
/* Anything else than what JSON has here. */
nk_status nk_json_fail(const nk_json_cursor *cursor, nk_error *err);

/* The dtype that the value at the cursor suggests; moves behind it. Lists of several kinds hold what all of their items can
 * be; structs have the fields of all, in the order of their first appearance. */
NK_MUST_CHECK nk_status nk_json_infer(nk_arena *arena, nk_json_cursor *cursor, const nk_dtype **out,
                                      nk_error *err);
/* What two values of one list, or two lines of a column of text, can both be. Never fails but for memory. */
NK_MUST_CHECK nk_status nk_json_coerce(nk_arena *arena, const nk_dtype *a, const nk_dtype *b,
                                       const nk_dtype **out, nk_error *err);
/* What two lines of a file can both be; fails with NK_SCHEMA_MISMATCH where lists or structs meet something else. */
NK_MUST_CHECK nk_status nk_json_unite(nk_arena *arena, const nk_dtype *a, const nk_dtype *b,
                                      const nk_dtype **out, nk_error *err);

/* The value at the cursor as text for people, as columns of text hold it; moves behind it. */
NK_MUST_CHECK nk_status nk_json_display(nk_json_cursor *cursor, nk_text *out, nk_error *err);

#endif
