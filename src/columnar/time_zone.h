/* Time zones of the system's database (TZif files, RFC 8536). A zone is read once, kept until the process ends, and
 * immutable: any thread may use it. */
#ifndef NK_COLUMNAR_TIME_ZONE_H
#define NK_COLUMNAR_TIME_ZONE_H

#include "base/status.h"

typedef struct nk_time_zone nk_time_zone;

/* By name ("Europe/Paris", "UTC"). Fails with NK_COMPUTE when the name is not in the database. */
NK_MUST_CHECK nk_status nk_time_zone_get(const char *name, const nk_time_zone **out, nk_error *err);
/* Seconds east of UTC at an instant given in seconds since 1970 UTC; *abbreviation ("CEST", borrowed) if wanted. */
int32_t nk_time_zone_offset(const nk_time_zone *zone, int64_t seconds, const char **abbreviation);
/* The instants at which clocks show local time `seconds`: 0 (skipped), 1 or 2 (repeated; earlier first). */
int nk_time_zone_resolve(const nk_time_zone *zone, int64_t local_seconds, int64_t instants[2]);

#endif
