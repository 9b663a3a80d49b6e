/* One pass per key column. A dictionary is hashed once and its hashes gathered by code; a constant is hashed
 * once and spread. Lists fold the hashes of their items in order, structs those of their fields. */
#include "compute/hash.h"

#include "base/hash.h"
#include "compute/hash_loops.h"

static void put(uint64_t *hashes, int64_t i, uint64_t hash, bool combine)
{
	hashes[i] = combine ? nk_hash_combine(hashes[i], hash) : hash;
}

static void hash_views(const nk_array *array, int64_t n_rows, uint64_t *hashes, bool combine)
{
	const nk_view *views = array->values;
	for (int64_t i = 0; i < n_rows; i++) {
		uint64_t hash = NK_HASH_NULL;
		if (!array->validity || nk_bitmap_get(array->validity, i))
			hash = nk_hash_bytes(nk_view_bytes(&views[i], array->heap), views[i].n_bytes);
		put(hashes, i, hash, combine);
	}
}

static void hash_bits(const nk_array *array, int64_t n_rows, uint64_t *hashes, bool combine)
{
	for (int64_t i = 0; i < n_rows; i++) {
		uint64_t hash = NK_HASH_NULL;
		if (!array->validity || nk_bitmap_get(array->validity, i))
			hash = nk_hash_u64(nk_bitmap_get(array->values, i));
		put(hashes, i, hash, combine);
	}
}

/* Hashes of all rows of `of`, in fresh memory that the caller frees with nk_free(8 bytes a row). */
static nk_status hash_apart(nk_memory *memory, const nk_array *of, uint64_t **out, nk_error *err)
{
	void *block = NULL;
	NK_TRY(nk_alloc(memory, of->n_rows * (int64_t)sizeof **out, &block, err));
	nk_status status = nk_hash_array(memory, of, of->n_rows, block, false, err);
	if (status != NK_OK) {
		nk_free(memory, block, of->n_rows * (int64_t)sizeof **out);
		return status;
	}
	*out = block;
	return NK_OK;
}

static nk_status hash_list(nk_memory *memory, const nk_array *array, int64_t n_rows, uint64_t *hashes,
                           bool combine, nk_error *err)
{
	const nk_array *items = array->children[0];
	const int64_t *offsets = array->values;
	uint64_t *known = NULL;
	NK_TRY(hash_apart(memory, items, &known, err));
	for (int64_t i = 0; i < n_rows; i++) {
		uint64_t hash = NK_HASH_NULL;
		if (!array->validity || nk_bitmap_get(array->validity, i)) {
			hash = nk_hash_u64((uint64_t)(offsets[i + 1] - offsets[i]));
			for (int64_t j = offsets[i]; j < offsets[i + 1]; j++)
				hash = nk_hash_combine(hash, known[j]);
		}
		put(hashes, i, hash, combine);
	}
	nk_free(memory, known, items->n_rows * (int64_t)sizeof *known);
	return NK_OK;
}

static nk_status hash_struct(nk_memory *memory, const nk_array *array, int64_t n_rows, uint64_t *hashes,
                             bool combine, nk_error *err)
{
	void *block = NULL;
	int64_t n_bytes = n_rows * (int64_t)sizeof(uint64_t);
	NK_TRY(nk_alloc(memory, n_bytes, &block, err));
	uint64_t *own = block;
	nk_status status = NK_OK;
	for (int64_t i = 0; i < n_rows; i++)
		own[i] = NK_HASH_SEED;
	for (int i = 0; i < array->n_children && status == NK_OK; i++)
		status = nk_hash_array(memory, array->children[i], n_rows, own, true, err);
	for (int64_t i = 0; i < n_rows && status == NK_OK; i++) {
		bool valid = !array->validity || nk_bitmap_get(array->validity, i);
		put(hashes, i, valid ? own[i] : NK_HASH_NULL, combine);
	}
	nk_free(memory, block, n_bytes);
	return status;
}

static nk_status hash_flat(nk_memory *memory, const nk_array *array, int64_t n_rows, uint64_t *hashes,
                           bool combine, nk_error *err)
{
	switch (array->physical) {
	case NK_PHYSICAL_NONE:
		for (int64_t i = 0; i < n_rows; i++)
			put(hashes, i, NK_HASH_NULL, combine);
		return NK_OK;
	case NK_PHYSICAL_BOOL: hash_bits(array, n_rows, hashes, combine); return NK_OK;
	case NK_PHYSICAL_VIEW: hash_views(array, n_rows, hashes, combine); return NK_OK;
	case NK_PHYSICAL_LIST: return hash_list(memory, array, n_rows, hashes, combine, err);
	case NK_PHYSICAL_STRUCT: return hash_struct(memory, array, n_rows, hashes, combine, err);
	default:
		NK_ISA_TABLE(nk__hash)->fixed[array->physical](array->values, array->validity, n_rows, hashes,
		                                               combine);
		return NK_OK;
	}
}

nk_status nk_hash_array(nk_memory *memory, const nk_array *array, int64_t n_rows, uint64_t *hashes,
                        bool combine, nk_error *err)
{
	if (n_rows == 0)
		return NK_OK;
	if (array->encoding == NK_CONSTANT) {
		uint64_t one = 0;
		NK_TRY(hash_flat(memory, array, 1, &one, false, err));
		for (int64_t i = 0; i < n_rows; i++)
			put(hashes, i, one, combine);
		return NK_OK;
	}
	if (array->encoding == NK_DICTIONARY && array->dictionary->n_rows > n_rows) {
		NK_AUTO(nk_array) flat = NULL;
		NK_TRY(nk_array_flatten(memory, (nk_array *)array, &flat, err));
		return hash_flat(memory, flat, n_rows, hashes, combine, err);
	}
	if (array->encoding == NK_DICTIONARY) {
		uint64_t *known = NULL;
		NK_TRY(hash_apart(memory, array->dictionary, &known, err));
		NK_ISA_TABLE(nk__hash)->gather(known, array->values, array->validity, n_rows, hashes, combine);
		nk_free(memory, known, array->dictionary->n_rows * (int64_t)sizeof *known);
		return NK_OK;
	}
	return hash_flat(memory, array, n_rows, hashes, combine, err);
}
