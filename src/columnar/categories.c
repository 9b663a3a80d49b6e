/* Entries lie in segments that double, so that none ever moves; their bytes lie in buffers that double likewise. An
 * open-addressing table finds the code of a text. Lookups of whole arrays take the lock once: for reading while all
 * texts are known, for writing from the first new one on. */
#include "columnar/categories.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"

enum {
	FIRST = 64, /* entries of the first segment; segment k > 0 holds as many as all before it */
	N_SEGMENTS = 27,
	N_BUFFERS = 64,
	BUFFER_FIRST = 4 << 10,
	BUFFER_LARGEST = 1 << 30,
};

struct nk_categories {
	pthread_rwlock_t lock;
	nk_memory *memory;
	bool is_fixed;
	int64_t n, limit;
	nk_view *segments[N_SEGMENTS];
	nk_buffer *buffers[N_BUFFERS];
	int n_buffers;
	int64_t n_used;  /* of the last buffer */
	uint32_t *slots; /* code + 1; 0: free */
	int64_t n_slots;
	nk_array *texts; /* of the first texts->n_rows entries, for nk_categories_texts */
};

static int segment_of(uint64_t code, uint64_t *at)
{
	if (code < FIRST) {
		*at = code;
		return 0;
	}
	int top = 63 - __builtin_clzll(code / FIRST);
	*at = code - ((uint64_t)FIRST << top);
	return top + 1;
}

static int64_t segment_size(int segment) { return segment ? (int64_t)FIRST << (segment - 1) : FIRST; }

static const nk_view *entry(const nk_categories *c, uint64_t code)
{
	uint64_t at;
	int segment = segment_of(code, &at);
	return &c->segments[segment][at];
}

static const char *entry_bytes(const nk_categories *c, const nk_view *view)
{
	return view->n_bytes <= NK_VIEW_INLINE ? view->inlined
	                                       : (const char *)c->buffers[view->buffer]->bytes + view->offset;
}

void nk_categories_free(nk_categories *c)
{
	if (!c)
		return;
	nk_array_unref(c->texts);
	for (int i = 0; i < N_SEGMENTS && c->segments[i]; i++)
		nk_free(c->memory, c->segments[i], segment_size(i) * (int64_t)sizeof(nk_view));
	for (int i = 0; i < c->n_buffers; i++)
		nk_buffer_unref(c->buffers[i]);
	nk_free(c->memory, c->slots, c->n_slots * (int64_t)sizeof *c->slots);
	nk_memory_unref(c->memory);
	pthread_rwlock_destroy(&c->lock);
	free(c);
}

int64_t nk_categories_count(const nk_categories *c) { return __atomic_load_n(&c->n, __ATOMIC_ACQUIRE); }

const char *nk_categories_text(const nk_categories *c, uint64_t code, int64_t *n_bytes)
{
	*n_bytes = 0;
	if ((int64_t)code >= nk_categories_count(c))
		return "";
	const nk_view *view = entry(c, code);
	*n_bytes = view->n_bytes;
	return entry_bytes(c, view);
}

int nk_categories_compare(const nk_categories *c, uint64_t a, uint64_t b)
{
	if (a == b)
		return 0;
	int64_t n_a, n_b;
	const char *text_a = nk_categories_text(c, a, &n_a), *text_b = nk_categories_text(c, b, &n_b);
	int order = memcmp(text_a, text_b, (size_t)NK_MIN(n_a, n_b));
	return order ? order : (n_a > n_b) - (n_a < n_b);
}

/* The slot of a text: its own, or the free one where it belongs. */
static int64_t slot_of(const nk_categories *c, const char *bytes, int64_t n_bytes)
{
	int64_t mask = c->n_slots - 1, at = (int64_t)nk_hash_bytes(bytes, n_bytes) & mask;
	while (c->slots[at]) {
		const nk_view *view = entry(c, c->slots[at] - 1);
		if (view->n_bytes == n_bytes && memcmp(entry_bytes(c, view), bytes, (size_t)n_bytes) == 0)
			break;
		at = (at + 1) & mask;
	}
	return at;
}

static uint32_t find(const nk_categories *c, const char *bytes, int64_t n_bytes)
{
	if (!c->n_slots)
		return NK_CATEGORY_NONE;
	uint32_t found = c->slots[slot_of(c, bytes, n_bytes)];
	return found ? found - 1 : NK_CATEGORY_NONE;
}

uint32_t nk_categories_find(nk_categories *c, const char *bytes, int64_t n_bytes)
{
	pthread_rwlock_rdlock(&c->lock);
	uint32_t code = find(c, bytes, n_bytes);
	pthread_rwlock_unlock(&c->lock);
	return code;
}

static nk_status grow_slots(nk_categories *c, nk_error *err)
{
	int64_t n_slots = NK_MAX(c->n_slots * 2, (int64_t)FIRST * 2), n_old = c->n_slots;
	void *block;
	NK_TRY(nk_alloc(c->memory, n_slots * (int64_t)sizeof *c->slots, &block, err));
	memset(block, 0, (size_t)n_slots * sizeof *c->slots);
	uint32_t *old = c->slots;
	c->slots = block;
	c->n_slots = n_slots;
	for (int64_t i = 0; i < n_old; i++)
		if (old[i]) {
			const nk_view *view = entry(c, old[i] - 1);
			c->slots[slot_of(c, entry_bytes(c, view), view->n_bytes)] = old[i];
		}
	nk_free(c->memory, old, n_old * (int64_t)sizeof *old);
	return NK_OK;
}

static nk_status store_bytes(nk_categories *c, const char *bytes, int64_t n_bytes, nk_view *out,
                             nk_error *err)
{
	if (n_bytes > INT32_MAX)
		return nk_fail(err, NK_COMPUTE, "a category of %lld bytes; the limit is 2 GiB", (long long)n_bytes);
	if (n_bytes > NK_VIEW_INLINE) {
		int64_t n_last = c->n_buffers ? c->buffers[c->n_buffers - 1]->n_bytes : 0;
		if (n_last - c->n_used < n_bytes) {
			if (c->n_buffers == N_BUFFERS)
				return nk_fail(err, NK_COMPUTE, "the texts of categories exceed their room");
			int64_t n_next = NK_MIN(NK_MAX(n_last * 2, (int64_t)BUFFER_FIRST), (int64_t)BUFFER_LARGEST);
			NK_TRY(nk_buffer_new(c->memory, NK_MAX(n_next, n_bytes), &c->buffers[c->n_buffers], err));
			c->n_buffers++;
			c->n_used = 0;
		}
		memcpy(c->buffers[c->n_buffers - 1]->bytes + c->n_used, bytes, (size_t)n_bytes);
	}
	*out = nk_view_make(bytes, (uint32_t)n_bytes, (uint32_t)(c->n_buffers - 1), (uint32_t)c->n_used);
	c->n_used += n_bytes > NK_VIEW_INLINE ? n_bytes : 0;
	return NK_OK;
}

/* Under the lock for writing. */
static nk_status add(nk_categories *c, const char *bytes, int64_t n_bytes, uint32_t *code, nk_error *err)
{
	if ((c->n + 1) * 2 > c->n_slots)
		NK_TRY(grow_slots(c, err));
	int64_t slot = slot_of(c, bytes, n_bytes);
	if (c->slots[slot]) {
		*code = c->slots[slot] - 1;
		return NK_OK;
	}
	if (c->n >= c->limit)
		return nk_fail(err, NK_COMPUTE, "attempted to insert more than %lld categories", (long long)c->limit);
	uint64_t at;
	int segment = segment_of((uint64_t)c->n, &at);
	if (!c->segments[segment]) {
		void *block;
		NK_TRY(nk_alloc(c->memory, segment_size(segment) * (int64_t)sizeof(nk_view), &block, err));
		c->segments[segment] = block;
	}
	NK_TRY(store_bytes(c, bytes, n_bytes, &c->segments[segment][at], err));
	c->slots[slot] = (uint32_t)c->n + 1;
	*code = (uint32_t)c->n;
	__atomic_store_n(&c->n, c->n + 1, __ATOMIC_RELEASE);
	return NK_OK;
}

nk_categories *nk_categories_new(nk_physical physical, const char *const *texts, int64_t n)
{
	nk_categories *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	pthread_rwlock_init(&c->lock, NULL);
	c->limit = physical == NK_PHYSICAL_U8    ? UINT8_MAX
	           : physical == NK_PHYSICAL_U16 ? UINT16_MAX
	                                         : (int64_t)UINT32_MAX - 1;
	c->memory = nk_memory_new(NULL, INT64_MAX);
	nk_status status = c->memory ? NK_OK : NK_OUT_OF_MEMORY;
	uint32_t code;
	for (int64_t i = 0; i < n && status == NK_OK; i++)
		status = add(c, texts[i], (int64_t)strlen(texts[i]), &code, NULL);
	c->is_fixed = texts != NULL;
	if (status != NK_OK) {
		nk_categories_free(c);
		return NULL;
	}
	return c;
}

nk_status nk_categories_add(nk_categories *c, const char *bytes, int64_t n_bytes, uint32_t *code,
                            nk_error *err)
{
	*code = nk_categories_find(c, bytes, n_bytes);
	if (*code != NK_CATEGORY_NONE || c->is_fixed)
		return NK_OK;
	pthread_rwlock_wrlock(&c->lock);
	nk_status status = add(c, bytes, n_bytes, code, err);
	pthread_rwlock_unlock(&c->lock);
	return status;
}

static nk_status add_from(nk_categories *c, const nk_view *views, const nk_heap *heap,
                          const uint8_t *validity, int64_t from, int64_t n, uint32_t *codes, nk_error *err)
{
	for (int64_t i = from; i < n; i++) {
		codes[i] = 0;
		if (!validity || nk_bitmap_get(validity, i))
			NK_TRY(add(c, nk_view_bytes(&views[i], heap), views[i].n_bytes, &codes[i], err));
	}
	return NK_OK;
}

nk_status nk_categories_encode(nk_categories *c, const nk_view *views, const nk_heap *heap,
                               const uint8_t *validity, int64_t n, uint32_t *codes, nk_error *err)
{
	int64_t i = 0;
	pthread_rwlock_rdlock(&c->lock);
	for (; i < n; i++) {
		codes[i] = 0;
		if (validity && !nk_bitmap_get(validity, i))
			continue;
		codes[i] = find(c, nk_view_bytes(&views[i], heap), views[i].n_bytes);
		if (codes[i] == NK_CATEGORY_NONE && !c->is_fixed)
			break;
	}
	pthread_rwlock_unlock(&c->lock);
	if (i == n)
		return NK_OK;
	pthread_rwlock_wrlock(&c->lock);
	nk_status status = add_from(c, views, heap, validity, i, n, codes, err);
	pthread_rwlock_unlock(&c->lock);
	return status;
}

/* Under the lock for writing: the array of all texts made anew. */
static nk_status make_texts(nk_categories *c, nk_error *err)
{
	NK_AUTO(nk_buffer) values = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	NK_TRY(nk_buffer_new(c->memory, c->n * (int64_t)sizeof(nk_view), &values, err));
	nk_view *to = (nk_view *)(void *)values->bytes;
	for (int64_t i = 0; i < c->n; i++)
		to[i] = *entry(c, (uint64_t)i);
	if (c->n_buffers) {
		nk_buffer *buffers[N_BUFFERS];
		for (int i = 0; i < c->n_buffers; i++)
			buffers[i] = nk_buffer_ref(c->buffers[i]);
		NK_TRY(nk_heap_new(buffers, c->n_buffers, &heap, err));
	}
	nk_array *made;
	NK_TRY(nk_array_new_flat(nk_dtype_of(NK_TYPE_STRING), NK_PHYSICAL_VIEW, c->n, NK_STEAL(values), NULL, 0,
	                         NK_STEAL(heap), &made, err));
	nk_array_unref(c->texts);
	c->texts = made;
	return NK_OK;
}

nk_status nk_categories_texts(nk_categories *c, nk_array **out, nk_error *err)
{
	nk_status status = NK_OK;
	pthread_rwlock_rdlock(&c->lock);
	nk_array *texts = c->texts && c->texts->n_rows == c->n ? nk_array_ref(c->texts) : NULL;
	pthread_rwlock_unlock(&c->lock);
	if (!texts) {
		pthread_rwlock_wrlock(&c->lock);
		if (!c->texts || c->texts->n_rows != c->n)
			status = make_texts(c, err);
		texts = status == NK_OK ? nk_array_ref(c->texts) : NULL;
		pthread_rwlock_unlock(&c->lock);
	}
	NK_TRY(status);
	*out = texts;
	return NK_OK;
}

nk_status nk_categories_recode(nk_memory *memory, const nk_dtype *dtype, const nk_array *entries,
                               const uint32_t *codes, int64_t n_rows, nk_buffer *validity, nk_array **out,
                               nk_error *err)
{
	NK_AUTO(nk_buffer) mask = validity;
	NK_AUTO(nk_buffer) map = NULL;
	NK_AUTO(nk_buffer) values = NULL;
	int width = nk_physical_size(dtype->physical);
	NK_TRY(nk_buffer_new(memory, entries->n_rows * (int64_t)sizeof(uint32_t), &map, err));
	NK_TRY(nk_buffer_new_zeroed(memory, n_rows * width, &values, err));
	uint32_t *own = (uint32_t *)(void *)map->bytes;
	NK_TRY(nk_categories_encode(dtype->categories, entries->values, entries->heap, entries->validity,
	                            entries->n_rows, own, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (mask && !nk_bitmap_get(mask->bytes, i))
			continue;
		uint32_t code = own[codes[i]];
		if (code == NK_CATEGORY_NONE)
			return nk_fail(err, NK_COMPUTE, "a text is no category of the Enum");
		memcpy(values->bytes + i * width, &code, (size_t)width); /* the low bytes come first */
	}
	return nk_array_new_flat(dtype, dtype->physical, n_rows, NK_STEAL(values), NK_STEAL(mask), -1, NULL, out,
	                         err);
}
