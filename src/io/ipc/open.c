/* Where the batches of a file lie. A file says so in its footer; of a stream every message is visited, which reads their
 * metadata and skips their bodies. */
#include <stdlib.h>
#include <string.h>

#include "io/ipc/source_internal.h"

static const char magic[] = "ARROW1", magic_feather[] = "FEA1";
enum { MAGIC_BYTES = 6, TAIL_BYTES = 10, BLOCK_BYTES = 24 };

static nk_status add_batch(nk_memory *memory, nk_ipc_file *file, const nk_ipc_message *message, nk_error *err)
{
	NK_TRY(NK_GROW(memory, &file->batches, &file->batches_capacity, file->n_batches + 1, err));
	nk_ipc_batch *batch = &file->batches[file->n_batches];
	NK_TRY(nk__ipc_batch_parse(message->header, message->body, message->n_body, batch, err));
	if (__builtin_add_overflow(file->n_rows, batch->n_rows, &file->n_rows))
		return nk_fail(err, NK_COMPUTE, "damaged Arrow metadata: more rows than can be counted");
	file->n_batches++;
	return NK_OK;
}

static nk_status add_dictionary(nk_memory *memory, nk_ipc_file *file, const nk_ipc_message *message,
                                nk_error *err)
{
	NK_TRY(NK_GROW(memory, &file->dictionaries, &file->dictionaries_capacity, file->n_dictionaries + 1, err));
	nk_ipc_dictionary *dictionary = &file->dictionaries[file->n_dictionaries];
	*dictionary = (nk_ipc_dictionary){.id = nk__fb_int64(message->header, 0, 0),
	                                  .is_delta = nk__fb_int8(message->header, 2, 0),
	                                  .first_batch = file->n_batches};
	NK_TRY(nk__ipc_batch_parse(nk__fb_table(message->header, 1), message->body, message->n_body,
	                           &dictionary->batch, err));
	file->n_dictionaries++;
	return NK_OK;
}

/* ---- Streams ---- */

static nk_status read_stream(nk_memory *memory, nk_ipc_file *file, nk_error *err)
{
	const nk_buffer *whole = file->whole;
	if (whole->n_bytes == 0)
		return nk_fail(err, NK_NO_DATA, "empty data: no Arrow stream");
	nk_ipc_message message;
	NK_TRY(nk__ipc_message_parse(whole->bytes, whole->n_bytes, 0, -1, &message, err));
	if (message.kind != NK_IPC_SCHEMA)
		return nk_fail(err, NK_COMPUTE, "no Arrow stream: it does not begin with a schema");
	NK_TRY(nk__ipc_fields_parse(file->arena, message.header, &file->fields, err));
	for (;;) {
		NK_TRY(nk__ipc_message_parse(whole->bytes, whole->n_bytes, message.end, -1, &message, err));
		switch (message.kind) {
		case NK_IPC_END: return NK_OK;
		case NK_IPC_BATCH: NK_TRY(add_batch(memory, file, &message, err)); break;
		case NK_IPC_DICTIONARY: NK_TRY(add_dictionary(memory, file, &message, err)); break;
		default: return nk_fail(err, NK_COMPUTE, "an Arrow stream with a message that is no record batch");
		}
	}
}

/* ---- Files ---- */

static nk_status read_block(const nk_ipc_file *file, const uint8_t *block, nk_ipc_kind kind,
                            nk_ipc_message *out, nk_error *err)
{
	int64_t at = nk_fb_load64(block), n_metadata = nk_fb_load32(block + 8), n_body = nk_fb_load64(block + 16);
	if (n_metadata < 0 || at < 0 || at > file->whole->n_bytes - n_metadata)
		return nk_fail(err, NK_COMPUTE, "the footer points to a message outside of the file");
	NK_TRY(nk__ipc_message_parse(file->whole->bytes, file->whole->n_bytes, at, n_metadata, out, err));
	if (out->kind != kind)
		return nk_fail(err, NK_COMPUTE, "the footer points to something else than a batch");
	if (n_body < 0 || n_body > file->whole->n_bytes - out->body)
		return nk_fail(err, NK_COMPUTE, "the footer points to data outside of the file");
	out->n_body = n_body;
	return NK_OK;
}

static nk_status read_footer(nk_memory *memory, nk_ipc_file *file, nk_error *err)
{
	const uint8_t *bytes = file->whole->bytes, *end = bytes + file->whole->n_bytes;
	int64_t n_bytes = file->whole->n_bytes;
	if (n_bytes == 0)
		return nk_fail(err, NK_IO, "the file is empty, so it is no Arrow file");
	if (n_bytes >= 4 && memcmp(bytes, magic_feather, 4) == 0)
		return nk_fail(err, NK_COMPUTE, "Feather files of version 1 are not supported");
	if (n_bytes < MAGIC_BYTES + TAIL_BYTES || memcmp(end - MAGIC_BYTES, magic, MAGIC_BYTES) != 0)
		return nk_fail(
			err, NK_COMPUTE, "no Arrow file, or one that is cut: the mark at its end is missing%s",
			n_bytes >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0 ? "" : " (streams have none)");
	int64_t n_footer = nk_fb_load32(end - TAIL_BYTES);
	if (n_footer <= 0 || n_footer > n_bytes - TAIL_BYTES)
		return nk_fail(err, NK_COMPUTE, "damaged Arrow file: a footer of %lld bytes in a file of %lld",
		               (long long)n_footer, (long long)n_bytes);
	nk_fb metadata = {.bytes = end - TAIL_BYTES - n_footer, .n_bytes = n_footer};
	nk_fb_table footer = nk__fb_root(&metadata), schema = nk__fb_table(footer, 1);
	nk_fb_vector dictionaries = nk__fb_vector(footer, 2, BLOCK_BYTES),
				 batches = nk__fb_vector(footer, 3, BLOCK_BYTES);
	if (metadata.is_bad)
		return nk_fail(err, NK_COMPUTE, "damaged Arrow metadata: the footer");
	NK_TRY(nk__ipc_fields_parse(file->arena, schema, &file->fields, err));
	nk_ipc_message message;
	for (int64_t i = 0; i < dictionaries.n; i++) {
		NK_TRY(read_block(file, dictionaries.items + BLOCK_BYTES * i, NK_IPC_DICTIONARY, &message, err));
		NK_TRY(add_dictionary(memory, file, &message, err));
	}
	for (int64_t i = 0; i < batches.n; i++) {
		NK_TRY(read_block(file, batches.items + BLOCK_BYTES * i, NK_IPC_BATCH, &message, err));
		NK_TRY(add_batch(memory, file, &message, err));
	}
	return NK_OK;
}

/* ---- Either ---- */

void nk__ipc_file_close(nk_ipc_file *file)
{
	if (!file->file)
		return;
	nk_memory *memory = nk_arena_memory(file->arena);
	for (int64_t i = 0; i < file->n_dictionaries; i++) {
		nk_array_unref(file->dictionaries[i].entries.all);
		nk_array_unref(file->dictionaries[i].entries.plain);
	}
	nk_free(memory, file->dictionaries, file->dictionaries_capacity * (int64_t)sizeof *file->dictionaries);
	nk_free(memory, file->batches, file->batches_capacity * (int64_t)sizeof *file->batches);
	nk_schema_unref(file->schema);
	nk_buffer_unref(file->whole);
	nk__file_unref(file->file);
	nk_arena_free(file->arena);
	pthread_mutex_destroy(&file->lock);
	*file = (nk_ipc_file){.path = file->path};
}

nk_status nk__ipc_file_open(nk_memory *memory, nk_ipc_file *file, bool is_stream, nk_error *err)
{
	NK_AUTO(nk_file) opened = NULL;
	NK_TRY(nk__file_open(memory, file->path, &opened, err));
	file->arena = nk_arena_new(memory);
	if (!file->arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
	file->file = NK_STEAL(opened);
	pthread_mutex_init(&file->lock, NULL);
	NK_TRY(nk__file_read(file->file, 0, nk__file_size(file->file), &file->whole, err));
	NK_TRY(is_stream ? read_stream(memory, file, err) : read_footer(memory, file, err));
	return nk__ipc_fields_schema(&file->fields, &file->schema, err);
}
