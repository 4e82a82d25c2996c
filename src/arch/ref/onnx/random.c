// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that draw random numbers.

#include "arch/ref/onnx/random.h"
#include "base/deadline.h"

#include <math.h>
#include <stdatomic.h>

#include "arch/ref/functions.h"
#include "tensor/elem.h"

// ---- The generator: Matsumoto and Nishimura, 1998 ----

enum { WORDS = 624, DISTANCE = 397 };

static void seed_with(ln_random *random, uint32_t seed)
{
    random->words[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        uint32_t before = random->words[i - 1];
        random->words[i] = UINT32_C(1812433253) * (before ^ (before >> 30)) + i;
    }
    random->next = WORDS;
    random->has_spare = false;
}

static void renew(ln_random *random)
{
    uint32_t *words = random->words;
    for (int i = 0; i < WORDS; i++) {
        uint32_t y = (words[i] & UINT32_C(0x80000000)) | (words[(i + 1) % WORDS] & 0x7fffffff);
        words[i] = words[(i + DISTANCE) % WORDS] ^ (y >> 1) ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
    }
    random->next = 0;
}

static uint32_t next_word(ln_random *random)
{
    if (random->next == WORDS)
        renew(random);
    uint32_t y = random->words[random->next++];
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9d2c5680);
    y ^= (y << 15) & UINT32_C(0xefc60000);
    return y ^ (y >> 18);
}

void ln_random_start(const ln_call *call, ln_random *random)
{
    static atomic_uint_fast32_t calls_without_seed;
    if (ln_call_has(call, "seed"))
        seed_with(random, (uint32_t)ln_call_int(call, "seed"));
    else
        seed_with(random, ~(uint32_t)atomic_fetch_add(&calls_without_seed, 1));
}

double ln_random_uniform(ln_random *random)
{
    uint32_t high = next_word(random) >> 5, low = next_word(random) >> 6;
    return ((double)high * 0x1p26 + (double)low) * 0x1p-53;
}

// Marsaglia's polar method: a point in the unit circle gives two numbers.
static double random_normal(ln_random *random)
{
    if (random->has_spare) {
        random->has_spare = false;
        return random->spare;
    }
    double x, y, square;
    do {
        x = 2 * ln_random_uniform(random) - 1;
        y = 2 * ln_random_uniform(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = sqrt(-2 * log(square) / square);
    random->has_spare = true;
    random->spare = factor * x;
    return factor * y;
}

// ---- Operators ----

ln_status ln_ref_onnx_random_uniform(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    double low = ln_call_float(call, "low"), high = ln_call_float(call, "high");
    ln_random random;
    ln_random_start(call, &random);
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, low + (high - low) * ln_random_uniform(&random));
    return LN_OK;
}

ln_status ln_ref_onnx_random_normal(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    double mean = ln_call_float(call, "mean"), scale = ln_call_float(call, "scale");
    ln_random random;
    ln_random_start(call, &random);
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, mean + scale * random_normal(&random));
    return LN_OK;
}

// 1 with probability `chance`, from the end of the range of uniform numbers where NumPy has it.
static bool happens(ln_random *random, double chance)
{
    double uniform = ln_random_uniform(random);
    return chance > 0.5 ? uniform <= chance : uniform > 1 - chance;
}

ln_status ln_ref_onnx_bernoulli(ln_call *call)
{
    const tl_tensor *chance = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_random random;
    ln_random_start(call, &random);
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_int(dst, i, happens(&random, ln_elem_real(chance, i)));
    return LN_OK;
}

// The outcomes of a row have the weights exp(x); the largest becomes 1, so that none overflows.
static size_t draw(ln_random *random, const double *weights, size_t count, double sum)
{
    double left = ln_random_uniform(random) * sum;
    for (size_t c = 0; c + 1 < count; c++) {
        if (left < weights[c])
            return c;
        left -= weights[c];
    }
    return count - 1;
}

ln_status ln_ref_onnx_multinomial(ln_call *call)
{
    const tl_tensor *odds = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    size_t rows = (size_t)dst->dims[0], samples = (size_t)dst->dims[1];
    size_t classes = (size_t)odds->dims[1];
    double *weights = ln_call_scratch(call, classes + 1, sizeof *weights);
    if (!weights)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    ln_random random;
    ln_random_start(call, &random);
    for (size_t r = 0; r < rows; r++) {
        double max = -INFINITY, sum = 0;
        for (size_t c = 0; c < classes; c++)
            max = fmax(max, ln_elem_real(odds, r * classes + c));
        for (size_t c = 0; c < classes; c++)
            sum += weights[c] = exp(ln_elem_real(odds, r * classes + c) - max);
        for (size_t s = 0; s < samples && !ln_deadline_passed(); s++)
            ln_elem_set_int(dst, r * samples + s, (int64_t)draw(&random, weights, classes, sum));
    }
    return LN_OK;
}
