/* Values to text. Two families:
 *
 * nk_format_* write the form that a cast to String, CSV and JSON use, into a caller's buffer of at least
 * NK_FORMAT_BYTES; they return the number of bytes written, without a NUL.
 * nk_print_* append the form that people read in printed frames and columns. */
#ifndef NK_COLUMNAR_FORMAT_H
#define NK_COLUMNAR_FORMAT_H

#include "base/text.h"
#include "columnar/array.h"
#include "columnar/scalar.h"

enum { NK_FORMAT_BYTES = 64 };

int nk_format_i64(int64_t value, char *out);
int nk_format_u64(uint64_t value, char *out);
int nk_format_i128(__int128 value, char *out);
/* An unscaled Decimal: "-0.05" for -5 at scale 2. */
int nk_format_decimal(__int128 value, int scale, char *out);
/* The shortest text that reads back as the same float: "1.0", "1e+16", "0.00001", "1e-6", "NaN", "-inf". */
int nk_format_f64(double value, char *out);
int nk_format_f32(float value, char *out);
/* The same digits of a finite value without an exponent: "1", "10000000000000000", "0.00000015"; into a buffer of
 * NK_FORMAT_POSITIONAL_BYTES. */
enum { NK_FORMAT_POSITIONAL_BYTES = 400 };
int nk_format_f64_positional(double value, char *out);
/* "2024-01-31"; years outside of 0 to 9999 take a sign. */
int nk_format_date(int64_t days, char *out);
/* "13:29:00", with n_digits (0 to 9) of the second's fraction. */
int nk_format_time(int64_t nanoseconds, int n_digits, char *out);
/* "2024-01-31 13:29:00.000000" with the digits of the unit; a zone's time adds its offset: "+01:00". */
NK_MUST_CHECK nk_status nk_format_datetime(int64_t value, nk_time_unit unit, const char *time_zone, char *out,
                                           int *n, nk_error *err);
/* ISO 8601: "P1DT1.5S", "-PT1H", "PT0S". */
int nk_format_duration(int64_t value, nk_time_unit unit, char *out);

/* How values are printed; all zero is the default. */
typedef struct nk_print_options {
	bool full_floats;         /* every digit of floats instead of at most six decimals */
	int float_precision;      /* decimals of floats plus one; 0: as many as needed */
	int string_length;        /* code points shown of a string in tables plus one; 0: 30; negative: all */
	int list_items;           /* items shown of a list plus one; 0: 3; negative: all */
	char thousands_separator; /* 0: none */
	char decimal_separator;   /* 0: a point */
	bool ascii_dots;          /* what is left out shows as "...", not as one character */
} nk_print_options;

void nk_print_float(nk_text *out, double value, const nk_print_options *options);
/* Code points shown of a string under these options. */
int nk_print_string_length(const nk_print_options *options);
/* "1d 2h 3m 4s 5ms". */
void nk_print_duration(nk_text *out, int64_t value, nk_time_unit unit);
/* A value. Strings take quotes when `quoted`. */
void nk_print_scalar(nk_text *out, const nk_scalar *scalar, bool quoted, const nk_print_options *options);
/* One row of an array. Strings take quotes when `quoted`; inside of lists and structs they always do. */
void nk_print_value(nk_text *out, const nk_array *array, int64_t row, bool quoted,
                    const nk_print_options *options);

#endif
