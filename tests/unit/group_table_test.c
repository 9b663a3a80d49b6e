/* Proves of compute/group_table: any combination of key dtypes and encodings gives the groups that a naive reference
 * finds, in order of first appearance; keys come out as first met; hashes agree between rows and groups; finding
 * does not insert; a cleared table starts afresh. */
#include <search.h>
#include <string.h>

#include "compute/group_table.h"
#include "random_rows.h"

static nk_memory *memory;

typedef struct known {
	char key[400];
	uint32_t group;
	char shown[400];
} known;

static int by_key(const void *a, const void *b)
{
	return strcmp(((const known *)a)->key, ((const known *)b)->key);
}

static void *tree;
static known *all[400000];
static uint32_t n_known;

static void forget(void)
{
	for (uint32_t i = 0; i < n_known; i++) {
		tdelete(all[i], &tree, by_key);
		free(all[i]);
	}
	n_known = 0;
}

static void check(nk_group_table *table, nk_array **keys, int n_keys, int64_t n_rows)
{
	uint32_t *groups = malloc((size_t)n_rows * 4), *found = malloc((size_t)n_rows * 4);
	uint64_t *hashes = malloc((size_t)n_rows * 8), *group_hashes = malloc((size_t)(n_rows + n_known) * 8);
	must(nk_group_table_insert(table, keys, n_rows, groups, NULL));
	must(nk_group_table_find(table, keys, n_rows, found, NULL));
	must(nk_group_table_hash(table, keys, n_rows, hashes, NULL));
	bool same = true, same_found = memcmp(groups, found, (size_t)n_rows * 4) == 0, same_hash = true;
	for (int64_t i = 0; i < n_rows; i++) {
		known *candidate = calloc(1, sizeof *candidate);
		rows_text(candidate->key, keys, n_keys, i, false);
		known *met = *(known **)tsearch(candidate, &tree, by_key);
		if (met == candidate) {
			rows_text(candidate->shown, keys, n_keys, i, true);
			met->group = n_known;
			all[n_known++] = met;
		} else {
			free(candidate);
		}
		same &= groups[i] == met->group;
	}
	EXPECT(same);
	EXPECT(same_found);
	EXPECT(nk_group_table_n_groups(table) == n_known);
	nk_group_table_group_hashes(table, 0, n_known, group_hashes);
	for (int64_t i = 0; i < n_rows && same; i++)
		same_hash &= hashes[i] == group_hashes[groups[i]];
	EXPECT(same_hash);
	nk_array *out[8];
	int64_t first = n_known / 3;
	must(nk_group_table_keys(table, first, n_known - first, out, NULL));
	bool same_keys = true;
	for (int64_t i = first; i < n_known; i++) {
		char text[400];
		rows_text(text, out, n_keys, i - first, true);
		same_keys &= strcmp(text, all[i]->shown) == 0;
	}
	EXPECT(same_keys);
	for (int k = 0; k < n_keys; k++) {
		EXPECT(nk_array_validate(out[k], NULL) == NK_OK);
		nk_array_unref(out[k]);
	}
	free(groups), free(found), free(hashes), free(group_hashes);
}

static void combination(const nk_type_id *types, int n_keys, int64_t domain, int percent_null, bool encoded)
{
	const nk_dtype *dtypes[8];
	for (int k = 0; k < n_keys; k++)
		dtypes[k] = types[k] == NK_TYPE_DECIMAL ? nk_dtype_decimal(20, 2) : nk_dtype_of(types[k]);
	nk_group_table *table;
	must(nk_group_table_new(memory, dtypes, n_keys, 0, &table, NULL));
	for (int round = 0; round < 2; round++) {
		int64_t sizes[] = {1, 3, 5000, 0, 1500};
		for (int b = 0; b < 5; b++) {
			nk_array *keys[8];
			for (int k = 0; k < n_keys; k++)
				keys[k] = random_array(memory, dtypes[k], sizes[b], domain, percent_null,
				                       encoded ? (nk_encoding)random_below(3) : NK_FLAT);
			check(table, keys, n_keys, sizes[b]);
			for (int k = 0; k < n_keys; k++)
				nk_array_unref(keys[k]);
		}
		nk_group_table_clear(table);
		forget();
	}
	nk_group_table_free(table);
}

static nk_array *codes_into(nk_array *dictionary, int64_t n_rows)
{
	nk_array *coded;
	nk_buffer *codes;
	must(nk_buffer_new(memory, n_rows * 4, &codes, NULL));
	for (int64_t i = 0; i < n_rows; i++)
		((uint32_t *)(void *)codes->bytes)[i] = (uint32_t)random_below(dictionary->n_rows);
	must(nk_array_new_dictionary(nk_array_ref(dictionary), n_rows, codes, NULL, 0, &coded, NULL));
	return coded;
}

/* Texts come as codes into dictionaries that repeat themselves and each other, small and large, and in between as they
 * are: the same groups, whoever holds the bytes. */
static void texts_of_dictionaries(void)
{
	const nk_dtype *dtypes[] = {nk_dtype_of(NK_TYPE_STRING), nk_dtype_of(NK_TYPE_INT64),
	                            nk_dtype_of(NK_TYPE_BINARY)};
	nk_group_table *table;
	must(nk_group_table_new(memory, dtypes, 3, 0, &table, NULL));
	for (int round = 0; round < 2; round++) {
		nk_array *texts[4], *binaries[4];
		int64_t n_entries[] = {50, 20000, 30000, 60};
		for (int d = 0; d < 4; d++) {
			texts[d] = random_array(memory, dtypes[0], n_entries[d], 3000, 0, NK_FLAT);
			binaries[d] = random_array(memory, dtypes[2], n_entries[d], 3000, 0, NK_FLAT);
		}
		for (int b = 0; b < 24; b++) {
			int64_t n_rows = 1 + random_below(3000);
			nk_array *keys[3] = {b % 5 == 4 ? random_array(memory, dtypes[0], n_rows, 3000, 10, NK_FLAT)
			                                : codes_into(texts[random_below(4)], n_rows),
			                     random_array(memory, dtypes[1], n_rows, 2, 0, NK_FLAT),
			                     b % 7 == 6 ? random_array(memory, dtypes[2], n_rows, 3, 10, NK_FLAT)
			                                : codes_into(binaries[b < 12 ? 0 : random_below(4)], n_rows)};
			check(table, keys, 3, n_rows);
			for (int k = 0; k < 3; k++)
				nk_array_unref(keys[k]);
		}
		for (int d = 0; d < 4; d++) {
			nk_array_unref(texts[d]);
			nk_array_unref(binaries[d]);
		}
		nk_group_table_clear(table);
		forget();
	}
	nk_group_table_free(table);
}

static void finding_does_not_insert(void)
{
	const nk_dtype *dtype = nk_dtype_of(NK_TYPE_STRING);
	nk_group_table *table;
	must(nk_group_table_new(memory, &dtype, 1, 100, &table, NULL));
	nk_array *keys = random_array(memory, dtype, 50, 1000, 20, NK_FLAT);
	uint32_t groups[50];
	must(nk_group_table_find(table, &keys, 50, groups, NULL));
	for (int i = 0; i < 50; i++)
		EXPECT(groups[i] == UINT32_MAX);
	EXPECT(nk_group_table_n_groups(table) == 0);
	nk_array_unref(keys);
	nk_group_table_free(table);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	static const nk_type_id lone[] = {NK_TYPE_BOOLEAN, NK_TYPE_INT8,    NK_TYPE_INT16,   NK_TYPE_INT32,
	                                  NK_TYPE_INT64,   NK_TYPE_INT128,  NK_TYPE_UINT8,   NK_TYPE_UINT32,
	                                  NK_TYPE_UINT64,  NK_TYPE_FLOAT32, NK_TYPE_FLOAT64, NK_TYPE_DECIMAL,
	                                  NK_TYPE_STRING,  NK_TYPE_DATE,    NK_TYPE_TIME};
	static const int64_t domains[] = {1, 5, 300, 20000, 1LL << 40};
	for (int t = 0; t < NK_COUNT(lone); t++)
		for (int d = 0; d < NK_COUNT(domains); d++)
			for (int nulls = 0; nulls <= 30; nulls += 30) {
				int64_t most = lone[t] == NK_TYPE_INT32 || lone[t] == NK_TYPE_DATE ? 1 << 30 : INT64_MAX;
				combination(&lone[t], 1, NK_MIN(domains[d], most), nulls, false);
				combination(&lone[t], 1, NK_MIN(domains[d], most), nulls, true);
			}
	for (int i = 0; i < 60; i++) {
		nk_type_id types[6];
		int n_keys = 2 + (int)random_below(5);
		for (int k = 0; k < n_keys; k++)
			types[k] = lone[random_below(NK_COUNT(lone))];
		combination(types, n_keys, domains[random_below(3)], (int)random_below(2) * 10, random_below(2));
	}
	texts_of_dictionaries();
	finding_does_not_insert();
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
