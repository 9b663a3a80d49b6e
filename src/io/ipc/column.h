/* Columns of a record batch, as arrays.
 *
 * Loading finds a column's buffers, decompresses them if need be and checks that they are as long as the rows demand; the
 * result is an Arrow array that holds the file's memory. Conversion hands rows of it to columnar/arrow.h, which shares
 * whatever has our layout. Text is checked to be UTF-8. */
#ifndef NK_IO_IPC_COLUMN_H
#define NK_IO_IPC_COLUMN_H

#include "io/ipc/fields.h"
#include "io/ipc/message.h"
#include "plan/counters.h"

/* What is loaded from. Borrowed; counters are added to atomically. */
typedef struct nk_ipc_bytes {
	nk_memory *memory;
	nk_buffer *whole; /* all of the file */
	bool is_swapped;
	nk_scan_counters *counters;
} nk_ipc_bytes;

/* A dictionary: its entries, and the same as if none were null, which is what encoded arrays refer to. Flat. */
typedef struct nk_ipc_entries {
	nk_array *all, *plain;
} nk_ipc_entries;

/* Entries by their id; borrowed until the file is released. */
typedef nk_status (*nk_ipc_find_entries)(void *data, int64_t id, const nk_ipc_entries **out, nk_error *err);

/* Where a field's nodes, buffers and counts of variadic buffers begin in a record batch. */
typedef struct nk_ipc_cursor {
	int64_t node, buffer, variadic;
} nk_ipc_cursor;

/* Move behind a field without looking at its buffers. */
NK_MUST_CHECK nk_status nk__ipc_cursor_skip(const nk_ipc_batch *batch, const nk_ipc_field *field,
                                            nk_ipc_cursor *cursor, nk_error *err);
/* Load a field of the batch at the cursor; out->release is set on success. Dictionaries inside of nested fields are
 * attached; that of the field itself is not. */
NK_MUST_CHECK nk_status nk__ipc_load(const nk_ipc_bytes *from, const nk_ipc_batch *batch,
                                     const nk_ipc_field *field, nk_ipc_cursor cursor,
                                     nk_ipc_find_entries find, void *data, struct ArrowArray *out,
                                     nk_error *err);
/* Rows [offset, offset + n_rows) of a loaded field without dictionary. `loaded` is only read, and must stay until let_go is
 * called, once, with an array whose private_data is `owner`; that is also done when the call fails. */
NK_MUST_CHECK nk_status nk__ipc_convert(nk_memory *memory, const nk_ipc_field *field,
                                        const struct ArrowArray *loaded, int64_t offset, int64_t n_rows,
                                        void (*let_go)(struct ArrowArray *), void *owner, nk_array **out,
                                        nk_error *err);
/* The same of codes, with their entries. They stay codes when there are few entries, each many times. */
NK_MUST_CHECK nk_status nk__ipc_convert_codes(nk_memory *memory, const nk_ipc_field *field,
                                              const struct ArrowArray *loaded, int64_t offset, int64_t n_rows,
                                              const nk_ipc_entries *entries, bool keeps_codes,
                                              void (*let_go)(struct ArrowArray *), void *owner,
                                              nk_array **out, nk_error *err);

#endif
