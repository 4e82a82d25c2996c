// SPDX-License-Identifier: Apache-2.0
// The plan checker: one good plan, and one broken in each way there is.

#include <lightnet/plan.h>

#include <stdbool.h>

#include "tests/test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { W, X, T, V, C, P, Q, SCRATCH, Y, G, VALUE_COUNT };
enum { CONV, RESHAPE, LEFT, RIGHT, CONCAT, RELU, UPLOAD, STEP_COUNT };

// What one operand may be written over by one result, in place.
static const ln_plan_over only_pair[] = {{0, 0}};

typedef struct model {
    ln_plan_value values[VALUE_COUNT];
    ln_plan_step steps[STEP_COUNT];
    uint32_t lists[STEP_COUNT][4]; // reads, then writes
    ln_plan plan;
} model;

#define STEP(name, reads, writes, how)                                                             \
    {                                                                                              \
        .op = name, .read_count = reads, .write_count = writes, .aliasing = how                    \
    }

// w: weights. x: input. conv: t from x and w, with scratch. v names t. p and q are made inside c.
// relu makes y in place of c. g is on another device.
static void make_good(model *m)
{
    static const uint32_t all_lists[STEP_COUNT][4] = {{X, W, T, SCRATCH}, {T, V}, {V, P}, {V, Q},
                                                      {P, Q, C},          {C, Y}, {Y, G}};
    *m = (model){
        .values = {[W] = {"w", 64, 100, LN_MEM_CPU, 1, 0, 6, NULL, 0, 0, 0, 0},
                   [X] = {"x", 192, 64, LN_MEM_CPU, 0, 0, 6, NULL, 1, 0, 0, 0},
                   [T] = {"t", 256, 128, LN_MEM_CPU, 0, 0, 3, NULL, 0, 0, 0, 0},
                   [V] = {"v", 256, 128, LN_MEM_CPU, 0, 1, 3, "t", 0, 0, 0, 0},
                   [C] = {"c", 384, 100, LN_MEM_CPU, 0, 2, 6, NULL, 0, 0, 0, 0},
                   [P] = {"p", 384, 50, LN_MEM_CPU, 0, 2, 4, "c", 0, 0, 0, 0},
                   [Q] = {"q", 434, 50, LN_MEM_CPU, 0, 3, 4, "c", 0, 0, 0, 0},
                   [SCRATCH] = {"scratch", 384, 64, LN_MEM_CPU, 0, 0, 0, NULL, 0, 0, 0, 0},
                   [Y] = {"y", 384, 100, LN_MEM_CPU, 0, 5, 6, "c", 0, 1, 0, 0},
                   [G] = {"g", 64, 100, LN_MEM_CUDA, 0, 6, 6, NULL, 0, 1, 0, 0}},
        .steps = {[CONV] = STEP("conv", 2, 2, LN_PLAN_APART),
                  [RESHAPE] = STEP("reshape", 1, 1, LN_PLAN_VIEW),
                  [LEFT] = STEP("left", 1, 1, LN_PLAN_APART),
                  [RIGHT] = STEP("right", 1, 1, LN_PLAN_APART),
                  [CONCAT] = STEP("concat", 2, 1, LN_PLAN_VIEW),
                  [RELU] = STEP("relu", 1, 1, LN_PLAN_IN_PLACE),
                  [UPLOAD] = STEP("upload", 1, 1, LN_PLAN_APART)},
    };
    m->plan =
        (ln_plan){.values = m->values,
                  .value_count = VALUE_COUNT,
                  .steps = m->steps,
                  .step_count = STEP_COUNT,
                  .totals = {[LN_MEM_CPU] = {192, 320, 512, 0}, [LN_MEM_CUDA] = {64, 128, 192, 0}}};
    memcpy(m->lists, all_lists, sizeof all_lists);
    for (size_t s = 0; s < STEP_COUNT; s++) {
        m->steps[s].reads = m->lists[s];
        m->steps[s].writes = m->lists[s] + m->steps[s].read_count;
    }
    m->steps[RELU].overs = only_pair;
    m->steps[RELU].over_count = 1;
}

TEST(a_good_plan_passes)
{
    model m;
    make_good(&m);
    CHECK_OK(ln_plan_check(&m.plan));
}

TEST(an_empty_plan_passes)
{
    const ln_plan empty = {0};
    CHECK_OK(ln_plan_check(&empty));
    CHECK_FAILS(ln_plan_check(NULL), LN_INVALID);
}

TEST(a_plan_without_steps_passes)
{
    const ln_plan_value values[] = {
        {"x", 64, 0, LN_MEM_CPU, 0, 0, 0, NULL, 1, 1, 0, 0},
        {"z", 64, 64, LN_MEM_CPU, 0, 0, 0, NULL, 1, 0, 0, 0},
    };
    const ln_plan plan = {
        .values = values, .value_count = 2, .totals = {[LN_MEM_CPU] = {64, 64, 128, 0}}};
    CHECK_OK(ln_plan_check(&plan));
}

// ---- Broken plans: how, and what the message must name ----

typedef struct broken {
    const char *why;
    void (*break_it)(model *m);
    const char *message[3];
} broken;

#define BREAK(name) static void name(model *m)

BREAK(no_name)
{
    m->values[T].name = NULL;
}
BREAK(same_name)
{
    m->values[T].name = "x";
}
BREAK(no_offset)
{
    m->values[V].offset = 0;
}
BREAK(misaligned)
{
    m->values[T].offset += 4;
}
BREAK(overflowing_offset)
{
    m->values[T].offset = SIZE_MAX - 63;
}
BREAK(overflowing_size)
{
    m->values[T].byte_count = SIZE_MAX;
}
BREAK(no_memory_type)
{
    m->values[T].mtype = LN_MEM_NONE;
}
BREAK(unknown_memory_type)
{
    m->values[T].mtype = (ln_mem_type)9;
}
BREAK(ends_before_start)
{
    m->values[C].last_step = 1;
}
BREAK(lives_too_long)
{
    m->values[T].last_step = 7;
}
BREAK(static_input)
{
    m->values[W].is_input = 1;
}
BREAK(no_op)
{
    m->steps[LEFT].op = NULL;
}
BREAK(no_list)
{
    m->steps[LEFT].reads = NULL;
}
BREAK(bad_index)
{
    m->lists[LEFT][0] = VALUE_COUNT;
}
BREAK(bad_aliasing)
{
    m->steps[LEFT].aliasing = (ln_plan_aliasing)4;
}
BREAK(no_values)
{
    m->plan.values = NULL;
}
BREAK(unknown_owner)
{
    m->values[V].owner = "nobody";
}
BREAK(own_owner)
{
    m->values[V].owner = "v";
}
BREAK(owner_circle)
{
    m->values[C].owner = "y";
    m->values[P].owner = NULL;
}
BREAK(view_before_owner)
{
    m->values[V].offset = 192;
}
BREAK(view_after_owner)
{
    m->values[Q].byte_count = 51;
}
BREAK(view_elsewhere)
{
    m->values[V].mtype = LN_MEM_CUDA;
}
BREAK(half_static_view)
{
    m->values[V].is_static = 1;
}
BREAK(view_outlives_owner)
{
    m->values[V].last_step = 4;
}
BREAK(in_the_reserved_bytes)
{
    m->values[W].offset = 128;
    m->values[W].byte_count = 64;
    m->plan.totals[LN_MEM_CPU] = (ln_plan_totals){0, 512, 512, 0};
}
BREAK(static_region_overlapped)
{
    m->values[X].offset = 128;
}
BREAK(static_in_workspace)
{
    m->values[W].offset = 192;
}
BREAK(shrunk_arena)
{
    m->plan.totals[LN_MEM_CPU] = (ln_plan_totals){192, 256, 448, 0};
}
BREAK(slack_in_arena)
{
    m->plan.totals[LN_MEM_CPU] = (ln_plan_totals){192, 384, 576, 0};
}
BREAK(slack_in_static)
{
    for (int i = 0; i < VALUE_COUNT; i++) {
        if (m->values[i].mtype == LN_MEM_CPU && i != W)
            m->values[i].offset += 64;
    }
    m->plan.totals[LN_MEM_CPU] = (ln_plan_totals){256, 320, 576, 0};
}
BREAK(wrong_peak)
{
    m->plan.totals[LN_MEM_CPU].peak_byte_count = 500;
}
BREAK(overflowing_totals)
{
    m->plan.totals[LN_MEM_CPU] = (ln_plan_totals){SIZE_MAX, 513, 512, 0};
}
BREAK(totals_of_unused_type)
{
    m->plan.totals[LN_MEM_DPU] = (ln_plan_totals){64, 0, 64, 0};
}
BREAK(input_dies)
{
    m->values[X].last_step = 3;
}
BREAK(input_comes_late)
{
    m->values[X].first_step = 1;
}
BREAK(output_dies)
{
    m->values[Y].last_step = 5;
}
BREAK(static_dies)
{
    m->values[W].last_step = 5;
}
BREAK(read_after_death)
{
    m->values[T].last_step = 2;
    m->values[V].last_step = 2;
}
BREAK(write_before_birth)
{
    m->values[P].first_step = 3;
}
BREAK(overlap)
{
    m->values[C].offset = m->values[P].offset = m->values[Y].offset = 320;
    m->values[Q].offset = 370;
    m->plan.totals[LN_MEM_CPU] = (ln_plan_totals){192, 256, 448, 0};
}
BREAK(swapped_offsets)
{
    m->values[X].offset = 256;
    m->values[T].offset = 192;
    m->values[V].offset = 192;
}
BREAK(input_overlapped)
{
    m->values[SCRATCH].offset = 192;
}
BREAK(read_before_write)
{
    m->lists[RESHAPE][0] = Q;
    m->values[Q].first_step = 1;
    m->values[C].first_step = 1;
}
BREAK(second_write)
{
    m->lists[RIGHT][1] = P;
}
BREAK(input_written)
{
    m->lists[LEFT][1] = X;
}
BREAK(output_never_written)
{
    m->steps[UPLOAD].write_count = 0;
}
BREAK(concat_misses_a_part)
{
    m->values[Q].offset = 433;
    m->values[P].byte_count = 49;
}
BREAK(parts_overlap)
{
    m->values[P].byte_count = 51;
}
BREAK(outputs_overlap)
{
    m->steps[LEFT].write_count = 2;
    m->steps[RIGHT].write_count = 0;
    m->lists[LEFT][2] = Q;
    m->values[Q].first_step = 2;
    m->values[Q].offset = 433;
}
BREAK(relu_is_not_in_place)
{
    m->steps[RELU].aliasing = LN_PLAN_APART;
}
BREAK(in_place_elsewhere)
{
    m->values[Y].offset = 388;
    m->values[Y].byte_count = 96;
}
BREAK(read_after_in_place)
{
    m->lists[UPLOAD][0] = C;
}
BREAK(view_of_other_bytes)
{
    m->steps[UPLOAD].aliasing = LN_PLAN_VIEW;
}
BREAK(static_from_input)
{
    m->lists[CONV][2] = W;
    m->lists[CONV][1] = X;
    m->steps[RESHAPE].read_count = 0;
    m->steps[RESHAPE].writes = m->lists[RESHAPE];
    m->steps[RESHAPE].write_count = 2;
    m->steps[RESHAPE].aliasing = LN_PLAN_APART;
    m->values[T].first_step = 1;
}

BREAK(not_over)
{
    m->steps[RELU].over_count = 0;
}
BREAK(over_another)
{
    static const uint32_t lists[] = {Q, C, Y};
    m->steps[RELU].reads = lists;
    m->steps[RELU].read_count = 2;
    m->steps[RELU].writes = lists + 2;
    m->values[Q].last_step = RELU;
}
BREAK(over_twice)
{
    static const uint32_t lists[] = {C, C, Y};
    m->steps[RELU].reads = lists;
    m->steps[RELU].read_count = 2;
    m->steps[RELU].writes = lists + 2;
}
BREAK(over_nothing)
{
    static const ln_plan_over pair[] = {{0, 1}};
    m->steps[RELU].overs = pair;
}
BREAK(over_without_list)
{
    m->steps[LEFT].over_count = 1;
}
BREAK(over_out_of_order)
{
    static const ln_plan_over pairs[] = {{0, 0}, {0, 0}};
    m->steps[RELU].overs = pairs;
    m->steps[RELU].over_count = 2;
}

static const broken all_broken[] = {
    {"no name", no_name, {"value 2"}},
    {"same name", same_name, {"two values", "'x'"}},
    {"no offset", no_offset, {"'v' has no offset"}},
    {"misaligned", misaligned, {"'t' [260, 388) is not aligned"}},
    {"overflowing offset", overflowing_offset, {"'t'", "overflow"}},
    {"overflowing size", overflowing_size, {"'t'", "overflow"}},
    {"no memory type", no_memory_type, {"'t' has memory type 0"}},
    {"unknown memory type", unknown_memory_type, {"'t' has memory type 9"}},
    {"ends before start", ends_before_start, {"'c' lives from step 2 to 1"}},
    {"lives too long", lives_too_long, {"'t' lives from step 0 to 7 of 7"}},
    {"static input", static_input, {"'w' is an input and static"}},
    {"no op", no_op, {"step 2"}},
    {"no list", no_list, {"step 2 'left'"}},
    {"bad index", bad_index, {"step 2 'left' reads value 10 of 10"}},
    {"bad aliasing", bad_aliasing, {"step 2 'left'", "aliasing 4"}},
    {"no values", no_values, {"not both lists"}},
    {"unknown owner", unknown_owner, {"'nobody' of 'v'"}},
    {"own owner", own_owner, {"'v' is its own owner"}},
    {"owner circle", owner_circle, {"circle", "'c'"}},
    {"view before owner", view_before_owner, {"'v' [192, 320)", "owner 't' [256, 384)"}},
    {"view after owner", view_after_owner, {"'q' [434, 485)", "owner 'c' [384, 484)"}},
    {"view elsewhere", view_elsewhere, {"'v' is in LN_MEM_CUDA", "'t' in LN_MEM_CPU"}},
    {"half static view", half_static_view, {"'v'", "'t'", "static"}},
    {"view outlives owner",
     view_outlives_owner,
     {"'v' lives from step 1 to 4", "'t'", "only from 0 to 3"}},
    {"in the reserved bytes", in_the_reserved_bytes, {"LN_MEM_CPU", "reserved"}},
    {"static region overlapped", static_region_overlapped, {"'x' [128, 192)", "[192, 512)"}},
    {"static in workspace", static_in_workspace, {"'w' [192, 292)", "static region [64, 192)"}},
    {"shrunk arena", shrunk_arena, {"'c' [384, 484)", "[192, 448)"}},
    {"slack in arena", slack_in_arena, {"LN_MEM_CPU", "576", "512"}},
    {"slack in static", slack_in_static, {"LN_MEM_CPU", "256", "192"}},
    {"wrong peak", wrong_peak, {"192", "320", "500"}},
    {"overflowing totals", overflowing_totals, {"LN_MEM_CPU", "513", "512"}},
    {"totals of unused type", totals_of_unused_type, {"LN_MEM_DPU", "64"}},
    {"input dies", input_dies, {"input 'x' lives to step 3"}},
    {"input comes late", input_comes_late, {"input 'x' lives from step 1"}},
    {"output dies", output_dies, {"output 'y' lives to step 5"}},
    {"static dies", static_dies, {"static value 'w' lives to step 5"}},
    {"read after death", read_after_death, {"step 3 'right' reads 'v'", "1 to 2"}},
    {"write before birth", write_before_birth, {"step 2 'left' writes 'p'", "3 to 4"}},
    {"overlap", overlap, {"'t' [256, 384)", "'c' [320, 420)", "step 2"}},
    {"swapped offsets", swapped_offsets, {"'t' [192, 320)", "'x' [256, 320)", "step 0"}},
    {"input overlapped", input_overlapped, {"'x' [192, 256)", "'scratch' [192, 256)", "step 0"}},
    {"read before write", read_before_write, {"step 1 'reshape' reads 'q' [434, 484) before"}},
    {"second write", second_write, {"step 3 'right' writes 'p'", "already"}},
    {"input written", input_written, {"step 2 'left' writes 'x'", "already"}},
    {"output never written", output_never_written, {"output 'g'"}},
    {"concat misses a part",
     concat_misses_a_part,
     {"step 4 'concat' makes the view 'c' [384, 484)", "does not read"}},
    {"parts overlap",
     parts_overlap,
     {"step 4 'concat' needs 'p' [384, 435)", "'q' [434, 484)", "step 3 'right'"}},
    {"outputs overlap", outputs_overlap, {"step 2 'left'", "'p' [384, 434)", "'q' [433, 483)"}},
    {"relu is not in place", relu_is_not_in_place, {"step 5 'relu'", "'c'", "'y'"}},
    {"in place elsewhere",
     in_place_elsewhere,
     {"step 5 'relu'", "'c' [384, 484)", "'y' [388, 484)"}},
    {"not over", not_over, {"step 5 'relu' writes 'y' [384, 484) over 'c'", "operand 1"}},
    {"over another", over_another, {"step 5 'relu' writes 'y'", "over 'c'", "operand 2"}},
    {"over twice", over_twice, {"step 5 'relu' writes 'y'", "over 'c'", "operand 2"}},
    {"over nothing", over_nothing, {"step 5 'relu'", "result 0 of 1", "operand 1 of 1"}},
    {"over without list", over_without_list, {"step 2 'left'", "without a list"}},
    {"over out of order", over_out_of_order, {"step 5 'relu'", "out of order"}},
    {"read after in place",
     read_after_in_place,
     {"step 6 'upload' needs 'c'", "'y' [384, 484)", "step 5 'relu'"}},
    {"view of other bytes",
     view_of_other_bytes,
     {"step 6 'upload' makes the view 'g' [64, 164)", "does not read"}},
    {"static from input", static_from_input, {"step 0 'conv'", "'w'", "'x'"}},
};

TEST(each_broken_plan_is_found_and_its_culprit_named)
{
    for (size_t i = 0; i < COUNT(all_broken); i++) {
        model m;
        make_good(&m);
        all_broken[i].break_it(&m);
        ln_error_clear();
        ln_status status = ln_plan_check(&m.plan);
        bool is_named = status == LN_INVALID;
        for (int k = 0; k < 3 && all_broken[i].message[k]; k++)
            is_named = is_named && strstr(ln_error_message(), all_broken[i].message[k]);
        if (!is_named)
            fail_msg("%s: %s: \"%s\"", all_broken[i].why, ln_status_name(status),
                     ln_error_message());
    }
}

// Declared lifetimes agree with each other and with the offsets, but a view's owner is dead: only
// following the bytes shows it.
TEST(wrong_lifetimes_that_agree_with_each_other_are_found)
{
    const uint32_t a = 0, b = 1, v = 2;
    const ln_plan_value values[] = {
        {"a", 64, 64, LN_MEM_CPU, 0, 0, 2, NULL, 0, 0, 0, 0},
        {"b", 64, 64, LN_MEM_CPU, 0, 1, 1, "a", 0, 0, 0, 0},
        {"v", 64, 64, LN_MEM_CPU, 0, 2, 2, "a", 0, 1, 0, 0},
    };
    ln_plan_step steps[] = {
        {.op = "make", .writes = &a, .write_count = 1},
        {.op = "spoil", .writes = &b, .write_count = 1},
        {.op = "show",
         .reads = &a,
         .read_count = 1,
         .writes = &v,
         .write_count = 1,
         .aliasing = LN_PLAN_VIEW},
    };
    const ln_plan plan = {.values = values,
                          .value_count = 3,
                          .steps = steps,
                          .step_count = 3,
                          .totals = {[LN_MEM_CPU] = {64, 64, 128, 0}}};
    CHECK_FAILS(ln_plan_check(&plan), LN_INVALID);
    CHECK_MESSAGE("step 2 'show' needs 'a' [64, 128), but bytes [64, 128) belong to 'b' [64, 128), "
                  "written by step 1 'spoil'");
}

// join: c from p, which is made in it, and q, which is not. p and c are read afterwards.
static void make_join(model *m)
{
    static const uint32_t all_lists[4][4] = {{0, 1}, {0, 2}, {1, 2, 3}, {1, 3, 4}};
    *m = (model){
        .values = {{"x", 64, 64, LN_MEM_CPU, 0, 0, 3, NULL, 1, 0, 0, 0},
                   {"p", 192, 64, LN_MEM_CPU, 0, 0, 3, "c", 0, 0, 0, 0},
                   {"q", 320, 32, LN_MEM_CPU, 0, 1, 2, NULL, 0, 0, 0, 0},
                   {"c", 192, 96, LN_MEM_CPU, 0, 0, 3, NULL, 0, 0, 0, 0},
                   {"y", 128, 64, LN_MEM_CPU, 0, 3, 3, NULL, 0, 1, 0, 0}},
        .steps = {STEP("left", 1, 1, LN_PLAN_APART), STEP("right", 1, 1, LN_PLAN_APART),
                  STEP("join", 2, 1, LN_PLAN_JOIN), STEP("use", 2, 1, LN_PLAN_APART)},
    };
    m->plan = (ln_plan){.values = m->values,
                        .value_count = 5,
                        .steps = m->steps,
                        .step_count = 4,
                        .totals = {[LN_MEM_CPU] = {64, 320, 384, 0}}};
    memcpy(m->lists, all_lists, sizeof all_lists);
    for (size_t s = 0; s < 4; s++) {
        m->steps[s].reads = m->lists[s];
        m->steps[s].writes = m->lists[s] + m->steps[s].read_count;
    }
}

TEST(joined_parts_stay_what_they_are_and_the_rest_is_written)
{
    model m;
    make_join(&m);
    CHECK_OK(ln_plan_check(&m.plan));

    m.steps[2].aliasing = LN_PLAN_APART; // would write over the part it reads
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("step 2 'join'");
    make_join(&m);
    m.steps[2].aliasing = LN_PLAN_VIEW; // would leave out what is not in place
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("makes the view 'c' [192, 288)");
    make_join(&m);
    m.values[1].owner = NULL; // then it is only by chance in the same place
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("'p' [192, 256)");
    make_join(&m);
    m.steps[2].write_count = 0;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("step 2 'join' joins values, but writes 0");
}

TEST(a_joined_part_does_not_stick_out)
{
    model m;
    make_join(&m);
    m.values[4].owner = m.values[1].owner = m.values[3].owner = "x";
    m.values[0] = (ln_plan_value){"x", 64, 320, LN_MEM_CPU, 0, 0, 3, NULL, 0, 0, 0, 0};
    m.values[1].offset = 160; // 32 bytes of it are before 'c'
    m.values[2] = (ln_plan_value){"q", 384, 32, LN_MEM_CPU, 0, 1, 2, NULL, 0, 0, 0, 0};
    m.steps[0].read_count = m.steps[1].read_count = 0;
    m.plan.totals[LN_MEM_CPU] = (ln_plan_totals){64, 384, 448, 0};
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("step 2 'join' joins 'p' [160, 224), which is partly in 'c' [192, 288)");
}

// What is stamped between the parts belongs to the whole: a part that was not joined is gone.
TEST(what_lies_between_joined_parts_is_overwritten)
{
    model m;
    make_join(&m);
    m.values[2] = (ln_plan_value){"q", 256, 32, LN_MEM_CPU, 0, 1, 3, "c", 0, 0, 0, 0};
    m.plan.totals[LN_MEM_CPU] = (ln_plan_totals){64, 256, 320, 0};
    CHECK_OK(ln_plan_check(&m.plan));
    m.steps[2].read_count = 1;
    m.lists[2][1] = 3; // joins p alone
    m.steps[2].writes = m.lists[2] + 1;
    m.lists[3][0] = 2; // reads q afterwards
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("step 3 'use' needs 'q' [256, 288), but bytes [256, 288) belong to 'c'");
}

TEST(static_values_may_be_made_from_static_values)
{
    const uint32_t raw = 0, packed = 1, x = 2, y = 3, reads[] = {2, 1};
    const ln_plan_value values[] = {
        {"raw", 64, 64, LN_MEM_CPU, 1, 0, 1, NULL, 0, 0, 0, 0},
        {"packed", 128, 64, LN_MEM_CPU, 1, 0, 1, NULL, 0, 0, 0, 0},
        {"x", 192, 64, LN_MEM_CPU, 0, 0, 1, NULL, 1, 0, 0, 0},
        {"y", 256, 64, LN_MEM_CPU, 0, 1, 1, NULL, 0, 1, 0, 0},
    };
    ln_plan_step steps[] = {
        {.op = "pack", .reads = &raw, .read_count = 1, .writes = &packed, .write_count = 1},
        {.op = "conv", .reads = reads, .read_count = 2, .writes = &y, .write_count = 1},
    };
    const ln_plan plan = {.values = values,
                          .value_count = 4,
                          .steps = steps,
                          .step_count = 2,
                          .totals = {[LN_MEM_CPU] = {192, 128, 320, 0}}};
    CHECK_OK(ln_plan_check(&plan));
    steps[0].reads = &x;
    CHECK_FAILS(ln_plan_check(&plan), LN_INVALID);
    CHECK_MESSAGE("'packed' from 'x'");
    ln_plan_step swapped[] = {steps[1], steps[0]};
    swapped[1].reads = &raw;
    const ln_plan late = {.values = values,
                          .value_count = 4,
                          .steps = swapped,
                          .step_count = 2,
                          .totals = {[LN_MEM_CPU] = {192, 128, 320, 0}}};
    CHECK_FAILS(ln_plan_check(&late), LN_INVALID);
}

// Weights are packed while loading, in the workspace of nobody, and a convolution reads the result.
typedef struct load_model {
    ln_plan_value values[5];
    ln_plan_step steps[4];
    uint32_t lists[4][3];
    ln_plan plan;
} load_model;

enum { RAW, FOLDED, PACKED, INPUT, RESULT };

static void make_load_model(load_model *m)
{
    *m = (load_model){
        .values = {[RAW] = {"raw", 64, 64, LN_MEM_CPU, 1, 0, 1, NULL, 0, 0, 1, 0},
                   [FOLDED] = {"folded", 128, 64, LN_MEM_CPU, 1, 1, 2, NULL, 0, 0, 1, 0},
                   [PACKED] = {"packed", 64, 64, LN_MEM_CPU, 1, 0, 3, NULL, 0, 0, 0, 0},
                   [INPUT] = {"x", 128, 64, LN_MEM_CPU, 0, 0, 3, NULL, 1, 0, 0, 0},
                   [RESULT] = {"y", 192, 64, LN_MEM_CPU, 0, 3, 3, NULL, 0, 1, 0, 0}},
        .steps = {STEP("create", 0, 1, LN_PLAN_APART), STEP("fold", 1, 1, LN_PLAN_APART),
                  STEP("pack", 1, 1, LN_PLAN_APART), STEP("conv", 2, 1, LN_PLAN_APART)},
        .lists = {{RAW}, {RAW, FOLDED}, {FOLDED, PACKED}, {INPUT, PACKED, RESULT}}};
    m->plan = (ln_plan){.values = m->values,
                        .value_count = 5,
                        .steps = m->steps,
                        .step_count = 4,
                        .totals = {[LN_MEM_CPU] = {128, 128, 256, 192}}};
    for (size_t s = 0; s < 4; s++) {
        m->steps[s].reads = m->lists[s];
        m->steps[s].writes = m->lists[s] + m->steps[s].read_count;
    }
}

TEST(values_are_there_while_loading_for_static_steps_alone)
{
    load_model m;
    make_load_model(&m);
    CHECK_OK(ln_plan_check(&m.plan));
    m.lists[3][1] = FOLDED;
    m.values[FOLDED].last_step = 3;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("'folded' [128, 192) in a run");

    make_load_model(&m);
    m.lists[1][0] = INPUT;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("'folded' from 'x'");

    make_load_model(&m);
    m.values[FOLDED].offset = 64;
    m.plan.totals[LN_MEM_CPU].load_byte_count = 128;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("overlap and are both alive at step 1");

    make_load_model(&m);
    m.plan.totals[LN_MEM_CPU].load_byte_count = 128;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("loading has 128 bytes, its values end at 192");

    make_load_model(&m);
    m.values[RAW].is_static = 0;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("'raw' is there while loading only, but not static");

    make_load_model(&m);
    m.steps[0].write_count = 0;
    CHECK_FAILS(ln_plan_check(&m.plan), LN_INVALID);
    CHECK_MESSAGE("before it is written");
}

TEST_LIST(a_good_plan_passes, an_empty_plan_passes, a_plan_without_steps_passes,
          each_broken_plan_is_found_and_its_culprit_named,
          wrong_lifetimes_that_agree_with_each_other_are_found,
          joined_parts_stay_what_they_are_and_the_rest_is_written, a_joined_part_does_not_stick_out,
          what_lies_between_joined_parts_is_overwritten,
          static_values_may_be_made_from_static_values,
          values_are_there_while_loading_for_static_steps_alone)
