/* One row is drawn from each of 4,096 strata, at a place that a hash of its number gives, so that neither sorted nor
 * periodic data mislead. Distinct values are scaled up by the jackknife Duj1 of Haas, Naughton, Seshadri and Stokes
 * (VLDB 1995): from n rows of N with d distinct values, f1 of them seen once, d / (1 - (1 - n/N) f1/n). */
#include "plan/column_sample.h"

#include <stdlib.h>

#include "base/hash.h"
#include "compute/hash.h"
#include "compute/select.h"

enum { N_SAMPLED = 4096, N_SLOTS = 2 * N_SAMPLED };

typedef struct sample {
	int64_t n_valid, n_distinct, n_once;
	uint64_t hashes[N_SLOTS]; /* open addressing; 0: free */
	uint8_t counts[N_SLOTS];  /* times seen, at most 2 */
	nk_column_summary summary;
} sample;

static void add_hash(sample *self, uint64_t hash)
{
	hash |= !hash;
	uint32_t slot = (uint32_t)hash & (N_SLOTS - 1);
	while (self->hashes[slot] && self->hashes[slot] != hash)
		slot = (slot + 1) & (N_SLOTS - 1);
	if (!self->hashes[slot]) {
		self->hashes[slot] = hash;
		self->counts[slot] = 1;
		self->n_distinct++;
		self->n_once++;
	} else if (self->counts[slot] == 1) {
		self->counts[slot] = 2;
		self->n_once--;
	}
}

static bool has_order(const nk_dtype *dtype)
{
	return nk_type_is_integer(dtype->id) || nk_type_is_float(dtype->id) || nk_type_is_temporal(dtype->id) ||
	       dtype->id == NK_TYPE_DECIMAL;
}

static void add_bounds(nk_column_summary *summary, const nk_array *array, int64_t row)
{
	nk_scalar value = nk_scalar_read(array, row);
	if (nk_type_is_float(value.dtype->id) && value.floating != value.floating)
		return;
	if (!summary->has_bounds || nk_scalar_compare(&value, &summary->min) < 0)
		summary->min = value;
	if (!summary->has_bounds || nk_scalar_compare(&value, &summary->max) > 0)
		summary->max = value;
	summary->has_bounds = true;
}

static nk_status add_rows(sample *self, nk_memory *memory, const nk_array *chunk, const uint32_t *rows,
                          int64_t n, nk_error *err)
{
	NK_AUTO(nk_array) taken = NULL;
	NK_AUTO(nk_array) flat = NULL;
	uint64_t hashes[N_SAMPLED];
	NK_TRY(nk_array_take(memory, chunk, rows, n, &taken, err));
	NK_TRY(nk_array_flatten(memory, taken, &flat, err));
	NK_TRY(nk_hash_array(memory, flat, n, hashes, false, err));
	bool is_ordered = has_order(chunk->dtype);
	for (int64_t i = 0; i < n; i++) {
		if (!nk_array_is_valid(flat, i))
			continue;
		self->n_valid++;
		add_hash(self, hashes[i]);
		if (is_ordered)
			add_bounds(&self->summary, flat, i);
	}
	return NK_OK;
}

/* Values outside of what a sample saw are one in n or so: a step beyond the bounds lets them in. */
static void widen(nk_column_summary *summary, int64_t n)
{
	if (nk_type_is_float(summary->min.dtype->id)) {
		double step = (summary->max.floating - summary->min.floating) / (double)n;
		summary->min.floating -= step;
		summary->max.floating += step;
	} else {
		__int128 step = (summary->max.integer - summary->min.integer) / n;
		summary->min.integer -= step;
		summary->max.integer += step;
	}
}

static nk_status draw(sample *self, nk_column *column, nk_error *err)
{
	NK_AUTO(nk_memory) memory = nk_memory_new(NULL, INT64_MAX);
	if (!memory)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a sample");
	int64_t n_rows = column->n_rows, n_wanted = NK_MIN(n_rows, (int64_t)N_SAMPLED), i = 0, begin = 0;
	for (int c = 0; c < column->n_chunks; begin += column->chunks[c++]->n_rows) {
		uint32_t rows[N_SAMPLED];
		int64_t n = 0, end = begin + column->chunks[c]->n_rows;
		for (; i < n_wanted; i++) {
			int64_t low = (int64_t)((double)n_rows / (double)n_wanted * (double)i);
			int64_t high = (int64_t)((double)n_rows / (double)n_wanted * (double)(i + 1));
			int64_t row =
				n_rows == n_wanted
					? i
					: low + (int64_t)(nk_hash_u64((uint64_t)i) % (uint64_t)NK_MAX(high - low, (int64_t)1));
			if (row >= end || row - begin > UINT32_MAX)
				break;
			rows[n++] = (uint32_t)(row - begin);
		}
		if (n)
			NK_TRY(add_rows(self, memory, column->chunks[c], rows, n, err));
	}
	double n = (double)self->n_valid, share = (double)n_wanted / (double)n_rows;
	double unseen = self->n_valid ? (1 - share) * (double)self->n_once / n : 0;
	self->summary.n_distinct = (int64_t)((double)self->n_distinct / NK_MAX(1 - unseen, share));
	if (n_wanted < n_rows && self->summary.has_bounds)
		widen(&self->summary, n_wanted);
	return NK_OK;
}

const nk_column_summary *nk_column_sample(nk_column *column)
{
	nk_column_summary *known = __atomic_load_n(&column->summary, __ATOMIC_ACQUIRE);
	nk_physical physical = column->chunks[0]->physical;
	if (known || !column->n_rows || physical == NK_PHYSICAL_LIST || physical == NK_PHYSICAL_STRUCT ||
	    physical == NK_PHYSICAL_NONE)
		return known;
	sample *self = calloc(1, sizeof *self);
	nk_column_summary *made = malloc(sizeof *made);
	nk_error unused;
	if (!self || !made || draw(self, column, &unused) != NK_OK) {
		free(self);
		free(made);
		return NULL;
	}
	*made = self->summary;
	free(self);
	if (__atomic_compare_exchange_n(&column->summary, &known, made, false, __ATOMIC_ACQ_REL,
	                                __ATOMIC_ACQUIRE))
		return made;
	free(made);
	return known;
}
