/* Proves of Parquet's loops at every instruction level: hybrid streams of every width decode to what was written,
 * in pieces of any size, and a stream cut anywhere is refused without a read beyond its end. */
#include "io/parquet/kernels.h"
#include "levels.h"

enum { N_VALUES = 300, N_BYTES_MAX = N_VALUES * 5 + 64 };

/* Packed runs, and repeated ones wherever 16 equal values stand in a row. Returns the bytes written. */
static int encode(uint8_t *out, const uint32_t *values, int n, int width)
{
	uint8_t *at = out;
	for (int i = 0; i < n;) {
		int n_equal = 1;
		while (i + n_equal < n && values[i + n_equal] == values[i])
			n_equal++;
		if (n_equal >= 16) {
			for (unsigned head = (unsigned)n_equal << 1; head; head >>= 7)
				*at++ = (uint8_t)((head & 127) | (head > 127 ? 128 : 0));
			for (int b = 0; b < (width + 7) / 8; b++)
				*at++ = (uint8_t)(values[i] >> (8 * b));
			i += n_equal;
			continue;
		}
		int n_groups = n - i >= 64 ? 2 : 1;
		*at++ = (uint8_t)(n_groups << 1 | 1);
		memset(at, 0, (size_t)(n_groups * width));
		for (int k = 0; k < n_groups * 8; k++)
			for (int b = 0; i + k < n && b < width; b++)
				if (values[i + k] >> b & 1)
					at[(k * width + b) >> 3] |= (uint8_t)(1 << ((k * width + b) & 7));
		at += n_groups * width;
		i += n_groups * 8;
	}
	return (int)(at - out);
}

static void make_values(uint32_t *values, int width, uint64_t seed)
{
	uint64_t state = seed * 77 + 1;
	for (int i = 0; i < N_VALUES; i++) {
		values[i] = width ? (uint32_t)(levels_random(&state) >> (64 - width)) : 0;
		if (i % 96 >= 40 && i % 96 < 72) /* a repeated run that begins at a group's end */
			values[i] = values[i / 96 * 96 + 39];
	}
}

static void check_codes(const nk_parquet_table *base, const nk_parquet_table *level)
{
	(void)base;
	uint32_t values[N_VALUES], out[N_VALUES];
	uint8_t encoded[N_BYTES_MAX];
	for (int width = 0; width <= 32; width++) {
		make_values(values, width, (uint64_t)width);
		int n_bytes = encode(encoded, values, N_VALUES, width);
		/* Exactly as long as it is, so that the sanitizer sees a read beyond. */
		uint8_t *stream = malloc((size_t)n_bytes + !n_bytes);
		memcpy(stream, encoded, (size_t)n_bytes);
		for (int piece = 1; piece <= N_VALUES; piece = piece * 3 + 1) {
			nk_rle rle = nk__rle_start(stream, n_bytes, width);
			memset(out, 0xee, sizeof out);
			bool fine = true;
			for (int i = 0; i < N_VALUES; i += piece) {
				int n = N_VALUES - i < piece ? N_VALUES - i : piece;
				if (i / piece % 4 == 3) {
					fine &= level->skip(&rle, n);
					memcpy(out + i, values + i, (size_t)n * 4);
				} else {
					fine &= level->codes(&rle, out + i, n);
				}
			}
			EXPECT(fine && memcmp(out, values, sizeof out) == 0);
		}
		for (int cut = 0; width > 0 && cut < n_bytes - width * 2; cut++) {
			uint8_t *shorter = malloc((size_t)cut + !cut);
			memcpy(shorter, encoded, (size_t)cut);
			nk_rle rle = nk__rle_start(shorter, cut, width);
			EXPECT(!level->codes(&rle, out, N_VALUES));
			free(shorter);
		}
		free(stream);
	}
}

static void check_bits(const nk_parquet_table *base, const nk_parquet_table *level)
{
	(void)base;
	uint32_t values[N_VALUES];
	uint8_t encoded[N_BYTES_MAX], out[N_VALUES / 8 + 16];
	for (int seed = 0; seed < 20; seed++) {
		make_values(values, 1, (uint64_t)seed + 50);
		int n_bytes = encode(encoded, values, N_VALUES, 1);
		for (int64_t at = 0; at < 17; at++) {
			nk_rle rle = nk__rle_start(encoded, n_bytes, 1);
			int64_t n_ones = 0, n_want = 0;
			memset(out, 0x55, sizeof out);
			EXPECT(level->bits(&rle, out, at, 100, &n_ones));
			EXPECT(level->bits(&rle, out, at + 100, N_VALUES - 100, &n_ones));
			for (int64_t i = 0; i < at; i++)
				EXPECT(nk_bitmap_get(out, i) == !(i & 1));
			for (int i = 0; i < N_VALUES; i++) {
				EXPECT(nk_bitmap_get(out, at + i) == values[i]);
				n_want += values[i];
			}
			EXPECT(n_ones == n_want);
		}
	}
}

static void check_lookup(const nk_parquet_table *base, const nk_parquet_table *level)
{
	(void)base;
	uint32_t values[N_VALUES];
	uint8_t encoded[N_BYTES_MAX], dictionary[32 * 16];
	levels_fill(dictionary, NK_PHYSICAL_U64, 64, 5);
	make_values(values, 5, 3);
	int n_bytes = encode(encoded, values, N_VALUES, 5);
	uint32_t greatest = 0;
	for (int i = 0; i < N_VALUES; i++)
		greatest = values[i] > greatest ? values[i] : greatest;
	for (int size = 0; size < 5; size++)
		for (int k = 0; k < NK_COUNT(levels_lengths); k++) {
			int n = levels_lengths[k];
			uint8_t *out = malloc(((size_t)n << size) + 1); /* no slack is needed */
			nk_rle rle = nk__rle_start(encoded, n_bytes, 5);
			EXPECT(level->lookup[size](&rle, out, n, dictionary, greatest + 1));
			for (int i = 0; i < n; i++)
				EXPECT(memcmp(out + ((size_t)i << size), dictionary + ((size_t)values[i] << size),
				              1u << size) == 0);
			level->gather[size](out, dictionary, values, n);
			for (int i = 0; i < n; i++)
				EXPECT(memcmp(out + ((size_t)i << size), dictionary + ((size_t)values[i] << size),
				              1u << size) == 0);
			free(out);
		}
	uint8_t *out = malloc(N_VALUES * 16);
	for (int size = 0; size < 5; size++) {
		nk_rle rle = nk__rle_start(encoded, n_bytes, 5);
		EXPECT(!level->lookup[size](&rle, out, N_VALUES, dictionary, greatest));
	}
	free(out);
	EXPECT(level->all_below(values, N_VALUES, (int64_t)greatest + 1) &&
	       !level->all_below(values, N_VALUES, greatest));
	EXPECT(level->all_below(values, 0, 0));
}

static void check_rows(const nk_parquet_table *base, const nk_parquet_table *level)
{
	(void)base;
	uint8_t validity[32], text[LEVELS_N_MAX];
	levels_fill(validity, NK_PHYSICAL_U64, 4, 8);
	for (int k = 0; k < NK_COUNT(levels_lengths); k++) {
		int n = levels_lengths[k];
		uint32_t *positions = malloc((size_t)n * 4 + 1);
		int64_t n_valid = nk_bitmap_count(validity, 0, n), seen = 0;
		EXPECT(level->positions(positions, validity, n) == n_valid);
		for (int i = 0; i < n; i++)
			if (nk_bitmap_get(validity, i))
				EXPECT(positions[seen++] == (uint32_t)i);
		free(positions);

		for (int size = 0; size < 5; size++) {
			size_t width = (size_t)1 << size;
			uint8_t *out = malloc((size_t)n * width + 1), *packed = malloc((size_t)n * width + 1);
			for (size_t i = 0; i < (size_t)n * width; i++)
				packed[i] = (uint8_t)(i * 7 + 1);
			memcpy(out + (size_t)(n - n_valid) * width, packed, (size_t)n_valid * width);
			level->spread[size](out, validity, n, n_valid);
			seen = 0;
			static const uint8_t zeros[16];
			for (int i = 0; i < n; i++) {
				bool valid = nk_bitmap_get(validity, i);
				EXPECT(memcmp(out + (size_t)i * width, valid ? packed + (size_t)seen * width : zeros,
				              width) == 0);
				seen += valid;
			}
			free(out);
			free(packed);
		}

		memset(text, 'a', sizeof text);
		EXPECT(level->is_ascii(text, n));
		for (int i = 0; i < n; i++) {
			text[i] = 0xc3;
			EXPECT(!level->is_ascii(text, n));
			text[i] = 'a';
		}
	}
}

int main(void)
{
	LEVELS_CHECK(check_codes, nk__parquet_kernels);
	LEVELS_CHECK(check_bits, nk__parquet_kernels);
	LEVELS_CHECK(check_lookup, nk__parquet_kernels);
	LEVELS_CHECK(check_rows, nk__parquet_kernels);
	return expect_report();
}
