/* Values are decoded by the reader of flat columns, page by page, with the levels beside them; then one pass over a
 * leaf's levels per node makes the node's validity and offsets. A row group is put together at once, because entries
 * of a row are found by counting from the group's start only. */
#include "io/parquet/nested.h"

#include <stdlib.h>
#include <string.h>

typedef struct leaf_values {
	nk_column_reader reader;
	nk_array *array; /* owned; one row a slot */
} leaf_values;

struct nk_nested_reader {
	const nk_nested_node *root;
	nk_memory *memory;
	int n_leaves;
	leaf_values leaves[];
};

static const nk_nested_node *leaf_node(const nk_nested_node *node, int leaf)
{
	while (node->kind != NK_NESTED_LEAF) {
		int i = 0;
		while (i + 1 < node->n_children && leaf >= node->children[i + 1].first_leaf)
			i++;
		node = &node->children[i];
	}
	return node;
}

nk_status nk__nested_reader_new(const nk_nested_node *root, nk_memory *memory, nk_scan_counters *counters,
                                nk_nested_reader **out, nk_error *err)
{
	nk_nested_reader *reader = calloc(1, sizeof *reader + (size_t)root->n_leaves * sizeof reader->leaves[0]);
	if (!reader)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a nested column");
	reader->root = root;
	reader->memory = memory;
	reader->n_leaves = root->n_leaves;
	for (int i = 0; i < root->n_leaves; i++)
		nk__column_init(&reader->leaves[i].reader, &leaf_node(root, root->first_leaf + i)->plan, memory,
		                counters);
	*out = reader;
	return NK_OK;
}

void nk__nested_reader_free(nk_nested_reader *reader)
{
	if (!reader)
		return;
	for (int i = 0; i < reader->n_leaves; i++) {
		nk_array_unref(reader->leaves[i].array);
		nk__column_release(&reader->leaves[i].reader);
	}
	free(reader);
}

/* ---- Leaves ---- */

typedef struct piece_list {
	nk_array **arrays; /* owned */
	int n;
	int64_t capacity;
	nk_memory *memory;
} piece_list;

static void piece_list__auto(piece_list *p)
{
	for (int i = 0; i < p->n; i++)
		nk_array_unref(p->arrays[i]);
	nk_free(p->memory, p->arrays, p->capacity * (int64_t)sizeof *p->arrays);
}

nk_status nk__nested_read_leaf(nk_nested_reader *nested, int leaf, const nk_column_chunk *chunk,
                               nk_buffer *bytes, nk_error *err)
{
	leaf_values *values = &nested->leaves[leaf];
	nk_column_reader *reader = &values->reader;
	__attribute__((cleanup(piece_list__auto))) piece_list pieces = {.memory = nested->memory};
	nk_array_unref(values->array);
	values->array = NULL;
	NK_TRY(nk__column_start(reader, chunk, bytes, chunk->n_values, err));
	while (reader->n_rows_in_pages > 0) {
		NK_TRY(nk__page_next(reader, err));
		NK_TRY(nk__page_load(reader, err));
		if (reader->page.n_rows_left == 0)
			continue;
		NK_TRY(NK_GROW(nested->memory, &pieces.arrays, &pieces.capacity, pieces.n + 1, err));
		NK_TRY(nk__column_read(reader, reader->page.n_rows_left, NULL, 0, &pieces.arrays[pieces.n], err));
		pieces.n++;
	}
	if (pieces.n == 0)
		return nk_array_new_null(nested->memory, reader->plan->dtype, 0, &values->array, err);
	if (pieces.n == 1)
		return nk_array_flatten(nested->memory, pieces.arrays[0], &values->array, err);
	return nk_array_concat(nested->memory, pieces.arrays, pieces.n, &values->array, err);
}

/* ---- Putting together ---- */

static nk_status corrupt(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "corrupt levels: the parts of a nested column do not fit together");
}

/* A node's slots: entries of its first leaf that repeat no deeper and are defined as deep as these. */
typedef struct slots {
	int64_t n;
	int repetition, definition;
} slots;

static nk_status assemble(nk_nested_reader *reader, const nk_nested_node *node, slots at, nk_array **out,
                          nk_error *err);

static const nk_column_reader *levels_of(const nk_nested_reader *reader, const nk_nested_node *node)
{
	return &reader->leaves[node->first_leaf - reader->root->first_leaf].reader;
}

/* *out is NULL when no slot is null. */
static nk_status validity_of(nk_nested_reader *reader, const nk_nested_node *node, slots at, nk_buffer **out,
                             nk_error *err)
{
	const nk_column_reader *leaf = levels_of(reader, node);
	int64_t n = 0, n_valid = 0;
	NK_AUTO(nk_buffer) bits = NULL;
	NK_TRY(nk_buffer_new_zeroed(reader->memory, nk_bitmap_bytes(at.n), &bits, err));
	for (int64_t e = 0; e < leaf->n_levels; e++) {
		if (leaf->repetitions[e] > at.repetition || leaf->definitions[e] < at.definition)
			continue;
		if (n == at.n)
			return corrupt(err);
		bool valid = leaf->definitions[e] >= node->definition;
		bits->bytes[n >> 3] |= (uint8_t)(valid << (n & 7));
		n_valid += valid;
		n++;
	}
	if (n != at.n)
		return corrupt(err);
	*out = n_valid < n ? NK_STEAL(bits) : NULL;
	return NK_OK;
}

static nk_status assemble_list(nk_nested_reader *reader, const nk_nested_node *node, slots at, nk_array **out,
                               nk_error *err)
{
	const nk_column_reader *leaf = levels_of(reader, node);
	NK_AUTO(nk_buffer) offsets = NULL, *validity = NULL;
	NK_TRY(validity_of(reader, node, at, &validity, err));
	NK_TRY(nk_buffer_new(reader->memory, (at.n + 1) * (int64_t)sizeof(int64_t), &offsets, err));
	int64_t *to = (int64_t *)(void *)offsets->bytes, n = 0, n_items = 0;
	for (int64_t e = 0; e < leaf->n_levels; e++) {
		int repetition = leaf->repetitions[e], definition = leaf->definitions[e];
		if (repetition <= at.repetition && definition >= at.definition)
			to[n++] = n_items; /* validity_of has counted them */
		if (repetition <= node->item_repetition && definition >= node->item_definition) {
			if (n == 0)
				return corrupt(err);
			n_items++;
		}
	}
	to[n] = n_items;
	for (int64_t i = 0; node->dtype->id == NK_TYPE_ARRAY && i < at.n; i++)
		if (to[i + 1] - to[i] != node->dtype->width && (!validity || nk_bitmap_get(validity->bytes, i)))
			return nk_fail(err, NK_COMPUTE,
			               "an Array of width %lld has %lld items in row %lld of a row group",
			               (long long)node->dtype->width, (long long)(to[i + 1] - to[i]), (long long)i);
	nk_array *items = NULL;
	slots inner = {n_items, node->item_repetition, node->item_definition};
	NK_TRY(assemble(reader, &node->children[0], inner, &items, err));
	int64_t n_nulls = validity ? -1 : 0;
	return nk_array_new_list(node->dtype, at.n, NK_STEAL(offsets), items, NK_STEAL(validity), n_nulls, out,
	                         err);
}

static nk_status assemble_struct(nk_nested_reader *reader, const nk_nested_node *node, slots at,
                                 nk_array **out, nk_error *err)
{
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(validity_of(reader, node, at, &validity, err));
	nk_array **fields = calloc((size_t)node->n_children + 1, sizeof *fields);
	nk_status status = fields ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a Struct");
	int n = 0;
	for (; status == NK_OK && n < node->n_children; n++) {
		status = assemble(reader, &node->children[n], at, &fields[n], err);
		if (status != NK_OK)
			break;
	}
	int64_t n_nulls = validity ? -1 : 0;
	if (status == NK_OK)
		status = nk_array_new_struct(node->dtype, at.n, fields, NK_STEAL(validity), n_nulls, out, err);
	else
		for (int i = 0; i < n; i++)
			nk_array_unref(fields[i]);
	free(fields);
	return status;
}

/* Recursion is bounded by the depth that schemas may have. */
static nk_status assemble(nk_nested_reader *reader, const nk_nested_node *node, slots at, nk_array **out,
                          nk_error *err)
{
	switch (node->kind) {
	case NK_NESTED_LIST: return assemble_list(reader, node, at, out, err);
	case NK_NESTED_STRUCT: return assemble_struct(reader, node, at, out, err);
	case NK_NESTED_LEAF: break;
	}
	nk_array *array = reader->leaves[node->first_leaf - reader->root->first_leaf].array;
	if (!array || array->n_rows != at.n)
		return corrupt(err);
	return nk_array_flatten(reader->memory, array, out, err);
}

nk_status nk__nested_assemble(nk_nested_reader *reader, int64_t n_rows, nk_array **out, nk_error *err)
{
	NK_TRY(assemble(reader, reader->root, (slots){n_rows, 0, 0}, out, err));
	for (int i = 0; i < reader->n_leaves; i++) {
		nk_array_unref(reader->leaves[i].array);
		reader->leaves[i].array = NULL;
	}
	return NK_OK;
}
