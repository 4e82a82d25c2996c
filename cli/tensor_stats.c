// SPDX-License-Identifier: Apache-2.0
// Elements go in blocks that stay in the cache: turned into doubles, summed, and once more for the
// distances from the block's mean. Blocks are merged by means and not by sums (Chan, Golub, LeVeque
// 1979), and a mean is a pair of doubles, so neither many elements nor a mean far from 0 cost
// digits.

#include "tensor_stats.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 1024, LANES = 8 };

// ---- One block of doubles ----

typedef struct block {
    double numbers[BLOCK];
    size_t count;
    double least;
    double most;
    double sum;
    size_t zero_count;
    size_t odd_count; // NaN and infinities
} block;

// Several sums side by side, which is what vector units want.
typedef struct lanes {
    double least[LANES];
    double most[LANES];
    double sum[LANES];
    long long zero_count[LANES];
    long long odd_count[LANES];
} lanes;

static inline void add_to_lane(lanes *l, int k, double x)
{
    l->least[k] = x < l->least[k] ? x : l->least[k];
    l->most[k] = x > l->most[k] ? x : l->most[k];
    l->sum[k] += x;
    l->zero_count[k] += x == 0;
    l->odd_count[k] += !(x - x == 0);
}

static void sum_up(block *b)
{
    lanes l = {0};
    for (int k = 0; k < LANES; k++) {
        l.least[k] = INFINITY;
        l.most[k] = -INFINITY;
    }
    size_t i = 0;
    for (; i + LANES <= b->count; i += LANES) {
        for (int k = 0; k < LANES; k++)
            add_to_lane(&l, k, b->numbers[i + (size_t)k]);
    }
    for (; i < b->count; i++)
        add_to_lane(&l, 0, b->numbers[i]);
    b->least = INFINITY;
    b->most = -INFINITY;
    b->sum = 0;
    b->zero_count = b->odd_count = 0;
    for (int k = 0; k < LANES; k++) {
        b->least = fmin(b->least, l.least[k]);
        b->most = fmax(b->most, l.most[k]);
        b->sum += l.sum[k];
        b->zero_count += (size_t)l.zero_count[k];
        b->odd_count += (size_t)l.odd_count[k];
    }
}

// Sums of the distances from `mean` and of their squares.
static void sum_distances(const block *b, double mean, double *out_sum, double *out_squares)
{
    double sum[LANES] = {0}, squares[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= b->count; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            double d = b->numbers[i + (size_t)k] - mean;
            sum[k] += d;
            squares[k] += d * d;
        }
    }
    for (; i < b->count; i++) {
        sum[0] += b->numbers[i] - mean;
        squares[0] += (b->numbers[i] - mean) * (b->numbers[i] - mean);
    }
    *out_sum = *out_squares = 0;
    for (int k = 0; k < LANES; k++) {
        *out_sum += sum[k];
        *out_squares += squares[k];
    }
}

// Moves the finite numbers to the front and counts the others.
static void drop_odd(block *b, tensor_stats *stats)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        double x = b->numbers[i];
        stats->nan_count += isnan(x) != 0;
        stats->inf_count += isinf(x) != 0;
        if (isfinite(x))
            b->numbers[kept++] = x;
    }
    b->count = kept;
}

static void merge(tensor_stats *stats, const block *b)
{
    if (b->count == 0)
        return;
    double before = (double)stats->finite_count, added = (double)b->count;
    double mean = b->sum / added, rest, squares;
    sum_distances(b, mean, &rest, &squares);
    rest /= added; // the block's mean is mean + rest
    squares -= added * rest * rest;

    double distance = 0;
    if (before == 0) {
        stats->mean = mean;
        stats->mean_rest = rest;
    } else {
        distance = (mean - stats->mean) + (rest - stats->mean_rest);
        double step = distance * (added / (before + added)) + stats->mean_rest;
        double moved = stats->mean + step;
        stats->mean_rest = step - (moved - stats->mean); // exact where the step is the smaller one
        stats->mean = moved;
    }
    stats->squares += squares + distance * distance * (before * added / (before + added));
    stats->least = before == 0 ? b->least : fmin(stats->least, b->least);
    stats->most = before == 0 ? b->most : fmax(stats->most, b->most);
    stats->finite_count += b->count;
    stats->zero_count += b->zero_count;
}

// ---- Elements ----

// X(dtype, C type): the conversions that are loops, one for each type.
#define LOAD_ROW(name, type, kind, fmt, min, max)                                                  \
    case name:                                                                                     \
        for (size_t i = 0; i < count; i++)                                                         \
            numbers[i] = (double)((const type *)data)[i];                                          \
        break;

static void load(double *numbers, const void *data, tl_dtype dtype, size_t count)
{
    switch (dtype) {
        TL_DTYPE_LIST(LOAD_ROW)
    default: memset(numbers, 0, count * sizeof *numbers); break;
    }
}

// The least and the greatest as elements, where doubles round.
static void find_exact(tensor_stats *stats, const void *data, size_t count)
{
    const char *elem = data;
    for (size_t i = 0; i < count; i++, elem += 8) {
        int is_first = stats->count == 0 && i == 0;
        if (is_first || tl_cmp(elem, stats->exact_least, stats->dtype) < 0)
            memcpy(stats->exact_least, elem, 8);
        if (is_first || tl_cmp(elem, stats->exact_most, stats->dtype) > 0)
            memcpy(stats->exact_most, elem, 8);
    }
}

static size_t count_subnormal(const block *b, tl_dtype dtype)
{
    const double normal = dtype == TL_DOUBLE ? DBL_MIN : FLT_MIN;
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++)
        count += b->numbers[i] != 0 && fabs(b->numbers[i]) < normal;
    return count;
}

void tensor_stats_add(tensor_stats *stats, const void *data, size_t count)
{
    block b;
    size_t size = tl_size_of(stats->dtype);
    if (stats->dtype == TL_INT64 || stats->dtype == TL_UINT64)
        find_exact(stats, data, count);
    const char *next = data;
    for (size_t left = count; left > 0; left -= b.count, next += b.count * size) {
        b.count = left < BLOCK ? left : BLOCK;
        load(b.numbers, next, stats->dtype, b.count);
        stats->subnormal_count += count_subnormal(&b, stats->dtype);
        size_t taken = b.count;
        sum_up(&b);
        if (b.odd_count > 0) {
            drop_odd(&b, stats);
            sum_up(&b);
        }
        merge(stats, &b);
        b.count = taken;
    }
    stats->count += count;
}

double tensor_stats_deviation(const tensor_stats *stats)
{
    return stats->finite_count ? sqrt(stats->squares / (double)stats->finite_count) : NAN;
}
