/* The binary form of plans and expressions: what is read is bound, optimised, explained and written again. */
#include <stdlib.h>

#include "nanuk.h"
#include "replay.h"

static void try_plan(const char *bytes, int64_t n)
{
	nk_plan *plan, *again;
	nk_error err = {0};
	char *text;
	if (nk_plan_deserialise(bytes, n, &plan, &err) != NK_OK)
		return;
	if (nk_plan_explain(plan, "text", true, false, NULL, &text, &err) == NK_OK)
		nk_text_free(text);
	int64_t n_bytes;
	if (nk_plan_serialise(plan, &text, &n_bytes, &err) == NK_OK) {
		if (nk_plan_deserialise(text, n_bytes, &again, &err) != NK_OK)
			abort();
		nk_plan_unref(again);
		nk_text_free(text);
	}
	nk_plan_unref(plan);
}

static void try_expr(const char *bytes, int64_t n)
{
	nk_expr *expr, *again;
	nk_error err = {0};
	char *text;
	int64_t n_bytes;
	if (nk_expr_deserialise(bytes, n, &expr, &err) != NK_OK)
		return;
	if (nk_expr_serialise(expr, &text, &n_bytes, &err) == NK_OK) {
		if (nk_expr_deserialise(text, n_bytes, &again, &err) != NK_OK)
			abort();
		nk_expr_unref(again);
		nk_text_free(text);
	}
	nk_expr_unref(expr);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	setenv("NANUK_MEMORY_LIMIT", "256MiB", 1);
	try_plan((const char *)bytes, (int64_t)n_bytes);
	try_expr((const char *)bytes, (int64_t)n_bytes);
	return 0;
}
