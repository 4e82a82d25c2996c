// SPDX-License-Identifier: Apache-2.0
// Cutting random graphs: groups are convex and neighbours, by looking at all paths.

#include "pass/partition.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

enum { MAX_OPS = 80000, MAX_READS = 4, SMALL = 60 };

static struct {
    ln_op_graph graph;
    uint32_t starts[MAX_OPS + 1], reads[MAX_OPS * MAX_READS];
    uint8_t devices[MAX_OPS];
    uint32_t stages[MAX_OPS], islands[MAX_OPS], order[MAX_OPS], position[MAX_OPS];
} g; // too large for the stack

// `spread`: how far back an operator reads at most; 0: anywhere.
static void make_graph(test_random *random, size_t count, size_t spread, unsigned device_count)
{
    uint32_t edge = 0;
    for (uint32_t i = 0; i < count; i++) {
        g.starts[i] = edge;
        g.devices[i] =
            (uint8_t)(test_random_below(random, 3) ? test_random_below(random, device_count)
                                                   : LN_HOST);
        size_t from = spread && i > spread ? i - spread : 0;
        for (unsigned k = (unsigned)test_random_below(random, MAX_READS + 1); i > 0 && k > 0; k--)
            g.reads[edge++] = (uint32_t)(from + test_random_below(random, i - from));
    }
    g.starts[count] = edge;
    g.graph = (ln_op_graph){.op_count = count, .starts = g.starts, .reads = g.reads};
}

static void cut(void)
{
    ln_partition_stages(&g.graph, g.devices, g.stages);
    ln_partition_islands(&g.graph, g.devices, g.stages, g.islands);
    CHECK_OK(ln_partition_order(&g.graph, g.devices, g.stages, g.order));
    for (uint32_t k = 0; k < g.graph.op_count; k++)
        g.position[g.order[k]] = k;
}

static bool is_one_group(uint32_t a, uint32_t b)
{
    return g.devices[a] == g.devices[b] && g.stages[a] == g.stages[b];
}

static void check_order(void)
{
    static bool seen[MAX_OPS];
    memset(seen, 0, sizeof seen);
    for (uint32_t k = 0; k < g.graph.op_count; k++) {
        CHECK(!seen[g.order[k]]);
        seen[g.order[k]] = true;
    }
    for (uint32_t i = 0; i < g.graph.op_count; i++)
        for (uint32_t e = g.starts[i]; e < g.starts[i + 1]; e++)
            CHECK(g.position[g.reads[e]] < g.position[i]);
    for (uint32_t k = 2; k < g.graph.op_count; k++) {
        uint32_t last = g.order[k - 1], now = g.order[k];
        bool is_first = !is_one_group(last, now);
        for (uint32_t b = 0; is_first && b + 1 < k && g.graph.op_count <= SMALL; b++)
            CHECK(!is_one_group(g.order[b], now)); // not a second time
    }
}

// By all paths: what is reached from a group and reaches it is in it.
static void check_convex(void)
{
    static bool reaches[SMALL][SMALL]; // [a][b]: b depends on a
    size_t count = g.graph.op_count;
    memset(reaches, 0, sizeof reaches);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = g.starts[i]; e < g.starts[i + 1]; e++) {
            reaches[g.reads[e]][i] = true;
            for (uint32_t a = 0; a < i; a++)
                reaches[a][i] = reaches[a][i] || reaches[a][g.reads[e]];
        }
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a; b < count; b++)
            for (uint32_t m = a; m < b && reaches[a][b] && is_one_group(a, b); m++)
                if (reaches[a][m] && reaches[m][b])
                    CHECK(is_one_group(a, m));
}

// An island is what edges join within a group, by spreading from its first operator.
static void check_islands(void)
{
    static bool is_in[SMALL];
    size_t count = g.graph.op_count;
    for (uint32_t first = 0; first < count; first++) {
        if (g.devices[first] == LN_HOST) {
            CHECK_EQ(g.islands[first], first);
            continue;
        }
        memset(is_in, 0, sizeof is_in);
        is_in[first] = true;
        for (bool has_grown = true; has_grown;) {
            has_grown = false;
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t e = g.starts[i]; e < g.starts[i + 1]; e++) {
                    uint32_t read = g.reads[e];
                    if (!is_one_group(i, read) || is_in[i] == is_in[read])
                        continue;
                    is_in[i] = is_in[read] = has_grown = true;
                }
        }
        uint32_t least = 0;
        while (!is_in[least])
            least++;
        CHECK_EQ(g.islands[first], least);
    }
}

TEST(groups_of_random_graphs_are_convex_and_neighbours)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        test_random random = {.state = seed};
        size_t count = 1 + test_random_below(&random, SMALL - 1);
        make_graph(&random, count, test_random_below(&random, 2) ? 6 : 0,
                   1 + (unsigned)test_random_below(&random, 4));
        cut();
        check_order();
        check_convex();
        check_islands();
    }
}

// Each way through the model needs as many groups as it changes to the device.
TEST(there_are_no_more_groups_than_some_path_needs)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        test_random random = {.state = seed};
        make_graph(&random, SMALL, 5, 2);
        cut();
        uint32_t needed[SMALL] = {0}, most = 0, groups = 0;
        for (uint32_t i = 0; i < SMALL; i++) {
            needed[i] = g.devices[i] != LN_HOST;
            for (uint32_t e = g.starts[i]; e < g.starts[i + 1]; e++) {
                uint32_t read = g.reads[e];
                uint32_t via = needed[read] + (g.devices[i] != LN_HOST && !g.devices[read]);
                needed[i] = via > needed[i] ? via : needed[i];
            }
            most = needed[i] > most ? needed[i] : most;
        }
        for (uint32_t k = 0; k < SMALL; k++)
            groups += g.devices[g.order[k]] != LN_HOST &&
                      (k == 0 || !is_one_group(g.order[k - 1], g.order[k]));
        CHECK_EQ(groups, most);
    }
}

static double seconds_for(size_t count)
{
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        test_random random = {.state = 7};
        make_graph(&random, count, 50, 3);
        clock_t begin = clock();
        cut();
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
    }
    return best;
}

TEST(large_graphs_are_cut_in_linear_time)
{
    double small = seconds_for(10000), large = seconds_for(80000);
    CHECK(small < 0.2);
    check_order();
    if (large > 8 * 3 * (small + 1e-4)) // a square would be 64 times as much
        fail_msg("%g s for 10,000 operators, %g s for 80,000", small, large);
}

TEST(out_of_memory_is_a_failure)
{
    test_random random = {.state = 1};
    make_graph(&random, 20, 0, 3);
    ln_partition_stages(&g.graph, g.devices, g.stages);
    OOM_SWEEP(n)
    {
        ln_status status = ln_partition_order(&g.graph, g.devices, g.stages, g.order);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
}

TEST_LIST(groups_of_random_graphs_are_convex_and_neighbours,
          there_are_no_more_groups_than_some_path_needs, large_graphs_are_cut_in_linear_time,
          out_of_memory_is_a_failure)
