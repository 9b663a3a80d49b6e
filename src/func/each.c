/* Items lie one list after another, so lists are groups: an elementwise function runs on all items at once, an
 * aggregate by group number, a segmented kernel over the offsets. What is left, functions that see a list as a whole
 * and have no kernel over segments, runs list by list. */
#include "func/each.h"

#include <stdlib.h>

#include "compute/nested.h"
#include "compute/select.h"
#include "func/apply.h"
#include "func/words.h"

typedef struct each_plan {
	nk_bind inner; /* the function, bound to items */
	uint64_t rows;
	int n_args;
	bool gives_rows;
} each_plan;

static bool is_rows(const each_plan *plan, int argument) { return plan->rows >> NK_MIN(argument, 63) & 1; }

nk_status nk__refuse_list(const nk_bind *bind, int argument, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "expected List data type for `%s`, got: %s", bind->func->name,
	               nk_dtype_short_name(bind->args[argument].dtype));
}

/* ---- Evaluation ---- */

/* All arguments over one layout of items: lists' items, and values a row repeated for the items of their row. */
typedef struct laid_out {
	nk_lists *lists; /* one an argument; those that are no lists are empty */
	nk_array **args; /* owned; flat or constant */
	int n_args;
	int64_t n_rows;
	const int64_t *offsets; /* of the first argument that is a list, or of rows of one value */
	const nk_lists *first;  /* NULL: there is none */
	nk_buffer *own_offsets; /* owned */
	nk_memory *memory;
} laid_out;

static void laid_out_release(laid_out *laid)
{
	for (int i = 0; laid->lists && i < laid->n_args; i++)
		nk_lists_release(&laid->lists[i]);
	for (int i = 0; laid->args && i < laid->n_args; i++)
		nk_array_unref(laid->args[i]);
	free(laid->lists);
	free(laid->args);
	nk_buffer_unref(laid->own_offsets);
}

/* Of several arguments that are lists: a row that is null in one is null in all, so that lists beside it do not count.
 * *out is NULL when there is nothing to combine. */
static nk_status common_validity(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_buffer **out,
                                 nk_error *err)
{
	const each_plan *plan = call->data;
	int n_lists = 0;
	bool may_null = false;
	for (int i = 0; i < plan->n_args; i++)
		if (is_rows(plan, i)) {
			n_lists++;
			may_null |= nk__may_have_nulls(args[i]);
		}
	*out = NULL;
	if (n_lists < 2 || !may_null)
		return NK_OK;
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), out, err));
	nk_bitmap_fill((*out)->bytes, 0, n_rows, true);
	for (int i = 0; i < plan->n_args; i++)
		for (int64_t row = 0; is_rows(plan, i) && row < n_rows; row += 64)
			nk__put_word((*out)->bytes, row, n_rows,
			             nk_bitmap_word((*out)->bytes, row, n_rows) & nk__valid_word(args[i], row, n_rows));
	return NK_OK;
}

static nk_status lay_out(const nk_call *call, nk_array *const *args, int64_t n_rows, laid_out *laid,
                         nk_error *err)
{
	const each_plan *plan = call->data;
	laid->n_args = plan->n_args;
	laid->n_rows = n_rows;
	laid->memory = call->memory;
	laid->lists = calloc((size_t)plan->n_args + 1, sizeof *laid->lists);
	laid->args = calloc((size_t)plan->n_args + 1, sizeof *laid->args);
	if (!laid->lists || !laid->args)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for the arguments of `%s`", call->func->name);
	bool unaligned = plan->inner.func->unaligned;
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(common_validity(call, args, n_rows, &validity, err));
	for (int i = 0; i < plan->n_args; i++) {
		if (!is_rows(plan, i))
			continue;
		nk_lists *lists = &laid->lists[i];
		if (validity) {
			NK_AUTO(nk_array) flat = NULL;
			NK_AUTO(nk_array) masked = NULL;
			NK_TRY(nk_array_flatten(call->memory, args[i], &flat, err));
			NK_TRY(nk_array_with_validity(flat, nk_buffer_ref(validity), -1, &masked, err));
			NK_TRY(nk_lists_of(call->memory, masked, lists, err));
		} else {
			NK_TRY(nk_lists_of(call->memory, args[i], lists, err));
		}
		laid->args[i] = nk_array_ref(lists->items);
		if (!laid->first) {
			laid->first = lists;
			laid->offsets = lists->offsets;
		} else if (!unaligned &&
		           memcmp(lists->offsets, laid->offsets, (size_t)(n_rows + 1) * sizeof(int64_t)) != 0) {
			return nk_fail(err, NK_SHAPE, "arguments of `%s` have different lengths within a list",
			               call->func->name);
		}
	}
	if (!laid->first) {
		NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &laid->own_offsets, err));
		int64_t *to = (int64_t *)(void *)laid->own_offsets->bytes;
		for (int64_t i = 0; i <= n_rows; i++)
			to[i] = i;
		laid->offsets = to;
	}
	NK_AUTO(nk_buffer) rows = NULL;
	int64_t n_items = laid->offsets[n_rows];
	for (int i = 0; i < plan->n_args; i++) {
		if (is_rows(plan, i))
			continue;
		if (!laid->first || unaligned || n_rows == 0) {
			laid->args[i] = nk_array_ref(args[i]);
		} else if (args[i]->encoding == NK_CONSTANT) {
			NK_TRY(nk_array_new_constant(call->memory, args[i], n_items, &laid->args[i], err));
		} else {
			if (!rows)
				NK_TRY(nk_lists_rows(call->memory, laid->offsets, n_rows, &rows, err));
			NK_TRY(nk_array_take(call->memory, args[i], (const uint32_t *)(void *)rows->bytes, n_items,
			                     &laid->args[i], err));
		}
	}
	return NK_OK;
}

static nk_status run_aggregate(nk_call *inner, const nk_aggregate *aggregate, const laid_out *laid,
                               nk_array **out, nk_error *err)
{
	NK_AUTO(nk_arena) arena = nk_arena_new(inner->memory);
	NK_AUTO(nk_buffer) rows = NULL;
	if (!arena)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for aggregation");
	void *states;
	NK_TRY(nk_arena_alloc(arena, NK_MAX(laid->n_rows, (int64_t)1) * aggregate->state_size, &states, err));
	NK_TRY(nk_lists_rows(inner->memory, laid->offsets, laid->n_rows, &rows, err));
	int64_t n_items = laid->offsets[laid->n_rows];
	if (n_items > 0)
		NK_TRY(aggregate->update(inner, states, (const uint32_t *)(void *)rows->bytes, laid->args, n_items, 0,
		                         arena, err));
	return aggregate->finish(inner, states, laid->n_rows, out, err);
}

/* Row `row` of argument i: its list, or its value. */
static nk_status piece(const nk_call *call, const laid_out *laid, int i, int64_t row, nk_array **out,
                       nk_error *err)
{
	const each_plan *plan = call->data;
	nk_array *array = laid->args[i];
	bool unaligned = plan->inner.func->unaligned;
	const int64_t *offsets = !unaligned || !is_rows(plan, i) ? laid->offsets : laid->lists[i].offsets;
	if (unaligned && !is_rows(plan, i))
		return nk_array_slice(call->memory, array, row, 1, out, err);
	return nk_array_slice(call->memory, array, offsets[row], offsets[row + 1] - offsets[row], out, err);
}

/* Results of all lists, which come one by one. */
static nk_status one_by_one(const nk_call *call, nk_call *inner, const laid_out *laid, nk_array **results,
                            nk_array **args, int64_t *ends, nk_error *err)
{
	const each_plan *plan = call->data;
	const nk_bind *bound = &plan->inner;
	ends[0] = 0;
	for (int64_t row = 0; row < laid->n_rows; row++) {
		nk_status status = NK_OK;
		bool is_null = laid->first && !nk_lists_valid(laid->first, row);
		int n_args = 0;
		if (is_null)
			status =
				nk_array_new_null(call->memory, bound->dtype, plan->gives_rows ? 0 : 1, &results[row], err);
		for (; !is_null && status == NK_OK && n_args < plan->n_args; n_args++) {
			status = piece(call, laid, n_args, row, &args[n_args], err);
			if (status != NK_OK)
				break;
		}
		int64_t n = n_args ? args[0]->n_rows : laid->offsets[row + 1] - laid->offsets[row];
		if (!is_null && status == NK_OK)
			status = bound->kernel ? bound->kernel(inner, args, n, &results[row], err)
			                       : bound->segmented(inner, args, 1, (int64_t[]){0, n}, &results[row], err);
		for (int i = 0; i < n_args; i++)
			nk_array_unref(args[i]);
		NK_TRY(status);
		ends[row + 1] = ends[row] + results[row]->n_rows;
	}
	return NK_OK;
}

static nk_status run_each(const nk_call *call, nk_call *inner, const laid_out *laid, nk_array **out,
                          nk_error *err)
{
	const each_plan *plan = call->data;
	int64_t n_rows = laid->n_rows;
	if (n_rows > INT32_MAX)
		return nk_fail(err, NK_COMPUTE, "`%s` takes at most 2147483647 lists", call->func->name);
	NK_AUTO(nk_buffer) ends = NULL;
	NK_TRY(nk_buffer_new(call->memory, (n_rows + 1) * (int64_t)sizeof(int64_t), &ends, err));
	nk_array **results = calloc((size_t)n_rows + 1, sizeof *results);
	nk_array **args = calloc((size_t)plan->n_args + 1, sizeof *args);
	nk_array *joined = NULL;
	nk_status status = results && args ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for lists");
	if (status == NK_OK)
		status = one_by_one(call, inner, laid, results, args, (int64_t *)(void *)ends->bytes, err);
	if (status == NK_OK && n_rows > 0)
		status = nk_array_concat(call->memory, results, (int)n_rows, &joined, err);
	else if (status == NK_OK)
		status = nk_array_new_null(call->memory, plan->inner.dtype, 0, &joined, err);
	for (int64_t i = 0; results && i < n_rows; i++)
		nk_array_unref(results[i]);
	free(results);
	free(args);
	NK_TRY(status);
	if (!plan->gives_rows) {
		*out = joined;
		return NK_OK;
	}
	return nk_lists_wrap(call->memory, call->dtype, laid->first, NK_STEAL(ends), joined, out, err);
}

/* Kernels over segments see items flat. */
static nk_status flatten_items(const nk_call *call, laid_out *laid, nk_error *err)
{
	for (int i = 0; i < laid->n_args; i++) {
		if (!is_rows(call->data, i) || laid->args[i]->encoding == NK_FLAT)
			continue;
		nk_array *flat;
		NK_TRY(nk_array_flatten(call->memory, laid->args[i], &flat, err));
		nk_array_unref(laid->args[i]);
		laid->args[i] = flat;
	}
	return NK_OK;
}

static void laid_out__auto(laid_out *laid) { laid_out_release(laid); }

static nk_status each_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	const each_plan *plan = call->data;
	const nk_bind *bound = &plan->inner;
	const nk_func *func = bound->func;
	__attribute__((cleanup(laid_out__auto))) laid_out laid = {0};
	NK_TRY(lay_out(call, args, n_rows, &laid, err));
	nk_call inner = {.func = func,
	                 .dtype = bound->dtype,
	                 .options = call->options,
	                 .data = bound->data,
	                 .memory = call->memory};
	NK_AUTO(nk_array) result = NULL;
	if (func->height == NK_ELEMENTWISE) {
		NK_TRY(nk_func_apply(&inner, bound->kernel, laid.args, plan->n_args, laid.offsets[n_rows], &result,
		                     err));
		if (!laid.first) {
			*out = NK_STEAL(result);
			return NK_OK;
		}
		return nk_lists_with_items(call->memory, call->dtype, laid.first, NK_STEAL(result), out, err);
	}
	if (func->height == NK_AGGREGATING && bound->aggregate) {
		NK_TRY(run_aggregate(&inner, bound->aggregate, &laid, &result, err));
	} else if (func->height == NK_AGGREGATING && bound->segmented) {
		NK_TRY(flatten_items(call, &laid, err));
		NK_TRY(bound->segmented(&inner, laid.args, n_rows, laid.offsets, &result, err));
	} else if (func->height == NK_LENGTH_PRESERVING && bound->segmented && laid.first) {
		NK_TRY(flatten_items(call, &laid, err));
		NK_TRY(bound->segmented(&inner, laid.args, n_rows, laid.offsets, &result, err));
		return nk_lists_with_items(call->memory, call->dtype, laid.first, NK_STEAL(result), out, err);
	} else {
		NK_TRY(run_each(call, &inner, &laid, &result, err));
	}
	if (!laid.first || plan->gives_rows) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	return nk_lists_null_where(call->memory, laid.first, NK_STEAL(result), out, err);
}

/* ---- Binding ---- */

static const nk_dtype *list_of(const nk_dtype *item) { return nk_dtype_list(item); }

nk_status nk__bind_each(nk_bind *bind, const nk_func *base, uint64_t rows, nk_error *err)
{
	each_plan *plan;
	nk_argument *args;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &args, bind->n_args + 1, err));
	*plan = (each_plan){.rows = rows, .n_args = bind->n_args};
	for (int i = 0; i < bind->n_args; i++) {
		args[i] = bind->args[i];
		if (!is_rows(plan, i))
			continue;
		if (bind->args[i].dtype->physical != NK_PHYSICAL_LIST)
			return nk__refuse_list(bind, i, err);
		args[i] = (nk_argument){.dtype = bind->args[i].dtype->fields[0].dtype};
	}
	plan->inner = (nk_bind){.func = base,
	                        .args = args,
	                        .n_args = bind->n_args,
	                        .options = bind->options,
	                        .arena = bind->arena,
	                        .grouped = bind->grouped,
	                        .fallible = base->fallible};
	nk_bind *inner = &plan->inner;
	NK_TRY(base->bind(inner, err));
	plan->gives_rows = rows && base->height != NK_AGGREGATING;
	bind->dtype = plan->gives_rows ? list_of(inner->dtype) : inner->dtype;
	for (int i = 0; i < bind->n_args && base->height == NK_ELEMENTWISE; i++)
		if (is_rows(plan, i) &&
		    bind->args[i].dtype->id == NK_TYPE_ARRAY) /* items for items: the width stays */
			bind->dtype = nk_dtype_array(inner->dtype, bind->args[i].dtype->width);
	bool out_of_memory = !bind->dtype;
	for (int i = 0; i < NK_MAX_CASTS && i < NK_MAX(bind->n_args, 1); i++) {
		const nk_dtype *item = inner->casts[i];
		if (i < bind->n_args && is_rows(plan, i)) {
			bind->casts[i] = list_of(item ? item : args[i].dtype);
			out_of_memory |= !bind->casts[i];
		} else {
			bind->casts[i] =
				item || i >= bind->n_args ? item : args[i].dtype; /* each has its own: none is repeated */
		}
	}
	if (out_of_memory)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bind->cast_is_lossy = inner->cast_is_lossy;
	bind->fallible = inner->fallible;
	for (int i = 1; i < bind->n_args; i++)
		bind->fallible |= is_rows(plan, i); /* lengths may differ */
	bind->data = plan;
	bind->kernel = each_kernel;
	return NK_OK;
}

static const nk_func *base_of(const nk_bind *bind) { return nk_func_find(strchr(bind->func->name, '.') + 1); }

nk_status nk__bind_list(nk_bind *bind, nk_error *err)
{
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	return nk__bind_each(bind, base_of(bind), 1, err);
}

nk_status nk__bind_twin(nk_bind *bind, nk_error *err)
{
	const nk_func *base = base_of(bind);
	return nk__bind_each(bind, base, (uint64_t)bind->options[nk_func_n_options(base)].integer, err);
}
