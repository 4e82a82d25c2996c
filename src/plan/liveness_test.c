// SPDX-License-Identifier: Apache-2.0
// Lifetimes: readers, outputs, inputs, views, scratch; and records that contradict each other.

#include "plan/liveness.h"

#include "tests/test.h"

#define U32(...)                                                                                   \
    (const uint32_t[])                                                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { X, A, B, C, Y };

// x -> a -> b; c is nobody's; y = b + a
static const ln_plan_step chain[] = {
    {.op = "f", .reads = U32(X), .read_count = 1, .writes = U32(A), .write_count = 1},
    {.op = "g", .reads = U32(A), .read_count = 1, .writes = U32(B, C), .write_count = 2},
    {.op = "h", .reads = U32(B, A), .read_count = 2, .writes = U32(Y), .write_count = 1},
    {.op = "i"},
};

static void make_chain(ln_live_value values[5])
{
    const char *names[] = {"x", "a", "b", "c", "y"};
    for (uint32_t i = 0; i < 5; i++)
        values[i] = (ln_live_value){.name = names[i], .root = i};
    values[X].is_input = true;
    values[Y].is_output = true;
}

static void check_life(const ln_live_value *v, uint32_t first, uint32_t last)
{
    if (v->first_step != first || v->last_step != last)
        fail_msg("'%s' lives from %u to %u, expected %u to %u", v->name, v->first_step,
                 v->last_step, first, last);
}

TEST(a_value_lives_from_its_writer_to_its_last_reader)
{
    ln_live_value v[5];
    make_chain(v);
    CHECK_OK(ln_plan_liveness(v, 5, chain, COUNT(chain)));
    check_life(&v[X], 0, 3);
    check_life(&v[A], 0, 2);
    check_life(&v[B], 1, 2);
    check_life(&v[C], 1, 1);
    check_life(&v[Y], 2, 3);
}

TEST(static_values_live_always)
{
    ln_live_value v[5];
    make_chain(v);
    v[A].is_static = true;
    CHECK_OK(ln_plan_liveness(v, 5, chain, COUNT(chain)));
    check_life(&v[A], 0, 3);
}

TEST(scratch_lives_at_its_step)
{
    ln_live_value v[5];
    make_chain(v);
    v[C].is_scratch = true;
    CHECK_OK(ln_plan_liveness(v, 5, chain, COUNT(chain)));
    check_life(&v[C], 1, 1);
    v[B].is_scratch = true;
    CHECK_FAILS(ln_plan_liveness(v, 5, chain, COUNT(chain)), LN_INVALID);
    CHECK_MESSAGE("step 2 'h' reads the scratch value 2 'b'");
}

TEST(a_root_lives_as_long_as_its_views)
{
    // a and b are halves of c, which step 2 only names; y views c and is the output.
    const ln_plan_step steps[] = {
        {.op = "f", .reads = U32(X), .read_count = 1, .writes = U32(A), .write_count = 1},
        {.op = "g", .reads = U32(X), .read_count = 1, .writes = U32(B), .write_count = 1},
        {.op = "concat", .reads = U32(A, B), .read_count = 2, .writes = U32(C), .write_count = 1},
        {.op = "reshape", .reads = U32(C), .read_count = 1, .writes = U32(Y), .write_count = 1},
        {.op = "end"},
    };
    ln_live_value v[5];
    make_chain(v);
    v[A].root = C;
    v[B].root = A; // a chain is followed
    v[Y].root = C;
    CHECK_OK(ln_plan_liveness(v, 5, steps, COUNT(steps)));
    CHECK_EQ(v[B].root, C);
    check_life(&v[C], 0, 4);
    check_life(&v[A], 0, 2);
    check_life(&v[B], 1, 2);
    check_life(&v[Y], 3, 4);
}

TEST(contradictions_are_refused_and_nothing_changes)
{
    const ln_plan_step twice[] = {{.op = "f", .writes = U32(A, B, C, Y), .write_count = 4},
                                  {.op = "g", .writes = U32(B), .write_count = 1}};
    const ln_plan_step early[] = {
        {.op = "f", .reads = U32(B), .read_count = 1, .writes = U32(A, B, C, Y), .write_count = 4}};
    const ln_plan_step input[] = {{.op = "f", .writes = U32(A, B, C, Y, X), .write_count = 5}};
    const ln_plan_step none[] = {{.op = "f", .writes = U32(A, B, Y), .write_count = 3}};
    const ln_plan_step far_read[] = {{.op = "f", .reads = U32(5), .read_count = 1}};
    const ln_plan_step far_write[] = {{.op = "f", .writes = U32(9), .write_count = 1}};
    const ln_plan_step no_list[] = {{.op = "f", .read_count = 1}};
    const struct {
        const char *why;
        const ln_plan_step *steps;
        size_t count;
        const char *message;
    } rows[] = {
        {"written twice", twice, 2, "step 1 'g' writes value 2 'b' a second time"},
        {"read early", early, 1, "step 0 'f' reads value 2 'b' before"},
        {"input written", input, 1, "writes the input 0 'x'"},
        {"never written", none, 1, "value 3 'c' is never written"},
        {"bad read index", far_read, 1, "reads value 5 of 5"},
        {"bad write index", far_write, 1, "writes value 9 of 5"},
        {"no list", no_list, 1, "without a list"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ln_live_value v[5], before[5];
        make_chain(v);
        memcpy(before, v, sizeof v);
        CHECK_FAILS(ln_plan_liveness(v, 5, rows[i].steps, rows[i].count), LN_INVALID);
        CHECK_MESSAGE(rows[i].message);
        CHECK_MEM_EQ(v, before, sizeof v);
    }
}

TEST(bad_roots_and_flags_are_refused)
{
    ln_live_value v[5];
    make_chain(v);
    v[A].root = 5;
    CHECK_FAILS(ln_plan_liveness(v, 5, chain, COUNT(chain)), LN_INVALID);
    make_chain(v);
    v[A].root = B;
    v[B].root = A;
    CHECK_FAILS(ln_plan_liveness(v, 5, chain, COUNT(chain)), LN_INVALID);
    CHECK_MESSAGE("view of itself");
    make_chain(v);
    v[A].root = B;
    v[B].is_static = true;
    CHECK_FAILS(ln_plan_liveness(v, 5, chain, COUNT(chain)), LN_INVALID);
    make_chain(v);
    v[X].is_static = true;
    CHECK_FAILS(ln_plan_liveness(v, 5, chain, COUNT(chain)), LN_INVALID);
    make_chain(v);
    v[Y].is_scratch = true;
    CHECK_FAILS(ln_plan_liveness(v, 5, chain, COUNT(chain)), LN_INVALID);
    CHECK_FAILS(ln_plan_liveness(NULL, 5, chain, COUNT(chain)), LN_INVALID);
    CHECK_FAILS(ln_plan_liveness(v, 5, NULL, 1), LN_INVALID);
}

TEST(nothing_is_fine)
{
    CHECK_OK(ln_plan_liveness(NULL, 0, NULL, 0));
    ln_live_value input = {.is_input = true};
    CHECK_OK(ln_plan_liveness(&input, 1, NULL, 0));
    check_life(&input, 0, 0);
}

TEST(long_chains_of_views_are_no_problem)
{
    enum { N = 100000 };
    static ln_live_value v[N];
    static uint32_t writes[N];
    for (uint32_t i = 0; i < N; i++) {
        v[i].root = i + 1 < N ? i + 1 : i;
        writes[i] = i;
    }
    const ln_plan_step step = {.op = "f", .writes = writes, .write_count = N};
    CHECK_OK(ln_plan_liveness(v, N, &step, 1));
    CHECK_EQ(v[0].root, N - 1);
}

TEST_LIST(a_value_lives_from_its_writer_to_its_last_reader, static_values_live_always,
          scratch_lives_at_its_step, a_root_lives_as_long_as_its_views,
          contradictions_are_refused_and_nothing_changes, bad_roots_and_flags_are_refused,
          nothing_is_fine, long_chains_of_views_are_no_problem)
