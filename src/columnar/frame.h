/* Schemas, columns and frames: what users hold. All immutable and reference-counted.
 *
 * A column is a list of chunks (arrays, never dictionary-encoded or constant) with flags; a frame is named
 * columns, each with chunks of its own, and a height that survives without columns. */
#ifndef NK_COLUMNAR_FRAME_H
#define NK_COLUMNAR_FRAME_H

#include "columnar/scalar.h"

typedef struct nk_schema {
	int64_t n_references;
	int n_fields;
	uint32_t n_slots; /* the index behind nk_schema_find; none in narrow schemas */
	uint32_t *slots;
	nk_field fields[]; /* names owned by the schema */
} nk_schema;

/* Copies names. Fails with NK_DUPLICATE when a name comes twice. */
NK_MUST_CHECK nk_status nk_schema_new(const nk_field *fields, int n_fields, nk_schema **out, nk_error *err);
nk_schema *nk_schema_ref(nk_schema *schema);
void nk_schema_unref(nk_schema *schema);
int nk_schema_find(const nk_schema *schema, const char *name); /* -1 when absent */
/* Fails with NK_COLUMN_NOT_FOUND, naming the nearest names. */
NK_MUST_CHECK nk_status nk_schema_resolve(const nk_schema *schema, const char *name, int *out, nk_error *err);
static inline void nk_schema__auto(nk_schema **schema) { nk_schema_unref(*schema); }

typedef enum nk_sorted { NK_SORTED_UNKNOWN, NK_SORTED_ASCENDING, NK_SORTED_DESCENDING } nk_sorted;

/* Estimates of a column's values (plan/column_sample.h). Bounds are of numbers and temporal values only. */
typedef struct nk_column_summary {
	bool has_bounds;
	nk_scalar min, max;
	int64_t n_distinct;
} nk_column_summary;

typedef struct nk_column {
	int64_t n_references;
	const nk_dtype *dtype;
	int64_t n_rows;
	nk_sorted sorted;           /* nulls first unless the column ends with them */
	nk_column_summary *summary; /* atomic, owned; NULL until asked for */
	int n_chunks;               /* at least 1 */
	nk_array *chunks[];
} nk_column;

/* Chunks are borrowed; they are flattened if encoded, empty ones dropped unless all are. n_chunks >= 1. */
NK_MUST_CHECK nk_status nk_column_new(nk_memory *memory, nk_array *const *chunks, int n_chunks,
                                      nk_column **out, nk_error *err);
NK_MUST_CHECK nk_status nk_column_from_array(nk_memory *memory, nk_array *array, nk_column **out,
                                             nk_error *err);
nk_column *nk_column_ref(nk_column *column);
void nk_column_unref(nk_column *column);
NK_MUST_CHECK nk_status nk_column_slice(nk_memory *memory, nk_column *column, int64_t offset, int64_t n_rows,
                                        nk_column **out, nk_error *err);
/* All chunks as one array (a new reference when there is one). */
NK_MUST_CHECK nk_status nk_column_array(nk_memory *memory, nk_column *column, nk_array **out, nk_error *err);
/* Rows of all columns one after another: chunks are shared, not copied. */
NK_MUST_CHECK nk_status nk_column_append(nk_memory *memory, nk_column *const *columns, int n_columns,
                                         nk_column **out, nk_error *err);
int64_t nk_column_count_nulls(const nk_column *column);
/* The chunk that holds a row and the row's place in it. */
const nk_array *nk_column_locate(const nk_column *column, int64_t row, int64_t *row_in_chunk);
static inline void nk_column__auto(nk_column **column) { nk_column_unref(*column); }

typedef struct nk_frame {
	int64_t n_references;
	int64_t height;
	nk_schema *schema;
	nk_column *columns[]; /* schema->n_fields of them */
} nk_frame;

/* Schema and columns are borrowed. Fails with NK_SHAPE when heights differ (height -1: take the first's). */
NK_MUST_CHECK nk_status nk_frame_new(nk_schema *schema, nk_column *const *columns, int64_t height,
                                     nk_frame **out, nk_error *err);
nk_frame *nk_frame_ref(nk_frame *frame);
void nk_frame_unref(nk_frame *frame);
NK_MUST_CHECK nk_status nk_frame_slice(nk_memory *memory, nk_frame *frame, int64_t offset, int64_t n_rows,
                                       nk_frame **out, nk_error *err);
static inline void nk_frame__auto(nk_frame **frame) { nk_frame_unref(*frame); }

#endif
