// SPDX-License-Identifier: Apache-2.0
// A matrix product by which times are counted, so that machines and noise cancel.
//
// 240 x 96 x 240 in f32, in tiles of whole vectors: panels are in the first level of the cache with
// room to spare, all of it in the second, so that where pages happen to be matters little. It uses
// nothing of the library, and it stays as it is: a baseline is a ratio to it, and a change here
// would need all baselines measured again. Compiled with -O3 -march=native -ffp-contract=fast.
// Prints {"p10_ms": ..., "median_ms": ..., "gflops": ...}; usage: calibrate [SECONDS]

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE  240 // rows and columns of the result
#define DEPTH 96  // products in each sum
#define MOST  20000

#if defined(__AVX512F__)
#define LANES   16
#define ROWS    8
#define VECTORS 3
#elif defined(__AVX2__)
#define LANES   8
#define ROWS    6
#define VECTORS 2
#else
#define LANES   4
#define ROWS    4
#define VECTORS 2
#endif
#define COLUMNS (LANES * VECTORS)

typedef float vector __attribute__((vector_size(4 * LANES)));

static float a[SIZE * DEPTH];
static vector b[SIZE * DEPTH / LANES]; // panels of COLUMNS columns: | k0: n0.. | k1: n0.. | ...
static vector c[SIZE * SIZE / LANES];  // tiles, one behind the other

static void tile(const float *rows, const vector *panel, vector *out)
{
    vector sums[ROWS][VECTORS];
    memset(sums, 0, sizeof sums);
    for (int k = 0; k < DEPTH; k++) {
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++) {
            float left = rows[i * DEPTH + k];
#pragma GCC unroll 4
            for (int j = 0; j < VECTORS; j++)
                sums[i][j] += left * panel[k * VECTORS + j];
        }
    }
    memcpy(out, sums, sizeof sums);
}

static void product(void)
{
    vector *out = c;
    for (int column = 0; column < SIZE; column += COLUMNS) {
        for (int row = 0; row < SIZE; row += ROWS, out += ROWS * VECTORS)
            tile(a + row * DEPTH, b + column / LANES * DEPTH, out);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *x, const void *y)
{
    double left = *(const double *)x, right = *(const double *)y;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    static double seconds[MOST];
    double wanted = argc > 1 ? atof(argv[1]) : 0.2, end = now() + wanted;
    for (int i = 0; i < SIZE * DEPTH; i++) {
        a[i] = (float)(i % 13) * 0.1f - 0.6f;
        ((float *)b)[i] = (float)(i % 7) * 0.1f - 0.3f;
    }
    product();
    int count = 0;
    while (count < MOST && (count < 10 || now() < end)) {
        double start = now();
        product();
        seconds[count++] = now() - start;
    }
    qsort(seconds, (size_t)count, sizeof seconds[0], compare);
    double p10 = seconds[count / 10], median = seconds[count / 2];
    if (((float *)c)[5] != ((float *)c)[5]) // looked at, so that it is computed
        return 1;
    printf("{\"p10_ms\": %.6f, \"median_ms\": %.6f, \"gflops\": %.1f}\n", p10 * 1e3, median * 1e3,
           2e-9 * SIZE * SIZE * DEPTH / p10);
    return 0;
}
