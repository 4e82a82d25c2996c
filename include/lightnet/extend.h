/* SPDX-License-Identifier: Apache-2.0 */
/* The second circle: what is written against LightNet: operators, archs, formats, rewriting.
 *
 * `docs/own-operator.md` begins with an operator in call form (call.h); `docs/architecture.md` says
 * what archs and serializers are.
 */

#ifndef LIGHTNET_EXTEND_H
#define LIGHTNET_EXTEND_H

#include <lightnet/use.h>

/* Operators: two functions and a description, what they share, what is made from descriptions. */
#include <lightnet/act.h>
#include <lightnet/call.h>
#include <lightnet/convdim.h>
#include <lightnet/expander.h>
#include <lightnet/op.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>
#include <lightnet/opshape.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

/* Archs, and their memory. */
#include <lightnet/arch.h>
#include <lightnet/mem.h>
#include <lightnet/plugin.h>

/* Formats. */
#include <lightnet/il.h>
#include <lightnet/onnx_data.h>
#include <lightnet/serializer.h>
#include <lightnet/spelling.h>

#endif
