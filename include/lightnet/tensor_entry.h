/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a model: a table by name, and the lists in which operators name theirs.
 *
 *     ln_tensor_entry *dst = ln_tensor_table_find(op_arg->tensor_table, "conv1.x");
 *     printf("%d dimensions in %s\n", dst->tensor->ndim, ln_mem_type_name(dst->mtype));
 *
 * Every tensor is made by one operator, which inserts it in its `pre_run` and removes it in its
 * `post_run`. Names are copied everywhere. A context's tables belong to its thread; reading them
 * from several threads is fine while none changes them.
 *
 * Functions that return a list return it UNCHANGED and record the reason when they fail. A NULL
 * table or list is an empty one to read from; a NULL name is never found.
 */

#ifndef LIGHTNET_TENSOR_ENTRY_H
#define LIGHTNET_TENSOR_ENTRY_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/hash.h>
#include <lightnet/list.h>
#include <lightnet/mem.h>
#include <lightnet/object.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>
#include <lightnet/util.h>

LN_CPPSTART

/* ---- One tensor of the table ---- */

/* Find it by its name each time it is needed: while operators are rewritten, another entry may take
 * its place. It belongs to the table. */
struct ln_tensor_entry {
    char *name;        /* tensor name */
    tl_tensor *tensor; /* shape and type; its data is NULL until memory is allocated */
    char *owner;       /* name of the tensor in whose data this one is; NULL if it has its own */
    char *creater;     /* name of the operator that makes the tensor */
    size_t offset;     /* planned address of the data; 0: none yet */
    int isstatic; /* 1: the data is there before the first run and stays (weights, constants) */
    ln_mem_type mtype; /* memory type */

    /* Beyond the documented fields. */
    int is_input;    /* 1: an input of the model, or a view of one, so it changes, even if static */
    int is_placed;   /* 1: `owner` was chosen when memory was planned; 0: by the operator */
    int is_open;     /* 1: shape and type are known only in a run. Until then the tensor is empty;
                        then its data is that of `held` */
    ln_object *held; /* the value of an open tensor; NULL before */
    const void
        *known; /* the elements, where they are known before the model is loaded: a constant's,
                   or what follows from constants and shapes; NULL: they are not */
    const void *attached;  /* the elements attached to the model, maybe not aligned; NULL: no */
    void *known_block;     /* the memory of `known`, if it is the entry's own */
    ln_meter *known_meter; /* what `known` is charged to; NULL: nothing */
    size_t known_cost;     /* as it is charged */
    int is_load;           /* 1: planned to be there while the model is loaded only */
    int is_shared;         /* 1: planned to be where a plan for another shape has it */
    size_t shared_index;   /* 1 + the index of the constant of those plans that it is, which no
                              operator of this one computes; 0: its operator does */
};
typedef struct ln_tensor_entry ln_tensor_entry;

/* An entry for `tensor`, which stays the caller's until the entry is in a table. NULL with a
 * recorded failure if one of them is NULL, the name has LN_MAX_NAME_LEN bytes or more, or memory
 * is gone. */
LN_API ln_tensor_entry *ln_tensor_entry_create(const char *name, tl_tensor *tensor);

/* Frees an entry, not its tensor. NULL is fine. */
LN_API void ln_tensor_entry_free(ln_tensor_entry *entry);

/* Frees an entry and its tensor, not the data. NULL is fine. */
LN_API void ln_tensor_entry_free_tensor_too(ln_tensor_entry *entry);

/* Says that the data is in the data of tensor `owner`, which is in the table and may itself be
 * in another one. LN_NOT_FOUND if it is not there. NULL: the tensor has its own data. */
LN_API ln_status ln_tensor_entry_set_owner(ln_tensor_entry *entry, const ln_hash *tensor_table,
                                           const char *owner);

/* Says which operator makes the tensor; NULL: nobody. */
LN_API ln_status ln_tensor_entry_set_creater(ln_tensor_entry *entry, const char *creater);

/* ---- The tensor table: name -> ln_tensor_entry ---- */

/* An empty table; NULL when memory is gone. */
LN_API ln_hash *ln_tensor_table_create(void);

/* Inserts an entry, which then belongs to the table. Returns, as ln_hash_insert does, 1 if there
 * was none of its name, 0 if there was, which is freed with its tensor, and -1 on failure: the
 * entry then stays with the caller. */
LN_API int ln_tensor_table_insert(ln_hash *table, ln_tensor_entry *entry);

/* Frees the entry `name` and its tensor. Returns 1, or 0 if there is none. */
LN_API int ln_tensor_table_remove(ln_hash *table, const char *name);

/* NULL if there is none. */
LN_API ln_tensor_entry *ln_tensor_table_find(const ln_hash *table, const char *name);

/* Frees the table with its entries and their tensors, not the data. NULL is fine. */
LN_API void ln_tensor_table_free(ln_hash *table);

/* Copies ln_tensor_table_data_size bytes between main memory and the tensor. LN_NOT_FOUND if there
 * is no such tensor, LN_STATE if it has no data, LN_UNSUPPORTED if nobody can copy to its memory
 * type. */
LN_API ln_status ln_tensor_table_set_data(ln_hash *table, const char *name, const void *data);

/* Returns `data`, or NULL with a recorded failure as above. If `data` is NULL, returns the address
 * of the tensor's own bytes. */
LN_API void *ln_tensor_table_get_data(const ln_hash *table, const char *name, void *data);

/* The size in bytes; 0 with a recorded LN_NOT_FOUND if there is no such tensor. */
LN_API size_t ln_tensor_table_data_size(const ln_hash *table, const char *name);

/* Copies the arrays of a .wts file, or another file of tensors, into the tensors of their names;
 * those that the table does not have are skipped. LN_INVALID if a shape or type does not fit;
 * tensors before it have been filled then. */
LN_API ln_status ln_tensor_table_load_trt_weight_file(ln_hash *table, const char *file);

/* ---- Tensors of an operator: lists of ln_tensor_list_entry ---- */

struct ln_tensor_list_entry {
    char *name;     /* which tensor: key of the tensor table; "" if not known yet */
    char *arg_name; /* as what: the argument's name in the operator, such as "weight" */
    size_t offset;  /* planned address of the data, as in the tensor's table entry */
};
typedef struct ln_tensor_list_entry ln_tensor_list_entry;

/* NULL with a recorded failure if a name is NULL or has LN_MAX_NAME_LEN bytes or more, or memory
 * is gone. */
LN_API ln_tensor_list_entry *ln_tensor_list_entry_create(const char *arg_name, const char *name);

/* NULL is fine. */
LN_API void ln_tensor_list_entry_free(ln_tensor_list_entry *entry);

/* Appends an entry. */
LN_API ln_list *ln_tensor_list_append(ln_list *list, const char *arg_name, const char *name);

/* The same with a status. */
LN_API ln_status ln_tensor_list_push(ln_list **list, const char *arg_name, const char *name);

/* Frees a list with its entries. NULL is fine. */
LN_API void ln_tensor_list_free(ln_list *list);

/* A new list of new entries; NULL for NULL, and with a recorded failure when memory is gone. */
LN_API ln_list *ln_tensor_list_copy(const ln_list *list);

/* The name of the tensor that stands for argument `arg_name`; NULL if there is none. Borrowed. */
LN_API char *ln_tensor_list_find_name(const ln_list *list, const char *arg_name);

/* The first entry of that argument name, or of that tensor name; NULL if there is none. */
LN_API ln_tensor_list_entry *ln_tensor_list_find_by_arg_name(const ln_list *list,
                                                             const char *arg_name);
LN_API ln_tensor_list_entry *ln_tensor_list_find_by_name(const ln_list *list, const char *name);

/* The table entry of the tensor that stands for argument `arg_name`; NULL if there is none. */
LN_API ln_tensor_entry *ln_tensor_list_find_entry(const ln_list *list, const ln_hash *tensor_table,
                                                  const char *arg_name);

LN_API int ln_tensor_list_length(const ln_list *list);

/* Writes to `buf`, of LN_MAX_NAME_LEN bytes, an argument name that is not in the list: `prefix` and
 * a number, one more than the largest with that prefix, or 0. Returns the number, or -1 with a
 * recorded failure if a pointer is NULL, the name is too long or the number too large. */
LN_API int ln_tensor_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix);

LN_CPPEND

#endif
