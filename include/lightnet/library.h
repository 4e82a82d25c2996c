/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the library: what every program calls first and last. */

#ifndef LIGHTNET_LIBRARY_H
#define LIGHTNET_LIBRARY_H

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* Registers the archs and serializers that the library was built with. Called once before anything
 * else; further calls only count, and as many `ln_arch_cleanup` calls undo them. Thread-safe. */
LN_API ln_status ln_arch_init(void);
LN_API void ln_arch_cleanup(void);

LN_CPPEND

#endif
