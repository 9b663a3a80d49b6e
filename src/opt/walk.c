/* Walks over the plan with explicit stacks, and the few node constructions that every rule needs. Visited nodes are
 * kept in a hash table of pointers, not in the nodes: new nodes need no registration and numbers can be dense. */
#include "opt/rule_internal.h"

#include "base/hash.h"

typedef struct node_map {
	const nk_rel **keys;
	int *values;
	int64_t capacity; /* a power of two */
	int n;
} node_map;

static nk_status map_grow(nk_arena *arena, node_map *map, nk_error *err)
{
	node_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64, .n = map->n};
	NK_TRY(NK_ARENA_NEW(arena, &larger.keys, larger.capacity, err));
	NK_TRY(NK_ARENA_NEW(arena, &larger.values, larger.capacity, err));
	for (int64_t i = 0; i < map->capacity; i++) {
		if (!map->keys[i])
			continue;
		int64_t slot = (int64_t)(nk_hash_u64((uintptr_t)map->keys[i]) & (uint64_t)(larger.capacity - 1));
		while (larger.keys[slot])
			slot = (slot + 1) & (larger.capacity - 1);
		larger.keys[slot] = map->keys[i];
		larger.values[slot] = map->values[i];
	}
	*map = larger;
	return NK_OK;
}

/* The slot's value; *is_new when the key was not there (its value is then 0). */
static nk_status map_get(nk_arena *arena, node_map *map, const nk_rel *key, int **value, bool *is_new,
                         nk_error *err)
{
	if (2 * (int64_t)map->n >= map->capacity)
		NK_TRY(map_grow(arena, map, err));
	int64_t slot = (int64_t)(nk_hash_u64((uintptr_t)key) & (uint64_t)(map->capacity - 1));
	while (map->keys[slot] && map->keys[slot] != key)
		slot = (slot + 1) & (map->capacity - 1);
	*is_new = !map->keys[slot];
	if (*is_new) {
		map->keys[slot] = key;
		map->n++;
	}
	*value = &map->values[slot];
	return NK_OK;
}

typedef struct frame {
	nk_rel *rel;
	int next_input;
} frame;

/* Nodes in order, and the map from node to place. Does not write to nodes. */
static nk_status list_nodes(nk_arena *arena, nk_rel *root, node_map *map, nk_rel ***out, int *n_out,
                            nk_error *err)
{
	int64_t capacity = 32, node_capacity = 32;
	int depth = 0, n = 0;
	frame *stack;
	nk_rel **nodes;
	NK_TRY(NK_ARENA_NEW(arena, &stack, capacity, err));
	NK_TRY(NK_ARENA_NEW(arena, &nodes, node_capacity, err));
	int *place;
	bool is_new;
	NK_TRY(map_get(arena, map, root, &place, &is_new, err));
	stack[depth++] = (frame){root, 0};
	while (depth) {
		frame *top = &stack[depth - 1];
		if (top->next_input < top->rel->n_inputs) {
			nk_rel *input = top->rel->inputs[top->next_input++];
			NK_TRY(map_get(arena, map, input, &place, &is_new, err));
			if (!is_new)
				continue;
			if (depth == capacity) {
				frame *larger;
				NK_TRY(NK_ARENA_NEW(arena, &larger, capacity * 2, err));
				memcpy(larger, stack, (size_t)capacity * sizeof *stack);
				stack = larger;
				capacity *= 2;
			}
			stack[depth++] = (frame){input, 0};
			continue;
		}
		if (n == node_capacity) {
			nk_rel **larger;
			NK_TRY(NK_ARENA_NEW(arena, &larger, node_capacity * 2, err));
			memcpy(larger, nodes, (size_t)node_capacity * sizeof *nodes);
			nodes = larger;
			node_capacity *= 2;
		}
		NK_TRY(map_get(arena, map, top->rel, &place, &is_new, err));
		*place = n;
		nodes[n++] = top->rel;
		depth--;
	}
	*out = nodes;
	*n_out = n;
	return NK_OK;
}

nk_status nk__opt_order(nk_opt *opt, nk_error *err)
{
	node_map map = {0};
	NK_TRY(list_nodes(opt->arena, opt->query->root, &map, &opt->nodes, &opt->n_nodes, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &opt->n_readers, opt->n_nodes, err));
	for (int i = 0; i < opt->n_nodes; i++)
		opt->nodes[i]->number = i;
	for (int i = 0; i < opt->n_nodes; i++)
		for (int j = 0; j < opt->nodes[i]->n_inputs; j++)
			opt->n_readers[opt->nodes[i]->inputs[j]->number]++;
	opt->n_readers[opt->query->root->number]++;
	return NK_OK;
}

static bool same_columns(const nk_rel *rel, const int *columns, int n_columns)
{
	return rel->n_columns == n_columns &&
	       (n_columns == 0 || memcmp(rel->columns, columns, (size_t)n_columns * sizeof *columns) == 0);
}

/* Binding lets a filter, sort, slice or unique yield some of its input's columns. Rules rely on that they yield all,
 * so what is left out becomes a projection's doing. */
static nk_status pass_on_all(nk_opt *opt, nk_rel *rel, nk_error *err)
{
	if (rel->kind == NK_REL_ROW_INDEX)
		return nk__opt_restrict(opt, rel->inputs[0], rel->columns + 1, rel->n_columns - 1, &rel->inputs[0],
		                        err);
	bool passes = rel->kind == NK_REL_FILTER || rel->kind == NK_REL_SORT || rel->kind == NK_REL_SLICE ||
	              rel->kind == NK_REL_UNIQUE;
	if (!passes || same_columns(rel->inputs[0], rel->columns, rel->n_columns))
		return NK_OK;
	nk_rel *below, *project;
	NK_TRY(nk__opt_push_down(opt, rel, &below, err));
	below->columns = rel->inputs[0]->columns;
	below->n_columns = rel->inputs[0]->n_columns;
	NK_TRY(nk__opt_restrict(opt, below, rel->columns, rel->n_columns, &project, err));
	*rel = *project;
	return NK_OK;
}

nk_status nk__opt_copy_plan(nk_opt *opt, nk_error *err)
{
	node_map map = {0};
	nk_rel **nodes, **copies;
	int n;
	NK_TRY(list_nodes(opt->arena, opt->query->root, &map, &nodes, &n, err));
	NK_TRY(NK_ARENA_NEW(opt->arena, &copies, n, err));
	for (int i = 0; i < n; i++) {
		NK_TRY(nk_rel_copy(opt->query, nodes[i], &copies[i], err));
		for (int j = 0; j < copies[i]->n_inputs; j++) {
			int *place;
			bool is_new;
			NK_TRY(map_get(opt->arena, &map, nodes[i]->inputs[j], &place, &is_new, err));
			copies[i]->inputs[j] = copies[*place];
		}
		NK_TRY(pass_on_all(opt, copies[i], err));
	}
	opt->query->root = copies[n - 1];
	return NK_OK;
}

void nk__opt_forward_inputs(nk_rel *rel, nk_rel *const *forward)
{
	for (int i = 0; i < rel->n_inputs; i++)
		if (forward[rel->inputs[i]->number])
			rel->inputs[i] = forward[rel->inputs[i]->number];
}

nk_status nk__opt_push_down(nk_opt *opt, nk_rel *rel, nk_rel **below, nk_error *err)
{
	return nk_rel_copy(opt->query, rel, below, err);
}

nk_status nk__opt_filter(nk_opt *opt, nk_rel *input, nk_bound *const *conjuncts, int n, nk_rel **out,
                         nk_error *err)
{
	NK_TRY(nk_rel_new(opt->query, NK_REL_FILTER, &input, 1, input->columns, input->n_columns, out, err));
	(*out)->n_rows = -1;
	return nk_bound_conjoin(opt->binder, conjuncts, n, &(*out)->filter.predicate, err);
}

nk_status nk__opt_restrict(nk_opt *opt, nk_rel *input, const int *columns, int n_columns, nk_rel **out,
                           nk_error *err)
{
	if (same_columns(input, columns, n_columns)) {
		*out = input;
		return NK_OK;
	}
	NK_TRY(nk_rel_new(opt->query, NK_REL_PROJECT, &input, 1, columns, n_columns, out, err));
	(*out)->n_rows = input->n_rows;
	NK_TRY(NK_ARENA_NEW(opt->arena, &(*out)->project.exprs, n_columns, err));
	for (int i = 0; i < n_columns; i++)
		NK_TRY(nk_bound_column(opt->binder, columns[i], &(*out)->project.exprs[i], err));
	return NK_OK;
}

nk_status nk__opt_become_filter(nk_opt *opt, nk_rel *rel, nk_bound *const *conjuncts, int n, nk_error *err)
{
	nk_rel *below, *filter;
	int number = rel->number;
	NK_TRY(nk__opt_push_down(opt, rel, &below, err));
	NK_TRY(nk__opt_filter(opt, below, conjuncts, n, &filter, err));
	*rel = *filter;
	rel->number = number;
	return NK_OK;
}

nk_status nk__ids_new(nk_opt *opt, nk_ids *out, nk_error *err)
{
	out->n_words = (nk_binder_n_columns(opt->binder) + 63) / 64 + 1;
	return NK_ARENA_NEW(opt->arena, &out->words, out->n_words, err);
}

nk_status nk__ids_of(nk_opt *opt, const int *ids, int n, nk_ids *out, nk_error *err)
{
	NK_TRY(nk__ids_new(opt, out, err));
	nk__ids_add_all(out, ids, n);
	return NK_OK;
}

void nk__ids_add_all(nk_ids *set, const int *ids, int n)
{
	for (int i = 0; i < n; i++)
		nk__ids_add(set, ids[i]);
}

static void add_id(int id, void *data) { nk__ids_add(data, id); }

void nk__ids_add_expr(nk_ids *set, const nk_bound *expr) { nk_bound_visit_columns(expr, add_id, set); }
