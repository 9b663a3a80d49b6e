/* One table of interned types, keyed by their text: two types are equal exactly when their texts are, so one
 * form serves identity, parsing and printing. Types without parameters are constants and take no lock. Interned
 * types are never freed; a process uses few. */
#include "columnar/dtype.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/text.h"
#include "columnar/categories.h"

typedef struct interned {
	nk_dtype dtype; /* first: an interned type is found from its dtype */
	const char *short_name;
	uint64_t hash;
	struct interned *next;
} interned;

#define PLAIN(ID, PHYSICAL, TEXT, SHORT)                                                 \
	[NK_TYPE_##ID] = {                                                                   \
		.dtype = {.id = NK_TYPE_##ID, .physical = NK_PHYSICAL_##PHYSICAL, .text = TEXT}, \
		.short_name = SHORT,                                                             \
	}
static const interned plain[NK_TYPE_N] = {
	PLAIN(NULL, NONE, "Null", "null"),       PLAIN(BOOLEAN, BOOL, "Boolean", "bool"),
	PLAIN(INT8, I8, "Int8", "i8"),           PLAIN(INT16, I16, "Int16", "i16"),
	PLAIN(INT32, I32, "Int32", "i32"),       PLAIN(INT64, I64, "Int64", "i64"),
	PLAIN(INT128, I128, "Int128", "i128"),   PLAIN(UINT8, U8, "UInt8", "u8"),
	PLAIN(UINT16, U16, "UInt16", "u16"),     PLAIN(UINT32, U32, "UInt32", "u32"),
	PLAIN(UINT64, U64, "UInt64", "u64"),     PLAIN(FLOAT32, F32, "Float32", "f32"),
	PLAIN(FLOAT64, F64, "Float64", "f64"),   PLAIN(STRING, VIEW, "String", "str"),
	PLAIN(BINARY, VIEW, "Binary", "binary"), PLAIN(DATE, I32, "Date", "date"),
	PLAIN(TIME, I64, "Time", "time"),
};

enum { N_BUCKETS = 256 };
static interned *buckets[N_BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
NK_FORK_SAFE(lock);

static const char *const unit_names[] = {"ms", "us", "ns"};
static const char *const unit_short_names[] = {"ms", "\xce\xbcs", "ns"};

static void intern_free(interned *entry)
{
	nk_categories_free(entry->dtype.categories);
	free((char *)entry->dtype.name);
	free((char *)entry->dtype.space);
	for (int i = 0; i < entry->dtype.n_fields; i++)
		free((char *)entry->dtype.fields[i].name);
	free((nk_field *)entry->dtype.fields);
	free((char *)entry->dtype.time_zone);
	free((char *)entry->dtype.text);
	free((char *)entry->short_name);
	free(entry);
}

/* The texts of an Enum. */
typedef struct entries {
	const char *const *texts;
	int64_t n;
} entries;

/* A private copy of what `wanted` describes; NULL when out of memory. */
static interned *intern_new(const nk_dtype *wanted, const entries *texts, const char *text,
                            const char *short_name, uint64_t hash)
{
	interned *entry = calloc(1, sizeof *entry);
	if (!entry)
		return NULL;
	entry->dtype = *wanted;
	entry->dtype.text = strdup(text);
	entry->short_name = strdup(short_name);
	entry->hash = hash;
	bool failed = !entry->dtype.text || !entry->short_name;
	if (wanted->time_zone) {
		entry->dtype.time_zone = strdup(wanted->time_zone);
		failed |= !entry->dtype.time_zone;
	}
	if (nk_type_is_category(wanted->id)) {
		entry->dtype.categories = nk_categories_new(wanted->physical, texts->texts, texts->n);
		failed |= !entry->dtype.categories;
	}
	if (wanted->name) {
		entry->dtype.name = strdup(wanted->name);
		entry->dtype.space = strdup(wanted->space);
		failed |= !entry->dtype.name || !entry->dtype.space;
	}
	if (wanted->n_fields) {
		nk_field *fields = calloc((size_t)wanted->n_fields, sizeof *fields);
		entry->dtype.fields = fields;
		entry->dtype.n_fields = fields ? wanted->n_fields : 0;
		failed |= !fields;
		for (int i = 0; fields && i < wanted->n_fields; i++) {
			fields[i].dtype = wanted->fields[i].dtype;
			fields[i].name = strdup(wanted->fields[i].name);
			failed |= !fields[i].name;
		}
	} else {
		entry->dtype.fields = NULL;
	}
	if (failed) {
		intern_free(entry);
		return NULL;
	}
	return entry;
}

static const nk_dtype *intern_with(const nk_dtype *wanted, const entries *texts, nk_text *text,
                                   nk_text *short_name)
{
	if (nk_text_finish(text, NULL) != NK_OK || nk_text_finish(short_name, NULL) != NK_OK)
		return NULL;
	uint64_t hash = nk_hash_bytes(text->bytes, text->n_bytes);
	interned **bucket = &buckets[hash % N_BUCKETS];
	pthread_mutex_lock(&lock);
	interned *entry = *bucket;
	while (entry && (entry->hash != hash || strcmp(entry->dtype.text, text->bytes) != 0))
		entry = entry->next;
	if (!entry) {
		entry = intern_new(wanted, texts, text->bytes, short_name->bytes, hash);
		if (entry) {
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	pthread_mutex_unlock(&lock);
	return entry ? &entry->dtype : NULL;
}

static const nk_dtype *intern(const nk_dtype *wanted, nk_text *text, nk_text *short_name)
{
	return intern_with(wanted, NULL, text, short_name);
}

const nk_dtype *nk_dtype_of(nk_type_id id)
{
	NK_ASSERT(plain[id].dtype.text);
	return &plain[id].dtype;
}

/* A dtype that exists is found without taking memory, as long as its text is of usual length. */
const nk_dtype *nk_dtype_decimal(int precision, int scale)
{
	NK_TEXT_IN(text, 512);
	NK_TEXT_IN(short_name, 256);
	nk_text_format(&text, "Decimal(%d, %d)", precision, scale);
	nk_text_format(&short_name, "decimal[%d,%d]", precision, scale);
	return intern(
		&(nk_dtype){
			.id = NK_TYPE_DECIMAL, .physical = NK_PHYSICAL_I128, .precision = precision, .scale = scale},
		&text, &short_name);
}

const nk_dtype *nk_dtype_datetime(nk_time_unit unit, const char *time_zone)
{
	NK_TEXT_IN(text, 512);
	NK_TEXT_IN(short_name, 256);
	if (time_zone && !time_zone[0])
		time_zone = NULL;
	nk_text_format(&text, "Datetime(%s%s%s)", unit_names[unit], time_zone ? ", " : "",
	               time_zone ? time_zone : "");
	nk_text_format(&short_name, "datetime[%s%s%s]", unit_short_names[unit], time_zone ? ", " : "",
	               time_zone ? time_zone : "");
	return intern(
		&(nk_dtype){
			.id = NK_TYPE_DATETIME, .physical = NK_PHYSICAL_I64, .unit = unit, .time_zone = time_zone},
		&text, &short_name);
}

const nk_dtype *nk_dtype_duration(nk_time_unit unit)
{
	NK_TEXT_IN(text, 512);
	NK_TEXT_IN(short_name, 256);
	nk_text_format(&text, "Duration(%s)", unit_names[unit]);
	nk_text_format(&short_name, "duration[%s]", unit_short_names[unit]);
	return intern(&(nk_dtype){.id = NK_TYPE_DURATION, .physical = NK_PHYSICAL_I64, .unit = unit}, &text,
	              &short_name);
}

const nk_dtype *nk_dtype_list(const nk_dtype *item)
{
	NK_TEXT_IN(text, 512);
	NK_TEXT_IN(short_name, 256);
	nk_text_format(&text, "List(%s)", item->text);
	nk_text_format(&short_name, "list[%s]", nk_dtype_short_name(item));
	nk_field field = {.name = "item", .dtype = item};
	return intern(
		&(nk_dtype){.id = NK_TYPE_LIST, .physical = NK_PHYSICAL_LIST, .n_fields = 1, .fields = &field}, &text,
		&short_name);
}

const nk_dtype *nk_dtype_array(const nk_dtype *item, int64_t width)
{
	NK_TEXT_IN(text, 512);
	NK_TEXT_IN(short_name, 256);
	nk_text_format(&text, "Array(%s, %lld)", item->text, (long long)width);
	const nk_dtype *inner = item;
	while (inner->id == NK_TYPE_ARRAY)
		inner = inner->fields[0].dtype;
	nk_text_format(&short_name, "array[%s, %s%lld", nk_dtype_short_name(inner), inner == item ? "" : "(",
	               (long long)width);
	for (const nk_dtype *at = item; at != inner; at = at->fields[0].dtype)
		nk_text_format(&short_name, ", %lld", (long long)at->width);
	nk_text_append_string(&short_name, inner == item ? "]" : ")]");
	nk_field field = {.name = "item", .dtype = item};
	return intern(&(nk_dtype){.id = NK_TYPE_ARRAY,
	                          .physical = NK_PHYSICAL_LIST,
	                          .width = width,
	                          .n_fields = 1,
	                          .fields = &field},
	              &text, &short_name);
}

const nk_dtype *nk_dtype_of_codes(const nk_dtype *dtype)
{
	return nk_dtype_of(dtype->physical == NK_PHYSICAL_U8    ? NK_TYPE_UINT8
	                   : dtype->physical == NK_PHYSICAL_U16 ? NK_TYPE_UINT16
	                                                        : NK_TYPE_UINT32);
}

static void append_quoted(nk_text *text, const char *name)
{
	nk_text_append_char(text, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			nk_text_append_char(text, '\\');
		nk_text_append_char(text, *name);
	}
	nk_text_append_char(text, '"');
}

const nk_dtype *nk_dtype_struct(const nk_field *fields, int n_fields)
{
	NK_TEXT_IN(text, 512);
	NK_TEXT_IN(short_name, 256);
	nk_text_append_string(&text, "Struct{");
	for (int i = 0; i < n_fields; i++) {
		nk_text_append_string(&text, i ? ", " : "");
		append_quoted(&text, fields[i].name);
		nk_text_append_string(&text, ": ");
		nk_text_append_string(&text, fields[i].dtype->text);
	}
	nk_text_append_char(&text, '}');
	nk_text_format(&short_name, "struct[%d]", n_fields);
	return intern(
		&(nk_dtype){
			.id = NK_TYPE_STRUCT, .physical = NK_PHYSICAL_STRUCT, .n_fields = n_fields, .fields = fields},
		&text, &short_name);
}

const nk_dtype *nk_dtype_categorical(const char *name, const char *space, nk_physical physical)
{
	NK_TEXT(text);
	NK_TEXT(short_name);
	nk_text_append_string(&text, "Categorical");
	if (name[0]) {
		nk_text_append_char(&text, '(');
		append_quoted(&text, name);
		nk_text_append_string(&text, ", ");
		append_quoted(&text, space);
		nk_text_format(&text, ", %s)",
		               physical == NK_PHYSICAL_U8    ? "UInt8"
		               : physical == NK_PHYSICAL_U16 ? "UInt16"
		                                             : "UInt32");
	} else {
		space = "";
		physical = NK_PHYSICAL_U32;
	}
	nk_text_append_string(&short_name, "cat");
	return intern_with(
		&(nk_dtype){.id = NK_TYPE_CATEGORICAL, .physical = physical, .name = name, .space = space},
		&(entries){0}, &text, &short_name);
}

const nk_dtype *nk_dtype_enum(const char *const *texts, int64_t n)
{
	NK_TEXT(text);
	NK_TEXT(short_name);
	nk_text_append_string(&text, "Enum[");
	for (int64_t i = 0; i < n; i++) {
		nk_text_append_string(&text, i ? ", " : "");
		append_quoted(&text, texts[i]);
	}
	nk_text_append_char(&text, ']');
	nk_text_append_string(&short_name, "enum");
	nk_physical physical = n < UINT8_MAX    ? NK_PHYSICAL_U8
	                       : n < UINT16_MAX ? NK_PHYSICAL_U16
	                                        : NK_PHYSICAL_U32;
	static const char *const none[1];
	return intern_with(&(nk_dtype){.id = NK_TYPE_ENUM, .physical = physical}, &(entries){n ? texts : none, n},
	                   &text, &short_name);
}

/* ---- Parsing ---- */

typedef struct parser {
	const char *whole, *at;
	int depth;
} parser;

static nk_status parse_fail(const parser *p, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "not a dtype: \"%s\" (at byte %d)", p->whole,
	               (int)(p->at - p->whole));
}

static bool accept(parser *p, const char *token)
{
	while (*p->at == ' ')
		p->at++;
	size_t n = strlen(token);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

static bool accept_unit(parser *p, nk_time_unit *unit)
{
	for (int i = 0; i < NK_COUNT(unit_names); i++)
		if (accept(p, unit_names[i])) {
			*unit = (nk_time_unit)i;
			return true;
		}
	return false;
}

static bool accept_number(parser *p, int *number)
{
	while (*p->at == ' ')
		p->at++;
	if (*p->at < '0' || *p->at > '9')
		return false;
	*number = 0;
	while (*p->at >= '0' && *p->at <= '9' && *number < 1000)
		*number = *number * 10 + (*p->at++ - '0');
	return true;
}

static nk_status checked(const nk_dtype *dtype, const nk_dtype **out, nk_error *err)
{
	if (!dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	*out = dtype;
	return NK_OK;
}

static nk_status parse_dtype(parser *p, const nk_dtype **out, nk_error *err);

static nk_status parse_datetime(parser *p, const nk_dtype **out, nk_error *err)
{
	nk_time_unit unit;
	char zone[128] = "";
	if (!accept_unit(p, &unit))
		return parse_fail(p, err);
	if (accept(p, ",")) {
		while (*p->at == ' ')
			p->at++;
		size_t n = strcspn(p->at, ")");
		if (n == 0 || n >= sizeof zone)
			return parse_fail(p, err);
		memcpy(zone, p->at, n);
		p->at += n;
	}
	if (!accept(p, ")"))
		return parse_fail(p, err);
	return checked(nk_dtype_datetime(unit, zone), out, err);
}

static nk_status parse_name(parser *p, char **out, nk_error *err)
{
	if (!accept(p, "\""))
		return parse_fail(p, err);
	char *name = malloc(strlen(p->at) + 1);
	if (!name)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a field name");
	int64_t n = 0;
	while (*p->at && *p->at != '"') {
		if (*p->at == '\\' && p->at[1])
			p->at++;
		name[n++] = *p->at++;
	}
	name[n] = 0;
	if (!accept(p, "\"")) {
		free(name);
		return parse_fail(p, err);
	}
	*out = name;
	return NK_OK;
}

static nk_status parse_fields(parser *p, nk_field **fields, int *n_fields, nk_error *err)
{
	int capacity = 0;
	while (!accept(p, "}")) {
		if (*n_fields && !accept(p, ","))
			return parse_fail(p, err);
		if (*n_fields == capacity) {
			capacity = capacity * 2 + 8;
			nk_field *larger = realloc(*fields, (size_t)capacity * sizeof *larger);
			if (!larger)
				return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a struct of %d fields", *n_fields);
			*fields = larger;
		}
		char *name = NULL;
		NK_TRY(parse_name(p, &name, err));
		(*fields)[(*n_fields)++] = (nk_field){.name = name};
		if (!accept(p, ":"))
			return parse_fail(p, err);
		NK_TRY(parse_dtype(p, &(*fields)[*n_fields - 1].dtype, err));
	}
	return NK_OK;
}

static nk_status parse_struct(parser *p, const nk_dtype **out, nk_error *err)
{
	nk_field *fields = NULL;
	int n_fields = 0;
	nk_status status = parse_fields(p, &fields, &n_fields, err);
	if (status == NK_OK)
		status = checked(nk_dtype_struct(fields, n_fields), out, err);
	for (int i = 0; i < n_fields; i++)
		free((char *)fields[i].name);
	free(fields);
	return status;
}

static nk_status parse_categorical(parser *p, const nk_dtype **out, nk_error *err)
{
	char *name = NULL, *space = NULL;
	nk_status status = NK_OK;
	nk_physical physical = NK_PHYSICAL_U32;
	if (!accept(p, "(")) {
		*out = nk_dtype_categorical("", "", physical);
		return checked(*out, out, err);
	}
	status = parse_name(p, &name, err);
	if (status == NK_OK && !accept(p, ","))
		status = parse_fail(p, err);
	if (status == NK_OK)
		status = parse_name(p, &space, err);
	if (status == NK_OK && !accept(p, ","))
		status = parse_fail(p, err);
	if (status == NK_OK) {
		physical = accept(p, "UInt8")    ? NK_PHYSICAL_U8
		           : accept(p, "UInt16") ? NK_PHYSICAL_U16
		           : accept(p, "UInt32") ? NK_PHYSICAL_U32
		                                 : NK_PHYSICAL_NONE;
		if (physical == NK_PHYSICAL_NONE || !accept(p, ")"))
			status = parse_fail(p, err);
	}
	if (status == NK_OK)
		status = checked(nk_dtype_categorical(name, space, physical), out, err);
	free(name);
	free(space);
	return status;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static nk_status check_unique(char *const *texts, int64_t n, nk_error *err)
{
	nk_status status = NK_OK;
	char **sorted = malloc((size_t)(n + 1) * sizeof *sorted);
	if (!sorted)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for categories");
	for (int64_t i = 0; i < n; i++)
		sorted[i] = texts[i];
	qsort(sorted, (size_t)n, sizeof *sorted, compare_texts);
	for (int64_t i = 1; i < n && status == NK_OK; i++)
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			status =
				nk_fail(err, NK_VALUE, "Enum categories must be unique; found duplicate '%s'", sorted[i]);
	free(sorted);
	return status;
}

static nk_status parse_enum(parser *p, const nk_dtype **out, nk_error *err)
{
	char **texts = NULL;
	int64_t n = 0, capacity = 0;
	nk_status status = NK_OK;
	while (status == NK_OK && !accept(p, "]")) {
		if (n && !accept(p, ",")) {
			status = parse_fail(p, err);
			break;
		}
		if (n == capacity) {
			capacity = capacity * 2 + 8;
			char **larger = realloc(texts, (size_t)capacity * sizeof *larger);
			if (!larger) {
				status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for categories");
				break;
			}
			texts = larger;
		}
		status = parse_name(p, &texts[n], err);
		n += status == NK_OK;
	}
	if (status == NK_OK)
		status = check_unique(texts, n, err);
	if (status == NK_OK)
		status = checked(nk_dtype_enum((const char *const *)texts, n), out, err);
	for (int64_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
	return status;
}

static nk_status parse_parameters(parser *p, const nk_dtype **out, nk_error *err)
{
	if (accept(p, "List(")) {
		const nk_dtype *item;
		NK_TRY(parse_dtype(p, &item, err));
		return accept(p, ")") ? checked(nk_dtype_list(item), out, err) : parse_fail(p, err);
	}
	if (accept(p, "Array(")) {
		const nk_dtype *item;
		char *end;
		NK_TRY(parse_dtype(p, &item, err));
		if (!accept(p, ", ") || *p->at < '0' || *p->at > '9')
			return parse_fail(p, err);
		long long width = strtoll(p->at, &end, 10);
		p->at = end;
		if (width > INT32_MAX || !accept(p, ")"))
			return parse_fail(p, err);
		return checked(nk_dtype_array(item, width), out, err);
	}
	if (accept(p, "Enum["))
		return parse_enum(p, out, err);
	if (accept(p, "Categorical"))
		return parse_categorical(p, out, err);
	if (accept(p, "Struct{"))
		return parse_struct(p, out, err);
	if (accept(p, "Datetime("))
		return parse_datetime(p, out, err);
	if (accept(p, "Duration(")) {
		nk_time_unit unit;
		if (!accept_unit(p, &unit) || !accept(p, ")"))
			return parse_fail(p, err);
		return checked(nk_dtype_duration(unit), out, err);
	}
	if (accept(p, "Decimal(")) {
		int precision, scale;
		if (!accept_number(p, &precision) || !accept(p, ",") || !accept_number(p, &scale) ||
		    !accept(p, ")") || precision < 1 || precision > 38 || scale > precision)
			return parse_fail(p, err);
		return checked(nk_dtype_decimal(precision, scale), out, err);
	}
	return parse_fail(p, err);
}

static nk_status parse_dtype(parser *p, const nk_dtype **out, nk_error *err)
{
	if (++p->depth > NK_DTYPE_MAX_DEPTH)
		return nk_fail(err, NK_INVALID_OPERATION, "a dtype nested more than %d deep", NK_DTYPE_MAX_DEPTH);
	while (*p->at == ' ')
		p->at++;
	size_t n_word = strspn(p->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
	for (int id = 0; id < NK_TYPE_N; id++) {
		const char *text = plain[id].dtype.text;
		if (text && strlen(text) == n_word && strncmp(p->at, text, n_word) == 0) {
			p->at += n_word;
			*out = &plain[id].dtype;
			p->depth--;
			return NK_OK;
		}
	}
	NK_TRY(parse_parameters(p, out, err));
	p->depth--;
	return NK_OK;
}

nk_status nk_dtype_parse(const char *text, const nk_dtype **out, nk_error *err)
{
	parser p = {.whole = text, .at = text};
	const nk_dtype *dtype;
	NK_TRY(parse_dtype(&p, &dtype, err));
	if (!accept(&p, "") || *p.at)
		return parse_fail(&p, err);
	*out = dtype;
	return NK_OK;
}

/* ---- Properties ---- */

const char *nk_dtype_short_name(const nk_dtype *dtype) { return ((const interned *)dtype)->short_name; }

int nk_dtype_depth(const nk_dtype *dtype)
{
	int deepest = 0;
	for (int i = 0; i < dtype->n_fields; i++)
		deepest = NK_MAX(deepest, nk_dtype_depth(dtype->fields[i].dtype));
	return deepest + 1;
}

int nk_physical_size(nk_physical physical)
{
	static const uint8_t sizes[NK_PHYSICAL_N] = {
		[NK_PHYSICAL_I8] = 1,    [NK_PHYSICAL_I16] = 2, [NK_PHYSICAL_I32] = 4, [NK_PHYSICAL_I64] = 8,
		[NK_PHYSICAL_I128] = 16, [NK_PHYSICAL_U8] = 1,  [NK_PHYSICAL_U16] = 2, [NK_PHYSICAL_U32] = 4,
		[NK_PHYSICAL_U64] = 8,   [NK_PHYSICAL_F32] = 4, [NK_PHYSICAL_F64] = 8, [NK_PHYSICAL_VIEW] = 16,
	};
	return sizes[physical];
}

int64_t nk_unit_per_second(nk_time_unit unit)
{
	static const int64_t per_second[] = {1000, 1000000, 1000000000};
	return per_second[unit];
}

#define E18 1000000000000000000
__int128 nk_power_of_ten(int exponent)
{
	NK_ASSERT(exponent >= 0 && exponent <= 38);
	static const int64_t small[19] = {
		1,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		E18,
	};
	if (exponent <= 18)
		return small[exponent];
	if (exponent <= 36)
		return (__int128)small[exponent - 18] * E18;
	return (__int128)small[exponent - 36] * E18 * E18;
}
