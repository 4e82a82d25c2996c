// SPDX-License-Identifier: Apache-2.0
// The C ABI of ONNX Runtime over the public API: the objects that its functions pass around.
//
// Each noun has a file with its functions, static, and a list of them that table.c puts into the
// table of slots. A function returns a status, NULL if all went well. Results are cleared first;
// arguments that are NULL, or out of range, are ORT_INVALID_ARGUMENT and name themselves.

#ifndef LN_COMPAT_ORT_ORT_H
#define LN_COMPAT_ORT_ORT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <lightnet/use.h>

#define ORT_EXPORT __attribute__((visibility("default")))

// By their numbers there.
typedef enum ort_code {
    ORT_OK,
    ORT_FAIL,
    ORT_INVALID_ARGUMENT,
    ORT_NO_SUCHFILE,
    ORT_RUNTIME_EXCEPTION = 6,
    ORT_INVALID_PROTOBUF,
    ORT_NOT_IMPLEMENTED = 9,
    ORT_INVALID_GRAPH = 10,
    ORT_MODEL_LOAD_CANCELED = 12,
} ort_code;

typedef enum ort_kind {
    ORT_UNKNOWN,
    ORT_TENSOR,
    ORT_SEQUENCE,
    ORT_MAP,
    ORT_OPTIONAL = 6,
} ort_kind;

typedef enum ort_severity {
    ORT_VERBOSE,
    ORT_INFO,
    ORT_WARNING,
    ORT_ERROR,
} ort_severity;

typedef struct ort_status ort_status;

typedef struct ort_memory {
    int device, allocator_type, id, mem_type, device_mem_type;
    uint32_t vendor;
    char name[];
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

typedef void (*ort_log_function)(void *user, int severity, const char *category, const char *id,
                                 const char *location, const char *message);

// Where the messages of a call go.
typedef struct ort_logger {
    ort_log_function function; // NULL: nowhere
    void *user;
    int severity; // the least that is passed on
    const char *id;
} ort_logger;

typedef struct ort_pair {
    struct ort_pair *next;
    int64_t number;
    char *value; // in the same block, after the key
    char key[];
} ort_pair;

typedef struct ort_shape {
    int type; // of an element, by its number there
    int ndim; // -1: unknown
    int64_t dims[TL_MAXDIM];
    char *symbols[TL_MAXDIM]; // NULL: none
} ort_shape;

// Sequences and optionals have an element, maps a type of keys (in `shape`) and a value.
typedef struct ort_type {
    ort_kind kind;
    ort_shape shape;
    struct ort_type *element;
} ort_type;

typedef struct ort_text {
    char *bytes; // with a 0 byte after them; NULL: no bytes
    size_t len;
} ort_text;

// Counted: bindings and options hold values of their clients.
typedef struct ort_value {
    atomic_size_t holder_count;
    ort_kind kind;
    ort_shape shape; // of a tensor, as are the next
    size_t count, byte_count;
    void *data;             // NULL: strings, or nothing
    ort_text *texts;        // of strings
    void *block;            // what is freed with it; NULL: nothing
    ort_allocator *deleter; // whose `free` frees the block
    ln_object *object;      // of other kinds
} ort_value;

typedef struct ort_env {
    atomic_size_t holder_count;
    atomic_int level;
    ort_log_function log;
    void *log_user;
    pthread_mutex_t lock; // of `threads`: sessions are created in several threads
    ln_context *threads;  // has those of sessions without their own; NULL: the default
    char id[];
} ort_env;

typedef struct ort_initializer {
    struct ort_initializer *next;
    ort_value *value;
    bool is_external; // it replaces data in another file
    char name[];
} ort_initializer;

// Bytes of the caller's, read when a session is created.
typedef struct ort_file {
    struct ort_file *next;
    const void *bytes;
    size_t byte_count;
    char name[];
} ort_file;

typedef struct ort_custom ort_custom; // custom.h
typedef struct ort_nodes ort_nodes;
typedef struct ort_profile ort_profile;

typedef struct ort_session_options {
    int threads;
    bool uses_threads_of_env;
    int mode;
    bool has_no_mem_pattern;
    int severity; // -1: that of the environment
    char *log_id;
    char *written_path; // where sessions write their model; NULL: nowhere
    char *profile;      // what names of files with their times begin with; NULL: there are none
    ort_log_function log;
    void *log_user;
    ort_pair *entries; // session.* and the like
    ort_pair *symbols; // of free dimensions
    ort_initializer *initializers;
    ort_file *files;
    ort_custom *customs;
    ln_cancel *cancel;      // ends the creation of sessions
    ln_context *threads_of; // a context whose threads sessions share; NULL: as said above
} ort_session_options;

typedef struct ort_run_options {
    pthread_mutex_t lock; // of cancel: one thread runs while another ends it
    ln_cancel *cancel;
    int verbosity, severity;
    char *tag;
    ort_pair *entries;
} ort_run_options;

typedef struct ort_idle {
    struct ort_idle *next;
    ln_session *session;
} ort_idle;

// An input, an output, or an initializer that a run may replace.
typedef struct ort_end {
    char *name;
    ort_type *type;
    ln_object *first; // of an initializer: its value
} ort_end;

typedef struct ort_ends {
    ort_end *items;
    size_t count;
} ort_ends;

// The sessions of a program that runs take.
typedef struct ort_runners {
    ln_program *program; // NULL: not made yet
    ort_idle *idle;
    int running;
} ort_runners;

typedef struct ort_session {
    atomic_size_t holder_count; // its client, and runs that others wait for
    ort_env *env;
    ort_log_function log;
    void *log_user;
    int severity;
    char *log_id;
    ort_ends inputs, outputs, initializers;
    int64_t version;      // of the model; INT64_MAX: it states none
    pthread_mutex_t lock; // of what follows
    pthread_cond_t is_free;
    ort_runners runners;
    ort_runners replacing; // whose initializers are inputs
    ln_context *ready;     // what that program is made of; NULL: there are no such initializers
    struct ort_job *first_job, *last_job;
    int worker_count;
    void *kept;           // bytes of files
    ort_nodes *nodes;     // of custom operators; NULL: there are none
    ort_profile *profile; // NULL: its times are not written
} ort_session;

typedef struct ort_metadata {
    ln_program *program;
    int64_t version;
} ort_metadata;

// ---- Slots ----

typedef void (*ort_slot)(void);

typedef struct ort_row {
    int number;
    ort_slot function; // NULL: the end of the list
} ort_row;

enum {
#define S(number, name) ORT_SLOT_##name = (number),
#define R(number, name) ORT_SLOT_##name = (number),
#define V(number, name) ORT_SLOT_##name = (number),
#include "compat/ort/slots.inc"
#undef S
#undef R
#undef V
};

#define SLOT(name)                                                                                 \
    {                                                                                              \
        ORT_SLOT_##name, (ort_slot)name                                                            \
    }
#define SLOT_AS(name, other)                                                                       \
    {                                                                                              \
        ORT_SLOT_##name, (ort_slot)other                                                           \
    }
#define SLOT_END                                                                                   \
    {                                                                                              \
        0, NULL                                                                                    \
    }

extern const ort_row ort_status_slots[], ort_memory_slots[], ort_env_slots[], ort_pair_slots[],
    ort_session_option_slots[], ort_run_option_slots[], ort_session_slots[], ort_metadata_slots[],
    ort_type_slots[], ort_value_slots[], ort_string_slots[], ort_container_slots[], ort_run_slots[],
    ort_async_slots[], ort_binding_slots[], ort_device_slots[], ort_initializer_slots[],
    ort_other_api_slots[], ort_custom_slots[], ort_custom_kernel_slots[],
    ort_custom_context_slots[], ort_custom_invoke_slots[], ort_log_slots[], ort_profile_slots[];

// ---- What the library exports ----

typedef struct ort_base {
    const ort_slot *(*get_api)(uint32_t version);
    const char *(*get_version_string)(void);
} ort_base;

ORT_EXPORT const ort_base *OrtGetApiBase(void);
const ort_base *ort_own_base(void); // the same, also where another library has taken that name
ORT_EXPORT ort_status *OrtSessionOptionsAppendExecutionProvider_CPU(ort_session_options *options,
                                                                    int use_arena);

// ---- Statuses ----

#define ORT_FAILS __attribute__((returns_nonnull))

ort_status *ort_status_new(ort_code code, const char *text) ORT_FAILS;
ort_status *ort_fail(ort_code code, const char *fmt, ...) ORT_FAILS LN_PRINTF(2, 3);
ort_status *ort_fail_memory(void) ORT_FAILS;

// The last failure of LightNet; `invalid` is what LN_INVALID means here.
ort_status *ort_fail_lightnet(ort_code invalid) ORT_FAILS;

ort_code ort_status_code(const ort_status *status);
const char *ort_status_text(const ort_status *status);
void ort_status_free(ort_status *status);

#define NEED(p)                                                                                    \
    do {                                                                                           \
        if (!(p))                                                                                  \
            return ort_fail(ORT_INVALID_ARGUMENT, "%s: '%s' is NULL", __func__, #p);               \
    } while (0)

#define OUT(p, value)                                                                              \
    do {                                                                                           \
        NEED(p);                                                                                   \
        *(p) = (value);                                                                            \
    } while (0)

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        ort_status *try_status = (expr);                                                           \
        if (try_status)                                                                            \
            return try_status;                                                                     \
    } while (0)

// ---- Messages ----

// Once: LightNet's messages go to the logger of the call in whose thread they come up.
void ort_log_start(void);

// From here on messages of this thread go to `logger`. Returns the one of before, to be given back.
const ort_logger *ort_log_to(const ort_logger *logger);
const ort_logger *ort_log_current(void);

void ort_log(ort_severity severity, const char *text);
void ort_log_at(int severity, const char *location, const char *text);

// Passes the message of a failure on; returns the status.
ort_status *ort_log_failure(ort_status *status);

// ---- Memory ----

extern ort_allocator ort_cpu_allocator;
const ort_memory *ort_cpu(void);
bool ort_is_cpu(const ort_memory *memory);

// Zeros, whose address suits LightNet's kernels; NULL: out of memory. `ort_free` frees it.
void *ort_alloc(size_t size);
void *ort_alloc_raw(size_t size);
void ort_free(void *p);

// The text in memory of `allocator`, for the client.
ort_status *ort_copy_text(ort_allocator *allocator, const char *text, char **out);

// ---- Pairs ----

void ort_pairs_free(ort_pair *pair);
ort_pair *ort_pair_find(ort_pair *pair, const char *key);
ort_status *ort_pair_add(ort_pair **list, const char *key, const char *value, int64_t number);
ort_status *ort_pairs_copy(ort_pair **list, const ort_pair *from);

// Pairs as clients see them; the list is copied.
typedef struct ort_pairs ort_pairs;
ort_status *ort_pairs_new(const ort_pair *from, ort_pairs **out);
const ort_pairs *ort_pairs_none(void);

// ---- Environments and threads ----

// Gives the context the threads that all sessions of the environment share.
ort_status *ort_env_give_threads(ort_env *env, ln_context *ctx);

ort_env *ort_env_retain(ort_env *env);
void ort_env_release(ort_env *env);

// ---- Types and shapes ----

// By number there: the type here, bytes of an element there; 0 bytes: not taken.
typedef struct ort_element {
    tl_dtype dtype;
    size_t size;
    const char *name;
} ort_element;

#define ORT_ELEMENT_COUNT 21
#define ORT_STRING        8
#define ORT_BOOL          9
extern const ort_element ort_elements[ORT_ELEMENT_COUNT];

int ort_element_of(tl_dtype dtype); // 0: none

void ort_shape_clear(ort_shape *shape);
bool ort_shape_copy(ort_shape *out, const ort_shape *shape); // false: out of memory
void ort_shape_free(ort_shape *shape);
size_t ort_rank_of(const ort_shape *shape);
bool ort_shape_count(const ort_shape *shape, size_t *out); // of elements; false: not known

// "[2, 3]", with -1 for what is not known.
#define ORT_SHAPE_TEXT_BYTES 256
const char *ort_shape_print(const ort_shape *shape, char text[ORT_SHAPE_TEXT_BYTES]);

ort_type *ort_type_new(ort_kind kind); // NULL: out of memory
ort_type *ort_type_copy(const ort_type *type);
void ort_type_free(ort_type *type);

// The type that a text of LightNet states: "FLOAT[N, 3]", "seq(map(INT64, FLOAT[?]))".
ort_type *ort_type_parse(const char *text);

// ---- Options ----

void ort_initializers_free(ort_initializer *first);
ort_status *ort_initializers_copy(ort_initializer **list, const ort_initializer *from);
void ort_files_free(ort_file *first);
ort_status *ort_files_copy(ort_file **list, const ort_file *from);

// ---- Custom operators ----

void ort_customs_free(ort_custom *first);
ort_status *ort_customs_copy(ort_custom **list, const ort_custom *from);

// The model's bytes with an operator of LightNet for each node of a custom operator. *out_nodes and
// *out_bytes are NULL if it has none; the caller frees *out_bytes.
ort_status *ort_nodes_take(ort_env *env, const ort_session_options *options, const void *bytes,
                           size_t byte_count, ort_nodes **out_nodes, void **out_bytes,
                           size_t *out_byte_count);

// Creates the kernels. What is in `replaceable` is no constant.
ort_status *ort_nodes_start(ort_nodes *nodes, const ort_ends *replaceable);
void ort_nodes_free(ort_nodes *nodes);

// Whose nodes the operators are that run in this thread, and the first status that was not OK.
typedef struct ort_scope {
    struct ort_scope *before;
    ort_nodes *nodes;
    bool is_creating; // types are noted
    ort_status *failure;
} ort_scope;

void ort_scope_enter(ort_scope *scope, ort_nodes *nodes, bool is_creating);

// Returns NULL for NULL, else the status of the library that is why, or `status` if none is.
ort_status *ort_scope_leave(ort_scope *scope, ort_status *status);

// ---- Sessions ----

ort_status *ort_session_create(const ort_env *env, const void *bytes, size_t byte_count,
                               const ort_session_options *options, ort_session **out);
ort_session *ort_session_retain(ort_session *session);
void ort_session_release(ort_session *session);

// NULL: there is none of that name.
const ort_end *ort_end_find(const ort_ends *ends, const char *name);

// Makes the program whose initializers are inputs; the lock is held.
ort_status *ort_session_make_replacing(ort_session *session);

// The model's bytes with initializers of the options in it; the caller frees *out_bytes.
ort_status *ort_initializers_replace(const ort_initializer *first, const void *bytes,
                                     size_t byte_count, void **out_bytes, size_t *out_byte_count);

// ---- Profiles ----

// Opens a file whose name is `prefix`, the time and ".json".
ort_status *ort_profile_open(const char *prefix, ort_profile **out);
void ort_profile_close(ort_profile *profile); // NULL is fine

// Notes what the session did since `began`; does nothing if `profile` is NULL.
int64_t ort_profile_now(const ort_profile *profile);
void ort_profile_note(ort_profile *profile, const char *what, int64_t began);

// Runs, and notes how long each operator takes.
ln_status ort_profile_run(ort_profile *profile, ln_session *run);

// ---- Values ----

// A tensor without data yet.
ort_status *ort_value_new(const int64_t *dims, size_t ndim, int type, ort_value **out);

// The same with elements: `raw` ones may hold anything.
ort_status *ort_value_make(const int64_t *dims, size_t ndim, int type, bool is_raw,
                           ort_value **out);

ort_value *ort_value_retain(const ort_value *value);
void ort_value_release(ort_value *value); // NULL is fine

ort_status *ort_text_set(ort_value *value, size_t index, const char *bytes, size_t len);

// To LightNet and back, with a copy. `what` is named in messages.
ort_status *ort_value_to_object(const ort_value *value, const char *what, ln_object **out);
ort_status *ort_value_of_tensor(const tl_tensor *tensor, const char *what, ort_value **out);
ort_status *ort_value_of_object(ln_object *object, const char *what, ort_value **out);

ort_type *ort_type_of(const ort_value *value); // NULL: out of memory

// The elements of `tensor`, which has the value's type and shape.
ort_status *ort_value_fill(ort_value *value, const tl_tensor *tensor);

// ---- Runs ----

typedef struct ort_call {
    ort_session *session;
    ort_run_options *options;
    const char *const *input_names;
    const ort_value *const *inputs;
    size_t input_count;
    const char *const *output_names;
    ort_value **outputs;
    size_t output_count;
} ort_call;

ort_status *ort_run(const ort_call *call);

#endif
