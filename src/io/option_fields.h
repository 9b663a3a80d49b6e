/* What scans of all formats do with the texts and the fields (names and dtypes) among their options: copy them into an
 * arena and write them into and out of serialised plans. */
#ifndef NK_IO_OPTION_FIELDS_H
#define NK_IO_OPTION_FIELDS_H

#include "base/arena.h"
#include "base/wire.h"
#include "columnar/dtype.h"

/* text may be NULL. */
NK_MUST_CHECK nk_status nk__option_text(nk_arena *arena, const char *text, const char **out, nk_error *err);
/* names may be NULL: fields by position. Fails for what is no dtype. */
NK_MUST_CHECK nk_status nk__option_fields(nk_arena *arena, const char *const *names,
                                          const char *const *dtypes, int n, const nk_field **out,
                                          nk_error *err);
void nk__option_fields_put(nk_text *out, const nk_field *fields, int n);
/* format names the source in the error about damaged bytes. */
NK_MUST_CHECK nk_status nk__option_text_take(nk_arena *arena, nk_wire *in, const char *format,
                                             bool may_be_null, const char **out, nk_error *err);
NK_MUST_CHECK nk_status nk__option_fields_take(nk_arena *arena, nk_wire *in, const char *format,
                                               bool are_named, int *n, const nk_field **out, nk_error *err);

#endif
