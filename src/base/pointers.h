/* Sets of pointers that remember the order of adding, so that each has a position: what walks over shared nodes need
 * to visit every node once and to refer to it by a number. Single-owner; nodes are never written to. */
#ifndef NK_BASE_POINTERS_H
#define NK_BASE_POINTERS_H

#include "base/status.h"

typedef struct nk_pointers {
	const void **items; /* in order of adding */
	int64_t n, capacity;
	int64_t *slots; /* open addressing: a position plus one, 0 where free */
	int64_t n_slots;
} nk_pointers;

/* Position of a pointer; -1 when it is not in the set. */
int64_t nk_pointers_find(const nk_pointers *set, const void *pointer);
/* Add a pointer that is not in the set. */
NK_MUST_CHECK nk_status nk_pointers_add(nk_pointers *set, const void *pointer, nk_error *err);
void nk_pointers_release(nk_pointers *set);

/* The nodes directly below one: how many, and where they are listed. */
typedef int nk_pointers_below(const void *node, const void *const **below);
/* Adds every node under `root` once, after all nodes below it; `root` comes last. The set is empty before. */
NK_MUST_CHECK nk_status nk_pointers_walk(nk_pointers *set, const void *root, nk_pointers_below *below,
                                         nk_error *err);

#define NK_POINTERS(name) __attribute__((cleanup(nk_pointers_release))) nk_pointers name = {0}

#endif
