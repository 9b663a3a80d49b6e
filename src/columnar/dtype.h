/* Logical types. A dtype is interned: equal types are the same pointer, valid until the process ends, so
 * comparing is `==` and nobody owns one. Names follow Polars.
 *
 * The physical type is how values lie in memory; several dtypes share one. A Decimal has two: its arrays are
 * int64 or int128, whichever their values need, so for Decimal ask the array, never the dtype. */
#ifndef NK_COLUMNAR_DTYPE_H
#define NK_COLUMNAR_DTYPE_H

#include "base/status.h"

typedef enum nk_type_id {
	NK_TYPE_NULL,
	NK_TYPE_BOOLEAN,
	NK_TYPE_INT8,
	NK_TYPE_INT16,
	NK_TYPE_INT32,
	NK_TYPE_INT64,
	NK_TYPE_INT128,
	NK_TYPE_UINT8,
	NK_TYPE_UINT16,
	NK_TYPE_UINT32,
	NK_TYPE_UINT64,
	NK_TYPE_FLOAT32,
	NK_TYPE_FLOAT64,
	NK_TYPE_DECIMAL,
	NK_TYPE_STRING,
	NK_TYPE_BINARY,
	NK_TYPE_DATE,     /* int32 days since 1970-01-01 */
	NK_TYPE_DATETIME, /* int64 units since 1970-01-01T00:00, in UTC when a zone is given */
	NK_TYPE_DURATION, /* int64 units */
	NK_TYPE_TIME,     /* int64 nanoseconds since midnight */
	NK_TYPE_LIST,
	NK_TYPE_STRUCT,
	NK_TYPE_ARRAY, /* lists of one width; as arrays they are lists, whose null rows have any number of items */
	NK_TYPE_CATEGORICAL, /* codes of texts that grow (columnar/categories.h); ordered by text */
	NK_TYPE_ENUM,        /* codes of fixed texts; ordered by code */
	NK_TYPE_N,
} nk_type_id;

typedef enum nk_physical {
	NK_PHYSICAL_NONE, /* Null: no values */
	NK_PHYSICAL_BOOL, /* bitmap */
	NK_PHYSICAL_I8,
	NK_PHYSICAL_I16,
	NK_PHYSICAL_I32,
	NK_PHYSICAL_I64,
	NK_PHYSICAL_I128,
	NK_PHYSICAL_U8,
	NK_PHYSICAL_U16,
	NK_PHYSICAL_U32,
	NK_PHYSICAL_U64,
	NK_PHYSICAL_F32,
	NK_PHYSICAL_F64,
	NK_PHYSICAL_VIEW, /* nk_view, 16 bytes */
	NK_PHYSICAL_LIST, /* n + 1 int64 offsets into the child */
	NK_PHYSICAL_STRUCT,
	NK_PHYSICAL_N,
} nk_physical;

typedef enum nk_time_unit { NK_UNIT_MS, NK_UNIT_US, NK_UNIT_NS } nk_time_unit;

typedef struct nk_dtype nk_dtype;
typedef struct nk_categories nk_categories;

typedef struct nk_field {
	const char *name;
	const nk_dtype *dtype;
} nk_field;

struct nk_dtype {
	nk_type_id id;
	nk_physical physical;      /* of Decimal: NK_PHYSICAL_I128, the widest */
	nk_time_unit unit;         /* Datetime, Duration */
	int precision, scale;      /* Decimal: 1..38, 0..precision */
	const char *time_zone;     /* Datetime: NULL when naive; interned */
	nk_categories *categories; /* Categorical, Enum */
	const char *name, *space;  /* Categorical: which categories; "" and "" are the global ones */
	int64_t width;             /* Array: items of a valid row */
	int n_fields;              /* List, Array: 1 (the item), Struct: its fields */
	const nk_field *fields;
	const char *text; /* "Int64", "Datetime(us, UTC)", "Decimal(10, 2)", "List(Int64)", "Struct{...}" */
};

/* Deeper nesting is refused where types come from outside, so that code may recurse on a type. */
enum { NK_DTYPE_MAX_DEPTH = 64 };

/* Types without parameters. */
const nk_dtype *nk_dtype_of(nk_type_id id);
/* Types with parameters. NULL when out of memory. */
const nk_dtype *nk_dtype_decimal(int precision, int scale);
const nk_dtype *nk_dtype_datetime(nk_time_unit unit, const char *time_zone);
const nk_dtype *nk_dtype_duration(nk_time_unit unit);
const nk_dtype *nk_dtype_list(const nk_dtype *item);
const nk_dtype *nk_dtype_array(const nk_dtype *item, int64_t width);
const nk_dtype *nk_dtype_struct(const nk_field *fields, int n_fields);
/* Categories of a name, within a namespace, with UInt8, UInt16 or UInt32 codes: the same arguments share one set. */
const nk_dtype *nk_dtype_categorical(const char *name, const char *space, nk_physical physical);
/* The integers that codes of a Categorical or Enum are. */
const nk_dtype *nk_dtype_of_codes(const nk_dtype *dtype);
/* The n texts are unique; codes are as narrow as they allow. */
const nk_dtype *nk_dtype_enum(const char *const *texts, int64_t n);

/* The inverse of ->text. Fails with NK_INVALID_OPERATION. */
NK_MUST_CHECK nk_status nk_dtype_parse(const char *text, const nk_dtype **out, nk_error *err);
/* The short form shown above a printed column ("i64", "datetime[μs]", "list[str]"). Borrowed, interned. */
const char *nk_dtype_short_name(const nk_dtype *dtype);

/* 1 for types without parts, one more for each level of List or Struct. */
int nk_dtype_depth(const nk_dtype *dtype);

/* Bytes of one value; 0 for bits, lists, structs and Null. */
int nk_physical_size(nk_physical physical);

static inline bool nk_type_is_signed(nk_type_id id) { return id >= NK_TYPE_INT8 && id <= NK_TYPE_INT128; }
static inline bool nk_type_is_unsigned(nk_type_id id) { return id >= NK_TYPE_UINT8 && id <= NK_TYPE_UINT64; }
static inline bool nk_type_is_integer(nk_type_id id) { return id >= NK_TYPE_INT8 && id <= NK_TYPE_UINT64; }
static inline bool nk_type_is_float(nk_type_id id) { return id == NK_TYPE_FLOAT32 || id == NK_TYPE_FLOAT64; }
static inline bool nk_type_is_numeric(nk_type_id id) { return id >= NK_TYPE_INT8 && id <= NK_TYPE_DECIMAL; }
static inline bool nk_type_is_temporal(nk_type_id id) { return id >= NK_TYPE_DATE && id <= NK_TYPE_TIME; }
static inline bool nk_type_is_nested(nk_type_id id) { return id >= NK_TYPE_LIST && id <= NK_TYPE_ARRAY; }
static inline bool nk_type_is_category(nk_type_id id)
{
	return id == NK_TYPE_CATEGORICAL || id == NK_TYPE_ENUM;
}
static inline bool nk_type_is_textual(nk_type_id id) { return id == NK_TYPE_STRING || id == NK_TYPE_BINARY; }

/* Units per second, and the power of ten of a Decimal's scale (0..38). */
int64_t nk_unit_per_second(nk_time_unit unit);
__int128 nk_power_of_ten(int exponent);

#endif
