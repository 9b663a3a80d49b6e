/* What may end work before its time: a flag that another thread or a signal handler raises, and a deadline.
 *
 * A thread that works for a query has the query's watch as its own; tasks have that of the thread that made their group.
 * So whatever may take long asks nk_watch_check() every few milliseconds of work, at any depth, without being handed
 * anything; taking memory asks too. Watches nest: a query that a function of the host runs ends with the query around it.
 *
 * A watch may also carry a function that its own thread calls every so often while it works or waits. */
#ifndef NK_BASE_WATCH_H
#define NK_BASE_WATCH_H

#include "base/clock.h"
#include "base/status.h"

typedef struct nk_watch {
	struct nk_watch *outer;   /* set by nk_watch_enter */
	const int *flag;          /* atomic; not zero: NK_CANCELLED. NULL: none */
	int64_t deadline;         /* nk_now_ns() after which all fails with NK_TIMEOUT; 0: none */
	double seconds;           /* that the deadline gave, for the message */
	int ended;                /* atomic; as if a flag of its own were raised */
	void (*tick)(void *data); /* NULL: none */
	void *data;
	int64_t next_tick; /* coarse nanoseconds */
	unsigned n_asked;  /* the clock is read every few times */
} nk_watch;

enum { NK_TICK_NS = 100000000 };

/* Of this thread; NULL: nobody wants it to end. */
extern _Thread_local nk_watch *nk__watch;

static inline void nk_watch_enter(nk_watch *watch)
{
	watch->outer = nk__watch;
	nk__watch = watch;
}
static inline void nk_watch_leave(nk_watch *watch) { nk__watch = watch->outer; }

bool nk__watch_stopped(nk_watch *watch);
nk_status nk__watch_fail(const nk_watch *watch, nk_error *err);

/* Whether this thread is to end what it does. */
static inline bool nk_watch_stopped(void)
{
	return NK_UNLIKELY(nk__watch != NULL) && nk__watch_stopped(nk__watch);
}
/* The same as a failure that says why. */
NK_MUST_CHECK static inline nk_status nk_watch_check(nk_error *err)
{
	return NK_UNLIKELY(nk_watch_stopped()) ? nk__watch_fail(nk__watch, err) : NK_OK;
}
/* In loops over rows: whether to end before row i, asked for every few thousand. */
static inline bool nk_watch_stopped_at(int64_t i)
{
	return NK_UNLIKELY((i & 0x3fff) == 0) && nk_watch_stopped();
}

/* Run the thread's own tick when it is due; for threads that wait. */
void nk_watch_tick(void);

#endif
