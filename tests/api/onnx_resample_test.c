// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that read between elements.

#include "tests/api/onnx_rows.h"

#define X4              FLOATS("x", "4", "1, 2, 3, 4")
#define X22             FLOATS("x", "1, 1, 2, 2", "1, 2, 3, 4")
#define BY_SCALE(scale) X4 FLOATS("s", "1", scale) "Resize(X=x, scales=s | Y=y | "
#define BY_SIZE(size)   X4 INTS("s", "1", size) "Resize(X=x, sizes=s | Y=y | "
#define GRID(places)    X22 FLOATS("g", "1, 1, 2, 2", places) "GridSample(X=x, grid=g | Y=y | "
#define ROI(corners)                                                                               \
    X22 FLOATS("r", "1, 4", corners)                                                               \
        INTS("b", "1", "0") "RoiAlign(X=x, rois=r, batch_indices=b | Y=y | "

TEST(axes_are_resized)
{
    static const onnx_row rows[] = {
        {"nearest", BY_SCALE("2") "mode=\"nearest\");", "FLOAT 8: 1 1 2 2 3 3 4 4"},
        {"nearest, down", BY_SIZE("2") "mode=\"nearest\", nearest_mode=\"floor\");",
         "FLOAT 2: 1 3"},
        {"linear", BY_SCALE("2") "mode=\"linear\");", "FLOAT 8: 1 1.25 1.75 2.25 2.75 3.25 3.75 4"},
        {"linear between the corners",
         BY_SIZE("3") "mode=\"linear\", coordinate_transformation_mode=\"align_corners\");",
         "FLOAT 3: 1 2.5 4"},
        {"linear with a wider filter", BY_SIZE("2") "mode=\"linear\", antialias=1);",
         "FLOAT 2: 1.625 3.375"},
        {"a part of it",
         X4 FLOATS("r", "2", "0.5, 1.5") INTS(
             "s", "1",
             "3") "Resize(X=x, roi=r, sizes=s | Y=y | mode=\"linear\", coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=9);",
         "FLOAT 3: 2.5 4 9"},
        {"to nothing", BY_SIZE("0") "mode=\"linear\");", "FLOAT 0:"},
        {"integers are rounded",
         T("x", "INT32", "2", "0, 3")
             FLOATS("s", "1", "2") "Resize(X=x, scales=s | Y=y | mode=\"linear\");",
         "INT32 4: 0 1 2 3"},
        {"strings",
         "strings(| dst=x | dims=[2], data=[\"a\", \"b\"]);\n" FLOATS(
             "s", "1", "2") "Resize(X=x, scales=s | Y=y |);",
         "STRING 4: 'a' 'a' 'b' 'b'"},
        {"between strings",
         "strings(| dst=x | dims=[2], data=[\"a\", \"b\"]);\n" FLOATS(
             "s", "1", "2") "Resize(X=x, scales=s | Y=y | mode=\"linear\");",
         "interpolation of type string"},
        {"the shape stays similar",
         FLOATS("x", "1, 2", "1, 2")
             INTS("s", "2",
                  "2, 6") "Resize(X=x, sizes=s | Y=y | keep_aspect_ratio_policy=\"not_larger\");",
         "FLOAT 2x4: 1 1 2 2 1 1 2 2"},
        {"one axis",
         FLOATS("x", "1, 2", "1, 2") INTS("s", "1", "4") "Resize(X=x, sizes=s | Y=y | axes=[-1]);",
         "FLOAT 1x4: 1 1 2 2"},
        {"a scale of 0", BY_SCALE("0") "mode=\"linear\");", "scale 0"},
        {"a scale without end", BY_SCALE("1e30") "mode=\"linear\");", "becomes"},
        {"from nothing", FLOATS("x", "0", "0") INTS("s", "1", "4") "Resize(X=x, sizes=s | Y=y |);",
         "no elements"},
        {"neither scales nor sizes", X4 "Resize(X=x | Y=y |);", "neither scales nor sizes"},
        {"an unknown mode", BY_SCALE("2") "mode=\"sinc\");", "mode cannot be \"sinc\""},
        {"the form of opset 10", X4 FLOATS("s", "1", "0.6") "Resize(X=x, roi=s | Y=y | since=10);",
         "FLOAT 2: 1 3"},
        {"enlarged", X4 "Upsample(X=x | Y=y | scales=[1.5], since=7);", "FLOAT 6: 1 1 2 3 3 4"},
    };
    CHECK_ROWS(rows);
}

TEST(grids_and_regions_are_sampled)
{
    static const onnx_row rows[] = {
        {"between all elements", GRID("0, 0, -0.5, -0.5") "mode=\"linear\");",
         "FLOAT 1x1x1x2: 2.5 1"},
        {"outside", GRID("-3, 0, 1, 1") "mode=\"linear\");", "FLOAT 1x1x1x2: 0 1"},
        {"outside, at the border", GRID("-3, 0, 9, 9") "padding_mode=\"border\");",
         "FLOAT 1x1x1x2: 2 4"},
        {"outside, mirrored",
         GRID("-1.5, -0.5, 1.5, 0.5") "mode=\"nearest\", padding_mode=\"reflection\");",
         "FLOAT 1x1x1x2: 1 4"},
        {"cubic at the border, where rows are clamped and not the place: column -0.5",
         GRID("-1, 0, 9, 9") "mode=\"cubic\", padding_mode=\"border\");",
         "FLOAT 1x1x1x2: 1.9062 4"},
        {"far outside", GRID("1e30, 0, -1e38, 1e38") "mode=\"cubic\");", "FLOAT 1x1x1x2: 0 0"},
        {"a grid that does not fit",
         X22 FLOATS("g", "1, 1, 3", "0, 0, 0") "GridSample(X=x, grid=g | Y=y |);",
         "a grid of rank 3"},
        {"an affine grid",
         FLOATS("t", "1, 2, 3", "1, 0, 0, 0, 1, 0")
             INTS("s", "4", "1, 1, 1, 2") "AffineGrid(theta=t, size=s | grid=y |);",
         "FLOAT 1x1x2x2: -0.5 0 0.5 0"},
        {"a region", ROI("0, 0, 2, 2") "sampling_ratio=2);", "FLOAT 1x1x1x1: 2.5"},
        {"a region of another image",
         X22 FLOATS("r", "1, 4", "0, 0, 1, 1")
             INTS("b", "1", "1") "RoiAlign(X=x, rois=r, batch_indices=b | Y=y |);",
         "image 1 of a batch of 1"},
        {"a region without end", ROI("0, 0, 1e30, 1") "sampling_ratio=0);",
         "samples along an axis"},
        {"the largest elements of regions",
         X22 FLOATS("r", "1, 5",
                    "0, 0, 0, 1, 1") "MaxRoiPool(X=x, rois=r | Y=y | pooled_shape=[1, 2]);",
         "FLOAT 1x1x1x2: 3 4"},
        {"a region far outside",
         X22 FLOATS("r", "1, 5",
                    "0, 1e30, 0, 2e30, 1") "MaxRoiPool(X=x, rois=r | Y=y | pooled_shape=[1, 1]);",
         "FLOAT 1x1x1x1: 0"},
        {"blocks that overlap",
         FLOATS("x", "1, 2, 2", "1, 2, 3, 4") INTS("i", "1", "3")
             INTS("b", "1", "2") "Col2Im(input=x, image_shape=i, block_shape=b | output=y |);",
         "FLOAT 1x1x3: 1 5 4"},
        {"blocks that do not fit",
         FLOATS("x", "1, 2, 2", "1, 2, 3, 4") INTS("i", "1", "5")
             INTS("b", "1", "2") "Col2Im(input=x, image_shape=i, block_shape=b | output=y |);",
         "4 of them"},
        {"a block of 0",
         FLOATS("x", "1, 2, 2", "1, 2, 3, 4") INTS("i", "1", "5")
             INTS("b", "1", "0") "Col2Im(input=x, image_shape=i, block_shape=b | output=y |);",
         "a block of 0"},
        {"a determinant", FLOATS("x", "2, 2", "0, 2, 3, 4") "Det(X=x | Y=y |);", "FLOAT: -6"},
        {"no matrix", X4 "Det(X=x | Y=y |);", "not those of a square"},
    };
    CHECK_ROWS(rows);
}

TEST_LIST(axes_are_resized, grids_and_regions_are_sampled)
