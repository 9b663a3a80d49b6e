/* The schema of an IPC file: each field with the Arrow type that the conversion to our arrays wants and with the shape that
 * record batches give it (how many nodes and buffers, of what kind). Immutable; everything lies in one arena. */
#ifndef NK_IO_IPC_FIELDS_H
#define NK_IO_IPC_FIELDS_H

#include "base/arena.h"
#include "columnar/arrow.h"
#include "io/ipc/flatbuffer.h"

/* Which buffers a node has, besides its validity. */
typedef enum nk_ipc_layout {
	NK_IPC_NULL,   /* none, no validity either */
	NK_IPC_STRUCT, /* none; also lists of one width */
	NK_IPC_BITS,
	NK_IPC_FIXED,   /* n_bytes_each a row */
	NK_IPC_TEXT,    /* offsets of n_bytes_each, then bytes */
	NK_IPC_VIEWS,   /* views, then any number of heap buffers */
	NK_IPC_OFFSETS, /* of n_bytes_each, into the child */
	NK_IPC_SPANS,   /* offsets and sizes of n_bytes_each, into the child */
	NK_IPC_RUNS,    /* no buffer at all, no validity: ends of runs and their values are children */
} nk_ipc_layout;

typedef struct nk_ipc_field nk_ipc_field;
struct nk_ipc_field {
	struct ArrowSchema arrow; /* borrowed by conversions, never released */
	const nk_dtype *dtype;    /* of the values when dictionary-encoded; of text: a Categorical or Enum */
	nk_ipc_layout layout;
	int n_bytes_each;
	int n_bytes_swapped; /* of the words that values consist of, for the other byte order; 0: bytes */
	int n_children;
	nk_ipc_field *children;
	nk_ipc_field
		*values;        /* of a dictionary-encoded field, whose own layout is that of its codes; else NULL */
	int64_t dictionary; /* the id under which they come */
	/* of the whole tree below, itself included; n_variadic nodes have a number of buffers of their own */
	int n_nodes, n_buffers, n_variadic;
};

typedef struct nk_ipc_fields {
	int n_fields;
	nk_ipc_field *fields;
	bool is_swapped; /* the other byte order */
	bool has_dictionaries;
} nk_ipc_fields;

/* From a Schema table. Fails with NK_COMPUTE for damage, NK_INVALID_OPERATION for types that have no counterpart, naming
 * the column. */
NK_MUST_CHECK nk_status nk__ipc_fields_parse(nk_arena *arena, nk_fb_table schema, nk_ipc_fields *out,
                                             nk_error *err);
NK_MUST_CHECK nk_status nk__ipc_fields_schema(const nk_ipc_fields *fields, nk_schema **out, nk_error *err);
/* The values of some dictionary-encoded field with this id, or NULL. */
const nk_ipc_field *nk__ipc_fields_dictionary(const nk_ipc_fields *fields, int64_t id);

#endif
