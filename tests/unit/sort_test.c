/* Proves of compute/sort: any keys in any encoding, direction and place of nulls come out as a stable insertion by
 * nk_sort_compare would put them, whichever of the ways inside is taken, on one thread or several; that comparison itself
 * puts NaN last; values sorted alone are those that rows lead to. */
#include <string.h>

#include "compute/sort.h"
#include "random_rows.h"

static nk_memory *memory;
static nk_parallel parallel; /* three threads */

static nk_array *const *sorted_keys;
static const nk_sort_key *sorted_specs;
static int n_sorted_keys;

static int reference_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = nk_sort_compare(sorted_keys, x, sorted_keys, y, sorted_specs, n_sorted_keys);
	return order ? order : (x > y) - (x < y);
}

static void combination(const nk_type_id *types, int n_keys, int64_t n_rows, int64_t domain, int percent_null,
                        bool encoded)
{
	nk_array *keys[6];
	nk_sort_key specs[6];
	for (int k = 0; k < n_keys; k++) {
		const nk_dtype *dtype = types[k] == NK_TYPE_DECIMAL ? nk_dtype_decimal(20, 2) : nk_dtype_of(types[k]);
		keys[k] = random_array(memory, dtype, n_rows, domain, percent_null,
		                       encoded ? (nk_encoding)random_below(3) : NK_FLAT);
		specs[k] = (nk_sort_key){random_below(2), random_below(2)};
	}
	uint32_t *rows = malloc((size_t)n_rows * 4 + 4), *expected = malloc((size_t)n_rows * 4 + 4);
	must(nk_sort_rows(memory, random_below(2) ? &parallel : NULL, keys, specs, n_keys, n_rows, rows, NULL));
	for (int64_t i = 0; i < n_rows; i++)
		expected[i] = (uint32_t)i;
	sorted_keys = keys;
	sorted_specs = specs;
	n_sorted_keys = n_keys;
	qsort(expected, (size_t)n_rows, 4, reference_order);
	EXPECT(memcmp(rows, expected, (size_t)n_rows * 4) == 0);
	nk_array *alone;
	must(nk_sort_array(memory, random_below(2) ? &parallel : NULL, keys[0], specs[0], &alone, NULL));
	EXPECT(alone->n_rows == n_rows && nk_array_count_nulls(alone) == nk_array_count_nulls(keys[0]));
	for (int64_t i = 0; n_keys == 1 && i < n_rows; i++)
		EXPECT(nk_sort_compare(&alone, i, keys, expected[i], specs, 1) == 0);
	nk_array_unref(alone);
	free(rows), free(expected);
	for (int k = 0; k < n_keys; k++)
		nk_array_unref(keys[k]);
}

static void order_of_values(void)
{
	nk_builder *builder;
	nk_array *keys;
	must(nk_builder_new(memory, nk_dtype_of(NK_TYPE_FLOAT64), &builder, NULL));
	double values[] = {__builtin_nan(""), 1, -0.0, 0.0, -__builtin_inf(), __builtin_inf()};
	for (int i = 0; i < 6; i++)
		must(nk_builder_append_float(builder, values[i], NULL));
	must(nk_builder_append_null(builder, NULL));
	must(nk_builder_finish(builder, &keys, NULL));
	nk_builder_free(builder);
	uint32_t rows[7], up[] = {6, 4, 2, 3, 1, 5, 0}, down[] = {0, 5, 1, 2, 3, 4, 6};
	must(nk_sort_rows(memory, NULL, &keys, &(nk_sort_key){false, false}, 1, 7, rows, NULL));
	EXPECT(memcmp(rows, up, sizeof rows) == 0);
	must(nk_sort_rows(memory, NULL, &keys, &(nk_sort_key){true, true}, 1, 7, rows, NULL));
	EXPECT(memcmp(rows, down, sizeof rows) == 0);
	nk_array_unref(keys);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	nk_pool *pool = nk_pool_new(3);
	parallel = nk_pool_parallel(pool);
	static const nk_type_id types[] = {NK_TYPE_BOOLEAN, NK_TYPE_INT8,   NK_TYPE_INT32,   NK_TYPE_INT64,
	                                   NK_TYPE_INT128,  NK_TYPE_UINT64, NK_TYPE_FLOAT32, NK_TYPE_FLOAT64,
	                                   NK_TYPE_DECIMAL, NK_TYPE_STRING};
	static const int64_t sizes[] = {0, 1, 2, 40, 700, 6000}, domains[] = {1, 3, 200, 1 << 30, 1LL << 60};
	for (int t = 0; t < NK_COUNT(types); t++)
		for (int s = 0; s < NK_COUNT(sizes); s++)
			for (int d = 0; d < NK_COUNT(domains); d++) {
				int64_t most = types[t] == NK_TYPE_INT32 ? 1 << 30 : INT64_MAX;
				combination(&types[t], 1, sizes[s], NK_MIN(domains[d], most), d % 2 * 20, false);
				combination(&types[t], 1, sizes[s], NK_MIN(domains[d], most), d % 2 * 20, true);
			}
	for (int i = 0; i < 100; i++) {
		nk_type_id some[5];
		int n_keys = 2 + (int)random_below(4);
		for (int k = 0; k < n_keys; k++)
			some[k] = types[random_below(NK_COUNT(types))];
		combination(some, n_keys, sizes[random_below(NK_COUNT(sizes))], domains[random_below(4)],
		            (int)random_below(2) * 15, random_below(2));
	}
	for (int t = 0; t < NK_COUNT(types); t++) {
		int64_t most = types[t] == NK_TYPE_INT32 ? 1 << 30 : INT64_MAX;
		combination(&types[t], 1, 70000, NK_MIN(1LL << 60, most), 0, false);
		combination(&types[t], 1, 70000, 5000, 20, false);
	}
	static const nk_type_id two[] = {NK_TYPE_INT16, NK_TYPE_INT64},
							many[] = {NK_TYPE_INT64, NK_TYPE_FLOAT64, NK_TYPE_INT8};
	combination(two, 2, 70000, 100, 1, false);
	combination(many, 3, 70000, 1 << 30, 1, false);
	nk_pool_free(pool);
	order_of_values();
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
