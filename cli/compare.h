// SPDX-License-Identifier: Apache-2.0
// Comparing what two runs of a model have computed.

#ifndef LN_CLI_COMPARE_H
#define LN_CLI_COMPARE_H

#include <lightnet/context.h>
#include <lightnet/object.h>

// What is allowed: an element may differ from the expected one by `rtol` of its size and `atol`.
// What is not given follows from the type of the tensor and its largest finite number, in all
// commands alike:
//
//     type                      rtol   atol, as a part of the largest number
//     float32, 64, complex      1e-4   1e-5
//     float16                   2^-9   2^-9       two steps of the type, each 2^-10 of a number
//     bfloat16                  2^-6   2^-6       two steps of 2^-7
//     integers, bool, float8    0      0
//
// A number near 0 is the sum of large ones, so it is judged by the tensor that it is in.
typedef struct tolerance {
    double rtol;      // negative: by type
    double atol;      // negative: by type and the largest number
    int is_exact;     // the same bits; any NaN is as good as another
    int allows_steps; // integers of 8 bits may differ by 1, where rtol and atol go by type: they
                      // are quantized, and the stored ones were rounded by another engine
} tolerance;

#define TOLERANCE_DEFAULT ((tolerance){.rtol = -1, .atol = -1})

// For results of the same operators, where --rtol=0 --atol=0 asks for the bits: zeros of two signs
// are not the same then.
void tolerance_take_zeros(tolerance *allowed);

// Whether what is allowed follows from the type of each tensor.
int goes_by_type(const tolerance *allowed);

// Whether operators of that type round real numbers to quantized ones.
int is_quantizing(const char *optype);

// How far a tensor is from what is expected, at the element that is worst.
typedef struct deviation {
    char tensor[LN_MAX_NAME_LEN]; // the names are those of a model's tensor, else ""
    char op[LN_MAX_NAME_LEN];     // that makes it
    char optype[LN_MAX_NAME_LEN];
    char group[LN_MAX_NAME_LEN]; // of a device that the operator is in: its first one; "": none
    const char *fault;           // not NULL: the tensors cannot be compared, for this reason
    double excess;               // in units of what is allowed; over 1 is too much
    int index;                   // of the element, in row-major order
    int wrong_count;             // elements that are too far off
    double largest_difference;   // of all elements; infinite where only one of two is finite
    double largest_relative;     // the same in relation to the expected number
    double got;
    double expected;
    double ulps; // steps between the two in the tensor's type; for floating types
    int is_floating;
} deviation;

typedef struct comparison {
    size_t tensor_count; // compared
    size_t wrong_count;
    size_t unit_count;    // tensors of bytes within a unit, by whose bytes the others are judged
    int has_wrong_output; // a tensor that the model gives to the outside is among them
    deviation first;      // wrong one in the order of execution; only if there is a wrong one
    deviation worst;      // of all tensors that could be compared
} comparison;

// Compares the worst element of two tensors. Returns 1 if it is beyond the tolerance.
int compare_tensors(const tl_tensor *got, const tl_tensor *expected, const tolerance *allowed,
                    deviation *out_deviation);

// The same for values of any kind: what optionals hold, and the items of sequences and maps in
// their order. `place`, of `place_size` bytes, receives where the worst tensor is, such as "[1]";
// "" for a tensor alone.
int compare_values(ln_object *got, ln_object *expected, const tolerance *allowed,
                   deviation *out_deviation, char *place, size_t place_size);

// Which tensors are compared. All zero: all.
typedef struct compare_scope {
    int outputs_only;
    const char *until; // ends with the operator that makes this tensor, if `got` has it; NULL: none
    void (*on_tensor)(void *user, const deviation *d); // told of each; NULL: nobody
    void *user;
} compare_scope;

// Compares tensors that both LOADED contexts have, in the order in which `got` makes them, and that
// `got` has all outputs of `expected`. Tensors that their plans reuse are not what they were, so
// both should keep them; outputs stay. `scope` NULL: all.
ln_status compare_models(ln_context *got, ln_context *expected, const tolerance *allowed,
                         const compare_scope *scope, comparison *out_comparison);

// "1.5 instead of 1.25 at [0, 3] (relative 0.2, 2097152 ulp)" in words.
void describe_deviation(const deviation *d, const tl_tensor *like, char *buffer, size_t size);

#endif
