/* Proves of base/memory and base/arena: trackers count in every ancestor and return to zero, limits and injected
 * refusals leave nothing half done, blocks keep their contents when they move, arenas release in reverse order. */
#include <string.h>

#include "base/arena.h"
#include "expect.h"

static void reservations_count_in_every_ancestor(void)
{
	NK_AUTO(nk_memory) root = nk_memory_new(NULL, 1000);
	NK_AUTO(nk_memory) child = nk_memory_new(root, INT64_MAX);
	nk_error err = {0};
	EXPECT(nk_memory_reserve(child, 600, &err) == NK_OK);
	EXPECT(nk_memory_used(root) == 600 && nk_memory_used(child) == 600);
	EXPECT(!nk_memory_would_grant(child, 401) && nk_memory_would_grant(child, 400));
	EXPECT(nk_memory_reserve(child, 401, &err) == NK_OUT_OF_MEMORY && strstr(err.message, "1000"));
	EXPECT(nk_memory_used(root) == 600 && nk_memory_used(child) == 600);
	nk_memory_release(child, 600);
	EXPECT(nk_memory_used(root) == 0 && nk_memory_used(child) == 0 && nk_memory_peak(root) == 600);
}

static void trackers_outlive_their_children(void)
{
	nk_memory *root = nk_memory_new(NULL, INT64_MAX);
	nk_memory *child = nk_memory_new(root, INT64_MAX);
	void *block;
	EXPECT(nk_alloc(child, 100, &block, NULL) == NK_OK);
	nk_memory_unref(root); /* the child holds it */
	nk_free(child, block, 100);
	EXPECT(nk_memory_used(child) == 0);
	nk_memory_unref(child);
}

static void blocks_of_every_size_are_aligned_and_keep_contents(void)
{
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, INT64_MAX);
	for (int64_t n = 0; n < 5 << 20; n = n * 5 / 4 + 1) {
		void *block;
		EXPECT(nk_alloc(memory, n, &block, NULL) == NK_OK);
		EXPECT(((uintptr_t)block & 63) == 0);
		memset(block, 0x5a, (size_t)n);
		int64_t n_after = n + n / 3 + 7;
		EXPECT(nk_realloc(memory, &block, n, n_after, NULL) == NK_OK);
		EXPECT(nk_memory_used(memory) == n_after);
		unsigned char *bytes = block;
		EXPECT(n == 0 || (bytes[0] == 0x5a && bytes[n / 2] == 0x5a && bytes[n - 1] == 0x5a));
		EXPECT(nk_realloc(memory, &block, n_after, n / 2, NULL) == NK_OK);
		bytes = block;
		EXPECT(n < 2 || bytes[n / 2 - 1] == 0x5a);
		nk_free(memory, block, n / 2);
		EXPECT(nk_memory_used(memory) == 0);
	}
	void *never = NULL;
	EXPECT(nk_alloc(memory, -1, &never, NULL) == NK_OUT_OF_MEMORY && !never);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they end the program */
	EXPECT(nk_alloc(memory, INT64_MAX / 2, &never, NULL) == NK_OUT_OF_MEMORY && !never);
#endif
	EXPECT(nk_memory_used(memory) == 0);
}

static void refused_growth_leaves_the_block(void)
{
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, 4096);
	int64_t *numbers = NULL, capacity = 0;
	EXPECT(NK_GROW(memory, &numbers, &capacity, 10, NULL) == NK_OK && capacity >= 10);
	for (int i = 0; i < 10; i++)
		numbers[i] = i;
	int64_t capacity_before = capacity, *before = numbers;
	EXPECT(NK_GROW(memory, &numbers, &capacity, 100000, NULL) == NK_OUT_OF_MEMORY);
	EXPECT(capacity == capacity_before && numbers == before && numbers[9] == 9);
	nk_free(memory, numbers, capacity * (int64_t)sizeof *numbers);
	EXPECT(nk_memory_used(memory) == 0);
}

static int released[3], n_released;
static void note_release(void *object) { released[n_released++] = *(int *)object; }

static nk_status fill_arena(nk_memory *memory, nk_error *err)
{
	static int numbers[3] = {1, 2, 3};
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	for (int i = 0; i < 3; i++)
		NK_TRY(nk_arena_defer(arena, note_release, &numbers[i], err));
	for (int64_t n = 1; n < 300000; n *= 3) {
		char *bytes;
		NK_TRY(nk_arena_alloc(arena, n, (void **)&bytes, err));
		EXPECT(((uintptr_t)bytes & 15) == 0);
		for (int64_t i = 0; i < n; i++)
			EXPECT(bytes[i] == 0);
		memset(bytes, 1, (size_t)n);
	}
	const char *copy;
	NK_TRY(nk_arena_string(arena, "text and more", 4, &copy, err));
	EXPECT(strcmp(copy, "text") == 0);
	return NK_OK;
}

static void arenas_release_everything_in_reverse(void)
{
	for (int64_t n = 0;; n++) {
		NK_AUTO(nk_memory) memory = nk_memory_new(NULL, INT64_MAX);
		nk_memory_refuse_after(memory, n);
		nk_error err = {0};
		n_released = 0;
		nk_status status = fill_arena(memory, &err);
		EXPECT(nk_memory_used(memory) == 0);
		if (status == NK_OK) {
			EXPECT(n_released == 3 && released[0] == 3 && released[2] == 1);
			EXPECT(n > 3);
			break;
		}
		EXPECT(status == NK_OUT_OF_MEMORY && err.message[0]);
	}
}

int main(void)
{
	reservations_count_in_every_ancestor();
	trackers_outlive_their_children();
	blocks_of_every_size_are_aligned_and_keep_contents();
	refused_growth_leaves_the_block();
	arenas_release_everything_in_reverse();
	return expect_report();
}
