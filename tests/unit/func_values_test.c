/* Proves that functions give the values, dtypes and classes of error that Polars 2.1.0 gives: over the dtypes, with
 * nulls, NaN, extremes, and untyped literals. The lines of func_values.inc were printed by running Polars. */
#include "values.h"

static const char *const lines[] = {
#include "unit/func_values.inc"
};

int main(void)
{
	for (int i = 0; i < NK_COUNT(lines); i++)
		values_check(lines[i]);
	return expect_report();
}
