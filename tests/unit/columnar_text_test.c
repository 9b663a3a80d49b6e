/* Proves of values to text and back: the forms that Polars gives to the same values, and for floats that what is
 * written is the shortest that reads back, that reading agrees with the C library on random and on hard input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/builder.h"
#include "columnar/float_text.h"
#include "columnar/format.h"
#include "columnar/parse.h"
#include "columnar/time_zone.h"
#include "expect.h"

static void same(const char *got, int64_t n_got, const char *wanted, int line)
{
	if (n_got != (int64_t)strlen(wanted) || memcmp(got, wanted, (size_t)n_got) != 0) {
		fprintf(stderr, "line %d: \"%.*s\" instead of \"%s\"\n", line, (int)n_got, got, wanted);
		expect_n_failed++;
	}
}

#define FORMATS(call, wanted)               \
	do {                                    \
		char out[NK_FORMAT_BYTES];          \
		int n_out = (call);                 \
		same(out, n_out, wanted, __LINE__); \
	} while (0)

#define PRINTS(call, wanted)                            \
	do {                                                \
		NK_TEXT(out);                                   \
		call;                                           \
		EXPECT(nk_text_finish(&out, NULL) == NK_OK);    \
		same(out.bytes, out.n_bytes, wanted, __LINE__); \
	} while (0)

static uint64_t seed = 88172645463325252u;
static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void casts(void)
{
	FORMATS(nk_format_f64(1, out), "1.0");
	FORMATS(nk_format_f64(1e15, out), "1000000000000000.0");
	FORMATS(nk_format_f64(9999999999999998, out), "9999999999999998.0");
	FORMATS(nk_format_f64(1e16, out), "1e+16");
	FORMATS(nk_format_f64(1.2345678901234568e17, out), "1.2345678901234568e+17");
	FORMATS(nk_format_f64(1.5e-5, out), "0.000015");
	FORMATS(nk_format_f64(1.234e-6, out), "1.234e-6");
	FORMATS(nk_format_f64(5e-324, out), "5e-324");
	FORMATS(nk_format_f64(-0.0, out), "-0.0");
	FORMATS(nk_format_f64(-__builtin_inf(), out), "-inf");
	FORMATS(nk_format_f64(__builtin_nan(""), out), "NaN");
	FORMATS(nk_format_f32(1e-6f, out), "0.000001");
	FORMATS(nk_format_f32(1e-7f, out), "1e-7");
	FORMATS(nk_format_f32(9.9e12f, out), "9900000000000.0");
	FORMATS(nk_format_f32(1e13f, out), "1e+13");
	FORMATS(nk_format_f32(3.4e38f, out), "3.4e+38");
	FORMATS(nk_format_i64(INT64_MIN, out), "-9223372036854775808");
	FORMATS(nk_format_u64(UINT64_MAX, out), "18446744073709551615");
	FORMATS(nk_format_i64(0, out), "0");
	FORMATS(nk_format_i128((__int128)1 << 100, out), "1267650600228229401496703205376");
	FORMATS(nk_format_decimal(-5, 2, out), "-0.05");
	FORMATS(nk_format_decimal(10000, 2, out), "100.00");
	FORMATS(nk_format_date(-800000, out), "-0221-09-04");
	FORMATS(nk_format_date(3000000, out), "+10183-09-21");
	FORMATS(nk_format_date(19723, out), "2024-01-01");
	FORMATS(nk_format_time(86399999999999, 0, out), "23:59:59");
	FORMATS(nk_format_duration(90000000, NK_UNIT_MS, out), "P1DT1H");
	FORMATS(nk_format_duration(-1500, NK_UNIT_US, out), "-PT0.0015S");
	FORMATS(nk_format_duration(0, NK_UNIT_NS, out), "PT0S");
	for (uint64_t value = 1, digits = 1; digits < 20; value *= 10, digits++) {
		FORMATS(nk_format_u64(value - 1, out), value == 1 ? "0" : &"9999999999999999999"[20 - digits]);
		char text[NK_FORMAT_BYTES];
		EXPECT(nk_format_u64(value, text) == (int)digits);
	}
}

static void datetimes(void)
{
	static const struct {
		int64_t value;
		nk_time_unit unit;
		const char *zone, *wanted;
	} cases[] = {{1500, NK_UNIT_MS, NULL, "1970-01-01 00:00:01.500"},
	             {-1, NK_UNIT_US, NULL, "1969-12-31 23:59:59.999999"},
	             {1000000000000, NK_UNIT_NS, "UTC", "1970-01-01 00:16:40.000000000+00:00"},
	             {1000000000000, NK_UNIT_MS, "Europe/Paris", "2001-09-09 03:46:40.000+02:00"},
	             {1, NK_UNIT_MS, "Europe/Paris", "1970-01-01 01:00:00.001+01:00"},
	             {4102444800000, NK_UNIT_MS, "America/New_York", "2099-12-31 19:00:00.000-05:00"},
	             {4118083200000, NK_UNIT_MS, "America/New_York", "2100-06-30 19:00:00.000-05:00"}};
	for (int i = 0; i < NK_COUNT(cases); i++) {
		char out[NK_FORMAT_BYTES];
		int n = 0;
		nk_error err = {0};
		nk_status status = nk_format_datetime(cases[i].value, cases[i].unit, cases[i].zone, out, &n, &err);
		if (status != NK_OK && strcmp(cases[i].zone, "UTC") != 0) {
			fprintf(stderr, "no database of time zones: %s\n", err.message);
			continue;
		}
		same(out, n, cases[i].wanted, i);
	}
	const nk_zone *zone;
	EXPECT(nk_zone_find("../etc/passwd", &zone, NULL) == NK_COMPUTE);
	int64_t instants[2];
	if (nk_zone_find("Europe/Paris", &zone, NULL) == NK_OK) {
		EXPECT(nk_zone_resolve(zone, 1711852200, instants) == 0); /* 2024-03-31 02:30 */
		EXPECT(nk_zone_resolve(zone, 1729996200, instants) == 2 && instants[1] - instants[0] == 3600);
		EXPECT(nk_zone_resolve(zone, 1720000000, instants) == 1 && instants[0] == 1720000000 - 7200);
	}
}

static void prints(void)
{
	nk_print_options plain = {0}, full = {.full_floats = true}, three = {.float_precision = 4},
					 grouped = {.thousands_separator = ','};
	PRINTS(nk_print_float(&out, 1.0, &plain), "1.0");
	PRINTS(nk_print_float(&out, 1 / 3.0, &plain), "0.333333");
	PRINTS(nk_print_float(&out, 123456.789012, &plain), "123456.789012");
	PRINTS(nk_print_float(&out, 999998.5, &plain), "999998.5");
	PRINTS(nk_print_float(&out, 999999, &plain), "9.99999e5");
	PRINTS(nk_print_float(&out, 1e6, &plain), "1e6");
	PRINTS(nk_print_float(&out, 123456789, &plain), "1.23456789e8");
	PRINTS(nk_print_float(&out, 1e9, &plain), "1.0000e9");
	PRINTS(nk_print_float(&out, 1234567890, &plain), "1.2346e9");
	PRINTS(nk_print_float(&out, -1234567.5, &plain), "-1.2346e6");
	PRINTS(nk_print_float(&out, 1234567.5, &plain), "1234567.5");
	PRINTS(nk_print_float(&out, 1e-7, &plain), "0.0000001");
	PRINTS(nk_print_float(&out, 1.5e-7, &plain), "1.5000e-7");
	PRINTS(nk_print_float(&out, 12.000000001, &plain), "12.0");
	PRINTS(nk_print_float(&out, -0.0, &plain), "-0.0");
	PRINTS(nk_print_float(&out, (double)16777.217f, &plain), "16777.216797");
	PRINTS(nk_print_float(&out, 1e16, &full), "10000000000000000");
	PRINTS(nk_print_float(&out, 1e16, &three), "1.000e16");
	PRINTS(nk_print_float(&out, 2.0005, &three), "2.001");
	PRINTS(nk_print_float(&out, -1234567.5, &grouped), "-1,234,567.5");
	PRINTS(nk_print_float(&out, 1e16, &grouped), "10,000,000,000,000,000.0");
	PRINTS(nk_print_duration(&out, 86400000, NK_UNIT_MS), "1d");
	PRINTS(nk_print_duration(&out, -86400001, NK_UNIT_MS), "-1d -1ms");
	PRINTS(nk_print_duration(&out, 1500, NK_UNIT_US), "1500\xc2\xb5s");
	PRINTS(nk_print_duration(&out, 1001000000, NK_UNIT_NS), "1s 1ms");
	PRINTS(nk_print_duration(&out, 0, NK_UNIT_NS), "0ns");
}

static void numbers_parse(void)
{
	int64_t i64;
	uint64_t u64;
	__int128 i128;
	double f64;
	EXPECT(nk_parse_i64("-9223372036854775808", 20, &i64) && i64 == INT64_MIN);
	EXPECT(!nk_parse_i64("9223372036854775808", 19, &i64) && !nk_parse_i64("", 0, &i64) &&
	       !nk_parse_i64("+", 1, &i64));
	EXPECT(!nk_parse_i64("1_0", 3, &i64) && !nk_parse_i64(" 1", 2, &i64) && nk_parse_i64("-0", 2, &i64) &&
	       i64 == 0);
	EXPECT(nk_parse_u64("+18446744073709551615", 21, &u64) && u64 == UINT64_MAX);
	EXPECT(!nk_parse_u64("18446744073709551616", 20, &u64) && !nk_parse_u64("-0", 2, &u64));
	EXPECT(nk_parse_i128("-170141183460469231731687303715884105728", 40, &i128) && i128 < 0);
	EXPECT(!nk_parse_i128("170141183460469231731687303715884105728", 39, &i128));
	static const char *const wrong[] = {"",      "+",  ".",    "1e",  "e5", "0x10",
	                                    "1.2.3", "1d", "nanx", "- 1", "1e+"};
	for (int i = 0; i < NK_COUNT(wrong); i++)
		EXPECT(!nk_parse_f64(wrong[i], (int64_t)strlen(wrong[i]), &f64));
	static const struct {
		const char *text;
		int64_t value;
		bool fits;
	} decimals[] = {{"1.555", 156, true},    {"1.565", 156, true}, {"-1.555", -156, true},
	                {"1e3", 100000, true},   {"1.5e-1", 15, true}, {"99999999", 9999999900, true},
	                {"100000000", 0, false}, {".5", 50, true},     {"5.", 500, true},
	                {"1e-400", 0, true},     {"0.0051", 1, true},  {"1e40", 0, false},
	                {"0e40", 0, true}};
	for (int i = 0; i < NK_COUNT(decimals); i++) {
		bool fits = nk_parse_decimal(decimals[i].text, (int64_t)strlen(decimals[i].text), 10, 2, &i128);
		EXPECT(fits == decimals[i].fits && (!fits || i128 == decimals[i].value));
	}
	int32_t days;
	bool has_offset;
	EXPECT(nk_parse_date("2024-02-29", 10, &days) && days == 19782 &&
	       !nk_parse_date("2023-02-29", 10, &days));
	EXPECT(nk_parse_date("-0221-09-04", 11, &days) && days == -800000);
	EXPECT(nk_parse_time("01:02:03.004", 12, &i64) && i64 == 3723004000000 &&
	       !nk_parse_time("24:00", 5, &i64));
	EXPECT(nk_parse_datetime("2024-01-01T00:30:00+01:00", 25, &days, &i64, &has_offset));
	EXPECT(days == 19722 && i64 == 84600000000000 && has_offset);
}

static void floats_read_back(void)
{
	char text[NK_FORMAT_BYTES + 1];
	for (int i = 0; i < 200000; i++) {
		uint64_t bits = next();
		double value, got = 0;
		memcpy(&value, &bits, sizeof value);
		if (i % 4 == 1)
			value = (double)(int64_t)(bits >> (bits & 63));
		if (i % 4 == 2)
			value = (double)(int64_t)(bits >> 40) / 1000;
		if (!__builtin_isfinite(value))
			continue;
		int n = nk_format_f64(value, text);
		text[n] = 0;
		EXPECT(strtod(text, NULL) == value && nk_parse_f64(text, n, &got) &&
		       memcmp(&got, &value, sizeof got) == 0);
		int n_digits = snprintf(text, sizeof text, "%llu", (unsigned long long)nk_shortest_f64(value).digits);
		if (n_digits > 1) {
			snprintf(text, sizeof text, "%.*e", n_digits - 2, value);
			EXPECT(strtod(text, NULL) != value);
		}
		float narrow, narrow_got = 0;
		uint32_t low = (uint32_t)bits;
		memcpy(&narrow, &low, sizeof narrow);
		if (__builtin_isfinite(narrow)) {
			n = nk_format_f32(narrow, text);
			EXPECT(nk_parse_f32(text, n, &narrow_got) && memcmp(&narrow, &narrow_got, sizeof narrow) == 0);
		}
	}
}

static void agrees_with_library(const char *text)
{
	double value = 0, wanted = strtod(text, NULL);
	float narrow = 0, wanted_narrow = strtof(text, NULL);
	EXPECT(nk_parse_f64(text, (int64_t)strlen(text), &value) && memcmp(&value, &wanted, sizeof value) == 0);
	EXPECT(nk_parse_f32(text, (int64_t)strlen(text), &narrow) &&
	       memcmp(&narrow, &wanted_narrow, sizeof narrow) == 0);
}

static void hard_floats_parse(void)
{
	static const char *const hard[] = {"9007199254740993",
	                                   "9007199254740992.9999999999999999999999",
	                                   "1e400",
	                                   "1e-400",
	                                   "2.2250738585072011e-308",
	                                   "2.2250738585072014e-308",
	                                   "4.9e-324",
	                                   "2.4703282292062327e-324",
	                                   "1.7976931348623157e308",
	                                   "1.7976931348623159e308",
	                                   "3.4028235677973366e38",
	                                   "3.4028235677973362e38",
	                                   "1.1754943508222875e-38",
	                                   "0.000000000000000000000000000000000000001",
	                                   "123456789012345678901234567890",
	                                   "0.1e1",
	                                   "000000000000000000000000000001",
	                                   "1e23",
	                                   "8.589973e9",
	                                   "7.0e-45",
	                                   "16777217",
	                                   "33554435"};
	for (int i = 0; i < NK_COUNT(hard); i++)
		agrees_with_library(hard[i]);
	char text[1200];
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = next();
		double value;
		memcpy(&value, &bits, sizeof value);
		if (i % 3 == 0 && __builtin_isfinite(value))
			snprintf(text, sizeof text, "%.*e", (int)(next() % 30), value);
		else
			snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(next() >> (next() & 63)),
			         (unsigned long long)(next() >> (next() & 63)), (int)(next() % 680) - 340);
		agrees_with_library(text);
	}
	/* Exactly half way between two doubles, and a hair above, with some 750 digits. */
	snprintf(text, sizeof text, "%.1074f", 4.9406564584124654e-324 * 1.0);
	agrees_with_library(text);
	size_t n = strlen(text);
	memmove(text + n, "0000000001", 11);
	agrees_with_library(text);
}

int main(void)
{
	casts();
	datetimes();
	prints();
	numbers_parse();
	floats_read_back();
	hard_floats_parse();
	return expect_report();
}
