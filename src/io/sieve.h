/* What scans of every format do alike: which columns a request needs, and rows of a batch passing through its conjuncts and
 * runtime filters, so that a column is decoded only for the rows that are still wanted when it is first needed.
 *
 * A plan is immutable and shared by workers; a state belongs to one worker. The scan supplies a function that decodes a
 * column for the selected rows of the batch under way. */
#ifndef NK_IO_SIEVE_H
#define NK_IO_SIEVE_H

#include "base/arena.h"
#include "plan/source.h"

/* A column that the request needs, for whatever reason. */
typedef struct nk_sieve_column {
	int column;    /* of the source */
	int last_test; /* number of the last conjunct or filter that uses it; -1: none */
	bool is_output;
} nk_sieve_column;

typedef struct nk_sieve {
	const nk_scan_request *request; /* borrowed */
	int n_columns;
	nk_sieve_column *columns;
	int *inputs;  /* of all conjuncts, one after another, as positions in columns */
	int *outputs; /* of request->columns */
	int *filters;
	int n_inputs_max;
} nk_sieve;

typedef struct nk_sieve_state {
	nk_array **arrays; /* one per column; of the batch under way, for the selected rows; owned */
	nk_array **inputs;
	uint32_t *selected; /* rows of the batch, ascending; only when not all are selected */
	uint32_t *chosen;   /* positions among those that the last test kept */
	int64_t n_rows, n_selected;
	bool is_dense; /* all rows of the batch are selected */
} nk_sieve_state;

/* Decode column `place` of the sieve for the selected rows; *out is owned by the sieve. */
typedef nk_status (*nk_sieve_decode)(void *scan, void *worker, const nk_sieve_state *state, int place,
                                     nk_array **out, nk_error *err);

/* Everything is allocated from the arena; the request must live as long. */
NK_MUST_CHECK nk_status nk__sieve_init(nk_sieve *sieve, nk_arena *arena, const nk_scan_request *request,
                                       nk_error *err);
NK_MUST_CHECK nk_status nk__sieve_state_init(nk_sieve_state *state, const nk_sieve *sieve, nk_arena *arena,
                                             nk_error *err);
/* Drops the arrays of a batch that was left under way. */
void nk__sieve_state_release(nk_sieve_state *state, const nk_sieve *sieve);

/* One batch of n_rows rows, of which the first has number first_row in the source. *out is NULL when no row passes; its
 * sequence is the caller's to set. */
NK_MUST_CHECK nk_status nk__sieve_batch(const nk_sieve *sieve, nk_sieve_state *state, int64_t n_rows,
                                        int64_t first_row, nk_sieve_decode decode, void *scan, void *worker,
                                        nk_batch **out, nk_error *err);

#endif
