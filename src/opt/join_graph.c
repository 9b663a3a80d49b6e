/* Taking a region of joins apart. Equalities are gathered into classes: a = b and b = c let a and c be joined as well,
 * whichever was written (nations of customers and suppliers, say). A class has one member a leaf, so that any two
 * leaves of it are joined on one pair; equalities that would put a second member of a leaf into a class stay
 * classes of their own. */
#include "opt/join_graph.h"

#include <math.h>

bool nk__joins_freely(const nk_rel *rel)
{
	if (rel->kind != NK_REL_JOIN || rel->join.order_kept != NK_ORDER_NONE || rel->join.nulls_equal ||
	    rel->join.validate != NK_VALIDATE_MANY_TO_MANY)
		return false;
	for (int i = 0; i < rel->join.n_keys; i++)
		if (rel->join.left_keys[i]->fallible || rel->join.right_keys[i]->fallible ||
		    rel->join.left_keys[i]->impure || rel->join.right_keys[i]->impure)
			return false;
	if (rel->join.residual && (rel->join.residual->fallible || rel->join.residual->impure))
		return false;
	return rel->join.how == NK_JOIN_INNER || rel->join.how == NK_JOIN_CROSS ||
	       rel->join.how == NK_JOIN_SEMI || rel->join.how == NK_JOIN_ANTI;
}

bool nk__continues_region(const nk_rel *rel)
{
	if (rel->kind == NK_REL_FILTER)
		return !rel->filter.predicate->fallible && !rel->filter.predicate->impure;
	if (rel->kind == NK_REL_PROJECT) {
		for (int i = 0; i < rel->n_columns; i++)
			if (rel->project.exprs[i]->fallible || rel->project.exprs[i]->impure)
				return false;
		return true;
	}
	return nk__joins_freely(rel);
}

typedef struct edge {
	nk_bound *left, *right;
} edge;

typedef struct builder {
	nk_opt *opt;
	nk_join_graph *graph;
	const bool *interior;
	nk_bounds predicates; /* conditions as they were met, before renaming */
	edge *edges;          /* equalities, likewise */
	int n_edges, edge_capacity;
	int renamed_capacity;
	int *leaf_of; /* by column id: leaf + 1 */
	int n_ids;
} builder;

static nk_status add_edge(builder *self, nk_bound *left, nk_bound *right, nk_error *err)
{
	if (self->n_edges == self->edge_capacity) {
		edge *larger;
		int capacity = self->edge_capacity * 2 + 8;
		NK_TRY(NK_ARENA_NEW(self->opt->arena, &larger, capacity, err));
		if (self->n_edges)
			memcpy(larger, self->edges, (size_t)self->n_edges * sizeof *larger);
		self->edges = larger;
		self->edge_capacity = capacity;
	}
	self->edges[self->n_edges++] = (edge){left, right};
	return NK_OK;
}

static nk_status add_renames(builder *self, const nk_rel *project, nk_error *err)
{
	nk_join_graph *graph = self->graph;
	for (int i = 0; i < project->n_columns; i++) {
		const nk_bound *expr = project->project.exprs[i];
		if (expr->kind == NK_BOUND_COLUMN && expr->column == project->columns[i])
			continue;
		if (graph->n_renamed == self->renamed_capacity) {
			int capacity = self->renamed_capacity * 2 + 8, *ids;
			nk_bound **exprs;
			NK_TRY(NK_ARENA_NEW(self->opt->arena, &ids, capacity, err));
			NK_TRY(NK_ARENA_NEW(self->opt->arena, &exprs, capacity, err));
			if (graph->n_renamed) {
				memcpy(ids, graph->renamed, (size_t)graph->n_renamed * sizeof *ids);
				memcpy(exprs, graph->renames, (size_t)graph->n_renamed * sizeof(*exprs));
			}
			graph->renamed = ids;
			graph->renames = exprs;
			self->renamed_capacity = capacity;
		}
		graph->renamed[graph->n_renamed] = project->columns[i];
		graph->renames[graph->n_renamed++] = project->project.exprs[i];
	}
	return NK_OK;
}

/* A leaf; false when there are too many, or one yields an id of another. */
static bool add_leaf(builder *self, nk_rel *rel, nk_leaf **out)
{
	nk_join_graph *graph = self->graph;
	if (graph->n_leaves == NK_MAX_LEAVES)
		return false;
	nk_leaf *leaf = &graph->leaves[graph->n_leaves++];
	*leaf = (nk_leaf){.rel = rel, .n_rows = fmax(rel->n_rows, 0.01), .share = 1};
	for (int i = 0; i < rel->n_columns; i++) {
		if (self->leaf_of[rel->columns[i]])
			return false;
		self->leaf_of[rel->columns[i]] = graph->n_leaves;
	}
	*out = leaf;
	return true;
}

/* Walks the region. *ok false when it cannot be taken apart. */
static nk_status collect(builder *self, nk_rel *root, bool *ok, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_rel *stack[NK_MAX_LEAVES * 2]; /* every level leaves at most one behind, and a leaf comes of each */
	int depth = 0;
	*ok = false;
	stack[depth++] = root;
	while (depth) {
		nk_rel *rel = stack[--depth];
		nk_leaf *leaf;
		if (rel != root && !self->interior[rel->number]) {
			if (!add_leaf(self, rel, &leaf))
				return NK_OK;
			continue;
		}
		if (depth + 2 > NK_COUNT(stack))
			return NK_OK;
		if (rel->kind == NK_REL_FILTER) {
			nk_bound **parts;
			int n;
			NK_TRY(nk_bound_conjuncts(opt->binder, rel->filter.predicate, &parts, &n, err));
			for (int i = 0; i < n; i++)
				NK_TRY(nk__bounds_add_once(opt, &self->predicates, parts[i], err));
			stack[depth++] = rel->inputs[0];
		} else if (rel->kind == NK_REL_PROJECT) {
			NK_TRY(add_renames(self, rel, err));
			stack[depth++] = rel->inputs[0];
		} else if (rel->join.how == NK_JOIN_SEMI || rel->join.how == NK_JOIN_ANTI) {
			if (!add_leaf(self, rel->inputs[1], &leaf))
				return NK_OK;
			leaf->filters = true;
			leaf->how = rel->join.how;
			leaf->n_keys = rel->join.n_keys;
			leaf->left_keys = rel->join.left_keys;
			leaf->right_keys = rel->join.right_keys;
			leaf->residual = rel->join.residual;
			stack[depth++] = rel->inputs[0];
		} else {
			for (int i = 0; i < rel->join.n_keys; i++)
				NK_TRY(add_edge(self, rel->join.left_keys[i], rel->join.right_keys[i], err));
			if (rel->join.residual) {
				nk_bound **parts;
				int n;
				NK_TRY(nk_bound_conjuncts(opt->binder, rel->join.residual, &parts, &n, err));
				for (int i = 0; i < n; i++)
					NK_TRY(nk__bounds_add_once(opt, &self->predicates, parts[i], err));
			}
			stack[depth++] = rel->inputs[1];
			stack[depth++] = rel->inputs[0];
		}
	}
	*ok = true;
	return NK_OK;
}

/* Over leaves: renames followed to their ends. A renamed column may itself be one that was renamed below. */
static nk_status resolve(builder *self, nk_bound *expr, nk_bound **out, nk_error *err)
{
	nk_join_graph *graph = self->graph;
	*out = expr;
	for (int round = 0; round <= graph->n_renamed; round++) {
		nk_bound *next;
		NK_TRY(nk__replace_columns(self->opt, *out, graph->renamed, graph->renames, graph->n_renamed, &next,
		                           err));
		if (next == *out)
			break;
		*out = next;
	}
	return NK_OK;
}

typedef struct leaves_visit {
	const builder *self;
	nk_leaves leaves;
} leaves_visit;

static void visit_leaves(int id, void *data)
{
	leaves_visit *visit = data;
	if (id < visit->self->n_ids && visit->self->leaf_of[id])
		visit->leaves |= 1ull << (visit->self->leaf_of[id] - 1);
}

static nk_leaves leaves_of(const builder *self, const nk_bound *expr)
{
	leaves_visit visit = {self, 0};
	nk_bound_visit_columns(expr, visit_leaves, &visit);
	return visit.leaves;
}

static int only_leaf(nk_leaves leaves)
{
	return leaves && !(leaves & (leaves - 1)) ? __builtin_ctzll(leaves) : -1;
}

static nk_class *class_with(const nk_join_graph *graph, const nk_bound *member, int leaf)
{
	for (int i = 0; i < graph->n_classes; i++)
		if (graph->classes[i].members[leaf] == member)
			return &graph->classes[i];
	return NULL;
}

static nk_status new_class(builder *self, nk_class **out, nk_error *err)
{
	*out = &self->graph->classes[self->graph->n_classes++];
	return NK_ARENA_NEW(self->opt->arena, &(*out)->members, self->graph->n_leaves, err);
}

static void class_add(nk_class *class, nk_bound *member, int leaf)
{
	class->members[leaf] = member;
	class->leaves |= 1ull << leaf;
}

static nk_status add_condition(builder *self, nk_bound *expr, nk_error *err)
{
	nk_join_graph *graph = self->graph;
	nk_condition *condition = &graph->conditions[graph->n_conditions++];
	condition->expr = expr;
	condition->leaves = leaves_of(self, expr);
	if (!condition->leaves)
		condition->leaves = 1; /* a constant: as good on any leaf */
	return nk__selectivity_of(self->opt, expr, &condition->share, err);
}

static nk_status add_equality(builder *self, nk_bound *left, nk_bound *right, nk_error *err)
{
	nk_join_graph *graph = self->graph;
	int a = only_leaf(leaves_of(self, left)), b = only_leaf(leaves_of(self, right));
	if (a < 0 || b < 0 || a == b) {
		nk_bound *args[2] = {left, right}, *equal;
		NK_TRY(nk_bound_call_named(self->opt->binder, "eq", args, 2, &equal, err));
		return add_condition(self, equal, err);
	}
	nk_class *first = class_with(graph, left, a), *second = class_with(graph, right, b);
	if (first && first == second)
		return NK_OK;
	bool one_dtype = left->dtype == right->dtype;
	if (one_dtype && first && second && !(first->leaves & second->leaves)) {
		for (int i = 0; i < graph->n_leaves; i++)
			if (second->members[i])
				class_add(first, second->members[i], i);
		*second = graph->classes[--graph->n_classes];
		return NK_OK;
	}
	if (one_dtype && first && !second && !(first->leaves >> b & 1)) {
		class_add(first, right, b);
		return NK_OK;
	}
	if (one_dtype && second && !first && !(second->leaves >> a & 1)) {
		class_add(second, left, a);
		return NK_OK;
	}
	nk_class *made;
	NK_TRY(new_class(self, &made, err));
	class_add(made, left, a);
	class_add(made, right, b);
	return NK_OK;
}

static void measure_classes(builder *self)
{
	nk_join_graph *graph = self->graph;
	for (int i = 0; i < graph->n_classes; i++) {
		nk_class *class = &graph->classes[i];
		class->n_distinct = 1;
		for (int leaf = 0; leaf < graph->n_leaves; leaf++)
			if (class->members[leaf]) {
				nk_column_estimate estimate = nk__estimate_expr(self->opt, class->members[leaf]);
				class->n_distinct = fmax(class->n_distinct, estimate.n_distinct);
			}
	}
}

static nk_status resolve_filter_leaf(builder *self, nk_leaf *leaf, nk_leaves self_bit, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_bound **left_keys;
	NK_TRY(NK_ARENA_NEW(opt->arena, &left_keys, leaf->n_keys, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &leaf->key_classes, leaf->n_keys, err));
	for (int i = 0; i < leaf->n_keys; i++) {
		NK_TRY(resolve(self, leaf->left_keys[i], &left_keys[i], err));
		nk_leaves leaves = leaves_of(self, left_keys[i]);
		int only = only_leaf(leaves);
		leaf->key_classes[i] = only < 0 ? NULL : class_with(self->graph, left_keys[i], only);
		if (!leaf->key_classes[i])
			leaf->fixed |= leaves;
	}
	leaf->left_keys = left_keys;
	double residual = 1;
	if (leaf->residual) {
		NK_TRY(resolve(self, leaf->residual, &leaf->residual, err));
		leaf->fixed |= leaves_of(self, leaf->residual) & ~self_bit;
		NK_TRY(nk__selectivity_of(opt, leaf->residual, &residual, err));
	}
	double share = nk__match_share(opt, left_keys, leaf->right_keys, leaf->n_keys, leaf->n_rows * residual);
	leaf->share = leaf->how == NK_JOIN_SEMI ? share : fmax(0.1, 1 - share);
	return NK_OK;
}

nk_status nk__join_graph_new(nk_opt *opt, nk_rel *root, const bool *interior, nk_join_graph **out,
                             nk_error *err)
{
	*out = NULL;
	nk_join_graph *graph;
	NK_TRY(NK_ARENA_NEW(opt->arena, &graph, 1, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &graph->leaves, NK_MAX_LEAVES, err));
	builder self = {
		.opt = opt, .graph = graph, .interior = interior, .n_ids = nk_binder_n_columns(opt->binder)};
	NK_TRY(NK_ARENA_NEW(opt->arena, &self.leaf_of, self.n_ids, err));
	bool ok;
	NK_TRY(collect(&self, root, &ok, err));
	if (!ok)
		return NK_OK;
	NK_TRY(NK_ARENA_NEW(opt->arena, &graph->classes, self.n_edges, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &graph->conditions, self.n_edges + self.predicates.n, err));
	for (int i = 0; i < self.n_edges; i++) {
		nk_bound *left, *right;
		NK_TRY(resolve(&self, self.edges[i].left, &left, err));
		NK_TRY(resolve(&self, self.edges[i].right, &right, err));
		NK_TRY(add_equality(&self, left, right, err));
	}
	for (int i = 0; i < self.predicates.n; i++) {
		nk_bound *expr;
		NK_TRY(resolve(&self, self.predicates.items[i], &expr, err));
		NK_TRY(add_condition(&self, expr, err));
	}
	measure_classes(&self);
	for (int i = 0; i < graph->n_leaves; i++)
		if (graph->leaves[i].filters)
			NK_TRY(resolve_filter_leaf(&self, &graph->leaves[i], 1ull << i, err));
	for (int i = 0; i < graph->n_renamed; i++)
		NK_TRY(resolve(&self, graph->renames[i], &graph->renames[i], err));
	*out = graph;
	return NK_OK;
}
