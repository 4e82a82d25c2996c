// SPDX-License-Identifier: Apache-2.0
// The C ABI of ONNX Runtime over the public API: the objects that its functions pass around.
//
// Each noun has a file with its functions, static, and a list of them that table.c puts into the
// table of slots. A function returns a status, NULL if all went well. Results are cleared first;
// arguments that are NULL, or out of range, are ORT_INVALID_ARGUMENT and name themselves.

#ifndef LN_COMPAT_ORT_ORT_H
#define LN_COMPAT_ORT_ORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <lightnet/use.h>

#define ORT_EXPORT __attribute__((visibility("default")))

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

typedef struct ort_status ort_status;

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
    ort_type_slots[], ort_value_slots[], ort_string_slots[], ort_run_slots[];

// ---- Statuses ----

ort_status *ort_status_new(ort_code code, const char *text);
ort_status *ort_fail(ort_code code, const char *fmt, ...) LN_PRINTF(2, 3);
ort_status *ort_fail_memory(void);

// The last failure of LightNet; `invalid` is what LN_INVALID means here.
ort_status *ort_fail_lightnet(ort_code invalid);

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

// ---- Memory ----

extern ort_memory ort_cpu;

// The text in memory of `allocator`, for the client.
ort_status *ort_copy_text(ort_allocator *allocator, const char *text, char **out);

// ---- Pairs ----

void ort_pairs_free(ort_pair *pair);
ort_pair *ort_pair_find(ort_pair *pair, const char *key);
ort_status *ort_pair_add(ort_pair **list, const char *key, const char *value, int64_t number);

// ---- Types and shapes ----

// By number there: the type here, bytes of an element there; 0 bytes: not taken.
typedef struct ort_element {
    tl_dtype dtype;
    size_t size;
} ort_element;

#define ORT_ELEMENT_COUNT 21
#define ORT_STRING        8
#define ORT_BOOL          9
extern const ort_element ort_elements[ORT_ELEMENT_COUNT];

int ort_element_of(tl_dtype dtype); // 0: none

void ort_shape_clear(ort_shape *shape);
bool ort_shape_copy(ort_shape *out, const ort_shape *shape); // false: out of memory
size_t ort_rank_of(const ort_shape *shape);
bool ort_shape_count(const ort_shape *shape, size_t *out); // of elements; false: not known
void ort_shape_free(ort_shape *shape);
void ort_type_free(ort_type *type);

// ---- Sessions ----

// Inputs, or outputs, by number; NULL past the end.
const char *ort_end_name(const ort_session *session, bool is_output, size_t index);
size_t ort_end_count(const ort_session *session, bool is_output);
bool ort_end_is(const ort_session *session, bool is_output, const char *name);

// ---- Values ----

// A value without data yet.
ort_status *ort_value_new(const int64_t *dims, size_t ndim, int type, ort_value **out);
void ort_value_free(ort_value *value);
ort_status *ort_string_set(ort_value *value, const char *text, size_t index);

#endif
