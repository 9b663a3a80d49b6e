/* Schemas as Arrow metadata. */
#ifndef NK_IO_IPC_SCHEMA_WRITE_H
#define NK_IO_IPC_SCHEMA_WRITE_H

#include "columnar/frame.h"
#include "io/ipc/builder.h"

/* A Schema table; returns its position. uses_views: texts are views, else they have offsets of 64 bits. */
int64_t nk__ipc_put_schema(nk_text *out, const nk_schema *schema, bool uses_views);

/* A Message of a Schema; the length that comes before it in a stream is the caller's. */
void nk__ipc_put_schema_message(nk_text *out, const nk_schema *schema, bool uses_views);

#endif
