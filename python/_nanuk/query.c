/* Running queries. The GIL is let go while the library works, so signal handlers of Python cannot run; Ctrl-C must
 * end the query all the same. While a query runs on the main thread, our handler of SIGINT stands before Python's:
 * it raises the query's cancellation flag and passes the signal on. That costs two system calls and no thread, so a
 * query of ten rows stays quick. When the flag ended a query but Python's handler then raised nothing, it runs again. */
#include "binding.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	nk_cancellation *flag; /* of the query on the main thread; kept for the next one */
	volatile sig_atomic_t is_raised;
	int depth;
	struct sigaction before;
} watch;

static void on_interrupt(int signal_number, siginfo_t *info, void *context)
{
	watch.is_raised = 1;
	nk_cancellation_raise(watch.flag);
	if (watch.before.sa_flags & SA_SIGINFO)
		watch.before.sa_sigaction(signal_number, info, context);
	else
		watch.before.sa_handler(signal_number);
}

static bool is_main_thread(void)
{
	static _Thread_local int is_main;
	if (is_main == 0)
		is_main = syscall(SYS_gettid) == getpid() ? 1 : -1;
	return is_main > 0;
}

/* With the GIL held: the flag for a query that is about to run, NULL when nothing can raise one. */
static nk_cancellation *watch_begin(void)
{
	if (!is_main_thread() || watch.depth > 0)
		return NULL;
	if (!watch.flag && nk_cancellation_new(&watch.flag, NULL) != NK_OK)
		return NULL;
	struct sigaction ours = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigemptyset(&ours.sa_mask);
	if (sigaction(SIGINT, &ours, &watch.before) != 0)
		return NULL;
	bool has_handler = watch.before.sa_flags & SA_SIGINFO ||
	                   (watch.before.sa_handler != SIG_IGN && watch.before.sa_handler != SIG_DFL);
	if (!has_handler) {
		sigaction(SIGINT, &watch.before, NULL);
		return NULL;
	}
	watch.depth++;
	return watch.flag;
}

static void watch_end(nk_cancellation *flag)
{
	if (!flag)
		return;
	sigaction(SIGINT, &watch.before, NULL);
	watch.depth--;
}

/* After a query: whether it was ended for nothing and is to run again. */
static bool watch_again(nk_status status)
{
	if (!watch.is_raised || watch.depth > 0)
		return false;
	watch.is_raised = 0;
	nk_cancellation_free(watch.flag);
	watch.flag = NULL;
	return status == NK_CANCELLED && PyErr_CheckSignals() == 0;
}

nk_frame *py_collect(nk_plan *plan, uint32_t skip, int64_t memory_limit)
{
	nk_error err;
	nk_frame *frame = NULL;
	nk_status status;
	do {
		nk_collect_options options = NK_OPTIONS(nk_collect_options);
		options.skip_optimizations = skip;
		options.memory_limit = memory_limit;
		options.cancellation = watch_begin();
		PyThreadState *thread = PyEval_SaveThread();
		status = nk_plan_collect(plan, &options, &frame, &err);
		PyEval_RestoreThread(thread);
		watch_end(options.cancellation);
	} while (watch_again(status));
	if (status != NK_OK)
		py_raise(&err);
	return frame;
}

char *py_explain(nk_plan *plan, const char *format, bool optimized, bool analyze, uint32_t skip)
{
	nk_error err;
	char *text = NULL;
	nk_status status;
	do {
		nk_collect_options options = NK_OPTIONS(nk_collect_options);
		options.skip_optimizations = skip;
		options.cancellation = watch_begin();
		PyThreadState *thread = PyEval_SaveThread();
		status = nk_plan_explain(plan, format, optimized, analyze, &options, &text, &err);
		PyEval_RestoreThread(thread);
		watch_end(options.cancellation);
	} while (watch_again(status));
	if (status != NK_OK)
		py_raise(&err);
	return text;
}
