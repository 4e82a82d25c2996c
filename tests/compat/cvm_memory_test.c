// SPDX-License-Identifier: Apache-2.0
// The array calls when memory runs out: a code, no crash, no leak.

#include <cvm/runtime/c_runtime_api.h>

#include "tests/oom.h"

static int make_and_fill(CVMArrayHandle *array)
{
    cvm_index_t shape[] = {2, 3};
    int slice[] = {0, 1, 0, 0, 1, 1, 2, 2};
    int code = CVMArrayAlloc(shape, 2, kDLInt, 32, 1, kDLCPU, 0, array);
    if (code == SUCCEED)
        code = CVMAssignAllScalar(*array, 3);
    if (code == SUCCEED)
        code = CVMAssignSliceScalar(*array, slice, 4);
    if (code == SUCCEED)
        code = CVMAssignSliceND(*array, slice, *array);
    return code == SUCCEED ? CVMArrayCopyFromTo(*array, *array, NULL) : code;
}

TEST(arrays_without_memory)
{
    OOM_SWEEP(n)
    {
        CVMArrayHandle array;
        int code = make_and_fill(&array);
        CHECK(code == SUCCEED || code == ERROR_RUNTIME);
        CVMArrayFree(array);
    }
    CHECK(n > 8);
}

// What a thread keeps for its results is made before; it goes with the thread.
TEST(dictionaries_without_memory)
{
    CVMArrayHandle array;
    cvm_index_t shape[] = {4};
    CHECK_EQ(CVMArrayAlloc(shape, 1, kDLInt, 8, 1, kDLCPU, 0, &array), SUCCEED);
    const void *params[] = {"a", array, "b", array};
    CVMByteArray bytes;
    char copy[256];
    CHECK_EQ(CVMSaveParamsDict(params, 4, &bytes), SUCCEED);
    CHECK(bytes.size < sizeof copy);
    memcpy(copy, bytes.data, bytes.size);
    size_t byte_count = bytes.size;
    int num, code;
    void **names, **values;
    for (size_t allowed = 0, is_done = 0; !is_done; allowed++) {
        test_oom oom;
        test_oom_start(&oom, allowed);
        long before = oom.live;
        code = CVMSaveParamsDict(params, 4, &bytes);
        CHECK(code == SUCCEED || (code == ERROR_RUNTIME && !bytes.data));
        int loaded = CVMLoadParamsDict(copy, (int)byte_count, &num, &names, &values);
        CHECK(loaded == SUCCEED || (loaded == ERROR_RUNTIME && num == 0));
        for (int i = 0; i < num; i++)
            CVMArrayFree(values[i]);
        is_done = oom.refused == 0;
        // At most the two results are new; they replace what an earlier round has counted.
        CHECK(oom.live - before <= 2);
        test_oom_stop();
    }
    CVMArrayFree(array);
}

TEST_LIST(arrays_without_memory, dictionaries_without_memory)
