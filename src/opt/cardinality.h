/* How many rows come out of a node, and how many distinct values a column has. Estimates are per column id, made by
 * the node that makes the column and unchanged by nodes that pass it on: distinct values of all rows that the maker
 * yields before any filter (the domain that join estimates divide by). What is left of them among fewer rows
 * follows from nk__distinct_among.
 *
 * Join sizes: |A| |B| / the number of distinct keys, which is that of the larger domain (keys of the smaller are taken to be
 * among those of the larger). Several keys are independent, unless both sides hold them in one table each: then a
 * table cannot have more combinations than rows. */
#ifndef NK_OPT_CARDINALITY_H
#define NK_OPT_CARDINALITY_H

#include "opt/rule_internal.h"

struct nk_column_estimate {
	int maker;          /* which table it comes from: equal for columns of one maker; 0: not estimated */
	double n_rows_made; /* rows of the maker before filters */
	double n_distinct;  /* at least 1 */
	bool is_source;     /* from the statistics of a source */
	bool is_guess;      /* text of which nothing is known: n_distinct counts the rows, as if a key */
	double null_fraction;
	bool has_bounds; /* of numbers and temporal values, unscaled to units */
	double min, max;
	double share; /* of a computed Boolean: how often it is true; 0 when unknown */
	double mean;  /* of a total or count over a group: 0 when unknown. Few groups have many times the mean */
};

/* Sets rel->n_rows anew from its inputs, and estimates of the columns it makes (after a whole pass was made). */
NK_MUST_CHECK nk_status nk__estimate_rel(nk_opt *opt, nk_rel *rel, nk_error *err);
/* Estimates of a column; unknown ids get wide defaults. */
nk_column_estimate nk__estimate_column(const nk_opt *opt, int id);
/* The same for any expression, from the columns in it. */
nk_column_estimate nk__estimate_expr(const nk_opt *opt, const nk_bound *expr);
/* Share of rows that pass all conjuncts; several bounds on one column are taken together. */
double nk__selectivity(const nk_opt *opt, nk_bound *const *conjuncts, int n);
/* The same for one predicate, split first. */
NK_MUST_CHECK nk_status nk__selectivity_of(nk_opt *opt, nk_bound *predicate, double *out, nk_error *err);
/* Of n_distinct values spread evenly over rows: how many occur among n_rows of them. */
double nk__distinct_among(double n_distinct, double n_rows);
/* Number of distinct combinations that an equality join on these keys divides by. */
double nk__join_domain(const nk_opt *opt, nk_bound *const *left_keys, nk_bound *const *right_keys,
                       int n_keys);
/* Share of left rows that have a match among n_right_rows rows. */
double nk__match_share(const nk_opt *opt, nk_bound *const *left_keys, nk_bound *const *right_keys, int n_keys,
                       double n_right_rows);

#endif
