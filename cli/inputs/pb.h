// SPDX-License-Identifier: Apache-2.0
// ONNX's files of one value: a tensor, a sequence, an optional or a map.

#ifndef LN_CLI_INPUTS_PB_H
#define LN_CLI_INPUTS_PB_H

#include <stddef.h>

#include <lightnet/object.h>

// The value in `bytes`. `kind` is what it should be; 0: unknown, a tensor is tried first. `path`
// stands in messages.
ln_status pb_parse(const char *path, const char *bytes, size_t count, ln_object_kind kind,
                   ln_object **out_object);

#endif
