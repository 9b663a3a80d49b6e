/* Which row groups and pages can be left out. Everything here is advice from the writer: what is absent or does not
 * make sense prunes nothing. */
#include <string.h>

#include "io/parquet/source_internal.h"

bool nk__group_may_pass(const nk_parquet_file *file, int group, const nk_scan_request *request)
{
	const nk_row_group *g = &file->metadata->groups[group];
	for (int i = 0; i < request->n_conjuncts; i++) {
		const nk_scan_conjunct *conjunct = &request->conjuncts[i];
		if (conjunct->op == NK_TEST_NONE || conjunct->n_columns != 1)
			continue;
		if (!nk__parquet_is_flat(file, conjunct->columns[0]))
			continue;
		const nk_leaf_plan *plan = nk__parquet_plan(file, conjunct->columns[0]);
		const nk_parquet_statistics *s = &g->chunks[plan->leaf].statistics;
		nk_parquet_bounds bounds =
			nk__parquet_bounds(plan, s->min, s->max, s->is_deprecated, g->n_rows, s->n_nulls);
		if (!nk__bounds_may_match(&bounds, conjunct))
			return false;
	}
	for (int i = 0; i < request->n_filters; i++) {
		int64_t min, max;
		const nk_scan_filter *filter = &request->filters[i];
		if (!nk_runtime_filter_is_ready(filter->filter) ||
		    !nk_runtime_filter_bounds(filter->filter, &min, &max))
			continue;
		if (!nk__parquet_is_flat(file, filter->column))
			continue;
		const nk_leaf_plan *plan = nk__parquet_plan(file, filter->column);
		const nk_parquet_statistics *s = &g->chunks[plan->leaf].statistics;
		nk_parquet_bounds bounds =
			nk__parquet_bounds(plan, s->min, s->max, s->is_deprecated, g->n_rows, s->n_nulls);
		if (!nk__bounds_may_meet(&bounds, min, max))
			return false;
	}
	return true;
}

typedef struct page_index {
	nk_offset_index offsets;
	nk_column_index bounds;
	nk_buffer *bytes; /* owned; what bounds point into */
} page_index;

static void page_index__auto(page_index *index) { nk_buffer_unref(index->bytes); }

/* False when the chunk has none that can be used. */
static bool read_index(nk_arena *arena, const nk_parquet_file *file, const nk_column_chunk *chunk,
                       int64_t n_rows, page_index *out)
{
	if (chunk->offset_index_offset <= 0 || chunk->column_index_offset <= 0 ||
	    chunk->n_offset_index_bytes <= 0 || chunk->n_column_index_bytes <= 0 || chunk->is_elsewhere ||
	    chunk->is_encrypted)
		return false;
	NK_AUTO(nk_buffer) bytes = NULL;
	if (nk__file_read(file->file, chunk->offset_index_offset, chunk->n_offset_index_bytes, &bytes, NULL) !=
	        NK_OK ||
	    nk__offset_index_parse(arena, bytes->bytes, bytes->n_bytes, n_rows, &out->offsets, NULL) != NK_OK)
		return false;
	if (nk__file_read(file->file, chunk->column_index_offset, chunk->n_column_index_bytes, &out->bytes,
	                  NULL) != NK_OK)
		return false;
	return nk__column_index_parse(arena, out->bytes->bytes, out->bytes->n_bytes, &out->bounds, NULL) ==
	           NK_OK &&
	       out->bounds.n_pages == out->offsets.n_pages;
}

/* Intersect ascending ranges with those of the pages that pass. */
static nk_status keep_pages(nk_arena *arena, const page_index *index, const bool *passes, int64_t n_rows,
                            nk_row_range **ranges, int *n_ranges, nk_error *err)
{
	nk_row_range *kept;
	int n_kept = 0, n_pages = index->offsets.n_pages;
	NK_TRY(NK_ARENA_NEW(arena, &kept, (int64_t)*n_ranges + n_pages, err));
	int page = 0;
	for (int i = 0; i < *n_ranges; i++) {
		nk_row_range range = (*ranges)[i];
		while (page > 0 && index->offsets.pages[page].first_row > range.start)
			page--;
		for (; page < n_pages; page++) {
			int64_t first = index->offsets.pages[page].first_row;
			int64_t end = page + 1 < n_pages ? index->offsets.pages[page + 1].first_row : n_rows;
			if (first >= range.end)
				break;
			nk_row_range part = {NK_MAX(first, range.start), NK_MIN(end, range.end)};
			if (!passes[page] || part.start >= part.end)
				continue;
			if (n_kept > 0 && kept[n_kept - 1].end == part.start)
				kept[n_kept - 1].end = part.end;
			else
				kept[n_kept++] = part;
		}
		page = NK_MIN(page, n_pages - 1);
	}
	*ranges = kept;
	*n_ranges = n_kept;
	return NK_OK;
}

/* Prune by one column's pages: by a conjunct, or by a runtime filter's bounds. */
static nk_status prune_by(nk_arena *arena, const nk_parquet_file *file, int group, int column,
                          const nk_scan_conjunct *conjunct, int64_t min, int64_t max, nk_row_range **ranges,
                          int *n_ranges, nk_error *err)
{
	const nk_row_group *g = &file->metadata->groups[group];
	if (!nk__parquet_is_flat(file, column))
		return NK_OK;
	const nk_leaf_plan *plan = nk__parquet_plan(file, column);
	__attribute__((cleanup(page_index__auto))) page_index index = {0};
	if (!read_index(arena, file, &g->chunks[plan->leaf], g->n_rows, &index))
		return NK_OK;
	bool *passes;
	bool is_any_pruned = false;
	NK_TRY(NK_ARENA_NEW(arena, &passes, index.offsets.n_pages, err));
	for (int i = 0; i < index.offsets.n_pages; i++) {
		int64_t first = index.offsets.pages[i].first_row;
		int64_t end = i + 1 < index.offsets.n_pages ? index.offsets.pages[i + 1].first_row : g->n_rows;
		bool is_null = index.bounds.is_null_page[i];
		nk_bytes none = {0};
		nk_parquet_bounds bounds =
			nk__parquet_bounds(plan, is_null ? none : index.bounds.min[i],
		                       is_null ? none : index.bounds.max[i], false, end - first,
		                       is_null                ? end - first
		                       : index.bounds.n_nulls ? index.bounds.n_nulls[i]
		                                              : -1);
		passes[i] =
			conjunct ? nk__bounds_may_match(&bounds, conjunct) : nk__bounds_may_meet(&bounds, min, max);
		is_any_pruned |= !passes[i];
	}
	return is_any_pruned ? keep_pages(arena, &index, passes, g->n_rows, ranges, n_ranges, err) : NK_OK;
}

nk_status nk__pages_may_pass(nk_arena *arena, const nk_parquet_file *file, int group,
                             const nk_scan_request *request, nk_row_range **ranges, int *n_ranges,
                             nk_error *err)
{
	for (int i = 0; i<request->n_conjuncts && * n_ranges> 0; i++) {
		const nk_scan_conjunct *conjunct = &request->conjuncts[i];
		if (conjunct->op != NK_TEST_NONE && conjunct->n_columns == 1)
			NK_TRY(prune_by(arena, file, group, conjunct->columns[0], conjunct, 0, 0, ranges, n_ranges, err));
	}
	for (int i = 0; i<request->n_filters && * n_ranges> 0; i++) {
		int64_t min, max;
		const nk_scan_filter *filter = &request->filters[i];
		if (nk_runtime_filter_is_ready(filter->filter) &&
		    nk_runtime_filter_bounds(filter->filter, &min, &max))
			NK_TRY(prune_by(arena, file, group, filter->column, NULL, min, max, ranges, n_ranges, err));
	}
	return NK_OK;
}
