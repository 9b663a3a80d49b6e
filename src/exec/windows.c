/* Windows over an index, group by group: two bounds move over the sorted index, so finding them costs one pass. Rolling
 * windows belong to rows; dynamic ones lie on a grid, and only those with rows come out. Their rows are then laid out
 * window after window, in chunks of bounded size that workers take, and the grouped evaluator runs over each. Where
 * neighbouring windows share no row the layout is the input itself. */
#include <stdlib.h>
#include <string.h>

#include "columnar/time_zone.h"
#include "compute/group_table.h"
#include "compute/select.h"
#include "compute/sort.h"
#include "exec/each.h"
#include "exec/whole.h"

enum { CHUNK_ROWS = 1 << 18, CHUNK_WINDOWS = 1 << 16 };

typedef struct window {
	int64_t from, to; /* rows, as places in `order` */
	int64_t lower, upper, label;
	int64_t first; /* a row of its group */
} window;

typedef struct windows {
	const nk_exec *exec;
	const nk_windows_config *config;
	nk_memory *memory;
	const nk_zone *zone;
	int64_t n_rows;
	int64_t *index;  /* in the order of `order` */
	int64_t *order;  /* rows by group; NULL: as they come */
	int64_t *starts; /* of groups, and the end */
	int64_t n_groups;
	window *items;
	int64_t n, capacity;
	int64_t *chunks; /* first window of each, and the end */
	int64_t n_chunks, chunks_capacity;
	nk_array **inputs;
	nk_array **parts; /* results by chunk */
} windows;

/* ---- Steps ---- */

static int64_t to_local(const windows *self, int64_t at)
{
	if (self->zone)
		nk_zone_to_local(self->zone, &at, &at, self->config->per_second, 1);
	return at;
}

/* The instant of a local time computed from that at `original`. */
static int64_t from_local(const windows *self, int64_t local, int64_t original)
{
	if (!self->zone)
		return local;
	int64_t per = self->config->per_second, seconds = local / per - (local % per < 0), utc;
	int64_t rest = local - seconds * per, before = original / per - (original % per < 0);
	if (!nk_zone_resolve_like(self->zone, seconds, before, &utc))
		utc = seconds;
	return utc * per + rest;
}

static int64_t add(const windows *self, int64_t at, const nk_step *step)
{
	int64_t per_second = self->config->per_second;
	if (nk_step_has_days(step)) {
		int64_t local = nk_step_add_days(step, to_local(self, at), per_second);
		at = from_local(self, local, at);
	}
	return (int64_t)((uint64_t)at + (uint64_t)nk_step_ticks(step, per_second));
}

/* Where windows that begin at `start` stand to a value: behind it, in front of it, or around it (0). */
static int position(const windows *self, int64_t lower, int64_t upper, int64_t value)
{
	const nk_windows *how = &self->config->how;
	if (how->closed_right ? value > upper : value >= upper)
		return -1;
	return (how->closed_left ? value < lower : value <= lower) ? 1 : 0;
}

static nk_status add_window(windows *self, const window *item, nk_error *err)
{
	NK_TRY(NK_GROW(self->memory, &self->items, &self->capacity, self->n + 1, err));
	self->items[self->n++] = *item;
	return NK_OK;
}

/* ---- Finding windows ---- */

static nk_status roll(windows *self, int64_t from, int64_t to, int64_t first, nk_error *err)
{
	const nk_windows_config *config = self->config;
	int64_t start = from, end = from;
	for (int64_t i = from; i < to; i++) {
		int64_t at = self->index[i];
		int64_t lower = add(self, at, &config->offset), upper = add(self, lower, &config->period);
		while (start < to &&
		       (config->how.closed_left ? self->index[start] < lower : self->index[start] <= lower))
			start++;
		end = NK_MAX(end, start);
		while (end < to && (config->how.closed_right ? self->index[end] <= upper : self->index[end] < upper))
			end++;
		window item = {.from = start, .to = end, .lower = lower, .upper = upper, .label = at, .first = first};
		NK_TRY(add_window(self, &item, err));
	}
	return NK_OK;
}

static nk_status grid_start(const windows *self, int64_t at, int64_t *out, nk_error *err)
{
	const nk_windows_config *config = self->config;
	int64_t per_second = config->per_second;
	if (config->how.start == NK_START_DATAPOINT) {
		*out = at;
		return NK_OK;
	}
	nk_step_grid grid;
	nk_step week = {.weeks = 1};
	bool by_weekday = config->how.start >= NK_START_MONDAY;
	NK_TRY(nk_step_grid_init(&grid, by_weekday ? &week : &config->every, per_second, "truncate", err));
	int64_t local = nk_step_truncate(&grid, to_local(self, at));
	if (by_weekday)
		local += (int64_t)(config->how.start - NK_START_MONDAY) * 86400 * per_second;
	int64_t start = add(self, from_local(self, local, at), &config->offset);
	/* The first value lies in the first window or in front of the second. */
	nk_step back = config->every;
	back.is_negative = true;
	int64_t every = nk_step_has_days(&back) ? 0 : -nk_step_ticks(&back, per_second);
	if (every > 0 && start > at)
		start -= (start - at) / every * every;
	while (config->how.closed_left ? start > at : start >= at)
		start = add(self, start, &back);
	*out = start;
	return NK_OK;
}

static nk_status lay_grid(windows *self, int64_t from, int64_t to, int64_t first, nk_error *err)
{
	const nk_windows_config *config = self->config;
	const nk_windows *how = &config->how;
	const int64_t *index = self->index;
	int64_t lower, start = from, end = from;
	NK_TRY(grid_start(self, index[from], &lower, err));
	int64_t every = nk_step_has_days(&config->every) ? 0 : nk_step_ticks(&config->every, config->per_second);
	bool steady = every > 0 && !nk_step_has_days(&config->period);
	for (;;) {
		int64_t upper = add(self, lower, &config->period);
		if (lower > index[to - 1])
			return NK_OK;
		while (start < to && (how->closed_left ? index[start] < lower : index[start] <= lower))
			start++;
		end = NK_MAX(end, start);
		while (end < to && (how->closed_right ? index[end] <= upper : index[end] < upper))
			end++;
		if (end > start) {
			window item = {.from = start, .to = end, .lower = lower, .upper = upper, .first = first};
			item.label = how->label == NK_LABEL_LEFT    ? lower
			             : how->label == NK_LABEL_RIGHT ? upper
			                                            : index[start];
			NK_TRY(add_window(self, &item, err));
		} else if (start == to) {
			return NK_OK;
		} else if (steady && position(self, lower, upper, index[start]) < 0) {
			/* Nothing until the next value: go there at once. */
			int64_t steps = (index[start] - upper) / every - 1;
			if (steps > 0)
				lower += steps * every;
		}
		int64_t next = add(self, lower, &config->every);
		if (next <= lower)
			return nk_fail(err, NK_COMPUTE, "'every' argument must be positive");
		lower = next;
	}
}

static nk_status not_sorted(const windows *self, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION,
	               "argument in operation '%s' is not sorted, please sort the 'expr/series/column' first",
	               self->config->how.is_rolling ? "rolling" : "group_by_dynamic");
}

static nk_status find_windows(windows *self, nk_error *err)
{
	for (int64_t g = 0; g < self->n_groups; g++) {
		int64_t from = self->starts[g], to = self->starts[g + 1];
		if (from == to)
			continue;
		for (int64_t i = from + 1; i < to; i++)
			if (self->index[i - 1] > self->index[i])
				return not_sorted(self, err);
		int64_t first = self->order ? self->order[from] : from;
		NK_TRY(self->config->how.is_rolling ? roll(self, from, to, first, err)
		                                    : lay_grid(self, from, to, first, err));
	}
	return NK_OK;
}

/* ---- Rows by group ---- */

static int64_t day_ticks(const windows *self) { return 86400 * self->config->per_second; }

static nk_status read_index(windows *self, nk_error *err)
{
	const nk_windows_config *config = self->config;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(nk_collection_array(config->input, config->index, 0, self->n_rows, &array, err));
	int64_t n_nulls = nk_array_count_nulls(array);
	if (n_nulls == self->n_rows && n_nulls > 0 && config->how.is_rolling && config->n_keys == 0)
		return nk_fail(err, NK_COMPUTE, "null values in `rolling` not supported, fill nulls.");
	if (n_nulls)
		return config->how.is_rolling && config->n_keys == 0
		           ? not_sorted(self, err)
		           : nk_fail(err, NK_COMPUTE, "null values in %s not supported, fill nulls.",
		                     config->how.is_rolling ? "`rolling`" : "dynamic group_by");
	NK_TRY(nk_alloc(self->memory, self->n_rows * 8, (void **)&self->index, err));
	for (int64_t i = 0; i < self->n_rows; i++) {
		int64_t row = self->order ? self->order[i] : i;
		switch (array->physical) {
		case NK_PHYSICAL_I32: self->index[i] = ((const int32_t *)array->values)[row]; break;
		case NK_PHYSICAL_U32: self->index[i] = ((const uint32_t *)array->values)[row]; break;
		default: self->index[i] = ((const int64_t *)array->values)[row]; break;
		}
		if (config->index_dtype->id == NK_TYPE_DATE)
			self->index[i] *= day_ticks(self);
	}
	return NK_OK;
}

/* Groups in the order of their keys, rows in theirs. */
static nk_status group_rows(windows *self, nk_array **keys, nk_error *err)
{
	const nk_windows_config *config = self->config;
	NK_AUTO(nk_group_table) table = NULL;
	NK_AUTO(nk_buffer) groups = NULL, *sorted = NULL;
	nk_memory *memory = self->memory;
	NK_TRY(nk_buffer_new(memory, self->n_rows * 4 + 4, &groups, err));
	NK_TRY(nk_group_table_new(memory, config->key_dtypes, config->n_keys, 0, &table, err));
	uint32_t *group_of = (uint32_t *)(void *)groups->bytes;
	NK_TRY(nk_group_table_insert(table, keys, self->n_rows, group_of, err));
	int64_t n = nk_group_table_n_groups(table);
	self->n_groups = n;
	NK_TRY(nk_buffer_new(memory, n * 8 + 8, &sorted, err));
	uint32_t *rows = (uint32_t *)(void *)sorted->bytes, *rank = rows + n;
	nk_array **found = calloc((size_t)config->n_keys, sizeof *found);
	nk_sort_key *specs = calloc((size_t)config->n_keys, sizeof *specs);
	nk_status status = found && specs ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for keys");
	if (status == NK_OK)
		status = nk_group_table_keys(table, 0, n, found, err);
	if (status == NK_OK)
		status = nk_sort_rows(memory, NULL, found, specs, config->n_keys, n, rows, err);
	for (int k = 0; found && k < config->n_keys; k++)
		nk_array_unref(found[k]);
	free(found);
	free(specs);
	NK_TRY(status);
	for (int64_t i = 0; i < n; i++)
		rank[rows[i]] = (uint32_t)i;
	NK_TRY(nk_alloc(memory, (n + 1) * 8, (void **)&self->starts, err));
	NK_TRY(nk_alloc(memory, self->n_rows * 8, (void **)&self->order, err));
	memset(self->starts, 0, (size_t)(n + 1) * 8);
	for (int64_t i = 0; i < self->n_rows; i++)
		self->starts[rank[group_of[i]] + 1]++;
	for (int64_t g = 0; g < n; g++)
		self->starts[g + 1] += self->starts[g];
	for (int64_t i = 0; i < self->n_rows; i++)
		self->order[self->starts[rank[group_of[i]]]++] = i;
	for (int64_t g = n; g > 0; g--)
		self->starts[g] = self->starts[g - 1];
	self->starts[0] = 0;
	return NK_OK;
}

/* ---- Evaluation ---- */

static nk_status cut_chunks(windows *self, nk_error *err)
{
	int64_t rows = 0, since = 0;
	for (int64_t i = 0; i <= self->n; i++) {
		bool ends = i == self->n || i - since >= CHUNK_WINDOWS || rows >= CHUNK_ROWS;
		if (i == 0 || ends) {
			NK_TRY(NK_GROW(self->memory, &self->chunks, &self->chunks_capacity, self->n_chunks + 2, err));
			self->chunks[self->n_chunks++] = i;
			since = i;
			rows = 0;
		}
		if (i < self->n)
			rows += self->items[i].to - self->items[i].from;
	}
	self->n_chunks = self->n ? self->n_chunks - 1 : 0;
	return NK_OK;
}

static nk_status run_chunk(void *data, int64_t item, int worker, nk_error *err)
{
	(void)worker;
	windows *self = data;
	const nk_windows_config *config = self->config;
	nk_memory *memory = self->memory;
	const window *items = self->items + self->chunks[item];
	int64_t n = self->chunks[item + 1] - self->chunks[item], n_rows = 0;
	NK_AUTO(nk_buffer) offsets = NULL, *rows = NULL;
	NK_TRY(nk_buffer_new(memory, (n + 1) * 8, &offsets, err));
	int64_t *at = (int64_t *)(void *)offsets->bytes;
	at[0] = 0;
	bool adjacent = !self->order;
	for (int64_t i = 0; i < n; i++) {
		n_rows += items[i].to - items[i].from;
		at[i + 1] = n_rows;
		adjacent &= i == 0 || items[i - 1].to == items[i].from;
	}
	if (!adjacent) {
		NK_TRY(nk_buffer_new(memory, n_rows * 8, &rows, err));
		int64_t *to = (int64_t *)(void *)rows->bytes;
		for (int64_t i = 0; i < n; i++)
			for (int64_t row = items[i].from; row < items[i].to; row++)
				*to++ = self->order ? self->order[row] : row;
	}
	nk_array **laid = calloc((size_t)config->n_inputs + 1, sizeof *laid);
	nk_status status = laid ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for windows");
	for (int i = 0; status == NK_OK && i < config->n_inputs; i++)
		status = adjacent ? nk_array_slice(memory, self->inputs[i], items[0].from, n_rows, &laid[i], err)
		                  : nk_array_take_wide(memory, self->inputs[i], (int64_t *)(void *)rows->bytes,
		                                       n_rows, &laid[i], err);
	if (status == NK_OK)
		status = nk_program_run_groups(config->groups, memory, laid, n_rows, at, n,
		                               self->parts + item * config->n_results, err);
	for (int i = 0; laid && i < config->n_inputs; i++)
		nk_array_unref(laid[i]);
	free(laid);
	return status;
}

static nk_status evaluate(windows *self, nk_array **results, nk_error *err)
{
	const nk_windows_config *config = self->config;
	NK_TRY(cut_chunks(self, err));
	int n = config->n_results;
	self->parts = calloc((size_t)(self->n_chunks * n + 1), sizeof *self->parts);
	self->inputs = calloc((size_t)config->n_inputs + 1, sizeof *self->inputs);
	nk_array **of_one = calloc((size_t)self->n_chunks + 1, sizeof *of_one);
	nk_status status = self->parts && self->inputs && of_one
	                       ? NK_OK
	                       : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for windows");
	for (int i = 0; status == NK_OK && i < config->n_inputs; i++)
		status =
			nk_collection_array(config->input, config->positions[i], 0, self->n_rows, &self->inputs[i], err);
	if (status == NK_OK && n)
		status = nk_exec_each(self->exec, self->n_chunks, run_chunk, self, err);
	for (int r = 0; status == NK_OK && r < n; r++) {
		for (int64_t c = 0; c < self->n_chunks; c++)
			of_one[c] = self->parts[c * n + r];
		if (self->n_chunks)
			status = nk_array_concat(self->memory, of_one, (int)self->n_chunks, &results[r], err);
		else
			status = nk_array_new_null(self->memory, config->result_dtypes[r], 0, &results[r], err);
	}
	for (int64_t i = 0; self->parts && i < self->n_chunks * n; i++)
		nk_array_unref(self->parts[i]);
	for (int i = 0; self->inputs && i < config->n_inputs; i++)
		nk_array_unref(self->inputs[i]);
	free(self->parts);
	free(self->inputs);
	free(of_one);
	return status;
}

typedef enum part { PART_LOWER, PART_UPPER, PART_LABEL } part;

static nk_status column_of(const windows *self, part which, nk_array **out, nk_error *err)
{
	const nk_dtype *dtype = self->config->index_dtype;
	nk_physical physical = dtype->physical;
	if (which != PART_LABEL && dtype->id == NK_TYPE_DATE) {
		dtype = nk_dtype_datetime(NK_UNIT_US, NULL);
		physical = NK_PHYSICAL_I64;
	}
	NK_TRY(nk_array_alloc(self->memory, dtype, physical, self->n, false, out, err));
	void *values = nk_array_values(*out);
	int64_t day = dtype->id == NK_TYPE_DATE ? day_ticks(self) : 0;
	for (int64_t i = 0; i < self->n; i++) {
		const window *item = &self->items[i];
		int64_t value = which == PART_LOWER ? item->lower : which == PART_UPPER ? item->upper : item->label;
		if (day)
			value = value / day - (value % day < 0);
		if (physical == NK_PHYSICAL_I64 || physical == NK_PHYSICAL_U64)
			((int64_t *)values)[i] = value;
		else
			((int32_t *)values)[i] = (int32_t)value;
	}
	return NK_OK;
}

static nk_status make(windows *self, nk_array **columns, nk_error *err)
{
	const nk_windows_config *config = self->config;
	self->n_rows = nk_collection_n_rows(config->input);
	if (config->index_dtype->time_zone)
		NK_TRY(nk_zone_find(config->index_dtype->time_zone, &self->zone, err));
	int at = 0, n_keys = config->n_keys;
	nk_array **keys = calloc((size_t)n_keys + 1, sizeof *keys);
	nk_status status = keys ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for keys");
	for (int k = 0; status == NK_OK && k < n_keys; k++)
		status = nk_collection_array(config->input, config->keys[k], 0, self->n_rows, &keys[k], err);
	if (status == NK_OK && n_keys) {
		status = group_rows(self, keys, err);
	} else if (status == NK_OK) {
		self->n_groups = 1;
		status = nk_alloc(self->memory, 2 * 8, (void **)&self->starts, err);
		if (status == NK_OK) {
			self->starts[0] = 0;
			self->starts[1] = self->n_rows;
		}
	}
	if (status == NK_OK)
		status = read_index(self, err);
	if (status == NK_OK)
		status = find_windows(self, err);
	NK_AUTO(nk_buffer) firsts = NULL;
	if (status == NK_OK)
		status = nk_buffer_new(self->memory, self->n * 8, &firsts, err);
	for (int64_t i = 0; status == NK_OK && i < self->n; i++)
		((int64_t *)(void *)firsts->bytes)[i] = self->items[i].first;
	for (int k = 0; status == NK_OK && k < n_keys; k++)
		status = nk_array_take_wide(self->memory, keys[k], (int64_t *)(void *)firsts->bytes, self->n,
		                            &columns[at++], err);
	for (int k = 0; keys && k < n_keys; k++)
		nk_array_unref(keys[k]);
	free(keys);
	NK_TRY(status);
	if (config->how.with_bounds) {
		NK_TRY(column_of(self, PART_LOWER, &columns[at++], err));
		NK_TRY(column_of(self, PART_UPPER, &columns[at++], err));
	}
	NK_TRY(column_of(self, PART_LABEL, &columns[at++], err));
	return evaluate(self, columns + at, err);
}

nk_status nk__windows_make(const nk_exec *exec, const void *data, nk_array **columns, int64_t *n_rows,
                           nk_error *err)
{
	windows self = {.exec = exec, .config = data, .memory = exec->memory};
	nk_status status = make(&self, columns, err);
	*n_rows = self.n;
	if (self.index)
		nk_free(self.memory, self.index, self.n_rows * 8);
	if (self.order)
		nk_free(self.memory, self.order, self.n_rows * 8);
	if (self.starts)
		nk_free(self.memory, self.starts, (self.n_groups + 1) * 8);
	nk_free(self.memory, self.items, self.capacity * (int64_t)sizeof *self.items);
	nk_free(self.memory, self.chunks, self.chunks_capacity * (int64_t)sizeof *self.chunks);
	return status;
}
