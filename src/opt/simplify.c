/* Expressions are rewritten bottom-up with results remembered by expression number, so that shared parts are
 * rewritten once; then each node looks at its (already simplified) inputs: constant filters go, filters and
 * projections in a row become one.
 *
 * Projections are fused only where the combined tree stays small: an expression is a graph, and a chain of
 * x = x + x would grow exponentially when walked as a tree. Nothing is computed twice, for equal parts of one
 * projection are one expression. */
#include "opt/rule_internal.h"

enum { MAX_FUSED_SIZE = 400 };

typedef struct simplifier {
	nk_opt *opt;
	nk_bound **results; /* by expression number; NULL: not yet */
	int64_t n_results;
} simplifier;

static nk_status results_reserve(simplifier *self, int64_t n, nk_error *err)
{
	if (n <= self->n_results)
		return NK_OK;
	nk_bound **larger;
	int64_t n_larger = NK_MAX(n, self->n_results * 2);
	NK_TRY(NK_ARENA_NEW(self->opt->arena, &larger, n_larger, err));
	if (self->n_results)
		memcpy(larger, self->results, (size_t)self->n_results * sizeof *larger);
	self->results = larger;
	self->n_results = n_larger;
	return NK_OK;
}

static nk_op negated(nk_op op)
{
	switch (op) {
	case NK_OP_EQ: return NK_OP_NE;
	case NK_OP_NE: return NK_OP_EQ;
	case NK_OP_LT: return NK_OP_GE;
	case NK_OP_LE: return NK_OP_GT;
	case NK_OP_GT: return NK_OP_LE;
	case NK_OP_GE: return NK_OP_LT;
	case NK_OP_IS_NULL: return NK_OP_IS_NOT_NULL;
	case NK_OP_IS_NOT_NULL: return NK_OP_IS_NULL;
	default: return NK_OP_OTHER;
	}
}

static const char *op_name(nk_op op)
{
	static const char *const NAMES[] = {
		[NK_OP_EQ] = "eq",           [NK_OP_NE] = "ne",
		[NK_OP_LT] = "lt",           [NK_OP_LE] = "le",
		[NK_OP_GT] = "gt",           [NK_OP_GE] = "ge",
		[NK_OP_IS_NULL] = "is_null", [NK_OP_IS_NOT_NULL] = "is_not_null",
	};
	return NAMES[op];
}

/* One step at the root of a call whose arguments are simple already. */
static nk_status simplify_call(nk_opt *opt, nk_bound *call, nk_bound **out, nk_error *err)
{
	*out = call;
	nk_op op = nk__op_of(call);
	nk_bound *result = call;
	if ((op == NK_OP_AND || op == NK_OP_OR) && call->n_args == 2) {
		for (int i = 0; i < 2; i++) {
			nk_bound *constant = call->args[i], *other = call->args[1 - i];
			bool is_true = nk__bound_is_true(constant);
			if (!is_true && !(nk__bound_is_never(constant) && !constant->value.is_null))
				continue;
			/* true is neutral in `and` and decides `or`; false the other way round. */
			result = is_true == (op == NK_OP_AND) ? other : constant;
		}
		if (call->args[0] == call->args[1])
			result = call->args[0];
	} else if (op == NK_OP_NOT) {
		nk_bound *inner = call->args[0];
		nk_op inner_op = nk__op_of(inner);
		if (inner_op == NK_OP_NOT)
			result = inner->args[0];
		else if (negated(inner_op) != NK_OP_OTHER)
			NK_TRY(nk_bound_call_named(opt->binder, op_name(negated(inner_op)), inner->args, inner->n_args,
			                           &result, err));
	}
	/* A scalar in the place of rows would change how many rows an aggregate above sees. */
	if (result->dtype == call->dtype && result->shape == call->shape)
		*out = result;
	return NK_OK;
}

static nk_status simplify_expr(simplifier *self, nk_bound *expr, nk_bound **out, nk_error *err)
{
	nk_opt *opt = self->opt;
	NK_TRY(results_reserve(self, (int64_t)expr->number + 1, err));
	if (self->results[expr->number]) {
		*out = self->results[expr->number];
		return NK_OK;
	}
	nk_bounds stack = {0};
	NK_TRY(nk__bounds_add(opt, &stack, expr, err));
	while (stack.n) {
		nk_bound *top = stack.items[stack.n - 1];
		if (self->results[top->number]) {
			stack.n--;
			continue;
		}
		bool ready = true, changed = false;
		for (int i = 0; i < top->n_args; i++) {
			nk_bound *done = self->results[top->args[i]->number];
			if (!done) {
				NK_TRY(nk__bounds_add(opt, &stack, top->args[i], err));
				ready = false;
			} else {
				changed |= done != top->args[i];
			}
		}
		if (!ready)
			continue;
		stack.n--;
		nk_bound *result = top;
		if (changed) {
			nk_bound **args;
			NK_TRY(NK_ARENA_NEW(opt->arena, &args, top->n_args, err));
			for (int i = 0; i < top->n_args; i++)
				args[i] = self->results[top->args[i]->number];
			/* Binding again chose the same kernels: dtypes and shapes of the arguments are as before. Outside of
			 * the grouped context only, where dtype rules differ. */
			nk_bound *again;
			NK_TRY(nk_bound_rebuild(opt->binder, top, args, &again, err));
			if (again->dtype == top->dtype && again->shape == top->shape)
				result = again;
		}
		if (result->kind == NK_BOUND_CALL)
			NK_TRY(simplify_call(opt, result, &result, err));
		NK_TRY(results_reserve(self, NK_MAX((int64_t)top->number, (int64_t)result->number) + 1, err));
		self->results[top->number] = result;
		self->results[result->number] = result;
	}
	*out = self->results[expr->number];
	return NK_OK;
}

static nk_status simplify_list(simplifier *self, nk_bound ***list, int n, nk_error *err)
{
	nk_bound **simple = NULL;
	for (int i = 0; i < n; i++) {
		nk_bound *result;
		NK_TRY(simplify_expr(self, (*list)[i], &result, err));
		if (result == (*list)[i] && !simple)
			continue;
		if (!simple) {
			NK_TRY(NK_ARENA_NEW(self->opt->arena, &simple, n, err));
			memcpy(simple, *list, (size_t)n * sizeof *simple);
		}
		simple[i] = result;
	}
	if (simple)
		*list = simple;
	return NK_OK;
}

static nk_status simplify_exprs(simplifier *self, nk_rel *rel, nk_error *err)
{
	switch (rel->kind) {
	case NK_REL_SCAN: return simplify_list(self, &rel->scan.conjuncts, rel->scan.n_conjuncts, err);
	case NK_REL_FILTER: return simplify_expr(self, rel->filter.predicate, &rel->filter.predicate, err);
	case NK_REL_PROJECT: return simplify_list(self, &rel->project.exprs, rel->n_columns, err);
	case NK_REL_AGGREGATE: return simplify_list(self, &rel->aggregate.keys, rel->aggregate.n_keys, err);
	case NK_REL_JOIN:
		return rel->join.residual ? simplify_expr(self, rel->join.residual, &rel->join.residual, err) : NK_OK;
	default: return NK_OK;
	}
}

/* Readers of `rel` read `input` from now on. */
static void forward_to(nk_opt *opt, nk_rel *rel, nk_rel *input, nk_rel **forward)
{
	forward[rel->number] = input;
	opt->n_readers[input->number] += opt->n_readers[rel->number] - 1;
}

/* A filter with constant parts: those that are true go; with one that never is nothing comes out. */
static nk_status simplify_filter(nk_opt *opt, nk_rel *rel, nk_rel **forward, nk_error *err)
{
	nk_rel *input = rel->inputs[0];
	/* Of two filters in a row the upper must not meet rows that the lower removes, if it may fail on them. */
	if (input->kind == NK_REL_FILTER && opt->n_readers[input->number] == 1 &&
	    !rel->filter.predicate->fallible && !rel->filter.predicate->impure &&
	    !input->filter.predicate->impure) {
		nk_bound *both[2] = {input->filter.predicate, rel->filter.predicate};
		NK_TRY(nk_bound_conjoin(opt->binder, both, 2, &rel->filter.predicate, err));
		rel->inputs[0] = input = input->inputs[0];
	}
	nk_bounds kept = {0};
	nk_bound **parts;
	int n;
	NK_TRY(nk_bound_conjuncts(opt->binder, rel->filter.predicate, &parts, &n, err));
	for (int i = 0; i < n; i++) {
		if (nk__bound_is_never(parts[i])) {
			nk_rel *slice;
			NK_TRY(
				nk_rel_new(opt->query, NK_REL_SLICE, &input, 1, rel->columns, rel->n_columns, &slice, err));
			slice->slice.limit = 0;
			slice->n_rows = 0;
			slice->number = rel->number;
			*rel = *slice;
			return NK_OK;
		}
		if (!nk__bound_is_true(parts[i]))
			NK_TRY(nk__bounds_add_once(opt, &kept, parts[i], err));
	}
	if (!kept.n)
		forward_to(opt, rel, input, forward);
	else if (kept.n < n)
		return nk_bound_conjoin(opt->binder, kept.items, kept.n, &rel->filter.predicate, err);
	return NK_OK;
}

static bool passes_on_only(const nk_rel *project)
{
	for (int i = 0; i < project->n_columns; i++)
		if (project->project.exprs[i]->kind != NK_BOUND_COLUMN)
			return false;
	return true;
}

static bool is_identity(const nk_rel *project)
{
	const nk_rel *input = project->inputs[0];
	if (input->n_columns != project->n_columns || !passes_on_only(project))
		return false;
	for (int i = 0; i < project->n_columns; i++)
		if (project->project.exprs[i]->column != project->columns[i] ||
		    input->columns[i] != project->columns[i])
			return false;
	return true;
}

typedef struct size_visit {
	const int *columns;
	const double *sizes;
	int n;
	double total;
} size_visit;

static void visit_size(int id, void *data)
{
	size_visit *visit = data;
	for (int i = 0; i < visit->n; i++)
		if (visit->columns[i] == id)
			visit->total += visit->sizes[i];
}

/* Size of an expression walked as a tree, up to a limit. */
static nk_status tree_size(nk_opt *opt, nk_bound *expr, double *out, nk_error *err)
{
	nk_bounds stack = {0};
	*out = 0;
	NK_TRY(nk__bounds_add(opt, &stack, expr, err));
	while (stack.n && *out <= MAX_FUSED_SIZE) {
		nk_bound *top = stack.items[--stack.n];
		*out += 1;
		for (int i = 0; i < top->n_args; i++)
			NK_TRY(nk__bounds_add(opt, &stack, top->args[i], err));
	}
	return NK_OK;
}

static nk_status fuse_projects(nk_opt *opt, nk_rel *rel, nk_error *err)
{
	nk_rel *input = rel->inputs[0];
	if (input->kind != NK_REL_PROJECT || opt->n_readers[input->number] != 1)
		return NK_OK;
	size_visit visit = {input->columns, NULL, input->n_columns, 0};
	double *sizes;
	NK_TRY(NK_ARENA_NEW(opt->arena, &sizes, input->n_columns, err));
	for (int i = 0; i < input->n_columns; i++) {
		if (input->project.exprs[i]->impure)
			return NK_OK;
		NK_TRY(tree_size(opt, input->project.exprs[i], &sizes[i], err));
	}
	visit.sizes = sizes;
	for (int i = 0; i < rel->n_columns; i++) {
		nk_bound *expr = rel->project.exprs[i];
		double size;
		if (expr->kind == NK_BOUND_COLUMN)
			continue;
		NK_TRY(tree_size(opt, expr, &size, err));
		visit.total = 0;
		nk_bound_visit_columns(expr, visit_size, &visit);
		if (size + visit.total > MAX_FUSED_SIZE)
			return NK_OK;
	}
	nk_bound **exprs;
	NK_TRY(NK_ARENA_NEW(opt->arena, &exprs, rel->n_columns, err));
	for (int i = 0; i < rel->n_columns; i++)
		NK_TRY(nk__replace_columns(opt, rel->project.exprs[i], input->columns, input->project.exprs,
		                           input->n_columns, &exprs[i], err));
	rel->project.exprs = exprs;
	rel->inputs[0] = input->inputs[0];
	return NK_OK;
}

/* A scan yields columns under any ids and in any order, each once. */
static nk_status absorb_into_scan(nk_opt *opt, nk_rel *rel, nk_error *err)
{
	nk_rel *scan = rel->inputs[0];
	if (scan->kind != NK_REL_SCAN || opt->n_readers[scan->number] != 1 || !passes_on_only(rel))
		return NK_OK;
	int *source_columns;
	nk_ids seen;
	NK_TRY(nk__ids_new(opt, &seen, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &source_columns, rel->n_columns, err));
	for (int i = 0; i < rel->n_columns; i++) {
		int id = rel->project.exprs[i]->column, at = 0;
		while (at < scan->n_columns && scan->columns[at] != id)
			at++;
		if (at == scan->n_columns || nk__ids_has(&seen, id))
			return NK_OK;
		nk__ids_add(&seen, id);
		source_columns[i] = scan->scan.source_columns[at];
	}
	int number = rel->number, n_columns = rel->n_columns;
	const int *columns = rel->columns;
	*rel = *scan;
	rel->number = number;
	rel->columns = columns;
	rel->n_columns = n_columns;
	rel->scan.source_columns = source_columns;
	return NK_OK;
}

nk_status nk__opt_simplify(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	simplifier self = {.opt = opt};
	nk_rel **forward;
	NK_TRY(NK_ARENA_NEW(opt->arena, &forward, opt->n_nodes, err));
	for (int i = 0; i < opt->n_nodes; i++) {
		nk_rel *rel = opt->nodes[i];
		nk__opt_forward_inputs(rel, forward);
		NK_TRY(simplify_exprs(&self, rel, err));
		if (rel->kind == NK_REL_FILTER) {
			NK_TRY(simplify_filter(opt, rel, forward, err));
		} else if (rel->kind == NK_REL_PROJECT) {
			NK_TRY(fuse_projects(opt, rel, err));
			if (is_identity(rel))
				forward_to(opt, rel, rel->inputs[0], forward);
			else
				NK_TRY(absorb_into_scan(opt, rel, err));
		}
	}
	nk_rel *root = opt->query->root;
	if (forward[root->number])
		opt->query->root = forward[root->number];
	return NK_OK;
}
