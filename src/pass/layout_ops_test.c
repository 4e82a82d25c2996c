// SPDX-License-Identifier: Apache-2.0
// Where the pass `layout` finds how an operator is written.

#include "pass/layout_build.h"

#include "tests/test.h"

static bool fits(const ln_layout_build *build)
{
    (void)build;
    return true;
}

static ln_status rewrite(ln_layout_build *build)
{
    (void)build;
    return LN_OK;
}

static const ln_layout_op rows[] = {{"own", fits, rewrite}, {NULL, NULL, NULL}};
static const ln_layout_op *const tables[] = {rows, NULL};

TEST(an_arch_brings_the_table_of_its_operators)
{
    char name[] = "flat";
    ln_arch arch = {.arch_name = name, .is_channels_last = 1, .layout_ops = tables};
    CHECK_PTR_EQ(ln_layout_op_find(&arch, "own"), rows);
    CHECK_NOT_NULL(ln_layout_op_find(&arch, "concat")); // as on any arch
    CHECK_NULL(ln_layout_op_find(&arch, "conv2d_nhwc"));
    arch.is_channels_last = 0;
    CHECK_NULL(ln_layout_op_find(&arch, "own"));
}

TEST(an_arch_without_a_table_has_that_of_the_first_arch_with_one)
{
    char name[] = "flat", other_name[] = "other";
    ln_arch arch = {.arch_name = name, .is_channels_last = 1, .layout_ops = tables};
    ln_arch other = {.arch_name = other_name, .is_channels_last = 1};
    CHECK_NULL(ln_layout_op_find(&other, "own"));
    CHECK_OK(ln_arch_register(&arch));
    CHECK_PTR_EQ(ln_layout_op_find(&other, "own"), rows);
    CHECK_OK(ln_arch_unregister("flat"));
    CHECK_NULL(ln_layout_op_find(&other, "own"));
}

TEST_LIST(an_arch_brings_the_table_of_its_operators,
          an_arch_without_a_table_has_that_of_the_first_arch_with_one)
