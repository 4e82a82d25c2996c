// SPDX-License-Identifier: Apache-2.0
// Making groups and running them.

#include "run/group.h"

#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/op_support.h>
#include <lightnet/util.h>

#include "arch/core_row.h"
#include "arch/device.h"
#include "arch/ordered.h"
#include "base/deadline.h"
#include "base/error_state.h"
#include "ir/context.h"
#include "ir/phase.h"

static size_t count_addresses(const ln_op *op)
{
    return (size_t)ln_list_length(op->op_arg->tensors_in) +
           (size_t)ln_list_length(op->op_arg->tensors_out);
}

static void note_listed(ln_group *group, const ln_op_arg *arg, const ln_list *listed_tensors)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, listed_tensors) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, listed->name);
        group->addresses[group->address_count++] = entry ? entry->tensor : NULL;
    }
}

// What a compiled file says was never offered to the device as it is now.
static ln_status add_op(ln_list_builder *ops, const ln_arch *arch, const ln_op *op)
{
    ln_op *ordered;
    LN_TRY(ln_core_row_check_op(arch, op));
    LN_TRY(ln_op_order(op, &ordered));
    ln_status status = ln_list_builder_push(ops, ordered);
    if (status != LN_OK)
        ln_free(ordered);
    return status;
}

// The operators of the group that begins at `from`, as the device sees them.
static ln_status list_ops(const ln_arch *arch, const ln_list *from, ln_list **out_ops)
{
    ln_list_builder ops = {0};
    ln_status status = LN_OK;
    for (; from && status == LN_OK; from = from->next) {
        const ln_op *op = from->data;
        if (!ln_streq(op->op_arg->arch, arch->arch_name))
            break;
        status = add_op(&ops, arch, op);
    }
    if (status != LN_OK)
        ln_list_free_deep(ops.list, ln_free);
    *out_ops = status == LN_OK ? ops.list : NULL;
    return status;
}

static ln_status prepare(ln_group *group)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, group->ops) {
        note_listed(group, op->op_arg, op->op_arg->tensors_in);
        note_listed(group, op->op_arg, op->op_arg->tensors_out);
        group->cost += ln_op_cost(op);
        group->op_count++;
    }
    ln_error_clear();
    ln_status status = group->arch->prepare(group->device, group->ops, &group->prepared);
    if (status == LN_OK && group->prepared && !group->arch->release)
        return LN_FAIL(LN_INTERNAL, "it returns a group, and the arch has no `release`");
    return status;
}

// Whose fault it is.
static ln_status finish(const ln_group *group, const char *function, ln_status status)
{
    const char *arch = group->arch->arch_name, *first = group->first->op_arg->name;
    if (status == LN_OK)
        return LN_OK;
    return ln_fail_of_device(status, "arch '%s': `%s` of the group of '%s'", arch, function, first);
}

static ln_status create(const ln_list *ops, ln_group **out_group)
{
    size_t address_count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops)
        address_count += count_addresses(op);
    ln_group *group = *out_group = ln_alloc(sizeof *group + address_count * sizeof(tl_tensor *));
    if (!group)
        return LN_NO_MEMORY;
    if (pthread_mutex_init(&group->lock, NULL) == 0)
        return LN_OK;
    ln_free(group);
    *out_group = NULL;
    return LN_FAIL(LN_NO_MEMORY, "the system gives no lock for a group");
}

static void destroy(ln_group *group)
{
    ln_list_free_deep(group->ops, ln_free);
    pthread_mutex_destroy(&group->lock);
    ln_free(group);
}

ln_status ln_group_create(const ln_arch *arch, const ln_list *ops, ln_group **out_group)
{
    ln_list *ordered;
    *out_group = NULL;
    LN_TRY(list_ops(arch, ops, &ordered));
    ln_group *group;
    ln_status status = create(ordered, &group);
    if (status != LN_OK) {
        ln_list_free_deep(ordered, ln_free);
        return status;
    }
    group->arch = arch;
    group->device = ln_arch_device(((const ln_op *)ops->data)->op_arg->context, arch);
    group->first = ops->data;
    group->ops = ordered;
    status = finish(group, "prepare", prepare(group));
    if (status == LN_OK)
        *out_group = group;
    else
        destroy(group);
    return status;
}

void ln_group_destroy(ln_group *group)
{
    if (!group)
        return;
    ln_group_finish(group, NULL);
    if (group->arch->release)
        group->arch->release(group->device, group->prepared);
    destroy(group);
}

// ---- What a run has left ----

static bool can_leave(const ln_group *group)
{
    return group->arch->mem_type != LN_MEM_CPU && group->arch->mem_type != LN_MEM_NONE;
}

static void put_left(ln_group *group, ln_flight *flight)
{
    pthread_mutex_lock(&group->lock);
    flight->next = group->left;
    group->left = flight;
    atomic_fetch_add(&group->left_count, 1);
    pthread_mutex_unlock(&group->lock);
}

// False if it cannot be noted.
static bool leave(ln_group *group, tl_tensor *const *addresses)
{
    ln_flight *flight = ln_alloc(sizeof *flight);
    if (!flight)
        return false;
    flight->addresses = addresses;
    flight->process = getpid();
    put_left(group, flight);
    return true;
}

static ln_flight *take_left(ln_group *group, tl_tensor *const *addresses)
{
    pthread_mutex_lock(&group->lock);
    ln_flight **at = &group->left;
    while (*at && addresses && (*at)->addresses != addresses)
        at = &(*at)->next;
    ln_flight *flight = *at;
    if (flight) {
        *at = flight->next;
        atomic_fetch_sub(&group->left_count, 1);
    }
    pthread_mutex_unlock(&group->lock);
    return flight;
}

// How long the device is waited for before the thread looks whether its run was cancelled.
#define WAIT_SECONDS 0.001

static bool may_end_early(void)
{
    return ln_deadline_get() != 0 || ln_cancel_watched();
}

// Nobody tells a thread that sleeps of a cancel, so that it looks for one.
static double seconds_to_wait(void)
{
    double left =
        ln_deadline_get() == 0 ? WAIT_SECONDS : (double)(ln_deadline_get() - ln_now_ns()) * 1e-9;
    left = left > 0 ? left : 0;
    return ln_cancel_watched() && left > WAIT_SECONDS ? WAIT_SECONDS : left;
}

// Asks the device until it has ended the run, or this thread's has to end. Where it cannot even be
// asked, `wait` returns when it has ended.
static ln_status ask(const ln_group *group, tl_tensor *const *addresses, int *out_is_over)
{
    const ln_arch *arch = group->arch;
    *out_is_over = 0;
    do {
        double seconds = seconds_to_wait();
        ln_status status =
            arch->wait_for(group->device, group->prepared, addresses, seconds, out_is_over);
        if (status == LN_OK)
            continue;
        if (!*out_is_over) {
            ln_error_state reason;
            ln_error_save(&reason);
            (void)arch->wait(group->device, group->prepared, addresses);
            ln_error_restore(&reason);
            *out_is_over = 1;
        }
        return status;
    } while (!*out_is_over && !ln_deadline_passed());
    return LN_OK;
}

// A child process has not what the device of its parent computes, nor anybody to wait for.
static bool is_of_parent(const ln_flight *flight)
{
    return flight->process != getpid();
}

// How a run that was given up went is of no interest.
void ln_group_finish(ln_group *group, tl_tensor *const *addresses)
{
    ln_flight *flight;
    if (atomic_load(&group->left_count) == 0)
        return;
    ln_error_state reason;
    ln_error_save(&reason);
    while ((flight = take_left(group, addresses))) {
        if (!is_of_parent(flight))
            (void)group->arch->wait(group->device, group->prepared, flight->addresses);
        ln_free(flight);
    }
    ln_error_restore(&reason);
}

ln_status ln_group_finish_in_time(const ln_context *ctx, ln_group *group,
                                  tl_tensor *const *addresses)
{
    ln_flight *flight;
    if (!may_end_early()) {
        ln_group_finish(group, addresses);
        return LN_OK;
    }
    while (atomic_load(&group->left_count) > 0 && (flight = take_left(group, addresses))) {
        int is_over = is_of_parent(flight);
        if (!is_over)
            (void)ask(group, flight->addresses, &is_over);
        if (!is_over) {
            put_left(group, flight);
            (void)ln_phase_check(ctx, NULL);
            return ln_fail_prefix("arch '%s' still computes what an earlier run began",
                                  group->arch->arch_name);
        }
        ln_free(flight);
    }
    return LN_OK;
}

// ---- Running ----

ln_status ln_group_start(void *block, tl_tensor *const *addresses)
{
    const ln_group *group = block;
    const ln_arch *arch = group->arch;
    ln_error_clear();
    if (arch->run)
        return finish(group, "run", arch->run(group->device, group->prepared, addresses));
    return finish(group, "run_async", arch->run_async(group->device, group->prepared, addresses));
}

static ln_status wait_or_leave(ln_group *group, tl_tensor *const *addresses)
{
    int is_over;
    ln_status status = ask(group, addresses, &is_over);
    if (is_over)
        return status;
    if (leave(group, addresses))
        return LN_FAIL(LN_STATE, "the device still computes"); // the run says why it ends
    return group->arch->wait(group->device, group->prepared, addresses);
}

ln_status ln_group_wait(void *block, tl_tensor *const *addresses)
{
    ln_group *group = block;
    const ln_arch *arch = group->arch;
    if (arch->run)
        return LN_OK; // it was done at once
    ln_error_clear();
    if (arch->wait_for && can_leave(group) && may_end_early())
        return finish(group, "wait_for", wait_or_leave(group, addresses));
    return finish(group, "wait", arch->wait(group->device, group->prepared, addresses));
}

// Bytes that the group frees may be written by the next step, so the wait cannot be put off.
ln_status ln_group_run(void *group, tl_tensor *const *addresses)
{
    LN_TRY(ln_group_start(group, addresses));
    return ln_group_wait(group, addresses);
}

// ---- Waits ----

bool ln_op_is_wait(const ln_op *op)
{
    return ln_op_is_type(op->op_arg, "wait");
}

const char *ln_wait_group(const ln_op *wait)
{
    const ln_param_entry *param = ln_param_list_find(wait->op_arg->params, "group");
    return param && param->value_string ? param->value_string : "";
}

ln_group *ln_group_of_wait(ln_group *const *groups, size_t count, const ln_op *wait)
{
    if (count == 0 || !ln_op_is_wait(wait))
        return NULL;
    const char *name = ln_wait_group(wait);
    for (size_t i = count; i-- > 0;) // mostly one of the last
        if (ln_streq(groups[i]->first->op_arg->name, name))
            return groups[i];
    return NULL;
}
