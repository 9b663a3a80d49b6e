/* How many terminal columns a text takes, and how to cut it without breaking what shows as one character. Text is
 * UTF-8; broken bytes are survived and count as one column. */
#ifndef NK_COLUMNAR_DISPLAY_WIDTH_H
#define NK_COLUMNAR_DISPLAY_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of the code point that a text of at least one byte begins with. */
int nk_code_point_read(const char *text, int64_t n_bytes, uint32_t *point);
/* Bytes of the first character as a reader sees it (with its marks, an emoji sequence), and its columns. */
int nk_cluster_read(const char *text, int64_t n_bytes, int *width);
int64_t nk_display_width(const char *text, int64_t n_bytes);

#endif
