// SPDX-License-Identifier: Apache-2.0
// The table of operators: nothing of the abstract ones is missing, and nothing is there that does
// not work.

#include <lightnet/arch.h>
#include <lightnet/op_info.h>

#include "desc/rule.h"
#include "ir/op_rows.h"
#include "tests/oom.h"
#include "tests/test.h"

extern ln_op_rows ln_ops_ref, ln_ops_none;
extern const ln_rule_set ln_rules_core;

static ln_op **ref_ops, **none_ops;
static ln_rule_set *core_rules;

static void open_ops(void)
{
    CHECK_OK(ln_rule_set_open(&ln_rules_core, &core_rules));
    CHECK_OK(ln_op_rows_open(&ln_ops_ref, &ref_ops));
    CHECK_OK(ln_op_rows_open(&ln_ops_none, &none_ops));
}

static void close_ops(void)
{
    ln_rule_set_destroy(core_rules);
    ln_op_rows_close(&ln_ops_none);
    ln_op_rows_close(&ln_ops_ref);
}

// Their outputs are views, or filled by the caller.
static int has_nothing_to_do(const char *optype)
{
    static const char *const names[] = {"input", "output", "reshape", "forward"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(optype, names[i]) == 0)
            return 1;
    return 0;
}

// The variant of `ref`; NULL: none.
static const ln_op *find(const char *abstract)
{
    char optype[LN_MAX_NAME_LEN];
    snprintf(optype, sizeof optype, "%s_ref", abstract);
    for (ln_op **op = ref_ops; *op; op++)
        if (strcmp((*op)->op_arg->optype, optype) == 0)
            return *op;
    return NULL;
}

// The library describes it; programs register what computes it, or the core does.
static int is_left_to_others(const char *optype)
{
    if (strcmp(optype, "ImageDecoder") == 0)
        return 1;
    return !find(optype) && ln_rule_set_has_root(core_rules, optype);
}

static size_t count(ln_op **ops)
{
    size_t n = 0;
    while (ops[n])
        n++;
    return n;
}

TEST(every_abstract_operator_runs)
{
    open_ops();
    size_t left_count = 0;
    for (ln_op **abstract = none_ops; *abstract; abstract++) {
        const char *optype = (*abstract)->op_arg->optype;
        const ln_op *op = find(optype);
        if (is_left_to_others(optype)) {
            CHECK_NULL(op);
            left_count++;
            continue;
        }
        if (!op)
            fail_msg("there is no %s_ref", optype);
        CHECK_STR_EQ(op->op_arg->arch, "ref");
        if (!op->run && !op->static_run && !has_nothing_to_do(optype))
            fail_msg("%s_ref does nothing", optype);
    }
    CHECK_EQ(count(ref_ops) + left_count, count(none_ops));
    close_ops();
}

// Same names, in the same order, so that a model changes nothing but the type. Workspace may be
// added.
TEST(arguments_are_those_of_the_abstract_operator)
{
    open_ops();
    for (ln_op **abstract = none_ops; *abstract; abstract++) {
        const ln_op_arg *arg = (*abstract)->op_arg;
        if (is_left_to_others(arg->optype))
            continue;
        const ln_op *op = find(arg->optype);
        CHECK_NOT_NULL(op);
        const char **pairs[][2] = {{arg->in_arg_names, op->op_arg->in_arg_names},
                                   {arg->out_arg_names, op->op_arg->out_arg_names},
                                   {arg->param_arg_names, op->op_arg->param_arg_names}};
        for (size_t i = 0; i < 3; i++) {
            size_t k = 0;
            for (; pairs[i][0][k] && pairs[i][1][k]; k++)
                CHECK_STR_EQ(pairs[i][0][k], pairs[i][1][k]);
            CHECK_NULL(pairs[i][0][k]);
            const ln_arg_info *outs = op->op_arg->info->outs;
            while (i == 1 && pairs[i][1][k] && (outs[k].flags & LN_ARG_SCRATCH))
                k++;
            CHECK_NULL(pairs[i][1][k]);
        }
    }
    close_ops();
}

TEST(out_of_memory_gives_no_operators)
{
    OOM_SWEEP(n)
    {
        ln_op **ops;
        if (ln_op_rows_open(&ln_ops_ref, &ops) == LN_OK)
            ln_op_rows_close(&ln_ops_ref);
        else
            CHECK_NULL(ops);
    }
}

TEST_LIST(every_abstract_operator_runs, arguments_are_those_of_the_abstract_operator,
          out_of_memory_gives_no_operators)
