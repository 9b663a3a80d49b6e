/* Since version 0.15 a message begins with a word of ones, before it with its length. */
#include "io/ipc/message.h"

enum { NODE_BYTES = 16, BUFFER_BYTES = 16 };

nk_status nk__ipc_message_parse(const uint8_t *bytes, int64_t n_bytes, int64_t at, int64_t n_metadata,
                                nk_ipc_message *out, nk_error *err)
{
	enum { V4 = 3, V5 = 4, SCHEMA = 1, DICTIONARY = 2, BATCH = 3 };
	*out = (nk_ipc_message){.kind = NK_IPC_END, .end = at};
	if (at == n_bytes)
		return NK_OK;
	if (at < 0 || n_bytes - at < 4)
		return nk_fail(err, NK_COMPUTE, "an Arrow message at byte %lld lies outside of the %lld bytes",
		               (long long)at, (long long)n_bytes);
	int64_t prefix = 4, n = (uint32_t)nk_fb_load32(bytes + at);
	if (n == UINT32_MAX) {
		prefix = 8;
		if (n_bytes - at < 8)
			return nk_fail(err, NK_COMPUTE, "the Arrow data is cut in the middle of a message");
		n = (uint32_t)nk_fb_load32(bytes + at + 4);
	}
	out->end = at + prefix;
	if (n == 0)
		return NK_OK;
	if (n > INT32_MAX)
		return nk_fail(err, NK_COMPUTE, "no Arrow message at byte %lld", (long long)at);
	if (n > n_bytes - at - prefix)
		return nk_fail(err, NK_COMPUTE,
		               "an Arrow message of %lld bytes at byte %lld, where only %lld are left", (long long)n,
		               (long long)at, (long long)(n_bytes - at - prefix));
	out->metadata = (nk_fb){.bytes = bytes + at + prefix, .n_bytes = n};
	nk_fb_table message = nk__fb_root(&out->metadata);
	int64_t version = nk__fb_int16(message, 0, 0), kind = nk__fb_int8(message, 1, 0);
	out->n_body = nk__fb_int64(message, 3, 0);
	out->header = nk__fb_table(message, 2);
	out->body = at + (n_metadata >= 0 ? n_metadata : prefix + n);
	if (out->metadata.is_bad || !out->header.in)
		return nk_fail(err, NK_COMPUTE, "damaged Arrow metadata: the message at byte %lld", (long long)at);
	if (version != V4 && version != V5)
		return nk_fail(err, NK_COMPUTE, "Arrow metadata of version V%lld are not supported, only V4 and V5",
		               (long long)version + 1);
	if (out->n_body < 0 || out->body > n_bytes || out->n_body > n_bytes - out->body)
		return nk_fail(err, NK_COMPUTE,
		               "the Arrow data is cut: %lld bytes of data wanted at byte %lld of %lld",
		               (long long)out->n_body, (long long)out->body, (long long)n_bytes);
	out->kind = kind == SCHEMA       ? NK_IPC_SCHEMA
	            : kind == DICTIONARY ? NK_IPC_DICTIONARY
	            : kind == BATCH      ? NK_IPC_BATCH
	                                 : NK_IPC_OTHER;
	out->end = out->body + out->n_body;
	return NK_OK;
}

nk_status nk__ipc_batch_parse(nk_fb_table table, int64_t body, int64_t n_body, nk_ipc_batch *out,
                              nk_error *err)
{
	enum { LZ4_FRAME, ZSTD };
	enum { ROWS_MAX_LOG2 = 48 }; /* so that sizes in bytes never overflow */
	*out = (nk_ipc_batch){.n_rows = nk__fb_int64(table, 0, 0), .body = body, .n_body = n_body};
	nk_fb_vector nodes = nk__fb_vector(table, 1, NODE_BYTES), buffers = nk__fb_vector(table, 2, BUFFER_BYTES),
				 variadic = nk__fb_vector(table, 4, 8);
	nk_fb_table compression = nk__fb_table(table, 3);
	out->n_nodes = nodes.n;
	out->nodes = nodes.items;
	out->n_buffers = buffers.n;
	out->buffers = buffers.items;
	out->n_variadic = variadic.n;
	out->variadic = variadic.items;
	out->is_compressed = compression.in;
	int64_t codec = nk__fb_int8(compression, 0, LZ4_FRAME), method = nk__fb_int8(compression, 1, 0);
	out->codec = codec == ZSTD ? NK_CODEC_ZSTD : NK_CODEC_LZ4_FRAME;
	/* columns without buffers may have any number of rows; nobody has as many of them as would take for ever */
	bool is_endless = out->n_rows > UINT32_MAX && !out->is_compressed && out->n_rows / 8 > n_body;
	if (!table.in || table.in->is_bad || out->n_rows < 0 || out->n_rows >> ROWS_MAX_LOG2 || is_endless)
		return nk_fail(err, NK_COMPUTE, "damaged Arrow metadata: a record batch");
	if (method != 0 || (codec != LZ4_FRAME && codec != ZSTD))
		return nk_fail(err, NK_COMPUTE,
		               "Arrow buffers compressed with codec %lld, method %lld are not supported",
		               (long long)codec, (long long)method);
	return NK_OK;
}
