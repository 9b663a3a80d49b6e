/* Snappy decoding, compiled once per instruction level.
 *
 * Decoding is bound by the chain from one tag to the address of the next, and by loads that overlap a store
 * still in flight. Two loops answer that. The grid loop decodes the pair (literal of 1 to 4 bytes, copy that
 * completes 8 bytes), which is what a page of near-unique 64-bit values consists of: it merges both in a
 * register and stores one word, so that a later copy reads exactly one earlier store and forwards. The token
 * loop treats short literals and copies alike, without a branch between them. Whatever neither takes, and
 * the ends of both ranges, go through one careful token at a time. Invariant of the fast loops: SLOP bytes
 * are left in input and output, which every wide read and write stays within. */
#include "io/codec/snappy.h"

#include <string.h>

enum { SLOP = 80, TOO_LONG = 255, NO_PARTNER = 255, PAIR_BYTES_MAX = 7, TRIES = 8, TRIES_OF_TWO = 64 };

typedef struct tag {
	uint16_t offset_mask; /* of the bytes after the tag; 0 for literals */
	uint16_t offset_high; /* bits of the offset that the tag holds */
	uint8_t length;       /* TOO_LONG: long literals and 4-byte offsets, left to the careful path */
	uint8_t advance;      /* from this tag to the next */
	uint8_t
		partner; /* of copies of 4 to 7 bytes: the literal's tag that completes 8 bytes; else NO_PARTNER */
} tag;

#define PARTNER(length) ((length) >= 4 && (length) <= 7 ? (4 * (7 - (length)) & 0xff) : NO_PARTNER)
#define LITERAL(n)                         \
	{                                      \
		0, 0, (n) + 1, (n) + 2, NO_PARTNER \
	}
#define COPY1(n)                                                    \
	{                                                               \
		0xff, ((n) >> 3) << 8, ((n)&7) + 4, 2, PARTNER(((n)&7) + 4) \
	}
#define COPY2(n)                                \
	{                                           \
		0xffff, 0, (n) + 1, 3, PARTNER((n) + 1) \
	}
#define LONG                          \
	{                                 \
		0, 0, TOO_LONG, 1, NO_PARTNER \
	}
#define FOUR(n) LITERAL(n), COPY1(n), COPY2(n), LONG
#define SIXTEEN(n) FOUR(n), FOUR(n + 1), FOUR(n + 2), FOUR(n + 3)
#define LAST(n) LONG, COPY1(n), COPY2(n), LONG
static const tag tags[256] = {
	SIXTEEN(0),  SIXTEEN(4),  SIXTEEN(8),  SIXTEEN(12), SIXTEEN(16), SIXTEEN(20), SIXTEEN(24),
	SIXTEEN(28), SIXTEEN(32), SIXTEEN(36), SIXTEEN(40), SIXTEEN(44), SIXTEEN(48), SIXTEEN(52),
	SIXTEEN(56), LAST(60),    LAST(61),    LAST(62),    LAST(63),
};

typedef struct state {
	const uint8_t *in, *in_end;
	uint8_t *out, *out_start, *out_end;
} state;

static inline uint64_t load64(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, 8);
	return word;
}

/* Repeat the bytes from `offset` back; with room, whole words may be written past the length. */
static inline void copy_back(uint8_t *out, int64_t offset, int64_t length, bool has_room)
{
	if (offset >= length) {
		memcpy(out, out - offset, (size_t)length);
		return;
	}
	int64_t n_bytewise = has_room ? (offset < 8 ? 8 : 0) : length;
	for (int64_t i = 0; i < n_bytewise; i++)
		out[i] = out[i - offset];
	/* a multiple of the period that a whole word fits into */
	int64_t period = offset * ((7 + offset) / offset);
	for (int64_t i = n_bytewise; i < length; i += 8)
		memcpy(out + i, out + i - period, 8);
}

/* Decode one token of any kind with every bound checked. */
static bool careful_token(state *s)
{
	const uint8_t *in = s->in;
	int64_t n_left = s->in_end - in;
	unsigned first = *in++;
	n_left--;
	if ((first & 3) == 0) {
		int64_t length = (first >> 2) + 1;
		if (length > 60) {
			int n_bytes = (int)length - 60;
			if (n_left < n_bytes)
				return false;
			length = 0;
			for (int i = 0; i < n_bytes; i++)
				length |= (int64_t)in[i] << (8 * i);
			length++;
			in += n_bytes;
			n_left -= n_bytes;
		}
		if (length > n_left || length > s->out_end - s->out)
			return false;
		memcpy(s->out, in, (size_t)length);
		s->out += length;
		s->in = in + length;
		return true;
	}
	int n_bytes = (first & 3) == 3 ? 4 : (int)(first & 3);
	if (n_left < n_bytes)
		return false;
	int64_t length, offset = 0;
	for (int i = 0; i < n_bytes; i++)
		offset |= (int64_t)in[i] << (8 * i);
	if ((first & 3) == 1) {
		length = ((first >> 2) & 7) + 4;
		offset |= (int64_t)(first >> 5) << 8;
	} else {
		length = (first >> 2) + 1;
	}
	if (offset == 0 || offset > s->out - s->out_start || length > s->out_end - s->out)
		return false;
	copy_back(s->out, offset, length, s->out_end - s->out >= SLOP);
	s->out += length;
	s->in = in + n_bytes;
	return true;
}

static inline bool has_room(const state *s)
{
	return s->in_end - s->in >= SLOP && s->out_end - s->out >= SLOP;
}

/* A place in a run of pairs that make one 8-byte word each. */
typedef struct grid {
	const uint8_t *in;
	uint8_t *out;
	uint64_t reach; /* an offset less 8 must not exceed it */
	uint64_t value; /* the word before */
} grid;

/* How many pairs can be decoded before the ends come near. Fills *g unless that is 0. */
static inline int64_t enter_grid(const state *s, grid *g)
{
	if (s->out - s->out_start < 8 || !has_room(s))
		return 0;
	*g = (grid){s->in, s->out, (uint64_t)(s->out - s->out_start) - 8, load64(s->out - 8)};
	int64_t n_in = (s->in_end - s->in - SLOP) / PAIR_BYTES_MAX, n_out = (s->out_end - s->out - SLOP) / 8;
	return n_in < n_out ? n_in : n_out;
}

static inline void leave_grid(state *s, const grid *g)
{
	s->in = g->in;
	s->out = g->out;
}

/* Decode the next pair; false when there is none. */
static inline __attribute__((always_inline)) bool grid_step(grid *g)
{
	uint64_t word = load64(g->in);
	unsigned literal = (uint8_t)word; /* (length - 1) << 2, so that twice it shifts by its bytes */
	uint64_t twice = word + word;
	__asm__("" : "+r"(twice)); /* or else the mask below becomes an instruction: shifts mask by themselves */
	uint64_t rest = (word >> 16) >> (twice & 63);
	const tag *copy = &tags[(uint8_t)rest];
	uint64_t offset = ((rest >> 8) & copy->offset_mask) + copy->offset_high;
	if (copy->partner != literal || offset - 8 > g->reach)
		return false;
	/* the word before is at hand; fetching it back from memory would be the slowest step of a chain of such */
	uint64_t source = offset == 8 ? g->value : load64(g->out - offset);
	uint64_t from_copy = UINT64_MAX << ((2 * literal + 8) & 63);
	g->value = (source & from_copy) | ((word >> 8) & ~from_copy);
	memcpy(g->out, &g->value, 8);
	g->out += 8;
	g->reach += 8;
	g->in += (literal >> 2) + 3;
	g->in += rest & 3;
	return true;
}

/* Pairs as long as there are any; returns how many. */
static inline int64_t grid_loop(state *s)
{
	grid g = {0};
	int64_t n = enter_grid(s, &g), i = 0;
	if (n <= 0)
		return 0;
	while (i < n && grid_step(&g))
		i++;
	leave_grid(s, &g);
	return i;
}

/* The same for two blocks in turn, whose chains of addresses then run side by side. Ends with the first that stops,
 * which *stopped is set to. */
static inline int64_t grid_loop_two(state *a, state *b, state **stopped)
{
	grid first = {0}, second = {0};
	int64_t n_first = enter_grid(a, &first), n_second = enter_grid(b, &second), i = 0;
	int64_t n = n_first < n_second ? n_first : n_second;
	*stopped = n_first < n_second ? a : b;
	if (n <= 0)
		return 0;
	for (; i < n; i++) {
		if (!grid_step(&first)) {
			*stopped = a;
			break;
		}
		if (!grid_step(&second)) {
			*stopped = b;
			break;
		}
	}
	leave_grid(a, &first);
	leave_grid(b, &second);
	return i;
}

/* A literal of 1 to 4 bytes, which may begin a pair. */
static inline bool begins_pair(uint8_t first) { return (first & 0xf3) == 0; }

/* Up to n_tokens short tokens, no further than the next that may begin a pair when stop_at_pair.
 * Returns how many were taken before one that needs care. */
static inline __attribute__((always_inline)) int64_t token_loop(state *s, int64_t n_tokens, bool stop_at_pair)
{
	const uint8_t *in = s->in, *in_last = s->in_end - SLOP;
	uint8_t *out = s->out, *out_last = s->out_end - SLOP, *out_start = s->out_start;
	int64_t n_taken = 0;
	for (; n_taken < n_tokens && in <= in_last && out <= out_last; n_taken++) {
		uint64_t word = load64(in);
		tag token = tags[(uint8_t)word];
		uint64_t offset = ((word >> 8) & token.offset_mask) + token.offset_high;
		bool is_copy = token.offset_mask != 0;
		if ((token.length == TOO_LONG) | (is_copy & ((offset < 16) | (offset > (uint64_t)(out - out_start)))))
			break;
		const uint8_t *from = is_copy ? out - offset : in + 1;
		memcpy(out, from, 16);
		if (token.length > 16)
			for (int piece = 16; piece < 64; piece += 16)
				memcpy(out + piece, from + piece, 16);
		out += token.length;
		in += token.advance;
		if (stop_at_pair && begins_pair(*in)) {
			n_taken = n_tokens;
			break;
		}
	}
	s->in = in;
	s->out = out;
	return n_taken;
}

/* Read the preamble, which must announce the size of the output. */
static bool start(state *s)
{
	uint64_t announced = 0;
	for (int shift = 0;; shift += 7) {
		if (s->in == s->in_end || shift > 28)
			return false;
		uint8_t byte = *s->in++;
		announced |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return announced == (uint64_t)(s->out_end - s->out);
	}
}

/* Tokens between two stretches of pairs: up to the next that may begin one, or many when trying has not paid. */
static inline bool cross_gap(state *s, bool stop_at_pair)
{
	int64_t n_left = stop_at_pair ? 16 : 1024;
	while (n_left > 0 && has_room(s)) {
		n_left -= stop_at_pair ? token_loop(s, n_left, true) : token_loop(s, n_left, false);
		if (n_left > 0 && has_room(s)) {
			if (!careful_token(s))
				return false;
			n_left = stop_at_pair && has_room(s) && begins_pair(*s->in) ? 0 : n_left - 1;
		}
	}
	return true;
}

static bool finish(state *s)
{
	int n_tries = TRIES; /* of the grid loop, before a stretch without: renewed by each that went well */
	while (has_room(s)) {
		if (grid_loop(s) > 2)
			n_tries = TRIES;
		bool stop_at_pair = --n_tries > 0;
		if (!stop_at_pair)
			n_tries = 2;
		if (!cross_gap(s, stop_at_pair))
			return false;
	}
	while (s->in < s->in_end)
		if (!careful_token(s))
			return false;
	return s->out == s->out_end;
}

static bool decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out)
{
	state s = {in, in + n_in, out, out, out + n_out};
	return start(&s) && finish(&s);
}

static bool decompress_two(const nk_snappy_block blocks[2])
{
	state a = {blocks[0].in, blocks[0].in + blocks[0].n_in, blocks[0].out, blocks[0].out,
	           blocks[0].out + blocks[0].n_out};
	state b = {blocks[1].in, blocks[1].in + blocks[1].n_in, blocks[1].out, blocks[1].out,
	           blocks[1].out + blocks[1].n_out};
	if (!start(&a) || !start(&b))
		return false;
	state *stopped;
	for (int n_tries = TRIES_OF_TWO; n_tries > 0 && has_room(&a) && has_room(&b); n_tries--) {
		if (grid_loop_two(&a, &b, &stopped) > 2)
			n_tries = TRIES_OF_TWO;
		if (!cross_gap(stopped, true))
			return false;
	}
	return finish(&a) && finish(&b);
}

const nk_snappy_table NK_ISA_NAME(nk__snappy) = {.decompress = decompress, .decompress_two = decompress_two};
