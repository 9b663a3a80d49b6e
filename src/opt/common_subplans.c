/* Sub-plans that were written twice and come to the same are computed once. Nodes are compared inputs first: two are
 * alike when their kinds, options and (already compared) inputs are, and their expressions become the same pointer
 * once the ids of one are replaced by those of the other. The second is then the first under other ids.
 *
 * Only what costs something to compute is merged (a join, an aggregation, a sort in it) and only when its rows are
 * expected to be few enough to keep: chains over scans are better read twice, see sharing.c. */
#include "opt/cardinality.h"

#include "base/hash.h"

static const double MAX_BYTES = 1e9;

typedef struct merger {
	nk_opt *opt;
	int *first;        /* by node: the earliest node like it (itself when there is none) */
	bool *is_costly;   /* by node */
	bool *is_impure;   /* by node: it or something below gives other rows every time */
	int *same_as;      /* by column id: id + 1 of the same column of the earlier node; 0: itself */
	int *heads, *next; /* nodes by hash, chained */
	int n_heads;
} merger;

static int same_id(const merger *self, int id) { return self->same_as[id] ? self->same_as[id] - 1 : id; }

/* The expression over the ids of earlier nodes. */
static nk_status canonical(merger *self, nk_bound *expr, nk_bound **out, nk_error *err)
{
	nk_opt *opt = self->opt;
	*out = expr;
	int n = 0;
	for (int i = 0; i < expr->n_columns; i++)
		n += self->same_as[expr->columns[i]] != 0;
	if (!n)
		return NK_OK;
	int *ids;
	nk_bound **replacements;
	NK_TRY(NK_ARENA_NEW(opt->arena, &ids, n, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &replacements, n, err));
	n = 0;
	for (int i = 0; i < expr->n_columns; i++)
		if (self->same_as[expr->columns[i]]) {
			ids[n] = expr->columns[i];
			NK_TRY(nk_bound_column(opt->binder, same_id(self, ids[n]), &replacements[n], err));
			n++;
		}
	return nk_bound_substitute(opt->binder, expr, ids, replacements, n, out, err);
}

static nk_status same_exprs(merger *self, nk_bound *const *a, nk_bound *const *b, int n, bool *same,
                            nk_error *err)
{
	for (int i = 0; i < n && *same; i++) {
		nk_bound *left, *right;
		NK_TRY(canonical(self, a[i], &left, err));
		NK_TRY(canonical(self, b[i], &right, err));
		*same = left == right;
	}
	return NK_OK;
}

static nk_status same_expr(merger *self, nk_bound *a, nk_bound *b, bool *same, nk_error *err)
{
	if (!a || !b)
		*same &= a == b;
	else
		NK_TRY(same_exprs(self, &a, &b, 1, same, err));
	return NK_OK;
}

static bool same_flags(const bool *a, const bool *b, int n)
{
	for (int i = 0; i < n; i++)
		if ((a && a[i]) != (b && b[i]))
			return false;
	return true;
}

/* Columns of two scans of one source are the same where they are read from the same place. */
static nk_status same_scans(merger *self, const nk_rel *a, const nk_rel *b, bool *same, nk_error *err)
{
	*same = a->scan.source == b->scan.source && a->n_columns == b->n_columns &&
	        a->scan.offset == b->scan.offset && a->scan.limit == b->scan.limit &&
	        a->scan.row_index_offset == b->scan.row_index_offset &&
	        a->scan.n_conjuncts == b->scan.n_conjuncts &&
	        a->scan.n_filter_columns == b->scan.n_filter_columns;
	for (int i = 0; *same && i < a->n_columns; i++)
		*same = a->scan.source_columns[i] == b->scan.source_columns[i];
	for (int i = 0; *same && i < a->scan.n_filter_columns; i++)
		*same = a->scan.filter_source_columns[i] == b->scan.filter_source_columns[i];
	if (!*same)
		return NK_OK;
	for (int i = 0; i < a->scan.n_filter_columns; i++)
		if (a->scan.filter_ids[i] != b->scan.filter_ids[i])
			self->same_as[b->scan.filter_ids[i]] = a->scan.filter_ids[i] + 1;
	NK_TRY(same_exprs(self, a->scan.conjuncts, b->scan.conjuncts, a->scan.n_conjuncts, same, err));
	for (int i = 0; !*same && i < a->scan.n_filter_columns; i++)
		self->same_as[b->scan.filter_ids[i]] = 0;
	return NK_OK;
}

/* Kind, inputs and number of columns are known to agree. */
static nk_status same_nodes(merger *self, const nk_rel *a, const nk_rel *b, bool *same, nk_error *err)
{
	*same = true;
	switch (a->kind) {
	case NK_REL_SCAN: return same_scans(self, a, b, same, err);
	case NK_REL_FILTER: return same_expr(self, a->filter.predicate, b->filter.predicate, same, err);
	case NK_REL_PROJECT: return same_exprs(self, a->project.exprs, b->project.exprs, a->n_columns, same, err);
	case NK_REL_MAP:
		*same = a->map.is_with_columns == b->map.is_with_columns && a->map.strict == b->map.strict;
		return same_exprs(self, a->map.exprs, b->map.exprs, a->n_columns, same, err);
	case NK_REL_AGGREGATE:
		*same = a->aggregate.n_keys == b->aggregate.n_keys &&
		        a->aggregate.is_grouped == b->aggregate.is_grouped &&
		        a->aggregate.maintain_order == b->aggregate.maintain_order;
		NK_TRY(same_exprs(self, a->aggregate.keys, b->aggregate.keys, a->aggregate.n_keys, same, err));
		return same_exprs(self, a->aggregate.aggregates, b->aggregate.aggregates, a->aggregate.n_aggregates,
		                  same, err);
	case NK_REL_JOIN:
		*same = a->join.how == b->join.how && a->join.n_keys == b->join.n_keys &&
		        a->join.nulls_equal == b->join.nulls_equal && a->join.order_kept == b->join.order_kept &&
		        a->join.validate == b->join.validate;
		NK_TRY(same_exprs(self, a->join.left_keys, b->join.left_keys, a->join.n_keys, same, err));
		NK_TRY(same_exprs(self, a->join.right_keys, b->join.right_keys, a->join.n_keys, same, err));
		NK_TRY(same_expr(self, a->join.residual, b->join.residual, same, err));
		for (int i = 0; *same && i < a->n_columns; i++)
			*same = same_id(self, a->columns[i]) == same_id(self, b->columns[i]);
		return NK_OK;
	case NK_REL_SORT:
		*same = a->sort.n_keys == b->sort.n_keys && a->sort.maintain_order == b->sort.maintain_order &&
		        a->sort.limit == b->sort.limit &&
		        same_flags(a->sort.descending, b->sort.descending, a->sort.n_keys) &&
		        same_flags(a->sort.nulls_last, b->sort.nulls_last, a->sort.n_keys);
		return same_exprs(self, a->sort.keys, b->sort.keys, a->sort.n_keys, same, err);
	case NK_REL_SLICE:
		*same = a->slice.offset == b->slice.offset && a->slice.limit == b->slice.limit;
		return NK_OK;
	case NK_REL_UNIQUE:
		*same = a->unique.n_keys == b->unique.n_keys && a->unique.keep == b->unique.keep &&
		        a->unique.maintain_order == b->unique.maintain_order;
		for (int i = 0; *same && i < a->unique.n_keys; i++)
			*same = same_id(self, a->unique.keys[i]) == same_id(self, b->unique.keys[i]);
		return NK_OK;
	case NK_REL_UNION:
	case NK_REL_ZIP: return NK_OK;
	case NK_REL_ROW_INDEX: *same = a->row_index.offset == b->row_index.offset; return NK_OK;
	case NK_REL_JOIN_ASOF:
	case NK_REL_WINDOWS:
	case NK_REL_FOREIGN:
	case NK_REL_EXPLODE: /* its items would be other columns */
	case NK_REL_N: break;
	}
	*same = false;
	return NK_OK;
}

static bool any_impure(nk_bound *const *exprs, int n)
{
	for (int i = 0; i < n; i++)
		if (exprs[i]->impure)
			return true;
	return false;
}

static bool is_impure(const nk_rel *rel)
{
	switch (rel->kind) {
	case NK_REL_SCAN: return any_impure(rel->scan.conjuncts, rel->scan.n_conjuncts);
	case NK_REL_FILTER: return rel->filter.predicate->impure;
	case NK_REL_PROJECT: return any_impure(rel->project.exprs, rel->n_columns);
	case NK_REL_MAP: return any_impure(rel->map.exprs, rel->n_columns);
	case NK_REL_AGGREGATE:
		return any_impure(rel->aggregate.keys, rel->aggregate.n_keys) ||
		       any_impure(rel->aggregate.aggregates, rel->aggregate.n_aggregates);
	case NK_REL_JOIN:
		return any_impure(rel->join.left_keys, rel->join.n_keys) ||
		       any_impure(rel->join.right_keys, rel->join.n_keys) ||
		       (rel->join.residual && rel->join.residual->impure);
	case NK_REL_SORT: return any_impure(rel->sort.keys, rel->sort.n_keys);
	default: return false;
	}
}

static void describe_node(merger *self, int node)
{
	const nk_rel *rel = self->opt->nodes[node];
	self->is_impure[node] = is_impure(rel);
	self->is_costly[node] = rel->kind != NK_REL_SCAN && rel->kind != NK_REL_FILTER &&
	                        rel->kind != NK_REL_PROJECT && rel->kind != NK_REL_SLICE;
	for (int i = 0; i < rel->n_inputs; i++) {
		self->is_impure[node] |= self->is_impure[rel->inputs[i]->number];
		self->is_costly[node] |= self->is_costly[rel->inputs[i]->number];
	}
}

/* Finds the first node like this one, and notes its columns as the same. */
static nk_status compare(merger *self, int node, nk_error *err)
{
	nk_opt *opt = self->opt;
	const nk_rel *rel = opt->nodes[node];
	self->first[node] = node;
	describe_node(self, node);
	if (self->is_impure[node])
		return NK_OK;
	uint64_t hash = nk_hash_u64((uint64_t)rel->kind * 1000 + (uint64_t)rel->n_columns);
	for (int i = 0; i < rel->n_inputs; i++)
		hash = nk_hash_combine(hash, nk_hash_u64((uint64_t)self->first[rel->inputs[i]->number]));
	int *head = &self->heads[hash & (uint64_t)(self->n_heads - 1)];
	for (int at = *head; at; at = self->next[at - 1]) {
		const nk_rel *other = opt->nodes[at - 1];
		bool same = other->kind == rel->kind && other->n_columns == rel->n_columns &&
		            other->n_inputs == rel->n_inputs;
		for (int i = 0; same && i < rel->n_inputs; i++)
			same = self->first[other->inputs[i]->number] == self->first[rel->inputs[i]->number];
		if (same)
			NK_TRY(same_nodes(self, other, rel, &same, err));
		if (!same)
			continue;
		self->first[node] = at - 1;
		for (int i = 0; i < rel->n_columns; i++)
			if (same_id(self, rel->columns[i]) != other->columns[i])
				self->same_as[rel->columns[i]] = other->columns[i] + 1;
		return NK_OK;
	}
	self->next[node] = *head;
	*head = node + 1;
	return NK_OK;
}

/* The columns of `rel` from its double. */
static nk_status rename_double(merger *self, const nk_rel *rel, nk_rel *other, nk_rel **out, nk_error *err)
{
	nk_opt *opt = self->opt;
	NK_TRY(nk_rel_new(opt->query, NK_REL_PROJECT, &other, 1, rel->columns, rel->n_columns, out, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &(*out)->project.exprs, rel->n_columns, err));
	for (int i = 0; i < rel->n_columns; i++)
		NK_TRY(nk_bound_column(opt->binder, other->columns[i], &(*out)->project.exprs[i], err));
	return NK_OK;
}

nk_status nk__opt_common_subplans(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	merger self = {.opt = opt, .n_heads = 16};
	while (self.n_heads < opt->n_nodes)
		self.n_heads *= 2;
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.first, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.is_costly, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.is_impure, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.next, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.heads, self.n_heads, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.same_as, nk_binder_n_columns(opt->binder) + 1, err));
	bool any = false;
	for (int i = 0; i < opt->n_nodes; i++) {
		NK_TRY(compare(&self, i, err));
		any |= self.first[i] != i && self.is_costly[i];
	}
	if (!any)
		return NK_OK;
	NK_TRY(nk__opt_cardinality(opt, err)); /* the same order: numbers stay */
	nk_rel **doubles;
	bool *is_read;
	NK_TRY(NK_ARENA_NEW(opt->arena, &doubles, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &is_read, opt->n_nodes, err));
	is_read[opt->query->root->number] = true;
	for (int i = opt->n_nodes - 1; i >= 0; i--) {
		nk_rel *rel = opt->nodes[i];
		for (int j = 0; is_read[i] && j < rel->n_inputs; j++) {
			nk_rel *input = rel->inputs[j], *other = opt->nodes[self.first[input->number]];
			if (input == other || !self.is_costly[input->number] ||
			    input->n_rows * input->n_columns * 16 > MAX_BYTES) {
				is_read[input->number] = true;
				continue;
			}
			is_read[other->number] = true;
			if (!doubles[input->number])
				NK_TRY(rename_double(&self, input, other, &doubles[input->number], err));
			rel->inputs[j] = doubles[input->number];
		}
	}
	return NK_OK;
}
