/* Proves of compute/dictionary: arrays brought together are, row by row, what they were; texts of few entries stay codes
 * into a dictionary without duplicates, anything else comes out flat. */
#include "compute/dictionary.h"
#include "random_rows.h"

static nk_memory *memory;

static bool has_duplicates(const nk_array *dictionary)
{
	char a[400], b[400];
	for (int64_t i = 0; i < dictionary->n_rows; i++)
		for (int64_t j = 0; j < i; j++) {
			row_text(a, dictionary, i, true);
			row_text(b, dictionary, j, true);
			if (strcmp(a, b) == 0)
				return true;
		}
	return false;
}

static void concat(nk_array **arrays, int n, nk_encoding expected)
{
	nk_array *joined;
	must(nk_concat_coded(memory, arrays, n, &joined, NULL));
	EXPECT(nk_array_validate(joined, NULL) == NK_OK);
	EXPECT(joined->encoding == expected);
	bool same = true;
	int64_t row = 0;
	for (int i = 0; i < n; i++)
		for (int64_t k = 0; k < arrays[i]->n_rows; k++) {
			char a[400], b[400];
			row_text(a, arrays[i], k, true);
			row_text(b, joined, row++, true);
			same &= strcmp(a, b) == 0;
		}
	EXPECT(same);
	EXPECT(row == joined->n_rows);
	if (joined->encoding == NK_DICTIONARY)
		EXPECT(!has_duplicates(joined->dictionary));
	nk_array_unref(joined);
}

int main(void)
{
	memory = nk_memory_new(NULL, INT64_MAX);
	const nk_dtype *text = nk_dtype_of(NK_TYPE_STRING), *number = nk_dtype_of(NK_TYPE_INT64);
	for (int percent_null = 0; percent_null <= 20; percent_null += 20) {
		nk_array *arrays[6];
		for (int i = 0; i < 6; i++)
			arrays[i] = random_array(memory, text, 300 + 7 * i, 40, i % 2 ? percent_null : 0, NK_DICTIONARY);
		concat(arrays, 6, NK_DICTIONARY);
		concat(arrays, 1, NK_DICTIONARY);
		nk_array *sliced[3] = {NULL, arrays[2], NULL};
		must(nk_array_slice(memory, arrays[1], 13, 200, &sliced[0], NULL));
		must(nk_array_slice(memory, arrays[1], 5, 250, &sliced[2], NULL));
		concat(sliced, 3, NK_DICTIONARY);
		nk_array_unref(arrays[5]);
		arrays[5] = random_array(memory, text, 100, 40, percent_null, NK_FLAT);
		concat(arrays, 6, NK_FLAT); /* one of them is no codes */
		nk_array *few[1];
		must(nk_array_slice(memory, arrays[0], 3, 30, &few[0], NULL));
		concat(few, 1, NK_FLAT); /* fewer rows than codes are worth */
		for (int i = 0; i < 6; i++)
			nk_array_unref(arrays[i]);
		nk_array_unref(sliced[0]);
		nk_array_unref(sliced[2]);
		nk_array_unref(few[0]);
	}
	nk_array *numbers[2] = {random_array(memory, number, 500, 5, 10, NK_DICTIONARY),
	                        random_array(memory, number, 500, 5, 10, NK_DICTIONARY)};
	concat(numbers, 2, NK_FLAT);
	nk_array_unref(numbers[0]);
	nk_array_unref(numbers[1]);
	EXPECT(nk_memory_used(memory) == 0);
	nk_memory_unref(memory);
	return expect_report();
}
