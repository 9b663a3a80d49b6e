/* Proves that arithmetic, comparison, hashing, selection, reduction and Decimal loops give the same bytes at every
 * instruction level, for every type, on every tail and with nulls; and for comparison that they are right. */
#include "compute/compare.h"
#include "compute/decimal.h"
#include "compute/hash_loops.h"
#include "compute/reduce.h"
#include "compute/select_table.h"
#include "levels.h"

static void *left, *right, *want, *got;
static uint8_t *validity;

static bool both_nan(nk_physical physical, const char *a, const char *b)
{
	if (physical == NK_PHYSICAL_F32)
		return isnan(*(const float *)a) && isnan(*(const float *)b);
	return physical == NK_PHYSICAL_F64 && isnan(*(const double *)a) && isnan(*(const double *)b);
}

/* Equal bytes, but for the sign and payload of NaN, which no operation promises. */
static bool same_values(nk_physical physical, int n)
{
	int width = levels_width(physical);
	for (int i = 0; i < n; i++) {
		const char *a = (char *)want + (int64_t)i * width, *b = (char *)got + (int64_t)i * width;
		if (memcmp(a, b, (size_t)width) != 0 && !both_nan(physical, a, b))
			return false;
	}
	return true;
}

static void check_arith(const nk_arith_table *base, const nk_arith_table *level)
{
	for (nk_physical physical = 0; physical < NK_PHYSICAL_N; physical++)
		for (int k = 0; k < NK_COUNT(levels_lengths); k++) {
			int n = levels_lengths[k];
			levels_fill(left, physical, LEVELS_N_MAX, 1 + (uint64_t)k);
			levels_fill(right, physical, LEVELS_N_MAX, 100 + (uint64_t)k);
			for (int op = 0; op < NK_ARITH_N; op++)
				for (nk_shape shape = 0; base->binary[physical][op] && shape <= NK_SCALAR_VECTOR; shape++) {
					base->binary[physical][op](want, left, right, n, shape);
					level->binary[physical][op](got, left, right, n, shape);
					EXPECT(same_values(physical, n));
				}
			for (int op = 0; op < NK_UNARY_N; op++)
				if (base->unary[physical][op]) {
					base->unary[physical][op](want, left, n);
					level->unary[physical][op](got, left, n);
					EXPECT(same_values(physical, n));
				}
		}
}

static int order(nk_physical physical, const void *a, const void *b)
{
#define CASE(name, T)                   \
	case name: {                        \
		T x, y;                         \
		memcpy(&x, a, sizeof x);        \
		memcpy(&y, b, sizeof y);        \
		if (x != x || y != y)           \
			return (x != x) - (y != y); \
		return x < y ? -1 : x > y;      \
	}
	switch (physical) {
		CASE(NK_PHYSICAL_I8, int8_t)
		CASE(NK_PHYSICAL_I16, int16_t)
		CASE(NK_PHYSICAL_I32, int32_t)
		CASE(NK_PHYSICAL_I64, int64_t)
		CASE(NK_PHYSICAL_I128, __int128)
		CASE(NK_PHYSICAL_U8, uint8_t)
		CASE(NK_PHYSICAL_U16, uint16_t)
		CASE(NK_PHYSICAL_U32, uint32_t)
		CASE(NK_PHYSICAL_U64, uint64_t)
		CASE(NK_PHYSICAL_F32, float)
		CASE(NK_PHYSICAL_F64, double)
	default: return 0;
	}
#undef CASE
}

static void check_compare(const nk_compare_table *base, const nk_compare_table *level)
{
	for (nk_physical physical = 0; physical < NK_PHYSICAL_N; physical++) {
		if (!base->fixed[physical])
			continue;
		int width = levels_width(physical);
		levels_fill(left, physical, LEVELS_N_MAX, 5);
		levels_fill(right, physical, LEVELS_N_MAX, 6);
		for (int k = 0; k < NK_COUNT(levels_lengths); k++)
			for (nk_compare_op op = 0; op < NK_COMPARE_N; op++)
				for (nk_shape shape = 0; shape <= NK_SCALAR_VECTOR; shape++) {
					int n = levels_lengths[k];
					memset(got, 0xff, 32);
					level->fixed[physical](got, left, right, n, op, shape);
					for (int i = 0; i < n; i++) {
						int sign = order(physical, (char *)left + (shape == NK_SCALAR_VECTOR ? 0 : i) * width,
						                 (char *)right + (shape == NK_VECTOR_SCALAR ? 0 : i) * width);
						bool holds[] = {sign == 0, sign != 0, sign<0, sign <= 0, sign> 0, sign >= 0};
						EXPECT(nk_bitmap_get(got, i) == holds[op]);
					}
					for (int64_t i = n; i < nk_bitmap_bytes(n) * 8; i++)
						EXPECT(!nk_bitmap_get(got, i));
				}
	}
	levels_fill(left, NK_PHYSICAL_I8, LEVELS_N_MAX * 16, 7);
	for (int i = 0; i < LEVELS_N_MAX; i += 3)
		memset((char *)left + 16 * i, 1, 16);
	for (int k = 0; k < NK_COUNT(levels_lengths); k++)
		for (int equal = 0; equal < 2; equal++) {
			int n = levels_lengths[k];
			memset(right, 1, 16);
			level->short_views(got, left, right, n, equal);
			for (int i = 0; i < n; i++)
				EXPECT(nk_bitmap_get(got, i) == ((memcmp((char *)left + 16 * i, right, 16) == 0) == equal));
		}
}

static void check_hash(const nk_hash_table *base, const nk_hash_table *level)
{
	for (nk_physical physical = 0; physical < NK_PHYSICAL_N; physical++)
		for (int k = 0; base->fixed[physical] && k < NK_COUNT(levels_lengths); k++)
			for (int way = 0; way < 4; way++) {
				int n = levels_lengths[k];
				levels_fill(left, physical, LEVELS_N_MAX, 9 + (uint64_t)k);
				levels_fill(want, NK_PHYSICAL_U64, LEVELS_N_MAX, 3);
				memcpy(got, want, LEVELS_N_MAX * 8);
				base->fixed[physical](left, way & 1 ? validity : NULL, n, want, way & 2);
				level->fixed[physical](left, way & 1 ? validity : NULL, n, got, way & 2);
				EXPECT(memcmp(want, got, (size_t)n * 8) == 0);
			}
}

static void check_select(const nk_select_table *base, const nk_select_table *level)
{
	(void)base;
	uint32_t *rows = right;
	int64_t wide[LEVELS_N_MAX];
	for (int k = 0; k < NK_COUNT(levels_lengths); k++)
		for (int masked = 0; masked < 2; masked++) {
			int n = levels_lengths[k];
			levels_fill(left, NK_PHYSICAL_U8, 32, 11 + (uint64_t)k);
			int64_t count = level->rows(left, masked ? validity : NULL, n, rows), n_want = 0;
			for (int i = 0; i < n; i++)
				if (nk_bitmap_get(left, i) && (!masked || nk_bitmap_get(validity, i))) {
					EXPECT(n_want < count && rows[n_want] == (uint32_t)i);
					n_want++;
				}
			EXPECT(n_want == count);
			/* Gather some rows, backwards and forwards. */
			for (int64_t i = 0; i < count; i++) {
				if (i & 1)
					rows[i] = (uint32_t)(LEVELS_N_MAX - 1 - i);
				wide[i] = rows[i];
			}
			for (int size = 0; size < 5; size++) {
				levels_fill(left, NK_PHYSICAL_U64, LEVELS_N_MAX * 2, 13);
				for (int is_wide = 0; is_wide < 2; is_wide++) {
					memset(got, 0, LEVELS_N_MAX * 16);
					if (is_wide)
						level->take_wide[size](got, left, wide, count);
					else
						level->take[size](got, left, rows, count);
					for (int64_t i = 0; i < count; i++)
						EXPECT(memcmp((char *)got + (i << size), (char *)left + ((int64_t)rows[i] << size),
						              1u << size) == 0);
				}
			}
			level->take_bits(got, left, rows, count);
			level->take_bits_wide(want, left, wide, count);
			for (int64_t i = 0; i < count; i++)
				EXPECT(nk_bitmap_get(got, i) == nk_bitmap_get(left, rows[i]) &&
				       nk_bitmap_get(want, i) == nk_bitmap_get(left, rows[i]));
		}
}

static int64_t divided_half_even(__int128 value, int64_t divisor)
{
	__int128 whole = value / divisor, rest = value % divisor;
	__int128 twice = (rest < 0 ? -rest : rest) * 2;
	if (twice > divisor || (twice == divisor && (whole & 1)))
		whole += value < 0 ? -1 : 1;
	return (int64_t)whole;
}

static void check_decimal(const nk_decimal_table *base, const nk_decimal_table *level)
{
	(void)base;
	static const int64_t divisors[] = {10, 100, 1000, 10000};
	int64_t *a = left, *b = right, *out = got;
	uint64_t state = 77;
	for (int small = 0; small < 2; small++)
		for (int i = 0; i < LEVELS_N_MAX; i++) {
			/* products below 2^51 and below 2^62 */
			a[i] = (int64_t)levels_random(&state) >> (small ? 39 : 33);
			b[i] = (int64_t)levels_random(&state) >> (small ? 39 : 34);
			if (i % 5 == 0)
				b[i] = 5 * (i % 3 - 1); /* halves */
			if (i == LEVELS_N_MAX - 1)
				for (int k = 0; k < NK_COUNT(levels_lengths); k++)
					for (nk_shape shape = 0; shape <= NK_SCALAR_VECTOR; shape++)
						for (int d = 0; d < NK_COUNT(divisors); d++) {
							int n = levels_lengths[k];
							for (int which = 0; which < 1 + small; which++) {
								(which ? level->mul_small : level->mul)(out, a, b, n, shape, divisors[d]);
								for (int r = 0; r < n; r++)
									EXPECT(out[r] ==
									       divided_half_even((__int128)a[shape == NK_SCALAR_VECTOR ? 0 : r] *
									                             b[shape == NK_VECTOR_SCALAR ? 0 : r],
									                         divisors[d]));
							}
							level->add(out, a, b, n, shape, divisors[d], -3);
							for (int r = 0; r < n; r++)
								EXPECT(out[r] == a[shape == NK_SCALAR_VECTOR ? 0 : r] * divisors[d] -
								                     b[shape == NK_VECTOR_SCALAR ? 0 : r] * 3);
						}
		}
	for (int k = 0; k < NK_COUNT(levels_lengths); k++) {
		uint64_t bits = 0;
		for (int i = 0; i < levels_lengths[k]; i++)
			bits |= (uint64_t)(a[i] < 0 ? ~a[i] : a[i]);
		EXPECT(level->bits(a, levels_lengths[k]) == bits);
	}
}

static void check_reduce(const nk_reduce_table *base, const nk_reduce_table *level)
{
	for (nk_physical physical = 0; physical < NK_PHYSICAL_N; physical++)
		for (int k = 0; k < NK_COUNT(levels_lengths); k++)
			for (int masked = 0; masked < 2; masked++) {
				int n = levels_lengths[k];
				const uint8_t *valid = masked ? validity : NULL;
				levels_fill(left, physical, LEVELS_N_MAX, 17 + (uint64_t)k);
				if (base->sum[physical]) {
					base->sum[physical](left, valid, n, want);
					level->sum[physical](left, valid, n, got);
					bool is_float = physical == NK_PHYSICAL_F32 || physical == NK_PHYSICAL_F64;
					EXPECT(same_values(is_float ? NK_PHYSICAL_F64 : NK_PHYSICAL_I64, 1));
				}
				for (int greatest = 0; greatest < 2; greatest++)
					if (base->extreme[physical][greatest]) {
						bool any = base->extreme[physical][greatest](left, valid, n, want);
						EXPECT(level->extreme[physical][greatest](left, valid, n, got) == any);
						EXPECT(!any || order(physical, want, got) == 0);
					}
				if (physical == NK_PHYSICAL_F64) {
					*(double *)want = base->squares(left, valid, n, 0.75);
					*(double *)got = level->squares(left, valid, n, 0.75);
					EXPECT(same_values(NK_PHYSICAL_F64, 1));
				}
			}
}

int main(void)
{
	void **buffers[] = {&left, &right, &want, &got};
	for (int i = 0; i < 4; i++)
		*buffers[i] = levels_buffer(LEVELS_N_MAX * 16, 0);
	validity = levels_buffer(LEVELS_N_MAX, 0);
	levels_fill(validity, NK_PHYSICAL_U64, LEVELS_N_MAX / 8, 21);

	LEVELS_CHECK(check_arith, nk__arith);
	LEVELS_CHECK(check_compare, nk__compare);
	LEVELS_CHECK(check_hash, nk__hash);
	LEVELS_CHECK(check_select, nk__select);
	LEVELS_CHECK(check_decimal, nk__decimal);
	LEVELS_CHECK(check_reduce, nk__reduce);

	for (int i = 0; i < 4; i++)
		free(*buffers[i]);
	free(validity);
	return expect_report();
}
