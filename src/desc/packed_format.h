// SPDX-License-Identifier: Apache-2.0
// What the writer of packed operators (opdesc_pack.c) and their reader (ir/packed_ops.c) agree on
// besides the order of the records.

#ifndef LN_DESC_PACKED_FORMAT_H
#define LN_DESC_PACKED_FORMAT_H

// Which functions an operator has, one bit each, in the order of their pointers: X(name).
#define LN_PACKED_FUNCTION_LIST(X)                                                                 \
    X(pre_run)                                                                                     \
    X(static_run)                                                                                  \
    X(run)                                                                                         \
    X(post_run)                                                                                    \
    X(calc_offset)                                                                                 \
    X(check)                                                                                       \
    X(macs)                                                                                        \
    X(cost)                                                                                        \
    X(commutes)                                                                                    \
    X(infer)                                                                                       \
    X(compute)                                                                                     \
    X(accepts)                                                                                     \
    X(call_macs)                                                                                   \
    X(call_cost)                                                                                   \
    X(prepare)                                                                                     \
    X(workspace)                                                                                   \
    X(is_random)

typedef enum ln_packed_function_kind {
#define LN_PACKED_FUNCTION_ENUM(name) LN_PACKED_##name,
    LN_PACKED_FUNCTION_LIST(LN_PACKED_FUNCTION_ENUM)
#undef LN_PACKED_FUNCTION_ENUM
        LN_PACKED_FUNCTION_COUNT
} ln_packed_function_kind;

// Facts about the form of an operator, one bit each.
enum { LN_PACKED_CALL_FORM = 1, LN_PACKED_TAKES_WORKSPACE = 2, LN_PACKED_ANY_ADDRESS = 4 };

// What an operator shares with its base, one bit each. Of inputs and outputs all but the memory
// type, which follows: 0 for that of the base, else 1 and the type of all of them.
enum {
    LN_PACKED_SAME_DOC = 1,
    LN_PACKED_SAME_INS = 2,
    LN_PACKED_SAME_OUTS = 4,
    LN_PACKED_SAME_PARAMS = 8,
    LN_PACKED_SAME_PLACES = 16,
    LN_PACKED_SAME_SINCE = 32,
    LN_PACKED_SAME_REST = 64 // author, example, dtypes, nan, domain and rtol
};

#endif
