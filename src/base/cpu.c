/* x86-64 levels as the psABI defines them; the compiler's own detection reads CPUID and the OS's state flags. */
#define _GNU_SOURCE
#include "base/cpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static nk_isa detect(void)
{
	nk_isa best = NK_ISA_BASELINE;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
	    __builtin_cpu_supports("fma"))
		best = NK_ISA_V3;
	if (best == NK_ISA_V3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		best = NK_ISA_V4;
#endif
	const char *wanted = getenv("NANUK_ISA");
	if (wanted && strcmp(wanted, "baseline") == 0)
		return NK_ISA_BASELINE;
	if (wanted && strcmp(wanted, "v3") == 0 && best > NK_ISA_V3)
		return NK_ISA_V3;
	return best;
}

nk_isa nk_cpu_isa(void)
{
	static int known = -1;
	int isa = __atomic_load_n(&known, __ATOMIC_RELAXED);
	if (__builtin_expect(isa < 0, 0)) {
		isa = (int)detect();
		__atomic_store_n(&known, isa, __ATOMIC_RELAXED);
	}
	return (nk_isa)isa;
}

int nk_cpu_count(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? n : 1;
}
