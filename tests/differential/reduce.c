// SPDX-License-Identifier: Apache-2.0
// Reduction by trial: each step is kept if the model is still one and still fails.

#include "tests/differential/reduce.h"

#include <string.h>

#include "tests/differential/operators.h"

#define MAX_TRIALS 600

typedef struct reduction {
    model *m, *trial;
    bool (*fails)(void *user, const model *m);
    void *user;
    int trial_count;
} reduction;

static bool keep_if_fails(reduction *r)
{
    if (++r->trial_count > MAX_TRIALS || !model_check(r->trial) || !r->fails(r->user, r->trial))
        return false;
    *r->m = *r->trial;
    return true;
}

static void remove_op(model *m, int at)
{
    memmove(&m->ops[at], &m->ops[at + 1], (size_t)(m->op_count - at - 1) * sizeof m->ops[0]);
    m->op_count--;
}

// Leaves that no operator reads.
static void drop_unread_leaves(model *m)
{
    for (int i = m->op_count - 1; i >= 0; i--) {
        bool is_leaf = m->ops[i].out_count == 1 && m->tensors[m->ops[i].outs[0].tensor].is_leaf;
        if (is_leaf && model_reader_count(m, m->ops[i].outs[0].tensor) == 0)
            remove_op(m, i);
    }
}

static bool drop_op(reduction *r, int at)
{
    *r->trial = *r->m;
    for (int o = 0; o < r->m->ops[at].out_count; o++)
        if (model_reader_count(r->m, r->m->ops[at].outs[o].tensor))
            return false;
    remove_op(r->trial, at);
    drop_unread_leaves(r->trial);
    return keep_if_fails(r);
}

static bool bypass_op(reduction *r, int at, int in)
{
    const model_op *op = &r->m->ops[at];
    *r->trial = *r->m;
    for (int i = 0; i < r->trial->op_count; i++)
        for (int k = 0; k < r->trial->ops[i].in_count; k++)
            if (r->trial->ops[i].ins[k].tensor == op->outs[0].tensor)
                r->trial->ops[i].ins[k].tensor = op->ins[in].tensor;
    remove_op(r->trial, at);
    drop_unread_leaves(r->trial);
    return keep_if_fails(r);
}

// What the operator gives comes from outside.
static bool cut_op(reduction *r, int at)
{
    model_op *op = &r->m->ops[at];
    const model_tensor *y = &r->m->tensors[op->outs[0].tensor];
    if (op->out_count != 1 || model_reader_count(r->m, op->outs[0].tensor) == 0)
        return false;
    *r->trial = *r->m;
    test_random random = {.state = 7};
    leaf l = {.dtype = y->dtype, .ndim = y->ndim, .is_input = true, .low = -2, .high = 2};
    bool is_whole = y->dtype != TL_FLOAT && y->dtype != TL_DOUBLE;
    l.fill = is_whole ? FILL_INTEGERS : FILL_UNIFORM;
    if (is_whole && tl_dtype_min_double(y->dtype) >= 0)
        l.low = 0, l.high = 9;
    memcpy(l.dims, y->dims, sizeof l.dims);
    int tensor = model_add_leaf(r->trial, &random, &l);
    if (tensor < 0)
        return false;
    model_op leaf_op = r->trial->ops[r->trial->op_count - 1];
    r->trial->op_count--;
    r->trial->ops[at] = leaf_op;
    for (int i = 0; i < r->trial->op_count; i++)
        for (int k = 0; k < r->trial->ops[i].in_count; k++)
            if (r->trial->ops[i].ins[k].tensor == op->outs[0].tensor)
                r->trial->ops[i].ins[k].tensor = tensor;
    drop_unread_leaves(r->trial);
    return keep_if_fails(r);
}

static bool reduce_ops(reduction *r)
{
    bool is_changed = false;
    for (int i = r->m->op_count - 1; i >= 0; i--) {
        if (i >= r->m->op_count)
            continue;
        const model_op *op = &r->m->ops[i];
        if (op->out_count && r->m->tensors[op->outs[0].tensor].is_leaf)
            continue;
        bool is_gone = drop_op(r, i);
        for (int k = 0; !is_gone && op->out_count == 1 && k < op->in_count; k++)
            is_gone = bypass_op(r, i, k);
        is_gone = is_gone || cut_op(r, i);
        is_changed = is_changed || is_gone;
    }
    return is_changed;
}

static bool is_leaf_op(const model *m, const model_op *op)
{
    return op->out_count == 1 && m->tensors[op->outs[0].tensor].is_leaf;
}

static bool reduce_details(reduction *r)
{
    bool is_changed = false;
    for (int i = 0; i < r->m->op_count; i++) {
        if (is_leaf_op(r->m, &r->m->ops[i]))
            continue;
        for (int p = r->m->ops[i].param_count - 1; p >= 0; p--) {
            *r->trial = *r->m;
            model_op_drop_param(&r->trial->ops[i], r->m->ops[i].params[p].arg_name);
            is_changed = keep_if_fails(r) || is_changed;
        }
        for (int k = r->m->ops[i].in_count - 1; k > 0; k--) {
            // Leaves that went before it may have brought another operator here.
            if (i >= r->m->op_count || k >= r->m->ops[i].in_count)
                break;
            *r->trial = *r->m;
            model_op *op = &r->trial->ops[i];
            memmove(&op->ins[k], &op->ins[k + 1],
                    (size_t)(op->in_count - k - 1) * sizeof op->ins[0]);
            op->in_count--;
            drop_unread_leaves(r->trial);
            is_changed = keep_if_fails(r) || is_changed;
        }
        if (i >= r->m->op_count)
            break;
        for (int k = r->m->ops[i].out_count - 1; k >= 0 && r->m->ops[i].out_count > 1; k--) {
            *r->trial = *r->m;
            model_op *op = &r->trial->ops[i];
            if (model_reader_count(r->m, op->outs[k].tensor))
                continue;
            memmove(&op->outs[k], &op->outs[k + 1],
                    (size_t)(op->out_count - k - 1) * sizeof op->outs[0]);
            op->out_count--;
            is_changed = keep_if_fails(r) || is_changed;
        }
    }
    return is_changed;
}

// Writes the leaf anew with other dimensions and simple numbers; `step` chooses which.
static void rewrite_leaf(model *m, int at, const int *dims, int step)
{
    model_op *op = &m->ops[at];
    const model_tensor *t = &m->tensors[op->outs[0].tensor];
    char text[1 << 14];
    int len = snprintf(text, sizeof text, "[");
    size_t count = 1;
    for (int d = 0; d < t->ndim; d++) {
        len += snprintf(text + len, sizeof text - (size_t)len, "%s%d", d ? ", " : "", dims[d]);
        count *= (size_t)dims[d];
    }
    snprintf(text + len, sizeof text - (size_t)len, "]");
    model_op_set_param(m, op, "dims", text);
    const char *data = model_op_param(m, op, "data");
    if (step == 0 && data) { // the first numbers
        const char *end = data;
        for (size_t i = 0; i < count && end; i++)
            end = strchr(end + 1, ',');
        if (end && (size_t)(end - data) + 2 < sizeof text) {
            memcpy(text, data, (size_t)(end - data));
            memcpy(text + (end - data), "]", 2);
            model_op_set_param(m, op, "data", text);
        }
        return;
    }
    len = snprintf(text, sizeof text, "[");
    for (size_t i = 0; i < count && (size_t)len + 16 < sizeof text; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%s%d", i ? ", " : "",
                        step == 1 ? 1 : (int)(i % 7) + 1 - 3 * (step == 3));
    snprintf(text + len, sizeof text - (size_t)len, count ? "]" : "0]");
    model_op_set_param(m, op, "data", text);
}

static bool reduce_numbers(reduction *r)
{
    bool is_changed = false;
    for (int i = 0; i < r->m->op_count; i++)
        for (int step = 1; step <= 3 && is_leaf_op(r->m, &r->m->ops[i]); step++) {
            *r->trial = *r->m;
            rewrite_leaf(r->trial, i, r->m->tensors[r->m->ops[i].outs[0].tensor].dims, step);
            if (strcmp(model_op_param(r->trial, &r->trial->ops[i], "data"),
                       model_op_param(r->m, &r->m->ops[i], "data")
                           ? model_op_param(r->m, &r->m->ops[i], "data")
                           : "") == 0)
                break;
            if (keep_if_fails(r)) {
                is_changed = true;
                break;
            }
        }
    return is_changed;
}

static bool reduce_sizes(reduction *r)
{
    bool is_changed = false;
    for (int from = 32; from >= 2; from--)
        for (int to = 1; to < from; to = to == 1 && from > 2 ? 2 : from) {
            *r->trial = *r->m;
            bool has = false;
            for (int i = 0; i < r->m->op_count; i++) {
                if (!is_leaf_op(r->m, &r->m->ops[i]))
                    continue;
                const model_tensor *t = &r->m->tensors[r->m->ops[i].outs[0].tensor];
                int dims[MODEL_RANK];
                bool has_here = false;
                for (int d = 0; d < t->ndim; d++) {
                    dims[d] = t->dims[d] == from ? to : t->dims[d];
                    has_here = has_here || t->dims[d] == from;
                }
                if (has_here)
                    rewrite_leaf(r->trial, i, dims, 0);
                has = has || has_here;
            }
            if (has && keep_if_fails(r)) {
                is_changed = true;
                break;
            }
        }
    return is_changed;
}

void model_reduce(model *m, bool (*fails)(void *user, const model *m), void *user)
{
    reduction r = {.m = m, .trial = model_create(), .fails = fails, .user = user};
    if (!r.trial)
        return;
    bool is_changed = true;
    while (is_changed && r.trial_count < MAX_TRIALS) {
        is_changed = reduce_ops(&r);
        is_changed = reduce_details(&r) || is_changed;
        is_changed = reduce_sizes(&r) || is_changed;
        is_changed = reduce_numbers(&r) || is_changed;
    }
    model_destroy(r.trial);
}
