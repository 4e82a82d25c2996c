// SPDX-License-Identifier: Apache-2.0
// A device that computes conv, act, elew, pool and reshape in groups, of operators that are
// derived.

#ifndef LN_TESTS_API_BOX_DEVICE_H
#define LN_TESTS_API_BOX_DEVICE_H

#include <stdatomic.h>

#include "tests/api/model.h"

typedef struct box_op {
    char type; // the first letter of its core type
    const ln_op *op;
    int at; // of its first tensor among the addresses
} box_op;

typedef struct box_group {
    int count;
    box_op ops[16];
} box_group;

static atomic_int group_runs, ops_run, allocated_bytes; // groups may run in any thread

static inline ln_status box_prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    box_group *group = ln_alloc(sizeof *group);
    *out_group = group;
    if (!group)
        return LN_NO_MEMORY;
    int at = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        CHECK(group->count < 16);
        group->ops[group->count++] = (box_op){op->op_arg->optype[0], op, at};
        at += ln_list_length(op->op_arg->tensors_in) + ln_list_length(op->op_arg->tensors_out);
    }
    return LN_OK;
}

static inline void box_release(void *priv, void *group)
{
    (void)priv;
    ln_free(group);
}

static inline float activate(const ln_op *op, float x)
{
    const ln_param_entry *act = ln_param_list_find(op->op_arg->params, "act");
    return act && ln_streq(act->value_string, "relu") && x < 0 ? 0 : x;
}

// 3 x 3 over a border of zeros, 1 group.
static inline void box_conv(const ln_op *op, tl_tensor *const *t)
{
    const float *x = t[0]->data, *w = t[1]->data;
    int channels = t[0]->dims[1], rows = t[0]->dims[2], columns = t[0]->dims[3];
    int in_count = ln_list_length(op->op_arg->tensors_in), outs = t[1]->dims[0];
    float *y = t[in_count]->data;
    for (int i = 2; i < in_count; i++)
        CHECK_NULL(t[i]);
    for (int i = 0; i < outs * rows * columns; i++) {
        int o = i / (rows * columns), row = i / columns % rows, column = i % columns;
        float sum = 0;
        for (int k = 0; k < channels * 9; k++) {
            int r = row + k / 3 % 3 - 1, c = column + k % 3 - 1;
            if (r >= 0 && r < rows && c >= 0 && c < columns)
                sum += w[o * channels * 9 + k] * x[(k / 9 * rows + r) * columns + c];
        }
        y[i] = activate(op, sum);
    }
}

// 2 x 2 by steps of 2.
static inline void box_pool(const ln_op *op, tl_tensor *const *t)
{
    (void)op;
    const float *x = t[0]->data;
    float *y = t[1]->data;
    int rows = t[1]->dims[2], columns = t[1]->dims[3];
    for (int i = 0; i < t[1]->len; i++) {
        const float *at = x + i / columns * 4 * columns + 2 * (i % columns);
        float a = at[0] > at[1] ? at[0] : at[1];
        float b = at[2 * columns] > at[2 * columns + 1] ? at[2 * columns] : at[2 * columns + 1];
        y[i] = a > b ? a : b;
    }
    CHECK_EQ(t[0]->dims[2], 2 * rows);
}

static inline void box_each(const ln_op *op, tl_tensor *const *t)
{
    int in_count = ln_list_length(op->op_arg->tensors_in);
    float *y = t[in_count]->data;
    for (int i = 0; i < t[in_count]->len; i++) {
        float sum = 0;
        for (int k = 0; k < in_count; k++)
            sum += t[k] ? ((const float *)t[k]->data)[i] : 0;
        y[i] = activate(op, sum);
    }
}

static inline ln_status box_run(void *priv, void *prepared, tl_tensor *const *addresses)
{
    (void)priv;
    const box_group *group = prepared;
    group_runs++;
    for (int i = 0; i < group->count; i++) {
        const box_op *b = &group->ops[i];
        ops_run++;
        switch (b->type) {
        case 'c': box_conv(b->op, addresses + b->at); break;
        case 'p': box_pool(b->op, addresses + b->at); break;
        case 'a':
        case 'e': box_each(b->op, addresses + b->at); break;
        default: // input and reshape: nothing to do
            CHECK(b->type == 'r' ? addresses[b->at]->data == addresses[b->at + 1]->data
                                 : b->type == 'i');
        }
    }
    return LN_OK;
}

static inline void *box_alloc(size_t n)
{
    allocated_bytes += (int)n;
    return ln_alloc_aligned(n, LN_MEM_ALIGN);
}

static const char *const five[] = {"conv(*)", "act(*)", "elew(*)", "pool(*)", "reshape(*)", NULL};
static const char *const five_alone[] = {"input(*)", "act(*)",     "elew(*)",
                                         "pool(*)",  "reshape(*)", NULL};

static inline ln_list *lower_to_box(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)ctx;
    char type[LN_MAX_NAME_LEN];
    snprintf(type, sizeof type, "%.50s_box", op->op_arg->optype);
    *match = ln_streq(op->op_arg->arch, "none") && ln_op_find(type) &&
             ln_streq(ln_op_find(type)->op_arg->arch, "box");
    return *match ? ln_list_append(NULL, ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, type))
                  : NULL;
}

static ln_expander_func ep_funcs[] = {lower_to_box, NULL};

static inline ln_arch box_of(const char *const *core_ops)
{
    return (ln_arch){.arch_name = "box",
                     .ep_funcs = ep_funcs,
                     .fallbacks = "ref",
                     .prepare = box_prepare,
                     .run = box_run,
                     .release = box_release,
                     .core_ops = core_ops};
}

// One whose tensors are all in memory of its own.
static inline ln_arch box_with_memory(void)
{
    static const ln_mem_info mem_info = {.alloc_func = box_alloc,
                                         .free_func = ln_free_aligned,
                                         .memset_func = memset,
                                         .max_size = 1 << 20,
                                         .align_size = LN_MEM_ALIGN};
    ln_arch box = box_of(five_alone);
    box.mem_type = LN_MEM_DPU;
    box.mem_info = &mem_info;
    box.copy_in = box.copy_out = box.copy_within = memmove;
    return box;
}

// ---- Models ----

#define AFTER_CONV                                                                                 \
    "act(src=c | dst=a | act=relu);\n"                                                             \
    "elew(src1=a, src2=c, src3=a | dst=e | elew_op=TL_SUM);\n"                                     \
    "pool(src=e | dst=p | size=[2, 2], stride=[2, 2]);\n"                                          \
    "reshape(src=p | dst=y | dims=[3, 4]);\n"

static const char box_text[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 4, 4]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[3, 2, 3, 3], data=[1, -2, 3, 0, 5, -1, 2, 2, -3, 4, "
    "-4, 1, 0, 2, 1, -1, 3, 2, 1, 1, -2, 2, 0, 1, -1, 1, 1, 2, -2, 3, 1, 0, 1, -1, 2, 4, 1, 2, 3, "
    "-5, 1, 2, 0, 0, 1, -1, 2, 2, 1, 3, -3, 1, 2, 1]);\n"
    "conv(src=x, weight=w | dst=c | padding=[1, 1, 1, 1]);\n" AFTER_CONV;

static const char box_text_alone[] =
    "input(| dst=c | dtype=TL_FLOAT, dims=[1, 3, 4, 4]);\n" AFTER_CONV;

static inline void run_once(ln_context *ctx, const char *input, float y[12])
{
    float x[48];
    for (int i = 0; i < 48; i++)
        x[i] = (float)(i * 29 % 23 - 11);
    CHECK_OK(ln_context_set_data(ctx, input, x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
}

#endif
