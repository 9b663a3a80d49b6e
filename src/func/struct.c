/* Structs: made of columns, taken apart, renamed. Names come as the fields of a Struct dtype in the option "fields"
 * (dtypes in it mean nothing): binding writes the arguments' names there (func.h: names_fields). A null struct has no
 * fields that are anything but null. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/nested.h"
#include "compute/select.h"
#include "func/each.h"
#include "func/func.h"

enum { FIELDS };

typedef struct struct_plan {
	int n_args;
	const int *sources;  /* of field i of the result: argument number, or ~position in the first argument */
	bool keeps_validity; /* of the first argument, a Struct */
} struct_plan;

static nk_status no_memory(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a Struct"); }

static nk_status refuse(const nk_bind *bind, nk_error *err)
{
	return nk_fail(err, NK_INVALID_OPERATION, "`%s` expects a Struct, got `%s`", bind->func->name,
	               nk_dtype_short_name(bind->args[0].dtype));
}

static nk_status missing_field(const char *name, nk_error *err)
{
	return nk_fail(err, NK_STRUCT_FIELD_NOT_FOUND, "%s", name);
}

static int find_field(const nk_dtype *dtype, const char *name, int64_t n_bytes)
{
	for (int i = 0; i < dtype->n_fields; i++)
		if ((int64_t)strlen(dtype->fields[i].name) == n_bytes &&
		    memcmp(dtype->fields[i].name, name, (size_t)n_bytes) == 0)
			return i;
	return -1;
}

/* ---- as_struct, struct.with_fields, struct.eval ---- */

static nk_status validity_copy(nk_memory *memory, const nk_array *array, nk_buffer **out, nk_error *err)
{
	*out = NULL;
	if (!array->validity)
		return NK_OK;
	NK_TRY(nk_buffer_new(memory, nk_bitmap_bytes(array->n_rows), out, err));
	memcpy((*out)->bytes, array->validity, (size_t)nk_bitmap_bytes(array->n_rows));
	return NK_OK;
}

static nk_status make_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                             nk_error *err)
{
	const struct_plan *plan = call->data;
	int n_fields = call->dtype->n_fields, n = 0;
	nk_array **fields = calloc((size_t)n_fields + 1, sizeof *fields);
	NK_AUTO(nk_array) outer = NULL;
	nk_buffer *validity = NULL;
	nk_status status = fields ? NK_OK : no_memory(err);
	if (status == NK_OK && plan->keeps_validity)
		status = nk_array_flatten(call->memory, args[0], &outer, err);
	for (; status == NK_OK && n < n_fields; n++) {
		int source = plan->sources[n];
		nk_array *from = source < 0 ? outer->children[~source] : args[source];
		status = nk_array_flatten(call->memory, from, &fields[n], err);
		if (status != NK_OK)
			break;
	}
	if (status == NK_OK && outer)
		status = validity_copy(call->memory, outer, &validity, err);
	if (status == NK_OK) {
		status = nk_array_new_struct(call->dtype, n_rows, fields, validity, validity ? -1 : 0, out, err);
	} else {
		for (int i = 0; i < n; i++)
			nk_array_unref(fields[i]);
	}
	free(fields);
	return status;
}

/* Fields of the first argument (with_fields) come first; later ones of the same name take their places. */
static nk_status bind_make(nk_bind *bind, bool takes_struct, bool with_fields, nk_error *err)
{
	const nk_dtype *names = bind->options[FIELDS].dtype, *first = bind->args[0].dtype;
	int offset = takes_struct;
	if (takes_struct && first->id != NK_TYPE_STRUCT)
		return refuse(bind, err);
	if (!names || names->n_fields != bind->n_args - offset)
		return nk_fail(err, NK_VALUE, "`%s` needs a name for each field", bind->func->name);
	int n_old = with_fields ? first->n_fields : 0, n = n_old;
	nk_field *fields;
	int *sources;
	struct_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &fields, n_old + names->n_fields + 1, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &sources, n_old + names->n_fields + 1, err));
	for (int i = 0; i < n_old; i++) {
		fields[i] = first->fields[i];
		sources[i] = ~i;
	}
	for (int i = 0; i < names->n_fields; i++) {
		const char *name = names->fields[i].name;
		int at = 0;
		while (at < n && strcmp(fields[at].name, name) != 0)
			at++;
		if (at < n && (!with_fields || at >= n_old))
			return nk_fail(err, NK_DUPLICATE, "multiple fields with name '%s' found", name);
		n += at == n;
		fields[at] = (nk_field){name, bind->args[i + offset].dtype};
		sources[at] = i + offset;
	}
	bind->dtype = nk_dtype_struct(fields, n);
	if (!bind->dtype)
		return no_memory(err);
	*plan = (struct_plan){.n_args = bind->n_args, .sources = sources, .keeps_validity = takes_struct};
	bind->data = plan;
	bind->kernel = make_kernel;
	return NK_OK;
}

static nk_status bind_as_struct(nk_bind *bind, nk_error *err) { return bind_make(bind, false, false, err); }
static nk_status bind_with_fields(nk_bind *bind, nk_error *err) { return bind_make(bind, true, true, err); }
static nk_status bind_eval(nk_bind *bind, nk_error *err) { return bind_make(bind, true, false, err); }

/* ---- struct.field ---- */

static nk_status field_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                              nk_error *err)
{
	(void)n_rows;
	NK_AUTO(nk_array) flat = NULL;
	NK_TRY(nk_array_flatten(call->memory, args[0], &flat, err));
	*out = nk_array_ref(flat->children[*(const int *)call->data]);
	return NK_OK;
}

static nk_status bind_field(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	const nk_scalar *name = bind->args[1].literal;
	if (dtype->id != NK_TYPE_STRUCT)
		return nk_fail(err, NK_STRUCT_FIELD_NOT_FOUND, "a field of what is no Struct but `%s`",
		               nk_dtype_short_name(dtype));
	if (!name || name->is_null || name->dtype->id != NK_TYPE_STRING)
		return nk_fail(err, NK_VALUE, "`struct.field` needs the name of a field");
	int *place;
	NK_TRY(NK_ARENA_NEW(bind->arena, &place, 1, err));
	*place = find_field(dtype, name->bytes, name->n_bytes);
	if (*place < 0)
		return nk_fail(err, NK_STRUCT_FIELD_NOT_FOUND, "%.*s", (int)name->n_bytes, name->bytes);
	bind->data = place;
	bind->dtype = dtype->fields[*place].dtype;
	bind->kernel = field_kernel;
	return NK_OK;
}

/* ---- Other names ---- */

static nk_status retype_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                               nk_error *err)
{
	(void)n_rows;
	return nk_array_retype(args[0], call->dtype, out, err);
}

static nk_status bind_rename(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype, *names = bind->options[FIELDS].dtype;
	if (dtype->id != NK_TYPE_STRUCT)
		return refuse(bind, err);
	int n = names ? names->n_fields : 0;
	if (n != dtype->n_fields)
		return nk_fail(err, NK_SCHEMA_MISMATCH,
		               "struct.rename_fields() argument has a different number of fields than the struct "
		               "it operates on (%d vs %d)",
		               n, dtype->n_fields);
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(bind->arena, &fields, n + 1, err));
	for (int i = 0; i < n; i++)
		fields[i] = (nk_field){names->fields[i].name, dtype->fields[i].dtype};
	bind->dtype = nk_dtype_struct(fields, n);
	bind->kernel = retype_kernel;
	return bind->dtype ? NK_OK : no_memory(err);
}

enum { PREFIX, SUFFIX };

static nk_status bind_affix(nk_bind *bind, nk_error *err)
{
	const nk_dtype *dtype = bind->args[0].dtype;
	const char *prefix = bind->options[PREFIX].string, *suffix = bind->options[SUFFIX].string;
	if (dtype->id != NK_TYPE_STRUCT)
		return refuse(bind, err);
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(bind->arena, &fields, dtype->n_fields + 1, err));
	for (int i = 0; i < dtype->n_fields; i++) {
		char *name;
		const char *old = dtype->fields[i].name;
		size_t n_name = strlen(prefix) + strlen(old) + strlen(suffix) + 1;
		NK_TRY(NK_ARENA_NEW(bind->arena, &name, (int64_t)n_name, err));
		snprintf(name, n_name, "%s%s%s", prefix, old, suffix);
		fields[i] = (nk_field){name, dtype->fields[i].dtype};
	}
	bind->dtype = nk_dtype_struct(fields, dtype->n_fields);
	bind->kernel = retype_kernel;
	return bind->dtype ? NK_OK : no_memory(err);
}

static nk_status bind_drop(nk_bind *bind, nk_error *err)
{
	enum { STRICT = 1 };
	const nk_dtype *dtype = bind->args[0].dtype, *names = bind->options[FIELDS].dtype;
	if (dtype->id != NK_TYPE_STRUCT)
		return refuse(bind, err);
	for (int i = 0; names && bind->options[STRICT].boolean && i < names->n_fields; i++)
		if (find_field(dtype, names->fields[i].name, (int64_t)strlen(names->fields[i].name)) < 0)
			return missing_field(names->fields[i].name, err);
	nk_field *fields;
	int *sources, n = 0;
	struct_plan *plan;
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &fields, dtype->n_fields + 1, err));
	NK_TRY(NK_ARENA_NEW(bind->arena, &sources, dtype->n_fields + 1, err));
	for (int i = 0; i < dtype->n_fields; i++) {
		if (names && find_field(names, dtype->fields[i].name, (int64_t)strlen(dtype->fields[i].name)) >= 0)
			continue;
		fields[n] = dtype->fields[i];
		sources[n++] = ~i;
	}
	*plan = (struct_plan){.n_args = 1, .sources = sources, .keeps_validity = true};
	bind->data = plan;
	bind->dtype = nk_dtype_struct(fields, n);
	bind->kernel = make_kernel;
	return bind->dtype ? NK_OK : no_memory(err);
}

/* ---- list.to_struct ---- */

static nk_status to_struct_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	int n_fields = call->dtype->n_fields, n = 0;
	NK_LISTS(lists);
	NK_AUTO(nk_buffer) rows = NULL;
	NK_TRY(nk_lists_of(call->memory, args[0], &lists, err));
	NK_TRY(nk_buffer_new(call->memory, n_rows * (int64_t)sizeof(int64_t), &rows, err));
	int64_t *from = (int64_t *)(void *)rows->bytes;
	nk_array **fields = calloc((size_t)n_fields + 1, sizeof *fields);
	nk_buffer *validity = NULL;
	nk_status status = fields ? NK_OK : no_memory(err);
	for (; status == NK_OK && n < n_fields; n++) {
		for (int64_t i = 0; i < n_rows; i++)
			from[i] = n < lists.offsets[i + 1] - lists.offsets[i] ? lists.offsets[i] + n : -1;
		status = nk_array_take_optional(call->memory, lists.items, from, n_rows, &fields[n], err);
		if (status != NK_OK)
			break;
	}
	if (status == NK_OK)
		status = validity_copy(call->memory, lists.flat, &validity, err);
	if (status == NK_OK) {
		status = nk_array_new_struct(call->dtype, n_rows, fields, validity, validity ? -1 : 0, out, err);
	} else {
		for (int i = 0; i < n; i++)
			nk_array_unref(fields[i]);
	}
	free(fields);
	return status;
}

static nk_status bind_to_struct(nk_bind *bind, nk_error *err)
{
	const nk_dtype *names = bind->options[FIELDS].dtype;
	if (bind->args[0].dtype->physical != NK_PHYSICAL_LIST)
		return nk__refuse_list(bind, 0, err);
	int n = names ? names->n_fields : (int)bind->args[0].dtype->width;
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(bind->arena, &fields, n + 1, err));
	for (int i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof name, "field_%d", i);
		fields[i] = (nk_field){names ? names->fields[i].name : NULL, bind->args[0].dtype->fields[0].dtype};
		if (!names)
			NK_TRY(nk_arena_string(bind->arena, name, (int64_t)strlen(name), &fields[i].name, err));
	}
	bind->dtype = nk_dtype_struct(fields, n);
	bind->kernel = to_struct_kernel;
	return bind->dtype ? NK_OK : no_memory(err);
}

static const nk_option_spec fields_options[] = {
	[FIELDS] = {"fields", {.kind = NK_OPTION_DTYPE}},
	{0},
};

static const nk_option_spec drop_options[] = {
	[FIELDS] = {"fields", {.kind = NK_OPTION_DTYPE}},
	{"strict", {.kind = NK_OPTION_BOOL, .boolean = true}},
	{0},
};

static const nk_option_spec affix_options[] = {
	[PREFIX] = {"prefix", {.kind = NK_OPTION_STRING, .string = ""}},
	[SUFFIX] = {"suffix", {.kind = NK_OPTION_STRING, .string = ""}},
	{0},
};

const nk_func nk__funcs_struct[] = {
	{
		.name = "as_struct",
		.args = "x, *more",
		.doc = "The values of several columns as one Struct a row; the fields have the columns' names. Fails "
			   "with "
			   "DuplicateError when two are the same.",
		.example = "as_struct([1, null], fields=Struct{\"a\": Null}) == Struct{\"a\": Int64}[{1}, {null}]",
		.options = fields_options,
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.names_fields = true,
		.bind = bind_as_struct,
	},
	{
		.name = "struct.with_fields",
		.args = "x, *more",
		.doc = "A Struct with fields added, or replaced where there is one of the name.",
		.example = "struct.with_fields(Struct{\"a\": Int64}[{1}, null], [3, 4], fields=Struct{\"b\": Null}) "
				   "== Struct{\"a\": Int64, \"b\": Int64}[{1, 3}, null]",
		.options = fields_options,
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.names_fields = true,
		.bind = bind_with_fields,
	},
	{
		.name = "struct.eval",
		.args = "x, *more",
		.doc = "A Struct of other columns, null where x is.",
		.example = "struct.eval(Struct{\"a\": Int64}[{1}, null], [3, 4], fields=Struct{\"b\": Null}) == "
				   "Struct{\"b\": Int64}[{3}, null]",
		.options = fields_options,
		.min_args = 1,
		.max_args = -1,
		.nulls = NK_NULLS_SEEN,
		.expands_selectors = true,
		.names_fields = true,
		.bind = bind_eval,
	},
	{
		.name = "struct.field",
		.args = "x, name, *more",
		.doc = "A field of each Struct, by name or position; null where the Struct is. Several names, \"*\" "
			   "and patterns become an "
			   "expression each. Fails with StructFieldNotFoundError.",
		.example = "struct.field(Struct{\"a\": Int64}[{1}, null], \"a\") == [1, null]",
		.min_args = 2,
		.max_args = -1,
		.nulls = NK_NULLS_PROPAGATE,
		.picks_field = true,
		.bind = bind_field,
	},
	{
		.name = "struct.rename_fields",
		.args = "x",
		.doc = "The fields under other names. Fails with SchemaError when there are more or fewer.",
		.example = "struct.rename_fields(Struct{\"a\": Int64}[{1}, null], fields=Struct{\"b\": Null}) == "
				   "Struct{\"b\": Int64}[{1}, null]",
		.options = fields_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_rename,
	},
	{
		.name = "struct.affix_fields",
		.args = "x",
		.doc = "The fields' names with a prefix and a suffix.",
		.example = "struct.affix_fields(Struct{\"a\": Int64}[{1}, null], prefix=\"x\") == Struct{\"xa\": "
				   "Int64}[{1}, null]",
		.options = affix_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_affix,
	},
	{
		.name = "struct.drop",
		.args = "x",
		.doc = "A Struct without some of its fields. Fails with StructFieldNotFoundError when one does not "
			   "exist, unless strict "
			   "is false.",
		.example = "struct.drop(Struct{\"a\": Int64, \"b\": Int64}[{1, 2}, null], fields=Struct{\"a\": "
				   "Null}) == Struct{\"b\": Int64}[{2}, null]",
		.options = drop_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_drop,
	},
	{
		.name = "list.to_struct",
		.args = "x",
		.doc = "The first items of each list as fields of a Struct; null where there are fewer.",
		.example =
			"list.to_struct([[1], null], fields=Struct{\"a\": Null}) == Struct{\"a\": Int64}[{1}, null]",
		.options = fields_options,
		.min_args = 1,
		.max_args = 1,
		.nulls = NK_NULLS_SEEN,
		.bind = bind_to_struct,
	},
	{0},
};
