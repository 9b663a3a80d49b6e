/* One list of lists, sorted once: adding a function to a file of this folder is adding a row there. A new file
 * adds its list here. Twins (func/each.h) are made of the rows and are found by name, but are not listed. */
#include "func/func.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "func/each.h"
#include "func/registry.h"

#define NK_FUNCS(list) list,
static const nk_func *const lists[] = {
#include "func/registry.inc"
};
#undef NK_FUNCS

enum { MAX_FUNCS = 1024 };
enum { MAX_DEPTH = 2 }; /* of twins: twins of twins are for lists of lists */
enum {
	N_SLOTS = MAX_FUNCS * 4 * (1 + MAX_DEPTH)
}; /* open addressing: names are looked up on every eager call */
static const nk_func *slots[N_SLOTS];
static const nk_func *sorted[MAX_FUNCS];
static int n_sorted;
static pthread_once_t sort_once = PTHREAD_ONCE_INIT;

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const nk_func *const *)a)->name, (*(const nk_func *const *)b)->name);
}

static int slot_of(const char *name) { return (int)(nk_hash_bytes(name, (int64_t)strlen(name)) % N_SLOTS); }

static void add_slot(const nk_func *func)
{
	int at = slot_of(func->name);
	while (slots[at])
		at = (at + 1) % N_SLOTS;
	slots[at] = func;
}

/* The twin of a row, kept for the life of the process; NULL when out of memory. */
static const nk_func *twin_of(const nk_func *base)
{
	int n_options = nk_func_n_options(base);
	nk_func *twin = malloc(sizeof *twin);
	nk_option_spec *options = calloc((size_t)n_options + 2, sizeof *options);
	size_t n_name = strlen(base->name) + sizeof "each.";
	char *name = malloc(n_name);
	if (!twin || !options || !name) {
		free(twin);
		free(options);
		free(name);
		return NULL;
	}
	for (int i = 0; i < n_options; i++)
		options[i] = base->options[i];
	options[n_options] = (nk_option_spec){"rows", {.kind = NK_OPTION_INT, .integer = 1}};
	snprintf(name, n_name, "each.%s", base->name);
	*twin = *base;
	twin->name = name;
	twin->options = options;
	twin->height = NK_ELEMENTWISE;
	twin->nulls = NK_NULLS_SEEN;
	twin->fallible |= base->max_args != 1;
	twin->unaligned = twin->expands_selectors = twin->names_fields = twin->picks_field = false;
	twin->fixed_name = NULL;
	twin->bind = nk__bind_twin;
	return twin;
}

static void sort_all(void)
{
	for (int i = 0; i < NK_COUNT(lists); i++)
		for (const nk_func *func = lists[i]; func->name && n_sorted < MAX_FUNCS; func++)
			sorted[n_sorted++] = func;
	qsort(sorted, (size_t)n_sorted, sizeof sorted[0], by_name);
	for (int i = 0; i < n_sorted; i++) {
		const nk_func *func = sorted[i];
		for (int depth = 0; func && depth <= MAX_DEPTH; depth++) {
			add_slot(func);
			func = depth < MAX_DEPTH ? twin_of(func) : NULL;
		}
	}
}

const nk_func *nk_func_find(const char *name)
{
	pthread_once(&sort_once, sort_all);
	for (int at = slot_of(name); slots[at]; at = (at + 1) % N_SLOTS)
		if (strcmp(name, slots[at]->name) == 0)
			return slots[at];
	return NULL;
}

int nk_func_count(void)
{
	pthread_once(&sort_once, sort_all);
	return n_sorted;
}

const nk_func *nk_func_at(int i)
{
	pthread_once(&sort_once, sort_all);
	return sorted[i];
}

int nk_func_n_options(const nk_func *func)
{
	int n = 0;
	while (func->options && func->options[n].name)
		n++;
	return n;
}

int nk_func_option(const nk_func *func, const char *name)
{
	for (int i = 0; func->options && func->options[i].name; i++)
		if (strcmp(func->options[i].name, name) == 0)
			return i;
	return -1;
}

bool nk_option_equal(const nk_option *a, const nk_option *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case NK_OPTION_BOOL: return a->boolean == b->boolean;
	case NK_OPTION_INT: return a->integer == b->integer;
	case NK_OPTION_FLOAT: return memcmp(&a->floating, &b->floating, sizeof a->floating) == 0;
	case NK_OPTION_STRING:
		return a->string == b->string || (a->string && b->string && strcmp(a->string, b->string) == 0);
	case NK_OPTION_DTYPE: return a->dtype == b->dtype;
	case NK_OPTION_FOREIGN: return a->foreign == b->foreign;
	}
	return false;
}
