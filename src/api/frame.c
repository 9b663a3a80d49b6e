/* Frames at the public boundary. */
#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "api/series.h"
#include "columnar/arrow.h"

nk_status nk_frame_import(struct ArrowArrayStream *stream, nk_frame **out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	return nk_frame_from_arrow(context->memory, stream, out, err);
}

nk_status nk_frame_export(nk_frame *frame, struct ArrowArrayStream *out, nk_error *err)
{
	const nk_context *context;
	NK_TRY(nk__context_get(&context, err));
	return nk_frame_to_arrow(context->memory, frame, out, err);
}

nk_status nk_frame_from_series(nk_series *const *series, int n_series, int64_t height, nk_frame **out,
                               nk_error *err)
{
	nk_field *fields = malloc(((size_t)n_series + 1) * sizeof *fields);
	nk_column **columns = malloc(((size_t)n_series + 1) * sizeof *columns);
	nk_schema *schema = NULL;
	nk_status status = fields && columns ? NK_OK : nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a frame");
	for (int i = 0; status == NK_OK && i < n_series; i++) {
		fields[i] = (nk_field){series[i]->name, series[i]->column->dtype};
		columns[i] = series[i]->column;
	}
	if (status == NK_OK)
		status = nk_schema_new(fields, n_series, &schema, err);
	if (status == NK_OK)
		status = nk_frame_new(schema, columns, n_series ? -1 : height, out, err);
	nk_schema_unref(schema);
	free(fields);
	free(columns);
	return status;
}

int64_t nk_frame_height(const nk_frame *frame) { return frame->height; }
int nk_frame_width(const nk_frame *frame) { return frame->schema->n_fields; }
const char *nk_frame_name(const nk_frame *frame, int column) { return frame->schema->fields[column].name; }
const char *nk_frame_dtype(const nk_frame *frame, int column)
{
	return frame->schema->fields[column].dtype->text;
}
int nk_frame_find(const nk_frame *frame, const char *name) { return nk_schema_find(frame->schema, name); }

nk_status nk_frame_column(nk_frame *frame, int column, nk_series **out, nk_error *err)
{
	if (column < 0 || column >= frame->schema->n_fields)
		return nk_fail(err, NK_OUT_OF_BOUNDS, "there is no column %d: the frame has %d", column,
		               frame->schema->n_fields);
	return nk__series_new(frame->schema->fields[column].name, nk_column_ref(frame->columns[column]), out,
	                      err);
}

nk_status nk_frame_to_text(nk_frame *frame, const nk_format_options *options, char **out, nk_error *err)
{
	nk_table_options table;
	nk__table_options(options, &table);
	NK_TEXT(text);
	NK_TRY(nk_frame_format(frame, &table, &text, err));
	NK_TRY(nk_text_finish(&text, err));
	*out = NK_STEAL(text.bytes);
	return NK_OK;
}
