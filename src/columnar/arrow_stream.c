/* Frames and columns through the Arrow C stream interface, both ways. A frame's fields travel as children of struct
 * arrays; coming in, the children are moved out and imported one by one, so that no struct type is made (and
 * interned) for every schema. An exported stream has a batch wherever a chunk of any column ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/arrow.h"

/* ---- Import ---- */

typedef struct incoming {
	struct ArrowArrayStream *stream; /* borrowed until released by incoming_release */
	struct ArrowSchema schema;
	struct ArrowArray array;
	nk_array **chunks; /* n_columns a batch */
	int64_t n_chunks, capacity;
	int n_columns;
	int64_t n_rows;
} incoming;

static void incoming_release(incoming *in)
{
	for (int64_t i = 0; i < in->n_chunks; i++)
		nk_array_unref(in->chunks[i]);
	free(in->chunks);
	if (in->array.release)
		in->array.release(&in->array);
	if (in->schema.release)
		in->schema.release(&in->schema);
	if (in->stream->release)
		in->stream->release(in->stream);
}

static nk_status stream_fail(const incoming *in, int code, nk_error *err)
{
	const char *message = in->stream->get_last_error(in->stream);
	return nk_fail(err, code == ENOMEM ? NK_OUT_OF_MEMORY : NK_COMPUTE, "an Arrow stream failed: %s",
	               message ? message : strerror(code));
}

static nk_status open_stream(incoming *in, nk_error *err)
{
	int code = in->stream->get_schema(in->stream, &in->schema);
	return code ? stream_fail(in, code, err) : NK_OK;
}

/* The next array into in->array; its release is NULL at the end. */
static nk_status next_array(incoming *in, nk_error *err)
{
	int code = in->stream->get_next(in->stream, &in->array);
	if (code) {
		in->array.release = NULL;
		return stream_fail(in, code, err);
	}
	return NK_OK;
}

static nk_status make_room(incoming *in, nk_error *err)
{
	int64_t n_wanted = in->n_chunks + in->n_columns;
	if (n_wanted <= in->capacity)
		return NK_OK;
	int64_t capacity = NK_MAX(n_wanted, in->capacity * 2);
	nk_array **larger = realloc(in->chunks, (size_t)capacity * sizeof *larger);
	if (!larger)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %lld chunks", (long long)n_wanted);
	in->chunks = larger;
	in->capacity = capacity;
	return NK_OK;
}

/* Field i of the struct array in->array, whose own offset and length select rows of it. */
static nk_status import_field(nk_memory *memory, incoming *in, int i, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) whole = NULL;
	struct ArrowArray child = *in->array.children[i];
	in->array.children[i]->release = NULL;
	NK_TRY(nk_array_from_arrow(memory, &child, in->schema.children[i], &whole, err));
	if (in->array.offset < 0 || in->array.length < 0 || in->array.offset + in->array.length > whole->n_rows)
		return nk_fail(err, NK_COMPUTE, "an invalid Arrow array: a child is too short");
	return nk_array_slice(memory, whole, in->array.offset, in->array.length, out, err);
}

static nk_status import_fields(nk_memory *memory, incoming *in, nk_error *err)
{
	if (in->array.n_children != in->n_columns)
		return nk_fail(err, NK_COMPUTE, "an Arrow array of %lld columns where the schema has %d",
		               (long long)in->array.n_children, in->n_columns);
	NK_TRY(make_room(in, err));
	for (int i = 0; i < in->n_columns; i++) {
		NK_TRY(import_field(memory, in, i, &in->chunks[in->n_chunks], err));
		in->n_chunks++;
	}
	in->n_rows += in->array.length;
	in->array.release(&in->array);
	return NK_OK;
}

/* Column i of all batches; an empty one when there was no batch. */
static nk_status collect_column(nk_memory *memory, const incoming *in, int i, const nk_dtype *dtype,
                                nk_column **out, nk_error *err)
{
	int n_batches = in->n_columns ? (int)(in->n_chunks / in->n_columns) : 0;
	if (n_batches == 0) {
		NK_AUTO(nk_array) empty = NULL;
		NK_TRY(nk_array_new_null(memory, dtype, 0, &empty, err));
		return nk_column_from_array(memory, empty, out, err);
	}
	nk_array **chunks = malloc((size_t)n_batches * sizeof *chunks);
	if (!chunks)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for %d chunks", n_batches);
	for (int b = 0; b < n_batches; b++)
		chunks[b] = in->chunks[(int64_t)b * in->n_columns + i];
	nk_status status = nk_column_new(memory, chunks, n_batches, out, err);
	free(chunks);
	return status;
}

static nk_status read_schema(const struct ArrowSchema *from, nk_schema **out, nk_error *err)
{
	int n_fields = (int)from->n_children;
	nk_field *fields = calloc((size_t)NK_MAX(n_fields, 1), sizeof *fields);
	if (!fields)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a schema of %d fields", n_fields);
	nk_status status = NK_OK;
	for (int i = 0; i < n_fields && status == NK_OK; i++) {
		fields[i].name = from->children[i]->name ? from->children[i]->name : "";
		status = nk_dtype_from_arrow(from->children[i], &fields[i].dtype, err);
		if (status != NK_OK)
			nk_error_context(err, status, "column '%s'", fields[i].name);
	}
	if (status == NK_OK)
		status = nk_schema_new(fields, n_fields, out, err);
	free(fields);
	return status;
}

nk_status nk_frame_from_arrow(nk_memory *memory, struct ArrowArrayStream *stream, nk_frame **out,
                              nk_error *err)
{
	__attribute__((cleanup(incoming_release))) incoming in = {.stream = stream};
	NK_AUTO(nk_schema) schema = NULL;
	NK_TRY(open_stream(&in, err));
	if (!in.schema.format || strcmp(in.schema.format, "+s") != 0 || in.schema.n_children > INT32_MAX)
		return nk_fail(err, NK_SCHEMA_MISMATCH,
		               "a frame is made from an Arrow stream of structs, not of \"%s\"",
		               in.schema.format ? in.schema.format : "");
	NK_TRY(read_schema(&in.schema, &schema, err));
	in.n_columns = schema->n_fields;
	for (;;) {
		NK_TRY(next_array(&in, err));
		if (!in.array.release)
			break;
		NK_TRY(import_fields(memory, &in, err));
	}
	nk_column **columns = calloc((size_t)NK_MAX(in.n_columns, 1), sizeof *columns);
	if (!columns)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a frame of %d columns", in.n_columns);
	nk_status status = NK_OK;
	for (int i = 0; i < in.n_columns && status == NK_OK; i++)
		status = collect_column(memory, &in, i, schema->fields[i].dtype, &columns[i], err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, in.n_rows, out, err);
	for (int i = 0; i < in.n_columns; i++)
		nk_column_unref(columns[i]);
	free(columns);
	return status;
}

nk_status nk_column_from_arrow(nk_memory *memory, struct ArrowArrayStream *stream, const char **name_out,
                               nk_column **out, nk_error *err)
{
	__attribute__((cleanup(incoming_release))) incoming in = {.stream = stream, .n_columns = 1};
	const nk_dtype *dtype;
	NK_TRY(open_stream(&in, err));
	NK_TRY(nk_dtype_from_arrow(&in.schema, &dtype, err));
	for (;;) {
		NK_TRY(next_array(&in, err));
		if (!in.array.release)
			break;
		NK_TRY(make_room(&in, err));
		NK_TRY(nk_array_from_arrow(memory, &in.array, &in.schema, &in.chunks[in.n_chunks], err));
		in.n_chunks++;
	}
	char *name = strdup(in.schema.name ? in.schema.name : "");
	if (!name)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column's name");
	nk_status status = collect_column(memory, &in, 0, dtype, out, err);
	if (status == NK_OK)
		*name_out = name;
	else
		free(name);
	return status;
}

/* ---- Export ---- */

/* Of a frame or of one column. Place of column i: chunk chunks[i], row rows[i] in it. */
typedef struct outgoing {
	nk_memory *memory;
	nk_frame *frame;
	nk_column *column;
	char *name;
	int64_t n_rows_done;
	bool done;
	nk_error error;
	struct place {
		int chunk;
		int64_t row;
	} places[];
} outgoing;

static void release_stream(struct ArrowArrayStream *stream)
{
	outgoing *from = stream->private_data;
	nk_frame_unref(from->frame);
	nk_column_unref(from->column);
	nk_memory_unref(from->memory);
	free(from->name);
	free(from);
	stream->release = NULL;
}

static int code_of(nk_status status)
{
	return status == NK_OK ? 0 : status == NK_OUT_OF_MEMORY ? ENOMEM : EINVAL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	outgoing *from = stream->private_data;
	return code_of(from->frame ? nk_schema_to_arrow(from->frame->schema, out, &from->error)
	                           : nk_dtype_to_arrow(from->column->dtype, from->name, out, &from->error));
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	outgoing *from = stream->private_data;
	return from->error.message[0] ? from->error.message : NULL;
}

typedef struct exported_frame {
	struct ArrowArray **pointers;
	const void *no_validity;
	struct ArrowArray children[];
} exported_frame;

static void release_frame_array(struct ArrowArray *array)
{
	exported_frame *owned = array->private_data;
	for (int64_t i = 0; i < array->n_children; i++)
		if (owned->children[i].release)
			owned->children[i].release(&owned->children[i]);
	free(owned->pointers);
	free(owned);
	array->release = NULL;
}

/* Rows up to the nearest end of a chunk. */
static nk_status next_rows(outgoing *from, struct ArrowArray *out, nk_error *err)
{
	nk_frame *frame = from->frame;
	int n_columns = frame->schema->n_fields;
	int64_t n_rows = frame->height - from->n_rows_done;
	for (int i = 0; i < n_columns; i++) {
		struct place *place = &from->places[i];
		while (place->row == frame->columns[i]->chunks[place->chunk]->n_rows && n_rows > 0)
			*place = (struct place){.chunk = place->chunk + 1};
		n_rows = NK_MIN(n_rows, frame->columns[i]->chunks[place->chunk]->n_rows - place->row);
	}
	exported_frame *owned = calloc(1, sizeof *owned + (size_t)n_columns * sizeof(struct ArrowArray));
	if (!owned)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow array");
	struct ArrowArray result = {.length = n_rows,
	                            .n_buffers = 1,
	                            .buffers = &owned->no_validity,
	                            .release = release_frame_array,
	                            .private_data = owned};
	owned->pointers = calloc((size_t)NK_MAX(n_columns, 1), sizeof *owned->pointers);
	nk_status status =
		owned->pointers ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow array");
	result.children = owned->pointers;
	for (int i = 0; i < n_columns && status == NK_OK; i++) {
		struct place *place = &from->places[i];
		NK_AUTO(nk_array) slice = NULL;
		owned->pointers[i] = &owned->children[i];
		status = nk_array_slice(from->memory, frame->columns[i]->chunks[place->chunk], place->row, n_rows,
		                        &slice, err);
		if (status == NK_OK)
			status = nk_array_to_arrow(from->memory, slice, &owned->children[i], err);
		result.n_children = i + 1;
	}
	if (status != NK_OK) {
		release_frame_array(&result);
		return status;
	}
	for (int i = 0; i < n_columns; i++)
		from->places[i].row += n_rows;
	from->n_rows_done += n_rows;
	from->done = from->n_rows_done == frame->height;
	*out = result;
	return NK_OK;
}

static nk_status next_chunk(outgoing *from, struct ArrowArray *out, nk_error *err)
{
	NK_TRY(nk_array_to_arrow(from->memory, from->column->chunks[from->places[0].chunk], out, err));
	from->places[0].chunk++;
	from->done = from->places[0].chunk == from->column->n_chunks;
	return NK_OK;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	outgoing *from = stream->private_data;
	if (from->done) {
		out->release = NULL;
		return 0;
	}
	return code_of(from->frame ? next_rows(from, out, &from->error) : next_chunk(from, out, &from->error));
}

static nk_status stream_new(nk_memory *memory, int n_columns, struct ArrowArrayStream *out, nk_error *err)
{
	outgoing *from = calloc(1, sizeof *from + (size_t)NK_MAX(n_columns, 1) * sizeof(struct place));
	if (!from)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an Arrow stream");
	from->memory = nk_memory_ref(memory);
	*out = (struct ArrowArrayStream){.get_schema = get_schema,
	                                 .get_next = get_next,
	                                 .get_last_error = get_last_error,
	                                 .release = release_stream,
	                                 .private_data = from};
	return NK_OK;
}

nk_status nk_frame_to_arrow(nk_memory *memory, nk_frame *frame, struct ArrowArrayStream *out, nk_error *err)
{
	struct ArrowArrayStream stream = {0};
	NK_TRY(stream_new(memory, frame->schema->n_fields, &stream, err));
	((outgoing *)stream.private_data)->frame = nk_frame_ref(frame);
	*out = stream;
	return NK_OK;
}

nk_status nk_column_to_arrow(nk_memory *memory, nk_column *column, const char *name,
                             struct ArrowArrayStream *out, nk_error *err)
{
	struct ArrowArrayStream stream = {0};
	NK_TRY(stream_new(memory, 1, &stream, err));
	outgoing *from = stream.private_data;
	from->column = nk_column_ref(column);
	from->name = strdup(name ? name : "");
	if (!from->name) {
		release_stream(&stream);
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a column's name");
	}
	*out = stream;
	return NK_OK;
}
