/* Row estimates for every node, from the statistics of sources upwards. Rules of thumb where nothing is known:
 * they only have to rank plans, and are the same however a query is written. */
#include "opt/cardinality.h"

#include <math.h>

static const double ROWS_UNKNOWN = 1e6;
static const double TEXT_COMPARED =
	50; /* distinct values of text that a filter compares: mostly categories */
static const double TEXT_GROUPED = 1000; /* and of text that rows are grouped by */
static const double SHARE_COMPARE = 0.3; /* column < constant without bounds */
static const double SHARE_COLUMNS = 0.4; /* column < column */
static const double SHARE_PREFIX = 0.1;
static const double SHARE_INSIDE = 0.1; /* substring or pattern */
static const double SHARE_UNKNOWN = 0.3;
static const double SHARE_LEAST = 1e-9;
static const double ITEMS_A_LIST = 4;

static const nk_column_estimate UNKNOWN = {.n_rows_made = 1e6, .n_distinct = 1e3};

nk_column_estimate nk__estimate_column(const nk_opt *opt, int id)
{
	return id >= 0 && id < opt->n_estimates && opt->estimates[id].maker ? opt->estimates[id] : UNKNOWN;
}

double nk__distinct_among(double n_distinct, double n_rows)
{
	if (n_distinct <= 1 || n_rows <= 0)
		return fmax(1.0, n_distinct);
	return fmax(1.0, fmin(n_rows, n_distinct * -expm1(-n_rows / n_distinct)));
}

/* A scalar as a point on the axis of its type's bounds. */
static bool scalar_to_double(const nk_scalar *value, double *out)
{
	if (value->is_null || !value->dtype)
		return false;
	nk_type_id id = value->dtype->id;
	if (nk_type_is_float(id))
		*out = value->floating;
	else if (id == NK_TYPE_DECIMAL)
		*out = (double)value->integer / (double)nk_power_of_ten(value->dtype->scale);
	else if (id == NK_TYPE_BOOLEAN)
		*out = value->boolean;
	else if (nk_type_is_integer(id) || nk_type_is_temporal(id))
		*out = (double)value->integer;
	else
		return false;
	return isfinite(*out);
}

/* ---- Expressions ---- */

/* Casts that keep a value's place on the axis of bounds. */
static const nk_bound *without_casts(const nk_bound *expr)
{
	while (nk__op_of(expr) == NK_OP_CAST && expr->n_args == 1) {
		nk_type_id to = expr->dtype->id, from = expr->args[0]->dtype->id;
		if (to != from && !(nk_type_is_numeric(to) && nk_type_is_numeric(from)))
			break;
		expr = expr->args[0];
	}
	return expr;
}

typedef struct domain_visit {
	const nk_opt *opt;
	nk_column_estimate estimate;
	int n;
} domain_visit;

static void visit_domain(int id, void *data)
{
	domain_visit *visit = data;
	nk_column_estimate column = nk__estimate_column(visit->opt, id);
	if (!visit->n++) {
		visit->estimate = column;
		return;
	}
	visit->estimate.n_rows_made = fmax(visit->estimate.n_rows_made, column.n_rows_made);
	visit->estimate.n_distinct =
		fmin(visit->estimate.n_distinct * column.n_distinct, visit->estimate.n_rows_made);
	visit->estimate.null_fraction = fmax(visit->estimate.null_fraction, column.null_fraction);
	if (visit->estimate.maker != column.maker)
		visit->estimate.maker = 0;
}

nk_column_estimate nk__estimate_expr(const nk_opt *opt, const nk_bound *expr)
{
	const nk_bound *inner = without_casts(expr);
	if (inner->kind == NK_BOUND_COLUMN)
		return nk__estimate_column(opt, inner->column);
	domain_visit visit = {.opt = opt, .estimate = UNKNOWN};
	nk_bound_visit_columns(expr, visit_domain, &visit);
	if (!visit.n)
		visit.estimate.n_distinct = 1;
	if (expr->dtype->id == NK_TYPE_BOOLEAN)
		visit.estimate.n_distinct = fmin(visit.estimate.n_distinct, 2.0);
	visit.estimate.has_bounds = false;
	visit.estimate.mean = visit.estimate.share = 0;
	visit.estimate.is_guess |= nk_type_is_textual(expr->dtype->id) && expr->kind == NK_BOUND_CALL;
	return visit.estimate;
}

/* Distinct values as far as equality with one of them is concerned. */
static double compared_distinct(const nk_column_estimate *estimate)
{
	return fmax(1.0, estimate->is_guess ? fmin(estimate->n_distinct, TEXT_COMPARED) : estimate->n_distinct);
}

static double share_of_range(const nk_column_estimate *estimate, double low, double high)
{
	double width = estimate->max - estimate->min;
	low = fmax(low, estimate->min);
	high = fmin(high, estimate->max);
	if (high < low)
		return SHARE_LEAST;
	if (width <= 0)
		return 1;
	/* One value of a discrete range is not nothing. */
	return fmin(1.0, fmax((high - low) / width, 1 / fmax(1.0, estimate->n_distinct)));
}

/* column op constant, the column on the left; *column is the bare column. */
static bool is_comparison(const nk_bound *expr, nk_op *op, const nk_bound **column, const nk_scalar **value)
{
	*op = nk__op_of(expr);
	if (*op < NK_OP_EQ || *op > NK_OP_GE || expr->n_args != 2)
		return false;
	const nk_bound *left = without_casts(expr->args[0]), *right = without_casts(expr->args[1]);
	if (left->kind == NK_BOUND_LITERAL && right->kind != NK_BOUND_LITERAL) {
		const nk_bound *swapped = left;
		left = right;
		right = swapped;
		*op = nk__op_mirrored(*op);
	}
	if (right->kind != NK_BOUND_LITERAL)
		return false;
	*column = left;
	*value = &right->value;
	return true;
}

static double share_in_list(const nk_opt *opt, const nk_bound *expr)
{
	nk_column_estimate estimate = nk__estimate_expr(opt, expr->args[0]);
	double n = 4;
	if (expr->n_args > 2)
		n = expr->n_args - 1;
	else if (expr->n_args == 2 && expr->args[1]->kind == NK_BOUND_SERIES && expr->args[1]->array)
		n = (double)expr->args[1]->array->n_rows;
	else if (expr->n_args == 2 && expr->args[1]->kind == NK_BOUND_LITERAL &&
	         expr->args[1]->dtype->id == NK_TYPE_LIST && !expr->args[1]->value.is_null &&
	         expr->args[1]->value.nested && expr->args[1]->value.nested->n_children)
		n = (double)expr->args[1]->value.nested->children[0]->n_rows;
	return fmin(1.0, n / compared_distinct(&estimate));
}

static double share_between(const nk_opt *opt, const nk_bound *expr)
{
	if (expr->n_args != 3)
		return SHARE_UNKNOWN;
	nk_column_estimate estimate = nk__estimate_expr(opt, expr->args[0]);
	double low, high;
	const nk_bound *from = without_casts(expr->args[1]), *to = without_casts(expr->args[2]);
	if (estimate.has_bounds && from->kind == NK_BOUND_LITERAL && to->kind == NK_BOUND_LITERAL &&
	    scalar_to_double(&from->value, &low) && scalar_to_double(&to->value, &high))
		return share_of_range(&estimate, low, high);
	return SHARE_COMPARE * SHARE_COMPARE;
}

static double share_of(const nk_opt *opt, const nk_bound *expr, int depth)
{
	if (depth > 50)
		return SHARE_UNKNOWN;
	if (nk__bound_is_true(expr))
		return 1;
	if (nk__bound_is_never(expr))
		return 0;
	nk_op op = nk__op_of(expr);
	double share;
	if (expr->kind == NK_BOUND_COLUMN) {
		share = nk__estimate_column(opt, expr->column).share;
		return share > 0 ? share : SHARE_UNKNOWN;
	}
	switch (op) {
	case NK_OP_AND:
		share = 1;
		for (int i = 0; i < expr->n_args; i++)
			share *= share_of(opt, expr->args[i], depth + 1);
		return share;
	case NK_OP_OR:
		share = 1;
		for (int i = 0; i < expr->n_args; i++)
			share *= 1 - share_of(opt, expr->args[i], depth + 1);
		return 1 - share;
	case NK_OP_NOT: return 1 - share_of(opt, expr->args[0], depth + 1);
	case NK_OP_IS_NULL: return nk__estimate_expr(opt, expr->args[0]).null_fraction;
	case NK_OP_IS_NOT_NULL: return 1 - nk__estimate_expr(opt, expr->args[0]).null_fraction;
	case NK_OP_IS_IN: return share_in_list(opt, expr);
	case NK_OP_IS_BETWEEN: return share_between(opt, expr);
	case NK_OP_STARTS_WITH:
	case NK_OP_ENDS_WITH: return SHARE_PREFIX;
	case NK_OP_CONTAINS: return SHARE_INSIDE;
	default: break;
	}
	if (op < NK_OP_EQ || op > NK_OP_GE)
		return SHARE_UNKNOWN;
	const nk_bound *column;
	const nk_scalar *value;
	double point;
	if (!is_comparison(expr, &op, &column, &value)) {
		if (op != NK_OP_EQ && op != NK_OP_NE)
			return SHARE_COLUMNS;
		nk_column_estimate left = nk__estimate_expr(opt, expr->args[0]),
						   right = nk__estimate_expr(opt, expr->args[1]);
		share = 1 / fmax(compared_distinct(&left), compared_distinct(&right));
		return op == NK_OP_EQ ? share : 1 - share;
	}
	nk_column_estimate estimate = nk__estimate_expr(opt, column);
	bool has_point = scalar_to_double(value, &point), is_placed = estimate.has_bounds && has_point;
	if (op == NK_OP_EQ || op == NK_OP_NE) {
		share = 1 / compared_distinct(&estimate);
		if (is_placed && (point < estimate.min || point > estimate.max))
			share = SHARE_LEAST;
		return (op == NK_OP_EQ ? share : 1 - share) * (1 - estimate.null_fraction);
	}
	bool is_upper = op == NK_OP_LT || op == NK_OP_LE;
	if (!is_placed && has_point && estimate.mean > 0) {
		share = exp(-fmax(point, 0) / estimate.mean);
		return is_upper ? 1 - share : share;
	}
	if (!is_placed)
		return SHARE_COMPARE;
	return share_of_range(&estimate, is_upper ? estimate.min : point, is_upper ? point : estimate.max);
}

/* Ranges on one column are intersected; all else is taken to be independent. */
double nk__selectivity(const nk_opt *opt, nk_bound *const *conjuncts, int n)
{
	enum { MAX_RANGES = 16 };
	struct {
		const nk_bound *column;
		double low, high;
	} ranges[MAX_RANGES];
	int n_ranges = 0;
	double share = 1;
	for (int i = 0; i < n; i++) {
		nk_op op;
		const nk_bound *column;
		const nk_scalar *value;
		double point;
		nk_column_estimate estimate;
		bool is_range = is_comparison(conjuncts[i], &op, &column, &value) && op != NK_OP_EQ && op != NK_OP_NE;
		if (is_range) {
			estimate = nk__estimate_expr(opt, column);
			is_range = estimate.has_bounds && scalar_to_double(value, &point);
		}
		int at = 0;
		while (is_range && at < n_ranges && ranges[at].column != column)
			at++;
		if (!is_range || at == MAX_RANGES) {
			share *= share_of(opt, conjuncts[i], 0);
			continue;
		}
		if (at == n_ranges) {
			ranges[at].column = column;
			ranges[at].low = estimate.min;
			ranges[at].high = estimate.max;
			n_ranges++;
		}
		if (op == NK_OP_LT || op == NK_OP_LE)
			ranges[at].high = fmin(ranges[at].high, point);
		else
			ranges[at].low = fmax(ranges[at].low, point);
	}
	for (int i = 0; i < n_ranges; i++) {
		nk_column_estimate estimate = nk__estimate_expr(opt, ranges[i].column);
		share *= share_of_range(&estimate, ranges[i].low, ranges[i].high);
	}
	return fmax(share, SHARE_LEAST);
}

nk_status nk__selectivity_of(nk_opt *opt, nk_bound *predicate, double *out, nk_error *err)
{
	nk_bound **parts;
	int n;
	NK_TRY(nk_bound_conjuncts(opt->binder, predicate, &parts, &n, err));
	*out = nk__selectivity(opt, parts, n);
	return NK_OK;
}

/* ---- Keys ---- */

/* Distinct combinations of one side's keys; *one_table when all come from one maker. */
static double combined_distinct(const nk_opt *opt, nk_bound *const *keys, int n_keys, bool *one_table,
                                double *n_rows_made)
{
	double product = 1;
	int maker = -1;
	*one_table = true;
	*n_rows_made = 0;
	for (int i = 0; i < n_keys; i++) {
		nk_column_estimate estimate = nk__estimate_expr(opt, keys[i]);
		product *= fmax(1.0, estimate.n_distinct);
		*one_table &= estimate.maker && (maker < 0 || maker == estimate.maker);
		maker = estimate.maker;
		*n_rows_made = estimate.n_rows_made;
	}
	return product;
}

double nk__join_domain(const nk_opt *opt, nk_bound *const *left_keys, nk_bound *const *right_keys, int n_keys)
{
	double domain = 1, left_rows, right_rows;
	bool left_one, right_one;
	for (int i = 0; i < n_keys; i++) {
		nk_column_estimate left = nk__estimate_expr(opt, left_keys[i]),
						   right = nk__estimate_expr(opt, right_keys[i]);
		domain *= fmax(1.0, fmax(left.n_distinct, right.n_distinct));
	}
	if (n_keys < 2)
		return domain;
	combined_distinct(opt, left_keys, n_keys, &left_one, &left_rows);
	combined_distinct(opt, right_keys, n_keys, &right_one, &right_rows);
	if (left_one && right_one)
		domain = fmin(domain, fmin(left_rows, right_rows));
	return fmax(1.0, domain);
}

double nk__match_share(const nk_opt *opt, nk_bound *const *left_keys, nk_bound *const *right_keys, int n_keys,
                       double n_right_rows)
{
	double domain = nk__join_domain(opt, left_keys, right_keys, n_keys), right_rows;
	bool right_one;
	double right = combined_distinct(opt, right_keys, n_keys, &right_one, &right_rows);
	if (right_one)
		right = fmin(right, right_rows);
	return fmin(1.0, nk__distinct_among(fmax(1.0, fmin(right, domain)), n_right_rows) / domain);
}

/* ---- Nodes ---- */

static nk_status estimates_reserve(nk_opt *opt, nk_error *err)
{
	int n = nk_binder_n_columns(opt->binder);
	if (n <= opt->n_estimates)
		return NK_OK;
	nk_column_estimate *larger;
	NK_TRY(NK_ARENA_NEW(opt->arena, &larger, n, err));
	if (opt->n_estimates)
		memcpy(larger, opt->estimates, (size_t)opt->n_estimates * sizeof *larger);
	opt->estimates = larger;
	opt->n_estimates = n;
	return NK_OK;
}

static nk_column_estimate from_statistics(const nk_column_statistics *statistics, const nk_dtype *dtype,
                                          double n_rows)
{
	nk_column_estimate estimate = {.n_rows_made = n_rows, .is_source = true};
	if (statistics->n_nulls > 0 && n_rows > 0)
		estimate.null_fraction = fmin(1.0, (double)statistics->n_nulls / n_rows);
	double n_valid = fmax(1.0, n_rows * (1 - estimate.null_fraction));
	if (statistics->has_bounds && scalar_to_double(&statistics->min, &estimate.min) &&
	    scalar_to_double(&statistics->max, &estimate.max) && estimate.max >= estimate.min)
		estimate.has_bounds = true;
	double range = INFINITY;
	if (estimate.has_bounds && !nk_type_is_float(dtype->id)) {
		double step = dtype->id == NK_TYPE_DECIMAL ? 1 / (double)nk_power_of_ten(dtype->scale) : 1;
		range = (estimate.max - estimate.min) / step + 1;
	}
	if (statistics->n_distinct > 0) {
		estimate.n_distinct = fmin((double)statistics->n_distinct, range);
	} else if (range < INFINITY) {
		estimate.n_distinct = range;
	} else if (nk_type_is_textual(dtype->id)) {
		estimate.n_distinct = n_valid;
		estimate.is_guess = true;
	} else if (dtype->id == NK_TYPE_BOOLEAN) {
		estimate.n_distinct = 2;
	} else {
		estimate.n_distinct = n_valid;
	}
	estimate.n_distinct = fmax(1.0, fmin(estimate.n_distinct, n_valid));
	return estimate;
}

static nk_status estimate_source_column(nk_opt *opt, const nk_rel *scan, int id, int source_column,
                                        double n_rows, int maker, nk_error *err)
{
	if (opt->estimates[id].is_source)
		return NK_OK;
	nk_column_statistics statistics = {.n_nulls = -1, .n_distinct = -1};
	if (source_column >= 0)
		NK_TRY(scan->scan.source->ops->statistics(scan->scan.source, source_column, &statistics, err));
	else
		statistics.n_distinct = (int64_t)fmin(n_rows, 1e18);
	opt->estimates[id] = from_statistics(&statistics, nk_binder_column(opt->binder, id)->dtype, n_rows);
	opt->estimates[id].maker = maker;
	return NK_OK;
}

/* Only columns that something asks for get their statistics read: those of the plan, not all of a wide file. */
static nk_status estimate_scan(nk_opt *opt, nk_rel *rel, const nk_ids *wanted, int maker, nk_error *err)
{
	int64_t n_rows_source;
	NK_TRY(rel->scan.source->ops->n_rows(rel->scan.source, &n_rows_source, err));
	double n_rows = n_rows_source < 0 ? ROWS_UNKNOWN : (double)n_rows_source;
	for (int i = 0; i < rel->n_columns; i++)
		if (nk__ids_has(wanted, rel->columns[i]))
			NK_TRY(estimate_source_column(opt, rel, rel->columns[i], rel->scan.source_columns[i], n_rows,
			                              maker, err));
	for (int i = 0; i < rel->scan.n_filter_columns; i++)
		if (nk__ids_has(wanted, rel->scan.filter_ids[i]))
			NK_TRY(estimate_source_column(opt, rel, rel->scan.filter_ids[i],
			                              rel->scan.filter_source_columns[i], n_rows, maker, err));
	rel->n_rows = n_rows;
	if (rel->scan.n_conjuncts)
		rel->n_rows *= nk__selectivity(opt, rel->scan.conjuncts, rel->scan.n_conjuncts);
	rel->n_rows = fmax(0.0, rel->n_rows - (double)rel->scan.offset);
	if (rel->scan.limit >= 0)
		rel->n_rows = fmin(rel->n_rows, (double)rel->scan.limit);
	return NK_OK;
}

/* Groups of these keys among n_rows rows. Keys of one table have at most as many combinations as it has rows. */
static double n_groups(const nk_opt *opt, nk_bound *const *keys, int n_keys, double n_rows)
{
	double product = 1;
	for (int i = 0; i < n_keys; i++) {
		nk_column_estimate estimate = nk__estimate_expr(opt, keys[i]);
		double table = 1;
		bool is_first = true;
		for (int j = 0; j < n_keys; j++) {
			nk_column_estimate other = nk__estimate_expr(opt, keys[j]);
			if (j != i && !(estimate.maker && other.maker == estimate.maker))
				continue;
			is_first &= j >= i;
			table *= fmax(1.0, other.is_guess ? fmin(other.n_distinct, TEXT_GROUPED) : other.n_distinct);
		}
		if (is_first)
			product *= estimate.maker ? fmin(table, fmax(1.0, estimate.n_rows_made)) : table;
	}
	return fmin(n_rows, nk__distinct_among(product, n_rows));
}

/* A column made by a node: as many distinct values as `distinct` says among its rows. */
static void set_made(nk_opt *opt, int id, double distinct, double n_rows, int maker)
{
	if (!opt->estimates[id].is_source)
		opt->estimates[id] = (nk_column_estimate){
			.maker = maker, .n_rows_made = n_rows, .n_distinct = fmax(1.0, fmin(distinct, n_rows))};
}

static void estimate_exprs(nk_opt *opt, nk_rel *rel, nk_bound *const *exprs)
{
	for (int i = 0; i < rel->n_columns; i++) {
		int id = rel->columns[i];
		if (!opt->estimates[id].is_source && !(exprs[i]->kind == NK_BOUND_COLUMN && exprs[i]->column == id)) {
			opt->estimates[id] = nk__estimate_expr(opt, exprs[i]);
			opt->estimates[id].is_source = false;
			if (exprs[i]->dtype->id == NK_TYPE_BOOLEAN)
				opt->estimates[id].share = share_of(opt, exprs[i], 0);
		}
	}
}

/* Totals and counts over groups of `size` rows; extremes and means stay within the bounds of what they are of. */
static void estimate_result(nk_opt *opt, const nk_bound *aggregate, double size, nk_column_estimate *made)
{
	if (aggregate->kind != NK_BOUND_CALL)
		return;
	const char *name = aggregate->func->name;
	if (strcmp(name, "len") == 0 || strcmp(name, "count") == 0 || strcmp(name, "n_unique") == 0) {
		made->mean = size;
		made->n_distinct = fmin(made->n_distinct, 2 * size + 1);
		return;
	}
	if (!aggregate->n_args)
		return;
	nk_column_estimate of = nk__estimate_expr(opt, aggregate->args[0]);
	if (!of.has_bounds)
		return;
	if (strcmp(name, "sum") == 0 && of.min >= 0) {
		made->mean = size * (of.min + of.max) / 2;
	} else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0 || strcmp(name, "mean") == 0) {
		made->has_bounds = true;
		made->min = of.min;
		made->max = of.max;
	}
}

static void estimate_aggregate(nk_opt *opt, nk_rel *rel, double n_rows, int maker)
{
	int n_keys = rel->aggregate.n_keys;
	rel->n_rows = n_keys ? n_groups(opt, rel->aggregate.keys, n_keys, n_rows) : 1;
	for (int i = 0; i < n_keys; i++) {
		nk_column_estimate key = nk__estimate_expr(opt, rel->aggregate.keys[i]);
		set_made(opt, rel->columns[i], nk__distinct_among(key.n_distinct, n_rows), rel->n_rows, maker);
		nk_column_estimate *made = &opt->estimates[rel->columns[i]];
		made->has_bounds = key.has_bounds;
		made->min = key.min;
		made->max = key.max;
	}
	for (int i = n_keys; i < rel->n_columns; i++) {
		set_made(opt, rel->columns[i], rel->n_rows, rel->n_rows, maker);
		estimate_result(opt, rel->aggregate.aggregates[i - n_keys], n_rows / fmax(rel->n_rows, 1),
		                &opt->estimates[rel->columns[i]]);
	}
}

static nk_status estimate_join(nk_opt *opt, nk_rel *rel, nk_error *err)
{
	double left = rel->inputs[0]->n_rows, right = rel->inputs[1]->n_rows, residual = 1;
	nk_bound **left_keys = rel->join.left_keys, **right_keys = rel->join.right_keys;
	int n_keys = rel->join.n_keys;
	if (rel->join.residual)
		NK_TRY(nk__selectivity_of(opt, rel->join.residual, &residual, err));
	double inner = left * right * residual / nk__join_domain(opt, left_keys, right_keys, n_keys);
	double matched = nk__match_share(opt, left_keys, right_keys, n_keys, right * residual);
	switch (rel->join.how) {
	case NK_JOIN_INNER:
	case NK_JOIN_CROSS: rel->n_rows = inner; break;
	case NK_JOIN_LEFT: rel->n_rows = fmax(left, inner); break;
	case NK_JOIN_RIGHT: rel->n_rows = fmax(right, inner); break;
	case NK_JOIN_FULL: rel->n_rows = fmax(fmax(left, right), inner); break;
	case NK_JOIN_SEMI: rel->n_rows = left * matched; break;
	case NK_JOIN_ANTI: rel->n_rows = left * fmax(0.1, 1 - matched); break;
	}
	return NK_OK;
}

static nk_status estimate(nk_opt *opt, nk_rel *rel, const nk_ids *wanted, int maker, nk_error *err)
{
	double n_rows = rel->n_inputs ? rel->inputs[0]->n_rows : 0, share;
	rel->n_rows = n_rows;
	switch (rel->kind) {
	case NK_REL_SCAN: return estimate_scan(opt, rel, wanted, maker, err);
	case NK_REL_FILTER:
		NK_TRY(nk__selectivity_of(opt, rel->filter.predicate, &share, err));
		rel->n_rows *= share;
		break;
	case NK_REL_PROJECT: estimate_exprs(opt, rel, rel->project.exprs); break;
	case NK_REL_MAP:
		if (!rel->map.is_with_columns) {
			rel->n_rows = 1;
			for (int i = 0; i < rel->n_columns; i++)
				if (rel->map.exprs[i]->shape != NK_SHAPE_SCALAR)
					rel->n_rows = n_rows;
		}
		estimate_exprs(opt, rel, rel->map.exprs);
		break;
	case NK_REL_AGGREGATE: estimate_aggregate(opt, rel, n_rows, maker); break;
	case NK_REL_JOIN: return estimate_join(opt, rel, err);
	case NK_REL_SORT:
		if (rel->sort.limit >= 0)
			rel->n_rows = fmin(n_rows, (double)rel->sort.limit);
		break;
	case NK_REL_SLICE:
		if (rel->slice.offset > 0)
			rel->n_rows = fmax(0.0, n_rows - (double)rel->slice.offset);
		if (rel->slice.limit >= 0)
			rel->n_rows = fmin(rel->n_rows, (double)rel->slice.limit);
		break;
	case NK_REL_UNIQUE: {
		nk_bound **keys;
		NK_TRY(NK_ARENA_NEW(opt->arena, &keys, rel->unique.n_keys, err));
		for (int i = 0; i < rel->unique.n_keys; i++)
			NK_TRY(nk_bound_column(opt->binder, rel->unique.keys[i], &keys[i], err));
		rel->n_rows = rel->unique.n_keys ? n_groups(opt, keys, rel->unique.n_keys, n_rows) : n_rows;
		break;
	}
	case NK_REL_UNION:
		for (int i = 1; i < rel->n_inputs; i++)
			rel->n_rows += rel->inputs[i]->n_rows;
		for (int i = 0; i < rel->n_columns; i++) {
			nk_column_estimate first = nk__estimate_column(opt, rel->inputs[0]->columns[i]);
			set_made(opt, rel->columns[i], first.n_distinct * rel->n_inputs, rel->n_rows, maker);
		}
		break;
	case NK_REL_ROW_INDEX: set_made(opt, rel->columns[0], n_rows, n_rows, maker); break;
	case NK_REL_EXPLODE:
		rel->n_rows = n_rows * ITEMS_A_LIST;
		for (int i = 0; i < rel->explode.n_lists; i++)
			set_made(opt, rel->explode.made[i], rel->n_rows, rel->n_rows, maker);
		break;
	case NK_REL_JOIN_ASOF:
		for (int i = 0; i < rel->n_columns; i++)
			set_made(opt, rel->columns[i], n_rows, n_rows, maker);
		break;
	case NK_REL_WINDOWS:
	case NK_REL_FOREIGN:
		for (int i = 0; i < rel->n_columns; i++)
			set_made(opt, rel->columns[i], n_rows, n_rows, maker);
		break;
	case NK_REL_ZIP:
	case NK_REL_N: break;
	}
	return NK_OK;
}

/* Ids whose values matter to estimates: in predicates, keys and whatever is computed from. */
static void add_wanted(const nk_rel *rel, nk_ids *wanted)
{
	switch (rel->kind) {
	case NK_REL_SCAN:
		for (int i = 0; i < rel->scan.n_conjuncts; i++)
			nk__ids_add_expr(wanted, rel->scan.conjuncts[i]);
		break;
	case NK_REL_FILTER: nk__ids_add_expr(wanted, rel->filter.predicate); break;
	case NK_REL_PROJECT:
		for (int i = 0; i < rel->n_columns; i++)
			if (nk__ids_has(wanted, rel->columns[i]))
				nk__ids_add_expr(wanted, rel->project.exprs[i]);
		break;
	case NK_REL_MAP:
		for (int i = 0; i < rel->n_columns; i++)
			if (nk__ids_has(wanted, rel->columns[i]))
				nk__ids_add_expr(wanted, rel->map.exprs[i]);
		break;
	case NK_REL_AGGREGATE:
		for (int i = 0; i < rel->aggregate.n_keys; i++)
			nk__ids_add_expr(wanted, rel->aggregate.keys[i]);
		for (int i = 0; i < rel->aggregate.n_aggregates; i++)
			if (nk__ids_has(wanted, rel->columns[rel->aggregate.n_keys + i]))
				nk__ids_add_expr(wanted, rel->aggregate.aggregates[i]);
		break;
	case NK_REL_JOIN:
		for (int i = 0; i < rel->join.n_keys; i++) {
			nk__ids_add_expr(wanted, rel->join.left_keys[i]);
			nk__ids_add_expr(wanted, rel->join.right_keys[i]);
		}
		if (rel->join.residual)
			nk__ids_add_expr(wanted, rel->join.residual);
		break;
	case NK_REL_UNIQUE: nk__ids_add_all(wanted, rel->unique.keys, rel->unique.n_keys); break;
	case NK_REL_UNION:
		for (int i = 0; i < rel->n_inputs; i++)
			nk__ids_add_all(wanted, rel->inputs[i]->columns, rel->n_columns);
		break;
	default: break;
	}
}

nk_status nk__estimate_rel(nk_opt *opt, nk_rel *rel, nk_error *err)
{
	return estimate(opt, rel, &opt->wanted, ++opt->n_makers, err);
}

nk_status nk__opt_cardinality(nk_opt *opt, nk_error *err)
{
	NK_TRY(nk__opt_order(opt, err));
	NK_TRY(estimates_reserve(opt, err));
	NK_TRY(nk__ids_new(opt, &opt->wanted, err));
	for (int i = opt->n_nodes - 1; i >= 0; i--)
		add_wanted(opt->nodes[i], &opt->wanted);
	for (int i = 0; i < opt->n_nodes; i++)
		NK_TRY(nk__estimate_rel(opt, opt->nodes[i], err));
	return NK_OK;
}
