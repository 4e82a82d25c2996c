// SPDX-License-Identifier: Apache-2.0
// Attention against its definition in double, and its instruction sets against each other.

#include "arch/cpu/kernels/attention/attention.h"

#include "arch/cpu/kernels/kernel_test.h"

typedef struct attention_case {
    size_t batch, heads, kv_heads, queries, keys, size;
    bool has_mask, is_causal;
} attention_case;

static float score_of(const ln_attention_f32_args *a, size_t image, size_t head, size_t query,
                      size_t key)
{
    const ln_attention_f32_shape *s = &a->shape;
    if (a->is_causal && key > query)
        return -INFINITY;
    const float *q = a->q + (image * s->queries + query) * a->q_stride + head * s->size;
    const float *k =
        a->k + (image * s->keys + key) * a->k_stride + head / (s->heads / s->kv_heads) * s->size;
    float score = 0;
    for (size_t c = 0; c < s->size; c++)
        score = fmaf(q[c], k[c] * a->scale, score);
    const size_t *m = a->mask_strides;
    return a->mask ? score + a->mask[image * m[0] + head * m[1] + query * m[2] + key] : score;
}

static void check_query(const ln_attention_f32_args *a, size_t image, size_t head, size_t query,
                        const float *y)
{
    const ln_attention_f32_shape *s = &a->shape;
    double *weights = calloc(s->keys + 1, sizeof *weights);
    CHECK_NOT_NULL(weights);
    double max = -INFINITY, total = 0;
    for (size_t j = 0; j < s->keys; j++) {
        weights[j] = (double)score_of(a, image, head, query, j);
        max = fmax(max, weights[j]);
    }
    for (size_t j = 0; j < s->keys; j++) {
        weights[j] = exp(weights[j] - max);
        total += weights[j];
    }
    for (size_t c = 0; c < s->size; c++) {
        double sum = 0, size = 0;
        for (size_t j = 0; j < s->keys; j++) {
            const float *v = a->v + (image * s->keys + j) * a->v_stride +
                             head / (s->heads / s->kv_heads) * s->size;
            sum += weights[j] / total * (double)v[c];
            size += weights[j] / total * fabs((double)v[c]);
        }
        CHECK_NEAR((double)y[c], sum, 2e-6 * size + 1e-7);
    }
    free(weights);
}

static void check(const attention_case *c, ln_pool *pool)
{
    size_t gap = 3; // of floats between tokens
    ln_attention_f32_args a = {
        .shape = {.batch = c->batch,
                  .heads = c->heads,
                  .kv_heads = c->kv_heads,
                  .queries = c->queries,
                  .keys = c->keys,
                  .size = c->size},
        .q_stride = c->heads * c->size + gap,
        .k_stride = c->kv_heads * c->size + gap,
        .v_stride = c->kv_heads * c->size,
        .y_stride = c->heads * c->size + gap,
        .mask_strides = {c->heads * c->queries * c->keys, c->queries * c->keys, c->keys},
        .scale = 0.3f,
        .is_causal = c->is_causal};
    CHECK_OK(ln_attention_f32_check(&a.shape));
    bool at_end = c->keys & 1;
    size_t tokens = c->batch * c->queries, key_tokens = c->batch * c->keys;
    guarded q = guarded_make(tokens * a.q_stride - (tokens ? gap : 0), at_end);
    guarded k = guarded_make(key_tokens * a.k_stride - (key_tokens ? gap : 0), at_end);
    guarded v = guarded_make(key_tokens * a.v_stride, at_end);
    guarded mask = guarded_make(c->batch * c->heads * c->queries * c->keys, at_end);
    size_t len = tokens * a.y_stride - (tokens ? gap : 0);
    float *first = calloc(len + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    guarded *inputs[] = {&q, &k, &v, &mask};
    for (size_t i = 0; i < 4; i++) {
        fill_random(inputs[i]->p, inputs[i]->count);
        for (size_t j = 0; j < inputs[i]->count; j++)
            inputs[i]->p[j] *= 3;
    }
    a.q = q.p;
    a.k = k.p;
    a.v = v.p;
    a.mask = c->has_mask ? mask.p : NULL;
    FOR_EACH_ISA(isa)
    {
        guarded y = guarded_make(len, at_end);
        guarded workspace = guarded_make(ln_attention_f32_workspace(&a.shape), at_end);
        fill_nan(y.p, len);
        fill_nan(workspace.p, workspace.count);
        a.y = y.p;
        ln_attention_f32(isa, &a, workspace.p, pool);
        for (size_t i = 0; i < tokens && isa == LN_CPU_ISA_generic; i++)
            for (size_t h = 0; h < c->heads; h++)
                check_query(&a, i / c->queries, h, i % c->queries,
                            y.p + i * a.y_stride + h * c->size);
        if (isa == LN_CPU_ISA_generic && len)
            memcpy(first, y.p, len * sizeof *first);
        check_same_bits("attention", isa, first, y.p, len);
        guarded_free(&workspace);
        guarded_free(&y);
    }
    free(first);
    for (size_t i = 0; i < 4; i++)
        guarded_free(inputs[i]);
}

TEST(sizes_around_every_tile_are_right)
{
    static const attention_case cases[] = {
        {1, 1, 1, 1, 1, 1, false, false},    {2, 3, 3, 5, 7, 4, false, false},
        {1, 2, 2, 29, 33, 64, false, false}, {1, 2, 2, 17, 16, 31, true, false},
        {2, 1, 1, 3, 48, 17, true, false},   {1, 3, 1, 20, 19, 8, false, true},
        {1, 4, 2, 9, 40, 16, true, true},    {0, 2, 2, 4, 4, 4, false, false},
        {2, 2, 2, 0, 4, 4, false, false},    {1, 1, 1, 70, 70, 3, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i], NULL);
    for (size_t keys = 1; keys < 40; keys++)
        check(&(attention_case){1, 1, 1, 3, keys, 5, keys & 1, false}, NULL);
}

TEST(threads_and_blocks_change_no_bit)
{
    ln_pool *pool;
    CHECK_OK(ln_pool_create(3, &pool));
    check(&(attention_case){1, 3, 3, 197, 197, 64, false, false}, pool);
    check(&(attention_case){1, 3, 3, 197, 197, 64, false, false}, NULL);
    check(&(attention_case){1, 1, 1, 5, 9000, 64, false, false}, pool); // fewer blocks than ranges
    ln_pool_release(pool);
}

// A query's row does not depend on the queries beside it.
TEST(a_query_alone_gives_the_same_bits)
{
    enum { N = 45, SIZE = 20 };
    static float q[N * SIZE], k[N * SIZE], v[N * SIZE], all[N * SIZE], one[SIZE];
    fill_random(q, N * SIZE);
    fill_random(k, N * SIZE);
    fill_random(v, N * SIZE);
    ln_attention_f32_args a = {.shape = {1, 1, 1, N, N, SIZE},
                               .q = q,
                               .k = k,
                               .v = v,
                               .q_stride = SIZE,
                               .k_stride = SIZE,
                               .v_stride = SIZE,
                               .y = all,
                               .y_stride = SIZE,
                               .scale = 1};
    float *workspace = calloc(ln_attention_f32_workspace(&a.shape), sizeof *workspace);
    CHECK_NOT_NULL(workspace);
    FOR_EACH_ISA(isa)
    {
        a.shape.queries = N;
        a.q = q;
        a.y = all;
        ln_attention_f32(isa, &a, workspace, NULL);
        a.shape.queries = 1;
        a.y = one;
        for (size_t i = 0; i < N; i++) {
            a.q = q + i * SIZE;
            ln_attention_f32(isa, &a, workspace, NULL);
            check_same_bits("alone", isa, all + i * SIZE, one, SIZE);
        }
    }
    free(workspace);
}

TEST(a_masked_key_takes_no_part_and_a_query_without_keys_is_nan)
{
    float q[] = {1, 1}, k[] = {5, 1, 2}, v[] = {10, 20, 30}, y[2], workspace[8192];
    float mask[] = {-INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    ln_attention_f32_args a = {.shape = {1, 1, 1, 2, 3, 1},
                               .q = q,
                               .k = k,
                               .v = v,
                               .q_stride = 1,
                               .k_stride = 1,
                               .v_stride = 1,
                               .y = y,
                               .y_stride = 1,
                               .mask = mask,
                               .mask_strides = {0, 0, 3},
                               .scale = 1};
    CHECK(ln_attention_f32_workspace(&a.shape) <= 8192);
    FOR_EACH_ISA(isa)
    {
        ln_attention_f32(isa, &a, workspace, NULL);
        CHECK(y[0] == 20 && isnan(y[1]));
        a.is_guarded = true;
        ln_attention_f32(isa, &a, workspace, NULL);
        CHECK(y[0] == 20 && y[1] == 0);
        a.is_guarded = false;
    }
}

// Heads in front of tokens, and keys from before the queries.
TEST(heads_may_stand_in_front)
{
    enum { BATCH = 2, HEADS = 3, QUERIES = 5, KEYS = 9, SIZE = 6 };
    static float q[BATCH * HEADS * QUERIES * SIZE], k[BATCH * HEADS * KEYS * SIZE];
    static float v[BATCH * HEADS * KEYS * SIZE], y[BATCH * HEADS * QUERIES * SIZE], one[SIZE];
    fill_random(q, sizeof q / sizeof *q);
    fill_random(k, sizeof k / sizeof *k);
    fill_random(v, sizeof v / sizeof *v);
    ln_attention_f32_args a = {.shape = {BATCH, HEADS, HEADS, QUERIES, KEYS, SIZE},
                               .q = q,
                               .k = k,
                               .v = v,
                               .q_stride = SIZE,
                               .k_stride = SIZE,
                               .v_stride = SIZE,
                               .y = y,
                               .y_stride = SIZE,
                               .q_head = QUERIES * SIZE,
                               .k_head = KEYS * SIZE,
                               .v_head = KEYS * SIZE,
                               .y_head = QUERIES * SIZE,
                               .q_image = HEADS * QUERIES * SIZE,
                               .k_image = HEADS * KEYS * SIZE,
                               .v_image = HEADS * KEYS * SIZE,
                               .y_image = HEADS * QUERIES * SIZE,
                               .scale = 0.5f,
                               .is_causal = true,
                               .keys_before = KEYS - QUERIES};
    float *workspace = calloc(ln_attention_f32_workspace(&a.shape), sizeof *workspace);
    CHECK_NOT_NULL(workspace);
    FOR_EACH_ISA(isa)
    {
        ln_attention_f32(isa, &a, workspace, NULL);
        for (size_t h = 0; h < BATCH * HEADS; h++) {
            for (size_t i = 0; i < QUERIES; i++) {
                ln_attention_f32_args lone = {.shape = {1, 1, 1, 1, KEYS - QUERIES + i + 1, SIZE},
                                              .q = q + (h * QUERIES + i) * SIZE,
                                              .k = k + h * KEYS * SIZE,
                                              .v = v + h * KEYS * SIZE,
                                              .q_stride = SIZE,
                                              .k_stride = SIZE,
                                              .v_stride = SIZE,
                                              .y = one,
                                              .y_stride = SIZE,
                                              .scale = 0.5f};
                ln_attention_f32(isa, &lone, workspace, NULL);
                check_same_bits("in front", isa, y + (h * QUERIES + i) * SIZE, one, SIZE);
            }
        }
    }
    free(workspace);
}

TEST(what_cannot_be_computed_is_refused)
{
    CHECK_FAILS(ln_attention_f32_check(&(ln_attention_f32_shape){1, 3, 2, 1, 1, 1}), LN_INVALID);
    CHECK_FAILS(ln_attention_f32_check(&(ln_attention_f32_shape){1, 1, 1, 1, 1, 0}), LN_INVALID);
    CHECK_FAILS(ln_attention_f32_check(&(ln_attention_f32_shape){1, 1, 1, 1, 1u << 30, 64}),
                LN_LIMIT);
}

TEST_LIST(sizes_around_every_tile_are_right, threads_and_blocks_change_no_bit,
          a_query_alone_gives_the_same_bits, heads_may_stand_in_front,
          a_masked_key_takes_no_part_and_a_query_without_keys_is_nan,
          what_cannot_be_computed_is_refused)
