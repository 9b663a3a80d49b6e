/* One column at a time. Whatever the vector loops do not take - nulls, quotes, blanks, signs, exponents, long numbers - is
 * read by one careful function per kind of dtype, so that what is accepted does not depend on the instruction level. */
#include "io/csv/convert.h"

#include "columnar/parse.h"
#include "func/cast.h"
#include "io/csv/moment.h"

enum { SECONDS_PER_DAY = 86400 };

typedef enum reading { VALUE, IS_NULL, BAD } reading;

typedef struct job {
	const nk_csv_conversion *conversion;
	const nk_csv_options *options;
	const nk_csv_loops *loops;
	nk_memory *memory;
	const nk_csv_fields *fields;
	nk_csv_scratch *scratch;
	int64_t n_rows;
	nk_array *array;
	void *values;
	uint8_t *validity; /* NULL until there is a null */
	int64_t n_nulls;
	int64_t n_longs;
	const char *what;
} job;

/* ---- Nulls ---- */

static nk_status make_validity(job *j, nk_error *err)
{
	NK_AUTO(nk_buffer) bits = NULL;
	NK_TRY(nk_buffer_new(j->memory, nk_bitmap_bytes(j->n_rows), &bits, err));
	memset(bits->bytes, 0xff, (size_t)bits->n_bytes);
	if (j->n_rows & 7)
		bits->bytes[bits->n_bytes - 1] = (uint8_t)((1u << (j->n_rows & 7)) - 1);
	j->validity = bits->bytes;
	j->array->validity = bits->bytes;
	j->array->validity_buffer = NK_STEAL(bits);
	return NK_OK;
}

static nk_status set_null(job *j, int64_t row, nk_error *err)
{
	if (!j->validity)
		NK_TRY(make_validity(j, err));
	j->n_nulls += nk_bitmap_get(j->validity, row);
	nk_bitmap_clear(j->validity, row);
	int n_bytes = nk_physical_size(j->array->physical);
	if (n_bytes > 0)
		memset((uint8_t *)j->values + row * n_bytes, 0, (size_t)n_bytes);
	return NK_OK;
}

/* ---- Fields one by one ---- */

static nk_csv_field field_of(const job *j, int64_t row)
{
	uint32_t begin, n_bytes;
	nk_csv_field field;
	nk_csv_field_at(j->fields, row, &begin, &n_bytes);
	field.text = j->fields->text + begin;
	field.n_bytes = n_bytes;
	nk__csv_strip_return(&field);
	const nk_csv_marks *marks = &j->options->dialect.marks;
	field.is_quoted = marks->has_quote && field.n_bytes > 0 && field.text[0] == marks->quote;
	return field;
}

static bool is_null_text(const nk_csv_conversion *conversion, nk_csv_field field)
{
	nk__csv_strip_quotes(&field);
	for (int i = 0; i < conversion->n_nulls; i++) {
		const nk_csv_null *null = &conversion->nulls[i];
		if (null->n_bytes == field.n_bytes && memcmp(null->text, field.text, (size_t)field.n_bytes) == 0)
			return true;
	}
	return false;
}

/* The text of a number: without quotes and blanks before it, the comma of decimals turned into a point. False: null. */
static bool number_text(job *j, nk_csv_field field, bool has_point, const char **text, int64_t *n)
{
	nk__csv_strip_quotes(&field);
	nk__csv_skip_blanks(&field.text, &field.n_bytes);
	*text = (const char *)field.text;
	*n = field.n_bytes;
	if (has_point && j->options->decimal_comma && memchr(*text, ',', (size_t)*n)) {
		nk_text *copy = &j->scratch->text;
		copy->n_bytes = 0;
		nk_text_append(copy, *text, *n);
		if (copy->failed)
			return true; /* which does not parse with its comma */
		*(char *)memchr(copy->bytes, ',', (size_t)*n) = '.';
		*text = copy->bytes;
	}
	return *n > 0;
}

static reading read_integer(job *j, nk_csv_field field, __int128 *out)
{
	const char *text;
	int64_t n, narrow;
	if (!number_text(j, field, false, &text, &n))
		return IS_NULL;
	if (nk_parse_i64(text, n, &narrow)) {
		*out = narrow;
		return VALUE;
	}
	return nk_parse_i128(text, n, out) ? VALUE : BAD;
}

static reading read_boolean(nk_csv_field field, bool *out)
{
	nk__csv_strip_quotes(&field);
	if (field.n_bytes == 0)
		return IS_NULL;
	*out = field.n_bytes == 4 && strncasecmp((const char *)field.text, "true", 4) == 0;
	return *out || (field.n_bytes == 5 && strncasecmp((const char *)field.text, "false", 5) == 0) ? VALUE
	                                                                                              : BAD;
}

static reading read_decimal(job *j, nk_csv_field field, __int128 *out)
{
	const char *text;
	int64_t n;
	const nk_dtype *dtype = j->conversion->dtype;
	if (!number_text(j, field, true, &text, &n))
		return IS_NULL;
	if (j->options->decimal_comma && text == (const char *)field.text && memchr(text, '.', (size_t)n))
		return BAD;
	return nk_parse_decimal(text, n, dtype->precision, dtype->scale, out) ? VALUE : BAD;
}

/* Whether a date has the order of those seen before, and beside a time a year of four digits: 05/06/2024 must not mean
 * June next to 2024/05/06. */
static bool keeps_order(const nk_csv_conversion *conversion, nk_csv_field field)
{
	enum { YEAR_FIRST = 1, DAY_FIRST };
	int order = DAY_FIRST, seen = 0, n_digits = 0, n_parts = 0;
	bool is_date = conversion->dtype->id == NK_TYPE_DATE;
	nk__csv_skip_blanks(&field.text, &field.n_bytes);
	for (int64_t i = 0; i < field.n_bytes && field.text[i] != ' ' && field.text[i] != 'T'; i++) {
		bool is_digit = field.text[i] >= '0' && field.text[i] <= '9';
		n_digits = is_digit ? n_digits + 1 : 0;
		n_parts += !is_digit;
		if (n_digits == 4 && n_parts == 0)
			order = YEAR_FIRST;
	}
	if (order == DAY_FIRST && n_digits != 4 && !is_date && n_parts > 0)
		return false;
	return __atomic_compare_exchange_n(conversion->date_order, &seen, order, false, __ATOMIC_RELAXED,
	                                   __ATOMIC_RELAXED) ||
	       seen == order;
}

static reading read_moment(const nk_csv_conversion *conversion, nk_csv_field field, int64_t *out)
{
	const nk_dtype *dtype = conversion->dtype;
	nk_parsed moment;
	nk__csv_strip_quotes(&field);
	if (field.n_bytes == 0)
		return IS_NULL;
	if (dtype->id == NK_TYPE_TIME) {
		if (!nk__csv_time(field.text, field.n_bytes, &moment))
			return BAD;
		*out = moment.nanoseconds;
		return VALUE;
	}
	if (!nk__csv_moment(field.text, field.n_bytes, &moment) || !keeps_order(conversion, field))
		return BAD;
	if (dtype->id == NK_TYPE_DATE) {
		*out = moment.days;
		return moment.has_time ? BAD : VALUE;
	}
	int64_t seconds = moment.days * SECONDS_PER_DAY - (moment.has_offset ? moment.offset : 0);
	int64_t per_second = nk_unit_per_second(dtype->unit), ticks;
	int64_t of_day = moment.nanoseconds / (1000000000 / per_second);
	if (__builtin_mul_overflow(seconds, per_second, &ticks) || __builtin_add_overflow(ticks, of_day, out))
		return BAD;
	return VALUE;
}

/* ---- Text ---- */

static nk_view short_view(const uint8_t *text, int64_t n)
{
	nk_view view = {.n_bytes = (uint32_t)n};
	memcpy(view.inlined, text, (size_t)n);
	return view;
}

static void add_long(job *j, int64_t row, const uint8_t *text, int64_t n, bool is_escaped)
{
	j->scratch->longs[j->n_longs++] = (nk_csv_long){.row = (uint32_t)row,
	                                                .begin = (uint32_t)(text - j->fields->text),
	                                                .n_bytes = (uint32_t)n,
	                                                .is_escaped = is_escaped};
}

/* A String that the loops left: empty, quoted, or with a carriage return behind it. */
static reading read_string(job *j, nk_csv_field field, int64_t row)
{
	nk_view *view = (nk_view *)j->values + row;
	*view = (nk_view){0};
	if (field.n_bytes == 0)
		return j->options->keep_empty_strings ? VALUE : IS_NULL;
	bool is_escaped = false;
	uint8_t quote = j->options->dialect.marks.quote;
	if (field.is_quoted) {
		if (!nk__csv_is_well_quoted(field.text, field.n_bytes, quote)) {
			j->what = "the field is not properly quoted";
			return BAD;
		}
		nk__csv_strip_quotes(&field);
		is_escaped = memchr(field.text, quote, (size_t)field.n_bytes) != NULL;
	}
	if (field.n_bytes > NK_VIEW_INLINE || is_escaped)
		add_long(j, row, field.text, field.n_bytes, is_escaped);
	else
		*view = short_view(field.text, field.n_bytes);
	return VALUE;
}

/* Bytes that are no UTF-8, in a column whose text is checked value by value. */
static nk_status repair_strings(job *j, nk_error *err)
{
	NK_AUTO(nk_array) broken = j->array;
	j->array = NULL;
	const nk_view *views = broken->values;
	bool is_broken = false;
	for (int64_t i = 0; !is_broken && i < j->n_rows; i++)
		is_broken =
			!j->loops->is_utf8((const uint8_t *)nk_view_bytes(&views[i], broken->heap), views[i].n_bytes);
	if (!is_broken) {
		j->array = NK_STEAL(broken);
		return NK_OK;
	}
	nk_text *text = &j->scratch->text;
	int64_t n_bytes = 0;
	for (int64_t i = 0; i < j->n_rows; i++)
		n_bytes += 3 * (int64_t)views[i].n_bytes;
	NK_AUTO(nk_buffer) bytes = NULL;
	NK_AUTO(nk_buffer) out = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	NK_TRY(nk_buffer_new(j->memory, n_bytes, &bytes, err));
	NK_TRY(nk_buffer_new(j->memory, j->n_rows * (int64_t)sizeof *views, &out, err));
	if (n_bytes > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "too much text in one batch");
	uint32_t used = 0;
	for (int64_t i = 0; i < j->n_rows; i++) {
		text->n_bytes = 0;
		nk__csv_append_lossy(text, (const uint8_t *)nk_view_bytes(&views[i], broken->heap), views[i].n_bytes);
		if (text->failed)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for text");
		if (text->n_bytes > 0)
			memcpy(bytes->bytes + used, text->bytes, (size_t)text->n_bytes);
		((nk_view *)out->bytes)[i] =
			nk_view_make((const char *)bytes->bytes + used, (uint32_t)text->n_bytes, 0, used);
		used += text->n_bytes > NK_VIEW_INLINE ? (uint32_t)text->n_bytes : 0;
	}
	nk_buffer_shrink(bytes, used);
	nk_buffer *one = NK_STEAL(bytes);
	NK_TRY(nk_heap_new(&one, 1, &heap, err));
	return nk_array_new_flat(broken->dtype, NK_PHYSICAL_VIEW, j->n_rows, NK_STEAL(out),
	                         nk_buffer_ref(broken->validity_buffer), broken->n_nulls, NK_STEAL(heap),
	                         &j->array, err);
}

/* Copy long texts into one heap buffer of their size. */
static nk_status place_longs(job *j, nk_error *err)
{
	enum { SLOP = 32 };
	const nk_csv_long *longs = j->scratch->longs;
	int64_t n_bytes = 0;
	for (int64_t i = 0; i < j->n_longs; i++)
		n_bytes += longs[i].n_bytes;
	if (n_bytes == 0)
		return NK_OK;
	if (n_bytes > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "more than 4 GiB of text in one batch");
	NK_AUTO(nk_buffer) heap = NULL;
	NK_TRY(nk_buffer_new(j->memory, n_bytes + SLOP, &heap, err));
	nk_view *views = j->values;
	uint8_t *to = heap->bytes;
	for (int64_t i = 0; i < j->n_longs; i++) {
		const uint8_t *from = j->fields->text + longs[i].begin;
		int64_t n = longs[i].n_bytes;
		if (longs[i].is_escaped) {
			n = nk__csv_unescape(to, from, n, j->options->dialect.marks.quote);
		} else if (n <= SLOP) {
			memcpy(to, from, SLOP);
		} else {
			memcpy(to, from, (size_t)n);
		}
		views[longs[i].row] = nk_view_make((const char *)to, (uint32_t)n, 0, (uint32_t)(to - heap->bytes));
		to += n > NK_VIEW_INLINE ? n : 0;
	}
	nk_buffer_shrink(heap, to - heap->bytes);
	nk_buffer *one = NK_STEAL(heap);
	return nk_heap_new(&one, 1, &j->array->heap, err);
}

/* ---- Tiles ---- */

static bool put_integer(nk_physical physical, void *values, int64_t row, __int128 value)
{
	switch (physical) {
	case NK_PHYSICAL_I8: ((int8_t *)values)[row] = (int8_t)value; return value == (int8_t)value;
	case NK_PHYSICAL_I16: ((int16_t *)values)[row] = (int16_t)value; return value == (int16_t)value;
	case NK_PHYSICAL_I32: ((int32_t *)values)[row] = (int32_t)value; return value == (int32_t)value;
	case NK_PHYSICAL_I64: ((int64_t *)values)[row] = (int64_t)value; return value == (int64_t)value;
	case NK_PHYSICAL_U8: ((uint8_t *)values)[row] = (uint8_t)value; return value == (uint8_t)value;
	case NK_PHYSICAL_U16: ((uint16_t *)values)[row] = (uint16_t)value; return value == (uint16_t)value;
	case NK_PHYSICAL_U32: ((uint32_t *)values)[row] = (uint32_t)value; return value == (uint32_t)value;
	case NK_PHYSICAL_U64: ((uint64_t *)values)[row] = (uint64_t)value; return value == (uint64_t)value;
	default: ((__int128 *)values)[row] = value; return true;
	}
}

static reading read_one(job *j, nk_csv_field field, int64_t row)
{
	const nk_dtype *dtype = j->conversion->dtype;
	nk_physical physical = j->array->physical;
	const char *text;
	int64_t n, narrow;
	__int128 wide;
	bool truth;
	reading result;
	switch (dtype->id) {
	case NK_TYPE_BOOLEAN:
		result = read_boolean(field, &truth);
		if (result == VALUE)
			nk_bitmap_put(j->values, row, truth);
		return result;
	case NK_TYPE_FLOAT64:
	case NK_TYPE_FLOAT32:
		if (!number_text(j, field, true, &text, &n))
			return IS_NULL;
		if (dtype->id == NK_TYPE_FLOAT64)
			return nk_parse_f64(text, n, (double *)j->values + row) ? VALUE : BAD;
		return nk_parse_f32(text, n, (float *)j->values + row) ? VALUE : BAD;
	case NK_TYPE_STRING: return read_string(j, field, row);
	case NK_TYPE_DATE:
	case NK_TYPE_DATETIME:
	case NK_TYPE_TIME:
		result = read_moment(j->conversion, field, &narrow);
		return result == VALUE && !put_integer(physical, j->values, row, narrow) ? BAD : result;
	case NK_TYPE_DECIMAL:
		result = read_decimal(j, field, &wide);
		return result == VALUE && !put_integer(physical, j->values, row, wide) ? BAD : result;
	default:
		result = read_integer(j, field, &wide);
		return result == VALUE && !put_integer(physical, j->values, row, wide) ? BAD : result;
	}
}

/* Read a row that the loops left. */
static nk_status read_row(job *j, int64_t row, nk_csv_fault *fault, nk_error *err)
{
	nk_csv_field field = field_of(j, row);
	j->what = NULL;
	reading result =
		j->conversion->n_nulls > 0 && is_null_text(j->conversion, field) ? IS_NULL : read_one(j, field, row);
	if (result == VALUE)
		return NK_OK;
	if (result == BAD && !j->options->ignore_errors) {
		*fault = (nk_csv_fault){.row = row,
		                        .begin = (uint32_t)(field.text - j->fields->text),
		                        .n_bytes = (uint32_t)field.n_bytes,
		                        .what = j->what};
		return nk_fail(err, NK_COMPUTE, "a field could not be read");
	}
	if (j->conversion->dtype->id == NK_TYPE_STRING && result == IS_NULL && field.n_bytes == 0 &&
	    j->options->keep_empty_strings)
		return NK_OK;
	return set_null(j, row, err);
}

/* Integers of other widths, dates and decimals of small scale come out of the loops as int64. */
static int64_t narrow_integers(job *j, int64_t first, int64_t n, int64_t n_retry)
{
	const int64_t *from = j->scratch->integers;
	nk_physical physical = j->array->physical;
	uint32_t kept[NK_CSV_TILE];
	int64_t n_kept = 0, next = 0;
	for (int64_t i = 0; i < n; i++) {
		bool is_left = next < n_retry && j->scratch->retry[next] == i;
		next += is_left;
		if (is_left || !put_integer(physical, j->values, first + i, from[i]))
			kept[n_kept++] = (uint32_t)i;
	}
	memcpy(j->scratch->retry, kept, (size_t)n_kept * sizeof *kept);
	return n_kept;
}

/* digits * 10^-places to unscaled values; what does not fit exactly is left. */
static int64_t scale_decimals(job *j, int64_t first, int64_t n, int64_t n_retry)
{
	int scale = j->conversion->dtype->scale;
	int64_t limit = (int64_t)nk_power_of_ten(j->conversion->dtype->precision), n_kept = 0, next = 0;
	int64_t *to = (int64_t *)j->values + first;
	uint32_t kept[NK_CSV_TILE];
	for (int64_t i = 0; i < n; i++) {
		int missing = scale - j->scratch->places[i];
		bool is_left = next < n_retry && j->scratch->retry[next] == i;
		next += is_left;
		if (is_left || missing < 0 ||
		    __builtin_mul_overflow(j->scratch->integers[i], (int64_t)nk_power_of_ten(missing), &to[i]) ||
		    to[i] >= limit || to[i] <= -limit)
			kept[n_kept++] = (uint32_t)i;
	}
	memcpy(j->scratch->retry, kept, (size_t)n_kept * sizeof *kept);
	return n_kept;
}

static int64_t retry_all(job *j, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		j->scratch->retry[i] = (uint32_t)i;
	return n;
}

/* The vector loop of the dtype; how many rows it left in retry. */
static int64_t run_loop(job *j, int64_t first, int64_t n)
{
	nk_csv_scratch *scratch = j->scratch;
	const nk_csv_marks *marks = &j->options->dialect.marks;
	uint8_t point = j->options->decimal_comma ? ',' : '.';
	int64_t n_longs;
	switch (j->conversion->dtype->id) {
	case NK_TYPE_INT64:
		return j->loops->integers(j->fields, first, n, (int64_t *)j->values + first, scratch->retry);
	case NK_TYPE_INT8:
	case NK_TYPE_INT16:
	case NK_TYPE_INT32:
	case NK_TYPE_INT128:
	case NK_TYPE_UINT8:
	case NK_TYPE_UINT16:
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64:
		return narrow_integers(j, first, n,
		                       j->loops->integers(j->fields, first, n, scratch->integers, scratch->retry));
	case NK_TYPE_FLOAT64:
		return j->loops->doubles(j->fields, first, n, point, (double *)j->values + first, scratch->retry);
	case NK_TYPE_DECIMAL:
		if (j->array->physical != NK_PHYSICAL_I64)
			return retry_all(j, n);
		return scale_decimals(j, first, n,
		                      j->loops->decimals(j->fields, first, n, point, scratch->integers,
		                                         scratch->places, scratch->retry));
	case NK_TYPE_STRING: {
		nk_csv_long *longs = scratch->longs + j->n_longs;
		int64_t n_left = j->loops->views(j->fields, first, n, marks->has_quote ? marks->quote : -1,
		                                 (nk_view *)j->values + first, scratch->retry, longs, &n_longs);
		j->n_longs += n_longs;
		return n_left;
	}
	default: return retry_all(j, n);
	}
}

static nk_status convert_tile(job *j, int64_t first, int64_t n, nk_csv_fault *fault, nk_error *err)
{
	int64_t n_retry = run_loop(j, first, n);
	for (int64_t i = 0; i < n_retry; i++)
		NK_TRY(read_row(j, first + j->scratch->retry[i], fault, err));
	for (int64_t i = 0; j->conversion->n_nulls > 0 && i < n; i++)
		if (is_null_text(j->conversion, field_of(j, first + i)))
			NK_TRY(set_null(j, first + i, err));
	return NK_OK;
}

static nk_status convert(job *j, bool is_unchecked, nk_csv_fault *fault, nk_error *err)
{
	for (int64_t first = 0; first < j->n_rows; first += NK_CSV_TILE)
		NK_TRY(convert_tile(j, first, NK_MIN(j->n_rows - first, (int64_t)NK_CSV_TILE), fault, err));
	j->array->n_nulls = j->n_nulls;
	if (j->conversion->dtype->id != NK_TYPE_STRING)
		return NK_OK;
	NK_TRY(place_longs(j, err));
	for (int64_t i = 0; j->conversion->n_nulls > 0 && j->validity && i < j->n_longs; i++)
		if (!nk_bitmap_get(j->validity, j->scratch->longs[i].row))
			((nk_view *)j->values)[j->scratch->longs[i].row] = (nk_view){0};
	return is_unchecked ? repair_strings(j, err) : NK_OK;
}

nk_status nk__csv_convert(const nk_csv_conversion *conversion, nk_memory *memory, const nk_csv_fields *fields,
                          int64_t n_rows, bool is_unchecked, nk_csv_scratch *scratch, nk_array **out,
                          nk_csv_fault *fault, nk_error *err)
{
	const nk_dtype *dtype = conversion->dtype;
	if (nk_type_is_category(dtype->id)) {
		nk_csv_conversion text = *conversion;
		NK_AUTO(nk_array) texts = NULL;
		text.dtype = nk_dtype_of(NK_TYPE_STRING);
		NK_TRY(nk__csv_convert(&text, memory, fields, n_rows, is_unchecked, scratch, &texts, fault, err));
		nk_error bad;
		nk_status status = nk_cast(memory, texts, dtype, (nk_cast_mode){.strict = true}, out, &bad);
		/* A text that is no category is a field that cannot be read. */
		return status == NK_OK
		           ? NK_OK
		           : nk_fail(err, status == NK_INVALID_OPERATION ? NK_COMPUTE : status, "%s", bad.message);
	}
	job j = {.conversion = conversion,
	         .options = conversion->options,
	         .loops = NK_ISA_TABLE(nk__csv_loops),
	         .memory = memory,
	         .fields = fields,
	         .scratch = scratch,
	         .n_rows = n_rows};
	fault->row = -1;
	nk_physical physical =
		dtype->id == NK_TYPE_DECIMAL && dtype->precision <= 18 ? NK_PHYSICAL_I64 : dtype->physical;
	NK_TRY(nk_array_alloc(memory, dtype, physical, n_rows, false, &j.array, err));
	j.values = nk_array_values(j.array);
	nk_status status = convert(&j, is_unchecked, fault, err);
	if (status != NK_OK)
		nk_array_unref(j.array);
	else
		*out = j.array;
	return status;
}
