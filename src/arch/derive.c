// SPDX-License-Identifier: Apache-2.0
// A derived operator has the parameters, arguments and shapes of its core type, in the memory of
// the arch. Groups of the arch compute it, so that `run` only says that something is to be done.

#include "arch/derive.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/op_info.h>

#include "arch/core_row.h"
#include "arch/registry.h"
#include "ir/context.h"
#include "ir/op_life.h"

typedef struct derived_op {
    ln_op op; // first: its address is the struct's
    ln_op_arg arg;
    ln_op_info info;
    char optype[LN_MAX_NAME_LEN];
} derived_op;

static ln_status copy_args(ln_document *document, const ln_arg_info *from, ln_mem_type mtype,
                           const ln_arg_info **out_args)
{
    size_t count = 0;
    while (from && from[count].arg_name)
        count++;
    ln_arg_info *args = ln_document_alloc(document, (count + 1) * sizeof *args);
    if (!args)
        return LN_NO_MEMORY;
    memset(&args[count], 0, sizeof *args);
    for (size_t i = 0; i < count; i++) {
        args[i] = from[i];
        args[i].mtype = mtype;
    }
    *out_args = args;
    return LN_OK;
}

// A view is no choice of the planner; the others ask for a `run` that looks where its tensors are.
static const ln_place_info *views_of(const ln_op_info *info)
{
    return info->places && info->places[0].kind == LN_PLACE_VIEW ? info->places : NULL;
}

static ln_status name_type(const ln_arch *arch, const char *type, derived_op *derived)
{
    int len = snprintf(derived->optype, sizeof derived->optype, "%s_%s", type, arch->arch_name);
    if (len >= (int)sizeof derived->optype)
        return LN_FAIL(LN_LIMIT, "operator type '%s_%s' has %d bytes or more", type,
                       arch->arch_name, LN_MAX_NAME_LEN);
    derived->arg.optype = derived->optype;
    return LN_OK;
}

static ln_status derive(const ln_arch *arch, const ln_op *base, ln_document *document,
                        derived_op *derived)
{
    ln_mem_type mtype = arch->mem_type == LN_MEM_NONE ? LN_MEM_CPU : arch->mem_type;
    const ln_op_info *info = base->op_arg->info;
    derived->op = *base;
    derived->arg = *base->op_arg;
    derived->info = *info;
    derived->op.op_arg = &derived->arg;
    derived->arg.info = &derived->info;
    derived->arg.arch = arch->arch_name;
    derived->info.places = views_of(info);
    if (!derived->info.places)
        derived->op.calc_offset = NULL;
    bool computes = !derived->info.places && !ln_op_is_input(base->op_arg);
    derived->op.run = computes ? ln_op_run_in_group : NULL;
    LN_TRY(name_type(arch, base->op_arg->optype, derived));
    LN_TRY(copy_args(document, info->ins, mtype, &derived->info.ins));
    return copy_args(document, info->outs, mtype, &derived->info.outs);
}

static bool makes_constants(const ln_op *base)
{
    const ln_arg_info *out = base->op_arg->info->outs;
    return out->arg_name && (out->flags & LN_ARG_STATIC);
}

static ln_status find_base(const ln_arch *arch, const char *row, const ln_op **out_base)
{
    char type[LN_MAX_NAME_LEN];
    LN_TRY(ln_core_row_type(arch, row, type));
    const ln_op *base = *out_base = ln_op_find(type);
    if (!base || !ln_streq(base->op_arg->arch, "none"))
        return LN_FAIL(LN_NOT_FOUND,
                       "arch '%s' lists '%s' in core_ops, and arch 'none' has no operator of that "
                       "type",
                       arch->arch_name, type);
    if (!base->op_arg->info || !base->op_arg->info->infer)
        return LN_FAIL(LN_INVALID,
                       "arch '%s' lists '%s' in core_ops, which is not in call form: register an "
                       "operator '%s_%s' of its own",
                       arch->arch_name, type, type, arch->arch_name);
    if (makes_constants(base))
        return LN_FAIL(
            LN_INVALID,
            "arch '%s' lists '%s' in core_ops, whose output is a constant: constants are "
            "made in main memory and copied to a device",
            arch->arch_name, type);
    return ln_core_row_check(arch, row, base);
}

static ln_status check_is_once(const ln_arch *arch, ln_op *const *ops, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ln_streq(ops[i]->op_arg->optype, ops[count]->op_arg->optype))
            return LN_FAIL(LN_INVALID,
                           "arch '%s' lists '%s' and '%s' in core_ops, which are of one type",
                           arch->arch_name, arch->core_ops[i], arch->core_ops[count]);
    return LN_OK;
}

static ln_status derive_all(const ln_arch *arch, ln_document *document, ln_op ***out_ops)
{
    size_t count = 0;
    while (arch->core_ops[count])
        count++;
    ln_op **ops = ln_document_alloc(document, (count + 1) * sizeof *ops);
    if (!ops)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const ln_op *base;
        derived_op *derived = ln_document_alloc(document, sizeof *derived);
        if (!derived)
            return LN_NO_MEMORY;
        LN_TRY(find_base(arch, arch->core_ops[i], &base));
        LN_TRY(derive(arch, base, document, derived));
        ops[i] = &derived->op;
        LN_TRY(check_is_once(arch, ops, i));
    }
    ops[count] = NULL;
    *out_ops = ops;
    return LN_OK;
}

ln_status ln_arch_derive_ops(const ln_arch *arch, ln_document **out_document, ln_op ***out_ops)
{
    *out_document = NULL;
    *out_ops = NULL;
    if (!arch->core_ops || !arch->core_ops[0])
        return LN_OK;
    if (!ln_arch_runs_groups(arch))
        return LN_FAIL(
            LN_INVALID,
            "arch '%s' has core_ops, so it needs `prepare`, and `run` or `run_async` and "
            "`wait`",
            arch->arch_name);
    ln_document *document;
    LN_TRY(ln_document_create("operators of a device", &document));
    ln_status status = derive_all(arch, document, out_ops);
    if (status != LN_OK) {
        ln_document_destroy(document);
        return status;
    }
    *out_document = document;
    return LN_OK;
}
