// SPDX-License-Identifier: Apache-2.0
// Orders of steps: right for any graph, and near the best of all orders for small ones.

#include "plan/order.h"

#include <stdbool.h>
#include <time.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

enum { MAX_STEPS = 20000, MAX_LIST = 4 };

typedef struct model {
    ln_plan_value values[MAX_STEPS + 1];
    uint32_t owners[MAX_STEPS + 1];
    uint32_t makers[MAX_STEPS + 1];
    ln_plan_step steps[MAX_STEPS];
    uint32_t reads[MAX_STEPS][MAX_LIST];
    uint32_t writes[MAX_STEPS];
    size_t value_count;
    size_t step_count;
} model;

static model m; // too large for the stack

// ---- Models ----

// Value 0 is an input, made by step 0.
static void start_model(void)
{
    memset(&m, 0, sizeof m);
    m.values[0] = (ln_plan_value){.byte_count = 64, .mtype = LN_MEM_CPU, .is_input = 1};
    m.steps[0] = (ln_plan_step){.op = "input"};
    m.value_count = m.step_count = 1;
}

static ln_plan_step *add_step(void)
{
    size_t s = m.step_count++;
    m.steps[s] = (ln_plan_step){.op = "op", .reads = m.reads[s], .writes = &m.writes[s]};
    return &m.steps[s];
}

static void add_read(uint32_t i)
{
    size_t s = m.step_count - 1;
    m.reads[s][m.steps[s].read_count++] = i;
    m.values[i].is_output = 0;
}

static uint32_t add_write(size_t units)
{
    size_t s = m.step_count - 1;
    uint32_t i = (uint32_t)m.value_count++;
    m.values[i] = (ln_plan_value){.byte_count = 64 * units, .mtype = LN_MEM_CPU, .is_output = 1};
    m.owners[i] = i;
    m.makers[i] = (uint32_t)s;
    m.writes[s] = i;
    m.steps[s].write_count = 1;
    return i;
}

static uint32_t add_op(uint32_t x, size_t units)
{
    add_step();
    add_read(x);
    return add_write(units);
}

static uint32_t add_sum(uint32_t x, uint32_t y, size_t units)
{
    add_step();
    add_read(x);
    add_read(y);
    return add_write(units);
}

static void add_print(uint32_t x)
{
    int is_output = m.values[x].is_output;
    add_step()->op = "print";
    add_read(x);
    m.values[x].is_output = is_output;
}

static uint32_t pick(test_random *random)
{
    size_t n = m.value_count;
    return (uint32_t)(test_random_below(random, 3) && n > 6 ? n - 1 - test_random_below(random, 6)
                                                            : test_random_below(random, n));
}

static void add_random_step(test_random *random)
{
    switch (test_random_below(random, 8)) {
    case 0: add_print(pick(random)); break;
    case 1: {
        uint32_t x = pick(random);
        uint32_t y = add_op(x, m.values[x].byte_count / 64);
        m.owners[y] = x;
        m.steps[m.step_count - 1].aliasing = LN_PLAN_VIEW;
        m.values[y].is_input = 0;
        break;
    }
    case 2:
    case 3: add_sum(pick(random), pick(random), 1 + test_random_below(random, 30)); break;
    default: add_op(pick(random), 1 + test_random_below(random, 30));
    }
}

// ---- What an order needs ----

static uint32_t root_of(uint32_t i)
{
    while (m.owners[i] != i)
        i = m.owners[i];
    return i;
}

// The most units of memory at one step.
static size_t peak_of(const uint32_t *order)
{
    static uint32_t last[MAX_STEPS + 1];
    static bool is_kept[MAX_STEPS + 1];
    memset(last, 0, sizeof last);
    memset(is_kept, 0, sizeof is_kept);
    for (uint32_t i = 0; i < m.value_count; i++)
        is_kept[root_of(i)] = is_kept[root_of(i)] || m.values[i].is_output || m.values[i].is_input;
    for (uint32_t n = 0; n < m.step_count; n++) {
        const ln_plan_step *step = &m.steps[order[n]];
        for (size_t k = 0; k < step->read_count; k++)
            last[root_of(step->reads[k])] = n;
        for (size_t k = 0; k < step->write_count; k++)
            if (last[root_of(step->writes[k])] < n)
                last[root_of(step->writes[k])] = n;
    }
    size_t alive = 0, peak = 0;
    for (uint32_t n = 0; n < m.step_count; n++) {
        const ln_plan_step *step = &m.steps[order[n]];
        for (size_t k = 0; k < step->write_count; k++)
            if (m.owners[step->writes[k]] == step->writes[k])
                alive += m.values[step->writes[k]].byte_count / 64;
        peak = alive > peak ? alive : peak;
        for (uint32_t i = 0; i < m.value_count; i++)
            if (m.owners[i] == i && last[i] == n && !is_kept[i] && m.makers[i] != 0)
                alive -= m.values[i].byte_count / 64;
    }
    return peak;
}

static void check_order(const uint32_t *order)
{
    static bool is_done[MAX_STEPS];
    uint32_t last_print = 0;
    memset(is_done, 0, sizeof is_done);
    for (size_t n = 0; n < m.step_count; n++) {
        const ln_plan_step *step = &m.steps[order[n]];
        CHECK(order[n] < m.step_count && !is_done[order[n]]);
        is_done[order[n]] = true;
        for (size_t k = 0; k < step->read_count; k++)
            CHECK(is_done[m.makers[step->reads[k]]]);
        if (step->write_count == 0 && step->read_count > 0) {
            CHECK(order[n] > last_print);
            last_print = order[n];
        }
    }
}

static ln_status find_order(ln_order_way way, uint32_t *order)
{
    return ln_plan_order(m.values, m.owners, m.makers, m.value_count, m.steps, m.step_count, way,
                         order);
}

static size_t best_of_ways(uint32_t *order)
{
    size_t best = SIZE_MAX;
    for (int way = 0; way < LN_ORDER_WAYS; way++) {
        CHECK_OK(find_order((ln_order_way)way, order));
        check_order(order);
        size_t peak = peak_of(order);
        best = peak < best ? peak : best;
    }
    return best;
}

// ---- Claims ----

TEST(branches_are_computed_one_after_the_other)
{
    uint32_t order[16];
    start_model();
    uint32_t a = add_op(0, 100), b = add_op(0, 100), c = add_op(0, 100);
    a = add_op(a, 1);
    b = add_op(b, 1);
    c = add_op(c, 1);
    add_sum(add_sum(a, b, 1), c, 1);
    for (int way = 0; way < LN_ORDER_WAYS; way++) {
        CHECK_OK(find_order((ln_order_way)way, order));
        check_order(order);
    }
    CHECK_EQ(best_of_ways(order), 102); // two of the results are joined before the last branch
}

// Sethi and Ullman: what needs much comes first, as long as little else is held.
TEST(the_branch_that_needs_the_most_comes_first)
{
    uint32_t order[16];
    start_model();
    uint32_t a = add_op(0, 10);
    uint32_t b = add_op(add_op(0, 100), 10);
    add_sum(a, b, 1);
    CHECK_OK(find_order(LN_ORDER_DEEPEST, order));
    check_order(order);
    CHECK_EQ(peak_of(order), 110);
}

TEST(what_is_seen_elsewhere_keeps_its_order)
{
    uint32_t order[16];
    start_model();
    uint32_t a = add_op(0, 50), b = add_op(0, 1);
    add_print(a);
    add_print(b);
    add_print(0);
    for (int way = 0; way < LN_ORDER_WAYS; way++) {
        CHECK_OK(find_order((ln_order_way)way, order));
        check_order(order);
    }
}

TEST(random_orders_are_right)
{
    static uint32_t order[MAX_STEPS];
    test_random random = test_random_start();
    size_t lower = 0;
    for (int g = 0; g < 500; g++) {
        start_model();
        for (size_t n = 1 + test_random_below(&random, 60); n > 0; n--)
            add_random_step(&random);
        for (uint32_t s = 0; s < m.step_count; s++)
            order[s] = s;
        size_t given = peak_of(order);
        lower += best_of_ways(order) < given;
    }
    print_message("%zu of 500 random models need less\n", lower);
    CHECK(lower > 250);
}

// All orders of the steps that are left, depth first.
static void search_all(uint32_t *order, size_t count, uint32_t done, size_t *best)
{
    if (count == m.step_count) {
        size_t peak = peak_of(order);
        *best = peak < *best ? peak : *best;
        return;
    }
    for (uint32_t s = 0; s < m.step_count; s++) {
        bool is_ready = !(done >> s & 1);
        for (size_t k = 0; k < m.steps[s].read_count; k++)
            is_ready = is_ready && (done >> m.makers[m.steps[s].reads[k]] & 1);
        if (!is_ready)
            continue;
        order[count] = s;
        search_all(order, count + 1, done | 1u << s, best);
    }
}

TEST(half_of_small_models_get_the_best_of_all_orders)
{
    enum { MODELS = 400 };
    uint32_t order[16];
    test_random random = test_random_start();
    size_t at_best = 0;
    double above = 0;
    for (int g = 0; g < MODELS; g++) {
        start_model();
        while (m.step_count < 6) {
            uint32_t x = pick(&random), y = pick(&random);
            size_t units = 1 + test_random_below(&random, 30);
            if (test_random_below(&random, 3))
                add_op(x, units);
            else
                add_sum(x, y, units);
        }
        size_t best = SIZE_MAX, got = best_of_ways(order);
        search_all(order, 0, 0, &best);
        CHECK(got >= best);
        at_best += got == best;
        above += (double)(got - best) / (double)best;
    }
    print_message("%zu of %d are the best, %.2f %% above on average\n", at_best, MODELS,
                  100 * above / MODELS);
    CHECK(at_best * 2 >= MODELS);
    CHECK(above / MODELS < 0.1);
}

TEST(twenty_thousand_steps_are_fast)
{
    static uint32_t order[MAX_STEPS];
    test_random random = test_random_start();
    start_model();
    while (m.step_count < MAX_STEPS)
        add_random_step(&random);
    clock_t start = clock();
    for (int way = 0; way < LN_ORDER_WAYS; way++)
        CHECK_OK(find_order((ln_order_way)way, order));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    check_order(order);
    print_message("%zu steps: %.3f s\n", m.step_count, seconds);
    CHECK(seconds < 2);
}

TEST(steps_that_wait_for_each_other_are_refused)
{
    uint32_t order[16];
    start_model();
    uint32_t a = add_op(0, 1), b = add_op(a, 1);
    m.reads[1][0] = b;
    for (int way = 0; way < LN_ORDER_WAYS; way++) {
        CHECK_FAILS(find_order((ln_order_way)way, order), LN_INVALID);
        CHECK_MESSAGE("wait for each other");
    }
    m.reads[1][0] = a;
    CHECK_FAILS(find_order(LN_ORDER_NEWEST, order), LN_INVALID);
    m.reads[1][0] = 1000;
    CHECK_FAILS(find_order(LN_ORDER_NEWEST, order), LN_INVALID);
    m.reads[1][0] = 0;
    m.owners[a] = b;
    m.owners[b] = a;
    CHECK_FAILS(find_order(LN_ORDER_NEWEST, order), LN_INVALID);
    m.owners[a] = 1000;
    CHECK_FAILS(find_order(LN_ORDER_NEWEST, order), LN_INVALID);
}

TEST(every_allocation_may_fail)
{
    uint32_t order[64];
    test_random random = test_random_start();
    start_model();
    while (m.step_count < 40)
        add_random_step(&random);
    OOM_SWEEP(n)
    {
        ln_status status = find_order(LN_ORDER_DEEPEST, order);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
}

TEST_LIST(branches_are_computed_one_after_the_other, the_branch_that_needs_the_most_comes_first,
          what_is_seen_elsewhere_keeps_its_order, random_orders_are_right,
          half_of_small_models_get_the_best_of_all_orders, twenty_thousand_steps_are_fast,
          steps_that_wait_for_each_other_are_refused, every_allocation_may_fail)
