/* Ranks within groups. Numbers up to 64 bits become keys that order like them and are sorted group by group as pairs of
 * key and row, by merging short sorted runs; a long column and all other dtypes go through the general sort. What ties
 * get is decided in one pass over the sorted rows. */
#include "base/hash.h"
#include "compute/compare.h"
#include "compute/sort.h"
#include "func/ordered.h"
#include "func/words.h"

typedef enum rank_method {
	RANK_AVERAGE,
	RANK_MIN,
	RANK_MAX,
	RANK_DENSE,
	RANK_ORDINAL,
	RANK_RANDOM
} rank_method;

typedef struct pair {
	uint64_t key;
	uint32_t row; /* in its group */
} pair;

typedef struct ranker {
	rank_method method;
	uint64_t seed;
	double *averages; /* RANK_AVERAGE */
	uint32_t *ranks;  /* else */
} ranker;

enum {
	RUN = 16,              /* rows sorted by insertion */
	MERGED_MOST = 1 << 16, /* rows of a group that are sorted as pairs */
};

/* ---- Ties ---- */

/* Rows of sorted places [from, to) of a group are equal; n_smaller values, different from one another, are less. */
static inline void rank_ties(const ranker *r, const pair *sorted, int64_t base, int64_t from, int64_t to,
                             uint32_t n_smaller)
{
	switch (r->method) {
	case RANK_AVERAGE:
		for (int64_t i = from; i < to; i++)
			r->averages[base + sorted[i].row] = (double)(from + 1 + to) / 2;
		break;
	case RANK_MIN:
		for (int64_t i = from; i < to; i++)
			r->ranks[base + sorted[i].row] = (uint32_t)from + 1;
		break;
	case RANK_MAX:
		for (int64_t i = from; i < to; i++)
			r->ranks[base + sorted[i].row] = (uint32_t)to;
		break;
	case RANK_DENSE:
		for (int64_t i = from; i < to; i++)
			r->ranks[base + sorted[i].row] = n_smaller + 1;
		break;
	case RANK_ORDINAL:
		for (int64_t i = from; i < to; i++)
			r->ranks[base + sorted[i].row] = (uint32_t)i + 1;
		break;
	case RANK_RANDOM: /* places are handed out and swapped at random with those before */
		for (int64_t i = from; i < to; i++) {
			int64_t n = i - from + 1;
			int64_t other =
				from + (int64_t)(nk_hash_u64(r->seed ^ (uint64_t)(base + sorted[i].row)) % (uint64_t)n);
			uint32_t *mine = &r->ranks[base + sorted[i].row], *its = &r->ranks[base + sorted[other].row];
			*mine = (uint32_t)i + 1;
			uint32_t swap = *mine;
			*mine = *its;
			*its = swap;
		}
		break;
	}
}

static void rank_sorted(const ranker *r, const pair *sorted, int64_t base, int64_t n)
{
	if (r->method == RANK_ORDINAL) {
		rank_ties(r, sorted, base, 0, n, 0);
		return;
	}
	uint32_t n_smaller = 0;
	for (int64_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && sorted[to].key == sorted[from].key;)
			to++;
		rank_ties(r, sorted, base, from, to, n_smaller++);
	}
}

/* ---- Numbers ---- */

static inline uint64_t key_of_signed(int64_t value) { return (uint64_t)value ^ ((uint64_t)1 << 63); }

static inline uint64_t key_of_double(double value)
{
	if (value != value)
		return UINT64_MAX;
	value += 0.0; /* one zero */
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline uint64_t key_at(const void *values, nk_physical physical, int64_t row)
{
	switch (physical) {
	case NK_PHYSICAL_I8: return key_of_signed(((const int8_t *)values)[row]);
	case NK_PHYSICAL_I16: return key_of_signed(((const int16_t *)values)[row]);
	case NK_PHYSICAL_I32: return key_of_signed(((const int32_t *)values)[row]);
	case NK_PHYSICAL_I64: return key_of_signed(((const int64_t *)values)[row]);
	case NK_PHYSICAL_U8: return ((const uint8_t *)values)[row];
	case NK_PHYSICAL_U16: return ((const uint16_t *)values)[row];
	case NK_PHYSICAL_U32: return ((const uint32_t *)values)[row];
	case NK_PHYSICAL_U64: return ((const uint64_t *)values)[row];
	case NK_PHYSICAL_F32: return key_of_double(((const float *)values)[row]);
	default: return key_of_double(((const double *)values)[row]);
	}
}

static void sort_run(pair *pairs, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		pair moving = pairs[i];
		int64_t at = i;
		for (; at > 0 && pairs[at - 1].key > moving.key; at--)
			pairs[at] = pairs[at - 1];
		pairs[at] = moving;
	}
}

static void merge(pair *restrict out, const pair *left, const pair *middle, const pair *end)
{
	const pair *right = middle;
	while (left < middle && right < end) {
		bool take_right = right->key < left->key;
		*out++ = *(take_right ? right : left);
		right += take_right;
		left += !take_right;
	}
	memcpy(out, left, (size_t)(middle - left) * sizeof *out);
	out += middle - left;
	memcpy(out, right, (size_t)(end - right) * sizeof *out);
}

/* Stable. The result is in pairs or in scratch, as returned. */
static const pair *sort_pairs(pair *pairs, pair *scratch, int64_t n)
{
	for (int64_t from = 0; from < n; from += RUN)
		sort_run(pairs + from, NK_MIN((int64_t)RUN, n - from));
	for (int64_t width = RUN; width < n; width *= 2) {
		for (int64_t from = 0; from < n; from += 2 * width) {
			int64_t middle = NK_MIN(from + width, n), end = NK_MIN(from + 2 * width, n);
			merge(scratch + from, pairs + from, pairs + middle, pairs + end);
		}
		pair *swap = pairs;
		pairs = scratch;
		scratch = swap;
	}
	return pairs;
}

/* The valid rows of a group as pairs. */
static int64_t collect(const nk_array *array, const uint8_t *validity, int64_t from, int64_t to,
                       bool descending, pair *out)
{
	uint64_t flip = descending ? UINT64_MAX : 0;
	int64_t n = 0;
	for (int64_t i = from; i < to; i++) {
		out[n] = (pair){key_at(array->values, array->physical, i) ^ flip, (uint32_t)(i - from)};
		n += !validity || nk_bitmap_get(validity, i);
	}
	return n;
}

/* A group too long for merging: the general sort, then pairs in its order. */
static nk_status sort_long(const nk_call *call, nk_array *array, int64_t from, int64_t to, bool descending,
                           pair *out, int64_t *n_valid, nk_error *err)
{
	NK_AUTO(nk_array) piece = NULL;
	NK_AUTO(nk_buffer) rows = NULL;
	nk_sort_key key = {.descending = descending, .nulls_last = true};
	int64_t n = to - from;
	NK_TRY(nk_array_slice(call->memory, array, from, n, &piece, err));
	NK_TRY(nk_buffer_new(call->memory, n * 4, &rows, err));
	uint32_t *order = (uint32_t *)(void *)rows->bytes;
	NK_TRY(nk_sort_rows(call->memory, &piece, &key, 1, n, order, err));
	*n_valid = n - nk_array_count_nulls(piece);
	for (int64_t i = 0; i < *n_valid; i++)
		out[i] = (pair){key_at(piece->values, piece->physical, order[i]), order[i]};
	return NK_OK;
}

static nk_status rank_numbers(const nk_call *call, const ranker *r, nk_array *array, int64_t n_groups,
                              const int64_t *offsets, bool descending, nk_error *err)
{
	int64_t longest = 0;
	for (int64_t g = 0; g < n_groups; g++)
		longest = NK_MAX(longest, offsets[g + 1] - offsets[g]);
	NK_AUTO(nk_buffer) block = NULL;
	int64_t n_room = longest + 1; /* collect() writes one past the valid rows */
	NK_TRY(nk_buffer_new(call->memory, n_room * 2 * (int64_t)sizeof(pair), &block, err));
	pair *pairs = (pair *)(void *)block->bytes, *scratch = pairs + n_room;
	const uint8_t *validity = nk__may_have_nulls(array) ? array->validity : NULL;
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t from = offsets[g], to = offsets[g + 1], n;
		const pair *sorted = pairs;
		if (to - from > MERGED_MOST) {
			NK_TRY(sort_long(call, array, from, to, descending, pairs, &n, err));
		} else {
			n = collect(array, validity, from, to, descending, pairs);
			sorted = sort_pairs(pairs, scratch, n);
		}
		rank_sorted(r, sorted, from, n);
	}
	return NK_OK;
}

/* ---- Everything else ---- */

static nk_status rank_any(const nk_call *call, const ranker *r, nk_array *array, int64_t n_groups,
                          const int64_t *offsets, bool descending, nk_error *err)
{
	int64_t n_rows = offsets[n_groups], longest = 0;
	NK_AUTO(nk_array) groups = NULL;
	NK_AUTO(nk_buffer) rows = NULL, *block = NULL;
	NK_TRY(nk_array_alloc(call->memory, nk_dtype_of(NK_TYPE_INT64), NK_PHYSICAL_I64, n_rows, false, &groups,
	                      err));
	int64_t *group_of = nk_array_values(groups);
	for (int64_t g = 0; g < n_groups; g++) {
		longest = NK_MAX(longest, offsets[g + 1] - offsets[g]);
		for (int64_t i = offsets[g]; i < offsets[g + 1]; i++)
			group_of[i] = g;
	}
	NK_TRY(nk_buffer_new(call->memory, n_rows * 4, &rows, err));
	NK_TRY(nk_buffer_new(call->memory, longest * (int64_t)sizeof(pair), &block, err));
	uint32_t *order = (uint32_t *)(void *)rows->bytes;
	pair *pairs = (pair *)(void *)block->bytes;
	nk_sort_key keys[2] = {{0}, {.descending = descending, .nulls_last = true}};
	nk_array *arrays[2] = {groups, array};
	int first = n_groups > 1 ? 0 : 1;
	NK_TRY(nk_sort_rows(call->memory, arrays + first, keys + first, 2 - first, n_rows, order, err));
	for (int64_t g = 0; g < n_groups; g++) {
		int64_t n = 0;
		uint64_t key = 0; /* how many different values came before */
		for (int64_t i = offsets[g]; i < offsets[g + 1] && nk_array_is_valid(array, order[i]); i++) {
			if (n && !nk_rows_equal(array, order[i - 1], array, order[i]))
				key++;
			pairs[n++] = (pair){key, (uint32_t)(order[i] - offsets[g])};
		}
		rank_sorted(r, pairs, offsets[g], n);
	}
	return NK_OK;
}

/* ---- The function ---- */

static nk_status rank(const nk_call *call, nk_array *const *args, int64_t n_groups, const int64_t *offsets,
                      nk_array **out, nk_error *err)
{
	bool descending = call->options[1].boolean;
	int64_t n_rows = offsets[n_groups];
	NK_AUTO(nk_array) array = NULL;
	NK_AUTO(nk_array) result = NULL;
	if (n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "`rank` takes at most 4294967294 rows");
	NK_TRY(nk_array_flatten(call->memory, args[0], &array, err));
	if (array->physical == NK_PHYSICAL_NONE)
		return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_TRY(nk__alloc_like(call->memory, call->dtype, call->dtype->physical, array, &result, err));
	ranker r = {.method = *(const rank_method *)call->data, .seed = (uint64_t)call->options[2].integer};
	memset(nk_array_values(result), 0, (size_t)(n_rows * nk_physical_size(result->physical)));
	if (r.method == RANK_AVERAGE)
		r.averages = nk_array_values(result);
	else
		r.ranks = nk_array_values(result);
	bool is_number = nk_physical_size(array->physical) <= 8 && array->physical != NK_PHYSICAL_BOOL &&
	                 array->physical != NK_PHYSICAL_LIST && array->physical != NK_PHYSICAL_STRUCT &&
	                 array->physical != NK_PHYSICAL_VIEW;
	if (is_number)
		NK_TRY(rank_numbers(call, &r, array, n_groups, offsets, descending, err));
	else
		NK_TRY(rank_any(call, &r, array, n_groups, offsets, descending, err));
	*out = NK_STEAL(result);
	return NK_OK;
}

static nk_status bind_rank(nk_bind *bind, nk_error *err)
{
	static const char *const names[] = {"average", "min", "max", "dense", "ordinal", "random"};
	static const rank_method methods[] = {RANK_AVERAGE, RANK_MIN,     RANK_MAX,
	                                      RANK_DENSE,   RANK_ORDINAL, RANK_RANDOM};
	for (int i = 0; i < NK_COUNT(names); i++)
		if (strcmp(bind->options[0].string, names[i]) == 0)
			bind->data = &methods[i];
	if (!bind->data)
		return nk_fail(
			err, NK_VALUE,
			"rank `method` must be one of {'min', 'max', 'average', 'dense', 'ordinal', 'random'}, got %s",
			bind->options[0].string);
	bind->dtype = nk_dtype_of(bind->data == &methods[0] ? NK_TYPE_FLOAT64 : NK_TYPE_UINT32);
	bind->segmented = rank;
	return NK_OK;
}

static const nk_option_spec rank_options[] = {
	{"method", {.kind = NK_OPTION_STRING, .string = "average"}},
	{"descending", {.kind = NK_OPTION_BOOL}},
	{"seed", {.kind = NK_OPTION_INT}},
	{0},
};

const nk_func nk__funcs_rank[] = {
	{
		.name = "rank",
		.args = "x",
		.doc = "The place of each value in order, from 1; a null stays null. Equal values share the "
               "\"average\" of their "
			   "places (Float64), the \"min\" or the \"max\"; \"dense\" leaves no gaps, \"ordinal\" tells "
               "them apart by row, "
			   "\"random\" by chance from seed (all UInt32).",
		.example = "rank([3, null, 1, 3], method=\"min\") == [2, null, 1, 2]",
		.options = rank_options,
		.min_args = 1,
		.max_args = 1,
		.height = NK_LENGTH_PRESERVING,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_rank,
	},
	{0},
};
