/* Compact protocol: variable-length integers, zigzag for signed ones, field ids as differences. Skipping keeps
 * its own stack of open containers, so that hostile nesting costs no C stack and is refused at a depth that
 * no Parquet file reaches. */
#include "io/parquet/thrift.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

static uint64_t fail(nk_thrift *thrift)
{
	thrift->failed = true;
	thrift->at = thrift->end;
	return 0;
}

static uint8_t read_byte(nk_thrift *thrift)
{
	return thrift->at < thrift->end ? *thrift->at++ : (uint8_t)fail(thrift);
}

static uint64_t read_varint(nk_thrift *thrift)
{
	uint64_t value = 0;
	for (int shift = 0; shift < 70; shift += 7) {
		if (thrift->at == thrift->end)
			return fail(thrift);
		uint8_t byte = *thrift->at++;
		value |= (uint64_t)(byte & 127) << (shift & 63);
		if (byte < 128)
			return value;
	}
	return fail(thrift);
}

static int64_t read_zigzag(nk_thrift *thrift)
{
	uint64_t value = read_varint(thrift);
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void skip_bytes(nk_thrift *thrift, uint64_t n)
{
	if (n > (uint64_t)(thrift->end - thrift->at))
		fail(thrift);
	else
		thrift->at += n;
}

bool nk__thrift_next(nk_thrift *thrift, nk_thrift_field *field)
{
	if (thrift->failed)
		return false;
	uint8_t head = read_byte(thrift);
	if ((head & 15) == NK_THRIFT_STOP)
		return false;
	int64_t id = head >> 4 ? field->id + (head >> 4) : read_zigzag(thrift);
	if (id < INT16_MIN || id > INT16_MAX || (head & 15) > NK_THRIFT_UUID) {
		fail(thrift);
		return false;
	}
	field->id = (int)id;
	field->type = head & 15;
	return !thrift->failed;
}

static int64_t read_list_head(nk_thrift *thrift, uint8_t *element_type)
{
	uint8_t head = read_byte(thrift);
	uint64_t n = head >> 4;
	if (n == 15)
		n = read_varint(thrift);
	*element_type = head & 15;
	/* an element takes a byte at least, which bounds what a hostile count can make us allocate */
	return n > (uint64_t)(thrift->end - thrift->at) ? (int64_t)fail(thrift) : (int64_t)n;
}

void nk__thrift_skip(nk_thrift *thrift, uint8_t type)
{
	struct {
		int64_t n_left; /* elements; -1: a struct, until its stop */
		uint8_t type, value_type;
		bool is_map;
	} stack[DEPTH_MAX];
	int depth = 0;
	bool in_container = false; /* booleans take a byte inside lists and maps, none as fields */
	for (;;) {
		switch (type) {
		case NK_THRIFT_TRUE:
		case NK_THRIFT_FALSE:
			if (in_container)
				skip_bytes(thrift, 1);
			break;
		case NK_THRIFT_I8: skip_bytes(thrift, 1); break;
		case NK_THRIFT_I16:
		case NK_THRIFT_I32:
		case NK_THRIFT_I64: read_varint(thrift); break;
		case NK_THRIFT_DOUBLE: skip_bytes(thrift, 8); break;
		case NK_THRIFT_UUID: skip_bytes(thrift, 16); break;
		case NK_THRIFT_BINARY: skip_bytes(thrift, read_varint(thrift)); break;
		case NK_THRIFT_LIST:
		case NK_THRIFT_SET:
		case NK_THRIFT_MAP:
		case NK_THRIFT_STRUCT: {
			if (depth == DEPTH_MAX) {
				fail(thrift);
				return;
			}
			uint8_t element = 0, value = 0;
			int64_t n = -1;
			if (type == NK_THRIFT_MAP) {
				uint64_t n_pairs = read_varint(thrift);
				uint8_t types = n_pairs ? read_byte(thrift) : 0;
				n = n_pairs > (uint64_t)(thrift->end - thrift->at) ? (int64_t)fail(thrift)
				                                                   : (int64_t)n_pairs * 2;
				element = types >> 4;
				value = types & 15;
			} else if (type != NK_THRIFT_STRUCT) {
				n = read_list_head(thrift, &element);
			}
			stack[depth].n_left = n;
			stack[depth].type = element;
			stack[depth].value_type = value;
			stack[depth].is_map = type == NK_THRIFT_MAP;
			depth++;
			break;
		}
		default: fail(thrift);
		}
		/* the next value: an element of the innermost open container, closing what is complete */
		for (;;) {
			if (thrift->failed || depth == 0)
				return;
			if (stack[depth - 1].n_left < 0) {
				uint8_t head = read_byte(thrift);
				if ((head & 15) == NK_THRIFT_STOP) {
					depth--;
					continue;
				}
				if (head >> 4 == 0)
					read_zigzag(thrift);
				type = head & 15;
				in_container = false;
				break;
			}
			if (stack[depth - 1].n_left == 0) {
				depth--;
				continue;
			}
			bool is_value = stack[depth - 1].is_map && (stack[depth - 1].n_left & 1);
			type = is_value ? stack[depth - 1].value_type : stack[depth - 1].type;
			stack[depth - 1].n_left--;
			in_container = true;
			break;
		}
	}
}

static bool expect(nk_thrift *thrift, bool is_expected)
{
	if (!is_expected)
		fail(thrift);
	return !thrift->failed;
}

int64_t nk__thrift_integer(nk_thrift *thrift, nk_thrift_field field)
{
	if (field.type == NK_THRIFT_I8)
		return (int8_t)read_byte(thrift);
	return expect(thrift, field.type >= NK_THRIFT_I16 && field.type <= NK_THRIFT_I64) ? read_zigzag(thrift)
	                                                                                  : 0;
}

bool nk__thrift_boolean(nk_thrift *thrift, nk_thrift_field field)
{
	expect(thrift, field.type == NK_THRIFT_TRUE || field.type == NK_THRIFT_FALSE);
	return field.type == NK_THRIFT_TRUE;
}

nk_bytes nk__thrift_bytes(nk_thrift *thrift, nk_thrift_field field)
{
	static const uint8_t none[1];
	nk_bytes out = {none, 0};
	if (!expect(thrift, field.type == NK_THRIFT_BINARY))
		return out;
	uint64_t n = read_varint(thrift);
	const uint8_t *bytes = thrift->at;
	skip_bytes(thrift, n);
	return thrift->failed ? out : (nk_bytes){bytes, (int64_t)n};
}

bool nk__thrift_struct(nk_thrift *thrift, nk_thrift_field field)
{
	return expect(thrift, field.type == NK_THRIFT_STRUCT);
}

int64_t nk__thrift_list(nk_thrift *thrift, nk_thrift_field field, uint8_t *element_type)
{
	*element_type = NK_THRIFT_STOP;
	return expect(thrift, field.type == NK_THRIFT_LIST || field.type == NK_THRIFT_SET)
	           ? read_list_head(thrift, element_type)
	           : 0;
}
