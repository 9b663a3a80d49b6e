/* Limits move towards what produces rows: past projections, into the scan (which then reads no further), into the
 * sort (which then keeps only the first rows), and into the inputs of a union. Done for each slice in turn from the
 * bottom up, following it down as long as it moves. Nothing with several readers is limited. */
#include "opt/rule_internal.h"

static bool has_other_readers(const nk_opt *opt, const nk_rel *rel)
{
	/* Nodes made by this rule have one reader. */
	return rel->number >= 0 && rel->number < opt->n_nodes && opt->nodes[rel->number] == rel &&
	       opt->n_readers[rel->number] > 1;
}

/* `first` taken of what `second` leaves: rows [second.offset + first.offset, ...). Both from the start. */
static void compose(nk_rel *outer, const nk_rel *inner)
{
	int64_t left = inner->slice.limit < 0 ? -1 : NK_MAX((int64_t)0, inner->slice.limit - outer->slice.offset);
	if (left >= 0)
		outer->slice.limit = outer->slice.limit < 0 ? left : NK_MIN(outer->slice.limit, left);
	outer->slice.offset += inner->slice.offset;
}

/* The slice counts rows of what the scan gives already. */
static nk_status limit_scan(nk_rel *slice, nk_rel *scan, bool *done, nk_error *err)
{
	*done = false;
	int64_t offset = slice->slice.offset, limit = slice->slice.limit, n_given = scan->scan.limit, n_rows;
	if (scan->scan.n_conjuncts)
		return NK_OK;
	if (offset < 0) {
		NK_TRY(scan->scan.source->ops->n_rows(scan->scan.source, &n_rows, err));
		if (n_rows < 0)
			return NK_OK;
		n_rows = NK_MAX((int64_t)0, n_rows - scan->scan.offset);
		offset += n_given < 0 ? n_rows : NK_MIN(n_rows, n_given);
		/* What lies before the first row shortens the slice. */
		if (offset < 0) {
			if (limit >= 0)
				limit = NK_MAX((int64_t)0, limit + offset);
			offset = 0;
		}
	}
	if (n_given >= 0) {
		n_given = NK_MAX((int64_t)0, n_given - offset);
		limit = limit < 0 ? n_given : NK_MIN(limit, n_given);
	}
	scan->scan.offset += offset;
	scan->scan.limit = limit;
	*done = true;
	return NK_OK;
}

static bool limit_sort(nk_rel *slice, nk_rel *sort)
{
	int64_t offset = slice->slice.offset, limit = slice->slice.limit;
	if (offset < 0 || limit < 0 || limit > INT64_MAX - offset)
		return false;
	if (sort->sort.limit < 0 || sort->sort.limit > offset + limit)
		sort->sort.limit = offset + limit;
	return offset == 0;
}

/* Every input of a union needs to give no more than all that is wanted. */
static nk_status limit_union(nk_opt *opt, nk_rel *slice, nk_rel *rel, nk_error *err)
{
	int64_t offset = slice->slice.offset, limit = slice->slice.limit;
	if (offset < 0 || limit < 0 || limit > INT64_MAX - offset)
		return NK_OK;
	for (int i = 0; i < rel->n_inputs; i++) {
		nk_rel *input = rel->inputs[i], *limited;
		if (input->kind == NK_REL_SLICE || has_other_readers(opt, input))
			continue;
		NK_TRY(
			nk_rel_new(opt->query, NK_REL_SLICE, &input, 1, input->columns, input->n_columns, &limited, err));
		limited->slice.limit = offset + limit;
		limited->n_rows = -1;
		limited->number = -1;
		rel->inputs[i] = limited;
	}
	return NK_OK;
}

/* Moves one slice down; *done when it is gone, its rows limited by others. `slice` stays the node that readers know. */
static nk_status push_slice(nk_opt *opt, nk_rel *slice, nk_error *err)
{
	for (;;) {
		nk_rel *input = slice->inputs[0];
		bool done = false;
		if (has_other_readers(opt, input))
			return NK_OK;
		switch (input->kind) {
		case NK_REL_SLICE:
			if (slice->slice.offset < 0 || input->slice.offset < 0)
				return NK_OK;
			compose(slice, input);
			slice->inputs[0] = input->inputs[0];
			continue;
		case NK_REL_SCAN: NK_TRY(limit_scan(slice, input, &done, err)); break;
		case NK_REL_SORT: done = limit_sort(slice, input); break;
		case NK_REL_UNION:
			NK_TRY(limit_union(opt, slice, input, err));
			for (int i = 0; i < input->n_inputs; i++)
				if (input->inputs[i]->kind == NK_REL_SLICE && !has_other_readers(opt, input->inputs[i]))
					NK_TRY(
						push_slice(opt, input->inputs[i], err)); /* unions in unions are one node: no depth */
			return NK_OK;
		case NK_REL_PROJECT: {
			/* The two change places: the reader's node becomes the projection. */
			nk_rel *below;
			NK_TRY(nk_rel_new(opt->query, NK_REL_SLICE, input->inputs, 1, input->inputs[0]->columns,
			                  input->inputs[0]->n_columns, &below, err));
			below->slice = slice->slice;
			below->n_rows = -1;
			int number = slice->number;
			*slice = *input;
			slice->number = number;
			NK_TRY(nk__opt_push_down(opt, slice, &input, err)); /* an input list of its own */
			slice->inputs = input->inputs;
			below->number = -1;
			slice->inputs[0] = below;
			slice = below;
			continue;
		}
		default: return NK_OK;
		}
		if (done) {
			int number = slice->number;
			*slice = *input;
			slice->number = number;
		}
		return NK_OK;
	}
}

nk_status nk__opt_slice_pushdown(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	for (int i = 0; i < opt->n_nodes; i++)
		if (opt->nodes[i]->kind == NK_REL_SLICE)
			NK_TRY(push_slice(opt, opt->nodes[i], err));
	return NK_OK;
}
