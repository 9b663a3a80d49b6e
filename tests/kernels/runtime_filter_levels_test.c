/* Proves of the loops of runtime filters at every instruction level: they keep the rows that the definition keeps,
 * among those that were left, at every length, and leave bits past the end clear. */
#include "levels.h"
#include "plan/runtime_filter_loops.h"

enum { N_WORDS = 37, N_BYTES = (LEVELS_N_MAX + 7) / 8 };

static uint64_t words[N_WORDS];

static void start(uint8_t *passes, int n, uint64_t seed)
{
	uint64_t state = seed + 5;
	memset(passes, 0, N_BYTES);
	for (int i = 0; i < n; i++)
		if (seed % 3 == 0 || levels_random(&state) & 1)
			nk_bitmap_set(passes, i);
}

static void check_range(const nk__filter_loops *loops, const int64_t *values, int n, int64_t min, int64_t max,
                        uint64_t seed)
{
	uint8_t before[N_BYTES], passes[N_BYTES];
	bool has_bitmap = (uint64_t)max - (uint64_t)min < N_WORDS * 64;
	for (int with_bitmap = 0; with_bitmap <= has_bitmap; with_bitmap++) {
		start(before, n, seed);
		memcpy(passes, before, N_BYTES);
		if (with_bitmap)
			loops->bitmap(passes, values, n, min, max, words);
		else
			loops->bounds(passes, values, n, min, max);
		for (int i = 0; i < N_BYTES * 8; i++) {
			bool wanted = i < n && nk_bitmap_get(before, i) && values[i] >= min && values[i] <= max &&
			              (!with_bitmap || nk_bitmap_get((const uint8_t *)words, values[i] - min));
			EXPECT(nk_bitmap_get(passes, i) == wanted);
		}
	}
}

static void check_bloom(const nk__filter_loops *loops, const uint64_t *hashes, int n, uint64_t seed)
{
	uint8_t before[N_BYTES], passes[N_BYTES];
	start(before, n, seed);
	memcpy(passes, before, N_BYTES);
	loops->bloom(passes, hashes, n, words, N_WORDS);
	for (int i = 0; i < N_BYTES * 8; i++) {
		uint64_t bits = i < n ? nk__bloom_bits(hashes[i]) : 0;
		bool wanted =
			i < n && nk_bitmap_get(before, i) && (words[nk__bloom_word(hashes[i], N_WORDS)] & bits) == bits;
		EXPECT(nk_bitmap_get(passes, i) == wanted);
	}
}

static void check(const nk__filter_loops *baseline, const nk__filter_loops *loops)
{
	(void)baseline;
	int64_t values[LEVELS_N_MAX], near[LEVELS_N_MAX];
	for (uint64_t seed = 0; seed < 6; seed++)
		for (int l = 0; l < NK_COUNT(levels_lengths); l++) {
			int n = levels_lengths[l];
			uint64_t state = seed + 1;
			levels_fill(values, NK_PHYSICAL_I64, LEVELS_N_MAX, seed);
			for (int i = 0; i < N_WORDS; i++)
				words[i] = levels_random(&state) | levels_random(&state);
			for (int i = 0; i < LEVELS_N_MAX; i++)
				near[i] = 1000 + (int64_t)(levels_random(&state) % (N_WORDS * 64 + 100)) - 50;
			check_range(loops, values, n, -3, 40, seed);
			check_range(loops, values, n, INT64_MIN, INT64_MAX, seed);
			check_range(loops, values, n, INT64_MAX - 2, INT64_MAX, seed);
			check_range(loops, values, n, INT64_MIN, INT64_MIN + 9, seed);
			check_range(loops, near, n, 1000, 1000 + N_WORDS * 64 - 1, seed);
			check_bloom(loops, (const uint64_t *)values, n, seed);
			for (int i = 0; i < LEVELS_N_MAX; i++)
				values[i] = (int64_t)(levels_random(&state) & levels_random(&state));
			check_bloom(loops, (const uint64_t *)values, n, seed);
		}
}

int main(void)
{
	LEVELS_CHECK(check, nk__runtime_filter);
	return expect_report();
}
