// SPDX-License-Identifier: Apache-2.0
// White space and the case of letters, by code point.

#include "op/onnx/letters.h"

bool ln_is_space(uint32_t code)
{
    return (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x20) || code == 0x85 ||
           code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

// Letters `first`, `first + step`, ... up to `last` in upper case, each `distance` before its
// counterpart.
typedef struct letters {
    uint32_t first, last;
    uint32_t step, distance;
} letters;

static const letters all_letters[] = {
    {'A', 'Z', 1, 32},       {0xC0, 0xD6, 1, 32},     {0xD8, 0xDE, 1, 32},
    {0x100, 0x12E, 2, 1},    {0x132, 0x136, 2, 1},    {0x139, 0x147, 2, 1},
    {0x14A, 0x176, 2, 1},    {0x179, 0x17D, 2, 1},    {0x1A0, 0x1A4, 2, 1},
    {0x1CD, 0x1DB, 2, 1},    {0x1DE, 0x1EE, 2, 1},    {0x1F8, 0x21E, 2, 1},
    {0x222, 0x232, 2, 1},    {0x386, 0x386, 1, 0x26}, {0x388, 0x38A, 1, 0x25},
    {0x38C, 0x38C, 1, 0x40}, {0x38E, 0x38F, 1, 0x3F}, {0x391, 0x3A1, 1, 32},
    {0x3A3, 0x3AB, 1, 32},   {0x400, 0x40F, 1, 0x50}, {0x410, 0x42F, 1, 32},
    {0x460, 0x480, 2, 1},    {0x48A, 0x4BE, 2, 1},    {0x4C1, 0x4CD, 2, 1},
    {0x4D0, 0x52E, 2, 1},    {0x531, 0x556, 1, 0x30}, {0x1E00, 0x1E94, 2, 1},
    {0x1EA0, 0x1EFE, 2, 1},  {0xFF21, 0xFF3A, 1, 32},
};

enum { LETTERS_COUNT = sizeof all_letters / sizeof all_letters[0] };

static bool is_in(uint32_t code, uint32_t first, uint32_t last, uint32_t step)
{
    return code >= first && code <= last && (code - first) % step == 0;
}

uint32_t ln_letter_lower(uint32_t code)
{
    if (code == 0x130) // I with a dot
        return 'i';
    if (code == 0x178)
        return 0xFF;
    if (code == 0x1E9E) // sharp S
        return 0xDF;
    for (int i = 0; i < LETTERS_COUNT; i++) {
        const letters *l = &all_letters[i];
        if (is_in(code, l->first, l->last, l->step))
            return code + l->distance;
    }
    return code;
}

uint32_t ln_letter_upper(uint32_t code)
{
    switch (code) {
    case 0xB5: return 0x39C; // micro sign
    case 0xFF: return 0x178;
    case 0x131: return 'I';   // i without a dot
    case 0x17F: return 'S';   // long s
    case 0x3C2: return 0x3A3; // sigma at the end of a word
    default: break;
    }
    for (int i = 0; i < LETTERS_COUNT; i++) {
        const letters *l = &all_letters[i];
        if (is_in(code, l->first + l->distance, l->last + l->distance, l->step))
            return code - l->distance;
    }
    return code;
}
