/* Loops over values of one size. Include with T (an unsigned type of that size, allowed at any address: pages
 * are not aligned) and SUFFIX defined. */
#define NAME_(what, suffix) what##_##suffix
#define NAME__(what, suffix) NAME_(what, suffix)
#define NAME(what) NAME__(what, SUFFIX)

static void NAME(gather)(void *out_, const void *values_, const uint32_t *positions, int64_t n)
{
	T *restrict out = out_;
	const T *restrict values = values_;
	int64_t i = 0;
	for (; i + 4 <= n; i += 4) {
		T a = values[positions[i]], b = values[positions[i + 1]];
		T c = values[positions[i + 2]], d = values[positions[i + 3]];
		out[i] = a;
		out[i + 1] = b;
		out[i + 2] = c;
		out[i + 3] = d;
	}
	for (; i < n; i++)
		out[i] = values[positions[i]];
}

static bool NAME(lookup)(nk_rle *rle, void *out_, int64_t n, const void *dictionary_, int64_t n_dictionary)
{
	const T *dictionary = dictionary_;
	T *out = out_;
	uint32_t codes[PIECE];
	while (n > 0) {
		if (!start_run(rle))
			return false;
		if (rle->n_repeated > 0) {
			if (rle->value >= n_dictionary)
				return false;
			int64_t n_now = n < rle->n_repeated ? n : rle->n_repeated;
			T value = dictionary[rle->value];
			for (int64_t i = 0; i < n_now; i++)
				out[i] = value;
			rle->n_repeated -= n_now;
			out += n_now;
			n -= n_now;
			continue;
		}
		int64_t n_now = n < rle->n_packed ? n : rle->n_packed;
		n_now = n_now < PIECE ? n_now : PIECE;
		take_packed(rle, codes, n_now);
		if (!all_below(codes, n_now, n_dictionary))
			return false;
		NAME(gather)(out, dictionary, codes, n_now);
		out += n_now;
		n -= n_now;
	}
	return true;
}

static void NAME(spread)(void *out_, const uint8_t *validity, int64_t n, int64_t n_values)
{
	T *out = out_;
	const T *from = out + n - n_values, *end = out + n;
	int64_t i = 0;
	for (; i + 8 <= n && from < end; i += 8) {
		unsigned byte = validity[i >> 3];
		if (byte == 0xff) {
			/* reads stay ahead of writes: as many rows as values are left, or more */
			memmove(out + i, from, 8 * sizeof(T));
			from += 8;
			continue;
		}
		for (int bit = 0; bit < 8; bit++) {
			bool is_valid = (byte >> bit) & 1;
			T value = from < end ? *from : 0;
			out[i + bit] = is_valid ? value : 0;
			from += is_valid;
		}
	}
	for (; i < n; i++) {
		bool is_valid = (validity[i >> 3] >> (i & 7)) & 1;
		T value = from < end ? *from : 0;
		out[i] = is_valid ? value : 0;
		from += is_valid;
	}
}

#undef NAME
#undef NAME_
#undef NAME__
#undef T
#undef SUFFIX
