/* Text of expressions, as Polars shows them: user trees for reprs and error messages, bound ones for explain. Both
 * walk an explicit stack of pieces still to be written, so depth costs memory, never the C stack. A part that is
 * used twice is written twice, which doubles with every level of sharing: text ends with dots at a limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnar/format.h"
#include "expr/bound.h"

enum { EXPR_BYTES_MAX = 4 << 20, BOUND_BYTES_MAX = 64 << 10 };

typedef struct piece {
	const void *node; /* NULL: only text */
	const char *text; /* written when node is NULL; static */
} piece;

typedef struct stack {
	piece *pieces;
	int n, capacity;
} stack;

static bool push(stack *s, const void *node, const char *text)
{
	if (s->n == s->capacity) {
		int capacity = s->capacity * 2 + 32;
		piece *grown = realloc(s->pieces, (size_t)capacity * sizeof *grown);
		if (!grown)
			return false;
		s->pieces = grown;
		s->capacity = capacity;
	}
	s->pieces[s->n++] = (piece){node, text};
	return true;
}

static const char *infix(const char *name)
{
	static const char *const table[][2] = {
		{"add", "+"},  {"sub", "-"},          {"mul", "*"},          {"truediv", "/"}, {"floordiv", "//"},
		{"mod", "%"},  {"eq", "=="},          {"ne", "!="},          {"lt", "<"},      {"le", "<="},
		{"gt", ">"},   {"ge", ">="},          {"and", "&"},          {"or", "|"},      {"xor", "^"},
		{"pow", "**"}, {"eq_missing", "==v"}, {"ne_missing", "!=v"},
	};
	for (int i = 0; i < NK_COUNT(table); i++)
		if (strcmp(table[i][0], name) == 0)
			return table[i][1];
	return NULL;
}

static void format_literal(nk_text *out, const nk_scalar *value, bool is_untyped)
{
	nk_print_options options = {.full_floats = true, .string_length = -1};
	if (is_untyped && !value->is_null)
		nk_text_append_string(out, nk_type_is_float(value->dtype->id)     ? "dyn float: "
		                           : nk_type_is_integer(value->dtype->id) ? "dyn int: "
		                                                                  : "");
	nk_print_scalar(out, value, true, &options);
}

/* The pieces of a call, pushed last first. Works on both kinds of trees: args are opaque node pointers. */
static bool push_call(stack *s, const nk_func *func, const void *const *args, int n_args,
                      const nk_option *options, nk_text *out)
{
	const char *name = func->name, *sign = n_args == 2 ? infix(name) : NULL;
	if (sign) {
		nk_text_append_string(out, "[(");
		return push(s, NULL, ")]") && push(s, args[1], NULL) && push(s, NULL, " (") && push(s, NULL, sign) &&
		       push(s, NULL, ") ") && push(s, args[0], NULL);
	}
	if (strcmp(name, "when") == 0) {
		nk_text_append_string(out, "when(");
		return push(s, NULL, ")") && push(s, args[2], NULL) && push(s, NULL, ").otherwise(") &&
		       push(s, args[1], NULL) && push(s, NULL, ").then(") && push(s, args[0], NULL);
	}
	if (strcmp(name, "cast") == 0) {
		if (!push(s, NULL, ")") ||
		    !push(s, NULL, options && options[0].dtype ? options[0].dtype->text : "?") ||
		    !push(s, NULL, ".cast("))
			return false;
		return push(s, args[0], NULL);
	}
	if (n_args == 0) {
		nk_text_format(out, "%s()", name);
		return true;
	}
	if (!push(s, NULL, ")"))
		return false;
	for (int i = n_args; i-- > 1;)
		if (!push(s, args[i], NULL) || (i > 1 && !push(s, NULL, ", ")))
			return false;
	return push(s, NULL, "(") && push(s, NULL, name) && push(s, NULL, ".") && push(s, args[0], NULL);
}

/* x.over([keys]), or with an order x.over(partition_by: [keys], order_by: [keys]). */
static bool push_over(stack *s, const nk_over *over, const void *const *args)
{
	const void *const *keys = args + 1, *const *order = keys + over->n_keys;
	if (!push(s, NULL, over->n_order > 1 ? "])" : over->n_order ? ")" : "])"))
		return false;
	for (int i = over->n_order; i-- > 0;)
		if (!push(s, order[i], NULL) || (i && !push(s, NULL, ", ")))
			return false;
	if (over->n_order && !push(s, NULL, over->n_order > 1 ? "], order_by: [" : "], order_by: "))
		return false;
	for (int i = over->n_keys; i-- > 0;)
		if (!push(s, keys[i], NULL) || (i && !push(s, NULL, ", ")))
			return false;
	return push(s, NULL, over->n_order ? ".over(partition_by: [" : ".over([") && push(s, args[0], NULL);
}

static const char *const selector_names[] = {"all",         "by_name",   "by_dtype", "by_class", "by_index",
                                             "starts_with", "ends_with", "contains", "matches"};

void nk__expr_format(const nk_expr *expr, nk_text *out)
{
	stack s = {0};
	bool ok = push(&s, expr, NULL);
	int64_t most = out->n_bytes + EXPR_BYTES_MAX;
	while (ok && s.n) {
		if (out->n_bytes > most) {
			nk_text_append_string(out, "...");
			break;
		}
		piece at = s.pieces[--s.n];
		if (!at.node) {
			nk_text_append_string(out, at.text);
			continue;
		}
		const nk_expr *node = at.node;
		switch (node->kind) {
		case NK_EXPR_COLUMN: nk_text_format(out, "col(\"%s\")", node->name); break;
		case NK_EXPR_LITERAL: format_literal(out, &node->literal, node->is_untyped); break;
		case NK_EXPR_SERIES:
			nk_text_append_string(out, "Series");
			if (node->name[0])
				nk_text_format(out, "[%s]", node->name);
			break;
		case NK_EXPR_ALIAS:
			ok = push(&s, NULL, "\")") && push(&s, NULL, node->name) && push(&s, NULL, ".alias(\"") &&
			     push(&s, node->args[0], NULL);
			break;
		case NK_EXPR_RENAME:
			ok = push(&s, NULL, node->rename == NK_RENAME_KEEP ? ".name.keep()" : ".name.rename()") &&
			     push(&s, node->args[0], NULL);
			break;
		case NK_EXPR_SELECTOR:
			if (node->selector >= NK_SELECT_UNION) {
				static const char *const signs[] = {" | ", " & ", " - ", " ^ "};
				nk_text_append_char(out, '[');
				ok = push(&s, NULL, "]") && push(&s, node->args[1], NULL) &&
				     push(&s, NULL, signs[node->selector - NK_SELECT_UNION]) && push(&s, node->args[0], NULL);
				break;
			}
			nk_text_format(out, "cs.%s(", selector_names[node->selector]);
			for (int i = 0; node->names && i < node->n_items; i++)
				nk_text_format(out, "%s\"%s\"", i ? ", " : "", node->names[i]);
			for (int i = 0; node->dtypes && i < node->n_items; i++)
				nk_text_format(out, "%s%s", i ? ", " : "", node->dtypes[i]->text);
			nk_text_append_char(out, ')');
			break;
		case NK_EXPR_CALL:
			ok = push_call(&s, node->func, (const void *const *)node->args, node->n_args, node->options, out);
			break;
		case NK_EXPR_OVER: ok = push_over(&s, &node->over, (const void *const *)node->args); break;
		}
	}
	if (!ok)
		out->failed = true;
	free(s.pieces);
}

void nk_bound_format(const nk_binder *binder, const nk_bound *expr, nk_text *out)
{
	stack s = {0};
	bool ok = push(&s, expr, NULL);
	int64_t most = out->n_bytes + BOUND_BYTES_MAX;
	while (ok && s.n) {
		if (out->n_bytes > most) {
			nk_text_append_string(out, "...");
			break;
		}
		piece at = s.pieces[--s.n];
		if (!at.node) {
			nk_text_append_string(out, at.text);
			continue;
		}
		const nk_bound *node = at.node;
		if (node->kind == NK_BOUND_COLUMN)
			nk_text_format(out, "col(\"%s\")", nk_binder_column(binder, node->column)->name);
		else if (node->kind == NK_BOUND_LITERAL)
			format_literal(out, &node->value, node->is_untyped);
		else if (node->kind == NK_BOUND_SERIES)
			nk_text_append_string(out, "Series");
		else if (node->kind == NK_BOUND_OVER)
			ok = push_over(&s, &node->over, (const void *const *)node->args);
		else
			ok = push_call(&s, node->func, (const void *const *)node->args, node->n_args, node->options, out);
	}
	if (!ok)
		out->failed = true;
	free(s.pieces);
}
