/* Rolling sums, means and extremes of one type. Include with T, SUFFIX, U (the unsigned twin, or T),
 * IS_FLOAT, and for floats ACC, what they sum in.
 *
 * A window is two runs of rows: those before a mark, for which the results of all suffixes were made when
 * the mark was set, and those after it, whose result grows with the window. When the first run is used up
 * the mark moves to the end of the window. Nothing is ever taken out again, so that floats lose no digits
 * and NaN needs no care, and a row costs constant time. Integers may leave their sum as they entered it. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)
#define INLINE static inline __attribute__((always_inline))

typedef struct NAME(segment, SUFFIX) {
	const nk_rolling *r;
	const T *values;
	const uint8_t *validity; /* NULL: all valid */
	int64_t from, to;
	void *suffixes; /* a ring: row k at k & mask */
	int64_t mask;
	T *out;
	uint8_t *known;
} NAME(segment, SUFFIX);

#if IS_FLOAT
INLINE void NAME(sum, SUFFIX)(const NAME(segment, SUFFIX) * s, const uint8_t *validity, bool mean)
{
	int64_t start = s->from, end = s->from, mark = s->from, n = 0;
	ACC after = 0, *suffixes = s->suffixes;
	for (int64_t i = s->from; i < s->to; i++) {
		int64_t next_start, next_end;
		nk__rolling_window(s->r, i, s->from, s->to, &next_start, &next_end);
		if (next_start >= end) { /* nothing stays */
			start = end = mark = next_start;
			after = 0;
			n = 0;
		}
		for (; end < next_end; end++) {
			bool valid = !validity || nk_bitmap_get(validity, end);
			after += valid ? (ACC)s->values[end] : 0;
			n += valid;
		}
		for (; start < next_start; start++)
			n -= !validity || nk_bitmap_get(validity, start);
		if (start > mark) {
			ACC so_far = 0;
			for (int64_t k = end; k-- > start;) {
				so_far += !validity || nk_bitmap_get(validity, k) ? (ACC)s->values[k] : 0;
				suffixes[k & s->mask] = so_far;
			}
			mark = end;
			after = 0;
		}
		if (n < s->r->min_samples || (mean && n == 0)) {
			s->out[i] = 0;
			nk_bitmap_clear(s->known, i);
			continue;
		}
		ACC sum = start < mark ? suffixes[start & s->mask] + after : after;
		s->out[i] = (T)(mean ? sum / (ACC)n : sum);
	}
}
#else
INLINE void NAME(sum, SUFFIX)(const NAME(segment, SUFFIX) * s, const uint8_t *validity, bool mean)
{
	U sum = 0;
	int64_t start = s->from, end = s->from, n = 0;
	(void)mean;
	for (int64_t i = s->from; i < s->to; i++) {
		int64_t next_start, next_end;
		nk__rolling_window(s->r, i, s->from, s->to, &next_start, &next_end);
		for (; end < next_end; end++)
			if (!validity || nk_bitmap_get(validity, end)) {
				sum += (U)s->values[end];
				n++;
			}
		for (; start < next_start; start++)
			if (!validity || nk_bitmap_get(validity, start)) {
				sum -= (U)s->values[start];
				n--;
			}
		s->out[i] = n >= s->r->min_samples ? (T)sum : 0;
		if (n < s->r->min_samples)
			nk_bitmap_clear(s->known, i);
	}
}
#endif

/* The better of two; NaN is better than all else, so that a window with one is NaN. */
INLINE T NAME(better, SUFFIX)(T a, T b, bool greatest)
{
#if IS_FLOAT
	return ((greatest ? b > a : b < a) | (b != b)) ? b : a;
#else
	return (greatest ? b > a : b < a) ? b : a;
#endif
}

/* Nulls count as the worst value. */
INLINE void NAME(extreme, SUFFIX)(const NAME(segment, SUFFIX) * s, const uint8_t *validity, T worst,
                                  bool greatest)
{
	int64_t start = s->from, end = s->from, mark = s->from, n = 0;
	T after = worst, *suffixes = s->suffixes;
	for (int64_t i = s->from; i < s->to; i++) {
		int64_t next_start, next_end;
		nk__rolling_window(s->r, i, s->from, s->to, &next_start, &next_end);
		if (next_start >= end) {
			start = end = mark = next_start;
			after = worst;
			n = 0;
		}
		for (; end < next_end; end++) {
			bool valid = !validity || nk_bitmap_get(validity, end);
			if (valid)
				after = NAME(better, SUFFIX)(after, s->values[end], greatest);
			n += valid;
		}
		for (; start < next_start; start++)
			n -= !validity || nk_bitmap_get(validity, start);
		if (start > mark) {
			T so_far = worst;
			for (int64_t k = end; k-- > start;) {
				if (!validity || nk_bitmap_get(validity, k))
					so_far = NAME(better, SUFFIX)(so_far, s->values[k], greatest);
				suffixes[k & s->mask] = so_far;
			}
			mark = end;
			after = worst;
		}
		if (n < s->r->min_samples || n == 0) {
			s->out[i] = 0;
			nk_bitmap_clear(s->known, i);
			continue;
		}
		s->out[i] = after;
		if (start < mark)
			s->out[i] = NAME(better, SUFFIX)(suffixes[start & s->mask], after, greatest);
	}
}

static void NAME(roll, SUFFIX)(const nk_rolling *r, const void *values, const uint8_t *validity,
                               int64_t n_groups, const int64_t *offsets, void *suffixes, int64_t mask,
                               void *out, uint8_t *known)
{
#if IS_FLOAT
	T least = -(T)INFINITY, most = (T)INFINITY;
#else
	T least = (T)-1 < 1 ? (T)((U)1 << (sizeof(T) * 8 - 1)) : 0, most = (T) ~(U)least;
#endif
	for (int64_t g = 0; g < n_groups; g++) {
		NAME(segment, SUFFIX)
		s = {r, values, validity, offsets[g], offsets[g + 1], suffixes, mask, out, known};
		if (r->kind == NK_ROLLING_MEAN)
			NAME(sum, SUFFIX)(&s, validity, true);
		else if (r->kind == NK_ROLLING_SUM && validity)
			NAME(sum, SUFFIX)(&s, validity, false);
		else if (r->kind == NK_ROLLING_SUM)
			NAME(sum, SUFFIX)(&s, NULL, false);
		else if (r->kind == NK_ROLLING_MAX && validity)
			NAME(extreme, SUFFIX)(&s, validity, least, true);
		else if (r->kind == NK_ROLLING_MAX)
			NAME(extreme, SUFFIX)(&s, NULL, least, true);
		else if (validity)
			NAME(extreme, SUFFIX)(&s, validity, most, false);
		else
			NAME(extreme, SUFFIX)(&s, NULL, most, false);
	}
}

#undef INLINE
#undef NAME
#undef NAME_
#undef T
#undef U
#undef ACC
#undef SUFFIX
#undef IS_FLOAT
