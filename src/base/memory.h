/* The allocation context: every byte the engine holds is taken from and returned to one of these.
 *
 * Trackers form a tree (process, context, query); a reservation counts in every ancestor and is refused by
 * the first whose limit it would pass, and when the thread's watch (base/watch.h) says that its work is to end. A tracker is reference-counted, and whoever holds memory from it holds
 * a reference, so that a result may outlive its query. Fault injection: a tracker can be told to refuse its
 * Nth allocation. All functions are thread-safe. */
#ifndef NK_BASE_MEMORY_H
#define NK_BASE_MEMORY_H

#include "base/status.h"

typedef struct nk_memory nk_memory;

/* A tracker below `parent` (NULL for a root) that refuses to pass n_bytes_limit (INT64_MAX: none).
 * Returns NULL when the system has no memory. */
nk_memory *nk_memory_new(nk_memory *parent, int64_t n_bytes_limit);
nk_memory *nk_memory_ref(nk_memory *memory);
void nk_memory_unref(nk_memory *memory);

int64_t nk_memory_used(const nk_memory *memory);
int64_t nk_memory_peak(const nk_memory *memory);
/* The lowest limit of the tracker and those above it. */
int64_t nk_memory_limit(const nk_memory *memory);
/* `whose` says in messages what is limited and how to raise it: "the query (...)"; kept by reference. */
void nk_memory_set_limit(nk_memory *memory, int64_t n_bytes_limit, const char *whose);
/* Refuse the allocation after `n` more have been granted; negative: never. */
void nk_memory_refuse_after(nk_memory *memory, int64_t n);

/* Count n_bytes without allocating: operators reserve before they grow and spill when refused. */
NK_MUST_CHECK nk_status nk_memory_reserve(nk_memory *memory, int64_t n_bytes, nk_error *err);
void nk_memory_release(nk_memory *memory, int64_t n_bytes);
/* Whether n_bytes more would be granted now. */
bool nk_memory_would_grant(const nk_memory *memory, int64_t n_bytes);

/* Accounted heap blocks, 64-byte aligned, uninitialised. The caller remembers the size. n_bytes may be 0. */
NK_MUST_CHECK nk_status nk_alloc(nk_memory *memory, int64_t n_bytes, void **out, nk_error *err);
void nk_free(nk_memory *memory, void *block, int64_t n_bytes);
/* Grow or shrink a block, keeping min(old, new) bytes; on failure the block stays as it was. */
NK_MUST_CHECK nk_status nk_realloc(nk_memory *memory, void **block, int64_t n_bytes_old, int64_t n_bytes_new,
                                   nk_error *err);

/* Make room for `n_wanted` elements in a growing array owned by `memory`: doubles. */
NK_MUST_CHECK nk_status nk__grow(nk_memory *memory, void **block, int64_t *capacity, int64_t n_wanted,
                                 int64_t n_bytes_each, nk_error *err);
#define NK_GROW(memory, pointer, capacity, n_wanted, err) \
	((n_wanted) <= *(capacity)                            \
	     ? NK_OK                                          \
	     : nk__grow(memory, (void **)(pointer), capacity, n_wanted, (int64_t)sizeof **(pointer), err))

static inline void nk_memory__auto(nk_memory **memory) { nk_memory_unref(*memory); }

#endif
