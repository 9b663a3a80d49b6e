/* Writing flatbuffers, front to back: a table first, then what it refers to, linked as that appears. Everything is aligned
 * from the start of the bytes, as verifiers demand. Running out of memory is told by nk_text_finish of the text. */
#ifndef NK_IO_IPC_BUILDER_H
#define NK_IO_IPC_BUILDER_H

#include "base/text.h"

enum { NK_IPC_VERSION = 4, NK_IPC_HEADER_SCHEMA = 1 };

/* A field of a table: 1, 2, 4 or 8 bytes of a number; references are 4 bytes, linked later. */
typedef struct nk_fb_field {
	int number, n_bytes;
	int64_t value;
} nk_fb_field;
#define NK_FB_REFERENCE(field_number) \
	(nk_fb_field) { (field_number), 4, 0 }

/* Begin: room for the reference to the root, which is the first table. */
void nk__fb_begin(nk_text *out);
/* A table with these fields, larger ones first. Returns its position. */
int64_t nk__fb_put_table(nk_text *out, const nk_fb_field *fields, int n_fields);
/* A vector of n zeroed items; returns its position, behind which by 4 bytes the items lie. */
int64_t nk__fb_put_vector(nk_text *out, int64_t n, int n_bytes_each, int alignment);
int64_t nk__fb_put_string(nk_text *out, const char *text);
/* Make a field of a table refer to what lies at `target`. */
void nk__fb_link(nk_text *out, int64_t table, int field, int64_t target);
/* The same for item i of a vector of references. */
void nk__fb_link_item(nk_text *out, int64_t vector, int64_t i, int64_t target);
/* Write a number to a place. */
void nk__fb_set64(nk_text *out, int64_t place, int64_t value);

#endif
