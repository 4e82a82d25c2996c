// SPDX-License-Identifier: Apache-2.0
// Products of rows and cells against sums in double, and their instruction sets against each other.

#include "arch/cpu/kernels/recurrent/recurrent.h"

#include "arch/cpu/kernels/kernel_test.h"

static guarded random_floats(size_t count, bool at_end)
{
    guarded g = guarded_make(count, at_end);
    fill_random(g.p, count);
    return g;
}

static void check_products(size_t m, size_t n, size_t k, bool has_bias)
{
    bool at_end = k & 1;
    guarded a = random_floats(m * k, at_end), b = random_floats(n * k, at_end);
    guarded bias = random_floats(n, at_end), first = guarded_make(m * n, at_end);
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(m * n, at_end);
        ln_recurrent_f32_select(isa)->products(
            &(ln_row_products_f32){m, n, k, a.p, b.p, has_bias ? bias.p : NULL, y.p});
        for (size_t i = 0; i < m * n; i++) {
            double sum = has_bias ? (double)bias.p[i % n] : 0;
            for (size_t p = 0; p < k; p++)
                sum += (double)a.p[i / n * k + p] * (double)b.p[i % n * k + p];
            CHECK_NEAR((double)y.p[i], sum, 1e-6 * (double)(k + 1));
        }
        if (isa == LN_CPU_ISA_generic && m * n > 0)
            memcpy(first.p, y.p, m * n * sizeof *y.p);
        check_same_bits("products", isa, first.p, y.p, m * n);
        guarded_free(&y);
    }
    guarded *all[] = {&a, &b, &bias, &first};
    for (size_t i = 0; i < 4; i++)
        guarded_free(all[i]);
}

TEST(products_around_every_tile_are_right)
{
    for (size_t k = 0; k < 40; k++)
        check_products(1 + k % 6, 1 + k % 11, k, k % 3 != 0);
    check_products(9, 21, 100, true);
    check_products(0, 3, 4, true);
    check_products(3, 0, 4, true);
}

// A row does not depend on those beside it.
TEST(a_row_alone_gives_the_same_bits)
{
    enum { M = 7, N = 13, K = 45 };
    float a[M * K], b[N * K], all[M * N], one[N];
    fill_random(a, M * K);
    fill_random(b, N * K);
    FOR_EACH_ISA(isa)
    {
        ln_row_products_f32_fn *products = ln_recurrent_f32_select(isa)->products;
        products(&(ln_row_products_f32){M, N, K, a, b, NULL, all});
        for (size_t i = 0; i < M; i++) {
            products(&(ln_row_products_f32){1, N, K, a + i * K, b, NULL, one});
            check_same_bits("alone", isa, all + i * N, one, N);
        }
    }
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static void check_lstm(size_t hidden, bool has_peephole, bool is_input_forget)
{
    bool at_end = hidden & 1;
    guarded x = random_floats(4 * hidden, at_end), h = random_floats(4 * hidden, at_end);
    guarded p = random_floats(3 * hidden, at_end), old = random_floats(hidden, at_end);
    guarded first = guarded_make(2 * hidden, at_end);
    FOR_EACH_ISA(isa)
    {
        guarded cell = guarded_make(hidden, at_end), state = guarded_make(hidden, at_end);
        memcpy(cell.p, old.p, hidden * sizeof *cell.p);
        ln_recurrent_f32_select(isa)->lstm(&(ln_lstm_cell_f32){
            hidden, x.p, h.p, has_peephole ? p.p : NULL, is_input_forget, cell.p, state.p});
        for (size_t j = 0; j < hidden; j++) {
            double s[4], c = (double)old.p[j];
            for (size_t g = 0; g < 4; g++)
                s[g] = (double)x.p[g * hidden + j] + (double)h.p[g * hidden + j];
            for (size_t g = 0; g < 3 && has_peephole; g += 2)
                s[g] += (double)p.p[g * hidden + j] * c;
            double in = logistic(s[0]), forget = is_input_forget ? 1 - in : logistic(s[2]);
            c = forget * c + in * tanh(s[3]);
            if (has_peephole)
                s[1] += (double)p.p[hidden + j] * c;
            CHECK_NEAR((double)cell.p[j], c, 1e-6);
            CHECK_NEAR((double)state.p[j], logistic(s[1]) * tanh(c), 1e-6);
        }
        if (isa == LN_CPU_ISA_generic) {
            memcpy(first.p, cell.p, hidden * sizeof *cell.p);
            memcpy(first.p + hidden, state.p, hidden * sizeof *cell.p);
        }
        check_same_bits("cell", isa, first.p, cell.p, hidden);
        check_same_bits("state", isa, first.p + hidden, state.p, hidden);
        guarded_free(&cell);
        guarded_free(&state);
    }
    guarded *all[] = {&x, &h, &p, &old, &first};
    for (size_t i = 0; i < 5; i++)
        guarded_free(all[i]);
}

TEST(lstm_cells_follow_their_formula)
{
    for (size_t hidden = 1; hidden < 40; hidden++)
        check_lstm(hidden, hidden % 2 != 0, hidden % 3 == 0);
}

static void check_gru(size_t hidden)
{
    bool at_end = hidden & 1;
    guarded x = random_floats(3 * hidden, at_end), h = random_floats(3 * hidden, at_end);
    guarded old = random_floats(hidden, at_end), first = guarded_make(2 * hidden, at_end);
    FOR_EACH_ISA(isa)
    {
        guarded reset = guarded_make(hidden, at_end), state = guarded_make(hidden, at_end);
        memcpy(state.p, old.p, hidden * sizeof *state.p);
        const ln_recurrent_f32_kernels *k = ln_recurrent_f32_select(isa);
        k->gru_reset(&(ln_gru_reset_f32){hidden, x.p, h.p, state.p, reset.p});
        k->gru(&(ln_gru_cell_f32){hidden, x.p, h.p, reset.p, state.p});
        for (size_t j = 0; j < hidden; j++) {
            double r = logistic((double)x.p[hidden + j] + (double)h.p[hidden + j]);
            double z = logistic((double)x.p[j] + (double)h.p[j]), was = (double)old.p[j];
            CHECK_NEAR((double)reset.p[j], r * was, 1e-6);
            double fresh = tanh((double)x.p[2 * hidden + j] + (double)reset.p[j]);
            CHECK_NEAR((double)state.p[j], (1 - z) * fresh + z * was, 1e-6);
        }
        if (isa == LN_CPU_ISA_generic) {
            memcpy(first.p, reset.p, hidden * sizeof *reset.p);
            memcpy(first.p + hidden, state.p, hidden * sizeof *reset.p);
        }
        check_same_bits("reset", isa, first.p, reset.p, hidden);
        check_same_bits("state", isa, first.p + hidden, state.p, hidden);
        guarded_free(&reset);
        guarded_free(&state);
    }
    guarded *all[] = {&x, &h, &old, &first};
    for (size_t i = 0; i < 4; i++)
        guarded_free(all[i]);
}

TEST(gru_cells_follow_their_formula)
{
    for (size_t hidden = 1; hidden < 40; hidden++)
        check_gru(hidden);
}

TEST_LIST(products_around_every_tile_are_right, a_row_alone_gives_the_same_bits,
          lstm_cells_follow_their_formula, gru_cells_follow_their_formula)
