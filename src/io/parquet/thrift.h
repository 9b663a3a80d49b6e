/* A cursor over Thrift's compact protocol, as Parquet's metadata is written.
 *
 * Reads are bounds-checked and failure is sticky: after a malformed or cut input every read returns zero and
 * every loop ends, so that parsers check nk_thrift.failed once at the end. Nothing is copied: byte strings
 * point into the input. Single-owner. */
#ifndef NK_IO_PARQUET_THRIFT_H
#define NK_IO_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum nk_thrift_type {
	NK_THRIFT_STOP = 0,
	NK_THRIFT_TRUE = 1,
	NK_THRIFT_FALSE = 2,
	NK_THRIFT_I8 = 3,
	NK_THRIFT_I16 = 4,
	NK_THRIFT_I32 = 5,
	NK_THRIFT_I64 = 6,
	NK_THRIFT_DOUBLE = 7,
	NK_THRIFT_BINARY = 8,
	NK_THRIFT_LIST = 9,
	NK_THRIFT_SET = 10,
	NK_THRIFT_MAP = 11,
	NK_THRIFT_STRUCT = 12,
	NK_THRIFT_UUID = 13,
} nk_thrift_type;

typedef struct nk_thrift {
	const uint8_t *at, *end;
	bool failed;
} nk_thrift;

/* A field's header; start a struct with {0}. The value must be read or skipped before the next. */
typedef struct nk_thrift_field {
	int id;
	uint8_t type;
} nk_thrift_field;

typedef struct nk_bytes {
	const uint8_t *bytes; /* into the input; NULL when absent */
	int64_t n_bytes;
} nk_bytes;

/* The next field of the current struct; false at its end. */
bool nk__thrift_next(nk_thrift *thrift, nk_thrift_field *field);
/* Skip the current value of any type, nested ones without recursion. */
void nk__thrift_skip(nk_thrift *thrift, uint8_t type);

/* Values of the current field. A value of another type is skipped and counts as a failure. */
int64_t nk__thrift_integer(nk_thrift *thrift, nk_thrift_field field);
bool nk__thrift_boolean(nk_thrift *thrift, nk_thrift_field field);
nk_bytes nk__thrift_bytes(nk_thrift *thrift, nk_thrift_field field);
/* True when the field is a struct: its fields follow. */
bool nk__thrift_struct(nk_thrift *thrift, nk_thrift_field field);
/* The number of elements that follow, all of *element_type. Never more than bytes are left. */
int64_t nk__thrift_list(nk_thrift *thrift, nk_thrift_field field, uint8_t *element_type);

#endif
