/* What a run was bound by. All threads' time from begin to end is shared out: reading, decompressing and decoding are what
 * scans counted, computing is the rest of the CPU's time, waiting is what no thread used. The largest share names the
 * bound; counters of single nodes say what could be done about it, in sentences that name the numbers they rest on. */
#include <stdlib.h>

#include "plan/explain_internal.h"

enum { ADVICE_MOST = 24 };

/* Of a device that nobody has measured. */
static const double LINK_BYTES_PER_SECOND = 25e9, DEVICE_BYTES_PER_SECOND = 1e12;

typedef enum share { READ, DECOMPRESS, DECODE, COMPUTE, WAIT, SHARE_N } share;
static const char *const share_names[SHARE_N] = {"reading", "decompression", "decoding", "computing",
                                                 "one thread"};

typedef struct analysis {
	const nk_query *query;
	const nk_run_facts *facts;
	const nk_rel **nodes; /* each once, readers before inputs */
	int n_nodes;
	double seconds[SHARE_N];
	share bound;
	int64_t n_bytes_spilled, n_bytes_decoded;
	nk_text advice[ADVICE_MOST];
	int n_advice;
} analysis;

static nk_text *advise(analysis *self)
{
	return &self->advice[self->n_advice < ADVICE_MOST - 1 ? self->n_advice++ : ADVICE_MOST - 1];
}

static bool list_nodes(analysis *self)
{
	size_t n = (size_t)self->query->n_nodes + 1;
	self->nodes = calloc(n, sizeof *self->nodes);
	bool *is_seen = calloc(n, sizeof *is_seen);
	bool ok = self->nodes && is_seen;
	if (ok) {
		self->nodes[self->n_nodes++] = self->query->root;
		is_seen[self->query->root->number] = true;
	}
	for (int at = 0; ok && at < self->n_nodes; at++)
		for (int i = 0; i < self->nodes[at]->n_inputs; i++) {
			const nk_rel *input = self->nodes[at]->inputs[i];
			if (!is_seen[input->number])
				self->nodes[self->n_nodes++] = input;
			is_seen[input->number] = true;
		}
	free(is_seen);
	return ok;
}

static void share_out(analysis *self)
{
	enum { STORAGE_BYTES_COUNT = 1 << 20 };
	const nk_run_facts *facts = self->facts;
	double busy = 0, fetched = 0, *seconds = self->seconds;
	for (int i = 0; i < self->n_nodes; i++) {
		const nk_rel *rel = self->nodes[i];
		self->n_bytes_spilled += rel->counters->n_bytes_spilled;
		if (rel->kind != NK_REL_SCAN)
			continue;
		const nk_scan_counters *scan = rel->scan.scan_counters;
		fetched += (double)scan->ns_wait * 1e-9;
		seconds[DECOMPRESS] += (double)scan->ns_decompress * 1e-9;
		seconds[DECODE] += (double)scan->ns_decode * 1e-9;
		self->n_bytes_decoded += NK_MAX(scan->n_bytes_decompressed, scan->n_bytes_read);
	}
	for (const nk_pipeline_counters *at = self->query->pipelines; at; at = at->next)
		busy += (double)at->ns_busy * 1e-9;
	/* Workers that were busy without the CPU waited for storage, when anything came from there; wherever a scan's clock ran
	 * meanwhile. Fetching that took the CPU is part of decoding: text is looked through as it is fetched. */
	if (facts->n_bytes_storage >= STORAGE_BYTES_COUNT)
		seconds[READ] = NK_MAX(busy - facts->cpu_seconds, 0.0);
	seconds[DECODE] += NK_MAX(fetched - seconds[READ], 0.0);
	double decoded = seconds[DECOMPRESS] + seconds[DECODE];
	if (decoded > facts->cpu_seconds) {
		seconds[DECOMPRESS] *= facts->cpu_seconds / decoded;
		seconds[DECODE] *= facts->cpu_seconds / decoded;
	}
	seconds[COMPUTE] = NK_MAX(facts->cpu_seconds - decoded, 0.0);
	seconds[WAIT] = NK_MAX(facts->seconds * facts->n_threads - facts->cpu_seconds - seconds[READ], 0.0);
	for (int s = 0; s < SHARE_N; s++)
		if (seconds[s] > seconds[self->bound])
			self->bound = (share)s;
}

/* ---- Advice ---- */

static void advise_column(analysis *self, const nk_rel *rel, int column, const char *name)
{
	nk_source *source = rel->scan.source;
	const nk_scan_counters *scan = rel->scan.scan_counters;
	nk_column_layout layout;
	if (!source->ops->layout || source->ops->layout(source, column, &layout, NULL) != NK_OK ||
	    layout.n_groups == 0)
		return;
	double kept = scan->n_rows_scanned ? (double)scan->n_rows_out / (double)scan->n_rows_scanned : 1;
	if (layout.n_bare)
		nk_text_format(
			advise(self),
			"%lld of %lld row groups have no statistics of %s: write the file with statistics, and "
			"what cannot match is not read.",
			(long long)layout.n_bare, (long long)layout.n_groups, name);
	else if (kept < .3 && layout.n_overlapping * 2 > layout.n_groups)
		nk_text_format(
			advise(self),
			"%.1f%% of the rows that were scanned are kept, yet only %lld of %lld row groups could be left "
			"out: the bounds of %s overlap in %lld of them. Sort by %s before writing.",
			kept * 100, (long long)scan->n_groups_pruned, (long long)scan->n_groups, name,
			(long long)layout.n_overlapping, name);
	else if (kept < .3 && layout.n_groups == 1 && scan->n_rows_scanned > 1000000 && !layout.has_page_index)
		nk_text_format(
			advise(self),
			"The file is one row group without a page index, so that nothing of it can be left out: write "
			"smaller row groups, or a page index of %s.",
			name);
	else if (kept < .05 && !layout.has_page_index)
		nk_text_format(advise(self), "The file has no page index of %s, which would leave out pages.", name);
}

static void advise_scan(analysis *self, const nk_rel *rel)
{
	const nk_schema *schema;
	nk_source *source = rel->scan.source;
	if (source->ops->schema(source, &schema, NULL) != NK_OK)
		return;
	bool *is_told = calloc((size_t)schema->n_fields + 1, sizeof *is_told);
	for (int i = 0; is_told && i < rel->scan.n_conjuncts; i++)
		for (int c = 0; c < rel->scan.conjuncts[i]->n_columns; c++)
			for (int f = 0; f < rel->scan.n_filter_columns; f++) {
				int column = rel->scan.filter_source_columns[f];
				if (rel->scan.filter_ids[f] != rel->scan.conjuncts[i]->columns[c] || column < 0 ||
				    is_told[column])
					continue;
				is_told[column] = true;
				advise_column(self, rel, column, schema->fields[column].name);
			}
	free(is_told);
	if (strcmp(source->ops->kind, "csv") == 0 && self->bound == DECODE) {
		NK_TEXT(place);
		source->ops->describe(source, &place);
		nk_text_format(advise(self),
		               "Half of the time goes into reading text (%s): as Parquet it is read several times "
		               "as fast, and only the columns that are wanted.",
		               place.bytes ? place.bytes : "CSV");
	}
}

static void advise_join(analysis *self, const nk_rel *rel)
{
	const nk_counters *counters = rel->counters;
	if (counters->n_rows_in == 0 || counters->n_rows_out < counters->n_rows_in * 4 ||
	    counters->n_rows_out < 100000)
		return;
	NK_TEXT(what);
	nk__append_node(self->query, rel, &what);
	nk_text_format(advise(self),
	               "A join makes %.1f rows of each that enters it (%s): keys repeat on both sides. Aggregate "
	               "one side first, "
	               "or join on more columns.",
	               (double)counters->n_rows_out / (double)counters->n_rows_in, what.bytes ? what.bytes : "");
}

static void advise_all(analysis *self)
{
	const nk_run_facts *facts = self->facts;
	double all = facts->seconds * facts->n_threads;
	for (int i = 0; i < self->n_nodes; i++) {
		if (self->nodes[i]->kind == NK_REL_SCAN)
			advise_scan(self, self->nodes[i]);
		else if (self->nodes[i]->kind == NK_REL_JOIN)
			advise_join(self, self->nodes[i]);
	}
	if (self->n_bytes_spilled) {
		nk_text *text = advise(self);
		nk__append_bytes(text, self->n_bytes_spilled);
		nk_text_append_string(text,
		                      " went to disk: with a higher memory limit they would have stayed in memory.");
	} else if (facts->n_bytes_limit < INT64_MAX && facts->n_bytes_peak > facts->n_bytes_limit / 10 * 9) {
		nk_text_append_string(
			advise(self), "The peak of memory is close to the limit: somewhat more data will spill or fail.");
	}
	if (self->seconds[DECOMPRESS] > .5 * all)
		nk_text_append_string(advise(self),
		                      "Decompression takes more than half of the time: lz4 or snappy decompress "
		                      "faster than zstd, gzip and brotli, for larger files.");
	if (self->bound == WAIT && facts->n_threads > 1 && facts->seconds > .01) {
		double end = 0;
		for (const nk_pipeline_counters *at = self->query->pipelines; at; at = at->next)
			end += (double)at->ns_end * 1e-9;
		nk_text_format(advise(self), "%.0f%% of the time of %d threads went unused: %s.",
		               self->seconds[WAIT] / all * 100, facts->n_threads,
		               end > .3 * facts->seconds
		                   ? "operators are finished by one thread for much of it"
		                   : "there are fewer row groups or files than threads, or one holds most rows");
	}
	if (facts->n_bytes_storage > (64 << 20) && self->bound == READ)
		nk_text_append_string(advise(self),
		                      "Storage is what is waited for: faster storage, better compression or fewer "
		                      "columns help, more threads do not.");
	if (self->n_advice == 0)
		nk_text_append_string(
			advise(self), "Nothing stands out: fewer rows, fewer columns or more threads are what is left.");
}

/* ---- As text ---- */

static void device_text(const analysis *self, nk_text *out)
{
	double moved = (double)self->n_bytes_decoded / LINK_BYTES_PER_SECOND;
	double kernels = (double)self->n_bytes_decoded / DEVICE_BYTES_PER_SECOND;
	nk_text_append_string(out, "unknown, since no device is calibrated; (");
	nk__append_bytes(out, self->n_bytes_decoded);
	nk_text_format(
		out,
		" to move / link bandwidth) + (as many / device bandwidth) against %.3f CPU s; at 25 GB/s and 1 TB/s "
		"%.4f s",
		self->seconds[COMPUTE], moved + kernels);
}

static void write_text(const analysis *self, nk_text *out)
{
	const nk_run_facts *facts = self->facts;
	double all = NK_MAX(facts->seconds * facts->n_threads, 1e-9);
	nk_text_format(out, "%.3f s on %d threads, %.3f s of CPU; bound by %s\n", facts->seconds,
	               facts->n_threads, facts->cpu_seconds, share_names[self->bound]);
	nk_text_append_string(out, "time of all threads: ");
	for (int s = 0; s < SHARE_N; s++)
		nk_text_format(out, "%s%s %.0f%%", s ? ", " : "", s == WAIT ? "unused" : share_names[s],
		               self->seconds[s] / all * 100);
	nk_text_append_string(out, "\nmemory: peak ");
	nk__append_bytes(out, facts->n_bytes_peak);
	if (facts->n_bytes_limit < INT64_MAX) {
		nk_text_append_string(out, " of ");
		nk__append_bytes(out, facts->n_bytes_limit);
	}
	nk_text_append_string(out, ", spilled ");
	nk__append_bytes(out, self->n_bytes_spilled);
	nk_text_append_char(out, '\n');
	for (int i = 0; i < self->n_nodes; i++) {
		const nk_rel *rel = self->nodes[i];
		if (rel->kind != NK_REL_SCAN || !rel->scan.scan_counters->n_bytes_file)
			continue;
		const nk_scan_counters *scan = rel->scan.scan_counters;
		rel->scan.source->ops->describe(rel->scan.source, out);
		nk_text_append_string(out, ": read ");
		nk__append_bytes(out, scan->n_bytes_read);
		nk_text_append_string(out, " of ");
		nk__append_bytes(out, scan->n_bytes_file);
		nk_text_format(
			out, ", left out %lld of %lld row groups and %lld of %lld pages, kept %lld of %lld rows\n",
			(long long)scan->n_groups_pruned, (long long)scan->n_groups, (long long)scan->n_pages_pruned,
			(long long)scan->n_pages, (long long)scan->n_rows_out, (long long)scan->n_rows_scanned);
	}
	nk_text_append_string(out, "device: ");
	device_text(self, out);
	nk_text_append_string(out, "\nadvice:\n");
	for (int i = 0; i < self->n_advice; i++)
		nk_text_format(out, "- %s\n", self->advice[i].bytes ? self->advice[i].bytes : "");
	nk_text_append_string(out, "plan:\n");
	nk_query_explain(self->query, true, out);
}

/* ---- As JSON ---- */

static void scan_json(const nk_rel *rel, nk_text *out)
{
	const nk_scan_counters *scan = rel->scan.scan_counters;
	nk_text_format(
		out,
		",\"scan\":{\"bytes_file\":%lld,\"bytes_wanted\":%lld,\"bytes_read\":%lld,\"bytes_decompressed\":%"
		"lld,"
		"\"groups\":%lld,\"groups_pruned\":%lld,\"pages\":%lld,\"pages_pruned\":%lld,\"rows_scanned\":%lld,"
		"\"seconds_read\":%.6f,\"seconds_decompress\":%.6f,\"seconds_decode\":%.6f,\"seconds_filter\":%.6f}",
		(long long)scan->n_bytes_file, (long long)scan->n_bytes_wanted, (long long)scan->n_bytes_read,
		(long long)scan->n_bytes_decompressed, (long long)scan->n_groups, (long long)scan->n_groups_pruned,
		(long long)scan->n_pages, (long long)scan->n_pages_pruned, (long long)scan->n_rows_scanned,
		(double)scan->ns_wait * 1e-9, (double)scan->ns_decompress * 1e-9, (double)scan->ns_decode * 1e-9,
		(double)scan->ns_filter * 1e-9);
}

static void nodes_json(const analysis *self, nk_text *out)
{
	for (int i = 0; i < self->n_nodes; i++) {
		const nk_rel *rel = self->nodes[i];
		NK_TEXT(what);
		nk__append_node(self->query, rel, &what);
		nk_text_format(out, "%s{\"number\":%d,\"what\":", i ? "," : "", rel->number);
		nk_text_append_json(out, what.bytes ? what.bytes : "");
		int64_t n_out = rel->counters->n_rows_out;
		if (rel->kind == NK_REL_SCAN && !n_out)
			n_out = rel->scan.scan_counters->n_rows_out;
		nk_text_format(out, ",\"rows_in\":%lld,\"rows_out\":%lld,\"seconds\":%.6f,\"bytes_spilled\":%lld",
		               (long long)rel->counters->n_rows_in, (long long)n_out,
		               (double)rel->counters->ns_busy * 1e-9, (long long)rel->counters->n_bytes_spilled);
		if (rel->kind == NK_REL_JOIN && rel->counters->n_rows_in)
			nk_text_format(out, ",\"growth\":%.3f", (double)n_out / (double)rel->counters->n_rows_in);
		if (rel->kind == NK_REL_SCAN)
			scan_json(rel, out);
		nk_text_append_char(out, '}');
	}
}

static void write_json(const analysis *self, nk_text *out)
{
	const nk_run_facts *facts = self->facts;
	static const char *const keys[SHARE_N] = {"read", "decompress", "decode", "compute", "unused"};
	nk_text_append_string(out, "{\"bound_by\":");
	nk_text_append_json(out, share_names[self->bound]);
	nk_text_format(out, ",\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"threads\":%d,\"thread_seconds\":{",
	               facts->seconds, facts->cpu_seconds, facts->n_threads);
	for (int s = 0; s < SHARE_N; s++)
		nk_text_format(out, "%s\"%s\":%.6f", s ? "," : "", keys[s], self->seconds[s]);
	nk_text_format(out, "},\"memory\":{\"bytes_peak\":%lld,\"bytes_limit\":", (long long)facts->n_bytes_peak);
	if (facts->n_bytes_limit < INT64_MAX)
		nk_text_format(out, "%lld", (long long)facts->n_bytes_limit);
	else
		nk_text_append_string(out, "null");
	nk_text_format(out, ",\"bytes_spilled\":%lld},\"bytes_from_storage\":%lld,\"pipelines\":[",
	               (long long)self->n_bytes_spilled, (long long)facts->n_bytes_storage);
	for (const nk_pipeline_counters *at = self->query->pipelines; at; at = at->next)
		nk_text_format(out,
		               "%s{\"seconds\":%.6f,\"seconds_end\":%.6f,\"workers\":%d,\"seconds_busy\":%.6f,"
		               "\"seconds_busiest\":%.6f}",
		               at == self->query->pipelines ? "" : ",", (double)at->ns_wall * 1e-9,
		               (double)at->ns_end * 1e-9, at->n_workers, (double)at->ns_busy * 1e-9,
		               (double)at->ns_busiest * 1e-9);
	nk_text_append_string(out, "],\"nodes\":[");
	nodes_json(self, out);
	nk_text_format(
		out, "],\"device\":{\"helps\":\"unknown\",\"bytes_to_move\":%lld,\"cpu_seconds\":%.6f,\"formula\":",
		(long long)self->n_bytes_decoded, self->seconds[COMPUTE]);
	NK_TEXT(formula);
	device_text(self, &formula);
	nk_text_append_json(out, formula.bytes ? formula.bytes : "");
	nk_text_append_string(out, "},\"advice\":[");
	for (int i = 0; i < self->n_advice; i++) {
		nk_text_append_string(out, i ? "," : "");
		nk_text_append_json(out, self->advice[i].bytes ? self->advice[i].bytes : "");
	}
	nk_text_append_string(out, "]}");
	out->failed |= formula.failed;
}

void nk_query_analyze(const nk_query *query, const nk_run_facts *facts, nk_text *json, nk_text *text)
{
	analysis self = {.query = query, .facts = facts};
	bool ok = list_nodes(&self);
	if (ok) {
		share_out(&self);
		advise_all(&self);
		if (text)
			write_text(&self, text);
		if (json)
			write_json(&self, json);
	}
	for (int i = 0; i < self.n_advice; i++) {
		ok &= !self.advice[i].failed;
		nk_text_release(&self.advice[i]);
	}
	if (text)
		text->failed |= !ok;
	if (json)
		json->failed |= !ok;
	free(self.nodes);
}
