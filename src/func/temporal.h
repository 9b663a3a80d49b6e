/* What the functions of dates and times share. Internal to src/func/temporal*.c. */
#ifndef NK_FUNC_TEMPORAL_H
#define NK_FUNC_TEMPORAL_H

#include "compute/calendar_text.h"
#include "compute/calendar_zone.h"
#include "func/func.h"

/* Fails with "`year` operation not supported for dtype `str`" and what follows. */
NK_MUST_CHECK nk_status nk__refuse_temporal(const nk_bind *bind, const char *more, nk_error *err);

/* Of Datetime, Duration and Time. */
static inline int64_t nk__ticks_per_second(const nk_dtype *dtype)
{
	return dtype->id == NK_TYPE_TIME ? NK_NANOSECONDS_PER_SECOND : nk_unit_per_second(dtype->unit);
}

/* The zone of a Datetime; NULL when it has none. */
NK_MUST_CHECK nk_status nk__zone_of(const nk_dtype *dtype, const nk_zone **out, nk_error *err);

/* n instants as local times: written to block, or, without a zone, where they are. */
const int64_t *nk__local_ticks(const nk_zone *zone, int64_t per_second, const int64_t *ticks, int64_t n,
                               int64_t *block);

#endif
