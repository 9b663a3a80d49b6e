/* Distinct nodes, inputs before users, referred to by position. */
#include "plan/serialise.h"

#include <stdlib.h>
#include <string.h>

#include "base/pointers.h"
#include "columnar/array_wire.h"
#include "expr/serialise.h"

static int inputs_of(const void *node, const void *const **below)
{
	const nk_plan *plan = node;
	*below = (const void *const *)plan->inputs;
	return plan->n_inputs;
}

static nk_status put_source(nk_memory *memory, nk_source *source, nk_text *out, nk_error *err)
{
	nk_frame *frame = nk_frame_source_frame(source);
	nk_wire_put_string(out, source->ops->kind);
	if (frame)
		return nk_frame_to_wire(memory, frame, out, err);
	if (!source->ops->serialise)
		return nk_fail(err, NK_COMPUTE, "a plan that scans a %s source cannot leave the process",
		               source->ops->kind);
	return source->ops->serialise(source, out, err);
}

static nk_status put_exprs(nk_memory *memory, nk_expr *const *exprs, int n, nk_text *out, nk_error *err)
{
	nk_wire_put_number(out, (uint64_t)n);
	for (int i = 0; i < n; i++)
		NK_TRY(nk__expr_to_wire(memory, exprs[i], out, err));
	return NK_OK;
}

static nk_status put_node(nk_memory *memory, const nk_pointers *nodes, const nk_plan *plan, nk_text *out,
                          nk_error *err)
{
	nk_wire_put_number(out, plan->kind);
	nk_wire_put_number(out, (uint64_t)plan->n_inputs);
	for (int i = 0; i < plan->n_inputs; i++)
		nk_wire_put_number(out, (uint64_t)nk_pointers_find(nodes, plan->inputs[i]));
	NK_TRY(put_exprs(memory, plan->exprs, plan->n_exprs, out, err));
	NK_TRY(put_exprs(memory, plan->keys, plan->n_keys, out, err));
	nk_wire_put_number(out, (uint64_t)plan->n_names);
	for (int i = 0; i < plan->n_names; i++)
		nk_wire_put_string(out, plan->names[i]);
	nk_wire_put_number(out, plan->descending != NULL);
	for (int i = 0; plan->descending && i < plan->n_keys; i++)
		nk_wire_put_number(out, (uint64_t)plan->descending[i] | (uint64_t)plan->nulls_last[i] << 1);
	nk_wire_put_number(out, (uint64_t)plan->maintain_order | (uint64_t)plan->is_eager << 1 |
	                            (uint64_t)plan->strict << 2 | (uint64_t)plan->nulls_equal << 3 |
	                            (uint64_t)plan->empty_as_null << 4 | (uint64_t)plan->keep_nulls << 5);
	nk_wire_put_signed(out, plan->offset);
	nk_wire_put_signed(out, plan->limit);
	nk_wire_put_number(out, plan->join);
	nk_wire_put_number(out, plan->coalesce);
	nk_wire_put_number(out, plan->order_kept);
	nk_wire_put_number(out, plan->validate);
	nk_wire_put_number(out, plan->keep);
	nk_wire_put_number(out, plan->concat);
	nk_wire_put_string(out, plan->suffix);
	if (plan->kind == NK_PLAN_FOREIGN)
		return nk_fail(err, NK_COMPUTE, "a plan that calls a function of the host cannot leave the process");
	if (plan->kind == NK_PLAN_JOIN_ASOF)
		nk_wire_put_number(out, (uint64_t)plan->asof | (uint64_t)plan->exact_matches << 2 |
		                            (uint64_t)plan->check_sorted << 3);
	if (plan->kind == NK_PLAN_WINDOWS) {
		const nk_windows *how = &plan->windows;
		nk_wire_put_number(out, (uint64_t)how->is_rolling | (uint64_t)how->closed_left << 1 |
		                            (uint64_t)how->closed_right << 2 | (uint64_t)how->with_bounds << 3);
		nk_wire_put_number(out, how->label);
		nk_wire_put_number(out, how->start);
	}
	return plan->kind == NK_PLAN_SCAN ? put_source(memory, plan->source, out, err) : NK_OK;
}

nk_status nk_plan_to_wire(nk_memory *memory, const nk_plan *plan, nk_text *out, nk_error *err)
{
	NK_POINTERS(nodes);
	NK_TRY(nk_pointers_walk(&nodes, plan, inputs_of, err));
	nk_wire_put_number(out, (uint64_t)nodes.n);
	for (int64_t i = 0; i < nodes.n; i++)
		NK_TRY(put_node(memory, &nodes, nodes.items[i], out, err));
	return NK_OK;
}

static nk_status damaged(nk_error *err) { return nk_fail(err, NK_COMPUTE, "a serialised plan is damaged"); }

typedef struct parts {
	nk_plan **inputs;
	nk_expr **exprs, **keys;
	int64_t n_inputs, n_exprs, n_keys;
} parts;

static void parts_release(parts *p)
{
	for (int64_t i = 0; p->exprs && i < p->n_exprs; i++)
		nk__expr_unref(p->exprs[i]);
	for (int64_t i = 0; p->keys && i < p->n_keys; i++)
		nk__expr_unref(p->keys[i]);
	free(p->inputs);
	free(p->exprs);
	free(p->keys);
}

static nk_status read_exprs(nk_memory *memory, nk_wire *in, nk_expr ***out, int64_t *n_out, nk_error *err)
{
	int64_t n;
	NK_TRY(nk_wire_items(in, &n, err));
	*out = calloc((size_t)n + 1, sizeof **out);
	if (!*out)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (; *n_out < n; (*n_out)++)
		NK_TRY(nk__expr_from_wire(memory, in, &(*out)[*n_out], err));
	return NK_OK;
}

static nk_status read_parts(nk_memory *memory, nk_wire *in, nk_plan *const *earlier, int64_t n_earlier,
                            parts *p, nk_error *err)
{
	NK_TRY(nk_wire_items(in, &p->n_inputs, err));
	p->inputs = calloc((size_t)p->n_inputs + 1, sizeof *p->inputs);
	if (!p->inputs)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (int64_t i = 0; i < p->n_inputs; i++) {
		int64_t at;
		NK_TRY(nk_wire_count(in, n_earlier - 1, &at, err));
		p->inputs[i] = earlier[at];
	}
	NK_TRY(read_exprs(memory, in, &p->exprs, &p->n_exprs, err));
	return read_exprs(memory, in, &p->keys, &p->n_keys, err);
}

static nk_status read_enum(nk_wire *in, int most, int *out, nk_error *err)
{
	int64_t value;
	NK_TRY(nk_wire_count(in, most, &value, err));
	*out = (int)value;
	return NK_OK;
}

static nk_status read_fields(nk_wire *in, nk_plan *plan, nk_error *err)
{
	int64_t n, flags;
	NK_TRY(nk_wire_items(in, &n, err));
	plan->names = calloc((size_t)n + 1, sizeof *plan->names);
	if (!plan->names)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (; plan->n_names < n; plan->n_names++) {
		const char *name;
		NK_TRY(nk_wire_string(in, &name, err));
		if (!name || !(plan->names[plan->n_names] = strdup(name)))
			return damaged(err);
	}
	NK_TRY(nk_wire_count(in, 1, &flags, err));
	if (flags) {
		plan->descending = calloc((size_t)plan->n_keys + 1, sizeof(bool));
		plan->nulls_last = calloc((size_t)plan->n_keys + 1, sizeof(bool));
		if (!plan->descending || !plan->nulls_last)
			return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
		for (int i = 0; i < plan->n_keys; i++) {
			NK_TRY(nk_wire_count(in, 3, &flags, err));
			plan->descending[i] = flags & 1;
			plan->nulls_last[i] = flags >> 1;
		}
	}
	NK_TRY(nk_wire_count(in, 63, &flags, err));
	plan->empty_as_null = flags >> 4 & 1;
	plan->keep_nulls = flags >> 5 & 1;
	plan->maintain_order = flags & 1;
	plan->is_eager = flags >> 1 & 1;
	plan->strict = flags >> 2 & 1;
	plan->nulls_equal = flags >> 3 & 1;
	NK_TRY(nk_wire_signed(in, &plan->offset, err));
	NK_TRY(nk_wire_signed(in, &plan->limit, err));
	int join, coalesce, order, validate, keep, concat;
	NK_TRY(read_enum(in, NK_JOIN_CROSS, &join, err));
	NK_TRY(read_enum(in, NK_COALESCE_NO, &coalesce, err));
	NK_TRY(read_enum(in, NK_ORDER_RIGHT_LEFT, &order, err));
	NK_TRY(read_enum(in, NK_VALIDATE_ONE_TO_ONE, &validate, err));
	NK_TRY(read_enum(in, NK_KEEP_NONE, &keep, err));
	NK_TRY(read_enum(in, NK_CONCAT_HORIZONTAL, &concat, err));
	plan->join = (nk_join_kind)join;
	plan->coalesce = (nk_coalesce)coalesce;
	plan->order_kept = (nk_order_kept)order;
	plan->validate = (nk_validate)validate;
	plan->keep = (nk_keep)keep;
	plan->concat = (nk_concat_how)concat;
	const char *suffix;
	NK_TRY(nk_wire_string(in, &suffix, err));
	if (suffix && !(plan->suffix = strdup(suffix)))
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	if (plan->kind == NK_PLAN_JOIN_ASOF) {
		NK_TRY(nk_wire_count(in, 15, &flags, err));
		if ((flags & 3) > NK_ASOF_NEAREST)
			return damaged(err);
		plan->asof = (nk_asof_strategy)(flags & 3);
		plan->exact_matches = flags >> 2 & 1;
		plan->check_sorted = flags >> 3 & 1;
	}
	if (plan->kind == NK_PLAN_WINDOWS) {
		int label, start;
		NK_TRY(nk_wire_count(in, 15, &flags, err));
		NK_TRY(read_enum(in, NK_LABEL_DATAPOINT, &label, err));
		NK_TRY(read_enum(in, NK_START_SUNDAY, &start, err));
		plan->windows = (nk_windows){.is_rolling = flags & 1,
		                             .closed_left = flags >> 1 & 1,
		                             .closed_right = flags >> 2 & 1,
		                             .with_bounds = flags >> 3 & 1,
		                             .label = (nk_window_label)label,
		                             .start = (nk_window_start)start};
	}
	return NK_OK;
}

static nk_status read_source(nk_memory *memory, nk_wire *in, nk_source_maker *make, nk_source **out,
                             nk_error *err)
{
	const char *kind;
	NK_TRY(nk_wire_string(in, &kind, err));
	if (!kind)
		return damaged(err);
	if (strcmp(kind, "frame") != 0)
		return make(memory, kind, in, out, err);
	NK_AUTO(nk_frame) frame = NULL;
	NK_TRY(nk_frame_from_wire(memory, in, &frame, err));
	return nk_frame_source_new(frame, out, err);
}

/* What binding relies on without asking. */
static bool is_well_formed(const nk_plan *plan)
{
	switch (plan->kind) {
	case NK_PLAN_SCAN: return plan->n_inputs == 0;
	case NK_PLAN_JOIN: return plan->n_inputs == 2;
	case NK_PLAN_JOIN_ASOF: return plan->n_inputs == 2 && plan->n_names <= 1;
	case NK_PLAN_WINDOWS: return plan->n_inputs == 1 && plan->n_names == 3;
	case NK_PLAN_FOREIGN: return false;
	case NK_PLAN_CONCAT: return plan->n_inputs >= 1;
	case NK_PLAN_ROW_INDEX: return plan->n_inputs == 1 && plan->n_names == 1;
	case NK_PLAN_RENAME: return plan->n_inputs == 1 && plan->n_names % 2 == 0;
	default: return plan->n_inputs == 1;
	}
}

static nk_status read_node(nk_memory *memory, nk_wire *in, nk_plan *const *earlier, int64_t n_earlier,
                           nk_source_maker *make, nk_plan **out, nk_error *err)
{
	int kind;
	NK_TRY(read_enum(in, NK_PLAN_FOREIGN, &kind, err));
	parts p = {0};
	NK_AUTO(nk_plan) plan = NULL;
	nk_status status = read_parts(memory, in, earlier, n_earlier, &p, err);
	if (status == NK_OK)
		status = nk_plan_new((nk_plan_kind)kind, p.inputs, (int)p.n_inputs, p.exprs, (int)p.n_exprs, p.keys,
		                     (int)p.n_keys, &plan, err);
	parts_release(&p);
	NK_TRY(status);
	NK_TRY(read_fields(in, plan, err));
	if (!is_well_formed(plan))
		return damaged(err);
	if (plan->kind == NK_PLAN_SCAN)
		NK_TRY(read_source(memory, in, make, &plan->source, err));
	*out = NK_STEAL(plan);
	return NK_OK;
}

nk_status nk_plan_from_wire(nk_memory *memory, nk_wire *in, nk_source_maker *make, nk_plan **out,
                            nk_error *err)
{
	int64_t n;
	NK_TRY(nk_wire_items(in, &n, err));
	if (n < 1)
		return damaged(err);
	nk_plan **made = calloc((size_t)n, sizeof *made);
	nk_status status = made ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	for (int64_t i = 0; status == NK_OK && i < n; i++)
		status = read_node(memory, in, made, i, make, &made[i], err);
	if (status == NK_OK)
		*out = nk_plan_ref(made[n - 1]);
	for (int64_t i = 0; made && i < n; i++)
		nk_plan_unref(made[i]);
	free(made);
	return status;
}
