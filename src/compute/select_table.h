/* The loops behind select.h that gain from wide registers; internal to src/compute. */
#ifndef NK_COMPUTE_SELECT_TABLE_H
#define NK_COMPUTE_SELECT_TABLE_H

#include <stdint.h>

#include "base/cpu.h"

typedef struct nk_select_table {
	/* Positions of the ones of bits & validity (NULL: all valid); returns how many. Writes up to 16 too many. */
	int64_t (*rows)(const uint8_t *bits, const uint8_t *validity, int64_t n_rows, uint32_t *rows);
	/* out[i] = values[rows[i]], values of 1, 2, 4, 8 and 16 bytes; by 32-bit and by 64-bit positions. */
	void (*take[5])(void *out, const void *values, const uint32_t *rows, int64_t n_rows);
	void (*take_wide[5])(void *out, const void *values, const int64_t *rows, int64_t n_rows);
	/* The same for bits. */
	void (*take_bits)(uint8_t *out, const uint8_t *bits, const uint32_t *rows, int64_t n_rows);
	void (*take_bits_wide)(uint8_t *out, const uint8_t *bits, const int64_t *rows, int64_t n_rows);
} nk_select_table;

NK_ISA_DECLARE(nk_select_table, nk__select);

#endif
