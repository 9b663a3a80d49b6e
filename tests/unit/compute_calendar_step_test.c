/* Proves that dividing by multiplying is exact: for divisors and values at the ends of int64 and around powers of two,
 * rounded down and towards zero; and that steps truncate as plain division would. */
#include "compute/calendar_step.h"
#include "expect.h"

static void test_divider(int64_t divisor, const int64_t *values, int n)
{
	nk_divider by = nk_divider_make(divisor);
	int n_wrong = 0;
	for (int i = 0; i < n; i++) {
		n_wrong += nk_divider_floor(&by, values[i]) != nk_floor_div(values[i], divisor);
		n_wrong += nk_divider_truncate(&by, values[i]) != values[i] / divisor;
	}
	EXPECT(n_wrong == 0);
}

static void test_dividers(void)
{
	enum { N_MAX = 1024 };
	static int64_t values[N_MAX];
	int n = 0;
	uint64_t state = 7;
	for (int bit = 0; bit < 63; bit++)
		for (int64_t near = -1; near <= 1; near++) {
			values[n++] = ((int64_t)1 << bit) + near;
			values[n++] = -((int64_t)1 << bit) + near;
		}
	values[n++] = INT64_MAX;
	values[n++] = INT64_MIN;
	while (n < N_MAX) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		values[n] = (int64_t)state >> (n % 60);
		n++;
	}
	static const int64_t units[] = {
		3, 7, 1000, 3600000, 86400000000, 604800000000000, INT64_MAX, INT64_MAX - 1};
	for (int i = 0; i < NK_COUNT(units); i++)
		test_divider(units[i], values, n);
	for (int i = 0; i < n; i++)
		if (values[i] > 0)
			test_divider(values[i], values, n);
}

static void test_truncate(void)
{
	nk_step step;
	nk_step_grid grid;
	nk_error err = {0};
	EXPECT(nk_step_parse("7h", 2, &step, &err) == NK_OK);
	EXPECT(nk_step_grid_init(&grid, &step, 1000, "truncate", &err) == NK_OK);
	for (int64_t ticks = -100000000; ticks < 100000000; ticks += 999983)
		EXPECT(nk_step_truncate(&grid, ticks) == nk_floor_div(ticks, 25200000) * 25200000);
	/* Weeks begin on Monday: the 5th of January 1970 was one. */
	EXPECT(nk_step_parse("2w", 2, &step, &err) == NK_OK);
	EXPECT(nk_step_grid_init(&grid, &step, 1000, "truncate", &err) == NK_OK);
	EXPECT(nk_step_truncate(&grid, (int64_t)4 * 86400000) == (int64_t)4 * 86400000);
	EXPECT(nk_step_truncate(&grid, 0) == (int64_t)-10 * 86400000);
	EXPECT(nk_step_parse("1mo1d", 5, &step, &err) == NK_OK);
	EXPECT(nk_step_grid_init(&grid, &step, 1000, "truncate", &err) == NK_COMPUTE);
	EXPECT(nk_step_parse("-1d", 3, &step, &err) == NK_OK);
	EXPECT(nk_step_grid_init(&grid, &step, 1000, "truncate", &err) == NK_COMPUTE);
	EXPECT(nk_step_parse("99999999999999999999d", 21, &step, &err) == NK_INVALID_OPERATION);
}

int main(void)
{
	test_dividers();
	test_truncate();
	return expect_report();
}
