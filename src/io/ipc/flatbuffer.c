/* A table begins with the distance to its vtable, which holds the place of each field within the table. */
#include "io/ipc/flatbuffer.h"

#include <string.h>

static nk_fb_table bad(nk_fb *in)
{
	in->is_bad = true;
	return (nk_fb_table){0};
}

static int load16(const uint8_t *at)
{
	uint16_t value;
	memcpy(&value, at, 2);
	return value;
}

/* Whether [at, at + n) lies inside. */
static bool is_inside(const nk_fb *in, int64_t at, int64_t n)
{
	return at >= 0 && n >= 0 && at <= in->n_bytes && n <= in->n_bytes - at;
}

static nk_fb_table table_at(nk_fb *in, int64_t at)
{
	if (!is_inside(in, at, 4))
		return bad(in);
	int64_t vtable = at - nk_fb_load32(in->bytes + at);
	if (!is_inside(in, vtable, 4))
		return bad(in);
	int n_vtable = load16(in->bytes + vtable), n_bytes = load16(in->bytes + vtable + 2);
	if (n_vtable < 4 || n_bytes < 4 || !is_inside(in, vtable, n_vtable) || !is_inside(in, at, n_bytes))
		return bad(in);
	return (nk_fb_table){.in = in, .at = at, .vtable = vtable, .n_bytes = n_bytes, .n_vtable = n_vtable};
}

/* Where an offset of 32 bits at `at` leads; -1 when that is nowhere. */
static int64_t follow(nk_fb *in, int64_t at)
{
	if (!is_inside(in, at, 4)) {
		in->is_bad = true;
		return -1;
	}
	return at + (uint32_t)nk_fb_load32(in->bytes + at);
}

/* A field of n bytes; NULL when it is absent. */
static const uint8_t *field_at(nk_fb_table table, int field, int n)
{
	int entry = 4 + 2 * field;
	if (!table.in || entry + 2 > table.n_vtable)
		return NULL;
	int place = load16(table.in->bytes + table.vtable + entry);
	if (place == 0)
		return NULL;
	if (place + n > table.n_bytes) {
		table.in->is_bad = true;
		return NULL;
	}
	return table.in->bytes + table.at + place;
}

nk_fb_table nk__fb_root(nk_fb *in)
{
	int64_t at = follow(in, 0);
	return at < 0 ? (nk_fb_table){0} : table_at(in, at);
}

int64_t nk__fb_int8(nk_fb_table table, int field, int64_t otherwise)
{
	const uint8_t *at = field_at(table, field, 1);
	return at ? (int8_t)*at : otherwise;
}

int64_t nk__fb_int16(nk_fb_table table, int field, int64_t otherwise)
{
	const uint8_t *at = field_at(table, field, 2);
	return at ? (int16_t)load16(at) : otherwise;
}

int64_t nk__fb_int32(nk_fb_table table, int field, int64_t otherwise)
{
	const uint8_t *at = field_at(table, field, 4);
	return at ? nk_fb_load32(at) : otherwise;
}

int64_t nk__fb_int64(nk_fb_table table, int field, int64_t otherwise)
{
	const uint8_t *at = field_at(table, field, 8);
	return at ? nk_fb_load64(at) : otherwise;
}

nk_fb_table nk__fb_table(nk_fb_table table, int field)
{
	const uint8_t *at = field_at(table, field, 4);
	if (!at)
		return (nk_fb_table){0};
	return table_at(table.in, follow(table.in, at - table.in->bytes));
}

nk_fb_vector nk__fb_vector(nk_fb_table table, int field, int n_bytes_each)
{
	const uint8_t *offset = field_at(table, field, 4);
	if (!offset)
		return (nk_fb_vector){0};
	nk_fb *in = table.in;
	int64_t at = follow(in, offset - in->bytes);
	if (!is_inside(in, at, 4)) {
		in->is_bad = true;
		return (nk_fb_vector){0};
	}
	int64_t n = (uint32_t)nk_fb_load32(in->bytes + at);
	if (!is_inside(in, at + 4, n * n_bytes_each)) {
		in->is_bad = true;
		return (nk_fb_vector){0};
	}
	return (nk_fb_vector){.in = in, .items = in->bytes + at + 4, .n = n};
}

const char *nk__fb_string(nk_fb_table table, int field)
{
	nk_fb_vector text = nk__fb_vector(table, field, 1);
	if (!text.in)
		return NULL;
	const uint8_t *end = text.items + text.n;
	if (end >= text.in->bytes + text.in->n_bytes || *end) {
		text.in->is_bad = true;
		return NULL;
	}
	return (const char *)text.items;
}

nk_fb_table nk__fb_table_at(nk_fb_vector vector, int64_t i)
{
	nk_fb *in = vector.in;
	return table_at(in, follow(in, vector.items + 4 * i - in->bytes));
}
