/* Proves of the calendar: every level's loops agree with single dates over all of the range, single dates go there
 * and back and follow one another day by day, and ticks become days by rounding down. */
#include "compute/calendar.h"
#include "expect.h"

#include "base/status.h"

/* Count days and months on, one by one, over two eras around the epoch. */
static void test_succession(void)
{
	int64_t year = 1600;
	int month = 1, day = 1;
	int n_wrong = 0;
	for (int64_t days = nk_days_of_civil(1600, 1, 1); year < 2400; days++) {
		nk_civil civil = nk_civil_of_days(days);
		n_wrong += civil.year != year || civil.month != month || civil.day != day;
		n_wrong += nk_days_of_civil(year, month, day) != days;
		if (++day > nk_days_in_month(year, month)) {
			day = 1;
			if (++month > 12) {
				month = 1;
				year++;
			}
		}
	}
	EXPECT(n_wrong == 0);
	EXPECT(nk_days_of_civil(1970, 1, 1) == 0 && nk_weekday(0) == 4);
	EXPECT(nk_civil_of_days(NK_DAYS_MIN).year == -262143 && nk_civil_of_days(NK_DAYS_MAX).year == 262142);
}

static int64_t floor_to(int64_t value, int64_t unit) { return nk_floor_div(value, unit); }

static void test_level(const nk_calendar_loops *loops)
{
	enum { N = 1003 };
	static int32_t days[N], year[N], iso_year[N], century[N], millennium[N];
	static int8_t quarter[N], month[N], week[N], weekday[N], day[N], length[N];
	static int16_t ordinal[N];
	int n_wrong = 0;
	for (int64_t from = NK_DAYS_MIN; from <= NK_DAYS_MAX; from += from > -800000 && from < 800000 ? N : 997 * 331) {
		for (int i = 0; i < N; i++)
			days[i] = (int32_t)NK_MIN(from + i, (int64_t)NK_DAYS_MAX);
		loops->year(year, days, N);
		loops->iso_year(iso_year, days, N);
		loops->century(century, days, N);
		loops->millennium(millennium, days, N);
		loops->quarter(quarter, days, N);
		loops->month(month, days, N);
		loops->week(week, days, N);
		loops->weekday(weekday, days, N);
		loops->day(day, days, N);
		loops->days_in_month(length, days, N);
		loops->ordinal_day(ordinal, days, N);
		for (int i = 0; i < N; i++) {
			nk_civil civil = nk_civil_of_days(days[i]);
			int64_t expected_iso_year;
			int expected_week;
			nk_iso_week(days[i], &expected_iso_year, &expected_week);
			n_wrong += year[i] != civil.year || month[i] != civil.month || day[i] != civil.day;
			/* Weeks of the first and last days of all may belong to years outside the range. */
			if (days[i] > NK_DAYS_MIN + 7 && days[i] < NK_DAYS_MAX - 7)
				n_wrong += iso_year[i] != expected_iso_year || week[i] != expected_week;
			n_wrong += weekday[i] != nk_weekday(days[i]) || ordinal[i] != nk_ordinal_day(days[i]);
			n_wrong += quarter[i] != (civil.month + 2) / 3 || length[i] != nk_days_in_month(civil.year, civil.month);
			n_wrong += century[i] != floor_to(civil.year + 99, 100) || millennium[i] != floor_to(civil.year + 999, 1000);
		}
		EXPECT(!loops->any_outside(days, N));
	}
	EXPECT(n_wrong == 0);
	days[N - 1] = NK_DAYS_MAX + 1;
	EXPECT(loops->any_outside(days, N) && !loops->any_outside(days, N - 1));
	int64_t ticks[] = {0, -1, 86400000000 - 1, 86400000000, -86400000000, -86400000001, INT64_MIN, INT64_MAX};
	int32_t expected[] = {0, -1, 0, 1, -1, -2, -106751992, 106751991};
	loops->days_of_ticks(days, ticks, 86400000000, NK_COUNT(ticks));
	for (int i = 0; i < NK_COUNT(ticks); i++)
		EXPECT(days[i] == expected[i]);
	loops->days_of_ticks(days, ticks, 86400000, NK_COUNT(ticks));
	EXPECT(days[6] == INT32_MIN && days[7] == INT32_MAX && days[1] == -1);
}

int main(void)
{
	test_succession();
	test_level(&nk__calendar_loops_baseline);
#ifdef __x86_64__
	if (nk_cpu_isa() >= NK_ISA_V3)
		test_level(&nk__calendar_loops_v3);
	if (nk_cpu_isa() >= NK_ISA_V4)
		test_level(&nk__calendar_loops_v4);
#endif
	return expect_report();
}
