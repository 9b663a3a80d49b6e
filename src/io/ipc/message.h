/* Messages of IPC files and streams: a length, a flatbuffer, a body of buffers.
 *
 * What is parsed points into the bytes given, which must outlive it. Bodies are only located; no byte of one is read. */
#ifndef NK_IO_IPC_MESSAGE_H
#define NK_IO_IPC_MESSAGE_H

#include "io/codec/codec.h"
#include "io/ipc/flatbuffer.h"

typedef enum nk_ipc_kind {
	NK_IPC_END,
	NK_IPC_SCHEMA,
	NK_IPC_DICTIONARY,
	NK_IPC_BATCH,
	NK_IPC_OTHER
} nk_ipc_kind;

typedef struct nk_ipc_message {
	nk_ipc_kind kind;
	nk_fb metadata;
	nk_fb_table header; /* refers to metadata: do not copy the struct */
	int64_t body, n_body;
	int64_t end; /* where the next message begins */
} nk_ipc_message;

/* A record batch, or the one in a dictionary batch. */
typedef struct nk_ipc_batch {
	int64_t n_rows;
	int64_t n_nodes, n_buffers, n_variadic;
	const uint8_t *nodes, *buffers, *variadic;
	bool is_compressed;
	nk_codec codec;
	int64_t body, n_body;
} nk_ipc_batch;

/* The message at `at`; the end of the bytes counts as the end of a stream. n_metadata is what a file's footer says of its
 * length, or -1. Fails with NK_COMPUTE. */
NK_MUST_CHECK nk_status nk__ipc_message_parse(const uint8_t *bytes, int64_t n_bytes, int64_t at,
                                              int64_t n_metadata, nk_ipc_message *out, nk_error *err);
/* A RecordBatch table. */
NK_MUST_CHECK nk_status nk__ipc_batch_parse(nk_fb_table table, int64_t body, int64_t n_body,
                                            nk_ipc_batch *out, nk_error *err);

#endif
