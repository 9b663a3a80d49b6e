/* Typed options of a function call: what is not data (ddof, descending, a target dtype). A row of the registry
 * declares them in order with defaults; a call carries one value for each, so that kernels index by position. */
#ifndef NK_FUNC_OPTION_H
#define NK_FUNC_OPTION_H

#include "func/foreign.h"

typedef enum nk_option_kind {
	NK_OPTION_BOOL,
	NK_OPTION_INT,
	NK_OPTION_FLOAT,
	NK_OPTION_STRING, /* NULL is "not given" */
	NK_OPTION_DTYPE,  /* NULL is "not given" */
	NK_OPTION_FOREIGN,
} nk_option_kind;

typedef struct nk_option {
	nk_option_kind kind;
	union {
		bool boolean;
		int64_t integer;
		double floating;
		const char *string; /* owned by the expression or arena that holds the call */
		const nk_dtype *dtype;
		nk_foreign *foreign; /* a reference of the expression's; borrowed elsewhere */
	};
} nk_option;

typedef struct nk_option_spec {
	const char *name; /* NULL ends a list */
	nk_option fallback;
} nk_option_spec;

bool nk_option_equal(const nk_option *a, const nk_option *b);

#endif
