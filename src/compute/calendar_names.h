/* What formatting and parsing of dates share. Internal to src/compute/calendar_*.c. */
#ifndef NK_COMPUTE_CALENDAR_NAMES_H
#define NK_COMPUTE_CALENDAR_NAMES_H

extern const char *const nk__month_names[12];
extern const char *const nk__weekday_names[7]; /* Monday first */

/* The format that a specifier abbreviates ("%F" for a date); NULL for those that abbreviate nothing. */
const char *nk__format_expansion(char specifier);

#endif
