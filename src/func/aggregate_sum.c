/* sum, mean, product, var, std. States: an int64 or double for sums, an int128 for Decimals; sum and count for means;
 * count, mean and squared distances for variances, merged by Chan's formula (Chan, Golub and LeVeque, 1979).
 * Decimals add exactly: batches of int64 values in 64-bit lanes as long as their bounds allow. */
#include <math.h>

#include "compute/decimal.h"
#include "compute/reduce.h"
#include "func/aggregate.h"
#include "func/words.h"

/* ---- Sums ---- */

static void sum_bits(int64_t *sums, const uint32_t *groups, const nk_array *array, int64_t n_rows)
{
	for (int64_t i = 0; i < n_rows; i += 64) {
		uint64_t word = nk__true_word(array, i, n_rows) & nk__valid_word(array, i, n_rows);
		if (!groups) {
			sums[0] += __builtin_popcountll(word);
			continue;
		}
		for (; word; word &= word - 1)
			sums[groups[i + __builtin_ctzll(word)]]++;
	}
}

/* int64 sums of integers, Booleans and Durations; double sums of floats. */
static nk_status sum_update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                            int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	(void)order, (void)arena;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk__flat(call, args[0], &flat, err));
	nk_physical physical = flat->physical;
	if (physical == NK_PHYSICAL_BOOL) {
		sum_bits(states, groups, flat, n_rows);
	} else if (groups) {
		nk__scatter.sum[physical](states, groups, flat->values, flat->validity, n_rows);
	} else if (physical == NK_PHYSICAL_F32 || physical == NK_PHYSICAL_F64) {
		double sum;
		NK_ISA_TABLE(nk__reduce)->sum[physical](flat->values, flat->validity, n_rows, &sum);
		*(double *)states += sum;
	} else {
		uint64_t sum;
		NK_ISA_TABLE(nk__reduce)->sum[physical](flat->values, flat->validity, n_rows, &sum);
		*(uint64_t *)states += sum;
	}
	return NK_OK;
}

static nk_status sum_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                           int64_t n, nk_arena *arena, nk_error *err)
{
	(void)arena, (void)err;
	bool is_float = nk_type_is_float(call->dtype->id);
	for (int64_t i = 0; i < n; i++)
		if (is_float)
			((double *)states)[nk__group(groups, i)] += ((const double *)others)[i];
		else
			((uint64_t *)states)[nk__group(groups, i)] += ((const uint64_t *)others)[i];
	return NK_OK;
}

static nk_status sum_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                            nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	nk_physical physical = call->dtype->physical;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_groups, false, &result, err));
	void *to = nk_array_values(result);
	for (int64_t g = 0; g < n_groups; g++)
		if (physical == NK_PHYSICAL_F32)
			((float *)to)[g] = (float)((const double *)states)[g];
		else if (nk_physical_size(physical) == 8)
			((uint64_t *)to)[g] = ((const uint64_t *)states)[g];
		else
			((uint32_t *)to)[g] = (uint32_t)((const uint64_t *)states)[g];
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate sum_aggregate = {sizeof(int64_t), sum_update, sum_merge, sum_finish};

/* int128 sums: Decimals of either width, and Int128. */
static int bits_of_count(int64_t n) { return n > 0 ? 64 - __builtin_clzll((uint64_t)n) : 0; }

static nk_status fail_overflow(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "overflow in decimal addition in sum");
}

static nk_status sum_narrow_batch(const nk_array *flat, int64_t n_rows, __int128 *sum)
{
	const int64_t *values = flat->values;
	if (nk_decimal_bits(values, n_rows) + bits_of_count(n_rows) <= 63) {
		int64_t narrow;
		NK_ISA_TABLE(nk__reduce)->sum[NK_PHYSICAL_I64](values, flat->validity, n_rows, &narrow);
		*sum += narrow;
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i++)
		*sum += nk_array_is_valid(flat, i) ? values[i] : 0;
	return NK_OK;
}

static nk_status wide_sum_update(const nk_call *call, void *states, const uint32_t *groups,
                                 nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                 nk_error *err)
{
	(void)order, (void)arena;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk__flat(call, args[0], &flat, err));
	__int128 *sums = states;
	if (flat->physical == NK_PHYSICAL_I64) {
		if (!groups)
			return sum_narrow_batch(flat, n_rows, sums);
		nk_scatter_sum_wide(states, groups, flat->values, flat->validity, n_rows);
		return NK_OK;
	}
	const __int128 *values = flat->values;
	bool overflow = false;
	for (int64_t i = 0; i < n_rows; i++)
		if (nk_array_is_valid(flat, i)) {
			__int128 *sum = &sums[nk__group(groups, i)];
			overflow |= __builtin_add_overflow(*sum, values[i], sum);
		}
	return overflow && call->dtype->id == NK_TYPE_DECIMAL ? fail_overflow(err) : NK_OK;
}

static nk_status wide_sum_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                                int64_t n, nk_arena *arena, nk_error *err)
{
	(void)arena;
	__int128 *sums = states;
	const __int128 *from = others;
	bool overflow = false;
	for (int64_t i = 0; i < n; i++) {
		__int128 *sum = &sums[nk__group(groups, i)];
		overflow |= __builtin_add_overflow(*sum, from[i], sum);
	}
	return overflow && call->dtype->id == NK_TYPE_DECIMAL ? fail_overflow(err) : NK_OK;
}

static nk_status wide_sum_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                 nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	const __int128 *sums = states;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, NK_PHYSICAL_I128, n_groups, false, &result, err));
	memcpy(nk_array_values(result), sums, (size_t)n_groups * sizeof *sums);
	if (call->dtype->id != NK_TYPE_DECIMAL) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	__int128 limit = nk_power_of_ten(38);
	for (int64_t g = 0; g < n_groups; g++)
		if (sums[g] >= limit || sums[g] <= -limit)
			return fail_overflow(err);
	return nk_decimal_narrow(call->memory, call->dtype, NK_STEAL(result), out, err);
}

static const nk_aggregate wide_sum_aggregate = {sizeof(__int128), wide_sum_update, wide_sum_merge,
                                                wide_sum_finish};

/* Of nothing but nulls of dtype Null: null. */
static nk_status nothing_update(const nk_call *call, void *states, const uint32_t *groups,
                                nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                nk_error *err)
{
	(void)call, (void)states, (void)groups, (void)args, (void)n_rows, (void)order, (void)arena, (void)err;
	return NK_OK;
}

static nk_status nothing_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                               int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)states, (void)groups, (void)others, (void)n, (void)arena, (void)err;
	return NK_OK;
}

static nk_status nothing_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                nk_error *err)
{
	(void)states;
	return nk_array_new_null(call->memory, call->dtype, n_groups, out, err);
}

const nk_aggregate nk__nothing_aggregate = {8, nothing_update, nothing_merge, nothing_finish};

static nk_status bind_sum(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	switch (dtype->id) {
	case NK_TYPE_NULL: return nk__bind_aggregate(bind, &nk__nothing_aggregate, dtype, 0, err);
	case NK_TYPE_BOOLEAN:
		return nk__bind_aggregate(bind, &sum_aggregate, nk_dtype_of(NK_TYPE_UINT32), 0, err);
	case NK_TYPE_INT8:
	case NK_TYPE_INT16:
	case NK_TYPE_UINT8:
	case NK_TYPE_UINT16: return nk__bind_aggregate(bind, &sum_aggregate, nk_dtype_of(NK_TYPE_INT64), 0, err);
	case NK_TYPE_INT128: return nk__bind_aggregate(bind, &wide_sum_aggregate, dtype, 0, err);
	case NK_TYPE_DECIMAL:
		bind->fallible = true;
		return nk__bind_aggregate(bind, &wide_sum_aggregate, nk_dtype_decimal(38, dtype->scale), 0, err);
	case NK_TYPE_INT32:
	case NK_TYPE_INT64:
	case NK_TYPE_UINT32:
	case NK_TYPE_UINT64:
	case NK_TYPE_FLOAT32:
	case NK_TYPE_FLOAT64:
	case NK_TYPE_DURATION: return nk__bind_aggregate(bind, &sum_aggregate, dtype, 0, err);
	default: return nk__refuse_aggregate(bind, err);
	}
}

/* ---- Means ---- */

static nk_status mean_update(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
                             int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err)
{
	(void)order, (void)arena;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk__flat(call, args[0], &flat, err));
	nk_physical physical = flat->physical;
	nk_mean_state *means = states;
	if (groups) {
		nk__scatter.mean[physical](states, groups, flat->values, flat->validity, n_rows);
		return NK_OK;
	}
	means->count += flat->validity ? nk_bitmap_count(flat->validity, 0, n_rows) : n_rows;
	if (physical == NK_PHYSICAL_F32 || physical == NK_PHYSICAL_F64) {
		double sum;
		NK_ISA_TABLE(nk__reduce)->sum[physical](flat->values, flat->validity, n_rows, &sum);
		means->sum += sum;
		return NK_OK;
	}
	/* 64-bit integers may wrap in lanes: blocks of them go through the scattering loop. */
	if (nk_physical_size(physical) == 8) {
		static const uint32_t zeros[1024];
		nk_mean_state sum = {0};
		const uint64_t *values = flat->values;
		for (int64_t i = 0; i < n_rows; i += 1024)
			nk__scatter.mean[physical](&sum, zeros, values + i,
			                           flat->validity ? flat->validity + (i >> 3) : NULL,
			                           n_rows - i < 1024 ? n_rows - i : 1024);
		means->sum += sum.sum;
		return NK_OK;
	}
	int64_t sum;
	NK_ISA_TABLE(nk__reduce)->sum[physical](flat->values, flat->validity, n_rows, &sum);
	means->sum += (double)sum;
	return NK_OK;
}

static nk_status mean_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                            int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	nk_mean_state *means = states;
	const nk_mean_state *from = others;
	for (int64_t i = 0; i < n; i++) {
		means[nk__group(groups, i)].sum += from[i].sum;
		means[nk__group(groups, i)].count += from[i].count;
	}
	return NK_OK;
}

/* Float32 or Float64 values with a validity, from doubles. */
static void put_float(nk_array *result, int64_t g, bool valid, double value)
{
	if (!valid)
		nk_bitmap_clear(nk_array_validity(result), g);
	if (result->physical == NK_PHYSICAL_F32)
		((float *)nk_array_values(result))[g] = valid ? (float)value : 0;
	else
		((double *)nk_array_values(result))[g] = valid ? value : 0;
}

static nk_status mean_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                             nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	const nk_mean_state *means = states;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_groups, true, &result, err));
	for (int64_t g = 0; g < n_groups; g++)
		put_float(result, g, means[g].count > 0, means[g].sum / (double)means[g].count);
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate mean_aggregate = {sizeof(nk_mean_state), mean_update, mean_merge, mean_finish};

/* Exact sums for Decimals and points in time. */
static nk_status wide_mean_update(const nk_call *call, void *states, const uint32_t *groups,
                                  nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                  nk_error *err)
{
	(void)order, (void)arena;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk__flat(call, args[0], &flat, err));
	nk_wide_mean_state *means = states;
	if (flat->physical == NK_PHYSICAL_I64) {
		if (groups) {
			nk_scatter_mean_wide(states, groups, flat->values, flat->validity, n_rows);
			return NK_OK;
		}
		means->count += flat->validity ? nk_bitmap_count(flat->validity, 0, n_rows) : n_rows;
		return sum_narrow_batch(flat, n_rows, &means->sum);
	}
	const __int128 *values = flat->values;
	bool overflow = false;
	for (int64_t i = 0; i < n_rows; i++)
		if (nk_array_is_valid(flat, i)) {
			nk_wide_mean_state *mean = &means[nk__group(groups, i)];
			overflow |= __builtin_add_overflow(mean->sum, values[i], &mean->sum);
			mean->count++;
		}
	return overflow ? nk_fail(err, NK_COMPUTE, "overflow in decimal addition in mean") : NK_OK;
}

static nk_status wide_mean_merge(const nk_call *call, void *states, const uint32_t *groups,
                                 const void *others, int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	nk_wide_mean_state *means = states;
	const nk_wide_mean_state *from = others;
	for (int64_t i = 0; i < n; i++) {
		means[nk__group(groups, i)].sum += from[i].sum;
		means[nk__group(groups, i)].count += from[i].count;
	}
	return NK_OK;
}

static nk_status wide_mean_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                  nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	const nk_wide_mean_state *means = states;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_groups, true, &result, err));
	double unit = pow(10, (double)nk__agg_flag(call));
	for (int64_t g = 0; g < n_groups; g++) {
		bool valid = means[g].count > 0;
		if (nk_type_is_temporal(call->dtype->id)) {
			if (!valid)
				nk_bitmap_clear(nk_array_validity(result), g);
			((int64_t *)nk_array_values(result))[g] =
				valid ? (int64_t)((double)means[g].sum / (double)means[g].count) : 0;
		} else {
			put_float(result, g, valid, (double)means[g].sum / unit / (double)means[g].count);
		}
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate wide_mean_aggregate = {sizeof(nk_wide_mean_state), wide_mean_update,
                                                 wide_mean_merge, wide_mean_finish};

static nk_status bind_mean(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *float64 = nk_dtype_of(NK_TYPE_FLOAT64);
	if (dtype->id == NK_TYPE_NULL)
		return nk__bind_aggregate(bind, &nk__nothing_aggregate, dtype, 0, err);
	if (dtype->id == NK_TYPE_DECIMAL)
		return nk__bind_aggregate(bind, &wide_mean_aggregate, float64, dtype->scale, err);
	if (nk_type_is_temporal(dtype->id)) {
		if (dtype->id == NK_TYPE_DATE)
			dtype = bind->casts[0] = nk_dtype_datetime(NK_UNIT_US, NULL);
		return nk__bind_aggregate(bind, &wide_mean_aggregate, dtype, 0, err);
	}
	if (dtype->id == NK_TYPE_BOOLEAN)
		bind->casts[0] = nk_dtype_of(NK_TYPE_UINT8);
	else if (dtype->id == NK_TYPE_INT128)
		bind->casts[0] = float64;
	else if (!nk_type_is_numeric(dtype->id))
		return nk__refuse_aggregate(bind, err);
	return nk__bind_aggregate(bind, &mean_aggregate, dtype->id == NK_TYPE_FLOAT32 ? dtype : float64, 0, err);
}

/* ---- Variance ---- */

typedef struct variance_state {
	int64_t count;
	double mean, squares;
} variance_state;

static void variance_fold(variance_state *into, const variance_state *from)
{
	if (from->count == 0)
		return;
	double count = (double)(into->count + from->count), distance = from->mean - into->mean;
	into->squares += from->squares + distance * distance * (double)into->count * (double)from->count / count;
	into->mean += distance * (double)from->count / count;
	into->count += from->count;
}

static nk_status variance_update(const nk_call *call, void *states, const uint32_t *groups,
                                 nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                 nk_error *err)
{
	(void)order, (void)arena;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk__flat(call, args[0], &flat, err));
	const double *values = flat->values;
	variance_state *all = states;
	if (!groups) {
		const nk_reduce_table *table = NK_ISA_TABLE(nk__reduce);
		variance_state batch = {.count =
		                            flat->validity ? nk_bitmap_count(flat->validity, 0, n_rows) : n_rows};
		double sum;
		table->sum[NK_PHYSICAL_F64](values, flat->validity, n_rows, &sum);
		batch.mean = batch.count ? sum / (double)batch.count : 0;
		batch.squares = table->squares(values, flat->validity, n_rows, batch.mean);
		variance_fold(all, &batch);
		return NK_OK;
	}
	for (int64_t i = 0; i < n_rows; i++) {
		if (flat->validity && !nk_bitmap_get(flat->validity, i))
			continue;
		variance_state *state = &all[groups[i]];
		double distance = values[i] - state->mean;
		state->count++;
		state->mean += distance / (double)state->count;
		state->squares += distance * (values[i] - state->mean);
	}
	return NK_OK;
}

static nk_status variance_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                                int64_t n, nk_arena *arena, nk_error *err)
{
	(void)call, (void)arena, (void)err;
	for (int64_t i = 0; i < n; i++)
		variance_fold((variance_state *)states + nk__group(groups, i), (const variance_state *)others + i);
	return NK_OK;
}

/* flag: ddof, with 256 added for the square root. */
enum { WANTS_ROOT = 256 };

static nk_status variance_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                 nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	const variance_state *all = states;
	int64_t flag = nk__agg_flag(call), ddof = flag & (WANTS_ROOT - 1);
	NK_TRY(nk_array_alloc(call->memory, call->dtype, call->dtype->physical, n_groups, true, &result, err));
	for (int64_t g = 0; g < n_groups; g++) {
		double variance = all[g].squares / (double)(all[g].count - ddof);
		put_float(result, g, all[g].count > ddof, flag & WANTS_ROOT ? sqrt(variance) : variance);
	}
	result->n_nulls = -1;
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate variance_aggregate = {sizeof(variance_state), variance_update, variance_merge,
                                                variance_finish};

static nk_status bind_variance(nk_bind *bind, int64_t root, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *float64 = nk_dtype_of(NK_TYPE_FLOAT64);
	int64_t ddof = bind->options[0].integer;
	if (ddof < 0 || ddof >= WANTS_ROOT)
		return nk_fail(err, NK_VALUE, "ddof must be between 0 and 255, got %lld", (long long)ddof);
	if (dtype->id == NK_TYPE_NULL)
		return nk__bind_aggregate(bind, &nk__nothing_aggregate, dtype, 0, err);
	if (!nk_type_is_numeric(dtype->id) && dtype->id != NK_TYPE_BOOLEAN)
		return nk__refuse_aggregate(bind, err);
	bind->casts[0] = float64;
	return nk__bind_aggregate(bind, &variance_aggregate, dtype->id == NK_TYPE_FLOAT32 ? dtype : float64,
	                          ddof | root, err);
}

static nk_status bind_var(nk_bind *bind, nk_error *err) { return bind_variance(bind, 0, err); }
static nk_status bind_std(nk_bind *bind, nk_error *err) { return bind_variance(bind, WANTS_ROOT, err); }

/* ---- Product ---- */

/* The product so far, less one where nothing was met: an all-zero state is the empty product. */
typedef struct product_state {
	union {
		double floating;
		__int128 integer;
	};
	int64_t count, unused;
} product_state;

static nk_status product_fold(product_state *into, bool is_float, double floating, __int128 integer,
                              int scale, nk_error *err)
{
	bool empty = into->count++ == 0;
	if (is_float) {
		into->floating = empty ? floating : into->floating * floating;
		return NK_OK;
	}
	if (empty) {
		into->integer = integer;
		return NK_OK;
	}
	if (scale < 0) {
		into->integer = (__int128)((unsigned __int128)into->integer * (unsigned __int128)integer);
		return NK_OK;
	}
	if (__builtin_mul_overflow(into->integer, integer, &into->integer))
		return nk_fail(err, NK_COMPUTE, "overflow in decimal multiplication in product");
	into->integer = nk_decimal_divide(into->integer, nk_power_of_ten(scale), NK_ROUND_HALF_EVEN);
	return NK_OK;
}

static int product_scale(const nk_call *call)
{
	return call->dtype->id == NK_TYPE_DECIMAL ? call->dtype->scale : -1;
}

static nk_status product_update(const nk_call *call, void *states, const uint32_t *groups,
                                nk_array *const *args, int64_t n_rows, int64_t order, nk_arena *arena,
                                nk_error *err)
{
	(void)order, (void)arena;
	bool is_float = nk_type_is_float(call->dtype->id);
	for (int64_t i = 0; i < n_rows; i++) {
		nk_scalar value = nk_scalar_read(args[0], i);
		if (value.is_null)
			continue;
		product_state *state = (product_state *)states + nk__group(groups, i);
		NK_TRY(product_fold(state, is_float, is_float ? value.floating : 0, is_float ? 0 : value.integer,
		                    product_scale(call), err));
	}
	return NK_OK;
}

static nk_status product_merge(const nk_call *call, void *states, const uint32_t *groups, const void *others,
                               int64_t n, nk_arena *arena, nk_error *err)
{
	(void)arena;
	bool is_float = nk_type_is_float(call->dtype->id);
	const product_state *from = others;
	for (int64_t i = 0; i < n; i++)
		if (from[i].count)
			NK_TRY(product_fold((product_state *)states + nk__group(groups, i), is_float,
			                    is_float ? from[i].floating : 0, is_float ? 0 : from[i].integer,
			                    product_scale(call), err));
	return NK_OK;
}

static nk_status product_finish(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
                                nk_error *err)
{
	NK_AUTO(nk_array) result = NULL;
	const product_state *all = states;
	nk_physical physical = call->dtype->physical;
	NK_TRY(nk_array_alloc(call->memory, call->dtype, physical, n_groups, false, &result, err));
	void *to = nk_array_values(result);
	for (int64_t g = 0; g < n_groups; g++) {
		double floating = all[g].count ? all[g].floating : 1;
		__int128 one = call->dtype->id == NK_TYPE_DECIMAL ? nk_power_of_ten(call->dtype->scale) : 1;
		__int128 integer = all[g].count ? all[g].integer : one;
		if (physical == NK_PHYSICAL_F32)
			((float *)to)[g] = (float)floating;
		else if (physical == NK_PHYSICAL_F64)
			((double *)to)[g] = floating;
		else if (physical == NK_PHYSICAL_I128)
			((__int128 *)to)[g] = integer;
		else
			((uint64_t *)to)[g] = (uint64_t)integer;
	}
	*out = NK_STEAL(result);
	return NK_OK;
}

static const nk_aggregate product_aggregate = {sizeof(product_state), product_update, product_merge,
                                               product_finish};

static nk_status bind_product(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	if (dtype->id == NK_TYPE_BOOLEAN)
		dtype = bind->casts[0] = nk_dtype_of(NK_TYPE_INT64);
	else if (!nk_type_is_numeric(dtype->id))
		return nk__refuse_aggregate(bind, err);
	if (dtype->id == NK_TYPE_DECIMAL) {
		bind->fallible = true;
		NK_TRY(nk__bind_aggregate(bind, &product_aggregate, nk_dtype_decimal(38, dtype->scale), 0, err));
		bind->aggregate = NULL; /* each step rounds, so that the order matters: whole groups only */
		return NK_OK;
	}
	bool is_wide = dtype->id == NK_TYPE_INT128 || dtype->id == NK_TYPE_UINT64 || nk_type_is_float(dtype->id);
	return nk__bind_aggregate(bind, &product_aggregate, is_wide ? dtype : nk_dtype_of(NK_TYPE_INT64), 0, err);
}

static const nk_option_spec ddof_options[] = {
	{"ddof", {.kind = NK_OPTION_INT, .integer = 1}},
	{0},
};

const nk_func nk__funcs_aggregate_sum[] = {
	{
		.name = "sum",
		.args = "x",
		.doc = "Sum of the values; 0 of none. Small integers widen to Int64, others wrap; Decimals fail past "
			   "38 digits.",
		.example = "sum([1, null, 2]) == [3]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_sum,
	},
	{
		.name = "mean",
		.args = "x",
		.doc = "Arithmetic mean in floating point; of dates and times, a point in time. Null of no values.",
		.example = "mean([1, null, 2]) == [1.5]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_mean,
	},
	{
		.name = "var",
		.args = "x",
		.doc = "Variance, divided by the count less ddof. Null of too few values.",
		.example = "var([1, 2, 3]) == [1.0]",
		.options = ddof_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_var,
	},
	{
		.name = "std",
		.args = "x",
		.doc = "Standard deviation: the root of the variance.",
		.example = "std([1, 2, 3]) == [1.0]",
		.options = ddof_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_std,
	},
	{
		.name = "product",
		.args = "x",
		.doc = "Product of the values; 1 of none. Integers widen to Int64 and wrap.",
		.example = "product([2, null, 3]) == [6]",
		.min_args = 1,
		.max_args = 1,
		.height = NK_AGGREGATING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_product,
	},
	{0},
};
