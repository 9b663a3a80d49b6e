/* Upper and lower case of UTF-8 by Unicode's full mappings. Pure; any thread. */
#ifndef NK_COMPUTE_TEXT_CASE_H
#define NK_COMPUTE_TEXT_CASE_H

#include <stdbool.h>
#include <stdint.h>

/* A text grows at most this much. */
enum { NK_CASE_GROWTH = 3 };

/* Writes the mapped text, at most n * NK_CASE_GROWTH bytes; returns how many. The text is valid UTF-8. */
int64_t nk_text_change_case(char *to, const char *bytes, int64_t n, bool upper);

#endif
