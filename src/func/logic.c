/* and, or, xor, not, any_horizontal, all_horizontal: Kleene's logic on Booleans, sixty-four rows a step; bit by bit
 * on integers. */
#include "func/func.h"
#include "func/supertype.h"
#include "func/words.h"

typedef enum logic_op { AND, OR, XOR } logic_op;
static const logic_op ops[] = {AND, OR, XOR};
static const char *const symbols[] = {"&", "|", "^"};
static const char *const names[] = {"bitand", "bitor", "bitxor"};

/* Folds one more argument into values (bits) and validity. */
static void fold(logic_op op, const nk_array *array, int64_t n_rows, uint8_t *values, uint8_t *validity)
{
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t a = nk_bitmap_word(values, i, n_rows), b = nk__true_word(array, i, n_rows);
		uint64_t valid_a = validity ? nk_bitmap_word(validity, i, n_rows) : UINT64_MAX;
		uint64_t valid_b = nk__valid_word(array, i, n_rows);
		uint64_t word = op == AND ? a & b : op == OR ? a | b : a ^ b;
		if (validity) {
			uint64_t valid = valid_a & valid_b;
			if (op == AND)
				valid |= (valid_a & ~a) | (valid_b & ~b);
			else if (op == OR)
				valid |= (valid_a & a) | (valid_b & b);
			/* A decided row has the deciding value whatever lies under the null. */
			word = op == AND  ? (a | ~valid_a) & (b | ~valid_b)
			       : op == OR ? (a & valid_a) | (b & valid_b)
			                  : word;
			nk__put_word(validity, i, n_rows, valid);
			word &= valid;
		}
		nk__put_word(values, i, n_rows, word);
	}
}

static nk_status fold_all(const nk_call *call, logic_op op, nk_array *const *args, int n_args, int64_t n_rows,
                          nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	bool has_nulls = false;
	for (int i = 0; i < n_args; i++)
		has_nulls |= nk__may_have_nulls(args[i]);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_BOOL, n_rows, has_nulls, &result, err));
	result->n_nulls = has_nulls ? -1 : 0;
	uint8_t *values = nk_array_values(result), *validity = has_nulls ? nk_array_validity(result) : NULL;
	nk_bitmap_fill(values, 0, n_rows, op == AND);
	for (int i = 0; i < n_args; i++)
		fold(op, args[i], n_rows, values, validity);
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status logic_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	return fold_all(call, *(const logic_op *)call->data, args, 2, n_rows, out, err);
}

typedef struct horizontal_plan {
	logic_op op;
	int n_args;
} horizontal_plan;

static nk_status horizontal_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	const horizontal_plan *plan = call->data;
	return fold_all(call, plan->op, args, plan->n_args, n_rows, out, err);
}

/* Integers: bytes of both sides combined, with a constant side spread by its width. */
static nk_status bitwise_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	logic_op op = *(const logic_op *)call->data;
	int width = nk_physical_size(call->dtype->physical);
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_array) left = NULL;
	NK_AUTO(nk_array) right = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &left, err));
	NK_TRY(nk_array_flatten(call->memory, args[1], &right, err));
	bool has_nulls = nk__may_have_nulls(left) || nk__may_have_nulls(right);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_rows, has_nulls, &result, err));
	uint8_t *to = nk_array_values(result);
	const uint8_t *a = left->values, *b = right->values;
	for (int64_t i = 0; i < n_rows * width; i++)
		to[i] = op == AND ? a[i] & b[i] : op == OR ? a[i] | b[i] : a[i] ^ b[i];
	for (int64_t i = 0; has_nulls && i < n_rows; i += 64)
		nk__put_word(nk_array_validity(result), i, n_rows,
		             nk__valid_word(left, i, n_rows) & nk__valid_word(right, i, n_rows));
	result->n_nulls = has_nulls ? -1 : 0;
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_logic(nk_bind *bind, logic_op op, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	bind->data = &ops[op];
	bool booleans = (left->id == NK_TYPE_BOOLEAN || left->id == NK_TYPE_NULL) &&
	                (right->id == NK_TYPE_BOOLEAN || right->id == NK_TYPE_NULL);
	if (booleans) {
		bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
		bind->kernel = logic_kernel;
		return NK_OK;
	}
	bool lossy = false;
	const nk_dtype *meet = nk_supertype_of_arguments(&bind->args[0], &bind->args[1], &lossy);
	bool integers = (nk_type_is_integer(left->id) || left->id == NK_TYPE_NULL) &&
	                (nk_type_is_integer(right->id) || right->id == NK_TYPE_NULL);
	if (integers && meet) {
		bind->dtype = bind->casts[0] = bind->casts[1] = meet;
		bind->cast_is_lossy = lossy;
		bind->kernel = bitwise_kernel;
		return NK_OK;
	}
	if (left->id == right->id)
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`", names[op],
		               nk_dtype_short_name(left));
	if (right->id == NK_TYPE_STRING && left->id != NK_TYPE_STRING)
		return nk_fail(err, NK_SCHEMA_MISMATCH, "%s on %s and %s is not supported", symbols[op],
		               nk_dtype_short_name(left), nk_dtype_short_name(right));
	return nk_fail(
		err, left->id == NK_TYPE_BOOLEAN || right->id == NK_TYPE_BOOLEAN ? NK_COMPUTE : NK_INVALID_OPERATION,
		"%s on %s and %s is not supported", symbols[op], nk_dtype_short_name(left),
		nk_dtype_short_name(right));
}

static nk_status bind_and(nk_bind *bind, nk_error *err) { return bind_logic(bind, AND, err); }
static nk_status bind_or(nk_bind *bind, nk_error *err) { return bind_logic(bind, OR, err); }
static nk_status bind_xor(nk_bind *bind, nk_error *err) { return bind_logic(bind, XOR, err); }

static nk_status not_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = call->dtype->physical;
	if (physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_rows, false, &result, err));
	uint8_t *to = nk_array_values(result);
	const uint8_t *from = args[0]->values;
	if (physical == NK_PHYSICAL_BOOL) {
		for (int64_t i = 0; i < n_rows; i += 64) {
			uint64_t rows = n_rows - i < 64 ? ((uint64_t)1 << (n_rows - i)) - 1 : UINT64_MAX;
			nk__put_word(to, i, n_rows, ~nk_bitmap_word(from, i, n_rows) & rows);
		}
	} else {
		for (int64_t i = 0; i < n_rows * nk_physical_size(physical); i++)
			to[i] = (uint8_t)~from[i];
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_not(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id != NK_TYPE_BOOLEAN && dtype->id != NK_TYPE_NULL && !nk_type_is_integer(dtype->id))
		return nk_fail(err, NK_INVALID_OPERATION, "dtype %s not supported in 'not' operation", dtype->text);
	bind->dtype = dtype;
	bind->kernel = not_kernel;
	return NK_OK;
}

static nk_status bind_horizontal(nk_bind *bind, logic_op op, nk_error *err)
{
	horizontal_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (horizontal_plan){op, bind->n_args};
	bind->dtype = nk_dtype_of(NK_TYPE_BOOLEAN);
	for (int i = 0; i < bind->n_args; i++) {
		const nk_dtype *dtype = bind->args[i].dtype;
		if (dtype->id != NK_TYPE_BOOLEAN && dtype->id != NK_TYPE_NULL && !nk_type_is_numeric(dtype->id))
			return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`",
			               bind->func->name, nk_dtype_short_name(dtype));
		if (i < NK_MAX_CASTS)
			bind->casts[i] = bind->dtype;
	}
	bind->data = plan;
	bind->kernel = horizontal_kernel;
	return NK_OK;
}

static nk_status bind_any_horizontal(nk_bind *bind, nk_error *err) { return bind_horizontal(bind, OR, err); }
static nk_status bind_all_horizontal(nk_bind *bind, nk_error *err) { return bind_horizontal(bind, AND, err); }

const nk_func nk__funcs_logic[] = {
	{
		.name = "and",
		.args = "left, right",
		.doc = "Conjunction: false where either side is false, else null where either is null. Bitwise on "
			   "integers.",
		.example = "and([true, null], [true, false]) == [true, false]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.commutative = true,
		.bends = true,
		.bind = bind_and,
	},
	{
		.name = "or",
		.args = "left, right",
		.doc = "Disjunction: true where either side is true, else null where either is null. Bitwise on "
			   "integers.",
		.example = "or([true, null], [null, false]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.commutative = true,
		.bends = true,
		.bind = bind_or,
	},
	{
		.name = "xor",
		.args = "left, right",
		.doc = "Exclusive or; null where either side is null. Bitwise on integers.",
		.example = "xor([true, null], [false, true]) == [true, null]",
		.min_args = 2,
		.max_args = 2,
		.nulls = NK_NULLS_SEEN,
		.commutative = true,
		.bends = true,
		.bind = bind_xor,
	},
	{
		.name = "not",
		.args = "x",
		.doc = "Negation of a Boolean; every bit turned over of an integer.",
		.example = "not([true, null]) == [false, null]",
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_not,
	},
	{
		.name = "any_horizontal",
		.expands_selectors = true,
		.args = "*x",
		.doc = "Whether any argument of the row is true, by Kleene's logic; false without arguments.",
		.example = "any_horizontal([false, null], [false, true]) == [false, true]",
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_any_horizontal,
	},
	{
		.name = "all_horizontal",
		.expands_selectors = true,
		.args = "*x",
		.doc = "Whether all arguments of the row are true, by Kleene's logic; true without arguments.",
		.example = "all_horizontal([true, null], [true, true]) == [true, null]",
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_all_horizontal,
	},
	{0},
};
