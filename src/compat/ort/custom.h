// SPDX-License-Identifier: Apache-2.0
// Custom operators: kernels in libraries that were written for ONNX Runtime.
//
//     custom.c           domains and libraries, which options of sessions hold
//     custom_model.c     nodes of a model that are theirs: each becomes one operator of LightNet
//     custom_function.c  functions of a model that have such nodes
//     custom_op.c        that operator: it infers and computes with the kernel of its node
//     custom_kernel.c    kernels, and what they ask about their node
//     custom_context.c   what kernels ask during a run, and shape functions before it
//     custom_invoke.c    operators of ONNX that kernels create and run
//
// A node is known to LightNet by its number among the nodes of its session, which is the number of
// the call that the thread is in: `ort_scope`.

#ifndef LN_COMPAT_ORT_CUSTOM_H
#define LN_COMPAT_ORT_CUSTOM_H

#include <lightnet/call.h>

#include "compat/ort/ort.h"
#include "compat/ort/wire.h"
#include "serial/onnx_fields.h"

// ---- What libraries bring ----

typedef struct ort_kernel_info ort_kernel_info;
typedef struct ort_kernel_context ort_kernel_context;
typedef struct ort_infer_context ort_infer_context;
typedef struct ort_custom_op ort_custom_op;

enum { ORT_REQUIRED, ORT_OPTIONAL_ARG, ORT_VARIADIC };

// An operator as libraries lay it out. Members are there from the API version on that is stated,
// and may be NULL but for the first.
struct ort_custom_op {
    uint32_t version;
    void *(*create_kernel)(const ort_custom_op *op, const ort_slot *api,
                           const ort_kernel_info *info);
    const char *(*name)(const ort_custom_op *op);
    const char *(*provider)(const ort_custom_op *op); // NULL: that of the CPU
    int (*input_type)(const ort_custom_op *op, size_t index);
    size_t (*input_count)(const ort_custom_op *op);
    int (*output_type)(const ort_custom_op *op, size_t index);
    size_t (*output_count)(const ort_custom_op *op);
    void (*compute)(void *kernel, ort_kernel_context *context);
    void (*destroy)(void *kernel);

    // 8
    int (*input_kind)(const ort_custom_op *op, size_t index);
    int (*output_kind)(const ort_custom_op *op, size_t index);

    // 13
    int (*input_memory)(const ort_custom_op *op, size_t index);

    // 14
    int (*min_inputs)(const ort_custom_op *op); // of a variadic one
    int (*inputs_are_alike)(const ort_custom_op *op);
    int (*min_outputs)(const ort_custom_op *op);
    int (*outputs_are_alike)(const ort_custom_op *op);

    // 16
    ort_status *(*create_kernel_v2)(const ort_custom_op *op, const ort_slot *api,
                                    const ort_kernel_info *info, void **out_kernel);
    ort_status *(*compute_v2)(void *kernel, ort_kernel_context *context);

    // 17
    ort_status *(*infer)(const ort_custom_op *op, ort_infer_context *context);
    int (*start_version)(const ort_custom_op *op);
    int (*end_version)(const ort_custom_op *op);
};

enum { ORT_SINCE_KINDS = 8, ORT_SINCE_VARIADIC = 14, ORT_SINCE_STATUS = 16, ORT_SINCE_INFER = 17 };

// Counted: sessions hold the domains of the options that they were created with.
typedef struct ort_domain {
    atomic_size_t holder_count;
    const ort_custom_op **ops; // the library's
    size_t op_count;
    char name[];
} ort_domain;

typedef struct ort_library {
    atomic_size_t holder_count;
    void *handle;
} ort_library;

// Of options and sessions: a domain, or a library that is closed with its last holder.
struct ort_custom {
    ort_custom *next;
    ort_domain *domain;
    ort_library *library;
};

// What input or output `index` of a node may be: that of the last argument for those after it.
int ort_input_type(const ort_custom_op *op, size_t index);
int ort_output_type(const ort_custom_op *op, size_t index);
int ort_input_kind(const ort_custom_op *op, size_t index);
int ort_output_kind(const ort_custom_op *op, size_t index);

// The first version of its domain that has it.
int ort_start_version(const ort_custom_op *op);

// ---- Nodes ----

typedef struct ort_names {
    char **items; // "": left out
    size_t count;
} ort_names;

// One of several operators of a name, which differ in the types that they take.
typedef struct ort_variant {
    const ort_custom_op *op;
    void *kernel;
    bool has_kernel;
} ort_variant;

// A node of the model. Kernels are shared by all runs of the session.
struct ort_kernel_info {
    ort_nodes *all;
    char *name, *optype, *domain;
    int version; // of the domain, as the model imports it
    ort_names inputs, outputs;
    ort_type **input_types, **output_types; // NULL: not known before a run
    ort_value **constants;                  // inputs that are; NULL: others
    unsigned char *bytes;                   // the node as the model has it
    size_t byte_count;
    ort_variant *variants;
    size_t variant_count;
    ort_variant *chosen; // while the model was planned; NULL: its inputs had no types yet
};

struct ort_nodes {
    ort_kernel_info *items;
    size_t count;
    ort_env *env;         // of the session, which holds it
    ort_custom *customs;  // held
    ort_pair *entries;    // of the options
    pthread_mutex_t lock; // of kernels that runs create
};

// The position of argument `index` among those that are not left out; -1: it is left out itself.
int ort_names_rank(const ort_names *names, size_t index);

// The kernel of a variant, created when it is first needed.
ort_status *ort_variant_kernel(ort_kernel_info *node, ort_variant *variant, void **out);

// An attribute of the node: its message and the field that holds its value.
typedef struct ort_attribute {
    struct ort_attribute *next; // of those that a shape function has got
    ort_cursor message;
    int type;             // by its number in ONNX
    unsigned char *owned; // the message, of one that a kernel has made; else NULL
    char name[];
} ort_attribute;

// Types of attributes, as functions of kernels number them, and by these their numbers in ONNX.
enum {
    ORT_ATTR_INT = 1,
    ORT_ATTR_INTS,
    ORT_ATTR_FLOAT,
    ORT_ATTR_FLOATS,
    ORT_ATTR_STRING,
    ORT_ATTR_STRINGS,
    ORT_ATTR_GRAPH,
    ORT_ATTR_TENSOR,
    ORT_ATTR_COUNT
};
extern const int ort_attribute_types[ORT_ATTR_COUNT];

ort_status *ort_attribute_find(const ort_kernel_info *node, const char *name, ort_attribute **out);

// ---- The operator ----

#define ORT_CUSTOM_OPTYPE "OrtCustomOp"
#define ORT_CUSTOM_PARAM  "node"

// Once: LightNet gets the operator.
ort_status *ort_custom_register(void);

// What a shape function sees and says.
struct ort_infer_context {
    const ort_kernel_info *node;
    ort_shape *inputs, *outputs; // one for each that the node lists; type 0: left out, or not said
    ort_attribute *attributes;   // that it has got
};

// What a kernel sees in a run.
struct ort_kernel_context {
    ln_call *call;
    ort_kernel_info *node;
    const ort_custom_op *op;
    ort_value **inputs, **outputs; // NULL: left out, or not made yet
    ln_object **objects;           // where outputs are that no plan has memory for
    void **blocks;                 // that the kernel has got until the end of the run
    size_t block_count;
};

// The element type of output `index`; 0: not known. `in_types` has those of the inputs.
int ort_find_output_type(const ort_kernel_info *node, const ort_custom_op *op, size_t index,
                         const int *in_types);

#endif
