/* The hash loops per physical type; internal to src/compute. */
#ifndef NK_COMPUTE_HASH_LOOPS_H
#define NK_COMPUTE_HASH_LOOPS_H

#include "base/cpu.h"
#include "columnar/dtype.h"

/* validity NULL: all valid. combine: fold into what hashes[] holds, else overwrite. */
typedef void nk_hash_loop(const void *values, const uint8_t *validity, int64_t n_rows, uint64_t *hashes,
                          bool combine);

typedef struct nk_hash_table {
	nk_hash_loop *fixed[NK_PHYSICAL_N]; /* integers and floats; NULL for other physical types */
	/* Hashes already known per code. */
	void (*gather)(const uint64_t *known, const uint32_t *codes, const uint8_t *validity, int64_t n_rows,
	               uint64_t *hashes, bool combine);
} nk_hash_table;

NK_ISA_DECLARE(nk_hash_table, nk__hash);

#endif
