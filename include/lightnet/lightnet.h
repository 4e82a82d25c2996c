/* SPDX-License-Identifier: Apache-2.0 */
/* LightNet: neural-network inference.
 *
 * A model is a list of operators. Each reads named tensors and makes named tensors, and has
 * parameters. Everything done to a model is a rewrite of that list, and each result can be printed.
 *
 * A program goes through these steps:
 *
 *     ln_arch_init();                                    // archs, operators, formats
 *     ln_context *ctx = ln_context_create();
 *     ln_context_init(ctx, "model.net");                 // read: ONNX, JSON IR or IL
 *     ln_context_compile(ctx, "cpu");                    // lower, fuse, plan memory
 *     printf("%zu bytes\n", ln_context_peak_bytes(ctx, LN_MEM_CPU)); // known before running
 *     ln_context_load(ctx, "model.safetensors");         // allocate, load weights, static part
 *     ln_context_set_data_n(ctx, "image", pixels, sizeof pixels);
 *     ln_context_run(ctx);                               // as often as needed; allocates nothing
 *     ln_context_get_data_n(ctx, "prob", answers, sizeof answers);
 *     ln_context_unload(ctx);
 *     ln_context_cleanup(ctx);
 *     ln_context_free(ctx);
 *     ln_arch_cleanup();
 *
 * What can fail returns an `ln_status`, or NULL where it returns a pointer; `ln_error_message()`
 * then tells what is wrong, and where. The library never exits or aborts, and prints nothing but
 * what `print` operators of a model say. A context belongs to one thread at a time; different
 * contexts run side by side.
 *
 * The headers below stand in reading order.
 */

#ifndef LIGHTNET_LIGHTNET_H
#define LIGHTNET_LIGHTNET_H

/* Errors, memory, messages. */
#include <lightnet/act.h>
#include <lightnet/allocator.h>
#include <lightnet/cancel.h>
#include <lightnet/msg.h>
#include <lightnet/status.h>
#include <lightnet/version.h>

/* Models: from reading to running. */
#include <lightnet/context.h>
#include <lightnet/optimize.h>
#include <lightnet/plan.h>
#include <lightnet/pool.h>

/* Tensors, arrays that are handed around, and files of them. */
#include <lightnet/dlpack.h>
#include <lightnet/dtype.h>
#include <lightnet/ndarray.h>
#include <lightnet/params.h>
#include <lightnet/tensor.h>
#include <lightnet/tensor_file.h>

/* What a model is made of. */
#include <lightnet/dfg.h>
#include <lightnet/op.h>
#include <lightnet/op_info.h>
#include <lightnet/opck.h>
#include <lightnet/opshape.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

/* Extending: archs, operators, formats. */
#include <lightnet/arch.h>
#include <lightnet/easyjson.h>
#include <lightnet/expander.h>
#include <lightnet/il.h>
#include <lightnet/onnx_data.h>
#include <lightnet/preflight.h>
#include <lightnet/serializer.h>

/* Containers and small things that the others use. */
#include <lightnet/graph.h>
#include <lightnet/hash.h>
#include <lightnet/list.h>
#include <lightnet/mem.h>
#include <lightnet/queue.h>
#include <lightnet/spelling.h>
#include <lightnet/stack.h>
#include <lightnet/util.h>

#endif
