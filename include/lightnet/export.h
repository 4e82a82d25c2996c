/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the functions that leave the shared library; everything else is hidden. */

#ifndef LIGHTNET_EXPORT_H
#define LIGHTNET_EXPORT_H

#define LN_API __attribute__((visibility("default")))

/* Format checking for printf-like functions: `fmt` and `args` are argument positions from 1. */
#define LN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* The result must be looked at. */
#define LN_MUST_USE __attribute__((warn_unused_result))

#ifdef __cplusplus
#define LN_CPPSTART extern "C" {
#define LN_CPPEND   }
#else
#define LN_CPPSTART
#define LN_CPPEND
#endif

#endif
