/* SPDX-License-Identifier: Apache-2.0 */
/* Operators written as two functions: `infer` states the shapes of the outputs, `compute` fills
 * them.
 *
 *     ln_status ln_infer_gather(ln_call *call)             // in the description: infer
 *     {
 *         const tl_tensor *data = ln_call_in(call, 0), *indices = ln_call_in(call, 1);
 *         int axis;
 *         LN_TRY(ln_call_axis(call, "axis", data->ndim, &axis));
 *         ...
 *         return ln_call_out(call, 0, data->dtype, ndim, dims);
 *     }
 *
 *     ln_status ln_ref_gather(ln_call *call)               // in the description: compute
 *     {
 *         const tl_tensor *data = ln_call_in(call, 0);
 *         tl_tensor *dst = ln_call_dst(call, 0);
 *         ...
 *     }
 *
 * Inputs and outputs go by their position in the description; a variadic argument, which is the
 * last one, takes all positions from its own on. Shapes may depend on the values of inputs, which
 * may be known while a model is planned (constants, and what is computed from constants and shapes)
 * or only when it runs. `infer` asks `ln_call_value`, and says `ln_call_out_open` where it gets
 * NULL. The outputs are then *open*: `infer` is called again at each run, when all values are
 * there, as it is where it has asked for values that were known. It is never called as long as an
 * input is open itself, so the tensors it sees have their shapes.
 *
 * Before `infer`, the arity, the dtypes (`types`, `sametype`) and the parameters' names and kinds
 * have been checked against the description; values have not. Everything that comes from a model or
 * its data is not trusted: sizes are multiplied with checks (`ln_call_out` does for shapes),
 * indices from data are checked where they are used, and what does not fit fails with
 * `ln_call_fail`.
 *
 * `compute` allocates with `ln_call_scratch` only, which `workspace` says the amount of, and sees
 * `dst` uninitialised. What it would make of parameters, constants and shapes anew in each run,
 * `prepare` makes once (`ln_call_keep`).
 */

#ifndef LIGHTNET_CALL_H
#define LIGHTNET_CALL_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/export.h>
#include <lightnet/object.h>
#include <lightnet/op.h>
#include <lightnet/pool.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

typedef struct ln_call ln_call;

/* Fails with "<optype>: `<name>` <message>" and returns the status. */
LN_API ln_status ln_call_fail(ln_call *call, ln_status status, const char *fmt, ...)
    LN_PRINTF(3, 4);

/* A fault that the operator's specification forbids but that ONNX Runtime accepts: once a model,
 * the message of `ln_call_fail` is a warning; in a strict context it is the error LN_INVALID. */
LN_API ln_status ln_call_tolerate(ln_call *call, const char *fmt, ...) LN_PRINTF(2, 3);

/* The version of the operator that is meant: the operator set of ONNX in which this form of it
 * came, one of the description's `since`; the newest unless the model says otherwise. */
LN_API int ln_call_since(const ln_call *call);

/* ---- Inputs ---- */

/* Positions up to the last input that is present. */
LN_API int ln_call_in_count(const ln_call *call);

/* The tensor at a position, with dtype and shape; NULL if it was left out. In `compute`, and where
 * `ln_call_value` says so, with its data. */
LN_API const tl_tensor *ln_call_in(const ln_call *call, int index);

/* Its type alone, TL_DTYPE_INVALID if it was left out. */
LN_API tl_dtype ln_call_in_dtype(const ln_call *call, int index);

/* The same by name, for inputs that are attributes in ONNX (`attribute` in the description). */
LN_API const tl_tensor *ln_call_in_named(const ln_call *call, const char *arg_name);

/* The elements of an input, or NULL if they are not known yet or the input was left out. */
LN_API const void *ln_call_value(const ln_call *call, int index);
LN_API const void *ln_call_value_named(const ln_call *call, const char *arg_name);

/* All elements of a short int64 or int32 input as int64: their number, or -1 if they are not known
 * yet. At most `capacity` are allowed: LN_LIMIT with -2, as any failure. The input is present. */
LN_API int ln_call_value_ints(ln_call *call, int index, int capacity, int64_t *out_values);

/* The object of an input of dtype TL_OBJECT, borrowed; NULL for others. In a run only. */
LN_API ln_object *ln_call_object(const ln_call *call, int index);

/* ---- Parameters: what the model says, else the default, else 0, NULL, none ---- */

LN_API int ln_call_has(const ln_call *call, const char *param); /* given, or with a default */
LN_API int64_t ln_call_int(const ln_call *call, const char *param);
LN_API double ln_call_float(const ln_call *call, const char *param);
LN_API const char *ln_call_string(const ln_call *call, const char *param);

/* Length of an array parameter, and its elements. */
LN_API int ln_call_count(const ln_call *call, const char *param);
LN_API int64_t ln_call_int_at(const ln_call *call, const char *param, int index);
LN_API double ln_call_float_at(const ln_call *call, const char *param, int index);
LN_API const char *ln_call_string_at(const ln_call *call, const char *param, int index);

/* All elements of an array parameter, as the model has them: *out_count of them, and NULL if there
 * are none. Valid as long as the operator. */
LN_API const double *ln_call_floats(const ln_call *call, const char *param, size_t *out_count);
LN_API const char *const *ln_call_strings(const ln_call *call, const char *param,
                                          size_t *out_count);

/* An element of `ln_call_floats` as `ln_call_int_at` gives it. */
LN_API int64_t ln_call_to_int(double number);

/* A parameter that is an axis of rank `ndim`: -ndim to ndim - 1, given as 0 to ndim - 1. */
LN_API ln_status ln_call_axis(ln_call *call, const char *param, int ndim, int *out_axis);

/* The same for a number that is already there; `what` stands in the message. */
LN_API ln_status ln_call_check_axis(ln_call *call, const char *what, int64_t axis, int ndim,
                                    int *out_axis);

/* Parameter that stands for an element type, such as `to` of Cast: the number that ONNX gives it,
 * or the name of a tl_dtype. */
LN_API ln_status ln_call_dtype(ln_call *call, const char *param, tl_dtype *out_dtype);

/* The element type for a number of ONNX's TensorProto.DataType, TL_DTYPE_INVALID if there is none;
 * and back, 0 if ONNX has none. */
LN_API tl_dtype ln_onnx_dtype_from_number(int64_t number);
LN_API int ln_onnx_dtype_to_number(tl_dtype dtype);

/* The element type that ONNX ("FLOAT") or LightNet ("TL_FLOAT") calls so; TL_DTYPE_INVALID for
 * other names and NULL. */
LN_API tl_dtype ln_onnx_dtype_from_name(const char *name);

/* ---- Outputs, in `infer` ---- */

LN_API int ln_call_out_count(const ln_call *call); /* positions up to the last that is wanted */
LN_API int ln_call_wants(const ln_call *call, int index);

/* The output has this type and shape. LN_LIMIT if it has too many elements, LN_INVALID for a rank
 * or dimension that cannot be. Nothing happens for an output that is not wanted. */
LN_API ln_status ln_call_out(ln_call *call, int index, tl_dtype dtype, int ndim, const int *dims);
LN_API ln_status ln_call_out_like(ln_call *call, int index, int in_index);

/* The same with dimensions as computed: each is checked to fit. */
LN_API ln_status ln_call_out64(ln_call *call, int index, tl_dtype dtype, int ndim,
                               const int64_t *dims);

/* The output is a sequence, an optional or a map, which `compute` gives with `ln_call_set_object`.
 */
LN_API ln_status ln_call_out_object(ln_call *call, int index);

/* The shapes of all outputs depend on values that are not known yet. Never in a run. */
LN_API ln_status ln_call_out_open(ln_call *call);

/* 1 in a run, when all values are known; 0 while the model is planned. */
LN_API int ln_call_is_run(const ln_call *call);

/* ---- Outputs, in `compute` ---- */

LN_API tl_tensor *ln_call_dst(const ln_call *call, int index); /* NULL: not wanted */

/* Sets element `at` of a string output to a copy of `len` bytes. */
LN_API ln_status ln_call_set_string(ln_call *call, int index, size_t at, const char *bytes,
                                    size_t len);

/* Gives the object of an output stated with `ln_call_out_object`; retains it. Also for an open
 * output whose tensor `infer` has not stated: a tensor object then becomes its value. */
LN_API ln_status ln_call_set_object(ln_call *call, int index, ln_object *object);

/* What the objects that an operator makes are charged to. */
LN_API ln_meter *ln_call_meter(const ln_call *call);

/* Zeroed memory for the rest of this call of `compute` or `infer`; NULL with a recorded failure
 * when `count * size` overflows or memory is gone. In a run it is where the plan has a place for
 * it, and more than the description's `workspace` has taken fails.
 *
 * `workspace` says what `compute` will take, by taking it: it is called while the model is planned,
 * when all shapes are known, and gets addresses at which nothing may be read or written. It may be
 * `compute` itself, which then takes all it needs first and ends where `ln_call_is_counting` says
 * 1. If it fails, nobody knows the need before a run. */
LN_API void *ln_call_scratch(ln_call *call, size_t count, size_t size);
LN_API int ln_call_is_counting(const ln_call *call);

/* ---- Threads, in `compute` ---- */

/* Calls `task(job, i)` once for each `i` below `count`, in any order, on the threads that run the
 * model, and returns when all have returned. None is left out when the run is cancelled or out of
 * time meanwhile, so what all have written may be read afterwards. A task may call it too; its
 * tasks run in its own thread. Results should not depend on the number of threads: cut work by
 * `count` alone, and let each task write what no other does. Allocates nothing. */
LN_API void ln_call_run_tasks(const ln_call *call, size_t count, ln_pool_task *task, void *job);

/* How many tasks run at the same time, at most; 1 or more. */
LN_API size_t ln_call_thread_count(const ln_call *call);

/* ---- What is made once ---- */

/* In `prepare`, which runs when a model is loaded, or before the first `compute` where an input's
 * type and shape are known only then: zeroed memory that stays until the model is unloaded, counted
 * against its memory limit beyond the first 4096 bytes of an operator. Nothing may be written to it
 * afterwards, and it holds no address of a tensor: clones share it. `prepare` may read parameters,
 * types, shapes, and values through `ln_call_value`; where what it has read is another in a later
 * run, it runs again. It has read shapes unless it has asked for `ln_call_in_dtype` alone. NULL
 * with a recorded failure. */
LN_API void *ln_call_keep(ln_call *call, size_t count, size_t size);

/* In `compute`: the first block that `prepare` has taken. */
LN_API const void *ln_call_prepared(const ln_call *call);

/* ---- Graphs: the bodies of If, Loop, Scan ---- */

/* Runs the graph that string parameter `param` names, on objects for its inputs; *outs receives its
 * `out_count` outputs, retained. Tensors of the model around it that it reads are there already. */
LN_API ln_status ln_call_run_graph(ln_call *call, const char *param, int in_count,
                                   ln_object *const *ins, int out_count, ln_object **outs);
LN_API ln_status ln_call_graph_arity(ln_call *call, const char *param, int *out_in_count,
                                     int *out_out_count);

/* Counts steps that depend on data and so are not in the `cost` of the operator's description: to
 * be called before they are done, in parts that last no longer than milliseconds. LN_LIMIT once the
 * limit of the context is passed, LN_TIMEOUT once its time is up, LN_CANCELLED once its end was
 * requested. */
LN_API ln_status ln_call_charge(ln_call *call, double steps);

/* Input `index` as an object, retained: without a copy where it is one already. */
LN_API ln_object *ln_call_in_object(ln_call *call, int index);

/* ---- Geometry that many share; all record their failure and return its status ---- */

/* The common shape of two or more shapes as NumPy broadcasts them. */
LN_API ln_status ln_call_broadcast(ln_call *call, int count, const tl_tensor *const *tensors,
                                   int *out_ndim, int *out_dims);

/* Strides in elements of `t` when it is broadcast to a shape of `ndim` dimensions: 0 where its row
 * is repeated. */
LN_API void ln_broadcast_strides(const tl_tensor *t, int ndim, int64_t *out_strides);

LN_CPPEND

#endif
