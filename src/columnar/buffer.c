/* The header and the bytes are separate blocks: the header may outlive a move of the bytes (shrink), a payload
 * of a power of two stays in its size class, and blocks grown elsewhere are adopted without copying.
 * For own buffers `owner` remembers the size of the block, which n_bytes no longer tells after a shrink. */
#include "columnar/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICE_CPU = 1 };
/* Below this much waste a shrink keeps the block: moving costs more than it gives back. */
enum { SHRINK_FROM = 64 << 10 };

static void block_release(nk_buffer *buffer)
{
	nk_free(buffer->memory, buffer->bytes, (int64_t)(intptr_t)buffer->owner);
	nk_memory_unref(buffer->memory);
}

nk_status nk_buffer_adopt(nk_memory *memory, void *block, int64_t n_bytes_block, int64_t n_bytes,
                          nk_buffer **out, nk_error *err)
{
	nk_buffer *buffer = malloc(sizeof *buffer);
	if (!buffer) {
		nk_free(memory, block, n_bytes_block);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a buffer's header");
	}
	*buffer = (nk_buffer){.bytes = block,
	                      .n_bytes = n_bytes,
	                      .memory = memory ? nk_memory_ref(memory) : NULL,
	                      .owner = (void *)(intptr_t)n_bytes_block,
	                      .n_references = 1,
	                      .device_type = DEVICE_CPU};
	*out = buffer;
	return NK_OK;
}

nk_status nk_buffer_new(nk_memory *memory, int64_t n_bytes, nk_buffer **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(memory, n_bytes, &block, err));
	return nk_buffer_adopt(memory, block, n_bytes, n_bytes, out, err);
}

nk_status nk_buffer_new_zeroed(nk_memory *memory, int64_t n_bytes, nk_buffer **out, nk_error *err)
{
	NK_TRY(nk_buffer_new(memory, n_bytes, out, err));
	memset((*out)->bytes, 0, (size_t)n_bytes);
	return NK_OK;
}

nk_status nk_buffer_wrap(const void *bytes, int64_t n_bytes, void (*release)(void *), void *owner,
                         nk_buffer **out, nk_error *err)
{
	nk_buffer *buffer = malloc(sizeof *buffer);
	if (!buffer) {
		release(owner);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a buffer's header");
	}
	*buffer = (nk_buffer){.bytes = (uint8_t *)bytes,
	                      .n_bytes = n_bytes,
	                      .release = release,
	                      .owner = owner,
	                      .n_references = 1,
	                      .device_type = DEVICE_CPU};
	*out = buffer;
	return NK_OK;
}

void nk_buffer_shrink(nk_buffer *buffer, int64_t n_bytes)
{
	NK_ASSERT(n_bytes <= buffer->n_bytes);
	int64_t n_bytes_block = (int64_t)(intptr_t)buffer->owner;
	buffer->n_bytes = n_bytes;
	if (buffer->release || n_bytes_block - n_bytes < NK_MAX(n_bytes_block / 4, (int64_t)SHRINK_FROM))
		return;
	void *block = buffer->bytes;
	if (nk_realloc(buffer->memory, &block, n_bytes_block, n_bytes, NULL) == NK_OK) {
		buffer->bytes = block;
		buffer->owner = (void *)(intptr_t)n_bytes;
	}
}

void nk_buffer_unref(nk_buffer *buffer)
{
	if (!buffer || __atomic_fetch_sub(&buffer->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	if (buffer->release)
		buffer->release(buffer->owner);
	else
		block_release(buffer);
	free(buffer);
}
