/* SPDX-License-Identifier: Apache-2.0 */
/* The library's version, as compiled against and as linked. */

#ifndef LIGHTNET_VERSION_H
#define LIGHTNET_VERSION_H

#include <lightnet/export.h>

LN_CPPSTART

#define LN_VERSION_MAJOR 0
#define LN_VERSION_MINOR 1
#define LN_VERSION_PATCH 0
#define LN_VERSION       "0.1.0"

/* The version of the library that runs, such as "0.1.0". */
LN_API const char *ln_version(void);

LN_CPPEND

#endif
