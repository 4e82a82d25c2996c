// SPDX-License-Identifier: Apache-2.0
// Rows of a table, chosen by their numbers. Nothing is computed: every bit stays.

#ifndef LN_ARCH_CPU_KERNELS_TAKE_ROWS_H
#define LN_ARCH_CPU_KERNELS_TAKE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pool.h"

LN_CPPSTART

// y[o, i] = x[o, number i] for `outer` tables of `rows` rows and `count` numbers.
typedef struct ln_take_rows_args {
    size_t outer, rows, row_bytes;
    const void *x;
    const void *numbers; // int32_t, or int64_t if `is_wide`
    bool is_wide;
    bool is_from_end; // a negative number counts from the end of a table; else it is refused
    size_t count;
    void *y; // apart from x
} ln_take_rows_args;

// The position of the first number that is no row's; `count` if there is none.
size_t ln_take_rows_find_bad(const ln_take_rows_args *args);

// All numbers must be rows'.
void ln_take_rows(const ln_take_rows_args *args, ln_pool *pool);

LN_CPPEND

#endif
