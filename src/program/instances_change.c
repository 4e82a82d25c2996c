// SPDX-License-Identifier: Apache-2.0
// A context changes over from the plan of one instance to that of another.
//
// Its contents and those of the plan change places, so pointers to it stay right:
//
//     home  ->  instances:   "1x3" is home now | "2x3" loaded | ...
//
// A plan that was loaded once stays so. One workspace serves all, as only one is in use. Models
// with graphs, and plans whose constants were set, are loaded each time.

#include "program/instances_inside.h"

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "compile/exchange.h"
#include "compile/instance.h"
#include "compile/runner.h"
#include "compile/spares.h"
#include "ir/bound.h"
#include "ir/context.h"
#include "ir/open.h"

// ---- Life ----

static size_t workspace_of(const ln_context *plan)
{
    return plan->mem_sizes[LN_MEM_CPU] - plan->static_sizes[LN_MEM_CPU];
}

// Constants of a model without shapes are not packed as those with shapes want them.
static ln_status list_current(ln_instances *all, size_t count, const ln_input_shape *shapes)
{
    ln_row *r = ln_row_create(count, shapes);
    if (!r)
        return LN_NO_MEMORY;
    r->state = READY;
    r->holder_count = 1;
    all->current = r;
    all->has_first = !ln_context_has_open_input(all->home) && ln_plans_is_as_loaded(all->home);
    all->byte_count = ln_memory_size(all->home->static_memory, LN_MEM_CPU);
    all->workspace_byte_count = workspace_of(all->home);
    r->byte_count = all->has_first ? 0 : all->byte_count;
    ln_row_list(all, r);
    return LN_OK;
}

ln_status ln_instances_create_changing(ln_context *home, size_t count, const ln_input_shape *shapes,
                                       ln_instances **out_instances)
{
    LN_TRY(ln_instances_create(home, NULL, 0, NULL, out_instances));
    ln_status status = list_current(*out_instances, count, shapes);
    if (status == LN_OK)
        return LN_OK;
    ln_instances_destroy(*out_instances);
    *out_instances = NULL;
    return status;
}

// ---- Changing over ----

// Rows leave until `plan`, which is not loaded yet, has room; false: even then it has none.
static bool make_room(ln_instances *all, const ln_context *plan)
{
    size_t begin = plan->constants ? ln_constants_ends(plan->constants)[LN_MEM_CPU] : 0;
    size_t end = plan->static_sizes[LN_MEM_CPU], own = end > begin ? end - begin : 0;
    all->workspace_byte_count = workspace_of(plan);
    all->byte_count += own;
    ln_row *surplus = ln_rows_take_surplus(all);
    bool has_room = !ln_rows_are_too_much(all);
    all->byte_count -= own;
    ln_rows_destroy(surplus);
    return has_room;
}

// A row that no session holds.
static void drop(ln_instances *all, ln_row *r)
{
    ln_row_unlist(all, r);
    ln_row_destroy(r);
}

// The row with a plan for the key, and no more than that: what sessions have made of it goes.
static ln_status need_plan(ln_instances *all, size_t key_count, const ln_input_shape *key,
                           size_t count, const ln_input_shape *shapes, ln_row **out_row)
{
    ln_row *r = *out_row = ln_row_find(all, key_count, key);
    if (r && r->state == READY && !(r->ctx && ln_context_is_spared(r->ctx))) {
        ln_instance_destroy(r->instance);
        ln_context_free(r->idle);
        r->held.instance = r->instance = NULL;
        r->idle = NULL;
        return LN_OK;
    }
    if (r) // its error is asked for again, or all its operators
        drop(all, r);
    ln_context *plan;
    LN_TRY(ln_instances_share_home(all));
    LN_TRY(ln_plans_make_instance(all->home, all->home, count, shapes, &plan));
    r = *out_row = ln_row_create(key_count, key);
    if (!r) {
        ln_context_free(plan);
        return LN_NO_MEMORY;
    }
    r->ctx = plan;
    r->state = READY;
    ln_row_list(all, r);
    return LN_OK;
}

static void note_loaded(ln_instances *all, ln_row *r, const ln_context *ctx)
{
    r->byte_count = ln_memory_size(ctx->static_memory, LN_MEM_CPU);
    all->byte_count += r->byte_count;
}

static void unload(ln_instances *all, ln_row *r, ln_context *ctx)
{
    ln_context_unload_alone(ctx);
    all->byte_count -= r->byte_count;
    r->byte_count = 0;
}

// Loads the plan of the row, and gives it the workspace. `home` is unloaded before, if it has to
// be.
static ln_status load_row(ln_instances *all, ln_row *r)
{
    bool is_new = r->ctx->state != LN_CONTEXT_LOADED;
    if (is_new && !make_room(all, r->ctx) && all->current->byte_count > 0)
        unload(all, all->current, all->home);
    LN_TRY(ln_plans_enter(all->home, r->ctx));
    if (is_new)
        note_loaded(all, r, r->ctx);
    if (ln_plans_have_constants(all->home) || ln_context_has_open_input(r->ctx))
        return LN_OK;
    LN_TRY(ln_plans_share_constants(all->home, r->ctx));
    if (ln_plans_have_constants(all->home))
        r->byte_count = 0; // they stay
    return LN_OK;
}

// As it was, but not if memory is gone: then it is PLANNED.
static void load_home_again(ln_instances *all)
{
    ln_error_state reason;
    ln_error_save(&reason);
    if (ln_plans_enter(all->home, all->home) == LN_OK)
        note_loaded(all, all->current, all->home);
    ln_error_restore(&reason);
}

// A plan that can be used again as it is stays loaded.
static void leave(ln_instances *all)
{
    if (all->home->state != LN_CONTEXT_LOADED)
        return;
    if (all->home->graphs || !ln_plans_is_as_loaded(all->home))
        unload(all, all->current, all->home);
    else
        ln_bound_remove_all(all->home);
}

static void change_to(ln_instances *all, ln_row *r)
{
    ln_row *old = all->current;
    leave(all);
    ln_context_exchange(all->home, r->ctx);
    old->ctx = r->ctx;
    r->ctx = NULL;
    all->current = r;
    old->holder_count--;
    ln_plans_note_loaded(all->home);
}

// Plans that are not in use leave a workspace that is too small for the next.
static bool leave_workspace(ln_instances *all, const ln_context *next)
{
    if (ln_plans_have_room(all->home, next))
        return false;
    for (ln_row *r = all->rows; r; r = r->next)
        if (r->ctx)
            ln_context_take_workspace(r->ctx);
    return true;
}

ln_status ln_instances_change(ln_instances *all, size_t key_count, const ln_input_shape *key,
                              size_t count, const ln_input_shape *shapes)
{
    ln_row *r, *old = all->current;
    LN_TRY(ln_context_finish_devices(all->home, all->home)); // in the workspace, which others get
    LN_TRY(need_plan(all, key_count, key, count, shapes, &r));
    if (r == old)
        return LN_OK;
    r->last_use = ++all->use_count;
    r->holder_count++;
    bool is_larger = leave_workspace(all, r->ctx);
    ln_status status = load_row(all, r);
    if (status == LN_OK)
        change_to(all, r);
    else
        drop(all, r);
    if (status == LN_OK && is_larger)
        ln_context_take_workspace(old->ctx);
    if (status != LN_OK && all->home->state != LN_CONTEXT_LOADED)
        load_home_again(all);
    all->workspace_byte_count = workspace_of(all->home);
    ln_rows_destroy(ln_rows_take_surplus(all));
    return status;
}
