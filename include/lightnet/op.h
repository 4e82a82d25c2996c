/* SPDX-License-Identifier: Apache-2.0 */
/* An operator reads input tensors and computes output tensors according to its parameters.
 *
 *     init --pre_run--> checked --static_run--> ready --run--> ready ... --post_run--> end
 *
 *     pre_run      checks inputs and parameters, and defines the outputs (shape, type, memory) in
 *                  the tensor table; allocates private data in `priv`
 *     static_run   computes what stays the same for all runs, once memory is there; writes static
 *                  tensors only, since the operators of a clone find them done
 *     run          computes the outputs; may be called many times
 *     post_run     removes the outputs from the table and frees private data
 *
 * A function that is NULL is an empty one. A function that fails says so with `ln_op_fail`, or
 * through a check of opck.h, and returns; a `pre_run` that fails gives back what it allocated.
 *
 * An operator type is a static `ln_op`, its prototype; operators of a model are made from it. An
 * operator belongs to the thread of its context.
 */

#ifndef LIGHTNET_OP_H
#define LIGHTNET_OP_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/export.h>
#include <lightnet/hash.h>
#include <lightnet/list.h>
#include <lightnet/mem.h>
#include <lightnet/param.h>
#include <lightnet/status.h>
#include <lightnet/tensor_entry.h>

LN_CPPSTART

struct ln_op_info;
typedef struct ln_op_info ln_op_info;

struct ln_op_arg {
    char *name;                /* operator name, unique in its context */
    char *optype;              /* operator type */
    char *arch;                /* backend architecture to run on */
    ln_list *tensors_in;       /* of ln_tensor_list_entry: input tensors */
    ln_list *tensors_out;      /* of ln_tensor_list_entry: output tensors */
    ln_list *params;           /* of ln_param_entry: parameters */
    ln_hash *tensor_table;     /* tensor table of the context; borrowed */
    void *priv;                /* for other private data storage */
    const char **in_arg_names; /* NULL terminated array, as belows */
    const char **out_arg_names;
    const char **param_arg_names;
    const ln_param_type *param_ptypes; /* as many as param_arg_names */

    /* Beyond the documented fields. */
    const ln_op_info *info;     /* what is known about the type; NULL: nothing */
    ln_status status;           /* LN_OK, or how the last function failed */
    char *place;                /* "file:line:column" where it was read; NULL: unknown */
    int is_checked;             /* `pre_run` has succeeded and `post_run` has not been called since;
                                   kept by the functions below and by the context */
    struct ln_context *context; /* the context, borrowed and kept by it; NULL outside of one */
    int may_wait;               /* until shapes are bound, `pre_run` may be put off; kept by the
                                   context */
    int is_waiting;             /* it is: an input has no shape yet, so the outputs are open */
};
typedef struct ln_op_arg ln_op_arg;

typedef void (*ln_op_func)(ln_op_arg *op_arg);

/* The offset of `te` after the start of the tensor in which it is, or may be
 * (`ln_place_info`): an output in an input, or an input in an output. LN_NO_OFFSET if its elements
 * are no row of neighbours there. */
typedef size_t (*ln_op_offset_func)(ln_op_arg *op_arg, ln_tensor_entry *te);
#define LN_NO_OFFSET SIZE_MAX

struct ln_op {
    ln_op_arg *op_arg;
    ln_op_func pre_run;
    ln_op_func static_run;
    ln_op_func run;
    ln_op_func post_run;
    ln_op_offset_func calc_offset;
};
typedef struct ln_op ln_op;

/* ---- Life ---- */

/* A new operator with the functions, type and arch of `op_proto`. The lists become the operator's
 * and are freed with it by `ln_op_free_lists_too`; the table is borrowed.
 * NULL with a recorded failure if the prototype is incomplete, the name is NULL, empty or has
 * LN_MAX_NAME_LEN bytes or more, or memory is gone; the lists then stay with the caller. */
LN_API ln_op *ln_op_create_from_proto(const ln_op *op_proto, const char *name, ln_list *tensors_in,
                                      ln_list *tensors_out, ln_list *params, ln_hash *tensor_table);

/* Frees an operator, without calling its functions; `free` leaves its lists to the caller.
 * NULL is fine. */
LN_API void ln_op_free(ln_op *op);
LN_API void ln_op_free_lists_too(ln_op *op);

/* A new operator with a name that no operator of `ops` has, with lists as the prototype describes:
 * input tensors named "", output tensors `<operator name>_<argument name>`, parameters empty.
 * The name is the type and a number: "conv2d3". O(length of `ops`). */
LN_API ln_op *ln_op_create_with_names(const ln_op *op_proto, const ln_list *ops,
                                      ln_hash *tensor_table);

/* A new operator without lists. Its name is not that of an operator that has made a tensor in
 * `tensor_table`; an operator without outputs cannot be seen there, so where such operators are
 * around, use `scoped`, which looks at `ops` instead. */
LN_API ln_op *ln_op_create_with_opname(const ln_op *op_proto, ln_hash *tensor_table);
LN_API ln_op *ln_op_create_with_opname_scoped(const ln_op *op_proto, const ln_list *ops,
                                              ln_hash *tensor_table);

/* A new operator in state init, with lists of its own, of the same name, for the same table. */
LN_API ln_op *ln_op_copy(const ln_op *op);

/* The same, but of type `new_optype`: LN_NOT_FOUND if the table has no such prototype. */
LN_API ln_op *ln_op_copy_to_optype(const ln_hash *op_proto_table, const ln_op *op,
                                   const char *new_optype);

/* Renames an operator, and its outputs to `<new_opname>_<argument name>`. Only before it is
 * checked: LN_STATE afterwards. On failure nothing has changed. */
LN_API ln_status ln_op_update_names(ln_op *op, const char *new_opname);

/* The table entry, or the list entry, of an input or output; NULL if there is none. */
LN_API ln_tensor_entry *ln_op_find_tensor_entry(const ln_op *op, const char *arg_name);
LN_API ln_tensor_list_entry *ln_op_find_tensor_list_entry(const ln_op *op, const char *arg_name);

/* ---- For the functions of operators ---- */

/* Records a failure: "<optype>: `<name>` <message>". The first one of a function call stays, later
 * ones are ignored. Returns the status that is recorded. `op_arg` NULL only records the message. */
LN_API ln_status ln_op_fail(ln_op_arg *op_arg, ln_status status, const char *fmt, ...)
    LN_PRINTF(3, 4);

/* Defines the output tensor of argument `arg_name`: makes its table entry, with offset, creater and
 * `owner_name` (NULL: it has its own data). It is static if `is_static` is not 0, or if the
 * description says so. NULL when it fails, with the failure recorded in `op_arg`. */
LN_API ln_tensor_entry *ln_op_define_output(ln_op_arg *op_arg, const char *arg_name, int ndim,
                                            const int *dims, tl_dtype dtype, ln_mem_type mtype,
                                            int is_static, const char *owner_name);

/* Removes from the tensor table those of the operator's outputs that it made. Safe at any time. */
LN_API void ln_op_undefine_outputs(ln_op_arg *op_arg);

/* Whether an operator of type `proto` would take the inputs and parameters of `op`: LN_OK, or what
 * its check says. Changes nothing. LN_OK when the type has no check. */
LN_API ln_status ln_op_accepts(const ln_op *proto, const ln_op *op);

/* Multiply-accumulates of a run of `op`, as its type means them, whichever way they are computed;
 * 0 where there are none, shapes are not known, or it is not checked. */
LN_API double ln_op_macs(const ln_op *op);

/* What a run of `op` costs at most, up to a constant factor, in work units: about a nanosecond of
 * one core each, by the description of the variant that runs. It is the same on every machine. 0
 * for an operator that does nothing, whose shapes are not known, or that is not checked. */
LN_API double ln_op_cost(const ln_op *op);

/* 1 if output `arg_name` of the type only serves the operator while it runs. */
LN_API int ln_op_is_scratch(const ln_op_arg *op_arg, const char *arg_name);

/* ---- The operator list: the order of execution ---- */

/* A list of the operators of an array that ends with NULL. NULL for an empty one, and with a
 * recorded failure when memory is gone. */
LN_API ln_list *ln_op_list_create_from_array(ln_op **op_array);

/* Frees a list: the list alone; with its operators, whose lists stay the caller's; with its
 * operators and their lists of tensors and parameters. */
LN_API void ln_op_list_free(ln_list *ops);
LN_API void ln_op_list_free_ops_too(ln_list *ops);
LN_API void ln_op_list_free_lists_too(ln_list *ops);

/* The first operator of that type or name; NULL if there is none. */
LN_API ln_op *ln_op_list_find_by_optype(const ln_list *ops, const char *optype);
LN_API ln_op *ln_op_array_find_by_optype(ln_op *ops[], const char *optype);
LN_API ln_op *ln_op_list_find_by_name(const ln_list *ops, const char *name);

/* Call a function of all operators in order, up to the first that fails. A failure has the place in
 * front where the operator was read.
 * No output of an operator may be in the tensor table before its `pre_run`; those of the operator
 * that fails are removed, those before it stay checked. Outputs that `pre_run` leaves out are not
 * missed here; in a context they are a failure.
 * `post_run` goes through all operators, whatever happens; outputs that an operator leaves are
 * removed. */
LN_API ln_status ln_op_list_do_pre_run(ln_list *ops);
LN_API ln_status ln_op_list_do_static_run(ln_list *ops);
LN_API ln_status ln_op_list_do_run(ln_list *ops);
LN_API ln_status ln_op_list_do_post_run(ln_list *ops);

/* Writes to `buf`, of LN_MAX_NAME_LEN bytes, a name that no operator of `ops` has: `prefix` and a
 * number, one more than the largest with that prefix, or 0. Returns the number, or -1 with a
 * recorded failure if a pointer is NULL, the name is too long or the number too large. O(length).
 */
LN_API int ln_op_list_unique_name(const ln_list *ops, char *buf, const char *prefix);

/* ---- The operator table: name -> ln_op ---- */

/* An empty table; NULL when memory is gone. */
LN_API ln_hash *ln_op_table_create(void);

/* Inserts an operator, which then belongs to the table, under its name. Returns 1; 0 with a
 * recorded LN_EXISTS if the table has another one of that name, -1 on other failures: both leave it
 * to the caller. */
LN_API int ln_op_table_insert(ln_hash *table, ln_op *op);

/* Frees an operator with its lists. Returns 1, or 0 if there is none of that name. */
LN_API int ln_op_table_remove(ln_hash *table, const char *name);

/* NULL if there is none. */
LN_API ln_op *ln_op_table_find(const ln_hash *table, const char *name);

/* Frees a table with its operators and their lists. NULL is fine. */
LN_API void ln_op_table_free(ln_hash *table);

/* Sets a parameter, as `ln_param_set` does. LN_NOT_FOUND, with the names there are, if the table
 * has no such operator or the operator no such parameter. */
LN_API ln_status ln_op_table_set_param(ln_hash *table, const char *opname, const char *pname, ...);
LN_API ln_status ln_op_table_vset_param(ln_hash *table, const char *opname, const char *pname,
                                        va_list ap);

LN_CPPEND

/* The checks for `pre_run`; they need what stands above. */
#include <lightnet/opck.h>

#endif
