/* The process's default context: pool, memory and settings from the environment. Made on first use; there is no
 * other mutable global. Environment: NANUK_MAX_THREADS, NANUK_BATCH_ROWS, NANUK_MEMORY_LIMIT (bytes),
 * NANUK_FORCE_SPILL, NANUK_SPILL_FOLDER (else TMPDIR, else /tmp). */
#ifndef NK_API_CONTEXT_H
#define NK_API_CONTEXT_H

#include "base/memory.h"
#include "base/task.h"

typedef struct nk_context {
	nk_pool *pool;
	nk_memory *memory;
	int64_t batch_rows;   /* 0: the default */
	int64_t memory_limit; /* per query; INT64_MAX: none */
	bool force_spill;
	const char *spill_folder;
} nk_context;

/* NULL only when the system has no memory for it. */
const nk_context *nk__context(void);
/* The same, failing with NK_OUT_OF_MEMORY. */
NK_MUST_CHECK nk_status nk__context_get(const nk_context **out, nk_error *err);

#endif
