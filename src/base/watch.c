/* Checks come often, so they read flags and, only where somebody set a deadline or a tick, the coarse clock. */
#include "base/watch.h"

_Thread_local nk_watch *nk__watch;

static bool is_raised(const nk_watch *at)
{
	return (at->flag && __atomic_load_n(at->flag, __ATOMIC_RELAXED)) ||
	       __atomic_load_n(&at->ended, __ATOMIC_RELAXED);
}

static bool is_late(const nk_watch *at) { return at->deadline && nk_now_coarse_ns() > at->deadline; }

void nk_watch_tick(void)
{
	nk_watch *own = nk__watch;
	if (!own || !own->tick)
		return;
	int64_t now = nk_now_coarse_ns();
	if (now < own->next_tick)
		return;
	own->next_tick = now + NK_TICK_NS;
	own->tick(own->data);
}

bool nk__watch_stopped(nk_watch *watch)
{
	if (watch->tick && (++watch->n_asked & 3) == 0)
		nk_watch_tick();
	for (const nk_watch *at = watch; at; at = at->outer)
		if (is_raised(at) || is_late(at))
			return true;
	return false;
}

nk_status nk__watch_fail(const nk_watch *watch, nk_error *err)
{
	for (const nk_watch *at = watch; at; at = at->outer) {
		if (is_raised(at))
			break;
		if (is_late(at))
			return nk_fail(
				err, NK_TIMEOUT,
				"the query took longer than its time limit of %g s; raise the limit, or ask for less",
				at->seconds);
	}
	return nk_fail(err, NK_CANCELLED, "the query was cancelled");
}
