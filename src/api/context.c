/* Settings are read once. A malformed number counts as not given: a library has nowhere to complain before the
 * first query. */
#include "api/context.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cpu.h"

static nk_context context;
static bool is_made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int64_t setting(const char *name, int64_t fallback)
{
	const char *text = getenv(name);
	char *end;
	if (!text || !*text)
		return fallback;
	long long value = strtoll(text, &end, 10);
	return *end || value <= 0 ? fallback : (int64_t)value;
}

static void make(void)
{
	int64_t n_threads = setting("NANUK_MAX_THREADS", nk_cpu_count());
	context.pool = nk_pool_new((int)NK_MIN(n_threads, (int64_t)64));
	context.memory = nk_memory_new(NULL, INT64_MAX);
	context.batch_rows = setting("NANUK_BATCH_ROWS", 0);
	context.memory_limit = setting("NANUK_MEMORY_LIMIT", INT64_MAX);
	context.force_spill = setting("NANUK_FORCE_SPILL", 0) != 0;
	context.spill_folder = getenv("NANUK_SPILL_FOLDER");
	if (!context.spill_folder || !*context.spill_folder)
		context.spill_folder = getenv("TMPDIR");
	if (!context.spill_folder || !*context.spill_folder)
		context.spill_folder = "/tmp";
	is_made = context.pool && context.memory;
}

const nk_context *nk__context(void)
{
	pthread_once(&once, make);
	return is_made ? &context : NULL;
}

nk_status nk__context_get(const nk_context **out, nk_error *err)
{
	*out = nk__context();
	return *out ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory to start");
}

const char *nk_version(void) { return "0.1.0"; }
void nk_text_free(char *text) { free(text); }

int nk_thread_count(void)
{
	const nk_context *c = nk__context();
	return c ? nk_pool_n_threads(c->pool) : 1;
}

int64_t nk_memory_in_use(void)
{
	const nk_context *c = nk__context();
	return c ? nk_memory_used(c->memory) : 0;
}

int64_t nk_memory_in_use_peak(void)
{
	const nk_context *c = nk__context();
	return c ? nk_memory_peak(c->memory) : 0;
}
