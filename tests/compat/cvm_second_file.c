// SPDX-License-Identifier: Apache-2.0
// The header a second time in one program: its constants are no objects that meet in the linker.

#include <cvm/runtime/c_runtime_api.h>

int cvm_codes_elsewhere(void);

int cvm_codes_elsewhere(void)
{
    return SUCCEED + ERROR_LOGIC + ERROR_RUNTIME;
}
