/* The first bytes come with the arena itself: binding one call needs no block at all. Blocks double from 4 KiB to
 * 256 KiB, so a small plan costs one and a large one few. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

typedef struct arena_block {
	struct arena_block *next;
	int64_t n_bytes;
} arena_block;

typedef struct deferred {
	struct deferred *next;
	void (*release)(void *);
	void *object;
} deferred;

enum { FIRST_BYTES = 448 };

struct nk_arena {
	nk_memory *memory;
	arena_block *blocks;
	deferred *releases;
	char *at, *end;
	int64_t n_bytes_next;
	_Alignas(16) char first[FIRST_BYTES];
};

nk_arena *nk_arena_new(nk_memory *memory)
{
	nk_arena *arena = malloc(sizeof *arena);
	if (arena) {
		arena->memory = nk_memory_ref(memory);
		arena->blocks = NULL;
		arena->releases = NULL;
		arena->at = arena->first;
		arena->end = arena->first + FIRST_BYTES;
		arena->n_bytes_next = 4096;
	}
	return arena;
}

void nk_arena_free(nk_arena *arena)
{
	if (!arena)
		return;
	for (deferred *d = arena->releases; d; d = d->next)
		d->release(d->object);
	for (arena_block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		nk_free(arena->memory, block, block->n_bytes);
	}
	nk_memory_unref(arena->memory);
	free(arena);
}

nk_memory *nk_arena_memory(nk_arena *arena) { return arena->memory; }

nk_status nk_arena_alloc(nk_arena *arena, int64_t n_bytes, void **out, nk_error *err)
{
	n_bytes = n_bytes > 0 ? (n_bytes + 15) & -16LL : 16; /* never NULL, for empty lists */
	if (arena->end - arena->at < n_bytes) {
		int64_t n_block = NK_MAX(arena->n_bytes_next, n_bytes + 64);
		void *pointer;
		NK_TRY(nk_alloc(arena->memory, n_block, &pointer, err));
		arena_block *block = pointer;
		*block = (arena_block){.next = arena->blocks, .n_bytes = n_block};
		arena->blocks = block;
		arena->at = (char *)block + 16;
		arena->end = (char *)block + n_block;
		arena->n_bytes_next = NK_MIN(arena->n_bytes_next * 2, (int64_t)256 << 10);
	}
	*out = arena->at;
	memset(arena->at, 0, (size_t)n_bytes);
	arena->at += n_bytes;
	return NK_OK;
}

nk_status nk_arena_defer(nk_arena *arena, void (*release)(void *), void *object, nk_error *err)
{
	deferred *d;
	nk_status status = NK_ARENA_NEW(arena, &d, 1, err);
	if (status != NK_OK) {
		release(object);
		return status;
	}
	*d = (deferred){.next = arena->releases, .release = release, .object = object};
	arena->releases = d;
	return NK_OK;
}

nk_status nk_arena_string(nk_arena *arena, const char *text, int64_t n_bytes, const char **out, nk_error *err)
{
	char *copy;
	NK_TRY(nk_arena_alloc(arena, n_bytes + 1, (void **)&copy, err));
	memcpy(copy, text, (size_t)n_bytes);
	*out = copy;
	return NK_OK;
}
