/* Names of temporary files are new ones, so that writers of one target do not disturb each other: the last to finish
 * wins. A link is followed: what it points to is replaced. */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKED_BYTES = 256 << 10 };

struct nk_output {
	int descriptor; /* -1: closed */
	int64_t n_bytes;
	char *path, *temporary; /* temporary NULL: the path itself is written to */
	nk_output_packing packing;
	char *packed;
	z_stream gzip;
	bool has_gzip;
	ZSTD_CCtx *zstd;
};

static nk_status out_of_memory(nk_error *err)
{
	return nk_fail(err, NK_OUT_OF_MEMORY, "no memory for a file");
}

static nk_status system_says(const nk_output *output, int error, nk_error *err)
{
	return nk_fail(err, error == ENOENT ? NK_FILE_NOT_FOUND : NK_IO, "%s: %s", strerror(error), output->path);
}

nk_status nk__output_packing(const char *name, nk_output_packing *out, nk_error *err)
{
	static const char *const names[] = {"uncompressed", "gzip", "zstd"};
	for (int i = 0; i < 3; i++)
		if (!name || strcmp(name, names[i]) == 0) {
			*out = (nk_output_packing)i;
			return NK_OK;
		}
	return nk_fail(err, NK_VALUE, "`compression` cannot be \"%s\"", name);
}

static nk_status open_new(nk_output *output, nk_error *err)
{
	enum { ROOM = 64, TRIES = 10000 };
	static uint32_t counter; /* names are for nobody to see */
	size_t n = strlen(output->path) + ROOM;
	if (!(output->temporary = malloc(n)))
		return out_of_memory(err);
	for (int i = 0; i < TRIES; i++) {
		uint32_t number = __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
		snprintf(output->temporary, n, "%s.%ld-%u.part", output->path, (long)getpid(), number);
		output->descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (output->descriptor >= 0 || errno != EEXIST)
			break;
	}
	return output->descriptor >= 0 ? NK_OK : system_says(output, errno, err);
}

static nk_status open_target(nk_output *output, const char *path, nk_error *err)
{
	struct stat about;
	bool is_there = stat(path, &about) == 0;
	char *real = is_there && S_ISREG(about.st_mode) ? realpath(path, NULL) : NULL;
	output->path = real ? real : strdup(path);
	if (!output->path)
		return out_of_memory(err);
	if (!is_there || S_ISREG(about.st_mode))
		return open_new(output, err);
	output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
	return output->descriptor >= 0 ? NK_OK : system_says(output, errno, err);
}

static nk_status start_packing(nk_output *output, int level, nk_error *err)
{
	enum { WITH_GZIP_HEADER = 16, MEMORY_LEVEL = 8, GZIP_LEVEL = 6, ZSTD_LEVEL = 3 };
	if (output->packing == NK_OUTPUT_PLAIN)
		return NK_OK;
	if (!(output->packed = malloc(PACKED_BYTES)))
		return out_of_memory(err);
	if (output->packing == NK_OUTPUT_GZIP) {
		level = level < 0 ? GZIP_LEVEL : level;
		if (deflateInit2(&output->gzip, level, Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEADER, MEMORY_LEVEL,
		                 Z_DEFAULT_STRATEGY) != Z_OK)
			return nk_fail(err, NK_VALUE, "gzip does not have a compression level %d", level);
		output->has_gzip = true;
		return NK_OK;
	}
	level = level < 0 ? ZSTD_LEVEL : level;
	if (!(output->zstd = ZSTD_createCCtx()))
		return out_of_memory(err);
	if (ZSTD_isError(ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, level)))
		return nk_fail(err, NK_VALUE, "zstd does not have a compression level %d", level);
	return NK_OK;
}

nk_status nk__output_open(const char *path, nk_output_packing packing, int level, nk_output **out,
                          nk_error *err)
{
	nk_output *made = calloc(1, sizeof *made);
	if (!made)
		return out_of_memory(err);
	NK_AUTO(nk_output) output = made;
	output->descriptor = -1;
	output->packing = packing;
	NK_TRY(start_packing(output, level, err));
	NK_TRY(open_target(output, path, err));
	*out = NK_STEAL(output);
	return NK_OK;
}

/* ---- Bytes ---- */

static nk_status put_file(nk_output *output, const char *bytes, int64_t n, nk_error *err)
{
	while (n > 0) {
		ssize_t n_written = write(output->descriptor, bytes, (size_t)n);
		if (n_written < 0 && errno == EINTR)
			continue;
		if (n_written < 0)
			return system_says(output, errno, err);
		bytes += n_written;
		n -= n_written;
	}
	return NK_OK;
}

static nk_status put_gzip(nk_output *output, const char *bytes, int64_t n, bool is_last, nk_error *err)
{
	enum { STEP = 1 << 30 };
	int result = Z_OK;
	do {
		int64_t n_step = NK_MIN(n, (int64_t)STEP);
		bool ends = is_last && n_step == n;
		output->gzip.next_in = (Bytef *)bytes;
		output->gzip.avail_in = (uInt)n_step;
		do {
			output->gzip.next_out = (Bytef *)output->packed;
			output->gzip.avail_out = PACKED_BYTES;
			result = deflate(&output->gzip, ends ? Z_FINISH : Z_NO_FLUSH);
			if (result == Z_STREAM_ERROR)
				return nk_fail(err, NK_COMPUTE, "zlib cannot compress");
			NK_TRY(put_file(output, output->packed, PACKED_BYTES - output->gzip.avail_out, err));
		} while (output->gzip.avail_out == 0 || (ends && result != Z_STREAM_END));
		bytes += n_step;
		n -= n_step;
	} while (n > 0);
	return NK_OK;
}

static nk_status put_zstd(nk_output *output, const char *bytes, int64_t n, bool is_last, nk_error *err)
{
	ZSTD_inBuffer in = {bytes, (size_t)n, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {output->packed, PACKED_BYTES, 0};
		left = ZSTD_compressStream2(output->zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return nk_fail(err, NK_COMPUTE, "zstd cannot compress: %s", ZSTD_getErrorName(left));
		NK_TRY(put_file(output, output->packed, (int64_t)out.pos, err));
	} while (in.pos < in.size || (is_last && left > 0));
	return NK_OK;
}

static nk_status put(nk_output *output, const char *bytes, int64_t n, bool is_last, nk_error *err)
{
	output->n_bytes += n;
	return output->packing == NK_OUTPUT_GZIP   ? put_gzip(output, bytes, n, is_last, err)
	       : output->packing == NK_OUTPUT_ZSTD ? put_zstd(output, bytes, n, is_last, err)
	                                           : put_file(output, bytes, n, err);
}

nk_status nk__output_put(nk_output *output, const void *bytes, int64_t n_bytes, nk_error *err)
{
	return n_bytes > 0 ? put(output, bytes, n_bytes, false, err) : NK_OK;
}

nk_status nk__output_put_pieces(nk_output *output, struct iovec *pieces, int n, nk_error *err)
{
	enum { AT_ONCE = 512 };
	for (int i = 0; i < n; i++)
		output->n_bytes += (int64_t)pieces[i].iov_len;
	while (n > 0) {
		if (pieces->iov_len == 0) {
			pieces++;
			n--;
			continue;
		}
		ssize_t n_done = writev(output->descriptor, pieces, NK_MIN(n, AT_ONCE));
		if (n_done < 0 && errno == EINTR)
			continue;
		if (n_done < 0)
			return system_says(output, errno, err);
		while (n > 0 && (size_t)n_done >= pieces->iov_len) {
			n_done -= (ssize_t)pieces->iov_len;
			pieces++;
			n--;
		}
		if (n > 0) {
			pieces->iov_base = (char *)pieces->iov_base + n_done;
			pieces->iov_len -= (size_t)n_done;
		}
	}
	return NK_OK;
}

int64_t nk__output_position(const nk_output *output) { return output->n_bytes; }

/* ---- The end ---- */

/* The new name is in the folder for good; a system that cannot sync folders is not one to wait for. */
static void sync_folder(const nk_output *output)
{
	char *copy = strdup(output->path);
	if (!copy)
		return;
	char *slash = strrchr(copy, '/');
	if (slash)
		slash[slash == copy] = 0;
	int folder = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		fsync(folder);
		close(folder);
	}
	free(copy);
}

nk_status nk__output_finish(nk_output *output, nk_error *err)
{
	if (output->packing != NK_OUTPUT_PLAIN)
		NK_TRY(put(output, NULL, 0, true, err));
	if (output->temporary && fsync(output->descriptor) < 0)
		return system_says(output, errno, err);
	int failed = close(output->descriptor), error = errno;
	output->descriptor = -1;
	if (!output->temporary)
		return failed ? system_says(output, error, err) : NK_OK;
	if (!failed && rename(output->temporary, output->path) == 0) {
		sync_folder(output);
		return NK_OK;
	}
	error = failed ? error : errno;
	unlink(output->temporary);
	return system_says(output, error, err);
}

void nk__output_free(nk_output *output)
{
	if (!output)
		return;
	if (output->descriptor >= 0) {
		close(output->descriptor);
		if (output->temporary)
			unlink(output->temporary);
	}
	if (output->has_gzip)
		deflateEnd(&output->gzip);
	ZSTD_freeCCtx(output->zstd);
	free(output->packed);
	free(output->path);
	free(output->temporary);
	free(output);
}
