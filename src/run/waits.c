// SPDX-License-Identifier: Apache-2.0
// Checks that each `wait` of a list of operators ends a group, names all of its tensors, and comes
// before what reads the group's results. Plans rely on that, and a compiled file may say anything.

#include "run/waits.h"

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/list.h>
#include <lightnet/util.h>

#include "arch/registry.h"
#include "base/name_hash.h"
#include "ir/context.h"
#include "run/group.h"

// A group that some `wait` names.
typedef struct flight {
    const ln_op *wait; // in the list
    bool is_over;
} flight;

typedef struct walk {
    const ln_context *ctx;
    flight *flights;
    size_t count;
    ln_hash *by_group;  // name of the first operator -> flight
    ln_hash *by_tensor; // what a flight's group makes -> flight
} walk;

static size_t count_waits(const ln_context *ctx)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += ln_op_is_wait(op);
    return count;
}

static ln_status find_flights(walk *w)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, w->ctx->ops) {
        if (!ln_op_is_wait(op))
            continue;
        const char *group = ln_wait_group(op);
        if (ln_hash_find(w->by_group, group))
            return LN_FAIL(LN_INVALID, "'%s' waits for group '%s', as another operator does",
                           op->op_arg->name, group);
        flight *f = &w->flights[w->count++];
        f->wait = op;
        if (ln_hash_insert(w->by_group, group, f) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_status check_named(const walk *w, const ln_hash *named, const ln_list *tensors,
                             const flight *f)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, tensors) {
        const ln_tensor_entry *entry = ln_tensor_table_find(w->ctx->tensor_table, listed->name);
        if (entry && !entry->isstatic && !ln_hash_find(named, listed->name))
            return LN_FAIL(LN_INVALID, "'%s' does not name tensor '%s' of its group '%s'",
                           f->wait->op_arg->name, listed->name, ln_wait_group(f->wait));
    }
    return LN_OK;
}

static ln_status check_group(walk *w, const ln_list *ops, const ln_arch *arch, flight *f,
                             const ln_hash *named)
{
    for (; ops; ops = ops->next) {
        const ln_op *op = ops->data;
        if (!ln_streq(op->op_arg->arch, arch->arch_name))
            break;
        LN_TRY(check_named(w, named, op->op_arg->tensors_in, f));
        LN_TRY(check_named(w, named, op->op_arg->tensors_out, f));
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out)
            if (ln_hash_insert(w->by_tensor, out->name, f) < 0)
                return ln_error_status();
    }
    return LN_OK;
}

static ln_status begin(walk *w, const ln_list *ops, const ln_arch *arch, flight *f)
{
    if (f->is_over)
        return LN_FAIL(LN_INVALID, "'%s' waits for group '%s' before that begins",
                       f->wait->op_arg->name, ln_wait_group(f->wait));
    ln_hash *named = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = named ? LN_OK : LN_NO_MEMORY;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, f->wait->op_arg->tensors_in)
        if (status == LN_OK && ln_hash_insert(named, in->name, f) < 0)
            status = ln_error_status();
    if (status == LN_OK)
        status = check_group(w, ops, arch, f, named);
    ln_hash_free(named);
    return status;
}

static ln_status check_reads(const walk *w, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        const flight *f = ln_hash_find(w->by_tensor, in->name);
        if (f && !f->is_over)
            return LN_FAIL(LN_INVALID, "'%s' reads tensor '%s' before '%s' has waited for it",
                           op->op_arg->name, in->name, f->wait->op_arg->name);
    }
    return LN_OK;
}

// One that names no group waits for nothing.
static void end(const walk *w, const ln_op *op)
{
    flight *f = ln_hash_find(w->by_group, ln_wait_group(op));
    f->is_over = true;
}

static ln_status check_list(walk *w)
{
    LN_TRY(find_flights(w));
    for (const ln_list *l = w->ctx->ops; l;) {
        const ln_op *op = l->data;
        const ln_arch *arch = ln_arch_find(op->op_arg->arch);
        if (!ln_arch_runs_groups(arch)) {
            if (ln_op_is_wait(op))
                end(w, op);
            else
                LN_TRY(check_reads(w, op));
            l = l->next;
            continue;
        }
        flight *f = ln_hash_find(w->by_group, op->op_arg->name);
        const ln_list *first = l;
        for (; l && ln_streq(((const ln_op *)l->data)->op_arg->arch, arch->arch_name); l = l->next)
            LN_TRY(check_reads(w, l->data));
        if (f)
            LN_TRY(begin(w, first, arch, f));
    }
    return LN_OK;
}

ln_status ln_waits_check(const ln_context *ctx)
{
    walk w = {.ctx = ctx};
    size_t count = count_waits(ctx);
    if (count == 0)
        return LN_OK;
    w.flights = ln_alloc_array(count, sizeof *w.flights);
    w.by_group = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    w.by_tensor = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = w.flights && w.by_group && w.by_tensor ? check_list(&w) : LN_NO_MEMORY;
    ln_free(w.flights);
    ln_hash_free(w.by_group);
    ln_hash_free(w.by_tensor);
    return status;
}
