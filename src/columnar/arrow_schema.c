/* Dtypes to and from Arrow schemas. The format string is read by a small table for types without parameters and by
 * hand for the rest. Seconds become milliseconds; Arrow types that have no counterpart are refused by name. */
#include "columnar/arrow_category.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Import ---- */

static const struct {
	const char *format;
	nk_type_id id;
} plain_formats[] = {
	{"n", NK_TYPE_NULL},   {"b", NK_TYPE_BOOLEAN}, {"c", NK_TYPE_INT8},    {"C", NK_TYPE_UINT8},
	{"s", NK_TYPE_INT16},  {"S", NK_TYPE_UINT16},  {"i", NK_TYPE_INT32},   {"I", NK_TYPE_UINT32},
	{"l", NK_TYPE_INT64},  {"L", NK_TYPE_UINT64},  {"f", NK_TYPE_FLOAT32}, {"g", NK_TYPE_FLOAT64},
	{"u", NK_TYPE_STRING}, {"U", NK_TYPE_STRING},  {"vu", NK_TYPE_STRING}, {"z", NK_TYPE_BINARY},
	{"Z", NK_TYPE_BINARY}, {"vz", NK_TYPE_BINARY}, {"tdD", NK_TYPE_DATE},  {"tts", NK_TYPE_TIME},
	{"ttm", NK_TYPE_TIME}, {"ttu", NK_TYPE_TIME},  {"ttn", NK_TYPE_TIME},
};

static bool read_unit(char letter, nk_time_unit *unit)
{
	*unit = letter == 'u' ? NK_UNIT_US : letter == 'n' ? NK_UNIT_NS : NK_UNIT_MS;
	return letter == 's' || letter == 'm' || letter == 'u' || letter == 'n';
}

static nk_status checked(const nk_dtype *dtype, const nk_dtype **out, nk_error *err)
{
	if (!dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	*out = dtype;
	return NK_OK;
}

/* Arrow has no 128-bit integers; this is what Polars writes for them. */
static const char int128_format[] = "_pli128";

static nk_status import_nested(const struct ArrowSchema *schema, int depth, const nk_dtype **out,
                               nk_error *err);

static nk_status import_dtype(const struct ArrowSchema *schema, int depth, const nk_dtype **out,
                              nk_error *err)
{
	const char *format = schema->format;
	int precision, scale, n_bits = 128, n_read = 0;
	nk_time_unit unit;
	if (!format)
		return nk_fail(err, NK_INVALID_OPERATION, "an Arrow schema without a format");
	if (depth > NK_DTYPE_MAX_DEPTH)
		return nk_fail(err, NK_INVALID_OPERATION, "an Arrow type nested more than %d deep",
		               NK_DTYPE_MAX_DEPTH);
	if (schema->dictionary) {
		NK_TRY(import_dtype(schema->dictionary, depth + 1, out, err));
		return (*out)->id == NK_TYPE_STRING ? checked(nk__arrow_category_of(schema), out, err) : NK_OK;
	}
	for (int i = 0; i < NK_COUNT(plain_formats); i++)
		if (strcmp(format, plain_formats[i].format) == 0) {
			*out = nk_dtype_of(plain_formats[i].id);
			return NK_OK;
		}
	if (strcmp(format, int128_format) == 0) {
		*out = nk_dtype_of(NK_TYPE_INT128);
		return NK_OK;
	}
	if (strcmp(format, "tdm") == 0)
		return checked(nk_dtype_datetime(NK_UNIT_MS, NULL), out, err);
	if (format[0] == 't' && format[1] == 's' && read_unit(format[2], &unit) && format[3] == ':')
		return checked(nk_dtype_datetime(unit, format[4] ? format + 4 : NULL), out, err);
	if (format[0] == 'w' && format[1] == ':') {
		*out = nk_dtype_of(NK_TYPE_BINARY);
		return NK_OK;
	}
	if (format[0] == 't' && format[1] == 'D' && read_unit(format[2], &unit) && !format[3])
		return checked(nk_dtype_duration(unit), out, err);
	if (sscanf(format, "d:%d,%d%n", &precision, &scale, &n_read) == 2 && n_read > 0) {
		if (format[n_read] == ',')
			n_bits = atoi(format + n_read + 1);
		if (precision < 1 || scale < 0 || scale > 38 ||
		    (n_bits != 32 && n_bits != 64 && n_bits != 128 && n_bits != 256))
			return nk_fail(err, NK_INVALID_OPERATION, "the Arrow decimal \"%s\" is not supported", format);
		precision = NK_MIN(precision, 38);
		return checked(nk_dtype_decimal(precision, scale), out, err);
	}
	return import_nested(schema, depth, out, err);
}

static nk_status import_nested(const struct ArrowSchema *schema, int depth, const nk_dtype **out,
                               nk_error *err)
{
	const char *format = schema->format;
	if (schema->n_children < 0 || schema->n_children > INT32_MAX / (int64_t)sizeof(nk_field))
		return nk_fail(err, NK_INVALID_OPERATION, "an Arrow type of %lld children",
		               (long long)schema->n_children);
	if (strcmp(format, "+r") == 0) {
		if (schema->n_children != 2)
			return nk_fail(err, NK_INVALID_OPERATION, "an Arrow run-end encoding of %lld children",
			               (long long)schema->n_children);
		return import_dtype(schema->children[1], depth + 1, out, err);
	}
	if (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0 || strncmp(format, "+w:", 3) == 0 ||
	    strcmp(format, "+m") == 0 || strcmp(format, "+vl") == 0 || strcmp(format, "+vL") == 0) {
		const nk_dtype *item;
		if (schema->n_children != 1)
			return nk_fail(err, NK_INVALID_OPERATION, "an Arrow list of %lld children",
			               (long long)schema->n_children);
		NK_TRY(import_dtype(schema->children[0], depth + 1, &item, err));
		if (format[1] != 'w')
			return checked(nk_dtype_list(item), out, err);
		long long width = atoll(format + 3);
		if (width < 0 || width > INT32_MAX)
			return nk_fail(err, NK_INVALID_OPERATION, "an Arrow list of width %lld", width);
		return checked(nk_dtype_array(item, width), out, err);
	}
	if (strcmp(format, "+s") != 0)
		return nk_fail(err, NK_INVALID_OPERATION, "the Arrow type \"%s\" is not supported", format);
	int n_fields = (int)schema->n_children;
	nk_field *fields = calloc((size_t)NK_MAX(n_fields, 1), sizeof *fields);
	if (!fields)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a struct of %d fields", n_fields);
	nk_status status = NK_OK;
	for (int i = 0; i < n_fields && status == NK_OK; i++) {
		fields[i].name = schema->children[i]->name ? schema->children[i]->name : "";
		status = import_dtype(schema->children[i], depth + 1, &fields[i].dtype, err);
	}
	if (status == NK_OK)
		status = checked(nk_dtype_struct(fields, n_fields), out, err);
	free(fields);
	return status;
}

nk_status nk_dtype_from_arrow(const struct ArrowSchema *schema, const nk_dtype **out, nk_error *err)
{
	return import_dtype(schema, 0, out, err);
}

/* ---- Export ---- */

/* Everything an exported schema owns: one block with format, name and child pointers behind it. */
static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		struct ArrowSchema *child = schema->children[i];
		if (child && child->release)
			child->release(child);
		free(child);
	}
	if (schema->dictionary) {
		schema->dictionary->release(schema->dictionary);
		free(schema->dictionary);
	}
	free((char *)schema->metadata);
	free(schema->private_data);
	schema->release = NULL;
}

static void write_format(const nk_dtype *dtype, char *out, size_t n_out)
{
	static const char unit_letters[] = {'m', 'u', 'n'};
	switch (dtype->id) {
	case NK_TYPE_NULL: snprintf(out, n_out, "n"); break;
	case NK_TYPE_BOOLEAN: snprintf(out, n_out, "b"); break;
	case NK_TYPE_INT8: snprintf(out, n_out, "c"); break;
	case NK_TYPE_INT16: snprintf(out, n_out, "s"); break;
	case NK_TYPE_INT32: snprintf(out, n_out, "i"); break;
	case NK_TYPE_INT64: snprintf(out, n_out, "l"); break;
	case NK_TYPE_INT128: snprintf(out, n_out, "%s", int128_format); break;
	case NK_TYPE_UINT8: snprintf(out, n_out, "C"); break;
	case NK_TYPE_UINT16: snprintf(out, n_out, "S"); break;
	case NK_TYPE_UINT32: snprintf(out, n_out, "I"); break;
	case NK_TYPE_UINT64: snprintf(out, n_out, "L"); break;
	case NK_TYPE_FLOAT32: snprintf(out, n_out, "f"); break;
	case NK_TYPE_FLOAT64: snprintf(out, n_out, "g"); break;
	case NK_TYPE_DECIMAL: snprintf(out, n_out, "d:%d,%d", dtype->precision, dtype->scale); break;
	case NK_TYPE_STRING: snprintf(out, n_out, "vu"); break;
	case NK_TYPE_BINARY: snprintf(out, n_out, "vz"); break;
	case NK_TYPE_DATE: snprintf(out, n_out, "tdD"); break;
	case NK_TYPE_DATETIME:
		snprintf(out, n_out, "ts%c:%s", unit_letters[dtype->unit], dtype->time_zone ? dtype->time_zone : "");
		break;
	case NK_TYPE_DURATION: snprintf(out, n_out, "tD%c", unit_letters[dtype->unit]); break;
	case NK_TYPE_TIME: snprintf(out, n_out, "ttn"); break;
	case NK_TYPE_LIST: snprintf(out, n_out, "+L"); break;
	case NK_TYPE_ARRAY: snprintf(out, n_out, "+w:%lld", (long long)dtype->width); break;
	case NK_TYPE_CATEGORICAL:
	case NK_TYPE_ENUM:
		snprintf(out, n_out, "%s",
		         dtype->physical == NK_PHYSICAL_U8    ? "C"
		         : dtype->physical == NK_PHYSICAL_U16 ? "S"
		                                              : "I");
		break;
	default: snprintf(out, n_out, "+s"); break;
	}
}

static nk_status export_schema(const char *format, const char *name, const nk_field *fields, int n_fields,
                               struct ArrowSchema *out, nk_error *err)
{
	size_t n_format = strlen(format) + 1, n_name = strlen(name) + 1;
	size_t n_children = (size_t)n_fields * sizeof(struct ArrowSchema *);
	char *block = calloc(1, n_children + n_format + n_name);
	if (!block)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow schema");
	memcpy(block + n_children, format, n_format);
	memcpy(block + n_children + n_format, name, n_name);
	struct ArrowSchema schema = {.format = block + n_children,
	                             .name = block + n_children + n_format,
	                             .flags = ARROW_FLAG_NULLABLE,
	                             .n_children = n_fields,
	                             .children = n_children ? (struct ArrowSchema **)(void *)block : NULL,
	                             .release = release_schema,
	                             .private_data = block};
	for (int i = 0; i < n_fields; i++) {
		schema.children[i] = calloc(1, sizeof **schema.children);
		nk_status status = schema.children[i]
		                       ? nk_dtype_to_arrow(fields[i].dtype, fields[i].name, schema.children[i], err)
		                       : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow schema");
		if (status != NK_OK) {
			release_schema(&schema);
			return status;
		}
	}
	*out = schema;
	return NK_OK;
}

/* The codes' schema becomes one of a dictionary of texts. */
static nk_status add_dictionary(const nk_dtype *dtype, struct ArrowSchema *out, nk_error *err)
{
	NK_TEXT(metadata);
	NK_TRY(nk__arrow_category_metadata(dtype, &metadata, err));
	out->metadata = NK_STEAL(metadata.bytes);
	out->flags |= dtype->id == NK_TYPE_ENUM ? ARROW_FLAG_DICTIONARY_ORDERED : 0;
	struct ArrowSchema *texts = calloc(1, sizeof *texts);
	if (!texts)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow schema");
	nk_status status = nk_dtype_to_arrow(nk_dtype_of(NK_TYPE_STRING), "", texts, err);
	if (status == NK_OK)
		out->dictionary = texts;
	else
		free(texts);
	return status;
}

nk_status nk_dtype_to_arrow(const nk_dtype *dtype, const char *name, struct ArrowSchema *out, nk_error *err)
{
	char format[256];
	write_format(dtype, format, sizeof format);
	NK_TRY(export_schema(format, name, dtype->fields, dtype->n_fields, out, err));
	if (!nk_type_is_category(dtype->id))
		return NK_OK;
	nk_status status = add_dictionary(dtype, out, err);
	if (status != NK_OK)
		release_schema(out);
	return status;
}

nk_status nk_schema_to_arrow(const nk_schema *schema, struct ArrowSchema *out, nk_error *err)
{
	NK_TRY(export_schema("+s", "", schema->fields, schema->n_fields, out, err));
	out->flags = 0; /* a frame's rows are never null */
	return NK_OK;
}
