/* Compiled once per instruction level: plain loops that the compiler vectorises (64-bit multiplies are native
 * from AVX-512 on). Floats hash as doubles with one zero and one NaN, so that keys equal in Polars' order
 * meet. */
#include "compute/hash_loops.h"

#include "base/bitmap.h"
#include "base/hash.h"

static inline uint64_t bits_of_float(double value)
{
	uint64_t bits;
	value = value == 0 ? 0.0 : value != value ? __builtin_nan("") : value;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* The value's own 64 bits where it fits them, so that it meets narrower integers. */
static inline uint64_t bits_of_wide(__int128 value)
{
	uint64_t low = (uint64_t)value, high = (uint64_t)(value >> 64);
	bool fits = high == 0 || (high == UINT64_MAX && (int64_t)low < 0);
	return fits ? low : low ^ nk_hash_u64(high + 1);
}

#define T int8_t
#define SUFFIX i8
#define BITS(value) (uint64_t)(int64_t)(value)
#include "compute/hash_tmpl.h"
#define T int16_t
#define SUFFIX i16
#define BITS(value) (uint64_t)(int64_t)(value)
#include "compute/hash_tmpl.h"
#define T int32_t
#define SUFFIX i32
#define BITS(value) (uint64_t)(int64_t)(value)
#include "compute/hash_tmpl.h"
#define T int64_t
#define SUFFIX i64
#define BITS(value) (uint64_t)(value)
#include "compute/hash_tmpl.h"
#define T __int128
#define SUFFIX i128
#define BITS(value) bits_of_wide(value)
#include "compute/hash_tmpl.h"
#define T uint8_t
#define SUFFIX u8
#define BITS(value) (uint64_t)(value)
#include "compute/hash_tmpl.h"
#define T uint16_t
#define SUFFIX u16
#define BITS(value) (uint64_t)(value)
#include "compute/hash_tmpl.h"
#define T uint32_t
#define SUFFIX u32
#define BITS(value) (uint64_t)(value)
#include "compute/hash_tmpl.h"
#define T float
#define SUFFIX f32
#define BITS(value) bits_of_float((double)(value))
#include "compute/hash_tmpl.h"
#define T double
#define SUFFIX f64
#define BITS(value) bits_of_float(value)
#include "compute/hash_tmpl.h"

static void gather(const uint64_t *known, const uint32_t *codes, const uint8_t *validity, int64_t n_rows,
                   uint64_t *hashes, bool combine)
{
	for (int64_t i = 0; i < n_rows; i++) {
		uint64_t hash = !validity || nk_bitmap_get(validity, i) ? known[codes[i]] : NK_HASH_NULL;
		hashes[i] = combine ? nk_hash_combine(hashes[i], hash) : hash;
	}
}

const nk_hash_table NK_ISA_NAME(nk__hash) = {
	.fixed =
		{
			[NK_PHYSICAL_I8] = hash_i8,
			[NK_PHYSICAL_I16] = hash_i16,
			[NK_PHYSICAL_I32] = hash_i32,
			[NK_PHYSICAL_I64] = hash_i64,
			[NK_PHYSICAL_I128] = hash_i128,
			[NK_PHYSICAL_U8] = hash_u8,
			[NK_PHYSICAL_U16] = hash_u16,
			[NK_PHYSICAL_U32] = hash_u32,
			[NK_PHYSICAL_U64] = hash_i64,
			[NK_PHYSICAL_F32] = hash_f32,
			[NK_PHYSICAL_F64] = hash_f64,
		},
	.gather = gather,
};
