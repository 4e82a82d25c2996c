/* SPDX-License-Identifier: Apache-2.0 */
/* The third circle: the documented containers and tensor routines of LightNet and TensorLight, in
 * which a context keeps its operators and tensors.
 *
 * Programs that walk the operator list, the tables or the data flow graph need it, and programs
 * that compute with tensors outside models.
 */

#ifndef LIGHTNET_CLASSIC_H
#define LIGHTNET_CLASSIC_H

#include <lightnet/use.h>

/* Containers. */
#include <lightnet/graph.h>
#include <lightnet/hash.h>
#include <lightnet/list.h>
#include <lightnet/queue.h>
#include <lightnet/stack.h>

/* What is in a context, and checks of operators in `pre_run`. */
#include <lightnet/dfg.h>
#include <lightnet/opck.h>

/* TensorLight, and small things. */
#include <lightnet/easyjson.h>
#include <lightnet/tensor.h>
#include <lightnet/util.h>

#endif
