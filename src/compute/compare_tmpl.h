/* Comparison loops of one type. Include with T, SUFFIX and IS_FLOAT. */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)

static inline __attribute__((always_inline)) bool NAME(holds, SUFFIX)(T a, T b, nk_compare_op op)
{
#if IS_FLOAT
	bool nan_a = a != a, nan_b = b != b;
	bool equal = (a == b) | (nan_a & nan_b), less = (a < b) | (nan_b & !nan_a);
	switch (op) {
	case NK_EQ: return equal;
	case NK_NE: return !equal;
	case NK_LT: return less;
	case NK_LE: return less | equal;
	case NK_GT: return !(less | equal);
	default: return !less;
	}
#else
	switch (op) {
	case NK_EQ: return a == b;
	case NK_NE: return a != b;
	case NK_LT: return a < b;
	case NK_LE: return a <= b;
	case NK_GT: return a > b;
	default: return a >= b;
	}
#endif
}

/* Sixty-four rows become bytes of 0 and 1 in one vector loop, then one word. */
static inline __attribute__((always_inline)) void NAME(body, SUFFIX)(uint8_t *bits, const T *left,
                                                                     const T *right, int64_t n,
                                                                     nk_compare_op op, nk_shape shape)
{
	T value = *right;
	int64_t i = 0;
	for (; i + 64 <= n; i += 64) {
		uint8_t bytes[64];
		for (int j = 0; j < 64; j++)
			bytes[j] = NAME(holds, SUFFIX)(left[i + j], shape == NK_VECTOR_SCALAR ? value : right[i + j], op);
		uint64_t word = word_of_bytes(bytes);
		memcpy(bits + (i >> 3), &word, 8);
	}
	if (i < n) {
		uint64_t word = 0;
		for (int j = 0; i + j < n; j++)
			word |= (uint64_t)NAME(holds, SUFFIX)(left[i + j],
			                                      shape == NK_VECTOR_SCALAR ? value : right[i + j], op)
			        << j;
		memcpy(bits + (i >> 3), &word, (size_t)((n - i + 7) >> 3));
	}
}

static inline __attribute__((always_inline)) void NAME(ops, SUFFIX)(uint8_t *bits, const T *left,
                                                                    const T *right, int64_t n,
                                                                    nk_compare_op op, nk_shape shape)
{
	switch (op) {
	case NK_EQ: NAME(body, SUFFIX)(bits, left, right, n, NK_EQ, shape); break;
	case NK_NE: NAME(body, SUFFIX)(bits, left, right, n, NK_NE, shape); break;
	case NK_LT: NAME(body, SUFFIX)(bits, left, right, n, NK_LT, shape); break;
	case NK_LE: NAME(body, SUFFIX)(bits, left, right, n, NK_LE, shape); break;
	case NK_GT: NAME(body, SUFFIX)(bits, left, right, n, NK_GT, shape); break;
	default: NAME(body, SUFFIX)(bits, left, right, n, NK_GE, shape); break;
	}
}

static void NAME(compare, SUFFIX)(uint8_t *bits, const void *left, const void *right, int64_t n,
                                  nk_compare_op op, nk_shape shape)
{
	static const nk_compare_op mirrored[NK_COMPARE_N] = {NK_EQ, NK_NE, NK_GT, NK_GE, NK_LT, NK_LE};
	if (n == 0)
		return;
	if (shape == NK_VECTOR_VECTOR)
		NAME(ops, SUFFIX)(bits, left, right, n, op, NK_VECTOR_VECTOR);
	else if (shape == NK_VECTOR_SCALAR)
		NAME(ops, SUFFIX)(bits, left, right, n, op, NK_VECTOR_SCALAR);
	else
		NAME(ops, SUFFIX)(bits, right, left, n, mirrored[op], NK_VECTOR_SCALAR);
}

#undef NAME
#undef NAME_
#undef T
#undef SUFFIX
#undef IS_FLOAT
