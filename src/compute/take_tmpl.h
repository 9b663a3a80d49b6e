/* Gathers by position. Include with T (a type of the values' width), I (the type of positions) and TAKE (the
 * function's name); with TAKE_BITS instead of T for bits. */
#ifdef TAKE_BITS
static void TAKE_BITS(uint8_t *out, const uint8_t *bits, const I *rows, int64_t n_rows)
{
	int64_t i = 0;
	for (; i + 8 <= n_rows; i += 8) {
		unsigned byte = 0;
		for (int j = 0; j < 8; j++) {
			I row = rows[i + j];
			byte |= (unsigned)((bits[row >> 3] >> (row & 7)) & 1) << j;
		}
		out[i >> 3] = (uint8_t)byte;
	}
	if (i < n_rows) {
		unsigned byte = 0;
		for (int j = 0; i + j < n_rows; j++) {
			I row = rows[i + j];
			byte |= (unsigned)((bits[row >> 3] >> (row & 7)) & 1) << j;
		}
		out[i >> 3] = (uint8_t)byte;
	}
}
#undef TAKE_BITS
#else
static void TAKE(void *out, const void *values, const I *rows, int64_t n_rows)
{
	T *restrict to = out;
	const T *from = values;
	for (int64_t i = 0; i < n_rows; i++)
		to[i] = from[rows[i]];
}
#undef TAKE
#undef T
#endif
#undef I
