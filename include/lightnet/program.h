/* SPDX-License-Identifier: Apache-2.0 */
/* A program is a compiled and loaded model that does not change any more; a session runs it.
 *
 *     ln_context ... load  ->  ln_program_create  ->  ln_session_create, one for each thread
 *                              -> { set_data, run, get_data }*  ->  ln_session_free
 *                              ->  ln_program_release
 *
 * All sessions of a program share its operators, what they have prepared, and its constants. A
 * session has a workspace of its own, so n sessions cost static + n * workspace bytes, and making
 * one takes microseconds. A program is counted and its model never changes: any number of threads
 * may make sessions of it at once. A session belongs to one thread at a time.
 *
 * Where inputs have dynamic dimensions, the program makes an *instance*, a plan with what operators
 * prepare, for each set of shapes that a session runs with, and all sessions share it. The first
 * session that runs with new shapes makes the instance, as compiling and loading do (milliseconds),
 * but for constants that the first instance has; others that run with the same shapes wait for it,
 * others still go on. A program keeps the 16 instances that were used last, or fewer
 * where their constants would exceed the memory limit, and those that sessions have run last. A
 * session has a workspace for the largest shapes that it has run with.
 *
 * If the dimensions were bound before compiling (`ln_context_set_shape`, `_set_symbol`, or to a
 * range), the program has the instance for these shapes from the beginning, and a session begins
 * with them, as one of a model without dynamic dimensions. Where such an input is set or bound with
 * other shapes (in the range, if there is one), the session's next run finds or makes their
 * instance as above, and `ln_session_set_data` takes bytes for the shape that the input has last.
 * That holds if all dynamic dimensions were bound. Where others stayed open or have ranges, a bound
 * dimension is fixed; and a program for which constants or parameters were set
 * (`ln_context_set_data`, `ln_context_set_param`) after its shapes were bound runs these shapes
 * alone, of ranges the largest.
 *
 * The context that a program is made of goes on as before: it may run, change and be freed. Where a
 * model has shapes that follow from values, graphs (If, Loop, Scan), operators that write files,
 * operators in the documented form of `lightnet/op.h`, or inputs or outputs on a device, a
 * session is a clone of that context inside, which takes milliseconds to make, and else does the
 * same. Models with dynamic inputs have instances all the same, and the session runs a clone of the
 * instance's context. Dynamic inputs of strings or unknown type, graphs with constants of more than
 * 16 MiB whose dimensions were not bound, and shapes that the model refuses have no instance: such
 * a clone finds its shapes operator by operator, is slower, takes more memory, and may differ in
 * the last digits (docs/embed.md, "Shapes that are open").
 *
 * A call that fails returns a status, leaves its reason in `ln_error_message()`, and changes
 * nothing but what it says.
 */

#ifndef LIGHTNET_PROGRAM_H
#define LIGHTNET_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/cancel.h>
#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/model_info.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

typedef struct ln_program ln_program;
typedef struct ln_session ln_session;

/* ---- Programs ---- */

/* The program of a LOADED context (LN_STATE otherwise), with the limits, the threads and the
 * constants that it has now. It is made within the context's time limit (LN_TIMEOUT otherwise). The
 * limit of memory holds for each session, not for their sum. Inputs to which the model gives a
 * value (`input` in docs/ops.md, `ln_context_make_input`) begin with what they hold now, all others
 * with zeros or, if they are dynamic, without a value. The caller releases *out_program. */
LN_API ln_status ln_program_create(const ln_context *ctx, ln_program **out_program);

LN_API ln_program *ln_program_retain(ln_program *program); /* returns `program`; NULL is fine */
LN_API void ln_program_release(ln_program *program);       /* NULL is fine */

/* What a program takes and gives, in the order of `ln_context_input` and `ln_context_output`:
 * *out_tensor has type and shape, and no data; it lives as long as the program. Of a dynamic tensor
 * it has what the model states: dimensions that are known at run time are -1 and its `len` is 0, an
 * unknown type is TL_DTYPE_INVALID, an unknown rank -1. Either pointer may be NULL. LN_NOT_FOUND
 * past the end. */
LN_API size_t ln_program_input_count(const ln_program *program);
LN_API size_t ln_program_output_count(const ln_program *program);
LN_API ln_status ln_program_input(const ln_program *program, size_t index, const char **out_name,
                                  const tl_tensor **out_tensor);
LN_API ln_status ln_program_output(const ln_program *program, size_t index, const char **out_name,
                                   const tl_tensor **out_tensor);

/* The same by name, of inputs and outputs, as `ln_context_tensor_dtype` and its siblings; a symbol
 * lives as long as the program. LN_NOT_FOUND is recorded for other names. */
LN_API tl_dtype ln_program_tensor_dtype(const ln_program *program, const char *tname);
LN_API int ln_program_tensor_rank(const ln_program *program, const char *tname);
LN_API int64_t ln_program_tensor_dim(const ln_program *program, const char *tname, int axis);
LN_API const char *ln_program_tensor_symbol(const ln_program *program, const char *tname, int axis);

/* The metadata of its model, as `ln_context_info`; borrowed as long as the program lives. Any
 * number of threads may read it. */
LN_API const ln_model_info *ln_program_info(const ln_program *program);

/* 1 if there is an instance from the beginning, because all shapes are known: then runs take no
 * memory, as long as inputs of a model that was bound are not given others. 0 if there is none
 * before the first run, or none ever (see above). */
LN_API int ln_program_is_fixed(const ln_program *program);

/* ---- Sessions ---- */

/* A session whose inputs have their first value, else zeros; a dynamic one has none then. It holds
 * the program. The caller frees *out_session. */
LN_API ln_status ln_session_create(ln_program *program, ln_session **out_session);
/* NULL is fine. Waits for a run that goes on; request its cancel first if it is to end early. */
LN_API void ln_session_free(ln_session *session);

/* What the model states of an input or output, before and after a run, as `ln_context_tensor_dtype`
 * and its siblings; a symbol lives as long as the program. LN_NOT_FOUND is recorded for other
 * names. */
LN_API tl_dtype ln_session_tensor_dtype(const ln_session *session, const char *tname);
LN_API int ln_session_tensor_rank(const ln_session *session, const char *tname);
LN_API int64_t ln_session_tensor_dim(const ln_session *session, const char *tname, int axis);
LN_API const char *ln_session_tensor_symbol(const ln_session *session, const char *tname, int axis);

/* The value of an input or output with its type, shape and elements, until the session runs again,
 * a value is set or bound, or it is freed. Elements of TL_STRING and TL_OBJECT are pointers, as in
 * object.h. Fails: LN_NOT_FOUND if there is no such input or output, LN_STATE if a dynamic one has
 * no value yet. */
LN_API ln_status ln_session_borrow_tensor(const ln_session *session, const char *tname,
                                          const tl_tensor **out_tensor);

/* Copies `byte_count` bytes into an input, or out of an input or output. Fails: LN_INVALID, with
 * both numbers, if the tensor has another size, or to set an output; LN_NOT_FOUND if the program
 * has no such input or output; LN_STATE to set a dynamic input whose shape was not bound before
 * compiling, which takes an object, or to get a value that is not there yet. */
LN_API ln_status ln_session_set_data(ln_session *session, const char *tname, const void *data,
                                     size_t byte_count);
LN_API ln_status ln_session_get_data(ln_session *session, const char *tname, void *data,
                                     size_t byte_count);

/* The bytes of an output, or of an input, where they are, until the session runs again, a value is
 * set or bound, or it is freed. Fails as `ln_session_borrow_tensor`. */
LN_API ln_status ln_session_borrow_data(ln_session *session, const char *tname,
                                        const void **out_data, size_t *out_byte_count);

/* Values of any kind and shape, as `ln_context_set_object` and `ln_context_get_object`. */
LN_API ln_status ln_session_set_object(ln_session *session, const char *tname, ln_object *object);
LN_API ln_status ln_session_get_object(ln_session *session, const char *tname,
                                       ln_object **out_object);

/* Lets the runs of this session read input `tname` from the caller's memory: the elements at
 * `tensor->data`, of its type and shape, as they are when a run begins. `*tensor` is copied, its
 * elements are not; they have to stay there, unchanged while a run goes on, until another value is
 * set or bound, or the session is freed. Runs never write to them. They are read in place where the
 * run has an instance, they begin at a multiple of LN_MEM_ALIGN bytes, and no operator works in the
 * input's place; else each run begins with a copy. NULL ends it: the input takes a copy of the
 * elements as they are then. Fails: LN_INVALID, naming the input, for another type or shape, or if
 * `len` is not that of the shape; LN_INVALID for an output; LN_NOT_FOUND if there is no such input;
 * LN_UNSUPPORTED for strings and objects. */
LN_API ln_status ln_session_bind_input(ln_session *session, const char *tname,
                                       const tl_tensor *tensor);

/* Gives an input the value that it had when the session was made: its first value, such as the
 * default of a model's input, else zeros; a dynamic one has none then. What was bound is bound no
 * more. Fails: LN_NOT_FOUND or LN_INVALID if it is no input, LN_NO_MEMORY where the session's
 * inputs have had other shapes. */
LN_API ln_status ln_session_reset_input(ln_session *session, const char *tname);

/* Lets the runs of this session write output `tname` to the caller's memory: `byte_count` bytes at
 * `data`, of which a dynamic output may need fewer (`ln_session_borrow_tensor` tells its shape).
 * The memory has to stay until something else is bound, or the session is freed; what it holds
 * while a run goes on, or after one that failed, is undefined. A run fails with LN_INVALID if any
 * of it is bound to an input or to another output as well. The conditions above decide whether
 * operators write there or the run ends with a copy. NULL ends it. Fails: LN_INVALID if an output
 * of known shape has another size, or for an input, LN_NOT_FOUND if there is no such output,
 * LN_UNSUPPORTED for strings and objects. A run whose output does not fit fails with LN_INVALID and
 * both sizes. */
LN_API ln_status ln_session_bind_output(ln_session *session, const char *tname, void *data,
                                        size_t byte_count);

/* Runs the program with the values that its inputs hold. Takes no memory from the allocator if
 * `ln_program_is_fixed`, or if the shapes are those of the session's last run and have an instance.
 * After a failure outputs are undefined, and the session may run again. Fails: LN_STATE if a
 * dynamic input has no value; LN_LIMIT if its work or the plan for these shapes is over a limit,
 * LN_TIMEOUT and LN_CANCELLED, of which the time of making or waiting for an instance is part. */
LN_API ln_status ln_session_run(ln_session *session);

/* How many seconds a run may last, 0: as long as it takes, and whom it asks whether to end; as
 * `ln_context_set_timeout` and `ln_context_set_cancel`. A session starts with the time limit that
 * the context of its program had, and without a cancel. */
LN_API ln_status ln_session_set_timeout(ln_session *session, double seconds);
LN_API ln_status ln_session_set_cancel(ln_session *session, ln_cancel *cancel);

/* How urgent the runs of this session are to devices; as `ln_context_set_priority`. A session
 * starts with what the context of its program had. Fails: LN_STATE during a run; LN_INVALID if
 * `session` is NULL, or for a number out of bounds. */
LN_API ln_status ln_session_set_priority(ln_session *session, int priority);

/* Whom runs tell of each operator, in the thread that runs and with the same numbers as without:
 * as `ln_context_set_observer`, but that of `op` there is `op->op_arg` alone, with the operator's
 * name, type, tensors' names and parameters; its values are the session's. Where a session is a
 * clone (see above), operators are the clone's. The observer is copied. NULL: none. Fails: LN_STATE
 * during a run, LN_INVALID if `session` is NULL, and as `ln_context_set_observer_sized`; the
 * observer of before stays then. */
LN_API ln_status ln_session_set_observer_sized(ln_session *session, const ln_observer *observer,
                                               size_t byte_count);
#define ln_session_set_observer(session, observer)                                                 \
    ln_session_set_observer_sized(session, observer, sizeof(ln_observer))

/* ---- Runs beside the caller ---- */

/* Told that a run has ended, and how. */
typedef void (*ln_session_done_func)(void *user, ln_status status);

/* Starts a run as `ln_session_run` in a thread of the session's own, which the first such run
 * makes, and returns at once. `done` (NULL: nobody) is called in that thread with `user` when the
 * run has ended, before `ln_session_wait` returns; `ln_error_message` there has the reason of a
 * failure. `done` may read values, set inputs and free the session. Until it has returned, other
 * threads may wait, poll and read what the model states; all else fails with LN_STATE and changes
 * nothing. Memory that is bound must not be touched meanwhile. A cancel object and the session's
 * timeout end the run; `ln_thread_set_timeout` does not. A child process that is forked meanwhile
 * has no run: it can only free the session. Fails: LN_STATE during a run, LN_NO_MEMORY if the
 * system gives no thread. */
LN_API ln_status ln_session_run_async(ln_session *session, ln_session_done_func done, void *user);

/* How far the session's run is, or was when it ended, in work units (`ln_context_cost`): the steps
 * that are done, of all of its steps; *out_total is 0 before the first run. A group of a device
 * counts when it has been waited for. Any thread may ask during a run. Either pointer may be NULL.
 * Fails: LN_INVALID if `session` is NULL. */
LN_API ln_status ln_session_progress(const ln_session *session, double *out_done,
                                     double *out_total);

/* How many runs of this session have been done again on the host, because a device failed, where
 * the model was compiled for that (`ln_optimize_options.fails_over`). Each run tries the device
 * first. A session that gets no memory of the device runs on the host from the beginning: all of
 * its runs count. 0 for NULL. */
LN_API size_t ln_session_failover_count(const ln_session *session);

/* Waits until the run that `ln_session_run_async` has started last has ended, and returns what
 * `ln_session_run` would have, the message too; again the same when asked again. Threads may wait
 * together. Fails: LN_STATE if none was started, or from `done`. */
LN_API ln_status ln_session_wait(ln_session *session);

/* Waits for at most `seconds` (0: not at all); *out_has_ended is then 1 if the run has ended, else
 * 0. Fails as `ln_session_wait`; how the run went it does not tell. */
LN_API ln_status ln_session_poll(const ln_session *session, double seconds, int *out_has_ended);

LN_CPPEND

#endif
