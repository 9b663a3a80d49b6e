/* The parts of a pipeline: a stream yields batches, steps transform them, a breaker swallows them and, once all
 * have come, is a stream itself. Each is immutable configuration plus shared state (atomics or one lock) plus
 * one state per worker; a worker number is used by one thread at a time.
 *
 * A pipeline's task is a loop: next batch of the stream, push it through the steps into the sink. A batch given to
 * push is taken over, also on failure. Operators look at nk_exec_stopped between batches of long work. */
#ifndef NK_EXEC_OPERATOR_H
#define NK_EXEC_OPERATOR_H

#include "base/task.h"
#include "base/watch.h"
#include "columnar/batch.h"
#include "plan/counters.h"

/* What every operator of a query shares. */
typedef struct nk_exec {
	nk_memory *memory;
	nk_task_group *tasks;
	nk_pool *pool; /* for groups of an operator's own; NULL: work inline */
	int n_workers;
	int64_t batch_rows;  /* rows per batch at most */
	int64_t morsel_rows; /* rows per morsel of in-memory sources */
	bool force_spill;    /* for tests: behave as if every growth were refused */
	const char *spill_folder;
} nk_exec;

static inline bool nk_exec_stopped(const nk_exec *exec) { return nk_task_group_stopped(exec->tasks); }

typedef struct nk_stream nk_stream;
typedef struct nk_stream_ops {
	/* Called once, by one thread, before the first next: what the stream reads from is complete. May be NULL. */
	nk_status (*start)(nk_stream *stream, nk_error *err);
	/* *out NULL: nothing is left for this worker. */
	nk_status (*next)(nk_stream *stream, int worker, nk_batch **out, nk_error *err);
	void (*free)(nk_stream *stream);
} nk_stream_ops;
struct nk_stream {
	const nk_stream_ops *ops;
	/* Rows that are still to come, for deciding how many workers to use; -1: unknown. */
	int64_t n_rows_hint;
	bool ordered;                 /* sequences ascend in row order and cover it */
	nk_counters *counters;        /* of the node; NULL: none */
	const nk_scan_counters *scan; /* of a scan; NULL: it is none */
};

/* The receiving end: a step or a sink. */
typedef struct nk_receiver nk_receiver;
typedef struct nk_receiver_ops {
	nk_status (*push)(nk_receiver *receiver, int worker, nk_batch *batch, nk_error *err);
	/* This worker has no more input: called once per worker, upstream receivers first. A step may push what it still
	 * holds; it does not flush `next`, the driver does. */
	nk_status (*flush)(nk_receiver *receiver, int worker, nk_error *err);
	/* All workers have flushed: called once, by one thread, which may spawn tasks on a group of its own and wait.
	 * Sinks only. */
	nk_status (*finish)(nk_receiver *receiver, nk_error *err);
	void (*free)(nk_receiver *receiver);
	/* True: no more batches are needed (limit reached). May be NULL. */
	bool (*is_satisfied)(nk_receiver *receiver);
} nk_receiver_ops;
struct nk_receiver {
	const nk_receiver_ops *ops;
	nk_receiver *next; /* steps: where results go (borrowed; the pipeline owns all) */
	nk_counters *counters;
};

/* Whose time a thread is spending. Operators nest as they push, so time is charged to whoever is innermost. Rows,
 * batches and time are counted here and in the driver; operators count what is particular to them. */
typedef struct nk_busy {
	nk_counters *counters;
	int64_t since;
} nk_busy;
extern _Thread_local nk_busy nk__busy;

static inline nk_busy nk_busy_enter(nk_counters *counters)
{
	nk_busy outer = nk__busy;
	int64_t now = nk_now_ns();
	if (outer.counters)
		nk_count(&outer.counters->ns_busy, now - outer.since);
	nk__busy = (nk_busy){counters, now};
	return outer;
}

static inline void nk_busy_leave(nk_busy outer)
{
	int64_t now = nk_now_ns();
	if (nk__busy.counters)
		nk_count(&nk__busy.counters->ns_busy, now - nk__busy.since);
	nk__busy = (nk_busy){outer.counters, now};
}

static inline nk_status nk_push(nk_receiver *receiver, int worker, nk_batch *batch, nk_error *err)
{
	nk_busy sender = nk_busy_enter(receiver->counters);
	if (sender.counters)
		nk_count(&sender.counters->n_rows_out, batch->n_rows);
	if (receiver->counters) {
		nk_count(&receiver->counters->n_rows_in, batch->n_rows);
		nk_count(&receiver->counters->n_batches, 1);
	}
	nk_status status = receiver->ops->push(receiver, worker, batch, err);
	nk_busy_leave(sender);
	return status;
}

#endif
