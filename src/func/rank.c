/* Ranks within groups: rows are sorted group by group, and what ties get is decided in one pass over the
 * sorted rows. */
#include "base/hash.h"
#include "base/watch.h"
#include "compute/compare.h"
#include "compute/sort_segments.h"
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

typedef struct ranker {
	rank_method method;
	uint64_t seed;
	double *averages; /* RANK_AVERAGE */
	uint32_t *ranks;  /* else */
} ranker;

/* ---- Ties ---- */

/* Rows of sorted places [from, to) of a group are equal; n_smaller values, different from one another, are
 * less. */
static inline void rank_ties(const ranker *r, const uint32_t *sorted, int64_t from, int64_t to,
                             uint32_t n_smaller)
{
	switch (r->method) {
	case RANK_AVERAGE:
		for (int64_t i = from; i < to; i++)
			r->averages[sorted[i]] = (double)(from + 1 + to) / 2;
		break;
	case RANK_MIN:
		for (int64_t i = from; i < to; i++)
			r->ranks[sorted[i]] = (uint32_t)from + 1;
		break;
	case RANK_MAX:
		for (int64_t i = from; i < to; i++)
			r->ranks[sorted[i]] = (uint32_t)to;
		break;
	case RANK_DENSE:
		for (int64_t i = from; i < to; i++)
			r->ranks[sorted[i]] = n_smaller + 1;
		break;
	case RANK_ORDINAL:
		for (int64_t i = from; i < to; i++)
			r->ranks[sorted[i]] = (uint32_t)i + 1;
		break;
	case RANK_RANDOM: /* places are handed out and swapped at random with those before */
		for (int64_t i = from; i < to; i++) {
			int64_t n = i - from + 1;
			int64_t other = from + (int64_t)(nk_hash_u64(r->seed ^ sorted[i]) % (uint64_t)n);
			uint32_t *mine = &r->ranks[sorted[i]], *its = &r->ranks[sorted[other]];
			*mine = (uint32_t)i + 1;
			uint32_t swap = *mine;
			*mine = *its;
			*its = swap;
		}
		break;
	}
}

/* Whether two rows that are not null are equal. */
static inline bool rows_tie(const nk_array *array, bool has_key, uint32_t a, uint32_t b)
{
	if (has_key)
		return nk_sort_key_at(array, a) == nk_sort_key_at(array, b);
	return nk_rows_equal(array, a, array, b);
}

/* sorted: the rows of a group, nulls last. */
static void rank_group(const ranker *r, const nk_array *array, bool has_key, const uint32_t *sorted,
                       int64_t n_rows)
{
	int64_t n = n_rows;
	while (array->validity && n > 0 && !nk_bitmap_get(array->validity, sorted[n - 1]))
		n--;
	if (r->method == RANK_ORDINAL) {
		rank_ties(r, sorted, 0, n, 0);
		return;
	}
	uint32_t n_smaller = 0;
	for (int64_t from = 0, to; from < n && !nk_watch_stopped_at(from); from = to) {
		for (to = from + 1; to < n && rows_tie(array, has_key, sorted[to], sorted[from]);)
			to++;
		rank_ties(r, sorted, from, to, n_smaller++);
	}
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
	NK_AUTO(nk_buffer) sorted = NULL;
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(uint32_t), &sorted, err));
	uint32_t *rows = (uint32_t *)(void *)sorted->bytes;
	nk_sort_key spec = {.descending = descending, .nulls_last = true};
	NK_TRY(nk_sort_segments(call->memory, &array, &spec, 1, n_groups, offsets, rows, err));
	bool has_key = nk_sort_has_key(array);
	for (int64_t g = 0; g < n_groups; g++)
		rank_group(&r, array, has_key, rows + offsets[g], offsets[g + 1] - offsets[g]);
	NK_TRY(nk_watch_check(err));
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
