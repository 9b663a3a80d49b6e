/* Text functions that write new bytes: case, reversal, padding, joining. ASCII goes through vector loops; what is
 * not ASCII is mapped character by character with Unicode's full case mappings, where one character may become
 * three and the end of a word matters (final sigma). */
#include "func/string.h"

#include "compute/text_case.h"
#include "compute/text_writer.h"
#include "func/words.h"

/* ---- Case ---- */

static nk_status case_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, bool upper,
                             nk_array **out, nk_error *err)
{
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		char *room;
		NK_TRY(nk_text_writer_room(&writer, view->n_bytes, &room, err));
		int64_t n = view->n_bytes;
		if (!nk_text_change_ascii_case(room, bytes, n, upper)) {
			NK_TRY(nk_text_writer_room(&writer, n * NK_CASE_GROWTH, &room, err));
			n = nk_text_change_case(room, bytes, n, upper);
		}
		nk_text_writer_commit(&writer, n);
	}
	return nk_text_writer_finish(&writer, NULL, out, err);
}

static nk_status lowercase_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	return case_kernel(call, args, n_rows, false, out, err);
}

static nk_status uppercase_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                  nk_error *err)
{
	return case_kernel(call, args, n_rows, true, out, err);
}

nk_status nk__bind_to_lowercase(nk_bind *bind, nk_error *err)
{
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, lowercase_kernel, err);
}

nk_status nk__bind_to_uppercase(nk_bind *bind, nk_error *err)
{
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, uppercase_kernel, err);
}

/* ---- Reversal ---- */

static nk_status reverse_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                nk_error *err)
{
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		char *room;
		NK_TRY(nk_text_writer_room(&writer, view->n_bytes, &room, err));
		for (int64_t at = 0, n = view->n_bytes; at < n;) {
			int64_t n_char = nk_text_seek_char(bytes + at, n - at, 1);
			memcpy(room + n - at - n_char, bytes + at, (size_t)n_char);
			at += n_char;
		}
		nk_text_writer_commit(&writer, view->n_bytes);
	}
	return nk_text_writer_finish(&writer, NULL, out, err);
}

nk_status nk__bind_reverse_text(nk_bind *bind, nk_error *err)
{
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, reverse_kernel, err);
}

/* ---- Padding ---- */

typedef enum pad_kind { PAD_START, PAD_END, PAD_ZEROS } pad_kind;

typedef struct pad_plan {
	pad_kind kind;
	int64_t n_fill; /* bytes of the fill character */
	char fill[4];
} pad_plan;

static nk_status pad_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                            nk_error *err)
{
	const pad_plan *plan = call->data;
	NK_TEXT_WRITER(writer);
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	const uint64_t *lengths = args[1]->values;
	for (int64_t i = 0; i < n_rows; i++) {
		if (call->validity && !nk_bitmap_get(call->validity, i)) {
			nk_text_writer_skip(&writer);
			continue;
		}
		const nk_view *view = nk__view_at(args[0], i);
		const char *bytes = nk_view_bytes(view, args[0]->heap);
		uint64_t n_wanted = lengths[nk_array_index(args[1], i)];
		uint64_t n_chars = (uint64_t)nk_text_count_chars(bytes, view->n_bytes);
		int64_t n_missing =
			n_wanted > n_chars ? (int64_t)NK_MIN(n_wanted - n_chars, (uint64_t)UINT32_MAX) : 0;
		int64_t n = view->n_bytes + n_missing * plan->n_fill;
		char *room;
		NK_TRY(nk_text_writer_room(&writer, n, &room, err));
		int64_t n_before = plan->kind == PAD_END ? view->n_bytes : 0;
		if (plan->kind == PAD_ZEROS && view->n_bytes > 0 && (bytes[0] == '-' || bytes[0] == '+'))
			n_before = 1;
		memcpy(room, bytes, (size_t)n_before);
		char *to = room + n_before;
		for (int64_t k = 0; k < n_missing; k++, to += plan->n_fill)
			memcpy(to, plan->fill, (size_t)plan->n_fill);
		memcpy(to, bytes + n_before, (size_t)(view->n_bytes - n_before));
		nk_text_writer_commit(&writer, n);
	}
	return nk_text_writer_finish(&writer, NULL, out, err);
}

static nk_status bind_pad(nk_bind *bind, pad_kind kind, const char *fill, nk_error *err)
{
	pad_plan *plan;
	int64_t n_fill = fill ? (int64_t)strlen(fill) : 0;
	if (n_fill == 0 || n_fill > 4 || nk_text_count_chars(fill, n_fill) != 1)
		return nk_fail(err, NK_VALUE, "expected a string of length 1 (fill_char of %s)", bind->func->name);
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	plan->kind = kind;
	plan->n_fill = n_fill;
	memcpy(plan->fill, fill, (size_t)n_fill);
	bind->data = plan;
	bind->casts[1] = nk_dtype_of(NK_TYPE_UINT64);
	return nk__bind_string_kernel(bind, NK_TYPE_STRING, pad_kernel, err);
}

nk_status nk__bind_pad_start(nk_bind *bind, nk_error *err)
{
	return bind_pad(bind, PAD_START, bind->options[0].string, err);
}

nk_status nk__bind_pad_end(nk_bind *bind, nk_error *err)
{
	return bind_pad(bind, PAD_END, bind->options[0].string, err);
}

nk_status nk__bind_zfill(nk_bind *bind, nk_error *err) { return bind_pad(bind, PAD_ZEROS, "0", err); }

/* ---- concat_str ---- */

typedef struct concat_plan {
	int n_args;
	bool ignore_nulls;
	int64_t n_separator;
	const char *separator;
} concat_plan;

static nk_status concat_str_kernel(const nk_call *call, nk_array *const *args, int64_t n_rows, nk_array **out,
                                   nk_error *err)
{
	const concat_plan *plan = call->data;
	NK_TEXT_WRITER(writer);
	NK_AUTO(nk_buffer) validity = NULL;
	if (!plan->ignore_nulls)
		NK_TRY(nk__validity_of_first(call, args, plan->n_args, n_rows, &validity, err));
	NK_TRY(nk_text_writer_init(&writer, call->memory, call->dtype, n_rows, err));
	for (int64_t i = 0; i < n_rows; i++) {
		if (validity && !nk_bitmap_get(validity->bytes, i)) {
			nk_text_writer_skip(&writer);
			continue;
		}
		int64_t n_bytes = (plan->n_args - 1) * plan->n_separator;
		for (int a = 0; a < plan->n_args; a++)
			n_bytes += nk__view_at(args[a], i)->n_bytes;
		char *room, *to;
		NK_TRY(nk_text_writer_room(&writer, n_bytes, &room, err));
		to = room;
		bool is_first = true;
		for (int a = 0; a < plan->n_args; a++) {
			if (plan->ignore_nulls && !nk_array_is_valid(args[a], i))
				continue;
			if (!is_first) {
				memcpy(to, plan->separator, (size_t)plan->n_separator);
				to += plan->n_separator;
			}
			is_first = false;
			const nk_view *view = nk__view_at(args[a], i);
			memcpy(to, nk_view_bytes(view, args[a]->heap), view->n_bytes);
			to += view->n_bytes;
		}
		nk_text_writer_commit(&writer, to - room);
	}
	return nk_text_writer_finish(&writer, NK_STEAL(validity), out, err);
}

nk_status nk__bind_concat_str(nk_bind *bind, nk_error *err)
{
	concat_plan *plan;
	for (int i = 0; i < bind->n_args; i++)
		if (nk_type_is_nested(bind->args[i].dtype->id))
			return nk_fail(err, NK_INVALID_OPERATION, "cannot cast %s to String (in concat_str)",
			               bind->args[i].dtype->text);
	NK_TRY(NK_ARENA_NEW(bind->arena, &plan, 1, err));
	*plan = (concat_plan){bind->n_args, bind->options[1].boolean, 0, ""};
	if (bind->options[0].string) {
		plan->separator = bind->options[0].string;
		plan->n_separator = (int64_t)strlen(plan->separator);
	}
	bind->data = plan;
	for (int i = 0; i < NK_MIN(bind->n_args, (int)NK_MAX_CASTS); i++)
		bind->casts[i] = nk_dtype_of(NK_TYPE_STRING);
	bind->dtype = nk_dtype_of(NK_TYPE_STRING);
	bind->kernel = concat_str_kernel;
	return NK_OK;
}
