// SPDX-License-Identifier: Apache-2.0
// Objects: who holds what, what a meter counts, and that deep nesting is taken apart.

#include <lightnet/object.h>

#include <pthread.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "tensor/meter.h"
#include "tests/oom.h"
#include "tests/test.h"

static ln_object *new_vector(int len, ln_meter *meter)
{
    ln_object *object = ln_object_new_tensor(TL_FLOAT, 1, &len, meter);
    for (int i = 0; object && i < len; i++)
        ((float *)ln_object_tensor(object)->data)[i] = (float)i;
    return object;
}

TEST(tensors_start_as_zeros_and_copies_are_apart)
{
    int dims[] = {2, 2};
    ln_object *zeros = ln_object_new_tensor(TL_INT32, 2, dims, NULL);
    CHECK_EQ(ln_object_get_kind(zeros), LN_OBJECT_TENSOR);
    CHECK_EQ(ln_object_elem_dtype(zeros), TL_INT32);
    CHECK_MEM_EQ(ln_object_tensor(zeros)->data, ((int32_t[]){0, 0, 0, 0}), 16);
    ln_object *copy = ln_object_copy_tensor(ln_object_tensor(zeros), NULL);
    CHECK(ln_object_tensor(copy)->data != ln_object_tensor(zeros)->data);
    CHECK_EQ(ln_object_tensor(copy)->dims[1], 2);
    CHECK_EQ(ln_object_count(copy), 0);
    ln_object_release(zeros);
    ln_object_release(copy);
    ln_object_release(NULL);
}

TEST(a_reshaped_tensor_shares_its_elements_and_outlives_its_source)
{
    ln_object *row = new_vector(6, NULL);
    ln_object *matrix = ln_object_reshape(row, 2, (int[]){2, 3});
    ln_object *column = ln_object_reshape(matrix, 2, (int[]){6, 1});
    CHECK_PTR_EQ(ln_object_tensor(matrix)->data, ln_object_tensor(row)->data);
    CHECK_NULL(ln_object_reshape(row, 1, (int[]){5}));
    ln_object_release(row);
    ln_object_release(matrix);
    CHECK(((float *)ln_object_tensor(column)->data)[5] == 5);
    ln_object_release(column);
}

TEST(strings_are_copied_and_replaced)
{
    ln_meter *meter = ln_meter_create(SIZE_MAX);
    ln_object *words = ln_object_new_tensor(TL_STRING, 1, (int[]){2}, meter);
    size_t empty_bytes = ln_meter_bytes(meter);
    CHECK_OK(ln_object_set_string(words, 0, "longer than that", 6));
    CHECK_OK(ln_object_set_string(words, 0, "a\0b", 3));
    const char *const *strings = ln_object_tensor(words)->data;
    CHECK_STR_EQ(strings[0], "a");
    CHECK_NULL(strings[1]);
    CHECK_EQ(ln_meter_bytes(meter), empty_bytes + 32); // the least that a block takes
    CHECK_FAILS(ln_object_set_string(words, 2, "", 0), LN_INVALID);

    ln_object *copy = ln_object_copy_tensor(ln_object_tensor(words), NULL);
    ln_object_release(words);
    strings = ln_object_tensor(copy)->data;
    CHECK_STR_EQ(strings[0], "a");
    ln_object_release(copy);
    CHECK_EQ(ln_meter_bytes(meter), 0);
    ln_meter_release(meter);
}

TEST(containers_hold_their_items)
{
    ln_object *a = new_vector(1, NULL), *b = new_vector(2, NULL);
    ln_object *sequence = ln_object_new_sequence(TL_FLOAT, 2, (ln_object *[]){a, b});
    ln_object *map = ln_object_new_map(a, a);
    ln_object *some = ln_object_new_optional(sequence), *none = ln_object_new_optional(NULL);
    ln_object_release(a);
    ln_object_release(b);
    ln_object_release(sequence);

    CHECK_EQ(ln_object_count(some), 1);
    CHECK_EQ(ln_object_count(none), 0);
    CHECK_NULL(ln_object_item(none, 0));
    sequence = ln_object_item(some, 0);
    CHECK_EQ(ln_object_get_kind(sequence), LN_OBJECT_SEQUENCE);
    CHECK_EQ(ln_object_elem_dtype(sequence), TL_FLOAT);
    CHECK_EQ(ln_object_tensor(ln_object_item(sequence, 1))->len, 2);
    CHECK_NULL(ln_object_item(sequence, 2));
    CHECK_NULL(ln_object_tensor(sequence));
    CHECK_EQ(ln_object_count(map), 2);
    ln_object_release(some);
    ln_object_release(none);
    ln_object_release(map);
}

TEST(items_that_do_not_fit_are_refused)
{
    ln_object *a = new_vector(1, NULL), *b = new_vector(2, NULL);
    ln_object *sequence = ln_object_new_sequence(TL_FLOAT, 0, NULL);
    CHECK_NOT_NULL(sequence);
    CHECK_NULL(ln_object_new_sequence(TL_INT32, 1, &a));
    CHECK_NULL(ln_object_new_sequence(TL_FLOAT, 2, (ln_object *[]){a, NULL}));
    CHECK_NULL(ln_object_new_sequence(TL_FLOAT, 2, (ln_object *[]){a, sequence}));
    CHECK_NULL(ln_object_new_sequence(TL_DTYPE_INVALID, 0, NULL));
    CHECK_NULL(ln_object_new_map(a, b));
    CHECK_NULL(ln_object_new_map(a, sequence));
    CHECK_NULL(ln_object_new_tensor(TL_OBJECT, 0, NULL, NULL));
    CHECK_NULL(ln_object_new_tensor(TL_FLOAT, 1, (int[]){-1}, NULL));
    CHECK_NULL(ln_object_copy_tensor(NULL, NULL));
    ln_object_release(sequence);
    ln_object_release(a);
    ln_object_release(b);
}

TEST(a_tensor_of_an_object_is_copied_as_that_object)
{
    ln_object *a = new_vector(3, NULL);
    tl_tensor holder = {.dtype = TL_OBJECT, .len = 1, .data = &a};
    ln_object *same = ln_object_copy_tensor(&holder, NULL);
    CHECK_PTR_EQ(same, a);
    ln_object_release(a);
    CHECK_EQ(ln_object_tensor(same)->len, 3);
    ln_object_release(same);
    a = NULL;
    CHECK_NULL(ln_object_copy_tensor(&holder, NULL));
}

TEST(a_meter_counts_refuses_and_remembers_its_peak)
{
    ln_meter *meter = ln_meter_create(100000);
    ln_object *a = new_vector(10000, meter);
    CHECK(ln_meter_bytes(meter) >= 40000);
    ln_object *b = new_vector(10000, meter);
    size_t both = ln_meter_bytes(meter);
    CHECK_NULL(new_vector(10000, meter));
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK_EQ(ln_meter_bytes(meter), both);
    ln_object_release(b);
    CHECK_EQ(ln_meter_peak(meter), both);
    ln_meter_reset_peak(meter);
    CHECK_EQ(ln_meter_peak(meter), ln_meter_bytes(meter));
    ln_object *sequence = ln_object_new_sequence(TL_FLOAT, 1, &a);
    ln_object_release(a);
    ln_object_release(sequence);
    CHECK_EQ(ln_meter_bytes(meter), 0);
    ln_meter_release(meter);
}

TEST(what_is_charged_is_what_the_blocks_take)
{
    CHECK_EQ(ln_meter_block(0), 32);
    CHECK_EQ(ln_meter_block(24), 32);
    CHECK_EQ(ln_meter_block(25), 48);
    CHECK_EQ(ln_meter_block(40), 48);
    CHECK_EQ(ln_meter_block(1000), 1008);
    CHECK_EQ(ln_meter_block(SIZE_MAX - 3), SIZE_MAX);

    ln_meter *meter = ln_meter_create(100000);
    ln_object *words = ln_object_new_tensor(TL_STRING, 1, (int[]){4000}, meter);
    size_t set = 0;
    while (set < 4000 && ln_object_set_string(words, set, "a", 1) == LN_OK)
        set++;
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK(set > 1900 && set < 2200); // 32 bytes each beside 4000 pointers
    CHECK_EQ(ln_meter_left(meter), 100000 - ln_meter_bytes(meter));
    ln_object_release(words);
    CHECK_EQ(ln_meter_left(meter), 100000);
    ln_meter_release(meter);
    CHECK_EQ(ln_meter_left(NULL), SIZE_MAX);
}

// ---- Blocks that a meter keeps ----

TEST(what_was_let_go_is_used_again)
{
    ln_meter *meter = ln_meter_create(SIZE_MAX);
    ln_meter_keep_at_most(meter, 10000);
    test_oom counter;
    for (int round = 0; round < 3; round++) {
        test_oom_start(&counter, SIZE_MAX);
        ln_object *vector = new_vector(100, meter);
        ln_object *words = ln_object_new_tensor(TL_STRING, 1, (int[]){3}, meter);
        CHECK_OK(ln_object_set_string(words, 0, "a word of some length", 21));
        CHECK_OK(ln_object_set_string(words, 0, "another", 7));
        CHECK_NULL(((char **)ln_object_tensor(words)->data)[2]); // zeros, as new
        ln_object_release(vector);
        ln_object_release(words);
        test_oom_stop();
        CHECK_EQ(counter.requests > 0, round == 0);
        CHECK_EQ(ln_meter_bytes(meter), 0);
        CHECK(ln_meter_kept_bytes(meter) > 400);
    }
    ln_meter_keep_at_most(meter, 0);
    CHECK_EQ(ln_meter_kept_bytes(meter), 0);
    ln_object_release(new_vector(100, meter));
    CHECK_EQ(ln_meter_kept_bytes(meter), 0);
    ln_meter_release(meter);
}

static size_t requests_for(int len, ln_meter *meter)
{
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    ln_object_release(new_vector(len, meter));
    test_oom_stop();
    return counter.requests;
}

TEST(a_kept_block_may_be_a_little_longer_than_needed)
{
    ln_meter *meter = ln_meter_create(SIZE_MAX);
    ln_meter_keep_at_most(meter, 10000);
    CHECK_EQ(requests_for(200, meter), 1);
    CHECK_EQ(requests_for(190, meter), 0);
    CHECK_EQ(requests_for(200, meter), 0); // it has stayed as long as it was
    CHECK_EQ(requests_for(20, meter), 1);
    CHECK_EQ(requests_for(201, meter), 1);
    ln_meter_release(meter);
}

// What sizes leave behind that do not come again makes way for those that do.
TEST(kept_blocks_stay_within_their_bound)
{
    ln_meter *meter = ln_meter_create(SIZE_MAX);
    ln_meter_keep_at_most(meter, 20000);
    for (int len = 1; len < 4000; len += 7) {
        ln_object_release(new_vector(len, meter));
        CHECK(ln_meter_kept_bytes(meter) > 0);
        CHECK(ln_meter_kept_bytes(meter) <= 20000);
    }
    size_t kept = ln_meter_kept_bytes(meter);
    ln_object_release(new_vector(10000, meter)); // alone above the bound
    CHECK_EQ(ln_meter_kept_bytes(meter), kept);
    ln_meter_release(meter);
}

// Sizes that do not come again leave nothing for long; those that do are never made anew.
TEST(kept_blocks_that_runs_do_not_need_are_freed)
{
    ln_meter *meter = ln_meter_create(SIZE_MAX);
    ln_meter_keep_at_most(meter, SIZE_MAX);
    size_t most = 0;
    for (int run = 0; run < 1000; run++) {
        ln_meter_begin_run(meter);
        ln_object_release(new_vector(2000 - run, meter));
        CHECK_EQ(requests_for(50, meter), run == 0);
        size_t kept = ln_meter_kept_bytes(meter);
        most = kept > most ? kept : most;
    }
    CHECK(most < 17 * 9000);
    for (int run = 0; run < 17; run++)
        ln_meter_begin_run(meter);
    CHECK_EQ(ln_meter_kept_bytes(meter), 0);
    ln_meter_release(meter);
}

TEST(kept_blocks_never_stand_in_the_way_of_the_limit)
{
    ln_meter *meter = ln_meter_create(100000);
    ln_meter_keep_at_most(meter, 100000);
    ln_object_release(new_vector(10000, meter));
    CHECK(ln_meter_kept_bytes(meter) > 40000);
    ln_object *large = new_vector(20000, meter);
    CHECK_NOT_NULL(large);
    CHECK(ln_meter_bytes(meter) + ln_meter_kept_bytes(meter) <= 100000);
    ln_object_release(large);
    ln_meter_release(meter);
}

static void *make_and_release(void *user)
{
    for (int i = 0; i < 2000; i++) {
        ln_object *a = new_vector(1 + i % 50, user), *b = new_vector(1 + i % 7, user);
        ln_object_release(a);
        ln_object_release(b);
    }
    return NULL;
}

TEST(threads_share_what_a_meter_keeps)
{
    ln_meter *meter = ln_meter_create(SIZE_MAX);
    ln_meter_keep_at_most(meter, 1000);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, make_and_release, meter), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(ln_meter_bytes(meter), 0);
    CHECK(ln_meter_kept_bytes(meter) <= 1000);
    ln_meter_release(meter);
}

TEST(deep_nesting_is_taken_apart_without_a_deep_stack)
{
    ln_object *object = ln_object_new_optional(NULL);
    for (int i = 0; i < 1000000; i++) {
        ln_object *outer = ln_object_new_optional(object);
        ln_object_release(object);
        object = outer;
    }
    ln_object_release(object);
}

static ln_status build_and_take_apart(void)
{
    ln_meter *meter = ln_meter_create(1 << 20);
    if (!meter)
        return LN_NO_MEMORY;
    ln_object *words = ln_object_new_tensor(TL_STRING, 1, (int[]){2}, meter);
    ln_status status = words ? ln_object_set_string(words, 1, "word", 4) : LN_NO_MEMORY;
    ln_object *copy = words ? ln_object_copy_tensor(ln_object_tensor(words), meter) : NULL;
    ln_object *view = copy ? ln_object_reshape(copy, 2, (int[]){2, 1}) : NULL;
    ln_object *sequence = view ? ln_object_new_sequence(TL_STRING, 1, &view) : NULL;
    if (!sequence)
        status = LN_NO_MEMORY;
    ln_object_release(words);
    ln_object_release(copy);
    ln_object_release(view);
    ln_object_release(sequence);
    size_t left = ln_meter_bytes(meter);
    ln_meter_release(meter);
    return left ? LN_INTERNAL : status;
}

TEST(every_allocation_may_fail)
{
    OOM_SWEEP(allowed)
    {
        ln_status status = build_and_take_apart();
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
    }
}

TEST_LIST(tensors_start_as_zeros_and_copies_are_apart,
          a_reshaped_tensor_shares_its_elements_and_outlives_its_source,
          strings_are_copied_and_replaced, containers_hold_their_items,
          items_that_do_not_fit_are_refused, a_tensor_of_an_object_is_copied_as_that_object,
          a_meter_counts_refuses_and_remembers_its_peak, what_is_charged_is_what_the_blocks_take,
          what_was_let_go_is_used_again, a_kept_block_may_be_a_little_longer_than_needed,
          kept_blocks_stay_within_their_bound, kept_blocks_that_runs_do_not_need_are_freed,
          kept_blocks_never_stand_in_the_way_of_the_limit, threads_share_what_a_meter_keeps,
          deep_nesting_is_taken_apart_without_a_deep_stack, every_allocation_may_fail)
