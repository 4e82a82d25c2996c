// SPDX-License-Identifier: Apache-2.0
// Finding, making, waiting for and dropping instances.
//
//     none -> MAKING -> READY                      held by sessions, dropped when unused
//                    -> REFUSED, FAILED            remembered for these shapes, or forgotten
//                    -> ABANDONED                  by its maker; who waits for it makes it
//
// A failure that another attempt may not have (memory) is told to those who wait, then forgotten.

#include "program/instances_inside.h"

#include <stdint.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "compile/instance.h"
#include "compile/runner.h"
#include "compile/spares.h"
#include "ir/context.h"
#include "ir/open.h"

// ---- Life ----

void ln_row_destroy(ln_row *r)
{
    ln_instance_destroy(r->instance);
    ln_context_free(r->idle);
    ln_context_free(r->ctx);
    ln_free(r->reason);
    ln_free(r);
}

// All or none.
static ln_status make_locks(ln_instances *all)
{
    LN_TRY(ln_turn_init(&all->home_turn));
    if (pthread_mutex_init(&all->lock, NULL) == 0) {
        if (ln_changes_init(&all->changed))
            return LN_OK;
        pthread_mutex_destroy(&all->lock);
    }
    ln_turn_deinit(&all->home_turn);
    return LN_FAIL(LN_NO_MEMORY, "out of memory for a lock");
}

void ln_instances_destroy(ln_instances *all)
{
    if (!all)
        return;
    for (ln_row *r = all->rows, *next; r; r = next) {
        next = r->next;
        ln_row_destroy(r);
    }
    ln_context_free(all->origin);
    pthread_cond_destroy(&all->changed);
    ln_turn_deinit(&all->home_turn);
    pthread_mutex_destroy(&all->lock);
    ln_free(all);
}

// ---- Shapes ----

#define SHAPE_LEN (1 + TL_MAXDIM)

bool ln_instance_is_for(const ln_held_instance *held, size_t count, const ln_input_shape *shapes)
{
    const ln_row *r = (const ln_row *)held;
    bool is_same = r->shape_count == count;
    for (size_t i = 0; i < count && is_same; i++) {
        const int *kept = r->shapes + i * SHAPE_LEN;
        is_same = kept[0] == shapes[i].ndim;
        for (int d = 0; d < kept[0] && is_same; d++)
            is_same = kept[1 + d] == shapes[i].dims[d];
    }
    return is_same;
}

ln_row *ln_row_create(size_t count, const ln_input_shape *shapes)
{
    ln_row *r = ln_alloc(sizeof *r + count * SHAPE_LEN * sizeof *r->shapes);
    if (!r)
        return NULL;
    r->shape_count = count;
    for (size_t i = 0; i < count; i++) {
        int *kept = r->shapes + i * SHAPE_LEN;
        kept[0] = shapes[i].ndim;
        for (int d = 0; d < kept[0]; d++)
            kept[1 + d] = shapes[i].dims[d];
    }
    return r;
}

// ---- The list; all with the lock ----

ln_row *ln_row_find(const ln_instances *all, size_t count, const ln_input_shape *shapes)
{
    ln_row *r = all->rows;
    while (r && !ln_instance_is_for(&r->held, count, shapes))
        r = r->next;
    return r;
}

void ln_row_list(ln_instances *all, ln_row *r)
{
    r->next = all->rows;
    r->is_listed = true;
    all->rows = r;
    all->count++;
}

void ln_row_unlist(ln_instances *all, ln_row *r)
{
    ln_row **at = &all->rows;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    r->is_listed = false;
    all->count--;
    all->byte_count -= r->byte_count;
}

// Held by `home`, and never dropped.
static ln_status list_first(ln_instances *all, const ln_instance *first, size_t count,
                            const ln_input_shape *shapes)
{
    ln_row *r = ln_row_create(count, shapes);
    if (!r)
        return LN_NO_MEMORY;
    r->held.instance = first;
    r->state = READY;
    r->holder_count = 1;
    all->has_first = true;
    all->byte_count = ln_memory_size(all->home->static_memory, LN_MEM_CPU);
    ln_row_list(all, r);
    return LN_OK;
}

ln_status ln_instances_create(ln_context *home, const ln_instance *first, size_t count,
                              const ln_input_shape *shapes, ln_instances **out_instances)
{
    *out_instances = NULL;
    ln_instances *all = ln_alloc(sizeof *all);
    if (!all)
        return LN_NO_MEMORY;
    all->home = home;
    ln_status status = make_locks(all);
    if (status != LN_OK) {
        ln_free(all);
        return status;
    }
    all->sharing = ln_plans_have_constants(home) ? HAS_FIRST : NO_FIRST;
    status = shapes ? list_first(all, first, count, shapes) : LN_OK;
    if (status == LN_OK)
        *out_instances = all;
    else
        ln_instances_destroy(all);
    return status;
}

// The row unused for longest; NULL: sessions hold them all.
static ln_row *find_oldest(const ln_instances *all)
{
    ln_row *oldest = NULL;
    for (ln_row *r = all->rows; r; r = r->next)
        if (r->holder_count == 0 && (!oldest || r->last_use < oldest->last_use))
            oldest = r;
    return oldest;
}

bool ln_rows_are_too_much(const ln_instances *all)
{
    size_t limit = all->home->limits.memory_byte_count;
    return all->count > MAX_KEPT || all->byte_count > limit ||
           all->workspace_byte_count > limit - all->byte_count;
}

// Takes rows that are too many off the list; they are to be destroyed without the lock.
ln_row *ln_rows_take_surplus(ln_instances *all)
{
    ln_row *surplus = NULL, *oldest;
    while (ln_rows_are_too_much(all) && (oldest = find_oldest(all))) {
        ln_row_unlist(all, oldest);
        oldest->next = surplus;
        surplus = oldest;
    }
    return surplus;
}

void ln_rows_destroy(ln_row *rows)
{
    for (ln_row *next; rows; rows = next) {
        next = rows->next;
        ln_row_destroy(rows);
    }
}

static void unlock(ln_instances *all)
{
    ln_row *surplus = ln_rows_take_surplus(all);
    pthread_mutex_unlock(&all->lock);
    ln_rows_destroy(surplus);
}

static void let_go(ln_instances *all, ln_row *r)
{
    bool is_last = --r->holder_count == 0 && !r->is_listed;
    unlock(all);
    if (is_last)
        ln_row_destroy(r);
}

// Waits until something has changed, or the caller's time is up.
static ln_status wait(ln_instances *all, const ln_context *caller)
{
    return ln_changes_wait(&all->changed, &all->lock, caller);
}

// ---- Making ----

// What another way of running may not fail for.
static bool is_refusal(ln_status status)
{
    return status != LN_NO_MEMORY && status != LN_TIMEOUT && status != LN_CANCELLED &&
           status != LN_LIMIT && status != LN_INTERNAL && !ln_error_is_of_device();
}

// What making has come to.
typedef struct made {
    ln_context *ctx;       // NULL: there can be no instance
    ln_instance *instance; // NULL: it is no frame
    bool has_joined;       // the constants that all share are in its memory, too
} made;

// The instance has constants in its own form.
static ln_status unload_home(ln_instances *all, const ln_context *caller)
{
    LN_TRY(ln_turn_take(&all->home_turn, caller));
    ln_context_unload_alone(all->home);
    ln_turn_give(&all->home_turn);
    return LN_OK;
}

static ln_status make_frame(made *m)
{
    if (ln_frame_fits(m->ctx))
        return ln_instance_create(m->ctx, &m->instance);
    ln_context_take_workspace(m->ctx);
    return LN_OK;
}

ln_status ln_instances_share_home(ln_instances *all)
{
    if (!all->has_first || all->is_shared)
        return LN_OK;
    LN_TRY(ln_plans_share_constants(all->home, all->home));
    all->is_shared = true;
    return LN_OK;
}

// Copies of the context run a plan that is no frame, with all operators.
static ln_status make_plan(ln_instances *all, const ln_context *caller, size_t count,
                           const ln_input_shape *shapes, ln_context **out_plan)
{
    *out_plan = NULL;
    if (!atomic_load(&all->has_plan_without_frame))
        LN_TRY(ln_plans_make_spared(all->home, caller, count, shapes, out_plan));
    if (*out_plan && (ln_frame_fits(*out_plan) || !ln_context_is_spared(*out_plan)))
        return LN_OK;
    if (*out_plan)
        atomic_store(&all->has_plan_without_frame, true);
    ln_context_free(*out_plan);
    return ln_plans_make_instance(all->home, caller, count, shapes, out_plan);
}

static ln_status make(ln_instances *all, const ln_context *caller, size_t count,
                      const ln_input_shape *shapes, bool is_first, made *m)
{
    if (is_first)
        LN_TRY(ln_instances_share_home(all));
    LN_TRY(make_plan(all, caller, count, shapes, &m->ctx));
    if (is_first && !all->has_first && !all->current)
        LN_TRY(unload_home(all, caller));
    LN_TRY(ln_plans_load_instance(all->home, m->ctx));
    LN_TRY(make_frame(m));
    if (!is_first || all->has_first)
        return ln_plans_extend_constants(all->home, m->ctx, &m->has_joined);
    m->has_joined = true;
    return ln_plans_share_constants(all->home, m->ctx);
}

static ln_status make_or_nothing(ln_instances *all, const ln_context *caller, size_t count,
                                 const ln_input_shape *shapes, bool is_first, made *m)
{
    *m = (made){0};
    ln_status status = make(all, caller, count, shapes, is_first, m);
    if (status == LN_OK)
        return LN_OK;
    ln_instance_destroy(m->instance);
    ln_context_free(m->ctx);
    m->instance = NULL;
    m->ctx = NULL;
    if (!is_refusal(status) || all->has_first)
        return status;
    ln_error_clear();
    return LN_OK;
}

static void note_failure(ln_row *r, ln_status status)
{
    bool is_of_maker = status == LN_TIMEOUT || status == LN_CANCELLED;
    r->state = is_of_maker ? ABANDONED : FAILED;
    r->status = status;
    r->is_of_device = ln_error_is_of_device();
    r->reason = is_of_maker ? NULL : ln_strdup(ln_error_message());
}

static ln_status add_planned(ln_context *graph, void *user)
{
    *(size_t *)user += graph->mem_sizes[LN_MEM_CPU];
    return LN_OK;
}

static void note_made(ln_instances *all, ln_row *r, const made *m)
{
    size_t byte_count = m->ctx ? ln_memory_size(m->ctx->static_memory, LN_MEM_CPU) : 0;
    size_t of_graphs = 0; // which have constants and a workspace of their own
    if (m->ctx)
        (void)ln_context_each_graph(m->ctx, add_planned, &of_graphs);
    r->byte_count = of_graphs + (m->has_joined ? 0 : byte_count); // the program holds those
    all->byte_count += of_graphs + byte_count;
    r->ctx = m->ctx;
    r->held.instance = r->instance = m->instance;
    r->state = m->ctx ? READY : REFUSED;
}

// With the lock, but while it makes.
static ln_status make_row(ln_instances *all, const ln_context *caller, ln_row *r, size_t count,
                          const ln_input_shape *shapes)
{
    bool is_first = all->sharing == NO_FIRST;
    if (is_first)
        all->sharing = MAKING_FIRST;
    pthread_mutex_unlock(&all->lock);
    made m;
    ln_status status = make_or_nothing(all, caller, count, shapes, is_first, &m);
    pthread_mutex_lock(&all->lock);
    if (is_first)
        all->sharing = m.ctx || all->is_shared ? HAS_FIRST : NO_FIRST;
    note_made(all, r, &m);
    if (status != LN_OK)
        note_failure(r, status);
    if (status != LN_OK && status != LN_LIMIT)
        ln_row_unlist(all, r);
    pthread_cond_broadcast(&all->changed);
    return status;
}

// ---- Holding ----

// Of a row that is held and MAKING. On failure the caller's time is up.
static ln_status wait_for(ln_instances *all, const ln_context *caller, const ln_row *r)
{
    while (r->state == MAKING)
        LN_TRY(wait(all, caller));
    return LN_OK;
}

static ln_status wait_for_first(ln_instances *all, const ln_context *caller)
{
    while (all->sharing == MAKING_FIRST)
        LN_TRY(wait(all, caller));
    return LN_OK;
}

static ln_status finish(const ln_row *r)
{
    if (r->state != FAILED)
        return LN_OK;
    ln_fail(r->status, "%s", r->reason ? r->reason : "out of memory");
    return r->is_of_device ? ln_error_note_device(r->status) : r->status;
}

// *out_row, which is held whatever happens, is NULL or ABANDONED if another attempt finds more.
static ln_status hold(ln_instances *all, const ln_context *caller, size_t count,
                      const ln_input_shape *shapes, ln_row **out_row)
{
    ln_row *r = *out_row = ln_row_find(all, count, shapes);
    if (!r && all->sharing == MAKING_FIRST)
        return wait_for_first(all, caller);
    if (!r) {
        r = *out_row = ln_row_create(count, shapes);
        if (!r)
            return LN_NO_MEMORY;
        r->holder_count = 1;
        ln_row_list(all, r);
        return make_row(all, caller, r, count, shapes);
    }
    r->holder_count++;
    LN_TRY(wait_for(all, caller, r));
    return finish(r);
}

// Whether that is the end of it; then *out_held is held, or NULL.
static bool settle(ln_instances *all, ln_row *r, ln_status status,
                   const ln_held_instance **out_held)
{
    bool is_over = status != LN_OK || (r && r->state != ABANDONED);
    bool is_held = status == LN_OK && r && r->state == READY;
    if (r)
        r->last_use = ++all->use_count;
    if (is_held)
        *out_held = &r->held;
    if (r && !is_held)
        let_go(all, r);
    else
        unlock(all);
    return is_over;
}

ln_status ln_instances_hold(ln_instances *all, const ln_context *caller, size_t count,
                            const ln_input_shape *shapes, const ln_held_instance **out_held)
{
    *out_held = NULL;
    for (;;) {
        ln_row *r;
        pthread_mutex_lock(&all->lock);
        ln_status status = hold(all, caller, count, shapes, &r);
        if (settle(all, r, status, out_held))
            return status;
    }
}

void ln_instances_let_go(ln_instances *all, const ln_held_instance *held)
{
    if (!held)
        return;
    pthread_mutex_lock(&all->lock);
    let_go(all, (ln_row *)(uintptr_t)held);
}

// ---- Contexts ----

static ln_status need_origin(ln_instances *all)
{
    if (all->origin || all->home->state == LN_CONTEXT_LOADED)
        return LN_OK;
    ln_context *origin;
    LN_TRY(ln_context_clone(all->home, &origin));
    ln_status status = ln_context_load(origin, all->home->datafile);
    if (status == LN_OK)
        all->origin = origin;
    else
        ln_context_free(origin);
    return status;
}

static ln_status clone_home(ln_instances *all, const ln_context *caller, ln_context **out_clone)
{
    LN_TRY(ln_turn_take(&all->home_turn, caller));
    ln_status status = need_origin(all);
    if (status == LN_OK)
        status = ln_context_clone(all->origin ? all->origin : all->home, out_clone);
    ln_turn_give(&all->home_turn);
    return status;
}

// With the operators that the instance of the row was spared.
static ln_status make_whole(ln_instances *all, const ln_context *caller, const ln_row *r,
                            ln_context **out_ctx)
{
    ln_context *ctx;
    LN_TRY(ln_plans_make_whole(all->home, caller, r->ctx, &ctx));
    ln_status status = ln_plans_load_instance(all->home, ctx);
    if (status == LN_OK)
        *out_ctx = ctx;
    else
        ln_context_free(ctx);
    return status;
}

static ln_status copy_instance(ln_instances *all, const ln_context *caller, const ln_row *r,
                               ln_context **out_clone)
{
    if (!r->ctx)
        return clone_home(all, caller, out_clone);
    if (ln_context_is_spared(r->ctx))
        return make_whole(all, caller, r, out_clone);
    return ln_context_clone(r->ctx, out_clone);
}

// Of the instance.
static ln_status clone_instance(ln_instances *all, const ln_context *caller, ln_row *r,
                                ln_context **out_clone)
{
    pthread_mutex_lock(&all->lock);
    *out_clone = r->idle;
    r->idle = NULL;
    pthread_mutex_unlock(&all->lock);
    if (!*out_clone)
        return copy_instance(all, caller, r, out_clone);
    ln_memory *workspace;
    ln_status status = ln_memory_create_raw((*out_clone)->devices, (*out_clone)->static_sizes,
                                            (*out_clone)->mem_sizes, &workspace);
    if (status == LN_OK) {
        status = ln_context_give_workspace(*out_clone, workspace);
        ln_memory_release(workspace);
    }
    if (status == LN_OK)
        return LN_OK;
    ln_context_free(*out_clone);
    *out_clone = NULL;
    return status;
}

ln_status ln_instances_take_context(ln_instances *all, const ln_context *caller,
                                    const ln_held_instance *held, ln_context **out_ctx)
{
    *out_ctx = NULL;
    return held ? clone_instance(all, caller, (ln_row *)(uintptr_t)held, out_ctx)
                : clone_home(all, caller, out_ctx);
}

// The values that a run has left take memory.
static void empty(ln_context *ctx)
{
    ln_tensor_entry *entry;
    for (size_t i = 0; (entry = (ln_tensor_entry *)(uintptr_t)ln_context_input(ctx, i)); i++)
        if (entry->is_open)
            ln_open_drop(entry);
    for (size_t i = 0; (entry = (ln_tensor_entry *)(uintptr_t)ln_context_output(ctx, i)); i++)
        if (entry->is_open && !entry->isstatic)
            ln_open_drop(entry);
    ln_context_take_workspace(ctx);
}

void ln_instances_give_context(ln_instances *all, const ln_held_instance *held, ln_context *ctx)
{
    ln_row *r = (ln_row *)(uintptr_t)held;
    if (!ctx || !r || ctx->graphs) { // which keep a workspace
        ln_context_free(ctx);
        return;
    }
    empty(ctx);
    pthread_mutex_lock(&all->lock);
    ln_context *surplus = r->idle;
    r->idle = ctx;
    pthread_mutex_unlock(&all->lock);
    ln_context_free(surplus);
}
