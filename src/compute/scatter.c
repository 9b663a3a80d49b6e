/* Scattering loops: rows into the states of their groups. Rows under null add zero rather than branch. */
#include "compute/reduce.h"

#define T int8_t
#define SUFFIX i8
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T int16_t
#define SUFFIX i16
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T int32_t
#define SUFFIX i32
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T int64_t
#define SUFFIX i64
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T uint8_t
#define SUFFIX u8
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T uint16_t
#define SUFFIX u16
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T uint32_t
#define SUFFIX u32
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T uint64_t
#define SUFFIX u64
#define ACC uint64_t
#include "compute/scatter_tmpl.h"
#define T float
#define SUFFIX f32
#define ACC double
#include "compute/scatter_tmpl.h"
#define T double
#define SUFFIX f64
#define ACC double
#include "compute/scatter_tmpl.h"

void nk_scatter_sum_wide(void *states, const uint32_t *groups, const void *values, const uint8_t *validity,
                         int64_t n)
{
	__int128 *sums = states;
	const int64_t *from = values;
	for (int64_t i = 0; i < n; i++)
		sums[groups[i]] += !validity || nk_bitmap_get(validity, i) ? from[i] : 0;
}

void nk_scatter_mean_wide(void *states, const uint32_t *groups, const void *values, const uint8_t *validity,
                          int64_t n)
{
	nk_wide_mean_state *sums = states;
	const int64_t *from = values;
	for (int64_t i = 0; i < n; i++) {
		bool valid = !validity || nk_bitmap_get(validity, i);
		nk_wide_mean_state *state = &sums[groups[i]];
		state->sum += valid ? from[i] : 0;
		state->count += valid;
	}
}

const nk_scatter_table nk__scatter = {
	.sum =
		{
			[NK_PHYSICAL_I8] = sum_i8,
			[NK_PHYSICAL_I16] = sum_i16,
			[NK_PHYSICAL_I32] = sum_i32,
			[NK_PHYSICAL_I64] = sum_i64,
			[NK_PHYSICAL_U8] = sum_u8,
			[NK_PHYSICAL_U16] = sum_u16,
			[NK_PHYSICAL_U32] = sum_u32,
			[NK_PHYSICAL_U64] = sum_u64,
			[NK_PHYSICAL_F32] = sum_f32,
			[NK_PHYSICAL_F64] = sum_f64,
		},
	.mean =
		{
			[NK_PHYSICAL_I8] = mean_i8,
			[NK_PHYSICAL_I16] = mean_i16,
			[NK_PHYSICAL_I32] = mean_i32,
			[NK_PHYSICAL_I64] = mean_i64,
			[NK_PHYSICAL_U8] = mean_u8,
			[NK_PHYSICAL_U16] = mean_u16,
			[NK_PHYSICAL_U32] = mean_u32,
			[NK_PHYSICAL_U64] = mean_u64,
			[NK_PHYSICAL_F32] = mean_f32,
			[NK_PHYSICAL_F64] = mean_f64,
		},
};
