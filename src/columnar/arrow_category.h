/* Which Categorical or Enum an Arrow dictionary of text is, told and read as metadata of its field. */
#ifndef NK_COLUMNAR_ARROW_CATEGORY_H
#define NK_COLUMNAR_ARROW_CATEGORY_H

#include "base/text.h"
#include "columnar/arrow.h"
#include "columnar/categories.h"

/* The dtype that a pair of metadata tells; NULL when it tells none. */
const nk_dtype *nk__arrow_category(const char *key, int64_t n_key, const char *value, int64_t n_value);
/* The dtype of a schema whose dictionary is text. NULL when out of memory. */
const nk_dtype *nk__arrow_category_of(const struct ArrowSchema *schema);
/* The pair that tells a dtype: *key is static. */
NK_MUST_CHECK nk_status nk__arrow_category_note(const nk_dtype *dtype, const char **key, nk_text *value,
                                                nk_error *err);
/* The same in the form of ArrowSchema.metadata. */
NK_MUST_CHECK nk_status nk__arrow_category_metadata(const nk_dtype *dtype, nk_text *out, nk_error *err);

#endif
