/* Parts of lines that explain.c and analysis.c share. */
#ifndef NK_PLAN_EXPLAIN_INTERNAL_H
#define NK_PLAN_EXPLAIN_INTERNAL_H

#include "plan/rel.h"

void nk__append_count(nk_text *out, double n);
void nk__append_bytes(nk_text *out, int64_t n);
/* What a node does, without what it reads. */
void nk__append_node(const nk_query *query, const nk_rel *rel, nk_text *out);

#endif
