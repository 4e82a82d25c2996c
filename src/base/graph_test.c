// SPDX-License-Identifier: Apache-2.0
// The graph: edges at both ends, removal, sorting, copying.

#include <lightnet/graph.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

#define MAX_EDGES 8

static int numbers[64];

#define NUMBER(i) (&numbers[i])

static size_t number_of(const ln_graph_node *node)
{
    return (size_t)((const int *)node->data - numbers);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// A graph given by numbers.
typedef struct picture {
    size_t node_count;
    int edges[MAX_EDGES][2];
    size_t edge_count;
} picture;

static ln_graph *draw(const picture *p)
{
    ln_graph *graph = ln_graph_create(NULL, NULL);
    for (size_t i = 0; i < p->node_count; i++)
        CHECK_NOT_NULL(ln_graph_add(graph, NUMBER(i)));
    for (size_t i = 0; i < p->edge_count; i++)
        CHECK_OK(ln_graph_link(graph, NUMBER(p->edges[i][0]), NUMBER(p->edges[i][1]), NULL));
    return graph;
}

// Every edge stands at both ends, degrees are lengths, indices rise, nodes know their places.
static void check_consistent(const ln_graph *graph)
{
    CHECK_EQ(ln_list_length(graph->nodes), (int)graph->size);
    size_t index_end = 0;
    const ln_graph_node *previous = NULL;
    size_t out_count = 0;
    size_t in_count = 0;
    const ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes) {
        CHECK_PTR_EQ(node->graph, graph);
        CHECK(node->index >= index_end && node->index < graph->index_end);
        index_end = node->index + 1;
        CHECK_PTR_EQ(node->place->data, node);
        CHECK_PTR_EQ(node->previous, previous);
        previous = node;
        CHECK_EQ(ln_list_length(node->out_edge_nodes), (int)node->outdegree);
        CHECK_EQ(ln_list_length(node->in_edge_nodes), (int)node->indegree);
        out_count += node->outdegree;
        in_count += node->indegree;
        const ln_graph_edge_node *edge;
        LN_LIST_FOREACH (edge, node->out_edge_nodes) {
            size_t twins = 0;
            const ln_graph_edge_node *back;
            LN_LIST_FOREACH (back, edge->node->in_edge_nodes)
                twins += back->node == node && back->edge_data == edge->edge_data;
            CHECK(twins > 0);
        }
    }
    CHECK_EQ(out_count, in_count);
}

TEST(degrees_count_edges)
{
    static const size_t out[] = {3, 0, 1, 1, 0};
    static const size_t in[] = {0, 1, 1, 2, 1};
    ln_graph *graph = draw(&(picture){5, {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {2, 3}}, 5});
    for (size_t i = 0; i < 5; i++) {
        const ln_graph_node *node = ln_graph_find(graph, NUMBER(i));
        CHECK_EQ(node->outdegree, out[i]);
        CHECK_EQ(node->indegree, in[i]);
    }
    check_consistent(graph);
    ln_graph_free(graph);
}

TEST(outliers_have_no_edges)
{
    static const struct {
        picture picture;
        int outliers;
    } cases[] = {
        {{5, {{0, 2}, {0, 3}, {3, 4}, {2, 3}}, 4}, 1},
        {{5, {{0, 2}, {0, 3}, {3, 4}, {2, 3}, {0, 1}}, 5}, 0},
        {{3, {{0}}, 0}, 3},
        {{0, {{0}}, 0}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_graph *graph = draw(&cases[i].picture);
        CHECK_EQ(ln_graph_num_outlier(graph), cases[i].outliers);
        ln_graph_free(graph);
    }
}

TEST(a_walk_visits_each_node_once_after_its_predecessors)
{
    static const struct {
        picture picture;
        int result;
        size_t order[6];
        const char *why;
    } cases[] = {
        {{6, {{0, 1}, {0, 2}, {0, 3}, {2, 4}, {3, 4}}, 5}, 6, {5, 0, 3, 2, 4, 1}, "diamond"},
        {{6, {{0, 1}, {0, 2}, {0, 3}, {2, 4}, {3, 4}, {3, 5}, {5, 0}}, 7}, -1, {0}, "cycle"},
        {{2, {{0, 1}, {0, 1}}, 2}, 2, {0, 1}, "parallel edges"},
        {{3, {{2, 1}, {1, 0}}, 2}, 3, {2, 1, 0}, "chain against the order of nodes"},
        {{3, {{0}}, 0}, 3, {2, 1, 0}, "no edges"},
        {{1, {{0, 0}}, 1}, -1, {0}, "loop"},
        {{0, {{0}}, 0}, -1, {0}, "empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        ln_graph *graph = draw(&cases[i].picture);
        ln_list *order;
        CHECK_EQ(ln_graph_dft_after_prev(graph, &order), cases[i].result);
        CHECK_EQ(ln_list_length(order), cases[i].result < 0 ? 0 : cases[i].result);
        size_t at = 0;
        const ln_graph_node *node;
        LN_LIST_FOREACH (node, order)
            CHECK_EQ(number_of(node), cases[i].order[at++]);
        ln_list_free(order);
        ln_graph_free(graph);
    }
}

// "0 5|1 2" for layers; valid until the next call.
static const char *layers_text(const ln_list *layers)
{
    static char text[256];
    size_t len = 0;
    text[0] = '\0';
    const ln_list *layer;
    LN_LIST_FOREACH (layer, layers) {
        const char *before = len ? "|" : "";
        const ln_graph_node *node;
        LN_LIST_FOREACH (node, layer) {
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%s%zu", before, number_of(node));
            before = " ";
        }
    }
    return text;
}

TEST(sorting_makes_layers)
{
    static const struct {
        picture picture;
        int result;
        const char *layers;
        const char *why;
    } cases[] = {
        {{5, {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {2, 3}}, 5}, 4, "0|1 2|3|4", "connected"},
        {{4, {{0, 2}}, 1}, 2, "0 1 3|2", "isolated nodes are in the first layer"},
        {{3, {{0}}, 0}, 1, "0 1 2", "no edges"},
        {{0, {{0}}, 0}, 0, "", "empty"},
        {{3, {{0, 1}, {0, 1}, {1, 2}}, 3}, 3, "0|1|2", "parallel edges"},
        {{3, {{0, 2}, {0, 1}, {1, 2}}, 3}, 3, "0|1|2", "a shortcut"},
        {{3, {{0, 1}, {1, 2}, {2, 1}}, 3}, -1, "", "cycle after a source"},
        {{2, {{0, 1}, {1, 0}}, 2}, -1, "", "nothing but a cycle"},
        {{2, {{1, 1}}, 1}, -1, "", "loop"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        ln_graph *graph = draw(&cases[i].picture);
        ln_list *layers;
        ln_error_clear();
        CHECK_EQ(ln_graph_topsort(graph, &layers), cases[i].result);
        CHECK_STR_EQ(layers_text(layers), cases[i].layers);
        CHECK_EQ(ln_error_status(), cases[i].result < 0 ? LN_INVALID : LN_OK);
        ln_graph_free_topsortlist(layers);
        ln_graph_free(graph);
    }
}

TEST(nodes_and_edges_are_found_by_data)
{
    int values[] = {10, 20, 30, 20};
    int edges[] = {1, 2, 1};
    int wanted = 20;
    int missing = 5;
    ln_graph *graph = ln_graph_create(by_value, by_value);
    ln_graph_node *first = ln_graph_add(graph, &values[0]);
    ln_graph_node *second = ln_graph_add(graph, &values[1]);
    ln_graph_add(graph, &values[3]);
    CHECK_PTR_EQ(ln_graph_find(graph, &wanted), second);
    CHECK_NULL(ln_graph_find(graph, &missing));

    CHECK_OK(ln_graph_link(graph, &values[0], &wanted, &edges[0]));
    CHECK_OK(ln_graph_link(graph, &values[0], &wanted, &edges[1]));
    CHECK_OK(ln_graph_link_node(graph, first, second, &edges[2]));
    CHECK_FAILS(ln_graph_link(graph, &missing, &wanted, NULL), LN_NOT_FOUND);
    CHECK_FAILS(ln_graph_link(graph, &wanted, &missing, NULL), LN_NOT_FOUND);
    CHECK_EQ(second->indegree, 3);

    int two = 2;
    CHECK_PTR_EQ(ln_graph_unlink(graph, &values[0], &wanted, &two), &edges[1]);
    CHECK_NULL(ln_graph_unlink(graph, &values[0], &wanted, &two));
    CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
    CHECK_NULL(ln_graph_unlink(graph, &wanted, &values[0], NULL));
    CHECK_NULL(ln_graph_unlink(graph, &missing, &values[0], NULL));
    CHECK_PTR_EQ(ln_graph_unlink(graph, &values[0], &wanted, NULL), &edges[0]);
    CHECK_PTR_EQ(ln_graph_unlink_node(first, second, NULL), &edges[2]);
    CHECK_NULL(ln_graph_unlink_node(first, second, NULL));
    CHECK_EQ(second->indegree, 0);
    CHECK_EQ(first->outdegree, 0);
    check_consistent(graph);

    CHECK_OK(ln_graph_link_node(graph, second, first, NULL));
    check_consistent(graph);
    ln_graph_free(graph);
}

TEST(removing_a_node_takes_its_edges_along)
{
    ln_graph *graph =
        draw(&(picture){5, {{0, 1}, {1, 2}, {1, 1}, {1, 3}, {0, 1}, {3, 1}, {2, 4}}, 7});
    CHECK_PTR_EQ(ln_graph_remove(graph, NUMBER(1)), NUMBER(1));
    check_consistent(graph);
    CHECK_EQ(graph->size, 4);
    CHECK_EQ(ln_graph_num_outlier(graph), 2);
    ln_list *layers;
    CHECK_EQ(ln_graph_topsort(graph, &layers), 2);
    CHECK_STR_EQ(layers_text(layers), "0 2 3|4");
    ln_graph_free_topsortlist(layers);

    CHECK_PTR_EQ(ln_graph_remove(graph, NUMBER(4)), NUMBER(4));
    CHECK_NOT_NULL(ln_graph_add(graph, NUMBER(5)));
    CHECK_PTR_EQ(ln_graph_remove(graph, NUMBER(0)), NUMBER(0));
    check_consistent(graph);
    CHECK_NULL(ln_graph_remove(graph, NUMBER(0)));
    CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
    while (graph->nodes)
        ln_graph_remove_node(graph, graph->nodes->data);
    check_consistent(graph);
    CHECK_NOT_NULL(ln_graph_add(graph, NUMBER(0)));
    check_consistent(graph);
    ln_graph_free(graph);
}

TEST(nodes_of_other_graphs_are_refused)
{
    ln_graph *graph = draw(&(picture){1, {{0}}, 0});
    ln_graph *other = draw(&(picture){1, {{0}}, 0});
    ln_graph_node *lone = ln_graph_node_create(NUMBER(0), NULL);
    ln_graph_node *node = graph->nodes->data;
    ln_graph_node *foreign = other->nodes->data;
    CHECK_FAILS(ln_graph_link_node(graph, node, foreign, NULL), LN_INVALID);
    CHECK_FAILS(ln_graph_link_node(graph, lone, node, NULL), LN_INVALID);
    CHECK_FAILS(ln_graph_link_node(graph, node, NULL, NULL), LN_INVALID);
    CHECK_FAILS(ln_graph_link_node(NULL, node, node, NULL), LN_INVALID);
    CHECK_NULL(ln_graph_remove_node(graph, foreign));
    CHECK_NULL(ln_graph_remove_node(graph, lone));
    ln_graph_node_free(lone);
    ln_graph_free(other);
    ln_graph_free(graph);
}

TEST(null_is_no_graph)
{
    ln_list *list;
    CHECK_NULL(ln_graph_add(NULL, NUMBER(0)));
    CHECK_NULL(ln_graph_find(NULL, NUMBER(0)));
    CHECK_NULL(ln_graph_remove(NULL, NUMBER(0)));
    CHECK_FAILS(ln_graph_link(NULL, NUMBER(0), NUMBER(1), NULL), LN_INVALID);
    CHECK_NULL(ln_graph_unlink(NULL, NUMBER(0), NUMBER(1), NULL));
    CHECK_NULL(ln_graph_unlink_node(NULL, NULL, NULL));
    CHECK_NULL(ln_graph_copy(NULL));
    CHECK_EQ(ln_graph_num_outlier(NULL), 0);
    CHECK_EQ(ln_graph_topsort(NULL, &list), -1);
    CHECK_EQ(ln_graph_dft_after_prev(NULL, &list), -1);
    ln_graph_fprint(NULL, NULL, NULL, NULL);
    ln_graph_free_topsortlist(NULL);
    ln_graph_edge_node_free(NULL);
    ln_graph_node_free(NULL);
    ln_graph_free(NULL);
}

// ---- Printing and copying ----

static void print_number(FILE *fp, const void *data)
{
    fprintf(fp, "%d", (int)((const int *)data - numbers));
}

static void print_letter(FILE *fp, const void *data)
{
    fputs(data ? (const char *)data : "?", fp);
}

// The printed graph; valid until the next call.
static const char *graph_text(const ln_graph *graph)
{
    static char text[512];
    memset(text, 0, sizeof text);
    FILE *fp = fmemopen(text, sizeof text, "w");
    CHECK_NOT_NULL(fp);
    ln_graph_fprint(fp, graph, print_number, print_letter);
    fclose(fp);
    return text;
}

TEST(a_graph_prints_one_line_for_each_node)
{
    char a[] = "a";
    ln_graph *graph = draw(&(picture){3, {{0, 1}}, 1});
    CHECK_OK(ln_graph_link(graph, NUMBER(0), NUMBER(2), a));
    CHECK_STR_EQ(graph_text(graph), "0-> --?-1, --a-2\n1->\n2->\n");
    ln_graph_free(graph);
}

TEST(a_copy_has_the_same_order_and_its_own_nodes)
{
    char a[] = "a", b[] = "b";
    ln_graph *graph = draw(&(picture){4, {{3, 1}, {0, 1}, {2, 1}, {3, 0}}, 4});
    CHECK_OK(ln_graph_link(graph, NUMBER(3), NUMBER(1), a));
    CHECK_OK(ln_graph_link(graph, NUMBER(3), NUMBER(2), b));
    CHECK_PTR_EQ(ln_graph_remove(graph, NUMBER(0)), NUMBER(0));
    ln_graph *copy = ln_graph_copy(graph);
    check_consistent(copy);
    CHECK_STR_EQ(graph_text(copy), "1->\n2-> --?-1\n3-> --?-1, --a-1, --b-2\n");
    CHECK_EQ(copy->size, 3);
    CHECK(ln_graph_find(copy, NUMBER(1)) != ln_graph_find(graph, NUMBER(1)));

    ln_graph_free(graph);
    CHECK_PTR_EQ(ln_graph_unlink(copy, NUMBER(3), NUMBER(1), a), a);
    CHECK_PTR_EQ(ln_graph_remove(copy, NUMBER(1)), NUMBER(1));
    check_consistent(copy);
    ln_graph_free(copy);

    copy = ln_graph_copy(graph = ln_graph_create(NULL, NULL));
    CHECK_EQ(copy->size, 0);
    ln_graph_free(copy);
    ln_graph_free(graph);
}

TEST(without_memory_graphs_stay_as_they_were)
{
    ln_graph *graph = draw(&(picture){4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 4});
    char before[512];
    strcpy(before, graph_text(graph));
    OOM_SWEEP(n)
    {
        ln_graph *copy = ln_graph_copy(graph);
        ln_list *layers, *order;
        int layer_count = ln_graph_topsort(graph, &layers);
        CHECK(layer_count == 3 || (layer_count == -1 && ln_error_status() == LN_NO_MEMORY));
        int node_count = ln_graph_dft_after_prev(graph, &order);
        CHECK(node_count == 4 || (node_count == -1 && ln_error_status() == LN_NO_MEMORY));
        if (copy) {
            check_consistent(copy);
            ln_graph_node *added = ln_graph_add(copy, NUMBER(4));
            CHECK_EQ(copy->size, added ? 5 : 4);
            size_t degree = ln_graph_find(copy, NUMBER(0))->outdegree;
            ln_status status = ln_graph_link(copy, NUMBER(0), NUMBER(3), NULL);
            CHECK_EQ(ln_graph_find(copy, NUMBER(0))->outdegree, degree + (status == LN_OK));
            check_consistent(copy);
        }
        ln_list_free(order);
        ln_graph_free_topsortlist(layers);
        ln_graph_free(copy);
    }
    check_consistent(graph);
    CHECK_STR_EQ(graph_text(graph), before);
    ln_graph_free(graph);
}

TEST(long_chains_do_not_recurse)
{
    enum { COUNT = 200000 };
    ln_graph *graph = ln_graph_create(NULL, NULL);
    ln_graph_node *previous = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        ln_graph_node *node = ln_graph_add(graph, NUMBER(0));
        if (previous)
            CHECK_OK(ln_graph_link_node(graph, previous, node, NULL));
        previous = node;
    }
    ln_list *list;
    CHECK_EQ(ln_graph_topsort(graph, &list), COUNT);
    ln_graph_free_topsortlist(list);
    CHECK_EQ(ln_graph_dft_after_prev(graph, &list), COUNT);
    ln_list_free(list);
    ln_graph_free(graph);
}

// ---- Random graphs ----

#define NODE_COUNT 40

// Edges lead up in a random ranking of the nodes, so there is no cycle.
static ln_graph *random_dag(test_random *random, size_t node_count, size_t edge_count)
{
    size_t rank[NODE_COUNT];
    for (size_t i = 0; i < node_count; i++) {
        size_t j = test_random_below(random, i + 1);
        rank[i] = rank[j];
        rank[j] = i;
    }
    ln_graph *graph = draw(&(picture){node_count, {{0}}, 0});
    for (size_t i = 0; i < edge_count && node_count > 1; i++) {
        size_t a = test_random_below(random, node_count);
        size_t b = test_random_below(random, node_count);
        if (a != b)
            CHECK_OK(ln_graph_link(graph, NUMBER(rank[a] < rank[b] ? a : b),
                                   NUMBER(rank[a] < rank[b] ? b : a), NULL));
    }
    return graph;
}

// Each node is in the layer after that of its last predecessor.
static void check_layers(const ln_graph *graph, const ln_list *layers)
{
    int layer_of[NODE_COUNT];
    memset(layer_of, -1, sizeof layer_of);
    int number = 0;
    size_t count = 0;
    const ln_list *layer;
    const ln_graph_node *node;
    LN_LIST_FOREACH (layer, layers) {
        LN_LIST_FOREACH (node, layer) {
            CHECK_EQ(layer_of[number_of(node)], -1);
            layer_of[number_of(node)] = number;
            count++;
        }
        number++;
    }
    CHECK_EQ(count, graph->size);
    LN_LIST_FOREACH (node, graph->nodes) {
        int last = -1;
        const ln_graph_edge_node *edge;
        LN_LIST_FOREACH (edge, node->in_edge_nodes) {
            int before = layer_of[number_of(edge->node)];
            last = before > last ? before : last;
        }
        CHECK_EQ(layer_of[number_of(node)], last + 1);
    }
}

static void check_walk(const ln_graph *graph, const ln_list *order)
{
    int seen[NODE_COUNT] = {0};
    const ln_graph_node *node;
    LN_LIST_FOREACH (node, order) {
        const ln_graph_edge_node *edge;
        LN_LIST_FOREACH (edge, node->in_edge_nodes)
            CHECK(seen[number_of(edge->node)]);
        CHECK(!seen[number_of(node)]);
        seen[number_of(node)] = 1;
    }
    CHECK_EQ(ln_list_length(order), (int)graph->size);
}

TEST(random_graphs_are_sorted_also_after_removals)
{
    test_random random = test_random_start();
    for (int round = 0; round < 300; round++) {
        size_t node_count = 1 + test_random_below(&random, NODE_COUNT);
        ln_graph *graph = random_dag(&random, node_count, test_random_below(&random, 100));
        for (size_t i = 0; i < node_count; i++) {
            ln_list *list;
            check_consistent(graph);
            CHECK(ln_graph_topsort(graph, &list) > 0);
            check_layers(graph, list);
            ln_graph_free_topsortlist(list);
            CHECK_EQ(ln_graph_dft_after_prev(graph, &list), (int)graph->size);
            check_walk(graph, list);
            ln_list_free(list);
            size_t victim = test_random_below(&random, graph->size);
            CHECK_NOT_NULL(
                ln_graph_remove_node(graph, ln_list_nth_data(graph->nodes, (int)victim)));
        }
        CHECK_EQ(graph->size, 0);
        ln_graph_free(graph);
    }
}

TEST(a_back_edge_makes_a_cycle)
{
    test_random random = test_random_start();
    for (int round = 0; round < 100; round++) {
        ln_graph *graph = random_dag(&random, NODE_COUNT, 60);
        const ln_graph_node *node = NULL;
        LN_LIST_FOREACH (node, graph->nodes) {
            if (node->outdegree > 0)
                break;
        }
        const ln_graph_edge_node *edge = node->out_edge_nodes->data;
        CHECK_OK(ln_graph_link(graph, edge->node->data, node->data, NULL));
        ln_list *list;
        CHECK_EQ(ln_graph_topsort(graph, &list), -1);
        CHECK_NULL(list);
        CHECK_EQ(ln_graph_dft_after_prev(graph, &list), -1);
        CHECK_NULL(list);
        ln_graph_free(graph);
    }
}

// In quadratic time this takes the better part of a minute.
TEST(a_node_of_many_edges_loses_them_from_the_end)
{
    enum { READER_COUNT = 100000 };
    ln_graph *graph = ln_graph_create(NULL, NULL);
    ln_graph_node *maker = ln_graph_add(graph, NUMBER(0));
    for (int i = 0; i < READER_COUNT; i++)
        CHECK_OK(ln_graph_link_node(graph, maker, ln_graph_add(graph, NUMBER(1)), NUMBER(2)));
    while (graph->last_node->data != maker)
        ln_graph_remove_node(graph, graph->last_node->data);
    CHECK_EQ(maker->outdegree, 0);
    CHECK_NULL(maker->out_edge_nodes);
    check_consistent(graph);
    ln_graph_free(graph);
}

TEST(parallel_edges_go_one_by_one_in_any_place)
{
    char a[] = "a", b[] = "b", c[] = "c";
    char *const all[] = {a, b, c};
    for (size_t first = 0; first < 3; first++) {
        ln_graph *graph = draw(&(picture){2, {{0, 0}}, 0});
        for (size_t i = 0; i < 3; i++)
            CHECK_OK(ln_graph_link(graph, NUMBER(0), NUMBER(1), all[i]));
        CHECK_PTR_EQ(ln_graph_unlink(graph, NUMBER(0), NUMBER(1), all[first]), all[first]);
        check_consistent(graph);
        CHECK_OK(ln_graph_link(graph, NUMBER(0), NUMBER(1), all[first]));
        check_consistent(graph);
        const ln_graph_node *node = ln_graph_find(graph, NUMBER(1));
        const ln_graph_edge_node *last = node->last_in->data;
        CHECK_PTR_EQ(last->edge_data, all[first]);
        for (size_t i = 0; i < 3; i++)
            CHECK_PTR_EQ(ln_graph_unlink(graph, NUMBER(0), NUMBER(1), all[i]), all[i]);
        check_consistent(graph);
        ln_graph_free(graph);
    }
}

TEST_LIST(degrees_count_edges, a_node_of_many_edges_loses_them_from_the_end,
          parallel_edges_go_one_by_one_in_any_place, outliers_have_no_edges,
          a_walk_visits_each_node_once_after_its_predecessors, sorting_makes_layers,
          nodes_and_edges_are_found_by_data, removing_a_node_takes_its_edges_along,
          nodes_of_other_graphs_are_refused, null_is_no_graph,
          a_graph_prints_one_line_for_each_node, a_copy_has_the_same_order_and_its_own_nodes,
          without_memory_graphs_stay_as_they_were, long_chains_do_not_recurse,
          random_graphs_are_sorted_also_after_removals, a_back_edge_makes_a_cycle)
