/* Arrays come as exported Arrow arrays; a node is a window of rows of one. Windows make the items of lists begin at 0 and
 * leave out what no list holds, and the heaps of views are packed when less than half of them is in use: what is written is
 * what the rows need, whatever they were sliced or filtered from. */
#include "io/ipc/body.h"

#include <stdlib.h>
#include <string.h>

typedef struct window {
	const struct ArrowArray *array;
	const nk_dtype *dtype;
	int64_t offset, n_rows;
} window;

void nk__ipc_body_clear(nk_ipc_body *body)
{
	for (int64_t i = 0; i < body->n_owned; i++)
		nk_buffer_unref(body->owned[i]);
	body->n_bytes = body->n_nodes = body->n_buffers = body->n_variadic = body->n_owned = 0;
}

void nk__ipc_body_release(nk_ipc_body *body)
{
	nk__ipc_body_clear(body);
	if (!body->memory)
		return;
	nk_free(body->memory, body->nodes, body->nodes_capacity * (int64_t)sizeof *body->nodes);
	nk_free(body->memory, body->pieces, body->pieces_capacity * (int64_t)sizeof *body->pieces);
	nk_free(body->memory, body->spans, body->spans_capacity * (int64_t)sizeof *body->spans);
	nk_free(body->memory, body->variadic, body->variadic_capacity * (int64_t)sizeof *body->variadic);
	nk_free(body->memory, body->owned, body->owned_capacity * (int64_t)sizeof *body->owned);
}

/* ---- Buffers ---- */

static nk_status make(nk_ipc_body *body, int64_t n_bytes, nk_buffer **out, nk_error *err)
{
	NK_TRY(NK_GROW(body->memory, &body->owned, &body->owned_capacity, body->n_owned + 1, err));
	NK_TRY(nk_buffer_new(body->memory, n_bytes, out, err));
	body->owned[body->n_owned++] = *out;
	return NK_OK;
}

/* A length, then the bytes, which stay as they are when they do not become fewer. */
static nk_status compress(nk_ipc_body *body, nk_ipc_piece *piece, nk_error *err)
{
	enum { LENGTH_BYTES = 8 };
	nk_buffer *packed;
	int64_t n_raw = piece->n_bytes, n_packed;
	NK_TRY(make(body, LENGTH_BYTES + nk__codec_bound(body->codec, n_raw), &packed, err));
	NK_TRY(nk__codec_compress(body->codec, NK_LEVEL_USUAL, piece->bytes, n_raw, packed->bytes + LENGTH_BYTES,
	                          &n_packed, err));
	memcpy(packed->bytes, &n_raw, LENGTH_BYTES);
	nk_buffer_shrink(packed, LENGTH_BYTES + n_packed);
	*piece = (nk_ipc_piece){packed->bytes, LENGTH_BYTES + n_packed};
	return NK_OK;
}

static nk_status add_buffer(nk_ipc_body *body, const void *bytes, int64_t n_bytes, nk_error *err)
{
	nk_ipc_piece piece = {bytes, n_bytes};
	if (n_bytes > 0 && body->codec != NK_CODEC_NONE)
		NK_TRY(compress(body, &piece, err));
	NK_TRY(NK_GROW(body->memory, &body->pieces, &body->pieces_capacity, body->n_buffers + 1, err));
	NK_TRY(NK_GROW(body->memory, &body->spans, &body->spans_capacity, body->n_buffers + 1, err));
	body->pieces[body->n_buffers] = piece;
	body->spans[body->n_buffers++] = (nk_ipc_span){body->n_bytes, piece.n_bytes};
	body->n_bytes += (piece.n_bytes + NK_IPC_ALIGNMENT - 1) / NK_IPC_ALIGNMENT * NK_IPC_ALIGNMENT;
	return NK_OK;
}

static nk_status add_bits(nk_ipc_body *body, const uint8_t *bits, int64_t offset, int64_t n, nk_error *err)
{
	int64_t n_bytes = nk_bitmap_bytes(n);
	if (n == 0 || (offset % 8 == 0 && n % 8 == 0))
		return add_buffer(body, n ? bits + offset / 8 : NULL, n_bytes, err);
	nk_buffer *copy;
	NK_TRY(make(body, n_bytes, &copy, err));
	nk_bitmap_copy(copy->bytes, bits, offset, n);
	return add_buffer(body, copy->bytes, n_bytes, err);
}

/* Validity, if some row is null; returns the number of nulls. */
static nk_status add_node(nk_ipc_body *body, const window *w, bool has_validity, nk_error *err)
{
	const uint8_t *bits = w->array->n_buffers > 0 ? w->array->buffers[0] : NULL;
	int64_t n_nulls = bits && w->n_rows > 0 ? w->n_rows - nk_bitmap_count(bits, w->offset, w->n_rows) : 0;
	if (w->dtype->id == NK_TYPE_NULL)
		n_nulls = w->n_rows;
	NK_TRY(NK_GROW(body->memory, &body->nodes, &body->nodes_capacity, body->n_nodes + 1, err));
	body->nodes[body->n_nodes++] = (nk_ipc_node){w->n_rows, n_nulls};
	if (!has_validity)
		return NK_OK;
	return n_nulls ? add_bits(body, bits, w->offset, w->n_rows, err) : add_buffer(body, NULL, 0, err);
}

/* ---- Text ---- */

typedef struct heap {
	const void *const *buffers;
	int64_t n;
	const int64_t *n_bytes;
} heap;

static heap heap_of(const struct ArrowArray *array)
{
	int64_t n = array->n_buffers - 3;
	return (heap){&array->buffers[2], n, array->buffers[n + 2]};
}

static const char *bytes_of(const heap *h, const nk_view *view)
{
	return view->n_bytes <= NK_VIEW_INLINE ? view->inlined
	                                       : (const char *)h->buffers[view->buffer] + view->offset;
}

static bool is_valid(const window *w, int64_t i)
{
	return !w->array->buffers[0] || nk_bitmap_get(w->array->buffers[0], w->offset + i);
}

/* Offsets of 64 bits and all bytes. */
static nk_status add_offsets_and_bytes(nk_ipc_body *body, const window *w, const nk_view *views,
                                       nk_error *err)
{
	heap h = heap_of(w->array);
	nk_buffer *offsets, *bytes;
	NK_TRY(make(body, (w->n_rows + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	int64_t *to = (int64_t *)(void *)offsets->bytes, n_bytes = 0;
	for (int64_t i = 0; i < w->n_rows; i++) {
		to[i] = n_bytes;
		n_bytes += is_valid(w, i) ? views[i].n_bytes : 0;
	}
	to[w->n_rows] = n_bytes;
	NK_TRY(make(body, n_bytes, &bytes, err));
	for (int64_t i = 0; i < w->n_rows; i++)
		if (to[i + 1] > to[i])
			memcpy(bytes->bytes + to[i], bytes_of(&h, &views[i]), views[i].n_bytes);
	NK_TRY(add_buffer(body, to, offsets->n_bytes, err));
	return add_buffer(body, bytes->bytes, n_bytes, err);
}

/* Views with a heap of what they use alone, in buffers of up to 2 GiB. */
static nk_status add_packed_views(nk_ipc_body *body, const window *w, const nk_view *views, int64_t n_live,
                                  nk_error *err)
{
	heap h = heap_of(w->array);
	nk_buffer *copy, *bytes = NULL;
	NK_TRY(make(body, w->n_rows * (int64_t)sizeof(nk_view), &copy, err));
	nk_view *to = (nk_view *)(void *)copy->bytes;
	int64_t used = 0, n_heap = 0, first = body->n_owned;
	for (int64_t i = 0; i < w->n_rows; i++) {
		const nk_view *view = &views[i];
		bool is_long = view->n_bytes > NK_VIEW_INLINE;
		to[i] = is_long ? (nk_view){0} : *view;
		if (!is_long || !is_valid(w, i))
			continue;
		if (!bytes || used + view->n_bytes > bytes->n_bytes) {
			if (bytes)
				nk_buffer_shrink(bytes, used);
			NK_TRY(
				make(body, NK_MAX(NK_MIN(n_live, (int64_t)INT32_MAX), (int64_t)view->n_bytes), &bytes, err));
			n_heap++;
			used = 0;
		}
		memcpy(bytes->bytes + used, bytes_of(&h, view), view->n_bytes);
		to[i] = nk_view_make((const char *)bytes->bytes + used, view->n_bytes, (uint32_t)(n_heap - 1),
		                     (uint32_t)used);
		used += view->n_bytes;
		n_live -= view->n_bytes;
	}
	if (bytes)
		nk_buffer_shrink(bytes, used);
	body->variadic[body->n_variadic - 1] = n_heap;
	NK_TRY(add_buffer(body, to, copy->n_bytes, err));
	for (int64_t i = 0; i < n_heap; i++) {
		const nk_buffer *part = body->owned[first + i];
		NK_TRY(add_buffer(body, part->bytes, part->n_bytes, err));
	}
	return NK_OK;
}

static nk_status add_views(nk_ipc_body *body, const window *w, nk_error *err)
{
	const nk_view *views = (const nk_view *)w->array->buffers[1] + w->offset;
	if (!body->uses_views)
		return add_offsets_and_bytes(body, w, views, err);
	heap h = heap_of(w->array);
	int64_t n_live = 0, n_all = 0;
	for (int64_t i = 0; i < w->n_rows; i++)
		n_live += views[i].n_bytes > NK_VIEW_INLINE && is_valid(w, i) ? views[i].n_bytes : 0;
	for (int64_t i = 0; i < h.n; i++)
		n_all += h.n_bytes[i];
	NK_TRY(NK_GROW(body->memory, &body->variadic, &body->variadic_capacity, body->n_variadic + 1, err));
	body->variadic[body->n_variadic++] = h.n;
	if (n_live < n_all / 2)
		return add_packed_views(body, w, views, n_live, err);
	NK_TRY(add_buffer(body, views, w->n_rows * (int64_t)sizeof *views, err));
	for (int64_t i = 0; i < h.n; i++)
		NK_TRY(add_buffer(body, h.buffers[i], h.n_bytes[i], err));
	return NK_OK;
}

/* ---- Nested ---- */

static nk_status add_window(nk_ipc_body *body, const window *w, nk_error *err);

static nk_status add_child(nk_ipc_body *body, const window *w, int i, int64_t offset, int64_t n_rows,
                           nk_error *err)
{
	const struct ArrowArray *child = w->array->children[i];
	window rows = {child, w->dtype->fields[i].dtype, child->offset + offset, n_rows};
	return add_window(body, &rows, err);
}

static nk_status add_list(nk_ipc_body *body, const window *w, nk_error *err)
{
	static const int64_t none;
	const int64_t *offsets = w->array->buffers[1] ? (const int64_t *)w->array->buffers[1] + w->offset : &none;
	int64_t n = w->n_rows + 1, base = offsets[0];
	if (base == 0) {
		NK_TRY(add_buffer(body, offsets, n * (int64_t)sizeof *offsets, err));
	} else {
		nk_buffer *moved;
		NK_TRY(make(body, n * (int64_t)sizeof *offsets, &moved, err));
		for (int64_t i = 0; i < n; i++)
			((int64_t *)(void *)moved->bytes)[i] = offsets[i] - base;
		NK_TRY(add_buffer(body, moved->bytes, moved->n_bytes, err));
	}
	return add_child(body, w, 0, base, offsets[w->n_rows] - base, err);
}

static nk_status add_window(nk_ipc_body *body, const window *w, nk_error *err)
{
	const nk_dtype *dtype = w->dtype;
	NK_TRY(add_node(body, w, dtype->id != NK_TYPE_NULL, err));
	switch (dtype->physical) {
	case NK_PHYSICAL_NONE: return NK_OK;
	case NK_PHYSICAL_BOOL: return add_bits(body, w->array->buffers[1], w->offset, w->n_rows, err);
	case NK_PHYSICAL_VIEW: return add_views(body, w, err);
	case NK_PHYSICAL_STRUCT:
		for (int i = 0; i < dtype->n_fields; i++)
			NK_TRY(add_child(body, w, i, w->offset, w->n_rows, err));
		return NK_OK;
	case NK_PHYSICAL_LIST:
		if (dtype->id == NK_TYPE_ARRAY)
			return add_child(body, w, 0, w->offset * dtype->width, w->n_rows * dtype->width, err);
		return add_list(body, w, err);
	default: {
		int64_t n = nk_physical_size(dtype->physical);
		return add_buffer(body, (const uint8_t *)w->array->buffers[1] + n * w->offset, n * w->n_rows, err);
	}
	}
}

nk_status nk__ipc_body_add(nk_ipc_body *body, const struct ArrowArray *array, const nk_dtype *dtype,
                           nk_error *err)
{
	window all = {array, dtype, array->offset, array->length};
	return add_window(body, &all, err);
}
