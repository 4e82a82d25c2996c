// SPDX-License-Identifier: Apache-2.0
// Instruction sets as sets of features: what a kernel needs, what this machine has, what is in use.
//
// Features are on no line: a processor may have VNNI for 256 bits but not for 512, or matrices of
// int8 without bfloat16. So a kernel states all that it needs, and runs where nothing is missing.
// Every kernel of a family computes the same bits, so a choice changes speed alone. Kernels are
// handed a set and never ask for it.

#ifndef LN_ARCH_CPU_ISA_H
#define LN_ARCH_CPU_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/status.h>

LN_CPPSTART

// Which kernels are part of this build, beside the generic ones.
#if defined(__x86_64__)
#define LN_CPU_X86 1
#else
#define LN_CPU_X86 0
#endif
#if defined(__aarch64__)
#define LN_CPU_ARM64 1
#else
#define LN_CPU_ARM64 0
#endif

// Features of a processor, as bits: X(name).
#define LN_CPU_FEATURE_LIST(X)                                                                     \
    X(AVX2)                                                                                        \
    X(FMA)                                                                                         \
    X(AVX512F)                                                                                     \
    X(AVX512VL)                                                                                    \
    X(AVX512BW)                                                                                    \
    X(AVX512DQ)                                                                                    \
    X(AVX_VNNI)                                                                                    \
    X(AVX512_VNNI)                                                                                 \
    X(AMX_INT8)                                                                                    \
    X(NEON)                                                                                        \
    X(DOTPROD)                                                                                     \
    X(I8MM)

enum {
#define LN_CPU_FEATURE_BIT(name) LN_CPU_BIT_##name,
    LN_CPU_FEATURE_LIST(LN_CPU_FEATURE_BIT)
#undef LN_CPU_FEATURE_BIT
};

enum {
#define LN_CPU_FEATURE(name) LN_CPU_HAS_##name = 1 << LN_CPU_BIT_##name,
    LN_CPU_FEATURE_LIST(LN_CPU_FEATURE)
#undef LN_CPU_FEATURE
};

// A set of these bits.
typedef uint32_t ln_cpu_isa;

#define LN_CPU_SET_AVX2 (LN_CPU_HAS_AVX2 | LN_CPU_HAS_FMA)
#define LN_CPU_SET_AVX512                                                                          \
    (LN_CPU_SET_AVX2 | LN_CPU_HAS_AVX512F | LN_CPU_HAS_AVX512VL | LN_CPU_HAS_AVX512BW |            \
     LN_CPU_HAS_AVX512DQ)

// The one list of the sets that files of kernels of this build are compiled for, each after those
// that it is faster than: X(isa, name, features, ...), and what else the list is given. `isa` is
// the suffix of kernel names and files; `name` is what users write.
#if LN_CPU_ARM64
#define LN_CPU_ISA_LIST(X, ...)                                                                    \
    X(generic, "generic", 0, __VA_ARGS__)                                                          \
    X(arm_neon, "neon", LN_CPU_HAS_NEON, __VA_ARGS__)
#elif LN_CPU_X86
#define LN_CPU_ISA_LIST(X, ...)                                                                    \
    X(generic, "generic", 0, __VA_ARGS__)                                                          \
    X(x86_avx2, "avx2", LN_CPU_SET_AVX2, __VA_ARGS__)                                              \
    X(x86_avx512, "avx512", LN_CPU_SET_AVX512, __VA_ARGS__)
#else
#define LN_CPU_ISA_LIST(X, ...) X(generic, "generic", 0, __VA_ARGS__)
#endif

// The same for products of bytes: X as above. A set that is forced by name has none of these
// features but its own.
#if LN_CPU_ARM64
#define LN_CPU_I8_LIST(X, ...)                                                                     \
    X(generic, "generic", 0, __VA_ARGS__)                                                          \
    X(arm_neon, "neon", LN_CPU_HAS_NEON, __VA_ARGS__)                                              \
    X(arm_dotprod, "neon+dotprod", LN_CPU_HAS_NEON | LN_CPU_HAS_DOTPROD, __VA_ARGS__)
#elif LN_CPU_X86
#define LN_CPU_I8_LIST(X, ...)                                                                     \
    X(generic, "generic", 0, __VA_ARGS__)                                                          \
    X(x86_avx2, "avx2", LN_CPU_SET_AVX2, __VA_ARGS__)                                              \
    X(x86_avxvnni, "avx2+vnni", LN_CPU_SET_AVX2 | LN_CPU_HAS_AVX_VNNI, __VA_ARGS__)                \
    X(x86_avx512vnni, "avx512+vnni", LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX512_VNNI, __VA_ARGS__)
#else
#define LN_CPU_I8_LIST(X, ...) X(generic, "generic", 0, __VA_ARGS__)
#endif

// The same for whole tiles of such products: there are processors with registers for tiles, and
// nothing else is made of them.
#if LN_CPU_X86
#define LN_CPU_TILE_I8_LIST(X, ...)                                                                \
    LN_CPU_I8_LIST(X, __VA_ARGS__)                                                                 \
    X(x86_amx, "avx512+amx", LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX512_VNNI | LN_CPU_HAS_AMX_INT8,     \
      __VA_ARGS__)
#else
#define LN_CPU_TILE_I8_LIST(X, ...) LN_CPU_I8_LIST(X, __VA_ARGS__)
#endif

enum {
#define LN_CPU_ISA_ENUM(isa, name, features, ...) LN_CPU_ISA_##isa = (features),
    LN_CPU_ISA_LIST(LN_CPU_ISA_ENUM, )
#undef LN_CPU_ISA_ENUM
};

// Whether code that needs the features `needed` runs where there are those of `isa`.
static inline bool ln_cpu_isa_runs(ln_cpu_isa isa, ln_cpu_isa needed)
{
    return (needed & ~isa) == 0;
}

// All features of this machine that are known here and that this process may use. Linux saves the
// registers of tiles for processes that ask for it alone, so this asks; from then on the process
// can set no stack for signals that is too small for them (below about 11 KB). Where there is such
// a stack already, they are not used.
ln_cpu_isa ln_cpu_isa_detect(void);

// The features in use: the machine's, or those of a set that the environment variable LN_CPU_ISA
// names, which is read at the first call, or `ln_cpu_isa_set`. A value of the variable that is
// unknown or needs more than the machine has is recorded as a failure of this thread and otherwise
// ignored. Any thread may ask; all get the same answer.
ln_cpu_isa ln_cpu_isa_get(void);

// Forces a set by name: its features and no others are in use. NULL goes back to the machine's.
// LN_INVALID for an unknown name, LN_UNSUPPORTED for a set that needs more than the machine has;
// what is in use then stays.
ln_status ln_cpu_isa_set(const char *name);

// The name of the last set of the list that runs where there are these features: "generic",
// "avx2", ... Never NULL.
const char *ln_cpu_isa_name(ln_cpu_isa isa);

// Goes on from a set of the list to the next one that runs with what is in use; false at the end.
bool ln_cpu_isa_next(ln_cpu_isa *isa);

LN_CPPEND

#endif
