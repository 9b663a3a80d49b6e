/* Nulls propagate beside the values: the kernel computes all lanes, and the arguments' validities are ANDed into the
 * result's. Arguments that are null throughout need no kernel. */
#include "func/apply.h"

#include "base/bitmap.h"

/* AND of the validities of flat arguments, as one buffer; *out NULL when all rows are valid. A single validity that
 * several users may share is passed on as a reference. */
static nk_status combine_validity(nk_memory *memory, nk_array *const *args, int n_args, int64_t n_rows,
                                  nk_buffer **out, const uint8_t **bits, nk_error *err)
{
	const nk_array *only = NULL;
	int n = 0;
	for (int i = 0; i < n_args; i++)
		if (args[i]->encoding != NK_CONSTANT && args[i]->validity) {
			only = args[i];
			n++;
		}
	*out = NULL;
	*bits = NULL;
	if (n == 0)
		return NK_OK;
	if (n == 1 && only->validity == only->validity_buffer->bytes) {
		*out = nk_buffer_ref(only->validity_buffer);
		*bits = only->validity;
		return NK_OK;
	}
	NK_AUTO(nk_buffer) made = NULL;
	int64_t n_bytes = nk_bitmap_bytes(n_rows);
	NK_TRY(nk_buffer_new(memory, n_bytes, &made, err));
	memcpy(made->bytes, only->validity, (size_t)n_bytes);
	for (int i = 0; i < n_args; i++) {
		if (args[i]->encoding == NK_CONSTANT || !args[i]->validity || args[i] == only)
			continue;
		const uint8_t *other = args[i]->validity;
		for (int64_t b = 0; b < n_bytes; b++)
			made->bytes[b] &= other[b];
	}
	*bits = made->bytes;
	*out = NK_STEAL(made);
	return NK_OK;
}

static bool is_all_null(const nk_array *array)
{
	return array->physical == NK_PHYSICAL_NONE ||
	       (array->encoding == NK_CONSTANT && !nk_array_is_valid(array, 0));
}

nk_status nk_func_apply(nk_call *call, nk_kernel *kernel, nk_array *const *args, int n_args, int64_t n_rows,
                        nk_array **out, nk_error *err)
{
	call->validity = NULL;
	if (call->func->nulls == NK_NULLS_SEEN)
		return kernel(call, args, n_rows, out, err);
	for (int i = 0; i < n_args; i++)
		if (is_all_null(args[i]))
			return nk_array_new_null(call->memory, call->dtype, n_rows, out, err);
	NK_AUTO(nk_buffer) validity = NULL;
	NK_TRY(combine_validity(call->memory, args, n_args, n_rows, &validity, &call->validity, err));
	NK_AUTO(nk_array) result = NULL;
	NK_TRY(kernel(call, args, n_rows, &result, err));
	if (!validity || result->physical == NK_PHYSICAL_NONE ||
	    (result->encoding == NK_CONSTANT && !nk_array_is_valid(result, 0))) {
		*out = NK_STEAL(result);
		return NK_OK;
	}
	if (result->validity && result->encoding != NK_CONSTANT) {
		NK_AUTO(nk_buffer) both = NULL;
		int64_t n_bytes = nk_bitmap_bytes(n_rows);
		NK_TRY(nk_buffer_new(call->memory, n_bytes, &both, err));
		for (int64_t b = 0; b < n_bytes; b++)
			both->bytes[b] = validity->bytes[b] & result->validity[b];
		nk_buffer_unref(validity);
		validity = NK_STEAL(both);
	}
	if (result->encoding == NK_CONSTANT) {
		nk_array *flat;
		NK_TRY(nk_array_flatten(call->memory, result, &flat, err));
		nk_array_unref(result);
		result = flat;
	}
	return nk_array_with_validity(result, NK_STEAL(validity), -1, out, err);
}
