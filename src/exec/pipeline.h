/* Pipelines: streams at the head, steps in the middle, a sink at the end. Lowering opens one per leaf, extends it
 * step by step, merges several into one (union) and closes it with a sink; closed pipelines run one after
 * another in the order of closing, each on as many workers as its input is worth.
 *
 * A pipeline may have several heads, run in order: the parts of a union, and the rest of a join, which enters
 * behind the join's probe step when all earlier heads have ended. */
#ifndef NK_EXEC_PIPELINE_H
#define NK_EXEC_PIPELINE_H

#include "base/arena.h"
#include "exec/operator.h"

typedef struct nk_head {
	struct nk_head *next;
	nk_stream *stream;
	nk_receiver *first;            /* NULL until something is attached */
	bool (*is_needed)(void *data); /* NULL: always. Asked when its turn comes */
	void *data;
} nk_head;

typedef struct nk_pipeline {
	struct nk_pipeline *next; /* in order of closing */
	nk_head *heads, *last_head;
	nk_receiver **receivers; /* all of them, upstream first */
	int n_receivers, capacity;
	int n_loose; /* receivers at the end that have no next: more than one after a union */
	nk_receiver **loose;
	bool ordered;    /* sequences of what arrives at the end ascend in row order */
	bool one_worker; /* rows must come in order, and may stop early */
} nk_pipeline;

/* All in the arena; streams and receivers are owned by the pipeline from here on, freed by nk_pipelines_free. */
typedef struct nk_pipelines {
	nk_arena *arena;
	const nk_exec *exec;
	nk_pipeline *first, *last;       /* closed */
	nk_pipeline_counters **counters; /* where the next is put; in the arena of counters */
	nk_arena *counters_arena;        /* NULL: none are wanted */
	const nk_pipeline *running;      /* NULL: none yet, or none any more */
	const nk_head *running_head;     /* NULL: the heads have ended, and what they filled is being finished */
} nk_pipelines;

/* How far a run has come, read by the thread that runs it. */
typedef struct nk_pipelines_progress {
	double fraction;   /* of 0 to 1; negative: unknown */
	int step, n_steps; /* the pipeline that runs, from 1 */
	int64_t n_rows;    /* read from sources */
} nk_pipelines_progress;
void nk_pipelines_progress_read(const nk_pipelines *all, nk_pipelines_progress *out);

/* Takes over the stream: freed when the arena is. */
NK_MUST_CHECK nk_status nk_pipeline_open(nk_pipelines *all, nk_stream *stream, nk_pipeline **out,
                                         nk_error *err);
/* Attach a step or the sink; takes it over when `owned`. */
NK_MUST_CHECK nk_status nk_pipeline_attach(nk_pipelines *all, nk_pipeline *pipeline, nk_receiver *receiver,
                                           bool owned, nk_error *err);
/* One more head whose batches enter behind `after`, which was attached before; its turn comes after all others. */
NK_MUST_CHECK nk_status nk_pipeline_add_rest(nk_pipelines *all, nk_pipeline *pipeline, nk_stream *stream,
                                             nk_receiver *after, bool (*is_needed)(void *), void *data,
                                             nk_error *err);
/* Put the heads of `other` behind those of `pipeline`; whatever is attached next receives from both. */
NK_MUST_CHECK nk_status nk_pipeline_merge(nk_pipelines *all, nk_pipeline *pipeline, nk_pipeline *other,
                                          nk_error *err);
/* Attach the sink and queue the pipeline to be run. */
NK_MUST_CHECK nk_status nk_pipeline_close(nk_pipelines *all, nk_pipeline *pipeline, nk_receiver *sink,
                                          bool owned, nk_error *err);

NK_MUST_CHECK nk_status nk_pipelines_run(nk_pipelines *all, nk_error *err);

#endif
