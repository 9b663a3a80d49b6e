/* The blend loop of one width. Include with T and SUFFIX. Steps are 0 for a constant, else 1. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static void NAME(blend, SUFFIX)(void *out, const uint8_t *bits, const void *yes, int64_t step_yes,
                                const void *no, int64_t step_no, int64_t n_rows)
{
	T *to = out;
	const T *a = yes, *b = no;
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = nk_bitmap_word(bits, i, n_rows);
		int64_t n = n_rows - i < 64 ? n_rows - i : 64;
		for (int64_t j = 0; j < n; j++)
			to[i + j] = (word >> j) & 1 ? a[(i + j) * step_yes] : b[(i + j) * step_no];
	}
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
