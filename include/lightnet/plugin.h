/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins: shared objects, from outside the library, with archs, operators, rules, formats and
 * memory types. docs/devices.md is the guide.
 *
 * A plug-in has one symbol, LN_PLUGIN_SYMBOL, which is a constant `ln_plugin`. The library may be
 * inside the program, without symbols of its own, so a plug-in is linked with nothing of it: what
 * it calls is in a table, the `ln_plugin_host`, that its `open` is given.
 *
 *     static const ln_plugin_host *host;
 *
 *     static ln_status open_echo(const ln_plugin_host *given)
 *     {
 *         host = given;
 *         return host->arch_register_sized(&echo, sizeof echo);
 *     }
 *
 *     LN_PLUGIN_EXPORT const ln_plugin lightnet_plugin = {
 *         LN_PLUGIN_HEAD, .name = "echo", .open = open_echo};
 *
 * A plug-in is code that runs with the rights of the program. Nothing but `ln_plugin_load` loads
 * one: no variable of the environment, no model, no folder.
 */

#ifndef LIGHTNET_PLUGIN_H
#define LIGHTNET_PLUGIN_H

#include <stddef.h>

#include <lightnet/arch.h>
#include <lightnet/call.h>
#include <lightnet/export.h>
#include <lightnet/mem.h>
#include <lightnet/op.h>
#include <lightnet/op_support.h>
#include <lightnet/optimize.h>
#include <lightnet/param.h>
#include <lightnet/serializer.h>
#include <lightnet/status.h>
#include <lightnet/tensor_entry.h>

LN_CPPSTART

/* Counts changes that plug-ins have to be compiled anew for. Additions at the end of a structure
 * are none. */
#define LN_PLUGIN_VERSION 1

/* The functions of the host: X(type of the result, name, parameters). Each is the function
 * `ln_name` of the headers, `tl_name` for those of tensors, and does what is said there. New ones
 * go to the end. The first group registers, and works inside `open` only: LN_STATE elsewhere. What
 * is registered goes when the plug-in does, and when `open` fails. */
#define LN_PLUGIN_REGISTRATIONS(X)                                                                 \
    X(ln_status, arch_register_sized, (ln_arch * arch, size_t byte_count))                         \
    X(ln_status, op_register, (ln_op * op))                                                        \
    X(ln_status, mem_type_add,                                                                     \
      (const char *name, const char *title, const ln_mem_info *info, ln_mem_type *out_mtype))      \
    X(ln_status, mem_type_register_copy,                                                           \
      (ln_mem_type dst_mtype, ln_mem_type src_mtype, ln_copy_func copy))                           \
    X(ln_status, serializer_register_sized, (ln_serializer * serializer, size_t byte_count))       \
    X(ln_status, serializer_register_op_loader,                                                    \
      (ln_serializer * serializer, const char *optype, int version, ln_op_loader loader,           \
       void *user))                                                                                \
    X(ln_status, rules_register, (const char *arch_name, const char *text))

#define LN_PLUGIN_FUNCTIONS(X)                                                                     \
    /* Failures: fail(LN_INVALID, "why", ...); then the function returns the status. */            \
    X(void, fail, (ln_status status, const char *fmt, ...)LN_PRINTF(2, 3))                         \
    X(const char *, error_message, (void))                                                         \
    X(ln_status, error_status, (void))                                                             \
    /* Memory. */                                                                                  \
    X(void *, alloc, (size_t size))                                                                \
    X(void *, realloc, (void *p, size_t size))                                                     \
    X(void, free, (void *p))                                                                       \
    X(void *, alloc_aligned, (size_t size, size_t align))                                          \
    X(void, free_aligned, (void *p))                                                               \
    X(ln_mem_info, mem_type_info, (ln_mem_type mtype))                                             \
    X(ln_copy_func, mem_type_copy_func, (ln_mem_type dst_mtype, ln_mem_type src_mtype))            \
    /* Operators, their tensors and parameters. */                                                 \
    X(ln_op *, op_find, (const char *optype))                                                      \
    X(ln_op *, op_copy_to_optype,                                                                  \
      (const ln_hash *op_proto_table, const ln_op *op, const char *new_optype))                    \
    X(ln_op *, op_create_from_proto,                                                               \
      (const ln_op *op_proto, const char *name, ln_list *tensors_in, ln_list *tensors_out,         \
       ln_list *params, ln_hash *tensor_table))                                                    \
    X(void, op_free_lists_too, (ln_op * op))                                                       \
    X(double, op_macs, (const ln_op *op))                                                          \
    X(double, op_cost, (const ln_op *op))                                                          \
    X(ln_status, op_fail,                                                                          \
      (ln_op_arg * op_arg, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4))                \
    X(ln_tensor_entry *, tensor_table_find, (const ln_hash *table, const char *name))              \
    X(ln_tensor_entry *, tensor_list_find_entry,                                                   \
      (const ln_list *list, const ln_hash *tensor_table, const char *arg_name))                    \
    X(ln_list *, tensor_list_append, (ln_list * list, const char *arg_name, const char *name))     \
    X(ln_param_entry *, param_list_find, (const ln_list *list, const char *arg_name))              \
    X(ln_list *, param_list_append_number, (ln_list * list, const char *arg_name, double number))  \
    X(ln_list *, param_list_append_string,                                                         \
      (ln_list * list, const char *arg_name, const char *string))                                  \
    X(void, param_list_free, (ln_list * list))                                                     \
    X(ln_list *, list_append, (ln_list * list, void *data))                                        \
    X(int, list_length, (const ln_list *list))                                                     \
    X(void, list_free, (ln_list * list))                                                           \
    /* Formats. */                                                                                 \
    X(ln_serializer *, serializer_find, (const char *name))                                        \
    X(ln_status, serializer_add_op_sized,                                                          \
      (ln_serializer * serializer, ln_context * ctx, const ln_op_source *source,                   \
       size_t byte_count))                                                                         \
    /* Operators in call form. */                                                                  \
    X(void, call_pre_run, (ln_op_arg * op_arg))                                                    \
    X(void, call_run, (ln_op_arg * op_arg))                                                        \
    X(void, call_post_run, (ln_op_arg * op_arg))                                                   \
    X(void, call_check, (ln_op_arg * op_arg))                                                      \
    X(ln_status, call_fail,                                                                        \
      (ln_call * call, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4))                    \
    X(int, call_in_count, (const ln_call *call))                                                   \
    X(const tl_tensor *, call_in, (const ln_call *call, int index))                                \
    X(const void *, call_value, (const ln_call *call, int index))                                  \
    X(int, call_has, (const ln_call *call, const char *param))                                     \
    X(int64_t, call_int, (const ln_call *call, const char *param))                                 \
    X(double, call_float, (const ln_call *call, const char *param))                                \
    X(const char *, call_string, (const ln_call *call, const char *param))                         \
    X(int, call_count, (const ln_call *call, const char *param))                                   \
    X(int64_t, call_int_at, (const ln_call *call, const char *param, int index))                   \
    X(double, call_float_at, (const ln_call *call, const char *param, int index))                  \
    X(ln_status, call_out, (ln_call * call, int index, tl_dtype dtype, int ndim, const int *dims)) \
    X(ln_status, call_out_like, (ln_call * call, int index, int in_index))                         \
    X(tl_tensor *, call_dst, (const ln_call *call, int index))                                     \
    X(void *, call_scratch, (ln_call * call, size_t count, size_t size))                           \
    X(void *, call_keep, (ln_call * call, size_t count, size_t size))                              \
    X(const void *, call_prepared, (const ln_call *call))                                          \
    X(ln_status, call_charge, (ln_call * call, double steps))                                      \
    /* Runs on devices. */                                                                         \
    X(int, run_priority, (void))

typedef struct ln_plugin_host {
    size_t byte_count;                         /* of this structure, as the library knows it */
    unsigned version;                          /* LN_PLUGIN_VERSION of the library */
    const char *lightnet;                      /* its version, such as "0.1.0" */
    const ln_arch_info *archs;                 /* what the headers call LN_ARCH */
    size_t (*tensor_size)(const tl_tensor *t); /* tl_tensor_size: bytes of the elements */
#define LN_PLUGIN_MEMBER(type, name, parameters) type(*name) parameters;
    LN_PLUGIN_REGISTRATIONS(LN_PLUGIN_MEMBER)
    LN_PLUGIN_FUNCTIONS(LN_PLUGIN_MEMBER)
#undef LN_PLUGIN_MEMBER
} ln_plugin_host;

/* What a plug-in says about itself; constant. */
typedef struct ln_plugin {
    size_t byte_count;      /* sizeof(ln_plugin) */
    unsigned version;       /* LN_PLUGIN_VERSION that it was compiled with */
    size_t host_byte_count; /* sizeof(ln_plugin_host), as it knows it */

    const char *name; /* for messages and `unload`; fewer than LN_MAX_NAME_LEN bytes */
    const char *doc;  /* one sentence; NULL: none */

    /* Registers all that the plug-in has. The table lasts until `close` has returned. On failure
     * what it has registered goes again, and the plug-in is not loaded. */
    ln_status (*open)(const ln_plugin_host *host);

    /* Called when nothing of the plug-in is registered any more, before its code goes; also after
     * an `open` that failed. NULL: nothing to do. */
    void (*close)(void);
} ln_plugin;

#define LN_PLUGIN_HEAD                                                                             \
    .byte_count = sizeof(ln_plugin), .version = LN_PLUGIN_VERSION,                                 \
    .host_byte_count = sizeof(ln_plugin_host)

/* The name of the symbol, as a string, and what makes it visible. */
#define LN_PLUGIN_SYMBOL "lightnet_plugin"
#define LN_PLUGIN_EXPORT __attribute__((visibility("default"), used))

/* Loads the plug-in of a file. `path` is a file, relative to the working folder where it does not
 * begin with '/': no folders are searched. Call `ln_arch_init` before. Threads may load and unload
 * at the same time, one at a time has its turn; `open` runs in this thread, and must not load or
 * unload. `ln_arch_cleanup` unloads all at the end of the library. After fork, the child has the
 * plug-in and what it registered, but none of its threads: it uses its devices only if the plug-in
 * says that it may. Fails: LN_IO if there is no such file; LN_INVALID if it is not a shared object,
 * has no such symbol, or a table that is too short or incomplete; LN_UNSUPPORTED if it was compiled
 * for another version of plug-ins, or a newer library; LN_EXISTS if it is loaded, or a plug-in of
 * that name is; otherwise as `open` does. Nothing of it stays then. */
LN_API ln_status ln_plugin_load(const char *path);

/* Takes back what a plug-in has registered, and unloads it.
 * Fails: LN_STATE, with who uses it, while a context, program or session uses something of the
 * plug-in; it stays loaded. LN_NOT_FOUND if no plug-in of that name is loaded. */
LN_API ln_status ln_plugin_unload(const char *name);

/* The plug-ins that are loaded, in the order in which they were; NULL past the end. What is
 * returned is the plug-in's own, and lasts until it is unloaded. */
LN_API const ln_plugin *ln_plugin_find_at(size_t index);

/* The file of a loaded plug-in, as it was given to `load`; NULL if it is not loaded. */
LN_API const char *ln_plugin_path(const char *name);

/* The plug-in that registered an arch; NULL if none did. */
LN_API const ln_plugin *ln_plugin_of_arch(const char *arch_name);

LN_CPPEND

#endif
