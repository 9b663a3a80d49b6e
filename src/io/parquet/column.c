/* Taking rows from pages.
 *
 * One call walks the pages that its rows lie in; each page gives a segment. A segment is decoded straight into the
 * array where that is possible: all rows wanted and no nulls. With nulls, values are decoded densely at the end of
 * their place and spread; with few rows wanted, codes or plain values are gathered by position, so that what is not
 * wanted is never looked up. Texts whose dictionary is small keep their codes; when a page without dictionary turns
 * up in the middle of an array, codes so far become views. */
#include "io/parquet/column.h"

#include <string.h>

enum {
	DICTIONARY_MAX = 16384, /* larger dictionaries are flattened, */
	ROWS_PER_ENTRY_MIN = 8, /* and so are those that hardly repeat */
};

void nk__column_init(nk_column_reader *reader, const nk_leaf_plan *plan, nk_memory *memory,
                     nk_scan_counters *counters)
{
	*reader = (nk_column_reader){
		.plan = plan, .memory = memory, .counters = counters, .kernels = NK_ISA_TABLE(nk__parquet_kernels)};
}

static void clear_heap(nk_column_reader *reader)
{
	for (int64_t i = 0; i < reader->n_heap; i++)
		nk_buffer_unref(reader->heap[i]);
	reader->n_heap = 0;
}

static void clear_chunk(nk_column_reader *reader)
{
	nk__page_clear(&reader->page);
	clear_heap(reader);
	nk_array_unref(reader->dictionary_array);
	nk_buffer_unref(reader->dictionary_buffer);
	nk_buffer_unref(reader->chunk);
	reader->dictionary_array = NULL;
	reader->dictionary_buffer = reader->chunk = NULL;
	reader->has_dictionary = reader->is_unpacked = false;
	reader->n_dictionary = 0;
	reader->at = reader->end = NULL;
	reader->n_rows_in_pages = 0;
	reader->n_levels = 0;
}

void nk__column_release(nk_column_reader *reader)
{
	if (!reader->memory)
		return;
	clear_chunk(reader);
	nk_block *blocks[] = {&reader->dictionary_raw,
	                      &reader->dictionary_values,
	                      &reader->raw,
	                      &reader->plain,
	                      &reader->views,
	                      &reader->bits,
	                      &reader->codes,
	                      &reader->values,
	                      &reader->valid,
	                      &reader->positions,
	                      &reader->booleans};
	for (int i = 0; i < NK_COUNT(blocks); i++)
		nk_free(reader->memory, blocks[i]->bytes, blocks[i]->n_bytes);
	nk_free(reader->memory, reader->definitions, reader->definitions_capacity);
	nk_free(reader->memory, reader->repetitions, reader->repetitions_capacity);
	nk_free(reader->memory, reader->heap, reader->heap_capacity * (int64_t)sizeof *reader->heap);
	*reader = (nk_column_reader){0};
}

nk_status nk__column_start(nk_column_reader *reader, const nk_column_chunk *chunk, nk_buffer *bytes,
                           int64_t n_rows, nk_error *err)
{
	clear_chunk(reader);
	NK_TRY(nk__parquet_codec(chunk->codec, &reader->codec, err));
	reader->chunk = nk_buffer_ref(bytes);
	reader->at = bytes->bytes;
	reader->end = bytes->bytes + bytes->n_bytes;
	reader->n_rows_of_group = reader->n_rows_in_pages = n_rows;
	return NK_OK;
}

static nk_status too_few(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "corrupt page: it ends before its last value");
}

static nk_status bad_code(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "corrupt page: a code outside of the dictionary, or too few codes");
}

/* The array under construction. */
typedef struct piece {
	nk_column_reader *reader;
	int64_t n_rows, n_done, n_valid;
	bool keeps_codes;
	bool names_dictionary;    /* the dictionary's bytes are in the heap, as buffer: */
	uint32_t dictionary_slot; /* mostly 0, since pages of codes come first */
	int size_log2;
	nk_buffer *values, *validity; /* owned; validity NULL for required columns */
	uint8_t *bytes;               /* values->bytes, or a block of bytes for booleans */
} piece;

static nk_status add_to_heap(nk_column_reader *reader, nk_buffer *buffer, nk_error *err)
{
	NK_TRY(NK_GROW(reader->memory, &reader->heap, &reader->heap_capacity, reader->n_heap + 1, err));
	reader->heap[reader->n_heap++] = nk_buffer_ref(buffer);
	return NK_OK;
}

static nk_status enter_dictionary(piece *p, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	if (p->names_dictionary)
		return NK_OK;
	p->names_dictionary = true;
	p->dictionary_slot = (uint32_t)reader->n_heap;
	return add_to_heap(reader, reader->dictionary_buffer, err);
}

/* The heap buffers that the current page's views are to name: only of what is read, lest an array keep more alive. */
static nk_status enter_page(piece *p, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	nk_page *page = &reader->page;
	if (page->kind == NK_PAGE_CODES && !p->keeps_codes && nk__leaf_is_text(reader->plan))
		return enter_dictionary(p, err);
	if (page->kind != NK_PAGE_VIEWS)
		return NK_OK;
	if (reader->n_heap > 0 && reader->heap[reader->n_heap - 1] == page->buffer) {
		page->slot = (uint32_t)reader->n_heap - 1;
		return NK_OK;
	}
	page->slot = (uint32_t)reader->n_heap;
	return add_to_heap(reader, page->buffer, err);
}

static void name_slot(nk_view *views, int64_t n, uint32_t slot)
{
	if (slot == 0)
		return;
	for (int64_t i = 0; i < n; i++)
		if (views[i].n_bytes > NK_VIEW_INLINE)
			views[i].buffer = slot;
}

/* Decode the page's next n non-null values to `out`. */
static nk_status take(piece *p, uint8_t *out, int64_t n, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	const nk_parquet_table *kernels = reader->kernels;
	nk_page *page = &reader->page;
	if (n == 0)
		return NK_OK;
	switch (page->kind) {
	case NK_PAGE_PLAIN: {
		int n_each = page->is_converted ? 1 << reader->plan->size_log2 : reader->plan->n_bytes_in;
		if (n > page->n_values_left)
			return too_few(err);
		if (page->is_converted)
			memcpy(out, page->values, (size_t)(n * n_each));
		else
			nk__parquet_convert(reader->plan, out, page->values, n);
		page->values += n * n_each;
		page->n_values_left -= n;
		return NK_OK;
	}
	case NK_PAGE_CODES:
		if (p->keeps_codes) {
			if (!kernels->codes(&page->codes, (uint32_t *)out, n) ||
			    !kernels->all_below((const uint32_t *)out, n, reader->n_dictionary))
				return bad_code(err);
			return NK_OK;
		}
		if (!kernels->lookup[p->size_log2](&page->codes, out, n, reader->dictionary, reader->n_dictionary))
			return bad_code(err);
		name_slot((nk_view *)out, n, p->dictionary_slot);
		return NK_OK;
	case NK_PAGE_BITS:
		if (n > page->n_values_left)
			return too_few(err);
		nk__bits_to_bytes(out, page->values, page->next_bit, n);
		page->next_bit += n;
		page->n_values_left -= n;
		return NK_OK;
	case NK_PAGE_RLE_BOOLEANS: {
		int64_t n_ones = 0;
		NK_TRY(nk__block_reserve(reader->memory, &reader->codes, nk_bitmap_bytes(n), err));
		if (!kernels->bits(&page->codes, reader->codes.bytes, 0, n, &n_ones))
			return too_few(err);
		nk__bits_to_bytes(out, reader->codes.bytes, 0, n);
		return NK_OK;
	}
	case NK_PAGE_VIEWS:
		if (n > page->n_values_left)
			return too_few(err);
		memcpy(out, page->values, (size_t)n * sizeof(nk_view));
		name_slot((nk_view *)out, n, page->slot);
		page->values += n * (int64_t)sizeof(nk_view);
		page->n_values_left -= n;
		return NK_OK;
	case NK_PAGE_UNREAD: break;
	}
	return too_few(err);
}

/* Pass over the page's next n non-null values. */
static nk_status pass(nk_column_reader *reader, int64_t n, nk_error *err)
{
	nk_page *page = &reader->page;
	if (page->kind == NK_PAGE_CODES || page->kind == NK_PAGE_RLE_BOOLEANS)
		return reader->kernels->skip(&page->codes, n) ? NK_OK : too_few(err);
	if (n > page->n_values_left)
		return too_few(err);
	if (page->kind == NK_PAGE_BITS)
		page->next_bit += n;
	else if (page->kind == NK_PAGE_VIEWS)
		page->values += n * (int64_t)sizeof(nk_view);
	else
		page->values += n * (page->is_converted ? 1 << reader->plan->size_log2 : reader->plan->n_bytes_in);
	page->n_values_left -= n;
	return NK_OK;
}

/* Of the page's next n values, none of them null, those at `chosen` go to `out`. */
static nk_status take_chosen(piece *p, uint8_t *out, int64_t n, const uint32_t *chosen, int64_t n_chosen,
                             nk_error *err)
{
	nk_column_reader *reader = p->reader;
	const nk_parquet_table *kernels = reader->kernels;
	nk_page *page = &reader->page;
	if (page->kind == NK_PAGE_CODES) {
		NK_TRY(nk__block_reserve(reader->memory, &reader->codes, 8 * n, err));
		uint32_t *codes = (uint32_t *)reader->codes.bytes,
				 *picked = p->keeps_codes ? (uint32_t *)out : codes + n;
		if (!kernels->codes(&page->codes, codes, n))
			return bad_code(err);
		kernels->gather[2](picked, codes, chosen, n_chosen);
		if (!kernels->all_below(picked, n_chosen, reader->n_dictionary))
			return bad_code(err);
		if (!p->keeps_codes) {
			kernels->gather[p->size_log2](out, reader->dictionary, picked, n_chosen);
			name_slot((nk_view *)out, n_chosen, p->dictionary_slot);
		}
		return NK_OK;
	}
	bool is_ready =
		page->kind == NK_PAGE_VIEWS ||
		(page->kind == NK_PAGE_PLAIN && (page->is_converted || reader->plan->conversion == NK_CONVERT_COPY));
	if (is_ready) {
		const uint8_t *values = page->values;
		NK_TRY(pass(reader, n, err));
		kernels->gather[p->size_log2](out, values, chosen, n_chosen);
		if (page->kind == NK_PAGE_VIEWS)
			name_slot((nk_view *)out, n_chosen, page->slot);
		return NK_OK;
	}
	NK_TRY(nk__block_reserve(reader->memory, &reader->values, n << p->size_log2, err));
	NK_TRY(take(p, reader->values.bytes, n, err));
	kernels->gather[p->size_log2](out, reader->values.bytes, chosen, n_chosen);
	return NK_OK;
}

/* Codes so far become views; further pages give views. */
static nk_status stop_keeping_codes(piece *p, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	NK_AUTO(nk_buffer) views = NULL;
	NK_TRY(nk_buffer_new(reader->memory, p->n_rows * (int64_t)sizeof(nk_view), &views, err));
	const uint32_t *codes = (const uint32_t *)p->values->bytes;
	if (p->n_done)
		NK_TRY(enter_dictionary(p, err));
	reader->kernels->gather[4](views->bytes, reader->dictionary, codes, p->n_done);
	nk_buffer_unref(p->values);
	p->values = NK_STEAL(views);
	p->bytes = p->values->bytes;
	p->keeps_codes = false;
	p->size_log2 = 4;
	return NK_OK;
}

/* The levels of the next n rows as bits from position `at` of `bits`. */
static nk_status take_levels(nk_column_reader *reader, uint8_t *bits, int64_t at, int64_t n, int64_t *n_valid,
                             nk_error *err)
{
	*n_valid = 0;
	if (!reader->kernels->bits(&reader->page.levels, bits, at, n, n_valid))
		return nk_fail(err, NK_COMPUTE, "corrupt page: fewer levels than rows");
	return NK_OK;
}

/* All of the page's next n rows. */
static nk_status read_dense(piece *p, int64_t n, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	uint8_t *out = p->bytes + (p->n_done << p->size_log2);
	int64_t n_valid = n;
	if (p->validity)
		NK_TRY(take_levels(reader, p->validity->bytes, p->n_done, n, &n_valid, err));
	NK_TRY(take(p, out + ((n - n_valid) << p->size_log2), n_valid, err));
	if (n_valid < n) {
		const uint8_t *valid = p->validity->bytes + (p->n_done >> 3);
		if (p->n_done & 7) {
			NK_TRY(nk__block_reserve(reader->memory, &reader->valid, nk_bitmap_bytes(n), err));
			nk_bitmap_copy(reader->valid.bytes, p->validity->bytes, p->n_done, n);
			valid = reader->valid.bytes;
		}
		reader->kernels->spread[p->size_log2](out, valid, n, n_valid);
	}
	p->n_valid += n_valid;
	p->n_done += n;
	return NK_OK;
}

/* Of the page's next n rows those at `chosen`. */
static nk_status read_chosen(piece *p, int64_t n, const uint32_t *chosen, int64_t n_chosen, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	uint8_t *out = p->bytes + (p->n_done << p->size_log2);
	int64_t n_valid = n;
	if (p->validity) {
		NK_TRY(nk__block_reserve(reader->memory, &reader->valid, nk_bitmap_bytes(n), err));
		NK_TRY(take_levels(reader, reader->valid.bytes, 0, n, &n_valid, err));
	}
	if (n_valid == n) {
		NK_TRY(take_chosen(p, out, n, chosen, n_chosen, err));
		if (p->validity)
			nk_bitmap_fill(p->validity->bytes, p->n_done, n_chosen, true);
		p->n_valid += n_chosen;
	} else {
		NK_TRY(nk__block_reserve(reader->memory, &reader->values, n << p->size_log2, err));
		NK_TRY(take(p, reader->values.bytes + ((n - n_valid) << p->size_log2), n_valid, err));
		reader->kernels->spread[p->size_log2](reader->values.bytes, reader->valid.bytes, n, n_valid);
		reader->kernels->gather[p->size_log2](out, reader->values.bytes, chosen, n_chosen);
		for (int64_t i = 0; i < n_chosen; i++) {
			bool is_valid = nk_bitmap_get(reader->valid.bytes, chosen[i]);
			nk_bitmap_put(p->validity->bytes, p->n_done + i, is_valid);
			p->n_valid += is_valid;
		}
	}
	p->n_done += n_chosen;
	return NK_OK;
}

/* Pass over n rows of the current page. */
static nk_status skip_in_page(nk_column_reader *reader, int64_t n, nk_error *err)
{
	nk_page *page = &reader->page;
	page->n_rows_left -= n;
	if (page->n_rows_left == 0) {
		if (page->kind == NK_PAGE_UNREAD)
			nk_count(&reader->counters->n_pages_pruned, 1);
		return NK_OK; /* whatever is left in it is never looked at */
	}
	if (page->kind == NK_PAGE_UNREAD)
		NK_TRY(nk__page_load(reader, err));
	int64_t n_valid = n;
	if (reader->plan->element->definition_max > 0) {
		NK_TRY(nk__block_reserve(reader->memory, &reader->valid, nk_bitmap_bytes(n), err));
		NK_TRY(take_levels(reader, reader->valid.bytes, 0, n, &n_valid, err));
	}
	return pass(reader, n_valid, err);
}

nk_status nk__column_skip(nk_column_reader *reader, int64_t n_rows, nk_error *err)
{
	if (reader->plan->conversion == NK_CONVERT_NULL)
		return NK_OK;
	while (n_rows > 0) {
		if (reader->page.n_rows_left == 0)
			NK_TRY(nk__page_next(reader, err));
		int64_t n = NK_MIN(n_rows, reader->page.n_rows_left);
		NK_TRY(skip_in_page(reader, n, err));
		n_rows -= n;
	}
	return NK_OK;
}

/* An array of the chunk's dictionary, for arrays that keep their codes. */
static nk_status make_dictionary(nk_column_reader *reader, nk_error *err)
{
	if (reader->dictionary_array)
		return NK_OK;
	int64_t n_bytes = reader->n_dictionary * (int64_t)sizeof(nk_view);
	NK_AUTO(nk_buffer) views = NULL;
	NK_TRY(nk_buffer_new(reader->memory, n_bytes, &views, err));
	memcpy(views->bytes, reader->dictionary, (size_t)n_bytes);
	NK_AUTO(nk_heap) heap = NULL;
	nk_buffer *buffer = nk_buffer_ref(reader->dictionary_buffer);
	NK_TRY(nk_heap_new(&buffer, 1, &heap, err));
	return nk_array_new_flat(reader->plan->dtype, NK_PHYSICAL_VIEW, reader->n_dictionary, NK_STEAL(views),
	                         NULL, 0, NK_STEAL(heap), &reader->dictionary_array, err);
}

static nk_status start_piece(piece *p, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	const nk_leaf_plan *plan = reader->plan;
	p->size_log2 = plan->size_log2;
	if (nk__leaf_is_text(plan) && reader->has_dictionary && reader->n_dictionary > 0 &&
	    reader->n_dictionary <= DICTIONARY_MAX &&
	    reader->n_dictionary <= reader->n_rows_of_group / ROWS_PER_ENTRY_MIN) {
		p->keeps_codes = true;
		p->size_log2 = 2;
	}
	if (plan->element->definition_max > 0)
		NK_TRY(nk_buffer_new_zeroed(reader->memory, nk_bitmap_bytes(p->n_rows), &p->validity, err));
	if (plan->conversion == NK_CONVERT_BOOLEAN) {
		NK_TRY(nk__block_reserve(reader->memory, &reader->booleans, p->n_rows, err));
		p->bytes = reader->booleans.bytes;
		return NK_OK;
	}
	NK_TRY(nk_buffer_new(reader->memory, p->n_rows << p->size_log2, &p->values, err));
	p->bytes = p->values->bytes;
	return NK_OK;
}

static nk_status finish_piece(piece *p, nk_array **out, nk_error *err)
{
	nk_column_reader *reader = p->reader;
	const nk_leaf_plan *plan = reader->plan;
	int64_t n_nulls = p->n_rows - p->n_valid;
	if (n_nulls == 0) {
		nk_buffer_unref(p->validity);
		p->validity = NULL;
	}
	if (p->keeps_codes) {
		NK_TRY(make_dictionary(reader, err));
		return nk_array_new_dictionary(nk_array_ref(reader->dictionary_array), p->n_rows, NK_STEAL(p->values),
		                               NK_STEAL(p->validity), n_nulls, out, err);
	}
	NK_AUTO(nk_heap) heap = NULL;
	if (nk__leaf_is_text(plan) && reader->n_heap > 0) {
		int n_heap = (int)reader->n_heap;
		reader->n_heap = 0; /* the references go to the heap, whether or not it is made */
		NK_TRY(nk_heap_new(reader->heap, n_heap, &heap, err));
	}
	if (plan->conversion == NK_CONVERT_BOOLEAN) {
		NK_TRY(nk_buffer_new_zeroed(reader->memory, nk_bitmap_bytes(p->n_rows), &p->values, err));
		nk__bytes_to_bits(p->values->bytes, 0, p->bytes, p->n_rows);
	}
	return nk_array_new_flat(plan->dtype, plan->physical, p->n_rows, NK_STEAL(p->values),
	                         NK_STEAL(p->validity), n_nulls, NK_STEAL(heap), out, err);
}

static nk_status read_pages(piece *p, int64_t n_rows, const uint32_t *positions, int64_t n_selected,
                            nk_error *err)
{
	nk_column_reader *reader = p->reader;
	nk_page *page = &reader->page;
	int64_t row = 0, next = 0;
	while (row < n_rows) {
		if (page->n_rows_left == 0)
			NK_TRY(nk__page_next(reader, err));
		int64_t n = NK_MIN(n_rows - row, page->n_rows_left), n_chosen = n;
		if (positions) {
			int64_t end = next;
			while (end < n_selected && positions[end] < row + n)
				end++;
			n_chosen = end - next;
		}
		if (n_chosen == 0) {
			NK_TRY(skip_in_page(reader, n, err));
			row += n;
			continue;
		}
		if (page->kind == NK_PAGE_UNREAD)
			NK_TRY(nk__page_load(reader, err));
		if (p->keeps_codes && page->kind != NK_PAGE_CODES)
			NK_TRY(stop_keeping_codes(p, err));
		NK_TRY(enter_page(p, err));
		if (n_chosen == n) {
			NK_TRY(read_dense(p, n, err));
		} else {
			const uint32_t *chosen = positions + next;
			if (row > 0) {
				/* relative to the page's rows */
				NK_TRY(nk__block_reserve(reader->memory, &reader->positions, 4 * n_chosen, err));
				uint32_t *relative = (uint32_t *)reader->positions.bytes;
				for (int64_t i = 0; i < n_chosen; i++)
					relative[i] = chosen[i] - (uint32_t)row;
				chosen = relative;
			}
			NK_TRY(read_chosen(p, n, chosen, n_chosen, err));
		}
		page->n_rows_left -= n;
		next += n_chosen;
		row += n;
	}
	return NK_OK;
}

nk_status nk__column_read(nk_column_reader *reader, int64_t n_rows, const uint32_t *positions,
                          int64_t n_selected, nk_array **out, nk_error *err)
{
	piece p = {.reader = reader, .n_rows = positions ? n_selected : n_rows};
	if (reader->plan->conversion == NK_CONVERT_NULL)
		return nk_array_new_null(reader->memory, reader->plan->dtype, p.n_rows, out, err);
	if (n_rows > 0 && reader->page.n_rows_left == 0)
		NK_TRY(nk__page_next(reader, err)); /* which has read the dictionary, if there is one */
	nk_status status = start_piece(&p, err);
	if (status == NK_OK)
		status = read_pages(&p, n_rows, positions, n_selected, err);
	if (status == NK_OK)
		status = finish_piece(&p, out, err);
	clear_heap(reader);
	nk_buffer_unref(p.values);
	nk_buffer_unref(p.validity);
	return status;
}
