// SPDX-License-Identifier: Apache-2.0
// What kernels of custom operators ask during a run, and their shape functions before it.

#include "compat/ort/custom.h"

#include <string.h>

#include "op/call.h"

#define MAX_BATCHES ((size_t)1 << 20)

// ---- Inputs and outputs ----

static ort_status *KernelContext_GetInputCount(const ort_kernel_context *context, size_t *out)
{
    OUT(out, 0);
    NEED(context);
    *out = context->node->inputs.count;
    return NULL;
}

static ort_status *KernelContext_GetOutputCount(const ort_kernel_context *context, size_t *out)
{
    OUT(out, 0);
    NEED(context);
    *out = context->node->outputs.count;
    return NULL;
}

// NULL for one that is left out.
static ort_status *KernelContext_GetInput(const ort_kernel_context *context, size_t index,
                                          const ort_value **out)
{
    OUT(out, NULL);
    NEED(context);
    if (index < context->node->inputs.count)
        *out = context->inputs[index];
    return NULL;
}

static bool is_same_shape(const ort_shape *shape, const int64_t *dims, size_t count)
{
    return ort_rank_of(shape) == count &&
           (count == 0 || memcmp(shape->dims, dims, count * sizeof *dims) == 0);
}

static bool is_planned(const tl_tensor *dst, const ort_value *value)
{
    if (!dst->data || dst->dtype != ort_elements[value->shape.type].dtype ||
        dst->ndim != value->shape.ndim)
        return false;
    for (int i = 0; i < dst->ndim; i++)
        if (dst->dims[i] != value->shape.dims[i])
            return false;
    return true;
}

// Memory of its own for what has another form here; else where LightNet has the output.
static ort_status *give_memory(ort_kernel_context *context, size_t index, ort_value *value)
{
    int type = value->shape.type, dims[TL_MAXDIM];
    const tl_tensor *dst =
        ln_call_dst(context->call, ort_names_rank(&context->node->outputs, index));
    if (is_planned(dst, value)) {
        value->data = dst->data;
        return NULL;
    }
    for (int i = 0; i < value->shape.ndim; i++)
        dims[i] = (int)value->shape.dims[i];
    ln_object *object = ln_object_new_tensor(ort_elements[type].dtype, value->shape.ndim, dims,
                                             ln_call_meter(context->call));
    if (!object)
        return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    context->objects[index] = object;
    value->data = ln_object_tensor(object)->data;
    return NULL;
}

static int type_of_output(const ort_kernel_context *context, size_t index)
{
    const ort_kernel_info *node = context->node;
    int *in_types = ln_alloc_array(node->inputs.count + 1, sizeof *in_types);
    if (!in_types)
        return 0;
    for (size_t i = 0; i < node->inputs.count; i++)
        if (context->inputs[i])
            in_types[i] = context->inputs[i]->shape.type;
    int type = ort_find_output_type(node, context->op, index, in_types);
    ln_free(in_types);
    return type;
}

static ort_status *make_output(ort_kernel_context *context, size_t index, const int64_t *dims,
                               size_t count)
{
    int type = type_of_output(context, index);
    ort_value *value;
    if (!type)
        return ort_fail(ORT_INVALID_GRAPH, "the type of output %zu, '%s', is stated nowhere", index,
                        context->node->outputs.items[index]);
    if (type == ORT_STRING || type == ORT_BOOL)
        return ort_value_make(dims, count, type, false, &context->outputs[index]);
    TRY(ort_value_new(dims, count, type, &value));
    ort_status *status = give_memory(context, index, value);
    if (status) {
        ort_value_release(value);
        return status;
    }
    context->outputs[index] = value;
    return NULL;
}

// NULL for one that is left out. The context keeps the value.
static ort_status *KernelContext_GetOutput(ort_kernel_context *context, size_t index,
                                           const int64_t *dims, size_t count, ort_value **out)
{
    OUT(out, NULL);
    NEED(context);
    if (count > 0)
        NEED(dims);
    if (ort_names_rank(&context->node->outputs, index) < 0)
        return NULL;
    if (!context->outputs[index])
        TRY(make_output(context, index, dims, count));
    else if (!is_same_shape(&context->outputs[index]->shape, dims, count))
        return ort_fail(ORT_INVALID_ARGUMENT, "output %zu has got another shape before", index);
    *out = context->outputs[index];
    return NULL;
}

// ---- Memory ----

static ort_status *need_cpu(const ort_memory *memory)
{
    NEED(memory);
    return ort_is_cpu(memory)
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT, "there is no memory '%s'", memory->name);
}

static ort_status *KernelContext_GetAllocator(const ort_kernel_context *context,
                                              const ort_memory *memory, ort_allocator **out)
{
    OUT(out, NULL);
    NEED(context);
    TRY(need_cpu(memory));
    *out = &ort_cpu_allocator;
    return NULL;
}

// Until the kernel has returned.
static ort_status *KernelContext_GetScratchBuffer(ort_kernel_context *context,
                                                  const ort_memory *memory, size_t size, void **out)
{
    OUT(out, NULL);
    NEED(context);
    TRY(need_cpu(memory));
    void **blocks =
        ln_realloc(context->blocks, (context->block_count + 1) * sizeof *context->blocks);
    if (!blocks)
        return ort_fail_memory();
    context->blocks = blocks;
    void *block = ort_alloc(size);
    if (!block)
        return ort_fail_memory();
    *out = blocks[context->block_count++] = block;
    return NULL;
}

// There is neither a GPU nor a stream.
static ort_status *get_none(const ort_kernel_context *context, void **out)
{
    OUT(out, NULL);
    NEED(context);
    return NULL;
}

// Of a stream of another device, which a kernel on the CPU does not have.
static ort_status *KernelContext_GetResource(const ort_kernel_context *context, int version, int id,
                                             void **out)
{
    OUT(out, NULL);
    NEED(context);
    return ort_fail(ORT_INVALID_ARGUMENT,
                    "resource %d of version %d: resources are those of a stream, and kernels on "
                    "the CPU have no stream",
                    id, version);
}

// ---- Threads ----

// A job of ParallelFor: `batch_count` ranges of indices, each done by one thread.
typedef struct batches {
    void (*function)(void *user, size_t index);
    void *user;
    size_t count, batch_count;
    const ort_logger *logger;
} batches;

static size_t first_of(const batches *job, size_t batch)
{
    size_t rest = job->count % job->batch_count;
    return batch * (job->count / job->batch_count) + (batch < rest ? batch : rest);
}

static void run_batch(void *user, size_t index)
{
    const batches *job = user;
    const ort_logger *before = ort_log_to(job->logger);
    for (size_t i = first_of(job, index), end = first_of(job, index + 1); i < end; i++)
        job->function(job->user, i);
    ort_log_to(before);
}

// On the threads of the run. A kernel may use what all indices have written, so none is left out
// when the run is cancelled or out of time meanwhile.
static ort_status *KernelContext_ParallelFor(const ort_kernel_context *context,
                                             void (*function)(void *user, size_t index),
                                             size_t count, size_t batch_count, void *user)
{
    NEED(context);
    NEED(function);
    if (count == 0)
        return NULL;
    size_t wanted = batch_count ? batch_count : ln_call_thread_count(context->call);
    batches job = {function, user, count, wanted < count ? wanted : count, ort_log_current()};
    if (job.batch_count > MAX_BATCHES)
        job.batch_count = MAX_BATCHES;
    ln_call_run_tasks(context->call, job.batch_count, run_batch, &job);
    return NULL;
}

// ---- Shape functions ----

static ort_status *ShapeInferContext_GetInputCount(const ort_infer_context *context, size_t *out)
{
    OUT(out, 0);
    NEED(context);
    *out = context->node->inputs.count;
    return NULL;
}

// The context keeps it.
static ort_status *ShapeInferContext_GetInputTypeShape(const ort_infer_context *context,
                                                       size_t index, ort_shape **out)
{
    OUT(out, NULL);
    NEED(context);
    if (index >= context->node->inputs.count)
        return ort_fail(ORT_INVALID_ARGUMENT, "input %zu, of %zu", index,
                        context->node->inputs.count);
    *out = &context->inputs[index];
    return NULL;
}

static ort_status *ShapeInferContext_GetAttribute(ort_infer_context *context, const char *name,
                                                  const ort_attribute **out)
{
    ort_attribute *found;
    OUT(out, NULL);
    NEED(context);
    NEED(name);
    TRY(ort_attribute_find(context->node, name, &found));
    if (!found)
        return ort_fail(ORT_INVALID_ARGUMENT, "there is no attribute '%s'", name);
    found->next = context->attributes;
    context->attributes = found;
    *out = found;
    return NULL;
}

// One that the node leaves out is of no interest, and the function cannot know.
static ort_status *ShapeInferContext_SetOutputTypeShape(ort_infer_context *context, size_t index,
                                                        const ort_shape *shape)
{
    NEED(context);
    NEED(shape);
    if (index >= context->node->outputs.count)
        return NULL;
    ort_shape *output = &context->outputs[index];
    ort_shape_clear(output);
    return ort_shape_copy(output, shape) ? NULL : ort_fail_memory();
}

const ort_row ort_custom_context_slots[] = {
    SLOT(KernelContext_GetInputCount),
    SLOT(KernelContext_GetOutputCount),
    SLOT(KernelContext_GetInput),
    SLOT(KernelContext_GetOutput),
    SLOT(KernelContext_GetAllocator),
    SLOT(KernelContext_GetScratchBuffer),
    SLOT(KernelContext_ParallelFor),
    SLOT(KernelContext_GetResource),
    SLOT_AS(KernelContext_GetGPUComputeStream, get_none),
    SLOT_AS(KernelContext_GetSyncStream, get_none),
    SLOT(ShapeInferContext_GetInputCount),
    SLOT(ShapeInferContext_GetInputTypeShape),
    SLOT(ShapeInferContext_GetAttribute),
    SLOT(ShapeInferContext_SetOutputTypeShape),
    SLOT_END,
};
