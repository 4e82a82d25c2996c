// SPDX-License-Identifier: Apache-2.0
// What a regular expression is compiled to: the steps of a nondeterministic automaton (Thompson
// 1968).
//
// Jumps are relative, so that the steps of a part can be moved and copied as they are.

#ifndef LN_ARCH_REF_ONNX_REGEX_CODE_H
#define LN_ARCH_REF_ONNX_REGEX_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LN_REGEX_MOST_STEPS = 16384,
    LN_REGEX_LAST_CODE = 0x10FFFF,
};

typedef enum ln_regex_op {
    LN_REGEX_SET,    // takes a code point of ranges[first, first + count)
    LN_REGEX_SPLIT,  // goes on at both `first` and `second` steps from here
    LN_REGEX_JUMP,   // goes on `first` steps from here
    LN_REGEX_ASSERT, // goes on if the place is that of ln_regex_place `first`
    LN_REGEX_MATCH,
} ln_regex_op;

typedef enum ln_regex_place {
    LN_REGEX_TEXT_START,
    LN_REGEX_TEXT_END,
    LN_REGEX_LINE_START,
    LN_REGEX_LINE_END,
    LN_REGEX_WORD_EDGE,
    LN_REGEX_NO_WORD_EDGE,
} ln_regex_place;

typedef struct ln_regex_step {
    uint8_t op;
    bool is_negated; // sets: takes what is not in them
    bool is_folded;  // sets: case does not count
    int32_t first, second;
} ln_regex_step;

typedef struct ln_regex_range {
    uint32_t first, last;
} ln_regex_range;

struct ln_regex {
    ln_regex_step *steps;
    int step_count;
    ln_regex_range *ranges;
    int range_count, range_room;
};

#endif
