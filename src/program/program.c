// SPDX-License-Identifier: Apache-2.0
// Programs: a clone of a context, which no caller can change, and the instances made of it.

#include "program/program.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "compile/instance.h"
#include "ir/context.h"
#include "ir/open.h"

// ---- Life ----

static void destroy(ln_program *program)
{
    for (size_t i = 0; program->ends && i < program->input_count + program->output_count; i++) {
        ln_free(program->ends[i].name);
        ln_free(program->ends[i].first);
    }
    ln_free(program->ends);
    ln_program_release(program->failover);
    ln_instance_destroy(program->instance);
    if (!program->is_face) {
        ln_instances_destroy(program->instances);
        ln_context_free(program->ctx);
    }
    ln_free(program);
}

ln_program *ln_program_retain(ln_program *program)
{
    if (program)
        atomic_fetch_add_explicit(&program->holder_count, 1, memory_order_relaxed);
    return program;
}

void ln_program_release(ln_program *program)
{
    if (program && atomic_fetch_sub_explicit(&program->holder_count, 1, memory_order_acq_rel) == 1)
        destroy(program);
}

// ---- Making ----

// An input that the model gives a value, or the caller has before, begins with that in each
// session.
static ln_status copy_first(ln_program_end *end, const ln_tensor_entry *entry)
{
    size_t byte_count = tl_tensor_size(entry->tensor);
    const char *data = entry->tensor->data;
    if (entry->is_open || !data || byte_count == 0 ||
        (data[0] == 0 && memcmp(data, data + 1, byte_count - 1) == 0))
        return LN_OK;
    end->first = ln_alloc(byte_count);
    if (!end->first)
        return LN_NO_MEMORY;
    memcpy(end->first, data, byte_count);
    return LN_OK;
}

// Of a dynamic tensor there is only what the model states.
static void note_stated(const ln_context *ctx, ln_program_end *end, const char *name)
{
    end->is_dynamic = true;
    end->tensor = (tl_tensor){.dims = end->dims};
    end->tensor.ndim = ln_context_stated_type(ctx, name, &end->tensor.dtype, end->dims);
}

static ln_status note_end(const ln_context *ctx, ln_program_end *end, const ln_tensor_entry *entry)
{
    end->tensor = *entry->tensor;
    end->tensor.data = NULL;
    if (entry->is_open)
        note_stated(ctx, end, entry->name);
    end->name = ln_strdup(entry->name);
    return end->name ? LN_OK : LN_NO_MEMORY;
}

// True if there are some.
static bool note_open_axes(const ln_context *ctx, ln_program_end *end)
{
    for (int d = 0; d < end->tensor.ndim && !end->is_dynamic; d++)
        if (ln_context_tensor_dim(ctx, end->name, d) < 0)
            end->open_axes |= 1u << d;
    return end->open_axes != 0;
}

// Outputs follow from inputs.
static bool takes_shapes(const ln_program *program, const ln_program_end *end, bool has_instances)
{
    return end->is_dynamic ||
           (has_instances && (!end->is_input || ln_context_is_bound(program->ctx, end->name)));
}

static ln_status note_ends(ln_program *program, bool has_first, bool has_instances)
{
    const ln_context *ctx = program->ctx;
    size_t input_count = ln_context_input_count(ctx), output_count = ln_context_output_count(ctx);
    program->ends = ln_alloc_array(input_count + output_count + 1, sizeof *program->ends);
    if (!program->ends)
        return LN_NO_MEMORY;
    program->input_count = input_count;
    program->output_count = output_count;
    ln_program_end *end = program->ends;
    bool has_open_axes = false;
    for (size_t i = 0; i < input_count; i++, end++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, i);
        end->is_input = true;
        LN_TRY(note_end(ctx, end, entry));
        has_open_axes = note_open_axes(ctx, end) || has_open_axes;
        if (has_first)
            LN_TRY(copy_first(end, entry));
    }
    for (size_t i = 0; i < output_count; i++, end++) {
        LN_TRY(note_end(ctx, end, ln_context_output(ctx, i)));
        if (has_open_axes)
            note_open_axes(ctx, end);
    }
    for (size_t i = 0; i < input_count + output_count; i++)
        program->ends[i].takes_shapes = takes_shapes(program, &program->ends[i], has_instances);
    return LN_OK;
}

// Of a program that was never bound all are made for the shapes of runs; else there is one.
static ln_status make_instances(ln_program *program)
{
    if (ln_context_has_open_input(program->ctx))
        return ln_instances_create(program->ctx, NULL, 0, NULL, &program->instances);
    ln_input_shape *shapes = ln_alloc_array(program->input_count + 1, sizeof *shapes);
    if (!shapes)
        return LN_NO_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < program->input_count; i++) {
        const ln_program_end *end = &program->ends[i];
        if (end->takes_shapes)
            shapes[count++] = (ln_input_shape){
                .tname = end->name, .ndim = end->tensor.ndim, .dims = end->tensor.dims};
    }
    ln_status status =
        ln_instances_create(program->ctx, program->instance, count, shapes, &program->instances);
    ln_free(shapes);
    return status;
}

static ln_status adopt(ln_context *ctx, ln_program **out_program);

// Sessions that run clones have it in these.
static ln_status make_failover(ln_program *program)
{
    ln_context *failover = program->ctx->failover;
    if (!failover || program->ctx->has_stale_failover ||
        (!program->instance && !program->instances))
        return LN_OK;
    program->ctx->failover = NULL;
    return adopt(failover, &program->failover);
}

static ln_status fill(ln_program *program)
{
    bool has_frame = ln_frame_fits(program->ctx);
    bool has_instances = ln_plans_have_instances(program->ctx);
    LN_TRY(note_ends(program, true, has_instances));
    if (has_frame)
        LN_TRY(ln_instance_create(program->ctx, &program->instance));
    if (has_instances)
        LN_TRY(make_instances(program));
    return make_failover(program);
}

// Takes `ctx`, which has no other holder.
static ln_status adopt(ln_context *ctx, ln_program **out_program)
{
    ln_program *program = *out_program = ln_alloc(sizeof *program);
    if (!program) {
        ln_context_free(ctx);
        return LN_NO_MEMORY;
    }
    atomic_init(&program->holder_count, 1);
    program->ctx = ctx;
    ln_status status = fill(program);
    if (status != LN_OK) {
        destroy(program);
        *out_program = NULL;
    }
    return status;
}

ln_status ln_program_create(const ln_context *ctx, ln_program **out_program)
{
    if (!out_program)
        return LN_FAIL(LN_INVALID, "the place for the program is NULL");
    *out_program = NULL;
    if (!ctx || ctx->state != LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is not loaded; call ln_context_load first");
    ln_context *clone;
    LN_TRY(ln_context_clone(ctx, &clone));
    return adopt(clone, out_program);
}

ln_status ln_program_create_face(ln_context *ctx, ln_instances *instances, ln_program **out_program)
{
    *out_program = NULL;
    ln_program *program = ln_alloc(sizeof *program);
    if (!program)
        return LN_NO_MEMORY;
    atomic_init(&program->holder_count, 1);
    program->ctx = ctx;
    program->instances = instances;
    program->is_face = true;
    ln_status status = note_ends(program, false, true);
    if (status != LN_OK) {
        destroy(program);
        return status;
    }
    *out_program = program;
    return LN_OK;
}

// ---- Asking ----

size_t ln_program_input_count(const ln_program *program)
{
    return program ? program->input_count : 0;
}

size_t ln_program_output_count(const ln_program *program)
{
    return program ? program->output_count : 0;
}

int ln_program_is_fixed(const ln_program *program)
{
    return program && program->instance;
}

static ln_status find_end(const ln_program *program, size_t index, bool is_input,
                          const char **out_name, const tl_tensor **out_tensor)
{
    if (out_name)
        *out_name = NULL;
    if (out_tensor)
        *out_tensor = NULL;
    size_t count = is_input ? ln_program_input_count(program) : ln_program_output_count(program);
    if (index >= count)
        return LN_FAIL(LN_NOT_FOUND, "%s %zu of a program that has %zu",
                       is_input ? "input" : "output", index, count);
    const ln_program_end *end = &program->ends[is_input ? index : program->input_count + index];
    if (out_name)
        *out_name = end->name;
    if (out_tensor)
        *out_tensor = &end->tensor;
    return LN_OK;
}

ln_status ln_program_input(const ln_program *program, size_t index, const char **out_name,
                           const tl_tensor **out_tensor)
{
    return find_end(program, index, true, out_name, out_tensor);
}

ln_status ln_program_output(const ln_program *program, size_t index, const char **out_name,
                            const tl_tensor **out_tensor)
{
    return find_end(program, index, false, out_name, out_tensor);
}

// ---- By name ----

const ln_program_end *ln_program_find(const ln_program *program, const char *tname)
{
    if (!program || !tname) {
        ln_fail(LN_INVALID, "no program, or no name");
        return NULL;
    }
    for (size_t i = 0; i < program->input_count + program->output_count; i++)
        if (strcmp(program->ends[i].name, tname) == 0)
            return &program->ends[i];
    ln_fail(LN_NOT_FOUND, "the program has no input or output '%s'", tname);
    return NULL;
}

tl_dtype ln_program_tensor_dtype(const ln_program *program, const char *tname)
{
    const ln_program_end *end = ln_program_find(program, tname);
    return end ? end->tensor.dtype : TL_DTYPE_INVALID;
}

int ln_program_tensor_rank(const ln_program *program, const char *tname)
{
    const ln_program_end *end = ln_program_find(program, tname);
    return end ? end->tensor.ndim : -1;
}

int64_t ln_program_tensor_dim(const ln_program *program, const char *tname, int axis)
{
    const ln_program_end *end = ln_program_find(program, tname);
    if (!end || axis < 0 || axis >= end->tensor.ndim || (end->open_axes >> axis & 1u) != 0)
        return -1;
    return end->tensor.dims[axis];
}

const char *ln_program_tensor_symbol(const ln_program *program, const char *tname, int axis)
{
    const ln_program_end *end = ln_program_find(program, tname);
    return end ? ln_context_tensor_symbol(program->ctx, tname, axis) : NULL;
}

const ln_model_info *ln_program_info(const ln_program *program)
{
    return ln_context_info(program ? program->ctx : NULL);
}
