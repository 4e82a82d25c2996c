// SPDX-License-Identifier: Apache-2.0
// Types with the name of an arch, as models of the old system have them.

#ifndef LN_SERIAL_OLD_TYPES_H
#define LN_SERIAL_OLD_TYPES_H

#include <stddef.h>

#include <lightnet/list.h>

LN_CPPSTART

// The name without its arch, "conv2d" for "conv2d_cuda", or the same name when that is no type. For
// models that the old system compiled: they are lowered again.
void ln_old_type_read(const char *optype, char *buffer, size_t size);

// The same for types that are not registered. Models also name operators of an arch before they
// are compiled, "create_cuda", and mean the abstract one where that arch has none here.
void ln_old_type_read_unknown(const char *optype, char *buffer, size_t size);

// Whether the type works in scratch tensors that are not among `outs`, a tensor list. Such a
// "conv2d_cpu" is not the one that is registered, whose workspace our own models name.
int ln_old_type_lacks_scratch(const char *optype, const ln_list *outs);

LN_CPPEND

#endif
