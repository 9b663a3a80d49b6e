/* Building joins by nearness and windows over an index at the public boundary. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static int choose(const char *text, const char *const *names, int n)
{
	for (int i = 0; text && i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return text ? -1 : 0;
}

static nk_status add_name(nk_plan *plan, const char *text, nk_error *err)
{
	char **grown = realloc(plan->names, ((size_t)plan->n_names + 2) * sizeof *grown);
	if (!grown)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	plan->names = grown;
	plan->names[plan->n_names] = strdup(text);
	if (!plan->names[plan->n_names])
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	plan->n_names++;
	return NK_OK;
}

/* One expression, then others. */
static nk_expr **in_front(nk_expr *first, nk_expr *const *others, int n)
{
	nk_expr **all = malloc(((size_t)n + 1) * sizeof *all);
	if (all) {
		all[0] = first;
		if (n)
			memcpy(all + 1, others, (size_t)n * sizeof *all);
	}
	return all;
}

nk_status nk_plan_join_asof(nk_plan *left, nk_plan *right, nk_expr *left_on, nk_expr *right_on,
                            nk_expr *const *left_by, nk_expr *const *right_by, int n_by,
                            const nk_asof_options *options, nk_plan **out, nk_error *err)
{
	static const char *const strategies[] = {"backward", "forward", "nearest"};
	nk_asof_options none = NK_OPTIONS(nk_asof_options);
	options = options ? options : &none;
	int strategy = choose(options->strategy, strategies, NK_COUNT(strategies));
	if (strategy < 0)
		return nk_fail(err, NK_VALUE,
		               "asof `strategy` must be one of {'backward', 'forward', 'nearest'}, got %s",
		               options->strategy);
	NK_AUTO(nk_plan) plan = NULL;
	nk_plan *inputs[2] = {left, right};
	nk_expr **lefts = in_front(left_on, left_by, n_by), **rights = in_front(right_on, right_by, n_by);
	nk_status status = lefts && rights ? nk_plan_new(NK_PLAN_JOIN_ASOF, inputs, 2, rights, n_by + 1, lefts,
	                                                 n_by + 1, &plan, err)
	                                   : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	free(lefts);
	free(rights);
	NK_TRY(status);
	plan->asof = (nk_asof_strategy)strategy;
	plan->exact_matches = !options->no_exact_matches;
	plan->check_sorted = !options->unchecked;
	plan->coalesce = options->keep_right_on ? NK_COALESCE_NO : NK_COALESCE_YES;
	if (options->suffix && !(plan->suffix = strdup(options->suffix)))
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	if (options->tolerance)
		NK_TRY(add_name(plan, options->tolerance, err));
	*out = NK_STEAL(plan);
	return NK_OK;
}

static nk_status read_window(const nk_window_options *options, nk_windows *out, nk_error *err)
{
	static const char *const closings[] = {"left", "right", "both", "none"};
	static const char *const labels[] = {"left", "right", "datapoint"};
	static const char *const starts[] = {"window",   "datapoint", "monday",   "tuesday", "wednesday",
	                                     "thursday", "friday",    "saturday", "sunday"};
	*out = (nk_windows){.is_rolling = !options->every, .with_bounds = options->include_boundaries};
	const char *given = options->closed ? options->closed : out->is_rolling ? "right" : "left";
	int closed = choose(given, closings, NK_COUNT(closings));
	int label = choose(options->label, labels, NK_COUNT(labels));
	int start = choose(options->start_by, starts, NK_COUNT(starts));
	if (closed < 0)
		return nk_fail(err, NK_VALUE, "`closed` must be one of {'left', 'right', 'both', 'none'}, got %s",
		               given);
	if (label < 0)
		return nk_fail(err, NK_VALUE, "`label` must be one of {'left', 'right', 'datapoint'}, got %s",
		               options->label);
	if (start < 0)
		return nk_fail(err, NK_VALUE,
		               "`start_by` must be one of {'window', 'datapoint', 'monday', 'tuesday', 'wednesday', "
		               "'thursday', 'friday', 'saturday', 'sunday'}, got %s",
		               options->start_by);
	out->closed_left = closed == 0 || closed == 2;
	out->closed_right = closed == 1 || closed == 2;
	out->label = (nk_window_label)label;
	out->start = (nk_window_start)start;
	return NK_OK;
}

/* The same duration, backwards. */
static char *negated(const char *text)
{
	size_t n = strlen(text);
	char *made = malloc(n + 2);
	if (!made)
		return NULL;
	if (*text == '-') {
		memcpy(made, text + 1, n);
	} else {
		made[0] = '-';
		memcpy(made + 1, text, n + 1);
	}
	return made;
}

nk_status nk_plan_windows(nk_plan *input, nk_expr *index, nk_expr *const *keys, int n_keys,
                          nk_expr *const *aggregates, int n_aggregates, const nk_window_options *options,
                          nk_plan **out, nk_error *err)
{
	nk_windows windows;
	NK_TRY(read_window(options, &windows, err));
	const char *period = options->period ? options->period : options->every;
	if (!period)
		return nk_fail(err, NK_VALUE, "windows need a period");
	NK_AUTO(nk_plan) plan = NULL;
	nk_expr **all = in_front(index, keys, n_keys);
	char *backwards = windows.is_rolling && !options->offset ? negated(period) : NULL;
	nk_status status =
		all ? nk_plan_new(NK_PLAN_WINDOWS, &input, 1, aggregates, n_aggregates, all, n_keys + 1, &plan, err)
			: nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a plan");
	free(all);
	if (status == NK_OK)
		status = add_name(plan, options->every ? options->every : period, err);
	if (status == NK_OK)
		status = add_name(plan, period, err);
	if (status == NK_OK)
		status = add_name(plan, options->offset ? options->offset : backwards ? backwards : "0ns", err);
	free(backwards);
	NK_TRY(status);
	plan->windows = windows;
	*out = NK_STEAL(plan);
	return NK_OK;
}
