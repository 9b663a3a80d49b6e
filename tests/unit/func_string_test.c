/* Proves of the str namespace: each function gives what Polars 2.1 gives, on short and long text, with nulls, with
 * patterns that are searched and patterns that are matched; and that refused allocations leak nothing. */
#include "call.h"
#include "compute/text_pattern.h"
#include "func/registry.h"

#define CALL(expected, name, ...) EXPECT_CALL(expected, nk__funcs_string, name, (__VA_ARGS__))
#define LONG "a text of more than twelve bytes"

static const nk_dtype *i64, *u64;

static void test_lengths_and_slices(void)
{
	CALL("[5, 0, null, 32] UInt32", "str.len_bytes", texts("h\xc3\xa9\xc3\xa9", "", NULL, LONG));
	CALL("[3, 0, null, 32] UInt32", "str.len_chars", texts("h\xc3\xa9\xc3\xa9", "", NULL, LONG));
	CALL("[bc] String", "str.slice", texts("abc"), one_integer(i64, -2));
	CALL("[] String", "str.slice", texts("abc"), one_integer(i64, 5));
	CALL("[a] String", "str.slice", texts("abc"), one_integer(i64, -5), one_integer(u64, 3));
	CALL("[] String", "str.slice", texts("abc"), one_integer(i64, -5), one_integer(u64, 1));
	CALL("[bc, null, cdef, e] String", "str.slice", texts("abcdef", "abcdef", "abcdef", "abcdef"),
	     integers(i64, 1, INT64_MIN, 2, -2), integers(u64, 2, 2, INT64_MIN, 1));
	CALL("[of more than twelve b, \xc3\xa9x] String", "str.slice", texts(LONG, "0123456\xc3\xa9\xc3\xa9x"),
	     integers(i64, 7, 8), integers(u64, 21, 9));
	CALL("[ab, ab] String", "str.head", texts("abc", "abc"), integers(i64, 2, -1));
	CALL("[, ] String", "str.head", texts("abc", "abc"), integers(i64, 0, -5));
	CALL("[bc, bc, , ] String", "str.tail", texts("abc", "abc", "abc", "abc"), integers(i64, 2, -1, 0, -5));
}

static void test_stripping(void)
{
	CALL("[a b, null] String", "str.strip_chars", texts("  a b\xc2\xa0\xe2\x80\x83\n", NULL));
	CALL("[a b ] String", "str.strip_chars_start", texts("  a b "));
	CALL("[  a b] String", "str.strip_chars_end", texts("  a b "));
	CALL("[a] String", "str.strip_chars", texts("xxaxy"), one_text("xy"));
	CALL("[  a b ] String", "str.strip_chars", texts("  a b "), one_text(""));
	CALL("[ab, ab] String", "str.strip_chars", texts("  ab ", "xab"), texts(NULL, "x"));
	CALL("[a] String", "str.strip_chars",
	     texts("\xc3\xa9"
	           "a\xc3\xa9"),
	     one_text("\xc3\xa9"));
	CALL("[foo] String", "str.strip_prefix", texts("foofoo"), one_text("foo"));
	CALL("[abc] String", "str.strip_prefix", texts("abc"), one_text(""));
	CALL("[null, ab] String", "str.strip_prefix", texts("  ab ", "xab"), texts(NULL, "x"));
	CALL("[a] String", "str.strip_suffix", texts("abc"), one_text("bc"));
}

static void test_building(void)
{
	CALL("[00012, -0012, +0001, 00000, -0000, 000a\xc3\xa9, 12345678, null] String", "str.zfill",
	     texts("12", "-12", "+1", "", "-", "a\xc3\xa9", "12345678", NULL), one_integer(u64, 5));
	option_string("fill_char", "\xc3\xa9");
	CALL("[\xc3\xa9\xc3\xa9\xc3\xa9] String", "str.pad_start", texts("\xc3\xa9"), one_integer(u64, 3));
	CALL("[a  , b  , null] String", "str.pad_end", texts("a", "b", NULL), one_integer(u64, 3));
	option_string("fill_char", "ab");
	CALL("!13", "str.pad_end", texts("a"), one_integer(u64, 3));
	CALL("[\xcc\x81"
	     "e\xc3\xa9h] String",
	     "str.reverse",
	     texts("h\xc3\xa9"
	           "e\xcc\x81"));
	CALL("[FI \xca\xbcN STRASSE \xc7\x84, ABC, A TEXT OF MORE THAN TWELVE BYTES] String", "str.to_uppercase",
	     texts("\xef\xac\x81 \xc5\x89 stra\xc3\x9f"
	           "e \xc7\x86",
	           "aBc", LONG));
	CALL("[\xcf\x83\xce\xb1\xcf\x82 i\xcc\x87 \xef\xac\x81 \xc3\x9f, abc] String", "str.to_lowercase",
	     texts("\xce\xa3\xce\x91\xce\xa3 \xc4\xb0 \xef\xac\x81 \xe1\xba\x9e", "aBc"));
	option_string("separator", "-");
	CALL("[x-y, null] String", "concat_str", texts("x", NULL), texts("y", "z"));
	option_string("separator", "-");
	option_boolean("ignore_nulls", true);
	CALL("[x-y, z, ] String", "concat_str", texts("x", NULL, NULL), texts("y", "z", NULL));
	CALL("[" LONG LONG "] String", "concat_str", texts(LONG), one_text(LONG));
}

static void contains(const char *expected, const char *text, const char *pattern)
{
	CALL(expected, "str.contains", texts(text), one_text(pattern));
	/* The same with the pattern as a column. */
	CALL(expected, "str.contains", texts(text), texts(pattern));
}

static void test_contains(void)
{
	static const struct {
		const char *text, *pattern;
		bool found;
	} cases[] = {
		{"the special and rare requests are", "special.*requests", true},
		{"the requests come before special", "special.*requests", false},
		{"specialrequests", "special.*requests", true},
		{"specia special req requests", "special.*requests", true},
		{"special\nrequests", "special.*requests", false},
		{"special\nspecial requests", "special.*requests", true},
		{"special\nrequests", "(?s)special.*requests", true},
		{"ECONOMY BRASS", "BRASS$", true},
		{"BRASS ECONOMY", "BRASS$", false},
		{"BRASS", "^BRASS$", true},
		{"BRASSY", "^BRASS$", false},
		{"PROMO BRUSHED", "^PROMO", true},
		{"a PROMO", "^PROMO", false},
		{"aXb", "^a.*b$", true},
		{"a\nb", "^a.*b$", false},
		{"ab", "^ab.*b$", false},
		{"a.c", "a\\.c", true},
		{"abc", "a\\.c", false},
		{"x\nfoo", "^.*foo", false},
		{"x\nfoo", ".*foo", true},
		{"foo\nx", "foo.*$", false},
		{"foo\nfoo x", "foo.*$", true},
		{"", "", true},
		{"", "^$", true},
		{"a\nb", "a.b", false},
		{"ab\n", "b$", false},
		{"ab\n", "(?m)b$", true},
		{"a}b", "a}b", true},
		{"a]b", "a]b", true},
		{"ab", "\\<ab\\>", true},
		{"a b", "a\\ b", true},
		{"a b", "(?x) a\\ b", true},
		{"ab", "[[:alpha:]]", true},
		{"\xc3\xa9", "^\\w$", true},
		{"\xd9\xa3", "^\\d$", true},
		{"\xe2\x84\xaa", "(?i)^k$", true},
		{"\xc3\xa9", "^.$", true},
		{"aab", "a{2}b", true},
		{"b", "^a*b", true},
		{"ab|", "ab\\|$", true},
		{"xyz", "a|z", true},
		{"a5", "[a-c][0-9]", true},
		{"5a", "^[a-c][0-9]", false},
		{"A", "\\x41", true},
	};
	for (int i = 0; i < NK_COUNT(cases); i++)
		contains(cases[i].found ? "[true] Boolean" : "[false] Boolean", cases[i].text, cases[i].pattern);
	static const char *const refused[] = {"(?=x)", "a(?<!b)", "(a)\\1", "\\k<x>", "\\Z", "(?>a)",  "\\h",
	                                      "a{b",   "a{,3}",   "[",      "(",      "\\",  "(?P>x)", "(*UTF)"};
	for (int i = 0; i < NK_COUNT(refused); i++) {
		contains("!8", "a", refused[i]);
		option_boolean("strict", false);
		CALL("[null] Boolean", "str.contains", texts("a"), one_text(refused[i]));
	}
	option_boolean("literal", true);
	CALL("[true, false, null] Boolean", "str.contains", texts("a.*", "abc", NULL), one_text(".*"));
	option_boolean("strict", false);
	CALL("[null, true, null] Boolean", "str.contains", texts("a1", "b2", "x"), texts(NULL, "b", "["));
	CALL("[null] Boolean", "str.contains", texts("x"), one_text(NULL));
	CALL("!8", "str.contains", texts("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"),
	     one_text("^(a|aa)+$"));
	CALL("[true, false, null, true, false] Boolean", "str.starts_with",
	     texts("abc", "b", NULL, "ab" LONG, LONG), one_text("ab"));
	CALL("[true, false, true] Boolean", "str.starts_with", texts("abcdef", "abcde", "abcdef" LONG),
	     one_text("abcdef"));
	CALL("[null, true, null] Boolean", "str.starts_with", texts("a1", "b2", NULL), texts(NULL, "b", "["));
	CALL("[true, false, true, false] Boolean", "str.ends_with", texts("xbytes", "bytesx", LONG, ""),
	     one_text("bytes"));
	CALL("[false, true] Boolean", "str.ends_with", texts("bytes", LONG), one_text("than twelve bytes"));
	CALL("[true, true] Boolean", "str.ends_with", texts("bytes", ""), one_text(""));
	CALL("!2", "str.contains", integers(i64, 1), one_text("a"));
	CALL("!3", "str.count_matches", integers(i64, 1), one_text("a"));
}

static void test_places(void)
{
	CALL("[2, null, null] UInt32", "str.find", texts("abc", "x", NULL), one_text("c"));
	CALL("[3] UInt32", "str.find", texts("\xc3\xa9xb"), one_text("b"));
	CALL("[3] UInt32", "str.find", texts("abc1"), one_text("\\d"));
	CALL("[2, null] UInt32", "str.count_matches", texts("abcabc", NULL), one_text("b."));
	CALL("[7] UInt32", "str.count_matches", texts("abcabc"), one_text(""));
	CALL("[3] UInt32", "str.count_matches",
	     texts("\xc3\xa9"
	           "a"),
	     one_text(""));
	CALL("[3] UInt32", "str.count_matches", texts("abc"), one_text("b*"));
	option_boolean("literal", true);
	CALL("[1] UInt32", "str.count_matches", texts("a.c"), one_text("."));
	CALL("[1, null] String", "str.extract", texts("a1b22", "x"), one_text("(\\d+)"));
	option_integer("group_index", 2);
	CALL("[null] String", "str.extract", texts("a1b22"), one_text("(\\d+)([xyz])?b"));
	option_integer("group_index", 2);
	CALL("[null] String", "str.extract", texts("a1b22"), one_text("(\\d+)"));
	option_integer("group_index", 0);
	CALL("[more than] String", "str.extract", texts(LONG), one_text("m.*n"));
	CALL("[null, b] String", "str.extract", texts("a1", "b2"), texts(NULL, "(b)"));
}

static void replaced(const char *expected, const char *text, const char *pattern, const char *value)
{
	CALL(expected, "str.replace", texts(text), one_text(pattern), one_text(value));
}

static void test_replace(void)
{
	replaced("[aXXbX] String", "aXbX", "X", "$0$0");
	replaced("[abX] String", "aXbX", "X", "$0a");
	replaced("[aXabX] String", "aXbX", "X", "${0}a");
	replaced("[a$bX] String", "aXbX", "X", "$$");
	replaced("[a$bX] String", "aXbX", "X", "$");
	replaced("[abX] String", "aXbX", "X", "$1");
	replaced("[a<X>bX] String", "aXbX", "(?P<n>X)", "<$n>");
	replaced("[a<1>b2] String", "a1b2", "(\\d)", "<$1>");
	replaced("[_abc] String", "abc", "", "_");
	replaced("[_] String", "", "", "_");
	replaced("[] String", "a", "a", "");
	CALL("[aXbX, null] String", "str.replace", texts("aXbX", NULL), one_text("X"), one_text(NULL));
	option_boolean("literal", true);
	option_integer("n", 2);
	CALL("[axbx] String", "str.replace", texts("a.b."), one_text("."), one_text("x"));
	option_integer("n", 0);
	CALL("[aXbX] String", "str.replace", texts("aXbX"), one_text("X"), one_text("_"));
	option_integer("n", -1);
	CALL("[a_b_] String", "str.replace", texts("aXbX"), one_text("X"), one_text("_"));
	option_integer("n", 2);
	CALL("!8", "str.replace", texts("a1b2"), one_text("\\d"), one_text("_"));
	CALL("[a#b#] String", "str.replace_all", texts("a1b2"), one_text("\\d"), one_text("#"));
	CALL("[_a_c_] String", "str.replace_all", texts("abc"), one_text("b*"), one_text("_"));
	CALL("[_a_b_c_, _a_] String", "str.replace_all", texts("abc", "aXX"), one_text("X*"), one_text("_"));
	CALL("[_a_b_c_] String", "str.replace_all", texts("abc"), one_text(""), one_text("_"));
	CALL("[q1, w2, x] String", "str.replace_all", texts("a1", "b2", "x"), one_text("[a-z]"),
	     texts("q", "w", NULL));
	CALL("[A TEXT of more thAn twelve bytes, null] String", "str.replace_all",
	     texts("A TEXT of more than twelve bytes", NULL), one_text("a"), one_text("A"));
	CALL("!8", "str.replace_all", texts("a"), one_text("a"), one_text(NULL));
}

/* A pattern that fails to get memory at any point fails cleanly. */
static void test_refused_memory(void)
{
	for (int64_t n = 0;; n++) {
		nk_memory *memory = nk_memory_new(NULL, INT64_MAX);
		nk_memory_refuse_after(memory, n);
		nk_status status;
		{
			NK_AUTO(nk_pattern) pattern = NULL;
			NK_MATCHER(matcher);
			bool found = false;
			status = nk_pattern_new(memory, "(a+)b", 5, false, false, &pattern, NULL);
			if (status == NK_OK)
				status = nk_matcher_init(&matcher, pattern, NULL);
			if (status == NK_OK)
				status = nk_matcher_find(&matcher, "xaab", 4, 0, &found, NULL);
			EXPECT(status == NK_OK ? found && matcher.begin == 1 : status == NK_OUT_OF_MEMORY);
		}
		EXPECT(nk_memory_used(memory) == 0);
		nk_memory_unref(memory);
		if (status == NK_OK)
			break;
	}
}

int main(void)
{
	i64 = nk_dtype_of(NK_TYPE_INT64);
	u64 = nk_dtype_of(NK_TYPE_UINT64);
	test_lengths_and_slices();
	test_stripping();
	test_building();
	test_contains();
	test_places();
	test_replace();
	test_refused_memory();
	calls_done();
	return expect_report();
}
