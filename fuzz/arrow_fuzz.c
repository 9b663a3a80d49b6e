/* Arrow's C data: a type and an array of it are made of the input's bytes. Buffers have the sizes that the format says,
 * since nothing tells an importer otherwise; what is in them (offsets, codes, views, bits, counts of nulls) is anything.
 * The importer must refuse it or make an array that keeps every promise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nanuk.h"
#include "replay.h"

typedef struct input {
	const uint8_t *at, *end;
} input;

static uint8_t next_byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

/* Everything that a type or an array owns, freed by its release. */
typedef struct owned {
	char format[64], name[8];
	struct ArrowSchema *schemas[4], *dictionary_schema;
	struct ArrowArray *arrays[4], *dictionary_array;
	const void *buffers[5];
} owned;

static void schema_release(struct ArrowSchema *schema)
{
	owned *mine = schema->private_data;
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	if (schema->dictionary) {
		if (schema->dictionary->release)
			schema->dictionary->release(schema->dictionary);
		free(schema->dictionary);
	}
	free(mine);
	schema->release = NULL;
}

static void array_release(struct ArrowArray *array)
{
	owned *mine = array->private_data;
	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	if (array->dictionary) {
		if (array->dictionary->release)
			array->dictionary->release(array->dictionary);
		free(array->dictionary);
	}
	for (int i = 0; i < 5; i++)
		free((void *)mine->buffers[i]);
	free(mine);
	array->release = NULL;
}

/* Format, and bytes of a value in each buffer after the validity: 0 bits, negative: offsets of so many bytes. */
typedef struct kind {
	const char *format;
	int width, n_buffers, n_children;
} kind;

static const kind kinds[] = {
	{"n", 0, 0, 0},    {"b", 0, 2, 0},       {"c", 1, 2, 0},       {"C", 1, 2, 0},       {"s", 2, 2, 0},
	{"i", 4, 2, 0},    {"I", 4, 2, 0},       {"l", 8, 2, 0},       {"L", 8, 2, 0},       {"e", 2, 2, 0},
	{"f", 4, 2, 0},    {"g", 8, 2, 0},       {"u", -4, 3, 0},      {"U", -8, 3, 0},      {"z", -4, 3, 0},
	{"vu", 16, 4, 0},  {"vz", 16, 4, 0},     {"w:3", 3, 2, 0},     {"tdD", 4, 2, 0},     {"tdm", 8, 2, 0},
	{"ttn", 8, 2, 0},  {"tsu:UTC", 8, 2, 0}, {"tDn", 8, 2, 0},     {"+l", -4, 2, 1},     {"+L", -8, 2, 1},
	{"+w:2", 0, 1, 1}, {"+s", 0, 1, 2},      {"d:10,2", 16, 2, 0}, {"d:40,2", 16, 2, 0}, {"+m", -4, 2, 1},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds, ITEMS_MAX = 24, SLACK = 64 };

static void *filled(input *in, size_t n_bytes)
{
	uint8_t *bytes = malloc(n_bytes + !n_bytes);
	for (size_t i = 0; i < n_bytes; i++)
		bytes[i] = next_byte(in);
	return bytes;
}

/* Mostly ascending, so that more than the first check is reached. */
static void *offsets(input *in, int64_t n, int width, int64_t *last)
{
	uint8_t *bytes = malloc((size_t)((n + 1) * width));
	int64_t at = 0;
	for (int64_t i = 0; i <= n; i++) {
		uint8_t step = next_byte(in);
		at = step == 255 ? (int64_t)(int8_t)next_byte(in) : at + (step & 3);
		memcpy(bytes + i * width, &at, (size_t)width);
	}
	*last = at < 0 ? 0 : at;
	return bytes;
}

static void make(input *in, int depth, int64_t n_rows, struct ArrowSchema *schema, struct ArrowArray *array)
{
	const kind *of = &kinds[next_byte(in) % N_KINDS];
	while (of->n_children && depth >= 3)
		of = &kinds[next_byte(in) % N_KINDS];
	owned *types = calloc(1, sizeof *types), *data = calloc(1, sizeof *data);
	uint8_t flags = next_byte(in);
	int64_t offset = flags & 1 ? next_byte(in) % 9 : 0, n = n_rows + offset, n_items = n;
	strcpy(types->format, of->format);
	types->name[0] = (char)('a' + depth);
	*schema = (struct ArrowSchema){.format = types->format,
	                               .name = types->name,
	                               .flags = flags & 2 ? ARROW_FLAG_NULLABLE : 0,
	                               .n_children = of->n_children,
	                               .children = types->schemas,
	                               .release = schema_release,
	                               .private_data = types};
	*array = (struct ArrowArray){.length = n_rows,
	                             .offset = offset,
	                             .null_count = flags & 4   ? -1
	                                           : flags & 8 ? next_byte(in) % 9
	                                                       : 0,
	                             .n_buffers = of->n_buffers,
	                             .buffers = data->buffers,
	                             .n_children = of->n_children,
	                             .children = data->arrays,
	                             .release = array_release,
	                             .private_data = data};
	if (of->n_buffers && flags & 16)
		data->buffers[0] = filled(in, (size_t)(n + 7) / 8);
	if (of->width < 0)
		data->buffers[1] = offsets(in, n, -of->width, &n_items);
	else if (of->n_buffers > 1)
		data->buffers[1] = filled(in, of->width ? (size_t)(n * of->width) : (size_t)(n + 7) / 8);
	if (of->n_buffers == 3) {
		data->buffers[2] = filled(in, (size_t)n_items);
	} else if (of->n_buffers == 4) {
		int64_t n_heap = next_byte(in) % SLACK;
		data->buffers[2] = filled(in, (size_t)n_heap);
		data->buffers[3] = malloc(8);
		memcpy((void *)data->buffers[3], &n_heap, 8);
	}
	if (of->format[0] == '+' && of->format[1] == 'w')
		n_items = 2 * n;
	for (int i = 0; i < of->n_children; i++) {
		types->schemas[i] = calloc(1, sizeof(struct ArrowSchema));
		data->arrays[i] = calloc(1, sizeof(struct ArrowArray));
		make(in, depth + 1, n_items, types->schemas[i], data->arrays[i]);
	}
	bool is_index = of->n_buffers == 2 && of->width > 0 && of->width <= 8 && strchr("cCsiIlL", of->format[0]);
	if (is_index && flags & 32 && depth < 3) {
		types->dictionary_schema = calloc(1, sizeof(struct ArrowSchema));
		data->dictionary_array = calloc(1, sizeof(struct ArrowArray));
		make(in, depth + 1, next_byte(in) % ITEMS_MAX, types->dictionary_schema, data->dictionary_array);
		schema->dictionary = types->dictionary_schema;
		array->dictionary = data->dictionary_array;
	}
}

typedef struct stream_state {
	struct ArrowSchema schema;
	struct ArrowArray array;
	bool is_done;
} stream_state;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	stream_state *state = stream->private_data;
	*out = state->schema;
	state->schema.release = NULL;
	return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	stream_state *state = stream->private_data;
	*out = state->array;
	if (state->is_done)
		out->release = NULL;
	state->is_done = true;
	state->array.release = NULL;
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return NULL;
}

static void release(struct ArrowArrayStream *stream)
{
	stream_state *state = stream->private_data;
	if (state->schema.release)
		state->schema.release(&state->schema);
	if (state->array.release)
		state->array.release(&state->array);
	stream->release = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	input in = {bytes, bytes + n_bytes};
	stream_state state = {0};
	make(&in, 0, next_byte(&in) % ITEMS_MAX, &state.schema, &state.array);
	struct ArrowArrayStream stream = {.get_schema = get_schema,
	                                  .get_next = get_next,
	                                  .get_last_error = get_last_error,
	                                  .release = release,
	                                  .private_data = &state};
	nk_series *series;
	nk_frame *frame;
	nk_error err = {0};
	char *text;
	if (nk_series_import(&stream, &series, &err) != NK_OK)
		return 0;
	if (nk_frame_from_series(&series, 1, 0, &frame, &err) == NK_OK) {
		if (nk_frame_to_text(frame, NULL, &text, &err) == NK_OK)
			nk_text_free(text);
		struct ArrowArrayStream out;
		if (nk_frame_export(frame, &out, &err) == NK_OK) {
			nk_frame *again;
			if (nk_frame_import(&out, &again, &err) != NK_OK)
				abort();
			nk_frame_unref(again);
		}
		nk_frame_unref(frame);
	}
	nk_series_unref(series);
	return 0;
}
