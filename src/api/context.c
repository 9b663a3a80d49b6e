/* Settings are read once. A malformed number counts as not given: a library has nowhere to complain before the
 * first query. */
#include "api/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cpu.h"
#include "base/fork.h"

static nk_context context;
static bool is_made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Guards what follows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
NK_FORK_SAFE(lock);
static nk_settings at_start, settings; /* of the environment; now */
static char *spill_folder;             /* NULL: that of the environment */

static int64_t setting(const char *name, int64_t fallback)
{
	const char *text = getenv(name);
	char *end;
	if (!text || !*text)
		return fallback;
	long long value = strtoll(text, &end, 10);
	return *end || value <= 0 ? fallback : (int64_t)value;
}

static double setting_seconds(const char *name)
{
	const char *text = getenv(name);
	char *end;
	double value = text ? strtod(text, &end) : 0;
	return !text || *end || !(value > 0) ? 0 : value;
}

static void apply_total(int64_t n_bytes)
{
	nk_memory_set_limit(context.memory, n_bytes > 0 ? n_bytes : INT64_MAX,
	                    "all frames and queries (total_memory_limit, NANUK_TOTAL_MEMORY_LIMIT)");
}

static void make(void)
{
	int64_t n_threads = setting("NANUK_MAX_THREADS", nk_cpu_count());
	context.pool = nk_pool_new((int)NK_MIN(n_threads, (int64_t)64));
	context.memory = nk_memory_new(NULL, INT64_MAX);
	context.batch_rows = setting("NANUK_BATCH_ROWS", 0);
	context.force_spill = setting("NANUK_FORCE_SPILL", 0) != 0;
	at_start = (nk_settings){.memory_limit = setting("NANUK_MEMORY_LIMIT", 0),
	                         .total_memory_limit = setting("NANUK_TOTAL_MEMORY_LIMIT", 0),
	                         .time_limit = setting_seconds("NANUK_TIME_LIMIT")};
	settings = at_start;
	is_made = context.pool && context.memory;
	if (is_made)
		apply_total(settings.total_memory_limit);
}

static const char *folder_of_environment(void)
{
	static const char *const names[] = {"NANUK_SPILL_FOLDER", "TMPDIR"};
	for (int i = 0; i < NK_COUNT(names); i++) {
		const char *folder = getenv(names[i]);
		if (folder && *folder)
			return folder;
	}
	return "/tmp";
}

nk_status nk__context_settings(nk_settings *out, char **folder, nk_error *err)
{
	pthread_mutex_lock(&lock);
	*out = settings;
	*folder = strdup(spill_folder ? spill_folder : folder_of_environment());
	pthread_mutex_unlock(&lock);
	return *folder ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a query");
}

static nk_status copy_folder(const char *path, char **out, nk_error *err)
{
	struct stat found;
	*out = NULL;
	if (!path)
		return NK_OK;
	if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
		return nk_fail(err, NK_FILE_NOT_FOUND, "there is no folder '%s' to spill to", path);
	*out = strdup(path);
	return *out ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a path");
}

nk_status nk_context_set(const nk_context_options *given, nk_error *err)
{
	const nk_context *made;
	char *folder;
	nk_context_options own, *options = &own;
	nk__options_copy(&own, sizeof own, given);
	NK_TRY(nk__context_get(&made, err));
	if (options->memory_limit < 0 || options->total_memory_limit < 0 || !(options->time_limit >= 0))
		return nk_fail(err, NK_VALUE, "limits of memory and time must not be negative");
	NK_TRY(copy_folder(options->spill_folder, &folder, err));
	pthread_mutex_lock(&lock);
	settings = at_start;
	if (options->memory_limit)
		settings.memory_limit = options->memory_limit;
	if (options->total_memory_limit)
		settings.total_memory_limit = options->total_memory_limit;
	if (options->time_limit > 0)
		settings.time_limit = options->time_limit;
	apply_total(settings.total_memory_limit);
	char *before = spill_folder;
	spill_folder = folder;
	pthread_mutex_unlock(&lock);
	free(before);
	return NK_OK;
}

nk_status nk_context_get(nk_context_options *out, char **folder, nk_error *err)
{
	const nk_context *made;
	nk_settings now;
	NK_TRY(nk__context_get(&made, err));
	NK_TRY(nk__context_settings(&now, folder, err));
	*out = (nk_context_options){.size = sizeof *out,
	                            .memory_limit = now.memory_limit,
	                            .total_memory_limit = now.total_memory_limit,
	                            .time_limit = now.time_limit,
	                            .spill_folder = *folder};
	return NK_OK;
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
