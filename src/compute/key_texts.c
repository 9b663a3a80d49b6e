/* Buffers are filled one after another; a heap over all of them is made when keys are asked for. A dictionary of
 * many entries is adopted, one a column: its buffers join the heap as they are, which keeps texts alive that no group
 * has, but touches none. The places of a small dictionary's entries are remembered until another one comes. */
#include "compute/key_texts.h"

#include "compute/key_rows.h"

enum {
	FIRST_BYTES = 1 << 12,
	BUFFER_BYTES = 1 << 18,
	STORED_ENTRIES_MAX = 1 << 14, /* larger dictionaries are adopted */
};

static const nk_text_place nowhere = {UINT32_MAX, UINT32_MAX};

static bool is_same(nk_text_place a, nk_text_place b) { return a.buffer == b.buffer && a.offset == b.offset; }

nk_status nk_key_texts_init(nk_key_texts *texts, nk_memory *memory, int n_sources, nk_error *err)
{
	*texts = (nk_key_texts){.memory = memory, .open = -1};
	int64_t n_bytes = n_sources * (int64_t)sizeof *texts->sources;
	NK_TRY(nk_alloc(memory, n_bytes, (void **)&texts->sources, err));
	memset(texts->sources, 0, (size_t)n_bytes);
	texts->n_sources = n_sources;
	return NK_OK;
}

void nk_key_texts_clear(nk_key_texts *texts)
{
	nk_heap_unref(texts->heap);
	texts->heap = NULL;
	for (int i = 0; i < texts->n_sources; i++) {
		nk_text_source *source = &texts->sources[i];
		nk_array_unref(source->adopted);
		nk_array_unref(source->stored);
		source->adopted = source->stored = NULL;
	}
	for (int64_t i = 0; i < texts->n_buffers; i++)
		nk_buffer_unref(texts->buffers[i]);
	texts->n_buffers = texts->n_used = texts->n_bytes = 0;
	texts->open = -1;
}

void nk_key_texts_release(nk_key_texts *texts)
{
	if (!texts->sources)
		return;
	nk_key_texts_clear(texts);
	for (int i = 0; i < texts->n_sources; i++)
		nk_free(texts->memory, texts->sources[i].places,
		        texts->sources[i].places_capacity * (int64_t)sizeof(nk_text_place));
	nk_free(texts->memory, texts->sources, texts->n_sources * (int64_t)sizeof *texts->sources);
	nk_free(texts->memory, texts->buffers, texts->capacity * (int64_t)sizeof *texts->buffers);
	texts->sources = NULL;
}

static void heap_is_stale(nk_key_texts *texts)
{
	nk_heap_unref(texts->heap);
	texts->heap = NULL;
}

static nk_status store(nk_key_texts *texts, const char *bytes, uint32_t n_bytes, nk_text_place *place,
                       nk_error *err)
{
	nk_buffer *open = texts->open >= 0 ? texts->buffers[texts->open] : NULL;
	if (!open || texts->n_used + n_bytes > open->n_bytes) {
		NK_TRY(NK_GROW(texts->memory, &texts->buffers, &texts->capacity, texts->n_buffers + 1, err));
		NK_TRY(nk_buffer_new(texts->memory,
		                     NK_MAX((int64_t)(open ? BUFFER_BYTES : FIRST_BYTES), (int64_t)n_bytes), &open,
		                     err));
		texts->open = texts->n_buffers;
		texts->buffers[texts->n_buffers++] = open;
		texts->n_bytes += open->n_bytes;
		texts->n_used = 0;
		heap_is_stale(texts);
	}
	memcpy(open->bytes + texts->n_used, bytes, n_bytes);
	*place = (nk_text_place){(uint32_t)texts->open, (uint32_t)texts->n_used};
	texts->n_used += n_bytes;
	return NK_OK;
}

static nk_status adopt(nk_key_texts *texts, nk_text_source *source, nk_array *dictionary, nk_error *err)
{
	int n = dictionary->heap ? dictionary->heap->n_buffers : 0;
	NK_TRY(NK_GROW(texts->memory, &texts->buffers, &texts->capacity, texts->n_buffers + n, err));
	source->adopted = nk_array_ref(dictionary);
	source->first_buffer = (uint32_t)texts->n_buffers;
	for (int i = 0; i < n; i++)
		texts->buffers[texts->n_buffers++] = nk_buffer_ref(dictionary->heap->buffers[i]);
	heap_is_stale(texts);
	return NK_OK;
}

static nk_status remember(nk_key_texts *texts, nk_text_source *source, nk_array *dictionary, nk_error *err)
{
	NK_TRY(NK_GROW(texts->memory, &source->places, &source->places_capacity, dictionary->n_rows, err));
	nk_array_unref(source->stored);
	source->stored = nk_array_ref(dictionary);
	for (int64_t i = 0; i < dictionary->n_rows; i++)
		source->places[i] = nowhere;
	return NK_OK;
}

/* Where an entry is known to lie, or nowhere. */
static inline nk_text_place place_of(const nk_text_source *source, const nk_array *array, int64_t row,
                                     const nk_view *view)
{
	if (array->encoding != NK_DICTIONARY)
		return nowhere;
	if (array->dictionary == source->adopted)
		return (nk_text_place){source->first_buffer + view->buffer, view->offset};
	return array->dictionary == source->stored ? source->places[((const uint32_t *)array->values)[row]]
	                                           : nowhere;
}

nk_status nk_key_texts_add(nk_key_texts *texts, int number, const nk_array *array, int64_t row,
                           nk_text_place *place, nk_error *err)
{
	nk_text_source *source = &texts->sources[number];
	const nk_heap *heap;
	const nk_view *view = nk_key_view(array, row, &heap);
	*place = (nk_text_place){0, 0};
	if (view->n_bytes <= NK_VIEW_INLINE)
		return NK_OK;
	if (array->encoding == NK_DICTIONARY) {
		bool is_small = array->dictionary->n_rows <= STORED_ENTRIES_MAX;
		if (is_small && source->stored != array->dictionary)
			NK_TRY(remember(texts, source, array->dictionary, err));
		else if (!is_small && !source->adopted)
			NK_TRY(adopt(texts, source, array->dictionary, err));
		*place = place_of(source, array, row, view);
		if (!is_same(*place, nowhere))
			return NK_OK;
	}
	NK_TRY(store(texts, nk_view_bytes(view, heap), view->n_bytes, place, err));
	if (array->encoding == NK_DICTIONARY && source->stored == array->dictionary)
		source->places[((const uint32_t *)array->values)[row]] = *place;
	return NK_OK;
}

bool nk_key_texts_equal(const nk_key_texts *texts, int number, const nk_array *array, int64_t row,
                        nk_text_place place)
{
	const nk_heap *heap;
	const nk_view *view = nk_key_view(array, row, &heap);
	return view->n_bytes <= NK_VIEW_INLINE ||
	       is_same(place_of(&texts->sources[number], array, row, view), place) ||
	       memcmp(nk_view_bytes(view, heap), texts->buffers[place.buffer]->bytes + place.offset,
	              view->n_bytes) == 0;
}

nk_status nk_key_texts_heap(nk_key_texts *texts, nk_heap **out, nk_error *err)
{
	*out = NULL;
	if (!texts->n_buffers)
		return NK_OK;
	if (!texts->heap) {
		for (int64_t i = 0; i < texts->n_buffers; i++)
			nk_buffer_ref(texts->buffers[i]);
		NK_TRY(nk_heap_new(texts->buffers, (int)texts->n_buffers, &texts->heap, err));
	}
	*out = nk_heap_ref(texts->heap);
	return NK_OK;
}
