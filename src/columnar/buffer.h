/* An immutable, reference-counted run of bytes: the storage under every array.
 *
 * A buffer is filled by whoever made it, before it is shared; from its second reference on its bytes never
 * change, so any thread may read it without a lock. Own buffers start 64-byte aligned. Foreign memory
 * (Arrow, NumPy, a mapped file) is wrapped with the callback that gives it back; it is neither padded nor
 * more aligned than its values, so kernels read exactly the values they are asked for. */
#ifndef NK_COLUMNAR_BUFFER_H
#define NK_COLUMNAR_BUFFER_H

#include "base/memory.h"

typedef struct nk_buffer {
	uint8_t *bytes;
	int64_t n_bytes;
	nk_memory *memory;            /* owned reference; NULL for foreign memory */
	void (*release)(void *owner); /* foreign memory only */
	void *owner;
	int64_t n_references; /* atomic */
	int16_t device_type;  /* Arrow C Device type: 1 is the CPU */
	int16_t device_id;
} nk_buffer;

/* A new buffer of n_bytes, uninitialised. On success *out is owned by the caller, who may fill it. */
NK_MUST_CHECK nk_status nk_buffer_new(nk_memory *memory, int64_t n_bytes, nk_buffer **out, nk_error *err);
/* The same, all zero. */
NK_MUST_CHECK nk_status nk_buffer_new_zeroed(nk_memory *memory, int64_t n_bytes, nk_buffer **out,
                                             nk_error *err);
/* Take over a block of n_bytes_block bytes from nk_alloc(memory), of which the first n_bytes are used; it is
 * freed also when this call fails. */
NK_MUST_CHECK nk_status nk_buffer_adopt(nk_memory *memory, void *block, int64_t n_bytes_block,
                                        int64_t n_bytes, nk_buffer **out, nk_error *err);
/* Wrap memory of others; release(owner) is called with the last reference, also when this call fails. */
NK_MUST_CHECK nk_status nk_buffer_wrap(const void *bytes, int64_t n_bytes, void (*release)(void *),
                                       void *owner, nk_buffer **out, nk_error *err);
/* Give bytes past n_bytes back (only the maker, before sharing). Never fails: may keep the larger block. */
void nk_buffer_shrink(nk_buffer *buffer, int64_t n_bytes);

static inline nk_buffer *nk_buffer_ref(nk_buffer *buffer)
{
	if (buffer)
		__atomic_fetch_add(&buffer->n_references, 1, __ATOMIC_RELAXED);
	return buffer;
}
void nk_buffer_unref(nk_buffer *buffer); /* NULL is allowed; the last reference frees */

static inline void nk_buffer__auto(nk_buffer **buffer) { nk_buffer_unref(*buffer); }

#endif
