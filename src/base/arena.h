/* Bump allocation for things that live and die together: a query's bound plan, a parsed footer.
 *
 * Single-owner. Everything is released at once; nothing in an arena has a destructor, so reference-counted
 * things must be registered with nk_arena_defer. Memory comes zeroed. */
#ifndef NK_BASE_ARENA_H
#define NK_BASE_ARENA_H

#include "base/memory.h"

typedef struct nk_arena nk_arena;

/* NULL when out of memory. The arena holds a reference to `memory`. */
nk_arena *nk_arena_new(nk_memory *memory);
void nk_arena_free(nk_arena *arena);
nk_memory *nk_arena_memory(nk_arena *arena); /* borrowed */

/* n_bytes zeroed bytes, 16-byte aligned, valid until the arena is freed. */
NK_MUST_CHECK nk_status nk_arena_alloc(nk_arena *arena, int64_t n_bytes, void **out, nk_error *err);
/* Call release(object) when the arena is freed (last registered first), or at once when this fails. */
NK_MUST_CHECK nk_status nk_arena_defer(nk_arena *arena, void (*release)(void *), void *object, nk_error *err);
/* A copy of a string (n_bytes of it), NUL-terminated. */
NK_MUST_CHECK nk_status nk_arena_string(nk_arena *arena, const char *text, int64_t n_bytes, const char **out,
                                        nk_error *err);

#define NK_ARENA_NEW(arena, pointer, n, err) \
	nk_arena_alloc(arena, (int64_t)sizeof **(pointer) * (n), (void **)(pointer), err)

static inline void nk_arena__auto(nk_arena **arena) { nk_arena_free(*arena); }

#endif
