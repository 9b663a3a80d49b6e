/* Parquet files as a source of plans, and as a sink. */
#ifndef NK_IO_PARQUET_PARQUET_H
#define NK_IO_PARQUET_PARQUET_H

#include "base/wire.h"
#include "io/codec/codec.h"
#include "plan/sink.h"
#include "plan/source.h"

/* Files, directories (all *.parquet below them) and patterns, read one after another as one table. Nothing is
 * touched before the schema or the rows are asked for. Everything is copied; options may be NULL. Of the options, row
 * index and n_rows are the caller's to apply. memory accounts for footers. */
NK_MUST_CHECK nk_status nk_parquet_source_new(nk_memory *memory, const char *const *paths, int n_paths,
                                              const nk_scan_parquet_options *options, nk_source **out,
                                              nk_error *err);

/* The inverse of the source's serialise. */
NK_MUST_CHECK nk_status nk_parquet_source_from_wire(nk_memory *memory, nk_wire *in, nk_source **out,
                                                    nk_error *err);

typedef struct nk_parquet_sink_options {
	nk_codec codec;
	int level;          /* of the codec; NK_LEVEL_USUAL */
	int64_t group_rows; /* 0: 122880 */
	int64_t page_rows;  /* 0: 20000 */
	bool plain;         /* no dictionaries */
	bool no_statistics;
} nk_parquet_sink_options;

/* One file, which appears when it is finished. options may be NULL: zstd. */
NK_MUST_CHECK nk_status nk_parquet_sink_new(const char *path, const nk_parquet_sink_options *options,
                                            nk_sink **out, nk_error *err);

#endif
