/* One interface to files, wherever they are: size, and ranges as buffers.
 *
 * A local file is mapped when it can be, and a range is then a view of the mapping that keeps it alive; what cannot
 * be mapped is read into memory. Immutable, reference-counted, thread-safe. A file that shrinks while it is mapped
 * is the caller's breach of contract. */
#ifndef NK_IO_FILE_H
#define NK_IO_FILE_H

#include "columnar/buffer.h"

typedef struct nk_file nk_file;

/* Fails with NK_FILE_NOT_FOUND when there is none, NK_IO for directories and whatever else the system says. */
NK_MUST_CHECK nk_status nk__file_open(nk_memory *memory, const char *path, nk_file **out, nk_error *err);
nk_file *nk__file_ref(nk_file *file);
void nk__file_unref(nk_file *file);
const char *nk__file_path(const nk_file *file); /* borrowed */
int64_t nk__file_size(const nk_file *file);
/* Bytes [offset, offset + n_bytes); fails when they are not all inside. */
NK_MUST_CHECK nk_status nk__file_read(nk_file *file, int64_t offset, int64_t n_bytes, nk_buffer **out,
                                      nk_error *err);

static inline void nk_file__auto(nk_file **file) { nk__file_unref(*file); }

#endif
