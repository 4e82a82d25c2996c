// SPDX-License-Identifier: Apache-2.0
// Layout of normalizations: of batches, where no convolution took them, of groups, of instances.

#include "arch/cpu/layout.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

typedef struct norm {
    const char *src, *scale, *offset, *mean, *var;
    double epsilon;
} norm;

static double number_param(const ln_layout_build *build, const char *name, double usual)
{
    const ln_param_entry *param = ln_param_list_find(build->op->op_arg->params, name);
    return param ? param->value_double : usual;
}

static bool read_norm(const ln_layout_build *build, norm *n)
{
    *n = (norm){.src = ln_layout_input(build, "src"),
                .scale = ln_layout_input(build, "scale"),
                .offset = ln_layout_input(build, "offset"),
                .mean = ln_layout_input(build, "mean"),
                .var = ln_layout_input(build, "var"),
                .epsilon = number_param(build, "epsilon", 0)};
    const char *const params[] = {n->scale, n->offset, n->mean, n->var};
    for (size_t i = 0; i < 4; i++) {
        const ln_tensor_entry *entry = params[i] ? ln_layout_find(build, params[i]) : NULL;
        if (!entry || entry->is_open || !entry->isstatic || entry->tensor->dtype != TL_FLOAT ||
            entry->tensor->ndim != 1)
            return false;
    }
    return ln_layout_is_float_image(build, n->src) &&
           ln_layout_is_float_image(build, ln_layout_first_out(build)) &&
           ln_layout_has_nhwc(build, n->src);
}

static bool fits_norm(const ln_layout_build *build)
{
    norm n;
    return read_norm(build, &n);
}

static const char *emit_elew(ln_layout_build *build, const char *suffix, const char *elew_op,
                             const char *a, const char *b)
{
    if (!a || !b)
        return NULL;
    ln_list *ins = ln_tensor_list_append(NULL, "src1", a);
    ins = ln_tensor_list_append(ins, "src2", b);
    ln_list *list = ln_param_list_append_string(NULL, "elew_op", elew_op);
    return ln_layout_emit_step(build, "elew", suffix, ins, list, ln_list_length(ins) == 2 && list);
}

static const char *emit_number(ln_layout_build *build, const char *suffix, double number)
{
    const int dims[] = {1};
    ln_list *list = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT");
    list = ln_param_list_append_array_int(list, "dims", 1, dims);
    list = ln_param_list_append_array_double(list, "data", 1, &number);
    return ln_layout_emit_step(build, "create", suffix, NULL, list, ln_list_length(list) == 3);
}

static const char *emit_root(ln_layout_build *build, const char *src)
{
    if (!src)
        return NULL;
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *list = ln_param_list_append_string(NULL, "act", "sqrt");
    return ln_layout_emit_step(build, "act", "deviation", ins, list, ins && list);
}

// scale / sqrt(var + epsilon) and offset - mean * that are computed once.
static ln_status rewrite_norm(ln_layout_build *build)
{
    norm n;
    if (!read_norm(build, &n))
        return LN_FAIL(LN_INTERNAL, "'%s' is no normalization any more", build->op->op_arg->name);
    const char *epsilon = emit_number(build, "epsilon", n.epsilon);
    const char *var = emit_elew(build, "variance", "TL_SUM", n.var, epsilon);
    const char *factor = emit_elew(build, "factor", "TL_DIV", n.scale, emit_root(build, var));
    const char *moved = emit_elew(build, "moved", "TL_MUL", n.mean, factor);
    const char *summand = emit_elew(build, "summand", "TL_SUB", n.offset, moved);
    if (!summand)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", ln_layout_nhwc(build, n.src));
    ins = ln_tensor_list_append(ins, "scale", factor);
    ins = ln_tensor_list_append(ins, "offset", summand);
    return ln_layout_emit_nhwc(build, "scale_shift", "dst", ins, NULL, ln_list_length(ins) == 3);
}

// ---- By moments of the image itself ----

typedef struct group_norm {
    const char *src, *scale, *offset;
    int groups;
    double epsilon;
} group_norm;

static bool is_row(const ln_layout_build *build, const char *tname, int count)
{
    const ln_tensor_entry *entry = tname ? ln_layout_find(build, tname) : NULL;
    return entry && !entry->is_open && entry->tensor->dtype == TL_FLOAT &&
           entry->tensor->ndim == 1 && entry->tensor->len == count;
}

static bool read_group_norm(const ln_layout_build *build, group_norm *g)
{
    *g = (group_norm){.src = ln_layout_input(build, "src"),
                      .scale = ln_layout_input(build, "scale"),
                      .offset = ln_layout_input(build, "offset"),
                      .groups = (int)number_param(build, "groups", 0),
                      .epsilon = number_param(build, "epsilon", 1e-5)};
    if (!ln_layout_is_float_image(build, g->src) ||
        !ln_layout_is_float_image(build, ln_layout_first_out(build)))
        return false;
    if (ln_layout_find(build, g->src)->tensor->ndim == 5 && !ln_layout_has_nhwc(build, g->src))
        return false; // what comes before is not on NHWC forms
    int channels = ln_layout_find(build, g->src)->tensor->dims[1];
    g->groups = g->groups ? g->groups : channels;
    return g->epsilon >= 0 && is_row(build, g->scale, channels) &&
           is_row(build, g->offset, channels);
}

// Worth two transposes even alone.
static bool fits_group_norm(const ln_layout_build *build)
{
    group_norm g;
    return read_group_norm(build, &g);
}

static ln_status rewrite_group_norm(ln_layout_build *build)
{
    group_norm g;
    if (!read_group_norm(build, &g))
        return LN_FAIL(LN_INTERNAL, "'%s' is no normalization any more", build->op->op_arg->name);
    const char *src = ln_layout_nhwc(build, g.src);
    if (!src)
        return ln_error_status();
    ln_layout_params said = {0};
    ln_layout_add_int(&said, "groups", g.groups, 0);
    said.list = ln_param_list_append_double(said.list, "epsilon", g.epsilon);
    said.count++;
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ins = ln_tensor_list_append(ins, "scale", g.scale);
    ins = ln_tensor_list_append(ins, "offset", g.offset);
    return ln_layout_emit_nhwc(build, "groupnorm_nhwc_cpu", "dst", ins, said.list,
                               ln_list_length(ins) == 3 && ln_layout_are_complete(&said));
}

const ln_layout_op ln_layout_norms[] = {
    {"batchnorm", fits_norm, rewrite_norm},
    {"groupnorm", fits_group_norm, rewrite_group_norm},
    {NULL, NULL, NULL},
};
