// SPDX-License-Identifier: Apache-2.0
// How long activations take in the nearest cache.

#include "arch/cpu/kernels/eltwise/eltwise.h"

#include "arch/cpu/kernels/bench.h"

#define ELEMS 4096

typedef struct act_case {
    ln_cpu_isa isa;
    ln_act_f32_args act;
    const float *x;
    float *y;
} act_case;

static void run_act(void *user)
{
    const act_case *c = user;
    ln_act_f32(c->isa, &c->act, ELEMS, c->x, c->y, NULL);
}

static void bench_isa(ln_cpu_isa isa)
{
    float *x = bench_floats(ELEMS), *y = bench_floats(ELEMS);
    for (int act = 0; act < LN_ACT_COUNT; act++) {
        act_case c = {isa, {(ln_act)act, 0.1f, 0.5f}, x, y};
        bench_rate rate = bench_against_peak(isa, ELEMS, run_act, &c);
        printf("%-8s %-14s %7.3f ns an element, the time of %5.1f multiply-adds\n",
               ln_cpu_isa_name(isa), ln_act_name((ln_act)act), rate.seconds * 1e9 / ELEMS,
               0.5 / rate.share);
    }
    free(x);
    free(y);
}

BENCH_MAIN(bench_isa)
