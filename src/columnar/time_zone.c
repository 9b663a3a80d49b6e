/* TZif files (RFC 8536): a list of transitions, and a rule for the time after the last of them. A zone is found by
 * name in a list that only grows; the lock guards that list, never a lookup of times.
 *
 * Local time is resolved by trying the offsets of a day before and a day after: no zone changes twice in between. */
#include "columnar/time_zone.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "columnar/calendar.h"

enum { MAX_TYPES = 256, MAX_FILE = 1 << 20, N_ABBREVIATION = 8 };

typedef struct local_type {
	int32_t offset;
	bool is_summer;
	char abbreviation[N_ABBREVIATION];
} local_type;

/* A day of each year and a time on it. */
typedef struct yearly {
	enum { MONTH_WEEK_DAY, JULIAN, ZERO_BASED } kind;
	int month, week, day; /* day alone for the other kinds */
	int64_t seconds;
} yearly;

struct nk_zone {
	nk_zone *next;
	char *name;
	int64_t n_transitions;
	int64_t *transitions;
	uint8_t *types;    /* from each transition on */
	int32_t *shifts;   /* of summer time, from each transition on */
	local_type before; /* the first transition */
	local_type list[MAX_TYPES];
	bool has_rule, has_summer;
	local_type rule_standard, rule_summer;
	yearly summer_begins, summer_ends;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
NK_FORK_SAFE(lock);
static nk_zone *zones;

/* ---- The rule at the end of a file ---- */

static bool read_number(const char **at, int64_t *out)
{
	if (**at < '0' || **at > '9')
		return false;
	for (*out = 0; **at >= '0' && **at <= '9' && *out < 100000; ++*at)
		*out = *out * 10 + (**at - '0');
	return true;
}

static bool read_name(const char **at, char *out)
{
	const char *from = *at;
	int64_t n;
	if (*from == '<') {
		const char *close = strchr(++from, '>');
		if (!close)
			return false;
		n = close - from;
		*at = close + 1;
	} else {
		while ((**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
			++*at;
		n = *at - from;
	}
	if (n == 0)
		return false;
	n = NK_MIN(n, (int64_t)N_ABBREVIATION - 1);
	memcpy(out, from, (size_t)n);
	out[n] = 0;
	return true;
}

/* [+-]hours[:minutes[:seconds]] */
static bool read_clock(const char **at, int64_t *out)
{
	int64_t sign = **at == '-' ? -1 : 1, part;
	if (**at == '-' || **at == '+')
		++*at;
	if (!read_number(at, &part))
		return false;
	*out = part * 3600;
	for (int64_t unit = 60; **at == ':' && unit > 0; unit /= 60) {
		++*at;
		if (!read_number(at, &part))
			return false;
		*out += part * unit;
	}
	*out *= sign;
	return true;
}

static bool read_yearly(const char **at, yearly *out)
{
	int64_t month, week, day;
	if (**at != ',')
		return false;
	++*at;
	*out = (yearly){.kind = ZERO_BASED, .seconds = 7200};
	if (**at == 'M') {
		++*at;
		if (!read_number(at, &month) || *(*at)++ != '.' || !read_number(at, &week) || *(*at)++ != '.' ||
		    !read_number(at, &day) || month < 1 || month > 12 || week < 1 || week > 5 || day > 6)
			return false;
		out->kind = MONTH_WEEK_DAY;
		out->month = (int)month;
		out->week = (int)week;
	} else {
		if (**at == 'J') {
			++*at;
			out->kind = JULIAN;
		}
		if (!read_number(at, &day) || day > 365)
			return false;
	}
	out->day = (int)day;
	if (**at == '/') {
		++*at;
		return read_clock(at, &out->seconds);
	}
	return true;
}

/* "CET-1CEST,M3.5.0,M10.5.0/3" */
static bool read_rule(nk_zone *zone, const char *text)
{
	int64_t west;
	if (!read_name(&text, zone->rule_standard.abbreviation) || !read_clock(&text, &west))
		return false;
	zone->rule_standard.offset = (int32_t)-west;
	if (!*text)
		return true;
	if (!read_name(&text, zone->rule_summer.abbreviation))
		return false;
	west -= 3600;
	if (*text != ',' && !read_clock(&text, &west))
		return false;
	zone->rule_summer.offset = (int32_t)-west;
	zone->rule_summer.is_summer = true;
	zone->has_summer = true;
	return read_yearly(&text, &zone->summer_begins) && read_yearly(&text, &zone->summer_ends) && !*text;
}

/* The local time of a yearly change, in seconds. */
static int64_t yearly_in(const yearly *change, int64_t year)
{
	int64_t days = nk_days_of_civil(year, 1, 1);
	if (change->kind == MONTH_WEEK_DAY) {
		days = nk_days_of_civil(year, change->month, 1);
		int weekday = nk_weekday(days) % 7, first = (change->day - weekday + 7) % 7;
		int length = nk_days_in_month(year, change->month), day = first + 7 * (change->week - 1);
		days += day < length ? day : day - 7;
	} else if (change->kind == JULIAN) {
		/* 1 to 365; the 29th of February is never counted. */
		days += change->day - 1 + (change->day > 59 && nk_is_leap_year(year));
	} else {
		days += change->day;
	}
	return days * NK_SECONDS_PER_DAY + change->seconds;
}

/* ---- Files ---- */

typedef struct reader {
	const uint8_t *at, *end;
} reader;

static bool skip(reader *r, int64_t n, const uint8_t **out)
{
	if (n < 0 || r->end - r->at < n)
		return false;
	*out = r->at;
	r->at += n;
	return true;
}

static int64_t big_endian(const uint8_t *at, int n)
{
	uint64_t value = (at[0] & 0x80) ? UINT64_MAX : 0;
	for (int i = 0; i < n; i++)
		value = value << 8 | at[i];
	return (int64_t)value;
}

/* One block of a file; the values of the first block of a newer file are skipped. */
static bool read_block(reader *r, nk_zone *zone, bool is_wide, bool is_wanted, int *version)
{
	const uint8_t *header, *times, *types, *infos, *names, *rest;
	int64_t counts[6];
	if (!skip(r, 44, &header) || memcmp(header, "TZif", 4) != 0)
		return false;
	*version = header[4] ? header[4] - '0' : 1;
	for (int i = 0; i < 6; i++) {
		counts[i] = big_endian(header + 20 + 4 * i, 4);
		if (counts[i] < 0 || counts[i] > MAX_FILE)
			return false;
	}
	int64_t n_utc = counts[0], n_standard = counts[1], n_leap = counts[2], n_times = counts[3],
			n_types = counts[4], n_names = counts[5];
	int width = is_wide ? 8 : 4;
	if (!skip(r, n_times * width, &times) || !skip(r, n_times, &types) || !skip(r, n_types * 6, &infos) ||
	    !skip(r, n_names, &names) || !skip(r, n_leap * (width + 4) + n_standard + n_utc, &rest))
		return false;
	if (!is_wanted)
		return true;
	if (n_types < 1 || n_types > MAX_TYPES)
		return false;
	for (int64_t i = 0; i < n_types; i++) {
		const uint8_t *info = infos + 6 * i;
		zone->list[i].offset = (int32_t)big_endian(info, 4);
		zone->list[i].is_summer = info[4] != 0;
		if (info[5] >= n_names)
			return false;
		int64_t n = NK_MIN(n_names - info[5], (int64_t)N_ABBREVIATION - 1);
		memcpy(zone->list[i].abbreviation, names + info[5], (size_t)n);
	}
	zone->transitions = malloc((size_t)(n_times + 1) * sizeof *zone->transitions);
	zone->types = malloc((size_t)(n_times + 1));
	zone->shifts = calloc((size_t)(n_times + 1), sizeof *zone->shifts);
	if (!zone->transitions || !zone->types || !zone->shifts)
		return false;
	for (int64_t i = 0; i < n_times; i++) {
		zone->transitions[i] = big_endian(times + i * width, width);
		zone->types[i] = types[i];
		if (types[i] >= n_types || (i > 0 && zone->transitions[i] <= zone->transitions[i - 1]))
			return false;
	}
	zone->n_transitions = n_times;
	zone->before = zone->list[0];
	return true;
}

/* An hour where either neighbour gives one, else what is plausible; some zones call their winter the odd time. */
static int32_t likely_shift(int32_t before, int32_t after)
{
	const int32_t shifts[] = {before, after};
	for (int i = 0; i < 2; i++)
		if (shifts[i] == 3600)
			return shifts[i];
	for (int i = 0; i < 2; i++)
		if (shifts[i] > 0 && shifts[i] <= 7200)
			return shifts[i];
	for (int i = 0; i < 2; i++)
		if (shifts[i] < 0 && shifts[i] >= -3600)
			return shifts[i];
	return 3600;
}

/* A file says of a type only that it is summer time. How much time that is, the winters before and after tell. */
static void find_shifts(nk_zone *zone)
{
	const local_type *winter = zone->before.is_summer ? NULL : &zone->before;
	for (int64_t i = 0; i < zone->n_transitions; i++) {
		const local_type *type = &zone->list[zone->types[i]];
		winter = type->is_summer ? winter : type;
		zone->shifts[i] = winter ? type->offset - winter->offset : 0;
	}
	winter = NULL;
	for (int64_t i = zone->n_transitions - 1; i >= 0; i--) {
		const local_type *type = &zone->list[zone->types[i]];
		winter = type->is_summer ? winter : type;
		zone->shifts[i] =
			type->is_summer ? likely_shift(zone->shifts[i], winter ? type->offset - winter->offset : 0) : 0;
	}
}

static bool parse(nk_zone *zone, const uint8_t *bytes, int64_t n)
{
	reader r = {bytes, bytes + n}, first = r;
	int version;
	if (!read_block(&first, NULL, false, false, &version))
		return false;
	if (version < 2) {
		bool ok = read_block(&r, zone, false, true, &version);
		if (ok)
			find_shifts(zone);
		return ok;
	}
	if (!read_block(&first, zone, true, true, &version))
		return false;
	find_shifts(zone);
	char rule[128];
	int64_t n_rule = first.end - first.at - 2;
	if (n_rule <= 0 || n_rule >= (int64_t)sizeof rule || first.at[0] != '\n' || first.end[-1] != '\n')
		return true;
	memcpy(rule, first.at + 1, (size_t)n_rule);
	rule[n_rule] = 0;
	zone->has_rule = read_rule(zone, rule);
	return zone->has_rule;
}

/* Names that stay inside the database's folder. */
static bool is_zone_name(const char *name)
{
	if (!*name || *name == '/' || strstr(name, "..") || strlen(name) > 100)
		return false;
	for (; *name; name++)
		if (!((*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z') ||
		      (*name >= '0' && *name <= '9') || strchr("_+-/", *name)))
			return false;
	return true;
}

static void zone_free(nk_zone *zone)
{
	if (!zone)
		return;
	free(zone->transitions);
	free(zone->types);
	free(zone->shifts);
	free(zone->name);
	free(zone);
}

static nk_zone *load(const char *name)
{
	char path[400];
	const char *folder = getenv("TZDIR");
	snprintf(path, sizeof path, "%.200s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", name);
	nk_zone *zone = calloc(1, sizeof *zone);
	uint8_t *bytes = malloc(MAX_FILE);
	FILE *file = NULL;
	bool ok = zone && bytes && (zone->name = strdup(name)) != NULL;
	if (ok && strcmp(name, "UTC") == 0) {
		/* Known without a database. */
		memcpy(zone->before.abbreviation, "UTC", 4);
	} else if (ok) {
		file = fopen(path, "rb");
		size_t n = file ? fread(bytes, 1, MAX_FILE, file) : 0;
		ok = file && n < MAX_FILE && parse(zone, bytes, (int64_t)n);
	}
	if (file)
		fclose(file);
	free(bytes);
	if (!ok) {
		zone_free(zone);
		return NULL;
	}
	return zone;
}

nk_status nk_zone_find(const char *name, const nk_zone **out, nk_error *err)
{
	nk_zone *zone = NULL;
	if (is_zone_name(name)) {
		pthread_mutex_lock(&lock);
		for (zone = zones; zone && strcmp(zone->name, name) != 0;)
			zone = zone->next;
		if (!zone && (zone = load(name))) {
			zone->next = zones;
			zones = zone;
		}
		pthread_mutex_unlock(&lock);
	}
	if (!zone)
		return nk_fail(err, NK_COMPUTE,
		               "unable to parse time zone: '%s'. Please check the Time Zone Database for a list of "
		               "available time "
		               "zones.",
		               name);
	*out = zone;
	return NK_OK;
}

/* ---- Lookup ---- */

static nk_zone_span span_of(const local_type *type, int32_t shift, int64_t from, int64_t until)
{
	nk_zone_span span = {.from = from, .until = until, .offset = type->offset, .summer_shift = shift};
	memcpy(span.abbreviation, type->abbreviation, sizeof span.abbreviation);
	return span;
}

/* By the rule in years that have one; the span begins no earlier than `from`. */
static nk_zone_span span_in_year(const nk_zone *zone, int64_t utc, int64_t from)
{
	if (!zone->has_summer)
		return span_of(&zone->rule_standard, 0, from, INT64_MAX);
	int32_t shift = zone->rule_summer.offset - zone->rule_standard.offset;
	int64_t year = nk_civil_of_days(nk_floor_div(utc, NK_SECONDS_PER_DAY)).year;
	int64_t last = from;
	bool last_is_summer = false;
	/* Changes of three years in order, whichever half of the year is summer. */
	for (int64_t y = year - 1; y <= year + 1; y++) {
		int64_t begins = yearly_in(&zone->summer_begins, y) - zone->rule_standard.offset;
		int64_t ends = yearly_in(&zone->summer_ends, y) - zone->rule_summer.offset;
		bool begins_first = begins < ends;
		for (int i = 0; i < 2; i++) {
			bool is_summer = (i == 0) == begins_first;
			int64_t change = is_summer ? begins : ends;
			if (change > utc)
				return span_of(last_is_summer ? &zone->rule_summer : &zone->rule_standard,
				               last_is_summer ? shift : 0, last, change);
			last = NK_MAX(change, from);
			last_is_summer = is_summer;
		}
	}
	return span_of(last_is_summer ? &zone->rule_summer : &zone->rule_standard, last_is_summer ? shift : 0,
	               last, utc + 1);
}

/* Rules hold until 2100, as in Polars; from then on clocks stay as they are. */
static nk_zone_span span_by_rule(const nk_zone *zone, int64_t utc, int64_t from)
{
	static const int64_t end = 4102444800;
	nk_zone_span span = span_in_year(zone, NK_MIN(utc, end - 1), from);
	span.until = span.until > end ? INT64_MAX : span.until;
	return span;
}

nk_zone_span nk_zone_at(const nk_zone *zone, int64_t utc)
{
	int64_t n = zone->n_transitions, low = 0, high = n;
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (zone->transitions[middle] <= utc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n && zone->has_rule)
		return span_by_rule(zone, utc, n > 0 ? zone->transitions[n - 1] : INT64_MIN);
	const local_type *type = low == 0 ? &zone->before : &zone->list[zone->types[low - 1]];
	int32_t shift = low == 0 ? 0 : zone->shifts[low - 1];
	return span_of(type, shift, low == 0 ? INT64_MIN : zone->transitions[low - 1],
	               low == n ? INT64_MAX : zone->transitions[low]);
}

/* The span of the last row serves until a time falls out of it. */
void nk_zone_to_local(const nk_zone *zone, int64_t *out, const int64_t *ticks, int64_t per_second, int64_t n)
{
	int64_t from = 1, until = 0, shift = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t t = ticks[i];
		if (NK_UNLIKELY(t < from || t >= until)) {
			nk_zone_span span = nk_zone_at(zone, nk_floor_div(t, per_second));
			/* Bounds beyond int64 hold for all ticks there are. */
			if (__builtin_mul_overflow(span.from, per_second, &from))
				from = INT64_MIN;
			if (__builtin_mul_overflow(span.until, per_second, &until))
				until = INT64_MAX;
			shift = span.offset * per_second;
		}
		out[i] = (int64_t)((uint64_t)t + (uint64_t)shift);
	}
}

int nk_zone_resolve(const nk_zone *zone, int64_t local, int64_t utc[2])
{
	int n = 0;
	int64_t offsets[2] = {nk_zone_at(zone, local - NK_SECONDS_PER_DAY).offset,
	                      nk_zone_at(zone, local + NK_SECONDS_PER_DAY).offset};
	for (int i = 0; i < (offsets[0] == offsets[1] ? 1 : 2); i++) {
		int64_t instant = local - offsets[i];
		if (nk_zone_at(zone, instant).offset == offsets[i])
			utc[n++] = instant;
	}
	if (n == 2 && utc[0] > utc[1]) {
		int64_t earlier = utc[1];
		utc[1] = utc[0];
		utc[0] = earlier;
	}
	return n;
}

bool nk_zone_resolve_like(const nk_zone *zone, int64_t local, int64_t original, int64_t *utc)
{
	int64_t found[2];
	int n = nk_zone_resolve(zone, local, found);
	int32_t shift = nk_zone_at(zone, original).summer_shift;
	*utc = found[0];
	if (n == 1)
		return true;
	if (n == 2) {
		if (nk_zone_at(zone, found[0]).summer_shift == shift)
			return true;
		*utc = found[1];
		return nk_zone_at(zone, found[1]).summer_shift == shift;
	}
	if (shift == 0) {
		if (nk_zone_resolve(zone, local + 3600, found) == 0)
			return false;
		shift = -nk_zone_at(zone, found[0]).summer_shift;
	}
	n = nk_zone_resolve(zone, local + shift, found);
	*utc = found[0];
	return n == 1;
}
