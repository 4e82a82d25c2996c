// SPDX-License-Identifier: Apache-2.0
// The sides of a comparison: a model as it is read, and the same model rewritten.
//
// The model as read is computed on `ref`, operator by operator, without a rewrite, each tensor in
// memory of its own. How far another side may be from it is measured, not set: the model as read
// runs again with every number moved by a few units of its last place (stochastic arithmetic,
// Vignes 1993), and what that does to an output bounds what other roundings may do. Numbers that
// do not move are compared exactly: integers, and all else if every rewrite is tagged `exact`.

#ifndef LN_TESTS_DIFFERENTIAL_SIDES_H
#define LN_TESTS_DIFFERENTIAL_SIDES_H

#include <stdbool.h>

#include <lightnet/lightnet.h>
#include <lightnet/optimize.h>

#define SIDE_OUTPUTS 32
#define SIDE_RULES   96

typedef struct side_output {
    char name[64];
    tl_dtype dtype;
    int ndim, dims[TL_MAXDIM];
    size_t count, byte_count;
    char *data;
    double *slack; // of the model as read: what other roundings may change; NULL: not measured yet
} side_output;

typedef struct side_result {
    ln_status status;
    const char *stage; // what failed: "read", "compile", "load", "run", ...
    char message[400];
    side_output outputs[SIDE_OUTPUTS];
    int output_count;
    bool is_exact;     // every rewrite was tagged `exact`
    bool keeps_halves; // as the options said
    char rules[SIDE_RULES][48];
    int rule_count;
} side_result;

typedef enum side_way {
    WAY_CONTEXT,  // run twice: the second run must give the same bits
    WAY_SESSION,  // of a program
    WAY_COMPILED, // written as a compiled model, and read again
    WAY_CLONE,    // loaded, cloned, and gone before the clone runs
} side_way;

typedef struct side_range {
    const char *symbol; // NULL: none
    int from, to;
} side_range;

typedef struct side_options {
    const char *target;
    side_way way;
    side_range ranges[2];
    bool uses_winograd, keeps_halves, freezes_constants, fails_over;
    size_t threads; // 0: one
} side_options;

// A model as read, with its results; kept for the measurement.
typedef struct as_read as_read;

// *out_result is borrowed from the returned value. NULL when memory is gone.
as_read *as_read_create(const char *text, const side_result **out_result);
void as_read_destroy(as_read *a);

// Writes its inputs, its results and how far others may be from them as JSON, for other engines.
// False if it cannot, or if another engine need not compute such numbers: halves, or sums that may
// become infinite in TL_FLOAT.
bool as_read_export(as_read *a, const char *path);

// The same model on another side. The caller gives the result back.
void side_run(const char *text, const side_options *options, side_result *out);

// A context of the model with dynamic dimensions, which runs for one shape after the other: what
// its plans have in common is that of the shapes before. NULL, and the failure in *out, if the
// model is refused.
typedef struct dynamic_side dynamic_side;
dynamic_side *dynamic_side_create(const char *text, const side_options *options, side_result *out);
void dynamic_side_destroy(dynamic_side *d);

// A run for the shapes of the inputs of `a`, with their values.
void dynamic_side_run(dynamic_side *d, const as_read *a, side_result *out);
void side_result_free(side_result *result);

// Whether `got` is what the model as read gives; else `message` says where it is not. `is_exact`:
// bit by bit. `is_in_floats`: a side that sums in TL_FLOAT, where sums may become infinite.
bool side_agrees(as_read *a, const side_result *got, bool is_exact, bool is_in_floats,
                 char *message, size_t len);

#endif
