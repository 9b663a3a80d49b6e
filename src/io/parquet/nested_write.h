/* Nested columns taken apart for writing: for every leaf its values and the levels of all entries. All nodes are
 * optional; lists are three-level groups "list" and "element". */
#ifndef NK_IO_PARQUET_NESTED_WRITE_H
#define NK_IO_PARQUET_NESTED_WRITE_H

#include "columnar/array.h"
#include "io/parquet/encode.h"

enum { NK_LEAF_PATH_MAX = 160 };

/* A leaf of a column as the file has it. */
typedef struct nk_leaf {
	int column;
	const nk_dtype *dtype;
	nk_stored stored;
	int definition_max, repetition_max;
	int n_path;
	const char *path[NK_LEAF_PATH_MAX]; /* names from the column down; borrowed from dtypes */
	int n_steps;
	int steps[NK_LEAF_PATH_MAX]; /* from the column's dtype down: the child taken; 0 for items */
} nk_leaf;

/* How many leaves a dtype has. */
int nk__leaf_count(const nk_dtype *dtype);
/* Leaves of a column in the file's order; out has room for all. Fails with NK_INVALID_OPERATION for what Parquet cannot
 * hold. */
NK_MUST_CHECK nk_status nk__leaves_of(const nk_dtype *dtype, const char *name, int column, nk_leaf *out,
                                      int *n_out, nk_error *err);

/* A column's leaf: entries with levels (a byte each), and the values of those that are defined, in order, without
 * nulls. Owned. */
typedef struct nk_leaf_entries {
	int64_t n;
	nk_buffer *definitions, *repetitions;
	nk_array *values; /* flat */
} nk_leaf_entries;

NK_MUST_CHECK nk_status nk__leaf_entries_of(nk_memory *memory, const nk_leaf *leaf, nk_array *column,
                                            nk_leaf_entries *out, nk_error *err);
void nk__leaf_entries_release(nk_leaf_entries *entries);

#endif
