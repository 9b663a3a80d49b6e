/* Pieces that sort and top_k share, and the runs of a sort that went to disk. */
#ifndef NK_EXEC_SORT_INTERNAL_H
#define NK_EXEC_SORT_INTERNAL_H

#include "exec/sort.h"
#include "exec/spill.h"

/* Positions of a batch's rows in sorted order: a buffer of uint32. */
NK_MUST_CHECK nk_status nk__sort_positions(nk_memory *memory, const nk_parallel *parallel,
                                           const nk_batch *rows, const nk_sort_config *config,
                                           nk_buffer **out, nk_error *err);
/* The output columns of rows at positions. */
NK_MUST_CHECK nk_status nk__sort_take(nk_memory *memory, const nk_batch *rows, const nk_sort_config *config,
                                      const uint32_t *positions, int64_t n, nk_batch **out, nk_error *err);

/* Sorted runs in a file. Adding is synchronised; opening and reading are for one thread at a time. */
typedef struct nk__sort_runs nk__sort_runs;
NK_MUST_CHECK nk_status nk__sort_runs_new(const nk_exec *exec, const nk_sort_config *config,
                                          nk_counters *counters, nk__sort_runs **out, nk_error *err);
void nk__sort_runs_free(nk__sort_runs *runs);
/* Sort the pieces, which are left empty, and write them as a run. */
NK_MUST_CHECK nk_status nk__sort_runs_add(nk__sort_runs *runs, nk_pieces *pieces, nk_error *err);
int64_t nk__sort_runs_n_rows(const nk__sort_runs *runs);
NK_MUST_CHECK nk_status nk__sort_runs_open(nk__sort_runs *runs, nk_error *err);
/* The next batch of output columns in order; *out NULL at the end. */
NK_MUST_CHECK nk_status nk__sort_runs_next(nk__sort_runs *runs, nk_batch **out, nk_error *err);

#endif
