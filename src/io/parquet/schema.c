/* Column by column. Logical types that we do not know are ignored, as the format asks: the column then has its
 * physical type. */
#include "io/parquet/schema.h"

#include <stdlib.h>
#include <string.h>

#include "io/ipc/fields.h"

enum { DEPTH_MAX = 64, DIGITS_MAX = 38, DIGITS_OF_I64 = 18 };

typedef struct planner {
	nk_parquet_metadata *metadata;
	nk_arrow_note *notes;
	int n_notes;
} planner;

static nk_status refuse(nk_arena *arena, const char **refusal, const char *why, nk_error *err)
{
	return nk_arena_string(arena, why, (int64_t)strlen(why), refusal, err);
}

static void set(nk_leaf_plan *plan, nk_type_id id, nk_conversion conversion)
{
	plan->dtype = nk_dtype_of(id);
	plan->physical = plan->dtype->physical;
	plan->conversion = conversion;
}

static void plan_int32(nk_leaf_plan *plan)
{
	const nk_schema_element *element = plan->element;
	static const nk_type_id types[2][3] = {{NK_TYPE_UINT8, NK_TYPE_UINT16, NK_TYPE_UINT32},
	                                       {NK_TYPE_INT8, NK_TYPE_INT16, NK_TYPE_INT32}};
	set(plan, NK_TYPE_INT32, NK_CONVERT_COPY);
	if (element->logical == NK_PARQUET_INTEGER && element->bit_width == 8)
		set(plan, types[element->is_signed][0], NK_CONVERT_I32_TO_8);
	else if (element->logical == NK_PARQUET_INTEGER && element->bit_width == 16)
		set(plan, types[element->is_signed][1], NK_CONVERT_I32_TO_16);
	else if (element->logical == NK_PARQUET_INTEGER && element->bit_width == 32)
		set(plan, types[element->is_signed][2], NK_CONVERT_COPY);
	else if (element->logical == NK_PARQUET_DATE)
		set(plan, NK_TYPE_DATE, NK_CONVERT_COPY);
	else if (element->logical == NK_PARQUET_TIME && element->unit == 1)
		set(plan, NK_TYPE_TIME, NK_CONVERT_MS_TO_NS);
}

static void plan_int64(nk_leaf_plan *plan)
{
	const nk_schema_element *element = plan->element;
	set(plan, NK_TYPE_INT64, NK_CONVERT_COPY);
	if (element->logical == NK_PARQUET_INTEGER && element->bit_width == 64 && !element->is_signed)
		set(plan, NK_TYPE_UINT64, NK_CONVERT_COPY);
	else if (element->logical == NK_PARQUET_TIME && element->unit >= 2)
		set(plan, NK_TYPE_TIME, element->unit == 2 ? NK_CONVERT_US_TO_NS : NK_CONVERT_COPY);
}

/* Timestamps, and durations, which Parquet itself does not know. */
static nk_status plan_times(const planner *p, nk_leaf_plan *plan, const nk_arrow_note *note, nk_error *err)
{
	const nk_schema_element *element = plan->element;
	bool is_timestamp = element->logical == NK_PARQUET_TIMESTAMP && element->unit > 0;
	if (is_timestamp) {
		const char *zone = element->is_utc ? "UTC" : NULL;
		if (note && note->is_timestamp) {
			zone = NULL;
			if (note->time_zone.n_bytes > 0)
				NK_TRY(nk_arena_string(p->metadata->arena, (const char *)note->time_zone.bytes,
				                       note->time_zone.n_bytes, &zone, err));
		}
		nk_time_unit unit = element->unit == 1 ? NK_UNIT_MS : element->unit == 2 ? NK_UNIT_US : NK_UNIT_NS;
		plan->dtype = nk_dtype_datetime(unit, zone);
	} else if (note && note->is_duration && note->has_unit && element->logical == NK_PARQUET_NO_LOGICAL) {
		plan->dtype = nk_dtype_duration(note->unit);
	}
	return plan->dtype ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
}

static nk_status plan_decimal(const planner *p, nk_leaf_plan *plan, const char **refusal, nk_error *err)
{
	const nk_schema_element *element = plan->element;
	int precision = element->precision, scale = element->scale;
	if (precision < 1 || precision > DIGITS_MAX || scale < 0 || scale > precision)
		return refuse(p->metadata->arena, refusal,
		              "Decimals beyond 38 digits, or of negative scale, are not supported", err);
	plan->dtype = nk_dtype_decimal(precision, scale);
	if (!plan->dtype)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype");
	bool is_narrow = precision <= DIGITS_OF_I64;
	switch (element->type) {
	case NK_PARQUET_INT32:
		plan->physical = NK_PHYSICAL_I64;
		plan->conversion = NK_CONVERT_I32_TO_I64;
		break;
	case NK_PARQUET_INT64:
		plan->physical = NK_PHYSICAL_I64;
		plan->conversion = NK_CONVERT_COPY;
		break;
	case NK_PARQUET_FIXED:
		plan->physical = is_narrow ? NK_PHYSICAL_I64 : NK_PHYSICAL_I128;
		plan->conversion = is_narrow ? NK_CONVERT_FIXED_TO_I64 : NK_CONVERT_FIXED_TO_I128;
		break;
	default:
		plan->physical = is_narrow ? NK_PHYSICAL_I64 : NK_PHYSICAL_I128;
		plan->conversion = is_narrow ? NK_CONVERT_TEXT_TO_I64 : NK_CONVERT_TEXT_TO_I128;
	}
	return NK_OK;
}

/* Whether the logical type may stand on the physical one. */
static bool fits_physical(const nk_schema_element *element)
{
	bool is_int32 = element->type == NK_PARQUET_INT32, is_int64 = element->type == NK_PARQUET_INT64;
	bool is_bytes = element->type == NK_PARQUET_BYTE_ARRAY || element->type == NK_PARQUET_FIXED;
	switch (element->logical) {
	case NK_PARQUET_INTEGER: return element->bit_width == 64 ? is_int64 : is_int32;
	case NK_PARQUET_DATE: return is_int32;
	case NK_PARQUET_TIME: return element->unit == 1 ? is_int32 : is_int64;
	case NK_PARQUET_TIMESTAMP: return is_int64;
	case NK_PARQUET_DECIMAL: return is_int32 || is_int64 || is_bytes;
	default: return true;
	}
}

static nk_status plan_leaf(const planner *p, nk_leaf_plan *plan, const nk_arrow_note *note,
                           const char **refusal, nk_error *err)
{
	const nk_schema_element *element = plan->element;
	int type = element->type, logical = element->logical;
	bool is_text = false;
	switch (type) {
	case NK_PARQUET_BOOLEAN: set(plan, NK_TYPE_BOOLEAN, NK_CONVERT_BOOLEAN); break;
	case NK_PARQUET_INT32: plan_int32(plan); break;
	case NK_PARQUET_INT64:
		plan_int64(plan);
		NK_TRY(plan_times(p, plan, note, err));
		break;
	case NK_PARQUET_INT96:
		set(plan, NK_TYPE_INT64, NK_CONVERT_INT96_TO_NS);
		plan->dtype = nk_dtype_datetime(NK_UNIT_NS, NULL);
		break;
	case NK_PARQUET_FLOAT: set(plan, NK_TYPE_FLOAT32, NK_CONVERT_COPY); break;
	case NK_PARQUET_DOUBLE: set(plan, NK_TYPE_FLOAT64, NK_CONVERT_COPY); break;
	case NK_PARQUET_BYTE_ARRAY:
		is_text = logical == NK_PARQUET_STRING || logical == NK_PARQUET_ENUM;
		set(plan, is_text ? NK_TYPE_STRING : NK_TYPE_BINARY, NK_CONVERT_TEXT);
		plan->is_utf8 = is_text;
		break;
	case NK_PARQUET_FIXED:
		set(plan, NK_TYPE_BINARY, NK_CONVERT_FIXED_TEXT);
		if (logical == NK_PARQUET_FLOAT16 && element->type_length == 2)
			set(plan, NK_TYPE_FLOAT32, NK_CONVERT_FLOAT16);
		else if (logical == NK_PARQUET_INTERVAL)
			NK_TRY(refuse(p->metadata->arena, refusal, "intervals are not supported", err));
		break;
	}
	static const int n_bytes[NK_PARQUET_TYPE_N] = {0, 4, 8, 12, 4, 8, 0, 0};
	plan->n_bytes_in = type == NK_PARQUET_FIXED ? element->type_length : n_bytes[type];
	bool is_number = type == NK_PARQUET_INT32 || type == NK_PARQUET_INT64;
	if (logical == NK_PARQUET_DECIMAL &&
	    (is_number || type == NK_PARQUET_BYTE_ARRAY || type == NK_PARQUET_FIXED)) {
		NK_TRY(plan_decimal(p, plan, refusal, err));
		if (type == NK_PARQUET_FIXED && element->type_length < 1)
			NK_TRY(refuse(p->metadata->arena, refusal, "Decimals of no bytes", err));
	}
	if (!fits_physical(element))
		NK_TRY(refuse(p->metadata->arena, refusal, "the logical type does not fit the physical type", err));
	if (logical == NK_PARQUET_UNKNOWN)
		set(plan, NK_TYPE_NULL, NK_CONVERT_NULL);
	int size = plan->physical == NK_PHYSICAL_BOOL || plan->physical == NK_PHYSICAL_NONE
	               ? 1
	               : nk_physical_size(plan->physical);
	plan->size_log2 = __builtin_ctz((unsigned)size);
	return NK_OK;
}

/* ---- Nested columns ---- */

/* The levels around an element: what an entry must reach to have a slot of it. */
typedef struct around {
	int definition, depth;
	const char **refusal;
} around;

static nk_status plan_node(planner *p, int i, around outer, nk_nested_node *out, nk_error *err);

static nk_status no_dtype(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a dtype"); }

/* A list whose items are element i of the schema; repeated: the element that is repeated, which i is or lies in. */
static nk_status plan_items(planner *p, const nk_schema_element *repeated, int i, around outer,
                            nk_nested_node *out, nk_error *err)
{
	out->kind = NK_NESTED_LIST;
	out->item_definition = repeated->definition_max;
	out->item_repetition = repeated->repetition_max;
	out->n_children = 1;
	NK_TRY(NK_ARENA_NEW(p->metadata->arena, &out->children, 1, err));
	around inner = {repeated->definition_max, outer.depth + 1, outer.refusal};
	NK_TRY(plan_node(p, i, inner, out->children, err));
	out->dtype = nk_dtype_list(out->children[0].dtype);
	return out->dtype ? NK_OK : no_dtype(err);
}

static nk_status plan_struct(planner *p, int i, around outer, nk_nested_node *out, nk_error *err)
{
	const nk_schema_element *elements = p->metadata->elements;
	int n_children = elements[i].n_children;
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(p->metadata->arena, &fields, n_children + 1, err));
	NK_TRY(NK_ARENA_NEW(p->metadata->arena, &out->children, n_children + 1, err));
	out->kind = NK_NESTED_STRUCT;
	out->n_children = n_children;
	around inner = {outer.definition, outer.depth + 1, outer.refusal};
	for (int k = 0, child = i + 1; k < n_children; child += elements[child].n_elements, k++) {
		nk_nested_node *node = &out->children[k];
		if (elements[child].repetition == NK_REPEATED) { /* a list without a group of its own: never null */
			*node = (nk_nested_node){.first_leaf = elements[child].first_leaf,
			                         .n_leaves = elements[child].n_leaves};
			NK_TRY(plan_items(p, &elements[child], child, inner, node, err));
		} else {
			NK_TRY(plan_node(p, child, inner, node, err));
		}
		fields[k] = (nk_field){elements[child].name, node->dtype};
	}
	out->dtype = nk_dtype_struct(fields, n_children);
	return out->dtype ? NK_OK : no_dtype(err);
}

/* An element at any depth, its own repetition set aside. Lists and maps are groups around one repeated child, which is
 * the item itself in older files. */
static nk_status plan_node(planner *p, int i, around outer, nk_nested_node *out, nk_error *err)
{
	const nk_schema_element *elements = p->metadata->elements, *element = &elements[i];
	if (outer.depth > DEPTH_MAX)
		return nk_fail(err, NK_COMPUTE, "a schema nested deeper than %d levels", DEPTH_MAX);
	*out = (nk_nested_node){.first_leaf = element->first_leaf,
	                        .n_leaves = element->n_leaves,
	                        .definition = element->definition_max};
	if (element->type >= 0) {
		out->kind = NK_NESTED_LEAF;
		out->plan = (nk_leaf_plan){.leaf = element->first_leaf,
		                           .element = element,
		                           .is_nested = true,
		                           .slot_definition = outer.definition};
		NK_TRY(plan_leaf(p, &out->plan, NULL, outer.refusal, err));
		if (!out->plan.dtype)
			out->plan.dtype = nk_dtype_of(NK_TYPE_BINARY);
		out->dtype = out->plan.dtype;
		return NK_OK;
	}
	out->kind = NK_NESTED_STRUCT;
	out->dtype = nk_dtype_of(NK_TYPE_NULL);
	if (element->n_leaves == 0)
		return refuse(p->metadata->arena, outer.refusal,
		              "Structs without fields are not supported in Parquet files", err);
	bool is_list = element->logical == NK_PARQUET_LIST || element->logical == NK_PARQUET_MAP;
	if (!is_list || element->n_children != 1 || elements[i + 1].repetition != NK_REPEATED)
		return plan_struct(p, i, outer, out, err);
	const nk_schema_element *repeated = &elements[i + 1];
	bool is_wrapped = element->logical == NK_PARQUET_LIST && repeated->type < 0 &&
	                  repeated->n_children == 1 && strcmp(repeated->name, "array") != 0;
	return plan_items(p, repeated, is_wrapped ? i + 2 : i + 1, outer, out, err);
}

static const nk_arrow_note *find_note(const planner *p, int column, const char *name)
{
	if (column >= p->n_notes)
		return NULL;
	const nk_arrow_note *note = &p->notes[column];
	bool is_same = note->name.bytes && note->name.n_bytes == (int64_t)strlen(name) &&
	               memcmp(note->name.bytes, name, (size_t)note->name.n_bytes) == 0;
	return is_same ? note : NULL;
}

/* What Parquet does not tell of the parts of a nested column: widths of Arrays, Durations, zones. */
static void follow_note(nk_nested_node *node, const nk_ipc_field *field)
{
	const nk_dtype *noted = field->dtype, *dtype = NULL;
	if (node->kind == NK_NESTED_LEAF) {
		bool is_duration = noted->id == NK_TYPE_DURATION && node->dtype->id == NK_TYPE_INT64 &&
		                   strcmp(field->arrow.format, "tDs") != 0;
		bool has_zone = noted->id == NK_TYPE_DATETIME && noted->time_zone &&
		                node->dtype->id == NK_TYPE_DATETIME && node->dtype->time_zone;
		if (is_duration)
			dtype = noted;
		else if (has_zone)
			dtype = nk_dtype_datetime(node->dtype->unit, noted->time_zone);
		if (dtype)
			node->plan.dtype = dtype;
	} else if (node->kind == NK_NESTED_LIST && noted->physical == NK_PHYSICAL_LIST &&
	           field->n_children == 1) {
		follow_note(&node->children[0], &field->children[0]);
		const nk_dtype *item = node->children[0].dtype;
		dtype = noted->id == NK_TYPE_ARRAY ? nk_dtype_array(item, noted->width) : nk_dtype_list(item);
	} else if (node->kind == NK_NESTED_STRUCT && noted->id == NK_TYPE_STRUCT &&
	           field->n_children == node->n_children) {
		nk_field *fields = malloc(((size_t)node->n_children + 1) * sizeof *fields);
		for (int i = 0; fields && i < node->n_children; i++) {
			follow_note(&node->children[i], &field->children[i]);
			fields[i] = (nk_field){node->dtype->fields[i].name, node->children[i].dtype};
		}
		dtype = fields ? nk_dtype_struct(fields, node->n_children) : NULL;
		free(fields);
	}
	node->dtype = dtype ? dtype : node->dtype;
}

/* What a column is to users: as it is read, with the noted Categoricals and Enums in place of their texts. */
static const nk_dtype *with_categories(const nk_dtype *read, const nk_dtype *noted)
{
	if (read->id == NK_TYPE_STRING && nk_type_is_category(noted->id))
		return noted;
	if (read->id != noted->id || !nk_type_is_nested(read->id) || read->n_fields != noted->n_fields)
		return read;
	nk_field *fields = malloc(((size_t)read->n_fields + 1) * sizeof *fields);
	const nk_dtype *made = NULL;
	for (int i = 0; fields && i < read->n_fields; i++)
		fields[i] =
			(nk_field){read->fields[i].name, with_categories(read->fields[i].dtype, noted->fields[i].dtype)};
	if (fields)
		made = read->id == NK_TYPE_STRUCT  ? nk_dtype_struct(fields, read->n_fields)
		       : read->id == NK_TYPE_ARRAY ? nk_dtype_array(fields[0].dtype, read->width)
		                                   : nk_dtype_list(fields[0].dtype);
	free(fields);
	return made ? made : read;
}

nk_status nk__parquet_columns(nk_parquet_metadata *metadata, nk_parquet_columns *out, nk_error *err)
{
	nk_arena *arena = metadata->arena;
	planner p = {.metadata = metadata};
	NK_TRY(nk__arrow_notes(arena, metadata->arrow_schema, &p.notes, &p.n_notes, err));
	nk_parquet_columns columns = {.n_columns = metadata->elements[0].n_children};
	nk_field *fields;
	NK_TRY(NK_ARENA_NEW(arena, &fields, columns.n_columns, err));
	NK_TRY(NK_ARENA_NEW(arena, &columns.plans, columns.n_columns, err));
	NK_TRY(NK_ARENA_NEW(arena, &columns.refusals, columns.n_columns, err));
	NK_TRY(NK_ARENA_NEW(arena, &columns.nested, columns.n_columns, err));
	int at = 1;
	for (int i = 0; i < columns.n_columns; i++) {
		const nk_schema_element *element = &metadata->elements[at];
		nk_leaf_plan *plan = &columns.plans[i];
		*plan = (nk_leaf_plan){.leaf = element->first_leaf, .element = element};
		fields[i].name = element->name;
		if (element->type < 0 || element->repetition == NK_REPEATED) {
			nk_nested_node *node;
			around outer = {0, 0, &columns.refusals[i]};
			NK_TRY(NK_ARENA_NEW(arena, &node, 1, err));
			*node = (nk_nested_node){.first_leaf = element->first_leaf, .n_leaves = element->n_leaves};
			if (element->repetition == NK_REPEATED)
				NK_TRY(plan_items(&p, element, at, outer, node, err));
			else
				NK_TRY(plan_node(&p, at, outer, node, err));
			const nk_arrow_note *note = find_note(&p, i, element->name);
			if (note && note->field && !columns.refusals[i])
				follow_note(node, note->field);
			columns.nested[i] = node;
			fields[i].dtype = node->dtype ? node->dtype : nk_dtype_of(NK_TYPE_NULL);
			if (note && note->field)
				fields[i].dtype = with_categories(fields[i].dtype, note->field->dtype);
		} else {
			NK_TRY(plan_leaf(&p, plan, find_note(&p, i, element->name), &columns.refusals[i], err));
			fields[i].dtype = plan->dtype ? plan->dtype : nk_dtype_of(NK_TYPE_BINARY);
			const nk_arrow_note *note = find_note(&p, i, element->name);
			if (note && note->field)
				fields[i].dtype = with_categories(fields[i].dtype, note->field->dtype);
			plan->is_category = nk_type_is_category(fields[i].dtype->id);
		}
		at += element->n_elements;
	}
	NK_TRY(nk_schema_new(fields, columns.n_columns, &columns.schema, err));
	*out = columns;
	return NK_OK;
}
