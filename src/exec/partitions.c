/* A batch that is split is gathered once, in partition order, and kept whole with the borders of its pieces: one
 * sequential write per batch, whatever the number of partitions. When memory runs short a worker writes its
 * chunks out, all pieces of one partition as one region, so that reading a partition back is sequential too. */
#include "compute/dictionary.h"
#include "compute/select.h"
#include "exec/spill.h"

enum {
	SPILL_BYTES = 4 << 20, /* a worker writes no fewer */
	MAX_BITS = 10,
};

typedef struct chunk {
	nk_batch *batch;
	uint32_t *borders; /* n_partitions + 1; NULL: one partition */
	int64_t n_unread;  /* atomic: partitions that have not been read */
} chunk;

typedef struct region {
	int partition;
	nk_spill_place place;
} region;

typedef struct worker_state {
	chunk *chunks;
	int64_t n_chunks, chunks_capacity, n_bytes;
	region *regions;
	int64_t n_regions, regions_capacity;
	int64_t *n_rows; /* by partition */
	char padding[64];
} worker_state;

struct nk_partitions {
	const nk_exec *exec;
	int n_bits, n_partitions, n_workers;
	bool always_spill; /* atomic */
	nk_spill_file *file;
	worker_state workers[];
};

bool nk_exec_should_spill(const nk_exec *exec, int64_t n_bytes)
{
	if (exec->force_spill)
		return true;
	int64_t limit = nk_memory_limit(exec->memory);
	int64_t spare = NK_MIN(limit / 4, (int64_t)256 << 20);
	return !nk_memory_would_grant(exec->memory, n_bytes + spare);
}

static int64_t struct_bytes(int n_workers)
{
	return (int64_t)sizeof(nk_partitions) + n_workers * (int64_t)sizeof(worker_state);
}

nk_status nk_partitions_new(const nk_exec *exec, int n_bits, nk_counters *counters, nk_partitions **out,
                            nk_error *err)
{
	NK_ASSERT(n_bits >= 0 && n_bits <= MAX_BITS);
	void *block;
	NK_TRY(nk_alloc(exec->memory, struct_bytes(exec->n_workers), &block, err));
	memset(block, 0, (size_t)struct_bytes(exec->n_workers));
	NK_AUTO(nk_partitions) partitions = block;
	partitions->exec = exec;
	partitions->n_bits = n_bits;
	partitions->n_partitions = 1 << n_bits;
	partitions->n_workers = exec->n_workers;
	NK_TRY(nk_spill_file_new(exec, counters, &partitions->file, err));
	for (int w = 0; w < exec->n_workers; w++) {
		worker_state *worker = &partitions->workers[w];
		NK_TRY(nk_alloc(exec->memory, partitions->n_partitions * 8, (void **)&worker->n_rows, err));
		memset(worker->n_rows, 0, (size_t)partitions->n_partitions * 8);
	}
	*out = NK_STEAL(partitions);
	return NK_OK;
}

static int64_t borders_bytes(const nk_partitions *partitions) { return (partitions->n_partitions + 1) * 4; }

static void chunk_release(nk_partitions *partitions, chunk *held)
{
	nk_batch_free(held->batch);
	nk_free(partitions->exec->memory, held->borders, borders_bytes(partitions));
	held->batch = NULL;
	held->borders = NULL;
}

void nk_partitions_free(nk_partitions *partitions)
{
	if (!partitions)
		return;
	nk_memory *memory = partitions->exec->memory;
	for (int w = 0; w < partitions->n_workers; w++) {
		worker_state *worker = &partitions->workers[w];
		for (int64_t i = 0; i < worker->n_chunks; i++)
			chunk_release(partitions, &worker->chunks[i]);
		nk_free(memory, worker->chunks, worker->chunks_capacity * (int64_t)sizeof *worker->chunks);
		nk_free(memory, worker->regions, worker->regions_capacity * (int64_t)sizeof *worker->regions);
		nk_free(memory, worker->n_rows, partitions->n_partitions * 8);
	}
	nk_spill_file_free(partitions->file);
	nk_free(memory, partitions, struct_bytes(partitions->n_workers));
}

int nk_partitions_count(const nk_partitions *partitions) { return partitions->n_partitions; }

int64_t nk_partitions_n_rows_of(const nk_partitions *partitions, int partition)
{
	int64_t n_rows = 0;
	for (int w = 0; w < partitions->n_workers; w++)
		n_rows += partitions->workers[w].n_rows[partition];
	return n_rows;
}

int64_t nk_partitions_n_rows(const nk_partitions *partitions)
{
	int64_t n_rows = 0;
	for (int p = 0; p < partitions->n_partitions; p++)
		n_rows += nk_partitions_n_rows_of(partitions, p);
	return n_rows;
}

bool nk_partitions_have_spilled(const nk_partitions *partitions)
{
	for (int w = 0; w < partitions->n_workers; w++)
		if (partitions->workers[w].n_regions)
			return true;
	return __atomic_load_n(&partitions->always_spill, __ATOMIC_RELAXED);
}

/* ---- Splitting ---- */

static nk_status piece_of(const nk_partitions *partitions, const chunk *held, int partition, nk_batch **out,
                          nk_error *err)
{
	int64_t first = held->borders ? held->borders[partition] : 0;
	int64_t end = held->borders ? held->borders[partition + 1] : held->batch->n_rows;
	*out = NULL;
	return first == end ? NK_OK
	                    : nk_batch_slice(partitions->exec->memory, held->batch, first, end - first, out, err);
}

static nk_status worker_spill(nk_partitions *partitions, worker_state *worker, nk_error *err)
{
	if (worker->n_chunks == 0)
		return NK_OK;
	nk_pieces pieces = {.memory = partitions->exec->memory};
	nk_status status = NK_OK;
	for (int p = 0; p < partitions->n_partitions && status == NK_OK; p++) {
		for (int64_t i = 0; i < worker->n_chunks && status == NK_OK; i++) {
			nk_batch *piece;
			status = piece_of(partitions, &worker->chunks[i], p, &piece, err);
			if (status == NK_OK && piece)
				status = nk_pieces_add(&pieces, piece, err);
		}
		region written = {.partition = p};
		if (status == NK_OK)
			status =
				nk_spill_file_write(partitions->file, pieces.batches, pieces.n_batches, &written.place, err);
		if (status == NK_OK && written.place.n_rows > 0)
			status = NK_GROW(pieces.memory, &worker->regions, &worker->regions_capacity,
			                 worker->n_regions + 1, err);
		if (status == NK_OK && written.place.n_rows > 0)
			worker->regions[worker->n_regions++] = written;
		for (int64_t i = 0; i < pieces.n_batches; i++)
			nk_batch_free(pieces.batches[i]);
		pieces.n_batches = 0;
	}
	nk_pieces_release(&pieces);
	if (status != NK_OK)
		return status;
	for (int64_t i = 0; i < worker->n_chunks; i++)
		chunk_release(partitions, &worker->chunks[i]);
	worker->n_chunks = 0;
	worker->n_bytes = 0;
	return NK_OK;
}

/* Rows in partition order, with the borders between partitions. */
static nk_status chunk_make(const nk_partitions *partitions, nk_batch *batch, const uint64_t *hashes,
                            chunk *out, nk_error *err)
{
	nk_memory *memory = partitions->exec->memory;
	int n_partitions = partitions->n_partitions, shift = 64 - partitions->n_bits;
	int64_t n = batch->n_rows;
	NK_AUTO(nk_buffer) rows_buffer = NULL;
	NK_TRY(nk_buffer_new(memory, n * 4, &rows_buffer, err));
	uint32_t *rows = (uint32_t *)rows_buffer->bytes, *borders, next[1 << MAX_BITS];
	NK_TRY(nk_alloc(memory, borders_bytes(partitions), (void **)&borders, err));
	out->borders = borders;
	memset(borders, 0, (size_t)borders_bytes(partitions));
	for (int64_t i = 0; i < n; i++)
		borders[(hashes[i] >> shift) + 1]++;
	for (int p = 0; p < n_partitions; p++) {
		next[p] = borders[p];
		borders[p + 1] += borders[p];
	}
	for (int64_t i = 0; i < n; i++)
		rows[next[hashes[i] >> shift]++] = (uint32_t)i;
	NK_TRY(nk_batch_take(memory, batch, rows, n, &out->batch, err));
	nk_batch_compact(memory, out->batch);
	return NK_OK;
}

static nk_status split(nk_partitions *partitions, worker_state *worker, nk_batch **batch,
                       const uint64_t *hashes, nk_error *err)
{
	chunk held = {.n_unread = partitions->n_partitions};
	NK_TRY(NK_GROW(partitions->exec->memory, &worker->chunks, &worker->chunks_capacity, worker->n_chunks + 1,
	               err));
	if (partitions->n_bits == 0) {
		nk_batch_compact(partitions->exec->memory, *batch);
		worker->n_rows[0] += (*batch)->n_rows;
		held.batch = NK_STEAL(*batch);
	} else {
		nk_status status = chunk_make(partitions, *batch, hashes, &held, err);
		if (status != NK_OK) {
			chunk_release(partitions, &held);
			return status;
		}
		for (int p = 0; p < partitions->n_partitions; p++)
			worker->n_rows[p] += held.borders[p + 1] - held.borders[p];
	}
	for (int c = 0; c < held.batch->n_columns; c++)
		worker->n_bytes += nk_array_bytes(held.batch->columns[c]);
	worker->chunks[worker->n_chunks++] = held;
	return NK_OK;
}

nk_status nk_partitions_split(nk_partitions *partitions, int worker_number, nk_batch *given,
                              const uint64_t *hashes, nk_error *err)
{
	NK_AUTO(nk_batch) batch = given;
	worker_state *worker = &partitions->workers[worker_number];
	if (batch->n_rows == 0)
		return NK_OK;
	nk_status status = split(partitions, worker, &batch, hashes, err);
	if (status == NK_OUT_OF_MEMORY && worker->n_chunks) {
		NK_TRY(worker_spill(partitions, worker, err));
		status = split(partitions, worker, &batch, hashes, err);
	}
	NK_TRY(status);
	bool must = partitions->exec->force_spill || __atomic_load_n(&partitions->always_spill, __ATOMIC_RELAXED);
	if (must || (worker->n_bytes > SPILL_BYTES && nk_exec_should_spill(partitions->exec, 0)))
		return worker_spill(partitions, worker, err);
	return NK_OK;
}

nk_status nk_partitions_spill(nk_partitions *partitions, nk_error *err)
{
	__atomic_store_n(&partitions->always_spill, true, __ATOMIC_RELAXED);
	for (int w = 0; w < partitions->n_workers; w++)
		NK_TRY(worker_spill(partitions, &partitions->workers[w], err));
	return NK_OK;
}

/* ---- Reading ---- */

static nk_status add_read(void *data, nk_batch *batch, nk_error *err)
{
	return nk_pieces_add(data, batch, err);
}

static nk_status read_worker(nk_partitions *partitions, worker_state *worker, int partition, nk_pieces *out,
                             nk_error *err)
{
	for (int64_t i = 0; i < worker->n_regions; i++)
		if (worker->regions[i].partition == partition)
			NK_TRY(nk_spill_file_read(partitions->file, &worker->regions[i].place, add_read, out, err));
	for (int64_t i = 0; i < worker->n_chunks; i++) {
		chunk *held = &worker->chunks[i];
		nk_batch *piece;
		NK_TRY(piece_of(partitions, held, partition, &piece, err));
		nk_status status = piece ? nk_pieces_add(out, piece, err) : NK_OK;
		if (__atomic_sub_fetch(&held->n_unread, 1, __ATOMIC_ACQ_REL) == 0)
			chunk_release(partitions, held);
		NK_TRY(status);
	}
	return NK_OK;
}

nk_status nk_partitions_read(nk_partitions *partitions, int partition, nk_pieces *out, nk_error *err)
{
	nk_pieces pieces = {.memory = partitions->exec->memory};
	nk_status status = NK_OK;
	for (int w = 0; w < partitions->n_workers && status == NK_OK; w++)
		status = read_worker(partitions, &partitions->workers[w], partition, &pieces, err);
	if (status == NK_OK)
		status = nk_pieces_sort(&pieces, err);
	if (status != NK_OK) {
		nk_pieces_release(&pieces);
		return status;
	}
	*out = pieces;
	return NK_OK;
}

nk_status nk_pieces_add(nk_pieces *pieces, nk_batch *given, nk_error *err)
{
	NK_AUTO(nk_batch) batch = given;
	NK_TRY(NK_GROW(pieces->memory, &pieces->batches, &pieces->capacity, pieces->n_batches + 1, err));
	pieces->n_rows += batch->n_rows;
	pieces->batches[pieces->n_batches++] = NK_STEAL(batch);
	return NK_OK;
}

static bool comes_before(const nk_batch *a, const nk_batch *b)
{
	return a->morsel < b->morsel || (a->morsel == b->morsel && a->number < b->number);
}

/* Merge sort that takes runs as it finds them: workers read morsels in ascending order, so there are few. */
nk_status nk_pieces_sort(nk_pieces *pieces, nk_error *err)
{
	nk_batch **from = pieces->batches, **to;
	int64_t n = pieces->n_batches, n_runs = 2, n_bytes = n * (int64_t)sizeof *from;
	if (n < 2)
		return NK_OK;
	NK_TRY(nk_alloc(pieces->memory, n_bytes, (void **)&to, err));
	while (n_runs > 1) {
		n_runs = 0;
		for (int64_t begin = 0; begin < n; n_runs++) {
			int64_t middle = begin + 1;
			while (middle < n && !comes_before(from[middle], from[middle - 1]))
				middle++;
			int64_t end = NK_MIN(middle + 1, n);
			while (end < n && !comes_before(from[end], from[end - 1]))
				end++;
			for (int64_t a = begin, b = middle, at = begin; at < end; at++)
				to[at] = a < middle && (b == end || !comes_before(from[b], from[a])) ? from[a++] : from[b++];
			begin = end;
		}
		nk_batch **swap = from;
		from = to;
		to = swap;
	}
	if (from != pieces->batches) {
		memcpy(pieces->batches, from, (size_t)n_bytes);
		to = from;
	}
	nk_free(pieces->memory, to, n_bytes);
	return NK_OK;
}

typedef struct joining {
	nk_pieces *pieces;
	nk_memory *memory;
	const nk_dtype *const *dtypes;
	nk_batch *joined;
} joining;

static nk_status join_column(void *data, int64_t column, int worker, nk_error *err)
{
	(void)worker;
	joining *work = data;
	nk_pieces *pieces = work->pieces;
	nk_memory *memory = work->memory;
	nk_array **out = &work->joined->columns[column];
	if (!pieces->n_batches) {
		const nk_dtype *dtype = work->dtypes[column];
		if (!nk_type_is_nested(dtype->id) && dtype->physical != NK_PHYSICAL_NONE)
			return nk_array_alloc(memory, dtype, dtype->physical, 0, false, out, err);
		NK_AUTO(nk_array) nothing = NULL;
		NK_TRY(nk_array_new_null(memory, dtype, 0, &nothing, err));
		return nk_array_flatten(memory, nothing, out, err);
	}
	NK_AUTO(nk_buffer) arrays = NULL;
	NK_TRY(nk_buffer_new(memory, pieces->n_batches * (int64_t)sizeof(nk_array *), &arrays, err));
	nk_array **list = (nk_array **)arrays->bytes;
	for (int64_t i = 0; i < pieces->n_batches; i++)
		list[i] = pieces->batches[i]->columns[column];
	NK_TRY(nk_concat_coded(memory, list, (int)pieces->n_batches, out, err));
	for (int64_t i = 0; i < pieces->n_batches; i++) {
		nk_array_unref(list[i]);
		pieces->batches[i]->columns[column] = NULL;
	}
	return NK_OK;
}

nk_status nk_pieces_concat(nk_pieces *pieces, nk_memory *memory, const nk_parallel *parallel,
                           const nk_dtype *const *dtypes, int n_columns, nk_batch **out, nk_error *err)
{
	NK_AUTO(nk_batch) joined = NULL;
	NK_TRY(nk_batch_new(n_columns, pieces->n_rows, &joined, err));
	if (pieces->n_batches) {
		joined->morsel = pieces->batches[0]->morsel;
		joined->number = pieces->batches[0]->number;
	}
	joining work = {pieces, memory, dtypes, joined};
	NK_TRY(nk_parallel_each(pieces->n_batches > 1 ? parallel : NULL, n_columns, join_column, &work, err));
	nk_pieces_release(pieces);
	*out = NK_STEAL(joined);
	return NK_OK;
}

void nk_pieces_release(nk_pieces *pieces)
{
	for (int64_t i = 0; i < pieces->n_batches; i++)
		nk_batch_free(pieces->batches[i]);
	nk_free(pieces->memory, pieces->batches, pieces->capacity * (int64_t)sizeof *pieces->batches);
	*pieces = (nk_pieces){.memory = pieces->memory};
}
