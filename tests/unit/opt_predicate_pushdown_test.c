/* Where predicates go, and where they must not. */
#include "opt_support.h"

static nk_plan *left_table(void)
{
	return TABLE("left", 1000, {"a", NK_TYPE_INT64, 1, 1000, 0}, {"b", NK_TYPE_INT64, 1, 10, 0},
	             {"s", NK_TYPE_STRING, 1, 0, 0});
}

static nk_plan *right_table(void)
{
	return TABLE("right", 5000, {"x", NK_TYPE_INT64, 1, 1000, 0}, {"y", NK_TYPE_INT64, 1, 10, 0},
	             {"t", NK_TYPE_STRING, 1, 0, 0});
}

static void into_scans(void)
{
	EXPECT_PLAN(filter_by(left_table(), CALL("gt", col("a"), number(5))),
	            "scan left, 3/3 columns: a, b, s; where [(col(\"a\")) > (5)]\n");
	/* through projections, with columns replaced */
	EXPECT_PLAN(filter_by(select_of(left_table(), EXPRS(as(CALL("add", col("a"), col("b")), "c"))),
	                      CALL("gt", col("c"), number(5))),
	            "project c = [(col(\"a\")) + (col(\"b\"))]\n"
	            "  scan left, 2/3 columns: a, b; where [([(col(\"a\")) + (col(\"b\"))]) > (5)]\n");
	/* a column that only the predicate reads is not decoded for all rows */
	EXPECT_PLAN(select_of(filter_by(left_table(), CALL("gt", col("a"), number(5))), EXPRS(col("b"))),
	            "scan left, 1/3 columns: b; where [(col(\"a\")) > (5)]\n");
	/* not past a limit */
	EXPECT_PLAN(filter_by(slice_of(left_table(), 0, 10), CALL("gt", col("a"), number(5))),
	            "filter [(col(\"a\")) > (5)]\n"
	            "  scan left, 3/3 columns: a, b, s; rows: the first 10\n");
}

static void through_aggregates(void)
{
	nk_plan *groups = group_by(left_table(), col("b"), as(CALL("sum", col("a")), "total"));
	EXPECT_PLAN(filter_by(groups, CALL("gt", col("b"), number(5))),
	            "aggregate by b: col(\"a\").sum()\n"
	            "  scan left, 2/3 columns: a, b; where [(col(\"b\")) > (5)]\n");
}

static void joins(void)
{
	/* each side gets its own; a key's predicate holds on both */
	nk_plan *inner = join_on(left_table(), right_table(), NK_JOIN_INNER, col("a"), col("x"));
	EXPECT_PLAN(select_of(filter_by(inner, CALL("and", CALL("gt", col("a"), number(5)),
	                                            CALL("lt", col("y"), number(3)))),
	                      EXPRS(col("b"), col("t"))),
	            "inner join on x = a; table of the right\n"
	            "  scan right, 2/3 columns: x, t; where [(col(\"y\")) < (3)] and [(col(\"x\")) > (5)]\n"
	            "  scan left, 2/3 columns: a, b; where [(col(\"a\")) > (5)]\n");
	/* a left join keeps a predicate on the right that accepts nulls above it */
	nk_plan *left = join_on(left_table(), right_table(), NK_JOIN_LEFT, col("a"), col("x"));
	EXPECT_PLAN(select_of(filter_by(left, CALL("is_null", col("y"))), EXPRS(col("b"))),
	            "project b\n"
	            "  filter col(\"y\").is_null()\n"
	            "    left join on a = x; table of the left\n"
	            "      scan left, 2/3 columns: a, b\n"
	            "      scan right, 2/3 columns: x, y\n");
	/* one that rejects nulls makes it an inner join */
	EXPECT_PLAN(select_of(filter_by(left, CALL("gt", col("y"), number(5))), EXPRS(col("b"))),
	            "inner join on x = a; table of the right\n"
	            "  scan right, 1/3 columns: x; where [(col(\"y\")) > (5)]\n"
	            "  scan left, 2/3 columns: a, b\n");
	/* one on the left goes below, and by the key to the right as well */
	EXPECT_PLAN(select_of(filter_by(left, CALL("gt", col("a"), number(990))), EXPRS(col("b"))),
	            "left join on a = x; table of the left\n"
	            "  scan left, 2/3 columns: a, b; where [(col(\"a\")) > (990)]\n"
	            "  scan right, 1/3 columns: x; where [(col(\"x\")) > (990)]\n");
	/* nothing enters a full join */
	nk_plan *full = join_on(left_table(), right_table(), NK_JOIN_FULL, col("a"), col("x"));
	EXPECT_PLAN(select_of(filter_by(full, CALL("is_null", col("b"))), EXPRS(col("y"))),
	            "project y\n"
	            "  filter col(\"b\").is_null()\n"
	            "    full join on a = x; table of the left\n"
	            "      scan left, 2/3 columns: a, b\n"
	            "      scan right, 2/3 columns: x, y\n");
	/* semi and anti joins pass everything on, and keys to both sides */
	nk_plan *anti = join_on(left_table(), right_table(), NK_JOIN_ANTI, col("a"), col("x"));
	EXPECT_PLAN(select_of(filter_by(anti, CALL("lt", col("a"), number(5))), EXPRS(col("b"))),
	            "anti join on a = x; table of the left\n"
	            "  scan left, 2/3 columns: a, b; where [(col(\"a\")) < (5)]\n"
	            "  scan right, 1/3 columns: x; where [(col(\"x\")) < (5)]\n");
	/* a cross join with an equality is a join; other comparisons become part of the match */
	nk_plan *cross = join_on(left_table(), right_table(), NK_JOIN_CROSS, NULL, NULL);
	EXPECT_PLAN(select_of(filter_by(cross, CALL("and", CALL("eq", col("a"), col("x")),
	                                            CALL("lt", col("b"), col("y")))),
	                      EXPRS(col("s"))),
	            "inner join on x = a where [(col(\"b\")) < (col(\"y\"))]; table of the right\n"
	            "  scan right, 2/3 columns: x, y\n"
	            "  scan left, 3/3 columns: a, b, s\n");
}

static void disjunctions(void)
{
	nk_plan *inner = join_on(left_table(), right_table(), NK_JOIN_INNER, col("a"), col("x"));
	nk_expr *b1 = CALL("eq", col("b"), number(1)), *b2 = CALL("eq", col("b"), number(2));
	nk_expr *y1 = CALL("eq", col("y"), number(1)), *y2 = CALL("eq", col("y"), number(2));
	nk_expr *either = CALL("or", CALL("and", b1, y2), CALL("and", b2, y1));
	EXPECT_PLAN(
		select_of(filter_by(inner, either), EXPRS(col("s"))),
		"inner join on x = a where [([([(col(\"b\")) == (1)]) & ([(col(\"y\")) == (2)])]) | "
		"([([(col(\"b\")) == (2)]) & ([(col(\"y\")) == (1)])])]; table of the right\n"
		"  scan right, 2/3 columns: x, y; where [([(col(\"y\")) == (2)]) | ([(col(\"y\")) == (1)])]\n"
		"  scan left, 3/3 columns: a, b, s; where [([(col(\"b\")) == (1)]) | ([(col(\"b\")) == (2)])]\n");
	/* common factors come out */
	nk_expr *common = CALL("or", CALL("and", b1, y1), CALL("and", b1, y2));
	EXPECT_PLAN(select_of(filter_by(inner, common), EXPRS(col("s"))),
	            "inner join on x = a; table of the right\n"
	            "  scan right, 1/3 columns: x; where [([(col(\"y\")) == (1)]) | ([(col(\"y\")) == (2)])]\n"
	            "  scan left, 2/3 columns: a, s; where [(col(\"b\")) == (1)]\n");
}

/* A node with several readers takes nothing in. */
static void shared(void)
{
	nk_plan *groups = group_by(left_table(), col("b"), as(CALL("sum", col("a")), "total"));
	nk_plan *few = select_of(filter_by(groups, CALL("eq", col("b"), number(1))), EXPRS(as(col("b"), "k")));
	nk_plan *both = join_on(groups, few, NK_JOIN_INNER, col("b"), col("k"));
	char *text = optimized_text(both, NK_OPT_ALL, false);
	EXPECT(strstr(text, "(2 readers) aggregate by b") && strstr(text, "the rows of #") &&
	       !strstr(text, "; where"));
	free(text);
}

static nk_expr *to_integer(nk_expr *expr)
{
	nk_error err = {0};
	nk_expr *out;
	const char *name = "dtype";
	nk_option dtype = {.kind = NK_OPTION_DTYPE, .dtype = nk_dtype_of(NK_TYPE_INT64)};
	must(nk__expr_call(nk_func_find("cast"), &expr, 1, &name, &dtype, 1, &out, &err), &err);
	return keep_expr(out);
}

/* What may fail meets no rows that were removed before; what cannot may pass it. */
static void fallible(void)
{
	nk_expr *parsed = CALL("gt", to_integer(col("s")), number(1)), *small = CALL("lt", col("a"), number(5));
	EXPECT_PLAN(filter_by(filter_by(left_table(), small), parsed),
	            "filter [(col(\"s\").cast(Int64)) > (1)]\n"
	            "  scan left, 3/3 columns: a, b, s; where [(col(\"a\")) < (5)]\n");
	EXPECT_PLAN(filter_by(filter_by(left_table(), parsed), small),
	            "filter [(col(\"s\").cast(Int64)) > (1)]\n"
	            "  scan left, 3/3 columns: a, b, s; where [(col(\"a\")) < (5)]\n");
	/* nor one that became fallible on its way */
	EXPECT_PLAN(filter_by(select_of(left_table(), EXPRS(as(to_integer(col("s")), "n"))),
	                      CALL("gt", col("n"), number(1))),
	            "filter [(col(\"n\")) > (1)]\n"
	            "  project n = col(\"s\").cast(Int64)\n"
	            "    scan left, 1/3 columns: s\n");
}

static void past_others(void)
{
	nk_expr *small = CALL("lt", col("a"), number(5));
	EXPECT_PLAN(filter_by(sort_by(left_table(), col("b")), small),
	            "sort by b\n"
	            "  scan left, 3/3 columns: a, b, s; where [(col(\"a\")) < (5)]\n");
	nk_plan *unique = plan_of(NK_PLAN_UNIQUE, (nk_plan *[]){left_table()}, 1, NULL, 0, EXPRS(col("a")));
	EXPECT_PLAN(filter_by(unique, small), "unique by a; keeps any\n"
	                                      "  scan left, 3/3 columns: a, b, s; where [(col(\"a\")) < (5)]\n");
	/* which row of equal keys is kept is decided before others are removed */
	EXPECT_PLAN(filter_by(unique, CALL("lt", col("b"), number(5))), "filter [(col(\"b\")) < (5)]\n"
	                                                                "  unique by a; keeps any\n"
	                                                                "    scan left, 3/3 columns: a, b, s\n");
	/* what sees other rows */
	nk_plan *mapped =
		with_columns(left_table(), EXPRS(as(CALL("sub", col("a"), CALL("mean", col("a"))), "c")));
	char *text = optimized_text(filter_by(mapped, small), NK_OPT_ALL, false);
	EXPECT(strncmp(text, "filter ", 7) == 0 && !strstr(text, "where"));
	free(text);
	/* aggregates are no keys */
	nk_plan *groups = group_by(left_table(), col("b"), as(CALL("sum", col("a")), "total"));
	text = optimized_text(filter_by(groups, CALL("gt", col("total"), number(5))), NK_OPT_ALL, false);
	EXPECT(strstr(text, "filter ") && !strstr(text, "where"));
	free(text);
	/* a check of keys sees all rows */
	nk_plan *checked = join_on(left_table(), right_table(), NK_JOIN_INNER, col("a"), col("x"));
	checked->validate = NK_VALIDATE_ONE_TO_MANY;
	text = optimized_text(filter_by(checked, small), NK_OPT_ALL, false);
	EXPECT(strncmp(text, "filter ", 7) == 0 && !strstr(text, "where"));
	free(text);
	/* each input of a union */
	nk_plan *two[2] = {left_table(), left_table()};
	nk_plan *both = plan_of(NK_PLAN_CONCAT, two, 2, NULL, 0, NULL, 0);
	EXPECT_PLAN(filter_by(both, small), "union of 2\n"
	                                    "  scan left, 3/3 columns: a, b, s; where [(col(\"a\")) < (5)]\n"
	                                    "  scan left, 3/3 columns: a, b, s; where [(col(\"a\")) < (5)]\n");
	/* row numbers count what was there */
	nk_plan *numbered = plan_of(NK_PLAN_ROW_INDEX, (nk_plan *[]){left_table()}, 1, NULL, 0, NULL, 0);
	numbered->names = calloc(1, sizeof(char *));
	numbered->names[0] = strdup("i");
	numbered->n_names = 1;
	text = optimized_text(filter_by(numbered, small), NK_OPT_ALL, false);
	EXPECT(strncmp(text, "filter ", 7) == 0 && !strstr(text, "where"));
	free(text);
}

int main(void)
{
	into_scans();
	fallible();
	past_others();
	through_aggregates();
	joins();
	disjunctions();
	shared();
	release_made();
	printf("%s\n", n_failed ? "failed" : "ok");
	return n_failed != 0;
}
