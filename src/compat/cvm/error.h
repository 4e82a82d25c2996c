// SPDX-License-Identifier: Apache-2.0
// Statuses of LightNet as codes of CVM. The message is the thread's, in both.

#ifndef LN_COMPAT_CVM_ERROR_H
#define LN_COMPAT_CVM_ERROR_H

#include <cvm/runtime/c_runtime_api.h>
#include <lightnet/status.h>

static inline int cvm_code(ln_status status)
{
    return status == LN_OK ? SUCCEED : ERROR_RUNTIME;
}

// Hands a failure to the caller, like LN_TRY.
#define CVM_TRY(expr)                                                                              \
    do {                                                                                           \
        if ((expr) != LN_OK)                                                                       \
            return ERROR_RUNTIME;                                                                  \
    } while (0)

// At the spot that knows why.
#define CVM_FAIL(code, ...) (ln_fail(LN_INVALID, __VA_ARGS__), (code))

#endif
