/* The 64-bit block of a TZif file gives transitions; its footer, a POSIX TZ rule, what holds after the last one.
 * Local times resolve by trying the offsets in force a day before and after. */
#include "columnar/time_zone.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/calendar.h"

typedef struct local_type {
	int32_t offset;
	uint8_t abbreviation; /* position in abbreviations */
} local_type;

typedef struct rule_day {
	char kind; /* 'M', 'J' or 'N' (zero-based day) */
	int month, week, day;
	int32_t seconds;
} rule_day;

/* The footer: standard time, and from `start` to `end` summer time. */
typedef struct rule {
	bool present, has_summer;
	int32_t standard, summer;
	char standard_name[8], summer_name[8];
	rule_day start, end;
} rule;

struct nk_time_zone {
	nk_time_zone *next;
	char *name;
	int64_t n_transitions;
	int64_t *transitions;
	uint8_t *types; /* in force from the transition on */
	int n_types;
	local_type *local_types;
	char *abbreviations;
	rule rule;
};

static nk_time_zone *zones;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- POSIX rules ---- */

static bool read_name(const char **at, char out[8])
{
	int n = 0;
	bool quoted = **at == '<';
	*at += quoted;
	while (**at && (quoted ? **at != '>' : ((**at | 32) >= 'a' && (**at | 32) <= 'z'))) {
		if (n < 7)
			out[n++] = **at;
		(*at)++;
	}
	out[n] = 0;
	if (quoted && *(*at)++ != '>')
		return false;
	return n > 0;
}

static bool read_int(const char **at, int *out)
{
	char *end;
	long value = strtol(*at, &end, 10);
	if (end == *at || value < -1000 || value > 1000)
		return false;
	*at = end;
	*out = (int)value;
	return true;
}

/* [+-]hh[:mm[:ss]] */
static bool read_hms(const char **at, int32_t *out)
{
	int sign = 1, part, unit = 3600, total = 0;
	if (**at == '-' || **at == '+')
		sign = *(*at)++ == '-' ? -1 : 1;
	for (;;) {
		if (**at < '0' || **at > '9' || !read_int(at, &part))
			return false;
		total += part * unit;
		unit /= 60;
		if (**at != ':' || unit == 0)
			break;
		(*at)++;
	}
	*out = sign * total;
	return true;
}

static bool read_day(const char **at, rule_day *out)
{
	*out = (rule_day){.kind = 'N', .seconds = 7200};
	if (*(*at)++ != ',')
		return false;
	if (**at == 'M') {
		out->kind = *(*at)++;
		if (!read_int(at, &out->month) || *(*at)++ != '.' || !read_int(at, &out->week) || *(*at)++ != '.' ||
		    !read_int(at, &out->day) || out->month < 1 || out->month > 12)
			return false;
	} else {
		if (**at == 'J')
			out->kind = *(*at)++;
		if (!read_int(at, &out->day))
			return false;
	}
	if (**at == '/') {
		(*at)++;
		return read_hms(at, &out->seconds);
	}
	return true;
}

static bool read_rule(const char *at, rule *out)
{
	int32_t west;
	if (!read_name(&at, out->standard_name) || !read_hms(&at, &west))
		return false;
	out->standard = -west;
	out->present = true;
	if (!*at)
		return true;
	if (!read_name(&at, out->summer_name))
		return false;
	out->summer = out->standard + 3600;
	if (*at && *at != ',') {
		if (!read_hms(&at, &west))
			return false;
		out->summer = -west;
	}
	out->has_summer = true;
	return read_day(&at, &out->start) && read_day(&at, &out->end) && !*at;
}

/* Seconds since 1970, on the clock in force before, at which a rule's day comes in a year. */
static int64_t rule_seconds(const rule_day *day, int64_t year)
{
	int64_t days;
	if (day->kind == 'M') {
		int64_t first = nk_days_from_civil(year, day->month, 1);
		int weekday = nk_weekday_from_days(first) % 7; /* Sunday is 0 */
		int date = (day->day - weekday + 7) % 7 + 1 + (day->week - 1) * 7;
		while (date > nk_days_in_month(year, day->month))
			date -= 7;
		days = first + date - 1;
	} else {
		days = nk_days_from_civil(year, 1, 1) + day->day;
		if (day->kind == 'J')
			days -= !(nk_year_is_leap(year) && day->day >= 60);
	}
	return days * NK_SECONDS_PER_DAY + day->seconds;
}

static int32_t rule_offset(const rule *zone_rule, int64_t seconds, const char **abbreviation)
{
	bool summer = false;
	if (zone_rule->has_summer) {
		int64_t year =
			nk_civil_from_days(nk_floor_divide(seconds + zone_rule->standard, NK_SECONDS_PER_DAY)).year;
		int64_t start = rule_seconds(&zone_rule->start, year) - zone_rule->standard;
		int64_t end = rule_seconds(&zone_rule->end, year) - zone_rule->summer;
		summer = start < end ? seconds >= start && seconds < end : seconds >= start || seconds < end;
	}
	if (abbreviation)
		*abbreviation = summer ? zone_rule->summer_name : zone_rule->standard_name;
	return summer ? zone_rule->summer : zone_rule->standard;
}

/* ---- TZif ---- */

static int64_t big_endian(const uint8_t *at, int n_bytes)
{
	uint64_t value = at[0] & 0x80 ? UINT64_MAX : 0;
	for (int i = 0; i < n_bytes; i++)
		value = value << 8 | at[i];
	return (int64_t)value;
}

typedef struct counts {
	int64_t n_utc, n_standard, n_leap, n_transitions, n_types, n_characters;
} counts;

static bool read_counts(const uint8_t *at, int64_t n_left, counts *out)
{
	if (n_left < 44 || memcmp(at, "TZif", 4) != 0)
		return false;
	int64_t *fields[] = {&out->n_utc,         &out->n_standard, &out->n_leap,
	                     &out->n_transitions, &out->n_types,    &out->n_characters};
	for (int i = 0; i < 6; i++) {
		*fields[i] = big_endian(at + 20 + i * 4, 4);
		if (*fields[i] < 0 || *fields[i] > 1 << 20)
			return false;
	}
	return true;
}

static int64_t block_bytes(const counts *c, int n_bytes_time)
{
	return c->n_transitions * (n_bytes_time + 1) + c->n_types * 6 + c->n_characters +
	       c->n_leap * (n_bytes_time + 4) + c->n_standard + c->n_utc;
}

static void zone_free(nk_time_zone *zone)
{
	if (!zone)
		return;
	free(zone->name);
	free(zone->transitions);
	free(zone->types);
	free(zone->local_types);
	free(zone->abbreviations);
	free(zone);
}

static bool decode_block(nk_time_zone *zone, const uint8_t *at, const counts *c)
{
	zone->n_transitions = c->n_transitions;
	zone->n_types = (int)c->n_types;
	zone->transitions = malloc((size_t)c->n_transitions * sizeof *zone->transitions + 1);
	zone->types = malloc((size_t)c->n_transitions + 1);
	zone->local_types = malloc((size_t)c->n_types * sizeof *zone->local_types + 1);
	zone->abbreviations = calloc(1, (size_t)c->n_characters + 1);
	if (c->n_types < 1 || !zone->transitions || !zone->types || !zone->local_types || !zone->abbreviations)
		return false;
	for (int64_t i = 0; i < c->n_transitions; i++, at += 8)
		zone->transitions[i] = big_endian(at, 8);
	for (int64_t i = 0; i < c->n_transitions; i++)
		if ((zone->types[i] = *at++) >= c->n_types)
			return false;
	for (int64_t i = 0; i < c->n_types; i++, at += 6) {
		zone->local_types[i] = (local_type){.offset = (int32_t)big_endian(at, 4), .abbreviation = at[5]};
		if (at[5] >= c->n_characters)
			return false;
	}
	memcpy(zone->abbreviations, at, (size_t)c->n_characters);
	return true;
}

static bool decode(nk_time_zone *zone, const uint8_t *bytes, int64_t n_bytes)
{
	counts first, c;
	if (!read_counts(bytes, n_bytes, &first) || bytes[4] < '2')
		return false;
	int64_t at = 44 + block_bytes(&first, 4);
	if (at > n_bytes || !read_counts(bytes + at, n_bytes - at, &c))
		return false;
	at += 44;
	if (block_bytes(&c, 8) > n_bytes - at || !decode_block(zone, bytes + at, &c))
		return false;
	at += block_bytes(&c, 8);
	char footer[128] = "";
	if (at < n_bytes && bytes[at] == '\n') {
		const uint8_t *end = memchr(bytes + at + 1, '\n', (size_t)(n_bytes - at - 1));
		int64_t n_footer = end ? end - (bytes + at + 1) : 0;
		if (n_footer < (int64_t)sizeof footer)
			memcpy(footer, bytes + at + 1, (size_t)n_footer);
	}
	if (footer[0] && !read_rule(footer, &zone->rule))
		zone->rule = (rule){0};
	return true;
}

static bool is_safe_name(const char *name)
{
	if (!*name || *name == '/' || strlen(name) > 100 || strstr(name, ".."))
		return false;
	for (; *name; name++)
		if (!((*name | 32) >= 'a' && (*name | 32) <= 'z') && !(*name >= '0' && *name <= '9') &&
		    !strchr("/_+-", *name))
			return false;
	return true;
}

static nk_status load(const char *name, nk_time_zone **out, nk_error *err)
{
	enum { MAX_BYTES = 1 << 20 };
	static const char *const folders[] = {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
	                                      "/usr/share/lib/zoneinfo", "/etc/zoneinfo"};
	FILE *file = NULL;
	char path[256];
	for (int i = 0; i < NK_COUNT(folders) && !file && is_safe_name(name); i++) {
		snprintf(path, sizeof path, "%s/%s", folders[i], name);
		file = fopen(path, "rb");
	}
	nk_time_zone *zone = calloc(1, sizeof *zone);
	uint8_t *bytes = malloc(MAX_BYTES);
	bool known = file != NULL, allocated = zone && bytes && (zone->name = strdup(name));
	if (known && allocated) {
		size_t n_bytes = fread(bytes, 1, MAX_BYTES, file);
		known = decode(zone, bytes, (int64_t)n_bytes);
	} else if (allocated && strcmp(name, "UTC") == 0) {
		known = read_rule("UTC0", &zone->rule); /* works without a database */
	}
	if (file)
		fclose(file);
	free(bytes);
	if (!known || !allocated) {
		zone_free(zone);
		return allocated ? nk_fail(err, NK_COMPUTE, "unable to parse time zone: '%s'", name)
		                 : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a time zone");
	}
	*out = zone;
	return NK_OK;
}

nk_status nk_time_zone_get(const char *name, const nk_time_zone **out, nk_error *err)
{
	pthread_mutex_lock(&lock);
	nk_time_zone *zone = zones;
	while (zone && strcmp(zone->name, name) != 0)
		zone = zone->next;
	nk_status status = NK_OK;
	if (!zone) {
		status = load(name, &zone, err);
		if (status == NK_OK) {
			zone->next = zones;
			zones = zone;
		}
	}
	pthread_mutex_unlock(&lock);
	if (status == NK_OK)
		*out = zone;
	return status;
}

/* 2100: rules hold until then, as in Polars; clocks stay as they are afterwards. */
static const int64_t RULES_END = 4102444800;

int32_t nk_time_zone_offset(const nk_time_zone *zone, int64_t seconds, const char **abbreviation)
{
	int64_t low = 0, high = zone->n_transitions; /* the first transition after `seconds` */
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (zone->transitions[middle] <= seconds)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->n_transitions && zone->rule.present)
		return rule_offset(&zone->rule, NK_MIN(seconds, RULES_END - 1), abbreviation);
	if (zone->n_types == 0)
		return 0;
	const local_type *type = &zone->local_types[low > 0 ? zone->types[low - 1] : 0];
	if (abbreviation)
		*abbreviation = zone->abbreviations + type->abbreviation;
	return type->offset;
}

int nk_time_zone_resolve(const nk_time_zone *zone, int64_t local_seconds, int64_t instants[2])
{
	int32_t before = nk_time_zone_offset(zone, local_seconds - NK_SECONDS_PER_DAY, NULL);
	int32_t after = nk_time_zone_offset(zone, local_seconds + NK_SECONDS_PER_DAY, NULL);
	int n = 0;
	if (nk_time_zone_offset(zone, local_seconds - before, NULL) == before)
		instants[n++] = local_seconds - before;
	if (after != before && nk_time_zone_offset(zone, local_seconds - after, NULL) == after)
		instants[n++] = local_seconds - after;
	if (n == 2 && instants[1] < instants[0]) {
		int64_t swapped = instants[0];
		instants[0] = instants[1];
		instants[1] = swapped;
	}
	return n;
}
