/* A string is written as its length plus one, its bytes and a NUL, so that it can be used where it lies. */
#include "base/wire.h"

#include <string.h>

void nk_wire_put_number(nk_text *out, uint64_t value)
{
	char bytes[10];
	int n = 0;
	do {
		bytes[n] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		n++;
	} while (value >>= 7);
	nk_text_append(out, bytes, n);
}

void nk_wire_put_signed(nk_text *out, int64_t value)
{
	nk_wire_put_number(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

void nk_wire_put_bytes(nk_text *out, const void *bytes, int64_t n_bytes)
{
	nk_wire_put_number(out, (uint64_t)n_bytes);
	nk_text_append(out, bytes, n_bytes);
}

void nk_wire_put_string(nk_text *out, const char *string)
{
	if (!string) {
		nk_wire_put_number(out, 0);
		return;
	}
	size_t n = strlen(string) + 1;
	nk_wire_put_number(out, n);
	nk_text_append(out, string, (int64_t)n);
}

static nk_status truncated(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "the serialised form ends too early or is damaged");
}

nk_status nk_wire_number(nk_wire *in, uint64_t *out, nk_error *err)
{
	uint64_t value = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		if (in->at == in->end)
			return truncated(err);
		uint8_t byte = *in->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = value;
			return NK_OK;
		}
	}
	return truncated(err);
}

nk_status nk_wire_signed(nk_wire *in, int64_t *out, nk_error *err)
{
	uint64_t value;
	NK_TRY(nk_wire_number(in, &value, err));
	*out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
	return NK_OK;
}

nk_status nk_wire_count(nk_wire *in, int64_t limit, int64_t *out, nk_error *err)
{
	uint64_t value;
	NK_TRY(nk_wire_number(in, &value, err));
	if (limit < 0 || value > (uint64_t)limit)
		return truncated(err);
	*out = (int64_t)value;
	return NK_OK;
}

nk_status nk_wire_items(nk_wire *in, int64_t *out, nk_error *err)
{
	return nk_wire_count(in, NK_MIN(in->end - in->at, (int64_t)INT32_MAX / 2), out, err);
}

nk_status nk_wire_bytes(nk_wire *in, const uint8_t **bytes, int64_t *n_bytes, nk_error *err)
{
	uint64_t n;
	NK_TRY(nk_wire_number(in, &n, err));
	if (n > (uint64_t)(in->end - in->at))
		return truncated(err);
	*bytes = in->at;
	*n_bytes = (int64_t)n;
	in->at += n;
	return NK_OK;
}

nk_status nk_wire_string(nk_wire *in, const char **out, nk_error *err)
{
	const uint8_t *bytes;
	int64_t n;
	NK_TRY(nk_wire_bytes(in, &bytes, &n, err));
	if (n > 0 && bytes[n - 1] != 0)
		return truncated(err);
	*out = n ? (const char *)bytes : NULL;
	return NK_OK;
}
