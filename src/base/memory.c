/* Blocks of up to 1 MiB are rounded to a size class (four per power of two) and kept on per-thread free lists
 * after release: a query takes and returns the same few sizes for every batch, and the system allocator would
 * give pages back and fault them in again. What a thread keeps is bounded, freed when the thread ends, and
 * still counted as used by no tracker: trackers count what is handed out.
 *
 * Blocks of 4 MiB and more are mapped by themselves, aligned to huge pages and advised to use them: filling fresh
 * memory costs more in page faults than in stores when pages are small. Their end takes small pages, so that no more
 * than was asked for is ever resident. */
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/watch.h"

struct nk_memory {
	nk_memory *parent;
	int64_t n_bytes_limit; /* atomic */
	const char *whose;     /* the limit is, for messages */
	int64_t n_bytes_used;
	int64_t n_bytes_peak;
	int64_t n_until_refusal;
	int64_t n_references;
};

enum {
	ALIGNMENT = 64,
	MIN_CLASS_SHIFT = 8,
	MAX_CLASS_SHIFT = 20,
	N_CLASSES = (MAX_CLASS_SHIFT - MIN_CLASS_SHIFT) * 4 + 1
};
enum { KEPT_PER_THREAD = 16 << 20, SMALL_PAGE = 4096, HUGE_PAGE = 2 << 20, MAPPED_FROM = 4 << 20 };

/* Sanitizers get every block from the system's allocator and back, so that they see its bounds and its end. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

typedef struct free_block {
	struct free_block *next;
} free_block;

typedef struct thread_cache {
	free_block *lists[N_CLASSES];
	int64_t n_bytes;
} thread_cache;

static __thread thread_cache *cache;
static pthread_key_t cache_key;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;

static void cache_free(void *pointer)
{
	thread_cache *dying = pointer;
	for (int c = 0; c < N_CLASSES; c++)
		for (free_block *block = dying->lists[c], *next; block; block = next) {
			next = block->next;
			free(block);
		}
	free(dying);
	cache = NULL;
}

static void cache_key_new(void) { pthread_key_create(&cache_key, cache_free); }

static thread_cache *cache_get(void)
{
	if (NK_LIKELY(cache != NULL))
		return cache;
	pthread_once(&cache_once, cache_key_new);
	cache = calloc(1, sizeof *cache);
	if (cache)
		pthread_setspecific(cache_key, cache);
	return cache;
}

/* The class of a size and the bytes a block of that class has; -1 above the largest class. */
static int class_of(int64_t n_bytes, int64_t *n_rounded)
{
	if (SANITIZED) {
		*n_rounded = n_bytes ? (n_bytes + ALIGNMENT - 1) & -(int64_t)ALIGNMENT : ALIGNMENT;
		return -1;
	}
	if (n_bytes <= 1 << MIN_CLASS_SHIFT) {
		*n_rounded = 1 << MIN_CLASS_SHIFT;
		return 0;
	}
	int shift = 63 - __builtin_clzll((uint64_t)(n_bytes - 1)); /* n_bytes in (2^shift, 2^(shift+1)] */
	if (shift >= MAX_CLASS_SHIFT) {
		*n_rounded = (n_bytes + SMALL_PAGE - 1) & -(int64_t)SMALL_PAGE;
		return -1;
	}
	int64_t step = 1LL << (shift - 2);
	int64_t quarter = (n_bytes - (1LL << shift) + step - 1) / step; /* 1..4 */
	*n_rounded = (1LL << shift) + quarter * step;
	return (shift - MIN_CLASS_SHIFT) * 4 + (int)quarter;
}

static bool is_mapped(int class, int64_t n_rounded)
{
	return !SANITIZED && class < 0 && n_rounded >= MAPPED_FROM;
}

/* Maps one huge page more than is wanted and gives back what lies before and behind the aligned part. */
static void *map_new(int64_t n_bytes)
{
	uint8_t *start =
		mmap(NULL, (size_t)n_bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	size_t n_before = -(uintptr_t)start & (HUGE_PAGE - 1), n_behind = HUGE_PAGE - n_before;
	if (n_before)
		munmap(start, n_before);
	munmap(start + n_before + n_bytes, n_behind);
	madvise(start + n_before, (size_t)n_bytes,
	        MADV_HUGEPAGE); /* a kernel without huge pages refuses: no harm */
	return start + n_before;
}

static void *block_new(int64_t n_bytes)
{
	int64_t n_rounded;
	int class = class_of(n_bytes, &n_rounded);
	if (is_mapped(class, n_rounded))
		return map_new(n_rounded);
	thread_cache *mine = class >= 0 ? cache_get() : NULL;
	if (mine && mine->lists[class]) {
		free_block *block = mine->lists[class];
		mine->lists[class] = block->next;
		mine->n_bytes -= n_rounded;
		return block;
	}
	return aligned_alloc(ALIGNMENT, (size_t)n_rounded);
}

static void block_free(void *block, int64_t n_bytes)
{
	int64_t n_rounded;
	int class = class_of(n_bytes, &n_rounded);
	if (is_mapped(class, n_rounded)) {
		munmap(block, (size_t)n_rounded);
		return;
	}
	thread_cache *mine = class >= 0 ? cache_get() : NULL;
	if (!mine || mine->n_bytes + n_rounded > KEPT_PER_THREAD) {
		free(block);
		return;
	}
	free_block *kept = block;
	kept->next = mine->lists[class];
	mine->lists[class] = kept;
	mine->n_bytes += n_rounded;
}

nk_memory *nk_memory_new(nk_memory *parent, int64_t n_bytes_limit)
{
	nk_memory *memory = malloc(sizeof *memory);
	if (memory)
		*memory = (nk_memory){.parent = parent ? nk_memory_ref(parent) : NULL,
		                      .n_bytes_limit = n_bytes_limit,
		                      .whose = "the process",
		                      .n_until_refusal = -1,
		                      .n_references = 1};
	return memory;
}

nk_memory *nk_memory_ref(nk_memory *memory)
{
	__atomic_fetch_add(&memory->n_references, 1, __ATOMIC_RELAXED);
	return memory;
}

void nk_memory_unref(nk_memory *memory)
{
	while (memory && __atomic_fetch_sub(&memory->n_references, 1, __ATOMIC_ACQ_REL) == 1) {
		nk_memory *parent = memory->parent;
		free(memory);
		memory = parent;
	}
}

int64_t nk_memory_used(const nk_memory *memory)
{
	return __atomic_load_n(&memory->n_bytes_used, __ATOMIC_RELAXED);
}
int64_t nk_memory_peak(const nk_memory *memory)
{
	return __atomic_load_n(&memory->n_bytes_peak, __ATOMIC_RELAXED);
}
static int64_t own_limit(const nk_memory *memory)
{
	return __atomic_load_n(&memory->n_bytes_limit, __ATOMIC_RELAXED);
}

int64_t nk_memory_limit(const nk_memory *memory)
{
	int64_t lowest = INT64_MAX;
	for (; memory; memory = memory->parent)
		lowest = NK_MIN(lowest, own_limit(memory));
	return lowest;
}

void nk_memory_set_limit(nk_memory *memory, int64_t n_bytes_limit, const char *whose)
{
	__atomic_store_n(&memory->whose, whose, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->n_bytes_limit, n_bytes_limit, __ATOMIC_RELAXED);
}

void nk_memory_refuse_after(nk_memory *memory, int64_t n)
{
	__atomic_store_n(&memory->n_until_refusal, n, __ATOMIC_RELAXED);
}

static bool injected_refusal(nk_memory *memory)
{
	if (NK_LIKELY(__atomic_load_n(&memory->n_until_refusal, __ATOMIC_RELAXED) < 0))
		return false;
	int64_t left = __atomic_fetch_sub(&memory->n_until_refusal, 1, __ATOMIC_RELAXED);
	return left == 0;
}

nk_status nk_memory_reserve(nk_memory *memory, int64_t n_bytes, nk_error *err)
{
	NK_TRY(nk_watch_check(err));
	for (nk_memory *at = memory; at; at = at->parent) {
		int64_t used = __atomic_add_fetch(&at->n_bytes_used, n_bytes, __ATOMIC_RELAXED);
		if (NK_UNLIKELY(used > own_limit(at) || injected_refusal(at))) {
			for (nk_memory *undo = memory;; undo = undo->parent) {
				__atomic_sub_fetch(&undo->n_bytes_used, n_bytes, __ATOMIC_RELAXED);
				if (undo == at)
					break;
			}
			return nk_fail(
				err, NK_OUT_OF_MEMORY,
				"the memory limit of %s is reached: %lld bytes asked for with %lld in use of %lld; "
				"raise the limit, or let the query hold less at a time",
				__atomic_load_n(&at->whose, __ATOMIC_RELAXED), (long long)n_bytes,
				(long long)(used - n_bytes), (long long)own_limit(at));
		}
		int64_t peak = __atomic_load_n(&at->n_bytes_peak, __ATOMIC_RELAXED);
		while (used > peak && !__atomic_compare_exchange_n(&at->n_bytes_peak, &peak, used, true,
		                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
	}
	return NK_OK;
}

void nk_memory_release(nk_memory *memory, int64_t n_bytes)
{
	for (nk_memory *at = memory; at; at = at->parent)
		__atomic_sub_fetch(&at->n_bytes_used, n_bytes, __ATOMIC_RELAXED);
}

bool nk_memory_would_grant(const nk_memory *memory, int64_t n_bytes)
{
	for (const nk_memory *at = memory; at; at = at->parent)
		if (nk_memory_used(at) > own_limit(at) - n_bytes)
			return false;
	return true;
}

nk_status nk_alloc(nk_memory *memory, int64_t n_bytes, void **out, nk_error *err)
{
	if (NK_UNLIKELY(n_bytes < 0))
		return nk_fail(err, NK_OUT_OF_MEMORY, "a size of %lld bytes was asked for", (long long)n_bytes);
	NK_TRY(nk_memory_reserve(memory, n_bytes, err));
	void *block = block_new(n_bytes);
	if (!block) {
		nk_memory_release(memory, n_bytes);
		return nk_fail(err, NK_OUT_OF_MEMORY, "the system refused %lld bytes", (long long)n_bytes);
	}
	*out = block;
	return NK_OK;
}

void nk_free(nk_memory *memory, void *block, int64_t n_bytes)
{
	if (!block)
		return;
	block_free(block, n_bytes);
	nk_memory_release(memory, n_bytes);
}

nk_status nk_realloc(nk_memory *memory, void **block, int64_t n_bytes_old, int64_t n_bytes_new, nk_error *err)
{
	int64_t n_rounded_old, n_rounded_new;
	int class_old = class_of(n_bytes_old, &n_rounded_old);
	if (*block && class_old >= 0 && class_old == class_of(n_bytes_new, &n_rounded_new)) {
		if (n_bytes_new > n_bytes_old)
			NK_TRY(nk_memory_reserve(memory, n_bytes_new - n_bytes_old, err));
		else
			nk_memory_release(memory, n_bytes_old - n_bytes_new);
		return NK_OK;
	}
	void *moved;
	NK_TRY(nk_alloc(memory, n_bytes_new, &moved, err));
	if (*block) {
		memcpy(moved, *block, (size_t)NK_MIN(n_bytes_old, n_bytes_new));
		nk_free(memory, *block, n_bytes_old);
	}
	*block = moved;
	return NK_OK;
}

nk_status nk__grow(nk_memory *memory, void **block, int64_t *capacity, int64_t n_wanted, int64_t n_bytes_each,
                   nk_error *err)
{
	int64_t larger = NK_MAX(n_wanted, *capacity + *capacity / 2 + 16);
	NK_TRY(nk_realloc(memory, block, *capacity * n_bytes_each, larger * n_bytes_each, err));
	*capacity = larger;
	return NK_OK;
}
