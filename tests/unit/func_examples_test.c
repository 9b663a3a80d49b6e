/* Proves that every function of the registry does what its example says. */
#include "values.h"

int main(void)
{
	for (int i = 0; i < nk_func_count(); i++) {
		EXPECT(nk_func_at(i)->example != NULL);
		if (nk_func_at(i)->example)
			values_check(nk_func_at(i)->example);
	}
	return expect_report();
}
