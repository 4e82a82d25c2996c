// SPDX-License-Identifier: Apache-2.0
// Functions of a model that have nodes of custom operators, and their calls.
//
// Such a function is copied for each of its calls, as kernels belong to a call and attributes of
// nodes may refer to those that it gives.

#ifndef LN_COMPAT_ORT_CUSTOM_FUNCTION_H
#define LN_COMPAT_ORT_CUSTOM_FUNCTION_H

#include "compat/ort/custom.h"

// Graphs, and calls, inside each other: LightNet reads no deeper.
#define ORT_MAX_DEPTH 32

typedef struct ort_function {
    ort_cursor message, domain, name, overload;
    bool is_custom; // it has nodes of custom operators, or calls a function that has some
} ort_function;

// A call for which a copy is to be written.
typedef struct ort_function_call {
    struct ort_function_call *next;
    const struct ort_function_call *around; // in whose function it is; NULL: in the graph
    const ort_function *function;
    ort_cursor node;
    size_t number;
    int depth; // of calls around it, with itself
} ort_function_call;

typedef struct ort_functions {
    const ort_custom *customs;
    ort_function *items; // sorted
    size_t count;
    ort_function_call *first, **last; // in the order in which they are found
    size_t call_count, max_calls;
} ort_functions;

// `functions` points into the model and must not be moved; cleared also after a failure.
ort_status *ort_functions_read(ort_functions *functions, const ort_custom *customs,
                               ort_cursor model);
void ort_functions_clear(ort_functions *functions);

// *out_call is NULL for a node that calls no function with nodes of custom operators.
ort_status *ort_functions_call(ort_functions *functions, const ort_function_call *around,
                               ort_cursor node, const ort_function_call **out_call);

// The fields of a node of the function, with the values of attributes that refer to those of the
// call; one that the call leaves out and that has no default is left out.
void ort_put_resolved(ort_output *out, const ort_function_call *call, ort_cursor node);

// ---- custom_model.c ----

bool ort_is_default_domain(ort_cursor domain);
bool ort_is_custom(const ort_custom *customs, ort_cursor domain, ort_cursor optype);

#endif
