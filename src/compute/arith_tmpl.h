/* The arithmetic loops for one type. Include with T (the C type), SUFFIX (its name), W (the type to compute in:
 * unsigned and at least int wide for integers, so that overflow wraps) and IS_FLOAT, IS_SIGNED (0 or 1). */
#define NAME_(what, suffix) what##_##suffix
#define NAME(what, suffix) NAME_(what, suffix)
#define BODY NAME(body, SUFFIX)

static inline T NAME(power, SUFFIX)(T base, T exponent)
{
#if IS_FLOAT
	return (T)pow((double)base, (double)exponent);
#else
	W result = 1, square = (W)base;
	for (W left = (W)exponent; left; left >>= 1) {
		if (left & 1)
			result *= square;
		square *= square;
	}
	return (T)result;
#endif
}

static inline T NAME(divide, SUFFIX)(T a, T b, nk_arith_op op)
{
#if IS_FLOAT
	if (op == NK_TRUNCDIV)
		return (T)trunc((double)(a / b));
	T quotient = (T)floor((double)(a / b));
	return op == NK_FLOORDIV ? quotient : a - quotient * b;
#else
	if (b == 0)
		return 0;
#if IS_SIGNED
	if (b == -1)
		return op == NK_MOD ? 0 : (T)(0 - (W)a);
	T quotient = (T)(a / b), rest = (T)(a % b);
	bool floors = op != NK_TRUNCDIV && rest != 0 && (rest < 0) != (b < 0);
	if (op == NK_MOD)
		return floors ? (T)(rest + b) : rest;
	return floors ? (T)(quotient - 1) : quotient;
#else
	return op == NK_MOD ? (T)(a % b) : (T)(a / b);
#endif
#endif
}

/* `op` and `shape` are constants at every call, so each becomes one bare loop. */
static inline __attribute__((always_inline)) void BODY(T *out, const T *left, const T *right, int64_t n,
                                                       nk_arith_op op, nk_shape shape)
{
	for (int64_t i = 0; i < n; i++) {
		T a = left[shape == NK_SCALAR_VECTOR ? 0 : i];
		T b = right[shape == NK_VECTOR_SCALAR ? 0 : i];
		if (op == NK_ADD)
			out[i] = (T)((W)a + (W)b);
		else if (op == NK_SUB)
			out[i] = (T)((W)a - (W)b);
		else if (op == NK_MUL)
			out[i] = (T)((W)a * (W)b);
		else if (op == NK_DIV)
			out[i] = (T)(IS_FLOAT ? (W)a / (W)b : (W)a);
		else if (op == NK_POW)
			out[i] = NAME(power, SUFFIX)(a, b);
		else
			out[i] = NAME(divide, SUFFIX)(a, b, op);
	}
}

static inline __attribute__((always_inline)) void NAME(shapes, SUFFIX)(T *out, const T *left, const T *right,
                                                                       int64_t n, nk_arith_op op,
                                                                       nk_shape shape)
{
	if (shape == NK_VECTOR_VECTOR) {
		BODY(out, left, right, n, op, NK_VECTOR_VECTOR);
	} else if (shape == NK_VECTOR_SCALAR) {
		T value = *right;
		BODY(out, left, &value, n, op, NK_VECTOR_SCALAR);
	} else {
		T value = *left;
		BODY(out, &value, right, n, op, NK_SCALAR_VECTOR);
	}
}

static void NAME(add, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_ADD, shape);
}

static void NAME(sub, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_SUB, shape);
}

static void NAME(mul, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_MUL, shape);
}

#if IS_FLOAT
static void NAME(div, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_DIV, shape);
}
#endif

static void NAME(floordiv, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_FLOORDIV, shape);
}

static void NAME(mod, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_MOD, shape);
}

static void NAME(truncdiv, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_TRUNCDIV, shape);
}

static void NAME(pow, SUFFIX)(void *out, const void *left, const void *right, int64_t n, nk_shape shape)
{
	NAME(shapes, SUFFIX)(out, left, right, n, NK_POW, shape);
}

static void NAME(neg, SUFFIX)(void *out, const void *values, int64_t n)
{
	T *to = out;
	const T *from = values;
	for (int64_t i = 0; i < n; i++)
		to[i] = (T)(IS_FLOAT ? -(W)from[i] : (W)0 - (W)from[i]);
}

static void NAME(abs, SUFFIX)(void *out, const void *values, int64_t n)
{
	T *to = out;
	const T *from = values;
	for (int64_t i = 0; i < n; i++) {
#if IS_FLOAT
		to[i] = (T)fabs((double)from[i]);
#elif IS_SIGNED
		to[i] = (T)(from[i] < 0 ? (W)0 - (W)from[i] : (W)from[i]);
#else
		to[i] = from[i];
#endif
	}
}

static void NAME(sign, SUFFIX)(void *out, const void *values, int64_t n)
{
	T *to = out;
	const T *from = values;
	for (int64_t i = 0; i < n; i++) {
#if IS_FLOAT
		to[i] = (T)(from[i] > 0 ? 1 : from[i] < 0 ? -1 : from[i]);
#elif IS_SIGNED
		to[i] = (T)((from[i] > 0) - (from[i] < 0));
#else
		to[i] = (T)(from[i] > 0);
#endif
	}
}

#undef BODY
#undef NAME
#undef NAME_
#undef T
#undef W
#undef SUFFIX
#undef IS_FLOAT
#undef IS_SIGNED
