/* The order in which joins are written does not matter, sizes decide, and what must stay in place does. The tables have
 * the shape of TPC-H at scale factor 1. */
#include "opt_support.h"

static nk_plan *region, *nation, *supplier, *customer, *orders, *lineitem, *part, *partsupp;

static void make_tables(void)
{
	region = TABLE("region", 5, {"r_regionkey", NK_TYPE_INT64, 0, 4, 0}, {"r_name", NK_TYPE_STRING, 1, 0, 0});
	nation = TABLE("nation", 25, {"n_nationkey", NK_TYPE_INT64, 0, 24, 0},
	               {"n_name", NK_TYPE_STRING, 1, 0, 0}, {"n_regionkey", NK_TYPE_INT64, 0, 4, 0});
	supplier = TABLE("supplier", 10000, {"s_suppkey", NK_TYPE_INT64, 1, 10000, 0},
	                 {"s_nationkey", NK_TYPE_INT64, 0, 24, 0});
	customer = TABLE("customer", 150000, {"c_custkey", NK_TYPE_INT64, 1, 150000, 0},
	                 {"c_nationkey", NK_TYPE_INT64, 0, 24, 0}, {"c_mktsegment", NK_TYPE_STRING, 1, 0, 0});
	orders =
		TABLE("orders", 1500000, {"o_orderkey", NK_TYPE_INT64, 1, 6000000, 0},
	          {"o_custkey", NK_TYPE_INT64, 1, 149999, 0}, {"o_orderdate", NK_TYPE_INT64, 8035, 10440, 0});
	lineitem = TABLE("lineitem", 6001215, {"l_orderkey", NK_TYPE_INT64, 1, 6000000, 0},
	                 {"l_partkey", NK_TYPE_INT64, 1, 200000, 0}, {"l_suppkey", NK_TYPE_INT64, 1, 10000, 0},
	                 {"l_quantity", NK_TYPE_INT64, 1, 50, 0}, {"l_price", NK_TYPE_INT64, 90000, 10494950, 0});
	part = TABLE("part", 200000, {"p_partkey", NK_TYPE_INT64, 1, 200000, 0},
	             {"p_size", NK_TYPE_INT64, 1, 50, 0});
	partsupp = TABLE("partsupp", 800000, {"ps_partkey", NK_TYPE_INT64, 1, 200000, 0},
	                 {"ps_suppkey", NK_TYPE_INT64, 1, 10000, 0}, {"ps_cost", NK_TYPE_INT64, 100, 100000, 0});
}

static nk_plan *inner(nk_plan *left, nk_plan *right, const char *left_on, const char *right_on)
{
	return join_on(left, right, NK_JOIN_INNER, col(left_on), col(right_on));
}

static nk_plan *inner_two(nk_plan *left, nk_plan *right, const char *a, const char *b, const char *x,
                          const char *y)
{
	nk_plan *inputs[2] = {left, right};
	nk_expr *left_on[2] = {col(a), col(b)}, *right_on[2] = {col(x), col(y)};
	nk_plan *out = plan_of(NK_PLAN_JOIN, inputs, 2, right_on, 2, left_on, 2);
	out->join = NK_JOIN_INNER;
	return out;
}

/* Rows estimated for the first line that begins with this. */
static double estimate_of(const char *text, const char *line)
{
	const char *at = strstr(text, line);
	EXPECT(at != NULL);
	if (!at || !(at = strstr(at, "  ~")))
		return -1;
	char *unit;
	double n = strtod(at + 3, &unit);
	return n * (*unit == 'k' ? 1e3 : *unit == 'M' ? 1e6 : *unit == 'G' ? 1e9 : 1);
}

/* Of one region of the world, as written by two people. */
static void order_is_free(void)
{
	nk_plan *first = inner(customer, orders, "c_custkey", "o_custkey");
	first = inner(first, lineitem, "o_orderkey", "l_orderkey");
	first = inner_two(first, supplier, "l_suppkey", "c_nationkey", "s_suppkey", "s_nationkey");
	first = inner(first, nation, "c_nationkey", "n_nationkey");
	first = inner(first, region, "n_regionkey", "r_regionkey");
	nk_plan *second = inner(region, nation, "r_regionkey", "n_regionkey");
	second = inner(second, supplier, "n_nationkey", "s_nationkey");
	second = inner(second, lineitem, "s_suppkey", "l_suppkey");
	second = inner(second, orders, "l_orderkey", "o_orderkey");
	second = inner_two(second, customer, "o_custkey", "n_nationkey", "c_custkey", "c_nationkey");
	nk_plan *both[2] = {first, second};
	char *texts[2];
	for (int i = 0; i < 2; i++) {
		nk_expr *asia = CALL("eq", col("r_name"), string("ASIA"));
		nk_expr *year = CALL("and", CALL("ge", col("o_orderdate"), number(8766)),
		                     CALL("lt", col("o_orderdate"), number(9131)));
		nk_plan *filtered = filter_by(both[i], CALL("and", asia, year));
		texts[i] = optimized_text(
			group_by(filtered, col("n_name"), as(CALL("sum", col("l_price")), "revenue")), NK_OPT_ALL, true);
		EXPECT(estimate_of(texts[i], "scan region") == 1);
		/* 15 % of the orders of a fifth of the customers */
		double most = estimate_of(texts[i], "scan orders");
		EXPECT(most > 200e3 && most < 260e3);
	}
	/* The same joins of the same sizes; which key of a class stands in the text may differ. */
	const char *lines[] = {"scan region",   "scan nation", "scan supplier",
	                       "scan customer", "scan orders", "scan lineitem"};
	for (int i = 0; i < NK_COUNT(lines); i++) {
		const char *a = strstr(texts[0], lines[i]), *b = strstr(texts[1], lines[i]);
		int indent_a = 0, indent_b = 0;
		while (a - indent_a > texts[0] && a[-indent_a - 1] == ' ')
			indent_a++;
		while (b - indent_b > texts[1] && b[-indent_b - 1] == ' ')
			indent_b++;
		if (indent_a != indent_b)
			fprintf(stderr, "%s%s", texts[0], texts[1]);
		EXPECT(indent_a == indent_b);
	}
	free(texts[0]);
	free(texts[1]);
}

/* Two keys that hang together: every line has one offer, not one in 2500. */
static void composite_keys(void)
{
	nk_plan *joined = inner_two(lineitem, partsupp, "l_partkey", "l_suppkey", "ps_partkey", "ps_suppkey");
	joined = inner(joined, part, "l_partkey", "p_partkey");
	char *text = optimized_text(select_of(joined, EXPRS(col("l_price"), col("ps_cost"), col("p_size"))),
	                            NK_OPT_ALL, true);
	double n = estimate_of(text, "inner join");
	EXPECT(n > 5e6 && n < 7e6);
	free(text);
}

/* A predicate on one nation reaches the other tables by way of the class of nation keys. */
static void transitive_keys(void)
{
	nk_plan *joined = inner(customer, supplier, "c_nationkey", "s_nationkey");
	joined = inner(joined, nation, "c_nationkey", "n_nationkey");
	joined = filter_by(joined, CALL("eq", col("n_name"), string("PERU")));
	char *text =
		optimized_text(select_of(joined, EXPRS(col("c_custkey"), col("s_suppkey"))), NK_OPT_ALL, false);
	/* nation joins supplier directly, though nobody wrote so */
	EXPECT(strstr(text, "s_nationkey = n_nationkey") || strstr(text, "n_nationkey = s_nationkey"));
	free(text);
}

/* A semi join comes before what it makes small, wherever it was written. */
static void semi_joins(void)
{
	nk_plan *big = select_of(
		filter_by(group_by(lineitem, col("l_orderkey"), as(CALL("sum", col("l_quantity")), "pieces")),
	              CALL("gt", col("pieces"), number(300))),
		EXPRS(as(col("l_orderkey"), "big")));
	nk_plan *joined =
		inner(inner(customer, orders, "c_custkey", "o_custkey"), lineitem, "o_orderkey", "l_orderkey");
	joined = join_on(joined, big, NK_JOIN_SEMI, col("o_orderkey"), col("big"));
	char *text =
		optimized_text(select_of(joined, EXPRS(col("l_price"), col("c_nationkey"))), NK_OPT_ALL, false);
	const char *semi = strstr(text, "semi join"), *top = strstr(text, "inner join");
	EXPECT(semi && top && top < semi);
	free(text);
	/* few groups have three times the mean total */
	text = optimized_text(select_of(big, EXPRS(col("big"))), NK_OPT_ALL, true);
	double n_big = estimate_of(text, "filter");
	EXPECT(n_big > 100 && n_big < 150e3);
	free(text);
	/* but not when hardly anything is left anyway */
	nk_plan *one = filter_by(nation, CALL("eq", col("n_name"), string("PERU")));
	nk_plan *few =
		inner(inner(one, supplier, "n_nationkey", "s_nationkey"), lineitem, "s_suppkey", "l_suppkey");
	few = join_on(few, select_of(orders, EXPRS(col("o_orderkey"))), NK_JOIN_SEMI, col("l_orderkey"),
	              col("o_orderkey"));
	text = optimized_text(select_of(few, EXPRS(col("l_price"))), NK_OPT_ALL, false);
	EXPECT(strncmp(text, "semi join", 9) == 0);
	free(text);
}

static void kept_in_place(void)
{
	/* the order of the left input was asked for */
	nk_plan *joined = inner(orders, customer, "o_custkey", "c_custkey");
	joined->order_kept = NK_ORDER_LEFT;
	EXPECT_PLAN(select_of(joined, EXPRS(col("o_orderkey"), col("c_nationkey"))),
	            "inner join on o_custkey = c_custkey; table of the right; keeps the order of the left\n"
	            "  scan orders, 2/3 columns: o_orderkey, o_custkey\n"
	            "  scan customer, 2/3 columns: c_custkey, c_nationkey\n");
	/* without the rule nothing moves */
	EXPECT_PLAN_WITH(
		NK_OPT_PROJECTION_PUSHDOWN | NK_OPT_SIMPLIFY,
		select_of(inner(nation, supplier, "n_nationkey", "s_nationkey"), EXPRS(col("s_suppkey"))),
		"inner join on n_nationkey = s_nationkey; table of the right\n"
		"  scan nation, 1/3 columns: n_nationkey\n"
		"  scan supplier, 2/2 columns: s_suppkey, s_nationkey\n");
}

/* One row is as good as a constant: compared before the larger join, not after. */
static void scalars(void)
{
	nk_plan *average = select_of(customer, EXPRS(as(CALL("mean", col("c_nationkey")), "average")));
	nk_plan *joined = join_on(customer, average, NK_JOIN_CROSS, NULL, NULL);
	joined = filter_by(joined, CALL("gt", col("c_nationkey"), col("average")));
	joined = join_on(joined, orders, NK_JOIN_ANTI, col("c_custkey"), col("o_custkey"));
	char *text = optimized_text(select_of(joined, EXPRS(col("c_custkey"))), NK_OPT_ALL, false);
	const char *anti = strstr(text, "anti join"), *cross = strstr(text, "cross join"),
			   *filter = strstr(text, "filter ");
	EXPECT(anti && cross && filter && anti < filter && filter < cross);
	free(text);
}

/* Columns computed between joins do not hold the joins apart: nations meet customers before their orders. */
static void computed_between(void)
{
	nk_plan *joined = inner(customer, orders, "c_custkey", "o_custkey");
	joined = with_columns(joined, EXPRS(as(CALL("add", col("c_nationkey"), col("o_orderdate")), "both")));
	joined = inner(joined, nation, "c_nationkey", "n_nationkey");
	joined = filter_by(joined, CALL("eq", col("n_name"), string("PERU")));
	char *text = optimized_text(select_of(joined, EXPRS(col("both"), col("o_orderkey"))), NK_OPT_ALL, false);
	EXPECT(strcmp(text,
	              "project both = [(col(\"c_nationkey\")) + (col(\"o_orderdate\"))], o_orderkey\n"
	              "  inner join on o_custkey = c_custkey; table of the right\n"
	              "    scan orders, 3/3 columns: o_orderkey, o_custkey, o_orderdate\n"
	              "    inner join on c_nationkey = n_nationkey; table of the right\n"
	              "      scan customer, 2/3 columns: c_custkey, c_nationkey\n"
	              "      scan nation, 1/3 columns: n_nationkey; where [(col(\"n_name\")) == (\"PERU\")]\n") ==
	       0);
	free(text);
	/* a shared table on both sides, under two sets of ids, is two leaves */
	nk_plan *groups = group_by(orders, col("o_custkey"), as(CALL("max", col("o_orderdate")), "last"));
	nk_plan *self = join_on(groups, groups, NK_JOIN_INNER, col("last"), col("o_custkey"));
	self = inner(self, customer, "o_custkey", "c_custkey");
	text = optimized_text(select_of(self, EXPRS(col("last"), col("last_right"), col("c_nationkey"))),
	                      NK_OPT_ALL, false);
	EXPECT(strstr(text, "(2 readers) aggregate") && strstr(text, "the rows of #"));
	free(text);
}

/* More tables than are enumerated; a chain has one good order. */
static void many_tables(void)
{
	nk_plan *chain = NULL;
	static char names[20][16], keys[20][16], nexts[20][16]; /* sources keep pointers to them */
	for (int i = 0; i < 20; i++) {
		snprintf(names[i], sizeof names[i], "t%d", i);
		snprintf(keys[i], sizeof keys[i], "k%d", i);
		snprintf(nexts[i], sizeof nexts[i], "n%d", i);
		nk_plan *table = TABLE(names[i], 1000 * (20 - i), {keys[i], NK_TYPE_INT64, 1, 1000, 0},
		                       {nexts[i], NK_TYPE_INT64, 1, 1000, 0});
		char previous[16];
		snprintf(previous, sizeof previous, "n%d", i - 1);
		chain = chain ? inner(chain, table, previous, keys[i]) : table;
	}
	char *text = optimized_text(select_of(chain, EXPRS(col("n19"))), NK_OPT_ALL, false);
	int n_joins = 0;
	for (const char *at = text; (at = strstr(at, "inner join")); at++)
		n_joins++;
	EXPECT(n_joins == 19 && !strstr(text, "cross"));
	free(text);
}

int main(void)
{
	make_tables();
	order_is_free();
	composite_keys();
	transitive_keys();
	semi_joins();
	kept_in_place();
	scalars();
	computed_between();
	many_tables();
	release_made();
	printf("%s\n", n_failed ? "failed" : "ok");
	return n_failed != 0;
}
