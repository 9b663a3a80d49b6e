/* Running folds of one type. Include with T, SUFFIX, U (T's unsigned twin for sums that wrap, or T), ACC
 * (what floats sum in) and IS_FLOAT. Rows under null keep the fold as it stands. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static inline __attribute__((always_inline)) void NAME(run, SUFFIX)(T *out, const T *values,
                                                                    const uint8_t *validity, int64_t from,
                                                                    int64_t to, cumulative kind,
                                                                    bool reversed)
{
#if IS_FLOAT
	ACC sum = 0;
#else
	U sum = 0;
#endif
	T product = 1, best = 0;
	bool met = false;
	for (int64_t i = from; i < to; i++) {
		int64_t row = reversed ? to - 1 - (i - from) : i;
		T value = values[row];
		bool valid = !validity || nk_bitmap_get(validity, row);
		switch (kind) {
		case CUM_SUM:
			if (valid)
#if IS_FLOAT
				sum += value;
#else
				sum += (U)value;
#endif
			out[row] = (T)sum;
			break;
		case CUM_PROD:
			if (valid)
#if IS_FLOAT
				product *= value;
#else
				product = (T)((U)product * (U)value);
#endif
			out[row] = product;
			break;
		case CUM_MIN:
		case CUM_MAX:
			if (valid) {
				bool better = kind == CUM_MIN ? value < best : value > best;
#if IS_FLOAT
				better |= best != best;
#endif
				best = (better | !met) ? value : best;
				met = true;
			}
			out[row] = best;
			break;
		case CUM_COUNT: break;
		}
	}
}

static void NAME(fold, SUFFIX)(void *out, const void *values, const uint8_t *validity, int64_t n_groups,
                               const int64_t *offsets, cumulative kind, bool reversed)
{
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t from = offsets[g], to = offsets[g + 1];
		if (!validity && !reversed && kind == CUM_SUM)
			NAME(run, SUFFIX)(out, values, NULL, from, to, CUM_SUM, false);
		else if (kind == CUM_SUM)
			NAME(run, SUFFIX)(out, values, validity, from, to, CUM_SUM, reversed);
		else if (kind == CUM_PROD)
			NAME(run, SUFFIX)(out, values, validity, from, to, CUM_PROD, reversed);
		else if (kind == CUM_MIN)
			NAME(run, SUFFIX)(out, values, validity, from, to, CUM_MIN, reversed);
		else
			NAME(run, SUFFIX)(out, values, validity, from, to, CUM_MAX, reversed);
	}
}

#undef NAME
#undef NAME_
#undef T
#undef U
#undef ACC
#undef SUFFIX
#undef IS_FLOAT
