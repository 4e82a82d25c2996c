// SPDX-License-Identifier: Apache-2.0
// The C ABI of ONNX Runtime over the public API: a table of functions by number (slots.inc).
//
// Each function returns a status, NULL if all went well. Results are cleared first; arguments that
// are NULL, or out of range, are ORT_INVALID_ARGUMENT and name themselves.

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/use.h>

#define ORT_EXPORT       __attribute__((visibility("default")))
#define ORT_API_VERSION  30
#define ORT_VERSION_TEXT "1.30.0"

// How many runs of one session go on at once; more wait.
#define ORT_MAX_RUNS 64

typedef enum ort_code {
    ORT_OK,
    ORT_FAIL,
    ORT_INVALID_ARGUMENT,
    ORT_NO_SUCHFILE,
    ORT_INVALID_PROTOBUF = 7,
    ORT_NOT_IMPLEMENTED = 9,
    ORT_INVALID_GRAPH = 10,
} ort_code;

typedef enum ort_kind { ORT_UNKNOWN, ORT_TENSOR } ort_kind;

typedef struct ort_status {
    ort_code code;
    char text[];
} ort_status;

typedef struct ort_memory {
    const char *name;
    int device, allocator_type, id, mem_type;
} ort_memory;

// As clients know it, who also make their own.
typedef struct ort_allocator {
    uint32_t version;
    void *(*alloc)(struct ort_allocator *self, size_t size);
    void (*free)(struct ort_allocator *self, void *p);
    const ort_memory *(*info)(const struct ort_allocator *self);
    void *(*reserve)(struct ort_allocator *self, size_t size);
    void *later[4];
} ort_allocator;

typedef struct ort_env {
    int level;
} ort_env;

typedef struct ort_pair {
    struct ort_pair *next;
    int64_t number;
    char *value; // in the same block, after the key
    char key[];
} ort_pair;

typedef struct ort_session_options {
    int threads;
    ort_pair *entries; // session.* and the like
    ort_pair *symbols; // of free dimensions
} ort_session_options;

typedef struct ort_run_options {
    pthread_mutex_t lock; // of cancel: one thread runs while another ends it
    ln_cancel *cancel;
    int verbosity, severity;
    char *tag;
} ort_run_options;

typedef struct ort_idle {
    struct ort_idle *next;
    ln_session *session;
} ort_idle;

typedef struct ort_session {
    ln_program *program;
    pthread_mutex_t lock;
    pthread_cond_t is_free;
    ort_idle *idle;
    int running;
} ort_session;

typedef struct ort_shape {
    int type; // of an element, by its number there
    int ndim; // -1: unknown
    int64_t dims[TL_MAXDIM];
    char *symbols[TL_MAXDIM]; // NULL: none
} ort_shape;

typedef struct ort_type {
    ort_kind kind;
    ort_shape shape;
} ort_type;

typedef struct ort_value {
    ort_shape shape;
    size_t count, byte_count;
    void *data;
    void *block;       // what is freed with it; NULL: nothing
    ln_object *object; // what holds `data`; NULL: nothing
} ort_value;

typedef struct ort_metadata {
    ln_program *program;
} ort_metadata;

// ---- Statuses ----

static ort_status ort_no_memory = {.code = ORT_FAIL};

static ort_status *status_new(ort_code code, const char *text)
{
    size_t len = strlen(text);
    ort_status *status = malloc(sizeof *status + len + 1);
    if (!status)
        return &ort_no_memory;
    status->code = code;
    memcpy(status->text, text, len + 1);
    return status;
}

static ort_status *fail(ort_code code, const char *fmt, ...) LN_PRINTF(2, 3);
static ort_status *fail(ort_code code, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return status_new(code, text);
}

static ort_status *fail_memory(void)
{
    return fail(ORT_FAIL, "out of memory");
}

// The last failure of LightNet; `invalid` is what LN_INVALID means here.
static ort_status *fail_lightnet(ort_code invalid)
{
    ort_code code = ORT_FAIL;
    switch (ln_error_status()) {
    case LN_INVALID: code = invalid; break;
    case LN_NOT_FOUND: code = ORT_INVALID_ARGUMENT; break;
    case LN_SYNTAX: code = ORT_INVALID_PROTOBUF; break;
    case LN_UNSUPPORTED: code = ORT_NOT_IMPLEMENTED; break;
    default: break;
    }
    return status_new(code, ln_error_message());
}

#define NEED(p)                                                                                    \
    do {                                                                                           \
        if (!(p))                                                                                  \
            return fail(ORT_INVALID_ARGUMENT, "%s: '%s' is NULL", __func__, #p);                   \
    } while (0)

#define OUT(p, value)                                                                              \
    do {                                                                                           \
        NEED(p);                                                                                   \
        *(p) = (value);                                                                            \
    } while (0)

static ort_status *CreateStatus(ort_code code, const char *text)
{
    return status_new(code, text ? text : "");
}

static ort_code GetErrorCode(const ort_status *status)
{
    return status ? status->code : ORT_OK;
}

static const char *GetErrorMessage(const ort_status *status)
{
    return status == &ort_no_memory ? "out of memory" : status ? status->text : "";
}

static void ReleaseStatus(ort_status *status)
{
    if (status != &ort_no_memory)
        free(status);
}

// ---- Element types ----

// By number there: the type here, bytes of an element there; 0 bytes: not taken.
static const struct ort_element {
    tl_dtype dtype;
    size_t size;
} ort_elements[] = {
    [1] = {TL_FLOAT, 4},         [2] = {TL_UINT8, 1},
    [3] = {TL_INT8, 1},          [4] = {TL_UINT16, 2},
    [5] = {TL_INT16, 2},         [6] = {TL_INT32, 4},
    [7] = {TL_INT64, 8},         [8] = {TL_STRING, sizeof(char *)},
    [9] = {TL_BOOL, 1},          [10] = {TL_FLOAT16, 2},
    [11] = {TL_DOUBLE, 8},       [12] = {TL_UINT32, 4},
    [13] = {TL_UINT64, 8},       [14] = {TL_COMPLEX64, 8},
    [15] = {TL_COMPLEX128, 16},  [16] = {TL_BFLOAT16, 2},
    [17] = {TL_FLOAT8E4M3FN, 1}, [18] = {TL_FLOAT8E4M3FNUZ, 1},
    [19] = {TL_FLOAT8E5M2, 1},   [20] = {TL_FLOAT8E5M2FNUZ, 1},
};
#define ORT_ELEMENT_COUNT ((int)(sizeof ort_elements / sizeof *ort_elements))
#define ORT_STRING        8
#define ORT_BOOL          9

static int element_of(tl_dtype dtype)
{
    for (int i = 1; i < ORT_ELEMENT_COUNT; i++)
        if (ort_elements[i].dtype == dtype)
            return i;
    return 0;
}

// ---- Allocators and memory ----

static ort_memory ort_cpu = {"Cpu", 0, 0, 0, 0};

static void *cpu_alloc(ort_allocator *self, size_t size)
{
    (void)self;
    return malloc(size ? size : 1);
}

static void cpu_free(ort_allocator *self, void *p)
{
    (void)self;
    free(p);
}

static const ort_memory *cpu_info(const ort_allocator *self)
{
    (void)self;
    return &ort_cpu;
}

static ort_allocator ort_cpu_allocator = {17, cpu_alloc, cpu_free, cpu_info, cpu_alloc, {NULL}};

static ort_status *copy_text(ort_allocator *allocator, const char *text, char **out)
{
    size_t size = strlen(text) + 1;
    *out = allocator->alloc(allocator, size);
    if (!*out)
        return fail_memory();
    memcpy(*out, text, size);
    return NULL;
}

static ort_status *GetAllocatorWithDefaultOptions(ort_allocator **out)
{
    OUT(out, &ort_cpu_allocator);
    return NULL;
}

static ort_status *CreateAllocator(const ort_session *session, const ort_memory *memory,
                                   ort_allocator **out)
{
    OUT(out, NULL);
    NEED(session);
    NEED(memory);
    if (strcmp(memory->name, ort_cpu.name) != 0)
        return fail(ORT_INVALID_ARGUMENT, "there is no allocator for '%s', only for 'Cpu'",
                    memory->name);
    *out = &ort_cpu_allocator;
    return NULL;
}

static void ReleaseAllocator(ort_allocator *allocator)
{
    (void)allocator;
}

static ort_status *AllocatorAlloc(ort_allocator *allocator, size_t size, void **out)
{
    OUT(out, NULL);
    NEED(allocator);
    *out = allocator->alloc(allocator, size);
    return *out ? NULL : fail_memory();
}

static ort_status *AllocatorFree(ort_allocator *allocator, void *p)
{
    NEED(allocator);
    allocator->free(allocator, p);
    return NULL;
}

static ort_status *AllocatorGetInfo(const ort_allocator *allocator, const ort_memory **out)
{
    OUT(out, NULL);
    NEED(allocator);
    *out = allocator->info(allocator);
    return NULL;
}

// Memories that clients may describe, of which only the first has values here; with the number of
// their kind of device: 0 a CPU, 1 a GPU, 3 an NPU.
static const struct ort_place {
    const char *name;
    int device;
} ort_places[] = {
    {"Cpu", 0},          {"Cuda", 1},         {"CudaPinned", 0},   {"WebGPU_Buffer", 1},
    {"WebGPU_Buf", 1},   {"DML", 1},          {"WebNN_Tensor", 1}, {"WebNN_Ten", 1},
    {"OpenVINO_CPU", 0}, {"OpenVINO_GPU", 1}, {"QnnHtpShared", 0},
};

static ort_status *CreateMemoryInfo(const char *name, int allocator_type, int id, int mem_type,
                                    ort_memory **out)
{
    OUT(out, NULL);
    NEED(name);
    for (size_t i = 0; i < sizeof ort_places / sizeof *ort_places; i++)
        if (strcmp(name, ort_places[i].name) == 0) {
            ort_memory *memory = malloc(sizeof *memory);
            if (!memory)
                return fail_memory();
            *memory = (ort_memory){ort_places[i].name, ort_places[i].device, allocator_type, id,
                                   mem_type};
            *out = memory;
            return NULL;
        }
    return fail(ORT_INVALID_ARGUMENT, "memory '%s' is not known; there is 'Cpu'", name);
}

static ort_status *CreateCpuMemoryInfo(int allocator_type, int mem_type, ort_memory **out)
{
    return CreateMemoryInfo(ort_cpu.name, allocator_type, 0, mem_type, out);
}

static ort_status *CompareMemoryInfo(const ort_memory *a, const ort_memory *b, int *out)
{
    OUT(out, -1);
    NEED(a);
    NEED(b);
    *out = strcmp(a->name, b->name) == 0 && a->id == b->id && a->mem_type == b->mem_type &&
                   a->allocator_type == b->allocator_type
               ? 0
               : -1;
    return NULL;
}

#define MEMORY_FIELD(slot, type, field)                                                            \
    static ort_status *slot(const ort_memory *memory, type *out)                                   \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(memory);                                                                              \
        *out = memory->field;                                                                      \
        return NULL;                                                                               \
    }
MEMORY_FIELD(MemoryInfoGetName, const char *, name)
MEMORY_FIELD(MemoryInfoGetId, int, id)
MEMORY_FIELD(MemoryInfoGetMemType, int, mem_type)
MEMORY_FIELD(MemoryInfoGetType, int, allocator_type)

static void MemoryInfoGetDeviceType(const ort_memory *memory, int *out)
{
    if (out)
        *out = memory ? memory->device : 0;
}

static void ReleaseMemoryInfo(ort_memory *memory)
{
    if (memory != &ort_cpu)
        free(memory);
}

// ---- Environments ----

static ort_status *CreateEnv(int level, const char *id, ort_env **out)
{
    OUT(out, NULL);
    NEED(id);
    if (ln_arch_init() != LN_OK)
        return fail_lightnet(ORT_FAIL);
    ort_env *env = malloc(sizeof *env);
    if (!env)
        return fail_memory();
    env->level = level;
    *out = env;
    return NULL;
}

static ort_status *CreateEnvWithCustomLogger(void *function, void *user, int level, const char *id,
                                             ort_env **out)
{
    (void)user;
    OUT(out, NULL);
    NEED(function);
    return CreateEnv(level, id, out);
}

static void ReleaseEnv(ort_env *env)
{
    free(env);
}

static ort_status *accept_env(ort_env *env)
{
    NEED(env);
    return NULL;
}
#define EnableTelemetryEvents  accept_env
#define DisableTelemetryEvents accept_env

static ort_status *SetLanguageProjection(const ort_env *env, int language)
{
    (void)language;
    NEED(env);
    return NULL;
}

static ort_status *UpdateEnvWithCustomLogLevel(ort_env *env, int level)
{
    NEED(env);
    env->level = level;
    return NULL;
}

static ort_status *GetAvailableProviders(char ***out, int *count)
{
    OUT(out, NULL);
    OUT(count, 0);
    static char *providers[] = {"CPUExecutionProvider", NULL};
    *out = providers;
    *count = 1;
    return NULL;
}

static ort_status *ReleaseAvailableProviders(char **providers, int count)
{
    (void)count;
    NEED(providers);
    return NULL;
}

static const char *GetBuildInfoString(void)
{
    return "ORT Build Info: LightNet " LN_VERSION;
}

// ---- Options of sessions ----

static void pairs_free(ort_pair *pair)
{
    while (pair) {
        ort_pair *next = pair->next;
        free(pair);
        pair = next;
    }
}

static ort_pair *pair_find(ort_pair *pair, const char *key)
{
    while (pair && strcmp(pair->key, key) != 0)
        pair = pair->next;
    return pair;
}

static ort_status *pair_add(ort_pair **list, const char *key, const char *value, int64_t number)
{
    size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    ort_pair *pair = malloc(sizeof *pair + key_size + value_size);
    if (!pair)
        return fail_memory();
    memcpy(pair->key, key, key_size);
    pair->value = memcpy(pair->key + key_size, value, value_size);
    pair->number = number;
    pair->next = *list; // the newest is found first
    *list = pair;
    return NULL;
}

static ort_status *CreateSessionOptions(ort_session_options **out)
{
    OUT(out, NULL);
    *out = calloc(1, sizeof **out);
    return *out ? NULL : fail_memory();
}

static void ReleaseSessionOptions(ort_session_options *options)
{
    if (!options)
        return;
    pairs_free(options->entries);
    pairs_free(options->symbols);
    free(options);
}

static ort_status *CloneSessionOptions(const ort_session_options *options,
                                       ort_session_options **out)
{
    OUT(out, NULL);
    NEED(options);
    ort_session_options *clone = calloc(1, sizeof *clone);
    if (!clone)
        return fail_memory();
    clone->threads = options->threads;
    ort_status *status = NULL;
    for (ort_pair *p = options->entries; p && !status; p = p->next)
        if (!pair_find(clone->entries, p->key))
            status = pair_add(&clone->entries, p->key, p->value, p->number);
    for (ort_pair *p = options->symbols; p && !status; p = p->next)
        if (!pair_find(clone->symbols, p->key))
            status = pair_add(&clone->symbols, p->key, p->value, p->number);
    if (status) {
        ReleaseSessionOptions(clone);
        return status;
    }
    *out = clone;
    return NULL;
}

static ort_status *SetIntraOpNumThreads(ort_session_options *options, int count)
{
    NEED(options);
    if (count < 0)
        return fail(ORT_INVALID_ARGUMENT, "%d threads: has to be 0 (the default) or more", count);
    options->threads = count;
    return NULL;
}

static ort_status *AddSessionConfigEntry(ort_session_options *options, const char *key,
                                         const char *value)
{
    NEED(options);
    NEED(key);
    NEED(value);
    if (!*key || strlen(key) > 1024 || strlen(value) > 8192)
        return fail(ORT_INVALID_ARGUMENT, "a key has 1 to 1024 bytes, a value at most 8192");
    return pair_add(&options->entries, key, value, 0);
}

static ort_status *HasSessionConfigEntry(const ort_session_options *options, const char *key,
                                         int *out)
{
    OUT(out, 0);
    NEED(options);
    NEED(key);
    *out = pair_find(options->entries, key) != NULL;
    return NULL;
}

static ort_status *GetSessionConfigEntry(const ort_session_options *options, const char *key,
                                         char *value, size_t *size)
{
    NEED(options);
    NEED(key);
    NEED(size);
    const ort_pair *pair = pair_find(options->entries, key);
    if (!pair)
        return fail(ORT_FAIL, "there is no configuration entry '%s'", key);
    size_t needed = strlen(pair->value) + 1, given = *size;
    *size = needed;
    if (!value)
        return NULL;
    if (given < needed)
        return fail(ORT_INVALID_ARGUMENT, "entry '%s' has %zu bytes, the buffer has %zu", key,
                    needed, given);
    memcpy(value, pair->value, needed);
    return NULL;
}

static ort_status *AddFreeDimensionOverrideByName(ort_session_options *options, const char *name,
                                                  int64_t dim)
{
    NEED(options);
    NEED(name);
    if (dim < 0 || dim > INT_MAX)
        return fail(ORT_INVALID_ARGUMENT, "dimension '%s' is %lld: has to be 0 to %d", name,
                    (long long)dim, INT_MAX);
    return pair_add(&options->symbols, name, "", dim);
}

static ort_status *SessionOptionsAppendExecutionProvider(ort_session_options *options,
                                                         const char *name, const char *const *keys,
                                                         const char *const *values, size_t count)
{
    (void)keys, (void)values, (void)count;
    NEED(options);
    NEED(name);
    if (strcmp(name, "CPU") == 0 || strcmp(name, "CPUExecutionProvider") == 0)
        return NULL;
    return fail(ORT_INVALID_ARGUMENT,
                "execution provider '%s' is not known; there is CPUExecutionProvider", name);
}

ORT_EXPORT ort_status *OrtSessionOptionsAppendExecutionProvider_CPU(ort_session_options *options,
                                                                    int use_arena);
ort_status *OrtSessionOptionsAppendExecutionProvider_CPU(ort_session_options *options,
                                                         int use_arena)
{
    (void)use_arena;
    NEED(options);
    return NULL;
}

// Hints that ask for nothing that results depend on.
static ort_status *accept_options(ort_session_options *options)
{
    NEED(options);
    return NULL;
}
#define EnableMemPattern   accept_options
#define DisableMemPattern  accept_options
#define EnableCpuMemArena  accept_options
#define DisableCpuMemArena accept_options
#define DisableProfiling   accept_options

static ort_status *accept_number(ort_session_options *options, int number)
{
    (void)number;
    NEED(options);
    return NULL;
}
#define SetSessionExecutionMode     accept_number
#define SetSessionLogVerbosityLevel accept_number
#define SetSessionLogSeverityLevel  accept_number
#define SetInterOpNumThreads        accept_number

static ort_status *SetSessionGraphOptimizationLevel(ort_session_options *options, int level)
{
    NEED(options);
    if (level != 0 && level != 1 && level != 2 && level != 3 && level != 99)
        return fail(ORT_INVALID_ARGUMENT, "optimization level %d is not 0, 1, 2, 3 or 99", level);
    return NULL;
}

static ort_status *SetSessionLogId(ort_session_options *options, const char *id)
{
    NEED(options);
    NEED(id);
    return NULL;
}

static ort_status *SetDeterministicCompute(ort_session_options *options, bool value)
{
    (void)value; // results are the same from run to run in any case
    NEED(options);
    return NULL;
}

// ---- Options of runs ----

static ort_status *CreateRunOptions(ort_run_options **out)
{
    OUT(out, NULL);
    ort_run_options *options = calloc(1, sizeof *options);
    ln_cancel *cancel = ln_cancel_create();
    if (!options || !cancel || pthread_mutex_init(&options->lock, NULL) != 0) {
        ln_cancel_release(cancel);
        free(options);
        return fail_memory();
    }
    options->cancel = cancel;
    options->severity = -1;
    *out = options;
    return NULL;
}

static void ReleaseRunOptions(ort_run_options *options)
{
    if (!options)
        return;
    ln_cancel_release(options->cancel);
    pthread_mutex_destroy(&options->lock);
    free(options->tag);
    free(options);
}

static ort_status *RunOptionsSetTerminate(ort_run_options *options)
{
    NEED(options);
    pthread_mutex_lock(&options->lock);
    ln_cancel_request(options->cancel);
    pthread_mutex_unlock(&options->lock);
    return NULL;
}

static ort_status *RunOptionsUnsetTerminate(ort_run_options *options)
{
    NEED(options);
    ln_cancel *cancel = ln_cancel_create();
    if (!cancel)
        return fail_memory();
    pthread_mutex_lock(&options->lock);
    ln_cancel_release(options->cancel);
    options->cancel = cancel;
    pthread_mutex_unlock(&options->lock);
    return NULL;
}

#define RUN_FIELD(set, get, field)                                                                 \
    static ort_status *set(ort_run_options *options, int value)                                    \
    {                                                                                              \
        NEED(options);                                                                             \
        options->field = value;                                                                    \
        return NULL;                                                                               \
    }                                                                                              \
    static ort_status *get(const ort_run_options *options, int *out)                               \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(options);                                                                             \
        *out = options->field;                                                                     \
        return NULL;                                                                               \
    }
RUN_FIELD(RunOptionsSetRunLogVerbosityLevel, RunOptionsGetRunLogVerbosityLevel, verbosity)
RUN_FIELD(RunOptionsSetRunLogSeverityLevel, RunOptionsGetRunLogSeverityLevel, severity)

static ort_status *RunOptionsSetRunTag(ort_run_options *options, const char *tag)
{
    NEED(options);
    NEED(tag);
    char *copy = strdup(tag);
    if (!copy)
        return fail_memory();
    free(options->tag);
    options->tag = copy;
    return NULL;
}

static ort_status *RunOptionsGetRunTag(const ort_run_options *options, const char **out)
{
    OUT(out, NULL);
    NEED(options);
    *out = options->tag ? options->tag : "";
    return NULL;
}

// ---- Sessions ----

static void ReleaseSession(ort_session *session)
{
    if (!session)
        return;
    for (ort_idle *idle = session->idle; idle;) {
        ort_idle *next = idle->next;
        ln_session_free(idle->session);
        free(idle);
        idle = next;
    }
    ln_program_release(session->program);
    pthread_cond_destroy(&session->is_free);
    pthread_mutex_destroy(&session->lock);
    free(session);
}

static ort_status *session_of(ln_context *ctx, const ort_session_options *options,
                              ort_session **out)
{
    for (ort_pair *p = options ? options->symbols : NULL; p; p = p->next)
        if (pair_find(options->symbols, p->key) == p &&
            ln_context_set_symbol(ctx, p->key, (int)p->number) != LN_OK &&
            ln_error_status() != LN_NOT_FOUND)
            return fail_lightnet(ORT_INVALID_ARGUMENT);
    if (options && options->threads > 0 &&
        ln_context_set_threads(ctx, (size_t)options->threads) != LN_OK)
        return fail_lightnet(ORT_INVALID_ARGUMENT);
    if (ln_context_compile(ctx, "cpu,ref") != LN_OK || ln_context_load(ctx, NULL) != LN_OK)
        return fail_lightnet(ORT_INVALID_GRAPH);
    ort_session *session = calloc(1, sizeof *session);
    if (!session)
        return fail_memory();
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->is_free, NULL);
    if (ln_program_create(ctx, &session->program) != LN_OK) {
        ort_status *status = fail_lightnet(ORT_FAIL);
        ReleaseSession(session);
        return status;
    }
    *out = session;
    return NULL;
}

static ort_status *CreateSession(const ort_env *env, const char *path,
                                 const ort_session_options *options, ort_session **out)
{
    OUT(out, NULL);
    NEED(env);
    NEED(path);
    if (access(path, F_OK) != 0)
        return fail(ORT_NO_SUCHFILE, "model '%s' is not there", path);
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return fail_memory();
    ort_status *status = ln_context_init(ctx, path) == LN_OK ? session_of(ctx, options, out)
                                                             : fail_lightnet(ORT_INVALID_GRAPH);
    ln_context_free(ctx);
    return status;
}

static ort_status *CreateSessionFromArray(const ort_env *env, const void *bytes, size_t byte_count,
                                          const ort_session_options *options, ort_session **out)
{
    OUT(out, NULL);
    NEED(env);
    NEED(bytes);
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return fail_memory();
    ort_status *status = ln_context_init_mem(ctx, bytes, byte_count, NULL) == LN_OK
                             ? session_of(ctx, options, out)
                             : fail_lightnet(ORT_INVALID_GRAPH);
    ln_context_free(ctx);
    return status;
}

static const char *end_name(const ort_session *session, bool is_output, size_t index)
{
    const char *name = NULL;
    if (is_output)
        (void)ln_program_output(session->program, index, &name, NULL);
    else
        (void)ln_program_input(session->program, index, &name, NULL);
    return name;
}

static size_t end_count(const ort_session *session, bool is_output)
{
    return is_output ? ln_program_output_count(session->program)
                     : ln_program_input_count(session->program);
}

static bool end_is(const ort_session *session, bool is_output, const char *name)
{
    for (size_t i = 0; i < end_count(session, is_output); i++)
        if (strcmp(end_name(session, is_output, i), name) == 0)
            return true;
    return false;
}

static void shape_clear(ort_shape *shape)
{
    for (int i = 0; i < TL_MAXDIM; i++)
        free(shape->symbols[i]);
}

static bool shape_copy(ort_shape *out, const ort_shape *shape)
{
    *out = *shape;
    bool is_done = true;
    for (int i = 0; i < TL_MAXDIM; i++)
        if (shape->symbols[i]) {
            out->symbols[i] = strdup(shape->symbols[i]);
            is_done = is_done && out->symbols[i];
        }
    return is_done;
}

static ort_status *end_type(const ort_session *session, bool is_output, size_t index,
                            ort_type **out)
{
    OUT(out, NULL);
    NEED(session);
    const ln_program *program = session->program;
    const char *name = end_name(session, is_output, index);
    if (!name)
        return fail(ORT_INVALID_ARGUMENT, "index %zu, of %zu", index,
                    end_count(session, is_output));
    ort_type *type = calloc(1, sizeof *type);
    if (!type)
        return fail_memory();
    type->shape.type = element_of(ln_program_tensor_dtype(program, name));
    type->kind = type->shape.type ? ORT_TENSOR : ORT_UNKNOWN;
    type->shape.ndim = ln_program_tensor_rank(program, name);
    for (int i = 0; i < type->shape.ndim; i++) {
        type->shape.dims[i] = ln_program_tensor_dim(program, name, i);
        const char *symbol = ln_program_tensor_symbol(program, name, i);
        if (symbol && !(type->shape.symbols[i] = strdup(symbol))) {
            shape_clear(&type->shape);
            free(type);
            return fail_memory();
        }
    }
    *out = type;
    return NULL;
}

static ort_status *end_text(const ort_session *session, bool is_output, size_t index,
                            ort_allocator *allocator, char **out)
{
    OUT(out, NULL);
    NEED(session);
    NEED(allocator);
    const char *name = end_name(session, is_output, index);
    return name ? copy_text(allocator, name, out)
                : fail(ORT_INVALID_ARGUMENT, "index %zu, of %zu", index,
                       end_count(session, is_output));
}

#define ENDS(count_slot, name_slot, type_slot, is_output)                                          \
    static ort_status *count_slot(const ort_session *session, size_t *out)                         \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(session);                                                                             \
        *out = end_count(session, is_output);                                                      \
        return NULL;                                                                               \
    }                                                                                              \
    static ort_status *name_slot(const ort_session *session, size_t index,                         \
                                 ort_allocator *allocator, char **out)                             \
    {                                                                                              \
        return end_text(session, is_output, index, allocator, out);                                \
    }                                                                                              \
    static ort_status *type_slot(const ort_session *session, size_t index, ort_type **out)         \
    {                                                                                              \
        return end_type(session, is_output, index, out);                                           \
    }
ENDS(SessionGetInputCount, SessionGetInputName, SessionGetInputTypeInfo, false)
ENDS(SessionGetOutputCount, SessionGetOutputName, SessionGetOutputTypeInfo, true)

static ort_status *SessionGetOverridableInitializerCount(const ort_session *session, size_t *out)
{
    OUT(out, 0);
    NEED(session);
    return NULL;
}

// ---- Metadata ----

static ort_status *SessionGetModelMetadata(const ort_session *session, ort_metadata **out)
{
    OUT(out, NULL);
    NEED(session);
    ort_metadata *metadata = malloc(sizeof *metadata);
    if (!metadata)
        return fail_memory();
    metadata->program = ln_program_retain(session->program);
    *out = metadata;
    return NULL;
}

static void ReleaseModelMetadata(ort_metadata *metadata)
{
    if (metadata)
        ln_program_release(metadata->program);
    free(metadata);
}

#define METADATA_TEXT(slot, field)                                                                 \
    static ort_status *slot(const ort_metadata *metadata, ort_allocator *allocator, char **out)    \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(metadata);                                                                            \
        NEED(allocator);                                                                           \
        return copy_text(allocator, ln_program_info(metadata->program)->field, out);               \
    }
METADATA_TEXT(ModelMetadataGetProducerName, producer)
METADATA_TEXT(ModelMetadataGetGraphName, graph)
METADATA_TEXT(ModelMetadataGetDomain, domain)
METADATA_TEXT(ModelMetadataGetDescription, doc)
METADATA_TEXT(ModelMetadataGetGraphDescription, graph_doc)

static ort_status *ModelMetadataGetVersion(const ort_metadata *metadata, int64_t *out)
{
    OUT(out, 0);
    NEED(metadata);
    *out = ln_program_info(metadata->program)->version;
    return NULL;
}

static ort_status *ModelMetadataLookupCustomMetadataMap(const ort_metadata *metadata,
                                                        ort_allocator *allocator, const char *key,
                                                        char **out)
{
    OUT(out, NULL);
    NEED(metadata);
    NEED(allocator);
    NEED(key);
    const char *value = ln_model_info_find(ln_program_info(metadata->program), key);
    return value ? copy_text(allocator, value, out) : NULL; // NULL says that there is none
}

static ort_status *ModelMetadataGetCustomMetadataMapKeys(const ort_metadata *metadata,
                                                         ort_allocator *allocator, char ***out,
                                                         int64_t *count)
{
    OUT(out, NULL);
    OUT(count, 0);
    NEED(metadata);
    NEED(allocator);
    const ln_model_info *info = ln_program_info(metadata->program);
    if (info->property_count == 0)
        return NULL;
    char **keys = allocator->alloc(allocator, info->property_count * sizeof *keys);
    if (!keys)
        return fail_memory();
    for (size_t i = 0; i < info->property_count; i++) {
        ort_status *status = copy_text(allocator, info->properties[i].key, &keys[i]);
        if (status) {
            while (i-- > 0)
                allocator->free(allocator, keys[i]);
            allocator->free(allocator, keys);
            return status;
        }
    }
    *out = keys;
    *count = (int64_t)info->property_count;
    return NULL;
}

// ---- Types ----

static void ReleaseTensorTypeAndShapeInfo(ort_shape *shape)
{
    if (shape)
        shape_clear(shape);
    free(shape);
}

static void ReleaseTypeInfo(ort_type *type)
{
    if (type)
        shape_clear(&type->shape);
    free(type);
}

static ort_status *CastTypeInfoToTensorInfo(const ort_type *type, const ort_shape **out)
{
    OUT(out, NULL);
    NEED(type);
    *out = type->kind == ORT_TENSOR ? &type->shape : NULL;
    return NULL;
}

static ort_status *GetOnnxTypeFromTypeInfo(const ort_type *type, int *out)
{
    OUT(out, ORT_UNKNOWN);
    NEED(type);
    *out = type->kind;
    return NULL;
}

static ort_status *CreateTensorTypeAndShapeInfo(ort_shape **out)
{
    OUT(out, NULL);
    *out = calloc(1, sizeof **out);
    return *out ? NULL : fail_memory();
}

static ort_status *SetTensorElementType(ort_shape *shape, int type)
{
    NEED(shape);
    if (type < 0 || type >= ORT_ELEMENT_COUNT)
        return fail(ORT_INVALID_ARGUMENT, "element type %d is not known", type);
    shape->type = type;
    return NULL;
}

static ort_status *SetDimensions(ort_shape *shape, const int64_t *dims, size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(dims);
    if (count > TL_MAXDIM)
        return fail(ORT_INVALID_ARGUMENT, "%zu dimensions, at most %d", count, TL_MAXDIM);
    shape->ndim = (int)count;
    if (count > 0)
        memcpy(shape->dims, dims, count * sizeof *dims);
    return NULL;
}

static ort_status *GetTensorElementType(const ort_shape *shape, int *out)
{
    OUT(out, 0);
    NEED(shape);
    *out = shape->type;
    return NULL;
}

static size_t rank_of(const ort_shape *shape)
{
    return shape->ndim > 0 ? (size_t)shape->ndim : 0;
}

static ort_status *GetDimensionsCount(const ort_shape *shape, size_t *out)
{
    OUT(out, 0);
    NEED(shape);
    *out = rank_of(shape);
    return NULL;
}

static ort_status *GetDimensions(const ort_shape *shape, int64_t *out, size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(out);
    for (size_t i = 0; i < count && i < rank_of(shape); i++)
        out[i] = shape->dims[i];
    return NULL;
}

static ort_status *GetSymbolicDimensions(const ort_shape *shape, const char **out, size_t count)
{
    NEED(shape);
    if (count > 0)
        NEED(out);
    for (size_t i = 0; i < count && i < rank_of(shape); i++)
        out[i] = shape->symbols[i] ? shape->symbols[i] : "";
    return NULL;
}

static bool shape_count(const ort_shape *shape, size_t *out)
{
    int dims[TL_MAXDIM], len;
    *out = 0;
    for (size_t i = 0; i < rank_of(shape); i++) {
        if (shape->dims[i] < 0 || shape->dims[i] > INT_MAX)
            return false;
        dims[i] = (int)shape->dims[i];
    }
    if (!tl_shape_len((int)rank_of(shape), dims, &len))
        return false;
    *out = (size_t)len;
    return true;
}

static ort_status *GetTensorShapeElementCount(const ort_shape *shape, size_t *out)
{
    OUT(out, 0);
    NEED(shape);
    return shape_count(shape, out)
               ? NULL
               : fail(ORT_INVALID_ARGUMENT, "a dimension is open, or there are too many elements");
}

static bool TensorTypeAndShape_HasShape(const ort_shape *shape)
{
    return shape && shape->ndim >= 0;
}

// ---- Values ----

static void ReleaseValue(ort_value *value)
{
    if (!value)
        return;
    ln_object_release(value->object);
    free(value->block);
    free(value);
}

// A value without data yet.
static ort_status *value_new(const int64_t *dims, size_t ndim, int type, ort_value **out)
{
    if (ndim > 0 && !dims)
        return fail(ORT_INVALID_ARGUMENT, "the shape is NULL");
    if (ndim > TL_MAXDIM)
        return fail(ORT_INVALID_ARGUMENT, "%zu dimensions, at most %d", ndim, TL_MAXDIM);
    if (type < 1 || type >= ORT_ELEMENT_COUNT)
        return fail(ORT_NOT_IMPLEMENTED, "element type %d is not known", type);
    ort_value *value = calloc(1, sizeof *value);
    if (!value)
        return fail_memory();
    value->shape.type = type;
    value->shape.ndim = (int)ndim;
    for (size_t i = 0; i < ndim; i++)
        value->shape.dims[i] = dims[i];
    if (!shape_count(&value->shape, &value->count)) {
        free(value);
        return fail(ORT_INVALID_ARGUMENT, "a dimension is negative, or the product is over %d",
                    INT_MAX);
    }
    value->byte_count = value->count * ort_elements[type].size;
    *out = value;
    return NULL;
}

static ort_status *CreateTensorWithDataAsOrtValue(const ort_memory *memory, void *data,
                                                  size_t byte_count, const int64_t *dims,
                                                  size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(memory);
    if (strcmp(memory->name, ort_cpu.name) != 0)
        return fail(ORT_INVALID_ARGUMENT, "values are in 'Cpu', not in '%s'", memory->name);
    if (type == ORT_STRING)
        return fail(ORT_INVALID_ARGUMENT, "strings cannot be in the caller's memory");
    ort_value *value = NULL;
    ort_status *status = value_new(dims, ndim, type, &value);
    if (status)
        return status;
    if (value->byte_count > byte_count || (!data && value->byte_count > 0)) {
        status = fail(ORT_INVALID_ARGUMENT, "the shape needs %zu bytes, the buffer has %zu",
                      value->byte_count, data ? byte_count : 0);
        ReleaseValue(value);
        return status;
    }
    value->data = data;
    *out = value;
    return NULL;
}

static ort_status *CreateTensorAsOrtValue(ort_allocator *allocator, const int64_t *dims,
                                          size_t ndim, int type, ort_value **out)
{
    OUT(out, NULL);
    NEED(allocator);
    ort_value *value = NULL;
    ort_status *status = value_new(dims, ndim, type, &value);
    if (status)
        return status;
    if (type == ORT_STRING) {
        int sizes[TL_MAXDIM];
        for (size_t i = 0; i < ndim; i++)
            sizes[i] = (int)dims[i];
        value->object = ln_object_new_tensor(TL_STRING, (int)ndim, sizes, NULL);
        value->data = value->object ? ln_object_tensor(value->object)->data : NULL;
    } else {
        value->block = calloc(value->byte_count ? value->byte_count : 1, 1);
        value->data = value->block;
    }
    if (!value->object && !value->block) {
        ReleaseValue(value);
        return fail_memory();
    }
    *out = value;
    return NULL;
}

static ort_status *IsTensor(const ort_value *value, int *out)
{
    OUT(out, 0);
    NEED(value);
    *out = 1;
    return NULL;
}

static ort_status *GetValueType(const ort_value *value, int *out)
{
    OUT(out, ORT_UNKNOWN);
    NEED(value);
    *out = ORT_TENSOR;
    return NULL;
}

static ort_status *HasValue(const ort_value *value, int *out)
{
    return IsTensor(value, out);
}

static ort_status *GetTensorTypeAndShape(const ort_value *value, ort_shape **out)
{
    OUT(out, NULL);
    NEED(value);
    ort_shape *shape = calloc(1, sizeof *shape);
    if (!shape || !shape_copy(shape, &value->shape)) {
        ReleaseTensorTypeAndShapeInfo(shape);
        return fail_memory();
    }
    *out = shape;
    return NULL;
}

static ort_status *GetTypeInfo(const ort_value *value, ort_type **out)
{
    OUT(out, NULL);
    NEED(value);
    ort_type *type = calloc(1, sizeof *type);
    if (!type || !shape_copy(&type->shape, &value->shape)) {
        ReleaseTypeInfo(type);
        return fail_memory();
    }
    type->kind = ORT_TENSOR;
    *out = type;
    return NULL;
}

static ort_status *GetTensorMutableData(ort_value *value, void **out)
{
    OUT(out, NULL);
    NEED(value);
    if (value->shape.type == ORT_STRING)
        return fail(ORT_NOT_IMPLEMENTED, "strings are read with GetStringTensorContent");
    *out = value->data;
    return NULL;
}

static ort_status *GetTensorData(const ort_value *value, const void **out)
{
    OUT(out, NULL);
    NEED(value);
    if (value->shape.type == ORT_STRING)
        return fail(ORT_NOT_IMPLEMENTED, "strings are read with GetStringTensorContent");
    *out = value->data;
    return NULL;
}

static ort_status *GetTensorSizeInBytes(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    NEED(value);
    if (value->shape.type == ORT_STRING)
        return fail(ORT_INVALID_ARGUMENT, "strings have no size of their own");
    *out = value->byte_count;
    return NULL;
}

static ort_status *GetTensorMemoryInfo(const ort_value *value, const ort_memory **out)
{
    OUT(out, NULL);
    NEED(value);
    *out = &ort_cpu;
    return NULL;
}

static ort_status *GetTensorElementTypeAndShapeDataReference(const ort_value *value, int *type,
                                                             const int64_t **dims, size_t *count)
{
    OUT(type, 0);
    OUT(dims, NULL);
    OUT(count, 0);
    NEED(value);
    *type = value->shape.type;
    *dims = value->shape.dims;
    *count = rank_of(&value->shape);
    return NULL;
}

// ---- Strings ----

static ort_status *need_strings(const ort_value *value)
{
    NEED(value);
    return value->shape.type == ORT_STRING ? NULL
                                           : fail(ORT_INVALID_ARGUMENT, "no tensor of strings");
}

static const char *string_at(const ort_value *value, size_t index)
{
    const char *text = ((const char *const *)value->data)[index];
    return text ? text : "";
}

static ort_status *FillStringTensorElement(ort_value *value, const char *text, size_t index)
{
    ort_status *status = need_strings(value);
    if (status)
        return status;
    NEED(text);
    if (index >= value->count)
        return fail(ORT_INVALID_ARGUMENT, "element %zu, of %zu", index, value->count);
    return ln_object_set_string(value->object, index, text, strlen(text)) == LN_OK
               ? NULL
               : fail_lightnet(ORT_INVALID_ARGUMENT);
}

static ort_status *FillStringTensor(ort_value *value, const char *const *texts, size_t count)
{
    ort_status *status = need_strings(value);
    if (status)
        return status;
    if (count != value->count)
        return fail(ORT_INVALID_ARGUMENT, "%zu strings for %zu elements", count, value->count);
    if (count > 0)
        NEED(texts);
    for (size_t i = 0; i < count && !status; i++)
        status = FillStringTensorElement(value, texts[i], i);
    return status;
}

static ort_status *GetStringTensorDataLength(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    ort_status *status = need_strings(value);
    for (size_t i = 0; !status && i < value->count; i++)
        *out += strlen(string_at(value, i));
    return status;
}

static ort_status *GetStringTensorContent(const ort_value *value, void *bytes, size_t byte_count,
                                          size_t *offsets, size_t offset_count)
{
    size_t needed = 0;
    ort_status *status = GetStringTensorDataLength(value, &needed);
    if (status)
        return status;
    if (byte_count < needed || offset_count < value->count || (needed > 0 && !bytes) ||
        (value->count > 0 && !offsets))
        return fail(ORT_INVALID_ARGUMENT,
                    "room for %zu bytes and %zu offsets, of %zu bytes and %zu elements", byte_count,
                    offset_count, needed, value->count);
    size_t at = 0;
    for (size_t i = 0; i < value->count; i++) {
        size_t len = strlen(string_at(value, i));
        offsets[i] = at;
        if (len > 0)
            memcpy((char *)bytes + at, string_at(value, i), len);
        at += len;
    }
    return NULL;
}

static ort_status *GetStringTensorElementLength(const ort_value *value, size_t index, size_t *out)
{
    OUT(out, 0);
    ort_status *status = need_strings(value);
    if (status)
        return status;
    if (index >= value->count)
        return fail(ORT_INVALID_ARGUMENT, "element %zu, of %zu", index, value->count);
    *out = strlen(string_at(value, index));
    return NULL;
}

static ort_status *GetStringTensorElement(const ort_value *value, size_t byte_count, size_t index,
                                          void *bytes)
{
    size_t len = 0;
    ort_status *status = GetStringTensorElementLength(value, index, &len);
    if (status)
        return status;
    NEED(bytes);
    if (byte_count < len)
        return fail(ORT_INVALID_ARGUMENT, "room for %zu bytes, of %zu", byte_count, len);
    memcpy(bytes, string_at(value, index), len);
    return NULL;
}

// ---- Runs ----

// Takes an idle session, or creates one; waits while ORT_MAX_RUNS run.
static ort_status *idle_take(ort_session *session, ort_idle **out)
{
    pthread_mutex_lock(&session->lock);
    while (session->running >= ORT_MAX_RUNS)
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
            status = fail_memory();
        else if (ln_session_create(session->program, &idle->session) != LN_OK)
            status = fail_lightnet(ORT_FAIL);
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
        return fail_lightnet(ORT_INVALID_ARGUMENT);
    if (!value->object && value->shape.type == ORT_BOOL) {
        tl_bool *elements = ln_object_tensor(object)->data;
        for (size_t i = 0; i < value->count; i++)
            elements[i] = ((const unsigned char *)value->data)[i] != 0;
    } else if (!value->object && value->byte_count > 0) {
        memcpy(ln_object_tensor(object)->data, value->data, value->byte_count);
    }
    ln_status status = ln_session_set_object(run, name, object);
    ln_object_release(object);
    return status == LN_OK ? NULL : fail_lightnet(ORT_INVALID_ARGUMENT);
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
        return fail_lightnet(ORT_FAIL);
    const tl_tensor *tensor = ln_object_tensor(object);
    int type = tensor ? element_of(tensor->dtype) : 0;
    ort_status *status = NULL;
    ort_value *value = NULL;
    int64_t dims[TL_MAXDIM];
    if (!type) {
        status = fail(ORT_NOT_IMPLEMENTED, "output '%s' is no tensor of a type known here", name);
        goto end;
    }
    for (int i = 0; i < tensor->ndim; i++)
        dims[i] = tensor->dims[i];
    status = value_new(dims, (size_t)tensor->ndim, type, &value);
    if (status)
        goto end;
    if (*out) { // the caller's: the same type and shape, its own memory
        if ((*out)->shape.type != type || (*out)->shape.ndim != value->shape.ndim ||
            memcmp((*out)->shape.dims, value->shape.dims, sizeof dims) != 0)
            status = fail(ORT_INVALID_ARGUMENT,
                          "output '%s' has another type or shape than its "
                          "value",
                          name);
        else if (type != ORT_STRING)
            elements_copy(*out, tensor);
        for (size_t i = 0; !status && type == ORT_STRING && i < value->count; i++)
            status = FillStringTensorElement(*out, ((char **)tensor->data)[i], i);
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
        status = fail_memory();
    if (!status && type != ORT_STRING)
        elements_copy(value, tensor);
    if (!status) {
        *out = value;
        value = NULL;
    }
end:
    ReleaseValue(value);
    ln_object_release(object);
    return status;
}

static ort_status *names_check(const ort_session *session, bool is_output, const char *const *names,
                               size_t count)
{
    const char *kind = is_output ? "output" : "input";
    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            return fail(ORT_INVALID_ARGUMENT, "the name of %s %zu is NULL", kind, i);
        if (!end_is(session, is_output, names[i]))
            return fail(ORT_INVALID_ARGUMENT, "the model has no %s '%s'", kind, names[i]);
    }
    for (size_t k = 0; !is_output && k < end_count(session, false); k++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += strcmp(names[i], end_name(session, false, k)) == 0;
        if (found != 1)
            return fail(ORT_INVALID_ARGUMENT, "input '%s' is given %zu times",
                        end_name(session, false, k), found);
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
        return fail(ORT_INVALID_ARGUMENT, "no output is asked for");
    NEED(output_names);
    NEED(outputs);
    ort_status *status = names_check(session, false, input_names, input_count);
    if (!status)
        status = names_check(session, true, output_names, output_count);
    for (size_t i = 0; i < input_count && !status; i++)
        if (!inputs[i])
            status = fail(ORT_INVALID_ARGUMENT, "input '%s' is NULL", input_names[i]);
    if (status)
        return status;
    bool *is_made = calloc(output_count, sizeof *is_made);
    ort_idle *idle = NULL;
    status = is_made ? idle_take(session, &idle) : fail_memory();
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
        status = fail_lightnet(ORT_INVALID_ARGUMENT);
    for (size_t i = 0; i < output_count && !status; i++) {
        bool is_new = !outputs[i];
        status = output_get(idle->session, output_names[i], &outputs[i]);
        is_made[i] = is_new && !status;
    }
    for (size_t i = 0; i < output_count && status; i++)
        if (is_made[i]) {
            ReleaseValue(outputs[i]);
            outputs[i] = NULL;
        }
    idle_give(session, idle);
    free(is_made);
    return status;
}

// ---- Pairs of execution providers, of which there are none ----

static void CreateKeyValuePairs(void **out)
{
    if (out)
        *out = NULL;
}

static void GetKeyValuePairs(const void *pairs, const char *const **out_keys,
                             const char *const **out_values, size_t *out_count)
{
    (void)pairs;
    if (out_keys)
        *out_keys = NULL;
    if (out_values)
        *out_values = NULL;
    if (out_count)
        *out_count = 0;
}

// ---- The table ----

// X: implemented. N: returns a status that says which function is missing. R: releases what cannot
// be made here. V: returns 0 or NULL.
#define X(number, name)
#define R(number, name)
#define V(number, name)
#define N(number, name)                                                                            \
    static ort_status *absent_##number(void)                                                       \
    {                                                                                              \
        return fail(ORT_NOT_IMPLEMENTED, "liblightnet-ort: %s is not implemented", #name);         \
    }
#include "slots.inc"
#undef X
#undef R
#undef V
#undef N

static void *absent_value(void)
{
    return NULL;
}

typedef void (*ort_slot)(void);

#define X(number, name) [number] = (ort_slot)name,
#define N(number, name) [number] = (ort_slot)absent_##number,
#define R(number, name) [number] = (ort_slot)absent_value,
#define V(number, name) [number] = (ort_slot)absent_value,
static const ort_slot ort_table[] = {
#include "slots.inc"
};

typedef struct ort_base {
    const ort_slot *(*get_api)(uint32_t version);
    const char *(*get_version_string)(void);
} ort_base;

static const ort_slot *get_api(uint32_t version)
{
    return version >= 1 && version <= ORT_API_VERSION ? ort_table : NULL;
}

static const char *get_version_string(void)
{
    return ORT_VERSION_TEXT;
}

ORT_EXPORT const ort_base *OrtGetApiBase(void);
const ort_base *OrtGetApiBase(void)
{
    static const ort_base base = {get_api, get_version_string};
    return &base;
}
