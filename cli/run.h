/* Statements: taking texts apart, running them, showing what comes out. */
#ifndef NANUK_CLI_RUN_H
#define NANUK_CLI_RUN_H

#include <stdbool.h>

#include "output.h"

typedef struct shell {
	nk_sql_context *context;
	format as;
	const char *output; /* a file; NULL: standard output */
	int max_rows;       /* of a box; negative: all */
	bool timer, explain, analyze;
} shell;

/* Length of the first statement of `text`, its semicolon included; 0 when there is none that ends. What is in quotes
 * and comments ends nothing. */
size_t statement_length(const char *text);
/* Whether there is anything but blanks and comments. */
bool is_blank(const char *text);

/* Runs every statement of a text; stops at the first that fails. Errors go to standard error. */
bool run_text(shell *self, const char *text);
/* Schema, size and first rows of a file. */
bool show_file(shell *self, const char *path);

/* Ctrl-C ends the query that runs, if one does. */
void watch_interrupts(void);
/* Ends the program quietly when standard output was closed. */
void check_output(void);

#endif
