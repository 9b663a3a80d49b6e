/* The codecs that codec.c dispatches to; contracts as in codec.h. A level of INT_MIN is the usual one. */
#ifndef NK_IO_CODEC_CODEC_INTERNAL_H
#define NK_IO_CODEC_CODEC_INTERNAL_H

#include "io/codec/codec.h"

NK_MUST_CHECK nk_status nk__gzip_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out,
                                            nk_error *err);
int64_t nk__gzip_bound(int64_t n_in);
NK_MUST_CHECK nk_status nk__gzip_compress(const uint8_t *in, int64_t n_in, int level, uint8_t *out,
                                          int64_t n_room, int64_t *n_out, nk_error *err);

NK_MUST_CHECK nk_status nk__brotli_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out,
                                              nk_error *err);
int64_t nk__brotli_bound(int64_t n_in);
NK_MUST_CHECK nk_status nk__brotli_compress(const uint8_t *in, int64_t n_in, int level, uint8_t *out,
                                            int64_t n_room, int64_t *n_out, nk_error *err);

NK_MUST_CHECK nk_status nk__lz4_frame_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out,
                                                 nk_error *err);
/* False when it is not of this form. */
bool nk__lz4_hadoop_decompress(const uint8_t *in, int64_t n_in, uint8_t *out, int64_t n_out);

#endif
