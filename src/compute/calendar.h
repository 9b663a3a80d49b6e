/* The proleptic Gregorian calendar: days since 1970-01-01 to year, month, day and back, one at a time and a column
 * at a time. Years reach from -262143 to 262142, as in Polars; dates beyond have no parts. */
#ifndef NK_COMPUTE_CALENDAR_H
#define NK_COMPUTE_CALENDAR_H

#include "base/cpu.h"
#include "columnar/calendar.h"

enum {
	NK_DAYS_MIN = -96465292,
	NK_DAYS_MAX = 95026236,
};

int nk_ordinal_day(int64_t days);
void nk_iso_week(int64_t days, int64_t *iso_year, int *week);

/* Parts of a column of dates; days outside [NK_DAYS_MIN, NK_DAYS_MAX] are taken as the nearest in it, but for their
 * weekday. */
typedef struct nk_calendar_loops {
	void (*year)(int32_t *out, const int32_t *days, int64_t n);
	void (*iso_year)(int32_t *out, const int32_t *days, int64_t n);
	void (*century)(int32_t *out, const int32_t *days, int64_t n);
	void (*millennium)(int32_t *out, const int32_t *days, int64_t n);
	void (*quarter)(int8_t *out, const int32_t *days, int64_t n);
	void (*month)(int8_t *out, const int32_t *days, int64_t n);
	void (*week)(int8_t *out, const int32_t *days, int64_t n);
	void (*weekday)(int8_t *out, const int32_t *days, int64_t n);
	void (*day)(int8_t *out, const int32_t *days, int64_t n);
	void (*is_leap_year)(int8_t *out, const int32_t *days, int64_t n); /* 0 or 1 */
	void (*days_in_month)(int8_t *out, const int32_t *days, int64_t n);
	void (*ordinal_day)(int16_t *out, const int32_t *days, int64_t n);
	/* The first day of a multiple of `step` months (1 to 100000) counted from 1970; and the day `added` months on, or the
	 * last one of that month. Days and results must lie within the range. */
	void (*floor_months)(int32_t *out, const int32_t *days, int32_t step, int64_t n);
	void (*add_months)(int32_t *out, const int32_t *days, int32_t added, int64_t n);
	/* Whether any day lies outside the range. */
	bool (*any_outside)(const int32_t *days, int64_t n);
	/* Whole days of ticks, saturated to int32; ticks_per_day is one of the three units'. */
	void (*days_of_ticks)(int32_t *out, const int64_t *ticks, int64_t ticks_per_day, int64_t n);
	/* Of any ticks, of which there are per_second to a second. nanosecond: since the second began. */
	void (*weekday_of_ticks)(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n);
	void (*hour)(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n);
	void (*minute)(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n);
	void (*second)(int8_t *out, const int64_t *ticks, int64_t per_second, int64_t n);
	void (*nanosecond)(int32_t *out, const int64_t *ticks, int64_t per_second, int64_t n);
} nk_calendar_loops;
NK_ISA_DECLARE(nk_calendar_loops, nk__calendar_loops);

#endif
