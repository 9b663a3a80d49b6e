/* Entries start as the rows of the column and are carried down the path to the leaf, one step at a time: what is null
 * or empty stays behind with the level it has reached, lists give an entry for each item. */
#include "io/parquet/nested_write.h"

#include <string.h>

#include "compute/select.h"

int nk__leaf_count(const nk_dtype *dtype)
{
	if (!nk_type_is_nested(dtype->id))
		return 1;
	int n = 0;
	for (int i = 0; i < dtype->n_fields; i++)
		n += nk__leaf_count(dtype->fields[i].dtype);
	return n;
}

static nk_status add_leaves(const nk_dtype *dtype, const nk_leaf *path, nk_leaf *out, int *n_out,
                            nk_error *err)
{
	nk_leaf here = *path;
	here.definition_max++;
	if (!nk_type_is_nested(dtype->id)) {
		here.dtype = dtype;
		NK_TRY(nk__parquet_stored(dtype, &here.stored, err));
		out[(*n_out)++] = here;
		return NK_OK;
	}
	if (dtype->n_fields == 0)
		return nk_fail(err, NK_INVALID_OPERATION, "a Struct without fields cannot be written to Parquet");
	if (here.n_path + 2 > NK_LEAF_PATH_MAX || here.n_steps == NK_LEAF_PATH_MAX)
		return nk_fail(err, NK_INVALID_OPERATION, "a column nested too deep for Parquet");
	bool is_list = dtype->physical == NK_PHYSICAL_LIST;
	if (is_list) {
		here.definition_max++;
		here.repetition_max++;
		here.path[here.n_path++] = "list";
	}
	int n_path = here.n_path++, n_steps = here.n_steps++;
	for (int i = 0; i < dtype->n_fields; i++) {
		here.path[n_path] = is_list ? "element" : dtype->fields[i].name;
		here.steps[n_steps] = i;
		NK_TRY(add_leaves(dtype->fields[i].dtype, &here, out, n_out, err));
	}
	return NK_OK;
}

nk_status nk__leaves_of(const nk_dtype *dtype, const char *name, int column, nk_leaf *out, int *n_out,
                        nk_error *err)
{
	nk_leaf root = {.column = column, .n_path = 1, .path = {name}};
	*n_out = 0;
	return add_leaves(dtype, &root, out, n_out, err);
}

void nk__leaf_entries_release(nk_leaf_entries *entries)
{
	nk_buffer_unref(entries->definitions);
	nk_buffer_unref(entries->repetitions);
	nk_array_unref(entries->values);
	*entries = (nk_leaf_entries){0};
}

/* Entries on their way down: at[e] is the row of the array they have come to, -1 where they stay behind. */
typedef struct travellers {
	nk_memory *memory;
	int64_t n;
	nk_buffer *definitions, *repetitions, *at;
} travellers;

static void travellers__auto(travellers *t)
{
	nk_buffer_unref(t->definitions);
	nk_buffer_unref(t->repetitions);
	nk_buffer_unref(t->at);
}

static nk_status travellers_room(travellers *t, int64_t n, nk_error *err)
{
	t->n = n;
	NK_TRY(nk_buffer_new(t->memory, n, &t->definitions, err));
	NK_TRY(nk_buffer_new(t->memory, n, &t->repetitions, err));
	return nk_buffer_new(t->memory, n * (int64_t)sizeof(int64_t), &t->at, err);
}

static int64_t *places(const travellers *t) { return (int64_t *)(void *)t->at->bytes; }

/* A level more for whoever stands at a value; the others stay behind. */
static void pass_valid(travellers *t, const nk_array *array)
{
	int64_t *at = places(t);
	for (int64_t e = 0; e < t->n; e++) {
		if (at[e] < 0)
			continue;
		if (nk_array_is_valid(array, at[e]))
			t->definitions->bytes[e]++;
		else
			at[e] = -1;
	}
}

/* Into the lists of an array, at list number `depth` of the path (from 1). */
static nk_status enter_lists(travellers *t, const nk_array *array, int depth, nk_error *err)
{
	const int64_t *offsets = array->values, *at = places(t);
	int64_t n = 0;
	for (int64_t e = 0; e < t->n; e++)
		n += at[e] < 0 ? 1 : NK_MAX(offsets[at[e] + 1] - offsets[at[e]], (int64_t)1);
	__attribute__((cleanup(travellers__auto))) travellers next = {.memory = t->memory};
	NK_TRY(travellers_room(&next, n, err));
	int64_t *to = places(&next), k = 0;
	for (int64_t e = 0; e < t->n; e++) {
		int64_t from = at[e] < 0 ? 0 : offsets[at[e]], n_items = at[e] < 0 ? 0 : offsets[at[e] + 1] - from;
		for (int64_t j = 0; j < NK_MAX(n_items, (int64_t)1); j++, k++) {
			next.definitions->bytes[k] = (uint8_t)(t->definitions->bytes[e] + (n_items > 0));
			next.repetitions->bytes[k] = j == 0 ? t->repetitions->bytes[e] : (uint8_t)depth;
			to[k] = n_items > 0 ? from + j : -1;
		}
	}
	travellers old = *t;
	*t = next;
	next = old;
	return NK_OK;
}

nk_status nk__leaf_entries_of(nk_memory *memory, const nk_leaf *leaf, nk_array *column, nk_leaf_entries *out,
                              nk_error *err)
{
	__attribute__((cleanup(travellers__auto))) travellers t = {.memory = memory};
	NK_TRY(travellers_room(&t, column->n_rows, err));
	memset(t.definitions->bytes, 0, (size_t)t.n);
	memset(t.repetitions->bytes, 0, (size_t)t.n);
	for (int64_t e = 0; e < t.n; e++)
		places(&t)[e] = e;
	const nk_array *array = column;
	int depth = 0;
	pass_valid(&t, array);
	for (int step = 0; step < leaf->n_steps; step++) {
		if (array->physical == NK_PHYSICAL_LIST)
			NK_TRY(enter_lists(&t, array, ++depth, err));
		array = array->children[leaf->steps[step]];
		pass_valid(&t, array);
	}
	int64_t *at = places(&t), n_values = 0;
	for (int64_t e = 0; e < t.n; e++)
		if (at[e] >= 0)
			at[n_values++] = at[e];
	nk_array *values;
	if (array->n_rows == 0)
		NK_TRY(nk_array_new_null(memory, array->dtype, 0, &values, err));
	else
		NK_TRY(nk_array_take_wide(memory, array, at, n_values, &values, err));
	nk_array *flat;
	nk_status status = nk_array_flatten(memory, values, &flat, err);
	nk_array_unref(values);
	NK_TRY(status);
	*out = (nk_leaf_entries){.n = t.n,
	                         .definitions = NK_STEAL(t.definitions),
	                         .repetitions = NK_STEAL(t.repetitions),
	                         .values = flat};
	return NK_OK;
}
