/* Where the long texts of group keys lie: those that a 16-byte view cannot hold. Single-owner, part of a group table.
 *
 * Texts that come as entries of a dictionary are stored once an entry, and those of a large dictionary (the build side
 * of a join) not at all: its heap is shared. Two texts at one place are equal without a look at their bytes. */
#ifndef NK_COMPUTE_KEY_TEXTS_H
#define NK_COMPUTE_KEY_TEXTS_H

#include "columnar/array.h"

typedef struct nk_text_place {
	uint32_t buffer, offset; /* of the heap */
} nk_text_place;

/* What is known of one key column's dictionaries. */
typedef struct nk_text_source {
	nk_array *adopted;     /* whose heap is shared; owned; NULL: none */
	uint32_t first_buffer; /* of it, in the heap */
	nk_array *stored;      /* whose entries lie at places once they are met; owned */
	nk_text_place *places;
	int64_t places_capacity;
} nk_text_source;

typedef struct nk_key_texts {
	nk_memory *memory;
	int n_sources;
	nk_text_source *sources;
	nk_buffer **buffers; /* owned */
	int64_t n_buffers, capacity;
	int64_t open;    /* the buffer that is being filled; -1: none */
	int64_t n_used;  /* bytes of it */
	int64_t n_bytes; /* of own buffers */
	nk_heap *heap;   /* of all buffers so far; NULL when stale */
} nk_key_texts;

/* n_sources: of key columns, text or not. */
NK_MUST_CHECK nk_status nk_key_texts_init(nk_key_texts *texts, nk_memory *memory, int n_sources,
                                          nk_error *err);
void nk_key_texts_clear(nk_key_texts *texts);
void nk_key_texts_release(nk_key_texts *texts);
/* Keep the text of a valid row of a key column; *place means nothing for a text that its view holds. */
NK_MUST_CHECK nk_status nk_key_texts_add(nk_key_texts *texts, int source, const nk_array *array, int64_t row,
                                         nk_text_place *place, nk_error *err);
/* Whether a valid row's text, of the length and prefix of the one at place, equals it. */
bool nk_key_texts_equal(const nk_key_texts *texts, int source, const nk_array *array, int64_t row,
                        nk_text_place place);
/* The heap that places refer to (a new reference; NULL when there is nothing in it). */
NK_MUST_CHECK nk_status nk_key_texts_heap(nk_key_texts *texts, nk_heap **out, nk_error *err);

#endif
