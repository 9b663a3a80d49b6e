/* Plans as people read them: one node a line, inputs below and further in, what a node reads and drops, how many
 * rows are expected, and after a run what happened. A node with several readers is printed where it is met first and
 * referred to by its number elsewhere. Walks keep a stack of their own; beyond MAX_INDENT levels lines move no
 * further in and say how deep they are. */
#include "plan/explain_internal.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_INDENT = 40, MAX_NAMES = 12 };

typedef struct place {
	const nk_rel *rel;
	int depth;
} place;

typedef struct walk {
	place *stack;
	int depth, capacity;
	int *n_readers; /* by node number */
	bool *is_seen;
	int n_nodes;
} walk;

static bool walk_push(walk *self, const nk_rel *rel, int depth)
{
	if (self->depth == self->capacity) {
		int capacity = self->capacity * 2 + 32;
		place *grown = realloc(self->stack, (size_t)capacity * sizeof *grown);
		if (!grown)
			return false;
		self->stack = grown;
		self->capacity = capacity;
	}
	self->stack[self->depth++] = (place){rel, depth};
	return true;
}

static void walk_release(walk *self)
{
	free(self->stack);
	free(self->n_readers);
	free(self->is_seen);
}

/* Counts the readers of each node and leaves the walk at the root. False when out of memory. */
static bool walk_init(walk *self, const nk_query *query)
{
	*self = (walk){.n_nodes = query->n_nodes};
	size_t n = (size_t)query->n_nodes + 1;
	self->n_readers = calloc(n, sizeof *self->n_readers);
	self->is_seen = calloc(n, sizeof *self->is_seen);
	bool ok = self->n_readers && self->is_seen && walk_push(self, query->root, 0);
	while (ok && self->depth) {
		const nk_rel *rel = self->stack[--self->depth].rel;
		for (int i = 0; ok && i < rel->n_inputs; i++)
			if (!self->n_readers[rel->inputs[i]->number]++)
				ok = walk_push(self, rel->inputs[i], 0);
	}
	return ok && walk_push(self, query->root, 0);
}

/* ---- Parts of lines ---- */

void nk__append_count(nk_text *out, double n)
{
	static const char *const UNITS[] = {"", "k", "M", "G", "T"};
	int unit = 0;
	while (n >= 999.5 && unit < NK_COUNT(UNITS) - 1) {
		n /= 1000;
		unit++;
	}
	nk_text_format(out, unit && n < 99.95 ? "%.1f%s" : "%.0f%s", n, UNITS[unit]);
}

void nk__append_bytes(nk_text *out, int64_t n)
{
	static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)n;
	int unit = 0;
	while (size >= 1023.5 && unit < NK_COUNT(UNITS) - 1) {
		size /= 1024;
		unit++;
	}
	nk_text_format(out, unit && size < 99.95 ? "%.1f %s" : "%.0f %s", size, UNITS[unit]);
}

static const char *name_of(const nk_query *query, int id)
{
	return nk_binder_column(query->binder, id)->name;
}

static void append_names(const nk_query *query, const int *ids, int n, nk_text *out)
{
	for (int i = 0; i < n && i < MAX_NAMES; i++)
		nk_text_format(out, "%s%s", i ? ", " : "", name_of(query, ids[i]));
	if (n > MAX_NAMES)
		nk_text_format(out, ", ... (%d)", n);
}

static void append_expr(const nk_query *query, const nk_bound *expr, nk_text *out)
{
	if (expr->kind == NK_BOUND_COLUMN)
		nk_text_append_string(out, name_of(query, expr->column));
	else
		nk_bound_format(query->binder, expr, out);
}

static void append_list(const nk_query *query, nk_bound *const *exprs, int n, const char *separator,
                        nk_text *out)
{
	for (int i = 0; i < n; i++) {
		nk_text_append_string(out, i ? separator : "");
		append_expr(query, exprs[i], out);
	}
}

/* "a, b, total = sum(c)"; what is named after itself comes without a name. */
static void append_named(const nk_query *query, const int *ids, nk_bound *const *exprs, int n, nk_text *out)
{
	for (int i = 0; i < n && i < MAX_NAMES; i++) {
		const char *name = name_of(query, ids[i]);
		nk_text_append_string(out, i ? ", " : "");
		if (exprs[i]->kind == NK_BOUND_COLUMN && strcmp(name_of(query, exprs[i]->column), name) == 0) {
			nk_text_append_string(out, name);
			continue;
		}
		NK_TEXT(text);
		append_expr(query, exprs[i], &text);
		if (!text.bytes || strcmp(text.bytes, name) != 0)
			nk_text_format(out, "%s = ", name);
		nk_text_append(out, text.bytes, text.n_bytes);
		out->failed |= text.failed;
	}
	if (n > MAX_NAMES)
		nk_text_format(out, ", ... (%d)", n);
}

static void append_rows(nk_text *out, int64_t offset, int64_t limit)
{
	if (offset < 0 && limit < 0)
		nk_text_format(out, "the last %lld", -(long long)offset);
	else if (offset < 0)
		nk_text_format(out, "%lld from the %lldth last", (long long)limit, -(long long)offset);
	else if (limit < 0)
		nk_text_format(out, "all after %lld", (long long)offset);
	else if (offset)
		nk_text_format(out, "%lld after %lld", (long long)limit, (long long)offset);
	else
		nk_text_format(out, "the first %lld", (long long)limit);
}

static void append_scan(const nk_query *query, const nk_rel *rel, nk_text *out)
{
	nk_source *source = rel->scan.source;
	const nk_schema *schema;
	nk_text_append_string(out, "scan ");
	source->ops->describe(source, out);
	nk_text_format(out, ", %d", rel->n_columns);
	if (source->ops->schema(source, &schema, NULL) == NK_OK)
		nk_text_format(out, "/%d", schema->n_fields);
	nk_text_append_string(out, rel->n_columns ? " columns: " : " columns");
	append_names(query, rel->columns, rel->n_columns, out);
	if (rel->scan.n_conjuncts) {
		nk_text_append_string(out, "; where ");
		append_list(query, rel->scan.conjuncts, rel->scan.n_conjuncts, " and ", out);
	}
	if (rel->scan.offset || rel->scan.limit >= 0) {
		nk_text_append_string(out, "; rows: ");
		append_rows(out, rel->scan.offset, rel->scan.limit);
	}
	for (int i = 0; i < rel->scan.n_runtime_filters; i++) {
		int column = rel->scan.runtime_filters[i].column;
		const char *name = "?";
		if (source->ops->schema(source, &schema, NULL) == NK_OK && column < schema->n_fields)
			name = schema->fields[column].name;
		nk_text_format(out, "%s%s", i ? ", " : "; filtered while running by ", name);
	}
}

static void append_join(const nk_query *query, const nk_rel *rel, nk_text *out)
{
	static const char *const KINDS[] = {
		[NK_JOIN_INNER] = "inner", [NK_JOIN_LEFT] = "left", [NK_JOIN_RIGHT] = "right",
		[NK_JOIN_FULL] = "full",   [NK_JOIN_SEMI] = "semi", [NK_JOIN_ANTI] = "anti",
		[NK_JOIN_CROSS] = "cross",
	};
	static const char *const ORDERS[] = {
		[NK_ORDER_LEFT] = "left",
		[NK_ORDER_RIGHT] = "right",
		[NK_ORDER_LEFT_RIGHT] = "left, then right",
		[NK_ORDER_RIGHT_LEFT] = "right, then left",
	};
	nk_text_format(out, "%s join", KINDS[rel->join.how]);
	for (int i = 0; i < rel->join.n_keys; i++) {
		nk_text_append_string(out, i ? ", " : " on ");
		append_expr(query, rel->join.left_keys[i], out);
		nk_text_append_string(out, rel->join.nulls_equal ? " == " : " = ");
		append_expr(query, rel->join.right_keys[i], out);
	}
	if (rel->join.residual) {
		nk_text_append_string(out, " where ");
		append_expr(query, rel->join.residual, out);
	}
	nk_text_format(out, "; table of the %s", rel->join.build_left ? "left" : "right");
	if (rel->join.order_kept != NK_ORDER_NONE)
		nk_text_format(out, "; keeps the order of the %s", ORDERS[rel->join.order_kept]);
}

static void append_sort(const nk_query *query, const nk_rel *rel, nk_text *out)
{
	nk_text_append_string(out, "sort by ");
	for (int i = 0; i < rel->sort.n_keys; i++) {
		nk_text_append_string(out, i ? ", " : "");
		append_expr(query, rel->sort.keys[i], out);
		if (rel->sort.descending && rel->sort.descending[i])
			nk_text_append_string(out, " descending");
		if (rel->sort.nulls_last && rel->sort.nulls_last[i])
			nk_text_append_string(out, " nulls last");
	}
	if (rel->sort.limit >= 0)
		nk_text_format(out, "; the first %lld", (long long)rel->sort.limit);
	if (rel->sort.maintain_order)
		nk_text_append_string(out, "; stable");
}

static void append_aggregate(const nk_query *query, const nk_rel *rel, nk_text *out)
{
	int n_keys = rel->aggregate.n_keys;
	nk_text_append_string(out, "aggregate");
	if (n_keys) {
		nk_text_append_string(out, " by ");
		append_named(query, rel->columns, rel->aggregate.keys, n_keys, out);
	}
	if (rel->aggregate.n_aggregates) {
		nk_text_append_string(out, ": ");
		append_named(query, rel->columns + n_keys, rel->aggregate.aggregates, rel->aggregate.n_aggregates,
		             out);
	}
	if (rel->aggregate.is_grouped)
		nk_text_append_string(out, "; over gathered groups");
	if (rel->aggregate.maintain_order)
		nk_text_append_string(out, "; in order of appearance");
}

void nk__append_node(const nk_query *query, const nk_rel *rel, nk_text *out)
{
	static const char *const KEEPS[] = {
		[NK_KEEP_ANY] = "any", [NK_KEEP_FIRST] = "first", [NK_KEEP_LAST] = "last", [NK_KEEP_NONE] = "none"};
	switch (rel->kind) {
	case NK_REL_SCAN: append_scan(query, rel, out); break;
	case NK_REL_FILTER:
		nk_text_append_string(out, "filter ");
		append_expr(query, rel->filter.predicate, out);
		break;
	case NK_REL_PROJECT:
		nk_text_append_string(out, "project ");
		append_named(query, rel->columns, rel->project.exprs, rel->n_columns, out);
		break;
	case NK_REL_MAP:
		nk_text_append_string(out, rel->map.is_with_columns ? "with columns " : "select ");
		append_named(query, rel->columns, rel->map.exprs, rel->n_columns, out);
		break;
	case NK_REL_AGGREGATE: append_aggregate(query, rel, out); break;
	case NK_REL_JOIN: append_join(query, rel, out); break;
	case NK_REL_SORT: append_sort(query, rel, out); break;
	case NK_REL_SLICE:
		nk_text_append_string(out, "slice: ");
		append_rows(out, rel->slice.offset, rel->slice.limit);
		break;
	case NK_REL_UNIQUE:
		nk_text_append_string(out, "unique by ");
		append_names(query, rel->unique.keys, rel->unique.n_keys, out);
		nk_text_format(out, "; keeps %s", KEEPS[rel->unique.keep]);
		break;
	case NK_REL_UNION: nk_text_format(out, "union of %d", rel->n_inputs); break;
	case NK_REL_ZIP: nk_text_format(out, "side by side, %d", rel->n_inputs); break;
	case NK_REL_ROW_INDEX:
		nk_text_format(out, "row index %s from %lld", name_of(query, rel->columns[0]),
		               (long long)rel->row_index.offset);
		break;
	case NK_REL_EXPLODE:
		nk_text_append_string(out, "explode ");
		append_names(query, rel->explode.lists, rel->explode.n_lists, out);
		break;
	case NK_REL_JOIN_ASOF:
		nk_text_append_string(out, "asof join on ");
		append_names(query, rel->asof.left, 1, out);
		nk_text_append_string(out, " and ");
		append_names(query, rel->asof.right, 1, out);
		if (rel->asof.n_by)
			nk_text_append_string(out, " by ");
		append_names(query, rel->asof.left + 1, rel->asof.n_by, out);
		break;
	case NK_REL_WINDOWS:
		nk_text_append_string(out, rel->windows.how.is_rolling ? "rolling over " : "dynamic windows over ");
		append_names(query, &rel->windows.index, 1, out);
		if (rel->windows.n_keys)
			nk_text_append_string(out, " by ");
		append_names(query, rel->windows.keys, rel->windows.n_keys, out);
		nk_text_append_string(out, ": ");
		append_named(query, rel->columns + rel->n_columns - rel->windows.n_aggregates,
		             rel->windows.aggregates, rel->windows.n_aggregates, out);
		break;
	case NK_REL_FOREIGN: nk_text_append_string(out, "function of the host"); break;
	case NK_REL_N: break;
	}
}

static void append_estimate(const nk_rel *rel, nk_text *out)
{
	if (rel->n_rows < 0)
		return;
	nk_text_append_string(out, "  ~");
	nk__append_count(out, fmax(0, ceil(rel->n_rows - 1e-6)));
	nk_text_append_string(out, " rows");
}

static void append_scan_counters(const nk_scan_counters *counters, nk_text *out)
{
	nk_text_append_string(out, ", read ");
	nk__append_bytes(out, counters->n_bytes_read);
	nk_text_append_string(out, " of ");
	nk__append_bytes(out, counters->n_bytes_wanted);
	nk_text_append_string(out, " wanted of ");
	nk__append_bytes(out, counters->n_bytes_file);
	nk_text_append_string(out, ", decompressed ");
	nk__append_bytes(out, counters->n_bytes_decompressed);
	nk_text_format(out, ", pruned %lld/%lld groups", (long long)counters->n_groups_pruned,
	               (long long)counters->n_groups);
	if (counters->n_pages)
		nk_text_format(out, " and %lld/%lld pages", (long long)counters->n_pages_pruned,
		               (long long)counters->n_pages);
	nk_text_format(out, ", ms: wait %.1f, decompress %.1f, decode %.1f, filter %.1f",
	               (double)counters->ns_wait / 1e6, (double)counters->ns_decompress / 1e6,
	               (double)counters->ns_decode / 1e6, (double)counters->ns_filter / 1e6);
}

static void append_counters(const nk_rel *rel, nk_text *out)
{
	const nk_counters *counters = rel->counters;
	if (!counters)
		return;
	int64_t n_in = counters->n_rows_in, n_out = counters->n_rows_out;
	const nk_scan_counters *scan = rel->kind == NK_REL_SCAN ? rel->scan.scan_counters : NULL;
	if (scan && scan->n_rows_scanned)
		n_in = scan->n_rows_scanned;
	if (scan && !n_out)
		n_out = scan->n_rows_out;
	nk_text_format(out, "  [%lld", (long long)n_in);
	nk_text_format(out, " -> %lld rows, %.1f ms", (long long)n_out, (double)counters->ns_busy / 1e6);
	if (counters->n_bytes_peak) {
		nk_text_append_string(out, ", held ");
		nk__append_bytes(out, counters->n_bytes_peak);
	}
	if (counters->n_bytes_spilled) {
		nk_text_append_string(out, ", spilled ");
		nk__append_bytes(out, counters->n_bytes_spilled);
	}
	if (scan && scan->n_bytes_file)
		append_scan_counters(scan, out);
	nk_text_append_char(out, ']');
}

void nk_query_explain(const nk_query *query, bool analyzed, nk_text *out)
{
	walk state;
	bool ok = walk_init(&state, query);
	while (ok && state.depth) {
		place at = state.stack[--state.depth];
		const nk_rel *rel = at.rel;
		for (int i = 0; i < NK_MIN(at.depth, (int)MAX_INDENT); i++)
			nk_text_append_string(out, "  ");
		if (at.depth > MAX_INDENT)
			nk_text_format(out, "(%d) ", at.depth);
		if (state.is_seen[rel->number]) {
			nk_text_format(out, "the rows of #%d\n", rel->number);
			continue;
		}
		state.is_seen[rel->number] = true;
		if (state.n_readers[rel->number] > 1)
			nk_text_format(out, "#%d (%d readers) ", rel->number, state.n_readers[rel->number]);
		nk__append_node(query, rel, out);
		append_estimate(rel, out);
		if (analyzed)
			append_counters(rel, out);
		nk_text_append_char(out, '\n');
		for (int i = rel->n_inputs; ok && i-- > 0;)
			ok = walk_push(&state, rel->inputs[i], at.depth + 1);
	}
	out->failed |= !ok;
	walk_release(&state);
}

static void append_escaped(const char *text, nk_text *out)
{
	for (; text && *text; text++) {
		if (*text == '"' || *text == '\\')
			nk_text_append_char(out, '\\');
		nk_text_append_char(out, *text == '\n' ? ' ' : *text);
	}
}

void nk_query_explain_dot(const nk_query *query, nk_text *out)
{
	walk state;
	bool ok = walk_init(&state, query);
	nk_text_append_string(out, "digraph query {\n  rankdir=BT;\n  node [shape=box];\n");
	while (ok && state.depth) {
		const nk_rel *rel = state.stack[--state.depth].rel;
		if (state.is_seen[rel->number])
			continue;
		state.is_seen[rel->number] = true;
		NK_TEXT(line);
		nk__append_node(query, rel, &line);
		append_estimate(rel, &line);
		nk_text_format(out, "  n%d [label=\"", rel->number);
		append_escaped(line.bytes, out);
		nk_text_append_string(out, "\"];\n");
		out->failed |= line.failed;
		for (int i = rel->n_inputs; ok && i-- > 0;) {
			nk_text_format(out, "  n%d -> n%d;\n", rel->inputs[i]->number, rel->number);
			ok = walk_push(&state, rel->inputs[i], 0);
		}
	}
	nk_text_append_string(out, "}\n");
	out->failed |= !ok;
	walk_release(&state);
}
