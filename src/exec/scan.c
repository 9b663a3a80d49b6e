/* A conjunct of the form column-compared-with-constants is recognised here, once, so that every source prunes by
 * the same description and none looks into expressions. */
#include "exec/scan.h"

#include <string.h>

typedef struct scan_stream {
	nk_stream stream;
	nk_query *query;
	const nk_exec *exec;
	const nk_rel *rel;
	nk_scan_request request;
	nk_program **programs; /* owned, n_conjuncts */
	nk_scan *scan;
	const int *order; /* output i is delivered column order[i]; NULL: as delivered */
} scan_stream;

static bool column_of(const nk_bound *expr, int *id)
{
	if (expr->kind != NK_BOUND_COLUMN)
		return false;
	*id = expr->column;
	return true;
}

static nk_test_op flipped(nk_test_op op)
{
	switch (op) {
	case NK_TEST_LT: return NK_TEST_GT;
	case NK_TEST_LE: return NK_TEST_GE;
	case NK_TEST_GT: return NK_TEST_LT;
	case NK_TEST_GE: return NK_TEST_LE;
	default: return op;
	}
}

/* What a conjunct says about one column, in terms that statistics can answer. */
static nk_status recognise(nk_query *query, const nk_bound *expr, nk_scan_conjunct *conjunct, int *id,
                           nk_error *err)
{
	static const struct {
		const char *name;
		nk_test_op op;
	} comparisons[] = {{"eq", NK_TEST_EQ}, {"lt", NK_TEST_LT}, {"le", NK_TEST_LE},
	                   {"gt", NK_TEST_GT}, {"ge", NK_TEST_GE}, {"str.starts_with", NK_TEST_STARTS}};
	conjunct->op = NK_TEST_NONE;
	if (expr->kind != NK_BOUND_CALL)
		return NK_OK;
	if (expr->n_args == 1 && column_of(expr->args[0], id)) {
		if (nk_bound_is_call(expr, "is_null"))
			conjunct->op = NK_TEST_IS_NULL;
		else if (nk_bound_is_call(expr, "is_not_null"))
			conjunct->op = NK_TEST_IS_NOT_NULL;
		return NK_OK;
	}
	if (expr->n_args != 2)
		return NK_OK;
	for (int i = 0; i < NK_COUNT(comparisons); i++) {
		if (!nk_bound_is_call(expr, comparisons[i].name))
			continue;
		for (int side = 0; side < 2; side++) {
			const nk_bound *literal = expr->args[1 - side];
			if (!column_of(expr->args[side], id) || literal->kind != NK_BOUND_LITERAL ||
			    literal->value.is_null || literal->dtype != expr->args[side]->dtype ||
			    (side == 1 && comparisons[i].op == NK_TEST_STARTS))
				continue;
			conjunct->op = side == 0 ? comparisons[i].op : flipped(comparisons[i].op);
			conjunct->n_values = 1;
			conjunct->values = &literal->value;
			return NK_OK;
		}
	}
	if (nk_bound_is_call(expr, "is_in") && column_of(expr->args[0], id)) {
		const nk_bound *literal = expr->args[1];
		const nk_array *list = literal->array;
		if ((literal->kind != NK_BOUND_LITERAL && literal->kind != NK_BOUND_SERIES) || !list)
			return NK_OK;
		if (list->dtype->id == NK_TYPE_LIST && list->n_rows >= 1 && list->encoding != NK_DICTIONARY &&
		    list->values) {
			const int64_t *offsets = list->values;
			const nk_array *items = list->children[0];
			int64_t n = offsets[1] - offsets[0];
			nk_scalar *values;
			if (n > 1024 || items->dtype != expr->args[0]->dtype || items->encoding == NK_DICTIONARY)
				return NK_OK;
			NK_TRY(NK_ARENA_NEW(query->arena, &values, n + 1, err));
			int n_values = 0;
			for (int64_t i = offsets[0]; i < offsets[1]; i++)
				if (nk_array_is_valid(items, i))
					values[n_values++] = nk_scalar_read(items, i);
			conjunct->op = NK_TEST_IN;
			conjunct->values = values;
			conjunct->n_values = n_values;
		}
	}
	return NK_OK;
}

static int source_column_of(const nk_rel *rel, int id)
{
	for (int i = 0; i < rel->scan.n_filter_columns; i++)
		if (rel->scan.filter_ids[i] == id)
			return rel->scan.filter_source_columns[i];
	for (int i = 0; i < rel->n_columns; i++)
		if (rel->columns[i] == id)
			return rel->scan.source_columns[i];
	return -1;
}

static nk_status build_conjunct(scan_stream *self, const nk_bound *expr, nk_scan_conjunct *conjunct,
                                nk_program **program, nk_error *err)
{
	int tested = -1, *slots, *positions;
	NK_TRY(recognise(self->query, expr, conjunct, &tested, err));
	NK_TRY(NK_ARENA_NEW(self->query->arena, &slots, expr->n_columns + 1, err));
	NK_TRY(NK_ARENA_NEW(self->query->arena, &positions, expr->n_columns + 1, err));
	for (int i = 0; i < expr->n_columns; i++) {
		slots[i] = expr->columns[i];
		positions[i] = source_column_of(self->rel, expr->columns[i]);
		if (positions[i] < 0)
			return nk_fail(err, NK_COLUMN_NOT_FOUND,
			               "a pushed-down predicate uses a column that the scan does not have");
	}
	nk_bound *root = (nk_bound *)expr;
	NK_TRY(nk_program_new(self->exec->memory, &root, 1, slots, expr->n_columns, program, err));
	conjunct->program = *program;
	conjunct->n_columns = expr->n_columns;
	conjunct->columns = positions;
	return NK_OK;
}

static nk_status start(nk_stream *stream, nk_error *err)
{
	scan_stream *self = (scan_stream *)stream;
	nk_source *source = self->rel->scan.source;
	return source->ops->open(source, &self->request, &self->scan, err);
}

static nk_status next(nk_stream *stream, int worker, nk_batch **out, nk_error *err)
{
	scan_stream *self = (scan_stream *)stream;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(self->scan->ops->next(self->scan, worker, &batch, err));
	if (batch)
		nk_count(&self->rel->counters->n_batches, 1);
	if (!batch || !self->order) {
		*out = NK_STEAL(batch);
		return NK_OK;
	}
	NK_AUTO(nk_batch) arranged = NULL;
	NK_TRY(nk_batch_new(self->rel->n_columns, batch->n_rows, &arranged, err));
	arranged->morsel = batch->morsel;
	arranged->number = batch->number;
	for (int i = 0; i < self->rel->n_columns; i++)
		arranged->columns[i] = nk_array_ref(batch->columns[self->order[i]]);
	*out = NK_STEAL(arranged);
	return NK_OK;
}

static void stream_free(nk_stream *stream)
{
	scan_stream *self = (scan_stream *)stream;
	if (self->scan)
		self->scan->ops->free(self->scan);
	for (int i = 0; self->programs && i < self->request.n_conjuncts; i++)
		nk_program_free(self->programs[i]);
}

static const nk_stream_ops ops = {.start = start, .next = next, .free = stream_free};

nk_status nk_scan_stream_new(nk_query *query, const nk_exec *exec, const nk_rel *rel, nk_stream **out,
                             nk_error *err)
{
	scan_stream *self;
	NK_TRY(NK_ARENA_NEW(query->arena, &self, 1, err));
	self->stream = (nk_stream){.ops = &ops,
	                           .n_rows_hint = -1,
	                           .ordered = true,
	                           .counters = rel->counters,
	                           .scan = rel->scan.scan_counters};
	self->query = query;
	self->exec = exec;
	self->rel = rel;
	nk_scan_request *request = &self->request;
	*request = (nk_scan_request){.offset = rel->scan.offset,
	                             .limit = rel->scan.limit,
	                             .row_index_offset = rel->scan.row_index_offset,
	                             .batch_rows = exec->batch_rows,
	                             .n_workers = exec->n_workers,
	                             .memory = exec->memory,
	                             .counters = rel->scan.scan_counters};
	int *columns, *order, n_columns = 0;
	NK_TRY(NK_ARENA_NEW(query->arena, &columns, rel->n_columns + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &order, rel->n_columns + 1, err));
	for (int i = 0; i < rel->n_columns; i++) {
		if (rel->scan.source_columns[i] < 0) {
			request->row_index = true;
			continue;
		}
		order[i] = n_columns;
		columns[n_columns++] = rel->scan.source_columns[i];
	}
	for (int i = 0; request->row_index && i < rel->n_columns; i++)
		if (rel->scan.source_columns[i] < 0)
			order[i] = n_columns; /* delivered last */
	request->columns = columns;
	request->n_columns = n_columns;
	self->order = request->row_index ? order : NULL;

	nk_scan_conjunct *conjuncts;
	NK_TRY(NK_ARENA_NEW(query->arena, &conjuncts, rel->scan.n_conjuncts + 1, err));
	NK_TRY(NK_ARENA_NEW(query->arena, &self->programs, rel->scan.n_conjuncts + 1, err));
	request->conjuncts = conjuncts;
	for (int i = 0; i < rel->scan.n_conjuncts; i++) {
		nk_status status =
			build_conjunct(self, rel->scan.conjuncts[i], &conjuncts[i], &self->programs[i], err);
		if (status != NK_OK) {
			stream_free(&self->stream);
			return status;
		}
		request->n_conjuncts++;
	}
	request->filters = rel->scan.runtime_filters;
	request->n_filters = rel->scan.n_runtime_filters;
	int64_t n_rows;
	if (rel->scan.source->ops->n_rows(rel->scan.source, &n_rows, NULL) == NK_OK)
		self->stream.n_rows_hint = rel->scan.limit >= 0 ? NK_MIN(n_rows, rel->scan.limit) : n_rows;
	*out = &self->stream;
	return NK_OK;
}
