// SPDX-License-Identifier: Apache-2.0
// Transposes: time beside that of copying the same bytes, one thread.

#include <string.h>

#include "arch/cpu/kernels/bench.h"
#include "arch/cpu/kernels/transpose/transpose.h"

typedef struct order {
    const char *what;
    int ndim;
    size_t dims[4]; // of x
    int axes[4];
} order;

static const order orders[] = {
    {"to channels last", 4, {1, 3, 224, 224}, {0, 2, 3, 1}},
    {"to channels last", 4, {1, 64, 56, 56}, {0, 2, 3, 1}},
    {"to channels last", 4, {1, 256, 28, 28}, {0, 2, 3, 1}},
    {"to channels last", 4, {1, 512, 7, 7}, {0, 2, 3, 1}},
    {"to channels first", 4, {1, 224, 224, 3}, {0, 3, 1, 2}},
    {"to channels first", 4, {1, 56, 56, 64}, {0, 3, 1, 2}},
    {"to channels first", 4, {1, 20, 20, 255}, {0, 3, 1, 2}},
    {"channel shuffle", 4, {1, 784, 2, 58}, {0, 1, 3, 2}},
    {"channel shuffle", 4, {1, 49, 2, 232}, {0, 1, 3, 2}},
    {"heads", 4, {1, 197, 12, 64}, {0, 2, 1, 3}},
    {"keys", 4, {1, 197, 12, 64}, {0, 2, 3, 1}},
};

typedef struct transpose_case {
    ln_cpu_isa isa;
    ln_transpose_args args;
    size_t byte_count;
} transpose_case;

static void run_transpose(void *user)
{
    const transpose_case *c = user;
    ln_transpose(c->isa, &c->args, NULL);
}

static void run_copy(void *user)
{
    const transpose_case *c = user;
    memcpy(c->args.y, c->args.x, c->byte_count);
}

static double least_seconds(void (*run)(void *), void *user)
{
    double best = 1e30;
    for (int i = 0; i < 300; i++) {
        double start = bench_now();
        run(user);
        double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void bench_isa(ln_cpu_isa isa)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const order *o = &orders[i];
        transpose_case c = {.isa = isa, .args = {.elem_size = sizeof(float), .ndim = o->ndim}};
        size_t len = 1;
        for (int d = 0; d < o->ndim; d++) {
            c.args.dims[d] = o->dims[o->axes[d]];
            len *= o->dims[d];
            c.args.x_step[d] = 1;
            for (int k = o->axes[d] + 1; k < o->ndim; k++)
                c.args.x_step[d] *= o->dims[k];
        }
        float *x = bench_floats(len), *y = bench_floats(len);
        c.args.x = x;
        c.args.y = y;
        c.byte_count = len * sizeof(float);
        double seconds = least_seconds(run_transpose, &c), copy = least_seconds(run_copy, &c);
        printf("%-8s %-18s [%zu, %zu, %zu, %zu] %8.1f us, %4.1f times a copy\n",
               ln_cpu_isa_name(isa), o->what, o->dims[0], o->dims[1], o->dims[2], o->dims[3],
               1e6 * seconds, seconds / copy);
        free(x);
        free(y);
    }
}

BENCH_MAIN(bench_isa)
