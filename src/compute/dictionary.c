/* Files give each row group a dictionary of its own, all of much the same entries. What gathers rows of many groups keeps
 * them as codes when that is cheap: entries are looked up once a dictionary, in a group table whose groups are the new
 * codes. */
#include "compute/dictionary.h"

#include "compute/group_table.h"

enum { ROWS_PER_ENTRY = 4 }; /* that there must be at least, for codes to pay */

/* Whether all are codes, and into how few entries: counted once a run of one dictionary. */
static bool pays(nk_array *const *arrays, int n_arrays)
{
	int64_t n_rows = 0, n_entries = 0;
	for (int i = 0; i < n_arrays; i++) {
		if (arrays[i]->physical != NK_PHYSICAL_VIEW || arrays[i]->encoding != NK_DICTIONARY)
			return false;
		n_rows += arrays[i]->n_rows;
		if (i == 0 || arrays[i]->dictionary != arrays[i - 1]->dictionary)
			n_entries += arrays[i]->dictionary->n_rows;
	}
	return n_entries > 0 && n_entries <= n_rows / ROWS_PER_ENTRY;
}

/* New codes of an array's rows; codes under nulls are 0. */
static void recode(const nk_array *array, const uint32_t *map, uint32_t *out)
{
	const uint32_t *codes = array->values;
	if (!array->validity)
		for (int64_t i = 0; i < array->n_rows; i++)
			out[i] = map[codes[i]];
	else
		for (int64_t i = 0; i < array->n_rows; i++)
			out[i] = nk_bitmap_get(array->validity, i) ? map[codes[i]] : 0;
}

static nk_status join_validity(nk_memory *memory, nk_array *const *arrays, int n_arrays, int64_t n_rows,
                               nk_buffer **out, nk_error *err)
{
	bool any = false;
	*out = NULL;
	for (int i = 0; i < n_arrays; i++)
		any |= arrays[i]->validity != NULL;
	if (!any)
		return NK_OK;
	NK_TRY(nk_buffer_new_zeroed(memory, nk_bitmap_bytes(n_rows), out, err));
	int64_t at = 0;
	for (int i = 0; i < n_arrays; at += arrays[i++]->n_rows) {
		if (arrays[i]->validity)
			nk_bitmap_paste((*out)->bytes, at, arrays[i]->validity, arrays[i]->n_rows);
		else
			nk_bitmap_fill((*out)->bytes, at, arrays[i]->n_rows, true);
	}
	return NK_OK;
}

nk_status nk_concat_coded(nk_memory *memory, nk_array *const *arrays, int n_arrays, nk_array **out,
                          nk_error *err)
{
	if (!pays(arrays, n_arrays))
		return nk_array_concat(memory, arrays, n_arrays, out, err);
	int64_t n_rows = 0, n_entries_max = 0;
	for (int i = 0; i < n_arrays; i++) {
		n_rows += arrays[i]->n_rows;
		n_entries_max = NK_MAX(n_entries_max, arrays[i]->dictionary->n_rows);
	}
	NK_AUTO(nk_group_table) entries = NULL;
	NK_AUTO(nk_buffer) codes = NULL;
	NK_AUTO(nk_buffer) map = NULL;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(nk_group_table_new(memory, &arrays[0]->dtype, 1, n_entries_max, &entries, err));
	NK_TRY(nk_buffer_new(memory, n_rows * (int64_t)sizeof(uint32_t), &codes, err));
	NK_TRY(nk_buffer_new(memory, n_entries_max * (int64_t)sizeof(uint32_t), &map, err));
	uint32_t *to = (uint32_t *)(void *)codes->bytes;
	for (int i = 0; i < n_arrays; to += arrays[i++]->n_rows) {
		nk_array *dictionary = arrays[i]->dictionary;
		if (i == 0 || dictionary != arrays[i - 1]->dictionary)
			NK_TRY(nk_group_table_insert(entries, &dictionary, dictionary->n_rows,
			                             (uint32_t *)(void *)map->bytes, err));
		recode(arrays[i], (const uint32_t *)(const void *)map->bytes, to);
	}
	nk_array *joined;
	NK_TRY(join_validity(memory, arrays, n_arrays, n_rows, &validity, err));
	NK_TRY(nk_group_table_keys(entries, 0, nk_group_table_n_groups(entries), &joined, err));
	return nk_array_new_dictionary(joined, n_rows, NK_STEAL(codes), NK_STEAL(validity), validity ? -1 : 0,
	                               out, err);
}
