// SPDX-License-Identifier: Apache-2.0
// The queue: a list that grows at its end, which is the queue's head, and shrinks at its start.

#include <lightnet/queue.h>

#include <lightnet/allocator.h>

ln_queue *ln_queue_create(void)
{
    return ln_alloc(sizeof(ln_queue));
}

void ln_queue_free(ln_queue *queue)
{
    if (!queue)
        return;
    ln_list_free(queue->tail);
    ln_free(queue);
}

ln_status ln_queue_try_enqueue(ln_queue *queue, void *data)
{
    if (!queue)
        return LN_FAIL(LN_INVALID, "no queue to add to");
    ln_list_builder elements = {.list = queue->tail, .last = queue->head};
    LN_TRY(ln_list_builder_push(&elements, data));
    queue->tail = elements.list;
    queue->head = elements.last;
    queue->size++;
    return LN_OK;
}

ln_queue *ln_queue_enqueue(ln_queue *queue, void *data)
{
    ln_queue *target = queue ? queue : ln_queue_create();
    if (!target)
        return NULL;
    if (ln_queue_try_enqueue(target, data) != LN_OK && !queue) {
        ln_queue_free(target);
        return NULL;
    }
    return target;
}

void *ln_queue_dequeue(ln_queue *queue)
{
    if (!queue || !queue->tail)
        return NULL;
    void *data = queue->tail->data;
    queue->tail = ln_list_remove_nth(queue->tail, 0);
    if (!queue->tail)
        queue->head = NULL;
    queue->size--;
    return data;
}
