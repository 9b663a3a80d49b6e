/* The process's default context: pool, memory and settings. Made on first use; there is no other mutable global.
 * Settings are those that nk_context_set gave, else those of the environment, which is read once: NANUK_MAX_THREADS,
 * NANUK_BATCH_ROWS, NANUK_MEMORY_LIMIT and NANUK_TOTAL_MEMORY_LIMIT (bytes), NANUK_TIME_LIMIT (seconds),
 * NANUK_FORCE_SPILL, NANUK_SPILL_FOLDER (else TMPDIR, else /tmp). */
#ifndef NK_API_CONTEXT_H
#define NK_API_CONTEXT_H

#include <string.h>

#include "base/memory.h"
#include "base/task.h"

typedef struct nk_context {
	nk_pool *pool;
	nk_memory *memory;
	int64_t batch_rows; /* 0: the default */
	bool force_spill;
} nk_context;

/* What may change while the process lives. 0: no limit. */
typedef struct nk_settings {
	int64_t memory_limit, total_memory_limit;
	double time_limit;
} nk_settings;

/* NULL only when the system has no memory for it. */
const nk_context *nk__context(void);
/* The same, failing with NK_OUT_OF_MEMORY. */
NK_MUST_CHECK nk_status nk__context_get(const nk_context **out, nk_error *err);

/* Options of a caller who was built with a shorter or longer struct: fields that it does not have are zero. */
static inline void nk__options_copy(void *out, int64_t n_bytes, const void *given)
{
	memset(out, 0, (size_t)n_bytes);
	if (given)
		memcpy(out, given, (size_t)NK_MIN(n_bytes, *(const int64_t *)given));
}

/* As they are now; *spill_folder is owned by the caller. */
NK_MUST_CHECK nk_status nk__context_settings(nk_settings *out, char **spill_folder, nk_error *err);

#endif
