// SPDX-License-Identifier: Apache-2.0
// Choosing the kernel for a set of features.

#ifndef LN_ARCH_CPU_KERNELS_SELECT_H
#define LN_ARCH_CPU_KERNELS_SELECT_H

#include <stddef.h>

#include "arch/cpu/isa.h"

// The last row of `table`, an array whose rows begin with the `ln_cpu_isa` that they need, that
// runs with the features `has`. Lists are ordered from slow to fast, and their first row needs
// none.
#define LN_SELECT_KERNEL(table, has)                                                               \
    (&(table)[ln_last_usable(&(table)[0].isa, sizeof(table) / sizeof(table)[0], sizeof(table)[0],  \
                             (has))])

static inline size_t ln_last_usable(const ln_cpu_isa *first, size_t count, size_t row_size,
                                    ln_cpu_isa has)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        const char *row = (const char *)first + i * row_size;
        if (ln_cpu_isa_runs(has, *(const ln_cpu_isa *)(const void *)row))
            best = i;
    }
    return best;
}

// A kernel that there is for every instruction set of the build, from one source: declares
// ln_k_NAME__ISA of a type, a function's or a struct's, and defines ln_NAME_select, which picks
// one.
#define LN_KERNELS(type, name) LN_KERNELS_OF(LN_CPU_ISA_LIST, type, name)

// The same for the sets of another list.
#define LN_KERNELS_OF(LIST, type, name)                                                            \
    LIST(LN_KERNEL_DECLARE, type, name)                                                            \
    static inline type *ln_##name##_select(ln_cpu_isa has)                                         \
    {                                                                                              \
        static const struct {                                                                      \
            ln_cpu_isa isa;                                                                        \
            type *kernel;                                                                          \
        } kernels[] = {LIST(LN_KERNEL_ROW, name)};                                                 \
        return LN_SELECT_KERNEL(kernels, has)->kernel;                                             \
    }

#define LN_KERNEL_DECLARE(set, word, features, type, name) extern type ln_k_##name##__##set;
#define LN_KERNEL_ROW(set, word, features, name)           {features, &ln_k_##name##__##set},

#endif
