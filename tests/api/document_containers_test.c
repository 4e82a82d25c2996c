// SPDX-License-Identifier: Apache-2.0
// The containers as the data structure document writes their calls.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <stdlib.h>

typedef struct item {
    int key;
} item;

static int compare_items(const void *a, const void *b)
{
    const item *first = a, *second = b;
    return first->key - second->key;
}

static int freed_count;

static void count_free(void *p)
{
    freed_count++;
    free(p);
}

static item *new_item(int key)
{
    item *made = malloc(sizeof *made);
    made->key = key;
    return made;
}

static ln_list *list_of(item *items, int count)
{
    ln_list *list = NULL;
    for (int i = 0; i < count; i++) {
        items[i].key = i;
        list = ln_list_append(list, &items[i]);
    }
    return list;
}

static void check_keys(ln_list *list, const char *keys)
{
    char found[64] = "";
    item *entry;
    LN_LIST_FOREACH (entry, list)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d", entry->key);
    CHECK_STR_EQ(found, keys);
}

TEST(lists_grow_from_null_and_are_walked_both_ways)
{
    item first_data = {1}, second_data = {2};
    ln_list *list = NULL;
    list = ln_list_append(list, &first_data);
    list = ln_list_append(list, &second_data);
    list = ln_list_prepend(list, &(item){0});

    ln_list *l;
    item *op;
    int sum = 0, count = 0;
    for (l = list; l; l = l->next) {
        op = l->data;
        sum += op->key;
    }
    LN_LIST_FOREACH (op, list) {
        CHECK_EQ(op->key, count);
        count++;
    }
    CHECK_EQ(sum, 3);
    CHECK_EQ(count, 3);
    LN_LIST_FOREACH (op, NULL) {
        count = -1;
    }
    CHECK_EQ(count, 3);
    ln_list_free(list);
    ln_list_free(NULL);
}

TEST(lists_nest_and_foreach_breaks_and_continues)
{
    item items[3];
    ln_list *list = list_of(items, 3);
    item *outer, *inner;
    int pairs = 0;
    LN_LIST_FOREACH (outer, list) {
        if (outer->key == 1)
            continue;
        LN_LIST_FOREACH (inner, list) {
            if (inner->key == 2)
                break;
            pairs++;
        }
    }
    CHECK_EQ(pairs, 4);
    ln_list_free(list);
}

TEST(lists_are_searched_by_position_pointer_and_comparison)
{
    item items[5], foreign = {3}, missing = {9};
    ln_list *list = list_of(items, 5);
    CHECK_PTR_EQ(ln_list_nth(list, 1), list->next);
    CHECK_PTR_EQ(ln_list_nth_data(list, 4), &items[4]);
    CHECK_NULL(ln_list_nth_data(list, 5));
    CHECK_PTR_EQ(ln_list_find(list, &items[2]), &items[2]);
    CHECK_NULL(ln_list_find(list, &foreign));
    CHECK_PTR_EQ(ln_list_find_custom(list, &foreign, compare_items), &items[3]);
    CHECK_NULL(ln_list_find_custom(list, &missing, compare_items));
    CHECK_EQ(ln_list_position(list, list->next), 1);
    CHECK_EQ(ln_list_position(list, NULL), -1);
    CHECK_EQ(ln_list_index(list, &items[4]), 4);
    CHECK_EQ(ln_list_index(list, &foreign), -1);
    CHECK_EQ(ln_list_index_custom(list, &foreign, compare_items), 3);
    CHECK_EQ(ln_list_index_custom(list, &missing, compare_items), -1);
    CHECK_EQ(ln_list_length(list), 5);
    CHECK_EQ(ln_list_length(NULL), 0);
    list = ln_list_append(list, &foreign);
    ln_list *found = ln_list_find_all_custom(list, &foreign, compare_items);
    check_keys(found, "33");
    ln_list_free(found);
    ln_list_free(list);
}

TEST(lists_change_and_return_their_new_head)
{
    item items[5], x = {7};
    ln_list *list = list_of(items, 5);
    list = ln_list_insert_before(list, &x, list);
    check_keys(list, "701234");
    list = ln_list_remove(list, &x);
    check_keys(list, "01234");
    list = ln_list_insert_nth(list, &x, 2);
    check_keys(list, "017234");
    list = ln_list_remove_nth(list, 2);
    list = ln_list_remove_nth(list, 0);
    check_keys(list, "1234");
    list = ln_list_remove_custom(list, &(item){3}, compare_items);
    check_keys(list, "124");
    list = ln_list_reverse(list);
    check_keys(list, "421");
    ln_list *copy = ln_list_copy(list);
    check_keys(copy, "421");
    CHECK(copy != list);
    CHECK_PTR_EQ(copy->data, list->data);
    ln_list_free(copy);
    ln_list_free(list);
}

TEST(deep_removals_free_their_elements)
{
    ln_list *list = NULL;
    for (int i = 0; i < 6; i++)
        list = ln_list_append(list, new_item(i % 3));
    freed_count = 0;
    list = ln_list_remove_nth_deep(list, 0, count_free);
    check_keys(list, "12012");
    list = ln_list_remove_custom_deep(list, &(item){1}, compare_items, count_free);
    check_keys(list, "2012");
    list = ln_list_remove_all_custom_deep(list, &(item){2}, compare_items, count_free);
    check_keys(list, "01");
    CHECK_EQ(freed_count, 4);
    ln_list_free_deep(list, count_free);
    CHECK_EQ(freed_count, 6);
}

TEST(lists_hold_the_numbers_of_an_array_as_pointers)
{
    size_t array[] = {3, 0, 5};
    ln_list *list = ln_list_from_array_size_t(array, 3);
    CHECK_EQ(ln_list_length(list), 3);
    CHECK_EQ((size_t)ln_list_nth_data(list, 0), 3);
    CHECK_EQ((size_t)ln_list_nth_data(list, 1), 0);
    CHECK_EQ((size_t)list->next->next->data, 5);
    ln_list_free(list);
    CHECK_NULL(ln_list_from_array_size_t(NULL, 0));
}

TEST(queues_are_first_in_first_out)
{
    int a = 1, b = 2;
    ln_queue *queue = ln_queue_create();
    CHECK_EQ(queue->size, 0);
    CHECK_NULL(ln_queue_dequeue(queue));
    queue = ln_queue_enqueue(queue, &a);
    queue = ln_queue_enqueue(queue, &b);
    CHECK_EQ(queue->size, 2);
    CHECK_NOT_NULL(queue->head);
    CHECK_NOT_NULL(queue->tail);
    CHECK_PTR_EQ(ln_queue_dequeue(queue), &a);
    CHECK_PTR_EQ(ln_queue_dequeue(queue), &b);
    ln_queue_free(queue);

    ln_queue *made = ln_queue_enqueue(NULL, &a);
    CHECK_EQ(made->size, 1);
    ln_queue_free(made);
}

TEST(stacks_are_last_in_first_out)
{
    int a = 1, b = 2;
    ln_stack *stack = ln_stack_create();
    CHECK_NULL(ln_stack_pop(stack));
    stack = ln_stack_push(stack, &a);
    stack = ln_stack_push(stack, &b);
    CHECK_EQ(stack->size, 2);
    CHECK_PTR_EQ(stack->top->data, &b);
    CHECK_PTR_EQ(ln_stack_pop(stack), &b);
    CHECK_PTR_EQ(ln_stack_pop(stack), &a);
    CHECK_EQ(stack->size, 0);
    ln_stack_free(stack);
}

static uint32_t hash_text(const void *key)
{
    const char *text = key;
    return (uint32_t)(text[0] * 31 + text[1]);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(hashes_are_initialised_from_an_array_that_ends_with_nulls)
{
    ln_hash_init_entry init_array[] = {
        {"one", "1"},
        {"two", "2"},
        {NULL, NULL},
    };
    ln_hash *hash = ln_hash_create(hash_text, compare_texts, NULL, NULL);
    ln_hash_init(hash, init_array);
    CHECK_EQ(ln_hash_size(hash), 2);
    CHECK_STR_EQ((char *)ln_hash_find(hash, "two"), "2");
    CHECK_NULL(ln_hash_find(hash, "three"));
    ln_hash_free(hash);

    struct ln_hash_init_entry one = {.key = "k", .value = "v"};
    CHECK_STR_EQ((char *)one.key, "k");
}

TEST(hashes_insert_find_replace_and_remove)
{
    freed_count = 0;
    ln_hash *hash = ln_hash_create_full(hash_text, compare_texts, free, count_free, 2, 0.5f);
    for (char c = 'a'; c < 'z'; c++) {
        char *key = calloc(1, 3);
        key[0] = c;
        CHECK_EQ(ln_hash_insert(hash, key, new_item(c)), 1);
    }
    CHECK_EQ(ln_hash_size(hash), 25);
    char *key = calloc(1, 3);
    key[0] = 'c';
    CHECK_EQ(ln_hash_insert(hash, key, new_item(5)), 0);
    CHECK_EQ(freed_count, 1);
    CHECK_EQ(((item *)ln_hash_find(hash, "c"))->key, 5);

    const ln_hash *read_only = hash;
    void *found_key, *found_value;
    CHECK_EQ(ln_hash_find_extended(read_only, "d", &found_key, &found_value), 1);
    CHECK_STR_EQ((char *)found_key, "d");
    CHECK_EQ(((item *)found_value)->key, 'd');
    CHECK_EQ(ln_hash_find_extended(read_only, "d", NULL, NULL), 1);
    CHECK_EQ(ln_hash_find_extended(read_only, "zz", &found_key, &found_value), 0);
    CHECK_EQ(ln_hash_remove(hash, "d"), 1);
    CHECK_EQ(ln_hash_remove(hash, "d"), 0);
    CHECK_EQ(freed_count, 2);
    ln_hash_free(hash);
    CHECK_EQ(freed_count, 26);
}

TEST(hashes_tell_null_values_from_missing_ones)
{
    ln_hash *hash = ln_hash_create(hash_text, compare_texts, NULL, NULL);
    ln_hash_insert(hash, "n", NULL);
    CHECK_NULL(ln_hash_find(hash, "n"));
    CHECK_EQ(ln_hash_find_extended(hash, "n", NULL, NULL), 1);
    ln_hash_remove(hash, "n");
    ln_hash_free(hash);
}

static void print_number(FILE *fp, const void *data)
{
    fprintf(fp, "%d", *(const int *)data);
}

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

TEST(graphs_link_find_and_unlink)
{
    int numbers[5] = {0, 1, 2, 3, 4}, edge = 10, other_edge = 11;
    ln_graph *graph = ln_graph_create(compare_numbers, compare_numbers);
    ln_graph_node *nodes[5];
    for (int i = 0; i < 5; i++)
        nodes[i] = ln_graph_add(graph, &numbers[i]);
    CHECK_EQ(graph->size, 5);
    CHECK_EQ(ln_list_length(graph->nodes), 5);
    CHECK_PTR_EQ(ln_graph_find(graph, &(int){3}), nodes[3]);
    CHECK_NULL(ln_graph_find(graph, &(int){7}));
    ln_graph_link(graph, &numbers[0], &numbers[1], &edge);
    ln_graph_link(graph, &numbers[0], &numbers[2], &edge);
    ln_graph_link_node(graph, nodes[1], nodes[3], &edge);
    ln_graph_link_node(graph, nodes[2], nodes[3], &other_edge);
    CHECK_EQ(ln_graph_num_outlier(graph), 1);
    CHECK_EQ(nodes[0]->outdegree, 2);
    CHECK_EQ(nodes[3]->indegree, 2);
    ln_graph_edge_node *edge_node = nodes[0]->out_edge_nodes->data;
    CHECK_PTR_EQ(edge_node->node, nodes[1]);
    CHECK_PTR_EQ(edge_node->edge_data, &edge);
    edge_node = nodes[3]->in_edge_nodes->data;
    CHECK_PTR_EQ(edge_node->node, nodes[1]);

    ln_graph *copy = ln_graph_copy(graph);
    CHECK_EQ(copy->size, 5);
    CHECK(ln_graph_find(copy, &numbers[3]) != nodes[3]);
    CHECK_EQ(ln_graph_find(copy, &numbers[3])->indegree, 2);
    ln_graph_free(copy);

    CHECK_NULL(ln_graph_unlink(graph, &numbers[0], &numbers[1], &other_edge));
    CHECK_PTR_EQ(ln_graph_unlink(graph, &numbers[0], &numbers[1], &edge), &edge);
    CHECK_PTR_EQ(ln_graph_unlink_node(nodes[2], nodes[3], NULL), &other_edge);
    CHECK_EQ(nodes[0]->outdegree, 1);
    CHECK_EQ(nodes[3]->indegree, 1);
    ln_graph_free(graph);
}

TEST(graphs_are_sorted_in_layers)
{
    int numbers[5] = {0, 1, 2, 3, 4}, edge = 10;
    ln_graph *graph = ln_graph_create(compare_numbers, compare_numbers);
    for (int i = 0; i < 5; i++)
        ln_graph_add(graph, &numbers[i]);
    ln_graph_link(graph, &numbers[0], &numbers[1], &edge);
    ln_graph_link(graph, &numbers[0], &numbers[2], &edge);
    ln_graph_link(graph, &numbers[1], &numbers[3], &edge);
    ln_graph_link(graph, &numbers[2], &numbers[3], &edge);
    ln_graph_link(graph, &numbers[3], &numbers[4], &edge);
    ln_list *layers;
    CHECK_EQ(ln_graph_topsort(graph, &layers), 4);
    CHECK_EQ(ln_list_length(layers), 4);
    CHECK_EQ(ln_list_length(layers->next->data), 2);
    ln_graph_free_topsortlist(layers);

    char *text;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    ln_graph_fprint(fp, graph, print_number, print_number);
    fclose(fp);
    CHECK(strstr(text, "10"));
    free(text);

    ln_graph_link(graph, &numbers[4], &numbers[0], &edge);
    CHECK_EQ(ln_graph_topsort(graph, &layers), -1);
    ln_graph_free(graph);
}

TEST(graph_nodes_stand_alone)
{
    int number = 1, edge = 2;
    ln_graph_node *node = ln_graph_node_create(&number, compare_numbers);
    CHECK_PTR_EQ(node->data, &number);
    CHECK_NOT_NULL(node->node_data_cmp);
    ln_graph_edge_node *edge_node = ln_graph_edge_node_create(&edge, node, compare_numbers);
    CHECK_PTR_EQ(edge_node->node, node);
    CHECK_NOT_NULL(edge_node->edge_data_cmp);
    ln_graph_edge_node_free(edge_node);
    ln_graph_node_free(node);
}

TEST_LIST(lists_grow_from_null_and_are_walked_both_ways,
          lists_nest_and_foreach_breaks_and_continues,
          lists_are_searched_by_position_pointer_and_comparison,
          lists_change_and_return_their_new_head, deep_removals_free_their_elements,
          lists_hold_the_numbers_of_an_array_as_pointers, queues_are_first_in_first_out,
          stacks_are_last_in_first_out, hashes_are_initialised_from_an_array_that_ends_with_nulls,
          hashes_insert_find_replace_and_remove, hashes_tell_null_values_from_missing_ones,
          graphs_link_find_and_unlink, graphs_are_sorted_in_layers, graph_nodes_stand_alone)
