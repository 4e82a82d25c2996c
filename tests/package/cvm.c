// SPDX-License-Identifier: Apache-2.0
// A program of the old library outside the project, as C and as C++.

#include <stdio.h>

#include <cvm/runtime/c_runtime_api.h>
#include <lightnet/ndarray.h>

int main(void)
{
    cvm_index_t shape[] = {2, 3};
    CVMContext device = {kDLFORMAL, 0};
    CVMArrayHandle array;
    int total[6], sum = 0;
    if (CVMArrayAlloc(shape, 2, kDLInt, 32, 1, device.device_type, device.device_id, &array) !=
            SUCCEED ||
        CVMAssignAllScalar(array, 7) != SUCCEED ||
        CVMArrayCopyToBytes(array, total, sizeof total) != SUCCEED) {
        fprintf(stderr, "%s\n", CVMGetLastError());
        return 1;
    }
    for (int i = 0; i < 6; i++)
        sum += total[i];
    CVMArrayFree(array);
    return sum == 42 && CVMArrayAlloc(shape, -1, kDLInt, 32, 1, 1, 0, &array) == ERROR_RUNTIME &&
                   CVMGetLastError()[0] != '\0'
               ? 0
               : 1;
}
