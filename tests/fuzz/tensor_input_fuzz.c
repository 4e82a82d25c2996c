// SPDX-License-Identifier: Apache-2.0
// Any bytes as an input file of `lightnet run`: .npy, .npz, pictures, sound, safetensors, params
// dictionary, lines or raw; for inputs of every kind.

#define _GNU_SOURCE // memfd_create

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/inputs/input_file.h"
#include "cli/inputs/npy.h"

// In the place of cli/say.c, which would print.
void say_info(const char *fmt, ...)
{
    (void)fmt;
}

void say_warning(const char *fmt, ...)
{
    (void)fmt;
}

static int fd;
static char path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    fd = memfd_create("input", 0);
    FUZZ_CHECK(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return 0;
}

static const input_wish wishes[] = {
    {.name = "x", .dtype = TL_FLOAT, .ndim = 3, .dims = {2, 3, 1}},
    {.name = "x", .dtype = TL_UINT8, .ndim = 3, .dims = {0, 4, 4}},
    {.name = "x", .dtype = TL_BOOL, .ndim = 1, .dims = {16}},
    {.name = "x", .dtype = TL_BFLOAT16, .ndim = -1},
    {.name = "x", .dtype = TL_STRING, .ndim = 2, .dims = {-1, 2}},
    {.name = "x", .dtype = TL_FLOAT4E2M1, .ndim = 1, .dims = {-1}},
    {.name = "x", .dtype = TL_COMPLEX64, .ndim = -1},
    {.name = "x", .dtype = TL_UINT8, .ndim = 1, .dims = {-1}}, // encoded pictures
    {.name = "x", .dtype = TL_FLOAT16, .ndim = 4, .dims = {1, 3, 4, 4}},
    {.name = "x", .dtype = TL_FLOAT, .ndim = 4, .dims = {-1, -1, -1, 1}},
    {.name = "x", .dtype = TL_INT16, .ndim = 2, .dims = {1, -1}}, // sound
    {.name = "x", .dtype = TL_OBJECT, .ndim = -1, .elem_dtype = TL_DTYPE_INVALID},
    {.name = "x", .dtype = TL_OBJECT, .kind = LN_OBJECT_OPTIONAL},
};

static void check_value(const input_wish *wish, ln_object *value)
{
    const tl_tensor *tensor = ln_object_tensor(value);
    if (wish->dtype == TL_OBJECT)
        return;
    FUZZ_CHECK(tensor && tensor->dtype == wish->dtype);
    FUZZ_CHECK(wish->ndim < 0 || tensor->ndim == wish->ndim);
    for (int i = 0; i < wish->ndim; i++)
        FUZZ_CHECK(wish->dims[i] < 0 || wish->dims[i] == tensor->dims[i]);
    FUZZ_CHECK(npy_write("/dev/null", tensor) == LN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const input_options options = {.mean = {1, 2, 3}, .is_bgr = 1};
    FUZZ_CHECK(ftruncate(fd, 0) == 0);
    FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        ln_object *value;
        if (input_read(path, &wishes[i], i % 2 ? &options : NULL, &value) == LN_OK) {
            FUZZ_CHECK(value);
            check_value(&wishes[i], value);
            ln_object_release(value);
        } else {
            FUZZ_CHECK(!value);
        }
    }
    return 0;
}
