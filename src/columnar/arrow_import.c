/* Arrays from the Arrow C data interface. Every buffer taken over keeps the whole foreign array alive through a
 * counted holder, so values are shared wherever their layout is ours: what is copied is 32-bit offsets, units that
 * are rescaled, bitmaps that do not start on a byte, and 128-bit decimals, which shrink to 64 bits when all fit.
 * The interface tells no buffer sizes, so lengths are trusted; positions read from values are checked. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/arrow.h"
#include "columnar/categories.h"

typedef struct holder {
	int64_t n_references;
	struct ArrowArray array;
} holder;

static void holder_unref(void *pointer)
{
	holder *held = pointer;
	if (__atomic_fetch_sub(&held->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	if (held->array.release)
		held->array.release(&held->array);
	free(held);
}

/* Rows [offset, offset + n_rows) of an Arrow array, offsets of the array and its parents included. */
typedef struct part {
	nk_memory *memory;
	holder *held;
	const struct ArrowArray *array;
	const struct ArrowSchema *schema;
	const nk_dtype *dtype;
	int64_t offset, n_rows;
} part;

static nk_status share(const part *from, const void *bytes, int64_t n_bytes, nk_buffer **out, nk_error *err)
{
	__atomic_fetch_add(&from->held->n_references, 1, __ATOMIC_RELAXED);
	return nk_buffer_wrap(bytes, n_bytes, holder_unref, from->held, out, err);
}

static nk_status bad(const part *from, nk_error *err, const char *what)
{
	return nk_fail(err, NK_COMPUTE, "an invalid Arrow array of format \"%s\": %s", from->schema->format,
	               what);
}

/* Buffer i of an array that must have n_buffers; empty arrays may leave it out. */
static nk_status buffer_at(const part *from, int i, const void **out, nk_error *err)
{
	if (from->array->n_buffers <= i)
		return bad(from, err, "too few buffers");
	*out = from->array->buffers[i];
	if (!*out && from->n_rows > 0)
		return bad(from, err, "a buffer is missing");
	return NK_OK;
}

static nk_status import_bits(const part *from, const uint8_t *bits, nk_buffer **out, nk_error *err)
{
	if (bits && (from->offset & 7) == 0)
		return share(from, bits + (from->offset >> 3), nk_bitmap_bytes(from->n_rows), out, err);
	NK_TRY(nk_buffer_new(from->memory, nk_bitmap_bytes(from->n_rows), out, err));
	if (from->n_rows)
		nk_bitmap_copy((*out)->bytes, bits, from->offset, from->n_rows);
	return NK_OK;
}

static nk_status import_validity(const part *from, nk_buffer **out, int64_t *n_nulls, nk_error *err)
{
	*out = NULL;
	*n_nulls = 0;
	if (from->array->n_buffers < 1 || !from->array->buffers[0] || from->array->null_count == 0)
		return NK_OK;
	const uint8_t *bits = from->array->buffers[0];
	*n_nulls = from->n_rows - nk_bitmap_count(bits, from->offset, from->n_rows);
	return *n_nulls ? import_bits(from, bits, out, err) : NK_OK;
}

/* ---- Fixed width ---- */

static nk_status import_fixed(const part *from, int n_bytes_each, nk_buffer **out, nk_error *err)
{
	const void *values = NULL;
	NK_TRY(buffer_at(from, 1, &values, err));
	int64_t n_bytes = from->n_rows * n_bytes_each;
	const uint8_t *begin = values ? (const uint8_t *)values + from->offset * n_bytes_each : NULL;
	if (begin && (uintptr_t)begin % (uintptr_t)n_bytes_each == 0)
		return share(from, begin, n_bytes, out, err);
	NK_TRY(nk_buffer_new(from->memory, n_bytes, out, err));
	if (n_bytes)
		memcpy((*out)->bytes, begin, (size_t)n_bytes);
	return NK_OK;
}

/* Integers of n_bytes_each times `factor` as 64 bits. Rows under null may overflow: they wrap. */
static nk_status import_scaled(const part *from, const nk_buffer *validity, int n_bytes_each, int64_t factor,
                               nk_buffer **out, nk_error *err)
{
	const void *values = NULL;
	NK_TRY(buffer_at(from, 1, &values, err));
	NK_TRY(nk_buffer_new(from->memory, from->n_rows * (int64_t)sizeof(int64_t), out, err));
	int64_t *to = (int64_t *)(void *)(*out)->bytes;
	for (int64_t i = 0; i < from->n_rows; i++) {
		int32_t narrow;
		int64_t value;
		if (n_bytes_each == 4) {
			memcpy(&narrow, (const char *)values + (from->offset + i) * 4, 4);
			value = narrow;
		} else {
			memcpy(&value, (const char *)values + (from->offset + i) * 8, 8);
		}
		if (__builtin_mul_overflow(value, factor, &to[i]) && (!validity || nk_bitmap_get(validity->bytes, i)))
			return nk_fail(err, NK_OVERFLOW, "a time of %lld seconds does not fit into milliseconds",
			               (long long)value);
	}
	return NK_OK;
}

/* Decimals of 128 or 256 bits: 64-bit values when all fit, else 128-bit ones. */
static nk_status import_wide_decimal(const part *from, const nk_buffer *validity, int n_words,
                                     nk_buffer **out, nk_physical *physical, nk_error *err)
{
	const void *values = NULL;
	NK_TRY(buffer_at(from, 1, &values, err));
	const char *begin = values ? (const char *)values + from->offset * n_words * 8 : NULL;
	uint64_t misfits = 0, overflow = 0;
	for (int64_t i = 0; i < from->n_rows; i++) {
		uint64_t words[4] = {0};
		memcpy(words, begin + i * n_words * 8, (size_t)n_words * 8);
		bool valid = !validity || nk_bitmap_get(validity->bytes, i);
		uint64_t sign = (uint64_t)((int64_t)words[0] >> 63), sign_wide = (uint64_t)((int64_t)words[1] >> 63);
		misfits |= valid ? words[1] ^ sign : 0;
		if (n_words == 4)
			overflow |= valid ? (words[2] ^ sign_wide) | (words[3] ^ sign_wide) : 0;
	}
	if (overflow)
		return nk_fail(err, NK_OVERFLOW, "a 256-bit decimal does not fit into 128 bits");
	*physical = misfits ? NK_PHYSICAL_I128 : NK_PHYSICAL_I64;
	if (misfits && n_words == 2)
		return import_fixed(from, 16, out, err);
	int n_kept = misfits ? 2 : 1;
	NK_TRY(nk_buffer_new(from->memory, from->n_rows * n_kept * 8, out, err));
	for (int64_t i = 0; i < from->n_rows; i++)
		memcpy((*out)->bytes + i * n_kept * 8, begin + i * n_words * 8, (size_t)n_kept * 8);
	return NK_OK;
}

static nk_status import_decimal(const part *from, const nk_buffer *validity, nk_buffer **out,
                                nk_physical *physical, nk_error *err)
{
	const char *comma = strchr(from->schema->format, ',');
	comma = comma ? strchr(comma + 1, ',') : NULL;
	int n_bits = comma ? atoi(comma + 1) : 128;
	*physical = NK_PHYSICAL_I64;
	if (n_bits == 32)
		return import_scaled(from, validity, 4, 1, out, err);
	if (n_bits == 64)
		return import_fixed(from, 8, out, err);
	return import_wide_decimal(from, validity, n_bits / 64, out, physical, err);
}

static nk_status import_values(const part *from, const nk_buffer *validity, nk_buffer **out,
                               nk_physical *physical, nk_error *err)
{
	const char *format = from->schema->format;
	*physical = from->dtype->physical;
	if (from->dtype->id == NK_TYPE_DECIMAL)
		return import_decimal(from, validity, out, physical, err);
	if (*physical == NK_PHYSICAL_BOOL) {
		const void *bits = NULL;
		NK_TRY(buffer_at(from, 1, &bits, err));
		return import_bits(from, bits, out, err);
	}
	if (strcmp(format, "tts") == 0)
		return import_scaled(from, validity, 4, 1000000000, out, err);
	if (strcmp(format, "ttm") == 0)
		return import_scaled(from, validity, 4, 1000000, out, err);
	if (strcmp(format, "ttu") == 0)
		return import_scaled(from, validity, 8, 1000, out, err);
	if (strncmp(format, "tss", 3) == 0 || strcmp(format, "tDs") == 0)
		return import_scaled(from, validity, 8, 1000, out, err);
	return import_fixed(from, nk_physical_size(*physical), out, err);
}

/* Times that no day has are null, as in Polars. */
static nk_status drop_beyond_a_day(const part *from, const nk_buffer *values, nk_buffer **validity,
                                   int64_t *n_nulls, nk_error *err)
{
	const uint64_t n_day = 86400000000000;
	const uint64_t *times = (const uint64_t *)(const void *)values->bytes;
	bool is_beyond = false;
	for (int64_t i = 0; i < from->n_rows; i++)
		is_beyond |= times[i] >= n_day;
	if (!is_beyond)
		return NK_OK;
	NK_AUTO(nk_buffer) kept = NULL;
	NK_TRY(nk_buffer_new_zeroed(from->memory, nk_bitmap_bytes(from->n_rows), &kept, err));
	*n_nulls = 0;
	for (int64_t i = 0; i < from->n_rows; i++) {
		bool is_valid = times[i] < n_day && (!*validity || nk_bitmap_get((*validity)->bytes, i));
		nk_bitmap_put(kept->bytes, i, is_valid);
		*n_nulls += !is_valid;
	}
	nk_buffer_unref(*validity);
	*validity = NK_STEAL(kept);
	return NK_OK;
}

/* ---- Strings ---- */

typedef struct heap_list {
	nk_buffer **buffers;
	int n_buffers;
} heap_list;

static void heap_list_release(heap_list *list)
{
	for (int i = 0; i < list->n_buffers; i++)
		nk_buffer_unref(list->buffers[i]);
	free(list->buffers);
}

static nk_status heap_list_add(heap_list *list, const part *from, const void *bytes, int64_t n_bytes,
                               nk_error *err)
{
	nk_buffer **larger = realloc(list->buffers, (size_t)(list->n_buffers + 1) * sizeof *larger);
	if (!larger)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a heap of %d buffers", list->n_buffers + 1);
	list->buffers = larger;
	NK_TRY(share(from, bytes, n_bytes, &larger[list->n_buffers], err));
	list->n_buffers++;
	return NK_OK;
}

static nk_status heap_list_finish(heap_list *list, nk_heap **out, nk_error *err)
{
	*out = NULL;
	if (list->n_buffers == 0)
		return NK_OK;
	int n_buffers = list->n_buffers;
	list->n_buffers = 0;
	return nk_heap_new(list->buffers, n_buffers, out, err);
}

/* Strings by 32- or 64-bit offsets become views into the same bytes. Views reach 2 GiB into a heap buffer, so
 * more bytes than that are shared as several buffers that begin at string borders. */
static nk_status import_offset_strings(const part *from, const nk_buffer *validity, bool large,
                                       nk_buffer **out, nk_heap **heap, nk_error *err)
{
	__attribute__((cleanup(heap_list_release))) heap_list list = {0};
	const void *offsets = NULL;
	NK_TRY(buffer_at(from, 1, &offsets, err));
	const char *bytes = from->array->n_buffers > 2 ? from->array->buffers[2] : NULL;
	const int32_t *narrow = (const int32_t *)offsets + from->offset;
	const int64_t *wide = (const int64_t *)offsets + from->offset;
	NK_TRY(nk_buffer_new(from->memory, from->n_rows * (int64_t)sizeof(nk_view), out, err));
	nk_view *views = (nk_view *)(void *)(*out)->bytes;
	int64_t last = from->n_rows == 0 ? 0 : large ? wide[from->n_rows] : narrow[from->n_rows], base = 0;
	for (int64_t i = 0; i < from->n_rows; i++) {
		int64_t begin = large ? wide[i] : narrow[i], end = large ? wide[i + 1] : narrow[i + 1];
		if (begin < 0 || end < begin || end > last || (end > begin && !bytes))
			return bad(from, err, "offsets out of order");
		int64_t n_bytes = end - begin;
		if (validity && !nk_bitmap_get(validity->bytes, i))
			n_bytes = 0;
		if (n_bytes > INT32_MAX)
			return bad(from, err, "a string of more than 2 GiB");
		if (n_bytes > NK_VIEW_INLINE && (list.n_buffers == 0 || end - base > INT32_MAX)) {
			base = begin;
			NK_TRY(heap_list_add(&list, from, bytes + base, NK_MIN(last - base, (int64_t)INT32_MAX), err));
		}
		views[i] = nk_view_make(n_bytes ? bytes + begin : "", (uint32_t)n_bytes,
		                        (uint32_t)(list.n_buffers - 1), (uint32_t)(begin - base));
	}
	return heap_list_finish(&list, heap, err);
}

/* Binaries of one width, which the format tells. */
static nk_status import_fixed_strings(const part *from, const nk_buffer *validity, nk_buffer **out,
                                      nk_heap **heap, nk_error *err)
{
	__attribute__((cleanup(heap_list_release))) heap_list list = {0};
	const void *values = NULL;
	int64_t n_bytes = atoll(from->schema->format + 2),
			first = 0; /* row at which the last heap buffer begins */
	if (n_bytes < 0 || n_bytes > INT32_MAX)
		return bad(from, err, "a binary of negative or enormous width");
	if (n_bytes > 0)
		NK_TRY(buffer_at(from, 1, &values, err));
	NK_TRY(nk_buffer_new(from->memory, from->n_rows * (int64_t)sizeof(nk_view), out, err));
	nk_view *views = (nk_view *)(void *)(*out)->bytes;
	const char *bytes = values ? (const char *)values + from->offset * n_bytes : "";
	for (int64_t i = 0; i < from->n_rows; i++) {
		if (validity && !nk_bitmap_get(validity->bytes, i)) {
			views[i] = (nk_view){0};
			continue;
		}
		if (n_bytes > NK_VIEW_INLINE && (list.n_buffers == 0 || (i - first + 1) * n_bytes > INT32_MAX)) {
			first = i;
			NK_TRY(heap_list_add(&list, from, bytes + first * n_bytes,
			                     NK_MIN((from->n_rows - first) * n_bytes, (int64_t)INT32_MAX), err));
		}
		views[i] = nk_view_make(bytes + i * n_bytes, (uint32_t)n_bytes, (uint32_t)(list.n_buffers - 1),
		                        (uint32_t)((i - first) * n_bytes));
	}
	return heap_list_finish(&list, heap, err);
}

enum { VIEW_FINE, VIEW_UNCLEAN, VIEW_WRONG };

/* Whether a foreign view may be used as it is, only needs its unused bytes cleared, or points nowhere. */
static int judge_view(const nk_view *view, const heap_list *list)
{
	if (view->n_bytes <= NK_VIEW_INLINE) {
		nk_view clean = nk_view_make(view->inlined, view->n_bytes, 0, 0);
		return memcmp(&clean, view, sizeof clean) ? VIEW_UNCLEAN : VIEW_FINE;
	}
	if (view->buffer >= (uint32_t)list->n_buffers)
		return VIEW_WRONG;
	const nk_buffer *buffer = list->buffers[view->buffer];
	if ((int64_t)view->offset + view->n_bytes > buffer->n_bytes)
		return VIEW_WRONG;
	return memcmp(buffer->bytes + view->offset, view->prefix, sizeof view->prefix) ? VIEW_WRONG : VIEW_FINE;
}

static nk_status import_views(const part *from, const nk_buffer *validity, nk_buffer **out, nk_heap **heap,
                              nk_error *err)
{
	__attribute__((cleanup(heap_list_release))) heap_list list = {0};
	int64_t n_variadic = from->array->n_buffers - 3;
	if (n_variadic < 0 || n_variadic > INT_MAX)
		return bad(from, err, "too few buffers");
	const int64_t *n_bytes = from->array->buffers[n_variadic + 2];
	for (int64_t i = 0; i < n_variadic; i++) {
		if (!n_bytes || n_bytes[i] < 0 || (n_bytes[i] > 0 && !from->array->buffers[i + 2]))
			return bad(from, err, "a buffer is missing");
		NK_TRY(heap_list_add(&list, from, from->array->buffers[i + 2], n_bytes[i], err));
	}
	/* Views need 8-byte alignment only, which Arrow promises of every buffer. */
	const void *values = NULL;
	NK_TRY(buffer_at(from, 1, &values, err));
	const nk_view *views = values ? (const nk_view *)values + from->offset : NULL;
	bool clean = true;
	for (int64_t i = 0; i < from->n_rows; i++) {
		int verdict = judge_view(&views[i], &list);
		clean &= verdict == VIEW_FINE;
		if (verdict == VIEW_WRONG && (!validity || nk_bitmap_get(validity->bytes, i)))
			return bad(from, err, "a string lies outside of its buffer");
	}
	if (clean && views) {
		NK_TRY(share(from, views, from->n_rows * (int64_t)sizeof *views, out, err));
		return heap_list_finish(&list, heap, err);
	}
	NK_TRY(nk_buffer_new(from->memory, from->n_rows * (int64_t)sizeof *views, out, err));
	nk_view *to = (nk_view *)(void *)(*out)->bytes;
	for (int64_t i = 0; i < from->n_rows; i++) {
		if (judge_view(&views[i], &list) == VIEW_WRONG)
			to[i] = (nk_view){0};
		else if (views[i].n_bytes <= NK_VIEW_INLINE)
			to[i] = nk_view_make(views[i].inlined, views[i].n_bytes, 0, 0);
		else
			to[i] = views[i];
	}
	return heap_list_finish(&list, heap, err);
}

static nk_status import_strings(const part *from, const nk_buffer *validity, nk_buffer **out, nk_heap **heap,
                                nk_error *err)
{
	char letter = from->schema->format[0];
	if (letter == 'v')
		return import_views(from, validity, out, heap, err);
	if (letter == 'w')
		return import_fixed_strings(from, validity, out, heap, err);
	return import_offset_strings(from, validity, letter == 'U' || letter == 'Z', out, heap, err);
}

/* ---- Nested ---- */

static nk_status import_part(const part *from, nk_array **out, nk_error *err);

/* Arrays one after another, each owned; there is room for n_room. */
typedef struct pieces {
	nk_array **arrays;
	int64_t n, n_room;
} pieces;

static void pieces_release(pieces *p)
{
	for (int64_t i = 0; i < p->n; i++)
		nk_array_unref(p->arrays[i]);
	free(p->arrays);
}

static nk_status pieces_reserve(pieces *p, int64_t n_room, nk_error *err)
{
	p->arrays = n_room <= INT32_MAX ? malloc(((size_t)n_room + 1) * sizeof(nk_array *)) : NULL;
	p->n_room = n_room;
	return p->arrays ? NK_OK
	                 : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow array of %lld pieces",
	                           (long long)n_room);
}

/* One flat array of them. */
static nk_status pieces_join(const part *from, pieces *p, const nk_dtype *dtype, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) joined = NULL;
	if (p->n == 0)
		NK_TRY(nk_array_new_null(from->memory, dtype, 0, &joined, err));
	else
		NK_TRY(nk_array_concat(from->memory, p->arrays, (int)p->n, &joined, err));
	return nk_array_flatten(from->memory, joined, out, err);
}

static nk_status child_part(const part *from, int i, int64_t offset, int64_t n_rows, part *out, nk_error *err)
{
	const struct ArrowArray *child = from->array->n_children > i ? from->array->children[i] : NULL;
	if (!child || from->schema->n_children <= i || child->offset < 0)
		return bad(from, err, "a child is missing");
	if (n_rows < 0)
		n_rows = child->length;
	if (offset + n_rows > child->length)
		return bad(from, err, "a child is too short");
	*out = *from;
	out->array = child;
	out->schema = from->schema->children[i];
	out->dtype = from->dtype->fields[i].dtype;
	out->offset = child->offset + offset;
	out->n_rows = n_rows;
	return NK_OK;
}

static int64_t integer_at(const void *values, bool wide, int64_t i)
{
	return wide ? ((const int64_t *)values)[i] : ((const int32_t *)values)[i];
}

/* List views: each row tells where its items begin and how many they are, in any order. Runs of neighbours stay together. */
static nk_status import_spans(const part *from, nk_buffer *validity, int64_t n_nulls, nk_array **out,
                              nk_error *err)
{
	NK_AUTO(nk_buffer) mask = validity;
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_array) items = NULL;
	NK_AUTO(nk_array) ordered = NULL;
	__attribute__((cleanup(pieces_release))) pieces parts = {0};
	part child;
	const void *begins = NULL, *lengths = NULL;
	bool wide = from->schema->format[2] == 'L';
	NK_TRY(child_part(from, 0, 0, -1, &child, err));
	NK_TRY(buffer_at(from, 1, &begins, err));
	NK_TRY(buffer_at(from, 2, &lengths, err));
	NK_TRY(import_part(&child, &items, err));
	NK_TRY(nk_buffer_new_zeroed(from->memory, (from->n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	NK_TRY(pieces_reserve(&parts, from->n_rows, err));
	int64_t *to = (int64_t *)(void *)offsets->bytes, run_begin = 0, run_end = 0;
	for (int64_t i = 0; i <= from->n_rows; i++) {
		bool is_row = i < from->n_rows, is_valid = is_row && (!mask || nk_bitmap_get(mask->bytes, i));
		int64_t begin = is_valid ? integer_at(begins, wide, from->offset + i) : run_end,
				n = is_valid ? integer_at(lengths, wide, from->offset + i) : 0;
		if (begin < 0 || n < 0 || begin > child.n_rows || n > child.n_rows - begin)
			return bad(from, err, "a list outside of the items");
		if (is_row)
			to[i + 1] = to[i] + n;
		if ((n > 0 && begin != run_end) || !is_row) {
			if (run_end > run_begin) {
				NK_TRY(nk_array_slice(from->memory, items, run_begin, run_end - run_begin,
				                      &parts.arrays[parts.n], err));
				parts.n++;
			}
			run_begin = begin;
			run_end = begin;
		}
		run_end += n;
	}
	NK_TRY(pieces_join(from, &parts, child.dtype, &ordered, err));
	return nk_array_new_list(from->dtype, from->n_rows, NK_STEAL(offsets), NK_STEAL(ordered), NK_STEAL(mask),
	                         n_nulls, out, err);
}

/* Run-end encoding: each value is that of the rows up to its end. */
static nk_status import_runs(const part *from, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) values = NULL;
	__attribute__((cleanup(pieces_release))) pieces parts = {0};
	const struct ArrowArray *array = from->array;
	if (array->n_children != 2 || from->schema->n_children != 2)
		return bad(from, err, "a child is missing");
	const struct ArrowArray *ends = array->children[0];
	part child = *from, run_ends = *from;
	child.array = array->children[1];
	child.schema = from->schema->children[1];
	child.offset = child.array->offset;
	child.n_rows = child.array->length;
	run_ends.array = ends;
	run_ends.n_rows = ends->length;
	const void *end_values = NULL;
	char letter = from->schema->children[0]->format[0];
	if (!strchr("sil", letter) || !letter)
		return bad(from, err, "ends of runs must be integers");
	if (ends->length > child.n_rows || ends->offset < 0)
		return bad(from, err, "more ends of runs than values");
	NK_TRY(buffer_at(&run_ends, 1, &end_values, err));
	NK_TRY(import_part(&child, &values, err));
	NK_TRY(pieces_reserve(&parts, ends->length, err));
	int64_t row = from->offset, end_row = from->offset + from->n_rows;
	for (int64_t i = 0; i < ends->length && row < end_row; i++) {
		int64_t k = ends->offset + i, end = letter == 's' ? ((const int16_t *)end_values)[k]
		                                                  : integer_at(end_values, letter == 'l', k);
		if (end <= row)
			continue;
		NK_AUTO(nk_array) one = NULL;
		end = NK_MIN(end, end_row);
		NK_TRY(nk_array_slice(from->memory, values, i, 1, &one, err));
		NK_TRY(nk_array_new_constant(from->memory, one, end - row, &parts.arrays[parts.n], err));
		parts.n++;
		row = end;
	}
	if (row < end_row)
		return bad(from, err, "the runs end before the rows");
	return pieces_join(from, &parts, from->dtype, out, err);
}

static nk_status import_list(const part *from, nk_buffer *validity, int64_t n_nulls, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_buffer) mask = validity;
	NK_AUTO(nk_buffer) offsets = NULL;
	NK_AUTO(nk_array) items = NULL;
	part child;
	const char *format = from->schema->format;
	NK_TRY(child_part(from, 0, 0, -1, &child, err));
	if (format[1] == 'L' && from->n_rows > 0) {
		const void *foreign = NULL;
		NK_TRY(buffer_at(from, 1, &foreign, err));
		const int64_t *begin = (const int64_t *)foreign + from->offset;
		NK_TRY(share(from, begin, (from->n_rows + 1) * (int64_t)sizeof *begin, &offsets, err));
	} else {
		NK_TRY(
			nk_buffer_new_zeroed(from->memory, (from->n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
		int64_t *to = (int64_t *)(void *)offsets->bytes;
		int64_t n_each = format[1] == 'w' ? atoll(format + 3) : 0;
		if (n_each < 0 || n_each > INT32_MAX)
			return bad(from, err, "a list of negative or enormous width");
		if (format[1] == 'w') {
			for (int64_t i = 0; i <= from->n_rows; i++)
				to[i] = (from->offset + i) * n_each;
		} else if (from->n_rows > 0) {
			const void *foreign = NULL;
			NK_TRY(buffer_at(from, 1, &foreign, err));
			for (int64_t i = 0; i <= from->n_rows; i++)
				to[i] = ((const int32_t *)foreign)[from->offset + i];
		}
	}
	const int64_t *positions = (const int64_t *)(const void *)offsets->bytes;
	for (int64_t i = 0; i < from->n_rows; i++)
		if (positions[i] < 0 || positions[i + 1] < positions[i] || positions[i + 1] > child.n_rows)
			return bad(from, err, "offsets outside of the items");
	NK_TRY(import_part(&child, &items, err));
	return nk_array_new_list(from->dtype, from->n_rows, NK_STEAL(offsets), NK_STEAL(items), NK_STEAL(mask),
	                         n_nulls, out, err);
}

static nk_status import_struct(const part *from, nk_buffer *validity, int64_t n_nulls, nk_array **out,
                               nk_error *err)
{
	int n_fields = from->dtype->n_fields;
	nk_status status = NK_OK;
	nk_array **fields = calloc((size_t)NK_MAX(n_fields, 1), sizeof *fields);
	if (!fields)
		status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a struct of %d fields", n_fields);
	for (int i = 0; i < n_fields && status == NK_OK; i++) {
		part child;
		status = child_part(from, i, from->offset, from->n_rows, &child, err);
		if (status == NK_OK)
			status = import_part(&child, &fields[i], err);
	}
	if (status == NK_OK) {
		status = nk_array_new_struct(from->dtype, from->n_rows, fields, validity, n_nulls, out, err);
	} else {
		for (int i = 0; fields && i < n_fields; i++)
			nk_array_unref(fields[i]);
		nk_buffer_unref(validity);
	}
	free(fields);
	return status;
}

/* ---- Dictionaries ---- */

static int64_t code_at(const void *codes, char format, int64_t i)
{
	switch (format) {
	case 'c': return ((const int8_t *)codes)[i];
	case 'C': return ((const uint8_t *)codes)[i];
	case 's': return ((const int16_t *)codes)[i];
	case 'S': return ((const uint16_t *)codes)[i];
	case 'i': return ((const int32_t *)codes)[i];
	case 'I': return ((const uint32_t *)codes)[i];
	default: return ((const int64_t *)codes)[i];
	}
}

/* A dictionary of strings is not ours to keep (it may hold nulls and repeat itself), so it is flattened. */
static nk_status import_dictionary(const part *from, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) entries = NULL;
	NK_AUTO(nk_array) encoded = NULL;
	NK_AUTO(nk_array) plain = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_buffer) codes = NULL;
	const char *format = from->schema->format;
	int64_t n_nulls;
	if (!format[0] || format[1] || !strchr("cCsSiIlL", format[0]))
		return bad(from, err, "dictionary codes must be integers");
	if (!from->array->dictionary || from->array->dictionary->offset < 0)
		return bad(from, err, "the dictionary is missing");
	if (nk_type_is_nested(from->dtype->id))
		return nk_fail(err, NK_INVALID_OPERATION, "a dictionary of %s is not supported", from->dtype->text);
	part values = *from;
	values.array = from->array->dictionary;
	values.schema = from->schema->dictionary;
	values.offset = values.array->offset;
	values.n_rows = values.array->length;
	if (nk_type_is_category(from->dtype->id))
		values.dtype = nk_dtype_of(NK_TYPE_STRING);
	NK_TRY(import_part(&values, &entries, err));
	if (entries->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(from->memory, from->dtype, from->n_rows, out, err);

	const void *foreign = NULL;
	NK_TRY(buffer_at(from, 1, &foreign, err));
	NK_TRY(nk_buffer_new(from->memory, from->n_rows * (int64_t)sizeof(uint32_t), &codes, err));
	NK_TRY(nk_buffer_new_zeroed(from->memory, nk_bitmap_bytes(from->n_rows), &validity, err));
	const uint8_t *bits = from->array->n_buffers && from->array->null_count ? from->array->buffers[0] : NULL;
	uint32_t *to = (uint32_t *)(void *)codes->bytes;
	for (int64_t i = 0; i < from->n_rows; i++) {
		int64_t code = code_at(foreign, format[0], from->offset + i);
		bool valid = !bits || nk_bitmap_get(bits, from->offset + i);
		if (valid && (code < 0 || code >= entries->n_rows || code > UINT32_MAX))
			return bad(from, err, "a code lies outside of the dictionary");
		to[i] = valid ? (uint32_t)code : 0;
		nk_bitmap_put(validity->bytes, i, valid && nk_array_is_valid(entries, code));
	}
	if (nk_type_is_category(from->dtype->id))
		return nk_categories_recode(from->memory, from->dtype, entries, to, from->n_rows, NK_STEAL(validity),
		                            out, err);
	n_nulls = from->n_rows - nk_bitmap_count(validity->bytes, 0, from->n_rows);
	NK_TRY(nk_array_with_validity(entries, NULL, 0, &plain, err));
	NK_TRY(nk_array_new_dictionary(NK_STEAL(plain), from->n_rows, NK_STEAL(codes), NK_STEAL(validity),
	                               n_nulls, &encoded, err));
	return nk_array_flatten(from->memory, encoded, out, err);
}

/* ---- Any array ---- */

static nk_status import_part(const part *from, nk_array **out, nk_error *err)
{
	if (from->n_rows < 0 || from->offset < 0 || from->array->length < 0)
		return bad(from, err, "a negative length or offset");
	if (from->schema->dictionary)
		return import_dictionary(from, out, err);
	if (from->dtype->id == NK_TYPE_NULL)
		return nk_array_new_null(from->memory, from->dtype, from->n_rows, out, err);
	NK_AUTO(nk_buffer) validity = NULL;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	nk_physical physical = from->dtype->physical;
	int64_t n_nulls;
	if (strcmp(from->schema->format, "+r") == 0)
		return import_runs(from, out, err);
	NK_TRY(import_validity(from, &validity, &n_nulls, err));
	if (physical == NK_PHYSICAL_LIST && from->schema->format[1] == 'v')
		return import_spans(from, NK_STEAL(validity), n_nulls, out, err);
	if (physical == NK_PHYSICAL_LIST)
		return import_list(from, NK_STEAL(validity), n_nulls, out, err);
	if (physical == NK_PHYSICAL_STRUCT)
		return import_struct(from, NK_STEAL(validity), n_nulls, out, err);
	if (physical == NK_PHYSICAL_VIEW)
		NK_TRY(import_strings(from, validity, &values, &heap, err));
	else
		NK_TRY(import_values(from, validity, &values, &physical, err));
	if (from->dtype->id == NK_TYPE_TIME)
		NK_TRY(drop_beyond_a_day(from, values, &validity, &n_nulls, err));
	return nk_array_new_flat(from->dtype, physical, from->n_rows, NK_STEAL(values), NK_STEAL(validity),
	                         n_nulls, NK_STEAL(heap), out, err);
}

nk_status nk_array_from_arrow(nk_memory *memory, struct ArrowArray *array, const struct ArrowSchema *schema,
                              nk_array **out, nk_error *err)
{
	holder *held = malloc(sizeof *held);
	if (!held) {
		array->release(array);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory to take over an Arrow array");
	}
	*held = (holder){.n_references = 1, .array = *array};
	array->release = NULL;
	part whole = {.memory = memory,
	              .held = held,
	              .array = &held->array,
	              .schema = schema,
	              .offset = held->array.offset,
	              .n_rows = held->array.length};
	nk_array *imported = NULL;
	nk_status status = nk_dtype_from_arrow(schema, &whole.dtype, err);
	if (status == NK_OK)
		status = import_part(&whole, &imported, err);
	holder_unref(held);
	if (status == NK_OK)
		*out = imported;
	return status;
}
