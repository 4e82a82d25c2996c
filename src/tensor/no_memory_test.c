// SPDX-License-Identifier: Apache-2.0
// Every allocation of every routine fails once: no crash, no leak, LN_NO_MEMORY, sources unchanged.

#include <lightnet/tensor_file.h>

#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/test.h"

// Fails from the `left`-th allocation on, and counts blocks.
typedef struct failing_allocator {
    int left;
    int block_count;
} failing_allocator;

static void *failing_resize(void *user, void *p, size_t size)
{
    failing_allocator *a = user;
    if (a->left-- <= 0)
        return NULL;
    a->block_count += p == NULL;
    return realloc(p, size);
}

static void failing_release(void *user, void *p)
{
    ((failing_allocator *)user)->block_count--;
    free(p);
}

// ---- Each takes a [2, 3] float tensor and tells whether it succeeded ----

static int done(tl_tensor *t)
{
    tl_tensor_free_data_too(t);
    return t != NULL;
}

static int do_clone(tl_tensor *t)
{
    return done(tl_tensor_clone(t));
}
static int do_repeat(tl_tensor *t)
{
    return done(tl_tensor_repeat(t, 2));
}
static int do_slice(tl_tensor *t)
{
    return done(tl_tensor_slice(t, NULL, 1, 0, 2));
}
static int do_view(tl_tensor *t)
{
    return done(tl_tensor_slice_nocopy(t, NULL, 0, 0, 1));
}
static int do_concat(tl_tensor *t)
{
    return done(tl_tensor_concat(t, t, NULL, 1));
}
static int do_reshape(tl_tensor *t)
{
    return done(tl_tensor_reshape(t, 1, (int[]){6}));
}
static int do_transpose(tl_tensor *t)
{
    return done(tl_tensor_transpose(t, NULL, (int[]){1, 0}));
}
static int do_elew(tl_tensor *t)
{
    return done(tl_tensor_elew(t, t, NULL, TL_SUM));
}
static int do_maxreduce(tl_tensor *t)
{
    return done(tl_tensor_maxreduce(t, NULL, NULL, 0));
}
static int do_convert(tl_tensor *t)
{
    return done(tl_tensor_convert(t, NULL, TL_INT8));
}

static int do_reshape_src(tl_tensor *t)
{
    return tl_tensor_reshape_src(t, 4, (int[]){1, 2, 3, 1}) == LN_OK;
}

static int do_nearest(tl_tensor *t)
{
    return done(tl_tensor_resize(t, NULL, (int[]){1, 6}, TL_NEAREST));
}

static int do_linear(tl_tensor *t)
{
    return done(tl_tensor_resize(t, NULL, (int[]){1, 6}, TL_LINEAR));
}

static int do_sort(tl_tensor *t)
{
    (void)t;
    float keys[] = {3, 2, 1};
    tl_tensor *key = tl_tensor_create(keys, 1, (int[]){3}, TL_FLOAT);
    tl_tensor *val = key ? tl_tensor_clone(key) : NULL;
    int ok = val && tl_tensor_sort1d_by_key(key, val, TL_SORT_DIR_ASCENDING) == LN_OK &&
             tl_tensor_sort1d(key, TL_SORT_DIR_DESCENDING) == LN_OK;
    tl_tensor_free(key);
    tl_tensor_free_data_too(val);
    return ok;
}

static int do_save_and_open(tl_tensor *t)
{
    const char *path = LN_BUILD_DIR "/ln_no_memory_test.safetensors";
    const ln_named_tensor tensors[] = {{"a", t}, {"b", t}};
    ln_tensor_file *file = NULL;
    int ok = ln_tensor_file_save(path, LN_TENSOR_FILE_SAFETENSORS, tensors, 2) == LN_OK &&
             ln_tensor_file_open(path, &file) == LN_OK;
    for (int i = 0; i < 2; i++)
        ok = ok && ln_tensor_file_tensor(file, i);
    ln_tensor_file_close(file);
    remove(path);
    return ok;
}

static int do_open_wts(tl_tensor *t)
{
    (void)t;
    static const char text[] = "2\na 0 1 3f800000\nb 2 1 7f\n";
    ln_tensor_file *file;
    int ok = ln_tensor_file_open_mem(text, sizeof text - 1, &file) == LN_OK;
    ln_tensor_file_close(file);
    return ok;
}

static const struct {
    const char *name;
    int (*run)(tl_tensor *t);
} actions[] = {
#define ACTION(name)                                                                               \
    {                                                                                              \
#name, do_##name                                                                           \
    }
    ACTION(clone),     ACTION(repeat),  ACTION(slice),         ACTION(view),
    ACTION(concat),    ACTION(reshape), ACTION(transpose),     ACTION(elew),
    ACTION(maxreduce), ACTION(convert), ACTION(reshape_src),   ACTION(nearest),
    ACTION(linear),    ACTION(sort),    ACTION(save_and_open), ACTION(open_wts),
#undef ACTION
};

// The number of allocations that `run` needed.
static int sweep(const char *name, int (*run)(tl_tensor *t))
{
    for (int limit = 0; limit < 1000; limit++) {
        failing_allocator state = {.left = 1000};
        const ln_allocator allocator = {failing_resize, failing_release, &state};
        ln_allocator_set(&allocator);
        tl_tensor *t = tl_tensor_arange(0, 6, 1, TL_FLOAT);
        tl_tensor_reshape_src(t, 2, (int[]){2, 3});
        ln_error_clear();
        state.left = limit;
        int ok = run(t);
        ln_status status = ln_error_status();
        CHECK(((float *)t->data)[5] == 5);
        tl_tensor_free_data_too(t);
        ln_allocator_set(NULL);
        if (state.block_count != 0)
            fail_msg("%s leaks %d blocks after %d allocations", name, state.block_count, limit);
        if (ok)
            return limit;
        if (status != LN_NO_MEMORY)
            fail_msg("%s: %s after %d allocations", name, ln_status_name(status), limit);
    }
    fail_msg("%s never succeeds", name);
    return 0;
}

TEST(every_allocation_may_fail)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        CHECK(sweep(actions[i].name, actions[i].run) > 0);
}

TEST_LIST(every_allocation_may_fail)
