/* Where rows go when not into memory: files. A sink gets batches in the query's row order, one at a time (the
 * engine serialises them), and makes its result visible only in finish. */
#ifndef NK_PLAN_SINK_H
#define NK_PLAN_SINK_H

#include "columnar/batch.h"
#include "columnar/frame.h"

typedef struct nk_sink nk_sink;

typedef struct nk_sink_ops {
	nk_status (*open)(nk_sink *sink, const nk_schema *schema, nk_memory *memory, nk_error *err);
	nk_status (*write)(nk_sink *sink, const nk_batch *batch, nk_error *err);
	nk_status (*finish)(nk_sink *sink, nk_error *err);
	/* Without a finish before, whatever was written is removed. */
	void (*free)(nk_sink *sink);
} nk_sink_ops;

struct nk_sink {
	const nk_sink_ops *ops;
};

static inline void nk_sink__auto(nk_sink **sink)
{
	if (*sink)
		(*sink)->ops->free(*sink);
}

#endif
