// SPDX-License-Identifier: Apache-2.0
// Sessions: what is set, bound, run and looked at.

#include "program/session.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "compile/failover.h"
#include "ir/context.h"
#include "ir/devices.h"
#include "ir/open.h"
#include "ir/phase.h"
#include "ir/writes.h"
#include "program/session_async.h"
#include "run/run.h"
#include "tensor/meter.h"

// ---- Life ----

void ln_session_free(ln_session *session)
{
    if (!session || !ln_session_end_async(session))
        return;
    ln_session_end_values(session);
    ln_session_free(session->failover);
    ln_context_free(session->clone);
    ln_frame_destroy(session->frame);
    ln_free(session->bindings);
    ln_memory_release(session->workspace);
    ln_cancel_release(session->own_face.cancel);
    ln_free(session->own_face.observer);
    ln_pool_release(session->own_face.pool);
    ln_writes_release(session->own_face.writes);
    ln_devices_release(session->own_face.devices);
    ln_program_release(session->program);
    ln_free(session);
}

size_t ln_session_number(const ln_session *session, const ln_program_end *end)
{
    return (size_t)(end - session->program->ends);
}

tl_tensor *ln_session_frame_tensor(const ln_session *session, const ln_program_end *end)
{
    return ln_frame_tensor(session->frame,
                           session->instance->ends[ln_session_number(session, end)].index);
}

static void fill_first(const ln_session *session, const ln_program_end *end)
{
    tl_tensor *tensor = ln_session_frame_tensor(session, end);
    if (tensor->data && end->first)
        memcpy(tensor->data, end->first, tl_tensor_size(tensor));
    else if (tensor->data)
        memset(tensor->data, 0, tl_tensor_size(tensor));
}

// Operators write what they read, all but inputs.
static void set_inputs(ln_session *session)
{
    const ln_program *program = session->program;
    for (size_t i = 0; i < program->input_count; i++)
        fill_first(session, &program->ends[i]);
}

static ln_status make_frame(ln_session *session)
{
    const ln_context *ctx = session->program->ctx;
    session->instance = session->program->instance;
    LN_TRY(
        ln_memory_create_raw(ctx->devices, ctx->static_sizes, ctx->mem_sizes, &session->workspace));
    LN_TRY(ln_frame_copy(session->instance->frame, session->workspace, session->face,
                         &session->frame));
    set_inputs(session);
    return LN_OK;
}

static ln_status fill_session(ln_session *session)
{
    const ln_context *ctx = session->program->ctx;
    session->own_face = (ln_context){.state = LN_CONTEXT_LOADED,
                                     .limits = ctx->limits,
                                     .devices = ln_devices_retain(ctx->devices),
                                     .progress = &session->progress,
                                     .timeout = ctx->timeout,
                                     .priority = ctx->priority,
                                     .thread_count = ctx->thread_count,
                                     .pool = ln_pool_retain(ctx->pool),
                                     .writes = ln_writes_retain(ctx->writes)};
    session->face = &session->own_face;
    if (session->program->failover)
        LN_TRY(ln_session_create(session->program->failover, &session->failover));
    if (session->program->instance)
        return make_frame(session);
    return session->program->instances ? ln_session_begin_values(session)
                                       : ln_context_clone(ctx, &session->clone);
}

// The device has no memory for a session.
static ln_session *take_failover(ln_session *session)
{
    ln_session *failover = session->failover;
    ln_error_state reason;
    ln_failover_begin(&reason);
    session->failover = NULL;
    failover->is_failover = true;
    return failover;
}

ln_status ln_session_create(ln_program *program, ln_session **out_session)
{
    if (!out_session)
        return LN_FAIL(LN_INVALID, "the place for the session is NULL");
    *out_session = NULL;
    if (!program)
        return LN_FAIL(LN_INVALID, "the program is NULL");
    ln_session *session = ln_alloc(sizeof *session);
    if (!session)
        return LN_NO_MEMORY;
    session->program = ln_program_retain(program);
    ln_error_clear(); // what failed before is no reason
    ln_status status = fill_session(session);
    if (status == LN_OK) {
        *out_session = session;
        return LN_OK;
    }
    bool is_due = session->failover && ln_error_is_of_device();
    if (is_due)
        *out_session = take_failover(session);
    ln_session_free(session);
    return is_due ? LN_OK : status;
}

// ---- Data ----

static ln_status find_end(const ln_session *session, const char *tname,
                          const ln_program_end **out_end)
{
    *out_end = NULL;
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    LN_TRY(ln_session_check_idle(session));
    *out_end = ln_program_find(session->program, tname);
    return *out_end ? LN_OK : ln_error_status();
}

static const ln_program *program_of(const ln_session *session)
{
    return session ? session->program : NULL;
}

tl_dtype ln_session_tensor_dtype(const ln_session *session, const char *tname)
{
    return ln_program_tensor_dtype(program_of(session), tname);
}

int ln_session_tensor_rank(const ln_session *session, const char *tname)
{
    return ln_program_tensor_rank(program_of(session), tname);
}

int64_t ln_session_tensor_dim(const ln_session *session, const char *tname, int axis)
{
    return ln_program_tensor_dim(program_of(session), tname, axis);
}

const char *ln_session_tensor_symbol(const ln_session *session, const char *tname, int axis)
{
    return ln_program_tensor_symbol(program_of(session), tname, axis);
}

// Always; with values it does for some shapes alone.
static bool runs_clone(const ln_session *session)
{
    return session->clone && !session->values;
}

// An input where it is bound; NULL: it is not, or is no input.
static const tl_tensor *find_bound(const ln_session *session, const ln_program_end *end)
{
    const ln_session_binding *bound = end->is_input && session->bindings
                                          ? &session->bindings[ln_session_number(session, end)]
                                          : NULL;
    return bound && bound->data ? &bound->tensor : NULL;
}

// Whether the value of the input or output is the clone's.
static bool is_in_clone(const ln_session *session, const ln_program_end *end)
{
    return runs_clone(session) && !find_bound(session, end);
}

// Of one that is not.
static ln_status find_tensor(const ln_session *session, const ln_program_end *end,
                             const tl_tensor **out_tensor)
{
    *out_tensor = find_bound(session, end);
    if (*out_tensor)
        return LN_OK;
    if (session->has_failed_over && !end->is_input)
        return ln_session_borrow_tensor(session->failover, end->name, out_tensor);
    if (session->values)
        return ln_session_find_value(session, end, out_tensor);
    *out_tensor = ln_session_frame_tensor(session, end);
    return LN_OK;
}

ln_status ln_session_borrow_tensor(const ln_session *session, const char *tname,
                                   const tl_tensor **out_tensor)
{
    const ln_program_end *end;
    if (!out_tensor)
        return LN_FAIL(LN_INVALID, "the place for the tensor is NULL");
    *out_tensor = NULL;
    LN_TRY(find_end(session, tname, &end));
    if (!is_in_clone(session, end))
        return find_tensor(session, end, out_tensor);
    const ln_tensor_entry *entry = ln_tensor_table_find(session->clone->tensor_table, tname);
    if (entry->is_open && !entry->held)
        return LN_FAIL(LN_STATE,
                       "tensor '%s' has no value: it was not set, or the session has not "
                       "run",
                       tname);
    if (entry->mtype != LN_MEM_CPU && entry->mtype != LN_MEM_NONE)
        return LN_FAIL(LN_UNSUPPORTED, "tensor '%s' is in %s; ln_session_get_data copies it", tname,
                       ln_mem_type_title(entry->mtype));
    *out_tensor = entry->tensor;
    return LN_OK;
}

static ln_status find_input(const ln_session *session, const char *tname,
                            const ln_program_end **out_end)
{
    LN_TRY(find_end(session, tname, out_end));
    if (!(*out_end)->is_input)
        return LN_FAIL(LN_INVALID, "tensor '%s' is an output", tname);
    return LN_OK;
}

static ln_status check_size(const ln_program_end *end, const tl_tensor *tensor, const void *data,
                            size_t byte_count)
{
    size_t size = tl_tensor_size(tensor);
    if (!data)
        return LN_FAIL(LN_INVALID, "the data for tensor '%s' are NULL", end->name);
    if (byte_count != size)
        return LN_FAIL(LN_INVALID, "tensor '%s' has %zu bytes, the data %zu", end->name, size,
                       byte_count);
    return LN_OK;
}

static ln_status fail_shape(const ln_program_end *end, const tl_tensor *given)
{
    char wanted[LN_SHAPE_TEXT_BYTES], got[LN_SHAPE_TEXT_BYTES];
    ln_sprint_shape(wanted, sizeof wanted, end->tensor.ndim, end->tensor.dims);
    ln_sprint_shape(got, sizeof got, given->ndim, given->dims);
    return LN_FAIL(LN_INVALID, "tensor '%s' is %s %s, not %s %s", end->name,
                   tl_dtype_title(end->tensor.dtype), wanted, tl_dtype_title(given->dtype), got);
}

// ---- Memory of the caller's ----

void ln_session_move(const ln_session *session, size_t end, void *first)
{
    const ln_instance *instance = session->instance;
    for (size_t i = 0; i < instance->part_count; i++) {
        const ln_instance_part *part = &instance->parts[i];
        if (part->end == end)
            ln_frame_tensor(session->frame, part->index)->data = (char *)first + part->offset;
    }
}

// The end goes back to the session's own memory, whose contents are undefined.
static void unbind(ln_session *session, const ln_program_end *end)
{
    size_t number = ln_session_number(session, end);
    ln_session_binding *binding = session->bindings ? &session->bindings[number] : NULL;
    if (!binding || !binding->data)
        return;
    if (binding->is_in_place)
        ln_session_move(session, number,
                        ln_frame_own_address(session->instance->frame,
                                             session->instance->ends[number].index,
                                             ln_memory_start(session->workspace, LN_MEM_CPU)));
    *binding = (ln_session_binding){0};
}

static ln_status need_bindings(ln_session *session)
{
    const ln_program *program = session->program;
    if (!session->bindings)
        session->bindings =
            ln_alloc_array(program->input_count + program->output_count, sizeof *session->bindings);
    return session->bindings ? LN_OK : LN_NO_MEMORY;
}

static void bind(ln_session *session, const ln_program_end *end, const ln_session_binding *binding)
{
    size_t number = ln_session_number(session, end);
    unbind(session, end);
    ln_session_binding *bound = &session->bindings[number];
    *bound = *binding;
    bound->tensor = ln_session_bound_tensor(bound);
    session->has_new_bindings = true;
    size_t size = tl_tensor_size(&end->tensor);
    bound->is_in_place = session->program->instance && !session->values &&
                         session->instance->ends[number].can_move && size > 0 &&
                         bound->byte_count >= size && (uintptr_t)bound->data % LN_MEM_ALIGN == 0;
    if (bound->is_in_place)
        ln_session_move(session, number, bound->data);
}

static ln_status fail_no_bytes(const ln_program_end *end)
{
    return LN_FAIL(
        LN_UNSUPPORTED,
        "tensor '%s' is %s, which has no bytes of its own; use ln_session_set_object and "
        "ln_session_get_object",
        end->name, tl_dtype_title(end->tensor.dtype));
}

static bool has_no_bytes(tl_dtype dtype)
{
    return dtype == TL_STRING || dtype == TL_OBJECT;
}

// Of an input that may have other shapes.
static ln_status check_shape(const ln_session *session, const ln_program_end *end,
                             const tl_tensor *given)
{
    return (end->is_dynamic ? ln_context_check_tensor
                            : ln_context_check_unbound)(session->program->ctx, end->name, given);
}

// Values are apart from the frame, where there is one, from the first of another shape: [6, 1] is
// one, for a frame of [1, 6].
static ln_status leave_frame(ln_session *session, const ln_program_end *end, const tl_tensor *given)
{
    if (!session->frame || session->values || !end->takes_shapes ||
        tl_tensor_issameshape(given, &end->tensor))
        return LN_OK;
    return ln_session_begin_values(session);
}

static ln_status check_elements(const ln_program_end *end, const tl_tensor *given)
{
    int len;
    char shape[LN_SHAPE_TEXT_BYTES];
    if (!tl_shape_len(given->ndim, given->dims, &len))
        return LN_FAIL(LN_INVALID,
                       "input '%s': the tensor's shape, of rank %d, has a negative dimension, more "
                       "than %d, or too many elements",
                       end->name, given->ndim, TL_MAXDIM);
    ln_sprint_shape(shape, sizeof shape, given->ndim, given->dims);
    if (len != given->len)
        return LN_FAIL(LN_INVALID, "input '%s': the tensor's len is %d, and its shape %s has %d",
                       end->name, given->len, shape, len);
    if (len > 0 && !given->data)
        return LN_FAIL(LN_INVALID, "input '%s': the tensor of shape %s has no data", end->name,
                       shape);
    return LN_OK;
}

static ln_status check_bound_input(const ln_session *session, const ln_program_end *end,
                                   const tl_tensor *given)
{
    const tl_tensor *wanted = &end->tensor;
    if (has_no_bytes(wanted->dtype) || has_no_bytes(given->dtype))
        return fail_no_bytes(end);
    LN_TRY(check_elements(end, given));
    if (end->takes_shapes)
        return check_shape(session, end, given);
    if (given->dtype != wanted->dtype ||
        !ln_shape_fit(given->ndim, given->dims, wanted->ndim, wanted->dims, NULL))
        return fail_shape(end, given);
    return LN_OK;
}

static void fill_tensor(const ln_session *session, const ln_program_end *end,
                        const tl_tensor *given)
{
    if (given->len > 0) // else either may be NULL
        memcpy(ln_session_frame_tensor(session, end)->data, given->data, tl_tensor_size(given));
}

// The input has the elements of `given`, which fits.
static ln_status copy_value(ln_session *session, const ln_program_end *end, const tl_tensor *given)
{
    if (session->values)
        return ln_session_copy_value(session, end, given);
    if (!session->clone) {
        fill_tensor(session, end, given);
        return LN_OK;
    }
    if (!end->is_dynamic)
        return ln_context_set_data_n(session->clone, end->name, given->data, tl_tensor_size(given));
    ln_object *copy = ln_object_copy_tensor(given, NULL);
    if (!copy)
        return ln_error_status();
    ln_status status = ln_context_set_object(session->clone, end->name, copy);
    ln_object_release(copy);
    return status;
}

tl_tensor ln_session_bound_tensor(const ln_session_binding *binding)
{
    tl_tensor tensor = {.dtype = binding->dtype,
                        .ndim = binding->ndim,
                        .dims = (int *)(uintptr_t)binding->dims,
                        .data = binding->data};
    (void)tl_shape_len(tensor.ndim, tensor.dims, &tensor.len); // checked when it was bound
    return tensor;
}

// Inputs that are not read in place are copied before a run.
static ln_status copy_input(ln_session *session, const ln_program_end *end,
                            const ln_session_binding *binding)
{
    const tl_tensor given = ln_session_bound_tensor(binding);
    return copy_value(session, end, &given);
}

// Outputs that were not written in place are copied after a run.
static ln_status copy_output(ln_session *session, const ln_program_end *end,
                             const ln_session_binding *binding)
{
    const tl_tensor *tensor;
    LN_TRY(ln_session_borrow_tensor(session, end->name, &tensor));
    size_t byte_count = tl_tensor_size(tensor);
    if (has_no_bytes(tensor->dtype))
        return fail_no_bytes(end);
    if (byte_count > binding->byte_count)
        return LN_FAIL(LN_INVALID, "output '%s' has %zu bytes, the memory for it %zu", end->name,
                       byte_count, binding->byte_count);
    if (byte_count > 0)
        memcpy(binding->data, tensor->data, byte_count);
    return LN_OK;
}

static ln_status copy_bound(ln_session *session, bool is_input)
{
    const ln_program *program = session->program;
    size_t from = is_input ? 0 : program->input_count;
    size_t to = is_input ? program->input_count : from + program->output_count;
    for (size_t i = from; session->bindings && i < to; i++) {
        const ln_session_binding *binding = &session->bindings[i];
        if (binding->data && (!binding->is_in_place || (session->has_failed_over && !is_input)))
            LN_TRY((is_input ? copy_input : copy_output)(session, &program->ends[i], binding));
    }
    return LN_OK;
}

// The input keeps the value that it has in the caller's memory.
static ln_status end_input_binding(ln_session *session, const ln_program_end *end)
{
    const ln_session_binding *bound =
        session->bindings ? &session->bindings[ln_session_number(session, end)] : NULL;
    if (!bound || !bound->data)
        return LN_OK;
    const ln_session_binding last = *bound;
    unbind(session, end);
    return copy_input(session, end, &last);
}

static ln_status copy_first(ln_session *session, const ln_program_end *end)
{
    const tl_tensor *stated = &end->tensor;
    ln_object *first = ln_object_new_tensor(stated->dtype, stated->ndim, stated->dims, NULL);
    if (!first)
        return ln_error_status();
    if (end->first && !has_no_bytes(stated->dtype))
        memcpy(ln_object_tensor(first)->data, end->first, tl_tensor_size(stated));
    ln_status status = copy_value(session, end, ln_object_tensor(first));
    ln_object_release(first);
    return status;
}

// A dynamic input has no value before it is given one.
static void drop_value(ln_session *session, const ln_program_end *end)
{
    if (session->values)
        ln_session_hold_value(session, end, NULL);
    else if (session->clone)
        ln_open_drop(ln_tensor_table_find(session->clone->tensor_table, end->name));
}

ln_status ln_session_reset_input(ln_session *session, const char *tname)
{
    const ln_program_end *end;
    LN_TRY(find_input(session, tname, &end));
    unbind(session, end);
    if (end->is_dynamic)
        drop_value(session, end);
    else if (session->values || session->clone)
        return copy_first(session, end);
    else
        fill_first(session, end);
    return LN_OK;
}

ln_status ln_session_bind_input(ln_session *session, const char *tname, const tl_tensor *tensor)
{
    const ln_program_end *end;
    LN_TRY(find_input(session, tname, &end));
    if (!tensor)
        return end_input_binding(session, end);
    LN_TRY(check_bound_input(session, end, tensor));
    LN_TRY(need_bindings(session));
    LN_TRY(leave_frame(session, end, tensor));
    ln_session_binding binding = {.data = tensor->data,
                                  .byte_count = tl_tensor_size(tensor),
                                  .dtype = tensor->dtype,
                                  .ndim = tensor->ndim};
    static char none; // an empty tensor has no data to point to
    if (!binding.data)
        binding.data = &none;
    for (int d = 0; d < tensor->ndim; d++)
        binding.dims[d] = tensor->dims[d];
    bind(session, end, &binding);
    return LN_OK;
}

ln_status ln_session_bind_output(ln_session *session, const char *tname, void *data,
                                 size_t byte_count)
{
    const ln_program_end *end;
    LN_TRY(find_end(session, tname, &end));
    if (end->is_input)
        return LN_FAIL(LN_INVALID, "tensor '%s' is an input", tname);
    if (!data) {
        unbind(session, end);
        return LN_OK;
    }
    if (has_no_bytes(end->tensor.dtype))
        return fail_no_bytes(end);
    if (!end->takes_shapes)
        LN_TRY(check_size(end, &end->tensor, data, byte_count));
    LN_TRY(need_bindings(session));
    bind(session, end, &(ln_session_binding){.data = data, .byte_count = byte_count});
    return LN_OK;
}

// ---- Data as bytes ----

ln_status ln_session_set_data(ln_session *session, const char *tname, const void *data,
                              size_t byte_count)
{
    const ln_program_end *end;
    LN_TRY(find_input(session, tname, &end));
    if (end->is_dynamic)
        return LN_FAIL(LN_STATE,
                       "the shape of tensor '%s' is open: set a value that has a shape, an object "
                       "(ln_session_set_object)",
                       tname);
    if (runs_clone(session)) {
        LN_TRY(ln_context_set_data_n(session->clone, tname, data, byte_count));
        unbind(session, end);
        return LN_OK;
    }
    const tl_tensor *now = &end->tensor;
    if (session->values)
        LN_TRY(find_tensor(session, end, &now));
    LN_TRY(check_size(end, now, data, byte_count));
    int dims[TL_MAXDIM]; // those of a binding go with it
    tl_tensor given = *now;
    memcpy(dims, now->dims, (size_t)now->ndim * sizeof *dims);
    given.dims = dims;
    given.data = (void *)(uintptr_t)data;
    unbind(session, end);
    return copy_value(session, end, &given);
}

// Of a session that does not run a clone: an input or output whose bytes can be looked at.
static ln_status find_bytes(const ln_session *session, const ln_program_end *end,
                            const tl_tensor **out_tensor)
{
    LN_TRY(find_tensor(session, end, out_tensor));
    return session->values && has_no_bytes((*out_tensor)->dtype) ? fail_no_bytes(end) : LN_OK;
}

ln_status ln_session_get_data(ln_session *session, const char *tname, void *data, size_t byte_count)
{
    const ln_program_end *end;
    const tl_tensor *tensor;
    LN_TRY(find_end(session, tname, &end));
    if (is_in_clone(session, end))
        return ln_context_get_data_n(session->clone, tname, data, byte_count);
    LN_TRY(find_bytes(session, end, &tensor));
    LN_TRY(check_size(end, tensor, data, byte_count));
    if (byte_count > 0)
        memcpy(data, tensor->data, byte_count);
    return LN_OK;
}

ln_status ln_session_borrow_data(ln_session *session, const char *tname, const void **out_data,
                                 size_t *out_byte_count)
{
    const ln_program_end *end;
    const tl_tensor *tensor;
    if (!out_data || !out_byte_count)
        return LN_FAIL(LN_INVALID, "the place for the address or the size is NULL");
    *out_data = NULL;
    *out_byte_count = 0;
    LN_TRY(find_end(session, tname, &end));
    if (is_in_clone(session, end))
        return ln_context_borrow_data(session->clone, tname, out_data, out_byte_count);
    LN_TRY(find_bytes(session, end, &tensor));
    *out_data = tensor->data;
    *out_byte_count = tl_tensor_size(tensor);
    return LN_OK;
}

// ---- Values ----

static ln_status check_object(const ln_session *session, const ln_program_end *end,
                              const ln_object *object)
{
    if (!object)
        return LN_FAIL(LN_INVALID, "the value for tensor '%s' is NULL", end->name);
    const tl_tensor *given = ln_object_tensor(object);
    if (end->takes_shapes)
        return check_shape(session, end, given);
    if (!given)
        return LN_FAIL(LN_INVALID, "tensor '%s' is no sequence, optional or map", end->name);
    if (given->dtype != end->tensor.dtype ||
        !ln_shape_fit(given->ndim, given->dims, end->tensor.ndim, end->tensor.dims, NULL))
        return fail_shape(end, given);
    return LN_OK;
}

ln_status ln_session_set_object(ln_session *session, const char *tname, ln_object *object)
{
    const ln_program_end *end;
    LN_TRY(find_input(session, tname, &end));
    if (runs_clone(session)) {
        LN_TRY(ln_context_set_object(session->clone, tname, object));
        unbind(session, end);
        return LN_OK;
    }
    LN_TRY(check_object(session, end, object));
    if (!end->is_dynamic)
        LN_TRY(leave_frame(session, end, ln_object_tensor(object)));
    unbind(session, end);
    if (!end->is_dynamic)
        return copy_value(session, end, ln_object_tensor(object));
    ln_session_hold_value(session, end, object);
    return LN_OK;
}

ln_status ln_session_get_object(ln_session *session, const char *tname, ln_object **out_object)
{
    const ln_program_end *end;
    const tl_tensor *tensor;
    if (!out_object)
        return LN_FAIL(LN_INVALID, "the place for the value is NULL");
    *out_object = NULL;
    LN_TRY(find_end(session, tname, &end));
    if (is_in_clone(session, end))
        return ln_context_get_object(session->clone, tname, out_object);
    LN_TRY(find_tensor(session, end, &tensor));
    *out_object = ln_object_copy_tensor(tensor, NULL);
    return *out_object ? LN_OK : ln_error_status();
}

// ---- Running ----

// The rest of a run that ends early.
static void settle(const ln_session *session, size_t done)
{
    ln_error_state reason;
    ln_error_save(&reason);
    ln_frame_settle(session->frame, done);
    ln_error_restore(&reason);
}

static double total_cost(const ln_frame *frame)
{
    double sum = 0;
    for (size_t i = 0; i < ln_frame_step_count(frame); i++)
        sum += ln_frame_cost(frame, i);
    return sum;
}

ln_status ln_session_progress(const ln_session *session, double *out_done, double *out_total)
{
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    if (!session->values && session->clone) // which is the same from its beginning to its end
        return ln_context_progress(session->clone, out_done, out_total);
    ln_progress_read((struct ln_progress *)(uintptr_t)&session->progress, out_done, out_total);
    return LN_OK;
}

static ln_status run_step(const ln_frame *frame, size_t i, const ln_observer *observer,
                          const ln_op *op)
{
    if (observer && observer->before)
        observer->before(observer->user, op);
    ln_status status = ln_frame_run_step(frame, i);
    if (status == LN_OK && observer && observer->after)
        observer->after(observer->user, op);
    return status;
}

static ln_status run_frame_steps(ln_session *session)
{
    const ln_frame *frame = session->frame;
    struct ln_progress *progress = session->face->progress;
    double done = 0;
    ln_progress_begin(progress, total_cost(frame));
    LN_TRY(ln_frame_finish_in_time(frame, session->face));
    if (!ln_phase_take(session->face, session->instance->cost))
        return LN_FAIL(LN_LIMIT,
                       "a run costs %.4g work units, over the limit of %.4g (ln_limits.work)",
                       session->instance->cost, session->face->work_limit);
    for (size_t i = 0; i < ln_frame_step_count(frame); i++) {
        const ln_op op = {.op_arg = (ln_op_arg *)(uintptr_t)ln_frame_op(frame, i)};
        ln_status status = run_step(frame, i, session->face->observer, &op);
        bool is_done = status == LN_OK || ln_frame_is_wait(frame, i);
        // An operator that leaves early because time is up may say so in any way.
        ln_status late = ln_phase_check(session->face, &op);
        if (status == LN_OK && late == LN_OK) {
            done += ln_frame_cost(frame, i);
            ln_progress_set(progress, done);
            continue;
        }
        settle(session, is_done ? i + 1 : i);
        return late != LN_OK ? late : status;
    }
    ln_progress_end(progress);
    return LN_OK;
}

ln_status ln_session_run_steps(ln_session *session)
{
    fenv_t callers;
    ln_meter_begin_run(session->face->meter);
    ln_run_begin(session->face->pool, &callers);
    ln_status status = run_frame_steps(session);
    ln_run_end(session->face->pool, &callers);
    return status;
}

static ln_status run_frame(ln_session *session)
{
    ln_phase phase;
    LN_TRY(copy_bound(session, true));
    ln_phase_begin(session->face, LN_PHASE_RUN, &phase);
    return ln_phase_end(&phase, ln_session_run_steps(session));
}

static ln_status run_clone(ln_session *session)
{
    LN_TRY(copy_bound(session, true));
    return ln_context_run(session->clone);
}

// Bytes that both have.
static size_t overlap_of(const ln_session_binding *a, const ln_session_binding *b)
{
    uintptr_t a_first = (uintptr_t)a->data, b_first = (uintptr_t)b->data;
    if (!a->data || !b->data)
        return 0;
    uintptr_t first = a_first > b_first ? a_first : b_first;
    uintptr_t a_end = a_first + a->byte_count, b_end = b_first + b->byte_count;
    uintptr_t end = a_end < b_end ? a_end : b_end;
    return first < end ? end - first : 0;
}

// Output `number` is apart from all inputs, and from the outputs before it.
static ln_status check_output_apart(const ln_session *session, size_t number)
{
    const ln_program_end *ends = session->program->ends;
    const ln_session_binding *bindings = session->bindings;
    for (size_t i = 0; i < number; i++) {
        size_t byte_count = overlap_of(&bindings[number], &bindings[i]);
        if (byte_count > 0)
            return LN_FAIL(LN_INVALID,
                           "output '%s' is bound over %zu of the %zu bytes that %s '%s' is bound "
                           "to; bind each output to memory of its own",
                           ends[number].name, byte_count, bindings[i].byte_count,
                           ends[i].is_input ? "input" : "output", ends[i].name);
    }
    return LN_OK;
}

// Inputs may share what they read. Not looked at while memory is bound, as two that exchange theirs
// have the same in between.
static ln_status check_bindings(ln_session *session)
{
    const ln_program *program = session->program;
    if (!session->has_new_bindings)
        return LN_OK;
    for (size_t i = 0; i < program->output_count; i++)
        LN_TRY(check_output_apart(session, program->input_count + i));
    session->has_new_bindings = false;
    return LN_OK;
}

static ln_status run_once(ln_session *session)
{
    if (session->values)
        return ln_session_run_values(session);
    return session->clone ? run_clone(session) : run_frame(session);
}

// Both attempts are within one limit of time.
static ln_status run_or_fail_over(ln_session *session)
{
    ln_phase phase;
    ln_error_clear(); // what failed before is no reason
    ln_phase_begin(session->face, LN_PHASE_RUN, &phase);
    return ln_phase_end(&phase, ln_session_fail_over(session, run_once(session)));
}

ln_status ln_session_run_now(ln_session *session)
{
    session->has_failed_over = false;
    LN_TRY(check_bindings(session));
    LN_TRY(session->failover ? run_or_fail_over(session) : run_once(session));
    if (session->is_failover)
        atomic_fetch_add(&session->failover_count, 1);
    return copy_bound(session, false);
}

static ln_status check_ended(const ln_session *session)
{
    return session ? ln_session_check_ended(session) : LN_FAIL(LN_INVALID, "the session is NULL");
}

ln_status ln_session_run(ln_session *session)
{
    LN_TRY(check_ended(session));
    return ln_session_run_now(session);
}

ln_status ln_session_set_timeout(ln_session *session, double seconds)
{
    LN_TRY(check_ended(session));
    return ln_context_set_timeout(runs_clone(session) ? session->clone : session->face, seconds);
}

ln_status ln_session_set_priority(ln_session *session, int priority)
{
    LN_TRY(check_ended(session));
    LN_TRY(ln_context_set_priority(session->face, priority));
    return session->clone ? ln_context_set_priority(session->clone, priority) : LN_OK;
}

ln_status ln_session_set_cancel(ln_session *session, ln_cancel *cancel)
{
    LN_TRY(check_ended(session));
    return ln_context_set_cancel(runs_clone(session) ? session->clone : session->face, cancel);
}

ln_status ln_session_set_observer_sized(ln_session *session, const ln_observer *observer,
                                        size_t byte_count)
{
    LN_TRY(check_ended(session));
    if (session->failover)
        LN_TRY(ln_session_set_observer_sized(session->failover, observer, byte_count));
    return ln_context_set_observer_sized(runs_clone(session) ? session->clone : session->face,
                                         observer, byte_count);
}
