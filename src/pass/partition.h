// SPDX-License-Identifier: Apache-2.0
// Cutting a graph of operators into groups that devices run: numbers only, no context.
//
// Each operator has a device, the host or another. A stage counts how often the device changes at
// most on the way from the inputs of the model to an operator:
//
//     stage = max over those it reads of (their stage + (their device is another))
//
// Operators of one device and one stage are a group. A path that leaves the device comes back in a
// later stage, so groups are convex; and stages never fall along an edge, so that groups can be run
// one after the other. There are as few of them as some path needs.

#ifndef LN_PASS_PARTITION_H
#define LN_PASS_PARTITION_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

// Operators in an order in which each comes after those it reads. Those that operator i reads are
// `reads[starts[i]]` up to, without it, `reads[starts[i + 1]]`.
typedef struct ln_op_graph {
    size_t op_count;
    const uint32_t *starts; // op_count + 1
    const uint32_t *reads;
} ln_op_graph;

#define LN_HOST 0 // the device that all operators may run on

// Fills in `stages`, for devices as given.
void ln_partition_stages(const ln_op_graph *graph, const uint8_t *devices, uint32_t *stages);

// Fills in `islands`: operators of a group that are joined by edges within it have the number of
// the first of them. On the host each is its own.
void ln_partition_islands(const ln_op_graph *graph, const uint8_t *devices, const uint32_t *stages,
                          uint32_t *islands);

// Fills in `order`: by stage, the host's operators first and then one device after the other, as
// given where these are equal. Each operator comes after those it reads, and those of a group are
// neighbours. Linear time. Fails: LN_NO_MEMORY.
ln_status ln_partition_order(const ln_op_graph *graph, const uint8_t *devices,
                             const uint32_t *stages, uint32_t *order);

LN_CPPEND

#endif
