/* Options: from the public struct, to and from bytes. */
#include "io/csv/options.h"

#include "io/option_fields.h"

static nk_status one_byte(const char *name, const char *given, char otherwise, uint8_t *out, nk_error *err)
{
	if (given && strlen(given) != 1)
		return nk_fail(err, NK_VALUE, "`%s` is to be one byte, not \"%s\"", name, given);
	*out = (uint8_t)(given ? given[0] : otherwise);
	return NK_OK;
}

/* Whether fields can be read as this dtype. */
static nk_status check_dtype(const nk_dtype *dtype, nk_error *err)
{
	nk_type_id id = dtype->id;
	if (id == NK_TYPE_NULL || id == NK_TYPE_BINARY || id == NK_TYPE_DURATION || nk_type_is_nested(id))
		return nk_fail(err, NK_COMPUTE, "unsupported data type when reading CSV: %s",
		               nk_dtype_short_name(dtype));
	return NK_OK;
}

static nk_status check_dtypes(const nk_field *fields, int n, nk_error *err)
{
	for (int i = 0; i < n; i++)
		NK_TRY(check_dtype(fields[i].dtype, err));
	return NK_OK;
}

static nk_status checked_fields(nk_arena *arena, const char *const *names, const char *const *dtypes, int n,
                                const nk_field **out, nk_error *err)
{
	NK_TRY(nk__option_fields(arena, names, dtypes, n, out, err));
	return check_dtypes(*out, n, err);
}

/* Everything that can be wrong on its own, whoever made it. */
static nk_status check(const nk_csv_options *options, nk_error *err)
{
	const nk_csv_marks *marks = &options->dialect.marks;
	if (marks->separator == marks->eol ||
	    (marks->has_quote && (marks->quote == marks->eol || marks->quote == marks->separator)))
		return nk_fail(err, NK_VALUE, "separator, quote and line end must be different bytes");
	if (options->skip_rows < 0 || options->skip_lines < 0 || options->skip_rows_after_header < 0)
		return nk_fail(err, NK_VALUE, "rows to skip must not be negative");
	if (options->skip_rows && options->skip_lines)
		return nk_fail(err, NK_INVALID_OPERATION, "only one of 'skip_rows'/'skip_lines' may be set");
	return NK_OK;
}

nk_status nk__csv_options_copy(nk_arena *arena, const nk_scan_csv_options *given, nk_csv_options *out,
                               nk_error *err)
{
	nk_scan_csv_options none = NK_OPTIONS(nk_scan_csv_options);
	given = given ? given : &none;
	*out = (nk_csv_options){
		.has_header = !given->no_header,
		.keep_empty_strings = given->keep_empty_strings,
		.ignore_errors = given->ignore_errors,
		.is_lossy = given->lossy,
		.try_parse_dates = given->try_parse_dates,
		.truncate_ragged_lines = given->truncate_ragged_lines,
		.decimal_comma = given->decimal_comma,
		.raise_if_empty = !given->allow_empty,
		.expand_globs = !given->no_glob,
		.ignore_extra_columns = given->ignore_extra_columns,
		.insert_missing_columns = given->insert_missing_columns,
		.has_schema = given->schema_dtypes != NULL,
		.has_new_names = given->new_names != NULL,
		.overrides_by_position = given->override_dtypes && !given->override_names,
		.n_schema = given->n_schema,
		.n_overrides = given->n_overrides,
		.n_new_names = given->n_new_names,
		.n_nulls = given->n_null_values,
		.skip_rows = given->skip_rows,
		.skip_lines = given->skip_lines,
		.skip_rows_after_header = given->skip_rows_after_header,
		.infer_rows = given->infer_rows == 0  ? 100
	                  : given->infer_rows < 0 ? -1
	                                          : given->infer_rows - 1,
		.infer_files = given->infer_files > 0 ? given->infer_files : 10,
	};
	nk_csv_marks *marks = &out->dialect.marks;
	const char *quote = given->quote_char;
	marks->has_quote = !quote || *quote;
	NK_TRY(one_byte("separator", given->separator, ',', &marks->separator, err));
	NK_TRY(one_byte("eol_char", given->eol_char, '\n', &marks->eol, err));
	NK_TRY(one_byte("quote_char", marks->has_quote ? quote : NULL, '"', &marks->quote, err));
	NK_TRY(nk__option_text(arena, given->comment_prefix, &out->dialect.comment, err));
	if (out->dialect.comment && !(out->dialect.n_comment = (int64_t)strlen(out->dialect.comment)))
		out->dialect.comment = NULL;
	NK_TRY(nk__option_text(arena, given->include_file_paths, &out->file_paths_name, err));
	NK_TRY(
		checked_fields(arena, given->schema_names, given->schema_dtypes, given->n_schema, &out->schema, err));
	NK_TRY(checked_fields(arena, given->override_names, given->override_dtypes, given->n_overrides,
	                      &out->overrides, err));
	NK_TRY(NK_ARENA_NEW(arena, &out->new_names, NK_MAX(given->n_new_names, 1), err));
	for (int i = 0; i < given->n_new_names; i++)
		NK_TRY(nk__option_text(arena, given->new_names[i], &out->new_names[i], err));
	nk_csv_null *nulls;
	NK_TRY(NK_ARENA_NEW(arena, &nulls, NK_MAX(given->n_null_values, 1), err));
	for (int i = 0; i < given->n_null_values; i++) {
		NK_TRY(nk__option_text(arena, given->null_values[i], &nulls[i].text, err));
		NK_TRY(nk__option_text(arena, given->null_columns ? given->null_columns[i] : NULL, &nulls[i].column,
		                       err));
		nulls[i].n_bytes = (int64_t)strlen(nulls[i].text);
	}
	out->nulls = nulls;
	return check(out, err);
}

/* ---- Bytes ---- */

/* The flags, in the order of their bits. */
static void flags_of(nk_csv_options *options, bool **flags)
{
	bool *all[] = {&options->has_header,
	               &options->keep_empty_strings,
	               &options->ignore_errors,
	               &options->is_lossy,
	               &options->try_parse_dates,
	               &options->truncate_ragged_lines,
	               &options->decimal_comma,
	               &options->raise_if_empty,
	               &options->expand_globs,
	               &options->ignore_extra_columns,
	               &options->insert_missing_columns,
	               &options->has_schema,
	               &options->has_new_names,
	               &options->overrides_by_position,
	               &options->dialect.marks.has_quote};
	memcpy(flags, all, sizeof all);
}
enum { N_FLAGS = 15 };

void nk__csv_options_to_wire(const nk_csv_options *given, nk_text *out)
{
	nk_csv_options copy = *given, *options = &copy;
	bool *flags[N_FLAGS];
	flags_of(options, flags);
	uint64_t bits = 0;
	for (int i = 0; i < N_FLAGS; i++)
		bits |= (uint64_t)*flags[i] << i;
	nk_wire_put_number(out, bits);
	nk_wire_put_number(out, options->dialect.marks.separator);
	nk_wire_put_number(out, options->dialect.marks.eol);
	nk_wire_put_number(out, options->dialect.marks.quote);
	nk_wire_put_string(out, options->dialect.comment);
	nk_wire_put_string(out, options->file_paths_name);
	nk_wire_put_number(out, (uint64_t)options->skip_rows);
	nk_wire_put_number(out, (uint64_t)options->skip_lines);
	nk_wire_put_number(out, (uint64_t)options->skip_rows_after_header);
	nk_wire_put_signed(out, options->infer_rows);
	nk_wire_put_number(out, (uint64_t)options->infer_files);
	nk__option_fields_put(out, options->schema, options->n_schema);
	nk__option_fields_put(out, options->overrides, options->n_overrides);
	nk_wire_put_number(out, (uint64_t)options->n_new_names);
	for (int i = 0; i < options->n_new_names; i++)
		nk_wire_put_string(out, options->new_names[i]);
	nk_wire_put_number(out, (uint64_t)options->n_nulls);
	for (int i = 0; i < options->n_nulls; i++) {
		nk_wire_put_string(out, options->nulls[i].column);
		nk_wire_put_string(out, options->nulls[i].text);
	}
}

static nk_status damaged(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "a serialised CSV source is damaged");
}

static nk_status take_count(nk_wire *in, int *out, nk_error *err)
{
	int64_t n;
	NK_TRY(nk_wire_items(in, &n, err));
	*out = (int)n;
	return NK_OK;
}

static nk_status take_fields(nk_arena *arena, nk_wire *in, bool are_named, int *n, const nk_field **out,
                             nk_error *err)
{
	NK_TRY(nk__option_fields_take(arena, in, "CSV", are_named, n, out, err));
	return check_dtypes(*out, *n, err);
}

nk_status nk__csv_options_from_wire(nk_arena *arena, nk_wire *in, nk_csv_options *out, nk_error *err)
{
	*out = (nk_csv_options){0};
	bool *flags[N_FLAGS];
	uint64_t bits;
	int64_t bytes[3];
	flags_of(out, flags);
	NK_TRY(nk_wire_number(in, &bits, err));
	for (int i = 0; i < N_FLAGS; i++)
		*flags[i] = bits >> i & 1;
	for (int i = 0; i < 3; i++)
		NK_TRY(nk_wire_count(in, 255, &bytes[i], err));
	out->dialect.marks.separator = (uint8_t)bytes[0];
	out->dialect.marks.eol = (uint8_t)bytes[1];
	out->dialect.marks.quote = (uint8_t)bytes[2];
	NK_TRY(nk__option_text_take(arena, in, "CSV", true, &out->dialect.comment, err));
	out->dialect.n_comment = out->dialect.comment ? (int64_t)strlen(out->dialect.comment) : 0;
	NK_TRY(nk__option_text_take(arena, in, "CSV", true, &out->file_paths_name, err));
	NK_TRY(nk_wire_count(in, INT64_MAX, &out->skip_rows, err));
	NK_TRY(nk_wire_count(in, INT64_MAX, &out->skip_lines, err));
	NK_TRY(nk_wire_count(in, INT64_MAX, &out->skip_rows_after_header, err));
	NK_TRY(nk_wire_signed(in, &out->infer_rows, err));
	NK_TRY(nk_wire_count(in, INT64_MAX, &out->infer_files, err));
	NK_TRY(take_fields(arena, in, true, &out->n_schema, &out->schema, err));
	NK_TRY(take_fields(arena, in, !out->overrides_by_position, &out->n_overrides, &out->overrides, err));
	NK_TRY(take_count(in, &out->n_new_names, err));
	NK_TRY(NK_ARENA_NEW(arena, &out->new_names, NK_MAX(out->n_new_names, 1), err));
	for (int i = 0; i < out->n_new_names; i++)
		NK_TRY(nk__option_text_take(arena, in, "CSV", false, &out->new_names[i], err));
	nk_csv_null *nulls;
	NK_TRY(take_count(in, &out->n_nulls, err));
	NK_TRY(NK_ARENA_NEW(arena, &nulls, NK_MAX(out->n_nulls, 1), err));
	for (int i = 0; i < out->n_nulls; i++) {
		NK_TRY(nk__option_text_take(arena, in, "CSV", true, &nulls[i].column, err));
		NK_TRY(nk__option_text_take(arena, in, "CSV", false, &nulls[i].text, err));
		nulls[i].n_bytes = (int64_t)strlen(nulls[i].text);
	}
	out->nulls = nulls;
	if ((out->dialect.comment && out->dialect.n_comment == 0) || out->infer_rows < -1)
		return damaged(err);
	return check(out, err);
}
