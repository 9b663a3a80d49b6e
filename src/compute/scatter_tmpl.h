/* Scattering loops of one type. Include with T, SUFFIX and ACC (uint64_t or double). */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static void NAME(sum, SUFFIX)(void *states, const uint32_t *groups, const void *from, const uint8_t *validity,
                              int64_t n)
{
	ACC *sums = states;
	const T *values = from;
	if (!validity) {
		for (int64_t i = 0; i < n; i++)
			sums[groups[i]] += (ACC)values[i];
		return;
	}
	for (int64_t i = 0; i < n; i++)
		sums[groups[i]] += nk_bitmap_get(validity, i) ? (ACC)values[i] : 0;
}

static void NAME(mean, SUFFIX)(void *states, const uint32_t *groups, const void *from,
                               const uint8_t *validity, int64_t n)
{
	nk_mean_state *means = states;
	const T *values = from;
	if (!validity) {
		for (int64_t i = 0; i < n; i++) {
			means[groups[i]].sum += (double)values[i];
			means[groups[i]].count++;
		}
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		bool valid = nk_bitmap_get(validity, i);
		means[groups[i]].sum += valid ? (double)values[i] : 0;
		means[groups[i]].count += valid;
	}
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
#undef ACC
