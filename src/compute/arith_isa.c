/* Compiled once per instruction level: plain C loops, one set per physical type, vectorised by the compiler. */
#include "compute/arith.h"

#include <math.h>

#define T int8_t
#define W uint32_t
#define SUFFIX i8
#define IS_FLOAT 0
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"
#define T int16_t
#define W uint32_t
#define SUFFIX i16
#define IS_FLOAT 0
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"
#define T int32_t
#define W uint32_t
#define SUFFIX i32
#define IS_FLOAT 0
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"
#define T int64_t
#define W uint64_t
#define SUFFIX i64
#define IS_FLOAT 0
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"
#define T __int128
#define W unsigned __int128
#define SUFFIX i128
#define IS_FLOAT 0
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"
#define T uint8_t
#define W uint32_t
#define SUFFIX u8
#define IS_FLOAT 0
#define IS_SIGNED 0
#include "compute/arith_tmpl.h"
#define T uint16_t
#define W uint32_t
#define SUFFIX u16
#define IS_FLOAT 0
#define IS_SIGNED 0
#include "compute/arith_tmpl.h"
#define T uint32_t
#define W uint32_t
#define SUFFIX u32
#define IS_FLOAT 0
#define IS_SIGNED 0
#include "compute/arith_tmpl.h"
#define T uint64_t
#define W uint64_t
#define SUFFIX u64
#define IS_FLOAT 0
#define IS_SIGNED 0
#include "compute/arith_tmpl.h"
#define T float
#define W float
#define SUFFIX f32
#define IS_FLOAT 1
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"
#define T double
#define W double
#define SUFFIX f64
#define IS_FLOAT 1
#define IS_SIGNED 1
#include "compute/arith_tmpl.h"

const nk_arith_table NK_ISA_NAME(nk__arith) =
	{
		.binary =
			{
				[NK_PHYSICAL_I8] = {add_i8, sub_i8, mul_i8, NULL, floordiv_i8, mod_i8, truncdiv_i8, pow_i8},
				[NK_PHYSICAL_I16] = {add_i16, sub_i16, mul_i16, NULL, floordiv_i16, mod_i16, truncdiv_i16,
                                     pow_i16},
				[NK_PHYSICAL_I32] = {add_i32, sub_i32, mul_i32, NULL, floordiv_i32, mod_i32, truncdiv_i32,
                                     pow_i32},
				[NK_PHYSICAL_I64] = {add_i64, sub_i64, mul_i64, NULL, floordiv_i64, mod_i64, truncdiv_i64,
                                     pow_i64},
				[NK_PHYSICAL_I128] = {add_i128, sub_i128, mul_i128, NULL, floordiv_i128, mod_i128,
                                      truncdiv_i128, pow_i128},
				[NK_PHYSICAL_U8] = {add_u8, sub_u8, mul_u8, NULL, floordiv_u8, mod_u8, truncdiv_u8, pow_u8},
				[NK_PHYSICAL_U16] = {add_u16, sub_u16, mul_u16, NULL, floordiv_u16, mod_u16, truncdiv_u16,
                                     pow_u16},
				[NK_PHYSICAL_U32] = {add_u32, sub_u32, mul_u32, NULL, floordiv_u32, mod_u32, truncdiv_u32,
                                     pow_u32},
				[NK_PHYSICAL_U64] = {add_u64, sub_u64, mul_u64, NULL, floordiv_u64, mod_u64, truncdiv_u64,
                                     pow_u64},
				[NK_PHYSICAL_F32] = {add_f32, sub_f32, mul_f32, div_f32, floordiv_f32, mod_f32, truncdiv_f32,
                                     pow_f32},
				[NK_PHYSICAL_F64] = {add_f64, sub_f64, mul_f64, div_f64, floordiv_f64, mod_f64, truncdiv_f64,
                                     pow_f64},
			},
		.unary =
			{
				[NK_PHYSICAL_I8] = {neg_i8, abs_i8, sign_i8},
				[NK_PHYSICAL_I16] = {neg_i16, abs_i16, sign_i16},
				[NK_PHYSICAL_I32] = {neg_i32, abs_i32, sign_i32},
				[NK_PHYSICAL_I64] = {neg_i64, abs_i64, sign_i64},
				[NK_PHYSICAL_I128] = {neg_i128, abs_i128, sign_i128},
				[NK_PHYSICAL_U8] = {neg_u8, abs_u8, sign_u8},
				[NK_PHYSICAL_U16] = {neg_u16, abs_u16, sign_u16},
				[NK_PHYSICAL_U32] = {neg_u32, abs_u32, sign_u32},
				[NK_PHYSICAL_U64] = {neg_u64, abs_u64, sign_u64},
				[NK_PHYSICAL_F32] = {neg_f32, abs_f32, sign_f32},
				[NK_PHYSICAL_F64] = {neg_f64, abs_f64, sign_f64},
			},
};
