// SPDX-License-Identifier: Apache-2.0
// Finds and remembers the instruction set in use.
//
// It is one atomic value, found at the first question. Two threads that ask first at the same time
// find the same value.

#define _DEFAULT_SOURCE // syscall
#include "arch/cpu/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if LN_CPU_X86
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif LN_CPU_ARM64 && defined(__linux__)
#include <sys/auxv.h>
#endif

#define UNKNOWN UINT32_MAX // more features than there are

static _Atomic uint32_t in_use = UNKNOWN;

static const struct {
    const char *name;
    ln_cpu_isa features;
} sets[] = {
#define SET_ROW(isa, name, features, ...) {name, features},
    LN_CPU_ISA_LIST(SET_ROW, )
#undef SET_ROW
};

#define SET_COUNT (sizeof sets / sizeof sets[0])

#define NAME_IN_TEXT(isa, name, features, ...) " " name
static const char known[] = LN_CPU_ISA_LIST(NAME_IN_TEXT, );
#undef NAME_IN_TEXT

#if LN_CPU_X86
// Which parts of vector registers the system saves for a thread.
static unsigned saved_states(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#define STATE_AVX    0x06u // the lower halves of 256 bits, and the upper ones
#define STATE_AVX512 0xe6u // those, masks, the upper halves of 512 bits, the registers from 16 on
#define STATE_TILES  0x60000u // their shapes, and what is in them

// Rows of features that are bits of a register of cpuid leaf 7.
typedef struct feature_bit {
    unsigned bit;
    ln_cpu_isa feature;
    unsigned states;
} feature_bit;

static const feature_bit leaf7_ebx[] = {
    {bit_AVX2, LN_CPU_HAS_AVX2, STATE_AVX},
    {bit_AVX512F, LN_CPU_HAS_AVX512F, STATE_AVX512},
    {bit_AVX512VL, LN_CPU_HAS_AVX512VL, STATE_AVX512},
    {bit_AVX512BW, LN_CPU_HAS_AVX512BW, STATE_AVX512},
    {bit_AVX512DQ, LN_CPU_HAS_AVX512DQ, STATE_AVX512},
};
static const feature_bit leaf7_ecx[] = {{1u << 11, LN_CPU_HAS_AVX512_VNNI, STATE_AVX512}};
static const feature_bit leaf7_edx[] = {{1u << 25, LN_CPU_HAS_AMX_INT8, STATE_TILES}};
static const feature_bit leaf7_1_eax[] = {{1u << 4, LN_CPU_HAS_AVX_VNNI, STATE_AVX}};

static ln_cpu_isa features_in(unsigned word, unsigned states, const feature_bit *rows, size_t count)
{
    ln_cpu_isa features = 0;
    for (size_t i = 0; i < count; i++)
        if ((word & rows[i].bit) && (states & rows[i].states) == rows[i].states)
            features |= rows[i].feature;
    return features;
}

#define FEATURES_IN(word, states, rows)                                                            \
    features_in((word), (states), (rows), sizeof(rows) / sizeof(rows)[0])

static ln_cpu_isa features_of_machine(void)
{
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
        return 0;
    const unsigned states = saved_states();
    if ((states & STATE_AVX) != STATE_AVX)
        return 0;
    ln_cpu_isa features = ecx & bit_FMA ? LN_CPU_HAS_FMA : 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return features;
    features |= FEATURES_IN(ebx, states, leaf7_ebx) | FEATURES_IN(ecx, states, leaf7_ecx) |
                FEATURES_IN(edx, states, leaf7_edx);
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx))
        features |= FEATURES_IN(eax, states, leaf7_1_eax);
    return features;
}
#elif LN_CPU_ARM64 && defined(__linux__)
static ln_cpu_isa features_of_machine(void)
{
    ln_cpu_isa features = LN_CPU_HAS_NEON; // every AArch64 has it
    if (getauxval(AT_HWCAP) & 1ul << 20)
        features |= LN_CPU_HAS_DOTPROD;
    if (getauxval(AT_HWCAP2) & 1ul << 13)
        features |= LN_CPU_HAS_I8MM;
    return features;
}
#else
static ln_cpu_isa features_of_machine(void)
{
    return LN_CPU_ARM64 ? LN_CPU_HAS_NEON : 0;
}
#endif

// Whether this process may use the registers of tiles, once it has asked for them. It may not where
// a thread has a stack for signals that is too small for them.
static bool may_use_tiles(void)
{
#if LN_CPU_X86 && defined(__linux__)
    enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18 }; // arch_prctl: ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
#else
    return false;
#endif
}

ln_cpu_isa ln_cpu_isa_detect(void)
{
    const ln_cpu_isa features = features_of_machine();
    if ((features & LN_CPU_HAS_AMX_INT8) && !may_use_tiles())
        return features & ~(ln_cpu_isa)LN_CPU_HAS_AMX_INT8;
    return features;
}

// The features of the set called `name`.
static ln_status find_set(const char *name, ln_cpu_isa *out_isa)
{
    ln_cpu_isa machine = features_of_machine();
    for (size_t i = 0; i < SET_COUNT; i++) {
        if (strcmp(sets[i].name, name) != 0)
            continue;
        if (!ln_cpu_isa_runs(machine, sets[i].features))
            return LN_FAIL(LN_UNSUPPORTED, "instruction set '%s': this machine has '%s' at most",
                           name, ln_cpu_isa_name(machine));
        *out_isa = sets[i].features;
        return LN_OK;
    }
    return LN_FAIL(LN_INVALID, "instruction set '%s' is unknown; known are%s", name, known);
}

ln_cpu_isa ln_cpu_isa_get(void)
{
    uint32_t isa = atomic_load(&in_use);
    if (isa != UNKNOWN)
        return isa;

    ln_cpu_isa found;
    const char *forced = getenv("LN_CPU_ISA");
    // A bad value is recorded and leaves the machine's features.
    if (!forced || !*forced || find_set(forced, &found))
        found = ln_cpu_isa_detect();

    // What another thread has set in the meantime wins.
    return atomic_compare_exchange_strong(&in_use, &isa, found) ? found : isa;
}

ln_status ln_cpu_isa_set(const char *name)
{
    ln_cpu_isa isa;
    if (name)
        LN_TRY(find_set(name, &isa));
    else
        isa = ln_cpu_isa_detect();
    atomic_store(&in_use, isa);
    return LN_OK;
}

const char *ln_cpu_isa_name(ln_cpu_isa isa)
{
    const char *name = sets[0].name;
    for (size_t i = 1; i < SET_COUNT; i++)
        if (ln_cpu_isa_runs(isa, sets[i].features))
            name = sets[i].name;
    return name;
}

bool ln_cpu_isa_next(ln_cpu_isa *isa)
{
    size_t i = 0;
    while (i < SET_COUNT && sets[i].features != *isa)
        i++;
    for (i++; i < SET_COUNT; i++) {
        if (ln_cpu_isa_runs(ln_cpu_isa_get(), sets[i].features)) {
            *isa = sets[i].features;
            return true;
        }
    }
    return false;
}
