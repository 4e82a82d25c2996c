/* SPDX-License-Identifier: Apache-2.0 */
/* A singly linked list of pointers. NULL is the empty list; every node keeps real data.
 *
 *     ln_list *list = NULL;
 *     list = ln_list_append(list, first_data);
 *
 * Functions that return a list return its newest first node; use it from then on. When memory is
 * gone they return the list UNCHANGED and record LN_NO_MEMORY; `ln_list_push` and its siblings
 * say it by their result. Elements belong to the caller, except where a function is "deep".
 *
 * Positions count from 0. A comparison is called as cmp(element, data) and says "equal" with 0;
 * a NULL comparison compares the pointers. A NULL free function frees nothing.
 * Reading a list from several threads is fine while none changes it.
 */

#ifndef LIGHTNET_LIST_H
#define LIGHTNET_LIST_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>
#include <lightnet/util.h>

LN_CPPSTART

struct ln_list {
    void *data;
    struct ln_list *next;
};
typedef struct ln_list ln_list;

/* Runs the following statement with `elem` set to each element in order:
 *
 *     ln_op *op;
 *     LN_LIST_FOREACH (op, list) {
 *         ...
 *     }
 *
 * The list must not be altered meanwhile. Loops nest; `break` and `continue` work. */
#define LN_LIST_FOREACH(elem, list) LN_LIST_FOREACH_AT(elem, list, __LINE__)

/* __LINE__ has become a number here, so that each loop has its own variable. */
#define LN_LIST_FOREACH_AT(elem, list, line) LN_LIST_FOREACH_IN(elem, list, line)
#define LN_LIST_FOREACH_IN(elem, list, line) LN_LIST_FOREACH_NODE(elem, list, ln_list_node_##line)
#define LN_LIST_FOREACH_NODE(elem, list, node)                                                     \
    for (const ln_list *node = (list); node && ((elem) = (__typeof__(elem))node->data, 1);         \
         node = node->next)

/* ---- Growing ---- */

/* Adds `data` at the beginning. O(1). */
LN_API ln_list *ln_list_prepend(ln_list *list, void *data);

/* Adds `data` at the end. O(length): build long lists with an ln_list_builder. */
LN_API ln_list *ln_list_append(ln_list *list, void *data);

/* Adds `data` before `node`; at the end if `node` is NULL or not in the list. */
LN_API ln_list *ln_list_insert_before(ln_list *list, void *data, ln_list *node);

/* Adds `data` so that it is the nth element; at the end if `n` is negative or not below the
 * length. */
LN_API ln_list *ln_list_insert_nth(ln_list *list, void *data, int n);

/* Append and prepend with a status; *list stays as it was on failure. Appending is O(length). The
 * library itself grows lists with these and with builders only. */
LN_API LN_MUST_USE ln_status ln_list_push(ln_list **list, void *data);
LN_API LN_MUST_USE ln_status ln_list_push_front(ln_list **list, void *data);

/* The same as the nth element, as `ln_list_insert_nth` counts. */
LN_API LN_MUST_USE ln_status ln_list_push_nth(ln_list **list, void *data, int n);

/* Appends in O(1). Start with {0}; `list` is the list so far and the caller's to free. While
 * building, change the list through the builder only. */
typedef struct ln_list_builder {
    ln_list *list;
    ln_list *last;
} ln_list_builder;

LN_API LN_MUST_USE ln_status ln_list_builder_push(ln_list_builder *builder, void *data);

/* ---- Freeing ---- */

/* Frees all nodes. */
LN_API void ln_list_free(ln_list *list);

/* Frees all nodes as well as their elements. */
LN_API void ln_list_free_deep(ln_list *list, void (*free_func)(void *));

/* ---- Removing: the list as it was if nothing matches ---- */

/* Removes the first node whose element is the pointer `data`. */
LN_API ln_list *ln_list_remove(ln_list *list, const void *data);

/* Removes the nth node. */
LN_API ln_list *ln_list_remove_nth(ln_list *list, int n);

/* Removes the nth node and frees its element. */
LN_API ln_list *ln_list_remove_nth_deep(ln_list *list, int n, void (*free_func)(void *));

/* Removes the first node whose element compares equal to `data`. */
LN_API ln_list *ln_list_remove_custom(ln_list *list, const void *data, ln_cmp_func cmp);

/* The same, and frees its element. */
LN_API ln_list *ln_list_remove_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                           void (*free_func)(void *));

/* Removes all nodes whose elements compare equal to `data`, and frees the elements. `data` must
 * not itself be one of the freed elements. */
LN_API ln_list *ln_list_remove_all_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                               void (*free_func)(void *));

/* ---- Looking up ---- */

/* The nth node; NULL if there is none. */
LN_API ln_list *ln_list_nth(ln_list *list, int n);

/* The nth element; NULL if there is none. */
LN_API void *ln_list_nth_data(const ln_list *list, int n);

/* `data` if the pointer is an element, else NULL. */
LN_API void *ln_list_find(const ln_list *list, const void *data);

/* The first element that compares equal to `data`; NULL if there is none. */
LN_API void *ln_list_find_custom(const ln_list *list, const void *data, ln_cmp_func cmp);

/* All elements that compare equal to `data`, in a new list that the caller frees. NULL if there is
 * none, and with a recorded LN_NO_MEMORY when memory is gone. */
LN_API ln_list *ln_list_find_all_custom(const ln_list *list, const void *data, ln_cmp_func cmp);

/* The position of `node`; -1 if it is NULL or not in the list. */
LN_API int ln_list_position(const ln_list *list, const ln_list *node);

/* The position of the first element that is the pointer `data`; -1 if there is none. */
LN_API int ln_list_index(const ln_list *list, const void *data);

/* The position of the first element that compares equal to `data`; -1 if there is none. */
LN_API int ln_list_index_custom(const ln_list *list, const void *data, ln_cmp_func cmp);

/* The number of elements; 0 for NULL. O(length). */
LN_API int ln_list_length(const ln_list *list);

/* ---- The whole list ---- */

/* Reverses the nodes in place. */
LN_API ln_list *ln_list_reverse(ln_list *list);

/* A new list of the `n` numbers of `array`, each cast to a pointer. NULL if `n` is 0, and with a
 * recorded failure if `array` is NULL or memory is gone. */
LN_API ln_list *ln_list_from_array_size_t(const size_t *array, size_t n);

/* A new list of the same elements. NULL for NULL, and with a recorded LN_NO_MEMORY when memory is
 * gone. */
LN_API ln_list *ln_list_copy(const ln_list *list);

LN_CPPEND

#endif
