/* Values become text by the engine's own cast to String, so that they look the same wherever they are shown; only
 * nested values are walked here, for JSON. */
#include "output.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const format_names[FORMAT_N] = {"box", "csv", "json", "ndjson", "markdown", "parquet"};

int format_of_name(const char *name)
{
	for (int i = 0; i < FORMAT_N; i++)
		if (strcasecmp(name, format_names[i]) == 0)
			return i;
	return strcasecmp(name, "md") == 0      ? FORMAT_MARKDOWN
	       : strcasecmp(name, "jsonl") == 0 ? FORMAT_NDJSON
	                                        : -1;
}

int format_of_path(const char *path)
{
	const char *dot = strrchr(path, '.');
	if (!dot)
		return -1;
	int known = format_of_name(dot + 1);
	return known == FORMAT_BOX ? -1 : known;
}

static int terminal_width(FILE *out)
{
	struct winsize size;
	int fd = fileno(out);
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : -1;
}

static nk_status write_table(FILE *out, nk_frame *frame, bool markdown, int max_rows, nk_error *err)
{
	nk_format_options options = NK_OPTIONS(nk_format_options);
	options.max_columns = -1;
	options.max_rows = max_rows == 0 ? -1 : max_rows;
	options.width = markdown ? -1 : terminal_width(out);
	if (markdown) {
		options.style = "ASCII_MARKDOWN";
		options.hide_shape = options.hide_dtypes = true;
		options.max_string = options.max_list = 1 << 30;
	}
	char *text;
	nk_status status = nk_frame_to_text(frame, &options, &text, err);
	if (status != NK_OK)
		return status;
	fputs(text, out);
	fputc('\n', out);
	nk_text_free(text);
	return NK_OK;
}

/* ---- Columns as text ---- */

typedef struct column {
	const char *name, *dtype;
	nk_series *values; /* as they are */
	nk_series *texts;  /* cast to String; NULL: nested, binary or text already */
} column;

typedef struct columns {
	int n;
	column *items;
} columns;

static bool is_kind(const char *dtype, const char *kind) { return strncmp(dtype, kind, strlen(kind)) == 0; }
static bool is_nested(const char *dtype)
{
	return is_kind(dtype, "List") || is_kind(dtype, "Struct") || is_kind(dtype, "Array");
}
static bool is_number(const char *dtype)
{
	return is_kind(dtype, "Int") || is_kind(dtype, "UInt") || is_kind(dtype, "Float") ||
	       is_kind(dtype, "Decimal");
}

static void columns_release(columns *c)
{
	for (int i = 0; i < c->n; i++) {
		nk_series_unref(c->items[i].values);
		nk_series_unref(c->items[i].texts);
	}
	free(c->items);
}

static nk_status columns_of(nk_frame *frame, columns *out, nk_error *err)
{
	*out = (columns){.n = nk_frame_width(frame)};
	out->items = calloc((size_t)out->n + 1, sizeof *out->items);
	if (!out->items) {
		out->n = 0;
		*err = (nk_error){.code = NK_OUT_OF_MEMORY, .message = "no memory for a result"};
		return NK_OUT_OF_MEMORY;
	}
	nk_named_option to_string[] = {{.name = "dtype", .type = NK_ARG_DTYPE, .string = "String"}};
	for (int i = 0; i < out->n; i++) {
		column *c = &out->items[i];
		c->name = nk_frame_name(frame, i);
		c->dtype = nk_frame_dtype(frame, i);
		nk_status status = nk_frame_column(frame, i, &c->values, err);
		if (status == NK_OK && !is_nested(c->dtype) && !is_kind(c->dtype, "String") &&
		    !is_kind(c->dtype, "Binary"))
			status = nk_series_call("cast", &c->values, 1, to_string, 1, &c->texts, err);
		if (status != NK_OK)
			return status;
	}
	return NK_OK;
}

/* ---- CSV ---- */

static void write_field(FILE *out, const char *bytes, int64_t n)
{
	bool quoted = n == 0;
	for (int64_t i = 0; i < n && !quoted; i++)
		quoted = bytes[i] == '"' || bytes[i] == ',' || bytes[i] == '\n' || bytes[i] == '\r';
	if (!quoted) {
		fwrite(bytes, 1, (size_t)n, out);
		return;
	}
	fputc('"', out);
	for (int64_t i = 0; i < n; i++) {
		if (bytes[i] == '"')
			fputc('"', out);
		fputc(bytes[i], out);
	}
	fputc('"', out);
}

static nk_status write_json_value(FILE *out, const nk_value *value, const char *text, int64_t n_text,
                                  nk_error *err);

static nk_status write_csv(FILE *out, const columns *c, int64_t height, nk_error *err)
{
	for (int i = 0; i < c->n; i++) {
		if (i)
			fputc(',', out);
		write_field(out, c->items[i].name, (int64_t)strlen(c->items[i].name));
	}
	fputc('\n', out);
	for (int64_t row = 0; row < height; row++) {
		for (int i = 0; i < c->n; i++) {
			nk_value value;
			nk_series *from = c->items[i].texts ? c->items[i].texts : c->items[i].values;
			nk_status status = nk_series_get(from, row, &value, err);
			if (status != NK_OK)
				return status;
			if (i)
				fputc(',', out);
			if (value.kind == NK_VALUE_STRING || value.kind == NK_VALUE_BINARY) {
				write_field(out, value.bytes, value.n_bytes);
			} else if (value.kind == NK_VALUE_SERIES) { /* lists and structs as JSON in one field */
				char *json = NULL;
				size_t n = 0;
				FILE *memory = open_memstream(&json, &n);
				if (memory) {
					status = write_json_value(memory, &value, NULL, 0, err);
					fclose(memory);
					write_field(out, json, (int64_t)n);
				}
				free(json);
				nk_series_unref(value.series);
				if (status != NK_OK)
					return status;
			}
		}
		fputc('\n', out);
	}
	return NK_OK;
}

/* ---- JSON ---- */

static void write_json_string(FILE *out, const char *bytes, int64_t n)
{
	fputc('"', out);
	for (int64_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c == '\t')
			fputs("\\t", out);
		else if (c == '\r')
			fputs("\\r", out);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void write_json_hex(FILE *out, const char *bytes, int64_t n)
{
	fputc('"', out);
	for (int64_t i = 0; i < n; i++)
		fprintf(out, "%02x", (unsigned char)bytes[i]);
	fputc('"', out);
}

/* The name of field `i` in Struct{"a": Int64, "b": List(String)}: names are in quotes at the first level. */
static void write_field_name(FILE *out, const char *dtype, int i)
{
	int depth = 0;
	for (const char *at = dtype; *at; at++) {
		if (*at == '{' || *at == '(') {
			depth++;
		} else if (*at == '}' || *at == ')') {
			depth--;
		} else if (*at == '"') {
			const char *end = at + 1;
			while (*end && *end != '"')
				end += end[0] == '\\' && end[1] ? 2 : 1;
			if (depth == 1 && i-- == 0) {
				fwrite(at, 1, (size_t)(end - at) + 1, out);
				return;
			}
			if (!*end)
				break;
			at = end;
		}
	}
	fputs("\"\"", out);
}

/* `text` is the value cast to String, where there is such a cast. */
static nk_status write_json_value(FILE *out, const nk_value *value, const char *text, int64_t n_text,
                                  nk_error *err)
{
	switch (value->kind) {
	case NK_VALUE_NULL: fputs("null", out); return NK_OK;
	case NK_VALUE_BOOLEAN: fputs(value->boolean ? "true" : "false", out); return NK_OK;
	case NK_VALUE_FLOAT:
		if (!isfinite(value->floating))
			fputs("null", out);
		else if (text)
			fwrite(text, 1, (size_t)n_text, out);
		else
			fprintf(out, "%.17g", value->floating);
		return NK_OK;
	case NK_VALUE_INTEGER:
		if (text && value->dtype && is_number(value->dtype))
			fwrite(text, 1, (size_t)n_text, out);
		else if (text)
			write_json_string(out, text, n_text);
		else
			fprintf(out, "%lld", (long long)value->low);
		return NK_OK;
	case NK_VALUE_STRING: write_json_string(out, value->bytes, value->n_bytes); return NK_OK;
	case NK_VALUE_BINARY: write_json_hex(out, value->bytes, value->n_bytes); return NK_OK;
	case NK_VALUE_SERIES: break;
	}
	bool is_struct = value->dtype && is_kind(value->dtype, "Struct");
	int64_t n = nk_series_length(value->series);
	fputc(is_struct ? '{' : '[', out);
	nk_series *texts = NULL;
	nk_named_option to_string[] = {{.name = "dtype", .type = NK_ARG_DTYPE, .string = "String"}};
	const char *item = nk_series_dtype(value->series);
	if (!is_struct && !is_nested(item) && !is_kind(item, "String") && !is_kind(item, "Binary")) {
		nk_status status = nk_series_call("cast", &value->series, 1, to_string, 1, &texts, err);
		if (status != NK_OK)
			return status;
	}
	nk_status status = NK_OK;
	for (int64_t i = 0; i < n && status == NK_OK; i++) {
		nk_value part, shown = {0};
		status = nk_series_get(value->series, i, &part, err);
		if (status == NK_OK && texts)
			status = nk_series_get(texts, i, &shown, err);
		if (status != NK_OK)
			break;
		if (i)
			fputc(',', out);
		if (is_struct) {
			write_field_name(out, value->dtype, (int)i);
			fputc(':', out);
		}
		bool has_text = texts && shown.kind == NK_VALUE_STRING;
		status =
			write_json_value(out, &part, has_text ? shown.bytes : NULL, has_text ? shown.n_bytes : 0, err);
		if (part.kind == NK_VALUE_SERIES)
			nk_series_unref(part.series);
	}
	nk_series_unref(texts);
	fputc(is_struct ? '}' : ']', out);
	return status;
}

static nk_status write_json(FILE *out, const columns *c, int64_t height, bool lines, nk_error *err)
{
	if (!lines)
		fputc('[', out);
	for (int64_t row = 0; row < height; row++) {
		if (row && !lines)
			fputs(",\n", out);
		fputc('{', out);
		for (int i = 0; i < c->n; i++) {
			nk_value value, text = {0};
			nk_status status = nk_series_get(c->items[i].values, row, &value, err);
			if (status == NK_OK && c->items[i].texts)
				status = nk_series_get(c->items[i].texts, row, &text, err);
			if (status != NK_OK)
				return status;
			if (i)
				fputc(',', out);
			write_json_string(out, c->items[i].name, (int64_t)strlen(c->items[i].name));
			fputc(':', out);
			bool has_text = c->items[i].texts && text.kind == NK_VALUE_STRING;
			status =
				write_json_value(out, &value, has_text ? text.bytes : NULL, has_text ? text.n_bytes : 0, err);
			if (value.kind == NK_VALUE_SERIES)
				nk_series_unref(value.series);
			if (status != NK_OK)
				return status;
		}
		fputs(lines ? "}\n" : "}", out);
	}
	if (!lines)
		fputs("]\n", out);
	return NK_OK;
}

nk_status write_frame(FILE *out, nk_frame *frame, format as, int max_rows, nk_error *err)
{
	if (as == FORMAT_BOX || as == FORMAT_MARKDOWN)
		return write_table(out, frame, as == FORMAT_MARKDOWN, as == FORMAT_BOX ? max_rows : -1, err);
	columns c;
	nk_status status = columns_of(frame, &c, err);
	int64_t height = nk_frame_height(frame);
	if (status == NK_OK)
		status = as == FORMAT_CSV ? write_csv(out, &c, height, err)
		                          : write_json(out, &c, height, as == FORMAT_NDJSON, err);
	columns_release(&c);
	return status;
}
