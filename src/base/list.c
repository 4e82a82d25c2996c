// SPDX-License-Identifier: Apache-2.0
// The singly linked list.
//
// A link is the place that holds a pointer to a node: the caller's variable or a node's `next`.
// Finding a link instead of a node makes the first node like all others.

#include <lightnet/list.h>

#include <stdint.h>

#include <lightnet/allocator.h>

static ln_list *node_create(void *data, ln_list *next)
{
    ln_list *node = ln_alloc(sizeof *node);
    if (!node)
        return NULL;
    node->data = data;
    node->next = next;
    return node;
}

// The nth link; the last one, which is NULL, if there are fewer or `n` is negative.
static ln_list **link_nth(ln_list **link, int n)
{
    for (; *link && n != 0; link = &(*link)->next)
        n -= n > 0;
    return link;
}

static int matches(const void *element, const void *data, ln_cmp_func cmp)
{
    return cmp ? cmp(element, data) == 0 : element == data;
}

static ln_list **link_matching(ln_list **link, const void *data, ln_cmp_func cmp)
{
    while (*link && !matches((*link)->data, data, cmp))
        link = &(*link)->next;
    return link;
}

// Takes the node out of its link; the last link stays as it is.
static void link_cut(ln_list **link, void (*free_func)(void *))
{
    ln_list *node = *link;
    if (!node)
        return;
    *link = node->next;
    if (free_func)
        free_func(node->data);
    ln_free(node);
}

// ---- Growing ----

ln_status ln_list_push_front(ln_list **list, void *data)
{
    if (!list)
        return LN_FAIL(LN_INVALID, "no list to push to");
    ln_list *node = node_create(data, *list);
    if (!node)
        return LN_NO_MEMORY;
    *list = node;
    return LN_OK;
}

ln_status ln_list_push(ln_list **list, void *data)
{
    return ln_list_push_front(list ? link_nth(list, -1) : NULL, data);
}

ln_status ln_list_push_nth(ln_list **list, void *data, int n)
{
    return ln_list_push_front(list ? link_nth(list, n) : NULL, data);
}

ln_status ln_list_builder_push(ln_list_builder *builder, void *data)
{
    ln_list *node = node_create(data, NULL);
    if (!node)
        return LN_NO_MEMORY;
    if (builder->last)
        builder->last->next = node;
    else
        builder->list = node;
    builder->last = node;
    return LN_OK;
}

// Adds `data` where `link` is, which is `list` or a link in it; returns the list also on failure.
static ln_list *insert_at(ln_list **list, ln_list **link, void *data)
{
    ln_list *node = node_create(data, *link);
    if (node)
        *link = node;
    return *list;
}

ln_list *ln_list_prepend(ln_list *list, void *data)
{
    return insert_at(&list, &list, data);
}

ln_list *ln_list_append(ln_list *list, void *data)
{
    return insert_at(&list, link_nth(&list, -1), data);
}

ln_list *ln_list_insert_before(ln_list *list, void *data, ln_list *node)
{
    ln_list **link = &list;
    while (*link && *link != node)
        link = &(*link)->next;
    return insert_at(&list, link, data);
}

ln_list *ln_list_insert_nth(ln_list *list, void *data, int n)
{
    return insert_at(&list, link_nth(&list, n), data);
}

// ---- Freeing ----

void ln_list_free(ln_list *list)
{
    ln_list_free_deep(list, NULL);
}

void ln_list_free_deep(ln_list *list, void (*free_func)(void *))
{
    while (list)
        link_cut(&list, free_func);
}

// ---- Removing ----

ln_list *ln_list_remove(ln_list *list, const void *data)
{
    return ln_list_remove_custom_deep(list, data, NULL, NULL);
}

ln_list *ln_list_remove_nth(ln_list *list, int n)
{
    return ln_list_remove_nth_deep(list, n, NULL);
}

ln_list *ln_list_remove_nth_deep(ln_list *list, int n, void (*free_func)(void *))
{
    link_cut(link_nth(&list, n), free_func);
    return list;
}

ln_list *ln_list_remove_custom(ln_list *list, const void *data, ln_cmp_func cmp)
{
    return ln_list_remove_custom_deep(list, data, cmp, NULL);
}

ln_list *ln_list_remove_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                    void (*free_func)(void *))
{
    link_cut(link_matching(&list, data, cmp), free_func);
    return list;
}

ln_list *ln_list_remove_all_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                        void (*free_func)(void *))
{
    for (ln_list **link = link_matching(&list, data, cmp); *link;
         link = link_matching(link, data, cmp))
        link_cut(link, free_func);
    return list;
}

// ---- Looking up ----

ln_list *ln_list_nth(ln_list *list, int n)
{
    return *link_nth(&list, n);
}

void *ln_list_nth_data(const ln_list *list, int n)
{
    for (; list && n != 0; list = list->next)
        n -= n > 0;
    return list ? list->data : NULL;
}

// The first node that matches, NULL if none does; *out_position counts the nodes before it.
static const ln_list *node_matching(const ln_list *list, const void *data, ln_cmp_func cmp,
                                    int *out_position)
{
    int position = 0;
    for (; list && !matches(list->data, data, cmp); list = list->next)
        position++;
    *out_position = position;
    return list;
}

void *ln_list_find(const ln_list *list, const void *data)
{
    return ln_list_find_custom(list, data, NULL);
}

void *ln_list_find_custom(const ln_list *list, const void *data, ln_cmp_func cmp)
{
    int position;
    const ln_list *node = node_matching(list, data, cmp, &position);
    return node ? node->data : NULL;
}

ln_list *ln_list_find_all_custom(const ln_list *list, const void *data, ln_cmp_func cmp)
{
    ln_list_builder found = {0};
    for (; list; list = list->next) {
        if (!matches(list->data, data, cmp))
            continue;
        if (ln_list_builder_push(&found, list->data) != LN_OK) {
            ln_list_free(found.list);
            return NULL;
        }
    }
    return found.list;
}

int ln_list_position(const ln_list *list, const ln_list *node)
{
    int position = 0;
    for (; list; list = list->next, position++)
        if (list == node)
            return position;
    return -1;
}

int ln_list_index(const ln_list *list, const void *data)
{
    return ln_list_index_custom(list, data, NULL);
}

int ln_list_index_custom(const ln_list *list, const void *data, ln_cmp_func cmp)
{
    int position;
    return node_matching(list, data, cmp, &position) ? position : -1;
}

int ln_list_length(const ln_list *list)
{
    int length = 0;
    for (; list; list = list->next)
        length++;
    return length;
}

// ---- The whole list ----

ln_list *ln_list_reverse(ln_list *list)
{
    ln_list *reversed = NULL;
    while (list) {
        ln_list *next = list->next;
        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

ln_list *ln_list_from_array_size_t(const size_t *array, size_t n)
{
    if (n > 0 && !array) {
        ln_fail(LN_INVALID, "no array for a list of %zu elements", n);
        return NULL;
    }
    ln_list_builder made = {0};
    for (size_t i = 0; i < n; i++) {
        if (ln_list_builder_push(&made, (void *)(uintptr_t)array[i]) != LN_OK) {
            ln_list_free(made.list);
            return NULL;
        }
    }
    return made.list;
}

ln_list *ln_list_copy(const ln_list *list)
{
    ln_list_builder copy = {0};
    for (; list; list = list->next) {
        if (ln_list_builder_push(&copy, list->data) != LN_OK) {
            ln_list_free(copy.list);
            return NULL;
        }
    }
    return copy.list;
}
