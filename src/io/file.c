/* Local files. Mapping costs no copy and leaves caching to the system; a page fault is cheaper than copying what a
 * column chunk holds. Files of no size cannot be mapped and have no ranges. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct nk_file {
	int64_t n_references;
	nk_memory *memory;
	int64_t n_bytes;
	int descriptor; /* -1 when mapped */
	const uint8_t *mapped;
	char path[];
};

static nk_status failed_open(const char *path, int error, nk_error *err)
{
	nk_status code = error == ENOENT || error == ENOTDIR ? NK_FILE_NOT_FOUND
	                 : error == ENOMEM                   ? NK_OUT_OF_MEMORY
	                                                     : NK_IO;
	return nk_fail(err, code, "%s: %s", strerror(error), path);
}

nk_status nk__file_open(nk_memory *memory, const char *path, nk_file **out, nk_error *err)
{
	size_t n_path = strlen(path) + 1;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return failed_open(path, errno, err);
	struct stat about;
	int error = fstat(descriptor, &about) < 0 ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
	nk_file *file = error ? NULL : malloc(sizeof *file + n_path);
	if (!file) {
		close(descriptor);
		return failed_open(path, error ? error : ENOMEM, err);
	}
	*file = (nk_file){.n_references = 1,
	                  .memory = nk_memory_ref(memory),
	                  .n_bytes = about.st_size,
	                  .descriptor = descriptor};
	memcpy(file->path, path, n_path);
	if (file->n_bytes > 0) {
		void *mapped = mmap(NULL, (size_t)file->n_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
		if (mapped != MAP_FAILED) {
			file->mapped = mapped;
			close(descriptor);
			file->descriptor = -1;
		}
	}
	*out = file;
	return NK_OK;
}

nk_file *nk__file_ref(nk_file *file)
{
	__atomic_fetch_add(&file->n_references, 1, __ATOMIC_RELAXED);
	return file;
}

void nk__file_unref(nk_file *file)
{
	if (!file || __atomic_fetch_sub(&file->n_references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	if (file->mapped)
		munmap((void *)file->mapped, (size_t)file->n_bytes);
	if (file->descriptor >= 0)
		close(file->descriptor);
	nk_memory_unref(file->memory);
	free(file);
}

const char *nk__file_path(const nk_file *file) { return file->path; }

int64_t nk__file_size(const nk_file *file) { return file->n_bytes; }

static void unref_file(void *file) { nk__file_unref(file); }

nk_status nk__file_read(nk_file *file, int64_t offset, int64_t n_bytes, nk_buffer **out, nk_error *err)
{
	if (offset < 0 || n_bytes < 0 || offset > file->n_bytes || n_bytes > file->n_bytes - offset)
		return nk_fail(err, NK_COMPUTE, "bytes %lld to %lld are not inside of a file of %lld bytes",
		               (long long)offset, (long long)(offset + n_bytes), (long long)file->n_bytes);
	if (file->mapped)
		return nk_buffer_wrap(file->mapped + offset, n_bytes, unref_file, nk__file_ref(file), out, err);
	NK_AUTO(nk_buffer) buffer = NULL;
	NK_TRY(nk_buffer_new(file->memory, n_bytes, &buffer, err));
	for (int64_t n_read = 0; n_read < n_bytes;) {
		ssize_t n =
			pread(file->descriptor, buffer->bytes + n_read, (size_t)(n_bytes - n_read), offset + n_read);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return nk_fail(err, NK_IO, "%s: %s", n < 0 ? strerror(errno) : "the file ended early",
			               file->path);
		n_read += n;
	}
	*out = NK_STEAL(buffer);
	return NK_OK;
}
