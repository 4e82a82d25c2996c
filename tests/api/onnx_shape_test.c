// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that change shapes, move elements and fill tensors.

#include "tests/api/onnx_rows.h"

#define X23     FLOATS("x", "2, 3", "1, 2, 3, 4, 5, 6")
#define EMPTY   FLOATS("x", "0, 3", "0")
#define STRINGS "strings(| dst=x | dims=[2, 2], data=[\"a\", \"\", \"b\", \"cd\"]);\n"

TEST(reshaping_keeps_elements_and_counts_them)
{
    static const onnx_row rows[] = {
        {"-1 is what is left",
         X23 INTS("s", "2", "3, -1") "Reshape(data=x, shape=s | reshaped=y |);",
         "FLOAT 3x2: 1 2 3 4 5 6"},
        {"0 keeps a dimension",
         X23 INTS("s", "3", "0, 1, 3") "Reshape(data=x, shape=s | reshaped=y |);",
         "FLOAT 2x1x3: 1 2 3 4 5 6"},
        {"a kept 0 beside -1",
         EMPTY INTS("s", "2", "0, -1") "Reshape(data=x, shape=s | reshaped=y |);", "FLOAT 0x3:"},
        {"0 means 0",
         EMPTY INTS("s", "2", "5, 0") "Reshape(data=x, shape=s | reshaped=y | allowzero=1);",
         "FLOAT 5x0:"},
        {"no dimensions",
         FLOATS(
             "x", "1",
             "7") "create(| dst=s | dtype=TL_INT64, dims=[0], ran=[0, 0], data=[0], from_file=false);\n"
                  "Reshape(data=x, shape=s | reshaped=y |);",
         "FLOAT: 7"},
        {"the attribute of opset 1", X23 "Reshape(data=x | reshaped=y | shape=[6], since=1);",
         "FLOAT 6: 1 2 3 4 5 6"},
        {"two -1", X23 INTS("s", "2", "-1, -1") "Reshape(data=x, shape=s | reshaped=y |);",
         "-1 twice"},
        {"elements are left",
         X23 INTS("s", "2", "4, -1") "Reshape(data=x, shape=s | reshaped=y |);", "no integer"},
        {"too many elements", X23 INTS("s", "2", "3, 3") "Reshape(data=x, shape=s | reshaped=y |);",
         "do not fit"},
        {"below -1", X23 INTS("s", "1", "-6") "Reshape(data=x, shape=s | reshaped=y |);",
         "dimension -6"},
        {"-1 beside a real 0",
         EMPTY INTS("s", "2", "0, -1") "Reshape(data=x, shape=s | reshaped=y | allowzero=1);",
         "no integer"},
        {"strings", STRINGS INTS("s", "1", "4") "Reshape(data=x, shape=s | reshaped=y |);",
         "STRING 4: 'a' '' 'b' 'cd'"},
        {"flat", X23 "Flatten(input=x | output=y | axis=0);", "FLOAT 1x6: 1 2 3 4 5 6"},
        {"flat from the end", X23 "Flatten(input=x | output=y | axis=-1);",
         "FLOAT 2x3: 1 2 3 4 5 6"},
        {"flat beyond", X23 "Flatten(input=x | output=y | axis=3);", "axis 3 is outside rank 2"},
        {"squeezed", FLOATS("x", "1, 2, 1", "1, 2") "Squeeze(data=x | squeezed=y |);",
         "FLOAT 2: 1 2"},
        {"squeezed from the end",
         FLOATS("x", "1, 2, 1", "1, 2")
             INTS("a", "1", "-1") "Squeeze(data=x, axes=a | squeezed=y |);",
         "FLOAT 1x2: 1 2"},
        {"squeezed but not 1",
         FLOATS("x", "1, 2, 1", "1, 2")
             INTS("a", "1", "1") "Squeeze(data=x, axes=a | squeezed=y |);",
         "not 1"},
        {"unsqueezed", X23 INTS("a", "2", "-1, 0") "Unsqueeze(data=x, axes=a | expanded=y |);",
         "FLOAT 1x2x3x1: 1 2 3 4 5 6"},
        {"an axis twice", X23 INTS("a", "2", "0, -4") "Unsqueeze(data=x, axes=a | expanded=y |);",
         "named twice"},
        {"shape", X23 "Shape(data=x | shape=y | start=-1);", "INT64 1: 3"},
        {"an empty part of a shape", X23 "Shape(data=x | shape=y | start=1, end=0);", "INT64 0:"},
        {"size", EMPTY "Size(data=x | size=y |);", "INT64: 0"},
    };
    CHECK_ROWS(rows);
}

TEST(elements_are_put_elsewhere)
{
    static const onnx_row rows[] = {
        {"transposed", X23 "Transpose(data=x | transposed=y |);", "FLOAT 3x2: 1 4 2 5 3 6"},
        {"transposed strings", STRINGS "Transpose(data=x | transposed=y | perm=[1, 0]);",
         "STRING 2x2: 'a' 'b' '' 'cd'"},
        {"no permutation", X23 "Transpose(data=x | transposed=y | perm=[0, 0]);", "named twice"},
        {"joined",
         X23 FLOATS("z", "2, 1",
                    "7, 8") "Concat(inputs1=x, inputs2=z | concat_result=y | axis=-1);",
         "FLOAT 2x4: 1 2 3 7 4 5 6 8"},
        {"joined with nothing",
         X23 FLOATS("e", "0, 3", "0") "Concat(inputs1=x, inputs2=e | concat_result=y | axis=0);",
         "FLOAT 2x3: 1 2 3 4 5 6"},
        {"joined across",
         X23 FLOATS("z", "3, 1",
                    "7, 8, 9") "Concat(inputs1=x, inputs2=z | concat_result=y | axis=1);",
         "dimension 3 on axis 0"},
        {"split, the last part shorter",
         FLOATS("x", "5",
                "1, 2, 3, 4, 5") "Split(input=x | outputs1=a, outputs2=y | num_outputs=2);",
         "FLOAT 2: 4 5"},
        {"split unevenly before opset 18",
         FLOATS("x", "5", "1, 2, 3, 4, 5") "Split(input=x | outputs1=a, outputs2=y | since=13);",
         "equal parts"},
        {"split with a rest",
         X23 INTS("s", "2", "1, 1") "Split(input=x, split=s | outputs1=a, outputs2=y | axis=1);",
         "leave 1 of 3"},
        {"a part below 0",
         X23 INTS("s", "2", "4, -1") "Split(input=x, split=s | outputs1=a, outputs2=y | axis=1);",
         "part 0 has 4"},
        {"expanded",
         FLOATS("x", "2, 1", "1, 2")
             INTS("s", "3", "2, 1, 2") "Expand(input=x, shape=s | output=y |);",
         "FLOAT 2x2x2: 1 1 2 2 1 1 2 2"},
        {"expanded to nothing",
         FLOATS("x", "2, 1", "1, 2") INTS("s", "1", "0") "Expand(input=x, shape=s | output=y |);",
         "FLOAT 2x0:"},
        {"not to be expanded", X23 INTS("s", "1", "2") "Expand(input=x, shape=s | output=y |);",
         "cannot become"},
        {"tiled",
         FLOATS("x", "1, 2", "1, 2")
             INTS("r", "2", "2, 2") "Tile(input=x, repeats=r | output=y |);",
         "FLOAT 2x4: 1 2 1 2 1 2 1 2"},
        {"tiled on each axis",
         FLOATS("x", "2, 1, 2", "1, 2, 3, 4")
             INTS("r", "3", "2, 3, 2") "Tile(input=x, repeats=r | output=y |);",
         "FLOAT 4x3x4: 1 2 1 2 1 2 1 2 1 2 1 2 3 4 3 4 3 4 3 4 3 4 3 4 "
         "1 2 1 2 1 2 1 2 1 2 1 2 3 4 3 4 3 4 3 4 3 4 3 4"},
        {"tiled on the first axis",
         X23 INTS("r", "2", "3, 1") "Tile(input=x, repeats=r | output=y |);",
         "FLOAT 6x3: 1 2 3 4 5 6 1 2 3 4 5 6 1 2 3 4 5 6"},
        {"tiled on the last axis",
         X23 INTS("r", "2", "1, 3") "Tile(input=x, repeats=r | output=y |);",
         "FLOAT 2x9: 1 2 3 1 2 3 1 2 3 4 5 6 4 5 6 4 5 6"},
        {"tiled on the last of 8 axes",
         FLOATS("x", "1, 1, 1, 1, 1, 1, 2, 1", "1, 2")
             INTS("r", "8", "1, 1, 1, 1, 1, 2, 1, 5") "Tile(input=x, repeats=r | output=y |);",
         "FLOAT 1x1x1x1x1x2x2x5: 1 1 1 1 1 2 2 2 2 2 1 1 1 1 1 2 2 2 2 2"},
        {"tiled strings", STRINGS INTS("r", "2", "2, 2") "Tile(input=x, repeats=r | output=y |);",
         "STRING 4x4: 'a' '' 'a' '' 'b' 'cd' 'b' 'cd' 'a' '' 'a' '' 'b' 'cd' 'b' 'cd'"},
        {"a tiled scalar",
         "create(| dst=x | dtype=TL_INT32, dims=[], data=[7]);\n"
         "create(| dst=r | dtype=TL_INT64, dims=[0], ran=[0, 0], data=[0], from_file=false);\n"
         "Tile(input=x, repeats=r | output=y |);",
         "INT32: 7"},
        {"tiled by 0", X23 INTS("r", "2", "1, 0") "Tile(input=x, repeats=r | output=y |);",
         "FLOAT 2x0:"},
        {"tiled too often",
         X23 INTS("r", "2", "1, 4000000000000000000") "Tile(input=x, repeats=r | output=y |);",
         "too many"},
        {"tiled as in opset 1",
         X23 FLOATS("r", "1", "2")
             FLOATS("a", "1", "0") "Tile(input=x, repeats=r, axis=a | output=y | since=1);",
         "FLOAT 4x3: 1 2 3 4 5 6 1 2 3 4 5 6"},
        {"backwards",
         X23 INTS("b", "1", "-1") INTS("e", "1", "-9") INTS("a", "1", "1")
             INTS("s", "1", "-2") "Slice(data=x, starts=b, ends=e, axes=a, steps=s | output=y |);",
         "FLOAT 2x2: 3 1 6 4"},
        {"backwards from before the beginning, which is the first element",
         X23 INTS("b", "1", "-9") INTS("e", "1", "-10") INTS("a", "1", "1")
             INTS("s", "1", "-1") "Slice(data=x, starts=b, ends=e, axes=a, steps=s | output=y |);",
         "FLOAT 2x1: 1 4"},
        {"backwards from beyond the end, up to the first",
         X23 INTS("b", "1", "9") INTS("e", "1", "0") INTS("a", "1", "1")
             INTS("s", "1", "-1") "Slice(data=x, starts=b, ends=e, axes=a, steps=s | output=y |);",
         "FLOAT 2x2: 3 2 6 5"},
        {"backwards from the first element",
         X23 INTS("b", "1", "0") INTS("e", "1", "-10") INTS("a", "1", "0")
             INTS("s", "1", "-3") "Slice(data=x, starts=b, ends=e, axes=a, steps=s | output=y |);",
         "FLOAT 1x3: 1 2 3"},
        {"forwards from before the beginning",
         X23 INTS("b", "1", "-9") INTS("e", "1", "-1") INTS("a", "1", "1")
             INTS("s", "1", "2") "Slice(data=x, starts=b, ends=e, axes=a, steps=s | output=y |);",
         "FLOAT 2x1: 1 4"},
        {"beyond the end",
         X23 INTS("b", "2", "1, 7") INTS(
             "e", "2", "9223372036854775000, 9") "Slice(data=x, starts=b, ends=e | output=y |);",
         "FLOAT 1x0:"},
        {"no step",
         X23 INTS("b", "1", "0") INTS("e", "1", "1") INTS("a", "1", "0")
             INTS("s", "1", "0") "Slice(data=x, starts=b, ends=e, axes=a, steps=s | output=y |);",
         "step 0"},
        {"the attributes of opset 1",
         X23 "Slice(data=x | output=y | starts=[1], ends=[3], axes=[1], since=1);",
         "FLOAT 2x2: 2 3 5 6"},
        {"padded",
         FLOATS("x", "2", "1, 2") INTS("p", "2", "1, -1") "Pad(data=x, pads=p | output=y |);",
         "FLOAT 2: 0 1"},
        {"the attribute of opset 1, uneven",
         X23 "Pad(data=x | output=y | paddings=[1, 0, 0, 2], since=1);",
         "FLOAT 3x5: 0 0 0 0 0 1 2 3 0 0 4 5 6 0 0"},
        {"the attribute of opset 2",
         X23 "Pad(data=x | output=y | pads=[0, 1, 0, 0], value=7, since=2);",
         "FLOAT 2x4: 7 1 2 3 7 4 5 6"},
        {"some axes, uneven",
         X23 INTS("p", "2", "1, 2")
             INTS("a", "1", "-1") "Pad(data=x, pads=p, axes=a | output=y |);",
         "FLOAT 2x6: 0 1 2 3 0 0 0 4 5 6 0 0"},
        {"mirrored again and again",
         FLOATS("x", "2", "1, 2")
             INTS("p", "2", "3, 2") "Pad(data=x, pads=p | output=y | mode=\"reflect\");",
         "FLOAT 7: 2 1 2 1 2 1 2"},
        {"mirrored nothing",
         EMPTY INTS("p", "4", "1, 0, 0, 0") "Pad(data=x, pads=p | output=y | mode=\"reflect\");",
         "no element to repeat"},
        {"repeated edges",
         FLOATS("x", "2", "1, 2")
             INTS("p", "2", "2, 1") "Pad(data=x, pads=p | output=y | mode=\"edge\");",
         "FLOAT 5: 1 1 1 2 2"},
        {"as a torus",
         FLOATS("x", "3", "1, 2, 3")
             INTS("p", "2", "4, 1") "Pad(data=x, pads=p | output=y | mode=\"wrap\");",
         "FLOAT 8: 3 1 2 3 1 2 3 1"},
        {"cut and mirrored",
         FLOATS("x", "4", "1, 2, 3, 4")
             INTS("p", "2", "-1, 2") "Pad(data=x, pads=p | output=y | mode=\"reflect\");",
         "FLOAT 5: 2 3 4 3 2"},
        {"cut too much",
         FLOATS("x", "2", "1, 2") INTS("p", "2", "-2, -1") "Pad(data=x, pads=p | output=y |);",
         "pads -2 and -1"},
        {"an unknown mode",
         X23 INTS("p", "4", "0, 0, 0, 0") "Pad(data=x, pads=p | output=y | mode=\"odd\");",
         "mode \"odd\""},
        {"the middle",
         FLOATS("x", "4", "1, 2, 3, 4")
             INTS("s", "1", "1") "CenterCropPad(input_data=x, shape=s | output_data=y |);",
         "FLOAT 1: 2"},
        {"around the middle",
         FLOATS("x", "1", "1")
             INTS("s", "1", "4") "CenterCropPad(input_data=x, shape=s | output_data=y |);",
         "FLOAT 4: 0 1 0 0"},
        {"reversed",
         X23 INTS("l", "3", "1, 2, 0") "ReverseSequence(input=x, sequence_lens=l | Y=y |);",
         "FLOAT 2x3: 1 5 3 4 2 6"},
        {"reversed too long",
         X23 INTS("l", "3", "1, 3, 0") "ReverseSequence(input=x, sequence_lens=l | Y=y |);",
         "has length 3"},
        {"the lower triangle", X23 INTS("k", "", "-1") "Trilu(input=x, k=k | output=y | upper=0);",
         "FLOAT 2x3: 0 0 0 4 0 0"},
        {"a triangle far away",
         X23 INTS("k", "", "9223372036854775000") "Trilu(input=x, k=k | output=y |);",
         "FLOAT 2x3: 0 0 0 0 0 0"},
        {"depth to space",
         FLOATS("x", "1, 4, 1, 2",
                "1, 2, 3, 4, 5, 6, 7, 8") "DepthToSpace(input=x | output=y | blocksize=2);",
         "FLOAT 1x1x2x4: 1 3 2 4 5 7 6 8"},
        {"space to depth",
         FLOATS("x", "1, 1, 2, 4",
                "1, 3, 2, 4, 5, 7, 6, 8") "SpaceToDepth(input=x | output=y | blocksize=2);",
         "FLOAT 1x4x1x2: 1 2 3 4 5 6 7 8"},
        {"a block of 0",
         FLOATS("x", "1, 1, 1, 1", "1") "SpaceToDepth(input=x | output=y | blocksize=0);",
         "blocksize is 0"},
    };
    CHECK_ROWS(rows);
}

TEST(tensors_are_filled_from_a_few_numbers)
{
    static const onnx_row rows[] = {
        {"a range",
         INTS("a", "", "3") INTS("b", "", "10")
             INTS("c", "", "3") "Range(start=a, limit=b, delta=c | output=y |);",
         "INT64 3: 3 6 9"},
        {"a range downwards",
         FLOATS("a", "", "1") FLOATS("b", "", "0")
             FLOATS("c", "", "-0.4") "Range(start=a, limit=b, delta=c | output=y |);",
         "FLOAT 3: 1 0.6 0.2"},
        {"an empty range",
         INTS("a", "", "3") INTS("b", "", "1")
             INTS("c", "", "3") "Range(start=a, limit=b, delta=c | output=y |);",
         "INT64 0:"},
        {"an endless range",
         INTS("a", "", "3") INTS("b", "", "4")
             INTS("c", "", "0") "Range(start=a, limit=b, delta=c | output=y |);",
         "delta is 0"},
        {"too long a range",
         INTS("a", "", "-9000000000000000000") INTS("b", "", "9000000000000000000")
             INTS("c", "", "1") "Range(start=a, limit=b, delta=c | output=y |);",
         "a range of 18000000000000000000 elements"},
        {"zeros", INTS("s", "2", "1, 2") "ConstantOfShape(input=s | output=y |);",
         "FLOAT 1x2: 0 0"},
        {"a constant",
         INTS("s", "1", "2")
             T("v", "INT32", "1", "7") "ConstantOfShape(input=s, value=v | output=y |);",
         "INT32 2: 7 7"},
        {"a dimension below 0", INTS("s", "1", "-2") "ConstantOfShape(input=s | output=y |);",
         "-2"},
        {"a diagonal", X23 "EyeLike(input=x | output=y | k=1, dtype=7);", "INT64 2x3: 0 1 0 0 0 1"},
        {"a diagonal outside", X23 "EyeLike(input=x | output=y | k=-2);", "FLOAT 2x3: 0 0 0 0 0 0"},
        {"one hot",
         INTS("i", "3", "1, -1, 5") INTS("d", "", "3")
             FLOATS("v", "2", "2, 5") "OneHot(indices=i, depth=d, values=v | output=y |);",
         "FLOAT 3x3: 2 5 2 2 2 5 2 2 2"},
        {"one hot first",
         INTS("i", "2", "0, 1") INTS("d", "", "2")
             FLOATS("v", "2", "0, 1") "OneHot(indices=i, depth=d, values=v | output=y | axis=0);",
         "FLOAT 2x2: 1 0 0 1"},
    };
    CHECK_ROWS(rows);
}

TEST_LIST(reshaping_keeps_elements_and_counts_them, elements_are_put_elsewhere,
          tensors_are_filled_from_a_few_numbers)
