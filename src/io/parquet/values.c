/* Conversions are plain loops that the compiler vectorises; none can fail on any bits, so wrong input gives wrong
 * values at worst. Views are made from the page itself: a length prefix and the bytes after it are laid out as a
 * short view is, so a short string is one masked 16-byte load. */
#include "io/parquet/values.h"

#include <string.h>

enum { JULIAN_EPOCH = 2440588 };

static inline uint32_t load32(const uint8_t *bytes)
{
	uint32_t word;
	memcpy(&word, bytes, 4);
	return word;
}

static inline uint64_t load64(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, 8);
	return word;
}

/* Big-endian two's complement of up to 16 bytes. */
static inline __int128 big_endian(const uint8_t *bytes, int64_t n)
{
	unsigned __int128 value = n > 0 && bytes[0] >= 128 ? ~(unsigned __int128)0 : 0;
	for (int64_t i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	return (__int128)value;
}

static float half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = (half >> 10) & 31, fraction = half & 1023, bits;
	float value;
	if (exponent == 0) {
		value = (float)fraction * 0x1p-24f;
		return sign ? -value : value;
	}
	bits = sign | (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | fraction << 13;
	memcpy(&value, &bits, 4);
	return value;
}

void nk__parquet_convert(const nk_leaf_plan *plan, void *out, const uint8_t *in, int64_t n)
{
	int n_each = plan->n_bytes_in;
	switch (plan->conversion) {
	case NK_CONVERT_COPY:
		if (n > 0)
			memcpy(out, in, (size_t)(n * n_each));
		break;
	case NK_CONVERT_I32_TO_8:
		for (int64_t i = 0; i < n; i++)
			((uint8_t *)out)[i] = in[4 * i];
		break;
	case NK_CONVERT_I32_TO_16:
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)out)[i] = (uint16_t)load32(in + 4 * i);
		break;
	case NK_CONVERT_I32_TO_I64:
		for (int64_t i = 0; i < n; i++)
			((int64_t *)out)[i] = (int32_t)load32(in + 4 * i);
		break;
	case NK_CONVERT_MS_TO_NS:
		for (int64_t i = 0; i < n; i++)
			((int64_t *)out)[i] = (int64_t)(int32_t)load32(in + 4 * i) * 1000000;
		break;
	case NK_CONVERT_US_TO_NS:
		for (int64_t i = 0; i < n; i++)
			((uint64_t *)out)[i] = load64(in + 8 * i) * 1000;
		break;
	case NK_CONVERT_INT96_TO_NS:
		for (int64_t i = 0; i < n; i++) {
			__int128 days = (__int128)load32(in + 12 * i + 8) - JULIAN_EPOCH;
			__int128 ns = days * 86400000000000 + (int64_t)load64(in + 12 * i);
			((int64_t *)out)[i] = ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
		}
		break;
	case NK_CONVERT_FIXED_TO_I64:
		for (int64_t i = 0; i < n; i++)
			((int64_t *)out)[i] = (int64_t)big_endian(in + n_each * i, n_each);
		break;
	case NK_CONVERT_FIXED_TO_I128:
		for (int64_t i = 0; i < n; i++)
			((__int128 *)out)[i] = big_endian(in + n_each * i, n_each);
		break;
	case NK_CONVERT_FLOAT16:
		for (int64_t i = 0; i < n; i++) {
			uint16_t half;
			memcpy(&half, in + 2 * i, 2);
			((float *)out)[i] = half_to_float(half);
		}
		break;
	default: NK_ASSERT(false);
	}
}

void nk__bits_to_bytes(uint8_t *out, const uint8_t *bits, int64_t at, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (bits[(at + i) >> 3] >> ((at + i) & 7)) & 1;
}

void nk__bytes_to_bits(uint8_t *out, int64_t at, const uint8_t *bytes, int64_t n)
{
	int64_t i = 0;
	for (; i < n && ((at + i) & 7); i++)
		out[(at + i) >> 3] |= (uint8_t)(bytes[i] << ((at + i) & 7));
	for (; i + 8 <= n; i += 8) /* one multiplication moves eight low bits side by side */
		out[(at + i) >> 3] = (uint8_t)((load64(bytes + i) * 0x0102040810204080u) >> 56);
	for (; i < n; i++)
		out[(at + i) >> 3] |= (uint8_t)(bytes[i] << ((at + i) & 7));
}

static nk_status cut_text(nk_error *err)
{
	return nk_fail(err, NK_COMPUTE, "corrupt page: a byte array reaches past the end of its page");
}

nk_status nk__parquet_views(nk_view *out, int64_t n, const uint8_t *bytes, int64_t n_bytes, uint32_t buffer,
                            uint32_t buffer_offset, int64_t *n_used, nk_error *err)
{
	/* masks of a view's two words for inline lengths */
	static const uint64_t low[NK_VIEW_INLINE + 1] = {
		0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX, UINT64_MAX, UINT64_MAX,
		UINT64_MAX, UINT64_MAX,   UINT64_MAX,     UINT64_MAX,       UINT64_MAX, UINT64_MAX,
	};
	static const uint64_t high[NK_VIEW_INLINE + 1] = {
		0,
		0,
		0,
		0,
		0,
		0xff,
		0xffff,
		0xffffff,
		0xffffffff,
		0xffffffffff,
		0xffffffffffff,
		0xffffffffffffff,
		UINT64_MAX,
	};
	const uint8_t *at = bytes, *end = bytes + n_bytes;
	int64_t i = 0;
	for (; i < n && end - at >= 16; i++) {
		uint32_t length = load32(at);
		if (NK_UNLIKELY(length > end - at - 4))
			return cut_text(err);
		bool is_short = length <= NK_VIEW_INLINE;
		uint32_t row = is_short ? length : NK_VIEW_INLINE;
		uint64_t place = buffer | (uint64_t)(buffer_offset + (uint32_t)(at + 4 - bytes)) << 32;
		uint64_t words[2] = {load64(at) & low[row], load64(at + 8) & high[row]};
		words[1] = is_short ? words[1] : place;
		memcpy(&out[i], words, 16);
		at += 4 + (int64_t)length;
	}
	for (; i < n; i++) {
		if (end - at < 4)
			return cut_text(err);
		uint32_t length = load32(at);
		if (length > end - at - 4)
			return cut_text(err);
		out[i] =
			nk_view_make((const char *)at + 4, length, buffer, buffer_offset + (uint32_t)(at + 4 - bytes));
		at += 4 + (int64_t)length;
	}
	*n_used = at - bytes;
	return NK_OK;
}

void nk__parquet_fixed_views(nk_view *out, int64_t n, const uint8_t *bytes, int64_t n_each, uint32_t buffer,
                             uint32_t buffer_offset)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = nk_view_make((const char *)bytes + i * n_each, (uint32_t)n_each, buffer,
		                      buffer_offset + (uint32_t)(i * n_each));
}

nk_status nk__parquet_decimal(void *out, nk_physical physical, const uint8_t *bytes, int64_t n_bytes,
                              nk_error *err)
{
	/* leading bytes that only repeat the sign may be any number */
	while (n_bytes > 1 && (bytes[0] == 0 || bytes[0] == 255) && (bytes[0] >> 7) == (bytes[1] >> 7)) {
		bytes++;
		n_bytes--;
	}
	int64_t n_room = physical == NK_PHYSICAL_I64 ? 8 : 16;
	if (n_bytes > n_room)
		return nk_fail(err, NK_COMPUTE, "a Decimal of %lld bytes does not fit its precision",
		               (long long)n_bytes);
	__int128 value = big_endian(bytes, n_bytes);
	memcpy(out, &value, (size_t)n_room); /* little-endian: the low half comes first */
	return NK_OK;
}

/* Bytes from `bytes` on that form one character; 0 when none does. n > 0. */
static inline int64_t utf8_length(const uint8_t *bytes, int64_t n)
{
	uint8_t first = bytes[0];
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	int64_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (n < length)
		return 0;
	/* the second byte rules out overlong forms, surrogates and what lies above U+10FFFF */
	uint8_t second = bytes[1], least = 0x80, most = 0xbf;
	if (first == 0xe0)
		least = 0xa0;
	else if (first == 0xed)
		most = 0x9f;
	else if (first == 0xf0)
		least = 0x90;
	else if (first == 0xf4)
		most = 0x8f;
	if (second < least || second > most)
		return 0;
	for (int64_t i = 2; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

bool nk__views_are_utf8(const nk_view *views, int64_t n, const uint8_t *base)
{
	for (int64_t i = 0; i < n; i++) {
		const nk_view *view = &views[i];
		const uint8_t *bytes =
			view->n_bytes <= NK_VIEW_INLINE ? (const uint8_t *)view->inlined : base + view->offset;
		for (int64_t at = 0; at < view->n_bytes;) {
			if (view->n_bytes - at >= 8 && (load64(bytes + at) & 0x8080808080808080u) == 0) {
				at += 8;
				continue;
			}
			int64_t length = utf8_length(bytes + at, view->n_bytes - at);
			if (length == 0)
				return false;
			at += length;
		}
	}
	return true;
}
