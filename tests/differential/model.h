// SPDX-License-Identifier: Apache-2.0
// A model that is made operator by operator, changed, and written as IL text.
//
//     model *m = model_create();
//     int x = model_add_leaf(m, &(leaf){.dtype = TL_FLOAT, .ndim = 1, .dims = {4}, .is_input =
//     true}); model_op *op = model_add_op(m, "act"); model_op_add_in(m, op, "src", x);
//     model_op_add_out(m, op, "dst");
//     model_op_set_param(m, op, "act", "relu");
//     if (model_check(m)) ...           // types and shapes are now those that the library infers
//
// Inputs state their first value, so the text alone says what is computed. Strings are in an arena
// of the model, by offset: a copy of the structure is a copy of the model.

#ifndef LN_TESTS_DIFFERENTIAL_MODEL_H
#define LN_TESTS_DIFFERENTIAL_MODEL_H

#include <stdbool.h>

#include <lightnet/lightnet.h>
#include <lightnet/op_info.h>

#include "tests/random.h"

#define MODEL_OPS     80
#define MODEL_TENSORS 160
#define MODEL_ARGS    24
#define MODEL_PARAMS  24
#define MODEL_NAME    64
#define MODEL_ARENA   (1 << 17)
#define MODEL_RANK    8

typedef struct model_tensor {
    char name[MODEL_NAME];
    tl_dtype dtype;
    int ndim;
    int dims[MODEL_RANK];
    bool is_leaf; // made by `input` or `create`
    bool is_input;
} model_tensor;

typedef struct model_arg {
    char arg_name[MODEL_NAME];
    int tensor;
} model_arg;

typedef struct model_param {
    char arg_name[MODEL_NAME];
    int value; // offset of its text in the arena
} model_param;

typedef struct model_op {
    char optype[MODEL_NAME];
    model_arg ins[MODEL_ARGS], outs[MODEL_ARGS];
    model_param params[MODEL_PARAMS];
    int in_count, out_count, param_count;
} model_op;

typedef struct model {
    model_op ops[MODEL_OPS];
    model_tensor tensors[MODEL_TENSORS];
    int op_count, tensor_count, arena_used;
    bool is_overflown;  // something did not fit: the model is not used
    bool is_of_sizes;   // its numbers depend on sizes: these are always tried dynamic
    bool has_multiples; // multiples of 32 are among the sizes that are tried
    bool is_exact;      // nothing rounds but what states it: all sides have the same bits
    bool is_large;      // tensors may have more elements than else
    bool is_fine;       // they are taken for large ones that have few
    bool is_varied;     // variants of it are worth a run
    char origin[128];   // what it was made from, for messages
    char arena[MODEL_ARENA];
} model;

// A constant or an input with its elements.
typedef enum leaf_fill {
    FILL_UNIFORM,  // between low and high
    FILL_INTEGERS, // whole numbers between low and high
    FILL_SAME,     // low everywhere
    FILL_EXTREMES, // uniform, with a few extreme numbers
    FILL_HALVES,   // whole numbers and a half between low and high, which roundings differ on
    FILL_POWERS,   // of either sign, with decimal exponents between low and high
    FILL_ZEROS,    // zeros of both signs, numbers near them, and now and then NaN
} leaf_fill;

typedef struct leaf {
    tl_dtype dtype;
    int ndim;
    int dims[MODEL_RANK];
    bool is_input;
    leaf_fill fill;
    bool is_huge; // extremes: up to the largest
    double low, high;
} leaf;

// NULL when memory is gone.
model *model_create(void);
void model_destroy(model *m);
void model_clear(model *m);

// Each returns a tensor, or -1 if the model is full.
int model_add_leaf(model *m, test_random *random, const leaf *l);
int model_op_add_out(model *m, model_op *op, const char *arg_name);

// Writes the parameters of an `input` or `create` anew.
void model_fill_leaf(model *m, model_op *op, test_random *random, const leaf *l);

model_op *model_add_op(model *m, const char *optype);
void model_op_add_in(model *m, model_op *op, const char *arg_name, int tensor);
void model_op_set_param(model *m, model_op *op, const char *arg_name, const char *value);
void model_op_drop_param(model_op *op, const char *arg_name);
const char *model_op_param(const model *m, const model_op *op, const char *arg_name); // or NULL
int model_op_in(const model_op *op, const char *arg_name);                            // or -1

// How many operators read the tensor.
int model_reader_count(const model *m, int tensor);
int model_maker(const model *m, int tensor); // the operator's number, or -1

// The text of the model with an `output` for each tensor that no operator reads; the caller frees
// it. NULL when memory is gone.
char *model_write(const model *m);

// The same with all operators but inputs in a branch of an `If` that is taken.
char *model_write_in_branch(const model *m);

// The same with all operators but inputs in the body of a `Loop`; each trip computes the outputs
// anew. NULL too if an output has as many axes as tensors may have.
char *model_write_in_loop(const model *m, int trip_count);

// The same in the body of a `Scan`, which reads each input as a slice of as many as there are
// trips. NULL too if the model has no input, or one with as many axes as tensors may have or
// without a first value, or such an output.
char *model_write_in_scan(const model *m, int trip_count);

// Reads what `model_write` or the library's IL writer has written. False if it does not fit.
bool model_parse(model *m, const char *text);

// Whether the library takes the model; types and shapes of all tensors are then known.
bool model_check(model *m);

size_t model_element_count(const model_tensor *t);

#endif
