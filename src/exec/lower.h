/* From relational nodes to pipelines. */
#ifndef NK_EXEC_LOWER_H
#define NK_EXEC_LOWER_H

#include "exec/pipeline.h"
#include "plan/rel.h"

/* What lowering works on; lower.c walks, the files lower_*.c know one operator each. */
typedef struct nk_lowering {
	nk_query *query;
	const nk_exec *exec;
	nk_pipelines pipelines;
	int *n_users;                  /* of each node, by number */
	struct nk_collection **shared; /* results that several nodes read, by number */
	nk_pipeline **open;            /* by number: yields the node's columns */
	void **pending;                /* by number: what a join keeps between its two inputs */
} nk_lowering;

/* Queue pipelines for the whole query; *last is still open and yields the root's columns. */
NK_MUST_CHECK nk_status nk_lower(nk_lowering *lowering, nk_pipeline **last, nk_error *err);

/* ---- for lower_*.c ---- */

/* Programs are freed with the run. Slots are the node's columns. */
NK_MUST_CHECK nk_status nk__lower_program(nk_lowering *lowering, nk_bound *const *exprs, int n,
                                          const nk_rel *input, nk_program **out, nk_error *err);
/* Attach a projection that yields the input's columns followed by what is computed of exprs; positions[i] tells
 * where exprs[i] is. Plain columns cost nothing; no step is attached when all are. */
NK_MUST_CHECK nk_status nk__lower_extend(nk_lowering *lowering, nk_pipeline *pipeline, const nk_rel *input,
                                         nk_bound *const *exprs, int n, int *positions, int *n_columns,
                                         const nk_dtype ***dtypes, nk_error *err);
/* Attach a projection to exprs alone. */
NK_MUST_CHECK nk_status nk__lower_choose(nk_lowering *lowering, nk_pipeline *pipeline, const nk_rel *input,
                                         nk_bound *const *exprs, int n, nk_counters *counters, nk_error *err);
NK_MUST_CHECK nk_status nk__lower_release(nk_lowering *lowering, void (*release)(void *), void *object,
                                          nk_error *err);
/* Close a pipeline with a collection of all rows of a node, freed with the run. */
NK_MUST_CHECK nk_status nk__lower_collect(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *pipeline,
                                          struct nk_collection **out, nk_error *err);
int nk__lower_position(const nk_rel *rel, int id); /* among rel->columns; -1: absent */

NK_MUST_CHECK nk_status nk__lower_aggregate(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                                            nk_pipeline **out, nk_error *err);
NK_MUST_CHECK nk_status nk__lower_sort(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                                       nk_pipeline **out, nk_error *err);
NK_MUST_CHECK nk_status nk__lower_unique(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                                         nk_pipeline **out, nk_error *err);
/* Which input of a join is built (lowered first), and what happens when it has been and when both have. */
int nk__join_build_side(const nk_rel *rel);
NK_MUST_CHECK nk_status nk__lower_join_build(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *build,
                                             nk_error *err);
NK_MUST_CHECK nk_status nk__lower_join_probe(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *probe,
                                             nk_pipeline **out, nk_error *err);
NK_MUST_CHECK nk_status nk__lower_asof(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *const *inputs,
                                       nk_pipeline **out, nk_error *err);
NK_MUST_CHECK nk_status nk__lower_windows(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                                          nk_pipeline **out, nk_error *err);
NK_MUST_CHECK nk_status nk__lower_foreign(nk_lowering *lowering, const nk_rel *rel, nk_pipeline *input,
                                          nk_pipeline **out, nk_error *err);

#endif
