/* Selectors: which columns of a schema an expression stands for. A selector is resolved to a set of positions; what is
 * combined of others is worked out node by node, each once, however deep and however often it is shared. */
#include <stdlib.h>
#include <string.h>

#include "base/pointers.h"
#include "compute/text_pattern.h"
#include "expr/expr.h"

static nk_status selector_new(nk_selector_kind kind, int n_items, int n_args, nk_expr **out, nk_error *err)
{
	nk_expr *expr = calloc(1, sizeof *expr + (size_t)n_args * sizeof expr->args[0]);
	if (!expr)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	expr->n_references = 1;
	expr->kind = NK_EXPR_SELECTOR;
	expr->selector = kind;
	expr->n_items = n_items;
	expr->n_args = n_args;
	*out = expr;
	return NK_OK;
}

nk_status nk__selector_names(const char *const *names, int n, bool strict, nk_selector_kind kind,
                             nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(selector_new(kind, n, 0, &expr, err));
	expr->strict = strict;
	expr->names = calloc((size_t)n + 1, sizeof *expr->names);
	for (int i = 0; expr->names && i < n; i++)
		if (!(expr->names[i] = strdup(names[i])))
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	if (!expr->names)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__selector_dtypes(const nk_dtype *const *dtypes, int n, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(selector_new(NK_SELECT_DTYPES, n, 0, &expr, err));
	expr->dtypes = calloc((size_t)n + 1, sizeof *expr->dtypes);
	if (!expr->dtypes)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	memcpy(expr->dtypes, dtypes, (size_t)n * sizeof *dtypes);
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__selector_classes(uint32_t classes, nk_expr **out, nk_error *err)
{
	NK_TRY(selector_new(classes == ~0u ? NK_SELECT_ALL : NK_SELECT_CLASS, 0, 0, out, err));
	(*out)->classes = classes;
	return NK_OK;
}

nk_status nk__selector_positions(const int64_t *positions, int n, nk_expr **out, nk_error *err)
{
	NK_AUTO(nk_expr) expr = NULL;
	NK_TRY(selector_new(NK_SELECT_POSITIONS, n, 0, &expr, err));
	expr->positions = calloc((size_t)n + 1, sizeof *expr->positions);
	if (!expr->positions)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	memcpy(expr->positions, positions, (size_t)n * sizeof *positions);
	*out = NK_STEAL(expr);
	return NK_OK;
}

nk_status nk__selector_combine(nk_selector_kind kind, nk_expr *left, nk_expr *right, nk_expr **out,
                               nk_error *err)
{
	NK_TRY(selector_new(kind, 0, 2, out, err));
	(*out)->args[0] = nk__expr_ref(left);
	(*out)->args[1] = nk__expr_ref(right);
	return NK_OK;
}

static uint32_t class_of(const nk_dtype *dtype)
{
	if (nk_type_is_signed(dtype->id))
		return NK_CLASS_SIGNED;
	if (nk_type_is_unsigned(dtype->id))
		return NK_CLASS_UNSIGNED;
	switch (dtype->id) {
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64: return NK_CLASS_FLOAT;
	case NK_TYPE_DECIMAL: return NK_CLASS_DECIMAL;
	case NK_TYPE_BOOLEAN: return NK_CLASS_BOOLEAN;
	case NK_TYPE_STRING: return NK_CLASS_STRING;
	case NK_TYPE_BINARY: return NK_CLASS_BINARY;
	case NK_TYPE_DATE: return NK_CLASS_DATE;
	case NK_TYPE_DATETIME: return NK_CLASS_DATETIME;
	case NK_TYPE_DURATION: return NK_CLASS_DURATION;
	case NK_TYPE_TIME: return NK_CLASS_TIME;
	case NK_TYPE_LIST: return NK_CLASS_NESTED | NK_CLASS_LIST;
	case NK_TYPE_ARRAY: return NK_CLASS_NESTED | NK_CLASS_ARRAY;
	case NK_TYPE_CATEGORICAL: return NK_CLASS_CATEGORICAL;
	case NK_TYPE_ENUM: return NK_CLASS_ENUM;
	case NK_TYPE_STRUCT: return NK_CLASS_NESTED | NK_CLASS_STRUCT;
	case NK_TYPE_NULL: return NK_CLASS_NULL;
	default: return 0;
	}
}

static bool text_matches(const char *name, const char *pattern, nk_selector_kind kind)
{
	size_t n_name = strlen(name), n_pattern = strlen(pattern);
	if (kind == NK_SELECT_STARTS)
		return strncmp(name, pattern, n_pattern) == 0;
	if (kind == NK_SELECT_ENDS)
		return n_name >= n_pattern && strcmp(name + n_name - n_pattern, pattern) == 0;
	return strstr(name, pattern) != NULL;
}

static nk_status not_found(const char *name, const nk_field *fields, int n_fields, nk_error *err)
{
	nk_schema *schema;
	NK_TRY(nk_schema_new(fields, n_fields, &schema, err));
	int at;
	nk_status status = nk_schema_resolve(schema, name, &at, err);
	nk_schema_unref(schema);
	return status;
}

/* Marks the fields whose names match a regular expression. */
static nk_status mark_matches(const char *text, const nk_field *fields, int n_fields, uint8_t *marks,
                              nk_error *err)
{
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, INT64_MAX);
	NK_AUTO(nk_pattern) pattern = NULL;
	NK_MATCHER(matcher);
	if (!memory)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	NK_TRY(nk_pattern_new(memory, text, (int64_t)strlen(text), false, false, &pattern, err));
	NK_TRY(nk_matcher_init(&matcher, pattern, err));
	for (int at = 0; at < n_fields; at++) {
		bool found;
		NK_TRY(nk_matcher_find(&matcher, fields[at].name, (int64_t)strlen(fields[at].name), 0, &found, err));
		marks[at] |= found;
	}
	return NK_OK;
}

static nk_status resolve_matches(const nk_expr *selector, const nk_field *fields, int n_fields, int *out,
                                 int *n_out, nk_error *err)
{
	uint8_t *marks = calloc((size_t)n_fields + 1, 1);
	nk_status status = marks ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	for (int i = 0; status == NK_OK && i < selector->n_items; i++)
		status = mark_matches(selector->names[i], fields, n_fields, marks, err);
	int n = 0;
	for (int at = 0; status == NK_OK && at < n_fields; at++)
		if (marks[at])
			out[n++] = at;
	*n_out = n;
	free(marks);
	return status;
}

/* One selector that is no combination, as positions in its own order. */
static nk_status resolve_leaf(const nk_expr *selector, const nk_field *fields, int n_fields, int *out,
                              int *n_out, nk_error *err)
{
	int n = 0;
	switch (selector->selector) {
	case NK_SELECT_NAMES:
		for (int i = 0; i < selector->n_items; i++) {
			int at = 0;
			while (at < n_fields && strcmp(fields[at].name, selector->names[i]) != 0)
				at++;
			if (at < n_fields) {
				bool seen = false;
				for (int j = 0; j < n; j++)
					seen |= out[j] == at;
				if (!seen)
					out[n++] = at;
			} else if (selector->strict) {
				return not_found(selector->names[i], fields, n_fields, err);
			}
		}
		break;
	case NK_SELECT_POSITIONS:
		for (int i = 0; i < selector->n_items; i++) {
			int64_t at =
				selector->positions[i] < 0 ? selector->positions[i] + n_fields : selector->positions[i];
			if (at < 0 || at >= n_fields)
				return nk_fail(err, NK_COLUMN_NOT_FOUND, "no column at position %lld: there are %d columns",
				               (long long)selector->positions[i], n_fields);
			out[n++] = (int)at;
		}
		break;
	case NK_SELECT_MATCHES: return resolve_matches(selector, fields, n_fields, out, n_out, err);
	default:
		for (int at = 0; at < n_fields; at++) {
			bool chosen = selector->selector == NK_SELECT_ALL;
			if (selector->selector == NK_SELECT_CLASS)
				chosen = class_of(fields[at].dtype) & selector->classes;
			for (int i = 0; i < selector->n_items && !chosen; i++)
				chosen = selector->selector == NK_SELECT_DTYPES
				             ? selector->dtypes[i] == fields[at].dtype
				             : text_matches(fields[at].name, selector->names[i], selector->selector);
			if (chosen)
				out[n++] = at;
		}
	}
	*n_out = n;
	return NK_OK;
}

/* A selector that is no combination, or a column, which takes part in selections as itself. */
static nk_status resolve_one(const nk_expr *node, const nk_field *fields, int n_fields, int *out, int *n_out,
                             nk_error *err)
{
	if (node->kind == NK_EXPR_COLUMN) {
		nk_expr leaf = {
			.selector = NK_SELECT_NAMES, .names = (char *[]){node->name}, .n_items = 1, .strict = true};
		return resolve_leaf(&leaf, fields, n_fields, out, n_out, err);
	}
	if (node->kind != NK_EXPR_SELECTOR)
		return nk_fail(err, NK_TYPE, "expected a selector or a column");
	return resolve_leaf(node, fields, n_fields, out, n_out, err);
}

static bool is_combination(const nk_expr *node)
{
	return node->kind == NK_EXPR_SELECTOR && node->selector >= NK_SELECT_UNION;
}

static int combined_of(const void *node, const void *const **below)
{
	const nk_expr *expr = node;
	*below = (const void *const *)expr->args;
	return is_combination(expr) ? 2 : 0;
}

static uint64_t combine(nk_selector_kind kind, uint64_t left, uint64_t right)
{
	return kind == NK_SELECT_UNION       ? left | right
	       : kind == NK_SELECT_INTERSECT ? left & right
	       : kind == NK_SELECT_EXCEPT    ? left & ~right
	                                     : left ^ right;
}

/* Sets of fields, one for each node: those below come first. `chosen` has room for the positions of any leaf. */
static nk_status resolve_sets(const nk_pointers *nodes, const nk_field *fields, int n_fields, uint64_t *sets,
                              int *chosen, nk_error *err)
{
	int64_t n_words = n_fields / 64 + 1;
	for (int64_t i = 0; i < nodes->n; i++) {
		const nk_expr *node = nodes->items[i];
		uint64_t *set = sets + i * n_words;
		if (is_combination(node)) {
			const uint64_t *left = sets + nk_pointers_find(nodes, node->args[0]) * n_words;
			const uint64_t *right = sets + nk_pointers_find(nodes, node->args[1]) * n_words;
			for (int64_t w = 0; w < n_words; w++)
				set[w] = combine(node->selector, left[w], right[w]);
			continue;
		}
		int n = 0;
		NK_TRY(resolve_one(node, fields, n_fields, chosen, &n, err));
		for (int k = 0; k < n; k++)
			set[chosen[k] / 64] |= 1ull << (chosen[k] & 63);
	}
	return NK_OK;
}

nk_status nk__selector_resolve(const nk_expr *selector, const nk_field *fields, int n_fields, int *out,
                               int *n_out, nk_error *err)
{
	if (!is_combination(selector))
		return resolve_one(selector, fields, n_fields, out, n_out, err);
	NK_POINTERS(nodes);
	NK_TRY(nk_pointers_walk(&nodes, selector, combined_of, err));
	int most = n_fields;
	for (int64_t i = 0; i < nodes.n; i++)
		most = NK_MAX(most, ((const nk_expr *)nodes.items[i])->n_items);
	size_t n_words = (size_t)n_fields / 64 + 1;
	uint64_t *sets = calloc((size_t)nodes.n * n_words, sizeof *sets);
	int *chosen = malloc(((size_t)most + 1) * sizeof *chosen);
	nk_status status = sets && chosen ? resolve_sets(&nodes, fields, n_fields, sets, chosen, err)
	                                  : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a selector");
	if (status == NK_OK) {
		const uint64_t *set = sets + (size_t)(nodes.n - 1) * n_words;
		*n_out = 0;
		for (int at = 0; at < n_fields; at++)
			if (set[at / 64] >> (at & 63) & 1)
				out[(*n_out)++] = at;
	}
	free(sets);
	free(chosen);
	return status;
}
