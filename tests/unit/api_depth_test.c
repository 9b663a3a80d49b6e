/* Depth and sharing without limit: long chains of nodes and of operations, and expressions that reuse their own
 * parts, are bound, run, explained, serialised and released in time that grows with what was written. */
#include <time.h>

#include "api_support.h"

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Sanitizers are slow; what is looked for is time that grows with the square: minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_SECONDS = 300 };
#else
enum { MOST_SECONDS = 30 };
#endif

static void run_everything(const char *what, nk_plan *plan, const char *wanted)
{
	double start = now();
	expect_rows(__FILE__, __LINE__, what, plan, wanted, false, 0);
	double collected_at = now();
	nk_error err = {0};
	char *text = NULL;
	int64_t n_bytes;
	EXPECT(nk_plan_explain(plan, "text", true, false, NULL, &text, &err) == NK_OK);
	nk_text_free(text);
	EXPECT(nk_plan_explain(plan, "dot", false, false, NULL, &text, &err) == NK_OK);
	nk_text_free(text);
	double explained_at = now();
	EXPECT(nk_plan_serialise(plan, &text, &n_bytes, &err) == NK_OK);
	nk_plan *again = NULL;
	EXPECT(nk_plan_deserialise(text, n_bytes, &again, &err) == NK_OK);
	nk_text_free(text);
	nk_plan_unref(again);
	double end = now();
	printf("%s: collect %.2f s, explain %.2f s, serialise %.2f s\n", what, collected_at - start,
	       explained_at - collected_at, end - explained_at);
	EXPECT(end - start < MOST_SECONDS);
}

static void test_long_expression(void)
{
	nk_expr *sum = col("a");
	for (int i = 0; i < 100000; i++)
		sum = call("add", sum, i % 2 ? col("a") : num(1));
	run_everything("additions", pick(table("a:Int64 | 1 | 2"), sum), "a:Int64 | 100001 | 150002");
	char *text = NULL;
	EXPECT(nk_expr_format(sum, &text, NULL) == NK_OK && strlen(text) > 1000000);
	nk_text_free(text);
	EXPECT(nk_expr_root_names(sum, &text, NULL) == NK_OK && strcmp(text, "a") == 0);
	nk_text_free(text);
	drop_all();
}

static void test_long_conjunction(void)
{
	nk_expr *all = yes(true);
	for (int i = 0; i < 3000; i++)
		all = call("and", all, call("ne", col("a"), num(i * 2)));
	run_everything("conjuncts", filter(table("a:Int64 | 1 | 2"), all), "a:Int64 | 1");
	drop_all();
}

static void test_long_chains(void)
{
	nk_plan *plan = table("a:Int64 | 1 | 2");
	for (int i = 0; i < 20000; i++)
		plan = with(plan, call("add", col("a"), num(1)));
	run_everything("with_columns", plan, "a:Int64 | 20001 | 20002");
	drop_all();

	plan = table("a:Int64 | 1 | 2 | 3");
	for (int i = 0; i < 2000; i++)
		plan = filter(plan, call("ne", col("a"), num(2 * i + 10)));
	run_everything("filters", plan, "a:Int64 | 1 | 2 | 3");
	drop_all();

	plan = table("a:Int64 | 1 | 2 | 3");
	for (int i = 0; i < 2000; i++)
		plan = slice(plan, 0, 3);
	run_everything("slices", plan, "a:Int64 | 1 | 2 | 3");
	drop_all();

	plan = table("a:Int64 | 1 | 2 | 3");
	for (int i = 0; i < 200; i++)
		plan = sorted_by(plan, col("a"));
	run_everything("sorts", plan, "a:Int64 | 1 | 2 | 3");
	drop_all();

	plan = table("a:Int64 | 1 | 2 | 3");
	for (int i = 0; i < 200; i++)
		plan = group(plan, col("a"), as(call("sum", col("a")), "b"));
	run_everything("groups", plan, "a:Int64 b:Int64 | 1 1 | 2 2 | 3 3");
	drop_all();

	plan = table("a:Int64 | 1 | 2 | 3");
	for (int i = 0; i < 60; i++)
		plan = join(plan, table("a:Int64 | 3 | 1"), "a", .how = "semi", .maintain_order = "left");
	run_everything("joins", plan, "a:Int64 | 1 | 3");
	drop_all();

	plan = table("a:Int64 | 1");
	for (int i = 0; i < 1000; i++)
		plan = concat("vertical", plan, table("a:Int64"));
	run_everything("concats", plan, "a:Int64 | 1");
	drop_all();
}

/* Sixty doublings write 2^60 operations in sixty nodes. */
static void test_sharing(void)
{
	nk_expr *e = call("mul", col("a"), num(0));
	for (int i = 0; i < 60; i++)
		e = call("add", e, e);
	run_everything("doublings", pick(table("a:Int64 | 1 | 2"), e), "a:Int64 | 0 | 0");
	e = call("sum", col("a"));
	for (int i = 0; i < 60; i++)
		e = call("mul", e, e);
	run_everything("doublings of a sum", pick(table("a:Int64 | 0 | 1"), e), "a:Int64 | 1");
	run_everything("doublings of a group's sum", group(table("a:Int64 k:Int64 | 0 1 | 1 1"), col("k"), e),
	               "k:Int64 a:Int64 | 1 1");
	e = call("lt", col("a"), num(2));
	for (int i = 0; i < 40; i++)
		e = call("and", e, e);
	run_everything("doublings of a predicate", filter(table("a:Int64 | 1 | 2"), e), "a:Int64 | 1");
	drop_all();

	nk_expr *outer = call("sum", col("a"));
	for (int i = 0; i < 50; i++)
		outer = call("sub", call("sum", call("sub", outer, outer)), call("max", call("add", outer, outer)));
	nk_frame *out = NULL;
	nk_plan *plan = pick(table("a:Int64 | 0"), outer);
	EXPECT(plan && nk_plan_collect(plan, NULL, &out, NULL) == NK_OK);
	nk_frame_unref(out);
	drop_all();

	plan = table("a:Int64 | 1");
	for (int i = 0; i < 12; i++)
		plan = concat("vertical", plan, plan);
	run_everything("a plan under itself", pick(plan, call("sum", col("a"))), "a:Int64 | 4096");
	drop_all();
}

static void test_wide(void)
{
	enum { WIDTH = 2000 };
	nk_expr **exprs = malloc(WIDTH * sizeof *exprs);
	for (int i = 0; i < WIDTH; i++) {
		char name[16];
		snprintf(name, sizeof name, "c%d", i);
		exprs[i] = as(call("add", col("a"), num(i)), name);
	}
	nk_plan *plan = select_(table("a:Int64 | 1"), exprs, WIDTH, false);
	plan = pick(plan, as(call("sum_horizontal", everything()), "s"));
	run_everything("columns", plan, "s:Int64 | 2001000");
	free(exprs);
	drop_all();
}

/* Selectors that lean to the right, and such as use themselves twice, sixty times over. */
static void test_selectors(void)
{
	nk_expr *leaf = choose("classes", "numeric"), *deep = leaf, *shared = leaf;
	for (int i = 0; i < 100000; i++)
		deep = both("union", leaf, deep);
	run_everything("selectors", pick(table("a:Int64 b:String | 1 x | 2 y"), deep), "a:Int64 | 1 | 2");
	for (int i = 0; i < 60; i++)
		shared = both(i % 2 ? "union" : "intersect", shared, shared);
	run_everything("shared selectors", pick(table("a:Int64 b:String | 1 x | 2 y"), shared),
	               "a:Int64 | 1 | 2");
	drop_all();
}

int main(void)
{
	test_long_expression();
	test_long_conjunction();
	test_long_chains();
	test_sharing();
	test_wide();
	test_selectors();
	return expect_report();
}
