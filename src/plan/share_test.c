// SPDX-License-Identifier: Apache-2.0
// Random models with choices: what is chosen the checker accepts, with the aliasing that follows
// from the places; in small models it is as good as the best of all combinations.

#include "plan/share.h"

#include <stdbool.h>

#include "plan/layout.h"
#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

enum { MAX_VALUES = 200, MAX_STEPS = 90, MAX_LIST = 6, MAX_CHOICES = 400 };

typedef struct model {
    ln_plan_value values[MAX_VALUES];
    uint32_t owners[MAX_VALUES];
    uint8_t aligns[MAX_VALUES];
    char names[MAX_VALUES][8];
    ln_plan_step steps[MAX_STEPS];
    uint32_t lists[MAX_STEPS][2][MAX_LIST];
    ln_plan_over overs[MAX_STEPS][MAX_LIST]; // of the only result, over operands
    ln_share choices[MAX_CHOICES];
    size_t choice_count;
    ln_plan plan;
} model;

static test_random source;

static uint32_t random_below(uint32_t n)
{
    return (uint32_t)test_random_below(&source, n);
}

// ---- Models ----

static uint32_t add_value(model *m, size_t byte_count)
{
    uint32_t i = (uint32_t)m->plan.value_count++;
    snprintf(m->names[i], sizeof m->names[i], "v%u", i);
    m->values[i] = (ln_plan_value){
        .name = m->names[i], .byte_count = byte_count, .mtype = LN_MEM_CPU, .is_output = 1};
    m->owners[i] = i;
    m->aligns[i] = 4;
    return i;
}

static ln_plan_step *add_step(model *m, const char *op)
{
    size_t s = m->plan.step_count++;
    m->steps[s] = (ln_plan_step){
        .op = op, .reads = m->lists[s][0], .writes = m->lists[s][1], .overs = m->overs[s]};
    return &m->steps[s];
}

static void add_read(model *m, uint32_t i)
{
    ln_plan_step *step = &m->steps[m->plan.step_count - 1];
    m->lists[m->plan.step_count - 1][0][step->read_count++] = i;
    m->values[i].is_output = 0;
}

static uint32_t add_write(model *m, size_t byte_count)
{
    ln_plan_step *step = &m->steps[m->plan.step_count - 1];
    uint32_t i = add_value(m, byte_count);
    m->lists[m->plan.step_count - 1][1][step->write_count++] = i;
    return i;
}

// Of the last step, for the checker: its result may be over operand `read`.
static void add_over(model *m, uint32_t read)
{
    ln_plan_step *step = &m->steps[m->plan.step_count - 1];
    m->overs[m->plan.step_count - 1][step->over_count++] = (ln_plan_over){0, read};
}

static void add_choice(model *m, ln_share_kind kind, uint32_t inner, uint32_t outer, size_t offset)
{
    m->choices[m->choice_count++] = (ln_share){.kind = kind,
                                               .step = (uint32_t)m->plan.step_count - 1,
                                               .inner = inner,
                                               .outer = outer,
                                               .offset = offset};
}

static uint32_t start_model(model *m)
{
    memset(m, 0, sizeof *m);
    m->plan.values = m->values;
    m->plan.steps = m->steps;
    uint32_t x = add_value(m, 256);
    m->values[x].is_input = 1;
    m->values[x].is_output = 0;
    return x;
}

// ---- What operators do ----

static uint32_t add_plain(model *m, uint32_t x, size_t byte_count)
{
    add_step(m, "conv");
    add_read(m, x);
    return add_write(m, byte_count);
}

static uint32_t add_relu(model *m, uint32_t x)
{
    add_step(m, "relu");
    add_read(m, x);
    uint32_t y = add_write(m, m->values[x].byte_count);
    add_choice(m, LN_SHARE_OVER, y, x, 0);
    add_over(m, 0);
    return y;
}

static uint32_t add_sum(model *m, uint32_t a, uint32_t b)
{
    add_step(m, "sum");
    add_read(m, a);
    add_read(m, b);
    uint32_t y = add_write(m, m->values[a].byte_count);
    add_choice(m, LN_SHARE_OVER, y, a, 0);
    add_over(m, 0);
    if (m->values[b].byte_count == m->values[a].byte_count) {
        add_choice(m, LN_SHARE_OVER, y, b, 0);
        add_over(m, 1);
    }
    return y;
}

// As a convolution with an addend, which alone it reads element by element.
static uint32_t add_residual(model *m, uint32_t x, uint32_t addend)
{
    add_step(m, "residual");
    add_read(m, x);
    add_read(m, addend);
    uint32_t y = add_write(m, m->values[addend].byte_count);
    add_choice(m, LN_SHARE_OVER, y, addend, 0);
    add_over(m, 1);
    return y;
}

static uint32_t add_reshape(model *m, uint32_t x)
{
    add_step(m, "reshape")->aliasing = LN_PLAN_VIEW;
    add_read(m, x);
    uint32_t y = add_write(m, m->values[x].byte_count);
    m->owners[y] = x;
    m->values[y].is_static = m->values[x].is_static;
    return y;
}

static uint32_t add_concat(model *m, const uint32_t *parts, size_t count)
{
    size_t total = 0;
    add_step(m, "concat");
    for (size_t k = 0; k < count; k++) {
        add_read(m, parts[k]);
        total += m->values[parts[k]].byte_count;
    }
    uint32_t y = add_write(m, total);
    total = 0;
    for (size_t k = 0; k < count; k++) {
        size_t first = 0; // a part that is there twice has the place of the first
        while (parts[first] != parts[k])
            first++;
        size_t offset = total;
        for (size_t n = first; n < k; n++)
            offset -= m->values[parts[n]].byte_count;
        add_choice(m, LN_SHARE_AROUND, parts[k], y, offset);
        total += m->values[parts[k]].byte_count;
    }
    return y;
}

// Two halves by one step, or one part.
static uint32_t add_split(model *m, uint32_t x, bool is_slice)
{
    size_t size = m->values[x].byte_count, half = size / 8 * 4;
    add_step(m, "split");
    add_read(m, x);
    uint32_t a = add_write(m, half);
    uint32_t b = is_slice ? a : add_write(m, size - half);
    add_choice(m, LN_SHARE_INSIDE, a, x, is_slice ? size - half : 0);
    if (!is_slice)
        add_choice(m, LN_SHARE_INSIDE, b, x, half);
    return a;
}

// A window of x, which others may overlap.
static uint32_t add_slice(model *m, uint32_t x, size_t offset, size_t byte_count)
{
    add_step(m, "slice");
    add_read(m, x);
    uint32_t a = add_write(m, byte_count);
    add_choice(m, LN_SHARE_INSIDE, a, x, offset);
    return a;
}

// Its description puts the output over the input.
static uint32_t add_fixed(model *m, uint32_t x)
{
    add_step(m, "fixed")->aliasing = LN_PLAN_IN_PLACE;
    add_read(m, x);
    add_over(m, 0);
    uint32_t y = add_write(m, m->values[x].byte_count);
    m->owners[y] = x;
    return y;
}

// ---- Random models ----

static uint32_t pick(const model *m)
{
    uint32_t count = (uint32_t)m->plan.value_count;
    return random_below(3) && count > 5 ? count - 5 + random_below(5) : random_below(count);
}

static uint32_t pick_of_size(const model *m, size_t byte_count)
{
    uint32_t i = pick(m);
    for (uint32_t n = 0; n < m->plan.value_count && m->values[i].byte_count != byte_count; n++)
        i = (i + 1) % (uint32_t)m->plan.value_count;
    return i;
}

static void add_random_step(model *m)
{
    uint32_t x = pick(m), parts[4], count = 1 + random_below(4);
    switch (random_below(10)) {
    case 0: add_relu(m, x); break;
    case 9: add_residual(m, x, random_below(2) ? x : pick(m)); break;
    case 1: add_sum(m, x, pick_of_size(m, m->values[x].byte_count)); break;
    case 2: add_reshape(m, x); break;
    case 3:
    case 4:
        for (uint32_t k = 0; k < count; k++)
            parts[k] = pick(m);
        if (m->values[parts[0]].byte_count < 4000)
            add_concat(m, parts, count);
        break;
    case 5: {
        size_t size = m->values[x].byte_count / 4, offset = random_below((uint32_t)size + 1);
        if (random_below(3))
            add_split(m, x, random_below(2));
        else
            add_slice(m, x, 4 * offset, 4 * random_below((uint32_t)(size - offset) + 1));
        break;
    }
    case 6: {
        uint32_t y = add_plain(m, x, 4 * random_below(80));
        if (random_below(3) == 0) { // and at once over itself, before anybody else reads it
            add_fixed(m, y);
            m->values[y].is_static = 0;
        }
        break;
    }
    default: {
        uint32_t y = add_plain(m, x, 64 * (1 + (size_t)random_below(6)));
        m->values[y].is_static = m->values[x].is_static && random_below(2);
    }
    }
}

// Without readers of what a fixed step has overwritten, which no plan could serve.
static bool is_possible(model *m)
{
    for (size_t s = 0; s < m->plan.step_count; s++) {
        if (m->steps[s].aliasing != LN_PLAN_IN_PLACE)
            continue;
        uint32_t gone = m->steps[s].reads[0];
        for (size_t t = s + 1; t < m->plan.step_count; t++)
            for (size_t k = 0; k < m->steps[t].read_count; k++)
                if (m->steps[t].reads[k] == gone)
                    return false;
    }
    return true;
}

static void make_model(model *m, uint32_t step_count)
{
    do {
        start_model(m);
        if (random_below(2)) {
            uint32_t w = add_value(m, 128);
            m->values[w].is_static = 1;
            m->values[w].is_output = 0;
        }
        while (m->plan.step_count < step_count)
            add_random_step(m);
    } while (!is_possible(m));
    for (uint32_t i = 0; i < m->plan.value_count; i++) {
        if (!m->values[i].is_input && random_below(12) == 0)
            m->values[i].is_output = 1;
    }
    for (size_t s = 0; s < m->plan.step_count; s++) {
        if (m->steps[s].aliasing == LN_PLAN_IN_PLACE)
            m->values[m->steps[s].reads[0]].is_output = 0;
    }
}

// ---- From places to aliasing ----

static uint32_t root_of(const uint32_t *owners, uint32_t i)
{
    while (owners[i] != i)
        i = owners[i];
    return i;
}

static bool is_used(const model *m, const ln_share *c)
{
    return root_of(m->owners, c->inner) == root_of(m->owners, c->outer) &&
           m->values[c->inner].offset == m->values[c->outer].offset + c->offset;
}

static void set_aliasing(model *m)
{
    size_t used[MAX_STEPS][3] = {{0}};
    for (size_t k = 0; k < m->choice_count; k++)
        used[m->choices[k].step][m->choices[k].kind] += is_used(m, &m->choices[k]);
    for (size_t s = 0; s < m->plan.step_count; s++) {
        ln_plan_step *step = &m->steps[s];
        if (used[s][LN_SHARE_INSIDE] && used[s][LN_SHARE_INSIDE] == step->write_count)
            step->aliasing = LN_PLAN_VIEW;
        else if (used[s][LN_SHARE_AROUND])
            step->aliasing = LN_PLAN_JOIN;
        else if (used[s][LN_SHARE_OVER])
            step->aliasing = LN_PLAN_IN_PLACE;
    }
}

static ln_status share(model *m)
{
    ln_share_needs needs;
    return ln_plan_share(m->values, m->owners, m->aligns, m->plan.value_count, m->steps,
                         m->plan.step_count, m->choices, m->choice_count, &needs);
}

static ln_status lay_out(model *m)
{
    LN_TRY(ln_plan_layout(m->values, m->owners, m->plan.value_count, m->steps, m->plan.step_count,
                          m->plan.totals));
    set_aliasing(m);
    return LN_OK;
}

static void copy_model(model *to, const model *from)
{
    memcpy(to, from, sizeof *to);
    to->plan.values = to->values;
    to->plan.steps = to->steps;
    for (size_t s = 0; s < to->plan.step_count; s++) {
        to->steps[s].reads = to->lists[s][0];
        to->steps[s].writes = to->lists[s][1];
        to->steps[s].overs = to->overs[s];
    }
}

static size_t peak_of(const model *m)
{
    return m->plan.totals[LN_MEM_CPU].workspace_byte_count;
}

static void share_and_check(model *m)
{
    CHECK_OK(share(m));
    CHECK_OK(lay_out(m));
    CHECK_OK(ln_plan_check(&m->plan));
}

// ---- Claims ----

TEST(element_wise_chains_need_one_buffer)
{
    static model m;
    uint32_t x = add_plain(&m, start_model(&m), 640);
    for (int k = 0; k < 5; k++)
        x = add_relu(&m, x);
    add_plain(&m, x, 64);
    share_and_check(&m);
    CHECK_EQ(peak_of(&m), 256 + 640 + 64);
    CHECK_EQ(m.steps[1].aliasing, LN_PLAN_IN_PLACE);
}

TEST(inputs_outputs_and_what_is_read_later_are_not_overwritten)
{
    static model m;
    uint32_t x = start_model(&m), a = add_relu(&m, x), b = add_relu(&m, a);
    add_sum(&m, b, a); // a is read after b is made
    share_and_check(&m);
    CHECK_EQ(m.owners[a], a);
    CHECK_EQ(m.owners[b], b);
    CHECK_EQ(m.steps[0].aliasing, LN_PLAN_APART);
    CHECK_EQ(m.steps[1].aliasing, LN_PLAN_APART);
    CHECK_EQ(m.steps[2].aliasing, LN_PLAN_IN_PLACE);

    x = start_model(&m);
    a = add_plain(&m, x, 64);
    b = add_relu(&m, a);
    m.values[a].is_output = 1;
    share_and_check(&m);
    CHECK_EQ(m.owners[b], b);
}

// Lays value `inner` over `outer`, which the planner would not do, in a model without parts.
static void force_over(model *m, uint32_t inner, uint32_t outer)
{
    for (size_t i = 0; i < m->plan.value_count; i++)
        m->values[i].offset = 0;
    m->owners[inner] = outer;
    CHECK_OK(lay_out(m));
}

TEST(an_operand_that_is_read_elsewhere_too_is_not_overwritten)
{
    static model m;
    uint32_t x = start_model(&m), a = add_plain(&m, x, 128), b = add_plain(&m, x, 128);
    uint32_t apart = add_residual(&m, b, a), same = add_residual(&m, apart, apart);
    share_and_check(&m);
    CHECK_EQ(m.owners[apart], a);
    CHECK_EQ(m.owners[same], same);
    CHECK_EQ(m.steps[3].aliasing, LN_PLAN_APART);

    force_over(&m, same, apart);
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("step 3 'residual' writes 'v4'");
    CHECK_MESSAGE("still reads as operand 1");

    x = start_model(&m);
    a = add_plain(&m, x, 128);
    b = add_residual(&m, add_reshape(&m, a), a); // by another name
    share_and_check(&m);
    CHECK_EQ(m.owners[b], b);
    force_over(&m, b, a);
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("still reads as operand 1");

    x = start_model(&m);
    a = add_plain(&m, x, 128);
    b = add_sum(&m, a, a); // element by element both times
    share_and_check(&m);
    CHECK_EQ(m.owners[b], a);
}

TEST(another_name_of_the_input_keeps_it_from_being_overwritten)
{
    static model m;
    uint32_t x = start_model(&m), a = add_plain(&m, x, 128), r = add_reshape(&m, a);
    uint32_t b = add_relu(&m, a);
    add_sum(&m, b, r);
    share_and_check(&m);
    CHECK_EQ(m.owners[b], b);
}

TEST(parts_are_made_in_their_whole)
{
    static model m;
    uint32_t x = start_model(&m), parts[2];
    parts[0] = add_relu(&m, add_plain(&m, x, 640)); // the chain before it too
    parts[1] = add_plain(&m, x, 320);
    uint32_t c = add_concat(&m, parts, 2);
    add_plain(&m, c, 64);
    share_and_check(&m);
    CHECK_EQ(m.owners[parts[0]], c);
    CHECK_EQ(m.owners[parts[1]], c);
    CHECK_EQ(root_of(m.owners, m.lists[0][1][0]), c);
    CHECK_EQ(m.steps[3].aliasing, LN_PLAN_JOIN);
    CHECK_EQ(peak_of(&m), 256 + 960 + 64);
}

TEST(wholes_lie_in_wholes)
{
    static model m;
    uint32_t x = start_model(&m), all = add_plain(&m, x, 64);
    for (int k = 0; k < 6; k++) {
        uint32_t parts[2] = {all, add_plain(&m, all, 64)};
        all = add_concat(&m, parts, 2);
    }
    share_and_check(&m);
    CHECK_EQ(peak_of(&m), 256 + 7 * 64);
    for (uint32_t i = 1; i < all; i++)
        CHECK_EQ(root_of(m.owners, i), all);
}

TEST(of_two_wholes_one_gets_the_part)
{
    static model m;
    uint32_t x = start_model(&m), p = add_plain(&m, x, 64), q = add_plain(&m, x, 64);
    uint32_t first[2] = {p, q}, second[2] = {q, p};
    add_concat(&m, first, 2);
    add_concat(&m, second, 2);
    share_and_check(&m);
    CHECK(m.owners[p] != p || m.owners[q] != q);
}

TEST(a_part_that_is_there_twice_is_copied_once)
{
    static model m;
    uint32_t x = start_model(&m), p = add_plain(&m, x, 64), parts[] = {p, p};
    uint32_t c = add_concat(&m, parts, 2);
    share_and_check(&m);
    CHECK_EQ(m.owners[p], c);
    CHECK_EQ(m.values[p].offset, m.values[c].offset);
    CHECK_EQ(m.steps[1].aliasing, LN_PLAN_JOIN);
}

TEST(inputs_and_static_values_stay_out_of_wholes)
{
    static model m;
    uint32_t x = start_model(&m), w = add_value(&m, 64), parts[] = {x, w};
    m.values[w].is_static = 1;
    m.values[w].is_output = 0;
    add_concat(&m, parts, 2);
    share_and_check(&m);
    CHECK_EQ(m.owners[x], x);
    CHECK_EQ(m.owners[w], w);
}

TEST(halves_are_views)
{
    static model m;
    uint32_t x = start_model(&m), a = add_plain(&m, x, 640), left = add_split(&m, a, false);
    add_plain(&m, left, 64);
    add_plain(&m, left + 1, 64);
    share_and_check(&m);
    CHECK_EQ(m.owners[left], a);
    CHECK_EQ(m.owners[left + 1], a);
    CHECK_EQ(m.values[left + 1].offset, m.values[a].offset + 320);
    CHECK_EQ(m.steps[1].aliasing, LN_PLAN_VIEW);
}

// The step reads both windows, so writing over one would change the other under its hands.
TEST(of_overlapping_windows_that_a_step_reads_none_is_overwritten)
{
    static model m;
    uint32_t x = start_model(&m), a = add_plain(&m, x, 256);
    uint32_t left = add_slice(&m, a, 0, 128), right = add_slice(&m, a, 32, 128);
    uint32_t y = add_sum(&m, left, right);
    share_and_check(&m);
    CHECK_EQ(m.owners[left], a);
    CHECK_EQ(m.owners[right], a);
    CHECK_EQ(m.owners[y], y);
    CHECK_EQ(m.steps[3].aliasing, LN_PLAN_APART);

    // Neighbours that do not overlap are free.
    x = start_model(&m);
    a = add_plain(&m, x, 256);
    left = add_slice(&m, a, 0, 128);
    right = add_slice(&m, a, 128, 128);
    y = add_sum(&m, left, right);
    share_and_check(&m);
    CHECK_EQ(root_of(m.owners, y), a);
    CHECK_EQ(m.steps[3].aliasing, LN_PLAN_IN_PLACE);
}

// A view of a large value that lives long would keep all of it alive.
TEST(a_choice_that_costs_memory_is_not_taken)
{
    static model m;
    uint32_t x = start_model(&m), big = add_plain(&m, x, 6400), part = add_split(&m, big, true);
    m.values[part].byte_count = 64;
    m.choices[0].offset = 0;
    uint32_t y = add_plain(&m, x, 6400);
    add_sum(&m, add_plain(&m, y, 64), part);
    share_and_check(&m);
    CHECK_EQ(m.owners[part], part);
    CHECK_EQ(peak_of(&m), 256 + 6400 + 64 + 64);
}

TEST(places_keep_to_the_size_of_elements)
{
    static model m;
    uint32_t x = start_model(&m), parts[] = {add_plain(&m, x, 3), add_plain(&m, x, 64)};
    m.aligns[parts[0]] = 1;
    uint32_t c = add_concat(&m, parts, 2); // of one byte each; parts[1] has 4 at odd places
    share_and_check(&m);
    CHECK_EQ(m.owners[parts[0]], c);
    CHECK_EQ(m.owners[parts[1]], parts[1]);
}

// ---- Properties ----

TEST(what_is_shared_the_checker_accepts_and_it_costs_no_memory)
{
    enum { MODELS = 3000 };
    static model m, apart;
    double saved = 0;
    size_t taken = 0, most = 0;
    source = test_random_start();
    for (int g = 0; g < MODELS; g++) {
        make_model(&m, 1 + random_below(40));
        copy_model(&apart, &m);
        CHECK_OK(lay_out(&apart));
        CHECK_OK(share(&m));
        CHECK_OK(lay_out(&m));
        ln_status status = ln_plan_check(&m.plan);
        if (status != LN_OK)
            fail_msg("model %d: %s", g, ln_error_message());
        for (size_t k = 0; k < m.choice_count; k++)
            taken += is_used(&m, &m.choices[k]);
        most += m.choice_count;
        saved += 1 - (double)peak_of(&m) / (double)(peak_of(&apart) ? peak_of(&apart) : 1);
    }
    print_message("%d models: %zu of %zu choices taken, %.1f %% less memory on average\n", MODELS,
                  taken, most, 100 * saved / MODELS);
    CHECK(taken * 4 > most);
    CHECK(saved / MODELS > 0.1);
}

// The least bytes alive at one step.
static size_t bound_of(const model *m)
{
    size_t most = 0;
    for (uint32_t s = 0; s < m->plan.step_count; s++) {
        size_t alive = 0;
        for (size_t i = 0; i < m->plan.value_count; i++) {
            const ln_plan_value *v = &m->values[i];
            if (m->owners[i] == i && !v->is_static && v->first_step <= s && s <= v->last_step)
                alive += (v->byte_count + 63) / 64 * 64;
        }
        most = alive > most ? alive : most;
    }
    return most;
}

// Takes any subset of the choices, one owner each and inputs apart, and lets the checker judge.
static size_t best_by_force(const model *given)
{
    static model m;
    size_t best = SIZE_MAX;
    for (uint32_t subset = 0; subset < 1u << given->choice_count; subset++) {
        copy_model(&m, given);
        bool is_clash = false;
        for (size_t k = 0; k < m.choice_count; k++) {
            const ln_share *c = &m.choices[k];
            if (!(subset >> k & 1))
                continue;
            is_clash = is_clash || m.owners[c->inner] != c->inner || m.values[c->inner].is_input;
            m.owners[c->inner] = c->outer;
            m.values[c->inner].offset = c->offset;
        }
        if (is_clash || lay_out(&m) != LN_OK || ln_plan_check(&m.plan) != LN_OK)
            continue;
        size_t bound = bound_of(&m);
        best = bound < best ? bound : best;
    }
    return best;
}

TEST(small_models_get_the_best_of_all_combinations)
{
    enum { MODELS = 400 };
    static model m, given;
    size_t worse = 0;
    double excess = 0;
    source = test_random_start();
    for (int g = 0; g < MODELS; g++) {
        do
            make_model(&given, 2 + random_below(7));
        while (given.choice_count > 9);
        copy_model(&m, &given);
        share_and_check(&m);
        size_t best = best_by_force(&given), got = bound_of(&m);
        worse += got > best;
        excess += best && got > best ? (double)(got - best) / (double)best : 0;
    }
    print_message("%zu of %d models need more than the best combination, %.3f %% on average\n",
                  worse, MODELS, 100 * excess / MODELS);
    CHECK(worse * 20 < MODELS);
    CHECK(excess / MODELS < 0.01);
}

TEST(choices_of_nothing_are_refused)
{
    static model m;
    uint32_t a = add_plain(&m, start_model(&m), 64), b = add_relu(&m, a);
    m.choices[0].outer = 1000;
    CHECK_FAILS(share(&m), LN_INVALID);
    m.choices[0].outer = a;
    m.choices[0].step = 7;
    CHECK_FAILS(share(&m), LN_INVALID);
    m.choices[0].step = 1;
    m.owners[a] = b;
    m.owners[b] = a;
    CHECK_FAILS(share(&m), LN_INVALID);
    CHECK_MESSAGE("circle");
    m.owners[a] = a;
    m.owners[b] = 1000;
    CHECK_FAILS(share(&m), LN_INVALID);
    m.owners[b] = a;
    m.values[b].offset = 1;
    CHECK_FAILS(share(&m), LN_INVALID);
    ln_share_needs needs;
    CHECK_OK(ln_plan_share(NULL, NULL, NULL, 0, NULL, 0, NULL, 0, &needs));
    CHECK_EQ(needs.apart, 0);
}

TEST(every_allocation_may_fail)
{
    static model m, before;
    source = test_random_start();
    make_model(&before, 30);
    OOM_SWEEP(n)
    {
        copy_model(&m, &before);
        ln_status status = share(&m);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        if (status != LN_OK)
            CHECK_MEM_EQ(m.owners, before.owners, sizeof m.owners);
    }
}

// The search ends where no decision needs less than what steps need at one time.
TEST(a_chain_needs_no_search)
{
    static model m;
    m = (model){0};
    uint32_t last = add_value(&m, 64);
    m.values[last].is_input = 1;
    for (uint32_t i = 0; i < MAX_STEPS; i++) {
        add_step(&m, "unary");
        add_read(&m, last);
        uint32_t next = add_write(&m, 64);
        add_choice(&m, LN_SHARE_OVER, next, last, 0);
        last = next;
    }
    ln_share_needs needs;
    CHECK_OK(ln_plan_share(m.values, m.owners, m.aligns, m.plan.value_count, m.steps,
                           m.plan.step_count, m.choices, m.choice_count, &needs));
    CHECK_EQ(needs.shared, 128); // the input, and one that all others are
    CHECK_EQ(needs.apart, 192);
    CHECK_EQ(needs.decision_count, 2); // with all choices, and with none
}

TEST_LIST(element_wise_chains_need_one_buffer,
          inputs_outputs_and_what_is_read_later_are_not_overwritten,
          an_operand_that_is_read_elsewhere_too_is_not_overwritten,
          another_name_of_the_input_keeps_it_from_being_overwritten, parts_are_made_in_their_whole,
          wholes_lie_in_wholes, of_two_wholes_one_gets_the_part,
          a_part_that_is_there_twice_is_copied_once, inputs_and_static_values_stay_out_of_wholes,
          halves_are_views, of_overlapping_windows_that_a_step_reads_none_is_overwritten,
          a_choice_that_costs_memory_is_not_taken, places_keep_to_the_size_of_elements,
          what_is_shared_the_checker_accepts_and_it_costs_no_memory,
          small_models_get_the_best_of_all_combinations, choices_of_nothing_are_refused,
          a_chain_needs_no_search, every_allocation_may_fail)
