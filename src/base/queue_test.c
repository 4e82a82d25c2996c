// SPDX-License-Identifier: Apache-2.0
// The queue: first in, first out.

#include <lightnet/queue.h>

#include "tests/oom.h"
#include "tests/test.h"

static int numbers[] = {0, 1, 2, 3};

TEST(the_first_in_is_the_first_out)
{
    ln_queue *queue = ln_queue_create();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 4; i++)
            CHECK_PTR_EQ(ln_queue_enqueue(queue, &numbers[i]), queue);
        CHECK_EQ(queue->size, 4);
        CHECK_PTR_EQ(queue->head->data, &numbers[3]);
        CHECK_PTR_EQ(queue->tail->data, &numbers[0]);
        for (size_t i = 0; i < 4; i++)
            CHECK_PTR_EQ(ln_queue_dequeue(queue), &numbers[i]);
        CHECK_EQ(queue->size, 0);
        CHECK_NULL(queue->head);
        CHECK_NULL(queue->tail);
    }
    ln_queue_free(queue);
}

TEST(adding_and_removing_may_alternate)
{
    ln_queue *queue = ln_queue_enqueue(NULL, &numbers[0]);
    for (size_t i = 1; i < 100; i++) {
        queue = ln_queue_enqueue(queue, &numbers[i % 4]);
        CHECK_PTR_EQ(ln_queue_dequeue(queue), &numbers[(i - 1) % 4]);
        CHECK_EQ(queue->size, 1);
    }
    ln_queue_free(queue);
}

TEST(an_empty_queue_gives_null)
{
    ln_queue *queue = ln_queue_create();
    CHECK_NULL(ln_queue_dequeue(queue));
    CHECK_EQ(queue->size, 0);
    ln_queue_free(queue);
    CHECK_NULL(ln_queue_dequeue(NULL));
    CHECK_FAILS(ln_queue_try_enqueue(NULL, &numbers[0]), LN_INVALID);
    ln_queue_free(NULL);
}

TEST(without_memory_the_queue_stays_as_it_was)
{
    ln_queue *queue = ln_queue_enqueue(NULL, &numbers[0]);
    test_oom oom;
    test_oom_start(&oom, 0);
    CHECK_PTR_EQ(ln_queue_enqueue(queue, &numbers[1]), queue);
    CHECK_FAILS(ln_queue_try_enqueue(queue, &numbers[1]), LN_NO_MEMORY);
    test_oom_stop();
    CHECK_EQ(queue->size, 1);
    CHECK_PTR_EQ(ln_queue_dequeue(queue), &numbers[0]);
    ln_queue_free(queue);

    OOM_SWEEP(n)
    ln_queue_free(ln_queue_enqueue(NULL, &numbers[0]));
    CHECK_EQ(n, 2);
}

TEST_LIST(the_first_in_is_the_first_out, adding_and_removing_may_alternate,
          an_empty_queue_gives_null, without_memory_the_queue_stays_as_it_was)
