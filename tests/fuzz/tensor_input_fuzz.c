// SPDX-License-Identifier: Apache-2.0
// Any bytes as an input file of `lightnet run`: .npy, safetensors, params dictionary or raw.

#define _GNU_SOURCE // memfd_create

#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/tensor_input.h"

// In the place of cli/say.c, which would print.
void say_info(const char *fmt, ...)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int dims[][3] = {{2, 3, 1}, {0, 4, 4}, {16, 1, 1}};
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_UINT8, TL_BOOL};
    FUZZ_CHECK(ftruncate(fd, 0) == 0);
    FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        tl_tensor *like = tl_tensor_zeros(3, dims[i], dtypes[i]), *tensor;
        FUZZ_CHECK(like);
        if (tensor_read(path, "x", like, &tensor) == LN_OK) {
            FUZZ_CHECK(tensor->len == like->len && tensor->dtype == like->dtype);
            tl_tensor_free_data_too(tensor);
        } else {
            FUZZ_CHECK(!tensor);
        }
        tl_tensor_free_data_too(like);
    }
    return 0;
}
