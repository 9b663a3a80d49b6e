/* Time zones by their names in the system's time zone database ("Europe/Paris"), read once and kept until the
 * process ends. Zones are immutable; any thread may find and use them. Times are seconds since 1970-01-01T00:00:
 * `utc` in UTC, `local` as a clock in the zone shows them. */
#ifndef NK_COLUMNAR_TIME_ZONE_H
#define NK_COLUMNAR_TIME_ZONE_H

#include "base/status.h"

typedef struct nk_zone nk_zone;

/* Fails with NK_COMPUTE when there is no such zone. */
NK_MUST_CHECK nk_status nk_zone_find(const char *name, const nk_zone **out, nk_error *err);

/* From `from` to before `until` local time is utc + offset. */
typedef struct nk_zone_span {
	int64_t from, until;
	int32_t offset;
	int32_t summer_shift; /* how much of the offset is summer time; 0 in winter */
	char abbreviation[8];
} nk_zone_span;

nk_zone_span nk_zone_at(const nk_zone *zone, int64_t utc);

/* The span around utc, with the last answer kept: times in a column lie close together. Begin with {0}. */
static inline const nk_zone_span *nk_zone_near(const nk_zone *zone, int64_t utc, nk_zone_span *last)
{
	if (utc < last->from || utc >= last->until)
		*last = nk_zone_at(zone, utc);
	return last;
}

/* A column of instants as local times, per_second ticks to a second; sums wrap. out may be ticks. */
void nk_zone_to_local(const nk_zone *zone, int64_t *out, const int64_t *ticks, int64_t per_second, int64_t n);

/* The instants at which clocks show `local`, earliest first: 1, none (clocks went forward over it), or 2. */
int nk_zone_resolve(const nk_zone *zone, int64_t local, int64_t utc[2]);

/* The instant for a local time that was computed from the one at `original` (UTC): of two, that with as much summer
 * time as the original had; one that clocks skip moves by the hour that they do. false when there is none. */
bool nk_zone_resolve_like(const nk_zone *zone, int64_t local, int64_t original, int64_t *utc);

#endif
