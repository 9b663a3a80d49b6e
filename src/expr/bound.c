/* Hash-consing: every node is looked up by its parts before it is made, so equal trees share one pointer and
 * common sub-expressions fall out for free. Calls run the function's binder, wrap arguments in the casts it asks
 * for, and fold when all arguments are literals: the kernel runs on one row, and where it fails the call stays as
 * it is and fails when the query runs. */
#include "expr/bound.h"

#include <limits.h>
#include <string.h>

#include "base/hash.h"

struct nk_binder {
	nk_arena *arena;
	nk_column_info *columns;
	int n_columns, capacity;
	nk_bound **table; /* open addressing; a power of two */
	uint32_t n_slots, n_nodes;
	const nk_func *cast;
};

nk_status nk_binder_new(nk_arena *arena, nk_binder **out, nk_error *err)
{
	nk_binder *binder;
	NK_TRY(NK_ARENA_NEW(arena, &binder, 1, err));
	binder->arena = arena;
	binder->n_slots = 64;
	binder->cast = nk_func_find("cast");
	NK_TRY(NK_ARENA_NEW(arena, &binder->table, binder->n_slots, err));
	*out = binder;
	return NK_OK;
}

nk_arena *nk_binder_arena(nk_binder *binder) { return binder->arena; }
int nk_binder_n_columns(const nk_binder *binder) { return binder->n_columns; }
const nk_column_info *nk_binder_column(const nk_binder *binder, int id) { return &binder->columns[id]; }

nk_status nk_binder_add_column(nk_binder *binder, const char *name, const nk_dtype *dtype, int *id,
                               nk_error *err)
{
	if (binder->n_columns == binder->capacity) {
		int capacity = binder->capacity * 2 + 32;
		nk_column_info *grown;
		NK_TRY(NK_ARENA_NEW(binder->arena, &grown, capacity, err));
		if (binder->n_columns)
			memcpy(grown, binder->columns, (size_t)binder->n_columns * sizeof *grown);
		binder->columns = grown;
		binder->capacity = capacity;
	}
	nk_column_info *info = &binder->columns[binder->n_columns];
	NK_TRY(nk_arena_string(binder->arena, name, (int64_t)strlen(name), &info->name, err));
	info->dtype = dtype;
	*id = binder->n_columns++;
	return NK_OK;
}

static bool scalar_same(const nk_scalar *a, const nk_scalar *b)
{
	if (a->dtype != b->dtype || a->is_null != b->is_null)
		return false;
	if (a->is_null)
		return true;
	if (nk_type_is_textual(a->dtype->id))
		return a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, (size_t)a->n_bytes) == 0;
	if (nk_type_is_nested(a->dtype->id))
		return a->nested == b->nested;
	if (a->dtype->id == NK_TYPE_BOOLEAN)
		return a->boolean == b->boolean;
	if (nk_type_is_float(a->dtype->id))
		return memcmp(&a->floating, &b->floating, sizeof a->floating) == 0;
	return a->integer == b->integer;
}

static uint64_t node_hash(const nk_bound *node)
{
	uint64_t hash = nk_hash_u64((uint64_t)node->kind + 17 * (uint64_t)(uintptr_t)node->dtype);
	switch (node->kind) {
	case NK_BOUND_COLUMN: return nk_hash_combine(hash, (uint64_t)node->column);
	case NK_BOUND_LITERAL:
		if (node->value.is_null)
			return nk_hash_combine(hash, NK_HASH_NULL);
		if (nk_type_is_textual(node->dtype->id))
			return nk_hash_combine(hash, nk_hash_bytes(node->value.bytes, node->value.n_bytes));
		if (nk_type_is_nested(node->dtype->id))
			return nk_hash_combine(hash, (uint64_t)(uintptr_t)node->value.nested);
		if (node->dtype->id == NK_TYPE_BOOLEAN)
			return nk_hash_combine(hash, node->value.boolean);
		if (nk_type_is_float(node->dtype->id))
			return nk_hash_combine(hash, nk_hash_bytes(&node->value.floating, 8));
		return nk_hash_combine(hash, nk_hash_bytes(&node->value.integer, 16));
	case NK_BOUND_SERIES: return nk_hash_combine(hash, (uint64_t)(uintptr_t)node->array);
	case NK_BOUND_CALL:
		hash = nk_hash_combine(hash, (uint64_t)(uintptr_t)node->func);
		for (int i = 0; i < node->n_args; i++)
			hash = nk_hash_combine(hash, node->args[i]->hash);
		return hash;
	case NK_BOUND_OVER:
		for (int i = 0; i < node->n_args; i++)
			hash = nk_hash_combine(hash, node->args[i]->hash);
		return nk_hash_combine(hash, (uint64_t)node->over.mapping);
	}
	return hash;
}

static bool node_same(const nk_bound *a, const nk_bound *b)
{
	if (a->kind != b->kind || a->dtype != b->dtype || a->is_untyped != b->is_untyped ||
	    a->is_folded != b->is_folded)
		return false;
	switch (a->kind) {
	case NK_BOUND_COLUMN: return a->column == b->column;
	case NK_BOUND_LITERAL: return scalar_same(&a->value, &b->value);
	case NK_BOUND_SERIES: return a->array == b->array && strcmp(a->name, b->name) == 0;
	case NK_BOUND_CALL:
		if (a->func != b->func || a->n_args != b->n_args || a->func->impure)
			return false;
		for (int i = 0; i < a->n_args; i++)
			if (a->args[i] != b->args[i])
				return false;
		for (int i = 0; i < nk_func_n_options(a->func); i++)
			if (!nk_option_equal(&a->options[i], &b->options[i]))
				return false;
		return true;
	case NK_BOUND_OVER:
		if (a->n_args != b->n_args || a->over.n_keys != b->over.n_keys ||
		    a->over.descending != b->over.descending || a->over.nulls_last != b->over.nulls_last ||
		    a->over.mapping != b->over.mapping || a->impure)
			return false;
		for (int i = 0; i < a->n_args; i++)
			if (a->args[i] != b->args[i])
				return false;
		return true;
	}
	return false;
}

/* The node equal to *wanted if there is one; else NULL and *slot tells where it goes. */
static nk_bound *table_find(nk_binder *binder, const nk_bound *wanted, uint32_t *slot)
{
	uint32_t mask = binder->n_slots - 1, at = (uint32_t)wanted->hash & mask;
	while (binder->table[at]) {
		if (binder->table[at]->hash == wanted->hash && node_same(binder->table[at], wanted))
			return binder->table[at];
		at = (at + 1) & mask;
	}
	*slot = at;
	return NULL;
}

/* The ids under a node: its own, or its arguments' lists merged. A list equal to an argument's is shared. */
static nk_status collect_columns(nk_binder *binder, nk_bound *node, nk_error *err)
{
	if (node->kind == NK_BOUND_COLUMN) {
		int *one;
		NK_TRY(NK_ARENA_NEW(binder->arena, &one, 1, err));
		*one = node->column;
		node->columns = one;
		node->n_columns = 1;
	}
	for (int i = 0; i < node->n_args; i++) {
		const nk_bound *arg = node->args[i];
		if (!arg->n_columns || arg->columns == node->columns)
			continue;
		if (!node->n_columns) {
			node->columns = arg->columns;
			node->n_columns = arg->n_columns;
			continue;
		}
		int n = 0, a = 0, b = 0, *merged;
		NK_TRY(NK_ARENA_NEW(binder->arena, &merged, node->n_columns + arg->n_columns, err));
		while (a < node->n_columns || b < arg->n_columns) {
			int left = a < node->n_columns ? node->columns[a] : INT_MAX,
				right = b < arg->n_columns ? arg->columns[b] : INT_MAX;
			merged[n++] = NK_MIN(left, right);
			a += left <= right;
			b += right <= left;
		}
		node->columns = merged;
		node->n_columns = n;
	}
	return NK_OK;
}

static nk_status table_add(nk_binder *binder, const nk_bound *node, uint32_t slot, nk_bound **out,
                           nk_error *err)
{
	if (binder->n_nodes * 2 >= binder->n_slots) {
		nk_bound **old = binder->table;
		uint32_t n_old = binder->n_slots, n_new = n_old * 4;
		nk_bound **grown;
		NK_TRY(NK_ARENA_NEW(binder->arena, &grown, n_new, err));
		for (uint32_t i = 0; i < n_old; i++)
			if (old[i]) {
				uint32_t at = (uint32_t)old[i]->hash & (n_new - 1);
				while (grown[at])
					at = (at + 1) & (n_new - 1);
				grown[at] = old[i];
			}
		binder->table = grown;
		binder->n_slots = n_new;
		table_find(binder, node, &slot);
	}
	nk_bound *made;
	NK_TRY(NK_ARENA_NEW(binder->arena, &made, 1, err));
	*made = *node;
	NK_TRY(collect_columns(binder, made, err));
	made->number = binder->n_nodes++;
	binder->table[slot] = made;
	*out = made;
	return NK_OK;
}

nk_status nk_bound_column(nk_binder *binder, int id, nk_bound **out, nk_error *err)
{
	nk_bound node = {.kind = NK_BOUND_COLUMN,
	                 .shape = NK_SHAPE_ROWS,
	                 .dtype = binder->columns[id].dtype,
	                 .elementwise = true,
	                 .column = id};
	node.hash = node_hash(&node);
	uint32_t slot;
	if ((*out = table_find(binder, &node, &slot)))
		return NK_OK;
	return table_add(binder, &node, slot, out, err);
}

static void array_release(void *array) { nk_array_unref(array); }

/* A literal node over a one-row array it takes over. */
static nk_status literal_from_array(nk_binder *binder, nk_array *array, bool is_untyped, bool is_folded,
                                    nk_bound **out, nk_error *err)
{
	nk_array *constant = NULL;
	nk_status status = nk_array_new_constant(nk_arena_memory(binder->arena), array, 1, &constant, err);
	nk_array_unref(array);
	NK_TRY(status);
	NK_TRY(nk_arena_defer(binder->arena, array_release, constant, err));
	nk_bound node = {.kind = NK_BOUND_LITERAL,
	                 .shape = NK_SHAPE_SCALAR,
	                 .dtype = constant->dtype,
	                 .elementwise = true,
	                 .is_untyped = is_untyped,
	                 .is_folded = is_untyped && is_folded,
	                 .array = constant,
	                 .value = nk_scalar_read(constant, 0)};
	if (is_untyped && nk_type_is_integer(node.dtype->id) && !node.value.is_null)
		node.low = node.high = node.value.integer;
	node.hash = node_hash(&node);
	uint32_t slot;
	if ((*out = table_find(binder, &node, &slot)))
		return NK_OK;
	return table_add(binder, &node, slot, out, err);
}

nk_status nk_bound_literal(nk_binder *binder, const nk_scalar *value, bool is_untyped, nk_bound **out,
                           nk_error *err)
{
	nk_array *array;
	NK_TRY(nk_array_from_scalar(nk_arena_memory(binder->arena), value, 1, &array, err));
	return literal_from_array(binder, array, is_untyped, false, out, err);
}

nk_status nk_bound_series(nk_binder *binder, const char *name, nk_column *column, nk_bound **out,
                          nk_error *err)
{
	nk_array *array;
	NK_TRY(nk_column_array(nk_arena_memory(binder->arena), column, &array, err));
	if (array->n_rows == 1 &&
	    array->dtype->id == NK_TYPE_LIST) /* one list is a value: what is_in and its like take */
		return literal_from_array(binder, array, false, false, out, err);
	NK_TRY(nk_arena_defer(binder->arena, array_release, array, err));
	nk_bound node = {.kind = NK_BOUND_SERIES, .shape = NK_SHAPE_ANY, .dtype = array->dtype, .array = array};
	NK_TRY(nk_arena_string(binder->arena, name, (int64_t)strlen(name), &node.name, err));
	node.hash = node_hash(&node);
	uint32_t slot;
	if ((*out = table_find(binder, &node, &slot)))
		return NK_OK;
	return table_add(binder, &node, slot, out, err);
}

/* An aggregate of data given with the query (a list of values, say) is a value: computed once, here. */
static nk_status fold_aggregate(nk_binder *binder, const nk_bound *call, nk_bound **out, nk_error *err)
{
	nk_call context = {.func = call->func,
	                   .dtype = call->dtype,
	                   .options = call->options,
	                   .data = call->data,
	                   .memory = nk_arena_memory(binder->arena)};
	nk_array *result = NULL;
	nk_array *const *args = &call->args[0]->array;
	*out = NULL;
	if (call->kernel(&context, args, args[0]->n_rows, &result, NULL) != NK_OK)
		return NK_OK; /* left to fail when it runs */
	return literal_from_array(binder, result, false, true, out, err);
}

/* Run an all-literal call on one row. NULL in *out: the call cannot be folded. */
static nk_status fold(nk_binder *binder, const nk_bound *call, nk_bound **out, nk_error *err)
{
	nk_memory *memory = nk_arena_memory(binder->arena);
	nk_array *args[NK_MAX_CASTS];
	int n = 0;
	nk_status status = NK_OK;
	const uint8_t *validity = NULL;
	static const uint8_t none_valid = 0;
	for (; n < call->n_args; n++) {
		status = nk_array_flatten(memory, call->args[n]->array, &args[n], err);
		if (status != NK_OK)
			break;
		if (!nk_array_is_valid(args[n], 0))
			validity = &none_valid;
	}
	nk_array *result = NULL;
	*out = NULL;
	if (status == NK_OK) {
		nk_call context = {.func = call->func,
		                   .dtype = call->dtype,
		                   .options = call->options,
		                   .data = call->data,
		                   .memory = memory,
		                   .validity = call->func->nulls == NK_NULLS_PROPAGATE ? validity : NULL};
		if (call->func->nulls == NK_NULLS_PROPAGATE && validity)
			status = nk_array_new_null(memory, call->dtype, 1, &result, err);
		else if (call->kernel(&context, args, 1, &result, NULL) != NK_OK)
			result = NULL; /* left to fail when it runs */
	}
	for (int i = 0; i < n; i++)
		nk_array_unref(args[i]);
	NK_TRY(status);
	if (result)
		return literal_from_array(binder, result, call->is_untyped, true, out, err);
	return NK_OK;
}

/* A call of nothing but untyped numbers is untyped where the function keeps them so; conditions have no say, and an
 * aggregate of a literal as it was written is typed. args: before they were cast. */
static void find_untyped(nk_bound *node, nk_bound *const *args)
{
	if (!node->func->bends || !nk_type_is_numeric(node->dtype->id))
		return;
	bool any_integer = false;
	int n_values =
		node->func->height == NK_LENGTH_CHANGING ? 1 : node->n_args; /* then come counts and positions */
	for (int i = 0; i < n_values; i++) {
		const nk_bound *arg = args[i];
		if (i == 0 && node->n_args == 3 && arg->dtype->id == NK_TYPE_BOOLEAN)
			continue;
		if (!arg->is_untyped ||
		    (node->func->height == NK_AGGREGATING && arg->kind == NK_BOUND_LITERAL && !arg->is_folded))
			return;
		if (!nk_type_is_integer(arg->dtype->id))
			continue;
		node->low = any_integer ? NK_MIN(node->low, arg->low) : arg->low;
		node->high = any_integer ? NK_MAX(node->high, arg->high) : arg->high;
		any_integer = true;
	}
	node->is_untyped = true;
}

static nk_status call_new(nk_binder *binder, const nk_func *func, nk_bound *const *args, int n_args,
                          const nk_option *options, bool grouped, nk_bound **out, nk_error *err);

nk_status nk_bound_cast(nk_binder *binder, nk_bound *expr, const nk_dtype *dtype, bool strict, nk_bound **out,
                        nk_error *err)
{
	if (expr->dtype == dtype && !expr->is_untyped) {
		*out = expr;
		return NK_OK;
	}
	nk_option options[8];
	int n = nk_func_n_options(binder->cast);
	for (int i = 0; i < n && i < 8; i++)
		options[i] = binder->cast->options[i].fallback;
	options[nk_func_option(binder->cast, "dtype")].dtype = dtype;
	options[nk_func_option(binder->cast, "strict")].boolean = strict;
	return call_new(binder, binder->cast, &expr, 1, options, false, out, err);
}

static nk_status call_new(nk_binder *binder, const nk_func *func, nk_bound *const *args, int n_args,
                          const nk_option *options, bool grouped, nk_bound **out, nk_error *err)
{
	if (n_args < func->min_args || (func->max_args >= 0 && n_args > func->max_args))
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` takes %d%s arguments (%s), %d given", func->name,
		               func->min_args, func->max_args < 0 ? " or more" : "", func->args, n_args);
	int n_options = nk_func_n_options(func);
	nk_option *owned = NULL;
	if (n_options) {
		NK_TRY(NK_ARENA_NEW(binder->arena, &owned, n_options, err));
		for (int i = 0; i < n_options; i++) {
			owned[i] = options ? options[i] : func->options[i].fallback;
			if (owned[i].kind == NK_OPTION_STRING && owned[i].string)
				NK_TRY(nk_arena_string(binder->arena, owned[i].string, (int64_t)strlen(owned[i].string),
				                       &owned[i].string, err));
		}
	}

	nk_argument *arguments;
	NK_TRY(NK_ARENA_NEW(binder->arena, &arguments, n_args + 1, err));
	for (int i = 0; i < n_args; i++)
		arguments[i] = (nk_argument){.dtype = args[i]->dtype,
		                             .literal = args[i]->kind == NK_BOUND_LITERAL ? &args[i]->value : NULL,
		                             .is_scalar = args[i]->shape == NK_SHAPE_SCALAR,
		                             .is_untyped = args[i]->is_untyped,
		                             .low = args[i]->low,
		                             .high = args[i]->high};
	nk_bind bind = {.func = func,
	                .args = arguments,
	                .n_args = n_args,
	                .options = owned,
	                .arena = binder->arena,
	                .grouped = grouped,
	                .fallible = func->fallible};
	NK_TRY(func->bind(&bind, err));
	if (!bind.dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for the dtype of `%s`", func->name);

	nk_bound **bound_args;
	NK_TRY(NK_ARENA_NEW(binder->arena, &bound_args, n_args + 1, err));
	int last = -1;
	for (int i = 0; i < NK_MAX_CASTS; i++)
		if (bind.casts[i])
			last = i;
	for (int i = 0; i < n_args; i++) {
		const nk_dtype *to = i < NK_MAX_CASTS ? bind.casts[i] : NULL;
		if (!to && func->max_args < 0 && last >= 0 && i > last)
			to = bind.casts[last];
		bound_args[i] = args[i];
		bool is_bare = args[i]->is_untyped && args[i]->kind == NK_BOUND_LITERAL;
		if (to && (to != args[i]->dtype || is_bare) && func != binder->cast)
			NK_TRY(nk_bound_cast(binder, args[i], to, !bind.cast_is_lossy, &bound_args[i], err));
	}

	nk_bound node = {.kind = NK_BOUND_CALL,
	                 .dtype = bind.dtype,
	                 .func = func,
	                 .options = owned,
	                 .data = bind.data,
	                 .kernel = bind.kernel,
	                 .aggregate = bind.aggregate,
	                 .segmented = bind.segmented,
	                 .n_args = n_args,
	                 .args = bound_args,
	                 .fallible = bind.fallible,
	                 .impure = func->impure,
	                 .elementwise = func->height == NK_ELEMENTWISE};
	nk_shape widest = NK_SHAPE_SCALAR;
	bool all_literal = n_args > 0 && n_args <= NK_MAX_CASTS;
	for (int i = 0; i < n_args; i++) {
		widest = NK_MAX(widest, bound_args[i]->shape);
		node.elementwise &= bound_args[i]->elementwise;
		node.fallible |= bound_args[i]->fallible;
		node.impure |= bound_args[i]->impure;
		node.has_aggregate |= bound_args[i]->has_aggregate;
		node.depth = NK_MAX(node.depth, bound_args[i]->depth);
		all_literal &= bound_args[i]->kind == NK_BOUND_LITERAL;
	}
	switch (func->height) {
	case NK_ELEMENTWISE: /* length-one results meet rows by broadcasting; other lengths must fit when it runs */
	case NK_LENGTH_PRESERVING: node.shape = widest; break;
	case NK_AGGREGATING:
		node.shape = NK_SHAPE_SCALAR;
		node.has_aggregate = true;
		break;
	case NK_LENGTH_CHANGING: node.shape = NK_SHAPE_ANY; break;
	}
	find_untyped(&node, args);
	node.hash = node_hash(&node);
	uint32_t slot;
	if ((*out = table_find(binder, &node, &slot)))
		return NK_OK;
	if (all_literal && func->height == NK_ELEMENTWISE && !func->impure && node.kernel) {
		NK_TRY(fold(binder, &node, out, err));
		if (*out)
			return NK_OK;
		table_find(binder, &node, &slot); /* folding may have grown the table */
	}
	if (n_args == 1 && bound_args[0]->kind == NK_BOUND_SERIES && func->height == NK_AGGREGATING &&
	    node.kernel && !func->impure) {
		NK_TRY(fold_aggregate(binder, &node, out, err));
		if (*out)
			return NK_OK;
		table_find(binder, &node, &slot);
	}
	return table_add(binder, &node, slot, out, err);
}

nk_status nk_bound_call(nk_binder *binder, const nk_func *func, nk_bound *const *args, int n_args,
                        const nk_option *options, bool grouped, nk_bound **out, nk_error *err)
{
	return call_new(binder, func, args, n_args, options, grouped, out, err);
}

nk_status nk_bound_call_named(nk_binder *binder, const char *name, nk_bound *const *args, int n_args,
                              nk_bound **out, nk_error *err)
{
	const nk_func *func = nk_func_find(name);
	if (!func)
		return nk_fail(err, NK_INVALID_OPERATION, "there is no function `%s`", name);
	return call_new(binder, func, args, n_args, NULL, false, out, err);
}

enum { MOST_WINDOWS = 64 }; /* inside one another: their programs are compiled and run one in the other */

nk_status nk_bound_over(nk_binder *binder, nk_bound *const *args, const nk_over *over, nk_bound **out,
                        nk_error *err)
{
	int n_args = 1 + over->n_keys + over->n_order;
	nk_bound *inner = args[0];
	if (over->n_keys + over->n_order == 0)
		return nk_fail(err, NK_COMPUTE, "at least one key is required in a group_by operation");
	for (int i = 0; i < over->n_order; i++)
		if (args[1 + over->n_keys + i]->shape == NK_SHAPE_SCALAR &&
		    args[1 + over->n_keys + i]->kind != NK_BOUND_LITERAL)
			return nk_fail(err, NK_SHAPE,
			               "the order by expression of a window evaluates to one value, not to one a row");
	nk_bound node = {.kind = NK_BOUND_OVER,
	                 .dtype = inner->dtype,
	                 .over = *over,
	                 .n_args = n_args,
	                 .shape = over->mapping == NK_MAP_EXPLODE ? NK_SHAPE_ANY : NK_SHAPE_ROWS};
	if (over->mapping == NK_MAP_JOIN && inner->shape != NK_SHAPE_SCALAR &&
	    !(node.dtype = nk_dtype_list(inner->dtype)))
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	nk_bound **bound_args;
	NK_TRY(NK_ARENA_NEW(binder->arena, &bound_args, n_args, err));
	memcpy(bound_args, args, (size_t)n_args * sizeof *args);
	node.args = bound_args;
	for (int i = 0; i < n_args; i++) {
		node.fallible |= args[i]->fallible;
		node.impure |= args[i]->impure;
		node.depth = NK_MAX(node.depth, args[i]->depth + 1);
	}
	if (node.depth > MOST_WINDOWS)
		return nk_fail(err, NK_INVALID_OPERATION, "more than %d windows inside one another", MOST_WINDOWS);
	node.hash = node_hash(&node);
	uint32_t slot;
	if ((*out = table_find(binder, &node, &slot)))
		return NK_OK;
	return table_add(binder, &node, slot, out, err);
}

nk_status nk_bound_rebuild(nk_binder *binder, const nk_bound *node, nk_bound *const *args, nk_bound **out,
                           nk_error *err)
{
	if (node->kind == NK_BOUND_OVER)
		return nk_bound_over(binder, args, &node->over, out, err);
	return call_new(binder, node->func, args, node->n_args, node->options, false, out, err);
}
