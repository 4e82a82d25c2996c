/* SPDX-License-Identifier: Apache-2.0 */
/* The first circle: what a program needs that runs models. `lightnet/lightnet.h` shows its steps.
 *
 * Bindings, servers and `lightnet/lightnet.hpp` need no other header. Contexts are asked by
 * functions; members of their structures are of the third circle, `lightnet/classic.h`.
 */

#ifndef LIGHTNET_USE_H
#define LIGHTNET_USE_H

/* The library, errors, messages, memory. */
#include <lightnet/allocator.h>
#include <lightnet/export.h>
#include <lightnet/library.h>
#include <lightnet/msg.h>
#include <lightnet/status.h>
#include <lightnet/version.h>

/* Models: from reading to running. */
#include <lightnet/cancel.h>
#include <lightnet/context.h>
#include <lightnet/model_info.h>
#include <lightnet/optimize.h>
#include <lightnet/plan.h>
#include <lightnet/pool.h>
#include <lightnet/preflight.h>
#include <lightnet/program.h>

/* Values that are handed around, and files of them. */
#include <lightnet/dlpack.h>
#include <lightnet/dtype.h>
#include <lightnet/ndarray.h>
#include <lightnet/object.h>
#include <lightnet/params.h>
#include <lightnet/shape.h>
#include <lightnet/tensor_file.h>

#endif
