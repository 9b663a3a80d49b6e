/* Heap buffers double from 4 KiB to 16 MiB: no byte is ever moved, and a small result stays small. */
#include "compute/text_writer.h"

enum { FIRST = 4 << 10, LARGEST = 16 << 20 };

nk_status nk_text_writer_init(nk_text_writer *writer, nk_memory *memory, const nk_dtype *dtype,
                              int64_t n_rows, nk_error *err)
{
	*writer = (nk_text_writer){.memory = memory, .dtype = dtype};
	return nk_buffer_new(memory, n_rows * (int64_t)sizeof(nk_view), &writer->views, err);
}

void nk_text_writer_release(nk_text_writer *writer)
{
	nk_buffer_unref(writer->views);
	for (int i = 0; i < writer->n_buffers; i++)
		nk_buffer_unref(writer->buffers[i]);
	if (writer->buffers)
		nk_free(writer->memory, writer->buffers, writer->capacity * (int64_t)sizeof *writer->buffers);
	*writer = (nk_text_writer){0};
}

nk_status nk__text_writer_grow(nk_text_writer *writer, int64_t n_bytes_max, nk_error *err)
{
	if (n_bytes_max > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "a text of %lld bytes is too long: 4 GiB is the most",
		               (long long)n_bytes_max);
	int64_t n_bytes = FIRST;
	if (writer->n_buffers > 0) {
		nk_buffer *last = writer->buffers[writer->n_buffers - 1];
		n_bytes = NK_MAX(2 * last->n_bytes, (int64_t)FIRST);
		n_bytes = NK_MIN(n_bytes, (int64_t)LARGEST);
		if (writer->n_used == 0) {
			/* Nothing points into it: replace it. */
			nk_buffer_unref(last);
			writer->n_buffers--;
		} else {
			nk_buffer_shrink(last, writer->n_used);
		}
	}
	n_bytes = NK_MAX(n_bytes, n_bytes_max);
	NK_TRY(NK_GROW(writer->memory, &writer->buffers, &writer->capacity, writer->n_buffers + 1, err));
	NK_TRY(nk_buffer_new(writer->memory, n_bytes, &writer->buffers[writer->n_buffers], err));
	writer->n_buffers++;
	writer->n_used = 0;
	return NK_OK;
}

nk_status nk_text_writer_finish(nk_text_writer *writer, nk_buffer *validity, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) valid = validity;
	NK_AUTO(nk_heap) heap = NULL;
	if (writer->n_buffers > 0 && writer->n_used == 0)
		nk_buffer_unref(writer->buffers[--writer->n_buffers]);
	else if (writer->n_buffers > 0)
		nk_buffer_shrink(writer->buffers[writer->n_buffers - 1], writer->n_used);
	if (writer->n_buffers > 0) {
		int n_buffers = writer->n_buffers;
		writer->n_buffers = 0;
		NK_TRY(nk_heap_new(writer->buffers, n_buffers, &heap, err));
	}
	nk_status status =
		nk_array_new_flat(writer->dtype, NK_PHYSICAL_VIEW, writer->n_rows, NK_STEAL(writer->views),
	                      NK_STEAL(valid), -1, NK_STEAL(heap), out, err);
	nk_text_writer_release(writer);
	return status;
}
