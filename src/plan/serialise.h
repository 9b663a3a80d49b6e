/* Plans in binary form. A source writes what is needed to make it again (paths, options); frames travel with
 * their data. The plan layer knows no file formats: making a source of a kind is the caller's callback. */
#ifndef NK_PLAN_SERIALISE_H
#define NK_PLAN_SERIALISE_H

#include "base/wire.h"
#include "plan/plan.h"

typedef nk_status nk_source_maker(nk_memory *memory, const char *kind, nk_wire *in, nk_source **out,
                                  nk_error *err);

NK_MUST_CHECK nk_status nk_plan_to_wire(nk_memory *memory, const nk_plan *plan, nk_text *out, nk_error *err);
NK_MUST_CHECK nk_status nk_plan_from_wire(nk_memory *memory, nk_wire *in, nk_source_maker *make,
                                          nk_plan **out, nk_error *err);

#endif
