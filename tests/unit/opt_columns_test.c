/* Simplification, columns, limits and sharing: what goes, and what has to stay. */
#include "opt_support.h"

static nk_plan *table(void)
{
	return TABLE("t", 1000, {"a", NK_TYPE_INT64, 1, 1000, 0}, {"b", NK_TYPE_INT64, 1, 10, 0},
	             {"s", NK_TYPE_STRING, 1, 0, 0});
}

static void constants(void)
{
	EXPECT_PLAN(filter_by(table(), boolean(true)), "scan t, 3/3 columns: a, b, s\n");
	EXPECT_PLAN(filter_by(table(), CALL("and", boolean(true), CALL("gt", col("a"), number(1)))),
	            "scan t, 3/3 columns: a, b, s; where [(col(\"a\")) > (1)]\n");
	EXPECT_PLAN(filter_by(table(), boolean(false)), "scan t, 3/3 columns: a, b, s; rows: the first 0\n");
	EXPECT_PLAN(filter_by(table(), CALL("not", CALL("not", CALL("gt", col("a"), number(1))))),
	            "scan t, 3/3 columns: a, b, s; where [(col(\"a\")) > (1)]\n");
	EXPECT_PLAN(filter_by(table(), CALL("not", CALL("is_null", col("a")))),
	            "scan t, 3/3 columns: a, b, s; where col(\"a\").is_not_null()\n");
	/* a constant in the place of rows would change a sum */
	EXPECT_PLAN(
		select_of(table(),
	              EXPRS(as(CALL("sum", CALL("and", CALL("gt", col("a"), number(1)), boolean(false))), "n"))),
		"aggregate: [([(col(\"a\")) > (1)]) & (false)].sum()\n"
		"  scan t, 1/3 columns: a\n");
}

static void projections(void)
{
	/* a chain becomes one, and none where nothing is computed */
	nk_plan *chain = table();
	for (int i = 0; i < 5; i++)
		chain = with_columns(chain, EXPRS(as(CALL("add", col("a"), number(1)), "a")));
	char *text = optimized_text(chain, NK_OPT_ALL, false);
	EXPECT(strncmp(text, "project a = ", 12) == 0 && strstr(text, "\n  scan t, 3/3"));
	free(text);
	EXPECT_PLAN(
		select_of(select_of(table(), EXPRS(col("b"), col("a"))), EXPRS(as(col("a"), "x"), as(col("b"), "y"))),
		"scan t, 2/3 columns: a, b\n");
	/* nothing that doubles at every step */
	nk_plan *doubled = table();
	for (int i = 0; i < 60; i++)
		doubled = with_columns(doubled, EXPRS(as(CALL("add", col("a"), col("a")), "a")));
	text = optimized_text(doubled, NK_OPT_ALL, false);
	EXPECT(strlen(text) < 200000);
	free(text);
	/* columns of an aggregation that nobody reads */
	nk_plan *groups =
		plan_of(NK_PLAN_GROUP_BY, (nk_plan *[]){table()}, 1,
	            EXPRS(as(CALL("sum", col("a")), "x"), as(CALL("max", col("s")), "y")), EXPRS(col("b")));
	EXPECT_PLAN(select_of(groups, EXPRS(col("x"))), "project col(\"a\").sum()\n"
	                                                "  aggregate by b: col(\"a\").sum()\n"
	                                                "    scan t, 2/3 columns: a, b\n");
	/* counting rows reads no column */
	EXPECT_PLAN(select_of(table(), EXPRS(CALL("len", col("a")))), "aggregate: col(\"a\").len()\n"
	                                                              "  scan t, 1/3 columns: a\n");
	/* a sort needs its keys, the result does not */
	EXPECT_PLAN(select_of(sort_by(table(), col("a")), EXPRS(col("b"))), "project b\n"
	                                                                    "  sort by a\n"
	                                                                    "    scan t, 2/3 columns: a, b\n");
}

static void limits(void)
{
	EXPECT_PLAN(slice_of(table(), 5, 10), "scan t, 3/3 columns: a, b, s; rows: 10 after 5\n");
	EXPECT_PLAN(slice_of(table(), -5, 2), "scan t, 3/3 columns: a, b, s; rows: 2 after 995\n");
	EXPECT_PLAN(slice_of(slice_of(table(), 5, 10), 3, 20), "scan t, 3/3 columns: a, b, s; rows: 7 after 8\n");
	/* a predicate comes first */
	EXPECT_PLAN(slice_of(filter_by(table(), CALL("gt", col("a"), number(1))), 0, 10),
	            "slice: the first 10\n"
	            "  scan t, 3/3 columns: a, b, s; where [(col(\"a\")) > (1)]\n");
	EXPECT_PLAN(slice_of(sort_by(table(), col("a")), 0, 10), "sort by a; the first 10\n"
	                                                         "  scan t, 3/3 columns: a, b, s\n");
	EXPECT_PLAN(slice_of(sort_by(table(), col("a")), 5, 10), "slice: 10 after 5\n"
	                                                         "  sort by a; the first 15\n"
	                                                         "    scan t, 3/3 columns: a, b, s\n");
	EXPECT_PLAN(slice_of(select_of(table(), EXPRS(as(CALL("add", col("a"), number(1)), "c"))), 0, 10),
	            "project c = [(col(\"a\")) + (1)]\n"
	            "  scan t, 1/3 columns: a; rows: the first 10\n");
	/* the sort orders what the limit has left, not the other way round */
	EXPECT_PLAN(sort_by(slice_of(table(), 0, 10), col("a")),
	            "sort by a\n"
	            "  scan t, 3/3 columns: a, b, s; rows: the first 10\n");
}

static void sharing(void)
{
	/* a scan read twice is two scans, each with what it needs */
	nk_plan *t = table();
	nk_plan *left = filter_by(t, CALL("gt", col("a"), number(990))),
			*right = group_by(t, col("b"), as(CALL("sum", col("a")), "n"));
	EXPECT_PLAN(select_of(join_on(left, right, NK_JOIN_INNER, col("b"), col("b")), EXPRS(col("s"), col("n"))),
	            "inner join on b = b; table of the right\n"
	            "  scan t, 2/3 columns: b, s; where [(col(\"a\")) > (990)]\n"
	            "  aggregate by b: col(\"a\").sum()\n"
	            "    scan t, 2/3 columns: a, b\n");
	/* a table joined with itself has different columns on both sides */
	EXPECT_PLAN(filter_by(join_on(select_of(t, EXPRS(col("a"), col("b"))),
	                              select_of(t, EXPRS(col("a"), col("s"))), NK_JOIN_INNER, col("a"), col("a")),
	                      CALL("eq", col("s"), string("x"))),
	            "inner join on a = a; table of the right\n"
	            "  scan t, 2/3 columns: a, b\n"
	            "  scan t, 2/3 columns: a, s; where [(col(\"s\")) == (\"x\")]\n");
}

static nk_plan *sums_of(nk_plan *input, int64_t least)
{
	nk_plan *groups = group_by(input, col("b"), as(CALL("sum", col("a")), "n"));
	return select_of(filter_by(groups, CALL("gt", col("n"), number(least))), EXPRS(col("b"), col("n")));
}

/* What was written twice is computed once, if it is really the same. */
static void doubles(void)
{
	nk_plan *t = table();
	nk_plan *most = select_of(sums_of(t, 5), EXPRS(as(CALL("max", col("n")), "most")));
	nk_plan *joined = join_on(sums_of(t, 5), most, NK_JOIN_INNER, col("n"), col("most"));
	char *text = optimized_text(joined, NK_OPT_ALL, false);
	EXPECT(strstr(text, "(2 readers)") && strstr(text, "the rows of #"));
	free(text);
	most = select_of(sums_of(t, 6), EXPRS(as(CALL("max", col("n")), "most")));
	joined = join_on(sums_of(t, 5), most, NK_JOIN_INNER, col("n"), col("most"));
	text = optimized_text(joined, NK_OPT_ALL & ~NK_OPT_PREDICATE_PUSHDOWN, false);
	/* up to where they differ */
	EXPECT(strstr(text, "(2 readers) aggregate") && strstr(text, "(6)") && strstr(text, "(5)"));
	free(text);
	text = optimized_text(joined, NK_OPT_ALL & ~NK_OPT_COMMON_SUBPLANS, false);
	EXPECT(!strstr(text, "(2 readers) aggregate"));
	free(text);
}

/* Distinct values are counted by grouping twice, not by gathering groups, where nothing else is asked. */
static void distinct_counts(void)
{
	EXPECT_PLAN(group_by(table(), col("b"), as(CALL("n_unique", col("a")), "n")),
	            "aggregate by b: n = len()\n"
	            "  aggregate by b, distinct value = a\n"
	            "    scan t, 2/3 columns: a, b\n");
	nk_plan *two =
		plan_of(NK_PLAN_GROUP_BY, (nk_plan *[]){table()}, 1,
	            EXPRS(as(CALL("n_unique", col("a")), "x"), as(CALL("sum", col("a")), "y")), EXPRS(col("b")));
	char *text = optimized_text(two, NK_OPT_ALL, false);
	EXPECT(strstr(text, "n_unique") && !strstr(text, "distinct value"));
	free(text);
}

/* Ten thousand steps neither recurse nor take for ever. */
static void deep(void)
{
	nk_plan *plan = table();
	for (int i = 0; i < 10000; i++)
		plan = i % 2 ? with_columns(plan, EXPRS(as(CALL("add", col("a"), number(i)), "a")))
		             : filter_by(plan, CALL("gt", col("b"), number(i % 7)));
	char *text = optimized_text(plan, NK_OPT_ALL, false);
	EXPECT(strstr(text, "scan t, 3/3 columns: a, b, s; where [(col(\"b\")) > (0)] and") != NULL);
	free(text);
}

int main(void)
{
	constants();
	projections();
	limits();
	sharing();
	doubles();
	distinct_counts();
	deep();
	release_made();
	printf("%s\n", n_failed ? "failed" : "ok");
	return n_failed != 0;
}
