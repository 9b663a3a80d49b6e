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

/* Months down to a multiple and months on, against single steps. */
static void test_months(const nk_calendar_loops *loops)
{
	enum { N = 1003 };
	static const int steps[] = {1, 2, 3, 5, 12, 120, 100000};
	static int32_t days[N], floored[N], added[N], taken[N];
	int n_wrong = 0;
	for (int s = 0; s < NK_COUNT(steps); s++) {
		for (int i = 0; i < N; i++)
			days[i] = i < 800 ? i - 400 : (i - 900) * 700001;
		loops->floor_months(floored, days, steps[s], N);
		loops->add_months(added, days, steps[s], N);
		loops->add_months(taken, days, -steps[s], N);
		for (int i = 0; i < N; i++) {
			nk_civil civil = nk_civil_of_days(days[i]);
			int64_t months = (civil.year - 1970) * 12 + civil.month - 1,
					down = floor_to(months, steps[s]) * steps[s];
			n_wrong +=
				floored[i] != nk_days_of_civil(1970 + floor_to(down, 12), (int)nk_floor_mod(down, 12) + 1, 1);
			for (int sign = -1; sign <= 1; sign += 2) {
				int64_t moved = months + sign * steps[s], year = 1970 + floor_to(moved, 12);
				int month = (int)nk_floor_mod(moved, 12) + 1,
					day = NK_MIN(civil.day, nk_days_in_month(year, month));
				n_wrong += (sign < 0 ? taken : added)[i] != nk_days_of_civil(year, month, day);
			}
		}
	}
	EXPECT(n_wrong == 0);
}

/* Parts of the time of day in every unit, on both sides of the epoch. */
static void test_clock(const nk_calendar_loops *loops)
{
	enum { N = 1003 };
	static const int64_t units[] = {1000, 1000000, 1000000000};
	static int64_t ticks[N];
	static int8_t hour[N], minute[N], second[N], weekday[N];
	static int32_t nanosecond[N];
	int n_wrong = 0;
	for (int u = 0; u < 3; u++) {
		int64_t per_second = units[u], state = 1;
		for (int i = 0; i < N; i++) {
			state = (int64_t)((uint64_t)state * 6364136223846793005u + 1442695040888963407u);
			ticks[i] = i < 4    ? (i - 2) * per_second * 3600
			           : i == 4 ? INT64_MIN
			           : i == 5 ? INT64_MAX
			                    : state >> (i % 30);
		}
		loops->hour(hour, ticks, per_second, N);
		loops->minute(minute, ticks, per_second, N);
		loops->second(second, ticks, per_second, N);
		loops->nanosecond(nanosecond, ticks, per_second, N);
		loops->weekday_of_ticks(weekday, ticks, per_second, N);
		for (int i = 0; i < N; i++) {
			int64_t seconds = floor_to(ticks[i], per_second), days = floor_to(seconds, 86400);
			int64_t of_day = seconds - days * 86400;
			n_wrong += hour[i] != of_day / 3600 || minute[i] != of_day / 60 % 60 || second[i] != of_day % 60;
			n_wrong += nanosecond[i] != nk_floor_mod(ticks[i], per_second) * (1000000000 / per_second);
			n_wrong += weekday[i] != nk_weekday(days);
		}
	}
	EXPECT(n_wrong == 0);
}

static void test_level(const nk_calendar_loops *loops)
{
	enum { N = 1003 };
	static int32_t days[N], year[N], iso_year[N], century[N], millennium[N];
	static int8_t quarter[N], month[N], week[N], weekday[N], day[N], length[N], leap[N];
	static int16_t ordinal[N];
	int n_wrong = 0;
	for (int64_t from = NK_DAYS_MIN; from <= NK_DAYS_MAX;
	     from += from > -800000 && from < 800000 ? N : 997 * 331) {
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
		loops->is_leap_year(leap, days, N);
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
			n_wrong += leap[i] != nk_is_leap_year(civil.year);
			n_wrong += weekday[i] != nk_weekday(days[i]) || ordinal[i] != nk_ordinal_day(days[i]);
			n_wrong +=
				quarter[i] != (civil.month + 2) / 3 || length[i] != nk_days_in_month(civil.year, civil.month);
			n_wrong += century[i] != floor_to(civil.year + 99, 100) ||
			           millennium[i] != floor_to(civil.year + 999, 1000);
		}
		EXPECT(!loops->any_outside(days, N));
	}
	EXPECT(n_wrong == 0);
	static const int32_t far[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX - 1, INT32_MAX};
	loops->weekday(weekday, far, NK_COUNT(far));
	for (int i = 0; i < NK_COUNT(far); i++)
		EXPECT(weekday[i] == nk_weekday(far[i]));
	days[N - 1] = NK_DAYS_MAX + 1;
	EXPECT(loops->any_outside(days, N) && !loops->any_outside(days, N - 1));
	int64_t ticks[] = {0, -1, 86400000000 - 1, 86400000000, -86400000000, -86400000001, INT64_MIN, INT64_MAX};
	int32_t expected[] = {0, -1, 0, 1, -1, -2, -106751992, 106751991};
	loops->days_of_ticks(days, ticks, 86400000000, NK_COUNT(ticks));
	for (int i = 0; i < NK_COUNT(ticks); i++)
		EXPECT(days[i] == expected[i]);
	loops->days_of_ticks(days, ticks, 86400000, NK_COUNT(ticks));
	EXPECT(days[6] == INT32_MIN && days[7] == INT32_MAX && days[1] == -1);
	test_clock(loops);
	test_months(loops);
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
