/* Proves of io/codec: every codec gives back what it was given, at every instruction level; damaged blocks are
 * refused or decode to something, and nothing is touched outside of the ranges (run under the address sanitizer). */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "io/codec/codec.h"
#include "io/codec/snappy.h"

enum { N_KINDS = 7 };

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Data of several kinds: near-unique words, doubles, text with repeats, runs, noise. */
static void fill(uint8_t *out, int64_t n, int kind)
{
	static const char text[] = "quickly final deposits sleep furiously among the carefully ironic ideas; ";
	for (int64_t i = 0; i < n; i++) {
		uint64_t word = (uint64_t)(i / 8);
		switch (kind) {
		case 0:
			word = word * 2654435761u % 1000003;
			out[i] = (uint8_t)(word >> (8 * (i % 8)));
			break;
		case 1:
			word = word * 40503 % 300 + 90000;
			out[i] = (uint8_t)(word >> (8 * (i % 8)));
			break;
		case 2: out[i] = (uint8_t)text[(i * 7 / 5 + i / 1000) % (int64_t)(sizeof text - 1)]; break;
		case 3: out[i] = (uint8_t)(i / 997); break;
		case 4: out[i] = (uint8_t)next_random(); break;
		case 5: out[i] = (uint8_t) "abcabcabd"[i % 9]; break;
		default: out[i] = i % 4 == 3 ? (uint8_t)next_random() : 0;
		}
	}
}

static bool decompress_everywhere(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out)
{
	bool is_fine = nk__snappy_baseline.decompress(in, n_in, out, n_out);
#if defined(__x86_64__)
	if (nk_cpu_isa() >= NK_ISA_V3)
		EXPECT(nk__snappy_v3.decompress(in, n_in, out, n_out) == is_fine);
	if (nk_cpu_isa() >= NK_ISA_V4)
		EXPECT(nk__snappy_v4.decompress(in, n_in, out, n_out) == is_fine);
#endif
	/* together with a block that is sound, and with itself */
	static const uint8_t sound[] = {5, 4 << 2, 'h', 'e', 'l', 'l', 'o'};
	uint8_t other[5], *again = malloc((size_t)n_out + 1);
	nk_snappy_block blocks[2] = {{in, n_in, out, n_out}, {sound, sizeof sound, other, 5}};
	EXPECT(nk__snappy_decompress_two(blocks) == is_fine);
	EXPECT(!is_fine || memcmp(other, "hello", 5) == 0);
	blocks[1] = (nk_snappy_block){in, n_in, again, n_out};
	EXPECT(nk__snappy_decompress_two(blocks) == is_fine);
	EXPECT(!is_fine || memcmp(out, again, (size_t)n_out) == 0);
	free(again);
	return is_fine;
}

static void codecs_give_back(void)
{
	static const int64_t lengths[] = {0, 1, 7, 64, 79, 80, 81, 200, 4096, 70000, 300001};
	for (int codec = 0; codec < NK_CODEC_LZ4_ANY; codec++)
		for (int kind = 0; kind < N_KINDS; kind++)
			for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
				int64_t n = lengths[k], n_packed = 0;
				uint8_t *in = malloc((size_t)n + 1), *out = malloc((size_t)n + 1);
				uint8_t *packed = malloc((size_t)nk__codec_bound(codec, n) + 1);
				fill(in, n, kind);
				EXPECT(nk__codec_compress(codec, NK_LEVEL_USUAL, in, n, packed, &n_packed, NULL) == NK_OK);
				EXPECT(n_packed <= nk__codec_bound(codec, n));
				EXPECT(nk__codec_decompress(codec, packed, n_packed, out, n, NULL) == NK_OK);
				EXPECT(memcmp(in, out, (size_t)n) == 0);
				nk_error err = {0};
				EXPECT(nk__codec_decompress(codec, packed, n_packed, out, n + 1, &err) == NK_COMPUTE &&
				       err.message[0]);
				if (codec == NK_CODEC_SNAPPY) {
					memset(out, 0, (size_t)n);
					EXPECT(decompress_everywhere(packed, n_packed, out, n) &&
					       memcmp(in, out, (size_t)n) == 0);
				}
				free(in);
				free(out);
				free(packed);
			}
}

/* Every cut is refused; every flipped byte is refused or decodes to something. Exactly sized blocks let the sanitizer
 * see each read and write outside. */
static void damage_is_survived(void)
{
	enum { N = 3000 };
	uint8_t in[N], packed[2 * N], *out = malloc(N);
	for (int codec = NK_CODEC_SNAPPY; codec < NK_CODEC_LZ4_ANY; codec++)
		for (int kind = 0; kind < N_KINDS; kind++) {
			int64_t n_packed = 0;
			fill(in, N, kind);
			EXPECT(nk__codec_compress(codec, NK_LEVEL_USUAL, in, N, packed, &n_packed, NULL) == NK_OK);
			for (int64_t cut = 0; cut < n_packed; cut++) {
				uint8_t *damaged = malloc((size_t)cut + 1);
				memcpy(damaged, packed, (size_t)cut);
				EXPECT(nk__codec_decompress(codec, damaged, cut, out, N, NULL) != NK_OK);
				free(damaged);
			}
			uint8_t *damaged = malloc((size_t)n_packed + 1);
			for (int64_t i = 0; i < n_packed; i++) {
				memcpy(damaged, packed, (size_t)n_packed);
				damaged[i] ^= (uint8_t)(1 + next_random() % 255);
				if (nk__codec_decompress(codec, damaged, n_packed, out, N, NULL) == NK_OK)
					continue;
				if (codec == NK_CODEC_SNAPPY)
					EXPECT(!decompress_everywhere(damaged, n_packed, out, N));
			}
			free(damaged);
		}
	free(out);
}

/* What the encoder does not write: copies that overlap themselves at every distance, 4-byte offsets, long literals. */
static void tokens_of_all_kinds(void)
{
	enum { N = 400 };
	for (int distance = 1; distance <= 20; distance++)
		for (int form = 1; form <= 3; form++) {
			uint8_t in[N], want[N], out[N];
			int n_in = 0, n_out = 0;
			in[n_in++] = (uint8_t)(N & 127) | 128;
			in[n_in++] = N >> 7;
			in[n_in++] = (uint8_t)((distance - 1) << 2);
			for (int i = 0; i < distance; i++)
				in[n_in++] = want[n_out++] = (uint8_t)(i * 37);
			while (n_out < N) {
				int n = N - n_out > 64 ? 60 : N - n_out;
				if (form == 1 && n > 11)
					n = N - n_out < 16 ? 8 : 11;
				if (form == 1 && n >= 4) {
					in[n_in++] = (uint8_t)(1 | (n - 4) << 2);
					in[n_in++] = (uint8_t)distance;
				} else {
					in[n_in++] = (uint8_t)((form == 3 ? 3 : 2) | (n - 1) << 2);
					in[n_in++] = (uint8_t)distance;
					in[n_in++] = 0;
					if (form == 3)
						in[n_in++] = 0, in[n_in++] = 0;
				}
				for (int i = 0; i < n; i++, n_out++)
					want[n_out] = want[n_out - distance];
			}
			EXPECT(decompress_everywhere(in, n_in, out, N) && memcmp(out, want, N) == 0);
		}
}

int main(void)
{
	codecs_give_back();
	damage_is_survived();
	tokens_of_all_kinds();
	return expect_report();
}
