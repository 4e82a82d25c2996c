// SPDX-License-Identifier: Apache-2.0
// Operators with random operands and parameters that the library takes.
//
// Types, arguments, parameters and their defaults come from the descriptions in the library, words
// for parameters from what the descriptions say to people. What a random choice cannot hit, such as
// the shape of weights, is known here for the types of the core; whatever else is tried until the
// library takes it.

#ifndef LN_TESTS_DIFFERENTIAL_OPERATORS_H
#define LN_TESTS_DIFFERENTIAL_OPERATORS_H

#include "tests/differential/model.h"

// Sizes that leaves of a model have in common, so that they fit one another.
typedef struct sizes {
    int n, c, h, w, k;
    tl_dtype dtype; // of most leaves
    bool has_extremes, is_huge;
} sizes;

sizes sizes_draw(test_random *random);

// What is known of an operator before the rest is drawn.
#define ABSENT (-2)
typedef struct preset {
    const char *optype;
    model_arg ins[MODEL_ARGS]; // `tensor` may be ABSENT
    int in_count;
    struct {
        const char *arg_name;
        char value[200];
    } params[MODEL_PARAMS]; // "" stays at its default, unless `is_drawn`
    int param_count;
    bool has_plain_params; // others stay at their defaults
    bool is_drawn;         // a parameter with the value "" is drawn, and has to be there
    // What is known of leaves that are to be made, by argument; NULL: nothing.
    const struct leaf_hint *(*hint)(void *user, const char *arg_name);
    void *user;
    const char *outs[MODEL_ARGS]; // arguments that have to be there
    int out_count;
} preset;

typedef struct leaf_hint {
    bool is_static, is_input, has_fill, is_single;
    double fill;
    tl_dtype dtype; // TL_DTYPE_INVALID: any
    int rank;       // -1: any
} leaf_hint;

// Adds an operator to a checked model, tried several times; false, and the model as before, if the
// library takes none of the tries. *out_op, which may be NULL, receives its number.
bool operator_add(model *m, test_random *random, const sizes *s, const preset *p, int *out_op);

// A random value for a parameter of a type; false if it shall stay at its default.
bool operator_draw_param(test_random *random, const model *m, const model_op *op,
                         const ln_op_info *info, int param, char *value, size_t len);

const ln_op_info *operator_info(const char *optype); // NULL: no such type

#endif
