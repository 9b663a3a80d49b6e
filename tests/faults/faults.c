/* Failures on demand, for a build of the Python module that only tests use: the linker sends the library's calls of
 * the functions below here (-Wl,--wrap), and one of them, counted from when the faults were armed, fails. The library
 * itself knows nothing of this. Heap blocks that the library has not given back are counted, so that a path that
 * fails and leaks is found. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/file.h"

typedef enum fault_kind { MEMORY, HEAP, READ, WRITE, THREAD, N_KINDS } fault_kind;

#define FAULTS_API __attribute__((visibility("default")))
FAULTS_API void nk_faults_arm(int kind, int64_t n, int for_good);
FAULTS_API void nk_faults_disarm(int64_t n_calls[N_KINDS]);
FAULTS_API int64_t nk_faults_live_blocks(void);
FAULTS_API int64_t nk_faults_live_bytes(void);

static int armed_kind = -1; /* atomic, as all below */
static int64_t armed_n, counts[N_KINDS];
static int stays_failed;

/* Call n (from 0) of the kind fails, and with for_good every later one. A kind of -1 only counts. */
void nk_faults_arm(int kind, int64_t n, int for_good)
{
	for (int i = 0; i < N_KINDS; i++)
		__atomic_store_n(&counts[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&armed_n, n, __ATOMIC_RELAXED);
	__atomic_store_n(&stays_failed, for_good, __ATOMIC_RELAXED);
	__atomic_store_n(&armed_kind, kind, __ATOMIC_RELEASE);
}

/* How many calls of each kind there were since arming. */
void nk_faults_disarm(int64_t n_calls[N_KINDS])
{
	__atomic_store_n(&armed_kind, -1, __ATOMIC_RELEASE);
	for (int i = 0; i < N_KINDS; i++)
		n_calls[i] = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
}

static bool fails(fault_kind kind)
{
	int64_t count = __atomic_fetch_add(&counts[kind], 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&armed_kind, __ATOMIC_ACQUIRE) != (int)kind)
		return false;
	int64_t n = __atomic_load_n(&armed_n, __ATOMIC_RELAXED);
	return count == n || (count > n && __atomic_load_n(&stays_failed, __ATOMIC_RELAXED));
}

/* ---- The library's own allocations ---- */

nk_status __real_nk_alloc(nk_memory *memory, int64_t n_bytes, void **out, nk_error *err);
nk_status __wrap_nk_alloc(nk_memory *memory, int64_t n_bytes, void **out, nk_error *err);
nk_status __real_nk_realloc(nk_memory *memory, void **block, int64_t n_old, int64_t n_new, nk_error *err);
nk_status __wrap_nk_realloc(nk_memory *memory, void **block, int64_t n_old, int64_t n_new, nk_error *err);
nk_status __real_nk__grow(nk_memory *memory, void **block, int64_t *capacity, int64_t n_wanted,
                          int64_t n_bytes_each, nk_error *err);
nk_status __wrap_nk__grow(nk_memory *memory, void **block, int64_t *capacity, int64_t n_wanted,
                          int64_t n_bytes_each, nk_error *err);
nk_status __real_nk_memory_reserve(nk_memory *memory, int64_t n_bytes, nk_error *err);
nk_status __wrap_nk_memory_reserve(nk_memory *memory, int64_t n_bytes, nk_error *err);
nk_memory *__real_nk_memory_new(nk_memory *parent, int64_t n_bytes_limit);
nk_memory *__wrap_nk_memory_new(nk_memory *parent, int64_t n_bytes_limit);

static nk_status refused(nk_error *err) { return nk_fail(err, NK_OUT_OF_MEMORY, "a fault was asked for"); }

nk_status __wrap_nk_alloc(nk_memory *memory, int64_t n_bytes, void **out, nk_error *err)
{
	return fails(MEMORY) ? refused(err) : __real_nk_alloc(memory, n_bytes, out, err);
}
nk_status __wrap_nk_realloc(nk_memory *memory, void **block, int64_t n_old, int64_t n_new, nk_error *err)
{
	return fails(MEMORY) ? refused(err) : __real_nk_realloc(memory, block, n_old, n_new, err);
}
nk_status __wrap_nk__grow(nk_memory *memory, void **block, int64_t *capacity, int64_t n_wanted,
                          int64_t n_bytes_each, nk_error *err)
{
	return fails(MEMORY) ? refused(err)
	                     : __real_nk__grow(memory, block, capacity, n_wanted, n_bytes_each, err);
}
nk_status __wrap_nk_memory_reserve(nk_memory *memory, int64_t n_bytes, nk_error *err)
{
	return fails(MEMORY) ? refused(err) : __real_nk_memory_reserve(memory, n_bytes, err);
}
nk_memory *__wrap_nk_memory_new(nk_memory *parent, int64_t n_bytes_limit)
{
	return fails(MEMORY) ? NULL : __real_nk_memory_new(parent, n_bytes_limit);
}

/* ---- The system's heap ---- */

/* Blocks that are out, in a table with open addressing; entries move back when one is taken out. */
enum { N_SLOTS = 1 << 20 };
static void *live[N_SLOTS];
static int64_t n_live; /* atomic */
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t slot_of(const void *block) { return ((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 44; }

static void *note(void *block)
{
	if (!block)
		return NULL;
	pthread_mutex_lock(&live_lock);
	if (n_live < N_SLOTS / 2) {
		size_t at = slot_of(block);
		while (live[at])
			at = (at + 1) % N_SLOTS;
		live[at] = block;
		__atomic_fetch_add(&n_live, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&live_lock);
	return block;
}

static void forget(const void *block)
{
	if (!block)
		return;
	pthread_mutex_lock(&live_lock);
	size_t at = slot_of(block);
	while (live[at] && live[at] != block)
		at = (at + 1) % N_SLOTS;
	if (live[at]) {
		__atomic_fetch_sub(&n_live, 1, __ATOMIC_RELAXED);
		for (size_t next = at;;) {
			live[at] = NULL;
			size_t home;
			do {
				next = (next + 1) % N_SLOTS;
				if (!live[next]) {
					pthread_mutex_unlock(&live_lock);
					return;
				}
				home = slot_of(live[next]);
			} while (at <= next ? at < home && home <= next : at < home || home <= next);
			live[at] = live[next];
			at = next;
		}
	}
	pthread_mutex_unlock(&live_lock);
}

int64_t nk_faults_live_blocks(void) { return __atomic_load_n(&n_live, __ATOMIC_RELAXED); }
int64_t nk_faults_live_bytes(void) { return nk_memory_in_use(); }

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t n_each);
void *__wrap_calloc(size_t n, size_t n_each);
void *__real_realloc(void *block, size_t n);
void *__wrap_realloc(void *block, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
char *__wrap_strndup(const char *text, size_t n);
void __real_free(void *block);
void __wrap_free(void *block);

void *__wrap_malloc(size_t n) { return fails(HEAP) ? NULL : note(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t n_each) { return fails(HEAP) ? NULL : note(__real_calloc(n, n_each)); }
void *__wrap_realloc(void *block, size_t n)
{
	if (fails(HEAP))
		return NULL;
	forget(block);
	void *moved = __real_realloc(block, n);
	note(moved ? moved : n ? block : NULL);
	return moved;
}
/* Blocks of trackers, which are counted by bytes. */
void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
	return fails(HEAP) ? NULL : __real_aligned_alloc(alignment, n);
}
char *__wrap_strdup(const char *text) { return fails(HEAP) ? NULL : note(__real_strdup(text)); }
char *__wrap_strndup(const char *text, size_t n)
{
	return fails(HEAP) ? NULL : note(__real_strndup(text, n));
}
void __wrap_free(void *block)
{
	forget(block);
	__real_free(block);
}

/* ---- Files and threads ---- */

nk_status __real_nk__file_read(nk_file *file, int64_t offset, int64_t n_bytes, nk_buffer **out,
                               nk_error *err);
nk_status __wrap_nk__file_read(nk_file *file, int64_t offset, int64_t n_bytes, nk_buffer **out,
                               nk_error *err);
int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_pread(int fd, void *bytes, size_t n, off_t offset);
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset);
void *__real_mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset);
int __real_mkostemp(char *path, int flags);
int __wrap_mkostemp(char *path, int flags);
ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

nk_status __wrap_nk__file_read(nk_file *file, int64_t offset, int64_t n_bytes, nk_buffer **out, nk_error *err)
{
	if (fails(READ))
		return nk_fail(err, NK_IO, "a fault was asked for: %s", nk__file_path(file));
	return __real_nk__file_read(file, offset, n_bytes, out, err);
}

static bool failed_with(fault_kind kind, int error)
{
	bool failed = fails(kind);
	if (failed)
		errno = error;
	return failed;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return failed_with(flags & O_CREAT ? WRITE : READ, EIO) ? -1 : __real_open(path, flags, mode);
}
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t offset)
{
	return failed_with(READ, EIO) ? -1 : __real_pread(fd, bytes, n, offset);
}
void *__wrap_mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset)
{
	return failed_with(READ, ENODEV) ? MAP_FAILED : __real_mmap(address, n, protection, flags, fd, offset);
}
int __wrap_mkostemp(char *path, int flags)
{
	return failed_with(WRITE, EACCES) ? -1 : __real_mkostemp(path, flags);
}
ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
	return failed_with(WRITE, ENOSPC) ? -1 : __real_write(fd, bytes, n);
}
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	return failed_with(WRITE, ENOSPC) ? -1 : __real_pwrite(fd, bytes, n, offset);
}
int __wrap_rename(const char *from, const char *to)
{
	return failed_with(WRITE, EXDEV) ? -1 : __real_rename(from, to);
}
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
	return fails(THREAD) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}
