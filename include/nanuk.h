/* nanuk: an Arrow-native DataFrame and query engine. The public C API.
 *
 * Every fallible function returns nk_status (0 is ok) and takes an nk_error last, which may be NULL. On failure
 * outputs are untouched. Handles are opaque, immutable and reference-counted: a function that yields one gives
 * the caller a reference, to be dropped with the matching _unref; arguments are borrowed. Handles may be used
 * from any thread. Text is UTF-8 and NUL-terminated unless a length is given. Option structs begin with their
 * size: initialise with NK_OPTIONS(type) and set what differs from zero, the default.
 *
 * Data goes in and out through the Arrow C data and stream interfaces. */
#ifndef NANUK_H
#define NANUK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NK_API __attribute__((visibility("default")))

/* ---- Status and errors ---- */

typedef enum nk_status {
	NK_OK = 0,
	NK_OUT_OF_MEMORY,
	NK_INVALID_OPERATION, /* the operation does not exist for these dtypes or values */
	NK_SCHEMA_MISMATCH,   /* dtypes or columns differ from what is needed */
	NK_COLUMN_NOT_FOUND,
	NK_STRUCT_FIELD_NOT_FOUND,
	NK_DUPLICATE, /* a column name twice */
	NK_SHAPE,     /* lengths or widths differ */
	NK_COMPUTE,   /* a value cannot be computed, a file cannot be decoded */
	NK_NO_DATA,
	NK_OUT_OF_BOUNDS,
	NK_IO,
	NK_FILE_NOT_FOUND,
	NK_VALUE,    /* an argument has a wrong value */
	NK_TYPE,     /* an argument has a wrong type */
	NK_OVERFLOW, /* a value does not fit its type */
	NK_CANCELLED,
	NK_TIMEOUT, /* a time limit was reached */
	NK_FOREIGN, /* a callback failed; its payload travels in nk_error */
	NK_SQL_INTERFACE,
	NK_SQL_SYNTAX,
	NK_NOT_IMPLEMENTED, /* the registry has no such function */
	NK_STATUS_N
} nk_status;

typedef struct nk_error {
	nk_status code;
	char message[1020];
	void *payload; /* NK_FOREIGN only: what the callback left */
} nk_error;

/* ---- Arrow C data and stream interfaces (arrow.apache.org/docs/format/CDataInterface.html) ---- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* ---- Text and versions ---- */

NK_API const char *nk_version(void); /* "0.1.0" */
/* Free text that a function gave to the caller. */
NK_API void nk_text_free(char *text);

/* `nk_join_options options = NK_OPTIONS(nk_join_options);` sets the size and zeroes the rest. */
#define NK_OPTIONS(type) ((type){.size = sizeof(type)})

/* What all queries share. Of each, 0 or NULL stands for the environment variable, or for the default without one. */
typedef struct nk_context_options {
	int64_t size;
	int64_t memory_limit; /* bytes of each query; NANUK_MEMORY_LIMIT, else none */
	int64_t
		total_memory_limit; /* bytes of all frames and queries together; NANUK_TOTAL_MEMORY_LIMIT, else none */
	double time_limit;      /* seconds of each query; NANUK_TIME_LIMIT, else none */
	const char
		*spill_folder; /* where queries write what memory is short for; NANUK_SPILL_FOLDER, TMPDIR, /tmp */
} nk_context_options;
/* For queries that begin from now on. Fails with NK_VALUE for negative limits, NK_FILE_NOT_FOUND for what is no folder. */
NK_API nk_status nk_context_set(const nk_context_options *options, nk_error *err);
/* What counts now: 0 where there is no limit. spill_folder is to be freed with nk_text_free. */
NK_API nk_status nk_context_get(nk_context_options *out, char **spill_folder, nk_error *err);

/* Threads that queries use: NANUK_MAX_THREADS, else the cores. */
NK_API int nk_thread_count(void);
/* Bytes held by all frames and queries now, and at most so far. */
NK_API int64_t nk_memory_in_use(void);
NK_API int64_t nk_memory_in_use_peak(void);

/* ---- Dtypes: written as text ----
 * "Int64", "Float64", "Boolean", "String", "Binary", "Date", "Time", "Null", "Datetime(us)",
 * "Datetime(us, UTC)", "Duration(ms)", "Decimal(15, 2)", "List(Int64)", "Struct{\"a\": Int64}". */

/* NK_OK when text is a dtype; *canonical (may be NULL) is its canonical spelling, valid for ever. */
NK_API nk_status nk_dtype_check(const char *text, const char **canonical, nk_error *err);
/* The short form of printed tables: "i64", "datetime[μs]". Valid for ever. */
NK_API nk_status nk_dtype_short(const char *text, const char **out, nk_error *err);
/* The dtype that both can be cast to without loss (as in when/then); NK_SCHEMA_MISMATCH when there is none. */
NK_API nk_status nk_dtype_supertype(const char *left, const char *right, const char **out, nk_error *err);

/* ---- Values ---- */

typedef enum nk_value_kind {
	NK_VALUE_NULL,
	NK_VALUE_BOOLEAN, /* boolean */
	NK_VALUE_INTEGER, /* high:low, two's complement; integers, temporal types, unscaled Decimals */
	NK_VALUE_FLOAT,   /* floating */
	NK_VALUE_STRING,  /* bytes, n_bytes */
	NK_VALUE_BINARY,  /* bytes, n_bytes */
	NK_VALUE_SERIES,  /* series: a List's items or a Struct's fields as one row each */
} nk_value_kind;

typedef struct nk_series nk_series;

typedef struct nk_value {
	nk_value_kind kind;
	bool boolean;
	uint64_t low;
	int64_t high;
	double floating;
	const char *bytes;
	int64_t n_bytes;
	nk_series *series;
	const char *dtype; /* text; in: NULL for an untyped number or null, which bends to its neighbours */
} nk_value;

/* ---- Expressions ---- */

typedef struct nk_expr nk_expr;

typedef enum nk_option_type {
	NK_ARG_BOOL,
	NK_ARG_INT,
	NK_ARG_FLOAT,
	NK_ARG_STRING,
	NK_ARG_DTYPE
} nk_option_type;

/* A named option of a function call. string also carries dtypes as text. */
typedef struct nk_named_option {
	const char *name;
	nk_option_type type;
	bool boolean;
	int64_t integer;
	double floating;
	const char *string;
} nk_named_option;

NK_API nk_status nk_expr_column(const char *name, nk_expr **out, nk_error *err);
NK_API nk_status nk_expr_literal(const nk_value *value, nk_expr **out, nk_error *err);
NK_API nk_status nk_expr_series(nk_series *series, nk_expr **out, nk_error *err);
/* Any function of the registry by name: "add", "sum", "str.contains". `nk_functions` lists them. */
NK_API nk_status nk_expr_call(const char *function, nk_expr *const *args, int n_args,
                              const nk_named_option *options, int n_options, nk_expr **out, nk_error *err);
NK_API nk_status nk_expr_alias(nk_expr *expr, const char *name, nk_expr **out, nk_error *err);
/* Output names: how is "keep", "prefix", "suffix", "to_uppercase" or "to_lowercase"; affix may be NULL. */
NK_API nk_status nk_expr_rename(nk_expr *expr, const char *how, const char *affix, nk_expr **out,
                                nk_error *err);
/* `inner` over the items of the lists or the fields of the Structs that `outer` gives; it uses the functions "element" or
 * "field" for them. how: "eval" gives lists of results, "agg" lists or one value a list, "filter" the items where inner is
 * true, "fields" inner over the fields. */
NK_API nk_status nk_expr_within(const char *how, nk_expr *outer, nk_expr *inner, nk_expr **out,
                                nk_error *err);
/* The expression within groups of rows with equal partition_by, whose rows are taken in the order of order_by.
 * mapping_strategy: "group_to_rows" puts results at their rows, "join" gives every row the list of its group's results,
 * "explode" strings the groups' results together; one value a group is repeated in the first two. */
NK_API nk_status nk_expr_over(nk_expr *expr, nk_expr *const *partition_by, int n_partition_by,
                              nk_expr *const *order_by, int n_order_by, bool descending, bool nulls_last,
                              const char *mapping_strategy, nk_expr **out, nk_error *err);
NK_API nk_expr *nk_expr_ref(nk_expr *expr);
NK_API void nk_expr_unref(nk_expr *expr);
/* The name of the result; NULL where a selector decides. Borrowed. */
NK_API const char *nk_expr_output_name(const nk_expr *expr);
/* As it reads in Polars: [(col("a")) + (dyn int: 1)]. *out is to be freed with nk_text_free. */
NK_API nk_status nk_expr_format(const nk_expr *expr, char **out, nk_error *err);
/* Names of the columns that occur, leftmost first, each once, separated by NUL and ended by two. */
NK_API nk_status nk_expr_root_names(const nk_expr *expr, char **out, nk_error *err);

/* Selectors. kind: "all", "names", "starts_with", "ends_with", "contains", "matches" (names), "dtypes" (names are dtypes),
 * "classes" (names are "integer", "float", "numeric", "string", "temporal", "boolean", "decimal", "date",
 * "datetime", "duration", "time", "binary", "nested", "list", "struct", "signed_integer", "unsigned_integer",
 * "null"). strict: names must exist. */
NK_API nk_status nk_expr_selector(const char *kind, const char *const *names, int n_names, bool strict,
                                  nk_expr **out, nk_error *err);
NK_API nk_status nk_expr_selector_positions(const int64_t *positions, int n, nk_expr **out, nk_error *err);
/* how: "union", "intersect", "except", "xor". */
NK_API nk_status nk_expr_selector_combine(const char *how, nk_expr *left, nk_expr *right, nk_expr **out,
                                          nk_error *err);
NK_API bool nk_expr_is_selector(const nk_expr *expr);
/* What an expression is: "column", "literal", "series", "call", "alias", "rename", "over" or "selector". */
NK_API const char *nk_expr_form(const nk_expr *expr);
/* What it is computed of. nk_expr_input is borrowed. */
NK_API int nk_expr_n_inputs(const nk_expr *expr);
NK_API nk_expr *nk_expr_input(const nk_expr *expr, int i);

/* Versioned binary form. *out is to be freed with nk_text_free. */
NK_API nk_status nk_expr_serialise(const nk_expr *expr, char **out, int64_t *n_bytes, nk_error *err);
NK_API nk_status nk_expr_deserialise(const char *bytes, int64_t n_bytes, nk_expr **out, nk_error *err);

/* The registry as JSON: name, arguments, options with defaults, documentation, properties. */
NK_API nk_status nk_functions(char **out, nk_error *err);

/* ---- Series: a named column ---- */

/* Takes over the stream (of any type but a struct of several columns). */
NK_API nk_status nk_series_import(struct ArrowArrayStream *stream, nk_series **out, nk_error *err);
NK_API nk_status nk_series_export(nk_series *series, struct ArrowArrayStream *out, nk_error *err);
/* The texts of a Categorical or Enum in the order of their codes, as a series of String. */
NK_API nk_status nk_dtype_categories(const char *text, nk_series **out, nk_error *err);
NK_API nk_series *nk_series_ref(nk_series *series);
NK_API void nk_series_unref(nk_series *series);
NK_API const char *nk_series_name(const nk_series *series);
NK_API const char *nk_series_dtype(const nk_series *series);
NK_API int64_t nk_series_length(const nk_series *series);
NK_API int64_t nk_series_null_count(const nk_series *series);
NK_API int nk_series_n_chunks(const nk_series *series);
/* 1 ascending, -1 descending, 0 not known. */
NK_API int nk_series_sorted(const nk_series *series);
NK_API nk_status nk_series_set_sorted(nk_series *series, int sorted, nk_series **out, nk_error *err);
NK_API nk_status nk_series_rename(nk_series *series, const char *name, nk_series **out, nk_error *err);
/* Negative offsets count from the end; what lies outside is left out. */
NK_API nk_status nk_series_slice(nk_series *series, int64_t offset, int64_t length, nk_series **out,
                                 nk_error *err);
NK_API nk_status nk_series_append(nk_series *const *parts, int n_parts, nk_series **out, nk_error *err);
NK_API nk_status nk_series_rechunk(nk_series *series, nk_series **out, nk_error *err);
/* Row `row`; bytes live as long as the series; a nested value's series is owned by the caller. */
NK_API nk_status nk_series_get(nk_series *series, int64_t row, nk_value *out, nk_error *err);
/* A function of the registry applied at once; length-1 arguments broadcast. The name is the first argument's. */
NK_API nk_status nk_series_call(const char *function, nk_series *const *args, int n_args,
                                const nk_named_option *options, int n_options, nk_series **out,
                                nk_error *err);
/* The same when the result is one value, which is handed out; its bytes live as long as *owner (a series to be released, or
 * NULL when nothing needs it), a nested value's series is the caller's. Fails with NK_SHAPE when there are more. */
NK_API nk_status nk_series_value(const char *function, nk_series *const *args, int n_args,
                                 const nk_named_option *options, int n_options, nk_value *out,
                                 nk_series **owner, nk_error *err);
/* A series of n copies of one value. */
NK_API nk_status nk_series_constant(const char *name, const nk_value *value, int64_t n, nk_series **out,
                                    nk_error *err);

/* Build a series value by value. Nested dtypes: append to the child, then nk_series_builder_nested closes the row. */
typedef struct nk_series_builder nk_series_builder;
NK_API nk_status nk_series_builder_new(const char *dtype, nk_series_builder **out, nk_error *err);
NK_API void nk_series_builder_free(nk_series_builder *builder);
NK_API nk_status nk_series_builder_null(nk_series_builder *builder, nk_error *err);
NK_API nk_status nk_series_builder_boolean(nk_series_builder *builder, bool value, nk_error *err);
NK_API nk_status nk_series_builder_integer(nk_series_builder *builder, uint64_t low, int64_t high,
                                           nk_error *err);
NK_API nk_status nk_series_builder_float(nk_series_builder *builder, double value, nk_error *err);
NK_API nk_status nk_series_builder_bytes(nk_series_builder *builder, const char *bytes, int64_t n_bytes,
                                         nk_error *err);
NK_API nk_status nk_series_builder_nested(nk_series_builder *builder, nk_error *err);
NK_API nk_series_builder *nk_series_builder_child(nk_series_builder *builder, int i); /* borrowed */
NK_API nk_status nk_series_builder_finish(nk_series_builder *builder, const char *name, nk_series **out,
                                          nk_error *err);

/* ---- Frames ---- */

typedef struct nk_frame nk_frame;

NK_API nk_status nk_frame_import(struct ArrowArrayStream *stream, nk_frame **out,
                                 nk_error *err); /* takes over */
NK_API nk_status nk_frame_export(nk_frame *frame, struct ArrowArrayStream *out, nk_error *err);
/* Series of equal length (NK_SHAPE) and different names (NK_DUPLICATE); height counts when there are none. */
NK_API nk_status nk_frame_from_series(nk_series *const *series, int n_series, int64_t height, nk_frame **out,
                                      nk_error *err);
NK_API nk_frame *nk_frame_ref(nk_frame *frame);
NK_API void nk_frame_unref(nk_frame *frame);
NK_API int64_t nk_frame_height(const nk_frame *frame);
NK_API int nk_frame_width(const nk_frame *frame);
NK_API const char *nk_frame_name(const nk_frame *frame, int column);
NK_API const char *nk_frame_dtype(const nk_frame *frame, int column);
NK_API int nk_frame_find(const nk_frame *frame, const char *name); /* -1 when absent */
NK_API nk_status nk_frame_column(nk_frame *frame, int column, nk_series **out, nk_error *err);

/* How tables are printed; zero is the default everywhere. */
typedef struct nk_format_options {
	int64_t size;
	int max_rows;        /* 0: 10; negative: all */
	int max_columns;     /* 0: 8; negative: all */
	int max_string;      /* 0: 30 code points */
	int max_list;        /* 0: 3 items */
	int width;           /* 0: 100 columns of the terminal; negative: no limit */
	int float_precision; /* 0: automatic; n: n - 1 digits */
	bool float_full;
	bool hide_shape, hide_names, hide_dtypes, hide_separator;
	bool dtype_inline, shape_below;
	const char *style;     /* NULL: "UTF8_FULL_CONDENSED"; names as in Polars' Config */
	const char *alignment; /* NULL: "LEFT"; "CENTER", "RIGHT" */
	const char *numeric_alignment;
	const char *thousands_separator, *decimal_separator;
} nk_format_options;

NK_API nk_status nk_frame_to_text(nk_frame *frame, const nk_format_options *options, char **out,
                                  nk_error *err);
NK_API nk_status nk_series_to_text(nk_series *series, const nk_format_options *options, char **out,
                                   nk_error *err);

/* ---- Plans: lazy queries ---- */

typedef struct nk_plan nk_plan;

/* How Parquet files are read; zero is the default everywhere. All of it is copied. */
typedef struct nk_scan_parquet_options {
	int64_t size;
	bool no_glob;
	const char *const *schema_names, *const *schema_dtypes; /* of all columns; NULL: the first file's */
	int n_schema;
	bool insert_missing_columns, ignore_extra_columns; /* of files against the schema */
	int hive_partitioning; /* columns of folders "key=value". 0: where the path is one folder, 1: yes, -1: no */
	const char *const *hive_names, *const *hive_dtypes; /* of some of these columns; others are inferred */
	int n_hive_schema;
	bool no_hive_dates;             /* dates in folders stay String */
	const char *include_file_paths; /* one more column with the path of a row's file; NULL: none */
	const char *row_index_name;     /* NULL: none */
	int64_t row_index_offset;
	int64_t n_rows; /* 0: all, n: n - 1 rows at most */
} nk_scan_parquet_options;

/* How CSV text is read; zero is the default everywhere. All of it is copied. */
typedef struct nk_scan_csv_options {
	int64_t size;
	bool no_header;             /* columns are called column_0, column_1, ... */
	const char *separator;      /* one byte; NULL: "," */
	const char *quote_char;     /* one byte; NULL: "\""; "": quotes mean nothing */
	const char *eol_char;       /* one byte; NULL: "\n" (a carriage return before it does not count) */
	const char *comment_prefix; /* lines that begin with it are left out; NULL: none */
	int64_t skip_rows, skip_lines, skip_rows_after_header;
	/* The dtypes of all columns, by name or without a header by position; NULL: inferred. */
	const char *const *schema_names, *const *schema_dtypes;
	int n_schema;
	/* The dtypes of some columns, by name, or of all by position when override_names is NULL. */
	const char *const *override_names, *const *override_dtypes;
	int n_overrides;
	const char *const *new_names; /* instead of the file's; NULL: none */
	int n_new_names;
	/* Texts that stand for null, each in the column of that name, or in all when null_columns or an entry is NULL. */
	const char *const *null_values, *const *null_columns;
	int n_null_values;
	int64_t
		infer_rows; /* rows that dtypes are inferred from: 0: 100, n: n - 1 (none: all String), negative: all */
	int64_t infer_files;     /* 0: 10 */
	bool keep_empty_strings; /* an empty field of a String column is no null */
	bool ignore_errors;      /* what cannot be read is null */
	bool lossy;              /* bytes that are no UTF-8 become U+FFFD */
	bool try_parse_dates;
	bool truncate_ragged_lines; /* fields behind the last column are left out */
	bool decimal_comma;
	bool allow_empty; /* no NK_NO_DATA for files without anything */
	bool no_glob;
	bool ignore_extra_columns, insert_missing_columns; /* of later files or against the schema */
	const char *include_file_paths; /* one more column with the path of a row's file; NULL: none */
	const char *row_index_name;     /* NULL: none */
	int64_t row_index_offset;
	int64_t n_rows; /* 0: all, n: n - 1 rows at most */
} nk_scan_csv_options;

typedef struct nk_scan_ipc_options {
	int64_t size;
	bool is_stream; /* the stream format, which has no footer */
	bool no_glob;
	const char *include_file_paths; /* one more column with the path of a row's file; NULL: none */
	const char *row_index_name;     /* NULL: none */
	int64_t row_index_offset;
	int64_t n_rows; /* 0: all, n: n - 1 rows at most */
} nk_scan_ipc_options;

/* How JSON is read; zero is the default everywhere. All of it is copied. */
typedef struct nk_scan_json_options {
	int64_t size;
	const char *const *schema_names, *const *schema_dtypes; /* of all columns; NULL: inferred */
	int n_schema;
	const char *const *override_names, *const *override_dtypes; /* of some columns */
	int n_overrides;
	int64_t infer_rows; /* rows that dtypes are inferred from: 0: 100, negative: all */
	bool ignore_errors; /* values that are not of their column's dtype are null (lines only) */
	bool no_glob;
	const char *include_file_paths; /* one more column with the path of a row's file; NULL: none */
	const char *row_index_name;     /* NULL: none */
	int64_t row_index_offset;
	int64_t n_rows; /* 0: all, n: n - 1 rows at most */
} nk_scan_json_options;

typedef struct nk_join_options {
	int64_t size;
	const char *how;            /* "inner" (NULL), "left", "right", "full", "semi", "anti", "cross" */
	const char *suffix;         /* NULL: "_right" */
	const char *validate;       /* NULL: "m:m"; "1:m", "m:1", "1:1" */
	const char *maintain_order; /* NULL: "none"; "left", "right", "left_right", "right_left" */
	int coalesce;               /* 0: by kind, 1: yes, -1: no */
	bool nulls_equal;
} nk_join_options;

typedef struct nk_query_options nk_query_options;
typedef struct nk_progress nk_progress;

/* Files, globs and directories. Reads footers only when asked for the schema. */
NK_API nk_status nk_plan_scan_parquet(const char *const *paths, int n_paths,
                                      const nk_scan_parquet_options *options, nk_plan **out, nk_error *err);
/* Files, globs and directories of CSV text, plain or compressed (gzip, zlib, zstd). Reads heads of files only when asked
 * for the schema. options may be NULL. */
NK_API nk_status nk_plan_scan_csv(const char *const *paths, int n_paths, const nk_scan_csv_options *options,
                                  nk_plan **out, nk_error *err);
/* Arrow IPC files, globs and directories. Frames share the memory of the mapped files, which must not be changed while they
 * live. options may be NULL. */
NK_API nk_status nk_plan_scan_ipc(const char *const *paths, int n_paths, const nk_scan_ipc_options *options,
                                  nk_plan **out, nk_error *err);
/* Files, globs and directories of lines that hold a JSON object each, plain or compressed (gzip, zlib, zstd). options may
 * be NULL. */
NK_API nk_status nk_plan_scan_ndjson(const char *const *paths, int n_paths,
                                     const nk_scan_json_options *options, nk_plan **out, nk_error *err);
/* A file that is one JSON document: an array of objects, or one object. Of the options, those of schemas count. */
NK_API nk_status nk_frame_read_json(const char *path, const nk_scan_json_options *options, nk_frame **out,
                                    nk_error *err);
NK_API nk_status nk_plan_from_frame(nk_frame *frame, nk_plan **out, nk_error *err);
NK_API nk_status nk_plan_filter(nk_plan *plan, nk_expr *const *predicates, int n, nk_plan **out,
                                nk_error *err);
/* eager: columns of length one that are no scalars do not broadcast. */
NK_API nk_status nk_plan_select(nk_plan *plan, nk_expr *const *exprs, int n, bool eager, nk_plan **out,
                                nk_error *err);
NK_API nk_status nk_plan_with_columns(nk_plan *plan, nk_expr *const *exprs, int n, bool eager, nk_plan **out,
                                      nk_error *err);
NK_API nk_status nk_plan_group_by(nk_plan *plan, nk_expr *const *keys, int n_keys, nk_expr *const *aggregates,
                                  int n_aggregates, bool maintain_order, nk_plan **out, nk_error *err);
NK_API nk_status nk_plan_join(nk_plan *left, nk_plan *right, nk_expr *const *left_on,
                              nk_expr *const *right_on, int n_on, const nk_join_options *options,
                              nk_plan **out, nk_error *err);
/* Each left row with the nearest row of the right by `on` (ordered on both sides) among those with equal `by`. */
typedef struct nk_asof_options {
	int64_t size;
	const char *strategy;             /* NULL: "backward"; "forward", "nearest" */
	const char *tolerance;            /* how far a match may be: a number or a duration; NULL: any */
	const char *suffix;               /* NULL: "_right" */
	bool keep_right_on;               /* the right's `on` comes out too */
	bool no_exact_matches, unchecked; /* unchecked: the caller knows that `on` is in order */
} nk_asof_options;
NK_API nk_status nk_plan_join_asof(nk_plan *left, nk_plan *right, nk_expr *left_on, nk_expr *right_on,
                                   nk_expr *const *left_by, nk_expr *const *right_by, int n_by,
                                   const nk_asof_options *options, nk_plan **out, nk_error *err);
/* Windows over a sorted index (integers, "2i"; or times, "1h30m", "1mo") within groups of equal keys. One for each row, or
 * `every` so often when that is given. */
typedef struct nk_window_options {
	int64_t size;
	const char *every;    /* NULL: a window for each row */
	const char *period;   /* NULL: as every */
	const char *offset;   /* NULL: none; of a row's window: the period, backwards */
	const char *closed;   /* NULL: "left", of rows' windows "right"; "both", "none" */
	const char *label;    /* NULL: "left"; "right", "datapoint" */
	const char *start_by; /* NULL: "window"; "datapoint", or a day: "monday" */
	bool include_boundaries;
} nk_window_options;
NK_API nk_status nk_plan_windows(nk_plan *plan, nk_expr *index, nk_expr *const *keys, int n_keys,
                                 nk_expr *const *aggregates, int n_aggregates,
                                 const nk_window_options *options, nk_plan **out, nk_error *err);

/* Functions of the host. `call` may run on any thread; it fails with NK_FOREIGN, or another status and message. data is
 * taken over, also on failure, and given to `free` once. */
typedef struct nk_column_function {
	int64_t size;
	void *data;
	nk_status (*call)(void *data, nk_series *const *args, int n_args, nk_series **out, nk_error *err);
	void (*free)(void *data);
	const char
		*dtype; /* of the result; NULL: that of a call on two rows, which is made when a query is bound */
	bool is_elementwise, returns_scalar;
	bool takes_all; /* a selector among the arguments stands for several arguments, not for several calls */
} nk_column_function;
NK_API nk_status nk_expr_map(const nk_column_function *function, nk_expr *const *args, int n_args,
                             nk_expr **out, nk_error *err);
typedef struct nk_table_function {
	int64_t size;
	void *data;
	nk_status (*call)(void *data, nk_frame *input, nk_frame **out, nk_error *err);
	void (*free)(void *data);
	nk_frame *schema; /* a frame with the result's columns; NULL: those of the input */
} nk_table_function;
NK_API nk_status nk_plan_map(nk_plan *plan, const nk_table_function *function, nk_plan **out, nk_error *err);
/* descending and nulls_last: n_by values each, or NULL for all false. */
NK_API nk_status nk_plan_sort(nk_plan *plan, nk_expr *const *by, int n_by, const bool *descending,
                              const bool *nulls_last, bool maintain_order, nk_plan **out, nk_error *err);
/* length negative: to the end. */
NK_API nk_status nk_plan_slice(nk_plan *plan, int64_t offset, int64_t length, nk_plan **out, nk_error *err);
/* subset: selectors or columns, none for all. keep: "any", "first", "last", "none". */
NK_API nk_status nk_plan_unique(nk_plan *plan, nk_expr *const *subset, int n_subset, const char *keep,
                                bool maintain_order, nk_plan **out, nk_error *err);
/* how: "vertical", "vertical_relaxed", "diagonal", "diagonal_relaxed", "horizontal". */
NK_API nk_status nk_plan_concat(nk_plan *const *plans, int n_plans, const char *how, nk_plan **out,
                                nk_error *err);
NK_API nk_status nk_plan_row_index(nk_plan *plan, const char *name, int64_t offset, nk_plan **out,
                                   nk_error *err);
NK_API nk_status nk_plan_rename(nk_plan *plan, const char *const *from, const char *const *to, int n,
                                bool strict, nk_plan **out, nk_error *err);
NK_API nk_status nk_plan_drop(nk_plan *plan, nk_expr *const *columns, int n, bool strict, nk_plan **out,
                              nk_error *err);
/* A row for each item of the lists in `columns`, which have equally many (NK_SHAPE), beside the other columns' values. A
 * null list gives a null row only with keep_nulls, an empty one with empty_as_null. */
NK_API nk_status nk_plan_explode(nk_plan *plan, nk_expr *const *columns, int n, bool empty_as_null,
                                 bool keep_nulls, nk_plan **out, nk_error *err);
NK_API nk_plan *nk_plan_ref(nk_plan *plan);
NK_API void nk_plan_unref(nk_plan *plan);

/* A flag that another thread or a signal handler may raise to end queries (NK_CANCELLED), once for all. */
typedef struct nk_cancellation nk_cancellation;
NK_API nk_status nk_cancellation_new(nk_cancellation **out, nk_error *err);
NK_API void nk_cancellation_raise(nk_cancellation *cancellation);
NK_API void nk_cancellation_free(nk_cancellation *cancellation);
/* From now on the flag ends whatever this thread calls, also what takes no options: schemas, SQL, series. NULL: no
 * longer. The flag must live until then. */
NK_API void nk_cancellation_watch(nk_cancellation *cancellation);

/* How far a query has come. */
struct nk_progress {
	int64_t size;
	double seconds;    /* since it began */
	double fraction;   /* done, of 0 to 1; negative: unknown */
	int step, n_steps; /* what runs one after another: which one, from 1 */
	int64_t n_rows;    /* read from sources */
	int64_t n_bytes;   /* of memory held */
};
/* One line of ASCII of at most `width` characters, for terminals: a bar, or a sign that turns. out has room for width + 1. */
NK_API void nk_progress_line(const nk_progress *progress, int width, char *out);

struct nk_query_options {
	int64_t size;
	nk_cancellation *cancellation; /* NULL: none */
	int64_t memory_limit;          /* bytes, beyond which the query spills or fails (NK_OUT_OF_MEMORY); 0: the
	                                * context's, negative: none */
	double time_limit; /* seconds, after which it fails (NK_TIMEOUT); 0: the context's, negative: none */
	uint32_t skip_optimizations; /* bits of NK_SKIP_ */
	/* Called on the calling thread about ten times a second while the query runs; false ends it (NK_CANCELLED). NULL: never. */
	bool (*progress)(const nk_progress *progress, void *data);
	void *progress_data;
};
enum {
	NK_SKIP_PREDICATE_PUSHDOWN = 1,
	NK_SKIP_PROJECTION_PUSHDOWN = 2,
	NK_SKIP_SLICE_PUSHDOWN = 4,
	NK_SKIP_SIMPLIFY = 8,
	NK_SKIP_COMMON_SUBPLANS = 16,
	NK_SKIP_JOIN_ORDER = 32,
	NK_SKIP_RUNTIME_FILTERS = 64,
};

NK_API nk_status nk_plan_collect(nk_plan *plan, const nk_query_options *options, nk_frame **out,
                                 nk_error *err);
/* An empty frame with the result's names and dtypes; reads no data pages. */
NK_API nk_status nk_plan_collect_schema(nk_plan *plan, nk_frame **out, nk_error *err);
/* format: "text" or "dot"; analyze: run it and show what happened. */
NK_API nk_status nk_plan_explain(nk_plan *plan, const char *format, bool optimized, bool analyze,
                                 const nk_query_options *options, char **out, nk_error *err);
/* Runs the plan and says what that was bound by and what would make it faster: *json for programs, *text for people (either may
 * be NULL), both to be freed with nk_text_free. */
NK_API nk_status nk_plan_analyze(nk_plan *plan, const nk_query_options *options, char **json, char **text,
                                 nk_error *err);

typedef struct nk_sink_parquet_options {
	int64_t size;
	const char *compression; /* NULL: "zstd"; "snappy", "gzip", "brotli", "lz4", "uncompressed" */
	bool has_level;          /* compression_level counts; else the usual one */
	int compression_level;
	bool no_statistics;     /* neither bounds nor null counts nor page index */
	int64_t row_group_rows; /* 0: 122880 */
} nk_sink_parquet_options;
/* Sinks write in row order to a new file, which appears under its name when it is whole, and not at all when the query
 * fails or is ended. query may be NULL, as options may. */
NK_API nk_status nk_plan_sink_parquet(nk_plan *plan, const char *path, const nk_sink_parquet_options *options,
                                      const nk_query_options *query, nk_error *err);

typedef struct nk_sink_csv_options {
	int64_t size;
	bool include_bom, no_header, decimal_comma;
	const char *separator;       /* one byte; NULL: "," */
	const char *quote_char;      /* one byte; NULL: "\"" */
	const char *line_terminator; /* NULL: "\n" */
	const char *null_value;      /* NULL: "" */
	const char *quote_style;     /* NULL: "necessary"; "always", "non_numeric", "never" */
	const char *date_format, *time_format, *datetime_format; /* as strftime; NULL: ISO 8601 */
	int float_scientific;    /* 0: where it is shorter, 1: always, -1: never */
	int float_precision;     /* 0: as many digits as needed, n: n - 1 decimals */
	const char *compression; /* NULL: "uncompressed"; "gzip", "zstd" */
	int compression_level;   /* 0: the usual one, n: n - 1 */
} nk_sink_csv_options;
NK_API nk_status nk_plan_sink_csv(nk_plan *plan, const char *path, const nk_sink_csv_options *options,
                                  const nk_query_options *query, nk_error *err);

typedef struct nk_sink_ipc_options {
	int64_t size;
	bool is_stream;
	const char *compression;   /* NULL: "uncompressed"; "lz4", "zstd" */
	bool no_views;             /* text with offsets of 64 bits, which older readers know */
	int64_t record_batch_rows; /* 0: 122880 */
} nk_sink_ipc_options;
NK_API nk_status nk_plan_sink_ipc(nk_plan *plan, const char *path, const nk_sink_ipc_options *options,
                                  const nk_query_options *query, nk_error *err);

typedef struct nk_sink_json_options {
	int64_t size;
	bool is_document;        /* one array of objects; else an object a line */
	const char *compression; /* NULL: "uncompressed"; "gzip", "zstd" */
	int compression_level;   /* 0: the usual one, n: n - 1 */
} nk_sink_json_options;
NK_API nk_status nk_plan_sink_json(nk_plan *plan, const char *path, const nk_sink_json_options *options,
                                   const nk_query_options *query, nk_error *err);

/* ---- SQL ---- */

/* Tables by name. May be used from several threads. */
typedef struct nk_sql_context nk_sql_context;
NK_API nk_status nk_sql_context_new(nk_sql_context **out, nk_error *err);
NK_API void nk_sql_context_free(nk_sql_context *context);
/* Replaces what had the name. */
NK_API nk_status nk_sql_context_register(nk_sql_context *context, const char *name, nk_plan *plan,
                                         nk_error *err);
NK_API bool nk_sql_context_unregister(nk_sql_context *context, const char *name); /* false: there was none */
/* Names in order, separated by NUL and ended by two. *out is to be freed with nk_text_free. */
NK_API nk_status nk_sql_context_tables(nk_sql_context *context, char **out, nk_error *err);
/* One statement. Queries become plans and run when collected; EXPLAIN, SHOW TABLES and DESCRIBE answer with a plan of
 * their text; CREATE TABLE AS, DROP TABLE and TRUNCATE change the context. Files are tables too: from 'x.parquet',
 * read_csv('x.csv'). context may be NULL: files only. Fails with NK_SQL_INTERFACE or NK_SQL_SYNTAX, pointing into the
 * text, and with what planning raises. */
NK_API nk_status nk_sql_context_execute(nk_sql_context *context, const char *query, nk_plan **out,
                                        nk_error *err);
/* A SQL expression, maybe with AS; every name is a column. */
NK_API nk_status nk_expr_sql(const char *text, nk_expr **out, nk_error *err);

NK_API nk_status nk_plan_serialise(const nk_plan *plan, char **out, int64_t *n_bytes, nk_error *err);
NK_API nk_status nk_plan_deserialise(const char *bytes, int64_t n_bytes, nk_plan **out, nk_error *err);

#ifdef __cplusplus
}
#endif

#endif
