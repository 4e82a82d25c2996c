// SPDX-License-Identifier: Apache-2.0
// Making groups and running them.

#include "run/group.h"

#include <lightnet/allocator.h>
#include <lightnet/op_support.h>
#include <lightnet/util.h>

#include "arch/device.h"
#include "base/deadline.h"
#include "base/error_state.h"
#include "ir/context.h"

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

static ln_status prepare(ln_group *group, const ln_list *from)
{
    ln_list *ops = NULL;
    ln_status status = LN_OK;
    for (size_t i = 0; i < group->op_count && status == LN_OK; i++, from = from->next) {
        const ln_op *op = from->data;
        note_listed(group, op->op_arg, op->op_arg->tensors_in);
        note_listed(group, op->op_arg, op->op_arg->tensors_out);
        group->cost += ln_op_cost(op);
        status = ln_list_push(&ops, from->data);
    }
    if (status == LN_OK)
        status = group->arch->prepare(group->device, ops, &group->prepared);
    ln_list_free(ops);
    return status;
}

// Whose fault it is.
static ln_status finish(const ln_group *group, ln_status status)
{
    const char *arch = group->arch->arch_name, *first = group->first->op_arg->name;
    if (status == LN_OK)
        return LN_OK;
    if (ln_error_status() == LN_OK)
        ln_fail(status, "arch '%s' fails in the group that begins with '%s'", arch, first);
    else
        (void)ln_fail_prefix("arch '%s': group of '%s'", arch, first);
    return ln_error_note_device(status);
}

ln_status ln_group_create(const ln_arch *arch, const ln_list *ops, ln_group **out_group)
{
    size_t op_count = 0, address_count = 0;
    for (const ln_list *l = ops; l; l = l->next) {
        const ln_op *op = l->data;
        if (!ln_streq(op->op_arg->arch, arch->arch_name))
            break;
        op_count++;
        address_count += count_addresses(op);
    }
    ln_group *group = ln_alloc(sizeof *group + address_count * sizeof(tl_tensor *));
    *out_group = group;
    if (!group)
        return LN_NO_MEMORY;
    if (pthread_mutex_init(&group->lock, NULL) != 0) {
        ln_free(group);
        *out_group = NULL;
        return LN_FAIL(LN_NO_MEMORY, "the system gives no lock for a group");
    }
    group->arch = arch;
    group->device = ln_arch_device(((const ln_op *)ops->data)->op_arg->context, arch);
    group->first = ops->data;
    group->op_count = op_count;
    ln_error_clear();
    ln_status status = finish(group, prepare(group, ops));
    if (status == LN_OK)
        return LN_OK;
    pthread_mutex_destroy(&group->lock);
    ln_free(group);
    *out_group = NULL;
    return status;
}

void ln_group_destroy(ln_group *group)
{
    if (!group)
        return;
    ln_group_finish(group, NULL);
    if (group->arch->release)
        group->arch->release(group->device, group->prepared);
    pthread_mutex_destroy(&group->lock);
    ln_free(group);
}

// ---- What a run has left ----

static bool can_leave(const ln_group *group)
{
    return group->arch->mem_type != LN_MEM_CPU && group->arch->mem_type != LN_MEM_NONE;
}

// False if it cannot be noted.
static bool leave(ln_group *group, tl_tensor *const *addresses)
{
    ln_flight *flight = ln_alloc(sizeof *flight);
    if (!flight)
        return false;
    flight->addresses = addresses;
    pthread_mutex_lock(&group->lock);
    flight->next = group->left;
    group->left = flight;
    atomic_fetch_add(&group->left_count, 1);
    pthread_mutex_unlock(&group->lock);
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

// How a run that was given up went is of no interest.
void ln_group_finish(ln_group *group, tl_tensor *const *addresses)
{
    ln_flight *flight;
    if (atomic_load(&group->left_count) == 0)
        return;
    ln_error_state reason;
    ln_error_save(&reason);
    while ((flight = take_left(group, addresses))) {
        (void)group->arch->wait(group->device, group->prepared, flight->addresses);
        ln_free(flight);
    }
    ln_error_restore(&reason);
}

// ---- Running ----

ln_status ln_group_start(void *block, tl_tensor *const *addresses)
{
    const ln_group *group = block;
    const ln_arch *arch = group->arch;
    ln_error_clear();
    return finish(group, (arch->run ? arch->run : arch->run_async)(group->device, group->prepared,
                                                                   addresses));
}

// How long the device is waited for before the thread looks whether it still has time.
#define WAIT_SECONDS 0.001

static ln_status wait_or_leave(ln_group *group, tl_tensor *const *addresses)
{
    for (int is_over = 0; !is_over;) {
        ln_status status = group->arch->wait_for(group->device, group->prepared, addresses,
                                                 WAIT_SECONDS, &is_over);
        if (status != LN_OK)
            return status;
        if (!is_over && can_leave(group) && ln_deadline_passed() && leave(group, addresses))
            return LN_FAIL(LN_STATE, "the device still computes"); // the run says why it ends
    }
    return LN_OK;
}

ln_status ln_group_wait(void *block, tl_tensor *const *addresses)
{
    ln_group *group = block;
    const ln_arch *arch = group->arch;
    if (arch->run)
        return LN_OK; // it was done at once
    ln_error_clear();
    if (arch->wait_for)
        return finish(group, wait_or_leave(group, addresses));
    return finish(group, arch->wait(group->device, group->prepared, addresses));
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
