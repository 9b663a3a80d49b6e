/* The hash loop of one type. Include with T, SUFFIX and BITS(value): the 64 bits that stand for a value. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static inline __attribute__((always_inline)) void NAME(body, SUFFIX)(const T *values, const uint8_t *validity,
                                                                     int64_t n_rows,
                                                                     uint64_t *restrict hashes, bool combine)
{
	if (!validity) {
		for (int64_t i = 0; i < n_rows; i++) {
			uint64_t hash = nk_hash_u64(BITS(values[i]));
			hashes[i] = combine ? nk_hash_combine(hashes[i], hash) : hash;
		}
		return;
	}
	for (int64_t start = 0; start < n_rows; start += 64) {
		uint64_t word = nk_bitmap_word(validity, start, n_rows);
		int64_t n = n_rows - start < 64 ? n_rows - start : 64;
		for (int64_t i = 0; i < n; i++) {
			uint64_t hash = (word >> i) & 1 ? nk_hash_u64(BITS(values[start + i])) : NK_HASH_NULL;
			hashes[start + i] = combine ? nk_hash_combine(hashes[start + i], hash) : hash;
		}
	}
}

static void NAME(hash, SUFFIX)(const void *values, const uint8_t *validity, int64_t n_rows, uint64_t *hashes,
                               bool combine)
{
	if (combine)
		NAME(body, SUFFIX)(values, validity, n_rows, hashes, true);
	else
		NAME(body, SUFFIX)(values, validity, n_rows, hashes, false);
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
#undef BITS
