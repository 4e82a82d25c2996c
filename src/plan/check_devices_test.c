// SPDX-License-Identifier: Apache-2.0
// The plan checker on a plan of two memories: a device computes a group while the host works, and
// a `wait` reads all of the group's tensors. Each case breaks the plan in one way.

#include "plan/check.h"

#include "tests/test.h"

// Values and steps, in the order of execution.
enum { X, W, WD, XD, A, B, H, ZD, Y, VALUE_COUNT };
enum { INPUT, CREATE, COPY_W, COPY_X, FIRST, SECOND, HOST, COPY_H, WAIT, COPY_B, STEP_COUNT };

typedef struct model {
    ln_plan_value values[VALUE_COUNT];
    ln_plan_step steps[STEP_COUNT];
    ln_plan plan;
} model;

static const uint32_t only_x[] = {X}, only_w[] = {W}, only_wd[] = {WD}, only_xd[] = {XD},
                      only_a[] = {A}, only_b[] = {B}, only_h[] = {H}, only_zd[] = {ZD},
                      only_y[] = {Y}, xd_wd[] = {XD, WD}, in_flight[] = {XD, A, B};

// name, offset, bytes, memory, static, first and last step, owner, input, output
static const ln_plan_value good_values[VALUE_COUNT] = {
    [X] = {"x", 128, 64, LN_MEM_CPU, 0, 0, 9, NULL, 1, 0, 0, 0},
    [W] = {"w", 64, 64, LN_MEM_CPU, 1, 0, 9, NULL, 0, 0, 0, 0},
    [WD] = {"w_dpu", 64, 64, LN_MEM_DPU, 1, 0, 9, NULL, 0, 0, 0, 0},
    [XD] = {"x_dpu", 128, 64, LN_MEM_DPU, 0, 3, 8, NULL, 0, 0, 0, 0},
    [A] = {"a", 192, 64, LN_MEM_DPU, 0, 4, 8, NULL, 0, 0, 0, 0},
    [B] = {"b", 256, 64, LN_MEM_DPU, 0, 5, 9, NULL, 0, 0, 0, 0},
    [H] = {"h", 192, 64, LN_MEM_CPU, 0, 6, 7, NULL, 0, 0, 0, 0},
    [ZD] = {"z_dpu", 320, 64, LN_MEM_DPU, 0, 7, 9, NULL, 0, 1, 0, 0},
    [Y] = {"y", 192, 64, LN_MEM_CPU, 0, 9, 9, NULL, 0, 1, 0, 0},
};

#define STEP(name, in, out)                                                                        \
    {                                                                                              \
        .op = name, .reads = in, .read_count = sizeof in / sizeof *in, .writes = out,              \
        .write_count = sizeof out / sizeof *out                                                    \
    }

static const ln_plan_step good_steps[STEP_COUNT] = {
    [INPUT] = {.op = "input"},
    [CREATE] = {.op = "create", .writes = only_w, .write_count = 1},
    [COPY_W] = STEP("copy_w", only_w, only_wd),
    [COPY_X] = STEP("copy_x", only_x, only_xd),
    [FIRST] = STEP("first", xd_wd, only_a),
    [SECOND] = STEP("second", only_a, only_b),
    [HOST] = STEP("host", only_x, only_h),
    [COPY_H] = STEP("copy_h", only_h, only_zd),
    [WAIT] = {.op = "wait", .reads = in_flight, .read_count = 3},
    [COPY_B] = STEP("copy_b", only_b, only_y),
};

static void make_good(model *m)
{
    memcpy(m->values, good_values, sizeof good_values);
    memcpy(m->steps, good_steps, sizeof good_steps);
    m->plan =
        (ln_plan){.values = m->values,
                  .value_count = VALUE_COUNT,
                  .steps = m->steps,
                  .step_count = STEP_COUNT,
                  .totals = {[LN_MEM_CPU] = {128, 128, 256, 0}, [LN_MEM_DPU] = {128, 256, 384, 0}}};
}

TEST(a_plan_of_two_memories_passes)
{
    model m;
    make_good(&m);
    CHECK_OK(ln_plan_check(&m.plan));
}

#define BREAK(name) static void name(model *m)

BREAK(copy_over_what_is_in_flight)
{
    m->values[ZD].offset = 192; // where `a` is, which nothing but the wait reads any more
    m->plan.totals[LN_MEM_DPU] = (ln_plan_totals){128, 192, 320, 0};
}
BREAK(copy_over_the_groups_input)
{
    m->values[ZD].offset = 128;
    m->plan.totals[LN_MEM_DPU] = (ln_plan_totals){128, 192, 320, 0};
}
BREAK(life_ends_before_the_wait)
{
    m->values[A].last_step = SECOND;
}
BREAK(constant_of_the_device_overlapped)
{
    m->values[A].offset = 64;
}
BREAK(constant_of_the_device_in_its_workspace)
{
    m->values[WD].offset = 384;
}
BREAK(memory_of_the_device_too_small)
{
    m->plan.totals[LN_MEM_DPU] = (ln_plan_totals){128, 192, 320, 0};
}
BREAK(totals_swapped)
{
    ln_plan_totals cpu = m->plan.totals[LN_MEM_CPU];
    m->plan.totals[LN_MEM_CPU] = m->plan.totals[LN_MEM_DPU];
    m->plan.totals[LN_MEM_DPU] = cpu;
}
BREAK(copy_in_the_wrong_memory)
{
    m->values[XD].mtype = LN_MEM_CPU; // where `x` is
}
BREAK(view_across_memories)
{
    m->values[XD].owner = "x";
}

TEST(broken_plans_of_two_memories_are_refused)
{
    // clang-format off
    static const struct {
        const char *why;
        void (*break_it)(model *m);
        const char *message;
    } cases[] = {
        {"a copy is put where the group still works", copy_over_what_is_in_flight, "'a' [192, 256)"},
        {"a copy is put over the group's input", copy_over_the_groups_input, "'x_dpu' [128, 192)"},
        {"a tensor of the group dies before the wait", life_ends_before_the_wait, "'wait' reads 'a'"},
        {"the device's constant is overwritten", constant_of_the_device_overlapped, "'a' [64, 128)"},
        {"the device's constant is not static", constant_of_the_device_in_its_workspace, "'w_dpu' [384, 448)"},
        {"the device has too little", memory_of_the_device_too_small, "'z_dpu' [320, 384)"},
        {"each memory has the other's totals", totals_swapped, ""},
        {"a copy is in the memory that it comes from", copy_in_the_wrong_memory, "'x'"},
        {"a view in another memory", view_across_memories, "'x_dpu' is in LN_MEM_DPU, but its owner 'x' in LN_MEM_CPU"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        model m;
        make_good(&m);
        cases[i].break_it(&m);
        if (ln_plan_check(&m.plan) == LN_OK)
            fail_msg("%s: accepted", cases[i].why);
        if (!strstr(ln_error_message(), cases[i].message))
            fail_msg("%s: %s", cases[i].why, ln_error_message());
    }
}

TEST_LIST(a_plan_of_two_memories_passes, broken_plans_of_two_memories_are_refused)
