/* Which of the values [from, to) of a type T are not among those before them. */
#define FIRST_PASTE(a, b) a##b
#define FIRST_NAME(a, b) FIRST_PASTE(a, b)

static void FIRST_NAME(first_, SUFFIX)(const void *values, int64_t from, int64_t to, uint8_t *first)
{
	const T *at = values;
	for (int64_t i = from; i < to; i++) {
		bool known = false;
		for (int64_t j = from; j < i; j++)
			known |= at[j] == at[i];
		first[i] = !known;
	}
}

#undef FIRST_NAME
#undef FIRST_PASTE
#undef T
#undef SUFFIX
