// SPDX-License-Identifier: Apache-2.0
// What the kernel tests share: buffers between pages that must not be touched, random floats, and
// comparing the instruction sets bit for bit.

#ifndef LN_ARCH_CPU_KERNELS_KERNEL_TEST_H
#define LN_ARCH_CPU_KERNELS_KERNEL_TEST_H

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/cpu/isa.h"
#include "tests/test.h"

// Every instruction set of this machine, from the generic one; LN_CPU_ISA may leave out the last.
#define FOR_EACH_ISA(isa)                                                                          \
    for (ln_cpu_isa isa = LN_CPU_ISA_generic, is_end_ = 0; !is_end_;                               \
         is_end_ = !ln_cpu_isa_next(&isa))

// ---- Guarded buffers ----

// Floats that end or begin, as `at_end` says, at a page without access; a read or write outside
// them on that side crashes, a write on the other side is found by `guarded_free`.
//
//     | no access | canary ... floats | no access |          at_end
//     | no access | floats ... canary | no access |          not at_end
typedef struct guarded {
    float *p;
    size_t count;
    unsigned char *map;
    size_t byte_count;
    bool at_end;
} guarded;

#define GUARD_PAGE   4096
#define GUARD_CANARY 0x5a

static inline guarded guarded_make(size_t count, bool at_end)
{
    size_t inner = (count * sizeof(float) + GUARD_PAGE - 1) / GUARD_PAGE * GUARD_PAGE;
    guarded g = {.count = count, .byte_count = inner + 2 * GUARD_PAGE, .at_end = at_end};
    int zeros = open("/dev/zero", O_RDWR);
    g.map = mmap(NULL, g.byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);
    CHECK(g.map != MAP_FAILED);
    close(zeros);
    memset(g.map, GUARD_CANARY, g.byte_count);
    CHECK_EQ(mprotect(g.map, GUARD_PAGE, PROT_NONE), 0);
    CHECK_EQ(mprotect(g.map + GUARD_PAGE + inner, GUARD_PAGE, PROT_NONE), 0);
    unsigned char *first = g.map + GUARD_PAGE + (at_end ? inner - count * sizeof(float) : 0);
    g.p = (float *)(void *)first;
    return g;
}

static inline void guarded_free(guarded *g)
{
    unsigned char *inner = g->map + GUARD_PAGE, *end = g->map + g->byte_count - GUARD_PAGE;
    unsigned char *from = g->at_end ? inner : (unsigned char *)(g->p + g->count);
    unsigned char *to = g->at_end ? (unsigned char *)g->p : end;
    for (; from < to; from++)
        CHECK_EQ(*from, GUARD_CANARY);
    munmap(g->map, g->byte_count);
}

// ---- Values ----

#define TEST_RANDOM_FIRST 0x9e3779b97f4a7c15u

static uint64_t test_random_state = TEST_RANDOM_FIRST;

static inline uint32_t test_random(void)
{
    test_random_state = test_random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(test_random_state >> 33);
}

// Integers in [low, high].
static inline size_t test_random_in(size_t low, size_t high)
{
    return low + test_random() % (high - low + 1);
}

static inline void fill_random(float *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p[i] = (float)test_random() / (float)(1u << 30) - 1.0f;
}

static inline void fill_nan(float *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p[i] = NAN;
}

// Zeros of both signs, the ends of the range, values below it, infinities, NaN.
static const float odd_values[] = {
    0.0f,     -0.0f,    1.0f,     -1.0f,     0.5f,   -2.5f,   1e-40f,    -1e-45f, 1.1754944e-38f,
    -3.4e38f, 3.4e38f,  INFINITY, -INFINITY, NAN,    -NAN,    88.72283f, 88.73f,  -87.4f,
    -103.9f,  -103.98f, 16.7f,    -16.7f,    1e-20f, -1e-20f, 65504.0f,  3e10f,   -3e10f,
};
#define ODD_COUNT (sizeof odd_values / sizeof odd_values[0])

// Equal bits, or both NaN: which NaN is not promised.
static inline bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static inline void check_same_bits(const char *what, ln_cpu_isa isa, const float *a, const float *b,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!same_bits(a[i], b[i]))
            fail_msg("%s: element %zu is %.9g for %s, %.9g for generic", what, i, (double)b[i],
                     ln_cpu_isa_name(isa), (double)a[i]);
    }
}

// Distance in units in the last place of the float nearest to `exact`; 0 for the same infinity or
// two NaN.
static inline double ulp_error(float value, double exact)
{
    if (isnan(value) || isnan(exact))
        return isnan(value) && isnan(exact) ? 0 : INFINITY;
    if (isinf(value) && fabs(exact) > 3.4028235677973364e38) // rounds to infinity
        return (value > 0) == (exact > 0) ? 0 : INFINITY;
    int exponent;
    frexp(exact, &exponent);
    double ulp = ldexp(1.0, exponent - 24 > -149 ? exponent - 24 : -149);
    return fabs((double)value - exact) / ulp;
}

#endif
