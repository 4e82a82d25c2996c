// SPDX-License-Identifier: Apache-2.0
// Attached weights of a model: those inside a model file, used where they are.
//
// A context and its clones and graphs share one counted store. It also keeps whatever the bytes are
// in, such as a mapped file, until the last of them is gone. Filled while a model is read, by one
// thread; afterwards only read.

#ifndef LN_IR_ATTACHED_H
#define LN_IR_ATTACHED_H

#include <stddef.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>
#include <lightnet/tensor_entry.h>

typedef struct ln_attached ln_attached;

ln_status ln_attached_create(ln_attached **out_attached);
ln_attached *ln_attached_retain(ln_attached *attached); // returns `attached`; NULL is fine
void ln_attached_release(ln_attached *attached);        // NULL is fine

// Adds a tensor whose elements are at `data`, at any alignment, as long as the store lives.
ln_status ln_attached_add(ln_attached *attached, const char *name, tl_dtype dtype, int ndim,
                          const int *dims, const void *data);

// The tensor of that name, with its data; NULL if there is none or `attached` is NULL.
const tl_tensor *ln_attached_find(const ln_attached *attached, const char *name);

size_t ln_attached_count(const ln_attached *attached);

// Calls `release(block)` when the store ends; at once if that cannot be noted.
ln_status ln_attached_keep(ln_attached *attached, void *block, void (*release)(void *block));

// The bytes are a file mapped to be read only.
ln_status ln_attached_note_mapped(ln_attached *attached, const void *bytes, size_t byte_count);

// The bytes have been copied, and are not needed in memory: where they are of a mapped file, their
// pages may go. They come back when they are read again.
void ln_attached_let_go(const ln_attached *attached, const void *bytes, size_t byte_count);

// 1 if the tensor stays where the model's file has it, so that no memory is planned for it.
int ln_entry_is_in_place(const ln_tensor_entry *entry);

// The tensor in whose memory the plan has this one: NULL for what is in place, since the plan has
// no memory for it, nor for what its operator lays it in. What is planned, written into compiled
// files and compared with them is this.
const char *ln_entry_planned_owner(const ln_tensor_entry *entry);

// Gives a tensor that is in place memory of its own, with the same elements, so that it can be
// written; views of it follow. A view gets it with the tensor that it is in. Until the model is
// unloaded.
ln_status ln_attached_own(const ln_hash *tensor_table, ln_tensor_entry *entry);

#endif
