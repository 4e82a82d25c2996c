// SPDX-License-Identifier: Apache-2.0
// Stages in one walk, islands by union of edges, the order by two counting sorts.

#include "pass/partition.h"

#include <string.h>

#include <lightnet/allocator.h>

void ln_partition_stages(const ln_op_graph *graph, const uint8_t *devices, uint32_t *stages)
{
    for (uint32_t i = 0; i < graph->op_count; i++) {
        stages[i] = devices[i] == LN_HOST ? 0 : 1; // what reads nothing
        for (uint32_t k = graph->starts[i]; k < graph->starts[i + 1]; k++) {
            uint32_t read = graph->reads[k];
            uint32_t stage = stages[read] + (devices[read] != devices[i]);
            if (stage > stages[i])
                stages[i] = stage;
        }
    }
}

static uint32_t find(uint32_t *islands, uint32_t i)
{
    while (islands[i] != i) {
        islands[i] = islands[islands[i]]; // halves the way for the next one
        i = islands[i];
    }
    return i;
}

static void join(uint32_t *islands, uint32_t a, uint32_t b)
{
    a = find(islands, a);
    b = find(islands, b);
    if (a < b)
        islands[b] = a;
    else
        islands[a] = b;
}

void ln_partition_islands(const ln_op_graph *graph, const uint8_t *devices, const uint32_t *stages,
                          uint32_t *islands)
{
    for (uint32_t i = 0; i < graph->op_count; i++)
        islands[i] = i;
    for (uint32_t i = 0; i < graph->op_count; i++)
        for (uint32_t k = graph->starts[i]; devices[i] != LN_HOST && k < graph->starts[i + 1];
             k++) {
            uint32_t read = graph->reads[k];
            if (devices[read] == devices[i] && stages[read] == stages[i])
                join(islands, read, i);
        }
    for (uint32_t i = 0; i < graph->op_count; i++)
        islands[i] = find(islands, i);
}

// A stable counting sort of `from` into `to`, as is the next.
static void sort_by_device(const uint8_t *devices, size_t count, const uint32_t *from, uint32_t *to)
{
    size_t starts[UINT8_MAX + 2] = {0};
    for (size_t i = 0; i < count; i++)
        starts[devices[from[i]] + 1]++;
    for (size_t d = 1; d <= UINT8_MAX; d++)
        starts[d] += starts[d - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[devices[from[i]]]++] = from[i];
}

static void sort_by_stage(const uint32_t *stages, size_t *starts, size_t count,
                          const uint32_t *from, uint32_t *to)
{
    for (size_t i = 0; i < count; i++)
        starts[stages[i] + 1]++;
    for (size_t s = 1; s <= count; s++)
        starts[s] += starts[s - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[stages[from[i]]]++] = from[i];
}

ln_status ln_partition_order(const ln_op_graph *graph, const uint8_t *devices,
                             const uint32_t *stages, uint32_t *order)
{
    size_t count = graph->op_count;
    // A stage is at most the number of operators before it, and 1 on a device.
    uint32_t *given = ln_alloc_array(2 * count + 1, sizeof *given);
    size_t *starts = ln_alloc_array(count + 3, sizeof *starts);
    if (given && starts) {
        uint32_t *by_device = given + count;
        for (uint32_t i = 0; i < count; i++)
            given[i] = i;
        sort_by_device(devices, count, given, by_device);
        sort_by_stage(stages, starts, count, by_device, order);
    }
    ln_status status = given && starts ? LN_OK : LN_NO_MEMORY;
    ln_free(given);
    ln_free(starts);
    return status;
}
