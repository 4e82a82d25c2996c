// SPDX-License-Identifier: Apache-2.0
// The leaves this library was built with; the tables are generated from the folders.

#ifndef LN_COMPILE_BUILTIN_H
#define LN_COMPILE_BUILTIN_H

#include <lightnet/arch.h>
#include <lightnet/serializer.h>

extern ln_arch *const ln_builtin_archs[];             // NULL-terminated
extern ln_serializer *const ln_builtin_serializers[]; // NULL-terminated

#endif
