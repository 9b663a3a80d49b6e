/* What a test program needs: EXPECT says what did not hold and goes on; end main with `return expect_report();`. */
#ifndef NK_TESTS_EXPECT_H
#define NK_TESTS_EXPECT_H

#include <stdio.h>

static int expect_n_failed;

#define EXPECT(condition)                                                   \
	do {                                                                    \
		if (!(condition)) {                                                 \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			expect_n_failed++;                                              \
		}                                                                   \
	} while (0)

static inline int expect_report(void)
{
	printf("%s\n", expect_n_failed ? "failed" : "ok");
	return expect_n_failed != 0;
}

#endif
