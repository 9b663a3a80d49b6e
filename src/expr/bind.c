/* From user expressions to bound ones: an explicit post-order over distinct nodes, bound once per expansion of the
 * selectors inside. A selector under a function that takes any number of arguments becomes arguments; anywhere
 * else the whole expression is repeated once per selected column. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/pointers.h"
#include "expr/bound.h"

/* Distinct nodes of one user expression, arguments before their users. */
typedef struct order {
	const nk_expr **nodes;
	int n, capacity;
	const nk_expr **keys; /* open addressing: node to its position */
	int *places;
	int n_slots;
} order;

static void order_release(order *o)
{
	free(o->nodes);
	free(o->keys);
	free(o->places);
}

static int order_slot(const order *o, const nk_expr *node)
{
	size_t at = ((uintptr_t)node >> 4) * 0x9e3779b97f4a7c15ull >> 20;
	at &= (size_t)o->n_slots - 1;
	while (o->keys[at] && o->keys[at] != node)
		at = (at + 1) & ((size_t)o->n_slots - 1);
	return (int)at;
}

static int order_place(const order *o, const nk_expr *node) { return o->places[order_slot(o, node)]; }

static bool order_add(order *o, const nk_expr *node)
{
	if (o->n == o->capacity) {
		int capacity = o->capacity * 2 + 16, n_slots = 64;
		while (n_slots < capacity * 2)
			n_slots *= 2;
		const nk_expr **nodes = realloc(o->nodes, (size_t)capacity * sizeof *nodes);
		if (nodes)
			o->nodes = nodes;
		const nk_expr **keys = calloc((size_t)n_slots, sizeof *keys);
		int *places = calloc((size_t)n_slots, sizeof *places);
		if (!nodes || !keys || !places) {
			free(keys);
			free(places);
			return false;
		}
		free(o->keys);
		free(o->places);
		o->keys = keys;
		o->places = places;
		o->n_slots = n_slots;
		o->capacity = capacity;
		for (int i = 0; i < o->n; i++) {
			int slot = order_slot(o, o->nodes[i]);
			keys[slot] = o->nodes[i];
			places[slot] = i;
		}
	}
	int slot = order_slot(o, node);
	o->keys[slot] = node;
	o->places[slot] = o->n;
	o->nodes[o->n++] = node;
	return true;
}

static bool descends(const nk_expr *node)
{
	return node->kind != NK_EXPR_SELECTOR && !(node->kind == NK_EXPR_CALL && node->func->expands_selectors);
}

static nk_status order_build(order *o, const nk_expr *root, nk_error *err)
{
	struct frame {
		const nk_expr *node;
		int next;
	} *stack = malloc(32 * sizeof *stack);
	int n = 0, capacity = 32;
	bool ok = stack != NULL;
	if (ok)
		stack[n++] = (struct frame){root, 0};
	while (ok && n) {
		struct frame *top = &stack[n - 1];
		if (descends(top->node) && top->next < top->node->n_args) {
			const nk_expr *arg = top->node->args[top->next++];
			if (o->n_slots && o->keys[order_slot(o, arg)])
				continue;
			if (n == capacity) {
				struct frame *grown = realloc(stack, (size_t)capacity * 2 * sizeof *stack);
				if (!grown) {
					ok = false;
					break;
				}
				stack = grown;
				capacity *= 2;
			}
			stack[n++] = (struct frame){arg, 0};
			continue;
		}
		if (!o->n_slots || !o->keys[order_slot(o, top->node)])
			ok = order_add(o, top->node);
		n--;
	}
	free(stack);
	return ok ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
}

typedef struct context {
	nk_binder *binder;
	const nk_scope *scope;
	nk_field *fields;        /* of the scope */
	const nk_field *visible; /* those that selectors see: all but the hidden ones */
	const int *visible_ids;
	int n_visible;
	bool grouped;
} context;

static nk_status not_found(const context *c, const char *name, nk_error *err)
{
	nk_schema *schema;
	NK_TRY(nk_schema_new(c->fields, c->scope->n, &schema, err));
	int at;
	nk_status status = nk_schema_resolve(schema, name, &at, err);
	nk_schema_unref(schema);
	return status;
}

/* Positions chosen by each selector of one expression; fields chosen by each call that picks some. */
typedef struct choice {
	const nk_expr *selector;
	int *positions;
	int n;
	const nk_dtype *of; /* fields: of this dtype */
} choice;

/* What the choice of a node is in expansion k; -1: the node chooses nothing. */
static int chosen(const choice *choices, int n_choices, const nk_expr *node, int k, const nk_dtype **of)
{
	for (int i = 0; i < n_choices; i++)
		if (choices[i].selector == node) {
			*of = choices[i].of;
			return choices[i].positions[choices[i].n == 1 ? 0 : k];
		}
	return -1;
}

/* The first column under an expression, NULL when there is none; of `when` the predicate comes last. */
static nk_status root_name(const context *c, const nk_expr *expr, const choice *choices, int n_choices, int k,
                           const char *first_argument, const char **out, nk_error *err)
{
	NK_POINTERS(seen);
	int n = 0, capacity = 32;
	const nk_expr **stack = malloc((size_t)capacity * sizeof *stack);
	nk_status status = stack ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
	*out = NULL;
	if (stack)
		stack[n++] = expr;
	while (status == NK_OK && n && !*out) {
		const nk_expr *node = stack[--n];
		if (nk_pointers_find(&seen, node) >= 0)
			continue;
		status = nk_pointers_add(&seen, node, err);
		if (node->kind == NK_EXPR_COLUMN)
			*out = node->name;
		if (node->kind == NK_EXPR_SELECTOR)
			*out = first_argument;
		for (int i = 0; node->kind == NK_EXPR_SELECTOR && i < n_choices; i++)
			if (choices[i].selector == node)
				*out = c->visible[choices[i].positions[choices[i].n == 1 ? 0 : k]].name;
		if (n + node->n_args > capacity) {
			capacity = capacity * 2 + node->n_args;
			const nk_expr **grown = realloc(stack, (size_t)capacity * sizeof *grown);
			if (!grown)
				status = nk_fail(err, NK_OUT_OF_MEMORY, "no memory for an expression");
			if (!grown)
				break;
			stack = grown;
		}
		bool is_when = node->kind == NK_EXPR_CALL && strcmp(node->func->name, "when") == 0;
		if (is_when)
			stack[n++] = node->args[0];
		for (int i = node->n_args; i-- > is_when;)
			stack[n++] = node->args[i];
	}
	free(stack);
	if (status == NK_OK && !*out)
		return nk_fail(err, NK_INVALID_OPERATION, "`name.keep` expected at least one column name");
	return status;
}

/* A name after a prefix, a suffix or a change of case. */
static nk_status renamed(const context *c, const nk_expr *rename, const char *name, const char **out,
                         nk_error *err)
{
	size_t n_name = strlen(name), n_affix = rename->name ? strlen(rename->name) : 0;
	char *made;
	NK_TRY(nk_arena_alloc(nk_binder_arena(c->binder), (int64_t)(n_name + n_affix) + 1, (void **)&made, err));
	*out = made;
	if (rename->rename == NK_RENAME_PREFIX) {
		memcpy(made, rename->name, n_affix);
		memcpy(made + n_affix, name, n_name);
		return NK_OK;
	}
	memcpy(made, name, n_name);
	if (rename->rename == NK_RENAME_SUFFIX)
		memcpy(made + n_name, rename->name, n_affix);
	for (size_t i = 0; i < n_name && rename->rename != NK_RENAME_SUFFIX; i++)
		made[i] = (char)(rename->rename == NK_RENAME_UPPER ? toupper((unsigned char)made[i])
		                                                   : tolower((unsigned char)made[i]));
	return NK_OK;
}

/* The name that a result gets in expansion k: renames apply to the name under them, one after the other; keep
 * goes back to the column. */
static nk_status output_name(const context *c, const nk_expr *expr, const choice *choices, int n_choices,
                             int k, const char *first_argument, const char **out, nk_error *err)
{
	enum { MOST_RENAMES = 64 };
	const nk_expr *renames[MOST_RENAMES];
	int n_renames = 0;
	const char *name = NULL;
	while (!name)
		switch (expr->kind) {
		case NK_EXPR_COLUMN:
		case NK_EXPR_SERIES:
		case NK_EXPR_ALIAS: name = expr->name; break;
		case NK_EXPR_LITERAL: name = "literal"; break;
		case NK_EXPR_SELECTOR:
			for (int i = 0; i < n_choices; i++)
				if (choices[i].selector == expr)
					name = c->visible[choices[i].positions[choices[i].n == 1 ? 0 : k]].name;
			break;
		case NK_EXPR_RENAME:
			if (expr->rename == NK_RENAME_KEEP) {
				NK_TRY(root_name(c, expr->args[0], choices, n_choices, k, first_argument, &name, err));
				break;
			}
			if (n_renames == MOST_RENAMES)
				return nk_fail(err, NK_INVALID_OPERATION, "more than %d renames on one expression",
				               MOST_RENAMES);
			renames[n_renames++] = expr;
			expr = expr->args[0];
			break;
		case NK_EXPR_CALL:
			if (expr->func->fixed_name &&
			    (expr->n_args == 0 || strcmp(expr->func->fixed_name, expr->func->name) != 0))
				name = expr->func->fixed_name;
			else if (expr->n_args == 0)
				name = expr->func->name;
			else if (expr->func->picks_field) {
				const nk_dtype *of = NULL;
				int field = chosen(choices, n_choices, expr, k, &of);
				name = field >= 0 ? of->fields[field].name : nk__expr_field_name(expr);
				if (!name)
					return nk_fail(err, NK_VALUE, "`struct.field` needs the name of a field");
			} else if (expr->func->expands_selectors && first_argument)
				name = first_argument;
			else
				expr = expr->args[strcmp(expr->func->name, "when") == 0 ? 1 : 0];
			break;
		case NK_EXPR_OVER: expr = expr->args[0]; break;
		}
	while (n_renames > 0)
		NK_TRY(renamed(c, renames[--n_renames], name, &name, err));
	return nk_arena_string(nk_binder_arena(c->binder), name, (int64_t)strlen(name), out, err);
}

static nk_status bind_all(context *c, nk_expr *const *exprs, int n, nk_named **out, int *n_out,
                          nk_error *err);

/* The names of a call's last arguments as its option "fields", unless it has one: every name of a Struct once. */
static nk_status name_fields(context *c, const nk_expr *node, const nk_named *named, int n_args,
                             const nk_option **options, nk_error *err)
{
	int at = nk_func_option(node->func, "fields"), n_options = nk_func_n_options(node->func);
	if (node->options[at].dtype)
		return NK_OK;
	int first = strcmp(node->func->name, "as_struct") == 0 ? 0 : 1, n = n_args - first;
	nk_field *fields;
	nk_option *own;
	NK_TRY(NK_ARENA_NEW(nk_binder_arena(c->binder), &fields, n + 1, err));
	NK_TRY(NK_ARENA_NEW(nk_binder_arena(c->binder), &own, n_options, err));
	memcpy(own, node->options, (size_t)n_options * sizeof *own);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++)
			if (strcmp(fields[j].name, named[first + i].name) == 0)
				return nk_fail(err, NK_DUPLICATE, "multiple fields with name '%s' found", fields[j].name);
		fields[i] = (nk_field){named[first + i].name, nk_dtype_of(NK_TYPE_NULL)};
	}
	own[at].dtype = nk_dtype_struct(fields, NK_MAX(n, 0));
	*options = own;
	return own[at].dtype ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

static nk_status field_literal(context *c, const char *name, nk_bound **out, nk_error *err)
{
	nk_scalar value = {.dtype = nk_dtype_of(NK_TYPE_STRING), .bytes = name, .n_bytes = (int64_t)strlen(name)};
	return nk_bound_literal(c->binder, &value, false, out, err);
}

/* Fields that a call picks by more than one name. A name alone, the usual case, is left to the function. */
static nk_status choose_fields(context *c, const nk_expr *node, choice *made, nk_error *err)
{
	made->selector = node;
	made->n = 0;
	nk_named *named;
	int n_named;
	NK_TRY(bind_all(c, &node->args[0], 1, &named, &n_named, err));
	if (n_named == 0 || named[0].expr->dtype->id != NK_TYPE_STRUCT)
		return nk_fail(err, NK_INVALID_OPERATION, "`struct.field` expects a Struct, got `%s`",
		               n_named ? nk_dtype_short_name(named[0].expr->dtype) : "nothing");
	const nk_dtype *of = made->of = named[0].expr->dtype;
	/* Every argument names a field or all of them. */
	NK_TRY(NK_ARENA_NEW(nk_binder_arena(c->binder), &made->positions,
	                    (int64_t)(of->n_fields + 1) * node->n_args, err));
	for (int a = 1; a < node->n_args; a++) {
		const nk_scalar *value = &node->args[a]->literal;
		bool is_literal = node->args[a]->kind == NK_EXPR_LITERAL && !value->is_null;
		if (is_literal && nk_type_is_integer(value->dtype->id)) {
			int64_t at = (int64_t)value->integer + (value->integer < 0 ? of->n_fields : 0);
			if (at < 0 || at >= of->n_fields)
				return nk_fail(err, NK_OUT_OF_BOUNDS, "index %lld is out of bounds for a Struct of %d fields",
				               (long long)value->integer, of->n_fields);
			made->positions[made->n++] = (int)at;
			continue;
		}
		if (!is_literal || value->dtype->id != NK_TYPE_STRING)
			return nk_fail(err, NK_VALUE, "`struct.field` needs the names of fields");
		NK_AUTO(nk_expr) names = NULL;
		const char *text = value->bytes;
		bool is_pattern = text[0] == '^' && text[strlen(text) - 1] == '$';
		int n = 0;
		if (strcmp(text, "*") == 0)
			for (; n < of->n_fields; n++)
				made->positions[made->n + n] = n;
		else if (is_pattern)
			NK_TRY(nk__selector_names(&text, 1, true, NK_SELECT_MATCHES, &names, err));
		if (names)
			NK_TRY(nk__selector_resolve(names, of->fields, of->n_fields, made->positions + made->n, &n, err));
		if (n == 0 && !is_pattern) {
			while (n < of->n_fields && strcmp(of->fields[n].name, text) != 0)
				n++;
			if (n == of->n_fields)
				return nk_fail(err, NK_STRUCT_FIELD_NOT_FOUND, "%s", text);
			made->positions[made->n] = n;
			n = 1;
		}
		made->n += n;
	}
	return NK_OK;
}

/* One node whose arguments are bound. */
static nk_status bind_node(context *c, const order *o, const nk_expr *node, nk_bound **bound,
                           const choice *choices, int n_choices, int k, const char **first_argument,
                           nk_bound **out, nk_error *err)
{
	switch (node->kind) {
	case NK_EXPR_COLUMN:
		for (int i = 0; i < c->scope->n; i++)
			if (strcmp(c->scope->names[i], node->name) == 0)
				return nk_bound_column(c->binder, c->scope->ids[i], out, err);
		return not_found(c, node->name, err);
	case NK_EXPR_LITERAL: return nk_bound_literal(c->binder, &node->literal, node->is_untyped, out, err);
	case NK_EXPR_SERIES: return nk_bound_series(c->binder, node->name, node->series, out, err);
	case NK_EXPR_ALIAS:
	case NK_EXPR_RENAME: *out = bound[order_place(o, node->args[0])]; return NK_OK;
	case NK_EXPR_SELECTOR:
		for (int i = 0; i < n_choices; i++)
			if (choices[i].selector == node)
				return nk_bound_column(
					c->binder, c->visible_ids[choices[i].positions[choices[i].n == 1 ? 0 : k]], out, err);
		return nk_fail(err, NK_INVALID_OPERATION, "a selector stands where no columns can be chosen");
	case NK_EXPR_CALL:
	case NK_EXPR_OVER: break;
	}
	nk_bound **args;
	int n_args = node->n_args;
	const nk_option *options = node->options;
	if (node->kind == NK_EXPR_CALL && node->func->expands_selectors) {
		nk_named *named;
		NK_TRY(bind_all(c, node->args, node->n_args, &named, &n_args, err));
		NK_TRY(NK_ARENA_NEW(nk_binder_arena(c->binder), &args, n_args + 1, err));
		for (int i = 0; i < n_args; i++)
			args[i] = named[i].expr;
		if (n_args && !*first_argument)
			*first_argument = named[0].name;
		else if (!n_args && !*first_argument)
			*first_argument = node->func->name;
		if (node->func->names_fields)
			NK_TRY(name_fields(c, node, named, n_args, &options, err));
	} else {
		NK_TRY(NK_ARENA_NEW(nk_binder_arena(c->binder), &args, n_args + 1, err));
		for (int i = 0; i < n_args; i++)
			args[i] = bound[order_place(o, node->args[i])];
	}
	if (node->kind == NK_EXPR_OVER)
		return nk_bound_over(c->binder, args, &node->over, out, err);
	if (node->func->picks_field) {
		const nk_dtype *of = NULL;
		int field = chosen(choices, n_choices, node, k, &of);
		n_args = 2;
		if (field >= 0)
			NK_TRY(field_literal(c, of->fields[field].name, &args[1], err));
	}
	return nk_bound_call(c->binder, node->func, args, n_args, options, c->grouped, out, err);
}

static nk_status bind_one(context *c, nk_expr *expr, nk_named **out, int *n_out, int *capacity, nk_error *err)
{
	order o = {0};
	choice *choices = NULL;
	int n_choices = 0, n_expansions = 1;
	nk_bound **bound = NULL;
	nk_status status = order_build(&o, expr, err);
	nk_arena *arena = nk_binder_arena(c->binder);
	bool seen_selector = false;
	for (int i = 0; status == NK_OK && i < o.n; i++) {
		const nk_expr *node = o.nodes[i];
		bool picks = node->kind == NK_EXPR_CALL && node->func->picks_field &&
		             !(node->n_args == 2 && nk__expr_field_name(node));
		if (node->kind != NK_EXPR_SELECTOR && !picks)
			continue;
		if (!choices && (status = NK_ARENA_NEW(arena, &choices, o.n, err)) != NK_OK)
			break;
		choice *made = &choices[n_choices++];
		*made = (choice){.selector = node};
		if (picks) {
			status = choose_fields(c, node, made, err);
		} else {
			status = NK_ARENA_NEW(arena, &made->positions, c->scope->n + node->n_items + 1, err);
			if (status == NK_OK)
				status = nk__selector_resolve(node, c->visible, c->n_visible, made->positions, &made->n, err);
		}
		if (status != NK_OK)
			break;
		if (!seen_selector || n_expansions == 1)
			n_expansions = made->n;
		else if (made->n != n_expansions && made->n != 1)
			status = nk_fail(err, NK_INVALID_OPERATION,
			                 "selectors in one expression choose %d and %d columns", n_expansions, made->n);
		seen_selector = true;
	}
	if (status == NK_OK)
		status = NK_ARENA_NEW(arena, &bound, o.n + 1, err);
	for (int k = 0; status == NK_OK && k < n_expansions; k++) {
		const char *first_argument = NULL;
		for (int i = 0; status == NK_OK && i < o.n; i++)
			status =
				bind_node(c, &o, o.nodes[i], bound, choices, n_choices, k, &first_argument, &bound[i], err);
		if (status != NK_OK)
			break;
		if (*n_out == *capacity) {
			nk_named *grown;
			int larger = *capacity * 2 + 16;
			if ((status = NK_ARENA_NEW(arena, &grown, larger, err)) != NK_OK)
				break;
			if (*n_out)
				memcpy(grown, *out, (size_t)*n_out * sizeof *grown);
			*out = grown;
			*capacity = larger;
		}
		nk_named *named = &(*out)[*n_out];
		named->expr = bound[o.n - 1];
		status = output_name(c, expr, choices, n_choices, k, first_argument, &named->name, err);
		(*n_out)++;
	}
	order_release(&o);
	return status;
}

static nk_status bind_all(context *c, nk_expr *const *exprs, int n, nk_named **out, int *n_out, nk_error *err)
{
	int capacity = 0;
	*out = NULL;
	*n_out = 0;
	for (int i = 0; i < n; i++)
		NK_TRY(bind_one(c, exprs[i], out, n_out, &capacity, err));
	return NK_OK;
}

nk_status nk_bind_exprs(nk_binder *binder, const nk_scope *scope, nk_expr *const *exprs, int n, bool grouped,
                        nk_named **out, int *n_out, nk_error *err)
{
	context c = {.binder = binder, .scope = scope, .grouped = grouped};
	NK_TRY(NK_ARENA_NEW(nk_binder_arena(binder), &c.fields, scope->n + 1, err));
	for (int i = 0; i < scope->n; i++)
		c.fields[i] = (nk_field){scope->names[i], nk_binder_column(binder, scope->ids[i])->dtype};
	c.visible = c.fields + scope->n_hidden;
	c.visible_ids = scope->ids + scope->n_hidden;
	c.n_visible = scope->n - scope->n_hidden;
	return bind_all(&c, exprs, n, out, n_out, err);
}
