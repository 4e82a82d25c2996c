// SPDX-License-Identifier: Apache-2.0
// Instruction sets: which ones this build knows, which this machine has, which one is in use.
//
// The levels are ordered; a machine that has one has all before it. Every level computes the same
// bits, so a choice changes speed alone. Kernels are handed a level and never ask for it.

#ifndef LN_ARCH_CPU_ISA_H
#define LN_ARCH_CPU_ISA_H

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

// The one list of this build's levels, from slow to fast: X(isa, name). `isa` is the suffix of
// kernel names and files; `name` is what users write.
#if LN_CPU_ARM64
#define LN_CPU_ISA_LIST(X)                                                                         \
    X(generic, "generic")                                                                          \
    X(arm_neon, "neon")
#elif LN_CPU_X86
#define LN_CPU_ISA_LIST(X)                                                                         \
    X(generic, "generic")                                                                          \
    X(x86_avx2, "avx2")                                                                            \
    X(x86_avx512, "avx512")
#else
#define LN_CPU_ISA_LIST(X) X(generic, "generic")
#endif

typedef enum ln_cpu_isa {
#define LN_CPU_ISA_ENUM(isa, name) LN_CPU_ISA_##isa,
    LN_CPU_ISA_LIST(LN_CPU_ISA_ENUM)
#undef LN_CPU_ISA_ENUM
        LN_CPU_ISA_COUNT
} ln_cpu_isa;

// Features of a processor, as bits. A level needs all of its features.
enum {
    LN_CPU_HAS_AVX2 = 1 << 0,
    LN_CPU_HAS_FMA = 1 << 1,
    LN_CPU_HAS_AVX512F = 1 << 2,
    LN_CPU_HAS_AVX512VL = 1 << 3,
    LN_CPU_HAS_AVX512BW = 1 << 4,
    LN_CPU_HAS_AVX512DQ = 1 << 5,
    LN_CPU_HAS_NEON = 1 << 6,
};

// The fastest level of this build that a processor with these features runs.
ln_cpu_isa ln_cpu_isa_from_features(unsigned features);

// The fastest level of this machine and build.
ln_cpu_isa ln_cpu_isa_detect(void);

// The level in use: the machine's, or a slower one forced by the environment variable LN_CPU_ISA,
// which is read at the first call, or by `ln_cpu_isa_set`. A value of the variable that is unknown
// or above the machine is recorded as a failure of this thread and otherwise ignored.
// Any thread may ask; all get the same answer.
ln_cpu_isa ln_cpu_isa_get(void);

// Forces a level by name; NULL goes back to the machine's. LN_INVALID for an unknown name,
// LN_UNSUPPORTED for a level above the machine; the level in use then stays.
ln_status ln_cpu_isa_set(const char *name);

// "generic", "avx2", ...; "unknown" for other values. Never NULL.
const char *ln_cpu_isa_name(ln_cpu_isa isa);

LN_CPPEND

#endif
