/* The first file says which keys there are, in which order. Values are text with %XX for what folders cannot be called. */
#include "io/hive.h"

#include <string.h>
#include <sys/stat.h>

#include "columnar/parse.h"
#include "func/cast.h"

static const char null_name[] = "__HIVE_DEFAULT_PARTITION__";

static bool is_folder(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* How much of the paths that a pattern gave is the pattern's own: a folder, or what stands before the first wildcard. */
static size_t own_length(const char *pattern)
{
	if (is_folder(pattern))
		return strlen(pattern);
	size_t n = strcspn(pattern, "*?[");
	if (pattern[n] == 0)
		return 0;
	while (n > 0 && pattern[n - 1] != '/')
		n--;
	return n;
}

static size_t start_of(const char *const *patterns, int n_patterns, const char *path)
{
	size_t most = 0;
	for (int i = 0; i < n_patterns; i++) {
		size_t n = own_length(patterns[i]);
		if (n > most && strncmp(patterns[i], path, n) == 0)
			most = n;
	}
	return most;
}

/* The next folder "key=value" from *at on; *at moves behind it. False: there is none. */
static bool next_part(const char **at, const char **key, size_t *n_key, const char **value, size_t *n_value)
{
	for (const char *slash; (slash = strchr(*at, '/')); *at = slash + 1) {
		const char *equals = memchr(*at, '=', (size_t)(slash - *at));
		if (!equals || equals == *at)
			continue;
		*key = *at;
		*n_key = (size_t)(equals - *at);
		*value = equals + 1;
		*n_value = (size_t)(slash - *value);
		*at = slash + 1;
		return true;
	}
	return false;
}

static int hex_of(char c)
{
	return c >= '0' && c <= '9'                     ? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
	                                                : -1;
}

static nk_status decode(nk_arena *arena, const char *text, size_t n, nk_scalar *out, nk_error *err)
{
	char *to;
	*out = (nk_scalar){.dtype = nk_dtype_of(NK_TYPE_STRING)};
	out->is_null = n == sizeof null_name - 1 && memcmp(text, null_name, n) == 0;
	NK_TRY(nk_arena_alloc(arena, (int64_t)n + 1, (void **)&to, err));
	out->bytes = to;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '%' && i + 2 < n && hex_of(text[i + 1]) >= 0 && hex_of(text[i + 2]) >= 0) {
			*to++ = (char)(hex_of(text[i + 1]) << 4 | hex_of(text[i + 2]));
			i += 2;
		} else {
			*to++ = text[i];
		}
	}
	out->n_bytes = to - out->bytes;
	return NK_OK;
}

/* ---- Dtypes ---- */

typedef enum guess { INTEGER, FLOAT, BOOLEAN, DATE, N_GUESSES } guess;

static bool is_of(guess kind, const nk_scalar *value)
{
	int64_t integer;
	double number;
	int32_t days;
	switch (kind) {
	case INTEGER: return nk_parse_i64(value->bytes, value->n_bytes, &integer);
	case FLOAT: return nk_parse_f64(value->bytes, value->n_bytes, &number);
	case BOOLEAN:
		return (value->n_bytes == 4 && memcmp(value->bytes, "true", 4) == 0) ||
		       (value->n_bytes == 5 && memcmp(value->bytes, "false", 5) == 0);
	default: return nk_parse_date(value->bytes, value->n_bytes, &days);
	}
}

static const nk_dtype *infer(const nk_hive *hive, int column, int64_t n_files, bool parses_dates)
{
	static const nk_type_id types[] = {NK_TYPE_INT64, NK_TYPE_FLOAT64, NK_TYPE_BOOLEAN, NK_TYPE_DATE};
	for (int kind = 0; kind < N_GUESSES - !parses_dates; kind++) {
		bool fits = true, has_any = false;
		for (int64_t f = 0; f < n_files && fits; f++) {
			const nk_scalar *value = &hive->values[f * hive->n_columns + column];
			fits = value->is_null || is_of((guess)kind, value);
			has_any |= !value->is_null;
		}
		if (fits && has_any)
			return nk_dtype_of(types[kind]);
	}
	return nk_dtype_of(NK_TYPE_STRING);
}

static nk_status convert(nk_memory *memory, const nk_dtype *dtype, nk_scalar *value, nk_error *err)
{
	NK_AUTO(nk_array) text = NULL;
	NK_AUTO(nk_array) converted = NULL;
	if (dtype->id == NK_TYPE_STRING)
		return NK_OK;
	if (value->is_null) {
		value->dtype = dtype;
		return NK_OK;
	}
	int32_t days;
	if (dtype->id == NK_TYPE_DATE && nk_parse_date(value->bytes, value->n_bytes, &days)) {
		*value = (nk_scalar){.dtype = dtype, .integer = days};
		return NK_OK;
	}
	NK_TRY(nk_array_from_scalar(memory, value, 1, &text, err));
	nk_error failed = {0};
	nk_status status = nk_cast(memory, text, dtype, (nk_cast_mode){.strict = true}, &converted, &failed);
	if (status == NK_OUT_OF_MEMORY) {
		if (err)
			*err = failed;
		return status;
	}
	if (status != NK_OK)
		return nk_fail(err, NK_COMPUTE, "the folder's value \"%.*s\" is no %s", (int)value->n_bytes,
		               value->bytes, dtype->text);
	if (nk_type_is_nested(dtype->id) || dtype->id == NK_TYPE_BINARY)
		return nk_fail(err, NK_INVALID_OPERATION, "folders cannot hold %s", dtype->text);
	*value = nk_scalar_read(converted, 0);
	return NK_OK;
}

/* ---- Finding ---- */

static nk_status find_keys(nk_arena *arena, const char *path, nk_hive *out, nk_error *err)
{
	const char *at = path, *key, *value;
	size_t n_key, n_value;
	int n = 0;
	while (next_part(&at, &key, &n_key, &value, &n_value))
		n++;
	NK_TRY(NK_ARENA_NEW(arena, &out->fields, n + 1, err));
	for (at = path; next_part(&at, &key, &n_key, &value, &n_value);)
		NK_TRY(nk_arena_string(arena, key, (int64_t)n_key, &out->fields[out->n_columns++].name, err));
	return NK_OK;
}

static nk_status find_values(nk_arena *arena, const char *path, const nk_hive *hive, nk_scalar *values,
                             nk_error *err)
{
	const char *at = path, *key, *value;
	size_t n_key, n_value;
	int n = 0;
	for (; next_part(&at, &key, &n_key, &value, &n_value); n++) {
		const char *name = n < hive->n_columns ? hive->fields[n].name : "";
		if (strlen(name) != n_key || memcmp(name, key, n_key) != 0)
			break;
		NK_TRY(decode(arena, value, n_value, &values[n], err));
	}
	if (n != hive->n_columns || next_part(&at, &key, &n_key, &value, &n_value))
		return nk_fail(err, NK_SCHEMA_MISMATCH,
		               "the folders of %s are not those of the first file: \"%s=\" is expected", path,
		               n < hive->n_columns ? hive->fields[n].name : "nothing");
	return NK_OK;
}

nk_status nk__hive_find(nk_arena *arena, const nk_hive_options *options, const char *const *patterns,
                        int n_patterns, const nk_paths *paths, nk_hive *out, nk_error *err)
{
	*out = (nk_hive){0};
	bool is_on = options->mode > 0 || (options->mode == 0 && n_patterns == 1 && is_folder(patterns[0]));
	if (!is_on || paths->n_paths == 0)
		return NK_OK;
	size_t start = start_of(patterns, n_patterns, paths->paths[0]);
	NK_TRY(find_keys(arena, paths->paths[0] + start, out, err));
	if (out->n_columns == 0)
		return NK_OK;
	NK_TRY(NK_ARENA_NEW(arena, &out->values, paths->n_paths * out->n_columns, err));
	for (int64_t f = 0; f < paths->n_paths; f++) {
		const char *path = paths->paths[f];
		NK_TRY(find_values(arena, path + start_of(patterns, n_patterns, path), out,
		                   &out->values[f * out->n_columns], err));
	}
	for (int c = 0; c < out->n_columns; c++) {
		nk_field *field = &out->fields[c];
		field->dtype = infer(out, c, paths->n_paths, !options->parses_no_dates);
		for (int i = 0; i < options->n_schema; i++)
			if (strcmp(options->schema[i].name, field->name) == 0)
				field->dtype = options->schema[i].dtype;
		for (int64_t f = 0; f < paths->n_paths; f++) {
			nk_status status =
				convert(nk_arena_memory(arena), field->dtype, &out->values[f * out->n_columns + c], err);
			if (status != NK_OK)
				return nk_error_context(err, status, "%s", paths->paths[f]);
		}
	}
	return NK_OK;
}
