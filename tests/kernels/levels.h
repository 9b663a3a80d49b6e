/* The instruction levels that this machine runs, and data for comparing them: awkward values, every tail. */
#ifndef NK_TESTS_LEVELS_H
#define NK_TESTS_LEVELS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/cpu.h"
#include "columnar/dtype.h"
#include "expect.h"

enum { LEVELS_N_MAX = 200 };
static const int levels_lengths[] = {0,  1,  2,  3,  7,  8,   9,   15,  16,  17, 31,
                                     32, 33, 63, 64, 65, 127, 128, 129, 199, 200};

/* Runs a check of table `name` at each level above the baseline that this CPU has. */
#if defined(__x86_64__)
#define LEVELS_CHECK(check, name)                  \
	do {                                           \
		if (nk_cpu_isa() >= NK_ISA_V3)             \
			check(&name##_baseline, &name##_v3);   \
		if (nk_cpu_isa() >= NK_ISA_V4)             \
			check(&name##_baseline, &name##_v4);   \
		check(&name##_baseline, &name##_baseline); \
	} while (0)
#else
#define LEVELS_CHECK(check, name) check(&name##_baseline, &name##_baseline)
#endif

static inline uint64_t levels_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline int levels_width(nk_physical physical)
{
	switch (physical) {
	case NK_PHYSICAL_I8:
	case NK_PHYSICAL_U8: return 1;
	case NK_PHYSICAL_I16:
	case NK_PHYSICAL_U16: return 2;
	case NK_PHYSICAL_I32:
	case NK_PHYSICAL_U32:
	case NK_PHYSICAL_F32: return 4;
	case NK_PHYSICAL_I128:
	case NK_PHYSICAL_VIEW: return 16;
	default: return 8;
	}
}

/* n values of a type: random bits, with small numbers, extremes, zeros of both signs, NaN and infinities among them. */
static inline void levels_fill(void *out, nk_physical physical, int n, uint64_t seed)
{
	static const double odd[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1.5, -2.25, 1e300, 5e-324};
	int width = levels_width(physical);
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
	for (int i = 0; i < n; i++) {
		char *at = (char *)out + (int64_t)i * width;
		uint64_t bits[2] = {levels_random(&state), levels_random(&state)};
		unsigned kind = (unsigned)(bits[1] >> 60);
		if (physical == NK_PHYSICAL_F64 || physical == NK_PHYSICAL_F32) {
			double value = kind < 6 ? odd[bits[0] % 9] : (double)(int64_t)bits[0] / 1e15;
			float narrow = (float)value;
			memcpy(at, physical == NK_PHYSICAL_F64 ? (void *)&value : (void *)&narrow, (size_t)width);
			continue;
		}
		if (kind < 4) {
			int64_t small = (int64_t)(bits[0] % 7) - 3;
			bits[0] = (uint64_t)small;
			bits[1] = small < 0 ? UINT64_MAX : 0;
		} else if (kind < 6) {
			memset(bits, kind == 4 ? 0 : 0xff, sizeof bits);
			((uint8_t *)bits)[width - 1] ^= 0x80; /* the least or greatest value of the width */
		}
		memcpy(at, bits, (size_t)width);
	}
}

/* Buffers as the engine has them: padded, so that whole vectors may be written. */
static inline void *levels_buffer(int64_t n_bytes, int fill)
{
	void *buffer = aligned_alloc(64, (size_t)((n_bytes + 127) & -64LL));
	memset(buffer, fill, (size_t)((n_bytes + 127) & -64LL));
	return buffer;
}

#endif
