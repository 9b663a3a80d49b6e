/* Proves that every function of the registry does what its example says, and survives the refusal of any
 * allocation. */
#include "values.h"

int main(void)
{
	for (int i = 0; i < nk_func_count(); i++) {
		const char *example = nk_func_at(i)->example;
		EXPECT(example != NULL);
		if (!example)
			continue;
		values_check(example);
		if (strstr(example, " ! ")) /* fails whatever memory there is */
			continue;
		for (int64_t n = 0; n < 1000 && !values_survives(example, n); n++)
			;
	}
	return expect_report();
}
