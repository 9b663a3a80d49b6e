/* The head of a file is read by a small automaton over rows: blank lines, skipped rows, the header, skipped rows again,
 * then rows that suggest dtypes. Each state passes a row on when it has had enough. */
#include "io/csv/infer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/watch.h"
#include "columnar/parse.h"
#include "compute/calendar_text.h"
#include "io/csv/moment.h"

/* ---- The dtype of one field ---- */

enum {
	IS_BOOLEAN = 1,
	IS_INTEGER = 2,
	IS_WIDE_INTEGER = 4,
	IS_FLOAT = 8,
	IS_TEXT = 16,
	IS_DATE = 32,
	IS_DATETIME = 64,
	IS_DATETIME_UTC = 128,
	IS_TIME = 256,
};

static bool is_word(const uint8_t *text, int64_t n, const char *word, int64_t n_word)
{
	if (n != n_word)
		return false;
	for (int64_t i = 0; i < n; i++)
		if ((text[i] | 0x20) != word[i])
			return false;
	return true;
}

static int64_t count_digits(const uint8_t *text, int64_t n, int64_t at)
{
	int64_t from = at;
	while (at < n && text[at] >= '0' && text[at] <= '9')
		at++;
	return at - from;
}

/* An exponent with digits behind it, to the end. */
static bool is_exponent(const uint8_t *text, int64_t n, int64_t at)
{
	if (at == n || (text[at] | 0x20) != 'e')
		return false;
	at++;
	at += at < n && (text[at] == '-' || text[at] == '+');
	int64_t n_digits = count_digits(text, n, at);
	return n_digits > 0 && at + n_digits == n;
}

static bool looks_like_float(const uint8_t *text, int64_t n, uint8_t point)
{
	int64_t at = n > 0 && (text[0] == '-' || text[0] == '+');
	if (n - at == 3 && (memcmp(text + at, "inf", 3) == 0 || memcmp(text + at, "NaN", 3) == 0))
		return true;
	int64_t n_whole = count_digits(text, n, at);
	at += n_whole;
	if (at < n && text[at] == point) {
		int64_t n_behind = count_digits(text, n, at + 1);
		at += 1 + n_behind;
		if (n_behind == 0)
			return n_whole > 0 && at == n;
		return at == n || is_exponent(text, n, at);
	}
	return n_whole > 0 && is_exponent(text, n, at);
}

static int infer_moment(const uint8_t *text, int64_t n)
{
	nk_parsed moment;
	if (nk__csv_moment(text, n, &moment))
		return !moment.has_time ? IS_DATE : moment.has_offset ? IS_DATETIME_UTC : IS_DATETIME;
	return nk__csv_time(text, n, &moment) ? IS_TIME : IS_TEXT;
}

static int infer_field(const uint8_t *text, int64_t n, const nk_csv_options *options)
{
	int64_t narrow;
	if (is_word(text, n, "true", 4) || is_word(text, n, "false", 5))
		return IS_BOOLEAN;
	if (looks_like_float(text, n, options->decimal_comma ? ',' : '.'))
		return IS_FLOAT;
	int64_t at = n > 0 && text[0] == '-';
	if (n > at && count_digits(text, n, at) == n - at)
		return nk_parse_i64((const char *)text, n, &narrow) ? IS_INTEGER : IS_WIDE_INTEGER;
	return options->try_parse_dates ? infer_moment(text, n) : IS_TEXT;
}

static const nk_dtype *dtype_of_seen(int seen)
{
	switch (seen) {
	case IS_BOOLEAN: return nk_dtype_of(NK_TYPE_BOOLEAN);
	case IS_INTEGER: return nk_dtype_of(NK_TYPE_INT64);
	case IS_WIDE_INTEGER:
	case IS_WIDE_INTEGER | IS_INTEGER: return nk_dtype_of(NK_TYPE_INT128);
	case IS_FLOAT:
	case IS_FLOAT | IS_INTEGER:
	case IS_FLOAT | IS_WIDE_INTEGER: return nk_dtype_of(NK_TYPE_FLOAT64);
	case IS_DATE: return nk_dtype_of(NK_TYPE_DATE);
	case IS_DATETIME: return nk_dtype_datetime(NK_UNIT_US, NULL);
	case IS_DATETIME_UTC: return nk_dtype_datetime(NK_UNIT_US, "UTC");
	case IS_TIME: return nk_dtype_of(NK_TYPE_TIME);
	default: return nk_dtype_of(NK_TYPE_STRING);
	}
}

/* ---- Header ---- */

/* Names as valid UTF-8: bytes that are none become U+FFFD. */
static nk_status copy_name(nk_arena *arena, const uint8_t *text, int64_t n, const char **out, nk_error *err)
{
	if (NK_ISA_TABLE(nk__csv_loops)->is_utf8(text, n) && !memchr(text, 0, (size_t)n))
		return nk_arena_string(arena, (const char *)text, n, out, err);
	NK_TEXT(name);
	nk__csv_append_lossy(&name, text, n);
	NK_TRY(nk_text_finish(&name, err));
	for (int64_t i = 0; i < name.n_bytes; i++)
		if (name.bytes[i] == 0)
			return nk_fail(err, NK_COMPUTE, "a column name holds a zero byte");
	return nk_arena_string(arena, name.bytes, name.n_bytes, out, err);
}

typedef struct name_use {
	const char *name;
	int64_t n_uses;
} name_use;

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 14695981039346656037ull;
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 1099511628211ull;
	return hash ^ hash >> 29;
}

static name_use *find_use(name_use *table, uint64_t n_slots, const char *name)
{
	uint64_t slot = hash_name(name) & (n_slots - 1);
	while (table[slot].name && strcmp(table[slot].name, name) != 0)
		slot = (slot + 1) & (n_slots - 1);
	return &table[slot];
}

/* A name that comes again takes _duplicated_0, _duplicated_1, ... */
static nk_status tell_apart(nk_arena *arena, nk_csv_head *head, nk_error *err)
{
	uint64_t n_slots = 4;
	while (n_slots < 4 * (uint64_t)head->n_columns)
		n_slots *= 2;
	name_use *given = calloc(n_slots, sizeof *given), *made = calloc(n_slots, sizeof *made);
	nk_status status = given && made ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for column names");
	for (int i = 0; status == NK_OK && i < head->n_columns; i++) {
		name_use *use = find_use(given, n_slots, head->names[i]);
		use->name = head->names[i];
		if (use->n_uses > 0) {
			NK_TEXT(name);
			nk_text_format(&name, "%s_duplicated_%lld", use->name, (long long)use->n_uses - 1);
			status = nk_text_finish(&name, err);
			if (status == NK_OK)
				status = nk_arena_string(arena, name.bytes, name.n_bytes, &head->names[i], err);
			if (status != NK_OK)
				break;
		}
		use->n_uses++;
		name_use *same = find_use(made, n_slots, head->names[i]);
		if (same->name)
			status = nk_fail(
				err, NK_DUPLICATE,
				"the column name '%s' occurs again as such and with a number for telling it apart: '%s'",
				use->name, head->names[i]);
		same->name = head->names[i];
	}
	free(given);
	free(made);
	return status;
}

static nk_status read_header(nk_arena *arena, const nk_csv_options *options, const uint8_t *row, int64_t n,
                             nk_csv_head *head, nk_error *err)
{
	nk_csv_field field;
	n -= n > 0 && row[n - 1] == '\r';
	for (int64_t at = 0; nk__csv_next_field(&options->dialect, row, n, &at, &field);)
		head->n_columns++;
	NK_TRY(NK_ARENA_NEW(arena, &head->names, head->n_columns, err));
	int i = 0;
	for (int64_t at = 0; nk__csv_next_field(&options->dialect, row, n, &at, &field); i++) {
		nk__csv_strip_quotes(&field);
		NK_TRY(copy_name(arena, field.text, field.n_bytes, &head->names[i], err));
	}
	return tell_apart(arena, head, err);
}

/* ---- Rows ---- */

static bool is_null_text(const nk_csv_options *options, const char *name, const nk_csv_field *field)
{
	for (int i = 0; i < options->n_nulls; i++) {
		const nk_csv_null *null = &options->nulls[i];
		if (null->n_bytes == field->n_bytes && memcmp(null->text, field->text, (size_t)field->n_bytes) == 0 &&
		    (!null->column || (name && strcmp(null->column, name) == 0)))
			return true;
	}
	return false;
}

typedef struct evidence {
	int *seen;
	int64_t capacity;
	int n_columns;
	int64_t n_rows, n_bytes;
	nk_memory *memory;
} evidence;

static nk_status judge_row(evidence *all, const nk_csv_options *options, const nk_csv_head *head,
                           const uint8_t *row, int64_t n, nk_error *err)
{
	nk_csv_field field;
	all->n_rows++;
	all->n_bytes += n + 1;
	n -= n > 0 && row[n - 1] == '\r';
	int i = 0;
	for (int64_t at = 0; nk__csv_next_field(&options->dialect, row, n, &at, &field); i++) {
		if (i == all->n_columns) {
			if (options->has_header)
				break;
			NK_TRY(NK_GROW(all->memory, &all->seen, &all->capacity, (int64_t)i + 1, err));
			all->seen[i] = 0;
			all->n_columns++;
		}
		if (options->infer_rows == 0)
			all->seen[i] = IS_TEXT;
		if (field.n_bytes == 0 || options->infer_rows == 0)
			continue;
		nk__csv_strip_quotes(&field);
		char numbered[32];
		const char *name = head->names ? head->names[i] : numbered;
		if (!head->names && options->n_nulls > 0)
			snprintf(numbered, sizeof numbered, "column_%d", i);
		if (!is_null_text(options, name, &field))
			all->seen[i] |= infer_field(field.text, field.n_bytes, options);
	}
	return NK_OK;
}

enum state { SKIP_BLANK, SKIP_ROWS, TAKE_HEADER, SKIP_MORE_ROWS, JUDGE };

/* Position behind `skip_lines` line ends; -1 when there are not as many. */
static int64_t skip_lines(const nk_csv_options *options, const uint8_t *text, int64_t n)
{
	int64_t at = 0;
	for (int64_t i = 0; i < options->skip_lines; i++) {
		const uint8_t *eol = memchr(text + at, options->dialect.marks.eol, (size_t)(n - at));
		if (!eol)
			return -1;
		at = eol - text + 1;
	}
	return at;
}

static nk_status read_rows(nk_arena *arena, const nk_csv_options *options, const uint8_t *text, int64_t n,
                           int64_t at, bool is_whole, bool *needs_more, nk_csv_head *head, evidence *all,
                           nk_error *err)
{
	const nk_csv_dialect *dialect = &options->dialect;
	int64_t n_skip = options->skip_rows, n_skip_more = options->skip_rows_after_header;
	int64_t n_judge = options->has_schema       ? 1
	                  : options->infer_rows < 0 ? INT64_MAX
	                                            : NK_MAX(options->infer_rows, (int64_t)1);
	enum state state = options->has_header ? SKIP_BLANK : options->skip_lines ? TAKE_HEADER : SKIP_ROWS;
	bool has_header = false;
	head->rows_begin = at;
	while (at < n) {
		if ((all->n_rows & 0xff) == 0)
			NK_TRY(nk_watch_check(err));
		int64_t n_row = nk__csv_row_length(dialect, text + at, n - at), next = NK_MIN(at + n_row + 1, n);
		if (at + n_row >= n && !is_whole) {
			*needs_more = true;
			return NK_OK;
		}
		const uint8_t *row = text + at;
		bool is_comment = nk__csv_is_comment(dialect, row, n_row), is_used = false;
		if (state == SKIP_BLANK) {
			is_used = n_row == 0 || (n_row == 1 && row[0] == '\r');
			state = is_used ? state : SKIP_ROWS;
		}
		if (state == SKIP_ROWS && !is_used) {
			is_used = is_comment || n_skip > 0;
			n_skip -= !is_comment && is_used;
			state = is_used ? state : TAKE_HEADER;
		}
		if (state == TAKE_HEADER && !is_used) {
			if (options->has_header && !has_header) {
				NK_TRY(read_header(arena, options, row, n_row, head, err));
				has_header = is_used = true;
				NK_TRY(NK_GROW(all->memory, &all->seen, &all->capacity, (int64_t)head->n_columns, err));
				memset(all->seen, 0, (size_t)head->n_columns * sizeof *all->seen);
				all->n_columns = head->n_columns;
			}
			state = SKIP_MORE_ROWS;
		}
		if (state == SKIP_MORE_ROWS && !is_used) {
			is_used = is_comment || n_skip_more > 0;
			n_skip_more -= !is_comment && is_used;
			state = is_used ? state : JUDGE;
		}
		if (state == JUDGE && !is_used) {
			if (!is_comment) {
				if (all->n_rows == n_judge)
					break;
				NK_TRY(judge_row(all, options, head, row, n_row, err));
			}
		} else {
			head->rows_begin = next;
		}
		at = next;
	}
	if (at >= n && !is_whole && all->n_rows < n_judge) {
		*needs_more = true;
		return NK_OK;
	}
	head->is_empty = options->has_header ? !has_header : all->n_rows == 0;
	return NK_OK;
}

static nk_status name_columns(nk_arena *arena, nk_csv_head *head, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(arena, &head->names, NK_MAX(head->n_columns, 1), err));
	for (int i = 0; i < head->n_columns; i++) {
		char name[32];
		int n_name = snprintf(name, sizeof name, "column_%d", i);
		NK_TRY(nk_arena_string(arena, name, n_name, &head->names[i], err));
	}
	return NK_OK;
}

nk_status nk__csv_read_head(nk_arena *arena, const nk_csv_options *options, const uint8_t *text, int64_t n,
                            bool is_whole, bool *needs_more, nk_csv_head *out, nk_error *err)
{
	*out = (nk_csv_head){0};
	*needs_more = false;
	int64_t at = skip_lines(options, text, n);
	if (at < 0 && !is_whole) {
		*needs_more = true;
		return NK_OK;
	}
	if (at < 0 && options->raise_if_empty)
		return nk_fail(err, NK_NO_DATA, "skip_lines=%lld is larger than the number of lines",
		               (long long)options->skip_lines);
	if (at < 0)
		at = n;
	if (at == 0 && n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	evidence all = {.memory = nk_arena_memory(arena)};
	nk_status status = read_rows(arena, options, text, n, at, is_whole, needs_more, out, &all, err);
	if (status == NK_OK && !*needs_more) {
		out->n_columns = all.n_columns;
		out->row_bytes = all.n_rows ? (double)all.n_bytes / (double)all.n_rows : 0;
		if (out->is_empty && options->raise_if_empty)
			status = nk_fail(err, NK_NO_DATA, "empty CSV");
		if (status == NK_OK && !options->has_header)
			status = name_columns(arena, out, err);
		if (status == NK_OK)
			status = NK_ARENA_NEW(arena, &out->dtypes, NK_MAX(out->n_columns, 1), err);
		for (int i = 0; status == NK_OK && i < out->n_columns; i++) {
			out->dtypes[i] = dtype_of_seen(all.seen[i]);
			if (!out->dtypes[i])
				status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
		}
	}
	nk_free(all.memory, all.seen, all.capacity * (int64_t)sizeof *all.seen);
	return status;
}
