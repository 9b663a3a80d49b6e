/* add, sub, mul, truediv, floordiv, mod, truncdiv, pow, neg, abs. A binder unifies both sides (untyped literals
 * bend to the other one), so that one loop per physical type suffices; Decimals keep their scales and are
 * computed in whichever width their values need; text concatenates. */
#include "func/arith.h"
#include "func/each.h"

#include "compute/decimal.h"
#include "func/supertype.h"

const char *nk__arith_symbol(nk_arith_op op)
{
	static const char *const symbols[] = {"+", "-", "*", "/", "//", "%", "//", "**"};
	return symbols[op];
}

nk_status nk__arith_plan(nk_bind *bind, nk_arith_op op, nk_arith_plan **out, nk_error *err)
{
	NK_TRY(NK_ARENA_NEW(bind->arena, out, 1, err));
	(*out)->op = op;
	bind->data = *out;
	return NK_OK;
}

/* ---- Kernels ---- */

/* Rows whose divisor is zero become null. */
static nk_status nullify_zero_divisors(const nk_call *call, const nk_array *divisor, int64_t n_rows,
                                       nk_array *values, nk_array **out, nk_error *err)
{
	NK_AUTO(nk_array) owned = values;
	NK_AUTO(nk_buffer) valid = NULL;
	bool is_constant = divisor->encoding == NK_CONSTANT;
	int n_bytes = nk_physical_size(divisor->physical);
	static const __int128 zero = 0;
	const char *at = divisor->values;
	for (int64_t i = 0; i < (is_constant ? 1 : n_rows); i++) {
		if (memcmp(at + i * n_bytes, &zero, (size_t)n_bytes) != 0)
			continue;
		if (is_constant)
			return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
		if (!valid) {
			NK_TRY(nk_buffer_new(call->memory, nk_bitmap_bytes(n_rows), &valid, err));
			nk_bitmap_fill(valid->bytes, 0, n_rows, true);
		}
		nk_bitmap_clear(valid->bytes, i);
	}
	if (!valid) {
		*out = NK_STEAL(owned);
		return NK_OK;
	}
	return nk_array_with_validity(owned, NK_STEAL(valid), -1, out, err);
}

nk_status nk__arith_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                           nk_error *err)
{
	const nk_arith_plan *plan = call->data;
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = args[0]->physical;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_rows, false, &result, err));
	NK_ISA_TABLE(nk__arith)->binary[physical][plan->op](nk_array_values(result), args[0]->values,
	                                                    args[1]->values, n_rows, nk__shape(args[0], args[1]));
	bool is_float = physical == NK_PHYSICAL_F32 || physical == NK_PHYSICAL_F64;
	if (!is_float && plan->op >= NK_FLOORDIV && plan->op <= NK_TRUNCDIV)
		return nullify_zero_divisors(call, args[1], n_rows, NK_STEAL(result), out, err);
	*out = NK_STEAL(result);
	return NK_OK;
}

/* Integer base and UInt32 exponent: each row's own loop of squarings, in the base's width. */
static nk_status power_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = args[0]->physical;
	int n_bytes = nk_physical_size(physical);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_rows, false, &result, err));
	for (int64_t i = 0; i < n_rows; i++) {
		unsigned __int128 square = 0, power = 1;
		memcpy(&square, (const char *)args[0]->values + nk_array_index(args[0], i) * n_bytes,
		       (size_t)n_bytes);
		uint32_t exponent = ((const uint32_t *)args[1]->values)[nk_array_index(args[1], i)];
		for (; exponent; exponent >>= 1) {
			power *= exponent & 1 ? square : 1;
			square *= square;
		}
		/* Low bytes of a product depend on low bytes of its factors only. */
		memcpy((char *)nk_array_values(result) + i * n_bytes, &power, (size_t)n_bytes);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status decimal_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	const nk_arith_plan *plan = call->data;
	return nk_decimal_arith(call->memory, plan->op, args[0], args[1], call->validity, n_rows, call->dtype,
	                        out, err);
}

static nk_status null_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	(void)args;
	return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
}

/* Both texts of a row, one after the other; long results fill one buffer after another of at most 2 GiB each. */
static nk_status concat_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	NK_AUTO(nk_buffer) bytes = NULL;
	NK_AUTO(nk_heap) heap = NULL;
	int64_t n_long = 0;
	const nk_view *left = args[0]->values, *right = args[1]->values;
	for (int64_t i = 0; i < n_rows; i++) {
		int64_t n =
			(int64_t)left[nk_array_index(args[0], i)].n_bytes + right[nk_array_index(args[1], i)].n_bytes;
		n_long += n > NK_VIEW_INLINE ? n : 0;
	}
	if (n_long > UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "concatenated text of one batch passes 4 GiB");
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_VIEW, n_rows, false, &result, err));
	NK_TRY(nk_buffer_new(call->memory, n_long, &bytes, err));
	nk_view *to = nk_array_values(result);
	uint32_t used = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *a = &left[nk_array_index(args[0], i)], *b = &right[nk_array_index(args[1], i)];
		uint32_t n = a->n_bytes + b->n_bytes;
		char small[NK_VIEW_INLINE];
		char *at = n > NK_VIEW_INLINE ? (char *)bytes->bytes + used : small;
		memcpy(at, nk_view_bytes(a, args[0]->heap), a->n_bytes);
		memcpy(at + a->n_bytes, nk_view_bytes(b, args[1]->heap), b->n_bytes);
		to[i] = nk_view_make(at, n, 0, used);
		used += n > NK_VIEW_INLINE ? n : 0;
	}
	if (n_long > 0) {
		nk_buffer *owned = NK_STEAL(bytes);
		NK_TRY(nk_heap_new(&owned, 1, &heap, err));
	}
	return nk_array_new_flat(call->dtype, NK_PHYSICAL_VIEW, n_rows, nk_buffer_ref(result->values_buffer),
	                         NULL, 0, NK_STEAL(heap), out, err);
}

/* ---- Binding ---- */

static nk_status refuse(const nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	const char *name_left = nk_dtype_short_name(left), *name_right = nk_dtype_short_name(right);
	if (left->id == NK_TYPE_STRING || right->id == NK_TYPE_STRING)
		return nk_fail(err, NK_INVALID_OPERATION,
		               "arithmetic on dtypes %s and %s is not allowed; try an explicit cast first", name_left,
		               name_right);
	if (left->id == NK_TYPE_BOOLEAN && right->id == NK_TYPE_BOOLEAN)
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `bool`",
		               bind->func->name);
	if (nk_type_is_category(left->id) || nk_type_is_category(right->id)) {
		if (left == right || left->id == NK_TYPE_NULL || right->id == NK_TYPE_NULL)
			return nk_fail(err, op == NK_DIV ? NK_COMPUTE : NK_INVALID_OPERATION,
			               "`%s` operation not supported for dtype `%s`", bind->func->name,
			               left->id == NK_TYPE_NULL ? name_right : name_left);
		return nk_fail(err, op == NK_DIV ? NK_COMPUTE : NK_SCHEMA_MISMATCH, "%s not allowed on %s and %s",
		               nk__arith_symbol(op), name_left, name_right);
	}
	bool both_binary = left->id == NK_TYPE_BINARY && right->id == NK_TYPE_BINARY;
	bool has_temporal = nk_type_is_temporal(left->id) || nk_type_is_temporal(right->id);
	bool has_float = nk_type_is_float(left->id) || nk_type_is_float(right->id);
	bool has_binary = (left->id == NK_TYPE_BINARY || right->id == NK_TYPE_BINARY) && !both_binary &&
	                  !has_temporal && (op != NK_DIV || has_float);
	bool is_schema = has_binary || left->id == NK_TYPE_DECIMAL || right->id == NK_TYPE_DECIMAL;
	return nk_fail(err, is_schema ? NK_SCHEMA_MISMATCH : NK_INVALID_OPERATION, "%s not allowed on %s and %s",
	               nk__arith_symbol(op), name_left, name_right);
}

static nk_status bind_text(nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	const nk_dtype *meet = nk_supertype(left, right);
	bool is_number = nk_type_is_numeric(left->id) || nk_type_is_numeric(right->id);
	bool is_temporal = nk_type_is_temporal(left->id) || nk_type_is_temporal(right->id);
	if (op != NK_ADD || !meet || !nk_type_is_textual(meet->id) || is_number || is_temporal)
		return refuse(bind, op, err);
	bind->dtype = bind->casts[0] = bind->casts[1] = meet;
	bind->kernel = concat_kernel;
	return NK_OK;
}

static const nk_dtype *decimal_operand(const nk_argument *arg, const nk_dtype *other)
{
	if (arg->dtype->id == NK_TYPE_DECIMAL)
		return arg->dtype;
	return nk_dtype_decimal(38, arg->dtype->id == NK_TYPE_NULL ? other->scale : 0);
}

/* Digits behind the point of a Decimal result; negative: as many as the argument with more of them. */
static const nk_option_spec scale_options[] = {
	{"decimal_scale", {.kind = NK_OPTION_INT, .integer = -1}},
	{0},
};

static nk_status bind_decimal(nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_argument *left = &bind->args[0], *right = &bind->args[1];
	const nk_argument *others[] = {left, right};
	for (int i = 0; i < 2; i++)
		if (others[i]->dtype->id != NK_TYPE_DECIMAL && others[i]->dtype->id != NK_TYPE_NULL &&
		    !nk_type_is_integer(others[i]->dtype->id))
			return refuse(bind, op, err);
	if (op == NK_POW)
		return refuse(bind, op, err);
	bind->casts[0] = decimal_operand(left, right->dtype);
	bind->casts[1] = decimal_operand(right, left->dtype);
	if (!bind->casts[0] || !bind->casts[1])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	int scale = NK_MAX(bind->casts[0]->scale, bind->casts[1]->scale);
	if (bind->func->options == scale_options && bind->options && bind->options[0].integer >= 0)
		scale = (int)NK_MIN(bind->options[0].integer, (int64_t)38);
	bind->dtype = nk_dtype_decimal(38, scale);
	bind->kernel = decimal_kernel;
	bind->fallible = true;
	return NK_OK;
}

static const nk_dtype *float_for_division(const nk_dtype *meet)
{
	return meet->id == NK_TYPE_FLOAT32 ? meet : nk_dtype_of(NK_TYPE_FLOAT64);
}

static nk_status bind_numbers(nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_dtype *meet = nk_supertype_of_arguments(&bind->args[0], &bind->args[1], &bind->cast_is_lossy);
	bind->cast_is_lossy = true;
	if (!meet || !(nk_type_is_numeric(meet->id) || meet->id == NK_TYPE_BOOLEAN || meet->id == NK_TYPE_NULL))
		return refuse(bind, op, err);
	if (meet->id == NK_TYPE_BOOLEAN && op == NK_ADD)
		meet = nk_dtype_of(NK_TYPE_UINT32);
	if (op == NK_DIV)
		meet = float_for_division(meet);
	if (meet->id == NK_TYPE_NULL) {
		bind->dtype = meet;
		bind->kernel = null_kernel;
		return NK_OK;
	}
	if (meet->id == NK_TYPE_BOOLEAN)
		return refuse(bind, op, err);
	bind->dtype = bind->casts[0] = bind->casts[1] = meet;
	bind->kernel = nk__arith_kernel;
	return NK_OK;
}

/* The base keeps its dtype unless a float takes part; a bare integer base is Int32. */
static nk_status bind_power(nk_bind *bind, nk_error *err)
{
	const nk_dtype *base = bind->args[0].dtype, *exponent = bind->args[1].dtype;
	if (nk_type_is_integer(base->id) && nk_type_is_integer(exponent->id)) {
		bind->dtype = base;
		bind->casts[1] = nk_dtype_of(NK_TYPE_UINT32);
		bind->kernel = power_kernel;
		bind->fallible = true;
		return NK_OK;
	}
	bool has_float = nk_type_is_float(base->id) || nk_type_is_float(exponent->id);
	bool are_numbers = nk_type_is_numeric(base->id) && nk_type_is_numeric(exponent->id);
	if (!has_float || !are_numbers)
		return refuse(bind, NK_POW, err);
	/* A float base keeps its width beside integers. */
	const nk_dtype *meet =
		nk_type_is_float(base->id) && nk_type_is_integer(exponent->id)
			? base
			: nk_supertype_of_arguments(&bind->args[0], &bind->args[1], &bind->cast_is_lossy);
	bind->dtype = bind->casts[0] = bind->casts[1] = meet;
	bind->kernel = nk__arith_kernel;
	return NK_OK;
}

/* Whether a list's items, or a value, can take part in arithmetic within lists: numbers, between two lists at once. */
static bool has_number_items(const nk_dtype *dtype, bool beside_list)
{
	bool is_list = dtype->physical == NK_PHYSICAL_LIST;
	while (dtype->physical == NK_PHYSICAL_LIST) {
		dtype = dtype->fields[0].dtype;
		if (is_list && beside_list && dtype->physical == NK_PHYSICAL_LIST)
			return false;
	}
	return nk_type_is_numeric(dtype->id) || dtype->id == NK_TYPE_BOOLEAN || dtype->id == NK_TYPE_NULL;
}

static nk_status bind_binary(nk_bind *bind, nk_arith_op op, nk_error *err)
{
	const nk_dtype *left = bind->args[0].dtype, *right = bind->args[1].dtype;
	nk_arith_plan *plan;
	NK_TRY(nk__arith_plan(bind, op, &plan, err));
	bool left_list = left->physical == NK_PHYSICAL_LIST, right_list = right->physical == NK_PHYSICAL_LIST;
	if ((left_list || right_list) && op != NK_POW && has_number_items(left, right_list) &&
	    has_number_items(right, left_list))
		return nk__bind_each(bind, bind->func, (uint64_t)left_list | (uint64_t)right_list << 1, err);
	if (nk_type_is_nested(left->id) || nk_type_is_nested(right->id))
		return refuse(bind, op, err);
	if (nk_type_is_textual(left->id) || nk_type_is_textual(right->id))
		return bind_text(bind, op, err);
	if (nk_type_is_temporal(left->id) || nk_type_is_temporal(right->id))
		return nk__bind_temporal_arith(bind, op, err);
	if (op == NK_POW)
		return bind_power(bind, err);
	bool has_decimal = left->id == NK_TYPE_DECIMAL || right->id == NK_TYPE_DECIMAL;
	bool has_float = nk_type_is_float(left->id) || nk_type_is_float(right->id);
	bool bool_by_decimal = left->id == NK_TYPE_BOOLEAN && op == NK_DIV;
	if (has_decimal && !has_float && !bool_by_decimal)
		return bind_decimal(bind, op, err);
	if (has_decimal && bool_by_decimal) {
		bind->dtype = bind->casts[0] = bind->casts[1] = nk_dtype_of(NK_TYPE_FLOAT64);
		bind->kernel = nk__arith_kernel;
		return NK_OK;
	}
	return bind_numbers(bind, op, err);
}

static nk_status bind_add(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_ADD, err); }
static nk_status bind_sub(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_SUB, err); }
static nk_status bind_mul(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_MUL, err); }
static nk_status bind_truediv(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_DIV, err); }
static nk_status bind_floordiv(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_FLOORDIV, err); }
static nk_status bind_mod(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_MOD, err); }
static nk_status bind_truncdiv(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_TRUNCDIV, err); }
static nk_status bind_pow(nk_bind *bind, nk_error *err) { return bind_binary(bind, NK_POW, err); }

static const nk_unary_op unary_ops[NK_UNARY_N] = {NK_NEG, NK_ABS, NK_SIGN};

static nk_status unary_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	nk_unary_op op = *(const nk_unary_op *)call->data;
	NK_AUTO(nk_array) wide = NULL;
	NK_AUTO(nk_array) result = NULL;
	nk_array *values = args[0];
	/* The one value whose magnitude needs another bit. */
	if (values->dtype->id == NK_TYPE_DECIMAL && values->physical == NK_PHYSICAL_I64 &&
	    nk_decimal_bits(values->values, n_rows) > 62) {
		NK_TRY(nk_array_widen_decimal(call->memory, values, &wide, err));
		values = wide;
	}
	NK_TRY(nk_array_alloc(call->memory, call->dtype, values->physical, n_rows, false, &result, err));
	NK_ISA_TABLE(nk__arith)->unary[values->physical][op](nk_array_values(result), values->values, n_rows);
	if (op == NK_SIGN && call->dtype->scale > 0) {
		/* One unit is 10^scale. */
		for (int64_t i = 0; i < n_rows; i++)
			if (values->physical == NK_PHYSICAL_I64)
				((int64_t *)nk_array_values(result))[i] *= (int64_t)nk_power_of_ten(call->dtype->scale);
			else
				((__int128 *)nk_array_values(result))[i] *= nk_power_of_ten(call->dtype->scale);
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_unary(nk_bind *bind, nk_unary_op op, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	bool numeric = nk_type_is_numeric(dtype->id) &&
	               !(op == NK_NEG && (nk_type_is_unsigned(dtype->id) || dtype->id == NK_TYPE_INT128));
	bool duration = dtype->id == NK_TYPE_DURATION && op != NK_SIGN;
	if (!numeric && !duration)
		return nk_fail(err, NK_INVALID_OPERATION, "`%s` operation not supported for dtype `%s`",
		               bind->func->name, nk_dtype_short_name(dtype));
	if (op == NK_SIGN && dtype->scale > 18)
		bind->casts[0] = nk_dtype_of(NK_TYPE_FLOAT64);
	bind->dtype = bind->casts[0] ? bind->casts[0] : dtype;
	bind->data = &unary_ops[op];
	bind->kernel = unary_kernel;
	return NK_OK;
}

static nk_status bind_neg(nk_bind *bind, nk_error *err) { return bind_unary(bind, NK_NEG, err); }
static nk_status bind_abs(nk_bind *bind, nk_error *err) { return bind_unary(bind, NK_ABS, err); }
static nk_status bind_sign(nk_bind *bind, nk_error *err) { return bind_unary(bind, NK_SIGN, err); }

const nk_func nk__funcs_arith[] = {
	{
		.name = "add",
		.args = "left, right",
		.doc = "Sum of two numbers, wrapping in their common dtype; Decimals fail when a result leaves 38 "
			   "digits. Text is "
			   "concatenated; a Duration moves a Date, a Datetime or a Duration. Null where either side is "
			   "null.",
		.example = "add([1, null], [2, 3]) == [3, null]",
		.min_args = 2,
		.max_args = 2,
		.commutative = true,
		.bends = true,
		.bind = bind_add,
	},
	{
		.name = "sub",
		.args = "left, right",
		.doc = "Difference of two numbers, wrapping; of two points in time, a Duration.",
		.example = "sub([1, null], [2, 3]) == [-1, null]",
		.min_args = 2,
		.max_args = 2,
		.bends = true,
		.bind = bind_sub,
	},
	{
		.name = "mul",
		.args = "left, right",
		.doc = "Product of two numbers, wrapping; of Decimals, rounded half to even at the larger scale, or "
			   "at decimal_scale; a "
			   "Duration by a number.",
		.example = "mul([2, null], [2, 3]) == [4, null]",
		.options = scale_options,
		.min_args = 2,
		.max_args = 2,
		.commutative = true,
		.bends = true,
		.bind = bind_mul,
	},
	{
		.name = "truediv",
		.args = "left, right",
		.doc =
			"Quotient in floating point: infinite or NaN by zero. Decimals stay Decimals and fail by zero.",
		.example = "truediv([1, 3], [2, 2]) == [0.5, 1.5]",
		.options = scale_options,
		.min_args = 2,
		.max_args = 2,
		.bind = bind_truediv,
	},
	{
		.name = "floordiv",
		.args = "left, right",
		.doc = "Quotient rounded towards minus infinity. Integers by zero give null, floats follow IEEE 754.",
		.example = "floordiv([7, -7], [-2, 2]) == [-4, -4]",
		.min_args = 2,
		.max_args = 2,
		.bends = true,
		.bind = bind_floordiv,
	},
	{
		.name = "mod",
		.args = "left, right",
		.doc = "Remainder with the sign of the divisor. Integers by zero give null.",
		.example = "mod([7, -7], [-2, 2]) == [-1, 1]",
		.min_args = 2,
		.max_args = 2,
		.bends = true,
		.bind = bind_mod,
	},
	{
		.name = "truncdiv",
		.args = "left, right",
		.doc = "Quotient rounded towards zero. Integers by zero give null.",
		.example = "truncdiv([-7], [2]) == [-3]",
		.min_args = 2,
		.max_args = 2,
		.bends = true,
		.bind = bind_truncdiv,
	},
	{
		.name = "pow",
		.args = "base, exponent",
		.doc = "Power. An integer base keeps its dtype and wraps, and its exponent must not be negative; "
			   "with a float the "
			   "result is a float.",
		.example = "pow([2, 3], [3, 2]) == [8, 9]",
		.min_args = 2,
		.max_args = 2,
		.bends = true,
		.bind = bind_pow,
	},
	{
		.name = "neg",
		.args = "x",
		.doc = "The number or Duration with the other sign, wrapping. Not for unsigned integers.",
		.example = "neg([1, null]) == [-1, null]",
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_neg,
	},
	{
		.name = "abs",
		.args = "x",
		.doc = "The magnitude of a number or a Duration; the most negative integer wraps to itself.",
		.example = "abs([-1, null]) == [1, null]",
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_abs,
	},
	{
		.name = "sign",
		.args = "x",
		.doc = "-1, 0 or 1 in the number's own dtype; NaN stays NaN.",
		.example = "sign([-3, 0, 7]) == [-1, 0, 1]",
		.min_args = 1,
		.max_args = 1,
		.bends = true,
		.bind = bind_sign,
	},
	{0},
};
