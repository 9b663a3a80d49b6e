/* CSV files as a source of plans, and as a sink. */
#ifndef NK_IO_CSV_CSV_H
#define NK_IO_CSV_CSV_H

#include "base/wire.h"
#include "plan/sink.h"
#include "plan/source.h"

/* Files, directories (all *.csv below them) and patterns, read one after another as one table. Nothing is touched
 * before the schema or the rows are asked for. Everything is copied; options may be NULL. Of the options, row index and
 * n_rows are the caller's to apply. Fails with NK_VALUE for marks that are no single byte. */
NK_MUST_CHECK nk_status nk_csv_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                                          const nk_scan_csv_options *options, nk_source **out, nk_error *err);

/* The inverse of the source's serialise. */
NK_MUST_CHECK nk_status nk_csv_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out,
                                                nk_error *err);

/* One file. It appears under its name when finished; before, it has a temporary name beside it. options may be NULL
 * and are copied. */
NK_MUST_CHECK nk_status nk_csv_sink_new(const char *path, const nk_sink_csv_options *options, nk_sink **out,
                                        nk_error *err);

#endif
