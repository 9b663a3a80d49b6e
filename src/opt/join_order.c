/* Orders the joins of each region: dynamic programming over connected sets of leaves, bushy trees allowed, up to
 * MAX_EXHAUSTIVE leaves, greedy (the pair with the smallest result first) beyond. Leaves that only filter take
 * part: a semi join comes as early as it pays and no earlier.
 *
 * The size of a set does not depend on the order in which it is joined, so neither does the choice on how the
 * query was written; among splits of a set that estimate differently (several keys that hang together) the smallest
 * counts. Cost is in nanoseconds a row, roughly: a probe costs more once the table leaves the caches, building
 * costs more than probing, and every row that comes out is written.
 *
 * The general idea is that of Moerkotte and Neumann, "Analysis of Two Existing and One New Dynamic Programming
 * Algorithm" (2006); regions are small enough for enumerating subsets. */
#include "opt/join_graph.h"

#include <math.h>

enum { MAX_EXHAUSTIVE = 12 };

/* The best way found to join a set of leaves. */
typedef struct choice {
	nk_leaves leaves; /* 0: none found */
	double n_rows, cost;
	double as_build, as_probed; /* ns a row: to put these rows into a table; to look up one row in it */
	int first, second;          /* choices joined, -1: a leaf; second is a leaf that filters, if any is */
} choice;

typedef struct planner {
	nk_opt *opt;
	nk_join_graph *graph;
	choice *choices;
	nk_leaves filtering; /* leaves that filter */
	int n_components;
	nk_leaves components[NK_MAX_LEAVES];
} planner;

static void finish_choice(choice *self)
{
	double n = fmax(self->n_rows, 1.0);
	self->as_probed = n <= 2e4 ? 1 : fmin(1.0 * pow(n / 2e4, 0.42), 20.0);
	self->as_build = 4 + 2 * self->as_probed;
}

static bool class_spans(const nk_class *class, nk_leaves a, nk_leaves b)
{
	return class->leaves & a && class->leaves & b;
}

/* Whether a filtering leaf finds its left keys in `leaves`. */
static bool is_satisfied(const nk_leaf *leaf, nk_leaves leaves)
{
	if (leaf->fixed & ~leaves)
		return false;
	for (int i = 0; i < leaf->n_keys; i++)
		if (leaf->key_classes[i] && !(leaf->key_classes[i]->leaves & leaves))
			return false;
	return true;
}

/* A leaf of one row that a condition compares with the others: as good as a constant, so a cross join is no loss. */
static bool is_constant_for(const planner *self, nk_leaves leaf, nk_leaves others)
{
	if (leaf & (leaf - 1) || self->graph->leaves[__builtin_ctzll(leaf)].n_rows > 1)
		return false;
	for (int i = 0; i < self->graph->n_conditions; i++) {
		nk_leaves used = self->graph->conditions[i].leaves;
		if (used & leaf && used & others && !(used & ~(leaf | others)))
			return true;
	}
	return false;
}

static bool are_components(const planner *self, nk_leaves leaves)
{
	for (int i = 0; i < self->n_components; i++)
		if (leaves & self->components[i] && self->components[i] & ~leaves)
			return false;
	return true;
}

/* Whether two sets may be joined; `second` is the filtering one if any is. */
static bool may_join(const planner *self, nk_leaves first, nk_leaves second)
{
	if (second & self->filtering)
		return !(second & (second - 1)) && is_satisfied(&self->graph->leaves[__builtin_ctzll(second)], first);
	for (int i = 0; i < self->graph->n_classes; i++)
		if (class_spans(&self->graph->classes[i], first, second))
			return true;
	if (is_constant_for(self, first, second) || is_constant_for(self, second, first))
		return true;
	return self->n_components > 1 && are_components(self, first) && are_components(self, second);
}

/* Rows of one table hold several of the keys on each side: there are no more combinations than rows. Returns the
 * factor by which the product of the classes' domains is too large. */
static double excess_domain(const planner *self, nk_leaves first, nk_leaves second)
{
	const nk_join_graph *graph = self->graph;
	double excess = 1;
	for (int a = 0; a < graph->n_leaves; a++) {
		for (int b = 0; first >> a & 1 && b < graph->n_leaves; b++) {
			if (!(second >> b & 1))
				continue;
			double product = 1, rows = 0;
			int n = 0, maker_a = 0, maker_b = 0;
			bool one_table = true;
			for (int i = 0; i < graph->n_classes; i++) {
				const nk_class *class = &graph->classes[i];
				if (!class->members[a] || !class->members[b])
					continue;
				nk_column_estimate left = nk__estimate_expr(self->opt, class->members[a]);
				nk_column_estimate right = nk__estimate_expr(self->opt, class->members[b]);
				one_table &=
					left.maker && right.maker && (!n || (left.maker == maker_a && right.maker == maker_b));
				maker_a = left.maker;
				maker_b = right.maker;
				rows = fmin(left.n_rows_made, right.n_rows_made);
				product *= class->n_distinct;
				n++;
			}
			if (n > 1 && one_table && rows >= 1)
				excess = fmax(excess, product / fmin(product, rows));
		}
	}
	return excess;
}

static double joined_rows(const planner *self, const choice *first, const choice *second)
{
	const nk_join_graph *graph = self->graph;
	if (second->leaves & self->filtering)
		return first->n_rows * graph->leaves[__builtin_ctzll(second->leaves)].share;
	double n_rows = first->n_rows * second->n_rows;
	int n_spanning = 0;
	for (int i = 0; i < graph->n_classes; i++)
		if (class_spans(&graph->classes[i], first->leaves, second->leaves)) {
			n_rows /= graph->classes[i].n_distinct;
			n_spanning++;
		}
	if (n_spanning > 1)
		n_rows *= excess_domain(self, first->leaves, second->leaves);
	nk_leaves all = first->leaves | second->leaves;
	for (int i = 0; i < graph->n_conditions; i++) {
		nk_leaves used = graph->conditions[i].leaves;
		if (!(used & ~all) && used & ~first->leaves && used & ~second->leaves)
			n_rows *= graph->conditions[i].share;
	}
	return n_rows;
}

static bool builds_first(const choice *first, const choice *second) { return first->n_rows < second->n_rows; }

static double join_cost(const choice *first, const choice *second)
{
	const choice *build = builds_first(first, second) ? first : second,
				 *probe = build == first ? second : first;
	return first->cost + second->cost + build->n_rows * build->as_build +
	       probe->n_rows * (1 + build->as_probed);
}

/* Rows are known once all splits are: the smallest estimate. */
static void consider(planner *self, choice *whole, int first, int second)
{
	if (self->choices[first].leaves & self->filtering &&
	    !(self->choices[first].leaves & (self->choices[first].leaves - 1))) {
		int swapped = first;
		first = second;
		second = swapped;
	}
	const choice *a = &self->choices[first], *b = &self->choices[second];
	if (!a->leaves || !b->leaves || !may_join(self, a->leaves, b->leaves))
		return;
	double n_rows = joined_rows(self, a, b), cost = join_cost(a, b);
	if (!whole->leaves) {
		*whole = (choice){.leaves = a->leaves | b->leaves,
		                  .n_rows = n_rows,
		                  .cost = cost,
		                  .first = first,
		                  .second = second};
		return;
	}
	whole->n_rows = fmin(whole->n_rows, n_rows);
	if (cost < whole->cost) {
		whole->cost = cost;
		whole->first = first;
		whole->second = second;
	}
}

static choice leaf_choice(const planner *self, int leaf)
{
	choice made = {
		.leaves = 1ull << leaf, .n_rows = self->graph->leaves[leaf].n_rows, .first = -1, .second = -1};
	for (int i = 0; i < self->graph->n_conditions; i++)
		if (self->graph->conditions[i].leaves == made.leaves)
			made.n_rows *= self->graph->conditions[i].share;
	finish_choice(&made);
	return made;
}

/* choices[s] is for the set of bits s. Returns the whole, -1 when it cannot be joined. */
static nk_status plan_exhaustively(planner *self, int *out, nk_error *err)
{
	int n = self->graph->n_leaves, all = (1 << n) - 1;
	NK_TRY(NK_ARENA_NEW(self->opt->arena, &self->choices, (int64_t)all + 1, err));
	for (int set = 1; set <= all; set++) {
		choice *whole = &self->choices[set];
		if (!(set & (set - 1))) {
			*whole = leaf_choice(self, __builtin_ctz((unsigned)set));
			continue;
		}
		int lowest = set & -set, others = set ^ lowest;
		/* Every split once: the lowest leaf stays in the first part. */
		for (int second = others; second; second = (second - 1) & others)
			if (self->choices[second].leaves && self->choices[set ^ second].leaves)
				consider(self, whole, set ^ second, second);
		if (whole->leaves) {
			whole->cost += 2 * whole->n_rows;
			finish_choice(whole);
		}
	}
	*out = self->choices[all].leaves ? all : -1;
	return NK_OK;
}

static nk_status plan_greedily(planner *self, int *out, nk_error *err)
{
	int n = self->graph->n_leaves, n_choices = n, n_open = n, open[NK_MAX_LEAVES];
	NK_TRY(NK_ARENA_NEW(self->opt->arena, &self->choices, 2 * n, err));
	for (int i = 0; i < n; i++) {
		self->choices[i] = leaf_choice(self, i);
		open[i] = i;
	}
	while (n_open > 1) {
		choice best = {0};
		int best_a = -1, best_b = -1;
		for (int a = 0; a < n_open; a++)
			for (int b = a + 1; b < n_open; b++) {
				choice joined = {0};
				consider(self, &joined, open[a], open[b]);
				if (!joined.leaves)
					continue;
				joined.cost += 2 * joined.n_rows;
				if (best_a < 0 || joined.n_rows < best.n_rows ||
				    (joined.n_rows == best.n_rows && joined.cost < best.cost)) {
					best = joined;
					best_a = a;
					best_b = b;
				}
			}
		*out = -1;
		if (best_a < 0)
			return NK_OK;
		finish_choice(&best);
		self->choices[n_choices] = best;
		open[best_a] = n_choices++;
		open[best_b] = open[--n_open];
	}
	*out = open[0];
	return NK_OK;
}

/* Leaves that classes, filters and constants connect. */
static void find_components(planner *self)
{
	const nk_join_graph *graph = self->graph;
	for (int i = 0; i < graph->n_leaves; i++)
		self->components[i] = 1ull << i;
	self->n_components = graph->n_leaves;
	for (bool merged = true; merged;) {
		merged = false;
		for (int a = 0; a < self->n_components && !merged; a++)
			for (int b = a + 1; b < self->n_components && !merged; b++) {
				nk_leaves left = self->components[a], right = self->components[b];
				for (int i = 0; i < graph->n_classes && !merged; i++)
					merged = class_spans(&graph->classes[i], left, right);
				for (int i = 0; i < graph->n_leaves && !merged; i++) {
					const nk_leaf *leaf = &graph->leaves[i];
					if (!leaf->filters)
						continue;
					nk_leaves bit = 1ull << i, other = left & bit ? right : right & bit ? left : 0;
					merged = other && (leaf->fixed & other || is_satisfied(leaf, other));
					/* One whose keys lie in two components holds both together. */
					merged |= leaf->fixed & left && leaf->fixed & right;
				}
				merged |= is_constant_for(self, left, right) || is_constant_for(self, right, left);
				if (merged) {
					self->components[a] |= right;
					self->components[b] = self->components[--self->n_components];
				}
			}
	}
}

/* ---- Building ---- */

static nk_bound *member_in(const nk_class *class, nk_leaves leaves)
{
	return class->members[__builtin_ctzll(class->leaves & leaves)];
}

/* A filtering leaf's left key as the leaves at hand have it: its own column where they have that. */
static nk_bound *left_key(const nk_leaf *leaf, int key, nk_leaves leaves)
{
	const nk_class *class = leaf->key_classes[key];
	if (!class)
		return leaf->left_keys[key];
	for (nk_leaves at = class->leaves & leaves; at; at &= at - 1)
		if (class->members[__builtin_ctzll(at)] == leaf->left_keys[key])
			return leaf->left_keys[key];
	return member_in(class, leaves);
}

static nk_status build_filtering(planner *self, const choice *whole, nk_rel *left, nk_rel **out,
                                 nk_error *err)
{
	nk_opt *opt = self->opt;
	const choice *first = &self->choices[whole->first], *second = &self->choices[whole->second];
	nk_leaf *leaf = &self->graph->leaves[__builtin_ctzll(second->leaves)];
	nk_rel *inputs[2] = {left, leaf->rel}, *join;
	NK_TRY(nk_rel_new(opt->query, NK_REL_JOIN, inputs, 2, left->columns, left->n_columns, &join, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &join->join.left_keys, leaf->n_keys, err));
	for (int i = 0; i < leaf->n_keys; i++)
		join->join.left_keys[i] = left_key(leaf, i, first->leaves);
	join->join.right_keys = leaf->right_keys;
	join->join.n_keys = leaf->n_keys;
	join->join.how = leaf->how;
	join->join.residual = leaf->residual;
	join->join.build_left = builds_first(first, second);
	*out = join;
	return NK_OK;
}

static nk_status build_inner(planner *self, const choice *whole, nk_rel *left, nk_rel *right, nk_rel **out,
                             nk_error *err)
{
	nk_opt *opt = self->opt;
	const nk_join_graph *graph = self->graph;
	const choice *first = &self->choices[whole->first], *second = &self->choices[whole->second];
	nk_rel *inputs[2] = {left, right}, *join;
	int *columns, n = left->n_columns + right->n_columns;
	NK_TRY(NK_ARENA_NEW(opt->arena, &columns, n, err));
	for (int i = 0; i < n; i++)
		columns[i] = i < left->n_columns ? left->columns[i] : right->columns[i - left->n_columns];
	NK_TRY(nk_rel_new(opt->query, NK_REL_JOIN, inputs, 2, columns, n, &join, err));
	nk_bounds left_keys = {0}, right_keys = {0}, conditions = {0};
	for (int i = 0; i < graph->n_classes; i++)
		if (class_spans(&graph->classes[i], first->leaves, second->leaves)) {
			NK_TRY(nk__bounds_add(opt, &left_keys, member_in(&graph->classes[i], first->leaves), err));
			NK_TRY(nk__bounds_add(opt, &right_keys, member_in(&graph->classes[i], second->leaves), err));
		}
	for (int i = 0; i < graph->n_conditions; i++) {
		nk_leaves used = graph->conditions[i].leaves;
		if (!(used & ~whole->leaves) && used & ~first->leaves && used & ~second->leaves)
			NK_TRY(nk__bounds_add(opt, &conditions, graph->conditions[i].expr, err));
	}
	join->join.left_keys = left_keys.items;
	join->join.right_keys = right_keys.items;
	join->join.n_keys = left_keys.n;
	join->join.how = left_keys.n ? NK_JOIN_INNER : NK_JOIN_CROSS;
	*out = join;
	if (!conditions.n)
		return NK_OK;
	if (left_keys.n)
		return nk_bound_conjoin(opt->binder, conditions.items, conditions.n, &join->join.residual, err);
	join->n_rows = -1;
	return nk__opt_filter(opt, join, conditions.items, conditions.n, out, err);
}

/* Recursion is bounded by the number of leaves. */
static nk_status build(planner *self, int at, nk_rel **out, nk_error *err)
{
	nk_opt *opt = self->opt;
	const choice *whole = &self->choices[at];
	if (whole->first < 0) {
		*out = self->graph->leaves[__builtin_ctzll(whole->leaves)].rel;
		for (int i = 0; i < self->graph->n_conditions; i++)
			if (self->graph->conditions[i].leaves == whole->leaves)
				NK_TRY(nk__opt_filter(opt, *out, &self->graph->conditions[i].expr, 1, out, err));
	} else if (self->choices[whole->second].leaves & self->filtering) {
		nk_rel *left;
		NK_TRY(build(self, whole->first, &left, err));
		NK_TRY(build_filtering(self, whole, left, out, err));
	} else {
		/* The table is on the right. */
		choice placed = *whole;
		if (builds_first(&self->choices[whole->first], &self->choices[whole->second])) {
			placed.first = whole->second;
			placed.second = whole->first;
		}
		nk_rel *left, *right;
		NK_TRY(build(self, placed.first, &left, err));
		NK_TRY(build(self, placed.second, &right, err));
		NK_TRY(build_inner(self, &placed, left, right, out, err));
	}
	(*out)->n_rows = whole->n_rows;
	return NK_OK;
}

/* Makes `root` yield what it did, from the new top. */
static nk_status replace_root(planner *self, nk_rel *root, nk_rel *top, nk_error *err)
{
	nk_opt *opt = self->opt;
	nk_rel *project;
	NK_TRY(nk_rel_new(opt->query, NK_REL_PROJECT, &top, 1, root->columns, root->n_columns, &project, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &project->project.exprs, root->n_columns, err));
	bool is_plain = top->kind == NK_REL_JOIN;
	for (int i = 0; i < root->n_columns; i++) {
		nk_bound *column;
		NK_TRY(nk_bound_column(opt->binder, root->columns[i], &column, err));
		NK_TRY(nk__replace_columns(opt, column, self->graph->renamed, self->graph->renames,
		                           self->graph->n_renamed, &project->project.exprs[i], err));
		is_plain &= project->project.exprs[i] == column;
	}
	project->n_rows = top->n_rows;
	int number = root->number, n_columns = root->n_columns;
	const int *columns = root->columns;
	*root = is_plain ? *top : *project;
	root->number = number;
	root->columns = columns;
	root->n_columns = n_columns;
	return NK_OK;
}

static nk_status order_region(nk_opt *opt, nk_rel *root, const bool *interior, nk_error *err)
{
	planner self = {.opt = opt};
	NK_TRY(nk__join_graph_new(opt, root, interior, &self.graph, err));
	if (!self.graph)
		return NK_OK;
	for (int i = 0; i < self.graph->n_leaves; i++)
		if (self.graph->leaves[i].filters)
			self.filtering |= 1ull << i;
	find_components(&self);
	int whole;
	if (self.graph->n_leaves <= MAX_EXHAUSTIVE)
		NK_TRY(plan_exhaustively(&self, &whole, err));
	else
		NK_TRY(plan_greedily(&self, &whole, err));
	if (whole < 0)
		return NK_OK;
	nk_rel *top;
	NK_TRY(build(&self, whole, &top, err));
	return replace_root(&self, root, top, err);
}

nk_status nk__opt_join_order(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_cardinality(opt, err));
	bool *interior, *holds_join, any = false;
	NK_TRY(NK_ARENA_NEW(opt->arena, &interior, opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &holds_join, opt->n_nodes, err));
	/* Filters and projections between joins dissolve; those right above a leaf stay with it. */
	for (int i = 0; i < opt->n_nodes; i++) {
		const nk_rel *rel = opt->nodes[i];
		holds_join[i] = nk__joins_freely(rel);
		any |= holds_join[i];
		if ((rel->kind == NK_REL_FILTER || rel->kind == NK_REL_PROJECT) &&
		    opt->n_readers[rel->inputs[0]->number] == 1)
			holds_join[i] = holds_join[rel->inputs[0]->number] && nk__continues_region(rel);
	}
	/* Readers first: whether a node belongs to its reader's region is known before its inputs ask. */
	for (int i = opt->n_nodes - 1; i >= 0; i--) {
		const nk_rel *rel = opt->nodes[i];
		if (!interior[i] && !nk__joins_freely(rel))
			continue;
		bool filters =
			rel->kind == NK_REL_JOIN && (rel->join.how == NK_JOIN_SEMI || rel->join.how == NK_JOIN_ANTI);
		for (int j = 0; j < rel->n_inputs - filters; j++) {
			int input = rel->inputs[j]->number;
			interior[input] = opt->n_readers[input] == 1 && holds_join[input];
		}
	}
	/* Inputs first: sizes of leaves are those of their own best orders. */
	for (int i = 0; any && i < opt->n_nodes; i++) {
		NK_TRY(nk__estimate_rel(opt, opt->nodes[i], err));
		if (!interior[i] && nk__joins_freely(opt->nodes[i]))
			NK_TRY(order_region(opt, opt->nodes[i], interior, err));
	}
	return NK_OK;
}

/* Which side the table is made of, for joins that no region took: by size, where neither order nor a check asks for
 * one side. */
nk_status nk__opt_build_side(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	for (int i = 0; i < opt->n_nodes; i++) {
		nk_rel *rel = opt->nodes[i];
		if (rel->kind != NK_REL_JOIN || rel->join.order_kept != NK_ORDER_NONE ||
		    rel->join.validate != NK_VALIDATE_MANY_TO_MANY)
			continue;
		rel->join.build_left = rel->inputs[0]->n_rows < rel->inputs[1]->n_rows;
	}
	return NK_OK;
}
