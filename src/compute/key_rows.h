/* Key columns as fixed-width rows of 64-bit words, so that a key of any number of columns is compared and hashed
 * by words. Shared by the group table and the join table; a layout is immutable once made.
 *
 * Fixed-width values are packed next to each other in as few bytes as they need (booleans one byte, Decimals 16
 * bytes whatever their physical width); -0.0 is encoded as 0.0, all NaNs as one. Text takes 16 bytes: a short
 * one its view, a long one its length, prefix and hash, so that equal words mean equal text up to a collision of
 * 64-bit hashes: who needs certainty compares the bytes of long text as well. Values under null are zero; a
 * trailing mask of one bit a column tells null, except for a lone column, whose nulls the tables treat apart. */
#ifndef NK_COMPUTE_KEY_ROWS_H
#define NK_COMPUTE_KEY_ROWS_H

#include "columnar/array.h"

typedef struct nk_key_column {
	const nk_dtype *dtype;
	uint16_t offset; /* bytes from the start of the row */
	uint8_t width;   /* bytes of the value: 1, 2, 4, 8 or 16 */
	bool is_text;
	bool is_float;
} nk_key_column;

typedef struct nk_key_layout {
	nk_memory *memory;
	int n_columns;
	int n_words;     /* of a row */
	int mask_offset; /* byte where the null mask begins; -1: there is none */
	bool has_text, has_float;
	nk_key_column *columns;
} nk_key_layout;

/* others: a second list of dtypes that rows of the same layout are made of (the other side of a join), or NULL:
 * integers get the wider of both widths. with_nulls false: rows with nulls are never compared, no mask is kept.
 * Fails with NK_INVALID_OPERATION for nested dtypes. */
NK_MUST_CHECK nk_status nk_key_layout_init(nk_key_layout *layout, nk_memory *memory,
                                           const nk_dtype *const *dtypes, const nk_dtype *const *others,
                                           int n_columns, bool with_nulls, nk_error *err);
void nk_key_layout_release(nk_key_layout *layout);

/* Write rows [first, first + n) of the key arrays (any encoding) to words (n * n_words of them). */
void nk_key_encode(const nk_key_layout *layout, nk_array *const *keys, int64_t first, int64_t n,
                   uint64_t *words);
/* Hashes of encoded rows. */
void nk_key_hash(const nk_key_layout *layout, const uint64_t *words, int64_t n, uint64_t *hashes);
/* Fold into is_null, a byte a row, whether some key column is null in rows [first, first + n); is_null is written
 * from scratch. False: no column can have nulls there, and is_null was not written. */
bool nk_key_nulls(nk_array *const *keys, int n_keys, int64_t first, int64_t n, uint8_t *is_null);

/* Text of a row of a text column in any encoding (not null). */
static inline const nk_view *nk_key_view(const nk_array *array, int64_t row, const nk_heap **heap)
{
	if (array->encoding == NK_DICTIONARY) {
		*heap = array->dictionary->heap;
		return (const nk_view *)array->dictionary->values + ((const uint32_t *)array->values)[row];
	}
	*heap = array->heap;
	return (const nk_view *)array->values + nk_array_index(array, row);
}

#endif
