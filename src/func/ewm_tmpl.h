/* Exponentially weighted moments of one group, of one type. Include with T and SUFFIX.
 *
 * The weight of all that came before decays by (1 - alpha) a row; a new value weighs 1 when adjusting,
 * else alpha with the weights kept summing to one. Mean and variance are updated by the new value's share
 * of the weight. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static inline __attribute__((always_inline)) void NAME(moments_of,
                                                       SUFFIX)(T *out, uint8_t *known_bits, const T *x,
                                                               const uint8_t *validity, int64_t from,
                                                               int64_t to, const ewm_settings *s,
                                                               ewm_kind kind)
{
	T decay = (T)1 - (T)s->alpha, own = s->adjust ? (T)1 : (T)s->alpha;
	T weight = 0, mean = 0, variance = 0, weights = 0, squares = 0;
	int64_t n = 0;
	for (int64_t i = from; i < to; i++) {
		bool valid = !validity || nk_bitmap_get(validity, i);
		if (n > 0 && (valid || !s->ignore_nulls)) {
			weight *= decay;
			weights *= decay;
			squares *= decay * decay;
		}
		if (valid && n++ == 0) {
			mean = x[i];
			weight = weights = squares = 1;
		} else if (valid) {
			T sum = weight + own, old_mean = mean;
			mean += (x[i] - mean) * (own / sum);
			if (kind != EWM_MEAN) {
				variance = (weight * (variance + (old_mean - mean) * (old_mean - mean)) +
				            own * (x[i] - mean) * (x[i] - mean)) /
				           sum;
				weights += own;
				squares += own * own;
				if (!s->adjust) {
					weights /= sum;
					squares /= sum * sum;
				}
			}
			weight = s->adjust ? sum : 1;
		}
		T result = mean;
		bool known = valid && n >= s->min_samples;
		if (kind != EWM_MEAN) {
			T numerator = weights * weights, denominator = numerator - squares;
			result = variance;
			if (!s->bias) {
				known &= denominator > 0;
				result = known ? numerator / denominator * variance : 0;
			}
			if (kind == EWM_STD)
				result = NAME(root, SUFFIX)(result);
		}
		out[i] = known ? result : 0;
		if (!known)
			nk_bitmap_clear(known_bits, i);
	}
}

static void NAME(moments, SUFFIX)(void *out, uint8_t *known_bits, const void *values, const uint8_t *validity,
                                  int64_t from, int64_t to, const ewm_settings *s)
{
	if (s->kind == EWM_MEAN)
		NAME(moments_of, SUFFIX)(out, known_bits, values, validity, from, to, s, EWM_MEAN);
	else if (s->kind == EWM_VAR)
		NAME(moments_of, SUFFIX)(out, known_bits, values, validity, from, to, s, EWM_VAR);
	else
		NAME(moments_of, SUFFIX)(out, known_bits, values, validity, from, to, s, EWM_STD);
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
