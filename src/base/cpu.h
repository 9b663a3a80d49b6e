/* The instruction level that kernels run at: the best this CPU has, or what NANUK_ISA (baseline, v3, v4) says
 * when that is lower. Chosen once. Files named *_isa.c are compiled once per level with NK_LEVEL defined and
 * export one const table each, `nk__<thing>_<level>`; NK_ISA_TABLE picks one. */
#ifndef NK_BASE_CPU_H
#define NK_BASE_CPU_H

typedef enum nk_isa { NK_ISA_BASELINE, NK_ISA_V3, NK_ISA_V4 } nk_isa;

nk_isa nk_cpu_isa(void);
int nk_cpu_count(void); /* usable cores: affinity, at least 1 */

#if defined(__x86_64__)
#define NK_ISA_TABLE(name) \
	(nk_cpu_isa() == NK_ISA_V4 ? &name##_v4 : nk_cpu_isa() == NK_ISA_V3 ? &name##_v3 : &name##_baseline)
#define NK_ISA_DECLARE(type, name) extern const type name##_baseline, name##_v3, name##_v4
#else
#define NK_ISA_TABLE(name) (&name##_baseline)
#define NK_ISA_DECLARE(type, name) extern const type name##_baseline
#endif

/* In a *_isa.c file: the name of this level's table. */
#define NK_ISA_NAME_(name, level) name##_##level
#define NK_ISA_NAME__(name, level) NK_ISA_NAME_(name, level)
#define NK_ISA_NAME(name) NK_ISA_NAME__(name, NK_LEVEL)

#endif
