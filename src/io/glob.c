/* A pattern is matched against the paths below the longest directory that holds no wildcard. Walking keeps its own
 * stack of directories still to be read; links to directories are followed as files would be, but not into a
 * directory that is deeper than any sane tree. */
#include "io/glob.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

enum { DEPTH_MAX = 64, LENGTH_MAX = 4096 };

/* Whether c is in the class after '['; *after is set behind its ']'. NULL: no class, the bracket stands for itself. */
static const char *match_class(const char *class, char c, bool *is_in)
{
	bool is_negated = *class == '!' || *class == '^';
	const char *at = class + is_negated;
	*is_in = false;
	for (const char *start = at; *at && (*at != ']' || at == start); at++) {
		char low = at[0], high = at[0];
		if (at[1] == '-' && at[2] && at[2] != ']') {
			high = at[2];
			at += 2;
		}
		*is_in |= (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
	}
	*is_in ^= is_negated;
	return *at == ']' ? at + 1 : NULL;
}

/* Stars are retried from their last place only, except `**`, which is retried for the whole rest. */
bool nk__glob_match(const char *pattern, const char *path)
{
	const char *star = NULL, *star_path = NULL, *deep = NULL, *deep_path = NULL;
	for (;;) {
		if (pattern[0] == '*' && pattern[1] == '*') {
			pattern += 2;
			if (*pattern == '/')
				pattern++;
			deep = pattern;
			deep_path = path;
			star = NULL;
			continue;
		}
		if (*pattern == '*') {
			star = ++pattern;
			star_path = path;
			continue;
		}
		bool is_in = false;
		const char *after = *pattern == '[' && *path ? match_class(pattern + 1, *path, &is_in) : NULL;
		if (after && is_in && *path != '/') {
			pattern = after;
			path++;
			continue;
		}
		if (!after && *path && (*pattern == *path || (*pattern == '?' && *path != '/'))) {
			pattern++;
			path++;
			continue;
		}
		if (!*pattern && !*path)
			return true;
		if (star && *star_path && *star_path != '/') {
			pattern = star;
			path = ++star_path;
			continue;
		}
		if (!deep || !*deep_path)
			return false;
		/* on to the next component */
		while (*deep_path && *deep_path != '/')
			deep_path++;
		if (!*deep_path && *deep)
			return false;
		deep_path += *deep_path == '/';
		pattern = deep;
		path = deep_path;
		star = NULL;
	}
}

static nk_status add_path(nk_arena *arena, const char *path, nk_paths *out, nk_error *err)
{
	if (out->n_paths == out->capacity) {
		int64_t capacity = NK_MAX(16, 2 * out->capacity);
		const char **paths;
		NK_TRY(NK_ARENA_NEW(arena, &paths, capacity, err));
		if (out->n_paths > 0)
			memcpy(paths, out->paths, (size_t)out->n_paths * sizeof *paths);
		out->paths = paths;
		out->capacity = capacity;
	}
	NK_TRY(nk_arena_string(arena, path, (int64_t)strlen(path), &out->paths[out->n_paths], err));
	out->n_paths++;
	return NK_OK;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t n = strlen(text), n_suffix = strlen(suffix);
	return n >= n_suffix && strcmp(text + n - n_suffix, suffix) == 0;
}

static int depth_of(const char *path)
{
	int depth = 0;
	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* Files below `root` that match the pattern (NULL: all that end with suffix). */
static nk_status walk(nk_arena *arena, const char *root, const char *pattern, const char *suffix,
                      nk_paths *out, nk_error *err)
{
	nk_paths open = {0};
	/* without ** nothing deeper than the pattern can match */
	int deepest = pattern && !strstr(pattern, "**") ? depth_of(pattern) : depth_of(root) + DEPTH_MAX;
	NK_TRY(add_path(arena, root, &open, err));
	while (open.n_paths > 0) {
		const char *folder = open.paths[--open.n_paths];
		DIR *directory = opendir(*folder ? folder : ".");
		if (!directory)
			continue; /* what may not be read, or went away, has no files for us */
		nk_status status = NK_OK;
		for (struct dirent *entry; status == NK_OK && (entry = readdir(directory));) {
			if (entry->d_name[0] == '.')
				continue;
			NK_TEXT(path);
			bool needs_slash = *folder && !ends_with(folder, "/");
			nk_text_format(&path, "%s%s%s", folder, needs_slash ? "/" : "", entry->d_name);
			status = nk_text_finish(&path, err);
			struct stat about;
			if (status != NK_OK || stat(path.bytes, &about) < 0)
				continue;
			if (S_ISDIR(about.st_mode)) {
				if (depth_of(path.bytes) < deepest && path.n_bytes < LENGTH_MAX)
					status = add_path(arena, path.bytes, &open, err);
			} else if (pattern ? nk__glob_match(pattern, path.bytes) : ends_with(path.bytes, suffix)) {
				status = add_path(arena, path.bytes, out, err);
			}
		}
		closedir(directory);
		NK_TRY(status);
	}
	return NK_OK;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

nk_status nk__paths_expand(nk_arena *arena, const char *pattern, const char *suffix, nk_paths *out,
                           nk_error *err)
{
	int64_t n_before = out->n_paths;
	size_t n_plain = strcspn(pattern, "*?[");
	struct stat about;
	bool exists = stat(pattern, &about) == 0;
	if (exists && S_ISDIR(about.st_mode)) {
		NK_TRY(walk(arena, pattern, NULL, suffix, out, err));
	} else if (exists || pattern[n_plain] == 0) {
		return add_path(arena, pattern, out, err);
	} else {
		while (n_plain > 0 && pattern[n_plain - 1] != '/')
			n_plain--;
		const char *root;
		NK_TRY(nk_arena_string(arena, pattern, (int64_t)n_plain, &root, err));
		NK_TRY(walk(arena, root, pattern, suffix, out, err));
	}
	if (out->n_paths == n_before)
		return nk_fail(err, NK_COMPUTE, "no files found: %s", pattern);
	qsort(out->paths + n_before, (size_t)(out->n_paths - n_before), sizeof *out->paths, compare_paths);
	return NK_OK;
}
