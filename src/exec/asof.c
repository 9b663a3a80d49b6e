/* Each left row's nearest row on the right. Right rows lie group by group (by keys), ascending within; every worker keeps
 * one cursor a group and walks left rows in their order, so that sorted sides merge: a cursor gallops forwards from
 * where it was, and goes back only where left rows are not in order. Values are compared as unsigned words of the same
 * order; text is ranked first. */
#include <stdlib.h>
#include <string.h>

#include "compute/group_table.h"
#include "compute/select.h"
#include "compute/sort.h"
#include "exec/each.h"
#include "exec/whole.h"

enum { ROWS_PER_TASK = 1 << 16 };

typedef struct asof {
	const nk_exec *exec;
	const nk_asof_config *config;
	nk_array *left_on, *right_on;
	uint64_t *left, *right; /* words; right: in the order of right_rows */
	int64_t n_left, n_right;
	int64_t *right_rows; /* rows by group, those with a null left out */
	int64_t *starts;     /* of groups in right_rows, and the end */
	int64_t n_groups;
	uint32_t *left_groups; /* NULL: all rows are in group 0 */
	int64_t **cursors;     /* by worker */
	int64_t *matches;      /* right row of each left row, or -1 */
} asof;

static bool is_float(const nk_array *array)
{
	return array->physical == NK_PHYSICAL_F32 || array->physical == NK_PHYSICAL_F64;
}

static uint64_t float_word(double value)
{
	uint64_t bits;
	if (value != value)
		return UINT64_MAX;
	value += 0.0; /* one zero */
	memcpy(&bits, &value, sizeof bits);
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline __attribute__((always_inline)) void make_words(const nk_array *array, nk_physical as,
                                                             uint64_t *out)
{
	const uint64_t flip = UINT64_C(1) << 63;
	const void *values = array->values;
	for (int64_t i = 0; i < array->n_rows; i++)
		switch (as) {
		case NK_PHYSICAL_I8: out[i] = (uint64_t)((const int8_t *)values)[i] ^ flip; break;
		case NK_PHYSICAL_I16: out[i] = (uint64_t)((const int16_t *)values)[i] ^ flip; break;
		case NK_PHYSICAL_I32: out[i] = (uint64_t)((const int32_t *)values)[i] ^ flip; break;
		case NK_PHYSICAL_I64: out[i] = (uint64_t)((const int64_t *)values)[i] ^ flip; break;
		case NK_PHYSICAL_U8: out[i] = ((const uint8_t *)values)[i]; break;
		case NK_PHYSICAL_U16: out[i] = ((const uint16_t *)values)[i]; break;
		case NK_PHYSICAL_U32: out[i] = ((const uint32_t *)values)[i]; break;
		case NK_PHYSICAL_F32: out[i] = float_word((double)((const float *)values)[i]); break;
		case NK_PHYSICAL_F64: out[i] = float_word(((const double *)values)[i]); break;
		default: out[i] = ((const uint64_t *)values)[i]; break;
		}
}

static nk_status words_of(const nk_array *array, uint64_t *out, nk_error *err)
{
	switch (array->physical) {
	case NK_PHYSICAL_I8: make_words(array, NK_PHYSICAL_I8, out); return NK_OK;
	case NK_PHYSICAL_I16: make_words(array, NK_PHYSICAL_I16, out); return NK_OK;
	case NK_PHYSICAL_I32: make_words(array, NK_PHYSICAL_I32, out); return NK_OK;
	case NK_PHYSICAL_I64: make_words(array, NK_PHYSICAL_I64, out); return NK_OK;
	case NK_PHYSICAL_U8: make_words(array, NK_PHYSICAL_U8, out); return NK_OK;
	case NK_PHYSICAL_U16: make_words(array, NK_PHYSICAL_U16, out); return NK_OK;
	case NK_PHYSICAL_U32: make_words(array, NK_PHYSICAL_U32, out); return NK_OK;
	case NK_PHYSICAL_U64: make_words(array, NK_PHYSICAL_U64, out); return NK_OK;
	case NK_PHYSICAL_F32: make_words(array, NK_PHYSICAL_F32, out); return NK_OK;
	case NK_PHYSICAL_F64: make_words(array, NK_PHYSICAL_F64, out); return NK_OK;
	default: break;
	}
	return nk_fail(err, NK_INVALID_OPERATION, "join_asof is not supported on columns of dtype `%s`",
	               nk_dtype_short_name(array->dtype));
}

/* Both sides' texts as places in their common order. */
static nk_status rank_texts(asof *self, nk_error *err)
{
	nk_memory *memory = self->exec->memory;
	nk_array *sides[2] = {self->left_on, self->right_on};
	NK_AUTO(nk_array) both = NULL;
	NK_TRY(nk_array_concat(memory, sides, 2, &both, err));
	if (both->n_rows >= UINT32_MAX)
		return nk_fail(err, NK_COMPUTE, "join_asof on text takes less than 2^32 rows");
	NK_AUTO(nk_buffer) sorted = NULL;
	NK_TRY(nk_buffer_new(memory, both->n_rows * 4 + 4, &sorted, err));
	uint32_t *rows = (uint32_t *)(void *)sorted->bytes;
	nk_sort_key ascending = {0};
	NK_TRY(nk_sort_rows(memory, NULL, &both, &ascending, 1, both->n_rows, rows, err));
	const nk_view *views = both->values;
	uint64_t rank = 0;
	for (int64_t i = 0; i < both->n_rows; i++) {
		int64_t row = rows[i];
		rank += i > 0 && !nk_view_equal(&views[rows[i - 1]], both->heap, &views[row], both->heap);
		if (row < self->n_left)
			self->left[row] = rank;
		else
			self->right[row - self->n_left] = rank;
	}
	return NK_OK;
}

static nk_status check_sorted(const nk_array *array, const uint64_t *words, nk_error *err)
{
	bool seen = false, sorted = true; /* nulls come first */
	for (int64_t i = 0; i < array->n_rows && sorted; i++) {
		bool valid = nk_array_is_valid(array, i);
		sorted = valid ? !seen || words[i - 1] <= words[i] : !seen;
		seen |= valid;
	}
	if (sorted)
		return NK_OK;
	return nk_fail(
		err, NK_INVALID_OPERATION,
		"argument in operation 'asof_join' is not sorted, please sort the 'expr/series/column' first");
}

static nk_status columns_of(nk_collection *from, const int *positions, int n, nk_array **out, nk_error *err)
{
	for (int i = 0; i < n; i++)
		NK_TRY(nk_collection_array(from, positions[i], 0, nk_collection_n_rows(from), &out[i], err));
	return NK_OK;
}

/* Groups of both sides' rows; UINT32_MAX where the other side has none or a key is null. */
static nk_status group_sides(asof *self, uint32_t *right_groups, nk_error *err)
{
	const nk_asof_config *config = self->config;
	int n = config->n_by;
	NK_AUTO(nk_group_table) table = NULL;
	nk_array **keys = calloc((size_t)n * 2 + 1, sizeof *keys);
	nk_status status = keys ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for keys");
	if (status == NK_OK)
		status = nk_group_table_new(self->exec->memory, config->by_dtypes, n, 0, &table, err);
	if (status == NK_OK)
		status = columns_of(config->right, config->by_right, n, keys, err);
	if (status == NK_OK)
		status = columns_of(config->left, config->by_left, n, keys + n, err);
	if (status == NK_OK)
		status = nk_group_table_insert(table, keys, self->n_right, right_groups, err);
	if (status == NK_OK)
		status = nk_group_table_find(table, keys + n, self->n_left, self->left_groups, err);
	for (int k = 0; status == NK_OK && k < n; k++) {
		for (int64_t i = 0; keys[k]->validity && i < self->n_right; i++)
			if (!nk_array_is_valid(keys[k], i))
				right_groups[i] = UINT32_MAX;
		for (int64_t i = 0; keys[n + k]->validity && i < self->n_left; i++)
			if (!nk_array_is_valid(keys[n + k], i))
				self->left_groups[i] = UINT32_MAX;
	}
	if (status == NK_OK)
		self->n_groups = nk_group_table_n_groups(table);
	for (int i = 0; keys && i < 2 * n; i++)
		nk_array_unref(keys[i]);
	free(keys);
	return status;
}

/* Right rows by group, in their order; words follow. */
static nk_status lay_out_right(asof *self, const uint32_t *groups, nk_error *err)
{
	nk_memory *memory = self->exec->memory;
	int64_t n = self->n_right, n_groups = self->n_groups;
	NK_TRY(nk_alloc(memory, (n_groups + 1) * 8, (void **)&self->starts, err));
	NK_TRY(nk_alloc(memory, n * 8, (void **)&self->right_rows, err));
	memset(self->starts, 0, (size_t)(n_groups + 1) * 8);
	for (int64_t i = 0; i < n; i++)
		if (nk_array_is_valid(self->right_on, i) && (!groups || groups[i] != UINT32_MAX))
			self->starts[(groups ? groups[i] : 0) + 1]++;
	for (int64_t g = 0; g < n_groups; g++)
		self->starts[g + 1] += self->starts[g];
	for (int64_t i = 0; i < n; i++)
		if (nk_array_is_valid(self->right_on, i) && (!groups || groups[i] != UINT32_MAX))
			self->right_rows[self->starts[groups ? groups[i] : 0]++] = i;
	for (int64_t g = n_groups; g > 0; g--)
		self->starts[g] = self->starts[g - 1];
	self->starts[0] = 0;
	uint64_t *laid;
	NK_TRY(nk_alloc(memory, n * 8, (void **)&laid, err));
	for (int64_t i = 0; i < self->starts[n_groups]; i++)
		laid[i] = self->right[self->right_rows[i]];
	nk_free(memory, self->right, n * 8);
	self->right = laid;
	return NK_OK;
}

/* The first of words[at, end) that is no less (or, past: greater) than word; all before `at` are less. */
static int64_t gallop(const uint64_t *words, int64_t at, int64_t end, uint64_t word, bool past)
{
	int64_t step = 1, low = at;
	while (at < end && (past ? words[at] <= word : words[at] < word)) {
		low = at + 1;
		at += step;
		step *= 2;
	}
	int64_t high = NK_MIN(at, end);
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (past ? words[middle] <= word : words[middle] < word)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double float_at(const nk_array *array, int64_t row)
{
	return array->physical == NK_PHYSICAL_F32 ? (double)((const float *)array->values)[row]
	                                          : ((const double *)array->values)[row];
}

static bool is_near(const asof *self, int64_t row, int64_t place)
{
	if (!self->config->has_tolerance)
		return true;
	if (is_float(self->left_on)) {
		double apart = float_at(self->left_on, row) - float_at(self->right_on, self->right_rows[place]);
		return (apart < 0 ? -apart : apart) <= self->config->tolerance_float;
	}
	uint64_t a = self->left[row], b = self->right[place], apart = a < b ? b - a : a - b;
	return self->config->tolerance >= 0 && apart <= (uint64_t)self->config->tolerance;
}

/* Whether the row at `after` is at least as near as that at `before`. */
static bool is_nearer(const asof *self, int64_t row, int64_t before, int64_t after)
{
	if (is_float(self->left_on)) {
		double at = float_at(self->left_on, row);
		return float_at(self->right_on, self->right_rows[after]) - at <=
		       at - float_at(self->right_on, self->right_rows[before]);
	}
	return self->right[after] - self->left[row] <= self->left[row] - self->right[before];
}

static nk_status match_rows(void *data, int64_t item, int worker, nk_error *err)
{
	(void)err;
	asof *self = data;
	const nk_asof_config *config = self->config;
	int64_t *cursors = self->cursors[worker];
	int64_t from = item * ROWS_PER_TASK, to = NK_MIN(self->n_left, from + ROWS_PER_TASK);
	bool exact = config->exact_matches;
	for (int64_t i = from; i < to; i++) {
		uint32_t group = self->left_groups ? self->left_groups[i] : 0;
		self->matches[i] = -1;
		if (group == UINT32_MAX || !nk_array_is_valid(self->left_on, i))
			continue;
		int64_t start = self->starts[group], end = self->starts[group + 1];
		uint64_t word = self->left[i];
		int64_t low = start + cursors[group];
		if (low > start && self->right[low - 1] >= word)
			low = start;
		low = gallop(self->right, low, end, word, false); /* rows before it are less */
		cursors[group] = low - start;
		int64_t high = gallop(self->right, low, end, word, true); /* rows from it on are greater */
		int64_t before = (exact ? high : low) - 1, after = exact ? low : high, found = -1;
		switch (config->strategy) {
		case NK_ASOF_BACKWARD: found = before >= start ? before : -1; break;
		case NK_ASOF_FORWARD: found = after < end ? after : -1; break;
		case NK_ASOF_NEAREST:
			found = before >= start ? before : -1;
			if ((!exact || high == low) && high < end && (found < 0 || is_nearer(self, i, found, high)))
				found = gallop(self->right, high, end, self->right[high], true) - 1;
			break;
		}
		if (found >= 0 && is_near(self, i, found))
			self->matches[i] = self->right_rows[found];
	}
	return NK_OK;
}

static nk_status match(asof *self, nk_error *err)
{
	const nk_asof_config *config = self->config;
	nk_memory *memory = self->exec->memory;
	self->n_left = nk_collection_n_rows(config->left);
	self->n_right = nk_collection_n_rows(config->right);
	NK_TRY(nk_collection_array(config->left, config->on_left, 0, self->n_left, &self->left_on, err));
	NK_TRY(nk_collection_array(config->right, config->on_right, 0, self->n_right, &self->right_on, err));
	NK_TRY(nk_alloc(memory, self->n_left * 8, (void **)&self->left, err));
	NK_TRY(nk_alloc(memory, self->n_right * 8, (void **)&self->right, err));
	NK_TRY(nk_alloc(memory, self->n_left * 8, (void **)&self->matches, err));
	if (self->left_on->physical == NK_PHYSICAL_VIEW) {
		if (config->strategy == NK_ASOF_NEAREST)
			return nk_fail(err, NK_INVALID_OPERATION,
			               "AsOf strategy \"nearest\" is not supported for binary data type");
		NK_TRY(rank_texts(self, err));
	} else {
		NK_TRY(words_of(self->left_on, self->left, err));
		NK_TRY(words_of(self->right_on, self->right, err));
	}
	self->n_groups = 1;
	if (config->n_by == 0) {
		if (config->check_sorted) {
			NK_TRY(check_sorted(self->left_on, self->left, err));
			NK_TRY(check_sorted(self->right_on, self->right, err));
		}
		NK_TRY(lay_out_right(self, NULL, err));
	} else {
		NK_AUTO(nk_buffer) groups = NULL;
		NK_TRY(nk_buffer_new(memory, self->n_right * 4, &groups, err));
		NK_TRY(nk_alloc(memory, self->n_left * 4, (void **)&self->left_groups, err));
		NK_TRY(group_sides(self, (uint32_t *)(void *)groups->bytes, err));
		NK_TRY(lay_out_right(self, (uint32_t *)(void *)groups->bytes, err));
	}
	self->cursors = calloc((size_t)self->exec->n_workers, sizeof *self->cursors);
	if (!self->cursors)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for cursors");
	for (int w = 0; w < self->exec->n_workers; w++) {
		NK_TRY(nk_alloc(memory, self->n_groups * 8 + 8, (void **)&self->cursors[w], err));
		memset(self->cursors[w], 0, (size_t)self->n_groups * 8 + 8);
	}
	return nk_exec_each(self->exec, (self->n_left + ROWS_PER_TASK - 1) / ROWS_PER_TASK, match_rows, self,
	                    err);
}

static void release(asof *self)
{
	nk_memory *memory = self->exec->memory;
	nk_array_unref(self->left_on);
	nk_array_unref(self->right_on);
	if (self->left)
		nk_free(memory, self->left, self->n_left * 8);
	if (self->right)
		nk_free(memory, self->right, self->n_right * 8);
	if (self->matches)
		nk_free(memory, self->matches, self->n_left * 8);
	if (self->left_groups)
		nk_free(memory, self->left_groups, self->n_left * 4);
	if (self->starts)
		nk_free(memory, self->starts, (self->n_groups + 1) * 8);
	if (self->right_rows)
		nk_free(memory, self->right_rows, self->n_right * 8);
	for (int w = 0; self->cursors && w < self->exec->n_workers; w++)
		if (self->cursors[w])
			nk_free(memory, self->cursors[w], self->n_groups * 8 + 8);
	free(self->cursors);
}

typedef struct gather {
	asof *self;
	nk_array **columns;
} gather;

static nk_status gather_column(void *data, int64_t item, int worker, nk_error *err)
{
	(void)worker;
	gather *g = data;
	const nk_asof_config *config = g->self->config;
	int place = config->outputs[item];
	if (place >= 0)
		return nk_collection_array(config->left, place, 0, g->self->n_left, &g->columns[item], err);
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_collection_array(config->right, -1 - place, 0, g->self->n_right, &array, err));
	return nk_array_take_optional(g->self->exec->memory, array, g->self->matches, g->self->n_left,
	                              &g->columns[item], err);
}

nk_status nk__asof_make(const nk_exec *exec, const void *data, nk_array **columns, int64_t *n_rows,
                        nk_error *err)
{
	asof self = {.exec = exec, .config = data};
	nk_status status = match(&self, err);
	gather columns_of_result = {&self, columns};
	if (status == NK_OK)
		status = nk_exec_each(exec, self.config->n_outputs, gather_column, &columns_of_result, err);
	*n_rows = self.n_left;
	release(&self);
	return status;
}
