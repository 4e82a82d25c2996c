// SPDX-License-Identifier: Apache-2.0
// Products of bytes against sums in 64 bits, for every set of instructions of this machine: extreme
// bytes, all epilogues, nothing read or written outside.

#include "arch/cpu/kernels/gemm_i8/packed_i8.h"

#include "arch/cpu/kernels/kernel_test.h"

static const struct {
    ln_cpu_isa isa;
    const char *name;
} sets[] = {
#define SET(set, word, features, ...) {features, word},
    LN_CPU_TILE_I8_LIST(SET, )
#undef SET
};

typedef struct problem {
    size_t m, n, k, gap;
    bool is_signed, w_is_signed, is_transposed, has_bias, has_zeros, has_float_bias, extremes,
        has_edges, has_no_spans;
    int32_t zero;
    unsigned lowest, spread; // of A's bytes: in as many from there on; 0: all
    ln_i8_result result;
} problem;

// What a problem has, in buffers of their own.
typedef struct data {
    guarded a, w, packed, zeros, bias, factors, float_bias, workspace;
    size_t a_step, row_step, column_step;
} data;

static guarded bytes_make(size_t byte_count, bool at_end)
{
    return guarded_make((byte_count + 3) / 4, at_end);
}

// The first byte of such that ends where the buffer ends.
static uint8_t *last_bytes(const guarded *g, size_t byte_count, bool at_end)
{
    return (uint8_t *)g->p + (at_end ? g->count * 4 - byte_count : 0);
}

static uint8_t random_byte(bool is_extreme)
{
    static const uint8_t ends[] = {0, 255, 127, 128};
    return is_extreme ? ends[test_random() % 4] : (uint8_t)test_random();
}

// Pairs of these are at the edge of what 16 bits hold when they are multiplied by 255 and added.
static uint8_t random_edge(void)
{
    static const int8_t edges[] = {127, 1, 2, 64, 65, 0, -1, -64, -65, -127, -128};
    return (uint8_t)edges[test_random() % (sizeof edges)];
}

static int at(const uint8_t *p, bool is_signed)
{
    return is_signed ? (int8_t)*p : *p;
}

static int32_t wrapped(int64_t sum)
{
    return (int32_t)(uint32_t)(uint64_t)sum;
}

static int32_t expected_sum(const problem *p, const data *d, const uint8_t *a, const uint8_t *w,
                            size_t i, size_t j)
{
    int64_t sum = p->has_bias ? ((int32_t *)(void *)d->bias.p)[j] : 0;
    int zero = p->has_zeros     ? ((int32_t *)(void *)d->zeros.p)[j] + (p->w_is_signed ? 0 : 128)
               : p->w_is_signed ? 0
                                : 128;
    for (size_t q = 0; q < p->k; q++)
        sum += (int64_t)(at(a + i * d->a_step + q, p->is_signed) - p->zero) *
               (at(w + q * d->row_step + j * d->column_step, p->w_is_signed) - zero);
    return wrapped(sum);
}

static uint8_t expected_byte(float v, const ln_epilogue_i8 *e)
{
    v = !(v > e->low) ? e->low : v > e->high ? e->high : v;
    return (uint8_t)((int)rintf(v) + e->zero);
}

static void check_element(const problem *p, const data *d, const ln_gemm_i8_args *args,
                          const uint8_t *w, size_t i, size_t j, const char *isa)
{
    int32_t sum = expected_sum(p, d, args->a, w, i, j);
    float scaled = p->result == LN_I8_TO_SUMS ? 0 : (float)sum * d->factors.p[j];
    if (p->has_float_bias)
        scaled += d->float_bias.p[j];
    size_t index = i * args->y_step + j;
    bool is_right = false;
    double got = 0;
    switch (p->result) {
    case LN_I8_TO_SUMS:
        got = ((int32_t *)args->y)[index];
        is_right = ((int32_t *)args->y)[index] == sum;
        break;
    case LN_I8_TO_FLOATS:
        got = (double)((float *)args->y)[index];
        is_right = same_bits(((float *)args->y)[index], scaled);
        break;
    case LN_I8_TO_BYTES:
        got = ((uint8_t *)args->y)[index];
        is_right = ((uint8_t *)args->y)[index] == expected_byte(scaled, &args->epilogue);
        break;
    }
    if (!is_right)
        fail_msg("%zux%zux%zu, %s: [%zu, %zu] is %.9g, sum %d, scaled %.9g", p->m, p->n, p->k, isa,
                 i, j, got, sum, (double)scaled);
}

static void check_set(const problem *p, const data *d, const uint8_t *a, const uint8_t *w, size_t s,
                      bool at_end)
{
    size_t y_step = p->n + p->gap, extent = p->m ? (p->m - 1) * y_step + p->n : 0;
    size_t size = p->result == LN_I8_TO_BYTES ? 1 : 4;
    guarded y = bytes_make(extent * size, at_end);
    uint8_t *first = last_bytes(&y, extent * size, at_end);
    memset(first, 77, extent * size);
    ln_gemm_i8_args args = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a = a,
        .a_step = d->a_step,
        .is_signed = p->is_signed,
        .zero = p->zero,
        .packed = (int8_t *)d->packed.p,
        .zeros = p->has_zeros ? (int32_t *)(void *)d->zeros.p : NULL,
        .bias = p->has_bias ? (int32_t *)(void *)d->bias.p : NULL,
        .y = first,
        .y_step = y_step,
        .epilogue = {.result = p->result,
                     .factors = d->factors.p,
                     .bias = p->has_float_bias ? d->float_bias.p : NULL,
                     .low = -37,
                     .high = 218,
                     .zero = 37},
    };
    ln_gemm_i8(sets[s].isa, &args, d->workspace.p, NULL);
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++)
            check_element(p, d, &args, w, i, j, sets[s].name);
        for (size_t b = p->n * size; b < y_step * size && i + 1 < p->m; b++)
            CHECK_EQ(first[i * y_step * size + b], 77); // between the rows
    }
    guarded_free(&y);
}

static void check_side(const problem *p, bool at_end)
{
    size_t columns = ln_gemm_i8_columns(p->n), a_step = p->k + p->gap;
    size_t a_extent = p->m ? (p->m - 1) * a_step + p->k : 0;
    data d = {
        .a = bytes_make(a_extent, at_end),
        .w = bytes_make(p->k * p->n, at_end),
        .packed = bytes_make(ln_gemm_i8_packed_bytes(p->k, p->n), at_end),
        .zeros = guarded_make(columns, at_end),
        .bias = guarded_make(columns, at_end),
        .factors = guarded_make(columns, at_end),
        .float_bias = guarded_make(columns, at_end),
        .workspace = bytes_make(ln_gemm_i8_workspace(p->k, p->n), false),
        .a_step = a_step,
        .row_step = p->is_transposed ? 1 : p->n,
        .column_step = p->is_transposed ? p->k : 1,
    };
    uint8_t *a = last_bytes(&d.a, a_extent, at_end), *w = last_bytes(&d.w, p->k * p->n, at_end);
    for (size_t i = 0; i < a_extent; i++)
        a[i] = (uint8_t)(p->spread ? p->lowest + random_byte(p->extremes) % p->spread
                                   : random_byte(p->extremes));
    for (size_t i = 0; i < p->k * p->n; i++)
        w[i] = p->has_edges ? random_edge() : random_byte(p->extremes);
    for (size_t j = 0; j < columns; j++) {
        ((int32_t *)(void *)d.zeros.p)[j] = (int32_t)(test_random() % 256) - 128;
        ((int32_t *)(void *)d.bias.p)[j] =
            p->extremes ? INT32_MAX : (int32_t)(test_random() % 4000) - 2000;
        d.factors.p[j] = (float)(test_random() % 1000) * 1e-5f;
        d.float_bias.p[j] = (float)(test_random() % 1000) * 0.1f - 50;
    }
    if (columns)
        d.factors.p[0] = 0.5f; // ties
    const ln_i8_weights weights = {w, d.row_step, d.column_step, p->w_is_signed, !p->has_no_spans};
    ln_gemm_pack_i8(p->k, p->n, &weights, (int8_t *)d.packed.p, NULL);
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        if (ln_cpu_isa_runs(ln_cpu_isa_get(), sets[s].isa))
            check_set(p, &d, a, w, s, at_end);
    guarded_free(&d.a);
    guarded_free(&d.w);
    guarded_free(&d.packed);
    guarded_free(&d.zeros);
    guarded_free(&d.bias);
    guarded_free(&d.factors);
    guarded_free(&d.float_bias);
    guarded_free(&d.workspace);
}

static void check_problem(problem p)
{
    check_side(&p, true);
    check_side(&p, false);
}

TEST(tiles_of_all_sizes_are_right)
{
    for (size_t m = 1; m <= 2 * LN_TILE_I8_MAX_ROWS + 1; m++) {
        for (size_t n = 1; n <= 80; n += 1 + n / 3 + m % 2)
            check_problem((problem){.m = m,
                                    .n = n,
                                    .k = 1 + (m + n) % 9,
                                    .gap = m % 3,
                                    .w_is_signed = true,
                                    .zero = 3});
    }
}

TEST(every_kind_of_byte_and_result_is_right)
{
    for (unsigned kind = 0; kind < 256; kind++) {
        check_problem((problem){.m = 1 + kind % 14,
                                .n = 1 + kind % 37,
                                .k = 1 + kind * 7 % 130,
                                .gap = kind % 5,
                                .is_signed = kind & 1,
                                .w_is_signed = kind & 2,
                                .is_transposed = kind & 4,
                                .has_bias = kind & 8,
                                .has_zeros = kind & 16,
                                .has_float_bias = kind & 32,
                                .extremes = kind & 64,
                                .has_no_spans = kind % 3 == 0,
                                .zero = kind & 1 ? -128 + (int)(kind % 256) : (int)(kind % 256),
                                .result = (ln_i8_result)(kind % 3)});
    }
}

// Sums of what saturates in 16 bits, and what leaves 32.
TEST(nothing_saturates)
{
    for (size_t k = 1; k <= 140000; k = k * 5 + 3)
        check_problem((problem){.m = 2,
                                .n = 17,
                                .k = k,
                                .w_is_signed = true,
                                .has_bias = true,
                                .has_zeros = k % 4 == 0,
                                .extremes = true,
                                .zero = 255});
}

// Of one column, so that fours come with and without sums that leave 16 bits, in any order.
TEST(pairs_at_the_edge_of_16_bits_are_exact)
{
    for (size_t k = 1; k <= 400; k++)
        check_problem((problem){.m = 1 + k % 33,
                                .n = 1 + k % 2 * 8,
                                .k = k,
                                .w_is_signed = true,
                                .extremes = true,
                                .has_edges = true});
}

// Bytes that leave room for larger weights, or for sums of four products, near the zero point or
// not; some are far below it.
TEST(sums_at_the_edge_of_16_bits_are_exact)
{
    static const unsigned spreads[] = {32, 63, 64, 65, 85, 86, 127, 128, 129, 130, 160, 170, 192};
    for (size_t i = 0; i < 520; i++) {
        const unsigned spread = spreads[i % 13], lowest = (unsigned)i * 7 % (257 - spread);
        check_problem((problem){.m = 1 + i % 19,
                                .n = 1 + i % 2 * 8,
                                .k = 1 + i * 11 % 600,
                                .w_is_signed = true,
                                .extremes = i % 3 == 0,
                                .has_edges = true,
                                .has_no_spans = i % 5 == 0,
                                .lowest = lowest,
                                .spread = spread,
                                .zero = i % 4 == 0
                                            ? (int)(i % 256)
                                            : (int)((lowest + (i % 4 == 1 ? 96 : i % 97)) % 256)});
    }
}

// Bytes of one value: whether sums fit 16 bits depends on weights alone.
TEST(sums_of_equal_bytes_are_exact)
{
    for (unsigned byte = 1; byte < 256; byte += 1 + byte % 3) {
        for (size_t k = 40; k <= 72; k += 8)
            check_problem((problem){.m = 9,
                                    .n = 9,
                                    .k = k,
                                    .w_is_signed = true,
                                    .has_edges = true,
                                    .lowest = byte,
                                    .spread = 1,
                                    .zero = (int)(byte * k % 256)});
    }
}

// More panels than are made at once.
TEST(many_columns_are_exact)
{
    for (size_t k = 800; k <= 808; k += 4)
        check_problem((problem){.m = 17,
                                .n = 600,
                                .k = k,
                                .w_is_signed = true,
                                .has_edges = true,
                                .lowest = 60,
                                .spread = 100,
                                .zero = 128});
}

// More fours than are counted in 16 bits.
TEST(long_rows_are_exact)
{
    for (size_t k = 4 * UINT16_MAX; k <= 4 * UINT16_MAX + 10; k += 5)
        check_problem((problem){.m = 17, .n = 3, .k = k, .w_is_signed = true, .zero = 3});
}

TEST(nothing_is_a_product_too)
{
    check_problem((problem){.m = 3, .n = 5, .k = 0, .has_bias = true, .zero = 9});
    check_problem((problem){.m = 0, .n = 5, .k = 4});
    check_problem((problem){.m = 3, .n = 0, .k = 4});
}

TEST(sizes_beyond_memory_have_no_workspace)
{
    CHECK_EQ(ln_gemm_i8_packed_bytes(SIZE_MAX / 4, SIZE_MAX / 4), SIZE_MAX);
    CHECK_EQ(ln_gemm_i8_workspace(SIZE_MAX / 4, 1), SIZE_MAX);
    CHECK_EQ(ln_gemm_i8_workspace(1, SIZE_MAX / 4), SIZE_MAX);
}

// ---- What is packed ----

typedef struct packing {
    size_t k, n;
    const ln_i8_weights *weights;
    const int8_t *packed;
} packing;

// Weights past the last ones are zeros.
static int weight_at(const packing *p, size_t row, size_t column)
{
    const ln_i8_weights *w = p->weights;
    if (row >= p->k || column >= p->n)
        return 0;
    const uint8_t *byte = (const uint8_t *)w->w + row * w->row_step + column * w->column_step;
    return w->is_signed ? (int8_t)*byte : *byte - 128;
}

// Of weights of a column at some rows: the farther of both sums, halved upwards.
static int expected_span(const packing *p, const size_t *rows, size_t count, size_t column)
{
    int up = 0, down = 0;
    for (size_t i = 0; i < count; i++) {
        const int w = weight_at(p, rows[i], column);
        *(w > 0 ? &up : &down) += abs(w);
    }
    const int half = ((up > down ? up : down) + 1) / 2;
    return half < 255 ? half : 255;
}

// The largest span of eight columns and eight rows, of two weights or of four.
static int largest_span(const packing *p, size_t row, size_t column, bool is_of_four)
{
    int most = p->weights->has_spans ? 0 : 255;
    for (size_t j = column; j < column + 8; j++) {
        for (size_t i = 0; i < 4; i++) {
            const size_t two = row + 2 * i, four = row + 2 * (i % 2);
            const size_t rows[] = {is_of_four ? four : two, is_of_four ? four + 1 : two + 1,
                                   four + 4, four + 5};
            const int span = expected_span(p, rows, is_of_four ? 4 : 2, j);
            most = span > most ? span : most;
        }
    }
    return most;
}

static void check_panels(const packing *p)
{
    const size_t columns = ln_gemm_i8_columns(p->n), rows = (p->k + 3) / 4 * 4;
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            CHECK_EQ(p->packed[j / 16 * 16 * rows + i / 4 * 64 + j % 16 * 4 + i % 4],
                     weight_at(p, i, j));
}

static void check_spans(const packing *p)
{
    const size_t columns = ln_gemm_i8_columns(p->n), eights = (p->k + 3) / 8;
    const uint8_t *spans = (const uint8_t *)p->packed + columns * ((p->k + 3) / 4 * 4);
    for (size_t j = 0; j < columns; j += 8, spans += 2 * eights)
        for (size_t e = 0; e < eights; e++) {
            CHECK_EQ(spans[e], largest_span(p, 8 * e, j, false));
            CHECK_EQ(spans[eights + e], largest_span(p, 8 * e, j, true));
        }
}

static void check_sums(const packing *p)
{
    const size_t columns = ln_gemm_i8_columns(p->n);
    const int32_t *sums =
        (const int32_t *)(const void *)(p->packed + ln_gemm_i8_packed_bytes(p->k, p->n)) - columns;
    for (size_t j = 0; j < columns; j++) {
        int64_t sum = 0;
        for (size_t i = 0; i < p->k; i++)
            sum += weight_at(p, i, j);
        CHECK_EQ(sums[j], sum);
    }
}

// `gap` bytes are between rows, or between columns.
static void check_packing(size_t k, size_t n, size_t gap, unsigned kind)
{
    const size_t step = (kind & 1 ? k : n) + gap, lines = kind & 1 ? n : k;
    const size_t extent = (lines - 1) * step + (kind & 1 ? k : n);
    guarded from = bytes_make(extent, true), to = bytes_make(ln_gemm_i8_packed_bytes(k, n), true);
    uint8_t *w = last_bytes(&from, extent, true);
    for (size_t i = 0; i < extent; i++)
        w[i] = kind & 16 ? (kind & 4 ? 127 : 255) : random_byte(kind & 2);
    memset(to.p, 0x5a, to.count * sizeof *to.p);
    const ln_i8_weights weights = {w, kind & 1 ? 1 : step, kind & 1 ? step : 1, kind & 4,
                                   !(kind & 8)};
    ln_gemm_pack_i8(k, n, &weights, (int8_t *)to.p, NULL);
    const packing p = {k, n, &weights, (const int8_t *)to.p};
    check_panels(&p);
    check_spans(&p);
    check_sums(&p);
    guarded_free(&from);
    guarded_free(&to);
}

TEST(packed_weights_are_where_the_header_says)
{
    for (size_t n = 1; n <= 50; n += 1 + n / 6)
        for (size_t k = 1 + n % 2; k <= 90; k += 1 + k / 2)
            for (unsigned kind = 0; kind < 16; kind++)
                check_packing(k, n, (k + n) % 4, kind);
}

// Sums of more bytes than are counted in 16 bits.
TEST(long_columns_are_packed)
{
    for (size_t k = 505; k <= 1100; k += 17)
        for (unsigned kind = 0; kind < 32; kind++)
            check_packing(k, 1 + k % 19, 0, kind);
}

TEST_LIST(tiles_of_all_sizes_are_right, every_kind_of_byte_and_result_is_right, nothing_saturates,
          pairs_at_the_edge_of_16_bits_are_exact, sums_at_the_edge_of_16_bits_are_exact,
          sums_of_equal_bytes_are_exact, many_columns_are_exact, long_rows_are_exact,
          nothing_is_a_product_too, packed_weights_are_where_the_header_says,
          long_columns_are_packed, sizes_beyond_memory_have_no_workspace)
