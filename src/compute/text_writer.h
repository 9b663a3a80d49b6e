/* Fill a flat array of views row by row, in order, when the bytes are new. Long text goes into heap buffers that
 * grow with what has been written. Single-owner.
 *
 *     nk_text_writer writer = {0};       (with NK_TEXT_WRITER(writer); it is released at the end of the scope)
 *     NK_TRY(nk_text_writer_init(&writer, memory, dtype, n_rows, err));
 *     char *room;
 *     NK_TRY(nk_text_writer_room(&writer, n_bytes_max, &room, err));
 *     ... write at most n_bytes_max bytes ...
 *     nk_text_writer_commit(&writer, n_bytes);   (the next row is done)
 *     NK_TRY(nk_text_writer_finish(&writer, validity, out, err)); */
#ifndef NK_COMPUTE_TEXT_WRITER_H
#define NK_COMPUTE_TEXT_WRITER_H

#include "columnar/array.h"

typedef struct nk_text_writer {
	nk_memory *memory;
	const nk_dtype *dtype;
	int64_t n_rows; /* done */
	nk_buffer *views;
	nk_buffer **buffers; /* all but the last are full */
	int64_t capacity;    /* of buffers */
	int n_buffers;
	int64_t n_used; /* of the last buffer */
} nk_text_writer;

/* dtype: String or Binary. Exactly n_rows rows must be committed before finishing. Borrows memory. */
NK_MUST_CHECK nk_status nk_text_writer_init(nk_text_writer *writer, nk_memory *memory, const nk_dtype *dtype,
                                            int64_t n_rows, nk_error *err);
void nk_text_writer_release(nk_text_writer *writer);

/* A place for the next row's bytes; valid until the row is committed. Fails when n_bytes_max passes 4 GiB. */
NK_MUST_CHECK nk_status nk__text_writer_grow(nk_text_writer *writer, int64_t n_bytes_max, nk_error *err);
static inline nk_status nk_text_writer_room(nk_text_writer *writer, int64_t n_bytes_max, char **room,
                                            nk_error *err)
{
	if (NK_UNLIKELY(writer->n_buffers == 0 ||
	                n_bytes_max > writer->buffers[writer->n_buffers - 1]->n_bytes - writer->n_used))
		NK_TRY(nk__text_writer_grow(writer, n_bytes_max, err));
	*room = (char *)writer->buffers[writer->n_buffers - 1]->bytes + writer->n_used;
	return NK_OK;
}

static inline void nk_text_writer_commit(nk_text_writer *writer, int64_t n_bytes)
{
	int last = writer->n_buffers - 1;
	const char *room = (const char *)writer->buffers[last]->bytes + writer->n_used;
	((nk_view *)writer->views->bytes)[writer->n_rows++] =
		nk_view_make(room, (uint32_t)n_bytes, (uint32_t)last, (uint32_t)writer->n_used);
	writer->n_used += n_bytes > NK_VIEW_INLINE ? n_bytes : 0;
}

/* The next row is empty: also what to leave under a null. */
static inline void nk_text_writer_skip(nk_text_writer *writer)
{
	((nk_view *)writer->views->bytes)[writer->n_rows++] = (nk_view){0};
}

static inline nk_status nk_text_writer_append(nk_text_writer *writer, const char *bytes, int64_t n_bytes,
                                              nk_error *err)
{
	char *room;
	NK_TRY(nk_text_writer_room(writer, n_bytes, &room, err));
	memcpy(room, bytes, (size_t)n_bytes);
	nk_text_writer_commit(writer, n_bytes);
	return NK_OK;
}

/* The array; the writer is empty afterwards. Takes over validity (NULL: all valid), also on failure. */
NK_MUST_CHECK nk_status nk_text_writer_finish(nk_text_writer *writer, nk_buffer *validity, nk_array **out,
                                              nk_error *err);

#define NK_TEXT_WRITER(name) __attribute__((cleanup(nk_text_writer_release))) nk_text_writer name = {0}

#endif
