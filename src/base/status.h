/* Status codes, the error a caller may ask for, and scope-bound release.
 *
 * A fallible function returns nk_status and takes `nk_error *err` last; NULL means "not interested".
 * The layer that fails writes the message with nk_fail(); callers may add where it happened with
 * nk_error_context() and never rewrite it. Nothing here allocates: running out of memory can be
 * reported. An nk_error belongs to one caller at a time. */
#ifndef NK_BASE_STATUS_H
#define NK_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nanuk.h"

#define NK_MUST_CHECK __attribute__((warn_unused_result))

/* Fill *err (if any) and return `code`, so that a failing line reads `return nk_fail(err, ...)`. */
nk_status nk_fail(nk_error *err, nk_status code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Append " (in <place>)": file, row group, column, node. Returns `code`. */
nk_status nk_error_context(nk_error *err, nk_status code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Pass a failure on. Whatever the scope owns through NK_AUTO is released. */
#define NK_TRY(call)                               \
	do {                                           \
		nk_status status_ = (call);                \
		if (__builtin_expect(status_ != NK_OK, 0)) \
			return status_;                        \
	} while (0)

/* `NK_AUTO(nk_buffer) b = NULL;` drops its reference at the end of the scope.
 * A type takes part by defining `static inline void nk_type__auto(nk_type **)`. */
#define NK_AUTO(type) __attribute__((cleanup(type##__auto))) type *

/* Hand ownership out of a scope: yields the pointer and leaves NULL behind. */
#define NK_STEAL(pointer)                        \
	({                                           \
		__typeof__(pointer) stolen_ = (pointer); \
		(pointer) = 0;                           \
		stolen_;                                 \
	})

/* For programmer errors only: input data never trips one. Compiled out unless NK_DEBUG is defined. */
#ifdef NK_DEBUG
#define NK_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define NK_ASSERT(condition) ((void)sizeof(condition))
#endif

#define NK_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define NK_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define NK_MIN(a, b)            \
	({                          \
		__typeof__(a) a_ = (a); \
		__typeof__(b) b_ = (b); \
		a_ < b_ ? a_ : b_;      \
	})
#define NK_MAX(a, b)            \
	({                          \
		__typeof__(a) c_ = (a); \
		__typeof__(b) d_ = (b); \
		c_ > d_ ? c_ : d_;      \
	})
#define NK_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
