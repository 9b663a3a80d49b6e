/* Functions from outside the engine: a host language's callback as a node of an expression or of a plan. Counted and
 * immutable; called from any worker, so the callback brings its own locks. A query that holds one stays in its process. */
#ifndef NK_FUNC_FOREIGN_H
#define NK_FUNC_FOREIGN_H

#include "columnar/frame.h"

typedef struct nk_foreign nk_foreign;
struct nk_foreign {
	int64_t n_references;  /* atomic */
	const nk_dtype *dtype; /* of an expression's result; NULL: that of a call on two rows */
	nk_schema *schema;     /* of a table's result; NULL: that of its input */
	/* One of the two. Fail with NK_FOREIGN when the callback raised. */
	nk_status (*call)(nk_foreign *self, nk_memory *memory, nk_array *const *args, int n_args, nk_array **out,
	                  nk_error *err);
	nk_status (*call_table)(nk_foreign *self, nk_frame *input, nk_frame **out, nk_error *err);
	void (*free)(nk_foreign *self); /* the whole of it */
};

static inline nk_foreign *nk_foreign_ref(nk_foreign *foreign)
{
	if (foreign)
		__atomic_fetch_add(&foreign->n_references, 1, __ATOMIC_RELAXED);
	return foreign;
}

static inline void nk_foreign_unref(nk_foreign *foreign)
{
	if (foreign && __atomic_fetch_sub(&foreign->n_references, 1, __ATOMIC_ACQ_REL) == 1)
		foreign->free(foreign);
}

#endif
