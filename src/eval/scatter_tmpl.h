/* Values of one width to their places. Include with T and SUFFIX. Reading in order and writing to a moving
 * front per group touches every line of memory eight times while it is near; gathering in the order of
 * places would touch it once. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static void NAME(scatter, SUFFIX)(void *restrict out, const void *restrict values,
                                  const uint32_t *restrict places, int64_t n_rows)
{
	const T *from = values;
	T *to = out;
	for (int64_t i = 0; i < n_rows; i++)
		to[places[i]] = from[i];
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
