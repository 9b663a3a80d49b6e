/* Schemas as Arrow metadata. */
#ifndef NK_IO_IPC_SCHEMA_WRITE_H
#define NK_IO_IPC_SCHEMA_WRITE_H

#include "columnar/frame.h"
#include "io/ipc/builder.h"

/* A Schema table; returns its position. uses_views: texts are views, else they have offsets of 64 bits. */
int64_t nk__ipc_put_schema(nk_text *out, const nk_schema *schema, bool uses_views);
/* The dtypes whose categories are dictionaries, by their ids; out may be NULL. Returns how many. */
int64_t nk__ipc_dictionaries(const nk_schema *schema, const nk_dtype **out);

/* A Message of a Schema; the length that comes before it in a stream is the caller's. */
void nk__ipc_put_schema_message(nk_text *out, const nk_schema *schema, bool uses_views);

#endif
