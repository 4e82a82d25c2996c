// SPDX-License-Identifier: Apache-2.0
// Damaged TensorFlow Lite models: each seed of the fuzz target cut off at each byte, and with each
// byte changed, gives a model or an error with a message; what is a model compiles and runs, or
// fails.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "tests/oom.h"
#include "tests/sanitizer.h"
#include "tests/test.h"

#define FOLDER LN_SOURCE_DIR "/tests/fuzz/tflite"

static size_t read_count, refused_count;
static ln_read_options options; // of the seed

static void run(ln_context *ctx)
{
    if (ln_context_compile(ctx, "ref") == LN_OK && ln_context_load(ctx, NULL) == LN_OK)
        (void)ln_context_run(ctx);
}

static void try_bytes(const char *bytes, size_t len)
{
    // In memory of its own, so that what is read past the end is noticed.
    char *exact = malloc(len ? len : 1);
    CHECK(exact);
    memcpy(exact, bytes, len);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 16 << 20;
    limits.op_count = 2000;
    limits.work = 1e7;
    ln_context *ctx = ln_context_create();
    CHECK(ctx);
    ln_context_set_limits(ctx, &limits);
    ln_status status = ln_context_init_mem_with(ctx, exact, len, "damaged", &options);
    free(exact);
    if (status == LN_OK) {
        read_count++;
        run(ctx);
    } else {
        refused_count++;
        CHECK(*ln_error_message() != '\0');
        CHECK(status != LN_INTERNAL);
        CHECK(!strstr(ln_error_message(), "defect"));
    }
    ln_context_free(ctx);
}

// Calls `f` for each seed.
static void each_seed(void (*f)(char *bytes, size_t len))
{
    size_t count = 0;
    CHECK_OK(ln_arch_init());
    DIR *folder = opendir(FOLDER);
    CHECK(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        char path[1024], bytes[1 << 14];
        snprintf(path, sizeof path, FOLDER "/%s", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file)
            continue;
        size_t len = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        CHECK(len > 0 && len < sizeof bytes);
        options.rounding = strcmp(entry->d_name, "reference") == 0 ? "reference" : NULL;
        f(bytes, len);
        count++;
    }
    closedir(folder);
    ln_arch_cleanup();
    CHECK(count >= 5);
}

static void try_whole(char *bytes, size_t len)
{
    size_t before = read_count;
    try_bytes(bytes, len);
    CHECK(read_count == before + 1);
}

// Between bytes; no unit of the format is three or nine bytes long.
static size_t step(void)
{
    return test_share(3) == 1 ? 3 : 1;
}

static void cut(char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += step())
        try_bytes(bytes, i);
}

static void change(char *bytes, size_t len)
{
    static const unsigned char masks[] = {0xff, 0x01};
    for (size_t i = 0; i < len; i += step()) {
        for (size_t k = 0; k < (TEST_ASAN ? 1 : sizeof masks); k++) {
            bytes[i] = (char)(bytes[i] ^ masks[k]);
            try_bytes(bytes, len);
            bytes[i] = (char)(bytes[i] ^ masks[k]);
        }
    }
}

static void starve(char *bytes, size_t len)
{
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? ln_context_init_mem_with(ctx, bytes, len, "starved", &options) : LN_NO_MEMORY;
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
}

TEST(a_reader_without_memory_says_so)
{
    each_seed(starve);
}

TEST(each_seed_is_a_model)
{
    each_seed(try_whole);
}

TEST(a_model_cut_off_anywhere_is_read_or_refused)
{
    refused_count = 0;
    each_seed(cut);
    CHECK(refused_count > 100);
}

TEST(a_model_with_any_byte_changed_is_read_or_refused)
{
    read_count = refused_count = 0;
    each_seed(change);
    CHECK(read_count > 100 && refused_count > 100);
}

TEST_LIST(each_seed_is_a_model, a_reader_without_memory_says_so,
          a_model_cut_off_anywhere_is_read_or_refused,
          a_model_with_any_byte_changed_is_read_or_refused)
