/* The C data interface tells no lengths of buffers, so everything that conversions rely on is checked here: buffers against
 * rows, the last offset against the text. Conversions check what they read one by one: the order of offsets, views, codes. */
#include "io/ipc/column.h"

#include <stdlib.h>
#include <string.h>

#include "columnar/categories.h"
#include "io/csv/kernels.h"

enum {
	ALIGNMENT = 8,
	LENGTH_BYTES = 8,
	MAX_RATIO = 1 << 16, /* no codec makes more of a byte */
};

/* What an Arrow array made here owns. */
typedef struct loaded {
	int n_owned;
	nk_buffer **owned;
	int64_t *n_heap_bytes; /* of views */
	struct ArrowArray *children;
	struct ArrowArray **child_pointers;
	const void *buffers[]; /* the arrays above lie behind */
} loaded;

typedef struct loader {
	const nk_ipc_bytes *from;
	const nk_ipc_batch *batch;
	nk_ipc_cursor at;
	nk_ipc_find_entries find;
	void *data;
} loader;

static nk_status damaged(nk_error *err, const char *what)
{
	return nk_fail(err, NK_COMPUTE, "damaged Arrow data: %s", what);
}

static void release_loaded(struct ArrowArray *array)
{
	loaded *l = array->private_data;
	for (int i = 0; i < l->n_owned; i++)
		nk_buffer_unref(l->owned[i]);
	for (int64_t i = 0; i < array->n_children; i++)
		if (l->children[i].release)
			l->children[i].release(&l->children[i]);
	if (array->dictionary) {
		if (array->dictionary->release)
			array->dictionary->release(array->dictionary);
		free(array->dictionary);
	}
	free(l);
	array->release = NULL;
}

/* ---- Buffers ---- */

static void unref_buffer(void *buffer) { nk_buffer_unref(buffer); }

static nk_status decompress(const loader *l, const uint8_t *in, int64_t n_in, nk_buffer **out, nk_error *err)
{
	int64_t n_out = nk_fb_load64(in), ns_start = nk_now_ns();
	if (n_out < 0 || n_out / MAX_RATIO > n_in)
		return damaged(err, "a compressed buffer of negative or impossible length");
	NK_TRY(nk_buffer_new(l->from->memory, n_out, out, err));
	NK_TRY(nk__codec_decompress(l->batch->codec, in + LENGTH_BYTES, n_in - LENGTH_BYTES, (*out)->bytes, n_out,
	                            err));
	nk_count(&l->from->counters->n_bytes_decompressed, n_out);
	nk_count(&l->from->counters->ns_decompress, nk_now_ns() - ns_start);
	return NK_OK;
}

static void swap_words(uint8_t *bytes, int64_t n_bytes, int n_word)
{
	for (int64_t i = 0; i + n_word <= n_bytes; i += n_word)
		for (int k = 0; k < n_word / 2; k++) {
			uint8_t byte = bytes[i + k];
			bytes[i + k] = bytes[i + n_word - 1 - k];
			bytes[i + n_word - 1 - k] = byte;
		}
}

/* The next buffer, aligned and in this machine's byte order; n_swapped bytes make a word. */
static nk_status take_buffer(loader *l, int n_swapped, nk_buffer **out, nk_error *err)
{
	const nk_ipc_batch *batch = l->batch;
	if (l->at.buffer >= batch->n_buffers)
		return damaged(err, "a record batch has too few buffers");
	const uint8_t *place = batch->buffers + 16 * l->at.buffer++;
	int64_t offset = nk_fb_load64(place), n_bytes = nk_fb_load64(place + 8);
	if (offset < 0 || n_bytes < 0 || offset > batch->n_body || n_bytes > batch->n_body - offset)
		return damaged(err, "a buffer lies outside of its record batch");
	NK_AUTO(nk_buffer) buffer = NULL;
	const uint8_t *bytes = l->from->whole->bytes + batch->body + offset;
	nk_count(&l->from->counters->n_bytes_read, n_bytes);
	if (batch->is_compressed && n_bytes > 0) {
		if (n_bytes < LENGTH_BYTES)
			return damaged(err, "a compressed buffer without its length");
		if (nk_fb_load64(bytes) == -1) {
			bytes += LENGTH_BYTES;
			n_bytes -= LENGTH_BYTES;
		} else {
			NK_TRY(decompress(l, bytes, n_bytes, &buffer, err));
		}
	}
	bool is_swapped = l->from->is_swapped && n_swapped > 1;
	if (!buffer && ((uintptr_t)bytes % ALIGNMENT || is_swapped)) {
		NK_TRY(nk_buffer_new(l->from->memory, n_bytes, &buffer, err));
		if (n_bytes > 0)
			memcpy(buffer->bytes, bytes, (size_t)n_bytes);
	}
	if (is_swapped)
		swap_words(buffer->bytes, buffer->n_bytes, n_swapped);
	if (!buffer)
		NK_TRY(nk_buffer_wrap(bytes, n_bytes, unref_buffer, nk_buffer_ref(l->from->whole), &buffer, err));
	*out = NK_STEAL(buffer);
	return NK_OK;
}

/* The next buffer as buffer i of an array; it must have n_least bytes. */
static nk_status put_buffer(loader *l, struct ArrowArray *array, int i, int n_swapped, int64_t n_least,
                            nk_error *err)
{
	loaded *owner = array->private_data;
	NK_TRY(take_buffer(l, n_swapped, &owner->owned[i], err));
	owner->n_owned = i + 1;
	const nk_buffer *buffer = owner->owned[i];
	if (buffer->n_bytes < n_least)
		return nk_fail(err, NK_COMPUTE, "damaged Arrow data: a buffer of %lld bytes where the rows need %lld",
		               (long long)buffer->n_bytes, (long long)n_least);
	owner->buffers[i] = buffer->n_bytes > 0 ? buffer->bytes : NULL;
	return NK_OK;
}

static nk_status put_validity(loader *l, struct ArrowArray *array, nk_error *err)
{
	if (array->null_count != 0)
		return put_buffer(l, array, 0, 0, nk_bitmap_bytes(array->length), err);
	loaded *owner = array->private_data;
	if (l->at.buffer++ >= l->batch->n_buffers)
		return damaged(err, "a record batch has too few buffers");
	owner->n_owned = 1; /* which is NULL */
	return NK_OK;
}

/* Offsets as buffer 1, which no rows may leave out. The last one is *end. */
static nk_status put_offsets(loader *l, struct ArrowArray *array, int n_bytes_each, int64_t *end,
                             nk_error *err)
{
	int64_t n_rows = array->length;
	NK_TRY(put_buffer(l, array, 1, n_bytes_each, n_rows > 0 ? (n_rows + 1) * n_bytes_each : 0, err));
	*end = 0;
	if (n_rows > 0)
		*end = n_bytes_each == 4 ? ((const int32_t *)array->buffers[1])[n_rows]
		                         : ((const int64_t *)array->buffers[1])[n_rows];
	return *end < 0 ? damaged(err, "a negative offset") : NK_OK;
}

static nk_status put_views(loader *l, struct ArrowArray *array, int64_t n_heap, nk_error *err)
{
	loaded *owner = array->private_data;
	if (l->from->is_swapped)
		return nk_fail(err, NK_INVALID_OPERATION, "string views in the other byte order are not supported");
	NK_TRY(put_buffer(l, array, 1, 0, array->length * 16, err));
	for (int64_t i = 0; i < n_heap; i++) {
		NK_TRY(put_buffer(l, array, (int)i + 2, 0, 0, err));
		owner->n_heap_bytes[i] = owner->owned[i + 2]->n_bytes;
	}
	owner->buffers[n_heap + 2] = owner->n_heap_bytes;
	return NK_OK;
}

static nk_status put_buffers(loader *l, const nk_ipc_field *field, struct ArrowArray *array, int64_t n_heap,
                             nk_error *err)
{
	int64_t end, n_rows = array->length;
	if (field->layout == NK_IPC_NULL || field->layout == NK_IPC_RUNS)
		return NK_OK;
	NK_TRY(put_validity(l, array, err));
	switch (field->layout) {
	case NK_IPC_BITS: return put_buffer(l, array, 1, 0, nk_bitmap_bytes(n_rows), err);
	case NK_IPC_FIXED:
		return put_buffer(l, array, 1, field->n_bytes_swapped, n_rows * field->n_bytes_each, err);
	case NK_IPC_VIEWS: return put_views(l, array, n_heap, err);
	case NK_IPC_OFFSETS: return put_offsets(l, array, field->n_bytes_each, &end, err);
	case NK_IPC_TEXT:
		NK_TRY(put_offsets(l, array, field->n_bytes_each, &end, err));
		return put_buffer(l, array, 2, 0, end, err);
	case NK_IPC_SPANS:
		for (int i = 1; i <= 2; i++)
			NK_TRY(put_buffer(l, array, i, field->n_bytes_each, n_rows * field->n_bytes_each, err));
		return NK_OK;
	default: return NK_OK;
	}
}

/* ---- Nodes ---- */

static nk_status take_node(loader *l, int64_t *n_rows, int64_t *n_nulls, nk_error *err)
{
	if (l->at.node >= l->batch->n_nodes)
		return damaged(err, "a record batch has too few columns");
	const uint8_t *node = l->batch->nodes + 16 * l->at.node++;
	*n_rows = nk_fb_load64(node);
	*n_nulls = nk_fb_load64(node + 8);
	return *n_rows < 0 || *n_rows >> 48 ? damaged(err, "a column of negative length") : NK_OK;
}

static nk_status take_variadic(loader *l, const nk_ipc_field *field, int64_t *n, nk_error *err)
{
	*n = 0;
	if (field->layout != NK_IPC_VIEWS)
		return NK_OK;
	if (l->at.variadic >= l->batch->n_variadic)
		return damaged(err, "a column of views without a count of buffers");
	*n = nk_fb_load64(l->batch->variadic + 8 * l->at.variadic++);
	return *n < 0 || *n > l->batch->n_buffers - l->at.buffer ? damaged(err, "a wrong count of buffers")
	                                                         : NK_OK;
}

/* An array with room for its buffers and children. */
static nk_status make_array(const nk_ipc_field *field, int64_t n_heap, struct ArrowArray *out, nk_error *err)
{
	int64_t n_buffers = field->n_buffers;
	for (int i = 0; i < field->n_children; i++)
		n_buffers -= field->children[i].n_buffers;
	n_buffers += field->layout == NK_IPC_VIEWS ? n_heap + 1 : 0;
	size_t n = (size_t)n_buffers, n_children = (size_t)field->n_children;
	loaded *l =
		calloc(1, sizeof *l + n * (sizeof(void *) + sizeof(nk_buffer *)) + (size_t)n_heap * sizeof(int64_t) +
	                  n_children * (sizeof(struct ArrowArray) + sizeof(struct ArrowArray *)));
	if (!l)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column");
	l->owned = (nk_buffer **)(l->buffers + n);
	l->n_heap_bytes = (int64_t *)(l->owned + n);
	l->children = (struct ArrowArray *)(l->n_heap_bytes + n_heap);
	l->child_pointers = (struct ArrowArray **)(l->children + n_children);
	*out = (struct ArrowArray){.n_buffers = n_buffers,
	                           .buffers = l->buffers,
	                           .n_children = field->n_children,
	                           .children = l->child_pointers,
	                           .release = release_loaded,
	                           .private_data = l};
	for (size_t i = 0; i < n_children; i++)
		l->child_pointers[i] = &l->children[i];
	return NK_OK;
}

static nk_status attach_entries(loader *l, const nk_ipc_field *field, struct ArrowArray *array, nk_error *err)
{
	const nk_ipc_entries *entries;
	NK_TRY(l->find(l->data, field->dictionary, &entries, err));
	array->dictionary = calloc(1, sizeof *array->dictionary);
	if (!array->dictionary)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dictionary");
	return nk_array_to_arrow(l->from->memory, entries->all, array->dictionary, err);
}

static nk_status load_node(loader *l, const nk_ipc_field *field, bool is_top, struct ArrowArray *out,
                           nk_error *err)
{
	int64_t n_rows, n_nulls, n_heap;
	NK_TRY(take_node(l, &n_rows, &n_nulls, err));
	NK_TRY(take_variadic(l, field, &n_heap, err));
	NK_TRY(make_array(field, n_heap, out, err));
	out->length = n_rows;
	out->null_count = n_nulls;
	nk_status status = put_buffers(l, field, out, n_heap, err);
	for (int i = 0; status == NK_OK && i < field->n_children; i++)
		status = load_node(l, &field->children[i], false, out->children[i], err);
	if (status == NK_OK && field->values && !is_top)
		status = attach_entries(l, field, out, err);
	if (status != NK_OK)
		release_loaded(out);
	return status;
}

nk_status nk__ipc_load(const nk_ipc_bytes *from, const nk_ipc_batch *batch, const nk_ipc_field *field,
                       nk_ipc_cursor cursor, nk_ipc_find_entries find, void *data, struct ArrowArray *out,
                       nk_error *err)
{
	loader l = {.from = from, .batch = batch, .at = cursor, .find = find, .data = data};
	struct ArrowArray array;
	NK_TRY(load_node(&l, field, true, &array, err));
	if (array.length != batch->n_rows) {
		release_loaded(&array);
		return damaged(err, "columns of different lengths");
	}
	*out = array;
	return NK_OK;
}

nk_status nk__ipc_cursor_skip(const nk_ipc_batch *batch, const nk_ipc_field *field, nk_ipc_cursor *cursor,
                              nk_error *err)
{
	cursor->node += field->n_nodes;
	cursor->buffer += field->n_buffers;
	for (int i = 0; i < field->n_variadic; i++) {
		if (cursor->variadic >= batch->n_variadic)
			return damaged(err, "a column of views without a count of buffers");
		int64_t n = nk_fb_load64(batch->variadic + 8 * cursor->variadic++);
		if (n < 0 || n > batch->n_buffers)
			return damaged(err, "a wrong count of buffers");
		cursor->buffer += n;
	}
	return NK_OK;
}

/* ---- Text ---- */

static bool is_continuation(const uint8_t *byte) { return (*byte & 0xc0) == 0x80; }

/* Neighbours in a heap buffer are checked as one run; then each must begin and end between characters. */
static bool are_views_utf8(const nk_array *array)
{
	const nk_csv_loops *loops = NK_ISA_TABLE(nk__csv_loops);
	const nk_view *views = array->values;
	int64_t n = array->encoding == NK_CONSTANT ? NK_MIN(array->n_rows, (int64_t)1) : array->n_rows;
	uint64_t high = 0;
	int64_t run = -1, run_begin = 0, run_end = 0; /* of buffer `run` */
	for (int64_t i = 0; i < n; i++) {
		const nk_view *view = &views[i];
		if (view->n_bytes <= NK_VIEW_INLINE) {
			uint64_t words[2];
			memcpy(words, view, sizeof words);
			uint64_t some = ((words[0] >> 32) | words[1]) & 0x8080808080808080;
			high |= some;
			if (some && !loops->is_utf8((const uint8_t *)view->inlined, view->n_bytes))
				return false;
			continue;
		}
		const uint8_t *bytes = array->heap->buffers[view->buffer]->bytes;
		if (view->buffer == run && view->offset == run_end) {
			if (is_continuation(bytes + view->offset))
				return false;
			run_end += view->n_bytes;
			continue;
		}
		if (run >= 0 && !loops->is_utf8(array->heap->buffers[run]->bytes + run_begin, run_end - run_begin))
			return false;
		run = view->buffer;
		run_begin = view->offset;
		run_end = run_begin + view->n_bytes;
	}
	return run < 0 || loops->is_utf8(array->heap->buffers[run]->bytes + run_begin, run_end - run_begin);
}

static bool is_text_valid(const nk_array *array)
{
	if (array->dtype->id == NK_TYPE_STRING)
		return are_views_utf8(array);
	for (int i = 0; i < array->n_children; i++)
		if (!is_text_valid(array->children[i]))
			return false;
	return true;
}

/* ---- Conversion ---- */

static nk_status convert(nk_memory *memory, const struct ArrowSchema *schema, int n_bytes_offset,
                         const struct ArrowArray *whole, int64_t offset, int64_t n_rows,
                         void (*let_go)(struct ArrowArray *), void *owner, nk_array **out, nk_error *err)
{
	struct ArrowArray rows = *whole;
	rows.offset = offset;
	rows.length = n_rows;
	rows.release = let_go;
	rows.private_data = owner;
	if (n_bytes_offset && n_rows > 0) {
		const loaded *l = whole->private_data;
		int64_t end = n_bytes_offset == 4 ? ((const int32_t *)whole->buffers[1])[offset + n_rows]
		                                  : ((const int64_t *)whole->buffers[1])[offset + n_rows];
		if (end > l->owned[2]->n_bytes) {
			let_go(&rows);
			return damaged(err, "a string lies outside of its buffer");
		}
	}
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_array_from_arrow(memory, &rows, schema, &array, err));
	if (!is_text_valid(array))
		return nk_fail(err, NK_COMPUTE, "invalid utf8: a string is not valid UTF-8");
	*out = NK_STEAL(array);
	return NK_OK;
}

nk_status nk__ipc_convert(nk_memory *memory, const nk_ipc_field *field, const struct ArrowArray *whole,
                          int64_t offset, int64_t n_rows, void (*let_go)(struct ArrowArray *), void *owner,
                          nk_array **out, nk_error *err)
{
	int n_bytes_offset = field->layout == NK_IPC_TEXT ? field->n_bytes_each : 0;
	return convert(memory, &field->arrow, n_bytes_offset, whole, offset, n_rows, let_go, owner, out, err);
}

static int64_t code_at(const nk_array *codes, int64_t row)
{
	switch (codes->physical) {
	case NK_PHYSICAL_I8: return ((const int8_t *)codes->values)[row];
	case NK_PHYSICAL_U8: return ((const uint8_t *)codes->values)[row];
	case NK_PHYSICAL_I16: return ((const int16_t *)codes->values)[row];
	case NK_PHYSICAL_U16: return ((const uint16_t *)codes->values)[row];
	case NK_PHYSICAL_I32: return ((const int32_t *)codes->values)[row];
	case NK_PHYSICAL_U32: return ((const uint32_t *)codes->values)[row];
	default: return ((const int64_t *)codes->values)[row];
	}
}

/* Codes of 32 bits with the validity of codes and entries together. */
static nk_status combine(nk_memory *memory, const nk_array *codes, const nk_ipc_entries *dictionary,
                         nk_array **out, nk_error *err)
{
	const nk_array *entries = dictionary->all;
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	int64_t n_rows = codes->n_rows, n_nulls = 0;
	NK_TRY(nk_buffer_new(memory, n_rows * (int64_t)sizeof(uint32_t), &values, err));
	if (codes->validity || entries->validity)
		NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(n_rows), &validity, err));
	uint32_t *to = (uint32_t *)(void *)values->bytes;
	for (int64_t i = 0; i < n_rows; i++) {
		bool is_valid = nk_array_is_valid(codes, i);
		int64_t code = is_valid ? code_at(codes, i) : 0;
		if (is_valid && (code < 0 || code >= entries->n_rows || code > UINT32_MAX))
			return damaged(err, "a code lies outside of its dictionary");
		to[i] = (uint32_t)code;
		is_valid = is_valid && nk_array_is_valid(entries, code);
		n_nulls += !is_valid;
		if (validity)
			nk_bitmap_put(validity->bytes, i, is_valid);
	}
	if (n_nulls == n_rows)
		return nk_array_new_null(memory, entries->dtype, n_rows, out, err);
	return nk_array_new_dictionary(nk_array_ref(dictionary->plain), n_rows, NK_STEAL(values),
	                               NK_STEAL(validity), n_nulls, out, err);
}

nk_status nk__ipc_convert_codes(nk_memory *memory, const nk_ipc_field *field, const struct ArrowArray *whole,
                                int64_t offset, int64_t n_rows, const nk_ipc_entries *entries,
                                bool keeps_codes, void (*let_go)(struct ArrowArray *), void *owner,
                                nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) codes = NULL;
	NK_AUTO(nk_array) encoded = NULL;
	struct ArrowSchema schema = field->arrow;
	schema.dictionary = NULL;
	NK_TRY(convert(memory, &schema, 0, whole, offset, n_rows, let_go, owner, &codes, err));
	NK_TRY(combine(memory, codes, entries, &encoded, err));
	if (nk_type_is_category(field->dtype->id)) {
		if (encoded->encoding == NK_CONSTANT)
			return nk_array_new_null(memory, field->dtype, n_rows, out, err);
		return nk_categories_recode(memory, field->dtype, encoded->dictionary, encoded->values, n_rows,
		                            nk_buffer_ref(encoded->validity_buffer), out, err);
	}
	if (keeps_codes)
		*out = NK_STEAL(encoded);
	else
		NK_TRY(nk_array_flatten(memory, encoded, out, err));
	return NK_OK;
}
