/* What a CSV file says about itself: where its rows begin, the names of its columns, and the dtypes that the first rows
 * suggest. Polars' rules: semantics are its, the code is not. */
#ifndef NK_IO_CSV_INFER_H
#define NK_IO_CSV_INFER_H

#include "base/arena.h"
#include "columnar/frame.h"
#include "io/csv/options.h"

typedef struct nk_csv_head {
	bool is_empty;      /* no header, or without one no rows */
	int64_t rows_begin; /* where the first row of data begins */
	int n_columns;
	const char **names; /* in the arena */
	const nk_dtype **dtypes;
	double row_bytes; /* of the rows looked at, on average; 0: none */
} nk_csv_head;

/* Read the head of a file from its first n bytes. *needs_more: they do not suffice (never when is_whole), and nothing
 * else is said. Names are those of the file. Fails with NK_NO_DATA when there is nothing and that is an error,
 * NK_DUPLICATE for names that cannot be told apart. */
NK_MUST_CHECK nk_status nk__csv_read_head(nk_arena *arena, const nk_csv_options *options, const uint8_t *text,
                                          int64_t n, bool is_whole, bool *needs_more, nk_csv_head *out,
                                          nk_error *err);

#endif
