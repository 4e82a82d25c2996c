// SPDX-License-Identifier: Apache-2.0
// A model on its way into a context, operator by operator.
//
//     build.c       subgraphs, tensors, operators, in the order of the file
//     emit.c        operators of ONNX as they are appended, names, constants
//     value.c       tensors: as they are stored, as real numbers, as images with channels first
//     integer.c     operators on integers, in the fixed point of TensorFlow Lite
//     integer_*.c   those of them that take several steps, tables, or states
//     byte_steps.c  those on integers of 8 bits that take both
//     dynamic.c     inputs that are quantized when the model runs
//     op_*.c        what each operator becomes: a row of builtins.inc names the function
//     sparse.c      constants of which the file has some elements
//     state.c       variables
//     control.c     IF and WHILE, whose subgraphs become graphs of the context
//     carried.c     variables that these graphs read, or give values
//     custom.c      custom operators, told by their name
//     flex.c        their options
//     metadata.c    what the file states about the model
//
// Functions that make operators return names of tensors, and do nothing once `status` is not LN_OK
// or the operator that is being read has a problem; names are never NULL then either. So an
// operator is read as one expression, and checked once after it.

#ifndef LN_SERIAL_TFLITE_BUILDER_H
#define LN_SERIAL_TFLITE_BUILDER_H

#include <lightnet/context.h>
#include <lightnet/model_info.h>
#include <lightnet/preflight.h>
#include <lightnet/serializer.h>
#include <lightnet/tensor.h>

#include "serial/tflite/flat.h"

// Tensors of one subgraph, and of one operator.
#define LN_TFLITE_MAX_TENSORS ((size_t)1 << 18)
#define LN_TFLITE_MAX_ARGS    1024

// Variables of a model, and graphs that are run once.
#define LN_TFLITE_MAX_STATES 1024
#define LN_TFLITE_MAX_ONCE   64

// Subgraphs that are read inside each other, and graphs that they become: two operators may run the
// same subgraph.
#define LN_TFLITE_MAX_NESTED 16
#define LN_TFLITE_MAX_GRAPHS 4096

// TensorType of the schema.
typedef enum ln_tflite_type {
    LN_TFLITE_FLOAT32 = 0,
    LN_TFLITE_FLOAT16 = 1,
    LN_TFLITE_INT32 = 2,
    LN_TFLITE_UINT8 = 3,
    LN_TFLITE_INT64 = 4,
    LN_TFLITE_BOOL = 6,
    LN_TFLITE_INT16 = 7,
    LN_TFLITE_INT8 = 9,
    LN_TFLITE_RESOURCE = 13,
    LN_TFLITE_INT4 = 17
} ln_tflite_type;

// A tensor of the subgraph.
typedef struct ln_tflite_tensor {
    ln_flat_table table;
    const char *name;  // of its elements as they are stored
    const char *real;  // of real numbers in place of quantized ones; NULL: not there yet
    const char *image; // of `name` with channels first; NULL likewise
    tl_dtype dtype;    // TL_DTYPE_INVALID: one that is not read
    int type;          // ln_tflite_type
    int ndim;
    int dims[TL_MAXDIM]; // -1 where the file leaves it open
    ln_flat_vector data; // elements of a constant
    ln_flat_vector scales, zeros;
    int axis;      // of several scales
    bool is_const; // has `data`
    bool is_there; // an operator has made it, or it is an input or a constant that was made
    bool is_variable;
    size_t state; // from 1: the variable that it is, or is a handle of; 0: none
} ln_tflite_tensor;

// A variable.
typedef struct ln_tflite_state {
    const char *key;  // of handles
    const char *name; // the constant before the first run; NULL: none
    const char *now;  // its value at this point of the run; NULL: none yet
    tl_dtype dtype;
    int ndim;
    int dims[TL_MAXDIM];
    bool is_changed;
} ln_tflite_state;

// A variable that a graph reads, or gives a value.
typedef struct ln_tflite_carried {
    size_t state;       // as in ln_tflite_tensor
    const char *before; // its value where the graph runs
    const char *inside; // the same in the graph
    const char *after;  // its value at the end of the graph
} ln_tflite_carried;

// A graph of the context that operators go to, in place of those around it.
typedef struct ln_tflite_graph {
    struct ln_tflite_graph *around; // NULL: the model
    const char *name;               // NULL: it was not opened
    ln_context *into, *into_around;
    ln_hash *numbers_around;
    ln_tflite_carried *carried; // in the order of its inputs
    size_t carried_count;
    bool is_loop;
} ln_tflite_graph;

typedef struct ln_tflite_op ln_tflite_op;
typedef void (*ln_tflite_reader)(ln_tflite_op *op);

// A row of builtins.inc.
typedef struct ln_tflite_builtin {
    const char *name;      // "CONV_2D"; NULL: unknown
    ln_tflite_reader read; // NULL: not read
    const char *optype;    // what most of it becomes
} ln_tflite_builtin;

// The operator that is being appended.
typedef struct ln_tflite_node {
    const char *optype; // NULL: none
    const char *ins[LN_TFLITE_MAX_ARGS];
    const char *outs[LN_TFLITE_MAX_ARGS];
    size_t in_count, out_count;
    size_t capture_count; // the last inputs, which graphs of the operator read
    ln_list *params;
} ln_tflite_node;

typedef struct ln_tflite_builder {
    ln_serializer *serializer;
    ln_context *ctx;
    ln_context *into;       // that operators go to: `ctx`, or a graph of it
    ln_tflite_graph *graph; // that one; NULL: it is `ctx`
    ln_flat *file;
    ln_preflight *report;
    ln_status status;
    ln_flat_table model;
    ln_flat_vector codes, buffers, subgraphs;
    ln_tflite_tensor *tensors; // of the subgraph
    size_t tensor_count;
    size_t dense_bytes;                   // of constants that were sparse
    size_t entry;                         // the subgraph that is the model
    size_t subgraph;                      // whose operators are read
    int64_t nested[LN_TFLITE_MAX_NESTED]; // that one last, after those that run it
    size_t nested_count;                  // at least 1
    size_t op_count, graph_count;         // in all
    bool is_first_run;                    // it is run once, before the others
    bool is_reference;                    // integers of 8 bits are computed in fixed point, too
    bool is_resizable;                    // sizes that are stated hold for channels alone
    int64_t once[LN_TFLITE_MAX_ONCE];
    size_t once_count;
    ln_tflite_state *states;
    size_t state_count;
    ln_tflite_op *op;      // that is being read; NULL: none
    ln_tflite_node node;   // not yet in the context, so that its outputs can get other names
    ln_hash *tensor_names; // that are taken
    ln_hash *op_names;
    ln_hash *numbers;   // constants of one element in `into`: text -> name
    size_t table_count; // of functions
    size_t serial;      // after names that were taken
} ln_tflite_builder;

struct ln_tflite_op {
    ln_tflite_builder *b;
    const ln_tflite_builtin *builtin;
    ln_flat_table options;
    ln_flat_vector custom; // bytes of options of a custom operator
    ln_flat_vector ins, outs;
    size_t index, subgraph;
    int version;
    const char *name; // of its first output
    const char *type; // "CONV_2D", or the name of a custom operator
    bool is_bad;
};

// Reads the model into `ctx`, with all problems of operators in `report`; `options` may be NULL.
ln_status ln_tflite_build(ln_serializer *serializer, ln_context *ctx, ln_flat *file,
                          const ln_read_options *options, ln_preflight *report);

// `code` of the schema; NULL: unknown.
const ln_tflite_builtin *ln_tflite_builtin_of(int64_t code);

// The element type of a TensorType; TL_DTYPE_INVALID: not read.
tl_dtype ln_tflite_dtype_of(int64_t type);
const char *ln_tflite_type_name(int64_t type);

// The text as UTF-8 without control characters, others as \xNN, of at most `size` - 1 bytes.
void ln_tflite_clean(const ln_flat *file, ln_flat_vector text, char *buf, size_t size);

// Chooses the subgraph of a signature.
void ln_tflite_choose(ln_tflite_builder *b, const char *signature);

// Properties of the context: description, metadata, signatures, attached files.
ln_status ln_tflite_read_info(ln_tflite_builder *b, ln_flat_table subgraph);

// Notes why the operator cannot be read; it then gives no operator.
void ln_tflite_problem(ln_tflite_op *op, const char *help, const char *fmt, ...) LN_PRINTF(3, 4);

// Ends reading with a status.
void ln_tflite_stop(ln_tflite_builder *b, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4);

// An output of the model.
void ln_tflite_add_output(ln_tflite_builder *b, const ln_tflite_tensor *t);

// ---- build.c: subgraphs ----

// What is set aside while another subgraph is read.
typedef struct ln_tflite_level {
    ln_tflite_op *op;
    ln_tflite_tensor *tensors;
    size_t tensor_count;
    size_t subgraph;
} ln_tflite_level;

// Begins another subgraph, with tensors of its own, until ln_tflite_leave. False: nothing has
// begun, after a problem: there is no subgraph `index`, or it is being read.
bool ln_tflite_enter(ln_tflite_op *op, int64_t index, ln_tflite_level *out_level);
void ln_tflite_leave(ln_tflite_builder *b, const ln_tflite_level *level);

// The tables of the subgraph that is being read.
ln_flat_table ln_tflite_subgraph(ln_tflite_builder *b);
void ln_tflite_read_ops(ln_tflite_builder *b);

// Tensor `i` of the list `what` of the subgraph's inputs or outputs; NULL after a problem.
ln_tflite_tensor *ln_tflite_end(ln_tflite_builder *b, ln_flat_vector list, size_t i,
                                const char *what);

// Makes a constant that an output is and no operator reads.
void ln_tflite_make_output(ln_tflite_builder *b, ln_tflite_tensor *t);

// ---- state.c: variables ----

// The variable at input i; NULL: it is none, or after a problem.
ln_tflite_state *ln_tflite_variable(ln_tflite_op *op, size_t i);

// Its value from here on. NULL is fine.
void ln_tflite_set_state(ln_tflite_state *state, const char *x);

// Outputs with the values after the run.
void ln_tflite_add_states(ln_tflite_builder *b);

// ---- control.c: graphs ----

// An input of the graph that operators go to, of whatever shape comes. TL_OBJECT: of any type, too.
void ln_tflite_add_input(ln_tflite_builder *b, const char *name, tl_dtype dtype, bool is_captured);

// ---- carried.c: variables in graphs ----

// Has the value of a variable come into the graph that operators go to.
void ln_tflite_reach(ln_tflite_builder *b, size_t state);

// At the end of a graph: variables have their values around it again.
void ln_tflite_keep_carried(ln_tflite_builder *b, ln_tflite_graph *graph);

// After it: has a variable come in that the graph does not read.
void ln_tflite_carry(ln_tflite_builder *b, ln_tflite_graph *graph, size_t state);

// After it: the variable in the graph, NULL if it does not come in, and whether it is assigned.
const ln_tflite_carried *ln_tflite_find_carried(const ln_tflite_graph *graph, size_t state);
bool ln_tflite_is_changed(const ln_tflite_graph *graph, size_t state);

// ---- integer.c: operators on integers, in fixed point ----

// Whether the output and the first `count` inputs are of one type that is computed in fixed point,
// with one scale, and the activation is a bound: int16 without a zero point or, where the caller
// chooses the rounding of the reference kernels, int8 or uint8. And whether that type is int16.
bool ln_tflite_is_fixed(ln_tflite_op *op, size_t count, int64_t activation);
bool ln_tflite_is_int16(ln_tflite_op *op, size_t count, int64_t activation);

// Whether input `x` and the output are so, with weights of bytes at input `w` and no bias at input
// `bias` but of integers.
bool ln_tflite_is_fixed_product(ln_tflite_op *op, size_t x, size_t w, size_t bias,
                                int64_t activation);

// An operator quant_conv or quant_matmul of inputs 0 and 1, which are `x` and `w`, with sums as its
// result; `bias` may be NULL.
const char *ln_tflite_sums(ln_tflite_op *op, const char *optype, const char *x, const char *w,
                           const char *bias);

// The bias at input i in the type of the sums; NULL: there is none.
const char *ln_tflite_sum_bias(ln_tflite_op *op, size_t i);

// Sums of products as the output has them: scales of the weights are for `axis` of `sums`.
const char *ln_tflite_rescaled_sums(ln_tflite_op *op, const char *sums, size_t x, size_t w,
                                    size_t bias, int axis, int64_t activation);

// ADD and SUB, MUL, LEAKY_RELU.
void ln_tflite_read_fixed_sum(ln_tflite_op *op, int64_t activation);
void ln_tflite_read_fixed_product(ln_tflite_op *op, int64_t activation);
void ln_tflite_read_fixed_leaky_relu(ln_tflite_op *op, float alpha);

// RELU and its siblings, SQUARED_DIFFERENCE. False: nothing was read.
bool ln_tflite_read_fixed_relu(ln_tflite_op *op);
bool ln_tflite_read_fixed_squared_difference(ln_tflite_op *op);

// What EQUAL and its siblings give for quantized inputs, in every rounding; NULL: others.
const char *ln_tflite_fixed_comparison(ln_tflite_op *op);

// ABS; PRELU, of int16 with slopes of int8.
void ln_tflite_read_fixed_abs(ln_tflite_op *op);
bool ln_tflite_is_fixed_prelu(ln_tflite_op *op);
void ln_tflite_read_fixed_prelu(ln_tflite_op *op);

// How many elements of input 0 are reduced to one, along the axes of input 1; 0 where that is not
// known. `is_reduced` is of TL_MAXDIM axes.
int64_t ln_tflite_find_taps(ln_tflite_op *op, bool *is_reduced);

// MEAN and SUM. False: nothing was read, because it is another operator, type or axis.
bool ln_tflite_read_fixed_reduction(ln_tflite_op *op);

// Whether means of windows of so many taps are rounded on integers, and what they become.
bool ln_tflite_has_fixed_means(ln_tflite_op *op, int64_t width, int64_t height, int64_t activation);
const char *ln_tflite_fixed_means(ln_tflite_op *op, const char *means, int64_t activation);

// BATCH_MATMUL; `x` and `y` are integers as the inputs have them, on the axes of matrices.
bool ln_tflite_is_fixed_matmul(ln_tflite_op *op);
void ln_tflite_read_fixed_matmul(ln_tflite_op *op, const char *x, const char *y);

// QUANTIZE of integers, and of floats, ties away from zero. False: nothing was read.
bool ln_tflite_is_fixed_quantize(ln_tflite_op *op);
void ln_tflite_read_fixed_quantize(ln_tflite_op *op);
bool ln_tflite_read_rounded_away(ln_tflite_op *op);

// The only scale of a tensor, or its first; and its zero point.
float ln_tflite_scale(const ln_tflite_op *op, const ln_tflite_tensor *t);
int ln_tflite_zero(const ln_tflite_op *op, const ln_tflite_tensor *t);

// `x`, which has the elements of input i, in a type, without the zero point; with that of the
// output, `x` being of the type.
const char *ln_tflite_integers(ln_tflite_op *op, size_t i, const char *x, tl_dtype dtype);
const char *ln_tflite_with_zero_point(ln_tflite_op *op, const char *x, tl_dtype dtype);

// What a rescaling takes beside its factors.
typedef struct ln_tflite_rescaling {
    const char *rounding;        // NULL: "q31"
    const char *src_zero;        // NULL: 0
    const ln_tflite_tensor *out; // NULL: TL_INT32
    int64_t activation;
    int axis, left;
} ln_tflite_rescaling;

// x times `factors`, one or one for each index of the axis.
const char *ln_tflite_rescale(ln_tflite_op *op, const char *x, size_t count, const double *factors,
                              const ln_tflite_rescaling *r);

// Integers times a factor, as int32 from `low` on; divided by 2^bits, ties upwards.
const char *ln_tflite_rescaled(ln_tflite_op *op, const char *x, double factor, double low);
const char *ln_tflite_shifted(ln_tflite_builder *b, const char *x, int bits);

// Integers of 64 bits times a factor, with its upper 16 bits; int32, or as the output has them.
const char *ln_tflite_rescaled_wide(ln_tflite_op *op, const char *x, double factor, bool is_result);

// Whole numbers of type `dtype` as the output has them, after an activation that is a bound.
const char *ln_tflite_bounded(ln_tflite_op *op, const char *x, tl_dtype dtype, int64_t activation);

// The multiplier, in units of 2^-31, and the shift, at most `max_shift`, of a factor; false where
// there is none.
bool ln_tflite_find_multiplier(double factor, int max_shift, int32_t *multiplier, int32_t *shift);

// A constant of int32, which the context takes over.
const char *ln_tflite_int32s(ln_tflite_builder *b, size_t count, int32_t *owned);

// ---- integer_steps.c ----

// DIV, REDUCE_PROD and RESIZE_BILINEAR. False: nothing was read.
bool ln_tflite_read_fixed_quotient(ln_tflite_op *op, int64_t activation);
bool ln_tflite_read_fixed_factors(ln_tflite_op *op);
bool ln_tflite_read_fixed_resize(ln_tflite_op *op, bool is_aligned, bool is_half);

// x / 2^31 of int64, ties upwards.
const char *ln_tflite_high_half(ln_tflite_builder *b, const char *x);

// ---- integer_tables.c ----

// A table as a constant, which `fill` fills where the graph has none of this key yet; NULL: there
// are too many.
typedef void (*ln_tflite_fill)(const void *f, void *results);
const char *ln_tflite_table(ln_tflite_builder *b, const char *wanted, const char *key,
                            tl_dtype dtype, int count, ln_tflite_fill fill, const void *f);

// The output is what `table`, of all results, has for input 0.
void ln_tflite_give_gathered(ln_tflite_op *op, const char *table);

// 2^(bits - 1) of positive numbers of int32 of at least 15 bits.
const char *ln_tflite_leading_power(ln_tflite_builder *b, const char *sum);

// LOGISTIC, or TANH, of numbers of int16 with a scale that is a power of two, of which `x` has
// their places from -32768 on; int32 in units of 2^-15. NULL: nothing was made.
const char *ln_tflite_sigmoids(ln_tflite_op *op, const char *x, bool is_tanh, float scale);

// LOGISTIC and TANH of int16; functions of one tensor; SOFTMAX of int16. False: nothing was read.
bool ln_tflite_read_int16_sigmoid(ln_tflite_op *op);
bool ln_tflite_read_fixed_function(ln_tflite_op *op);
bool ln_tflite_read_int16_softmax(ln_tflite_op *op, float beta);

// ---- integer_recurrent.c ----

// SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM whose input is of integers.
void ln_tflite_read_fixed_svdf(ln_tflite_op *op);
void ln_tflite_read_fixed_lstm(ln_tflite_op *op);

// ---- byte_steps.c ----

// HARD_SWISH and SOFTMAX of int8 and uint8. False: nothing was read.
bool ln_tflite_read_byte_hard_swish(ln_tflite_op *op);
bool ln_tflite_read_byte_softmax(ln_tflite_op *op, float beta);

// ---- emit.c: operators ----

// Whether operators are still made.
bool ln_tflite_is_going(const ln_tflite_builder *b);

// A new operator of ONNX. Inputs in their order, NULL for one that is left out.
void ln_tflite_begin(ln_tflite_builder *b, const char *optype);
void ln_tflite_in(ln_tflite_builder *b, const char *tensor);
void ln_tflite_number(ln_tflite_builder *b, const char *param, double value);
void ln_tflite_numbers(ln_tflite_builder *b, const char *param, size_t count, const double *values);
void ln_tflite_string(ln_tflite_builder *b, const char *param, const char *value);
void ln_tflite_flag(ln_tflite_builder *b, const char *param); // true
void ln_tflite_strings(ln_tflite_builder *b, const char *param, size_t count,
                       const char *const *values);
const char *ln_tflite_out(ln_tflite_builder *b); // one more output, of a new name

// Gives `tensor`, an output of the operator begun last or any other, the name `name`.
void ln_tflite_name(ln_tflite_builder *b, const char *tensor, const char *name);

// Appends the operator begun last. Further calls of ln_tflite_begin do that too.
void ln_tflite_flush(ln_tflite_builder *b);

// Frequent operators, with one output.
const char *ln_tflite_unary(ln_tflite_builder *b, const char *optype, const char *x);
const char *ln_tflite_binary(ln_tflite_builder *b, const char *optype, const char *x,
                             const char *y);
const char *ln_tflite_ternary(ln_tflite_builder *b, const char *optype, const char *x,
                              const char *y, const char *z);
const char *ln_tflite_transpose(ln_tflite_builder *b, const char *x, int ndim, const int *perm);
const char *ln_tflite_reshape(ln_tflite_builder *b, const char *x, int ndim, const int64_t *dims);
const char *ln_tflite_along(ln_tflite_builder *b, const char *optype, const char *x, const char *y,
                            int axis); // with a parameter `axis`
const char *ln_tflite_cast(ln_tflite_builder *b, const char *x, tl_dtype dtype);
const char *ln_tflite_clip(ln_tflite_builder *b, const char *x, float low, float high);
const char *ln_tflite_to_nchw(ln_tflite_builder *b, const char *x);
const char *ln_tflite_to_nhwc(ln_tflite_builder *b, const char *x);

// Constants.
const char *ln_tflite_scalar(ln_tflite_builder *b, tl_dtype dtype, double value);
const char *ln_tflite_ints(ln_tflite_builder *b, size_t count, const int64_t *values);

// 0, step, 2 step ... as int64, `count` of them, computed when the model is compiled.
const char *ln_tflite_steps(ln_tflite_builder *b, int64_t count, int64_t step);

// `value`, a tensor of one element, in the shape `dims`.
const char *ln_tflite_filled(ln_tflite_builder *b, const char *value, int ndim,
                             const int64_t *dims);

// A constant of elements at any address, which stay, or which the context takes over.
void ln_tflite_constant(ln_tflite_builder *b, const char *name, tl_dtype dtype, int ndim,
                        const int *dims, const void *data, void *owned);

// A name that nothing has yet: `wanted` if it is free. Lives as long as the builder.
const char *ln_tflite_claim(ln_tflite_builder *b, ln_hash *taken, const char *wanted);

// ---- value.c: tensors of the operator that is being read ----

bool ln_tflite_has(const ln_tflite_op *op, size_t i); // input i is there
bool ln_tflite_is_quantized(const ln_tflite_tensor *t);

// Input or output i; never NULL: a tensor without anything after a problem.
ln_tflite_tensor *ln_tflite_input(ln_tflite_op *op, size_t i);
ln_tflite_tensor *ln_tflite_output(ln_tflite_op *op, size_t i);

// Makes the constant `t`, unless it is there.
void ln_tflite_make_constant(ln_tflite_op *op, ln_tflite_tensor *t);

// Input i: as stored; as real numbers.
const char *ln_tflite_raw(ln_tflite_op *op, size_t i);
const char *ln_tflite_real(ln_tflite_op *op, size_t i);

// The same of an image [N, H, W, C], as [N, C, H, W].
const char *ln_tflite_raw_image(ln_tflite_op *op, size_t i);
const char *ln_tflite_real_image(ln_tflite_op *op, size_t i);

// Whether the file has a part of the elements of the constant `t`, and an operator that makes all.
bool ln_tflite_is_sparse(const ln_tflite_builder *b, const ln_tflite_tensor *t);
void ln_tflite_make_dense(ln_tflite_op *op, ln_tflite_tensor *t);

// Whether the scales of `t` are a tensor, for blocks of its rows; and real numbers in place of `x`,
// which has its elements.
bool ln_tflite_has_blocks(const ln_tflite_builder *b, const ln_tflite_tensor *t);
const char *ln_tflite_of_blocks(ln_tflite_op *op, const char *x, const ln_tflite_tensor *t);

// Real numbers in place of `x`, which has the elements of `t`, moved so that its axis of scales is
// `axis`.
const char *ln_tflite_dequantize(ln_tflite_op *op, const char *x, ln_tflite_tensor *t, int axis);

// The weights at input i, transposed, whose axis of outputs is then `axis`; as real numbers.
const char *ln_tflite_raw_weights(ln_tflite_op *op, size_t i, int ndim, const int *perm, int axis);
const char *ln_tflite_weights(ln_tflite_op *op, size_t i, int ndim, const int *perm, int axis);

// dynamic.c: `x`, the real numbers of input `input`, of rank `ndim`, as a product with weights of
// int8 takes them: rounded to 255 steps of the range that each index of the first axis has.
const char *ln_tflite_dynamic(ln_tflite_op *op, const char *x, size_t input, size_t weights,
                              int ndim, bool is_symmetric);

// The bias at input i of a product of `x` and `w`; NULL: it has none.
const char *ln_tflite_bias(ln_tflite_op *op, size_t i, size_t x, size_t w);

// Input i as integers that the file states; false with a problem if they are not known.
bool ln_tflite_known(ln_tflite_op *op, size_t i, const char *what, size_t max, int64_t *values,
                     size_t *out_count);
bool ln_tflite_is_known(ln_tflite_op *op, size_t i);

// Input i as int64, for operators that take dimensions.
const char *ln_tflite_dims(ln_tflite_op *op, size_t i);

// Whether all of inputs `first` to `first + count - 1` have the scale of output 0, so that elements
// can be moved as they are.
bool ln_tflite_is_moved(ln_tflite_op *op, size_t first, size_t count);

// Output i is `x`: elements as they are stored; real numbers, after the fused activation.
void ln_tflite_give_raw(ln_tflite_op *op, size_t i, const char *x);
void ln_tflite_give(ln_tflite_op *op, size_t i, const char *x, int64_t activation);
void ln_tflite_give_image(ln_tflite_op *op, const char *x, int64_t activation);
void ln_tflite_give_reshaped(ln_tflite_op *op, const char *x, int64_t activation, int ndim,
                             const int64_t *dims);

// Inputs that are moved, as ln_tflite_is_moved says, and the output that they are moved to.
const char *ln_tflite_moved(ln_tflite_op *op, size_t i, bool is_moved);
void ln_tflite_give_moved(ln_tflite_op *op, size_t i, const char *x, bool is_moved);

// Options.
int64_t ln_tflite_option(ln_tflite_op *op, unsigned field, int64_t absent); // int
int64_t ln_tflite_small_option(ln_tflite_op *op, unsigned field);           // enum, bool: a byte
float ln_tflite_float_option(ln_tflite_op *op, unsigned field, float absent);

// `axis` of a tensor, counted from the end if it is negative; -1 with a problem if it is outside.
int ln_tflite_axis(ln_tflite_op *op, int64_t axis, int ndim);

// Input i as a list of axes, which may be computed.
const char *ln_tflite_axes(ln_tflite_op *op, size_t i);

// ---- op_sum.c ----

// `x` reduced by `optype` along the axes of input 1.
const char *ln_tflite_reduced(ln_tflite_op *op, const char *optype, const char *x);

// ---- op_window.c ----

// The custom operator Convolution2DTransposeBias.
void ln_tflite_read_transpose_bias(ln_tflite_op *op);

// ---- custom.c ----

// Reads a custom operator of this name; false: it is not one that is read.
bool ln_tflite_read_custom(ln_tflite_op *op, const char *name);

// ---- op_*.c ----

#define B(code, name, reader, optype) void ln_tflite_read_##reader(ln_tflite_op *op);
#define U(code, name)
#include "serial/tflite/builtins.inc"
#undef B
#undef U

#endif
