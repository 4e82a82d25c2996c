// SPDX-License-Identifier: Apache-2.0
// FlexBuffers, in which custom operators have their options: a map of names to numbers, read in
// place, each offset checked against its bytes.
//
//     ... | value of the root | its type | its width in bytes |     offsets lead back
//     map: | offset of keys | width of keys | count | values ... | a type for each |

#ifndef LN_SERIAL_TFLITE_FLEX_H
#define LN_SERIAL_TFLITE_FLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ln_flex {
    const uint8_t *bytes;
    size_t len;
} ln_flex;

// The number or the flag `key` of the map at the root; `absent` if there is none, or none that can
// be read.
double ln_flex_number(ln_flex map, const char *key, double absent);

#endif
