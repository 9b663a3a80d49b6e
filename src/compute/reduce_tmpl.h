/* Reductions of one type. Include with T, SUFFIX, ACC (what sums accumulate in: uint64_t or double), OUT (int64_t or
 * double), IS_FLOAT, LEAST and GREATEST (the neutral values of max and min). */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)
enum { NAME(LANES, SUFFIX) = 16 };

static void NAME(sum, SUFFIX)(const void *from, const uint8_t *validity, int64_t n, void *out)
{
	const T *values = from;
	ACC lanes[NAME(LANES, SUFFIX)] = {0};
	int64_t i = 0;
	if (!validity) {
		for (; i + NAME(LANES, SUFFIX) <= n; i += NAME(LANES, SUFFIX))
			for (int j = 0; j < NAME(LANES, SUFFIX); j++)
				lanes[j] += (ACC)values[i + j];
		for (int j = 0; i + j < n; j++)
			lanes[j] += (ACC)values[i + j];
	} else {
		for (; i < n; i += NAME(LANES, SUFFIX)) {
			uint64_t word = nk_bitmap_word(validity, i, n);
			if (i + NAME(LANES, SUFFIX) <= n) {
				for (int j = 0; j < NAME(LANES, SUFFIX); j++)
					lanes[j] += (word >> j) & 1 ? (ACC)values[i + j] : 0;
			} else {
				for (int j = 0; i + j < n; j++)
					lanes[j] += (word >> j) & 1 ? (ACC)values[i + j] : 0;
			}
		}
	}
	for (int width = NAME(LANES, SUFFIX) / 2; width > 0; width /= 2)
		for (int j = 0; j < width; j++)
			lanes[j] += lanes[j + width];
	*(OUT *)out = (OUT)lanes[0];
}

static inline __attribute__((always_inline)) bool NAME(extreme, SUFFIX)(const T *values,
                                                                        const uint8_t *validity, int64_t n,
                                                                        T *out, bool greatest)
{
	T lanes[NAME(LANES, SUFFIX)];
	bool found = false;
	for (int j = 0; j < NAME(LANES, SUFFIX); j++)
		lanes[j] = greatest ? LEAST : GREATEST;
	for (int64_t i = 0; i < n; i += NAME(LANES, SUFFIX)) {
		uint64_t word = validity ? nk_bitmap_word(validity, i, n) : UINT64_MAX;
		int m = n - i < NAME(LANES, SUFFIX) ? (int)(n - i) : NAME(LANES, SUFFIX);
		if (m == NAME(LANES, SUFFIX) && (!validity || (word & 0xffff) == 0xffff)) {
			for (int j = 0; j < NAME(LANES, SUFFIX); j++) {
				T value = values[i + j];
				lanes[j] = (greatest ? value > lanes[j] : value < lanes[j]) ? value : lanes[j];
			}
			found = true;
			continue;
		}
		for (int j = 0; j < m; j++) {
			T value = values[i + j];
			if (!((word >> j) & 1))
				continue;
			lanes[j] = (greatest ? value > lanes[j] : value < lanes[j]) ? value : lanes[j];
			found = true;
		}
	}
	T best = lanes[0];
	for (int j = 1; j < NAME(LANES, SUFFIX); j++)
		best = (greatest ? lanes[j] > best : lanes[j] < best) ? lanes[j] : best;
#if IS_FLOAT
	/* Only NaNs, or infinities that no comparison could beat: look again. */
	if (found && best == (greatest ? LEAST : GREATEST)) {
		found = false;
		for (int64_t i = 0; i < n && !found; i++)
			found = values[i] == best && (!validity || nk_bitmap_get(validity, i));
	}
#endif
	*out = best;
	return found;
}

static bool NAME(least, SUFFIX)(const void *values, const uint8_t *validity, int64_t n, void *out)
{
	return NAME(extreme, SUFFIX)(values, validity, n, out, false);
}

static bool NAME(greatest, SUFFIX)(const void *values, const uint8_t *validity, int64_t n, void *out)
{
	return NAME(extreme, SUFFIX)(values, validity, n, out, true);
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
#undef ACC
#undef OUT
#undef IS_FLOAT
#undef LEAST
#undef GREATEST
