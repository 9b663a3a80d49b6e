/* Sort followed by a limit: keeps the first `offset + limit` rows of the order per worker and drops the rest as
 * it comes. Stable. Same conventions as nk_sort. */
#ifndef NK_EXEC_TOP_K_H
#define NK_EXEC_TOP_K_H

#include "exec/sort.h"

typedef struct nk_top_k nk_top_k;

NK_MUST_CHECK nk_status nk_top_k_new(const nk_exec *exec, const nk_sort_config *config, int64_t offset,
                                     int64_t limit, nk_counters *counters, nk_top_k **out, nk_error *err);
void nk_top_k_free(nk_top_k *top);
nk_receiver *nk_top_k_sink(nk_top_k *top);
nk_stream *nk_top_k_stream(nk_top_k *top);

#endif
