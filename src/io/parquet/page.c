/* Pages: from bytes of a chunk to values that column.c can take.
 *
 * A header is read when the page before it is used up; the body is decompressed only when a row of the page is
 * wanted, so that skipped pages cost their header. Bodies of fixed-size values go into one block that is used again
 * for every page; texts go into buffers of their own, because arrays keep pointing into them. Uncompressed bodies
 * are used where they lie. */
#include <string.h>

#include "io/codec/snappy.h"
#include "io/parquet/column.h"

nk_status nk__block_reserve(nk_memory *memory, nk_block *block, int64_t n_bytes, nk_error *err)
{
	if (n_bytes <= block->n_bytes)
		return NK_OK;
	n_bytes = NK_MAX(n_bytes, block->n_bytes + block->n_bytes / 2);
	nk_free(memory, block->bytes, block->n_bytes);
	*block = (nk_block){0};
	void *bytes;
	NK_TRY(nk_alloc(memory, n_bytes, &bytes, err));
	*block = (nk_block){bytes, n_bytes};
	return NK_OK;
}

void nk__page_clear(nk_page *page)
{
	nk_buffer_unref(page->body_buffer);
	nk_buffer_unref(page->buffer);
	*page = (nk_page){0};
}

/* A claim of decompressed bytes that no block of this size can hold is refused before memory is asked for. */
static nk_status check_ratio(nk_codec codec, int64_t n_in, int64_t n_out, nk_error *err)
{
	static const int most[NK_CODEC_N] = {[NK_CODEC_NONE] = 1,
	                                     [NK_CODEC_SNAPPY] = 22,
	                                     [NK_CODEC_LZ4_RAW] = 256,
	                                     [NK_CODEC_LZ4_ANY] = 256,
	                                     [NK_CODEC_GZIP] = 1040};
	if (most[codec] > 0 && n_out > n_in * most[codec] + 64)
		return nk_fail(err, NK_COMPUTE, "corrupt page header: %lld bytes cannot hold %lld", (long long)n_in,
		               (long long)n_out);
	return NK_OK;
}

typedef struct page_body {
	const uint8_t *bytes;
	int64_t n_bytes;
	nk_buffer *buffer;      /* what holds the bytes, when texts are to point into it; owned */
	uint32_t buffer_offset; /* of bytes */
} page_body;

/* The body's bytes after decompression. Its first n_prefix bytes are never compressed (levels of version 2). */
static nk_status read_body(nk_column_reader *reader, const uint8_t *bytes, const nk_page_header *header,
                           nk_codec codec, int64_t n_prefix, nk_block *block, page_body *out, nk_error *err)
{
	bool is_text = nk__leaf_is_text(reader->plan);
	int64_t n_out = header->n_bytes_uncompressed, n_in = header->n_bytes;
	int64_t place = bytes - reader->chunk->bytes;
	if (codec == NK_CODEC_NONE) {
		if (place + n_in <= UINT32_MAX || !is_text) {
			nk_buffer *buffer = is_text ? nk_buffer_ref(reader->chunk) : NULL;
			*out = (page_body){bytes, n_in, buffer, (uint32_t)place};
			return NK_OK;
		}
		n_out = n_in;
	}
	NK_TRY(check_ratio(codec, n_in, n_out, err));
	NK_AUTO(nk_buffer) buffer = NULL;
	uint8_t *to;
	if (is_text) {
		NK_TRY(nk_buffer_new(reader->memory, n_out, &buffer, err));
		to = buffer->bytes;
	} else {
		NK_TRY(nk__block_reserve(reader->memory, block, NK_MAX(n_out, 1), err));
		to = block->bytes;
	}
	int64_t ns_start = nk_now_ns();
	if (n_prefix > 0)
		memcpy(to, bytes, (size_t)n_prefix);
	if (n_out > n_prefix || n_in > n_prefix)
		NK_TRY(nk__codec_decompress(codec, bytes + n_prefix, n_in - n_prefix, to + n_prefix, n_out - n_prefix,
		                            err));
	reader->ns_decompress += nk_now_ns() - ns_start;
	nk_count(&reader->counters->n_bytes_decompressed, n_out);
	*out = (page_body){to, n_out, NK_STEAL(buffer), 0};
	return NK_OK;
}

static nk_status check_utf8(const nk_column_reader *reader, const uint8_t *bytes, int64_t n_bytes,
                            const nk_view *views, int64_t n, const uint8_t *base, nk_error *err)
{
	if (!reader->plan->is_utf8 || reader->kernels->is_ascii(bytes, n_bytes) ||
	    nk__views_are_utf8(views, n, base))
		return NK_OK;
	return nk_fail(err, NK_COMPUTE, "a string is not valid UTF-8");
}

/* Views of n plain byte arrays, checked. */
static nk_status plain_views(nk_column_reader *reader, const page_body *body, const uint8_t *bytes,
                             int64_t n_bytes, int64_t n, uint32_t slot, nk_view *out, nk_error *err)
{
	uint32_t offset = body->buffer_offset + (uint32_t)(bytes - body->bytes);
	if (reader->plan->conversion == NK_CONVERT_FIXED_TEXT) {
		if (n > 0 && n_bytes / NK_MAX(reader->plan->n_bytes_in, 1) < n)
			return nk_fail(err, NK_COMPUTE, "corrupt page: fewer values than announced");
		nk__parquet_fixed_views(out, n, bytes, reader->plan->n_bytes_in, slot, offset);
		n_bytes = n * reader->plan->n_bytes_in;
	} else {
		NK_TRY(nk__parquet_views(out, n, bytes, n_bytes, slot, offset, &n_bytes, err));
	}
	return check_utf8(reader, bytes, n_bytes, out, n, body->bytes - body->buffer_offset, err);
}

/* Plain length-prefixed Decimals to int64 or int128. */
static nk_status plain_decimals(const nk_leaf_plan *plan, const uint8_t *bytes, int64_t n_bytes, int64_t n,
                                uint8_t *out, nk_error *err)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t length = 0;
		if (n_bytes >= 4)
			memcpy(&length, bytes, 4);
		if (n_bytes < 4 || length > n_bytes - 4)
			return nk_fail(err, NK_COMPUTE, "corrupt page: a byte array reaches past the end of its page");
		NK_TRY(nk__parquet_decimal(out + (i << plan->size_log2), plan->physical, bytes + 4, length, err));
		bytes += 4 + (int64_t)length;
		n_bytes -= 4 + (int64_t)length;
	}
	return NK_OK;
}

static bool is_varying_decimal(const nk_leaf_plan *plan)
{
	return plan->conversion == NK_CONVERT_TEXT_TO_I64 || plan->conversion == NK_CONVERT_TEXT_TO_I128;
}

static nk_status load_dictionary(nk_column_reader *reader, const uint8_t *bytes, const nk_page_header *header,
                                 nk_error *err)
{
	const nk_leaf_plan *plan = reader->plan;
	int64_t n = header->n_values;
	if (reader->has_dictionary)
		return nk_fail(err, NK_COMPUTE, "corrupt chunk: a second dictionary page");
	if (plan->conversion == NK_CONVERT_BOOLEAN)
		return nk_fail(err, NK_COMPUTE, "corrupt chunk: a dictionary of booleans");
	if (plan->conversion == NK_CONVERT_NULL) {
		reader->n_dictionary = 0;
		reader->has_dictionary = true;
		return NK_OK;
	}
	page_body body = {reader->dictionary_raw.bytes, header->n_bytes_uncompressed, NULL, 0};
	if (!reader->is_unpacked)
		NK_TRY(read_body(reader, bytes, header, reader->codec, 0, &reader->dictionary_raw, &body, err));
	nk_buffer_unref(reader->dictionary_buffer);
	reader->dictionary_buffer = body.buffer;
	if (n > body.n_bytes && plan->n_bytes_in != 0)
		return nk_fail(err, NK_COMPUTE, "corrupt dictionary page: fewer values than announced");
	if (nk__leaf_is_text(plan)) {
		if (n > body.n_bytes / 4 + 1 && plan->conversion == NK_CONVERT_TEXT)
			return nk_fail(err, NK_COMPUTE, "corrupt dictionary page: fewer values than announced");
		NK_TRY(
			nk__block_reserve(reader->memory, &reader->dictionary_values, n * (int64_t)sizeof(nk_view), err));
		reader->dictionary = reader->dictionary_values.bytes;
		NK_TRY(plain_views(reader, &body, body.bytes, body.n_bytes, n, 0,
		                   (nk_view *)reader->dictionary_values.bytes, err));
	} else if (is_varying_decimal(plan)) {
		if (n > body.n_bytes / 4)
			return nk_fail(err, NK_COMPUTE, "corrupt dictionary page: fewer values than announced");
		NK_TRY(nk__block_reserve(reader->memory, &reader->dictionary_values, n << plan->size_log2, err));
		reader->dictionary = reader->dictionary_values.bytes;
		NK_TRY(plain_decimals(plan, body.bytes, body.n_bytes, n, reader->dictionary_values.bytes, err));
	} else {
		if (n * plan->n_bytes_in > body.n_bytes)
			return nk_fail(err, NK_COMPUTE, "corrupt dictionary page: fewer values than announced");
		reader->dictionary = body.bytes;
		if (plan->conversion != NK_CONVERT_COPY) {
			NK_TRY(nk__block_reserve(reader->memory, &reader->dictionary_values, n << plan->size_log2, err));
			reader->dictionary = reader->dictionary_values.bytes;
			nk__parquet_convert(plan, reader->dictionary_values.bytes, body.bytes, n);
		}
	}
	reader->n_dictionary = n;
	reader->has_dictionary = true;
	return NK_OK;
}

/* The first page as a block to decompress into dictionary_raw; false when it is none of that kind. */
static nk_status dictionary_block(nk_column_reader *reader, nk_snappy_block *out, bool *is_one, nk_error *err)
{
	enum { SMALL_PAGE = 4096 };
	nk_page_header header;
	*is_one = false;
	if (reader->codec != NK_CODEC_SNAPPY || nk__leaf_is_text(reader->plan) ||
	    nk__page_header_parse(reader->at, reader->end - reader->at, &header, NULL) != NK_OK)
		return NK_OK;
	int64_t n_in = header.n_bytes, n_out = header.n_bytes_uncompressed;
	const uint8_t *bytes = reader->at + header.n_header_bytes;
	if (header.type != NK_PAGE_DICTIONARY || n_out < SMALL_PAGE || n_in > reader->end - bytes ||
	    check_ratio(reader->codec, n_in, n_out, NULL) != NK_OK)
		return NK_OK;
	NK_TRY(nk__block_reserve(reader->memory, &reader->dictionary_raw, n_out, err));
	*out = (nk_snappy_block){bytes, n_in, reader->dictionary_raw.bytes, n_out};
	*is_one = true;
	return NK_OK;
}

nk_status nk__dictionaries_unpack(nk_column_reader *const *readers, int n, nk_error *err)
{
	enum { AT_ONCE = 16 };
	nk_snappy_block blocks[AT_ONCE];
	nk_column_reader *owners[AT_ONCE];
	int n_blocks = 0;
	for (int i = 0; i < n && n_blocks < AT_ONCE; i++) {
		bool is_one;
		nk_snappy_block block;
		NK_TRY(dictionary_block(readers[i], &block, &is_one, err));
		if (!is_one)
			continue;
		/* largest first, so that partners end at about the same time */
		int at = n_blocks++;
		for (; at > 0 && blocks[at - 1].n_out < block.n_out; at--) {
			blocks[at] = blocks[at - 1];
			owners[at] = owners[at - 1];
		}
		blocks[at] = block;
		owners[at] = readers[i];
	}
	for (int i = 0; i + 1 < n_blocks; i += 2) {
		/* a malformed block is met again, and reported, by the read of its column */
		if (!nk__snappy_decompress_two(&blocks[i]))
			continue;
		owners[i]->is_unpacked = owners[i + 1]->is_unpacked = true;
		nk_count(&owners[i]->counters->n_bytes_decompressed, blocks[i].n_out + blocks[i + 1].n_out);
	}
	return NK_OK;
}

nk_status nk__page_next(nk_column_reader *reader, nk_error *err)
{
	nk__page_clear(&reader->page);
	for (;;) {
		if (reader->at >= reader->end)
			return nk_fail(err, NK_COMPUTE, "corrupt chunk: its pages hold fewer rows than the row group");
		nk_page_header header;
		NK_TRY(nk__page_header_parse(reader->at, reader->end - reader->at, &header, err));
		const uint8_t *bytes = reader->at + header.n_header_bytes;
		if (header.n_bytes > reader->end - bytes)
			return nk_fail(err, NK_COMPUTE, "corrupt chunk: a page reaches past its end");
		reader->at = bytes + header.n_bytes;
		if (header.type == NK_PAGE_DICTIONARY) {
			NK_TRY(load_dictionary(reader, bytes, &header, err));
			continue;
		}
		if (header.type != NK_PAGE_DATA && header.type != NK_PAGE_DATA_V2)
			continue;
		nk_count(&reader->counters->n_pages, 1);
		if (header.n_values == 0)
			continue;
		reader->page.header = header;
		reader->page.body = bytes;
		reader->page.n_rows = NK_MIN(header.n_values, reader->n_rows_in_pages);
		reader->page.n_rows_left = reader->page.n_rows;
		reader->n_rows_in_pages -= reader->page.n_rows;
		return NK_OK;
	}
}

/* The deprecated packing of levels goes from the highest bit down: turned round, it is one packed run. */
static nk_status bit_packed_levels(nk_column_reader *reader, const uint8_t *bytes, int64_t n_bytes,
                                   nk_rle *out, int64_t *n_used, nk_error *err)
{
	int64_t n = reader->page.header.n_values;
	*n_used = nk_bitmap_bytes(n);
	if (*n_used > n_bytes)
		return nk_fail(err, NK_COMPUTE, "corrupt page: levels are cut");
	NK_TRY(nk__block_reserve(reader->memory, &reader->bits, *n_used, err));
	for (int64_t i = 0; i < *n_used; i++) {
		unsigned byte = bytes[i];
		byte = (byte & 0xf0) >> 4 | (byte & 0x0f) << 4;
		byte = (byte & 0xcc) >> 2 | (byte & 0x33) << 2;
		reader->bits.bytes[i] = (uint8_t)((byte & 0xaa) >> 1 | (byte & 0x55) << 1);
	}
	*out = nk__rle_start(reader->bits.bytes, *n_used, 1);
	out->n_packed = n;
	return NK_OK;
}

static nk_status cut_levels(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "corrupt page: levels are cut");
}

/* n levels of at most `most` to `out`, from a stream that starts at *bytes and is n_stream long (-1: a length of four
 * bytes stands before it); *bytes moves behind it. */
static nk_status decode_levels(nk_column_reader *reader, const uint8_t **bytes, int64_t *n_bytes,
                               int64_t n_stream, int most, int64_t n, uint8_t *out, nk_error *err)
{
	if (n_stream < 0) {
		uint32_t length;
		if (most == 0) {
			memset(out, 0, (size_t)n);
			return NK_OK;
		}
		if (*n_bytes < 4)
			return cut_levels(err);
		memcpy(&length, *bytes, 4);
		*bytes += 4;
		*n_bytes -= 4;
		n_stream = length;
	}
	if (n_stream > *n_bytes)
		return cut_levels(err);
	if (n_stream == 0 || most == 0) { /* none are written where all are the same */
		memset(out, most, (size_t)n);
	} else {
		nk_rle stream = nk__rle_start(*bytes, n_stream, 32 - __builtin_clz((unsigned)most));
		NK_TRY(nk__block_reserve(reader->memory, &reader->codes, 4 * n, err));
		uint32_t *levels = (uint32_t *)(void *)reader->codes.bytes;
		if (!reader->kernels->codes(&stream, levels, n) || !reader->kernels->all_below(levels, n, most + 1))
			return nk_fail(err, NK_COMPUTE, "corrupt page: fewer levels than values, or levels too deep");
		for (int64_t i = 0; i < n; i++)
			out[i] = (uint8_t)levels[i];
	}
	*bytes += n_stream;
	*n_bytes -= n_stream;
	return NK_OK;
}

/* The same for the deprecated packing: levels of a few bits each, from the highest bit of each byte down. */
static nk_status unpack_levels(const uint8_t **bytes, int64_t *n_bytes, int most, int64_t n, uint8_t *out,
                               nk_error *err)
{
	int width = most == 0 ? 0 : 32 - __builtin_clz((unsigned)most);
	int64_t n_used = nk_bitmap_bytes(n * width);
	if (n_used > *n_bytes)
		return cut_levels(err);
	for (int64_t i = 0; i < n; i++) {
		int level = 0;
		for (int64_t bit = i * width; bit < (i + 1) * width; bit++)
			level = level << 1 | ((*bytes)[bit >> 3] >> (7 - (bit & 7)) & 1);
		if (level > most)
			return nk_fail(err, NK_COMPUTE, "corrupt page: levels are too deep");
		out[i] = (uint8_t)level;
	}
	*bytes += n_used;
	*n_bytes -= n_used;
	return NK_OK;
}

/* Keep the levels of a nested leaf, and make of them what a flat optional column has: one bit a slot. */
static nk_status read_nested_levels(nk_column_reader *reader, const uint8_t **bytes, int64_t *n_bytes,
                                    nk_error *err)
{
	nk_page *page = &reader->page;
	const nk_page_header *header = &page->header;
	const nk_leaf_plan *plan = reader->plan;
	bool is_v2 = header->type == NK_PAGE_DATA_V2;
	int64_t n = page->n_rows, n_known = reader->n_levels, n_slots = 0;
	int deepest = plan->element->definition_max;
	NK_TRY(NK_GROW(reader->memory, &reader->definitions, &reader->definitions_capacity, n_known + n, err));
	NK_TRY(NK_GROW(reader->memory, &reader->repetitions, &reader->repetitions_capacity, n_known + n, err));
	uint8_t *definitions = reader->definitions + n_known;
	if (!is_v2 && header->repetition_encoding == NK_ENCODING_BIT_PACKED)
		NK_TRY(unpack_levels(bytes, n_bytes, plan->element->repetition_max, n, reader->repetitions + n_known,
		                     err));
	else
		NK_TRY(decode_levels(reader, bytes, n_bytes, is_v2 ? header->n_repetition_bytes : -1,
		                     plan->element->repetition_max, n, reader->repetitions + n_known, err));
	if (is_v2 && header->n_repetition_bytes == 0) /* every entry is a row */
		memset(reader->repetitions + n_known, 0, (size_t)n);
	if (!is_v2 && header->definition_encoding == NK_ENCODING_BIT_PACKED)
		NK_TRY(unpack_levels(bytes, n_bytes, deepest, n, definitions, err));
	else
		NK_TRY(decode_levels(reader, bytes, n_bytes, is_v2 ? header->n_definition_bytes : -1, deepest, n,
		                     definitions, err));
	reader->n_levels += n;
	NK_TRY(nk__block_reserve(reader->memory, &reader->bits, nk_bitmap_bytes(n) + 8, err));
	memset(reader->bits.bytes, 0, (size_t)nk_bitmap_bytes(n));
	for (int64_t i = 0; i < n; i++) {
		if (definitions[i] < plan->slot_definition)
			continue;
		reader->bits.bytes[n_slots >> 3] |= (uint8_t)((definitions[i] == deepest) << (n_slots & 7));
		n_slots++;
	}
	page->levels = nk__rle_start(reader->bits.bytes, nk_bitmap_bytes(n_slots), 1);
	page->levels.n_packed = n_slots;
	page->n_rows = page->n_rows_left = n_slots;
	return NK_OK;
}

/* Set page->levels and return the bytes that values take. */
static nk_status read_levels(nk_column_reader *reader, const uint8_t **bytes, int64_t *n_bytes, nk_error *err)
{
	nk_page *page = &reader->page;
	if (reader->plan->is_nested)
		return read_nested_levels(reader, bytes, n_bytes, err);
	bool is_optional = reader->plan->element->definition_max > 0;
	if (page->header.type == NK_PAGE_DATA_V2) {
		int64_t n_definition = page->header.n_definition_bytes;
		int64_t n_levels = n_definition + page->header.n_repetition_bytes;
		page->levels = nk__rle_start(*bytes + page->header.n_repetition_bytes, n_definition, 1);
		if (n_definition == 0) { /* no levels: no nulls */
			page->levels.n_repeated = INT64_MAX;
			page->levels.value = 1;
		}
		*bytes += n_levels;
		*n_bytes -= n_levels;
		return NK_OK;
	}
	if (!is_optional)
		return NK_OK;
	int64_t n_used;
	if (page->header.definition_encoding == NK_ENCODING_BIT_PACKED) {
		NK_TRY(bit_packed_levels(reader, *bytes, *n_bytes, &page->levels, &n_used, err));
	} else {
		uint32_t n_definition = 0;
		if (*n_bytes >= 4)
			memcpy(&n_definition, *bytes, 4);
		if (*n_bytes < 4 || n_definition > *n_bytes - 4)
			return nk_fail(err, NK_COMPUTE, "corrupt page: levels are cut");
		page->levels = nk__rle_start(*bytes + 4, n_definition, 1);
		n_used = 4 + (int64_t)n_definition;
	}
	*bytes += n_used;
	*n_bytes -= n_used;
	return NK_OK;
}

/* The page's values that are not null: counted from the levels. */
static nk_status count_values(nk_column_reader *reader, int64_t *out, nk_error *err)
{
	int64_t n = reader->page.n_rows;
	*out = n;
	if (reader->plan->element->definition_max == 0)
		return NK_OK;
	nk_rle levels = reader->page.levels;
	*out = 0;
	NK_TRY(nk__block_reserve(reader->memory, &reader->values, nk_bitmap_bytes(n), err));
	if (!reader->kernels->bits(&levels, reader->values.bytes, 0, n, out))
		return nk_fail(err, NK_COMPUTE, "corrupt page: fewer levels than rows");
	return NK_OK;
}

static nk_status load_views(nk_column_reader *reader, const page_body *body, const uint8_t *bytes,
                            int64_t n_bytes, nk_error *err)
{
	nk_page *page = &reader->page;
	int64_t n;
	NK_TRY(count_values(reader, &n, err));
	if (n > n_bytes / 4 && reader->plan->conversion != NK_CONVERT_FIXED_TEXT)
		return nk_fail(err, NK_COMPUTE, "corrupt page: fewer values than announced");
	if (is_varying_decimal(reader->plan)) {
		NK_TRY(nk__block_reserve(reader->memory, &reader->plain, n << reader->plan->size_log2, err));
		NK_TRY(plain_decimals(reader->plan, bytes, n_bytes, n, reader->plain.bytes, err));
		page->kind = NK_PAGE_PLAIN;
		page->is_converted = true;
		page->values = reader->plain.bytes;
	} else {
		NK_TRY(nk__block_reserve(reader->memory, &reader->views, n * (int64_t)sizeof(nk_view), err));
		NK_TRY(plain_views(reader, body, bytes, n_bytes, n, 0, (nk_view *)reader->views.bytes, err));
		page->kind = NK_PAGE_VIEWS;
		page->values = reader->views.bytes;
		page->buffer = nk_buffer_ref(page->body_buffer);
	}
	page->n_values_left = n;
	return NK_OK;
}

static nk_status load_delta_texts(nk_column_reader *reader, const uint8_t *bytes, int64_t n_bytes,
                                  nk_error *err)
{
	nk_page *page = &reader->page;
	const nk_leaf_plan *plan = reader->plan;
	int64_t n;
	NK_TRY(nk__delta_count(bytes, n_bytes, page->header.n_values, &n, err));
	NK_TRY(nk__block_reserve(reader->memory, &reader->codes, 4 * n, err));
	int32_t *lengths = (int32_t *)reader->codes.bytes;
	NK_AUTO(nk_buffer) texts = NULL;
	NK_TRY(nk__delta_texts(reader->memory, page->header.encoding, bytes, n_bytes, n, lengths, &texts, err));
	page->n_values_left = n;
	if (plan->conversion == NK_CONVERT_TEXT || plan->conversion == NK_CONVERT_FIXED_TEXT) {
		NK_TRY(nk__block_reserve(reader->memory, &reader->views, n * (int64_t)sizeof(nk_view), err));
		nk_view *views = (nk_view *)reader->views.bytes;
		for (int64_t i = 0, at = 0; i < n; at += lengths[i++])
			views[i] = nk_view_make((const char *)texts->bytes + at, (uint32_t)lengths[i], 0, (uint32_t)at);
		NK_TRY(check_utf8(reader, texts->bytes, texts->n_bytes, views, n, texts->bytes, err));
		page->kind = NK_PAGE_VIEWS;
		page->values = reader->views.bytes;
		page->buffer = NK_STEAL(texts);
		return NK_OK;
	}
	page->kind = NK_PAGE_PLAIN;
	page->is_converted = true;
	NK_TRY(nk__block_reserve(reader->memory, &reader->plain, n << plan->size_log2, err));
	page->values = reader->plain.bytes;
	for (int64_t i = 0, at = 0; i < n; at += lengths[i++]) {
		if (plan->n_bytes_in > 0 && lengths[i] != plan->n_bytes_in)
			return nk_fail(err, NK_COMPUTE, "corrupt page: a value of a wrong length");
		if (is_varying_decimal(plan))
			NK_TRY(nk__parquet_decimal(reader->plain.bytes + (i << plan->size_log2), plan->physical,
			                           texts->bytes + at, lengths[i], err));
	}
	if (!is_varying_decimal(plan))
		nk__parquet_convert(plan, reader->plain.bytes, texts->bytes, n);
	return NK_OK;
}

static nk_status load_booleans(nk_column_reader *reader, const uint8_t *bytes, int64_t n_bytes, nk_error *err)
{
	nk_page *page = &reader->page;
	if (page->header.encoding == NK_ENCODING_PLAIN) {
		page->kind = NK_PAGE_BITS;
		page->values = bytes;
		page->n_values_left = 8 * n_bytes;
		return NK_OK;
	}
	uint32_t n_stream = 0;
	if (n_bytes >= 4)
		memcpy(&n_stream, bytes, 4);
	if (page->header.encoding != NK_ENCODING_RLE || n_bytes < 4 || n_stream > n_bytes - 4)
		return nk_fail(err, NK_COMPUTE, "corrupt page of booleans (encoding %d)", page->header.encoding);
	page->kind = NK_PAGE_RLE_BOOLEANS;
	page->codes = nk__rle_start(bytes + 4, n_stream, 1);
	return NK_OK;
}

static nk_status unsupported_encoding(const nk_page *page, nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "encoding %d is not supported for this type", page->header.encoding);
}

static nk_status load_values(nk_column_reader *reader, const page_body *body, const uint8_t *bytes,
                             int64_t n_bytes, nk_error *err)
{
	nk_page *page = &reader->page;
	const nk_leaf_plan *plan = reader->plan;
	int encoding = page->header.encoding, n_each = plan->n_bytes_in;
	if (encoding == NK_ENCODING_RLE_DICTIONARY || encoding == NK_ENCODING_PLAIN_DICTIONARY) {
		if (!reader->has_dictionary)
			return nk_fail(err, NK_COMPUTE, "corrupt chunk: codes without a dictionary page");
		/* pages of nulls only may be empty */
		int width = n_bytes > 0 ? bytes[0] : 0;
		if (width > 32)
			return nk_fail(err, NK_COMPUTE, "corrupt page: codes of %d bits", width);
		page->kind = NK_PAGE_CODES;
		page->codes = n_bytes > 0 ? nk__rle_start(bytes + 1, n_bytes - 1, width) : nk__rle_start(bytes, 0, 1);
		return NK_OK;
	}
	if (plan->conversion == NK_CONVERT_BOOLEAN)
		return load_booleans(reader, bytes, n_bytes, err);
	bool is_fixed = n_each > 0 || plan->element->type == NK_PARQUET_FIXED;
	switch (encoding) {
	case NK_ENCODING_PLAIN:
		if (!is_fixed || plan->conversion == NK_CONVERT_FIXED_TEXT)
			return load_views(reader, body, bytes, n_bytes, err);
		break;
	case NK_ENCODING_DELTA_BINARY_PACKED: {
		if (plan->element->type != NK_PARQUET_INT32 && plan->element->type != NK_PARQUET_INT64)
			return unsupported_encoding(page, err);
		int64_t n, n_used;
		NK_TRY(nk__delta_count(bytes, n_bytes, page->header.n_values, &n, err));
		NK_TRY(nk__block_reserve(reader->memory, &reader->plain, n * n_each, err));
		NK_TRY(nk__delta_integers(bytes, n_bytes, reader->plain.bytes, n_each, n, &n_used, err));
		bytes = reader->plain.bytes;
		n_bytes = n * n_each;
		break;
	}
	case NK_ENCODING_DELTA_LENGTH_BYTE_ARRAY:
	case NK_ENCODING_DELTA_BYTE_ARRAY:
		if (plan->element->type != NK_PARQUET_BYTE_ARRAY && plan->element->type != NK_PARQUET_FIXED)
			return unsupported_encoding(page, err);
		return load_delta_texts(reader, bytes, n_bytes, err);
	case NK_ENCODING_BYTE_STREAM_SPLIT: {
		if (n_each == 0)
			return unsupported_encoding(page, err);
		int64_t n = n_bytes / n_each;
		if (plan->conversion == NK_CONVERT_FIXED_TEXT) {
			/* views need a buffer of their own */
			NK_AUTO(nk_buffer) texts = NULL;
			NK_TRY(nk_buffer_new(reader->memory, n * n_each, &texts, err));
			nk__byte_stream_split(bytes, n_bytes, texts->bytes, n_each);
			NK_TRY(nk__block_reserve(reader->memory, &reader->views, n * (int64_t)sizeof(nk_view), err));
			nk__parquet_fixed_views((nk_view *)reader->views.bytes, n, texts->bytes, n_each, 0, 0);
			page->kind = NK_PAGE_VIEWS;
			page->values = reader->views.bytes;
			page->n_values_left = n;
			page->buffer = NK_STEAL(texts);
			return NK_OK;
		}
		NK_TRY(nk__block_reserve(reader->memory, &reader->plain, n * n_each, err));
		nk__byte_stream_split(bytes, n_bytes, reader->plain.bytes, n_each);
		bytes = reader->plain.bytes;
		n_bytes = n * n_each;
		break;
	}
	default: return unsupported_encoding(page, err);
	}
	page->kind = NK_PAGE_PLAIN;
	page->values = bytes;
	page->n_values_left = n_each > 0 ? n_bytes / n_each : 0;
	return NK_OK;
}

nk_status nk__page_load(nk_column_reader *reader, nk_error *err)
{
	nk_page *page = &reader->page;
	const nk_page_header *header = &page->header;
	bool is_v2 = header->type == NK_PAGE_DATA_V2;
	nk_codec codec = is_v2 && !header->is_compressed ? NK_CODEC_NONE : reader->codec;
	page_body body;
	NK_TRY(read_body(reader, page->body, header, codec,
	                 is_v2 ? header->n_definition_bytes + header->n_repetition_bytes : 0, &reader->raw, &body,
	                 err));
	page->body_buffer = body.buffer;
	page->slot = 0;
	const uint8_t *bytes = body.bytes;
	int64_t n_bytes = body.n_bytes;
	NK_TRY(read_levels(reader, &bytes, &n_bytes, err));
	return load_values(reader, &body, bytes, n_bytes, err);
}
