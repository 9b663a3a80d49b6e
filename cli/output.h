/* How results are written: as a table for people, or as text for other programs. */
#ifndef NANUK_CLI_OUTPUT_H
#define NANUK_CLI_OUTPUT_H

#include <nanuk.h>
#include <stdio.h>

typedef enum format {
	FORMAT_BOX,
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_NDJSON,
	FORMAT_MARKDOWN,
	FORMAT_PARQUET,
	FORMAT_N
} format;

/* -1 when there is no such format. */
int format_of_name(const char *name);
/* By the end of a file's name; -1 when it tells nothing. */
int format_of_path(const char *path);
extern const char *const format_names[FORMAT_N];

/* max_rows negative: all. Not for Parquet. Whether the stream took it all is for the caller to ask (ferror). */
nk_status write_frame(FILE *out, nk_frame *frame, format as, int max_rows, nk_error *err);

#endif
