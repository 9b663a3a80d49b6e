/* Snappy blocks, in our own decoder and encoder; called through codec.h.
 *
 * The decoder is compiled once per instruction level. It returns false on any malformed input and touches
 * nothing outside the two ranges given. */
#ifndef NK_IO_CODEC_SNAPPY_H
#define NK_IO_CODEC_SNAPPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"

typedef struct nk_snappy_block {
	const uint8_t *in;
	int64_t n_in;
	uint8_t *out;
	int64_t n_out;
} nk_snappy_block;

typedef struct nk_snappy_table {
	/* Decode a whole block, whose preamble must announce n_out. */
	bool (*decompress)(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out);
	/* Two blocks at once, which takes less time than one after the other. */
	bool (*decompress_two)(const nk_snappy_block blocks[2]);
} nk_snappy_table;

NK_ISA_DECLARE(nk_snappy_table, nk__snappy);

/* Two blocks at the level chosen; false when either is malformed. In codec.c. */
bool nk__snappy_decompress_two(const nk_snappy_block blocks[2]);

int64_t nk__snappy_bound(int64_t n_in);

/* Returns the bytes written, at most nk__snappy_bound(n_in). n_in is below 2^32. */
int64_t nk__snappy_compress(const uint8_t *in, int64_t n_in, uint8_t *out);

#endif
