/* Arrays in serialised plans: series literals and frames. Any dtype; flat, with only the bytes in use. */
#ifndef NK_COLUMNAR_ARRAY_WIRE_H
#define NK_COLUMNAR_ARRAY_WIRE_H

#include "base/wire.h"
#include "columnar/frame.h"

NK_MUST_CHECK nk_status nk_array_to_wire(nk_memory *memory, nk_array *array, nk_text *out, nk_error *err);
/* Checks all it reads. */
NK_MUST_CHECK nk_status nk_array_from_wire(nk_memory *memory, nk_wire *in, nk_array **out, nk_error *err);
NK_MUST_CHECK nk_status nk_frame_to_wire(nk_memory *memory, nk_frame *frame, nk_text *out, nk_error *err);
NK_MUST_CHECK nk_status nk_frame_from_wire(nk_memory *memory, nk_wire *in, nk_frame **out, nk_error *err);

#endif
