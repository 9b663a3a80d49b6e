/* Arrow's schema inside a Parquet file: an IPC message in flatbuffer form, of which we read names, timestamps and
 * durations. Flatbuffers are offsets all the way; every one is checked against the message's end before it is
 * followed, and anything that does not fit ends the reading with what was understood. */
#include <string.h>

#include "io/ipc/fields.h"
#include "io/ipc/message.h"
#include "io/parquet/schema.h"

enum { ARROW_TIMESTAMP = 10, ARROW_DURATION = 18, MESSAGE_SCHEMA = 1 };

typedef struct message {
	const uint8_t *bytes;
	int64_t n_bytes;
} message;

static bool read_unsigned(message m, int64_t at, int n_bytes, uint64_t *out)
{
	*out = 0;
	if (at < 0 || at > m.n_bytes - n_bytes)
		return false;
	memcpy(out, m.bytes + at, (size_t)n_bytes);
	return true;
}

/* Where field `i` of the table at `table` lies; 0 when absent. */
static int64_t find_field(message m, int64_t table, int i)
{
	uint64_t back, n_table, offset;
	if (!read_unsigned(m, table, 4, &back))
		return 0;
	int64_t about = table - (int32_t)(uint32_t)back;
	if (!read_unsigned(m, about, 2, &n_table) || 4 + 2 * i + 2 > (int64_t)n_table ||
	    !read_unsigned(m, about + 4 + 2 * i, 2, &offset) || offset == 0)
		return 0;
	return table + (int64_t)offset;
}

/* Follow the offset stored at `at`; 0 when there is none. */
static int64_t follow(message m, int64_t at)
{
	uint64_t offset;
	return at > 0 && read_unsigned(m, at, 4, &offset) ? at + (int64_t)offset : 0;
}

static nk_bytes read_string(message m, int64_t at)
{
	uint64_t n;
	int64_t place = follow(m, at);
	if (place == 0 || !read_unsigned(m, place, 4, &n) || (int64_t)n > m.n_bytes - place - 4)
		return (nk_bytes){0};
	return (nk_bytes){m.bytes + place + 4, (int64_t)n};
}

static void read_field(message m, int64_t field, nk_arrow_note *note)
{
	uint64_t type = 0, unit = 0;
	note->name = read_string(m, find_field(m, field, 0));
	int64_t at = find_field(m, field, 2);
	if (at == 0 || !read_unsigned(m, at, 1, &type) || (type != ARROW_TIMESTAMP && type != ARROW_DURATION))
		return;
	int64_t table = follow(m, find_field(m, field, 3));
	if (table == 0)
		return;
	at = find_field(m, table, 0);
	if (at > 0)
		read_unsigned(m, at, 2, &unit);
	else
		unit = type == ARROW_DURATION ? 1 : 0; /* the defaults */
	note->has_unit = unit >= 1 && unit <= 3;
	note->unit = unit == 1 ? NK_UNIT_MS : unit == 2 ? NK_UNIT_US : NK_UNIT_NS;
	note->is_duration = type == ARROW_DURATION;
	note->is_timestamp = type == ARROW_TIMESTAMP;
	if (note->is_timestamp)
		note->time_zone = read_string(m, find_field(m, table, 1));
}

static int base64_digit(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static nk_status decode_base64(nk_arena *arena, nk_bytes in, message *out, nk_error *err)
{
	uint8_t *bytes;
	NK_TRY(nk_arena_alloc(arena, in.n_bytes + 1, (void **)&bytes, err));
	int64_t n = 0;
	uint32_t word = 0;
	int n_bits = 0;
	for (int64_t i = 0; i < in.n_bytes; i++) {
		int digit = base64_digit(in.bytes[i]);
		if (digit < 0)
			break;
		word = (word << 6 | (uint32_t)digit) & 0xffffff;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			bytes[n++] = (uint8_t)(word >> n_bits);
		}
	}
	*out = (message){bytes, n};
	return NK_OK;
}

/* Whole dtypes, where all of them can be told. */
static void read_dtypes(nk_arena *arena, message m, nk_arrow_note *notes, int64_t n)
{
	nk_ipc_message schema;
	nk_ipc_fields fields;
	if (nk__ipc_message_parse(m.bytes, m.n_bytes, 0, -1, &schema, NULL) != NK_OK ||
	    schema.kind != NK_IPC_SCHEMA || nk__ipc_fields_parse(arena, schema.header, &fields, NULL) != NK_OK)
		return;
	for (int64_t i = 0; i < n && i < fields.n_fields; i++)
		notes[i].field = &fields.fields[i];
}

nk_status nk__arrow_notes(nk_arena *arena, nk_bytes base64, nk_arrow_note **out, int *n_out, nk_error *err)
{
	*out = NULL;
	*n_out = 0;
	if (!base64.bytes || base64.n_bytes == 0)
		return NK_OK;
	message m;
	NK_TRY(decode_base64(arena, base64, &m, err));
	message whole = m;
	/* a continuation mark and a length come first, in older files only the length */
	uint64_t mark, type, n;
	if (!read_unsigned(m, 0, 4, &mark))
		return NK_OK;
	int64_t n_head = mark == UINT32_MAX ? 8 : 4;
	if (m.n_bytes <= n_head)
		return NK_OK;
	m = (message){m.bytes + n_head, m.n_bytes - n_head};
	uint64_t root_offset;
	if (!read_unsigned(m, 0, 4, &root_offset))
		return NK_OK;
	int64_t root = (int64_t)root_offset, at = find_field(m, root, 1);
	if (at == 0 || !read_unsigned(m, at, 1, &type) || type != MESSAGE_SCHEMA)
		return NK_OK;
	int64_t schema = follow(m, find_field(m, root, 2));
	int64_t fields = schema > 0 ? follow(m, find_field(m, schema, 1)) : 0;
	if (fields == 0 || !read_unsigned(m, fields, 4, &n) || (int64_t)n > (m.n_bytes - fields) / 4)
		return NK_OK;
	NK_TRY(NK_ARENA_NEW(arena, out, (int64_t)n, err));
	for (uint64_t i = 0; i < n; i++) {
		int64_t field = follow(m, fields + 4 + 4 * (int64_t)i);
		if (field > 0)
			read_field(m, field, &(*out)[i]);
	}
	read_dtypes(arena, whole, *out, (int64_t)n);
	*n_out = (int)n;
	return NK_OK;
}
