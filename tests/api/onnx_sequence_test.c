// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals.

#include "tests/api/values.h"

// a = [1 2 3], b = [[4]], s = (a, b)
#define START                                                                                      \
    "create(| dst=a | dtype=TL_FLOAT, dims=[3], ran=[0, 0], data=[1, 2, 3], from_file=false);\n"   \
    "create(| dst=b | dtype=TL_FLOAT, dims=[1, 1], ran=[0, 0], data=[4], from_file=false);\n"      \
    "create(| dst=i | dtype=TL_INT64, dims=[], ran=[0, 0], data=[-1], from_file=false);\n"         \
    "create(| dst=far | dtype=TL_INT64, dims=[], ran=[0, 0], data=[9], from_file=false);\n"        \
    "SequenceConstruct(inputs1=a, inputs2=b | output_sequence=s |);\n"

TEST(items_go_in_and_out_at_their_places)
{
    ln_context *ctx = run_text(
        START "SequenceInsert(input_sequence=s, tensor=a, position=i | output_sequence=t |);\n"
              "SequenceLength(input_sequence=t | length=n |);\n"
              "SequenceAt(input_sequence=t, position=i | tensor=x |);\n"
              "SequenceErase(input_sequence=t | output_sequence=u |);\n"
              "SequenceAt(input_sequence=u, position=i | tensor=y |);\n"
              "SequenceLength(input_sequence=s | length=m |);\n");
    check_numbers(ctx, "n", TL_INT64, 0, NULL, NUMBERS(3));
    check_numbers(ctx, "x", TL_FLOAT, 2, DIMS(1, 1), NUMBERS(4));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(3), NUMBERS(1, 2, 3));
    check_numbers(ctx, "m", TL_INT64, 0, NULL, NUMBERS(2));
    close_run(ctx);
}

TEST(places_outside_are_refused)
{
    check_fails(START "SequenceAt(input_sequence=s, position=far | tensor=x |);\n", LN_INVALID,
                "position 9 is outside a sequence of 2 items");
    check_fails(START "SequenceErase(input_sequence=s, position=far | output_sequence=t |);\n",
                LN_INVALID, "position 9");
    check_fails("SequenceEmpty(| output=s | dtype=7);\n"
                "SequenceErase(input_sequence=s | output_sequence=t |);\n",
                LN_INVALID, "has no items");
}

TEST(a_sequence_holds_one_type)
{
    check_fails(START "SequenceInsert(input_sequence=s, tensor=i | output_sequence=t |);\n",
                LN_INVALID, "an item of type int64");
    check_fails(START "SequenceLength(input_sequence=a | length=n |);\n", LN_INVALID, "float32");
}

#define TABLE                                                                                      \
    "create(| dst=x | dtype=TL_INT32, dims=[2, 3], ran=[0, 0], data=[1, 2, 3, 4, 5, 6], "          \
    "from_file=false);\n"

TEST(tensors_are_split_and_joined_again)
{
    ln_context *ctx = run_text(
        TABLE
        "create(| dst=two | dtype=TL_INT64, dims=[], ran=[0, 0], data=[2], from_file=false);\n"
        "SplitToSequence(input=x, split=two | output_sequence=s | axis=1);\n"
        "ConcatFromSequence(input_sequence=s | concat_result=y | axis=-1);\n"
        "SequenceErase(input_sequence=s | output_sequence=t |);\n"
        "ConcatFromSequence(input_sequence=t | concat_result=z | axis=0);\n"
        "SplitToSequence(input=x | output_sequence=u | axis=-1, keepdims=0);\n"
        "ConcatFromSequence(input_sequence=u | concat_result=w | axis=0, new_axis=1);\n");
    check_numbers(ctx, "y", TL_INT32, 2, DIMS(2, 3), NUMBERS(1, 2, 3, 4, 5, 6));
    check_numbers(ctx, "z", TL_INT32, 2, DIMS(2, 2), NUMBERS(1, 2, 4, 5));
    check_numbers(ctx, "w", TL_INT32, 2, DIMS(3, 2), NUMBERS(1, 4, 2, 5, 3, 6));
    close_run(ctx);
}

// One part, longer than the tensor by more than a sum of both can hold.
TEST(a_part_may_have_the_largest_length)
{
    ln_arch_init();
    ln_context *ctx =
        load_text("input(| dst=n | dtype=TL_INT64, dims=[]);\n" TABLE
                  "SplitToSequence(input=x, split=n | output_sequence=s | axis=1);\n"
                  "SequenceLength(input_sequence=s | length=count |);\n"
                  "ConcatFromSequence(input_sequence=s | concat_result=y | axis=1);\n",
                  "ref");
    static const int64_t lens[] = {INT64_MAX, INT64_MAX - 1, (int64_t)1 << 62, 4, 3};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        CHECK_OK(ln_context_set_data(ctx, "n", &lens[i]));
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "count", TL_INT64, 0, NULL, NUMBERS(1));
        check_numbers(ctx, "y", TL_INT32, 2, DIMS(2, 3), NUMBERS(1, 2, 3, 4, 5, 6));
    }
    close_run(ctx);
}

TEST(parts_make_up_the_whole)
{
    check_fails(TABLE "create(| dst=n | dtype=TL_INT64, dims=[2], ran=[0, 0], data=[1, 1], "
                      "from_file=false);\n"
                      "SplitToSequence(input=x, split=n | output_sequence=s | axis=1);\n",
                LN_INVALID, "1 elements belong to no part");
    check_fails(TABLE "create(| dst=n | dtype=TL_INT64, dims=[2], ran=[0, 0], data=[4, -1], "
                      "from_file=false);\n"
                      "SplitToSequence(input=x, split=n | output_sequence=s | axis=1);\n",
                LN_INVALID, "part 0 of length 4");
    check_fails(TABLE "create(| dst=n | dtype=TL_INT64, dims=[], ran=[0, 0], data=[0], "
                      "from_file=false);\n"
                      "SplitToSequence(input=x, split=n | output_sequence=s | axis=1);\n",
                LN_INVALID, "parts of length 0");
}

TEST(optionals_hold_something_or_nothing)
{
    ln_context *ctx = run_text(START "Optional(input=s | output=o |);\n"
                                     "OptionalHasElement(input=o | output=yes |);\n"
                                     "OptionalGetElement(input=o | output=t |);\n"
                                     "SequenceLength(input_sequence=t | length=n |);\n"
                                     "Optional(| output=e | type=\"tensor(float)\");\n"
                                     "OptionalHasElement(input=e | output=no |);\n"
                                     "OptionalHasElement(input=a | output=also |);\n"
                                     "OptionalGetElement(input=a | output=same |);\n");
    check_numbers(ctx, "yes", TL_BOOL, 0, NULL, NUMBERS(1));
    check_numbers(ctx, "n", TL_INT64, 0, NULL, NUMBERS(2));
    check_numbers(ctx, "no", TL_BOOL, 0, NULL, NUMBERS(0));
    check_numbers(ctx, "also", TL_BOOL, 0, NULL, NUMBERS(1));
    check_numbers(ctx, "same", TL_FLOAT, 1, DIMS(3), NUMBERS(1, 2, 3));
    close_run(ctx);
    check_fails("Optional(| output=e |);\nOptionalGetElement(input=e | output=x |);\n", LN_INVALID,
                "the optional is empty");
}

TEST_LIST(items_go_in_and_out_at_their_places, places_outside_are_refused,
          a_sequence_holds_one_type, tensors_are_split_and_joined_again,
          a_part_may_have_the_largest_length, parts_make_up_the_whole,
          optionals_hold_something_or_nothing)
