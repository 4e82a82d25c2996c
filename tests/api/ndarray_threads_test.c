// SPDX-License-Identifier: Apache-2.0
// Arrays in threads: holders come and go everywhere, each writes its own, the last one frees.

#include <pthread.h>
#include <stdatomic.h>

#include <lightnet/ndarray.h>

#include "tests/test.h"

#define THREADS 4
#define ROUNDS  300
#define COUNT   64

typedef struct worker {
    ln_ndarray *array; // this thread's handle
    int number;
    int failures;
} worker;

static atomic_int released;

static void count_release(void *user)
{
    (void)user;
    atomic_fetch_add(&released, 1);
}

// Every element is `value`.
static int is_all(const ln_ndarray *array, int32_t value)
{
    int32_t numbers[COUNT];
    if (ln_ndarray_get_bytes(array, numbers, sizeof numbers) != LN_OK)
        return 0;
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != value)
            return 0;
    return 1;
}

static void write_own(worker *w, int32_t value)
{
    ln_ndarray *own = ln_ndarray_retain(w->array);
    int32_t *data;
    if (ln_ndarray_write(&own, (void **)&data) != LN_OK)
        w->failures++;
    else
        for (int i = 0; i < COUNT; i++)
            data[i] = value;
    w->failures += !is_all(own, value) + !is_all(w->array, 7);
    ln_ndarray_release(own);
}

static void hand_out(worker *w)
{
    ln_ndarray *view, *again;
    if (ln_ndarray_reshape(w->array, 2, (int64_t[]){8, COUNT / 8}, &view) != LN_OK ||
        ln_ndarray_from_dlpack(ln_ndarray_to_dlpack(view), &again) != LN_OK) {
        w->failures++;
        return;
    }
    ln_ndarray_release(view);
    w->failures += !is_all(again, 7);
    ln_ndarray_release(again);
}

static void *work(void *argument)
{
    worker *w = argument;
    for (int i = 0; i < ROUNDS; i++) {
        write_own(w, 100 * w->number + i);
        hand_out(w);
    }
    // The last one who writes need not copy; the others must have by then.
    int32_t *data;
    w->failures += ln_ndarray_write(&w->array, (void **)&data) != LN_OK;
    for (int i = 0; i < COUNT; i++)
        data[i] = w->number;
    w->failures += !is_all(w->array, w->number);
    ln_ndarray_release(w->array);
    return NULL;
}

static void run_workers(ln_ndarray *array)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        workers[i] = (worker){.array = ln_ndarray_retain(array), .number = i + 1};
    ln_ndarray_release(array);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(workers[i].failures, 0);
}

TEST(handles_of_one_array_part_in_threads)
{
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){COUNT}, tl_dtype_to_dl(TL_INT32), &array));
    CHECK_OK(ln_ndarray_fill(array, 7));
    run_workers(array);
}

TEST(foreign_memory_is_given_back_once_and_untouched)
{
    int32_t numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = 7;
    DLTensor tensor = {.data = numbers,
                       .device = {kDLCPU, 0},
                       .ndim = 1,
                       .dtype = tl_dtype_to_dl(TL_INT32),
                       .shape = (int64_t[]){COUNT}};
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_wrap(&tensor, false, count_release, NULL, &array));
    run_workers(array);
    CHECK_EQ(atomic_load(&released), 1);
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(numbers[i], 7);
}

TEST_LIST(handles_of_one_array_part_in_threads, foreign_memory_is_given_back_once_and_untouched)
