/* A vtable stands right before its table; tables of one shape do not share it, which costs a few bytes of metadata. */
#include "io/ipc/builder.h"

#include <string.h>

enum { ROOT_BYTES = 4, OFFSET_BYTES = 4 };

static void pad(nk_text *out, int alignment, int remainder)
{
	while (!out->failed && out->n_bytes % alignment != remainder)
		nk_text_append_char(out, 0);
}

static void put_zeros(nk_text *out, int64_t n)
{
	static const char zeros[64];
	for (; n > 0; n -= (int64_t)sizeof zeros)
		nk_text_append(out, zeros, NK_MIN(n, (int64_t)sizeof zeros));
}

static void set(nk_text *out, int64_t place, const void *value, int n_bytes)
{
	if (!out->failed)
		memcpy(out->bytes + place, value, (size_t)n_bytes);
}

static void set16(nk_text *out, int64_t place, int value)
{
	uint16_t number = (uint16_t)value;
	set(out, place, &number, 2);
}

static void set32(nk_text *out, int64_t place, int64_t value)
{
	int32_t number = (int32_t)value;
	set(out, place, &number, 4);
}

void nk__fb_set64(nk_text *out, int64_t place, int64_t value) { set(out, place, &value, 8); }

void nk__fb_begin(nk_text *out) { put_zeros(out, ROOT_BYTES); }

int64_t nk__fb_put_table(nk_text *out, const nk_fb_field *fields, int n_fields)
{
	int n_entries = 0, n_bytes = OFFSET_BYTES;
	for (int i = 0; i < n_fields; i++) {
		n_entries = NK_MAX(n_entries, fields[i].number + 1);
		n_bytes += fields[i].n_bytes;
	}
	int n_vtable = 4 + 2 * n_entries;
	/* the table begins 4 bytes before a multiple of 8, so that its first field is aligned */
	pad(out, 8, (12 - n_vtable % 8) % 8);
	int64_t vtable = out->n_bytes, table = vtable + n_vtable;
	put_zeros(out, n_vtable + n_bytes);
	set16(out, vtable, n_vtable);
	set16(out, vtable + 2, n_bytes);
	set32(out, table, table - vtable);
	int place = OFFSET_BYTES;
	for (int i = 0; i < n_fields; i++) {
		set16(out, vtable + 4 + 2 * fields[i].number, place);
		set(out, table + place, &fields[i].value, fields[i].n_bytes);
		place += fields[i].n_bytes;
	}
	int32_t root = 0;
	if (!out->failed)
		memcpy(&root, out->bytes, ROOT_BYTES);
	if (root == 0)
		set32(out, 0, table);
	return table;
}

int64_t nk__fb_put_vector(nk_text *out, int64_t n, int n_bytes_each, int alignment)
{
	alignment = NK_MAX(alignment, 4);
	pad(out, alignment, alignment - 4);
	int64_t vector = out->n_bytes;
	put_zeros(out, 4 + n * n_bytes_each);
	set32(out, vector, n);
	return vector;
}

int64_t nk__fb_put_string(nk_text *out, const char *text)
{
	int64_t n = (int64_t)strlen(text), vector = nk__fb_put_vector(out, n, 1, 4);
	set(out, vector + 4, text, (int)n);
	put_zeros(out, 1);
	return vector;
}

void nk__fb_link(nk_text *out, int64_t table, int field, int64_t target)
{
	if (out->failed)
		return;
	int32_t distance;
	uint16_t place;
	memcpy(&distance, out->bytes + table, 4);
	memcpy(&place, out->bytes + table - distance + 4 + 2 * field, 2);
	set32(out, table + place, target - table - place);
}

void nk__fb_link_item(nk_text *out, int64_t vector, int64_t i, int64_t target)
{
	int64_t place = vector + 4 + 4 * i;
	set32(out, place, target - place);
}
