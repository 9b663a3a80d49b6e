/* Serialised forms at the public boundary: a header that names what follows and its version. */
#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "expr/serialise.h"
#include "io/csv/csv.h"
#include "io/ipc/ipc.h"
#include "io/json/json.h"
#include "io/parquet/parquet.h"
#include "plan/serialise.h"

enum { VERSION = 1 };
static const char expr_magic[] = "NKEX", plan_magic[] = "NKPL";

static nk_status finish(nk_text *text, char **out, int64_t *n_bytes, nk_error *err)
{
	NK_TRY(nk_text_finish(text, err));
	*n_bytes = text->n_bytes;
	*out = NK_STEAL(text->bytes);
	return NK_OK;
}

static nk_status begin(const char *magic, const char *bytes, int64_t n_bytes, nk_wire *in, nk_error *err)
{
	if (n_bytes < 5 || memcmp(bytes, magic, 4) != 0)
		return nk_fail(err, NK_COMPUTE, "these bytes are no serialised %s",
		               magic == expr_magic ? "expression" : "plan");
	if (bytes[4] != VERSION)
		return nk_fail(err, NK_COMPUTE, "serialised by another version (form %d, this version reads %d)",
		               bytes[4], VERSION);
	*in = (nk_wire){(const uint8_t *)bytes + 5, (const uint8_t *)bytes + n_bytes};
	return NK_OK;
}

nk_status nk_expr_serialise(const nk_expr *expr, char **out, int64_t *n_bytes, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_TEXT(text);
	nk_text_append(&text, expr_magic, 4);
	nk_text_append_char(&text, VERSION);
	NK_TRY(nk__expr_to_wire(context->memory, expr, &text, err));
	return finish(&text, out, n_bytes, err);
}

nk_status nk_expr_deserialise(const char *bytes, int64_t n_bytes, nk_expr **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	nk_wire in;
	NK_TRY(begin(expr_magic, bytes, n_bytes, &in, err));
	return nk__expr_from_wire(context->memory, &in, out, err);
}

nk_status nk_plan_serialise(const nk_plan *plan, char **out, int64_t *n_bytes, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	NK_TEXT(text);
	nk_text_append(&text, plan_magic, 4);
	nk_text_append_char(&text, VERSION);
	NK_TRY(nk_plan_to_wire(context->memory, plan, &text, err));
	return finish(&text, out, n_bytes, err);
}

static nk_status make_source(nk_memory *memory, const char *kind, nk_wire *in, nk_source **out, nk_error *err)
{
	if (strcmp(kind, "parquet") == 0)
		return nk_parquet_source_from_wire(memory, in, out, err);
	if (strcmp(kind, "csv") == 0)
		return nk_csv_source_from_wire(memory, in, out, err);
	if (strcmp(kind, "ipc") == 0)
		return nk_ipc_source_from_wire(memory, in, out, err);
	if (strcmp(kind, "ndjson") == 0)
		return nk_json_source_from_wire(memory, in, out, err);
	return nk_fail(err, NK_COMPUTE,
	               "a serialised plan scans a source of kind \"%s\", which this version does not have", kind);
}

nk_status nk_plan_deserialise(const char *bytes, int64_t n_bytes, nk_plan **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	nk_wire in;
	NK_TRY(begin(plan_magic, bytes, n_bytes, &in, err));
	return nk_plan_from_wire(context->memory, &in, make_source, out, err);
}
