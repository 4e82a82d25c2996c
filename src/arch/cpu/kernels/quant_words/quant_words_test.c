// SPDX-License-Identifier: Apache-2.0
// Numbers and integers of 16 bits against the same in doubles, for every set of instructions:
// ties, NaN, infinities, zero points at the ends, tails.

#include "arch/cpu/kernels/quant_words/quant_words.h"

#include <math.h>
#include <stdlib.h>

#include "arch/cpu/kernels/kernel_test.h"

#define MAX_COUNT 133

static int32_t least_of(const ln_quant_of *of)
{
    return of->is_signed ? -32768 : 0;
}

static int32_t word_of(float number, const ln_quant_of *of)
{
    const double word = rint((double)(number / of->scale)) + of->zero;
    if (!(word > least_of(of)))
        return least_of(of);
    return word > least_of(of) + 65535 ? least_of(of) + 65535 : (int32_t)word;
}

static int32_t read_word(const void *words, size_t i, const ln_quant_of *of)
{
    return of->is_signed ? ((const int16_t *)words)[i] : ((const uint16_t *)words)[i];
}

static void check_words(const ln_quant_words_kernels *kernels, const ln_quant_of *of, size_t n,
                        const float *x)
{
    uint16_t *words = malloc(n * sizeof *words + 1); // sanitizers watch the end
    float *back = malloc(n * sizeof *back + 1);
    CHECK_NOT_NULL(words);
    CHECK_NOT_NULL(back);
    kernels->to_words(of, n, x, words);
    kernels->to_floats(of, n, words, back);
    for (size_t i = 0; i < n; i++) {
        const int32_t word = read_word(words, i, of);
        const float number = (float)((double)(word - of->zero) * (double)of->scale);
        CHECK_EQ(word, word_of(x[i], of));
        CHECK(back[i] == number);
    }
    free(words);
    free(back);
}

// Halves of steps around everything that bounds them, and what is no number.
static void fill(float *x, const ln_quant_of *of, uint32_t seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0f, 1e-30f, 3e38f, -3e38f};
    for (size_t i = 0; i < MAX_COUNT; i++) {
        const int32_t steps = (int32_t)(test_random() % 300000) - 150000;
        x[i] = i % 17 == seed % 17 ? odd[i % 8] : (float)steps * 0.5f * of->scale;
    }
}

TEST(every_zero_point_scale_and_length_is_right)
{
    static const ln_quant_of kinds[] = {{0.25f, 0, true},       {0.25f, 0, false},
                                        {1.0f, -32768, true},   {1.0f, 32767, true},
                                        {0.5f, 65535, false},   {0.0078125f, 32768, false},
                                        {0.0123f, -1234, true}, {3.7f, 40001, false}};
    float x[MAX_COUNT];
    FOR_EACH_ISA(isa)
    {
        for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
            for (size_t n = 0; n <= MAX_COUNT; n += n < 70 ? 1 : 7) {
                fill(x, &kinds[kind], (uint32_t)n);
                check_words(ln_quant_words_select(isa), &kinds[kind], n, x);
            }
        }
    }
}

TEST_LIST(every_zero_point_scale_and_length_is_right)
