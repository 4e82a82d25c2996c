/* SPDX-License-Identifier: Apache-2.0 */
/* Values in files of ONNX: the .pb files that come with models as inputs and expected outputs.
 *
 * Such a file is one message without a word of what it is: a tensor, a sequence, an optional or a
 * map. The model says which, so whoever reads one passes on what is expected.
 */

#ifndef LIGHTNET_ONNX_DATA_H
#define LIGHTNET_ONNX_DATA_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/object.h>
#include <lightnet/status.h>

LN_CPPSTART

/* Reads a value of `kind`. Sparse tensors in sequences and optionals come with their zeros. `name`
 * stands in messages; NULL is "<memory>". The caller releases *out_object. LN_SYNTAX with offset
 * and path of fields for bytes that are no such message, LN_UNSUPPORTED in a library without ONNX.
 */
LN_API ln_status ln_onnx_read_value(const void *bytes, size_t byte_count, const char *name,
                                    ln_object_kind kind, ln_object **out_object);

LN_CPPEND

#endif
