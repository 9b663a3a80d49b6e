/* JSON files as sources of plans, and as sinks: lines of objects (NDJSON), or one document, which is read as a whole. */
#ifndef NK_IO_JSON_JSON_H
#define NK_IO_JSON_JSON_H

#include "base/wire.h"
#include "plan/sink.h"
#include "plan/source.h"

/* Files, directories (all *.ndjson below them) and patterns, read one after another as one table. Nothing is touched
 * before the schema or the rows are asked for. Everything is copied; options may be NULL. Of the options, row index and
 * n_rows are the caller's to apply. */
NK_MUST_CHECK nk_status nk_json_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                                           const nk_scan_json_options *options, nk_source **out,
                                           nk_error *err);

/* The inverse of the source's serialise. */
NK_MUST_CHECK nk_status nk_json_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out,
                                                 nk_error *err);

/* A document: an array of objects, or one object, which is one row. */
NK_MUST_CHECK nk_status nk_json_read_document(nk_memory *memory, const char *path,
                                              const nk_scan_json_options *options, nk_frame **out,
                                              nk_error *err);

/* One file, which appears when it is finished. options may be NULL and are copied. */
NK_MUST_CHECK nk_status nk_json_sink_new(const char *path, const nk_sink_json_options *options, nk_sink **out,
                                         nk_error *err);

#endif
