/* Rows of lists taken apart: one row for each item. */
#ifndef NK_COMPUTE_EXPLODE_H
#define NK_COMPUTE_EXPLODE_H

#include "columnar/array.h"

typedef struct nk_explode_mode {
	bool empty_as_null; /* an empty list gives a null row; else none */
	bool keep_nulls;    /* a null list gives a null row; else none */
} nk_explode_mode;

/* The items of all lists (any encoding), with nulls for rows that have none and leave one. */
NK_MUST_CHECK nk_status nk_explode_array(nk_memory *memory, nk_array *lists, nk_explode_mode mode,
                                         nk_array **out, nk_error *err);
/* How many rows each row becomes: n_rows counts. */
NK_MUST_CHECK nk_status nk_explode_counts(nk_memory *memory, nk_array *lists, nk_explode_mode mode,
                                          nk_buffer **out, nk_error *err);
/* The row behind each resulting row, uint32; *n_out of them. */
NK_MUST_CHECK nk_status nk_explode_rows(nk_memory *memory, const int64_t *counts, int64_t n_rows,
                                        nk_buffer **out, int64_t *n_out, nk_error *err);

#endif
