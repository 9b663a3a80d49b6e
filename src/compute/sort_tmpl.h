/* Sorting of entries, stable, for one kind of entry. ENTRY: the type; WORD(e): the bits that radix passes look at; LESS(a, b):
 * the order, for which ties that radix passes leave in place are not less; NAME(x). Functions that take `from` and `to`
 * use both and return where the result is. */

static void NAME(insertion)(ENTRY *entries, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		ENTRY moved = entries[i];
		int64_t at = i;
		for (; at > 0 && LESS(moved, entries[at - 1]); at--)
			entries[at] = entries[at - 1];
		entries[at] = moved;
	}
}

/* Merge passes over insertion-sorted runs. */
static ENTRY *NAME(merge)(ENTRY *from, ENTRY *to, int64_t n)
{
	for (int64_t begin = 0; begin < n; begin += SMALL)
		NAME(insertion)(from + begin, NK_MIN((int64_t)SMALL, n - begin));
	for (int64_t width = SMALL; width < n; width *= 2) {
		for (int64_t begin = 0; begin < n; begin += 2 * width) {
			int64_t middle = NK_MIN(begin + width, n), end = NK_MIN(begin + 2 * width, n), a = begin,
					b = middle;
			for (int64_t at = begin; at < end; at++) {
				bool left = b == end || (a < middle && !LESS(from[b], from[a]));
				to[at] = left ? from[a] : from[b];
				a += left;
				b += !left;
			}
		}
		ENTRY *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Radix passes over bits [low, low + n_bits) of the word. */
static ENTRY *NAME(radix)(ENTRY *from, ENTRY *to, int64_t n, int low, int n_bits)
{
	uint32_t counts[1 << MAX_DIGIT];
	int n_passes = (n_bits + MAX_DIGIT - 1) / MAX_DIGIT,
		digit = n_passes ? (n_bits + n_passes - 1) / n_passes : 0;
	for (int pass = 0; pass < n_passes; pass++) {
		int shift = low + pass * digit;
		uint64_t mask = (1ull << digit) - 1;
		memset(counts, 0, sizeof *counts << digit);
		for (int64_t i = 0; i < n; i++)
			counts[WORD(from[i]) >> shift & mask]++;
		if (counts[WORD(from[0]) >> shift & mask] == n)
			continue;
		uint32_t sum = 0;
		for (uint64_t d = 0; d <= mask; d++) {
			uint32_t count = counts[d];
			counts[d] = sum;
			sum += count;
		}
		for (int64_t i = 0; i < n; i++)
			to[counts[WORD(from[i]) >> shift & mask]++] = from[i];
		ENTRY *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static ENTRY *NAME(sort)(ENTRY *from, ENTRY *to, int64_t n, int low, int n_bits)
{
	return n <= MERGE_BELOW ? NAME(merge)(from, to, n) : NAME(radix)(from, to, n, low, n_bits);
}

/* One bucket of a split: sorted, and its rows written. */
static void NAME(sort_bucket)(split *all, int64_t begin, int64_t end)
{
	ENTRY *a = (ENTRY *)all->sort->a, *b = (ENTRY *)all->sort->b;
	ENTRY *sorted = NAME(sort)(b + begin, a + begin, end - begin, all->low, all->by->n_bits - all->digit);
	for (int64_t i = 0; i < end - begin; i++)
		all->rows[begin + i] = ROW(sorted[i], all);
}

/* Entries of rows [begin, end) to where their buckets say. */
static void NAME(scatter)(const split *all, uint32_t *places, int64_t begin, int64_t end)
{
	const uint64_t *words = all->by->words;
	int shift = all->by->n_bits - all->digit;
	ENTRY *to = (ENTRY *)all->sort->b;
	for (int64_t i = begin; i < end; i++)
		to[places[words[i] >> shift]++] = MAKE(words[i], i, all);
}

#undef ENTRY
#undef WORD
#undef LESS
#undef ROW
#undef MAKE
#undef NAME
