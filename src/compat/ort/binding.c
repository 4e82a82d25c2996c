// SPDX-License-Identifier: Apache-2.0
// Bindings: the inputs and outputs of runs, kept by name.

#include "compat/ort/ort.h"

#include <string.h>

typedef struct bound {
    char *name;
    ort_value *value; // of an output: NULL before a run that makes it
    bool is_made;     // each run makes it anew
} bound;

typedef struct bounds {
    bound *items;
    size_t count;
} bounds;

typedef struct ort_binding {
    ort_session *session;
    bounds inputs, outputs;
} ort_binding;

static void clear(bounds *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ln_free(list->items[i].name);
        ort_value_release(list->items[i].value);
    }
    ln_free(list->items);
    *list = (bounds){0};
}

static ort_status *CreateIoBinding(ort_session *session, ort_binding **out)
{
    OUT(out, NULL);
    NEED(session);
    ort_binding *binding = ln_alloc(sizeof *binding);
    if (!binding)
        return ort_fail_memory();
    binding->session = ort_session_retain(session);
    *out = binding;
    return NULL;
}

static void ReleaseIoBinding(ort_binding *binding)
{
    if (!binding)
        return;
    clear(&binding->inputs);
    clear(&binding->outputs);
    ort_session_release(binding->session);
    ln_free(binding);
}

// A name that is bound gets the new value.
static ort_status *bind(bounds *list, const char *name, const ort_value *value)
{
    size_t i = 0;
    while (i < list->count && strcmp(list->items[i].name, name) != 0)
        i++;
    if (i == list->count) {
        bound *grown = ln_realloc(list->items, (i + 1) * sizeof *grown);
        if (!grown)
            return ort_fail_memory();
        list->items = grown;
        grown[i] = (bound){.name = ln_strdup(name)};
        if (!grown[i].name)
            return ort_fail_memory();
        list->count++;
    }
    ort_value *old = list->items[i].value;
    list->items[i].value = value ? ort_value_retain(value) : NULL;
    list->items[i].is_made = !value;
    ort_value_release(old);
    return NULL;
}

static ort_status *BindInput(ort_binding *binding, const char *name, const ort_value *value)
{
    NEED(binding);
    NEED(name);
    NEED(value);
    if (!ort_end_find(&binding->session->inputs, name) &&
        !ort_end_find(&binding->session->initializers, name))
        return ort_fail(ORT_FAIL, "the model has no input '%s'", name);
    return bind(&binding->inputs, name, value);
}

// A name that the model does not have is refused by the run, as there.
static ort_status *BindOutput(ort_binding *binding, const char *name, const ort_value *value)
{
    NEED(binding);
    NEED(name);
    NEED(value);
    return bind(&binding->outputs, name, value);
}

static ort_status *BindOutputToDevice(ort_binding *binding, const char *name,
                                      const ort_memory *memory)
{
    NEED(binding);
    NEED(name);
    NEED(memory);
    if (!ort_is_cpu(memory))
        return ort_fail(ORT_INVALID_ARGUMENT, "values are in 'Cpu', not in '%s'", memory->name);
    return bind(&binding->outputs, name, NULL);
}

static void ClearBoundInputs(ort_binding *binding)
{
    if (binding)
        clear(&binding->inputs);
}

static void ClearBoundOutputs(ort_binding *binding)
{
    if (binding)
        clear(&binding->outputs);
}

// Values are in one memory, and runs have ended when they return.
static ort_status *synchronize(ort_binding *binding)
{
    NEED(binding);
    return NULL;
}

// ---- Results ----

static ort_status *GetBoundOutputNames(const ort_binding *binding, ort_allocator *allocator,
                                       char **out_bytes, size_t **out_lens, size_t *out_count)
{
    OUT(out_bytes, NULL);
    OUT(out_lens, NULL);
    OUT(out_count, 0);
    NEED(binding);
    NEED(allocator);
    size_t byte_count = 0, count = binding->outputs.count;
    for (size_t i = 0; i < count; i++)
        byte_count += strlen(binding->outputs.items[i].name);
    if (count == 0)
        return NULL;
    char *bytes = allocator->alloc(allocator, byte_count + 1), *at = bytes;
    size_t *lens = allocator->alloc(allocator, count * sizeof *lens);
    if (!bytes || !lens) {
        if (bytes)
            allocator->free(allocator, bytes);
        if (lens)
            allocator->free(allocator, lens);
        return ort_fail_memory();
    }
    for (size_t i = 0; i < count; i++, at += lens[i - 1]) {
        lens[i] = strlen(binding->outputs.items[i].name);
        memcpy(at, binding->outputs.items[i].name, lens[i]);
    }
    *out_bytes = bytes;
    *out_lens = lens;
    *out_count = count;
    return NULL;
}

static ort_status *GetBoundOutputValues(const ort_binding *binding, ort_allocator *allocator,
                                        ort_value ***out_values, size_t *out_count)
{
    OUT(out_values, NULL);
    OUT(out_count, 0);
    NEED(binding);
    NEED(allocator);
    size_t count = binding->outputs.count;
    for (size_t i = 0; i < count; i++)
        if (!binding->outputs.items[i].value)
            return ort_fail(ORT_INVALID_ARGUMENT, "output '%s' has no value before a run",
                            binding->outputs.items[i].name);
    if (count == 0)
        return NULL;
    ort_value **values = allocator->alloc(allocator, count * sizeof(ort_value *));
    if (!values)
        return ort_fail_memory();
    for (size_t i = 0; i < count; i++)
        values[i] = ort_value_retain(binding->outputs.items[i].value);
    *out_values = values;
    *out_count = count;
    return NULL;
}

// ---- Runs ----

// The arrays of a call.
typedef struct arrays {
    const char **input_names, **output_names;
    const ort_value **inputs;
    ort_value **outputs;
} arrays;

static bool list(const ort_binding *binding, arrays *a)
{
    size_t input_count = binding->inputs.count, output_count = binding->outputs.count;
    a->input_names = ln_alloc_array(input_count + 1, sizeof *a->input_names);
    a->inputs = ln_alloc_array(input_count + 1, sizeof *a->inputs);
    a->output_names = ln_alloc_array(output_count + 1, sizeof *a->output_names);
    a->outputs = ln_alloc_array(output_count + 1, sizeof *a->outputs);
    if (!a->input_names || !a->inputs || !a->output_names || !a->outputs)
        return false;
    for (size_t i = 0; i < input_count; i++) {
        a->input_names[i] = binding->inputs.items[i].name;
        a->inputs[i] = binding->inputs.items[i].value;
    }
    for (size_t i = 0; i < output_count; i++) {
        const bound *output = &binding->outputs.items[i];
        a->output_names[i] = output->name;
        a->outputs[i] = output->is_made ? NULL : output->value;
    }
    return true;
}

static void keep_made(ort_binding *binding, const arrays *a)
{
    for (size_t i = 0; i < binding->outputs.count; i++) {
        bound *output = &binding->outputs.items[i];
        if (!output->is_made)
            continue;
        ort_value_release(output->value);
        output->value = a->outputs[i];
    }
}

static ort_status *RunWithBinding(ort_session *session, ort_run_options *options,
                                  ort_binding *binding)
{
    NEED(session);
    NEED(binding);
    if (binding->session != session)
        return ort_fail(ORT_INVALID_ARGUMENT, "the binding is one of another session");
    if (binding->outputs.count == 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "no output is bound");
    arrays a = {0};
    ort_status *status = list(binding, &a)
                             ? ort_run(&(ort_call){.session = session,
                                                   .options = options,
                                                   .input_names = a.input_names,
                                                   .inputs = a.inputs,
                                                   .input_count = binding->inputs.count,
                                                   .output_names = a.output_names,
                                                   .outputs = a.outputs,
                                                   .output_count = binding->outputs.count})
                             : ort_fail_memory();
    if (!status)
        keep_made(binding, &a);
    ln_free(a.input_names);
    ln_free(a.inputs);
    ln_free(a.output_names);
    ln_free(a.outputs);
    return status;
}

const ort_row ort_binding_slots[] = {
    SLOT(CreateIoBinding),
    SLOT(ReleaseIoBinding),
    SLOT(BindInput),
    SLOT(BindOutput),
    SLOT(BindOutputToDevice),
    SLOT(ClearBoundInputs),
    SLOT(ClearBoundOutputs),
    SLOT_AS(SynchronizeBoundInputs, synchronize),
    SLOT_AS(SynchronizeBoundOutputs, synchronize),
    SLOT(GetBoundOutputNames),
    SLOT(GetBoundOutputValues),
    SLOT(RunWithBinding),
    SLOT_END,
};
