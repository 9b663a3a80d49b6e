/* The stream over a source: builds the request from a bound scan (projection, conjuncts as programs, tests for
 * pruning, runtime filters) and passes the scan's batches on. */
#ifndef NK_EXEC_SCAN_H
#define NK_EXEC_SCAN_H

#include "exec/operator.h"
#include "plan/rel.h"

/* Lives in the query's arena but for what free releases. The scan is opened when the stream is started. */
NK_MUST_CHECK nk_status nk_scan_stream_new(nk_query *query, const nk_exec *exec, const nk_rel *rel,
                                           nk_stream **out, nk_error *err);

#endif
