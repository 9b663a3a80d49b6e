/* A schema is one block: fields, names, and for wide schemas a hash index, so that resolving every name of a frame
 * of many thousand columns stays linear. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "columnar/frame.h"

/* Up to this many fields a scan beats hashing. */
enum { SCAN_UP_TO = 8 };

static uint32_t n_slots_for(int n_fields)
{
	uint32_t n_slots = 16;
	while (n_slots < 2 * (uint32_t)n_fields)
		n_slots *= 2;
	return n_slots;
}

int nk_schema_find(const nk_schema *schema, const char *name)
{
	if (!schema->slots) {
		for (int i = 0; i < schema->n_fields; i++)
			if (strcmp(schema->fields[i].name, name) == 0)
				return i;
		return -1;
	}
	uint32_t mask = schema->n_slots - 1;
	for (uint32_t slot = (uint32_t)nk_hash_bytes(name, (int64_t)strlen(name)) & mask; schema->slots[slot];
	     slot = (slot + 1) & mask)
		if (strcmp(schema->fields[schema->slots[slot] - 1].name, name) == 0)
			return (int)schema->slots[slot] - 1;
	return -1;
}

/* Add field i to the index, unless its name is there. */
static bool index_add(nk_schema *schema, int i)
{
	const char *name = schema->fields[i].name;
	uint32_t mask = schema->n_slots - 1;
	uint32_t slot = (uint32_t)nk_hash_bytes(name, (int64_t)strlen(name)) & mask;
	for (; schema->slots[slot]; slot = (slot + 1) & mask)
		if (strcmp(schema->fields[schema->slots[slot] - 1].name, name) == 0)
			return false;
	schema->slots[slot] = (uint32_t)i + 1;
	return true;
}

static bool scan_add(const nk_schema *schema, int i)
{
	for (int k = 0; k < i; k++)
		if (strcmp(schema->fields[k].name, schema->fields[i].name) == 0)
			return false;
	return true;
}

nk_status nk_schema_new(const nk_field *fields, int n_fields, nk_schema **out, nk_error *err)
{
	size_t n_names = 0;
	for (int i = 0; i < n_fields; i++)
		n_names += strlen(fields[i].name) + 1;
	uint32_t n_slots = n_fields > SCAN_UP_TO ? n_slots_for(n_fields) : 0;
	size_t n_header = sizeof(nk_schema) + (size_t)n_fields * sizeof *fields;
	nk_schema *schema = calloc(1, n_header + n_slots * sizeof(uint32_t) + n_names);
	if (!schema)
		return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a schema of %d fields", n_fields);
	schema->n_references = 1;
	schema->n_fields = n_fields;
	schema->n_slots = n_slots;
	schema->slots = n_slots ? (uint32_t *)((char *)schema + n_header) : NULL;
	char *names = (char *)schema + n_header + n_slots * sizeof(uint32_t);
	for (int i = 0; i < n_fields; i++) {
		size_t n = strlen(fields[i].name) + 1;
		memcpy(names, fields[i].name, n);
		schema->fields[i] = (nk_field){.name = names, .dtype = fields[i].dtype};
		names += n;
		if (n_slots ? !index_add(schema, i) : !scan_add(schema, i)) {
			free(schema);
			return nk_fail(err, NK_DUPLICATE, "column with name '%s' has more than one occurrence",
			               fields[i].name);
		}
	}
	*out = schema;
	return NK_OK;
}

nk_schema *nk_schema_ref(nk_schema *schema)
{
	if (schema)
		__atomic_fetch_add(&schema->n_references, 1, __ATOMIC_RELAXED);
	return schema;
}

void nk_schema_unref(nk_schema *schema)
{
	if (schema && __atomic_fetch_sub(&schema->n_references, 1, __ATOMIC_ACQ_REL) == 1)
		free(schema);
}

/* ---- Messages ---- */

enum { MAX_COMPARED = 64, MAX_LISTED = 16 };

/* Edit distance of two short names (Wagner and Fischer); long ones count as far apart. */
static int distance(const char *a, const char *b)
{
	int n_a = (int)strlen(a), n_b = (int)strlen(b);
	int row[MAX_COMPARED + 1];
	if (n_a > MAX_COMPARED || n_b > MAX_COMPARED)
		return 2 * MAX_COMPARED;
	for (int j = 0; j <= n_b; j++)
		row[j] = j;
	for (int i = 1; i <= n_a; i++) {
		int diagonal = row[0];
		row[0] = i;
		for (int j = 1; j <= n_b; j++) {
			int above = row[j], change = diagonal + (a[i - 1] != b[j - 1]);
			int skip = NK_MIN(above, row[j - 1]) + 1;
			row[j] = NK_MIN(skip, change);
			diagonal = above;
		}
	}
	return row[n_b];
}

/* Fill `shown` with the fields to list: all of a narrow schema, else the nearest, nearest first. */
static int nearest(const nk_schema *schema, const char *name, int *shown)
{
	int best[MAX_LISTED], n = 0;
	if (schema->n_fields <= MAX_LISTED) {
		for (int i = 0; i < schema->n_fields; i++)
			shown[i] = i;
		return schema->n_fields;
	}
	for (int i = 0; i < schema->n_fields; i++) {
		int d = distance(name, schema->fields[i].name), at = n;
		while (at > 0 && best[at - 1] > d)
			at--;
		if (at == MAX_LISTED)
			continue;
		int n_moved = NK_MIN(n, MAX_LISTED - 1) - at;
		memmove(best + at + 1, best + at, (size_t)n_moved * sizeof *best);
		memmove(shown + at + 1, shown + at, (size_t)n_moved * sizeof *shown);
		best[at] = d;
		shown[at] = i;
		n += n < MAX_LISTED;
	}
	return n;
}

nk_status nk_schema_resolve(const nk_schema *schema, const char *name, int *out, nk_error *err)
{
	int found = nk_schema_find(schema, name);
	if (found >= 0) {
		*out = found;
		return NK_OK;
	}
	if (!err)
		return NK_COLUMN_NOT_FOUND;
	char list[sizeof err->message - 200];
	int shown[MAX_LISTED], n_shown = nearest(schema, name, shown);
	size_t n = 0;
	list[0] = 0;
	for (int i = 0; i < n_shown && n < sizeof list - 1; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s\"%s\"", i ? ", " : "",
		                      schema->fields[shown[i]].name);
	return nk_fail(err, NK_COLUMN_NOT_FOUND, "unable to find column \"%.100s\"; %s: [%s%s]", name,
	               n_shown < schema->n_fields ? "nearest columns" : "valid columns", list,
	               n_shown < schema->n_fields ? ", ..." : "");
}
