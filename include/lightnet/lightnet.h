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
 *     ln_context_init(ctx, "model.net");                 // read: ONNX, TFLite, JSON IR or IL
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
 * The names are in three circles, and this header has them all, as documented programs expect:
 *
 *     lightnet/use.h       running models; all that most programs need
 *     lightnet/extend.h    operators, archs and formats of one's own
 *     lightnet/classic.h   the documented containers, tensors and tensor routines
 */

#ifndef LIGHTNET_LIGHTNET_H
#define LIGHTNET_LIGHTNET_H

#include <lightnet/classic.h>
#include <lightnet/extend.h>
#include <lightnet/use.h>

#endif
