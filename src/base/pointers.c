/* A list and a hash table of positions in it; the walk keeps a stack of its own, so depth costs memory only. */
#include "base/pointers.h"

#include <stdlib.h>

#include "base/hash.h"

static int64_t slot_of(const nk_pointers *set, const void *pointer)
{
	int64_t mask = set->n_slots - 1, at = (int64_t)nk_hash_u64((uintptr_t)pointer) & mask;
	while (set->slots[at] && set->items[set->slots[at] - 1] != pointer)
		at = (at + 1) & mask;
	return at;
}

int64_t nk_pointers_find(const nk_pointers *set, const void *pointer)
{
	return set->n ? set->slots[slot_of(set, pointer)] - 1 : -1;
}

static nk_status grow(nk_pointers *set, nk_error *err)
{
	int64_t capacity = set->capacity ? set->capacity * 2 : 32, n_slots = capacity * 2;
	const void **items = realloc(set->items, (size_t)capacity * sizeof *items);
	if (items)
		set->items = items;
	int64_t *slots = calloc((size_t)n_slots, sizeof *slots);
	if (!items || !slots) {
		free(slots);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld nodes", (long long)capacity);
	}
	free(set->slots);
	set->slots = slots;
	set->n_slots = n_slots;
	set->capacity = capacity;
	for (int64_t i = 0; i < set->n; i++)
		slots[slot_of(set, items[i])] = i + 1;
	return NK_OK;
}

nk_status nk_pointers_add(nk_pointers *set, const void *pointer, nk_error *err)
{
	if (set->n == set->capacity)
		NK_TRY(grow(set, err));
	int64_t slot = slot_of(set, pointer);
	set->items[set->n++] = pointer;
	set->slots[slot] = set->n;
	return NK_OK;
}

void nk_pointers_release(nk_pointers *set)
{
	free(set->items);
	free(set->slots);
	*set = (nk_pointers){0};
}

typedef struct frame {
	const void *node;
	int next;
} frame;

nk_status nk_pointers_walk(nk_pointers *set, const void *root, nk_pointers_below *below, nk_error *err)
{
	int64_t depth = 0, capacity = 0;
	frame *stack = NULL;
	nk_status status = NK_OK;
	const void *node = root; /* to be entered; NULL: go on with the top of the stack */
	while (status == NK_OK && (node || depth)) {
		if (node) {
			if (depth == capacity) {
				capacity = capacity * 2 + 32;
				frame *larger = realloc(stack, (size_t)capacity * sizeof *larger);
				if (!larger) {
					status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld nodes", (long long)capacity);
					break;
				}
				stack = larger;
			}
			stack[depth++] = (frame){.node = node};
			node = NULL;
			continue;
		}
		frame *top = &stack[depth - 1];
		const void *const *children;
		int n = below(top->node, &children);
		while (top->next < n && nk_pointers_find(set, children[top->next]) >= 0)
			top->next++;
		if (top->next < n)
			node = children[top->next++];
		else
			status = nk_pointers_add(set, stack[--depth].node, err);
	}
	free(stack);
	return status;
}
