/* Which columns anybody reads is known from the readers down: each node tells its inputs what it needs of them, and
 * when its own turn comes (all readers have spoken) drops what nobody asked for. Projections, aggregations, joins and
 * scans drop columns for free; in front of nodes that hold rows (sort, unique, join, union) a projection is put
 * where the input would give more. Filters and slices pass on whatever they get. */
#include "opt/rule_internal.h"

typedef struct needs {
	nk_opt *opt;
	nk_ids *sets; /* by node number; made when first added to */
} needs;

static nk_status need_set(needs *self, const nk_rel *rel, nk_ids **out, nk_error *err)
{
	*out = &self->sets[rel->number];
	return (*out)->words ? NK_OK : nk__ids_new(self->opt, *out, err);
}

static nk_status need(needs *self, const nk_rel *rel, const int *ids, int n, nk_error *err)
{
	nk_ids *set;
	NK_TRY(need_set(self, rel, &set, err));
	nk__ids_add_all(set, ids, n);
	return NK_OK;
}

static nk_status need_expr(needs *self, const nk_rel *rel, const nk_bound *expr, nk_error *err)
{
	nk_ids *set;
	NK_TRY(need_set(self, rel, &set, err));
	nk__ids_add_expr(set, expr);
	return NK_OK;
}

/* Keeps columns[i], and lists[...][i] with it, where keep[i]. */
static nk_status keep_columns(nk_opt *opt, nk_rel *rel, const bool *keep, nk_bound ***exprs,
                              const int **positions, nk_error *err)
{
	int n = 0, *columns, *kept_positions;
	nk_bound **kept_exprs;
	for (int i = 0; i < rel->n_columns; i++)
		n += keep[i];
	if (n == rel->n_columns)
		return NK_OK;
	NK_TRY(NK_ARENA_NEW(opt->arena, &columns, n, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &kept_exprs, n, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &kept_positions, n, err));
	n = 0;
	for (int i = 0; i < rel->n_columns; i++) {
		if (!keep[i])
			continue;
		columns[n] = rel->columns[i];
		if (exprs)
			kept_exprs[n] = (*exprs)[i];
		if (positions)
			kept_positions[n] = (*positions)[i];
		n++;
	}
	rel->columns = columns;
	rel->n_columns = n;
	if (exprs)
		*exprs = kept_exprs;
	if (positions)
		*positions = kept_positions;
	return NK_OK;
}

static bool is_made(const nk_rel *explode, int id)
{
	for (int i = 0; i < explode->explode.n_lists; i++)
		if (explode->explode.made[i] == id)
			return true;
	return false;
}

static nk_status keep_needed(nk_opt *opt, const nk_rel *rel, const nk_ids *wanted, bool **out, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(opt->arena, out, rel->n_columns, err));
	for (int i = 0; i < rel->n_columns; i++)
		(*out)[i] = nk__ids_has(wanted, rel->columns[i]);
	return NK_OK;
}

static nk_status narrow_scan(nk_opt *opt, nk_rel *rel, const nk_ids *wanted, nk_error *err)
{
	bool *keep;
	NK_TRY(keep_needed(opt, rel, wanted, &keep, err));
	NK_TRY(keep_columns(opt, rel, keep, NULL, &rel->scan.source_columns, err));
	/* Of the others only what predicates look at. */
	nk_ids used;
	NK_TRY(nk__ids_new(opt, &used, err));
	for (int i = 0; i < rel->scan.n_conjuncts; i++)
		nk__ids_add_expr(&used, rel->scan.conjuncts[i]);
	int *ids, *source_columns, n = 0;
	NK_TRY(NK_ARENA_NEW(opt->arena, &ids, rel->scan.n_filter_columns, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &source_columns, rel->scan.n_filter_columns, err));
	for (int i = 0; i < rel->scan.n_filter_columns; i++)
		if (nk__ids_has(&used, rel->scan.filter_ids[i])) {
			ids[n] = rel->scan.filter_ids[i];
			source_columns[n++] = rel->scan.filter_source_columns[i];
		}
	rel->scan.filter_ids = ids;
	rel->scan.filter_source_columns = source_columns;
	rel->scan.n_filter_columns = n;
	return NK_OK;
}

/* Results that are no scalars give a map its height, so one of them stays; so do those of unknown length, which must
 * still be found to fit. */
static nk_status narrow_map(nk_opt *opt, nk_rel *rel, const nk_ids *wanted, nk_error *err)
{
	bool *keep, has_rows = false;
	NK_TRY(keep_needed(opt, rel, wanted, &keep, err));
	for (int i = 0; i < rel->n_columns; i++) {
		keep[i] |= rel->map.exprs[i]->shape == NK_SHAPE_ANY;
		has_rows |= keep[i] && rel->map.exprs[i]->shape != NK_SHAPE_SCALAR;
	}
	int first = -1;
	for (int i = rel->n_columns - 1; i >= 0; i--)
		if (first < 0 || rel->map.exprs[first]->shape == NK_SHAPE_SCALAR ||
		    rel->map.exprs[i]->shape != NK_SHAPE_SCALAR)
			first = i;
	if (!rel->map.is_with_columns && !has_rows && first >= 0)
		keep[first] |= rel->map.exprs[first]->shape != NK_SHAPE_SCALAR;
	/* Something must stay: a map without results would have no height. */
	bool any = false;
	for (int i = 0; i < rel->n_columns; i++)
		any |= keep[i];
	if (!any && rel->n_columns)
		keep[0] = true;
	return keep_columns(opt, rel, keep, &rel->map.exprs, NULL, err);
}

static nk_status narrow_aggregate(nk_opt *opt, nk_rel *rel, const nk_ids *wanted, nk_error *err)
{
	int n_keys = rel->aggregate.n_keys, n = n_keys, *columns;
	nk_bound **aggregates;
	NK_TRY(NK_ARENA_NEW(opt->arena, &columns, rel->n_columns, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &aggregates, rel->aggregate.n_aggregates, err));
	if (n_keys)
		memcpy(columns, rel->columns, (size_t)n_keys * sizeof *columns);
	for (int i = 0; i < rel->aggregate.n_aggregates; i++)
		if (nk__ids_has(wanted, rel->columns[n_keys + i])) {
			aggregates[n - n_keys] = rel->aggregate.aggregates[i];
			columns[n++] = rel->columns[n_keys + i];
		}
	/* Without keys one aggregate stays, so that there is a column to have the one row. */
	if (n == 0 && rel->n_columns) {
		aggregates[0] = rel->aggregate.aggregates[0];
		columns[n++] = rel->columns[0];
	}
	rel->columns = columns;
	rel->n_columns = n;
	rel->aggregate.aggregates = aggregates;
	rel->aggregate.n_aggregates = n - n_keys;
	return NK_OK;
}

static nk_status narrow_union(needs *self, nk_rel *rel, const nk_ids *wanted, nk_error *err)
{
	nk_opt *opt = self->opt;
	bool *keep;
	NK_TRY(keep_needed(opt, rel, wanted, &keep, err));
	for (int input = 0; input < rel->n_inputs; input++) {
		int *columns, n = 0;
		NK_TRY(NK_ARENA_NEW(opt->arena, &columns, rel->n_columns, err));
		for (int i = 0; i < rel->n_columns; i++)
			if (keep[i])
				columns[n++] = rel->inputs[input]->columns[i];
		NK_TRY(need(self, rel->inputs[input], columns, n, err));
		/* Put in now, above the still wide input, for columns are matched by position. */
		if (n < rel->n_columns)
			NK_TRY(nk__opt_restrict(opt, rel->inputs[input], columns, n, &rel->inputs[input], err));
	}
	return keep_columns(opt, rel, keep, NULL, NULL, err);
}

static nk_status need_exprs(needs *self, nk_rel *rel, nk_bound *const *exprs, int n, int input, nk_error *err)
{
	nk_ids *set;
	NK_TRY(need_set(self, rel->inputs[input], &set, err));
	for (int i = 0; i < n; i++)
		NK_TRY(need_expr(self, rel->inputs[input], exprs[i], err));
	return NK_OK;
}

static nk_status narrow_join(needs *self, nk_rel *rel, const nk_ids *wanted, nk_error *err)
{
	bool *keep;
	NK_TRY(keep_needed(self->opt, rel, wanted, &keep, err));
	NK_TRY(keep_columns(self->opt, rel, keep, NULL, NULL, err));
	for (int side = 0; side < 2; side++) {
		NK_TRY(need(self, rel->inputs[side], rel->columns, rel->n_columns, err));
		NK_TRY(need_exprs(self, rel, side ? rel->join.right_keys : rel->join.left_keys, rel->join.n_keys,
		                  side, err));
		if (rel->join.residual)
			NK_TRY(need_exprs(self, rel, &rel->join.residual, 1, side, err));
	}
	return NK_OK;
}

/* Drops what is not wanted of this node and says what it needs of its inputs. */
static nk_status narrow(needs *self, nk_rel *rel, const nk_ids *wanted, nk_rel **forward, nk_error *err)
{
	nk_opt *opt = self->opt;
	bool *keep;
	switch (rel->kind) {
	case NK_REL_SCAN: return narrow_scan(opt, rel, wanted, err);
	case NK_REL_PROJECT:
		NK_TRY(keep_needed(opt, rel, wanted, &keep, err));
		NK_TRY(keep_columns(opt, rel, keep, &rel->project.exprs, NULL, err));
		return need_exprs(self, rel, rel->project.exprs, rel->n_columns, 0, err);
	case NK_REL_MAP:
		NK_TRY(narrow_map(opt, rel, wanted, err));
		return need_exprs(self, rel, rel->map.exprs, rel->n_columns, 0, err);
	case NK_REL_AGGREGATE:
		NK_TRY(narrow_aggregate(opt, rel, wanted, err));
		NK_TRY(need_exprs(self, rel, rel->aggregate.keys, rel->aggregate.n_keys, 0, err));
		return need_exprs(self, rel, rel->aggregate.aggregates, rel->aggregate.n_aggregates, 0, err);
	case NK_REL_JOIN: return narrow_join(self, rel, wanted, err);
	case NK_REL_UNION: return narrow_union(self, rel, wanted, err);
	case NK_REL_ROW_INDEX:
		if (!nk__ids_has(wanted, rel->columns[0]))
			forward[rel->number] = rel->inputs[0];
		NK_TRY(keep_needed(opt, rel, wanted, &keep, err));
		keep[0] = true;
		for (int i = 1; i < rel->n_columns; i++)
			if (keep[i])
				NK_TRY(need(self, rel->inputs[0], &rel->columns[i], 1, err));
		NK_TRY(need(self, rel->inputs[0], NULL, 0, err));
		return NK_OK;
	case NK_REL_EXPLODE: /* the lists say how many rows there are */
		NK_TRY(need(self, rel->inputs[0], rel->explode.lists, rel->explode.n_lists, err));
		for (int i = 0; i < rel->n_columns; i++)
			if (nk__ids_has(wanted, rel->columns[i]) && !is_made(rel, rel->columns[i]))
				NK_TRY(need(self, rel->inputs[0], &rel->columns[i], 1, err));
		return NK_OK;
	case NK_REL_ZIP:
		for (int i = 0; i < rel->n_inputs; i++) {
			const nk_rel *input = rel->inputs[i];
			NK_TRY(need(self, input, NULL, 0, err));
			for (int j = 0; j < input->n_columns; j++)
				if (nk__ids_has(wanted, input->columns[j]))
					NK_TRY(need(self, input, &input->columns[j], 1, err));
		}
		return NK_OK;
	case NK_REL_JOIN_ASOF:
		NK_TRY(keep_needed(opt, rel, wanted, &keep, err));
		NK_TRY(keep_columns(opt, rel, keep, NULL, NULL, err));
		for (int side = 0; side < 2; side++) {
			const int *ids = side ? rel->asof.right : rel->asof.left;
			NK_TRY(need(self, rel->inputs[side], rel->columns, rel->n_columns, err));
			NK_TRY(need(self, rel->inputs[side], ids, rel->asof.n_by + 1, err));
		}
		return NK_OK;
	case NK_REL_WINDOWS:
		NK_TRY(need(self, rel->inputs[0], &rel->windows.index, 1, err));
		NK_TRY(need(self, rel->inputs[0], rel->windows.keys, rel->windows.n_keys, err));
		return need_exprs(self, rel, rel->windows.aggregates, rel->windows.n_aggregates, 0, err);
	case NK_REL_FOREIGN: return need(self, rel->inputs[0], rel->foreign.inputs, rel->foreign.n_inputs, err);
	case NK_REL_FILTER: NK_TRY(need_exprs(self, rel, &rel->filter.predicate, 1, 0, err)); break;
	case NK_REL_SORT: NK_TRY(need_exprs(self, rel, rel->sort.keys, rel->sort.n_keys, 0, err)); break;
	case NK_REL_UNIQUE: NK_TRY(need(self, rel->inputs[0], rel->unique.keys, rel->unique.n_keys, err)); break;
	case NK_REL_SLICE:
	case NK_REL_N: break;
	}
	/* Nodes that pass columns on. */
	for (int i = 0; i < rel->n_columns; i++)
		if (nk__ids_has(wanted, rel->columns[i]))
			NK_TRY(need(self, rel->inputs[0], &rel->columns[i], 1, err));
	return need(self, rel->inputs[0], NULL, 0, err);
}

/* Once inputs are as narrow as they get: the columns of nodes that pass them on, and projections in front of nodes
 * that hold rows, where an input has other readers or a predicate that need more. */
static nk_status settle(needs *self, nk_rel *rel, nk_error *err)
{
	nk_opt *opt = self->opt;
	bool holds_rows = rel->kind == NK_REL_SORT || rel->kind == NK_REL_UNIQUE || rel->kind == NK_REL_JOIN ||
	                  rel->kind == NK_REL_ZIP;
	for (int i = 0; holds_rows && i < rel->n_inputs; i++) {
		nk_rel *input = rel->inputs[i];
		nk_ids asked;
		NK_TRY(nk__ids_new(opt, &asked, err));
		nk__ids_add_all(&asked, rel->columns, rel->n_columns);
		if (rel->kind == NK_REL_SORT || rel->kind == NK_REL_UNIQUE) {
			/* These still list all columns that they once had: what readers want is noted. */
			asked = self->sets[rel->number];
			for (int k = 0; rel->kind == NK_REL_SORT && k < rel->sort.n_keys; k++)
				nk__ids_add_expr(&asked, rel->sort.keys[k]);
			if (rel->kind == NK_REL_UNIQUE)
				nk__ids_add_all(&asked, rel->unique.keys, rel->unique.n_keys);
		} else if (rel->kind == NK_REL_ZIP) {
			asked = self->sets[rel->number];
		} else {
			for (int k = 0; k < rel->join.n_keys; k++)
				nk__ids_add_expr(&asked, i ? rel->join.right_keys[k] : rel->join.left_keys[k]);
			if (rel->join.residual)
				nk__ids_add_expr(&asked, rel->join.residual);
		}
		int *columns, n = 0;
		NK_TRY(NK_ARENA_NEW(opt->arena, &columns, input->n_columns, err));
		for (int j = 0; j < input->n_columns; j++)
			if (nk__ids_has(&asked, input->columns[j]))
				columns[n++] = input->columns[j];
		NK_TRY(nk__opt_restrict(opt, input, columns, n, &rel->inputs[i], err));
	}
	switch (rel->kind) {
	case NK_REL_FILTER:
	case NK_REL_SORT:
	case NK_REL_SLICE:
	case NK_REL_UNIQUE:
		rel->columns = rel->inputs[0]->columns;
		rel->n_columns = rel->inputs[0]->n_columns;
		return NK_OK;
	case NK_REL_ROW_INDEX: {
		int *columns;
		NK_TRY(NK_ARENA_NEW(opt->arena, &columns, rel->inputs[0]->n_columns + 1, err));
		columns[0] = rel->columns[0];
		memcpy(columns + 1, rel->inputs[0]->columns, (size_t)rel->inputs[0]->n_columns * sizeof *columns);
		rel->columns = columns;
		rel->n_columns = rel->inputs[0]->n_columns + 1;
		return NK_OK;
	}
	case NK_REL_EXPLODE: {
		int *columns;
		NK_TRY(NK_ARENA_NEW(opt->arena, &columns, rel->inputs[0]->n_columns + 1, err));
		for (int i = 0; i < rel->inputs[0]->n_columns; i++) {
			columns[i] = rel->inputs[0]->columns[i];
			for (int j = 0; j < rel->explode.n_lists; j++)
				if (rel->explode.lists[j] == columns[i])
					columns[i] = rel->explode.made[j];
		}
		rel->columns = columns;
		rel->n_columns = rel->inputs[0]->n_columns;
		return NK_OK;
	}
	case NK_REL_ZIP: {
		int *columns, n = 0;
		for (int i = 0; i < rel->n_inputs; i++)
			n += rel->inputs[i]->n_columns;
		NK_TRY(NK_ARENA_NEW(opt->arena, &columns, n, err));
		n = 0;
		for (int i = 0; i < rel->n_inputs; i++)
			for (int j = 0; j < rel->inputs[i]->n_columns; j++)
				columns[n++] = rel->inputs[i]->columns[j];
		rel->columns = columns;
		rel->n_columns = n;
		return NK_OK;
	}
	default: return NK_OK;
	}
}

nk_status nk__opt_projection_pushdown(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	needs self = {.opt = opt};
	nk_rel **forward, *root = opt->query->root;
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.sets, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &forward, opt->n_nodes, err));
	const int *result = root->columns;
	int n_result = root->n_columns;
	NK_TRY(need(&self, root, result, n_result, err));
	for (int i = opt->n_nodes - 1; i >= 0; i--)
		NK_TRY(narrow(&self, opt->nodes[i], &self.sets[i], forward, err));
	/* A row index is gone from all edges before columns settle. */
	for (int i = 0; i < opt->n_nodes; i++) {
		nk_rel *rel = opt->nodes[i];
		for (int j = 0; j < rel->n_inputs; j++)
			if (rel->inputs[j]->number >= 0 && rel->inputs[j]->number < opt->n_nodes &&
			    opt->nodes[rel->inputs[j]->number] == rel->inputs[j] && forward[rel->inputs[j]->number])
				rel->inputs[j] = forward[rel->inputs[j]->number];
		NK_TRY(settle(&self, rel, err));
	}
	return nk__opt_restrict(opt, root, result, n_result, &opt->query->root, err);
}
