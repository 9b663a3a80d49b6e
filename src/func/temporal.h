/* What the functions of dates and times share. Internal to src/func/temporal*.c. */
#ifndef NK_FUNC_TEMPORAL_H
#define NK_FUNC_TEMPORAL_H

#include "columnar/time_zone.h"
#include "compute/calendar_step.h"
#include "compute/calendar_text.h"
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

/* The unit that an option names; fails with NK_VALUE. */
NK_MUST_CHECK nk_status nk__time_unit_of(const nk_bind *bind, const char *text, nk_time_unit *out,
                                         nk_error *err);

/* n instants as local times: written to block, or, without a zone, where they are. */
const int64_t *nk__local_ticks(const nk_zone *zone, int64_t per_second, const int64_t *ticks, int64_t n,
                               int64_t *block);

/* An instant moved by a step; in a zone (NULL: none) by months, weeks and days of local time. */
NK_MUST_CHECK nk_status nk__offset_ticks(const nk_step *step, const nk_zone *zone, const char *time_zone,
                                         int64_t per_second, int64_t ticks, int64_t *out, nk_error *err);

/* What becomes of a local time that clocks show twice. */
typedef enum nk_ambiguous {
	NK_AMBIGUOUS_EARLIEST,
	NK_AMBIGUOUS_LATEST,
	NK_AMBIGUOUS_NULL,
	NK_AMBIGUOUS_RAISE
} nk_ambiguous;

bool nk__ambiguous_parse(const char *text, int64_t n, nk_ambiguous *out);
/* The same for a value of a column; fails with NK_INVALID_OPERATION. */
NK_MUST_CHECK nk_status nk__ambiguous_of(const nk_view *view, const nk_heap *heap, nk_ambiguous *out,
                                         nk_error *err);

/* Local times to instants, one after another; begin with last = {0}. */
typedef struct nk_localiser {
	const nk_zone *zone;
	int64_t per_second;
	const char *time_zone; /* for messages */
	nk_zone_span last;
} nk_localiser;

/* nulls_missing: a time that clocks skip is null, not an error (NK_COMPUTE). */
NK_MUST_CHECK nk_status nk__localise(nk_localiser *localiser, int64_t local, nk_ambiguous ambiguous,
                                     bool nulls_missing, int64_t *out, bool *is_null, nk_error *err);

#endif
