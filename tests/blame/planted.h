// SPDX-License-Identifier: Apache-2.0
// An arch with faults: kernels of `ref`, some of which are changed after they have run.

#ifndef LN_TESTS_BLAME_PLANTED_H
#define LN_TESTS_BLAME_PLANTED_H

#include <math.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "desc/rule.h"
#include "tests/test.h"

static inline float *planted_output(ln_op_arg *op_arg, int *out_len)
{
    ln_tensor_entry *dst =
        ln_tensor_list_find_entry(op_arg->tensors_out, op_arg->tensor_table, "dst");
    *out_len = dst->tensor->len;
    return dst->tensor->data;
}

static inline const float *planted_input(ln_op_arg *op_arg)
{
    ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src");
    return src->tensor->data;
}

// Negative numbers leak through.
static inline void planted_relu(ln_op_arg *op_arg)
{
    int len;
    float *y = planted_output(op_arg, &len);
    const float *x = planted_input(op_arg);
    for (int i = 0; i < len; i++)
        y[i] = x[i] < 0 && x[i] >= -0.25f ? 0 : x[i];
}

// NaN becomes a number.
static inline void planted_sigmoid(ln_op_arg *op_arg)
{
    int len;
    float *y = planted_output(op_arg, &len);
    const float *x = planted_input(op_arg);
    for (int i = 0; i < len; i++)
        y[i] = x[i] != x[i] ? 0 : (float)(1 / (1 + exp(-(double)x[i])));
}

// The last element of a long result is forgotten.
static inline void planted_lrelu(ln_op_arg *op_arg)
{
    int len;
    float *y = planted_output(op_arg, &len);
    const float *x = planted_input(op_arg);
    double slope = (double)ln_param_list_find(op_arg->params, "negslope")->value_float;
    for (int i = 0; i < len; i++)
        y[i] = x[i] >= 0 ? x[i] : (float)(slope * (double)x[i]);
    if (len >= 16)
        y[len - 1] = 99;
}

// Right, but its source is not what it was.
static inline void planted_elew(ln_op_arg *op_arg)
{
    ln_op_find("elew_ref")->run(op_arg);
    ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src1");
    ((float *)src->tensor->data)[0] += 1;
}

static inline void planted_softmax(ln_op_arg *op_arg)
{
    ln_op_fail(op_arg, LN_INTERNAL, "planted: this kernel gives up");
}

#define PLANTED_COUNT 5

static struct planted_arch {
    ln_op ops[PLANTED_COUNT];
    ln_op_arg args[PLANTED_COUNT];
    ln_op_info infos[PLANTED_COUNT];
    ln_arg_info outs[PLANTED_COUNT][2];
    char types[PLANTED_COUNT][32];
    ln_op *list[PLANTED_COUNT + 1];
    ln_arch arch;
    ln_rule_set *rules;
} planted;

static char planted_name[] = "planted";

// Registers arch `planted` with the faulty kernels whose names are in `faults` ("relu sigmoid").
static inline void plant(const char *faults)
{
    static const struct {
        const char *name;
        ln_op_func run;
    } kernels[PLANTED_COUNT] = {{"relu", planted_relu},
                                {"sigmoid", planted_sigmoid},
                                {"lrelu", planted_lrelu},
                                {"elew", planted_elew},
                                {"softmax", planted_softmax}};
    const char *path = LN_BUILD_DIR "/planted.rules";
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fputs("lower * => *_planted\n", file);
    CHECK_EQ(fclose(file), 0);
    CHECK_OK(ln_arch_init());
    memset(&planted, 0, sizeof planted);
    CHECK_OK(ln_rule_set_read(path, &planted.rules));
    size_t count = 0;
    for (size_t i = 0; i < PLANTED_COUNT; i++) {
        char base_type[32], padded[128], wanted[32];
        snprintf(padded, sizeof padded, " %s ", faults);
        snprintf(wanted, sizeof wanted, " %s ", kernels[i].name);
        if (!strstr(padded, wanted))
            continue;
        // What `ref` does not compute by this name is as the abstract operator says.
        snprintf(base_type, sizeof base_type, "%s_ref", kernels[i].name);
        if (!ln_op_find(base_type))
            snprintf(base_type, sizeof base_type, "%s", kernels[i].name);
        snprintf(planted.types[count], sizeof planted.types[count], "%s_planted", kernels[i].name);
        planted.ops[count] = *ln_op_find(base_type);
        planted.args[count] = *planted.ops[count].op_arg;
        planted.infos[count] = *planted.args[count].info;
        planted.outs[count][0] = planted.infos[count].outs[0];
        planted.outs[count][0].mtype = LN_MEM_CPU;
        planted.infos[count].outs = planted.outs[count];
        planted.args[count].info = &planted.infos[count];
        planted.args[count].optype = planted.types[count];
        planted.args[count].arch = planted_name;
        planted.ops[count].op_arg = &planted.args[count];
        planted.ops[count].run = kernels[i].run;
        planted.list[count] = &planted.ops[count];
        count++;
    }
    planted.arch = (ln_arch){.arch_name = planted_name,
                             .reg_ops = planted.list,
                             .mem_type = LN_MEM_CPU,
                             .fallbacks = "ref",
                             .rules = planted.rules};
    CHECK_OK(ln_arch_register(&planted.arch));
}

static inline void unplant(void)
{
    CHECK_OK(ln_arch_unregister("planted"));
    ln_rule_set_destroy(planted.rules);
    ln_arch_cleanup();
}

#endif
