/* Days of the year and weeks of single dates. */
#include "compute/calendar.h"

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
