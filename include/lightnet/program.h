/* SPDX-License-Identifier: Apache-2.0 */
/* A program is a compiled and loaded model that does not change any more; a session runs it.
 *
 *     ln_context ... load  ->  ln_program_create  ->  ln_session_create, one for each thread
 *                              -> { set_data, run, get_data }*  ->  ln_session_free
 *                              ->  ln_program_release
 *
 * All sessions of a program share its operators, what they have prepared, and its constants. A
 * session has a workspace of its own, so n sessions cost static + n * workspace bytes, and making
 * one takes microseconds. A program is counted and never changes: any number of threads may make
 * sessions of it at once. A session belongs to one thread at a time.
 *
 * The context that a program is made of goes on as before: it may run, change and be freed. Where a
 * model has values of dynamic shape, graphs (If, Loop, Scan), operators that write files, operators
 * in the documented form of `lightnet/op.h` or on devices other than main memory, a session is a
 * clone of that context inside, which takes milliseconds to make, and else does the same.
 *
 * A call that fails returns a status, leaves its reason in `ln_error_message()`, and changes
 * nothing but what it says.
 */

#ifndef LIGHTNET_PROGRAM_H
#define LIGHTNET_PROGRAM_H

#include <stddef.h>

#include <lightnet/cancel.h>
#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

typedef struct ln_program ln_program;
typedef struct ln_session ln_session;

/* ---- Programs ---- */

/* The program of a LOADED context (LN_STATE otherwise), with the limits, the threads and the first
 * values of inputs that it has now. The caller releases *out_program. */
LN_API ln_status ln_program_create(const ln_context *ctx, ln_program **out_program);

LN_API ln_program *ln_program_retain(ln_program *program); /* returns `program`; NULL is fine */
LN_API void ln_program_release(ln_program *program);       /* NULL is fine */

/* What a program takes and gives, in the order of `ln_context_input` and `ln_context_output`:
 * *out_tensor has type and shape, and no data; it lives as long as the program. Either pointer may
 * be NULL. LN_NOT_FOUND past the end. */
LN_API size_t ln_program_input_count(const ln_program *program);
LN_API size_t ln_program_output_count(const ln_program *program);
LN_API ln_status ln_program_input(const ln_program *program, size_t index, const char **out_name,
                                  const tl_tensor **out_tensor);
LN_API ln_status ln_program_output(const ln_program *program, size_t index, const char **out_name,
                                   const tl_tensor **out_tensor);

/* 1 if sessions are made in microseconds, 0 if they are clones (see above). */
LN_API int ln_program_is_fixed(const ln_program *program);

/* ---- Sessions ---- */

/* A session whose inputs have their first value, else zeros. It holds the program. The caller frees
 * *out_session. */
LN_API ln_status ln_session_create(ln_program *program, ln_session **out_session);
LN_API void ln_session_free(ln_session *session); /* NULL is fine */

/* The element type of an input or output, as `ln_context_tensor_dtype`. */
LN_API tl_dtype ln_session_tensor_dtype(const ln_session *session, const char *tname);

/* Copies `byte_count` bytes into an input, or out of an input or output. LN_INVALID, with both
 * numbers, if the tensor has another size. LN_NOT_FOUND if the program has no such input or output.
 */
LN_API ln_status ln_session_set_data(ln_session *session, const char *tname, const void *data,
                                     size_t byte_count);
LN_API ln_status ln_session_get_data(ln_session *session, const char *tname, void *data,
                                     size_t byte_count);

/* The bytes of an output, or of an input, where they are, until the session runs again or is
 * freed. */
LN_API ln_status ln_session_borrow_data(ln_session *session, const char *tname,
                                        const void **out_data, size_t *out_byte_count);

/* Values of any kind and shape, as `ln_context_set_object` and `ln_context_get_object`. */
LN_API ln_status ln_session_set_object(ln_session *session, const char *tname, ln_object *object);
LN_API ln_status ln_session_get_object(ln_session *session, const char *tname,
                                       ln_object **out_object);

/* Runs the program. Takes no memory from the allocator if `ln_program_is_fixed`. After a failure
 * outputs are undefined, and the session may run again. */
LN_API ln_status ln_session_run(ln_session *session);

/* How many seconds a run may last, 0: as long as it takes, and whom it asks whether to end; as
 * `ln_context_set_timeout` and `ln_context_set_cancel`. */
LN_API ln_status ln_session_set_timeout(ln_session *session, double seconds);
LN_API ln_status ln_session_set_cancel(ln_session *session, ln_cancel *cancel);

LN_CPPEND

#endif
