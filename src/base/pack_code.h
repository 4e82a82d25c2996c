// SPDX-License-Identifier: Apache-2.0
// The form of packed data, which base/pack_compress.c writes and base/pack.c reads.
//
//     2 * byte count of the raw data + 1 if they follow as they are, else:
//     code of each context | code of distances | literals and copies, all of them bits
//
// A code:      1 bit: whether it is used | of each symbol 4 bits, how long it is; behind a 0
//              6 bits: how many more symbols have none. Codes are canonical: in the order of
//              length, then of symbols.
// A literal:   its byte, in the code of the context, which is the kind of byte in front of it
// A copy:      256 + class of length less MIN_COPY, in the code of the context, and the bits of
//              the class | distance: 0 if it is that of the copy before, else 1 + class of the
//              distance less 1, in the code of distances, and the bits of the class
// A class:     0 to 3 are the numbers themselves; the others say how many bits a number has and
//              what the second of them is, and the rest of the bits follow.

#ifndef LN_BASE_PACK_CODE_H
#define LN_BASE_PACK_CODE_H

#define LN_PACK_CONTEXTS  6
#define LN_PACK_CODES     (LN_PACK_CONTEXTS + 1) // the last one is that of distances
#define LN_PACK_CLASSES   44                     // numbers below 2^22
#define LN_PACK_SYMBOLS   (256 + LN_PACK_CLASSES)
#define LN_PACK_MAX_BITS  15 // of a symbol
#define LN_PACK_ZERO_BITS 6
#define LN_PACK_MIN_COPY  2

// The kind of a byte: after a vowel other letters are likely than after a consonant.
static inline unsigned ln_pack_context(unsigned char byte)
{
    if (byte == 0)
        return 0;
    if (byte < ' ' || byte >= 0x7f)
        return 1;
    if (byte == ' ')
        return 2;
    if (byte < 'a' || byte > 'z')
        return 5;
    // a, e, i, o, u
    return 0x104111u >> (byte - 'a') & 1 ? 3 : 4;
}

#endif
