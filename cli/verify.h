// SPDX-License-Identifier: Apache-2.0
// Models against the inputs and outputs that are stored beside them, and against themselves as they
// were read.

#ifndef LN_CLI_VERIFY_H
#define LN_CLI_VERIFY_H

#include <lightnet/optimize.h>

#include "compare.h"
#include "json_out.h"

typedef enum verify_result {
    VERIFY_PASS = 0,
    VERIFY_WRONG, // it runs, and an output is not what it should be
    VERIFY_FAILED // it cannot be read, compiled or run, or a file is missing
} verify_result;

typedef struct verify_case {
    const char *path; // a model, or a folder with one; test_data_set_K are beside it
    tolerance allowed;
    int is_shape_only; // types and shapes are compared, numbers are not
} verify_case;

typedef struct verify_options {
    const char *target;
    const ln_optimize_options *options; // how models are compiled
    int keeps_open;                     // shapes come with the data in a run, not before compiling
    const char *through; // formats that the model goes through first, such as "il,ir,onnx"; NULL
    int checks_compiled; // compiled forms, with weights and without, must give the same bits
    int is_quiet;        // nothing is printed but the line of the caller
    json_out *json;      // receives "outputs", in the object that is open; NULL: none
} verify_options;

// Runs the model on each data set and compares. `reason`, of `size` bytes, receives why it is not a
// pass, in one line; of a pass, that no outputs are stored, or nothing.
verify_result verify_run(const verify_case *c, const verify_options *o, char *reason, size_t size);

#endif
