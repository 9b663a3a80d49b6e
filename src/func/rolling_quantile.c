/* Rolling quantiles: the values of the window are kept sorted, in blocks of a few hundred, so that entering,
 * leaving and finding the k-th cost little in small windows and grow slowly with large ones. Values are keys
 * that order like the doubles they stand for. */
#include <math.h>

#include "func/rolling.h"
#include "func/words.h"

enum { BLOCK = 512 };

typedef struct block {
	int64_t n;
	int64_t keys[BLOCK];
} block;

typedef struct sorted {
	nk_memory *memory;
	block **blocks; /* none of them empty, but for a lone one */
	int64_t n_blocks, capacity;
	int64_t n;
} sorted;

static nk_status block_add(sorted *s, int64_t at, nk_error *err)
{
	void *made;
	NK_TRY(NK_GROW(s->memory, &s->blocks, &s->capacity, s->n_blocks + 1, err));
	NK_TRY(nk_alloc(s->memory, (int64_t)sizeof(block), &made, err));
	memmove(s->blocks + at + 1, s->blocks + at, (size_t)(s->n_blocks - at) * sizeof *s->blocks);
	s->blocks[at] = made;
	s->blocks[at]->n = 0;
	s->n_blocks++;
	return NK_OK;
}

static void block_remove(sorted *s, int64_t at)
{
	nk_free(s->memory, s->blocks[at], (int64_t)sizeof(block));
	s->n_blocks--;
	memmove(s->blocks + at, s->blocks + at + 1, (size_t)(s->n_blocks - at) * sizeof *s->blocks);
}

static void sorted_release(sorted *s)
{
	while (s->n_blocks)
		block_remove(s, s->n_blocks - 1);
	nk_free(s->memory, s->blocks, s->capacity * (int64_t)sizeof *s->blocks);
}

static void sorted_clear(sorted *s)
{
	while (s->n_blocks > 1)
		block_remove(s, s->n_blocks - 1);
	s->blocks[0]->n = 0;
	s->n = 0;
}

/* The first block whose last key is not less; the last block when there is none. */
static inline int64_t block_of(const sorted *s, int64_t key)
{
	int64_t at = 0;
	while (at + 1 < s->n_blocks && s->blocks[at]->keys[s->blocks[at]->n - 1] < key)
		at++;
	return at;
}

/* How many keys of a block are less. */
static inline int64_t place_of(const block *b, int64_t key)
{
	const int64_t *base = b->keys;
	int64_t n = b->n;
	while (n > 1) {
		int64_t half = n / 2;
		base += (int64_t)(base[half - 1] < key) * half; /* no branch: it would be a coin toss */
		n -= half;
	}
	return (base - b->keys) + (n == 1 && *base < key);
}

static nk_status sorted_insert(sorted *s, int64_t key, nk_error *err)
{
	int64_t at = block_of(s, key);
	block *b = s->blocks[at];
	if (b->n == BLOCK) {
		NK_TRY(block_add(s, at + 1, err));
		block *next = s->blocks[at + 1];
		next->n = BLOCK / 2;
		memcpy(next->keys, b->keys + BLOCK / 2, sizeof b->keys / 2);
		b->n = BLOCK / 2;
		if (b->keys[b->n - 1] < key)
			b = next;
	}
	int64_t place = place_of(b, key);
	memmove(b->keys + place + 1, b->keys + place, (size_t)(b->n - place) * sizeof *b->keys);
	b->keys[place] = key;
	b->n++;
	s->n++;
	return NK_OK;
}

static void sorted_remove(sorted *s, int64_t key)
{
	int64_t at = block_of(s, key);
	block *b = s->blocks[at];
	int64_t place = place_of(b, key);
	b->n--;
	s->n--;
	memmove(b->keys + place, b->keys + place + 1, (size_t)(b->n - place) * sizeof *b->keys);
	if (at + 1 == s->n_blocks)
		at--;
	if (at < 0 || s->blocks[at]->n + s->blocks[at + 1]->n > BLOCK / 2)
		return;
	block *left = s->blocks[at], *right = s->blocks[at + 1];
	memcpy(left->keys + left->n, right->keys, (size_t)right->n * sizeof *right->keys);
	left->n += right->n;
	block_remove(s, at + 1);
}

/* One key for another: where both are in the only block, just what lies between them moves. */
static nk_status sorted_replace(sorted *s, int64_t old, int64_t new, nk_error *err)
{
	if (old == new)
		return NK_OK;
	if (s->n_blocks > 1) {
		sorted_remove(s, old);
		return sorted_insert(s, new, err);
	}
	block *b = s->blocks[0];
	int64_t from = place_of(b, old), to = place_of(b, new);
	if (to > from) {
		to--;
		memmove(b->keys + from, b->keys + from + 1, (size_t)(to - from) * sizeof *b->keys);
	} else {
		memmove(b->keys + to + 1, b->keys + to, (size_t)(from - to) * sizeof *b->keys);
	}
	b->keys[to] = new;
	return NK_OK;
}

static inline double sorted_get(const sorted *s, int64_t k)
{
	int64_t at = 0;
	while (k >= s->blocks[at]->n)
		k -= s->blocks[at++]->n;
	return nk_double_of_key(s->blocks[at]->keys[k]);
}

static double quantile_of(const sorted *s, double quantile, nk_interpolation interpolation)
{
	int64_t top = s->n - 1;
	double at = (double)top * quantile;
	at = at < 0 ? 0 : at > (double)top ? (double)top : at;
	int64_t low = (int64_t)floor(at), high = (int64_t)ceil(at);
	switch (interpolation) {
	case NK_NEAREST: return sorted_get(s, (int64_t)round(at));
	case NK_LOWER: return sorted_get(s, low);
	case NK_HIGHER: return sorted_get(s, high);
	case NK_EQUIPROBABLE: {
		int64_t k = (int64_t)ceil((double)s->n * quantile) - 1;
		return sorted_get(s, k < 0 ? 0 : k > top ? top : k);
	}
	case NK_MIDPOINT:
		return low == high ? sorted_get(s, low) : (sorted_get(s, low) + sorted_get(s, high)) / 2;
	case NK_LINEAR: break;
	}
	double below = sorted_get(s, low);
	return low == high ? below : below + (at - (double)low) * (sorted_get(s, high) - below);
}

static nk_status group(const nk_rolling *r, sorted *s, const double *values, const uint8_t *validity,
                       int64_t from, int64_t to, nk_array *result, nk_error *err)
{
	double *out = nk_array_values(result);
	int64_t start = from, end = from;
	sorted_clear(s);
	for (int64_t i = from; i < to; i++) {
		int64_t next_start, next_end;
		nk__rolling_window(r, i, from, to, &next_start, &next_end);
		if (next_start >= end) {
			sorted_clear(s);
			start = end = next_start;
		}
		/* the usual step: one row leaves, one enters */
		if (!validity && next_start == start + 1 && next_end == end + 1 && end > start) {
			NK_TRY(sorted_replace(s, nk_key_of_double(values[start]), nk_key_of_double(values[end]), err));
			start++;
			end++;
		}
		for (; start < next_start; start++)
			if (!validity || nk_bitmap_get(validity, start))
				sorted_remove(s, nk_key_of_double(values[start]));
		for (; end < next_end; end++)
			if (!validity || nk_bitmap_get(validity, end))
				NK_TRY(sorted_insert(s, nk_key_of_double(values[end]), err));
		if (s->n > 0 && s->n >= r->min_samples) {
			out[i] = quantile_of(s, r->quantile, r->interpolation);
		} else {
			out[i] = 0;
			nk_bitmap_clear(nk_array_validity(result), i);
		}
	}
	return NK_OK;
}

nk_status nk__rolling_quantiles(const nk_rolling *r, nk_memory *memory, const nk_array *array,
                                int64_t n_groups, const int64_t *offsets, nk_array *result, nk_error *err)
{
	sorted s = {.memory = memory};
	nk_status status = block_add(&s, 0, err);
	const uint8_t *validity = nk__may_have_nulls(array) ? array->validity : NULL;
	for (int64_t g = 0; status == NK_OK && g < n_groups; g++)
		status = group(r, &s, array->values, validity, offsets[g], offsets[g + 1], result, err);
	sorted_release(&s);
	return status;
}
