// SPDX-License-Identifier: Apache-2.0
// Reports all operators of unknown type in one message.

#ifndef LN_SERIAL_UNKNOWN_TYPES_H
#define LN_SERIAL_UNKNOWN_TYPES_H

#include <lightnet/serializer.h>

#include "base/value.h"

// The type that an operator of a file stands for, in `buffer`.
typedef void (*ln_type_reader)(const char *optype, char *buffer, size_t size);

// `ops` is a model's array of operators, one of which has just failed because its type is unknown.
// If there are more, puts in front of the message how many, and of which types. `read_type` NULL:
// types stand for themselves.
ln_status ln_tell_unknown_types(ln_serializer *serializer, const ln_value *ops,
                                ln_type_reader read_type);

// Whether there is a prototype of this type, or a loader for it. (serializer.c)
int ln_serializer_knows(ln_serializer *serializer, const char *optype);

#endif
