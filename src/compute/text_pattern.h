/* Patterns: text taken literally, or a regular expression in the dialect of Rust's regex crate (which Polars
 * documents), matched by PCRE2 with its JIT. What that dialect refuses is refused: look-around, back-references.
 *
 * A pattern is immutable once made and may be shared; a matcher is one thread's state for one call. Many patterns
 * need no engine: whether they match is told by nk_text_match on `pieces`, and where, when is_literal, by
 * nk_text_find. The engine is prepared only for those that do need it. */
#ifndef NK_COMPUTE_TEXT_PATTERN_H
#define NK_COMPUTE_TEXT_PATTERN_H

#include "compute/text.h"

typedef struct nk_pattern nk_pattern;
struct nk_pattern {
	nk_text_pieces pieces; /* n_pieces 0: not of that form */
	bool is_literal;       /* a match is an occurrence of pieces[0] */
	int n_groups;          /* capture groups, the whole match not counted */
	/* private */
	nk_memory *memory;
	nk_text_piece *piece_list;
	char *text; /* unescaped pieces */
	int64_t n_bytes_text;
	int n_pieces_max;
	void *code;      /* pcre2_code */
	void *allocator; /* pcre2_general_context */
};

/* A pattern from text. only_test: the caller asks only whether it matches, never where. Fails with NK_COMPUTE
 * when it is no valid pattern. *out is owned. */
NK_MUST_CHECK nk_status nk_pattern_new(nk_memory *memory, const char *text, int64_t n_bytes, bool is_literal,
                                       bool only_test, nk_pattern **out, nk_error *err);
void nk_pattern_free(nk_pattern *pattern);
static inline void nk_pattern__auto(nk_pattern **pattern) { nk_pattern_free(*pattern); }

/* Number of the group with a name; -1 when there is none. */
int nk_pattern_group_named(const nk_pattern *pattern, const char *name, int64_t n_bytes);

typedef struct nk_matcher {
	const nk_pattern *pattern;
	void *match, *context, *stack; /* pcre2's; NULL when the pattern is literal */
	int64_t begin, end;            /* of the last match */
	int64_t from, end_before;      /* of the walk over all matches */
} nk_matcher;

NK_MUST_CHECK nk_status nk_matcher_init(nk_matcher *matcher, const nk_pattern *pattern, nk_error *err);
void nk_matcher_release(nk_matcher *matcher);
#define NK_MATCHER(name) __attribute__((cleanup(nk_matcher_release))) nk_matcher name = {0}

/* The first match that begins at `from` or later, into begin and end. The pattern must not be one made with
 * only_test unless it is_literal or has no pieces. Fails with NK_COMPUTE when matching takes too long. */
NK_MUST_CHECK nk_status nk_matcher_find(nk_matcher *matcher, const char *bytes, int64_t n, int64_t from,
                                        bool *found, nk_error *err);
/* The place of a group (0: the whole) in the last match; false when it took no part. */
bool nk_matcher_group(const nk_matcher *matcher, int group, int64_t *begin, int64_t *end);
/* All matches of one text, left to right: start, then step until nothing is found. They do not overlap, and an
 * empty one does not touch the one before. */
void nk_matcher_start(nk_matcher *matcher);
NK_MUST_CHECK nk_status nk_matcher_step(nk_matcher *matcher, const char *bytes, int64_t n, bool *found,
                                        nk_error *err);

#endif
