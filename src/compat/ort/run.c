// SPDX-License-Identifier: Apache-2.0
// Runs: a session of LightNet for each that goes on at once.
//
// Inputs are read where the client has them, and outputs of known size are written to their values,
// as far as LightNet does without copies (ln_session_bind_input). What a run has bound is bound
// anew by the next one before it reads, so that no pointer outlives its run in use.

#include "compat/ort/ort.h"

#include <stdio.h>
#include <string.h>

// How many runs of one program go on at once; more wait.
#define MAX_RUNS 64

// ---- Sessions of a program ----

static ort_status *runners_find(ort_session *session, bool is_replacing, ort_runners **out)
{
    *out = is_replacing ? &session->replacing : &session->runners;
    ort_status *status = NULL;
    pthread_mutex_lock(&session->lock);
    if (!(*out)->program)
        status = ort_session_make_replacing(session);
    pthread_mutex_unlock(&session->lock);
    return status;
}

// Takes an idle session, or creates one; waits while MAX_RUNS run.
static ort_status *idle_take(ort_session *session, ort_runners *runners, ort_idle **out)
{
    pthread_mutex_lock(&session->lock);
    while (runners->running >= MAX_RUNS)
        pthread_cond_wait(&session->is_free, &session->lock);
    runners->running++;
    ort_idle *idle = runners->idle;
    if (idle)
        runners->idle = idle->next;
    pthread_mutex_unlock(&session->lock);
    ort_status *status = NULL;
    if (!idle) {
        idle = ln_alloc(sizeof *idle);
        if (!idle)
            status = ort_fail_memory();
        else if (ln_session_create(runners->program, &idle->session) != LN_OK)
            status = ort_fail_lightnet(ORT_FAIL);
    }
    if (status) {
        ln_free(idle);
        pthread_mutex_lock(&session->lock);
        runners->running--;
        pthread_cond_broadcast(&session->is_free);
        pthread_mutex_unlock(&session->lock);
        return status;
    }
    *out = idle;
    return NULL;
}

static void idle_give(ort_session *session, ort_runners *runners, ort_idle *idle)
{
    (void)ln_session_set_cancel(idle->session, NULL);
    pthread_mutex_lock(&session->lock);
    idle->next = runners->idle;
    runners->idle = idle;
    runners->running--;
    pthread_cond_broadcast(&session->is_free);
    pthread_mutex_unlock(&session->lock);
}

// ---- Inputs ----

// Names are those of inputs or of initializers that may be replaced, each once.
static ort_status *check_names(const ort_call *call, bool *out_is_replacing)
{
    const ort_session *session = call->session;
    *out_is_replacing = false;
    for (size_t i = 0; i < call->input_count; i++) {
        const char *name = call->input_names[i];
        if (!name || !call->inputs[i])
            return ort_fail(ORT_INVALID_ARGUMENT, "the %s of input %zu is NULL",
                            name ? "value" : "name", i);
        if (ort_end_find(&session->initializers, name))
            *out_is_replacing = true;
        else if (!ort_end_find(&session->inputs, name))
            return ort_fail(ORT_INVALID_ARGUMENT, "the model has no input '%s'", name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(call->input_names[k], name) == 0)
                return ort_fail(ORT_INVALID_ARGUMENT, "input '%s' is given twice", name);
    }
    for (size_t i = 0; i < session->inputs.count; i++) {
        const char *name = session->inputs.items[i].name;
        size_t k = 0;
        while (k < call->input_count && strcmp(call->input_names[k], name) != 0)
            k++;
        if (k == call->input_count)
            return ort_fail(ORT_INVALID_ARGUMENT, "input '%s' is missing", name);
    }
    for (size_t i = 0; i < call->output_count; i++) {
        const char *name = call->output_names[i];
        if (!name || !ort_end_find(&session->outputs, name))
            return ort_fail(ORT_INVALID_ARGUMENT, "the model has no output '%s'",
                            name ? name : "(null)");
    }
    return NULL;
}

// A model that states a scalar takes one element of any rank, as there: exported models are fed so.
static bool is_scalar(const ort_shape *wanted, const ort_value *value)
{
    return wanted->ndim == 0 && value->count == 1;
}

static ort_status *check_input(const ort_end *end, const ort_value *value)
{
    const ort_shape *wanted = &end->type->shape, *got = &value->shape;
    char wants[ORT_SHAPE_TEXT_BYTES], has[ORT_SHAPE_TEXT_BYTES];
    if (end->type->kind != ORT_TENSOR)
        return NULL; // LightNet says what does not fit
    if (value->kind != ORT_TENSOR)
        return ort_fail(ORT_INVALID_ARGUMENT, "input '%s' is a tensor, the value is none",
                        end->name);
    bool fits = wanted->type == got->type &&
                (wanted->ndim < 0 || wanted->ndim == got->ndim || is_scalar(wanted, value));
    for (int i = 0; fits && i < wanted->ndim; i++)
        fits = wanted->dims[i] < 0 || wanted->dims[i] == got->dims[i];
    if (fits)
        return NULL;
    return ort_fail(ORT_INVALID_ARGUMENT, "input '%s' is %s %s, the value %s %s", end->name,
                    ort_elements[wanted->type].name, ort_shape_print(wanted, wants),
                    ort_elements[got->type].name, ort_shape_print(got, has));
}

static bool is_bound(const ort_value *value)
{
    return value->kind == ORT_TENSOR && value->shape.type != ORT_STRING &&
           value->shape.type != ORT_BOOL;
}

static ort_status *bind_input(ln_session *run, const ort_end *end, const ort_value *value)
{
    int dims[TL_MAXDIM], ndim = is_scalar(&end->type->shape, value) ? 0 : value->shape.ndim;
    for (int i = 0; i < ndim; i++)
        dims[i] = (int)value->shape.dims[i];
    const tl_tensor tensor = {.dtype = ort_elements[value->shape.type].dtype,
                              .len = (int)value->count,
                              .ndim = ndim,
                              .dims = dims,
                              .data = value->data};
    return ln_session_bind_input(run, end->name, &tensor) == LN_OK
               ? NULL
               : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

static ort_status *set_input(ln_session *run, const ort_end *end, const ort_value *value)
{
    ln_object *object;
    const ort_value scalar = {.kind = ORT_TENSOR,
                              .shape = {.type = value->shape.type},
                              .count = 1,
                              .byte_count = value->byte_count,
                              .data = value->data,
                              .texts = value->texts};
    bool is_one = end->type->kind == ORT_TENSOR && is_scalar(&end->type->shape, value);
    TRY(ort_value_to_object(is_one ? &scalar : value, end->name, &object));
    if (end->type->kind == ORT_OPTIONAL && ln_object_get_kind(object) != LN_OBJECT_OPTIONAL) {
        ln_object *optional = ln_object_new_optional(object);
        ln_object_release(object);
        object = optional;
    }
    bool is_set = object && ln_session_set_object(run, end->name, object) == LN_OK;
    ln_object_release(object);
    return is_set ? NULL : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

static ort_status *give_inputs(const ort_call *call, ln_session *run, bool is_replacing)
{
    const ort_session *session = call->session;
    for (size_t i = 0; i < session->initializers.count && is_replacing; i++) {
        const ort_end *end = &session->initializers.items[i];
        if (ln_session_set_object(run, end->name, end->first) != LN_OK)
            return ort_fail_lightnet(ORT_FAIL);
    }
    for (size_t i = 0; i < call->input_count; i++) {
        const ort_end *end = ort_end_find(&session->inputs, call->input_names[i]);
        if (!end)
            end = ort_end_find(&session->initializers, call->input_names[i]);
        TRY(check_input(end, call->inputs[i]));
        TRY(is_bound(call->inputs[i]) && end->type->kind == ORT_TENSOR
                ? bind_input(run, end, call->inputs[i])
                : set_input(run, end, call->inputs[i]));
    }
    return NULL;
}

// ---- Outputs ----

// What a run writes: the client's value, or one that is made.
typedef struct result {
    const ort_end *end;
    ort_value *value; // held; NULL: it is made of what the run gives
    bool is_bound;
} result;

static bool overlaps(const void *a, size_t a_size, const void *b, size_t b_size)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_size > 0 && b_size > 0 && x < y + b_size && y < x + a_size;
}

// Whether operators may write there while others still read or write what they need.
static bool is_apart(const ort_call *call, const result *results, size_t index)
{
    const ort_value *value = results[index].value;
    for (size_t i = 0; i < call->input_count; i++)
        if (overlaps(value->data, value->byte_count, call->inputs[i]->data,
                     call->inputs[i]->byte_count))
            return false;
    for (size_t i = 0; i < index; i++)
        if (results[i].end == results[index].end ||
            (results[i].value && overlaps(value->data, value->byte_count, results[i].value->data,
                                          results[i].value->byte_count)))
            return false;
    return true;
}

static bool is_same_shape(const ort_shape *a, const ort_shape *b)
{
    return a->type == b->type && a->ndim == b->ndim &&
           memcmp(a->dims, b->dims, ort_rank_of(a) * sizeof *a->dims) == 0;
}

static ort_status *fail_output(const ort_end *end, const ort_shape *has, const ort_shape *given)
{
    char is[ORT_SHAPE_TEXT_BYTES], was[ORT_SHAPE_TEXT_BYTES];
    return ort_fail(ORT_INVALID_ARGUMENT, "output '%s' is %s %s, its value %s %s", end->name,
                    ort_elements[has->type].name, ort_shape_print(has, is),
                    ort_elements[given->type].name, ort_shape_print(given, was));
}

static ort_status *prepare_output(const ort_call *call, ln_session *run, result *results,
                                  size_t index)
{
    result *r = &results[index];
    const ort_shape *shape = &r->end->type->shape;
    size_t count;
    r->value = call->outputs[index] ? ort_value_retain(call->outputs[index]) : NULL;
    if (r->value && r->value->kind != ORT_TENSOR)
        return ort_fail(ORT_INVALID_ARGUMENT, "output '%s' is given a value that is no tensor",
                        r->end->name);
    bool is_fixed = r->end->type->kind == ORT_TENSOR && shape->ndim >= 0 &&
                    ort_shape_count(shape, &count) && shape->type != ORT_STRING &&
                    shape->type != ORT_BOOL;
    if (!is_fixed)
        return NULL;
    if (!r->value)
        TRY(ort_value_make(shape->dims, (size_t)shape->ndim, shape->type, true, &r->value));
    else if (!is_same_shape(&r->value->shape, shape))
        return fail_output(r->end, shape, &r->value->shape);
    if (r->value->byte_count == 0 || !is_apart(call, results, index))
        return NULL;
    if (ln_session_bind_output(run, r->end->name, r->value->data, r->value->byte_count) != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    r->is_bound = true;
    return NULL;
}

static ort_status *take_object(ln_session *run, result *r)
{
    ln_object *object;
    if (ln_session_get_object(run, r->end->name, &object) != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    ort_status *status =
        r->value ? ort_fail(ORT_INVALID_ARGUMENT, "output '%s' is no tensor", r->end->name)
                 : ort_value_of_object(object, r->end->name, &r->value);
    ln_object_release(object);
    return status;
}

static ort_status *take_output(ln_session *run, result *r)
{
    const tl_tensor *tensor;
    if (r->is_bound)
        return NULL;
    if (ln_session_borrow_tensor(run, r->end->name, &tensor) != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    if (tensor->dtype == TL_OBJECT)
        return take_object(run, r);
    if (!r->value)
        return ort_value_of_tensor(tensor, r->end->name, &r->value);
    ort_shape shape = {.type = ort_element_of(tensor->dtype), .ndim = tensor->ndim};
    for (int i = 0; i < tensor->ndim; i++)
        shape.dims[i] = tensor->dims[i];
    return is_same_shape(&shape, &r->value->shape) ? ort_value_fill(r->value, tensor)
                                                   : fail_output(r->end, &shape, &r->value->shape);
}

// ---- Running ----

static ort_status *run_on(const ort_call *call, ln_session *run, result *results, bool is_replacing)
{
    if (call->options) {
        pthread_mutex_lock(&call->options->lock);
        (void)ln_session_set_cancel(run, call->options->cancel);
        pthread_mutex_unlock(&call->options->lock);
    }
    TRY(give_inputs(call, run, is_replacing));
    for (size_t i = 0; i < call->output_count; i++) {
        results[i].end = ort_end_find(&call->session->outputs, call->output_names[i]);
        TRY(prepare_output(call, run, results, i));
    }
    ort_profile *profile = call->session->profile;
    if ((profile ? ort_profile_run(profile, run) : ln_session_run(run)) != LN_OK)
        return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    for (size_t i = 0; i < call->output_count; i++)
        TRY(take_output(run, &results[i]));
    return NULL;
}

// Values that were made go to the client, or nowhere after a failure.
static void give_outputs(const ort_call *call, ln_session *run, result *results, bool is_done)
{
    for (size_t i = 0; i < call->output_count; i++) {
        if (results[i].is_bound)
            (void)ln_session_bind_output(run, results[i].end->name, NULL, 0);
        if (is_done && !call->outputs[i])
            call->outputs[i] = results[i].value;
        else
            ort_value_release(results[i].value);
    }
}

static ort_status *run_logged(const ort_call *call)
{
    ort_runners *runners;
    ort_idle *idle;
    bool is_replacing;
    TRY(check_names(call, &is_replacing));
    TRY(runners_find(call->session, is_replacing, &runners));
    result *results = ln_alloc_array(call->output_count, sizeof *results);
    if (!results)
        return ort_fail_memory();
    ort_status *status = idle_take(call->session, runners, &idle);
    if (!status) {
        status = run_on(call, idle->session, results, is_replacing);
        give_outputs(call, idle->session, results, !status);
        idle_give(call->session, runners, idle);
    }
    ln_free(results);
    return status;
}

ort_status *ort_run(const ort_call *call)
{
    const ort_session *session = call->session;
    const ort_run_options *options = call->options;
    char id[256];
    bool has_tag = options && options->tag && *options->tag;
    snprintf(id, sizeof id, "%s%s%s", session->log_id, has_tag ? ":" : "",
             has_tag ? options->tag : "");
    const ort_logger logger = {session->log, session->log_user,
                               options && options->severity >= 0 ? options->severity
                               : session->severity >= 0          ? session->severity
                                                        : atomic_load(&session->env->level),
                               id};
    const ort_logger *before = ort_log_to(&logger);
    ort_scope scope;
    ort_scope_enter(&scope, session->nodes, false);
    ort_status *status = ort_log_failure(ort_scope_leave(&scope, run_logged(call)));
    ort_log_to(before);
    return status;
}

static ort_status *Run(ort_session *session, ort_run_options *options,
                       const char *const *input_names, const ort_value *const *inputs,
                       size_t input_count, const char *const *output_names, size_t output_count,
                       ort_value **outputs)
{
    NEED(session);
    if (input_count > 0) {
        NEED(input_names);
        NEED(inputs);
    }
    if (output_count == 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "no output is asked for");
    NEED(output_names);
    NEED(outputs);
    return ort_run(&(ort_call){.session = session,
                               .options = options,
                               .input_names = input_names,
                               .inputs = inputs,
                               .input_count = input_count,
                               .output_names = output_names,
                               .outputs = outputs,
                               .output_count = output_count});
}

const ort_row ort_run_slots[] = {SLOT(Run), SLOT_END};
