/* Single dates by Howard Hinnant's "chrono-compatible low-level date algorithms": eras of 400 years, and years that
 * begin in March, so that the leap day comes last. */
#include "compute/calendar.h"

enum { DAYS_PER_ERA = 146097, DAYS_TO_EPOCH = 719468 /* from 0000-03-01 */ };

nk_civil nk_civil_of_days(int64_t days)
{
	days += DAYS_TO_EPOCH;
	int64_t era = nk_floor_div(days, DAYS_PER_ERA), day_of_era = days - era * DAYS_PER_ERA;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int shifted = (int)(5 * day_of_year + 2) / 153; /* March is 0 */
	int month = shifted < 10 ? shifted + 3 : shifted - 9;
	return (nk_civil){era * 400 + year_of_era + (month <= 2), month,
	                  (int)day_of_year - (153 * shifted + 2) / 5 + 1};
}

int64_t nk_days_of_civil(int64_t year, int month, int day)
{
	year -= month <= 2;
	int64_t era = nk_floor_div(year, 400), year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	return era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
	       DAYS_TO_EPOCH;
}

int nk_ordinal_day(int64_t days)
{
	return (int)(days - nk_days_of_civil(nk_civil_of_days(days).year, 1, 1)) + 1;
}

/* A week belongs to the year of its Thursday. */
void nk_iso_week(int64_t days, int64_t *iso_year, int *week)
{
	int64_t thursday = days + 4 - nk_weekday(days);
	*iso_year = nk_civil_of_days(thursday).year;
	*week = (nk_ordinal_day(thursday) - 1) / 7 + 1;
}
