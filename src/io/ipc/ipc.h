/* Arrow IPC as a source of plans, and as a sink: files (with a footer; "Feather") and streams. */
#ifndef NK_IO_IPC_IPC_H
#define NK_IO_IPC_IPC_H

#include "base/wire.h"
#include "plan/sink.h"
#include "plan/source.h"

/* Files, directories (all *.ipc below them) and patterns, read one after another as one table; nothing is touched before
 * the schema or the rows are asked for. Everything is copied; options may be NULL. Of the options, row index and n_rows
 * are the caller's to apply. Arrays refer to the mapped files, which must not be changed meanwhile. */
NK_MUST_CHECK nk_status nk_ipc_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                                          const nk_scan_ipc_options *options, nk_source **out, nk_error *err);

/* The inverse of the source's serialise. */
NK_MUST_CHECK nk_status nk_ipc_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out,
                                                nk_error *err);

/* One file. It appears under its name when finished; before, it has a temporary name beside it. options may be NULL. Fails
 * with NK_VALUE for an unknown compression. */
NK_MUST_CHECK nk_status nk_ipc_sink_new(const char *path, const nk_sink_ipc_options *options, nk_sink **out,
                                        nk_error *err);

#endif
