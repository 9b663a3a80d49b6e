/* What a column in memory holds, judged from a sample: for estimates, which only have to rank plans. */
#ifndef NK_PLAN_COLUMN_SAMPLE_H
#define NK_PLAN_COLUMN_SAMPLE_H

#include "columnar/frame.h"

/* Distinct values (exact where the sample is all rows) and bounds, a little wider than what was seen; taken once for
 * a column and kept with it. NULL: nothing is known, as of nested columns. Borrowed from the column. */
const nk_column_summary *nk_column_sample(nk_column *column);

#endif
