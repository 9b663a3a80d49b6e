/* Snappy blocks: the first two bytes choose the announced size, the rest is the block. Every instruction level gives
 * the same answer and, when it decodes, the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "io/codec/snappy.h"
#include "replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	if (n_bytes < 2)
		return 0;
	int64_t n_out = bytes[0] | bytes[1] << 8, n_in = (int64_t)n_bytes - 2;
	const nk_snappy_table *tables[] = {
		&nk__snappy_baseline,
#if defined(__x86_64__)
		nk_cpu_isa() >= NK_ISA_V3 ? &nk__snappy_v3 : &nk__snappy_baseline,
		nk_cpu_isa() >= NK_ISA_V4 ? &nk__snappy_v4 : &nk__snappy_baseline,
#endif
	};
	uint8_t *want = malloc((size_t)n_out + 1), *out = malloc((size_t)n_out + 1);
	bool is_fine = tables[0]->decompress(bytes + 2, n_in, want, n_out);
	for (size_t i = 1; i < sizeof tables / sizeof *tables; i++)
		if (tables[i]->decompress(bytes + 2, n_in, out, n_out) != is_fine ||
		    (is_fine && memcmp(out, want, (size_t)n_out) != 0))
			abort();
	nk_snappy_block blocks[2] = {{bytes + 2, n_in, want, n_out}, {bytes + 2, n_in, out, n_out}};
	if (nk__snappy_decompress_two(blocks) != is_fine || (is_fine && memcmp(out, want, (size_t)n_out) != 0))
		abort();
	free(want);
	free(out);
	return 0;
}
