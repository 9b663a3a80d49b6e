/* The binary form that plans, expressions and data take between processes: unsigned varints (7 bits a byte, low
 * first) and counted bytes. Writing goes to an nk_text; reading checks every bound, since the bytes may come from
 * anywhere. Readers fail with NK_COMPUTE. */
#ifndef NK_BASE_WIRE_H
#define NK_BASE_WIRE_H

#include "base/text.h"

void nk_wire_put_number(nk_text *out, uint64_t value);
void nk_wire_put_signed(nk_text *out, int64_t value); /* zigzag */
void nk_wire_put_bytes(nk_text *out, const void *bytes, int64_t n_bytes);
void nk_wire_put_string(nk_text *out, const char *string); /* NULL is kept apart from "" */

typedef struct nk_wire {
	const uint8_t *at, *end;
} nk_wire;

NK_MUST_CHECK nk_status nk_wire_number(nk_wire *in, uint64_t *out, nk_error *err);
NK_MUST_CHECK nk_status nk_wire_signed(nk_wire *in, int64_t *out, nk_error *err);
/* A number that must not exceed `limit`: counts, kinds, flags. */
NK_MUST_CHECK nk_status nk_wire_count(nk_wire *in, int64_t limit, int64_t *out, nk_error *err);
/* How many things follow that take a byte or more each: no more than there are bytes left, and it fits an int. */
NK_MUST_CHECK nk_status nk_wire_items(nk_wire *in, int64_t *out, nk_error *err);
/* Points into the input. */
NK_MUST_CHECK nk_status nk_wire_bytes(nk_wire *in, const uint8_t **bytes, int64_t *n_bytes, nk_error *err);
/* A NUL-terminated string, pointing into the input (strings are written with their NUL); NULL if NULL was written. */
NK_MUST_CHECK nk_status nk_wire_string(nk_wire *in, const char **out, nk_error *err);

#endif
