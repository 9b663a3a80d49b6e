/* Rolling sums, means and extremes of one type. Include with T, SUFFIX, U (the unsigned twin, or T), IS_FLOAT. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

#if IS_FLOAT
/* Floats are added and removed with the rounding error of each carried along; what is not finite is only counted. */
typedef struct NAME(sum, SUFFIX) {
	ACC sum, lost_adding, lost_removing;
	int64_t n_nan, n_positive, n_negative;
} NAME(sum, SUFFIX);

static inline void NAME(carry, SUFFIX)(ACC *sum, ACC *lost, ACC value)
{
	ACC part = value - *lost, next = *sum + part;
	*lost = (next - *sum) - part;
	*sum = next;
}

static inline void NAME(count, SUFFIX)(NAME(sum, SUFFIX) * s, T value, int64_t n)
{
	s->n_nan += value != value ? n : 0;
	s->n_positive += value > 0 ? n : 0;
	s->n_negative += value < 0 ? n : 0;
}

static inline void NAME(add, SUFFIX)(NAME(sum, SUFFIX) * s, T value)
{
	if (NK_UNLIKELY(value - value != 0))
		NAME(count, SUFFIX)(s, value, 1);
	else
		NAME(carry, SUFFIX)(&s->sum, &s->lost_adding, (ACC)value);
}

static inline void NAME(take_out, SUFFIX)(NAME(sum, SUFFIX) * s, T value)
{
	if (NK_UNLIKELY(value - value != 0))
		NAME(count, SUFFIX)(s, value, -1);
	else
		NAME(carry, SUFFIX)(&s->sum, &s->lost_removing, -(ACC)value);
}

static inline ACC NAME(total, SUFFIX)(const NAME(sum, SUFFIX) * s)
{
	if (NK_LIKELY(!(s->n_nan | s->n_positive | s->n_negative)))
		return s->sum;
	return s->n_nan || (s->n_positive && s->n_negative) ? (ACC)NAN
	       : s->n_positive                              ? (ACC)INFINITY
	                                                    : -(ACC)INFINITY;
}
#else
typedef struct NAME(sum, SUFFIX) {
	U sum;
} NAME(sum, SUFFIX);

static inline void NAME(add, SUFFIX)(NAME(sum, SUFFIX) * s, T value) { s->sum += (U)value; }
static inline void NAME(take_out, SUFFIX)(NAME(sum, SUFFIX) * s, T value) { s->sum -= (U)value; }
static inline T NAME(total, SUFFIX)(const NAME(sum, SUFFIX) * s) { return (T)s->sum; }
#endif

static inline __attribute__((always_inline)) void NAME(sums_of_group,
                                                       SUFFIX)(const nk_rolling *r, const T *values,
                                                               const uint8_t *validity, int64_t from,
                                                               int64_t to, T *out, uint8_t *known, bool mean)
{
	NAME(sum, SUFFIX) s = {0};
	int64_t start = from, end = from, n = 0;
	for (int64_t i = from; i < to; i++) {
		int64_t next_start, next_end;
		nk__rolling_window(r, i, from, to, &next_start, &next_end);
		if (next_start >= end) { /* nothing stays: begin anew, without what was lost */
			s = (NAME(sum, SUFFIX)){0};
			start = end = next_start;
			n = 0;
		}
		for (; start < next_start; start++)
			if (!validity || nk_bitmap_get(validity, start)) {
				NAME(take_out, SUFFIX)(&s, values[start]);
				n--;
			}
		for (; end < next_end; end++)
			if (!validity || nk_bitmap_get(validity, end)) {
				NAME(add, SUFFIX)(&s, values[end]);
				n++;
			}
		bool is_known = n >= r->min_samples && (n > 0 || !mean);
		out[i] = (T)NAME(total, SUFFIX)(&s);
#if IS_FLOAT
		if (mean)
			out[i] = (T)(NAME(total, SUFFIX)(&s) / (ACC)(n > 0 ? n : 1));
#endif
		if (!is_known) {
			out[i] = 0;
			nk_bitmap_clear(known, i);
		}
	}
}

static void NAME(sums, SUFFIX)(const nk_rolling *r, const void *values, const uint8_t *validity,
                               int64_t n_groups, const int64_t *offsets, void *out, uint8_t *known)
{
	for (int64_t g = 0; g < n_groups; g++)
		if (r->kind == NK_ROLLING_MEAN)
			NAME(sums_of_group, SUFFIX)(r, values, validity, offsets[g], offsets[g + 1], out, known, true);
		else if (validity)
			NAME(sums_of_group, SUFFIX)(r, values, validity, offsets[g], offsets[g + 1], out, known, false);
		else
			NAME(sums_of_group, SUFFIX)(r, values, NULL, offsets[g], offsets[g + 1], out, known, false);
}

/* The queue holds places of values that may yet be the extreme: each better than all behind it are worse. NaNs are not in
 * it; a window with one is NaN. */
static inline __attribute__((always_inline)) void NAME(extremes_of_group,
                                                       SUFFIX)(const nk_rolling *r, const T *values,
                                                               const uint8_t *validity, int64_t from,
                                                               int64_t to, int64_t *queue, int64_t mask,
                                                               T *out, uint8_t *known, bool greatest)
{
	int64_t first = 0, last = 0; /* of the queue, counted on and on */
	int64_t start = from, end = from, n = 0;
#if IS_FLOAT
	int64_t n_nan = 0;
#endif
	for (int64_t i = from; i < to; i++) {
		int64_t next_start, next_end;
		nk__rolling_window(r, i, from, to, &next_start, &next_end);
		for (; end < next_end; end++) {
			if (validity && !nk_bitmap_get(validity, end))
				continue;
			n++;
#if IS_FLOAT
			if (values[end] != values[end]) {
				n_nan++;
				continue;
			}
#endif
			T value = values[end];
			while (last > first) {
				T other = values[queue[(last - 1) & mask]];
				if (greatest ? other > value : other < value)
					break;
				last--;
			}
			queue[last++ & mask] = end;
			/* A window that skips rows must not let the queue outgrow its ring. */
			while (queue[first & mask] < next_start && first < last)
				first++;
		}
		for (; start < next_start; start++) {
			if (validity && !nk_bitmap_get(validity, start))
				continue;
			n--;
#if IS_FLOAT
			n_nan -= values[start] != values[start];
#endif
		}
		while (first < last && queue[first & mask] < next_start)
			first++;
		if (n >= r->min_samples && n > 0) {
			out[i] = first < last ? values[queue[first & mask]] : 0;
#if IS_FLOAT
			if (n_nan)
				out[i] = (T)NAN;
#endif
		} else {
			out[i] = 0;
			nk_bitmap_clear(known, i);
		}
	}
}

static void NAME(extremes, SUFFIX)(const nk_rolling *r, const void *values, const uint8_t *validity,
                                   int64_t n_groups, const int64_t *offsets, int64_t *queue, int64_t mask,
                                   void *out, uint8_t *known)
{
	for (int64_t g = 0; g < n_groups; g++)
		if (r->kind == NK_ROLLING_MAX)
			NAME(extremes_of_group, SUFFIX)
			(r, values, validity, offsets[g], offsets[g + 1], queue, mask, out, known, true);
		else
			NAME(extremes_of_group, SUFFIX)
			(r, values, validity, offsets[g], offsets[g + 1], queue, mask, out, known, false);
}

#undef NAME
#undef NAME_
#undef T
#undef U
#undef ACC
#undef SUFFIX
#undef IS_FLOAT
