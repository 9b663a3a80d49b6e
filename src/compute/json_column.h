/* JSON values to columns, one row after another. A column of Struct reads objects: keys that are no field of it are checked
 * and dropped, fields without a key are null, and of two equal keys the first counts.
 *
 * Two sets of rules, Polars' own: those of lines (NDJSON), where a value must be what its dtype says, and those of documents
 * (JSON and text that is decoded), where numbers bend. Single-owner. */
#ifndef NK_COMPUTE_JSON_COLUMN_H
#define NK_COMPUTE_JSON_COLUMN_H

#include "columnar/array.h"
#include "compute/json.h"

typedef struct nk_json_rules {
	bool is_document;
	bool ignores_errors;  /* lines: what does not fit is null */
	bool refuses_unknown; /* documents: keys that are no field */
} nk_json_rules;

typedef struct nk_json_column nk_json_column;

/* dtype and rules are borrowed. Fails with NK_COMPUTE for dtypes that JSON has nothing for. */
NK_MUST_CHECK nk_status nk_json_column_new(nk_memory *memory, const nk_dtype *dtype,
                                           const nk_json_rules *rules, nk_json_column **out, nk_error *err);
void nk_json_column_free(nk_json_column *column);
static inline void nk_json_column__auto(nk_json_column **column) { nk_json_column_free(*column); }

/* The value at the cursor as the next row; moves behind it. */
NK_MUST_CHECK nk_status nk_json_column_add(nk_json_column *column, nk_json_cursor *cursor, nk_error *err);
NK_MUST_CHECK nk_status nk_json_column_add_null(nk_json_column *column, nk_error *err);
/* The rows so far; the column is empty afterwards and may be used again. */
NK_MUST_CHECK nk_status nk_json_column_finish(nk_json_column *column, nk_array **out, nk_error *err);

#endif
