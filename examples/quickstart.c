/* A lazy query through the C API: scan two Parquet tables, filter, join, aggregate, sort, print.
 *
 *     cc quickstart.c $(pkg-config --cflags --libs nanuk) -o quickstart
 *     ./quickstart build/tpch/sf1          a folder with the TPC-H tables lineitem and orders
 *
 * It asks for the revenue of 1995 by the priority of the order; examples/demo.py asks the same in Python. */
#include <inttypes.h>
#include <nanuk.h>
#include <stdio.h>
#include <stdlib.h>

/* A program would handle errors; an example says what went wrong and stops. */
static void check(nk_status status, const nk_error *err)
{
	if (status == NK_OK)
		return;
	fprintf(stderr, "error: %s\n", err->message);
	exit(1);
}

static nk_expr *column(const char *name)
{
	nk_error err = {0};
	nk_expr *out;
	check(nk_expr_column(name, &out, &err), &err);
	return out;
}

/* Without a dtype a number takes that of its neighbours. */
static nk_expr *integer(int64_t number, const char *dtype)
{
	nk_error err = {0};
	nk_expr *out;
	nk_value value = {
		.kind = NK_VALUE_INTEGER, .low = (uint64_t)number, .high = number < 0 ? -1 : 0, .dtype = dtype};
	check(nk_expr_literal(&value, &out, &err), &err);
	return out;
}

/* A call of any function of the registry. An expression keeps references to its parts, so ours can go. */
static nk_expr *call(const char *function, nk_expr *first, nk_expr *second)
{
	nk_error err = {0};
	nk_expr *args[] = {first, second}, *out;
	check(nk_expr_call(function, args, (first != NULL) + (second != NULL), NULL, 0, &out, &err), &err);
	nk_expr_unref(first);
	nk_expr_unref(second);
	return out;
}

static nk_expr *named(nk_expr *expr, const char *name)
{
	nk_error err = {0};
	nk_expr *out;
	check(nk_expr_alias(expr, name, &out, &err), &err);
	nk_expr_unref(expr);
	return out;
}

static nk_plan *scan(const char *folder, const char *table)
{
	nk_error err = {0};
	nk_plan *out;
	char path[4096];
	snprintf(path, sizeof path, "%s/%s.parquet", folder, table);
	const char *paths[] = {path};
	check(nk_plan_scan_parquet(paths, 1, NULL, &out, &err), &err);
	return out;
}

/* The revenue of 1995 by order priority. Nothing is read yet. */
static nk_plan *revenue_by_priority(const char *folder)
{
	enum { JANUARY_1995 = 9131, JANUARY_1996 = 9496 }; /* days since 1970 */
	nk_error err = {0};
	nk_plan *lineitem = scan(folder, "lineitem"), *orders = scan(folder, "orders");
	nk_plan *shipped, *joined, *grouped, *sorted;

	nk_expr *in_1995[] = {
		call("ge", column("l_shipdate"), integer(JANUARY_1995, "Date")),
		call("lt", column("l_shipdate"), integer(JANUARY_1996, "Date")),
	};
	check(nk_plan_filter(lineitem, in_1995, 2, &shipped, &err), &err);

	nk_expr *left_on = column("l_orderkey"), *right_on = column("o_orderkey");
	nk_join_options inner = NK_OPTIONS(nk_join_options);
	check(nk_plan_join(shipped, orders, &left_on, &right_on, 1, &inner, &joined, &err), &err);

	nk_expr *priority = column("o_orderpriority");
	nk_expr *discounted = call("sub", integer(1, NULL), column("l_discount"));
	nk_expr *aggregates[] = {
		named(call("len", NULL, NULL), "lines"),
		named(call("sum", call("mul", column("l_extendedprice"), discounted), NULL), "revenue"),
	};
	check(nk_plan_group_by(joined, &priority, 1, aggregates, 2, false, &grouped, &err), &err);
	check(nk_plan_sort(grouped, &priority, 1, NULL, NULL, false, &sorted, &err), &err);

	nk_expr *exprs[] = {in_1995[0], in_1995[1], left_on, right_on, priority, aggregates[0], aggregates[1]};
	for (size_t i = 0; i < sizeof exprs / sizeof *exprs; i++)
		nk_expr_unref(exprs[i]);
	nk_plan *plans[] = {lineitem, orders, shipped, joined, grouped};
	for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
		nk_plan_unref(plans[i]);
	return sorted;
}

int main(int n_args, char **args)
{
	if (n_args != 2) {
		fprintf(stderr, "usage: %s FOLDER, which holds lineitem.parquet and orders.parquet\n", args[0]);
		return 2;
	}
	nk_error err = {0};
	nk_plan *plan = revenue_by_priority(args[1]);

	nk_frame *frame;
	check(nk_plan_collect(plan, NULL, &frame, &err), &err);
	char *text;
	check(nk_frame_to_text(frame, NULL, &text, &err), &err);
	puts(text);
	nk_text_free(text);

	/* One value, without text: the frame's columns are series. */
	nk_series *lines;
	check(nk_frame_column(frame, nk_frame_find(frame, "lines"), &lines, &err), &err);
	nk_value value;
	check(nk_series_get(lines, 0, &value, &err), &err);
	printf("%" PRIu64 " lines in the first row; nanuk %s, %d threads\n", value.low, nk_version(),
	       nk_thread_count());

	nk_series_unref(lines);
	nk_frame_unref(frame);
	nk_plan_unref(plan);
	return 0;
}
