/* A region of a spill file is a run of encoded batches: plain numbers, bitmaps, values, and for text its bytes
 * packed behind its views. Sizes are counted by a first pass of the same encoder, so that a region is claimed
 * with one atomic add and written in pieces without a copy of the whole. The file is unlinked at once: it
 * disappears with the process whatever happens. */
#include "exec/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITE_BYTES = 1 << 18, FEW_BYTES = 1 << 13 };

struct nk_spill_file {
	const nk_exec *exec;
	nk_counters *counters;
	pthread_mutex_t lock; /* for making the file */
	int fd;               /* -1 until the first write */
	int n_columns;
	const nk_dtype **dtypes;
	int64_t end; /* atomic */
};

nk_status nk_spill_file_new(const nk_exec *exec, nk_counters *counters, nk_spill_file **out, nk_error *err)
{
	void *block;
	NK_TRY(nk_alloc(exec->memory, sizeof(nk_spill_file), &block, err));
	nk_spill_file *file = block;
	*file = (nk_spill_file){.exec = exec, .counters = counters, .fd = -1};
	pthread_mutex_init(&file->lock, NULL);
	*out = file;
	return NK_OK;
}

void nk_spill_file_free(nk_spill_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->dtypes)
		nk_free(file->exec->memory, file->dtypes, file->n_columns * (int64_t)sizeof *file->dtypes);
	pthread_mutex_destroy(&file->lock);
	nk_free(file->exec->memory, file, sizeof *file);
}

static const char *folder_of(const nk_spill_file *file)
{
	const char *folder = file->exec->spill_folder ? file->exec->spill_folder : getenv("TMPDIR");
	return folder && *folder ? folder : "/tmp";
}

static nk_status file_open_locked(nk_spill_file *file, const nk_batch *first, nk_error *err)
{
	if (file->fd >= 0)
		return NK_OK;
	void *dtypes;
	NK_TRY(nk_alloc(file->exec->memory, first->n_columns * (int64_t)sizeof *file->dtypes, &dtypes, err));
	file->dtypes = dtypes;
	file->n_columns = first->n_columns;
	for (int c = 0; c < first->n_columns; c++)
		file->dtypes[c] = first->columns[c]->dtype;
	char path[4096];
	snprintf(path, sizeof path, "%s/nanuk-spill-XXXXXX", folder_of(file));
	file->fd = mkostemp(path, O_CLOEXEC);
	if (file->fd < 0)
		return nk_fail(err, NK_IO, "cannot make a file to spill to in %s: %s", folder_of(file),
		               strerror(errno));
	unlink(path);
	return NK_OK;
}

static nk_status file_open(nk_spill_file *file, const nk_batch *first, nk_error *err)
{
	pthread_mutex_lock(&file->lock);
	nk_status status = file_open_locked(file, first, err);
	pthread_mutex_unlock(&file->lock);
	return status;
}

/* ---- Encoding ---- */

/* Counts only while `block` is NULL. */
typedef struct writer {
	nk_spill_file *file;
	uint8_t *block;
	int64_t n_room, n_held, offset, n_bytes;
} writer;

static nk_status write_at(nk_spill_file *file, const uint8_t *bytes, int64_t n, int64_t offset, nk_error *err)
{
	while (n > 0) {
		ssize_t done = pwrite(file->fd, bytes, (size_t)n, offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return nk_fail(err, NK_IO,
			               "spilling %lld bytes to %s failed: %s; free space there, set another "
			               "spill folder or raise the memory limit",
			               (long long)n, folder_of(file), done < 0 ? strerror(errno) : "the disk is full");
		bytes += done;
		offset += done;
		n -= done;
	}
	return NK_OK;
}

static nk_status writer_flush(writer *to, nk_error *err)
{
	NK_TRY(write_at(to->file, to->block, to->n_held, to->offset, err));
	to->offset += to->n_held;
	to->n_held = 0;
	return NK_OK;
}

static nk_status put(writer *to, const void *bytes, int64_t n, nk_error *err)
{
	to->n_bytes += n;
	if (!to->block || n == 0)
		return NK_OK;
	if (to->n_held + n > to->n_room)
		NK_TRY(writer_flush(to, err));
	if (n > to->n_room) {
		NK_TRY(write_at(to->file, bytes, n, to->offset, err));
		to->offset += n;
		return NK_OK;
	}
	memcpy(to->block + to->n_held, bytes, (size_t)n);
	to->n_held += n;
	return NK_OK;
}

static int64_t values_bytes(nk_physical physical, int64_t n_rows)
{
	switch (physical) {
	case NK_PHYSICAL_BOOL: return nk_bitmap_bytes(n_rows);
	case NK_PHYSICAL_LIST: return (n_rows + 1) * 8;
	case NK_PHYSICAL_NONE:
	case NK_PHYSICAL_STRUCT: return 0;
	default: return n_rows * nk_physical_size(physical);
	}
}

typedef struct array_header {
	int32_t physical, has_validity;
	int64_t n_rows, n_nulls, n_heap_bytes;
} array_header;

static nk_status put_array(writer *to, nk_array *given, nk_error *err)
{
	nk_memory *memory = to->file->exec->memory;
	NK_AUTO(nk_array) flat = NULL, *array = NULL;
	NK_TRY(nk_array_flatten(memory, given, &flat, err));
	if (flat->physical == NK_PHYSICAL_VIEW && flat->heap)
		NK_TRY(nk_array_repack(memory, flat, &array, err));
	else
		array = nk_array_ref(flat);
	array_header header = {.physical = (int32_t)array->physical,
	                       .has_validity = array->validity != NULL,
	                       .n_rows = array->n_rows,
	                       .n_nulls = array->n_nulls};
	const nk_heap *heap = array->physical == NK_PHYSICAL_VIEW ? array->heap : NULL;
	if (heap && heap->n_buffers > 1)
		return nk_fail(err, NK_COMPUTE, "more than 4 GiB of text in one batch cannot be spilled");
	if (heap && heap->n_buffers)
		header.n_heap_bytes = heap->buffers[0]->n_bytes;
	NK_TRY(put(to, &header, sizeof header, err));
	if (array->physical == NK_PHYSICAL_NONE)
		return NK_OK;
	if (array->validity)
		NK_TRY(put(to, array->validity, nk_bitmap_bytes(array->n_rows), err));
	if (array->physical == NK_PHYSICAL_LIST) {
		const int64_t *offsets = array->values;
		for (int64_t i = 0; i <= array->n_rows; i++) {
			int64_t rebased = offsets[i] - offsets[0];
			NK_TRY(put(to, &rebased, 8, err));
		}
		NK_AUTO(nk_array) items = NULL;
		NK_TRY(nk_array_slice(memory, array->children[0], offsets[0], offsets[array->n_rows] - offsets[0],
		                      &items, err));
		return put_array(to, items, err);
	}
	for (int f = 0; array->physical == NK_PHYSICAL_STRUCT && f < array->n_children; f++)
		NK_TRY(put_array(to, array->children[f], err));
	NK_TRY(put(to, array->values, values_bytes(array->physical, array->n_rows), err));
	if (header.n_heap_bytes)
		NK_TRY(put(to, heap->buffers[0]->bytes, header.n_heap_bytes, err));
	return NK_OK;
}

static nk_status put_batch(writer *to, const nk_batch *batch, nk_error *err)
{
	int64_t header[3] = {batch->n_rows, batch->morsel, batch->number};
	NK_TRY(put(to, header, sizeof header, err));
	for (int c = 0; c < batch->n_columns; c++)
		NK_TRY(put_array(to, batch->columns[c], err));
	return NK_OK;
}

static nk_status put_batches(writer *to, nk_batch *const *batches, int64_t n_batches, nk_error *err)
{
	for (int64_t i = 0; i < n_batches; i++)
		NK_TRY(put_batch(to, batches[i], err));
	return to->block ? writer_flush(to, err) : NK_OK;
}

nk_status nk_spill_file_write(nk_spill_file *file, nk_batch *const *batches, int64_t n_batches,
                              nk_spill_place *place, nk_error *err)
{
	*place = (nk_spill_place){0};
	if (n_batches == 0)
		return NK_OK;
	NK_TRY(file_open(file, batches[0], err));
	writer to = {.file = file};
	NK_TRY(put_batches(&to, batches, n_batches, err));
	place->n_bytes = to.n_bytes;
	place->offset = __atomic_fetch_add(&file->end, to.n_bytes, __ATOMIC_RELAXED);
	for (int64_t i = 0; i < n_batches; i++)
		place->n_rows += batches[i]->n_rows;
	/* What is short is memory: then smaller pieces are written. */
	uint8_t few[FEW_BYTES];
	void *block = NULL;
	bool has_block = nk_alloc(file->exec->memory, WRITE_BYTES, &block, NULL) == NK_OK;
	to = (writer){.file = file,
	              .block = has_block ? block : few,
	              .n_room = has_block ? WRITE_BYTES : FEW_BYTES,
	              .offset = place->offset};
	nk_status status = put_batches(&to, batches, n_batches, err);
	nk_free(file->exec->memory, block, WRITE_BYTES);
	if (status == NK_OK && file->counters)
		nk_count(&file->counters->n_bytes_spilled, place->n_bytes);
	return status;
}

/* ---- Decoding ---- */

typedef struct reader {
	nk_memory *memory;
	const uint8_t *at, *end;
} reader;

static nk_status get(reader *from, void *bytes, int64_t n, nk_error *err)
{
	if (n < 0 || n > from->end - from->at)
		return nk_fail(err, NK_IO, "a spill file is damaged");
	memcpy(bytes, from->at, (size_t)n);
	from->at += n;
	return NK_OK;
}

static nk_status get_buffer(reader *from, int64_t n, nk_buffer **out, nk_error *err)
{
	if (n < 0 || n > from->end - from->at)
		return nk_fail(err, NK_IO, "a spill file is damaged");
	NK_TRY(nk_buffer_new(from->memory, n, out, err));
	return get(from, (*out)->bytes, n, err);
}

static nk_status get_array(reader *from, const nk_dtype *dtype, nk_array **out, nk_error *err)
{
	array_header header;
	NK_TRY(get(from, &header, sizeof header, err));
	nk_physical physical = (nk_physical)header.physical;
	if (physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(from->memory, dtype, header.n_rows, out, err);
	NK_AUTO(nk_buffer) validity = NULL, *values = NULL;
	if (header.has_validity)
		NK_TRY(get_buffer(from, nk_bitmap_bytes(header.n_rows), &validity, err));
	if (physical == NK_PHYSICAL_LIST) {
		NK_TRY(get_buffer(from, values_bytes(physical, header.n_rows), &values, err));
		nk_array *items;
		NK_TRY(get_array(from, dtype->fields[0].dtype, &items, err));
		return nk_array_new_list(dtype, header.n_rows, NK_STEAL(values), items, NK_STEAL(validity),
		                         header.n_nulls, out, err);
	}
	if (physical == NK_PHYSICAL_STRUCT) {
		nk_array **fields = calloc((size_t)dtype->n_fields + 1, sizeof *fields);
		if (!fields)
			return nk_fail(err, NK_OUT_OF_MEMORY, "the system refused memory");
		nk_status status = NK_OK;
		int n = 0;
		while (n < dtype->n_fields && status == NK_OK)
			if ((status = get_array(from, dtype->fields[n].dtype, &fields[n], err)) == NK_OK)
				n++;
		if (status == NK_OK)
			status = nk_array_new_struct(dtype, header.n_rows, fields, NK_STEAL(validity), header.n_nulls,
			                             out, err);
		else
			while (n-- > 0)
				nk_array_unref(fields[n]);
		free(fields);
		return status;
	}
	NK_TRY(get_buffer(from, values_bytes(physical, header.n_rows), &values, err));
	NK_AUTO(nk_heap) heap = NULL;
	if (header.n_heap_bytes) {
		nk_buffer *text;
		NK_TRY(get_buffer(from, header.n_heap_bytes, &text, err));
		NK_TRY(nk_heap_new(&text, 1, &heap, err));
	}
	return nk_array_new_flat(dtype, physical, header.n_rows, NK_STEAL(values), NK_STEAL(validity),
	                         header.n_nulls, NK_STEAL(heap), out, err);
}

static nk_status get_batch(reader *from, const nk_spill_file *file, nk_batch **out, nk_error *err)
{
	int64_t header[3];
	NK_TRY(get(from, header, sizeof header, err));
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(file->n_columns, header[0], &batch, err));
	batch->morsel = header[1];
	batch->number = header[2];
	for (int c = 0; c < file->n_columns; c++)
		NK_TRY(get_array(from, file->dtypes[c], &batch->columns[c], err));
	*out = NK_STEAL(batch);
	return NK_OK;
}

nk_status nk_spill_file_read(nk_spill_file *file, const nk_spill_place *place,
                             nk_status (*each)(void *data, nk_batch *batch, nk_error *err), void *data,
                             nk_error *err)
{
	NK_AUTO(nk_buffer) region = NULL;
	NK_TRY(nk_buffer_new(file->exec->memory, place->n_bytes, &region, err));
	for (int64_t n = 0; n < place->n_bytes;) {
		ssize_t done = pread(file->fd, region->bytes + n, (size_t)(place->n_bytes - n), place->offset + n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return nk_fail(err, NK_IO, "reading spilled rows back from %s failed: %s", folder_of(file),
			               done < 0 ? strerror(errno) : "unexpected end");
		n += done;
	}
	reader from = {file->exec->memory, region->bytes, region->bytes + place->n_bytes};
	while (from.at < from.end) {
		nk_batch *batch;
		NK_TRY(get_batch(&from, file, &batch, err));
		NK_TRY(each(data, batch, err));
	}
	return NK_OK;
}
