// SPDX-License-Identifier: Apache-2.0
// Runs: a session of LightNet for each that goes on at once.

#include "compat/ort/ort.h"

#include <string.h>

// How many runs of one session go on at once; more wait.
#define MAX_RUNS 64

// Takes an idle session, or creates one; waits while MAX_RUNS run.
static ort_status *idle_take(ort_session *session, ort_idle **out)
{
    pthread_mutex_lock(&session->lock);
    while (session->running >= MAX_RUNS)
        pthread_cond_wait(&session->is_free, &session->lock);
    session->running++;
    ort_idle *idle = session->idle;
    if (idle)
        session->idle = idle->next;
    pthread_mutex_unlock(&session->lock);
    ort_status *status = NULL;
    if (!idle) {
        idle = calloc(1, sizeof *idle);
        if (!idle)
            status = ort_fail_memory();
        else if (ln_session_create(session->program, &idle->session) != LN_OK)
            status = ort_fail_lightnet(ORT_FAIL);
    }
    if (status) {
        free(idle);
        pthread_mutex_lock(&session->lock);
        session->running--;
        pthread_cond_signal(&session->is_free);
        pthread_mutex_unlock(&session->lock);
        return status;
    }
    *out = idle;
    return NULL;
}

static void idle_give(ort_session *session, ort_idle *idle)
{
    (void)ln_session_set_cancel(idle->session, NULL);
    pthread_mutex_lock(&session->lock);
    idle->next = session->idle;
    session->idle = idle;
    session->running--;
    pthread_cond_signal(&session->is_free);
    pthread_mutex_unlock(&session->lock);
}

static ort_status *input_set(ln_session *run, const char *name, const ort_value *value)
{
    int dims[TL_MAXDIM];
    for (int i = 0; i < value->shape.ndim; i++)
        dims[i] = (int)value->shape.dims[i];
    ln_object *object = value->object ? ln_object_copy_tensor(ln_object_tensor(value->object), NULL)
                                      : ln_object_new_tensor(ort_elements[value->shape.type].dtype,
                                                             value->shape.ndim, dims, NULL);
    if (!object)
        return ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    if (!value->object && value->shape.type == ORT_BOOL) {
        tl_bool *elements = ln_object_tensor(object)->data;
        for (size_t i = 0; i < value->count; i++)
            elements[i] = ((const unsigned char *)value->data)[i] != 0;
    } else if (!value->object && value->byte_count > 0) {
        memcpy(ln_object_tensor(object)->data, value->data, value->byte_count);
    }
    ln_status status = ln_session_set_object(run, name, object);
    ln_object_release(object);
    return status == LN_OK ? NULL : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

static void elements_copy(ort_value *value, const tl_tensor *tensor)
{
    if (value->shape.type == ORT_BOOL)
        for (size_t i = 0; i < value->count; i++)
            ((unsigned char *)value->data)[i] = ((const tl_bool *)tensor->data)[i] != 0;
    else if (value->byte_count > 0)
        memcpy(value->data, tensor->data, value->byte_count);
}

static ort_status *output_get(ln_session *run, const char *name, ort_value **out)
{
    ln_object *object = NULL;
    if (ln_session_get_object(run, name, &object) != LN_OK)
        return ort_fail_lightnet(ORT_FAIL);
    const tl_tensor *tensor = ln_object_tensor(object);
    int type = tensor ? ort_element_of(tensor->dtype) : 0;
    ort_status *status = NULL;
    ort_value *value = NULL;
    int64_t dims[TL_MAXDIM];
    if (!type) {
        status =
            ort_fail(ORT_NOT_IMPLEMENTED, "output '%s' is no tensor of a type known here", name);
        goto end;
    }
    for (int i = 0; i < tensor->ndim; i++)
        dims[i] = tensor->dims[i];
    status = ort_value_new(dims, (size_t)tensor->ndim, type, &value);
    if (status)
        goto end;
    if (*out) { // the caller's: the same type and shape, its own memory
        if ((*out)->shape.type != type || (*out)->shape.ndim != value->shape.ndim ||
            memcmp((*out)->shape.dims, value->shape.dims, sizeof dims) != 0)
            status = ort_fail(ORT_INVALID_ARGUMENT,
                              "output '%s' has another type or shape than its "
                              "value",
                              name);
        else if (type != ORT_STRING)
            elements_copy(*out, tensor);
        for (size_t i = 0; !status && type == ORT_STRING && i < value->count; i++)
            status = ort_string_set(*out, ((char **)tensor->data)[i], i);
        goto end;
    }
    if (type == ORT_STRING) {
        value->object = ln_object_copy_tensor(tensor, NULL);
        value->data = value->object ? ln_object_tensor(value->object)->data : NULL;
    } else {
        value->block = malloc(value->byte_count ? value->byte_count : 1);
        value->data = value->block;
    }
    if (!value->data && value->count > 0)
        status = ort_fail_memory();
    if (!status && type != ORT_STRING)
        elements_copy(value, tensor);
    if (!status) {
        *out = value;
        value = NULL;
    }
end:
    ort_value_free(value);
    ln_object_release(object);
    return status;
}

static ort_status *names_check(const ort_session *session, bool is_output, const char *const *names,
                               size_t count)
{
    const char *kind = is_output ? "output" : "input";
    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            return ort_fail(ORT_INVALID_ARGUMENT, "the name of %s %zu is NULL", kind, i);
        if (!ort_end_is(session, is_output, names[i]))
            return ort_fail(ORT_INVALID_ARGUMENT, "the model has no %s '%s'", kind, names[i]);
    }
    for (size_t k = 0; !is_output && k < ort_end_count(session, false); k++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += strcmp(names[i], ort_end_name(session, false, k)) == 0;
        if (found != 1)
            return ort_fail(ORT_INVALID_ARGUMENT, "input '%s' is given %zu times",
                            ort_end_name(session, false, k), found);
    }
    return NULL;
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
    ort_status *status = names_check(session, false, input_names, input_count);
    if (!status)
        status = names_check(session, true, output_names, output_count);
    for (size_t i = 0; i < input_count && !status; i++)
        if (!inputs[i])
            status = ort_fail(ORT_INVALID_ARGUMENT, "input '%s' is NULL", input_names[i]);
    if (status)
        return status;
    bool *is_made = calloc(output_count, sizeof *is_made);
    ort_idle *idle = NULL;
    status = is_made ? idle_take(session, &idle) : ort_fail_memory();
    if (status) {
        free(is_made);
        return status;
    }
    if (options) {
        pthread_mutex_lock(&options->lock);
        (void)ln_session_set_cancel(idle->session, options->cancel);
        pthread_mutex_unlock(&options->lock);
    }
    for (size_t i = 0; i < input_count && !status; i++)
        status = input_set(idle->session, input_names[i], inputs[i]);
    if (!status && ln_session_run(idle->session) != LN_OK)
        status = ort_fail_lightnet(ORT_INVALID_ARGUMENT);
    for (size_t i = 0; i < output_count && !status; i++) {
        bool is_new = !outputs[i];
        status = output_get(idle->session, output_names[i], &outputs[i]);
        is_made[i] = is_new && !status;
    }
    for (size_t i = 0; i < output_count && status; i++)
        if (is_made[i]) {
            ort_value_free(outputs[i]);
            outputs[i] = NULL;
        }
    idle_give(session, idle);
    free(is_made);
    return status;
}

const ort_row ort_run_slots[] = {
    SLOT(Run),
    SLOT_END,
};
