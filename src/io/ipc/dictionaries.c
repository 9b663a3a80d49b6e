/* Entries are converted when a record batch first asks for them, and kept with the file: codes of all batches that see the
 * same dictionary then refer to one array. */
#include "io/ipc/source_internal.h"

static nk_status find_within(void *data, int64_t id, const nk_ipc_entries **out, nk_error *err)
{
	(void)data;
	(void)out;
	return nk_fail(err, NK_INVALID_OPERATION, "a dictionary (%lld) within a dictionary is not supported",
	               (long long)id);
}

/* The entries that one dictionary batch brings. */
static nk_status load_entries(nk_ipc_file *file, const nk_ipc_dictionary *dictionary,
                              nk_scan_counters *counters, nk_array **out, nk_error *err)
{
	const nk_ipc_field *field = nk__ipc_fields_dictionary(&file->fields, dictionary->id);
	if (!field)
		return nk_fail(err, NK_COMPUTE, "no column has the dictionary %lld", (long long)dictionary->id);
	if (field->values)
		return find_within(NULL, field->dictionary, NULL, err);
	nk_memory *memory = nk_arena_memory(file->arena);
	nk_ipc_bytes from = {
		.memory = memory, .whole = file->whole, .is_swapped = file->fields.is_swapped, .counters = counters};
	struct ArrowArray loaded;
	NK_AUTO(nk_array) array = NULL;
	NK_TRY(
		nk__ipc_load(&from, &dictionary->batch, field, (nk_ipc_cursor){0}, find_within, NULL, &loaded, err));
	NK_TRY(nk__ipc_convert(memory, field, &loaded, 0, loaded.length, loaded.release, loaded.private_data,
	                       &array, err));
	return nk_array_flatten(memory, array, out, err);
}

/* Dictionary number `last` with those that it extends, from number `first` on. */
static nk_status gather_entries(nk_ipc_file *file, int64_t first, int64_t last, nk_scan_counters *counters,
                                nk_array **out, nk_error *err)
{
	nk_memory *memory = nk_arena_memory(file->arena);
	int64_t id = file->dictionaries[last].id, n = 0, n_room = last - first + 1;
	NK_AUTO(nk_buffer) room = NULL;
	NK_TRY(nk_buffer_new(memory, n_room * (int64_t)sizeof(nk_array *), &room, err));
	nk_array **parts = (nk_array **)(void *)room->bytes;
	nk_status status = NK_OK;
	for (int64_t i = first; status == NK_OK && i <= last; i++)
		if (file->dictionaries[i].id == id) {
			status = load_entries(file, &file->dictionaries[i], counters, &parts[n], err);
			n += status == NK_OK;
		}
	if (status == NK_OK)
		status = nk_array_concat(memory, parts, (int)n, out, err);
	for (int64_t i = 0; i < n; i++)
		nk_array_unref(parts[i]);
	return status;
}

static nk_status make_entries(nk_ipc_file *file, int64_t first, int64_t last, nk_scan_counters *counters,
                              nk_error *err)
{
	nk_ipc_entries *entries = &file->dictionaries[last].entries;
	NK_AUTO(nk_array) all = NULL;
	NK_TRY(gather_entries(file, first, last, counters, &all, err));
	if (all->validity)
		NK_TRY(nk_array_with_validity(all, NULL, 0, &entries->plain, err));
	else
		entries->plain = nk_array_ref(all);
	entries->all = NK_STEAL(all);
	return NK_OK;
}

static nk_status find(nk_ipc_file *file, int64_t id, int64_t batch, nk_scan_counters *counters,
                      const nk_ipc_entries **out, nk_error *err)
{
	int64_t last = file->n_dictionaries - 1;
	while (last >= 0 && (file->dictionaries[last].id != id || file->dictionaries[last].first_batch > batch))
		last--;
	if (last < 0)
		return nk_fail(err, NK_COMPUTE, "the dictionary %lld is missing", (long long)id);
	int64_t first = last;
	for (int64_t i = last; i >= 0; i--)
		if (file->dictionaries[i].id == id) {
			first = i;
			if (!file->dictionaries[i].is_delta)
				break;
		}
	if (!file->dictionaries[last].entries.all)
		NK_TRY(make_entries(file, first, last, counters, err));
	*out = &file->dictionaries[last].entries;
	return NK_OK;
}

nk_status nk__ipc_entries(nk_ipc_file *file, int64_t id, int64_t batch, nk_scan_counters *counters,
                          const nk_ipc_entries **out, nk_error *err)
{
	pthread_mutex_lock(&file->lock);
	nk_status status = find(file, id, batch, counters, out, err);
	pthread_mutex_unlock(&file->lock);
	return status;
}
