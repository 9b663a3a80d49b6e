/* Columns are encoded one after another into interleaved rows: each is a strided store loop over one type, and a
 * block of rows stays in L1 between columns. Wide columns come first, so that all values lie aligned. Hashing
 * multiplies words in pairs (the fold of base/hash.h); a single word takes the bijective mixer. */
#include "compute/key_rows.h"

#include "base/hash.h"

static int value_width(const nk_dtype *dtype)
{
	switch (dtype->physical) {
	case NK_PHYSICAL_NONE:
	case NK_PHYSICAL_BOOL: return 1;
	default: return nk_physical_size(dtype->physical);
	}
}

nk_status nk_key_layout_init(nk_key_layout *layout, nk_memory *memory, const nk_dtype *const *dtypes,
                             const nk_dtype *const *others, int n_columns, bool with_nulls, nk_error *err)
{
	*layout = (nk_key_layout){.memory = memory, .n_columns = n_columns, .mask_offset = -1};
	for (int c = 0; c < n_columns; c++)
		if (nk_type_is_nested(dtypes[c]->id))
			return nk_fail(err, NK_INVALID_OPERATION, "columns of dtype %s cannot be keys", dtypes[c]->text);
	void *block;
	NK_TRY(nk_alloc(memory, n_columns * (int64_t)sizeof *layout->columns, &block, err));
	layout->columns = block;
	for (int c = 0; c < n_columns; c++) {
		nk_key_column *column = &layout->columns[c];
		*column = (nk_key_column){.dtype = dtypes[c],
		                          .width = (uint8_t)value_width(dtypes[c]),
		                          .is_text = dtypes[c]->physical == NK_PHYSICAL_VIEW,
		                          .is_float = nk_type_is_float(dtypes[c]->id)};
		if (others && value_width(others[c]) > column->width)
			column->width = (uint8_t)value_width(others[c]);
		/* Signed and unsigned values of one width would share bit patterns. */
		if (others && column->width < 8 &&
		    nk_type_is_unsigned(others[c]->id) != nk_type_is_unsigned(dtypes[c]->id))
			column->width = 8;
		layout->has_text |= column->is_text;
		layout->has_float |= column->is_float;
	}
	int n_bytes = 0;
	for (int width = 16; width; width /= 2)
		for (int c = 0; c < n_columns; c++)
			if (layout->columns[c].width == width) {
				layout->columns[c].offset = (uint16_t)n_bytes;
				n_bytes += width;
			}
	if (with_nulls && n_columns > 1) {
		layout->mask_offset = n_bytes;
		n_bytes += (n_columns + 7) / 8;
	}
	layout->n_words = (n_bytes + 7) / 8;
	return NK_OK;
}

void nk_key_layout_release(nk_key_layout *layout)
{
	if (layout->columns)
		nk_free(layout->memory, layout->columns, layout->n_columns * (int64_t)sizeof *layout->columns);
	layout->columns = NULL;
}

/* Where row i's value lies: `step` is 0 for constants; codes is NULL unless dictionary-encoded. */
typedef struct place {
	const void *values;
	const uint32_t *codes;
	int64_t step;
} place;

static place place_of(const nk_array *array, int64_t first)
{
	if (array->encoding == NK_DICTIONARY)
		return (place){array->dictionary->values, (const uint32_t *)array->values + first, 1};
	return (place){array->values, NULL, array->encoding == NK_FLAT};
}

/* One loop a type: T is what is stored in the array, W what goes into the row (the same, or wider). */
#define STORE(T, W, convert)                                                       \
	do {                                                                           \
		const T *values = (const T *)at.values + (at.codes ? 0 : at.step * first); \
		for (int64_t i = 0; i < n; i++) {                                          \
			T value = values[at.codes ? at.codes[i] : at.step * i];                \
			W wide = (W)(convert);                                                 \
			memcpy(out + i * stride, &wide, sizeof wide);                          \
		}                                                                          \
	} while (0)

#define STORE_INTEGER(T)               \
	do {                               \
		if (width == sizeof(T))        \
			STORE(T, T, value);        \
		else if (width == 8)           \
			STORE(T, int64_t, value);  \
		else if (width == 4)           \
			STORE(T, int32_t, value);  \
		else if (width == 2)           \
			STORE(T, int16_t, value);  \
		else                           \
			STORE(T, __int128, value); \
	} while (0)

static void encode_bits(const nk_array *array, int64_t first, int64_t n, uint8_t *out, int64_t stride)
{
	place at = place_of(array, first);
	for (int64_t i = 0; i < n; i++)
		out[i * stride] = nk_bitmap_get(at.values, at.codes ? at.codes[i] : at.step * (first + i));
}

typedef struct text_key {
	uint64_t words[2];
} text_key;

static inline text_key text_key_of(const nk_view *view, const nk_heap *heap)
{
	text_key key;
	memcpy(&key, view, sizeof key);
	if (view->n_bytes > NK_VIEW_INLINE)
		key.words[1] = nk_hash_bytes(nk_view_bytes(view, heap), view->n_bytes);
	return key;
}

/* What text_key_of gives for each entry of a dictionary, kept with it. It is made when so many rows have asked that
 * hashing the rows would soon cost more; until then, and without memory, NULL. */
static const text_key *dictionary_keys(nk_memory *memory, nk_array *dictionary, int64_t n)
{
	nk_buffer *known = __atomic_load_n(&dictionary->text_keys, __ATOMIC_ACQUIRE);
	if (known)
		return (const text_key *)(const void *)known->bytes;
	int64_t n_asked = __atomic_add_fetch(&dictionary->n_looked_up, n, __ATOMIC_RELAXED);
	nk_error unused;
	nk_buffer *made;
	if (n_asked < dictionary->n_rows / 2 ||
	    nk_buffer_new(memory, dictionary->n_rows * (int64_t)sizeof(text_key), &made, &unused) != NK_OK)
		return NULL;
	const nk_view *views = dictionary->values;
	text_key *keys = (text_key *)(void *)made->bytes;
	for (int64_t i = 0; i < dictionary->n_rows; i++)
		keys[i] = text_key_of(&views[i], dictionary->heap);
	if (!__atomic_compare_exchange_n(&dictionary->text_keys, &known, made, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE)) {
		nk_buffer_unref(made);
		return (const text_key *)(const void *)known->bytes;
	}
	return keys;
}

static void encode_text(nk_memory *memory, const nk_array *array, int64_t first, int64_t n, uint8_t *out,
                        int64_t stride)
{
	place at = place_of(array, first);
	if (at.codes && array->dictionary->n_rows == 0)
		return; /* nulls only: words stay zero */
	const nk_heap *heap = at.codes ? array->dictionary->heap : array->heap;
	const text_key *known = at.codes ? dictionary_keys(memory, array->dictionary, n) : NULL;
	if (known) {
		for (int64_t i = 0; i < n; i++)
			memcpy(out + i * stride, &known[at.codes[i]], sizeof *known);
		return;
	}
	const nk_view *views = (const nk_view *)at.values + (at.codes ? 0 : at.step * first);
	for (int64_t i = 0; i < n; i++) {
		text_key key = text_key_of(views + (at.codes ? at.codes[i] : at.step * i), heap);
		memcpy(out + i * stride, &key, sizeof key);
	}
}

static inline __attribute__((always_inline)) void encode_column(nk_memory *memory,
                                                                const nk_key_column *column,
                                                                const nk_array *array, int64_t first,
                                                                int64_t n, uint8_t *out, int64_t stride)
{
	place at = place_of(array, first);
	size_t width = column->width;
	switch (array->physical) {
	case NK_PHYSICAL_BOOL: encode_bits(array, first, n, out, stride); return;
	case NK_PHYSICAL_VIEW: encode_text(memory, array, first, n, out, stride); return;
	case NK_PHYSICAL_I8: STORE_INTEGER(int8_t); return;
	case NK_PHYSICAL_I16: STORE_INTEGER(int16_t); return;
	case NK_PHYSICAL_I32: STORE_INTEGER(int32_t); return;
	case NK_PHYSICAL_I64: STORE_INTEGER(int64_t); return;
	case NK_PHYSICAL_U8: STORE_INTEGER(uint8_t); return;
	case NK_PHYSICAL_U16: STORE_INTEGER(uint16_t); return;
	case NK_PHYSICAL_U32: STORE_INTEGER(uint32_t); return;
	case NK_PHYSICAL_U64: STORE_INTEGER(uint64_t); return;
	case NK_PHYSICAL_I128: STORE(__int128, __int128, value); return;
	case NK_PHYSICAL_F32:
		STORE(float, float, value == 0 ? 0.0f : value != value ? __builtin_nanf("") : value);
		return;
	case NK_PHYSICAL_F64:
		STORE(double, double, value == 0 ? 0.0 : value != value ? __builtin_nan("") : value);
		return;
	default: return;
	}
}

/* Zero what lies under nulls and set their bits in the mask. */
static void encode_nulls(const nk_key_layout *layout, int c, const nk_array *array, int64_t first, int64_t n,
                         uint8_t *rows)
{
	const nk_key_column *column = &layout->columns[c];
	int64_t stride = layout->n_words * 8;
	bool all = array->physical == NK_PHYSICAL_NONE;
	if (!all && !array->validity)
		return;
	for (int64_t i = 0; i < n; i++) {
		if (!all && nk_bitmap_get(array->validity, nk_array_index(array, first + i)))
			continue;
		memset(rows + i * stride + column->offset, 0, column->width);
		if (layout->mask_offset >= 0)
			rows[i * stride + layout->mask_offset + c / 8] |= (uint8_t)(1u << (c & 7));
	}
}

void nk_key_encode(const nk_key_layout *layout, nk_array *const *keys, int64_t first, int64_t n,
                   uint64_t *words)
{
	int64_t stride = layout->n_words * 8;
	if (layout->n_columns > 1 || layout->columns[0].width < 8)
		memset(words, 0, (size_t)(n * stride));
	for (int c = 0; c < layout->n_columns; c++) {
		uint8_t *out = (uint8_t *)words + layout->columns[c].offset;
		/* The stride of the commonest layout is a constant, so that its loops vectorise. */
		if (stride == 8)
			encode_column(layout->memory, &layout->columns[c], keys[c], first, n, out, 8);
		else
			encode_column(layout->memory, &layout->columns[c], keys[c], first, n, out, stride);
		encode_nulls(layout, c, keys[c], first, n, (uint8_t *)words);
	}
}

void nk_key_hash(const nk_key_layout *layout, const uint64_t *words, int64_t n, uint64_t *hashes)
{
	int n_words = layout->n_words;
	if (n_words == 1) {
		for (int64_t i = 0; i < n; i++)
			hashes[i] = nk_hash_u64(words[i]);
		return;
	}
	if (n_words == 2) {
		for (int64_t i = 0; i < n; i++)
			hashes[i] = nk_hash_fold(words[2 * i] ^ NK_HASH_SEED, words[2 * i + 1] ^ NK_HASH_MULTIPLIER);
		return;
	}
	for (int64_t i = 0; i < n; i++, words += n_words) {
		uint64_t hash = NK_HASH_SEED;
		int w = 0;
		for (; w + 1 < n_words; w += 2)
			hash = nk_hash_fold(words[w] ^ hash, words[w + 1] ^ NK_HASH_MULTIPLIER ^ (hash << 1));
		if (w < n_words)
			hash = nk_hash_fold(words[w] ^ hash, NK_HASH_MULTIPLIER);
		hashes[i] = hash;
	}
}

bool nk_key_nulls(nk_array *const *keys, int n_keys, int64_t first, int64_t n, uint8_t *is_null)
{
	bool any = false;
	for (int k = 0; k < n_keys; k++) {
		const nk_array *array = keys[k];
		if (array->physical != NK_PHYSICAL_NONE && !array->validity)
			continue;
		if (!any)
			memset(is_null, 0, (size_t)n);
		any = true;
		for (int64_t i = 0; i < n; i++)
			is_null[i] |= !nk_array_is_valid(array, first + i);
	}
	return any;
}
