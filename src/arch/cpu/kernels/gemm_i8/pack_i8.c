// SPDX-License-Identifier: Apache-2.0
// Packs weights for the tile of bytes, in the compiler's vectors: panel by panel, the fours of 16
// columns first, then the sums and spans of what is packed.

#include <string.h>

#include "arch/cpu/kernels/gemm_i8/packed_i8.h"
#include "arch/cpu/kernels/gemm_i8/panels_i8.h"
#include "arch/cpu/kernels/tasks.h"
#include "arch/cpu/simd/unroll.h"
#include "base/checked.h"

#define LANES      ((size_t)LN_TILE_I8_LANES)
#define FOUR_BYTES (4 * LANES) // of a panel

#define BYTES_PER_MICROSECOND 4000.0

// A product of fewer rows takes less time than spans save.
#define MIN_SPAN_ROWS 28

typedef uint8_t byte_vector __attribute__((vector_size(16)));
typedef int8_t signed_vector __attribute__((vector_size(16)));
typedef uint16_t pair_vector __attribute__((vector_size(16)));
typedef int16_t signed_pairs __attribute__((vector_size(16)));
typedef uint32_t four_vector __attribute__((vector_size(16)));

#define VECTOR_FOURS (sizeof(four_vector) / sizeof(uint32_t))
#define VECTOR_PAIRS (sizeof(pair_vector) / sizeof(uint16_t))

size_t ln_gemm_i8_packed_bytes(size_t k, size_t n)
{
    size_t len;
    if (k > SIZE_MAX / 128 ||
        !ln_size_mul(ln_div_up(n, LANES), panel_bytes(k) + span_bytes(k) + LANES * sizeof(int32_t),
                     &len))
        return SIZE_MAX;
    return len;
}

bool ln_gemm_i8_uses_spans(ln_cpu_isa isa, size_t m)
{
    return ln_tile_i8_select(isa)->ready && m >= MIN_SPAN_ROWS;
}

typedef struct pack_job {
    size_t k, n;
    const uint8_t *w;
    uint8_t flip;
    bool has_spans;
    size_t row_step, column_step;
    int8_t *packed;
} pack_job;

// ---- From rows ----

// In turn a byte of each of four rows.
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLES
#endif
#endif

#ifdef HAS_SHUFFLES
#define LOW(a, b)                                                                                  \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b)                                                                                 \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

static inline void interleave(const byte_vector rows[4], uint8_t *to)
{
    const byte_vector low[2] = {LOW(rows[0], rows[2]), LOW(rows[1], rows[3])};
    const byte_vector high[2] = {HIGH(rows[0], rows[2]), HIGH(rows[1], rows[3])};
    const byte_vector all[4] = {LOW(low[0], low[1]), HIGH(low[0], low[1]), LOW(high[0], high[1]),
                                HIGH(high[0], high[1])};
    memcpy(to, all, sizeof all);
}
#else
static inline void interleave(const byte_vector rows[4], uint8_t *to)
{
    for (size_t j = 0; j < LANES; j++)
        for (size_t i = 0; i < 4; i++)
            to[4 * j + i] = rows[i][j];
}
#endif

// A panel of n columns, each next to the one before it.
static void pack_rows(const pack_job *job, size_t first, size_t n, uint8_t *to)
{
    const size_t end = (job->k - 1) * job->row_step + job->n; // of all rows
    byte_vector flips, inside = {0};
    memset(&flips, job->flip, sizeof flips);
    memset(&inside, UINT8_MAX, n);
    for (size_t p = 0; p < job->k; p += 4, to += FOUR_BYTES) {
        byte_vector rows[4] = {{0}};
        for (size_t i = 0; i < ln_min(job->k - p, (size_t)4); i++) {
            const size_t at = (p + i) * job->row_step + first;
            if (end - at >= sizeof *rows)
                memcpy(&rows[i], job->w + at, sizeof *rows);
            else
                memcpy(&rows[i], job->w + at, n);
            rows[i] = (rows[i] ^ flips) & inside;
        }
        interleave(rows, to);
    }
}

// ---- From columns ----

// Fours of a column that are packed before the next column's.
#define COLUMN_FOURS 16

// Bytes [p, p + count) of n columns, each with its bytes next to each other.
static void pack_fours(const uint8_t *from, size_t step, size_t n, size_t count, uint32_t flips,
                       uint8_t *to)
{
    for (size_t j = 0; j < n; j++, from += step, to += 4) {
        size_t p = 0;
        uint8_t *four = to;
        for (; p + 4 <= count; p += 4, four += FOUR_BYTES) {
            uint32_t w;
            memcpy(&w, from + p, sizeof w);
            w ^= flips;
            memcpy(four, &w, sizeof w);
        }
        for (size_t i = 0; p + i < count; i++)
            four[i] = from[p + i] ^ (uint8_t)flips;
    }
}

static void pack_columns(const pack_job *job, size_t first, size_t n, uint8_t *to)
{
    const uint8_t *from = job->w + first * job->column_step;
    memset(to, 0, panel_bytes(job->k));
    for (size_t p = 0; p < job->k; p += 4 * COLUMN_FOURS, to += COLUMN_FOURS * FOUR_BYTES)
        pack_fours(from + p, job->column_step, n, ln_min(job->k - p, (size_t)4 * COLUMN_FOURS),
                   job->flip * UINT32_C(0x01010101), to);
}

// ---- Sums ----

// Pairs hold the sums of two bytes of so many fours.
#define SUM_FOURS ((size_t)128)

// Of four columns: bytes that are unsigned, two and two, then less what made them so.
static void sum_fours(const uint8_t *four, size_t fours, int32_t *sums)
{
    four_vector all = {0};
    for (size_t p = 0, count; p < fours; p += count) {
        count = ln_min(fours - p, SUM_FOURS);
        pair_vector pairs = {0};
        for (size_t i = 0; i < count; i++, four += FOUR_BYTES) {
            pair_vector w;
            memcpy(&w, four, sizeof w);
            w ^= 0x8080;
            pairs += (w & 0xff) + (w >> 8);
        }
        const four_vector some = (four_vector)pairs;
        all += (some & 0xffff) + (some >> 16) - (uint32_t)(4 * 128 * count);
    }
    memcpy(sums, &all, sizeof all);
}

// ---- Spans ----

// The sums of two bytes: of positive ones, and of negative ones, without their sign.
typedef struct side_sums {
    signed_pairs up, down;
} side_sums;

static inline signed_pairs sum_pairs(byte_vector bytes)
{
    const pair_vector pairs = (pair_vector)bytes;
    return (signed_pairs)((pairs & 0xff) + (pairs >> 8));
}

static inline side_sums sum_sides(const int8_t *fours)
{
    signed_vector w;
    memcpy(&w, fours, sizeof w);
    return (side_sums){sum_pairs((byte_vector)(w & (w > 0))),
                       sum_pairs((byte_vector){0} - (byte_vector)(w & (w < 0)))};
}

static inline signed_pairs larger(signed_pairs a, signed_pairs b)
{
    const signed_pairs is_a = a > b;
    return (a & is_a) | (b & ~is_a);
}

static uint8_t half_span(signed_pairs spans)
{
    int most = 0;
    for (size_t i = 0; i < VECTOR_PAIRS; i++)
        most = spans[i] > most ? spans[i] : most;
    return (uint8_t)((most + 1) / 2 < UINT8_MAX ? (most + 1) / 2 : UINT8_MAX);
}

static void find_spans(const int8_t *half, size_t eights, uint8_t *spans)
{
    for (size_t p = 0; p < eights; p++, half += 2 * FOUR_BYTES) {
        signed_pairs two = {0}, four = {0};
        for (size_t j = 0; j < FOUR_BYTES / 2; j += sizeof(signed_vector)) {
            const side_sums a = sum_sides(half + j), b = sum_sides(half + FOUR_BYTES + j);
            two = larger(two, larger(larger(a.up, a.down), larger(b.up, b.down)));
            four = larger(four, larger(a.up + b.up, a.down + b.down));
        }
        spans[p] = half_span(two);
        spans[eights + p] = half_span(four);
    }
}

// ---- Panels ----

static void pack_panel(void *user, size_t panel)
{
    const pack_job *job = user;
    const size_t first = panel * LANES, n = ln_min(job->n - first, LANES);
    const size_t eights = eights_of(job->k);
    int8_t *to = job->packed + panel * panel_bytes(job->k);
    int32_t *sums = column_sums(job->packed, job->k, job->n) + first;
    uint8_t *spans = spans_of(job->packed, job->k, job->n) + panel * span_bytes(job->k);
    if (job->row_step == 1)
        pack_columns(job, first, n, (uint8_t *)to);
    else
        pack_rows(job, first, n, (uint8_t *)to);
    for (size_t j = 0; j < LANES; j += VECTOR_FOURS)
        sum_fours((const uint8_t *)to + 4 * j, fours_of(job->k), sums + j);
    if (!job->has_spans) {
        memset(spans, UINT8_MAX, span_bytes(job->k));
        return;
    }
    for (size_t half = 0; half < 2; half++)
        find_spans(to + half * FOUR_BYTES / 2, eights, spans + half * 2 * eights);
}

void ln_gemm_pack_i8(size_t k, size_t n, const ln_i8_weights *w, int8_t *packed, ln_pool *pool)
{
    pack_job job = {.k = k,
                    .n = n,
                    .w = w->w,
                    .flip = w->is_signed ? 0 : 128,
                    .has_spans = w->has_spans,
                    .row_step = w->row_step,
                    .column_step = w->column_step,
                    .packed = packed};
    ln_pool_run(ln_tasks_pool(pool, (double)k * (double)n / BYTES_PER_MICROSECOND),
                ln_div_up(n, LANES), pack_panel, &job);
}
