/* Exchange through the Arrow C data and stream interfaces (arrow.apache.org/docs/format/CDataInterface).
 *
 * Import takes over the structs (moves: they are marked released, also on failure), copies nothing but 32-bit
 * offsets (turned into views and 64-bit offsets), seconds (scaled to milliseconds), dictionaries (flattened) and
 * 128-bit decimals that fit into 64 bits or are misaligned, and checks positions that it reads.
 * Export shares buffers; Decimals widen to 128 bits; strings go out as views ("vu", "vz"). */
#ifndef NK_COLUMNAR_ARROW_H
#define NK_COLUMNAR_ARROW_H

#include "columnar/frame.h"

NK_MUST_CHECK nk_status nk_dtype_from_arrow(const struct ArrowSchema *schema, const nk_dtype **out,
                                            nk_error *err);
NK_MUST_CHECK nk_status nk_dtype_to_arrow(const nk_dtype *dtype, const char *name, struct ArrowSchema *out,
                                          nk_error *err);
/* The fields of a frame as a struct that is never null. */
NK_MUST_CHECK nk_status nk_schema_to_arrow(const nk_schema *schema, struct ArrowSchema *out, nk_error *err);

NK_MUST_CHECK nk_status nk_array_from_arrow(nk_memory *memory, struct ArrowArray *array,
                                            const struct ArrowSchema *schema, nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk_array_to_arrow(nk_memory *memory, nk_array *array, struct ArrowArray *out,
                                          nk_error *err);

/* A stream of structs becomes a frame; a stream of anything else a column. */
NK_MUST_CHECK nk_status nk_frame_from_arrow(nk_memory *memory, struct ArrowArrayStream *stream,
                                            nk_frame **out, nk_error *err);
NK_MUST_CHECK nk_status nk_column_from_arrow(nk_memory *memory, struct ArrowArrayStream *stream,
                                             const char **name_out, nk_column **out,
                                             nk_error *err); /* *name_out from malloc, owned */
/* One batch per common chunk border. The stream holds references; it may outlive the frame. */
NK_MUST_CHECK nk_status nk_frame_to_arrow(nk_memory *memory, nk_frame *frame, struct ArrowArrayStream *out,
                                          nk_error *err);
NK_MUST_CHECK nk_status nk_column_to_arrow(nk_memory *memory, nk_column *column, const char *name,
                                           struct ArrowArrayStream *out, nk_error *err);

#endif
