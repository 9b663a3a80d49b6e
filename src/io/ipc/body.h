/* The body of a record batch to be written: where its buffers lie, one after another, with what its header says of them.
 * Buffers that are written as they are stay where the arrays have them. Single-owner. */
#ifndef NK_IO_IPC_BODY_H
#define NK_IO_IPC_BODY_H

#include "columnar/arrow.h"
#include "io/codec/codec.h"

typedef struct nk_ipc_piece {
	const void *bytes;
	int64_t n_bytes; /* without padding */
} nk_ipc_piece;

typedef struct nk_ipc_node {
	int64_t n_rows, n_nulls;
} nk_ipc_node;

typedef struct nk_ipc_span {
	int64_t offset, n_bytes;
} nk_ipc_span;

typedef struct nk_ipc_body {
	nk_memory *memory;
	nk_codec codec;
	bool uses_views;
	int64_t n_bytes; /* with padding */
	int64_t n_nodes, n_buffers, n_variadic, n_owned;
	nk_ipc_node *nodes;
	nk_ipc_piece *pieces; /* one per buffer */
	nk_ipc_span *spans;   /* the same, in the body */
	int64_t *variadic;
	nk_buffer **owned; /* made for this body */
	int64_t nodes_capacity, pieces_capacity, spans_capacity, variadic_capacity, owned_capacity;
} nk_ipc_body;

enum { NK_IPC_ALIGNMENT = 64 };

/* Forget all columns, for the next record batch. */
void nk__ipc_body_clear(nk_ipc_body *body);
void nk__ipc_body_release(nk_ipc_body *body);
/* Append a column. The array must stay until the body is cleared. */
NK_MUST_CHECK nk_status nk__ipc_body_add(nk_ipc_body *body, const struct ArrowArray *array,
                                         const nk_dtype *dtype, nk_error *err);

#endif
