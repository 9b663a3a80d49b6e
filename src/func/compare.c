/* eq, ne, lt, le, gt, ge, eq_missing, ne_missing, is_between. Both sides meet at a common dtype first, the untyped
 * literal bending; a Datetime literal at midnight beside a Date column becomes a Date, so that the column is not
 * cast. Decimals meet in the kernel, where their widths are known. */
#include "compute/compare.h"

#include "columnar/categories.h"

#include "func/compare_interval.h"
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

static const nk_compare_op ops[NK_COMPARE_N] = {NK_EQ, NK_NE, NK_LT, NK_LE, NK_GT, NK_GE};

static nk_status compare_into(const nk_call *call, nk_compare_op op, nk_array *left, nk_array *right,
                              int64_t n_rows, uint8_t *bits, nk_error *err)
{
	if (left->dtype->id != NK_TYPE_DECIMAL || right->dtype->id != NK_TYPE_DECIMAL ||
	    (left->dtype->scale == right->dtype->scale && left->physical == right->physical)) {
		nk_compare(op, left, right, n_rows, bits);
		return NK_OK;
	}
	NK_AUTO(nk_array) a = NULL;
	NK_AUTO(nk_array) b = NULL;
	NK_TRY(nk_decimal_align(call->memory, left, right, &a, &b, err));
	nk_compare(op, a, b, n_rows, bits);
	return NK_OK;
}

static nk_status compare_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	if (args[0]->physical == NK_PHYSICAL_NONE || args[1]->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	NK_TRY(compare_into(call, *(const nk_compare_op *)call->data, args[0], args[1], n_rows,
	                    nk_array_values(result), err));
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Nulls are values: equal to each other, to nothing else. */
static nk_status missing_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, false, &result, err));
	uint8_t *bits = nk_array_values(result);
	bool comparable = args[0]->physical != NK_PHYSICAL_NONE && args[1]->physical != NK_PHYSICAL_NONE;
	bool negated = *(const nk_compare_op *)call->data == NK_NE;
	if (comparable)
		NK_TRY(compare_into(call, NK_EQ, args[0], args[1], n_rows, bits, err));
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t left = nk__valid_word(args[0], i, n_rows), right = nk__valid_word(args[1], i, n_rows);
		uint64_t rows = n_rows - i < 64 ? ((uint64_t)1 << (n_rows - i)) - 1 : UINT64_MAX;
		uint64_t equal = comparable ? nk_bitmap_word(bits, i, n_rows) : 0;
		equal = (equal & left & right) | (rows & ~left & ~right);
		nk__put_word(bits, i, n_rows, negated ? rows & ~equal : equal);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

typedef struct between_plan {
	nk_compare_op lower, upper;
} between_plan;

/* Both bounds joined by Kleene's and: a null bound still rules out rows beyond the other one. */
static nk_status between_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const between_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_buffer) above = NULL;
	for (int i = 0; i < 3; i++)
		if (args[i]->physical == NK_PHYSICAL_NONE)
			return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	bool has_nulls =
		nk__may_have_nulls(args[0]) || nk__may_have_nulls(args[1]) || nk__may_have_nulls(args[2]);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, has_nulls, &result, err));
	NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &above, err));
	uint8_t *bits = nk_array_values(result);
	NK_TRY(compare_into(call, plan->lower, args[0], args[1], n_rows, above->bytes, err));
	NK_TRY(compare_into(call, plan->upper, args[0], args[2], n_rows, bits, err));
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t a = nk_bitmap_word(above->bytes, i, n_rows), b = nk_bitmap_word(bits, i, n_rows);
		nk__put_word(bits, i, n_rows, a & b);
		if (!has_nulls)
			continue;
		uint64_t valid = nk__valid_word(args[0], i, n_rows);
		uint64_t valid_a = valid & nk__valid_word(args[1], i, n_rows);
		uint64_t valid_b = valid & nk__valid_word(args[2], i, n_rows);
		nk__put_word(nk_array_validity(result), i, n_rows,
		             (valid_a & valid_b) | (valid_a & ~a) | (valid_b & ~b));
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

/* ---- Binding ---- */

static nk_status refuse(const nk_bind *bind, const nk_dtype *left, const nk_dtype *right, nk_error *err)
{
	const char *name_left = nk_dtype_short_name(left), *name_right = nk_dtype_short_name(right);
	const nk_dtype *other = left->id == NK_TYPE_STRING ? right : right->id == NK_TYPE_STRING ? left : NULL;
	if (other && nk_type_is_numeric(other->id))
		return nk_fail(err, NK_COMPUTE, "cannot compare string with numeric type (%s)",
		               nk_dtype_short_name(other));
	if (other && nk_type_is_temporal(other->id))
		return nk_fail(err, NK_INVALID_OPERATION,
		               "cannot compare 'date/datetime/time' to a string value (create native python { "
		               "'date', 'datetime', "
		               "'time' } or compare to a temporal column)");
	bool durations = nk_type_is_temporal(left->id) && nk_type_is_temporal(right->id) &&
	                 (left->id == NK_TYPE_DURATION) != (right->id == NK_TYPE_DURATION) &&
	                 left->id != NK_TYPE_TIME && right->id != NK_TYPE_TIME;
	bool same_nested = left->id == right->id && nk_type_is_nested(left->id);
	return nk_fail(err, durations || same_nested || other ? NK_INVALID_OPERATION : NK_SCHEMA_MISMATCH,
	               "cannot compare %s with %s by `%s`", name_left, name_right, bind->func->name);
}

enum { SECONDS_PER_DAY = 86400 };

/* A naive Datetime literal at midnight, which a Date column may be compared with as a Date. */
static bool is_midnight(const nk_argument *arg)
{
	if (arg->dtype->id != NK_TYPE_DATETIME || arg->dtype->time_zone || !arg->literal || arg->literal->is_null)
		return false;
	int64_t day = SECONDS_PER_DAY * nk_unit_per_second(arg->dtype->unit);
	return arg->literal->integer % day == 0;
}

/* Categories of one dtype compare by code, and for their order a Categorical by text; texts compare as texts, but beside an
 * Enum they must be categories to have an order. */
static nk_status meet_categories(nk_bind *bind, const nk_argument *a, const nk_argument *b, nk_compare_op op,
                                 const nk_dtype **meet, nk_error *err)
{
	const nk_argument *category = nk_type_is_category(a->dtype->id) ? a : b, *other = category == a ? b : a;
	const nk_dtype *dtype = category->dtype, *string = nk_dtype_of(NK_TYPE_STRING);
	bool is_order = op != NK_EQ && op != NK_NE;
	if (other->dtype == dtype || other->dtype->id == NK_TYPE_NULL) {
		*meet = is_order && dtype->id == NK_TYPE_CATEGORICAL ? string : dtype;
		return NK_OK;
	}
	if (other->dtype->id == NK_TYPE_STRING) {
		bool is_known = other->literal && !other->literal->is_null &&
		                nk_categories_find(dtype->categories, other->literal->bytes,
		                                   other->literal->n_bytes) != NK_CATEGORY_NONE;
		bool by_code = is_order ? dtype->id == NK_TYPE_ENUM : is_known;
		bind->cast_is_lossy = !is_order;
		*meet = by_code ? dtype : string;
		return NK_OK;
	}
	if (nk_type_is_category(other->dtype->id) || nk_type_is_temporal(other->dtype->id))
		return nk_fail(err, NK_SCHEMA_MISMATCH, "cannot compare %s with %s", a->dtype->text, b->dtype->text);
	return nk_fail(err, NK_COMPUTE, "cannot compare categorical with %s", nk_dtype_short_name(other->dtype));
}

/* The dtype both sides are compared in; *keep is set when they stay as they are (Decimals, meeting later). */
static nk_status meet_of(nk_bind *bind, int left, int right, nk_compare_op op, const nk_dtype **meet,
                         bool *keep, nk_error *err)
{
	const nk_argument *a = &bind->args[left], *b = &bind->args[right];
	bool lossy = false;
	*keep = false;
	bind->cast_is_lossy = true;
	if (nk_type_is_category(a->dtype->id) || nk_type_is_category(b->dtype->id))
		return meet_categories(bind, a, b, op, meet, err);
	if (a->dtype->id == NK_TYPE_DECIMAL && b->dtype->id == NK_TYPE_DECIMAL) {
		*meet = a->dtype;
		*keep = true;
		return NK_OK;
	}
	if ((a->dtype->id == NK_TYPE_DATE && is_midnight(b)) ||
	    (b->dtype->id == NK_TYPE_DATE && is_midnight(a))) {
		*meet = nk_dtype_of(NK_TYPE_DATE);
		return NK_OK;
	}
	bool by_number = (nk_type_is_temporal(a->dtype->id) && nk_type_is_numeric(b->dtype->id)) ||
	                 (nk_type_is_temporal(b->dtype->id) && nk_type_is_numeric(a->dtype->id));
	*meet = by_number ? nk_supertype(a->dtype, b->dtype) : nk_supertype_of_arguments(a, b, &lossy);
	if (*meet && lossy)
		*meet = nk_dtype_of(NK_TYPE_INT128);
	const nk_dtype *text = a->dtype->id == NK_TYPE_STRING   ? b->dtype
	                       : b->dtype->id == NK_TYPE_STRING ? a->dtype
	                                                        : NULL;
	bool bad_text = text && ((nk_type_is_numeric(text->id) && text->id != NK_TYPE_DECIMAL) ||
	                         (text->id == NK_TYPE_TIME && text == a->dtype) || text->id == NK_TYPE_DATE ||
	                         text->id == NK_TYPE_DATETIME || text->id == NK_TYPE_DURATION);
	bool bad_duration = nk_type_is_temporal(a->dtype->id) && nk_type_is_temporal(b->dtype->id) &&
	                    (a->dtype->id == NK_TYPE_DURATION) != (b->dtype->id == NK_TYPE_DURATION);
	if (!*meet || bad_text || bad_duration)
		return refuse(bind, a->dtype, b->dtype, err);
	return NK_OK;
}

/* Casts of one side: integers beside Decimals need no scale of their own. */
static const nk_dtype *side(const nk_argument *arg, const nk_dtype *meet, bool keep)
{
	if (keep)
		return NULL;
	if (meet->id == NK_TYPE_DECIMAL)
		return arg->dtype->id == NK_TYPE_DECIMAL
		           ? NULL
		           : nk_dtype_decimal(38, nk_type_is_integer(arg->dtype->id) ? 0 : meet->scale);
	return meet;
}

static nk_status bind_compare(nk_bind *bind, nk_compare_op op, nk_kernel *kernel, nk_error *err)
{
	const nk_dtype *meet;
	bool keep;
	nk_status status;
	if (kernel == compare_kernel && nk__bind_interval(bind, op, &status, err))
		return status;
	NK_TRY(meet_of(bind, 0, 1, op, &meet, &keep, err));
	if (nk_type_is_nested(meet->id) && op != NK_EQ && op != NK_NE)
		return refuse(bind, bind->args[0].dtype, bind->args[1].dtype, err);
	bind->casts[0] = side(&bind->args[0], meet, keep);
	bind->casts[1] = side(&bind->args[1], meet, keep);
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->data = &ops[op];
	bind->kernel = kernel;
	return NK_OK;
}

static nk_status bind_eq(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_EQ, compare_kernel, err);
}
static nk_status bind_ne(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_NE, compare_kernel, err);
}
static nk_status bind_lt(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_LT, compare_kernel, err);
}
static nk_status bind_le(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_LE, compare_kernel, err);
}
static nk_status bind_gt(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_GT, compare_kernel, err);
}
static nk_status bind_ge(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_GE, compare_kernel, err);
}
static nk_status bind_eq_missing(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_EQ, missing_kernel, err);
}
static nk_status bind_ne_missing(nk_bind *bind, nk_error *err)
{
	return bind_compare(bind, NK_NE, missing_kernel, err);
}

static nk_status bind_is_between(nk_bind *bind, nk_error *err)
{
	const char *closed = bind->options[0].string;
	bool both = strcmp(closed, "both") == 0, left = strcmp(closed, "left") == 0,
		 right = strcmp(closed, "right") == 0;
	if (!both && !left && !right && strcmp(closed, "none") != 0)
		return nk_fail(err, NK_VALUE, "`closed` must be one of {'both', 'left', 'right', 'none'}, got %s",
		               closed);
	nk_compare_op op_low = both || left ? NK_GE : NK_GT, op_high = both || right ? NK_LE : NK_LT;
	nk_status status;
	if (nk__bind_interval_between(bind, op_low, op_high, &status, err))
		return status;
	const nk_dtype *meets[2], *meet;
	bool keep[2], lossy = false;
	for (int i = 0; i < 2; i++)
		NK_TRY(meet_of(bind, 0, i + 1, i ? op_high : op_low, &meets[i], &keep[i], err));
	meet = nk_supertype(meets[0], meets[1]);
	if (!meet || lossy || nk_type_is_nested(meet->id))
		return refuse(bind, bind->args[1].dtype, bind->args[2].dtype, err);
	bool decimals = meet->id == NK_TYPE_DECIMAL;
	for (int i = 0; i < 3; i++)
		bind->casts[i] = side(&bind->args[i], meet, decimals && bind->args[i].dtype->id == NK_TYPE_DECIMAL);
	between_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	plan->lower = op_low;
	plan->upper = op_high;
	bind->data = plan;
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	bind->kernel = between_kernel;
	return NK_OK;
}

static const nk_option_spec between_options[] = {
	{"closed", {.kind = NK_OPTION_STRING, .string = "both"}},
	{0},
};

const nk_func nk__funcs_compare[] = {
	{
		.name = "eq",
		.args = "left, right",
		.doc = "Whether both sides are equal; NaN equals NaN. Null where either side is null.",
		.example = "eq([1, null], [1, 2]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.commutative = true,
		.bind = bind_eq,
	},
	{
		.name = "ne",
		.args = "left, right",
		.doc = "Whether the sides differ. Null where either side is null.",
		.example = "ne([1, null], [1, 2]) == [false, null]",
		.min_args = 2,
		.max_args = 2,
		.commutative = true,
		.bind = bind_ne,
	},
	{
		.name = "lt",
		.args = "left, right",
		.doc = "Whether left comes before right; NaN comes last, text compares by bytes.",
		.example = "lt([1, null], [2, 2]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_lt,
	},
	{
		.name = "le",
		.args = "left, right",
		.doc = "Whether left comes before right or equals it.",
		.example = "le([2, null], [2, 2]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_le,
	},
	{
		.name = "gt",
		.args = "left, right",
		.doc = "Whether left comes after right.",
		.example = "gt([3, null], [2, 2]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_gt,
	},
	{
		.name = "ge",
		.args = "left, right",
		.doc = "Whether left comes after right or equals it.",
		.example = "ge([2, null], [2, 2]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.bind = bind_ge,
	},
	{
		.name = "eq_missing",
		.args = "left, right",
		.doc = "Equality that takes null for a value: null equals null and nothing else.",
		.example = "eq_missing([1, null], [1, null]) == [true, true]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.commutative = true,
		.bind = bind_eq_missing,
	},
	{
		.name = "ne_missing",
		.args = "left, right",
		.doc = "The opposite of eq_missing.",
		.example = "ne_missing([1, null], [1, 2]) == [false, true]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.commutative = true,
		.bind = bind_ne_missing,
	},
	{
		.name = "is_between",
		.args = "x, lower_bound, upper_bound",
		.doc = "Whether x lies between the bounds; `closed` says which bounds belong to the range: both, "
			   "left, right or none.",
		.example = "is_between([1, 5, null], 1, 3) == [true, false, null]",
		.options = between_options,
		.min_args = 3,
		.max_args = 3,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_is_between,
	},
	{0},
};
