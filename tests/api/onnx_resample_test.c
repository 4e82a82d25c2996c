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

// ---- Many points ----

enum { BATCH = 2, CHANNELS = 3, ROWS = 5, COLUMNS = 7, POINTS = 150, PLANE = ROWS * COLUMNS };

typedef struct sampled {
    float x[BATCH * CHANNELS * PLANE], grid[BATCH * POINTS * 2], y[BATCH * CHANNELS * POINTS];
} sampled;

static float some_number(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return (float)(*state >> 8) * 0x1p-23f - 1;
}

// Places up to 1.5 times as far out as the images, some of them on elements and some NaN.
static void fill(sampled *s)
{
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof s->x / sizeof *s->x; i++)
        s->x[i] = i % 31 == 7 ? INFINITY : i % 5 == 3 ? -0.0f : some_number(&state);
    for (size_t i = 0; i < sizeof s->grid / sizeof *s->grid; i++)
        s->grid[i] = i % 41 == 9  ? NAN
                     : i % 3 == 0 ? roundf(some_number(&state) * 3) / 3
                                  : some_number(&state) * 1.5f;
}

static void sample_points(const char *params, int points, const float *grid, sampled *s)
{
    char text[512];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d, %d]);\n"
             "input(| dst=g | dtype=TL_FLOAT, dims=[%d, 1, %d, 2]);\n"
             "GridSample(X=x, grid=g | Y=y | %s);\n",
             BATCH, CHANNELS, ROWS, COLUMNS, BATCH, points, params);
    ln_context *ctx = load_text(text, "cpu");
    CHECK_OK(ln_context_set_data(ctx, "x", s->x));
    CHECK_OK(ln_context_set_data(ctx, "g", grid));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(
        ln_context_get_data_n(ctx, "y", s->y, sizeof *s->y * BATCH * CHANNELS * (size_t)points));
    close_context(ctx);
}

static double pixel(const float *image, double row, double column)
{
    bool is_inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
    return is_inside ? (double)image[(int)row * COLUMNS + (int)column] : 0;
}

// From the pixels around, rows first.
static double between(const float *image, double row, double column)
{
    double c = floor(column), r = floor(row), right = column - c, lower = row - r;
    double above = pixel(image, r, c), below = pixel(image, r + 1, c);
    if (right > 0) {
        above = above * (1 - right) + pixel(image, r, c + 1) * right;
        below = below * (1 - right) + pixel(image, r + 1, c + 1) * right;
    }
    return lower > 0 ? above * (1 - lower) + below * lower : above;
}

// Where point `i` of the output is, in an image; false: nowhere.
static bool find_point(const sampled *s, int i, double *row, double *column)
{
    const float *at = s->grid + 2 * (i / (CHANNELS * POINTS) * POINTS + i % POINTS);
    *column = (((double)at[0] + 1) * COLUMNS - 1) / 2;
    *row = (((double)at[1] + 1) * ROWS - 1) / 2;
    return !isnan(*column) && !isnan(*row);
}

// An infinite pixel does not count beside one that is met.
TEST(many_points_of_images_are_between_their_pixels)
{
    static sampled s;
    double row, column;
    CHECK_OK(ln_arch_init());
    fill(&s);
    sample_points("mode=\"linear\"", POINTS, s.grid, &s);
    for (int i = 0; i < BATCH * CHANNELS * POINTS; i++) {
        bool is_found = find_point(&s, i, &row, &column);
        double wanted = is_found ? between(s.x + i / POINTS * PLANE, row, column) : 0;
        if (isinf(wanted))
            CHECK(isinf(s.y[i]));
        else
            CHECK_NEAR(s.y[i], wanted, 2e-6);
    }
    ln_arch_cleanup();
}

TEST(many_points_are_their_nearest_pixels)
{
    static sampled s;
    double row, column;
    CHECK_OK(ln_arch_init());
    fill(&s);
    sample_points("mode=\"nearest\"", POINTS, s.grid, &s);
    for (int i = 0; i < BATCH * CHANNELS * POINTS; i++) {
        bool is_found = find_point(&s, i, &row, &column);
        const float *image = s.x + i / POINTS * PLANE;
        float wanted = is_found ? (float)pixel(image, rint(row), rint(column)) : 0;
        CHECK_MEM_EQ(&s.y[i], &wanted, sizeof wanted);
    }
    ln_arch_cleanup();
}

TEST(each_point_is_what_it_is_alone)
{
    static const char *const forms[] = {
        "mode=\"linear\"",
        "mode=\"nearest\"",
        "mode=\"cubic\"",
        "mode=\"linear\", padding_mode=\"border\", align_corners=1",
        "mode=\"nearest\", padding_mode=\"reflection\"",
        "mode=\"cubic\", padding_mode=\"reflection\", align_corners=1"};
    static sampled s, one;
    CHECK_OK(ln_arch_init());
    fill(&s);
    fill(&one);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        sample_points(forms[f], POINTS, s.grid, &s);
        for (int p = 0; p < POINTS; p += 3) {
            float places[BATCH * 2];
            for (int i = 0; i < BATCH * 2; i++)
                places[i] = s.grid[2 * (i / 2 * POINTS + p) + i % 2];
            sample_points(forms[f], 1, places, &one);
            for (int i = 0; i < BATCH * CHANNELS; i++)
                CHECK_MEM_EQ(&s.y[i * POINTS + p], &one.y[i], sizeof *s.y);
        }
    }
    ln_arch_cleanup();
}

TEST_LIST(axes_are_resized, grids_and_regions_are_sampled,
          many_points_of_images_are_between_their_pixels, many_points_are_their_nearest_pixels,
          each_point_is_what_it_is_alone)
