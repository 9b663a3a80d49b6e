/* An array: n_rows values of one dtype in one of three encodings. Immutable and reference-counted.
 *
 *   flat        values[i] is row i.
 *   constant    one value stands for all rows: values[0]; validity, if any, has one bit.
 *   dictionary  values are uint32 codes into `dictionary`, a flat array without nulls; nulls are in validity.
 *
 * validity: bit i tells whether row i is valid; NULL means all are. Bits start at bit 0 of the pointer (slices
 * at other positions copy their bits). Values under null are defined and harmless: kernels compute all lanes.
 * Boolean values are bits in the same way. Strings and binaries are nk_view in Arrow's layout; long ones point
 * into buffers of the array's heap. A List has n_rows + 1 int64 offsets (the first need not be 0) and its items in
 * children[0]; a Struct has one child of n_rows rows per field. Children are flat; of a constant List the offsets
 * are two, of a constant Struct the children have one row.
 *
 * `physical` is that of the values (also of a dictionary's values): for Decimal it is NK_PHYSICAL_I64 or
 * NK_PHYSICAL_I128, for all other dtypes dtype->physical. */
#ifndef NK_COLUMNAR_ARRAY_H
#define NK_COLUMNAR_ARRAY_H

#include "base/bitmap.h"
#include "columnar/buffer.h"
#include "columnar/dtype.h"

typedef enum nk_encoding { NK_FLAT, NK_CONSTANT, NK_DICTIONARY } nk_encoding;

/* Arrow's (and Polars') string view: up to 12 bytes inline, else a prefix and a place. Unused bytes are zero. */
typedef struct nk_view {
	uint32_t n_bytes;
	union {
		char inlined[12];
		struct {
			char prefix[4];
			uint32_t buffer;
			uint32_t offset;
		};
	};
} nk_view;

enum { NK_VIEW_INLINE = 12 };

/* The buffers that views of an array point into; reference-counted, immutable. */
typedef struct nk_heap {
	int64_t n_references;
	int n_buffers;
	nk_buffer *buffers[]; /* owned references */
} nk_heap;

typedef struct nk_array nk_array;
struct nk_array {
	const nk_dtype *dtype;
	nk_physical physical;
	nk_encoding encoding;
	int64_t n_rows;
	int64_t n_nulls; /* exact, or -1 when not counted: ask nk_array_count_nulls */
	const uint8_t *validity;
	const void *values;
	nk_buffer *validity_buffer, *values_buffer; /* owned references that keep the two pointers alive */
	nk_heap *heap;                              /* views only; NULL when all are inline */
	nk_array *dictionary;                       /* encoding NK_DICTIONARY only */
	nk_buffer *text_keys; /* of a text dictionary, atomic: compute/key_rows.h; NULL until made */
	int64_t n_looked_up;  /* atomic: rows that asked for text_keys while there were none */
	int n_children;
	nk_array **children;
	int64_t n_references; /* atomic */
};

static inline nk_array *nk_array_ref(nk_array *array)
{
	if (array)
		__atomic_fetch_add(&array->n_references, 1, __ATOMIC_RELAXED);
	return array;
}
void nk_array_unref(nk_array *array);
static inline void nk_array__auto(nk_array **array) { nk_array_unref(*array); }

/* Makers. They take over (own) the references passed in, also on failure; *out is owned by the caller.
 * validity may be NULL. n_nulls may be -1. */
NK_MUST_CHECK nk_status nk_array_new_flat(const nk_dtype *dtype, nk_physical physical, int64_t n_rows,
                                          nk_buffer *values, nk_buffer *validity, int64_t n_nulls,
                                          nk_heap *heap, nk_array **out, nk_error *err);
/* n_rows nulls of any dtype (constant). */
NK_MUST_CHECK nk_status nk_array_new_null(nk_memory *memory, const nk_dtype *dtype, int64_t n_rows,
                                          nk_array **out, nk_error *err);
/* One value for all rows: `one` is a flat or constant array of at least one row; its row 0 is used. Borrows one. */
NK_MUST_CHECK nk_status nk_array_new_constant(nk_memory *memory, const nk_array *one, int64_t n_rows,
                                              nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk_array_new_dictionary(nk_array *dictionary, int64_t n_rows, nk_buffer *codes,
                                                nk_buffer *validity, int64_t n_nulls, nk_array **out,
                                                nk_error *err);
NK_MUST_CHECK nk_status nk_array_new_list(const nk_dtype *dtype, int64_t n_rows, nk_buffer *offsets,
                                          nk_array *items, nk_buffer *validity, int64_t n_nulls,
                                          nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk_array_new_struct(const nk_dtype *dtype, int64_t n_rows, nk_array **fields,
                                            nk_buffer *validity, int64_t n_nulls, nk_array **out,
                                            nk_error *err);

/* A flat array with fresh, writable storage: fill `values` (bits for Boolean, zeroed) and, when with_validity,
 * `validity` (all ones) before sharing. Not for List, Struct. Cast away const through nk_array_values. */
NK_MUST_CHECK nk_status nk_array_alloc(nk_memory *memory, const nk_dtype *dtype, nk_physical physical,
                                       int64_t n_rows, bool with_validity, nk_array **out, nk_error *err);
static inline void *nk_array_values(nk_array *array) { return array->values_buffer->bytes; }
static inline uint8_t *nk_array_validity(nk_array *array) { return array->validity_buffer->bytes; }

/* The same values under another dtype of the same physical type; a new header, no copy. Borrows array. */
NK_MUST_CHECK nk_status nk_array_retype(const nk_array *array, const nk_dtype *dtype, nk_array **out,
                                        nk_error *err);
/* The codes and validity of a dictionary-encoded array over another dictionary (borrowed) of as many entries. */
NK_MUST_CHECK nk_status nk_array_recode(const nk_array *codes, nk_array *dictionary, nk_array **out,
                                        nk_error *err);
/* The same values with other validity (owned buffer or NULL); a new header. Flat and dictionary only. */
NK_MUST_CHECK nk_status nk_array_with_validity(const nk_array *array, nk_buffer *validity, int64_t n_nulls,
                                               nk_array **out, nk_error *err);

/* Rows [offset, offset + n_rows), which must lie inside. Shares storage. */
NK_MUST_CHECK nk_status nk_array_slice(nk_memory *memory, nk_array *array, int64_t offset, int64_t n_rows,
                                       nk_array **out, nk_error *err);
/* The same rows in flat encoding (a new reference when already flat). */
NK_MUST_CHECK nk_status nk_array_flatten(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err);
/* All arrays one after another, flat (n >= 1; same dtype; Decimal widths are unified). Heaps are merged and
 * views rebased; long strings are not copied. */
NK_MUST_CHECK nk_status nk_array_concat(nk_memory *memory, nk_array *const *arrays, int n_arrays,
                                        nk_array **out, nk_error *err);
/* A Decimal array widened to int128 (a new reference when it already is). Flat or constant or dictionary. */
NK_MUST_CHECK nk_status nk_array_widen_decimal(nk_memory *memory, nk_array *array, nk_array **out,
                                               nk_error *err);
/* Strings repacked: one heap buffer with exactly the bytes in use. Flat views only. */
NK_MUST_CHECK nk_status nk_array_repack(nk_memory *memory, nk_array *array, nk_array **out, nk_error *err);
/* Repack *array, which is replaced, if it is flat text whose heap is mostly unused, as gathers leave it.
 * Without memory it stays as it is. */
void nk_array_compact(nk_memory *memory, nk_array **array);

int64_t nk_array_count_nulls(const nk_array *array);
/* Bytes of buffers reachable from this array, counted once per array (shared storage counts in each, a dictionary
 * of more entries than rows in proportion). */
int64_t nk_array_bytes(const nk_array *array);
/* Check every invariant above, views and codes included: for debug builds and imported data. */
NK_MUST_CHECK nk_status nk_array_validate(const nk_array *array, nk_error *err);

static inline bool nk_array_is_valid(const nk_array *array, int64_t row)
{
	if (array->physical == NK_PHYSICAL_NONE)
		return false;
	return !array->validity || nk_bitmap_get(array->validity, array->encoding == NK_CONSTANT ? 0 : row);
}

/* Whether two dictionary-encoded arrays share codes and validity, as all texts of one side of a join do. */
static inline bool nk_array_same_codes(const nk_array *a, const nk_array *b)
{
	return a->encoding == NK_DICTIONARY && b->encoding == NK_DICTIONARY && a->values == b->values &&
	       a->validity == b->validity && a->n_rows == b->n_rows &&
	       a->dictionary->n_rows == b->dictionary->n_rows;
}

/* Position of a row's value in `values` (flat, constant) or of its code. */
static inline int64_t nk_array_index(const nk_array *array, int64_t row)
{
	return array->encoding == NK_CONSTANT ? 0 : row;
}

/* Bytes of a view. */
static inline const char *nk_view_bytes(const nk_view *view, const nk_heap *heap)
{
	return view->n_bytes <= NK_VIEW_INLINE ? view->inlined
	                                       : (const char *)heap->buffers[view->buffer]->bytes + view->offset;
}

/* A view of bytes at a place in a heap's buffer (or inline when short). */
static inline nk_view nk_view_make(const char *bytes, uint32_t n_bytes, uint32_t buffer, uint32_t offset)
{
	nk_view view = {.n_bytes = n_bytes};
	if (n_bytes <= NK_VIEW_INLINE) {
		memcpy(view.inlined, bytes, n_bytes);
	} else {
		memcpy(view.prefix, bytes, 4);
		view.buffer = buffer;
		view.offset = offset;
	}
	return view;
}

static inline bool nk_view_equal(const nk_view *a, const nk_heap *heap_a, const nk_view *b,
                                 const nk_heap *heap_b)
{
	uint64_t head_a, head_b;
	memcpy(&head_a, a, 8);
	memcpy(&head_b, b, 8);
	if (head_a != head_b)
		return false;
	if (a->n_bytes <= NK_VIEW_INLINE)
		return memcmp((const char *)a + 8, (const char *)b + 8, 8) == 0;
	return memcmp(nk_view_bytes(a, heap_a), nk_view_bytes(b, heap_b), a->n_bytes) == 0;
}

/* Byte order, as memcmp then length. */
static inline int nk_view_compare(const nk_view *a, const nk_heap *heap_a, const nk_view *b,
                                  const nk_heap *heap_b)
{
	uint32_t n = a->n_bytes < b->n_bytes ? a->n_bytes : b->n_bytes;
	int order = memcmp(nk_view_bytes(a, heap_a), nk_view_bytes(b, heap_b), n);
	return order ? order : (a->n_bytes > b->n_bytes) - (a->n_bytes < b->n_bytes);
}

/* Heaps. nk_heap_new takes over n buffer references. */
NK_MUST_CHECK nk_status nk_heap_new(nk_buffer *const *buffers, int n_buffers, nk_heap **out, nk_error *err);
nk_heap *nk_heap_ref(nk_heap *heap); /* NULL allowed */
void nk_heap_unref(nk_heap *heap);
static inline void nk_heap__auto(nk_heap **heap) { nk_heap_unref(*heap); }

#endif
