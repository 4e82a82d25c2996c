// SPDX-License-Identifier: Apache-2.0
// Program: a loaded model with a pool of sessions, and Cancel.
//
// A run takes a session of the pool, or makes one while there are fewer than the pool may have, or
// waits for one: the most urgent first, and of those the one that came first. Threads that wait,
// load or run have released the GIL. The pool's lock is held for some instructions only, and never
// while a thread waits for the GIL.
//
// After a fork the child has one thread: sessions that other threads used in the parent are lost to
// it, and it makes others. The number of the process tells.

#include "core.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

// A run that wants a session, in the stack of its thread.
typedef struct waiter {
    struct waiter *next;
    int priority;
} waiter;

typedef struct session_pool {
    pthread_mutex_t lock;
    pthread_cond_t is_free;
    waiter *first;     // whose turn is next
    ln_session **idle; // of `max_count`
    size_t idle_count, made_count, max_count;
    int is_closed; // sessions that come back are freed
    pid_t pid;
} session_pool;

typedef struct core_program {
    PyObject ob_base;
    ln_program *program; // NULL once it is closed
    session_pool pool;
    Py_buffer *files; // bytes that the program reads where they are
    size_t file_count;
} core_program;

// ---- The pool ----

static void init_locks(session_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->is_free, NULL);
    pool->pid = getpid();
}

// With the GIL.
static void forget_parent(session_pool *pool)
{
    if (pool->pid == getpid())
        return;
    init_locks(pool);
    pool->first = NULL;
    pool->made_count = pool->idle_count;
}

// With the lock.
static void wait_for_session(session_pool *pool, int priority)
{
    waiter me = {.priority = priority};
    waiter **at = &pool->first;
    while (*at && (*at)->priority >= priority)
        at = &(*at)->next;
    me.next = *at;
    *at = &me;
    while (pool->first != &me || (pool->idle_count == 0 && pool->made_count >= pool->max_count))
        pthread_cond_wait(&pool->is_free, &pool->lock);
    pool->first = me.next;
    pthread_cond_broadcast(&pool->is_free); // there may be another session for the next
}

// Without the GIL.
static ln_status take_session(session_pool *pool, ln_program *program, int priority,
                              ln_session **out_session)
{
    *out_session = NULL;
    pthread_mutex_lock(&pool->lock);
    wait_for_session(pool, priority);
    if (pool->idle_count > 0) {
        *out_session = pool->idle[--pool->idle_count];
        pthread_mutex_unlock(&pool->lock);
        return LN_OK;
    }
    pool->made_count++;
    pthread_mutex_unlock(&pool->lock);
    ln_status status = ln_session_create(program, out_session);
    if (status != LN_OK) {
        pthread_mutex_lock(&pool->lock);
        pool->made_count--;
        pthread_cond_broadcast(&pool->is_free);
        pthread_mutex_unlock(&pool->lock);
    }
    return status;
}

// With or without the GIL.
static void give_session(session_pool *pool, ln_session *session)
{
    pthread_mutex_lock(&pool->lock);
    int is_closed = pool->is_closed;
    if (is_closed)
        pool->made_count--;
    else
        pool->idle[pool->idle_count++] = session;
    pthread_cond_broadcast(&pool->is_free);
    pthread_mutex_unlock(&pool->lock);
    if (is_closed)
        ln_session_free(session);
}

static void free_idle(session_pool *pool)
{
    while (pool->idle_count > 0) {
        ln_session_free(pool->idle[--pool->idle_count]);
        pool->made_count--;
    }
}

// ---- Life ----

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static size_t default_session_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > 64 ? 64 : (size_t)count;
}

static PyObject *new_program(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    core_options options;
    PyObject *rest = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    if (!rest)
        return NULL;
    PyObject *sessions = PyDict_GetItemString(rest, "sessions");
    size_t max_count = default_session_count();
    if (sessions) {
        max_count = PyLong_AsSize_t(sessions);
        if (!PyErr_Occurred())
            PyDict_DelItemString(rest, "sessions");
        if (max_count == 0)
            max_count = default_session_count();
    }
    int result = PyErr_Occurred() ? -1 : core_options_parse(args, rest, &options);
    Py_DECREF(rest);
    if (result < 0)
        return NULL;

    core_state *state = PyType_GetModuleState(type);
    ln_program *program = NULL;
    ln_status status;
    Py_BEGIN_ALLOW_THREADS;
    ln_context *ctx;
    status = core_context_open(&options, LN_CONTEXT_LOADED, &ctx);
    if (status == LN_OK)
        status = ln_program_create(ctx, &program);
    ln_context_free(ctx);
    Py_END_ALLOW_THREADS;

    PyObject *object = NULL;
    if (status != LN_OK) {
        core_raise(state, status);
    } else if (core_warnings_raise() == 0) {
        allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
        object = alloc(type, 0);
    }
    core_program *self = (core_program *)object;
    if (self) {
        init_locks(&self->pool);
        self->pool.idle = PyMem_Calloc(max_count, sizeof *self->pool.idle);
        self->pool.max_count = max_count;
        self->program = program;
        program = NULL;
        self->files = options.files;
        self->file_count = options.file_count;
        options.files = NULL;
        options.file_count = 0;
        if (!self->pool.idle) {
            Py_CLEAR(object);
            PyErr_NoMemory();
        }
    }
    ln_program_release(program);
    core_options_release(&options);
    return object;
}

static void close_program(core_program *self)
{
    forget_parent(&self->pool);
    pthread_mutex_lock(&self->pool.lock);
    self->pool.is_closed = 1;
    free_idle(&self->pool);
    pthread_mutex_unlock(&self->pool.lock);
    ln_program_release(self->program);
    self->program = NULL;
}

static void free_program(PyObject *object)
{
    core_program *self = (core_program *)object;
    PyTypeObject *type = Py_TYPE(object);
    close_program(self);
    PyMem_Free(self->pool.idle);
    for (size_t i = 0; i < self->file_count; i++)
        PyBuffer_Release(&self->files[i]);
    PyMem_Free(self->files);
    pthread_cond_destroy(&self->pool.is_free);
    pthread_mutex_destroy(&self->pool.lock);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static PyObject *close_method(PyObject *object, PyObject *unused)
{
    (void)unused;
    close_program((core_program *)object);
    Py_RETURN_NONE;
}

static ln_program *program_of(PyObject *object)
{
    core_program *self = (core_program *)object;
    if (!self->program)
        PyErr_SetString(state_of(object)->errors[LN_STATE], "the model is closed");
    return self->program;
}

// ---- What it takes and gives ----

static PyObject *dim_of(const ln_program *program, const char *name, int axis)
{
    int64_t dim = ln_program_tensor_dim(program, name, axis);
    const char *symbol = ln_program_tensor_symbol(program, name, axis);
    if (dim < 0 && symbol)
        return PyUnicode_FromString(symbol);
    if (dim < 0)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(dim);
}

// (name, dtype or None, shape or None), a dimension being an int, a symbol, or None.
static PyObject *describe_tensor(const ln_program *program, const char *name)
{
    tl_dtype dtype = ln_program_tensor_dtype(program, name);
    int rank = ln_program_tensor_rank(program, name);
    PyObject *shape = rank < 0 ? Py_NewRef(Py_None) : PyTuple_New(rank);
    for (int axis = 0; shape && axis < rank; axis++) {
        PyObject *dim = dim_of(program, name, axis);
        if (!dim || PyTuple_SetItem(shape, axis, dim) < 0)
            Py_CLEAR(shape);
    }
    if (!shape)
        return NULL;
    return Py_BuildValue("(szN)", name, dtype == TL_DTYPE_INVALID ? NULL : tl_dtype_title(dtype),
                         shape);
}

static PyObject *describe_all(PyObject *object, int is_input)
{
    const ln_program *program = program_of(object);
    if (!program)
        return NULL;
    size_t count = is_input ? ln_program_input_count(program) : ln_program_output_count(program);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const char *name = "";
        (void)(is_input ? ln_program_input : ln_program_output)(program, i, &name, NULL);
        PyObject *item = describe_tensor(program, name);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_inputs(PyObject *object, void *unused)
{
    (void)unused;
    return describe_all(object, 1);
}

static PyObject *get_outputs(PyObject *object, void *unused)
{
    (void)unused;
    return describe_all(object, 0);
}

static PyObject *get_info(PyObject *object, void *unused)
{
    (void)unused;
    const ln_program *program = program_of(object);
    return program ? core_info_dict(ln_program_info(program)) : NULL;
}

static PyObject *get_is_fixed(PyObject *object, void *unused)
{
    (void)unused;
    const ln_program *program = program_of(object);
    return program ? PyBool_FromLong(ln_program_is_fixed(program)) : NULL;
}

// ---- Running ----

typedef struct run_feed {
    const char *name; // borrowed from the feeds' keys
    ln_object *object;
    core_elements elements; // without an object
} run_feed;

typedef struct run_call {
    run_feed *feeds;
    size_t feed_count;
    PyObject *kept; // keys and names
    double timeout;
    ln_cancel *cancel;
    int priority;
} run_call;

static void free_call(run_call *call)
{
    for (size_t i = 0; i < call->feed_count; i++) {
        ln_object_release(call->feeds[i].object);
        core_elements_release(&call->feeds[i].elements);
    }
    PyMem_Free(call->feeds);
    ln_cancel_release(call->cancel);
    Py_XDECREF(call->kept);
}

static int is_an_input(const ln_program *program, const char *name)
{
    const char *input;
    for (size_t i = 0; ln_program_input(program, i, &input, NULL) == LN_OK; i++) {
        if (strcmp(input, name) == 0)
            return 1;
    }
    ln_error_clear();
    return 0;
}

static int add_feed(const core_state *state, const ln_program *program, PyObject *key,
                    PyObject *value, run_call *call)
{
    run_feed *feed = &call->feeds[call->feed_count];
    feed->name = PyUnicode_AsUTF8AndSize(key, NULL);
    if (!feed->name || PyList_Append(call->kept, key) < 0)
        return -1;
    if (!is_an_input(program, feed->name)) {
        PyErr_Format(state->errors[LN_NOT_FOUND], "the model has no input '%s'", feed->name);
        return -1;
    }
    char what[128];
    PyOS_snprintf(what, sizeof what, "input '%.100s'", feed->name);
    tl_dtype wanted = ln_program_tensor_dtype(program, feed->name);
    if (wanted == TL_STRING || wanted == TL_OBJECT || wanted == TL_DTYPE_INVALID) {
        feed->object = core_object_from(state, value, wanted, what);
        if (!feed->object)
            return -1;
    } else if (core_elements_get(state, value, wanted, what, &feed->elements) < 0) {
        return -1;
    }
    call->feed_count++;
    return 0;
}

static int collect_feeds(const core_state *state, const ln_program *program, PyObject *feeds,
                         run_call *call)
{
    Py_ssize_t position = 0;
    PyObject *key, *value;
    PyObject *pairs = PyDict_Copy(feeds); // conversions may run code that changes the caller's
    call->feeds = pairs ? PyMem_Calloc((size_t)PyDict_Size(pairs) + 1, sizeof *call->feeds) : NULL;
    int result = call->feeds ? 0 : -1;
    if (pairs && !call->feeds)
        PyErr_NoMemory();
    while (result == 0 && PyDict_Next(pairs, &position, &key, &value))
        result = add_feed(state, program, key, value, call);
    Py_XDECREF(pairs);
    return result;
}

static ln_status set_object(ln_session *session, const run_feed *feed)
{
    ln_status status = ln_session_set_object(session, feed->name, feed->object);
    if (status != LN_INVALID || ln_object_get_kind(feed->object) == LN_OBJECT_OPTIONAL)
        return status;
    // An optional input takes its content.
    ln_object *optional = ln_object_new_optional(feed->object);
    ln_status second =
        optional ? ln_session_set_object(session, feed->name, optional) : LN_NO_MEMORY;
    ln_object_release(optional);
    if (second == LN_OK)
        return LN_OK;
    return ln_session_set_object(session, feed->name, feed->object); // with its own message
}

// Without the GIL. Inputs are bound for the run alone: their memory is the caller's.
static ln_status run_session(ln_session *session, const run_call *call)
{
    LN_TRY(ln_session_set_timeout(session, call->timeout));
    LN_TRY(ln_session_set_cancel(session, call->cancel));
    LN_TRY(ln_session_set_priority(session, call->priority));
    ln_status status = LN_OK;
    size_t bound = 0;
    for (; status == LN_OK && bound < call->feed_count; bound++) {
        const run_feed *feed = &call->feeds[bound];
        status = feed->object ? set_object(session, feed)
                              : ln_session_bind_input(session, feed->name, &feed->elements.tensor);
    }
    if (status == LN_OK)
        status = ln_session_run(session);
    return status;
}

// The next run that is not given an input has its first value, not what this run had.
static void unbind_feeds(ln_session *session, const run_call *call)
{
    for (size_t i = 0; i < call->feed_count; i++)
        (void)ln_session_reset_input(session, call->feeds[i].name);
    (void)ln_session_set_cancel(session, NULL);
}

static PyObject *collect_outputs(const core_state *state, const ln_session *session,
                                 PyObject *names, const core_makers *makers)
{
    Py_ssize_t count = PyTuple_Size(names);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
        const tl_tensor *tensor = NULL;
        ln_status status = name ? ln_session_borrow_tensor(session, name, &tensor) : LN_OK;
        if (status != LN_OK)
            core_raise(state, status);
        PyObject *value = tensor ? core_value_of_tensor(state, tensor, makers) : NULL;
        if (!value || PyList_SetItem(list, i, value) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *run_method(PyObject *object, PyObject *args)
{
    core_state *state = state_of(object);
    core_program *self = (core_program *)object;
    PyObject *feeds, *names, *cancel;
    core_makers makers;
    run_call call = {0};
    if (!program_of(object) ||
        !PyArg_ParseTuple(args, "O!O!OOdOi", &PyDict_Type, &feeds, &PyTuple_Type, &names,
                          &makers.array, &makers.strings, &call.timeout, &cancel, &call.priority))
        return NULL;
    ln_program *program = ln_program_retain(self->program);
    PyObject *results = NULL;
    call.kept = PyList_New(0);
    if (cancel != Py_None) {
        call.cancel = ln_cancel_retain(core_cancel_of(state, cancel));
        if (!call.cancel)
            goto done;
    }
    if (!call.kept || collect_feeds(state, program, feeds, &call) < 0)
        goto done;

    forget_parent(&self->pool);
    ln_session *session;
    ln_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = take_session(&self->pool, program, call.priority, &session);
    if (status == LN_OK)
        status = run_session(session, &call);
    Py_END_ALLOW_THREADS;
    if (status != LN_OK)
        core_raise(state, status);
    else
        results = collect_outputs(state, session, names, &makers);
    if (session) {
        Py_BEGIN_ALLOW_THREADS;
        unbind_feeds(session, &call); // after its message was taken
        give_session(&self->pool, session);
        Py_END_ALLOW_THREADS;
    }
done:
    free_call(&call);
    ln_program_release(program);
    return results;
}

static PyGetSetDef program_members[] = {
    {"inputs", get_inputs, NULL, "[(name, dtype or None, shape or None)]", NULL},
    {"outputs", get_outputs, NULL, "[(name, dtype or None, shape or None)]", NULL},
    {"info", get_info, NULL, "The metadata of the model, as a dict.", NULL},
    {"is_fixed", get_is_fixed, NULL, "Whether all sizes are known before a run.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef program_methods[] = {
    {"run", run_method, METH_VARARGS,
     "run(feeds, names, make_array, make_strings, timeout, cancel, priority, /)\n--\n\nThe outputs, "
     "as a list."},
    {"close", close_method, METH_NOARGS,
     "Frees the program once the runs that are under way have ended. Does not wait for them."},
    {NULL, NULL, 0, NULL},
};

#define SLOT(function) ((void *)(uintptr_t)(function))

static PyType_Slot program_slots[] = {
    {Py_tp_new, SLOT(new_program)},
    {Py_tp_dealloc, SLOT(free_program)},
    {Py_tp_methods, program_methods},
    {Py_tp_getset, program_members},
    {Py_tp_doc,
     (void *)(uintptr_t) "A model that is loaded; `lightnetrt.Model` is what programs use."},
    {0, NULL},
};

PyType_Spec core_program_spec = {
    .name = "lightnetrt._core.Program",
    .basicsize = sizeof(core_program),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = program_slots,
};

// ---- Cancel ----

typedef struct core_cancel {
    PyObject ob_base;
    ln_cancel *cancel;
} core_cancel;

ln_cancel *core_cancel_of(const core_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->cancel_type))
        return ((core_cancel *)object)->cancel;
    PyErr_SetString(PyExc_TypeError, "cancel takes a lightnetrt.Cancel");
    return NULL;
}

static PyObject *new_cancel(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "", names))
        return NULL;
    ln_cancel *cancel = ln_cancel_create();
    if (!cancel)
        return PyErr_NoMemory();
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *object = alloc(type, 0);
    if (object)
        ((core_cancel *)object)->cancel = cancel;
    else
        ln_cancel_release(cancel);
    return object;
}

static void free_cancel(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ln_cancel_release(((core_cancel *)object)->cancel);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static PyObject *request(PyObject *object, PyObject *unused)
{
    (void)unused;
    ln_cancel_request(((core_cancel *)object)->cancel);
    Py_RETURN_NONE;
}

static PyObject *get_requested(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(ln_cancel_is_requested(((core_cancel *)object)->cancel));
}

static PyGetSetDef cancel_members[] = {
    {"is_requested", get_requested, NULL, "Whether it was requested.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef cancel_methods[] = {
    {"request", request, METH_NOARGS,
     "Ends the runs that have this object, from any thread: they raise CancelledError."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot cancel_slots[] = {
    {Py_tp_new, SLOT(new_cancel)},
    {Py_tp_dealloc, SLOT(free_cancel)},
    {Py_tp_methods, cancel_methods},
    {Py_tp_getset, cancel_members},
    {Py_tp_doc, (void *)(uintptr_t) "Cancel()\n--\n\nA request that runs should end. It is never "
                                    "taken back: the next run gets another object."},
    {0, NULL},
};

PyType_Spec core_cancel_spec = {
    .name = "lightnetrt.Cancel",
    .basicsize = sizeof(core_cancel),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = cancel_slots,
};
