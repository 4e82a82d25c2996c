// SPDX-License-Identifier: Apache-2.0
// The version of the library that runs.

#include <lightnet/version.h>

const char *ln_version(void)
{
    return LN_VERSION;
}
