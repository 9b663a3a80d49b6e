/* Running a bound, optimised query: lowered to pipelines, run on the pool, collected into a frame or a sink. The
 * thread's watch (base/watch.h) may end it. */
#ifndef NK_EXEC_EXECUTE_H
#define NK_EXEC_EXECUTE_H

#include "columnar/frame.h"
#include "exec/pipeline.h"
#include "plan/rel.h"
#include "plan/sink.h"

typedef struct nk_run {
	nk_pool *pool;
	nk_memory *memory;
	int64_t batch_rows; /* 0: the default */
	bool force_spill;
	/* Called on the calling thread every so often, while `watch`, the thread's own, is asked; NULL: never. */
	void (*progress)(void *data, const nk_pipelines_progress *progress);
	void *data;
	nk_watch *watch;
	const char *spill_folder;
} nk_run;

/* The result as a frame. Counters of the query's nodes are filled. */
NK_MUST_CHECK nk_status nk_execute(nk_query *query, const nk_run *run, nk_frame **out, nk_error *err);
/* The result into a sink (opened and finished here). */
NK_MUST_CHECK nk_status nk_execute_into(nk_query *query, const nk_run *run, nk_sink *sink, nk_error *err);

#endif
