/* Parquet metadata: the input as a footer, a page header, an offset index and a column index. */
#include "io/parquet/schema.h"
#include "replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	int64_t n = (int64_t)n_bytes;
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, 1 << 28);
	NK_AUTO(nk_parquet_metadata) metadata = NULL;
	nk_error err = {0};
	if (nk__parquet_metadata_parse(memory, bytes, n, n + 12, &metadata, &err) == NK_OK) {
		nk_parquet_columns columns = {0};
		if (nk__parquet_columns(metadata, &columns, &err) == NK_OK)
			nk_schema_unref(columns.schema);
	}
	nk_page_header header;
	(void)!nk__page_header_parse(bytes, n, &header, &err);
	NK_AUTO(nk_arena) arena = nk_arena_new(memory);
	nk_offset_index offsets;
	nk_column_index bounds;
	if (arena) {
		(void)!nk__offset_index_parse(arena, bytes, n, 1000, &offsets, &err);
		(void)!nk__column_index_parse(arena, bytes, n, &bounds, &err);
	}
	return 0;
}
