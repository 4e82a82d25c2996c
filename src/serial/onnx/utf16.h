// SPDX-License-Identifier: Apache-2.0
// Texts that a program has written as UTF-16 where ONNX wants UTF-8.

#ifndef LN_SERIAL_ONNX_UTF16_H
#define LN_SERIAL_ONNX_UTF16_H

#include <stdbool.h>

#include "serial/onnx/wire.h"

// Bytes that the longest UTF-8 form of `byte_count` bytes takes, with the 0 after it.
#define LN_UTF16_CAPACITY(byte_count) ((byte_count) / 2 * 3 + 1)

// Little-endian UTF-16 without a 0 character becomes UTF-8, with a 0 after it, in `out`, which has
// LN_UTF16_CAPACITY(utf16.len) bytes. false if it is something else.
bool ln_utf16_to_utf8(ln_onnx_bytes utf16, char *out);

#endif
