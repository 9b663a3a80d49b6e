/* Walks over bound expressions. Nodes are numbered in order of making, arguments before calls, so a walk in
 * ascending number needs no recursion: mark what the root reaches from the top down, then rebuild from the bottom
 * up. */
#include <stdlib.h>
#include <string.h>

#include "expr/bound.h"

typedef struct reached {
	const nk_bound **nodes; /* ascending numbers */
	int n, capacity;
} reached;

static int by_number(const void *a, const void *b)
{
	uint32_t left = (*(const nk_bound *const *)a)->number, right = (*(const nk_bound *const *)b)->number;
	return (left > right) - (left < right);
}

static bool add(reached *r, const nk_bound *node)
{
	if (r->n == r->capacity) {
		int capacity = r->capacity * 2 + 32;
		const nk_bound **grown = realloc(r->nodes, (size_t)capacity * sizeof *grown);
		if (!grown)
			return false;
		r->nodes = grown;
		r->capacity = capacity;
	}
	r->nodes[r->n++] = node;
	return true;
}

static int find(const reached *r, const nk_bound *node)
{
	int low = 0, high = r->n - 1;
	while (low < high) {
		int middle = (low + high) / 2;
		if (r->nodes[middle]->number < node->number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* All nodes under `expr`, each once. A node's number exceeds its arguments', so the largest number not yet
 * expanded has no unseen user: a bitmap over numbers keeps every node to one visit. */
static nk_status reach(const nk_bound *expr, reached *r, nk_error *err)
{
	uint8_t *seen = calloc((size_t)expr->number / 8 + 1, 1);
	bool ok = seen && add(r, expr);
	for (int at = 0; ok && at < r->n; at++) {
		const nk_bound *node = r->nodes[at];
		for (int i = 0; ok && i < node->n_args; i++) {
			const nk_bound *arg = node->args[i];
			if (nk_bitmap_get(seen, arg->number))
				continue;
			nk_bitmap_set(seen, arg->number);
			ok = add(r, arg);
		}
	}
	free(seen);
	if (!ok)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	qsort(r->nodes, (size_t)r->n, sizeof *r->nodes, by_number);
	return NK_OK;
}

nk_status nk_bound_replace(nk_binder *binder, nk_bound *expr, nk_bound *const *from, nk_bound *const *to,
                           int n, nk_bound **out, nk_error *err)
{
	reached r = {0};
	nk_status status = reach(expr, &r, err);
	nk_bound **made = status == NK_OK ? malloc((size_t)r.n * sizeof *made) : NULL;
	nk_bound **args = NULL;
	int n_args_room = 0;
	if (status == NK_OK && !made)
		status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	for (int at = 0; status == NK_OK && at < r.n; at++) {
		const nk_bound *node = r.nodes[at];
		made[at] = (nk_bound *)node;
		bool replaced = false;
		for (int i = 0; i < n && !replaced; i++)
			if (from[i] == node) {
				made[at] = to[i];
				replaced = true;
			}
		if (replaced || !node->n_args)
			continue;
		if (node->n_args > n_args_room) {
			nk_bound **grown = realloc(args, (size_t)node->n_args * sizeof *args);
			if (!grown) {
				status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
				break;
			}
			args = grown;
			n_args_room = node->n_args;
		}
		bool changed = false;
		for (int i = 0; i < node->n_args; i++) {
			args[i] = made[find(&r, node->args[i])];
			changed |= args[i] != node->args[i];
		}
		if (changed)
			status = nk_bound_rebuild(binder, node, args, &made[at], err);
	}
	if (status == NK_OK)
		*out = made[r.n - 1];
	free(made);
	free(args);
	free(r.nodes);
	return status;
}

nk_status nk_bound_substitute(nk_binder *binder, nk_bound *expr, const int *ids,
                              nk_bound *const *replacements, int n, nk_bound **out, nk_error *err)
{
	nk_bound **columns;
	NK_TRY(NK_ARENA_NEW(nk_binder_arena(binder), &columns, n + 1, err));
	for (int i = 0; i < n; i++)
		NK_TRY(nk_bound_column(binder, ids[i], &columns[i], err));
	return nk_bound_replace(binder, expr, columns, replacements, n, out, err);
}

nk_status nk_bound_conjuncts(nk_binder *binder, nk_bound *expr, nk_bound ***out, int *n_out, nk_error *err)
{
	/* A part that is written twice, itself or inside a shared conjunction, counts once. */
	int n = 0, n_stack = 0, capacity = 16;
	nk_bound **stack = malloc((size_t)capacity * sizeof *stack),
			 **parts = malloc((size_t)capacity * sizeof *parts);
	uint8_t *seen = calloc((size_t)expr->number / 8 + 1, 1);
	int n_parts_room = capacity;
	nk_status status = NK_OK;
	if (stack && parts && seen)
		stack[n_stack++] = expr;
	else
		status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a predicate");
	while (status == NK_OK && n_stack) {
		nk_bound *node = stack[--n_stack];
		if (nk_bitmap_get(seen, node->number))
			continue;
		nk_bitmap_set(seen, node->number);
		if (nk_bound_is_call(node, "and") && node->dtype->id == NK_TYPE_BOOLEAN) {
			if (n_stack + node->n_args > capacity) {
				capacity = capacity * 2 + node->n_args;
				nk_bound **grown = realloc(stack, (size_t)capacity * sizeof *grown);
				if (!grown) {
					status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a predicate");
					break;
				}
				stack = grown;
			}
			for (int i = node->n_args; i-- > 0;)
				stack[n_stack++] = node->args[i];
			continue;
		}
		if (n == n_parts_room) {
			n_parts_room *= 2;
			nk_bound **grown = realloc(parts, (size_t)n_parts_room * sizeof *grown);
			if (!grown) {
				status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a predicate");
				break;
			}
			parts = grown;
		}
		parts[n++] = node;
	}
	if (status == NK_OK)
		status = NK_ARENA_NEW(nk_binder_arena(binder), out, n + 1, err);
	if (status == NK_OK) {
		memcpy(*out, parts, (size_t)n * sizeof *parts);
		*n_out = n;
	}
	free(seen);
	free(stack);
	free(parts);
	return status;
}

nk_status nk_bound_conjoin(nk_binder *binder, nk_bound *const *conjuncts, int n, nk_bound **out,
                           nk_error *err)
{
	nk_bound *all = NULL;
	for (int i = 0; i < n; i++) {
		if (!all) {
			all = conjuncts[i];
			continue;
		}
		nk_bound *pair[2] = {all, conjuncts[i]};
		NK_TRY(nk_bound_call_named(binder, "and", pair, 2, &all, err));
	}
	if (!all) {
		nk_scalar yes = {.dtype = nk_dtype_of(NK_TYPE_BOOLEAN), .boolean = true};
		NK_TRY(nk_bound_literal(binder, &yes, false, &all, err));
	}
	*out = all;
	return NK_OK;
}

void nk_bound_visit_columns(const nk_bound *expr, void (*visit)(int id, void *data), void *data)
{
	for (int i = 0; i < expr->n_columns; i++)
		visit(expr->columns[i], data);
}
