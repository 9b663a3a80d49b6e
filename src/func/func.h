/* The function registry. A function is one row: name, options, documentation, properties, and a binder that
 * chooses dtypes and kernels. The engine decides from properties, never from names. Python methods and stubs,
 * SQL names, reference pages and property tests are generated from these rows.
 *
 * Binding: the binder gets the dtypes of the arguments (and the values of literals) and says the result's
 * dtype, what each argument must be cast to first, and which kernel runs. It fails with NK_INVALID_OPERATION,
 * NK_SCHEMA_MISMATCH or NK_COMPUTE, whichever Polars raises, naming the function and both dtypes.
 *
 * Batch kernels (height NK_ELEMENTWISE) get n_rows aligned rows; arguments are flat or constant, at least one
 * is flat (all-constant calls come as one flat row). They return n_rows rows. When the function's `nulls` is
 * NK_NULLS_PROPAGATE the kernel computes all lanes and may ignore validity: the caller ANDs the arguments'
 * validities into the result's; a kernel whose lanes can fail looks at call->validity and fails only for valid
 * lanes. With NK_NULLS_SEEN the kernel handles nulls itself. Inputs are unified: a kernel never sees two
 * different dtypes where the binder asked for casts; Decimals may still come as int64 or int128 arrays.
 *
 * Column kernels (other heights) get whole columns, flat or constant, and return as many rows as the height
 * class says: as many as came (LENGTH_PRESERVING), one (AGGREGATING), any (LENGTH_CHANGING).
 *
 * Aggregates keep fixed-size states, all-zero when empty, one per group; see nk_aggregate. An aggregating
 * function gives `aggregate` where it decomposes; `segmented` or the column kernel run per group where not. */
#ifndef NK_FUNC_FUNC_H
#define NK_FUNC_FUNC_H

#include "base/arena.h"
#include "base/parallel.h"
#include "columnar/scalar.h"
#include "func/option.h"

typedef struct nk_func nk_func;

typedef enum nk_height { NK_ELEMENTWISE, NK_LENGTH_PRESERVING, NK_AGGREGATING, NK_LENGTH_CHANGING } nk_height;

typedef enum nk_nulls {
	NK_NULLS_PROPAGATE, /* null where any argument is null (and maybe elsewhere) */
	NK_NULLS_SEEN,      /* the kernel decides */
} nk_nulls;

/* What a kernel gets besides data. */
typedef struct nk_call {
	const nk_func *func;
	const nk_dtype *dtype; /* of the result */
	const nk_option *options;
	const void *data; /* what the binder left */
	nk_memory *memory;
	const nk_parallel *parallel; /* whole columns: how to share out work; NULL: alone */
	const uint8_t *validity; /* elementwise, NK_NULLS_PROPAGATE: AND over the arguments; NULL: all valid */
} nk_call;

typedef nk_status nk_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err);

/* Group g's state lies at (char *)states + g * state_size. groups[i] is row i's group; NULL means all rows go
 * to group 0 (write this case as its own loop: it is the ungrouped aggregation). args are flat or constant. */
typedef struct nk_aggregate {
	int64_t state_size; /* a multiple of 8 (16 when it holds an int128) */
	/* order: position of row 0 in the query's row order, for first and last; later rows follow on.
	 * arena: for what a state must point to (text); lives as long as the states. */
	nk_status (*update)(const nk_call *call, void *states, const uint32_t *groups, nk_array *const *args,
	                    int64_t n_rows, int64_t order, nk_arena *arena, nk_error *err);
	/* Fold others[i] into group groups[i] (NULL: all into group 0). */
	nk_status (*merge)(const nk_call *call, void *states, const uint32_t *groups, const void *others,
	                   int64_t n, nk_arena *arena, nk_error *err);
	/* One row per group, flat, of call->dtype. */
	nk_status (*finish)(const nk_call *call, const void *states, int64_t n_groups, nk_array **out,
	                    nk_error *err);
} nk_aggregate;

/* Rows of group g are [offsets[g], offsets[g + 1]) of the arguments. Returns n_groups rows when the function aggregates, as
 * many rows as came when it preserves lengths: then this is its column kernel too, with one group. */
typedef nk_status nk_segmented_kernel(const nk_call *call, nk_array *const *args, int64_t n_groups,
                                      const int64_t *offsets, nk_array **out, nk_error *err);

typedef struct nk_argument {
	const nk_dtype *dtype;
	const nk_scalar *literal; /* the value when the argument is a constant known at planning, else NULL */
	bool is_untyped;    /* bare Python numbers or None, and what is computed of them: bends to the others */
	__int128 low, high; /* untyped integers: between these */
	bool is_scalar;     /* one value for all rows: a literal or an aggregate */
} nk_argument;

enum { NK_MAX_CASTS = 8 };

typedef struct nk_bind {
	/* in */
	const nk_func *func;
	const nk_argument *args;
	int n_args;
	const nk_option *options;
	nk_arena *arena; /* for data */
	bool grouped;    /* inside group_by().agg() or over(): a few dtype rules differ */
	/* out */
	const nk_dtype *dtype;
	const nk_dtype
		*casts[NK_MAX_CASTS]; /* NULL: as it is. For variadic calls the last one set counts for the rest */
	bool cast_is_lossy;       /* casts must be non-strict (values that do not fit become null) */
	nk_kernel *kernel;
	const nk_aggregate *aggregate;
	nk_segmented_kernel *segmented;
	const void *data;
	bool fallible; /* starts as the row's; a binder may clear it */
} nk_bind;

typedef nk_status nk_bind_function(nk_bind *bind, nk_error *err);

struct nk_func {
	const char
		*name; /* as in nk_expr_call: Polars' method name; namespaced ones as "str.len_chars", "dt.year" */
	const char *args;              /* names of the arguments: "x", "left, right", "x, *more" */
	const char *doc;               /* one paragraph: dtypes, nulls, errors */
	const char *example;           /* "abs([-1, null]) == [1, null]" */
	const nk_option_spec *options; /* NULL: none */
	int min_args, max_args;        /* max -1: any number */
	nk_height height;
	nk_nulls nulls;
	bool fallible;        /* may fail for some values */
	bool impure;          /* other results on every call */
	bool order_sensitive; /* the result depends on the order of rows */
	bool commutative;
	bool
		bends; /* numbers without a dtype stay so: of untyped arguments (conditions aside) the result is untyped */
	bool unaligned;         /* column kernels: arguments keep lengths of their own (gather) */
	bool expands_selectors; /* a selector argument becomes several arguments instead of several expressions */
	bool
		names_fields; /* with expands_selectors: the option "fields" (a Struct dtype) takes the last arguments' names */
	bool
		picks_field; /* arguments after the first are literals that choose fields of it: an expression for each */
	const char
		*fixed_name; /* "len": the output's name whatever the arguments; NULL: that of the first argument */
	nk_bind_function *bind;
};

/* All rows, sorted by name; NULL-terminated lists are gathered from the files of src/func at start. */
const nk_func *nk_func_find(const char *name); /* NULL when unknown */
int nk_func_count(void);
const nk_func *nk_func_at(int i);

/* Position of an option in a row's list; -1 when unknown. */
int nk_func_option(const nk_func *func, const char *name);
int nk_func_n_options(const nk_func *func);

#endif
