/* The proleptic Gregorian calendar on day numbers since 1970-01-01, after Howard Hinnant, "chrono-compatible
 * low-level date algorithms": eras of 400 years, years that begin in March. Valid for all int64 days that a
 * Datetime can hold. */
#ifndef NK_COLUMNAR_CALENDAR_H
#define NK_COLUMNAR_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

static const int64_t NK_SECONDS_PER_DAY = 86400; /* wide: products with days leave 32 bits */
static const int64_t NK_NANOSECONDS_PER_DAY = 86400000000000;

typedef struct nk_civil {
	int64_t year;
	int month, day; /* from 1 */
} nk_civil;

/* Quotient rounded down; divisor > 0. */
static inline int64_t nk_floor_div(int64_t a, int64_t divisor)
{
	int64_t quotient = a / divisor;
	return quotient - (a % divisor < 0);
}

/* What is left of it: from 0 to below the divisor. */
static inline int64_t nk_floor_mod(int64_t a, int64_t divisor)
{
	int64_t rest = a % divisor;
	return rest + (rest < 0 ? divisor : 0);
}

static inline nk_civil nk_civil_of_days(int64_t days)
{
	days += 719468; /* from 0000-03-01 */
	int64_t era = nk_floor_div(days, 146097);
	int64_t day_of_era = days - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t month = (5 * day_of_year + 2) / 153; /* from March */
	nk_civil civil = {.day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
	                  .month = (int)(month < 10 ? month + 3 : month - 9)};
	civil.year = year_of_era + era * 400 + (civil.month <= 2);
	return civil;
}

static inline int64_t nk_days_of_civil(int64_t year, int month, int day)
{
	year -= month <= 2;
	int64_t era = nk_floor_div(year, 400);
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * 146097 + day_of_era - 719468;
}

static inline bool nk_is_leap_year(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline int nk_days_in_month(int64_t year, int month)
{
	static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return days[month - 1] + (month == 2 && nk_is_leap_year(year));
}

/* Monday is 1, Sunday 7. */
static inline int nk_weekday(int64_t days) { return (int)(days + 3 - 7 * nk_floor_div(days + 3, 7)) + 1; }

#endif
