/* Matching a batch: find the first build row of every probe row at once, then make pairs and gather. Where a probe
 * row has at most one match and nothing else is asked, pairs are the found rows themselves; the general way walks
 * chains into a buffer of pairs, a batch's worth at a time, so that one row with many matches is no matter. */
#include "compute/select.h"
#include "exec/join_internal.h"

void nk__prober_release(nk_memory *memory, nk__prober *prober)
{
	nk_free(memory, prober->heads, prober->heads_capacity * 4);
	nk_free(memory, prober->matched, prober->matched_capacity);
	nk_free(memory, prober->probe_rows, prober->probe_capacity * 4);
	nk_free(memory, prober->build_rows, prober->build_capacity * 4);
	*prober = (nk__prober){.morsel = -1};
}

/* What a match works on. */
typedef struct match {
	nk_join *join;
	const nk_join_config *config;
	nk_memory *memory;
	nk__build_side *side;
	nk__prober *prober;
	const nk_batch *batch;
	const uint32_t *chain; /* NULL: at most one match each */
	uint32_t n_cross;      /* without keys: every build row matches */
	nk__emit *emit;
	void *data;
} match;

static inline uint32_t next_build_row(const match *at, uint32_t row)
{
	if (at->chain)
		return at->chain[row];
	return row < at->n_cross ? row + 1 : NK_JOIN_NO_ROW;
}

static inline void mark(const match *at, uint32_t build_row)
{
	__atomic_store_n(&at->side->marks[build_row - 1], 1, __ATOMIC_RELAXED);
}

static nk_status pairs_reserve(const match *at, int64_t n, nk_error *err)
{
	NK_TRY(NK_GROW(at->memory, &at->prober->probe_rows, &at->prober->probe_capacity, n + 16, err));
	return NK_GROW(at->memory, &at->prober->build_rows, &at->prober->build_capacity, n + 16, err);
}

/* ---- Gathering ---- */

typedef struct pairs {
	const uint32_t *probe_rows;
	const uint32_t *build_rows; /* from 1; 0 is none. NULL: probe columns only */
	int64_t n;
	bool has_unmatched;
} pairs;

/* Positions of build rows in the form that takes want. Texts of the build side are not gathered: they are its
 * columns as dictionaries, under one run of codes for all. */
typedef struct build_places {
	nk_buffer *buffer; /* int64 when optional, else uint32 */
	nk_buffer *codes, *present;
	bool optional;
} build_places;

static void build_places_release(build_places *places)
{
	nk_buffer_unref(places->buffer);
	nk_buffer_unref(places->codes);
	nk_buffer_unref(places->present);
}

static nk_status places_make(const match *at, const pairs *given, build_places *places, nk_error *err)
{
	places->optional = given->has_unmatched;
	NK_TRY(nk_buffer_new(at->memory, given->n * (places->optional ? 8 : 4), &places->buffer, err));
	if (places->optional) {
		int64_t *rows = (int64_t *)places->buffer->bytes;
		for (int64_t i = 0; i < given->n; i++)
			rows[i] = (int64_t)given->build_rows[i] - 1;
	} else {
		uint32_t *rows = (uint32_t *)places->buffer->bytes;
		for (int64_t i = 0; i < given->n; i++)
			rows[i] = given->build_rows[i] - 1;
	}
	return NK_OK;
}

static nk_status codes_make(const match *at, const pairs *given, build_places *places, nk_error *err)
{
	if (!places->optional) {
		places->codes = nk_buffer_ref(places->buffer);
		return NK_OK;
	}
	NK_TRY(nk_buffer_new(at->memory, given->n * 4, &places->codes, err));
	NK_TRY(nk_buffer_new_zeroed(at->memory, nk_bitmap_bytes(given->n), &places->present, err));
	uint32_t *codes = (uint32_t *)places->codes->bytes;
	for (int64_t i = 0; i < given->n; i++) {
		uint32_t row = given->build_rows[i];
		codes[i] = row ? row - 1 : 0;
		places->present->bytes[i >> 3] |= (uint8_t)((row != NK_JOIN_NO_ROW) << (i & 7));
	}
	return NK_OK;
}

static nk_status gather_build(const match *at, const pairs *given, build_places *places, nk_array *column,
                              nk_array **out, nk_error *err)
{
	if (column->physical == NK_PHYSICAL_VIEW && column->encoding == NK_FLAT && column->n_rows > 0 &&
	    nk_array_count_nulls(column) == 0) {
		if (!places->codes)
			NK_TRY(codes_make(at, given, places, err));
		return nk_array_new_dictionary(nk_array_ref(column), given->n, nk_buffer_ref(places->codes),
		                               nk_buffer_ref(places->present), places->optional ? -1 : 0, out, err);
	}
	const void *rows = places->buffer->bytes;
	return places->optional ? nk_array_take_optional(at->memory, column, rows, given->n, out, err)
	                        : nk_array_take(at->memory, column, rows, given->n, out, err);
}

static bool is_identity(const uint32_t *rows, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (rows[i] != i)
			return false;
	return true;
}

static nk_status gather(const match *at, const pairs *given, const nk_join_column *columns, int n_columns,
                        nk_array **out, nk_error *err)
{
	bool wants_build = false;
	for (int c = 0; c < n_columns; c++)
		wants_build |= columns[c].from_build;
	__attribute__((cleanup(build_places_release))) build_places places = {0};
	int coded = -1; /* the last probe column of codes: one gather serves all that share them */
	if (wants_build)
		NK_TRY(places_make(at, given, &places, err));
	bool whole = given->n == at->batch->n_rows && is_identity(given->probe_rows, given->n);
	for (int c = 0; c < n_columns; c++) {
		int column = columns[c].column;
		if (columns[c].from_build) {
			NK_TRY(gather_build(at, given, &places, at->side->rows->columns[column], &out[c], err));
			continue;
		}
		nk_array *array = at->batch->columns[column];
		if (whole) {
			out[c] = nk_array_ref(array);
			continue;
		}
		if (coded >= 0 && nk_array_same_codes(array, at->batch->columns[columns[coded].column])) {
			NK_TRY(nk_array_recode(out[coded], array->dictionary, &out[c], err));
			continue;
		}
		NK_TRY(nk_array_take(at->memory, array, given->probe_rows, given->n, &out[c], err));
		if (array->encoding == NK_DICTIONARY)
			coded = c;
	}
	return NK_OK;
}

static nk_status emit_some(const match *at, const pairs *given, nk_error *err)
{
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(at->config->n_outputs, given->n, &batch, err));
	NK_TRY(gather(at, given, at->config->outputs, at->config->n_outputs, batch->columns, err));
	nk__prober *prober = at->prober;
	if (prober->morsel != at->batch->morsel) {
		prober->morsel = at->batch->morsel;
		prober->next_number = 0;
	}
	batch->morsel = prober->morsel;
	batch->number = prober->next_number++;
	return at->emit(at->data, NK_STEAL(batch), err);
}

/* Pairs of any number, as batches of the usual size (a whole probe batch may pass as it is). */
static nk_status emit_pairs(const match *at, const pairs *given, nk_error *err)
{
	int64_t most = NK_MAX(at->join->exec->batch_rows, at->batch->n_rows);
	for (int64_t first = 0; first < given->n; first += most) {
		pairs some = *given;
		some.n = NK_MIN(most, given->n - first);
		some.probe_rows += first;
		if (some.build_rows)
			some.build_rows += first;
		NK_TRY(emit_some(at, &some, err));
	}
	return NK_OK;
}

/* ---- At most one match, no residual ---- */

/* Probe rows that were found, or were not. */
static nk_status emit_found(const match *at, bool found, nk_error *err)
{
	const uint32_t *heads = at->prober->heads;
	uint32_t *rows = at->prober->probe_rows;
	int64_t n = 0;
	for (int64_t i = 0; i < at->batch->n_rows; i++) {
		rows[n] = (uint32_t)i;
		n += (heads[i] != NK_JOIN_NO_ROW) == found;
	}
	return emit_pairs(at, &(pairs){.probe_rows = rows, .n = n}, err);
}

static nk_status emit_single_matches(const match *at, int64_t n_found, nk_error *err)
{
	const uint32_t *heads = at->prober->heads;
	uint32_t *probe_rows = at->prober->probe_rows, *build_rows = at->prober->build_rows;
	int64_t n = 0, n_rows = at->batch->n_rows;
	if (at->side->marks)
		for (int64_t i = 0; i < n_rows; i++)
			if (heads[i] != NK_JOIN_NO_ROW)
				mark(at, heads[i]);
	if (at->config->keep_probe || n_found == n_rows) {
		for (int64_t i = 0; i < n_rows; i++)
			probe_rows[i] = (uint32_t)i;
		return emit_pairs(at, &(pairs){probe_rows, heads, n_rows, n_found < n_rows}, err);
	}
	for (int64_t i = 0; i < n_rows; i++) {
		probe_rows[n] = (uint32_t)i;
		build_rows[n] = heads[i];
		n += heads[i] != NK_JOIN_NO_ROW;
	}
	return emit_pairs(at, &(pairs){probe_rows, build_rows, n, false}, err);
}

/* ---- Any number of matches ---- */

/* Keep the pairs that pass the residual. */
static nk_status filter_pairs(const match *at, int64_t *n, nk_error *err)
{
	const nk_join_config *config = at->config;
	nk__prober *prober = at->prober;
	if (!config->residual || *n == 0)
		return NK_OK;
	NK_AUTO(nk_batch) inputs = NULL;
	NK_TRY(nk_batch_new(config->n_residual_inputs, *n, &inputs, err));
	pairs all = {prober->probe_rows, prober->build_rows, *n, false};
	NK_TRY(gather(at, &all, config->residual_inputs, config->n_residual_inputs, inputs->columns, err));
	NK_AUTO(nk_array) result = NULL, *mask = NULL;
	NK_TRY(nk_program_run(config->residual, at->memory, inputs->columns, *n, &result, err));
	NK_TRY(nk_array_flatten(at->memory, result, &mask, err));
	int64_t n_kept = 0;
	for (int64_t i = 0; i < *n; i++) {
		prober->probe_rows[n_kept] = prober->probe_rows[i];
		prober->build_rows[n_kept] = prober->build_rows[i];
		n_kept += nk_array_is_valid(mask, i) && nk_bitmap_get(mask->values, i);
	}
	*n = n_kept;
	return NK_OK;
}

/* Pairs, with the rows of [*next_row, end) that have no match put between, none of them matched later. */
static nk_status emit_with_unmatched(const match *at, int64_t n_pairs, int64_t *next_row, int64_t end,
                                     nk_error *err)
{
	nk__prober *prober = at->prober;
	int64_t n_most = n_pairs + (end - *next_row);
	NK_AUTO(nk_buffer) block = NULL;
	NK_TRY(nk_buffer_new(at->memory, n_most * 8, &block, err));
	uint32_t *probe_rows = (uint32_t *)block->bytes, *build_rows = probe_rows + n_most;
	int64_t n = 0, pair = 0;
	for (int64_t row = *next_row; row < end || pair < n_pairs; row++) {
		for (; pair < n_pairs && prober->probe_rows[pair] == row; pair++, n++) {
			probe_rows[n] = (uint32_t)row;
			build_rows[n] = prober->build_rows[pair];
		}
		if (row < end && !prober->matched[row]) {
			probe_rows[n] = (uint32_t)row;
			build_rows[n++] = NK_JOIN_NO_ROW;
		}
	}
	*next_row = end;
	return emit_pairs(at, &(pairs){probe_rows, build_rows, n, true}, err);
}

static nk_status match_many(const match *at, nk_error *err)
{
	const nk_join_config *config = at->config;
	nk__prober *prober = at->prober;
	int64_t n_rows = at->batch->n_rows, most = NK_MAX(at->join->exec->batch_rows, (int64_t)1), row = 0,
			next_row = 0;
	bool pairs_wanted = config->output == NK_JOIN_OUTPUT_PAIRS;
	NK_TRY(pairs_reserve(at, NK_MAX(most, n_rows), err));
	NK_TRY(NK_GROW(at->memory, &prober->matched, &prober->matched_capacity, n_rows, err));
	memset(prober->matched, 0, (size_t)n_rows);
	uint32_t build_row = prober->heads[0];
	while (row < n_rows) {
		int64_t n = 0;
		while (row < n_rows && n < most) {
			if (build_row == NK_JOIN_NO_ROW) {
				if (++row < n_rows)
					build_row = prober->heads[row];
				continue;
			}
			prober->probe_rows[n] = (uint32_t)row;
			prober->build_rows[n++] = build_row;
			build_row = next_build_row(at, build_row);
		}
		NK_TRY(filter_pairs(at, &n, err));
		for (int64_t i = 0; i < n; i++)
			prober->matched[prober->probe_rows[i]] = 1;
		if (at->side->marks)
			for (int64_t i = 0; i < n; i++)
				mark(at, prober->build_rows[i]);
		if (pairs_wanted && config->keep_probe)
			NK_TRY(emit_with_unmatched(at, n, &next_row, row, err));
		else if (pairs_wanted)
			NK_TRY(emit_pairs(at, &(pairs){prober->probe_rows, prober->build_rows, n, false}, err));
		if (nk_exec_stopped(at->join->exec))
			return nk_watch_check(err); /* else another worker says what failed */
	}
	if (config->output != NK_JOIN_OUTPUT_SEMI && config->output != NK_JOIN_OUTPUT_ANTI)
		return NK_OK;
	int64_t n = 0;
	for (int64_t i = 0; i < n_rows; i++) {
		prober->probe_rows[n] = (uint32_t)i;
		n += prober->matched[i] == (config->output == NK_JOIN_OUTPUT_SEMI);
	}
	return emit_pairs(at, &(pairs){.probe_rows = prober->probe_rows, .n = n}, err);
}

nk_status nk__join_match(nk_join *join, nk__build_side *side, nk__prober *prober, const nk_batch *batch,
                         nk__emit *emit, void *data, nk_error *err)
{
	const nk_join_config *config = &join->config;
	match at = {.join = join,
	            .config = config,
	            .memory = join->exec->memory,
	            .side = side,
	            .prober = prober,
	            .batch = batch,
	            .emit = emit,
	            .data = data};
	int64_t n_rows = batch->n_rows, n_found = n_rows;
	NK_TRY(NK_GROW(at.memory, &prober->heads, &prober->heads_capacity, n_rows, err));
	NK_TRY(pairs_reserve(&at, n_rows, err));
	if (config->n_keys) {
		nk_array *few[8], **keys = few;
		NK_AUTO(nk_buffer) list = NULL;
		if (config->n_keys > NK_COUNT(few)) {
			NK_TRY(nk_buffer_new(at.memory, config->n_keys * (int64_t)sizeof *keys, &list, err));
			keys = (nk_array **)list->bytes;
		}
		for (int k = 0; k < config->n_keys; k++)
			keys[k] = batch->columns[config->probe_keys[k]];
		at.chain = nk_join_table_chain(side->table);
		NK_TRY(nk_join_table_probe(side->table, at.memory, keys, n_rows, prober->heads, &n_found, err));
	} else {
		at.n_cross = (uint32_t)side->rows->n_rows;
		for (int64_t i = 0; i < n_rows; i++)
			prober->heads[i] = at.n_cross ? 1 : NK_JOIN_NO_ROW;
	}
	if (config->residual)
		return match_many(&at, err);
	switch (config->output) {
	case NK_JOIN_OUTPUT_SEMI: return emit_found(&at, true, err);
	case NK_JOIN_OUTPUT_ANTI: return emit_found(&at, false, err);
	case NK_JOIN_OUTPUT_BUILD_SEMI:
	case NK_JOIN_OUTPUT_BUILD_ANTI: /* first rows are enough: the rest spreads marks along chains */
		for (int64_t i = 0; i < n_rows; i++)
			if (prober->heads[i] != NK_JOIN_NO_ROW)
				mark(&at, prober->heads[i]);
		return NK_OK;
	default:
		return at.chain || at.n_cross > 1 ? match_many(&at, err) : emit_single_matches(&at, n_found, err);
	}
}

/* ---- Build rows at the end ---- */

void nk__join_complete_marks(const nk_join *join, nk__build_side *side)
{
	const uint32_t *chain = side->table ? nk_join_table_chain(side->table) : NULL;
	if (join->config.residual || join->config.output == NK_JOIN_OUTPUT_PAIRS)
		return; /* every matching row was marked itself */
	if (!side->table) {
		if (side->n_marks && side->marks[0])
			memset(side->marks, 1, (size_t)side->n_marks);
		return;
	}
	for (int64_t row = 0; chain && row < side->n_marks; row++)
		if (side->marks[row] && chain[row + 1] != NK_JOIN_NO_ROW)
			side->marks[chain[row + 1] - 1] = 1;
}

nk_status nk__join_unmatched(const nk_join *join, const nk__build_side *side, int64_t first, int64_t n,
                             nk_batch **out, nk_error *err)
{
	const nk_join_config *config = &join->config;
	nk_memory *memory = join->exec->memory;
	uint8_t wanted = config->output == NK_JOIN_OUTPUT_BUILD_SEMI;
	*out = NULL;
	NK_AUTO(nk_buffer) block = NULL;
	NK_TRY(nk_buffer_new(memory, n * 4, &block, err));
	uint32_t *rows = (uint32_t *)block->bytes;
	int64_t n_kept = 0;
	for (int64_t i = 0; i < n; i++)
		if (side->marks[first + i] == wanted)
			rows[n_kept++] = (uint32_t)(first + i);
	if (n_kept == 0)
		return NK_OK;
	NK_AUTO(nk_batch) batch = NULL;
	NK_TRY(nk_batch_new(config->n_outputs, n_kept, &batch, err));
	for (int c = 0; c < config->n_outputs; c++) {
		const nk_join_column *column = &config->outputs[c];
		if (column->from_build)
			NK_TRY(nk_array_take(memory, side->rows->columns[column->column], rows, n_kept,
			                     &batch->columns[c], err));
		else
			NK_TRY(nk_array_new_null(memory, config->probe_dtypes[column->column], n_kept, &batch->columns[c],
			                         err));
	}
	*out = NK_STEAL(batch);
	return NK_OK;
}
