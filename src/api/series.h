/* A series: a column under a name. Public values to scalars and back. Shared by the files of src/api. */
#ifndef NK_API_SERIES_H
#define NK_API_SERIES_H

#include "columnar/frame.h"
#include "columnar/table.h"
#include "func/func.h"

struct nk_series {
	int64_t n_references;
	nk_column *column;
	char name[];
};

/* Takes over the column's reference, also on failure. */
NK_MUST_CHECK nk_status nk__series_new(const char *name, nk_column *column, nk_series **out, nk_error *err);
static inline void nk_series__auto(nk_series **series) { nk_series_unref(*series); }

/* A row as a public value: bytes live as long as the array. */
NK_MUST_CHECK nk_status nk__value_of_array(const nk_array *array, int64_t row, nk_value *out, nk_error *err);
/* A public value as a scalar; a nested one keeps the series' array alive through *held (to be released). */
NK_MUST_CHECK nk_status nk__scalar_from_value(const nk_value *value, nk_scalar *out, bool *is_untyped,
                                              nk_error *err);
/* Public options as registry options: names and values in arrays of n. */
NK_MUST_CHECK nk_status nk__options_from_public(const nk_named_option *options, int n, const char **names,
                                                nk_option *values, nk_error *err);
void nk__table_options(const nk_format_options *options, nk_table_options *out);

#endif
