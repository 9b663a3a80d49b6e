/* Snappy blocks, in our own decoder and encoder; called through codec.h.
 *
 * The decoder is compiled once per instruction level. It returns false on any malformed input and touches
 * nothing outside the two ranges given. */
#ifndef NK_IO_CODEC_SNAPPY_H
#define NK_IO_CODEC_SNAPPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

typedef struct nk_snappy_table {
	/* Decode a whole block, whose preamble must announce n_out. */
	bool (*decompress)(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out);
} nk_snappy_table;

NK_ISA_DECLARE(nk_snappy_table, nk__snappy);

int64_t nk__snappy_bound(int64_t n_in);

/* Returns the bytes written, at most nk__snappy_bound(n_in). n_in is below 2^32. */
int64_t nk__snappy_compress(const uint8_t *in, int64_t n_in, uint8_t *out);

#endif
