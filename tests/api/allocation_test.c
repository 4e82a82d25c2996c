// SPDX-License-Identifier: Apache-2.0
// Memory: a run allocates nothing, and running out of memory anywhere else neither crashes nor
// leaks.

#include <stdatomic.h>

#include "tests/api/model.h"
#include "tests/oom.h"
#include "tests/sanitizer.h"

#define DIGITS LN_SOURCE_DIR "/models/digits/"

// ---- Counting the C library's own allocator ----

#if TEST_ASAN || TEST_TSAN || !defined(__GLIBC__)
#define COUNTS_MALLOC 0
static atomic_size_t malloc_count;
#else
#define COUNTS_MALLOC 1
static atomic_size_t malloc_count; // of all threads

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    malloc_count++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    malloc_count++;
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    malloc_count++;
    return __libc_realloc(p, size);
}
#endif

static ln_context *load_digits(const char *target)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init(ctx, DIGITS "digits.net"));
    CHECK_OK(ln_context_compile(ctx, target));
    CHECK_OK(ln_context_load(ctx, DIGITS "digits.safetensors"));
    return ctx;
}

TEST(a_run_allocates_nothing)
{
    CHECK_OK(ln_arch_init());
    static const char *const targets[] = {"cpu", "ref"};
    for (size_t t = 0; t < 2; t++) {
        ln_context *ctx = load_digits(targets[t]);
        float image[64] = {0};
        float prob[10];
        test_oom counter;
        test_oom_start(&counter, SIZE_MAX);
        size_t before = malloc_count;
        for (int i = 0; i < 3; i++) {
            image[i] = 1;
            CHECK_OK(ln_context_set_data(ctx, "image", image));
            CHECK_OK(ln_context_run(ctx));
            CHECK_NOT_NULL(ln_context_get_data(ctx, "prob", prob));
        }
        size_t after = malloc_count;
        test_oom_stop();
        CHECK_EQ(counter.requests, 0);
        CHECK_EQ(after, before);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// A model below the sources, without its file of weights.
static ln_context *load_model(const char *name, size_t thread_count)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", LN_SOURCE_DIR, name);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_set_threads(ctx, thread_count));
    CHECK_OK(ln_context_init(ctx, path));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void check_model(const char *name, size_t thread_count)
{
    ln_context *ctx = load_model(name, thread_count);
    CHECK_EQ(ln_context_thread_count(ctx), thread_count);
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    size_t before = malloc_count;
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_run(ctx));
    size_t after = malloc_count;
    test_oom_stop();
    close_context(ctx);
    if (counter.requests > 0 || after != before)
        fail_msg("%s with %zu threads: %zu requests of the library, %zu of the C library", name,
                 thread_count, counter.requests, after - before);
}

// From the first run on, with and without workers.
TEST(models_run_without_allocating)
{
    static const char *const models[] = {
        "tests/models/encoder.net",      "tests/models/excite.net",  "tests/models/recurrent.net",
        "tests/models/calls.net",        "models/squeezenet1_1.net", "models/mobilenet_v2.net",
        "models/shufflenet_v2_x1_0.net", "models/resnet18.net",      "models/inception_v1.net",
        "models/densenet121.net",        "models/yolov3_tiny.net",   "models/shuffledet.net"};
    CHECK_OK(ln_arch_init());
    size_t count = COUNTS_MALLOC ? sizeof models / sizeof models[0] : 4;
    for (size_t i = 0; i < count; i++) {
        for (size_t thread_count = 1; thread_count <= 2; thread_count++)
            check_model(models[i], thread_count);
    }
    ln_arch_cleanup();
}

TEST(the_counter_of_mallocs_counts)
{
    if (!COUNTS_MALLOC)
        SKIP("a sanitizer owns malloc in this build");
    size_t before = malloc_count;
    ln_free(ln_alloc(100));
    CHECK(malloc_count > before);
}

// All steps of the demo, each as far as memory allows.
static void live_through_the_demo(void)
{
    if (ln_arch_init() != LN_OK)
        return;
    ln_context *ctx = ln_context_create();
    if (ctx && ln_context_init(ctx, DIGITS "digits.net") == LN_OK &&
        ln_context_compile(ctx, "cpu") == LN_OK &&
        ln_context_load(ctx, DIGITS "digits.safetensors") == LN_OK) {
        char *text;
        size_t len;
        CHECK_OK(ln_context_run(ctx));
        if (ln_context_write(ctx, "ir", &text, &len) == LN_OK)
            ln_free(text);
    }
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(running_out_of_memory_neither_crashes_nor_leaks)
{
    OOM_SWEEP(n)
    {
        live_through_the_demo();
    }
    CHECK(n > 100); // the sweep met the allocations it is about
}

// Undoing needs memory too. Where there is none at all, the model is dropped as a whole; it is
// never left half changed.
TEST(a_compile_without_memory_leaves_the_old_model_or_none)
{
    CHECK_OK(ln_arch_init());
    for (size_t allowed = 0;; allowed += 7) {
        ln_context *ctx = ln_context_create();
        CHECK_OK(ln_context_init_mem(ctx, CONV_MODEL, strlen(CONV_MODEL), NULL));
        test_oom oom;
        test_oom_start(&oom, allowed);
        ln_status status = ln_context_compile(ctx, "cpu");
        test_oom_stop();
        if (status == LN_OK) {
            close_context(ctx);
            break;
        }
        CHECK_EQ(status, LN_NO_MEMORY);
        CHECK(ln_context_check(ctx));
        if (ctx->state == LN_CONTEXT_EMPTY) {
            CHECK_OK(ln_context_init_mem(ctx, CONV_MODEL, strlen(CONV_MODEL), NULL));
        }
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        CHECK_OK(ln_context_run(ctx));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Compiling ----

#define MAX_REQUESTS 100 // for one operator

// A chain of operators that rules match and passes lower.
static char *write_chain(size_t count)
{
    static const char *const rows[] = {
        "sigmoid(src=t%zu | dst=t%zu |);\n", "transpose(src=t%zu | dst=t%zu | axes=[1, 0, 2]);\n",
        "relu(src=t%zu | dst=t%zu |);\n", "reshape(src=t%zu | dst=t%zu | dims=[2, 2, 2]);\n"};
    char *text = malloc(64 * (count + 2)), *at = text;
    CHECK_NOT_NULL(text);
    at += sprintf(at, "input(| dst=t0 | dtype=TL_FLOAT, dims=[2, 2, 2]);\n");
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, rows[i % 4], i, i + 1);
    return text;
}

// Requests for memory while a chain is compiled.
static size_t count_requests(size_t op_count)
{
    char *text = write_chain(op_count);
    ln_context *ctx = open_text(text);
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    ln_status status = ln_context_compile(ctx, "cpu");
    test_oom_stop();
    CHECK_OK(status);
    close_context(ctx);
    free(text);
    return counter.requests;
}

// What a rule or a pass does at each operator does not depend on how many there are; and it is
// little: to parse defaults at each match would make about a hundred requests more.
TEST(compiling_takes_memory_in_proportion_to_the_operators)
{
    CHECK_OK(ln_arch_init());
    size_t none = count_requests(4), some = count_requests(200), many = count_requests(800);
    printf("%zu requests for 4 operators, %zu for 200, %zu for 800\n", none, some, many);
    CHECK((some - none) / 196 <= MAX_REQUESTS);
    CHECK((many - some) / 600 <= (some - none) / 196 + 1);
    ln_arch_cleanup();
}

TEST_LIST(a_run_allocates_nothing, models_run_without_allocating, the_counter_of_mallocs_counts,
          running_out_of_memory_neither_crashes_nor_leaks,
          a_compile_without_memory_leaves_the_old_model_or_none,
          compiling_takes_memory_in_proportion_to_the_operators)
