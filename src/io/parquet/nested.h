/* Nested columns: lists and structs, taken apart into leaf columns whose values come with levels (Dremel's).
 *
 * A definition level tells how far down the path to a leaf something is there; a repetition level tells at which list
 * an entry continues. An entry is a slot of a node when the node could hold a value there: when every list around it
 * has an item. Slots of leaves are what the reader of flat columns sees as rows; nodes are put together from the
 * levels of any leaf below them. */
#ifndef NK_IO_PARQUET_NESTED_H
#define NK_IO_PARQUET_NESTED_H

#include "io/parquet/column.h"

typedef enum nk_nested_kind { NK_NESTED_LEAF, NK_NESTED_LIST, NK_NESTED_STRUCT } nk_nested_kind;

typedef struct nk_nested_node nk_nested_node;
struct nk_nested_node {
	nk_nested_kind kind;
	const nk_dtype *dtype;
	int first_leaf, n_leaves;             /* of the file */
	int definition;                       /* a slot whose level is at least this is not null */
	int item_definition, item_repetition; /* list: levels of an entry that has an item; that begins one */
	int n_children;                       /* list: 1 */
	nk_nested_node *children;
	nk_leaf_plan plan; /* leaf */
};

/* Reads the leaves of one column, a row group at a time. Single-owner. */
typedef struct nk_nested_reader nk_nested_reader;

NK_MUST_CHECK nk_status nk__nested_reader_new(const nk_nested_node *root, nk_memory *memory,
                                              nk_scan_counters *counters, nk_nested_reader **out,
                                              nk_error *err);
void nk__nested_reader_free(nk_nested_reader *reader);
/* Read leaf `leaf` (counted from the root's first) of a group: its chunk's bytes. Leaves come in order. */
NK_MUST_CHECK nk_status nk__nested_read_leaf(nk_nested_reader *reader, int leaf, const nk_column_chunk *chunk,
                                             nk_buffer *bytes, nk_error *err);
/* The group's column of n_rows rows, once all leaves are read; forgets the leaves. */
NK_MUST_CHECK nk_status nk__nested_assemble(nk_nested_reader *reader, int64_t n_rows, nk_array **out,
                                            nk_error *err);

#endif
