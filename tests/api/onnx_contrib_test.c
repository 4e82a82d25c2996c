// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that no other family has, and Crop.

#include "tests/api/onnx_rows.h"

#define X33   FLOATS("x", "3, 3", "1, 2, 3, 4, 5, 6, 7, 8, 9")
#define IMAGE FLOATS("x", "1, 1, 3, 3", "1, 2, 3, 4, 5, 6, 7, 8, 9")
#define BOX(corners, height_and_width)                                                             \
    IMAGE FLOATS("r", "1, 4", corners) T("b", "INT32", "1", "0")                                   \
        T("s", "INT32", "2",                                                                       \
          height_and_width) "ms_CropAndResize(X=x, rois=r, batch_indices=b, crop_size=s | Y=y | "
#define TOKENS(ids)                                                                                \
    INTS("i", "1, 5", ids)                                                                         \
    FLOATS("x", "1, 4", "1, 2, 3, 4") "ms_NGramRepeatBlock(input_ids=i, scores=x | scores_out=y | "

TEST(images_are_cropped)
{
    static const onnx_row rows[] = {
        {"by borders", IMAGE "Crop(input=x | output=y | border=[1, 0, 0, 2]);",
         "FLOAT 1x1x1x2: 2 3"},
        {"by size", IMAGE "Crop(input=x | output=y | border=[1, 1, 0, 0], scale=[2, 1]);",
         "FLOAT 1x1x2x1: 5 8"},
        {"to nothing", IMAGE "Crop(input=x | output=y | border=[3, 0, 0, 0]);", "FLOAT 1x1x3x0:"},
        {"three borders", IMAGE "Crop(input=x | output=y | border=[1, 0, 0]);", "instead of 4"},
        {"too much", IMAGE "Crop(input=x | output=y | border=[2, 0, 2, 0]);", "3 by -1 pixels"},
        {"outside", IMAGE "Crop(input=x | output=y | border=[1, 1, 0, 0], scale=[3, 1]);",
         "3 by 1 pixels from (1, 1) on of 3 by 3"},
        {"a negative border", IMAGE "Crop(input=x | output=y | border=[-1, 0, 0, 0]);",
         "begins at row 0 and column -1"},
        {"no image", X33 "Crop(input=x | output=y | border=[0, 0, 0, 0]);", "rank 2 instead of 4"},
        {"boxes between pixels", BOX("0, 0, 1, 1", "2, 2") "mode=\"bilinear\");",
         "FLOAT 1x1x2x2: 1 3 7 9"},
        {"one point, the middle", BOX("0, 0, 1, 0.5", "1, 1") "mode=\"bilinear\");",
         "FLOAT 1x1x1x1: 4.5"},
        {"the nearest pixel, halves upwards", BOX("0.25, 0, 1, 1", "2, 2") "mode=\"nearest\");",
         "FLOAT 1x1x2x2: 4 6 7 9"},
        {"outside of the image",
         BOX("-1, 0, 1, 1", "2, 2") "mode=\"bilinear\", extrapolation_value=-5);",
         "FLOAT 1x1x2x2: -5 -5 7 9"},
        {"far outside", BOX("-3e38, 0, 3e38, 1", "2, 2") "mode=\"nearest\");",
         "FLOAT 1x1x2x2: 0 0 0 0"},
        {"a size of 0", BOX("0, 0, 1, 1", "0, 2") "mode=\"nearest\");", "crop_size"},
        {"an unknown mode", BOX("0, 0, 1, 1", "2, 2") "mode=\"cubic\");", "mode is 'cubic'"},
        {"an image that is not there",
         IMAGE FLOATS("r", "1, 4", "0, 0, 1, 1") T("b", "INT32", "1", "1")
             T("s", "INT32", "2",
               "1, 1") "ms_CropAndResize(X=x, rois=r, batch_indices=b, crop_size=s | Y=y |);",
         "batch_indices has 1 for 1 images"},
    };
    CHECK_ROWS(rows);
}

TEST(rows_are_compared_and_paths_found)
{
    static const onnx_row rows[] = {
        {"distances",
         X33 FLOATS("b", "2, 3",
                    "1, 2, 3, 0, 0, 0") "ms_CDist(A=x, B=b | C=y | metric=\"euclidean\");",
         "FLOAT 3x2: 0 3.7417 5.1962 8.775 10.392 13.928"},
        {"their squares", X33 FLOATS("b", "1, 3", "1, 2, 3") "ms_CDist(A=x, B=b | C=y |);",
         "FLOAT 3x1: 0 27 108"},
        {"rows of different length", X33 FLOATS("b", "1, 2", "1, 2") "ms_CDist(A=x, B=b | C=y |);",
         "rows of 3 and of 2 elements"},
        {"no rows", X33 FLOATS("b", "0, 3", "0") "ms_CDist(A=x, B=b | C=y |);", "FLOAT 3x0:"},
        {"an unknown metric",
         X33 FLOATS("b", "1, 3", "1, 2, 3") "ms_CDist(A=x, B=b | C=y | metric=\"cosine\");",
         "metric is 'cosine'"},
        {"the cheapest path",
         FLOATS("x", "3, 3",
                "0, 9, 9, 0, 9, 9, 9, 0, 0") "ms_DynamicTimeWarping(input=x | output=y |);",
         "INT32 2x4: 0 1 2 2 0 0 1 2"},
        {"one row", FLOATS("x", "1, 1, 2", "1, 2") "ms_DynamicTimeWarping(input=x | output=y |);",
         "INT32 2x2: 0 0 0 1"},
        {"nothing to cross",
         FLOATS("x", "0, 0", "0") "ms_DynamicTimeWarping(input=x | output=y |);", "INT32 2x0:"},
        {"three dimensions",
         FLOATS("x", "2, 1, 1", "0, 0") "ms_DynamicTimeWarping(input=x | output=y |);",
         "neither [M, N] nor [1, M, N]"},
    };
    CHECK_ROWS(rows);
}

TEST(elements_are_hashed_windowed_and_blocked)
{
    static const onnx_row rows[] = {
        {"a hash of 32 bits", T("x", "INT32", "2", "0, 1") "ms_MurmurHash3(X=x | Y=y | seed=42);",
         "UINT32 2: 9.3321e+08 3.7354e+09"},
        {"the same bits, with a sign",
         T("x", "INT32", "1", "1") "ms_MurmurHash3(X=x | Y=y | seed=42, positive=0);",
         "INT32 1: -5.5958e+08"},
        {"the empty string hashes to the seed's",
         "strings(| dst=x | dims=[1], data=[\"\"]);\nms_MurmurHash3(X=x | Y=y |);", "UINT32 1: 0"},
        {"windows of the last axis", X33 "ms_UnfoldTensor(input=x | output=y | size=2);",
         "FLOAT 3x2x2: 1 2 2 3 4 5 5 6 7 8 8 9"},
        {"every second window of the first",
         FLOATS("x", "4",
                "1, 2, 3, 4") "ms_UnfoldTensor(input=x | output=y | dim=0, size=2, step=2);",
         "FLOAT 2x2: 1 2 3 4"},
        {"a window that is too long", X33 "ms_UnfoldTensor(input=x | output=y | size=4);",
         "windows of 4 every 1 of 3 elements"},
        {"a new axis at the end",
         X33 T("a", "INT32", "1", "-1") "ms_ExpandDims(X=x, axis=a | Y=y |);",
         "FLOAT 3x3x1: 1 2 3 4 5 6 7 8 9"},
        {"a new axis outside", X33 T("a", "INT32", "1", "3") "ms_ExpandDims(X=x, axis=a | Y=y |);",
         "axis"},
        {"a token that would repeat", TOKENS("1, 2, 3, 1, 2") "ngram_size=3);",
         "FLOAT 1x4: 1 2 3 -inf"},
        {"every token so far", TOKENS("0, 1, 0, 1, 0") "ngram_size=1);",
         "FLOAT 1x4: -inf -inf 3 4"},
        {"n-grams longer than the row", TOKENS("0, 1, 0, 1, 0") "ngram_size=6);",
         "FLOAT 1x4: 1 2 3 4"},
        {"a token without a score", TOKENS("4, 4, 4, 4, 4") "ngram_size=2);",
         "token 4 of a vocabulary of 4"},
        {"n of 0", TOKENS("0, 1, 0, 1, 0") "ngram_size=0);", "ngram_size is 0"},
    };
    CHECK_ROWS(rows);
}

// Of A = [[1, 2], [3, 4]] and B = [[1, 2], [1, 0]]; ONNX Runtime reads a bias of any shape by its
// first elements.
#define AB                                                                                         \
    T("a", "UINT8", "2, 2", "1, 2, 3, 4")                                                          \
    T("b", "UINT8", "2, 2", "1, 2, 1, 0")                                                          \
    T("e", "UINT8", "2", "1, 1") FLOATS("f", "2, 2", "1, 2, 3, 4") FLOATS("s", "1", "0.5")
#define TO_FLOAT    "ms_MatMulIntegerToFloat(A=a, B=b, a_scale=s, b_scale=s, bias=c | Y=y |);"
#define SCALED_BY_D "ms_MatMulIntegerToFloat(A=a, B=b, a_scale=s, b_scale=d, bias=c | Y=y |);"

TEST(a_bias_of_a_product_is_one_for_each_column)
{
    static const onnx_row rows[] = {
        {"columns", AB FLOATS("c", "2", "10, 20") TO_FLOAT, "FLOAT 2x2: 10.75 20.5 11.75 21.5"},
        {"a column of rows", AB FLOATS("c", "2, 1", "10, 20") TO_FLOAT,
         "not one element for each of 2 columns"},
        {"one of all", AB FLOATS("c", "1", "10") TO_FLOAT, "not one element for each of 2 columns"},
        {"of a vector, each row's",
         AB FLOATS("c", "2", "10, 20") "ms_MatMulIntegerToFloat(A=a, B=e, a_scale=s, b_scale=s, "
                                       "bias=c | Y=y |);",
         "not one element for each of 1 columns"},
        {"quantized on the way, a matrix",
         AB FLOATS("c", "1, 2", "10, 20") "ms_DynamicQuantizeMatMul(A=f, B=b, b_scale=s, bias=c | "
                                          "Y=y |);",
         "not one element for each of 2 columns"},
        {"a scale of B's rank",
         AB FLOATS("c", "2", "10, 20") FLOATS("d", "1, 2", "0.5, 0.25") SCALED_BY_D,
         "FLOAT 2x2: 10.75 20.25 11.75 20.75"},
        {"a scale of another rank",
         AB FLOATS("c", "2", "10, 20") FLOATS("d", "1, 1, 2", "0.5, 0.25") SCALED_BY_D,
         "b_scale of rank 3 beside a bias is neither one element for each column nor of B's rank, 2"},
    };
    CHECK_ROWS(rows);
}

TEST_LIST(images_are_cropped, rows_are_compared_and_paths_found,
          elements_are_hashed_windowed_and_blocked, a_bias_of_a_product_is_one_for_each_column)
