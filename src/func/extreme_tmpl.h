/* Least and greatest values of groups, of one type. Include with T (the values' type), S (the state's), SUFFIX and
 * IS_FLOAT; with SCAN_ONLY where another inclusion with the same S merges and finishes. A state remembers whether it
 * met a value; floats also whether only NaNs so far. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

typedef struct NAME(state, SUFFIX) {
	S value;
	int64_t met; /* 0 nothing, 1 NaNs only, 2 a value */
} NAME(state, SUFFIX);

static inline __attribute__((always_inline)) void NAME(meet, SUFFIX)(NAME(state, SUFFIX) * state, S value,
                                                                     bool greatest, bool poisoned)
{
#if IS_FLOAT
	if (value != value) {
		if (poisoned || state->met < 2) {
			state->met = poisoned ? 2 : 1;
			state->value = value;
		}
		return;
	}
	if (poisoned && state->met == 2 && state->value != state->value)
		return;
#else
	(void)poisoned;
#endif
	bool better = greatest ? value > state->value : value < state->value;
	if (better | (state->met < 2)) {
		state->value = value;
		state->met = 2;
	}
}

static inline __attribute__((always_inline)) void NAME(scan, SUFFIX)(NAME(state, SUFFIX) * states,
                                                                     const uint32_t *groups, const T *values,
                                                                     const uint8_t *validity, int64_t n,
                                                                     bool greatest, bool poisoned)
{
	for (int64_t i = 0; i < n; i++)
		if (!validity || nk_bitmap_get(validity, i))
			NAME(meet, SUFFIX)(&states[groups ? groups[i] : 0], values[i], greatest, poisoned);
}

static void NAME(extreme, SUFFIX)(void *states, const uint32_t *groups, const void *values,
                                  const uint8_t *validity, int64_t n, bool greatest, bool poisoned)
{
	if (greatest)
		NAME(scan, SUFFIX)(states, groups, values, validity, n, true, poisoned);
	else
		NAME(scan, SUFFIX)(states, groups, values, validity, n, false, poisoned);
}

#ifndef SCAN_ONLY
static void NAME(fold, SUFFIX)(void *states, const uint32_t *groups, const void *others, int64_t n,
                               bool greatest, bool poisoned)
{
	const NAME(state, SUFFIX) *from = others;
	for (int64_t i = 0; i < n; i++)
		if (from[i].met)
			NAME(meet, SUFFIX)
	((NAME(state, SUFFIX) *)states + (groups ? groups[i] : 0), from[i].value, greatest, poisoned);
}

static void NAME(finish, SUFFIX)(void *values, uint8_t *validity, const void *states, int64_t n)
{
	const NAME(state, SUFFIX) *from = states;
	S *to = values;
	for (int64_t i = 0; i < n; i++) {
		to[i] = from[i].value;
		if (!from[i].met)
			nk_bitmap_clear(validity, i);
	}
}
#endif

#undef NAME
#undef NAME_
#undef T
#undef S
#undef SUFFIX
#undef IS_FLOAT
#undef SCAN_ONLY
