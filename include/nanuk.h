/* nanuk: an Arrow-native DataFrame and query engine. The public C API.
 *
 * Every fallible function returns nk_status (0 is ok) and takes an nk_error last, which may be NULL. On failure
 * outputs are untouched. Handles are opaque, immutable and reference-counted: a function that yields one gives
 * the caller a reference, to be dropped with the matching _unref; arguments are borrowed. Handles may be used
 * from any thread. Text is UTF-8 and NUL-terminated unless a length is given. Option structs begin with their
 * size: initialise with NK_OPTIONS(type) and set what differs from zero, the default.
 *
 * Data goes in and out through the Arrow C data and stream interfaces. */
#ifndef NANUK_H
#define NANUK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NK_API __attribute__((visibility("default")))

/* ---- Status and errors ---- */

typedef enum nk_status {
	NK_OK = 0,
	NK_OUT_OF_MEMORY,
	NK_INVALID_OPERATION,      /* the operation does not exist for these dtypes or values */
	NK_SCHEMA_MISMATCH,        /* dtypes or columns differ from what is needed */
	NK_COLUMN_NOT_FOUND,
	NK_STRUCT_FIELD_NOT_FOUND,
	NK_DUPLICATE,              /* a column name twice */
	NK_SHAPE,                  /* lengths or widths differ */
	NK_COMPUTE,                /* a value cannot be computed, a file cannot be decoded */
	NK_NO_DATA,
	NK_OUT_OF_BOUNDS,
	NK_IO,
	NK_FILE_NOT_FOUND,
	NK_VALUE,                  /* an argument has a wrong value */
	NK_TYPE,                   /* an argument has a wrong type */
	NK_OVERFLOW,               /* a value does not fit its type */
	NK_CANCELLED,
	NK_FOREIGN,                /* a callback failed; its payload travels in nk_error */
	NK_SQL_INTERFACE,
	NK_SQL_SYNTAX,
	NK_STATUS_N
} nk_status;

typedef struct nk_error {
	nk_status code;
	char message[1020];
	void *payload; /* NK_FOREIGN only: what the callback left */
} nk_error;

/* ---- Arrow C data and stream interfaces (arrow.apache.org/docs/format/CDataInterface.html) ---- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

#ifdef __cplusplus
}
#endif

#endif
