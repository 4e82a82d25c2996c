/* SPDX-License-Identifier: Apache-2.0 */
/* A first-in first-out queue of pointers. Elements belong to the caller. */

#ifndef LIGHTNET_QUEUE_H
#define LIGHTNET_QUEUE_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/list.h>
#include <lightnet/status.h>

LN_CPPSTART

/* Elements enter at the head and leave at the tail; both are O(1). The list runs from the tail,
 * the oldest element, to the head, the newest. */
struct ln_queue {
    ln_list *head;
    ln_list *tail;
    size_t size;
};
typedef struct ln_queue ln_queue;

/* An empty queue; NULL when memory is gone. */
LN_API ln_queue *ln_queue_create(void);

/* Frees the queue, not its elements. NULL is fine. */
LN_API void ln_queue_free(ln_queue *queue);

/* Adds `data` at the head and returns the queue, which is a new one if `queue` is NULL.
 * When memory is gone returns `queue` unchanged and records LN_NO_MEMORY. */
LN_API ln_queue *ln_queue_enqueue(ln_queue *queue, void *data);

/* The same with a status; LN_INVALID if `queue` is NULL. */
LN_API LN_MUST_USE ln_status ln_queue_try_enqueue(ln_queue *queue, void *data);

/* Removes and returns the element at the tail; NULL if the queue is empty or NULL. */
LN_API void *ln_queue_dequeue(ln_queue *queue);

LN_CPPEND

#endif
