// SPDX-License-Identifier: Apache-2.0
// Sessions whose runs take the instance for the shapes of their inputs.
//
// A session holds the values of its inputs, and has a frame once it has run: a copy of the
// instance's, in a workspace that grows. Where the instance is no frame, or there can be none, a
// clone runs instead: of its context, or of the program's.

#include "program/session.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "base/error_state.h"
#include "compile/exchange.h"
#include "compile/runner.h"
#include "ir/context.h"
#include "ir/phase.h"
#include "ir/symbols.h"

// ---- Values ----

// Of an input that has one from the beginning, be it in a frame by now.
static ln_status make_first(const ln_session *session, const ln_program_end *end,
                            ln_object **out_value)
{
    const tl_tensor *tensor = session->frame ? ln_session_frame_tensor(session, end) : &end->tensor;
    *out_value = ln_object_new_tensor(tensor->dtype, tensor->ndim, tensor->dims, NULL);
    if (!*out_value)
        return ln_error_status();
    const void *first = session->frame ? tensor->data : end->first;
    if (first && tensor->len > 0)
        memcpy(ln_object_tensor(*out_value)->data, first, tl_tensor_size(tensor));
    return LN_OK;
}

static ln_status make_values(ln_session *session)
{
    const ln_program *program = session->program;
    session->values = ln_alloc_array(program->input_count + 1, sizeof *session->values);
    session->shapes = ln_alloc_array(program->input_count + 1, sizeof *session->shapes);
    if (!session->values || !session->shapes)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < program->input_count; i++)
        if (!program->ends[i].is_dynamic)
            LN_TRY(make_first(session, &program->ends[i], &session->values[i]));
    return LN_OK;
}

// From now on runs have the plan of `held`, NULL: that of the program's context.
static void enter(ln_session *session, const ln_held_instance *held)
{
    ln_instances *instances = session->program->instances;
    ln_frame_destroy(session->frame);
    session->frame = NULL;
    ln_instances_give_context(instances, session->held, session->clone);
    session->clone = NULL;
    ln_instances_let_go(instances, session->held);
    session->held = held;
}

static void free_values(ln_session *session)
{
    for (size_t i = 0; session->values && i < session->program->input_count; i++)
        ln_object_release(session->values[i]);
    ln_free(session->values);
    ln_free(session->shapes);
    session->values = NULL;
    session->shapes = NULL;
}

ln_status ln_session_begin_values(ln_session *session)
{
    ln_status status = make_values(session);
    if (status != LN_OK)
        free_values(session);
    else
        session->has_results = session->frame != NULL;
    return status;
}

void ln_session_end_values(ln_session *session)
{
    free_values(session);
    if (session->program->instances)
        enter(session, NULL);
}

static ln_status fail_no_value(const ln_program_end *end)
{
    return LN_FAIL(LN_STATE, "tensor '%s' has no value: it was not set, or the session has not run",
                   end->name);
}

static ln_status find_result(const ln_session *session, const ln_program_end *end,
                             const tl_tensor **out_tensor)
{
    if (!session->has_cloned) {
        *out_tensor = ln_session_frame_tensor(session, end);
        return LN_OK;
    }
    const ln_tensor_entry *entry = ln_tensor_table_find(session->clone->tensor_table, end->name);
    if (entry->is_open && !entry->held)
        return fail_no_value(end);
    *out_tensor = entry->tensor;
    return LN_OK;
}

ln_status ln_session_find_value(const ln_session *session, const ln_program_end *end,
                                const tl_tensor **out_tensor)
{
    if (!end->is_input && session->has_results)
        return find_result(session, end, out_tensor);
    const ln_object *value =
        end->is_input ? session->values[ln_session_number(session, end)] : NULL;
    if (!value)
        return fail_no_value(end);
    *out_tensor = ln_object_tensor(value);
    return LN_OK;
}

void ln_session_hold_value(const ln_session *session, const ln_program_end *end, ln_object *object)
{
    ln_object **value = &session->values[ln_session_number(session, end)];
    ln_object_retain(object);
    ln_object_release(*value);
    *value = object;
}

ln_status ln_session_copy_value(ln_session *session, const ln_program_end *end,
                                const tl_tensor *given)
{
    ln_object **value = &session->values[ln_session_number(session, end)];
    const tl_tensor *had = *value ? ln_object_tensor(*value) : NULL;
    // Where it is dynamic, what it holds is the caller's too.
    if (end->is_dynamic || (end->takes_shapes && !tl_tensor_issameshape(given, had))) {
        ln_object *copy = ln_object_copy_tensor(given, NULL);
        if (!copy)
            return ln_error_status();
        ln_object_release(*value);
        *value = copy;
    } else if (given->len > 0) {
        memcpy(ln_object_tensor(*value)->data, given->data, tl_tensor_size(given));
    }
    return LN_OK;
}

// ---- What a run is given ----

// The elements and shape that a run reads input `i` from.
ln_status ln_session_find_given(const ln_session *session, size_t i, tl_tensor *out_given)
{
    const ln_session_binding *binding = session->bindings ? &session->bindings[i] : NULL;
    if (binding && binding->data) {
        *out_given = ln_session_bound_tensor(binding);
        return LN_OK;
    }
    if (!session->values) {
        *out_given = *ln_session_frame_tensor(session, &session->program->ends[i]);
        return LN_OK;
    }
    if (!session->values[i])
        return fail_no_value(&session->program->ends[i]);
    *out_given = *ln_object_tensor(session->values[i]);
    return LN_OK;
}

static ln_status list_shapes(ln_session *session, size_t *out_count)
{
    const ln_program *program = session->program;
    *out_count = 0;
    for (size_t i = 0; i < program->input_count; i++) {
        tl_tensor given;
        LN_TRY(ln_session_find_given(session, i, &given));
        if (program->ends[i].takes_shapes)
            session->shapes[(*out_count)++] = (ln_input_shape){
                .tname = program->ends[i].name, .ndim = given.ndim, .dims = given.dims};
    }
    return LN_OK;
}

// ---- In a frame ----

// What the plan needs and, so that lengths that grow by one do not each take a new one, a quarter
// more than there was, if the limit allows that.
static ln_status need_workspace(ln_session *session, const ln_context *plan)
{
    size_t begin = plan->static_sizes[LN_MEM_CPU], need = plan->mem_sizes[LN_MEM_CPU] - begin;
    if (ln_memory_has_room(session->workspace, plan->static_sizes, plan->mem_sizes))
        return LN_OK;
    size_t had = ln_memory_size(session->workspace, LN_MEM_CPU), more = had + had / 4;
    size_t limit = session->face->limits.memory_byte_count;
    size_t most = limit > begin ? limit - begin : 0;
    size_t begins[LN_MEM_TYPE_SIZE] = {0}, ends[LN_MEM_TYPE_SIZE] = {0};
    more = more < most ? more : most;
    bool has_more = ln_size_align(more, LN_MEM_ALIGN, &more) && had > 0 && more > need;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        size_t has = ln_memory_size(session->workspace, (ln_mem_type)m);
        ends[m] = plan->mem_sizes[m] - plan->static_sizes[m];
        ends[m] = ends[m] > has ? ends[m] : has;
    }
    ends[LN_MEM_CPU] = has_more ? more : need;
    // No frame is in it, and a device may not have room for two.
    ln_memory_release(session->workspace);
    session->workspace = NULL;
    return ln_memory_create_raw(plan->devices, begins, ends, &session->workspace);
}

// No memory of the caller's is in use where it is.
static void forget_places(const ln_session *session)
{
    size_t end_count = session->program->input_count + session->program->output_count;
    for (size_t i = 0; session->bindings && i < end_count; i++)
        session->bindings[i].is_in_place = false;
}

static ln_status need_frame(ln_session *session)
{
    const ln_instance *instance = session->held->instance;
    if (session->frame)
        return LN_OK;
    LN_TRY(need_workspace(session, instance->ctx));
    session->instance = instance;
    forget_places(session);
    return ln_frame_copy(instance->frame, session->workspace, session->face, &session->frame);
}

// Whether the tensor of input or output `number` may be where that is bound.
static bool can_use(const ln_session *session, size_t number)
{
    const ln_session_binding *binding = session->bindings ? &session->bindings[number] : NULL;
    const ln_instance_end *end = &session->instance->ends[number];
    size_t size = tl_tensor_size(&end->tensor);
    return binding && binding->data && end->can_move && size > 0 && size <= binding->byte_count &&
           (uintptr_t)binding->data % LN_MEM_ALIGN == 0;
}

static void use_bound(ln_session *session, size_t number)
{
    session->bindings[number].is_in_place = true;
    ln_session_move(session, number, session->bindings[number].data);
}

// Memory that is bound is read and written where it is, if it may be; the rest is copied.
static ln_status put_ends(ln_session *session)
{
    const ln_program *program = session->program;
    for (size_t i = 0; i < program->input_count; i++) {
        tl_tensor given;
        LN_TRY(ln_session_find_given(session, i, &given));
        if (can_use(session, i))
            use_bound(session, i);
        else if (given.len > 0)
            memcpy(ln_session_frame_tensor(session, &program->ends[i])->data, given.data,
                   tl_tensor_size(&given));
    }
    for (size_t i = 0; i < program->output_count; i++)
        if (can_use(session, program->input_count + i))
            use_bound(session, program->input_count + i);
    return LN_OK;
}

static ln_status run_frame(ln_session *session)
{
    LN_TRY(need_frame(session));
    LN_TRY(put_ends(session));
    return ln_session_run_steps(session);
}

// ---- In a clone ----

static ln_status give_clone(const ln_session *session, size_t i)
{
    const ln_program_end *end = &session->program->ends[i];
    tl_tensor given;
    LN_TRY(ln_session_find_given(session, i, &given));
    bool is_value = session->values[i] && given.data == ln_object_tensor(session->values[i])->data;
    const ln_tensor_entry *input = ln_tensor_table_find(session->clone->tensor_table, end->name);
    if (!is_value && given.len > 0 && input && !input->is_open &&
        input->tensor->dtype == given.dtype && tl_tensor_issameshape(input->tensor, &given))
        return ln_context_set_data(session->clone, end->name, given.data);
    ln_object *value =
        is_value ? ln_object_retain(session->values[i]) : ln_object_copy_tensor(&given, NULL);
    if (!value)
        return ln_error_status();
    ln_status status = ln_context_set_object(session->clone, end->name, value);
    ln_object_release(value);
    return status;
}

// Observers of a context look into its tables, which a frame has none of.
static bool observes_tables(const ln_session *session)
{
    return session->face != &session->own_face && session->face->observer;
}

// The clone is in the place of the face, so that limits, time, threads and the observer are its.
static ln_status run_clone(ln_session *session)
{
    forget_places(session);
    if (!session->clone)
        LN_TRY(ln_instances_take_context(session->program->instances, session->face, session->held,
                                         &session->clone));
    for (size_t i = 0; i < session->program->input_count; i++)
        LN_TRY(give_clone(session, i));
    ln_context_exchange(session->face, session->clone);
    ln_status status = ln_context_run_alone(session->face);
    ln_context_exchange(session->face, session->clone);
    return status;
}

// ---- Running ----

static ln_status hold(ln_session *session, const ln_held_instance **out_held)
{
    size_t count;
    *out_held = NULL;
    LN_TRY(list_shapes(session, &count));
    if (session->held && ln_instance_is_for(session->held, count, session->shapes)) {
        *out_held = session->held;
        return LN_OK;
    }
    ln_phase phase;
    ln_phase_begin(session->face, LN_PHASE_PLAN, &phase);
    return ln_phase_end(&phase, ln_instances_hold(session->program->instances, session->face, count,
                                                  session->shapes, out_held));
}

static ln_status change_to(ln_session *session, const ln_held_instance *held)
{
    ln_status status = LN_OK;
    if (session->frame)
        status = ln_frame_finish_in_time(session->frame, session->face);
    if (status == LN_OK && session->clone)
        status = ln_context_finish_devices(session->clone, session->face);
    if (status == LN_OK)
        enter(session, held);
    else
        ln_instances_let_go(session->program->instances, held);
    return status;
}

// Where a device has no room for a new instance beside the workspace, that goes.
static ln_status hold_alone(ln_session *session, const ln_held_instance **out_held)
{
    ln_status status = hold(session, out_held);
    if (status != LN_NO_MEMORY || !session->workspace)
        return status;
    LN_TRY(change_to(session, NULL));
    ln_memory_release(session->workspace);
    session->workspace = NULL;
    ln_error_clear();
    return hold(session, out_held);
}

static ln_status run(ln_session *session)
{
    const ln_held_instance *held;
    session->has_results = false;
    LN_TRY(hold_alone(session, &held));
    if (held != session->held)
        LN_TRY(change_to(session, held));
    if (!held && session->face != &session->own_face)
        return LN_OK; // its context runs them
    session->has_cloned = !held || !held->instance || observes_tables(session);
    LN_TRY(session->has_cloned ? run_clone(session) : run_frame(session));
    session->has_results = true;
    return LN_OK;
}

// A context's run adds that itself.
static ln_status explain(ln_session *session, ln_status status)
{
    size_t count;
    if (status != LN_INVALID || session->face != &session->own_face)
        return status;
    ln_error_state reason;
    ln_error_save(&reason);
    bool is_listed = list_shapes(session, &count) == LN_OK;
    ln_error_restore(&reason);
    return is_listed ? ln_symbols_explain(session->program->ctx, status, count, session->shapes)
                     : status;
}

ln_status ln_session_run_values(ln_session *session)
{
    ln_phase phase;
    ln_phase_begin(session->face, LN_PHASE_RUN, &phase);
    return ln_phase_end(&phase, explain(session, run(session)));
}
