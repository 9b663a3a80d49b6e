/* The sink: batches are gathered until they make a record batch, which is written at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/categories.h"
#include "io/ipc/body.h"
#include "io/ipc/ipc.h"
#include "io/ipc/schema_write.h"
#include "io/output.h"

enum { ROWS_DEFAULT = 122880, PIECES_AT_ONCE = 512 };
enum { HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };

static const char magic[8] = "ARROW1";

typedef struct written {
	int64_t offset, n_metadata, n_body;
} written;

typedef struct ipc_sink {
	nk_sink base;
	bool is_stream, uses_views;
	int64_t batch_rows;
	nk_memory *memory;
	nk_schema *schema;
	nk_ipc_body body;
	int64_t n_parts, parts_capacity, n_rows; /* gathered so far: n_parts arrays of each column */
	nk_array **parts;
	int64_t n_batches, batches_capacity;
	written *batches;
	int64_t n_categories; /* dictionaries, by id: their dtypes and how many texts of each are in the file */
	const nk_dtype **categories;
	int64_t *n_texts;
	int64_t n_dictionaries, dictionaries_capacity;
	written *dictionaries;
	char *path;
	nk_output *output; /* NULL: not open */
} ipc_sink;

static nk_status out_of_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow writer");
}

/* ---- Bytes ---- */

static nk_status put(ipc_sink *sink, const void *bytes, int64_t n, nk_error *err)
{
	return nk__output_put(sink->output, bytes, n, err);
}

static nk_status put_body(ipc_sink *sink, const nk_ipc_body *body, nk_error *err)
{
	static const char zeros[NK_IPC_ALIGNMENT];
	struct iovec pieces[PIECES_AT_ONCE];
	int n = 0;
	for (int64_t i = 0; i < body->n_buffers; i++) {
		const nk_ipc_piece *piece = &body->pieces[i];
		int64_t n_padding = -piece->n_bytes & (NK_IPC_ALIGNMENT - 1);
		if (piece->n_bytes > 0)
			pieces[n++] = (struct iovec){(void *)piece->bytes, (size_t)piece->n_bytes};
		if (n_padding > 0)
			pieces[n++] = (struct iovec){(void *)zeros, (size_t)n_padding};
		if (n > PIECES_AT_ONCE - 2) {
			NK_TRY(nk__output_put_pieces(sink->output, pieces, n, err));
			n = 0;
		}
	}
	return nk__output_put_pieces(sink->output, pieces, n, err);
}

/* ---- Messages ---- */

static int64_t begin_message(nk_text *text, int header, int64_t n_body)
{
	nk_fb_field fields[] = {{3, 8, n_body}, NK_FB_REFERENCE(2), {0, 2, NK_IPC_VERSION}, {1, 1, header}};
	nk__fb_begin(text);
	return nk__fb_put_table(text, fields, NK_COUNT(fields));
}

/* The metadata with their length, padded so that the body behind them is aligned in the file. */
static nk_status put_message(ipc_sink *sink, nk_text *text, int64_t *n_metadata, nk_error *err)
{
	enum { PREFIX = 8 };
	NK_TRY(nk_text_finish(text, err));
	int64_t n_padding =
		-(nk__output_position(sink->output) + PREFIX + text->n_bytes) & (NK_IPC_ALIGNMENT - 1);
	uint32_t prefix[2] = {UINT32_MAX, (uint32_t)(text->n_bytes + n_padding)};
	for (int64_t i = 0; i < n_padding; i++)
		nk_text_append_char(text, 0);
	NK_TRY(nk_text_finish(text, err));
	*n_metadata = PREFIX + text->n_bytes;
	NK_TRY(put(sink, prefix, PREFIX, err));
	return put(sink, text->bytes, text->n_bytes, err);
}

static nk_status put_schema(ipc_sink *sink, nk_error *err)
{
	NK_TEXT(text);
	int64_t n_metadata;
	nk__ipc_put_schema_message(&text, sink->schema, sink->uses_views);
	return put_message(sink, &text, &n_metadata, err);
}

/* A RecordBatch as field `field` of the table `owner`. */
static void describe_batch(const nk_ipc_body *body, int64_t n_rows, int64_t owner, int field, nk_text *text)
{
	enum { LZ4 = 0, ZSTD = 1, PAIR_BYTES = 16 };
	nk_fb_field fields[5] = {{0, 8, n_rows}, NK_FB_REFERENCE(1), NK_FB_REFERENCE(2)};
	int n_fields = 3;
	if (body->codec != NK_CODEC_NONE)
		fields[n_fields++] = NK_FB_REFERENCE(3);
	if (body->n_variadic > 0)
		fields[n_fields++] = NK_FB_REFERENCE(4);
	int64_t table = nk__fb_put_table(text, fields, n_fields);
	nk__fb_link(text, owner, field, table);
	int64_t nodes = nk__fb_put_vector(text, body->n_nodes, PAIR_BYTES, 8);
	nk__fb_link(text, table, 1, nodes);
	for (int64_t i = 0; i < body->n_nodes; i++) {
		nk__fb_set64(text, nodes + 4 + PAIR_BYTES * i, body->nodes[i].n_rows);
		nk__fb_set64(text, nodes + 12 + PAIR_BYTES * i, body->nodes[i].n_nulls);
	}
	int64_t buffers = nk__fb_put_vector(text, body->n_buffers, PAIR_BYTES, 8);
	nk__fb_link(text, table, 2, buffers);
	for (int64_t i = 0; i < body->n_buffers; i++) {
		nk__fb_set64(text, buffers + 4 + PAIR_BYTES * i, body->spans[i].offset);
		nk__fb_set64(text, buffers + 12 + PAIR_BYTES * i, body->spans[i].n_bytes);
	}
	if (body->codec != NK_CODEC_NONE) {
		nk_fb_field codec[] = {{0, 1, body->codec == NK_CODEC_ZSTD ? ZSTD : LZ4}, {1, 1, 0}};
		nk__fb_link(text, table, 3, nk__fb_put_table(text, codec, NK_COUNT(codec)));
	}
	if (body->n_variadic > 0) {
		int64_t counts = nk__fb_put_vector(text, body->n_variadic, 8, 8);
		nk__fb_link(text, table, 4, counts);
		for (int64_t i = 0; i < body->n_variadic; i++)
			nk__fb_set64(text, counts + 4 + 8 * i, body->variadic[i]);
	}
}

static nk_status put_batch(ipc_sink *sink, int64_t n_rows, nk_error *err)
{
	NK_TEXT(text);
	NK_TRY(NK_GROW(sink->memory, &sink->batches, &sink->batches_capacity, sink->n_batches + 1, err));
	written *batch = &sink->batches[sink->n_batches];
	*batch = (written){.offset = nk__output_position(sink->output), .n_body = sink->body.n_bytes};
	describe_batch(&sink->body, n_rows, begin_message(&text, HEADER_BATCH, sink->body.n_bytes), 2, &text);
	NK_TRY(put_message(sink, &text, &batch->n_metadata, err));
	NK_TRY(put_body(sink, &sink->body, err));
	sink->n_batches++;
	return NK_OK;
}

/* ---- Dictionaries ---- */

/* Texts of a dictionary from number `from` on; those that come later than others extend them. */
static nk_status put_texts(ipc_sink *sink, int64_t id, nk_array *texts, bool is_delta, nk_ipc_body *body,
                           nk_error *err)
{
	NK_TEXT(text);
	struct ArrowArray exported = {0};
	NK_TRY(NK_GROW(sink->memory, &sink->dictionaries, &sink->dictionaries_capacity, sink->n_dictionaries + 1,
	               err));
	NK_TRY(nk_array_to_arrow(sink->memory, texts, &exported, err));
	nk_status status = nk__ipc_body_add(body, &exported, texts->dtype, err);
	written *place = &sink->dictionaries[sink->n_dictionaries];
	if (status == NK_OK) {
		*place = (written){.offset = nk__output_position(sink->output), .n_body = body->n_bytes};
		int64_t message = begin_message(&text, HEADER_DICTIONARY, body->n_bytes);
		nk_fb_field fields[] = {{0, 8, id}, NK_FB_REFERENCE(1), {2, 1, is_delta}};
		int64_t table = nk__fb_put_table(&text, fields, NK_COUNT(fields));
		nk__fb_link(&text, message, 2, table);
		describe_batch(body, texts->n_rows, table, 1, &text);
		status = put_message(sink, &text, &place->n_metadata, err);
	}
	if (status == NK_OK)
		status = put_body(sink, body, err);
	sink->n_dictionaries += status == NK_OK;
	exported.release(&exported);
	return status;
}

/* What categories have gained since they were written last. */
static nk_status put_dictionaries(ipc_sink *sink, nk_error *err)
{
	for (int64_t id = 0; id < sink->n_categories; id++) {
		NK_AUTO(nk_array) texts = NULL;
		NK_AUTO(nk_array) new = NULL;
		NK_TRY(nk_categories_texts(sink->categories[id]->categories, &texts, err));
		bool is_delta = sink->n_texts[id] >= 0;
		int64_t from = is_delta ? sink->n_texts[id] : 0;
		if (is_delta && from == texts->n_rows)
			continue;
		NK_TRY(nk_array_slice(sink->memory, texts, from, texts->n_rows - from, &new, err));
		nk_ipc_body body = {
			.memory = sink->memory, .codec = sink->body.codec, .uses_views = sink->uses_views};
		nk_status status = put_texts(sink, id, new, is_delta, &body, err);
		nk__ipc_body_release(&body);
		NK_TRY(status);
		sink->n_texts[id] = texts->n_rows;
	}
	return NK_OK;
}

static nk_status put_footer(ipc_sink *sink, nk_error *err)
{
	enum { BLOCK_BYTES = 24 };
	NK_TEXT(text);
	nk_fb_field fields[] = {
		NK_FB_REFERENCE(1), NK_FB_REFERENCE(2), NK_FB_REFERENCE(3), {0, 2, NK_IPC_VERSION}};
	nk__fb_begin(&text);
	int64_t footer = nk__fb_put_table(&text, fields, NK_COUNT(fields));
	nk__fb_link(&text, footer, 1, nk__ipc_put_schema(&text, sink->schema, sink->uses_views));
	const written *const places[] = {sink->dictionaries, sink->batches};
	const int64_t counts[] = {sink->n_dictionaries, sink->n_batches};
	for (int k = 0; k < 2; k++) {
		int64_t blocks = nk__fb_put_vector(&text, counts[k], BLOCK_BYTES, 8);
		nk__fb_link(&text, footer, 2 + k, blocks);
		for (int64_t i = 0; i < counts[k]; i++) {
			int64_t place = blocks + 4 + BLOCK_BYTES * i;
			nk__fb_set64(&text, place, places[k][i].offset);
			nk__fb_set64(&text, place + 8, places[k][i].n_metadata);
			nk__fb_set64(&text, place + 16, places[k][i].n_body);
		}
	}
	NK_TRY(nk_text_finish(&text, err));
	uint32_t n = (uint32_t)text.n_bytes;
	NK_TRY(put(sink, text.bytes, text.n_bytes, err));
	NK_TRY(put(sink, &n, sizeof n, err));
	return put(sink, magic, 6, err);
}

/* ---- Record batches ---- */

static nk_array **parts_of(ipc_sink *sink, int column) { return sink->parts + column * sink->parts_capacity; }

static void drop_parts(ipc_sink *sink)
{
	for (int i = 0; i < sink->schema->n_fields; i++)
		for (int64_t k = 0; k < sink->n_parts; k++)
			nk_array_unref(parts_of(sink, i)[k]);
	sink->n_parts = sink->n_rows = 0;
}

static nk_status add_column(ipc_sink *sink, int i, struct ArrowArray *out, nk_error *err)
{
	NK_AUTO(nk_array) all = NULL;
	if (sink->n_parts == 1)
		all = nk_array_ref(*parts_of(sink, i));
	else
		NK_TRY(nk_array_concat(sink->memory, parts_of(sink, i), (int)sink->n_parts, &all, err));
	NK_TRY(nk_array_to_arrow(sink->memory, all, out, err));
	return nk__ipc_body_add(&sink->body, out, sink->schema->fields[i].dtype, err);
}

/* Write what was gathered as one record batch. */
static nk_status flush(ipc_sink *sink, nk_error *err)
{
	int n_columns = sink->schema->n_fields;
	struct ArrowArray *arrays = calloc((size_t)n_columns + 1, sizeof *arrays);
	if (!arrays)
		return out_of_memory(err);
	nk_status status = put_dictionaries(sink, err);
	for (int i = 0; status == NK_OK && i < n_columns; i++)
		status = add_column(sink, i, &arrays[i], err);
	if (status == NK_OK)
		status = put_batch(sink, sink->n_rows, err);
	nk__ipc_body_clear(&sink->body);
	for (int i = 0; i < n_columns; i++)
		if (arrays[i].release)
			arrays[i].release(&arrays[i]);
	free(arrays);
	drop_parts(sink);
	return status;
}

static nk_status make_room(ipc_sink *sink, nk_error *err)
{
	if (sink->n_parts < sink->parts_capacity)
		return NK_OK;
	int64_t capacity = NK_MAX(2 * sink->parts_capacity, (int64_t)16);
	nk_array **larger = calloc((size_t)(capacity * sink->schema->n_fields) + 1, sizeof(nk_array *));
	if (!larger)
		return out_of_memory(err);
	for (int i = 0; i < sink->schema->n_fields; i++)
		if (sink->n_parts > 0)
			memcpy(larger + i * capacity, parts_of(sink, i), (size_t)sink->n_parts * sizeof(nk_array *));
	free(sink->parts);
	sink->parts = larger;
	sink->parts_capacity = capacity;
	return NK_OK;
}

static nk_status sink_write(nk_sink *base, const nk_batch *batch, nk_error *err)
{
	ipc_sink *sink = (ipc_sink *)base;
	int64_t n_rows;
	for (int64_t row = 0; row < batch->n_rows; row += n_rows) {
		n_rows = NK_MIN(sink->batch_rows - sink->n_rows, batch->n_rows - row);
		NK_TRY(make_room(sink, err));
		for (int i = 0; i < sink->schema->n_fields; i++) {
			nk_array **part = &parts_of(sink, i)[sink->n_parts];
			nk_status status = nk_array_slice(sink->memory, batch->columns[i], row, n_rows, part, err);
			if (status != NK_OK) {
				while (i-- > 0)
					nk_array_unref(parts_of(sink, i)[sink->n_parts]);
				return status;
			}
		}
		sink->n_parts++;
		sink->n_rows += n_rows;
		if (sink->n_rows == sink->batch_rows)
			NK_TRY(flush(sink, err));
	}
	return NK_OK;
}

/* ---- The sink's functions ---- */

static nk_status sink_open(nk_sink *base, const nk_schema *schema, nk_memory *memory, nk_error *err)
{
	ipc_sink *sink = (ipc_sink *)base;
	sink->memory = sink->body.memory = nk_memory_ref(memory);
	NK_TRY(nk_schema_new(schema->fields, schema->n_fields, &sink->schema, err));
	size_t n = (size_t)nk__ipc_dictionaries(schema, NULL);
	sink->categories = calloc(n + 1, sizeof(nk_dtype *));
	sink->n_texts = malloc((n + 1) * sizeof *sink->n_texts);
	if (!sink->categories || !sink->n_texts)
		return out_of_memory(err);
	memset(sink->n_texts, 0xff, (n + 1) * sizeof *sink->n_texts); /* -1: none yet */
	sink->n_categories = nk__ipc_dictionaries(schema, sink->categories);
	NK_TRY(nk__output_open(sink->path, NK_OUTPUT_PLAIN, -1, &sink->output, err));
	if (!sink->is_stream)
		NK_TRY(put(sink, magic, sizeof magic, err));
	return put_schema(sink, err);
}

static nk_status sink_finish(nk_sink *base, nk_error *err)
{
	static const uint32_t end[2] = {UINT32_MAX, 0};
	ipc_sink *sink = (ipc_sink *)base;
	if (sink->n_rows > 0)
		NK_TRY(flush(sink, err));
	if (sink->n_batches == 0)
		NK_TRY(put_dictionaries(sink, err));
	NK_TRY(put(sink, end, sizeof end, err));
	if (!sink->is_stream)
		NK_TRY(put_footer(sink, err));
	return nk__output_finish(sink->output, err);
}

static void sink_free(nk_sink *base)
{
	ipc_sink *sink = (ipc_sink *)base;
	nk__output_free(sink->output);
	if (sink->schema)
		drop_parts(sink);
	nk__ipc_body_release(&sink->body);
	if (sink->memory) {
		nk_free(sink->memory, sink->batches, sink->batches_capacity * (int64_t)sizeof *sink->batches);
		nk_free(sink->memory, sink->dictionaries,
		        sink->dictionaries_capacity * (int64_t)sizeof *sink->dictionaries);
	}
	nk_memory_unref(sink->memory);
	nk_schema_unref(sink->schema);
	free(sink->categories);
	free(sink->n_texts);
	free(sink->parts);
	free(sink->path);
	free(sink);
}

static const nk_sink_ops sink_ops = {
	.open = sink_open, .write = sink_write, .finish = sink_finish, .free = sink_free};

static nk_status codec_of(const char *name, nk_codec *out, nk_error *err)
{
	*out = !name || strcmp(name, "uncompressed") == 0 ? NK_CODEC_NONE
	       : strcmp(name, "lz4") == 0                 ? NK_CODEC_LZ4_FRAME
	       : strcmp(name, "zstd") == 0                ? NK_CODEC_ZSTD
	                                                  : NK_CODEC_N;
	if (*out == NK_CODEC_N)
		return nk_fail(err, NK_VALUE, "compression must be one of uncompressed, lz4, zstd, got \"%s\"", name);
	return NK_OK;
}

nk_status nk_ipc_sink_new(const char *path, const nk_sink_ipc_options *options, nk_sink **out, nk_error *err)
{
	nk_sink_ipc_options none = NK_OPTIONS(nk_sink_ipc_options);
	options = options ? options : &none;
	ipc_sink *sink = calloc(1, sizeof *sink);
	if (!sink)
		return out_of_memory(err);
	sink->base.ops = &sink_ops;
	NK_AUTO(nk_sink) made = &sink->base;
	NK_TRY(codec_of(options->compression, &sink->body.codec, err));
	if (options->record_batch_rows < 0)
		return nk_fail(err, NK_VALUE, "a record batch cannot have %lld rows",
		               (long long)options->record_batch_rows);
	sink->is_stream = options->is_stream;
	sink->uses_views = sink->body.uses_views = !options->no_views;
	sink->batch_rows = options->record_batch_rows ? options->record_batch_rows : ROWS_DEFAULT;
	sink->path = strdup(path);
	if (!sink->path)
		return out_of_memory(err);
	*out = NK_STEAL(made);
	return NK_OK;
}
