/* Loads and stores of one type. Include with T, SUFFIX, IS_FLOAT, for integers MOST (the largest value), LEAST and
 * GREATEST (as doubles: the open range that a float must lie in to be truncated to T). */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static void NAME(load_float, SUFFIX)(double *out, const void *from, int64_t n)
{
	const T *values = from;
	for (int64_t i = 0; i < n; i++)
		out[i] = (double)values[i];
}

#if IS_FLOAT
static bool NAME(store_int, SUFFIX)(void *out, const int64_t *values, int64_t n, uint8_t *bad)
{
	T *to = out;
	(void)bad;
	for (int64_t i = 0; i < n; i++)
		to[i] = (T)values[i];
	return false;
}

static bool NAME(store_wide, SUFFIX)(void *out, const __int128 *values, int64_t n, uint8_t *bad)
{
	T *to = out;
	(void)bad;
	for (int64_t i = 0; i < n; i++)
		to[i] = (T)values[i];
	return false;
}

static bool NAME(store_float, SUFFIX)(void *out, const double *values, int64_t n, uint8_t *bad)
{
	T *to = out;
	(void)bad;
	for (int64_t i = 0; i < n; i++)
		to[i] = (T)values[i];
	return false;
}
#else
static void NAME(load_int, SUFFIX)(int64_t *out, const void *from, int64_t n)
{
	const T *values = from;
	for (int64_t i = 0; i < n; i++)
		out[i] = (int64_t)values[i];
}

static void NAME(load_wide, SUFFIX)(__int128 *out, const void *from, int64_t n)
{
	const T *values = from;
	for (int64_t i = 0; i < n; i++)
		out[i] = (__int128)values[i];
}

static bool NAME(store_int, SUFFIX)(void *out, const int64_t *values, int64_t n, uint8_t *bad)
{
	T *to = out;
	uint8_t any = 0;
	for (int64_t i = 0; i < n; i++) {
		to[i] = (T)values[i];
		/* Back again, and of one sign: 64-bit unsigned ones come back from everything. */
		bad[i] = (int64_t)to[i] != values[i] || ((T)-1 > 0 && values[i] < 0);
		any |= bad[i];
	}
	return any;
}

static bool NAME(store_wide, SUFFIX)(void *out, const __int128 *values, int64_t n, uint8_t *bad)
{
	T *to = out;
	uint8_t any = 0;
	for (int64_t i = 0; i < n; i++) {
		to[i] = (T)values[i];
		bad[i] = (__int128)to[i] != values[i];
		any |= bad[i];
	}
	return any;
}

static bool NAME(store_float, SUFFIX)(void *out, const double *values, int64_t n, uint8_t *bad)
{
	T *to = out;
	uint8_t any = 0;
	for (int64_t i = 0; i < n; i++) {
		double value = values[i];
		bad[i] = !(value > LEAST && value < GREATEST);
		any |= bad[i];
		to[i] = bad[i] ? (T)(value >= GREATEST ? MOST : value <= LEAST ? (T) ~(T)MOST : 0) : (T)value;
	}
	return any;
}
#endif

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
#undef IS_FLOAT
#undef LEAST
#undef GREATEST
#undef MOST
