/* Compiled once per instruction level: plain loops over blocks that stay in L1. */
#include "compute/convert.h"

#define T int8_t
#define SUFFIX i8
#define IS_FLOAT 0
#define LEAST -129.0
#define GREATEST 128.0
#define MOST INT8_MAX
#include "compute/convert_tmpl.h"
#define T int16_t
#define SUFFIX i16
#define IS_FLOAT 0
#define LEAST -32769.0
#define GREATEST 32768.0
#define MOST INT16_MAX
#include "compute/convert_tmpl.h"
#define T int32_t
#define SUFFIX i32
#define IS_FLOAT 0
#define LEAST -2147483649.0
#define GREATEST 2147483648.0
#define MOST INT32_MAX
#include "compute/convert_tmpl.h"
#define T int64_t
#define SUFFIX i64
#define IS_FLOAT 0
#define LEAST -0x1.0000000000001p63
#define GREATEST 0x1p63
#define MOST INT64_MAX
#include "compute/convert_tmpl.h"
#define T __int128
#define SUFFIX i128
#define IS_FLOAT 0
#define LEAST -0x1.0000000000001p127
#define GREATEST 0x1p127
#define MOST (__int128)(((unsigned __int128)1 << 127) - 1)
#include "compute/convert_tmpl.h"
#define T uint8_t
#define SUFFIX u8
#define IS_FLOAT 0
#define LEAST -1.0
#define GREATEST 256.0
#define MOST UINT8_MAX
#include "compute/convert_tmpl.h"
#define T uint16_t
#define SUFFIX u16
#define IS_FLOAT 0
#define LEAST -1.0
#define GREATEST 65536.0
#define MOST UINT16_MAX
#include "compute/convert_tmpl.h"
#define T uint32_t
#define SUFFIX u32
#define IS_FLOAT 0
#define LEAST -1.0
#define GREATEST 4294967296.0
#define MOST UINT32_MAX
#include "compute/convert_tmpl.h"
#define T uint64_t
#define SUFFIX u64
#define IS_FLOAT 0
#define LEAST -1.0
#define GREATEST 0x1p64
#define MOST UINT64_MAX
#include "compute/convert_tmpl.h"
#define T float
#define SUFFIX f32
#define IS_FLOAT 1
#include "compute/convert_tmpl.h"
#define T double
#define SUFFIX f64
#define IS_FLOAT 1
#include "compute/convert_tmpl.h"

const nk_convert_table NK_ISA_NAME(nk__convert) = {
	.load_int =
		{
			[NK_PHYSICAL_I8] = load_int_i8,
			[NK_PHYSICAL_I16] = load_int_i16,
			[NK_PHYSICAL_I32] = load_int_i32,
			[NK_PHYSICAL_I64] = load_int_i64,
			[NK_PHYSICAL_I128] = load_int_i128,
			[NK_PHYSICAL_U8] = load_int_u8,
			[NK_PHYSICAL_U16] = load_int_u16,
			[NK_PHYSICAL_U32] = load_int_u32,
			[NK_PHYSICAL_U64] = load_int_u64,
		},
	.load_wide =
		{
			[NK_PHYSICAL_I8] = load_wide_i8,
			[NK_PHYSICAL_I16] = load_wide_i16,
			[NK_PHYSICAL_I32] = load_wide_i32,
			[NK_PHYSICAL_I64] = load_wide_i64,
			[NK_PHYSICAL_I128] = load_wide_i128,
			[NK_PHYSICAL_U8] = load_wide_u8,
			[NK_PHYSICAL_U16] = load_wide_u16,
			[NK_PHYSICAL_U32] = load_wide_u32,
			[NK_PHYSICAL_U64] = load_wide_u64,
		},
	.load_float =
		{
			[NK_PHYSICAL_I8] = load_float_i8,
			[NK_PHYSICAL_I16] = load_float_i16,
			[NK_PHYSICAL_I32] = load_float_i32,
			[NK_PHYSICAL_I64] = load_float_i64,
			[NK_PHYSICAL_I128] = load_float_i128,
			[NK_PHYSICAL_U8] = load_float_u8,
			[NK_PHYSICAL_U16] = load_float_u16,
			[NK_PHYSICAL_U32] = load_float_u32,
			[NK_PHYSICAL_U64] = load_float_u64,
			[NK_PHYSICAL_F32] = load_float_f32,
			[NK_PHYSICAL_F64] = load_float_f64,
		},
	.store_int =
		{
			[NK_PHYSICAL_I8] = store_int_i8,
			[NK_PHYSICAL_I16] = store_int_i16,
			[NK_PHYSICAL_I32] = store_int_i32,
			[NK_PHYSICAL_I64] = store_int_i64,
			[NK_PHYSICAL_I128] = store_int_i128,
			[NK_PHYSICAL_U8] = store_int_u8,
			[NK_PHYSICAL_U16] = store_int_u16,
			[NK_PHYSICAL_U32] = store_int_u32,
			[NK_PHYSICAL_U64] = store_int_u64,
			[NK_PHYSICAL_F32] = store_int_f32,
			[NK_PHYSICAL_F64] = store_int_f64,
		},
	.store_wide =
		{
			[NK_PHYSICAL_I8] = store_wide_i8,
			[NK_PHYSICAL_I16] = store_wide_i16,
			[NK_PHYSICAL_I32] = store_wide_i32,
			[NK_PHYSICAL_I64] = store_wide_i64,
			[NK_PHYSICAL_I128] = store_wide_i128,
			[NK_PHYSICAL_U8] = store_wide_u8,
			[NK_PHYSICAL_U16] = store_wide_u16,
			[NK_PHYSICAL_U32] = store_wide_u32,
			[NK_PHYSICAL_U64] = store_wide_u64,
			[NK_PHYSICAL_F32] = store_wide_f32,
			[NK_PHYSICAL_F64] = store_wide_f64,
		},
	.store_float =
		{
			[NK_PHYSICAL_I8] = store_float_i8,
			[NK_PHYSICAL_I16] = store_float_i16,
			[NK_PHYSICAL_I32] = store_float_i32,
			[NK_PHYSICAL_I64] = store_float_i64,
			[NK_PHYSICAL_I128] = store_float_i128,
			[NK_PHYSICAL_U8] = store_float_u8,
			[NK_PHYSICAL_U16] = store_float_u16,
			[NK_PHYSICAL_U32] = store_float_u32,
			[NK_PHYSICAL_U64] = store_float_u64,
			[NK_PHYSICAL_F32] = store_float_f32,
			[NK_PHYSICAL_F64] = store_float_f64,
		},
};
