/* Reading flatbuffers, the form of Arrow's metadata, from bytes that nobody vouches for.
 *
 * Every access is checked against the bytes and the table's own extent. Damage is remembered in the reader (`is_bad`) and
 * answered with a default, so that a caller checks once, before it uses what it read. */
#ifndef NK_IO_IPC_FLATBUFFER_H
#define NK_IO_IPC_FLATBUFFER_H

#include "base/status.h"

typedef struct nk_fb {
	const uint8_t *bytes; /* borrowed; no alignment needed */
	int64_t n_bytes;
	bool is_bad;
} nk_fb;

typedef struct nk_fb_table {
	nk_fb *in; /* NULL: absent; then all fields are */
	int64_t at, vtable;
	int n_bytes, n_vtable;
} nk_fb_table;

typedef struct nk_fb_vector {
	nk_fb *in;
	const uint8_t *items; /* inside of the bytes, n of them */
	int64_t n;
} nk_fb_vector;

nk_fb_table nk__fb_root(nk_fb *in);
/* Fields by number, in the order of the format's schema. */
int64_t nk__fb_int8(nk_fb_table table, int field, int64_t otherwise);
int64_t nk__fb_int16(nk_fb_table table, int field, int64_t otherwise);
int64_t nk__fb_int32(nk_fb_table table, int field, int64_t otherwise);
int64_t nk__fb_int64(nk_fb_table table, int field, int64_t otherwise);
nk_fb_table nk__fb_table(nk_fb_table table, int field);
/* Items of n_bytes_each; n is 0 when the field is absent. */
nk_fb_vector nk__fb_vector(nk_fb_table table, int field, int n_bytes_each);
/* NUL-terminated; NULL when absent. */
const char *nk__fb_string(nk_fb_table table, int field);
/* Item i of a vector of tables. */
nk_fb_table nk__fb_table_at(nk_fb_vector vector, int64_t i);

static inline int64_t nk_fb_load64(const uint8_t *at)
{
	int64_t value;
	__builtin_memcpy(&value, at, 8);
	return value;
}
static inline int32_t nk_fb_load32(const uint8_t *at)
{
	int32_t value;
	__builtin_memcpy(&value, at, 4);
	return value;
}

#endif
