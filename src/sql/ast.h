/* The syntax tree of a SQL text. Nodes live in one arena, never change once parsed, and point into the text for
 * error messages. The parser bounds how deep a tree may get, so that code over trees may recurse. */
#ifndef NK_SQL_AST_H
#define NK_SQL_AST_H

#include "base/arena.h"
#include "columnar/dtype.h"

enum { NK_SQL_MAX_DEPTH = 600 };

typedef enum nk_sql_kind {
	NK_SQL_NAME,    /* names: column, table.column, struct.field */
	NK_SQL_STAR,    /* names: the table, if any; modifiers */
	NK_SQL_INTEGER, /* text */
	NK_SQL_DECIMAL, /* text, without an exponent */
	NK_SQL_FLOAT,   /* text, with an exponent */
	NK_SQL_STRING,  /* text */
	NK_SQL_BLOB,    /* text: n_bytes bytes */
	NK_SQL_BOOLEAN, /* negated: FALSE */
	NK_SQL_NULL,
	NK_SQL_TYPED,    /* text read as dtype: DATE '2024-01-01' */
	NK_SQL_INTERVAL, /* text */
	NK_SQL_UNARY,    /* text: "neg", "pos", "not" */
	NK_SQL_BINARY,   /* text: a function of the registry, or an operator that is spelled out when planned */
	NK_SQL_AND,      /* any number of args */
	NK_SQL_OR,
	NK_SQL_BETWEEN,    /* args: x, low, high; negated */
	NK_SQL_IN,         /* args: x, values; negated */
	NK_SQL_IN_QUERY,   /* args: x; query; negated */
	NK_SQL_EXISTS,     /* query; negated */
	NK_SQL_SUBQUERY,   /* query: one value */
	NK_SQL_QUANTIFIED, /* args: x; text: the comparison; query; all or any */
	NK_SQL_LIKE,       /* args: x, pattern, maybe the escape; text: "like", "ilike"; negated */
	NK_SQL_IS, /* args: x; text: "null", "true", "false"; negated; is_all: null is neither true nor false, not null */
	NK_SQL_CASE,      /* args: [operand], when, then, ..., [else]; has_operand, has_else */
	NK_SQL_CAST,      /* args: x; dtype; is_try */
	NK_SQL_CALL,      /* text: the name in lower case; args and the clauses below */
	NK_SQL_ARRAY,     /* args */
	NK_SQL_TUPLE,     /* args */
	NK_SQL_SUBSCRIPT, /* args: x, index */
} nk_sql_kind;

typedef struct nk_sql_expr nk_sql_expr;
typedef struct nk_sql_query nk_sql_query;
typedef struct nk_sql_body nk_sql_body;
typedef struct nk_sql_from nk_sql_from;

typedef struct nk_sql_order {
	nk_sql_expr *expr;
	bool descending;
	int nulls; /* 0: last when ascending, first when descending; 1: first; -1: last */
} nk_sql_order;

typedef struct nk_sql_window {
	int64_t at;
	const char *name; /* the window this one is, or begins as */
	int n_partitions, n_orders;
	nk_sql_expr **partitions;
	nk_sql_order *orders;
	bool has_frame, is_rows;
	/* Bounds: unbounded, or an offset from the current row (negative: preceding). */
	bool from_unbounded, to_unbounded;
	int64_t from, to;
} nk_sql_window;

/* What follows a star. */
typedef struct nk_sql_modifiers {
	int n_excluded, n_replaced, n_renamed;
	const char **excluded;
	nk_sql_expr **replaced; /* new values */
	const char **replaced_names;
	const char **renamed, **renamed_to;
	const char *ilike;
} nk_sql_modifiers;

struct nk_sql_expr {
	nk_sql_kind kind;
	int depth;  /* of the tree below, 1 for leaves */
	int64_t at; /* of its first byte in the text */
	bool negated, is_try, has_operand, has_else, is_all;
	const char *text;
	int64_t n_bytes;
	int n_names;
	const char **names;
	int n_args;
	nk_sql_expr **args;
	const nk_dtype *dtype;
	nk_sql_query *query;
	nk_sql_modifiers *modifiers;
	/* Calls. */
	bool distinct, star;
	const char **arg_names; /* f(x, name => value): NULL for the others */
	nk_sql_expr *filter;
	int n_orders;
	nk_sql_order *orders;
	nk_sql_expr *limit;
	bool ignore_nulls;
	nk_sql_window *over;
};

typedef struct nk_sql_item {
	nk_sql_expr *expr;
	const char *alias; /* NULL: named by the expression */
} nk_sql_item;

typedef enum nk_sql_from_kind {
	NK_SQL_FROM_TABLE,    /* name */
	NK_SQL_FROM_FILE,     /* name: a path */
	NK_SQL_FROM_QUERY,    /* query */
	NK_SQL_FROM_FUNCTION, /* name, args */
	NK_SQL_FROM_JOIN,     /* left, right */
} nk_sql_from_kind;

typedef enum nk_sql_join {
	NK_SQL_INNER,
	NK_SQL_LEFT,
	NK_SQL_RIGHT,
	NK_SQL_FULL,
	NK_SQL_SEMI,
	NK_SQL_ANTI,
	NK_SQL_CROSS,
} nk_sql_join;

struct nk_sql_from {
	nk_sql_from_kind kind;
	int depth;
	int64_t at;
	const char *name, *alias;
	int n_columns; /* AS alias (names) */
	const char **columns;
	nk_sql_query *query;
	int n_args;
	nk_sql_expr **args;
	nk_sql_join join;
	bool natural, flipped; /* flipped: RIGHT SEMI, RIGHT ANTI */
	nk_sql_from *left, *right;
	nk_sql_expr *on;
	int n_using;
	const char **using;
};

typedef struct nk_sql_select {
	int64_t at;
	bool distinct;
	int n_distinct_on;
	nk_sql_expr **distinct_on;
	int n_items;
	nk_sql_item *items;
	nk_sql_from *from; /* NULL: none. Comma lists are cross joins */
	nk_sql_expr *where, *having, *qualify;
	bool group_all, has_group;
	int n_groups;
	nk_sql_expr **groups;
	/* ROLLUP, CUBE, GROUPING SETS: sets of positions in `groups`, as bits; n_sets 0: plain GROUP BY. */
	int n_sets;
	uint64_t *sets;
	int n_windows;
	nk_sql_window **windows; /* with names */
	const char **window_names;
} nk_sql_select;

typedef enum nk_sql_set { NK_SQL_UNION, NK_SQL_INTERSECT, NK_SQL_EXCEPT } nk_sql_set;

typedef enum nk_sql_body_kind {
	NK_SQL_BODY_SELECT,
	NK_SQL_BODY_VALUES,
	NK_SQL_BODY_SET,
	NK_SQL_BODY_QUERY
} nk_sql_body_kind;

struct nk_sql_body {
	nk_sql_body_kind kind;
	int depth;
	int64_t at;
	nk_sql_select *select;
	int n_rows, n_columns; /* VALUES: row-major */
	nk_sql_expr **values;
	nk_sql_set set;
	bool all, by_name;
	nk_sql_body *left, *right;
	nk_sql_query *query;
};

typedef struct nk_sql_cte {
	int64_t at;
	const char *name;
	int n_columns;
	const char **columns;
	nk_sql_query *query;
} nk_sql_cte;

struct nk_sql_query {
	int64_t at;
	int n_ctes;
	nk_sql_cte *ctes;
	nk_sql_body *body;
	bool order_all;
	nk_sql_order all; /* ORDER BY ALL: its direction */
	int n_orders;
	nk_sql_order *orders;
	nk_sql_expr *limit, *offset;
};

typedef enum nk_sql_statement_kind {
	NK_SQL_QUERY,
	NK_SQL_EXPLAIN, /* query; analyze */
	NK_SQL_SHOW_TABLES,
	NK_SQL_DESCRIBE,     /* query */
	NK_SQL_CREATE_TABLE, /* name, query; if_not_exists, or_replace */
	NK_SQL_DROP_TABLE,   /* names; if_exists */
	NK_SQL_TRUNCATE,     /* names */
	NK_SQL_DELETE,       /* name, where: the rows that stay */
} nk_sql_statement_kind;

typedef struct nk_sql_statement {
	nk_sql_statement_kind kind;
	int64_t at;
	nk_sql_query *query;
	int n_names;
	const char **names;
	bool if_exists, if_not_exists, or_replace, analyze;
	nk_sql_expr *where;
} nk_sql_statement;

#endif
