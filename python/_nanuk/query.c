/* Running queries, and whatever else may take long. The GIL is let go while the library works, so signal handlers of
 * Python cannot run; Ctrl-C must end the call all the same. While the main thread is in one, our handler of SIGINT stands
 * before Python's: it raises the cancellation flag that the thread watches and passes the signal on. That costs two system calls and no thread, so a
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

static bool is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

/* With the GIL held: the flag for a call that is about to begin, NULL when nothing can raise one. */
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
	nk_cancellation_watch(watch.flag);
	return watch.flag;
}

static void watch_end(nk_cancellation *flag)
{
	if (!flag)
		return;
	nk_cancellation_watch(NULL);
	sigaction(SIGINT, &watch.before, NULL);
	watch.depth--;
}

/* After a call: whether it was ended for nothing and is to run again. */
static bool watch_again(nk_status status)
{
	if (!watch.is_raised || watch.depth > 0)
		return false;
	watch.is_raised = 0;
	nk_cancellation_free(watch.flag);
	watch.flag = NULL;
	return status == NK_CANCELLED && !PyErr_Occurred() && PyErr_CheckSignals() == 0;
}

void py_run_begin(py_run *run)
{
	run->flag = watch_begin();
	run->thread = PyEval_SaveThread();
}

bool py_run_end(py_run *run, nk_status status)
{
	PyEval_RestoreThread(run->thread);
	watch_end(run->flag);
	return watch_again(status);
}

/* NULL: nobody wants to know. Who does is found out when a query first runs long. */
static PyObject *progress_function;
static bool is_progress_decided;

PyObject *py_set_progress(PyObject *module, PyObject *function)
{
	(void)module;
	bool is_off = function == Py_None;
	if (!is_off)
		Py_INCREF(function);
	py_replace(&progress_function, is_off ? NULL : function);
	is_progress_decided = true;
	Py_RETURN_NONE;
}

enum { LINE_WIDTH = 160 };
static const double QUIET_SECONDS = 1;

static bool decide(void)
{
	PyObject *package = PyImport_ImportModule("nanuk.progress");
	PyObject *made = package ? PyObject_CallMethod(package, "switch", "O", Py_None) : NULL;
	Py_XDECREF(package);
	Py_XDECREF(made);
	return made != NULL;
}

/* Without the GIL. The exception of a function that fails, or of Ctrl-C in it, is that of the query. */
static bool on_progress(const nk_progress *progress, void *data)
{
	py_run *run = data;
	if (progress->seconds < QUIET_SECONDS)
		return true;
	char line[LINE_WIDTH + 1];
	nk_progress_line(progress, LINE_WIDTH, line);
	PyGILState_STATE state = PyGILState_Ensure();
	bool good = is_progress_decided || decide();
	if (good && progress_function) {
		PyObject *made = PyObject_CallFunction(progress_function, "sd", line, progress->fraction);
		good = made != NULL;
		Py_XDECREF(made);
		run->has_shown = true;
	}
	PyGILState_Release(state);
	return good;
}

void py_run_query(py_run *run, nk_query_options *options)
{
	run->has_shown = false;
	if ((progress_function || !is_progress_decided) && watch.depth == 0 && is_main_thread()) {
		options->progress = on_progress;
		options->progress_data = run;
	}
}

void py_run_ended(py_run *run)
{
	if (!run->has_shown || !progress_function)
		return;
	PyObject *type, *value, *traceback;
	PyErr_Fetch(&type, &value, &traceback);
	PyObject *made = PyObject_CallFunction(progress_function, "zd", NULL, 1.0);
	if (!made)
		PyErr_Clear();
	Py_XDECREF(made);
	PyErr_Restore(type, value, traceback);
}

nk_frame *py_collect(nk_plan *plan, nk_query_options *options)
{
	nk_error err;
	nk_frame *frame = NULL;
	nk_status status;
	py_run run;
	py_run_query(&run, options);
	do {
		py_run_begin(&run);
		status = nk_plan_collect(plan, options, &frame, &err);
	} while (py_run_end(&run, status));
	py_run_ended(&run);
	if (status != NK_OK)
		py_raise(&err);
	return frame;
}

char *py_explain(nk_plan *plan, const char *format, bool optimized, bool analyze, uint32_t skip)
{
	nk_error err;
	char *text = NULL;
	nk_status status;
	py_run run;
	nk_query_options options = NK_OPTIONS(nk_query_options);
	options.skip_optimizations = skip;
	do {
		py_run_begin(&run);
		status = nk_plan_explain(plan, format, optimized, analyze, &options, &text, &err);
	} while (py_run_end(&run, status));
	if (status != NK_OK)
		py_raise(&err);
	return text;
}

PyObject *py_analyze(nk_plan *plan, nk_query_options *options)
{
	nk_error err;
	char *json = NULL, *text = NULL;
	nk_status status;
	py_run run;
	py_run_query(&run, options);
	do {
		py_run_begin(&run);
		status = nk_plan_analyze(plan, options, &json, &text, &err);
	} while (py_run_end(&run, status));
	py_run_ended(&run);
	if (status != NK_OK)
		return py_raise(&err);
	PyObject *pair = Py_BuildValue("(ss)", json, text);
	nk_text_free(json);
	nk_text_free(text);
	return pair;
}

static double seconds_of(PyObject *value)
{
	double seconds = value == Py_None ? 0 : PyFloat_AsDouble(value);
	if (value != Py_None && !PyErr_Occurred() && !(seconds > 0))
		PyErr_SetString(PyExc_ValueError, "a time limit must be a positive number of seconds");
	return seconds;
}

static int64_t bytes_of(PyObject *value)
{
	long long n_bytes = value == Py_None ? 0 : PyLong_AsLongLong(value);
	if (value != Py_None && !PyErr_Occurred() && n_bytes <= 0)
		PyErr_SetString(PyExc_ValueError, "a memory limit must be a positive number of bytes");
	return n_bytes;
}

bool py_limits(nk_query_options *options, PyObject *memory_limit, PyObject *time_limit)
{
	options->memory_limit = bytes_of(memory_limit);
	if (!PyErr_Occurred())
		options->time_limit = seconds_of(time_limit);
	return !PyErr_Occurred();
}

PyObject *py_set_context(PyObject *module, PyObject *args)
{
	(void)module;
	nk_error err;
	PyObject *memory, *total, *seconds;
	nk_context_options options = NK_OPTIONS(nk_context_options);
	if (!PyArg_ParseTuple(args, "OOOz", &memory, &total, &seconds, &options.spill_folder))
		return NULL;
	options.memory_limit = bytes_of(memory);
	if (!PyErr_Occurred())
		options.total_memory_limit = bytes_of(total);
	if (!PyErr_Occurred())
		options.time_limit = seconds_of(seconds);
	if (PyErr_Occurred())
		return NULL;
	if (nk_context_set(&options, &err) != NK_OK)
		return py_raise(&err);
	Py_RETURN_NONE;
}
