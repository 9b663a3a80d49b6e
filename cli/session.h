/* The interactive shell, and reading whole files. */
#ifndef NANUK_CLI_SESSION_H
#define NANUK_CLI_SESSION_H

#include "run.h"

/* Until the user leaves; the exit status. */
int run_session(shell *self);
/* All of a file ("-": standard input) as text to be freed; NULL after a complaint. */
char *read_file(const char *path);

#endif
