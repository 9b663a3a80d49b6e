/* Paths from what users write: files, directories, and patterns with *, **, ?, [...]. */
#ifndef NK_IO_GLOB_H
#define NK_IO_GLOB_H

#include "base/arena.h"

typedef struct nk_paths {
	int64_t n_paths, capacity;
	const char **paths; /* in the arena given */
} nk_paths;

/* Append the files that `pattern` stands for, sorted by name: itself when it holds no wildcard and is no directory
 * (whether or not it exists); for a directory, all files below it whose names end with `suffix`. Fails with
 * NK_COMPUTE when a pattern or directory has none. */
NK_MUST_CHECK nk_status nk__paths_expand(nk_arena *arena, const char *pattern, const char *suffix,
                                         nk_paths *out, nk_error *err);

/* Whether a path matches a pattern: `*` and `?` stop at slashes, `**` as a whole component spans any number of
 * components, `[a-z]` and `[!a-z]` are one character. */
bool nk__glob_match(const char *pattern, const char *path);

#endif
