/* From a Parquet schema to ours: which dtype each column has and how its leaf is read.
 *
 * A column that cannot be read (intervals; Decimals beyond 38 digits) still has its place;
 * `refusal` says why, and whoever asks for its values fails with that. */
#ifndef NK_IO_PARQUET_SCHEMA_H
#define NK_IO_PARQUET_SCHEMA_H

#include "columnar/frame.h"
#include "io/parquet/nested.h"
#include "io/parquet/values.h"

typedef struct nk_parquet_columns {
	int n_columns;
	nk_leaf_plan *plans;     /* one per top-level column; of flat ones */
	nk_nested_node **nested; /* of nested ones, else NULL */
	const char **refusals;   /* NULL where the column can be read */
	nk_schema *schema;       /* owned by whoever called */
} nk_parquet_columns;

/* Plans and texts live in the metadata's arena. Fails with NK_DUPLICATE on two columns of one name. */
NK_MUST_CHECK nk_status nk__parquet_columns(nk_parquet_metadata *metadata, nk_parquet_columns *out,
                                            nk_error *err);

/* What an Arrow writer noted of a top-level field beyond Parquet's own types. */
typedef struct nk_arrow_note {
	nk_bytes name;
	bool is_duration;  /* unit holds */
	bool is_timestamp; /* unit and time_zone hold */
	nk_time_unit unit;
	bool has_unit; /* false for seconds, which Parquet has no column for */
	nk_bytes time_zone;
	const struct nk_ipc_field
		*field; /* the whole of it; NULL when some type in the schema has no counterpart */
} nk_arrow_note;

/* The fields of an ARROW:schema entry (base64 of an IPC schema message); 0 when there is none or it is malformed:
 * the note is advice, the Parquet schema decides. */
NK_MUST_CHECK nk_status nk__arrow_notes(nk_arena *arena, nk_bytes base64, nk_arrow_note **out, int *n_out,
                                        nk_error *err);

#endif
