// SPDX-License-Identifier: Apache-2.0
// NHWC forms, names, and new operators of the layout pass.

#include "pass/layout_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/dfg.h>
#include <lightnet/op.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "ir/dfg.h"
#include "op/types.h"
#include "pass/build.h"

const int ln_layout_to_last[4] = {0, 2, 3, 1};
static const int from_last[4] = {0, 3, 1, 2};

// ---- Tensors ----

const ln_tensor_entry *ln_layout_tensor(const ln_layout_build *build, const char *arg_name)
{
    return ln_op_find_tensor_entry(build->op, arg_name);
}

bool ln_layout_is_image(const ln_tensor_entry *entry)
{
    if (!entry || entry->is_open || !entry->tensor)
        return false;
    const tl_tensor *t = entry->tensor;
    const uint64_t types = LN_TYPE(TL_FLOAT) | LN_TYPES_BYTE;
    return (types >> t->dtype & 1) && t->ndim >= 3 && t->ndim <= 5 && t->len > 0;
}

ln_layout_dims ln_layout_dims_of(const ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = ln_layout_find(build, tname)->tensor;
    return ln_layout_dims_from(t->ndim, t->dims);
}

ln_layout_dims ln_layout_dims_from(int rank, const int *d)
{
    const int height = rank == 3 ? 1 : rank == 4 ? d[2] : d[2] * d[3];
    return (ln_layout_dims){{d[0], d[1], height, d[rank - 1]}};
}

int ln_layout_nhwc_axis(const ln_layout_build *build, const char *tname, int axis)
{
    static const int axes[][5] = {{0, 3, 2}, {0, 3, 1, 2}, {0, 3, -1, -1, 2}};
    return axes[ln_layout_find(build, tname)->tensor->ndim - 3][axis];
}

static const ln_op *find_maker(const ln_layout_build *build, const char *tname, const char *optype)
{
    const ln_op *maker = ln_dfg_maker(build->ctx->dfg, tname);
    return maker && strcmp(maker->op_arg->optype, optype) == 0 ? maker : NULL;
}

static const char *first_in(const ln_op *op)
{
    return ((const ln_tensor_list_entry *)op->op_arg->tensors_in->data)->name;
}

// The image that a row or volume is a view of; NULL if there is none.
static const char *find_lifted(const ln_layout_build *build, const char *tname)
{
    const ln_op *maker = find_maker(build, tname, "reshape");
    const ln_tensor_entry *image = maker ? ln_layout_find(build, first_in(maker)) : NULL;
    if (!ln_layout_is_image(image) || image->tensor->ndim != 4)
        return NULL;
    ln_layout_dims lifted = ln_layout_dims_of(build, tname);
    return memcmp(lifted.d, image->tensor->dims, sizeof lifted.d) == 0 ? image->name : NULL;
}

// The NHWC form that the image is made from; NULL if it is made otherwise.
static const char *find_origin(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = ln_layout_find(build, tname);
    if (ln_layout_is_image(entry) && entry->tensor->ndim != 4)
        tname = find_lifted(build, tname);
    const ln_op *maker = tname ? find_maker(build, tname, "transpose") : NULL;
    if (!maker)
        return NULL;
    const ln_param_entry *axes = ln_param_list_find(maker->op_arg->params, "axes");
    if (!axes || axes->array_len != 4 ||
        memcmp(axes->value_array_int, from_last, sizeof from_last) != 0)
        return NULL;
    return first_in(maker);
}

static const char *find_nhwc(const ln_layout_build *build, const char *tname)
{
    const char *origin = find_origin(build, tname);
    return origin ? origin : ln_hash_find(build->nhwc_names, tname);
}

bool ln_layout_has_nhwc(const ln_layout_build *build, const char *tname)
{
    return find_nhwc(build, tname) != NULL;
}

static ln_status remember_nhwc(ln_layout_build *build, const char *tname, const char *nhwc)
{
    char *key = ln_strdup(tname), *value = ln_strdup(nhwc);
    if (key && value && ln_hash_insert(build->nhwc_names, key, value) >= 0)
        return LN_OK;
    ln_free(key);
    ln_free(value);
    return LN_NO_MEMORY;
}

static ln_status make_nhwc(ln_layout_build *build, const char *tname, const char *nhwc)
{
    const char *image = ln_layout_lifted(build, tname);
    return image ? ln_layout_emit_transpose(build, image, nhwc, ln_layout_to_last)
                 : ln_error_status();
}

const char *ln_layout_nhwc(ln_layout_build *build, const char *tname)
{
    const char *nhwc = find_nhwc(build, tname);
    if (nhwc)
        return nhwc;
    char *name = ln_layout_new_name(build, tname, "nhwc");
    ln_status status = name ? make_nhwc(build, tname, name) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = remember_nhwc(build, tname, name);
    ln_free(name);
    return status == LN_OK ? ln_hash_find(build->nhwc_names, tname) : NULL;
}

// ---- Names ----

static bool is_tensor_taken(const ln_layout_build *build, const char *name)
{
    for (const ln_list *l = build->new_ops; l; l = l->next) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, ((const ln_op *)l->data)->op_arg->tensors_out)
            if (strcmp(out->name, name) == 0)
                return true;
    }
    return ln_tensor_table_find(build->ctx->tensor_table, name) != NULL;
}

static bool is_op_taken(const ln_layout_build *build, const char *name)
{
    return ln_op_list_find_by_name(build->new_ops, name) ||
           ln_op_table_find(build->ctx->op_table, name);
}

typedef bool is_taken_func(const ln_layout_build *build, const char *name);

static void make_name(const ln_layout_build *build, const char *prefix, const char *suffix,
                      is_taken_func *is_taken, char name[LN_MAX_NAME_LEN])
{
    int room = LN_MAX_NAME_LEN - 64;
    snprintf(name, LN_MAX_NAME_LEN, "%.*s_%s", room, prefix, suffix);
    for (unsigned i = 2; is_taken(build, name); i++)
        snprintf(name, LN_MAX_NAME_LEN, "%.*s_%s%u", room, prefix, suffix, i);
}

char *ln_layout_new_name(const ln_layout_build *build, const char *tname, const char *suffix)
{
    char name[LN_MAX_NAME_LEN];
    make_name(build, tname, suffix, is_tensor_taken, name);
    return ln_strdup(name);
}

// ---- Operators ----

ln_status ln_layout_emit(ln_layout_build *build, const char *optype, const char *suffix,
                         ln_list *ins, ln_list *outs, ln_list *params, bool is_complete)
{
    const ln_op *proto = ln_op_find(optype);
    char name[LN_MAX_NAME_LEN];
    ln_op *op = NULL;
    if (!proto)
        ln_fail(LN_INTERNAL, "there is no operator '%s'", optype);
    snprintf(name, sizeof name, "%s", build->op->op_arg->name);
    if (suffix)
        make_name(build, build->op->op_arg->name, suffix, is_op_taken, name);
    if (proto && is_complete &&
        ln_build_scratch(build->ctx, build->new_ops, proto, name, &outs) == LN_OK)
        op = ln_op_create_from_proto(proto, name, ins, outs, params, build->ctx->tensor_table);
    if (!op) {
        ln_tensor_list_free(ins);
        ln_tensor_list_free(outs);
        ln_param_list_free(params);
        return ln_error_status() == LN_OK ? LN_NO_MEMORY : ln_error_status();
    }
    ln_status status = ln_list_push(&build->new_ops, op);
    if (status != LN_OK)
        ln_op_free_lists_too(op);
    return status;
}

ln_status ln_layout_emit_transpose(ln_layout_build *build, const char *src, const char *dst,
                                   const int axes[4])
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", dst);
    ln_list *params = ln_param_list_append_array_int(NULL, "axes", 4, axes);
    return ln_layout_emit(build, "transpose", axes == ln_layout_to_last ? "nhwc" : "nchw", ins,
                          outs, params, ins && outs && params);
}

static ln_status emit_reshape(ln_layout_build *build, const char *src, const char *dst,
                              const int dims[4])
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", dst);
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 4, dims);
    return ln_layout_emit(build, "reshape", "image", ins, outs, params, ins && outs && params);
}

const char *ln_layout_lifted(ln_layout_build *build, const char *tname)
{
    if (ln_layout_find(build, tname)->tensor->ndim == 4)
        return tname;
    char *image = ln_layout_new_name(build, tname, "image");
    ln_status status =
        image ? emit_reshape(build, tname, image, ln_layout_dims_of(build, tname).d) : LN_NO_MEMORY;
    ln_free(image);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

// An image, then its view as a row or volume.
static ln_status emit_view_back(ln_layout_build *build, const char *nhwc, const char *tname)
{
    char *image = ln_layout_new_name(build, tname, "image");
    ln_list *ins = image ? ln_tensor_list_append(NULL, "src", image) : NULL;
    ln_list *outs = ln_tensor_list_append(NULL, "dst", tname);
    const tl_tensor *t = ln_layout_find(build, tname)->tensor;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", t->ndim, t->dims);
    ln_status status =
        image ? ln_layout_emit_transpose(build, nhwc, image, from_last) : LN_NO_MEMORY;
    status = ln_layout_emit(build, "reshape", "row", ins, outs, params,
                            status == LN_OK && ins && outs && params);
    ln_free(image);
    return status;
}

ln_status ln_layout_emit_back(ln_layout_build *build, const char *nhwc, const char *tname)
{
    if (ln_layout_find(build, tname)->tensor->ndim != 4)
        return emit_view_back(build, nhwc, tname);
    return ln_layout_emit_transpose(build, nhwc, tname, from_last);
}

// ---- Names and NHWC forms of an operator's tensors ----

const char *ln_layout_input(const ln_layout_build *build, const char *arg_name)
{
    const ln_tensor_entry *entry = ln_layout_tensor(build, arg_name);
    return entry ? entry->name : NULL;
}

const char *ln_layout_first_out(const ln_layout_build *build)
{
    return ((const ln_tensor_list_entry *)build->op->op_arg->tensors_out->data)->name;
}

const ln_tensor_entry *ln_layout_find(const ln_layout_build *build, const char *tname)
{
    return ln_tensor_table_find(build->ctx->tensor_table, tname);
}

bool ln_layout_is_free(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = tname ? ln_layout_find(build, tname) : NULL;
    return ln_layout_is_image(entry) && !entry->known;
}

const char *ln_layout_emit_step(ln_layout_build *build, const char *optype, const char *suffix,
                                ln_list *ins, ln_list *params, bool is_complete)
{
    char *name = ln_layout_new_name(build, ln_layout_first_out(build), suffix);
    ln_list *outs = name ? ln_tensor_list_append(NULL, "dst", name) : NULL;
    ln_status status =
        ln_layout_emit(build, optype, suffix, ins, outs, params, is_complete && outs);
    ln_free(name);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

ln_status ln_layout_emit_nhwc(ln_layout_build *build, const char *optype, const char *out_arg,
                              ln_list *ins, ln_list *params, bool is_complete)
{
    const char *out = ln_layout_first_out(build);
    char *nhwc = ln_layout_new_name(build, out, "nhwc");
    ln_list *outs = nhwc ? ln_tensor_list_append(NULL, out_arg, nhwc) : NULL;
    ln_status status = ln_layout_emit(build, optype, NULL, ins, outs, params, is_complete && outs);
    if (status == LN_OK)
        status = ln_layout_emit_back(build, nhwc, out);
    ln_free(nhwc);
    return status;
}

const char *ln_layout_last_made(const ln_layout_build *build)
{
    const ln_list *l = build->new_ops;
    while (l->next)
        l = l->next;
    const ln_op *op = l->data;
    return ((const ln_tensor_list_entry *)op->op_arg->tensors_out->data)->name;
}

// ---- Parameters ----

void ln_layout_add_int(ln_layout_params *p, const char *name, int value, int usual)
{
    if (value == usual)
        return;
    p->list = ln_param_list_append_int(p->list, name, value);
    p->count++;
}

void ln_layout_add_ints(ln_layout_params *p, const char *name, int count, const int *values,
                        int usual)
{
    for (int i = 0; i < count; i++) {
        if (values[i] == usual)
            continue;
        p->list = ln_param_list_append_array_int(p->list, name, count, values);
        p->count++;
        return;
    }
}

void ln_layout_add_number(ln_layout_params *p, const char *name, double value)
{
    if (value == 0 && !signbit(value))
        return;
    p->list = ln_param_list_append_double(p->list, name, value);
    p->count++;
}

void ln_layout_add_string(ln_layout_params *p, const char *name, const char *value,
                          const char *usual)
{
    if (ln_streq(value, usual))
        return;
    p->list = ln_param_list_append_string(p->list, name, value);
    p->count++;
}

bool ln_layout_are_complete(const ln_layout_params *p)
{
    return ln_list_length(p->list) == p->count;
}
