/* Compiled once per instruction level. Sixteen lanes whatever the level's registers, so that every level adds floats
 * in the same order. */
#include "compute/reduce.h"

#define I128_LEAST ((__int128)((unsigned __int128)1 << 127))

#define T int8_t
#define SUFFIX i8
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST INT8_MIN
#define GREATEST INT8_MAX
#include "compute/reduce_tmpl.h"
#define T int16_t
#define SUFFIX i16
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST INT16_MIN
#define GREATEST INT16_MAX
#include "compute/reduce_tmpl.h"
#define T int32_t
#define SUFFIX i32
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST INT32_MIN
#define GREATEST INT32_MAX
#include "compute/reduce_tmpl.h"
#define T int64_t
#define SUFFIX i64
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST INT64_MIN
#define GREATEST INT64_MAX
#include "compute/reduce_tmpl.h"
#define T __int128
#define SUFFIX i128
#define ACC unsigned __int128
#define OUT __int128
#define IS_FLOAT 0
#define LEAST I128_LEAST
#define GREATEST (-(I128_LEAST + 1))
#include "compute/reduce_tmpl.h"
#define T uint8_t
#define SUFFIX u8
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST 0
#define GREATEST UINT8_MAX
#include "compute/reduce_tmpl.h"
#define T uint16_t
#define SUFFIX u16
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST 0
#define GREATEST UINT16_MAX
#include "compute/reduce_tmpl.h"
#define T uint32_t
#define SUFFIX u32
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST 0
#define GREATEST UINT32_MAX
#include "compute/reduce_tmpl.h"
#define T uint64_t
#define SUFFIX u64
#define ACC uint64_t
#define OUT int64_t
#define IS_FLOAT 0
#define LEAST 0
#define GREATEST UINT64_MAX
#include "compute/reduce_tmpl.h"
#define T float
#define SUFFIX f32
#define ACC double
#define OUT double
#define IS_FLOAT 1
#define LEAST (-__builtin_inff())
#define GREATEST __builtin_inff()
#include "compute/reduce_tmpl.h"
#define T double
#define SUFFIX f64
#define ACC double
#define OUT double
#define IS_FLOAT 1
#define LEAST (-__builtin_inf())
#define GREATEST __builtin_inf()
#include "compute/reduce_tmpl.h"

static double squares(const double *values, const uint8_t *validity, int64_t n, double center)
{
	double lanes[16] = {0};
	for (int64_t i = 0; i < n; i += 16) {
		uint64_t word = validity ? nk_bitmap_word(validity, i, n) : UINT64_MAX;
		int m = n - i < 16 ? (int)(n - i) : 16;
		for (int j = 0; j < m; j++) {
			double distance = values[i + j] - center;
			lanes[j] += (word >> j) & 1 ? distance * distance : 0;
		}
	}
	for (int width = 8; width > 0; width /= 2)
		for (int j = 0; j < width; j++)
			lanes[j] += lanes[j + width];
	return lanes[0];
}

const nk_reduce_table NK_ISA_NAME(nk__reduce) = {
	.sum =
		{
			[NK_PHYSICAL_I8] = sum_i8,
			[NK_PHYSICAL_I16] = sum_i16,
			[NK_PHYSICAL_I32] = sum_i32,
			[NK_PHYSICAL_I64] = sum_i64,
			[NK_PHYSICAL_I128] = sum_i128,
			[NK_PHYSICAL_U8] = sum_u8,
			[NK_PHYSICAL_U16] = sum_u16,
			[NK_PHYSICAL_U32] = sum_u32,
			[NK_PHYSICAL_U64] = sum_u64,
			[NK_PHYSICAL_F32] = sum_f32,
			[NK_PHYSICAL_F64] = sum_f64,
		},
	.extreme =
		{
			[NK_PHYSICAL_I8] = {least_i8, greatest_i8},
			[NK_PHYSICAL_I16] = {least_i16, greatest_i16},
			[NK_PHYSICAL_I32] = {least_i32, greatest_i32},
			[NK_PHYSICAL_I64] = {least_i64, greatest_i64},
			[NK_PHYSICAL_I128] = {least_i128, greatest_i128},
			[NK_PHYSICAL_U8] = {least_u8, greatest_u8},
			[NK_PHYSICAL_U16] = {least_u16, greatest_u16},
			[NK_PHYSICAL_U32] = {least_u32, greatest_u32},
			[NK_PHYSICAL_U64] = {least_u64, greatest_u64},
			[NK_PHYSICAL_F32] = {least_f32, greatest_f32},
			[NK_PHYSICAL_F64] = {least_f64, greatest_f64},
		},
	.squares = squares,
};
